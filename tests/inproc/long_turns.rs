//! Turns that outgrow the context of their model: what is left out, what stays, and what is said of
//! it. The session is real, and so are the files it reads.

use std::fmt::Write;
use std::fs;
use std::sync::{Arc, Mutex};

use avocet::context::message_size::messages_size;
use avocet::context::window::Bounds;
use avocet::i18n::context as phrases;
use avocet::model::{Chunk, Model, ModelError, Request};
use avocet::protocol::{
    Compaction, ContentBlock, Dialect, Event, Message, Op, Role, ToolCall, Truncation, TurnOp,
    TurnOutcome,
};
use avocet::session::SessionConfig;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::{Value, json};

use crate::hooks;
use crate::support::talk::derefs_to_client;
use crate::support::talk::{self, SessionClient, chat, tool};

const WINDOW: usize = 128_000;
const WORDS: &str = "Find every place that counts twice.";
const SUMMARY: &str = r#"{"summary":"Read the first places; two count twice.","keyFacts":["place 7 counts twice"],"openTasks":[]}"#;

/// How a summary fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Summarizing {
    Works,
    Fails,
    SaysNothing,
    TalksInstead,
    BreaksOff,
}

/// Reads one place after the other, whatever it is told.
#[derive(Clone)]
struct Reader {
    dialect: Dialect,
    window: usize,
    summarizing: Summarizing,
    /// What it does after these steps, one call each.
    then: Arc<Mutex<Vec<(String, Value)>>>,
    steps: usize,
    done: Arc<Mutex<usize>>,
    sent: Arc<Mutex<Vec<Vec<Message>>>>,
    summaries: Arc<Mutex<usize>>,
    /// The window that its server enforces, if that is another, and whether it has said so.
    enforced: Option<usize>,
    has_refused: Arc<Mutex<usize>>,
}

impl Model for Reader {
    fn name(&self) -> &str {
        "reader"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn window(&self) -> Option<u64> {
        let is_known = *self.has_refused.lock().unwrap() > 0;
        let window = self.enforced.filter(|_| is_known).unwrap_or(self.window);
        u64::try_from(window).ok()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let chunks = if request.messages[0].text().starts_with("You summarize") {
            self.summarize()
        } else if self.enforced.is_some_and(|most| messages_size(&request.messages).tokens > most) {
            *self.has_refused.lock().unwrap() += 1;
            vec![Err(ModelError::TooLong { model: "reader".into(), said: String::new() })]
        } else {
            self.sent.lock().unwrap().push(request.messages);
            self.next_step().into_iter().map(Ok).collect()
        };
        futures_util::stream::iter(chunks).boxed()
    }
}

impl Reader {
    fn new(dialect: Dialect, summarizing: Summarizing, steps: usize) -> Reader {
        Reader {
            dialect,
            window: WINDOW,
            summarizing,
            then: Arc::default(),
            steps,
            done: Arc::default(),
            sent: Arc::default(),
            summaries: Arc::default(),
            enforced: None,
            has_refused: Arc::default(),
        }
    }

    fn summarize(&self) -> Vec<Result<Chunk, ModelError>> {
        *self.summaries.lock().unwrap() += 1;
        let text = |text: &str| vec![Ok(Chunk::Text(text.to_owned())), Ok(Chunk::Finished(None))];
        match self.summarizing {
            Summarizing::Works => text(SUMMARY),
            Summarizing::SaysNothing => text(""),
            Summarizing::TalksInstead => text("We read a lot!"),
            Summarizing::Fails => {
                vec![Err(ModelError::Stalled { url: "http://x".into(), seconds: 1 })]
            }
            Summarizing::BreaksOff => vec![
                Ok(Chunk::Text(SUMMARY.chars().take(40).collect())),
                Ok(Chunk::Finished(Some(Truncation::Length))),
            ],
        }
    }

