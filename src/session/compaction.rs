//! Keeps the context of a session small: before the first call of a turn, it reads changed project
//! instructions and compresses a history that is too long; `/compress` and `/recall` do so at the
//! user's request. `context::compact` decides what to cut and what to sum up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::json;

use super::masked_turn::mask_message;
use super::persistence::SessionStore;
use super::state::Session;
use super::turn_messages::{FinishedTurn, TurnMessage};
use super::turn_scope::{InstructionsCheck, TurnScope};
use crate::context::compact::{self, CompactionPlan, CompactionTrigger};
use crate::context::history::{History, Summary, TurnRecord};
use crate::context::window::Bounds;
use avocet_config::project_instructions::{self, InstructionSources, ProjectInstructions};
use avocet_core::i18n::{Localize, LocalizedText, context as phrases};
use avocet_core::protocol::{
    Compaction, DroppedPart, Event, InstructionFile, Message, Notice, Observation, Outcome,
    PlanItem, StepAction, Topic, TurnOrigin, TurnOutcome,
};
use avocet_core::text;
use avocet_core::text::cut_middle;
use avocet_model::{Chunk, Model, Request};
use avocet_safety::Judgement;
use avocet_safety::redact::Redactor;

/// The maximum size of a summary, in bytes; a longer answer is not used.
const MAX_LENGTH: usize = 64 * 1024;

/// A recalled part may take one of this many parts of a request's bytes.
const RECALLED: usize = 13;

pub(super) fn spawn_instructions_check(
    sources: InstructionSources,
    known: &Arc<ProjectInstructions>,
    redactor: &Arc<Redactor>,
) -> InstructionsCheck {
    let known = Arc::clone(known);
    let redactor = Arc::clone(redactor);

    tokio::task::spawn_blocking(move || changed_instructions(&sources, &known, &redactor))
}

impl TurnScope {
    /// The work before the first call of a turn. True if a summary was asked for.
    pub(super) async fn prepare(&mut self) -> bool {
        self.refresh_instructions().await;
        if compact::is_due(&self.context.history, self.context.bounds) {
            let mut history = History::clone(&self.context.history);
            let before = compact::measure(&history).before;
            let shortened = compact::shrink(&mut history);
            return self.sum_up_past(history, before, shortened, self.context.bounds).await;
        }
        false
    }

    /// A plan counts from the next call on, however long the turn becomes.
    pub(super) fn set_plan(&mut self, items: &[PlanItem]) {
        let redactor = Arc::clone(&self.context.redactor);
        let history = Arc::make_mut(&mut self.context.history);
        history.replace_plan(self.turn, items, |text| *text = redactor.mask(text).into_owned());
    }

    async fn refresh_instructions(&mut self) {
        let looking = self.instructions_check.take().unwrap_or_else(|| {
            spawn_instructions_check(
                InstructionSources {
                    folder: self.judge.folder().to_owned(),
                    trusted: self.judge.is_trusted(),
                    user: self.context.user_notes.clone(),
                    worked_in: self.context.instructions.worked_in.clone(),
                },
                &self.context.instructions,
                &self.context.redactor,
            )
        });
        if let Ok(Some(found)) = looking.await {
            self.context.instructions = Arc::clone(&found);
            self.notify(TurnMessage::InstructionsRead(found));
        }
    }

    /// Instructions of the folder that a step works in count from the next request on.
    pub(super) fn note_work(&mut self, judged: &Judgement) {
        let place = self.judge.place();
        if !place.trusted {
            return;
        }
        let Some(folder) = worked_in(judged) else { return };
        let Some(root) = place.root_of(&folder) else { return };
        let unread = self.context.instructions.unread_folders(&folder, root);
        if !unread.is_empty() {
            let root = root.to_owned();
            let instructions = Arc::make_mut(&mut self.context.instructions);
            instructions.worked_in.extend(unread.into_iter().map(|folder| (folder, root.clone())));
        }
    }

    /// Reads the instructions of the folders to which work went since the last request.
    pub(super) async fn follow_work(&mut self) {
        if !self.context.instructions.has_unread() {
            return;
        }
        let before = Arc::clone(&self.context.instructions);
        self.refresh_instructions().await;
        let now = Arc::clone(&self.context.instructions);
        let is_new = |file: &&InstructionFile| {
            before.notes.files.iter().all(|known| known.path != file.path)
        };
        for file in now.notes.files.iter().filter(is_new) {
            let say = phrases::NOTES_FOLLOWED.with("path", file.path.as_str());
            self.emit(Event::Notice(Notice::info(say))).await;
        }
    }

