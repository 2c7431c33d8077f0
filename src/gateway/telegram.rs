//! Telegram over long polling: the Bot API through our HTTP client.
//!
//! An update is acknowledged by asking for the next one, so the position is moved only once the
//! update is written down. Unknown kinds of updates and unknown fields are passed over. The token is
//! part of each path: no error and no log shows a path.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::platform::{
    Batch, ButtonQuestion, ChatAddress, Cursor, Incoming, IncomingKind, MarkupDialect, MessageId,
    MessageMarkup, Outgoing, OutgoingFile, Platform, PlatformError, PlatformLimits, PlatformResult,
    RemoteFile, Sender, TextUnit, ThreadId,
};
use crate::net::{HttpBody, HttpClient, HttpError, HttpRequest, HttpResponse};
use crate::protocol::ChatPlatform;

/// How long the service holds a poll open.
const POLL: Duration = Duration::from_secs(50);

/// The least time between two polls: some servers answer at once although nothing came.
const FLOOR: Duration = Duration::from_millis(300);

/// Updates of one poll.
const MOST: usize = 100;

const LIMITS: PlatformLimits = PlatformLimits {
    text: 4_096,
    unit: TextUnit::Utf16,
    edit_pace: Duration::from_millis(1_000),
    typing: Duration::from_secs(5),
    label: 60,
    upload: 50 << 20,
    download: 20 << 20,
    dialect: MarkupDialect::TelegramV2,
};

/// A bot of Telegram.
pub struct Telegram {
    http: HttpClient,
    token: String,
    state: Mutex<PollState>,
}

#[derive(Debug, Default)]
struct PollState {
    /// The first update that was not confirmed.
    offset: i64,
    /// No poll before this time.
    next_poll: Option<Instant>,
    /// The bot's own name and id, once they are known.
    username: String,
    id: i64,
}

