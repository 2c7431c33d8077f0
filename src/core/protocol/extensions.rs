//! The user's extensions as surfaces show them: commands and skills that can be typed, and the
//! names of bots. Sent as a whole when the files are loaded, and when they change.

use serde::{Deserialize, Serialize};

use super::CommandTraits;
use crate::i18n::LocalizedText;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extensions {
    /// Commands, then skills, then unusable entries.
    pub entries: Vec<Extension>,
    /// Names of bots, and their descriptions.
    pub bots: Vec<(String, String)>,
    /// Names of bots that cannot be used, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_bots: Vec<(String, LocalizedText)>,
    /// Names of scripts that can be run.
    #[serde(default)]
    pub scripts: Vec<String>,
    /// The inputs of those scripts, as they were sent before `script_details`.
    #[serde(default)]
    pub inputs: Vec<(String, Vec<String>)>,
    /// What is known of those scripts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub script_details: Vec<ScriptDetails>,
    /// Skills that do not fit in the model's list.
    #[serde(default)]
    pub untold: OmittedSkills,
    /// The resources of MCP servers, as a message mentions them: `server:uri`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// What the folder contains that cannot be used until it is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<LocalizedText>,
    /// Names that several files claim, or that a built-in command has: who lost them and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clashes: Vec<LocalizedText>,
}

/// What a script says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptDetails {
    pub name: String,
    /// One line; empty if it has none.
    pub title: String,
    pub inputs: Vec<ScriptInput>,
    /// It is in a folder of scripts, so its name is a command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_command: bool,
}

/// One input of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptInput {
    pub name: String,
    /// The type as the script declares it; empty if it does not.
    pub kind: String,
    pub required: bool,
    /// The only values it accepts, if there are any.
    pub choices: Vec<String>,
    pub about: String,
}

/// Skills omitted from, or shortened in, the model's list because of its size limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedSkills {
    /// Total number of skills for the model.
    pub of: usize,
    /// Number of omitted skills.
    pub count: usize,
    /// The first omitted skills.
    pub names: Vec<String>,
    /// Examples and descriptions of the others are cut.
    pub cut: bool,
    /// Nothing but the names of the others has room.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_only: bool,
    /// The limit, in bytes.
    pub most: usize,
}

/// One command or skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    pub kind: ExtensionKind,
    /// Without the slash.
    pub name: String,
    /// One line, sanitised.
    pub about: String,
    /// The hint for its arguments, from its file; one line, sanitised.
    pub hint: String,
    /// Its owner.
    pub from: LocalizedText,
    pub state: ExtensionState,
    #[serde(default, skip_serializing_if = "CommandTraits::is_usual")]
    pub traits: CommandTraits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtensionKind {
    Command,
    Skill,
    /// A prompt of an MCP server.
    Prompt,
    Script,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtensionState {
    Usable,
    /// A skill that only the user can enter.
    Sensitive,
    /// Another entry has the same name.
    Hidden(LocalizedText),
    /// It cannot be read.
    Broken(LocalizedText),
}

impl Extension {
    /// True if it can be typed.
    pub fn can_be_typed(&self) -> bool {
        matches!(self.state, ExtensionState::Usable | ExtensionState::Sensitive)
    }
}

impl Extensions {
    /// The entry with this name: a command before a skill, then one with this alias, then the only
    /// one that has either in other letters of the same kind (`Deploy`), and for one in a folder the
    /// last part of its name if that is unique.
    pub fn find(&self, name: &str) -> Option<&Extension> {
        let typed = || self.entries.iter().filter(|entry| entry.can_be_typed());
        let only = |is: &dyn Fn(&Extension) -> bool| {
            let mut found = typed().filter(|entry| is(entry));
            found.next().filter(|_| found.next().is_none())
        };
        let lower = name.to_lowercase();
        let is_similar = |known: &String| known.to_lowercase() == lower;
        let aliases = |extension: &Extension, is: &dyn Fn(&String) -> bool| {
            extension.traits.aliases.iter().any(is)
        };
        let exact = typed().find(|entry| entry.name == name);
        exact
            .or_else(|| typed().find(|entry| aliases(entry, &|alias| alias == name)))
            .or_else(|| only(&|entry| is_similar(&entry.name)))
            .or_else(|| only(&|entry| aliases(entry, &is_similar)))
            .or_else(|| only(&|entry| entry.name.rsplit(':').next() == Some(name)))
    }

    /// An unusable entry with this name.
    pub fn find_broken(&self, name: &str) -> Option<&Extension> {
        let broken = |extension: &&Extension| matches!(extension.state, ExtensionState::Broken(_));
        self.entries.iter().filter(broken).find(|entry| entry.name == name)
    }

    pub fn of_kind(&self, kind: ExtensionKind) -> impl Iterator<Item = &Extension> {
        self.entries.iter().filter(move |entry| entry.kind == kind)
    }
}
