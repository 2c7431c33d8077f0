//! Shows a question as numbered lines, and reads the lines that answer it.

use crate::cli::shell_approval::{self, GRAVE, normalize_width, tier_phrase};
use crate::i18n::{LocalizedText, Phrase, common, linear as w, prompt as p};
use crate::protocol::{
    ApprovalScope, Ask, AskId, Change, Decision, Question, Reason, Risk, StepAction,
    TemplateCommand, Tier, TrustOffer, UntrustedFile,
};
use crate::safety::editable::{self, EditableForm};
use crate::text::{escape, one_line};

#[derive(Debug)]
pub struct PlainQuestion {
    ask: Ask,
    choices: Vec<(PlainChoice, Phrase)>,
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
    Confirming(PlainChoice),
    /// A yes or no to one of the shell commands; `run`: the ids of the approved ones before it.
    DecidingCommand { at: usize, run: Vec<String> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlainChoice {
    Reject,
    RejectWithReason,
    Run,
    All,
    Session,
    Project,
    Stop,
    Continue,
    /// Decide about each shell command.
    DecideEach,
    /// Change the step first.
    Edit,
    /// Trust the folder first.
    Trust,
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
        let choices = choices(&ask.question);
        PlainQuestion { ask, choices, stage: AnswerStage::Choosing }
    }

    pub fn id(&self) -> AskId {
        self.ask.id
    }

    /// The question, line by line.
    pub fn lines(&self) -> Vec<LocalizedText> {
        let mut says = match &self.ask.question {
            Question::Pause { why } => vec![why.clone(), common::CONTINUE_ASK.into()],
            Question::Step { .. } => step_question_lines(&self.ask.question),
            Question::Pieces { of, cwd, pieces } => shell_approval::command_lines(of, cwd, pieces),
            Question::Trust { folder, above, because, found } => {
                trust_question_lines(folder, above.as_deref(), because, found)
            }
            Question::Choice { text, choices, free, .. } => {
                return model_question_lines(text, choices, *free);
            }
        };
        for (at, (_, word)) in self.choices.iter().enumerate() {
            says.push(w::CHOICE.with("n", at + 1).with("choice", LocalizedText::from(*word)));
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
        if typed == GRAVE && self.is_high_risk() {
            return ParsedLine::Decided(Decision::Approve);
        }
        match self.choice_by_number(typed) {
            Some(PlainChoice::Run) if self.is_high_risk() => {
                ParsedLine::AskAgain(w::NEEDS_YES.into())
            }
            Some(PlainChoice::RejectWithReason) => {
                self.stage = AnswerStage::WritingReason;
                ParsedLine::AskAgain(w::WORD.into())
            }
            Some(PlainChoice::DecideEach) => self.ask_next_command(0, Vec::new()),
            Some(PlainChoice::Edit) => self.start_change(),
            Some(pick) if let Some(word) = self.confirmation_word(pick) => {
                self.stage = AnswerStage::Confirming(pick);
                ParsedLine::AskAgain(w::CONFIRM.with("word", word))
            }
            Some(pick) => ParsedLine::Decided(self.decision(pick)),
            None => ParsedLine::AskAgain(w::NO_CHOICE.into()),
        }
    }

    pub fn is_trust(&self) -> bool {
        matches!(self.ask.question, Question::Trust { .. })
    }

    /// The word that confirms a choice that lasts beyond this question: a mistyped number must not.
    fn confirmation_word(&self, pick: PlainChoice) -> Option<&'static str> {
        let trusts = self.is_trust();
        match pick {
            PlainChoice::Session | PlainChoice::Project => Some(REMEMBER),
            PlainChoice::Trust => Some(TRUST),
            PlainChoice::Continue | PlainChoice::All if trusts => Some(TRUST),
            PlainChoice::Reject
            | PlainChoice::RejectWithReason
            | PlainChoice::Run
            | PlainChoice::All
            | PlainChoice::Stop
            | PlainChoice::Continue
            | PlainChoice::DecideEach
            | PlainChoice::Edit => None,
        }
    }

    /// Any other text goes back to the choices.
    fn confirm_lasting(&self, pick: PlainChoice, typed: &str) -> ParsedLine {
        let word = self.confirmation_word(pick);
        match word.is_some_and(|word| normalize_width(typed).eq_ignore_ascii_case(word)) {
            true => ParsedLine::Decided(self.decision(pick)),
            false => ParsedLine::Lines(self.lines()),
        }
    }

    fn step_action(&self) -> Option<&StepAction> {
        match &self.ask.question {
            Question::Step { step, .. } => Some(&step.work),
            Question::Choice { .. }
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
        let (doing, how) = match (risk.tier, is_high_risk(risk)) {
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
            _ if grave && typed == GRAVE => ParsedLine::Decided(Decision::Edit(work)),
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
        let yes = match piece.is_high_risk() {
            true => typed == GRAVE,
            false => parse_number(typed) == Some(2),
        };
        if yes {
            run.push(piece.id.clone());
        } else if parse_number(typed) != Some(1) {
            let say = if piece.is_high_risk() { w::NEEDS_YES } else { w::NO_CHOICE };
            self.stage = AnswerStage::DecidingCommand { at, run };
            return ParsedLine::AskAgain(say.into());
        }
        self.ask_next_command(at + 1, run)
    }

    /// The choice with this number.
    fn choice_by_number(&self, typed: &str) -> Option<PlainChoice> {
        self.choices.get(parse_number(typed)?.checked_sub(1)?).map(|(pick, _)| *pick)
    }

    fn decision(&self, pick: PlainChoice) -> Decision {
        match pick {
            PlainChoice::Reject
            | PlainChoice::RejectWithReason
            | PlainChoice::DecideEach
            | PlainChoice::Edit => Decision::Reject { word: None },
            PlainChoice::Run | PlainChoice::Continue => Decision::Approve,
            PlainChoice::All => Decision::ApproveAll { steps: self.ids_of_rest() },
            PlainChoice::Session => Decision::Remember(ApprovalScope::Session),
            PlainChoice::Project => Decision::Remember(ApprovalScope::Project),
            PlainChoice::Stop => Decision::Stop,
            PlainChoice::Trust => Decision::Trust,
        }
    }

    fn ids_of_rest(&self) -> Vec<String> {
        match &self.ask.question {
            Question::Step { rest, .. } => rest.iter().map(|step| step.id.clone()).collect(),
            Question::Trust { above, .. } => above.iter().cloned().collect(),
            Question::Choice { .. } | Question::Pieces { .. } | Question::Pause { .. } => {
                Vec::new()
            }
        }
    }

    fn is_high_risk(&self) -> bool {
        match &self.ask.question {
            Question::Step { risk, .. } => is_high_risk(risk),
            Question::Choice { .. }
            | Question::Pieces { .. }
            | Question::Pause { .. }
            | Question::Trust { .. } => false,
        }
    }
}

/// The words that the user must type in full to remember and to trust.
const REMEMBER: &str = "REMEMBER";
const TRUST: &str = "TRUST";

/// Parses a number; digits of any width count.
fn parse_number(typed: &str) -> Option<usize> {
    normalize_width(typed).parse().ok()
}

fn is_high_risk(risk: &Risk) -> bool {
    risk.lifted || risk.tier == Tier::L2
}

fn choices(question: &Question) -> Vec<(PlainChoice, Phrase)> {
    let (step, risk, rule, rest, trust) = match question {
        Question::Step { step, risk, rule, rest, trust, .. } => (step, risk, rule, rest, trust),
        Question::Choice { .. } => return Vec::new(),
        Question::Pieces { pieces, .. } => {
            let mut choices = vec![(PlainChoice::Reject, p::LINE_NONE)];
            if pieces.iter().any(|piece| !piece.is_high_risk()) {
                choices.push((PlainChoice::Run, p::LINE_ALL));
            }
            choices.push((PlainChoice::DecideEach, p::LINE_EACH));
            return choices;
        }
        Question::Pause { .. } => {
            return vec![
                (PlainChoice::Stop, common::STOP_HERE),
                (PlainChoice::Continue, w::PICK_GO_ON),
            ];
        }
        Question::Trust { above, .. } => {
            let mut choices = vec![
                (PlainChoice::Reject, w::PICK_READ_ONLY),
                (PlainChoice::Continue, w::PICK_TRUST),
            ];
            choices.extend(above.is_some().then_some((PlainChoice::All, w::PICK_TRUST_ABOVE)));
            choices.push((PlainChoice::Stop, w::PICK_LEAVE));
            return choices;
        }
    };
    let mut choices =
        vec![(PlainChoice::Reject, common::REJECT), (PlainChoice::RejectWithReason, w::PICK_WORD)];
    choices.push((PlainChoice::Stop, common::STOP_TURN));
    choices.push((PlainChoice::Run, w::PICK_RUN));
    let mild = risk.can_batch_approve() && rest.iter().all(|step| step.risk.can_batch_approve());
    if mild && !rest.is_empty() {
        choices.push((PlainChoice::All, w::PICK_ALL));
    }
    if rule.is_some() && !is_high_risk(risk) {
        choices.extend([
            (PlainChoice::Session, w::PICK_SESSION),
            (PlainChoice::Project, w::PICK_PROJECT),
        ]);
    }
    if editable::to_line(&step.work).is_some() {
        choices.push((PlainChoice::Edit, w::PICK_EDIT));
    }
    choices.extend(trust.is_some().then_some((PlainChoice::Trust, w::PICK_TRUST_FIRST)));
    choices
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
fn step_question_lines(question: &Question) -> Vec<LocalizedText> {
    let Question::Step {
        step,
        risk,
        resolved,
        cwd,
        why,
        number,
        of,
        pieces,
        rule,
        rule_covers,
        trust,
        rest,
        change,
        ..
    } = question
    else {
        return Vec::new();
    };
    let tier = LocalizedText::from(tier_phrase(risk.tier));
    let ask = w::ASKS.with("n", *number).with("of", *of).with("tier", tier);
    let mut says = vec![ask];
    match change {
        Some(change) => says.extend(diff_lines(step.work.tool(), change)),
        None => says.push(w::STEP.with("step", full_step(&step.work))),
    }
    says.extend(resolved.iter().map(|path| w::PROGRAM.with("path", path.as_str())));
    says.push(w::FOLDER.with("folder", escape(cwd).text));
    says.extend(risk.reasons.iter().map(reason_line));
    for piece in pieces {
        let tier = LocalizedText::from(tier_phrase(piece.risk.tier));
        says.push(w::PIECE.with("tier", tier).with("text", escape(&piece.text).text));
    }
    for ahead in rest {
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
    says.extend(rule.iter().map(|rule| w::RULE.with("rule", rule.as_str())));
    says.extend(rule_covers.iter().map(|say| w::RULE_COVERS.with("say", say.clone())));
    says.extend(trust.iter().flat_map(|offer| trust_offer_lines(offer)));
    if !why.trim().is_empty() {
        // On one line: it must not look like a line of the question.
        says.push(w::MODEL_SAYS.with("why", one_line(why)));
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
