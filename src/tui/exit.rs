//! Why the screen ended, and what it leaves.

use avocet_config::draft::SavedDraft;
use avocet_core::i18n::LocalizedText;

/// Why the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The user quit.
    UserQuit,
    /// The session is over.
    SessionClosed,
    /// A signal, by its number.
    Signal(i32),
    /// The terminal is gone.
    TerminalGone,
}

/// What the screen leaves to its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenExit {
    pub cause: Cause,
    /// The text in the input.
    pub draft: SavedDraft,
    /// What the conversation was and how to resume it, to be left on the normal screen.
    pub card: Vec<LocalizedText>,
    /// The user was asked about unsaved changes, and answered.
    pub has_handled_unsaved: bool,
}
