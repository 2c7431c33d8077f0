//! The conversation as the requests of a running turn hold it. It makes room in them when the turn
//! grows: past turns first, then results of the turn's first steps, then a summary of those. Each
//! time a receipt tells what is left out.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::masked_turn::MaskedTurn;
use super::turn_messages::TurnMessage;
use super::turn_parts::TurnParts;
use crate::context::compact::{self, CompactionPlan, CompactionTrigger};
use crate::context::history::{History, Summary, TurnRecord};
use crate::context::message_size::messages_size;
use crate::context::request;
use crate::context::size::ContextSize;
use crate::context::turn_compaction::{TurnCompaction, TurnIndex};
use crate::context::window::{Bounds, ContextUsage, RequestParts, Section};
use avocet_config::project_instructions::{self, InstructionSources, ProjectInstructions};
use avocet_core::i18n::{LocalizedText, context as phrases};
use avocet_core::protocol::{
    Compaction, CompactionSummary, Dialect, DroppedPart, Event, InstructionFile, Message, Notice,
    PlanItem, StepAction, TurnOutcome,
};
use avocet_core::text;
use avocet_model::Model;
use avocet_safety::redact::Redactor;
use avocet_safety::{Judgement, Workspace};

/// The part of the room that past turns may keep when a turn needs it.
const PAST: usize = 4;

/// Number of compactions without a summary after one that failed.
const PAUSE: usize = 3;

/// A check of the project instructions; `None` in it: they have not changed.
pub type InstructionsCheck = tokio::task::JoinHandle<Option<Arc<ProjectInstructions>>>;

pub fn spawn_instructions_check(
    sources: InstructionSources,
    known: &Arc<ProjectInstructions>,
    redactor: &Arc<Redactor>,
) -> InstructionsCheck {
    let known = Arc::clone(known);
    let redactor = Arc::clone(redactor);

    tokio::task::spawn_blocking(move || changed_instructions(&sources, &known, &redactor))
}

/// What comes before all messages of a request.
#[derive(Clone, Copy, Debug)]
pub struct Preamble<'a> {
    pub system: &'a str,
    /// What the descriptions of the tools take.
    pub tools: ContextSize,
}

pub struct TurnConversation {
    pub history: Arc<History>,
    pub instructions: Arc<ProjectInstructions>,
    user_notes: Vec<PathBuf>,
    /// A running check for changed project instructions.
    pub instructions_check: Option<InstructionsCheck>,
    /// The work before the first call has been done.
    pub is_prepared: bool,
    /// The messages of the turn, of the last request.
    masked: MaskedTurn,
    /// What is left out of them.
    compaction: TurnCompaction,
    /// Number of compactions of the turn before a summary is asked for again.
    summary_pause: usize,
}

impl TurnConversation {
    pub fn new(
        history: Arc<History>,
        instructions: Arc<ProjectInstructions>,
        user_notes: Vec<PathBuf>,
        bounds: Bounds,
    ) -> TurnConversation {
        TurnConversation {
            history,
            instructions,
            user_notes,
            instructions_check: None,
            is_prepared: false,
            masked: MaskedTurn::default(),
            compaction: TurnCompaction::new(bounds.room),
            summary_pause: 0,
        }
    }

    /// That of a subagent, which begins without a history.
    pub fn of_subagent(&self, bounds: Bounds) -> TurnConversation {
        let instructions = Arc::clone(&self.instructions);
        TurnConversation::new(Arc::default(), instructions, self.user_notes.clone(), bounds)
    }

    /// Takes the messages of the next request. True if a summary was asked for in the work before
    /// the first call.
    pub async fn prepare(&mut self, messages: Vec<Message>, parts: &mut TurnParts<'_>) -> bool {
        self.masked.update(messages, &parts.context.redactor);
        let mut has_asked = false;
        if !std::mem::replace(&mut self.is_prepared, true) {
            self.refresh_instructions(parts).await;
            has_asked = self.compact_past(parts).await;
            self.warn_of_omitted_words(parts).await;
        }
        self.follow_work(parts).await;
        has_asked
    }

