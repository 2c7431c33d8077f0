use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::writer::pending::merge_text;
use super::*;
use avocet_core::i18n::store as phrases;
use avocet_core::protocol::{
    ModelMessage, Money, Notice, Observation, Outcome, Risk, Step, StepAction, Tier, TurnOrigin,
    TurnOutcome, Usage,
};
use avocet_safety::redact::Redactor;

mod damage;
mod moved;
mod one_process;
mod recorder;
#[allow(dead_code, reason = "not all reasons occur here")]
#[path = "../../tests/support/skip.rs"]
mod skip;

struct StoreFixture {
    folder: tempfile::TempDir,
    faults: Vec<UnboundedReceiver<SavingError>>,
}

impl StoreFixture {
    fn new() -> StoreFixture {
        StoreFixture { folder: tempfile::tempdir().unwrap(), faults: Vec::new() }
    }

    fn store(&self) -> Store {
        Store::in_folder(self.folder.path().join("data"))
    }

    fn writer(&mut self) -> SessionWriter {
        self.writer_in("/work")
    }

    fn writer_in(&mut self, folder: &str) -> SessionWriter {
        let store = self.store();
        self.writer_of(&store, folder)
    }

    /// Of the same process as others of this store.
    fn writer_of(&mut self, store: &Store, folder: &str) -> SessionWriter {
        let (faults, told) = unbounded_channel();
        self.faults.push(told);
        let secrets = [("API_KEY", "hunter2hunter2")];
        let redactor = Arc::new(Redactor::new(secrets, [7; 16]));
        let header = SessionHeader::new(folder, None);
        SessionWriter::new(store.clone(), header, redactor, faults)
    }

    /// What the desks were sent, oldest desk first.
    fn reports(&mut self) -> Vec<SavingError> {
        self.faults
            .iter_mut()
            .flat_map(|told| std::iter::from_fn(|| told.try_recv().ok()))
            .collect()
    }

    fn file(&self) -> PathBuf {
        self.store().file().unwrap()
    }
}

fn started(turn: u64, text: &str) -> Event {
    Event::TurnStarted { turn, text: text.into(), origin: TurnOrigin::Typed, submit: None }
}

fn replied(text: &str) -> Event {
    Event::Replied(ModelMessage { message: text.into(), ..ModelMessage::default() })
}

fn ended(turn: u64) -> Event {
    let usage = Usage { cached_tokens: 7, cost: Money(1_500), ..Usage::counted(10, 5) };
    Event::TurnEnded { turn, ending: TurnOutcome::Done, usage, elapsed_ms: 1 }
}

fn delta(text: &str) -> Event {
    Event::Delta { text: text.into() }
}

fn risk() -> Risk {
    Risk {
        tier: Tier::L0,
        rule: "ok".into(),
        reasons: Vec::new(),
        effects: Vec::new(),
        lifted: false,
    }
}

fn observation(id: &str, stdout: &str) -> Observation {
    let step = Step {
        id: id.into(),
        work: StepAction::exec("cargo", &["test"]),
        requires: Default::default(),
        cwd: None,
    };
    let seen = Observation::not_run(step, "/work", risk(), Outcome::Ran);
    Observation { stdout: stdout.into(), exit_code: Some(0), ..seen }
}

fn record_all(writer: &mut SessionWriter, events: impl IntoIterator<Item = Event>) {
    events.into_iter().for_each(|event| writer.record(event));
    writer.flush();
}

fn turn(writer: &mut SessionWriter, number: u64, text: &str, answer: &str) {
    record_all(
        writer,
        [started(number, text), Event::ReplyStarted, replied(answer), ended(number)],
    );
    let messages = serde_json::json!([{"role":"user","content":text}]);
    writer.save_turn_history(number, &messages.to_string(), None);
}

fn events(piece: &EventPage) -> Vec<Event> {
    piece.events.iter().map(|kept| kept.event.clone()).collect()
}

/// The questions of one session in the file.
fn questions(store: &Store, id: &str) -> usize {
    let (disk, _) = Database::open(store).unwrap();
    let Ok(known) = disk.find(id) else { return 0 };
    let piece = disk.events(known.key, 0, i64::MAX).unwrap();
    piece.events.iter().filter(|kept| matches!(kept.event, Event::TurnStarted { .. })).count()
}

