//! Faults of the machine: system limits, folders that are closed or missing, unusable temporary
//! folders, and kills in the middle of a write.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::disk::Disk;
use crate::support::bench::TestDir;
use crate::support::pty::{Modes, Screen};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Reason, skip};
use crate::support::wait::wait_until;

const DONE: &str = r#"{"type":"chat","message":"All done.","data":{"format":"plain"}}"#;

fn envs(bench: &TestDir) -> Vec<(&'static str, String)> {
    let temp = ("TMPDIR", bench.path("temp").display().to_string());
    bench.envs().into_iter().chain([temp]).collect()
}

fn bench() -> TestDir {
    let bench = TestDir::new();
    fs::create_dir(bench.root.path().join("temp")).unwrap();
    bench
}

fn ls() -> String {
    let commands = json!([{ "program": "ls", "args": ["-a"] }]);
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    json!({ "type": "cmd", "message": "a step", "data": data }).to_string()
}

fn command(bench: &TestDir, args: &[&str]) -> Command {
    let mut command = bench.command(args);
    command.env("TMPDIR", bench.path("temp"));
    command
}

fn stderr_text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Everything in the home, for the ordinary user that root runs the program as.
fn open_to_all(bench: &TestDir) {
    let mut folders = vec![bench.path("avocet")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let mode = if path.is_dir() { 0o777 } else { 0o666 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            folders.extend(path.is_dir().then_some(path));
        }
    }
}

/// Runs with limits, as an ordinary user where that can be: root has no limit of processes.
fn limited(bench: &TestDir, limit: &str, args: &[&str]) -> Output {
    let is_root = rustix::process::getuid().is_root();
    if is_root {
        for name in ["", "work", "home", "avocet", "temp"] {
            let open = fs::Permissions::from_mode(0o777);
            fs::set_permissions(bench.root.path().join(name), open).unwrap();
        }
    }
    let mut words: Vec<String> = Vec::new();
    if is_root {
        words.extend(["setpriv", "--reuid=65531", "--clear-groups"].map(str::to_owned));
    }
    let line = format!("ulimit -c 0; ulimit {limit} && exec \"$0\" \"$@\"");
    words.extend(["bash".to_owned(), "-c".to_owned(), line]);
    words.push(env!("CARGO_BIN_EXE_avocet").to_owned());
    words.extend(["--trust".to_owned(), bench.work().display().to_string()]);
    words.extend(args.iter().map(|word| (*word).to_owned()));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(bench.work()).stdin(Stdio::null());
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").envs(envs(bench));
    command.output().unwrap()
}

/// Parts of a home in use that nobody may read: what a command says of each, and its exit code.
const CLOSED: &[(&str, &[&str], &str, i32)] = &[
    ("config.toml", &["-p", "hi"], "config.toml: cannot be read: permission denied", 0),
    ("data/trust.json", &["-p", "hi"], "trust.json: cannot be read: permission denied", 0),
    ("data/approvals", &["-p", "hi"], "remembered rules for this folder do not apply", 0),
    ("data/approvals", &["policy", "permissions"], "cannot be read: permission denied", 0),
    ("data/sessions.db", &["-p", "hi"], "was not saved", 1),
    ("data/sessions.db", &["session", "list"], "sessions.db", 1),
    ("state/history", &["-p", "hi"], "", 0),
    ("state/drafts", &["-p", "hi"], "", 0),
    ("bots", &["bot", "list"], "permission denied", 0),
    ("commands", &["command", "list"], "permission denied", 0),
    ("skills", &["skill", "list"], "permission denied", 0),
];

