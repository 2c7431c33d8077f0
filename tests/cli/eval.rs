//! `avocet eval`: tasks run in copies, are checked, and are not run twice.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::acp::{DONE, write_file};
use crate::support::bench::TestDir;
use crate::support::skip::{Reason, skip};

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

fn git(args: &[&str]) -> String {
    let done = Command::new("git").args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn a_task_of_a_repository_works_in_a_worktree_that_is_gone_afterwards() {
    let bench = TestDir::new();
    let repository = bench.path("repo").display().to_string();
    git(&["init", "-q", "-b", "main", &repository]);
    fs::write(bench.path("repo/own.txt"), "own\n").unwrap();
    git(&["-C", &repository, "add", "own.txt"]);
    let author = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
    git(&[&["-C", &repository], &author[..], &["commit", "-q", "-m", "begin"]].concat());
    let written = write_file("a.txt");
    let check = "test -f a.txt && test -f own.txt && test -f src/old.txt";
    let task = format!("prompt = \"write a.txt\"\ncheck = \"{check}\"\nrepo = \"../../repo\"");
    add_task(&bench, "one", &task, &[&written, DONE]);

    let output = eval(&bench, &["--json"]);
    let results = results(&output);
    assert_eq!(results[0]["outcome"], "solved", "{results:#?}");
    assert_eq!(git(&["-C", &repository, "worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&["-C", &repository, "branch"]).trim(), "* main");
    assert!(!bench.path("repo/a.txt").exists());
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

fn run(program: &str, args: &[&str]) -> String {
    let command = json!({ "program": program, "args": args });
    let data = json!({ "cwd": null, "commands": [command], "expected_effect": "" });
    json!({ "type": "cmd", "message": "I run it.", "data": data }).to_string()
}

#[test]
fn files_of_a_check_are_copied_through_no_link_of_the_model() {
    let bench = TestDir::new();
    let outside = bench.path("home");
    fs::write(outside.join("kept.txt"), "kept\n").unwrap();
    let target = outside.join("kept.txt").display().to_string();
    let folder = outside.display().to_string();
    let link = run("ln", &["-s", &target, "check.sh"]);
    let folder_link = run("ln", &["-s", &folder, "more"]);
    let pipe = run("mkfifo", &["pipe.sh"]);
    let check = "prompt = \"x\"\ncheck = \"sh check.sh && sh pipe.sh\"";
    add_task(&bench, "linked", check, &[&link, &folder_link, &pipe, DONE]);
    fs::create_dir_all(bench.path("tasks/linked/check/more")).unwrap();
    for file in ["check.sh", "pipe.sh", "more/new.txt"] {
        fs::write(bench.path("tasks/linked/check").join(file), "test -f more/new.txt\n").unwrap();
    }
    let results = results(&eval(&bench, &["--json"]));
    assert_eq!(results[0]["outcome"], "solved", "{results:#?}");
    assert_eq!(fs::read_to_string(outside.join("kept.txt")).unwrap(), "kept\n");
    assert!(!outside.join("new.txt").exists());
}

#[test]
fn files_of_a_task_come_from_its_own_folder_only_and_are_not_endless() {
    let bench = TestDir::new();
    fs::write(bench.path("home/key.txt"), "key\n").unwrap();
    let check = "prompt = \"x\"\ncheck = \"test -h link && ! grep key key.txt\"";
    add_task(&bench, "folder", check, &[DONE]);
    fs::remove_dir_all(bench.path("tasks/folder/files")).unwrap();
    symlink(bench.path("home"), bench.path("tasks/folder/files")).unwrap();
    add_task(&bench, "large", check, &[DONE]);
    let large = fs::File::create(bench.path("tasks/large/files/large")).unwrap();
    large.set_len(1 << 40).unwrap();
    add_task(&bench, "link", check, &[DONE]);
    symlink("src/old.txt", bench.path("tasks/link/files/link")).unwrap();
    add_task(&bench, "replies", check, &[DONE]);
    fs::remove_file(bench.path("tasks/replies/replies")).unwrap();
    symlink("/dev/zero", bench.path("tasks/replies/replies")).unwrap();
    let results = results(&eval(&bench, &["--json"]));
    let outcomes: Vec<_> = results.iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["failed", "failed", "solved", "failed"], "{results:#?}");
}

#[test]
fn a_setup_and_a_check_reach_no_more_than_an_approved_step() {
    let bench = TestDir::new();
    let doctor = bench.command(&["doctor"]).output().unwrap();
    if !String::from_utf8_lossy(&doctor.stdout).contains("`work`") {
        return skip(Reason::NoSandbox);
    }
    let kept = bench.path("home/kept.txt");
    fs::write(&kept, "kept\n").unwrap();
    // What the model writes, the check starts.
    let escape = format!("echo changed > {}\ntest -f src/old.txt\n", kept.display());
    let data = json!({ "path": "check.sh", "content": escape });
    let data = json!({ "cwd": null, "commands": [{ "tool": "file.write", "input": data }],
        "expected_effect": "" });
    let write = json!({ "type": "cmd", "message": "I write it.", "data": data }).to_string();
    let check = "prompt = \"x\"\ncheck = \"sh check.sh\"";
    add_task(&bench, "check", check, &[&write, DONE]);
    let grave = "prompt = \"x\"\nsetup = [\"sudo true\"]\ncheck = \"ls\"";
    add_task(&bench, "grave", grave, &[DONE]);
    let long = "prompt = \"x\"\ncheck = \"seq 600000\"";
    add_task(&bench, "long", long, &[DONE]);
    let results = results(&eval(&bench, &["--json"]));
    assert_eq!(fs::read_to_string(&kept).unwrap(), "kept\n");
    assert_eq!(results[1]["outcome"], "failed", "{results:#?}");
    assert_eq!(results[2]["outcome"], "solved", "{results:#?}");
}

#[test]
fn a_results_file_belongs_to_one_run_and_a_half_line_takes_no_result_with_it() {
    let bench = TestDir::new();
    add_task(&bench, "one", "prompt = \"x\"\ncheck = \"ls\"", &[DONE]);
    let path = bench.path("out.jsonl");
    fs::write(&path, b"{\"task\":\"\xff").unwrap();
    let out = path.display().to_string();
    assert_eq!(eval(&bench, &["--out", &out]).status.code(), Some(0));
    assert_eq!(eval(&bench, &["--out", &out]).status.code(), Some(0));
    assert_eq!(fs::read(&path).unwrap().split(|byte| *byte == b'\n').count(), 3);
    let held = fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let busy = eval(&bench, &["--out", &out]);
    assert_eq!(busy.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&busy.stderr).contains("Another run"));
    assert_eq!(eval(&bench, &["--compare", "/no/such/file"]).status.code(), Some(2));
}

#[test]
fn a_file_of_results_that_is_too_large_is_not_read() {
    let bench = TestDir::new();
    add_task(&bench, "one", "prompt = \"x\"\ncheck = \"ls\"", &[DONE]);
    let path = bench.path("large.jsonl");
    fs::File::create(&path).unwrap().set_len(300 << 20).unwrap();
    let large = path.display().to_string();
    for option in ["--out", "--compare"] {
        let output = eval(&bench, &[option, &large]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{option}: {errors}");
        assert!(errors.contains("large.jsonl` cannot be read: the file is larger"), "{errors}");
    }
}

#[test]
fn nothing_that_a_task_writes_reaches_the_terminal_as_it_is() {
    let bench = TestDir::new();
    let check = "prompt = \"x\"\ncheck = \"printf '\\\\033[31mtitle'; false\"";
    add_task(&bench, "na\u{1b}[31mme", check, &[DONE]);
    let output = eval(&bench, &[]);
    let text = [output.stdout, output.stderr].concat();
    assert!(!text.contains(&0x1b), "{}", String::from_utf8_lossy(&text));
    assert!(String::from_utf8_lossy(&text).contains("title"));
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
