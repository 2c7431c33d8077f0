//! Tracks and ends the processes that a step leaves running.
//!
//! A child leads a session and a process group of its own, so a signal reaches what it
//! started. A process that leaves the group with `setsid` is found on Linux: we adopt
//! orphans (child subreaper), so every descendant is below us in `/proc`, and it is a
//! step's when it is in the child's session, carries the step's mark in its environment or
//! in a limit that it cannot shed ([`limit`]), or has a parent that does. So with several
//! steps at once each has its own.
//!
//! Not caught: a process that runs with other rights and cannot be ended. What is left
//! when we are killed with SIGKILL is for [`StepWatch`] to end. On macOS, which has
//! neither subreapers nor `/proc`, only the group is ended.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio_util::sync::CancellationToken;

use daemons::DaemonRule;

pub(super) mod daemons;
#[cfg(target_os = "linux")]
mod descendants;
#[cfg(target_os = "linux")]
mod limit;
#[cfg(not(target_os = "linux"))]
#[path = "process_group/no_limit.rs"]
mod limit;

/// The variable that marks a step's processes.
pub(super) const MARK: &str = "AVOCET_STEP";
/// Its value for a program of ours that does not belong to a step.
pub(super) const NO_STEP: &str = "none";

/// How often the sweep after a step tries, and how long it waits between.
const SWEEPS: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(10);

/// How often one tries that holds up its thread.
#[cfg(target_os = "linux")]
const SWEEPS_NOW: u32 = 30;
/// How often the processes of a bounded step are looked at while it runs.
#[cfg(target_os = "linux")]
const BETWEEN_COUNTS: Duration = Duration::from_millis(50);

/// Once in so many counts the step's own processes are looked at whatever was counted.
#[cfg(target_os = "linux")]
const COUNTS_TO_LOOK: u32 = 20;

/// How long a start waits for another.
const MAX_TURN: Duration = Duration::from_secs(1);

/// Makes us adopt orphans, and us and our children leave no core file, which would
/// hold keys. Either may be refused by the system; a step runs all the same.
pub(super) fn prepare() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Core).maximum;
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Is notified of the processes of steps, so that they can be ended when this program no
/// longer runs to do it.
pub trait StepWatch: fmt::Debug + Send + Sync {
    /// A step is about to start; its processes will carry this mark. What it takes to
    /// watch it is made ready now, where nothing holds the calling thread yet.
    fn starting(&self, _mark: &str) {}

    /// It did not start after all.
    fn not_started(&self, _mark: &str) {}

    /// A step's first process runs: it leads a group and a session.
    fn started(&self, leader: i32, mark: &str);

    /// Nothing of it is left.
    fn ended(&self, leader: i32, mark: &str);
}

/// State shared by all steps of one session.
#[derive(Clone, Debug, Default)]
pub(super) struct StepGroups {
    pub watcher: Option<Arc<dyn StepWatch>>,
    /// The records of jobs that outlive their session.
    pub kept_jobs: Option<PathBuf>,
    /// The program is exiting: running steps are ended, and not waited for as long.
    pub exiting: CancellationToken,
}

impl StepGroups {
    pub(super) fn starting(&self, mark: ProcessMark) {
        if let Some(told) = &self.watcher {
            told.starting(&mark.text());
        }
    }

    pub(super) fn not_started(&self, mark: ProcessMark) {
        if let Some(told) = &self.watcher {
            told.not_started(&mark.text());
        }
    }
}

/// A new mark, one for each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessMark(u64);

impl ProcessMark {
    pub(super) fn new() -> ProcessMark {
        ProcessMark(limit::new_mark())
    }

    /// As it is written in [`MARK`].
    pub(super) fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// What was found of a step whose child has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leftovers {
    /// How many processes were ended.
    pub ended: usize,
    /// The daemons that were left running.
    pub daemons: Vec<&'static str>,
    /// Their processes.
    pub spared: Vec<i32>,
}

/// A child's group. Dropping it before [`Group::end`] ends everything in it hard: the
/// step was abandoned.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    number: ProcessMark,
    mark: String,
    state: State,
    watcher: Option<Arc<dyn StepWatch>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// What it started before it was marked may still be without the mark.
    Starting,
    Running,
    Ended,
}