impl Telegram {
    /// `api_url` without the token; `cursor` as it was stored.
    ///
    /// # Errors
    /// [`HttpError::Address`] if the address cannot be used.
    pub fn new(api_url: &str, token: &str, cursor: Option<&Cursor>) -> Result<Telegram, HttpError> {
        let offset = cursor.and_then(|cursor| cursor.0.parse().ok()).unwrap_or(0);
        let state = Mutex::new(PollState { offset, ..PollState::default() });
        Ok(Telegram {
            http: HttpClient::new(api_url, None)?,
            token: token.trim().to_owned(),
            state,
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, PollState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(&self, method: &str, body: Value) -> Result<Value, PlatformError> {
        self.send_request(HttpRequest::post(self.path(method), body)).await
    }

    fn path(&self, method: &str) -> String {
        format!("bot{}/{method}", self.token)
    }

    async fn send_request(&self, request: HttpRequest) -> Result<Value, PlatformError> {
        let response = self.http.send(request).await.map_err(network)?;
        let mut reply = response.json();
        match reply.get("ok").and_then(Value::as_bool) {
            Some(true) => Ok(reply.get_mut("result").map(Value::take).unwrap_or_default()),
            Some(false) => Err(self.refusal(&response, &reply)),
            // Not the service: something on the way to it, or half an answer.
            None if response.status == 429 => Err(self.refusal(&response, &reply)),
            None => Err(PlatformError::Network(format!("HTTP {}, not readable", response.status))),
        }
    }

    fn refusal(&self, response: &HttpResponse, reply: &Value) -> PlatformError {
        let said = reply.get("description").and_then(Value::as_str).unwrap_or_default();
        let said = crate::text::cut(&said.replace(&self.token, "…"), 300);
        let lower = said.to_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let code = reply.get("error_code").and_then(Value::as_u64);
        match code.unwrap_or_else(|| u64::from(response.status)) {
            429 => {
                let after = reply.pointer("/parameters/retry_after").and_then(Value::as_f64);
                let after = after.and_then(|after| Duration::try_from_secs_f64(after).ok());
                let after = after.or_else(|| response.retry_after());
                PlatformError::RateLimited { after: after.unwrap_or(Duration::from_secs(1)) }
            }
            401 | 404 if !is(&["chat not found", "message"]) => PlatformError::Unauthorized,
            403 => PlatformError::Gone,
            400 if is(&["can't parse", "is too long", "entit"]) => PlatformError::Markup(said),
            400 | 404
                if is(&[
                    "chat not found",
                    "to edit not found",
                    "can't be edited",
                    "thread not found",
                ]) =>
            {
                PlatformError::Gone
            }
            500.. => PlatformError::Network(said),
            _ => PlatformError::Refused(said),
        }
    }

    /// The body of a message: where, what and in which markup.
    fn message(to: &ChatAddress, text: &Outgoing) -> Value {
        let mut body = json!({
            "chat_id": to.chat.0,
            "text": text.text,
            "link_preview_options": { "is_disabled": true },
        });
        if text.markup == MessageMarkup::Native {
            set(&mut body, "parse_mode", json!("MarkdownV2"));
        }
        if let Some(thread) = to.thread.as_ref().and_then(|thread| thread.0.parse::<i64>().ok()) {
            set(&mut body, "message_thread_id", json!(thread));
        }
        if let Some(message) = &text.reply_to {
            let reply =
                json!({ "message_id": number(&message.0), "allow_sending_without_reply": true });
            set(&mut body, "reply_parameters", reply);
        }
        body
    }

    async fn poll(&self) -> Result<Batch, PlatformError> {
        let (offset, from) = {
            let state = self.state();
            (state.offset, state.next_poll)
        };
        if let Some(from) = from {
            sleep_until(from).await;
        }
        let body = json!({
            "offset": offset,
            "timeout": POLL.as_secs(),
            "limit": MOST,
            "allowed_updates": ["message", "callback_query"],
        });
        let mut request = HttpRequest::post(self.path("getUpdates"), body);
        request.timeout = POLL + Duration::from_secs(15);
        request.body_cap = 32 << 20;
        self.state().next_poll = Some(Instant::now() + FLOOR);
        let reply = self.send_request(request).await?;
        let updates: Vec<Value> = serde_json::from_value(reply).unwrap_or_default();
        let next = updates.iter().filter_map(|update| update.get("update_id")?.as_i64()).max();
        let (username, id) = {
            let mut state = self.state();
            if !updates.is_empty() {
                // Something came: the next poll acknowledges it at once.
                state.next_poll = None;
            }
            (state.username.clone(), state.id)
        };
        // An update that cannot be read is passed over, not met for ever.
        let read = |update: Value| serde_json::from_value::<Update>(update).ok();
        let updates =
            updates.into_iter().filter_map(read).filter(|update| update.update_id >= offset);
        let messages = updates.filter_map(|update| update.into_incoming(&username, id)).collect();
        let cursor = next.filter(|next| *next >= offset).map(|next| Cursor((next + 1).to_string()));
        Ok(Batch { messages, cursor })
    }

    async fn fetch(&self, file: &RemoteFile, most: u64) -> Result<Bytes, PlatformError> {
        let found = self.call("getFile", json!({ "file_id": file.reference })).await?;
        let path = found.get("file_path").and_then(Value::as_str).unwrap_or_default();
        if path.is_empty() || path.contains("..") || path.contains("://") {
            return Err(PlatformError::Refused("no path for this file".to_owned()));
        }
        let mut request = HttpRequest::get(format!("file/bot{}/{path}", self.token));
        request.body_cap = usize::try_from(most).unwrap_or(usize::MAX);
        let response = self.http.send(request).await.map_err(network)?;
        match response.is_success() {
            true => Ok(response.body),
            false => Err(PlatformError::Refused(format!("HTTP {}", response.status))),
        }
    }

    async fn send_file(
        &self,
        to: &ChatAddress,
        file: &OutgoingFile,
    ) -> Result<MessageId, PlatformError> {
        let mut fields = vec![("chat_id", to.chat.0.clone())];
        fields.extend(to.thread.iter().map(|thread| ("message_thread_id", thread.0.clone())));
        if !file.caption.is_empty() {
            fields.push(("caption", crate::text::cut(&file.caption, 1_000)));
        }
        let body = multipart(&fields, file);
        let request = HttpRequest::with_name("POST", self.path("sendDocument"), body);
        Ok(message_id(&self.send_request(request).await?))
    }
}

impl Platform for Telegram {
    fn kind(&self) -> ChatPlatform {
        ChatPlatform::Telegram
    }

    fn limits(&self) -> PlatformLimits {
        LIMITS
    }

    fn connect(&self) -> PlatformResult<'_, String> {
        Box::pin(async {
            let me = self.call("getMe", json!({})).await?;
            let name = me.get("username").and_then(Value::as_str).unwrap_or_default().to_owned();
            let mut state = self.state();
            state.id = me.get("id").and_then(Value::as_i64).unwrap_or_default();
            state.username.clone_from(&name);
            Ok(name)
        })
    }

    fn receive(&self) -> PlatformResult<'_, Batch> {
        // Also without a message, so that it is known that the service can be reached.
        Box::pin(self.poll())
    }

    fn confirm(&self, cursor: &Cursor) -> PlatformResult<'_, ()> {
        let next = cursor.0.parse().unwrap_or(0);
        Box::pin(async move {
            let mut state = self.state();
            state.offset = state.offset.max(next);
            Ok(())
        })
    }

