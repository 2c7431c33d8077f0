//! The events a session sends to its surfaces.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{
    ApprovalMode, ArgumentValues, Ask, AskId, AttachmentInfo, Change, Compaction, Extensions, Goal,
    Image, ModelOffer, Observation, Page, PlanItem, Question, QueuedMessage, Rewind, Risk,
    SessionInfo, SessionRow, SettingRow, Step, StepAction, SubagentInfo, SubmitId, Usage,
};
use crate::i18n::{LocalizedText, agents, session};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A turn began with this message.
    TurnStarted {
        turn: u64,
        text: String,
        origin: TurnOrigin,
        /// What began it; `None` if no frontend follows that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        submit: Option<SubmitId>,
    },
    /// No turn came of this submission: it was refused, or taken out of the queue. A notice before
    /// this says why, unless the user did it.
    Dropped {
        submit: SubmitId,
    },
    /// A file attached to the message of the turn that began.
    Attached {
        items: Vec<AttachmentInfo>,
        /// Those of them that are images, in order, for a screen that shows them. The conversation
        /// keeps them itself.
        #[serde(skip)]
        images: Vec<Arc<Image>>,
    },
    /// The answer to an `TurnOp::Render`.
    Rendered {
        text: String,
        /// The images of the files in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// The user's message reached the running turn.
    Steered {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        submit: Option<SubmitId>,
    },
    /// The model is being called; a new reply begins.
    ReplyStarted,
    /// More of the growing `message`. Adjacent deltas may be merged.
    Delta {
        text: String,
    },
    /// The model's reasoning text; shown dim, never stored as the answer.
    #[serde(rename = "thought")]
    ReasoningDelta {
        text: String,
    },
    /// A long call of a tool is growing.
    CallProgress {
        name: String,
        bytes: usize,
    },
    /// A message of a script's author, as it was sent to a model.
    ScriptMessage {
        role: String,
        text: String,
    },
    /// A call failed and is retried after a wait.
    Retrying {
        attempt: u32,
        of: u32,
        wait_ms: u64,
        why: LocalizedText,
    },
    /// The reply was invalid; it is discarded and requested once more.
    Repairing {
        fault: LocalizedText,
    },
    /// The reply is complete. `message` replaces the streamed text.
    Replied(ModelMessage),
    /// A step was cleared and is running.
    StepStarted {
        step: Step,
        risk: Risk,
    },
    /// More output of the running step, decoded, not cleaned.
    StepOutput {
        id: String,
        text: String,
    },
    /// The observation of a step, including one that did not run.
    #[serde(rename = "observed")]
    StepFinished(Box<Observation>),
    Asked(Box<Ask>),
    /// A subagent began to work on a task.
    SubagentStarted(Box<SubagentInfo>),
    /// What happened in the turn of a subagent; the last is how it ended. Its questions are asked
    /// like those of the session.
    Subagent {
        agent: String,
        /// The tokens that it has used so far.
        tokens: u64,
        happened: Box<Event>,
    },
    /// The answer to `Op::Judge`, for exactly this work.
    Judged {
        ask: AskId,
        work: StepAction,
        risk: Risk,
        #[serde(default)]
        change: Option<Box<Change>>,
    },
    /// The question was answered or withdrawn.
    #[serde(rename = "answered")]
    QuestionClosed {
        ask: AskId,
    },
    /// The plan, replacing the previous one.
    Plan {
        items: Vec<PlanItem>,
    },
    /// A step needs the terminal itself. A surface with a terminal releases it and then approves;
    /// one without rejects. The terminal is returned with [`Event::TerminalReturned`].
    #[serde(rename = "lend")]
    TerminalRequested {
        ask: AskId,
    },
    #[serde(rename = "returned")]
    TerminalReturned {
        /// The program failed: the user reads first what it left on the terminal.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
    /// Files were restored to their state before these turns. The observation of each file is sent
    /// separately.
    Undone {
        turns: Vec<u64>,
        /// Turns whose kept files (see [`Event::FilesKept`]) were undone as well.
        #[serde(default, rename = "left")]
        kept_files_of: Vec<u64>,
        /// Paths that could not be restored: their changes can still be undone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        except: Vec<String>,
    },
    /// The conversation was rewound to before `turn`, but these files keep their changes. Replaces
    /// earlier events of this kind for this and later turns.
    #[serde(rename = "still_changed")]
    FilesKept {
        turn: u64,
        /// Without diffs.
        files: Vec<Change>,
    },
    /// A program changed these files of the workspace; it is sent before the step's observation.
    FilesChanged {
        step: String,
        /// Without diffs.
        files: Vec<Change>,
        /// Changed files that cannot be restored.
        #[serde(default)]
        lost: usize,
    },
    /// The changes that were undone last were made again.
    Redone {
        /// Paths that could not be changed again: that can still be done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        except: Vec<String>,
    },
    /// The answer to `Report::Changes`: what the session changed and what is not committed, as far
    /// as it was not changed by the session. Not recorded.
    Changes {
        session: Vec<Change>,
        /// `None`: git could not be asked, or it failed.
        #[serde(default)]
        uncommitted: Option<Vec<Change>>,
    },
    /// The user added a folder to the session, absolute with links resolved. Stored but not shown.
    FolderAdded {
        path: String,
    },
    /// From now on the session is in this mode. Stored but not shown.
    ApprovalModeSet {
        mode: ApprovalMode,
    },
    /// The goal of the session, or that it has none any more. Stored but not shown.
    GoalSet {
        goal: Option<Box<Goal>>,
    },
    /// The current contents of the queue.
    Queued {
        messages: Vec<QueuedMessage>,
    },
    TurnEnded {
        turn: u64,
        #[serde(deserialize_with = "ending_of_any_version")]
        ending: TurnOutcome,
        usage: Usage,
        elapsed_ms: u64,
    },
    Facts(Box<SessionInfo>),
    Notice(Notice),
    /// The answer to an `SessionOp::Report`.
    Page(Box<Page>),
    /// The answer to a side question. Not recorded.
    SideAnswer(Box<Page>),
    /// The models that `/model` accepts, best first.
    Models {
        names: Vec<String>,
        /// The same, with what is known of each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offers: Vec<ModelOffer>,
    },
    /// All settings, and what became of the one that was changed.
    Settings {
        rows: Vec<SettingRow>,
        said: Option<Notice>,
    },
    /// Events from before all that were sent so far: a session was resumed. A long history follows
    /// in several chunks, each one earlier than the last.
    #[serde(rename = "earlier")]
    HistoryChunk {
        events: Vec<Event>,
        /// When each of them happened, by wall-clock time: milliseconds since 1970. Empty if
        /// unknown.
        #[serde(default)]
        at: Vec<i64>,
        /// Another chunk follows.
        more: bool,
    },
    /// Files were changed since that turn began: which part should be taken back?
    RewindAsked {
        turn: u64,
        /// Number of changed files.
        files: usize,
    },
    /// Turns were taken back, from `turn` on.
    Rewound {
        turn: u64,
        /// The message that began that turn.
        text: String,
        what: Rewind,
    },
    /// The saved sessions, the latest first.
    Sessions {
        rows: Vec<SessionRow>,
        /// Older ones that are not among them.
        #[serde(default)]
        more: usize,
    },
    /// Commands, skills and bots as loaded; also the answer to `ExtensionOp::RefreshExtensions`.
    Catalogue(Box<Extensions>),
    /// The answer to `ExtensionOp::CompleteArgument`; none if its server has none.
    ArgumentValues(Box<ArgumentValues>),
    /// Earlier turns are being summarised.
    Compacting,
    /// The context was compacted.
    Compacted(Box<Compaction>),
    /// The conversation was cleared.
    Cleared,
    /// The session has ended; no event follows.
    Closed,
}

// Compiled here once, not in each crate that saves, exports or prints an event.
impl Event {
    /// The event as JSON, in the form in which it is saved, exported and printed.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }

    /// Reads the text of a JSON object that `to_value` made.
    pub fn from_json(text: &str) -> serde_json::Result<Event> {
        serde_json::from_str(text)
    }

    /// The same, without saying that it happened in the turn of a subagent.
    pub fn of_any_agent(&self) -> &Event {
        match self {
            Event::Subagent { happened, .. } => happened,
            other => other,
        }
    }

    /// Whether the event is saved with its session. The rest is only shown, or is sent again.
    pub fn is_recorded(&self) -> bool {
        match self {
            Event::TurnStarted { .. }
            | Event::Attached { .. }
            | Event::Rendered { .. }
            | Event::Compacted(_)
            | Event::Plan { .. }
            | Event::Undone { .. }
            | Event::FilesKept { .. }
            | Event::FilesChanged { .. }
            | Event::Redone { .. }
            | Event::Steered { .. }
            | Event::ReplyStarted
            | Event::Delta { .. }
            | Event::ReasoningDelta { .. }
            | Event::Retrying { .. }
            | Event::Repairing { .. }
            | Event::Replied(_)
            | Event::StepStarted { .. }
            | Event::StepOutput { .. }
            | Event::StepFinished(_)
            | Event::TurnEnded { .. }
            | Event::FolderAdded { .. }
            | Event::ApprovalModeSet { .. }
            | Event::GoalSet { .. }
            | Event::SubagentStarted(_)
            | Event::Page(_) => true,
            Event::Subagent { happened, .. } => happened.is_recorded(),
            // It would appear once more with every start.
            Event::Notice(notice) => notice.topic != Topic::Resumed,
            Event::Asked(ask) => matches!(ask.question, Question::Step { .. }),
            _ => false,
        }
    }

    /// Whether the event is part of the conversation, for exports and for what is undone.
    pub fn is_transcript(&self) -> bool {
        matches!(
            self.of_any_agent(),
            Event::TurnStarted { .. }
                | Event::Steered { .. }
                | Event::Replied(_)
                | Event::StepFinished(_)
                | Event::Plan { .. }
                | Event::Undone { .. }
                | Event::FilesKept { .. }
                | Event::FilesChanged { .. }
                | Event::Redone { .. }
                | Event::Compacted(_)
                | Event::TurnEnded { .. }
        )
    }

    /// True for text that comes in many small deltas and may wait a moment.
    pub fn is_growing_text(&self) -> bool {
        matches!(
            self,
            Event::Delta { .. } | Event::ReasoningDelta { .. } | Event::StepOutput { .. }
        )
    }

    /// The approximate size of a transcript event, in bytes.
    pub fn weight(&self) -> usize {
        match self.of_any_agent() {
            Event::TurnStarted { text, .. } | Event::Steered { text, .. } => text.len(),
            Event::Replied(replied) => replied.message.len(),
            Event::StepFinished(seen) => {
                let diff = seen.change.as_ref().map_or(0, |change| change.diff.len());
                seen.stdout.len() + seen.stderr.len() + diff + 512
            }
            Event::Plan { items } => items.iter().map(|item| item.text.len() + 32).sum(),
            Event::FilesKept { files, .. } | Event::FilesChanged { files, .. } => files.len() * 256,
            _ => 64,
        }
    }
}

/// The source of a turn's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOrigin {
    Typed,
    Queue,
    /// `!cmd`: a shell line, no model.
    Shell,
    /// A slash command that runs steps, no model.
    Command,
}

