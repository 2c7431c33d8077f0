//! The events of the screen and the effects they have: plain data on both sides of
//! [`super::update::update`].

use crossterm::event::{KeyEvent, MouseEvent};

use super::clipboard::CopyResult;
use super::connect::{ConnectRequest, ConnectResult};
use super::files::FileMatches;
use super::folders::FolderListing;
use super::notify::NotifyMethod;
use super::picture::PictureEvent;
use super::symbols::LineStyle;
use super::theme::Background;
use super::time::Millis;
use super::transcript::HighlightedCode;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{self, AskId, Op, SubmitId};
use avocet_tools::image::PreparedImage;

/// An event and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedInput {
    pub at: Millis,
    pub input: ScreenInput,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ScreenInput {
    Key(KeyEvent),
    Paste(String),
    Mouse(MouseEvent),
    /// The terminal has another size, which the next frame reads.
    Resized,
    /// The normal screen was left; the terminal has received no title meanwhile.
    ScreenReturned,
    /// What came of a request to connect.
    Connect(Box<ConnectResult>),
    /// An image was taken out of the clipboard, or why not.
    ImagePasted(Box<Result<PreparedImage, LocalizedText>>),
    /// A text was copied.
    Copied(CopyResult),
    FocusGained,
    FocusLost,
    /// The terminal reported its background.
    Background(Background),
    /// It reported how wide it draws solid lines.
    Lines(LineStyle),
    Picture(PictureEvent),
    Session(Box<protocol::Event>),
    /// Files whose names match the query.
    FileMatches(FileMatches),
    /// Folders that may complete a typed path.
    Folders(FolderListing),
    Highlighted(Box<HighlightedCode>),
    /// A setting could not be saved, and why.
    SettingNotSaved(Box<LocalizedText>),
    /// Time passed.
    Tick,
    /// The external editor was closed: the text, or why there is none.
    EditorClosed(Result<String, LocalizedText>),
    /// The first message, sent as if typed.
    FirstMessage(String),
}

/// What the driver must do after an update.
#[derive(Clone, Debug, PartialEq)]
pub enum ScreenEffect {
    Send(Op),
    /// Save this line in the history: it was sent. The operations that follow in the same update
    /// are its own.
    SaveHistory {
        line: String,
        /// `None`: nothing of it goes to the session.
        submit: Option<SubmitId>,
    },
    /// Quit.
    Quit,
    /// Redraw everything, regardless of what is on the terminal.
    Redraw,
    /// Connect to a provider.
    Connect(ConnectRequest),
    /// Take an image out of the clipboard.
    PasteImage,
    /// Copy this to the clipboard.
    Copy(String),
    /// Show this on the normal screen until a key is pressed.
    Dump(String),
    /// Notify a user who is looking elsewhere, with a fixed text.
    Notify(NotifyMethod, &'static str),
    Title(String),
    /// Ask the terminal with this sequence; the answer may come at any time.
    Query(String),
    /// Save this setting for the next start.
    SaveSetting {
        key: &'static str,
        value: String,
    },
    /// Open the user's editor on this text.
    Editor(String),
    /// Hand the terminal to a step, and confirm that with this answer.
    LendTerminal(AskId),
    CaptureMouse,
    ReleaseMouse,
    Suspend,
}

impl From<Background> for ScreenInput {
    fn from(background: Background) -> ScreenInput {
        ScreenInput::Background(background)
    }
}

impl TimedInput {
    pub fn session(at: Millis, event: protocol::Event) -> TimedInput {
        TimedInput { at, input: ScreenInput::Session(Box::new(event)) }
    }

    pub fn key(at: Millis, key: impl Into<KeyEvent>) -> TimedInput {
        TimedInput { at, input: ScreenInput::Key(key.into()) }
    }
}
