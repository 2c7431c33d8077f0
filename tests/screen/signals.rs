//! Deaths, stops and strange input: the terminal is always restored, no process of a step survives,
//! and what a terminal sends is never taken for the user's input.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::pty::{Modes, Screen};
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

trait SignalsDir {
    fn screen(&self, args: &[&str]) -> Screen;
    fn screen_in_a_shell(&self) -> Screen;
    fn against(&self, server: &Server) -> Screen;
    fn silent_command(&self, args: &[&str]) -> Command;
}

impl SignalsDir for TestDir {
    fn screen(&self, args: &[&str]) -> Screen {
        let work = self.work().display().to_string();
        let args: Vec<&str> = ["--trust", &work].iter().chain(args).copied().collect();
        let envs = self.envs();
        Screen::start(&args, &envs, &self.work(), (80, 24))
    }

    /// As users start it. A terminal whose first process ends is closed for all others.
    fn screen_in_a_shell(&self) -> Screen {
        let work = self.work().display().to_string();
        let line = "\"$@\"; echo the shell goes on; read line";
        let args = ["-c", line, "sh", env!("CARGO_BIN_EXE_avocet"), "--trust", &work];
        let envs = self.envs();
        let envs: Vec<(&str, &str)> = envs.iter().map(|(name, value)| (*name, &**value)).collect();
        Screen::start_program("sh", &args, &envs, &self.work(), (80, 24))
    }

    fn against(&self, server: &Server) -> Screen {
        let screen = self.screen(&["--base-url", &server.base_url(), "--model", "loop-1"]);
        screen.wait_for("loop-1");
        screen
    }

    /// Its output goes nowhere.
    fn silent_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

fn step(program: &str, args: &[&str]) -> Reply {
    let commands = [json!({ "program": program, "args": args, "requires": {} })];
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    Reply::text(&json!({ "type": "cmd", "message": "Let me try.", "data": data }).to_string(), 8)
}

/// How many programs with this last argument run.
fn sleeps(seconds: &str) -> usize {
    let end = format!("sleep\0{seconds}\0");
    let lines = fs::read_dir("/proc").unwrap().flatten();
    let lines = lines.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).ends_with(&end)).count()
}

/// Whether the program with this last argument carries the mark of a step.
fn is_marked(seconds: &str) -> bool {
    let end = format!("sleep\0{seconds}\0");
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let limits = fs::read_to_string(entry.path().join("limits")).unwrap_or_default();
        let limit = limits.lines().find(|line| line.starts_with("Max realtime timeout"));
        String::from_utf8_lossy(&line).ends_with(&end)
            && limit.is_some_and(|limit| limit.chars().any(|c| c.is_ascii_digit()))
    })
}

fn kill(signal: &str, id: u32) {
    let status = Command::new("kill").args([&format!("-{signal}"), &id.to_string()]).status();
    assert!(status.unwrap().success());
}

fn has_watchdog(id: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).any(
        |id| {
            fs::read_to_string(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| line.contains("__watchdog"))
        },
    )
}

