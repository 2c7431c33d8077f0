//! Discord: events over the gateway, everything else over the REST interface.

mod api;
mod cursor;
mod incoming;
mod link;
mod message;
mod session;
mod text;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

pub use self::api::USER_AGENT;
use self::api::{DiscordApi, EPHEMERAL};
use self::cursor::{DiscordCursor, KnownChannel};
use self::incoming::InteractionKind;
use self::link::{Deferred, DiscordLink, DiscordOrder, DiscordReceived, LOGIN};
use self::message::{MESSAGE, message_body, posted, question_body};
use self::session::DiscordSession;
use super::connection::ServiceConnection;
use super::menu::discord::suggestions;
use super::platform::{
    Batch, ChatAddress, Cursor, DeliveryId, Incoming, MarkupDialect, MessageId, NewMessage,
    Outgoing, OutgoingFile, Platform, PlatformCustoms, PlatformError, PlatformLimits,
    PlatformResult, PostContent, RemoteFile, TextUnit, UserId,
};
use super::recent::Recent;
use super::setup::MESSAGE_CONTENT;
use super::setup_report::SetupReport;
use avocet_core::i18n::{LocalizedText, chat, gateway};
use avocet_core::protocol::ChatPlatform;
use avocet_model::net::{HttpBody, MultipartField, form};

/// Where the REST interface is.
pub const API_URL: &str = "https://discord.com/api/v10";

/// The token of an interaction is good for a quarter of an hour.
const INTERACTION_LIFETIME: Duration = Duration::from_secs(14 * 60);
const INTERACTIONS: usize = 1000;

/// Where files are, besides the service itself.
const FILE_HOSTS: [&str; 2] = ["https://cdn.discordapp.com/", "https://media.discordapp.net/"];

/// How to reach the service.
pub struct DiscordConfig {
    pub api_url: String,
    pub token: String,
    /// Whether messages that do not mention the bot are read as well: the owner of the bot has to
    /// allow that at the service.
    pub reads_all: bool,
}

/// A bot at the service.
pub struct Discord {
    api: Arc<DiscordApi>,
    config: DiscordConfig,
    /// Of the run before.
    cursor: Option<Cursor>,
    running: OnceCell<RunningDiscord>,
    /// Presses and half-typed options, by their delivery.
    interactions: Recent<Deferred>,
    /// Commands that wait for their answer, by their delivery.
    commands: Recent<Deferred>,
    /// The tokens with which answers can be edited, by the message.
    answers: Recent<String>,
    /// The messages of channels that are being answered, by their deliveries.
    answered: Recent<String>,
}

struct RunningDiscord {
    report: SetupReport,
    application: String,
    connection: ServiceConnection<DiscordReceived, DiscordOrder>,
}

impl Discord {
    /// # Errors
    /// [`PlatformError::Refused`] for an address or a token that cannot be used.
    pub fn new(config: DiscordConfig, cursor: Option<&Cursor>) -> Result<Discord, PlatformError> {
        let recent = || Recent::new(INTERACTIONS, INTERACTION_LIFETIME);
        Ok(Discord {
            api: Arc::new(DiscordApi::new(&config.api_url, &config.token)?),
            config,
            cursor: cursor.cloned(),
            running: OnceCell::new(),
            interactions: recent(),
            commands: recent(),
            answers: Recent::new(INTERACTIONS, INTERACTION_LIFETIME),
            answered: Recent::new(INTERACTIONS, INTERACTION_LIFETIME),
        })
    }

    async fn running(&self) -> Result<&RunningDiscord, PlatformError> {
        self.running.get_or_try_init(|| self.start()).await
    }

