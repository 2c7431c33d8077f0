//! Keeps a Socket Mode connection open: acknowledges in time, notices a dead connection, lets a new
//! connection take over before the old one ends, and reconnects with growing pauses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::{sleep, sleep_until};

use super::api::{SlackApi, network};
use super::cursor::SlackCursor;
use super::incoming::{IsCommand, SlackIncoming, SlackReader};
use super::socket::{Envelope, SlackFrame, Unacknowledged, acknowledgement};
use crate::gateway::connection::{ConnectionEnd, ReconnectPauses};
use crate::gateway::platform::{ChatAddress, Cursor, PlatformError};
use crate::gateway::wait::finished;
use crate::net::{SocketEvent, WebSocket};

/// After so long without a connection the service may have given up delivering.
const LONG_OFFLINE: Duration = Duration::from_secs(60);

/// How long an answer to a ping may take.
const ANSWER: Duration = Duration::from_secs(10);

/// How often the service is asked again for what was missed.
const TRIES: usize = 8;

/// How long a connection that was replaced is still heard.
const LINGER: Duration = Duration::from_secs(5);

/// What came, and the position after it.
#[derive(Debug)]
pub struct SlackReceived {
    pub message: Option<SlackIncoming>,
    pub cursor: Cursor,
}

#[derive(Debug)]
pub enum SlackOrder {
    /// Everything up to this number is stored.
    Confirm(u64),
    /// Who spoke there may talk.
    Admit(ChatAddress),
    Close,
}

/// The task of the connection.
pub struct SlackLink {
    pub api: Arc<SlackApi>,
    /// The bot as a user.
    pub bot: String,
    pub is_command: IsCommand,
    /// After so much silence the other side is asked whether it is there.
    pub silence: Duration,
    pub end: ConnectionEnd<SlackReceived, SlackOrder>,
    pub cursor: SlackCursor,
}

type Opening = BoxFuture<'static, Result<WebSocket, PlatformError>>;

/// How a connection ended.
enum LinkEnd {
    /// As it was ordered.
    Closed,
    Lost,
}

/// One connection.
struct SlackWire {
    socket: WebSocket,
    unacknowledged: Unacknowledged,
    /// When the other side must have been heard, or answered the ping.
    alive_until: Instant,
    is_pinged: bool,
    /// Another connection has taken over; until then this one is heard.
    expires: Option<Instant>,
}

enum LinkStep {
    Order(Option<SlackOrder>),
    Event(SocketEvent),
    OldEvent(SocketEvent),
    Opened(Result<WebSocket, PlatformError>),
    Due,
    Room,
}

/// Follows an order while there is no connection, whether it is to end: confirmations are for the
/// closed one.
fn ends(order: &SlackOrder, cursor: &mut SlackCursor) -> bool {
    match order {
        SlackOrder::Close => true,
        SlackOrder::Confirm(_) => false,
        SlackOrder::Admit(at) => {
            cursor.admit(at);
            false
        }
    }
}

async fn open(api: Arc<SlackApi>) -> Result<WebSocket, PlatformError> {
    let url = api.open_connection().await?;
    WebSocket::connect(&url).await.map_err(network)
}

impl SlackLink {
    pub async fn run(mut self) {
        let mut pauses = ReconnectPauses::default();
        let mut offline_since = None;
        loop {
            let is_late = offline_since.is_none_or(|at: Instant| at.elapsed() >= LONG_OFFLINE);
            if is_late && self.catch_up().await {
                return;
            }
            let mut pause = pauses.next();
            match open(Arc::clone(&self.api)).await {
                Ok(socket) => {
                    self.end.accepted();
                    let since = Instant::now();
                    if let LinkEnd::Closed = self.serve(socket).await {
                        return;
                    }
                    offline_since = Some(Instant::now());
                    pauses.lasted(since.elapsed());
                }
                Err(error) => {
                    if let PlatformError::RateLimited { after } = error {
                        pause = pause.max(after);
                    }
                    if self.end.report(error) {
                        return;
                    }
                }
            }
            if self.end.pause(pause, |order| ends(order, &mut self.cursor)).await {
                return;
            }
        }
    }

