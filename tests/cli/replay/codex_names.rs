//! Fixes a task list in shell and awk, with the tool names and habits of Codex: shell command lines
//! and patches.

use serde_json::json;

use super::{Budget, Session, replay};
use crate::replay::actor::{Act, Call, Format, act, answer};
use crate::support::server::{ReceivedRequest, Reply};

const TODO: &str = r#"#!/bin/sh
# Keeps tasks in a file, one a line.
set -eu
file=${TASKS:-tasks.txt}

add() {
    echo "- $1" >> "$file"
}

list() {
    awk '{ printf "%d %s\n", NR, $0 }' "$file"
}

finish() {
    sed "$1s/^- /x /" "$file" > "$file.new"
    mv "$file.new" "$file"
}

count() {
    grep -c '^- ' "$file"
}

case "${1:-list}" in
    add) add "$2" ;;
    list) list ;;
    done) finish "$2" ;;
    count) count ;;
    *) echo "unknown: $1"; exit 1 ;;
esac
"#;

const TEST: &str = r#"#!/bin/sh
# Runs the tests; ends with 1 if one fails.
TASKS=$(mktemp)
export TASKS
failed=0
same() {
    if [ "$2" = "$3" ]; then
        echo "ok $1"
    else
        echo "FAILED $1: got '$2', want '$3'"
        failed=1
    fi
}
. tests/cases.sh
rm -f "$TASKS"
[ "$failed" = 0 ] && echo "all passed"
exit "$failed"
"#;

const CASES: &str = r#"same empty "$(sh todo.sh count)" 0
sh todo.sh add "buy milk"
sh todo.sh add "call Tess"
same count "$(sh todo.sh count)" 2
same list "$(sh todo.sh list | head -1)" "1. buy milk"
sh todo.sh done 1
same left "$(sh todo.sh count)" 1
same marked "$(sh todo.sh list | head -1)" "1. buy milk (done)"
"#;

const FILES: &[(&str, &str)] = &[
    ("todo.sh", TODO),
    ("tests/run.sh", TEST),
    ("tests/cases.sh", CASES),
    ("docs/usage.txt", "todo.sh add TEXT\ntodo.sh list\ntodo.sh done NUMBER\n"),
    ("docs/old.txt", "Nothing of this is true any more.\n"),
    ("README.md", "# todo\n\n`sh tests/run.sh` runs the tests.\n"),
];

fn run(cmd: &str) -> Call {
    ("exec_command", json!({ "cmd": cmd, "yield_time_ms": 10_000, "max_output_tokens": 6_000 }))
}

fn patch(lines: &str) -> Call {
    ("apply_patch", json!({ "input": format!("*** Begin Patch\n{lines}\n*** End Patch\n") }))
}

fn by_shell(lines: &str) -> Call {
    let patch = format!("*** Begin Patch\n{lines}\n*** End Patch");
    let line = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    ("shell", json!({ "command": ["bash", "-lc", line] }))
}

fn plan(done: usize) -> Call {
    let steps = ["Look", "Mend", "Document", "Commit"];
    let status = |at: usize| if at < done { "completed" } else { "pending" };
    let steps = steps.iter().enumerate();
    let steps: Vec<_> =
        steps.map(|(at, step)| json!({ "step": step, "status": status(at) })).collect();
    ("update_plan", json!({ "plan": steps, "explanation": "" }))
}

