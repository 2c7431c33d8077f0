//! What commands print on a terminal without the full screen: no byte of it controls the terminal,
//! whatever its source. Into a pipe it goes unchanged.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::json;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::test_name;

/// A title, a cleared screen, an alternate screen, a question, a C1 byte as text, a bell, and
/// a mark that turns the direction of text.
const HOSTILE: &str =
    "\u{1b}]0;HACKED\u{7}\u{1b}[2J\u{1b}[?1049h\u{1b}[c\u{9b}31m\u{8}\r\u{202e}\u{2066}seen";

trait OutputDir {
    fn write(&self, name: &str, text: impl AsRef<[u8]>);
    fn piped(&self, args: &[&str]) -> Output;
    fn on_terminal(&self, args: &[&str]) -> Vec<u8>;
    fn started(&self, args: &[&str], cwd: &Path) -> Screen;
}

impl OutputDir for TestDir {
    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn piped(&self, args: &[&str]) -> Output {
        self.untrusted_command(args).output().unwrap()
    }

    /// All bytes that reach the terminal.
    fn on_terminal(&self, args: &[&str]) -> Vec<u8> {
        let mut screen = self.started(args, &self.work());
        screen.wait_for_exit();
        screen.raw()
    }

    fn started(&self, args: &[&str], cwd: &Path) -> Screen {
        let envs = self.envs();
        Screen::start(args, &envs, cwd, (100, 40))
    }
}

/// A conversation whose every part is hostile; its id.
fn conversation(bench: &TestDir) -> String {
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
fn assert_no_control(bytes: &[u8], what: &[&str]) {
    // The terminal makes `\r\n` of a `\n`; every other carriage return is foreign.
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    let bad = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t') || turns(*c));
    assert_eq!(bad, None, "{what:?}: {text:?}");
    assert!(!bytes.is_empty(), "{what:?} printed nothing");
}

#[test]
fn saved_text_cannot_control_the_terminal() {
    let bench = TestDir::new();
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
        assert_no_control(&bench.on_terminal(args), args);
    }
}

#[test]
fn an_export_controls_no_terminal() {
    let bench = TestDir::new();
    let id = conversation(&bench);
    let export = bench.piped(&["session", "export", &id]);
    let text = String::from_utf8_lossy(&export.stdout).into_owned();
    assert!(text.contains("M08") && !text.contains(['\u{1b}', '\u{9b}']), "{text:?}");
}

/// A bench whose every folder has a hostile name.
fn hostile_folders() -> TestDir {
    let root = tempfile::Builder::new().prefix(HOSTILE).tempdir().unwrap();
    let bench = TestDir { root };
    for folder in ["work", "home", "avocet"] {
        fs::create_dir(bench.root.path().join(folder)).unwrap();
    }
    bench
}

/// What is kept under hostile names, in files, folders and lines of them.
fn hostile_names(bench: &TestDir) {
    let quoted = json!(HOSTILE).to_string();
    let home = ["avocet", "work/.avocet"];
    for home in home {
        for kind in ["commands", "bots"] {
            bench.write(
                &format!("{home}/{kind}/{HOSTILE}.toml"),
                format!("description = {quoted}\n{quoted} = {quoted}\nprompt = {quoted}\n"),
            );
            bench.write(&format!("{home}/{kind}/broken.toml"), format!("{HOSTILE} = = {HOSTILE}"));
        }
        let skill =
            format!("---\nname: {HOSTILE}\ndescription: {quoted}\n{HOSTILE}: x\n---\n{HOSTILE}\n");
        bench.write(&format!("{home}/skills/{HOSTILE}/SKILL.md"), &skill);
        bench.write(&format!("{home}/skills/plain/SKILL.md"), &skill);
        bench
            .write(&format!("{home}/scripts/{HOSTILE}.ai.yaml"), format!("- {quoted}: {quoted}\n"));
    }
    bench.write("avocet/config.toml", format!("{HOSTILE} = {HOSTILE}\n"));
    bench.write("work/AGENTS.md", HOSTILE);
    let raw =
        bench.work().join(OsString::from_vec(b"raw\x1b]0;x\x07\x9b31m\xc2\x9b\r\x08".to_vec()));
    fs::write(raw, HOSTILE).unwrap();
    let entry = json!({ "name": HOSTILE, "version": HOSTILE, "description": HOSTILE,
        "binPath": format!("/{HOSTILE}") });
    let registry = json!({ "plugins": { HOSTILE: entry } });
    bench.write("home/.slothtool/registry.json", registry.to_string());
}

