//! Fixes a settings reader in C, with the tool names and habits of Claude Code.

use serde_json::{Value, json};

use super::{Budget, Session, replay};
use crate::replay::actor::{Act, Call, Format, act, answer};
use crate::support::server::{ReceivedRequest, Reply};

const HEADER: &str = "#ifndef INI_H
#define INI_H
#include <stddef.h>

int ini_section(const char *line, char *name, size_t size);
int ini_line(const char *line, char *key, char *value, size_t size);

#endif
";

const SOURCE: &str = r#"#include "ini.h"
#include <ctype.h>
#include <string.h>

static void copy(char *to, const char *from, size_t length, size_t size) {
    if (length >= size) {
        length = size - 1;
    }
    memcpy(to, from, length);
    to[length] = '\0';
}

int ini_section(const char *line, char *name, size_t size) {
    const char *end = strchr(line, ']');
    if (line[0] != '[' || end == NULL) {
        return 0;
    }
    copy(name, line, end - line, size);
    return 1;
}

int ini_line(const char *line, char *key, char *value, size_t size) {
    const char *sign = strchr(line, '=');
    if (sign == NULL) {
        return 0;
    }
    copy(key, line, sign - line, size);
    copy(value, sign + 1, strlen(sign + 1), size);
    return 1;
}
"#;

const TEST: &str = r#"#include "ini.h"
#include <stdio.h>
#include <string.h>

static int failed = 0;

static void same(const char *what, const char *got, const char *want) {
    if (strcmp(got, want) != 0) {
        printf("FAILED %s: got \"%s\", want \"%s\"\n", what, got, want);
        failed = 1;
    }
}

int main(void) {
    char key[32] = "", value[32] = "";
    ini_section("[server]", key, sizeof key);
    same("section", key, "server");
    ini_line("port = 80", key, value, sizeof key);
    same("key", key, "port");
    same("value", value, "80");
    ini_line("name = a b ; two words", key, value, sizeof key);
    same("comment", value, "a b");
    printf("%s\n", failed ? "some failed" : "all passed");
    return failed;
}
"#;

const RUN: &str = "mkdir -p build
cc -Wall -o build/test_ini test_ini.c ini.c && ./build/test_ini
";

const FILES: &[(&str, &str)] = &[
    ("ini.h", HEADER),
    ("ini.c", SOURCE),
    ("test_ini.c", TEST),
    ("run_tests.sh", RUN),
    (".gitignore", "build/\n"),
    ("README.md", "# ini\n\nReads settings. Run the tests with `sh run_tests.sh`.\n"),
];

const MORE_TEST: &str = r#"#include "ini.h"
#include <stdio.h>
#include <string.h>

int main(void) {
    char key[8] = "", value[8] = ""
    ini_line("a_long_name = a long value", key, value, sizeof key);
    printf("%s\n", strlen(key) == 7 && strlen(value) <= 7 ? "fits" : "FAILED size");
    return 0;
}
"#;

fn bash(command: &str) -> Call {
    ("Bash", json!({ "command": command, "description": "Runs a command" }))
}

fn read(path: &str) -> Call {
    ("Read", json!({ "file_path": path }))
}

fn edit(path: &str, old: &str, new: &str) -> Call {
    let input = json!({ "file_path": path, "old_string": old, "new_string": new });
    ("Edit", input)
}

fn todo(done: usize) -> Call {
    let items = ["Read the code", "Mend sections", "Mend lines", "Test more", "Commit"];
    let item = |(at, text): (usize, &&str)| {
        let status = match at.cmp(&done) {
            std::cmp::Ordering::Less => "completed",
            std::cmp::Ordering::Equal => "in_progress",
            std::cmp::Ordering::Greater => "pending",
        };
        json!({ "content": text, "status": status, "activeForm": text })
    };
    let todos: Vec<Value> = items.iter().enumerate().map(item).collect();
    ("TodoWrite", json!({ "todos": todos }))
}

