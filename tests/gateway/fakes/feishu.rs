//! Feishu for tests: the long connection with its frames of protobuf, pings and answers, and the
//! Open API with tokens that end. People write, press and read through [`FeishuServer`]; what the
//! app did can be awaited.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{Message as Frame, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::service::{
    FakeService, Fault, ServiceState, Traffic, Watched, broken, form_parts, text, token, unreadable,
};

pub const APP_ID: &str = "cli_test";
pub const APP_SECRET: &str = "app-test-secret";
pub const BOT: &str = "ou_bot";

/// The largest card, in bytes.
const CARD: usize = 30 * 1024;

/// A message of anyone.
#[derive(Clone, Debug, Default)]
pub struct Message {
    pub id: String,
    pub chat: String,
    pub thread: Option<String>,
    /// `None`: the app.
    pub user: Option<String>,
    pub kind: String,
    pub content: Value,
    pub uuid: String,
    /// How often it was changed.
    pub edits: usize,
}

impl Message {
    fn elements(&self) -> &[Value] {
        self.content["body"]["elements"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Everything a reader sees.
    pub fn shown(&self) -> String {
        let texts = self.elements().iter().map(|element| match element["tag"].as_str() {
            Some("markdown") => text(&element["content"]),
            _ => text(&element["text"]["content"]),
        });
        texts.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Label and value of each.
    pub fn buttons(&self) -> Vec<(String, Value)> {
        let columns = self.elements().iter().filter_map(|row| row["columns"].as_array());
        let buttons = columns.flatten().map(|column| &column["elements"][0]);
        buttons
            .map(|button| {
                (text(&button["text"]["content"]), button["behaviors"][0]["value"].clone())
            })
            .collect()
    }
}

/// Something sent over the connection, and what the app answered.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub id: String,
    pub event: Value,
    /// The frames it comes in.
    pub parts: usize,
    pub answer: Option<Value>,
}

#[derive(Debug)]
enum ToSocket {
    Frame(Frame),
    /// The connection breaks without a word.
    Abort,
    /// It stays open and nothing passes any more.
    Freeze,
}

#[derive(Debug, Default)]
pub struct Tenant {
    pub traffic: Traffic,
    pub messages: Vec<Message>,
    pub deliveries: Vec<Delivery>,
    pub files: BTreeMap<String, Vec<u8>>,
    /// The names of those that the app sent.
    pub names: BTreeMap<String, String>,
    /// The newest token; older ones have ended.
    token: String,
    pub tokens: usize,
    pub connected: usize,
    pub pings: usize,
    /// Seconds, as the service tells its clients.
    pub ping_interval: u64,
    sockets: Vec<(usize, mpsc::UnboundedSender<ToSocket>)>,
    number: usize,
}

pub type FeishuServer = FakeService<Tenant>;

type Shared = Arc<Watched<Tenant>>;

impl ServiceState for Tenant {
    const API: &'static str = "";

    fn new() -> Tenant {
        Tenant { ping_interval: 120, ..Tenant::default() }
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }

    fn router(tenant: &Shared) -> Router {
        Router::new().route("/link", get(link)).fallback(call).with_state(Arc::clone(tenant))
    }

    fn is_connected(&self) -> bool {
        !self.sockets.is_empty()
    }

    fn disconnect(&mut self) {
        self.sockets.clear();
    }
}

/// The chat of the app with one user.
pub fn private(user: &str) -> String {
    format!("oc_with_{user}")
}

impl FeishuServer {
    /// In the private chat of the user; returns the delivery.
    pub fn say(&self, user: &str, words: &str) -> String {
        self.message(&private(user), user, "text", &json!({ "text": words }), |_| {})
    }

    /// In a group, with a mention of the bot.
    pub fn mention(&self, chat: &str, user: &str, words: &str, parent: Option<&str>) -> String {
        let content = json!({ "text": format!("@_user_1 {words}") });
        self.message(chat, user, "text", &content, |message| {
            let id = json!({ "open_id": BOT, "union_id": "on_1" });
            message["mentions"] = json!([{ "key": "@_user_1", "id": id, "name": "avocet" }]);
            if let Some(parent) = parent {
                message["parent_id"] = json!(parent);
                message["root_id"] = json!(parent);
            }
        })
    }

    /// In a group, to nobody; returns the message.
    pub fn chatter(&self, chat: &str, user: &str, words: &str) -> String {
        self.message(chat, user, "text", &json!({ "text": words }), |_| {});
        self.with(|tenant| tenant.messages.last().unwrap().id.clone())
    }

    pub fn message(
        &self,
        chat: &str,
        user: &str,
        kind: &str,
        content: &Value,
        change: impl FnOnce(&mut Value),
    ) -> String {
        let id = self.with(|tenant| {
            let id = format!("om_{}", tenant.next());
            tenant.messages.push(Message {
                id: id.clone(),
                chat: chat.into(),
                user: Some(user.into()),
                kind: kind.into(),
                content: content.clone(),
                ..Message::default()
            });
            id
        });
        let chat_type = if chat == private(user) { "p2p" } else { "group" };
        let mut message = json!({
            "message_id": id, "chat_id": chat, "chat_type": chat_type, "message_type": kind,
            "content": content.to_string(), "create_time": "1700000000000",
        });
        change(&mut message);
        let sender_id = json!({ "open_id": user, "union_id": "on_2", "user_id": null });
        let sender = json!({ "sender_id": sender_id, "sender_type": "user", "tenant_key": "t" });
        self.event("im.message.receive_v1", json!({ "sender": sender, "message": message }), 1)
    }

    /// A press of a button with this value in a chat.
    pub fn press(&self, user: &str, chat: &str, message: &str, value: &Value) -> String {
        self.event(
            "card.action.trigger",
            json!({
                "operator": { "open_id": user, "tenant_key": "t" }, "token": "c-1",
                "action": { "tag": "button", "value": value, "timezone": "Asia/Shanghai" },
                "host": "im_message",
                "context": { "open_message_id": message, "open_chat_id": chat },
            }),
            1,
        )
    }

    /// An event that comes in so many frames.
    pub fn event(&self, kind: &str, event: Value, parts: usize) -> String {
        self.with(|tenant| {
            let id = format!("event-{}", tenant.next());
            let header =
                json!({ "event_id": id, "event_type": kind, "app_id": APP_ID, "tenant_key": "t" });
            let event = json!({ "schema": "2.0", "header": header, "event": event });
            tenant.deliveries.push(Delivery { id: id.clone(), event, parts, answer: None });
            tenant.deliver(&id);
            id
        })
    }

    /// Everything that was ever sent, once more and backwards.
    pub fn repeat_everything_backwards(&self) {
        self.with(|tenant| {
            let ids: Vec<String> =
                tenant.deliveries.iter().rev().map(|one| one.id.clone()).collect();
            ids.iter().for_each(|id| tenant.deliver(id));
        });
    }

    /// Waits for the answer to a delivery.
    pub fn wait_for_answer(&self, delivery: &str) -> Value {
        self.wait("an answer to a delivery", |tenant| tenant.delivery(delivery).answer.clone())
    }

    pub fn send_raw(&self, bytes: &'static [u8]) {
        self.to_sockets(|| ToSocket::Frame(Frame::Binary(Bytes::from_static(bytes))));
    }

    pub fn close_connections(&self) {
        self.to_sockets(|| ToSocket::Frame(Frame::Close(None)));
        self.with(Tenant::disconnect);
    }

    pub fn break_connections(&self) {
        self.to_sockets(|| ToSocket::Abort);
        self.with(Tenant::disconnect);
    }

    /// The connections look open, and nothing passes any more.
    pub fn freeze_connections(&self) {
        self.to_sockets(|| ToSocket::Freeze);
        self.with(Tenant::disconnect);
    }

    fn to_sockets(&self, what: impl Fn() -> ToSocket) {
        self.with(|tenant| {
            for (_, socket) in &tenant.sockets {
                // A socket that is gone hears nothing.
                let _ = socket.send(what());
            }
        });
    }

    /// The token that the app has is taken back: the next one it fetches is good.
    pub fn end_token(&self) {
        self.with(|tenant| tenant.token = "ended".to_owned());
    }
}

impl Tenant {
    pub fn messages_of_the_app(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.user.is_none())
    }

    fn delivery(&self, id: &str) -> &Delivery {
        self.deliveries.iter().find(|delivery| delivery.id == id).unwrap()
    }

    fn next(&mut self) -> String {
        self.number += 1;
        self.number.to_string()
    }

    /// Sends to the newest connection, if there is one.
    fn deliver(&mut self, id: &str) {
        let Delivery { event, parts, .. } = self.delivery(id).clone();
        let payload = event.to_string().into_bytes();
        let size = payload.len().div_ceil(parts);
        let Some((_, socket)) = self.sockets.last() else { return };
        for (seq, part) in payload.chunks(size).enumerate() {
            let (sum, seq) = (parts.to_string(), seq.to_string());
            let headers = [("type", "event"), ("message_id", id), ("sum", &sum), ("seq", &seq)];
            let frame = frame(1, &headers, part);
            // A socket that is gone hears nothing.
            let _ = socket.send(ToSocket::Frame(Frame::Binary(frame.into())));
        }
    }

    /// A frame of the app; returns the answer.
    fn hear(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let (method, headers, payload) = parse(bytes);
        let header = |key: &str| headers.get(key).cloned().unwrap_or_default();
        if (method, header("type").as_str()) == (0, "ping") {
            self.pings += 1;
            let config = json!({ "PingInterval": self.ping_interval, "ReconnectCount": -1 });
            return Some(frame(0, &[("type", "pong")], config.to_string().as_bytes()));
        }
        let answer: Value = serde_json::from_slice(&payload).unwrap();
        assert_eq!(answer["code"], 200);
        let data = answer["data"].as_str().map(from_base64);
        let data = data.map_or(json!({}), |data| serde_json::from_slice(&data).unwrap());
        let id = header("message_id");
        if let Some(known) = self.deliveries.iter_mut().find(|delivery| delivery.id == id) {
            known.answer.get_or_insert(data);
        }
        None
    }
}

async fn link(State(tenant): State<Shared>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| serve_socket(tenant, socket))
}