fn saved_events(writer: &mut SessionWriter, id: &str) -> Vec<Event> {
    events(&writer.resume(Some(id), 1_000).unwrap().tail)
}

#[test]
fn nothing_is_created_before_the_first_turn() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    record_all(&mut writer, [Event::Notice(Notice::info(phrases::BUSY)), Event::Cleared]);
    assert!(!fixture.folder.path().join("data").exists());
}

#[test]
fn saved_events_are_read_back_without_the_deltas_of_a_complete_reply() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    record_all(&mut writer, [started(1, "看看"), Event::ReplyStarted, delta("He"), delta("llo")]);
    assert_eq!(writer.next_deadline().map(|_| ()), Some(()));
    writer.tick();
    let id = writer.id().to_owned();
    drop(writer);
    let mut writer = fixture.writer();
    assert_eq!(
        saved_events(&mut writer, &id),
        [started(1, "看看"), Event::ReplyStarted, delta("Hello")]
    );
    record_all(
        &mut writer,
        [delta(" there"), Event::ReplyStarted, delta("x"), replied("Hi."), ended(1)],
    );
    let expected = [
        started(1, "看看"),
        Event::ReplyStarted,
        delta("Hello"),
        delta(" there"),
        Event::ReplyStarted,
        replied("Hi."),
        ended(1),
    ];
    assert_eq!(saved_events(&mut writer, &id), expected);
}

#[test]
fn the_result_of_a_step_replaces_its_output() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    let step = observation("cmd_007", "").step;
    let output = |text: &str| Event::StepOutput { id: "cmd_007".into(), text: text.into() };
    let begun = Event::StepStarted { step, risk: risk() };
    record_all(&mut writer, [started(1, "go"), begun.clone(), output("a "), output("b ")]);
    writer.tick();
    let id = writer.id().to_owned();
    assert_eq!(saved_events(&mut writer, &id), [started(1, "go"), begun.clone(), output("a b ")]);
    let whole = Event::StepFinished(Box::new(observation("cmd_007", "a b c")));
    // The desk that took the session up has forgotten which rows those were; a session
    // mends that when it resumes. The desk that wrote them has not.
    record_all(&mut writer, [started(2, "again"), begun, output("x "), whole.clone()]);
    let all = saved_events(&mut writer, &id);
    assert_eq!(all.last(), Some(&whole));
    assert!(!all.contains(&output("x ")));
    assert_eq!(writer.resume(Some(&id), 9).unwrap().known.next_step, 8);
}

#[test]
fn output_of_an_interrupted_step_is_replaced_when_the_step_is_closed_later() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    let output = Event::StepOutput { id: "cmd_001".into(), text: "line\n".into() };
    let step = observation("cmd_001", "").step;
    let begun = Event::StepStarted { step, risk: risk() };
    record_all(
        &mut writer,
        [started(1, "go"), Event::ReplyStarted, delta("Ha"), replied("Half"), begun],
    );
    writer.record(output);
    writer.tick();
    let id = writer.id().to_owned();
    drop(writer);
    let mut writer = fixture.writer();
    let tail = events(&writer.resume(Some(&id), 99).unwrap().tail);
    assert!(matches!(tail.last(), Some(Event::StepOutput { .. })), "{tail:?}");
    record_all(
        &mut writer,
        [Event::StepFinished(Box::new(observation("cmd_001", "line\n"))), ended(1)],
    );
    let after = saved_events(&mut writer, &id);
    assert!(!after.iter().any(|event| matches!(event, Event::StepOutput { .. })), "{after:?}");
    assert_eq!(after.len(), 6, "{after:?}");
}

