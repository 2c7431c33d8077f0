//! Turns events into blocks. Knows nothing of columns.

use super::block::{AnswerBlock, AnswerState, Block, BlockBody};
use super::step::{StepBlock, StepState, StepSummary};
use super::text::{BlockText, TextSyntax};
use super::time::When;
use crate::protocol::{
    Ask, Event, ModelMessage, Notice, NoticeLevel, Observation, PageRow, PlanItem, Question,
    Requires, Risk, Step as Proposed, StepAction, Truncation, TurnOrigin, TurnOutcome, Usage,
};
use crate::safety::clean::{Cleaner, TextSource};
use crate::tui::clean;
use crate::words::LocalizedText;

/// Turns shorter than this end without a line of their own.
const LONG_TURN_MS: u64 = 20_000;

/// The blocks, and those that still grow.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub blocks: Vec<Block>,
    pub suggestions: Vec<String>,
    answer: Option<Stream>,
    thought: Option<Stream>,
    /// The origin of this turn.
    origin: Option<TurnOrigin>,
    /// Blocks from this index on were removed or replaced.
    cut: Option<usize>,
    /// The time of the current event.
    pub now: When,
}

/// A block that grows.
#[derive(Debug)]
struct Stream {
    block: usize,
    cleaner: Cleaner,
}

