//! Shows a question as numbered lines, and reads the lines that answer it.

use crate::cli::pieces::{self, GRAVE, narrow, tier_word};
use crate::protocol::{
    ApprovalScope, Ask, AskId, Change, Decision, Question, Reason, Risk, StepAction,
    TemplateCommand, Tier, TrustOffer, UntrustedFile,
};
use crate::safety::clean::escape;
use crate::safety::written::{self, EditableForm};
use crate::words::{LocalizedText, Phrase, linear as w, prompt as p};

#[derive(Debug)]
pub struct PlainQuestion {
    ask: Ask,
    choices: Vec<(Pick, Phrase)>,
    doing: Doing,
}

/// What the next line is read as.
#[derive(Debug)]
enum Doing {
    /// The number of a choice.
    Choosing,
    /// A message to the model.
    Wording,
    /// The changed step to run instead.
    Changing,
    /// A changed step that waits for its verdict.
    Judged(StepAction),
    /// A yes or no to a changed step that has its verdict.
    Changed { work: StepAction, grave: bool },
    /// The word that confirms remembering or trusting.
    Confirming(Pick),
    /// A yes or no to one of the shell commands; `run`: the ids of the approved ones before it.
    Piece { at: usize, run: Vec<String> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    Reject,
    Word,
    Run,
    All,
    Session,
    Project,
    Stop,
    GoOn,
    /// Decide about each shell command.
    Each,
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
    Again(LocalizedText),
    /// Not an answer: show all of these lines and ask again.
    Lines(Vec<LocalizedText>),
    /// A changed step that needs a verdict before it can be approved.
    Judge(StepAction),
    /// A slash command: not an answer, but the user may want it now.
    Command,
}

impl PlainQuestion {
    pub fn new(ask: Ask) -> PlainQuestion {
        let choices = choices(&ask.question);
        PlainQuestion { ask, choices, doing: Doing::Choosing }
    }

    pub fn id(&self) -> AskId {
        self.ask.id
    }

    /// The question, line by line.
    pub fn says(&self) -> Vec<LocalizedText> {
        let mut says = match &self.ask.question {
            Question::Pause { why } => vec![why.clone(), w::PAUSE.into()],
            Question::Step { .. } => step(&self.ask.question),
            Question::Pieces { of, cwd, pieces } => pieces::says(of, cwd, pieces),
            Question::Trust { folder, above, because, found } => {
                trust(folder, above.as_deref(), because, found)
            }
            Question::Choice { text, choices, free, .. } => return asks(text, choices, *free),
        };
        for (at, (_, word)) in self.choices.iter().enumerate() {
            says.push(w::CHOICE.with("n", at + 1).with("choice", LocalizedText::from(*word)));
        }
        let how = match (self.is_grave(), self.is_trust()) {
            (true, _) => w::HOW_GRAVE,
            (false, true) => w::HOW_TRUST,
            (false, false) => w::HOW,
        };
        says.push(how.into());
        says
    }

    pub fn answer(&mut self, typed: &str) -> ParsedLine {
        let typed = typed.trim();
        match std::mem::replace(&mut self.doing, Doing::Choosing) {
            Doing::Choosing => {}
            Doing::Wording => {
                let word = Some(typed.to_owned()).filter(|word| !word.is_empty());
                return ParsedLine::Decided(Decision::Reject { word });
            }
            Doing::Piece { at, run } => return self.piece(at, run, typed),
            Doing::Confirming(pick) => return self.confirmed_lasting(pick, typed),
            Doing::Changing => return self.changed(typed),
            Doing::Judged(work) => {
                self.doing = Doing::Judged(work);
                return ParsedLine::Again(w::EDIT_WAIT.into());
            }
            Doing::Changed { work, grave } => return self.confirmed(work, grave, typed),
        }
        if typed.starts_with('/') {
            return ParsedLine::Command;
        }
        if let Question::Choice { choices, free, .. } = &self.ask.question {
            return chosen(typed, choices, *free);
        }
        if typed.is_empty() && self.is_trust() {
            return ParsedLine::Decided(Decision::Dismiss);
        }
        if typed == GRAVE && self.is_grave() {
            return ParsedLine::Decided(Decision::Approve);
        }
        match self.picked(typed) {
            Some(Pick::Run) if self.is_grave() => ParsedLine::Again(w::NEEDS_YES.into()),
            Some(Pick::Word) => {
                self.doing = Doing::Wording;
                ParsedLine::Again(w::WORD.into())
            }
            Some(Pick::Each) => self.next_piece(0, Vec::new()),
            Some(Pick::Edit) => self.change(),
            Some(pick) if let Some(word) = self.word_of(pick) => {
                self.doing = Doing::Confirming(pick);
                ParsedLine::Again(w::CONFIRM.with("word", word))
            }
            Some(pick) => ParsedLine::Decided(self.decision(pick)),
            None => ParsedLine::Again(w::NO_CHOICE.into()),
        }
    }

