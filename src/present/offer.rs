//! What a question offers: its choices in order, what each of them does, and which one a key, a digit
//! or a word chooses.

use super::choices::{ChoicePick, QuestionChoice, QuestionKind, Severity, normalize_width};
use avocet_core::i18n::{LocalizedText, Phrase};
use avocet_core::protocol::{
    ApprovalMode, ApprovalScope, Decision, Effect, Question, Risk, SandboxDenial, StepAction,
    StepQuestion,
};
use avocet_core::text::escape;

/// What a choice does.
#[derive(Clone, Debug, PartialEq)]
pub enum PickEffect {
    Decide(Decision),
    /// The user writes to the model why.
    WriteReason,
    Edit,
    DecideEach,
}

#[derive(Clone, Debug)]
pub struct QuestionOffer {
    pub kind: QuestionKind,
    pub severity: Severity,
    /// In the order of their rows.
    pub choices: Vec<QuestionChoice>,
    /// The texts of the answers that the model offers.
    pub answers: Vec<String>,
    /// What an approval of several includes besides the subject of the question.
    pub batch: Vec<String>,
    /// The number of questions that it answers, this one included.
    pub batch_questions: usize,
    /// The rule that a lasting approval adds.
    pub rule: Option<String>,
    /// The choice that Enter confirms until the user moves.
    pub marked: Option<ChoicePick>,
}

/// Reasons about the sandbox where nothing of the user's is opened: a program's own settings are
/// its own.
const KEPT: &[&str] = &["sandbox.work", "sandbox.network", "sandbox.homes"];

/// Whether an approval reaches nothing but the folder and what the step's own row opens: then the
/// usual answer is yes.
fn stays_inside(question: &StepQuestion) -> bool {
    let opens = |rule: &str| rule.starts_with("sandbox.") && !KEPT.contains(&rule);
    let mut rules = question.risk.reasons.iter().map(|reason| reason.rule.as_str());
    let confined = match question.change {
        // What could be remembered is an edit like any other; the rest steers programs or is
        // outside.
        Some(_) => question.rule.is_some(),
        None => rules.clone().any(|rule| rule == "sandbox.work"),
    };
    confined
        && question.risk.can_batch_approve()
        // What its own row sends leaves the machine; what it fetches does not.
        && !question.risk.effects.contains(&Effect::Send)
        && !question.risk.is_high_risk()
        && !question.risk.opens_sandbox()
        && !rules.any(opens)
}

impl QuestionOffer {
    pub fn new(question: &Question) -> QuestionOffer {
        use ChoicePick as Pick;
        let picks = match question {
            Question::Step(asked) => return QuestionOffer::of_step(asked),
            Question::Form { .. } => Vec::new(),
            Question::Choice { choices, free, .. } => {
                let answers = (0..choices.len()).map(Pick::Answer);
                let own = free.then_some(Pick::RejectWithReason);
                answers.chain(own).chain([Pick::Reject]).collect()
            }
            Question::Plan { .. } => vec![
                Pick::Continue,
                Pick::AcceptEdits,
                Pick::Edit,
                Pick::RejectWithReason,
                Pick::Reject,
            ],
            Question::ScriptCall { .. } => vec![Pick::Continue, Pick::Reject],
            Question::Pieces { pieces, .. } => {
                let mild = pieces.iter().any(|piece| !piece.risk.is_high_risk());
                let run = mild.then_some(Pick::Run);
                [Pick::Reject].into_iter().chain(run).chain([Pick::Each]).collect()
            }
            Question::Pause { .. } => vec![Pick::Stop, Pick::Continue],
            Question::Trust { above, .. } => {
                let above = above.is_some().then_some(Pick::TrustAbove);
                [Pick::Reject, Pick::Trust].into_iter().chain(above).chain([Pick::Stop]).collect()
            }
        };
        let kind = match question {
            Question::Choice { .. } | Question::Form { .. } | Question::Step(_) => {
                QuestionKind::Model
            }
            Question::Plan { .. } => QuestionKind::Plan,
            Question::ScriptCall { .. } => QuestionKind::Script,
            Question::Pieces { .. } => QuestionKind::Template,
            Question::Pause { .. } => QuestionKind::Pause,
            Question::Trust { .. } => QuestionKind::Trust,
        };
        let mut offer = QuestionOffer::with_picks(kind, Severity::Plain, &picks);
        if let Question::Choice { choices, .. } = question {
            offer.answers.clone_from(choices);
        }
        offer
    }

