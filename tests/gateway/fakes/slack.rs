//! A Slack workspace for tests: Socket Mode with tickets, hello, envelopes and their
//! acknowledgements, and the Web API with its limits. People of the workspace write, press and
//! type commands through [`SlackServer`]; what the app did can be awaited.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::service::{
    FakeService, Fault, ServiceState, Traffic, Watched, broken, text, token, unreadable,
};

pub const APP_TOKEN: &str = "xapp-1-A1-test-secret";
pub const BOT_TOKEN: &str = "xoxb-1-test-secret";
/// The bot as a user of the workspace.
pub const BOT_USER: &str = "UBOT";

/// The time in which an envelope must be acknowledged.
pub const ACK_TIME: Duration = Duration::from_secs(3);
/// How often a `response_url` can be used.
const RESPONSES: usize = 5;
/// How many connections an app may have.
const CONNECTIONS: usize = 10;

/// A message of the workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    pub channel: String,
    pub ts: String,
    pub thread: Option<String>,
    pub user: String,
    pub text: String,
    pub blocks: Value,
    /// Every text it had before.
    pub earlier: Vec<String>,
    /// Shown to one user only.
    pub ephemeral: Option<String>,
    pub deleted: bool,
    pub metadata: Value,
}

impl Message {
    /// The buttons in order: label and value.
    pub fn buttons(&self) -> Vec<(String, String)> {
        let elements = self.button_elements();
        elements
            .iter()
            .map(|button| (text(&button["text"]["text"]), text(&button["value"])))
            .collect()
    }

    fn button_elements(&self) -> Vec<Value> {
        let blocks = self.blocks.as_array().cloned().unwrap_or_default();
        let elements = blocks.iter().flat_map(|block| block["elements"].as_array().cloned());
        elements.flatten().filter(|element| element["type"] == "button").collect()
    }

    /// Everything a reader sees: the blocks, or else the text.
    pub fn shown(&self) -> String {
        let blocks = self.blocks.as_array().cloned().unwrap_or_default();
        let verbatim = |block: &Value| {
            let elements = block["elements"][0]["elements"].as_array().cloned();
            elements.unwrap_or_default().iter().map(|element| text(&element["text"])).collect()
        };
        let texts = blocks.iter().filter_map(|block| match block["type"].as_str() {
            Some("rich_text") => Some(verbatim(block)),
            Some("section") => Some(text(&block["text"]["text"])),
            _ => None,
        });
        let shown = texts.collect::<Vec<String>>().join("\n");
        if shown.is_empty() { self.text.clone() } else { shown }
    }
}

/// Something sent over the socket, and whether the app acknowledged it.
#[derive(Clone, Debug)]
pub struct Envelope {
    pub id: String,
    pub frame: Value,
    pub deliveries: usize,
    pub sent: Option<Instant>,
    pub acknowledged: Option<Duration>,
    pub answer: Option<Value>,
}

/// A file that the app shared, or that a user sent.
#[derive(Clone, Debug, Default)]
pub struct SharedFile {
    pub name: String,
    pub length: usize,
    pub bytes: Vec<u8>,
    pub channel: Option<String>,
    pub thread: Option<String>,
    pub comment: String,
}

#[derive(Debug)]
enum ToSocket {
    Frame(Frame),
    /// The connection breaks without a word.
    Abort,
    /// The connection stays open and nothing passes any more.
    Freeze,
}

#[derive(Debug, Default)]
pub struct Workspace {
    pub traffic: Traffic,
    pub messages: Vec<Message>,
    pub envelopes: Vec<Envelope>,
    pub files: BTreeMap<String, SharedFile>,
    /// What was posted to each `response_url`.
    pub responses: BTreeMap<String, Vec<Value>>,
    pub views: Vec<Value>,
    /// How many connections were ever opened.
    pub connected: usize,
    /// Frames of the app that are no acknowledgement of anything.
    pub stray: Vec<String>,
    /// The shortest time between two messages in a channel; more often is refused.
    pub pace: Option<Duration>,
    /// The language of its users.
    pub locale: String,
    /// Channels in which the bot may not write.
    pub closed_channels: Vec<String>,
    sockets: Vec<(usize, mpsc::UnboundedSender<ToSocket>)>,
    tickets: Vec<String>,
    posted: HashMap<String, Instant>,
    number: usize,
}

pub type SlackServer = FakeService<Workspace>;

