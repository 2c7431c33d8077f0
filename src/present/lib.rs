//! What a question offers, decided once for every frontend: its choices in order, what each of them
//! does, and the care that an approval takes. A frontend shows them and reads keys or lines.

pub mod changes;
pub mod commands;
pub mod outcome;
pub mod question_lines;

use avocet_core::protocol::{
    ApprovalMode, ApprovalScope, Decision, Question, Risk, SandboxDenial, StepAction, StepQuestion,
};

/// The word that approves high risk where lines are typed, so that no habit approves it.
pub const YES: &str = "YES";

/// The possible answers of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoicePick {
    Reject,
    RejectWithReason,
    Stop,
    Edit,
    Run,
    /// Run this step and the ones after it.
    All,
    Session,
    Project,
    /// Trust the folder, then judge the step again.
    TrustFirst,
    Continue,
    /// Carry the plan out, or apply the change, and from then on change files without asking.
    AcceptEdits,
    Trust,
    /// Trust the folder above, too.
    TrustAbove,
    /// Decide about each command of a template.
    Each,
    /// Ask whether the step runs again without the sandbox.
    WithoutSandbox,
}

impl ChoicePick {
    /// It has effect beyond this question, so that one mistyped key must not choose it.
    pub fn is_lasting(self) -> bool {
        use ChoicePick as Pick;
        matches!(
            self,
            Pick::AcceptEdits
                | Pick::Session
                | Pick::Project
                | Pick::TrustFirst
                | Pick::Trust
                | Pick::TrustAbove
        )
    }
}

/// What a choice does.
#[derive(Clone, Debug, PartialEq)]
pub enum PickEffect {
    Decide(Decision),
    /// The user writes to the model why.
    WriteReason,
    Edit,
    DecideEach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    Step,
    /// A step whose change of a file is known.
    Change,
    /// A step that the sandbox denied something.
    Denied,
    /// A step that would run without the sandbox.
    Unconfined,
    Shell,
    Template,
    Pause,
    Trust,
    /// The model proposes a plan.
    Plan,
    /// The model asks; its own choices are in the question.
    Model,
}

/// The care that an approval takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Plain,
    /// Only the capital letter, or the word [`YES`], runs it.
    HighRisk,
}

impl Severity {
    pub fn of(risk: &Risk) -> Severity {
        if risk.is_high_risk() { Severity::HighRisk } else { Severity::Plain }
    }

    /// Whether a typed line approves; `usual`: it would where the risk is not high.
    pub fn is_confirmed(self, typed: &str, usual: bool) -> bool {
        match self {
            Severity::HighRisk => typed == YES,
            Severity::Plain => usual,
        }
    }
}

#[derive(Clone, Debug)]
pub struct QuestionOffer {
    pub kind: QuestionKind,
    pub severity: Severity,
    pub picks: Vec<ChoicePick>,
    /// What an approval of several includes besides the subject of the question.
    pub batch: Vec<String>,
    /// The rule that a lasting approval adds.
    pub rule: Option<String>,
    /// The choice that Enter confirms until the user moves.
    pub marked: Option<ChoicePick>,
}

/// The choices of a step that the model wants to run, and whether each is offered.
fn model_step_picks(
    kind: QuestionKind,
    all: bool,
    rule: bool,
    trust: bool,
) -> Vec<(ChoicePick, bool)> {
    use ChoicePick as Pick;
    let change = kind == QuestionKind::Change;
    vec![
        (Pick::Reject, true),
        (Pick::RejectWithReason, true),
        (Pick::Stop, true),
        (Pick::Edit, true),
        (Pick::Run, true),
        (Pick::All, all),
        (Pick::AcceptEdits, rule && change),
        (Pick::Session, rule && !change),
        (Pick::Project, rule && !change),
        (Pick::TrustFirst, trust),
    ]
}

/// Whether an approval reaches nothing but the folder and what the step's own row opens: then the
/// usual answer is yes.
fn stays_inside(asked: &StepQuestion) -> bool {
    let opens = |rule: &str| {
        rule.starts_with("sandbox.") && !["sandbox.work", "sandbox.network"].contains(&rule)
    };
    let mut rules = asked.risk.reasons.iter().map(|reason| reason.rule.as_str());
    let confined = match asked.change {
        // What could be remembered is an edit like any other; the rest steers programs or is
        // outside.
        Some(_) => asked.rule.is_some(),
        None => rules.clone().any(|rule| rule == "sandbox.work"),
    };
    confined
        && asked.risk.can_batch_approve()
        && !asked.risk.is_high_risk()
        && !asked.risk.opens_sandbox()
        && !rules.any(opens)
}

