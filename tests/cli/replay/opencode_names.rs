//! Fixes three modules in C, with the tool names and habits of opencode: several calls per reply,
//! camel-case fields, and edits of text that occurs more than once.

use serde_json::json;

use super::{Budget, Session, replay};
use crate::replay::actor::{Act, Call, Format, act, answer};
use crate::support::server::{ReceivedRequest, Reply};

const RING: &str = "#include \"parts.h\"

void ring_put(struct ring *ring, int value) {
\tring->items[ring->end] = value;
\tring->end = (ring->end + 1) % SIZE;
}

int ring_take(struct ring *ring) {
\tint value = ring->items[ring->begin];
\tring->begin = (ring->begin + 1) % SIZE;
\treturn value;
}

int ring_length(const struct ring *ring) {
\treturn ring->end - ring->begin;
}
";

const WORDS: &str = r#"#include "parts.h"

int words(const char *text) {
    int count = 0;
    for (; *text; text++) {
        if (*text == ' ') {
            count++;
        }
    }
    return count;
}

int lines(const char *text) {
    int count = 0;
    for (; *text; text++) {
        if (*text == '\n') {
            count++;
        }
    }
    return count;
}
"#;

const SUM: &str = r#"#include "parts.h"

int checksum(const char *text) {
    int sum = 0;
    while (*text) {
        sum = sum * 31 + *text;
    }
    return sum;
}
"#;

const HEADER: &str = "#ifndef PARTS_H
#define PARTS_H
#define SIZE 4

struct ring {
    int items[SIZE];
    int begin, end;
};

void ring_put(struct ring *ring, int value);
int ring_take(struct ring *ring);
int ring_length(const struct ring *ring);
int words(const char *text);
int lines(const char *text);
int checksum(const char *text);
#endif
";

const CHECK: &str = r#"#include "../src/parts.h"
#include <stdio.h>
#include <string.h>

static int check(const char *what, int got, int want) {
    if (got == want) {
        printf("ok %s\n", what);
        return 0;
    }
    printf("FAILED %s: got %d, want %d\n", what, got, want);
    return 1;
}

int main(int count, char **names) {
    struct ring ring = {{0}, 0, 0};
    const char *part = count > 1 ? names[1] : "";
    int failed = 0;
    if (strcmp(part, "ring") == 0) {
        for (int n = 0; n < 9; n++) {
            ring_put(&ring, n);
            ring_put(&ring, n + 1);
            failed += check("length", ring_length(&ring), 2);
            ring_take(&ring);
            failed += check("taken", ring_take(&ring), n + 1);
        }
    } else if (strcmp(part, "words") == 0) {
        failed += check("two words", words("two words"), 2);
        failed += check("blanks", words("  a   b "), 2);
        failed += check("lines", lines("a\nb"), 2);
    } else {
        failed += check("checksum", checksum("ab"), 97 * 31 + 98);
    }
    puts(failed ? "some failed" : "all passed");
    return failed > 0;
}
"#;