impl Group {
    /// The group a child leads. `None` for a process number that cannot be one.
    pub(super) fn from_leader(pid: u32, mark: ProcessMark, steps: &StepGroups) -> Option<Group> {
        let leader = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let number = mark;
        let mark = mark.text();
        let watcher = steps.watcher.clone();

        if let Some(watcher) = &watcher {
            watcher.started(leader.as_raw_nonzero().get(), &mark);
        }
        Some(Group { leader, number, mark, state: State::Starting, watcher })
    }

    /// Marks the child, and the processes it started before that. Looks at other processes and
    /// sets limits of theirs, so this is for a thread that no sandbox restricts.
    pub(super) async fn mark_early_processes(&mut self) {
        mark_early_processes(self.leader, self.number).await;
        self.state = State::Running;
    }

    /// Ends once the step has more processes and threads than this, as far as the system
    /// shows them; `None`: it may have any number.
    pub(super) async fn wait_until_over_limit(&self, most: Option<usize>) {
        match most {
            Some(most) => wait_until_over_limit(self.leader, &self.mark, most).await,
            None => std::future::pending().await,
        }
    }

    /// To every process of the group. It may be gone already.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
    }

    /// What finds the processes of the step, on a thread that may wait.
    pub(super) fn members(&self) -> impl Fn() -> Vec<i32> + Send + 'static {
        let leader = self.leader;
        let mark = self.mark.clone();

        move || {
            #[cfg(target_os = "linux")]
            return descendants::member_pids(leader, &mark);
            #[cfg(not(target_os = "linux"))]
            {
                let _ = &mark;
                vec![leader.as_raw_nonzero().get()]
            }
        }
    }

    /// The leader, and the mark.
    pub(super) fn identity(&self) -> (i32, String) {
        (self.leader.as_raw_nonzero().get(), self.mark.clone())
    }

    /// Another process looks after it from now on.
    pub(super) fn release(mut self) {
        self.state = State::Ended;
        notify_ended(self.watcher.as_ref(), self.leader, &self.mark);
    }

    /// Ends the rest of a step whose child has been waited for, but for daemons.
    pub(super) async fn end(mut self, rule: &DaemonRule) -> Leftovers {
        let ended = sweep(self.leader, self.mark.clone(), rule.clone()).await;
        if ended.daemons.is_empty() {
            self.signal(Signal::KILL);
        }
        self.state = State::Ended;
        notify_ended(self.watcher.as_ref(), self.leader, &self.mark);
        ended
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.state == State::Ended {
            return;
        }
        #[cfg(target_os = "linux")]
        if self.state == State::Starting {
            descendants::mark_early_processes(self.leader, self.number);
        }
        self.signal(Signal::KILL);
        // Not in a task: a group that is dropped last, as the program exits, would never
        // see it run.
        sweep_now(self.leader, &self.mark);
        notify_ended(self.watcher.as_ref(), self.leader, &self.mark);
    }
}

fn notify_ended(told: Option<&Arc<dyn StepWatch>>, leader: Pid, mark: &str) {
    if let Some(told) = told {
        told.ended(leader.as_raw_nonzero().get(), mark);
    }
}

/// The processes of a step that another process started, for its keeper.
#[derive(Clone, Debug)]
pub(super) struct KeptGroup {
    leader: Option<Pid>,
    mark: String,
}

impl KeptGroup {
    pub(super) fn new(leader: i32, mark: &str) -> KeptGroup {
        KeptGroup { leader: Pid::from_raw(leader), mark: mark.to_owned() }
    }

    /// To every process of the group. For a step whose first process runs.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Ends what is left of it. Its first process may have ended, so only the mark counts.
    pub(super) async fn end(&self) {
        let group = self.clone();
        let leader = self.leader.filter(|leader| is_running(*leader));
        let leader = leader.map(|leader| leader.as_raw_nonzero().get());
        let end = move || end_abandoned(leader, &group.mark);
        let _ = tokio::task::spawn_blocking(end).await;
    }

    /// What finds its processes, on a thread that may wait.
    pub(super) fn members(&self) -> impl Fn() -> Vec<i32> + Send + 'static {
        let mark = self.mark.clone();
        move || {
            #[cfg(target_os = "linux")]
            return descendants::marked_pids(&mark).0;
            #[cfg(not(target_os = "linux"))]
            {
                let _ = &mark;
                Vec::new()
            }
        }
    }

    /// Its processes and threads.
    pub(super) async fn count(&self) -> usize {
        #[cfg(target_os = "linux")]
        {
            let mark = self.mark.clone();
            let count = tokio::task::spawn_blocking(move || descendants::marked_pids(&mark).1);
            count.await.unwrap_or(0)
        }
        #[cfg(not(target_os = "linux"))]
        0
    }
}

