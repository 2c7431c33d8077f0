//! The user's bots, commands and skills, loaded from their files.
//!
//! | file | does |
//! |---|---|
//! | `search_path` | the search path: which folders are searched, in order of precedence |
//! | `scan` | finds the files, and detects changes |
//! | `bot`, `command`, `skill` | parse one file each |
//! | `skill_list` | the list of all skills, and the part of it the model gets |
//! | `compat` | the same things in the formats of other agents, read in place |
//! | `load` | loads everything, with states: loaded, shadowed, refused |
//! | `expand` | expands a template with its arguments to a prompt |
//! | `edit` | creates, changes and deletes the user's own files |
//! | `examples` | the files `avocet init-home` copies |
//!
//! Not in here: the syntax of templates (`prompt`), running anything, the command line.

pub mod bot;
pub mod command;
pub mod compat;
pub mod edit;
pub mod examples;
pub mod expand;
mod front_matter;
mod load;
mod lookup;
pub mod name;
mod scan;
pub mod search_path;
pub mod skill;
pub mod skill_list;
mod yaml;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use bot::Bot;
pub use command::{CustomCommand, TemplateMarks};
pub use load::{ExtensionSet, LoadState, LoadedFile, ShadowedBy};
pub use lookup::LookupError;
pub use search_path::{Maker, Owner, SearchDir, SearchPath};
pub use skill::Skill;
pub use skill_list::SkillsContext;

use crate::config::diagnostic::{ConfigDiagnostic, DiagnosticSource, TextPosition as At};
use crate::config::{ConfigError, diagnostic};
use crate::i18n::{self, Localize, LocalizedText, Phrase, common};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExtensionFileKind {
    Bot,
    Command,
    Skill,
}

impl ExtensionFileKind {
    pub const ALL: [ExtensionFileKind; 3] =
        [ExtensionFileKind::Bot, ExtensionFileKind::Command, ExtensionFileKind::Skill];

    /// The spelling on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            ExtensionFileKind::Bot => "bot",
            ExtensionFileKind::Command => "command",
            ExtensionFileKind::Skill => "skill",
        }
    }

    pub fn phrase(self) -> Phrase {
        use i18n::library as w;
        match self {
            ExtensionFileKind::Bot => common::BOT,
            ExtensionFileKind::Command => w::A_COMMAND,
            ExtensionFileKind::Skill => w::A_SKILL,
        }
    }
}

/// A sentence about a place in a file, or about the whole file.
fn message_at(file: &std::path::Path, place: Option<At>, word: Phrase) -> LocalizedText {
    let file = file.display().to_string();
    match place {
        None => word.with("place", file),
        Some(At { line, column }) => {
            let place = i18n::config::AT_PLACE.with("file", file);
            word.with("place", place.with("line", line).with("column", column))
        }
    }
}

/// The problem of a TOML file, as one sentence.
fn toml_message(file: &std::path::Path, fault: ConfigError) -> LocalizedText {
    ConfigDiagnostic {
        origin: DiagnosticSource::File(PathBuf::from(file)),
        place: None,
        key: None,
        fault,
    }
    .localized()
}

/// Why one of the user's files could not be created, changed or deleted.
fn io_message(word: Phrase, file: &std::path::Path, error: &std::io::Error) -> LocalizedText {
    word.with("file", file.display().to_string()).with("why", diagnostic::io_reason(error))
}
