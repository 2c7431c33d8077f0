//! Slack: events over Socket Mode, everything else over the Web API.

mod api;
mod cursor;
mod incoming;
mod link;
mod message;
mod socket;
mod sources;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use self::api::{PageWaiting, SlackApi};
use self::cursor::SlackPosition;
pub use self::incoming::IsCommand;
pub use self::link::SlackPatience;
use self::link::{SlackLink, SlackOrder, SlackReceived};
use self::message::{post_body, posted_with, question_body, update_body};
use self::sources::SlackSources;
use self::text::escape;
use super::connection::ServiceConnection;
use super::platform::{
    Batch, ChatAddress, Cursor, Incoming, IncomingKind, MarkupDialect, MessageId, NewMessage,
    Outgoing, OutgoingFile, Platform, PlatformCustoms, PlatformError, PlatformLimits,
    PlatformResult, PostContent, RemoteFile, TextUnit, UserId,
};
use super::recent::Recent;
use super::setup_report::SetupReport;
use avocet_core::protocol::ChatPlatform;
use avocet_model::net::{HttpBody, HttpRequest};

/// Where the Web API is.
pub const API_URL: &str = "https://slack.com/api/";

/// The service forgets an address for answers half an hour after it gave it out.
const RESPONSE_LIFETIME: Duration = Duration::from_secs(29 * 60);
const RESPONSES: usize = 1000;

/// How far back a message is looked for that may have been sent.
const SENT_LATELY: Duration = Duration::from_secs(3600);

/// So often a message is looked for in a conversation that cannot be read; then it is posted again.
const UNREAD_TRIES: u32 = 4;

/// Begins the id of a message that was sent to such an address.
const ANSWER: &str = "answer:";

/// How to reach a workspace.
pub struct SlackConfig {
    pub api_url: String,
    /// `xapp-…`: opens connections.
    pub app_token: String,
    /// `xoxb-…`: does everything else.
    pub bot_token: String,
    /// Tells which words after `!` and after the app's own command are commands.
    pub is_command: IsCommand,
    pub patience: SlackPatience,
}

/// A workspace.
pub struct Slack {
    api: Arc<SlackApi>,
    is_command: IsCommand,
    patience: SlackPatience,
    /// Of the run before.
    cursor: Option<Cursor>,
    running: OnceCell<RunningSlack>,
    /// Where presses can be answered, by the press.
    presses: Recent<String>,
    /// Where commands can be answered, by the delivery: the bot may not be a member of the chat.
    commands: Recent<String>,
    /// The same of commands whose senders may not talk, or are not known yet: they push none of the
    /// others out.
    arrived: Recent<String>,
    /// Where messages can be edited that were sent there.
    answers: Recent<String>,
    /// Files that are at the service, by the message that shares them.
    uploads: Recent<String>,
    /// The app may not show that it is writing.
    has_no_status: AtomicBool,
    bot_token: String,
    host: String,
}

struct RunningSlack {
    report: SetupReport,
    /// The bot as a user.
    bot: String,
    sources: SlackSources,
    connection: ServiceConnection<SlackReceived, SlackOrder>,
}

impl Slack {
    /// # Errors
    /// [`PlatformError::Refused`] for an address or a token that cannot be used.
    pub fn new(config: SlackConfig, cursor: Option<&Cursor>) -> Result<Slack, PlatformError> {
        let recent = || Recent::new(RESPONSES, RESPONSE_LIFETIME);
        Ok(Slack {
            api: Arc::new(SlackApi::new(&config.api_url, &config.app_token, &config.bot_token)?),
            host: host(&config.api_url).unwrap_or_default().to_owned(),
            is_command: config.is_command,
            patience: config.patience,
            cursor: cursor.cloned(),
            running: OnceCell::new(),
            presses: recent(),
            commands: recent(),
            arrived: recent(),
            answers: recent(),
            uploads: recent(),
            has_no_status: AtomicBool::new(false),
            bot_token: config.bot_token,
        })
    }

    async fn running(&self) -> Result<&RunningSlack, PlatformError> {
        self.running.get_or_try_init(|| self.start()).await
    }

