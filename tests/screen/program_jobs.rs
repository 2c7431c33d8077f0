//! Jobs of the whole program: kept ones over its end, by the user or by a signal, and steps that are
//! at work at their time limit where no user answers.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use avocet::i18n::sandbox as phrases;
use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::skip::{Reason, skip};
use crate::support::wait::wait_until;

/// Prints its second part once a file is there, and ends with the folder at the latest.
const JOB: &str = "echo $$ > pid; echo begun\n\
    until_there() { while [ -e pid ] && [ ! -e $1 ]; do sleep 0.05; done; }\n\
    until_there later\n\
    [ ! -e flood ] || yes 0123456789abcdef | head -c 30000000\n\
    echo second part; cat values.txt\n\
    until_there stop\n";

/// Writes until a file is there.
const CHATTY: &str =
    "echo $$ > pid; while [ -e pid ] && [ ! -e stop ]; do echo tick; sleep 0.05; done\n";

fn steps(commands: Value) -> Reply {
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    Reply::text(&json!({ "type": "cmd", "message": "Next.", "data": data }).to_string(), 4)
}

fn tool(name: &str, input: Value) -> Reply {
    steps(json!([{ "tool": name, "input": input }]))
}

fn script_step(name: &str, background: bool) -> Reply {
    let requires = json!({ "background": background });
    steps(json!([{ "program": "sh", "args": [name], "requires": requires }]))
}

/// The program in plain mode, as a user at a terminal starts it.
fn terminal(bench: &TestDir, server: &Server, variables: &[(&str, &str)]) -> Screen {
    let (work, url) = (bench.work().display().to_string(), server.base_url());
    let args = ["--linear", "--trust", &work, "--base-url", &url, "--model", "loop-1"];
    let own = bench.envs();
    let own = own.iter().map(|(name, value)| (*name, value.as_str()));
    let envs: Vec<_> = own.chain(variables.iter().copied()).collect();
    let screen = Screen::start(&args, &envs, &bench.work(), (110, 60));
    screen.wait_for("quits.");
    screen
}

fn keep_first_job(screen: &mut Screen) {
    screen.wait_for("as job 1");
    screen.press("/jobs keep 1\r");
    screen.wait_for("goes on when Avocet ends");
}

/// Asks for the output of the job until it has this text.
fn wait_for_output(screen: &mut Screen, text: &str) {
    wait_until(text, || {
        screen.press("/jobs 1\r");
        screen.shows_within(text, Duration::from_millis(200))
    });
}

fn leave(mut screen: Screen) {
    screen.press("/exit\r");
    assert_eq!(screen.wait_for_exit(), 0);
}

fn touch(bench: &TestDir, name: &str) {
    fs::write(bench.work().join(name), "").unwrap();
}

/// The process that wrote its number to `pid`.
fn process_of(bench: &TestDir) -> PathBuf {
    let mut pid = String::new();
    wait_until("it says its number", || {
        pid = fs::read_to_string(bench.work().join("pid")).unwrap_or_default();
        pid.ends_with('\n')
    });
    Path::new("/proc").join(pid.trim())
}

/// One that has ended and was not collected does not run.
fn runs(process: &Path) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// The files of kept jobs with this ending.
fn records(bench: &TestDir, ending: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
        entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
    }
    let is_one = |path: &PathBuf| {
        let folder = path.parent().unwrap().file_name().unwrap();
        folder == "jobs" && path.extension().is_some_and(|end| end == ending)
    };
    walk(&bench.path("avocet")).into_iter().filter(is_one).collect()
}

#[test]
fn a_kept_job_goes_on_when_the_program_ends_or_is_killed_and_its_next_run_reads_and_stops_it() {
    for end in ["/exit", "KILL", "TERM"] {
        let (bench, server) = (TestDir::new(), Server::start(Vec::new()));
        fs::write(bench.work().join("job.sh"), JOB).unwrap();
        touch(&bench, "values.txt");
        let is_flood = end == "KILL";
        if is_flood {
            touch(&bench, "flood");
        }
        let mut screen = terminal(&bench, &server, &[]);
        screen.press("!sh job.sh &\r");
        keep_first_job(&mut screen);
        let process = process_of(&bench);
        match end {
            "/exit" => screen.press("/exit\r"),
            signal => screen.signal(signal),
        }
        screen.wait_for_exit();
        assert!(runs(&process), "{end}");
        assert_eq!(records(&bench, "json").len(), 1);
        touch(&bench, "later");
        let mut screen = terminal(&bench, &server, &[]);
        screen.wait_for("kept by an earlier session, still runs");
        wait_for_output(&mut screen, "second part");
        assert!(is_flood || screen.text().contains("begun"), "{}", screen.text());
        let sizes = ["log", "older"].map(|ending| records(&bench, ending)).concat();
        let size: u64 = sizes.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        assert!(size < 10 << 20 && (size > 100_000) == is_flood, "{size}");
        screen.press("/jobs stop 1\r");
        screen.wait_for("was stopped");
        assert!(!runs(&process), "{end}");
        leave(screen);
        assert_eq!(
            records(&bench, "json"),
            [""; 0].map(PathBuf::from),
            "it was shown to have ended"
        );
    }
}