impl QuestionOffer {
    pub fn new(question: &Question) -> QuestionOffer {
        use ChoicePick as Pick;
        let mut severity = Severity::Plain;
        let (mut batch, mut offered_rule, mut inside) = (Vec::new(), None, false);
        // Each choice, and whether it is offered here.
        let (kind, choices) = match question {
            Question::Step(asked) => {
                let StepQuestion { step, risk, rule, rest, trust, change, .. } = asked;
                severity = Severity::of(risk);
                inside = stays_inside(asked);
                batch = rest.iter().map(|step| step.id.clone()).collect();
                offered_rule = rule.clone().filter(|_| severity == Severity::Plain);
                let rule = offered_rule.is_some();
                let mut steps = std::iter::once(risk).chain(rest.iter().map(|step| &step.risk));
                let all = !rest.is_empty() && steps.all(Risk::can_batch_approve);
                let denied = rule && risk.rule == SandboxDenial::RULE;
                match (&step.work, change) {
                    // The user typed it: the model does not get the reason.
                    (StepAction::Shell { .. }, _) => (
                        QuestionKind::Shell,
                        vec![(Pick::Reject, true), (Pick::Edit, true), (Pick::Run, true)],
                    ),
                    _ if denied => {
                        (QuestionKind::Denied, DENIED_PICKS.map(|pick| (pick, true)).to_vec())
                    }
                    (StepAction::Exec { .. } | StepAction::Tool { .. }, change) => {
                        let kind = match change {
                            Some(_) => QuestionKind::Change,
                            None if risk.runs_without_sandbox() => QuestionKind::Unconfined,
                            None => QuestionKind::Step,
                        };
                        (kind, model_step_picks(kind, all, rule, trust.is_some()))
                    }
                }
            }
            Question::Choice { .. } | Question::Form { .. } => (QuestionKind::Model, Vec::new()),
            Question::Plan { .. } => {
                let all = [Pick::Continue, Pick::AcceptEdits, Pick::RejectWithReason, Pick::Reject];
                (QuestionKind::Plan, all.map(|pick| (pick, true)).to_vec())
            }
            Question::ScriptCall { .. } => {
                (QuestionKind::Model, vec![(Pick::Continue, true), (Pick::Reject, true)])
            }
            Question::Pieces { pieces, .. } => {
                let mild = pieces.iter().any(|piece| !piece.risk.is_high_risk());
                let choices = vec![(Pick::Reject, true), (Pick::Run, mild), (Pick::Each, true)];
                (QuestionKind::Template, choices)
            }
            Question::Pause { .. } => {
                (QuestionKind::Pause, vec![(Pick::Stop, true), (Pick::Continue, true)])
            }
            Question::Trust { above, .. } => {
                let above = (Pick::TrustAbove, above.is_some());
                let choices =
                    vec![(Pick::Reject, true), (Pick::Trust, true), above, (Pick::Stop, true)];
                (QuestionKind::Trust, choices)
            }
        };
        let picks: Vec<_> =
            choices.into_iter().filter(|(_, offered)| *offered).map(|(pick, _)| pick).collect();
        let marked = if inside { Some(Pick::Run) } else { picks.first().copied() };
        QuestionOffer { kind, severity, picks, batch, rule: offered_rule, marked }
    }

    /// Whether the usual answer is yes, since what is approved stays inside the sandbox.
    pub fn is_usual(&self) -> bool {
        self.marked == Some(ChoicePick::Run)
    }

    pub fn effect(&self, pick: ChoicePick) -> PickEffect {
        PickEffect::Decide(match pick {
            ChoicePick::RejectWithReason => return PickEffect::WriteReason,
            ChoicePick::Edit => return PickEffect::Edit,
            ChoicePick::Each => return PickEffect::DecideEach,
            ChoicePick::Reject => Decision::Reject { word: None },
            ChoicePick::Stop => Decision::Stop,
            ChoicePick::Run | ChoicePick::Continue | ChoicePick::Trust => Decision::Approve,
            ChoicePick::AcceptEdits => {
                Decision::AcceptPlan { mode: ApprovalMode::Edits, items: None }
            }
            ChoicePick::All => Decision::ApproveAll { steps: self.batch.clone() },
            ChoicePick::TrustAbove => Decision::TrustParent,
            ChoicePick::Session => Decision::Remember(ApprovalScope::Session),
            ChoicePick::Project => Decision::Remember(ApprovalScope::Project),
            ChoicePick::TrustFirst => Decision::Trust,
            ChoicePick::WithoutSandbox => Decision::WithoutSandbox,
        })
    }

    /// The answer that changes nothing, for a user who leaves the question.
    pub fn dismissal(&self) -> Decision {
        match self.kind {
            QuestionKind::Pause => Decision::Stop,
            QuestionKind::Trust => Decision::Dismiss,
            QuestionKind::Step
            | QuestionKind::Change
            | QuestionKind::Denied
            | QuestionKind::Unconfined
            | QuestionKind::Shell
            | QuestionKind::Template
            | QuestionKind::Plan
            | QuestionKind::Model => Decision::Reject { word: None },
        }
    }
}

/// The choices for a step that the sandbox denied something.
const DENIED_PICKS: [ChoicePick; 6] = [
    ChoicePick::Reject,
    ChoicePick::Stop,
    ChoicePick::Edit,
    ChoicePick::Run,
    ChoicePick::Session,
    ChoicePick::WithoutSandbox,
];

#[cfg(test)]
mod tests;
