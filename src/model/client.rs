//! Calls a model server over HTTP, streamed or whole, in any wire format ([`super::wire`]).
//!
//! One call is one or more requests: if a server does not support an optional part (a schema, token
//! counts), the request is repeated without it and the refusal is remembered; that is not a failure.
//! [`super::Retry`] handles failures.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use reqwest::Response;
use serde_json::Value;

use super::error_body::{ServerMessage, named_window};
use super::http::{self, Endpoint, Server};
use super::sse::{self, EVENT_CAP, SseError, SseEvent};
use super::wire::Api;
use super::wire::answer::{AnswerReader, BodyKind};
use super::wire::calls::mend_calls;
use super::wire::capability_cache::CapabilityCache;
use super::wire::features::{Downgrade, RequestFeatures};
use super::wire::format::{Framing, WireCall};
use super::{Chunk, Model, ModelError, Request, ServerFacts, aws, learn};
use avocet_core::deadline::with_timeout;
use avocet_core::i18n::{LocalizedText, model as phrases};
use avocet_core::protocol::Provider;

/// How long a stream may consist of comments alone.
const WITHOUT_CONTENT: Duration = Duration::from_secs(600);

/// After the finish reason only token counts can follow; this is the longest wait for them.
const AFTER_FINISH: Duration = Duration::from_secs(5);

/// How long the end of the body is waited for once the answer is whole; no turn waits for that.
const AFTER_END: Duration = Duration::from_secs(1);

/// How long a server that said nothing of a model is not asked again.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// A model of a server.
#[derive(Clone, Debug)]
pub struct HttpModel {
    server: Arc<Server>,
    /// The parts the server refused; most of them of all its models.
    capabilities: Arc<CapabilityCache>,
    model: String,
    /// The model takes no tools.
    refuses_tools: Arc<AtomicBool>,
    /// The window it turned out to have, in tokens; 0: not known.
    window: Arc<AtomicU64>,
    facts: Arc<LearnedFacts>,
}

/// What the server says of a model, asked for once by all sessions that share it.
#[derive(Debug, Default)]
struct LearnedFacts {
    facts: OnceLock<ServerFacts>,
    /// When the server was last asked; held while it is.
    asked: tokio::sync::Mutex<Option<Instant>>,
}

impl HttpModel {
    /// Does not connect yet. Fails on an invalid address or key.
    pub fn new(endpoint: Endpoint) -> Result<HttpModel, ModelError> {
        let model = endpoint.model.clone();
        let server = Server::new(endpoint)?;
        let capabilities = Arc::new(CapabilityCache::for_server(server.is_local()));
        Ok(HttpModel {
            server: Arc::new(server),
            capabilities,
            model,
            refuses_tools: Arc::default(),
            window: Arc::default(),
            facts: Arc::default(),
        })
    }

    /// Another model of the same server, over the same connections.
    #[must_use]
    pub fn with_model(&self, model: impl Into<String>) -> HttpModel {
        HttpModel {
            model: model.into(),
            capabilities: Arc::new(self.capabilities.for_other_model()),
            refuses_tools: Arc::default(),
            window: Arc::default(),
            facts: Arc::default(),
            ..self.clone()
        }
    }

