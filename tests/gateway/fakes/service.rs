//! What the chat services of tests share: a listener with a runtime of its own, state that
//! tests can await, and the faults that a service is told to have.

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::sync::oneshot;

pub use crate::support::wait::PATIENCE;

/// A router on a random loopback port. Dropped, it breaks every connection.
#[derive(Debug)]
struct Listener {
    stop: Option<(oneshot::Sender<()>, std::thread::JoinHandle<()>)>,
}

impl Listener {
    /// Serves what `router` makes of the address.
    fn start(router: impl FnOnce(SocketAddr) -> Router) -> Listener {
        Listener::start_at("127.0.0.1:0".parse().unwrap(), router)
    }

    /// The same at this address, where an earlier one was.
    fn start_at(at: SocketAddr, router: impl FnOnce(SocketAddr) -> Router) -> Listener {
        let listener = std::net::TcpListener::bind(at).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let router = router(address);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    end = axum::serve(listener, router) => end.unwrap(),
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        Listener { stop: Some((stop, thread)) }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.stop.take() {
            // The thread may have ended already. After it, the address is free.
            let _ = stop.send(());
            let _ = thread.join();
        }
    }
}

/// State whose changes can be awaited.
#[derive(Debug, Default)]
pub struct Watched<T> {
    state: Mutex<T>,
    changed: Condvar,
}

impl<T> Watched<T> {
    /// Reads or changes the state.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let out = work(&mut self.state.lock().unwrap());
        self.changed.notify_all();
        out
    }

    /// Waits until `look` finds something.
    pub fn wait<R>(&self, what: &str, mut look: impl FnMut(&mut T) -> Option<R>) -> R {
        let until = Instant::now() + PATIENCE;
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(found) = look(&mut state) {
                return found;
            }
            let left = until.checked_duration_since(Instant::now());
            // Unlocked, so that the state can still be read.
            let Some(left) = left else {
                drop(state);
                panic!("never happened: {what}");
            };
            state = self.changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

/// One call of a client.
#[derive(Clone, Debug)]
pub struct Call {
    /// `POST /channels/1/messages`, or the name of a method.
    pub name: String,
    pub body: Value,
}

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Too many calls: come back after so many seconds.
    Limited(u64),
    /// The same for all calls of the client.
    LimitedEverywhere(u64),
    Status(u16),
    /// The token is not accepted, this once.
    Unauthorized,
    /// A page of something on the way to the service, with this status.
    Unreadable(u16),
    /// The connection breaks before anything was done.
    Broken,
    /// Nothing is done, and the connection stays open.
    Silent,
    /// It was done, and the connection breaks before the client hears of it.
    Unheard,
}

/// A fault for the next call whose name contains `call`.
#[derive(Clone, Debug)]
pub struct PlannedFault {
    pub call: String,
    pub fault: Fault,
}

/// What every service keeps: the calls that came, the faults that are to come, and its address.
#[derive(Debug, Default)]
pub struct Traffic {
    pub calls: Vec<Call>,
    pub faults: Vec<PlannedFault>,
    /// Host and port.
    pub base: String,
    /// Any token is refused.
    pub is_revoked: bool,
    /// How many were refused for that.
    pub refused: usize,
}

impl Traffic {
    /// Keeps a call, and takes the first fault that is planned for it.
    pub fn receive(&mut self, name: &str, body: &Value) -> Option<Fault> {
        self.calls.push(Call { name: name.to_owned(), body: body.clone() });
        let at = self.faults.iter().position(|planned| name.contains(&planned.call))?;
        Some(self.faults.remove(at).fault)
    }

    pub fn calls_of(&self, part: &str) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| call.name.contains(part))
    }
}

/// What a service knows.
pub trait ServiceState: Send + Sized + 'static {
    /// The path of its interface.
    const API: &'static str;

    fn new() -> Self;

    fn traffic(&mut self) -> &mut Traffic;

    fn router(shared: &Arc<Watched<Self>>) -> Router;

    /// Whether the bot hears what users do.
    fn is_connected(&self) -> bool {
        true
    }

    /// Forgets its connections, which broke.
    fn disconnect(&mut self) {}
}

/// A service on loopback.
#[derive(Debug)]
pub struct FakeService<T> {
    listener: Option<Listener>,
    shared: Arc<Watched<T>>,
}

/// What every service can do.
pub trait Service {
    fn start() -> Self;

    fn api_url(&self) -> String;

    /// Before that, what users do may reach nobody.
    fn wait_until_connected(&self);
}

impl<T: ServiceState> Service for FakeService<T> {
    fn start() -> FakeService<T> {
        let shared = Arc::new(Watched { state: Mutex::new(T::new()), changed: Condvar::new() });
        let listener = Listener::start(|address| {
            shared.with(|state| state.traffic().base = address.to_string());
            T::router(&shared)
        });
        FakeService { listener: Some(listener), shared }
    }