fn child_of(id: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

/// Those that end a program which does nothing about them, and can be caught.
const ENDING: &[(&str, u32)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("TRAP", 5),
    ("ABRT", 6),
    ("USR1", 10),
    ("USR2", 12),
    ("ALRM", 14),
    ("TERM", 15),
    ("STKFLT", 16),
    ("XCPU", 24),
    ("VTALRM", 26),
    ("PROF", 27),
    ("IO", 29),
    ("PWR", 30),
    ("SYS", 31),
    ("34", 34),
    ("64", 64),
];

#[test]
fn any_signal_restores_the_terminal_and_sets_the_exit_code() {
    let bench = TestDir::new();
    for (name, number) in ENDING {
        let mut screen = bench.screen(&[]);
        screen.wait_for("not a language model");
        screen.signal(name);
        assert_eq!(screen.wait_for_exit(), 128 + number, "{name}");
        assert_eq!(screen.modes(), Modes::default(), "{name}");
    }
}

#[test]
fn a_file_size_limit_does_not_end_the_program() {
    let bench = TestDir::new();
    let mut screen = bench.screen(&[]);
    screen.wait_for("not a language model");
    screen.signal("XFSZ");
    screen.press("still here");
    screen.wait_for("still here");
}

#[test]
fn an_uncatchable_kill_restores_the_terminal_too() {
    for name in ["KILL", "SEGV", "BUS"] {
        // A new one each time: a draft that is restored would be seen before it is typed.
        let bench = TestDir::new();
        let mut screen = bench.screen_in_a_shell();
        screen.wait_for("not a language model");
        screen.press("typed");
        screen.wait_for("typed");
        let id = child_of(screen.id());
        wait_until("the second process runs", || has_watchdog(id));
        kill(name, id);
        if name != "KILL" {
            // The first of these two is taken for a fault of the program, and tried again.
            kill("KILL", id);
        }
        // The second process of the program does it once it sees that the first is gone.
        screen.wait_for_modes(Modes::default());
    }
}

#[test]
fn a_hang_up_during_a_question_does_not_panic() {
    let bench = TestDir::new();
    let server = Server::start(vec![step("touch", &["made"])]);
    let mut screen = bench.against(&server);
    screen.press("go\r");
    screen.wait_for("Run this?");
    assert_eq!(screen.hang_up_and_wait(), 129);
    assert!(!bench.work().join("made").exists());
}

#[test]
fn an_external_stop_restores_the_terminal_and_continuing_redraws() {
    let bench = TestDir::new();
    for name in ["TSTP", "TTIN", "TTOU"] {
        let mut screen = bench.screen(&[]);
        screen.wait_for("not a language model");
        screen.press("half a thought");
        screen.wait_for("half a thought");
        screen.signal(name);
        wait_until("it stops", || screen.is_stopped());
        wait_until("the terminal is given back", || screen.modes() == Modes::default());
        screen.signal("CONT");
        screen.wait_for("half a thought");
        assert!(screen.modes().alternate && screen.modes().mouse, "{name}");
        screen.press(" goes on");
        screen.wait_for("half a thought goes on");
        screen.signal("TERM");
        assert_eq!(screen.wait_for_exit(), 143);
        assert_eq!(screen.modes(), Modes::default());
    }
}

#[test]
fn an_uncatchable_stop_redraws_when_continued() {
    let bench = TestDir::new();
    let mut screen = bench.screen(&[]);
    screen.wait_for("not a language model");
    screen.signal("STOP");
    wait_until("it stops", || screen.is_stopped());
    let before = screen.raw().len();
    screen.signal("CONT");
    wait_until("it draws", || screen.raw().len() > before + 500);
    screen.press("still here");
    screen.wait_for("still here");
    screen.signal("TERM");
    screen.wait_for_exit();
    assert_eq!(screen.modes(), Modes::default());
}

#[test]
fn a_terminal_left_in_raw_mode_is_restored_to_ordinary_modes() {
    let bench = TestDir::new();
    let work = bench.work().display().to_string();
    // As after a program that was killed.
    let script =
        format!("stty raw -echo; {} --trust {work}; stty -a", env!("CARGO_BIN_EXE_avocet"));
    let envs = bench.envs();
    let mut screen =
        Screen::start_program("/bin/sh", &["-c", &script], &envs, &bench.work(), (80, 24));
    screen.wait_for("not a language model");
    screen.press("/exit\r");
    screen.wait_for(" icanon");
    let text = screen.text();
    for mode in ["opost", "isig", "echo", "icrnl"] {
        assert!(text.split_whitespace().any(|word| word == mode), "{mode}: {text}");
    }
}

#[test]
fn time_spent_stopped_does_not_count_as_server_silence() {
    let bench = TestDir::new();
    bench.settings("[limits]\nidle_timeout_s = 8\n");
    let words: Vec<String> = (1..=40).map(|n| format!("word{n}")).collect();
    let text = json!({ "type": "chat", "message": words.join(" ") }).to_string();
    let slow = Reply::text(&text, 40).pause(Duration::from_millis(50));
    let server = Server::start(vec![slow]);
    let mut screen = bench.against(&server);
    screen.press("go\r");
    screen.wait_for("word3");
    screen.signal("STOP");
    wait_until("it stops", || screen.is_stopped());
    let stopped = Instant::now();
    // Longer than the limit.
    wait_until("time goes by", || stopped.elapsed() > Duration::from_secs(10));
    screen.signal("CONT");
    screen.wait_for("word40");
    assert!(!screen.text().contains("sent nothing"), "{}", screen.text());
    assert_eq!(server.requests().len(), 1);
}

/// Every way without a screen in which a step may run.
fn ways(bench: &TestDir, server: &Server, at: &str) -> Vec<Vec<String>> {
    let script = bench.work().join(format!("wait-{at}.ai.yaml"));
    fs::write(&script, format!("- $exec:\n    command: sleep\n    args: [\"{at}\"]\n")).unwrap();
    let model = ["--base-url".to_owned(), server.base_url(), "--model".into(), "loop-1".into()];
    let with = |more: &[&str]| {
        model.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect()
    };
    vec![with(&["-p", "-y", "go"]), with(&["--json", "-p", "-y", "go"])]
}

#[test]
fn a_signal_ends_the_running_step_in_every_headless_mode() {
    let bench = TestDir::new();
    // Numbers of this run's own: others may run beside it.
    let mut at = 2_000_000_000 + u64::from(std::process::id()) * 20;
    for (name, number) in [("TERM", 15), ("HUP", 1), ("QUIT", 3), ("USR1", 10), ("ALRM", 14)] {
        for way in 0..2 {
            at += 1;
            let seconds = at.to_string();
            let server = Server::start(vec![step("sleep", &[&seconds])]);
            let args = &ways(&bench, &server, &seconds)[way];
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut child = bench.silent_command(&args).spawn().unwrap();
            wait_until("the step runs", || sleeps(&seconds) == 1);
            kill(name, child.id());
            let status = child.wait().unwrap();
            assert_eq!(status.code(), Some(128 + number), "{name} {args:?} {:?}", status.signal());
            assert_eq!(sleeps(&seconds), 0, "{name} {args:?}");
        }
    }
}

#[test]
fn a_step_does_not_outlive_an_uncatchable_kill() {
    let bench = TestDir::new();
    // Numbers of this run's own: others may run beside it.
    let at = 1_000_000_000 + u64::from(std::process::id()) * 10;
    let [one, two, three] = [1, 2, 3].map(|n| (at + n).to_string());
    let line = format!("setsid sleep {one} & (env -i setsid sleep {two} &) ; sleep {three}");
    // The first runs by itself, so nothing that starts with it may be held as it is.
    let server = Server::start(vec![step("ls", &[]), step("bash", &["-c", &line])]);
    let model = ["--base-url", &server.base_url(), "--model", "loop-1", "-p", "-y", "go"];
    let mut child = bench.silent_command(&model).spawn().unwrap();
    let all = || [&one, &two, &three].map(|seconds| sleeps(seconds));
    wait_until("the step runs", || all() == [1, 1, 1]);
    // Told apart from others by a limit, which takes a moment after its start.
    wait_until("what left the session is known", || is_marked(&two));
    kill("KILL", child.id());
    child.wait().unwrap();
    wait_until("all has ended", || all() == [0, 0, 0]);
}

/// Whether two pieces 30 ms apart are one key: "ab", with a "=" typed after the key, is as wanted.
/// On a busy machine the second piece may come later than it was sent, so it is tried again.
fn is_one_key(screen: &mut Screen, (first, second): (&str, &str), wanted: &str) -> bool {
    (0..40).any(|_| {
        screen.press("\x05\x15");
        screen.wait_until_gone("=");
        screen.press("ab");
        screen.wait_for("ab");
        screen.press(first);
        std::thread::sleep(Duration::from_millis(30));
        screen.press(second);
        // Not a letter: the name of the folder may have it.
        screen.press("=");
        screen.wait_for("=");
        screen.text().contains(wanted)
    })
}

#[test]
fn a_split_escape_sequence_is_one_key() {
    let bench = TestDir::new();
    let mut screen = bench.screen(&[]);
    screen.wait_for("not a language model");
    for (pieces, wanted) in [
        (("\x1b", "[D"), "a=b"),
        (("\x1b[", "D"), "a=b"),
        // With Shift it does nothing.
        (("\x1b[1", ";2D"), "ab="),
        (("\x1bO", "D"), "a=b"),
    ] {
        assert!(is_one_key(&mut screen, pieces, wanted), "{pieces:?}: {}", screen.text());
    }
}

#[test]
fn an_escape_sequence_in_pieces_30_ms_apart_is_one_key_and_a_lone_escape_acts() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Slowly.").hang_after(3)]);
    let mut screen = bench.against(&server);
    for pieces in [("\x1b", "[D"), ("\x1b[", "D")] {
        assert!(is_one_key(&mut screen, pieces, "a=b"), "{pieces:?}: {}", screen.text());
    }
    screen.press("\x05\x15go\r");
    server.wait_for_requests(1);
    screen.wait_until_gone("It proposes.");
    screen.wait_for("Esc stops");
    screen.press("\x1b");
    screen.wait_until_idle();
}

