//! Tests that need a judgement made by hand: tiers, programs that do not start.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::*;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Requires, Risk, Step};
use avocet_safety::Program;
use avocet_safety::redact::Redactor;
use skip::{Reason, skip};

#[allow(dead_code, reason = "not all reasons occur here")]
#[path = "../../../tests/support/skip.rs"]
mod skip;

fn judged(tier: Tier, cwd: &Path, program: &Path, args: &[&str]) -> Judgement {
    let name = program.file_name().expect("a name").to_string_lossy();
    let meta = std::fs::metadata(program).expect("a program");
    // The judgement's result for a git that runs alone or in a wrapper.
    let behind = args.iter().position(|arg| *arg == "git").map(|at| at + 1);
    let git = if name == "git" { Some(0) } else { behind };
    Judgement {
        step: Step {
            id: "cmd_001".into(),
            work: StepAction::exec(name, args),
            requires: Requires::default(),
            cwd: None,
        },
        risk: Risk { tier, rule: "test".into(), reasons: vec![], effects: vec![], lifted: false },
        program: Some(Program {
            path: program.to_owned(),
            device: meta.dev(),
            inode: meta.ino(),
            modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
            link: None,
        }),
        cwd: cwd.to_owned(),
        pieces: vec![],
        seen: avocet_safety::SeenPrograms::default(),
        task: None,
        launch: avocet_safety::Launch { git, ..Default::default() },
    }
}

async fn run_step(judged: Judgement, redactor: Option<Redactor>) -> Observation {
    run_cleared(ClearedStep::new_for_test(judged), redactor).await
}

async fn run_cleared(step: ClearedStep, redactor: Option<Redactor>) -> Observation {
    let user = [("HOME", "/nonexistent"), ("MINE", "1"), ("PATH", "/usr/bin:/bin")];
    let setup = Setup {
        shell: "/bin/sh".into(),
        environment: ChildEnvironment {
            user: user.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            path: "/usr/bin:/bin".into(),
            ..ChildEnvironment::default()
        },
        limits: StepLimits::default(),
        redactor: redactor.map(Arc::new),
        lang: Lang::En,
    };
    let (output, _live) = unbounded_channel();
    let watch = RunControl::new(CancellationToken::new(), output);
    run(&Exec::new(setup), &step, None, &watch).await.observation
}

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("avocet").tempdir().expect("a folder")
}

fn program(folder: &Path, text: &[u8], mode: u32) -> PathBuf {
    let path = folder.join("prog");
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    path
}

