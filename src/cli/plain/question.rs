//! Shows a question as lines, and reads the lines that answer it.

use avocet_core::i18n::{Lang, LocalizedText, linear as w, prompt as p, screen};
use avocet_core::protocol::{
    Ask, AskId, Change, Decision, FormField, Question, Risk, StepAction, StepQuestion,
    TemplateCommand, Tier,
};
use avocet_present::choices::{is_no, is_yes, normalize_width};
use avocet_present::flow::{FlowStage, FlowStep, Press, QuestionFlow, Seen};
use avocet_present::question_lines::{
    command_line, diff_lines, full_step, question_lines, reason_line, risk_phrase, rule_summary,
    step_summary_lines,
};
use avocet_present::{ChoicePick, Severity, YES};
use avocet_safety::editable::{self, EditableForm};

#[derive(Debug)]
pub struct PlainQuestion {
    ask: Ask,
    flow: QuestionFlow,
    stage: AnswerStage,
    lang: Lang,
    /// No turn of the session waits for it.
    pub is_outside_turn: bool,
}

/// What the next line is read as.
#[derive(Debug)]
enum AnswerStage {
    /// An answer of the flow: a choice, its confirmation, or a message to the model.
    Choosing,
    /// The changed step to run instead.
    Changing,
    /// A changed step that waits for its verdict.
    AwaitingVerdict(StepAction),
    /// A yes or no to a changed step that has its verdict.
    ConfirmingChange { work: StepAction, grave: bool },
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
        let mut flow = QuestionFlow::new(&ask.question);
        // A line of text cannot show every step so that it could be typed again.
        let editable = match &ask.question {
            Question::Step(StepQuestion { step, .. }) => editable::to_line(&step.work).is_some(),
            _ => false,
        };
        flow.offer.choices.retain(|choice| editable || choice.pick != ChoicePick::Edit);
        let stage = match &ask.question {
            Question::Form { .. } => AnswerStage::Filling(Vec::new()),
            _ => AnswerStage::Choosing,
        };
        PlainQuestion { ask, flow, stage, lang, is_outside_turn: false }
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
        let mut says = match question {
            Question::Step(asked) => step_summary_lines(asked),
            _ => question_lines(question),
        };
        if let Question::Form { fields, .. } = question {
            says.push(w::HOW_FORM.into());
            says.extend(self.first_unfilled(fields).map(|field| field_prompt(field, self.lang)));
            return says;
        }
        says.extend(self.choice_lines());
        says
    }

    /// How it is answered: the words of a step in one line, else a numbered list.
    fn choice_lines(&self) -> Vec<LocalizedText> {
        let offer = &self.flow.offer;
        if !offer.kind.is_about_step() && !self.is_trust() {
            let mut texts: Vec<LocalizedText> = Vec::new();
            for (at, choice) in offer.rows().enumerate() {
                // One after the other: no line can mark them.
                let each = choice.pick == ChoicePick::Each;
                let label = if each { p::LINE_EACH } else { choice.label };
                let label = offer.named(choice, label);
                texts.push(w::CHOICE.with("n", at + 1).with("choice", label));
            }
            texts.push(w::HOW.into());
            return texts;
        }
        let grave = self.is_high_risk();
        let shown = offer.choices.iter().filter(|choice| !grave || choice.pick != ChoicePick::Run);
        let words = shown.filter_map(|choice| choice.bracketed(offer.kind));
        let has_details = !grave && !self.is_trust();
        let words = words.chain(has_details.then(|| w::WORD_DETAILS.into()));
        let words: Vec<String> = words.map(|word| word.text(self.lang)).collect();
        let line = w::ANSWERS.with("choices", words.join(screen::ASK_COMMA.text(self.lang)));
        let how = grave.then_some(w::HOW_GRAVE).or(self.is_trust().then_some(w::HOW_TRUST));
        std::iter::once(line).chain(how.map(LocalizedText::from)).collect()
    }

    pub fn answer(&mut self, typed: &str) -> ParsedLine {
        let typed = typed.trim();
        match std::mem::replace(&mut self.stage, AnswerStage::Choosing) {
            AnswerStage::Choosing => {}
            AnswerStage::Filling(values) => return self.fill(values, typed),
            AnswerStage::DecidingCommand { at, run } => return self.decide_command(at, run, typed),
            AnswerStage::Changing => return self.read_change(typed),
            AnswerStage::AwaitingVerdict(work) => {
                self.stage = AnswerStage::AwaitingVerdict(work);
                return ParsedLine::AskAgain(w::EDIT_WAIT.into());
            }
            AnswerStage::ConfirmingChange { work, grave } => {
                return self.confirm_change(work, grave, typed);
            }
        }
        let asks_freely = matches!(self.ask.question, Question::Choice { .. });
        match self.flow.stage() {
            FlowStage::WritingReason if !asks_freely => {
                return ParsedLine::Decided(self.flow.write(typed));
            }
            FlowStage::Confirming => return self.confirm_lasting(typed),
            _ => {}
        }
        if typed.starts_with('/') {
            return ParsedLine::Command;
        }
        if let Question::Choice { free, .. } = &self.ask.question {
            let free = *free;
            return self.answer_model(typed, free);
        }
        if typed.is_empty() && self.is_trust() {
            return ParsedLine::Decided(self.flow.dismiss());
        }
        if typed == YES && self.is_high_risk() {
            return self.apply(ChoicePick::Run, Press::Letter);
        }
        let is_details = ["d", "details", "详情"].contains(&normalize_width(typed).as_str());
        match self.flow.offer.by_line(typed) {
            Some(choice) => self.apply(choice.pick, Press::Other),
            None if is_details && self.step_action().is_some() => {
                let mut says = question_lines(&self.ask.question);
                says.extend(self.choice_lines());
                ParsedLine::Lines(says)
            }
            None => ParsedLine::AskAgain(w::NO_CHOICE.into()),
        }
    }

    /// The answer to a question of the model: one of its own by number or text, 0 for none, or any
    /// other text where it takes one.
    fn answer_model(&mut self, typed: &str, free: bool) -> ParsedLine {
        if parse_number(typed) == Some(0) {
            return ParsedLine::Decided(self.flow.dismiss());
        }
        match self.flow.offer.by_line(typed).map(|choice| choice.pick) {
            Some(pick @ ChoicePick::Answer(_)) => self.apply(pick, Press::Other),
            _ if free && !typed.is_empty() => ParsedLine::Decided(self.flow.write(typed)),
            _ => ParsedLine::AskAgain(w::NO_CHOICE.into()),
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

    fn apply(&mut self, pick: ChoicePick, press: Press) -> ParsedLine {
        match self.flow.choose(pick, press, Seen::All) {
            FlowStep::Decided(decision) => ParsedLine::Decided(decision),
            FlowStep::DecideEach => self.ask_next_command(0, Vec::new()),
            FlowStep::Edit => self.start_change(),
            FlowStep::WriteReason => ParsedLine::AskAgain(w::WORD.into()),
            FlowStep::NeedsCapital => ParsedLine::AskAgain(w::NEEDS_YES.into()),
            FlowStep::Confirm => {
                let mut says = Vec::new();
                if let Question::Step(StepQuestion {
                    rule: Some(rule), rule_covers, change, ..
                }) = &self.ask.question
                    && change.is_none()
                    && matches!(pick, ChoicePick::Session | ChoicePick::Project)
                {
                    says.push(w::RULE.with("rule", rule.as_str()));
                    let covers = rule_summary(rule_covers);
                    says.extend(covers.map(|say| w::RULE_COVERS.with("say", say.clone())));
                }
                says.push(w::CONFIRM.into());
                ParsedLine::Lines(says)
            }
            FlowStep::Unseen { .. } => ParsedLine::Lines(self.lines()),
        }
    }

    /// A lasting choice is confirmed by the same answer, or a yes; any other goes back.
    fn confirm_lasting(&mut self, typed: &str) -> ParsedLine {
        let marked = self.flow.marked().map(|choice| choice.pick);
        let again = self.flow.offer.by_line(typed).map(|choice| choice.pick);
        match marked.filter(|marked| Some(*marked) == again || is_yes(typed)) {
            Some(pick) => self.apply(pick, Press::Confirm),
            None => {
                self.flow.reset();
                ParsedLine::Lines(self.lines())
            }
        }
    }

    fn step_action(&self) -> Option<&StepAction> {
        match &self.ask.question {
            Question::Step(StepQuestion { step, .. }) => Some(&step.work),
            _ => None,
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
        let parsed = EditableForm::from_action(work).parse(typed);
        let is_same = parsed.as_ref().is_ok_and(|now| now == work);
        if typed.is_empty() || is_same {
            self.flow.back();
            return ParsedLine::Lines(self.lines());
        }
        match parsed {
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
        action: &StepAction,
        risk: &Risk,
        change: Option<&Change>,
    ) -> Vec<LocalizedText> {
        if !matches!(&self.stage, AnswerStage::AwaitingVerdict(waits) if waits == action) {
            return Vec::new();
        }
        let tier = LocalizedText::from(risk_phrase(risk));
        let step = w::EDITED.with("tier", tier).with("step", full_step(action));
        let mut says = vec![step];
        if let Some(change) = change {
            says.extend(diff_lines(change));
        }
        says.extend(risk.distinct_reasons().map(reason_line));
        let (doing, how) = match (risk.tier, risk.is_high_risk()) {
            (Tier::L2, _) => (AnswerStage::Changing, w::EDIT_REFUSED),
            (_, grave) => {
                let how = if grave { w::EDIT_RUN_GRAVE } else { w::EDIT_RUN };
                (AnswerStage::ConfirmingChange { work: action.clone(), grave }, how)
            }
        };
        self.stage = doing;
        says.push(how.into());
        says
    }

    fn confirm_change(&mut self, action: StepAction, grave: bool, typed: &str) -> ParsedLine {
        let severity = if grave { Severity::HighRisk } else { Severity::Plain };
        if severity.is_confirmed(typed, is_yes(typed)) {
            return ParsedLine::Decided(self.flow.edit(action));
        }
        if is_no(typed) {
            self.flow.back();
            return ParsedLine::Lines(self.lines());
        }
        self.stage = AnswerStage::ConfirmingChange { work: action, grave };
        ParsedLine::AskAgain(if grave { w::NEEDS_YES } else { w::NO_CHOICE }.into())
    }

    fn template_commands(&self) -> &[TemplateCommand] {
        match &self.ask.question {
            Question::Pieces { pieces, .. } => pieces,
            _ => &[],
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
        if Severity::of(&piece.risk).is_confirmed(typed, is_yes(typed)) {
            run.push(piece.id.clone());
        } else if !is_no(typed) {
            let say = if piece.is_high_risk() { w::NEEDS_YES } else { w::NO_CHOICE };
            self.stage = AnswerStage::DecidingCommand { at, run };
            return ParsedLine::AskAgain(say.into());
        }
        self.ask_next_command(at + 1, run)
    }

    fn is_high_risk(&self) -> bool {
        self.flow.offer.severity == Severity::HighRisk
    }
}

/// Parses a number; digits of any width count.
fn parse_number(typed: &str) -> Option<usize> {
    normalize_width(typed).parse().ok()
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