    fn next_step(&self) -> Vec<Chunk> {
        let mut done = self.done.lock().unwrap();
        let at = *done;
        *done += 1;
        let (name, input) = match at {
            2 => ("plan".to_owned(), json!({ "items": [{ "text": "mend it", "state": "doing" }] })),
            _ if at < self.steps => {
                ("file.read".to_owned(), json!({ "path": format!("places/{at}") }))
            }
            _ => match self.then.lock().unwrap().pop() {
                Some(next) => next,
                None => return self.answer("All are found."),
            },
        };
        match self.dialect {
            Dialect::Tools => {
                let (id, name) = (format!("call_{at}"), name.replace('.', "_"));
                let call = ToolCall { id, name, arguments: input.to_string(), opaque: None };
                vec![Chunk::Call(call), Chunk::Finished(None)]
            }
            Dialect::Json => vec![Chunk::Text(tool(&name, input)), Chunk::Finished(None)],
        }
    }

    fn answer(&self, text: &str) -> Vec<Chunk> {
        let text = match self.dialect {
            Dialect::Tools => text.to_owned(),
            Dialect::Json => chat(text),
        };
        vec![Chunk::Text(text), Chunk::Finished(None)]
    }
}

struct LongTurn {
    client: SessionClient,
    model: Reader,
    folder: tempfile::TempDir,
}

derefs_to_client!(LongTurn);

impl LongTurn {
    fn start(model: Reader) -> LongTurn {
        LongTurn::start_with(model, |_| {})
    }

    fn start_with(model: Reader, change: impl FnOnce(&mut SessionConfig)) -> LongTurn {
        let folder = crate::support::temp_dir();
        let real = folder.path().canonicalize().unwrap();
        fs::create_dir(real.join("places")).unwrap();
        for place in 0..model.steps {
            let mut text = String::new();
            for line in 0..80 {
                let _ = writeln!(text, "place {place}, line {line}: {}", "words ".repeat(13));
            }
            fs::write(real.join(format!("places/{place}")), text).unwrap();
        }
        let mut parts = talk::parts(&real, Arc::new(model.clone()));
        talk::with_files(&mut parts);
        parts.info.max_steps = Some(0);
        change(&mut parts);
        LongTurn { client: SessionClient::start(parts), model, folder }
    }

    async fn play(&mut self, words: &str) -> Vec<Event> {
        self.submit(words).await;
        self.until_end().await
    }

    /// However long it takes, as long as something happens.
    async fn until_end(&mut self) -> Vec<Event> {
        let mut told = Vec::new();
        while !matches!(told.last(), Some(Event::TurnEnded { .. })) {
            told.push(self.next(Some).await);
        }
        told
    }

    fn requests(&self) -> Vec<Vec<Message>> {
        self.model.sent.lock().unwrap().clone()
    }

    fn bounds(&self) -> Bounds {
        match self.model.dialect {
            Dialect::Tools => Bounds::for_tools(self.model.window),
            Dialect::Json => Bounds::for_json(self.model.window),
        }
    }
}

fn all(messages: &[Message]) -> String {
    messages.iter().flat_map(|message| &message.blocks).map(block_text).collect()
}

fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) | ContentBlock::Reasoning(text) => text.text.clone(),
        ContentBlock::ToolCall(call) => call.arguments.clone(),
        ContentBlock::ToolResult(result) => result.content.clone(),
        ContentBlock::Image(_) => String::new(),
    }
}

fn receipts(told: &[Event]) -> Vec<&Compaction> {
    told.iter()
        .filter_map(|event| match event {
            Event::Compacted(receipt) => Some(&**receipt),
            _ => None,
        })
        .collect()
}

fn is_paired(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    messages.iter().all(|message| {
        let answered: Vec<&str> = message
            .blocks
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => Some(result.call.as_str()),
                _ => None,
            })
            .collect();
        let matches = open == answered;
        open = message.calls().map(|call| call.id.as_str()).collect();
        matches
    }) && open.is_empty()
}

