//! Whole journeys: the real program in a real terminal, against a loopback server.
//!
//! Few, and each from start to end; what a single key does is tested in `src/tui`.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::pty::{Modes, Screen};
use crate::support::server::{self, Reply, Server};
use crate::support::wait::wait_until;

trait ScreenDir {
    fn start(&self, args: &[&str]) -> Screen;
    fn start_with(&self, args: &[&str], more: &[(&str, &str)]) -> Screen;
    fn stranger(&self, args: &[&str]) -> Screen;
    fn stranger_with(&self, args: &[&str], more: &[(&str, &str)]) -> Screen;
    fn against(&self, server: &Server) -> Screen;
}

impl ScreenDir for TestDir {
    /// In the folder, which is named as trusted.
    fn start(&self, args: &[&str]) -> Screen {
        self.start_with(args, &[])
    }

    fn start_with(&self, args: &[&str], more: &[(&str, &str)]) -> Screen {
        let work = self.work();
        let trusted: Vec<&str> =
            ["--trust", work.to_str().unwrap()].iter().chain(args).copied().collect();
        self.stranger_with(&trusted, more)
    }

    fn stranger(&self, args: &[&str]) -> Screen {
        self.stranger_with(args, &[])
    }

    fn stranger_with(&self, args: &[&str], more: &[(&str, &str)]) -> Screen {
        let home = self.root.path().join("home");
        let avocet = self.root.path().join("avocet");
        let envs = [("HOME", home.to_str().unwrap()), ("AVOCET_HOME", avocet.to_str().unwrap())];
        Screen::start(args, &[&envs, more].concat(), &self.work(), (80, 24))
    }

    fn against(&self, server: &Server) -> Screen {
        let screen = self.start(&["--base-url", &server.base_url(), "--model", "loop-1"]);
        screen.wait_for("loop-1");
        screen
    }
}

fn commands(steps: &[(&str, &[&str])]) -> Reply {
    let commands: Vec<_> = steps
        .iter()
        .map(|(program, args)| json!({ "program": program, "args": args, "requires": {} }))
        .collect();
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    Reply::text(&json!({ "type": "cmd", "message": "Let me try.", "data": data }).to_string(), 8)
}

/// What the model was sent last.
fn last_sent(server: &Server) -> String {
    server.requests().last().unwrap().json()["messages"].to_string()
}

/// Presses a key until the screen shows what it leads to.
#[track_caller]
fn press_until(screen: &mut Screen, key: &str, text: &str) {
    for _ in 0..40 {
        let before = screen.text();
        screen.press(key);
        if screen.shows_within(text, Duration::from_millis(800)) {
            return;
        }
        // Two keys in one frame would skip what is between them.
        let patience = Instant::now() + Duration::from_secs(3);
        while screen.text() == before && Instant::now() < patience {
            std::thread::park_timeout(Duration::from_millis(2));
        }
        // A slow frame may show it only now.
        if screen.text().contains(text) {
            return;
        }
    }
    panic!("{key:?} did not lead to {text:?}\n{}", screen.text());
}

/// Leaves as a person does, and sees to it that the terminal is as it was.
#[track_caller]
fn leave(screen: &mut Screen) {
    // While a turn runs, Ctrl-C would stop that.
    screen.wait_until_idle();
    screen.press("\x03");
    screen.wait_for("Press Ctrl-C again");
    screen.press("\x03");
    assert_eq!(screen.wait_for_exit(), 0);
    assert_eq!(screen.modes(), Modes::default());
}

#[test]
fn a_question_gets_an_answer_and_ctrl_c_leaves() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Hello! What shall we build? 你好，世界 👋")]);
    let mut screen = bench.against(&server);
    screen.press("hello\r");
    screen.wait_for("What shall we build? 你好，世界");
    leave(&mut screen);
}

#[test]
fn a_provider_is_connected_to_on_the_screen_and_its_key_is_shown_nowhere() {
    const KEY: &str = "quarz-zwerg-jagd-lothar";
    let bench = TestDir::new();
    let listed = json!({ "data": [{ "id": "tiny" }, { "id": "large" }] });
    let pages = vec![("/v1/models", Reply::json(200, &listed))];
    let replies = vec![Reply::chat("Here I am."), Reply::chat("As before.")];
    let server = Server::start_locked(replies, pages, Some(KEY));
    let file = [("AVOCET_KEY_STORE", "file")];
    let mut screen = bench.start_with(&[], &file);
    screen.wait_for("/connect");
    screen.press(&format!("/connect {}\r", server.base_url()));
    screen.wait_for("API key for");
    screen.wait_for("requires a key");
    screen.press("not-this-one\r");
    screen.wait_for("does not accept the key");
    screen.paste(KEY);
    screen.wait_for("********");
    screen.press("\r");
    screen.wait_for("tiny");
    screen.press("larg");
    screen.wait_until_gone("tiny");
    screen.press("\r");
    screen.wait_for("Switched to `large`");
    screen.press("hello\r");
    screen.wait_for("Here I am.");
    leave(&mut screen);
    let shown = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(!shown.contains(KEY));
    assert!(!shown.contains("Switched to `large`."), "it was said once, with its server");
    let mut holders = Vec::new();
    let mut folders = vec![bench.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    let bytes = fs::read(entry.path()).unwrap();
                    if bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()) {
                        holders.push(entry.path());
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!(holders, [bench.path("avocet/data/keys.toml")]);
    // The next start knows it all.
    let mut screen = bench.start_with(&[], &file);
    screen.wait_for("large");
    screen.press("and now?\r");
    screen.wait_for("As before.");
    leave(&mut screen);
    let bearer = format!("Bearer {KEY}");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(request.header("authorization"), Some(bearer.as_str()));
    }
    let lookups = server.lookups();
    let keys: Vec<_> = lookups.iter().map(|it| it.header("authorization")).collect();
    assert_eq!(keys[..3], [None, Some("Bearer not-this-one"), Some(bearer.as_str())]);
}