    /// After the parts that needed no model, one request if that was not enough. True if there
    /// was one.
    pub(super) async fn sum_up_past(
        &mut self,
        mut history: History,
        before: usize,
        parts: Vec<DroppedPart>,
        bounds: Bounds,
    ) -> bool {
        let mut asks = false;
        let mut compaction = Compaction { before, shortened: parts, ..compact::measure(&history) };
        let due = compact::is_due(&history, bounds)
            && compact::can_compact(&history, CompactionTrigger::Automatic);
        let plan = compact::plan(&history, bounds, CompactionTrigger::Automatic).filter(|_| due);
        if let (Some(plan), Some(model)) = (plan, self.context.summarizer.model()) {
            asks = true;
            let summed = match self.run_hooks_before_compaction("auto", "").await {
                Ok(()) => self.summarize(&mut history, plan, None, model).await,
                Err(why) => Err(why),
            };
            match summed {
                Ok(summed) => {
                    compaction = Compaction { before, shortened: compaction.shortened, ..summed }
                }
                Err(why) => {
                    compact::record_failure(&mut history);
                    self.emit(Event::Notice(Notice::warning(phrases::SUM_FAILED.with("why", why))))
                        .await;
                }
            }
        }
        self.set_history(history, compaction).await;
        asks
    }

    /// Sets the compressed history, and reports what happened to the rest.
    async fn set_history(&mut self, history: History, compaction: Compaction) {
        let history = Arc::new(history);
        self.context.history = Arc::clone(&history);
        self.notify(TurnMessage::HistoryCompacted(history));
        if !compaction.shortened.is_empty() || compaction.summary.is_some() {
            self.emit(Event::Compacted(Box::new(compaction))).await;
        }
    }

    /// Sends one request. The history changes only if it returns a summary.
    async fn summarize(
        &mut self,
        history: &mut History,
        plan: CompactionPlan,
        focus: Option<&str>,
        model: Arc<dyn Model>,
    ) -> Result<Compaction, LocalizedText> {
        let messages = compact::summary_request(history, plan, focus, self.context.bounds);
        let summary = self.request_summary(model, messages, &history.summary).await?;
        let receipt = compact::apply(history, plan, summary);
        Ok(Compaction { focus: focus.map(str::to_owned), ..receipt })
    }

    /// The model's answer to such a request, masked.
    pub(super) async fn request_summary(
        &mut self,
        model: Arc<dyn Model>,
        messages: Vec<Message>,
        before_summary: &Summary,
    ) -> Result<Summary, LocalizedText> {
        self.emit(Event::Compacting).await;
        let request = Request {
            messages: messages
                .into_iter()
                .map(|message| mask_message(&self.context.redactor, message))
                .collect(),
            schema: Some(Arc::new(schema())),
            restarts: true,
            ..Request::default()
        };
        let text = self.collect_answer(model.stream(request)).await?;
        let Some(mut summary) = compact::parse_summary(&text, before_summary) else {
            return Err(phrases::SUM_NONSENSE.into());
        };
        mask_summary(&self.context.redactor, &mut summary);
        Ok(summary)
    }

    /// A whole answer that is not shown to the user.
    async fn collect_answer(
        &mut self,
        mut stream: futures_util::stream::BoxStream<
            'static,
            Result<Chunk, avocet_model::ModelError>,
        >,
    ) -> Result<String, LocalizedText> {
        let mut text = String::new();
        while let Some(chunk) = stream.next().await {
            match chunk.map_err(|error| error.localized())? {
                Chunk::Text(more) => text.push_str(&more),
                Chunk::Usage(usage) => self.account.add_extra(usage, &self.shared.spending),
                Chunk::Finished(Some(_)) => return Err(phrases::SUM_CUT.into()),
                Chunk::Retrying { attempt, of, wait_ms, why } => {
                    self.emit(Event::Retrying { attempt, of, wait_ms, why }).await;
                }
                Chunk::Restart => text.clear(),
                Chunk::Thought(_)
                | Chunk::CallProgress { .. }
                | Chunk::Paused
                | Chunk::Source(_)
                | Chunk::Gap
                | Chunk::Notice(_)
                | Chunk::SealedText(_)
                | Chunk::SealedThought(_)
                | Chunk::Call(_)
                | Chunk::Finished(None) => {}
            }
            if text.len() > MAX_LENGTH {
                return Err(phrases::SUM_NONSENSE.into());
            }
        }
        Ok(text)
    }

    /// `/compress`: its own turn, so that it is shown, counted and stopped like one.
    async fn compress(mut self, focus: Option<String>, plan: CompactionPlan) -> FinishedTurn {
        let words = focus.as_deref().map_or(String::new(), |focus| format!(" {focus}"));
        self.begin(format!("/compress{words}"), TurnOrigin::Typed);
        let cancel = self.context.cancel.clone();
        let asked = focus.clone().unwrap_or_default();
        let ending = match self.run_hooks_before_compaction("manual", &asked).await {
            Err(why) => TurnOutcome::Failed { why },
            Ok(()) => tokio::select! {
                biased;
                () = cancel.cancelled() => TurnOutcome::Cancelled,
                ending = self.compress_now(plan, focus) => ending,
            },
        };
        let usage = self.account.extra;
        self.end(ending, TurnRecord::default(), usage).await
    }

