//! Runs what the policy calls harmless with the real executor inside the sandbox, in a folder that
//! must not change. Without a sandbox on this machine the folder must not change either; only what
//! needs one is skipped, and that is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use avocet::i18n::{Lang, sandbox as phrases};
use avocet::protocol::{
    Observation, Outcome, Requires, SandboxMode, SandboxStatus, Step, StepAction,
};
use avocet::safety::{self, ClearedStep, Policy, PolicyContext, Verdict, Workspace};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup};
use avocet::tools::sandbox::{Sandbox, SandboxPaths, SandboxTrial};
use avocet::tools::system::System;
use avocet::tools::{RunControl, Tool};
use pretty_assertions::assert_eq;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::support::skip::{Reason, skip};
use crate::support::wait::wide_limits;

/// Operands that are put behind the examples of the tables, so that each program meets
/// files, folders, links, things that are missing, and names that look like options.
const OPERANDS: &[&[&str]] = &[&[], &["a.txt"], &["--", "-o"], &["hooks.git"]];

/// Lines of our own: read-only programs with the flags people use.
const LINES: &[&str] = &[
    "ls -la",
    "ls -R",
    "cat a.txt b.txt",
    "head -n 2 a.txt",
    "tail -n +2 a.txt",
    "wc -l a.txt b.txt",
    "sort -u -k1,1 a.txt",
    "uniq -c a.txt",
    "diff a.txt b.txt",
    "cmp a.txt b.txt",
    "stat a.txt",
    "file run.sh",
    "find . -type f -name *.txt -print",
    "grep -rn two .",
    "rg two",
    "sed -n 1,2p a.txt",
    "tree",
    "du -sh .",
    "git status",
    "git log --oneline",
    "git diff",
    "git show --stat",
    "git branch",
    "env LC_ALL=C ls",
    "timeout 5 ls",
    "nice ls",
];

/// A workspace with an enemy in it.
struct SandboxFixture {
    root: tempfile::TempDir,
}

/// What of a file must stay: mode, times of contents and of the rest, contents.
type Mark = (u32, i64, i64, Vec<u8>);

