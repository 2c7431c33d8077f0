//! Keeps the context of a session small: before the first call of a turn, it reads changed project
//! instructions and compresses a history that is too long; `/compress` and `/recall` do so at the
//! user's request. `context::compact` decides what to cut and what to sum up.

use std::sync::Arc;

use super::conversation::Conversation;
use super::model_selection::ModelSelection;
use super::persistence::SessionStore;
use super::session_effects::SessionEffect;
use super::turn_messages::FinishedTurn;
use super::turn_scope::TurnScope;
use crate::context::compact::{self, CompactionPlan, CompactionTrigger};
use crate::context::history::{History, TurnRecord};
use avocet_core::i18n::{LocalizedText, context as phrases};
use avocet_core::protocol::{
    Event, Notice, Observation, Outcome, SessionInfo, Topic, TurnOrigin, TurnOutcome,
};
use avocet_core::text;
use avocet_core::text::cut_middle;
use avocet_safety::redact::Redactor;

/// A recalled part may take one of this many parts of a request's bytes.
const RECALLED: usize = 13;

/// `/compress`: its own turn, so that it is shown, counted and stopped like one.
pub(super) async fn compress(
    mut scope: TurnScope,
    focus: Option<String>,
    plan: CompactionPlan,
) -> FinishedTurn {
    let words = focus.as_deref().map_or(String::new(), |focus| format!(" {focus}"));
    scope.begin(format!("/compress{words}"), TurnOrigin::Typed);
    let cancel = scope.context.cancel.clone();
    let asked = focus.as_deref().unwrap_or_default();
    let (conversation, mut parts) = scope.split();
    let ending = match parts.run_hooks_before_compaction("manual", asked).await {
        Err(why) => TurnOutcome::Failed { why },
        Ok(()) => tokio::select! {
            biased;
            () = cancel.cancelled() => TurnOutcome::Cancelled,
            ending = conversation.compress(plan, focus.as_deref(), &mut parts) => ending,
        },
    };
    let usage = scope.account.extra;
    scope.end(ending, TurnRecord::default(), usage).await
}

/// What `/compress` starts.
pub(super) fn start(
    focus: Option<&str>,
    history: &History,
    model: &ModelSelection,
    info: &SessionInfo,
    redactor: &Redactor,
) -> SessionEffect {
    let refusal = |word| Notice::info(word).with_topic(Topic::NotCompressed).into();
    if model.summarizer(info.lang).model().is_none() {
        return refusal(phrases::SUM_NO_MODEL);
    }
    if !compact::can_compact(history, CompactionTrigger::Manual) {
        return refusal(phrases::SUMMED_ALREADY);
    }
    match compact::plan(history, model.request_bounds(), CompactionTrigger::Manual) {
        None => refusal(phrases::NOTHING_TO_SUM),
        Some(plan) => {
            let focus = focus.map(|focus| redactor.mask(focus).into_owned());
            SessionEffect::Compress { focus, plan }
        }
    }
}

impl Conversation {
    /// `/recall ID`. A part that memory lost is read from the store. `last`: the last turn
    /// that ended; `room`: the bytes of a request.
    pub(super) async fn recall(
        &mut self,
        id: &str,
        last: u64,
        room: usize,
        store: &SessionStore,
        redactor: &Redactor,
    ) -> Notice {
        let text = match store.part(id, self.record(), redactor).await {
            Ok(text) => text,
            Err(hint) => return Notice::error(phrases::NO_PART.with("id", id)).with_hint(hint),
        };
        let text = cut_middle(&text, room / RECALLED);
        let size = text::size(text.len());
        let notice = if Arc::make_mut(&mut self.history).recall(id, text) {
            phrases::RECALLED.with("id", id).with("size", size)
        } else {
            phrases::RECALLED_ALREADY.with("id", id)
        };
        store.save_outline(last, &self.history).await;
        Notice::info(notice)
    }
}

impl SessionStore {
    /// The text of a turn or a step, masked; otherwise what there is. `events`: what is in memory.
    pub async fn part(
        &self,
        id: &str,
        events: &[Event],
        redactor: &Redactor,
    ) -> Result<String, LocalizedText> {
        let text = match part_text(events, id) {
            Some(text) => Some(text),
            None => part_text(&self.part_events(id).await, id),
        };
        if let Some(text) = text {
            return Ok(redactor.mask(&text).into_owned());
        }
        let mut ends = self.first_and_last().await;
        ends.extend(events.iter().cloned());
        Err(match id_ranges(&ends) {
            ids if ids.is_empty() => phrases::NO_PART_YET.into(),
            ids => phrases::NO_PART_HERE.with("ids", ids),
        })
    }

