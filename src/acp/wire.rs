//! Messages of JSON-RPC 2.0, one a line: what comes is read on a thread of its own and never kept
//! longer than a bound, what goes out is written on another.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, Error, RequestId, SessionId, SessionNotification, SessionUpdate,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::de::{self, DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The longest message of a client, in bytes: an image fits.
pub const MAX_MESSAGE: usize = 8 << 20;
/// Messages that wait to be handled, and to be written.
const READ_CAPACITY: usize = 4;
const WRITE_CAPACITY: usize = 64;
/// How long the last messages may take when the program ends, and each one once the client has
/// closed its end.
pub const LAST_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// What says that the other end of a socket writes no more. That of a pipe is reported without asking.
#[cfg(target_os = "linux")]
const HALF_CLOSED: PollFlags = PollFlags::RDHUP;
#[cfg(not(target_os = "linux"))]
const HALF_CLOSED: PollFlags = PollFlags::empty();

/// A message of the client.
#[derive(Debug)]
pub enum ClientMessage {
    Request {
        id: RequestId,
        method: String,
        params: Box<RawValue>,
    },
    Notification {
        method: String,
        params: Box<RawValue>,
    },
    /// The answer to a request of ours; `None`: an error.
    Response {
        id: RequestId,
        result: Option<Box<RawValue>>,
    },
    /// What cannot be handled, with its answer.
    Invalid {
        id: RequestId,
        error: Error,
    },
}

/// The outer form of every message.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(default, deserialize_with = "present")]
    id: Option<RequestId>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A result may be `null`, and so may the id of a request: one without an id is a notification.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl ClientMessage {
    pub fn parse(line: &[u8]) -> ClientMessage {
        let parsed = if line.trim_ascii_start().starts_with(b"{") {
            serde_json::from_slice::<Envelope<'_>>(line)
        } else {
            // Batches are not part of the protocol.
            serde_json::from_slice(line).and_then(|IgnoredAny| Err(de::Error::custom("no object")))
        };
        let envelope = match parsed {
            Ok(envelope) => envelope,
            Err(error) if error.is_data() => return invalid(RequestId::Null),
            Err(_) => {
                return ClientMessage::Invalid { id: RequestId::Null, error: Error::parse_error() };
            }
        };
        let Envelope { jsonrpc, id, method, params, result, error } = envelope;
        if jsonrpc != "2.0" {
            return invalid(id.unwrap_or(RequestId::Null));
        }
        let params = || params.unwrap_or(RawValue::NULL).to_owned();
        match (method, id) {
            (Some(method), Some(id)) => {
                ClientMessage::Request { id, method: method.into_owned(), params: params() }
            }
            (Some(method), None) => {
                ClientMessage::Notification { method: method.into_owned(), params: params() }
            }
            (None, Some(id)) if result.is_some() || error.is_some() => {
                ClientMessage::Response { id, result: result.map(RawValue::to_owned) }
            }
            (None, id) => invalid(id.unwrap_or(RequestId::Null)),
        }
    }

    fn too_long() -> ClientMessage {
        let say = format!("a message has at most {MAX_MESSAGE} bytes");
        ClientMessage::Invalid { id: RequestId::Null, error: Error::invalid_request().data(say) }
    }
}

fn invalid(id: RequestId) -> ClientMessage {
    ClientMessage::Invalid { id, error: Error::invalid_request() }
}

/// The messages of the client, until it closes its end.
///
/// # Errors
/// The system starts no thread.
pub fn read_messages(input: impl Read + Send + 'static) -> io::Result<Receiver<ClientMessage>> {
    let (sender, messages) = mpsc::channel(READ_CAPACITY);
    thread::Builder::new().name("acp-in".into()).spawn(move || {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        while let Ok(Some(is_whole)) = read_line(&mut input, &mut line) {
            if is_whole && line.trim_ascii().is_empty() {
                continue;
            }
            let message =
                if is_whole { ClientMessage::parse(&line) } else { ClientMessage::too_long() };
            if sender.blocking_send(message).is_err() {
                break;
            }
        }
    })?;
    Ok(messages)
}

