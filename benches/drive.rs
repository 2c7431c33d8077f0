//! Measures the real program from outside: in a terminal of 120×40, against a server
//! on loopback. `cargo bench --bench drive` prints the table of `benches/README.md`;
//! `cargo bench --bench drive -- echo` only the rows whose names hold a word.
//!
//! Not a test: nothing here passes or fails, since machines differ.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a driver starts programs, waits and prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use avocet::context::history::{History, ReplyKind, TurnRecord};
use avocet::protocol::{Event, ModelMessage, TurnOrigin, TurnOutcome, Usage};
use avocet::safety::redact::Redactor;
use avocet::store::{SessionHeader, SessionWriter, Store};

#[path = "drive/server.rs"]
mod server;
#[path = "drive/terminal.rs"]
mod terminal;

use server::{AGENTS, FLOOD, LOOP, PACED, STEP, Server};
use terminal::Terminal;

const PROGRAM: &str = env!("CARGO_BIN_EXE_avocet");

/// A line of the table.
struct Row {
    name: &'static str,
    target: &'static str,
    measure: fn(&Bench) -> Figures,
}

/// One figure for each of a row's parts, in the order of its name.
type Figures = Vec<String>;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { name: "the machine: 1,000,000 numbers sorted; `true` run",  target: "",                           measure: machine },
    Row { name: "start to first key echoed",                          target: "15 ms",                      measure: first_key },
    Row { name: "first key echoed with 0; with 5,000 skills",         target: "15; 15 ms",                  measure: first_key_beside_skills },
    Row { name: "start to first reply shown",                         target: "80 ms",                      measure: first_reply },
    Row { name: "taking a session up, first frame: empty; 100,000 events; its end", target: "15; 15; 80 ms", measure: taken_up },
    Row { name: "key echo p50 / p99, idle",                           target: "1 / 3 ms",                   measure: echo_idle },
    Row { name: "key echo p99, streaming",                            target: "5 ms",                       measure: echo_streaming },
    Row { name: "key echo p99, four agents at work",                  target: "5 ms",                       measure: echo_agents },
    Row { name: "Enter to request; first server byte to glyph",       target: "2; 5 ms",                    measure: round_trip },
    Row { name: "question: reply to sheet; key to decision",          target: "1.5; 2 ms",                  measure: question },
    Row { name: "20,000 tokens at once: usable; CPU; bytes",          target: "300 ms; 350 ms; 150 KB",     measure: flood },
    Row { name: "CPU at 100 tokens/s",                                target: "4 %",                        measure: paced },
    Row { name: "10-step loop: screen; headless",                     target: "90; 120 ms",                 measure: steps },
    Row { name: "one-shot short reply, headless",                     target: "25 ms",                      measure: one_shot },
    Row { name: "after 100,000 tokens: memory; key echo p99",         target: "45 MiB; 3 ms",               measure: long },
    Row { name: "memory idle; wake-ups a second",                     target: "20 MiB; 0",                  measure: idle },
    Row { name: "request bytes: first turn; added a short turn",      target: "5000; 100",                  measure: bytes },
    Row { name: "binary",                                             target: "25 MB",                      measure: binary },
];

/// What all rows share.
struct Bench {
    server: Server,
    home: tempfile::TempDir,
    folder: tempfile::TempDir,
}

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let bench = Bench {
        server: Server::start(),
        home: tempfile::tempdir().unwrap(),
        folder: tempfile::tempdir().unwrap(),
    };
    for name in ["main.rs", "lexer.rs", "tree.rs"] {
        std::fs::write(bench.folder.path().join(name), "fn main() {}\n").unwrap();
    }
    println!("| figure | measured | reach |\n|---|---:|---:|");
    for row in ROWS {
        if wanted.is_empty() || wanted.iter().any(|word| row.name.contains(word.as_str())) {
            println!("| {} | {} | {} |", row.name, (row.measure)(&bench).join("; "), row.target);
        }
    }
}