    /// The messages to send, and how the room is divided. `index`: that of the turn's messages;
    /// `None`: nothing is left out of them now.
    pub async fn request(
        &mut self,
        preamble: Preamble<'_>,
        index: Option<TurnIndex>,
        bounds: Bounds,
        has_asked: bool,
        parts: &mut TurnParts<'_>,
    ) -> (Vec<Message>, ContextUsage) {
        if let Some(index) = index {
            let index = mask_index(index, &parts.context.redactor);
            self.make_room(preamble, &index, bounds, has_asked, parts).await;
        }
        let turn = self.masked.messages();
        let view = self.compaction.view(turn);
        let size = |messages: &[Message]| messages.iter().map(Message::len).sum::<usize>();
        let omitted = size(turn).saturating_sub(size(&view));
        let (messages, mut usage) = request::build(self.request_parts(preamble, &view), bounds);
        usage.add_omitted(Section::Turn, omitted);
        (messages, usage)
    }

    /// A plan counts from the next call on, however long the turn becomes.
    pub fn set_plan(&mut self, turn: u64, items: &[PlanItem], redactor: &Redactor) {
        let history = Arc::make_mut(&mut self.history);
        history.replace_plan(turn, items, |text| *text = redactor.mask(text).into_owned());
    }

    async fn refresh_instructions(&mut self, parts: &mut TurnParts<'_>) {
        let looking = self.instructions_check.take().unwrap_or_else(|| {
            spawn_instructions_check(
                InstructionSources {
                    folder: parts.judge.folder().to_owned(),
                    trusted: parts.judge.is_trusted(),
                    user: self.user_notes.clone(),
                    worked_in: self.instructions.worked_in.clone(),
                },
                &self.instructions,
                &parts.context.redactor,
            )
        });
        if let Ok(Some(found)) = looking.await {
            self.instructions = Arc::clone(&found);
            parts.events.notify(TurnMessage::InstructionsRead(found));
        }
    }

    /// Instructions of the folder that a step works in count from the next request on.
    pub fn note_work(&mut self, judged: &Judgement, place: &Workspace) {
        if !place.trusted {
            return;
        }
        let Some(folder) = worked_in(judged) else { return };
        let Some(root) = place.root_of(&folder) else { return };
        let unread = self.instructions.unread_folders(&folder, root);
        if !unread.is_empty() {
            let root = root.to_owned();
            let instructions = Arc::make_mut(&mut self.instructions);
            instructions.worked_in.extend(unread.into_iter().map(|folder| (folder, root.clone())));
        }
    }

    /// Reads the instructions of the folders to which work went since the last request.
    async fn follow_work(&mut self, parts: &mut TurnParts<'_>) {
        if !self.instructions.has_unread() {
            return;
        }
        let before = Arc::clone(&self.instructions);
        self.refresh_instructions(parts).await;
        let now = Arc::clone(&self.instructions);
        let is_new = |file: &&InstructionFile| {
            before.notes.files.iter().all(|known| known.path != file.path)
        };
        for file in now.notes.files.iter().filter(is_new) {
            let say = phrases::NOTES_FOLLOWED.with("path", file.path.as_str());
            parts.events.emit(Event::Notice(Notice::info(say))).await;
        }
    }

    /// After the parts that needed no model, one request if that was not enough. True if there
    /// was one.
    async fn sum_up_past(
        &mut self,
        mut history: History,
        shortened: Vec<DroppedPart>,
        bounds: Bounds,
        parts: &mut TurnParts<'_>,
    ) -> bool {
        let mut asks = false;
        let before = compact::measure(&self.history).before;
        let mut compaction = Compaction { before, shortened, ..compact::measure(&history) };
        let due = compact::is_due(&history, bounds)
            && compact::can_compact(&history, CompactionTrigger::Automatic);
        let plan = compact::plan(&history, bounds, CompactionTrigger::Automatic).filter(|_| due);
        if let (Some(plan), Some(model)) = (plan, parts.context.summarizer.model()) {
            asks = true;
            let summed = match parts.run_hooks_before_compaction("auto", "").await {
                Ok(()) => summarize(&mut history, plan, None, model, parts).await,
                Err(why) => Err(why),
            };
            match summed {
                Ok(summed) => {
                    compaction = Compaction { before, shortened: compaction.shortened, ..summed }
                }
                Err(why) => {
                    compact::record_failure(&mut history);
                    let say = phrases::SUM_FAILED.with("why", why);
                    parts.events.emit(Event::Notice(Notice::warning(say))).await;
                }
            }
        }
        self.set_history(history, compaction, parts).await;
        asks
    }

    /// Sets the compressed history, and reports what happened to the rest.
    async fn set_history(
        &mut self,
        history: History,
        compaction: Compaction,
        parts: &mut TurnParts<'_>,
    ) {
        let history = Arc::new(history);
        self.history = Arc::clone(&history);
        parts.events.notify(TurnMessage::HistoryCompacted(history));
        if !compaction.shortened.is_empty() || compaction.summary.is_some() {
            parts.events.emit(Event::Compacted(Box::new(compaction))).await;
        }
    }

