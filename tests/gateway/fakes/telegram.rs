//! Telegram for tests: the Bot API with its limits and its offsets. Users write, press and send
//! files through [`TelegramServer`]; what the bot did can be awaited.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::service::{
    FakeService, Fault, ServiceState, Traffic, Watched, broken, form_parts, text, unreadable,
};

pub const TOKEN: &str = "123456789:AAtest-secret_token";
/// The bot as a user.
pub const BOT: i64 = 99;
pub const BOT_NAME: &str = "avocet_bot";

/// Longest text of a message, in UTF-16 units after its entities are parsed.
const LONGEST: usize = 4096;

/// A message of a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatMessage {
    pub chat: i64,
    pub id: i64,
    pub text: String,
    /// It was sent as MarkdownV2.
    pub markup: bool,
    /// Label and data of each button.
    pub buttons: Vec<(String, String)>,
    /// The name and the bytes of a file.
    pub file: Option<(String, Vec<u8>)>,
    /// Every text it had before.
    pub earlier: Vec<String>,
    pub at: Instant,
}

#[derive(Debug, Default)]
pub struct TelegramState {
    updates: Vec<Value>,
    pub delivered: Vec<Value>,
    /// What the next poll gets although it was acknowledged.
    pub again: Vec<Value>,
    pub arrived: Arc<Notify>,
    /// The number of the next update: after a week of silence the service takes any.
    pub next_update: i64,
    next_message: i64,
    /// The service delivers what was acknowledged again and again.
    pub repeats_updates: bool,
    /// So many messages are sent, and the answer does not tell their ids.
    pub answers_without_id: usize,
    /// What the bot sent, oldest first.
    pub sent: Vec<ChatMessage>,
    pub traffic: Traffic,
    /// Answers to presses: id and text.
    pub acknowledged: Vec<(String, Option<String>)>,
    files: HashMap<String, Vec<u8>>,
    pub menus: Vec<Value>,
    /// The groups that have another id now.
    moved: HashMap<i64, i64>,
    /// Files are found only after this.
    pub files_held: bool,
    /// Planned refusals are told only after this.
    pub refusals_held: bool,
}

pub type TelegramServer = FakeService<TelegramState>;

type Shared = Arc<Watched<TelegramState>>;

impl ServiceState for TelegramState {
    const API: &'static str = "";

    fn new() -> TelegramState {
        TelegramState { next_update: 1_000, next_message: 1, ..TelegramState::default() }
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }

    fn router(shared: &Shared) -> Router {
        Router::new()
            .route("/file/{bot}/{*path}", get(file))
            .route("/{bot}/{method}", any(method))
            .with_state(Arc::clone(shared))
    }
}

impl TelegramServer {
    fn update(&self, kind: &str, make: impl FnOnce(&mut TelegramState) -> Value) -> i64 {
        self.with(|state| {
            let body = make(state);
            let id = state.next_update;
            state.next_update += 1;
            state.updates.push(json!({ "update_id": id, kind: body, "field_of_tomorrow": {} }));
            state.arrived.notify_waiters();
            id
        })
    }

    /// A user writes to the bot in a chat of their own.
    pub fn write(&self, user: i64, text: &str) -> i64 {
        self.update("message", |state| message(state, user, user, json!({ "text": text })))
    }

    /// A user changes an earlier message.
    pub fn edit(&self, user: i64, text: &str) {
        let content = json!({ "text": text });
        self.update("edited_message", |state| message(state, user, user, content));
    }

    /// A user writes in a group.
    pub fn write_in_group(&self, chat: i64, user: i64, text: &str) -> i64 {
        self.update("message", |state| message(state, chat, user, json!({ "text": text })))
    }

    /// A user answers the message of another one in a group.
    pub fn answer_in_group(
        &self,
        chat: i64,
        user: i64,
        author: i64,
        said: &str,
        text: &str,
    ) -> i64 {
        let from = json!({ "id": author, "first_name": format!("user {author}") });
        let content = json!({ "text": text, "reply_to_message": { "from": from, "text": said } });
        self.update("message", |state| message(state, chat, user, content))
    }