#[test]
fn trust_is_asked_for_once() {
    let bench = TestDir::new();
    std::fs::write(bench.work().join("AGENTS.md"), "hello").unwrap();
    let mut screen = bench.stranger(&[]);
    screen.wait_for("Do you trust this folder?");
    screen.wait_for("AGENTS.md (5 bytes)");
    // The letter only marks it.
    screen.answer("Do you trust this folder?", "t");
    screen.wait_for("Marked. Enter confirms.");
    screen.press("\r");
    screen.wait_for("Folder trusted. Read-only commands now run without asking.");
    screen.press("/doctor\r");
    screen.wait_for("Trusted program folders");
    // The page is longer than the screen.
    press_until(&mut screen, "\x1b[5~", "LANG");
    press_until(&mut screen, "\x1b[5~", "this folder is trusted");
    leave(&mut screen);
    let mut again = bench.stranger(&[]);
    again.wait_for("guide");
    again.press("/trust\r");
    again.answer("This folder is trusted.", "\x1b");
    again.wait_for("This folder is still trusted.");
    again.press("/trust\r");
    again.answer("This folder is trusted.", "\r");
    again.wait_for("Folder trusted. Read-only commands now run without asking.");
    again.press("/trust\r");
    again.answer("This folder is trusted.", "n");
    again.wait_for("This folder is not trusted:");
    leave(&mut again);
}

#[test]
fn trusting_at_a_step_question_runs_the_step_and_is_remembered() {
    let bench = TestDir::new();
    fs::write(bench.work().join("AGENTS.md"), "hello").unwrap();
    let server = Server::start(vec![commands(&[("git", &["status"])]), Reply::chat("It is done.")]);
    let url = server.base_url();
    let args = ["--base-url", url.as_str(), "--model", "loop-1"];
    let mut screen = bench.stranger(&args);
    screen.answer("Do you trust this folder?", "n");
    screen.wait_for("This folder is not trusted:");
    screen.press("look\r\r");
    screen.answer("AGENTS.md (5 bytes)", "t");
    screen.wait_for("Marked. Enter confirms.");
    screen.press("\r");
    screen.wait_for("Folder trusted.");
    screen.wait_for("It is done.");
    leave(&mut screen);
    let mut again = bench.stranger(&args);
    again.wait_for("loop-1");
    again.press("/trust\r");
    again.wait_for("This folder is trusted.");
}