    async fn serve(&mut self, socket: WebSocket) -> LinkEnd {
        let mut current = SlackWire::new(socket, self.silence);
        let mut old: Option<SlackWire> = None;
        let mut opening: Option<Opening> = None;
        let mut pauses = ReconnectPauses::default();
        loop {
            let due = old.iter().chain([&current]).map(SlackWire::due).min();
            let step = self.next_step(&mut current, &mut old, &mut opening, due).await;
            let result = match step {
                LinkStep::Order(Some(SlackOrder::Confirm(number))) => {
                    confirm(&mut current, old.as_mut(), number).await
                }
                LinkStep::Order(Some(SlackOrder::Admit(at))) => {
                    self.admit(&at);
                    Ok(())
                }
                LinkStep::Order(Some(SlackOrder::Close) | None) => {
                    current.socket.close(1000).await;
                    return LinkEnd::Closed;
                }
                LinkStep::Event(event) => {
                    let heard = self.hear(&mut current, event).await;
                    if heard == Ok(LinkNews::Refresh) && opening.is_none() {
                        opening = Some(Box::pin(open(Arc::clone(&self.api))));
                    }
                    heard.map(|_| ())
                }
                LinkStep::OldEvent(event) => {
                    if let Some(wire) = &mut old
                        && self.hear(wire, event).await.is_err()
                    {
                        old = None;
                    }
                    Ok(())
                }
                LinkStep::Opened(Ok(socket)) => {
                    opening = None;
                    old = Some(current.replace(SlackWire::new(socket, self.silence)));
                    Ok(())
                }
                LinkStep::Opened(Err(error)) => {
                    opening = self.open_later(error, pauses.next());
                    Ok(())
                }
                LinkStep::Due => {
                    if let Some(wire) = &mut old
                        && wire.on_time(self.silence).await.is_err()
                    {
                        old = None;
                    }
                    current.on_time(self.silence).await
                }
                LinkStep::Room => Ok(()),
            };
            if result.is_err() {
                return LinkEnd::Lost;
            }
        }
    }

    /// Another try to take over: the connection that is to be replaced lasts until the service closes
    /// it. `None` if no other connection will be better.
    fn open_later(&mut self, error: PlatformError, pause: Duration) -> Option<Opening> {
        let api = Arc::clone(&self.api);
        let later = async move {
            sleep(pause).await;
            open(api).await
        };
        (!self.end.report(error)).then(|| later.boxed())
    }

    async fn next_step(
        &mut self,
        current: &mut SlackWire,
        old: &mut Option<SlackWire>,
        opening: &mut Option<Opening>,
        due: Option<Instant>,
    ) -> LinkStep {
        let has_room = self.end.has_room();
        let due = due.unwrap_or_else(Instant::now);
        tokio::select! {
            order = self.end.orders.recv() => LinkStep::Order(order),
            event = current.socket.next(), if has_room => LinkStep::Event(event),
            event = next_of(old), if has_room => LinkStep::OldEvent(event),
            opened = finished(opening) => LinkStep::Opened(opened),
            _ = self.end.events.reserve(), if !has_room => LinkStep::Room,
            () = sleep_until(due.into()) => LinkStep::Due,
        }
    }

    async fn hear(
        &mut self,
        wire: &mut SlackWire,
        event: SocketEvent,
    ) -> Result<LinkNews, LinkLost> {
        wire.alive_until = Instant::now() + self.silence;
        wire.is_pinged = false;
        let frame = match event {
            SocketEvent::Text(text) => SlackFrame::read(&text),
            SocketEvent::Alive => SlackFrame::Unknown,
            SocketEvent::Closed(_) => return Err(LinkLost),
        };
        match frame {
            SlackFrame::Envelope(envelope) => {
                self.take(wire, envelope).await.map(|()| LinkNews::Usual)
            }
            SlackFrame::Refresh => Ok(LinkNews::Refresh),
            SlackFrame::Disabled => {
                let why = "Socket Mode is switched off for the app".to_owned();
                self.end.report(PlatformError::Refused(why));
                Err(LinkLost)
            }
            SlackFrame::Hello | SlackFrame::Unknown => Ok(LinkNews::Usual),
        }
    }

    fn receive(&mut self, message: SlackIncoming) -> SlackReceived {
        self.cursor.advance(&message.incoming);
        SlackReceived { message: Some(message), cursor: self.cursor.write() }
    }

    /// Without room, the position goes along with what comes next.
    fn admit(&mut self, at: &ChatAddress) {
        if self.cursor.admit(at) && self.end.has_room() {
            self.end.deliver(SlackReceived { message: None, cursor: self.cursor.write() });
        }
    }