impl SandboxFixture {
    fn new() -> SandboxFixture {
        let field = SandboxFixture { root: crate::support::temp_dir() };
        let ws = field.workspace();
        fs::create_dir_all(ws.join("src/deep")).unwrap();
        fs::create_dir_all(field.home()).unwrap();
        for (name, text) in [
            ("a.txt", "one\ntwo\ntwo\nthree\n"),
            ("b.txt", "two\n1\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/deep/data.json", "{\"a\": [1, 2]}\n"),
            ("-o", "a name like an option\n"),
        ] {
            fs::write(ws.join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("a.txt", ws.join("link.txt")).unwrap();
        // Whoever starts it leaves a mark.
        for evil in ["run.sh", "ls", "git", "cat", "hooks.git"] {
            let text = format!("#!/bin/sh\necho pwned >> '{}'\n", field.pwned().display());
            fs::write(ws.join(evil), text).unwrap();
            fs::set_permissions(ws.join(evil), fs::Permissions::from_mode(0o755)).unwrap();
        }
        field.repository(&ws);
        field
    }

    /// A repository by hand, whose configuration names programs of the workspace.
    fn repository(&self, ws: &Path) {
        for folder in [".git/objects", ".git/refs/heads", ".git/info", ".git/hooks"] {
            fs::create_dir_all(ws.join(folder)).unwrap();
        }
        fs::write(ws.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(ws.join(".gitattributes"), "*.txt filter=x diff=x\n").unwrap();
        let evil = ws.join("run.sh");
        let evil = evil.display();
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {evil}\n\tpager = {evil}\n\
             [diff]\n\texternal = {evil}\n[diff \"x\"]\n\ttextconv = {evil}\n\
             [filter \"x\"]\n\tclean = {evil}\n\tsmudge = {evil}\n[alias]\n\tst = !{evil}\n"
        );
        fs::write(ws.join(".git/config"), config).unwrap();
    }

    /// Makes the repository an ordinary one with a commit.
    fn commit(&self) {
        let ws = self.workspace();
        fs::remove_dir_all(ws.join(".git")).unwrap();
        fs::remove_file(ws.join(".gitattributes")).unwrap();
        for args in [
            &["init", "-q"][..],
            &["add", "-A"],
            &["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "one"],
        ] {
            let mut git = std::process::Command::new("git");
            assert!(git.current_dir(&ws).args(args).output().unwrap().status.success());
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn workspace(&self) -> PathBuf {
        self.at("ws")
    }

    fn home(&self) -> PathBuf {
        self.at("home")
    }

    fn pwned(&self) -> PathBuf {
        self.at("pwned")
    }

    fn system(&self) -> System {
        System::new(&self.workspace(), &self.home(), &[])
    }

    fn places(&self) -> SandboxPaths {
        let programs = self.system().folders().to_vec();
        SandboxPaths {
            workspace: self.workspace(),
            home: self.home(),
            programs,
            own: vec![self.at("own")],
            ..SandboxPaths::default()
        }
    }

    fn sandbox(&self, setting: SandboxMode) -> Arc<Sandbox> {
        Arc::new(Sandbox::new(setting, self.places()))
    }

    fn exec(&self, sandbox: &Arc<Sandbox>) -> Exec {
        let user = BTreeMap::from([("HOME".into(), self.home().into())]);
        let path = self.system().child_path();
        let environment = ChildEnvironment { user, path, ..ChildEnvironment::default() };
        Exec::new(Setup {
            shell: "/bin/sh".into(),
            environment,
            limits: wide_limits(),
            redactor: None,
            lang: Lang::En,
        })
        .with_sandbox(Arc::clone(sandbox))
    }

    fn judge(&self, words: &[&str]) -> Option<Verdict> {
        let (program, args) = words.split_first()?;
        let place = Workspace::new(self.workspace(), self.home());
        let (policy, system) = (Policy::default(), self.system());
        let scene = PolicyContext { policy: &policy, place: &place, world: &system };
        let work = StepAction::exec(*program, args);
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
        Some(safety::assess(step, scene))
    }

    /// The step, if it runs without a question.
    fn harmless(&self, words: &[&str]) -> Option<ClearedStep> {
        match self.judge(words)? {
            Verdict::Run(cleared) => Some(cleared),
            Verdict::Ask(_) | Verdict::Refuse(_) => None,
        }
    }

    /// The step, said yes to.
    fn approved(&self, words: &[&str]) -> ClearedStep {
        match self.judge(words).unwrap() {
            Verdict::Run(cleared) => cleared,
            Verdict::Ask(held) => held.approve(),
            Verdict::Refuse(refused) => panic!("refused: {:?}", refused.judgement().risk),
        }
    }

    fn marks(&self) -> BTreeMap<PathBuf, Mark> {
        let mut out = BTreeMap::new();
        let mut left = vec![self.at("")];
        while let Some(path) = left.pop() {
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
            }
            let nanos = |seconds: i64, nanos: i64| seconds * 1_000_000_000 + nanos;
            let modified = nanos(meta.mtime(), meta.mtime_nsec());
            let changed = nanos(meta.ctime(), meta.ctime_nsec());
            let contents = fs::read(&path).unwrap_or_default();
            out.insert(path, (meta.mode(), modified, changed, contents));
        }
        out
    }

    /// Every line of the tables and of ours, with every tail, that runs by itself.
    fn corpus(&self) -> BTreeSet<Vec<&'static str>> {
        let lines = safety::examples().chain(LINES.iter().copied());
        let lines = lines.map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
        let tailed = lines.flat_map(|words| {
            OPERANDS.iter().map(move |tail| words.iter().chain(*tail).copied().collect::<Vec<_>>())
        });
        tailed.filter(|words| self.harmless(words).is_some()).collect()
    }
}

async fn run(exec: &Exec, step: ClearedStep) -> Observation {
    let (output, _live) = unbounded_channel();
    exec.run(step, RunControl::new(CancellationToken::new(), output)).await
}

fn note(seen: &Observation) -> String {
    seen.note.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn harmless_steps_leave_the_folder_unchanged() {
    let field = SandboxFixture::new();
    let sandbox = field.sandbox(SandboxMode::Read);
    let exec = field.exec(&sandbox);
    let corpus = field.corpus();
    let programs: BTreeSet<&str> = corpus.iter().map(|words| words[0]).collect();
    assert!(corpus.len() >= 300 && programs.len() >= 40, "{} {programs:?}", corpus.len());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let before = field.marks();
    let (mut ran, mut missing) = (0, BTreeSet::new());
    for words in &corpus {
        let seen = run(&exec, field.harmless(words).unwrap()).await;
        assert!(!field.pwned().exists(), "{words:?} started a program of the workspace");
        assert_eq!(field.marks(), before, "{words:?} left a mark");
        // A program this machine lacks is no step that ran.
        match seen.exit_code {
            Some(_) => ran += 1,
            None => drop(missing.insert(words[0])),
        }
    }
    assert!(listener.accept().is_err(), "something connected");
    println!(
        "{} lines of {} programs; {ran} ran; shelter: {:?}",
        corpus.len(),
        programs.len(),
        sandbox.status()
    );
    for program in &missing {
        skip(Reason::OneOfMany(program));
    }
    assert!(ran >= 200, "{ran} ran, these did not start: {missing:?}");
}

/// What the sandbox must not take away from ordinary work.
#[tokio::test]
async fn ordinary_reading_works_the_same_in_the_sandbox() {
    let field = SandboxFixture::new();
    let (held, free) = (field.sandbox(SandboxMode::Read), field.sandbox(SandboxMode::Off));
    let (held, free) = (field.exec(&held), field.exec(&free));
    let lines = [
        "cat a.txt",
        "sort -u a.txt",
        "grep -rn two src a.txt",
        "find . -name *.txt",
        "wc -l a.txt",
        "head -n 1 a.txt",
        "diff a.txt b.txt",
        "git status --porcelain",
        "git branch",
        "whoami",
        "id",
        "nproc",
        "date +%Y",
        "ls -l",
        "uname -a",
        "cat /etc/os-release",
        "stat -c %a a.txt",
    ];
    for line in lines {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some(step) = field.harmless(&words) else { continue };
        let inside = run(&held, step).await;
        let outside = run(&free, field.harmless(&words).unwrap()).await;
        let of = |seen: &Observation| (seen.exit_code, seen.stdout.clone(), seen.stderr.clone());
        assert_eq!(of(&inside), of(&outside), "{line}: {}", note(&inside));
    }
}

/// Forms without an example in the tables.
const MORE_LINES: &[&str] = &[
    "git grep two",
    "git grep -n two -- a.txt",
    "ip addr",
    "ip link",
    "ip route",
    "hostname",
    "hostname -I",
    "dpkg -l",
    "dpkg -S /bin/ls",
    "dpkg -s bash",
    "dpkg -L bash",
    "dpkg-query -W bash",
    "apt list --installed",
    "apt show bash",
    "apt-cache policy bash",
    "lsb_release -a",
    "mvn -v",
    "psql --version",
    "ss -tln",
    "last -n 1",
    "cargo --version",
    "rustc --version",
    "npm --version",
    "node --version",
    "python3 --version",
    "pip --version",
    "git stash list",
    "git reflog",
    "git describe --always",
    "git blame a.txt",
    "git ls-files",
    "git cat-file -p HEAD",
    "git rev-parse HEAD",
];

#[tokio::test]
async fn a_program_of_the_system_is_read_by_the_step_that_names_it_and_its_folder_by_none() {
    let field = SandboxFixture::new();
    let sandbox = field.sandbox(SandboxMode::Read);
    if sandbox.status() == SandboxStatus::Absent {
        return skip(Reason::NoSandbox);
    }
    let (held, free) = (field.exec(&sandbox), field.exec(&field.sandbox(SandboxMode::Off)));
    for line in ["wc -c /bin/ls", "sha256sum /usr/bin/env /bin/ls", "strings /bin/ls"] {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let inside = run(&held, field.harmless(&words).expect(line)).await;
        let outside = run(&free, field.harmless(&words).expect(line)).await;
        assert_eq!(
            (inside.exit_code, inside.stdout),
            (outside.exit_code, outside.stdout),
            "{line}"
        );
    }
    for line in ["grep -r x /usr/bin", "wc -c /bin/no-such-program"] {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        assert!(field.harmless(&words).is_none(), "{line}");
    }
}

/// How a line ends inside and outside the sandbox, and its errors inside; `None`: its program is not
/// on this machine.
async fn exit_codes(
    field: &SandboxFixture,
    held: &Exec,
    free: &Exec,
    line: &str,
) -> Option<(Option<i32>, Option<i32>, String)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let outside = run(free, field.harmless(&words)?).await;
    outside.exit_code?;
    let inside = run(held, field.harmless(&words)?).await;
    Some((inside.exit_code, outside.exit_code, inside.stderr))
}

/// A step that the tables let run must not fail because of the sandbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_that_runs_by_itself_exits_the_same_inside_and_outside_the_sandbox() {
    let field = SandboxFixture::new();
    field.commit();
    let sandbox = field.sandbox(SandboxMode::Read);
    if sandbox.status() == SandboxStatus::Absent {
        return skip(Reason::NoSandbox);
    }
    let (held, free) = (field.exec(&sandbox), field.exec(&field.sandbox(SandboxMode::Off)));
    let lines = safety::examples().chain(LINES.iter().copied()).chain(MORE_LINES.iter().copied());
    let lines: BTreeSet<&str> = lines.collect();
    let mut compared = 0;
    let mut differ = Vec::new();
    for line in lines {
        let Some(first) = exit_codes(&field, &held, &free, line).await else { continue };
        compared += 1;
        if first.0 == first.1 {
            continue;
        }
        // Others add and remove files of `/tmp` and processes meanwhile.
        let again = exit_codes(&field, &held, &free, line).await.unwrap_or(first);
        if again.0 != again.1 {
            differ.push(format!("{line}: {again:?}"));
        }
    }
    println!("{compared} lines compared");
    assert!(compared >= 150, "{compared}");
    assert_eq!(differ, [""; 0], "{differ:#?}");
}

#[tokio::test]
async fn approved_steps_write_where_the_sandbox_setting_allows() {
    let field = SandboxFixture::new();
    let free = field.exec(&field.sandbox(SandboxMode::Read));
    fs::create_dir(field.at("elsewhere")).unwrap();
    let seen = run(&free, field.approved(&["touch", "../elsewhere/free"])).await;
    assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
    let sandbox = field.sandbox(SandboxMode::Work);
    if sandbox.status() == SandboxStatus::Absent {
        return skip(Reason::NoSandbox);
    }
    let held = field.exec(&sandbox);
    let seen = run(&held, field.approved(&["touch", "inside"])).await;
    assert_eq!(seen.exit_code, Some(0), "{}", seen.stderr);
    for words in [
        &["touch", "../elsewhere/new"][..],
        &["cp", "a.txt", "../elsewhere/new"],
        &["mkdir", "../elsewhere/new"],
        &["ln", "-s", "a.txt", "../elsewhere/new"],
        &["mv", "b.txt", "../elsewhere/new"],
    ] {
        let seen = run(&held, field.approved(words)).await;
        assert_ne!(seen.exit_code, Some(0), "{words:?}");
        assert!(!field.at("elsewhere/new").exists(), "{words:?}");
    }
}

#[tokio::test]
async fn sandbox_off_is_reported_and_confines_nothing() {
    let field = SandboxFixture::new();
    let sandbox = field.sandbox(SandboxMode::Off);
    assert_eq!(sandbox.status(), SandboxStatus::Off);
    let rows = format!("{:?}", sandbox.rows());
    assert!(rows.contains(phrases::SET_OFF.en), "{rows}");
    let seen = run(&field.exec(&sandbox), field.harmless(&["cat", "b.txt"]).unwrap()).await;
    assert_eq!(seen.stdout, "two\n1\n");
}

#[tokio::test]
async fn without_a_sandbox_harmless_and_approved_steps_run_as_they_are() {
    let field = SandboxFixture::new();
    let lacking = |setting| Arc::new(Sandbox::unavailable(setting, phrases::NO_KERNEL));
    for setting in [SandboxMode::Read, SandboxMode::Work] {
        let sandbox = lacking(setting);
        assert_eq!(sandbox.status(), SandboxStatus::Absent);
        let exec = field.exec(&sandbox);
        let seen = run(&exec, field.harmless(&["cat", "b.txt"]).unwrap()).await;
        assert_eq!((seen.exit_code, seen.stdout.as_str()), (Some(0), "two\n1\n"));
        let seen = run(&exec, field.approved(&["touch", "new"])).await;
        assert_eq!((seen.exit_code, seen.outcome), (Some(0), Outcome::Ran), "{}", note(&seen));
        let rows = format!("{:?}", sandbox.rows());
        assert!(rows.contains(phrases::ABSENT_ASKS.en), "{rows}");
    }
}

/// Steps may run side by side; each has a folder of its own and none holds the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sandbox_confines_the_step_and_never_this_process() {
    let field = SandboxFixture::new();
    let sandbox = field.sandbox(SandboxMode::Read);
    let exec = field.exec(&sandbox);
    let steps = (0..16).map(|_| run(&exec, field.harmless(&["cat", "a.txt"]).unwrap()));
    for seen in futures_util::future::join_all(steps).await {
        assert_eq!(seen.exit_code, Some(0), "{} {}", seen.stderr, note(&seen));
    }
    fs::write(field.workspace().join("mine"), "x").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(std::net::TcpStream::connect(listener.local_addr().unwrap()).is_ok());
}

#[test]
fn sessions_share_what_was_tried_out_and_one_without_a_sandbox_says_nothing_for_the_others() {
    let trial = SandboxTrial::default();
    let of = |mode| Sandbox::new(mode, SandboxPaths::default()).with_trial(trial.clone());
    assert_eq!(of(SandboxMode::Off).status(), SandboxStatus::Off);
    let alone = Sandbox::new(SandboxMode::Work, SandboxPaths::default()).status();
    assert_eq!(of(SandboxMode::Work).status(), alone);
    assert_eq!(of(SandboxMode::Off).status(), SandboxStatus::Off);
    let reads = of(SandboxMode::Read).status();
    assert_eq!(reads == SandboxStatus::Absent, alone == SandboxStatus::Absent);
}