#[test]
fn turns_and_steps_are_found_by_id_however_old_they_are() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    for number in 1..=300 {
        let id = format!("cmd_{number:03}");
        let one = Event::StepFinished(Box::new(observation(
            &id,
            &format!("says \"id\":\"cmd_007\" {number}"),
        )));
        record_all(&mut writer, [started(number, "x"), one, ended(number)]);
    }
    let of = |events: &[Event]| match events {
        [Event::StepFinished(seen)] => seen.step.id.clone(),
        other => format!("{other:?}"),
    };
    assert_eq!(of(&events(&writer.turn_or_step("cmd_007").unwrap())), "cmd_007");
    assert_eq!(events(&writer.turn_or_step("turn_2").unwrap()).first(), Some(&started(2, "x")));
    for none in ["cmd_999", "turn_999", "turn_x", "", "%"] {
        assert_eq!(writer.turn_or_step(none).unwrap(), EventPage::default(), "{none}");
    }
    writer.rewind(300, &Event::Cleared, &[]).unwrap();
    assert_eq!(writer.turn_or_step("cmd_300").unwrap(), EventPage::default(), "it was taken back");
    let ends = events(&writer.first_and_last().unwrap());
    assert_eq!((&ends[0], &ends[1]), (&started(1, "x"), &started(299, "x")));
    let (first, last) = (of(&ends[2..3]), of(&ends[3..4]));
    assert_eq!((first.as_str(), last.as_str()), ("cmd_001", "cmd_299"));
}

#[test]
fn secrets_never_reach_the_file() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    record_all(&mut writer, [started(1, "the key is hunter2hunter2"), Event::ReplyStarted]);
    record_all(&mut writer, [delta(&format!("it is {}", &token.split_at(20).0))]);
    writer.tick();
    record_all(&mut writer, [delta(token.split_at(20).1), delta(" and so on")]);
    writer.tick();
    record_all(&mut writer, [Event::StepFinished(Box::new(observation("cmd_001", &token)))]);
    let messages = serde_json::json!([{"role":"user","content":token}]).to_string();
    writer.save_turn_history(1, &messages, None);
    writer.close();
    for ending in ["", "-wal"] {
        let bytes = fs::read(format!("{}{ending}", fixture.file().display())).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hunter2hunter2") && !text.contains("a1B2a1B2a1B2"), "{ending}");
    }
    let id = writer.id().to_owned();
    let text = format!("{:?}", saved_events(&mut writer, &id));
    assert!(text.contains("‹secret:API_KEY") && text.contains("‹secret:github-token"), "{text}");
}

#[test]
fn chinese_is_found_by_a_single_character() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "请修复登录页面的错误", "好的，已经修复。");
    turn(&mut writer, 2, "run cargo test", "100% done_ok");
    let mut found = |words: &str| {
        writer.search(words, 10).unwrap().into_iter().map(|hit| hit.around).collect::<Vec<_>>()
    };
    assert_eq!(found("修"), ["好的，已经修复。", "请修复登录页面的错误"]);
    assert_eq!(found("登录"), ["请修复登录页面的错误"]);
    assert_eq!(found("登录页面"), ["请修复登录页面的错误"]);
    assert_eq!(found("页面 错误"), ["请修复登录页面的错误"]);
    assert_eq!(found("CARGO"), ["run cargo test"]);
    assert_eq!(found("0%"), ["100% done_ok"], "a sign that means something to SQL");
    assert_eq!(found("\" OR \""), [""; 0]);
    assert_eq!(found("没有"), [""; 0]);
    assert_eq!(found("  "), [""; 0]);
}

#[test]
fn the_model_that_answered_last_is_listed_and_goes_with_a_fork() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    let models = |writer: &mut SessionWriter| -> Vec<Option<String>> {
        writer.list(None, 9).unwrap().into_iter().map(|one| one.model).collect()
    };
    writer.save_turn_history(1, "[]", Some("too-early"));
    turn(&mut writer, 1, "hello", "Hi.");
    assert_eq!(models(&mut writer), [None]);
    for model in [Some("first"), Some("second"), None] {
        writer.save_turn_history(1, "[]", model);
    }
    assert_eq!(models(&mut writer), [Some("second".to_owned())]);
    writer.fork(SessionHeader::new("/work", None)).unwrap();
    assert_eq!(models(&mut writer), [Some("second".to_owned()), Some("second".to_owned())]);
}

