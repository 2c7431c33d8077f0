//! What a session tells its surfaces.

use serde::{Deserialize, Deserializer, Serialize};

use super::{
    Ask, AskId, Attached, Catalogue, Change, Facts, Observation, Page, PlanItem, Receipt, Rewind,
    Risk, SessionRow, Step, Work,
};
use crate::words::{Say, session};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A turn began with these words.
    TurnStarted {
        turn: u64,
        text: String,
        origin: Origin,
    },
    /// What was put to the words of the turn that began.
    Attached {
        items: Vec<Attached>,
    },
    /// The answer to an `Op::Render`.
    Rendered {
        text: String,
    },
    /// The user's words reached the running turn.
    Steered {
        text: String,
    },
    /// The model is being called; a new reply begins.
    ReplyStarted,
    /// More of the growing `message`. Neighbours may be merged.
    Delta {
        text: String,
    },
    /// The model thinks aloud (reasoning text); shown dim, never kept as the answer.
    Thought {
        text: String,
    },
    /// A call failed and is tried again after a wait.
    Retrying {
        attempt: u32,
        of: u32,
        wait_ms: u64,
        why: Say,
    },
    /// The reply was no valid answer; it is thrown away and asked for once more.
    Repairing {
        fault: Say,
    },
    /// The reply is whole. `message` replaces what was streamed.
    Replied(Replied),
    /// A step was cleared and runs now.
    StepStarted {
        step: Step,
        risk: Risk,
    },
    /// More output of the running step, decoded, not cleaned.
    StepOutput {
        id: String,
        text: String,
    },
    /// What came of a step, also of one that did not run.
    Observed(Box<Observation>),
    Asked(Box<Ask>),
    /// The answer to `Op::Judge`, for exactly this work.
    Judged {
        ask: AskId,
        work: Work,
        risk: Risk,
        #[serde(default)]
        change: Option<Box<Change>>,
    },
    /// The question is settled or gone, by whatever way.
    Answered {
        ask: AskId,
    },
    /// What is to be done, in place of what was said before.
    Plan {
        items: Vec<PlanItem>,
    },
    /// A step needs the terminal itself. The surface that has one gives it over and then
    /// approves; one without rejects. It comes back with [`Event::Returned`].
    Lend {
        ask: AskId,
    },
    Returned,
    /// Files are as they were before these turns, beside what was told of each.
    Undone {
        turns: Vec<u64>,
        /// What had stayed of turns that were taken back, as [`Event::StillChanged`]
        /// numbers it.
        #[serde(default)]
        left: Vec<u64>,
    },
    /// The chat was taken back from a turn on, and these files hold still what was done to
    /// them since. It stands for all that was said so of that turn and of later ones.
    StillChanged {
        turn: u64,
        /// Without what the changes look like.
        files: Vec<Change>,
    },
    /// The user added a folder to the session, absolute with links resolved. It is kept and
    /// not shown.
    FolderAdded {
        path: String,
    },
    /// What waits in the queue now.
    Queued {
        texts: Vec<String>,
    },
    TurnEnded {
        turn: u64,
        #[serde(deserialize_with = "ending_of_any_version")]
        ending: Ending,
        usage: Usage,
        elapsed_ms: u64,
    },
    Facts(Box<Facts>),
    Notice(Notice),
    /// The answer to an `Op::Report`.
    Page(Box<Page>),
    /// The models that can be named to `/model`, best first.
    Models {
        names: Vec<String>,
    },
    /// What happened before all that was told so far: a session was taken up again.
    /// Pieces of a long one follow, each before the last.
    Earlier {
        events: Vec<Event>,
        /// When each of them happened, by the clock on the wall here: milliseconds since
        /// 1970. Empty where nobody knows.
        #[serde(default)]
        at: Vec<i64>,
        /// There is more, and it is on its way.
        more: bool,
    },
    /// Files were changed since that turn began: which part is to be taken back?
    RewindAsked {
        turn: u64,
        /// How many files.
        files: usize,
    },
    /// Turns were taken back, from `turn` on.
    Rewound {
        turn: u64,
        /// What that turn began with.
        text: String,
        what: Rewind,
    },
    /// The saved sessions, the latest first.
    Sessions {
        rows: Vec<SessionRow>,
    },
    /// Commands, skills and bots as they were read, and the answer to `Op::Look`.
    Catalogue(Box<Catalogue>),
    /// Earlier turns are being summed up.
    Compacting,
    /// The context was made smaller.
    Compacted(Box<Receipt>),
    /// The conversation was emptied.
    Cleared,
    /// The session is over; nothing follows.
    Closed,
}

/// Where the words of a turn came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Typed,
    Queue,
    /// `!cmd`: a shell line, no model.
    Shell,
    /// A slash command that takes steps, no model.
    Command,
}

/// A whole reply, as it is shown and kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Replied {
    pub message: String,
    /// `data.format` of a chat; false: show it as it is.
    pub markdown: bool,
    pub suggestions: Vec<String>,
    /// True for a reply of type `error`.
    pub error: bool,
    /// Set when the stream ended before the reply did.
    pub cut: Option<Cut>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    Cancelled,
    /// The connection broke or the server said an error half-way.
    Broken,
    /// The server's own limit of tokens.
    Length,
    /// The server filtered the answer.
    Filtered,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The model gave its answer.
    Done,
    /// The model answered with an error of its own.
    Error,
    Cancelled,
    /// The person stopped at a question.
    Stopped,
    /// The program ended while the turn ran.
    Interrupted,
    /// A limit was reached and nobody said to go on.
    Limit {
        why: Say,
    },
    /// A part of the message could not be made, so no model heard of it.
    Unsent {
        why: Say,
    },
    /// The model or its server failed.
    Failed {
        why: Say,
    },
}

/// Version 0.1 told an interrupted turn from a failed one by its sentence only.
fn ending_of_any_version<'de, D: Deserializer<'de>>(from: D) -> Result<Ending, D::Error> {
    Ok(match Ending::deserialize(from)? {
        Ending::Failed { why } if why.word() == session::INTERRUPTED => Ending::Interrupted,
        other => other,
    })
}

/// Counts as the server gave them, or estimated where it gave none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub estimated: bool,
}

impl Usage {
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            estimated: self.estimated || other.estimated,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// A sentence to the person that is no part of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub level: Level,
    pub say: Say,
    /// What to do about it.
    pub hint: Option<Say>,
    /// What it is about, for those who treat some notices differently.
    #[serde(default, skip_serializing_if = "Topic::is_general")]
    pub topic: Topic,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    #[default]
    General,
    /// A saved session was resumed.
    Resumed,
    /// The shell commands of a template were not allowed, so nothing was sent.
    PiecesDeclined,
}

impl Topic {
    fn is_general(&self) -> bool {
        *self == Topic::General
    }
}

impl Notice {
    pub fn info(say: impl Into<Say>) -> Notice {
        Notice { level: Level::Info, say: say.into(), hint: None, topic: Topic::General }
    }

    pub fn warning(say: impl Into<Say>) -> Notice {
        Notice { level: Level::Warning, say: say.into(), hint: None, topic: Topic::General }
    }

    pub fn error(say: impl Into<Say>) -> Notice {
        Notice { level: Level::Error, say: say.into(), hint: None, topic: Topic::General }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Say>) -> Notice {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn about(mut self, topic: Topic) -> Notice {
        self.topic = topic;
        self
    }
}