/// All that the program finds around itself.
fn environment(home: &Path) -> Vec<(&'static str, PathBuf)> {
    vec![
        ("TERM", "xterm-256color".into()),
        ("COLORTERM", "truecolor".into()),
        ("LANG", "en_US.UTF-8".into()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME", home.into()),
        ("AVOCET_HOME", home.into()),
    ]
}

impl Bench {
    fn open(&self, more: &[&str]) -> Terminal {
        // A draft of the last run would stand in the input of this one.
        let _ = std::fs::remove_dir_all(self.home.path());
        std::fs::create_dir_all(self.home.path()).unwrap();
        self.start_in(self.home.path(), more)
    }

    /// With this home, and nothing of an earlier run in the input.
    fn start_in(&self, home: &Path, more: &[&str]) -> Terminal {
        let _ = std::fs::remove_dir_all(home.join("state"));
        let url = self.server.base_url();
        let folder = self.folder.path().display().to_string();
        let mut args = vec!["--base-url", &url, "--model", "bench", "--trust", &folder];
        args.extend(more);
        Terminal::start(&args, home, self.folder.path())
    }

    /// A screen that is there and rests.
    fn rested(&self) -> Terminal {
        let terminal = self.open(&[]);
        terminal.wait_idle();
        std::thread::sleep(Duration::from_millis(300));
        terminal
    }

    /// Asks, and waits for the end of the turn. Answers with when Enter was pressed.
    fn ask(&self, terminal: &mut Terminal, words: &str) -> Instant {
        let number = self.server.count() + 1;
        let at = enter(terminal, words);
        let last = if words == FLOOD || words == PACED { "end" } else { "reply" };
        terminal.wait_for(&format!("{last} {number}"));
        terminal.wait_idle();
        at
    }
}

fn enter(terminal: &mut Terminal, words: &str) -> Instant {
    terminal.press(words);
    terminal.wait_for_input(words);
    std::thread::sleep(Duration::from_millis(40));
    terminal.press("\r")
}

fn first_key(bench: &Bench) -> Figures {
    let times = (0..20).map(|_| {
        let mut terminal = bench.open(&[]);
        terminal.press("x");
        terminal.wait_for_input("x") - terminal.started
    });
    vec![ms(percentile(times.collect(), 50))]
}

/// The first frame where nothing is kept, that of a session of 100,000 events, and when
/// the end of that one is there.
fn taken_up(bench: &Bench) -> Figures {
    const TIMES: usize = 20;
    let url = bench.server.base_url();
    let folder = bench.folder.path().display().to_string();
    let args = ["--base-url", &url, "--model", "bench", "--trust", &folder, "-c"];
    let first = |home: &Path, end: Option<&str>| {
        let terminal = Terminal::start(&args, home, bench.folder.path());
        let shown = terminal.wait_for("Ask anything") - terminal.started;
        (shown, end.map(|end| terminal.wait_for(end) - terminal.started))
    };
    let empty: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let home = tempfile::tempdir().unwrap();
            first(home.path(), None).0
        })
        .collect();
    let home = tempfile::tempdir().unwrap();
    keep(home.path(), bench.folder.path(), 100_000);
    let (long, ends): (Vec<_>, Vec<_>) =
        (0..TIMES).map(|_| first(home.path(), Some("Answer 99998"))).unzip();
    let ends = ends.into_iter().flatten().collect();
    [empty, long, ends].map(|times| ms(percentile(times, 50))).into()
}

/// A session of so many events, as the program keeps it.
fn keep(home: &Path, folder: &Path, events: usize) {
    let (faults, _) = tokio::sync::mpsc::unbounded_channel();
    let redactor = std::sync::Arc::new(Redactor::new([("NONE", "hunter2hunter2")], [7; 16]));
    let folder = folder.canonicalize().unwrap();
    let head = SessionHeader::new(folder.to_str().unwrap(), None);
    let mut desk = SessionWriter::new(Store::in_folder(home.join("data")), head, redactor, faults);
    let mut history = History::default();
    for number in 0..events {
        let turn = (number / 10 + 1) as u64;
        desk.record(match number % 10 {
            0 => Event::TurnStarted {
                turn,
                text: format!("Question {turn}"),
                origin: TurnOrigin::Typed,
                submit: None,
            },
            9 => {
                let usage = Usage::default();
                Event::TurnEnded { turn, ending: TurnOutcome::Done, usage, elapsed_ms: 900 }
            }
            _ => {
                let message = format!("Answer {number}");
                Event::Replied(ModelMessage { message, ..ModelMessage::default() })
            }
        });
        if number % 10 == 9 {
            let mut kept = TurnRecord::default();
            kept.add_user(&format!("Question {turn}"));
            kept.add_reply(ReplyKind::Chat, &format!("Answer {}", number - 1));
            history.push(turn, kept, |_| {});
            desk.save_turn_history(
                turn,
                &serde_json::to_string(&history.turn_snapshot(turn)).unwrap(),
                None,
            );
        }
        if number % 500 == 499 {
            desk.flush();
        }
    }
    desk.close();
}

