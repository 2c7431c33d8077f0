//! The address, the headers and the client of a remote server.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Url};

use avocet_core::i18n::mcp as phrases;
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

pub(crate) fn headers(server: &RemoteServer) -> Result<HashMap<HeaderName, HeaderValue>, McpError> {
    let header = |(name, value): (&String, &String)| {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    };
    let headers: Option<_> = server.headers.iter().map(header).collect();
    headers.ok_or_else(|| McpError::Unreachable { why: phrases::BAD_HEADER.into() })
}
