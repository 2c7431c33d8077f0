//! Faults in the use of the command line that its grammar does not find.

use avocet_core::i18n::{self, Localize, LocalizedText};

/// Wrong use that the parser cannot detect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.localized())]
pub enum UsageError {
    TwoPrompts,
    TwoBots,
    /// `-c` together with an id, or an unsaved new conversation together with a saved one.
    TwoSessions,
    /// No user can choose a conversation.
    NoSessionNamed,
    /// A prompt before a subcommand that does not take one.
    PromptAndCommand,
    /// The screen was requested without a terminal.
    NoTerminal,
    /// An option for conversations, given without one.
    OnlyChat {
        option: &'static str,
    },
    /// An option for headless runs where the run is not headless.
    OnlyHeadless {
        option: &'static str,
    },
    /// A word that is almost the name of a command.
    MisspeltCommand {
        given: String,
        nearest: String,
    },
    /// What it does elsewhere, it does not do here.
    WordOfOthers(i18n::Phrase),
}

/// First words of other programs, and what they mean here: never a message.
pub(super) const WORDS_OF_OTHERS: [(&[&str], i18n::Phrase); 2] =
    [(&["update", "upgrade"], i18n::cli::WORD_UPDATE), (&["exit", "quit"], i18n::cli::WORD_EXIT)];

impl Localize for UsageError {
    fn localized(&self) -> LocalizedText {
        use i18n::cli as w;
        match self {
            UsageError::TwoPrompts => w::TWO_PROMPTS.into(),
            UsageError::TwoBots => w::TWO_BOTS.into(),
            UsageError::TwoSessions => w::TWO_SESSIONS.into(),
            UsageError::NoSessionNamed => w::NO_SESSION_NAMED.into(),
            UsageError::PromptAndCommand => w::PROMPT_AND_COMMAND.into(),
            UsageError::NoTerminal => w::NO_TERMINAL.into(),
            UsageError::OnlyChat { option } => w::ONLY_CHAT.with("option", *option),
            UsageError::OnlyHeadless { option } => w::ONLY_HEADLESS.with("option", *option),
            UsageError::WordOfOthers(say) => (*say).into(),
            UsageError::MisspeltCommand { given, nearest } => {
                w::MISSPELT_COMMAND.with("given", given.as_str()).with("nearest", nearest.as_str())
            }
        }
    }
}
