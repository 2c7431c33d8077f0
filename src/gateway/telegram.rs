//! Telegram over long polling: the Bot API through our HTTP client.
//!
//! An update is acknowledged by asking for the next one, so the position is moved only once the
//! update is written down. Unknown kinds of updates and unknown fields are passed over. The token is
//! part of each path: no error and no log shows a path.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use self::incoming::Update;
use super::platform::{
    Batch, Button, ChatAddress, Cursor, Incoming, MarkupDialect, MessageId, MessageMarkup,
    NewMessage, Outgoing, OutgoingFile, Platform, PlatformCustoms, PlatformError, PlatformLimits,
    PlatformResult, PostContent, RemoteFile, TextUnit, UserId,
};
use super::recent::Recent;
use super::setup_report::SetupReport;
use avocet_core::i18n::{chat, gateway};
use avocet_core::protocol::ChatPlatform;
use avocet_model::net::{HttpBody, HttpClient, HttpError, HttpRequest, HttpResponse};

mod incoming;

/// How long the service holds a poll open.
const POLL: Duration = Duration::from_secs(50);

/// The least time between two polls: some servers answer at once although nothing came.
const FLOOR: Duration = Duration::from_millis(300);

/// So many polls in a row whose token is refused end the service, with growing pauses between them.
const MAX_REFUSALS: u32 = 5;

/// Updates of one poll.
const MAX_UPDATES: usize = 100;

const LIMITS: PlatformLimits = PlatformLimits {
    text: 4_096,
    rendered: None,
    unit: TextUnit::Utf16,
    edit_pace: Duration::from_millis(1_000),
    // A group takes 20 calls a minute, edits included.
    group_pace: Duration::from_millis(3_000),
    limits_edits_apart: false,
    piece: Some(4_000),
    typing: Duration::from_secs(5),
    label: 60,
    upload: 50 << 20,
    download: 20 << 20,
    dialect: MarkupDialect::TelegramV2,
    rationed: None,
    customs: PlatformCustoms {
        has_own_threads: false,
        marks_commands: false,
        umbrella_takes_messages: false,
        greeting: Some("start"),
        hearing_note: None,
    },
};

/// The largest picture that is shown as one, in bytes.
const MAX_PHOTO: usize = 10 << 20;

/// Messages that an answer refers to, and for how long.
const ANSWERED: usize = 1_000;
const ANSWERED_LIFETIME: Duration = Duration::from_secs(3_600);

/// A bot of Telegram.
pub struct Telegram {
    http: HttpClient,
    token: String,
    state: Mutex<PollState>,
    /// The messages of groups that are being answered, by their deliveries.
    answered: Recent<String>,
}

#[derive(Debug, Default)]
struct PollState {
    /// The update that comes next, as far as is known.
    offset: i64,
    /// No poll before this time.
    next_poll: Option<Instant>,
    /// How often in a row the service has refused the token that it had accepted.
    refusals: u32,
    /// The bot's own name and id, once they are known.
    username: String,
    id: i64,
    /// It hears only what is meant for it in groups.
    is_private: bool,
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
            answered: Recent::new(ANSWERED, ANSWERED_LIFETIME),
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, PollState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(&self, method: &str, body: Value) -> Result<Value, PlatformError> {
        self.send_request(HttpRequest::post(self.path(method), body)).await
    }

    /// Asks the service what the bot still lacks.
    ///
    /// # Errors
    /// [`PlatformError::Unauthorized`] for a token that the service does not accept.
    pub async fn check(&self) -> Result<SetupReport, PlatformError> {
        let me = self.call("getMe", json!({})).await?;
        let webhook = self.call("getWebhookInfo", json!({})).await.unwrap_or_default();
        let webhook = webhook["url"].as_str().filter(|url| !url.is_empty());
        let bot = me["username"].as_str().unwrap_or_default().to_owned();

        let mut state = self.state();
        state.id = me["id"].as_i64().unwrap_or_default();
        state.username.clone_from(&bot);
        state.is_private = me["can_read_all_group_messages"] != true;
        let lacks = state.is_private.then(|| gateway::LACKS_PRIVACY.into());
        let texts = lacks.into_iter().collect();
        Ok(SetupReport { bot, texts, webhook: webhook.map(str::to_owned) })
    }

    /// What an earlier program left takes every message away.
    ///
    /// # Errors
    /// What the service says.
    pub async fn remove_webhook(&self) -> Result<(), PlatformError> {
        self.call("deleteWebhook", json!({})).await.map(drop)
    }

    /// In a group, an answer shows what it answers.
    fn refer(&self, body: &mut Value, new: &NewMessage) {
        let answered =
            new.answers.as_ref().and_then(|id| self.answered.get(&id.0, std::time::Instant::now()));
        if let Some(message) = answered {
            let reply =
                json!({ "message_id": number(&message), "allow_sending_without_reply": true });
            set(body, "reply_parameters", reply);
        }
    }