async fn serve_socket(tenant: Shared, mut socket: WebSocket) {
    let (sender, mut frames) = mpsc::unbounded_channel();
    let number = tenant.with(|tenant| {
        tenant.connected += 1;
        tenant.sockets.push((tenant.connected, sender));
        let waiting = tenant.deliveries.iter().filter(|delivery| delivery.answer.is_none());
        let waiting: Vec<String> = waiting.map(|delivery| delivery.id.clone()).collect();
        waiting.iter().for_each(|id| tenant.deliver(id));
        tenant.connected
    });
    loop {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(ToSocket::Frame(frame)) => if socket.send(frame).await.is_err() { break },
                Some(ToSocket::Freeze) => std::future::pending().await,
                Some(ToSocket::Abort) | None => break,
            },
            heard = socket.recv() => match heard {
                Some(Ok(Frame::Binary(bytes))) => {
                    if let Some(answer) = tenant.with(|tenant| tenant.hear(&bytes))
                        && socket.send(Frame::Binary(answer.into())).await.is_err()
                    {
                        break;
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break,
            },
        }
    }
    tenant.with(|tenant| tenant.sockets.retain(|(known, _)| *known != number));
}

fn refused(code: i64) -> Value {
    json!({ "code": code, "msg": "refused" })
}

async fn call(
    State(tenant): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().trim_start_matches("/open-apis/").trim_start_matches('/').to_owned();
    let args: Value = serde_json::from_slice(&body).unwrap_or_default();
    let fault = tenant.with(|tenant| {
        let name = format!("{method} {path} {}", text(&args["receive_id"]));
        tenant.traffic.receive(&name, &args)
    });
    match fault {
        Some(Fault::Limited(seconds) | Fault::LimitedEverywhere(seconds)) => {
            let head = [("x-ogw-ratelimit-reset", seconds.to_string())];
            let answer = Json(refused(99_991_400));
            return (StatusCode::BAD_REQUEST, head, answer).into_response();
        }
        Some(Fault::Status(status)) => {
            return StatusCode::from_u16(status).unwrap().into_response();
        }
        Some(Fault::Unauthorized) => {
            return (StatusCode::BAD_REQUEST, Json(refused(99_991_663))).into_response();
        }
        Some(Fault::Unreadable(status)) => return unreadable(status),
        Some(Fault::Broken) => return broken(),
        Some(Fault::Silent) => return std::future::pending().await,
        Some(Fault::Unheard) | None => {}
    }
    if let ["im", "v1", "messages", _, "resources", key] = *path.split('/').collect::<Vec<_>>() {
        let file = tenant.with(|tenant| tenant.files.get(key).cloned());
        return file.map_or(StatusCode::BAD_REQUEST.into_response(), IntoResponse::into_response);
    }
    let answer = tenant.with(|tenant| {
        if tenant.traffic.is_revoked {
            tenant.traffic.refused += 1;
            return refused(10_014);
        }
        let is_known = path.contains("tenant_access_token") || path.starts_with("callback/");
        if !is_known && token(&headers, "Bearer") != tenant.token {
            return refused(99_991_663);
        }
        let query = uri.query().unwrap_or_default();
        tenant.answer(&method, &path, query, &args, &form_parts(&headers, &body))
    });
    let status = if answer["code"] == 0 { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    match fault {
        Some(Fault::Unheard) => broken(),
        _ => (status, Json(answer)).into_response(),
    }
}

impl Tenant {
    fn answer(
        &mut self,
        method: &Method,
        path: &str,
        query: &str,
        args: &Value,
        form: &[super::service::FormPart],
    ) -> Value {
        let parts: Vec<&str> = path.split('/').collect();
        let done = |data: Value| json!({ "code": 0, "msg": "success", "data": data });
        match (method.as_str(), parts.as_slice()) {
            ("POST", ["auth", "v3", "tenant_access_token", "internal"]) => {
                if (&args["app_id"], &args["app_secret"]) != (&json!(APP_ID), &json!(APP_SECRET)) {
                    return refused(10_014);
                }
                self.tokens += 1;
                self.token = format!("t-secret-{}", self.tokens);
                json!({ "code": 0, "tenant_access_token": self.token, "expire": 7_200 })
            }
            ("POST", ["callback", "ws", "endpoint"]) => {
                if (&args["AppID"], &args["AppSecret"]) != (&json!(APP_ID), &json!(APP_SECRET)) {
                    return refused(10_014);
                }
                let base = &self.traffic.base;
                let url = format!("ws://{base}/link?device_id=1&service_id=7&ticket=secret");
                let config = json!({ "PingInterval": self.ping_interval, "ReconnectCount": -1, "ReconnectInterval": 0, "ReconnectNonce": 0 });
                done(json!({ "URL": url, "ClientConfig": config }))
            }
            ("GET", ["bot", "v3", "info"]) => {
                json!({ "code": 0, "bot": { "app_name": "avocet", "open_id": BOT } })
            }
            ("GET", ["contact", "v3", "users", user]) => {
                done(json!({ "user": { "open_id": user, "name": format!("user {user}") } }))
            }
            ("GET", ["application", "v6", "scopes"]) => {
                let granted = ["im:message", "im:resource"];
                let scope = |name| json!({ "scope_name": name, "grant_status": 1 });
                done(json!({ "scopes": granted.map(scope) }))
            }
            ("GET", ["im", "v1", "chats"]) => done(json!({ "items": [{ "chat_id": "oc_1" }] })),
            ("POST", ["im", "v1", "files"]) => {
                let find = |name: &str| form.iter().find(|part| part.name == name);
                let Some(file) = find("file").filter(|file| !file.bytes.is_empty()) else {
                    return refused(234_010);
                };
                let key = format!("file_{}", self.next());
                let name = find("file_name").map(|part| part.bytes.clone()).unwrap_or_default();
                self.names.insert(key.clone(), String::from_utf8(name).unwrap());
                self.files.insert(key.clone(), file.bytes.clone());
                done(json!({ "file_key": key }))
            }
            ("POST", ["im", "v1", "messages"]) => {
                let to = text(&args["receive_id"]);
                let chat = if query.contains("open_id") { private(&to) } else { to };
                self.post(chat, None, args)
            }
            ("POST", ["im", "v1", "messages", root, "reply"]) => {
                let root = self.messages.iter().find(|message| message.id == *root).cloned();
                root.map_or(refused(230_011), |root| self.post(root.chat, Some(root.id), args))
            }
            ("PATCH", ["im", "v1", "messages", id]) => {
                let found = self.messages.iter_mut().find(|message| message.id == *id);
                match (found, card(args)) {
                    (Some(message), Ok(content)) if message.user.is_none() => {
                        message.edits += 1;
                        message.content = content;
                        done(json!({}))
                    }
                    (Some(_), Err(code)) => refused(code),
                    _ => refused(230_011),
                }
            }
            ("GET", ["im", "v1", "messages", id]) => {
                let found = self.messages.iter().find(|message| message.id == *id);
                found.map_or(refused(230_011), |message| {
                    let sender = match &message.user {
                        Some(user) => {
                            json!({ "id": user, "id_type": "open_id", "sender_type": "user" })
                        }
                        None => json!({ "id": APP_ID, "id_type": "app_id", "sender_type": "app" }),
                    };
                    let body = json!({ "content": message.content.to_string() });
                    done(json!({ "items": [{ "message_id": id, "sender": sender, "body": body }] }))
                })
            }
            _ => refused(404),
        }
    }

    fn post(&mut self, chat: String, thread: Option<String>, args: &Value) -> Value {
        let uuid = text(&args["uuid"]);
        let known = self.messages.iter().find(|message| !uuid.is_empty() && message.uuid == uuid);
        if let Some(known) = known {
            return json!({ "code": 0, "data": { "message_id": known.id } });
        }
        let kind = text(&args["msg_type"]);
        let content = match kind.as_str() {
            "interactive" => card(args),
            _ => serde_json::from_str(&text(&args["content"])).map_err(|_| 230_001),
        };
        let content = match content {
            Ok(content) if !chat.is_empty() => content,
            Ok(_) => return refused(230_001),
            Err(code) => return refused(code),
        };
        let id = format!("om_{}", self.next());
        let (user, edits) = (None, 0);
        self.messages.push(Message {
            id: id.clone(),
            chat,
            thread,
            user,
            kind,
            content,
            uuid,
            edits,
        });
        json!({ "code": 0, "data": { "message_id": id } })
    }
}

/// The card of a message, or why the service would refuse it.
fn card(args: &Value) -> Result<Value, i64> {
    let content = text(&args["content"]);
    if content.len() > CARD {
        return Err(230_025);
    }
    let card: Value = serde_json::from_str(&content).map_err(|_| 230_001)?;
    let is_shared = card["schema"] == "2.0" && card["config"]["update_multi"] == true;
    let elements = card["body"]["elements"].as_array().cloned().unwrap_or_default();
    let element_fits = |element: &Value| match element["tag"].as_str() {
        Some("markdown") => element["content"].is_string(),
        Some("div") => element["text"]["tag"] == "plain_text",
        Some("column_set") => element["columns"].as_array().is_some_and(|columns| {
            columns.iter().all(|column| {
                let button = &column["elements"][0];
                let label = text(&button["text"]["content"]).chars().count();
                column["tag"] == "column"
                    && button["tag"] == "button"
                    && (1..=100).contains(&label)
                    && button["behaviors"][0]["value"].is_object()
            })
        }),
        _ => false,
    };
    let fits = is_shared && !elements.is_empty() && elements.iter().all(element_fits);
    if fits { Ok(card) } else { Err(230_099) }
}

/// A frame as `pbbp2` describes it: numbers 1 to 4, headers 5, payload 8, a log id 9.
fn frame(method: u64, headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, value) in [(1, 1_u64 << 40), (2, 300), (3, 7), (4, method)] {
        varint(&mut out, at << 3);
        varint(&mut out, value);
    }
    for (key, value) in headers {
        let mut header = Vec::new();
        lengthed(&mut header, 1, key.as_bytes());
        lengthed(&mut header, 2, value.as_bytes());
        lengthed(&mut out, 5, &header);
    }
    lengthed(&mut out, 8, payload);
    lengthed(&mut out, 9, b"a log id");
    out
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push((value % 128) as u8 | 128);
        value /= 128;
    }
    out.push(value as u8);
}