const RUN: &str = "mkdir -p out
cc -Wall -o out/check test/check.c src/*.c || exit 1
timeout 2 ./out/check \"$1\"
code=$?
[ $code = 124 ] && echo \"FAILED $1: it never ends\"
exit $code
";

const FILES: &[(&str, &str)] = &[
    ("src/ring.c", RING),
    ("src/words.c", WORDS),
    ("src/sum.c", SUM),
    ("src/parts.h", HEADER),
    ("test/check.c", CHECK),
    ("check.sh", RUN),
    (".gitignore", "out/\n"),
    (
        "NOTES.md",
        "`sh check.sh ring`, `sh check.sh words` and `sh check.sh sum` test a part each.\n",
    ),
];

fn bash(command: &str) -> Call {
    ("bash", json!({ "command": command, "description": "Runs it", "timeout": 60_000 }))
}

fn read(path: &str) -> Call {
    ("read", json!({ "filePath": path }))
}

fn edit(path: &str, old: &str, new: &str) -> Call {
    ("edit", json!({ "filePath": path, "oldString": old, "newString": new }))
}

fn check(part: &str) -> Call {
    bash(&format!("sh check.sh {part}"))
}

fn todo(text: &str, status: &str) -> Call {
    let item = json!({ "id": "1", "content": text, "status": status, "priority": "high" });
    ("todowrite", json!({ "todos": [item] }))
}

fn acts() -> Vec<Act> {
    let words = "    for (; *text; text++) {\n        if (*text == ' ') {\n            count++;\n        }\n    }";
    let counted = "    int is_word = 0;\n    for (; *text; text++) {\n        int was_word = is_word;\n        is_word = *text != ' ';\n        count += is_word && !was_word;\n    }";
    vec![
        act([("list", json!({ "path": "." })), read("NOTES.md"), read("check.sh"), todo("Mend all parts", "in_progress")]).wants("check.c"),
        act([read("src/ring.c"), read("src/words.c"), read("src/sum.c"), read("src/parts.h"), read("test/check.c")]).wants("checksum"),
        act([check("ring"), check("words"), check("sum")]).wants("FAILED length").wants("FAILED blanks").wants("never ends"),
        act([("grep", json!({ "pattern": "ring_length|SIZE", "include": "*.c" }))]).wants("src/ring.c"),
        // Spaces where the file has tabs.
        act([edit("src/ring.c", "    return ring->end - ring->begin;", "    return (ring->end - ring->begin + SIZE) % SIZE;")]).wants("+1 -1"),
        act([check("ring")]).wants("all passed"),
        // This text occurs in two functions.
        act([edit("src/words.c", "    return count;", "    return count + 1;")])
            .wants("+1 -1")
            .otherwise(edit("src/words.c", "        if (*text == '\\n') {\n            count++;\n        }\n    }\n    return count;", "        if (*text == '\\n') {\n            count++;\n        }\n    }\n    return count + 1;")),
        act([check("words")]).wants("FAILED two words"),
        act([edit("src/words.c", words, counted)]).wants("+4 -3"),
        act([check("words")]).wants("all passed"),
        act([edit("src/sum.c", "        sum = sum * 31 + *text;", "        sum = sum * 31 + *text")]),
        act([check("sum")]).wants("error:"),
        act([edit("src/sum.c", "sum * 31 + *text\n", "sum * 31 + *text;\n")]).wants("+1 -1"),
        act([check("sum")]).wants("never ends"),
        act([edit("src/sum.c", "sum * 31 + *text;", "sum * 31 + *text++;")]).wants("+1 -1"),
        act([check("ring"), check("words"), check("sum")]).wants("ok checksum"),
        act([("glob", json!({ "pattern": "**/*.c" })), bash("cat src/*.c | wc -l")]).wants("test/check.c"),
        act([bash("for i in $(seq 1 3000); do echo \"line $i of what a noisy build prints\"; done")]).wants("line 3000"),
        act([("write", json!({ "filePath": "check_all.sh", "content": "for part in ring words sum; do\n    sh check.sh $part || exit 1\ndone\necho every part\n" }))]),
        act([bash("sh check_all.sh 2>&1 | tail -3")]).wants("every part"),
        act([edit("NOTES.md", "test a part each.", "test a part each, and `sh check_all.sh` all.")]).wants("+1 -1"),
        act([read("NOTES.md"), bash("git diff --stat")]).wants("check_all.sh"),
        act([bash("git add -A && git commit -q -m 'Mend the ring, the words and the checksum'")]),
        act([bash("git status --short && git log --oneline -2"), todo("Mend all parts", "completed")]).wants("Begin"),
    ]
}

fn responder(requests: &[ReceivedRequest]) -> Reply {
    answer(Format::Chat, &acts(), requests)
}

#[test]
fn three_modules_are_mended_with_the_names_of_opencode() {
    replay(&Session {
        name: "names of opencode",
        format: Format::Chat,
        provider: "openai",
        model: "gpt-4o",
        files: FILES,
        prompt: "Each part of src has a bug that `sh check.sh PART` shows. Mend all, and commit.",
        acts,
        responder,
        budget: Budget { requests: 26, sent: 570, new: 42, asked: [22, 14, 1] },
    });
}