/// Tells once the client has closed its end, even if it wrote more than there was room for.
///
/// # Errors
/// The system starts no thread.
pub fn watch_end(input: &impl AsFd) -> io::Result<CancellationToken> {
    let ended = CancellationToken::new();
    let told = ended.clone();
    let input = input.as_fd().try_clone_to_owned()?;
    thread::Builder::new().name("acp-end".into()).spawn(move || {
        let mut watched = [PollFd::new(&input, HALF_CLOSED)];
        while poll(&mut watched, None) == Err(Errno::INTR) {}
        told.cancel();
    })?;
    Ok(ended)
}

/// The next line, and whether it is whole: of one that is too long nothing is kept. `None`: the
/// input ended.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let mut is_whole = true;
    let mut is_empty = true;
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            return Ok((!is_empty).then_some(is_whole));
        }
        is_empty = false;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let kept = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
        is_whole &= line.len() + kept.len() <= MAX_MESSAGE;
        if is_whole {
            line.extend_from_slice(kept);
        } else {
            *line = Vec::new();
        }
        let taken = end.map_or(piece.len(), |end| end + 1);
        input.consume(taken);
        if end.is_some() {
            return Ok(Some(is_whole));
        }
    }
}

/// Writes messages for the client. One that cannot be written has no reader any more.
#[derive(Clone, Debug)]
pub struct MessageSender {
    lines: Sender<String>,
    leaving: CancellationToken,
    input_ended: CancellationToken,
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Error>,
}

#[derive(Serialize)]
struct Call<'a, Params> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    method: &'a str,
    params: &'a Params,
}

/// What a request is answered with.
pub type AgentAnswer = Result<Box<RawValue>, Error>;

/// An answer as it is written.
pub fn answer_of(result: &impl Serialize) -> AgentAnswer {
    to_raw_value(result).map_err(Error::into_internal_error)
}

impl MessageSender {
    /// Writes on a thread of its own. The receiver ends once everything is written, after the last
    /// sender has gone.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(
        mut out: impl Write + Send + 'static,
        leaving: CancellationToken,
        input_ended: CancellationToken,
    ) -> io::Result<(MessageSender, Receiver<()>)> {
        let (lines, mut waiting) = mpsc::channel::<String>(WRITE_CAPACITY);
        let (done, ended) = mpsc::channel(1);
        thread::Builder::new().name("acp-out".into()).spawn(move || {
            let _done = done;
            while let Some(line) = waiting.blocking_recv() {
                if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
                    break;
                }
            }
        })?;
        Ok((MessageSender { lines, leaving, input_ended }, ended))
    }

    pub async fn answer(&self, id: &RequestId, answer: &AgentAnswer) {
        let result = answer.as_ref().ok().map(AsRef::as_ref);
        let error = answer.as_ref().err();
        self.send(&Answer { jsonrpc: "2.0", id, result, error }).await;
    }

    pub async fn update(&self, session: &SessionId, update: SessionUpdate) {
        let params = SessionNotification::new(session.clone(), update);
        self.notify(CLIENT_METHOD_NAMES.session_update, &params).await;
    }

    pub async fn notify(&self, method: &str, params: &impl Serialize) {
        self.send(&Call { jsonrpc: "2.0", id: None, method, params }).await;
    }

    pub async fn request(&self, id: &str, method: &str, params: &impl Serialize) {
        self.send(&Call { jsonrpc: "2.0", id: Some(id), method, params }).await;
    }

    async fn send(&self, message: &impl Serialize) {
        let Ok(mut line) = serde_json::to_string(message) else { return };
        line.push('\n');
        tokio::select! {
            biased;
            _ = self.lines.send(line) => {}
            () = self.leaving.cancelled() => {}
            // The client writes no more, and reads nothing.
            () = self.stalled_after_end() => self.leaving.cancel(),
        }
    }

    async fn stalled_after_end(&self) {
        self.input_ended.cancelled().await;
        sleep(LAST_WRITE_TIMEOUT).await;
    }

    /// Waits until the client reads no more.
    pub async fn closed(&self) {
        self.lines.closed().await;
    }
}

/// What a request or a notification says.
///
/// # Errors
/// It says something else.
pub fn parse_params<T: DeserializeOwned>(params: &RawValue) -> Result<T, Error> {
    serde_json::from_str(params.get())
        .map_err(|error| Error::invalid_params().data(error.to_string()))
}