#[test]
fn the_last_session_of_a_folder_is_the_last_used_whatever_the_clock_says() {
    let mut fixture = StoreFixture::new();
    let mut one = fixture.writer();
    turn(&mut one, 1, "first", "a");
    let mut two = fixture.writer();
    turn(&mut two, 1, "second", "b");
    let mut other = fixture.writer_in("/elsewhere");
    turn(&mut other, 1, "third", "c");
    turn(&mut one, 2, "more", "d");
    let db = rusqlite::Connection::open(fixture.file()).unwrap();
    // The clock was years ahead while the second was written.
    db.execute("UPDATE sessions SET updated = updated * 2 WHERE id = ?1", [two.id()]).unwrap();
    let (one_id, two_id) = (one.id().to_owned(), two.id().to_owned());
    drop((one, two));
    let mut writer = fixture.writer();
    let resumed = writer.resume(None, 10).unwrap();
    assert_eq!((resumed.known.id.as_str(), resumed.known.turn), (one_id.as_str(), 2));
    let sum = Usage { cached_tokens: 14, cost: Money(3_000), ..Usage::counted(20, 10) };
    assert_eq!(resumed.known.usage, sum);
    let listed = writer.list(Some("/work"), 10).unwrap();
    assert_eq!(listed.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), [&one_id, &two_id]);
    assert_eq!((listed[0].title.as_str(), listed[0].preview.as_str()), ("first", "d"));
    assert_eq!(writer.list(None, 10).unwrap().len(), 3);
}

#[test]
fn a_second_window_is_read_only_until_the_first_releases_its_lock() {
    let mut fixture = StoreFixture::new();
    let mut one = fixture.writer();
    turn(&mut one, 1, "hello", "hi");
    let id = one.id().to_owned();
    let mut two = fixture.writer();
    assert!(two.resume(Some(&id), 10).unwrap().read_only);
    turn(&mut two, 2, "not kept", "no");
    assert!(matches!(two.rename("x"), Err(StoreError::Held { .. })));
    assert_eq!(saved_events(&mut two, &id).len(), 4);
    let mut disk = Database::open(&fixture.store()).unwrap().0;
    assert!(matches!(disk.delete(&fixture.store(), &id), Err(StoreError::Held { .. })));
    drop(one);
    assert!(!two.resume(Some(&id), 10).unwrap().read_only);
    drop(two);
    disk.delete(&fixture.store(), &id).unwrap();
    assert!(matches!(disk.find(&id), Err(StoreError::NoSession { .. })));
    assert_eq!(disk.search("hello", 9).unwrap(), []);
}

#[test]
fn a_clean_end_empties_the_log_and_deleted_data_is_gone() {
    let mut fixture = StoreFixture::new();
    let files = [fixture.file(), fixture.file().with_extension("db-wal")];
    let stands_in = |file: &std::path::Path| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.windows(10).any(|window| window == b"periwinkle")
    };
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "periwinkle", "ok");
    let id = writer.id().to_owned();
    assert!(stands_in(&files[1]));
    writer.close();
    assert!(!files[1].exists() && stands_in(&files[0]));
    let mut disk = Database::open(&fixture.store()).unwrap().0;
    assert_eq!(disk.search("periwinkle", 9).unwrap().len(), 1);
    disk.delete(&fixture.store(), &id).unwrap();
    assert!(files.iter().all(|file| !stands_in(file)));
}

#[test]
fn a_fork_is_a_copy_and_the_original_is_unchanged() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "plan it", "ok");
    let first = writer.id().to_owned();
    let header = SessionHeader {
        title: Some("另一种做法".into()),
        ..SessionHeader::new("/work", None)
    };
    let known = writer.fork(header).unwrap();
    assert_eq!((known.title.as_str(), known.turn), ("另一种做法", 1));
    turn(&mut writer, 2, "differently", "fine");
    let second = writer.id().to_owned();
    assert_ne!(first, second);
    assert_eq!(writer.search("plan", 9).unwrap().len(), 2);
    let listed = writer.list(None, 9).unwrap();
    assert_eq!(listed[0].parent.as_deref(), Some(first.as_str()));
    assert_eq!(saved_events(&mut writer, &first).len(), 4);
    assert_eq!(saved_events(&mut writer, &second).len(), 8);
    assert_eq!(writer.resume(Some(&second), 9).unwrap().history.len(), 2);
}

