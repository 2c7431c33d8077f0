//! Kills the program at random moments, and looks at what is left: everything that was
//! shown is there, a step that was running says that nobody knows what came of it, a file
//! that was being written is whole, as it was or as it was to be, and the next request is
//! valid. `KILLS` says how often; 16 by itself. Some are early: just after Enter, when the
//! words that were sent are on their way to the file and to the server; 8 by themselves. Some
//! are anywhere in a turn on the screen, against a server on loopback; 8 by themselves.
//!
//! `KILLS=200 cargo test --test screen crash_recovery:: -- --nocapture` prints what was hit and what was lost.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use avocet::protocol::{Event, Outcome};
use avocet::store::{Database, Store};
use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

trait CrashDir {
    fn events_command(&self, args: &[&str]) -> Command;
    fn named_script(&self, name: &str, replies: &[String]) -> String;
    fn store(&self) -> Store;
    fn kept(&self) -> Vec<Event>;
}

impl CrashDir for TestDir {
    /// Approves every step; prints its events.
    fn events_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(&[&["--json", "--yes"], args].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    fn named_script(&self, name: &str, replies: &[String]) -> String {
        let file = self.root.path().join(name);
        fs::write(&file, replies.join("\n---\n")).unwrap();
        format!("scripted:{}", file.display())
    }

    fn store(&self) -> Store {
        Store::in_folder(self.root.path().join("avocet/data"))
    }

    /// Everything that is kept of the last conversation.
    fn kept(&self) -> Vec<Event> {
        let (disk, fault) = Database::open(&self.store()).unwrap();
        assert_eq!(fault, None, "the file is whole");
        let folder: PathBuf = self.work().canonicalize().unwrap();
        let Some(known) = disk.last_in_folder(folder.to_str().unwrap()).unwrap() else {
            return Vec::new();
        };
        let piece = disk.events(known.key, 0, i64::MAX).unwrap();
        assert_eq!(piece.unreadable, 0);
        piece.events.into_iter().map(|kept| kept.event).collect()
    }
}

fn cmd(steps: &[&[&str]]) -> String {
    let commands: Vec<Value> = steps
        .iter()
        .map(|words| json!({ "program": words[0], "args": words[1..], "requires": {} }))
        .collect();
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    json!({ "type": "cmd", "message": "Three steps.", "data": data }).to_string()
}

fn slowly(text: &str) -> String {
    let reply = json!({ "type": "chat", "message": text, "data": {} });
    format!("#! {{\"delay_ms\": 4, \"chunk\": 9}}\n{reply}")
}

fn tools(steps: &[Value]) -> String {
    let data = json!({ "commands": steps });
    json!({ "type": "cmd", "message": "A change.", "data": data }).to_string()
}

fn step(tool: &str, input: Value) -> Value {
    json!({ "tool": tool, "input": input })
}

/// What the file is after so many writes; none is like another.
fn version(n: usize) -> String {
    format!("version {n} 第\n").repeat(6_000)
}

/// How often it is written.
const VERSIONS: usize = 6;

/// A turn that writes one file again and again, and edits another.
fn changes() -> Vec<String> {
    let read = |path: &str| step("file.read", json!({ "path": path }));
    let mut replies = vec![tools(&[read("big.txt"), read("small.txt")])];
    for n in 1..VERSIONS {
        let edit =
            json!({ "path": "small.txt", "old": format!("<{}>", n - 1), "new": format!("<{n}>") });
        let write = json!({ "path": "big.txt", "content": version(n) });
        replies.push(tools(&[step("file.write", write), step("file.edit", edit)]));
    }
    replies.push(slowly("All is written."));
    replies
}

/// A turn of steps and streaming; the first reply of `long` is a summary.
fn replies(long: bool) -> Vec<String> {
    let summary = json!({ "summary": "We counted.", "keyFacts": ["a"], "openTasks": [] });
    let mut replies = Vec::new();
    if long {
        replies.push(format!("#! {{\"delay_ms\": 60, \"chunk\": 12}}\n{summary}"));
    }
    replies.extend([
        cmd(&[&["ls", "-a"], &["sleep", "0.15"], &["touch", "made"]]),
        slowly(&"An answer that takes a while, 一句一句地说。".repeat(8)),
    ]);
    replies
}

/// Lines of the child as they come, and the first event that began a turn.
fn listen(child: &mut Child) -> (Arc<Mutex<Vec<Event>>>, std::thread::JoinHandle<()>) {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let (out, to) = (child.stdout.take().unwrap(), Arc::clone(&shown));
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            // The last line may be cut by the kill.
            if let Ok(event) = serde_json::from_str::<Event>(&line) {
                to.lock().unwrap().push(event);
            }
        }
    });
    (shown, reader)
}

