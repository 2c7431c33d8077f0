//! A question of the session as a message with buttons: its text, its buttons bound by a nonce, and
//! what a press or a typed line means. Pure.

use super::platform::{Button, ButtonStyle, PlatformLimits, UserId};
use super::terminal_names::terminal_names;
use avocet_core::i18n::{Lang, LocalizedText, Phrase, chat as w, common, linear, screen};
use avocet_core::protocol::{
    Ask, AskId, Decision, Effect, FormField, Question, Risk, StepAction, StepQuestion,
};
use avocet_core::text::{cut, one_line};
use avocet_present::choices::QuestionChoice;
use avocet_present::flow::{FlowStep, Press, QuestionFlow, Seen};
use avocet_present::question_lines::{full_step, question_lines};
use avocet_present::{ChoicePick, Severity, YES};
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// A question that waits for an answer in a chat.
#[derive(Clone, Debug)]
pub struct ChatQuestion {
    ask: Ask,
    flow: QuestionFlow,
    nonce: String,
    /// Who may answer it, apart from admins: whose message the turn answers.
    asker: Option<UserId>,
    /// Its whole text was not shown: nothing but a refusal decides it.
    only_refusals: bool,
    /// How typed words reach the bot here.
    pub hearing_note: Option<Phrase>,
}

/// What a press or a typed line is to the question.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerOutcome {
    Decided(Decision),
    /// Only an admin may decide that.
    AdminOnly,
    /// The word must be typed, with the code of this question.
    WordNeeded,
    /// The whole question could not be shown, so it cannot be approved here.
    Unread,
    /// It does not answer this question.
    NotAnAnswer,
}

/// The parts of a button's data: which question, and which choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ButtonData<'a> {
    pub nonce: &'a str,
    pub choice: &'a str,
}

impl<'a> ButtonData<'a> {
    /// Reads what came back from a button; forged data has any form.
    pub fn parse(data: &'a str) -> Option<ButtonData<'a>> {
        let (nonce, choice) = data.strip_prefix("q.")?.split_once('.')?;
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (data.len() <= 64 && is_plain(nonce) && is_plain(choice))
            .then_some(ButtonData { nonce, choice })
    }
}

impl ChatQuestion {
    pub fn new(ask: Ask, nonce: String, asker: Option<UserId>) -> ChatQuestion {
        let flow = QuestionFlow::new(&ask.question);
        // What runs without the sandbox is approved at the terminal.
        let only_refusals =
            matches!(&ask.question, Question::Step(asked) if asked.risk.leaves_sandbox());
        ChatQuestion { ask, flow, nonce, asker, only_refusals, hearing_note: None }
    }

    /// Its whole text cannot be shown: from now on it can only be refused.
    pub fn refuse_only(&mut self) {
        self.only_refusals = true;
    }

    /// A text that was not shown is not approved.
    fn if_read(&self, answer: AnswerOutcome) -> AnswerOutcome {
        match answer {
            AnswerOutcome::Decided(
                Decision::Reject { .. } | Decision::Stop | Decision::Dismiss,
            )
            | AnswerOutcome::NotAnAnswer => answer,
            _ if self.only_refusals => AnswerOutcome::Unread,
            _ => answer,
        }
    }

    pub fn is_asker(&self, user: &UserId) -> bool {
        self.asker.as_ref() == Some(user)
    }

    /// Whether any words answer it, and these are none that it names.
    pub fn is_free_answer(&self, text: &str) -> bool {
        match &self.ask.question {
            Question::Choice { choices, .. } => {
                !choices.iter().any(|choice| choice.trim().eq_ignore_ascii_case(text.trim()))
            }
            Question::Plan { .. } | Question::Form { .. } => true,
            _ => false,
        }
    }

    pub fn id(&self) -> AskId {
        self.ask.id
    }

    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Whether this user may answer at all.
    pub fn may_answer(&self, user: &UserId, is_admin: bool) -> bool {
        is_admin || self.is_asker(user)
    }

