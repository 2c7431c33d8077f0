//! Programs that want the terminal: a line that the user typed gets it, everything else a sentence.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::bench::TestDir;
use crate::support::pty::{Modes, Screen};
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

/// Puts a program of this name before all others.
fn program(bench: &TestDir, name: &str, lines: &str) {
    let path = bench.path("bin").join(name);
    fs::create_dir_all(bench.path("bin")).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{lines}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// An editor that takes one line, and ends with its second argument.
fn editor(bench: &TestDir) {
    let lines = "test -t 0 && test -t 1 && test -t 2 || exit 9\nstty -a > modes\n\
                 echo $$ > editor.pid\nprintf 'EDITING %s\\n' \"$1\"\nread line\n\
                 printf '%s\\n' \"$line\" > \"$1\"\nexit ${2:-0}\n";
    program(bench, "vim", lines);
}

fn path_variable(bench: &TestDir) -> String {
    format!("{}:/usr/local/bin:/usr/bin:/bin", bench.path("bin").display())
}

fn screen(bench: &TestDir, server: &Server) -> Screen {
    let work = bench.work().display().to_string();
    let mut envs = bench.envs();
    envs.push(("PATH", path_variable(bench)));
    envs.push(("SHELL", "/bin/bash".to_owned()));
    let url = server.base_url();
    let args = ["--trust", &work, "--base-url", &url, "--model", "loop-1"];
    let screen = Screen::start(&args, &envs, &bench.work(), (100, 30));
    screen.wait_for("loop-1");
    screen
}

/// Waits until the file holds a whole line, which is then the answer.
#[track_caller]
fn line_of(file: &Path) -> String {
    wait_until("the file is written", || {
        fs::read_to_string(file).is_ok_and(|text| text.ends_with('\n'))
    });
    fs::read_to_string(file).unwrap().trim().to_owned()
}

fn is_running(id: &str) -> bool {
    Path::new("/proc").join(id).exists()
}

#[track_caller]
fn leave(screen: &mut Screen) {
    // Ctrl-C stops what still runs.
    screen.wait_until_idle();
    // Both at once: the second one counts for three seconds only, which a busy machine may exceed.
    screen.press("\x03\x03");
    assert_eq!(screen.wait_for_exit(), 0);
    assert_eq!(screen.modes(), Modes::default());
}

#[test]
fn an_editor_typed_with_an_exclamation_mark_gets_the_terminal() {
    let bench = TestDir::new();
    editor(&bench);
    let server = Server::start(vec![Reply::chat("I have seen it.")]);
    let mut screen = screen(&bench, &server);
    screen.press("!vim note.txt\r");
    screen.wait_for("EDITING note.txt");
    screen.wait_for_modes(Modes::default());
    // Its keys are its own.
    screen.press("hello ? /quit\r");
    assert_eq!(line_of(&bench.work().join("note.txt")), "hello ? /quit");
    screen.wait_for("! vim note.txt");
    screen.wait_until_gone("EDITING");
    screen.wait_for("It had the terminal");
    screen.wait_for("✓");
    // The model is told that it ran.
    screen.press("what now?\r");
    screen.wait_for("I have seen it.");
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    assert!(sent.contains("The user ran `vim note.txt`"), "{sent}");
    assert!(!sent.contains("EDITING"), "{sent}");
    screen.wait_until_idle();
    leave(&mut screen);
}

#[test]
fn what_a_failing_program_left_on_the_terminal_stays_until_a_key() {
    let bench = TestDir::new();
    editor(&bench);
    let server = Server::start(vec![]);
    let mut screen = screen(&bench, &server);
    screen.press("!vim note.txt 4\r");
    screen.wait_for("EDITING note.txt");
    screen.press("\r");
    screen.wait_for("Press any key to go back to Avocet.");
    assert!(screen.text().contains("EDITING note.txt"), "{}", screen.text());
    screen.press("x");
    screen.wait_until_gone("EDITING");
    screen.wait_for("exit 4");
    // The key did nothing else.
    screen.wait_for("Ask anything");
    leave(&mut screen);
}

#[test]
fn a_program_that_is_killed_leaves_its_modes_to_nobody() {
    let bench = TestDir::new();
    editor(&bench);
    program(&bench, "nano", "stty raw -echo\necho RAW\nkill -9 $$\n");
    let server = Server::start(vec![]);
    let mut screen = screen(&bench, &server);
    screen.press("!nano note.txt\r");
    screen.wait_for("Press any key to go back to Avocet.");
    screen.press("x");
    screen.wait_for("! nano note.txt");
    screen.press("!vim note.txt\r");
    screen.wait_for("EDITING note.txt");
    screen.press("\r");
    screen.wait_for("It had the terminal");
    let modes = fs::read_to_string(bench.work().join("modes")).unwrap();
    for mode in ["icanon", "echo", "isig"] {
        assert!(modes.split_whitespace().any(|word| word == mode), "{mode}: {modes}");
    }
    leave(&mut screen);
}

#[test]
fn ctrl_c_is_for_the_program_that_has_the_terminal() {
    let bench = TestDir::new();
    let lines = "trap 'echo CAUGHT' INT\necho READY\n\
                 while [ ! -e done ]; do sleep 0.05; done\nexit 0\n";
    program(&bench, "python3", lines);
    let server = Server::start(vec![]);
    let mut screen = screen(&bench, &server);
    screen.press("!python3\r");
    screen.wait_for("READY");
    screen.press("\x03");
    screen.wait_for("CAUGHT");
    fs::write(bench.work().join("done"), "").unwrap();
    screen.wait_for("It had the terminal");
    leave(&mut screen);
}

#[test]
fn a_signal_ends_the_program_that_has_the_terminal_and_restores_it() {
    for (name, number) in [("TERM", 15), ("HUP", 1)] {
        let bench = TestDir::new();
        editor(&bench);
        let server = Server::start(vec![]);
        let mut screen = screen(&bench, &server);
        screen.press("!vim note.txt\r");
        screen.wait_for("EDITING note.txt");
        let id = line_of(&bench.work().join("editor.pid"));
        screen.signal(name);
        assert_eq!(screen.wait_for_exit(), 128 + number, "{name}");
        assert_eq!(screen.modes(), Modes::default(), "{name}");
        wait_until("the program is gone", || !is_running(&id));
    }
}

#[test]
fn what_a_program_with_the_terminal_leaves_behind_is_ended() {
    let bench = TestDir::new();
    program(&bench, "vim", "setsid sleep 600 &\necho $! > left.pid\n");
    let server = Server::start(vec![]);
    let mut screen = screen(&bench, &server);
    screen.press("!vim\r");
    screen.wait_for("! vim");
    let id = line_of(&bench.work().join("left.pid"));
    wait_until("it is ended", || !is_running(&id));
    screen.wait_for("It had the terminal");
    leave(&mut screen);
}

#[test]
fn a_line_of_high_risk_asks_before_it_gets_the_terminal() {
    let bench = TestDir::new();
    editor(&bench);
    program(&bench, "sudo", "exec \"$@\"\n");
    let server = Server::start(vec![]);
    let mut screen = screen(&bench, &server);
    screen.press("!sudo vim note.txt\r");
    screen.answer("Run this", "n");
    screen.wait_for("Ask anything");
    assert!(!bench.work().join("editor.pid").exists(), "{}", screen.text());
    leave(&mut screen);
}

#[test]
fn a_line_in_the_background_and_a_step_of_the_model_get_a_sentence() {
    let bench = TestDir::new();
    editor(&bench);
    let step = Reply::cmd("I edit it.", "vim", &["note.txt"]);
    let server = Server::start(vec![step, Reply::chat("Then I write it.")]);
    let mut screen = screen(&bench, &server);
    screen.press("!vim note.txt &\r");
    screen.wait_for("vim needs a terminal");
    screen.press("edit the note\r");
    screen.answer("Run this?", "y");
    screen.wait_for("Then I write it.");
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    assert!(sent.contains("which a step does not have"), "{sent}");
    assert!(!bench.work().join("editor.pid").exists());
    leave(&mut screen);
}

#[test]
fn without_a_screen_a_program_for_the_terminal_gets_a_sentence_at_once() {
    let bench = TestDir::new();
    editor(&bench);
    let mut command = bench.command(&["-p", "!vim note.txt"]);
    let said = command.env("PATH", path_variable(&bench)).output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(text.contains("`vim` needs a terminal"), "{text}");
    assert!(!said.status.success());
    // A pager prints.
    fs::write(bench.work().join("notes.txt"), "rain\n").unwrap();
    let said = bench.command(&["-p", "!less notes.txt"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "rain\n");
}

/// An editor with a window of its own is started; one for the terminal would wait for ever.
#[test]
fn git_in_a_step_gets_no_editor_for_the_terminal() {
    let bench = TestDir::new();
    editor(&bench);
    program(&bench, "code", "echo A message > \"$2\"\n");
    let made = Command::new("git").args(["init", "--quiet"]).current_dir(bench.work()).status();
    assert!(made.unwrap().success());
    for (editor, words) in [("vim", "because it needs a terminal"), ("code --wait", "")] {
        let step = "!git -c user.name=A -c user.email=a@b commit --allow-empty";
        let mut command = bench.command(&["-p", step]);
        command.env("PATH", path_variable(&bench)).env("EDITOR", editor);
        let said = command.output().unwrap();
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(text.contains(words), "{editor}: {text}");
        assert_eq!(said.status.success(), words.is_empty(), "{editor}: {text}");
    }
    // What git would write by itself needs no editor.
    let mut command = bench
        .command(&["-p", "!git -c user.name=A -c user.email=a@b commit --allow-empty --amend"]);
    command.env("PATH", path_variable(&bench)).env("EDITOR", "vim");
    let said = command.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    // A list of commits that nobody saw is not taken for the one that was meant.
    for (options, words) in [("", "because it needs a terminal"), ("-c sequence.editor=true", "")] {
        let step = format!("!git -c user.name=A -c user.email=a@b {options} rebase -i --root");
        let mut command = bench.command(&["-p", &step]);
        command.env("PATH", path_variable(&bench)).env("EDITOR", "vim");
        let said = command.output().unwrap();
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(text.contains(words), "{options}: {text}");
        assert_eq!(said.status.success(), words.is_empty(), "{options}: {text}");
    }
}

#[test]
fn a_program_that_may_do_without_a_terminal_runs_and_is_explained_when_it_fails() {
    let bench = TestDir::new();
    let lines = "test \"$1\" = -r && echo all pass || { echo no tty >&2; exit 3; }\n";
    program(&bench, "node", lines);
    let path = path_variable(&bench);
    // No table knows every option: this form needs no terminal.
    let said = bench.command(&["-p", "!node -r"]).env("PATH", &path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "all pass\n");
    let said = bench.command(&["-p", "!node"]).env("PATH", &path).output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(text.contains("`node` may have failed because it needs a terminal"), "{text}");
    // Of the model's steps likewise.
    let step = Reply::cmd("I choose pieces.", "git", &["add", "-p"]);
    let server = Server::start(vec![step, Reply::chat("So not.")]);
    let url = server.base_url();
    let args = ["-p", "try it", "--yes", "--base-url", &url, "--model", "loop-1"];
    let said = bench.command(&args).output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("So not."), "{text} {}", String::from_utf8_lossy(&said.stderr));
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    assert!(sent.contains("which a step does not have"), "{sent}");
}

#[test]
fn plain_mode_says_that_a_program_needs_a_terminal() {
    let bench = TestDir::new();
    editor(&bench);
    let work = bench.work().display().to_string();
    let mut envs = bench.envs();
    envs.push(("PATH", path_variable(&bench)));
    let mut screen =
        Screen::start(&["--linear", "--trust", &work], &envs, &bench.work(), (100, 40));
    screen.wait_for("quits.\n>");
    screen.press("!vim note.txt\r");
    screen.wait_for("`vim` needs a terminal");
    screen.press("/exit\r");
    assert_eq!(screen.wait_for_exit(), 0);
}