#[test]
fn the_model_of_a_later_run_reads_and_stops_a_kept_job_and_sees_no_secret_of_either_run() {
    let bench = TestDir::new();
    let server = Server::start(vec![
        tool("job.list", json!({})),
        tool("job.read", json!({ "id": 1 })),
        tool("job.stop", json!({ "id": 1 })),
        Reply::chat("All done."),
    ]);
    let [first, second] = ["7cQ2-first-known-9fLz", "Rk81-later-known-Xw3d"];
    fs::write(bench.work().join("job.sh"), JOB).unwrap();
    fs::write(bench.work().join("values.txt"), format!("one {first}\ntwo {second}\n")).unwrap();
    let mut screen = terminal(&bench, &server, &[("DEPLOY_TOKEN", first)]);
    screen.press("!sh job.sh &\r");
    keep_first_job(&mut screen);
    leave(screen);
    let process = process_of(&bench);
    touch(&bench, "later");
    let mut output = String::new();
    wait_until("it is written", || {
        output = fs::read_to_string(&records(&bench, "log")[0]).unwrap_or_default();
        output.contains("two ")
    });
    assert!(!output.contains(first), "{output}");
    let mut screen = terminal(&bench, &server, &[("OTHER_TOKEN", second)]);
    screen.wait_for("still runs");
    screen.press("look after it\r");
    screen.wait_for("was not started by the model");
    screen.wait_for("[d]etails\n>");
    screen.press("y\r");
    screen.wait_for("All done.");
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    assert!(sent.contains("begun") && sent.contains("second part"), "{sent}");
    assert!(sent.contains("one ‹secret:") && sent.contains("two ‹secret:"), "{sent}");
    assert!(!sent.contains(first) && !sent.contains(second), "{sent}");
    wait_until("it is stopped", || !runs(&process));
    leave(screen);
}

#[test]
fn a_run_without_the_screen_finds_a_kept_job_and_leaves_it_running() {
    let bench = TestDir::new();
    let server = Server::start(vec![tool("job.list", json!({})), Reply::chat("All done.")]);
    fs::write(bench.work().join("job.sh"), JOB).unwrap();
    let mut screen = terminal(&bench, &server, &[]);
    screen.press("!sh job.sh &\r");
    keep_first_job(&mut screen);
    leave(screen);
    let process = process_of(&bench);
    let url = server.base_url();
    let args = ["--base-url", &url, "--model", "loop-1", "-p", "look after it"];
    let output = bench.command(&args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    assert!(sent.contains("1 runs") && sent.contains("sh job.sh"), "{sent}");
    assert!(runs(&process), "{said}");
    touch(&bench, "stop");
    touch(&bench, "later");
    wait_until("it ends", || !runs(&process));
}

#[test]
fn a_kept_job_stays_in_the_sandbox_of_its_step_when_the_program_has_ended() {
    let doctor = TestDir::new().command(&["doctor"]).output().unwrap();
    if String::from_utf8_lossy(&doctor.stdout).contains(phrases::NO_KERNEL.en) {
        return skip(Reason::NoSandbox);
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let job = format!(
        "{}if echo x > ../outside; then echo wrote outside; else echo kept inside; fi\n\
         if bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'; then echo connected; else echo cut off; fi\n\
         echo third part\nuntil_there stop\n",
        JOB.strip_suffix("until_there stop\n").unwrap()
    );
    let held = "[safety]\nallow_network = false\n";
    let free = "[safety]\nsandbox = \"off\"\n";
    for (settings, expected) in
        [(held, ["kept inside", "cut off"]), (free, ["wrote outside", "connected"])]
    {
        let bench = TestDir::new();
        bench.settings(settings);
        let server = Server::start(vec![script_step("job.sh", true), Reply::chat("All done.")]);
        fs::write(bench.work().join("job.sh"), &job).unwrap();
        touch(&bench, "values.txt");
        let mut screen = terminal(&bench, &server, &[]);
        screen.press("start it\r");
        screen.wait_for("[d]etails\n>");
        screen.press("y\r");
        screen.wait_for("All done.");
        keep_first_job(&mut screen);
        leave(screen);
        let process = process_of(&bench);
        touch(&bench, "later");
        let mut screen = terminal(&bench, &server, &[]);
        wait_for_output(&mut screen, "third part");
        let text = screen.text();
        assert!(expected.iter().all(|part| text.contains(part)), "{settings}{text}");
        assert_eq!(bench.path("outside").exists(), settings == free);
        screen.press("/jobs stop 1\r");
        screen.wait_for("was stopped");
        assert!(!runs(&process));
        leave(screen);
    }
}

/// Plays the part of a session that hands a job over.
#[test]
fn a_keeper_ends_a_job_that_has_more_processes_than_it_may() {
    let bench = TestDir::new();
    let mark = "00000a0b0c0d0e0f";
    let line = "while [ ! -e later ]; do sleep 0.01; done; \
                i=0; while [ $i -lt 12 ]; do sleep 61.75 & i=$((i+1)); done; wait";
    let mut job = Command::new("sh")
        .args(["-c", line])
        .current_dir(bench.work())
        .env("AVOCET_STEP", mark)
        .process_group(0)
        .spawn()
        .unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", job.id())).unwrap();
    let start: u64 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    let id = json!({ "pid": job.id(), "start": start });
    let task = json!({
        "job": { "folder": bench.work(), "step": "cmd_001", "line": line, "began": 0,
                 "leader": id, "keeper": id, "mark": mark },
        "place": bench.path("avocet"), "seed": null, "processes": 10,
        "grace": { "secs": 1, "nanos": 0 }, "run_folder": null,
    });
    let (told, mut tell) = std::io::pipe().unwrap();
    let mut keeper = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .arg("__keeper")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(told))
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut tell, task.to_string().as_bytes()).unwrap();
    drop(tell);
    touch(&bench, "later");
    assert!(keeper.wait().unwrap().success());
    assert_eq!(job.wait().unwrap().code(), None, "a signal ended it");
    let all = fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    assert_eq!(lines.filter(|line| line.windows(5).any(|part| part == b"61.75")).count(), 0);
}

