//! Shows a question as numbered lines, and reads the lines that answer it.

use crate::cli::shell_approval::normalize_width;
use avocet_core::i18n::{Lang, LocalizedText, linear as w, prompt as p};
use avocet_core::protocol::{
    Ask, AskId, Change, Decision, FormField, Question, Risk, StepAction, StepQuestion,
    TemplateCommand, Tier,
};
use avocet_present::question_lines::{
    command_line, diff_lines, full_step, pick_label, question_lines, reason_line, risk_phrase,
};
use avocet_present::{ChoicePick, PickEffect, QuestionKind, QuestionOffer, Severity, YES};
use avocet_safety::editable::{self, EditableForm};

#[derive(Debug)]
pub struct PlainQuestion {
    ask: Ask,
    offer: QuestionOffer,
    stage: AnswerStage,
    lang: Lang,
}

/// What the next line is read as.
#[derive(Debug)]
enum AnswerStage {
    /// The number of a choice.
    Choosing,
    /// A message to the model.
    WritingReason,
    /// The changed step to run instead.
    Changing,
    /// A changed step that waits for its verdict.
    AwaitingVerdict(StepAction),
    /// A yes or no to a changed step that has its verdict.
    ConfirmingChange { work: StepAction, grave: bool },
    /// The word that confirms remembering or trusting.
    Confirming(ChoicePick),
    /// A yes or no to one of the shell commands; `run`: the ids of the approved ones before it.
    DecidingCommand { at: usize, run: Vec<String> },
    /// The values of a form, so far.
    Filling(Vec<String>),
}

/// The result of reading a line.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedLine {
    Decided(Decision),
    /// Not an answer: show this message and ask again.
    AskAgain(LocalizedText),
    /// Not an answer: show all of these lines and ask again.
    Lines(Vec<LocalizedText>),
    /// A changed step that needs a verdict before it can be approved.
    PreviewRisk(StepAction),
    /// A slash command: not an answer, but the user may want it now.
    Command,
}

impl PlainQuestion {
    pub fn new(ask: Ask, lang: Lang) -> PlainQuestion {
        let mut offer = QuestionOffer::new(&ask.question);
        // A line of text cannot show every step so that it could be typed again.
        let editable = match &ask.question {
            Question::Step(StepQuestion { step, .. }) => editable::to_line(&step.work).is_some(),
            _ => false,
        };
        offer.picks.retain(|pick| editable || *pick != ChoicePick::Edit);
        offer.picks.sort_by_key(|pick| match pick {
            ChoicePick::Edit => 1,
            ChoicePick::TrustFirst => 2,
            _ => 0,
        });
        let stage = match &ask.question {
            Question::Form { .. } => AnswerStage::Filling(Vec::new()),
            _ => AnswerStage::Choosing,
        };
        PlainQuestion { ask, offer, stage, lang }
    }

    pub fn id(&self) -> AskId {
        self.ask.id
    }

    /// The question, line by line.
    pub fn lines(&self) -> Vec<LocalizedText> {
        let question = &self.ask.question;
        if let Question::Choice { choices, free, .. } = question {
            return model_question_lines(question, choices, *free);
        }
        let mut says = question_lines(question);
        if let Question::Form { fields, .. } = question {
            says.push(w::HOW_FORM.into());
            says.extend(self.first_unfilled(fields).map(|field| field_prompt(field, self.lang)));
            return says;
        }
        for (at, pick) in self.offer.picks.iter().enumerate() {
            let label = LocalizedText::from(pick_label(self.offer.kind, *pick));
            says.push(w::CHOICE.with("n", at + 1).with("choice", label));
        }
        let how = match (self.is_high_risk(), self.is_trust()) {
            (true, _) => w::HOW_GRAVE,
            (false, true) => w::HOW_TRUST,
            (false, false) => w::HOW,
        };
        says.push(how.into());
        says
    }

