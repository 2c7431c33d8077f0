//! Journeys under strain: the real program in a real terminal that is slow, changes its
//! size all the time, is flooded with keys, answers late, or goes away.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::bench::TestDir;
use crate::support::pty::{Modes, Screen};
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

const SIZE: (u16, u16) = (100, 30);

fn start(bench: &TestDir, program: &str, before: &[&str], server: &Server) -> Screen {
    let (work, url) = (bench.work(), server.base_url());
    let args = ["--trust", work.to_str().unwrap(), "--base-url", &url, "--model", "loop-1"];
    let args: Vec<&str> = before.iter().chain(&args).copied().collect();
    Screen::start_program(program, &args, &bench.envs(), &work, SIZE)
}

fn against(bench: &TestDir, server: &Server) -> Screen {
    let screen = start(bench, env!("CARGO_BIN_EXE_avocet"), &[], server);
    screen.wait_for("loop-1");
    screen
}

/// `word1 word2 …`, a word each four milliseconds.
fn trickle(words: usize) -> Reply {
    let text: Vec<String> = (1..=words).map(|n| format!("word{n}")).collect();
    let reply = serde_json::json!({ "type": "chat", "message": text.join(" "), "data": { "format": "plain" } });
    Reply::text(&reply.to_string(), words).pause(Duration::from_millis(4))
}

/// What the person said last, as the model was sent it.
fn last_user_message(server: &Server) -> String {
    let sent = server.requests().last().unwrap().json();
    let said = sent["messages"].as_array().unwrap().iter().rev();
    let mut said = said.filter(|message| message["role"] == "user");
    said.next().unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn enter_directly_after_a_megabyte_paste_sends_it() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Much to read.")]);
    let mut screen = against(&bench, &server);
    let lines: Vec<String> =
        (0..22_000).map(|n| format!("{n:05} a line of what was pasted, 中文 as well")).collect();
    let text = lines.join("\n");
    assert!(text.len() > 1_000_000);
    screen.press(&format!("look: \x1b[200~{text}\x1b[201~\r"));
    screen.wait_for("Much to read.");
    assert_eq!(server.requests().len(), 1, "it was sent once");
    assert!(last_user_message(&server).starts_with("look: 00000 a line"), "from its start");
    screen.wait_until_idle();
    screen.press("\x1b[A");
    screen.wait_for("[pasted 22000 lines]");
}

#[test]
fn enter_right_after_fast_typing_sends() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("So fast.")]);
    let mut screen = against(&bench, &server);
    screen.press("typed by somebody very fast 很快\r");
    screen.wait_for("So fast.");
    assert_eq!(last_user_message(&server), "typed by somebody very fast 很快");
}

#[test]
fn two_thousand_resizes_end_in_a_clean_frame() {
    let bench = TestDir::new();
    let lines: Vec<String> = (1..=60)
        .map(|n| format!("line {n} of an answer that is long enough to wrap in a narrow window"))
        .collect();
    let server = Server::start(vec![Reply::chat(&lines.join("\n"))]);
    let mut screen = against(&bench, &server);
    screen.press("hello\r");
    screen.wait_for("line 60");
    screen.wait_until_idle();
    for n in 0..2_000_u16 {
        screen.resize((2 + n * 7 % 198, 1 + n * 11 % 59));
    }
    screen.resize(SIZE);
    screen.press("here");
    screen.wait_for("› here");
    screen.wait_for("line 60");
    screen.wait_for("Enter send");
    let before = screen.text();
    // The same frame, drawn anew from end to end.
    screen.press("\x0c!");
    screen.wait_for("› here!");
    wait_until(&format!("drawn as before:\n{before}"), || {
        screen.text().replace("here!", "here") == before
    });
    for once in ["› here", "line 60 of", "Enter send"] {
        assert_eq!(before.matches(once).count(), 1, "{once}: {before}");
    }
}

#[test]
fn a_terminal_that_reads_nothing_for_a_while_loses_nothing() {
    let bench = TestDir::new();
    let lines: Vec<String> = (1..=30_000).map(|n| format!("line {n} of much")).collect();
    let text = lines.join("\n");
    let reply =
        serde_json::json!({ "type": "chat", "message": text, "data": { "format": "plain" } });
    let server = Server::start(vec![
        Reply::text(&reply.to_string(), 20_000).held(),
        Reply::chat("Still here."),
    ]);
    let mut screen = against(&bench, &server);
    screen.press("hello\r");
    screen.wait_for("Esc stops");
    screen.pause(true);
    server.release();
    // The model is not slowed down by it.
    server.wait_for_answered(1);
    let memory = screen.memory();
    screen.pause(false);
    screen.wait_for("line 30000 of much");
    screen.wait_until_idle();
    assert!(memory < 160, "{memory} MiB");
    screen.press("and now?\r");
    screen.wait_for("Still here.");
}