type Shared = Arc<Watched<Workspace>>;

impl ServiceState for Workspace {
    const API: &'static str = "/api/";

    fn new() -> Workspace {
        Workspace::default()
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }

    fn router(workspace: &Shared) -> Router {
        Router::new()
            .route("/api/{method}", post(method).get(method))
            .route("/link", get(link))
            .route("/response/{id}", post(response))
            .route("/upload/{id}", post(upload))
            .route("/files/{id}", get(file))
            .with_state(Arc::clone(workspace))
    }

    fn is_connected(&self) -> bool {
        !self.sockets.is_empty()
    }

    fn disconnect(&mut self) {
        self.sockets.clear();
    }
}

impl SlackServer {
    /// Waits until so many connections were opened since the start.
    pub fn wait_for_connection(&self, number: usize) {
        let enough =
            |w: &mut Workspace| (w.connected >= number && !w.sockets.is_empty()).then_some(());
        self.wait("another connection", enough);
    }

    /// Waits for a message of the app that `fits`.
    pub fn wait_for_message(&self, what: &str, fits: impl Fn(&Message) -> bool) -> Message {
        self.wait(what, |w| w.messages_of_the_app().filter(|m| fits(m)).last().cloned())
    }

    /// All messages of the app.
    pub fn messages(&self) -> Vec<Message> {
        self.with(|workspace| workspace.messages_of_the_app().cloned().collect())
    }

    /// Waits for what the user of this envelope is told in answer to it.
    pub fn wait_for_response(&self, envelope: &str) -> String {
        self.wait("an answer to what a user did", |workspace| {
            let url = &workspace.envelope(envelope).frame["payload"]["response_url"];
            let response = url.as_str()?.rsplit('/').next()?;
            workspace.responses[response].last()?["text"].as_str().map(str::to_owned)
        })
    }

    /// Waits until this envelope is acknowledged; returns how long that took.
    pub fn wait_for_acknowledgement(&self, id: &str) -> Duration {
        self.wait("an acknowledgement", |workspace| workspace.envelope(id).acknowledged)
    }

    /// A direct message.
    pub fn say(&self, user: &str, words: &str) -> String {
        self.message(&format!("D{user}"), "im", user, words, None).0
    }

    /// A message in a channel that mentions the bot: Slack sends two events for it.
    pub fn mention(&self, channel: &str, user: &str, words: &str) -> String {
        let words = format!("<@{BOT_USER}> {words}");
        let (ts, event) = self.message(channel, "channel", user, &words, None);
        self.event(mentioned(event));
        ts
    }

    /// A mention inside a thread.
    pub fn mention_in_thread(
        &self,
        channel: &str,
        user: &str,
        words: &str,
        thread: &str,
    ) -> String {
        let words = format!("<@{BOT_USER}> {words}");
        let (ts, event) = self.message(channel, "channel", user, &words, Some(thread));
        self.event(mentioned(event));
        ts
    }

    /// A message in a channel, in a thread or not, that mentions nobody.
    pub fn chatter(&self, channel: &str, user: &str, words: &str, thread: Option<&str>) -> String {
        self.message(channel, "channel", user, words, thread).0
    }

    fn message(
        &self,
        channel: &str,
        kind: &str,
        user: &str,
        words: &str,
        thread: Option<&str>,
    ) -> (String, Value) {
        let ts = self.with(|workspace| {
            let ts = workspace.next_ts();
            workspace.messages.push(Message {
                channel: channel.into(),
                ts: ts.clone(),
                thread: thread.map(str::to_owned),
                user: user.into(),
                text: words.into(),
                ..Message::default()
            });
            ts
        });
        let mut event = json!({
            "type": "message", "channel": channel, "channel_type": kind, "user": user,
            "text": words, "ts": ts, "event_ts": ts, "team": "T1", "client_msg_id": format!("c{ts}"),
            "blocks": [{ "type": "rich_text", "block_id": "x", "elements": [] }],
        });
        if let Some(thread) = thread {
            event["thread_ts"] = json!(thread);
        }
        self.event(event.clone());
        (ts, event)
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
        let (id, ts, base) = self.with(|workspace| {
            let id = format!("F{}", workspace.next());
            let file =
                SharedFile { name: name.into(), bytes: bytes.into(), ..SharedFile::default() };
            workspace.files.insert(id.clone(), file);
            (id, workspace.next_ts(), workspace.traffic.base.clone())
        });
        let url = format!("http://{base}/files/{id}");
        self.event(json!({
            "type": "message", "subtype": "file_share", "channel": format!("D{user}"),
            "channel_type": "im", "user": user, "text": words, "ts": ts,
            "files": [{ "id": id, "name": name, "mimetype": kind, "size": bytes.len(),
                "url_private": url, "url_private_download": url, "mode": "hosted" }],
        }));
        ts
    }

