//! Talks to models. A [`Model`] turns messages into a stream of [`Chunk`]s; dropping the stream
//! cancels the call and frees the connection.
//!
//! Three kinds: [`HttpModel`] over HTTP (through [`Auto`] if no model is named), [`Scripted`] from a
//! file, and [`Guide`], which needs neither network nor settings. [`Retry`] wraps any of them.
//!
//! Not in here: what the text means (`protocol::reply`), and what is sent (`context::window`).

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt, ready};
use futures_util::stream::BoxStream;
use serde_json::Value;

use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{
    Dialect, Message, Opaque, Params, Prices, PromptSize, ToolCall, Truncation, Usage,
};
pub use avocet_core::protocol::{Effort, ToolSchema};

mod address;
mod aws;
pub mod capabilities;
mod client;
mod default_model;
mod described;
mod discover;
mod error;
mod error_body;
mod google_token;
mod guide;
mod http;
mod late_key;
mod learn;
mod name_check;
mod name_pattern;
pub mod net;
mod provider_name;
mod reply;
mod retry;
mod scripted;
mod server_facts;
pub mod sse;
mod status;
mod wire;

pub use address::{display_address, exposed_host, server_host, server_origin};
pub use capabilities::{Caching, Capabilities};
pub use client::HttpModel;
pub use default_model::{Auto, default_chat_model};
pub use described::{CapabilitiesOf, DescribedModel, ModelChoices, RememberFacts};
pub use discover::{
    LOCAL, ListedModel, Local, ServerOffer, describe_models, find_servers, list_models,
};
pub use error::{ConnectError, ModelError, RetryAdvice, not_connected};
pub use google_token::google_token;
pub use guide::Guide;
pub use http::{Endpoint, Timeouts};
pub use late_key::{BuildModel, FetchKey, LateKey};
pub use learn::learn_facts;
pub use name_check::{ListModels, NameCheck};
pub use provider_name::{is_private, provider_name};
pub use reply::ModelReply;
pub use retry::{Retry, RetryPolicy};
pub use scripted::Scripted;
pub use server_facts::ServerFacts;

/// Something that answers messages.
pub trait Model: Send + Sync {
    /// The model's name, as the server knows it.
    fn name(&self) -> &str;

    /// How it is to propose steps.
    fn dialect(&self) -> Dialect {
        Dialect::Json
    }

    /// Whether it is known to be a small model, which may repeat itself without end.
    fn is_small(&self) -> bool {
        false
    }

    /// Which system prompt suits it.
    fn prompt_size(&self) -> PromptSize {
        PromptSize::Full
    }

    /// Whether it is offered a tool for shell lines.
    fn offers_shell(&self) -> bool {
        false
    }

    /// The size of its context in tokens, if it is known.
    fn window(&self) -> Option<u64> {
        None
    }

    /// How much it can be told to reason; `None`: nothing is known of that, and any level may be
    /// asked for.
    fn effort_levels(&self) -> Option<Vec<Effort>> {
        Some(Vec::new())
    }

    /// The window that its server enforces, once it refused a request as too long.
    fn enforced_window(&self) -> Option<u64> {
        None
    }

    /// What its server says of it, once it was asked.
    fn facts(&self) -> Option<&ServerFacts> {
        None
    }

    /// The parameters that its server refused by name in this run.
    fn refused_params(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Asks its server, which may take its time or fail: then nothing more is known.
    fn learn(&self) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }

    /// Before a first request: waits a moment for what a near server says of it, so that nothing
    /// changes after that request.
    fn wait_for_facts(&self) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }

    /// Tools were tried, and work or not: known from now on, and to the next run.
    fn note_tools(&self, _works: bool) {}

    /// What it costs, as far as that is known.
    fn prices(&self) -> Option<Prices> {
        None
    }

    /// Whether it takes images, as far as that is known.
    fn takes_images(&self) -> bool {
        false
    }

    /// Whether it takes PDF documents.
    fn takes_documents(&self) -> bool {
        false
    }

    /// The host of its server, if that searches the web by itself.
    fn search_host(&self) -> Option<String> {
        None
    }

    /// Starts one call. Errors are items of the stream; after an error it ends.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>>;
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub messages: Vec<Message>,
    pub params: Params,
    /// The JSON Schema the answer should follow, sent if the server accepts one.
    pub schema: Option<Arc<Value>>,
    /// The tools the model may call in the wire format's own way; none in the JSON dialect.
    pub tools: Arc<[ToolSchema]>,
    /// How much the model should think; its own habit if not set.
    pub effort: Option<Effort>,
    /// Its server searches the web for the answer, where [`Model::search_host`] says it can.
    pub searches_web: bool,
    /// Names the conversation to servers that keep prompts for it.
    pub cache_key: Option<String>,
    /// The caller can take back what it showed, at [`Chunk::Restart`].
    pub restarts: bool,
    pub limits: ModelLimits,
}

impl Request {
    /// More tokens than it has, by its bytes.
    fn estimate_tokens(&self) -> u64 {
        let messages: usize = self.messages.iter().map(|message| message.len() + 32).sum();
        let tool = |tool: &ToolSchema| tool.description.len() + tool.parameters.to_string().len();
        let tools: usize = self.tools.iter().map(tool).sum();
        (messages + tools) as u64 / 3
    }
}

/// What is known of a model: its limits, in tokens, and whether it reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelLimits {
    /// The largest context it can have, the answer included.
    pub window: Option<u64>,
    /// The context it is loaded with, where another one means to load it again.
    pub loaded: Option<u64>,
    /// Its longest answer.
    pub output: Option<u64>,
    /// Whether it reasons.
    pub reasons: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    /// More of the answer.
    Text(String),
    /// More of the model's reasoning, if the server separates it.
    Thought(String),
    /// What the provider wants back with the reasoning or text before it, which is then complete;
    /// with an empty one if none is open (reasoning that is not shown).
    SealedText(Opaque),
    SealedThought(Opaque),
    /// A call of a tool is growing, and is so long by now.
    CallProgress {
        name: String,
        bytes: usize,
    },
    /// A page of the web that the answer is from: its title and address.
    Source(String),
    /// A call of a tool, complete.
    Call(ToolCall),
    /// The server wants the answer so far back, and goes on with it; [`Retry`] sends it.
    Paused,
    /// An event that could not be read was skipped here: what follows may lack a part.
    Gap,
    /// What the user should know of the request: a part of it that the server refused.
    Notice(LocalizedText),
    /// The call was repeated: what came before belongs to an answer that broke off, and is replaced
    /// by what follows. Only for a request that allows it.
    Restart,
    /// The call failed, and is repeated after a wait.
    Retrying {
        attempt: u32,
        of: u32,
        wait_ms: u64,
        why: LocalizedText,
    },
    Usage(Usage),
    /// The answer is complete, or was cut by the server.
    Finished(Option<Truncation>),
}
