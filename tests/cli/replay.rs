//! Replays sessions of realistic length, from a first look at the code to the commit. A server plays
//! the model and chooses each reply by the results it got. Along the way tests fail, remembered text
//! is stale, edits have the wrong indentation, jobs run in the background, and tools are called by
//! the names that other agents use.
//!
//! `cargo test --test cli replay:: -- --nocapture` prints a table row for each session.

mod actor;
mod claude_names;
mod codex_names;
mod opencode_names;
mod own_names;

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::bench::TestDir;
use crate::support::server::{ReceivedRequest, Reply, Server};
use crate::support::skip::{Reason, skip};
use actor::{Act, DONE, Format, messages};

/// A session: the folder it starts in, and its budget.
struct Session {
    name: &'static str,
    format: Format,
    provider: &'static str,
    model: &'static str,
    files: &'static [(&'static str, &'static str)],
    prompt: &'static str,
    acts: fn() -> Vec<Act>,
    responder: fn(&[ReceivedRequest]) -> Reply,
    budget: Budget,
}

struct Budget {
    requests: usize,
    /// Kilobytes sent in all requests together.
    sent: usize,
    /// Kilobytes that were not a prefix of the request before.
    new: usize,
    /// Questions in the modes *ask*, *accept edits* and *auto*.
    asked: [usize; 3],
}

/// What a session cost.
#[derive(Debug)]
struct Measured {
    requests: usize,
    sent: usize,
    new: usize,
    breaks: usize,
    asked: usize,
}

fn git(bench: &TestDir, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]).args(args);
    command.current_dir(bench.work()).envs(bench.envs()).output().unwrap()
}

fn repository(files: &[(&str, &str)]) -> TestDir {
    let bench = TestDir::new();
    for (name, text) in files {
        let path = bench.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let config = "[user]\n\tname = Tess\n\temail = tess@example.org\n";
    fs::write(bench.path("home/.gitconfig"), config).unwrap();
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "Begin"]] {
        let done = git(&bench, args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    bench
}

/// The part of a request before its messages, which never changes.
fn head(body: &Value) -> String {
    format!("{}{}{}", body["tools"], body["system"], body["instructions"])
}

fn measure(session: &Session, requests: &[ReceivedRequest], events: &str) -> Measured {
    let asked = events.lines().filter(|line| {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        event["event"] == "asked"
    });
    let mut measured = Measured {
        requests: requests.len(),
        sent: requests.iter().map(|request| request.body.len()).sum(),
        new: 0,
        breaks: 0,
        asked: asked.count(),
    };
    let mut before: Option<(String, Vec<Value>)> = None;
    for request in requests {
        let body = request.json();
        let (head, messages) = (head(&body), messages(session.format, &body));
        let kept = before.as_ref().map_or(0, |(earlier, old)| {
            let same = old.iter().zip(&messages).take_while(|(one, two)| one == two).count();
            let is_break = *earlier != head || same < old.len();
            measured.breaks += usize::from(is_break);
            if *earlier == head { same } else { 0 }
        });
        let new = messages[kept..].iter().map(|message| message.to_string().len());
        measured.new += new.sum::<usize>() + if before.is_none() { head.len() } else { 0 };
        before = Some((head, messages));
    }
    measured
}

fn run(session: &Session, mode: &str) -> Measured {
    let bench = repository(session.files);
    let server = Server::start_answering(session.responder);
    let provider = session.provider;
    // What is installed here would change what results say.
    let servers = avocet::lsp::read_languages("".as_ref()).servers.into_iter();
    let off: String =
        servers.map(|server| format!("[lsp.{}]\nenabled = false\n", server.name)).collect();
    bench.settings(&format!("[profiles.default]\nprovider = \"{provider}\"\n{off}"));
    let url = server.base_url();
    let args = ["--base-url", &url, "--model", session.model, "--mode", mode, "--json"];
    let args = [&args[..], &["--approve-steps", "-p", session.prompt]].concat();
    let mut command = bench.command(&args);
    for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"] {
        command.env(key, "key-of-a-test");
    }
    let done = command.output().unwrap();
    let events = String::from_utf8_lossy(&done.stdout).into_owned();
    let requests = server.requests();
    let said = String::from_utf8_lossy(&done.stderr);
    let calls: usize = (session.acts)().iter().map(Act::calls).sum();
    assert!((30..=100).contains(&calls), "{}: {calls} calls", session.name);
    let measured = measure(session, &requests, &events);
    let last = events.lines().rev().take(12).collect::<Vec<_>>().join("\n");
    assert!(done.status.success() && events.contains(DONE), "{last}\n{said}\n{measured:?}");
    let log = git(&bench, &["log", "--format=%s"]);
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert_eq!(log.lines().count(), 2, "one commit more: {log}");
    let left = git(&bench, &["status", "--porcelain"]).stdout;
    assert!(left.is_empty(), "all is committed: {}", String::from_utf8_lossy(&left));
    println!(
        "| {} | {mode} | {calls} calls | {} requests | {} KB | {} KB new | {} breaks | {} asked |",
        session.name,
        measured.requests,
        measured.sent / 1_000,
        measured.new / 1_000,
        measured.breaks,
        measured.asked,
    );
    measured
}

fn replay(session: &Session) {
    let doctor = TestDir::new().command(&["doctor"]).output().unwrap();
    if !String::from_utf8_lossy(&doctor.stdout).contains("`work`") {
        return skip(Reason::NoSandbox);
    }
    for (mode, most) in ["ask", "edits", "auto"].into_iter().zip(session.budget.asked) {
        let measured = run(session, mode);
        let budget = &session.budget;
        assert_eq!(measured.breaks, 0, "each request begins with the one before");
        assert!(measured.requests <= budget.requests, "{measured:?}");
        assert!(measured.sent <= budget.sent * 1_000, "{measured:?}");
        assert!(measured.new <= budget.new * 1_000, "{measured:?}");
        assert!(measured.asked <= most, "in the mode {mode}: {measured:?}");
    }
}
