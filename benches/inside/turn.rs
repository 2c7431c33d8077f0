//! What the turn machine costs: a turn of so many steps, each judged, observed and
//! handed back, with no model and no process behind it.

#![allow(clippy::unwrap_used, reason = "benches")]

use std::path::PathBuf;

use avocet::agent::turn::{Turn, TurnAction, TurnInput, TurnStart};
use avocet::model::ModelReply;
use avocet::protocol::budget::Budget;
use avocet::protocol::{Dialect, Observation, Outcome};
use avocet::safety::{Policy, PolicyContext, Workspace};
use divan::Bencher;

use crate::machine::TestMachine;

const CHAT: &str = r#"{"type":"chat","message":"Done.","data":{}}"#;

fn command(step: usize) -> String {
    format!(
        r#"{{"type":"cmd","message":"Looking.","data":{{"commands":[{{"program":"ls","args":["-a","d{step}"]}}]}}}}"#
    )
}

#[divan::bench(args = [1, 10, 100])]
fn a_turn_of_steps(bencher: Bencher<'_, '_>, steps: usize) {
    let replies: Vec<String> = (0..steps).map(command).chain([CHAT.to_owned()]).collect();
    bencher.bench(|| run(&replies));
}

fn run(replies: &[String]) -> usize {
    let folder = PathBuf::from("/work");
    let place = Workspace::new(folder, "/home/ann");
    let policy = Policy::default();
    let machine = TestMachine::EMPTY;
    let scene = || PolicyContext { policy: &policy, place: &place, world: &machine };
    let (text, dialect, budget) = ("look".into(), Dialect::Json, Budget::default());
    let start = TurnStart {
        text,
        images: Vec::new(),
        max_steps: Some(0),
        step_counter: Default::default(),
        check: None,
        budget,
        next_step: 1,
        is_small_model: false,
        dialect,
        hooks: std::sync::Arc::default(),
        agent: None,
    };
    let mut turn = Turn::new(start);
    let mut replies = replies.iter();
    let mut action = turn.next(TurnInput::Begin, scene());
    loop {
        let input = match action {
            TurnAction::Call(_) => {
                TurnInput::Replied(Ok(ModelReply::from_text(replies.next().unwrap().clone())))
            }
            TurnAction::Run(cleared) => {
                let judged = cleared.judgement();
                let (step, risk) = (judged.step.clone(), judged.risk.clone());
                let mut seen = Observation::not_run(step, "/work", risk, Outcome::Ran);
                seen.exit_code = Some(0);
                TurnInput::Observed(seen)
            }
            TurnAction::End(ending) => return usize::from(turn.result(ending).record.is_empty()),
            TurnAction::Ask(_) | TurnAction::Consult(..) | TurnAction::RunTogether(_) => {
                panic!("nothing here asks")
            }
        };
        action = turn.next(input, scene());
        turn.take_side_effects();
    }
}
