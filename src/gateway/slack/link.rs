//! Keeps a Socket Mode connection open: acknowledges in time, notices a dead connection, lets a new
//! connection take over before the old one ends, and reconnects with growing pauses.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::{sleep, sleep_until};

use super::api::{PageWaiting, SlackApi, network};
use super::cursor::SlackPosition;
use super::incoming::{IsCommand, SlackIncoming, SlackReader};
use super::socket::{Envelope, SlackFrame, Unacknowledged, acknowledgement};
use crate::catch_up::{CatchUp, next_missed};
use crate::connection::{ConnectionEnd, ReconnectPauses, STABLE};
use crate::platform::{ChatAddress, Cursor, PlatformError};
use crate::wait::finished;
use avocet_model::net::{SocketEvent, WebSocket};

/// How long an answer to a ping may take.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a connection that was replaced is still heard.
const LINGER_TIMEOUT: Duration = Duration::from_secs(5);

/// What is expected of the service.
#[derive(Clone, Copy, Debug)]
pub struct SlackPatience {
    /// After so much silence it is asked whether it is there.
    pub silence: Duration,
    /// After so long without a connection it may have given up delivering.
    pub redelivery: Duration,
    /// It counts an envelope as failed after 3 s. Usually an envelope is acknowledged as soon as its
    /// message is stored; this is the longest that is waited for that.
    pub storing: Duration,
}

impl Default for SlackPatience {
    fn default() -> SlackPatience {
        SlackPatience {
            silence: Duration::from_secs(30),
            redelivery: Duration::from_secs(60),
            storing: Duration::from_millis(2200),
        }
    }
}

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
    pub patience: SlackPatience,
    pub end: ConnectionEnd<SlackReceived, SlackOrder>,
    pub cursor: SlackPosition,
    /// What was missed, while it is read.
    catch_up: Option<CatchUp<ChatAddress>>,
    /// There was another gap meanwhile.
    catches_up_again: bool,
    /// What was read of it and is not handed over yet.
    backlog: VecDeque<SlackIncoming>,
}

/// The messages of one place.
type MissedMessages = (ChatAddress, Vec<Value>);

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
    since: Instant,
    unacknowledged: Unacknowledged,
    /// When the other side must have been heard, or answered the ping.
    alive_until: Instant,
    is_pinged: bool,
    /// Another connection has taken over; until then this one is heard.
    expires: Option<Instant>,
}

/// The connections of one time.
struct SlackWires {
    current: SlackWire,
    /// The one before it.
    old: Option<SlackWire>,
    /// The one that will take over.
    opening: Option<Opening>,
    /// Between tries to open it.
    pauses: ReconnectPauses,
    /// Before one that is young is replaced.
    refreshes: ReconnectPauses,
}

impl SlackWires {
    /// A service that wants each new connection to be replaced gets no more of them than one that
    /// refuses them.
    fn refresh_pause(&mut self) -> Duration {
        let is_young = self.current.since.elapsed() < STABLE;
        if is_young { self.refreshes.next() } else { Duration::ZERO }
    }

    /// The one before is still heard for a while.
    fn take_over(&mut self, wire: SlackWire) {
        self.opening = None;
        self.pauses = ReconnectPauses::default();
        self.refreshes.lasted(self.current.since.elapsed());
        let before = std::mem::replace(&mut self.current, wire);
        self.old = Some(SlackWire { expires: Some(Instant::now() + LINGER_TIMEOUT), ..before });
    }
}

enum LinkStep {
    Order(Option<SlackOrder>),
    Event(SocketEvent),
    OldEvent(SocketEvent),
    Opened(Result<WebSocket, PlatformError>),
    Missed(Option<MissedMessages>),
    Due,
    Room,
}