#[test]
fn rewound_turns_are_not_deleted() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    for (number, text) in [(1, "one"), (2, "two"), (3, "three")] {
        turn(&mut writer, number, text, "ok");
    }
    let undone = Event::Notice(Notice::info(phrases::NOTHING_THERE));
    let (text, history) = writer.rewind(2, &undone, &[]).unwrap();
    assert_eq!((text.as_str(), history.len()), ("two", 1));
    let id = writer.id().to_owned();
    assert_eq!(saved_events(&mut writer, &id).len(), 4);
    assert_eq!(writer.search("three", 9).unwrap(), []);
    turn(&mut writer, 2, "another two", "ok");
    let resumed = writer.resume(Some(&id), 99).unwrap();
    assert_eq!((resumed.known.turn, resumed.history.len()), (2, 2));
    let db = rusqlite::Connection::open(fixture.file()).unwrap();
    let all: i64 = db.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(all, 17, "sixteen, and what says that they were taken back");
    assert!(matches!(writer.rewind(9, &undone, &[]), Err(StoreError::NothingThere)));
}

#[test]
fn a_retried_turn_is_once_in_the_history_and_twice_on_the_screen() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "ok");
    writer.discard_turn_history(1);
    turn(&mut writer, 2, "one", "better");
    let id = writer.id().to_owned();
    let resumed = writer.resume(Some(&id), 99).unwrap();
    assert_eq!((resumed.tail.events.len(), resumed.history.len()), (8, 1));
}

#[test]
fn a_whole_saved_history_replaces_all_before_it() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "ok");
    writer.save_whole_history(1, r#"{"summary":"x"}"#);
    turn(&mut writer, 2, "two", "ok");
    let id = writer.id().to_owned();
    let history = writer.resume(Some(&id), 9).unwrap().history;
    assert_eq!(history.len(), 2);
    assert_eq!(history[0], Remembered::Whole { turn: 1, history: r#"{"summary":"x"}"#.into() });
    // Rewound with the turn it follows.
    let (_, history) = writer.rewind(1, &ended(1), &[]).unwrap();
    assert_eq!(history, []);
}

#[test]
fn a_long_session_is_read_in_pages_of_whole_turns() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    for number in 1..=20 {
        turn(&mut writer, number, &format!("turn {number}"), "ok");
    }
    let id = writer.id().to_owned();
    let mut piece = writer.resume(Some(&id), 10).unwrap().tail;
    let (mut all, mut pieces) = (events(&piece), 1);
    assert_eq!(all.len(), 12, "ten, from the start of a turn");
    while piece.more {
        piece = writer.events_before(piece.events[0].seq, 10).unwrap();
        all.splice(0..0, events(&piece));
        pieces += 1;
    }
    assert_eq!((all.len(), pieces), (80, 7));
    assert_eq!(all[0], started(1, "turn 1"));
    assert_eq!(all[79], ended(20));
}

#[test]
fn an_unreadable_row_loses_only_that_row() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "ok");
    turn(&mut writer, 2, "two", "ok");
    let db = rusqlite::Connection::open(fixture.file()).unwrap();
    db.execute("UPDATE events SET body = '{\"event\":\"from_later\"}' WHERE id = 3", []).unwrap();
    db.execute("UPDATE events SET body = x'ff00' WHERE id = 2", []).unwrap();
    let id = writer.id().to_owned();
    let tail = writer.resume(Some(&id), 99).unwrap().tail;
    assert_eq!((tail.events.len(), tail.unreadable), (6, 2));
}

#[test]
fn a_file_of_a_later_version_is_left_alone() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "ok");
    drop(writer);
    let db = rusqlite::Connection::open(fixture.file()).unwrap();
    db.pragma_update(None, "user_version", schema::newest() + 1).unwrap();
    drop(db);
    let before = fs::read(fixture.file()).unwrap();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "two", "ok");
    assert!(matches!(fixture.reports().as_slice(), [SavingError::NotSaved(_)]));
    assert_eq!(fs::read(fixture.file()).unwrap(), before);
}

