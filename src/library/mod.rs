//! What people keep for the program: bots, commands and skills, read from their files.
//!
//! | file | does |
//! |---|---|
//! | `places` | which folders are looked into, and which of them wins |
//! | `scan` | finds the files, and notices when they change |
//! | `bot`, `command`, `skill` | read one file each |
//! | `skills` | all skills, and what the model is told of them |
//! | `foreign` | the same things as other agents write them, read in place |
//! | `load` | puts it together: loaded, shadowed by, refused because |
//! | `fill` | makes a prompt of a template and its arguments |
//! | `saved` | makes, changes and deletes files of one's own |
//! | `examples` | what `avocet init-home` copies |
//!
//! Not in here: what a template means (`prompt`), running anything, the command line.

pub mod bot;
pub mod command;
pub mod examples;
pub mod fill;
pub mod foreign;
mod front;
mod load;
pub mod name;
pub mod places;
pub mod saved;
mod scan;
pub mod skill;
pub mod skills;
mod yaml;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use bot::Bot;
pub use command::{Command, Form};
pub use load::{Absent, By, File, Library, State};
pub use places::{Maker, Owner, Place, Places};
pub use skill::Skill;
pub use skills::SkillsContext;

use crate::config::problem::{Place as At, Problem, Written};
use crate::config::{Fault, problem};
use crate::words::{self, Say, Spoken, Word};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Bot,
    Command,
    Skill,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Bot, Kind::Command, Kind::Skill];

    /// As the command line and JSON spell it.
    pub fn code(self) -> &'static str {
        match self {
            Kind::Bot => "bot",
            Kind::Command => "command",
            Kind::Skill => "skill",
        }
    }

    pub fn word(self) -> Word {
        use words::library as w;
        match self {
            Kind::Bot => w::A_BOT,
            Kind::Command => w::A_COMMAND,
            Kind::Skill => w::A_SKILL,
        }
    }
}

/// A sentence about a place in a file, or about the whole of it.
fn at(file: &std::path::Path, place: Option<At>, word: Word) -> Say {
    let file = file.display().to_string();
    match place {
        None => word.with("place", file),
        Some(At { line, column }) => {
            let place = words::config::AT_PLACE.with("file", file);
            word.with("place", place.with("line", line).with("column", column))
        }
    }
}

/// What is wrong with a TOML file, as one sentence.
fn wrong(file: &std::path::Path, fault: Fault) -> Say {
    Problem { written: Written::File(PathBuf::from(file)), place: None, key: None, fault }.say()
}

/// Why a file of one's own could not be made, changed or deleted.
fn io_say(word: Word, file: &std::path::Path, error: &std::io::Error) -> Say {
    word.with("file", file.display().to_string()).with("why", problem::io_reason(error))
}
