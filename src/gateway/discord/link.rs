//! Keeps a connection to Discord's gateway open: heartbeats, resumption, growing pauses, and the
//! first answer to interactions, which has to come within 3 s.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde_json::Value;
use tokio::time::sleep_until;

use super::api::{DiscordApi, network};
use super::cursor::{DiscordCursor, KnownChannel};
use super::incoming::{DiscordIncoming, InteractionKind, OpenInteraction, read_event};
use super::session::{CLOSE_TO_RESUME, DiscordSession, SessionKey, SessionStep};
use crate::catch_up::{CatchUp, next_missed};
use crate::connection::{ConnectionEnd, ReconnectPauses};
use crate::platform::{Cursor, Incoming, PlatformError};
use crate::wait::until;
use avocet_model::net::{SocketEvent, WebSocket};

/// Logins are limited to a number a day: after a refusal that will not change soon, it is not tried
/// more often.
const AFTER_REFUSAL: Duration = Duration::from_secs(300);

/// How long messages wait for those that were missed before them.
const HOLD: Duration = Duration::from_secs(10);

/// So much may wait for them; then the connection is not read any more.
const BACKLOG: usize = 10_000;

/// How long the service may take from an open connection to the session on it.
pub const LOGIN: Duration = Duration::from_secs(30);

/// What came, and the position after it.
#[derive(Debug)]
pub struct DiscordReceived {
    pub incoming: Option<Incoming>,
    pub interaction: Option<Deferred>,
    pub cursor: Cursor,
}

/// An interaction whose answer was deferred.
#[derive(Clone, Debug)]
pub struct Deferred {
    pub interaction: OpenInteraction,
    /// Done when the service knows it.
    pub done: Shared<BoxFuture<'static, ()>>,
}

#[derive(Debug)]
pub enum DiscordOrder {
    /// Who spoke in this channel may talk.
    Admit(KnownChannel),
    Leave,
}

/// The task of the connection.
pub struct DiscordLink {
    pub api: Arc<DiscordApi>,
    /// The bot as a user.
    pub bot: String,
    pub session: DiscordSession,
    pub cursor: DiscordCursor,
    pub end: ConnectionEnd<DiscordReceived, DiscordOrder>,
    pub backlog: VecDeque<Backlogged>,
    /// What was written since the last session and is not handed over yet.
    pub missed: VecDeque<DiscordIncoming>,
    /// It is read: also over several connections. Until this time, messages wait for it.
    pub catch_up: Option<(CatchUp<KnownChannel>, Instant)>,
    /// Another session began meanwhile.
    pub catches_up_again: bool,
    /// How long a login may take.
    pub login: Duration,
}

/// Something that is not handed over yet, and the position in the session after it.
pub struct Backlogged {
    read: Option<DiscordIncoming>,
    done: Option<Shared<BoxFuture<'static, ()>>>,
    session: Option<SessionKey>,
}

/// How a connection ended.
enum DiscordEnd {
    /// As it was ordered.
    Left,
    /// Another one is to be opened after this time.
    Lost(Duration),
    Failed(PlatformError),
}

enum Happened {
    Ordered(Option<DiscordOrder>),
    Event(SocketEvent),
    Beat,
    Missed(Option<(KnownChannel, Vec<Value>)>),
    Room,
    Held,
}

/// One connection.
struct DiscordWire {
    socket: WebSocket,
    beats: Option<Heartbeats>,
    /// Until when the service must have let the bot in.
    ready_by: Option<Instant>,
}

struct Heartbeats {
    every: Duration,
    next: Instant,
}

impl DiscordLink {
    pub async fn run(mut self) {
        let mut pauses = ReconnectPauses::default();
        let mut failures = 0;
        loop {
            let mut pause = pauses.next();
            match self.open(failures).await {
                Ok(socket) => {
                    failures = 0;
                    let since = Instant::now();
                    match self.serve(socket).await {
                        DiscordEnd::Left => return,
                        DiscordEnd::Lost(after) => pause += after,
                        DiscordEnd::Failed(error) => {
                            if error != PlatformError::Unauthorized {
                                pause = AFTER_REFUSAL;
                            }
                            if self.end.report(error) {
                                return;
                            }
                        }
                    }
                    pauses.lasted(since.elapsed());
                }
                Err(error) => {
                    failures += 1;
                    if let PlatformError::RateLimited { after } = error {
                        pause = pause.max(after);
                    }
                    if self.end.report(error) {
                        return;
                    }
                }
            }
            let cursor = &mut self.cursor;
            let ends = |order: &DiscordOrder| match order {
                DiscordOrder::Leave => true,
                DiscordOrder::Admit(channel) => {
                    cursor.admit(channel.clone());
                    false
                }
            };
            if self.end.pause(pause, ends).await {
                return;
            }
        }
    }

