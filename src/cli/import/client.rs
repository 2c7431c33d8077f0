//! The clients whose conversations and settings are read.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportClient {
    Claude,
    Codex,
    Opencode,
    Gemini,
}

impl ImportClient {
    pub fn name(self) -> &'static str {
        match self {
            ImportClient::Claude => "claude",
            ImportClient::Codex => "codex",
            ImportClient::Opencode => "opencode",
            ImportClient::Gemini => "gemini",
        }
    }
}
