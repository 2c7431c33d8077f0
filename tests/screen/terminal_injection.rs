//! Hostile bytes and replies, by every way they come, through the real program in a real
//! terminal: nothing of them reaches it, and what is text can be read.
//!
//! `tests/fixtures/inject/expect.json` names the ways of each file. There is no MCP yet, so that
//! way is not taken.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::wait::{PATIENCE, wait_until};

/// Longer ones scroll out of the screen; what they show is looked at in `tests/inproc/sanitization.rs`.
const SHORT: usize = 2_000;

struct Payload {
    file: String,
    bytes: Vec<u8>,
    channels: Vec<String>,
    never: Vec<Vec<u8>>,
    shows: Vec<String>,
}

impl Payload {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// What tells that it is there, when it fits on the screen.
    fn mark(&self) -> Option<&str> {
        let fits = self.bytes.len() <= SHORT && self.text().lines().count() < 20;
        self.shows.first().map(String::as_str).filter(|_| fits)
    }
}

fn payloads(channel: &str) -> Vec<Payload> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inject");
    let expect = fs::read_to_string(folder.join("expect.json")).unwrap();
    let expect: Value = serde_json::from_str(&expect).unwrap();
    let strings = |value: &Value| -> Vec<String> {
        let list = value.as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let bytes = |hex: &String| -> Vec<u8> {
        let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    };
    let payload = |entry: &Value| {
        let file = entry["file"].as_str().unwrap().to_owned();
        Payload {
            bytes: fs::read(folder.join(&file)).unwrap(),
            channels: strings(&entry["channels"]),
            // A terminal is told nothing by a NUL that stands by itself.
            never: strings(&entry["raw_never"]).iter().map(bytes).collect(),
            shows: strings(&entry["must_show"]),
            file,
        }
    };
    let all = expect["payloads"].as_array().unwrap().iter().map(payload);
    let some: Vec<Payload> =
        all.filter(|payload| payload.channels.iter().any(|own| own == channel)).collect();
    assert!(!some.is_empty(), "{channel}");
    some
}

fn start(bench: &TestDir, server: &Server) -> Screen {
    let work = bench.work();
    let url = server.base_url();
    let args = ["--trust", work.to_str().unwrap(), "--base-url", &url, "--model", "loop-1"];
    let screen = Screen::start(&args, &bench.envs(), &work, (100, 50));
    screen.wait_for("loop-1");
    screen
}

#[track_caller]
fn assert_neutralized(screen: &Screen, payload: &Payload) {
    let raw = screen.raw();
    for never in payload.never.iter().filter(|never| never.len() > 1) {
        let there = raw.windows(never.len()).any(|window| window == never);
        assert!(!there, "{}: {:?} reached the terminal", payload.file, never);
    }
}

#[track_caller]
fn assert_shown(screen: &Screen, payload: &Payload, by: &str) {
    let Some(mark) = payload.mark() else { return };
    let seen = screen.shows_within(mark, PATIENCE);
    assert!(seen, "{} by {by}: no {mark:?}\n{}", payload.file, screen.text());
}

fn say(screen: &mut Screen, words: &str) {
    let before = screen.raw().len();
    screen.paste(words);
    // What follows a paste at once, up to another mark of its end, belongs to it.
    wait_until("the paste is shown", || screen.raw().len() > before);
    screen.press("\r");
}

#[test]
fn text_of_a_model_is_neutralized_and_readable() {
    // Few enough that the context is not compressed in between.
    let mut payloads = payloads("model_text");
    payloads.sort_by_key(|payload| payload.bytes.len());
    for payloads in payloads.chunks(12) {
        let bench = TestDir::new();
        let replies = payloads.iter().map(|payload| {
            let data = json!({ "format": "plain" });
            let reply = json!({ "type": "chat", "message": payload.text(), "data": data });
            Reply::text(&reply.to_string(), 5)
        });
        let server = Server::start(replies.collect());
        let mut screen = start(&bench, &server);
        for (at, payload) in payloads.iter().enumerate() {
            say(&mut screen, &format!("question {at}"));
            server.wait_for_requests(at + 1);
            assert_shown(&screen, payload, "the model");
            assert_neutralized(&screen, payload);
        }
    }
}

