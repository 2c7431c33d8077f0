//! What a key does in a dialog.

use avocet_config::Secret;
use avocet_core::protocol::Op;

/// The result of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum ModalAction {
    Stay,
    Close,
    Send(Op),
    /// Copy this to the clipboard.
    Copy(String),
    /// Close, and put this into the input.
    Insert(String),
    /// An item of a list was selected or confirmed, or the list was left.
    Picked(Topic, PickerAction),
    /// An API key was typed.
    KeyEntered(Secret),
    /// The value of a setting was typed.
    SettingEntered(String),
    /// A letter that decided nothing yet: it marks a choice, is held, or has no use here. It is the
    /// beginning of a text if the user goes on typing.
    Undecided,
    /// The key has no meaning here; it may have one elsewhere.
    Unhandled,
}

/// The kind of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Theme,
    Model,
    Effort,
    /// A provider to connect to.
    Provider,
    /// A model of the provider that is being connected to.
    FirstModel,
    /// A saved session.
    Session,
    /// A turn to go back to.
    Turn,
    /// The parts to undo with that turn.
    RewindParts {
        turn: u64,
    },
    Bot,
    /// Where a note is kept.
    NotePlace,
    /// The fate of a conversation that is not saved.
    UnsavedConversation,
    Setting,
    /// A value of the setting that is being edited.
    SettingValue,
}

/// The result of a key in a picker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PickerAction {
    /// This row is selected now.
    Selected(String),
    Confirmed(String),
    /// It goes back to its default.
    Reset(String),
    /// Cancelled: everything is to be as before.
    Cancelled,
}