    /// It is about what only an admin may approve.
    pub fn is_of_operator(&self) -> bool {
        is_of_operator(&self.ask.question)
    }

    pub fn is_high_risk(&self) -> bool {
        self.flow.offer.severity == Severity::HighRisk
    }

    /// The code that a typed approval of high risk ends with.
    pub fn code(&self) -> String {
        self.nonce.chars().take(4).collect()
    }

    /// The whole question as plain text, with nothing hidden in it.
    pub fn text(&self, lang: Lang) -> String {
        let mut lines = question_lines(&self.ask.question);
        lines.extend(self.answer_lines(lang));
        self.plain(&lines, lang)
    }

    /// How it is answered.
    fn answer_lines(&self, lang: Lang) -> Vec<LocalizedText> {
        let mut lines = self.typing_lines(lang);
        let note = self.hearing_note.filter(|_| !lines.is_empty());
        if is_of_operator(&self.ask.question) && !self.is_high_risk() {
            lines.push(w::ADMIN_DECIDES.into());
        }
        lines.extend(note.map(LocalizedText::from));
        lines
    }

    /// What is typed to answer it.
    fn typing_lines(&self, lang: Lang) -> Vec<LocalizedText> {
        match &self.ask.question {
            _ if self.is_high_risk() => {
                let word = format!("{YES} {}", self.code());
                vec![w::TYPE_WORD.with("word", word)]
            }
            Question::Choice { free: true, .. } | Question::Plan { .. } => {
                vec![w::TYPE_ANSWER.into()]
            }
            Question::Form { fields, .. } => {
                let line = |(at, field): (usize, &FormField)| {
                    let line = linear::CHOICE.with("n", at + 1).with("choice", field.line(lang));
                    match &field.fault {
                        Some(why) => {
                            linear::FIELD_FAULT.with("field", line).with("why", why.clone())
                        }
                        None => line,
                    }
                };
                let lines = fields.iter().enumerate().map(line);
                lines.chain((fields.len() > 1).then(|| w::TYPE_FORM.into())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn plain(&self, lines: &[LocalizedText], lang: Lang) -> String {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| clean(&line.text(lang), CarriageReturnMode::EndsLine))
            .collect();
        let text = lines.join("\n");
        // A command that looks different from what it is must not be approved.
        match self.command().filter(|command| !command.is_empty()) {
            Some(command) => {
                let rest = text.split(&command).map(|rest| terminal_names(rest, lang));
                rest.collect::<Vec<_>>().join(&show_quotes(&command))
            }
            None => terminal_names(&text, lang),
        }
    }

    /// What it asked, for its message once it is closed: all of it, if there is room.
    pub fn closed(&self, lang: Lang, limits: &PlatformLimits) -> String {
        let text = self.plain(&question_lines(&self.ask.question), lang);
        let fits = limits.unit.count(&text) <= room(limits);
        if fits { text } else { self.summary(lang) }
    }

    fn command(&self) -> Option<String> {
        match &self.ask.question {
            Question::Step(StepQuestion { step, .. })
                if !matches!(step.work, StepAction::Tool { .. }) =>
            {
                Some(clean(&full_step(&step.work), CarriageReturnMode::EndsLine))
            }
            _ => None,
        }
    }

    /// The message, and the whole text as a file if the message has not room for it.
    pub fn message(&self, lang: Lang, limits: &PlatformLimits) -> (String, Option<String>) {
        let text = self.text(lang);
        if limits.unit.count(&text) <= room(limits) {
            return (text, None);
        }
        (self.short(lang, limits, w::QUESTION_ATTACHED), Some(text))
    }

    /// The beginning of the question, and where the whole of it is.
    pub fn short(&self, lang: Lang, limits: &PlatformLimits, note: Phrase) -> String {
        let (text, note) = (self.text(lang), note.text(lang));
        let high = if self.is_high_risk() && !self.only_refusals {
            format!("\n{}", w::TYPE_WORD.with("word", format!("{YES} {}", self.code())).text(lang))
        } else {
            String::new()
        };
        let short: String = text.chars().take(room(limits).min(800) / 2).collect();
        format!("{}…\n\n{note}{high}", short.trim_end())
    }

    /// What runs if it is approved.
    fn subject(&self) -> Option<String> {
        let subject = match &self.ask.question {
            Question::Step(asked) => full_step(&asked.step.work),
            Question::Pieces { pieces, .. } => {
                let lines: Vec<&str> = pieces.iter().map(|piece| piece.line.as_str()).collect();
                lines.join("; ")
            }
            _ => return None,
        };
        Some(clean(&subject, CarriageReturnMode::EndsLine))
    }

    /// The subject or the first line.
    fn summary(&self, lang: Lang) -> String {
        let subject = self.subject().map(|subject| show_quotes(&subject));
        let first = || {
            let lines = question_lines(&self.ask.question);
            lines.first().map(|line| line.text(lang)).unwrap_or_default()
        };
        cut(&one_line(&clean(&subject.unwrap_or_else(first), CarriageReturnMode::EndsLine)), 300)
    }

    /// The buttons; what only an admin decides has one where `has_admin`.
    pub fn buttons(&self, lang: Lang, limits: &PlatformLimits, has_admin: bool) -> Vec<Button> {
        let mut buttons = self.all_buttons(lang, limits, has_admin);
        buttons.retain(|button| !self.only_refusals || button.style == ButtonStyle::Refuse);
        buttons
    }

    fn all_buttons(&self, lang: Lang, limits: &PlatformLimits, has_admin: bool) -> Vec<Button> {
        let button = |label: String, choice: &str, style| Button {
            label: cut(
                &one_line(&clean(&label, CarriageReturnMode::EndsLine)),
                limits.label.saturating_sub(1),
            ),
            data: format!("q.{}.{choice}", self.nonce),
            style,
        };
        let picks = self.picks().filter(|(pick, _)| has_admin || !self.is_for_admins(*pick));
        picks
            .map(|(pick, name)| {
                let style = match pick {
                    ChoicePick::Reject | ChoicePick::Stop => ButtonStyle::Refuse,
                    _ => ButtonStyle::Usual,
                };
                button(self.label(pick).text(lang), &name, style)
            })
            .collect()
    }

    fn label(&self, pick: ChoicePick) -> LocalizedText {
        let offer = &self.flow.offer;
        match (pick, offer.choice(pick)) {
            (ChoicePick::Session, _) => w::BUTTON_SESSION.into(),
            (ChoicePick::Project, _) => w::BUTTON_PROJECT.into(),
            (_, Some(choice)) => offer.named(choice, choice.label),
            (_, None) if matches!(self.ask.question, Question::Form { .. }) => {
                screen::CHOICE_NOTHING.into()
            }
            (_, None) => common::NO.into(),
        }
    }

    /// What holds for longer than this once is a setting, which admins change, and so is what
    /// reaches beyond the folder that the chat was given.
    fn is_for_admins(&self, pick: ChoicePick) -> bool {
        let approves = !matches!(pick, ChoicePick::Reject | ChoicePick::Stop);
        pick.is_lasting() || approves && is_of_operator(&self.ask.question)
    }

    /// The choices that have a button, in order, and their names in the data of a button. One
    /// always refuses.
    fn picks(&self) -> impl Iterator<Item = (ChoicePick, String)> {
        let offer = &self.flow.offer;
        let answers = (0..offer.answers.len().min(MAX_CHOICES))
            .map(|at| (ChoicePick::Answer(at), format!("c{at}")));
        let is_offered = |pick: ChoicePick| match pick {
            ChoicePick::Reject if offer.kind.is_about_step() || offer.choices.is_empty() => true,
            ChoicePick::Run => offer.offers(pick) && !self.is_high_risk(),
            _ => offer.offers(pick),
        };
        let named = BUTTONS.iter().filter(move |(pick, _)| is_offered(*pick));
        answers.chain(named.map(|(pick, name)| (*pick, (*name).to_owned())))
    }

    /// A button was pressed by a user who may answer.
    pub fn press(&self, choice: &str, is_admin: bool) -> AnswerOutcome {
        let picked = self.picks().find(|(_, name)| name == choice);
        self.if_read(match picked {
            Some((pick, _)) => self.pick(pick, is_admin),
            None => AnswerOutcome::NotAnAnswer,
        })
    }

    /// The button names what it does, so that it is a confirmed answer.
    fn pick(&self, pick: ChoicePick, is_admin: bool) -> AnswerOutcome {
        if self.is_for_admins(pick) && !is_admin {
            return AnswerOutcome::AdminOnly;
        }
        match self.flow.clone().choose(pick, Press::Confirm, Seen::All) {
            FlowStep::Decided(decision) => AnswerOutcome::Decided(decision),
            FlowStep::NeedsCapital => AnswerOutcome::WordNeeded,
            _ => AnswerOutcome::NotAnAnswer,
        }
    }

    /// `/approve` with its span, as the name of a choice: once, session, project.
    pub fn approve(&self, choice: &str, is_admin: bool) -> AnswerOutcome {
        let approving = ["once", "go"].contains(&choice);
        match (self.is_high_risk(), approving) {
            _ if self.only_refusals => AnswerOutcome::Unread,
            (true, _) => AnswerOutcome::WordNeeded,
            (false, true) => match self.press("once", is_admin) {
                AnswerOutcome::NotAnAnswer => self.press("go", is_admin),
                answer => answer,
            },
            (false, false) => self.press(choice, is_admin),
        }
    }

    /// `/deny`, with an optional text for the model.
    pub fn reject(&self, reason: Option<String>) -> Decision {
        match self.flow.offer.dismissal() {
            Decision::Reject { .. } => Decision::Reject { word: reason },
            other => other,
        }
    }

    /// A message while the question is open: the word for high risk, or the answer to the model.
    pub fn typed(&self, text: &str, is_admin: bool) -> AnswerOutcome {
        self.if_read(self.read(text, is_admin))
    }

    fn read(&self, text: &str, is_admin: bool) -> AnswerOutcome {
        let text = text.trim();
        if self.is_high_risk() {
            let mut words = text.split_whitespace();
            let code = self.code();
            return match (words.next(), words.next(), words.next()) {
                (Some(YES), Some(typed), None) if typed.eq_ignore_ascii_case(&code) => {
                    if is_admin {
                        AnswerOutcome::Decided(Decision::Approve)
                    } else {
                        AnswerOutcome::AdminOnly
                    }
                }
                (Some(yes), _, None) if yes.eq_ignore_ascii_case(YES) => AnswerOutcome::WordNeeded,
                _ => AnswerOutcome::NotAnAnswer,
            };
        }
        match &self.ask.question {
            Question::Choice { free, .. } => match self.flow.offer.by_line(text) {
                Some(QuestionChoice { pick: pick @ ChoicePick::Answer(_), .. })
                    if text.parse::<usize>().is_err() =>
                {
                    self.pick(pick, is_admin)
                }
                _ if *free && !text.is_empty() => {
                    AnswerOutcome::Decided(self.flow.clone().write(text))
                }
                _ => AnswerOutcome::NotAnAnswer,
            },
            Question::Form { fields, .. } => match form_values(fields, text) {
                Some(values) => AnswerOutcome::Decided(Decision::Fill { values }),
                None => AnswerOutcome::NotAnAnswer,
            },
            Question::Plan { .. } if !text.is_empty() => {
                AnswerOutcome::Decided(self.flow.clone().write(text))
            }
            _ => AnswerOutcome::NotAnAnswer,
        }
    }

    /// What became of the question, for its message.
    pub fn outcome(&self, decision: &Decision) -> LocalizedText {
        let answered = |text: &str| w::ANSWERED.with("text", cut(&one_line(text), 200));
        match decision {
            Decision::Approve | Decision::ApproveAll { .. } | Decision::AcceptPlan { .. } => {
                w::APPROVED.into()
            }
            Decision::Remember(_) => w::APPROVED_LASTING.into(),
            Decision::Answer { text } => answered(text),
            Decision::Choose { index } => {
                answered(self.flow.offer.answers.get(*index).map_or("", String::as_str))
            }
            Decision::Fill { values } => answered(&values.join(", ")),
            Decision::Stop => w::STOPPED.into(),
            _ => w::REJECTED.into(),
        }
    }
}

/// The values of a form in a message: one line for each, and the whole of it if there is one only.
/// What a field does not take is reported by the script, which asks again.
fn form_values(fields: &[FormField], text: &str) -> Option<Vec<String>> {
    let lines: Vec<&str> = match fields.len() {
        1 => vec![text],
        _ => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
    };
    let value = |(field, line): (&FormField, &&str)| {
        let parsed = [Lang::En, Lang::Zh].into_iter().find_map(|lang| field.parse(line, lang).ok());
        parsed.unwrap_or_else(|| (*line).to_owned())
    };
    (lines.len() == fields.len() && !text.is_empty())
        .then(|| fields.iter().zip(&lines).map(value).collect())
}

/// The choices that a chat offers besides answers, and the names of their buttons.
const BUTTONS: &[(ChoicePick, &str)] = &[
    (ChoicePick::Run, "once"),
    (ChoicePick::Continue, "go"),
    (ChoicePick::AcceptEdits, "edits"),
    (ChoicePick::All, "all"),
    (ChoicePick::Session, "session"),
    (ChoicePick::Project, "project"),
    (ChoicePick::Reject, "no"),
    (ChoicePick::Stop, "stop"),
];

/// Effects that concern the operator of the machine more than the user of a chat.
const OF_OPERATOR: &[Effect] = &[Effect::Secret, Effect::Outside, Effect::Elevate];

/// Rules about files that programs of the operator follow.
const STEERING: &[&str] =
    &["path.git", "path.steers", "git.config", "husky", "lefthook", "pre-commit"];

/// Whether what is asked about reads credentials, steers programs, or leaves the folder that the chat
/// works in.
fn is_of_operator(question: &Question) -> bool {
    let is_so = |risk: &Risk| {
        risk.opens_sandbox()
            || risk.effects.iter().any(|effect| OF_OPERATOR.contains(effect))
            || risk.reasons.iter().any(|reason| STEERING.contains(&reason.rule.as_str()))
    };
    match question {
        Question::Step(asked) => is_so(&asked.risk),
        Question::Pieces { pieces, .. } => pieces.iter().any(|piece| is_so(&piece.risk)),
        _ => false,
    }
}

/// The room for the text of a question: the edit that closes it adds a line.
fn room(limits: &PlatformLimits) -> usize {
    limits.text.saturating_sub(200)
}

/// Choices of the model that get a button; any of them may be typed.
const MAX_CHOICES: usize = 8;

/// Quotes that only look like those of a shell.
#[rustfmt::skip]
const LOOKALIKE_QUOTES: &[char] = &[
    '\u{2bc}', '\u{2b9}', '\u{2bb}', '\u{2bd}', '\u{2c8}', '\u{2ca}', '\u{2cb}',
    '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}', '\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}',
    '\u{2032}', '\u{2033}', '\u{2035}', '\u{2036}', '\u{275b}', '\u{275c}', '\u{275d}', '\u{275e}',
    '\u{301d}', '\u{301e}', '\u{ff02}', '\u{ff07}', '\u{ff40}', '\u{b4}', '\u{2ee}', '\u{5f3}', '\u{5f4}',
];

/// Shows the quotes that are none by their number.
fn show_quotes(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    for c in command.chars() {
        if LOOKALIKE_QUOTES.contains(&c) {
            avocet_core::text::write_escape(c, &mut out)
        } else {
            out.push(c)
        }
    }
    out
}

#[cfg(test)]
mod tests;