#[test]
fn output_of_a_command_is_neutralized_and_readable() {
    let bench = TestDir::new();
    let payloads = payloads("cmd_stdout");
    let server = Server::start(Vec::<Reply>::new());
    let mut screen = start(&bench, &server);
    for (at, payload) in payloads.iter().enumerate() {
        fs::write(bench.work().join("payload"), &payload.bytes).unwrap();
        // The end is told on the other stream: a binary one is shown by its size alone.
        let (to, other) = if at % 2 == 0 { ("", " >&2") } else { (" >&2", "") };
        // A line that comes before the last one has ended is not run, and said again.
        for _ in 0..40 {
            say(&mut screen, &format!("!cat payload{to}; echo{other}; echo ov''er {at}{other}"));
            if screen.shows_within(&format!("over {at}"), Duration::from_millis(1_500)) {
                break;
            }
        }
        screen.wait_for(&format!("over {at}"));
        assert_shown(&screen, payload, "a command");
        assert_neutralized(&screen, payload);
    }
}

#[test]
fn contents_of_a_file_are_neutralized() {
    let bench = TestDir::new();
    let payloads = payloads("file_content");
    let done = |at: usize| Reply::chat(&format!("read {at}"));
    // Few enough that the context is not compressed in between.
    let payloads: Vec<Payload> = payloads.into_iter().take(18).collect();
    let replies: Vec<Reply> = (0..payloads.len())
        .flat_map(|at| [Reply::cmd("I look.", "cat", &["payload"]), done(at)])
        .collect();
    let server = Server::start(replies);
    let mut screen = start(&bench, &server);
    for (at, payload) in payloads.iter().enumerate() {
        fs::write(bench.work().join("payload"), &payload.bytes).unwrap();
        say(&mut screen, "what does it say?");
        screen.wait_for(&format!("read {at}"));
        assert_neutralized(&screen, payload);
    }
}

#[test]
fn errors_of_a_server_are_neutralized() {
    let bench = TestDir::new();
    let mut payloads = payloads("provider_error");
    payloads.retain(|payload| payload.mark().is_some());
    let replies = payloads.iter().map(|payload| {
        let body = json!({ "error": { "message": payload.text() } });
        Reply::json(400, &body)
    });
    let server = Server::start(replies.collect());
    let mut screen = start(&bench, &server);
    for (at, payload) in payloads.iter().enumerate() {
        say(&mut screen, &format!("question {at}"));
        assert_shown(&screen, payload, "a server");
        assert_neutralized(&screen, payload);
    }
}

/// Sequences of their own kind, with a number nobody else writes.
const SEQUENCES: &[&str] = &[
    "\u{1b}]0;M7077\u{7}",
    "\u{1b}]52;c;TTcwNzc=\u{7}",
    "\u{1b}[7077;1H",
    "\u{1b}[?1049;7077l",
    "\u{1b}P7077q\u{1b}\\",
    "\u{1b}_7077\u{1b}\\",
    "\u{9b}7077m",
    "\u{202e}7077",
    "\u{e0041}\u{200b}7077",
    "\u{8}\u{8}7077\r",
];

/// None of them reached the terminal as it is.
#[track_caller]
fn assert_no_sequence(screen: &Screen, way: &str) {
    let raw = screen.raw();
    for sequence in SEQUENCES {
        let there = raw.windows(sequence.len()).any(|window| window == sequence.as_bytes());
        assert!(!there, "{sequence:?} reached the terminal by {way}");
    }
    let shown = String::from_utf8_lossy(&raw);
    let alone = ['\u{9b}', '\u{202e}', '\u{200b}', '\u{e0041}'];
    assert!(!shown.contains(alone), "a letter nobody sees reached the terminal by {way}");
}