    /// An event of the Events API; returns the envelope.
    pub fn event(&self, event: Value) -> String {
        let id = self.with(Workspace::next);
        let payload = json!({
            "token": "verification", "team_id": "T1", "api_app_id": "A1", "type": "event_callback",
            "event_id": format!("Ev{id}"), "event_time": 1_700_000_000, "event": event,
            "authorizations": [{ "team_id": "T1", "user_id": BOT_USER, "is_bot": true }],
            "is_ext_shared_channel": false,
        });
        self.send("events_api", payload)
    }

    /// A slash command; returns its `response_url`'s last part.
    pub fn command(&self, channel: &str, user: &str, command: &str, words: &str) -> String {
        let (response_url, response, trigger) = self.response_url();
        self.send("slash_commands", json!({
            "token": "verification", "team_id": "T1", "team_domain": "test", "channel_id": channel,
            "channel_name": "x", "user_id": user, "user_name": user, "command": command,
            "text": words, "api_app_id": "A1", "is_enterprise_install": "false",
            "response_url": response_url, "trigger_id": trigger,
        }));
        response
    }

    /// A user presses the button with this label; returns the envelope.
    pub fn press(&self, user: &str, message: &Message, label: &str) -> String {
        let labels = message.buttons();
        let elements = message.button_elements();
        let button = elements.iter().find(|button| button["text"]["text"] == label);
        let button = button.unwrap_or_else(|| panic!("no button {label}: {labels:?}")).clone();
        self.press_forged(user, message, &button)
    }

    /// A press as the service would send it, of a button that may not be there.
    pub fn press_forged(&self, user: &str, message: &Message, button: &Value) -> String {
        let (response_url, _, trigger) = self.response_url();
        let mut action = button.clone();
        action["action_ts"] = json!(message.ts);
        action["block_id"] = json!("b1");
        let mut origin = json!({ "type": "message", "user": BOT_USER, "ts": message.ts, "text": message.text, "blocks": message.blocks });
        let mut container = json!({ "type": "message", "message_ts": message.ts, "channel_id": message.channel, "is_ephemeral": false });
        if let Some(thread) = &message.thread {
            origin["thread_ts"] = json!(thread);
            container["thread_ts"] = json!(thread);
        }
        self.send(
            "interactive",
            json!({
                "type": "block_actions", "user": { "id": user, "username": user, "team_id": "T1" },
                "api_app_id": "A1", "token": "verification", "trigger_id": trigger,
                "team": { "id": "T1", "domain": "test" }, "container": container,
                "channel": { "id": message.channel, "name": "x" }, "message": origin,
                "response_url": response_url, "actions": [action],
            }),
        )
    }

    fn response_url(&self) -> (String, String, String) {
        self.with(|workspace| {
            let id = workspace.next();
            workspace.responses.insert(id.clone(), Vec::new());
            (
                format!("http://{}/response/{id}", workspace.traffic.base),
                id.clone(),
                format!("trigger{id}"),
            )
        })
    }

    /// An envelope of any kind.
    pub fn send(&self, kind: &str, payload: Value) -> String {
        self.with(|workspace| {
            let id = format!("envelope-{}", workspace.next());
            let frame = json!({
                "envelope_id": id, "type": kind, "payload": payload,
                "accepts_response_payload": kind != "events_api",
                "retry_attempt": 0, "retry_reason": "",
            });
            workspace.envelopes.push(Envelope {
                id: id.clone(),
                frame,
                deliveries: 0,
                sent: None,
                acknowledged: None,
                answer: None,
            });
            workspace.deliver(&id);
            id
        })
    }

    /// Everything that was ever sent, once more and backwards.
    pub fn repeat_everything_backwards(&self) {
        self.with(|workspace| {
            let ids: Vec<String> = workspace.envelopes.iter().rev().map(|e| e.id.clone()).collect();
            ids.iter().for_each(|id| workspace.deliver(id));
        });
    }

