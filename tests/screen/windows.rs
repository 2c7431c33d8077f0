//! Two windows at once: what one remembers, trusts, sets or records is not lost by the other's
//! changes at the same moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use avocet::config::approvals::{Approvals, Side};
use avocet::config::trust::{self, FolderTrust, TrustLevel, TrustStore};
use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::test_name;
use crate::support::wait::wait_until;

/// As many as a window does in each test; `ROUNDS` asks for more.
fn rounds(usual: usize) -> usize {
    std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn window(bench: &TestDir, folder: &Path, args: &[&str]) -> Screen {
    Screen::start(args, &bench.envs(), folder, (100, 50))
}

/// Waits until `text` was printed so often, and after it the sign that a line is read.
#[track_caller]
fn takes_a_line(screen: &Screen, text: &str, count: usize) {
    let is_read = || {
        let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
        let last = raw.rsplit(text).next().unwrap_or_default();
        raw.matches(text).count() >= count && last.contains("> ")
    };
    wait_until(&format!("{count} of {text:?}"), is_read);
}

const QUESTION: &str = "An empty line changes nothing.";

/// What a choice that lasts says before it is confirmed.
const AGAIN: &str = "again confirms it";

fn leave(screen: &mut Screen) {
    screen.press("\x15/exit\r");
    assert_eq!(screen.wait_for_exit(), 0, "{}", screen.text());
}

/// Waits until the file contains the text.
#[track_caller]
fn wait_for_text(file: &Path, text: &str) {
    wait_until(&format!("{text:?} in {}", file.display()), || {
        fs::read_to_string(file).is_ok_and(|found| found.contains(text))
    });
}

/// The texts of all files below a folder.
fn texts(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    files.iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
}

#[test]
fn rules_remembered_by_two_windows_at_once_are_all_saved() {
    let rounds = rounds(40);
    let bench = TestDir::new();
    let work = bench.work().display().to_string();
    let one_window = |name: &'static str| {
        let step = |n: usize| {
            let commands = [json!({ "program": "mkdir", "args": [format!("{name}{n}")] })];
            let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
            let reply = json!({ "type": "cmd", "message": "A step.", "data": data });
            Reply::text(&reply.to_string(), 2)
        };
        let replies = (0..rounds).map(step).chain([Reply::chat("All done.")]).collect();
        let server = Server::start(replies);
        let url = server.base_url();
        let mut args = vec!["--trust", &work, "--base-url", &url, "--model", "loop-1", "--linear"];
        args.extend(["--max-steps", "0"]);
        let mut screen = window(&bench, &bench.work(), &args);
        screen.wait_for("/help lists the commands");
        screen.press("go\r");
        for n in 0..rounds {
            takes_a_line(&screen, "[d]etails", n + 1);
            screen.press("p\r");
            takes_a_line(&screen, AGAIN, n + 1);
            screen.press("p\r");
        }
        screen.wait_for("All done.");
        leave(&mut screen);
    };
    thread::scope(|scope| {
        scope.spawn(|| one_window("left"));
        scope.spawn(|| one_window("right"));
    });
    let kept = texts(&bench.root.path().join("avocet/data/approvals"));
    for name in ["left", "right"] {
        for n in 0..rounds {
            assert!(kept.contains(&format!("mkdir {name}{n}\"")), "{name}{n}: {kept}");
        }
    }
}

#[test]
fn settings_and_history_of_two_windows_at_once_are_all_saved() {
    let rounds = rounds(40);
    let bench = TestDir::new();
    let work = bench.work().display().to_string();
    let settings_file = bench.path("avocet/config.toml");
    let history = bench.path("avocet/state/history");
    let one_window = |name: &str, setting: &str| {
        let mut screen = window(&bench, &bench.work(), &["--trust", &work]);
        screen.wait_for("not a language model");
        for n in 0..rounds {
            let is_on = n % 2 == 0;
            let on = if is_on { "on" } else { "off" };
            let (line, file, saved) = if n % 4 < 2 {
                (format!("/{setting} {on}"), &settings_file, format!("{setting} = {is_on}"))
            } else {
                (format!("/deny {name}{n}"), &history, format!("/deny {name}{n}\""))
            };
            screen.press(&line);
            screen.wait_for(&format!("› {line}"));
            screen.press("\r");
            // The input is empty; the line itself may stand above its answer.
            screen.wait_for("› Ask anything");
            // The end of the program waits only a moment for what is being written.
            wait_for_text(file, &saved);
        }
        leave(&mut screen);
    };
    thread::scope(|scope| {
        scope.spawn(|| one_window("left", "vim"));
        scope.spawn(|| one_window("right", "timestamps"));
    });
    let settings = fs::read_to_string(&settings_file).unwrap();
    assert!(
        settings.contains("vim = false") && settings.contains("timestamps = false"),
        "{settings}"
    );
    let lines = fs::read_to_string(&history).unwrap();
    for name in ["left", "right"] {
        for n in (0..rounds).filter(|n| n % 4 >= 2) {
            assert!(lines.contains(&format!("/deny {name}{n}\"")), "{name}{n}: {lines}");
        }
    }
}

