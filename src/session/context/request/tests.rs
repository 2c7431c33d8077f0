use proptest::prelude::*;

use super::*;
use crate::context::history::{ReplyKind, TurnRecord};
use avocet_core::protocol::{ContentBlock, Image, PlanItem, PlanState, Role, ToolCall, ToolResult};

fn calls(id: usize) -> Message {
    let call = ToolCall {
        id: format!("call_{id}"),
        name: "exec".into(),
        arguments: r#"{"program":"ls"}"#.into(),
        opaque: None,
    };
    Message { role: Role::Assistant, blocks: vec![ContentBlock::ToolCall(call)] }
}

fn answers(id: usize, bytes: usize) -> Message {
    let content = format!("{id} ").repeat(bytes / 3 + 1);
    let result =
        ToolResult { call: format!("call_{id}"), name: "exec".into(), content, is_error: false };
    Message { role: Role::User, blocks: vec![ContentBlock::ToolResult(result)] }
}

/// A turn of so many steps, each with a result of this size.
fn turn(words: &str, steps: std::ops::Range<usize>, bytes: usize) -> Vec<Message> {
    let steps = steps.flat_map(|id| [calls(id), answers(id, bytes)]);
    std::iter::once(Message::user(words)).chain(steps).collect()
}

fn record(words: &str, steps: std::ops::Range<usize>, bytes: usize) -> TurnRecord {
    let mut kept = TurnRecord::default();
    kept.add_user(words);
    kept.add_reply(ReplyKind::Chat, "Done.");
    let mut sent = turn(words, steps, bytes);
    sent.push(Message::assistant("Done."));
    kept.keep_messages(sent);
    kept
}

fn sent(history: &History, turn: &[Message], window: usize) -> Vec<Message> {
    let parts =
        RequestParts { system: "sys", tools: ContextSize::default(), notes: "", history, turn };
    build(parts, Bounds::for_tools(window)).0
}

