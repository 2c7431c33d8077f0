//! The system prompt of a turn, in the form that suits the model that answers.

use crate::context::system::{self, SystemFacts};
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Dialect, PromptSize};
use avocet_tools::{Tool, Toolbox};

/// The maximum number of commands in a reply, as stated in the prompt.
const MAX_COMMANDS: usize = 16;

/// What it is made of.
#[derive(Clone, Debug)]
pub struct SystemPrompts {
    pub cwd: String,
    pub lang: Lang,
    /// The bot's own prompt.
    pub bot: Option<String>,
    pub tools: Toolbox,
    /// What follows it: skills and scripts.
    pub sections: String,
}

impl SystemPrompts {
    pub fn text(&self, dialect: Dialect, size: PromptSize) -> String {
        let prompt = system::prompt(&SystemFacts {
            dialect,
            size,
            tools: self.tools.iter().map(Tool::prompt).collect(),
            cwd: &self.cwd,
            os: std::env::consts::OS,
            lang: self.lang,
            max_commands: MAX_COMMANDS,
            bot: self.bot.as_deref(),
        });
        prompt + &self.sections
    }
}