/// Names and titles are words of strangers too: of files, branches, commands, scripts,
/// sessions and models.
#[test]
fn names_are_neutralized() {
    let bench = TestDir::new();
    let work = bench.work();
    let all = SEQUENCES.concat().replace('/', "");
    for (at, sequence) in SEQUENCES.iter().enumerate() {
        fs::write(work.join(format!("zed{at}{sequence}.txt")), "x").unwrap();
    }
    fs::create_dir_all(work.join(".git/refs/heads")).unwrap();
    fs::write(work.join(".git/HEAD"), format!("ref: refs/heads/top{all}\n")).unwrap();
    fs::create_dir_all(work.join(".avocet/commands")).unwrap();
    let quoted = json!(format!("about{all}")).to_string();
    let command = format!("description = {quoted}\nprompt = {quoted}\n");
    fs::write(work.join(".avocet/commands/zedcmd.toml"), command).unwrap();
    let script = format!("- $print: {}\n", json!(format!("printed{all}")));
    fs::write(work.join("zedscript.ai.yaml"), script).unwrap();
    let named = |name: &str| format!("{name}{all}");
    let replies = vec![
        Reply::chat(&named("all over")),
        Reply::cmd(&named("because"), "cat", &[&named("absent")]),
    ];
    let server = Server::start(replies);
    let mut screen = start(&bench, &server);
    assert_no_sequence(&screen, "the branch");
    screen.press("@zed");
    assert!(screen.shows_within("zedscript", PATIENCE), "{}", screen.text());
    assert_no_sequence(&screen, "the list of files");
    screen.press("\u{1b}");
    screen.wait_until_gone("mention");
    screen.press("\u{15}");
    screen.wait_until_gone("@zed");
    say(&mut screen, "!ls");
    assert!(screen.shows_within("zed0", PATIENCE), "{}", screen.text());
    assert_no_sequence(&screen, "the names of files");
    screen.press("/zed");
    assert!(screen.shows_within("about", PATIENCE), "{}", screen.text());
    assert_no_sequence(&screen, "the list of commands");
    screen.press("\u{15}");
    screen.wait_until_gone("/zed");
    say(&mut screen, &format!("titled{all}"));
    screen.wait_for("all over");
    assert_no_sequence(&screen, "the words of a person");
    say(&mut screen, &format!("/rename renamed{all}"));
    screen.wait_for("Conversation renamed");
    say(&mut screen, "/sessions");
    assert!(screen.shows_within("conversations", PATIENCE), "{}", screen.text());
    assert_no_sequence(&screen, "the titles of sessions");
    say(&mut screen, "/run zedscript.ai.yaml");
    assert!(screen.shows_within("printed", PATIENCE), "{}", screen.text());
    assert_no_sequence(&screen, "what a script prints");
    say(&mut screen, "go on");
    screen.wait_for("Run this?");
    assert_no_sequence(&screen, "a step");
}

#[test]
fn a_proposed_step_shows_its_hidden_characters() {
    for payload in payloads("proposal") {
        let bench = TestDir::new();
        let server = Server::start(vec![
            Reply::text(&payload.text(), 5),
            Reply::chat("all over"),
            Reply::chat("all over"),
            Reply::chat("all over"),
        ]);
        let mut screen = start(&bench, &server);
        say(&mut screen, "go on");
        server.wait_for_requests(1);
        let Some(mark) = payload.shows.last().map(String::as_str) else {
            screen.shows_within("all over", Duration::from_secs(2));
            assert_neutralized(&screen, &payload);
            continue;
        };
        let answered = |screen: &Screen| {
            let text = screen.text().replace("\\x00", "\\0").replace("\\u{0}", "\\0");
            text.contains(mark) || text.contains("all over")
        };
        for _ in 0..75 {
            if answered(&screen) {
                break;
            }
            // A long list is read to its end before it can be answered.
            let before = screen.text();
            screen.press(" ");
            screen.shows_within(mark, Duration::from_millis(200));
            // Two keys in one frame would skip rows.
            let patience = Instant::now() + Duration::from_secs(2);
            while screen.text() == before && Instant::now() < patience {
                std::thread::park_timeout(Duration::from_millis(2));
            }
        }
        assert!(answered(&screen), "{}: no {mark:?}\n{}", payload.file, screen.text());
        assert_neutralized(&screen, &payload);
    }
}
