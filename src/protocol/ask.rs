//! A question that holds the turn, and the decisions that answer it.

use serde::{Deserialize, Serialize};

use super::{Change, Risk, Step, Tier, Work};
use crate::words::Say;

/// Names one question; an answer to another one is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AskId(pub u64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub id: AskId,
    pub question: Question,
}

impl Ask {
    /// The question as it is kept: the changes it shows are cut as done ones are.
    pub fn kept(mut self) -> Ask {
        if let Question::Step { change, rest, .. } = &mut self.question {
            let ahead = rest.iter_mut().map(|step| &mut step.change);
            for change in std::iter::once(change).chain(ahead) {
                *change = change.take().map(Change::kept);
            }
        }
        self
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one a question, and boxed where it travels")]
pub enum Question {
    /// May this step run?
    Step {
        step: Step,
        risk: Risk,
        /// The absolute program that would run; `None` for tools.
        resolved: Option<String>,
        /// The absolute folder it would run in.
        cwd: String,
        /// The model's own words for why, and what it expects to come of it.
        why: String,
        expected: String,
        /// Which of the reply's steps this is, counted from 1, and how many there are.
        number: usize,
        of: usize,
        /// For a shell line: its simple commands, each with its own judgement.
        pieces: Vec<Piece>,
        /// The exact rule "don't ask again" would add; `None` where it is not offered.
        rule: Option<String>,
        /// What that rule would cover and what it would not, in sentences.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rule_covers: Vec<Say>,
        /// Trust in the folder, where the step would be judged otherwise with it;
        /// [`Decision::Trust`] gives it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trust: Option<Box<TrustOffer>>,
        /// What it does to a file; `None` where that is not known before.
        #[serde(default)]
        change: Option<Change>,
        /// The steps of the reply behind this one, in their order.
        #[serde(default)]
        rest: Vec<Ahead>,
    },
    /// The model asks the person something. A rejection leaves it without an answer.
    Choice {
        /// The step that asks.
        step: String,
        text: String,
        /// May be empty: then any words answer.
        choices: Vec<String>,
        /// Whether other words than the choices answer as well.
        free: bool,
    },
    /// May these shell pieces run? All pieces of one template at once. The answer is
    /// [`Decision::ApproveAll`] with the ids of those that may; a plain approval means
    /// those that are not grave, and without a yes to any nothing is sent.
    Pieces {
        /// What they stand in, as it was typed: `/commit-msg`.
        of: String,
        /// The absolute folder they would run in.
        cwd: String,
        pieces: Vec<ShellPiece>,
    },
    /// The turn paused by itself; shall it go on?
    Pause { why: Say },
    /// Is this folder trusted? A yes trusts it, a rejection leaves it as something to
    /// read, a stop leaves the program. [`Decision::ApproveAll`] with `above` trusts that
    /// folder too, and those in it. It belongs to no turn.
    Trust {
        /// Absolute.
        folder: String,
        /// The folder above; `None`: trust in it is not offered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<String>,
        /// Why it is asked now.
        because: Say,
        found: Vec<Lying>,
    },
}

/// Trust in a folder that a step waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustOffer {
    /// Absolute.
    pub folder: String,
    /// What makes trust in it a risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hazard: Option<Say>,
    #[serde(default)]
    pub found: Vec<Lying>,
}

/// A file that lies in a folder nobody trusts yet: named and measured, not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lying {
    /// As seen from the folder.
    pub name: String,
    pub bytes: u64,
    /// Whether it can steer what programs do.
    pub steers: bool,
}

/// A step that has not had its turn, as it is judged now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ahead {
    /// The step's own id.
    pub id: String,
    pub work: Work,
    pub risk: Risk,
    #[serde(default)]
    pub change: Option<Change>,
}

/// A shell piece of a template, with its arguments in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShellPiece {
    /// The id of its step.
    pub id: String,
    pub line: String,
    pub risk: Risk,
    /// Its simple commands, each with its own judgement.
    pub commands: Vec<Piece>,
}

impl ShellPiece {
    /// It needs a yes of its own: an L2, also one that settings lifted.
    pub fn is_grave(&self) -> bool {
        self.risk.tier == Tier::L2 || self.risk.lifted
    }
}

/// One simple command of a shell line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub text: String,
    pub risk: Risk,
}

/// How long an approval is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Session,
    Project,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run this once, or go on after a pause.
    Approve,
    /// Run this, and the listed ones of those behind it when their turn comes. Each is
    /// judged again then, and asked about if it became worse than it was shown. Of the
    /// pieces of a template: run exactly these.
    ApproveAll { steps: Vec<String> },
    /// Run it, and what its rule covers, without asking again.
    Remember(Scope),
    /// Trust the folder, then judge the step again: it runs, or is asked about without
    /// what the folder added. Only where the question offers it.
    Trust,
    /// Run this instead. It is judged again, and the model is told.
    Edit(Work),
    /// The answer to a [`Question::Choice`].
    Answer { text: String },
    /// Do not run it; the words, if any, go to the model.
    Reject { word: Option<String> },
    /// Leave it as it is: whether a folder is trusted does not change, and nothing is
    /// kept. To every other question it is a rejection.
    Dismiss,
    /// Do not run it, and end the turn.
    Stop,
}