/// What a run without a screen writes to standard error, its exit code, and what the model got.
fn run_without_user(replies: Vec<Reply>, args: &[&str]) -> (String, Option<i32>, String) {
    let (bench, server) = (TestDir::new(), Server::start(replies));
    bench.settings("[limits]\nstep_timeout_s = 4\n");
    fs::write(bench.work().join("chatty.sh"), CHATTY).unwrap();
    let script = "---\ntools: [exec]\n---\nuser: go\nassistant: \"[[A]]\"\n$echo: \"?=A\"\n";
    fs::write(bench.work().join("ask.ai.yaml"), script).unwrap();
    let url = server.base_url();
    let args = [&["--base-url", &url, "--model", "loop-1"], args].concat();
    let done = bench.command(&args).output().unwrap();
    assert!(!runs(&process_of(&bench)), "nothing is left running");
    let sent = server.requests().last().map(|it| it.json()["messages"].to_string());
    let said = String::from_utf8(done.stderr).unwrap();
    (said, done.status.code(), sent.unwrap_or_default())
}

#[test]
fn without_a_user_a_step_at_work_at_its_time_limit_runs_on_and_ends_with_the_run_which_is_said() {
    let replies = vec![script_step("chatty.sh", false), Reply::chat("All done.")];
    let (said, code, sent) = run_without_user(replies, &["--approve-steps", "-p", "go"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("`sh chatty.sh` is still at work after 4 s, its time limit"), "{said}");
    assert!(said.contains("this counts: Keep it running in the background"), "{said}");
    assert!(
        said.contains("Job 1 `sh chatty.sh` was still at work and ends with this run"),
        "{said}"
    );
    assert!(sent.contains("Running in the background as job 1"), "{sent}");
}

#[test]
fn without_a_user_a_line_at_work_at_its_time_limit_is_stopped_which_is_said() {
    let (said, code, sent) = run_without_user(Vec::new(), &["-p", "!sh chatty.sh"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("is still at work after 4 s, its time limit"), "{said}");
    assert!(said.contains("this counts: Stop it"), "{said}");
    assert!(said.contains("timed out and stopped after"), "{said}");
    assert_eq!(sent, "", "no model was asked");
}

#[test]
fn a_step_of_a_script_is_stopped_at_its_time_limit_and_the_model_is_told() {
    let call = "@exec(program=\"sh\", args=[\"chatty.sh\"])";
    let replies = vec![Reply::text(call, 2), Reply::text("All done.", 2)];
    let (said, code, sent) = run_without_user(replies, &["run", "-y", "ask.ai.yaml"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(sent.contains("It was stopped after 4 s"), "{sent}");
}