#[test]
fn a_migration_runs_once_and_is_atomic() {
    let mut db = rusqlite::Connection::open_in_memory().unwrap();
    let one = "CREATE TABLE a(x); INSERT INTO a VALUES (1);";
    let two = "INSERT INTO a VALUES (2);";
    assert!(schema::migrate(&mut db, &[one]).unwrap());
    assert!(schema::migrate(&mut db, &[one, two]).unwrap());
    assert!(schema::migrate(&mut db, &[one, two]).unwrap());
    assert!(schema::migrate(&mut db, &[one, two, "INSERT INTO a VALUES (3); NONSENSE"]).is_err());
    let rows: i64 = db.query_row("SELECT count(*) FROM a", [], |row| row.get(0)).unwrap();
    assert_eq!((rows, schema::version(&db).unwrap()), (2, 2));
    assert!(!schema::migrate(&mut db, &[one]).unwrap(), "it is of a later version");
}

#[test]
fn an_id_can_be_abbreviated() {
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    turn(&mut writer, 1, "one", "a");
    let id = writer.id().to_owned();
    let (short, _) = id.split_at(3);
    assert_eq!(writer.resume(Some(&short.to_uppercase()), 9).unwrap().known.id, id);
    for wrong in ["", "zzzzzzzzz", "%", "' OR 1=1", "../x"] {
        assert!(
            matches!(writer.resume(Some(wrong), 9), Err(StoreError::NoSession { .. })),
            "{wrong}"
        );
    }
    let db = rusqlite::Connection::open(fixture.file()).unwrap();
    let twin = format!("{short}twin");
    db.execute(
        "INSERT INTO sessions(id, folder, title, created, updated, touched) VALUES (?1,'','',0,0,0)",
        [twin],
    )
    .unwrap();
    assert!(matches!(writer.resume(Some(short), 9), Err(StoreError::Several { .. })));
}

#[test]
fn a_session_is_titled_by_its_first_message_until_it_is_renamed() {
    assert_eq!(title_of("\n  fix   the\tbuild \nmore", TurnOrigin::Typed), "fix the build");
    assert_eq!(title_of("!!git status", TurnOrigin::Shell), "git status");
    assert_eq!(title_of(&"长".repeat(100), TurnOrigin::Typed), format!("{}…", "长".repeat(60)));
    assert_eq!(title_of("\u{1b}[2Jred", TurnOrigin::Typed), "red");
    let mut fixture = StoreFixture::new();
    let mut writer = fixture.writer();
    writer.rename("named before").unwrap();
    turn(&mut writer, 1, "one", "a");
    assert_eq!(writer.list(None, 1).unwrap()[0].title, "named before");
    writer.rename(" 新名字 ").unwrap();
    assert_eq!(writer.list(None, 1).unwrap()[0].title, "新名字");
}

#[test]
fn deltas_of_one_kind_are_merged_and_of_two_kinds_are_not() {
    let mut text = delta("a");
    assert_eq!(merge_text(&mut text, delta("b")), None);
    assert_eq!(text, delta("ab"));
    let thought = Event::ReasoningDelta { text: "c".into() };
    assert_eq!(merge_text(&mut text, thought.clone()), Some(thought));
}

#[test]
fn named_values_are_separate_by_namespace_and_limited_in_size() {
    let fixture = StoreFixture::new();
    let (mut one, mut two) =
        (KeyValue::new(&fixture.store(), "a"), KeyValue::new(&fixture.store(), "b"));
    assert_eq!(one.get("k").unwrap(), None);
    one.set("k", "1").unwrap();
    one.set("k", "2").unwrap();
    two.set("k", "另一个").unwrap();
    assert_eq!(one.get("k").unwrap().as_deref(), Some("2"));
    assert_eq!(KeyValue::new(&fixture.store(), "b").get("k").unwrap().as_deref(), Some("另一个"));
    assert_eq!(one.names().unwrap(), ["k"]);
    assert!(one.remove("k").unwrap() && !one.remove("k").unwrap());
    assert!(matches!(one.set("k", &"x".repeat((1 << 20) + 1)), Err(StoreError::TooLong)));
    assert!(matches!(one.set(&"x".repeat(600), ""), Err(StoreError::TooLong)));
}
