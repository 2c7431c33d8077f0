//! What building a request costs in sessions of 10, 1,000 and 100,000 events: it must not
//! grow with them. A turn here is five events: words, a reply, a step, its result, an
//! answer.

#![allow(clippy::unwrap_used, reason = "benches")]

use avocet::context::history::{ReplyKind, TurnRecord};
use avocet::context::window::{Bounds, History, RequestParts, request};
use avocet::protocol::{Message, Observation, Outcome, Risk, Step, StepAction, Tier};
use divan::Bencher;

const EVENTS: [usize; 3] = [10, 1_000, 100_000];

fn seen(number: usize) -> Observation {
    let step = Step {
        id: format!("cmd_{number:03}"),
        work: StepAction::Exec { program: "rg".into(), args: vec!["foo".into(), "src".into()] },
        requires: Default::default(),
        cwd: None,
    };
    let risk = Risk {
        tier: Tier::L0,
        rule: "rg".into(),
        reasons: Vec::new(),
        effects: Vec::new(),
        lifted: false,
    };
    let mut seen = Observation::not_run(step, "/work", risk, Outcome::Ran);
    seen.exit_code = Some(0);
    seen.stdout = "src/lib.rs:12: a line of output\n".repeat(60);
    seen
}

fn turn(number: usize) -> TurnRecord {
    let mut kept = TurnRecord::default();
    kept.add_user("Where is the lexer, and what does it do with tabs?");
    kept.add_reply(ReplyKind::Cmd, "Looking.");
    kept.add_steps(&[seen(number)]);
    kept.add_reply(
        ReplyKind::Chat,
        &"It lies in `src/lexer.rs` and counts a tab as one. ".repeat(8),
    );
    kept
}

fn history(events: usize) -> History {
    let mut history = History::default();
    for number in 1..=events / 5 {
        history.push(number as u64, turn(number), |_| {});
    }
    history
}

#[divan::bench(args = EVENTS)]
fn building_a_request(bencher: Bencher<'_, '_>, events: usize) {
    let history = history(events);
    let now = [Message::user("And now?")];
    let system = "x".repeat(3_000);
    let parts = RequestParts {
        system: &system,
        tools: avocet::context::size::ContextSize::default(),
        notes: "",
        history: &history,
        turn: &now,
    };
    bencher.bench(|| request(parts, Bounds::default()).0.len());
}

#[divan::bench(args = EVENTS)]
fn ending_a_turn(bencher: Bencher<'_, '_>, events: usize) {
    let history = history(events);
    bencher
        .with_inputs(|| (history.clone(), turn(7)))
        .bench_values(|(mut history, kept)| history.push(1_000_000, kept, |_| {}));
}
