//! Keeps a connection to Discord's gateway open: heartbeats, resumption, growing pauses, and the
//! first answer to interactions, which has to come within 3 s.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::time::sleep_until;

use super::api::{DiscordApi, message_number, network};
use super::cursor::DiscordCursor;
use super::incoming::{DiscordIncoming, InteractionKind, OpenInteraction, read_event};
use super::session::{CLOSE_TO_RESUME, DiscordSession, SessionKey, SessionStep};
use crate::gateway::connection::{ConnectionEnd, ReconnectPauses};
use crate::gateway::platform::{Cursor, Incoming, PlatformError};
use crate::gateway::wait::{finished, until};
use crate::net::{SocketEvent, WebSocket};

/// Logins are limited to a number a day: after a refusal that will not change soon, it is not tried
/// more often.
const AFTER_REFUSAL: Duration = Duration::from_secs(300);

/// How often all calls for missed messages together are repeated: live ones wait for them.
const TRIES: usize = 8;

/// How long the service may take from an open connection to the session on it.
const LOGIN: Duration = Duration::from_secs(30);

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
    /// The id of the delivery.
    pub id: String,
    pub interaction: OpenInteraction,
    /// Done when the service knows it.
    pub done: Shared<BoxFuture<'static, ()>>,
}

/// The only order: leave.
#[derive(Debug)]
pub struct LeaveDiscord;

/// The task of the connection.
pub struct DiscordLink {
    pub api: Arc<DiscordApi>,
    /// The bot as a user.
    pub bot: String,
    pub session: DiscordSession,
    pub cursor: DiscordCursor,
    pub end: ConnectionEnd<DiscordReceived, LeaveDiscord>,
    pub backlog: VecDeque<Backlogged>,
    /// What was written since the last session, while it is read: also over several connections.
    pub missed: Option<Missed>,
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

pub type Missed = BoxFuture<'static, Vec<DiscordIncoming>>;

enum Happened {
    Ordered,
    Event(SocketEvent),
    Beat,
    CaughtUp(Vec<DiscordIncoming>),
    Room,
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
            if self.end.pause(pause, |_| true).await {
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
        let ready_by = Some(Instant::now() + LOGIN);
        let mut wire = DiscordWire { socket, beats: None, ready_by };
        loop {
            if self.missed.is_none() {
                self.hand_over();
            }
            let steps = match self.wait(&mut wire).await {
                Happened::Ordered => {
                    // The session stays, so that the next run can resume it.
                    wire.socket.close(CLOSE_TO_RESUME).await;
                    return DiscordEnd::Left;
                }
                Happened::Event(SocketEvent::Text(text)) => self.session.on_frame(&text),
                Happened::Event(SocketEvent::Closed(code)) => vec![self.session.on_close(code)],
                Happened::Beat => vec![self.session.on_beat()],
                Happened::CaughtUp(messages) => {
                    self.put_first(messages);
                    Vec::new()
                }
                Happened::Event(SocketEvent::Alive) | Happened::Room => Vec::new(),
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
                // What is being read is older than what another session would begin with.
                self.missed = self.missed.take().or_else(|| self.catch_up());
                self.keep(None, None);
            }
            SessionStep::Resumed => {
                self.end.accepted();
                wire.ready_by = None;
                self.keep(None, None);
            }
            SessionStep::Event { name, data } => {
                if let Some(read) = read_event(&name, data, &self.bot) {
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
        let is_read = self.backlog.is_empty() || self.missed.is_some();
        tokio::select! {
            _ = self.end.orders.recv() => Happened::Ordered,
            event = wire.socket.next(), if is_read => Happened::Event(event),
            messages = finished(&mut self.missed) => Happened::CaughtUp(messages),
            _ = self.end.events.reserve(), if !is_read => Happened::Room,
            () = beat(&mut wire.beats) => Happened::Beat,
            () = until(wire.ready_by) => Happened::Event(SocketEvent::Closed(None)),
        }
    }

    /// What was missed is older than what came meanwhile.
    fn put_first(&mut self, messages: Vec<DiscordIncoming>) {
        let live = std::mem::take(&mut self.backlog);
        let read = |read| Backlogged { read: Some(read), done: None, session: None };
        self.backlog = messages.into_iter().map(read).chain(live).collect();
    }

    fn keep(
        &mut self,
        read: Option<DiscordIncoming>,
        done: Option<Shared<BoxFuture<'static, ()>>>,
    ) {
        let session = self.session.key().cloned();
        self.backlog.push_back(Backlogged { read, done, session });
    }

    /// As much as the caller has room for.
    fn hand_over(&mut self) {
        while self.end.has_room()
            && let Some(next) = self.backlog.pop_front()
        {
            if let Some(read) = &next.read {
                self.cursor.advance(read);
            }
            if next.session.is_some() {
                self.cursor.session = next.session;
            }
            let cursor = self.cursor.write();
            let (incoming, interaction) = match next.read {
                Some(read) => (Some(read.incoming), read.interaction),
                None => (None, None),
            };
            let interaction = interaction.zip(next.done).map(|(interaction, done)| {
                let id = incoming.as_ref().map(|incoming| incoming.id.0.clone());
                Deferred { id: id.unwrap_or_default(), interaction, done }
            });
            self.end.deliver(DiscordReceived { incoming, interaction, cursor });
        }
    }

    /// Tells the service that an answer will come.
    fn defer(&self, read: &DiscordIncoming) -> Option<Shared<BoxFuture<'static, ()>>> {
        let interaction = read.interaction.clone()?;
        if interaction.kind == InteractionKind::Suggest {
            return Some(std::future::ready(()).boxed().shared());
        }
        let api = Arc::clone(&self.api);
        // On a task of its own, so that it is in time whatever the caller does. What fails here
        // fails again when it is answered.
        let task = tokio::spawn(async move { api.defer(&interaction).await.is_ok() });
        Some(task.map(|_| ()).boxed().shared())
    }

    /// Reads what was written since the last session: a new one does not deliver it.
    fn catch_up(&self) -> Option<Missed> {
        let after = self.cursor.missed_after()?;
        let (api, bot) = (Arc::clone(&self.api), self.bot.clone());
        let channels = self.cursor.channels.clone();
        Some(
            async move {
                let (mut missed, mut tries) = (Vec::new(), TRIES);
                for channel in channels {
                    missed.extend(api.messages_since(&channel, after, &mut tries).await);
                }
                // In the order of their time, so that the position after each is right.
                missed.sort_by_key(message_number);
                let read = |data| read_event("MESSAGE_CREATE", data, &bot);
                missed.into_iter().filter_map(read).collect()
            }
            .boxed(),
        )
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
