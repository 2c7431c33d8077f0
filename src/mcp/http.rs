//! The address, the headers and the client of a remote server.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Url};

use avocet_core::i18n::mcp as phrases;
use avocet_model::exposed_host;
use avocet_model::net::build_client;

use super::client_error::reason;
use super::definition::RemoteServer;
use super::message::McpError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn url(server: &RemoteServer) -> Result<Url, McpError> {
    let url = Url::parse(&server.url).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| McpError::Unreachable { why: phrases::BAD_ADDRESS.into() })
}

pub(crate) fn client(url: &Url) -> Result<Client, McpError> {
    build_client(CONNECT_TIMEOUT, url)
        .map_err(|error| McpError::Unreachable { why: reason(&error.to_string()) })
}

/// What proves who the user is does not go to another machine unencrypted.
pub(crate) fn check_encrypted(url: &Url) -> Result<(), McpError> {
    match exposed_host(url.as_str(), true) {
        Some(host) => Err(McpError::Unreachable { why: phrases::PLAIN_HTTP.with("host", host) }),
        None => Ok(()),
    }
}

pub(crate) fn headers(server: &RemoteServer) -> Result<HashMap<HeaderName, HeaderValue>, McpError> {
    let url = url(server)?;
    let is_credential = |name: &String| name.eq_ignore_ascii_case("authorization");
    if url.password().is_some() || server.headers.keys().any(is_credential) {
        check_encrypted(&url)?;
    }
    let header = |(name, value): (&String, &String)| {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    };
    let headers: Option<_> = server.headers.iter().map(header).collect();
    headers.ok_or_else(|| McpError::Unreachable { why: phrases::BAD_HEADER.into() })
}