    async fn start(&self) -> Result<RunningDiscord, PlatformError> {
        let me = self.api.get("users/@me").await?;
        let application = self.api.get("applications/@me").await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let api = Arc::clone(&self.api);
        let bot = text(&me["id"]);

        let cursor = self.cursor.as_ref().map(DiscordCursor::read).unwrap_or_default();
        let token = self.config.token.trim().to_owned();
        // Answers without a mention reach a bot that may read messages.
        let may_read = application["flags"].as_u64().unwrap_or(0) & MESSAGE_CONTENT != 0;
        let reads_all = self.config.reads_all || may_read;
        let session = DiscordSession::new(token, reads_all, cursor.session.clone());
        let connection = ServiceConnection::start(|end| {
            let link = DiscordLink {
                api,
                bot,
                session,
                cursor,
                end,
                backlog: VecDeque::new(),
                missed: VecDeque::new(),
                catch_up: None,
                catches_up_again: false,
                login: LOGIN,
            };
            link.run()
        });
        let mut report = SetupReport::of(text(&me["username"]));
        report.texts.extend((!reads_all).then(|| LocalizedText::from(gateway::LACKS_INTENT)));
        let application = text(&application["id"]);

        Ok(RunningDiscord { report, application, connection })
    }

    async fn receive_batch(&self) -> Result<Batch, PlatformError> {
        let received = self.running().await?.connection.receive().await?;
        let mut batch = Batch::default();
        let now = Instant::now();
        for DiscordReceived { incoming, interaction, cursor } in received {
            if let (Some(incoming), Some(open)) = (&incoming, interaction) {
                let kept = match open.interaction.kind {
                    InteractionKind::Command => &self.commands,
                    InteractionKind::Press | InteractionKind::Suggest => &self.interactions,
                };
                kept.insert(&incoming.id.0, open, now);
            }
            batch.messages.extend(incoming);
            batch.cursor = Some(cursor);
        }
        Ok(batch)
    }

    /// Posts a message, or puts it where the command that it answers waits for that.
    async fn post(
        &self,
        address: &ChatAddress,
        body: Value,
        file: Option<&OutgoingFile>,
        new: &NewMessage,
    ) -> Result<MessageId, PlatformError> {
        if let Some(command) = &new.answers
            && let Some(open) = self.commands.take(&command.0, Instant::now())
        {
            match self.answer(open.clone(), body.clone(), file).await {
                Err(PlatformError::Gone) => {}
                Err(error @ (PlatformError::RateLimited { .. } | PlatformError::Network(_))) => {
                    // The next try answers it.
                    self.commands.insert(&command.0, open, Instant::now());
                    return Err(error);
                }
                result => return result,
            }
        }
        let mut body = posted(body, new.nonce);
        let answered = new.answers.as_ref().map(|id| id.0.as_str()).unwrap_or_default();
        if let Some(message) = self.answered.get(answered, Instant::now()) {
            // In a group, an answer shows what it answers.
            body["message_reference"] =
                json!({ "message_id": message, "fail_if_not_exists": false });
        }
        let path = format!("channels/{}/messages", address.chat);
        let first = self.api.call("POST", &path, with_file(body.clone(), file)).await;
        let sent = match first {
            // It may have been posted: then this is answered with the same message.
            Err(PlatformError::Network(_)) => {
                self.api.call("POST", &path, with_file(body, file)).await
            }
            other => other,
        };
        let sent = message_id(&sent?)?;
        self.answered.take(answered, Instant::now());
        Ok(sent)
    }

    async fn answer(
        &self,
        deferred: Deferred,
        body: Value,
        file: Option<&OutgoingFile>,
    ) -> Result<MessageId, PlatformError> {
        // Before that, there is nothing to edit.
        deferred.done.clone().await;
        let token = deferred.interaction.token;
        let path =
            format!("webhooks/{}/{token}/messages/@original", self.running().await?.application);
        let call = || self.api.call("PATCH", &path, with_file(body.clone(), file));
        let edited = match call().await {
            Err(PlatformError::Network(_)) => call().await,
            other => other,
        };
        let id = message_id(&edited?)?;
        self.answers.insert(&id.0, token, Instant::now());
        Ok(id)
    }

    async fn update(
        &self,
        address: &ChatAddress,
        message: &MessageId,
        outgoing: &Outgoing,
    ) -> Result<(), PlatformError> {
        let body = message_body(outgoing, &[]);
        let token = self.answers.get(&message.0, Instant::now());
        if let Some(token) = token {
            let application = &self.running().await?.application;
            let path = format!("webhooks/{application}/{token}/messages/{message}");
            match self.api.call("PATCH", &path, HttpBody::Json(body.clone())).await {
                Err(PlatformError::Gone) => {}
                result => return result.map(|_| ()),
            }
        }
        let path = format!("channels/{}/messages/{message}", address.chat);
        self.api.call("PATCH", &path, HttpBody::Json(body)).await.map(|_| ())
    }