#[test]
fn an_approved_step_runs_and_its_result_reaches_the_model() {
    let bench = TestDir::new();
    let server =
        Server::start(vec![commands(&[("mkdir", &["made here"])]), Reply::chat("It is made.")]);
    let mut screen = bench.against(&server);
    screen.press("make it\r");
    screen.answer("Run this?", "y");
    screen.wait_for("It is made.");
    assert!(bench.work().join("made here").is_dir());
    assert!(last_sent(&server).contains(r#"\"outcome\":\"ran\""#), "{}", last_sent(&server));
}

#[test]
fn text_typed_as_a_question_opens_approves_nothing_and_stays_in_the_draft() {
    for gap in [20, 90, 250, 600] {
        let bench = TestDir::new();
        let proposes = commands(&[("mkdir", &["made"]), ("git", &["commit", "-m", "x"])]);
        let server = Server::start(vec![proposes.pause(Duration::from_millis(15)).held()]);
        let mut screen = bench.against(&server);
        screen.press("go\r");
        server.wait_for_requests(1);
        let sentence = if gap < 500 { "so tidy it up, step by step" } else { "yes, always" };
        for (number, letter) in sentence.chars().enumerate() {
            screen.press(&letter.to_string());
            if number == 0 {
                // The draft has a letter before the question opens.
                screen.wait_for(&format!("› {letter}"));
                server.release();
            }
            // Somebody types: the pause between two letters is what is tried.
            std::thread::sleep(Duration::from_millis(gap));
        }
        screen.wait_for("Run this?");
        screen.wait_for(sentence);
        assert!(!bench.work().join("made").exists(), "{gap} ms");
        // One deliberate key leads to the question; the draft stays.
        screen.press("\t");
        screen.answer("back to your draft", "y");
        wait_until("the step ran", || bench.work().join("made").is_dir());
        screen.wait_for(sentence);
    }
}

#[test]
fn text_typed_at_the_trust_question_does_not_trust_the_folder() {
    let bench = TestDir::new();
    fs::write(bench.work().join("AGENTS.md"), "hello").unwrap();
    let mut screen = bench.stranger(&[]);
    let sentence = "do all the tests pass at all?";
    // The terminal is the program's as soon as it draws.
    screen.wait_for_bytes("\x1b[?1049h");
    for letter in sentence.chars() {
        screen.press(&letter.to_string());
        std::thread::sleep(Duration::from_millis(60));
    }
    screen.wait_for("Do you trust this folder?");
    screen.wait_for(sentence);
    screen.wait_for("Finish typing");
    // A letter marks, Enter takes.
    screen.press("\t");
    screen.answer("back to your draft", "t");
    screen.wait_for("Marked. Enter confirms.");
    screen.press("\x1b");
    screen.wait_for("Finish typing");
    assert!(!screen.text().contains("Folder trusted"));
    screen.press("\x15");
    screen.answer("Do you trust this folder?", "\x1b");
    screen.wait_for("Nothing was decided");
}

#[test]
fn a_command_during_a_question_runs_without_approving_a_step() {
    let bench = TestDir::new();
    let server = Server::start(vec![commands(&[("mkdir", &["made"])])]);
    let mut screen = bench.against(&server);
    screen.press("make it\r");
    screen.answer("Run this?", "/status\r");
    screen.wait_for("tokens");
    // What the question leaves no room for is read with the keys that scroll.
    press_until(&mut screen, "\x1b[5~", "conversation");
    screen.answer("Run this?", "/stop\r");
    screen.wait_until_gone("Run this?");
    assert!(!bench.work().join("made").exists());
    leave(&mut screen);
}

#[test]
fn terminal_input_after_a_paste_answers_no_question() {
    let bench = TestDir::new();
    let server = Server::start(vec![commands(&[("mkdir", &["made"])])]);
    let mut screen = bench.against(&server);
    screen.press("make it\r");
    screen.answer("Run this?", "\x1b[200~text\x1b[201~y");
    screen.wait_for("texty");
    screen.wait_for("Finish typing");
    assert!(!bench.work().join("made").exists());
}

#[test]
fn a_rejection_reason_reaches_the_model() {
    let bench = TestDir::new();
    let server =
        Server::start(vec![commands(&[("mkdir", &["made"])]), Reply::chat("As you like.")]);
    let mut screen = bench.against(&server);
    screen.press("make it\r");
    screen.answer("Run this?", "w");
    screen.wait_for("What should the model know?");
    screen.press("use another name\r");
    screen.wait_for("As you like.");
    assert!(!bench.work().join("made").exists());
    assert!(last_sent(&server).contains("use another name"), "{}", last_sent(&server));
}

#[test]
fn an_edited_step_runs_as_edited_and_the_model_is_told() {
    let bench = TestDir::new();
    let server =
        Server::start(vec![commands(&[("mkdir", &["made"])]), Reply::chat("Good choice.")]);
    let mut screen = bench.against(&server);
    screen.press("make it\r");
    screen.answer("Run this?", "e");
    screen.wait_for("Run this instead?");
    screen.press("-2");
    screen.wait_for("made-2");
    screen.wait_until_gone("being judged");
    // Typed as fast as a word: the first Enter asks for another one.
    screen.press("\r");
    screen.wait_for("Enter again runs it");
    screen.press("\r");
    screen.wait_for("Good choice.");
    assert!(bench.work().join("made-2").is_dir());
    assert!(!bench.work().join("made").exists());
    assert!(last_sent(&server).contains(r#"\"outcome\":\"edited\""#), "{}", last_sent(&server));
}

#[test]
fn a_blocked_step_is_refused_on_the_screen_and_does_not_run() {
    let bench = TestDir::new();
    fs::write(bench.work().join("keep.txt"), "kept").unwrap();
    let server =
        Server::start(vec![commands(&[("rm", &["-rf", "keep.txt"])]), Reply::chat("Understood.")]);
    let mut screen = bench.against(&server);
    screen.press("clean up\r");
    screen.wait_for("Understood.");
    screen.wait_for("high risk");
    assert!(bench.work().join("keep.txt").exists());
    assert!(last_sent(&server).contains(r#"\"outcome\":\"refused\""#), "{}", last_sent(&server));
}

#[test]
fn escape_ends_a_hanging_child_and_its_process_tree() {
    let bench = TestDir::new();
    let server =
        Server::start(vec![commands(&[("sleep", &[&own_seconds(1)])]), Reply::chat("unused")]);
    let mut screen = bench.against(&server);
    screen.press("wait\r");
    screen.answer("Run this?", "y");
    screen.wait_for("Running");
    wait_until("the child runs", || sleeps(&own_seconds(1)) == 1);
    screen.press("\x1b");
    wait_until("the child is gone", || sleeps(&own_seconds(1)) == 0);
    leave(&mut screen);
}

/// An argument of a program that no other run of the tests starts.
fn own_seconds(number: u64) -> String {
    (2_100_000_000 + u64::from(std::process::id()) * 10 + number).to_string()
}

/// How many programs with this last argument run.
fn sleeps(seconds: &str) -> usize {
    let end = format!("sleep\0{seconds}\0");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).ends_with(&end))
        .count()
}

#[test]
fn escape_frees_the_connection_of_an_answer_that_never_ends() {
    let bench = TestDir::new();
    let server = Server::start(vec![
        Reply::text(r#"{"type":"chat","message":"This will never end"}"#, 12).hang_after(10),
        Reply::chat("Here again."),
    ]);
    let mut screen = bench.against(&server);
    screen.press("talk\r");
    screen.wait_for("This will");
    screen.press("\x1b");
    server.wait_for_gone(1);
    screen.press("again\r");
    screen.wait_for("Here again.");
}

#[test]
fn a_message_typed_during_a_turn_is_queued() {
    let bench = TestDir::new();
    let slow = Reply::chat("First answer.").held();
    let server = Server::start(vec![slow, Reply::chat("Second answer.")]);
    let mut screen = bench.against(&server);
    screen.press("one\r");
    server.wait_for_requests(1);
    screen.wait_for("Esc stops");
    screen.press("two\t");
    screen.wait_for("queued");
    server.release();
    screen.wait_for("First answer.");
    screen.wait_for("Second answer.");
}

#[test]
fn many_resizes_end_in_a_clean_frame() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Steady as she goes.")]);
    let mut screen = bench.against(&server);
    screen.press("hello\r");
    screen.wait_for("Steady as she goes.");
    for step in 0..200u16 {
        screen.resize((1 + (step * 7) % 200, 1 + step % 60));
    }
    screen.resize((80, 24));
    screen.wait_for("Steady as she goes.");
    screen.press("still here");
    screen.wait_for("still here");
}

#[test]
fn a_signal_ends_everything_and_restores_the_terminal() {
    let bench = TestDir::new();
    let server = Server::start(vec![commands(&[("sleep", &[&own_seconds(2)])])]);
    let mut screen = bench.against(&server);
    screen.press("wait\r");
    screen.answer("Run this?", "y");
    screen.wait_for("Running");
    wait_until("the child runs", || sleeps(&own_seconds(2)) == 1);
    screen.signal("TERM");
    screen.wait_for_exit();
    wait_until("the child is gone", || sleeps(&own_seconds(2)) == 0);
    assert_eq!(screen.modes(), Modes::default());
}

#[test]
fn a_line_for_the_shell_runs_and_goes_to_the_model() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("I see it.")]);
    let mut screen = bench.against(&server);
    screen.press("!echo one | tr a-z A-Z\r");
    screen.wait_for("ONE");
    screen.press("what did it say?\r");
    screen.wait_for("I see it.");
    assert!(last_sent(&server).contains("ONE"), "{}", last_sent(&server));
}

#[test]
fn a_template_asks_about_its_commands_and_is_one_message() {
    let bench = TestDir::new();
    let commands = bench.root.path().join("avocet/commands");
    fs::create_dir_all(&commands).unwrap();
    let template =
        "prompt = \"\"\"\nReport on {{args}}: !{echo one | tr a-z A-Z} !{touch marked}\n\"\"\"\n";
    fs::write(commands.join("report.toml"), template).unwrap();
    fs::write(bench.work().join("notes.md"), "remember the milk\n").unwrap();
    let server = Server::start(vec![Reply::chat("All is fine."), Reply::chat("I read it.")]);
    let mut screen = bench.against(&server);
    screen.press("/report this !{id} week\r");
    screen.wait_for("Run the shell commands of /report?");
    screen.wait_for("[x] 2 touch marked");
    // The second is left out; the rest runs.
    screen.answer("[x] 2 touch marked", "2");
    screen.wait_for("[ ] 2 touch marked");
    screen.press("y");
    screen.wait_for("All is fine.");
    let sent = last_sent(&server);
    assert!(sent.contains("Report on this !{id} week: ONE [the user did not allow"), "{sent}");
    assert!(!bench.work().join("marked").exists());
    screen.press("see @notes.md please\r\r");
    screen.wait_for("@notes.md  1 line");
    screen.wait_for("I read it.");
    assert!(last_sent(&server).contains("remember the milk"), "{}", last_sent(&server));
    leave(&mut screen);
}

/// Waits until a draft with these texts is on the disk.
fn wait_for_draft(bench: &TestDir, texts: &[&str]) {
    let drafts = bench.root.path().join("avocet/state/drafts");
    wait_until("the draft is kept", || {
        let files = fs::read_dir(&drafts).into_iter().flatten().flatten();
        files
            // What is still being written has another name.
            .filter(|file| file.path().extension().is_some_and(|end| end == "json"))
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .any(|draft| texts.iter().all(|text| draft.contains(text)))
    });
}

#[test]
fn the_draft_and_the_queue_survive_a_kill_and_start_nothing() {
    let bench = TestDir::new();
    let hanging = Reply::chat("It takes its time.").hang_after(3);
    let server = Server::start(vec![hanging, Reply::chat("Now it came.")]);
    let mut screen = bench.against(&server);
    screen.press("go\r");
    server.wait_for_requests(1);
    screen.wait_for("Esc stops");
    screen.press("and then this\t");
    screen.wait_for("queued");
    screen.press("half a thought 一半");
    screen.wait_for("half a thought 一半");
    wait_for_draft(&bench, &["and then this", "half a thought 一半"]);
    screen.signal("KILL");
    screen.wait_for_exit();

    let mut screen = bench.against(&server);
    screen.wait_for("half a thought 一半");
    screen.wait_for("1 queued message was restored.");
    assert_eq!(server.requests().len(), 1, "nothing started by itself");
    screen.press("\x15");
    screen.wait_until_gone("half a thought");
    screen.press("\r");
    screen.wait_for("Now it came.");
    assert!(last_sent(&server).contains("and then this"));
    let drafts = bench.root.path().join("avocet/state/drafts");
    wait_until("nothing is left to keep", || {
        fs::read_dir(&drafts)
            .into_iter()
            .flatten()
            .flatten()
            .all(|file| file.path().extension().is_some_and(|end| end == "lock"))
    });
}

#[test]
fn without_a_model_the_guide_answers_and_introduces_itself() {
    let bench = TestDir::new();
    let mut screen = bench.start(&[]);
    screen.wait_for("not a language model");
    screen.press("how do I connect a model?\r");
    screen.wait_for("--base-url");
}

#[test]
fn sent_messages_and_the_draft_survive_a_signal() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("First answer."), Reply::chat("Again.")]);
    let mut screen = bench.against(&server);
    screen.press("the first question\r");
    screen.wait_for("First answer.");
    let history = bench.root.path().join("avocet/state/history");
    wait_until("the line is kept", || {
        fs::read_to_string(&history).is_ok_and(|it| it.contains("first"))
    });
    screen.press("half a thought 一半");
    screen.wait_for("half a thought 一半");
    wait_for_draft(&bench, &["half a thought 一半"]);
    screen.signal("HUP");
    screen.wait_for_exit();

    let mut screen = bench.against(&server);
    screen.wait_for("half a thought 一半");
    screen.press("\x12quest");
    screen.wait_for("the first question");
    screen.press("\r\r");
    screen.wait_for("Again.");
    assert!(last_sent(&server).contains("the first question"), "{}", last_sent(&server));
}

