//! The user's agents, bots, commands and skills, loaded from their files.
//!
//! | file | does |
//! |---|---|
//! | `search_path` | the search path: which folders are searched, in order of precedence |
//! | `scan` | finds the files, and detects changes |
//! | `agent`, `bot`, `command`, `skill` | parse one file each |
//! | `traits` | what these files say of themselves as slash commands |
//! | `skill_list` | the list of all skills, and the part of it the model gets |
//! | `compat` | the same things in the formats of other agents, read in place |
//! | `load` | loads everything, with states: loaded, shadowed, refused |
//! | `rows` | lists the files of a kind with their states |
//! | `expand` | expands a template with its arguments to a prompt |
//! | `edit` | creates, changes and deletes the user's own files |
//! | `examples` | the files `avocet init-home` copies |
//!
//! Not in here: the syntax of templates (`prompt`), running anything, the command line.

pub mod agent;
pub mod bot;
pub mod command;
pub mod compat;
pub mod edit;
pub mod examples;
pub mod expand;
mod file_kind;
mod front_matter;
mod load;
mod lookup;
mod message;
pub mod name;
mod rows;
mod scan;
pub mod search_path;
pub mod skill;
pub mod skill_list;
mod traits;
mod yaml;

#[cfg(test)]
mod tests;

pub use agent::AgentDefinition;
pub use bot::Bot;
pub use command::{CustomCommand, TemplateMarks};
pub use file_kind::ExtensionFileKind;
pub use load::{ExtensionLibrary, LoadState, LoadedFile, ShadowedBy};
pub use lookup::LookupError;
pub use search_path::{ExtensionSource, Owner, SearchDir, SearchPath};
pub use skill::Skill;
pub use skill_list::SkillsContext;

use message::{io_message, message_at, toml_message};
