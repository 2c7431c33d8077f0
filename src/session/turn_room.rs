//! Makes room in the requests of a running turn when it grows: past turns first, then results of
//! the turn's first steps, then a summary of those. Each time a receipt tells what is left out.

use std::ops::Range;

use super::turn_scope::TurnScope;
use crate::context::compact;
use crate::context::history::{History, Summary, TurnRecord};
use crate::context::message_size::messages_size;
use crate::context::request;
use crate::context::size::ContextSize;
use crate::context::turn_compaction::TurnIndex;
use crate::context::window::{Bounds, RequestParts};
use avocet_core::i18n::context as phrases;
use avocet_core::protocol::{Compaction, CompactionSummary, Dialect, Event, Message, Notice};
use avocet_core::text;

/// The part of the room that past turns may keep when a turn needs it.
const PAST: usize = 4;

/// Number of compactions without a summary after one that failed.
const PAUSE: usize = 3;

/// What comes before all messages of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preamble<'a> {
    pub system: &'a str,
    /// What the descriptions of the tools take.
    pub tools: ContextSize,
}

impl TurnScope {
    /// What is sent with these messages of the turn.
    pub(super) fn request_parts<'a>(
        &'a self,
        preamble: Preamble<'a>,
        messages: &'a [Message],
    ) -> RequestParts<'a> {
        RequestParts {
            system: preamble.system,
            tools: preamble.tools,
            notes: &self.context.instructions.notes.text,
            history: &self.context.history,
            turn: messages,
        }
    }

    /// Leaves out what a request would have no room for. `has_asked`: a summary was asked for just
    /// now, and no other is.
    pub(super) async fn make_room(
        &mut self,
        preamble: Preamble<'_>,
        messages: &[Message],
        index: &TurnIndex,
        bounds: Bounds,
        has_asked: bool,
    ) {
        let (leading, past) = request::measure(self.request_parts(preamble, &[]), bounds);
        let own = messages_size(&self.compaction.view(messages));
        if (leading + past + own).fits(bounds.room) {
            return;
        }
        let mut has_asked = has_asked;
        if !past.fits(bounds.room.fraction(PAST)) {
            has_asked |= self.make_room_in_past(bounds).await;
        }
        let (leading, past) = request::measure(self.request_parts(preamble, &[]), bounds);
        if !(leading + past + own).fits(bounds.room) {
            let room = bounds.room.saturating_sub(leading + past);
            self.compact_turn(messages, index, Bounds { room, ..bounds }, has_asked).await;
        }
    }

    async fn make_room_in_past(&mut self, bounds: Bounds) -> bool {
        let mut history = History::clone(&self.context.history);
        let before = compact::measure(&history).before;
        let room = bounds.room.fraction(PAST);
        let shortened = compact::shrink_to(&mut history, room, bounds.dialect);
        let bounds = Bounds { compact_above: room.bytes, ..bounds };
        self.sum_up_past(history, before, shortened, bounds).await
    }

    /// `bounds`: the room that is left for the turn.
    async fn compact_turn(
        &mut self,
        messages: &[Message],
        index: &TurnIndex,
        bounds: Bounds,
        has_asked: bool,
    ) {
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
                self.summarize_steps(range.clone(), messages, index).await
            };
            if summary.is_some() || !plan.fits {
                compaction.summary = summary.clone().map(CompactionSummary::from);
                compaction.summed = next.leave_out(range, summary, messages, index);
                let is_summed = |id: &str| compaction.summed.iter().any(|part| part.id == id);
                compaction.shortened.retain(|part| !is_summed(&part.id));
                // In the other dialect the plan goes with every request.
                let plan = match bounds.dialect {
                    Dialect::Tools => self.context.history.running_plan_text(),
                    Dialect::Json => String::new(),
                };
                next.write_note(messages, index, &plan);
            }
        }
        compaction.after = sent(next.view(messages));
        self.compaction = next;
        if !compaction.shortened.is_empty() || !compaction.summed.is_empty() {
            self.emit(Event::Compacted(Box::new(compaction))).await;
        }
    }

    /// A summary of these messages of the turn; `None` if there is none, which ends nothing.
    async fn summarize_steps(
        &mut self,
        range: Range<usize>,
        turn: &[Message],
        index: &TurnIndex,
    ) -> Option<Summary> {
        if self.summary_pause > 0 {
            self.summary_pause -= 1;
            return None;
        }
        let model = self.context.summarizer.model()?;
        let texts = self.compaction.transcript(range, turn, index);
        let before = self.compaction.summary.clone();
        let messages = compact::summary_request_of(texts, &before, None, self.context.bounds);
        let summed = match self.run_hooks_before_compaction("auto", "").await {
            Ok(()) => self.request_summary(model, messages, &before).await,
            Err(why) => Err(why),
        };
        match summed {
            Ok(summary) => Some(summary),
            Err(why) => {
                self.summary_pause = PAUSE;
                let say = phrases::STEPS_NOT_SUMMED.with("why", why);
                self.emit(Event::Notice(Notice::warning(say))).await;
                None
            }
        }
    }

    /// Says, before the first request, what it leaves out of the user's message.
    pub(super) async fn warn_of_omitted_words(&mut self, messages: &[Message]) {
        let omitted = self.compaction.omitted_words(messages);
        if omitted > 0 {
            let say = phrases::MESSAGE_CUT.with("bytes", text::size(omitted));
            let notice = Notice::warning(say).with_hint(phrases::MESSAGE_CUT_HINT);
            self.emit(Event::Notice(notice)).await;
        }
    }

    /// What is kept of the turn is what was sent of it last, so that later requests repeat it.
    pub(super) fn keep_as_sent(&mut self, record: &mut TurnRecord) {
        let mut masked = std::mem::take(&mut self.masked);
        masked.update(record.take_messages(), &self.context.redactor);
        record.keep_messages(self.compaction.view(masked.messages()));
    }
}
