//! The context through a real session: what each request holds, when the past is summed
//! up, what a person sees of it. The model is a recorder with a script.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use avocet::context::history::size;
use avocet::context::size::Size;
use avocet::context::window::Bounds;
use avocet::model::{Chunk, Model, ModelError, Request};
use avocet::protocol::{
    Ending, Event, Facts, Message, Notice, Op, Page, Receipt, Report, Role, Row,
};
use avocet::safety::redact::Redactor;
use avocet::safety::{Place, Policy};
use avocet::session::trust::Trust;
use avocet::session::{self, Connected, Guard, Handle, Parts, Persona, Reach, Wanted, Ways};
use avocet::tools::Toolbox;
use avocet::tools::exec::{Environment, Exec, Limits, Setup};
use avocet::tools::world::System;
use avocet::words::{Lang, Say, context as words, session as said};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};

const SECRET: &str = "sekret-value-1234";
const SUMMARY: &str =
    r#"{"summary":"They look at files.","keyFacts":["it is Rust"],"openTasks":["write a test"]}"#;

/// What the model does next.
#[derive(Clone, Debug)]
enum Next {
    Text(String),
    Fails,
    Hangs,
}

/// Answers from a script, and keeps every request.
#[derive(Clone, Default)]
struct Recorder {
    name: &'static str,
    script: Arc<Mutex<VecDeque<Next>>>,
    /// What it says when it is asked for a summary.
    sums: Arc<Mutex<VecDeque<Next>>>,
    sent: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Model for Recorder {
    fn name(&self) -> &str {
        self.name
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let is_summary = request.messages[0].content.starts_with("You sum up");
        self.sent.lock().unwrap().push(request.messages);
        let script = if is_summary { &self.sums } else { &self.script };
        let next = script.lock().unwrap().pop_front();
        let text = match next {
            Some(Next::Text(text)) => text,
            Some(Next::Fails) => {
                let error = ModelError::Stalled { url: "http://x".into(), seconds: 1 };
                return futures_util::stream::iter([Err(error)]).boxed();
            }
            Some(Next::Hangs) => return futures_util::stream::pending().boxed(),
            None if is_summary => SUMMARY.to_owned(),
            None => chat("Done."),
        };
        futures_util::stream::iter([Ok(Chunk::Text(text)), Ok(Chunk::Finished(None))]).boxed()
    }
}

impl Recorder {
    fn will(&self, text: impl Into<String>) {
        self.script.lock().unwrap().push_back(Next::Text(text.into()));
    }

    fn sums(&self, next: Next) {
        self.sums.lock().unwrap().push_back(next);
    }

    fn requests(&self) -> Vec<Vec<Message>> {
        self.sent.lock().unwrap().clone()
    }

    fn last(&self) -> Vec<Message> {
        self.requests().pop().unwrap()
    }

    fn summaries(&self) -> usize {
        let is_one = |sent: &&Vec<Message>| sent[0].content.starts_with("You sum up");
        self.requests().iter().filter(is_one).count()
    }
}

fn chat(text: &str) -> String {
    serde_json::json!({ "type": "chat", "message": text, "data": {} }).to_string()
}

fn cmd(program: &str, args: &[&str]) -> String {
    let command = serde_json::json!({ "program": program, "args": args });
    serde_json::json!({ "type": "cmd", "message": "A step.", "data": { "commands": [command] } })
        .to_string()
}

fn all(messages: &[Message]) -> String {
    messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
}

struct Talk {
    handle: Handle,
    model: Recorder,
    folder: tempfile::TempDir,
}

impl Talk {
    fn start() -> Talk {
        Talk::with(Bounds::default(), |_, _| {})
    }

