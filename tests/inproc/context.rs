//! The context of a real session: what each request contains, when earlier turns are summarised,
//! and what the user sees of it. The model is scripted and records its requests.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use avocet::context::message_size::messages_size;
use avocet::context::size::ContextSize;
use avocet::context::window::Bounds;
use avocet::i18n::{Lang, context as phrases, session as session_words};
use avocet::model::{Chunk, Model, ModelError, Request};
use avocet::protocol::{
    Compaction, Decision, Event, ExportFormat, Message, Op, Page, QuestionOp, Report, Rewind, Role,
    RuleOp, SavedOp, SessionOp, TurnOp, TurnOutcome,
};
use avocet::session::{self, SessionConfig};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use crate::support::talk::derefs_to_client;
use crate::support::talk::{self, SECRET, SessionClient, chat, cmd, tool};

const SUMMARY: &str =
    r#"{"summary":"They look at files.","keyFacts":["it is Rust"],"openTasks":["write a test"]}"#;

/// What the model does next.
#[derive(Clone, Debug)]
enum ModelBehavior {
    Text(String),
    Fails,
    Hangs,
}

/// Answers from a script, and keeps every request.
#[derive(Clone, Default)]
struct Recorder {
    name: &'static str,
    script: Arc<Mutex<VecDeque<ModelBehavior>>>,
    /// What it says when it is asked for a summary.
    sums: Arc<Mutex<VecDeque<ModelBehavior>>>,
    sent: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Model for Recorder {
    fn name(&self) -> &str {
        self.name
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let is_summary = request.messages[0].text().starts_with("You summarize");
        self.sent.lock().unwrap().push(request.messages);
        let script = if is_summary { &self.sums } else { &self.script };
        let next = script.lock().unwrap().pop_front();
        let text = match next {
            Some(ModelBehavior::Text(text)) => text,
            Some(ModelBehavior::Fails) => {
                let error = ModelError::Stalled { url: "http://x".into(), seconds: 1 };
                return futures_util::stream::iter([Err(error)]).boxed();
            }
            Some(ModelBehavior::Hangs) => return futures_util::stream::pending().boxed(),
            None if is_summary => SUMMARY.to_owned(),
            None => chat("Done."),
        };
        futures_util::stream::iter([Ok(Chunk::Text(text)), Ok(Chunk::Finished(None))]).boxed()
    }
}

impl Recorder {
    fn will(&self, text: impl Into<String>) {
        self.script.lock().unwrap().push_back(ModelBehavior::Text(text.into()));
    }

    fn summarizes(&self, next: ModelBehavior) {
        self.sums.lock().unwrap().push_back(next);
    }

    fn requests(&self) -> Vec<Vec<Message>> {
        self.sent.lock().unwrap().clone()
    }

    fn last(&self) -> Vec<Message> {
        self.requests().pop().unwrap()
    }

    fn summaries(&self) -> usize {
        let is_one = |sent: &&Vec<Message>| sent[0].text().starts_with("You summarize");
        self.requests().iter().filter(is_one).count()
    }
}

fn all(messages: &[Message]) -> String {
    messages.iter().map(|message| message.text()).collect::<Vec<_>>().join("\n")
}

struct ContextSession {
    client: SessionClient,
    model: Recorder,
    folder: tempfile::TempDir,
}

derefs_to_client!(ContextSession);

impl ContextSession {
    fn start() -> ContextSession {
        ContextSession::with(Bounds::default(), |_, _| {})
    }

    fn with(bounds: Bounds, change: impl FnOnce(&mut SessionConfig, &Path)) -> ContextSession {
        ContextSession::in_folder(crate::support::temp_dir(), bounds, change)
    }

    fn in_folder(
        folder: tempfile::TempDir,
        bounds: Bounds,
        change: impl FnOnce(&mut SessionConfig, &Path),
    ) -> ContextSession {
        let real = folder.path().canonicalize().unwrap();
        let model = Recorder { name: "recorder", ..Recorder::default() };
        let mut parts = talk::parts(&real, Arc::new(model.clone()));
        parts.bounds = bounds;
        change(&mut parts, &real);
        ContextSession { client: SessionClient::start(parts), model, folder }
    }