impl TurnOutcome {
    /// Why the agent of this name has no result; `None`: it has one.
    pub fn agent_failure(&self, name: &str) -> Option<LocalizedText> {
        let why = match self {
            TurnOutcome::Done => return None,
            TurnOutcome::Cancelled | TurnOutcome::Stopped => agents::STOPPED.into(),
            TurnOutcome::Interrupted => agents::INTERRUPTED.into(),
            TurnOutcome::Error => agents::GAVE_UP.into(),
            TurnOutcome::Limit { why }
            | TurnOutcome::Failed { why }
            | TurnOutcome::Unsent { why } => agents::FAILED.with("why", why.clone()),
        };
        Some(why.with("name", name))
    }
}

/// A complete reply, as it is shown and stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelMessage {
    pub message: String,
    /// `data.format` of a chat; false: show it as it is.
    pub markdown: bool,
    pub suggestions: Vec<String>,
    /// True for a reply of type `error`.
    pub error: bool,
    /// Set if the stream ended before the reply did.
    pub cut: Option<Truncation>,
    /// What it cost, with replies before it that could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    Cancelled,
    /// The connection broke or the server reported an error midway.
    Broken,
    /// The server's own token limit.
    Length,
    /// The server filtered the answer.
    Filtered,
    /// The model repeated itself without end, and was stopped.
    Repeated,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model gave its answer.
    Done,
    /// The model answered with an error of its own.
    Error,
    Cancelled,
    /// The user stopped at a question.
    Stopped,
    /// The program ended while the turn ran.
    Interrupted,
    /// A limit was reached and the user did not continue.
    Limit {
        why: LocalizedText,
    },
    /// A part of the message could not be prepared, so it was not sent to a model.
    Unsent {
        why: LocalizedText,
    },
    /// The model or its server failed.
    Failed {
        why: LocalizedText,
    },
}