fn grown(events: &[Event]) -> String {
    let text = |event: &Event| match event {
        Event::Delta { text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// What was shown and is kept as it was: text that grows is compared apart, since it is
/// joined, and gives way to the whole.
fn firm(events: &[Event]) -> Vec<Event> {
    // Text that grows, and that a reply begins, which shows nothing by itself.
    let grows = |event: &Event| {
        matches!(
            event,
            Event::Delta { .. }
                | Event::StepOutput { .. }
                | Event::ReasoningDelta { .. }
                | Event::ReplyStarted
        )
    };
    events.iter().filter(|event| event.is_recorded() && !grows(event)).cloned().collect()
}

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KillTarget {
    /// Steps and streaming.
    Talk,
    /// The same behind a summary of a long past.
    Long,
    Files,
    Rewind,
}

/// One kill; what it hit.
fn once(seed: u64) -> String {
    let what = [KillTarget::Talk, KillTarget::Long, KillTarget::Files, KillTarget::Rewind];
    let what = what[(seed % 4) as usize];
    let hit = match what {
        KillTarget::Rewind => rewind(seed),
        _ => talk(seed, what),
    };
    format!("{what:?} {hit}").to_lowercase()
}

fn talk(seed: u64, what: KillTarget) -> &'static str {
    let mut random = fastrand::Rng::with_seed(seed);
    let bench = TestDir::new();
    if what == KillTarget::Long {
        let words = "A long answer that fills the window. ".repeat(900);
        let model = bench.named_script(
            "before.txt",
            &[json!({ "type": "chat", "message": words, "data": {} }).to_string()],
        );
        // Of one turn not enough is kept to be summed up.
        for more in [&[][..], &["-c"]] {
            let first = [&["--model", &model, "-p", "the first turn"], more].concat();
            let done = bench.events_command(&first).output().unwrap();
            assert_eq!(done.status.code(), Some(0));
        }
    }
    let replies = match what {
        KillTarget::Files => {
            fs::write(bench.work().join("big.txt"), version(0)).unwrap();
            fs::write(bench.work().join("small.txt"), "\u{feff}<0>\r\n").unwrap();
            changes()
        }
        _ => replies(what == KillTarget::Long),
    };
    let before = bench.kept();
    let model = bench.named_script("replies.txt", &replies);
    let more: &[&str] = if what == KillTarget::Long { &["-c"] } else { &[] };
    let mut child = bench
        .events_command(&[&["--model", &model, "-p", "do three things"], more].concat())
        .spawn()
        .unwrap();
    let (shown, reader) = listen(&mut child);
    let started = |shown: &Mutex<Vec<Event>>| {
        shown.lock().unwrap().iter().any(|event| match what {
            KillTarget::Files => matches!(event, Event::StepFinished(_)),
            _ => matches!(event, Event::TurnStarted { .. }),
        })
    };
    // Now and then before anything happened at all.
    if random.u8(..10) > 0 {
        for _ in 0..4_000 {
            if started(&shown) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    std::thread::sleep(Duration::from_millis(random.u64(0..900)));
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    let shown = shown.lock().unwrap().clone();
    if what == KillTarget::Files {
        whole(&bench, seed);
    }
    check(&bench, seed, &before, &shown);
    hit(&shown)
}

/// Both files are one of their versions to the last byte.
fn whole(bench: &TestDir, seed: u64) {
    let big = fs::read(bench.work().join("big.txt")).unwrap();
    let known = (0..VERSIONS).any(|n| version(n).as_bytes() == big);
    assert!(known, "seed {seed}: {} bytes are no version of it", big.len());
    let small = fs::read_to_string(bench.work().join("small.txt")).unwrap();
    let known = (0..VERSIONS).any(|n| format!("\u{feff}<{n}>\r\n") == small);
    assert!(known, "seed {seed}: {small:?}");
}

/// The files of a turn that will be taken back.
fn files() -> Vec<String> {
    (0..8).map(|n| format!("f{n}.txt")).collect()
}

/// Which of them hold what the turn wrote; each is whole.
fn written(bench: &TestDir, seed: u64) -> Vec<String> {
    let mut out = files();
    out.retain(|name| {
        let now = fs::read(bench.work().join(name)).unwrap();
        let (old, new) = (now == version(0).as_bytes(), now == version(1).as_bytes());
        assert!(old || new, "seed {seed}: {name} is neither: {} bytes", now.len());
        new
    });
    out
}

/// Two turns, of which the second wrote the files.
fn two_turns(bench: &TestDir, model: &str) {
    let first = bench.events_command(&["--model", model, "-p", "the first turn"]).output().unwrap();
    assert_eq!(first.status.code(), Some(0));
    for name in files() {
        fs::write(bench.work().join(name), version(0)).unwrap();
    }
    let read = |name: &String| step("file.read", json!({ "path": name }));
    let write = |name: &String| step("file.write", json!({ "path": name, "content": version(1) }));
    let reads: Vec<Value> = files().iter().map(read).collect();
    let writes: Vec<Value> = files().iter().map(write).collect();
    // What is written is more than the model reads: it may be asked for a summary before it ends.
    let replies = [tools(&reads), tools(&writes), slowly("Done."), slowly("Done.")];
    let changing = bench.named_script("writes.txt", &replies);
    let second = ["--model", &changing, "-c", "-p", "the second turn"];
    let second = bench.events_command(&second).output().unwrap();
    let said = String::from_utf8_lossy(&second.stdout).into_owned();
    assert_eq!(second.status.code(), Some(0), "{said}");
    assert_eq!(written(bench, 0).len(), files().len(), "{said}");
}

/// Kills while the chat is taken back and the files of it are put back.
fn rewind(seed: u64) -> &'static str {
    let mut random = fastrand::Rng::with_seed(seed);
    let bench = TestDir::new();
    let hello = slowly("Hello.");
    let model = bench.named_script("replies.txt", &[hello.clone(), hello.clone(), hello]);
    two_turns(&bench, &model);

    let work = bench.work();
    let args = ["--linear", "--trust", work.to_str().unwrap(), "--model", &model, "-c"];
    let mut screen = Screen::start(&args, &bench.envs(), &work, (100, 30));
    screen.wait_for("Continued: ");
    screen.press("/rewind 1 both\r");
    std::thread::sleep(Duration::from_millis(random.u64(0..250)));
    screen.signal("KILL");
    screen.wait_for_exit();

    let changed = written(&bench, seed);
    let kept = bench.kept();
    let begins = |text: &str| {
        let is_it = |event: &Event| matches!(event, Event::TurnStarted { text: began, .. } if began == text);
        kept.iter().any(is_it)
    };
    assert!(begins("the first turn"), "seed {seed}: {kept:?}");
    let gone = !begins("the second turn");
    // What the chat that is gone did to files is known until they are put back.
    let undone = kept.iter().any(|event| matches!(event, Event::Undone { .. }));
    if gone && !undone {
        let known = still_changed(&kept);
        let all = changed.iter().all(|name| known.contains(name));
        assert!(all, "seed {seed}: {changed:?} of {known:?}");
    }
    assert!(changed.is_empty() || !undone, "seed {seed}: {changed:?} were said to be put back");
    let request = continues(&bench, seed);
    assert_eq!(request.contains("the second turn"), !gone, "seed {seed}: {request}");
    match (gone, changed.len()) {
        (false, _) => "before",
        (true, 0) => "after",
        (true, _) => "in between",
    }
}

/// File names that can still be put back though their turn is gone.
fn still_changed(kept: &[Event]) -> Vec<String> {
    let files = kept.iter().filter_map(|event| match event {
        Event::FilesKept { files, .. } => Some(files),
        _ => None,
    });
    files.flatten().map(|change| change.path.rsplit('/').next().unwrap().to_owned()).collect()
}

/// The next request is one a server takes; its text.
fn continues(bench: &TestDir, seed: u64) -> String {
    let server = Server::start(vec![Reply::chat("On we go."), Reply::chat("On we go.")]);
    let url = server.base_url();
    let args = ["--base-url", &url, "--model", "loop-1", "-c", "-p", "go on"];
    let done = bench.events_command(&args).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "seed {seed}");
    let request = server.requests().last().unwrap().json();
    let messages = request["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|one| one["role"].as_str().unwrap()).collect();
    let talk: Vec<&&str> = roles.iter().filter(|role| **role != "system").collect();
    assert!(talk.windows(2).all(|pair| pair[0] != pair[1]), "seed {seed}: {roles:?}");
    assert_eq!(roles.last(), Some(&"user"), "seed {seed}");
    request.to_string()
}

/// The three promises.
fn check(bench: &TestDir, seed: u64, before: &[Event], shown: &[Event]) {
    let kept = bench.kept();
    let (had, now) = kept.split_at(before.len());
    assert_eq!(had, before, "seed {seed}: what was there stays");
    let firm = firm(shown);
    // The greeting is shown before the conversation begins, and is no part of it.
    let begins = |event: &Event| matches!(event, Event::TurnStarted { .. });
    let from = firm.iter().position(begins).unwrap_or(firm.len());
    for event in &firm[from..] {
        assert!(now.contains(event), "seed {seed}: shown and gone: {event:?}\n{now:?}");
    }
    let whole = shown.iter().rposition(|event| matches!(event, Event::ReplyStarted));
    let growing = grown(&shown[whole.unwrap_or(0)..]);
    let replied = now.iter().rev().find_map(|event| match event {
        Event::Replied(replied) => Some(replied.message.clone()),
        _ => None,
    });
    let stored = grown(now);
    let fits = growing.starts_with(&stored)
        || stored.starts_with(&growing)
        || replied.is_some_and(|whole| whole.starts_with(&growing));
    assert!(fits, "seed {seed}: {growing:?} grew to {stored:?}");

    if kept.is_empty() {
        let server = Server::start(vec![Reply::chat("On we go.")]);
        let url = server.base_url();
        let args = ["--base-url", &url, "--model", "loop-1", "-c", "-p", "go on"];
        let mut none = bench.events_command(&args);
        assert_eq!(none.output().unwrap().status.code(), Some(2), "seed {seed}");
        assert!(!shown.iter().any(begins), "seed {seed}: it was shown and is gone");
        return;
    }
    let request = continues(bench, seed);
    if now.iter().any(begins) {
        assert!(request.contains("do three things"), "seed {seed}: {request}");
    }
    let after = bench.kept();
    for event in now {
        let Event::StepStarted { step, .. } = event else { continue };
        let seen = after.iter().find_map(|event| match event {
            Event::StepFinished(seen) if seen.step.id == step.id => Some(seen.outcome),
            _ => None,
        });
        let known = now
            .iter()
            .any(|event| matches!(event, Event::StepFinished(seen) if seen.step.id == step.id));
        let expected = if known { Outcome::Ran } else { Outcome::Interrupted };
        assert_eq!(seen, Some(expected), "seed {seed}: {}", step.id);
    }
}

/// What was going on when it was killed.
fn hit(shown: &[Event]) -> &'static str {
    let last = shown.iter().rev().find(|event| !matches!(event, Event::Facts(_)));
    match last {
        None => "start",
        Some(Event::Compacting) => "compaction",
        Some(Event::Delta { .. } | Event::ReplyStarted) => "streaming",
        Some(Event::StepStarted { .. } | Event::StepOutput { .. }) => "step",
        Some(Event::TurnEnded { .. }) => "end",
        Some(_) => "between",
    }
}

#[test]
fn a_kill_at_any_moment_loses_nothing_shown() {
    let count: u64 = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(16);
    let base = fastrand::u64(..1 << 40);
    let mut hits = std::collections::BTreeMap::new();
    for n in 0..count {
        *hits.entry(once(base + n)).or_insert(0_u32) += 1;
    }
    println!("{count} kills from seed {base}: {hits:?}");
}

/// Where words are that were sent a moment before a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SentText {
    Conversation,
    Draft,
    /// Up brings them back, but no start offers them.
    Typed,
    Nowhere,
}

/// Kills up to 50 ms after Enter, which is pressed once the words are seen; the answer is where the
/// words are, and whether the server has heard them.
fn early(seed: u64) -> (SentText, bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Before."), Reply::chat("Heard.")]);
    let (url, work) = (server.base_url(), bench.work());
    let fixed = ["--trust", work.to_str().unwrap(), "--base-url", &url, "--model", "loop-1"];
    let mut screen = Screen::start(&fixed, &bench.envs(), &work, (100, 30));
    screen.wait_for("Ask anything");
    // The first words make the file; later ones find it open.
    let is_first = random.bool();
    if !is_first {
        screen.press("before\r");
        screen.wait_for("Before.");
        screen.wait_until_idle();
    }
    let holds = |folder: &str| {
        let files = fs::read_dir(bench.path("avocet").join(folder)).into_iter().flatten().flatten();
        let texts = files.map(|file| fs::read(file.path()).unwrap_or_default());
        texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect::<String>()
    };
    screen.press("the words that count");
    screen.wait_for("the words that count");
    // A frame waits for the disk, but not for long.
    wait_until("the draft is written", || holds("state/drafts").contains("the words that count"));
    screen.press("\r");
    std::thread::sleep(Duration::from_micros(random.u64(0..50_000)));
    screen.signal("KILL");
    screen.wait_for_exit();
    let is_heard = server.requests().len() > usize::from(!is_first);
    let begins = |event: &Event| matches!(event, Event::TurnStarted { text, .. } if text == "the words that count");
    let known = match () {
        () if bench.kept().iter().any(begins) => SentText::Conversation,
        () if holds("state/drafts").contains("the words that count") => SentText::Draft,
        () if holds("state").contains("the words that count") => SentText::Typed,
        () => SentText::Nowhere,
    };
    (known, is_heard)
}

#[test]
fn a_kill_just_after_enter_loses_no_visible_text() {
    let count: u64 = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let base = fastrand::u64(..1 << 40);
    let mut hits = std::collections::BTreeMap::new();
    for n in 0..count {
        let (known, is_heard) = early(base + n);
        let is_safe = if is_heard {
            known == SentText::Conversation
        } else {
            matches!(known, SentText::Conversation | SentText::Draft)
        };
        assert!(is_safe, "seed {}: heard: {is_heard}, and it is in {known:?}", base + n);
        *hits.entry((known, is_heard)).or_insert(0_u32) += 1;
    }
    println!("{count} early kills from seed {base}, by place and whether it was heard: {hits:?}");
}

/// Words of which each is seen once, with its number.
fn numbered(count: usize) -> String {
    (0..count).map(|n| format!("word{n:03} ")).collect()
}

/// All that the model said, as it is kept.
fn answers(kept: &[Event]) -> String {
    let said = kept.iter().map(|event| match event {
        Event::Delta { text } => text.as_str(),
        Event::Replied(replied) => &replied.message,
        _ => "",
    });
    said.collect()
}

/// Kills anywhere in a turn on the screen: streaming, a step, streaming again. The answer is
/// what was going on, and how many words were seen that the file does not have.
fn on_screen(seed: u64) -> (&'static str, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let bench = TestDir::new();
    let pause = Duration::from_millis(4);
    let step = cmd(&[&["ls", "-a"], &["ls", "-l"]]);
    let done = json!({ "type": "chat", "message": numbered(40), "data": {} }).to_string();
    let server = Server::start(vec![
        Reply::chat("Before."),
        Reply::text(&step, 12).pause(pause),
        Reply::text(&done, 60).pause(pause),
    ]);
    let (url, work) = (server.base_url(), bench.work());
    let fixed = ["--trust", work.to_str().unwrap(), "--base-url", &url, "--model", "loop-1"];
    let mut screen = Screen::start(&fixed, &bench.envs(), &work, (100, 30));
    screen.wait_for("Ask anything");
    screen.press("before\r");
    screen.wait_for("Before.");
    screen.wait_until_idle();
    screen.press("the words that count\r");
    server.wait_for_requests(2);
    if random.bool() {
        server.wait_for_requests(3);
    }
    std::thread::sleep(Duration::from_millis(random.u64(0..600)));
    screen.signal("KILL");
    screen.wait_for_exit();
    let seen = screen.text();
    let kept = bench.kept();
    let began: Vec<&str> = kept
        .iter()
        .filter_map(|event| match event {
            Event::TurnStarted { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(began, ["before", "the words that count"], "seed {seed}");
    let ran = kept.iter().filter(|event| matches!(event, Event::StepFinished(_))).count();
    let is_over = kept.iter().filter(|event| matches!(event, Event::TurnEnded { .. })).count() == 2;
    let stored = answers(&kept);
    assert!(stored.contains("Before."), "seed {seed}");
    let words = numbered(40);
    let lost =
        words.split_whitespace().filter(|word| seen.contains(word) && !stored.contains(word));
    let lost = lost.count();
    let request = continues(&bench, seed);
    assert!(request.contains("the words that count"), "seed {seed}: {request}");
    let hit = match (is_over, ran, stored.contains("word000")) {
        (true, ..) => "end",
        (_, 2, true) => "second answer",
        (_, 2, false) => "between",
        (_, 1, _) => "second step",
        _ if kept.iter().any(|event| matches!(event, Event::StepStarted { .. })) => "first step",
        _ => "first answer",
    };
    (hit, lost)
}

#[test]
fn a_kill_during_a_screen_turn_loses_no_prompt_and_damages_no_session() {
    let count: u64 = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let base = fastrand::u64(..1 << 40);
    let mut hits = std::collections::BTreeMap::new();
    let mut lost = 0;
    for n in 0..count {
        let (hit, words) = on_screen(base + n);
        lost += words;
        *hits.entry(hit).or_insert(0_u32) += 1;
    }
    println!("{count} kills on the screen from seed {base}: {hits:?}; words seen and gone: {lost}");
}

#[test]
fn text_of_a_script_whose_reply_does_not_go_on_is_shown_and_survives_a_kill() {
    let bench = TestDir::new();
    fs::write(bench.work().join("ask.ai.yaml"), "user: go\nassistant: \"[[A]]\"\n").unwrap();
    let server = Server::start(vec![Reply::text(&numbered(20), 20).hang_after(10)]);
    let (url, work) = (server.base_url(), bench.work());
    let fixed = ["--trust", work.to_str().unwrap(), "--base-url", &url, "--model", "loop-1"];
    let mut screen = Screen::start(&fixed, &bench.envs(), &work, (100, 30));
    screen.wait_for("Ask anything");
    screen.press("/run ask.ai.yaml\r");
    screen.wait_for("word009");
    wait_until("it is recorded", || answers(&bench.kept()).contains("word009"));
    screen.signal("KILL");
    screen.wait_for_exit();
    assert!(answers(&bench.kept()).contains("word009"));
}
