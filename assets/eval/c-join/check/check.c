#include <assert.h>
#include <stddef.h>
#include <string.h>

int join(char *out, size_t size, const char *left, const char *right);

int main(void) {
    char out[9] = "xxxxxxxx";
    assert(join(out, 4, "a", "b") == 1 && strcmp(out, "a/b") == 0);
    memset(out, 'x', 8);
    assert(join(out, 3, "a", "b") == 0);
    assert(join(out, 2, "a", "b") == 0 && out[2] == 'x' && out[3] == 'x');
    return 0;
}
