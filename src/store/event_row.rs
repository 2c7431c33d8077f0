//! Converts events to rows: JSON with secrets masked, the searchable words, and the title of the
//! session.

use avocet_core::protocol::{
    Event, Observation, Question, StepAction, StepQuestion, TurnOrigin, Usage,
};
use avocet_core::text;
use avocet_safety::redact::Redactor;
use avocet_safety::sanitize::{self, CarriageReturnMode};

/// The maximum searchable size of one event, in bytes.
const SEARCHED: usize = 64 * 1024;
/// The maximum searchable size of a step's output, in bytes.
const OUTPUT: usize = 2 * 1024;
/// The maximum length of a title, in characters.
const TITLE: usize = 60;

/// One event to be written to the file.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    pub at: i64,
    pub kind: RowKind,
    /// Set for the start of a turn.
    pub turn: Option<u64>,
    pub body: String,
    /// Its searchable words; empty for none.
    pub searchable: String,
    /// The next step and question need higher numbers than these.
    pub step: u64,
    pub ask: u64,
    /// What a turn that ended used.
    pub usage: Option<Usage>,
}

/// What the writer does besides adding a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    TurnStarted,
    TurnEnded,
    /// Begins a new growing reply.
    ReplyStarted,
    Delta,
    /// Replaces the growing reply before it.
    ReplyComplete,
    StepStarted,
    Output,
    StepFinished,
    /// A folder, the mode or the goal of the session: a rewind does not remove it.
    Folder,
    Other,
}

impl RowKind {
    pub fn from_event(event: &Event) -> RowKind {
        match event {
            Event::TurnStarted { .. } => RowKind::TurnStarted,
            Event::TurnEnded { .. } => RowKind::TurnEnded,
            Event::ReplyStarted | Event::Retrying { .. } => RowKind::ReplyStarted,
            Event::Delta { .. } => RowKind::Delta,
            Event::Replied(_) | Event::Repairing { .. } => RowKind::ReplyComplete,
            Event::StepStarted { .. } => RowKind::StepStarted,
            Event::StepOutput { .. } => RowKind::Output,
            Event::StepFinished(_) => RowKind::StepFinished,
            Event::FolderAdded { .. } | Event::ApprovalModeSet { .. } | Event::GoalSet { .. } => {
                RowKind::Folder
            }
            _ => RowKind::Other,
        }
    }

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            RowKind::TurnStarted => "turn",
            RowKind::TurnEnded => "end",
            RowKind::ReplyStarted => "begins",
            RowKind::Delta => "delta",
            RowKind::ReplyComplete => "whole",
            RowKind::StepStarted => "step",
            RowKind::Output => "output",
            RowKind::StepFinished => "seen",
            RowKind::Folder => "folder",
            RowKind::Other => "other",
        }
    }

    /// Events that must survive a power failure, as far as a disk can promise.
    pub fn needs_sync(self) -> bool {
        match self {
            RowKind::TurnStarted
            | RowKind::TurnEnded
            | RowKind::ReplyComplete
            | RowKind::StepStarted
            | RowKind::StepFinished => true,
            RowKind::ReplyStarted
            | RowKind::Delta
            | RowKind::Output
            | RowKind::Folder
            | RowKind::Other => false,
        }
    }
}

impl EventRow {
    pub fn new(event: &Event, at: i64, redactor: &Redactor) -> Option<EventRow> {
        let kept;
        let event = match event {
            Event::Asked(ask) => {
                kept = Event::Asked(Box::new(ask.as_ref().clone().into_stored()));
                &kept
            }
            other => other,
        };
        let mut value = event.to_value().ok()?;
        redactor.mask_value(&mut value);
        let turn = match event {
            Event::TurnStarted { turn, .. } => Some(*turn),
            _ => None,
        };
        let (step, ask) = next_numbers(event);
        let usage = match event {
            Event::TurnEnded { usage, .. } => Some(*usage),
            _ => None,
        };
        Some(EventRow {
            at,
            kind: RowKind::from_event(event),
            turn,
            body: value.to_string(),
            searchable: redactor.mask(&searchable_text(event)).into_owned(),
            step,
            ask,
            usage,
        })
    }

    pub fn weight(&self) -> usize {
        self.body.len() + self.searchable.len() + 64
    }
}

fn next_numbers(event: &Event) -> (u64, u64) {
    let number = |id: &str| {
        let digits = id.rsplit('_').next().unwrap_or_default();
        digits.parse::<u64>().map_or(0, |number| number.saturating_add(1))
    };
    match event {
        Event::StepStarted { step, .. } => (number(&step.id), 0),
        Event::StepFinished(observation) => (number(&observation.step.id), 0),
        Event::Asked(ask) => {
            let step = match &ask.question {
                Question::Step(StepQuestion { step, .. }) => number(&step.id),
                Question::Pause { .. }
                | Question::Trust { .. }
                | Question::Pieces { .. }
                | Question::ScriptCall { .. }
                | Question::Plan { .. }
                | Question::Form { .. }
                | Question::Choice { .. } => 0,
            };
            (step, ask.id.0.saturating_add(1))
        }
        _ => (0, 0),
    }
}

/// The words of a saved event that the user may search for later.
pub fn searchable_text_in(body: &str) -> String {
    Event::from_json(body).map(|event| searchable_text(&event)).unwrap_or_default()
}

/// The words of an event that the user may search for later.
pub fn searchable_text(event: &Event) -> String {
    let text = match event {
        Event::TurnStarted { text, .. } | Event::Steered { text, .. } => text.clone(),
        Event::Replied(replied) => replied.message.clone(),
        Event::StepFinished(observation) => step_text(observation),
        _ => String::new(),
    };
    head(&sanitize::clean(text.trim(), CarriageReturnMode::EndsLine), SEARCHED).to_owned()
}

fn step_text(observation: &Observation) -> String {
    let line = match &observation.step.work {
        StepAction::Exec { program, args } => {
            let words = std::iter::once(program).chain(args);
            words.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        StepAction::Tool { name, input } => format!("{name} {input}"),
        StepAction::Shell { line } => line.clone(),
    };
    let output = [observation.stdout.as_str(), observation.stderr.as_str()];
    let output = output.map(|text| head(text, OUTPUT)).join("\n");
    format!("{line}\n{output}")
}

/// The title of a session, from its first message.
pub fn title_of(text: &str, origin: TurnOrigin) -> String {
    let text = match origin {
        TurnOrigin::Shell => text.trim_start_matches('!'),
        TurnOrigin::Typed | TurnOrigin::Queue | TurnOrigin::Command => text,
    };
    first_line(text, TITLE)
}

/// The first line that is not blank, safe to show, with a maximum number of characters.
pub fn first_line(foreign: &str, most: usize) -> String {
    let safe = sanitize::clean(head(foreign, SEARCHED), CarriageReturnMode::EndsLine);
    let line = safe.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    text::cut(&text::one_line(line), most)
}

/// The start of a text, up to a size in bytes.
pub fn head(text: &str, most: usize) -> &str {
    text.split_at(text.floor_char_boundary(most)).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::Notice;
    use avocet_core::protocol::Topic;

    #[test]
    fn a_continued_session_is_reported_and_not_saved() {
        use avocet_core::i18n::session;
        let told = |say: avocet_core::i18n::Phrase| Event::Notice(Notice::info(say));
        let resumed =
            Notice::info(session::RESUMED.with("title", "tests")).with_topic(Topic::Resumed);
        assert!(!Event::Notice(resumed).is_recorded());
        assert!(told(session::INTERRUPTED).is_recorded());
    }
}
