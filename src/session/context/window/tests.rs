use proptest::prelude::*;
use serde_json::json;

use super::super::history::ReplyKind;
use super::*;
use avocet_core::protocol::{Observation, Outcome, Risk, Step, StepAction, Tier};

fn contents(messages: &[Message]) -> Vec<std::borrow::Cow<'_, str>> {
    messages.iter().map(|message| message.text()).collect()
}

fn chat(words: &str, answer: &str) -> TurnRecord {
    let mut kept = TurnRecord::default();
    kept.add_user(words);
    kept.add_reply(ReplyKind::Chat, answer);
    kept
}

fn seen(id: &str, output: &str) -> Observation {
    let work = StepAction::Exec { program: "rg".into(), args: vec!["foo".into()] };
    let step = Step { id: id.into(), work, requires: Default::default(), cwd: None };
    let risk = Risk {
        tier: Tier::L0,
        rule: "rg".into(),
        reasons: Vec::new(),
        effects: Vec::new(),
        lifted: false,
    };
    let mut seen = Observation::not_run(step, "/w", risk, Outcome::Ran);
    seen.exit_code = Some(0);
    seen.stdout = output.into();
    seen
}

fn turn_with_step(words: &str, id: &str, output: &str) -> TurnRecord {
    let mut kept = TurnRecord::default();
    kept.add_user(words);
    kept.add_reply(ReplyKind::Cmd, "Looking.");
    kept.add_steps(&[seen(id, output)]);
    kept.add_reply(ReplyKind::Chat, "Found.");
    kept
}

