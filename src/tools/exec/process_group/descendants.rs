//! Reads the processes of this machine from `/proc`, and finds those that belong to a step.
//! Linux only.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid,
};

use super::daemons::{DaemonRule, serves_git};
use super::{MARK, ProcessMark, limit};

/// The most processes that are looked at, and bytes of an environment.
const MAX_PROCESSES: usize = 65_536;
const MAX_ENVIRONMENT: u64 = 4 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    zombie: bool,
    /// It waits for something, or has ended.
    waits: bool,
    threads: usize,
    /// When it was started, in ticks since the machine was.
    since: u64,
}

/// The result of one round.
pub(super) struct DescendantScan {
    /// All that were killed so far.
    pub killed: BTreeSet<i32>,
    /// How many are still to be seen off; at least one after a kill.
    pub remaining: usize,
    /// Those that are left running, each with the name of its daemon.
    pub spared: BTreeMap<i32, &'static str>,
}

/// Kills a step's processes and collects those that have ended. What was killed in
/// earlier rounds is known by its number: a zombie shows no mark any more.
pub(super) fn sweep(
    leader: Pid,
    mark: &str,
    mut killed: BTreeSet<i32>,
    rule: &DaemonRule,
) -> DescendantScan {
    let own = getpid().as_raw_nonzero().get();
    let leader = leader.as_raw_nonzero().get();
    let marked = |pid: i32| killed.contains(&pid) || has_mark(pid, mark);
    stop_members(own, leader, marked, rule);
    let mut spared = BTreeMap::new();

    let known = killed.len();
    let mut left = 0;
    // Parents come before their children, which a daemon keeps too.
    for process in members(&list_descendants(own), own, leader, marked) {
        let Some(pid) = Pid::from_raw(process.pid) else { continue };
        if let Some(daemon) = daemon_name(&process, &spared, rule) {
            spared.insert(process.pid, daemon);
            // It may have begun in a group just before that was stopped.
            send(process.pid, Signal::CONT);
            continue;
        }
        if !process.zombie {
            let _ = kill_process(pid, Signal::KILL);
            killed.insert(process.pid);
        } else if process.pid == leader {
            // Collected by who waits for it.
            continue;
        }
        // Only our own children can be collected; others have a parent that will.
        let ours = process.parent == own && process.pid != leader;
        let collected = ours && !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None));
        left += usize::from(!collected);
    }
    // One that another step's pause let go on may have started another before it was killed: the
    // last look finds none.
    let remaining = left.max(usize::from(killed.len() > known));
    DescendantScan { killed, remaining, spared }
}

/// Stops a step's processes, until no new one appears: a chain in which each starts the next and
/// ends would outrun signals that kill what was listed.
fn stop_members(own: i32, leader: i32, marked: impl Fn(i32) -> bool, rule: &DaemonRule) {
    let mut seen = BTreeSet::new();
    let mut spared = BTreeMap::new();
    let mut kept_groups = BTreeSet::from([0]);

    // 0 where the session was made outside of this container.
    let ours = read_process(own).map_or(0, |own| own.session);
    let stop = |pid: i32| Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::STOP));
    let mut quiet = 0;
    for _ in 0..STOPS {
        let mut new = members(&scan_descendants(own), own, leader, &marked);
        new.retain(|process| seen.insert(process.pid));
        for process in &new {
            if let Some(daemon) = daemon_name(process, &spared, rule) {
                spared.insert(process.pid, daemon);
                kept_groups.insert(process.group);
            }
        }
        new.retain(|process| !spared.contains_key(&process.pid));
        for process in &new {
            stop(process.pid);
            // None can be started in a group while a signal is sent to all of it, and one that has
            // ended names the group of the one that it started.
            let group = Pid::from_raw(process.group);
            if process.session != ours && !kept_groups.contains(&process.group) {
                let _ = group.map(|group| kill_process_group(group, Signal::STOP));
            }
        }
        quiet = if new.is_empty() { quiet + 1 } else { 0 };
        if quiet == 2 {
            return;
        }
    }
}