    fn api_url(&self) -> String {
        format!("http://{}{}", self.base(), T::API)
    }

    fn wait_until_connected(&self) {
        self.wait("a connection", |state| state.is_connected().then_some(()));
    }
}

impl<T: ServiceState> FakeService<T> {
    fn base(&self) -> String {
        self.with(|state| state.traffic().base.clone())
    }

    /// Nobody listens any more; all connections break.
    pub fn go_down(&mut self) {
        self.listener = None;
        self.with(T::disconnect);
    }

    /// Listens again at the same address.
    pub fn come_back(&mut self) {
        let address = self.base().parse().unwrap();
        self.listener = Some(Listener::start_at(address, |_| T::router(&self.shared)));
    }

    /// Any token is refused from now on.
    pub fn revoke_tokens(&self) {
        self.with(|state| state.traffic().is_revoked = true);
    }

    /// Refuses the tokens once more, after what interrupts the connection, and accepts them then.
    pub fn refuse_tokens_once(&self, interrupt: impl FnOnce()) {
        self.revoke_tokens();
        let before = self.with(|state| state.traffic().refused);
        interrupt();
        self.wait("a refusal", |state| (state.traffic().refused > before).then_some(()));
        self.with(|state| state.traffic().is_revoked = false);
    }

    /// A fault for the next call whose name contains `call`.
    pub fn plan(&self, call: &str, fault: Fault) {
        let call = call.to_owned();
        self.with(|state| state.traffic().faults.push(PlannedFault { call, fault }));
    }

    /// The calls so far whose names contain `part`.
    pub fn calls(&self, part: &str) -> Vec<Call> {
        self.with(|state| state.traffic().calls_of(part).cloned().collect())
    }

    /// Waits for so many calls whose names contain `part`.
    pub fn wait_for_calls(&self, part: &str, count: usize) {
        self.wait(part, |state| (state.traffic().calls_of(part).count() >= count).then_some(()));
    }

    /// Waits until every fault that was planned has happened.
    pub fn wait_for_faults(&self) {
        self.wait("the faults", |state| state.traffic().faults.is_empty().then_some(()));
    }

    /// Reads or changes the state.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.shared.with(work)
    }

    /// Waits until `look` finds something.
    pub fn wait<R>(&self, what: &str, look: impl FnMut(&mut T) -> Option<R>) -> R {
        self.shared.wait(what, look)
    }
}

/// A client that others published, run by `node`. It ends when dropped.
#[derive(Debug)]
pub struct PublishedClient(std::process::Child);

impl PublishedClient {
    /// A script of `tests/real`, with its packages in `folder`.
    pub fn start(script: &str, folder: &str, args: &[&str]) -> PublishedClient {
        let script = format!("{}/tests/real/{script}", env!("CARGO_MANIFEST_DIR"));
        let mut command = std::process::Command::new("node");
        command.arg(script).args(args).env("REAL", folder);
        PublishedClient(command.spawn().unwrap())
    }
}

impl Drop for PublishedClient {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An answer that is not the service's.
pub fn unreadable(status: u16) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, "<html>Please log in to the network</html>").into_response()
}

/// An answer whose body never comes to its end.
pub fn broken() -> Response {
    let pieces = futures_util::stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("broken"))]);
    let length = [(header::CONTENT_LENGTH, "10")];
    (StatusCode::OK, length, Body::from_stream(pieces)).into_response()
}

/// The token behind this scheme in `Authorization`.
pub fn token<'a>(headers: &'a HeaderMap, scheme: &str) -> &'a str {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.strip_prefix(scheme)).unwrap_or("").trim_start()
}

/// One part of a form.
#[derive(Clone, Debug)]
pub struct FormPart {
    pub name: String,
    pub file_name: Option<String>,
    pub bytes: Vec<u8>,
}

/// The parts of a `multipart/form-data` body.
pub fn form_parts(headers: &HeaderMap, body: &[u8]) -> Vec<FormPart> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let Some((_, boundary)) = kind.and_then(|kind| kind.split_once("boundary=")) else {
        return Vec::new();
    };
    let border = format!("--{}", boundary.trim_matches('"'));
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some(at) = find(rest, border.as_bytes()) {
        let (part, after) = (&rest[..at], &rest[at + border.len()..]);
        parts.extend(form_part(part));
        rest = after;
    }
    parts
}

fn form_part(part: &[u8]) -> Option<FormPart> {
    let end = find(part, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&part[..end]).into_owned();
    let value = |key: &str| {
        let (_, after) = head.split_once(&format!("{key}=\""))?;
        after.split_once('"').map(|(value, _)| value.to_owned())
    };
    let bytes = part[end + 4..].strip_suffix(b"\r\n")?.to_vec();
    Some(FormPart { name: value("; name")?, file_name: value("filename"), bytes })
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// A text, or another value as JSON.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