#[test]
fn a_late_answer_about_the_background_changes_the_theme_and_types_nothing() {
    let bench = TestDir::new();
    let mut screen = bench.start(&["--theme", "auto"]);
    screen.wait_for("not a language model");
    screen.wait_for_bytes("\x1b]11;?");
    screen.press("one\x1b]11;rgb:ffff/ffff/ffff\x1b\\two");
    // The accent of the light theme.
    screen.wait_for_bytes("38;2;40;86;196");
    screen.wait_for("onetwo");
    assert!(!screen.text().contains("rgb"), "{}", screen.text());
}

/// A screen with lines, on a terminal that has been asked how wide they are.
fn with_lines(bench: &TestDir) -> Screen {
    let screen = bench.start(&["--theme", "16-colors"]);
    screen.wait_for("not a language model");
    screen.wait_for("╌╌");
    screen.wait_for_bytes("\x1b[6n");
    screen
}

#[test]
fn lines_are_solid_once_the_terminal_has_told_that_it_draws_them_narrow() {
    let bench = TestDir::new();
    let mut screen = with_lines(&bench);
    assert!(!screen.text().contains("──"), "{}", screen.text());
    screen.press("one\x1b[2;5Rtwo");
    screen.wait_for("──");
    screen.wait_for("onetwo");
    assert!(!screen.text().contains('╌'), "{}", screen.text());
}

#[test]
fn a_terminal_that_draws_lines_wide_or_does_not_answer_keeps_dashes() {
    let bench = TestDir::new();
    let mut screen = with_lines(&bench);
    // The first key waits for nothing.
    screen.press("one");
    screen.wait_for("one");
    screen.press("\x1b[2;9R two");
    screen.wait_for("one two");
    assert!(!screen.text().contains("──"), "{}", screen.text());
}

/// An image of 40 by 40 pixels.
fn write_image(bench: &TestDir, name: &str) {
    let file = fs::File::create(bench.work().join(name)).unwrap();
    let mut encoder = png::Encoder::new(file, 40, 40);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(&[99; 40 * 40]).unwrap();
}

/// A conversation with an image, on a terminal that answers so when it is asked about pictures.
fn with_image(settings: &str, answer: &str) -> (TestDir, Server, Screen) {
    let bench = TestDir::new();
    write_image(&bench, "shot.png");
    bench.settings(&format!("{settings}[models.loop-1]\nimages = true\n"));
    let server = Server::start(vec![Reply::chat("A picture.")]);
    let mut screen = bench.against(&server);
    if !answer.is_empty() {
        screen.wait_for_bytes("\x1b[16t\x1b[c");
        screen.press(answer);
    }
    screen.press("look @shot.png ");
    screen.wait_for("look @shot.png");
    screen.press("\r");
    screen.wait_for("A picture.");
    screen.wait_for("image, 40x40");
    (bench, server, screen)
}

const PICTURES: &str = "show_pictures = true\n";