    /// Every second failure, the address of the session is left aside: it may be gone.
    async fn open(&mut self, failures: u32) -> Result<WebSocket, PlatformError> {
        let url = match self.session.url() {
            Some(url) if failures.is_multiple_of(2) => url.to_owned(),
            _ => self.api.gateway_url().await?,
        };
        let url = format!("{}/?v=10&encoding=json", url.trim_end_matches('/'));
        WebSocket::connect(&url).await.map_err(network)
    }

    async fn serve(&mut self, socket: WebSocket) -> DiscordEnd {
        let ready_by = Some(Instant::now() + self.login);
        let mut wire = DiscordWire { socket, beats: None, ready_by };
        loop {
            self.hand_over();
            let steps = match self.wait(&mut wire).await {
                Happened::Ordered(Some(DiscordOrder::Admit(channel))) => {
                    if self.cursor.admit(channel) {
                        self.keep(None, None);
                    }
                    Vec::new()
                }
                Happened::Ordered(Some(DiscordOrder::Leave) | None) => {
                    // The session stays, so that the next run can resume it.
                    wire.socket.close(CLOSE_TO_RESUME).await;
                    return DiscordEnd::Left;
                }
                Happened::Event(SocketEvent::Text(text)) => self.session.on_frame(&text),
                Happened::Event(SocketEvent::Closed(code)) => vec![self.session.on_close(code)],
                Happened::Beat => vec![self.session.on_beat()],
                Happened::Missed(missed) => {
                    self.take_missed(missed);
                    Vec::new()
                }
                Happened::Event(SocketEvent::Binary(_) | SocketEvent::Alive)
                | Happened::Room
                | Happened::Held => Vec::new(),
            };
            for step in steps {
                if let Some(end) = self.perform(step, &mut wire).await {
                    wire.socket.close(CLOSE_TO_RESUME).await;
                    return end;
                }
            }
        }
    }

    /// Returns how the connection ends, if it does.
    async fn perform(&mut self, step: SessionStep, wire: &mut DiscordWire) -> Option<DiscordEnd> {
        match step {
            SessionStep::Send(frame) => {
                let sent = wire.socket.send(frame.to_string()).await;
                return sent.err().map(|_| DiscordEnd::Lost(Duration::ZERO));
            }
            SessionStep::Beat(every) => {
                let next = Instant::now() + every.mul_f64(fastrand::f64());
                wire.beats = Some(Heartbeats { every, next });
            }
            SessionStep::Ready => {
                self.end.accepted();
                wire.ready_by = None;
                self.begin_catch_up();
                self.keep(None, None);
            }
            SessionStep::Resumed => {
                self.end.accepted();
                wire.ready_by = None;
                self.keep(None, None);
            }
            SessionStep::Event { name, data } => {
                if let Some(mut read) = read_event(&name, data, &self.bot) {
                    self.cursor.address(&mut read);
                    let done = self.defer(&read);
                    self.keep(Some(read), done);
                }
            }
            SessionStep::Reconnect(after) => return Some(DiscordEnd::Lost(after)),
            SessionStep::Fail(error) => return Some(DiscordEnd::Failed(error)),
        }
        None
    }

    async fn wait(&mut self, wire: &mut DiscordWire) -> Happened {
        let is_waiting = !self.backlog.is_empty() || !self.missed.is_empty();
        let hold = self.catch_up.as_ref().map(|(_, until)| *until);
        let is_held = hold.is_some_and(|until| until > Instant::now());
        let is_read = if is_held { self.backlog.len() < BACKLOG } else { !is_waiting };
        let has_room = self.end.has_room();
        let reading = self.catch_up.as_mut().map(|(reading, _)| reading);
        tokio::select! {
            order = self.end.orders.recv() => Happened::Ordered(order),
            event = wire.socket.next(), if is_read => Happened::Event(event),
            missed = next_missed(reading), if has_room => Happened::Missed(missed),
            _ = self.end.events.reserve(), if is_waiting && !has_room => Happened::Room,
            () = until(hold), if is_waiting && has_room => Happened::Held,
            () = beat(&mut wire.beats) => Happened::Beat,
            () = until(wire.ready_by) => Happened::Event(SocketEvent::Closed(None)),
        }
    }

    fn keep(
        &mut self,
        incoming: Option<DiscordIncoming>,
        shared: Option<Shared<BoxFuture<'static, ()>>>,
    ) {
        let session = self.session.key().cloned();
        self.backlog.push_back(Backlogged { read: incoming, done: shared, session });
    }