    pub fn answer(&mut self, typed: &str) -> ParsedLine {
        let typed = typed.trim();
        match std::mem::replace(&mut self.stage, AnswerStage::Choosing) {
            AnswerStage::Choosing => {}
            AnswerStage::Filling(values) => return self.fill(values, typed),
            AnswerStage::WritingReason => {
                let word = Some(typed.to_owned()).filter(|word| !word.is_empty());
                return ParsedLine::Decided(Decision::Reject { word });
            }
            AnswerStage::DecidingCommand { at, run } => return self.decide_command(at, run, typed),
            AnswerStage::Confirming(pick) => return self.confirm_lasting(pick, typed),
            AnswerStage::Changing => return self.read_change(typed),
            AnswerStage::AwaitingVerdict(work) => {
                self.stage = AnswerStage::AwaitingVerdict(work);
                return ParsedLine::AskAgain(w::EDIT_WAIT.into());
            }
            AnswerStage::ConfirmingChange { work, grave } => {
                return self.confirm_change(work, grave, typed);
            }
        }
        if typed.starts_with('/') {
            return ParsedLine::Command;
        }
        if let Question::Choice { choices, free, .. } = &self.ask.question {
            return parse_choice(typed, choices, *free);
        }
        if typed.is_empty() && self.is_trust() {
            return ParsedLine::Decided(Decision::Dismiss);
        }
        if typed == YES && self.is_high_risk() {
            return ParsedLine::Decided(Decision::Approve);
        }
        match self.choice_by_number(typed) {
            Some(ChoicePick::Run) if self.is_high_risk() => {
                ParsedLine::AskAgain(w::NEEDS_YES.into())
            }
            Some(pick) if let Some(word) = confirmation_word(self.offer.kind, pick) => {
                self.stage = AnswerStage::Confirming(pick);
                ParsedLine::AskAgain(w::CONFIRM.with("word", word))
            }
            Some(pick) => self.apply(pick),
            None => ParsedLine::AskAgain(w::NO_CHOICE.into()),
        }
    }