#[test]
fn a_terminal_with_the_protocol_of_kitty_gets_an_image_once_and_drops_it_at_the_end() {
    let answer = "\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62c";
    let (bench, server, mut screen) = with_image(PICTURES, answer);
    screen.wait_for_bytes("a=T,U=1,f=32,t=d,s=40,v=40");
    screen.wait_for("\u{10eeee}");
    // Whatever covers it is drawn instead, and it comes back without being sent again.
    screen.press("\x1bOP");
    screen.wait_until_gone("\u{10eeee}");
    screen.press("\x1b");
    screen.wait_for("\u{10eeee}");
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert_eq!(raw.matches("a=T,U=1").count(), 1);
    screen.wait_for("image, 40x40");
    leave(&mut screen);
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    let (_, end) = raw.rsplit_once("\x1b_Ga=d,d=I,i=").expect("it is dropped");
    assert!(end.contains("\x1b[?1049l"), "before the terminal is restored");
    // The session that is continued has it still.
    let mut screen = bench.start(&["-c", "--base-url", &server.base_url(), "--model", "loop-1"]);
    screen.wait_for_bytes("\x1b[16t\x1b[c");
    screen.press(answer);
    screen.wait_for("\u{10eeee}");
    leave(&mut screen);
}

#[test]
fn a_terminal_with_sixels_gets_an_image_as_one() {
    let (_bench, _server, mut screen) = with_image(PICTURES, "\x1b[6;20;10t\x1b[?62;4c");
    screen.wait_for_bytes("\x1bP");
    screen.wait_for_bytes("\"1;1;40;");
    leave(&mut screen);
}

#[test]
fn a_terminal_that_does_not_answer_is_sent_no_picture() {
    let (_bench, _server, mut screen) = with_image(PICTURES, "");
    leave(&mut screen);
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(raw.contains("a=q") && !raw.contains("a=T") && !raw.contains("\x1bP"));
}

#[test]
fn nothing_about_pictures_is_asked_or_sent_while_the_setting_is_off() {
    let (_bench, _server, mut screen) = with_image("", "");
    screen.press("\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;4cdone");
    screen.wait_for("done");
    screen.press("\x7f\x7f\x7f\x7f");
    screen.wait_until_gone("done");
    leave(&mut screen);
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    for mark in ["\x1b_G", "\x1bP", "\x1b[16t", "\x1b[c", "]1337;"] {
        assert!(!raw.contains(mark), "{mark:?}");
    }
}

#[test]
fn a_mouse_selection_is_copied_to_the_clipboard() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Steady as she goes.")]);
    let mut screen = bench.against(&server);
    screen.press("hello\r");
    screen.wait_for("Steady as she goes.");
    screen.wait_until_idle();
    let row = screen.text().lines().position(|line| line.contains("Steady")).unwrap() + 1;
    screen.press(&format!("\x1b[<0;3;{row}M\x1b[<32;5;{row}M\x1b[<32;8;{row}M\x1b[<0;8;{row}m"));
    // "Steady", in the form that OSC 52 wants.
    screen.wait_for_bytes("\x1b]52;c;U3RlYWR5");
    screen.wait_for("Copied 6 characters");
    screen.press(&format!("\x1b[<0;14;{row}M\x1b[<0;14;{row}m\x1b[<0;14;{row}M\x1b[<0;14;{row}m"));
    screen.wait_for_bytes("\x1b]52;c;c2hl");
    leave(&mut screen);
}