    async fn start(&self) -> Result<RunningSlack, PlatformError> {
        let me = self.api.call("auth.test", json!({})).await?;
        let text = |key: &str| me[key].as_str().unwrap_or_default().to_owned();
        let api = Arc::clone(&self.api);
        let is_command = Arc::clone(&self.is_command);

        let bot = text("user_id");
        let sources = SlackSources::new(Arc::clone(&self.api));
        let own = bot.clone();
        let patience = self.patience;

        let cursor = SlackPosition::resume(self.cursor.as_ref());
        let connection = ServiceConnection::start(|end| {
            SlackLink::new(api, bot, is_command, patience, end, cursor).run()
        });
        Ok(RunningSlack { report: SetupReport::of(text("user")), bot: own, sources, connection })
    }

    async fn receive_batch(&self) -> Result<Batch, PlatformError> {
        let running = self.running().await?;
        let received = running.connection.receive().await?;
        let mut batch = Batch::default();
        let now = Instant::now();
        for SlackReceived { message, cursor } in received {
            batch.cursor = Some(cursor);
            let Some(message) = message else { continue };
            let mut incoming = message.incoming;
            running.sources.complete(&mut incoming, &running.bot).await;
            if let Some(url) = message.response_url {
                match &incoming.kind {
                    IncomingKind::Button { press, .. } => self.presses.insert(press, url, now),
                    _ => self.arrived.insert(&incoming.id.0, url, now),
                }
            }
            batch.messages.push(incoming);
        }
        Ok(batch)
    }

