//! `/goal`: the session works towards a goal, turn after turn. After each turn the goal is judged in
//! a turn of its own: by a shell line, which is judged, asked about and stopped like any other, or by
//! the model.

use super::goal_progress::{GoalProgress, GoalVerdict};
use super::job_place::BackgroundUse;
use super::session_effects::SessionEffect;
use super::session_questions::SessionQuestion;
use super::shell_turn;
use super::side_request;
use super::state::Session;
use super::turn_conversation::TurnConversation;
use super::turn_messages::{FinishedTurn, SideMessage, TurnMessage};
use super::turn_scope::TurnScope;
use super::user_input::UserInput;
use crate::context::history::TurnRecord;
use avocet_core::i18n::{LocalizedText, PhraseValue, goal as phrases, mcp_pages};
use avocet_core::protocol::{
    Event, Goal, GoalRequest, ModelMessage, Notice, Outcome, Page, PageRow, Requires, Step,
    StepAction, TurnOrigin, TurnOutcome, Usage,
};
use avocet_safety as safety;

/// So many turns in a row without progress pause the goal.
const STALLED: u8 = 2;

pub(super) async fn handle(session: &mut Session, request: GoalRequest) {
    match request {
        GoalRequest::Show => show(session).await,
        GoalRequest::Clear if session.info.goal.is_none() => none(session).await,
        GoalRequest::Clear => {
            save(session, None).await;
            session.notify(Notice::info(phrases::CLEARED)).await;
        }
        GoalRequest::Resume => resume(session).await,
        GoalRequest::Set { max_cost: Some(_), .. }
            if session.resources.model.connected.model.prices().is_none() =>
        {
            let model = session.resources.model.connected.model.name().to_owned();
            session.notify(Notice::error(phrases::NO_PRICE.with("model", model))).await;
            session.outbox.send(Event::GoalSet { goal: session.info.goal.clone() }).await;
        }
        GoalRequest::Set { text, until, max_cost } => {
            let cost_before = session.info.usage.cost;
            let goal = Goal { text, until, max_cost, cost_before, ..Goal::default() };
            save(session, Some(goal)).await;
            session.conversation.goal = GoalProgress::default();
            if session.running.is_none() {
                start(session).await;
            } else {
                session.notify(Notice::info(phrases::LATER)).await;
            }
        }
    }
}

async fn none(session: &mut Session) {
    session.notify(Notice::info(phrases::NONE)).await;
}

async fn save(session: &mut Session, goal: Option<Goal>) {
    session.info.goal = goal.map(Box::new);
    let goal = session.info.goal.clone();
    session.outbox.send(Event::GoalSet { goal }).await;
    session.send_info().await;
}

async fn show(session: &mut Session) {
    let Some(goal) = session.info.goal.clone() else { return none(session).await };
    let met_when = match goal.until.clone() {
        Some(command) => phrases::BY_COMMAND.with("command", command),
        None => phrases::BY_MODEL.into(),
    };
    let state = if goal.is_paused { phrases::PAUSED_STATE } else { phrases::WORKING };
    let cost = goal.cost(session.info.usage).to_string();
    let cost = match goal.max_cost {
        Some(most) => phrases::COST_OF.with("cost", cost).with("most", most.to_string()).into(),
        None => PhraseValue::from(cost),
    };
    let rows = vec![
        PageRow::pair(phrases::TITLE, goal.text),
        PageRow::pair(phrases::MET_WHEN, met_when),
        PageRow::pair(mcp_pages::STATE, state.with("n", goal.turns)),
        PageRow::pair(phrases::COST, cost),
    ];
    let page = Page { title: phrases::TITLE.into(), rows };
    session.outbox.send(Event::Page(Box::new(page))).await;
}

async fn resume(session: &mut Session) {
    match session.info.goal.as_deref() {
        None => none(session).await,
        Some(goal) if goal.is_paused && session.running.is_none() => {
            let goal = Goal { is_paused: false, ..goal.clone() };
            save(session, Some(goal)).await;
            session.conversation.goal = GoalProgress::default();
            start(session).await;
        }
        Some(_) => show(session).await,
    }
}

/// A goal that has a command may be met already; what the model judges needs work first.
async fn start(session: &mut Session) {
    let Some(goal) = session.info.goal.as_deref() else { return };
    if goal.until.is_some() {
        judge(session);
    } else {
        let text = phrases::BEGIN.with("text", goal.text.as_str());
        work(session, text).await;
    }
}

/// The goal of a resumed session, which asks before it goes on.
pub(super) async fn restore(session: &mut Session, goal: Option<Box<Goal>>) {
    session.info.goal = goal.map(|goal| Box::new(Goal { is_paused: true, ..*goal }));
    if session.info.goal.is_some() {
        session.send_info().await;
        if session.resources.servers.has_user() {
            session.follow([SessionEffect::Ask(SessionQuestion::Goal)]).await;
        }
    }
}