#[test]
fn a_mention_is_found_in_the_folder_and_sent_as_typed() {
    let bench = TestDir::new();
    fs::create_dir_all(bench.work().join("src/深")).unwrap();
    fs::write(bench.work().join("src/深/a file.rs"), "").unwrap();
    fs::write(bench.work().join("secret.log"), "").unwrap();
    fs::write(bench.work().join(".gitignore"), "*.log\n").unwrap();
    let server = Server::start(vec![Reply::chat("I see.")]);
    let mut screen = bench.against(&server);
    screen.press("read @");
    screen.wait_for("src/深/a file.rs");
    assert!(!screen.text().contains("secret.log"), "{}", screen.text());
    screen.press("afile");
    screen.wait_until_gone("src/深/ ");
    screen.press("\r");
    screen.wait_for("read @\"src/深/a file.rs\"");
    screen.press("\r");
    screen.wait_for("I see.");
    assert!(last_sent(&server).contains(r#"read @\"src/深/a file.rs\""#), "{}", last_sent(&server));
}

#[test]
fn an_editor_borrows_the_terminal_and_returns_its_text() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Well written.")]);
    let script = bench.root.path().join("editor");
    // Shows that it has the normal screen, waits for a line, and writes.
    let text = "#!/bin/sh\ncat \"$1\"; echo EDITING; read word; echo \"$word 你好\" >> \"$1\"\n";
    fs::write(&script, text).unwrap();
    let editor = format!("sh '{}'", script.display());
    let args = ["--base-url", &server.base_url(), "--model", "loop-1"];
    let mut screen = bench.start_with(&args, &[("VISUAL", &editor)]);
    screen.wait_for("loop-1");
    screen.press("begun ");
    screen.wait_for("begun");
    screen.press("\x07");
    screen.wait_for("EDITING");
    assert_eq!(screen.modes(), Modes::default(), "the terminal is the editor's");
    screen.press("and ended\n");
    screen.wait_for("begun and ended 你好");
    assert!(screen.modes().alternate && screen.modes().paste && screen.modes().mouse);
    screen.press("\r");
    screen.wait_for("Well written.");
    assert!(last_sent(&server).contains("begun and ended 你好"), "{}", last_sent(&server));
    leave(&mut screen);
}

#[test]
fn a_failing_editor_loses_no_text() {
    let bench = TestDir::new();
    let mut screen = bench.start_with(&[], &[("EDITOR", "/no/such/editor")]);
    screen.wait_for("not a language model");
    screen.press("precious words");
    screen.wait_for("precious words");
    screen.press("\x07");
    screen.wait_for("could not be started");
    screen.wait_for("precious words");
}

#[test]
fn the_conversation_can_be_read_on_the_normal_screen() {
    let bench = TestDir::new();
    let lines: Vec<String> = (1..=40).map(|n| format!("line {n} of many")).collect();
    let server = Server::start(vec![Reply::chat(&lines.join("\n\n"))]);
    let mut screen = bench.against(&server);
    screen.press("hello\r");
    screen.wait_for("line 40 of many");
    screen.wait_until_idle();
    screen.press("a draft");
    screen.wait_for("a draft");
    // What stands beside the conversation changes by itself after a turn.
    let conversation = |screen: &Screen| -> Vec<String> {
        screen.text().lines().filter(|row| row.contains("of many")).map(str::to_owned).collect()
    };
    let before = conversation(&screen);
    screen.press("\x14");
    screen.wait_for("Press any key to go back");
    assert_eq!(screen.modes(), Modes::default(), "the normal screen, with nothing of ours on");
    assert!(!screen.text().contains("a draft"));
    assert!(String::from_utf8_lossy(&screen.raw()).contains("line 1 of many\r\n"));
    screen.press("q");
    screen.wait_for("a draft");
    screen.wait_until_gone("Press any key");
    wait_until("the screen is as before", || conversation(&screen) == before);
    screen.press("\x14");
    screen.wait_for("Press any key to go back");
    screen.signal("TERM");
    screen.wait_for_exit();
    assert_eq!(screen.modes(), Modes::default());
}

#[test]
fn plain_lines_ask_and_move_no_cursor() {
    let bench = TestDir::new();
    let server =
        Server::start(vec![commands(&[("mkdir", &["made here"])]), Reply::chat("It is made.")]);
    let url = server.base_url();
    let mut screen = bench.start(&["--linear", "--base-url", &url, "--model", "loop-1"]);
    screen.wait_for("The model is loop-1.");
    screen.press("make it\r");
    screen.wait_for("A step needs your OK.");
    screen.wait_for("[d]etails\n>");
    screen.press("maybe\r");
    screen.wait_for("Nothing runs until you choose one.\n>");
    assert!(!bench.work().join("made here").exists());
    screen.press("y\r");
    screen.wait_for("It is made.");
    assert!(bench.work().join("made here").is_dir());
    assert!(!screen.raw().contains(&0x1b), "no escape sequence was written");
    screen.press("/exit\r");
    assert_eq!(screen.wait_for_exit(), 0);
}

#[test]
fn a_small_change_is_read_made_checked_and_undone() {
    let bench = TestDir::new();
    let work = bench.work();
    let git = |args: &[&str]| {
        let done =
            std::process::Command::new("git").args(args).current_dir(&work).output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    git(&["init", "-q"]);
    fs::create_dir_all(work.join("src")).unwrap();
    let before = "pub fn total(items: &[u64]) -> u64 {\r\n\titems.iter().sum::<u64>() + 1\r\n}\r\n";
    fs::write(work.join("src/price.rs"), before).unwrap();
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "start"]);
    let tool = |message: &str, name: &str, input: serde_json::Value| {
        let data = json!({ "commands": [{ "tool": name, "input": input }] });
        json!({ "type": "cmd", "message": message, "data": data }).to_string()
    };
    let replies = [
        tool(
            "I plan.",
            "plan",
            json!({ "items": [{ "text": "Find the fault", "state": "doing" }, "Mend it"] }),
        ),
        tool("I look.", "file.search", json!({ "query": "+ 1" })),
        tool("I read.", "file.read", json!({ "path": "src/price.rs" })),
        tool(
            "I mend it.",
            "file.edit",
            json!({ "path": "src/price.rs", "old": "sum::<u64>() + 1\n}", "new": "sum()\n}" }),
        ),
        tool("Done?", "ask", json!({ "question": "Shall I stop here?", "choices": ["Yes", "No"] })),
        json!({ "type": "chat", "message": "The total is right now." }).to_string(),
    ];
    let script = bench.root.path().join("replies.txt");
    fs::write(&script, replies.join("\n---\n")).unwrap();
    let model = format!("scripted:{}", script.display());
    let mut screen = bench.start(&["--model", &model]);
    screen.wait_for("scripted");
    screen.press("fix the total\r");
    screen.wait_for("Apply this edit");
    screen.wait_for("sum()");
    screen.answer("Apply this edit", "y");
    screen.answer("Shall I stop here?", "a");
    screen.wait_for("The total is right now.");
    let after = before.replace("sum::<u64>() + 1", "sum()");
    assert_eq!(fs::read_to_string(work.join("src/price.rs")).unwrap(), after);
    assert_eq!(git(&["diff", "--stat"]).lines().count(), 2);
    screen.wait_for("Ask anything");
    screen.press("/undo\r");
    screen.wait_for("Restored 1 file.");
    assert_eq!(fs::read_to_string(work.join("src/price.rs")).unwrap(), before);
    assert_eq!(git(&["status", "--short"]), "");
}