fn note_of(observation: &Observation) -> String {
    observation.note.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[tokio::test]
async fn an_automatic_step_sees_only_the_short_environment() {
    let folder = folder();
    let env = Path::new("/usr/bin/env");
    let seen = run_step(judged(Tier::L0, folder.path(), env, &[]), None).await;
    assert!(seen.stdout.contains("NO_COLOR=1\n") && seen.stdout.contains("HOME=/nonexistent\n"));
    assert!(!seen.stdout.contains("MINE="), "{}", seen.stdout);
    let seen = run_step(judged(Tier::L1, folder.path(), env, &[]), None).await;
    assert!(seen.stdout.contains("MINE=1\n") && !seen.stdout.contains("NO_COLOR"));
}

#[tokio::test]
async fn a_program_that_does_not_start_says_why() {
    let folder = folder();
    let path = folder.path();
    let cases: [(&[u8], u32, &str); 2] = [
        (b"#!/no/such/interpreter\n", 0o755, "interpreter"),
        (b"#!/bin/sh\n", 0o644, "does not allow"),
    ];
    for (text, mode, words) in cases {
        let prog = program(path, text, mode);
        let seen = run_step(judged(Tier::L1, path, &prog, &[]), None).await;
        assert!(note_of(&seen).contains(words), "{words}: {}", note_of(&seen));
        assert_eq!((seen.exit_code, seen.outcome), (None, Outcome::NotStarted));
    }
    let prog = program(path, b"#!/bin/sh\n", 0o755);
    let seen = run_step(judged(Tier::L1, path, &prog, &["a\0b"]), None).await;
    assert!(note_of(&seen).contains("NUL byte"));
    let long = "x".repeat(3_000_000);
    let seen = run_step(judged(Tier::L1, path, &prog, &[&long]), None).await;
    assert!(note_of(&seen).contains("longer than the system allows"), "{}", note_of(&seen));
    let missing = path.join("gone");
    let seen = run_step(judged(Tier::L1, &missing, &prog, &[]), None).await;
    assert!(note_of(&seen).contains("does not exist, so nothing was started"));
}

#[tokio::test]
async fn a_secret_is_masked_before_the_output_is_cut() {
    let folder = folder();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("#!/bin/sh\necho start {token}\necho {token} >&2\n");
    let prog = program(folder.path(), text.as_bytes(), 0o755);
    let redactor = Redactor::new([("", ""); 0], [1; 16]);
    let seen = run_step(judged(Tier::L1, folder.path(), &prog, &[]), Some(redactor)).await;
    assert!(seen.stdout.starts_with("start ‹secret:github-token #"), "{}", seen.stdout);
    assert!(!seen.stderr.contains("ghp_"));
}

#[tokio::test]
async fn a_planted_repository_runs_nothing_when_git_runs_without_approval() {
    let folder = folder();
    let path = folder.path();
    let git = Path::new("/usr/bin/git");
    if !git.exists() {
        return skip(Reason::NotInstalled("/usr/bin/git"));
    }
    let evil =
        program(path, b"#!/bin/sh\necho \"$0 $*\" >> \"$(dirname \"$0\")/pwned\"\ncat\n", 0o755);
    let evil = evil.to_string_lossy();
    for args in
        [vec!["init", "-q"], vec!["config", "user.email", "a@b"], vec!["config", "user.name", "a"]]
    {
        run_step(judged(Tier::L1, path, git, &args), None).await;
    }
    std::fs::write(path.join("a.txt"), "one\n").expect("a file");
    run_step(judged(Tier::L1, path, git, &["add", "a.txt"]), None).await;
    run_step(judged(Tier::L1, path, git, &["commit", "-qm", "first"]), None).await;
    std::fs::write(path.join("a.txt"), "two\n").expect("a file");
    std::fs::write(path.join(".gitattributes"), "*.txt filter=x diff=x\n").expect("a file");
    for key in
        ["core.fsmonitor", "diff.external", "filter.x.clean", "diff.x.textconv", "diff.x.command"]
    {
        run_step(judged(Tier::L1, path, git, &["config", key, &evil]), None).await;
    }
    let _ = std::fs::remove_file(path.join("pwned"));
    let status = run_step(judged(Tier::L0, path, git, &["status", "--porcelain"]), None).await;
    assert!(status.stdout.contains(" M a.txt\n"), "{} {}", status.stdout, status.stderr);
    for (wrapper, args) in [("timeout", &["5", "git", "diff"][..]), ("nice", &["git", "status"])] {
        let wrapper = Path::new("/usr/bin").join(wrapper);
        let seen = run_step(judged(Tier::L0, path, &wrapper, args), None).await;
        assert!(seen.stdout.contains("a.txt"), "{} {}", seen.stdout, seen.stderr);
    }
    let diff = run_step(judged(Tier::L0, path, git, &["diff"]), None).await;
    assert!(diff.stdout.contains("\n-one\n+two\n"), "{} {}", diff.stdout, diff.stderr);
    let log = run_step(judged(Tier::L0, path, git, &["log", "-p"]), None).await;
    assert!(log.stdout.contains("first") && log.stdout.contains("+one"));
    assert_eq!(std::fs::read_to_string(path.join("pwned")).unwrap_or_default(), "");
}

mod held;
#[tokio::test]
async fn a_step_that_differs_from_the_judged_one_does_not_start() {
    let folder = folder();
    let echo = Path::new("/usr/bin/env");
    let asked = || ClearedStep::new_for_test(judged(Tier::L1, folder.path(), echo, &["true"]));
    assert_eq!(run_cleared(asked(), None).await.outcome, Outcome::Ran);
    let changes: [fn(&mut Judgement); 4] = [
        |judged| judged.step.work = StepAction::exec("env", &["false"]),
        |judged| judged.step.work = StepAction::Shell { line: "true".into() },
        |judged| judged.cwd = "/".into(),
        |judged| judged.risk.tier = Tier::L0,
    ];
    for change in changes {
        let seen = run_cleared(asked().tampered(change), None).await;
        assert_eq!((seen.outcome, seen.exit_code), (Outcome::Refused, None), "{seen:?}");
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "a process that no step of this one started")]
async fn the_jobs_of_earlier_sessions_pause_with_the_steps_of_this_one() {
    let place = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
    let mark = "0000010000000abc".to_owned();
    let mut child = std::process::Command::new("sleep")
        .arg("600")
        .env(process_group::MARK, &mark)
        .spawn()
        .unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let id = process_id::ProcessId::of(pid).unwrap();
    let job = KeptJob {
        folder: "/w/shop/sub".into(),
        step: "cmd_001".into(),
        line: "sleep 600".into(),
        began: 0,
        ports: Vec::new(),
        ended: false,
        leader: id,
        keeper: id,
        mark: mark.clone(),
        place: place.path().to_owned(),
    };
    job.save().unwrap();
    let around = |folder: &str| KeptJob::marks_around(place.path(), Path::new(folder)).0;
    assert_eq!((around("/w/other"), around("/w/shop")), (Vec::new(), vec![mark.clone()]));
    assert_eq!(around("/w/shop/sub/a"), [mark.as_str()]);
    let is_paused = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
    };
    // Until its program runs it does not show the mark.
    while !std::fs::read(format!("/proc/{pid}/cmdline")).unwrap().starts_with(b"sleep") {
        tokio::task::yield_now().await;
    }
    let kept = place.path().to_owned();
    let marks = move || KeptJob::marks_around(&kept, Path::new("/w/shop"));
    let paused = PausedSteps::pause(DaemonRule::default(), marks).await;
    while !is_paused() {
        tokio::task::yield_now().await;
    }
    // A session that begins meanwhile leaves it paused.
    KeptJob::find(place.path(), Path::new("/w/shop/sub"));
    assert!(is_paused());
    drop(paused);
    while is_paused() {
        tokio::task::yield_now().await;
    }
    // One whose session was killed is found later, and goes on.
    let stopped = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(stopped, rustix::process::Signal::STOP).unwrap();
    while !is_paused() {
        tokio::task::yield_now().await;
    }
    assert_eq!(KeptJob::find(place.path(), Path::new("/w/shop/sub")).len(), 1);
    while is_paused() {
        tokio::task::yield_now().await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