    pub fn is_trust(&self) -> bool {
        matches!(self.ask.question, Question::Trust { .. })
    }

    /// The word that confirms a choice that lasts beyond this question: a mistyped number must not.
    fn word_of(&self, pick: Pick) -> Option<&'static str> {
        let trusts = self.is_trust();
        match pick {
            Pick::Session | Pick::Project => Some(REMEMBER),
            Pick::Trust => Some(TRUST),
            Pick::GoOn | Pick::All if trusts => Some(TRUST),
            Pick::Reject
            | Pick::Word
            | Pick::Run
            | Pick::All
            | Pick::Stop
            | Pick::GoOn
            | Pick::Each
            | Pick::Edit => None,
        }
    }

    /// Any other text goes back to the choices.
    fn confirmed_lasting(&self, pick: Pick, typed: &str) -> ParsedLine {
        let word = self.word_of(pick);
        match word.is_some_and(|word| narrow(typed).eq_ignore_ascii_case(word)) {
            true => ParsedLine::Decided(self.decision(pick)),
            false => ParsedLine::Lines(self.says()),
        }
    }

    fn work(&self) -> Option<&StepAction> {
        match &self.ask.question {
            Question::Step { step, .. } => Some(&step.work),
            Question::Choice { .. }
            | Question::Pieces { .. }
            | Question::Pause { .. }
            | Question::Trust { .. } => None,
        }
    }

    /// Shows the step as a line that the user can type again, changed.
    fn change(&mut self) -> ParsedLine {
        let Some((work, line)) = self.work().and_then(|work| Some((work, written::to_line(work)?)))
        else {
            return ParsedLine::Again(w::NO_CHOICE.into());
        };
        let how = match work {
            StepAction::Exec { .. } => w::EDIT_HOW,
            StepAction::Shell { .. } => w::EDIT_HOW_SHELL,
            StepAction::Tool { .. } => w::EDIT_HOW_TOOL,
        };
        let line = w::EDIT_NOW.with("line", line);
        self.doing = Doing::Changing;
        ParsedLine::Lines(vec![line, how.into()])
    }

    /// Reads the typed step; an empty line, or the same step, goes back.
    fn changed(&mut self, typed: &str) -> ParsedLine {
        let Some(work) = self.work() else { return ParsedLine::Lines(self.says()) };
        if typed.is_empty() {
            return ParsedLine::Lines(self.says());
        }
        match EditableForm::from_action(work).parse(typed) {
            Ok(now) if now == *work => ParsedLine::Lines(self.says()),
            Ok(now) => {
                self.doing = Doing::Judged(now.clone());
                ParsedLine::Judge(now)
            }
            Err(why) => {
                self.doing = Doing::Changing;
                ParsedLine::Again(why)
            }
        }
    }

    /// The verdict on a changed step; nothing if no question waits for it.
    pub fn judged(
        &mut self,
        work: &StepAction,
        risk: &Risk,
        change: Option<&Change>,
    ) -> Vec<LocalizedText> {
        if !matches!(&self.doing, Doing::Judged(waits) if waits == work) {
            return Vec::new();
        }
        let tier = LocalizedText::from(tier_word(risk.tier));
        let step = w::EDITED.with("tier", tier).with("step", whole(work));
        let mut says = vec![step];
        if let Some(change) = change {
            says.extend(diff(work.tool(), change));
        }
        says.extend(risk.reasons.iter().map(because));
        let (doing, how) = match (risk.tier, is_grave(risk)) {
            (Tier::L2, _) => (Doing::Changing, w::EDIT_REFUSED),
            (_, grave) => {
                let how = if grave { w::EDIT_RUN_GRAVE } else { w::EDIT_RUN };
                (Doing::Changed { work: work.clone(), grave }, how)
            }
        };
        self.doing = doing;
        says.push(how.into());
        says
    }

    fn confirmed(&mut self, work: StepAction, grave: bool, typed: &str) -> ParsedLine {
        match (number(typed), grave) {
            (Some(1), _) => ParsedLine::Lines(self.says()),
            (Some(2), false) => ParsedLine::Decided(Decision::Edit(work)),
            _ if grave && typed == GRAVE => ParsedLine::Decided(Decision::Edit(work)),
            _ => {
                self.doing = Doing::Changed { work, grave };
                ParsedLine::Again(if grave { w::NEEDS_YES } else { w::NO_CHOICE }.into())
            }
        }
    }

    fn pieces(&self) -> &[TemplateCommand] {
        match &self.ask.question {
            Question::Pieces { pieces, .. } => pieces,
            Question::Step { .. }
            | Question::Choice { .. }
            | Question::Pause { .. }
            | Question::Trust { .. } => &[],
        }
    }

