//! What a headless turn makes of events: output for both streams, operations and the end.

use super::Exit;
use avocet_core::i18n::{LocalizedText, Phrase, agent, cli as w, common, prompt};
use avocet_core::protocol::{
    AskId, AttachmentInfo, Decision, JobInfo, Notice, Observation, Op, QuestionOp, TemplateCommand,
    Tier,
};
use avocet_present::question_lines::risk_phrase;

/// An action for the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum HeadlessEffect {
    /// A line of the answer, for standard output.
    Out(String),
    /// A reply before the answer, for standard error.
    Tell(StderrLine),
    Send(Op),
    /// Asks the user at the terminal for a line.
    Ask(LocalizedText),
    End(Exit),
}

/// A message for standard error.
#[derive(Clone, Debug, PartialEq)]
pub enum StderrLine {
    /// The text of the model, unchanged.
    Text(String),
    Line(LocalizedText),
    /// Text that belongs to a question, shown wherever the question is asked.
    Question(LocalizedText),
    Notice(Notice),
}

/// A shell command that runs, or would run, without a question.
pub(super) fn template_command_line(of: &str, command: &TemplateCommand) -> Vec<HeadlessEffect> {
    let why = command.risk.main_reason().filter(|_| command.risk.tier > Tier::L0);
    let word = if why.is_some() { prompt::TOLD_PIECE } else { prompt::TOLD_PIECE_SAFE };
    let line = word.with("of", of).with("tier", LocalizedText::from(risk_phrase(&command.risk)));
    let line = line.with("line", avocet_core::text::escape(&command.line).text);
    stderr_line(match why {
        Some(why) => line.with("why", why.clone()),
        None => line,
    })
}

/// The jobs that end because the run does.
pub(super) fn job_lines(jobs: &[JobInfo]) -> Vec<HeadlessEffect> {
    let line = |job: &JobInfo| w::JOB_ENDS.with("id", job.id).with("line", job.line.as_str());
    jobs.iter()
        .filter(|job| job.is_running() && !job.kept)
        .flat_map(|job| stderr_line(line(job)))
        .collect()
}

pub(super) fn decide(ask: AskId, decision: Decision) -> HeadlessEffect {
    HeadlessEffect::Send(Op::Question(QuestionOp::Decide { ask, decision }))
}

pub(super) fn attachment_line(info: &AttachmentInfo) -> HeadlessEffect {
    let line = prompt::LINE_ATTACHED.with("name", info.name.as_str());
    HeadlessEffect::Tell(StderrLine::Line(line.with("size", info.size_text())))
}

pub(super) fn stderr_line(say: impl Into<LocalizedText>) -> Vec<HeadlessEffect> {
    vec![HeadlessEffect::Tell(StderrLine::Line(say.into()))]
}

/// How a step ended that did not work.
pub(super) fn exit_lines(observation: &Observation) -> Vec<HeadlessEffect> {
    let mut told = match observation.shown_exit_code() {
        Some(0) => vec![],
        Some(code) => stderr_line(w::STEP_EXIT.with("code", code)),
        None => stderr_line(w::STEP_NO_EXIT),
    };
    if let Some(why) = observation.failure_note() {
        told.extend(stderr_line(common::INDENTED_WHY.with("why", why.clone())));
    }
    told
}

pub(super) fn notice(notice: Notice) -> Vec<HeadlessEffect> {
    vec![HeadlessEffect::Tell(StderrLine::Notice(notice))]
}

/// Only a limit is worth raising: a model that goes round in circles would do so for longer.
pub(super) fn pause_hint(why: &LocalizedText) -> Phrase {
    let loops = [agent::SAME_STEP, agent::NO_PROGRESS];
    if loops.contains(&why.phrase()) { w::PAUSED_LOOP_HINT } else { w::PAUSED_HINT }
}

/// The decision where no user can make one, with what else there is to do.
pub(super) fn not_asked(remedy: impl Into<LocalizedText>) -> Decision {
    Decision::NotAsked { remedy: remedy.into() }
}
