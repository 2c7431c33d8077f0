//! Feishu, which is Lark outside of China: events over a long connection, everything else over the
//! Open API.

mod api;
mod frame;
mod incoming;
mod link;
mod message;
mod sources;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use self::api::FeishuApi;
pub use self::api::FeishuApp;
use self::link::{FeishuLink, FeishuOrder, FeishuReceived};
use self::message::{LABEL, card, question_card, send_call};
use self::sources::FeishuSources;
use super::connection::ServiceConnection;
use super::platform::{
    Batch, ChatAddress, Cursor, MarkupDialect, MessageId, NewMessage, Outgoing, OutgoingFile,
    Platform, PlatformCustoms, PlatformError, PlatformLimits, PlatformResult, PostContent,
    RemoteFile, TextUnit, UserId,
};
use super::recent::Recent;
use super::setup_report::{SetupReport, missing};
use avocet_core::i18n::{LocalizedText, gateway as w};
use avocet_core::protocol::ChatPlatform;
use avocet_model::net::{HttpRequest, MultipartField, form};

/// Private chats that are remembered, and for how long.
const REMEMBERED: usize = 1_000;
const LIFETIME: Duration = Duration::from_secs(24 * 3_600);

/// What the bot may do.
const SCOPES: [&str; 5] = [
    "im:message",
    "im:message.p2p_msg:readonly",
    "im:message.group_at_msg:readonly",
    "im:resource",
    "contact:user.base:readonly",
];

/// The chats of an app.
pub struct Feishu {
    api: Arc<FeishuApi>,
    running: OnceCell<RunningFeishu>,
    /// A press does not say whether others read along.
    recent_chats: Recent<()>,
}

struct RunningFeishu {
    report: SetupReport,
    sources: FeishuSources,
    connection: ServiceConnection<FeishuReceived, FeishuOrder>,
}

impl Feishu {
    /// # Errors
    /// [`PlatformError::Refused`] for an address that cannot be used.
    pub fn new(api_url: &str, app: FeishuApp) -> Result<Feishu, PlatformError> {
        let api = Arc::new(FeishuApi::new(api_url, app)?);
        let recent_chats = Recent::new(REMEMBERED, LIFETIME);
        Ok(Feishu { api, running: OnceCell::new(), recent_chats })
    }

    /// Asks the service what the app still lacks.
    ///
    /// # Errors
    /// [`PlatformError::Unauthorized`] for a secret that is not the app's.
    pub async fn check(&self) -> Result<SetupReport, PlatformError> {
        let me = self.api.bot().await?;
        let mut texts: Vec<LocalizedText> = Vec::new();
        if let Ok(scopes) = self.api.get("application/v6/scopes").await {
            let known = scopes["scopes"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_granted = |name: &str| {
                known.iter().any(|one| one["scope_name"] == name && one["grant_status"] == 1)
            };
            texts.extend(missing(&SCOPES, is_granted));
        }
        if let Err(error) = self.api.endpoint().await {
            texts.push(w::LACKS_CONNECTION.with("why", error.to_string()));
        }
        let chats = self.api.get("im/v1/chats?page_size=1").await.unwrap_or_default();
        if chats["items"].as_array().is_none_or(Vec::is_empty) {
            texts.push(w::LACKS_PLACE.into());
        }
        let bot = me["app_name"].as_str().unwrap_or_default().to_owned();
        Ok(SetupReport { bot, texts, webhook: None })
    }

    async fn running(&self) -> Result<&RunningFeishu, PlatformError> {
        self.running.get_or_try_init(|| self.start()).await
    }

    async fn start(&self) -> Result<RunningFeishu, PlatformError> {
        let me = self.api.bot().await?;
        let api = Arc::clone(&self.api);
        let bot = me["open_id"].as_str().unwrap_or_default().to_owned();
        let connection = ServiceConnection::start(|end| FeishuLink::new(api, bot, end).run());
        let sources = FeishuSources::new(Arc::clone(&self.api));
        let report = SetupReport::of(me["app_name"].as_str().unwrap_or_default().to_owned());
        Ok(RunningFeishu { report, sources, connection })
    }

    async fn receive_batch(&self) -> Result<Batch, PlatformError> {
        let running = self.running().await?;
        let mut batch = Batch::default();
        for FeishuReceived { incoming, number } in running.connection.receive().await? {
            let incoming = running.sources.complete(incoming).await;
            if !incoming.is_group && incoming.message.is_some() {
                self.recent_chats.insert(&incoming.at.chat.0, (), Instant::now());
            }
            batch.messages.push(incoming);
            batch.cursor = Some(Cursor(number.to_string()));
        }
        Ok(batch)
    }

    /// The service sends what has the same nonce once.
    async fn post(
        &self,
        address: &ChatAddress,
        kind: &str,
        content: &Value,
        nonce: u64,
    ) -> Result<MessageId, PlatformError> {
        let (path, body) = send_call(address, kind, content, nonce);
        let sent = self.api.post(&path, body).await?;
        let id = sent["message_id"].as_str().filter(|id| !id.is_empty());
        id.map(MessageId::from).ok_or_else(|| PlatformError::Network("no message".into()))
    }

    async fn send_file(
        &self,
        address: &ChatAddress,
        file: &OutgoingFile,
        new: &NewMessage,
    ) -> Result<MessageId, PlatformError> {
        let field = |name, file_name, bytes| {
            let content_type = "application/octet-stream".to_owned();
            MultipartField { name, file_name, content_type, bytes }
        };
        let fields = [
            field("file_type", None, Bytes::from_static(b"stream")),
            field("file_name", None, Bytes::from(file.name.clone())),
            field("file", Some(file.name.clone()), file.bytes.clone()),
        ];
        let request = HttpRequest::with_name("POST", "open-apis/im/v1/files", form(&fields));
        let uploaded = self.api.call(request).await?;
        if !file.caption.is_empty() {
            let caption = card(&Outgoing::plain(&file.caption));
            self.post(address, "interactive", &caption, new.nonce.wrapping_add(1)).await?;
        }
        let content = json!({ "file_key": uploaded["file_key"] });
        self.post(address, "file", &content, new.nonce).await
    }

    async fn fetch(&self, file: &RemoteFile, most: u64) -> Result<Bytes, PlatformError> {
        let mut request = HttpRequest::get(format!("open-apis/{}", file.reference));
        request.body_cap = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(self.api.send(request).await?.body)
    }
}

impl Platform for Feishu {
    fn kind(&self) -> ChatPlatform {
        ChatPlatform::Feishu
    }