/// Each result follows the call it answers, and each call has its result.
fn is_valid(messages: &[Message]) -> bool {
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

#[test]
fn a_request_repeats_the_bytes_of_the_one_before_it() {
    let mut history = History::default();
    let mut before: Vec<Message> = Vec::new();
    for n in 0..30 {
        let words = format!("question {n}");
        let mut running = turn(&words, 0..0, 0);
        for step in 0..3 {
            let now = sent(&history, &running, 128_000);
            assert_eq!(now[..before.len()], before[..], "turn {n}, step {step}");
            before = now;
            running.extend([calls(step), answers(step, 400)]);
        }
        history.push(n + 1, record(&words, 0..3, 400), |_| {});
    }
}

#[test]
fn three_hundred_large_steps_fit_and_the_prefix_moves_rarely() {
    let history = History::default();
    let (mut before, mut moved) = (Vec::new(), 0);
    for steps in 0..300 {
        let running = turn("the first words", 0..steps, 8_000);
        let now = sent(&history, &running, 128_000);
        assert!(is_valid(&now), "{steps} steps");
        assert_eq!(now[1].role, Role::User);
        assert!(now[1].text().starts_with("the first words"));
        let size = now.iter().map(message_size).fold(ContextSize::default(), |sum, it| sum + it);
        assert!(size.fits(Bounds::for_tools(128_000).room), "{steps} steps: {size:?}");
        if let Some(newest) = running.last() {
            assert_eq!(now.last().map(Message::len), Some(newest.len()), "the newest is whole");
        }
        let same = now.iter().zip(&before).take_while(|(now, before)| now == before).count();
        moved += usize::from(same < before.len());
        before = now;
    }
    assert!(moved <= 40, "the prefix changed {moved} times");
}

#[test]
fn old_turns_without_their_messages_are_sent_as_text() {
    let mut history = History::default();
    let mut kept = TurnRecord::default();
    kept.add_user("what is here");
    kept.add_reply(ReplyKind::Chat, "A parser.");
    history.push(1, kept, |_| {});
    history.push(2, record("run ls", 0..1, 10), |_| {});
    let now = sent(&history, &[Message::user("and now")], 128_000);
    assert_eq!(now[1], Message::user("what is here"));
    assert_eq!(now[2], Message::assistant("A parser."));
    assert_eq!(now[3], Message::user("run ls"));
    assert!(is_valid(&now));
}

#[test]
fn the_same_history_serves_both_dialects() {
    let mut history = History::default();
    history.push(1, record("run ls", 0..2, 10), |_| {});
    let parts = RequestParts {
        system: "s",
        tools: ContextSize::default(),
        notes: "",
        history: &history,
        turn: &[Message::user("on")],
    };
    let (json, _) = build(parts, Bounds::default());
    assert!(json.iter().all(|message| message.calls().next().is_none()));
    assert!(json.iter().any(|message| message.text().contains("Done.")));
    let saved = serde_json::to_string(&history).expect("JSON");
    let read: History = serde_json::from_str(&saved).expect("a history");
    assert_eq!(read, history);
}

#[test]
fn the_plan_is_pinned_once_its_turn_is_no_longer_shown() {
    let item = PlanItem { text: "mend it".into(), state: PlanState::Pending };
    let mut history = History::default();
    let mut kept = record("plan", 0..1, 10);
    kept.set_plan(std::slice::from_ref(&item));
    history.push(1, kept, |_| {});
    let pinned = |history: &History| {
        let now = sent(history, &[Message::user("on")], 128_000);
        now.last().unwrap().text().contains("mend it")
    };
    assert!(!pinned(&history));
    for n in 2..5 {
        history.push(n, record("more", 0..1, 10), |_| {});
    }
    crate::context::compact::shrink(&mut history);
    assert!(pinned(&history));
}

proptest! {
    #[test]
    fn whatever_is_sent_fits_and_pairs_calls_with_results(
        past in prop::collection::vec((1_usize..6, 0_usize..30_000), 0..12),
        own in (0_usize..40, 0_usize..40_000),
        window in 2_000_usize..40_000,
    ) {
        let mut history = History::default();
        for (n, (steps, bytes)) in past.into_iter().enumerate() {
            history.push(n as u64 + 1, record("old words", 0..steps, bytes), |_| {});
        }
        let running = turn("new words", 0..own.0, own.1);
        let now = sent(&history, &running, window);
        prop_assert!(is_valid(&now));
        let size = now.iter().map(message_size).fold(ContextSize::default(), |sum, it| sum + it);
        prop_assert!(size.fits(Bounds::for_tools(window).room), "{size:?}");
        prop_assert!(now.iter().any(|message| message.text().contains("new words")));
    }
}

#[test]
fn of_many_images_the_newest_are_sent_and_the_request_rarely_changes_for_it() {
    for dialect in [Dialect::Tools, Dialect::Json] {
        let mut history = History::default();
        let (mut before, mut changes) = (0, 0);
        for turn in 1..=50 {
            let image = Image { mime: "image/png".into(), data: format!("{turn:08}") };
            let mut kept = TurnRecord::default();
            kept.add_user("look");
            kept.add_images(std::slice::from_ref(&image));
            kept.add_reply(ReplyKind::Chat, "seen");
            if dialect == Dialect::Tools {
                let mut asked = Message::user("look");
                asked.blocks.push(ContentBlock::Image(image));
                kept.keep_messages(vec![asked, Message::assistant("seen")]);
            }
            history.push(turn, kept, |_| {});
            // What is saved is what was sent, once.
            let saved = serde_json::to_string(&history.turn_snapshot(turn)).unwrap();
            assert_eq!(saved.matches(&format!("{turn:08}")).count(), 1, "{saved}");
            let bounds = match dialect {
                Dialect::Tools => Bounds::for_tools(1_000_000),
                Dialect::Json => Bounds::from_room(ContextSize { bytes: 1 << 24, tokens: 1 << 22 }),
            };
            let parts = RequestParts {
                system: "s",
                tools: ContextSize::default(),
                notes: "",
                history: &history,
                turn: &[Message::user("?")],
            };
            let (messages, _) = build(parts, Bounds { messages: 1_000, ..bounds });
            let sent: Vec<&str> =
                messages.iter().flat_map(Message::images).map(|it| it.data.as_str()).collect();
            assert!(sent.len() <= 20 && sent.last() == Some(&format!("{turn:08}").as_str()));
            changes += usize::from(sent.len() < before);
            before = sent.len();
        }
        assert_eq!(changes, 3, "{dialect:?}");
    }
}