    /// Sends a message; what follows it answers the same, and does not show that again.
    async fn post(&self, body: Value, new: &NewMessage) -> Result<MessageId, PlatformError> {
        let sent = message_id(&self.call("sendMessage", body).await?)?;
        new.answers
            .iter()
            .for_each(|id| drop(self.answered.take(&id.0, std::time::Instant::now())));
        Ok(sent)
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
        let said = avocet_core::text::cut(&said.replace(&self.token, "…"), 300);
        let lower = said.to_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let code = reply.get("error_code").and_then(Value::as_u64);
        match code.unwrap_or_else(|| u64::from(response.status)) {
            // An update tells the new place of the group.
            400 if reply.pointer("/parameters/migrate_to_chat_id").is_some() => {
                PlatformError::Network(said)
            }
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
    fn message(address: &ChatAddress, outgoing: &Outgoing) -> Value {
        let mut body = json!({
            "chat_id": address.chat.0,
            "text": outgoing.text,
            "link_preview_options": { "is_disabled": true },
        });
        if outgoing.markup == MessageMarkup::Native {
            set(&mut body, "parse_mode", json!("MarkdownV2"));
        }
        if let Some(thread) =
            address.thread.as_ref().and_then(|thread| thread.0.parse::<i64>().ok())
        {
            set(&mut body, "message_thread_id", json!(thread));
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
            "limit": MAX_UPDATES,
            "allowed_updates": ["message", "edited_message", "callback_query"],
        });
        let mut request = HttpRequest::post(self.path("getUpdates"), body);
        request.timeout = POLL + Duration::from_secs(15);
        request.body_cap = 32 << 20;
        self.state().next_poll = Some(Instant::now() + FLOOR);
        let reply = self.poll_reply(request).await?;
        let Value::Array(updates) = reply else {
            return Err(PlatformError::Network("no updates".to_owned()));
        };
        let ids: Vec<i64> = updates.iter().filter_map(update_id).collect();
        let (username, id) = {
            let mut state = self.state();
            if ids.iter().any(|id| *id >= offset) {
                // Something new came: the next poll acknowledges it at once.
                state.next_poll = None;
            }
            (state.username.clone(), state.id)
        };
        // An update that cannot be read is passed over, not met for ever.
        let read = |update: Value| serde_json::from_value::<Update>(update).ok();
        let messages = updates.into_iter().filter_map(read);
        let messages = messages.filter_map(|update| update.into_incoming(&username, id)).collect();
        // After a week of silence the service goes on with any number, also a lower one: the position
        // follows it. What it only repeats is known by its id.
        let next = ids.into_iter().max().map(|last| last.saturating_add(1));
        Ok(Batch { messages, cursor: next.map(|next| Cursor(next.to_string())) })
    }

    /// The answer to a poll. A token that was accepted before may be refused by a server that has
    /// trouble of its own: that is tried again before it counts.
    async fn poll_reply(&self, request: HttpRequest) -> Result<Value, PlatformError> {
        let answer = self.send_request(request).await;
        let mut state = self.state();
        match &answer {
            Ok(_) => state.refusals = 0,
            Err(PlatformError::Unauthorized) if state.refusals < MAX_REFUSALS => {
                state.refusals += 1;
                return Err(PlatformError::refused_for_now());
            }
            Err(_) => {}
        }
        answer
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
        if response.is_success() {
            Ok(response.body)
        } else {
            Err(PlatformError::Refused(format!("HTTP {}", response.status)))
        }
    }

    async fn send_file(
        &self,
        address: &ChatAddress,
        file: &OutgoingFile,
    ) -> Result<MessageId, PlatformError> {
        let mut fields = vec![("chat_id", address.chat.0.clone())];
        fields.extend(address.thread.iter().map(|thread| ("message_thread_id", thread.0.clone())));
        if !file.caption.is_empty() {
            fields.push(("caption", avocet_core::text::cut(&file.caption, 1_000)));
        }
        let send = |method: &str, kind: &str| {
            let body = multipart(&fields, kind, file);
            self.send_request(HttpRequest::with_name("POST", self.path(method), body))
        };
        let is_photo = file.is_picture
            && ["image/png", "image/jpeg"].contains(&file.media_type.as_str())
            && file.bytes.len() <= MAX_PHOTO;
        let photo = if is_photo { Some(send("sendPhoto", "photo").await) } else { None };
        message_id(&match photo {
            // Its sides may be too long.
            None | Some(Err(PlatformError::Refused(_))) => send("sendDocument", "document").await?,
            Some(sent) => sent?,
        })
    }
}

impl Platform for Telegram {
    fn kind(&self) -> ChatPlatform {
        ChatPlatform::Telegram
    }