/// Whether the whole result of a step is in a text: its middle is what it loses first.
fn has_whole(text: &str, step: usize) -> bool {
    step == 2 || text.contains(&format!("place {step}, line 40:"))
}

/// Holds for every request of a long turn, and for what was told of it.
fn check(turn: &LongTurn, told: &[Event]) {
    let (requests, receipts) = (turn.requests(), receipts(told));
    let mut moved = 0;
    for (at, request) in requests.iter().enumerate() {
        if let Some(newest) = at.checked_sub(1) {
            // As JSON, the plan goes to the end of each request.
            let plan = usize::from(turn.model.dialect == Dialect::Json);
            let before = &requests[newest][..requests[newest].len() - plan];
            moved += usize::from(!request.starts_with(before));
        }
        // All of them would be most of the time of this test.
        if at % 8 != 0 {
            continue;
        }
        assert!(messages_size(request).fits(turn.bounds().room), "request {at}");
        assert!(is_paired(request), "request {at}");
        let first = request.iter().find(|message| message.role == Role::User).unwrap();
        assert!(first.text().starts_with(WORDS), "request {at}: {}", first.text());
        assert!(at < 3 || all(request).contains("mend it"), "the plan, request {at}");
        if let Some(newest) = at.checked_sub(1) {
            assert!(has_whole(&all(request), newest), "the newest, request {at}");
        }
    }
    assert_eq!(moved, receipts.len(), "the prefix changes with a compaction only");
    let told: Vec<&str> = receipts
        .iter()
        .flat_map(|receipt| receipt.shortened.iter().chain(&receipt.summed))
        .map(|part| part.id.as_str())
        .collect();
    let last = all(requests.last().unwrap());
    for step in (0..turn.model.steps).filter(|step| !has_whole(&last, *step)) {
        let id = format!("cmd_{:03}", step + 1);
        assert!(told.contains(&id.as_str()), "{id} is lost without a receipt");
    }
}

#[tokio::test]
async fn a_turn_that_its_server_finds_too_long_is_shortened_once_and_goes_on() {
    for dialect in [Dialect::Tools, Dialect::Json] {
        let model =
            Reader { enforced: Some(12_000), ..Reader::new(dialect, Summarizing::Works, 24) };
        let mut turn = LongTurn::start(model);
        let told = turn.play(WORDS).await;
        let ended =
            |event: &Event| matches!(event, Event::TurnEnded { ending: TurnOutcome::Done, .. });
        assert!(told.iter().any(ended), "{dialect:?}: {:?}", told.last());
        let refused = *turn.model.has_refused.lock().unwrap();
        assert!(refused <= 1, "{dialect:?}: learned from the first");
        assert_eq!(refused == 1, !receipts(&told).is_empty(), "{dialect:?}");
        assert!(turn.requests().iter().all(|sent| all(sent).contains(WORDS)), "{dialect:?}");
        let told = turn.play("And now?").await;
        assert!(told.iter().any(ended), "{dialect:?}");
        assert_eq!(*turn.model.has_refused.lock().unwrap(), refused, "{dialect:?}: remembered");
    }
}

#[tokio::test]
async fn three_hundred_steps_lose_nothing_without_a_receipt() {
    for dialect in [Dialect::Tools, Dialect::Json] {
        let mut turn = LongTurn::start(Reader::new(dialect, Summarizing::Works, 300));
        let told = turn.play(WORDS).await;
        let ending = told.last().unwrap();
        assert!(matches!(ending, Event::TurnEnded { ending: TurnOutcome::Done, .. }), "{ending:?}");
        check(&turn, &told);
        let receipts = receipts(&told);
        let summaries = *turn.model.summaries.lock().unwrap();
        assert!((1..=6).contains(&summaries), "{summaries} summaries");
        assert!(receipts.len() <= 24, "{} compactions", receipts.len());
        assert!(receipts.iter().all(|receipt| receipt.steps && receipt.after < receipt.before));
        let fill = told.iter().filter_map(|event| match event {
            Event::Facts(facts) => facts.context.percent,
            _ => None,
        });
        assert!((86..=100).contains(&fill.max().unwrap()), "how full it is goes to the screen");
        let last = all(turn.requests().last().unwrap());
        assert!(last.contains("two count twice") && last.contains("place 7 counts twice"));
        assert!(last.contains("steps of this turn are done and left out here, cmd_001 to "));
    }
}