    /// `/compress`: sums up what the plan names.
    pub async fn compress(
        &mut self,
        plan: CompactionPlan,
        focus: Option<&str>,
        parts: &mut TurnParts<'_>,
    ) -> TurnOutcome {
        let Some(model) = parts.context.summarizer.model() else { return TurnOutcome::Done };
        let mut history = History::clone(&self.history);
        match summarize(&mut history, plan, focus, model, parts).await {
            Ok(receipt) => {
                self.set_history(history, receipt, parts).await;
                TurnOutcome::Done
            }
            Err(why) => TurnOutcome::Failed { why: phrases::SUM_FAILED.with("why", why) },
        }
    }

    /// What is sent with these messages of the turn.
    fn request_parts<'a>(
        &'a self,
        preamble: Preamble<'a>,
        messages: &'a [Message],
    ) -> RequestParts<'a> {
        RequestParts {
            system: preamble.system,
            tools: preamble.tools,
            notes: &self.instructions.notes.text,
            history: &self.history,
            turn: messages,
        }
    }

    /// Leaves out what a request would have no room for. `has_asked`: a summary was asked for just
    /// now, and no other is.
    async fn make_room(
        &mut self,
        preamble: Preamble<'_>,
        index: &TurnIndex,
        bounds: Bounds,
        has_asked: bool,
        parts: &mut TurnParts<'_>,
    ) {
        let (leading, past) = request::measure(self.request_parts(preamble, &[]), bounds);
        let own = messages_size(&self.compaction.view(self.masked.messages()));
        if (leading + past + own).fits(bounds.room) {
            return;
        }
        let mut has_asked = has_asked;
        if !past.fits(bounds.room.fraction(PAST)) {
            has_asked |= self.make_room_in_past(bounds, parts).await;
        }
        let (leading, past) = request::measure(self.request_parts(preamble, &[]), bounds);
        if !(leading + past + own).fits(bounds.room) {
            let room = bounds.room.saturating_sub(leading + past);
            self.compact_turn(index, Bounds { room, ..bounds }, has_asked, parts).await;
        }
    }

    /// The work before the first call. True if a summary was asked for.
    async fn compact_past(&mut self, parts: &mut TurnParts<'_>) -> bool {
        let bounds = parts.context.responder.bounds;
        if !compact::is_due(&self.history, bounds) {
            return false;
        }
        let mut history = History::clone(&self.history);
        let shortened = compact::shrink(&mut history);
        self.sum_up_past(history, shortened, bounds, parts).await
    }

    async fn make_room_in_past(&mut self, bounds: Bounds, parts: &mut TurnParts<'_>) -> bool {
        let mut history = History::clone(&self.history);
        let room = bounds.room.fraction(PAST);
        let shortened = compact::shrink_to(&mut history, room, bounds.dialect);
        let bounds = Bounds { compact_above: room.bytes, ..bounds };
        self.sum_up_past(history, shortened, bounds, parts).await
    }

    /// `bounds`: the room that is left for the turn.
    async fn compact_turn(
        &mut self,
        index: &TurnIndex,
        bounds: Bounds,
        has_asked: bool,
        parts: &mut TurnParts<'_>,
    ) {
        let messages = self.masked.messages();
        let Some(plan) = self.compaction.plan(messages, index, bounds.room) else { return };
        let sent = |view: Vec<Message>| view.iter().map(Message::len).sum();
        let before = sent(self.compaction.view(messages));
        let mut next = plan.shortened;
        let mut compaction = Compaction { steps: true, before, ..Compaction::default() };
        compaction.shortened = plan.parts;
        if let Some(range) = plan.summed {
            let summary = if has_asked {
                None
            } else {
                self.summarize_steps(range.clone(), index, parts).await
            };
            let messages = self.masked.messages();
            if summary.is_some() || !plan.fits {
                compaction.summary = summary.clone().map(CompactionSummary::from);
                compaction.summed = next.leave_out(range, summary, messages, index);
                let is_summed = |id: &str| compaction.summed.iter().any(|part| part.id == id);
                compaction.shortened.retain(|part| !is_summed(&part.id));
                // In the other dialect the plan goes with every request.
                let plan = match bounds.dialect {
                    Dialect::Tools => self.history.running_plan_text(),
                    Dialect::Json => String::new(),
                };
                next.write_note(messages, index, &plan);
            }
        }
        compaction.after = sent(next.view(self.masked.messages()));
        self.compaction = next;
        if !compaction.shortened.is_empty() || !compaction.summed.is_empty() {
            parts.events.emit(Event::Compacted(Box::new(compaction))).await;
        }
    }

    /// A summary of these messages of the turn; `None` if there is none, which ends nothing.
    async fn summarize_steps(
        &mut self,
        range: Range<usize>,
        index: &TurnIndex,
        parts: &mut TurnParts<'_>,
    ) -> Option<Summary> {
        if self.summary_pause > 0 {
            self.summary_pause -= 1;
            return None;
        }
        let model = parts.context.summarizer.model()?;
        let texts = self.compaction.transcript(range, self.masked.messages(), index);
        let before = self.compaction.summary.clone();
        let messages =
            compact::summary_request_of(texts, &before, None, parts.context.responder.bounds);
        let summed = match parts.run_hooks_before_compaction("auto", "").await {
            Ok(()) => parts.request_summary(model, messages, &before).await,
            Err(why) => Err(why),
        };
        match summed {
            Ok(summary) => Some(summary),
            Err(why) => {
                self.summary_pause = PAUSE;
                let say = phrases::STEPS_NOT_SUMMED.with("why", why);
                parts.events.emit(Event::Notice(Notice::warning(say))).await;
                None
            }
        }
    }

    /// Says, before the first request, what it leaves out of the user's message.
    async fn warn_of_omitted_words(&self, parts: &mut TurnParts<'_>) {
        let omitted = self.compaction.omitted_words(self.masked.messages());
        if omitted > 0 {
            let say = phrases::MESSAGE_CUT.with("bytes", text::size(omitted));
            let notice = Notice::warning(say).with_hint(phrases::MESSAGE_CUT_HINT);
            parts.events.emit(Event::Notice(notice)).await;
        }
    }

    /// What is kept of the turn is what was sent of it last, so that later requests repeat it.
    pub fn keep_as_sent(&mut self, record: &mut TurnRecord, redactor: &Redactor) {
        self.masked.update(record.take_messages(), redactor);
        record.keep_messages(self.compaction.view(self.masked.messages()));
    }
}