/// After a turn ended, and unless a message of the user began the next one.
pub(super) async fn follow_turn(session: &mut Session, outcome: TurnOutcome) {
    let Some(goal) = session.info.goal.clone().filter(|goal| goal.is_active()) else { return };
    if session.running.is_some() {
        return;
    }
    let progress = &mut session.conversation.goal;
    let was_judged = std::mem::take(&mut progress.is_judging);
    let verdict = progress.verdict.take();
    if !was_judged {
        let has_worked = session.info.steps > progress.steps && outcome == TurnOutcome::Done;
        progress.stalled = if has_worked { 0 } else { progress.stalled + 1 };
    }
    match outcome {
        TurnOutcome::Cancelled | TurnOutcome::Stopped | TurnOutcome::Interrupted => {
            pause(session, phrases::WHY_STOPPED.into()).await;
        }
        TurnOutcome::Done if !was_judged => judge(session),
        TurnOutcome::Done => {
            let found = match &goal.until {
                Some(command) => verdict_of_command(session, command),
                None => verdict.unwrap_or(GoalVerdict::Unclear(phrases::WHY_NOT_JUDGED.into())),
            };
            follow_verdict(session, &goal, found).await;
        }
        TurnOutcome::Failed { why } | TurnOutcome::Unsent { why } if was_judged => {
            pause(session, phrases::WHY_NO_MODEL.with("why", why)).await;
        }
        // The limit that ended the turn is the reason for the pause.
        TurnOutcome::Limit { .. } if goal.is_spent(session.info.usage) => {
            go_on(session, &goal, None).await
        }
        TurnOutcome::Failed { why } | TurnOutcome::Unsent { why } | TurnOutcome::Limit { why } => {
            go_on(session, &goal, Some(why)).await
        }
        TurnOutcome::Error => go_on(session, &goal, None).await,
    }
}

async fn follow_verdict(session: &mut Session, goal: &Goal, verdict: GoalVerdict) {
    match verdict {
        GoalVerdict::Met => {
            let cost = goal.cost(session.info.usage);
            let say = match session.resources.model.connected.model.prices() {
                Some(_) => phrases::MET_FOR.with("cost", cost.to_string()),
                None => phrases::MET.into(),
            };
            session.notify(Notice::info(say.with("turns", goal.turns))).await;
            save(session, None).await;
        }
        GoalVerdict::NotMet(why) => {
            go_on(session, goal, Some(phrases::NOT_MET.with("why", why))).await;
        }
        GoalVerdict::Unclear(why) => pause(session, why).await,
    }
}

/// The next turn, unless a limit is met.
async fn go_on(session: &mut Session, goal: &Goal, why: Option<LocalizedText>) {
    match goal.max_cost {
        Some(most) if goal.is_spent(session.info.usage) => {
            let cost = goal.cost(session.info.usage);
            let say = phrases::WHY_COST.with("cost", cost.to_string());
            tell(session, why).await;
            pause(session, say.with("most", most.to_string())).await;
        }
        _ if session.conversation.goal.stalled >= STALLED => {
            tell(session, why).await;
            pause(session, phrases::WHY_STALLED.into()).await;
        }
        _ => {
            let why = why.filter(|_| goal.turns > 0);
            let text = match why {
                Some(why) => phrases::CONTINUE.with("why", why),
                None => phrases::BEGIN.into(),
            };
            work(session, text.with("text", &*goal.text)).await;
        }
    }
}

/// What the next turn would have begun with.
async fn tell(session: &mut Session, why: Option<LocalizedText>) {
    if let Some(why) = why {
        session.notify(Notice::info(why)).await;
    }
}

async fn work(session: &mut Session, text: LocalizedText) {
    let Some(goal) = session.info.goal.as_deref() else { return };
    let text = match goal.until.clone().filter(|_| goal.turns == 0) {
        Some(command) => phrases::CHECKED_BY.with("text", text).with("command", command),
        None => text,
    };
    let goal = Goal { turns: goal.turns + 1, ..goal.clone() };
    save(session, Some(goal)).await;
    session.conversation.goal.steps = session.info.steps;
    let input = UserInput::Text(text.text(session.info.lang));
    session.begin(input, TurnOrigin::Queue).await;
}

async fn pause(session: &mut Session, why: LocalizedText) {
    let Some(goal) = session.info.goal.as_deref() else { return };
    let goal = Goal { is_paused: true, ..goal.clone() };
    let notice = Notice::warning(phrases::PAUSED.with("why", why));
    session.notify(notice.with_hint(phrases::PAUSED_HINT)).await;
    save(session, Some(goal)).await;
}

