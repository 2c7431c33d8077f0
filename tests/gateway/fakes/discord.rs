//! Discord for tests: the gateway (version 10) with heartbeats, sessions that can be resumed and
//! close codes, and the REST interface with buckets, limits and interactions. People write, press
//! and type commands through [`DiscordServer`]; what the bot did can be awaited.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::service::{
    FakeService, Fault, ServiceState, Traffic, Watched, broken, form_parts, text, token, unreadable,
};

pub const TOKEN: &str = "MTIz.test.discord-secret";
pub const APPLICATION: &str = "900";
/// The bot as a user.
pub const BOT_USER: &str = "900";

const MESSAGE_CONTENT: u64 = 1 << 15;
const DIRECT_MESSAGES: u64 = 1 << 12;
const GUILD_MESSAGES: u64 = 1 << 9;

/// A message of a channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    pub id: String,
    pub channel: String,
    pub author: String,
    pub content: String,
    pub components: Value,
    /// Every text it had before.
    pub earlier: Vec<String>,
    /// Shown to one user only.
    pub is_ephemeral: bool,
    /// The interaction it answers.
    pub interaction: Option<String>,
    pub reply_to: Option<String>,
    pub nonce: Option<String>,
    pub file_names: Vec<String>,
    pub allowed_mentions: Value,
    /// As the service tells of it.
    pub event: Value,
}

impl Message {
    /// The buttons in order: label and data.
    pub fn buttons(&self) -> Vec<(String, String)> {
        let rows = self.components.as_array().cloned().unwrap_or_default();
        let buttons = rows.iter().flat_map(|row| row["components"].as_array().cloned()).flatten();
        buttons.map(|button| (text(&button["label"]), text(&button["custom_id"]))).collect()
    }
}

/// Something that a user did to which the bot must answer.
#[derive(Clone, Debug)]
pub struct Interaction {
    pub id: String,
    pub token: String,
    pub channel: String,
    /// The first answer.
    pub callback: Value,
    /// The message that its button is of.
    message: Option<String>,
    /// The answer of the bot, once there is one.
    original: Option<String>,
}

#[derive(Debug)]
enum ToSocket {
    Frame(Value),
    Close(u16),
    Abort,
    Freeze,
}

#[derive(Debug)]
struct Session {
    id: String,
    /// What was ever sent to it, in order; a resumed one gets what follows its number.
    events: Vec<Value>,
    socket: Option<mpsc::UnboundedSender<ToSocket>>,
    intents: u64,
    can_resume: bool,
}

#[derive(Debug, Default)]
pub struct World {
    /// What the next message answers.
    pub answered: Option<Value>,
    pub traffic: Traffic,
    pub messages: Vec<Message>,
    pub interactions: Vec<Interaction>,
    pub commands: Value,
    pub files: BTreeMap<String, (String, Vec<u8>)>,
    /// Logins, resumptions that were accepted, and heartbeats.
    pub identified: usize,
    pub resumed: usize,
    pub heartbeats: usize,
    /// Calls beyond a bucket's limit.
    pub exceeded: usize,
    /// Codes with which the bot closed its connections.
    pub closed_with: Vec<Option<u16>>,
    /// So many messages a channel in this time.
    pub bucket: Option<(u64, Duration)>,
    pub heartbeat: Duration,
    /// The bot may ask for the text of every message.
    pub allows_message_content: bool,
    /// The language of its users.
    pub locale: String,
    sessions: Vec<Session>,
    buckets: HashMap<String, (Instant, u64)>,
    number: u64,
}

type Shared = Arc<Watched<World>>;

pub type DiscordServer = FakeService<World>;

impl ServiceState for World {
    const API: &'static str = "/api/v10";

    fn new() -> World {
        let heartbeat = Duration::from_millis(41_250);
        World { heartbeat, number: 1_000, ..World::default() }
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }

    fn router(world: &Shared) -> Router {
        Router::new()
            .route("/", get(gateway))
            .route("/attachments/{id}", get(attachment))
            .route("/api/v10/{*path}", any(rest))
            .with_state(Arc::clone(world))
    }

    fn is_connected(&self) -> bool {
        self.live().is_some()
    }

    /// Sessions stay.
    fn disconnect(&mut self) {
        self.sessions.iter_mut().for_each(|session| session.socket = None);
    }
}