    /// `warning`, `refresh_requested` or `link_disabled`.
    pub fn announce_disconnect(&self, reason: &str) {
        let text =
            json!({ "type": "disconnect", "reason": reason, "debug_info": { "host": "test" } });
        self.to_sockets(|| ToSocket::Frame(Frame::Text(text.to_string().into())));
    }

    pub fn send_raw(&self, text: &str) {
        self.with(|workspace| {
            for (_, socket) in &workspace.sockets {
                // A socket that is gone hears nothing.
                let _ = socket.send(ToSocket::Frame(Frame::Text(text.into())));
            }
        });
    }

    pub fn close_connections(&self) {
        let close = || CloseFrame { code: 1000, reason: "".into() };
        self.to_sockets(|| ToSocket::Frame(Frame::Close(Some(close()))));
    }

    pub fn break_connections(&self) {
        self.to_sockets(|| ToSocket::Abort);
    }

    /// The connections look open, and nothing passes any more.
    pub fn freeze_connections(&self) {
        self.to_sockets(|| ToSocket::Freeze);
    }

    fn to_sockets(&self, what: impl Fn() -> ToSocket) {
        self.with(|workspace| {
            for (_, socket) in workspace.sockets.drain(..) {
                // A socket that is gone hears nothing.
                let _ = socket.send(what());
            }
        });
    }
}

fn mentioned(mut event: Value) -> Value {
    event["type"] = json!("app_mention");
    event.as_object_mut().unwrap().remove("channel_type");
    event
}

impl Workspace {
    pub fn messages_of_the_app(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.user == BOT_USER && !message.deleted)
    }

    pub fn envelope(&self, id: &str) -> &Envelope {
        self.envelopes.iter().find(|envelope| envelope.id == id).unwrap()
    }

    fn next(&mut self) -> String {
        self.number += 1;
        self.number.to_string()
    }

    fn next_ts(&mut self) -> String {
        self.number += 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        format!("{}.{:06}", now.as_secs(), self.number)
    }

    /// Sends to the newest connection, if there is one.
    fn deliver(&mut self, id: &str) {
        let envelope = self.envelopes.iter_mut().find(|envelope| envelope.id == id).unwrap();
        let mut frame = envelope.frame.clone();
        if envelope.deliveries > 0 {
            frame["retry_attempt"] = json!(envelope.deliveries);
            frame["retry_reason"] = json!("timeout");
        }
        let frame = ToSocket::Frame(Frame::Text(frame.to_string().into()));
        if let Some((_, socket)) = self.sockets.last()
            && socket.send(frame).is_ok()
        {
            envelope.deliveries += 1;
            envelope.sent.get_or_insert_with(Instant::now);
        }
    }

    fn hear(&mut self, text: &str) {
        let frame: Value = serde_json::from_str(text).unwrap_or_default();
        let id = frame["envelope_id"].as_str().unwrap_or("");
        match self.envelopes.iter_mut().find(|envelope| envelope.id == id) {
            Some(envelope) => {
                let waited = envelope.sent.map(|sent| sent.elapsed()).unwrap_or_default();
                envelope.acknowledged.get_or_insert(waited);
                envelope.answer = frame.get("payload").cloned();
            }
            None => self.stray.push(text.to_owned()),
        }
    }
}
async fn link(
    State(workspace): State<Shared>,
    Query(query): Query<HashMap<String, String>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let ticket = query.get("ticket").cloned().unwrap_or_default();
    let known = workspace.with(|workspace| {
        let at = workspace.tickets.iter().position(|known| *known == ticket);
        at.map(|at| workspace.tickets.remove(at))
    });
    match known {
        Some(_) => upgrade.on_upgrade(move |socket| serve_socket(workspace, socket)),
        None => StatusCode::FORBIDDEN.into_response(),
    }
}

