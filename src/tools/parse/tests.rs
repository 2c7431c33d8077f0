//! Tests what is read out of outputs as the programs write them.

use serde_json::{Value, json};

use super::items::{MAX_ITEMS, MAX_TEXT};
use super::*;

/// The facts in a command's output: kind, total, items.
fn parse_ok(line: &str, stdout: &str) -> Option<(String, usize, Value)> {
    parse_with_exit(line, stdout, "", 0)
}

fn parse_with_exit(
    line: &str,
    stdout: &str,
    stderr: &str,
    exit: i32,
) -> Option<(String, usize, Value)> {
    let mut words = line.split(' ').map(str::to_owned);
    let program = words.next()?;
    let args: Vec<String> = words.collect();
    let run = FinishedCommand {
        program: &program,
        args: &args,
        stdout,
        stderr,
        exit: Some(exit),
        whole: true,
    };
    parse(&run).map(|parsed| (parsed.kind, parsed.total, json!(parsed.items)))
}

fn parsed_as(kind: &str, items: Value) -> Option<(String, usize, Value)> {
    Some((kind.to_owned(), items.as_array().map_or(0, Vec::len), items))
}

fn paths(paths: &[&str]) -> Option<(String, usize, Value)> {
    parsed_as("file_list", paths.iter().map(|path| json!({ "path": path })).collect())
}

mod searches {
    use super::*;

    #[test]
    fn numbered_matches_of_rg_grep_and_git_grep_are_parsed() {
        let items = json!([
            { "file": "src/a.rs", "line": 157, "text": "fn a(b: u8) {" },
            { "file": "文档/说明 一.md", "line": 3, "text": "12:30 开会" },
        ]);
        let out = "src/a.rs:157:fn a(b: u8) {\n文档/说明 一.md:3:12:30 开会\n";
        for line in ["rg -n a", "grep -rn a .", "git grep -n a", "rg --line-number -tlua a"] {
            assert_eq!(parse_ok(line, out), parsed_as("search_matches", items.clone()), "{line}");
        }
    }

    #[test]
    fn matches_without_numbers_and_of_one_file_are_parsed() {
        let out = "src/a.rs:let x: u8;\n";
        let item = json!([{ "file": "src/a.rs", "text": "let x: u8;" }]);
        assert_eq!(parse_ok("rg x", out), parsed_as("search_matches", item.clone()));
        assert_eq!(parse_ok("rg x src", out), parsed_as("search_matches", item));
        let item = json!([{ "file": "src/a.rs", "text": "let x: u8;" }]);
        assert_eq!(parse_ok("grep x src/a.rs", "let x: u8;\n"), parsed_as("search_matches", item));
        let item = json!([{ "file": "a.rs", "line": 7, "text": "let x: u8;" }]);
        assert_eq!(
            parse_ok("grep -n -e x a.rs", "7:let x: u8;\n"),
            parsed_as("search_matches", item)
        );
    }

    #[test]
    fn columns_context_headings_and_json_are_parsed() {
        let item = json!([{ "file": "a.rs", "line": 7, "column": 5, "text": "let x;" }]);
        assert_eq!(
            parse_ok("rg --vimgrep x", "a.rs:7:5:let x;\n"),
            parsed_as("search_matches", item)
        );
        let out = "a.rs-6-before\na.rs:7:let x;\na.rs-8-after\n--\nb.rs:1:x\n";
        assert_eq!(parse_ok("rg -n -C1 x", out).map(|told| told.1), Some(2));
        let item = json!([{ "file": "a.rs", "line": 7, "text": "let x;" }]);
        let out = "a.rs\n7:let x;\n";
        assert_eq!(parse_ok("rg --heading -n x", out), parsed_as("search_matches", item.clone()));
        let out = r#"{"type":"begin","data":{"path":{"text":"a.rs"}}}
{"type":"match","data":{"path":{"text":"a.rs"},"lines":{"text":"let x;\n"},"line_number":7,"submatches":[]}}
{"type":"summary","data":{}}"#;
        assert_eq!(parse_ok("rg --json x", out), parsed_as("search_matches", item));
    }