    fn send<'a>(
        &'a self,
        to: &'a ChatAddress,
        message: &'a Outgoing,
    ) -> PlatformResult<'a, MessageId> {
        let body = Telegram::message(to, message);
        Box::pin(async move { Ok(message_id(&self.call("sendMessage", body).await?)) })
    }

    fn edit<'a>(
        &'a self,
        to: &'a ChatAddress,
        message: &'a MessageId,
        text: &'a Outgoing,
    ) -> PlatformResult<'a, ()> {
        let mut body = Telegram::message(to, text);
        set(&mut body, "message_id", number(&message.0));
        Box::pin(async move {
            match self.call("editMessageText", body).await {
                Err(PlatformError::Refused(said)) if said.contains("not modified") => Ok(()),
                edited => edited.map(drop),
            }
        })
    }

    fn ask<'a>(
        &'a self,
        to: &'a ChatAddress,
        question: &'a ButtonQuestion,
    ) -> PlatformResult<'a, MessageId> {
        let mut body = Telegram::message(to, &question.text);
        let button = |button: &super::platform::Button| json!({ "text": button.label, "callback_data": button.data });
        // Two buttons of usual length fit next to each other.
        let rows: Vec<Vec<Value>> =
            question.buttons.chunks(2).map(|row| row.iter().map(button).collect()).collect();
        set(&mut body, "reply_markup", json!({ "inline_keyboard": rows }));
        Box::pin(async move { Ok(message_id(&self.call("sendMessage", body).await?)) })
    }

    fn acknowledge(&self, press: &str, text: Option<&str>) -> PlatformResult<'_, ()> {
        let mut body = json!({ "callback_query_id": press });
        if let Some(text) = text {
            set(&mut body, "text", json!(crate::text::cut(text, 190)));
        }
        Box::pin(async move { self.call("answerCallbackQuery", body).await.map(drop) })
    }

    fn typing<'a>(&'a self, to: &'a ChatAddress) -> PlatformResult<'a, ()> {
        let mut body = json!({ "chat_id": to.chat.0, "action": "typing" });
        if let Some(thread) = to.thread.as_ref().and_then(|thread| thread.0.parse::<i64>().ok()) {
            set(&mut body, "message_thread_id", json!(thread));
        }
        Box::pin(async move { self.call("sendChatAction", body).await.map(drop) })
    }

    fn set_menu<'a>(&'a self, calls: &'a [Value]) -> PlatformResult<'a, ()> {
        Box::pin(async move {
            for body in calls {
                self.call("setMyCommands", body.clone()).await?;
            }
            Ok(())
        })
    }

    fn upload<'a>(
        &'a self,
        to: &'a ChatAddress,
        file: &'a OutgoingFile,
    ) -> PlatformResult<'a, MessageId> {
        Box::pin(self.send_file(to, file))
    }

    fn download<'a>(&'a self, file: &'a RemoteFile, most: u64) -> PlatformResult<'a, Bytes> {
        Box::pin(self.fetch(file, most))
    }
}

/// What came, as far as it is used.
#[derive(Debug, Deserialize)]
struct Update {
    update_id: i64,
    message: Option<Message>,
    callback_query: Option<CallbackQuery>,
}

