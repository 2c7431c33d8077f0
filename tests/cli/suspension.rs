//! Time in which the program was stopped counts towards no limit: not for a server's silence, a
//! step, a shell command of a template, or a script's answer.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

/// Longer than every limit below.
const STOPPED: Duration = Duration::from_secs(10);

/// Enough, on a busy machine, for what comes before the stop.
const LIMITS: &str = "[limits]\nidle_timeout_s = 8\nstep_timeout_s = 8\npiece_timeout_s = 8\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunWay {
    Print,
    Chat,
    Script,
    /// A script that only asks.
    Answer,
    Piece,
}

fn start(way: RunWay, bench: &TestDir, server: &Server) -> Child {
    fs::write(bench.root.path().join("avocet/config.toml"), LIMITS).unwrap();
    let script = "---\ntools: [exec]\nparameters: {timeout: 8500}\n---\nuser: go\nassistant: \"[[A]]\"\n$echo: \"?=A\"\n";
    fs::write(bench.work().join("ask.ai.yaml"), script).unwrap();
    let plain = script.replace("tools: [exec]\n", "");
    fs::write(bench.work().join("plain.ai.yaml"), plain).unwrap();
    fs::create_dir_all(bench.root.path().join("avocet/commands")).unwrap();
    let piece = "prompt = '''got !{touch runs; sleep 12; echo woke}'''\n";
    fs::write(bench.root.path().join("avocet/commands/wait.toml"), piece).unwrap();
    fs::write(bench.root.path().join("asked"), "go\n").unwrap();
    let words: &[&str] = match way {
        RunWay::Print => &["-p", "-y", "go"],
        RunWay::Chat => &["chat", "--approve-steps"],
        RunWay::Script => &["run", "-y", "ask.ai.yaml"],
        RunWay::Answer => &["run", "plain.ai.yaml"],
        RunWay::Piece => &["command", "run", "wait", "-y"],
    };
    let asked = fs::File::open(bench.root.path().join("asked")).unwrap();
    let stdin = if way == RunWay::Chat { Stdio::from(asked) } else { Stdio::null() };
    let mut command = bench.command(&["--base-url", &server.base_url(), "--model", "loop-1"]);
    command.args(words);
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(done.unwrap().success());
}

/// Stops the program for longer than its limits, and answers with all it wrote.
fn stopped(child: Child) -> String {
    signal(&child, "STOP");
    let began = Instant::now();
    wait_until("time goes by", || began.elapsed() > STOPPED);
    signal(&child, "CONT");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

/// Does it in each of these ways at once, since each takes a while.
fn in_ways(ways: &[RunWay], test: fn(RunWay)) {
    std::thread::scope(|scope| {
        for &way in ways {
            scope.spawn(move || test(way));
        }
    });
}

#[test]
fn a_stream_continues_after_the_program_was_stopped() {
    in_ways(&[RunWay::Print, RunWay::Chat, RunWay::Answer], |way| {
        let bench = TestDir::new();
        let words: Vec<String> = (1..=30).map(|n| format!("word{n}")).collect();
        let text = words.join(" ");
        let chat = json!({ "type": "chat", "message": text }).to_string();
        let text = if way == RunWay::Answer { text } else { chat };
        let slow = Reply::text(&text, 30).pause(Duration::from_millis(40));
        let server = Server::start(vec![slow]);
        let child = start(way, &bench, &server);
        wait_until("it is asked", || !server.requests().is_empty());
        let said = stopped(child);
        assert!(said.contains("word30"), "{way:?}: {said}");
        assert_eq!(server.requests().len(), 1, "{way:?}: {said}");
    });
}

#[test]
fn a_step_continues_after_the_program_was_stopped() {
    in_ways(&[RunWay::Print, RunWay::Chat, RunWay::Script, RunWay::Piece], |way| {
        let bench = TestDir::new();
        let line = "touch runs; sleep 12; echo woke";
        let commands = json!([{ "program": "sh", "args": ["-c", line] }]);
        let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
        let step = json!({ "type": "cmd", "message": "A step.", "data": data }).to_string();
        let call = format!("@exec(program=\"sh\", args=[\"-c\", \"{line}\"])");
        let server = Server::start(match way {
            RunWay::Print | RunWay::Chat => vec![Reply::text(&step, 2), Reply::chat("All done.")],
            RunWay::Script => vec![Reply::text(&call, 2), Reply::text("All done.", 2)],
            RunWay::Answer | RunWay::Piece => vec![Reply::chat("All done.")],
        });
        let child = start(way, &bench, &server);
        wait_until("the step runs", || bench.work().join("runs").exists());
        let said = stopped(child);
        assert!(said.contains("All done."), "{way:?}: {said}");
        let sent = server.requests().last().unwrap().json()["messages"].to_string();
        assert!(sent.contains("woke"), "{way:?}: {sent}");
    });
}