impl DiscordServer {
    pub fn wait_for_identify(&self, number: usize) {
        let enough = |w: &mut World| (w.identified >= number && w.live().is_some()).then_some(());
        self.wait("another login", enough);
    }

    pub fn wait_for_resume(&self, number: usize) {
        let enough = |w: &mut World| (w.resumed >= number && w.live().is_some()).then_some(());
        self.wait("a resumed session", enough);
    }

    /// Waits for a message of the bot that `fits`.
    pub fn wait_for_message(&self, what: &str, fits: impl Fn(&Message) -> bool) -> Message {
        self.wait(what, |world| world.messages_of_the_bot().filter(|m| fits(m)).last().cloned())
    }

    /// All messages of the bot.
    pub fn messages(&self) -> Vec<Message> {
        self.with(|world| world.messages_of_the_bot().cloned().collect())
    }

    /// Waits until this interaction is answered; returns the answer.
    pub fn wait_for_callback(&self, id: &str) -> Value {
        self.wait("an answer to an interaction", |world| {
            let known = world.interactions.iter().find(|known| known.id == id)?;
            (!known.callback.is_null()).then(|| known.callback.clone())
        })
    }

    /// A direct message.
    pub fn say(&self, user: &str, words: &str) -> String {
        self.write(&format!("7{user}"), None, user, words, false, &json!([]))
    }

    /// A message in a channel that mentions the bot.
    pub fn mention(&self, channel: &str, user: &str, words: &str) -> String {
        self.write(channel, Some("50"), user, &format!("<@{BOT_USER}> {words}"), true, &json!([]))
    }

    /// A message in a channel that mentions nobody.
    pub fn chatter(&self, channel: &str, user: &str, words: &str) -> String {
        self.write(channel, Some("50"), user, words, false, &json!([]))
    }

    /// A direct message with a file.
    pub fn send_file(
        &self,
        user: &str,
        words: &str,
        name: &str,
        kind: &str,
        bytes: &[u8],
    ) -> String {
        let attachment = self.with(|world| {
            let id = world.next();
            let url = format!("http://{}/attachments/{id}", world.traffic.base);
            world.files.insert(id.clone(), (name.to_owned(), bytes.to_vec()));
            json!([{ "id": id, "filename": name, "content_type": kind, "size": bytes.len(),
                "url": url, "proxy_url": url }])
        });
        self.write(&format!("7{user}"), None, user, words, false, &attachment)
    }

    fn write(
        &self,
        channel: &str,
        guild: Option<&str>,
        user: &str,
        words: &str,
        mentions_bot: bool,
        attachments: &Value,
    ) -> String {
        self.with(|world| {
            let id = world.next();
            let mentions = if mentions_bot {
                json!([{ "id": BOT_USER, "username": "avocet", "bot": true }])
            } else {
                json!([])
            };
            let mut event = json!({
                "id": id, "channel_id": channel, "channel_type": i32::from(guild.is_none()),
                "content": words, "type": 0, "tts": false,
                "author": { "id": user, "username": format!("user{user}"), "global_name": null },
                "mentions": mentions, "mention_roles": [], "mention_everyone": false,
                "attachments": attachments, "embeds": [], "timestamp": "2026-01-01T00:00:00Z",
                "edited_timestamp": null, "pinned": false, "components": [],
            });
            if let Some(answered) = world.answered.take() {
                event["type"] = json!(19);
                event["referenced_message"] = answered;
            }
            if let Some(guild) = guild {
                event["guild_id"] = json!(guild);
                event["member"] = json!({ "roles": [], "joined_at": "2026-01-01T00:00:00Z" });
            }
            world.messages.push(Message {
                id: id.clone(),
                channel: channel.into(),
                author: user.into(),
                content: words.into(),
                event: event.clone(),
                ..Message::default()
            });
            world.dispatch("MESSAGE_CREATE", event);
            id
        })
    }

    /// A command of the menu; options as the service sends them.
    pub fn command(&self, channel: &str, user: &str, name: &str, options: Value) -> String {
        let data = json!({ "id": "77", "name": name, "type": 1, "options": options });
        self.interact(channel, user, 2, data, None)
    }

    /// A user types in an option that wants suggestions.
    pub fn type_option(
        &self,
        channel: &str,
        user: &str,
        name: &str,
        option: &str,
        typed: &str,
    ) -> String {
        let options = json!([{ "name": option, "type": 3, "value": typed, "focused": true }]);
        let data = json!({ "id": "77", "name": name, "type": 1, "options": options });
        self.interact(channel, user, 4, data, None)
    }

