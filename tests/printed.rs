//! What is printed on a terminal without the screen: no byte of it steers the terminal,
//! wherever it comes from; into a pipe it goes as it is.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::string_slice, reason = "tests")]

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::json;

#[path = "support/bench.rs"]
mod bench;
#[path = "support/pty.rs"]
mod pty;

use bench::Bench;
use pty::Screen;

/// A title, a cleared screen, an alternate screen, a question, a C1 byte as text, a bell, and
/// a mark that turns the direction of text.
const HOSTILE: &str =
    "\u{1b}]0;HACKED\u{7}\u{1b}[2J\u{1b}[?1049h\u{1b}[c\u{9b}31m\u{8}\u{202e}seen";

impl Bench {
    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn envs(&self) -> [(&'static str, String); 2] {
        let shown = |name| self.root.path().join(name).display().to_string();
        [("HOME", shown("home")), ("AVOCET_HOME", shown("avocet"))]
    }

    fn piped(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
        command.args(args).current_dir(self.work()).env_clear().envs(self.envs());
        command.env("PATH", "/usr/bin:/bin").env("LANG", "en_US.UTF-8").stdin(Stdio::null());
        command.output().unwrap()
    }

    /// All bytes that reach the terminal.
    fn on_terminal(&self, args: &[&str]) -> Vec<u8> {
        let envs = self.envs();
        let envs: Vec<(&str, &str)> =
            envs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut screen = Screen::start(args, &envs, &self.work(), (100, 40));
        screen.wait_for_exit();
        screen.raw()
    }
}

/// A conversation whose every part is hostile; its id.
fn conversation(bench: &Bench) -> String {
    let inject = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/inject");
    let mut all = HOSTILE.as_bytes().to_vec();
    for entry in fs::read_dir(inject).unwrap().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".bin") {
            all.extend(fs::read(entry.path()).unwrap());
        }
    }
    bench.write("work/hostile.txt", all);
    let step = json!({
        "type": "cmd", "message": HOSTILE,
        "data": { "cwd": null, "commands": [{ "program": "cat", "args": ["hostile.txt"] }], "expected_effect": HOSTILE }
    });
    let done = json!({ "type": "chat", "message": HOSTILE });
    bench.write("replies.txt", format!("{step}\n---\n{done}"));
    let model = format!("scripted:{}", bench.root.path().join("replies.txt").display());
    let work = bench.work().display().to_string();
    let output = bench.piped(&["--trust", &work, "--model", &model, "-p", HOSTILE]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = bench.piped(&["session", "list", "--json"]);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let at = list.find("\"id\":\"").map(|at| at + 6).expect("an id");
    list[at..].split('"').next().unwrap().to_owned()
}

#[track_caller]
fn steers_nothing(bytes: &[u8], what: &[&str]) {
    let text = String::from_utf8_lossy(bytes);
    let bad = text.chars().find(|c| {
        c.is_control() && !matches!(c, '\n' | '\r' | '\t') || matches!(c, '\u{202a}'..='\u{202e}')
    });
    assert_eq!(bad, None, "{what:?}: {text:?}");
    assert!(!bytes.is_empty(), "{what:?} printed nothing");
}

#[test]
fn nothing_that_was_kept_steers_the_terminal_it_is_printed_on() {
    let bench = Bench::new();
    let id = conversation(&bench);
    let quoted = json!(HOSTILE).to_string();
    bench
        .write("avocet/commands/evil.toml", format!("description = {quoted}\nprompt = {quoted}\n"));
    bench.write("avocet/bots/evil.toml", format!("name = \"evil\"\nsystem_prompt = {quoted}\n"));
    let skill = format!("---\nname: evil\ndescription: evil\n---\n{HOSTILE}\n");
    bench.write("avocet/skills/evil/SKILL.md", skill);
    bench.write("avocet/config.toml", format!("{quoted} = 1\n[ui]\ntheme = {quoted}\n"));
    let many: &[&[&str]] = &[
        &["session", "show", &id],
        &["session", "export", &id],
        &["session", "export", &id, "--json"],
        &["session", "list"],
        &["session", "list", "--json"],
        &["session", "search", "seen"],
        &["session", "show", HOSTILE],
        &["command", "show", "evil"],
        &["command", "list"],
        &["command", "render", "evil"],
        &["command", "show", HOSTILE],
        &["bot", "show", "evil"],
        &["bot", "list"],
        &["skill", "show", "evil"],
        &["skill", "list"],
        &["config", "get"],
        &["config", "get", HOSTILE],
        &["doctor"],
        &["doctor", "--json"],
        &["policy", "explain", "--", "cat", HOSTILE],
        &["policy", "explain", "--json", "--", "cat", HOSTILE],
        &["run", HOSTILE],
        &["plugin", "run", HOSTILE],
        &["--model", HOSTILE, "-p", HOSTILE],
        &["--theme", HOSTILE, "--no-such-option"],
        &[HOSTILE, HOSTILE],
        &["session", HOSTILE],
        &["--help"],
        &["--version"],
    ];
    for args in many {
        steers_nothing(&bench.on_terminal(args), args);
    }
}

#[test]
fn into_a_pipe_everything_goes_as_it_is() {
    let bench = Bench::new();
    let id = conversation(&bench);
    let export = bench.piped(&["session", "export", &id]);
    let text = String::from_utf8_lossy(&export.stdout).into_owned();
    assert!(text.contains("\u{1b}]0;HACKED"), "{text:?}");
}
