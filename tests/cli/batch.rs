//! `avocet batch`: tasks in worktrees and copies, here and on other machines, whose programs are small
//! scripts.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::acp::{DONE, write_file};
use crate::support::bench::TestDir;
use crate::support::wait::wait_until;

/// A folder `work` with a repository `repo`, a plain folder `dir`, and the model's replies.
fn project(replies: &[&str]) -> TestDir {
    let bench = TestDir::new();
    for folder in ["repo", "dir"] {
        fs::create_dir(bench.work().join(folder)).unwrap();
        fs::write(bench.work().join(folder).join("old.txt"), "old\n").unwrap();
    }
    let user = "[user]\n\tname = A\n\temail = a@example.com\n";
    fs::write(bench.path("home/.gitconfig"), user).unwrap();
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "begin"]] {
        let mut git = Command::new("git");
        git.args(args).current_dir(bench.work().join("repo")).envs(bench.envs());
        assert!(git.status().unwrap().success());
    }
    fs::write(bench.path("replies"), replies.join("\n---\n")).unwrap();
    bench
}

fn tasks(bench: &TestDir, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(bench.work().join("tasks.jsonl"), lines.concat()).unwrap();
}

fn task(id: &str, place: &str) -> Value {
    json!({ "id": id, "prompt": "write a.txt", place: place })
}

fn command(bench: &TestDir, args: &[&str]) -> Command {
    let model = format!("scripted:{}", bench.path("replies").display());
    let own = ["batch", "tasks.jsonl", "--out", "out", "--model", &model, "--approve-steps"];
    bench.command(&[&own, args].concat())
}

