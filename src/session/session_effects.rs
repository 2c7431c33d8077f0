//! What a part of a session answers to an op: what the rest of the session does about it, which
//! `run` carries out.

use avocet_core::protocol::{Event, Notice};

pub type Effects = Vec<SessionEffect>;

/// What follows from an op, beside what the part of the session changed of its own.
#[derive(Debug)]
pub enum SessionEffect {
    /// The session info changed.
    InfoChanged,
    /// What MCP servers offer the user has changed.
    OffersChanged,
    /// The tools that later turns have may be others.
    ToolsChanged,
    /// Files may have changed.
    FilesChanged,
    /// Folders were added.
    FoldersChanged,
    /// Something else may be asked that belongs to no turn.
    QuestionWaits,
    /// Saved, and not shown.
    Record(Box<Event>),
    /// Shown.
    Event(Box<Event>),
}

impl SessionEffect {
    pub fn record(event: Event) -> SessionEffect {
        SessionEffect::Record(Box::new(event))
    }
}

impl From<Event> for SessionEffect {
    fn from(event: Event) -> SessionEffect {
        SessionEffect::Event(Box::new(event))
    }
}

impl From<Notice> for SessionEffect {
    fn from(notice: Notice) -> SessionEffect {
        Event::Notice(notice).into()
    }
}