/// A home with slothtool and a plugin that talks; where the system has no `node`, a shell
/// script stands in for it.
fn slothtool(bench: &TestDir) {
    use std::os::unix::fs::PermissionsExt;
    let home = bench.root.path().join("home");
    let (bin, root) = (home.join(".cargo/bin"), home.join(".slothtool"));
    let plugin = root.join("plugins/talk");
    for folder in [&bin, &plugin] {
        fs::create_dir_all(folder).unwrap();
    }
    let script = "#!/bin/sh\nshift\nif [ $# -gt 0 ]; then echo \"captured: $*\"; exit 0; fi\n\
                  printf 'your name? '\nread name\necho \"hello $name\"\nexit 0\n";
    fs::write(bin.join("node"), script).unwrap();
    fs::set_permissions(bin.join("node"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(plugin.join("package.json"), r#"{"slothtool": {"interactive": true}}"#).unwrap();
    let talk = "const args = process.argv.slice(2);\n\
                if (args.length) console.log('captured: ' + args.join(' '));\n\
                else {\n\
                  process.stdout.write('your name? ');\n\
                  process.stdin.once('data', (d) => {\n\
                    console.log('hello ' + d.toString().trim());\n\
                    process.exit(0);\n\
                  });\n\
                }\n";
    fs::write(plugin.join("talk.js"), talk).unwrap();
    let entry =
        json!({ "name": "@x/plugin-talk", "version": "1.2.0", "binPath": plugin.join("talk.js") });
    let registry = json!({ "plugins": { "talk": entry } });
    fs::write(root.join("registry.json"), registry.to_string()).unwrap();
}

#[test]
fn an_approved_interactive_plugin_borrows_the_terminal() {
    let bench = TestDir::new();
    slothtool(&bench);
    let run = |args: &[&str]| {
        let commands =
            json!([{ "tool": "plugin.run", "input": { "alias": "talk", "args": args } }]);
        json!({ "type": "cmd", "message": "I run it.", "data": { "commands": commands } })
            .to_string()
    };
    let done = json!({ "type": "chat", "message": "All plugins ran." }).to_string();
    let script = bench.root.path().join("replies.txt");
    fs::write(&script, [run(&["--top", "5"]), run(&[]), done].join("\n---\n")).unwrap();
    let mut screen = bench.start(&["--model", &format!("scripted:{}", script.display())]);
    screen.wait_for("scripted");
    screen.press("run them\r");
    screen.wait_for("--top");
    screen.answer("Run this?", "y");
    screen.wait_for("✓ Ran talk --top 5");
    screen.answer("args   []", "y");
    screen.wait_for("your name?");
    screen.press("Ada\r");
    screen.wait_for("All plugins ran.");
    screen.wait_for_bytes("hello ");
    screen.press("\x15/plugins\r");
    screen.wait_for("@x/plugin-talk 1.2.0");
    leave(&mut screen);
}

#[test]
fn plugins_are_listed_and_run_from_the_command_line() {
    let bench = TestDir::new();
    slothtool(&bench);
    let mut screen = bench.stranger(&["plugin", "list"]);
    screen.wait_for("@x/plugin-talk 1.2.0");
    assert_eq!(screen.wait_for_exit(), 0);
    let mut screen = bench.stranger(&["plugin", "run", "talk", "--top", "5"]);
    screen.wait_for("captured: --top 5");
    assert_eq!(screen.wait_for_exit(), 0);
    // What follows its name is the plugin's, also what Avocet has an option for.
    for args in [&["--help"][..], &["-h"], &["--json", "-c"], &["-V"], &["--", "x"]] {
        let mut screen = bench.stranger(&[&["plugin", "run", "talk"][..], args].concat());
        screen.wait_for(&format!("captured: {}", args.join(" ")));
        assert_eq!(screen.wait_for_exit(), 0);
    }
    let mut screen = bench.stranger(&["plugin", "run", "nothing"]);
    screen.wait_for("There is no plugin `nothing`");
    assert_ne!(screen.wait_for_exit(), 0);
}

#[test]
fn a_broken_registry_of_plugins_is_a_failure() {
    let bench = TestDir::new();
    slothtool(&bench);
    let registry = bench.root.path().join("home/.slothtool/registry.json");
    assert!(registry.is_file());
    fs::write(&registry, "{ broken").unwrap();
    for args in [&["plugin", "list"][..], &["plugin", "list", "--json"]] {
        let mut screen = bench.stranger(args);
        screen.wait_for("registry.json");
        assert_ne!(screen.wait_for_exit(), 0, "{args:?}");
    }
}

/// A command of two shell pieces, of which one makes a file.
fn two_pieces(bench: &TestDir) {
    let commands = bench.root.path().join("avocet/commands");
    fs::create_dir_all(&commands).unwrap();
    let prompt = "prompt = \"one: !{pwd} two: !{touch made; echo done}\"\n";
    fs::write(commands.join("two.toml"), prompt).unwrap();
}

#[test]
fn template_commands_ask_at_the_terminal() {
    let bench = TestDir::new();
    two_pieces(&bench);
    let render = ["command", "render", "two"];
    let mut screen = bench.start_with(&render, &[]);
    screen.wait_for("/two wants to run shell commands: 2.");
    screen.wait_for("touch made");
    screen.wait_for("Run `pwd` (runs by itself)? [y/n] >");
    screen.press("y\r");
    screen.wait_for("echo done` (asks)? [y/n] >");
    screen.press("what\r");
    // What is typed before the question is asked again answers nothing.
    let again = "Type y to run it, n to skip it.\nRun `touch made; echo done`";
    screen.wait_for(&format!("{again} (asks)? [y/n] >"));
    screen.press("n\r");
    screen.wait_for("did not allow this command");
    assert_eq!(screen.wait_for_exit(), 0);
    assert!(!bench.work().join("made").exists());

    let mut screen = bench.start_with(&render, &[("LANG", "zh_CN.UTF-8")]);
    screen.wait_for("运行 `pwd`（直接运行）吗？[y/n] >");
    screen.press("\r");
    screen.wait_for("echo done`（需确认）吗？[y/n] >");
    screen.press("否\r");
    screen.wait_for("没有发送");
    assert_eq!(screen.wait_for_exit(), 3);

    let mut screen = bench.start_with(&render, &[]);
    screen.wait_for("[y/n]");
    screen.press("\x03");
    assert_eq!(screen.wait_for_exit(), 130);

    let mut screen = bench.start_with(&["command", "render", "two", "-y"], &[]);
    screen.wait_for("two: done");
    assert_eq!(screen.wait_for_exit(), 0);
}

#[test]
fn a_script_at_a_terminal_asks_before_each_step() {
    let bench = TestDir::new();
    fs::write(bench.work().join("one.ai.yaml"), "$exec: {program: touch, args: [made]}\n").unwrap();
    let run = ["run", "one"];
    let made = bench.work().join("made");
    let mut screen = bench.start_with(&run, &[]);
    screen.wait_for("touch made");
    screen.wait_for("Run it? [y/n] >");
    screen.press("n\r");
    assert_eq!((screen.wait_for_exit(), made.exists()), (3, false));
    let mut screen = bench.start_with(&run, &[]);
    screen.wait_for("Run it? [y/n] >");
    screen.press("what\r");
    screen.wait_for("Type y to run it, n to skip it.\nRun it? [y/n] >");
    screen.press("y\r");
    assert_eq!((screen.wait_for_exit(), made.exists()), (0, true));
    let mut screen = bench.start_with(&run, &[("LANG", "zh_CN.UTF-8")]);
    screen.wait_for("运行吗？[y/n] >");
    screen.press("\x03");
    assert_eq!(screen.wait_for_exit(), 130);
}

#[test]
fn y_approves_template_commands_on_the_screen_and_in_plain_mode() {
    for linear in [false, true] {
        let bench = TestDir::new();
        two_pieces(&bench);
        let server =
            Server::start(vec![commands(&[("mkdir", &["folder"])]), Reply::chat("It is done.")]);
        let url = server.base_url();
        let mut args = vec!["-y", "--base-url", &url, "--model", "loop-1"];
        args.extend(linear.then_some("--linear"));
        let mut screen = bench.start(&args);
        screen.wait_for("The model's steps still ask.");
        screen.press("/two\r");
        screen.wait_for("Allowed by -y: the shell commands of /two (2).");
        screen.wait_for(if linear { "A step needs your OK" } else { "mkdir folder" });
        assert!(bench.work().join("made").exists());
        assert!(!bench.work().join("folder").exists(), "a step is no piece");
    }
}

/// The models and the last words of all that was asked.
fn asked(server: &Server) -> Vec<(String, String)> {
    let of = |request: server::ReceivedRequest| {
        let body = request.json();
        let last = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
        (body["model"].as_str().unwrap().to_owned(), last.as_str().unwrap().to_owned())
    };
    server.requests().into_iter().map(of).collect()
}

/// The column in which the input begins.
const HOME: u16 = 2;

/// Begins a turn and lets these wait for its end.
fn queues(screen: &mut Screen, server: &Server, lines: &[&str]) {
    screen.wait_for_column(HOME);
    screen.press("zero\r");
    server.wait_for_requests(1);
    screen.wait_for("Esc stops");
    for (waiting, line) in lines.iter().enumerate() {
        screen.press(line);
        screen.wait_for(line);
        screen.press(if line.starts_with('/') { "\r" } else { "\t" });
        screen.wait_for_column(HOME);
        // It is in the queue: three are shown, the rest are counted.
        match waiting.checked_sub(2) {
            None | Some(0) => screen.wait_for(line),
            Some(more) => screen.wait_for(&format!("and {more} more")),
        }
    }
}

#[test]
fn the_queue_runs_in_the_shown_order_after_edits_and_removals() {
    let bench = TestDir::new();
    let slow = Reply::chat("Slowly.").held();
    let replies = (1..=3).map(|n| Reply::chat(&format!("Answer {n}.")));
    let server = Server::start([slow].into_iter().chain(replies).collect());
    let mut screen = bench.against(&server);
    queues(&mut screen, &server, &["one", "/model second", "two", "gone", "/model third", "three"]);
    // The last is picked first; two up from it is the one to take out.
    screen.press("\x1b[A");
    screen.wait_for("three");
    screen.press("\x1b[A\x1b[A");
    screen.press("\x1b[3~");
    screen.wait_until_gone("gone");
    // While a turn runs, a late Esc would stop that.
    screen.wait_until_gone("edit the queue");
    screen.press("\x1b");
    screen.wait_for("edit the queue");
    server.release();
    screen.wait_for("Answer 3.");
    screen.wait_until_idle();
    let pair = |model: &str, text: &str| (model.to_owned(), text.to_owned());
    let expected = [
        pair("loop-1", "zero"),
        pair("loop-1", "one"),
        pair("second", "two"),
        pair("third", "three"),
    ];
    assert_eq!(asked(&server), expected);
}

#[test]
fn a_queued_message_brought_back_and_a_steered_one_leave_the_others_in_order() {
    let bench = TestDir::new();
    let slow = Reply::chat("Slowly.").held();
    let replies = (1..=4).map(|n| Reply::chat(&format!("Answer {n}.")));
    let server = Server::start([slow].into_iter().chain(replies).collect());
    let mut screen = bench.against(&server);
    queues(&mut screen, &server, &["one", "two", "three"]);
    screen.press("\x1b[A\x1b[A\r");
    screen.wait_for("› two");
    screen.press(" again\t");
    screen.wait_for("two again");
    screen.press("/steer now");
    screen.wait_for("/steer now");
    screen.press("\r");
    screen.wait_for_column(HOME);
    server.release();
    screen.wait_for("Answer 4.");
    screen.wait_until_idle();
    let texts: Vec<String> = asked(&server).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["zero", "now", "one", "three", "two again"]);
}

#[test]
fn a_stop_returns_the_queue_to_the_input_and_starts_nothing() {
    let bench = TestDir::new();
    let hanging = Reply::chat("Slowly.").hang_after(3);
    let server = Server::start(vec![hanging, Reply::chat("Answer 1.")]);
    let mut screen = bench.against(&server);
    queues(&mut screen, &server, &["one", "two"]);
    screen.press("\x1b");
    screen.wait_for("Stopped.");
    screen.wait_until_idle();
    screen.press(" three\r");
    screen.wait_for("Answer 1.");
    let texts: Vec<String> = asked(&server).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[1].ends_with("one\ntwo three"), "{texts:?}");
}

#[test]
fn a_truncated_queue_says_how_many_more_there_are() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Slowly.").hang_after(3)]);
    let mut screen = bench.against(&server);
    queues(&mut screen, &server, &["one", "two", "three", "four", "five"]);
    screen.wait_for("and 2 more");
}