    /// The field of the form that is asked for now.
    fn first_unfilled<'f>(&self, fields: &'f [FormField]) -> Option<&'f FormField> {
        match &self.stage {
            AnswerStage::Filling(values) => fields.get(values.len()),
            _ => fields.first(),
        }
    }

    /// Takes the value of the next field of a form; after the last one, the form is answered.
    fn fill(&mut self, mut values: Vec<String>, typed: &str) -> ParsedLine {
        let Question::Form { fields, .. } = &self.ask.question else {
            return ParsedLine::Lines(self.lines());
        };
        if typed.starts_with('/') {
            self.stage = AnswerStage::Filling(values);
            return ParsedLine::Command;
        }
        let parsed = fields.get(values.len()).map(|field| field.parse(typed, self.lang));
        let fault = match parsed {
            Some(Ok(value)) => {
                values.push(value);
                None
            }
            Some(Err(why)) => Some(why),
            None => None,
        };
        let next = fields.get(values.len()).map(|field| field_prompt(field, self.lang));
        match (fault, next) {
            (_, None) => ParsedLine::Decided(Decision::Fill { values }),
            (fault, Some(next)) => {
                self.stage = AnswerStage::Filling(values);
                ParsedLine::Lines(fault.into_iter().chain([next]).collect())
            }
        }
    }

    pub fn is_trust(&self) -> bool {
        matches!(self.ask.question, Question::Trust { .. })
    }

    fn apply(&mut self, pick: ChoicePick) -> ParsedLine {
        match self.offer.effect(pick) {
            PickEffect::Decide(decision) => ParsedLine::Decided(decision),
            PickEffect::DecideEach => self.ask_next_command(0, Vec::new()),
            PickEffect::Edit => self.start_change(),
            PickEffect::WriteReason => {
                self.stage = AnswerStage::WritingReason;
                ParsedLine::AskAgain(w::WORD.into())
            }
        }
    }

    /// Any other text goes back to the choices.
    fn confirm_lasting(&mut self, pick: ChoicePick, typed: &str) -> ParsedLine {
        let word = confirmation_word(self.offer.kind, pick);
        if word.is_some_and(|word| normalize_width(typed).eq_ignore_ascii_case(word)) {
            self.apply(pick)
        } else {
            ParsedLine::Lines(self.lines())
        }
    }

    fn step_action(&self) -> Option<&StepAction> {
        match &self.ask.question {
            Question::Step(StepQuestion { step, .. }) => Some(&step.work),
            Question::Choice { .. }
            | Question::Form { .. }
            | Question::Plan { .. }
            | Question::ScriptCall { .. }
            | Question::Pieces { .. }
            | Question::Pause { .. }
            | Question::Trust { .. } => None,
        }
    }

    /// Shows the step as a line that the user can type again, changed.
    fn start_change(&mut self) -> ParsedLine {
        let Some((work, line)) =
            self.step_action().and_then(|work| Some((work, editable::to_line(work)?)))
        else {
            return ParsedLine::AskAgain(w::NO_CHOICE.into());
        };
        let how = match work {
            StepAction::Exec { .. } => w::EDIT_HOW,
            StepAction::Shell { .. } => w::EDIT_HOW_SHELL,
            StepAction::Tool { .. } => w::EDIT_HOW_TOOL,
        };
        let line = w::EDIT_NOW.with("line", line);
        self.stage = AnswerStage::Changing;
        ParsedLine::Lines(vec![line, how.into()])
    }

    /// Reads the typed step; an empty line, or the same step, goes back.
    fn read_change(&mut self, typed: &str) -> ParsedLine {
        let Some(work) = self.step_action() else { return ParsedLine::Lines(self.lines()) };
        if typed.is_empty() {
            return ParsedLine::Lines(self.lines());
        }
        match EditableForm::from_action(work).parse(typed) {
            Ok(now) if now == *work => ParsedLine::Lines(self.lines()),
            Ok(now) => {
                self.stage = AnswerStage::AwaitingVerdict(now.clone());
                ParsedLine::PreviewRisk(now)
            }
            Err(why) => {
                self.stage = AnswerStage::Changing;
                ParsedLine::AskAgain(why)
            }
        }
    }

    /// The verdict on a changed step; nothing if no question waits for it.
    pub fn on_verdict(
        &mut self,
        work: &StepAction,
        risk: &Risk,
        change: Option<&Change>,
    ) -> Vec<LocalizedText> {
        if !matches!(&self.stage, AnswerStage::AwaitingVerdict(waits) if waits == work) {
            return Vec::new();
        }
        let tier = LocalizedText::from(risk_phrase(risk));
        let step = w::EDITED.with("tier", tier).with("step", full_step(work));
        let mut says = vec![step];
        if let Some(change) = change {
            says.extend(diff_lines(work.tool(), change));
        }
        says.extend(risk.reasons.iter().map(reason_line));
        let (doing, how) = match (risk.tier, risk.is_high_risk()) {
            (Tier::L2, _) => (AnswerStage::Changing, w::EDIT_REFUSED),
            (_, grave) => {
                let how = if grave { w::EDIT_RUN_GRAVE } else { w::EDIT_RUN };
                (AnswerStage::ConfirmingChange { work: work.clone(), grave }, how)
            }
        };
        self.stage = doing;
        says.push(how.into());
        says
    }

    fn confirm_change(&mut self, work: StepAction, grave: bool, typed: &str) -> ParsedLine {
        match (parse_number(typed), grave) {
            (Some(1), _) => ParsedLine::Lines(self.lines()),
            (Some(2), false) => ParsedLine::Decided(Decision::Edit(work)),
            _ if grave && typed == YES => ParsedLine::Decided(Decision::Edit(work)),
            _ => {
                self.stage = AnswerStage::ConfirmingChange { work, grave };
                ParsedLine::AskAgain(if grave { w::NEEDS_YES } else { w::NO_CHOICE }.into())
            }
        }
    }

    fn template_commands(&self) -> &[TemplateCommand] {
        match &self.ask.question {
            Question::Pieces { pieces, .. } => pieces,
            Question::Step { .. }
            | Question::Choice { .. }
            | Question::Form { .. }
            | Question::Plan { .. }
            | Question::ScriptCall { .. }
            | Question::Pause { .. }
            | Question::Trust { .. } => &[],
        }
    }

    /// Asks about a shell command; after the last one, the question is answered.
    fn ask_next_command(&mut self, at: usize, run: Vec<String>) -> ParsedLine {
        let Some(piece) = self.template_commands().get(at) else {
            return ParsedLine::Decided(if run.is_empty() {
                Decision::Reject { word: None }
            } else {
                Decision::ApproveAll { steps: run }
            });
        };
        let word = if piece.is_high_risk() { p::LINE_PIECE_GRAVE } else { p::LINE_PIECE_NOW };
        let say = command_line(word, at, piece);
        self.stage = AnswerStage::DecidingCommand { at, run };
        ParsedLine::AskAgain(say)
    }

    fn decide_command(&mut self, at: usize, mut run: Vec<String>, typed: &str) -> ParsedLine {
        let Some(piece) = self.template_commands().get(at) else {
            return self.ask_next_command(at, run);
        };
        let usual = parse_number(typed) == Some(2);
        if Severity::of(&piece.risk).is_confirmed(typed, usual) {
            run.push(piece.id.clone());
        } else if parse_number(typed) != Some(1) {
            let say = if piece.is_high_risk() { w::NEEDS_YES } else { w::NO_CHOICE };
            self.stage = AnswerStage::DecidingCommand { at, run };
            return ParsedLine::AskAgain(say.into());
        }
        self.ask_next_command(at + 1, run)
    }

    /// The choice with this number.
    fn choice_by_number(&self, typed: &str) -> Option<ChoicePick> {
        self.offer.picks.get(parse_number(typed)?.checked_sub(1)?).copied()
    }

    fn is_high_risk(&self) -> bool {
        self.offer.severity == Severity::HighRisk
    }
}