#[derive(Debug, Deserialize)]
struct Message {
    message_id: i64,
    message_thread_id: Option<i64>,
    #[serde(default)]
    is_topic_message: bool,
    from: Option<User>,
    chat: Chat,
    text: Option<String>,
    caption: Option<String>,
    document: Option<Document>,
    #[serde(default)]
    photo: Vec<Document>,
    reply_to_message: Option<Box<Message>>,
}

#[derive(Debug, Deserialize)]
struct CallbackQuery {
    id: String,
    from: User,
    message: Option<Message>,
    data: Option<String>,
}

#[derive(Debug, Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    #[serde(default)]
    first_name: String,
    language_code: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Chat {
    id: i64,
    #[serde(default, rename = "type")]
    kind: String,
}

#[derive(Debug, Deserialize)]
struct Document {
    file_id: String,
    file_name: Option<String>,
    mime_type: Option<String>,
    file_size: Option<u64>,
}

impl Update {
    fn into_incoming(self, username: &str, bot: i64) -> Option<Incoming> {
        let id = self.update_id.to_string().as_str().into();
        if let Some(CallbackQuery { id: press, from, message, data }) = self.callback_query {
            let message = message?;
            let kind = IncomingKind::Button { data: data.unwrap_or_default(), press };
            return Some(message.into_incoming(id, Some(from), true, kind));
        }
        let mut message = self.message?;
        let text = message.text.take().or(message.caption.take()).unwrap_or_default();
        let (text, is_mentioned) = without_mention(&text, username);
        let replied = message.reply_to_message.as_ref().and_then(|to| to.from.as_ref());
        let is_addressed = message.chat.kind == "private"
            || is_mentioned
            || replied.is_some_and(|user| user.id == bot);
        let files = message.files();
        let kind = match (command(&text, username), files.is_empty()) {
            (TypedCommand::ForAnother, _) => return None,
            (TypedCommand::Named { name, args }, true) => IncomingKind::Command { name, args },
            (_, true) if text.trim().is_empty() => return None,
            (_, true) => IncomingKind::Text { text },
            (_, false) => IncomingKind::Files { files, text },
        };
        let is_addressed = is_addressed || matches!(kind, IncomingKind::Command { .. });
        Some(message.into_incoming(id, None, is_addressed, kind))
    }
}

impl Message {
    fn into_incoming(
        self,
        id: super::platform::DeliveryId,
        by: Option<User>,
        is_addressed: bool,
        kind: IncomingKind,
    ) -> Incoming {
        // A channel has no sender: no one can be allowed by it.
        let sender = by.or(self.from).map(|user| Sender {
            id: user.id.to_string().as_str().into(),
            name: user.first_name,
            language: user.language_code,
            is_bot: user.is_bot,
        });
        let nobody = || Sender { id: "".into(), name: String::new(), language: None, is_bot: true };
        let thread = self.message_thread_id.filter(|_| self.is_topic_message);
        Incoming {
            id,
            at: ChatAddress {
                chat: self.chat.id.to_string().as_str().into(),
                thread: thread.map(|thread| ThreadId(thread.to_string())),
            },
            message: Some(MessageId(self.message_id.to_string())),
            sender: sender.unwrap_or_else(nobody),
            is_group: self.chat.kind != "private",
            is_addressed,
            kind,
        }
    }

    fn files(&mut self) -> Vec<RemoteFile> {
        let remote = |file: Document, name: &str| RemoteFile {
            reference: file.file_id,
            name: file.file_name.unwrap_or_else(|| name.to_owned()),
            media_type: file.mime_type,
            size: file.file_size,
        };
        let document = self.document.take().map(|file| remote(file, "file"));
        // The last of the sizes of a photo is the largest.
        let photo = self.photo.pop().map(|file| remote(file, "photo.jpg"));
        document.into_iter().chain(photo).collect()
    }
}

#[derive(Debug, PartialEq)]
enum TypedCommand {
    None,
    Named {
        name: String,
        args: String,
    },
    /// `/name@other`: another bot of the group is meant.
    ForAnother,
}