    /// Posts once: if no answer comes, now or at the try before, the conversation tells whether it was
    /// posted.
    async fn post(
        &self,
        address: &ChatAddress,
        body: Value,
        new: &NewMessage,
    ) -> Result<MessageId, PlatformError> {
        let shown = body.clone();
        let nonce = &nonce(new);

        if new.tries > 0 {
            match self.find_posted(address, nonce).await {
                Ok(Some(posted)) => return Ok(posted),
                // A conversation that cannot be read must not stay without its answer.
                Err(PlatformError::Network(_)) if new.tries > UNREAD_TRIES => {}
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
        let answer = self.api.call("chat.postMessage", body).await;
        let posted = answer.and_then(|posted| {
            let id = posted["ts"].as_str().filter(|id| !id.is_empty());
            // Without its id nothing is known of the message.
            id.map(str::to_owned).ok_or_else(|| PlatformError::Network("no message".into()))
        });
        match posted {
            Ok(id) => Ok(MessageId(id)),
            Err(PlatformError::Network(why)) => {
                let posted = self.find_posted(address, nonce).await;
                posted.ok().flatten().ok_or(PlatformError::Network(why))
            }
            // A command can be typed where the bot is not a member: only its own address is open then.
            Err(PlatformError::Gone) => self.answer_command(&shown, new).await,
            Err(error) => Err(error),
        }
    }

    async fn find_posted(
        &self,
        address: &ChatAddress,
        nonce: &str,
    ) -> Result<Option<MessageId>, PlatformError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let from = now.saturating_sub(SENT_LATELY).as_secs();
        match self.api.messages_since(address, &format!("{from}.000000"), PageWaiting::No).await {
            Ok(messages) => Ok(posted_with(nonce, &messages).map(MessageId)),
            // The bot may post where it may not read.
            Err(PlatformError::Gone | PlatformError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Only the sender of a command sees what is posted to its own address.
    async fn answer_command(
        &self,
        shown: &Value,
        new: &NewMessage,
    ) -> Result<MessageId, PlatformError> {
        let now = Instant::now();
        let command = new.answers.as_ref().ok_or(PlatformError::Gone)?;

        let url = self.commands.get(&command.0, now);
        let url = url.or_else(|| self.arrived.get(&command.0, now)).ok_or_else(|| {
            // Another one in this chat may have an address.
            PlatformError::Refused("the bot is not a member of the channel".to_owned())
        })?;
        let mut body = json!({ "response_type": "ephemeral", "text": shown["text"] });
        if shown["blocks"].is_array() {
            body["blocks"] = shown["blocks"].clone();
        }
        self.respond(&url, body).await?;
        let id = format!("{ANSWER}{}", nonce(new));
        self.answers.insert(&id, url, now);
        Ok(MessageId(id))
    }

    async fn respond(&self, url: &str, body: Value) -> Result<(), PlatformError> {
        let response = self.api.request(HttpRequest::post(url, body)).await?;
        match response.status {
            200 => Ok(()),
            429 => {
                let after = response.retry_after().unwrap_or(Duration::from_secs(1));
                Err(PlatformError::RateLimited { after })
            }
            400..500 => Err(PlatformError::Gone),
            status => Err(PlatformError::Network(format!("status {status}"))),
        }
    }

    async fn update(
        &self,
        address: &ChatAddress,
        message: &MessageId,
        outgoing: &Outgoing,
    ) -> Result<(), PlatformError> {
        if message.0.starts_with(ANSWER) {
            let url = self.answers.get(&message.0, Instant::now());
            let mut body = update_body(address, &message.0, outgoing);
            body["replace_original"] = json!(true);
            return self.respond(&url.ok_or(PlatformError::Gone)?, body).await;
        }
        self.api.call("chat.update", update_body(address, &message.0, outgoing)).await.map(|_| ())
    }

    async fn show_status(&self, address: &ChatAddress) -> Result<(), PlatformError> {
        let Some(thread) =
            address.thread.as_ref().filter(|_| !self.has_no_status.load(Ordering::Relaxed))
        else {
            return Ok(());
        };
        let body = json!({ "channel_id": address.chat, "thread_ts": thread, "status": "…" });
        match self.api.call("assistant.threads.setStatus", body).await {
            Err(PlatformError::Refused(_) | PlatformError::Gone) => {
                self.has_no_status.store(true, Ordering::Relaxed);
                Ok(())
            }
            other => other.map(|_| ()),
        }
    }

    async fn send_file(
        &self,
        address: &ChatAddress,
        file: &OutgoingFile,
        new: &NewMessage,
    ) -> Result<MessageId, PlatformError> {
        let nonce = nonce(new);
        // A second copy at the service would be a second message.
        let known = self.uploads.get(&nonce, Instant::now()).filter(|_| new.tries > 0);
        let is_repeated = known.is_some();
        let id = match known {
            Some(id) => id,
            None => self.upload_file(file).await?,
        };
        self.uploads.insert(nonce, id.clone(), Instant::now());
        let mut body = json!({
            "files": [{ "id": id, "title": file.name }], "channel_id": address.chat,
            "initial_comment": escape(&file.caption),
        });
        if let Some(thread) = &address.thread {
            body["thread_ts"] = json!(thread);
        }
        match self.api.call("files.completeUploadExternal", body).await {
            // It was shared by the try whose answer was lost.
            Err(PlatformError::Refused(_)) if is_repeated => Ok(MessageId(id)),
            shared => shared.map(|_| MessageId(id)),
        }
    }

    /// Brings a file to the service, where no one sees it yet; returns its id.
    async fn upload_file(&self, file: &OutgoingFile) -> Result<String, PlatformError> {
        let length = file.bytes.len().to_string();
        let fields = [("filename", file.name.as_str()), ("length", &length)];
        let place = self.api.call_form("files.getUploadURLExternal", &fields).await?;
        let url = place["upload_url"].as_str();
        let id = place["file_id"].as_str();

        let (Some(url), Some(id)) = (url, id) else {
            return Err(PlatformError::Network("no address for the file".into()));
        };
        let content_type = "application/octet-stream".to_owned();
        let body = HttpBody::Bytes { content_type, bytes: file.bytes.clone() };
        let response = self.api.request(HttpRequest::with_name("POST", url, body)).await?;
        if !response.is_success() {
            return Err(PlatformError::Network(format!("status {}", response.status)));
        }
        Ok(id.to_owned())
    }

    async fn fetch(&self, file: &RemoteFile, most: u64) -> Result<Bytes, PlatformError> {
        let mut request = HttpRequest::get(&file.reference);
        request.body_cap = usize::try_from(most).unwrap_or(usize::MAX);
        // The token goes to the service alone: a file may name any address.
        match host(&file.reference) {
            Some(to) if to == self.host => {}
            Some(to) if to.ends_with(".slack.com") && file.reference.starts_with("https:") => {
                let token = format!("Bearer {}", self.bot_token);
                request.headers.push(("authorization", token));
            }
            _ => return Err(PlatformError::Refused("the file is not at the service".into())),
        }
        let response = self.api.request(request).await?;
        let is_page =
            response.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        match response.status {
            // Without the permission to read files, the page to sign in comes.
            200 if is_page && file.media_type.as_deref() != Some("text/html") => {
                Err(PlatformError::Refused("the app may not read files".into()))
            }
            200 => Ok(response.body),
            403 | 404 | 410 => Err(PlatformError::Gone),
            status => Err(PlatformError::Network(format!("status {status}"))),
        }
    }
}

/// The host and the port of an address.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    // Before an `@`, a name could look like the service's.
    (!host.contains('@')).then_some(host)
}

fn nonce(new: &NewMessage) -> String {
    format!("{:016x}", new.nonce)
}

impl Platform for Slack {
    fn kind(&self) -> ChatPlatform {
        ChatPlatform::Slack
    }

    fn limits(&self) -> PlatformLimits {
        PlatformLimits {
            text: 3000,
            rendered: Some(4000),
            unit: TextUnit::Chars,
            edit_pace: Duration::from_millis(1200),
            group_pace: Duration::from_millis(1200),
            limits_edits_apart: true,
            piece: None,
            typing: Duration::from_secs(110),
            label: 75,
            upload: 1 << 30,
            download: 1 << 30,
            dialect: MarkupDialect::Mrkdwn,
            rationed: Some(ANSWER),
            customs: PlatformCustoms {
                has_own_threads: true,
                marks_commands: true,
                umbrella_takes_messages: true,
                greeting: None,
                hearing_note: None,
            },
        }
    }

    fn connect(&self) -> PlatformResult<'_, SetupReport> {
        async move { Ok(self.running().await?.report.clone()) }.boxed()
    }

    fn receive(&self) -> PlatformResult<'_, Batch> {
        self.receive_batch().boxed()
    }

    fn confirm(&self, cursor: &Cursor) -> PlatformResult<'_, ()> {
        if let Some(running) = self.running.get() {
            running.connection.order(SlackOrder::Confirm(SlackPosition::read(cursor).number));
        }
        std::future::ready(Ok(())).boxed()
    }