    #[test]
    fn an_empty_result_is_reported_and_a_failure_is_not_one() {
        assert_eq!(parse_with_exit("rg -n x", "", "", 1), parsed_as("search_matches", json!([])));
        assert_eq!(parse_with_exit("rg -n x", "", "No such file", 2), None);
    }

    #[test]
    fn long_lists_and_long_lines_are_truncated_and_the_total_is_exact() {
        let out: String = (0..200).map(|n| format!("a.rs:{n}:{}\n", "长".repeat(500))).collect();
        let (_, total, items) = parse_ok("rg -n x", &out).expect("matches");
        assert_eq!((total, items.as_array().map(Vec::len)), (200, Some(MAX_ITEMS)));
        let text = items[0]["text"].as_str().expect("a text");
        assert_eq!(text.chars().count(), MAX_TEXT + 1);
    }

    #[test]
    fn colours_are_stripped() {
        let out = "\u{1b}[35ma.rs\u{1b}[0m:\u{1b}[32m7\u{1b}[0m:let \u{1b}[1;31mx\u{1b}[0m;\n";
        let item = json!([{ "file": "a.rs", "line": 7, "text": "let x;" }]);
        assert_eq!(parse_ok("rg -n --color=always x", out), parsed_as("search_matches", item));
    }
}

mod file_lists {
    use super::*;

    #[test]
    fn plain_file_lists_are_parsed() {
        let out = "Cargo.toml\nmy file.txt\n源码\n";
        let files = paths(&["Cargo.toml", "my file.txt", "源码"]);
        for line in ["rg --files", "rg -l x", "git ls-files"] {
            assert_eq!(parse_ok(line, out), files, "{line}");
        }
        assert_eq!(parse_ok("rg --files -0", "./a\0./b c\0"), paths(&["./a", "./b c"]));
        assert_eq!(parse_ok("git ls-files -s", "100644 e69de29b 0\ta b.rs\n"), paths(&["a b.rs"]));
        assert_eq!(parse_ok("git diff --name-only", "a.rs\n"), paths(&["a.rs"]));
        assert_eq!(parse_ok("grep -rl x .", "./a\n"), paths(&["./a"]));
    }
}

mod git_output {
    use super::*;

    fn changes() -> Value {
        json!([
            { "path": "a.rs", "unstaged": "modified" },
            { "path": "b.rs", "staged": "added", "unstaged": "modified" },
            { "path": "new.rs", "from": "old.rs", "staged": "renamed" },
            { "path": "say hi.txt", "unstaged": "untracked" },
        ])
    }

    #[test]
    fn short_git_status_is_parsed() {
        let out = "## main...origin/main [ahead 1]\n M a.rs\nAM b.rs\nR  old.rs -> new.rs\n?? \"say hi.txt\"\n";
        for line in ["git status --porcelain", "git status -sb", "git -C x status --short"] {
            assert_eq!(parse_ok(line, out), parsed_as("git_status", changes()), "{line}");
        }
        let out = " M a.rs\0AM b.rs\0R  new.rs\0old.rs\0?? say hi.txt\0";
        assert_eq!(parse_ok("git status --porcelain -z", out), parsed_as("git_status", changes()));
        assert_eq!(parse_ok("git status -s", ""), parsed_as("git_status", json!([])));
    }

    #[test]
    fn git_status_version_two_is_parsed() {
        let out = "\
# branch.oid 1234
# branch.head main
1 .M N... 100644 100644 100644 1111111 1111111 a.rs
1 AM N... 000000 100644 100644 0000000 2222222 b.rs
2 R. N... 100644 100644 100644 3333333 3333333 R100 new.rs\told.rs
? say hi.txt
";
        assert_eq!(
            parse_ok("git status --porcelain=v2 --branch", out),
            parsed_as("git_status", changes())
        );
    }

