use std::time::{Duration, Instant};

use super::*;
use crate::platform::{MessageId, PlatformLimits};
use crate::timeline::{ChatOperation, TimelineAction};

fn timeline() -> Timeline {
    let edit_pace = Duration::from_secs(1);
    Timeline::new(PlatformLimits { edit_pace, ..PlatformLimits::for_tests(4096) }, Lang::En)
}

/// What the messages show at the end; every call is accepted.
fn shown(timeline: &mut Timeline, mut now: Instant) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    loop {
        let call = match timeline.next_call(now) {
            TimelineAction::Call(call) => *call,
            TimelineAction::Wait(until) => {
                now = until;
                continue;
            }
            TimelineAction::Idle => return shown,
        };
        let id = match &call.kind {
            ChatOperation::Send(text) => {
                shown.push(text.text.clone());
                Some(shown.len())
            }
            ChatOperation::Edit(message, text) => {
                let at: usize = message.0.parse().unwrap();
                shown[at - 1].clone_from(&text.text);
                None
            }
            ChatOperation::Upload(file) => {
                shown.push(format!("[{}]", file.name));
                Some(shown.len())
            }
            ChatOperation::Ask(_) => panic!("no question was posted"),
        };
        let id = id.map(|id| MessageId(id.to_string()));
        timeline.finish(call, Ok(id), now);
    }
}

#[test]
fn a_piece_of_a_long_reply_is_kept_and_is_not_split_again_with_all_before_it() {
    let (mut timeline, mut reply) = (timeline(), LiveReply::default());
    let (piece, count) = ("eighteen letters.\n", 1_000_000 / 18);
    let (mut splits, mut whole) = (0, String::new());
    for at in 0..count {
        reply.push(piece, &mut timeline);
        whole.push_str(piece);
        // A call can be made after each hundredth piece.
        if at % 100 == 0 && reply.is_behind() {
            splits += 1;
            reply.show(&mut timeline);
        }
    }
    let most = MAX_PARTS * MAX_LETTER * 4096;
    assert!(reply.text.len() <= most + piece.len(), "{} bytes are kept", reply.text.len());
    assert!(splits * 100 * piece.len() <= 8 * 4096, "{splits} splits");
    assert_eq!(reply.full, MAX_PARTS);
    assert!(!reply.is_behind(), "nothing is left to split");
    assert_eq!(reply.posts.len(), MAX_PARTS);
    reply.finish(&whole, Lang::En, &mut timeline);
    let shown = shown(&mut timeline, Instant::now());
    assert_eq!(shown.len(), MAX_PARTS + 1);
    assert_eq!(shown.last().map(String::as_str), Some("[answer.md]"));
}

#[test]
fn spaces_without_end_are_not_split_at_each_piece() {
    let (mut timeline, mut reply) = (timeline(), LiveReply::default());
    reply.push("Begun.", &mut timeline);
    assert!(!reply.is_behind(), "the first words are shown at once");
    for _ in 0..100_000 {
        reply.push(" \n", &mut timeline);
        assert!(!reply.is_behind());
    }
    reply.finish("Begun.", Lang::En, &mut timeline);
    assert_eq!(shown(&mut timeline, Instant::now()), ["Begun\\."]);
}

#[test]
fn a_reply_that_begins_again_uses_its_messages_and_leaves_none_of_its_first_words() {
    let (mut timeline, mut reply) = (timeline(), LiveReply::default());
    reply.push(&"word ".repeat(2_000), &mut timeline);
    let now = Instant::now();
    assert_eq!(shown(&mut timeline, now).len(), 3);
    reply.restart();
    reply.push("again", &mut timeline);
    assert!(reply.is_behind());
    reply.settle(&mut timeline);
    let later = now + Duration::from_secs(9);
    let TimelineAction::Call(call) = timeline.next_call(later) else {
        panic!("nothing is changed")
    };
    assert!(matches!(&call.kind, ChatOperation::Edit(_, text) if text.text == "again"));
}