#[test]
fn a_part_of_the_home_that_may_not_be_read_is_named_and_stays_as_it_is() {
    let bench = bench();
    let model = bench.script(&[DONE]);
    bench.settings("theme = \"light\"\n");
    let home = bench.path("avocet");
    for folder in ["data/approvals", "state/drafts", "bots", "commands", "skills"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    fs::write(home.join("bots/b.toml"), "system_prompt = \"be brief\"\n").unwrap();
    fs::write(home.join("data/trust.json"), "{\"version\":1,\"folders\":[]}\n").unwrap();
    fs::write(home.join("state/history"), "\"typed before\"\n").unwrap();
    open_to_all(&bench);
    limited(&bench, "-c 0", &["--model", &model, "-p", "hi"]);
    for (name, args, says, code) in CLOSED {
        let path = home.join(name);
        let before = fs::metadata(&path).unwrap().permissions();
        let contents = fs::read(&path).ok();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let output = limited(&bench, "-c 0", &[&["--model", &model], *args].concat());
        fs::set_permissions(&path, before).unwrap();
        let said = stderr_text(&output);
        assert_eq!(output.status.code(), Some(*code), "{name}, {args:?}: {said}");
        let named = said.matches(says).count();
        assert!(says.is_empty() || (1..=2).contains(&named), "{name}, {args:?}: {said}");
        assert!(!said.contains("panicked"), "{name}, {args:?}: {said}");
        assert_eq!(fs::read(&path).ok(), contents, "{name}, {args:?}");
    }
    let listed = stderr_text(&limited(&bench, "-c 0", &["session", "list"]));
    assert!(listed.contains("hi"), "what was saved is still there: {listed}");
}

/// The first do not let a program be loaded.
const LIMITS: &[(&str, &[u32])] = &[
    ("-n", &[5, 6, 7, 9, 12, 16, 24, 31, 40]),
    ("-u", &[2, 3, 4, 5, 6, 8, 10, 12]),
    ("-v", &[160_000, 200_000, 300_000]),
];

#[test]
fn every_resource_limit_gives_one_sentence_and_no_crash() {
    let bench = bench();
    let model = bench.script(&[ls(), DONE.to_owned()]);
    fs::write(bench.work().join("s.ai.yaml"), "user: go\nassistant: \"[[A]]\"\n").unwrap();
    let model = model.as_str();
    let ways: [&[&str]; 5] = [
        &["--model", model, "-p", "go"],
        &["--model", model, "--json", "-p", "go"],
        &["--model", model, "run", "s.ai.yaml"],
        &["doctor"],
        &["policy", "explain", "--", "ls"],
    ];
    for (limit, numbers) in LIMITS {
        for number in *numbers {
            for args in ways {
                let output = limited(&bench, &format!("{limit} {number}"), args);
                let said = stderr_text(&output);
                let what = format!("ulimit {limit} {number}, {args:?}: {said}");
                for word in ["panicked", "RUST_BACKTRACE", "memory allocation"] {
                    assert!(!said.contains(word), "{what}");
                }
                let code = output.status.code();
                assert!(matches!(code, Some(0..=5)), "{code:?} {what}");
                assert!(code == Some(0) || !said.trim().is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn a_screen_without_enough_resources_says_so_and_restores_the_terminal() {
    for limit in ["-n 16", "-n 24", "-v 160000"] {
        let bench = bench();
        let model = bench.script(&[DONE.to_owned()]);
        let line = format!("ulimit -c 0; ulimit {limit}; exec \"$0\" --model {model}");
        let args = ["-c", &line, env!("CARGO_BIN_EXE_avocet")];
        let envs = envs(&bench);
        let mut screen = Screen::start_program("/bin/sh", &args, &envs, &bench.work(), (80, 24));
        assert_eq!(screen.wait_for_exit(), 1, "{limit}: {}", screen.text());
        screen.wait_for("Not enough system resources");
        assert_eq!(screen.modes(), Modes::default(), "{limit}");
    }
}

#[test]
fn running_out_of_memory_in_a_turn_restores_the_terminal() {
    let bench = bench();
    // One answer of 24 MB.
    let text = "word ".repeat(5_000_000);
    let server = Server::start(vec![Reply::chat(&text)]);
    let (work, url) = (bench.work().display().to_string(), server.base_url());
    let args = ["--trust", &work, "--base-url", &url, "--model", "loop-1"];
    let envs = envs(&bench);
    let mut screen = Screen::start(&args, &envs, &bench.work(), (80, 24));
    screen.wait_for("loop-1");
    let status = fs::read_to_string(format!("/proc/{}/status", screen.id())).unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let size: u64 = size.split_whitespace().next().unwrap().parse().unwrap();
    let most = (size + 12_000) * 1024;
    let limits = [format!("--as={most}:{most}"), "--core=0".to_owned()];
    let set = Command::new("prlimit").arg(format!("--pid={}", screen.id())).args(&limits).status();
    assert!(set.unwrap().success());
    screen.press("go\r");
    let code = screen.wait_for_exit();
    assert_ne!(code, 0, "{}", screen.text());
    wait_until("the terminal is restored", || screen.modes() == Modes::default());
}

#[test]
fn a_folder_removed_during_a_turn_is_reported() {
    for closed in [false, true] {
        let bench = bench();
        if closed && rustix::process::getuid().is_root() {
            skip(Reason::Root);
            continue;
        }
        let second = Reply::text(&ls(), 4).held();
        let server = Server::start(vec![Reply::text(&ls(), 4), second, Reply::chat("All done.")]);
        let url = server.base_url();
        let args = ["--base-url", &url, "--model", "loop-1", "-p", "go"];
        let child = command(&bench, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap();
        wait_until("the second request", || server.requests().len() == 2);
        let mode = |mode| fs::set_permissions(bench.work(), fs::Permissions::from_mode(mode));
        if closed {
            mode(0o000).unwrap()
        } else {
            fs::remove_dir_all(bench.work()).unwrap()
        }
        server.release();
        let output = child.wait_with_output().unwrap();
        if closed {
            mode(0o700).unwrap();
        }
        let said = stderr_text(&output);
        assert!(said.contains(bench.work().to_str().unwrap()), "{said}");
        assert!(said.contains("All done.") && !said.contains("panicked"), "{said}");
    }
}

/// A turn with a step works, and what is said names the place.
fn assert_run_succeeds(bench: &TestDir, what: &str) {
    let model = bench.script(&[ls(), DONE.to_owned()]);
    let output = command(bench, &["--model", &model, "-p", "go"]).output().unwrap();
    let said = stderr_text(&output);
    assert_eq!(output.status.code(), Some(0), "{what}: {said}");
    assert!(said.contains("All done.") && !said.contains("not started"), "{what}: {said}");
    assert!(said.contains(bench.root.path().join("temp").to_str().unwrap()), "{what}: {said}");
}

#[test]
fn a_full_or_read_only_temporary_folder_is_named_and_replaced() {
    for (what, options) in
        [("full", "size=4k,nr_inodes=10"), ("no inode", "nr_inodes=1"), ("read-only", "ro")]
    {
        let bench = bench();
        let temp = bench.root.path().join("temp");
        let Some(_disk) = Disk::mount(&temp, options) else { return skip(Reason::NoMount) };
        if what == "full" {
            let _ = fs::write(temp.join("filling"), vec![0; 64 * 1024]);
        }
        assert_run_succeeds(&bench, what);
    }
}

#[test]
fn a_temporary_folder_that_is_a_file_or_open_to_others_is_replaced() {
    let temp = |bench: &TestDir| bench.root.path().join("temp");
    let cases: [(&str, fn(&Path)); 4] = [
        ("missing", |temp| fs::remove_dir(temp).unwrap()),
        ("a file", |temp| {
            fs::remove_dir(temp).unwrap();
            fs::write(temp, "").unwrap();
        }),
        ("a link to nothing", |temp| {
            fs::remove_dir(temp).unwrap();
            std::os::unix::fs::symlink("/nonexistent/place", temp).unwrap();
        }),
        ("open to all and not sticky", |temp| {
            fs::set_permissions(temp, fs::Permissions::from_mode(0o777)).unwrap();
        }),
    ];
    for (what, spoil) in cases {
        let bench = bench();
        spoil(&temp(&bench));
        assert_run_succeeds(&bench, what);
        let left = fs::read_dir(temp(&bench)).into_iter().flatten().count();
        assert_eq!(left, 0, "{what}");
    }
}

#[test]
fn a_sticky_world_writable_temporary_folder_is_used() {
    let bench = bench();
    let temp = bench.root.path().join("temp");
    fs::set_permissions(&temp, fs::Permissions::from_mode(0o1777)).unwrap();
    let model = bench.script(&[ls(), DONE.to_owned()]);
    let output = command(&bench, &["--model", &model, "-p", "go"]).output().unwrap();
    assert!(!stderr_text(&output).contains(temp.to_str().unwrap()), "{}", stderr_text(&output));
}

fn file(tool: &str, input: Value) -> Value {
    json!({ "tool": tool, "input": input })
}

/// A turn that writes files again and again, and keeps what was in them.
fn writes() -> Vec<String> {
    let reply = |steps: Vec<Value>| {
        json!({ "type": "cmd", "message": "", "data": { "commands": steps } }).to_string()
    };
    let names = ["a.txt", "deep/b.txt", "c.txt"];
    let mut replies = Vec::new();
    for n in 0..12 {
        let write = |name: &&str| {
            let text = format!("version {n} of {name} 第\n").repeat(40_000);
            file("file.write", json!({ "path": name, "content": text }))
        };
        replies.push(reply(names.iter().map(write).collect()));
    }
    replies.push(DONE.to_owned());
    replies
}

/// Everything below a folder whose name is that of a temporary file.
fn half_written(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            out.extend(half_written(&path));
        } else if name.contains("tmp") {
            out.push(path);
        }
    }
    out
}

fn kill(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn the_next_start_removes_files_of_a_write_that_was_killed() {
    let rounds = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(30);
    let bench = bench();
    let root = bench.root.path();
    let model = bench.script(&writes());
    // Another run lives beside the killed ones all the time, and has written as well.
    let mut living = command(&bench, &["--model", &model, "-y", "-p", "go"]);
    let living = living.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let own = root.join(format!("work/.avocet-{}-0-other.tmp", living.id()));
    fs::write(&own, "of a run that lives").unwrap();
    let stop = Command::new("kill").args(["-STOP", &living.id().to_string()]).status();
    assert!(stop.unwrap().success());
    let mut left = 0;
    let mut most = Duration::ZERO;
    for round in 0..rounds {
        let args: &[&str] = match round % 4 {
            0 => &["config", "set", "theme", "dark"],
            _ => &["--model", &model, "-y", "-p", "go"],
        };
        let mut child = command(&bench, args);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let millis = if round % 4 == 0 { fastrand::u64(5..40) } else { fastrand::u64(60..900) };
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(millis) {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        kill(&mut child);
        let half = half_written(root);
        left += half.len() - usize::from(half.contains(&own));
        most = most.max(began.elapsed());
    }
    let next = bench.script(&[DONE.to_owned()]);
    let output = command(&bench, &["--model", &next, "-p", "go"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr_text(&output));
    println!("{rounds} kills: {left} files seen half written, {most:?} at most");
    let swept = Instant::now();
    loop {
        let mut half = half_written(root);
        half.retain(|path| *path != own);
        if half.is_empty() {
            break;
        }
        assert!(swept.elapsed() < Duration::from_secs(30), "{half:?}");
        command(&bench, &["--model", &next, "-p", "go"]).output().unwrap();
    }
    assert!(own.exists(), "what a living run writes stays");
    let mut living = living;
    kill(&mut living);
}