    /// Asks about a shell command; after the last one, the question is answered.
    fn next_piece(&mut self, at: usize, run: Vec<String>) -> ParsedLine {
        let Some(piece) = self.pieces().get(at) else {
            return ParsedLine::Decided(match run.is_empty() {
                true => Decision::Reject { word: None },
                false => Decision::ApproveAll { steps: run },
            });
        };
        let word = if piece.is_high_risk() { p::LINE_PIECE_GRAVE } else { p::LINE_PIECE_NOW };
        let say = pieces::line(word, at, piece);
        self.doing = Doing::Piece { at, run };
        ParsedLine::Again(say)
    }

    fn piece(&mut self, at: usize, mut run: Vec<String>, typed: &str) -> ParsedLine {
        let Some(piece) = self.pieces().get(at) else { return self.next_piece(at, run) };
        let yes = match piece.is_high_risk() {
            true => typed == GRAVE,
            false => number(typed) == Some(2),
        };
        if yes {
            run.push(piece.id.clone());
        } else if number(typed) != Some(1) {
            let say = if piece.is_high_risk() { w::NEEDS_YES } else { w::NO_CHOICE };
            self.doing = Doing::Piece { at, run };
            return ParsedLine::Again(say.into());
        }
        self.next_piece(at + 1, run)
    }

    /// The choice with this number.
    fn picked(&self, typed: &str) -> Option<Pick> {
        self.choices.get(number(typed)?.checked_sub(1)?).map(|(pick, _)| *pick)
    }

    fn decision(&self, pick: Pick) -> Decision {
        match pick {
            Pick::Reject | Pick::Word | Pick::Each | Pick::Edit => Decision::Reject { word: None },
            Pick::Run | Pick::GoOn => Decision::Approve,
            Pick::All => Decision::ApproveAll { steps: self.rest() },
            Pick::Session => Decision::Remember(ApprovalScope::Session),
            Pick::Project => Decision::Remember(ApprovalScope::Project),
            Pick::Stop => Decision::Stop,
            Pick::Trust => Decision::Trust,
        }
    }

    fn rest(&self) -> Vec<String> {
        match &self.ask.question {
            Question::Step { rest, .. } => rest.iter().map(|step| step.id.clone()).collect(),
            Question::Trust { above, .. } => above.iter().cloned().collect(),
            Question::Choice { .. } | Question::Pieces { .. } | Question::Pause { .. } => {
                Vec::new()
            }
        }
    }