    /// A user presses the button with this label.
    pub fn press(&self, user: &str, message: &Message, label: &str) -> String {
        let buttons = message.buttons();
        let found = buttons.iter().find(|(known, _)| known == label);
        let (_, data) = found.unwrap_or_else(|| panic!("no button {label}: {buttons:?}"));
        self.press_forged(user, message, data)
    }

    /// A press of a button with this data, which may not be there.
    pub fn press_forged(&self, user: &str, message: &Message, data: &str) -> String {
        let data = json!({ "custom_id": data, "component_type": 2 });
        self.interact(&message.channel, user, 3, data, Some(message))
    }

    fn interact(
        &self,
        channel: &str,
        user: &str,
        kind: u64,
        data: Value,
        message: Option<&Message>,
    ) -> String {
        self.with(|world| {
            let id = world.next();
            let token = format!("interaction-secret-{id}");
            let person = json!({ "id": user, "username": format!("user{user}") });
            let mut event = json!({
                "id": id, "application_id": APPLICATION, "type": kind, "data": data,
                "channel_id": channel, "channel": { "id": channel, "type": 0 }, "token": token,
                "version": 1, "locale": world.locale, "entitlements": [], "app_permissions": "0",
                "authorizing_integration_owners": { "0": "50" }, "context": 0,
                "attachment_size_limit": 10_485_760,
            });
            if channel.starts_with('7') {
                event["user"] = person;
            } else {
                event["guild_id"] = json!("50");
                event["member"] = json!({ "user": person, "permissions": "0" });
            }
            if let Some(message) = message {
                event["message"] = json!({ "id": message.id, "channel_id": message.channel, "content": message.content });
            }
            world.interactions.push(Interaction {
                id: id.clone(),
                token,
                channel: channel.into(),
                callback: Value::Null,
                message: message.map(|message| message.id.clone()),
                original: None,
            });
            world.dispatch("INTERACTION_CREATE", event);
            id
        })
    }

    /// Everything that was ever sent, once more and backwards, as new events.
    pub fn repeat_everything_backwards(&self) {
        self.with(|world| {
            let events = world.sessions.iter().flat_map(|session| session.events.clone());
            let events: Vec<Value> = events.collect();
            for event in events.iter().rev().filter(|event| event["t"] != "READY") {
                let name = text(&event["t"]);
                world.dispatch(&name, event["d"].clone());
            }
        });
    }

    pub fn ask_to_reconnect(&self) {
        self.to_sockets(|| ToSocket::Frame(json!({ "op": 7, "d": null })));
    }

    /// The session is invalid; `can_resume` as the service says it.
    pub fn invalidate(&self, can_resume: bool) {
        self.with(|world| {
            if !can_resume {
                world.sessions.iter_mut().for_each(|session| session.can_resume = false);
            }
        });
        self.to_sockets(|| ToSocket::Frame(json!({ "op": 9, "d": can_resume })));
    }

    /// Closes with a code of the gateway.
    pub fn close_connections(&self, code: u16) {
        self.to_sockets(|| ToSocket::Close(code));
    }

    pub fn break_connections(&self) {
        self.to_sockets(|| ToSocket::Abort);
    }

    /// The connections look open, and nothing passes any more: no heartbeat is acknowledged.
    pub fn freeze_connections(&self) {
        self.to_sockets(|| ToSocket::Freeze);
    }

    pub fn forget_sessions(&self) {
        self.with(|w| w.sessions.iter_mut().for_each(|session| session.can_resume = false));
    }

    pub fn send_raw(&self, frame: Value) {
        self.to_sockets(|| ToSocket::Frame(frame.clone()));
    }

    fn to_sockets(&self, what: impl Fn() -> ToSocket) {
        self.with(|world| {
            for session in &world.sessions {
                // A socket that is gone hears nothing.
                let _ = session.socket.as_ref().map(|socket| socket.send(what()));
            }
        });
    }
}

