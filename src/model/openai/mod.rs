//! Chat completions of any compatible server, streamed or whole.
//!
//! One call is one or more requests: if a server does not support an optional part
//! (`response_format`, `stream_options`), the request is repeated without it and the refusal is
//! remembered; that is not a failure. [`super::Retry`] handles failures.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use reqwest::Response;

use self::answer::{AnswerReader, BodyKind};
use self::request::{CapabilityCache, Downgrade};
use super::http::{self, Server, Timeouts};
use super::sse::{self, EVENT_CAP, SseError, SseEvent};
use super::{Chunk, Model, ModelError, Request};
use crate::deadline::with_timeout;

mod answer;
mod halves;
mod request;

/// How long a stream may consist of comments alone.
const WITHOUT_CONTENT: Duration = Duration::from_secs(300);

/// After the finish reason only token counts can follow; this is the longest wait for them.
const AFTER_FINISH: Duration = Duration::from_secs(5);

/// The settings of a server.
#[derive(Clone)]
pub struct Endpoint {
    /// With or without scheme, trailing slash and `/v1`: a bare host gets `/v1`.
    pub base_url: String,
    pub api_key: Option<String>,
    /// Where the key comes from (`OPENAI_API_KEY`), for error messages.
    pub key_name: String,
    pub model: String,
    pub timeouts: Timeouts,
}

/// A model of a server that speaks chat completions.
#[derive(Clone, Debug)]
pub struct OpenAi {
    server: Arc<Server>,
    /// The parts the server refused; shared by all models of this client.
    capabilities: Arc<CapabilityCache>,
    model: String,
}

impl OpenAi {
    /// Does not connect yet. Fails on an invalid address or key.
    pub fn new(endpoint: Endpoint) -> Result<OpenAi, ModelError> {
        let Endpoint { base_url, api_key, key_name, model, timeouts } = endpoint;
        let server = Server::new(&base_url, api_key.as_deref(), &key_name, timeouts)?;
        let ladder = Arc::new(CapabilityCache::for_server(server.is_local()));
        Ok(OpenAi { server: Arc::new(server), capabilities: ladder, model })
    }

    /// Another model of the same server, over the same connections.
    #[must_use]
    pub fn with_model(&self, model: impl Into<String>) -> OpenAi {
        OpenAi { model: model.into(), ..self.clone() }
    }

    /// Makes the request, stepping down when a part of it is refused.
    async fn send_with_downgrades(&self, request: &Request) -> Result<Response, ModelError> {
        let mut shape = self.capabilities.features();
        loop {
            let body = request::body(&self.model, request, shape);
            let response =
                self.server.send(self.server.post("chat/completions")?.json(&body)).await?;
            if response.status().is_success() {
                self.capabilities.remember(shape);
                return Ok(response);
            }
            let status = response.status().as_u16();
            let (error, said) = self.server.refusal(response, &self.model).await;
            shape = match shape.step_down(request, status, &said).ok_or(error)? {
                Downgrade::Guessed(shape) => shape,
                Downgrade::Named(shape) => {
                    self.capabilities.remember(shape);
                    shape
                }
            };
        }
    }

    async fn open(self, request: Request) -> Result<Chunks, ModelError> {
        let response = self.send_with_downgrades(&request).await?;
        let mut body = Box::pin(http::body(Arc::clone(&self.server), response));
        let reader = AnswerReader::new(self.server.url(), self.server.key().map(str::to_owned));
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
        match kind {
            BodyKind::Html => Err(ModelError::WebPage { url: self.server.url() }),
            BodyKind::Json => read_whole(reader, head, body).await,
            BodyKind::Events => {
                let bytes = stream::iter([Ok(Bytes::from(head))]).chain(body);
                Ok(stream_chunks(self.server, reader, Box::pin(sse::events(bytes, EVENT_CAP))))
            }
        }
    }
}

type Chunks = BoxStream<'static, Result<Chunk, ModelError>>;
type Body = Pin<Box<dyn Stream<Item = Result<Bytes, ModelError>> + Send>>;
type Events = BoxStream<'static, Result<SseEvent, SseError<ModelError>>>;

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.model
    }

    fn stream(&self, request: Request) -> Chunks {
        stream::once(self.clone().open(request)).try_flatten().boxed()
    }
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
                return Ok(None);
            }
            self.read().await?;
        }
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

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("key_name", &self.key_name)
            .field("model", &self.model)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}
