//! Runs `!cmd`, a line for the user's own shell, as a turn without a model: judged, run, shown, and
//! added to the next message unless it began with `!!`.

use std::time::Instant;

use super::turn_host::{TurnHost, run_step};
use crate::agent::Host;
use crate::agent::drive::TurnResult;
use crate::context::history::TurnRecord;
use crate::context::shorten;
use crate::protocol::{
    Ask, AskId, Decision, Event, Observation, Outcome, Question, StepAction, TurnOrigin,
    TurnOutcome, Usage,
};
use crate::safety::{self, NeedsApproval, Verdict};

/// One line, and its name in the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellLine {
    pub turn: u64,
    pub line: String,
    /// Whether the model reads the result.
    pub keep: bool,
    pub step: u64,
    pub ask: AskId,
}

/// Judges the line, asks if it must, and runs it.
pub async fn run(line: ShellLine, mut host: TurnHost) -> TurnResult {
    let started = Instant::now();
    let text = if line.keep { format!("!{}", line.line) } else { format!("!!{}", line.line) };
    host.emit(Event::TurnStarted { turn: line.turn, text, origin: TurnOrigin::Shell }).await;
    let id = format!("cmd_{:03}", line.step);
    let verdict = safety::assess_shell(&id, &line.line, host.policy_context());
    let (ending, seen) = match verdict {
        Verdict::Run(cleared) => {
            (TurnOutcome::Done, Some(run_step(&host.context, &mut host.outbox, cleared).await))
        }
        Verdict::Ask(held) => ask_and_run(line.ask, held, &mut host).await,
        Verdict::Refuse(refused) => {
            (TurnOutcome::Done, Some(not_run_observation(refused.assessment(), Outcome::Refused)))
        }
    };
    let kept = match &seen {
        Some(seen) if line.keep => turn_record(&line.line, seen),
        _ => TurnRecord::default(),
    };
    if let Some(seen) = seen {
        host.emit(Event::StepFinished(Box::new(seen))).await;
    }
    let ended = Event::TurnEnded {
        turn: line.turn,
        ending: ending.clone(),
        usage: Usage::default(),
        elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    host.emit(ended).await;
    TurnResult {
        ending,
        record: kept,
        usage: Usage::default(),
        next_step: line.step + 1,
        next_ask: line.ask.0 + 1,
    }
}

pub(super) async fn ask_and_run(
    ask: AskId,
    held: NeedsApproval,
    host: &mut TurnHost,
) -> (TurnOutcome, Option<Observation>) {
    let cancel = host.context.cancel.clone();
    let decision = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        decision = host.ask(Ask { id: ask, question: question(&held) }) => Some(decision),
    };
    let Some(decision) = decision else {
        host.emit(Event::QuestionClosed { ask }).await;
        return (
            TurnOutcome::Cancelled,
            Some(not_run_observation(held.assessment(), Outcome::Cancelled)),
        );
    };
    match decision {
        Decision::Approve | Decision::ApproveAll { .. } | Decision::Remember(_) => {
            let cleared = held.approve();
            (TurnOutcome::Done, Some(run_step(&host.context, &mut host.outbox, cleared).await))
        }
        Decision::Edit(work) => {
            let StepAction::Shell { line } = work else { return rejected_result(&held) };
            // The user saw the rewritten line with its tier before approving it.
            let seen = match safety::assess_shell(
                &held.assessment().step.id,
                &line,
                host.policy_context(),
            ) {
                Verdict::Run(cleared) => run_step(&host.context, &mut host.outbox, cleared).await,
                Verdict::Ask(held) => {
                    run_step(&host.context, &mut host.outbox, held.approve()).await
                }
                Verdict::Refuse(refused) => {
                    not_run_observation(refused.assessment(), Outcome::Refused)
                }
            };
            (TurnOutcome::Done, Some(seen))
        }
        Decision::Reject { .. } | Decision::Dismiss | Decision::Trust | Decision::Answer { .. } => {
            rejected_result(&held)
        }
        Decision::Stop => {
            (TurnOutcome::Stopped, Some(not_run_observation(held.assessment(), Outcome::Declined)))
        }
    }
}

fn rejected_result(held: &NeedsApproval) -> (TurnOutcome, Option<Observation>) {
    (TurnOutcome::Done, Some(not_run_observation(held.assessment(), Outcome::Declined)))
}

pub(super) fn question(held: &NeedsApproval) -> Question {
    let judged = held.assessment();
    Question::Step {
        step: judged.step.clone(),
        risk: judged.risk.clone(),
        resolved: judged.program.as_ref().map(|program| program.path.display().to_string()),
        cwd: judged.cwd.display().to_string(),
        why: String::new(),
        expected: String::new(),
        number: 1,
        of: 1,
        pieces: judged.pieces.clone(),
        rule: None,
        rule_covers: Vec::new(),
        trust: None,
        change: judged.change().cloned(),
        rest: Vec::new(),
    }
}

pub(super) fn not_run_observation(judged: &safety::Assessment, outcome: Outcome) -> Observation {
    let cwd = judged.cwd.display().to_string();
    Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome)
}

/// The text that the model reads with the next message.
pub fn turn_record(line: &str, seen: &Observation) -> TurnRecord {
    let mut kept = TurnRecord::default();
    kept.add_user(&format!("(The user ran `{line}`: {}.)", shorten::run_summary(seen)));
    kept.add_steps(std::slice::from_ref(seen));
    kept
}