impl World {
    pub fn messages_of_the_bot(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.author == BOT_USER)
    }

    fn next(&mut self) -> String {
        // Snowflakes: milliseconds in the upper bits.
        self.number += 1;
        (1_400_000_000_000_000_000 + (self.number << 22)).to_string()
    }

    fn live(&self) -> Option<&Session> {
        self.sessions.iter().find(|session| session.socket.is_some())
    }

    /// Into every session that can still be resumed, as the service does.
    fn dispatch(&mut self, name: &str, data: Value) {
        for session in self.sessions.iter_mut().filter(|session| session.can_resume) {
            let mut data = data.clone();
            let is_direct = data["guild_id"].is_null();
            let needed = if is_direct { DIRECT_MESSAGES } else { GUILD_MESSAGES };
            if name == "MESSAGE_CREATE" && session.intents & needed == 0 {
                continue;
            }
            let mentions = data["mentions"].as_array().is_some_and(|all| !all.is_empty());
            if name == "MESSAGE_CREATE"
                && !is_direct
                && !mentions
                && session.intents & MESSAGE_CONTENT == 0
            {
                data["content"] = json!("");
                data["attachments"] = json!([]);
            }
            let number = session.events.len() + 1;
            let event = json!({ "op": 0, "t": name, "s": number, "d": data });
            session.events.push(event.clone());
            if let Some(socket) = &session.socket
                && socket.send(ToSocket::Frame(event)).is_err()
            {
                session.socket = None;
            }
        }
    }
}
async fn gateway(
    State(world): State<Shared>,
    Query(query): Query<HashMap<String, String>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let asked = (query.get("v").map(String::as_str), query.get("encoding").map(String::as_str));
    match asked {
        (Some("10"), Some("json")) => upgrade.on_upgrade(move |socket| serve_socket(world, socket)),
        _ => StatusCode::BAD_REQUEST.into_response(),
    }
}

async fn close(socket: &mut WebSocket, code: u16) {
    let frame = CloseFrame { code, reason: "".into() };
    // The client may be gone.
    let _ = socket.send(Frame::Close(Some(frame))).await;
}

#[expect(clippy::too_many_lines, reason = "the life of one connection, in its order")]
async fn serve_socket(world: Shared, mut socket: WebSocket) {
    let heartbeat = world.with(|world| world.heartbeat);
    let hello = json!({ "op": 10, "s": null, "t": null, "d": { "heartbeat_interval": heartbeat.as_millis() as u64 } });
    if socket.send(Frame::Text(hello.to_string().into())).await.is_err() {
        return;
    }
    let (sender, mut frames) = mpsc::unbounded_channel();
    let mut session = None;
    loop {
        let heard = tokio::select! {
            frame = frames.recv() => match frame {
                Some(ToSocket::Frame(frame)) => match socket.send(Frame::Text(frame.to_string().into())).await {
                    Ok(()) => continue,
                    Err(_) => break,
                },
                Some(ToSocket::Close(code)) => {
                    close(&mut socket, code).await;
                    break;
                }
                Some(ToSocket::Freeze) => std::future::pending().await,
                Some(ToSocket::Abort) | None => break,
            },
            heard = socket.recv() => heard,
        };
        let frame: Value = match heard {
            Some(Ok(Frame::Text(text))) if text.len() > 4096 => {
                close(&mut socket, 4002).await;
                break;
            }
            Some(Ok(Frame::Text(text))) => serde_json::from_str(&text).unwrap_or_default(),
            Some(Ok(Frame::Close(frame))) => {
                let code = frame.map(|frame| frame.code);
                world.with(|world| {
                    world.closed_with.push(code);
                    // A normal farewell ends the session.
                    if matches!(code, Some(1000 | 1001))
                        && let Some(id) = &session
                    {
                        world
                            .sessions
                            .iter_mut()
                            .filter(|s| s.id == *id)
                            .for_each(|s| s.can_resume = false);
                    }
                });
                break;
            }
            Some(Ok(_)) => continue,
            Some(Err(_)) | None => break,
        };
        match world.with(|world| world.hear(&frame, &sender, &mut session)) {
            Heard::Answer(answers) => {
                for answer in answers {
                    if socket.send(Frame::Text(answer.to_string().into())).await.is_err() {
                        break;
                    }
                }
            }
            Heard::Close(code) => {
                close(&mut socket, code).await;
                break;
            }
        }
    }
    world.with(|world| {
        for known in world.sessions.iter_mut().filter(|known| Some(&known.id) == session.as_ref()) {
            if known.socket.as_ref().is_some_and(|socket| socket.same_channel(&sender)) {
                known.socket = None;
            }
        }
    });
}

enum Heard {
    Answer(Vec<Value>),
    Close(u16),
}