/// Skills are read after the first frame: their number must not be felt.
fn first_key_beside_skills(bench: &Bench) -> Figures {
    let with = |count: usize| {
        let home = tempfile::tempdir().unwrap();
        // More folders than this are not looked through in one place.
        let places = ["skills", ".agents/skills", ".claude/skills"];
        for number in 0..count {
            let name = format!("skill-{number}");
            let folder = home.path().join(places[number / 2_000]).join(&name);
            std::fs::create_dir_all(&folder).unwrap();
            let text = format!(
                "---\nname: {name}\ndescription: This skill should be used when {number} is \
                 wanted.\nexamples:\n  - Do number {number}\n---\nDo it.\n"
            );
            std::fs::write(folder.join("SKILL.md"), text).unwrap();
        }
        let times = (0..20).map(|_| {
            let mut terminal = bench.start_in(home.path(), &[]);
            terminal.press("x");
            terminal.wait_for_input("x") - terminal.started
        });
        ms(percentile(times.collect(), 50))
    };
    vec![with(0), with(5_000)]
}

fn first_reply(bench: &Bench) -> Figures {
    let times = (0..10).map(|_| {
        let number = bench.server.count() + 1;
        let terminal = bench.open(&["hello"]);
        terminal.wait_for(&format!("reply {number}")) - terminal.started
    });
    vec![ms(percentile(times.collect(), 50))]
}

/// How long each of so many keys takes to be seen.
fn echoes(terminal: &mut Terminal, count: usize) -> Vec<Duration> {
    let mut typed = String::new();
    let mut times = Vec::new();
    for (index, key) in ('a'..='z').cycle().take(count).enumerate() {
        if typed.len() >= 60 {
            terminal.press("\x03");
            typed.clear();
            std::thread::sleep(Duration::from_millis(50));
        }
        typed.push(key);
        let at = terminal.press(&key.to_string());
        times.push(terminal.wait_for_input(&typed) - at);
        // No beat that could fall in with that of the frames.
        std::thread::sleep(Duration::from_millis(23 + (index * 7 % 13) as u64));
    }
    terminal.press("\x03");
    std::thread::sleep(Duration::from_millis(50));
    times
}

fn echo_idle(bench: &Bench) -> Figures {
    let times = echoes(&mut bench.rested(), 300);
    vec![ms(percentile(times.clone(), 50)), ms(percentile(times, 99))]
}

fn echo_streaming(bench: &Bench) -> Figures {
    let mut terminal = bench.rested();
    let number = bench.server.count() + 1;
    enter(&mut terminal, PACED);
    terminal.wait_for(&format!("reply {number}"));
    vec![ms(percentile(echoes(&mut terminal, 200), 99))]
}

fn echo_agents(bench: &Bench) -> Figures {
    let mut terminal = bench.rested();
    let all = bench.server.count() + 5;
    enter(&mut terminal, AGENTS);
    while bench.server.count() < all {
        std::thread::sleep(Duration::from_millis(10));
    }
    vec![ms(percentile(echoes(&mut terminal, 200), 99))]
}

fn round_trip(bench: &Bench) -> Figures {
    let mut terminal = bench.rested();
    let (mut to_request, mut to_glyph) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        let number = bench.server.count() + 1;
        let pressed = enter(&mut terminal, "hello");
        let shown = terminal.wait_for(&format!("reply {number}"));
        let exchange = bench.server.last();
        to_request.push(exchange.asked - pressed);
        to_glyph.push(shown - exchange.answered);
        terminal.wait_idle();
    }
    vec![ms(percentile(to_request, 50)), ms(percentile(to_glyph, 50))]
}

/// From the reply with a step to its question on the screen, and from a key to its end.
fn question(bench: &Bench) -> Figures {
    let mut terminal = bench.rested();
    let (mut to_sheet, mut to_decision) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        terminal.press(STEP);
        terminal.wait_for_input(STEP);
        // The frames of these keys are over.
        std::thread::sleep(Duration::from_millis(300));
        terminal.press("\r");
        let shown = terminal.wait_for("Run this?");
        to_sheet.push(shown - bench.server.last().answered);
        // The question takes no key before: Enter was pressed just now.
        std::thread::sleep(Duration::from_millis(1_200));
        let pressed = terminal.press("x");
        to_decision.push(terminal.wait_until_gone("Run this?") - pressed);
        terminal.wait_idle();
        // What follows at once might belong to that answer, and would not be sent.
        std::thread::sleep(Duration::from_millis(1_000));
    }
    vec![ms(percentile(to_sheet, 50)), ms(percentile(to_decision, 50))]
}