fn lengthed(out: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    varint(out, at * 8 + 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

/// The method, the headers and the payload of a frame of the app.
fn parse(bytes: &[u8]) -> (u64, HashMap<String, String>, Vec<u8>) {
    let (mut method, mut headers, mut payload) = (u64::MAX, HashMap::new(), Vec::new());
    for (at, number, value) in fields(bytes) {
        match at {
            4 => method = number,
            5 => {
                let texts: Vec<String> = fields(&value)
                    .into_iter()
                    .map(|(_, _, text)| String::from_utf8(text).unwrap())
                    .collect();
                headers.insert(texts[0].clone(), texts[1].clone());
            }
            8 => payload = value,
            _ => {}
        }
    }
    (method, headers, payload)
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    fn number(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value += u64::from(first % 128) << shift;
            shift += 7;
            if *first < 128 {
                return value;
            }
        }
    }
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let tag = number(&mut bytes);
        let value = number(&mut bytes);
        if tag.is_multiple_of(8) {
            out.push((tag / 8, value, Vec::new()));
        } else {
            assert_eq!(tag % 8, 2);
            let (text, rest) = bytes.split_at(value as usize);
            out.push((tag / 8, 0, text.to_vec()));
            bytes = rest;
        }
    }
    out
}

fn from_base64(text: &str) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.trim_end_matches('=').chars() {
        bits = bits << 6 | LETTERS.find(letter).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}
