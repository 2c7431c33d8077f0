//! A question that blocks the turn, and the decisions that answer it.

use serde::{Deserialize, Serialize};

use super::{ApprovalMode, Change, Effect, FormField, PlanItem, Risk, Step, StepAction};
use crate::i18n::LocalizedText;

/// Identifies one question; an answer to another one is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AskId(pub u64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub id: AskId,
    pub question: Question,
}

impl Ask {
    /// The question in its stored form: its changes are cut like those of finished steps.
    pub fn into_stored(mut self) -> Ask {
        if let Question::Step(StepQuestion { change, rest, .. }) = &mut self.question {
            let ahead = rest.iter_mut().map(|step| &mut step.change);
            for change in std::iter::once(change).chain(ahead) {
                *change = change.take().map(Change::into_stored);
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
    Step(StepQuestion),
    /// The model, or a script, asks the user something. A rejection leaves it without an answer.
    Choice {
        /// The step that asks; empty for a script.
        step: String,
        /// The script that asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        script: Option<String>,
        text: String,
        /// May be empty: then any text is an answer.
        choices: Vec<String>,
        /// Whether a text other than the choices is accepted.
        free: bool,
        /// Avocet itself asks, and this choice counts where no user is there to answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fallback: Option<usize>,
    },
    /// A script asks for several values at once: [`Decision::Fill`] gives them. A rejection leaves
    /// them without a value.
    Form {
        /// The script that asks.
        script: String,
        fields: Vec<FormField>,
    },
    /// Shall this plan be carried out? [`Decision::AcceptPlan`] says how; an answer in words asks
    /// for another plan.
    Plan {
        /// The step that proposes it.
        step: String,
        items: Vec<PlanItem>,
    },
    /// May a script make this call, which its permissions leave to the user? A plain approval
    /// allows it.
    ScriptCall { text: String },
    /// May these shell pieces run? All pieces of one template together. The answer is
    /// [`Decision::ApproveAll`] with the ids of those that may; a plain approval means all but the
    /// high-risk ones, and if none is approved nothing is sent.
    Pieces {
        /// The command that contains them, as typed: `/commit-msg`.
        of: String,
        /// The absolute folder they would run in.
        cwd: String,
        pieces: Vec<TemplateCommand>,
    },
    /// The turn paused by itself; should it continue?
    Pause { why: LocalizedText },
    /// Is this folder trusted? An approval trusts it, a rejection leaves it untrusted, a stop exits
    /// the program, and [`Decision::TrustParent`] trusts `above` too, and the folders in it. The
    /// question does not belong to a turn.
    Trust {
        /// Absolute.
        folder: String,
        /// The parent folder; `None` if trust in it is not offered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<String>,
        /// Why the question is asked now.
        because: LocalizedText,
        found: Vec<UntrustedFile>,
    },
}

/// The question whether a step may run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepQuestion {
    pub step: Step,
    pub risk: Risk,
    /// The absolute program that would run; `None` for tools.
    pub resolved: Option<String>,
    /// The absolute folder it would run in.
    pub cwd: String,
    /// The model's own reason, and the result it expects.
    pub why: String,
    pub expected: String,
    /// The subagent that asks; `None`: the session's own turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The position of this step in the reply, counted from 1, and the number of steps.
    pub number: usize,
    pub of: usize,
    /// For a shell line: its simple commands, each with its own judgement.
    pub pieces: Vec<SubCommand>,
    /// The exact rule "don't ask again" would add; `None` if it is not offered.
    pub rule: Option<String>,
    /// The extent and the limits of that rule, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_covers: Vec<LocalizedText>,
    /// Trust in the folder, if the step would be judged differently with it;
    /// [`Decision::Trust`] gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Box<TrustOffer>>,
    /// Its change to a file; `None` if that is not known beforehand.
    #[serde(default)]
    pub change: Option<Change>,
    /// The later steps of the reply, in order.
    #[serde(default)]
    pub rest: Vec<RemainingStep>,
}

impl StepQuestion {
    /// The question about a single step, with nothing else to decide.
    pub fn new(step: Step, risk: Risk, cwd: impl Into<String>) -> StepQuestion {
        StepQuestion {
            step,
            risk,
            resolved: None,
            cwd: cwd.into(),
            why: String::new(),
            expected: String::new(),
            agent: None,
            number: 1,
            of: 1,
            pieces: Vec::new(),
            rule: None,
            rule_covers: Vec::new(),
            trust: None,
            change: None,
            rest: Vec::new(),
        }
    }
}

/// An offer to trust a folder, for a step that needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustOffer {
    /// Absolute.
    pub folder: String,
    /// The reason why trusting it is a risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hazard: Option<LocalizedText>,
    #[serde(default)]
    pub found: Vec<UntrustedFile>,
}

/// A file in an untrusted folder: its name and size, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntrustedFile {
    /// Relative to the folder.
    pub name: String,
    pub bytes: u64,
    /// Whether it can change the behaviour of programs.
    pub steers: bool,
}