#[test]
fn two_hundred_keys_a_second_arrive_in_their_order_while_an_answer_streams() {
    let bench = TestDir::new();
    let server = Server::start(vec![trickle(400), Reply::chat("All of it.")]);
    let mut screen = against(&bench, &server);
    screen.press("hello\r");
    screen.wait_for("word1");
    let typed: String = (100..220).map(|n| format!("{n},")).collect();
    let began = Instant::now();
    for (index, key) in (1_u32..).zip(typed.chars()) {
        screen.press(key.encode_utf8(&mut [0; 4]));
        // The beat of the keys; nothing is waited for here.
        std::thread::sleep((Duration::from_millis(5) * index).saturating_sub(began.elapsed()));
    }
    screen.wait_for("218,219");
    screen.wait_for("word400");
    screen.wait_until_idle();
    screen.press("\r");
    screen.wait_for("All of it.");
    assert_eq!(last_user_message(&server), typed);
}

#[test]
fn late_or_unsolicited_terminal_replies_are_never_typed() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Clean.")]);
    let mut screen = against(&bench, &server);
    let answers = [
        "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
        "\x1b]11;rgb:ffff/ffff/ffff\x07",
        "\x1b[?62;22c",
        "\x1b[?1u",
        "\x1b[10;20R",
        "\x1b[I",
        "\x1b[O",
    ];
    for (answer, key) in answers.iter().zip("abcdefg".chars()) {
        screen.press(answer);
        screen.press(&key.to_string());
    }
    screen.press("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\h");
    screen.wait_for("› abcdefgh");
    screen.press("\r");
    screen.wait_for("Clean.");
    assert_eq!(last_user_message(&server), "abcdefgh");
}

#[test]
fn half_an_escape_sequence_does_not_block_the_screen() {
    let bench = TestDir::new();
    let server = Server::start(vec![trickle(200).held()]);
    let mut screen = against(&bench, &server);
    screen.press("hello\r");
    // By now the terminal has said all it was asked.
    screen.wait_for("Esc stops");
    // What follows the two characters never comes.
    screen.press("\x1b[");
    server.release();
    screen.wait_for("word200");
    // What comes so late is no part of it.
    screen.press("Zab");
    screen.wait_for("› Zab");
}

#[test]
fn ctrl_z_restores_the_terminal_and_fg_redraws_the_screen() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Welcome back.")]);
    let mut envs = bench.envs();
    envs.push(("PS1", "ready> ".to_owned()));
    let args = ["--norc", "--noprofile", "-i"];
    let mut screen = Screen::start_program("/bin/bash", &args, &envs, &bench.work(), SIZE);
    screen.wait_for("ready>");
    let (program, work) = (env!("CARGO_BIN_EXE_avocet"), bench.work());
    let url = server.base_url();
    screen.press(&format!(
        "'{program}' --trust '{}' --base-url {url} --model loop-1\r",
        work.display()
    ));
    screen.wait_for("Ask anything");
    screen.press("half a thought");
    screen.wait_for("Ctrl-J new line");
    let before = screen.text();
    screen.press("\x1a");
    screen.wait_for("Stopped");
    // The shell switches pasting on for itself.
    let (lent, none) = (screen.modes(), Modes::default());
    assert_eq!(Modes { paste: false, ..lent }, none, "the shell has its terminal");
    screen.press("echo in the $((1+1))nd shell\r");
    screen.wait_for("in the 2nd shell");
    screen.press("fg\r");
    // The last row of the frame: what is above it is drawn by then.
    screen.wait_for("Ctrl-J new line");
    assert!(screen.modes().alternate && screen.modes().paste && screen.modes().mouse);
    assert_eq!(screen.text(), before);
    screen.press("\r");
    screen.wait_for("Welcome back.");
}

#[test]
fn a_hang_up_without_a_signal_ends_the_program_and_keeps_the_draft() {
    let bench = TestDir::new();
    let server = Server::start(Vec::new());
    // In a session of its own it has no controlling terminal, and gets no signal.
    let program = env!("CARGO_BIN_EXE_avocet");
    let mut screen = start(&bench, "setsid", &["--wait", program], &server);
    screen.wait_for("loop-1");
    screen.press("words worth keeping");
    screen.wait_for("words worth keeping");
    screen.hang_up();
    let folder = bench.root.path().join("avocet");
    wait_until("it leaves", || holds(&folder, "words worth keeping"));
}

/// Whether a file below the folder holds the words.
fn holds(folder: &Path, words: &str) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            holds(&path, words)
        } else {
            fs::read_to_string(&path).is_ok_and(|text| text.contains(words))
        }
    })
}