fn command(text: &str, username: &str) -> TypedCommand {
    let Some(rest) = text.trim().strip_prefix('/') else { return TypedCommand::None };
    let (word, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, bot) = word.split_once('@').unwrap_or((word, username));
    let is_name = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
    match name.chars().all(is_name) && !name.is_empty() {
        true if !bot.eq_ignore_ascii_case(username) => TypedCommand::ForAnother,
        true => TypedCommand::Named { name: name.to_owned(), args: args.trim().to_owned() },
        false => TypedCommand::None,
    }
}

/// The text without `@bot`, and whether it was there.
fn without_mention(text: &str, username: &str) -> (String, bool) {
    let mention = format!("@{username}").to_lowercase();
    let is_mention = |word: &str| {
        let word = word.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
        !username.is_empty() && word.to_lowercase() == mention
    };
    if !text.split_whitespace().any(is_mention) {
        return (text.to_owned(), false);
    }
    let first = text.split_whitespace().next().is_some_and(is_mention);
    match first {
        true => {
            let rest = text.trim_start().split_once(char::is_whitespace);
            (rest.map_or("", |(_, rest)| rest).trim_start().to_owned(), true)
        }
        false => (text.to_owned(), true),
    }
}

fn set(body: &mut Value, key: &str, value: Value) {
    if let Some(body) = body.as_object_mut() {
        body.insert(key.to_owned(), value);
    }
}

fn number(id: &str) -> Value {
    id.parse::<i64>().map_or(Value::Null, Value::from)
}

fn message_id(message: &Value) -> MessageId {
    let id = message.get("message_id").and_then(Value::as_i64).unwrap_or_default();
    MessageId(id.to_string())
}

fn network(error: HttpError) -> PlatformError {
    PlatformError::Network(error.to_string())
}

/// A form with one file.
fn multipart(fields: &[(&str, String)], file: &OutgoingFile) -> HttpBody {
    let boundary = format!("avocet-{:032x}", fastrand::u128(..));
    let mut body = Vec::new();
    for (name, value) in fields {
        let head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value.as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    let plain = |c: char| if c.is_control() || "\"\\".contains(c) { '_' } else { c };
    let name: String = file.name.chars().map(plain).collect();
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"document\"; filename=\"{name}\"\r\n\
         Content-Type: {}\r\n\r\n",
        file.media_type
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&file.bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let content_type = format!("multipart/form-data; boundary={boundary}");
    HttpBody::Bytes { content_type, bytes: body.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(update: Value) -> Option<Incoming> {
        serde_json::from_value::<Update>(update).unwrap().into_incoming("avo_bot", 99)
    }

    fn message(chat: &str, text: &str) -> Value {
        json!({ "update_id": 5, "message": { "message_id": 3, "from": { "id": 7, "first_name": "Ann" },
            "chat": { "id": -10, "type": chat }, "text": text, "unknown": { "x": [1] } } })
    }

    #[test]
    fn a_group_is_heard_only_when_the_bot_is_meant() {
        let heard = |text: &str| read(message("supergroup", text)).map(|one| one.is_addressed);
        assert_eq!(heard("hello"), Some(false));
        assert_eq!(heard("@Avo_Bot, hello"), Some(true));
        assert_eq!(heard("/stop@avo_bot"), Some(true));
        assert_eq!(heard("/stop@other_bot"), None);
        assert_eq!(read(message("private", "hello")).map(|one| one.is_addressed), Some(true));
    }

    #[test]
    fn a_command_is_read_without_the_name_of_the_bot() {
        for (text, name, args) in
            [("/steer@avo_bot go  left", "steer", "go  left"), ("/reload_mcp", "reload_mcp", "")]
        {
            let kind = read(message("private", text)).unwrap().kind;
            assert_eq!(kind, IncomingKind::Command { name: name.into(), args: args.into() });
        }
        let kind = read(message("private", "/usr/bin/env is missing")).unwrap().kind;
        assert!(matches!(kind, IncomingKind::Text { .. }));
    }

    #[test]
    fn updates_of_unknown_kinds_are_passed_over() {
        assert_eq!(read(json!({ "update_id": 1, "poll_answer": {} })), None);
        let channel = json!({ "update_id": 1, "message": { "message_id": 1, "chat": { "id": 2 }, "text": "x" } });
        assert!(
            read(channel).unwrap().sender.is_bot,
            "a message without a sender is never answered"
        );
    }
}
