//! The older transport over HTTP: a stream of events from the server, and an address that messages
//! to it are posted to.

use std::io;
use std::pin::Pin;

use futures_util::{Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, StatusCode, Url};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use avocet_core::i18n::mcp as phrases;
use avocet_model::sse::{SseError, SseEvent, events};

use super::client_error::reason;
use super::message::McpError;
use super::pipe::MAX_MESSAGE;

type Events = Pin<Box<dyn Stream<Item = Result<SseEvent, SseError<reqwest::Error>>> + Send>>;

pub(crate) struct SseTransport {
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
    events: Option<Events>,
}

impl SseTransport {
    /// Opens the stream, and waits for the address that the server names in it.
    pub async fn connect(
        client: Client,
        url: Url,
        headers: HeaderMap,
    ) -> Result<SseTransport, McpError> {
        let request = client.get(url.clone()).headers(headers.clone());
        let unreachable = |why: &str| McpError::Unreachable { why: reason(why) };
        let response = request.header(ACCEPT, "text/event-stream").send().await;
        let response = response.map_err(|error| unreachable(&error.without_url().to_string()))?;
        match response.status() {
            StatusCode::UNAUTHORIZED => return Err(McpError::LoginNeeded),
            status if !status.is_success() => return Err(unreachable(status.as_str())),
            _ => {}
        }
        let mut events: Events = Box::pin(events(response.bytes_stream(), MAX_MESSAGE));
        while let Some(Ok(event)) = events.next().await {
            if event.name == "endpoint" {
                let endpoint = url.join(&event.data).ok();
                // Messages hold what the user gave to this server and no other.
                let endpoint = endpoint.filter(|endpoint| endpoint.origin() == url.origin());
                let bad = || McpError::Unreachable { why: phrases::BAD_ENDPOINT.into() };
                let endpoint = endpoint.ok_or_else(bad)?;
                return Ok(SseTransport { client, endpoint, headers, events: Some(events) });
            }
        }
        Err(McpError::Ended { last_line: String::new() })
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        let body = serde_json::to_string(&message).map_err(io::Error::other);
        async move {
            let request = request.header(CONTENT_TYPE, "application/json").body(body?);
            let response = request.send().await.map_err(io::Error::other)?;
            response.error_for_status().map(drop).map_err(io::Error::other)
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = self.events.as_mut()?.next().await?.ok()?;
            // Anything but a message is passed over, as on standard output.
            if let Ok(message) = serde_json::from_str(&event.data) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.events = None;
        Ok(())
    }
}
