//! The system prompt of a turn, in the form that suits the model that answers.

use serde_json::Value;

use super::mcp_schemas::server_section;

use crate::context::system::{self, SystemPromptValues, WorkspaceFacts};
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Dialect, PromptSize};
use avocet_tools::Toolbox;

/// Tells the form of the answer in words: a server may not hold the model to it, and in the JSON
/// dialect the answer is a text inside of a reply.
pub(super) fn answer_section(schema: Option<&Value>) -> String {
    schema.map_or_else(String::new, |schema| {
        format!(
            "\n\nYour final answer (in a chat reply its message) is only one JSON value that fits \
             this JSON Schema, without a word or a fence around it:\n{schema}"
        )
    })
}

/// The maximum number of commands in a reply, as stated in the prompt.
const MAX_COMMANDS: usize = 16;

/// What it is made of.
#[derive(Clone, Debug)]
pub struct SystemPrompts {
    pub cwd: String,
    pub workspace_facts: WorkspaceFacts,
    pub lang: Lang,
    /// The bot's own prompt.
    pub bot: Option<String>,
    pub tools: Toolbox,
    /// What follows it: skills and scripts.
    pub sections: String,
}

impl SystemPrompts {
    pub fn text(&self, dialect: Dialect, size: PromptSize) -> String {
        let prompt = system::prompt(&SystemPromptValues {
            dialect,
            size,
            tools: self.tools.iter().map(|tool| tool.spec().prompt).collect(),
            cwd: &self.cwd,
            os: std::env::consts::OS,
            workspace_facts: &self.workspace_facts,
            lang: self.lang,
            max_commands: MAX_COMMANDS,
            bot: self.bot.as_deref(),
        });
        let of_servers = match dialect {
            Dialect::Json => server_section(self.tools.server_tools()),
            // They are sent as tools.
            Dialect::Tools => String::new(),
        };
        prompt + &self.sections + &of_servers
    }
}