/// Applies an order that comes between two connections; true if the task ends. Confirmations are
/// for the connection that was closed.
fn ends(order: &SlackOrder, cursor: &mut SlackPosition) -> bool {
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
    pub fn new(
        api: Arc<SlackApi>,
        bot: String,
        is_command: IsCommand,
        patience: SlackPatience,
        end: ConnectionEnd<SlackReceived, SlackOrder>,
        cursor: SlackPosition,
    ) -> SlackLink {
        let backlog = VecDeque::new();
        let catch_up = None;
        let catches_up_again = false;

        SlackLink {
            api,
            bot,
            is_command,
            patience,
            end,
            cursor,
            catch_up,
            catches_up_again,
            backlog,
        }
    }

    pub async fn run(mut self) {
        let mut pauses = ReconnectPauses::default();
        let mut offline_since = None;
        let redelivery = self.patience.redelivery;
        loop {
            let is_late = offline_since.is_none_or(|at: Instant| at.elapsed() >= redelivery);
            let mut pause = pauses.next();
            match open(Arc::clone(&self.api)).await {
                Ok(socket) => {
                    self.end.accepted();
                    if is_late {
                        self.begin_catch_up();
                    }
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
        let wire = SlackWire::new(socket, self.patience.silence);
        let pauses = ReconnectPauses::default();
        let refreshes = ReconnectPauses::default();

        let mut wires = SlackWires { current: wire, old: None, opening: None, pauses, refreshes };
        loop {
            self.hand_over();
            let step = self.next_step(&mut wires).await;
            if let LinkStep::Order(Some(SlackOrder::Close) | None) = step {
                wires.current.socket.close(1000).await;
                return LinkEnd::Closed;
            }
            if self.perform(step, &mut wires).await.is_err() {
                return LinkEnd::Lost;
            }
        }
    }

    async fn perform(&mut self, step: LinkStep, wires: &mut SlackWires) -> Result<(), LinkLost> {
        match step {
            LinkStep::Order(Some(SlackOrder::Confirm(number))) => {
                confirm(&mut wires.current, wires.old.as_mut(), number).await?;
            }
            LinkStep::Order(Some(SlackOrder::Admit(at))) => self.admit(&at),
            LinkStep::Event(event) => {
                let heard = self.hear(&mut wires.current, event).await?;
                if heard == LinkNews::Refresh && wires.opening.is_none() {
                    wires.opening = Some(self.open_after(wires.refresh_pause()));
                }
            }
            LinkStep::OldEvent(event) => {
                if let Some(wire) = &mut wires.old
                    && self.hear(wire, event).await.is_err()
                {
                    wires.old = None;
                }
            }
            LinkStep::Opened(Ok(socket)) => {
                self.end.accepted();
                wires.take_over(SlackWire::new(socket, self.patience.silence));
            }
            LinkStep::Opened(Err(error)) => {
                wires.opening = self.open_later(error, wires.pauses.next());
            }
            LinkStep::Due => {
                if let Some(wire) = &mut wires.old
                    && wire.on_time(self.patience.silence).await.is_err()
                {
                    wires.old = None;
                }
                wires.current.on_time(self.patience.silence).await?;
            }
            LinkStep::Missed(missed) => self.take_missed(missed),
            LinkStep::Order(Some(SlackOrder::Close) | None) | LinkStep::Room => {}
        }
        Ok(())
    }

    /// Another try to take over: the connection that is to be replaced lasts until the service closes
    /// it. `None` if no other connection will be better.
    fn open_later(&mut self, error: PlatformError, pause: Duration) -> Option<Opening> {
        (!self.end.report(error)).then(|| self.open_after(pause))
    }

    fn open_after(&self, pause: Duration) -> Opening {
        let api = Arc::clone(&self.api);
        async move {
            sleep(pause).await;
            open(api).await
        }
        .boxed()
    }

    async fn next_step(&mut self, wires: &mut SlackWires) -> LinkStep {
        let has_room = self.end.has_room();
        let due = wires.old.iter().chain([&wires.current]).map(SlackWire::due).min();
        let due = due.unwrap_or_else(Instant::now);
        tokio::select! {
            order = self.end.orders.recv() => LinkStep::Order(order),
            event = wires.current.socket.next(), if has_room => LinkStep::Event(event),
            event = next_of(&mut wires.old), if has_room => LinkStep::OldEvent(event),
            opened = finished(&mut wires.opening) => LinkStep::Opened(opened),
            missed = next_missed(self.catch_up.as_mut()), if has_room => LinkStep::Missed(missed),
            _ = self.end.events.reserve(), if !has_room => LinkStep::Room,
            () = sleep_until(due.into()) => LinkStep::Due,
        }
    }

    async fn hear(
        &mut self,
        wire: &mut SlackWire,
        event: SocketEvent,
    ) -> Result<LinkNews, LinkLost> {
        wire.alive_until = Instant::now() + self.patience.silence;
        wire.is_pinged = false;
        let frame = match event {
            SocketEvent::Text(text) => SlackFrame::read(&text),
            SocketEvent::Binary(_) | SocketEvent::Alive => SlackFrame::Unknown,
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

    fn receive(&mut self, incoming: SlackIncoming) -> SlackReceived {
        self.cursor.advance(&incoming.incoming);
        SlackReceived { message: Some(incoming), cursor: self.cursor.write() }
    }

    /// Without room, the position goes along with what comes next.
    fn admit(&mut self, address: &ChatAddress) {
        if self.cursor.admit(address) {
            self.keep_position();
        }
    }

    fn keep_position(&mut self) {
        if self.end.has_room() {
            self.end.deliver(SlackReceived { message: None, cursor: self.cursor.write() });
        }
    }

    fn reader(&self) -> SlackReader<'_> {
        SlackReader { bot: &self.bot, is_command: &*self.is_command }
    }

    /// Reads what was written while no connection was there, for longer than the service tries to
    /// deliver it. It goes on beside the connections, for as long as it takes.
    fn begin_catch_up(&mut self) {
        let (places, from) = self.cursor.missed();
        // A place that was read already may have missed more since.
        self.catches_up_again = self.catch_up.is_some();
        if places.is_empty() || self.catch_up.is_some() {
            return;
        }
        self.cursor.begin_catch_up();
        let api = Arc::clone(&self.api);
        self.catch_up = Some(CatchUp::start(places, move |place| {
            let api = Arc::clone(&api);
            let from = from.clone();

            async move { api.messages_since(&place, &from, PageWaiting::UntilAnswered).await }
        }));
    }

    /// What was missed in one place; `None`: there are no more.
    fn take_missed(&mut self, missed: Option<MissedMessages>) {
        let Some((place, messages)) = missed else {
            self.catch_up = None;
            if self.catches_up_again {
                return self.begin_catch_up();
            }
            self.cursor.end_catch_up();
            return self.keep_position();
        };
        let read = messages.into_iter().filter_map(|message| {
            let incoming = self.reader().read_history(&place.chat.0, message)?;
            Some(SlackIncoming { incoming, response_url: None })
        });
        let slack_incomings: Vec<SlackIncoming> = read.collect();
        self.backlog.extend(slack_incomings);
    }

    /// As much of what was missed as the caller has room for.
    fn hand_over(&mut self) {
        while self.end.has_room()
            && let Some(message) = self.backlog.pop_front()
        {
            let received = self.receive(message);
            self.end.deliver(received);
        }
    }

    /// Hands a message over; anything else is acknowledged at once.
    async fn take(&mut self, wire: &mut SlackWire, envelope: Envelope) -> Result<(), LinkLost> {
        match self.reader().read(&envelope.kind, envelope.payload) {
            Some(message) => {
                let received = self.receive(message);
                let until = Instant::now() + self.patience.storing;
                wire.unacknowledged.push(envelope.id, self.cursor.number, until);
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
    wire: &mut SlackWire,
    old: Option<&mut SlackWire>,
    number: u64,
) -> Result<(), LinkLost> {
    if let Some(old) = old {
        let stored = old.unacknowledged.confirm(number);
        // What is lost with it is delivered again.
        let _ = old.acknowledge(&stored).await;
    }
    let stored = wire.unacknowledged.confirm(number);
    wire.acknowledge(&stored).await
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
        let since = Instant::now();
        SlackWire { socket, since, unacknowledged, alive_until, is_pinged: false, expires: None }
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
        if self.alive_until > now {
            Ok(())
        } else if self.is_pinged {
            Err(LinkLost)
        } else {
            self.is_pinged = true;
            self.alive_until = now + ANSWER.min(silence);
            self.socket.ping().await.map_err(|_| LinkLost)
        }
    }

    async fn acknowledge(&mut self, envelopes: &[String]) -> Result<(), LinkLost> {
        for envelope in envelopes {
            self.socket.send(acknowledgement(envelope)).await.map_err(|_| LinkLost)?;
        }
        Ok(())
    }
}
