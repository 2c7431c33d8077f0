//! How a question is answered, once for every frontend: a choice, which a lasting one has confirmed,
//! or a reason, or an edit; and then the verdict, which is a [`Decision`] and all that leaves it. A
//! frontend shows the question, and turns keys, lines and buttons into these answers.

use super::choices::QuestionChoice;
use super::{ChoicePick, PickEffect, QuestionKind, QuestionOffer, Severity};
use avocet_core::protocol::{ApprovalMode, Decision, PlanItem, Question, StepAction};

/// Where an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowStage {
    Choosing,
    /// The marked choice lasts: what it covers is shown, and it counts once it is chosen again.
    Confirming,
    /// The user writes a reason, or an answer in words.
    WritingReason,
    Editing,
    Decided,
}

/// How a choice was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// With Enter on the marked one, or with a button that names it.
    Confirm,
    /// With exactly its letter.
    Letter,
    /// With its digit, a word, or its letter in the other case.
    Other,
}

/// How much of the question was on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    Part,
    /// The command or the diff.
    Required,
    All,
}

/// What comes of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowStep {
    Decided(Decision),
    /// It lasts, and is only marked so far.
    Confirm,
    WriteReason,
    Edit,
    DecideEach,
    /// High risk: one key less deliberate than its capital letter is not enough.
    NeedsCapital,
    /// Something that it would approve was not on the screen.
    Unseen {
        all: bool,
    },
}

#[derive(Clone, Debug)]
pub struct QuestionFlow {
    pub offer: QuestionOffer,
    stage: FlowStage,
    marked: usize,
}

impl QuestionFlow {
    pub fn new(question: &Question) -> QuestionFlow {
        let offer = QuestionOffer::new(question);
        // Where nothing can be chosen, the answer is written.
        let written = offer.kind == QuestionKind::Model && offer.answers.is_empty();
        let stage = if written { FlowStage::WritingReason } else { FlowStage::Choosing };
        let mut flow = QuestionFlow { offer, stage, marked: 0 };
        flow.reset();
        flow
    }

    /// Marks this choice until the user moves.
    #[must_use]
    pub fn with_marked(mut self, pick: ChoicePick) -> QuestionFlow {
        self.offer.marked = Some(pick);
        self.reset();
        self
    }

    pub fn stage(&self) -> FlowStage {
        self.stage
    }

    /// The choice that Enter confirms.
    pub fn marked(&self) -> Option<&QuestionChoice> {
        self.offer.rows().nth(self.marked)
    }

    pub fn is_first(&self) -> bool {
        self.marked == 0
    }

    pub fn is_last(&self) -> bool {
        self.marked + 1 >= self.rows()
    }

    fn rows(&self) -> usize {
        self.offer.rows().count()
    }

    pub fn mark(&mut self, pick: ChoicePick) {
        let at = self.offer.rows().position(|choice| choice.pick == pick);
        self.mark_row(at.unwrap_or(self.marked));
    }

    /// Marks a row; one beyond the last is the last.
    pub fn mark_row(&mut self, at: usize) {
        self.marked = at.min(self.rows().saturating_sub(1));
        if self.stage == FlowStage::Confirming {
            self.stage = FlowStage::Choosing;
        }
    }

    /// Marks the next row or the one before, around the ends.
    pub fn move_mark(&mut self, down: bool) {
        let rows = self.rows().max(1);
        self.mark_row((self.marked + if down { 1 } else { rows - 1 }) % rows);
    }

    /// Marks what was marked first.
    pub fn reset(&mut self) {
        let marked = self.offer.rows().position(|row| Some(row.pick) == self.offer.marked);
        self.mark_row(marked.unwrap_or(0));
    }

    /// Back to the choices, from a reason or an edit.
    pub fn back(&mut self) {
        self.stage = FlowStage::Choosing;
    }

    /// Whether a letter decides at once: what Enter would do, and what runs nothing.
    pub fn is_instant(&self, pick: ChoicePick) -> bool {
        use ChoicePick as Pick;
        self.offer.marked == Some(pick) || matches!(pick, Pick::Reject | Pick::Stop)
    }

    /// The user makes a choice.
    pub fn choose(&mut self, pick: ChoicePick, press: Press, seen: Seen) -> FlowStep {
        let again = self.stage == FlowStage::Confirming
            && self.marked().is_some_and(|marked| marked.pick == pick);
        if self.offer.is_lasting(pick) && !(again || press == Press::Confirm) {
            self.mark(pick);
            self.stage = FlowStage::Confirming;
            return FlowStep::Confirm;
        }
        if needs_all(pick) && seen < Seen::All {
            return FlowStep::Unseen { all: true };
        }
        if self.needs_sight(pick) && seen < Seen::Required {
            return FlowStep::Unseen { all: false };
        }
        let effect = self.offer.effect(pick);
        if self.needs_capital(&effect) && press != Press::Letter {
            return FlowStep::NeedsCapital;
        }
        let (stage, step) = match effect {
            PickEffect::WriteReason => (FlowStage::WritingReason, FlowStep::WriteReason),
            PickEffect::Edit => (FlowStage::Editing, FlowStep::Edit),
            PickEffect::DecideEach => (FlowStage::Choosing, FlowStep::DecideEach),
            PickEffect::Decide(decision) => (FlowStage::Decided, FlowStep::Decided(decision)),
        };
        self.stage = stage;
        step
    }

    fn needs_capital(&self, effect: &PickEffect) -> bool {
        let approves = matches!(effect, PickEffect::Decide(Decision::Approve));
        self.offer.severity == Severity::HighRisk && approves
    }

    /// Whether what it approves must have been on the screen. A plan is carried out step by step,
    /// and each of them asks.
    fn needs_sight(&self, pick: ChoicePick) -> bool {
        use ChoicePick as Pick;
        let approves = [
            Pick::Run,
            Pick::All,
            Pick::AcceptEdits,
            Pick::Session,
            Pick::Project,
            Pick::Trust,
            Pick::TrustAbove,
            Pick::WithoutSandbox,
        ];
        self.offer.kind != QuestionKind::Plan && approves.contains(&pick)
    }

    /// The reason or the answer that the user wrote.
    pub fn write(&mut self, text: &str) -> Decision {
        let text = text.trim();
        self.stage = FlowStage::Decided;
        match self.offer.kind {
            QuestionKind::Plan | QuestionKind::Model if !text.is_empty() => {
                Decision::Answer { text: text.to_owned() }
            }
            _ => Decision::Reject { word: Some(text.to_owned()).filter(|word| !word.is_empty()) },
        }
    }

    /// The step as the user edited it, once it was assessed.
    pub fn edit(&mut self, action: StepAction) -> Decision {
        self.stage = FlowStage::Decided;
        Decision::Edit(action)
    }

    /// The plan as the user edited it.
    pub fn edit_plan(&mut self, text: &str) -> Decision {
        self.stage = FlowStage::Decided;
        let items = Some(PlanItem::parse_lines(text));
        Decision::AcceptPlan { mode: ApprovalMode::Ask, items }
    }

    /// A verdict was given.
    pub fn close(&mut self) {
        self.stage = FlowStage::Decided;
    }

    /// Leaves the question: nothing changes.
    pub fn dismiss(&mut self) -> Decision {
        self.stage = FlowStage::Decided;
        self.offer.dismissal()
    }
}

fn needs_all(pick: ChoicePick) -> bool {
    use ChoicePick as Pick;
    matches!(pick, Pick::All | Pick::Each | Pick::TrustAbove | Pick::TrustFirst)
}