/// Stops the processes of all steps below us, and of those with one of these marks, until no new
/// one appears, and answers with them. Those that git asks for keys and changes run on.
pub(super) fn stop_steps(rule: &DaemonRule, kept: &[String]) -> Vec<i32> {
    let own = getpid().as_raw_nonzero().get();
    let ours = read_process(own).map_or(0, |own| own.session);
    let mut stopped = BTreeSet::new();
    let mut kept_groups = BTreeSet::from([0]);

    let serves =
        |process: &Process| rule.name_of_process(process.pid, None).is_some_and(serves_git);
    let mut quiet = 0;
    for _ in 0..STOPS {
        let mut new = scan_descendants(own);
        new.retain(|process| !is_unmarked(process.pid));
        let is_kept = |process: &Process| kept.iter().any(|mark| has_mark(process.pid, mark));
        if !kept.is_empty() {
            new.extend(all_processes().into_iter().filter(is_kept));
        }
        new.retain(|process| !process.zombie);
        kept_groups.extend(new.iter().filter(|one| serves(one)).map(|one| one.group));
        new.retain(|process| !serves(process) && stopped.insert(process.pid));
        for process in &new {
            send(process.pid, Signal::STOP);
            let group = Pid::from_raw(process.group);
            if process.session != ours && !kept_groups.contains(&process.group) {
                let _ = group.map(|group| kill_process_group(group, Signal::STOP));
            }
        }
        quiet = if new.is_empty() { quiet + 1 } else { 0 };
        if quiet == 2 {
            break;
        }
    }
    stopped.into_iter().collect()
}

/// Lets them go on.
pub(super) fn continue_steps(pids: &[i32]) {
    pids.iter().for_each(|pid| send(*pid, Signal::CONT));
}

/// How often a step's processes are looked for to be stopped.
const STOPS: usize = 500;

/// What a process is left running as, which the daemon that started it may decide.
fn daemon_name(
    process: &Process,
    spared: &BTreeMap<i32, &'static str>,
    rule: &DaemonRule,
) -> Option<&'static str> {
    let parent = spared.get(&process.parent).copied();
    // One that has ended is collected by its parent.
    if process.zombie { parent } else { rule.name_of_process(process.pid, parent) }
}

/// Collects those of these processes that have ended, and answers with the others.
pub(super) fn collect_ended(pids: BTreeSet<i32>) -> BTreeSet<i32> {
    let runs_on = |pid: &i32| {
        let Some(number) = Pid::from_raw(*pid) else { return false };
        match waitpid(Some(number), WaitOptions::NOHANG) {
            Ok(ended) => ended.is_none(),
            // Not our child, as long as its parent runs.
            Err(_) => is_running(number),
        }
    };
    pids.into_iter().filter(runs_on).collect()
}

/// Whether a step has more processes and threads than this. What is listed may change
/// meanwhile: it is a bound and no account.
pub(super) fn has_too_many_processes(leader: Pid, mark: &str, most: usize) -> bool {
    let own = getpid().as_raw_nonzero().get();
    let leader = leader.as_raw_nonzero().get();
    let its = members(&scan_descendants(own), own, leader, |pid| has_mark(pid, mark));
    its.iter().map(|process| process.threads.max(1)).sum::<usize>() > most
}

/// The processes of a step.
pub(super) fn member_pids(leader: Pid, mark: &str) -> Vec<i32> {
    let own = getpid().as_raw_nonzero().get();
    let leader = leader.as_raw_nonzero().get();
    let its = members(&scan_descendants(own), own, leader, |pid| has_mark(pid, mark));
    its.into_iter().map(|process| process.pid).collect()
}

/// Processes and threads of this machine, of everybody.
pub(super) fn count_running() -> Option<usize> {
    let mut load = String::new();
    read("/proc/loadavg", &mut load).then_some(())?;
    load.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// Kills every process of this machine that is of a step's session or carries its mark.
/// Until none is found: one may start another meanwhile.
pub(super) fn end_marked(leader: Option<Pid>, mark: &str) {
    let leader = leader.map(|leader| leader.as_raw_nonzero().get());
    let mut clean = 0;
    for _ in 0..2 * LOOKS {
        let left = all_processes().into_iter().filter(|process| {
            !process.zombie && (Some(process.session) == leader || has_mark(process.pid, mark))
        });
        let mut found = false;
        let left: Vec<Pid> = left.filter_map(|process| Pid::from_raw(process.pid)).collect();
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in &left {
                found |= kill_process(*pid, signal).is_ok();
            }
        }
        // One that is just becoming another program shows no mark.
        clean = if found { 0 } else { clean + 1 };
        if clean == 3 {
            return;
        }
        std::thread::park_timeout(AGAIN);
    }
}

/// The processes of this machine that carry a mark, and their threads.
pub(super) fn marked_pids(mark: &str) -> (Vec<i32>, usize) {
    let its = all_processes().into_iter().filter(|one| !one.zombie && has_mark(one.pid, mark));
    let processes: Vec<Process> = its.collect();
    let threads = processes.iter().map(|process| process.threads.max(1)).sum();
    (processes.into_iter().map(|process| process.pid).collect(), threads)
}

