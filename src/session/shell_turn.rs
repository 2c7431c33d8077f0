//! Runs `!cmd`, a line for the user's own shell, as a turn without a model: judged, run, shown, and
//! added to the next message unless it began with `!!`.

use super::job_place::{BackgroundUse, FIRST_LOOK};
use super::turn_messages::{FinishedTurn, PermissionMessage, TurnMessage};
use super::turn_scope::TurnScope;
use super::user_input::UserInput;
use crate::agent::turn::joined_rules;
use crate::context::history::TurnRecord;
use crate::context::shorten;
use crate::context::window::RESULTS;
use avocet_core::protocol::{
    Decision, Event, Message, Observation, Outcome, Question, Requires, Step, StepAction,
    StepQuestion, TurnOrigin, TurnOutcome, Usage,
};
use avocet_safety::{self as safety, ClearedStep, NeedsApproval, Verdict};

/// Judges a shell line, asks if it must, and runs it.
pub async fn run(input: UserInput, mut scope: TurnScope) -> FinishedTurn {
    scope.begin(input.as_typed(), TurnOrigin::Shell);
    let UserInput::Shell { line, keep } = input else {
        return scope.end(TurnOutcome::Done, TurnRecord::default(), Usage::default()).await;
    };
    let id = scope.next_step_id();
    let (line, background) = match background_line(&line) {
        Some(line) => (line.to_owned(), BackgroundUse::After(FIRST_LOOK)),
        None => (line, BackgroundUse::Possible),
    };
    let verdict = safety::assess_shell(&id, &line, scope.policy_context());
    let (ending, observation) = run_or_ask(verdict, background, &mut scope).await;
    let record = if keep { turn_record(&line, &observation) } else { TurnRecord::default() };
    scope.end(ending, record, Usage::default()).await
}

/// Runs the program of a user's own command.
pub(super) async fn run_program(
    shown: String,
    words: &[String],
    mut scope: TurnScope,
) -> FinishedTurn {
    scope.begin(shown, TurnOrigin::Command);
    let mut words = words.iter().cloned();
    let program = words.next().unwrap_or_default();
    let work = StepAction::Exec { program, args: words.collect() };
    let step = Step { id: scope.next_step_id(), work, requires: Requires::default(), cwd: None };
    let verdict = safety::assess(step, scope.policy_context());
    let (ending, _) = run_or_ask(verdict, BackgroundUse::Never, &mut scope).await;
    scope.end(ending, TurnRecord::default(), Usage::default()).await
}

/// Runs a step, after asking if it must, and shows the result.
pub(super) async fn run_or_ask(
    verdict: Verdict,
    background: BackgroundUse,
    scope: &mut TurnScope,
) -> (TurnOutcome, Observation) {
    let (ending, observation) = match verdict {
        Verdict::Run(cleared) => (TurnOutcome::Done, run_cleared(cleared, background, scope).await),
        Verdict::Ask(held) => ask_and_run(held, background, scope).await,
        Verdict::Refuse(refused) => {
            (TurnOutcome::Done, not_run_observation(refused.judgement(), Outcome::Refused))
        }
    };
    scope.events.emit(Event::StepFinished(Box::new(observation.clone()))).await;
    (ending, observation)
}

async fn ask_and_run(
    held: NeedsApproval,
    background: BackgroundUse,
    scope: &mut TurnScope,
) -> (TurnOutcome, Observation) {
    let is_program = matches!(held.judgement().step.work, StepAction::Exec { .. });
    let grants = match is_program.then(|| scope.policy_context()) {
        Some(policy_cx) => safety::suggest_grants(held.judgement(), policy_cx),
        None => Vec::new(),
    };
    let mut asked = question(&held);
    if let Question::Step(step) = &mut asked {
        step.rule = joined_rules(&grants);
    }
    let decision = scope.ask(asked).await;
    let not_run = |outcome| not_run_observation(held.judgement(), outcome);
    let cleared = match decision {
        None => return (TurnOutcome::Cancelled, not_run(Outcome::Cancelled)),
        Some(Decision::Stop) => return (TurnOutcome::Stopped, not_run(Outcome::Declined)),
        Some(Decision::Approve | Decision::ApproveAll { .. }) => held.approve(),
        Some(Decision::Remember(span)) => {
            for grant in grants.into_iter().map(Box::new) {
                scope
                    .events
                    .notify(TurnMessage::Permitted(PermissionMessage::Step { grant, scope: span }));
            }
            held.approve()
        }
        // The user saw the rewritten line with its tier before approving it.
        Some(Decision::Edit(StepAction::Shell { line })) => {
            let id = &held.judgement().step.id;
            match safety::assess_shell(id, &line, scope.policy_context()) {
                Verdict::Run(cleared) => cleared,
                Verdict::Ask(held) => held.approve(),
                Verdict::Refuse(refused) => {
                    let observation = not_run_observation(refused.judgement(), Outcome::Refused);
                    return (TurnOutcome::Done, observation);
                }
            }
        }
        Some(_) => return (TurnOutcome::Done, not_run(Outcome::Declined)),
    };
    (TurnOutcome::Done, run_cleared(cleared, background, scope).await)
}

/// Runs it with the terminal if it wants that.
async fn run_cleared(
    cleared: ClearedStep,
    background: BackgroundUse,
    scope: &mut TurnScope,
) -> Observation {
    let wants_terminal = safety::terminal_program(&cleared.judgement().step.work).is_some();
    match background {
        BackgroundUse::Possible if wants_terminal => scope.run_in_terminal(cleared).await,
        _ => scope.run_step_or_job(cleared, background).await,
    }
}

/// A line that is to run in the background, without the `&` that says so.
fn background_line(line: &str) -> Option<&str> {
    let rest = line.trim_end().strip_suffix('&')?.trim_end();
    (!rest.is_empty() && !rest.ends_with(['&', '\\', '|', '>', '<', ';'])).then_some(rest)
}

pub(super) fn question(approval: &NeedsApproval) -> Question {
    let judged = approval.judgement();
    Question::Step(StepQuestion { change: judged.change().cloned(), ..judged.question() })
}

fn not_run_observation(judged: &safety::Judgement, outcome: Outcome) -> Observation {
    let cwd = judged.cwd.display().to_string();
    Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome)
}

/// The text that the model reads with the next message.
pub fn turn_record(line: &str, observation: &Observation) -> TurnRecord {
    let mut record = TurnRecord::default();
    let summary = format!("(The user ran `{line}`: {}.)", shorten::run_summary(observation));
    record.add_user(&summary);
    record.add_steps(std::slice::from_ref(observation));
    // With tools no list of results is sent, so the message holds this one.
    let result = shorten::Digest::from_observation(0, observation).to_line();
    record.keep_messages(vec![Message::user(format!("{summary}\n\n{RESULTS}\n{result}"))]);
    record
}