#[test]
fn a_message_truncated_in_its_request_says_so() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Much."), Reply::chat("Little.")]);
    let mut screen = bench.against(&server);
    let lines: String = (0..40_000).map(|n| format!("line {n} and what is in it\n")).collect();
    screen.paste(&lines);
    screen.wait_for("pasted");
    screen.press("\r");
    screen.wait_for("too long for one request");
    screen.wait_for("Much.");
    assert!(last_sent(&server).contains("left out"));
    screen.wait_until_idle();
    screen.press("/clear\r");
    screen.wait_until_gone("too long for one request");
    screen.press("short\r");
    screen.wait_for("Little.");
    assert!(!screen.text().contains("too long for one request"), "{}", screen.text());
}

#[test]
fn the_trust_question_warns_of_home_root_and_shared_folders() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let bench = TestDir::new();
    let folder = |name: &str, mode: u32| {
        let path = bench.root.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let home = bench.root.path().join("home");
    let others = folder("others", 0o755);
    let mut cases = vec![
        (home.clone(), Some("your home folder")),
        (PathBuf::from("/"), Some("Careful")),
        (PathBuf::from("/tmp"), Some("Careful")),
        (folder("open", 0o777), Some("every user of this machine can change")),
        (folder("sticky", 0o1777), Some("every user of this machine can change")),
        (folder("plain", 0o755), None),
    ];
    match chown(&others, Some(4711), Some(4711)) {
        Ok(()) => cases.push((others, Some("another user"))),
        Err(why) => println!("no folder of another user: {why}"),
    }
    let avocet = bench.root.path().join("avocet");
    let envs = [("HOME", home.to_str().unwrap()), ("AVOCET_HOME", avocet.to_str().unwrap())];
    for (folder, warning) in cases {
        let screen = Screen::start(&["--model", "guide"], &envs, &folder, (100, 40));
        screen.wait_for("Do you trust this folder?");
        match warning {
            Some(warning) => screen.wait_for(warning),
            None => assert!(!screen.text().contains("Careful"), "{}", screen.text()),
        }
    }
}

#[test]
fn a_truncated_command_list_says_how_many_more_there_are() {
    let bench = TestDir::new();
    let folder = bench.root.path().join("avocet/commands");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..300 {
        fs::write(folder.join(format!("own{number}.toml")), "prompt = \"hello\"\n").unwrap();
    }
    let mut screen = bench.start(&[]);
    screen.wait_for("not a language model");
    screen.press("/own");
    screen.wait_for("1/200");
    screen.wait_for("and 100 more");
}