    #[test]
    fn human_readable_git_status_is_parsed() {
        let out = "\
On branch main
Your branch is up to date with 'origin/main'.

Changes to be committed:
  (use \"git restore --staged <file>...\" to unstage)
\tnew file:   b.rs
\trenamed:    old.rs -> new.rs

Changes not staged for commit:
  (use \"git add <file>...\" to update what will be committed)
\tmodified:   a.rs

Untracked files:
  (use \"git add <file>...\" to include in what will be committed)
\tsay hi.txt

";
        let items = json!([
            { "path": "b.rs", "staged": "added" },
            { "path": "new.rs", "from": "old.rs", "staged": "renamed" },
            { "path": "a.rs", "unstaged": "modified" },
            { "path": "say hi.txt", "unstaged": "untracked" },
        ]);
        assert_eq!(parse_ok("git status", out), parsed_as("git_status", items));
        let clean = "On branch main\nnothing to commit, working tree clean\n";
        assert_eq!(parse_ok("git status", clean), parsed_as("git_status", json!([])));
        assert_eq!(
            parse_ok("git status", "位于分支 main\n"),
            None,
            "another language is just text"
        );
    }

    #[test]
    fn short_graph_and_full_git_logs_are_parsed() {
        let items = json!([
            { "hash": "b7f03dc", "subject": "(HEAD -> main) Set out the shelves" },
            { "hash": "eb616f5", "subject": "修复" },
        ]);
        let out = "b7f03dc (HEAD -> main) Set out the shelves\neb616f5 修复\n";
        assert_eq!(parse_ok("git log --oneline", out), parsed_as("git_log", items.clone()));
        let out = "*   b7f03dc (HEAD -> main) Set out the shelves\n|\\  \n| * eb616f5 修复\n|/  \n";
        assert_eq!(parse_ok("git log --oneline --graph", out), parsed_as("git_log", items));
        let out = "\
commit b7f03dc7b7f03dc7b7f03dc7b7f03dc7b7f03dc7 (HEAD)
Merge: 1111111 2222222
Author: A B <a@b>
Date:   Fri Nov 20 10:00:00 2026 +0000

    Set out the shelves

    And more words.
";
        let items = json!([{
            "hash": "b7f03dc7b7f03dc7b7f03dc7b7f03dc7b7f03dc7", "author": "A B <a@b>",
            "date": "Fri Nov 20 10:00:00 2026 +0000", "subject": "Set out the shelves",
        }]);
        assert_eq!(parse_ok("git log -1", out), parsed_as("git_log", items));
        assert_eq!(parse_ok("git log --format=%an", "A B\n"), None);
    }

    #[test]
    fn git_diffs_are_counted() {
        let stat = " src/a.rs       | 12 +++++++-----\n a => b/c.rs    |  0\n logo.png      | Bin 0 -> 120 bytes\n 3 files changed, 7 insertions(+), 5 deletions(-)\n";
        let items = json!([
            { "path": "src/a.rs", "changes": 12 },
            { "path": "a => b/c.rs", "changes": 0 },
            { "path": "logo.png", "binary": true },
        ]);
        assert_eq!(parse_ok("git diff --stat", stat), parsed_as("git_diff_stat", items));
        let items = json!([
            { "path": "src/a.rs", "added": 7, "removed": 5 },
            { "path": "logo.png", "binary": true },
        ]);
        assert_eq!(
            parse_ok("git diff --numstat", "7\t5\tsrc/a.rs\n-\t-\tlogo.png\n"),
            parsed_as("git_diff_stat", items)
        );
        let items = json!([{ "files": 3, "added": 10, "removed": 0 }]);
        let out = " 3 files changed, 10 insertions(+)\n";
        assert_eq!(parse_ok("git diff --shortstat HEAD", out), parsed_as("git_diff_stat", items));
        let patch = "diff --git a/x y b/x y\nindex 1..2 100644\n--- a/x y\n+++ b/x y\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n+drei\n";
        let items = json!([{ "path": "x y", "added": 2, "removed": 1 }]);
        assert_eq!(parse_ok("git diff", patch), parsed_as("git_diff_stat", items));
    }
}

mod complaints {
    use super::*;

    fn one(item: Value) -> Option<(String, usize, Value)> {
        parsed_as("diagnostics", json!([item]))
    }

    #[test]
    fn cargo_and_rustc_diagnostics_are_parsed() {
        let err = "\
   Compiling x v0.1.0 (/w)
warning: unused variable: `a`
  --> src/main.rs:2:9
   |
2  |     let a = 1;
   |         ^ help: if this is intentional, prefix it with an underscore: `_a`
   |
   = note: `#[warn(unused_variables)]` on by default

error[E0308]: mismatched types
 --> src/lib.rs:3:5
  |
note: defined here
 --> src/other.rs:9:1

error: linking with `cc` failed: exit status: 1
  |
warning: `x` (bin \"x\") generated 1 warning
error: could not compile `x` (lib) due to 1 previous error; 1 warning emitted
";
        let items = json!([
            { "file": "src/main.rs", "line": 2, "col": 9, "severity": "warning", "message": "unused variable: `a`" },
            { "file": "src/lib.rs", "line": 3, "col": 5, "severity": "error", "code": "E0308", "message": "mismatched types" },
            { "severity": "error", "message": "linking with `cc` failed: exit status: 1" },
        ]);
        assert_eq!(
            parse_with_exit("cargo clippy", "", err, 101),
            parsed_as("diagnostics", items.clone())
        );
        assert_eq!(parse_with_exit("cargo test", "", err, 101), parsed_as("diagnostics", items));
        assert_eq!(
            parse_with_exit("cargo check", "", "    Finished `dev`\n", 0),
            parsed_as("diagnostics", json!([]))
        );
        assert_eq!(parse_with_exit("cargo run", "hello\n", "    Finished `dev`\n", 0), None);
    }

    #[test]
    fn cargo_json_diagnostics_are_parsed() {
        let out = r#"{"reason":"compiler-artifact","target":{}}
{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","code":{"code":"E0308"},"spans":[{"is_primary":true,"file_name":"src/lib.rs","line_start":3,"column_start":5}]}}
{"reason":"compiler-message","message":{"level":"error","message":"aborting due to 1 previous error","code":null,"spans":[]}}
{"reason":"build-finished","success":false}"#;
        let item = json!({ "file": "src/lib.rs", "line": 3, "col": 5, "severity": "error", "code": "E0308", "message": "mismatched types" });
        assert_eq!(parse_with_exit("cargo build --message-format=json", out, "", 101), one(item));
    }

    #[test]
    fn both_forms_of_typescript_diagnostics_are_parsed() {
        let item = json!({ "file": "src/a.ts", "line": 12, "col": 5, "severity": "error", "code": "TS2322", "message": "Type 'string' is not assignable to type 'number'." });
        let out =
            "src/a.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.\n";
        assert_eq!(parse_with_exit("npx tsc --noEmit", out, "", 2), one(item.clone()));
        let out = "src/a.ts:12:5 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n12     let a = b;\n       ~~~\n\nFound 1 error in src/a.ts:12\n";
        assert_eq!(parse_with_exit("tsc --pretty", out, "", 2), one(item));
        assert_eq!(parse_ok("tsc", ""), parsed_as("diagnostics", json!([])));
    }

    #[test]
    fn go_and_compiler_diagnostics_are_parsed() {
        let err =
            "# example.com/x\n./main.go:10:2: undefined: y\nvet: ./z.go:3:1: missing return\n";
        let items = json!([
            { "file": "./main.go", "line": 10, "col": 2, "severity": "error", "message": "undefined: y" },
            { "file": "./z.go", "line": 3, "col": 1, "severity": "error", "message": "missing return" },
        ]);
        assert_eq!(parse_with_exit("go vet ./...", "", err, 1), parsed_as("diagnostics", items));
        let err = "a.c: In function 'main':\na.c:3:5: error: 'x' undeclared\na.c:3:5: note: each undeclared\n";
        let item = json!({ "file": "a.c", "line": 3, "col": 5, "severity": "error", "message": "'x' undeclared" });
        assert_eq!(parse_with_exit("gcc a.c", "", err, 1), one(item));
        let out = "a.py:12: error: Incompatible types\nFound 1 error in 1 file\n";
        let item = json!({ "file": "a.py", "line": 12, "severity": "error", "message": "Incompatible types" });
        assert_eq!(parse_with_exit("mypy .", out, "", 1), one(item));
    }
}

mod test_runs {
    use super::*;

    /// Counts, then the failures.
    fn test_counts(counts: [usize; 3], failures: &[Value]) -> Option<(String, usize, Value)> {
        let [passed, failed, skipped] = counts;
        let mut items = vec![json!({ "passed": passed, "failed": failed, "skipped": skipped })];
        items.extend_from_slice(failures);
        Some(("test_summary".into(), counts.iter().sum(), json!(items)))
    }

    #[test]
    fn cargo_sums_its_binaries_and_says_where_it_panicked() {
        let out = "
running 2 tests
test a::works ... ok
test a::fails ... FAILED

failures:

---- a::fails stdout ----

thread 'a::fails' (4242) panicked at src/a.rs:7:9:
assertion failed

failures:
    a::fails

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.01s

running 3 tests
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let failure = json!({ "failed": "a::fails", "file": "src/a.rs", "line": 7, "message": "assertion failed" });
        assert_eq!(
            parse_with_exit("cargo test", out, "error: test failed\n", 101),
            test_counts([3, 1, 1], &[failure])
        );
    }

    #[test]
    fn nextest_names_each_failure_once() {
        let err = "        PASS [   0.005s] x a::works\n        FAIL [   0.004s] x a::fails\n     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 4 skipped\n        FAIL [   0.004s] x a::fails\nerror: test run failed\n";
        let failure = json!({ "failed": "x a::fails" });
        assert_eq!(
            parse_with_exit("cargo nextest run", "", err, 100),
            test_counts([2, 1, 4], &[failure])
        );
    }

    #[test]
    fn the_short_summary_of_pytest_is_parsed() {
        let out = "\
============================= test session starts ==============================
collected 4 items

tests/test_a.py .F.s                                                     [100%]

=================================== FAILURES ===================================
    def test_x():
>       assert 1 == 2
E       assert 1 == 2

tests/test_a.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_x - assert 1 == 2
==================== 1 failed, 2 passed, 1 skipped in 0.12s ====================
";
        let failure = json!({ "failed": "tests/test_a.py::test_x", "file": "tests/test_a.py", "line": 12, "message": "assert 1 == 2" });
        let expected = test_counts([2, 1, 1], &[failure]);
        assert_eq!(parse_with_exit("pytest", out, "", 1), expected);
        assert_eq!(parse_with_exit("python3 -m pytest", out, "", 1), expected);
        assert_eq!(parse_ok("pytest -q", "..\n2 passed in 0.01s\n"), test_counts([2, 0, 0], &[]));
        let out = "tests/test_a.py:3: in <module>\n    import nope\nE   ModuleNotFoundError: No module named 'nope'\n";
        assert!(parse_with_exit("pytest", out, "", 2).is_none_or(|told| told.0 != "test_summary"));
    }
}

mod failed_tests;

/// Fragments that readers look for, alone and in pairs.
#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "", "\n", ":", "::1:", "a:1", "好:1:2", "test result: ", "R  ", "\u{1b}[", "\r\n\r", "1 2 3",
    "diff --git ", "@@", "commit ", "# ", "Summary [", "\0", "FAILED .py", "warning: ", "error[", "(,): TS: ",
];

#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "rg -n x", "rg x", "rg --files", "git status", "git status -s", "git status --porcelain=v2", "git log",
    "git diff --stat", "git diff --numstat", "git diff", "cargo test", "cargo build", "tsc",
    "pytest", "go vet", "npm test", "gcc", "cat", "env", "timeout", "-",
];

#[test]
fn no_output_makes_a_parser_panic() {
    for line in COMMANDS {
        for (first, second) in FRAGMENTS.iter().flat_map(|a| FRAGMENTS.iter().map(move |b| (a, b)))
        {
            for glue in ["", "\n", " "] {
                let text = format!("{first}{glue}{second}");
                parse_with_exit(line, &text, &text, 1);
                parse_with_exit(line, &text, &text, 0);
            }
        }
    }
}
