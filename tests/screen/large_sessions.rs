//! What a long conversation costs: memory to resume and to export it, and that a list says when it
//! is not complete. `MEGABYTES` is the size of the conversation, 60 by default. `MEGABYTES=500
//! cargo test --release --test screen large_sessions:: -- --nocapture` prints the figures.

use std::fs;
use std::process::Stdio;
use std::sync::Arc;

use avocet::context::history::{History, ReplyKind, TurnRecord};
use avocet::protocol::{Event, ModelMessage, TurnOrigin, TurnOutcome, Usage};
use avocet::safety::redact::Redactor;
use avocet::store::{SessionHeader, SessionWriter, Store};

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{self, Reply, Server};

/// What taking up and exporting may take, in MiB, whatever the size of the conversation.
const MOST: u64 = 300;
/// The same for a conversation of the size that the tests make by themselves.
const MOST_OF_A_SMALL_ONE: u64 = 200;

trait SessionsDir {
    fn desk(&self) -> SessionWriter;
    fn said(&self, args: &[&str]) -> String;
    fn peak(&self, args: &[&str]) -> u64;
}

impl SessionsDir for TestDir {
    fn desk(&self) -> SessionWriter {
        let (faults, _) = tokio::sync::mpsc::unbounded_channel();
        let redactor = Arc::new(Redactor::new([("NONE", "hunter2hunter2")], [7; 16]));
        let folder = self.work().canonicalize().unwrap();
        let head = SessionHeader::new(folder.to_str().unwrap(), None);
        let store = Store::in_folder(self.root.path().join("avocet/data"));
        SessionWriter::new(store, head, redactor, faults)
    }

    /// What the program prints.
    fn said(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it to its end; the most memory it had, in MiB.
    fn peak(&self, args: &[&str]) -> u64 {
        let mut child =
            self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut most = 0;
        loop {
            most = most.max(peak_memory(child.id()).unwrap_or(0));
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{args:?}: {status}");
                return most;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

/// The most memory a process has had, in MiB.
fn peak_memory(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

/// A turn of one question and one answer.
fn turn(desk: &mut SessionWriter, turn: u64, question: &str, answer: &str) {
    desk.record(Event::TurnStarted {
        turn,
        text: question.to_owned(),
        origin: TurnOrigin::Typed,
        submit: None,
    });
    desk.record(Event::Replied(ModelMessage {
        message: answer.to_owned(),
        ..ModelMessage::default()
    }));
    let usage = Usage::default();
    desk.record(Event::TurnEnded { turn, ending: TurnOutcome::Done, usage, elapsed_ms: 900 });
    let (mut kept, mut history) = (TurnRecord::default(), History::default());
    kept.add_user(question);
    kept.add_reply(ReplyKind::Chat, answer);
    history.push(turn, kept, |_| {});
    desk.save_turn_history(
        turn,
        &serde_json::to_string(&history.turn_snapshot(turn)).unwrap(),
        None,
    );
    desk.flush();
}

fn megabytes() -> u64 {
    std::env::var("MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn a_long_session_is_resumed_and_exported_in_bounded_memory() {
    let bench = TestDir::new();
    let count = megabytes();
    let most = if count > 200 { MOST } else { MOST_OF_A_SMALL_ONE };
    let mut desk = bench.desk();
    let answer = "An answer that is as long as a whole book is.\n".repeat((1 << 20) / 46);
    for number in 1..=count {
        turn(&mut desk, number, &format!("Question {number}"), &answer);
    }
    let id = desk.id().to_owned();
    desk.close();
    drop(desk);

    for ending in ["md", "json", "html"] {
        let file = format!("talk.{ending}");
        let peak = bench.peak(&["session", "export", &id, &file]);
        let length = fs::metadata(bench.work().join(&file)).unwrap().len();
        println!("export of {count} MB as {ending}: {peak} MiB at most, {length} bytes");
        assert!(length >= count * answer.len() as u64, "{ending}: {length}");
        assert!(peak < most, "{ending}: {peak} MiB");
    }
    let shown = bench.peak(&["session", "show", &id]);
    println!("shown: {shown} MiB at most");
    assert!(shown < most, "{shown} MiB");

    let server = Server::start(vec![Reply::chat("Still here."), Reply::chat("And here.")]);
    let url = server.base_url();
    let asked = ["--base-url", &url, "--model", "loop-1", "-c"];
    let headless = bench.peak(&[&asked[..], &["-p", "go on"]].concat());
    println!("taken up without a screen: {headless} MiB at most");
    assert!(headless < most, "{headless} MiB");

    let work = bench.work();
    let args = [&["--trust", work.to_str().unwrap()], &asked[..]].concat();
    let mut screen = Screen::start(&args, &bench.envs(), &work, (100, 30));
    screen.wait_for("Continued");
    screen.press("and you?\r");
    screen.wait_for("And here.");
    screen.press("/export md out.md\r");
    screen.wait_for("out.md");
    let peak = peak_memory(screen.id()).unwrap();
    println!("taken up on the screen: {peak} MiB at most");
    assert!(peak < most, "{peak} MiB");
    screen.signal("TERM");
    screen.wait_for_exit();
}

/// Conversations that a list does not hold, of so many.
fn many(bench: &TestDir, count: usize) {
    let mut desk = bench.desk();
    let folder = bench.work().canonicalize().unwrap();
    for number in 0..count {
        turn(&mut desk, 1, &format!("Where is heron {number}?"), "There.");
        desk.switch_session(SessionHeader::new(folder.to_str().unwrap(), None));
    }
    desk.close();
}

#[test]
fn a_truncated_session_list_says_how_many_more_there_are() {
    let bench = TestDir::new();
    many(&bench, 1_007);
    let listed = bench.said(&["session", "list"]);
    assert!(listed.contains("and 7 older ones"), "{}", listed.lines().last().unwrap());
    let all = bench.said(&["session", "list", "--json"]);
    assert_eq!(all.lines().count(), 1_007);
    let found = bench.said(&["session", "search", "heron"]);
    assert!(found.contains("and more: only the latest"), "{}", found.lines().last().unwrap());
    let all = bench.said(&["session", "search", "heron", "--json"]);
    assert_eq!(all.lines().count(), 1_007);
    let one = bench.said(&["session", "search", "heron 512"]);
    assert!(!one.contains("and more"), "{one}");

    let (work, nobody) = (bench.work(), server::nobody());
    let fixed = ["--trust", work.to_str().unwrap(), "--base-url", &nobody, "--model", "loop-1"];
    let args = [&fixed[..], &["--linear"]].concat();
    let mut screen = Screen::start(&args, &bench.envs(), &work, (100, 30));
    screen.wait_for("/exit quits");
    screen.press("/sessions\r");
    screen.wait_for("and 707 older ones");
    screen.press("/exit\r");
    screen.wait_for_exit();
    let mut screen = Screen::start(&fixed, &bench.envs(), &work, (100, 30));
    screen.wait_for("Ask anything");
    screen.press("/sessions\r");
    screen.wait_for("707 older ones");
    screen.press("/resume\r");
    screen.wait_for("and 707 older");
    screen.signal("TERM");
    screen.wait_for_exit();
}
