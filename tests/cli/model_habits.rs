//! What models expect of an agent by their training: times for a program, names, a shell, and to be
//! told where and when they work. With the real program and a real server.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
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
    assert!(!results[0].contains("signal"), "what runs on has not failed: {results:?}");
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

#[test]
fn a_file_whose_name_is_no_text_is_read_edited_and_attached_by_the_name_it_is_listed_by() {
    let bench = TestDir::new();
    let named = |name: &[u8]| bench.work().join(OsStr::from_bytes(name));
    let file = named(b"bad\xff\xfename.txt");
    fs::write(&file, "hello\n").unwrap();
    fs::write(named(br"both\xff.txt"), "of letters\n").unwrap();
    fs::write(named(b"both\xff.txt"), "of bytes\n").unwrap();
    let name = r"bad\xff\xfename.txt";
    let calls = [
        ("file_list", json!({})),
        ("file_search", json!({ "query": "hello" })),
        ("file_read", json!({ "path": name })),
        ("file_edit", json!({ "path": name, "edits": [{ "old": "hello", "new": "bye" }] })),
        ("file_read", json!({ "path": r"both\xff.txt" })),
        ("file_read", json!({ "path": r"both\x5cxff.txt" })),
        ("file_read", json!({ "path": "bad\u{fffd}\u{fffd}name.txt" })),
        ("file_write", json!({ "path": r"new\xff.txt", "content": "x\n" })),
    ];
    let results = results(&bench, &calls);
    let mut listed: Vec<&str> = results[0].lines().collect();
    listed.sort_unstable();
    assert_eq!(listed, [name, r"both\x5cxff.txt", r"both\xff.txt"]);
    assert!(results[1].starts_with(&format!("{name}:1: hello")), "{results:?}");
    assert!(results[2].contains("hello"), "{results:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "bye\n", "{results:?}");
    assert!(results[4].contains("of bytes") && results[5].contains("of letters"), "{results:?}");
    assert!(results[6].contains(name), "the name is not told: {}", results[6]);
    assert!(named(br"new\xff.txt").exists(), "a new file has the name that was written");

    let server = Server::start(vec![says("I see it.")]);
    let done = ask(&bench, &server, &["-p", &format!("look at @{name}")]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(server.requests()[0].json().to_string().contains("bye"));
}

#[test]
fn a_name_that_is_no_text_is_judged_by_where_it_leads() {
    let bench = TestDir::new();
    let outside = tempfile::Builder::new().prefix("outside-").tempdir().unwrap();
    fs::write(outside.path().join("secret.txt"), "hush\n").unwrap();
    symlink(outside.path(), bench.work().join(OsStr::from_bytes(b"out\xff"))).unwrap();
    let calls = [
        call("file_read", &json!({ "path": r"out\xff/secret.txt" })),
        call("file_write", &json!({ "path": r"out\xff/new.txt", "content": "x\n" })),
        says("I could not."),
    ];
    let server = Server::start(calls.to_vec());
    let done = ask(&bench, &server, &["--mode", "edits", "-p", "read it"]);
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    assert!(!server.requests().iter().any(|request| request.json().to_string().contains("hush")));
    assert!(!outside.path().join("new.txt").exists());
}
