//! A model server for tests: on a random loopback port, in threads of its own, so that
//! tests without a runtime can use it as well. Each request gets the next [`Reply`]; what a client
//! looks up beside that (`/v1/models`, `/props`) gets the page of that path, or 404.
//!
//! What arrived and who left is kept in a log that tests can await; nothing sleeps.
//!
//! ```ignore
//! let server = Server::start(vec![Reply::text("Hello", 3), Reply::status(429)]);
//! // … call server.base_url() …
//! assert_eq!(server.requests()[0].json()["stream"], true);
//! ```

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::support::wait::PATIENCE;
use serde_json::{Value, json};
use tokio::sync::watch;

/// One answer of the server.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status line and headers; empty: the pieces are the raw bytes of the answer.
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    pause: Duration,
    /// Sent only once the test releases it.
    held: bool,
    end: End,
    raw: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    /// The connection breaks; the body has no end.
    Cut,
    /// Nothing more comes until the client goes away.
    Hang,
}

impl Reply {
    /// A streamed answer: `text` in `deltas` pieces, a finish reason, `[DONE]`.
    pub fn text(text: &str, deltas: usize) -> Reply {
        let mut events: Vec<String> =
            split(text, deltas).iter().map(|piece| event(&delta(piece))).collect();
        events.push(event(&finish("stop")));
        events.push("data: [DONE]\n\n".into());
        Reply::events(events)
    }

    /// A streamed `{"type":"chat","message":…}`.
    pub fn chat(message: &str) -> Reply {
        let reply = json!({ "type": "chat", "message": message, "data": { "format": "plain" } });
        Reply::text(&reply.to_string(), 8)
    }

    /// A streamed `{"type":"cmd"}` with one command.
    pub fn cmd(message: &str, program: &str, args: &[&str]) -> Reply {
        let command = json!({ "program": program, "args": args, "requires": {} });
        let data = json!({ "cwd": null, "commands": [command], "expected_effect": "" });
        Reply::text(&json!({ "type": "cmd", "message": message, "data": data }).to_string(), 8)
    }

    /// An event stream of these pieces, each written by itself.
    pub fn events<T: Into<Vec<u8>>>(pieces: impl IntoIterator<Item = T>) -> Reply {
        Reply::status(200).header("content-type", "text/event-stream").pieces(pieces)
    }

    /// A status with an empty body.
    pub fn status(status: u16) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            pieces: Vec::new(),
            pause: Duration::ZERO,
            held: false,
            end: End::Whole,
            raw: false,
        }
    }

    pub fn json(status: u16, body: &Value) -> Reply {
        Reply::status(status).header("content-type", "application/json").body(body.to_string())
    }

    /// The bytes of the connection as they are, head included.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply { raw: true, ..Reply::status(200).body(bytes) }
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn body(self, body: impl Into<Vec<u8>>) -> Reply {
        self.pieces([body])
    }

    pub fn pieces<T: Into<Vec<u8>>>(mut self, pieces: impl IntoIterator<Item = T>) -> Reply {
        self.pieces.extend(pieces.into_iter().map(Into::into));
        self
    }

    /// Waits so long before each piece.
    pub fn pause(mut self, pause: Duration) -> Reply {
        self.pause = pause;
        self
    }

    /// Waits for [`Server::release`].
    pub fn held(mut self) -> Reply {
        self.held = true;
        self
    }

    /// Only the first `pieces`, and then the connection breaks.
    pub fn cut_after(mut self, pieces: usize) -> Reply {
        self.pieces.truncate(pieces);
        self.end = End::Cut;
        self
    }

    /// Only the first `pieces`, and then nothing until the client goes away.
    pub fn hang_after(mut self, pieces: usize) -> Reply {
        self.pieces.truncate(pieces);
        self.end = End::Hang;
        self
    }
}

/// One event of a stream.
pub fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A chunk with more text.
pub fn delta(text: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] })
}