    /// Takes back the sign that an answer will come.
    async fn forget(&self, deferred: Deferred) -> Result<(), PlatformError> {
        deferred.done.clone().await;
        let application = &self.running().await?.application;
        let token = deferred.interaction.token;
        let path = format!("webhooks/{application}/{token}/messages/@original");
        self.api.call("DELETE", &path, HttpBody::None).await.map(|_| ())
    }

    async fn tell_presser(&self, deferred: Deferred, text: &str) -> Result<(), PlatformError> {
        deferred.done.clone().await;
        let application = &self.running().await?.application;
        let path = format!("webhooks/{application}/{}", deferred.interaction.token);
        let mut body = message_body(&Outgoing::plain(text), &[]);
        body["flags"] = json!(EPHEMERAL);
        match self.api.call("POST", &path, HttpBody::Json(body)).await {
            // It was long ago.
            Err(PlatformError::Gone) => Ok(()),
            result => result.map(|_| ()),
        }
    }

    async fn register(&self, calls: &[Value]) -> Result<(), PlatformError> {
        let path = format!("applications/{}/commands", self.running().await?.application);
        for call in calls {
            self.api.call("PUT", &path, HttpBody::Json(call.clone())).await?;
        }
        Ok(())
    }

    async fn fetch(&self, file: &RemoteFile, most: u64) -> Result<Bytes, PlatformError> {
        let url = &file.reference;
        let own = self.config.api_url.trim_end_matches('/').trim_end_matches("/api/v10");
        let is_own = url.strip_prefix(own).is_some_and(|rest| rest.starts_with('/'));
        if !is_own && !FILE_HOSTS.iter().any(|host| url.starts_with(host)) {
            return Err(PlatformError::Refused("the file is not at the service".into()));
        }
        let response = self.api.download(url, most).await?;
        match response.status {
            200 => Ok(response.body),
            403 | 404 | 410 => Err(PlatformError::Gone),
            status => Err(PlatformError::Network(format!("status {status}"))),
        }
    }
}

fn message_id(answer: &Value) -> Result<MessageId, PlatformError> {
    let id = answer["id"].as_str().map(|id| MessageId(id.to_owned()));
    id.ok_or_else(|| PlatformError::Network("no message".into()))
}

fn with_file(body: Value, file: Option<&OutgoingFile>) -> HttpBody {
    let Some(file) = file else { return HttpBody::Json(body) };
    let field = MultipartField {
        name: "payload_json",
        file_name: None,
        content_type: "application/json".into(),
        bytes: body.to_string().into(),
    };
    let multipart_field = MultipartField {
        name: "files[0]",
        file_name: Some(file.name.clone()),
        content_type: file.media_type.clone(),
        bytes: file.bytes.clone(),
    };
    form(&[field, multipart_field])
}

impl Platform for Discord {
    fn kind(&self) -> ChatPlatform {
        ChatPlatform::Discord
    }

    fn limits(&self) -> PlatformLimits {
        let hears_all = self.running.get().is_none_or(|running| running.report.texts.is_empty());
        let hearing_note = (!hears_all).then_some(chat::TYPE_TO_BOT);
        PlatformLimits {
            // Of 2000: a text grows when its marks are escaped.
            text: 1500,
            rendered: Some(MESSAGE),
            unit: TextUnit::Chars,
            edit_pace: Duration::from_millis(1200),
            group_pace: Duration::from_millis(1200),
            limits_edits_apart: true,
            piece: None,
            typing: Duration::from_secs(10),
            label: 80,
            upload: 10 << 20,
            download: 500 << 20,
            dialect: MarkupDialect::Discord,
            rationed: None,
            customs: PlatformCustoms { hearing_note, ..PlatformCustoms::default() },
        }
    }