/// Ends the rest of a step whose Avocet has ended. Without a leader it was just starting.
pub(super) fn end_abandoned(leader: Option<i32>, mark: &str) {
    let leader = leader.and_then(Pid::from_raw);
    if let Some(leader) = leader {
        let _ = kill_process_group(leader, Signal::KILL);
    }
    #[cfg(target_os = "linux")]
    descendants::end_marked(leader, mark);
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
}

/// Lets the processes of a step go on that were left paused.
pub(super) fn continue_marked(mark: &str) {
    #[cfg(target_os = "linux")]
    descendants::continue_steps(&descendants::marked_pids(mark).0);
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
}

/// A process and all below it, as it was found. They need not be a group.
#[derive(Debug)]
pub(super) struct Tree(Vec<Pid>);

impl Tree {
    pub(super) fn rooted_at(pid: u32) -> Tree {
        let top = i32::try_from(pid).ok().and_then(Pid::from_raw);
        #[cfg(target_os = "linux")]
        let below = top.map(descendants::descendant_pids).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        let below = Vec::new();
        Tree(below.into_iter().chain(top).collect())
    }

    /// To those that still are there.
    pub(super) fn signal(&self, signal: Signal) {
        for pid in self.0.iter().filter(|pid| is_running(**pid)) {
            let _ = kill_process(*pid, signal);
        }
    }

    /// Waits until all have ended, for so long at most.
    pub(super) async fn wait_ended(&self, most: Duration) {
        let ended = async {
            while self.0.iter().any(|pid| is_running(*pid)) {
                tokio::time::sleep(BETWEEN).await;
            }
        };
        let _ = tokio::time::timeout(most, ended).await;
    }
}

pub(super) fn is_running(pid: Pid) -> bool {
    #[cfg(target_os = "linux")]
    return descendants::is_running(pid);
    #[cfg(not(target_os = "linux"))]
    return rustix::process::test_kill_process(pid).is_ok();
}

/// One step at a time pauses the others: it would pause another that does, and what it lets go on
/// could be what the other paused. Meanwhile no other starts. They are the processes below this
/// one, whatever its sessions.
static PAUSE: RwLock<()> = RwLock::const_new(());

/// The processes of other steps, paused as long as this value lives.
#[derive(Debug)]
pub(super) struct PausedSteps {
    pids: Vec<i32>,
    _lock: Option<std::fs::File>,
    _turn: RwLockWriteGuard<'static, ()>,
}

impl PausedSteps {
    /// Waits for other steps that pause some. `kept` finds the marks of those that earlier
    /// sessions started. `None`: their processes were not found.
    pub(super) async fn pause(
        rule: DaemonRule,
        kept: impl FnOnce() -> (Vec<String>, Option<std::fs::File>) + Send + 'static,
    ) -> Option<PausedSteps> {
        let turn = PAUSE.write().await;
        let pause = move || {
            let (marks, lock) = kept();
            #[cfg(target_os = "linux")]
            let pids = descendants::stop_steps(&rule, &marks);
            #[cfg(not(target_os = "linux"))]
            let pids = (&rule, marks, Vec::new()).2;
            PausedSteps { pids, _lock: lock, _turn: turn }
        };
        tokio::task::spawn_blocking(pause).await.ok()
    }
}

impl Drop for PausedSteps {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        descendants::continue_steps(&self.pids);
    }
}

/// While this lives, a step starts, and none pauses the others.
pub(super) type UnpausedStart = RwLockReadGuard<'static, ()>;

/// Waits for the end of a step that pauses the others.
pub(super) async fn wait_while_paused() -> UnpausedStart {
    PAUSE.read().await
}

/// One start at a time in this process, of any step: an unmarked process below us while
/// this is held can only belong to the step that starts. The lock is on a file that the
/// kernel has once for each process.
#[derive(Debug)]
pub(super) struct StartPermit(Option<std::fs::File>);

impl StartPermit {
    /// Waits for it, but not for long: a start may hang in a file system that is gone.
    pub(super) async fn acquire() -> StartPermit {
        let lock = tokio::task::spawn_blocking(|| {
            let turn = StartPermit(std::fs::File::open("/proc/self/status").ok());
            turn.0.iter().for_each(|file| drop(file.lock()));
            turn
        });
        let taken = tokio::time::timeout(MAX_TURN, lock).await;
        taken.ok().and_then(Result::ok).unwrap_or(StartPermit(None))
    }
}