/// The words that the user must type in full to remember and to trust.
const REMEMBER: &str = "REMEMBER";
const TRUST: &str = "TRUST";

/// Parses a number; digits of any width count.
fn parse_number(typed: &str) -> Option<usize> {
    normalize_width(typed).parse().ok()
}

/// The word that confirms a choice that lasts beyond this question: a mistyped number must not.
fn confirmation_word(kind: QuestionKind, pick: ChoicePick) -> Option<&'static str> {
    let word = match pick {
        // The mode is a part of the plan's answer.
        ChoicePick::AcceptEdits if kind == QuestionKind::Plan => return None,
        ChoicePick::AcceptEdits | ChoicePick::Session | ChoicePick::Project => REMEMBER,
        _ => TRUST,
    };
    pick.is_lasting().then_some(word)
}

/// What is asked for one value of a form.
fn field_prompt(field: &FormField, lang: Lang) -> LocalizedText {
    let line = field.line(lang);
    let line = match &field.fault {
        Some(why) => w::FIELD_FAULT.with("field", line).with("why", why.clone()),
        None => line,
    };
    match &field.default {
        Some(default) => w::FIELD_ASK_DEFAULT.with("field", line).with("default", default.as_str()),
        None => line,
    }
}

fn parse_choice(typed: &str, choices: &[String], free: bool) -> ParsedLine {
    let number = typed.parse::<usize>().ok();
    let picked = number.and_then(|n| n.checked_sub(1)).and_then(|at| choices.get(at));
    match (number, picked) {
        (Some(0), _) => ParsedLine::Decided(Decision::Reject { word: None }),
        (_, Some(text)) => ParsedLine::Decided(Decision::Answer { text: text.clone() }),
        (_, None) if free && !typed.is_empty() => {
            ParsedLine::Decided(Decision::Answer { text: typed.to_owned() })
        }
        (_, None) => ParsedLine::AskAgain(w::NO_CHOICE.into()),
    }
}

/// A question of the model, and how to answer it.
fn model_question_lines(question: &Question, choices: &[String], free: bool) -> Vec<LocalizedText> {
    let mut says = question_lines(question);
    for (at, choice) in choices.iter().enumerate() {
        says.push(w::CHOICE.with("n", at + 1).with("choice", choice.as_str()));
    }
    says.push(w::CHOICE.with("n", 0).with("choice", LocalizedText::from(w::NO_ANSWER)));
    says.push(if free { w::HOW_FREE } else { w::HOW }.into());
    says
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::FormFieldKind;

    #[test]
    fn a_form_is_asked_line_by_line_and_a_wrong_line_again() {
        let field = |name: &str, kind, default: Option<&str>| FormField {
            name: name.to_owned(),
            about: String::new(),
            kind,
            choices: Vec::new(),
            default: default.map(str::to_owned),
            required: true,
            fault: None,
        };
        let fields = vec![
            field("who", FormFieldKind::Text, None),
            field("count", FormFieldKind::Number, None),
            field("place", FormFieldKind::Text, Some("home")),
        ];
        let question = Question::Form { script: "letter".to_owned(), fields };
        let mut asked = PlainQuestion::new(Ask { id: AskId(1), question }, Lang::En);
        let text = |says: &[LocalizedText]| {
            says.iter().map(|say| say.text(Lang::En)).collect::<Vec<_>>().join("\n")
        };
        assert!(text(&asked.lines()).ends_with("who (text)"), "{}", text(&asked.lines()));
        let mut says = |typed: &str| match asked.answer(typed) {
            ParsedLine::Lines(lines) => text(&lines),
            other => format!("{other:?}"),
        };
        assert_eq!(says(""), "An answer is required.\nwho (text)");
        assert_eq!(says("Ann"), "count (number)");
        assert_eq!(says("two"), "The answer must be a number.\ncount (number)");
        assert_eq!(says("/stop"), "Command");
        assert_eq!(says("2"), "place (text) [home]");
        let values = ["Ann", "2", "home"].map(str::to_owned).to_vec();
        assert_eq!(asked.answer(""), ParsedLine::Decided(Decision::Fill { values }));
    }
}
