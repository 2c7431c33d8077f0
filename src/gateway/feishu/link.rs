//! Keeps a long connection open: pings, answers events once they are stored, notices a dead
//! connection, and reconnects in the pauses that the service wants.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep_until;

use super::api::{FeishuApi, FeishuEndpoint, network};
use super::frame::{FeishuFrame, FrameKind, FrameParts};
use super::incoming::{FeishuIncoming, read_event};
use crate::connection::{ConnectionEnd, ReconnectPauses};
use crate::platform::{IncomingKind, PlatformError};
use avocet_model::net::{SocketEvent, WebSocket};

/// How long an answer to a ping may take.
const PONG: Duration = Duration::from_secs(10);

/// A press is answered within 3 s, which is as long as the service waits.
const PRESS: Duration = Duration::from_millis(2_200);

/// The longest pause that the service may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// What came, and its number.
#[derive(Debug)]
pub struct FeishuReceived {
    pub incoming: FeishuIncoming,
    pub number: u64,
}

#[derive(Debug)]
pub enum FeishuOrder {
    /// Everything up to this number is stored.
    Confirm(u64),
    /// What the user sees who pressed.
    Answer {
        press: String,
        text: Option<String>,
    },
    Close,
}

/// The task of the connection.
pub struct FeishuLink {
    api: Arc<FeishuApi>,
    /// The bot as a user.
    bot: String,
    end: ConnectionEnd<FeishuReceived, FeishuOrder>,
    /// Of what was handed over last.
    number: u64,
    config: LinkConfig,
}

/// What the service wants of its clients.
#[derive(Clone, Copy, Debug)]
struct LinkConfig {
    ping: Duration,
    /// Between two tries to connect.
    retry: Duration,
    /// A random part of it comes before the first try.
    jitter: Duration,
}

impl Default for LinkConfig {
    fn default() -> LinkConfig {
        let usual = Duration::from_secs(120);
        LinkConfig { ping: usual, retry: usual, jitter: Duration::from_secs(30) }
    }
}

impl LinkConfig {
    fn update(&mut self, config: &Value) {
        let set = |time: &mut Duration, key: &str, least: u64| {
            if let Some(seconds) = config[key].as_u64() {
                *time = Duration::from_secs(seconds.max(least)).min(MAX_PAUSE);
            }
        };
        set(&mut self.ping, "PingInterval", 1);
        set(&mut self.retry, "ReconnectInterval", 0);
        set(&mut self.jitter, "ReconnectNonce", 0);
    }
}

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
enum FeishuEnd {
    /// We closed it.
    Closed,
    Lost,
}

/// One connection.
struct FeishuWire {
    socket: WebSocket,
    service: u64,
    parts: FrameParts,
    next_ping: Instant,
    /// Until when the service must be heard.
    pong_until: Option<Instant>,
    waiting: VecDeque<WaitingFrame>,
}

/// An event that is not answered yet. The service delivers it again, on a later connection too.
struct WaitingFrame {
    frame: FeishuFrame,
    number: u64,
    press: Option<Press>,
}

struct Press {
    id: String,
    until: Instant,
}

enum LinkStep {
    Order(Option<FeishuOrder>),
    Event(SocketEvent),
    Due,
    Room,
}

impl FeishuLink {
    pub fn new(
        api: Arc<FeishuApi>,
        bot: String,
        end: ConnectionEnd<FeishuReceived, FeishuOrder>,
    ) -> FeishuLink {
        FeishuLink { api, bot, end, number: 0, config: LinkConfig::default() }
    }

    pub async fn run(mut self) {
        let mut pauses = ReconnectPauses::default();
        loop {
            let mut pause = pauses.next();
            match self.open().await {
                Ok(wire) => {
                    self.end.accepted();
                    let since = Instant::now();
                    if self.serve(wire).await == FeishuEnd::Closed {
                        return;
                    }
                    pauses.lasted(since.elapsed());
                    pause += self.config.jitter.mul_f64(fastrand::f64());
                }
                Err(error) => {
                    pause = pause.max(self.config.retry);
                    if let PlatformError::RateLimited { after } = error {
                        pause = pause.max(after);
                    }
                    if self.end.report(error) {
                        return;
                    }
                }
            }
            // The other orders are for the connection that ended.
            if self.end.pause(pause, |order| matches!(order, FeishuOrder::Close)).await {
                return;
            }
        }
    }

    async fn open(&mut self) -> Result<FeishuWire, PlatformError> {
        let FeishuEndpoint { url, config } = self.api.endpoint().await?;
        self.config.update(&config);
        let socket = WebSocket::connect(&url).await.map_err(network)?;
        let service = url.split(['?', '&']).find_map(|part| part.strip_prefix("service_id="));
        Ok(FeishuWire {
            socket,
            service: service.and_then(|id| id.parse().ok()).unwrap_or(0),
            parts: FrameParts::default(),
            next_ping: Instant::now(),
            pong_until: None,
            waiting: VecDeque::new(),
        })
    }