    fn is_grave(&self) -> bool {
        match &self.ask.question {
            Question::Step { risk, .. } => is_grave(risk),
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
fn number(typed: &str) -> Option<usize> {
    narrow(typed).parse().ok()
}

fn is_grave(risk: &Risk) -> bool {
    risk.lifted || risk.tier == Tier::L2
}

fn choices(question: &Question) -> Vec<(Pick, Phrase)> {
    let (step, risk, rule, rest, trust) = match question {
        Question::Step { step, risk, rule, rest, trust, .. } => (step, risk, rule, rest, trust),
        Question::Choice { .. } => return Vec::new(),
        Question::Pieces { pieces, .. } => {
            let mut choices = vec![(Pick::Reject, p::LINE_NONE)];
            if pieces.iter().any(|piece| !piece.is_high_risk()) {
                choices.push((Pick::Run, p::LINE_ALL));
            }
            choices.push((Pick::Each, p::LINE_EACH));
            return choices;
        }
        Question::Pause { .. } => {
            return vec![(Pick::Stop, w::PICK_HALT), (Pick::GoOn, w::PICK_GO_ON)];
        }
        Question::Trust { above, .. } => {
            let mut choices = vec![(Pick::Reject, w::PICK_READ_ONLY), (Pick::GoOn, w::PICK_TRUST)];
            choices.extend(above.is_some().then_some((Pick::All, w::PICK_TRUST_ABOVE)));
            choices.push((Pick::Stop, w::PICK_LEAVE));
            return choices;
        }
    };
    let mut choices = vec![(Pick::Reject, w::PICK_REJECT), (Pick::Word, w::PICK_WORD)];
    choices.push((Pick::Stop, w::PICK_STOP));
    choices.push((Pick::Run, w::PICK_RUN));
    let mild = risk.can_batch_approve() && rest.iter().all(|step| step.risk.can_batch_approve());
    if mild && !rest.is_empty() {
        choices.push((Pick::All, w::PICK_ALL));
    }
    if rule.is_some() && !is_grave(risk) {
        choices.extend([(Pick::Session, w::PICK_SESSION), (Pick::Project, w::PICK_PROJECT)]);
    }
    if written::to_line(&step.work).is_some() {
        choices.push((Pick::Edit, w::PICK_EDIT));
    }
    choices.extend(trust.is_some().then_some((Pick::Trust, w::PICK_TRUST_FIRST)));
    choices
}

/// The contents of a folder that is not trusted yet: named and measured, not shown.
fn trust(
    folder: &str,
    above: Option<&str>,
    because: &LocalizedText,
    found: &[UntrustedFile],
) -> Vec<LocalizedText> {
    let mut says = vec![w::TRUST.with("folder", escape(folder).text), because.clone()];
    says.extend(findings(found));
    says.extend(above.map(|above| w::TRUST_ABOVE.with("folder", escape(above).text)));
    says
}

/// What the question about a step says about the trust it offers.
fn offered(offer: &TrustOffer) -> Vec<LocalizedText> {
    let mut says = vec![w::TRUST_FIRST.with("folder", escape(&offer.folder).text)];
    says.extend(offer.hazard.clone());
    says.extend(findings(&offer.found));
    says
}

fn findings(found: &[UntrustedFile]) -> Vec<LocalizedText> {
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
fn step(question: &Question) -> Vec<LocalizedText> {
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
    let tier = LocalizedText::from(tier_word(risk.tier));
    let ask = w::ASKS.with("n", *number).with("of", *of).with("tier", tier);
    let mut says = vec![ask];
    match change {
        Some(change) => says.extend(diff(step.work.tool(), change)),
        None => says.push(w::STEP.with("step", whole(&step.work))),
    }
    says.extend(resolved.iter().map(|path| w::PROGRAM.with("path", path.as_str())));
    says.push(w::FOLDER.with("folder", escape(cwd).text));
    says.extend(risk.reasons.iter().map(because));
    for piece in pieces {
        let tier = LocalizedText::from(tier_word(piece.risk.tier));
        says.push(w::PIECE.with("tier", tier).with("text", escape(&piece.text).text));
    }
    for ahead in rest {
        let tier = LocalizedText::from(tier_word(ahead.risk.tier));
        let step = match ahead.change {
            Some(_) => super::exact(&ahead.work),
            None => whole(&ahead.work),
        };
        says.push(w::BEHIND.with("tier", tier).with("step", step));
        if let Some(change) = &ahead.change {
            says.extend(diff(ahead.work.tool(), change));
        }
    }
    says.extend(rule.iter().map(|rule| w::RULE.with("rule", rule.as_str())));
    says.extend(rule_covers.iter().map(|say| w::RULE_COVERS.with("say", say.clone())));
    says.extend(trust.iter().flat_map(|offer| offered(offer)));
    if !why.trim().is_empty() {
        // On one line: it must not look like a line of the question.
        says.push(w::MODEL_SAYS.with("why", why.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    says
}

/// A complete step, with the whole input of a tool.
fn whole(work: &StepAction) -> String {
    match work {
        StepAction::Tool { name, .. } => {
            let input = written::to_line(work).unwrap_or_default();
            escape(&format!("{name} {input}")).text
        }
        StepAction::Exec { .. } | StepAction::Shell { .. } => super::exact(work),
    }
}

fn because(reason: &Reason) -> LocalizedText {
    w::BECAUSE.with("why", reason.say.clone()).with("rule", reason.rule.as_str())
}

/// A change, line by line, as it would be made.
fn diff(tool: &str, change: &Change) -> Vec<LocalizedText> {
    let head = w::CHANGE
        .with("tool", tool)
        .with("path", escape(&change.path).text)
        .with("added", change.added)
        .with("removed", change.removed);
    let line = |line: &str| w::CHANGE_LINE.with("line", escape(line).text);
    std::iter::once(head).chain(change.diff.lines().skip(2).map(line)).collect()
}

/// A question of the model, and how to answer it.
fn asks(text: &str, choices: &[String], free: bool) -> Vec<LocalizedText> {
    let mut says = vec![w::MODEL_ASKS.with("text", text)];
    for (at, choice) in choices.iter().enumerate() {
        says.push(w::CHOICE.with("n", at + 1).with("choice", choice.as_str()));
    }
    says.push(w::CHOICE.with("n", 0).with("choice", LocalizedText::from(w::NO_ANSWER)));
    says.push(if free { w::HOW_FREE } else { w::HOW }.into());
    says
}

fn chosen(typed: &str, choices: &[String], free: bool) -> ParsedLine {
    let number = typed.parse::<usize>().ok();
    let picked = number.and_then(|n| n.checked_sub(1)).and_then(|at| choices.get(at));
    match (number, picked) {
        (Some(0), _) => ParsedLine::Decided(Decision::Reject { word: None }),
        (_, Some(text)) => ParsedLine::Decided(Decision::Answer { text: text.clone() }),
        (_, None) if free && !typed.is_empty() => {
            ParsedLine::Decided(Decision::Answer { text: typed.to_owned() })
        }
        (_, None) => ParsedLine::Again(w::NO_CHOICE.into()),
    }
}