#[test]
fn lines_that_arrive_at_once_are_one_edit_and_send_nothing() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Got it.")]);
    let mut screen = bench.against(&server);
    screen.press("one\rtwo\rthree");
    screen.wait_for("three");
    assert!(screen.text().contains("one") && server.requests().is_empty(), "{}", screen.text());
    screen.press("\r");
    screen.wait_for("Got it.");
    let sent = server.requests()[0].json()["messages"].to_string();
    assert!(sent.contains(r"one\ntwo\nthree"), "{sent}");
}

#[test]
fn a_megabyte_without_paste_brackets_is_one_edit() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Got it.")]);
    let mut screen = bench.against(&server);
    let lines: String = (0..20_000).map(|n| format!("line {n} 你好 and more of it\r")).collect();
    screen.press(&lines);
    screen.wait_for("pasted");
    assert!(server.requests().is_empty());
    screen.press("\x15still here");
    screen.wait_for("still here");
}

#[test]
fn input_directly_after_a_paste_answers_no_question() {
    let bench = TestDir::new();
    let server = Server::start(vec![step("touch", &["made"]), Reply::chat("Understood.")]);
    let mut screen = bench.against(&server);
    screen.press("go\r");
    screen.wait_for("Run this?");
    let opened = Instant::now();
    wait_until("the question takes keys", || opened.elapsed() > Duration::from_millis(1500));
    for _ in 0..5 {
        screen.press("\x1b[200~text\x1b[201~y");
        screen.press("\x1b[200~text\x1b[201~y\r\x1b[201~");
    }
    assert!(!screen.shows_within("Understood.", Duration::from_millis(500)));
    assert!(!bench.work().join("made").exists());
}

