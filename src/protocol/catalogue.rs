//! What a person keeps, as surfaces show it: commands and skills that can be typed, and
//! the names of bots. Sent whole when the files were read, and when they changed.

use serde::{Deserialize, Serialize};

use crate::words::Say;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// Commands, then skills, then what cannot be used.
    pub entries: Vec<Entry>,
    /// Names of bots, and what they are for.
    pub bots: Vec<(String, String)>,
    /// Names of scripts that can be run.
    #[serde(default)]
    pub scripts: Vec<String>,
    /// What those of them take that say so.
    #[serde(default)]
    pub inputs: Vec<(String, Vec<String>)>,
    /// What the model's list of skills has no room for.
    #[serde(default)]
    pub untold: Untold,
    /// What the folder holds that waits until it is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Say>,
}

/// Skills a model is not told of, or in fewer words than their files have, because its
/// list has a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// How many skills a model may be told of.
    pub of: usize,
    /// How many of them are left out.
    pub count: usize,
    /// The first of them.
    pub names: Vec<String>,
    /// Examples and descriptions of the others are cut.
    pub cut: bool,
    /// The bound, in bytes.
    pub most: usize,
}

/// One command or skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub kind: EntryKind,
    /// Without the slash.
    pub name: String,
    /// One line, made safe.
    pub about: String,
    /// What may follow the name, as its file says it; one line, made safe.
    pub hint: String,
    /// Whose it is.
    pub from: Say,
    pub state: EntryState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    Command,
    Skill,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryState {
    Usable,
    /// A skill that only a person enters.
    Sensitive,
    /// Something else has the name.
    Hidden(Say),
    /// It cannot be read.
    Broken(Say),
}

impl Entry {
    /// True for one that can be typed.
    pub fn can_be_typed(&self) -> bool {
        matches!(self.state, EntryState::Usable | EntryState::Sensitive)
    }
}

impl Catalogue {
    /// The entry that is typed so: a command before a skill, and for one in folders the
    /// last part of its name where no other has it.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let whole = |entry: &&Entry| entry.can_be_typed() && entry.name == name;
        let last =
            |entry: &&Entry| entry.can_be_typed() && entry.name.rsplit(':').next() == Some(name);
        self.entries.iter().find(whole).or_else(|| {
            let mut ends = self.entries.iter().filter(last);
            ends.next().filter(|_| ends.next().is_none())
        })
    }

    /// One of that name that cannot be used.
    pub fn find_broken(&self, name: &str) -> Option<&Entry> {
        let broken = |entry: &&Entry| matches!(entry.state, EntryState::Broken(_));
        self.entries.iter().filter(broken).find(|entry| entry.name == name)
    }

    pub fn of(&self, kind: EntryKind) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.kind == kind)
    }
}
