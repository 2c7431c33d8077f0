//! Errors of the protocol's library as ours.

use std::error::Error;

use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;

use avocet_core::i18n::{LocalizedText, config, mcp as phrases};

use super::clean;
use super::message::McpError;

const MAX_REASON: usize = 200;

pub(crate) fn of_start(error: &ClientInitializeError) -> McpError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return McpError::LoginNeeded;
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => McpError::Ended { last_line: String::new() },
        ClientInitializeError::TransportError { error, .. } => unreachable(error.error.as_ref()),
        ClientInitializeError::JsonRpcError(error) => {
            McpError::Refused { why: clean::line(&error.message, MAX_REASON) }
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_start(fallback),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let list: Vec<String> = server_supported.iter().map(ToString::to_string).collect();
            let list = clean::line(&list.join(", "), MAX_REASON);
            McpError::NoProtocol { why: phrases::WRONG_REVISION.with("list", list) }
        }
        ClientInitializeError::Cancelled => McpError::Cancelled,
        _ => McpError::NoProtocol { why: phrases::WRONG_START.into() },
    }
}

pub(crate) fn of_service(error: &ServiceError) -> McpError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return McpError::LoginNeeded;
    }
    match error {
        ServiceError::McpError(error) => {
            McpError::Refused { why: clean::line(&error.message, MAX_REASON) }
        }
        ServiceError::TransportSend(error) => unreachable(error.error.as_ref()),
        ServiceError::TransportClosed => McpError::Ended { last_line: String::new() },
        ServiceError::Cancelled { .. } => McpError::Cancelled,
        ServiceError::Timeout { timeout } => McpError::CallTimeout { seconds: timeout.as_secs() },
        _ => McpError::NoProtocol { why: phrases::WRONG_ANSWER.into() },
    }
}

/// The innermost reason: the outer ones only say that something was sent.
fn unreachable(error: &(dyn Error + Send + Sync + 'static)) -> McpError {
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let why = clean::line(&innermost.to_string(), MAX_REASON);
    McpError::Unreachable { why: reason(&why) }
}

pub(crate) fn reason(why: &str) -> LocalizedText {
    config::IO_OTHER.with("why", why)
}
