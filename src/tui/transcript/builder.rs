//! Turns events into blocks. Knows nothing of columns.

use super::agent_work::{drop_oldest, interrupt_subagents};
use super::block::{AnswerBlock, AnswerState, Block, BlockBody};
use super::step::{Fold, StepBlock, StepState};
use super::step_groups;
use super::step_run::StepRun;
use super::step_summary::StepSummary;
use super::text::{StreamingText, TextSyntax};
use super::time::ArrivalTime;
use crate::text;
use avocet_config::ShowThinking;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::Change;
use avocet_core::protocol::{
    Ask, Event, ModelMessage, Notice, NoticeLevel, Observation, PageRow, PlanItem, Question,
    Requires, Risk, Step as Proposed, StepAction, StepQuestion, Tier, Truncation, TurnOrigin,
    TurnOutcome, Usage,
};
use avocet_present::subagents::SubagentLine;
use avocet_safety::sanitize::Cleaner;

/// Turns shorter than this end without a line of their own.
const LONG_TURN_MS: u64 = 20_000;

/// The blocks, and those that still grow.
#[derive(Debug, Default)]
pub(super) struct TranscriptBuilder {
    pub blocks: Vec<Block>,
    pub suggestions: Vec<String>,
    answer: Option<Stream>,
    reasoning: Option<Stream>,
    /// The answer that broke off and is asked for again.
    broken_reply: Option<usize>,
    /// The origin of this turn.
    origin: Option<TurnOrigin>,
    /// Steps of this turn that the user approved together with one before them.
    approved_ahead: Vec<String>,
    /// Blocks from this index on were removed or replaced.
    removed_from: Option<usize>,
    /// The time of the current event.
    pub now: ArrivalTime,
    pub show_thinking: ShowThinking,
    /// Images are kept, to be shown as pictures.
    pub keeps_images: bool,
    /// The number of images so far that can be pictures.
    pub image_count: u32,
}

/// A block that grows.
#[derive(Debug)]
struct Stream {
    block: usize,
    cleaner: Cleaner,
}

/// The block of its task says what a subagent does, and has in it all that happened; a step of it that
/// the user was asked about is shown by itself too, to its end.
fn show_subagent(builder: &mut TranscriptBuilder, event: &Event) {
    let mut was_asked = false;
    if let Event::StepStarted { step, .. } = event.of_any_agent()
        && let Some((_, shown)) = builder.find(&step.id)
    {
        was_asked = shown.asked;
        builder.apply(event.of_any_agent());
    }
    if let Event::StepFinished(observation) = event.of_any_agent()
        && builder.find(&observation.step.id).is_some()
    {
        builder.finish_step(observation);
    }
    if let Event::SubagentStarted(info) = event
        && let Some((_, step)) = builder.find(&info.agent)
    {
        step.agent = Some(Box::new(SubagentLine::new(info)));
    }
    let Event::Subagent { agent, tokens, happened } = event else { return };
    let TranscriptBuilder { now, show_thinking, .. } = *builder;
    let of_agent = |block: &&mut Block| block.is_of_agent(agent);
    let Some(block) = builder.blocks.iter_mut().rev().find(of_agent) else { return };
    let blocks = std::mem::take(&mut block.nested);
    let mut nested = TranscriptBuilder { blocks, now, ..TranscriptBuilder::new(show_thinking) };
    nested.apply(happened);
    if let Event::StepStarted { step, .. } = &**happened
        && was_asked
        && let Some((_, step)) = nested.find(&step.id)
    {
        step.asked = true;
    }
    // Each of its steps has a row.
    let last = nested.blocks.len().saturating_sub(1);
    step_groups::unfold(&mut nested.blocks, last);
    drop_oldest(&mut nested.blocks, now);
    block.nested = nested.blocks;
    block.mark_changed();
    if let BlockBody::Step(step) = &mut block.body {
        step.agent.iter_mut().for_each(|line| line.apply(*tokens, happened));
    }
}

impl TranscriptBuilder {
    pub fn new(show_thinking: ShowThinking) -> TranscriptBuilder {
        TranscriptBuilder { show_thinking, ..TranscriptBuilder::default() }
    }

