//! Shows a question as numbered lines, and reads the lines that answer it.

use crate::cli::shell_approval::{self, normalize_width, tier_phrase};
use crate::i18n::{LocalizedText, Phrase, common, linear as w, prompt as p, session};
use crate::present::{ChoicePick, PickEffect, QuestionKind, QuestionOffer, Severity, YES};
use crate::protocol::{
    Ask, AskId, Change, Decision, Question, Reason, Risk, StepAction, StepQuestion,
    TemplateCommand, Tier, TrustOffer, UntrustedFile,
};
use crate::safety::editable::{self, EditableForm};
use crate::text::{escape, one_line};

#[derive(Debug)]
pub struct PlainQuestion {
    ask: Ask,
    offer: QuestionOffer,
    stage: AnswerStage,
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
    pub fn new(ask: Ask) -> PlainQuestion {
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
        PlainQuestion { ask, offer, stage: AnswerStage::Choosing }
    }

    pub fn id(&self) -> AskId {
        self.ask.id
    }

    /// The question, line by line.
    pub fn lines(&self) -> Vec<LocalizedText> {
        let mut says = match &self.ask.question {
            Question::Pause { why } => vec![why.clone(), common::CONTINUE_ASK.into()],
            Question::Step(asked) => step_question_lines(asked),
            Question::Pieces { of, cwd, pieces } => shell_approval::command_lines(of, cwd, pieces),
            Question::Trust { folder, above, because, found } => {
                trust_question_lines(folder, above.as_deref(), because, found)
            }
            Question::ScriptCall { text } => vec![common::MODEL_ASKS.with("text", text.as_str())],
            Question::Choice { text, choices, free, .. } => {
                return model_question_lines(text, choices, *free);
            }
        };
        for (at, pick) in self.offer.picks.iter().enumerate() {
            let label = LocalizedText::from(label(self.offer.kind, *pick));
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
            Some(pick) if let Some(word) = confirmation_word(pick) => {
                self.stage = AnswerStage::Confirming(pick);
                ParsedLine::AskAgain(w::CONFIRM.with("word", word))
            }
            Some(pick) => self.apply(pick),
            None => ParsedLine::AskAgain(w::NO_CHOICE.into()),
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
        let word = confirmation_word(pick);
        match word.is_some_and(|word| normalize_width(typed).eq_ignore_ascii_case(word)) {
            true => self.apply(pick),
            false => ParsedLine::Lines(self.lines()),
        }
    }

    fn step_action(&self) -> Option<&StepAction> {
        match &self.ask.question {
            Question::Step(StepQuestion { step, .. }) => Some(&step.work),
            Question::Choice { .. }
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
        let tier = LocalizedText::from(tier_phrase(risk.tier));
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
            | Question::ScriptCall { .. }
            | Question::Pause { .. }
            | Question::Trust { .. } => &[],
        }
    }

    /// Asks about a shell command; after the last one, the question is answered.
    fn ask_next_command(&mut self, at: usize, run: Vec<String>) -> ParsedLine {
        let Some(piece) = self.template_commands().get(at) else {
            return ParsedLine::Decided(match run.is_empty() {
                true => Decision::Reject { word: None },
                false => Decision::ApproveAll { steps: run },
            });
        };
        let word = if piece.is_high_risk() { p::LINE_PIECE_GRAVE } else { p::LINE_PIECE_NOW };
        let say = shell_approval::command_line(word, at, piece);
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
fn confirmation_word(pick: ChoicePick) -> Option<&'static str> {
    let word = match pick {
        ChoicePick::Session | ChoicePick::Project => REMEMBER,
        _ => TRUST,
    };
    pick.is_lasting().then_some(word)
}

fn label(kind: QuestionKind, pick: ChoicePick) -> Phrase {
    use ChoicePick as Pick;
    match (pick, kind) {
        (Pick::Reject, QuestionKind::Template) => p::LINE_NONE,
        (Pick::Reject, QuestionKind::Trust) => w::PICK_READ_ONLY,
        (Pick::Reject, QuestionKind::Model) => session::SCRIPT_MAY_NOT,
        (Pick::Reject, _) => common::REJECT,
        (Pick::RejectWithReason, _) => w::PICK_WORD,
        (Pick::Stop, QuestionKind::Pause) => common::STOP_HERE,
        (Pick::Stop, QuestionKind::Trust) => w::PICK_LEAVE,
        (Pick::Stop, _) => common::STOP_TURN,
        (Pick::Edit, _) => w::PICK_EDIT,
        (Pick::Run, QuestionKind::Template) => p::LINE_ALL,
        (Pick::Run, QuestionKind::Change) => w::PICK_APPLY,
        (Pick::Run, _) => w::PICK_RUN,
        (Pick::All, _) => w::PICK_ALL,
        (Pick::Session, QuestionKind::Change) => w::PICK_APPLY_SESSION,
        (Pick::Project, QuestionKind::Change) => w::PICK_APPLY_PROJECT,
        (Pick::Session, _) => w::PICK_SESSION,
        (Pick::Project, _) => w::PICK_PROJECT,
        (Pick::TrustFirst, _) => w::PICK_TRUST_FIRST,
        (Pick::Continue, QuestionKind::Model) => session::SCRIPT_MAY,
        (Pick::Continue, _) => w::PICK_GO_ON,
        (Pick::Trust, _) => w::PICK_TRUST,
        (Pick::TrustAbove, _) => w::PICK_TRUST_ABOVE,
        (Pick::Each, _) => p::LINE_EACH,
    }
}

/// The contents of a folder that is not trusted yet: named and measured, not shown.
fn trust_question_lines(
    folder: &str,
    above: Option<&str>,
    because: &LocalizedText,
    found: &[UntrustedFile],
) -> Vec<LocalizedText> {
    let mut says = vec![w::TRUST.with("folder", escape(folder).text), because.clone()];
    says.extend(untrusted_file_lines(found));
    says.extend(above.map(|above| common::TRUST_PARENT.with("folder", escape(above).text)));
    says
}

/// What the question about a step says about the trust it offers.
fn trust_offer_lines(offer: &TrustOffer) -> Vec<LocalizedText> {
    let mut says = vec![common::TRUST_ASK.with("folder", escape(&offer.folder).text)];
    says.extend(offer.hazard.clone());
    says.extend(untrusted_file_lines(&offer.found));
    says
}

fn untrusted_file_lines(found: &[UntrustedFile]) -> Vec<LocalizedText> {
    let line = |lying: &UntrustedFile| {
        w::LYING.with("name", escape(&lying.name).text).with("bytes", lying.bytes)
    };
    let mut says: Vec<LocalizedText> = found.iter().take(LYING).map(line).collect();
    if found.len() > LYING {
        says.push(w::LYING_MORE.with("n", found.len() - LYING));
    }
    says
}

/// The maximum number of files listed by name.
const LYING: usize = 12;

/// What is asked about, with everything that the screen shows.
fn step_question_lines(asked: &StepQuestion) -> Vec<LocalizedText> {
    let StepQuestion { step, risk, change, .. } = asked;
    let tier = LocalizedText::from(tier_phrase(risk.tier));
    let ask = w::ASKS.with("n", asked.number).with("of", asked.of).with("tier", tier);
    let mut says = vec![ask];
    match change {
        Some(change) => says.extend(diff_lines(step.work.tool(), change)),
        None => says.push(w::STEP.with("step", full_step(&step.work))),
    }
    says.extend(asked.resolved.iter().map(|path| w::PROGRAM.with("path", path.as_str())));
    says.push(w::FOLDER.with("folder", escape(&asked.cwd).text));
    says.extend(risk.reasons.iter().map(reason_line));
    for piece in &asked.pieces {
        let tier = LocalizedText::from(tier_phrase(piece.risk.tier));
        says.push(w::PIECE.with("tier", tier).with("text", escape(&piece.text).text));
    }
    for ahead in &asked.rest {
        let tier = LocalizedText::from(tier_phrase(ahead.risk.tier));
        let step = match ahead.change {
            Some(_) => ahead.work.command_line(),
            None => full_step(&ahead.work),
        };
        says.push(w::BEHIND.with("tier", tier).with("step", step));
        if let Some(change) = &ahead.change {
            says.extend(diff_lines(ahead.work.tool(), change));
        }
    }
    says.extend(asked.rule.iter().map(|rule| w::RULE.with("rule", rule.as_str())));
    says.extend(asked.rule_covers.iter().map(|say| w::RULE_COVERS.with("say", say.clone())));
    says.extend(asked.trust.iter().flat_map(|offer| trust_offer_lines(offer)));
    if !asked.why.trim().is_empty() {
        // On one line: it must not look like a line of the question.
        says.push(w::MODEL_SAYS.with("why", one_line(&asked.why)));
    }
    says
}

/// A complete step, with the whole input of a tool.
fn full_step(work: &StepAction) -> String {
    match work {
        StepAction::Tool { name, .. } => {
            let input = editable::to_line(work).unwrap_or_default();
            escape(&format!("{name} {input}")).text
        }
        StepAction::Exec { .. } | StepAction::Shell { .. } => work.command_line(),
    }
}

fn reason_line(reason: &Reason) -> LocalizedText {
    w::BECAUSE.with("why", reason.say.clone()).with("rule", reason.rule.as_str())
}

/// A change, line by line, as it would be made.
fn diff_lines(tool: &str, change: &Change) -> Vec<LocalizedText> {
    let head = w::CHANGE
        .with("tool", tool)
        .with("path", escape(&change.path).text)
        .with("added", change.added)
        .with("removed", change.removed);
    let line = |line: &str| w::CHANGE_LINE.with("line", escape(line).text);
    std::iter::once(head).chain(change.diff.lines().skip(2).map(line)).collect()
}

/// A question of the model, and how to answer it.
fn model_question_lines(text: &str, choices: &[String], free: bool) -> Vec<LocalizedText> {
    let mut says = vec![common::MODEL_ASKS.with("text", text)];
    for (at, choice) in choices.iter().enumerate() {
        says.push(w::CHOICE.with("n", at + 1).with("choice", choice.as_str()));
    }
    says.push(w::CHOICE.with("n", 0).with("choice", LocalizedText::from(w::NO_ANSWER)));
    says.push(if free { w::HOW_FREE } else { w::HOW }.into());
    says
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
