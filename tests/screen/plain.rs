//! The plain mode of the real program: a line typed before a question could be read does not answer
//! it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};

fn asks() -> Vec<Reply> {
    vec![
        Reply::cmd("I make it.", "mkdir", &["made"]),
        Reply::chat("It is made."),
        Reply::chat("That was a message."),
    ]
}

fn args(server: &Server, bench: &TestDir) -> Vec<String> {
    let work = bench.work().display().to_string();
    ["--linear", "--trust", &work, "--base-url", &server.base_url(), "--model", "loop-1"]
        .map(str::to_owned)
        .to_vec()
}

fn borrowed(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[test]
fn input_typed_before_a_question_is_readable_does_not_answer_it() {
    let (bench, server) = (TestDir::new(), Server::start(asks()));
    let args = args(&server, &bench);
    let (home, avocet) = (bench.root.path().join("home"), bench.root.path().join("avocet"));
    let envs = [("HOME", home.to_str().unwrap()), ("AVOCET_HOME", avocet.to_str().unwrap())];
    let mut screen = Screen::start(&borrowed(&args), &envs, &bench.work(), (100, 40));
    screen.wait_for("quits.\n>");
    // The number stands there already when the question comes; its Enter comes long after.
    screen.press("make it\r4");
    screen.wait_for("[d]etails\n>");
    screen.press("\r");
    screen.wait_for("not taken as an answer");
    assert!(!bench.work().join("made").exists());
    screen.wait_for("turn ends: 1.\n>");
    screen.press("y\r");
    screen.wait_for("It is made.");
    screen.wait_for("That was a message.");
    assert!(server.requests().iter().any(|seen| seen.json().to_string().contains("\"4\"")));
    screen.press("/exit\r");
    assert_eq!(screen.wait_for_exit(), 0);
}

/// A terminal in a folder that is not trusted yet.
fn stranger(bench: &TestDir, args: &[&str]) -> Screen {
    let (home, avocet) = (bench.root.path().join("home"), bench.root.path().join("avocet"));
    let envs = [("HOME", home.to_str().unwrap()), ("AVOCET_HOME", avocet.to_str().unwrap())];
    Screen::start(args, &envs, &bench.work(), (100, 40))
}

#[test]
fn end_of_input_at_the_trust_question_is_reported_and_ends_the_program() {
    let (bench, server) = (TestDir::new(), Server::start(asks()));
    let url = server.base_url();
    let mut screen = stranger(&bench, &["--linear", "--base-url", &url, "--model", "loop-1"]);
    screen.wait_for("changes nothing.\n>");
    screen.press("\x04");
    screen.wait_for("The input ended before the question was answered");
    assert_eq!(screen.wait_for_exit(), 0);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn after_the_trust_question_a_conversation_continues_and_exits_normally() {
    for leave in ["\x04", "\x03"] {
        let (bench, server) = (TestDir::new(), Server::start(vec![Reply::chat("Hello to you.")]));
        let url = server.base_url();
        let mut screen = stranger(&bench, &["--linear", "--base-url", &url, "--model", "loop-1"]);
        screen.wait_for("An empty line changes nothing.\n>");
        screen.press("\r");
        screen.wait_for("decide again.\n>");
        screen.press("hello\r");
        screen.wait_for("Hello to you.\n>");
        screen.press(leave);
        assert_eq!(screen.wait_for_exit(), 0);
    }
}

/// All of a pipe is one message: nothing in it was written after a question was read.
#[test]
fn piped_input_never_answers_a_question() {
    for (typed, ends) in [("make it\n1\n", true), ("make it\ny\nYES\n2\n2\n", false)] {
        let (bench, server) = (TestDir::new(), Server::start(asks()));
        let work = bench.work().display().to_string();
        let url = server.base_url();
        let mut args = vec!["--linear", "--base-url", &url, "--model", "loop-1"];
        args.extend(if ends { vec!["--trust", &work] } else { vec![] });
        let mut child = Command::new(env!("CARGO_BIN_EXE_avocet"))
            .args(args)
            .current_dir(bench.work())
            .env_clear()
            .env("HOME", bench.root.path().join("home"))
            .env("AVOCET_HOME", bench.root.path().join("avocet"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(typed.as_bytes()).unwrap();
        drop(input);
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("mkdir made"), "{said}");
        assert!(done.status.code().is_some(), "{said}");
        assert!(!bench.work().join("made").exists(), "{said}");
        let sent = server.requests()[0].json().to_string();
        assert!(sent.contains(&typed.trim().replace('\n', "\\n")), "{sent}");
    }
}

/// Answers the question about a command of a template before its sign, and again after it. False if
/// the first answer came too late to be an early one.
fn answers_early_and_again(early: &str) -> bool {
    let (bench, server) = (TestDir::new(), Server::start(vec![Reply::chat("It is sent.")]));
    let commands = bench.root.path().join("avocet/commands");
    std::fs::create_dir_all(&commands).unwrap();
    let text = "description = \"makes\"\nprompt = \"A !{mkdir made} B\"\n";
    std::fs::write(commands.join("makes.toml"), text).unwrap();
    let work = bench.work().display().to_string();
    let url = server.base_url();
    let args = ["--trust", &work, "--base-url", &url, "--model", "loop-1"];
    let mut screen = stranger(&bench, &[&args[..], &["command", "run", "makes"]].concat());
    screen.wait_for("[y/n]");
    screen.press(early);
    if !screen.shows_within("not taken as an answer", Duration::from_secs(3)) {
        return false;
    }
    assert!(!bench.work().join("made").exists());
    // The question is printed again, and takes nothing before its sign.
    screen.wait_for("[y/n] >");
    assert!(!bench.work().join("made").exists());
    screen.press("y\r");
    screen.wait_for("It is sent.");
    assert!(bench.work().join("made").exists());
    assert_eq!(screen.wait_for_exit(), 0);
    true
}

#[test]
fn a_template_command_is_approved_only_after_its_question_is_readable() {
    // With its Enter or without, the letter is there before an answer is read. A busy machine may
    // type it later than that.
    for early in ["y", "y\r"] {
        assert!((0..8).any(|_| answers_early_and_again(early)), "{early:?} was never discarded");
    }
}

#[test]
fn a_warning_about_an_unencrypted_key_is_shown_without_a_screen() {
    let bench = TestDir::new();
    let said = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(["-p", "hello", "--base-url", "http://far.invalid/v1", "--model", "m"])
        .current_dir(bench.work())
        .env_clear()
        .env("HOME", bench.root.path().join("home"))
        .env("AVOCET_HOME", bench.root.path().join("avocet"))
        .env("AVOCET_API_KEY", "sk-nothing-real")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("far.invalid unencrypted"), "{said}");
}

/// By its own setting, its character card or a default, in the order in which they count.
#[test]
fn an_input_that_the_script_itself_gives_is_not_asked_for() {
    let given = [
        ("character: {name: Ann}", "{required: true}"),
        ("name: Ann\ncharacter: {name: Card}", "{required: true}"),
        ("character: {name: null}", "{required: true, default: Ann}"),
    ];
    let bench = TestDir::new();
    let work = bench.work().display().to_string();
    for (own, input) in given {
        let script = format!(
            "---\ninput:\n  - name: {input}\n{own}\n---\n- $echo: \"#I am {{{{name}}}}\"\n"
        );
        std::fs::write(bench.work().join("own.ai.yaml"), script).unwrap();
        let mut screen = stranger(&bench, &["--trust", &work, "run", "own"]);
        screen.wait_for("I am Ann");
        assert_eq!(screen.wait_for_exit(), 0, "{own}");
    }
}

#[test]
fn a_script_asks_for_its_inputs_line_by_line_in_a_terminal() {
    let bench = TestDir::new();
    let script = "---\ninput:\n  - who: {required: true, description: the name}\n---\n- $set: {how: \"[[@input(content='How?', choices=['well', 'badly'])]]\", n: {$input: {content: 'How many?', type: number}}}\n- $if: \"[[@input(content='Sure?', inputType='confirm')]]\"\n  then: [{$echo: \"#{{who}} {{how}} {{n + 1}}\"}]\n";
    std::fs::write(bench.work().join("ask.ai.yaml"), script).unwrap();
    let work = bench.work().display().to_string();
    let mut screen = stranger(&bench, &["--trust", &work, "run", "ask"]);
    screen.wait_for("who: the name\n>");
    screen.press("Ann\r");
    screen.wait_for("How?\n  1 well\n  2 badly\n>");
    screen.press("3\r2\r");
    screen.wait_for("How many?\n>");
    screen.press("many\r");
    screen.wait_for("must be a number.\n>");
    screen.press("4\r");
    screen.wait_for("Sure?\n  1 yes\n  2 no\n>");
    screen.press("1\r");
    screen.wait_for("Ann badly 5");
    assert_eq!(screen.wait_for_exit(), 0);
    let mut screen = stranger(&bench, &["--trust", &work, "run", "ask"]);
    screen.wait_for("who: the name\n>");
    screen.press("\x04");
    screen.wait_for("`who` is required");
    assert_eq!(screen.wait_for_exit(), 1);
}
