//! What becomes of a step that is still at work when its time is up: the user is asked once, and the
//! step runs on meanwhile.

use tokio::sync::OwnedSemaphorePermit;

use avocet_core::i18n::{Lang, Phrase, session as phrases};
use avocet_core::protocol::{AskId, Decision, Question, Step, StepAction};
use avocet_safety::redact::Redactor;
use avocet_tools::{LimitAnswer, TimeLimitReached};

/// An open question about a step.
pub struct LimitQuestion {
    pub ask: AskId,
    reached: TimeLimitReached,
    /// No other question is asked meanwhile.
    _asking: Option<OwnedSemaphorePermit>,
}

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitChoice {
    Background,
    Wait,
    Stop,
}

const CHOICES: [(LimitChoice, Phrase); 3] = [
    (LimitChoice::Background, phrases::LIMIT_BACKGROUND),
    (LimitChoice::Stop, phrases::LIMIT_STOP),
    (LimitChoice::Wait, phrases::LIMIT_WAIT),
];

impl LimitQuestion {
    pub fn new(
        ask: AskId,
        reached: TimeLimitReached,
        asking: Option<OwnedSemaphorePermit>,
    ) -> LimitQuestion {
        LimitQuestion { ask, reached, _asking: asking }
    }

    /// Where no user is there, a step of the model runs on, so that the model can read it and go on
    /// with other work. A line of the user's own has no one to read it later.
    pub fn question(
        reached: &TimeLimitReached,
        step: &Step,
        redactor: &Redactor,
        lang: Lang,
    ) -> Question {
        let line = redactor.mask(&step.work.short_line()).into_owned();
        let text = phrases::LIMIT_ASK.with("line", line).with("seconds", reached.seconds);
        let fallback = match step.work {
            StepAction::Shell { .. } => LimitChoice::Stop,
            StepAction::Exec { .. } | StepAction::Tool { .. } => LimitChoice::Background,
        };
        Question::Choice {
            step: step.id.clone(),
            script: None,
            text: text.text(lang),
            choices: CHOICES.iter().map(|(_, word)| word.text(lang).to_owned()).collect(),
            free: false,
            fallback: CHOICES.iter().position(|(choice, _)| *choice == fallback),
        }
    }

    /// A question that is put aside stops the step, as its time is up.
    pub fn choice(decision: &Decision) -> LimitChoice {
        let Decision::Choose { index } = decision else { return LimitChoice::Stop };
        CHOICES.get(*index).map_or(LimitChoice::Stop, |(choice, _)| *choice)
    }

    /// Passes the answer on to the step. Without one it is stopped.
    pub fn answer(self, answer: LimitAnswer) {
        let _ = self.reached.answer.send(answer);
    }
}