    async fn serve(&mut self, mut wire: FeishuWire) -> FeishuEnd {
        loop {
            let done = match self.next_step(&mut wire).await {
                LinkStep::Order(Some(FeishuOrder::Close) | None) => {
                    wire.socket.close(1000).await;
                    return FeishuEnd::Closed;
                }
                LinkStep::Order(Some(FeishuOrder::Confirm(number))) => {
                    let fits = |one: &WaitingFrame| one.press.is_none() && one.number <= number;
                    wire.answer(fits, &Value::Null).await
                }
                LinkStep::Order(Some(FeishuOrder::Answer { press, text })) => {
                    let toast = text.map_or(
                        Value::Null,
                        |text| json!({ "toast": { "type": "info", "content": text } }),
                    );
                    let fits = |one: &WaitingFrame| {
                        one.press.as_ref().is_some_and(|waiting| waiting.id == press)
                    };
                    wire.answer(fits, &toast).await
                }
                LinkStep::Event(event) => self.hear(&mut wire, event).await,
                LinkStep::Due => wire.on_time(self.config.ping).await,
                LinkStep::Room => Ok(()),
            };
            if done.is_err() {
                return FeishuEnd::Lost;
            }
        }
    }

    async fn next_step(&mut self, wire: &mut FeishuWire) -> LinkStep {
        let has_room = self.end.has_room();
        let due = wire.due();
        tokio::select! {
            order = self.end.orders.recv() => LinkStep::Order(order),
            event = wire.socket.next(), if has_room => LinkStep::Event(event),
            _ = self.end.events.reserve(), if !has_room => LinkStep::Room,
            () = sleep_until(due.into()) => LinkStep::Due,
        }
    }

    async fn hear(&mut self, wire: &mut FeishuWire, event: SocketEvent) -> Result<(), WireLost> {
        wire.pong_until = None;
        let frame = match event {
            SocketEvent::Binary(bytes) => FeishuFrame::read(&bytes),
            SocketEvent::Text(_) | SocketEvent::Alive => None,
            SocketEvent::Closed(_) => return Err(WireLost),
        };
        let Some(frame) = frame else { return Ok(()) };
        match frame.kind() {
            FrameKind::Event => self.take(wire, frame).await,
            FrameKind::Pong => {
                self.config.update(&serde_json::from_slice(&frame.payload).unwrap_or_default());
                Ok(())
            }
            FrameKind::Other => Ok(()),
        }
    }

    /// Hands a message over; anything else is answered at once.
    async fn take(&mut self, wire: &mut FeishuWire, frame: FeishuFrame) -> Result<(), WireLost> {
        let now = Instant::now();
        let Some(payload) = wire.parts.join(&frame, now) else { return Ok(()) };
        let Some(incoming) = read_event(&payload, &self.bot) else {
            return wire.send(&frame.acknowledgement(&Value::Null)).await;
        };
        self.number += 1;
        let number = self.number;
        let press = match &incoming.incoming.kind {
            IncomingKind::Button { press, .. } => {
                Some(Press { id: press.clone(), until: now + PRESS })
            }
            _ => None,
        };
        wire.waiting.push_back(WaitingFrame { frame, number, press });
        self.end.deliver(FeishuReceived { incoming, number });
        Ok(())
    }
}

/// The connection is of no use any more.
#[derive(Debug, PartialEq, Eq)]
struct WireLost;

impl FeishuWire {
    /// When something must be done.
    fn due(&self) -> Instant {
        let presses = self.waiting.iter().filter_map(|one| one.press.as_ref());
        let times = presses.map(|press| press.until).chain(self.pong_until);
        times.fold(self.next_ping, Instant::min)
    }

    async fn on_time(&mut self, every: Duration) -> Result<(), WireLost> {
        let now = Instant::now();
        let is_late = |one: &WaitingFrame| one.press.as_ref().is_some_and(|one| one.until <= now);
        self.answer(is_late, &Value::Null).await?;
        if self.pong_until.is_some_and(|until| until <= now) {
            return Err(WireLost);
        }
        if self.next_ping <= now {
            self.next_ping = now + every;
            self.pong_until = Some(now + PONG.min(every));
            self.send(&FeishuFrame::ping(self.service)).await?;
        }
        Ok(())
    }

    /// Tells the service that these events have arrived.
    async fn answer(
        &mut self,
        fits: impl Fn(&WaitingFrame) -> bool,
        answer: &Value,
    ) -> Result<(), WireLost> {
        while let Some(at) = self.waiting.iter().position(&fits) {
            let Some(one) = self.waiting.remove(at) else { break };
            self.send(&one.frame.acknowledgement(answer)).await?;
        }
        Ok(())
    }

    async fn send(&mut self, frame: &FeishuFrame) -> Result<(), WireLost> {
        self.socket.send_binary(frame.write()).await.map_err(|_| WireLost)
    }
}