/// The same turn as it was sent in the JSON dialect.
fn repeated_turn(words: &str, id: &str) -> TurnRecord {
    let mut kept = turn_with_step(words, id, "out");
    kept.keep_short_messages(&[
        Message::user(words),
        Message::assistant(r#"{"type":"cmd","message":"Looking."}"#),
        Message::user(format!("result of {id}")),
        Message::assistant(r#"{"type":"chat","message":"Found."}"#),
    ]);
    kept
}

fn history(turns: impl IntoIterator<Item = TurnRecord>) -> History {
    let mut history = History::default();
    for (turn, kept) in (1..).zip(turns) {
        history.push(turn, kept, |_| {});
    }
    history
}

fn sent(history: &History, turn: &[Message], bounds: Bounds) -> Vec<Message> {
    request(
        RequestParts { system: "sys", tools: ContextSize::default(), notes: "", history, turn },
        bounds,
    )
    .0
}

fn room(bytes: usize, tokens: usize) -> Bounds {
    Bounds::from_room(ContextSize { bytes, tokens })
}

#[test]
fn the_latest_turns_follow_the_system_prompt_in_order() {
    let history = history(["one", "two", "three"].map(|text| chat(text, &text.to_uppercase())));
    let sent = sent(&history, &[Message::user("now")], room(230, 100));
    let newest = r#"{"type":"chat","message":"THREE"}"#;
    assert_eq!(contents(&sent), ["sys", "two", "chat: TWO", "three", newest, "now"]);
}

#[test]
fn a_turn_keeps_what_ran_and_not_its_output() {
    let history =
        history([turn_with_step("find foo", "cmd_001", &"line\n".repeat(900)), chat("a", "b")]);
    let sent = sent(&history, &[Message::user("now")], Bounds::default());
    assert_eq!(sent[1].text(), "find foo");
    assert_eq!(sent[2].text(), "ran: rg foo → exit 0\nchat: Found.");
    let results = sent[3].text();
    assert!(results.starts_with(RESULTS) && results.ends_with("\na"), "{results}");
    let digest = results.lines().nth(1).expect("a digest");
    let digest: serde_json::Value = serde_json::from_str(digest).expect("JSON");
    assert_eq!((digest["id"].as_str(), digest["exitCode"].as_i64()), (Some("cmd_001"), Some(0)));
    assert!(digest["stdoutTail"].as_str().expect("a tail").len() <= 2_000);
}

#[test]
fn at_most_three_digests_are_included() {
    let turns = (1..=5).map(|n| turn_with_step("find", &format!("cmd_00{n}"), "out"));
    let sent = sent(&history(turns), &[Message::user("now")], Bounds::default());
    let results = sent.last().expect("a message").text();
    let ids: Vec<bool> = (1..=5).map(|n| results.contains(&format!("cmd_00{n}"))).collect();
    assert_eq!(ids, [false, false, true, true, true]);
}

#[test]
fn short_turns_are_repeated_as_they_were_sent_until_their_results_are_too_many() {
    let turns: Vec<TurnRecord> =
        (1..=9).map(|n| repeated_turn(&format!("find {n}"), &format!("cmd_00{n}"))).collect();
    let mut breaks = Vec::new();
    let mut before = Vec::new();
    for count in 0..turns.len() {
        let turn = [Message::user(format!("find {}", count + 1))];
        let sent = sent(&history(turns[..count].to_vec()), &turn, Bounds::default());
        let results = (1..=count).filter(|n| {
            sent.iter().any(|message| message.text() == format!("result of cmd_00{n}"))
        });
        assert!((1..=6).contains(&results.count()) || count == 0);
        let digests = sent.iter().map(|it| it.text().matches("\"exitCode\"").count());
        assert!(digests.sum::<usize>() <= DIGESTS);
        if before.len() > sent.len() || before[..] != sent[..before.len()] {
            breaks.push(count);
        }
        before = sent;
    }
    assert_eq!(breaks, [7], "a step that makes room, and nothing moves in between");
    let sent = sent(&history(turns), &[Message::user("now")], Bounds::default());
    let texts = contents(&sent);
    assert_eq!(texts[1..3], ["find 1", "ran: rg foo → exit 0\nchat: Found."]);
    assert!(texts.iter().any(|text| text.starts_with(RESULTS) && text.ends_with("\nfind 7")));
    assert_eq!(
        texts[texts.len() - 3..],
        ["result of cmd_009", r#"{"type":"chat","message":"Found."}"#, "now"]
    );
}

#[test]
fn a_long_turn_or_little_room_leaves_the_short_form() {
    let long = |bytes: usize| {
        let mut kept = turn_with_step("find", "cmd_001", "out");
        let answer = Message::assistant("x".repeat(bytes));
        kept.keep_short_messages(&[Message::user("find"), answer]);
        history([kept])
    };
    for (bytes, bounds, is_repeated) in [
        (5_000, Bounds::default(), true),
        (7_000, Bounds::default(), false),
        (5_000, room(32_000, 12_000), false),
    ] {
        let sent = sent(&long(bytes), &[Message::user("now")], bounds);
        assert_eq!(sent[2].text().starts_with('x'), is_repeated, "{bytes}");
        assert_eq!(sent.last().unwrap().text().contains("cmd_001"), !is_repeated, "{bytes}");
    }
}

#[test]
fn what_seldom_changes_comes_before_the_turns_and_results_before_the_running_one() {
    let mut history = history([turn_with_step("find", "cmd_001", "out")]);
    history.summary.summary = "They fix a lexer.".into();
    history.summary.open_tasks = vec!["write a test".into()];
    history.recall("turn_9", "old words".into());
    let (sent, ledger) = request(
        RequestParts {
            system: "sys",
            tools: ContextSize { bytes: 400, tokens: 100 },
            notes: "use tabs",
            history: &history,
            turn: &[Message::user("now")],
        },
        Bounds::default(),
    );
    assert_eq!(sent[0].text(), "sys\n\nuse tabs");
    assert!(
        sent[1].text().contains("They fix a lexer.") && sent[1].text().contains("write a test")
    );
    assert!(sent[2].text().contains("[turn_9]\nold words"));
    assert!(sent[..3].iter().all(|message| message.role == Role::System));
    assert!(sent[5].role == Role::User && sent[5].text().contains("cmd_001"));
    let parts: Vec<Section> = ledger.sections.iter().map(|share| share.section).collect();
    let all = [
        Section::System,
        Section::Tools,
        Section::Notes,
        Section::Summary,
        Section::Recalled,
        Section::Results,
        Section::History,
        Section::Turn,
    ];
    assert_eq!(parts, all);
}

#[test]
fn lines_added_after_a_mark_can_be_removed() {
    let mut history = history([chat("one", "1")]);
    let mark = history.position();
    history.push(2, turn_with_step("two", "cmd_001", "x"), |_| {});
    history.push(3, chat("three", "3"), |_| {});
    history.truncate_to(mark);
    assert_eq!(history.position(), mark);
    let sent = sent(&history, &[Message::user("now")], Bounds::default());
    assert_eq!(contents(&sent), ["sys", "one", r#"{"type":"chat","message":"1"}"#, "now"]);
    history.rewind(1);
    assert!(history.is_empty());
}

#[test]
fn a_short_turn_adds_at_most_a_hundred_bytes() {
    let json = |history: &History| {
        let sent = sent(history, &[Message::user("hi")], Bounds::default());
        let wire = |message: &Message| json!({ "role": message.role, "content": message.text() });
        sent.iter().map(wire).collect::<serde_json::Value>().to_string().len()
    };
    let turns = |n| history((0..n).map(|n| chat("hi", &format!("reply {n}"))));
    for n in 1..6 {
        let added = json(&turns(n + 1)) - json(&turns(n));
        assert!(added <= 100, "turn {n} adds {added}");
    }
}

#[test]
fn adjacent_messages_of_one_role_are_merged() {
    let mut kept = TurnRecord::default();
    kept.add_user("one");
    kept.mark_cancelled();
    let sent = sent(&history([kept]), &[Message::user("two")], Bounds::default());
    let user = Message::user("one\n(cancelled by the user)\n\ntwo");
    assert_eq!(sent, [Message::system("sys"), user]);
}

#[test]
fn steering_stays_where_it_was_sent() {
    let mut kept = TurnRecord::default();
    kept.add_user("one");
    kept.add_reply(ReplyKind::Cmd, "Looking.");
    kept.add_user("only in src");
    kept.add_reply(ReplyKind::Chat, "Done.");
    let sent = sent(&history([kept]), &[Message::user("now")], Bounds::default());
    let said =
        ["sys", "one", "cmd: Looking.", "only in src", r#"{"type":"chat","message":"Done."}"#];
    assert_eq!(contents(&sent)[..5], said);
}

#[test]
fn a_history_is_saved_and_read_back_unchanged() {
    let mut history = history([turn_with_step("find", "cmd_001", "out"), chat("a", "b")]);
    history.summary.key_facts = vec!["tabs".into()];
    let text = serde_json::to_string(&history).expect("JSON");
    assert_eq!(serde_json::from_str::<History>(&text).expect("a history"), history);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for field in ["version", "summary", "recent", "toolDigest", "keyFacts", "openTasks"] {
        assert!(value.get(field).is_some(), "{field} in {text}");
    }
}

#[test]
fn a_secret_is_masked_before_it_is_stored() {
    let mut history = History::default();
    let mask = |text: &mut String| *text = text.replace("hunter2", "***");
    history.push(1, turn_with_step("use hunter2", "cmd_001", "hunter2"), mask);
    let text = serde_json::to_string(&history).expect("JSON");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn long_messages_stay_whole_while_they_fit() {
    let words = "w".repeat(40_000);
    let turn = [Message::user(words.as_str()), Message::assistant("c"), Message::user("r")];
    let sent = sent(&History::default(), &turn, Bounds::default());
    assert_eq!(sent[1].text(), words);
}

#[test]
fn old_results_are_shortened_before_anything_is_omitted() {
    let long = "z".repeat(3_000);
    let turn: Vec<Message> = [
        Message::user("do it ".repeat(150)),
        Message::assistant("a"),
        Message::user(format!("first {long}")),
        Message::assistant("b"),
        Message::user(format!("second {long}")),
    ]
    .into();
    let sent = sent(&History::default(), &turn, room(5_000, 5_000));
    assert_eq!(sent.len(), 6);
    assert_eq!(sent[1], turn[0]);
    assert!(sent[3].text().contains("bytes left out"), "{}", sent[3].text());
    assert_eq!(sent[5].text(), format!("second {long}"), "the newest is whole");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z你好{}😀]{0,40}",
        1 => (0usize..60_000).prop_map(|n| "长x".repeat(n / 4)),
        1 => (0usize..30_000).prop_map(|n| format!(
            "{{\"_event\":\"tool_result\",\"stdoutTail\":\"{}\"}}",
            "y;".repeat(n / 2)
        )),
        // One huge message.
        1 => Just("汉".repeat(300_000)),
    ]
}

#[derive(Clone, Debug)]
enum Act {
    User(String),
    Reply(String),
    Steps(Vec<String>),
    Cancelled,
}

fn kept() -> impl Strategy<Value = TurnRecord> {
    let act = prop_oneof![
        text().prop_map(Act::User),
        text().prop_map(Act::Reply),
        prop::collection::vec(text(), 1..3).prop_map(Act::Steps),
        Just(Act::Cancelled),
    ];
    prop::collection::vec(act, 0..5).prop_map(|acts| {
        let mut kept = TurnRecord::default();
        for act in acts {
            match act {
                Act::User(text) => kept.add_user(&text),
                Act::Reply(text) => kept.add_reply(ReplyKind::Cmd, &text),
                Act::Steps(outputs) => {
                    let all: Vec<_> = outputs.iter().map(|text| seen("cmd_001", text)).collect();
                    kept.add_steps(&all);
                }
                Act::Cancelled => kept.mark_cancelled(),
            }
        }
        kept
    })
}

fn running() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let message = (role, text()).prop_map(|(role, content)| Message::new(role, content));
    prop::collection::vec(message, 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]
    #[test]
    fn a_request_stays_below_both_bounds_for_any_history(
        past in prop::collection::vec(kept(), 0..8),
        summary in text(),
        recalled in prop::collection::vec(text(), 0..4),
        notes in text(),
        system in text(),
        turn in running(),
        bytes in 2_000usize..100_000,
        tokens in 600usize..30_000,
    ) {
        let mut history = history(past);
        history.summary.summary = summary;
        for (at, text) in recalled.into_iter().enumerate() {
            history.recall(&format!("turn_{at}"), text);
        }
        let bounds = room(bytes, tokens);
        let parts = RequestParts { system: &system, tools: ContextSize::default(), notes: &notes, history: &history, turn: &turn };
        let (sent, ledger) = request(parts, bounds);
        let taken = messages_size(&sent);
        prop_assert!(taken.fits(bounds.room), "{taken:?} of {:?}", bounds.room);
        prop_assert!(ledger.total_size().fits(bounds.room), "{ledger:?}");
        prop_assert!(taken.fits(ledger.total_size()), "the ledger counts all: {taken:?}, {ledger:?}");
        prop_assert!(sent.len() >= 2);
        let talk = sent.iter().skip_while(|message| message.role == Role::System);
        let talk: Vec<Role> = talk.map(|message| message.role).collect();
        prop_assert!(talk.windows(2).all(|pair| pair[0] != pair[1] && pair[1] != Role::System));
        prop_assert!(sent.iter().filter(|message| message.role != Role::System).count() <= bounds.messages + turn.len());
    }
}
