//! `avocet eval`: tasks run in copies, are checked, and are not run twice.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::acp::{DONE, write_file};
use crate::support::bench::TestDir;

/// A task whose model says this.
fn add_task(bench: &TestDir, name: &str, task: &str, replies: &[&str]) {
    let folder = bench.path("tasks").join(name);
    fs::create_dir_all(folder.join("files/src")).unwrap();
    fs::write(folder.join("task.toml"), task).unwrap();
    fs::write(folder.join("files/src/old.txt"), "old\n").unwrap();
    fs::write(folder.join("replies"), replies.join("\n---\n")).unwrap();
}

fn eval(bench: &TestDir, args: &[&str]) -> Output {
    let tasks = bench.path("tasks").display().to_string();
    bench.command(&[&["eval", &tasks, "--recorded"], args].concat()).output().unwrap()
}

fn results(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut results: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    results.sort_by_key(|result| result["task"].as_str().unwrap().to_owned());
    results
}

fn lines(file: &Path) -> usize {
    fs::read_to_string(file).unwrap().lines().count()
}

#[test]
fn tasks_are_solved_where_their_check_succeeds_and_the_folder_stays_as_it_was() {
    let bench = TestDir::new();
    let written = write_file("a.txt");
    let check = "prompt = \"write a.txt\"\ncheck = \"test -f a.txt\"";
    add_task(&bench, "solved", check, &[&written, DONE]);
    add_task(&bench, "unsolved", check, &[DONE]);
    let answer = "prompt = \"how?\"\nanswer = [\"all\", \"DONE\"]";
    add_task(&bench, "answered", answer, &[DONE]);
    let setup = "prompt = \"x\"\nsetup = [\"ls no-such-file\"]\ncheck = \"test -f a.txt\"";
    add_task(&bench, "unprepared", setup, &[DONE]);
    let output = eval(&bench, &["--jobs", "3", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let results = results(&output);
    let outcomes: Vec<_> = results.iter().map(|it| (&it["task"], &it["outcome"])).collect();
    let expected = [
        (&json!("answered"), &json!("solved")),
        (&json!("solved"), &json!("solved")),
        (&json!("unprepared"), &json!("failed")),
        (&json!("unsolved"), &json!("unsolved")),
    ];
    assert_eq!(outcomes, expected, "{results:#?}");
    assert_eq!((&results[1]["steps"], &results[1]["questions"]), (&json!(1), &json!(1)));
    let why = results[2]["why"].as_str().unwrap();
    assert!(why.contains("ls no-such-file"), "{why}");
    assert!(!bench.path("tasks/solved/files/a.txt").exists());
    assert!(!bench.work().join("a.txt").exists());
}

#[test]
fn what_the_check_needs_is_copied_after_the_model_has_worked() {
    let bench = TestDir::new();
    let check = "prompt = \"write a.txt\"\ncheck = \"sh check.sh\"";
    let look = json!({ "tool": "file.read", "input": { "path": "check.sh" } });
    let data = json!({ "cwd": null, "commands": [look], "expected_effect": "" });
    let look = json!({ "type": "cmd", "message": "I look.", "data": data }).to_string();
    add_task(&bench, "hidden", check, &[&look, DONE]);
    fs::create_dir_all(bench.path("tasks/hidden/check")).unwrap();
    fs::write(bench.path("tasks/hidden/check/check.sh"), "test -f src/old.txt\n").unwrap();
    let output = eval(&bench, &["--json"]);
    let results = results(&output);
    assert_eq!(results[0]["outcome"], "solved", "{results:#?}");
}

#[test]
fn results_in_the_file_are_not_run_again_and_are_compared() {
    let bench = TestDir::new();
    let check = "prompt = \"write a.txt\"\ncheck = \"test -f a.txt\"";
    add_task(&bench, "one", check, &[DONE]);
    let (first, second) = (bench.path("first.jsonl"), bench.path("second.jsonl"));
    let first = first.display().to_string();
    let second = second.display().to_string();
    assert_eq!(eval(&bench, &["--out", &first]).status.code(), Some(1));
    add_task(&bench, "two", check, &[&write_file("a.txt"), DONE]);
    let again = eval(&bench, &["--out", &first]);
    assert_eq!(lines(Path::new(&first)), 2);
    let table = String::from_utf8(again.stdout).unwrap();
    assert!(table.contains("1 of 2"), "{table}");
    // The first task is mended.
    add_task(&bench, "one", check, &[&write_file("a.txt"), DONE]);
    let compared = eval(&bench, &["--out", &second, "--compare", &first]);
    assert_eq!(compared.status.code(), Some(0));
    let table = String::from_utf8(compared.stdout).unwrap();
    assert!(table.contains("2 of 2") && table.contains("+0.50"), "{table}");
}

/// Those that need nothing but a shell; `tests/real/eval.sh` runs all.
#[test]
fn tasks_that_are_shipped_are_solved_by_their_recorded_replies() {
    let bench = TestDir::new();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/eval");
    let shipped = shipped.display().to_string();
    let args = ["eval", &shipped, "question-flow", "long-log", "--recorded", "--json"];
    let output = bench.command(&args).output().unwrap();
    let results = results(&output);
    assert_eq!(output.status.code(), Some(0), "{results:#?}");
    assert_eq!(results.len(), 2);
}

#[test]
fn a_limit_of_the_task_ends_it_and_is_told_as_such() {
    let bench = TestDir::new();
    let check = "prompt = \"x\"\ncheck = \"test -f b.txt\"\n[limits]\nsteps = 1";
    let replies = [write_file("a.txt"), write_file("b.txt"), DONE.to_owned()];
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    add_task(&bench, "steps", check, &replies);
    let late = "prompt = \"x\"\ncheck = \"sleep 100\"\n[limits]\nseconds = 1";
    add_task(&bench, "time", late, &[DONE]);
    let results = results(&eval(&bench, &["--json", "--jobs", "2"]));
    assert_eq!(results[0]["outcome"], "limit", "{results:#?}");
    assert_eq!(results[1]["outcome"], "limit", "{results:#?}");
}

#[test]
fn a_wrong_task_is_named_before_any_runs() {
    let bench = TestDir::new();
    fs::create_dir_all(bench.path("tasks")).unwrap();
    let wrong = |expected: &str, args: &[&str]| {
        let output = eval(&bench, args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(expected), "{errors}");
    };
    wrong("has no task", &[]);
    add_task(&bench, "bare", "prompt = \"x\"", &[DONE]);
    wrong("Task `bare`: nothing says when it is solved", &[]);
    wrong("There is no task `other`.", &["other"]);
    add_task(&bench, "bare", "prompt = \"x\"\ncheck = \"ls\"\nstpes = 4", &[DONE]);
    wrong("stpes", &[]);
}
