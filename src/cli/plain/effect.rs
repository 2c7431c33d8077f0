//! What a conversation in plain lines asks its driver for.

use crate::cli::Exit;
use avocet_core::protocol::{Notice, Op, Page};

/// An action for the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainEffect {
    /// A whole line, already made safe.
    Line(String),
    Notice(Notice),
    Page(Page),
    /// The prompt: the user can type.
    Prompt,
    Send(Op),
    End(Exit),
}