    fn connect(&self) -> PlatformResult<'_, SetupReport> {
        async move { Ok(self.running().await?.report.clone()) }.boxed()
    }

    fn receive(&self) -> PlatformResult<'_, Batch> {
        self.receive_batch().boxed()
    }

    /// The service keeps no list of what is stored: the cursor itself is the position.
    fn confirm(&self, _cursor: &Cursor) -> PlatformResult<'_, ()> {
        std::future::ready(Ok(())).boxed()
    }

    fn send<'a>(
        &'a self,
        address: &'a ChatAddress,
        content: PostContent<'a>,
        new: &'a NewMessage,
    ) -> PlatformResult<'a, MessageId> {
        let (body, file) = match content {
            PostContent::Text(text) => (message_body(text, &[]), None),
            PostContent::Question(question) => (question_body(question), None),
            PostContent::File(file) => {
                (message_body(&Outgoing::plain(file.caption.as_str()), &[]), Some(file))
            }
        };
        self.post(address, body, file, new).boxed()
    }

    fn edit<'a>(
        &'a self,
        address: &'a ChatAddress,
        message: &'a MessageId,
        outgoing: &'a Outgoing,
    ) -> PlatformResult<'a, ()> {
        self.update(address, message, outgoing).boxed()
    }

    fn acknowledge(&self, press: &str, text: Option<&str>) -> PlatformResult<'_, ()> {
        let open = self.interactions.get(press, Instant::now());
        let text = text.map(str::to_owned);
        async move {
            match (open, text) {
                (Some(open), Some(text)) => self.tell_presser(open, &text).await,
                // The service knows already.
                _ => Ok(()),
            }
        }
        .boxed()
    }

    fn admitted(&self, incoming: &Incoming) {
        let message = incoming.id.0.strip_prefix("m:").filter(|_| incoming.is_group);
        if let Some(message) = message {
            self.answered.insert(&incoming.id.0, message.to_owned(), Instant::now());
        }
        if let Some(running) = self.running.get() {
            let id = incoming.at.chat.0.clone();
            let is_group = incoming.is_group;

            running.connection.order(DiscordOrder::Admit(KnownChannel { id, is_group }));
        }
    }

    fn dismiss<'a>(&'a self, command: &'a DeliveryId) -> PlatformResult<'a, ()> {
        let open = self.commands.take(&command.0, Instant::now());
        async move {
            match open {
                Some(open) => self.forget(open).await,
                None => Ok(()),
            }
        }
        .boxed()
    }

    fn suggest(&self, query: &str, choices: &[String]) -> PlatformResult<'_, ()> {
        let open = self.interactions.take(query, Instant::now());
        let choices = suggestions(choices.iter().cloned()).into_iter();
        let choices = choices.map(|choice| json!({ "name": choice, "value": choice }));
        let body = json!({ "type": 8, "data": { "choices": choices.collect::<Vec<_>>() } });
        async move {
            match open {
                Some(open) => self.api.callback(&open.interaction, body).await,
                None => Ok(()),
            }
        }
        .boxed()
    }

    fn private_chat<'a>(&'a self, user: &'a UserId) -> PlatformResult<'a, ChatAddress> {
        async move {
            let body = HttpBody::Json(json!({ "recipient_id": user }));
            let opened = self.api.call("POST", "users/@me/channels", body).await?;
            let id = opened["id"].as_str();
            id.map(ChatAddress::of).ok_or_else(|| PlatformError::Network("no channel".into()))
        }
        .boxed()
    }

    fn typing<'a>(&'a self, address: &'a ChatAddress) -> PlatformResult<'a, ()> {
        let path = format!("channels/{}/typing", address.chat);
        async move { self.api.call("POST", &path, HttpBody::Json(json!({}))).await.map(|_| ()) }
            .boxed()
    }

    fn set_menu<'a>(&'a self, calls: &'a [Value]) -> PlatformResult<'a, ()> {
        self.register(calls).boxed()
    }

    fn download<'a>(&'a self, file: &'a RemoteFile, most: u64) -> PlatformResult<'a, Bytes> {
        self.fetch(file, most).boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        if let Some(running) = self.running.get() {
            running.connection.order(DiscordOrder::Leave);
        }
        std::future::ready(()).boxed()
    }
}