    #[allow(clippy::too_many_lines, reason = "a row for each event")]
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn, text, origin, .. } => self.start_turn(*turn, text, *origin),
            Event::Attached { items, images } => self.attach(items, images),
            Event::Rendered { text, .. } => self.finish_rendered(text),
            Event::Steered { text, .. } => self.push_steering(text),
            Event::ReplyStarted => self.start_reply(),
            Event::Delta { text } => self.append_delta(text),
            Event::ReasoningDelta { text } => self.append_reasoning(text),
            Event::ScriptMessage { role, text } => self.add_script_message(role, text),
            Event::Retrying { attempt, of, wait_ms, why } => {
                self.retry(*attempt, *of, *wait_ms, why);
            }
            Event::Repairing { fault } => self.repair(fault),
            Event::Replied(replied) => self.finish_reply(replied),
            Event::StepStarted { step, risk } => {
                self.update_step(step, risk, StepState::Running(Box::default()));
            }
            Event::StepOutput { id, text } => self.output(id, text),
            Event::StepFinished(seen) => self.finish_step(seen),
            Event::Asked(ask) => self.show_asked_steps(ask),
            Event::TurnEnded { ending, usage, elapsed_ms, .. } => {
                self.end_turn(ending, *usage, *elapsed_ms);
            }
            Event::Notice(notice) => self.notice(notice.clone()),
            Event::Page(page) => self.page(page.title.clone(), page.rows.clone()),
            Event::Compacted(receipt) => {
                let page = receipt.page();
                self.page(page.title, page.rows);
            }
            Event::Cleared => {
                *self = TranscriptBuilder {
                    removed_from: Some(0),
                    now: self.now,
                    keeps_images: self.keeps_images,
                    image_count: self.image_count,
                    ..TranscriptBuilder::new(self.show_thinking)
                }
            }
            Event::Plan { items } => self.plan(items),
            Event::QuestionClosed { .. } => self.fold_plan(Fold::Auto),
            Event::FilesChanged { files, .. } => {
                if let Some(say) = Change::summary(files) {
                    self.notice(Notice::info(say));
                }
            }
            Event::Rewound { turn, .. } => self.rewind_to(*turn),
            Event::SubagentStarted(_) | Event::Subagent { .. } => show_subagent(self, event),
            // Earlier events are not appended: see `prepend`.
            Event::HistoryChunk { .. }
            | Event::CallProgress { .. }
            | Event::Sessions { .. }
            | Event::Undone { .. }
            | Event::FilesKept { .. }
            | Event::Redone { .. }
            | Event::Changes { .. }
            | Event::FolderAdded { .. }
            | Event::ApprovalModeSet { .. }
            | Event::GoalSet { .. }
            | Event::SideAnswer(_)
            | Event::RewindAsked { .. }
            | Event::TerminalRequested { .. }
            | Event::TerminalReturned { .. }
            | Event::Judged { .. }
            | Event::Queued { .. }
            | Event::Dropped { .. }
            | Event::Facts(_)
            | Event::Models { .. }
            | Event::Settings { .. }
            | Event::Catalogue(_)
            | Event::ArgumentValues(_)
            | Event::Compacting
            | Event::Closed => {}
        }
    }

    /// Prepends an earlier conversation; returns the number of its blocks.
    pub fn prepend(&mut self, mut builder: TranscriptBuilder) -> usize {
        builder.close_streams(None);
        interrupt_subagents(&mut builder.blocks);
        let count = builder.blocks.len();
        if !self.blocks.iter().any(|block| matches!(block.body, BlockBody::UserMessage { .. })) {
            self.suggestions = builder.suggestions;
        }
        for stream in [&mut self.answer, &mut self.reasoning].into_iter().flatten() {
            stream.block += count;
        }
        self.blocks.splice(0..0, builder.blocks);
        self.image_count = builder.image_count;
        self.drop_old_images();
        count
    }

    /// All turns with the words they began with, the last first.
    pub fn turns(&self) -> impl Iterator<Item = (u64, &str)> {
        self.blocks.iter().rev().filter_map(|block| match &block.body {
            BlockBody::UserMessage { text, turn, .. } => Some(((*turn)?, text.source())),
            _ => None,
        })
    }

    fn rewind_to(&mut self, from: u64) {
        self.close_streams(None);
        let begins = |block: &Block| match &block.body {
            BlockBody::UserMessage { turn: Some(turn), .. } => *turn >= from,
            _ => false,
        };
        if let Some(first) = self.blocks.iter().position(begins) {
            self.truncate(first);
        }
        self.suggestions.clear();
    }

    /// Freezes the finished pieces of growing texts.
    pub fn freeze_finished(&mut self) {
        for stream in [&self.answer, &self.reasoning].into_iter().flatten() {
            let body = self.blocks.get_mut(stream.block).map(|block| &mut block.body);
            if let Some(
                BlockBody::Answer(AnswerBlock { text, .. }) | BlockBody::Reasoning { text, .. },
            ) = body
            {
                text.freeze_finished();
            }
        }
    }

    /// The first block that was removed or replaced since the last call.
    pub fn take_removed_from(&mut self) -> Option<usize> {
        self.removed_from.take()
    }

    pub fn notice(&mut self, notice: Notice) {
        self.push(BlockBody::Notice(notice));
    }

    pub fn page(&mut self, text: LocalizedText, rows: Vec<PageRow>) {
        self.push(BlockBody::Page { title: text, rows });
    }

    /// The sources of whole answers, the last first.
    pub fn answers(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().rev().filter_map(|block| match &block.body {
            BlockBody::Answer(AnswerBlock { text, state }) if *state != AnswerState::Streaming => {
                Some(text.source())
            }
            _ => None,
        })
    }

    pub fn push(&mut self, body: BlockBody) -> usize {
        self.blocks.push(Block::new(body, self.now));
        self.blocks.len() - 1
    }

    fn truncate(&mut self, len: usize) {
        self.blocks.truncate(len);
        self.removed_from = Some(self.removed_from.map_or(len, |cut| cut.min(len)));
    }

    fn remove_last(&mut self) {
        self.truncate(self.blocks.len().saturating_sub(1));
    }

    fn start_turn(&mut self, turn: u64, text: &str, origin: TurnOrigin) {
        self.close_streams(None);
        self.suggestions.clear();
        self.origin = Some(origin);
        self.approved_ahead.clear();
        let text = match origin {
            TurnOrigin::Shell => text.trim_start_matches('!').trim_start(),
            TurnOrigin::Typed | TurnOrigin::Queue | TurnOrigin::Command => text,
        };
        let text = StreamingText::from_source(text::sanitize(text.trim_end()), TextSyntax::Plain);
        // A turn that only restored files is not offered for a rewind.
        let turn = (origin != TurnOrigin::Command).then_some(turn);
        self.push(BlockBody::UserMessage { text, origin, turn });
    }

    fn push_steering(&mut self, text: &str) {
        let text = StreamingText::from_source(text::sanitize(text.trim_end()), TextSyntax::Plain);
        self.push(BlockBody::UserMessage { text, origin: TurnOrigin::Typed, turn: None });
    }

    /// A command whose answer follows.
    pub fn typed_command(&mut self, line: &str) {
        let text = StreamingText::from_source(text::sanitize(line.trim_end()), TextSyntax::Plain);
        self.push(BlockBody::TypedCommand(text));
    }

    fn start_reply(&mut self) {
        self.close_streams(None);
        // The new answer takes the place of the one that broke off.
        if let Some(broken) = self.broken_reply.take() {
            self.truncate(broken);
        }
        self.suggestions.clear();
    }

    fn append_delta(&mut self, chunk: &str) {
        self.end_reasoning();
        self.drop_retry();
        let stream = self.answer.get_or_insert_with(|| {
            let text = StreamingText::new(TextSyntax::Markdown);
            let state = AnswerState::Streaming;
            self.blocks.push(Block::new(BlockBody::Answer(AnswerBlock { text, state }), self.now));
            Stream { block: self.blocks.len() - 1, cleaner: Cleaner::default() }
        });
        if let Some(BlockBody::Answer(answer)) =
            self.blocks.get_mut(stream.block).map(|b| &mut b.body)
        {
            append_chunk(&mut answer.text, stream, chunk);
        }
    }

    fn append_reasoning(&mut self, chunk: &str) {
        self.drop_retry();
        if self.show_thinking == ShowThinking::Off {
            return;
        }
        let stream = self.reasoning.get_or_insert_with(|| {
            let text = StreamingText::new(TextSyntax::Plain);
            let mut block = Block::new(BlockBody::Reasoning { text, done: false }, self.now);
            if self.show_thinking == ShowThinking::Full {
                block.set_fold(Fold::Open);
            }
            self.blocks.push(block);
            Stream { block: self.blocks.len() - 1, cleaner: Cleaner::default() }
        });
        if let Some(BlockBody::Reasoning { text, .. }) =
            self.blocks.get_mut(stream.block).map(|b| &mut b.body)
        {
            append_chunk(text, stream, chunk);
        }
    }

    /// A prompt that is shown instead of sent.
    fn finish_rendered(&mut self, text: &str) {
        let message = text.to_owned();
        self.finish_reply(&ModelMessage { message, ..ModelMessage::default() });
    }

    fn add_script_message(&mut self, role: &str, text: &str) {
        let mut block_text = StreamingText::new(TextSyntax::Plain);
        block_text.source_mut().push_str(&text::sanitize(text));
        block_text.finish();
        let role = format!("{}: ", text::single_line(role));
        self.push(BlockBody::ScriptMessage { role, text: block_text });
    }

    fn retry(&mut self, attempt: u32, of: u32, wait_ms: u64, why: &LocalizedText) {
        // Streamed text stays until there is a new answer, marked as cut.
        let open = self.answer.as_ref().map(|stream| stream.block);
        self.broken_reply = open.or(self.broken_reply);
        self.close_streams(Some(Truncation::Broken));
        self.drop_retry();
        self.push(BlockBody::Retry { attempt, of, wait_ms, why: why.clone() });
    }

    /// The line that counts retries disappears when they end.
    fn drop_retry(&mut self) {
        if matches!(self.blocks.last(), Some(Block { body: BlockBody::Retry { .. }, .. })) {
            self.remove_last();
        }
    }

    fn repair(&mut self, text: &LocalizedText) {
        self.end_reasoning();
        if let Some(stream) = self.answer.take() {
            self.truncate(stream.block);
        }
        self.push(BlockBody::Repair { fault: text.clone() });
    }

    fn finish_reply(&mut self, message: &ModelMessage) {
        self.end_reasoning();
        self.broken_reply = None;
        self.drop_retry();
        let source = text::sanitize(message.message.trim_matches('\n'));
        let form = if message.markdown { TextSyntax::Markdown } else { TextSyntax::Plain };
        let state = if message.error { AnswerState::Error } else { AnswerState::Complete };
        match self.answer.take() {
            Some(stream) if source.is_empty() => self.truncate(stream.block),
            Some(stream) => {
                if let Some(block) = self.blocks.get_mut(stream.block) {
                    if let BlockBody::Answer(answer) = &mut block.body {
                        answer.text.replace(source, form);
                        answer.state = state;
                    }
                    block.mark_changed();
                }
            }
            None if source.is_empty() => {}
            None => {
                let text = StreamingText::from_source(source, form);
                self.push(BlockBody::Answer(AnswerBlock { text, state }));
            }
        }
        // An error that arrived during the turn already says why it broke off.
        let told = matches!(
            self.blocks.last().map(|block| &block.body),
            Some(BlockBody::Notice(Notice { level: NoticeLevel::Error, .. }))
        );
        if let Some(cut) = message.cut.filter(|cut| !(told && *cut == Truncation::Broken)) {
            self.push(BlockBody::Truncated(cut));
        }
        self.suggestions = message.suggestions.iter().map(|text| text::single_line(text)).collect();
    }

    /// The user approved these steps before their turn came.
    pub fn approve_ahead(&mut self, steps: &[String]) {
        self.approved_ahead.extend_from_slice(steps);
    }

    fn update_step(&mut self, proposed: &Proposed, risk: &Risk, state: StepState) {
        self.suggestions.clear();
        self.end_reasoning();
        let is_ahead = risk.tier > Tier::L0 && self.approved_ahead.contains(&proposed.id);
        let asked = is_ahead || matches!(state, StepState::AwaitingUser);
        match self.find(&proposed.id) {
            Some((block, step)) => {
                step.work = proposed.work.clone();
                step.risk = risk.clone();
                step.asked |= asked;
                step.state = state;
                *block = block.wrapping_add(1);
            }
            None => {
                let step = StepBlock {
                    id: proposed.id.clone(),
                    work: proposed.work.clone(),
                    risk: risk.clone(),
                    origin: self.origin.unwrap_or(TurnOrigin::Typed),
                    asked,
                    run: StepRun::default(),
                    state,
                    agent: None,
                };
                self.push(BlockBody::Step(Box::new(step)));
            }
        }
    }

    /// The unfinished step with this id, and its block's count of changes.
    fn find(&mut self, id: &str) -> Option<(&mut u32, &mut StepBlock)> {
        self.blocks.iter_mut().rev().find_map(|Block { body, changes, .. }| match body {
            BlockBody::Step(step) if step.id == id && !matches!(step.state, StepState::Done(_)) => {
                Some((changes, step.as_mut()))
            }
            _ => None,
        })
    }

    fn output(&mut self, id: &str, chunk: &str) {
        if let Some((_, StepBlock { state: StepState::Running(tail), .. })) = self.find(id) {
            tail.push(chunk);
        }
    }

    /// A turn shows its plan once, and updates it in place.
    fn plan(&mut self, items: &[PlanItem]) {
        self.end_reasoning();
        let of_turn = |block: &&mut Block| !matches!(block.body, BlockBody::UserMessage { .. });
        let mut blocks = self.blocks.iter_mut().rev().take_while(of_turn);
        let known = blocks.find(|block| matches!(block.body, BlockBody::Plan(_)));
        match known {
            Some(block) => {
                block.body = BlockBody::Plan(items.to_vec());
                block.mark_changed();
            }
            None => drop(self.push(BlockBody::Plan(items.to_vec()))),
        }
    }

    fn fold_plan(&mut self, fold: Fold) {
        let is_plan = |block: &&mut Block| matches!(block.body, BlockBody::Plan(_));
        if let Some(block) = self.blocks.iter_mut().rev().find(is_plan) {
            block.set_fold(fold);
        }
    }

    fn finish_step(&mut self, observation: &Observation) {
        // The plan block already shows the result of this step.
        if observation.step.work.tool() == "plan" && observation.succeeded() {
            return;
        }
        self.update_step(
            &observation.step,
            &observation.risk,
            StepState::Done(Box::new(StepSummary::new(observation))),
        );
        step_groups::group_around(&mut self.blocks, &observation.step.id);
    }

    fn show_asked_steps(&mut self, ask: &Ask) {
        match &ask.question {
            Question::Step(StepQuestion { step, risk, .. }) => {
                self.update_step(step, risk, StepState::AwaitingUser)
            }
            Question::Pieces { pieces, .. } => {
                for piece in pieces {
                    let work = StepAction::Shell { line: piece.line.clone() };
                    let id = piece.id.clone();
                    let requires = Requires::default();
                    let cwd = None;

                    self.update_step(
                        &Proposed { id, work, requires, cwd },
                        &piece.risk,
                        StepState::AwaitingUser,
                    );
                }
            }
            // The question shows its items.
            Question::Plan { .. } => self.fold_plan(Fold::Closed),
            Question::Choice { .. }
            | Question::Form { .. }
            | Question::ScriptCall { .. }
            | Question::Pause { .. }
            | Question::Trust { .. } => {}
        }
    }

    fn end_turn(&mut self, outcome: &TurnOutcome, usage: Usage, elapsed_ms: u64) {
        self.close_streams(None);
        self.drop_retry();
        // The ending already says why the answer is not whole.
        let said = match self.blocks.last().map(|block| &block.body) {
            Some(BlockBody::Truncated(Truncation::Cancelled)) => {
                matches!(outcome, TurnOutcome::Cancelled | TurnOutcome::Stopped)
            }
            Some(BlockBody::Truncated(Truncation::Broken)) => {
                matches!(outcome, TurnOutcome::Failed { .. } | TurnOutcome::Interrupted)
            }
            _ => false,
        };
        if said {
            self.remove_last();
        }
        for Block { body, changes, .. } in self.blocks.iter_mut().rev() {
            match body {
                BlockBody::UserMessage { .. } => break,
                BlockBody::Step(step) if !matches!(step.state, StepState::Done(_)) => {
                    step.state = StepState::Abandoned;
                    *changes = changes.wrapping_add(1);
                }
                _ => {}
            }
        }
        let usual = matches!(outcome, TurnOutcome::Done | TurnOutcome::Error);
        if !usual || (elapsed_ms >= LONG_TURN_MS && self.origin != Some(TurnOrigin::Shell)) {
            self.push(BlockBody::TurnEnd { ending: outcome.clone(), usage, elapsed_ms });
        }
        self.origin = None;
    }

    /// Ends all growing blocks; `truncation`: why they are incomplete.
    fn close_streams(&mut self, truncation: Option<Truncation>) {
        self.end_reasoning();
        let Some(mut stream) = self.answer.take() else { return };
        let Some(block) = self.blocks.get_mut(stream.block) else { return };
        block.mark_changed();
        if let BlockBody::Answer(answer) = &mut block.body {
            stream.cleaner.finish(answer.text.source_mut());
            answer.text.finish();
            answer.state = AnswerState::Complete;
        }
        if let Some(truncation) = truncation {
            self.push(BlockBody::Truncated(truncation));
        }
    }

    fn end_reasoning(&mut self) {
        let Some(mut stream) = self.reasoning.take() else { return };
        let Some(block) = self.blocks.get_mut(stream.block) else { return };
        block.mark_changed();
        if let BlockBody::Reasoning { text, done } = &mut block.body {
            stream.cleaner.finish(text.source_mut());
            text.finish();
            *done = true;
        }
    }
}

/// Adds a chunk of a stream; blank lines at its start are dropped.
fn append_chunk(text: &mut StreamingText, stream: &mut Stream, chunk: &str) {
    let chunk =
        if text.source().is_empty() { chunk.trim_start_matches(['\n', '\r']) } else { chunk };
    stream.cleaner.push(chunk, text.source_mut());
}