    fn with(bounds: Bounds, change: impl FnOnce(&mut Parts, &Path)) -> Talk {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let model = Recorder { name: "recorder", ..Recorder::default() };
        let mut parts = parts(&real, model.clone(), bounds);
        change(&mut parts, &real);
        Talk { handle: session::start(parts), model, folder }
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    async fn send(&self, op: Op) {
        self.handle.ops.send(op).await.unwrap();
    }

    async fn next<T>(&mut self, mut wanted: impl FnMut(Event) -> Option<T>) -> T {
        let wait = async {
            loop {
                let event = self.handle.events.recv().await.expect("the session goes on");
                if let Some(found) = wanted(event) {
                    return found;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.expect("it comes")
    }

    /// One turn, to its end; what was told on the way.
    async fn turn(&mut self, text: &str) -> Vec<Event> {
        self.send(Op::Submit { text: text.to_owned() }).await;
        self.until_it_ends().await
    }

    async fn until_it_ends(&mut self) -> Vec<Event> {
        let mut told = Vec::new();
        self.next(|event| {
            let over = matches!(event, Event::TurnEnded { .. });
            told.push(event);
            over.then_some(())
        })
        .await;
        told
    }

    async fn notice(&mut self) -> Notice {
        self.next(|event| match event {
            Event::Notice(notice) => Some(notice),
            _ => None,
        })
        .await
    }

    async fn facts(&mut self, mut wanted: impl FnMut(&Facts) -> bool) -> Facts {
        self.next(|event| match event {
            Event::Facts(facts) if wanted(&facts) => Some(*facts),
            _ => None,
        })
        .await
    }

    async fn ledger(&mut self) -> String {
        self.send(Op::Report { report: Report::Context }).await;
        let page = self
            .next(|event| match event {
                Event::Page(page) => Some(page),
                _ => None,
            })
            .await;
        shown(&page)
    }

    /// Fills the past with so many turns.
    async fn fill(&mut self, turns: usize, bytes: usize) {
        for turn in 0..turns {
            self.model.will(chat(&format!("answer {turn} {}", "y".repeat(bytes))));
            self.turn(&format!("question {turn}")).await;
        }
    }
}

fn shown(page: &Page) -> String {
    let text = |row: &Row| match row {
        Row::Heading(value) | Row::Line(value) => value.text(Lang::En),
        Row::Pair { label, value } => {
            format!("{}: {}", label.text(Lang::En), value.text(Lang::En))
        }
    };
    page.rows.iter().map(text).collect::<Vec<_>>().join("\n")
}

fn receipt(told: &[Event]) -> Option<&Receipt> {
    told.iter().find_map(|event| match event {
        Event::Compacted(receipt) => Some(&**receipt),
        _ => None,
    })
}

fn connected(model: Recorder) -> Connected {
    Connected {
        model: Arc::new(model),
        provider: "scripted".into(),
        base_url: String::new(),
        list: Arc::new(|| async { Ok::<_, ModelError>(Vec::new()) }.boxed()),
    }
}

fn parts(folder: &Path, model: Recorder, bounds: Bounds) -> Parts {
    let world = System::new(folder, folder, &[]);
    let environment = Environment { path: world.child_path(), ..Environment::default() };
    let exec = Exec::new(Setup {
        shell: "/bin/sh".into(),
        environment,
        limits: Limits::default(),
        redactor: None,
        lang: Lang::En,
    });
    Parts {
        facts: Facts { cwd: folder.display().to_string(), max_steps: 25, ..Facts::default() },
        reach: Reach {
            first: connected(model),
            discover: None,
            ways: Ways {
                connect: Arc::new(|_: &Wanted, _| Err(said::NO_MODELS.into())),
                doctor: Arc::new(|_| {
                    async { Page { title: Say::from(said::DOCTOR), rows: vec![] } }.boxed()
                }),
            },
        },
        guard: Guard {
            policy: Policy::default(),
            place: Place {
                workspace: folder.to_owned(),
                home: folder.join("home"),
                cwd: folder.to_owned(),
                trusted: true,
            },
            world: Arc::new(world),
            redactor: Arc::new(Redactor::new([("key", SECRET)], [7; 16])),
            keep_rule: Box::new(|_, _| Ok(())),
            trust: Trust::silent(),
        },
        tools: Toolbox::new(vec![Arc::new(exec)]),
        persona: Persona::default(),
        keep: avocet::session::saved::Keeping::nothing(),
        kept: avocet::session::library::Kept::nothing(),
        bounds,
        greeting: vec![],
    }
}

#[tokio::test]
async fn thirty_turns_with_large_outputs_stay_below_both_bounds() {
    let mut talk = Talk::start();
    fs::write(talk.folder().join("big.rs"), "let answer = 42; // 答案\n".repeat(4_000)).unwrap();
    let bounds = Bounds::default();
    let mut sizes = Vec::new();
    for turn in 0..30 {
        for lines in ["3000", "3500", "3900"] {
            talk.model.will(cmd("head", &["-n", lines, "big.rs"]));
        }
        talk.model.will(chat(&format!("answer {turn}\n{}", "more ".repeat(400))));
        let told = talk.turn(&format!("question {turn} {}", "words ".repeat(100))).await;
        assert!(matches!(told.last(), Some(Event::TurnEnded { ending: Ending::Done, .. })));
        sizes.push(size(&talk.model.last()).bytes);
    }
    let requests = talk.model.requests();
    assert!(requests.len() >= 120, "{}", requests.len());
    for sent in &requests {
        assert!(size(sent).fits(bounds.room), "{:?}", size(sent));
    }
    assert!((1..=8).contains(&talk.model.summaries()), "{}", talk.model.summaries());
    let most = |sizes: &[usize]| sizes.iter().copied().max().unwrap();
    let early = most(&sizes[..20]);
    assert!(most(&sizes[20..]) <= early + early / 20, "it grows no more: {sizes:?}");
}

#[tokio::test]
async fn a_long_past_is_summed_up_once_and_a_receipt_says_what_went() {
    let mut talk = Talk::start();
    talk.fill(18, 200).await;
    assert_eq!(talk.model.summaries(), 0);
    let mut receipts = Vec::new();
    for turn in 18..24 {
        let told = talk.turn(&format!("question {turn}")).await;
        receipts.extend(receipt(&told).cloned());
    }
    assert_eq!((talk.model.summaries(), receipts.len()), (1, 1));
    let receipt = receipts.pop().unwrap();
    assert_eq!(receipt.summed[0].id, "turn_1");
    assert_eq!(receipt.turns, 3);
    let page = shown(&receipt.page());
    assert!(page.contains("turn_1") && page.contains("They look at files."), "{page}");
    assert!(page.contains("open task: write a test"), "{page}");
    let sent = talk.model.last();
    let system: Vec<&Message> = sent.iter().filter(|it| it.role == Role::System).collect();
    assert!(system[1].content.contains("They look at files."), "{}", system[1].content);
    assert!(system[1].content.contains("write a test"), "open tasks are pinned");
    assert!(!all(&sent).contains("question 0\n") && all(&sent).contains("question 23"));
}

#[tokio::test]
async fn an_answer_that_is_no_summary_loses_nothing_and_the_turn_goes_on() {
    for nonsense in [Next::Text("We talked a lot!".into()), Next::Fails] {
        let mut talk = Talk::start();
        talk.fill(20, 50).await;
        talk.model.sums(nonsense);
        talk.model.will(chat("Here."));
        let told = talk.turn("next").await;
        let warned = told.iter().filter(
            |event| matches!(event, Event::Notice(notice) if notice.say.word() == words::SUM_FAILED),
        );
        assert_eq!(warned.count(), 1);
        assert!(matches!(told.last(), Some(Event::TurnEnded { ending: Ending::Done, .. })));
        assert!(receipt(&told).is_none());
        assert!(all(&talk.model.last()).contains("question 1\n"), "the past is still there");
        let told = talk.turn("again").await;
        assert_eq!(talk.model.summaries(), 1, "it is not tried again at once");
        let silent = |event: &Event| !matches!(event, Event::Notice(_));
        assert!(told.iter().all(silent), "and said once");
    }
}

#[tokio::test]
async fn a_stop_while_earlier_turns_are_summed_up_is_heard_at_once() {
    let mut talk = Talk::start();
    talk.fill(20, 50).await;
    talk.model.sums(Next::Hangs);
    talk.send(Op::Submit { text: "next".into() }).await;
    talk.next(|event| matches!(event, Event::Compacting).then_some(())).await;
    talk.send(Op::Stop).await;
    let told = talk.until_it_ends().await;
    assert!(matches!(told.last(), Some(Event::TurnEnded { ending: Ending::Cancelled, .. })));
    talk.turn("and now").await;
    assert_eq!(talk.model.summaries(), 2, "nothing came of the first");
    assert!(all(&talk.model.last()).contains("They look at files."));
}

#[tokio::test]
async fn a_person_compresses_with_a_focus_and_not_twice_in_a_row() {
    let mut talk = Talk::start();
    talk.fill(3, 50).await;
    talk.send(Op::Compress { focus: Some(format!("the lexer and {SECRET}")) }).await;
    let told = talk.until_it_ends().await;
    let receipt = receipt(&told).unwrap();
    assert_eq!((receipt.summed.len(), receipt.turns), (2, 1));
    assert!(receipt.focus.as_deref().unwrap().starts_with("the lexer"));
    let asked = all(&talk.model.last());
    assert!(asked.contains("the lexer") && !asked.contains(SECRET), "{asked}");
    talk.send(Op::Compress { focus: None }).await;
    assert_eq!(talk.notice().await.say.word(), words::SUMMED_ALREADY);
    assert_eq!(talk.model.summaries(), 1);
}

#[tokio::test]
async fn there_is_nothing_to_compress_at_first() {
    let mut talk = Talk::start();
    talk.turn("hi").await;
    talk.send(Op::Compress { focus: None }).await;
    assert_eq!(talk.notice().await.say.word(), words::NOTHING_TO_SUM);
}

#[tokio::test]
async fn a_dropped_part_comes_back_by_its_id() {
    let mut talk = Talk::start();
    talk.model.will(cmd("echo", &["a needle in the output"]));
    talk.turn("find it").await;
    talk.fill(4, 10).await;
    talk.send(Op::Compress { focus: None }).await;
    talk.until_it_ends().await;
    talk.send(Op::Recall { id: "turn_1".into() }).await;
    assert_eq!(talk.notice().await.say.word(), words::RECALLED);
    talk.send(Op::Recall { id: "turn_1".into() }).await;
    assert_eq!(talk.notice().await.say.word(), words::RECALLED_ALREADY);
    talk.send(Op::Recall { id: "cmd_001".into() }).await;
    assert_eq!(talk.notice().await.say.word(), words::RECALLED);
    talk.turn("and?").await;
    let sent = all(&talk.model.last());
    assert!(sent.contains("[turn_1]\nperson: find it"), "{sent}");
    assert!(sent.contains("[cmd_001]\nran: echo"), "{sent}");
    talk.send(Op::Recall { id: "turn_77".into() }).await;
    let notice = talk.notice().await;
    assert_eq!(notice.say.word(), words::NO_PART);
    assert!(notice.hint.unwrap().text(Lang::En).contains("turn_1 … turn_7"));
}

#[tokio::test]
async fn no_secret_leaves_in_a_turn_or_in_a_summary() {
    let mut talk = Talk::start();
    talk.model.will(cmd("echo", &[SECRET]));
    talk.model.will(chat(&format!("it is {SECRET}")));
    talk.turn(&format!("my key is {SECRET}")).await;
    talk.fill(3, 10).await;
    talk.send(Op::Compress { focus: None }).await;
    talk.until_it_ends().await;
    talk.turn("next").await;
    for sent in talk.model.requests() {
        assert!(!all(&sent).contains(SECRET), "{}", all(&sent));
    }
}

#[tokio::test]
async fn the_ledger_says_how_a_request_divides() {
    let mut talk = Talk::with(Bounds::of(Size { bytes: 16_000, tokens: 6_000 }), |_, folder| {
        fs::write(folder.join("AGENTS.md"), "Use tabs.").unwrap();
    });
    talk.facts(|facts| !facts.notes.is_empty()).await;
    talk.fill(2, 100).await;
    let page = talk.ledger().await;
    for label in ["system prompt: ", "project notes: ", "past turns: ", "free: ", "at most: "] {
        assert!(page.contains(label), "{label} in {page}");
    }
    assert!(page.contains("15.6 KB, about 6000 tokens"), "{page}");
    assert!(page.contains("project notes: AGENTS.md (9 B)"), "{page}");
    assert!(page.contains("go with it: 2; too old for it: 0"), "{page}");
}

#[tokio::test]
async fn the_projects_notes_go_along_and_are_read_again_when_they_change() {
    let mut talk = Talk::with(Bounds::default(), |_, folder| {
        fs::write(folder.join("AGENTS.md"), format!("Use tabs. The key is {SECRET}.")).unwrap();
    });
    let facts = talk.facts(|facts| !facts.notes.is_empty()).await;
    assert_eq!(facts.notes[0].path, "AGENTS.md");
    talk.turn("one").await;
    let first = talk.model.last()[0].content.clone();
    assert!(first.contains("Use tabs.") && !first.contains(SECRET), "{first}");
    fs::write(talk.folder().join("AGENTS.override.md"), "Use spaces instead.").unwrap();
    talk.turn("two").await;
    let second = talk.model.last()[0].content.clone();
    assert!(second.contains("Use spaces instead.") && !second.contains("Use tabs."), "{second}");
}

#[tokio::test]
async fn notes_of_a_folder_nobody_trusts_are_not_read() {
    let mut talk = Talk::with(Bounds::default(), |parts, folder| {
        fs::write(folder.join("AGENTS.md"), "Use tabs.").unwrap();
        parts.guard.place.trusted = false;
    });
    talk.turn("one").await;
    assert!(!all(&talk.model.last()).contains("Use tabs."));
}

#[tokio::test]
async fn notes_that_are_too_long_are_cut_and_it_is_said() {
    let mut talk = Talk::with(Bounds::default(), |_, folder| {
        fs::write(folder.join("AGENTS.md"), "x".repeat(40 * 1024)).unwrap();
    });
    assert_eq!(talk.notice().await.say.word(), words::NOTES_CUT);
    talk.turn("one").await;
    assert!(size(&talk.model.last()).fits(Bounds::default().room));
}

#[tokio::test]
async fn the_guide_is_never_asked_for_a_summary() {
    let mut talk = Talk::with(Bounds::default(), |parts, _| {
        parts.reach.first.provider = "guide".into();
    });
    talk.fill(24, 50).await;
    assert_eq!(talk.model.summaries(), 0);
    talk.send(Op::Compress { focus: None }).await;
    assert_eq!(talk.notice().await.say.word(), words::SUM_NO_MODEL);
}
