//! A question in lines of text: what is asked about, with everything that the screen shows.

use super::outcome::step_title;
use avocet_core::i18n::safety::TOOL_WRITES;
use avocet_core::i18n::{
    LocalizedText, Phrase, PhraseValue, agent, agents, common, linear as w, prompt as p, screen,
    script_run,
};

use avocet_core::protocol::{
    Change, Question, Reason, Risk, Step, StepAction, StepQuestion, SubCommand, TemplateCommand,
    Tier, TrustOffer, UntrustedFile, UpcomingStep,
};
use avocet_core::text::{escape, one_line};
use avocet_safety::editable;

/// The question without its choices.
pub fn question_lines(question: &Question) -> Vec<LocalizedText> {
    match question {
        Question::Pause { why } => {
            pause_lines(why).into_iter().chain([common::CONTINUE_ASK.into()]).collect()
        }
        Question::Step(asked) => step_question_lines(asked),
        Question::Pieces { of, cwd, pieces } => command_lines(of, cwd, pieces),
        Question::Trust { folder, above, because, found } => {
            trust_question_lines(folder, above.as_deref(), because, found)
        }
        Question::Plan { items, .. } => {
            let lines =
                items.iter().map(|item| screen::PLAN_LINE.with("line", escape(&item.line()).text));
            std::iter::once(screen::PLAN_ASK.into()).chain(lines).collect()
        }
        Question::ScriptCall { text } => vec![common::SCRIPT_ASKS.with("text", text.as_str())],
        Question::Form { script, fields } => {
            let asks =
                if fields.len() == 1 { script_run::FORM_ASKS_ONE } else { script_run::FORM_ASKS };
            vec![asks.with("script", escape(script).text).with("n", fields.len())]
        }
        Question::Choice { text, fallback: Some(_), .. } => {
            vec![common::AVOCET_ASKS.with("text", escape(text).text)]
        }
        Question::Choice { text, script, .. } => {
            let asks = if script.is_some() { common::SCRIPT_ASKS } else { common::MODEL_ASKS };
            vec![asks.with("text", text.as_str())]
        }
    }
}

/// Why a turn paused; of a limit, how to raise it.
pub fn pause_lines(why: &LocalizedText) -> Vec<LocalizedText> {
    let raise = agent::LIMIT_RAISE.with("key", "`safety.max_auto_steps_per_turn`");
    let is_limit = why.phrase() == agent::LIMIT;
    std::iter::once(why.clone()).chain(is_limit.then_some(raise)).collect()
}

/// All commands, each with the programs it runs and why it does more than read.
pub fn command_lines(of: &str, cwd: &str, pieces: &[TemplateCommand]) -> Vec<LocalizedText> {
    let mut says = vec![p::LINE_PIECES.with("of", escape(of).text).with("n", pieces.len())];
    for (at, piece) in pieces.iter().enumerate() {
        says.push(command_line(p::LINE_PIECE, at, piece));
        if piece.commands.len() > 1 {
            for command in &piece.commands {
                let tier = LocalizedText::from(risk_phrase(&command.risk));
                let text = escape(&command.text).text;
                says.push(w::PIECE.with("tier", tier).with("text", text));
            }
        }
        let reasons = piece.risk.reasons.iter().filter(|reason| reason.tier > Tier::L0);
        says.extend(reasons.map(|reason| {
            let because = w::BECAUSE.with("why", reason.say.clone());
            because.with("rule", reason.rule.as_str())
        }));
    }
    says.push(w::FOLDER.with("folder", escape(cwd).text));
    says
}

/// A sentence about one command.
pub fn command_line(word: Phrase, at: usize, piece: &TemplateCommand) -> LocalizedText {
    let tier = LocalizedText::from(risk_phrase(&piece.risk));
    word.with("n", at + 1).with("tier", tier).with("line", escape(&piece.line).text)
}

