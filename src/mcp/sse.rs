//! The older transport over HTTP: a stream of events from the server, and an address that messages
//! to it are posted to.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::auth::{AuthError, AuthorizationManager};

use avocet_core::i18n::mcp as phrases;
use avocet_model::sse::{SseError, SseEvent, events};

use super::client_error::reason;
use super::message::McpError;
use super::pipe::MAX_MESSAGE;

type Events = Pin<Box<dyn Stream<Item = Result<SseEvent, SseError<reqwest::Error>>> + Send>>;

/// What requests are sent with.
#[derive(Clone)]
pub(crate) struct SseSender {
    pub client: Client,
    pub headers: HeaderMap,
    /// Those of a login.
    pub tokens: Option<Arc<AuthorizationManager>>,
}

impl SseSender {
    /// A request with its headers, and with a token that is still good.
    async fn prepare(&self, request: RequestBuilder) -> Result<RequestBuilder, AuthError> {
        let request = request.headers(self.headers.clone());
        match &self.tokens {
            Some(tokens) => tokens.prepare_request(request).await,
            None => Ok(request),
        }
    }
}

pub(crate) struct SseTransport {
    sender: SseSender,
    endpoint: Url,
    events: Option<Events>,
}

impl SseTransport {
    /// Opens the stream, and waits for the address that the server names in it.
    pub async fn connect(sender: SseSender, url: Url) -> Result<SseTransport, McpError> {
        let request = sender.prepare(sender.client.get(url.clone())).await;
        let request = request.map_err(|_| McpError::LoginNeeded)?;
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
                return Ok(SseTransport { sender, endpoint, events: Some(events) });
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
        let sender = self.sender.clone();
        let endpoint = self.endpoint.clone();
        let body = serde_json::to_string(&message).map_err(io::Error::other);
        async move {
            let request = sender.client.post(endpoint).header(CONTENT_TYPE, "application/json");
            let request = sender.prepare(request.body(body?)).await.map_err(io::Error::other)?;
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
