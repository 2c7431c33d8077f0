//! The page of `/lsp`: each server with its state, its memory and its last error.

use super::definition::LanguageDefinitions;
use super::server::{LanguageServer, ServerState};
use avocet_core::i18n::{LocalizedText, lsp as phrases, mcp_pages};
use avocet_core::protocol::PageRow;

/// A page whose slow parts are still to be looked up.
pub(crate) struct UnfinishedPage {
    running: Vec<RunningRow>,
    definitions: LanguageDefinitions,
    is_trusted: bool,
}

struct RunningRow {
    name: String,
    root: String,
    state: LocalizedText,
    last_error: Option<LocalizedText>,
    /// What adds up its memory, and the most each of its processes may have, in MiB.
    memory: Option<(Box<dyn FnOnce() -> u64 + Send>, u64)>,
}

pub(crate) fn rows(
    servers: &[LanguageServer],
    definitions: &LanguageDefinitions,
    is_trusted: bool,
) -> UnfinishedPage {
    let running = servers.iter().map(RunningRow::new).collect();
    UnfinishedPage { running, definitions: definitions.clone(), is_trusted }
}

impl RunningRow {
    fn new(server: &LanguageServer) -> RunningRow {
        let process = match &server.state {
            ServerState::Opening(_, connection) | ServerState::Ready(connection) => {
                Some(&connection.process)
            }
            _ => None,
        };
        let limit = server.definition.memory;
        RunningRow {
            name: server.definition.name.clone(),
            root: server.root.display().to_string(),
            state: match &server.state {
                ServerState::Launching(_) | ServerState::Opening(..) => mcp_pages::STARTING.into(),
                ServerState::Ready(_) if server.is_busy() => phrases::BUSY.into(),
                ServerState::Ready(_) => phrases::RUNNING.with("n", server.documents.len()),
                ServerState::Ended => phrases::STOPPED.into(),
                ServerState::Failed => phrases::GIVEN_UP.into(),
            },
            last_error: server.last_error.clone(),
            memory: process.map(|process| (process.memory_probe(), limit)),
        }
    }
}

impl UnfinishedPage {
    /// Looks up the memory, and which other servers are there. Blocks.
    pub fn finish(self, is_installed: impl Fn(&str) -> bool) -> Vec<PageRow> {
        let mut rows = Vec::new();
        if !self.is_trusted {
            rows.push(PageRow::line(phrases::UNTRUSTED));
        }
        let names: Vec<String> = self.running.iter().map(|row| row.name.clone()).collect();
        for row in self.running {
            rows.push(PageRow::pair(row.name.as_str(), row.state));
            rows.push(PageRow::pair("", row.root.as_str()));
            if let Some((probe, limit)) = row.memory {
                let used = probe() >> 20;
                rows.push(PageRow::pair(
                    "",
                    phrases::MEMORY.with("used", used).with("limit", limit),
                ));
            }
            if let Some(error) = row.last_error {
                rows.push(PageRow::pair("", phrases::LAST_ERROR.with("why", error)));
            }
        }
        let others = self.definitions.servers.iter().filter(|server| !names.contains(&server.name));
        for server in others {
            let program = server.command.first().map(String::as_str).unwrap_or_default();
            if !server.is_enabled {
                rows.push(PageRow::pair(server.name.as_str(), mcp_pages::OFF));
            } else if is_installed(program) {
                rows.push(PageRow::pair(server.name.as_str(), phrases::WAITS));
            }
        }
        rows.extend(self.definitions.faults.into_iter().map(PageRow::line));
        rows.push(PageRow::line(phrases::HOW));
        rows
    }
}
