//! The kinds of files.

use avocet_core::i18n::{self, Phrase, common};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExtensionFileKind {
    Agent,
    Bot,
    Command,
    Skill,
}

impl ExtensionFileKind {
    pub const ALL: [ExtensionFileKind; 4] = [
        ExtensionFileKind::Agent,
        ExtensionFileKind::Bot,
        ExtensionFileKind::Command,
        ExtensionFileKind::Skill,
    ];

    /// The spelling on the command line and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            ExtensionFileKind::Agent => "agent",
            ExtensionFileKind::Bot => "bot",
            ExtensionFileKind::Command => "command",
            ExtensionFileKind::Skill => "skill",
        }
    }

    pub fn phrase(self) -> Phrase {
        use i18n::library as w;
        match self {
            ExtensionFileKind::Agent => i18n::agents::AN_AGENT,
            ExtensionFileKind::Bot => common::BOT,
            ExtensionFileKind::Command => w::A_COMMAND,
            ExtensionFileKind::Skill => w::A_SKILL,
        }
    }
}