    fn api(&self) -> &'static Api {
        self.server.api()
    }

    fn call<'a>(&'a self, request: &'a Request, features: RequestFeatures) -> WireCall<'a> {
        let provider = self.server.provider();
        let host = self.server.host();

        WireCall { provider, host, model: &self.model, request, features }
    }

    /// Makes the request, stepping down when a part of it is refused.
    /// Returns with the answer what the user should know of it.
    async fn send_with_downgrades(
        &self,
        request: &Request,
    ) -> Result<(Response, Vec<LocalizedText>), ModelError> {
        let has_tools = !request.tools.is_empty();
        if has_tools && self.refuses_tools.load(Ordering::Relaxed) {
            return Err(self.no_tools(String::new()));
        }
        let format = self.api().format;
        let mut features = self.capabilities.features();
        let (before, mut notices) = (features, Vec::new());
        loop {
            let sent = self.capabilities.fit(request, features);
            let mut path = format.path(&self.model);
            let mut body = format.body(&self.call(&sent, features));
            self.server.settings().extend(&mut body);
            let mut patience = self.server.first_byte();
            if request.params.is_whole {
                path = without_stream(&path, &mut body);
                patience = WITHOUT_CONTENT;
            }
            let post = self.server.post(&path)?;
            let response = self.server.send_within(post.json(&body), patience).await?;
            if response.status().is_success() {
                self.capabilities.accept(features, &sent);
                notices.extend(features.describe_lost(before));
                return Ok((response, notices));
            }
            let status = response.status().as_u16();
            let (error, said) = self.server.refusal(response, &self.model).await;
            if matches!(error, ModelError::TooLong { .. }) {
                self.learn_window(said.window, sent.estimate_tokens());
            }
            let said = said.about(&body);
            let step = features.step_down(&sent, status, &said);
            if matches!(error, ModelError::Rejected { .. })
                && let Some(say) = self.take_out(&sent, &body, &said, step)
            {
                notices.extend(say);
                continue;
            }
            features = match step.ok_or(error)? {
                Downgrade::NoImages => {
                    self.capabilities.refuse_images(&sent);
                    notices = vec![phrases::IMAGES_LEFT_OUT.into()];
                    features
                }
                Downgrade::Guessed(features) => features,
                Downgrade::Named(features) => {
                    self.capabilities.remember(features);
                    features
                }
                Downgrade::NoTools => {
                    self.refuses_tools.store(true, Ordering::Relaxed);
                    return Err(self.no_tools(said.text));
                }
            };
        }
    }

    /// Takes out what a server complains of beside the optional parts: an answer that is too long, a
    /// tool, or, where it names nothing, the results that are new. Returns what the user should know.
    fn take_out(
        &self,
        request: &Request,
        body: &Value,
        message: &ServerMessage,
        downgrade: Option<Downgrade>,
    ) -> Option<Vec<LocalizedText>> {
        if matches!(downgrade, Some(Downgrade::Named(_) | Downgrade::NoImages)) {
            return None;
        }
        if self.capabilities.shorten_answer(asked_answer(body), message) {
            return Some(Vec::new());
        }
        let tool = self.capabilities.refuse_tool(request, message);
        let is_clear = matches!(downgrade, Some(Downgrade::NoTools)) && !message.text.is_empty();
        let what = match tool {
            Some(tool) => format!("`{tool}`"),
            None if !is_clear && self.capabilities.refuse_results(request) => {
                "`tool_result`".into()
            }
            None => return None,
        };
        Some(vec![phrases::LEFT_OUT.with("what", what)])
    }

    /// A request of so many tokens was too long: what the server says of its window, or less than
    /// was sent.
    fn learn_window(&self, said: Option<u64>, sent: u64) {
        let window = said.unwrap_or(sent / 4 * 3);
        let known = self.window.load(Ordering::Relaxed);
        let smallest = if known == 0 { window } else { window.min(known) };
        self.window.store(smallest, Ordering::Relaxed);
    }

    fn no_tools(&self, said: String) -> ModelError {
        ModelError::NoTools { url: self.server.url(), model: self.model.clone(), said }
    }

    async fn open(self, mut request: Request) -> Result<Chunks, ModelError> {
        if request.params.is_private && !self.server.is_near() {
            return Err(ModelError::NotPrivate { model: self.model });
        }
        mend_calls(&mut request.messages);
        self.server.settings().complete(&mut request.params);
        let (response, notices) = self.send_with_downgrades(&request).await?;
        let this = self.clone();
        let sent = request.estimate_tokens();
        let chunks = self.read(&request, response).await?;
        let chunks = chunks.inspect_err(move |error| {
            if let ModelError::TooLong { said, .. } = error {
                this.learn_window(named_window(said), sent);
            }
        });
        let notices = notices.into_iter().map(|notice| Ok(Chunk::Notice(notice)));
        Ok(stream::iter(notices).chain(chunks).boxed())
    }

    async fn read(self, request: &Request, response: Response) -> Result<Chunks, ModelError> {
        let format = self.api().format;
        let reader = format.reader(&self.call(request, self.capabilities.features()));
        let key = self.server.key().map(str::to_owned);
        let reader =
            AnswerReader::new(self.server.url(), key, &self.model, self.api().provider, reader);
        let mut body = Box::pin(http::body(Arc::clone(&self.server), response));
        let mut head = Vec::new();
        let kind = loop {
            match body.next().await.transpose()? {
                None => return Err(self.server.broken()),
                Some(bytes) => head.extend_from_slice(&bytes),
            }
            match BodyKind::detect(&head) {
                Some(kind) => break kind,
                // White space that keeps the connection alive; a byte order mark may still be
                // incomplete.
                None if head.len() > 3 => head.clear(),
                None => {}
            }
        };
        if kind == BodyKind::Html {
            return Err(ModelError::WebPage { url: self.server.url() });
        }
        if kind == BodyKind::Json && format.framing() != Framing::Lines {
            return read_whole(reader, head, body).await;
        }
        let bytes = stream::iter([Ok(Bytes::from(head))]).chain(body);
        let events: Events = match (kind, format.framing()) {
            (BodyKind::Json, _) => sse::lines(bytes, EVENT_CAP).boxed(),
            (_, Framing::AwsFrames) => {
                let server = Arc::clone(&self.server);
                aws::events(bytes, move || server.broken()).boxed()
            }
            _ => sse::events(bytes, EVENT_CAP).boxed(),
        };
        Ok(stream_chunks(self.server, reader, events))
    }
}