#[test]
fn terminal_replies_to_other_programs_are_not_typed() {
    let bench = TestDir::new();
    let mut screen = bench.screen(&[]);
    screen.wait_for("not a language model");
    for answer in [
        "\x1bP>|xterm(379)\x1b\\",
        "\x1b[>41;380;0c",
        "\x1b[?64;1;2c",
        "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
        "\x1b]52;c;aGk=\x07",
        "\x1b[4;600;800t",
    ] {
        screen.press(answer);
    }
    screen.press("typed");
    screen.wait_for("› typed");
}

/// A program for the terminal that ends when it may, and says when it runs.
fn editor(bench: &TestDir, trapped: &str) -> String {
    let path = bench.root.path().join("editor");
    let lines = format!(
        "#!/bin/sh\ntrap '' {trapped}\necho $$ > editor.pid\n\
         while [ ! -e done ]; do sleep 0.05; done\n[ -z \"$1\" ] || echo edited > \"$1\"\n"
    );
    fs::write(&path, lines).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Another program has the terminal: the editor, or one that was started with `!`.
fn lent(bench: &TestDir, server: &Server, own: bool, trapped: &str) -> Screen {
    let editor = editor(bench, trapped);
    let (work, url) = (bench.work().display().to_string(), server.base_url());
    let mut envs = bench.envs();
    envs.push(("VISUAL", editor.clone()));
    let args = ["--trust", &work, "--base-url", &url, "--model", "loop-1"];
    let mut screen = Screen::start(&args, &envs, &bench.work(), (80, 24));
    screen.wait_for("loop-1");
    if own {
        screen.press("a draft");
        screen.wait_for("a draft");
        screen.press("\x07");
    } else {
        screen.press(&format!("!{editor}\r"))
    }
    // The file is there before its content is.
    wait_until("it runs", || {
        fs::read_to_string(bench.work().join("editor.pid")).is_ok_and(|id| id.ends_with('\n'))
    });
    screen
}

fn editor_is_running(bench: &TestDir) -> bool {
    let id = fs::read_to_string(bench.work().join("editor.pid")).unwrap();
    std::path::Path::new(&format!("/proc/{}", id.trim())).exists()
}

#[test]
fn ctrl_backslash_and_ctrl_c_in_the_editor_are_the_editors() {
    for key in ["\x1c", "\x03"] {
        let bench = TestDir::new();
        let server = Server::start(vec![Reply::chat("It is here.")]);
        let mut screen = lent(&bench, &server, true, "INT QUIT");
        screen.press(key);
        // It is read in order: when the next one has come, so has this.
        screen.press(key);
        screen.wait_for_bytes(if key == "\x1c" { "^\\" } else { "^C" });
        fs::write(bench.work().join("done"), "").unwrap();
        screen.wait_for("edited");
        screen.press("\r");
        screen.wait_for("It is here.");
    }
}

#[test]
fn ctrl_backslash_that_kills_the_editor_keeps_the_draft_and_the_program() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("It is here.")]);
    let mut screen = lent(&bench, &server, true, "HUP");
    screen.press("\x1c");
    wait_until("the editor is gone", || !editor_is_running(&bench));
    // The draft was shown before: only this shows that the program reads keys again.
    screen.wait_for("Your editor");
    screen.wait_for("a draft");
    screen.press("\r");
    screen.wait_for("It is here.");
}

