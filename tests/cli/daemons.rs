//! Programs that leave processes running on purpose, as they are installed here: those of the table
//! are left alone and named, others end with their step, which is said.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::bench::TestDir;
use crate::support::skip::{Reason, skip};
use crate::support::wait::wait_until;

fn has(program: &str) -> bool {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"];
    folders.iter().any(|folder| Path::new(folder).join(program).exists())
}

/// Runs a line of the user's to the end of the program, and tells what was said of it.
fn line(bench: &TestDir, line: &str) -> String {
    let Output { status, stdout, stderr } =
        bench.command(&["--json", "-p", &format!("!{line}")]).output().unwrap();
    let said = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{said}{}", String::from_utf8_lossy(&stderr));
    let finished = said.lines().filter(|line| line.contains("\"observed\""));
    finished.collect::<String>()
}

fn git(bench: &TestDir, args: &[&str]) -> String {
    let output = bench_git(bench).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn bench_git(bench: &TestDir) -> Command {
    let mut git = Command::new("git");
    git.current_dir(bench.work()).env_clear().envs(bench.envs());
    git.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("GIT_CONFIG_NOSYSTEM", "1");
    git
}

/// The processes that have this text in their command line.
fn processes(text: &str) -> Vec<PathBuf> {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    all.filter(is_one).collect()
}

fn packs(bench: &TestDir) -> usize {
    let packs = fs::read_dir(bench.work().join(".git/objects/pack")).unwrap().flatten();
    packs.filter(|file| file.path().extension().is_some_and(|end| end == "pack")).count()
}

/// A repository that is due for maintenance, which waits for a file before it begins.
fn repository_to_maintain() -> TestDir {
    let bench = TestDir::new();
    git(&bench, &["init", "-q"]);
    for (key, value) in [
        ("user.name", "n"),
        ("user.email", "e@example.invalid"),
        ("gc.auto", "10000"),
        ("gc.autoPackLimit", "1"),
    ] {
        git(&bench, &["config", key, value]);
    }
    for number in 0..3 {
        fs::write(bench.work().join("file"), number.to_string()).unwrap();
        git(&bench, &["add", "file"]);
        git(&bench, &["-c", "maintenance.auto=false", "commit", "-qm", "x"]);
        git(&bench, &["repack", "-dq"]);
    }
    // The hook is git itself, which waits for a pipe: a hook that runs another program ends with
    // its step.
    let pipe = bench.path("go").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    git(&bench, &["config", "alias.wait", &format!("hash-object {pipe}")]);
    let program = git(&bench, &["--exec-path"]);
    let hook = bench.work().join(".git/hooks/pre-auto-gc");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!{}/git wait\n", program.trim())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, mode).unwrap();
    bench
}

#[test]
fn the_maintenance_that_git_detaches_is_left_alone_and_does_its_work() {
    for command in ["git commit -q --allow-empty -m x", "git maintenance run --auto --detach"] {
        let bench = repository_to_maintain();
        assert_eq!(packs(&bench), 3);
        let known = bench_git(&bench).args(["maintenance", "-h"]).output().unwrap();
        if String::from_utf8_lossy(&known.stderr).contains("not a git command") {
            skip(Reason::NotInstalled("git maintenance"));
            continue;
        }
        let said = line(&bench, command);
        assert!(said.contains("git maintenance"), "{command}: {said}");
        assert!(!said.contains("ended with the step"), "{command}: {said}");
        // Git may run the hook more than once.
        let mut go_on = fs::OpenOptions::new();
        go_on.write(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        wait_until("the packs are one", || {
            drop(go_on.open(bench.path("go")));
            packs(&bench) == 1
        });
    }
}

#[test]
fn a_cache_of_credentials_is_left_alone_and_answers_later() {
    let bench = TestDir::new();
    let socket = bench.path("cache/socket");
    let ask = |verb: &str, fields: &str| {
        let cache = format!("git credential-cache --timeout 600 --socket {}", socket.display());
        format!("printf '{fields}' | {cache} {verb}")
    };
    let host = "protocol=https\\nhost=example.invalid\\n";
    let said = line(&bench, &ask("store", &format!("{host}username=u\\npassword=p\\n")));
    assert!(said.contains("git credential cache"), "{said}");
    let outside = Command::new("sh").args(["-c", &ask("get", host)]).output().unwrap();
    let answer = String::from_utf8(outside.stdout).unwrap();
    assert!(answer.contains("password=p"), "{answer}");
    let ended = Command::new("sh").args(["-c", &ask("exit", "")]).status().unwrap();
    assert!(ended.success());
}

#[test]
fn an_agent_of_gnupg_is_left_alone() {
    if !has("gpg-agent") || !has("gpgconf") {
        return skip(Reason::NotInstalled("gpg-agent"));
    }
    let bench = TestDir::new();
    let home = bench.path("g");
    fs::create_dir(&home).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&home, mode).unwrap();
    let said = line(&bench, &format!("gpgconf --homedir {} --launch gpg-agent", home.display()));
    assert!(said.contains("gpg-agent"), "{said}");
    assert_eq!(processes(&home.display().to_string()).len(), 1);
    let stop = ["--homedir", &home.display().to_string(), "--kill", "gpg-agent"];
    assert!(Command::new("gpgconf").args(stop).status().unwrap().success());
}

/// A multiplexer runs anything for as long as it likes, and the address of this agent is known to
/// its step only.
#[test]
fn what_is_no_daemon_of_the_table_ends_with_its_step_which_is_said() {
    let bench = TestDir::new();
    let socket = bench.path("tmux");
    let tmux = format!("tmux -S {} new-session -d 'sleep 62.5'", socket.display());
    for (program, command, text) in
        [("tmux", tmux.as_str(), "sleep 62.5"), ("ssh-agent", "ssh-agent -a ../agent", "../agent")]
    {
        if !has(program) {
            skip(Reason::NotInstalled(program));
            continue;
        }
        let said = line(&bench, command);
        assert!(said.contains("ended with the step"), "{said}");
        assert_eq!(processes(text), [""; 0].map(PathBuf::from), "{program}");
    }
}