impl Drop for StartPermit {
    fn drop(&mut self) {
        // Closing it would not do while a child that is being started has it open too.
        self.0.iter().for_each(|file| drop(file.unlock()));
    }
}

/// Puts the mark in the limits of a step's first process, and of those it started before.
#[cfg(target_os = "linux")]
async fn mark_early_processes(leader: Pid, mark: ProcessMark) {
    let _ =
        tokio::task::spawn_blocking(move || descendants::mark_early_processes(leader, mark)).await;
}

#[cfg(not(target_os = "linux"))]
async fn mark_early_processes(_leader: Pid, _mark: ProcessMark) {}

/// Looks now and then while the step runs. Where the whole machine has hardly more processes
/// than when it began, nothing needs to be counted.
#[cfg(target_os = "linux")]
async fn wait_until_over_limit(leader: Pid, mark: &str, most: usize) {
    let Some(mut before) = descendants::count_running() else {
        return std::future::pending().await;
    };
    for look in 1_u32.. {
        tokio::time::sleep(BETWEEN_COUNTS).await;
        let now = descendants::count_running().unwrap_or(usize::MAX);
        before = before.min(now);
        // The first count may have come late, or with processes of others that have ended since.
        if now < before.saturating_add(most) && !look.is_multiple_of(COUNTS_TO_LOOK) {
            continue;
        }
        let mark = mark.to_owned();
        let counted = tokio::task::spawn_blocking(move || {
            descendants::has_too_many_processes(leader, &mark, most)
        })
        .await;
        if counted.unwrap_or(false) {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
async fn wait_until_over_limit(_leader: Pid, _mark: &str, _most: usize) {
    std::future::pending().await
}

/// Kills and collects until no process of a step is found but daemons.
#[cfg(target_os = "linux")]
async fn sweep(leader: Pid, mark: String, rule: DaemonRule) -> Leftovers {
    let mut killed = std::collections::BTreeSet::new();
    let mut left = Leftovers::default();
    let mut spared = std::collections::BTreeMap::new();
    for _ in 0..SWEEPS {
        let mark = mark.clone();
        let known = killed.clone();
        let rule = rule.clone();

        let look = move || descendants::sweep(leader, &mark, known, &rule);
        let Ok(found) = tokio::task::spawn_blocking(look).await else { break };
        killed = found.killed;
        spared = found.spared;
        if found.remaining == 0 {
            break;
        }
        tokio::time::sleep(BETWEEN).await;
    }
    if !spared.is_empty() {
        left.spared = spared.keys().copied().collect();
        left.daemons = spared.into_values().collect();
        left.daemons.sort_unstable();
        left.daemons.dedup();
        tokio::spawn(collect_later(left.spared.iter().copied().collect()));
    }
    left.ended = killed.len();
    left
}

/// Daemons become our children once their parents have ended, so they are collected here.
#[cfg(target_os = "linux")]
async fn collect_later(mut pids: std::collections::BTreeSet<i32>) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut ended) = signal(SignalKind::child()) else { return };
    loop {
        pids = descendants::collect_ended(pids);
        if pids.is_empty() || ended.recv().await.is_none() {
            return;
        }
    }
}

/// The same without a runtime, for as long as it takes.
#[cfg(target_os = "linux")]
fn sweep_now(leader: Pid, mark: &str) {
    let mut killed = std::collections::BTreeSet::new();
    for _ in 0..SWEEPS_NOW {
        // The step was abandoned: nothing of it is left.
        let found = descendants::sweep(leader, mark, killed, &DaemonRule::default());
        if found.remaining == 0 {
            return;
        }
        killed = found.killed;
        std::thread::park_timeout(BETWEEN);
    }
}

#[cfg(not(target_os = "linux"))]
fn sweep_now(leader: Pid, _mark: &str) {
    let _ = kill_process_group(leader, Signal::KILL);
}

#[cfg(not(target_os = "linux"))]
async fn sweep(leader: Pid, _mark: String, _rule: DaemonRule) -> Leftovers {
    let ended = usize::from(kill_process_group(leader, Signal::KILL).is_ok());
    Leftovers { ended, ..Leftovers::default() }
}
