//! The system prompt of a turn, in the form that suits the model that answers.

use super::state::Session;
use crate::context::system::{self, SystemFacts};
use crate::i18n::Lang;
use crate::protocol::{Dialect, PromptSize};
use crate::safety::tools::Registry;
use crate::tools::{Tool, Toolbox};

/// The maximum number of commands in a reply, as stated in the prompt.
const MAX_COMMANDS: usize = 16;

/// The maximum number of plugins that are named in it.
const MOST_PLUGINS: usize = 50;

impl Session {
    /// The plugins that the model may run, by name; what each can do it asks the plugin.
    pub(super) fn plugin_section(&self) -> String {
        let is_offered = self.tools.iter().any(|tool| tool.name() == "plugin.run");
        let home = &self.security.place.home;
        // A broken registry is reported where a plugin is listed or run.
        let registry = is_offered.then(|| Registry::read(home, self.security.world.as_ref()));
        let registry = registry.and_then(Result::ok).flatten().unwrap_or_default();
        let is_plain = |alias: &&str| {
            alias.len() <= 64
                && alias.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        let aliases = registry.entries.iter().map(|entry| entry.alias.as_str()).filter(is_plain);
        let aliases: Vec<&str> = aliases.take(MOST_PLUGINS).collect();
        match aliases.is_empty() {
            true => String::new(),
            false => format!("\n\nPlugins (tool plugin.run): {}", aliases.join(", ")),
        }
    }
}

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
