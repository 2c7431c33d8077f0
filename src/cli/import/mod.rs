//! Conversations and settings of other clients (`avocet import`): what their files say, as events of a
//! session and settings of ours. Pure; `app` finds the files and saves what comes of them.

mod claude;
mod client;
mod codex;
mod gemini;
mod opencode;
mod session_reader;
mod settings_reader;

use clap::Args;

pub use client::ImportClient;
pub use opencode::OpencodeMessage;
pub use session_reader::{ImportedSession, LostParts, add_lost, lost_rows};
pub use settings_reader::ImportedSettings;

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ImportOptions {
    /// The client whose conversations and settings are copied.
    #[arg(value_enum)]
    pub client: ImportClient,
    /// Only show what would be copied.
    #[arg(long)]
    pub dry_run: bool,
}

impl ImportClient {
    /// Reads one file; of opencode, whose messages are files, [`OpencodeMessage`]s are read.
    pub fn read(self, bytes: &[u8]) -> ImportedSession {
        match self {
            ImportClient::Claude => claude::read(bytes),
            ImportClient::Codex => codex::read(bytes),
            ImportClient::Gemini => gemini::read(bytes),
            ImportClient::Opencode => ImportedSession::default(),
        }
    }

    /// The id of a conversation here: the same each time, so that none is saved twice.
    pub fn session_id(self, theirs: &str) -> String {
        const LETTERS: &[u8] = b"abcdefghjkmnpqrstvwxyz23456789";
        let bytes = self.name().bytes().chain([b':']).chain(theirs.bytes());
        // FNV-1a.
        let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let letter = |_| {
            let letter = LETTERS.get((hash % LETTERS.len() as u64) as usize).copied();
            hash /= LETTERS.len() as u64;
            char::from(letter.unwrap_or(b'a'))
        };
        (0..8).map(letter).collect()
    }
}

#[cfg(test)]
mod tests;