fn batch(bench: &TestDir, args: &[&str]) -> Output {
    command(bench, args).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn out(bench: &TestDir, name: &str) -> String {
    fs::read_to_string(bench.work().join("out").join(name)).unwrap_or_default()
}

/// The ids in the file of results, and how the tasks ended.
fn outcomes(bench: &TestDir) -> Vec<(String, String)> {
    let text = out(bench, "results.jsonl");
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all: Vec<_> = lines.map(|line| (word(&line["task"]), word(&line["outcome"]))).collect();
    all.sort();
    all
}

fn done(ids: &[&str]) -> Vec<(String, String)> {
    ids.iter().map(|id| ((*id).to_owned(), "done".to_owned())).collect()
}

#[test]
fn each_task_leaves_a_patch_a_log_and_a_result_and_the_places_stay_as_they_were() {
    let bench = project(&[&write_file("a.txt"), DONE]);
    tasks(&bench, &[task("one", "repo"), task("two", "dir"), task("three", "repo")]);
    let output = batch(&bench, &["--jobs", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(outcomes(&bench), done(&["one", "three", "two"]));
    assert!(errors(&output).contains("3/3: "), "{}", errors(&output));
    for id in ["one", "two", "three"] {
        let patch = out(&bench, &format!("{id}.patch"));
        assert!(patch.contains("+++ b/a.txt\n@@ -0,0 +1 @@\n+new\n"), "{id}: {patch}");
        assert!(!patch.contains("old.txt"), "{id}: {patch}");
        assert!(out(&bench, &format!("{id}.log")).contains("All done."));
    }
    assert!(!bench.work().join("dir/a.txt").exists());
    let left = fs::read_dir(bench.work().join("repo/.avocet/worktrees")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".gitignore"]);
}

#[test]
fn what_was_not_allowed_does_not_run() {
    let bench = project(&[&write_file("a.txt"), DONE]);
    tasks(&bench, &[task("one", "dir")]);
    let model = format!("scripted:{}", bench.path("replies").display());
    let args = ["batch", "tasks.jsonl", "--out", "out", "--model", &model];
    let output = bench.command(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert_eq!(outcomes(&bench), [("one".to_owned(), "blocked".to_owned())]);
    assert_eq!(out(&bench, "one.patch"), "");
}

#[test]
fn a_run_goes_on_after_a_line_that_was_written_half() {
    let bench = project(&[&write_file("a.txt"), DONE]);
    tasks(&bench, &[task("one", "dir"), task("two", "dir")]);
    fs::create_dir(bench.work().join("out")).unwrap();
    batch(&bench, &[]);
    let text = out(&bench, "results.jsonl");
    let first = text.lines().next().unwrap();
    let half = format!("{first}\n{{\"task\":\"two\",\"outc");
    fs::write(bench.work().join("out/results.jsonl"), half).unwrap();
    let output = batch(&bench, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(outcomes(&bench), done(&["one", "two"]));
    assert!(!errors(&output).contains("one done"), "{}", errors(&output));
    let again = batch(&bench, &[]);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(out(&bench, "results.jsonl").lines().count(), 3);
}

#[test]
fn a_wrong_file_of_tasks_is_told_in_a_sentence_and_nothing_runs() {
    let bench = project(&[DONE]);
    let good = task("one", "dir");
    let wrong = |lines: &[Value], expected: &str| {
        tasks(&bench, lines);
        let output = batch(&bench, &[]);
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        assert!(errors(&output).contains(expected), "{}", errors(&output));
        assert!(!bench.work().join("out/one.log").exists());
    };
    wrong(&[good.clone(), json!({ "id": "two" })], "Line 2: it is not a task");
    wrong(&[good.clone(), good.clone()], "Line 2: line 1 has the id `one` too.");
    wrong(
        &[good.clone(), task("two", "repo"), json!({ "id": "x", "prompt": "y", "dir": "no" })],
        "Line 3: ",
    );
    wrong(&[], "The file has no task.");
    let file = fs::File::create(bench.work().join("tasks.jsonl")).unwrap();
    file.set_len(300 << 20).unwrap();
    let output = batch(&bench, &[]);
    assert!(errors(&output).contains("the file is larger than"), "{}", errors(&output));
    fs::remove_file(bench.work().join("tasks.jsonl")).unwrap();
    let output = batch(&bench, &[]);
    assert!(errors(&output).contains("`tasks.jsonl` cannot be read"), "{}", errors(&output));
}

#[test]
fn a_result_that_cannot_be_written_ends_the_run_with_its_reason() {
    let bench = project(&[DONE]);
    tasks(&bench, &[task("one", "dir"), task("two", "dir")]);
    fs::create_dir_all(bench.work().join("out/results.jsonl")).unwrap();
    let output = batch(&bench, &[]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "results.jsonl` cannot be written: Is a directory";
    assert!(errors(&output).contains(expected), "{}", errors(&output));
}

/// Its log is a device that is always full.
#[test]
fn a_full_disk_fails_the_task_that_meets_it() {
    let bench = project(&[DONE]);
    tasks(&bench, &[task("one", "dir")]);
    fs::create_dir(bench.work().join("out")).unwrap();
    symlink("/dev/full", bench.work().join("out/one.log")).unwrap();
    let output = batch(&bench, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors(&output).contains("one.log` cannot be written: No space"),
        "{}",
        errors(&output)
    );
}

/// Half of a patch cannot be applied.
#[test]
fn a_patch_for_which_the_disk_has_no_room_leaves_the_work_where_it_was_done() {
    let bench = project(&[&write_file("a.txt"), DONE]);
    tasks(&bench, &[task("one", "repo")]);
    fs::create_dir(bench.work().join("out")).unwrap();
    symlink("/dev/full", bench.work().join("out/one.patch")).unwrap();
    let output = batch(&bench, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("The patch could not be made"), "{}", errors(&output));
    let mut list = Command::new("git");
    list.args(["worktree", "list", "--porcelain"]).current_dir(bench.work().join("repo"));
    let kept = String::from_utf8(list.envs(bench.envs()).output().unwrap().stdout).unwrap();
    let folder = kept.lines().filter_map(|line| line.strip_prefix("worktree ")).next_back();
    assert!(fs::exists(format!("{}/a.txt", folder.unwrap())).unwrap(), "{kept}");
    assert!(!out(&bench, "one.patch").contains("+++"));
    assert_eq!(batch(&bench, &[]).status.code(), Some(0));
    assert!(out(&bench, "one.patch").contains("+++ b/a.txt"));
}

#[test]
fn ctrl_c_stops_the_tasks_and_the_next_run_goes_on_with_them() {
    let wait = json!({ "program": "sleep", "args": ["100"] });
    let wait = json!({ "type": "cmd", "message": "x", "data": { "commands": [wait] } }).to_string();
    let bench = project(&[&wait, DONE]);
    tasks(&bench, &[task("one", "repo"), task("two", "dir")]);
    let child = command(&bench, &["--jobs", "2"]).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("both have begun", || {
        ["one", "two"].iter().all(|id| out(&bench, &format!("{id}.log")).contains("sleep"))
    });
    let id = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).contains("Tasks without a result: 2."), "{}", errors(&output));
    assert_eq!(outcomes(&bench), []);
    fs::write(bench.path("replies"), DONE).unwrap();
    assert_eq!(batch(&bench, &[]).status.code(), Some(0));
    assert_eq!(outcomes(&bench), done(&["one", "two"]));
}

/// Puts small scripts before the other programs, and returns the folder for the `PATH`.
fn programs(bench: &TestDir, scripts: &[(&str, &str)]) -> PathBuf {
    let bin = bench.path("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, script) in scripts {
        fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

fn on(bench: &TestDir, place: &str, args: &[&str]) -> Output {
    let path = format!("{}:/usr/bin:/bin", bench.path("bin").display());
    command(bench, &[&["--on", place], args].concat()).env("PATH", path).output().unwrap()
}

/// Runs each element of the array at once, but for the one in `$HOME/dies`.
const SBATCH: &str = r#"
echo "$*" > "$HOME/sbatch"
for arg; do case $arg in
    --array=*) lines=${arg#--array=}; lines=${lines%\%*};;
    --wrap=*) wrap=${arg#--wrap=};;
    --chdir=*) cd "${arg#--chdir=}";;
esac; done
for line in $(echo "$lines" | tr , ' '); do
    [ "$line" = "$(cat "$HOME/dies" 2> /dev/null)" ] && continue
    SLURM_ARRAY_TASK_ID=$line sh -c "$wrap" > /dev/null 2>> "$HOME/errors"
done
echo "42;west""#;

#[test]
fn slurm_runs_the_lines_that_are_left_and_a_dead_node_is_told() {
    let bench = project(&[&write_file("a.txt"), DONE]);
    tasks(&bench, &[task("one", "repo"), task("two", "dir"), task("three", "dir")]);
    let squeue = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1";
    programs(&bench, &[("sbatch", SBATCH), ("squeue", squeue), ("scancel", "exit 1")]);
    fs::write(bench.path("home/dies"), "2").unwrap();
    let output = on(&bench, "slurm", &["--jobs", "5"]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("Submitted as `42`."), "{}", errors(&output));
    assert!(errors(&output).contains("without a result: two."), "{}", errors(&output));
    assert_eq!(outcomes(&bench), done(&["one", "three"]));
    assert!(out(&bench, "one.patch").contains("+new") && out(&bench, "one.json").is_empty());
    fs::remove_file(bench.path("home/dies")).unwrap();
    let output = on(&bench, "slurm", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let args = fs::read_to_string(bench.path("home/sbatch")).unwrap();
    assert!(args.contains("--array=2%1 "), "{args}");
    assert_eq!(outcomes(&bench), done(&["one", "three", "two"]));
}

#[test]
fn a_cluster_that_refuses_is_quoted() {
    let bench = project(&[DONE]);
    tasks(&bench, &[task("one", "dir")]);
    programs(&bench, &[("sbatch", "echo 'sbatch: error: Invalid partition' >&2; exit 1")]);
    let output = on(&bench, "slurm", &[]);
    assert_eq!(output.status.code(), Some(1));
    let expected = "`sbatch` failed: sbatch: error: Invalid partition";
    assert!(errors(&output).contains(expected), "{}", errors(&output));
    let output = on(&bench, "kubernetes", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("needs `--image`"), "{}", errors(&output));
    programs(&bench, &[("kubectl", "echo 'error: jobs is forbidden' >&2; exit 1")]);
    let output = on(&bench, "kubernetes", &["--image", "i", "--volume", "v"]);
    let expected = "`kubectl` failed: error: jobs is forbidden";
    assert!(errors(&output).contains(expected), "{}", errors(&output));
    let output = on(&bench, "moon", &[]);
    assert!(errors(&output).contains("is not a place to run tasks"), "{}", errors(&output));
}

/// Runs the command of the container for each index.
const KUBECTL: &str = r#"
case $1 in
create)
    cat > "$HOME/job.json"
    line=$(sed 's/.*"sh","-c","//; s/"\],".*//; s/\\"/"/g' "$HOME/job.json")
    for index in 0 1; do JOB_COMPLETION_INDEX=$index sh -c "$line" 2>> "$HOME/errors"; done;;
get) echo Complete;;
*) exit 1;;
esac"#;

#[test]
fn kubernetes_runs_a_container_for_each_line() {
    let bench = project(&[&write_file("a.txt"), DONE]);
    tasks(&bench, &[task("one", "repo"), task("two", "dir")]);
    programs(&bench, &[("kubectl", KUBECTL)]);
    let program = env!("CARGO_BIN_EXE_avocet");
    let args = ["--image", "i", "--volume", "v", "--program", program];
    let output = on(&bench, "kubernetes", &args);
    let log = fs::read_to_string(bench.path("home/errors")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{}{log}", errors(&output));
    assert_eq!(outcomes(&bench), done(&["one", "two"]));
}

#[test]
fn a_host_that_cannot_be_reached_is_left_out_and_its_task_goes_to_another() {
    let bench = project(&[&write_file("a.txt"), DONE]);
    tasks(&bench, &[task("one", "repo"), task("two", "dir"), task("three", "dir")]);
    let ssh =
        r#"[ "$4" = dead ] && { echo 'ssh: connect: refused' >&2; exit 255; }; exec sh -c "$5""#;
    programs(&bench, &[("ssh", ssh)]);
    let output = on(&bench, "ssh:dead,alive", &["--jobs", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let told = errors(&output).matches("`dead` is not used any more: ").count();
    assert_eq!(told, 1, "{}", errors(&output));
    assert_eq!(outcomes(&bench), done(&["one", "three", "two"]));
    fs::remove_dir_all(bench.work().join("out")).unwrap();
    let output = on(&bench, "ssh:dead", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("without a result: one, two, three."), "{}", errors(&output));
}
