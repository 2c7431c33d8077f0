//! What models expect of an agent by their training: times for a program, names, a shell, and to be
//! told where and when they work. With the real program and a real server.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::native_tools::{ask, call, says, text};
use crate::support::bench::TestDir;
use crate::support::server::Server;

/// The content of the newest result in a request.
fn last_result(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter().rev();
    let result = messages.into_iter().find(|message| message["role"] == "tool").unwrap();
    result["content"].as_str().unwrap().to_owned()
}

/// The results of these calls, one after the other in one run.
fn results(bench: &TestDir, calls: &[(&str, Value)]) -> Vec<String> {
    let mut replies: Vec<_> = calls.iter().map(|(name, input)| call(name, input)).collect();
    replies.push(says("Done."));
    let server = Server::start(replies);
    let done = ask(bench, &server, &["--approve-steps", "-p", "do it"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    server.requests().iter().skip(1).map(|request| last_result(&request.json())).collect()
}

#[test]
fn the_time_that_a_call_names_ends_its_program_and_the_result_says_what_to_do() {
    let calls = [
        ("exec", json!({ "program": "sleep", "args": ["301"], "timeout_s": 1 })),
        ("exec", json!({ "program": "bash", "args": ["-c", "sleep 302; true"], "timeout_s": "1" })),
        ("Bash", json!({ "command": "sleep 303", "timeout": 1000 })),
        ("run_shell_command", json!({ "command": "sleep 304 && ls", "timeoutMs": 900 })),
        ("shell", json!({ "command": ["bash", "-lc", "sleep 305"], "timeout_ms": 1000 })),
    ];
    for result in results(&TestDir::new(), &calls) {
        assert!(result.starts_with("timed out"), "{result}");
        for part in ["after 1 s.", "`timeout_s`", "up to 120", "`background: true`"] {
            assert!(result.contains(part), "{result}");
        }
    }
}

#[test]
fn no_call_names_a_longer_time_than_the_user_allows() {
    let bench = TestDir::new();
    bench.settings("[limits]\nstep_timeout_s = 1\n");
    let calls = [
        ("exec", json!({ "program": "sleep", "args": ["301"], "timeout_s": 600 })),
        ("bash", json!({ "command": "sleep 302; true", "timeout": 600_000 })),
    ];
    for result in results(&bench, &calls) {
        assert!(result.contains("after 1 s.") && result.contains("up to 1)"), "{result}");
    }
}

#[test]
fn a_program_that_is_waited_for_a_while_goes_on_as_a_job() {
    let line = "echo begun; sleep 301";
    let calls = [
        ("exec_command", json!({ "cmd": line, "yield_time_ms": 250 })),
        ("write_stdin", json!({ "session_id": 1, "chars": "", "yield_time_ms": 250 })),
        ("write_stdin", json!({ "session_id": 1, "chars": "y\n" })),
        ("write_stdin", json!({ "session_id": 1, "chars": "\u{3}" })),
    ];
    let results = results(&TestDir::new(), &calls);
    assert!(results[0].contains("as job 1") && results[0].contains("begun"), "{results:?}");
    assert!(results[1].starts_with("[job 1 runs"), "{results:?}");
    assert!(results[2].contains("gets no input here"), "{results:?}");
    assert_eq!(results[3], "Job 1 is ending.");
}

#[test]
fn a_shell_is_offered_where_the_user_wants_it() {
    let offered = |settings: &str| {
        let bench = TestDir::new();
        bench.settings(settings);
        let server = Server::start(vec![says("Hello.")]);
        let done = ask(&bench, &server, &["-p", "hi"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let body = server.requests()[0].json();
        let tools = body["tools"].as_array().unwrap();
        let names: Vec<Value> = tools.iter().map(|tool| tool["function"]["name"].clone()).collect();
        assert!(names.contains(&json!("exec")), "{names:?}");
        names.contains(&json!("shell"))
    };
    assert!(offered("[profiles.default]\nshell_tool = true\n"));
    assert!(!offered(""));
}

fn git(bench: &TestDir, args: &[&str]) {
    let done = Command::new("git").args(args).current_dir(bench.work()).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
}

#[test]
fn a_model_is_told_the_day_and_the_project_and_a_new_branch_changes_no_earlier_byte() {
    let bench = TestDir::new();
    fs::write(bench.work().join("Cargo.toml"), "[package]\n").unwrap();
    git(&bench, &["init", "-q", "-b", "trunk"]);
    let server = Server::start(vec![says("One."), says("Two."), says("Three.")]);
    for (branch, args) in [
        ("trunk", &["-p", "one"][..]),
        ("topic", &["-c", "-p", "two"]),
        ("topic", &["-c", "-p", "three"]),
    ] {
        git(&bench, &["symbolic-ref", "HEAD", &format!("refs/heads/{branch}")]);
        let done = ask(&bench, &server, args);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let bodies: Vec<Value> = server.requests().iter().map(|request| request.json()).collect();
    let first = bodies[0]["messages"].as_array().unwrap();
    let system = first[0]["content"].as_str().unwrap();
    for part in ["(git repository, Rust, tests: cargo test)", "System: linux", "\nToday: 20"] {
        assert!(system.contains(part), "{system}");
    }
    let today = Command::new("date").arg("+%Y-%m-%d").output().unwrap().stdout;
    assert!(system.contains(text(&today).trim()), "{system}");
    assert!(!system.contains("trunk"), "a branch in it would change with each switch");
    let told = |at: usize| bodies[at]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(told(0).contains("[Git branch: trunk]") && told(1).contains("[Git branch: topic]"));
    for pair in bodies.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|body| body["messages"].as_array().unwrap());
        assert!(after.starts_with(before), "the prefix changed");
    }
}