#[tokio::test]
async fn hooks_run_before_a_turn_sums_up_its_own_steps() {
    let folder = crate::support::temp_dir();
    let hooks = hooks::played(folder.path());
    hooks::write_hooks(&hooks.folders.home, &[("PreCompact", "./save.sh")]);
    let model = Reader { window: 24_000, ..Reader::new(Dialect::Tools, Summarizing::Works, 60) };
    let mut turn =
        LongTurn::start_with(model, |parts| parts.access.hooks = Some(Box::new(hooks.clone())));
    turn.play(WORDS).await;
    let summaries = *turn.model.summaries.lock().unwrap();
    assert!(summaries > 0);
    assert_eq!(hooks::ran(&hooks), vec!["./save.sh"; summaries]);
}

#[tokio::test]
async fn a_summary_that_fails_ends_no_turn_and_loses_nothing() {
    for (summarizing, window, steps) in [
        (Summarizing::Fails, WINDOW, 300),
        (Summarizing::SaysNothing, 24_000, 60),
        (Summarizing::TalksInstead, 24_000, 60),
        (Summarizing::BreaksOff, 24_000, 60),
    ] {
        let model = Reader { window, ..Reader::new(Dialect::Tools, summarizing, steps) };
        let mut turn = LongTurn::start(model);
        let told = turn.play(WORDS).await;
        let ending = told.last().unwrap();
        assert!(matches!(ending, Event::TurnEnded { ending: TurnOutcome::Done, .. }), "{ending:?}");
        check(&turn, &told);
        let warnings = told.iter().filter(|event| {
            matches!(event, Event::Notice(it) if it.say.phrase() == phrases::STEPS_NOT_SUMMED)
        });
        let summaries = *turn.model.summaries.lock().unwrap();
        assert_eq!(warnings.count(), summaries, "{summarizing:?}");
        assert!((1..=4).contains(&summaries), "{summarizing:?}: {summaries}");
    }
}

#[tokio::test]
async fn a_model_reads_again_what_was_left_out() {
    let model = Reader::new(Dialect::Tools, Summarizing::Works, 90);
    let recall = |id: &str, page: usize| ("recall".to_owned(), json!({ "id": id, "page": page }));
    model.then.lock().unwrap().extend([
        recall("cmd_777", 1),
        recall("turn_1", 2),
        recall("cmd_004", 1),
    ]);
    let mut turn = LongTurn::start(model);
    let told = turn.play(WORDS).await;
    assert!(!receipts(&told).is_empty());
    let requests = turn.requests();
    let [.., before, first, second, third] = &requests[..] else { panic!("four requests") };
    assert!(!all(before).contains("place 3, line 5:"));
    let newest = |request: &[Message]| all(&request[request.len() - 1..]);
    assert!(has_whole(&newest(first), 3), "{}", newest(first));
    assert!(newest(second).starts_with("[turn_1, page 2 of "), "{}", newest(second));
    assert!(newest(third).contains("cmd_001 … cmd_"), "{}", newest(third));
}

#[tokio::test]
async fn what_the_user_says_meanwhile_stays() {
    let mut turn = LongTurn::start(Reader::new(Dialect::Tools, Summarizing::Works, 300));
    turn.submit(WORDS).await;
    turn.next(|event| matches!(event, Event::StepFinished(_)).then_some(())).await;
    turn.send(Op::Turn(TurnOp::Steer { text: "Leave out the tests.".into() })).await;
    turn.until_end().await;
    let requests = turn.requests();
    let since = requests.iter().position(|request| all(request).contains("Leave out the tests."));
    let since = since.expect("it was said");
    assert!(requests[since..].iter().all(|request| all(request).contains("Leave out the tests.")));
    assert!(
        all(requests.last().unwrap()).contains("The user said meanwhile: Leave out the tests.")
    );
}

