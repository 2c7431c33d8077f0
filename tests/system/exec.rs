//! Real child processes, run by the tool that sessions use. Tests wait for facts with a deadline;
//! none sleeps for a fixed time.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use avocet::i18n::Lang;
use avocet::protocol::{Observation, Outcome, Requires, Step, StepAction};
use avocet::safety::{
    self, ClearedStep, Contents, Machine, PathKind, Policy, PolicyContext, Program, Unknown,
    Verdict, Workspace,
};
use avocet::tools::exec::{ChildEnvironment, Exec, Setup, StepLimits};
use avocet::tools::{RunControl, Tool};
use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

#[cfg(target_os = "linux")]
use crate::ALONE;
#[cfg(target_os = "linux")]
use crate::support::skip::{Reason, skip};
use crate::support::wait::{PATIENCE, wide_limits};

/// Programs of this machine, and those of the test's own folder.
struct TestMachine {
    folders: Vec<PathBuf>,
}

impl Machine for TestMachine {
    fn resolve(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    }

    fn kind(&self, path: &Path) -> PathKind {
        match std::fs::metadata(path) {
            Err(_) => PathKind::Missing,
            Ok(meta) if meta.is_file() => PathKind::File,
            Ok(meta) if meta.is_dir() => PathKind::Folder,
            Ok(_) => PathKind::Other,
        }
    }

    fn program(&self, name: &str) -> Option<Program> {
        let found = self.folders.iter().map(|folder| folder.join(name));
        let path = found.into_iter().find(|path| path.is_file())?;
        let meta = std::fs::metadata(&path).ok()?;
        Some(Program {
            path,
            device: meta.dev(),
            inode: meta.ino(),
            modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
            link: None,
        })
    }

    fn read(&self, _: &Path, _: usize) -> Contents {
        Contents::Missing
    }
}

/// A folder with programs and scripts, and a tool to run them with.
struct ExecFixture {
    folder: TempDir,
    limits: StepLimits,
    cancel: CancellationToken,
}

impl ExecFixture {
    fn new() -> ExecFixture {
        let limits = StepLimits { grace: Duration::from_millis(200), ..wide_limits() };
        ExecFixture { folder: crate::support::temp_dir(), limits, cancel: CancellationToken::new() }
    }