#[test]
fn ctrl_z_in_the_editor_stops_both_and_both_continue() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("It is here.")]);
    let mut screen = lent(&bench, &server, true, "INT");
    screen.press("\x1a");
    wait_until("it is stopped", || screen.is_stopped());
    wait_until("the terminal is given back", || screen.modes() == Modes::default());
    let id = fs::read_to_string(bench.work().join("editor.pid")).unwrap();
    // As a shell does it with `fg`.
    kill("CONT", id.trim().parse().unwrap());
    screen.signal("CONT");
    fs::write(bench.work().join("done"), "").unwrap();
    screen.wait_for("edited");
    screen.press("\r");
    screen.wait_for("It is here.");
}

#[test]
fn a_signal_while_an_editor_has_the_terminal_ends_both_and_restores_it() {
    for own in [true, false] {
        for (name, number) in [("TERM", 15), ("HUP", 1), ("USR1", 10), ("ABRT", 6), ("PWR", 30)] {
            let bench = TestDir::new();
            let server = Server::start(vec![]);
            let mut screen = lent(&bench, &server, own, "INT");
            screen.signal(name);
            assert_eq!(screen.wait_for_exit(), 128 + number, "{name}");
            assert_eq!(screen.modes(), Modes::default(), "{name}");
            wait_until("the other is gone", || !editor_is_running(&bench));
        }
    }
}

/// What the program is at when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalMoment {
    Idle,
    Streaming,
    Asking,
    Step,
}

fn at(bench: &TestDir, at: SignalMoment, seconds: &str) -> (Server, Screen) {
    let reply = match at {
        SignalMoment::Idle | SignalMoment::Streaming => {
            Reply::chat("Slowly it comes.").hang_after(6)
        }
        SignalMoment::Asking | SignalMoment::Step => step("sleep", &[seconds]),
    };
    let server = Server::start(vec![reply]);
    let mut screen = bench.against(&server);
    if at != SignalMoment::Idle {
        screen.press("go\r");
    }
    match at {
        SignalMoment::Idle => {}
        SignalMoment::Streaming => screen.wait_for("Esc stops"),
        SignalMoment::Asking => screen.wait_for("Run this?"),
        SignalMoment::Step => {
            screen.answer("Run this?", "y");
            wait_until("the step runs", || sleeps(seconds) == 1);
        }
    }
    (server, screen)
}

const EVERY: [SignalMoment; 4] =
    [SignalMoment::Idle, SignalMoment::Streaming, SignalMoment::Asking, SignalMoment::Step];

#[test]
fn in_every_situation_a_signal_restores_the_terminal_and_ends_the_step() {
    let mut number = 986_000 + std::process::id() % 1_000 * 1_000;
    for now in EVERY {
        for (name, code) in [("TERM", 15), ("HUP", 1), ("INT", 2), ("QUIT", 3), ("USR1", 10)] {
            number += 1;
            let (bench, seconds) = (TestDir::new(), number.to_string());
            let (_server, mut screen) = at(&bench, now, &seconds);
            screen.signal(name);
            assert_eq!(screen.wait_for_exit(), 128 + code, "{now:?} {name}");
            assert_eq!(screen.modes(), Modes::default(), "{now:?} {name}");
            assert_eq!(sleeps(&seconds), 0, "{now:?} {name}");
        }
    }
}

#[test]
fn in_every_situation_a_hang_up_ends_the_program_and_the_step() {
    let mut number = 985_000 + std::process::id() % 1_000 * 1_000;
    for now in EVERY {
        number += 1;
        let (bench, seconds) = (TestDir::new(), number.to_string());
        let (_server, screen) = at(&bench, now, &seconds);
        assert_eq!(screen.hang_up_and_wait(), 129, "{now:?}");
        assert_eq!(sleeps(&seconds), 0, "{now:?}");
    }
}