    /// A group becomes one that can have more members: it gets another id.
    pub fn move_group(&self, from: i64, to: i64) {
        let content = json!({ "migrate_from_chat_id": from });
        self.update("message", |state| {
            state.moved.insert(from, to);
            message(state, to, BOT, content)
        });
    }

    /// The files of an album in a group; the first one has the caption.
    pub fn send_album(&self, chat: i64, user: i64, names: &[&str], caption: &str) {
        for (at, name) in names.iter().enumerate() {
            self.update("message", |state| {
                let id = format!("file-{}", state.files.len());
                state.files.insert(id.clone(), name.as_bytes().to_vec());
                let document = json!({ "file_id": id, "file_name": name });
                let mut content = json!({ "document": document, "media_group_id": "album" });
                if at == 0 {
                    content["caption"] = json!(caption);
                }
                message(state, chat, user, content)
            });
        }
    }

    /// A user sends something else than a text to the bot, as the fields of its message.
    pub fn send(&self, user: i64, content: Value) -> i64 {
        self.update("message", |state| message(state, user, user, content))
    }

    pub fn send_file(&self, user: i64, name: &str, bytes: &[u8], caption: &str) -> i64 {
        self.update("message", |state| {
            let id = format!("file-{}", state.files.len());
            state.files.insert(id.clone(), bytes.to_vec());
            let document = json!({ "file_id": id, "file_name": name, "file_size": bytes.len() });
            message(state, user, user, json!({ "document": document, "caption": caption }))
        })
    }

    /// Files are found only once this is false.
    pub fn hold_files(&self, held: bool) {
        self.with(|state| {
            state.files_held = held;
            state.arrived.notify_waiters();
        });
    }

    /// Refusals are told only once this is false.
    pub fn hold_refusals(&self, held: bool) {
        self.with(|state| {
            state.refusals_held = held;
            state.arrived.notify_waiters();
        });
    }

    /// A user presses a button, or claims to: `data` may be anything.
    pub fn press(&self, user: i64, chat: i64, data: &str) -> String {
        let mut press = String::new();
        self.update("callback_query", |state| {
            press = format!("press-{}", state.next_update);
            let from = json!({ "id": user, "first_name": format!("user {user}") });
            let mut message = message(state, chat, BOT, json!({ "text": "?" }));
            let is_its = |sent: &&ChatMessage| sent.buttons.iter().any(|(_, own)| own == data);
            if let Some(asked) = state.sent.iter().find(is_its) {
                message["message_id"] = json!(asked.id);
            }
            json!({ "id": press, "from": from, "message": message, "data": data })
        });
        press
    }

    /// Waits for a message to a chat that contains `part`.
    pub fn wait_for(&self, chat: i64, part: &str) -> ChatMessage {
        self.wait(&format!("`{part}` in {chat}"), |state| {
            let mut of = state.sent.iter().filter(|sent| sent.chat == chat);
            of.find(|sent| sent.text.contains(part)).cloned()
        })
    }

    /// Waits for a question to a chat, and returns the data of its buttons.
    pub fn wait_for_question(&self, chat: i64) -> ChatMessage {
        self.wait(&format!("a question in {chat}"), |state| {
            let mut of = state.sent.iter().filter(|sent| sent.chat == chat);
            of.find(|sent| !sent.buttons.is_empty()).cloned()
        })
    }

    pub fn wait_for_acknowledgement(&self, press: &str) -> Option<String> {
        self.wait("an answer to a press", |state| {
            let found = state.acknowledged.iter().find(|(known, _)| known == press);
            found.map(|(_, text)| text.clone())
        })
    }

    /// All texts of a chat, in order.
    pub fn texts(&self, chat: i64) -> Vec<String> {
        self.with(|state| {
            let of = state.sent.iter().filter(|sent| sent.chat == chat);
            of.map(|sent| sent.text.clone()).collect()
        })
    }
}

