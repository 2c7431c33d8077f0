//! A question in lines of text: what is asked about, with everything that the screen shows.

use super::outcome::step_title;
use avocet_core::i18n::safety::TOOL_WRITES;
use avocet_core::i18n::{
    LocalizedText, Phrase, PhraseValue, agent, agents, common, linear as w, prompt as p, rules,
    screen, script_run,
};

use avocet_core::protocol::{
    Change, Question, Reason, RemainingStep, Risk, Step, StepAction, StepQuestion, SubCommand,
    TemplateCommand, Tier, TrustOffer, UntrustedFile,
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
pub fn command_lines(of: &str, cwd: &str, commands: &[TemplateCommand]) -> Vec<LocalizedText> {
    let mut says = vec![p::LINE_PIECES.with("of", escape(of).text).with("n", commands.len())];
    for (at, piece) in commands.iter().enumerate() {
        says.push(command_line(p::LINE_PIECE, at, piece));
        if piece.commands.len() > 1 {
            for command in &piece.commands {
                let tier = LocalizedText::from(risk_phrase(&command.risk));
                let text = escape(&command.text).text;
                says.push(w::PIECE.with("tier", tier).with("text", text));
            }
        }
        let reasons = piece.risk.distinct_reasons().filter(|reason| reason.tier > Tier::L0);
        says.extend(reasons.map(|reason| {
            let because = w::BECAUSE.with("why", reason.say.clone());
            because.with("rule", reason.rule.as_str())
        }));
    }
    says.push(w::FOLDER.with("folder", escape(cwd).text));
    says
}

/// A sentence about one command.
pub fn command_line(phrase: Phrase, at: usize, command: &TemplateCommand) -> LocalizedText {
    let tier = LocalizedText::from(risk_phrase(&command.risk));
    phrase.with("n", at + 1).with("tier", tier).with("line", escape(&command.line).text)
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
    text: &LocalizedText,
    files: &[UntrustedFile],
) -> Vec<LocalizedText> {
    let mut says = vec![w::TRUST.with("folder", escape(folder).text), text.clone()];
    says.extend(untrusted_file_lines(files));
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

fn untrusted_file_lines(files: &[UntrustedFile]) -> Vec<LocalizedText> {
    let line = |file: &UntrustedFile| {
        w::LYING.with("name", escape(&file.name).text).with("bytes", file.bytes)
    };
    let mut texts: Vec<LocalizedText> = files.iter().take(LYING).map(line).collect();
    if files.len() > LYING {
        texts.push(w::LYING_MORE.with("n", files.len() - LYING));
    }
    texts
}

/// The maximum number of files listed by name.
const LYING: usize = 12;

/// What is asked about, in as few lines as it can be answered with: the command or the diff, why it
/// asks, what confines it, and what one answer includes besides. High risk shows everything.
pub fn step_summary_lines(question: &StepQuestion) -> Vec<LocalizedText> {
    let StepQuestion { step, risk, change, .. } = question;
    if risk.is_high_risk() {
        return step_question_lines(question);
    }
    let mut says = vec![w::ASKS.with("count", count(question))];
    match change {
        Some(change) => says.extend(diff_lines(change)),
        None => says.push(proposal_line(step)),
    }
    let is_path = matches!(&step.work, StepAction::Exec { program, .. } if program.contains('/'));
    let path = question.resolved.iter().filter(|_| is_path);
    says.extend(path.map(|path| w::PROGRAM.with("path", path.as_str())));
    let elsewhere = step.cwd.iter().map(|_| w::FOLDER.with("folder", escape(&question.cwd).text));
    says.extend(elsewhere);
    // The title names the file already.
    let is_known = |reason: &&Reason| change.is_some() && reason.say.phrase() == TOOL_WRITES;
    let main = risk.deciding_reason();
    let confined = risk.reasons.iter().filter(|reason| reason.rule.starts_with("sandbox."));
    let confined = confined.filter(|reason| Some(*reason) != main);
    let said = main.into_iter().chain(confined).filter(|reason| !is_known(reason));
    says.extend(said.map(|reason| common::INDENTED_WHY.with("why", reason.say.clone())));
    says.extend(question.pieces.iter().map(piece_line));
    says.extend(question.rest.iter().flat_map(upcoming_lines));
    says.extend(question.trust.iter().flat_map(|offer| trust_offer_lines(offer)));
    says
}

/// The number of the step; nothing where it is the only one, or has run already.
fn count(question: &StepQuestion) -> PhraseValue {
    if question.of <= 1 || question.risk.opens_sandbox() {
        return "".into();
    }
    w::ASKS_COUNT.with("n", question.number).with("of", question.of).into()
}

fn proposal_line(step: &Step) -> LocalizedText {
    let word = if step.requires.background { w::STEP_IN_BACKGROUND } else { w::STEP };
    word.with("step", full_step(&step.work))
}

fn piece_line(command: &SubCommand) -> LocalizedText {
    let tier = LocalizedText::from(risk_phrase(&command.risk));
    w::PIECE.with("tier", tier).with("text", escape(&command.text).text)
}

/// A step that an approval of all includes.
fn upcoming_lines(upcoming_step: &RemainingStep) -> Vec<LocalizedText> {
    let tier = LocalizedText::from(risk_phrase(&upcoming_step.risk));
    let step = match upcoming_step.change {
        Some(_) => step_title(&upcoming_step.work),
        None => full_step(&upcoming_step.work).into(),
    };
    let mut says = vec![w::BEHIND.with("tier", tier).with("step", step)];
    says.extend(upcoming_step.change.iter().flat_map(diff_lines));
    says
}

/// What is asked about, with everything that the screen shows.
fn step_question_lines(question: &StepQuestion) -> Vec<LocalizedText> {
    let StepQuestion { step, risk, change, .. } = question;
    let word = if risk.is_high_risk() { w::ASKS_HIGH_RISK } else { w::ASKS };
    let asks = word.with("count", count(question));
    let mut says = vec![match &question.agent {
        Some(name) => agents::OF_AGENT.with("name", name.as_str()).with("text", asks),
        None => asks,
    }];
    match change {
        Some(change) => says.extend(diff_lines(change)),
        None => says.push(proposal_line(step)),
    }
    says.extend(question.resolved.iter().map(|path| w::PROGRAM.with("path", path.as_str())));
    says.push(w::FOLDER.with("folder", escape(&question.cwd).text));
    says.extend(risk.distinct_reasons().map(reason_line));
    says.extend(question.pieces.iter().map(piece_line));
    says.extend(question.rest.iter().flat_map(upcoming_lines));
    let rule = question.rule.iter().filter(|_| !risk.opens_sandbox());
    says.extend(rule.map(|rule| w::RULE.with("rule", rule.as_str())));
    says.extend(question.rule_covers.iter().map(|say| w::RULE_COVERS.with("say", say.clone())));
    says.extend(question.trust.iter().flat_map(|offer| trust_offer_lines(offer)));
    if !question.why.trim().is_empty() {
        // On one line: it must not look like a line of the question.
        says.push(w::MODEL_SAYS.with("why", one_line(&question.why)));
    }
    if !question.expected.trim().is_empty() {
        says.push(w::MODEL_EXPECTS.with("expected", one_line(&question.expected)));
    }
    says
}

/// A complete step, with the whole input of a tool.
pub fn full_step(action: &StepAction) -> String {
    match action {
        StepAction::Tool { name, .. } => {
            let input = editable::to_line(action).unwrap_or_default();
            escape(&format!("{name} {input}")).text
        }
        StepAction::Exec { .. } | StepAction::Shell { .. } => action.command_line(),
    }
}

pub fn reason_line(reason: &Reason) -> LocalizedText {
    w::BECAUSE.with("why", reason.say.clone()).with("rule", reason.rule.as_str())
}

/// What a rule covers, without the options and the reasons that it names one by one.
pub fn rule_summary(covers: &[LocalizedText]) -> impl Iterator<Item = &LocalizedText> {
    let listed = [rules::OPTIONS, rules::OPTIONS_MORE, rules::REASONS];
    covers.iter().filter(move |say| !listed.contains(&say.phrase())).take(2)
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
