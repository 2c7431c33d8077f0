//! A WebSocket over the same client as every other request: the same certificates, proxies and
//! time limits.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{CONNECTION, UPGRADE};
use reqwest::{StatusCode, Upgraded, Url};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::client::build_client;
use super::http::HttpError;
use avocet_core::deadline::with_timeout;

const CONNECT: Duration = Duration::from_secs(10);
const HANDSHAKE: Duration = Duration::from_secs(30);

/// How long the other side may take to read what is sent to it.
const WRITE: Duration = Duration::from_secs(20);

/// Maximum size of a message, in bytes.
const MESSAGE_CAP: usize = 8 << 20;

/// A connection on which both sides send messages.
pub struct WebSocket {
    stream: Box<WebSocketStream<Upgraded>>,
}

/// What arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketEvent {
    Text(String),
    Binary(Bytes),
    /// The other side is there: a ping, or the answer to ours.
    Alive,
    /// Nothing follows. Without a code the connection broke.
    Closed(Option<u16>),
}

impl WebSocket {
    /// Opens the socket at a `ws` or `wss` address. Errors do not name it: it may hold a ticket.
    ///
    /// # Errors
    /// [`HttpError`] if there is no WebSocket.
    pub async fn connect(url: &str) -> Result<WebSocket, HttpError> {
        let http = match url.split_once(':') {
            Some(("ws", rest)) => format!("http:{rest}"),
            Some(("wss", rest)) => format!("https:{rest}"),
            _ => return Err(HttpError::Address),
        };
        let url = Url::parse(&http).map_err(|_| HttpError::Address)?;
        with_timeout(HANDSHAKE, WebSocket::upgrade(url)).await.unwrap_or(Err(HttpError::Timeout))
    }

    async fn upgrade(url: Url) -> Result<WebSocket, HttpError> {
        let client = build_client(CONNECT, &url).map_err(|_| HttpError::Address)?;
        let key = generate_key();
        let request = client
            .get(url)
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", &key);
        let response = request.send().await.map_err(|error| {
            if error.is_connect() { HttpError::Unreachable } else { HttpError::Broken }
        })?;
        let accepted = response.headers().get("sec-websocket-accept");
        let is_accepted =
            accepted.is_some_and(|accept| *accept == derive_accept_key(key.as_bytes()));
        if response.status() != StatusCode::SWITCHING_PROTOCOLS || !is_accepted {
            return Err(HttpError::Broken);
        }
        let upgraded = response.upgrade().await.map_err(|_| HttpError::Broken)?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_CAP))
            .max_frame_size(Some(MESSAGE_CAP));
        let stream = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
        Ok(WebSocket { stream: Box::new(stream) })
    }

    /// Waits for the next event; may be dropped without loss. Pings are answered.
    pub async fn next(&mut self) -> SocketEvent {
        match self.stream.next().await {
            Some(Ok(Message::Text(text))) => SocketEvent::Text(text.as_str().to_owned()),
            Some(Ok(Message::Binary(bytes))) => SocketEvent::Binary(bytes),
            Some(Ok(Message::Close(frame))) => {
                SocketEvent::Closed(frame.map(|frame| frame.code.into()))
            }
            Some(Ok(_)) => SocketEvent::Alive,
            Some(Err(_)) | None => SocketEvent::Closed(None),
        }
    }

    /// # Errors
    /// [`HttpError::Broken`] if the connection is gone or does not move.
    pub async fn send(&mut self, text: String) -> Result<(), HttpError> {
        self.write(Message::Text(text.into())).await
    }

    /// # Errors
    /// As [`WebSocket::send`].
    pub async fn send_binary(&mut self, bytes: Vec<u8>) -> Result<(), HttpError> {
        self.write(Message::Binary(bytes.into())).await
    }

    /// # Errors
    /// As [`WebSocket::send`].
    pub async fn ping(&mut self) -> Result<(), HttpError> {
        self.write(Message::Ping(Vec::new().into())).await
    }

    /// Ends the connection with a code, whether the other side hears it or not.
    pub async fn close(mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        let _ = self.write(Message::Close(Some(frame))).await;
    }

    async fn write(&mut self, message: Message) -> Result<(), HttpError> {
        let sent = with_timeout(WRITE, self.stream.send(message)).await;
        sent.map_err(|_| HttpError::Broken)?.map_err(|_| HttpError::Broken)
    }
}

impl std::fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebSocket")
    }
}
