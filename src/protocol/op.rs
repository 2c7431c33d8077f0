//! What a surface wants of a session.

use serde::{Deserialize, Serialize};

use super::{AskId, Decision, Mention, Mode, Prompt, Work};
use crate::words::Lang;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// A message for the model: starts a turn, or waits in the queue while one runs.
    Submit {
        text: String,
    },
    /// A message that names files or holds shell pieces: those are looked at first, then
    /// it is sent as one.
    Prompt {
        prompt: Box<Prompt>,
    },
    /// Fills a prompt and tells its text; no model hears of it.
    Render {
        prompt: Box<Prompt>,
    },
    /// A line for the user's shell. `keep`: the output goes into the context as well.
    Shell {
        line: String,
        keep: bool,
    },
    /// What waits in the queue from now on, in order. It follows the next turn, and starts
    /// none by itself.
    SetQueue {
        texts: Vec<String>,
    },
    /// Starts what waits in the queue, when no turn runs.
    RunQueue,
    /// Takes the `at`-th message out of the queue, if it still waits there.
    Unqueue {
        at: usize,
        text: String,
    },
    Decide {
        ask: AskId,
        decision: Decision,
    },
    /// What would `work` be judged, in place of the step that `ask` holds?
    Judge {
        ask: AskId,
        work: Work,
    },
    /// Words for the running turn, heard at its next step; a message when none runs.
    Steer {
        text: String,
    },
    /// Asks the last message again; what was answered to it is forgotten.
    Retry,
    /// Puts files back as they were before the last so many turns that changed any.
    Undo {
        turns: usize,
    },
    /// Ends the running turn; does nothing when none runs.
    Stop,
    /// A fresh conversation; what was remembered for the session is kept.
    New,
    /// Does what a command or a skill that people keep says, by its name without the
    /// slash: its template is filled and sent.
    Invoke {
        name: String,
        args: String,
        /// Files the person named in the arguments.
        #[serde(default)]
        mentions: Vec<Mention>,
    },
    /// Runs a script as a turn of its own: its ID or path, and its arguments as they were
    /// typed.
    RunScript {
        script: String,
        args: String,
    },
    /// Another bot answers from the next turn on; `None`: none does.
    SetBot {
        name: Option<String>,
    },
    /// Looks whether what people keep has changed, and tells it.
    Look,
    SetModel {
        name: String,
    },
    SetMode {
        mode: Mode,
    },
    SetLang {
        lang: Lang,
    },
    /// Adds a rule (`git push *`) to what this session runs without asking.
    Allow {
        rule: String,
    },
    /// Adds a rule to what this session refuses.
    Deny {
        rule: String,
    },
    /// Asks once more whether this folder is trusted.
    Trust,
    /// Adds a folder to the session: it is read and changed as the session's own.
    AddFolder {
        path: String,
    },
    /// Takes a rule back, from this session and from what the folder remembers.
    Revoke {
        rule: String,
    },
    /// Writes the conversation to a file; `None`: a name is made.
    Export {
        format: ExportFormat,
        path: Option<String>,
    },
    /// Takes up a saved session, by its id or the start of one.
    Resume {
        session: String,
    },
    /// Lists the saved sessions, to choose from.
    Sessions,
    /// Lists the saved sessions as a page; with words, those in which they stand.
    Find {
        words: String,
    },
    /// Goes on in a copy of the session; the one it was stays as it is.
    Fork {
        name: Option<String>,
    },
    /// Gives the session a name.
    Rename {
        name: String,
    },
    /// Takes back what happened from the turn of this number on. Without `what`, the
    /// chat where no file was changed since; else `Event::RewindAsked` is the answer.
    Rewind {
        turn: u64,
        what: Option<Rewind>,
    },
    /// Sums up earlier turns now; the focus is what must be kept above all.
    Compress {
        focus: Option<String>,
    },
    /// Lets a part that is no longer sent go along again.
    Recall {
        id: String,
    },
    /// Collects something that needs a look at the world, then says it.
    Report {
        report: Report,
    },
    /// Ends the session after the running turn was cancelled.
    Shutdown,
}

/// What is taken back with a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rewind {
    /// All is as it was before the turn. It is offered first: who goes back means the
    /// moment, and a model that has forgotten its changes is misled by files that still
    /// hold them. What a person wrote since is asked about, file by file.
    Both,
    /// What was said; files stay as they are.
    Chat,
    /// What the model changed; what was said stays.
    Files,
}

impl Rewind {
    /// In the order they are offered.
    pub const ALL: [Rewind; 3] = [Rewind::Both, Rewind::Chat, Rewind::Files];

    pub fn name(self) -> &'static str {
        match self {
            Rewind::Both => "both",
            Rewind::Chat => "chat",
            Rewind::Files => "files",
        }
    }

    pub fn named(name: &str) -> Option<Rewind> {
        Rewind::ALL.into_iter().find(|what| what.name().eq_ignore_ascii_case(name))
    }
}

/// A saved session, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    pub id: String,
    pub title: String,
    pub folder: String,
    /// When it was last worked in, as a person reads it.
    pub when: String,
    /// The start of what was said last.
    pub preview: String,
    pub turns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    Md,
    Json,
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Doctor,
    /// The models the server offers.
    Models,
    /// How the bytes of the next request divide.
    Context,
    /// Tokens of each turn and of all.
    Usage,
    /// The files that steps of this session changed.
    Changes,
    /// The plugins of slothtool.
    Plugins,
}
