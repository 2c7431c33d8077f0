//! What a part of a session answers to an op: what the rest of the session does about it, which
//! `run` carries out.

use super::change_log::{AfterRestore, RestoreTurn, Restores};
use super::session_questions::SessionQuestion;
use crate::context::compact::CompactionPlan;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{Event, Notice};
use avocet_mcp::{McpQuestionId, SamplingRequest};
use avocet_store::Resumed;

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
    /// The user is to be asked this, which belongs to no turn.
    Ask(SessionQuestion),
    /// The user is asked whether the folder is trusted, for this reason.
    AskTrust(LocalizedText),
    /// A server takes back what it asked.
    Withdraw { server: String, question: McpQuestionId },
    /// A server asks the model.
    Sample { server: String, request: Box<SamplingRequest> },
    /// The page of servers is shown, once those that start have.
    ShowServers,
    /// A saved session goes on.
    Resume(Box<Resumed>),
    /// The history is compressed, in a turn of its own.
    Compress { focus: Option<String>, plan: CompactionPlan },
    /// Files get another content, in a turn of their own.
    Restore(Box<RestoreTurn>),
    /// Saved, and not shown.
    Record(Box<Event>),
    /// Shown.
    Event(Box<Event>),
}

impl SessionEffect {
    pub fn record(event: Event) -> SessionEffect {
        SessionEffect::Record(Box::new(event))
    }

    pub fn restore(text: &'static str, after: AfterRestore, restores: Restores) -> SessionEffect {
        SessionEffect::Restore(Box::new(RestoreTurn { text, after, restores }))
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
