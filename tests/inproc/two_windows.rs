//! One session in two windows: the first goes on, and the second only reads.

use std::sync::Arc;

use avocet::model::Scripted;
use avocet::protocol::{Decision, Event, Op, Outcome, QuestionOp, TurnOutcome};

use crate::support::talk::{self, DONE, SessionClient};

#[tokio::test]
async fn a_second_window_does_not_end_a_turn_that_still_asks_in_the_first() {
    let folder = crate::support::temp_dir();
    let real = folder.path().canonicalize().unwrap();
    let start = |replies: &[&str], resume: bool| {
        let model = Scripted::parse("test", &replies.join("\n---\n")).unwrap();
        let mut parts = talk::parts(&real, Arc::new(model));
        talk::with_store(&mut parts, resume);
        SessionClient::start(parts)
    };
    let mut first = start(&[&talk::cmd("touch", &["made"]), DONE], false);
    first.submit("make it").await;
    let (ask, _) = first.next_question().await;

    let mut second = start(&[DONE], true);
    let shown = history(&mut second).await;
    assert!(shown.iter().any(|event| matches!(event, Event::Asked(_))), "{shown:?}");
    let ends = |event: &Event| matches!(event, Event::StepFinished(_) | Event::TurnEnded { .. });
    assert!(!shown.iter().any(ends), "{shown:?}");
    assert!(second.facts(|_| true).await.read_only);
    second.close().await;

    first.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve })).await;
    assert_eq!(first.ending().await, TurnOutcome::Done);
    first.close().await;
    let mut third = start(&[DONE], true);
    let shown = history(&mut third).await;
    let outcomes = shown.iter().filter_map(|event| match event {
        Event::StepFinished(seen) => Some(seen.outcome),
        _ => None,
    });
    assert_eq!(outcomes.collect::<Vec<_>>(), [Outcome::Ran]);
    third.close().await;
}

async fn history(talk: &mut SessionClient) -> Vec<Event> {
    talk.next(|event| match event {
        Event::HistoryChunk { events, .. } => Some(events),
        _ => None,
    })
    .await
}