    /// The first and the last number of its steps.
    pub async fn step_numbers(&self, events: &[Event]) -> Option<(u64, u64)> {
        let ends = self.first_and_last().await;
        let numbers = ends.iter().chain(events).filter_map(step_number);
        numbers.fold(None, |known, number| {
            let (from, to) = known.unwrap_or((number, number));
            Some((from.min(number), to.max(number)))
        })
    }
}

/// The number of a step: 12 for `cmd_012`.
fn step_number(event: &Event) -> Option<u64> {
    match event {
        Event::StepFinished(seen) => seen.step.id.strip_prefix("cmd_")?.parse().ok(),
        _ => None,
    }
}

/// The text of a part, from the shown events.
pub(super) fn part_text(events: &[Event], id: &str) -> Option<String> {
    match id.strip_prefix("turn_") {
        Some(number) => turn_text(events, number.parse().ok()?),
        None => events.iter().rev().find_map(|event| match event {
            Event::StepFinished(observation) if observation.step.id == id => {
                Some(step_text(observation))
            }
            _ => None,
        }),
    }
}

fn turn_text(events: &[Event], number: u64) -> Option<String> {
    let is_it = |event: &Event| matches!(event, Event::TurnStarted { turn, .. } if *turn == number);
    let start = events.iter().rposition(is_it)?;
    let mut out = String::new();
    for (at, event) in events.iter().skip(start).enumerate() {
        match event {
            Event::TurnStarted { .. } if at > 0 => break,
            Event::TurnStarted { text, .. } | Event::Steered { text, .. } => {
                out.push_str(&format!("person: {text}\n"));
            }
            Event::Replied(replied) => out.push_str(&format!("agent: {}\n", replied.message)),
            Event::StepFinished(observation) => out.push_str(&step_text(observation)),
            _ => {}
        }
    }
    Some(out)
}

fn step_text(observation: &Observation) -> String {
    let line = observation.step.work.command_line();
    let ran = match observation.outcome {
        Outcome::Ran | Outcome::Edited | Outcome::TimedOut | Outcome::Interrupted => "ran",
        Outcome::Cancelled if observation.duration_ms > 0 => "ran",
        Outcome::Declined | Outcome::Refused | Outcome::NotStarted | Outcome::Cancelled => {
            "not run"
        }
    };
    let output = if observation.stdout.is_empty() && observation.stderr.is_empty() {
        "(no output)"
    } else {
        ""
    };
    format!("{ran}: {line}\n{output}{}{}\n", observation.stdout, observation.stderr)
}

/// The first and last ids of each kind.
fn id_ranges(events: &[Event]) -> String {
    let turns = events.iter().filter_map(|event| match event {
        Event::TurnStarted { turn, .. } => Some(format!("turn_{turn}")),
        _ => None,
    });
    let steps = events.iter().filter_map(|event| match event {
        Event::StepFinished(observation) => Some(observation.step.id.clone()),
        _ => None,
    });
    let range = |ids: Vec<String>| match (ids.first(), ids.last()) {
        (Some(first), Some(last)) if first != last => Some(format!("{first} … {last}")),
        (Some(first), _) => Some(first.clone()),
        _ => None,
    };
    let both: Vec<String> =
        [range(turns.collect()), range(steps.collect())].into_iter().flatten().collect();
    both.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::{Requires, Risk, Step, StepAction, Tier};

    #[test]
    fn a_step_that_did_not_run_says_so_in_its_output() {
        let risk = Risk {
            tier: Tier::L1,
            rule: "x".into(),
            reasons: vec![],
            effects: vec![],
            lifted: false,
        };
        for (outcome, stdout, expected) in [
            (Outcome::Ran, "made\n", "ran: touch a\nmade\n\n"),
            (Outcome::Ran, "", "ran: touch a\n(no output)\n"),
            (Outcome::Declined, "", "not run: touch a\n(no output)\n"),
            (Outcome::Cancelled, "", "not run: touch a\n(no output)\n"),
        ] {
            let work = StepAction::exec("touch", &["a"]);
            let requires = Requires::default();
            let step = Step { id: "cmd_001".into(), work, requires, cwd: None };
            let mut seen = Observation::not_run(step, "/w", risk.clone(), outcome);
            seen.stdout = stdout.into();
            assert_eq!(step_text(&seen), expected, "{outcome:?}");
        }
    }
}