    /// The first of them is marked.
    fn with_picks(kind: QuestionKind, severity: Severity, picks: &[ChoicePick]) -> QuestionOffer {
        let choice = |pick: &ChoicePick| QuestionChoice::new(kind, severity, *pick);
        QuestionOffer {
            kind,
            severity,
            choices: picks.iter().map(choice).collect(),
            answers: Vec::new(),
            batch: Vec::new(),
            batch_questions: 1,
            rule: None,
            marked: picks.first().copied(),
        }
    }

    fn of_step(question: &StepQuestion) -> QuestionOffer {
        use ChoicePick as Pick;
        let StepQuestion { step, risk, rest, trust, change, .. } = question;
        let severity = Severity::of(risk);
        let rule = question.rule.clone().filter(|_| severity == Severity::Plain);
        let lasts = rule.is_some();
        let mut steps = std::iter::once(risk).chain(rest.iter().map(|step| &step.risk));
        let all = !rest.is_empty() && steps.all(Risk::can_batch_approve);
        let kind = match (&step.work, change) {
            (StepAction::Shell { .. }, _) => QuestionKind::Shell,
            _ if lasts && risk.rule == SandboxDenial::RULE => QuestionKind::Denied,
            (_, Some(_)) => QuestionKind::Change,
            _ if risk.runs_without_sandbox() => QuestionKind::Unconfined,
            _ => QuestionKind::Step,
        };
        let inside = stays_inside(question) && kind != QuestionKind::Denied;
        let shell = kind == QuestionKind::Shell;
        let denied = kind == QuestionKind::Denied;
        let rules = lasts && !shell && kind != QuestionKind::Change;
        // Each choice, and whether it is offered here.
        let choices = [
            (Pick::Run, true),
            (Pick::All, all && !shell && !denied),
            (Pick::AcceptEdits, lasts && kind == QuestionKind::Change),
            (Pick::Session, rules),
            (Pick::Project, rules && !denied),
            (Pick::TrustFirst, trust.is_some() && !shell && !denied),
            (Pick::WithoutSandbox, denied),
            // The user typed a shell line: the model does not get the reason.
            (Pick::RejectWithReason, !shell && !denied),
            // Where yes is usual, one row says no and takes words; Esc only says no.
            (Pick::Reject, !inside || shell),
            (Pick::Edit, true),
            (Pick::Stop, !shell),
        ];
        let offered = choices.into_iter().filter(|(_, offered)| *offered);
        let picks: Vec<_> = offered.map(|(pick, _)| pick).collect();
        let mut offer = QuestionOffer::with_picks(kind, severity, &picks);
        offer.marked = Some(if inside { Pick::Run } else { Pick::Reject });
        if !offer.offers(Pick::Reject) {
            let no = offer.choices.iter_mut().find(|row| row.pick == Pick::RejectWithReason);
            no.into_iter().for_each(|row| row.letter = 'n');
        }
        offer.batch = rest.iter().map(|step| step.id.clone()).collect();
        offer.batch_questions = (question.of + 1).saturating_sub(question.number);
        offer.rule = rule;
        offer
    }

    /// Whether the usual answer is yes, since what is approved stays inside the sandbox.
    pub fn is_usual(&self) -> bool {
        self.marked == Some(ChoicePick::Run)
    }

