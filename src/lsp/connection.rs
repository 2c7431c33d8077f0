//! The process of one server: what is written to it, and what it writes.

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::diagnostic::clean_line;
use super::launch::{LanguageProcess, LanguageServerPipes};
use super::wire::{MessageReader, framed};
use avocet_core::i18n::LocalizedText;

/// Messages that wait to be written: a server that reads none has ended.
const MAX_UNWRITTEN: usize = 256;
/// What is remembered of the end of its standard error, in bytes.
const MAX_ERRORS: usize = 2000;
const MAX_LINE: usize = 200;

/// What comes of a process, with the number of its start.
pub(crate) enum ServerEvent {
    Launched(Result<LanguageServerPipes, LocalizedText>),
    Message(Value),
    Closed(LocalizedText),
}

pub(crate) type EventSender = mpsc::Sender<(u64, ServerEvent)>;

/// A process that is spoken to. It ends when this is dropped.
pub(crate) struct LanguageConnection {
    writer: mpsc::Sender<Vec<u8>>,
    pub process: Box<dyn LanguageProcess>,
    errors: watch::Receiver<String>,
    tasks: [JoinHandle<()>; 3],
    next_id: u64,
}

impl LanguageConnection {
    pub fn open(pipes: LanguageServerPipes, run: u64, events: EventSender) -> LanguageConnection {
        let (writer, unwritten) = mpsc::channel(MAX_UNWRITTEN);
        let (error_sender, errors) = watch::channel(String::new());
        let tasks = [
            tokio::spawn(write(pipes.input, unwritten)),
            tokio::spawn(read_errors(pipes.errors, error_sender)),
            tokio::spawn(read(pipes.output, run, events)),
        ];
        LanguageConnection { writer, process: pipes.process, errors, tasks, next_id: 1 }
    }

    /// False: it does not read what it is sent.
    #[must_use]
    pub fn notify(&self, method: &str, params: Value) -> bool {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// The number of a request on its way; `None`: it does not read what it is sent.
    pub fn request(&mut self, method: &str, params: Value) -> Option<u64> {
        let id = self.next_id;
        self.next_id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).then_some(id)
    }

    /// Answers a request of the server.
    #[must_use]
    pub fn answer(&self, id: &Value, result: Option<Value>) -> bool {
        self.send(&match result {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => {
                let error = json!({ "code": -32601, "message": "unknown" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        })
    }

    fn send(&self, message: &Value) -> bool {
        self.writer.try_send(framed(message)).is_ok()
    }

    /// The last line that it wrote about itself.
    pub fn last_error(&self) -> String {
        let errors = self.errors.borrow();
        let line = errors.lines().rev().find(|line| !line.trim().is_empty());
        clean_line(line.unwrap_or_default(), MAX_LINE)
    }
}

impl Drop for LanguageConnection {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn write(
    mut input: Box<dyn AsyncWrite + Send + Unpin>,
    mut unwritten: mpsc::Receiver<Vec<u8>>,
) {
    while let Some(message) = unwritten.recv().await {
        if input.write_all(&message).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

async fn read(output: Box<dyn AsyncRead + Send + Unpin>, run: u64, events: EventSender) {
    let mut reader = MessageReader::new(BufReader::new(output));
    loop {
        let event = match reader.next().await {
            Ok(message) => ServerEvent::Message(message),
            Err(why) => ServerEvent::Closed(why),
        };
        let is_closed = matches!(event, ServerEvent::Closed(_));
        if events.send((run, event)).await.is_err() || is_closed {
            return;
        }
    }
}

async fn read_errors(mut reader: Box<dyn AsyncRead + Send + Unpin>, sender: watch::Sender<String>) {
    let mut bytes = vec![0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut bytes).await {
        let new = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()).into_owned();
        sender.send_modify(|text| {
            text.push_str(&new);
            let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_ERRORS));
            text.drain(..start);
        });
    }
}