/// What happens to a step of this risk, in the words of the screen.
pub fn risk_phrase(risk: &Risk) -> Phrase {
    match risk.tier {
        _ if risk.is_high_risk() => screen::ASK_TIER_L2,
        _ if risk.is_refused_by_mode() => screen::TIER_L2,
        Tier::L0 => screen::TIER_L0,
        Tier::L1 | Tier::L2 => screen::TIER_L1,
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

/// What is asked about, in as few lines as it can be answered with: the command or the diff, why it
/// asks, what confines it, and what one answer includes besides. High risk shows everything.
pub fn step_summary_lines(asked: &StepQuestion) -> Vec<LocalizedText> {
    let StepQuestion { step, risk, change, .. } = asked;
    if risk.is_high_risk() {
        return step_question_lines(asked);
    }
    let mut says = vec![w::ASKS.with("count", count(asked))];
    match change {
        Some(change) => says.extend(diff_lines(change)),
        None => says.push(proposal_line(step)),
    }
    let is_path = matches!(&step.work, StepAction::Exec { program, .. } if program.contains('/'));
    let path = asked.resolved.iter().filter(|_| is_path);
    says.extend(path.map(|path| w::PROGRAM.with("path", path.as_str())));
    let elsewhere = step.cwd.iter().map(|_| w::FOLDER.with("folder", escape(&asked.cwd).text));
    says.extend(elsewhere);
    // The title names the file already.
    let is_known = |reason: &&Reason| change.is_some() && reason.say.phrase() == TOOL_WRITES;
    let main = risk.deciding_reason();
    let confined = risk.reasons.iter().filter(|reason| reason.rule.starts_with("sandbox."));
    let confined = confined.filter(|reason| Some(*reason) != main);
    let said = main.into_iter().chain(confined).filter(|reason| !is_known(reason));
    says.extend(said.map(|reason| common::INDENTED_WHY.with("why", reason.say.clone())));
    says.extend(asked.pieces.iter().map(piece_line));
    says.extend(asked.rest.iter().flat_map(upcoming_lines));
    says.extend(asked.trust.iter().flat_map(|offer| trust_offer_lines(offer)));
    says
}

/// The number of the step; nothing where it is the only one, or has run already.
fn count(asked: &StepQuestion) -> PhraseValue {
    if asked.of <= 1 || asked.risk.opens_sandbox() {
        return "".into();
    }
    w::ASKS_COUNT.with("n", asked.number).with("of", asked.of).into()
}

fn proposal_line(step: &Step) -> LocalizedText {
    let word = if step.requires.background { w::STEP_IN_BACKGROUND } else { w::STEP };
    word.with("step", full_step(&step.work))
}

fn piece_line(piece: &SubCommand) -> LocalizedText {
    let tier = LocalizedText::from(risk_phrase(&piece.risk));
    w::PIECE.with("tier", tier).with("text", escape(&piece.text).text)
}

/// A step that an approval of all includes.
fn upcoming_lines(ahead: &UpcomingStep) -> Vec<LocalizedText> {
    let tier = LocalizedText::from(risk_phrase(&ahead.risk));
    let step = match ahead.change {
        Some(_) => step_title(&ahead.work),
        None => full_step(&ahead.work).into(),
    };
    let mut says = vec![w::BEHIND.with("tier", tier).with("step", step)];
    says.extend(ahead.change.iter().flat_map(diff_lines));
    says
}

/// What is asked about, with everything that the screen shows.
fn step_question_lines(asked: &StepQuestion) -> Vec<LocalizedText> {
    let StepQuestion { step, risk, change, .. } = asked;
    let word = if risk.is_high_risk() { w::ASKS_HIGH_RISK } else { w::ASKS };
    let asks = word.with("count", count(asked));
    let mut says = vec![match &asked.agent {
        Some(name) => agents::OF_AGENT.with("name", name.as_str()).with("text", asks),
        None => asks,
    }];
    match change {
        Some(change) => says.extend(diff_lines(change)),
        None => says.push(proposal_line(step)),
    }
    says.extend(asked.resolved.iter().map(|path| w::PROGRAM.with("path", path.as_str())));
    says.push(w::FOLDER.with("folder", escape(&asked.cwd).text));
    says.extend(risk.reasons.iter().map(reason_line));
    says.extend(asked.pieces.iter().map(piece_line));
    says.extend(asked.rest.iter().flat_map(upcoming_lines));
    let rule = asked.rule.iter().filter(|_| !risk.opens_sandbox());
    says.extend(rule.map(|rule| w::RULE.with("rule", rule.as_str())));
    says.extend(asked.rule_covers.iter().map(|say| w::RULE_COVERS.with("say", say.clone())));
    says.extend(asked.trust.iter().flat_map(|offer| trust_offer_lines(offer)));
    if !asked.why.trim().is_empty() {
        // On one line: it must not look like a line of the question.
        says.push(w::MODEL_SAYS.with("why", one_line(&asked.why)));
    }
    if !asked.expected.trim().is_empty() {
        says.push(w::MODEL_EXPECTS.with("expected", one_line(&asked.expected)));
    }
    says
}

/// A complete step, with the whole input of a tool.
pub fn full_step(work: &StepAction) -> String {
    match work {
        StepAction::Tool { name, .. } => {
            let input = editable::to_line(work).unwrap_or_default();
            escape(&format!("{name} {input}")).text
        }
        StepAction::Exec { .. } | StepAction::Shell { .. } => work.command_line(),
    }
}

pub fn reason_line(reason: &Reason) -> LocalizedText {
    w::BECAUSE.with("why", reason.say.clone()).with("rule", reason.rule.as_str())
}

/// A change, line by line, as it would be made.
pub fn diff_lines(change: &Change) -> Vec<LocalizedText> {
    let head = w::CHANGE
        .with("path", change.name())
        .with("added", change.added)
        .with("removed", change.removed);
    let line = |line: &str| w::CHANGE_LINE.with("line", escape(line).text);
    std::iter::once(head).chain(change.diff.lines().skip(2).map(line)).collect()
}