/// Sends one request. The history changes only if it returns a summary.
async fn summarize(
    history: &mut History,
    plan: CompactionPlan,
    focus: Option<&str>,
    model: Arc<dyn Model>,
    parts: &mut TurnParts<'_>,
) -> Result<Compaction, LocalizedText> {
    let messages = compact::summary_request(history, plan, focus, parts.context.responder.bounds);
    let summary = parts.request_summary(model, messages, &history.summary).await?;
    let receipt = compact::apply(history, plan, summary);
    Ok(Compaction { focus: focus.map(str::to_owned), ..receipt })
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

fn mask_index(mut index: TurnIndex, redactor: &Redactor) -> TurnIndex {
    let lines = index.steps.iter_mut().map(|place| &mut place.line);
    for text in lines.chain(index.words.iter_mut().map(|(_, words)| words)) {
        *text = redactor.mask(text).into_owned();
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::PlanState;

    const SECRET: &str = "tok-5f2c9a7e1b";

    fn conversation() -> TurnConversation {
        let bounds = Bounds::for_tools(8_000);
        TurnConversation::new(Arc::default(), Arc::default(), Vec::new(), bounds)
    }

    #[test]
    fn what_is_kept_of_a_turn_is_masked_as_it_was_sent() {
        let redactor = Redactor::new([("TOKEN", SECRET)], [0; 16]);
        let mut record = TurnRecord::default();
        record.keep_messages(vec![Message::user(format!("deploy with {SECRET}"))]);
        conversation().keep_as_sent(&mut record, &redactor);
        let kept = record.take_messages();
        assert_eq!(kept.len(), 1);
        let text = format!("{kept:?}");
        assert!(text.contains("deploy with") && !text.contains(SECRET), "{text}");
    }

    #[test]
    fn a_plan_counts_in_the_turn_that_made_it_and_without_secrets() {
        let redactor = Redactor::new([("TOKEN", SECRET)], [0; 16]);
        let mut conversation = conversation();
        let items = [PlanItem { text: format!("log in as {SECRET}"), state: PlanState::Doing }];
        conversation.set_plan(1, &items, &redactor);
        let plan = conversation.history.running_plan_text();
        assert!(plan.contains("log in as") && !plan.contains(SECRET), "{plan}");
        let agent = conversation.of_subagent(Bounds::for_tools(8_000));
        assert_eq!(agent.history.running_plan_text(), "", "an agent begins without it");
    }
}
