//! Processes of this machine, and those of a made-up step.

use super::*;

fn sample_process(pid: i32, parent: i32, session: i32) -> Process {
    Process {
        pid,
        parent,
        group: session,
        session,
        zombie: false,
        waits: true,
        threads: 1,
        since: 0,
    }
}

#[test]
fn a_line_of_proc_is_read_whatever_the_name_is() {
    let line = "42 (a) R (b) Z 7 42 40 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 3 0 987 0";
    let wanted = Process {
        pid: 42,
        parent: 7,
        group: 42,
        session: 40,
        zombie: true,
        waits: true,
        threads: 3,
        since: 987,
    };
    assert_eq!(process(line), Some(wanted));
    assert_eq!(process("42 (a"), None);
}

#[test]
fn a_steps_processes_are_distinguished_from_others() {
    let all = [
        sample_process(10, 1, 10),  // we
        sample_process(20, 10, 20), // another step's child
        sample_process(21, 20, 20), // and its child
        sample_process(30, 10, 99), // orphan of our session, adopted
        sample_process(40, 10, 40), // escaped with setsid, marked
        sample_process(41, 40, 41), // its child, escaped again, environment cleared
        sample_process(50, 1, 99),  // not below us: a stranger with a reused number
    ];
    let pids: BTreeSet<i32> =
        members(&all, 10, 99, |pid| pid == 40).iter().map(|process| process.pid).collect();
    assert_eq!(pids, BTreeSet::from([30, 40, 41]));
}

#[test]
fn this_process_is_found_and_carries_no_mark() {
    let own = getpid().as_raw_nonzero().get();
    assert!(all_processes().iter().any(|process| process.pid == own && !process.zombie));
    assert!(!has_mark(own, "anything"));
}

#[test]
#[allow(clippy::disallowed_methods, reason = "children to be found")]
fn a_grandchild_is_found_both_ways() {
    let own = getpid().as_raw_nonzero().get();
    let mut child = std::process::Command::new("sh")
        .args(["-c", "sleep 60 & echo; wait"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut byte = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let below_it = |found: Vec<Process>| -> Vec<i32> {
        found.iter().filter(|process| process.parent == pid).map(|process| process.pid).collect()
    };
    let (listed, looked) = (list_descendants(own), all_processes());
    assert!(listed.iter().any(|process| process.pid == pid && process.parent == own));
    let grandchildren = below_it(looked);
    assert_eq!(grandchildren.len(), 1);
    assert_eq!(below_it(listed), grandchildren);
    let grandchild = Pid::from_raw(grandchildren[0]).unwrap();
    kill_process(grandchild, Signal::KILL).unwrap();
    child.wait().unwrap();
}

/// The letter of its state.
fn state_of(pid: i32) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let state = status.lines().find_map(|line| line.strip_prefix("State:"))?;
    state.trim().get(..1).map(str::to_owned)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::yield_now();
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the processes of a step")]
fn a_daemon_that_was_stopped_with_the_group_it_began_in_goes_on_after_the_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().canonicalize().unwrap().join("sccache");
    std::fs::copy("/bin/bash", &program).unwrap();
    let mark = "00000000deadbeef";
    let mut step = std::process::Command::new("/bin/bash")
        .args(["-c", "exec 3<&0; \"$0\" -c 'read x; :' <&3 & echo $!; read y; :"])
        .arg(&program)
        .env(MARK, mark)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(step.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let daemon: i32 = line.trim().parse().unwrap();
    let exe = || std::fs::read_link(format!("/proc/{daemon}/exe")).ok();
    wait_until("it runs", || exe().as_ref() == Some(&program));
    // As a stop of the group does that it left just before.
    send(daemon, Signal::STOP);
    wait_until("it is stopped", || state_of(daemon).as_deref() == Some("T"));

    let rule = DaemonRule::outside(vec!["/w".into()]);
    let leader = i32::try_from(step.id()).unwrap();
    let look = |killed| sweep(Pid::from_raw(leader).unwrap(), mark, killed, &rule);
    let mut found = look(BTreeSet::new());
    assert!(found.remaining > 0, "what was killed may have started another");
    // Later it is not below this process, which adopts no orphans.
    assert_eq!(found.spared, BTreeMap::from([(daemon, "sccache server")]));
    wait_until("the step is over", || state_of(leader).as_deref() == Some("Z"));
    while found.remaining > 0 {
        found = look(found.killed);
    }
    assert_eq!(found.killed, BTreeSet::from([leader]));
    wait_until("it goes on", || state_of(daemon).as_deref() != Some("T"));
    send(daemon, Signal::KILL);
    step.wait().unwrap();
}