    /// One that is kept.
    fn saved() -> ContextSession {
        ContextSession::with(Bounds::default(), |parts, _| talk::with_store(parts, false))
    }

    /// Ends it, and takes it up again.
    async fn resumed(self) -> ContextSession {
        let ContextSession { client, folder, .. } = self;
        client.close().await;
        ContextSession::in_folder(folder, Bounds::default(), |parts, _| {
            talk::with_store(parts, true)
        })
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    async fn context_page(&mut self) -> String {
        self.send(Op::Session(SessionOp::Report { report: Report::Context })).await;
        self.page().await.join("\n")
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
    page.rows.iter().map(talk::row).collect::<Vec<_>>().join("\n")
}

fn compaction(told: &[Event]) -> Option<&Compaction> {
    told.iter().find_map(|event| match event {
        Event::Compacted(receipt) => Some(&**receipt),
        _ => None,
    })
}

#[tokio::test]
async fn thirty_turns_with_large_outputs_stay_below_both_bounds() {
    let mut talk = ContextSession::start();
    fs::write(talk.folder().join("big.rs"), "let answer = 42; // 答案\n".repeat(4_000)).unwrap();
    let bounds = Bounds::default();
    let mut sizes = Vec::new();
    for turn in 0..30 {
        for lines in ["3000", "3500", "3900"] {
            talk.model.will(cmd("head", &["-n", lines, "big.rs"]));
        }
        talk.model.will(chat(&format!("answer {turn}\n{}", "more ".repeat(400))));
        let told = talk.turn(&format!("question {turn} {}", "words ".repeat(100))).await;
        assert!(matches!(told.last(), Some(Event::TurnEnded { ending: TurnOutcome::Done, .. })));
        sizes.push(messages_size(&talk.model.last()).bytes);
    }
    let requests = talk.model.requests();
    assert!(requests.len() >= 120, "{}", requests.len());
    for sent in &requests {
        assert!(messages_size(sent).fits(bounds.room), "{:?}", messages_size(sent));
    }
    assert!((1..=8).contains(&talk.model.summaries()), "{}", talk.model.summaries());
    let most = |sizes: &[usize]| sizes.iter().copied().max().unwrap();
    let early = most(&sizes[..20]);
    assert!(most(&sizes[20..]) <= early + early / 20, "it grows no more: {sizes:?}");
}

#[tokio::test]
async fn a_long_history_is_summarized_once_and_the_compaction_is_reported() {
    let mut talk = ContextSession::start();
    talk.fill(18, 200).await;
    assert_eq!(talk.model.summaries(), 0);
    let mut receipts = Vec::new();
    for turn in 18..24 {
        let told = talk.turn(&format!("question {turn}")).await;
        receipts.extend(compaction(&told).cloned());
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
    assert!(system[1].text().contains("They look at files."), "{}", system[1].text());
    assert!(system[1].text().contains("write a test"), "open tasks are pinned");
    assert!(!all(&sent).contains("question 0\n") && all(&sent).contains("question 23"));
}

#[tokio::test]
async fn an_invalid_summary_loses_nothing_and_the_turn_continues() {
    for nonsense in [ModelBehavior::Text("We talked a lot!".into()), ModelBehavior::Fails] {
        let mut talk = ContextSession::start();
        talk.fill(20, 50).await;
        talk.model.summarizes(nonsense);
        talk.model.will(chat("Here."));
        let told = talk.turn("next").await;
        let warned = told.iter().filter(
            |event| matches!(event, Event::Notice(notice) if notice.say.phrase() == phrases::SUM_FAILED),
        );
        assert_eq!(warned.count(), 1);
        assert!(matches!(told.last(), Some(Event::TurnEnded { ending: TurnOutcome::Done, .. })));
        assert!(compaction(&told).is_none());
        assert!(all(&talk.model.last()).contains("question 1\n"), "the past is still there");
        let told = talk.turn("again").await;
        assert_eq!(talk.model.summaries(), 1, "it is not tried again at once");
        let silent = |event: &Event| !matches!(event, Event::Notice(_));
        assert!(told.iter().all(silent), "and said once");
    }
}

#[tokio::test]
async fn a_stop_during_compaction_takes_effect_at_once() {
    let mut talk = ContextSession::start();
    talk.fill(20, 50).await;
    talk.model.summarizes(ModelBehavior::Hangs);
    talk.send(Op::Turn(TurnOp::Submit { text: "next".into() })).await;
    talk.next(|event| matches!(event, Event::Compacting).then_some(())).await;
    talk.send(Op::Turn(TurnOp::Stop)).await;
    let told = talk.until_it_ends().await;
    assert!(matches!(told.last(), Some(Event::TurnEnded { ending: TurnOutcome::Cancelled, .. })));
    talk.turn("and now").await;
    assert_eq!(talk.model.summaries(), 2, "nothing came of the first");
    assert!(all(&talk.model.last()).contains("They look at files."));
}

#[tokio::test]
async fn the_user_compresses_with_a_focus_but_not_twice_in_a_row() {
    let mut talk = ContextSession::start();
    talk.fill(3, 50).await;
    talk.send(Op::Turn(TurnOp::Compress { focus: Some(format!("the lexer and {SECRET}")) })).await;
    let told = talk.until_it_ends().await;
    let receipt = compaction(&told).unwrap();
    assert_eq!((receipt.summed.len(), receipt.turns), (2, 1));
    assert!(receipt.focus.as_deref().unwrap().starts_with("the lexer"));
    let asked = all(&talk.model.last());
    assert!(asked.contains("the lexer") && !asked.contains(SECRET), "{asked}");
    talk.send(Op::Turn(TurnOp::Compress { focus: None })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::SUMMED_ALREADY);
    assert_eq!(talk.model.summaries(), 1);
}

#[tokio::test]
async fn a_new_session_has_nothing_to_compress() {
    let mut talk = ContextSession::start();
    talk.turn("hi").await;
    talk.send(Op::Turn(TurnOp::Compress { focus: None })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::NOTHING_TO_SUM);
}

#[tokio::test]
async fn a_dropped_part_is_recalled_by_its_id() {
    let mut talk = ContextSession::start();
    talk.model.will(cmd("echo", &["a needle in the output"]));
    talk.turn("find it").await;
    talk.fill(4, 10).await;
    talk.send(Op::Turn(TurnOp::Compress { focus: None })).await;
    talk.until_it_ends().await;
    talk.send(Op::Turn(TurnOp::Recall { id: "turn_1".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::RECALLED);
    talk.send(Op::Turn(TurnOp::Recall { id: "turn_1".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::RECALLED_ALREADY);
    talk.send(Op::Turn(TurnOp::Recall { id: "cmd_001".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::RECALLED);
    talk.turn("and?").await;
    let sent = all(&talk.model.last());
    assert!(sent.contains("[turn_1]\nperson: find it"), "{sent}");
    assert!(sent.contains("[cmd_001]\nran: echo"), "{sent}");
    talk.send(Op::Turn(TurnOp::Recall { id: "turn_77".into() })).await;
    let notice = talk.notice().await;
    assert_eq!(notice.say.phrase(), phrases::NO_PART);
    assert!(notice.hint.unwrap().text(Lang::En).contains("turn_1 … turn_7"));
}

#[tokio::test]
async fn no_secret_is_sent_in_a_turn_or_in_a_summary() {
    let mut talk = ContextSession::start();
    talk.model.will(cmd("echo", &[SECRET]));
    talk.model.will(chat(&format!("it is {SECRET}")));
    talk.turn(&format!("my key is {SECRET}")).await;
    talk.fill(3, 10).await;
    talk.send(Op::Turn(TurnOp::Compress { focus: None })).await;
    talk.until_it_ends().await;
    talk.turn("next").await;
    for sent in talk.model.requests() {
        assert!(!all(&sent).contains(SECRET), "{}", all(&sent));
    }
}

/// The mask of a secret in what was sent. The first one is an example in the system prompt.
fn mask_in(messages: &[Message]) -> String {
    let sent = all(messages);
    let (_, rest) = sent.rsplit_once("‹secret:").unwrap();
    let (inner, _) = rest.split_once('›').unwrap();
    format!("‹secret:{inner}›")
}

/// Approves everything until the turn ends; returns all events.
async fn approve_all(talk: &mut ContextSession) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let event = talk.next(Some).await;
        if let Event::Asked(ask) = &event {
            talk.send(Op::Question(QuestionOp::Decide {
                ask: ask.id,
                decision: Decision::Approve,
            }))
            .await;
        }
        let is_over = matches!(event, Event::TurnEnded { .. });
        events.push(event);
        if is_over {
            return events;
        }
    }
}

/// The files in a folder that contain the secret. What files contained before is left out: an
/// undo writes it back.
fn files_with(folder: &Path, secret: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with(".kept") {
            found.extend(files_with(&path, secret));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(secret.len()).any(|part| part == secret.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

fn read_conf() -> String {
    tool("file.read", serde_json::json!({ "path": "conf.txt" }))
}

fn with_files_and_store(parts: &mut SessionConfig, resume: bool) {
    talk::with_files(parts);
    talk::with_store(parts, resume);
}

/// A session in which the model changed the line next to a secret, and the mask it was shown.
async fn session_with_a_changed_secret(secret: &str) -> (ContextSession, String, Vec<Event>) {
    let mut talk =
        ContextSession::with(Bounds::default(), |parts, _| with_files_and_store(parts, false));
    let conf = talk.folder().join("conf.txt");
    fs::write(&conf, format!("key = {secret}\nmode = one\n")).unwrap();
    talk.model.will(read_conf());
    talk.submit("look").await;
    let mut events = approve_all(&mut talk).await;
    let mask = mask_in(&talk.model.last());
    let (old, new) = (format!("key = {mask}\nmode = one"), format!("key = {mask}\nmode = two"));
    let edit = serde_json::json!({ "path": "conf.txt", "old": old, "new": new });
    talk.model.will(tool("file.edit", edit));
    talk.submit("change the mode").await;
    events.extend(approve_all(&mut talk).await);
    assert_eq!(fs::read_to_string(&conf).unwrap(), format!("key = {secret}\nmode = two\n"));
    talk.fill(3, 10).await;
    (talk, mask, events)
}

async fn resume(talk: ContextSession) -> ContextSession {
    let ContextSession { client, folder, .. } = talk;
    client.close().await;
    let mut talk = ContextSession::in_folder(folder, Bounds::default(), |parts, _| {
        with_files_and_store(parts, true);
    });
    assert_eq!(talk.notice().await.say.phrase(), session_words::RESUMED);
    talk
}

/// Takes something back, or compacts; the model's summary contains the secret itself.
async fn take_back(talk: &mut ContextSession, op: Op, secret: &str) -> Vec<Event> {
    let summary = serde_json::json!({
        "summary": format!("The key is {secret}."), "keyFacts": [secret], "openTasks": [],
    });
    talk.model.summarizes(ModelBehavior::Text(summary.to_string()));
    let is_chat = matches!(op, Op::Saved(SavedOp::Rewind { what: Some(Rewind::Chat), .. }));
    talk.send(op).await;
    if !is_chat {
        return approve_all(talk).await;
    }
    let rewound = |event| matches!(event, Event::Rewound { .. }).then_some(event);
    vec![talk.next(rewound).await]
}

/// Writes the mask to another file, and exports: the secret is in the files of the user alone.
async fn check_masks(mut talk: ContextSession, secret: &str, mask: &str, mut events: Vec<Event>) {
    let copy = serde_json::json!({ "path": "copy.txt", "content": format!("again {mask}\n") });
    // What was read before may have been taken out of the conversation.
    talk.model.will(read_conf());
    talk.model.will(tool("file.write", copy));
    talk.submit("copy it").await;
    events.extend(approve_all(&mut talk).await);
    let folder = talk.folder();
    assert_eq!(fs::read_to_string(folder.join("copy.txt")).unwrap(), format!("again {secret}\n"));
    for format in [ExportFormat::Json, ExportFormat::Md] {
        let path = Some(format!("{format:?}.txt").to_lowercase());
        talk.send(Op::Saved(SavedOp::Export { format, path })).await;
        assert_eq!(talk.notice().await.say.phrase(), session_words::EXPORTED);
    }
    for sent in talk.model.requests() {
        assert!(!all(&sent).contains(secret), "{}", all(&sent));
    }
    let events = serde_json::to_string(&events).unwrap();
    assert!(!events.contains(secret), "{events}");
    let ContextSession { client, folder: _held, .. } = talk;
    client.close().await;
    let mut found = files_with(&folder, secret);
    found.sort();
    assert_eq!(found, ["conf.txt", "copy.txt"].map(|name| folder.join(name)));
}

#[tokio::test]
async fn a_secret_keeps_its_value_in_files_and_its_mask_elsewhere_after_undo_rewind_and_compaction()
{
    let ops: [(Option<Op>, &str); 5] = [
        (None, "two"),
        (Some(Op::Turn(TurnOp::Undo { turns: 1 })), "one"),
        (Some(Op::Saved(SavedOp::Rewind { turn: 2, what: Some(Rewind::Files) })), "one"),
        (Some(Op::Saved(SavedOp::Rewind { turn: 2, what: Some(Rewind::Chat) })), "two"),
        (Some(Op::Turn(TurnOp::Compress { focus: None })), "two"),
    ];
    for (secret, resumes) in [(SECRET, false), (SECRET, true), ("AKIAQ7ZK3T5M2X9WB4CD", false)] {
        for (op, mode) in ops.clone() {
            println!("{secret}, resumed {resumes}, {op:?}");
            let (mut talk, mask, mut events) = session_with_a_changed_secret(secret).await;
            for sent in talk.model.requests() {
                assert!(!all(&sent).contains(secret), "{}", all(&sent));
            }
            if resumes {
                talk = resume(talk).await;
            }
            if let Some(op) = op {
                events.extend(take_back(&mut talk, op, secret).await);
            }
            let now = fs::read_to_string(talk.folder().join("conf.txt")).unwrap();
            assert_eq!(now, format!("key = {secret}\nmode = {mode}\n"));
            check_masks(talk, secret, &mask, events).await;
        }
    }
}

#[tokio::test]
async fn the_context_page_shows_what_a_request_contains() {
    let mut talk = ContextSession::with(
        Bounds::from_room(ContextSize { bytes: 16_000, tokens: 6_000 }),
        |_, folder| {
            fs::write(folder.join("AGENTS.md"), "Use tabs.").unwrap();
        },
    );
    talk.facts(|facts| !facts.notes.is_empty()).await;
    talk.fill(2, 100).await;
    let page = talk.context_page().await;
    for label in ["system prompt: ", "project instructions: ", "past turns: ", "free: ", "limit: "]
    {
        assert!(page.contains(label), "{label} in {page}");
    }
    assert!(page.contains("15.6 KiB, about 6000 tokens"), "{page}");
    assert!(page.contains("project instructions: AGENTS.md (9 bytes)"), "{page}");
    assert!(page.contains("included: 2; too old to include: 0"), "{page}");
}

#[tokio::test]
async fn project_instructions_are_sent_and_reread_when_they_change() {
    let mut talk = ContextSession::with(Bounds::default(), |_, folder| {
        fs::write(folder.join("AGENTS.md"), format!("Use tabs. The key is {SECRET}.")).unwrap();
    });
    let facts = talk.facts(|facts| !facts.notes.is_empty()).await;
    assert_eq!(facts.notes[0].path, "AGENTS.md");
    talk.turn("one").await;
    let first = talk.model.last()[0].text().into_owned();
    assert!(first.contains("Use tabs.") && !first.contains(SECRET), "{first}");
    fs::write(talk.folder().join("AGENTS.override.md"), "Use spaces instead.").unwrap();
    talk.turn("two").await;
    let second = talk.model.last()[0].text().into_owned();
    assert!(second.contains("Use spaces instead.") && !second.contains("Use tabs."), "{second}");
}

#[tokio::test]
async fn instructions_of_a_folder_below_are_sent_from_the_moment_a_step_works_there() {
    let outside = crate::support::temp_dir();
    let added = outside.path().canonicalize().unwrap();
    let mut talk = ContextSession::with(Bounds::default(), |parts, folder| {
        talk::with_files(parts);
        for (place, text) in [("pkg", "Use tabs."), ("pkg/inner", "Use dots."), ("web", "Never.")] {
            fs::create_dir_all(folder.join(place)).unwrap();
            fs::write(folder.join(place).join("AGENTS.md"), text).unwrap();
        }
        fs::write(folder.join("pkg/inner/a.txt"), "a").unwrap();
        fs::write(added.join("AGENTS.md"), "Use commas.").unwrap();
        fs::write(added.join("b.txt"), "b").unwrap();
    });
    talk.send(Op::Rules(RuleOp::AddFolder { path: added.display().to_string() })).await;
    let other = added.join("b.txt");
    talk.model.will(tool("file.read", serde_json::json!({ "path": "pkg/inner/a.txt" })));
    talk.model.will(tool("file.read", serde_json::json!({ "path": other })));
    talk.model.will(chat("done"));
    let events = talk.turn("one").await;
    let said = |file: &str| {
        let of = |event: &&Event| matches!(event, Event::Notice(notice) if notice.say.text(Lang::En).contains(file));
        events.iter().filter(of).count()
    };
    assert_eq!([said("pkg/AGENTS.md"), said("pkg/inner/AGENTS.md"), said("web/")], [1, 1, 0]);
    let system = |at: usize| talk.model.requests()[at][0].text().into_owned();
    let sent = |at: usize| {
        ["Use tabs.", "Use dots.", "Use commas.", "Never."].map(|text| system(at).contains(text))
    };
    assert_eq!(sent(0), [false; 4]);
    assert_eq!(sent(1), [true, true, false, false]);
    assert_eq!(sent(2), [true, true, true, false]);
    assert!(system(1).find("Use tabs.") < system(1).find("Use dots."), "the inner one comes last");
    talk.turn("two").await;
    assert!(talk.model.last()[0].text().contains("Use dots."));
    talk.send(Op::Saved(SavedOp::New)).await;
    talk.turn("three").await;
    assert!(!talk.model.last()[0].text().contains("Use dots."), "a new conversation begins anew");
}

#[tokio::test]
async fn instructions_of_an_untrusted_folder_are_not_read() {
    let mut talk = ContextSession::with(Bounds::default(), |parts, folder| {
        fs::write(folder.join("AGENTS.md"), "Use tabs.").unwrap();
        parts.security.place.trusted = false;
    });
    talk.turn("one").await;
    assert!(!all(&talk.model.last()).contains("Use tabs."));
}

#[tokio::test]
async fn instructions_that_are_too_long_are_truncated_and_reported() {
    let mut talk = ContextSession::with(Bounds::default(), |_, folder| {
        fs::write(folder.join("AGENTS.md"), "x".repeat(40 * 1024)).unwrap();
    });
    assert_eq!(talk.notice().await.say.phrase(), phrases::NOTES_CUT);
    talk.turn("one").await;
    assert!(messages_size(&talk.model.last()).fits(Bounds::default().room));
}

#[tokio::test]
async fn the_guide_is_never_asked_for_a_summary() {
    let mut talk = ContextSession::with(Bounds::default(), |parts, _| {
        parts.model_access.first.provider = avocet::protocol::Provider::Guide;
    });
    talk.fill(24, 50).await;
    assert_eq!(talk.model.summaries(), 0);
    talk.send(Op::Turn(TurnOp::Compress { focus: None })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::SUM_NO_MODEL);
}

fn planned(items: &[(&str, &str)]) -> String {
    let items: Vec<serde_json::Value> = items
        .iter()
        .map(|(text, state)| serde_json::json!({ "text": text, "state": state }))
        .collect();
    tool("plan", serde_json::json!({ "items": items }))
}

#[tokio::test]
async fn open_plan_items_are_sent_with_every_request_until_they_are_done() {
    let mut talk = ContextSession::saved();
    let secret = format!("rotate {SECRET}");
    talk.model.will(planned(&[("read it", "done"), ("mend it", "doing"), (&secret, "pending")]));
    talk.turn("plan it").await;
    let pinned = |sent: &[Message]| {
        // Behind everything else, so that a new plan changes nothing that was sent before.
        let last = sent.last().expect("a message").text();
        last.split_once("Your plan, ").map(|(_, plan)| plan.to_owned()).unwrap_or_default()
    };
    // In the turn itself already, and long after it was summed up.
    assert!(pinned(&talk.model.last()).contains("- mend it\n- rotate ‹secret:key"));
    talk.fill(30, 200).await;
    assert!(talk.model.summaries() > 0);
    let plan = pinned(&talk.model.last());
    assert!(plan.contains("mend it") && !plan.contains("read it"), "{plan}");
    let mut talk = talk.resumed().await;
    talk.turn("and now?").await;
    assert_eq!(pinned(&talk.model.last()), plan, "also after it was taken up again");
    talk.model.will(planned(&[("mend it", "done")]));
    talk.turn("do it").await;
    talk.turn("next").await;
    assert_eq!(pinned(&talk.model.last()), "");
    // A turn that is taken back takes its plan with it.
    talk.send(Op::Saved(SavedOp::Rewind { turn: 33, what: None })).await;
    talk.next(|event| matches!(event, Event::Rewound { .. }).then_some(())).await;
    talk.turn("again").await;
    assert_eq!(pinned(&talk.model.last()), plan);
}

#[tokio::test]
async fn the_longest_plan_is_truncated_to_fit() {
    let mut talk = ContextSession::start();
    let long = "字".repeat(150);
    talk.model.will(planned(&vec![(long.as_str(), "pending"); 40]));
    talk.turn("plan it").await;
    talk.turn("next").await;
    let sent = talk.model.last();
    assert!(messages_size(&sent).fits(Bounds::default().room));
    let last = sent.iter().find(|message| message.text().contains("Your plan, ")).unwrap();
    assert!(last.text().len() < 4 * 1024, "{}", last.text().len());
}

#[tokio::test]
async fn a_dropped_part_is_found_in_the_store() {
    let mut talk = ContextSession::saved();
    talk.model.will(cmd("echo", &["a needle in the output"]));
    talk.turn("find it").await;
    // More than a session holds in memory.
    for _ in 0..17 {
        talk.model.will(chat(&"many words ".repeat(96 * 1024)));
        talk.turn("on").await;
    }
    for id in ["turn_1", "cmd_001"] {
        talk.send(Op::Turn(TurnOp::Recall { id: id.into() })).await;
        let found = talk.next(|event| match event {
            Event::Notice(notice) => Some(notice.say.phrase()),
            _ => None,
        });
        assert_eq!(found.await, phrases::RECALLED, "{id}");
    }
    talk.turn("and?").await;
    let sent = all(&talk.model.last());
    assert!(sent.contains("[turn_1]\nperson: find it"), "{sent}");
    assert!(sent.contains("[cmd_001]\nran: echo"), "{sent}");
    talk.send(Op::Turn(TurnOp::Recall { id: "cmd_777".into() })).await;
    let hint = talk.notice().await.hint.unwrap().text(Lang::En);
    assert!(hint.contains("turn_1 … turn_19") && hint.contains("cmd_001"), "{hint}");
}

#[tokio::test]
async fn after_a_compaction_requests_contain_the_summary_and_later_turns() {
    let mut talk = ContextSession::saved();
    talk.fill(24, 200).await;
    assert_eq!(talk.model.summaries(), 1);
    talk.turn("the last question").await;
    let before = talk.model.last();
    let mut talk = talk.resumed().await;
    talk.turn("one more").await;
    let after = talk.model.last();
    assert!(all(&after).contains("They look at files."), "{}", all(&after));
    assert!(all(&after).contains("write a test") && all(&after).contains("the last question"));
    assert!(!all(&after).contains("question 0\n"), "what was summed up is gone");
    // The same but for the turn that came to its end meanwhile and the new words.
    // Only the newest answer stands as the model wrote it.
    assert_eq!(before[..before.len() - 2], after[..before.len() - 2]);
    let rest: Vec<_> = after[before.len() - 1..].iter().map(|it| it.text()).collect();
    assert!(rest[0].ends_with("the last question") && rest[2] == "one more", "{rest:?}");
}

#[tokio::test]
async fn a_recall_during_a_turn_does_not_disturb_that_turn() {
    let mut talk = ContextSession::saved();
    talk.turn("the first").await;
    talk.model.script.lock().unwrap().push_back(ModelBehavior::Hangs);
    talk.submit("the second").await;
    talk.next(|event| matches!(event, Event::ReplyStarted).then_some(())).await;
    talk.send(Op::Turn(TurnOp::Recall { id: "turn_1".into() })).await;
    assert_eq!(talk.notice().await.say.phrase(), phrases::RECALLED);
    talk.send(Op::Turn(TurnOp::Stop)).await;
    talk.until_it_ends().await;
    let mut talk = talk.resumed().await;
    talk.turn("one more").await;
    let sent = all(&talk.model.last());
    assert!(sent.contains("the second") && sent.contains("[turn_1]"), "{sent}");
}

#[tokio::test]
async fn history_is_restored_with_its_timestamps() {
    let mut talk = ContextSession::saved();
    talk.turn("the first").await;
    let zone = jiff::tz::TimeZone::system();
    let now = || session::persistence::local_millis(jiff::Timestamp::now().as_millisecond(), &zone);
    let then = now();
    while now() < then + 30 {
        tokio::task::yield_now().await;
    }
    let mut talk = talk.resumed().await;
    let (events, at) = talk
        .next(|event| match event {
            Event::HistoryChunk { events, at, .. } => Some((events, at)),
            _ => None,
        })
        .await;
    assert_eq!((events.len(), at.len()), (at.len(), events.len()));
    assert!(at.iter().all(|at| *at <= then && *at > then - 60_000), "{at:?} {then}");
}

/// The bytes of all files that a conversation is kept in.
fn kept_bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder.join(".data")).unwrap().flatten();
    files.map(|file| file.metadata().unwrap().len()).sum()
}

/// A thousand bytes of words as different as those of a language.
fn prose(seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = String::new();
    while text.len() < 1_000 {
        for _ in 0..random.usize(1..4) {
            for letters in [b"bcdfghklmnprstvw".as_slice(), b"aeiou"] {
                text.push(char::from(*random.choice(letters).unwrap()));
            }
        }
        text.push(' ');
    }
    text
}

/// `TURNS=2000` for the whole of it.
#[tokio::test]
async fn many_turns_are_saved_in_bounded_space() {
    let turns = std::env::var("TURNS").ok().and_then(|text| text.parse().ok()).unwrap_or(60_u64);
    // A model that sums up, and one that never does: then the past is kept as it is.
    for sums in [true, false] {
        let mut talk = ContextSession::saved();
        for turn in 0..turns {
            if !sums {
                talk.model.summarizes(ModelBehavior::Text("no summary".to_owned()));
                talk.model.summarizes(ModelBehavior::Text("no summary".to_owned()));
            }
            talk.model.will(chat(&format!("answer {turn} {}", prose(2 * turn))));
            talk.turn(&format!("question {turn} {}", prose(2 * turn + 1))).await;
        }
        let summaries = talk.model.summaries();
        let (folder, bytes) = (talk.folder(), |folder: &Path| kept_bytes(folder));
        let ContextSession { client, folder: held, .. } = talk;
        client.close().await;
        let (took, said) = (bytes(&folder), turns * 2_000);
        println!("{turns} turns, {summaries} summaries asked for: {took} bytes kept");
        assert!(summaries > 0);
        // 2,000 turns of 2 kB each: less than 20 MB. In fewer, what an empty file takes counts.
        let empty = if turns < 2_000 { 256 << 10 } else { 0 };
        assert!(took < said * 5 + empty, "{took} bytes of {said}");
        drop(held);
    }
}
