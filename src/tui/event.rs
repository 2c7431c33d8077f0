//! What happens to the screen, and what it wants done: plain data on both sides of
//! [`super::update::update`].

use crossterm::event::{KeyEvent, MouseEvent};

use super::clipboard::Copied;
use super::ring::Ring;
use super::theme::Ground;
use crate::protocol::{self, AskId, Op};
use crate::words::Say;

/// Milliseconds since the screen began: the clock is the driver's.
pub type Millis = u64;

/// Something that happened, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub at: Millis,
    pub input: Input,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Key(KeyEvent),
    Paste(String),
    Mouse(MouseEvent),
    /// The terminal has another size now; the next drawing will know it.
    Resized,
    /// What was to be copied has been sent on.
    Copied(Copied),
    FocusGained,
    FocusLost,
    /// The terminal said what its background is.
    Ground(Ground),
    Session(Box<protocol::Event>),
    /// A setting could not be kept, and why.
    NotKept(Box<Say>),
    /// Nothing happened but the time.
    Tick,
    /// The person's own editor was closed: the text, or why there is none.
    Edited(Result<String, Say>),
    /// The first message, sent as if it had been typed.
    First(String),
}

/// What the driver must do after an update.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Send(Op),
    /// Look whether the commands and skills people keep have changed.
    Look,
    /// Keep this line in the history: it was sent.
    Keep(String),
    /// Leave the screen.
    Quit,
    /// Draw everything anew, trusting nothing of what is there.
    Redraw,
    /// Put this into the clipboard.
    Copy(String),
    /// Show this on the normal screen until a key is pressed.
    Dump(String),
    /// Call somebody who looks elsewhere, with a text of our own.
    Ring(Ring, &'static str),
    Title(String),
    /// Ask the terminal for its background; the answer comes when it comes.
    AskGround,
    /// Keep this setting for the next start.
    Set {
        key: &'static str,
        value: String,
    },
    /// Open the person's own editor on this text.
    Editor(String),
    /// Leave the terminal to a step, and say so by this answer.
    Lend(AskId),
    CaptureMouse,
    ReleaseMouse,
    Suspend,
}

impl Event {
    pub fn session(at: Millis, event: protocol::Event) -> Event {
        Event { at, input: Input::Session(Box::new(event)) }
    }

    pub fn key(at: Millis, key: impl Into<KeyEvent>) -> Event {
        Event { at, input: Input::Key(key.into()) }
    }
}