    /// As much as the caller has room for.
    fn hand_over(&mut self) {
        while self.end.has_room()
            && let Some(next) = self.next_backlogged()
        {
            next.read.iter().for_each(|read| self.cursor.advance(read));
            self.cursor.reach(next.session);
            let cursor = self.cursor.write();
            let (incoming, interaction) = match next.read {
                Some(read) => (Some(read.incoming), read.interaction),
                None => (None, None),
            };
            let interaction = interaction
                .zip(next.done)
                .map(|(interaction, done)| Deferred { interaction, done });
            self.end.deliver(DiscordReceived { incoming, interaction, cursor });
        }
    }

    /// What is handed over next. Messages wait for those that were missed before them, but not for
    /// long, and who presses a button or chooses a command does not wait.
    fn next_backlogged(&mut self) -> Option<Backlogged> {
        if let Some(read) = self.missed.pop_front() {
            return Some(Backlogged { read: Some(read), done: None, session: None });
        }
        if self.catch_up.as_ref().is_none_or(|(_, until)| *until <= Instant::now()) {
            return self.backlog.pop_front();
        }
        let is_interaction = |kept_backlogged: &Backlogged| {
            kept_backlogged.read.as_ref().is_some_and(|read| read.interaction.is_some())
        };
        let at = self.backlog.iter().position(is_interaction)?;
        self.backlog.remove(at)
    }

    /// Tells the service that an answer will come.
    fn defer(&self, incoming: &DiscordIncoming) -> Option<Shared<BoxFuture<'static, ()>>> {
        let interaction = incoming.interaction.clone()?;
        if interaction.kind == InteractionKind::Suggest {
            return Some(std::future::ready(()).boxed().shared());
        }
        let api = Arc::clone(&self.api);
        // On a task of its own, so that it is in time whatever the caller does. What fails here
        // fails again when it is answered.
        let task = tokio::spawn(async move { api.defer(&interaction).await.is_ok() });
        Some(task.map(|_| ()).boxed().shared())
    }

    /// Reads what was written since the last session: a new one does not deliver it. While that goes
    /// on already, all of it is read once more after that: a channel may have missed more since.
    fn begin_catch_up(&mut self) {
        self.catches_up_again = self.catch_up.is_some();
        if self.catch_up.is_some() {
            return;
        }
        let Some((channels, after)) = self.cursor.missed() else { return };
        self.cursor.begin_catch_up();
        let api = Arc::clone(&self.api);
        let reading = CatchUp::start(channels, move |channel| {
            let api = Arc::clone(&api);
            async move { api.messages_since(&channel, after).await }
        });
        self.catch_up = Some((reading, Instant::now() + HOLD));
    }

    /// What was missed in one channel; `None`: there are no more.
    fn take_missed(&mut self, missed: Option<(KnownChannel, Vec<Value>)>) {
        let Some((_, messages)) = missed else {
            self.catch_up = None;
            if self.catches_up_again {
                return self.begin_catch_up();
            }
            self.cursor.end_catch_up();
            return self.keep(None, None);
        };
        let read = |data| read_event("MESSAGE_CREATE", data, &self.bot);
        for mut read in messages.into_iter().filter_map(read) {
            self.cursor.address(&mut read);
            self.missed.push_back(read);
        }
    }
}

/// Waits for the next heartbeat.
async fn beat(beats: &mut Option<Heartbeats>) {
    match beats {
        Some(beats) => {
            sleep_until(beats.next.into()).await;
            beats.next = Instant::now() + beats.every;
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;
    use crate::connection::ServiceConnection;

    #[tokio::test]
    async fn a_service_that_takes_the_connection_and_says_nothing_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let _silent = tokio_tungstenite::accept_async(stream).await.unwrap();
            std::future::pending::<()>().await;
        });
        let (ends, end) = oneshot::channel();
        let _connection = ServiceConnection::start(|end| async { drop(ends.send(end)) });
        let mut link = DiscordLink {
            api: Arc::new(DiscordApi::new("http://127.0.0.1:1/", "t").unwrap()),
            bot: "900".to_owned(),
            session: DiscordSession::new("t".to_owned(), false, None),
            cursor: DiscordCursor::default(),
            end: end.await.unwrap(),
            backlog: VecDeque::new(),
            missed: VecDeque::new(),
            catch_up: None,
            catches_up_again: false,
            login: Duration::from_millis(20),
        };
        let socket = WebSocket::connect(&format!("ws://{address}/")).await.unwrap();
        let ended = timeout(Duration::from_secs(20), link.serve(socket)).await;
        assert!(matches!(ended, Ok(DiscordEnd::Lost(_))));
    }
}