/// Marks a step's leader, and what it started before that. Repeats until two looks find
/// nothing without a mark: a marked process passes the mark on, an unmarked one may start
/// another, and one in the middle of an exec cannot be told from others at once. A process
/// that was marked in the middle of a fork has a child without the mark that is not listed
/// yet, so each one that was marked is awaited until it is seen to wait for something. One that
/// only computes, or that a busy machine does not let run, is stopped for that and goes on then:
/// a fork is over before a stop takes effect.
pub(super) fn mark_early_processes(leader: Pid, mark: ProcessMark) {
    limit::apply_mark(leader, mark.0);
    let own = getpid().as_raw_nonzero().get();
    let (leader, text) = (leader.as_raw_nonzero().get(), mark.text());
    let mut may_fork = BTreeSet::from([leader]);
    let mut held = BTreeSet::new();
    let mut clean = 0;
    let began = Instant::now();
    while began.elapsed() < HOLD_TIME && clean < 2 {
        let all = list_descendants(own);
        may_fork.retain(|pid| {
            let listed = all.iter().find(|process| process.pid == *pid);
            let may_fork =
                |process: &Process| !process.waits || process.threads > 1 && !held.contains(pid);
            listed.is_some_and(may_fork)
        });
        let of = |pid: i32| all.iter().find(|process| process.pid == pid);
        let since = of(leader).map(|leader| leader.since);
        let session = read_process(own).map(|own| own.session);
        let may_be_orphan = |process: &Process| {
            process.parent == own
                && Some(process.session) != session
                && since.is_some_and(|since| process.since >= since)
                && !process.zombie
                && is_unmarked(process.pid)
        };
        let its = |pid: i32| {
            pid == leader
                || of(pid)
                    .is_some_and(|process| may_be_orphan(process) && can_belong_to_step(pid, &text))
        };
        let mut found = false;
        for process in members(&all, own, leader, its) {
            if !process.zombie && is_unmarked(process.pid) {
                let pid = Pid::from_raw(process.pid);
                found |= pid.is_some_and(|pid| limit::apply_mark(pid, mark.0));
                may_fork.insert(process.pid);
            }
        }
        let in_exec = |process: &Process| may_be_orphan(process) && is_in_exec(process.pid);
        if began.elapsed() > MARK_TIME {
            may_fork
                .iter()
                .filter(|pid| held.insert(**pid))
                .for_each(|pid| send(*pid, Signal::STOP));
        }
        if found {
            clean = 0;
        } else if !may_fork.is_empty() || all.iter().any(in_exec) {
            std::thread::park_timeout(BETWEEN_LOOKS);
        } else {
            clean += 1;
        }
    }
    held.into_iter().for_each(|pid| send(pid, Signal::CONT));
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Whether it is just becoming another program, so that nothing tells whose it is.
fn is_in_exec(pid: i32) -> bool {
    let mut line = String::new();
    read(&format!("/proc/{pid}/cmdline"), &mut line) && line.is_empty()
}

/// Whether a process directly below us, in a session that is not ours, can be an orphan of
/// this step: it runs a program, and its environment belongs neither to another step nor to
/// a helper of ours.
fn can_belong_to_step(pid: i32, mark: &str) -> bool {
    let program = |pid: &str| std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let mut line = String::new();
    // Before its own program runs it has our environment, and for a moment none.
    if program(&pid.to_string()) == program("self")
        || !read(&format!("/proc/{pid}/cmdline"), &mut line)
        || line.is_empty()
    {
        return false;
    }
    let named = format!("{MARK}=");
    let its = format!("{MARK}={mark}");

    let Some(rows) = environment(pid) else { return false };
    let mut rows = rows.split(|byte| *byte == 0).filter(|row| row.starts_with(named.as_bytes()));
    rows.all(|row| row == its.as_bytes())
}

/// A step's processes among all: below us, and in its session, marked, or the child
/// of one that is.
fn members(
    processes: &[Process],
    own: i32,
    leader: i32,
    marked: impl Fn(i32) -> bool,
) -> Vec<Process> {
    let mut out = Vec::new();
    let mut open = vec![(own, false)];
    let mut seen = BTreeSet::from([own]);
    while let Some((parent, member)) = open.pop() {
        for process in processes.iter().filter(|process| process.parent == parent) {
            if !seen.insert(process.pid) {
                continue;
            }
            let member = member || process.session == leader || marked(process.pid);
            if member {
                out.push(*process);
            }
            open.push((process.pid, member));
        }
    }
    out
}

/// How long to wait before a look at all processes is repeated.
const AGAIN: Duration = Duration::from_millis(20);

/// How long a new step's processes are looked at until all are marked before those that may be in
/// a fork are stopped, how long it may take then, since the step is not bounded meanwhile, and the
/// pause while one of them is in the middle of a fork or an exec.
const MARK_TIME: Duration = Duration::from_millis(20);
const HOLD_TIME: Duration = Duration::from_millis(900);
const BETWEEN_LOOKS: Duration = Duration::from_micros(250);

/// How often the lists are read again while they change.
const LOOKS: u32 = 10;

/// The processes below this one. A kernel that lists the children of a process saves
/// looking at all the others of the machine. A child whose parent ends between two lists is
/// in neither, so the result counts when nothing has changed from one look to the next.
fn list_descendants(own: i32) -> Vec<Process> {
    let mut text = String::new();
    if !read("/proc/thread-self/children", &mut text) {
        return all_processes();
    }
    let mut before = scan_descendants(own);
    for _ in 0..LOOKS {
        let now = scan_descendants(own);
        if now == before {
            return now;
        }
        before = now;
    }
    all_processes()
}

/// All below a process that is not this one.
pub(super) fn descendant_pids(pid: Pid) -> Vec<Pid> {
    let found = scan_descendants(pid.as_raw_nonzero().get());
    found.into_iter().filter_map(|process| Pid::from_raw(process.pid)).collect()
}

/// One that has ended and was not collected does not.
pub(super) fn is_running(pid: Pid) -> bool {
    read_process(pid.as_raw_nonzero().get()).is_some_and(|process| !process.zombie)
}

fn scan_descendants(own: i32) -> Vec<Process> {
    let mut out = Vec::new();
    let mut seen = BTreeSet::from([own]);
    let mut open = vec![own];
    while let Some(parent) = open.pop() {
        for pid in children(parent) {
            if seen.len() < MAX_PROCESSES && seen.insert(pid) {
                out.extend(read_process(pid));
                open.push(pid);
            }
        }
    }
    out
}

/// The children of all threads of a process.
fn children(parent: i32) -> BTreeSet<i32> {
    let mut out = BTreeSet::new();
    let mut text = String::new();
    for thread in numbers(&format!("/proc/{parent}/task")) {
        if read(&format!("/proc/{parent}/task/{thread}/children"), &mut text) {
            out.extend(text.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }
    out
}

fn all_processes() -> Vec<Process> {
    numbers("/proc").into_iter().take(MAX_PROCESSES).filter_map(read_process).collect()
}

/// The entries of a folder that are numbers.
fn numbers(folder: &str) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn read_process(pid: i32) -> Option<Process> {
    let mut text = String::new();
    read(&format!("/proc/{pid}/stat"), &mut text).then(|| process(&text)).flatten()
}

/// A short file of `/proc` in one go; false where there is none.
fn read(path: &str, text: &mut String) -> bool {
    // It reports a length of zero, and a reader that trusts that begins with a few bytes at
    // a time.
    let mut bytes = Vec::with_capacity(1024);
    let read = std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    text.clear();
    text.push_str(&String::from_utf8_lossy(&bytes));
    read.is_ok()
}

/// A line of `/proc/PID/stat`. The name in it may hold anything, brackets too.
fn process(stat: &str) -> Option<Process> {
    let (pid, _) = stat.split_once(' ')?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let threads = fields.nth(13)?.parse().ok()?;
    let since = fields.nth(1)?.parse().ok()?;
    let zombie = matches!(state, "Z" | "X");
    let waits = zombie || matches!(state, "S" | "T" | "t");
    Some(Process { pid: pid.parse().ok()?, parent, group, session, zombie, waits, threads, since })
}

/// In its environment, which a program may clear, or in its limits, which none can.
fn has_mark(pid: i32, mark: &str) -> bool {
    let mut limits = String::new();
    let number = u64::from_str_radix(mark, 16).ok();
    let limited = number.is_some_and(|number| {
        read(&format!("/proc/{pid}/limits"), &mut limits) && limit::has_mark(&limits, number)
    });
    limited || has_mark_in_environment(pid, mark)
}

fn is_unmarked(pid: i32) -> bool {
    let mut limits = String::new();
    read(&format!("/proc/{pid}/limits"), &mut limits) && limit::has_no_mark(&limits)
}

fn has_mark_in_environment(pid: i32, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    environment(pid)
        .is_some_and(|rows| rows.split(|byte| *byte == 0).any(|row| row == wanted.as_bytes()))
}

fn environment(pid: i32) -> Option<Vec<u8>> {
    let file = std::fs::File::open(format!("/proc/{pid}/environ")).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_ENVIRONMENT).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests;