    fn limits(&self) -> PlatformLimits {
        PlatformLimits {
            // A card has at most 30 KB.
            text: 3_000,
            rendered: Some(6_000),
            unit: TextUnit::Utf16,
            // Five calls a second for a chat, and for each card.
            edit_pace: Duration::from_millis(500),
            group_pace: Duration::from_secs(1),
            limits_edits_apart: true,
            piece: None,
            // It shows nothing.
            typing: Duration::from_secs(3_600),
            label: LABEL,
            upload: 30 << 20,
            download: 100 << 20,
            dialect: MarkupDialect::Lark,
            rationed: None,
            customs: PlatformCustoms { has_own_threads: true, ..PlatformCustoms::default() },
        }
    }

    fn connect(&self) -> PlatformResult<'_, SetupReport> {
        async move { Ok(self.running().await?.report.clone()) }.boxed()
    }

    fn receive(&self) -> PlatformResult<'_, Batch> {
        self.receive_batch().boxed()
    }

    fn confirm(&self, cursor: &Cursor) -> PlatformResult<'_, ()> {
        if let (Some(running), Ok(number)) = (self.running.get(), cursor.0.parse()) {
            running.connection.order(FeishuOrder::Confirm(number));
        }
        std::future::ready(Ok(())).boxed()
    }

    fn send<'a>(
        &'a self,
        address: &'a ChatAddress,
        content: PostContent<'a>,
        new: &'a NewMessage,
    ) -> PlatformResult<'a, MessageId> {
        let card = match content {
            PostContent::Text(text) => card(text),
            PostContent::Question(question) => {
                let chat = &address.chat.0;
                let is_private = self.recent_chats.get(chat, Instant::now()).is_some();
                question_card(question, address, !is_private)
            }
            PostContent::File(file) => return self.send_file(address, file, new).boxed(),
        };
        async move { self.post(address, "interactive", &card, new.nonce).await }.boxed()
    }

    fn edit<'a>(
        &'a self,
        _address: &'a ChatAddress,
        message: &'a MessageId,
        outgoing: &'a Outgoing,
    ) -> PlatformResult<'a, ()> {
        async move {
            let body = json!({ "content": card(outgoing).to_string() });
            self.api.patch(&format!("im/v1/messages/{message}"), body).await.map(drop)
        }
        .boxed()
    }

    fn acknowledge(&self, press: &str, text: Option<&str>) -> PlatformResult<'_, ()> {
        if let Some(running) = self.running.get() {
            let text = text.map(str::to_owned);
            running.connection.order(FeishuOrder::Answer { press: press.to_owned(), text });
        }
        std::future::ready(Ok(())).boxed()
    }

    fn private_chat<'a>(&'a self, user: &'a UserId) -> PlatformResult<'a, ChatAddress> {
        let at = incoming::private_chat(user);
        self.recent_chats.insert(&at.chat.0, (), Instant::now());
        std::future::ready(Ok(at)).boxed()
    }

    fn download<'a>(&'a self, file: &'a RemoteFile, most: u64) -> PlatformResult<'a, Bytes> {
        self.fetch(file, most).boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        if let Some(running) = self.running.get() {
            running.connection.order(FeishuOrder::Close);
        }
        std::future::ready(()).boxed()
    }
}