type Chunks = BoxStream<'static, Result<Chunk, ModelError>>;
type Body = Pin<Box<dyn Stream<Item = Result<Bytes, ModelError>> + Send>>;
type Events = BoxStream<'static, Result<SseEvent, SseError<ModelError>>>;

impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.model
    }

    fn facts(&self) -> Option<&ServerFacts> {
        self.facts.facts.get()
    }

    fn refused_params(&self) -> Vec<&'static str> {
        self.capabilities.features().refused_params()
    }

    fn search_host(&self) -> Option<String> {
        let searches = matches!(
            self.server.provider(),
            Provider::Anthropic | Provider::OpenAiResponses | Provider::Gemini
        );
        searches.then(|| self.server.host().to_owned())
    }

    fn enforced_window(&self) -> Option<u64> {
        Some(self.window.load(Ordering::Relaxed)).filter(|window| *window > 0)
    }

    fn learn(&self) -> BoxFuture<'static, ()> {
        let this = self.clone();
        async move {
            let LearnedFacts { facts, asked } = &*this.facts;
            let mut asked = asked.lock().await;
            let recently = asked.is_some_and(|at| at.elapsed() < ASK_AGAIN);
            if recently || facts.get().is_some() {
                return;
            }
            if let Ok(said) = learn::ask_facts(&this.server, &this.model).await {
                let _first = facts.set(said);
            }
            *asked = Some(Instant::now());
        }
        .boxed()
    }

    fn stream(&self, request: Request) -> Chunks {
        stream::once(self.clone().open(request)).try_flatten().boxed()
    }
}

/// The path and the body of the same request for an answer in one piece.
fn without_stream(path: &str, body: &mut Value) -> String {
    if let Some(fields) = body.as_object_mut() {
        fields.shift_remove("stream_options");
        fields.entry("stream").and_modify(|stream| *stream = Value::Bool(false));
    }
    path.replace("streamGenerateContent?alt=sse", "generateContent")
}

/// The longest answer that a request asks for, under the name of its format.
fn asked_answer(body: &Value) -> Option<u64> {
    let fields = [
        "/max_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/generationConfig/maxOutputTokens",
        "/inferenceConfig/maxTokens",
    ];
    fields.iter().find_map(|field| body.pointer(field)?.as_u64())
}

/// The answer of a server that sends one JSON body.
async fn read_whole(
    mut reader: AnswerReader,
    mut read: Vec<u8>,
    mut body: Body,
) -> Result<Chunks, ModelError> {
    while let Some(bytes) = body.try_next().await? {
        read.extend_from_slice(&bytes);
    }
    reader.push_body(&read)?;
    let chunks: Vec<_> = std::iter::from_fn(|| reader.next_chunk()).map(Ok).collect();
    Ok(stream::iter(chunks).boxed())
}

/// The state of a streamed answer.
struct ChunkStream {
    server: Arc<Server>,
    reader: AnswerReader,
    events: Events,
}

fn stream_chunks(server: Arc<Server>, reader: AnswerReader, events: Events) -> Chunks {
    let state = ChunkStream { server, reader, events };
    stream::try_unfold(state, |mut state| async move {
        Ok(state.next().await?.map(|chunk| (chunk, state)))
    })
    .boxed()
}

impl ChunkStream {
    async fn next(&mut self) -> Result<Option<Chunk>, ModelError> {
        loop {
            if let Some(chunk) = self.reader.next_chunk() {
                return Ok(Some(chunk));
            }
            if self.reader.is_done() {
                self.read_end();
                return Ok(None);
            }
            self.read().await?;
        }
    }

    /// Reads the end of the body after the last event, which often comes in a packet of its own:
    /// only then can the next request have the connection, without another handshake.
    fn read_end(&mut self) {
        let mut events = std::mem::replace(&mut self.events, stream::empty().boxed());
        match events.next().now_or_never() {
            Some(Some(Ok(_))) | None => {}
            Some(Some(Err(_)) | None) => return,
        }
        let rest = async move { while let Some(Ok(_)) = events.next().await {} };
        drop(tokio::spawn(async move { with_timeout(AFTER_END, rest).await.is_ok() }));
    }

    async fn read(&mut self) -> Result<(), ModelError> {
        let finishing = self.reader.is_finishing();
        let patience = if finishing { AFTER_FINISH } else { WITHOUT_CONTENT };
        match with_timeout(patience, self.events.next()).await {
            Ok(Some(Ok(event))) => self.reader.push_event(&event),
            Ok(None) => self.reader.close(),
            // The answer is complete; how the connection ends does not matter.
            Ok(Some(Err(_))) | Err(_) if finishing => self.reader.close(),
            Ok(Some(Err(SseError::Source(error)))) => Err(error),
            Ok(Some(Err(SseError::TooLarge))) => Err(self.server.too_large(EVENT_CAP)),
            Err(_) => Err(self.server.stalled(WITHOUT_CONTENT)),
        }
    }
}