fn acts() -> Vec<Act> {
    let tests = || run("sh tests/run.sh");
    vec![
        act([run("ls -la && git log --oneline | head -5"), run("cat README.md")]).wants("Begin"),
        act([run("sed -n 1,200p todo.sh"), run("cat tests/run.sh tests/cases.sh")]).wants("mktemp"),
        act([plan(1), run("rg -n 'file' todo.sh || grep -n 'file' todo.sh")]).wants("TASKS"),
        act([tests()]).wants("FAILED list"),
        act([run("wc -l todo.sh tests/*.sh docs/*"), run("cat docs/usage.txt docs/old.txt")]).wants("Nothing of this"),
        // Context lines that are not in the file.
        act([patch("*** Update File: todo.sh\n@@ list() {\n-    awk '{ print NR, $0 }' \"$file\"\n+    awk '{ printf \"%d. %s\\n\", NR, $0 }' \"$file\"")])
            .wants("+1 -1")
            .otherwise(patch("*** Update File: todo.sh\n@@ list() {\n-    awk '{ printf \"%d %s\\n\", NR, $0 }' \"$file\"\n+    awk '{ printf \"%d. %s\\n\", NR, $0 }' \"$file\"")),
        act([tests()]).wants("FAILED list"),
        act([run("TASKS=/dev/null sh todo.sh list; printf -- '- a\\n' | awk '{ sub(/^- /, \"\"); print }'")]).wants("a"),
        act([by_shell("*** Update File: todo.sh\n@@\n list() {\n-    awk '{ printf \"%d. %s\\n\", NR, $0 }' \"$file\"\n+    awk '{ sub(/^- /, \"\"); printf \"%d. %s\\n\", NR, $0 }' \"$file\"\n }")])
            .wants("+1 -1"),
        act([tests()]).wants("FAILED marked"),
        // Trailing spaces, and indented one level too deep.
        act([patch("*** Update File: todo.sh\n@@\n-        awk '{ sub(/^- /, \"\"); printf \"%d. %s\\n\", NR, $0 }' \"$file\"  \n+        awk '{ done = sub(/^x /, \"\"); sub(/^- /, \"\"); printf \"%d. %s%s\\n\", NR, $0, done ? \" (done)\" : \"\" }' \"$file\"")])
            .wants("+1 -1"),
        act([tests()]).wants("all passed"),
        act([plan(2), run("sh todo.sh nonsense; echo \"ended with $?\"")]).wants("ended with 1"),
        act([patch("*** Update File: todo.sh\n@@ case\n-    *) echo \"unknown: $1\"; exit 1 ;;\n+    *) echo \"unknown: $1\" >&2; exit 2 ;;\n*** Update File: tests/cases.sh\n@@\n same marked \"$(sh todo.sh list | head -1)\" \"1. buy milk (done)\"\n+sh todo.sh nonsense 2> /dev/null; same unknown \"$?\" 2\n*** Add File: tests/empty.sh\n+# A list that is not there is empty.\n+rm -f \"$TASKS\"\n+same missing \"$(sh todo.sh count)\" 0\n*** Update File: tests/run.sh\n@@\n . tests/cases.sh\n+. tests/empty.sh")]),
        act([tests()]).wants("FAILED missing"),
        act([run("sh todo.sh count; echo \"ended with $?\"")]).wants("ended with"),
        act([patch("*** Update File: todo.sh\n@@ count() {\n-    grep -c '^- ' \"$file\"\n+    grep -c '^- ' \"$file\" 2> /dev/null || true")]),
        act([tests()]).wants("FAILED missing"),
        act([patch("*** Update File: todo.sh\n@@ count() {\n-    grep -c '^- ' \"$file\" 2> /dev/null || true\n+    [ -e \"$file\" ] || { echo 0; return; }\n+    grep -c '^- ' \"$file\" || true")]),
        act([tests()]).wants("all passed"),
        act([patch("*** Update File: docs/usage.txt\n*** Move to: docs/commands.txt\n@@\n todo.sh done NUMBER\n+todo.sh count\n*** Delete File: docs/old.txt")]),
        act([run("ls docs && cat docs/commands.txt")]).wants("todo.sh count"),
        act([plan(3), run("git diff --stat")]).wants("todo.sh"),
        act([run("for n in 1 2 3; do sh tests/run.sh | tail -1; done")]).wants("all passed"),
        act([run("seq 1 4000 | sed 's/^/a line of a long output, number /'")]).wants("number 4000"),
        act([run("git status --short")]).wants("docs/commands.txt"),
        act([run("git add -A"), run("git commit -q -m 'Show numbers and what is done'")]),
        act([run("git show --stat HEAD"), run("git status --short"), plan(4)]).wants("commands.txt"),
    ]
}

fn responder(requests: &[ReceivedRequest]) -> Reply {
    answer(Format::Responses, &acts(), requests)
}

#[test]
fn a_shell_program_is_mended_with_the_names_of_codex() {
    replay(&Session {
        name: "names of Codex",
        format: Format::Responses,
        provider: "openai-responses",
        model: "gpt-5",
        files: FILES,
        prompt: "Make the tests of todo.sh pass, and clean up its documentation. Commit at the end.",
        acts,
        responder,
        budget: Budget { requests: 30, sent: 570, new: 43, asked: [20, 14, 3] },
    });
}
