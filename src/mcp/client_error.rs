//! Errors of the protocol's library as ours.

use std::error::Error;

use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;

use avocet_core::i18n::{LocalizedText, config};

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
        other => McpError::NoProtocol { why: clean::line(&other.to_string(), MAX_REASON) },
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
        other => McpError::NoProtocol { why: clean::line(&other.to_string(), MAX_REASON) },
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