    fn limits(&self) -> PlatformLimits {
        let hearing_note = self.state().is_private.then_some(chat::TYPE_TO_BOT);
        PlatformLimits { customs: PlatformCustoms { hearing_note, ..LIMITS.customs }, ..LIMITS }
    }

    fn connect(&self) -> PlatformResult<'_, SetupReport> {
        Box::pin(async {
            let mut report = self.check().await?;
            if let Some(url) = report.webhook.take() {
                self.remove_webhook().await?;
                report.texts.push(chat::WEBHOOK_REMOVED.with("url", url));
            }
            Ok(report)
        })
    }

    fn receive(&self) -> PlatformResult<'_, Batch> {
        // Also without a message, so that it is known that the service can be reached.
        Box::pin(self.poll())
    }

    fn confirm(&self, cursor: &Cursor) -> PlatformResult<'_, ()> {
        let next = cursor.0.parse().unwrap_or(0);
        Box::pin(async move {
            self.state().offset = next;
            Ok(())
        })
    }

    fn send<'a>(
        &'a self,
        address: &'a ChatAddress,
        content: PostContent<'a>,
        new: &'a NewMessage,
    ) -> PlatformResult<'a, MessageId> {
        let mut body = match content {
            PostContent::Text(text) => Telegram::message(address, text),
            PostContent::Question(question) => {
                let mut body = Telegram::message(address, &question.text);
                let button =
                    |button: &Button| json!({ "text": button.label, "callback_data": button.data });
                // Two buttons of usual length fit next to each other.
                let rows = question.buttons.chunks(2);
                let rows: Vec<Vec<Value>> =
                    rows.map(|row| row.iter().map(button).collect()).collect();
                set(&mut body, "reply_markup", json!({ "inline_keyboard": rows }));
                body
            }
            PostContent::File(file) => return Box::pin(self.send_file(address, file)),
        };
        self.refer(&mut body, new);
        Box::pin(self.post(body, new))
    }

    fn edit<'a>(
        &'a self,
        address: &'a ChatAddress,
        message: &'a MessageId,
        outgoing: &'a Outgoing,
    ) -> PlatformResult<'a, ()> {
        let mut body = Telegram::message(address, outgoing);
        set(&mut body, "message_id", number(&message.0));
        Box::pin(async move {
            match self.call("editMessageText", body).await {
                Err(PlatformError::Refused(said)) if said.contains("not modified") => Ok(()),
                edited => edited.map(drop),
            }
        })
    }

    fn admitted(&self, incoming: &Incoming) {
        if let Some(message) = incoming.message.as_ref().filter(|_| incoming.is_group) {
            self.answered.insert(&incoming.id.0, message.0.clone(), std::time::Instant::now());
        }
    }

    fn acknowledge(&self, press: &str, text: Option<&str>) -> PlatformResult<'_, ()> {
        let mut body = json!({ "callback_query_id": press });
        if let Some(text) = text {
            set(&mut body, "text", json!(avocet_core::text::cut(text, 190)));
        }
        Box::pin(async move { self.call("answerCallbackQuery", body).await.map(drop) })
    }

    fn private_chat<'a>(&'a self, user: &'a UserId) -> PlatformResult<'a, ChatAddress> {
        Box::pin(std::future::ready(Ok(ChatAddress::of(user.0.as_str()))))
    }

    fn typing<'a>(&'a self, address: &'a ChatAddress) -> PlatformResult<'a, ()> {
        let mut body = json!({ "chat_id": address.chat.0, "action": "typing" });
        if let Some(thread) =
            address.thread.as_ref().and_then(|thread| thread.0.parse::<i64>().ok())
        {
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

    fn download<'a>(&'a self, file: &'a RemoteFile, most: u64) -> PlatformResult<'a, Bytes> {
        Box::pin(self.fetch(file, most))
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

/// Without an id nothing is known of the message.
fn message_id(message: &Value) -> Result<MessageId, PlatformError> {
    let id = message.get("message_id").and_then(Value::as_i64).filter(|id| *id > 0);
    let id = id.map(|id| MessageId(id.to_string()));
    id.ok_or_else(|| PlatformError::Network("no message".to_owned()))
}

fn update_id(update: &Value) -> Option<i64> {
    update.get("update_id")?.as_i64()
}

fn network(error: HttpError) -> PlatformError {
    PlatformError::Network(error.to_string())
}

/// A form with one file.
fn multipart(fields: &[(&str, String)], kind: &str, file: &OutgoingFile) -> HttpBody {
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
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{kind}\"; filename=\"{name}\"\r\n\
         Content-Type: {}\r\n\r\n",
        file.media_type
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&file.bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let content_type = format!("multipart/form-data; boundary={boundary}");
    HttpBody::Bytes { content_type, bytes: body.into() }
}