fn acts() -> Vec<Act> {
    let tests = || bash("sh run_tests.sh");
    vec![
        act([todo(0), bash("ls -la"), read("README.md")]).wants("run_tests.sh"),
        act([read("ini.h"), read("ini.c"), read("test_ini.c")]).wants("strchr(line, ']')"),
        act([
            ("Grep", json!({ "pattern": "copy\\(|same\\(", "output_mode": "content", "-n": true })),
            ("Glob", json!({ "pattern": "**/*.c" })),
        ])
        .wants("test_ini.c"),
        act([bash("git status --short"), bash("git log --oneline -5")]).wants("Begin"),
        act([tests()]).wants("FAILED section"),
        // The remembered text is not what the file contains.
        act([edit("ini.c", "copy(name, line + 2, end - line, size);", "copy(name, line + 1, end - line - 1, size);")])
            .wants("+1 -1")
            .otherwise(edit("ini.c", "    copy(name, line, end - line, size);", "    copy(name, line + 1, end - line - 1, size);")),
        act([todo(2), tests()]).wants("FAILED key"),
        // Tabs where the file has spaces.
        act([edit(
            "ini.c",
            "\tmemcpy(to, from, length);\n\tto[length] = '\\0';\n}",
            "\tmemcpy(to, from, length);\n\tto[length] = '\\0';\n}\n\nstatic void trim(char *text) {\n\tsize_t end = strlen(text);\n\twhile (end > 0 && isspace((unsigned char)text[end - 1])) {\n\t\ttext[--end] = '\\0';\n\t}\n}",
        )])
        .wants("+7"),
        act([tests()]).wants("FAILED key"),
        act([("MultiEdit", json!({ "file_path": "ini.c", "edits": [
            { "old_string": "    copy(key, line, sign - line, size);", "new_string": "    copy(key, line, sign - line, size);\n    trim(key);" },
            { "old_string": "    trim(key);\n", "new_string": "    trim(key);\n    sign++;\n    while (isspace((unsigned char)*sign)) {\n        sign++;\n    }\n" },
            { "old_string": "copy(value, sign + 1, strlen(sign + 1), size);", "new_string": "copy(value, sign, strlen(sign), size);" },
        ] }))])
        .wants("+6 -1"),
        act([tests()]).wants("FAILED comment"),
        act([("Read", json!({ "file_path": "ini.c", "offset": 28, "limit": 20 }))]).wants("trim(key)"),
        // Includes the line numbers from the read result.
        act([edit(
            "ini.c",
            "40\t    copy(value, sign, strlen(sign), size);\n41\t    return 1;",
            "40\t    copy(value, sign, strcspn(sign, \";\"), size);\n41\t    trim(value);\n42\t    return 1;",
        )])
        .wants("+2 -1"),
        act([tests()]).wants("all passed"),
        act([todo(3), ("Write", json!({ "file_path": "test_more.c", "content": MORE_TEST }))]),
        act([edit("run_tests.sh", "./build/test_ini\n", "./build/test_ini\ncc -Wall -o build/test_more test_more.c ini.c && ./build/test_more\n")]),
        act([tests()]).wants("error:"),
        act([edit("test_more.c", "value[8] = \"\"\n", "value[8] = \"\";\n")]).wants("+1 -1"),
        act([tests()]).wants("all passed").wants("fits"),
        act([("Bash", json!({
            "command": "while true; do ./build/test_ini; sleep 0.2; done; echo soaked",
            "run_in_background": true,
        }))])
        .wants("background"),
        act([("BashOutput", json!({ "bash_id": "1" }))]).wants("all passed"),
        act([("BashOutput", json!({ "bash_id": "1" }))]),
        act([("KillShell", json!({ "shell_id": "1" }))]),
        act([("Grep", json!({ "pattern": "static void", "path": "ini.c", "output_mode": "count" }))]).wants("2"),
        act([edit("README.md", "Reads settings.", "Reads settings; what follows `;` is a comment.")]),
        act([("Write", json!({ "file_path": "CHANGES.md", "content": "# Changes\n\n- Blanks and comments are left out.\n" }))]),
        act([bash("git diff --stat"), bash("git diff ini.c | head -40")]).wants("strcspn"),
        act([tests()]).wants("all passed"),
        act([bash("git add -A && git commit -q -m 'Leave out blanks and comments'")]),
        act([bash("git log -1 --stat"), bash("git status --short"), todo(5)]).wants("CHANGES.md"),
    ]
}

fn responder(requests: &[ReceivedRequest]) -> Reply {
    answer(Format::Messages, &acts(), requests)
}

#[test]
fn a_c_library_is_mended_with_the_names_of_claude_code() {
    replay(&Session {
        name: "names of Claude Code",
        format: Format::Messages,
        provider: "anthropic",
        model: "claude-sonnet-4-5",
        files: FILES,
        prompt: "The tests of this library fail. Mend it, test what is missing, and commit.",
        acts,
        responder,
        budget: Budget { requests: 32, sent: 600, new: 29, asked: [19, 10, 1] },
    });
}