fn judge(session: &mut Session) {
    let Some(goal) = session.info.goal.as_deref().cloned() else { return };
    session.conversation.goal.is_judging = true;
    match goal.until {
        Some(line) => session.start_turn(|scope| judge_by_command(scope, line)),
        None => session.start_turn(|scope| judge_by_model(scope, goal.text)),
    }
}

/// What the last step, which was the command, says.
fn verdict_of_command(session: &mut Session, command: &str) -> GoalVerdict {
    let last = session.conversation.record().iter().rev().find_map(|event| match event {
        Event::StepFinished(seen) => Some((seen.outcome, seen.exit_code)),
        _ => None,
    });
    match last {
        Some((Outcome::Ran, Some(0))) => GoalVerdict::Met,
        Some((Outcome::Ran, Some(code))) => {
            let why = phrases::EXITED.with("command", command).with("code", i64::from(code));
            GoalVerdict::NotMet(why.into())
        }
        _ => GoalVerdict::Unclear(phrases::WHY_NOT_RUN.with("command", command)),
    }
}

/// Runs the line like a step of the model, with its questions and its sandbox: what it runs may have
/// changed since the user typed it.
async fn judge_by_command(mut scope: TurnScope, line: String) -> FinishedTurn {
    scope.begin(format!("!{line}"), TurnOrigin::Shell);
    scope.await_sandbox_status().await;
    let work = StepAction::exec("bash", &["-lc", &line]);
    let step = Step { id: scope.next_step_id(), work, requires: Requires::default(), cwd: None };
    let verdict = safety::assess(step, scope.policy_context());
    let (outcome, seen) = shell_turn::run_or_ask(verdict, BackgroundUse::Never, &mut scope).await;
    let record = shell_turn::turn_record(&line, &seen);
    scope.end(outcome, record, Usage::default()).await
}

const JUDGE: &str = "Is this goal met? Judge by what the conversation shows, not by what it promises. \
    Call no tool. Answer with one line only: `MET`, or `NOT MET: ` and in one sentence what is \
    missing, in the language of the goal.\n\nGoal: ";

async fn judge_by_model(mut scope: TurnScope, goal: String) -> FinishedTurn {
    let shown = phrases::JUDGING.with("text", goal.as_str()).text(scope.context.lang);
    scope.begin(shown, TurnOrigin::Command);
    let cancel = scope.context.cancel.clone();
    let web_is_off = scope.policy_context().policy.web.is_off;
    let question = format!("{JUDGE}{goal}");
    let TurnConversation { instructions, history, .. } = &scope.conversation;
    let asked = side_request::ask(&scope.context, instructions, history, web_is_off, &question);
    let (outcome, usage) = match cancel.run_until_cancelled(asked).await {
        None => (TurnOutcome::Cancelled, Usage::default()),
        Some(Err(why)) => (TurnOutcome::Failed { why }, Usage::default()),
        Some(Ok((answer, usage))) => {
            let verdict = verdict_of_answer(&answer);
            // What follows from the other verdicts says them.
            if matches!(verdict, GoalVerdict::Unclear(_)) {
                let reply = ModelMessage { message: answer, ..ModelMessage::default() };
                scope.events.emit(Event::Replied(reply)).await;
            }
            scope.shared.spending.add(usage);
            scope.events.notify(TurnMessage::Side(SideMessage::GoalJudged(verdict)));
            (TurnOutcome::Done, usage)
        }
    };
    scope.end(outcome, TurnRecord::default(), usage).await
}

/// Anything but the two answers says nothing.
fn verdict_of_answer(answer: &str) -> GoalVerdict {
    let line = answer.trim().trim_matches(['`', '*', '"']);
    let why = line.strip_prefix("NOT MET").map(|why| why.trim_start_matches([':', '`', '*', ' ']));
    match (line.trim_end_matches('.'), why) {
        ("MET", _) => GoalVerdict::Met,
        (_, Some(why)) if !why.is_empty() => GoalVerdict::NotMet(why.into()),
        _ => GoalVerdict::Unclear(phrases::WHY_NOT_JUDGED.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_answers_asked_for_judge_a_goal() {
        assert_eq!(verdict_of_answer("MET\n"), GoalVerdict::Met);
        assert_eq!(
            verdict_of_answer("`MET`."),
            GoalVerdict::Unclear(phrases::WHY_NOT_JUDGED.into())
        );
        let missing = GoalVerdict::NotMet("two tests fail.".into());
        assert_eq!(verdict_of_answer("NOT MET: two tests fail."), missing);
        for nonsense in ["", "yes", "METRIC", "NOT MET", "I think it is MET"] {
            let unclear = GoalVerdict::Unclear(phrases::WHY_NOT_JUDGED.into());
            assert_eq!(verdict_of_answer(nonsense), unclear, "{nonsense}");
        }
    }
}
