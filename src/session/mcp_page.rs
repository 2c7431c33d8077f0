//! The page of `/mcp`: each server with its state and its tools.

use std::time::Instant;

use super::mcp_servers::{McpServerState, McpServers, SessionServer};
use avocet_core::i18n::{Localize, LocalizedText, mcp_pages as phrases};
use avocet_core::protocol::PageRow;
use avocet_core::text;

/// The most bytes of the names of a server's tools.
const MAX_NAMES: usize = 400;

pub(super) fn rows(mcp_servers: &McpServers) -> Vec<PageRow> {
    let McpServers { servers, faults, remarks, .. } = mcp_servers;
    let mut rows = Vec::new();
    for SessionServer { definition, state, without, .. } in servers {
        rows.push(PageRow::pair(definition.name.as_str(), describe(state)));
        rows.push(PageRow::pair("", definition.summary()));
        let without = without.iter().map(|need| phrases::WITHOUT.with("need", need.describe()));
        rows.extend(without.map(|say| PageRow::pair("", say)));
        let file = definition.origin.file.display().to_string();
        rows.push(PageRow::pair("", phrases::DEFINED_IN.with("file", file)));
        if let McpServerState::Running(facts) = state
            && !facts.tools.is_empty()
        {
            let names: Vec<&str> = facts.tools.iter().map(|tool| tool.name.as_str()).collect();
            rows.push(PageRow::pair(phrases::TOOLS, text::cut(&names.join(", "), MAX_NAMES)));
        }
    }
    rows.extend(faults.iter().chain(remarks).map(|fault| PageRow::line(fault.localized())));
    let hint = if servers.is_empty() { phrases::NONE } else { phrases::HOW };
    rows.push(PageRow::line(hint));
    rows
}

fn describe(state: &McpServerState) -> LocalizedText {
    match state {
        McpServerState::Off => phrases::OFF.into(),
        McpServerState::Untrusted => phrases::UNTRUSTED.into(),
        McpServerState::Unanswered => phrases::WAITS.into(),
        McpServerState::Declined => phrases::DECLINED.into(),
        McpServerState::Starting => phrases::STARTING.into(),
        McpServerState::Running(facts) => phrases::RUNNING
            .with("count", facts.tools.len())
            .with("title", facts.title.as_str())
            .with("revision", facts.revision.as_str()),
        McpServerState::Failed { error, again_at: None } => {
            phrases::FAILED.with("why", error.localized())
        }
        McpServerState::Failed { error, again_at: Some(at) } => phrases::FAILED_RETRIES
            .with("seconds", at.saturating_duration_since(Instant::now()).as_secs())
            .with("why", error.localized()),
    }
}