    /// Whether one mistyped key must not choose it. With a plan its mode is a part of the answer.
    pub fn is_lasting(&self, pick: ChoicePick) -> bool {
        pick.is_lasting() && self.kind != QuestionKind::Plan
    }

    pub fn effect(&self, pick: ChoicePick) -> PickEffect {
        PickEffect::Decide(match pick {
            ChoicePick::RejectWithReason => return PickEffect::WriteReason,
            ChoicePick::Edit => return PickEffect::Edit,
            ChoicePick::Each => return PickEffect::DecideEach,
            ChoicePick::Reject => Decision::Reject { word: None },
            ChoicePick::Stop => Decision::Stop,
            ChoicePick::Continue if self.kind == QuestionKind::Plan => {
                Decision::AcceptPlan { mode: ApprovalMode::Ask, items: None }
            }
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
            ChoicePick::Answer(index) if index < self.answers.len() => Decision::Choose { index },
            ChoicePick::Answer(_) => Decision::Reject { word: None },
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
            | QuestionKind::Script
            | QuestionKind::Model => Decision::Reject { word: None },
        }
    }

    pub fn choice(&self, pick: ChoicePick) -> Option<&QuestionChoice> {
        self.choices.iter().find(|choice| choice.pick == pick)
    }

    pub fn offers(&self, pick: ChoicePick) -> bool {
        self.choice(pick).is_some()
    }

    /// The choices with a row, which are numbered.
    pub fn rows(&self) -> impl Iterator<Item = &QuestionChoice> {
        self.choices.iter().filter(|choice| choice.has_row(self.kind))
    }

    /// What a choice is called here: its full label or its short one, with the rule and the number
    /// of questions that it answers.
    pub fn named(&self, choice: &QuestionChoice, phrase: Phrase) -> LocalizedText {
        if let ChoicePick::Answer(at) = choice.pick {
            let text = self.answers.get(at).map_or("", String::as_str);
            return phrase.with("line", escape(text).text);
        }
        let rule = self.rule.as_deref().unwrap_or_default();
        phrase.with("rule", escape(rule).text).with("n", self.batch_questions)
    }

    /// The choice of a typed letter or digit, and whether it is exactly that letter: a high-risk
    /// step takes only the capital one.
    pub fn by_key(&self, typed: char) -> Option<(QuestionChoice, bool)> {
        if let Some(digit) = typed.to_digit(10) {
            let at = usize::try_from(digit).ok()?.checked_sub(1)?;
            return self.rows().nth(at).map(|choice| (*choice, false));
        }
        let is_typed = |choice: &&QuestionChoice| choice.letter.eq_ignore_ascii_case(&typed);
        let is_why =
            |choice: &&QuestionChoice| choice.pick == ChoicePick::RejectWithReason && typed == 'w';
        let found = self.choices.iter().find(is_typed);
        let choice = found.or_else(|| self.choices.iter().find(is_why))?;
        Some((*choice, choice.letter == typed))
    }

    /// The choice of a typed line: a letter, a digit or a word. The model's own choices are chosen
    /// by number or by their text, so that every other line can be an answer.
    pub fn by_line(&self, line: &str) -> Option<QuestionChoice> {
        let typed = normalize_width(line).to_lowercase();
        if let Ok(number) = typed.parse::<usize>() {
            return self.rows().nth(number.checked_sub(1)?).copied();
        }
        if self.kind == QuestionKind::Model {
            let is_text = |text: &String| text.trim().to_lowercase() == typed;
            let at = self.answers.iter().position(is_text)?;
            return self.choice(ChoicePick::Answer(at)).copied();
        }
        let is_word = |choice: &&QuestionChoice| choice.words().contains(&typed.as_str());
        let mut letters = typed.chars();
        match (self.choices.iter().find(is_word), letters.next(), letters.next()) {
            (Some(choice), ..) => Some(*choice),
            (None, Some(letter), None) => self.by_key(letter).map(|(choice, _)| choice),
            (None, ..) => None,
        }
    }
}