/// A chunk with a finish reason.
pub fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn split(text: &str, pieces: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces = pieces.clamp(1, chars.len().max(1));
    let at = |number: usize| number * chars.len() / pieces;
    (0..pieces).map(|number| chars[at(number)..at(number + 1)].iter().collect()).collect()
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// `POST /v1/chat/completions`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default)]
struct Log {
    requests: Vec<ReceivedRequest>,
    lookups: Vec<ReceivedRequest>,
    /// Clients that went away before their answer was whole.
    gone: usize,
    /// Answers that were written to their end.
    answered: usize,
    /// For each request: when it came, and when each piece of its answer was written.
    times: Vec<(Instant, Vec<Instant>)>,
}

/// A running server; it stops when dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    pages: Vec<(&'static str, Reply)>,
    /// Who looks a page up must have it.
    key: Option<&'static str>,
    /// Answers what has no reply, by all requests so far.
    responder: Option<fn(&[ReceivedRequest]) -> Reply>,
    log: watch::Sender<Log>,
    over: AtomicBool,
    released: Mutex<bool>,
    freed: Condvar,
}

/// A port at which nobody listens, outside of those that the system hands out: another test would
/// get it otherwise.
pub fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| fastrand::u16(10_000..32_000)).find(is_free).unwrap()
}

/// An address at which nobody listens.
pub fn nobody() -> String {
    format!("http://127.0.0.1:{}/v1", free_port())
}

impl Server {
    pub fn start(replies: Vec<Reply>) -> Server {
        Server::start_with_pages(replies, vec![])
    }

    /// Answers each request by all requests so far, this one last.
    pub fn start_answering(responder: fn(&[ReceivedRequest]) -> Reply) -> Server {
        Server::open(vec![], vec![], None, Some(responder))
    }

    /// The same, and this list of models can be looked up.
    pub fn start_with_models(replies: Vec<Reply>, models: &[&str]) -> Server {
        let data: Vec<Value> = models.iter().map(|id| json!({ "id": id })).collect();
        let list = Reply::json(200, &json!({ "data": data }));
        Server::start_with_pages(replies, vec![("/v1/models", list)])
    }