    fn reader(&self) -> SlackReader<'_> {
        SlackReader { bot: &self.bot, is_command: &*self.is_command }
    }

    /// Reads what was written while no connection was there, for longer than the service tries to
    /// deliver it. True if the task is to end.
    async fn catch_up(&mut self) -> bool {
        let (places, from) = self.cursor.missed();
        let (mut pauses, mut tries) = (ReconnectPauses::default(), TRIES);
        let mut missed: Vec<(ChatAddress, Value)> = Vec::new();
        for place in places {
            loop {
                let error = match self.api.messages_since(&place, &from).await {
                    Ok(messages) => {
                        missed.extend(messages.into_iter().map(|one| (place.clone(), one)));
                        break;
                    }
                    Err(error) => error,
                };
                let wait = match &error {
                    PlatformError::RateLimited { after } => Some(*after),
                    PlatformError::Network(_) => Some(pauses.next()),
                    _ => None,
                };
                self.end.report(error);
                // What is wrong for a moment only is waited for.
                let Some(wait) = wait.filter(|_| tries > 0) else { break };
                tries -= 1;
                if self.end.pause(wait, |order| ends(order, &mut self.cursor)).await {
                    return true;
                }
            }
        }
        // In the order of their time, so that the position after each is right.
        missed.sort_by(|(_, a), (_, b)| a["ts"].as_str().cmp(&b["ts"].as_str()));
        for (place, message) in missed {
            let Some(incoming) = self.reader().read_history(&place.chat.0, message) else {
                continue;
            };
            let received = self.receive(SlackIncoming { incoming, response_url: None });
            if self.end.events.send(received).await.is_err() {
                return true;
            }
        }
        false
    }

    /// Hands a message over; anything else is acknowledged at once.
    async fn take(&mut self, wire: &mut SlackWire, envelope: Envelope) -> Result<(), LinkLost> {
        match self.reader().read(&envelope.kind, envelope.payload) {
            Some(message) => {
                let received = self.receive(message);
                wire.unacknowledged.push(envelope.id, self.cursor.number, Instant::now());
                self.end.deliver(received);
                Ok(())
            }
            None => wire.acknowledge(&[envelope.id]).await,
        }
    }
}

/// The connection is of no use any more.
#[derive(Debug, PartialEq, Eq)]
struct LinkLost;

#[derive(Debug, PartialEq, Eq)]
enum LinkNews {
    Usual,
    Refresh,
}

async fn confirm(
    current: &mut SlackWire,
    old: Option<&mut SlackWire>,
    number: u64,
) -> Result<(), LinkLost> {
    if let Some(old) = old {
        let stored = old.unacknowledged.confirm(number);
        // What is lost with it is delivered again.
        let _ = old.acknowledge(&stored).await;
    }
    let stored = current.unacknowledged.confirm(number);
    current.acknowledge(&stored).await
}

async fn next_of(wire: &mut Option<SlackWire>) -> SocketEvent {
    match wire {
        Some(wire) => wire.socket.next().await,
        None => std::future::pending().await,
    }
}

impl SlackWire {
    fn new(socket: WebSocket, silence: Duration) -> SlackWire {
        let alive_until = Instant::now() + silence;
        let unacknowledged = Unacknowledged::default();
        SlackWire { socket, unacknowledged, alive_until, is_pinged: false, expires: None }
    }

    /// Lets another one take over; this one is still heard for a while.
    fn replace(&mut self, next: SlackWire) -> SlackWire {
        let before = std::mem::replace(self, next);
        SlackWire { expires: Some(Instant::now() + LINGER), ..before }
    }

    /// When something must be done.
    fn due(&self) -> Instant {
        let times = [Some(self.alive_until), self.unacknowledged.deadline(), self.expires];
        times.into_iter().flatten().min().unwrap_or(self.alive_until)
    }

    async fn on_time(&mut self, silence: Duration) -> Result<(), LinkLost> {
        let now = Instant::now();
        let overdue = self.unacknowledged.overdue(now);
        self.acknowledge(&overdue).await?;
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(LinkLost);
        }
        match self.alive_until <= now {
            true if self.is_pinged => Err(LinkLost),
            true => {
                self.is_pinged = true;
                self.alive_until = now + ANSWER.min(silence);
                self.socket.ping().await.map_err(|_| LinkLost)
            }
            false => Ok(()),
        }
    }

    async fn acknowledge(&mut self, envelopes: &[String]) -> Result<(), LinkLost> {
        for envelope in envelopes {
            self.socket.send(acknowledgement(envelope)).await.map_err(|_| LinkLost)?;
        }
        Ok(())
    }
}