#[tokio::test]
async fn the_next_turn_begins_with_what_was_sent_last() {
    let mut turn = LongTurn::start(Reader::new(Dialect::Tools, Summarizing::Works, 200));
    turn.play(WORDS).await;
    let before = turn.requests().pop().unwrap();
    let told = turn.play("And now?").await;
    assert!(receipts(&told).is_empty());
    let after = turn.requests().pop().unwrap();
    assert!(after.starts_with(&before), "the prefix stays over the end of a turn");
}

#[tokio::test]
async fn past_turns_make_room_for_the_running_one_with_a_receipt() {
    let model = Reader::new(Dialect::Tools, Summarizing::Works, 30);
    let mut turn = LongTurn::start(model.clone());
    turn.play("Read the first ones.").await;
    *model.done.lock().unwrap() = 3;
    let told = turn.play(WORDS).await;
    let receipts = receipts(&told);
    assert!(receipts.iter().any(|receipt| !receipt.steps && receipt.shortened[0].id == "turn_1"));
    let last = turn.requests().pop().unwrap();
    assert!(is_paired(&last) && messages_size(&last).fits(turn.bounds().room));
    assert!(all(&last).contains("Read the first ones.") && all(&last).contains(WORDS));
    turn.send(Op::Turn(TurnOp::Recall { id: "turn_1".into() })).await;
    assert_eq!(turn.notice().await.say.phrase(), phrases::RECALLED);
    turn.play("And?").await;
    let last = turn.requests().pop().unwrap();
    assert!(all(&last).contains("Brought back by the user") && all(&last).contains("[turn_1]"));
}

#[tokio::test]
async fn a_window_that_one_result_fills_gets_a_part_of_it_and_a_receipt() {
    let model = Reader { window: 4_000, ..Reader::new(Dialect::Tools, Summarizing::Works, 6) };
    let mut turn = LongTurn::start(model);
    for place in 0..6 {
        let long = format!("start {place}\n{}end\n", "长 line\n".repeat(2_000));
        fs::write(turn.folder.path().join(format!("places/{place}")), long).unwrap();
    }
    let told = turn.play(WORDS).await;
    assert!(matches!(told.last(), Some(Event::TurnEnded { ending: TurnOutcome::Done, .. })));
    for request in turn.requests() {
        assert!(messages_size(&request).fits(turn.bounds().room) && is_paired(&request));
    }
    let receipts = receipts(&told);
    let all: Vec<&str> = receipts
        .iter()
        .flat_map(|receipt| receipt.shortened.iter().chain(&receipt.summed))
        .map(|part| part.id.as_str())
        .collect();
    for id in ["cmd_001", "cmd_002", "cmd_004", "cmd_005", "cmd_006"] {
        assert!(all.contains(&id), "{id}: {all:?}");
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_is_announced_before_it_is_sent() {
    for dialect in [Dialect::Tools, Dialect::Json] {
        let mut turn = LongTurn::start(Reader::new(dialect, Summarizing::Works, 0));
        let told = turn.play(&format!("{WORDS} {}", "pasted line\n".repeat(60_000))).await;
        let notice = told.iter().position(
            |event| matches!(event, Event::Notice(it) if it.say.phrase() == phrases::MESSAGE_CUT),
        );
        let sent = told.iter().position(|event| matches!(event, Event::ReplyStarted));
        assert!(notice.expect("a notice") < sent.expect("a request"), "{dialect:?}");
        let request = turn.requests().pop().unwrap();
        assert!(messages_size(&request).fits(turn.bounds().room));
        assert!(all(&request).contains("bytes left out"));
    }
}