/// Version 0.1 distinguished an interrupted turn from a failed one only by its sentence.
fn ending_of_any_version<'de, D: Deserializer<'de>>(from: D) -> Result<TurnOutcome, D::Error> {
    Ok(match TurnOutcome::deserialize(from)? {
        TurnOutcome::Failed { why } if why.phrase() == session::INTERRUPTED => {
            TurnOutcome::Interrupted
        }
        other => other,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    Info,
    Warning,
    Error,
}

/// A sentence for the user that is not part of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub level: NoticeLevel,
    pub say: LocalizedText,
    /// What to do about it.
    pub hint: Option<LocalizedText>,
    /// The subject, for surfaces that treat some notices differently.
    #[serde(default, skip_serializing_if = "Topic::is_general")]
    pub topic: Topic,
}

/// The subject of a notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    #[default]
    General,
    /// A saved session was resumed.
    Resumed,
    /// Another process has the session, so nothing is added to it here.
    ReadOnly,
    /// The shell commands of a template were not allowed, so nothing was sent.
    PiecesDeclined,
    /// The conversation was not compressed, so no turn began.
    NotCompressed,
}

impl Topic {
    fn is_general(&self) -> bool {
        *self == Topic::General
    }
}

impl Notice {
    pub fn info(say: impl Into<LocalizedText>) -> Notice {
        Notice { level: NoticeLevel::Info, say: say.into(), hint: None, topic: Topic::General }
    }

    pub fn warning(say: impl Into<LocalizedText>) -> Notice {
        Notice { level: NoticeLevel::Warning, say: say.into(), hint: None, topic: Topic::General }
    }

    pub fn error(say: impl Into<LocalizedText>) -> Notice {
        Notice { level: NoticeLevel::Error, say: say.into(), hint: None, topic: Topic::General }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<LocalizedText>) -> Notice {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn with_topic(mut self, topic: Topic) -> Notice {
        self.topic = topic;
        self
    }
}