fn message(state: &mut TelegramState, chat: i64, user: i64, content: Value) -> Value {
    let id = state.next_message;
    state.next_message += 1;
    let kind = if chat < 0 { "supergroup" } else { "private" };
    let mut message = json!({
        "message_id": id,
        "date": 1,
        "from": { "id": user, "is_bot": user == BOT, "first_name": format!("user {user}"),
            "language_code": "en" },
        "chat": { "id": chat, "type": kind },
    });
    let (message_map, content) = (message.as_object_mut().unwrap(), content);
    message_map.extend(content.as_object().unwrap().clone());
    message
}

async fn file(State(shared): State<Shared>, Path((bot, path)): Path<(String, String)>) -> Response {
    if bot != format!("bot{TOKEN}") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let found =
        shared.with(|state| state.files.get(path.trim_start_matches("documents/")).cloned());
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), IntoResponse::into_response)
}

fn refused(code: u16, said: &str) -> Response {
    let body = json!({ "ok": false, "error_code": code, "description": said });
    (StatusCode::from_u16(code).unwrap(), Json(body)).into_response()
}

fn ok(result: &Value) -> Response {
    Json(json!({ "ok": true, "result": result })).into_response()
}

async fn method(
    State(shared): State<Shared>,
    Path((bot, method)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if bot != format!("bot{TOKEN}") {
        return refused(401, "Unauthorized");
    }
    let value: Value = match method.as_str() {
        "sendDocument" | "sendPhoto" => form(&headers, &body),
        _ => serde_json::from_slice(&body).unwrap_or_default(),
    };
    let fault = shared.with(|state| state.traffic.receive(&method, &value));
    match fault {
        Some(Fault::Limited(seconds) | Fault::LimitedEverywhere(seconds)) => {
            let mut body = json!({ "ok": false, "error_code": 429,
                "description": format!("Too Many Requests: retry after {seconds}") });
            body["parameters"] = json!({ "retry_after": seconds });
            return (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response();
        }
        Some(Fault::Status(status)) => {
            while_held(&shared, |state| state.refusals_held).await;
            return refused(status, "fault");
        }
        Some(Fault::Unauthorized) => return refused(401, "Unauthorized"),
        Some(Fault::Unreadable(status)) => return unreadable(status),
        Some(Fault::Broken) => return broken(),
        Some(Fault::Silent) => return std::future::pending().await,
        Some(Fault::Unheard) => {
            let _ = act(&shared, &method, &value).await;
            return broken();
        }
        None => {}
    }
    act(&shared, &method, &value).await
}

/// The fields of a form; the file as its name and its bytes in hexadecimal.
fn form(headers: &HeaderMap, body: &[u8]) -> Value {
    let mut out = json!({});
    for part in form_parts(headers, body) {
        match part.file_name {
            Some(name) => {
                out["file_name"] = json!(name);
                out["bytes"] = json!(part.bytes);
            }
            None => out[part.name] = json!(String::from_utf8_lossy(&part.bytes)),
        }
    }
    out
}

fn id(value: &Value) -> i64 {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default()
}

/// A group that has moved takes nothing at its old id.
fn moved(to: i64) -> Response {
    let body = json!({ "ok": false, "error_code": 400, "parameters": { "migrate_to_chat_id": to },
        "description": "Bad Request: group chat was upgraded to a supergroup chat" });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

async fn act(shared: &Shared, method: &str, body: &Value) -> Response {
    if let Some(to) = shared.with(|state| state.moved.get(&id(&body["chat_id"])).copied()) {
        return moved(to);
    }
    match method {
        "getMe" => ok(&json!({ "id": BOT, "is_bot": true, "username": BOT_NAME })),
        "getWebhookInfo" => ok(&json!({ "url": "https://hook.example/x" })),
        "deleteWebhook" => ok(&json!(true)),
        "getUpdates" => updates(shared, body).await,
        "sendMessage" => send(shared, body),
        "editMessageText" => edit(shared, body),
        "sendDocument" | "sendPhoto" => shared.with(|state| {
            let file = (text(&body["file_name"]), bytes(&body["bytes"]));
            let message = new_message(state, id(&body["chat_id"]), text(&body["caption"]));
            state.sent.push(ChatMessage { file: Some(file), ..message.clone() });
            ok(&json!({ "message_id": message.id }))
        }),
        "answerCallbackQuery" => shared.with(|state| {
            let said = body["text"].as_str().map(str::to_owned);
            state.acknowledged.push((text(&body["callback_query_id"]), said));
            ok(&json!(true))
        }),
        "getFile" => {
            while_held(shared, |state| state.files_held).await;
            ok(&json!({ "file_path": format!("documents/{}", text(&body["file_id"])) }))
        }
        "setMyCommands" => set_commands(shared, body),
        "sendChatAction" => ok(&json!(true)),
        _ => refused(404, "Not Found"),
    }
}

async fn while_held(shared: &Shared, is_held: fn(&TelegramState) -> bool) {
    let news = shared.with(|state| Arc::clone(&state.arrived));
    loop {
        let arrived = news.notified();
        tokio::pin!(arrived);
        arrived.as_mut().enable();
        if !shared.with(|state| is_held(state)) {
            return;
        }
        arrived.await;
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

/// Waits for updates from the offset on; those before it are forgotten.
async fn updates(shared: &Shared, body: &Value) -> Response {
    let (offset, wait) = (id(&body["offset"]), body["timeout"].as_u64().unwrap_or(0));
    let until = tokio::time::Instant::now() + Duration::from_secs(wait);
    let news = shared.with(|state| Arc::clone(&state.arrived));
    loop {
        let arrived = news.notified();
        tokio::pin!(arrived);
        arrived.as_mut().enable();
        let found: Vec<Value> = shared.with(|state| {
            // What is far below the offset was not confirmed by it: it is of a new count.
            let is_waiting = |id: i64| id >= offset || offset - id > 500;
            let repeats = state.repeats_updates;
            state.updates.retain(|update| repeats || is_waiting(id(&update["update_id"])));
            let waiting: Vec<Value> = state.updates.iter().take(100).cloned().collect();
            state.delivered.extend(waiting.iter().cloned());
            state.again.drain(..).chain(waiting).collect()
        });
        if !found.is_empty() {
            return ok(&json!(found));
        }
        tokio::select! {
            () = arrived => {}
            () = tokio::time::sleep_until(until) => return ok(&json!([])),
        }
    }
}

/// The text that a reader sees, or why it is not accepted.
fn checked(body: &Value) -> Result<String, Response> {
    let raw = text(&body["text"]);
    let shown = match body["parse_mode"].as_str() {
        Some("MarkdownV2") => match parse(&raw) {
            Ok(shown) => shown,
            Err(why) => {
                return Err(refused(400, &format!("Bad Request: can't parse entities: {why}")));
            }
        },
        _ => raw,
    };
    match shown.encode_utf16().count() {
        0 => Err(refused(400, "Bad Request: message text is empty")),
        count if count > LONGEST => Err(refused(400, "Bad Request: message is too long")),
        _ => Ok(shown),
    }
}

/// MarkdownV2 as far as it is strict: every special letter outside of code is escaped or opens or
/// closes something.
fn parse(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let in_code = open.last().is_some_and(|mark| mark.starts_with('`'));
        let mark =
            ["```", "`", "__", "||", "*", "_", "~"].iter().find(|mark| rest.starts_with(**mark));
        if c == '\\' {
            let next = rest.chars().nth(1).ok_or("a lone backslash")?;
            out.push(next);
            rest = &rest[1 + next.len_utf8()..];
        } else if in_code && mark != open.last() {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else if let Some(mark) = mark {
            if open.last() == Some(mark) {
                open.pop();
            } else if open.contains(mark) {
                return Err(format!("{mark} is open"));
            } else {
                open.push(mark)
            }
            rest = &rest[mark.len()..];
        } else if c == '[' {
            let (label, after) = rest[1..].split_once("](").ok_or("a link without an address")?;
            let end = after.find(')').ok_or("an address without an end")?;
            out.push_str(&parse(label)?);
            rest = &after[end + 1..];
        } else if ">".contains(c) && (out.is_empty() || out.ends_with('\n')) {
            rest = &rest[1..];
        } else if "]()>#+-=|{}.!".contains(c) {
            return Err(format!("character '{c}' is reserved"));
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    if open.is_empty() { Ok(out) } else { Err(format!("{open:?} has no end")) }
}

fn new_message(state: &mut TelegramState, chat: i64, text: String) -> ChatMessage {
    let id = state.next_message;
    state.next_message += 1;
    let (markup, buttons, file, earlier) = (false, Vec::new(), None, Vec::new());
    ChatMessage { chat, id, text, markup, buttons, file, earlier, at: Instant::now() }
}

fn buttons(body: &Value) -> Result<Vec<(String, String)>, Response> {
    let rows = body["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
    let flat = rows.iter().filter_map(Value::as_array).flatten();
    flat.map(|button| {
        let (label, data) = (text(&button["text"]), text(&button["callback_data"]));
        if label.is_empty() || data.is_empty() || data.len() > 64 {
            Err(refused(400, "Bad Request: BUTTON_DATA_INVALID"))
        } else {
            Ok((label, data))
        }
    })
    .collect()
}

fn send(shared: &Shared, body: &Value) -> Response {
    let (shown, buttons) = match (checked(body), buttons(body)) {
        (Ok(shown), Ok(buttons)) => (shown, buttons),
        (Err(refusal), _) | (_, Err(refusal)) => return refusal,
    };
    shared.with(|state| {
        let markup = body["parse_mode"].is_string();
        let message = new_message(state, id(&body["chat_id"]), shown);
        if state.answers_without_id > 0 {
            state.answers_without_id -= 1;
            return ok(&json!({}));
        }
        state.sent.push(ChatMessage { markup, buttons, ..message.clone() });
        ok(&json!({ "message_id": message.id }))
    })
}

fn edit(shared: &Shared, body: &Value) -> Response {
    let (shown, buttons) = match (checked(body), buttons(body)) {
        (Ok(shown), Ok(buttons)) => (shown, buttons),
        (Err(refusal), _) | (_, Err(refusal)) => return refusal,
    };
    shared.with(|state| {
        let (chat, message) = (id(&body["chat_id"]), id(&body["message_id"]));
        let found = state.sent.iter_mut().find(|sent| sent.chat == chat && sent.id == message);
        let Some(found) = found else {
            return refused(400, "Bad Request: message to edit not found");
        };
        if found.text == shown && found.buttons == buttons {
            return refused(400, "Bad Request: message is not modified: same text");
        }
        found.earlier.push(std::mem::replace(&mut found.text, shown));
        found.buttons = buttons;
        ok(&json!({ "message_id": message }))
    })
}

/// At most 100 commands, names of `[a-z0-9_]{1,32}`, descriptions of 1 to 256, about 4 KB in all.
fn set_commands(shared: &Shared, body: &Value) -> Response {
    let commands = body["commands"].as_array().cloned().unwrap_or_default();
    let name_ok = |name: &str| {
        (1..=32).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let about_ok = |about: &str| (1..=256).contains(&about.chars().count());
    let good = commands
        .iter()
        .all(|one| name_ok(&text(&one["command"])) && about_ok(&text(&one["description"])));
    let size = json!(commands).to_string().len();
    match () {
        () if !good => refused(400, "Bad Request: BOT_COMMAND_INVALID"),
        () if commands.len() > 100 || size > 5_000 => {
            refused(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
        }
        () => {
            shared.with(|state| state.menus.push(body.clone()));
            ok(&json!(true))
        }
    }
}