impl World {
    fn hear(
        &mut self,
        frame: &Value,
        socket: &mpsc::UnboundedSender<ToSocket>,
        own: &mut Option<String>,
    ) -> Heard {
        match frame["op"].as_u64() {
            Some(1) => {
                self.heartbeats += 1;
                Heard::Answer(vec![json!({ "op": 11, "d": null })])
            }
            Some(2 | 6) if self.traffic.is_revoked || frame["d"]["token"] != TOKEN => {
                self.traffic.refused += 1;
                Heard::Close(4004)
            }
            Some(2) if own.is_some() => Heard::Close(4005),
            Some(2) => self.identify(frame, socket, own),
            Some(6) => self.resume(frame, socket, own),
            Some(3) => Heard::Answer(Vec::new()),
            _ => Heard::Close(4001),
        }
    }

    fn identify(
        &mut self,
        frame: &Value,
        socket: &mpsc::UnboundedSender<ToSocket>,
        own: &mut Option<String>,
    ) -> Heard {
        let intents = frame["d"]["intents"].as_u64().unwrap_or(0);
        if intents & MESSAGE_CONTENT != 0 && !self.allows_message_content {
            return Heard::Close(4014);
        }
        if !frame["d"]["properties"].is_object() {
            return Heard::Close(4002);
        }
        self.identified += 1;
        let id = format!("session-{}", self.next());
        let ready = json!({ "op": 0, "t": "READY", "s": 1, "d": {
            "v": 10, "user": { "id": BOT_USER, "username": "avocet", "bot": true }, "guilds": [],
            "session_id": id, "resume_gateway_url": format!("ws://{}", self.traffic.base),
            "application": { "id": APPLICATION, "flags": 0 }, "shard": [0, 1],
        }});
        *own = Some(id.clone());
        self.sessions.push(Session {
            id,
            events: vec![ready.clone()],
            socket: Some(socket.clone()),
            intents,
            can_resume: true,
        });
        Heard::Answer(vec![ready])
    }

    fn resume(
        &mut self,
        frame: &Value,
        socket: &mpsc::UnboundedSender<ToSocket>,
        own: &mut Option<String>,
    ) -> Heard {
        let id = text(&frame["d"]["session_id"]);
        let after = frame["d"]["seq"].as_u64().unwrap_or(0) as usize;
        let Some(session) = self.sessions.iter_mut().find(|s| s.id == id && s.can_resume) else {
            return Heard::Answer(vec![json!({ "op": 9, "d": false })]);
        };
        if after > session.events.len() {
            return Heard::Close(4007);
        }
        session.socket = Some(socket.clone());
        *own = Some(id);
        self.resumed += 1;
        let mut frames = session.events[after..].to_vec();
        frames.push(json!({ "op": 0, "t": "RESUMED", "s": session.events.len(), "d": {} }));
        Heard::Answer(frames)
    }
}