#[test]
fn folders_trusted_by_two_windows_at_once_are_all_saved() {
    let rounds = rounds(6);
    let bench = TestDir::new();
    let one_window = |name: &str| {
        for n in 0..rounds {
            let folder = bench.root.path().join(format!("{name}-{n}-folder"));
            fs::create_dir(&folder).unwrap();
            let mut screen = window(&bench, &folder, &["--linear"]);
            takes_a_line(&screen, QUESTION, 1);
            screen.press("2\r");
            takes_a_line(&screen, AGAIN, 1);
            screen.press("2\r");
            leave(&mut screen);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| one_window("left"));
        scope.spawn(|| one_window("right"));
    });
    let trusted = fs::read_to_string(bench.root.path().join("avocet/data/trust.json")).unwrap();
    for name in ["left", "right"] {
        for n in 0..rounds {
            assert!(trusted.contains(&format!("{name}-{n}-folder")), "{name}-{n}: {trusted}");
        }
    }
}

/// Tells a process of the next test who it is, and where it writes.
const WRITER: &str = "AVOCET_TEST_WRITER";
const WRITERS: usize = 4;
const WRITES: usize = 50;

/// What one of several processes does at once: a rule and a trusted folder each round.
fn write_rounds(writer: &str, root: &Path) {
    let store = root.join("approvals");
    for round in 0..WRITES {
        let (mut approvals, _) = Approvals::open(&store, Path::new("/work/project"));
        // Who waits too long for the others is told so, and asks again.
        let rule = format!("w{writer} r{round}");
        assert!((0..10).any(|_| approvals.remember(Side::Allowed, &rule, None).is_ok()), "{rule}");
        let folder = root.join(format!("trusted-{writer}-{round}"));
        fs::create_dir_all(&folder).unwrap();
        let (mut trust, _) = TrustStore::open(root.join("trust.json"));
        let survey = trust::survey(&folder);
        assert!(
            (0..10).any(|_| trust.set(&folder, &survey, TrustLevel::Trusted).is_ok()),
            "{rule}"
        );
    }
}

/// One of the writers of the test below, in a process of its own.
#[test]
#[ignore = "a process of another test"]
fn child_writes() {
    let task = std::env::var(WRITER).unwrap();
    let (writer, root) = task.split_once(' ').unwrap();
    write_rounds(writer, Path::new(root));
}

#[test]
fn rules_and_trusted_folders_of_four_processes_at_once_are_all_saved() {
    let folder = crate::support::temp_dir();
    let root = folder.path().canonicalize().unwrap();
    let child = test_name(module_path!(), "child_writes");
    let writers = (0..WRITERS).map(|writer| {
        let mut process = std::process::Command::new(std::env::current_exe().unwrap());
        process
            .args([child.as_str(), "--exact", "--ignored"])
            .env(WRITER, format!("{writer} {}", root.display()));
        process.stdout(std::process::Stdio::null()).spawn().unwrap()
    });
    for mut writer in writers.collect::<Vec<_>>() {
        assert!(writer.wait().unwrap().success());
    }
    let (approvals, said) = Approvals::open(&root.join("approvals"), Path::new("/work/project"));
    assert_eq!((approvals.rules(Side::Allowed).len(), said), (WRITERS * WRITES, None));
    let (trust, _) = TrustStore::open(root.join("trust.json"));
    for (writer, round) in (0..WRITERS).flat_map(|w| (0..WRITES).map(move |r| (w, r))) {
        let folder = root.join(format!("trusted-{writer}-{round}"));
        let now = trust.folder_trust(&folder, &trust::survey(&folder));
        assert!(!matches!(now, FolderTrust::Unknown), "{}", folder.display());
    }
}