    fn send<'a>(
        &'a self,
        address: &'a ChatAddress,
        content: PostContent<'a>,
        new: &'a NewMessage,
    ) -> PlatformResult<'a, MessageId> {
        let body = match content {
            PostContent::Text(text) => post_body(address, text, &nonce(new)),
            PostContent::Question(question) => question_body(address, question, &nonce(new)),
            PostContent::File(file) => return self.send_file(address, file, new).boxed(),
        };
        self.post(address, body, new).boxed()
    }

    fn edit<'a>(
        &'a self,
        address: &'a ChatAddress,
        message: &'a MessageId,
        outgoing: &'a Outgoing,
    ) -> PlatformResult<'a, ()> {
        self.update(address, message, outgoing).boxed()
    }

    fn admitted(&self, incoming: &Incoming) {
        let now = Instant::now();
        if let Some(url) = self.arrived.take(&incoming.id.0, now) {
            self.commands.insert(&incoming.id.0, url, now);
        }
        if let Some(running) = self.running.get().filter(|_| incoming.message.is_some()) {
            running
                .connection
                .order(SlackOrder::Admit(ChatAddress { user: None, ..incoming.at.clone() }));
        }
    }

    fn acknowledge(&self, press: &str, text: Option<&str>) -> PlatformResult<'_, ()> {
        let url = self.presses.get(press, Instant::now());
        let text = text.map(escape);
        async move {
            let (Some(url), Some(text)) = (url, text) else { return Ok(()) };
            let body = json!({
                "response_type": "ephemeral", "replace_original": false, "text": text,
            });
            self.respond(&url, body).await
        }
        .boxed()
    }

    fn private_chat<'a>(&'a self, user: &'a UserId) -> PlatformResult<'a, ChatAddress> {
        async move {
            let opened = self.api.call("conversations.open", json!({ "users": user })).await?;
            let id = opened["channel"]["id"].as_str();
            id.map(ChatAddress::of).ok_or_else(|| PlatformError::Network("no channel".into()))
        }
        .boxed()
    }

    fn typing<'a>(&'a self, address: &'a ChatAddress) -> PlatformResult<'a, ()> {
        self.show_status(address).boxed()
    }

    fn download<'a>(&'a self, file: &'a RemoteFile, most: u64) -> PlatformResult<'a, Bytes> {
        self.fetch(file, most).boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        if let Some(running) = self.running.get() {
            running.connection.order(SlackOrder::Close);
        }
        std::future::ready(()).boxed()
    }
}
