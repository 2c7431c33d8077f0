//! How the program ends, as the shell that started it sees it.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    /// The work failed: the model answered with an error, a file could not be written.
    Failed = 1,
    WrongUse = 2,
    /// A step was refused or declined, and the task could not finish without it.
    Blocked = 3,
    /// A limit was reached.
    Limit = 4,
    /// The model or its server failed.
    Model = 5,
    Interrupted = 130,
}

impl Exit {
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