async fn serve_socket(workspace: Shared, mut socket: WebSocket) {
    let (sender, mut frames) = mpsc::unbounded_channel();
    let hello = json!({
        "type": "hello", "num_connections": 1, "connection_info": { "app_id": "A1" },
        "debug_info": { "host": "test", "approximate_connection_time": 18060 },
    });
    if socket.send(Frame::Text(hello.to_string().into())).await.is_err() {
        return;
    }
    let number = workspace.with(|workspace| {
        workspace.connected += 1;
        workspace.sockets.push((workspace.connected, sender));
        let waiting = workspace.envelopes.iter().filter(|envelope| envelope.acknowledged.is_none());
        let waiting: Vec<String> = waiting.map(|envelope| envelope.id.clone()).collect();
        waiting.iter().for_each(|id| workspace.deliver(id));
        workspace.connected
    });
    loop {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(ToSocket::Frame(frame)) => if socket.send(frame).await.is_err() { break },
                Some(ToSocket::Freeze) => std::future::pending().await,
                Some(ToSocket::Abort) => break,
                // Cut off from new envelopes; the old ones may still be acknowledged.
                None => match socket.recv().await {
                    Some(Ok(Frame::Text(text))) => workspace.with(|w| w.hear(&text)),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => break,
                },
            },
            heard = socket.recv() => match heard {
                Some(Ok(Frame::Text(text))) => workspace.with(|w| w.hear(&text)),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break,
            },
        }
    }
    workspace.with(|workspace| workspace.sockets.retain(|(known, _)| *known != number));
}

fn refused(error: &str) -> Value {
    json!({ "ok": false, "error": error })
}

async fn method(
    State(workspace): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let is_json = kind.starts_with("application/json");
    let args =
        if is_json { serde_json::from_slice(&body).unwrap_or_default() } else { form(&body) };
    let call = format!("{name} {}", text(&args["channel"]));
    let fault = workspace.with(|workspace| workspace.traffic.receive(&call, &args));
    match fault {
        Some(Fault::Limited(seconds) | Fault::LimitedEverywhere(seconds)) => {
            return limited(seconds);
        }
        Some(Fault::Status(status)) => {
            return StatusCode::from_u16(status).unwrap().into_response();
        }
        Some(Fault::Unauthorized) => return Json(refused("invalid_auth")).into_response(),
        Some(Fault::Unreadable(status)) => return unreadable(status),
        Some(Fault::Broken) => return broken(),
        Some(Fault::Silent) => return std::future::pending().await,
        Some(Fault::Unheard) | None => {}
    }
    let token = token(&headers, "Bearer");
    let wanted = if name == "apps.connections.open" { APP_TOKEN } else { BOT_TOKEN };
    let answer = workspace.with(|workspace| match token {
        "" => refused("not_authed"),
        _ if workspace.traffic.is_revoked => {
            workspace.traffic.refused += 1;
            refused("token_revoked")
        }
        _ if token == wanted => workspace.call(&name, &args, is_json),
        APP_TOKEN | BOT_TOKEN => refused("not_allowed_token_type"),
        _ => refused("invalid_auth"),
    });
    match (answer["limited"].as_bool(), fault) {
        (Some(true), _) => limited(1),
        (_, Some(Fault::Unheard)) => broken(),
        _ => Json(answer).into_response(),
    }
}

fn limited(seconds: u64) -> Response {
    let head = [("retry-after", seconds.to_string())];
    (StatusCode::TOO_MANY_REQUESTS, head, Json(refused("ratelimited"))).into_response()
}

impl Workspace {
    fn call(&mut self, name: &str, args: &Value, is_json: bool) -> Value {
        match name {
            "apps.connections.open" if self.sockets.len() >= CONNECTIONS => {
                refused("too_many_websockets")
            }
            "apps.connections.open" => {
                let ticket = format!("ticket-secret-{}", self.next());
                self.tickets.push(ticket.clone());
                json!({ "ok": true, "url": format!("ws://{}/link?ticket={ticket}&app_id=A1", self.traffic.base) })
            }
            "auth.test" => json!({ "ok": true, "url": "https://test.slack.com/", "team": "Test",
                "user": "avocet", "team_id": "T1", "user_id": BOT_USER, "bot_id": "B1" }),
            "chat.postMessage" => self.post(args, None),
            "chat.postEphemeral" => self.post(args, args["user"].as_str().map(str::to_owned)),
            "chat.update" => self.update(args),
            "chat.delete" => match self.find(args) {
                Some(message) => {
                    message.deleted = true;
                    json!({ "ok": true })
                }
                None => refused("message_not_found"),
            },
            "views.open" => {
                self.views.push(args.clone());
                json!({ "ok": true, "view": { "id": "V1" } })
            }
            "conversations.open" => {
                json!({ "ok": true, "channel": { "id": format!("D{}", text(&args["users"])) } })
            }
            "conversations.replies" | "conversations.history" => self.history(args),
            "users.info" => {
                let name = format!("user {}", text(&args["user"]));
                let profile = json!({ "display_name": name });
                json!({ "ok": true,
                    "user": { "name": "x", "profile": profile, "locale": self.locale } })
            }
            "reactions.add" | "reactions.remove" | "assistant.threads.setStatus" => {
                json!({ "ok": true })
            }
            "files.getUploadURLExternal" if is_json => refused("invalid_arguments"),
            "files.getUploadURLExternal" => self.open_upload(args),
            "files.completeUploadExternal" => self.complete_upload(args),
            _ => refused("unknown_method"),
        }
    }

