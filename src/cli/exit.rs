//! Exit codes of the program.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The run failed: the model answered with an error, or a file could not be written.
    Failed,
    WrongUse,
    /// A step was refused or rejected, and the task could not finish without it.
    Blocked,
    /// A limit was reached.
    Limit,
    /// The model or its server failed.
    Model,
    /// A signal ended the program, by its number.
    Signal(u8),
}

impl Exit {
    /// Ctrl-C.
    pub const INTERRUPTED: Exit = Exit::Signal(2);

    /// The code for a program ended by the signal of this number.
    pub fn by_signal(number: i32) -> Exit {
        u8::try_from(number).map_or(Exit::INTERRUPTED, Exit::Signal)
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::WrongUse => 2,
            Exit::Blocked => 3,
            Exit::Limit => 4,
            Exit::Model => 5,
            Exit::Signal(number) => 128_u8.saturating_add(number),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