fn flood(bench: &Bench) -> Figures {
    let (mut times, mut cpus, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let mut terminal = bench.rested();
        let (cpu, size) = (terminal.cpu(), terminal.bytes());
        let number = bench.server.count() + 1;
        let pressed = enter(&mut terminal, FLOOD);
        terminal.wait_for(&format!("end {number}"));
        terminal.press("z");
        times.push(terminal.wait_for_input("z") - pressed);
        // What follows behind, such as colours, counts as well.
        std::thread::sleep(Duration::from_millis(700));
        cpus.push(Duration::from_secs_f64(terminal.cpu() - cpu));
        sizes.push(terminal.bytes() - size);
    }
    sizes.sort_unstable();
    let size = format!("{} KB", sizes.get(2).unwrap() / 1000);
    vec![ms(percentile(times, 50)), ms(percentile(cpus, 50)), size]
}

fn paced(bench: &Bench) -> Figures {
    let mut terminal = bench.rested();
    let number = bench.server.count() + 1;
    enter(&mut terminal, PACED);
    terminal.wait_for(&format!("reply {number}"));
    let (cpu, at) = (terminal.cpu(), Instant::now());
    std::thread::sleep(Duration::from_secs(8));
    let share = (terminal.cpu() - cpu) / at.elapsed().as_secs_f64();
    vec![format!("{:.1} %", share * 100.0)]
}

fn steps(bench: &Bench) -> Figures {
    let screen = (0..5).map(|_| {
        let mut terminal = bench.rested();
        let number = bench.server.count() + 11;
        let pressed = enter(&mut terminal, LOOP);
        terminal.wait_for(&format!("reply {number}")) - pressed
    });
    let screen = percentile(screen.collect(), 50);
    let headless = percentile((0..5).map(|_| headless(bench, LOOP)).collect(), 50);
    vec![ms(screen), ms(headless)]
}

fn one_shot(bench: &Bench) -> Figures {
    vec![ms(percentile((0..20).map(|_| headless(bench, "hello")).collect(), 50))]
}

/// One run without the screen, from its start to its end.
fn headless(bench: &Bench, words: &str) -> Duration {
    let at = Instant::now();
    let output = Command::new(PROGRAM)
        .args(["--base-url", &bench.server.base_url(), "--model", "bench", "-p", words])
        .arg("--trust")
        .arg(bench.folder.path())
        .current_dir(bench.folder.path())
        .env_clear()
        .envs(environment(bench.home.path()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    at.elapsed()
}

fn long(bench: &Bench) -> Figures {
    let mut terminal = bench.rested();
    for _ in 0..5 {
        bench.ask(&mut terminal, FLOOD);
    }
    std::thread::sleep(Duration::from_secs(2));
    let memory = terminal.memory();
    let times = echoes(&mut terminal, 200);
    vec![format!("{memory:.1} MiB"), ms(percentile(times, 99))]
}

fn idle(bench: &Bench) -> Figures {
    let terminal = bench.rested();
    std::thread::sleep(Duration::from_secs(1));
    let switches = terminal.switches();
    std::thread::sleep(Duration::from_secs(5));
    let rate = (terminal.switches() - switches) / 5.0;
    vec![format!("{:.1} MiB", terminal.memory()), format!("{rate:.1}")]
}

fn bytes(bench: &Bench) -> Figures {
    let mut terminal = bench.rested();
    let mut sizes = Vec::new();
    for _ in 0..5 {
        bench.ask(&mut terminal, "hi");
        sizes.push(bench.server.last().bytes);
    }
    let first = *sizes.first().unwrap();
    let added = (sizes.last().unwrap() - first) / (sizes.len() - 1);
    vec![format!("{first}"), format!("{added}")]
}

/// What the same work costs wherever this runs, so that figures of two machines, or of two
/// days, can be put beside each other.
fn machine(_: &Bench) -> Figures {
    let sorted = (0..9).map(|_| {
        let mut random = fastrand::Rng::with_seed(1);
        let mut numbers: Vec<u64> =
            std::iter::repeat_with(|| random.u64(..)).take(1_000_000).collect();
        let at = Instant::now();
        numbers.sort_unstable();
        std::hint::black_box(&numbers);
        at.elapsed()
    });
    let run = (0..50).map(|_| {
        let at = Instant::now();
        Command::new("true").status().unwrap();
        at.elapsed()
    });
    vec![ms(percentile(sorted.collect(), 50)), ms(percentile(run.collect(), 50))]
}

fn binary(_: &Bench) -> Figures {
    let size = std::fs::metadata(PROGRAM).unwrap().len();
    vec![format!("{:.1} MB", size as f64 / 1e6)]
}

fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    let at = (times.len() * percent).div_ceil(100).saturating_sub(1);
    *times.get(at).unwrap()
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
