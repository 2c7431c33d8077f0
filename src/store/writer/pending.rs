//! The rows of a session that are not in the file yet, and the text that still grows.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::event_row::EventRow;
use crate::write::now;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::Event;
use avocet_safety::redact::Redactor;

/// The maximum size of rows that wait for a disk, in bytes; beyond it the oldest are lost.
const WAITING: usize = 32 << 20;
/// How long a disk is left alone after an error.
pub(super) const AGAIN: Duration = Duration::from_secs(2);
/// How long growing text may wait to be written.
const GROWING: Duration = Duration::from_millis(100);
/// How many characters of a growing word may be written: the start of a secret, but not enough of
/// one.
const BEGUN: usize = 12;
/// A word longer than this is not a secret.
pub(super) const MAX_LENGTH: usize = 4096;
/// Rows that are not in the file yet.
#[derive(Debug)]
pub struct PendingRows {
    pub rows: VecDeque<EventRow>,
    bytes: usize,
    growing: Option<(Event, Instant)>,
    /// Since when rows wait that are written together with the next ones.
    pub deferred: Option<Instant>,
    /// When the disk last failed.
    pub failed_at: Option<Instant>,
    /// Why, as it was reported.
    pub failure: Option<LocalizedText>,
    pub redactor: Arc<Redactor>,
    /// When events happened that are copied from elsewhere; `None`: now.
    pub at: Option<i64>,
}

impl PendingRows {
    pub fn new(redactor: Arc<Redactor>) -> PendingRows {
        PendingRows {
            rows: VecDeque::new(),
            bytes: 0,
            growing: None,
            deferred: None,
            failed_at: None,
            failure: None,
            redactor,
            at: None,
        }
    }

    pub fn append_growing(&mut self, event: Event) {
        let event = match self.growing.take() {
            None => (event, Instant::now()),
            Some((mut earlier, since)) => match merge_text(&mut earlier, event) {
                None => (earlier, since),
                Some(later) => {
                    self.push(&earlier);
                    (later, Instant::now())
                }
            },
        };
        self.growing = Some(event);
    }

    /// Turns the grown text into a row. With `held`, a word at its end that might be the start of a
    /// secret is held back until it is complete.
    pub fn flush_growing(&mut self, held: Option<usize>) {
        let Some((mut event, _)) = self.growing.take() else { return };
        if let Some(most) = held
            && let Some(text) = growing_text(&mut event)
        {
            let word = text.len() - unfinished_token_len(text);
            if text.len() - word > BEGUN && text.len() - word < most {
                let rest = text.split_off(word);
                let mut later = event.clone();
                if let Some(text) = growing_text(&mut later) {
                    *text = rest;
                }
                self.growing = Some((later, Instant::now()));
            }
        }
        if growing_text(&mut event).is_some_and(|text| !text.is_empty()) {
            self.push(&event);
        }
    }

    pub fn push(&mut self, event: &Event) {
        let Some(row) = EventRow::new(event, self.at.unwrap_or_else(now), &self.redactor) else {
            return;
        };
        self.bytes += row.weight();
        self.rows.push_back(row);
        while self.bytes > WAITING
            && let Some(lost) = self.rows.pop_front()
        {
            self.bytes -= lost.weight();
        }
    }

    /// Drops what waits. A disk that failed just now is still left alone for a while.
    pub fn clear(&mut self) {
        let redactor = Arc::clone(&self.redactor);
        let failed_at = self.failed_at.filter(|_| !self.rows.is_empty());
        *self = PendingRows { failed_at, ..PendingRows::new(redactor) };
    }

    /// The rows are in the file. True if their failure was reported.
    pub fn was_written(&mut self) -> bool {
        self.rows.clear();
        self.bytes = 0;
        self.failed_at = None;
        self.failure.take().is_some()
    }

    /// The latest time to write growing text, and the time to try a failed disk again.
    pub fn next_deadline(&self) -> Option<Instant> {
        let grown = self.growing.as_ref().map(|(_, since)| *since);
        let later = grown.into_iter().chain(self.deferred).map(|since| since + GROWING);
        let again = self.failed_at.filter(|_| !self.rows.is_empty());
        later.chain(again.map(|failed| failed + AGAIN)).min()
    }

    pub fn is_backing_off(&self) -> bool {
        self.failed_at.is_some_and(|failed| failed.elapsed() < AGAIN)
    }

    /// The next try is made whenever the last one was.
    pub fn end_back_off(&mut self) {
        if let Some(failed) = &mut self.failed_at {
            *failed = failed.checked_sub(AGAIN).unwrap_or(*failed);
        }
    }
}

/// Joins text of one kind; returns text of another kind.
pub fn merge_text(event: &mut Event, later: Event) -> Option<Event> {
    match (event, later) {
        (Event::Delta { text }, Event::Delta { text: more })
        | (Event::ReasoningDelta { text }, Event::ReasoningDelta { text: more }) => {
            text.push_str(&more);
            None
        }
        (Event::StepOutput { id, text }, Event::StepOutput { id: same, text: more })
            if *id == same =>
        {
            text.push_str(&more);
            None
        }
        (_, later) => Some(later),
    }
}

fn growing_text(event: &mut Event) -> Option<&mut String> {
    match event {
        Event::Delta { text } | Event::ReasoningDelta { text } | Event::StepOutput { text, .. } => {
            Some(text)
        }
        _ => None,
    }
}

/// The number of bytes at the end of a text that may continue as one token.
fn unfinished_token_len(text: &str) -> usize {
    let token = |c: char| c.is_ascii_alphanumeric() || "_-./+=:~@%".contains(c);
    text.chars().rev().take_while(|c| token(*c)).count()
}