    fn post(&mut self, args: &Value, ephemeral: Option<String>) -> Value {
        let channel = text(&args["channel"]);
        if channel.is_empty() {
            return refused("channel_not_found");
        }
        if self.closed_channels.contains(&channel) {
            return refused("not_in_channel");
        }
        if let Some(error) = invalid(args) {
            return refused(error);
        }
        let now = Instant::now();
        let last = self.posted.insert(channel.clone(), now);
        if let (Some(pace), Some(last)) = (self.pace, last)
            && now.duration_since(last) < pace
        {
            return json!({ "limited": true });
        }
        let ts = self.next_ts();
        self.messages.push(Message {
            channel: channel.clone(),
            ts: ts.clone(),
            thread: args["thread_ts"].as_str().map(str::to_owned),
            user: BOT_USER.into(),
            text: text(&args["text"]),
            blocks: args["blocks"].clone(),
            metadata: args["metadata"].clone(),
            ephemeral,
            ..Message::default()
        });
        json!({ "ok": true, "channel": channel, "ts": ts, "message": { "text": args["text"], "ts": ts } })
    }

    fn update(&mut self, args: &Value) -> Value {
        if let Some(error) = invalid(args) {
            return refused(error);
        }
        let Some(message) = self.find(args) else { return refused("message_not_found") };
        if message.user != BOT_USER {
            return refused("cant_update_message");
        }
        let earlier = std::mem::replace(&mut message.text, text(&args["text"]));
        message.earlier.push(earlier);
        message.blocks = args["blocks"].clone();
        json!({ "ok": true, "channel": args["channel"], "ts": args["ts"], "text": args["text"] })
    }

    fn find(&mut self, args: &Value) -> Option<&mut Message> {
        let (channel, ts) = (text(&args["channel"]), text(&args["ts"]));
        self.messages.iter_mut().find(|m| m.channel == channel && m.ts == ts && !m.deleted)
    }

    fn history(&self, args: &Value) -> Value {
        let (channel, oldest, thread) =
            (text(&args["channel"]), text(&args["oldest"]), text(&args["ts"]));
        let latest = text(&args["latest"]);
        let fits = |m: &&Message| {
            m.channel == channel
                // The first message of a thread comes along whenever it was written.
                && (m.ts > oldest || m.ts == thread)
                && (latest.is_empty() || m.ts <= latest)
                && (thread.is_empty() || m.thread.as_deref() == Some(&thread) || m.ts == thread)
        };
        let number = |value: &Value| text(value).parse::<usize>().ok();
        let (most, from) = (number(&args["limit"]).unwrap_or(100), number(&args["cursor"]));
        // The newest come first.
        let mut left = self.messages.iter().rev().filter(fits).skip(from.unwrap_or(0));
        let messages: Vec<Value> = left
            .by_ref()
            .take(most)
            .map(|m| {
                json!({ "type": "message", "user": m.user, "text": m.text, "ts": m.ts, "thread_ts": m.thread, "metadata": m.metadata })
            })
            .collect();
        let next = left.next().map(|_| (from.unwrap_or(0) + messages.len()).to_string());
        json!({ "ok": true, "messages": messages, "has_more": next.is_some(),
            "response_metadata": { "next_cursor": next.unwrap_or_default() } })
    }

    fn open_upload(&mut self, args: &Value) -> Value {
        let length = text(&args["length"]).parse().unwrap_or(0);
        let name = text(&args["filename"]);
        if length == 0 || name.is_empty() {
            return refused("invalid_arguments");
        }
        let id = format!("F{}", self.next());
        let url = format!("http://{}/upload/{id}", self.traffic.base);
        let file = SharedFile { name, length, ..SharedFile::default() };
        self.files.insert(id.clone(), file);
        json!({ "ok": true, "upload_url": url, "file_id": id })
    }

