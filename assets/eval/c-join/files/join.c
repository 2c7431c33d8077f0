#include <stddef.h>
#include <string.h>

/* Joins two parts of a path with one slash. Returns 0 if `out` is too small. */
int join(char *out, size_t size, const char *left, const char *right) {
    size_t needed = strlen(left) + strlen(right);
    if (needed > size) return 0;
    strcpy(out, left);
    strcat(out, "/");
    strcat(out, right);
    return 1;
}