    async fn compress_now(&mut self, plan: CompactionPlan, focus: Option<String>) -> TurnOutcome {
        let Some(model) = self.context.summarizer.model() else { return TurnOutcome::Done };
        let mut history = History::clone(&self.context.history);
        match self.summarize(&mut history, plan, focus.as_deref(), model).await {
            Ok(receipt) => {
                self.set_history(history, receipt).await;
                TurnOutcome::Done
            }
            Err(why) => TurnOutcome::Failed { why: phrases::SUM_FAILED.with("why", why) },
        }
    }
}

/// The folder that a step works in, links resolved.
fn worked_in(judged: &Judgement) -> Option<PathBuf> {
    let path = match &judged.step.work {
        StepAction::Tool { name, input } if name.starts_with("file.") => {
            judged.cwd.join(input.get("path")?.as_str()?)
        }
        StepAction::Tool { .. } => return None,
        StepAction::Exec { .. } | StepAction::Shell { .. } => judged.cwd.clone(),
    };
    let path = path.canonicalize().ok()?;
    if path.is_dir() { Some(path) } else { path.parent().map(Path::to_owned) }
}

/// The changes since; `None` if there are none.
fn changed_instructions(
    sources: &InstructionSources,
    instructions: &ProjectInstructions,
    redactor: &Redactor,
) -> Option<Arc<ProjectInstructions>> {
    if !instructions.is_stale(sources) {
        return None;
    }
    let mut found = project_instructions::read(sources);
    found.notes.text = redactor.mask(&found.notes.text).into_owned();
    Some(Arc::new(found))
}

/// The JSON Schema of the answer, for servers that enforce one.
fn schema() -> serde_json::Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "properties": { "summary": { "type": "string" }, "keyFacts": texts, "openTasks": texts },
        "required": ["summary", "keyFacts", "openTasks"],
        "additionalProperties": false,
    })
}

fn mask_summary(redactor: &Redactor, summary: &mut Summary) {
    let Summary { summary, key_facts, open_tasks } = summary;
    for text in std::iter::once(summary).chain(key_facts).chain(open_tasks) {
        *text = redactor.mask(text).into_owned();
    }
}

impl Session {
    /// `/compress [focus]`.
    pub(super) async fn compress(&mut self, focus: Option<String>) {
        let history = &self.conversation.history;
        let summarizer = self.model.summarizer(self.info.lang);
        let refused = if summarizer.model().is_none() {
            Some(phrases::SUM_NO_MODEL)
        } else if !compact::can_compact(history, CompactionTrigger::Manual) {
            Some(phrases::SUMMED_ALREADY)
        } else {
            None
        };
        let plan = compact::plan(history, self.model.request_bounds(), CompactionTrigger::Manual);
        let refusal = |word| Notice::info(word).with_topic(Topic::NotCompressed);
        match (refused, plan) {
            (Some(word), _) => self.notify(refusal(word)).await,
            (None, None) => self.notify(refusal(phrases::NOTHING_TO_SUM)).await,
            (None, Some(plan)) if self.is_idle() => {
                let focus = focus.map(|focus| self.security.redactor.mask(&focus).into_owned());
                self.start_turn(|scope| scope.compress(focus, plan));
            }
            // A frontend waits for the end of the turn before it sends this.
            (None, Some(_)) => {}
        }
    }

    /// `/recall ID`. A part that is no longer in memory is read from the store.
    pub(super) async fn recall(&mut self, id: &str) {
        let record = self.conversation.record();
        let text = match self.store.part(id, record, &self.security.redactor).await {
            Ok(text) => text,
            Err(hint) => {
                let notice = Notice::error(phrases::NO_PART.with("id", id)).with_hint(hint);
                return self.notify(notice).await;
            }
        };
        let text = cut_middle(&text, self.model.request_bounds().room.bytes / RECALLED);
        let size = text::size(text.len());
        let notice = if Arc::make_mut(&mut self.conversation.history).recall(id, text) {
            phrases::RECALLED.with("id", id).with("size", size)
        } else {
            phrases::RECALLED_ALREADY.with("id", id)
        };
        // The entries of a running turn come after it.
        let behind = self.info.turns - u64::from(!self.is_idle());
        self.store.save_outline(behind, &self.conversation.history).await;
        self.notify(Notice::info(notice)).await;
    }
}

impl SessionStore {
    /// The text of a turn or a step, masked; otherwise what there is. `record`: what is in memory.
    pub async fn part(
        &self,
        id: &str,
        record: &[Event],
        redactor: &Redactor,
    ) -> Result<String, LocalizedText> {
        let text = match part_text(record, id) {
            Some(text) => Some(text),
            None => part_text(&self.part_events(id).await, id),
        };
        if let Some(text) = text {
            return Ok(redactor.mask(&text).into_owned());
        }
        let mut ends = self.first_and_last().await;
        ends.extend(record.iter().cloned());
        Err(match id_ranges(&ends) {
            ids if ids.is_empty() => phrases::NO_PART_YET.into(),
            ids => phrases::NO_PART_HERE.with("ids", ids),
        })
    }

    /// The first and the last number of its steps.
    pub async fn step_numbers(&self, record: &[Event]) -> Option<(u64, u64)> {
        let ends = self.first_and_last().await;
        let numbers = ends.iter().chain(record).filter_map(step_number);
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