    fn complete_upload(&mut self, args: &Value) -> Value {
        let files = &args["files"];
        for file in files.as_array().cloned().unwrap_or_default() {
            let Some(known) = self.files.get_mut(&text(&file["id"])) else {
                return refused("file_not_found");
            };
            if known.bytes.len() != known.length {
                return refused("file_upload_size_restricted");
            }
            known.channel = args["channel_id"].as_str().map(str::to_owned);
            known.thread = args["thread_ts"].as_str().map(str::to_owned);
            known.comment = text(&args["initial_comment"]);
        }
        json!({ "ok": true, "files": files })
    }
}

/// What the service would refuse in a message.
fn invalid(args: &Value) -> Option<&'static str> {
    let count = |value: &Value| text(value).chars().count();
    if count(&args["text"]) > 40_000 {
        return Some("msg_too_long");
    }
    let empty = Vec::new();
    let blocks = args["blocks"].as_array().unwrap_or(&empty);
    if blocks.is_empty() && count(&args["text"]) == 0 {
        return Some("no_text");
    }
    let block_fits = |block: &Value| match block["type"].as_str() {
        Some("section") => (1..=3000).contains(&count(&block["text"]["text"])),
        Some("markdown") => (1..=12_000).contains(&count(&block["text"])),
        Some("actions") => {
            let elements = block["elements"].as_array().unwrap_or(&empty);
            let ids: std::collections::BTreeSet<String> =
                elements.iter().map(|element| text(&element["action_id"])).collect();
            (1..=25).contains(&elements.len())
                && ids.len() == elements.len()
                && elements.iter().all(button_fits)
        }
        Some("rich_text") => block["elements"][0]["type"] == "rich_text_section",
        Some("context" | "divider" | "header") => true,
        _ => false,
    };
    let fits = blocks.len() <= 50 && blocks.iter().all(block_fits);
    (!fits).then_some("invalid_blocks")
}

fn button_fits(element: &Value) -> bool {
    let count = |value: &Value| text(value).chars().count();
    element["type"] == "button"
        && element["text"]["type"] == "plain_text"
        && (1..=75).contains(&count(&element["text"]["text"]))
        && (1..=255).contains(&count(&element["action_id"]))
        && count(&element["value"]) <= 2000
}

async fn response(
    State(workspace): State<Shared>,
    Path(id): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    workspace.with(|workspace| match workspace.responses.get_mut(&id) {
        Some(uses) if uses.len() < RESPONSES => {
            uses.push(body);
            "ok".into_response()
        }
        Some(_) => (StatusCode::NOT_FOUND, Json(refused("used_url"))).into_response(),
        None => (StatusCode::NOT_FOUND, Json(refused("expired_url"))).into_response(),
    })
}

async fn upload(State(workspace): State<Shared>, Path(id): Path<String>, body: Bytes) -> Response {
    workspace.with(|workspace| match workspace.files.get_mut(&id) {
        Some(file) => {
            file.bytes = body.to_vec();
            "OK".into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

/// Without the token, the page to sign in comes, with status 200.
async fn file(
    State(workspace): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let known = token(&headers, "Bearer") == BOT_TOKEN;
    workspace.with(|workspace| match workspace.files.get(&id) {
        Some(file) if known => file.bytes.clone().into_response(),
        Some(_) => ([("content-type", "text/html")], "<!DOCTYPE html>sign in").into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

fn form(body: &[u8]) -> Value {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            let escaped = (*first == b'%' && after.len() >= 2).then(|| {
                std::str::from_utf8(&after[..2])
                    .ok()
                    .and_then(|hex| u8::from_str_radix(hex, 16).ok())
            });
            match escaped.flatten() {
                Some(byte) => {
                    bytes.push(byte);
                    rest = &after[2..];
                }
                None => {
                    bytes.push(*first);
                    rest = after;
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let body = String::from_utf8_lossy(body);
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| {
            let value = decode(value);
            // A form has structured arguments as JSON.
            let structured = Some(&value).filter(|value| value.starts_with(['[', '{']));
            let structured = structured.and_then(|value| serde_json::from_str(value).ok());
            (decode(key), structured.unwrap_or(Value::String(value)))
        })
        .collect()
}