impl Story {
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn, text, origin } => self.turn(*turn, text, *origin),
            Event::Attached { items } => drop(self.push(BlockBody::Attached(items.clone()))),
            Event::Rendered { text } => {
                self.replied(&ModelMessage { message: text.clone(), ..ModelMessage::default() });
            }
            Event::Steered { text } => self.steered(text),
            Event::ReplyStarted => self.reply(),
            Event::Delta { text } => self.delta(text),
            Event::ReasoningDelta { text } => self.think(text),
            Event::Retrying { attempt, of, wait_ms, why } => {
                self.retry(*attempt, *of, *wait_ms, why);
            }
            Event::Repairing { fault } => self.repair(fault),
            Event::Replied(replied) => self.replied(replied),
            Event::StepStarted { step, risk } => {
                self.step(step, risk, StepState::Running(Box::default()));
            }
            Event::StepOutput { id, text } => self.output(id, text),
            Event::StepFinished(seen) => self.observed(seen),
            Event::Asked(ask) => self.asked(ask),
            Event::TurnEnded { ending, usage, elapsed_ms, .. } => {
                self.ended(ending, *usage, *elapsed_ms);
            }
            Event::Notice(notice) => self.notice(notice.clone()),
            Event::Page(page) => self.page(page.title.clone(), page.rows.clone()),
            Event::Compacted(receipt) => {
                let page = receipt.page();
                self.page(page.title, page.rows);
            }
            Event::Cleared => *self = Story { cut: Some(0), now: self.now, ..Story::default() },
            Event::Plan { items } => self.plan(items),
            Event::Rewound { turn, .. } => self.rewound(*turn),
            // Earlier events are not appended: see `before`.
            Event::HistoryChunk { .. }
            | Event::Sessions { .. }
            | Event::Undone { .. }
            | Event::FilesKept { .. }
            | Event::FolderAdded { .. }
            | Event::RewindAsked { .. }
            | Event::TerminalRequested { .. }
            | Event::TerminalReturned
            | Event::Judged { .. }
            | Event::QuestionClosed { .. }
            | Event::Queued { .. }
            | Event::Facts(_)
            | Event::Models { .. }
            | Event::Catalogue(_)
            | Event::Compacting
            | Event::Closed => {}
        }
    }

    /// Prepends an earlier conversation; returns the number of its blocks.
    pub fn before(&mut self, mut older: Story) -> usize {
        older.close(None);
        let count = older.blocks.len();
        if !self.blocks.iter().any(|block| matches!(block.body, BlockBody::Said { .. })) {
            self.suggestions = older.suggestions;
        }
        for stream in [&mut self.answer, &mut self.thought].into_iter().flatten() {
            stream.block += count;
        }
        self.blocks.splice(0..0, older.blocks);
        count
    }

    /// All turns with the words they began with, the last first.
    pub fn turns(&self) -> impl Iterator<Item = (u64, &str)> {
        self.blocks.iter().rev().filter_map(|block| match &block.body {
            BlockBody::Said { text, turn, .. } => Some(((*turn)?, text.source())),
            _ => None,
        })
    }

    fn rewound(&mut self, from: u64) {
        self.close(None);
        let begins = |block: &Block| match &block.body {
            BlockBody::Said { turn: Some(turn), .. } => *turn >= from,
            _ => false,
        };
        if let Some(first) = self.blocks.iter().position(begins) {
            self.cut_to(first);
        }
        self.suggestions.clear();
    }

    /// Freezes the finished pieces of growing texts.
    pub fn settle(&mut self) {
        for stream in [&self.answer, &self.thought].into_iter().flatten() {
            let body = self.blocks.get_mut(stream.block).map(|block| &mut block.body);
            if let Some(
                BlockBody::Answer(AnswerBlock { text, .. }) | BlockBody::Thought { text, .. },
            ) = body
            {
                text.settle();
            }
        }
    }

    /// The first block that was removed or replaced since the last call.
    pub fn take_cut(&mut self) -> Option<usize> {
        self.cut.take()
    }

    pub fn notice(&mut self, notice: Notice) {
        self.push(BlockBody::Notice(notice));
    }

    pub fn page(&mut self, title: LocalizedText, rows: Vec<PageRow>) {
        self.push(BlockBody::Page { title, rows });
    }

    /// The sources of whole answers, the last first.
    pub fn answers(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().rev().filter_map(|block| match &block.body {
            BlockBody::Answer(AnswerBlock { text, state }) if *state != AnswerState::Growing => {
                Some(text.source())
            }
            _ => None,
        })
    }

    fn push(&mut self, body: BlockBody) -> usize {
        self.blocks.push(Block::new(body, self.now));
        self.blocks.len() - 1
    }

    fn cut_to(&mut self, len: usize) {
        self.blocks.truncate(len);
        self.cut = Some(self.cut.map_or(len, |cut| cut.min(len)));
    }

    fn cut_last(&mut self) {
        self.cut_to(self.blocks.len().saturating_sub(1));
    }

    fn turn(&mut self, turn: u64, text: &str, origin: TurnOrigin) {
        self.close(None);
        self.suggestions.clear();
        self.origin = Some(origin);
        let text = match origin {
            TurnOrigin::Shell => text.trim_start_matches('!').trim_start(),
            TurnOrigin::Typed | TurnOrigin::Queue | TurnOrigin::Command => text,
        };
        let text = BlockText::whole(clean::text(text.trim_end()), TextSyntax::Plain);
        self.push(BlockBody::Said { text, origin, turn: Some(turn) });
    }

    fn steered(&mut self, text: &str) {
        let text = BlockText::whole(clean::text(text.trim_end()), TextSyntax::Plain);
        self.push(BlockBody::Said { text, origin: TurnOrigin::Typed, turn: None });
    }

    fn reply(&mut self) {
        self.close(None);
        self.suggestions.clear();
    }

    fn delta(&mut self, chunk: &str) {
        self.end_thought();
        self.drop_retry();
        let stream = self.answer.get_or_insert_with(|| {
            let text = BlockText::new(TextSyntax::Markdown);
            let state = AnswerState::Growing;
            self.blocks.push(Block::new(BlockBody::Answer(AnswerBlock { text, state }), self.now));
            Stream { block: self.blocks.len() - 1, cleaner: Cleaner::new(TextSource::Text) }
        });
        if let Some(BlockBody::Answer(answer)) =
            self.blocks.get_mut(stream.block).map(|b| &mut b.body)
        {
            grow(&mut answer.text, stream, chunk);
        }
    }

    fn think(&mut self, chunk: &str) {
        self.drop_retry();
        let stream = self.thought.get_or_insert_with(|| {
            let text = BlockText::new(TextSyntax::Plain);
            self.blocks.push(Block::new(BlockBody::Thought { text, done: false }, self.now));
            Stream { block: self.blocks.len() - 1, cleaner: Cleaner::new(TextSource::Text) }
        });
        if let Some(BlockBody::Thought { text, .. }) =
            self.blocks.get_mut(stream.block).map(|b| &mut b.body)
        {
            grow(text, stream, chunk);
        }
    }

    fn retry(&mut self, attempt: u32, of: u32, wait_ms: u64, why: &LocalizedText) {
        // Streamed text stays, marked as cut.
        self.close(Some(Truncation::Broken));
        self.drop_retry();
        self.push(BlockBody::Retry { attempt, of, wait_ms, why: why.clone() });
    }

    /// The line that counts retries disappears when they end.
    fn drop_retry(&mut self) {
        if matches!(self.blocks.last(), Some(Block { body: BlockBody::Retry { .. }, .. })) {
            self.cut_last();
        }
    }

    fn repair(&mut self, fault: &LocalizedText) {
        self.end_thought();
        if let Some(stream) = self.answer.take() {
            self.cut_to(stream.block);
        }
        self.push(BlockBody::Repair { fault: fault.clone() });
    }

    fn replied(&mut self, replied: &ModelMessage) {
        self.end_thought();
        self.drop_retry();
        let source = clean::text(replied.message.trim_matches('\n'));
        let form = if replied.markdown { TextSyntax::Markdown } else { TextSyntax::Plain };
        let state = if replied.error { AnswerState::Error } else { AnswerState::Whole };
        match self.answer.take() {
            Some(stream) if source.is_empty() => self.cut_to(stream.block),
            Some(stream) => {
                if let Some(block) = self.blocks.get_mut(stream.block) {
                    if let BlockBody::Answer(answer) = &mut block.body {
                        answer.text.replace(source, form);
                        answer.state = state;
                    }
                    block.changed();
                }
            }
            None if source.is_empty() => {}
            None => {
                let text = BlockText::whole(source, form);
                self.push(BlockBody::Answer(AnswerBlock { text, state }));
            }
        }
        // An error that arrived during the turn already says why it broke off.
        let told = matches!(
            self.blocks.last().map(|block| &block.body),
            Some(BlockBody::Notice(Notice { level: NoticeLevel::Error, .. }))
        );
        if let Some(cut) = replied.cut.filter(|cut| !(told && *cut == Truncation::Broken)) {
            self.push(BlockBody::Cut(cut));
        }
        self.suggestions = replied.suggestions.iter().map(|text| clean::flat(text)).collect();
    }

    fn step(&mut self, proposed: &Proposed, risk: &Risk, state: StepState) {
        self.suggestions.clear();
        self.end_thought();
        match self.find(&proposed.id) {
            Some((block, step)) => {
                step.work = proposed.work.clone();
                step.risk = risk.clone();
                step.state = state;
                *block = block.wrapping_add(1);
            }
            None => {
                let step = StepBlock {
                    id: proposed.id.clone(),
                    work: proposed.work.clone(),
                    risk: risk.clone(),
                    origin: self.origin.unwrap_or(TurnOrigin::Typed),
                    state,
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
        self.end_thought();
        let of_turn = |block: &&mut Block| !matches!(block.body, BlockBody::Said { .. });
        let mut blocks = self.blocks.iter_mut().rev().take_while(of_turn);
        let known = blocks.find(|block| matches!(block.body, BlockBody::Plan(_)));
        match known {
            Some(block) => {
                block.body = BlockBody::Plan(items.to_vec());
                block.changed();
            }
            None => drop(self.push(BlockBody::Plan(items.to_vec()))),
        }
    }

    fn observed(&mut self, seen: &Observation) {
        // The plan block already shows the result of this step.
        if seen.step.work.tool() == "plan" && seen.succeeded() {
            return;
        }
        self.step(&seen.step, &seen.risk, StepState::Done(Box::new(StepSummary::new(seen))));
    }

    fn asked(&mut self, ask: &Ask) {
        match &ask.question {
            Question::Step { step, risk, .. } => self.step(step, risk, StepState::Asked),
            Question::Pieces { pieces, .. } => {
                for piece in pieces {
                    let work = StepAction::Shell { line: piece.line.clone() };
                    let (id, requires, cwd) = (piece.id.clone(), Requires::default(), None);
                    self.step(&Proposed { id, work, requires, cwd }, &piece.risk, StepState::Asked);
                }
            }
            Question::Choice { .. } | Question::Pause { .. } | Question::Trust { .. } => {}
        }
    }

    fn ended(&mut self, ending: &TurnOutcome, usage: Usage, elapsed_ms: u64) {
        self.close(None);
        self.drop_retry();
        // The ending already says why the answer is not whole.
        let said = match self.blocks.last().map(|block| &block.body) {
            Some(BlockBody::Cut(Truncation::Cancelled)) => {
                matches!(ending, TurnOutcome::Cancelled | TurnOutcome::Stopped)
            }
            Some(BlockBody::Cut(Truncation::Broken)) => {
                matches!(ending, TurnOutcome::Failed { .. } | TurnOutcome::Interrupted)
            }
            _ => false,
        };
        if said {
            self.cut_last();
        }
        for Block { body, changes, .. } in self.blocks.iter_mut().rev() {
            match body {
                BlockBody::Said { .. } => break,
                BlockBody::Step(step) if !matches!(step.state, StepState::Done(_)) => {
                    step.state = StepState::Lost;
                    *changes = changes.wrapping_add(1);
                }
                _ => {}
            }
        }
        let usual = matches!(ending, TurnOutcome::Done | TurnOutcome::Error);
        if !usual || (elapsed_ms >= LONG_TURN_MS && self.origin != Some(TurnOrigin::Shell)) {
            self.push(BlockBody::End { ending: ending.clone(), usage, elapsed_ms });
        }
        self.origin = None;
    }

    /// Ends all growing blocks; `cut`: why they are incomplete.
    fn close(&mut self, cut: Option<Truncation>) {
        self.end_thought();
        let Some(mut stream) = self.answer.take() else { return };
        let Some(block) = self.blocks.get_mut(stream.block) else { return };
        block.changed();
        if let BlockBody::Answer(answer) = &mut block.body {
            stream.cleaner.finish(answer.text.grow());
            answer.text.finish();
            answer.state = AnswerState::Whole;
        }
        if let Some(cut) = cut {
            self.push(BlockBody::Cut(cut));
        }
    }

    fn end_thought(&mut self) {
        let Some(mut stream) = self.thought.take() else { return };
        let Some(block) = self.blocks.get_mut(stream.block) else { return };
        block.changed();
        if let BlockBody::Thought { text, done } = &mut block.body {
            stream.cleaner.finish(text.grow());
            text.finish();
            *done = true;
        }
    }
}

/// Adds a chunk of a stream; blank lines at its start are dropped.
fn grow(text: &mut BlockText, stream: &mut Stream, chunk: &str) {
    let chunk = match text.source().is_empty() {
        true => chunk.trim_start_matches(['\n', '\r']),
        false => chunk,
    };
    stream.cleaner.push(chunk, text.grow());
}
