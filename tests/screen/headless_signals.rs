//! A signal in every mode without the full screen: the running step ends with all its processes,
//! and the exit code names the signal.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::wait::{PATIENCE, wait_until};

/// How a step comes to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepSource {
    Print,
    Json,
    Chat,
    Script,
    /// A shell piece of a template.
    Piece,
    Linear,
}

/// Each ends a program that does nothing about it.
const SIGNALS: &[(&str, u32)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ABRT", 6),
    ("USR1", 10),
    ("USR2", 12),
    ("ALRM", 14),
    ("TERM", 15),
    ("XCPU", 24),
];

/// What a step starts: one in a session of its own, one that also clears its environment
/// and has lost its parent, and one that is waited for.
struct ProcessTree([String; 3]);

impl ProcessTree {
    fn new() -> ProcessTree {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let at = u64::from(NEXT.fetch_add(1, Ordering::Relaxed)) * 10;
        // Others may run beside this test.
        let first = 1_000_000_000 + u64::from(std::process::id()) * 10_000 + at;
        ProcessTree([0, 1, 2].map(|n| (first + n).to_string()))
    }

    fn line(&self) -> String {
        let [one, two, three] = &self.0;
        format!("setsid sleep {one} & (env -i setsid sleep {two} &) ; sleep {three}")
    }

    fn running(&self) -> [usize; 3] {
        let ends = self.0.clone().map(|seconds| format!("sleep\0{seconds}\0"));
        let lines = fs::read_dir("/proc").unwrap().flatten();
        let lines = lines.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        let lines: Vec<String> =
            lines.map(|line| String::from_utf8_lossy(&line).into_owned()).collect();
        ends.map(|end| lines.iter().filter(|line| line.ends_with(&end)).count())
    }

    #[track_caller]
    fn wait_for_counts(&self, wanted: [usize; 3], what: &str) {
        wait_until(what, || self.running() == wanted);
    }
}

fn server(way: StepSource, tree: &ProcessTree) -> Server {
    let line = tree.line();
    if way == StepSource::Script {
        let call = format!("@exec(program=\"bash\", args=[\"-c\", \"{line}\"])");
        return Server::start(vec![Reply::text(&call, 4)]);
    }
    let commands = [json!({ "program": "bash", "args": ["-c", line], "requires": {} })];
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    let reply = json!({ "type": "cmd", "message": "Let me try.", "data": data });
    Server::start(vec![Reply::text(&reply.to_string(), 4)])
}

