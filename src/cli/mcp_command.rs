//! The arguments of `avocet mcp`, and what it prints of a server.

use clap::{Args, Subcommand};

use avocet_core::i18n::{LocalizedText, mcp_pages as phrases};
use avocet_core::protocol::PageRow;
use avocet_core::text;
use avocet_mcp::{McpServerFacts, ServerDefinition};

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum McpCommand {
    /// List the servers of all settings.
    #[command(after_help = "Example:\n  avocet mcp list --json")]
    List,
    /// Show where a server is defined, and what is started.
    #[command(after_help = "Example:\n  avocet mcp show git")]
    Show {
        /// Its name.
        server: String,
    },
    /// Add a server to your settings: a command, or an address.
    #[command(after_help = "Examples:
  avocet mcp add git -- uvx mcp-server-git
  avocet mcp add issues --url https://mcp.example.com/mcp --header 'Authorization: Bearer ${TOKEN}'")]
    Add(NewServer),
    /// Remove a server from your settings.
    #[command(after_help = "Example:\n  avocet mcp remove git")]
    Remove {
        /// Its name.
        server: String,
    },
    /// Start a server, and list its tools.
    #[command(after_help = "Example:\n  avocet mcp test git")]
    Test {
        /// Its name.
        server: String,
    },
    /// Log in at a server, in a browser.
    #[command(after_help = "Example:\n  avocet mcp login issues")]
    Login {
        /// Its name.
        server: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct NewServer {
    /// Its name.
    pub server: String,
    /// The address of a server, in place of a command.
    #[arg(long, conflicts_with = "command", required_unless_present = "command")]
    pub url: Option<String>,
    /// A variable for the command; may be given several times.
    #[arg(long, value_name = "NAME=VALUE", requires = "command")]
    pub env: Vec<String>,
    /// A header for the address; may be given several times.
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    pub header: Vec<String>,
    /// The command and its arguments, after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl NewServer {
    /// The variables or the headers, each as its name and its value.
    ///
    /// # Errors
    /// A sentence about the first that has no name.
    pub fn pairs(&self) -> Result<Vec<(String, String)>, LocalizedText> {
        let split = |text: &String, sign: char| {
            let (name, value) = text.split_once(sign).unwrap_or_default();
            let name = name.trim().to_owned();
            let value = value.trim().to_owned();

            let say = || phrases::NO_PAIR.with("found", text::visible(text));
            if name.is_empty() { Err(say()) } else { Ok((name, value)) }
        };
        let variables = self.env.iter().map(|text| split(text, '='));
        variables.chain(self.header.iter().map(|text| split(text, ':'))).collect()
    }
}

/// What is known of a server without starting it.
pub fn definition_rows(
    definition: &ServerDefinition,
    state: Option<LocalizedText>,
) -> Vec<PageRow> {
    let file = definition.origin.file.display().to_string();
    let mut rows = vec![
        PageRow::heading(definition.name.as_str()),
        PageRow::pair(phrases::STARTS, definition.summary()),
        PageRow::pair(phrases::FILE, file),
    ];
    let names = definition.variable_names().join(", ");
    if !names.is_empty() {
        rows.push(PageRow::pair(phrases::VARIABLES, names));
    }
    rows.extend(state.map(|state| PageRow::pair(phrases::STATE, state)));
    rows
}

/// What a server that runs offers.
pub fn facts_rows(name: &str, facts: &McpServerFacts) -> Vec<PageRow> {
    let running = phrases::RUNNING
        .with("count", facts.tools.len())
        .with("title", facts.title.as_str())
        .with("revision", facts.revision.as_str());
    let about = |text: &str| text::cut(&text::one_line(text), 100);
    let tools = facts.tools.iter();
    let tools = tools.map(|tool| PageRow::pair(tool.name.as_str(), about(&tool.description)));
    [PageRow::heading(name), PageRow::line(running)].into_iter().chain(tools).collect()
}