async fn attachment(State(world): State<Shared>, Path(id): Path<String>) -> Response {
    world.with(|world| match world.files.get(&id) {
        Some((_, bytes)) => bytes.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

/// An answer of the REST interface.
type Answer = (u16, Value);

fn error(status: u16, code: u64, message: &str) -> Answer {
    (status, json!({ "code": code, "message": message }))
}

/// What a fault answers, if it is one that answers.
fn faulty(fault: Fault) -> Option<Response> {
    Some(match fault {
        Fault::Limited(seconds) => limited(seconds as f64, false),
        Fault::LimitedEverywhere(seconds) => limited(seconds as f64, true),
        Fault::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Fault::Unauthorized => {
            let body = Json(json!({ "message": "401: Unauthorized", "code": 0 }));
            (StatusCode::UNAUTHORIZED, body).into_response()
        }
        Fault::Unreadable(status) => unreadable(status),
        Fault::Broken => broken(),
        Fault::Unheard | Fault::Silent => return None,
    })
}

async fn rest(
    State(world): State<Shared>,
    method: Method,
    Path(path): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (args, files) = arguments(&headers, &body);
    let name = format!("{method} /{path}");
    let fault = world.with(|world| world.traffic.receive(&name, &args));
    if let Some(answer) = fault.and_then(faulty) {
        return answer;
    }
    if fault == Some(Fault::Silent) {
        return std::future::pending().await;
    }
    // The service turns away what does not call itself a bot.
    let agents: Vec<_> = headers.get_all("user-agent").iter().collect();
    if agents.len() != 1 || !agents[0].as_bytes().starts_with(b"DiscordBot (") {
        return StatusCode::FORBIDDEN.into_response();
    }
    let is_interaction = path.starts_with("interactions/") || path.starts_with("webhooks/");
    let allowed = world.with(|world| {
        !world.traffic.is_revoked && (is_interaction || token(&headers, "Bot") == TOKEN)
    });
    if !allowed {
        return (
            StatusCode::UNAUTHORIZED,
            Json(json!({ "message": "401: Unauthorized", "code": 0 })),
        )
            .into_response();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let bucket = match (&method, parts.as_slice()) {
        (&Method::POST | &Method::PATCH, ["channels", channel, "messages", ..]) => {
            Some(format!("{method}{channel}"))
        }
        _ => None,
    };
    let head = world.with(|world| bucket.and_then(|bucket| world.spend(&bucket)));
    if let Some(Err(after)) = head {
        return limited(after, false);
    }
    let (status, answer) = world.with(|world| world.call(&method, &parts, &query, args, files));
    if fault == Some(Fault::Unheard) {
        return broken();
    }
    let status = StatusCode::from_u16(status).unwrap();
    let mut response = match answer {
        Value::Null => status.into_response(),
        answer => (status, Json(answer)).into_response(),
    };
    if let Some(Ok((limit, remaining, after))) = head {
        let mut set = |name: &'static str, value: String| {
            response.headers_mut().insert(name, value.parse().unwrap());
        };
        set("x-ratelimit-limit", limit.to_string());
        set("x-ratelimit-remaining", remaining.to_string());
        set("x-ratelimit-reset-after", format!("{after:.3}"));
        set("x-ratelimit-bucket", "abcd".into());
    }
    response
}

fn limited(after: f64, global: bool) -> Response {
    let body =
        json!({ "message": "You are being rate limited.", "retry_after": after, "global": global });
    let head = [("retry-after", after.ceil().to_string())];
    (StatusCode::TOO_MANY_REQUESTS, head, Json(body)).into_response()
}

fn arguments(headers: &HeaderMap, body: &Bytes) -> (Value, Vec<(String, Vec<u8>)>) {
    let parts = form_parts(headers, body);
    if parts.is_empty() {
        return (serde_json::from_slice(body).unwrap_or_default(), Vec::new());
    }
    let payload = parts.iter().find(|part| part.name == "payload_json");
    let payload = payload.map(|part| serde_json::from_slice(&part.bytes).unwrap_or_default());
    let files = parts.iter().filter(|part| part.name.starts_with("files["));
    let files = files.map(|part| (part.file_name.clone().unwrap_or_default(), part.bytes.clone()));
    (payload.unwrap_or_default(), files.collect())
}

impl World {
    /// What is left of a bucket, or how long until it is full again.
    fn spend(&mut self, bucket: &str) -> Option<Result<(u64, u64, f64), f64>> {
        let (limit, window) = self.bucket?;
        let now = Instant::now();
        let (since, used) = self.buckets.entry(bucket.to_owned()).or_insert((now, 0));
        if now.duration_since(*since) >= window {
            (*since, *used) = (now, 0);
        }
        let after = (window - now.duration_since(*since)).as_secs_f64();
        if *used >= limit {
            self.exceeded += 1;
            return Some(Err(after));
        }
        *used += 1;
        Some(Ok((limit, limit - *used, after)))
    }

    fn call(
        &mut self,
        method: &Method,
        path: &[&str],
        query: &HashMap<String, String>,
        args: Value,
        files: Vec<(String, Vec<u8>)>,
    ) -> Answer {
        match (method.as_str(), path) {
            ("GET", ["users", "@me"]) => {
                (200, json!({ "id": BOT_USER, "username": "avocet", "bot": true }))
            }
            ("GET", ["users", "@me", "guilds"]) => (200, json!([])),
            ("GET", ["applications" | "oauth2", ..]) => (200, json!({ "id": APPLICATION })),
            ("GET", ["gateway", "bot"]) => (
                200,
                json!({
                    "url": format!("ws://{}", self.traffic.base), "shards": 1,
                    "session_start_limit": { "total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1 },
                }),
            ),
            ("POST", ["channels", channel, "messages"]) => self.post(channel, &args, files),
            ("GET", ["channels", channel, "messages"]) => self.history(channel, query),
            ("PATCH", ["channels", _, "messages", id]) => self.edit(id, &args),
            ("DELETE", ["channels", _, "messages", id]) => {
                self.messages.retain(|message| message.id != *id);
                (204, Value::Null)
            }
            ("POST", ["channels", _, "typing"]) => (204, Value::Null),
            ("POST", ["users", "@me", "channels"]) => {
                (200, json!({ "id": format!("7{}", text(&args["recipient_id"])), "type": 1 }))
            }
            ("PUT", ["applications", APPLICATION, "commands"]) => self.set_commands(args),
            ("POST", ["interactions", id, token, "callback"]) => self.callback(id, token, &args),
            ("PATCH", ["webhooks", APPLICATION, token, "messages", id]) => {
                self.edit_answer(token, id, &args, files)
            }
            ("POST", ["webhooks", APPLICATION, token]) => self.follow_up(token, &args, files),
            ("DELETE", ["webhooks", APPLICATION, _, "messages", _]) => (204, Value::Null),
            _ => error(404, 0, "404: Not Found"),
        }
    }

    fn add(&mut self, channel: &str, args: &Value, files: Vec<(String, Vec<u8>)>) -> &mut Message {
        let id = self.next();
        let mut file_names = Vec::new();
        for (name, bytes) in files {
            file_names.push(name.clone());
            let file = self.next();
            self.files.insert(file, (name, bytes));
        }
        self.messages.push(Message {
            id: id.clone(),
            channel: channel.into(),
            author: BOT_USER.into(),
            content: text(&args["content"]),
            components: args["components"].clone(),
            is_ephemeral: args["flags"].as_u64().unwrap_or(0) & 64 != 0,
            reply_to: args["message_reference"]["message_id"].as_str().map(str::to_owned),
            nonce: args.get("nonce").map(text),
            file_names,
            allowed_mentions: args["allowed_mentions"].clone(),
            event: json!({ "id": id, "channel_id": channel, "content": args["content"],
                "author": { "id": BOT_USER, "username": "avocet", "bot": true }, "mentions": [], "attachments": [] }),
            ..Message::default()
        });
        self.messages.last_mut().unwrap()
    }

    fn post(&mut self, channel: &str, args: &Value, files: Vec<(String, Vec<u8>)>) -> Answer {
        if let Some(wrong) = invalid(args, !files.is_empty()) {
            return wrong;
        }
        let nonce = args.get("nonce").map(text);
        if args["enforce_nonce"] == true
            && let Some(known) =
                self.messages.iter().find(|m| m.nonce.is_some() && m.nonce == nonce)
        {
            return (200, known.event.clone());
        }
        (200, self.add(channel, args, files).event.clone())
    }

    fn edit(&mut self, id: &str, args: &Value) -> Answer {
        if let Some(wrong) = invalid(args, false) {
            return wrong;
        }
        match self.messages.iter_mut().find(|message| message.id == id) {
            None => error(404, 10_008, "Unknown Message"),
            Some(message) if message.author != BOT_USER => {
                error(403, 50_005, "Cannot edit a message authored by another user")
            }
            Some(message) => (200, change(message, args)),
        }
    }

    fn history(&self, channel: &str, query: &HashMap<String, String>) -> Answer {
        let number = |text: &str| text.parse::<u64>().unwrap_or(0);
        let after = query.get("after").map_or(0, |after| number(after));
        let most = query.get("limit").map_or(50, |most| number(most)).min(100) as usize;
        let fits = |m: &&Message| m.channel == channel && number(&m.id) > after;
        let mut found: Vec<Value> =
            self.messages.iter().filter(fits).take(most).map(|m| m.event.clone()).collect();
        // The newest comes first.
        found.reverse();
        (200, Value::Array(found))
    }

    fn set_commands(&mut self, args: Value) -> Answer {
        let Some(commands) = args.as_array() else {
            return error(400, 50_035, "Invalid Form Body");
        };
        let fits = |command: &Value| {
            let (name, about) = (text(&command["name"]), text(&command["description"]));
            let is_letter = |c: char| c.is_alphanumeric() && !c.is_uppercase() || "-_'".contains(c);
            let options = command["options"].as_array().cloned().unwrap_or_default();
            (1..=32).contains(&name.chars().count())
                && name.chars().all(is_letter)
                && (1..=100).contains(&about.chars().count())
                && options.len() <= 25
                && options.iter().all(|option| {
                    let choices = option["choices"].as_array().map_or(0, Vec::len);
                    let both = choices > 0 && option["autocomplete"] == true;
                    choices <= 25
                        && !both
                        && (1..=100).contains(&text(&option["description"]).chars().count())
                })
        };
        if commands.len() > 100 || !commands.iter().all(fits) {
            return error(400, 50_035, "Invalid Form Body");
        }
        self.commands = args.clone();
        (200, args)
    }

    fn interaction(&mut self, token: &str) -> Option<&mut Interaction> {
        self.interactions.iter_mut().find(|interaction| interaction.token == token)
    }

    fn callback(&mut self, id: &str, token: &str, args: &Value) -> Answer {
        let unknown = || error(404, 10_062, "Unknown interaction");
        let Some(known) = self.interaction(token).filter(|known| known.id == id) else {
            return unknown();
        };
        if !known.callback.is_null() {
            return error(400, 40_060, "Interaction has already been acknowledged.");
        }
        let kind = args["type"].as_u64();
        if kind == Some(8) && args["data"]["choices"].as_array().is_none_or(|all| all.len() > 25) {
            return error(400, 50_035, "Invalid Form Body");
        }
        known.callback = args.clone();
        let (channel, id, message) =
            (known.channel.clone(), known.id.clone(), known.message.clone());
        match kind {
            Some(4) => {
                let message = self.add(&channel, &args["data"], Vec::new());
                message.interaction = Some(id);
                let original = message.id.clone();
                self.interaction(token).unwrap().original = Some(original);
            }
            Some(6 | 7) => self.interaction(token).unwrap().original = message,
            _ => {}
        }
        (204, Value::Null)
    }

    fn edit_answer(
        &mut self,
        token: &str,
        id: &str,
        args: &Value,
        files: Vec<(String, Vec<u8>)>,
    ) -> Answer {
        if let Some(wrong) = invalid(args, !files.is_empty()) {
            return wrong;
        }
        let Some(known) =
            self.interaction(token).filter(|known| !known.callback.is_null()).cloned()
        else {
            return error(404, 10_015, "Unknown Webhook");
        };
        let original = if id == "@original" { known.original } else { Some(id.to_owned()) };
        if let Some(message) = original.and_then(|id| self.messages.iter_mut().find(|m| m.id == id))
        {
            return (200, change(message, args));
        }
        let message = self.add(&known.channel, args, files);
        message.interaction = Some(known.id);
        let (id, event) = (message.id.clone(), message.event.clone());
        self.interaction(token).unwrap().original = Some(id);
        (200, event)
    }

    fn follow_up(&mut self, token: &str, args: &Value, files: Vec<(String, Vec<u8>)>) -> Answer {
        if let Some(wrong) = invalid(args, !files.is_empty()) {
            return wrong;
        }
        let Some(known) =
            self.interaction(token).filter(|known| !known.callback.is_null()).cloned()
        else {
            return error(404, 10_015, "Unknown Webhook");
        };
        let message = self.add(&known.channel, args, files);
        message.interaction = Some(known.id);
        (200, message.event.clone())
    }
}

fn change(message: &mut Message, args: &Value) -> Value {
    let earlier = std::mem::replace(&mut message.content, text(&args["content"]));
    message.earlier.push(earlier);
    if let Some(components) = args.get("components") {
        message.components = components.clone();
    }
    message.event["content"] = args["content"].clone();
    message.event.clone()
}

/// What the service would refuse in a message.
fn invalid(args: &Value, has_files: bool) -> Option<Answer> {
    let count = |value: &Value| text(value).chars().count();
    let length = count(&args["content"]);
    let empty = Vec::new();
    let rows = args["components"].as_array().unwrap_or(&empty);
    if length == 0 && !has_files && rows.is_empty() {
        return Some(error(400, 50_006, "Cannot send an empty message"));
    }
    let row_fits = |row: &Value| {
        let buttons = row["components"].as_array().unwrap_or(&empty);
        row["type"] == 1
            && (1..=5).contains(&buttons.len())
            && buttons.iter().all(|button| {
                button["type"] == 2
                    && (1..=80).contains(&count(&button["label"]))
                    && (1..=100).contains(&count(&button["custom_id"]))
                    && (1..=4).contains(&button["style"].as_u64().unwrap_or(0))
            })
    };
    let fits = length <= 2000
        && count(&args["nonce"]) <= 25
        && rows.len() <= 5
        && rows.iter().all(row_fits);
    (!fits).then(|| error(400, 50_035, "Invalid Form Body"))
}