/// The command line of a way in which nobody is there to be asked.
fn args(way: StepSource, bench: &TestDir, tree: &ProcessTree) -> Vec<String> {
    let line = tree.line();
    let words: &[&str] = match way {
        StepSource::Print => &["-p", "-y", "go"],
        StepSource::Json => &["--json", "-p", "-y", "go"],
        StepSource::Chat => &["chat", "--approve-steps"],
        StepSource::Script => {
            let script = "---\ntools: [exec]\n---\nuser: go\nassistant: \"[[A]]\"\n";
            fs::write(bench.work().join("wait.ai.yaml"), script).unwrap();
            &["run", "-y", "wait.ai.yaml"]
        }
        StepSource::Piece => {
            let folder = bench.root.path().join("avocet/commands");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("wait.toml"), format!("prompt = '''got !{{{line}}}'''\n"))
                .unwrap();
            &["command", "run", "wait", "-y"]
        }
        StepSource::Linear => &["--linear"],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Whether the program with this last argument carries the mark of a step.
/// Sends the signal to a run with a running step, and looks at what is left.
fn assert_ended_by(way: StepSource, (name, number): (&str, u32)) {
    let (bench, tree) = (TestDir::new(), ProcessTree::new());
    let server = server(way, &tree);
    let before = [
        "--trust",
        bench.work().to_str().unwrap(),
        "--base-url",
        &server.base_url(),
        "--model",
        "loop-1",
    ]
    .map(str::to_owned);
    let args: Vec<String> = before.into_iter().chain(args(way, &bench, &tree)).collect();
    fs::write(bench.root.path().join("asked"), "go\n").unwrap();
    let asked = fs::File::open(bench.root.path().join("asked")).unwrap();
    let stdin = if way == StepSource::Chat { Stdio::from(asked) } else { Stdio::null() };
    let mut command = bench.untrusted_command(&[]);
    command.args(&args).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    tree.wait_for_counts([1, 1, 1], &format!("{way:?}: the step runs"));
    let began = Instant::now();
    kill(name, child.id());
    let status = child.wait().unwrap();
    let took = began.elapsed();
    let how = (status.code(), status.signal());
    assert_eq!(how, (i32::try_from(128 + number).ok(), None), "{way:?} {name}");
    // What was killed is still listed until it is scheduled once more.
    tree.wait_for_counts([0, 0, 0], &format!("{way:?} {name}: all has ended"));
    // What is not ended runs for years.
    assert!(took < PATIENCE, "{way:?} {name}: {took:?}");
}

fn kill(signal: &str, id: u32) {
    let status = Command::new("kill").args([&format!("-{signal}"), &id.to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_signal_ends_a_printed_turn_and_its_process_tree() {
    SIGNALS.iter().for_each(|signal| assert_ended_by(StepSource::Print, *signal));
}

#[test]
fn a_signal_ends_a_json_turn_and_its_process_tree() {
    SIGNALS.iter().for_each(|signal| assert_ended_by(StepSource::Json, *signal));
}

#[test]
fn a_signal_ends_a_piped_chat_and_its_process_tree() {
    SIGNALS.iter().for_each(|signal| assert_ended_by(StepSource::Chat, *signal));
}

#[test]
fn a_signal_ends_a_script_and_its_process_tree() {
    SIGNALS.iter().for_each(|signal| assert_ended_by(StepSource::Script, *signal));
}

#[test]
fn a_signal_ends_a_template_command_and_its_process_tree() {
    SIGNALS.iter().for_each(|signal| assert_ended_by(StepSource::Piece, *signal));
}

/// A linear conversation whose step runs, in a terminal of its own.
fn linear(bench: &TestDir, server: &Server, tree: &ProcessTree) -> Screen {
    let envs = bench.envs();
    let work = bench.work().display().to_string();
    let url = server.base_url();
    let args = ["--trust", &work, "--base-url", &url, "--model", "loop-1", "--linear"];
    let mut screen = Screen::start(&args, &envs, &bench.work(), (80, 24));
    screen.wait_for("/help lists the commands");
    screen.press("go\r");
    screen.wait_for("[d]etails");
    // The sign that an answer is read.
    screen.wait_for_column(2);
    screen.press("y\r");
    tree.wait_for_counts([1, 1, 1], "linear: the step runs");
    screen
}

#[test]
fn a_signal_ends_a_plain_conversation_and_its_process_tree() {
    // Ctrl-C stops the turn there, and the conversation goes on.
    for (name, number) in SIGNALS.iter().filter(|(name, _)| *name != "INT") {
        let (bench, tree) = (TestDir::new(), ProcessTree::new());
        let server = server(StepSource::Linear, &tree);
        let mut screen = linear(&bench, &server, &tree);
        let began = Instant::now();
        screen.signal(name);
        assert_eq!(screen.wait_for_exit(), 128 + number, "{name}: {}", screen.text());
        tree.wait_for_counts([0, 0, 0], &format!("{name}: all has ended"));
        assert!(began.elapsed() < PATIENCE, "{name}: {:?}", began.elapsed());
    }
}

#[test]
fn ctrl_c_ends_the_step_and_the_plain_conversation_continues() {
    let (bench, tree) = (TestDir::new(), ProcessTree::new());
    let server = server(StepSource::Linear, &tree);
    let mut screen = linear(&bench, &server, &tree);
    screen.signal("INT");
    tree.wait_for_counts([0, 0, 0], "the step ends");
    screen.press("/exit\r");
    assert_eq!(screen.wait_for_exit(), 0, "{}", screen.text());
}

#[test]
fn a_hang_up_ends_a_plain_conversation_and_its_process_tree() {
    let (bench, tree) = (TestDir::new(), ProcessTree::new());
    let server = server(StepSource::Linear, &tree);
    let screen = linear(&bench, &server, &tree);
    screen.hang_up_and_wait();
    tree.wait_for_counts([0, 0, 0], "the step ends");
}