    /// With this much time for every step.
    fn with_timeout(time: Duration) -> ExecFixture {
        let mut bench = ExecFixture::new();
        bench.limits.alone = time;
        bench.limits.approved = time;
        bench
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// A program of the test's own folder.
    fn program(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The step as a person approves it.
    fn cleared(&self, work: StepAction) -> ClearedStep {
        let policy = Policy { unknown_program: Unknown::Confirm, ..Policy::default() };
        let place = Workspace::new(self.root(), "/nonexistent");
        let folders = vec!["/usr/bin".into(), "/bin".into(), self.root()];
        let scene =
            PolicyContext { policy: &policy, place: &place, world: &TestMachine { folders } };
        let step = Step { id: "cmd_001".into(), work, requires: Requires::default(), cwd: None };
        match safety::assess(step, scene) {
            Verdict::Run(cleared) => cleared,
            Verdict::Ask(held) => held.approve(),
            Verdict::Refuse(refused) => panic!("{:?}", refused.judgement().risk),
        }
    }

    fn exec(&self) -> Exec {
        let user = [
            ("PATH", "/usr/bin:/bin:."),
            ("LD_PRELOAD", "/nonexistent.so"),
            ("OUR_MODEL_KEY", "sk-ours"),
            ("THEIRS", "kept"),
        ];
        let environment = ChildEnvironment {
            user: BTreeMap::from(user.map(|(name, value)| (name.into(), value.into()))),
            path: "/usr/bin:/bin".into(),
            own_keys: vec!["OUR_MODEL_KEY".into()],
            ..ChildEnvironment::default()
        };
        Exec::new(Setup {
            shell: "/bin/sh".into(),
            environment,
            limits: self.limits,
            redactor: None,
            lang: Lang::En,
        })
    }

    fn start(
        &self,
        work: StepAction,
    ) -> (impl Future<Output = Observation> + Send + use<>, UnboundedReceiver<String>) {
        let (output, live) = unbounded_channel();
        let watch = RunControl::new(self.cancel.clone(), output);
        (self.exec().run(self.cleared(work), watch), live)
    }

    /// A line for the shell, as a person types it.
    async fn shell(&self, line: &str) -> Observation {
        self.start(StepAction::Shell { line: line.into() }).0.await
    }

    /// A script of these lines, run by `sh` with these args.
    async fn script(&self, lines: &str, args: &[&str]) -> Observation {
        self.start(self.script_work(lines, args)).0.await
    }

    fn script_work(&self, lines: &str, args: &[&str]) -> StepAction {
        std::fs::write(self.path("script.sh"), lines).unwrap();
        let all: Vec<&str> = std::iter::once("script.sh").chain(args.iter().copied()).collect();
        StepAction::exec("sh", &all)
    }

    /// The process number a script wrote into a file.
    async fn pid(&self, name: &str) -> i32 {
        wait_for(|| std::fs::read_to_string(self.path(name)).ok()?.trim().parse().ok()).await
    }
}

/// Looks until there is an answer.
async fn wait_for<T>(look: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_gone(pid: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::test_kill_process(pid).is_err()
}

fn note(observation: &Observation) -> String {
    observation.note.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[tokio::test]
async fn arguments_arrive_exactly_as_they_are() {
    let bench = ExecFixture::new();
    let args = ["a b", "", "line\nbreak", "$(touch x)", "*", "'\"", "好", "; exit 3", "--"];
    let seen = bench.script(r#"for a in "$@"; do printf '[%s]' "$a"; done"#, &args).await;
    let expected: String = args.iter().map(|arg| format!("[{arg}]")).collect();
    assert_eq!(seen.stdout, expected);
    assert_eq!((seen.exit_code, seen.outcome, seen.truncated), (Some(0), Outcome::Ran, false));
    assert!(!bench.path("x").exists());
}

#[tokio::test]
async fn a_step_has_closed_input_no_terminal_and_the_assessed_folder() {
    let bench = ExecFixture::new();
    let seen = bench.script("cat; pwd -P; (: </dev/tty) 2>/dev/null || echo none", &[]).await;
    assert_eq!(seen.stdout, format!("{}\nnone\n", bench.root().display()));
}

#[tokio::test]
async fn the_environment_is_the_users_without_dangerous_or_own_variables() {
    let seen = ExecFixture::new().shell("env").await;
    assert!(seen.stdout.contains("THEIRS=kept\n"), "{}", seen.stdout);
    assert!(seen.stdout.contains("PATH=/usr/bin:/bin\n"), "{}", seen.stdout);
    assert!(!seen.stdout.contains("LD_PRELOAD") && !seen.stdout.contains("OUR_MODEL_KEY"));
}

#[tokio::test]
async fn exit_codes_and_both_streams_come_back() {
    let seen = ExecFixture::new().script("echo out; echo err >&2; exit 7", &[]).await;
    assert_eq!((seen.stdout.as_str(), seen.stderr.as_str()), ("out\n", "err\n"));
    assert_eq!((seen.exit_code, seen.outcome, note(&seen)), (Some(7), Outcome::Ran, String::new()));
}

#[tokio::test]
async fn a_death_by_signal_is_named() {
    let seen = ExecFixture::new().script("kill -SEGV $$", &[]).await;
    assert_eq!(seen.exit_code, None);
    assert_eq!(note(&seen), "It was killed by signal SIGSEGV.");
}

#[tokio::test]
async fn a_child_that_ignores_int_and_term_is_killed_at_its_timeout() {
    // Long enough for the shell to begin.
    let bench = ExecFixture::with_timeout(Duration::from_secs(3));
    let began = Instant::now();
    let lines = "trap '' INT TERM; echo $$ > pid; echo begun; while :; do sleep 1000; done";
    let seen = bench.script(lines, &[]).await;
    assert_eq!((seen.outcome, seen.exit_code), (Outcome::TimedOut, None));
    assert_eq!(seen.stdout, "begun\n");
    assert!(note(&seen).starts_with("It was stopped after"));
    assert!(began.elapsed() >= Duration::from_millis(3_400), "INT and TERM had their chance");
    assert!(is_gone(bench.pid("pid").await));
}

#[tokio::test]
async fn a_child_that_handles_term_may_clean_up() {
    let mut bench = ExecFixture::with_timeout(Duration::from_secs(3));
    // It ends long before, however slow the machine; where these tests were started with
    // INT ignored, it is TERM that it hears.
    bench.limits.grace = Duration::from_secs(2);
    let lines = "trap 'echo cleaned; exit 0' INT TERM; echo x; sleep 1000 & wait";
    let seen = bench.script(lines, &[]).await;
    assert_eq!((seen.outcome, seen.stdout.as_str()), (Outcome::TimedOut, "x\ncleaned\n"));
}

#[tokio::test]
async fn a_cancel_ends_the_child_and_its_children_at_once() {
    let bench = ExecFixture::new();
    let work = bench.script_work("sleep 1000 & echo $! > pid; wait; wait", &[]);
    let (running, _live) = bench.start(work);
    let running = tokio::spawn(running);
    let pid = bench.pid("pid").await;
    let began = Instant::now();
    bench.cancel.cancel();
    let seen = running.await.unwrap();
    assert_eq!((seen.outcome, seen.exit_code), (Outcome::Cancelled, None));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(is_gone(pid));
}

#[tokio::test]
async fn a_step_cancelled_before_it_starts_does_not_start() {
    let bench = ExecFixture::new();
    bench.cancel.cancel();
    let seen = bench.shell("touch started").await;
    assert_eq!(seen.outcome, Outcome::Cancelled);
    assert!(!bench.path("started").exists());
}

#[tokio::test]
async fn dropping_a_step_ends_its_process_tree() {
    let bench = ExecFixture::new();
    let work = bench.script_work("sleep 1000 & echo $! > pid; wait", &[]);
    let (running, _live) = bench.start(work);
    let running = tokio::spawn(running);
    let pid = bench.pid("pid").await;
    running.abort();
    wait_for(|| is_gone(pid).then_some(())).await;
}

#[tokio::test]
async fn a_process_left_in_the_background_ends_with_the_step() {
    let bench = ExecFixture::new();
    let seen = bench.script("sleep 1000 >/dev/null 2>&1 & echo $! > pid; echo done", &[]).await;
    assert_eq!((seen.exit_code, seen.stdout.as_str()), (Some(0), "done\n"));
    assert!(is_gone(bench.pid("pid").await));
    #[cfg(target_os = "linux")]
    assert!(note(&seen).ends_with("ended with the step: 1."), "{}", note(&seen));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_left_the_session_ends_with_the_step_too() {
    let bench = ExecFixture::new();
    let escape = "setsid sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 &
        while ! test -s pid; do :; done; echo done";
    let seen = bench.script(escape, &[]).await;
    assert_eq!((seen.exit_code, seen.stdout.as_str()), (Some(0), "done\n"));
    assert!(is_gone(bench.pid("pid").await));
    assert!(note(&seen).contains("ended with the step"), "{}", note(&seen));
}

/// As where a container is entered: nobody leads the session, and its number is 0 inside.
#[cfg(target_os = "linux")]
#[test]
fn processes_of_a_step_end_in_a_container_whose_session_was_made_outside() {
    let inside = |program: &str, args: &[&str]| {
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", program]);
        unshare.args(args).output()
    };
    if !inside("true", &[]).is_ok_and(|output| output.status.success()) {
        return skip(Reason::NoMount);
    }
    let tests = std::env::current_exe().unwrap();
    let test = "exec::a_process_that_left_the_session_ends_with_the_step_too";
    let output = inside(tests.to_str().unwrap(), &["--exact", test]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("test result: ok. 1 passed"), "{said}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_left_the_session_ends_with_a_cancelled_step() {
    let _alone = ALONE.lock().await;
    let bench = ExecFixture::new();
    let escape =
        "setsid sh -c 'trap \"\" INT TERM; env -i sleep 1000 & echo $! > pid; wait' & wait";
    let (running, _live) = bench.start(bench.script_work(escape, &[]));
    let running = tokio::spawn(running);
    let pid = bench.pid("pid").await;
    bench.cancel.cancel();
    assert_eq!(running.await.unwrap().outcome, Outcome::Cancelled);
    assert!(is_gone(pid));
}

/// Ways out of a step's session, group and environment; each writes its number to `pid`.
#[cfg(target_os = "linux")]
const ESCAPES: &[&str] = &[
    "env -i setsid sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 &",
    "env -i setsid sh -c 'setsid sh -c \"echo \\$\\$ > pid; exec sleep 1000\" &' >/dev/null 2>&1",
    "(env -i setsid sh -c '(sleep 1000 & echo $! > pid) &' &) >/dev/null 2>&1",
    "nohup env -i setsid --fork sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 </dev/null",
    "env -i setsid sh -c 'trap \"\" INT TERM HUP; echo $$ > pid; while :; do sleep 1; done' >/dev/null 2>&1 &",
];

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_process_outlives_its_step_by_a_new_session_or_a_cleared_environment() {
    let _alone = ALONE.lock().await;
    for escape in ESCAPES {
        let bench = ExecFixture::new();
        let lines = format!("{escape}\nwhile ! test -s pid; do :; done; echo done");
        let seen = bench.script(&lines, &[]).await;
        assert_eq!((seen.exit_code, seen.stdout.as_str()), (Some(0), "done\n"), "{escape}");
        assert!(is_gone(bench.pid("pid").await), "{escape}");
        assert!(note(&seen).contains("ended with the step"), "{escape}: {}", note(&seen));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn concurrent_steps_each_end_only_their_own_processes() {
    let _alone = ALONE.lock().await;
    let (one, two) = (ExecFixture::new(), ExecFixture::new());
    let escape = "(env -i setsid sh -c '(sleep 1000 & echo $! > pid) &' &) >/dev/null 2>&1
        while ! test -s pid; do :; done";
    let work = two.script_work(&format!("{escape}; touch began; sleep 1000"), &[]);
    let (running, _live) = two.start(work);
    let running = tokio::spawn(running);
    wait_for(|| two.path("began").exists().then_some(())).await;
    let seen = one.script(escape, &[]).await;
    assert!(note(&seen).ends_with("ended with the step: 1."), "{}", note(&seen));
    assert!(is_gone(one.pid("pid").await));
    let other = two.pid("pid").await;
    assert!(!is_gone(other), "what another step started goes on");
    two.cancel.cancel();
    running.await.unwrap();
    assert!(is_gone(other));
}

#[derive(Debug, Default)]
struct GroupEvents(std::sync::Mutex<Vec<(bool, i32, String)>>);

impl avocet::tools::exec::StepWatch for GroupEvents {
    fn started(&self, leader: i32, mark: &str) {
        self.0.lock().unwrap().push((true, leader, mark.to_owned()));
    }

    fn ended(&self, leader: i32, mark: &str) {
        self.0.lock().unwrap().push((false, leader, mark.to_owned()));
    }
}

#[tokio::test]
async fn an_observer_is_notified_of_every_process_groups_start_and_end() {
    let bench = ExecFixture::new();
    let heard = std::sync::Arc::new(GroupEvents::default());
    let exec = bench.exec().with_step_watch(heard.clone());
    let (output, _live) = unbounded_channel();
    let watch = RunControl::new(bench.cancel.clone(), output);
    let seen = exec.run(bench.cleared(bench.script_work("echo $$", &[])), watch).await;
    let heard = heard.0.lock().unwrap().clone();
    let pid: i32 = seen.stdout.trim().parse().unwrap();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert_eq!((heard[0].0, heard[0].1, heard[1].0, heard[1].1), (true, pid, false, pid));
    assert!(heard[0].2 == heard[1].2 && heard[0].2.len() == 16);
}

#[tokio::test]
async fn a_child_that_ignores_signals_is_killed_soon_after_the_program_exits() {
    let mut bench = ExecFixture::new();
    bench.limits.grace = Duration::from_secs(600);
    let leaving = CancellationToken::new();
    let exec = bench.exec().with_exit_token(leaving.clone());
    let deaf = "trap '' INT TERM HUP; echo $$ > pid; while :; do sleep 1; done";
    let (output, _live) = unbounded_channel();
    let watch = RunControl::new(bench.cancel.clone(), output);
    let running = tokio::spawn(exec.run(bench.cleared(bench.script_work(deaf, &[])), watch));
    let pid = bench.pid("pid").await;
    bench.cancel.cancel();
    let began = Instant::now();
    leaving.cancel();
    assert_eq!(running.await.unwrap().outcome, Outcome::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
    assert!(is_gone(pid));
}

#[tokio::test]
async fn a_daemon_that_keeps_the_pipe_open_does_not_block_the_step() {
    let bench = ExecFixture::new();
    let began = Instant::now();
    let seen = bench.script("echo first; sleep 1000 & echo $! > pid", &[]).await;
    assert_eq!((seen.exit_code, seen.stdout.as_str()), (Some(0), "first\n"));
    assert!(note(&seen).starts_with("A background process held the output open"));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(is_gone(bench.pid("pid").await));
}

#[tokio::test]
async fn excessive_output_is_bounded_and_does_not_block_the_child() {
    let bench = ExecFixture::new();
    let lines = "yes 0123456789 | head -c 30000000; yes e | head -c 3000000 >&2; echo; echo last";
    let (running, mut live) = bench.start(bench.script_work(lines, &[]));
    let seen = running.await;
    assert_eq!(seen.exit_code, Some(0));
    assert!(seen.truncated && seen.stdout.len() < 20_000 && seen.stderr.len() < 5_000);
    assert!(seen.stdout.starts_with("0123456789\n") && seen.stdout.ends_with("\nlast\n"));
    assert!(seen.stdout.contains("[… 28.6 MiB left out …]"), "{}", seen.stdout);
    let mut shown = 0;
    while let Ok(piece) = live.try_recv() {
        shown += piece.len();
    }
    assert!(shown < 300_000, "{shown}");
}

#[tokio::test]
async fn endless_output_ends_at_the_timeout() {
    // It may begin late, and has then written too little to be cut.
    let mut was_cut = false;
    for millis in [300, 1_000, 3_000, 6_000] {
        let bench = ExecFixture::with_timeout(Duration::from_millis(millis));
        let seen = bench.shell("yes").await;
        assert_eq!(seen.outcome, Outcome::TimedOut);
        assert!(seen.stdout.len() < 20_000);
        was_cut = seen.truncated;
        if was_cut {
            break;
        }
    }
    assert!(was_cut, "nothing was cut");
}

#[tokio::test]
async fn output_is_shown_while_the_step_runs() {
    let bench = ExecFixture::new();
    let lines = "printf 'now\\n'; while ! test -e go; do sleep 0.01; done; echo then";
    let (running, mut live) = bench.start(bench.script_work(lines, &[]));
    let running = tokio::spawn(running);
    assert_eq!(live.recv().await.as_deref(), Some("now\n"));
    std::fs::write(bench.path("go"), "").unwrap();
    assert_eq!(running.await.unwrap().stdout, "now\nthen\n");
    assert_eq!(live.recv().await.as_deref(), Some("then\n"));
    assert_eq!(live.recv().await, None);
}

#[tokio::test]
async fn invalid_utf8_and_a_missing_final_newline_are_accepted() {
    let seen = ExecFixture::new().script(r"printf 'a\377\376b\000c\345\245\275'", &[]).await;
    assert_eq!(seen.stdout, "a\u{fffd}\u{fffd}b\0c好");
}

#[tokio::test]
async fn a_missing_program_is_an_observation() {
    let bench = ExecFixture::new();
    let cleared = bench.cleared(StepAction::exec("no-such-program", &[]));
    let (output, _live) = unbounded_channel();
    let watch = RunControl::new(bench.cancel.clone(), output);
    let seen = bench.exec().run(cleared, watch).await;
    assert_eq!(seen.exit_code, None);
    let said = note(&seen);
    assert!(said.starts_with("`no-such-program` was not found in the trusted program folders."));
    for hint in ["/doctor", "`program_folders`", "restart"] {
        assert!(said.contains(hint), "{said}");
    }
}

#[tokio::test]
async fn a_program_changed_after_its_assessment_is_not_started() {
    let bench = ExecFixture::new();
    bench.program("mine", "#!/bin/sh\necho mine\n");
    let cleared = bench.cleared(StepAction::exec("mine", &[]));
    bench.program("other", "#!/bin/sh\ntouch ran\n");
    std::fs::rename(bench.path("other"), bench.path("mine")).unwrap();
    let (output, _live) = unbounded_channel();
    let watch = RunControl::new(bench.cancel.clone(), output);
    let seen = bench.exec().run(cleared, watch).await;
    assert_eq!(seen.outcome, Outcome::Refused);
    assert!(note(&seen).contains("changed after it was judged"));
    assert!(!bench.path("ran").exists());
}