/// Command lines that print names; those in them are hostile as well.
fn named_commands<'a>(work: &'a str, script: &'a str, slash: &'a str) -> Vec<Vec<&'a str>> {
    let many: &[&[&str]] = &[
        &["bot", "list"],
        &["bot", "show", HOSTILE],
        &["bot", "show", "broken"],
        &["command", "list"],
        &["command", "list", "--json"],
        &["command", "show", "broken"],
        &["command", "render", "broken"],
        &["command", "render", HOSTILE],
        &["command", "new", HOSTILE, "--prompt", HOSTILE],
        &["command", "delete", HOSTILE, "--yes"],
        &["skill", "list"],
        &["skill", "list", "--json"],
        &["skill", "check", "plain"],
        &["skill", "check", HOSTILE],
        &["skill", "show", "plain"],
        &["config", "path"],
        &["config", "get"],
        &["config", "set", HOSTILE, HOSTILE],
        &["config", "set", "ui.theme", HOSTILE],
        &["config", "unset", HOSTILE],
        &["doctor"],
        &["doctor", "--json"],
        &["policy", "explain", "--", "ls", work],
        &["policy", "explain", "--", HOSTILE, HOSTILE],
        &["policy", "explain", "--tool", HOSTILE, "--args", HOSTILE],
        &["policy", "rules"],
        &["policy", "list"],
        &["plugin", "list"],
        &["plugin", "list", "--json"],
        &["init-home"],
        &["script", "list"],
        &["script", "list", "--json"],
        &["script", "show", HOSTILE],
        &["script", "new", HOSTILE],
        &["script", "new", "plain", "--like", HOSTILE],
        &["help", HOSTILE],
        &["help", "scripts", HOSTILE],
        &["session", "list", "--here"],
        &["session", "search", HOSTILE],
        &["session", "delete", HOSTILE],
        &["session", "export", HOSTILE, "--format", HOSTILE],
        &["completions", HOSTILE],
        &["run", script],
        &["--cwd", HOSTILE, "-p", "x"],
        &["--add-dir", HOSTILE, "-p", "x"],
        &["--lang", HOSTILE],
        &["--profile", HOSTILE, "-p", "x"],
        &["--bot", HOSTILE, "-p", "x"],
        &["--base-url", HOSTILE, "--model", HOSTILE, "-p", "x"],
        &["--output-schema", HOSTILE, "-p", "x"],
        &["-p", slash],
        &["chat", HOSTILE],
        &["model", "list", "--base-url", HOSTILE],
    ];
    many.iter().map(|args| args.to_vec()).collect()
}

#[test]
fn names_of_folders_files_and_settings_cannot_control_the_terminal() {
    let bench = hostile_folders();
    hostile_names(&bench);
    let work = bench.work().display().to_string();
    let script = format!("{HOSTILE}.ai.yaml");
    let slash = format!("/{HOSTILE} x");
    let many = named_commands(&work, &script, &slash);
    for trusted in [false, true] {
        for args in &many {
            let args = if trusted {
                [&["--trust", work.as_str()], &args[..]].concat()
            } else {
                args.clone()
            };
            assert_no_control(&bench.on_terminal(&args), &args);
        }
    }
    fs::write(bench.root.path().join("avocet/config.toml"), "").unwrap();
    for args in &many {
        assert_no_control(&bench.on_terminal(args), args);
    }
}

#[test]
fn a_completion_script_is_plain_text_on_a_terminal() {
    let bench = TestDir::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert_no_control(&bench.on_terminal(&["completions", shell]), &["completions", shell]);
    }
}

#[test]
fn the_programs_own_name_cannot_control_the_terminal() {
    let bench = TestDir::new();
    let linked = bench.root.path().join(HOSTILE);
    symlink(env!("CARGO_BIN_EXE_avocet"), &linked).unwrap();
    for args in [&["--help"][..], &["session"], &["--nothing"], &["completions", "bash"]] {
        let envs = bench.envs();
        let mut screen = Screen::start_program(&linked, args, &envs, &bench.work(), (100, 40));
        screen.wait_for_exit();
        assert_no_control(&screen.raw(), args);
    }
}