/// A later step, as judged now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemainingStep {
    /// The step's own id.
    pub id: String,
    pub work: StepAction,
    pub risk: Risk,
    #[serde(default)]
    pub change: Option<Change>,
}

/// A shell piece of a template, with its arguments inserted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateCommand {
    /// The id of its step.
    pub id: String,
    pub line: String,
    pub risk: Risk,
    /// Its simple commands, each with its own judgement.
    pub commands: Vec<SubCommand>,
}

impl TemplateCommand {
    /// Needs its own approval: an L2, including one that settings lifted.
    pub fn is_high_risk(&self) -> bool {
        self.risk.is_high_risk()
    }

    /// Whether an approval given in advance covers it; `secrets`: also what may use credentials.
    pub fn can_preapprove(&self, secrets: bool) -> bool {
        self.risk.can_preapprove() && (secrets || !self.risk.effects.contains(&Effect::Secret))
    }
}

/// One simple command of a shell line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubCommand {
    pub text: String,
    pub risk: Risk,
}

/// How long an approval is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    Session,
    Project,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run this once, or go on after a pause.
    Approve,
    /// Run this, and the listed ones of the later steps when their turn comes. Each is judged again
    /// then, and asked about if the judgement became worse. For the pieces of a template: run
    /// exactly these. It opens no place outside that the question names; an option of the command
    /// line answers so, with no later steps.
    ApproveAll { steps: Vec<String> },
    /// Run it, and anything its rule covers, without asking again.
    Remember(ApprovalScope),
    /// Trust the folder, then judge the step again: it runs, or is asked about for the remaining
    /// reasons. Only if the question offers it.
    Trust,
    /// Trust the folder, its parent, and the folders in that.
    TrustParent,
    /// Asks whether a step that the sandbox denied something runs again without it. Only if the
    /// question offers it; nothing runs before that is answered, too.
    WithoutSandbox,
    /// Run this instead. It is judged again, and the model is told.
    Edit(StepAction),
    /// Carry the plan out in this mode, with these items if they were edited. For a change of a
    /// file: apply it, and go on in this mode.
    AcceptPlan {
        mode: ApprovalMode,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        items: Option<Vec<PlanItem>>,
    },
    /// One of the choices of a [`Question::Choice`], counted from 0.
    Choose { index: usize },
    /// An answer in the user's own words: to a [`Question::Choice`] that takes them, or to a plan.
    Answer { text: String },
    /// The values of a [`Question::Form`], one for each field in order.
    Fill { values: Vec<String> },
    /// Do not run it; the text, if any, goes to the model.
    Reject { word: Option<String> },
    /// No user can be asked, so it does not run. The text says how it would, and goes to the model.
    NotAsked { remedy: LocalizedText },
    /// Leave the state as it is: whether a folder is trusted does not change, and nothing is saved.
    /// For every other question it is a rejection.
    Dismiss,
    /// Do not run it, and end the turn.
    Stop,
}