    /// The same, and these pages can be looked up, each as often as wanted.
    pub fn start_with_pages(replies: Vec<Reply>, pages: Vec<(&'static str, Reply)>) -> Server {
        Server::open(replies, pages, None, None)
    }

    /// The same, but the pages are only for who has this key.
    pub fn start_locked(
        replies: Vec<Reply>,
        pages: Vec<(&'static str, Reply)>,
        key: Option<&'static str>,
    ) -> Server {
        Server::open(replies, pages, key, None)
    }

    fn open(
        replies: Vec<Reply>,
        pages: Vec<(&'static str, Reply)>,
        key: Option<&'static str>,
        responder: Option<fn(&[ReceivedRequest]) -> Reply>,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            replies: Mutex::new(replies.into()),
            pages,
            key,
            responder,
            log: watch::Sender::new(Log::default()),
            over: AtomicBool::new(false),
            released: Mutex::new(false),
            freed: Condvar::new(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                // A client that breaks off is part of many tests.
                std::thread::spawn(move || shared.serve(client).unwrap_or_default());
            }
        });
        Server { address, shared }
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Sends the answers that are held back.
    pub fn release(&self) {
        *self.shared.released.lock().unwrap() = true;
        self.shared.freed.notify_all();
    }

    /// Another reply at the end of the list.
    pub fn push(&self, reply: Reply) {
        self.shared.replies.lock().unwrap().push_back(reply);
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.log.borrow().requests.clone()
    }

    /// What was looked up beside the requests.
    pub fn lookups(&self) -> Vec<ReceivedRequest> {
        self.shared.log.borrow().lookups.clone()
    }

    /// Waits until so many pages were looked up.
    pub fn wait_for_lookups(&self, count: usize) {
        self.block(self.until(|log| log.lookups.len() >= count));
    }

    /// Resolves when `count` requests have arrived.
    pub async fn arrived(&self, count: usize) {
        self.until(|log| log.requests.len() >= count).await;
    }

    /// Resolves when `count` clients went away before their answer was whole.
    pub async fn gone(&self, count: usize) {
        self.until(|log| log.gone >= count).await;
    }

    /// [`Server::arrived`] for a test without a runtime.
    pub fn wait_for_requests(&self, count: usize) {
        self.block(self.arrived(count));
    }

    /// [`Server::gone`] for a test without a runtime.
    pub fn wait_for_gone(&self, count: usize) {
        self.block(self.gone(count));
    }

    /// For each request, in their order: when it came, and when each piece of its answer was written.
    pub fn times(&self) -> Vec<(Instant, Vec<Instant>)> {
        self.shared.log.borrow().times.clone()
    }

    /// Waits until `count` answers have been taken to their end.
    pub fn wait_for_answered(&self, count: usize) {
        self.block(self.until(|log| log.answered >= count));
    }

    async fn until(&self, ready: impl FnMut(&Log) -> bool) {
        let mut log = self.shared.log.subscribe();
        // What it gives out keeps those that write out: it must be gone before the next look.
        let is_ready = tokio::time::timeout(PATIENCE, log.wait_for(ready)).await.is_ok();
        let log = self.shared.log.borrow();
        let (asked, answered, gone) = (log.requests.len(), log.answered, log.gone);
        // The last one is enough: hundreds of them are megabytes.
        let last = log.requests.last();
        let so_far = format!("{asked} asked, {answered} answered, {gone} gone; the last: {last:?}");
        assert!(is_ready, "waited in vain; so far: {so_far}");
    }

    fn block(&self, wait: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(wait);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, client: TcpStream) -> std::io::Result<()> {
        let Some(seen) = request(&client)? else {
            return Ok(());
        };
        if seen.line.starts_with("GET ") || seen.line.ends_with("/api/show") {
            let path = seen.line.split([' ', '?']).nth(1).unwrap_or_default();
            let page = self.pages.iter().find(|(known, _)| *known == path);
            let page = page.map_or_else(|| Reply::status(404), |(_, page)| page.clone());
            let wanted = self.key.map(|key| format!("Bearer {key}"));
            let is_locked = wanted.is_some() && seen.header("authorization") != wanted.as_deref();
            let page = if is_locked { Reply::status(401) } else { page };
            // Before it is answered, so that who has the answer finds it in the log.
            self.log.send_modify(|log| log.lookups.push(seen));
            return self.answer(&client, &page, &mut Vec::new());
        }
        let (number, reply) = {
            // Taken together, so that the order of both is the same.
            let mut replies = self.replies.lock().unwrap();
            self.log.send_modify(|log| {
                log.requests.push(seen);
                log.times.push((Instant::now(), Vec::new()));
            });
            let made = || self.responder.map(|answer| answer(&self.log.borrow().requests));
            let number = self.log.borrow().times.len() - 1;
            (number, replies.pop_front().or_else(made))
        };
        let none = Reply::status(599).body("the test has no reply left");
        let mut times = Vec::new();
        let answered = self.answer(&client, &reply.unwrap_or(none), &mut times);
        self.log.send_modify(|log| {
            log.times[number].1 = times;
            match &answered {
                Ok(()) => log.answered += 1,
                Err(_) => log.gone += 1,
            }
        });
        answered
    }

    /// Fails when the client goes away before the end.
    fn answer(
        &self,
        mut client: &TcpStream,
        reply: &Reply,
        times: &mut Vec<Instant>,
    ) -> std::io::Result<()> {
        if !reply.raw {
            client.write_all(head(reply).as_bytes())?;
        }
        if reply.held {
            let released = self.released.lock().unwrap();
            drop(self.freed.wait_while(released, |released| !*released).unwrap());
        }
        for piece in &reply.pieces {
            self.pause(reply.pause);
            // In one packet, as servers send their events.
            let chunk = if reply.raw {
                piece.clone()
            } else {
                [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
            };
            client.write_all(&chunk)?;
            times.push(Instant::now());
        }
        match reply.end {
            End::Whole if reply.raw => Ok(()),
            End::Whole => client.write_all(b"0\r\n\r\n"),
            End::Cut => client.shutdown(std::net::Shutdown::Both),
            End::Hang => {
                // The client says nothing more: this returns when it goes.
                let _ = client.read(&mut [0]);
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
        }
    }

    /// Waits, but not long past the end of the test. Hundreds of threads do this at once: they share
    /// nothing but a flag.
    fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        while !self.over.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::park_timeout(left.min(Duration::from_millis(50)));
        }
    }
}

fn head(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} Test\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head + "connection: close\r\ntransfer-encoding: chunked\r\n\r\n"
}

/// Reads one request; `None` for a connection that asks nothing.
fn request(client: &TcpStream) -> std::io::Result<Option<ReceivedRequest>> {
    let mut reader = BufReader::new(client);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let Some((line, _)) = line.trim_end().rsplit_once(' ') else {
        return Ok(None);
    };
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut seen = ReceivedRequest { line: line.to_owned(), headers, body: String::new() };
    let length = seen.header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    seen.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(seen))
}