#[test]
fn server_text_cannot_control_the_terminal() {
    let bench = TestDir::new();
    let said = || json!({ "error": { "message": HOSTILE, "code": HOSTILE, "type": HOSTILE } });
    let foreign = || Reply::status(200).header("content-type", "text/plain").body(HOSTILE);
    let replies: &[fn() -> Reply] = &[
        || Reply::chat(HOSTILE),
        || Reply::text(HOSTILE, 3),
        || Reply::cmd(HOSTILE, HOSTILE, &[HOSTILE]),
    ];
    let mut all: Vec<Reply> = [400, 401, 402, 404, 429, 500]
        .iter()
        .map(|status| Reply::json(*status, &said()).header("retry-after", "0"))
        .collect();
    all.extend(replies.iter().map(|reply| reply()));
    all.extend([
        foreign(),
        Reply::raw(HOSTILE),
        Reply::status(302).header("location", "http://x/%1b]0;x"),
    ]);
    for reply in all {
        for way in [&["-p", "x"][..], &["--json", "-p", "x"]] {
            // Whatever is asked again is answered the same.
            let server = Server::start(vec![reply.clone(); 8]);
            let url = server.base_url();
            let args = [&["--base-url", url.as_str(), "--model", HOSTILE], way].concat();
            assert_no_control(&bench.on_terminal(&args), &args);
        }
    }
    let server = Server::start_with_models(Vec::new(), &[HOSTILE, "plain"]);
    let args = ["model", "list", "--base-url", &server.base_url(), "--model", "plain"];
    assert_no_control(&bench.on_terminal(&args), &args);
    let args = ["model", "list", "--json", "--base-url", &server.base_url()];
    assert_no_control(&bench.on_terminal(&args), &args);
}

/// The titles that were set.
fn titles(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let pieces = text.split("\u{1b}]0;").skip(1);
    pieces.map(|piece| piece.split('\u{7}').next().unwrap().to_owned()).collect()
}

#[test]
fn window_title_and_printed_conversation_cannot_control_the_terminal() {
    let bench = hostile_folders();
    let folder = bench.work().join(HOSTILE);
    fs::create_dir(&folder).unwrap();
    let done = json!({ "type": "chat", "message": HOSTILE }).to_string();
    bench.write("replies.txt", done);
    let model = format!("scripted:{}", bench.root.path().join("replies.txt").display());
    let trust = folder.display().to_string();
    let mut screen = bench.started(&["--trust", &trust, "--model", &model], &folder);
    screen.wait_for("scripted");
    screen.paste(HOSTILE.trim_start_matches('\u{1b}'));
    screen.press("\r");
    screen.wait_for("seen");
    screen.press("\x14");
    screen.wait_for("Press any key");
    let printed = screen.raw();
    let titles = titles(&printed);
    assert!(!titles.is_empty());
    for title in titles {
        assert!(!title.contains(char::is_control) && !title.contains('\u{202e}'), "{title:?}");
    }
    // What was printed comes after the last time the alternate screen was left.
    let text = String::from_utf8_lossy(&printed).into_owned();
    assert!(!text.contains("HACKED\u{7}") && !text.contains('\u{9b}'), "{text:?}");
    let (_, after) = text.rsplit_once("\u{1b}[?1049l").unwrap();
    let after = after.trim_start_matches("\u{1b}[23;0t").trim_start_matches("\u{1b}[?25h");
    assert_no_control(after.as_bytes(), &["/dump"]);
    screen.press(" ");
    screen.wait_for("Ask anything");
    screen.wait_until_idle();
    screen.press("\x04");
    screen.wait_for_exit();
    let text = String::from_utf8_lossy(&screen.raw()).into_owned();
    let (_, after) = text.rsplit_once("\u{1b}[?25h").unwrap();
    if !after.is_empty() {
        assert_no_control(after.as_bytes(), &["after the screen"]);
    }
}

/// The process of the test below, on a terminal of its own.
#[test]
#[ignore = "a process of another test"]
fn child_panics() {
    avocet::cli::output::report_panics();
    panic!("{HOSTILE}");
}

#[test]
fn a_panic_message_cannot_control_the_terminal() {
    let bench = TestDir::new();
    let own: PathBuf = std::env::current_exe().unwrap();
    let panics = test_name(module_path!(), "child_panics");
    let args = ["--exact", panics.as_str(), "--ignored", "--nocapture", "--color", "never"];
    let envs = [("RUST_BACKTRACE", "1")];
    let mut screen = Screen::start_program(&own, &args, &envs, &bench.work(), (100, 40));
    screen.wait_for_exit();
    let text = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(text.contains("panicked at") && text.contains("seen"), "{text:?}");
    assert_no_control(text.as_bytes(), &["a panic"]);
}
