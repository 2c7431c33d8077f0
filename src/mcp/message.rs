//! What the task of a server takes and what it sends: plain data. Every text in an event is cleaned
//! and within its limit.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use avocet_core::i18n::{Localize, LocalizedText, mcp as phrases};
use avocet_core::protocol::{FormField, Image, Message};

/// Names a request, chosen by the caller: unique among those that a server has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct McpCallId(pub u64);

/// Names a question of a server, unique as long as the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct McpQuestionId(pub u64);

/// What a server is asked to do. Each request with an id is answered by exactly one
/// [`McpEvent::Answered`], also if the server fails, is restarted or never answers.
#[derive(Clone, Debug, PartialEq)]
pub enum McpRequest {
    /// Calls a tool by the server's own name for it.
    Call {
        id: McpCallId,
        tool: String,
        input: Map<String, Value>,
    },
    Prompt {
        id: McpCallId,
        name: String,
        arguments: BTreeMap<String, String>,
    },
    Read {
        id: McpCallId,
        uri: String,
    },
    /// The values that an argument of a prompt may have.
    Complete {
        id: McpCallId,
        prompt: String,
        argument: String,
        typed: String,
    },
    /// Gives up a request. It is answered with [`McpError::Cancelled`].
    Cancel(McpCallId),
    /// The answer to a question: the values of its fields as texts, or `None` if the user declined.
    Answer {
        question: McpQuestionId,
        values: Option<BTreeMap<String, String>>,
    },
    /// The answer of the model to a request, or why there is none.
    AnswerSampling {
        question: McpQuestionId,
        answer: Result<SampledAnswer, String>,
    },
    /// The folders of the session changed.
    SetFolders(Vec<PathBuf>),
    /// Starts the server again, at once.
    Restart,
}

/// What happens at a server.
#[derive(Clone, Debug, PartialEq)]
pub enum McpEvent {
    Started(McpServerFacts),
    /// The lists of the server changed and were read again.
    Changed(McpServerFacts),
    /// The server did not start, or ended. It is started again after `retry_after`; `None` if it is
    /// left as it is until it is restarted.
    Failed {
        error: McpError,
        retry_after: Option<Duration>,
    },
    Progress {
        id: McpCallId,
        done: f64,
        total: Option<f64>,
        text: String,
    },
    Answered {
        id: McpCallId,
        result: Result<McpReply, McpError>,
    },
    Asked(McpQuestion),
    /// It asks the model, which the user allows it.
    Sampled(SamplingRequest),
    /// The question no longer needs an answer.
    Withdrawn(McpQuestionId),
    /// A line for the log.
    Logged(String),
}

/// What a server that runs says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpServerFacts {
    /// Its own name and version.
    pub title: String,
    /// The revision of the protocol that is spoken.
    pub revision: String,
    pub instructions: String,
    pub tools: Vec<ServerTool>,
    pub prompts: Vec<ServerPrompt>,
    pub resources: Vec<ServerResource>,
}

/// A tool as its server describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerTool {
    pub name: String,
    pub description: Arc<str>,
    /// A JSON schema of type `object` as text, which takes a tenth of what its values do: several
    /// hold it, and few read it.
    pub schema: Arc<str>,
    /// The server's own word that it changes nothing: fit to word a question, not to answer it.
    pub is_said_read_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerPrompt {
    pub name: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub description: String,
    pub is_required: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerResource {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub mime: String,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpReply {
    /// To a call, a prompt or a resource.
    Content(McpContent),
    /// To a completion.
    Values(Vec<String>),
}

/// What a tool, a prompt or a resource gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpContent {
    pub text: String,
    pub images: Vec<Image>,
    /// The tool itself says that it failed.
    pub is_error: bool,
    /// Bytes of text and images that were left out.
    pub omitted: usize,
}

/// What a server asks the user.
#[derive(Clone, Debug, PartialEq)]
pub struct McpQuestion {
    pub id: McpQuestionId,
    pub message: String,
    /// The values that it asks for; none if it asks for a yes.
    pub fields: Vec<FormField>,
    /// An address that the user is to visit instead.
    pub url: Option<String>,
}

/// What a server asks the model.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingRequest {
    pub id: McpQuestionId,
    pub messages: Vec<Message>,
    pub max_tokens: u32,
}

/// The model's answer to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledAnswer {
    /// The name of the model.
    pub model: String,
    pub text: String,
}

/// Why a server does not run, or a request of it failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.localized())]
pub enum McpError {
    /// The program could not be started, or the address not be reached.
    Unreachable {
        why: LocalizedText,
    },
    /// A variable that the definition needs.
    MissingVariable {
        name: String,
    },
    /// The server ended, or closed its connection; `last_line` is the last that it wrote.
    Ended {
        last_line: String,
    },
    /// It did not start, or answer, in time.
    StartTimeout {
        seconds: u64,
    },
    CallTimeout {
        seconds: u64,
    },
    /// It sent more than is read.
    Flooded {
        limit: u64,
    },
    /// It does not speak the protocol.
    NoProtocol {
        why: LocalizedText,
    },
    /// Its own error.
    Refused {
        why: String,
    },
    /// It wants the user to log in.
    LoginNeeded,
    LoginFailed {
        why: String,
    },
    NotRunning,
    /// What would run has changed since the user was asked about it.
    Changed {
        name: String,
    },
    Cancelled,
}

impl McpError {
    /// True if it may be gone when the server is started again.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            McpError::Unreachable { .. }
            | McpError::Ended { .. }
            | McpError::StartTimeout { .. }
            | McpError::CallTimeout { .. }
            | McpError::NotRunning
            | McpError::Cancelled => true,
            McpError::MissingVariable { .. }
            | McpError::Changed { .. }
            | McpError::Flooded { .. }
            | McpError::NoProtocol { .. }
            | McpError::Refused { .. }
            | McpError::LoginNeeded
            | McpError::LoginFailed { .. } => false,
        }
    }
}

impl Localize for McpError {
    fn localized(&self) -> LocalizedText {
        match self {
            McpError::Unreachable { why } => phrases::UNREACHABLE.with("why", why.clone()),
            McpError::MissingVariable { name } => {
                phrases::MISSING_VARIABLE.with("name", name.as_str())
            }
            McpError::Ended { last_line } if last_line.is_empty() => phrases::ENDED.into(),
            McpError::Ended { last_line } => phrases::ENDED_AFTER.with("line", last_line.as_str()),
            McpError::StartTimeout { seconds } => phrases::START_TIMEOUT.with("seconds", *seconds),
            McpError::CallTimeout { seconds } => phrases::CALL_TIMEOUT.with("seconds", *seconds),
            McpError::Flooded { limit } => {
                phrases::FLOODED.with("limit", avocet_core::text::size(*limit))
            }
            McpError::NoProtocol { why } => phrases::NO_PROTOCOL.with("why", why.clone()),
            McpError::Refused { why } => phrases::REFUSED.with("why", why.as_str()),
            McpError::LoginNeeded => phrases::LOGIN_NEEDED.into(),
            McpError::LoginFailed { why } => phrases::LOGIN_FAILED.with("why", why.as_str()),
            McpError::NotRunning => phrases::NOT_RUNNING.into(),
            McpError::Changed { name } => phrases::CHANGED.with("name", name.as_str()),
            McpError::Cancelled => phrases::CANCELLED.into(),
        }
    }
}
