//! One turn without a screen, as a state machine without I/O: maps each event of the session to
//! output, to operations for the session, and to the exit code.
//!
//! Only the answer goes to standard output, when the turn is over. Earlier replies go to standard
//! error, because only the end of a turn shows which reply was the answer. [`print`](super::print)
//! writes and waits.

use std::borrow::Cow;
use std::sync::Arc;

use super::args::ApprovalFlags;
pub use super::headless_effect::{HeadlessEffect, StderrLine};
use super::headless_effect::{
    attachment_line, decide, exit_lines, job_lines, notice, pause_hint, stderr_line,
};
use super::messages::Printer;
use super::schema::Schema;
use super::shell_approval::{ApprovalLine, TemplateApproval};
use super::{Clean, Exit, table};
use avocet_core::i18n::{LocalizedText, agents, cli as w, common, json_with_text, prompt, session};
use avocet_core::protocol::{
    BackgroundAgents, Decision, Event, Goal, JobInfo, ModelMessage, Notice, Observation, Op,
    Outcome, StepAction, Tier, Topic, TurnOp, TurnOrigin, TurnOutcome,
};
use avocet_present::subagents::SubagentProgress;
use avocet_safety::redact::Redactor;

mod question;

#[derive(Debug)]
pub struct Options {
    /// Write events as JSON instead of the answer as text.
    pub json: bool,
    pub approved: ApprovalFlags,
    /// There is a user at a terminal, who is asked where `-y` does not answer.
    pub has_user: bool,
    pub schema: Option<Schema>,
    /// Language and safety of the text on standard error.
    pub printer: Printer,
    /// Makes the answer safe for standard output; a pipe gets it unchanged.
    pub clean: Clean,
    /// Masks keys in what the user wrote, where it is passed on.
    pub secrets: Arc<Redactor>,
}

/// The state of the turn.
#[derive(Debug)]
pub struct HeadlessTurn<'a> {
    options: &'a Options,
    /// The answer did not fit the schema, and was asked for once more.
    is_asked_again: bool,
    /// The last reply: the answer, if the turn ends with it.
    reply: Option<ModelMessage>,
    /// The plan, one line an item.
    plan: String,
    /// The tier of a step that did not run and that no later step replaced.
    blocked: Option<Tier>,
    stop: Stop,
    phase: TurnPhase,
    /// The template's shell commands that the user is asked about.
    approval: Option<TemplateApproval>,
    /// The folder that the last question offered to trust.
    untrusted: Option<String>,
    /// The exit code if the work towards the goal of the session ends now; `None`: it has none.
    goal_exit: Option<Exit>,
    jobs: Vec<JobInfo>,
    agents: SubagentProgress,
    background: BackgroundAgents,
}

/// What the turn is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnPhase {
    /// The files and shell commands of the message are read.
    Message,
    /// The conversation is compressed.
    Compaction,
    /// A page is the answer.
    Page,
    /// It is a shell line of the user.
    Shell,
    /// It is a shell line of the user that did not succeed.
    FailedShell,
    /// The model or a script works.
    Work,
    /// Subagents in the background work: their results are for the model.
    Agents,
}

impl TurnPhase {
    fn is_shell(self) -> bool {
        matches!(self, TurnPhase::Shell | TurnPhase::FailedShell)
    }
}

/// Why this side stopped the turn, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    No,
    /// The model proposed its plan, which is the answer.
    Planned,
    /// It paused at a limit, and no user can continue it.
    Paused,
    Interrupted,
}

/// An event as a line of JSON. The user's own words stay theirs in the session; the lines go on to
/// other programs, so a key in them is masked.
pub fn json_line(options: &Options, event: &Event) -> Option<String> {
    let mut shown = Cow::Borrowed(event);
    if let Event::TurnStarted { text, .. } | Event::Steered { text, .. } = event
        && let Cow::Owned(masked) = options.secrets.mask(text)
        && let Event::TurnStarted { text, .. } | Event::Steered { text, .. } = shown.to_mut()
    {
        *text = masked;
    }
    Some(json_with_text(shown.to_value().ok()?, options.printer.lang))
}

impl<'a> HeadlessTurn<'a> {
    /// The turn that `first` begins.
    pub fn new(options: &'a Options, first_op: &Op) -> HeadlessTurn<'a> {
        HeadlessTurn {
            options,
            is_asked_again: false,
            reply: None,
            plan: String::new(),
            blocked: None,
            stop: Stop::No,
            phase: match first_op {
                Op::Turn(TurnOp::SubmitPrompt { .. } | TurnOp::Render { .. }) => TurnPhase::Message,
                Op::Turn(TurnOp::Compress { .. }) => TurnPhase::Compaction,
                Op::Session(_) | Op::Extension(_) => TurnPhase::Page,
                _ => TurnPhase::Work,
            },
            approval: None,
            untrusted: None,
            goal_exit: None,
            jobs: Vec::new(),
            agents: SubagentProgress::default(),
            background: BackgroundAgents::default(),
        }
    }

    /// The user pressed Ctrl-C.
    pub fn interrupt(&mut self) -> Vec<HeadlessEffect> {
        let again = self.stop == Stop::Interrupted;
        self.stop = Stop::Interrupted;
        if again {
            vec![HeadlessEffect::End(Exit::INTERRUPTED)]
        } else {
            // The question is on an unfinished line.
            let end =
                self.approval.take().map(|_| HeadlessEffect::Tell(StderrLine::Text(String::new())));
            end.into_iter().chain([HeadlessEffect::Send(Op::Turn(TurnOp::Stop))]).collect()
        }
    }

    /// The user typed before the question could be read: it is asked again.
    pub fn on_early_line(&self) -> Vec<HeadlessEffect> {
        let Some(asking) = &self.approval else { return vec![] };
        let say = prompt::TERMINAL_TOO_SOON.into();
        vec![
            HeadlessEffect::Tell(StderrLine::Question(say)),
            HeadlessEffect::Ask(asking.question()),
        ]
    }

    /// A line from the user at the terminal; `None` at the end of the input.
    pub fn on_line(&mut self, line: Option<&str>) -> Vec<HeadlessEffect> {
        let Some(asking) = &mut self.approval else { return vec![] };
        match asking.on_line(line) {
            ApprovalLine::Next(question) => vec![HeadlessEffect::Ask(question)],
            ApprovalLine::AskAgain(say, question) => {
                vec![HeadlessEffect::Tell(StderrLine::Question(say)), HeadlessEffect::Ask(question)]
            }
            ApprovalLine::Decided(ask, decision) => {
                self.approval = None;
                vec![decide(ask, decision)]
            }
        }
    }

    /// The session closed before the turn was over.
    pub fn on_session_closed(&self) -> Vec<HeadlessEffect> {
        match self.stop {
            Stop::Interrupted => vec![HeadlessEffect::End(Exit::INTERRUPTED)],
            Stop::No | Stop::Paused | Stop::Planned => {
                let notice = Notice::error(w::SESSION_LOST);
                vec![
                    HeadlessEffect::Tell(StderrLine::Notice(notice)),
                    HeadlessEffect::End(Exit::Failed),
                ]
            }
        }
    }

    pub fn on_event(&mut self, event: &Event) -> Vec<HeadlessEffect> {
        let mut effects = Vec::new();
        if self.options.json {
            effects.extend(json_line(self.options, event).map(HeadlessEffect::Out));
        }
        let told = self.effects_of(event);
        // In JSON the events already contain everything, except for how the run ends.
        let ended = told.iter().any(|effect| matches!(effect, HeadlessEffect::End(_)));
        let kept = |effect: &HeadlessEffect| {
            let asks = matches!(effect, HeadlessEffect::Tell(StderrLine::Question(_)));
            let is_told = matches!(effect, HeadlessEffect::Tell(_)) && !asks;
            !self.options.json
                || ended && !matches!(effect, HeadlessEffect::Out(_))
                || !ended && !is_told
        };
        effects.extend(told.into_iter().filter(kept));
        effects
    }

    #[allow(clippy::too_many_lines, reason = "a row for each event")]
    fn effects_of(&mut self, event: &Event) -> Vec<HeadlessEffect> {
        match event {
            Event::ReplyStarted => {
                self.phase = TurnPhase::Work;
                self.flush_reply()
            }
            Event::Replied(reply) => self.on_replied(reply),
            Event::Repairing { fault } => self.on_repair(fault),
            Event::Retrying { attempt, of, wait_ms, why } => {
                let say = w::RETRYING.with("attempt", *attempt).with("of", *of);
                stderr_line(say.with("wait", wait_ms.div_ceil(1000)).with("why", why.clone()))
            }
            Event::StepStarted { step, .. } => {
                self.after_reply(stderr_line(w::STEP.with("step", step.work.command_line())))
            }
            Event::StepFinished(observation) => self.on_step_finished(observation),
            Event::Asked(ask) => {
                let told = self.on_question(ask);
                self.after_reply(told)
            }
            // Reported with the question, unless the user answered it.
            Event::Notice(it) if it.topic == Topic::PiecesDeclined && !self.options.has_user => {
                vec![]
            }
            Event::Notice(it) if it.topic == Topic::NotCompressed => {
                self.answer_with(&it.say);
                self.finish_with_answer()
            }
            Event::Notice(notice) => vec![HeadlessEffect::Tell(StderrLine::Notice(notice.clone()))],
            // No terminal can be handed over.
            Event::TerminalRequested { ask } => vec![decide(*ask, Decision::Reject { word: None })],
            Event::Compacted(receipt) if self.phase == TurnPhase::Compaction => {
                self.answer_with(&receipt.localized());
                vec![]
            }
            Event::Compacted(receipt) => stderr_line(receipt.localized()),
            Event::TurnEnded { ending, .. } => {
                let effects = self.on_turn_ended(ending);
                self.without_end(effects)
            }
            Event::GoalSet { goal } => self.on_goal_set(goal.as_deref()),
            Event::Closed => self.on_session_closed(),
            Event::Rendered { text, .. } => self.on_rendered(text),
            Event::Facts(info) => {
                self.jobs.clone_from(&info.jobs);
                self.background = info.agents;
                self.follow_agents()
            }
            Event::Page(page) if self.phase == TurnPhase::Page => vec![
                HeadlessEffect::Out(table::aligned(&page.rows, self.options.printer)),
                HeadlessEffect::End(Exit::Done),
            ],
            Event::Attached { items, .. } => items.iter().map(attachment_line).collect(),
            Event::TurnStarted { origin, .. } => self.on_turn_started(*origin),
            Event::SubagentStarted(_) | Event::Subagent { .. } => {
                let told = self.on_agent(event);
                self.after_reply(told)
            }
            Event::Steered { .. }
            | Event::Delta { .. }
            | Event::ReasoningDelta { .. }
            | Event::CallProgress { .. }
            | Event::ScriptMessage { .. }
            | Event::StepOutput { .. }
            | Event::Judged { .. }
            | Event::Plan { .. }
            | Event::Undone { .. }
            | Event::FilesKept { .. }
            | Event::FilesChanged { .. }
            | Event::Redone { .. }
            | Event::Changes { .. }
            | Event::FolderAdded { .. }
            | Event::ApprovalModeSet { .. }
            | Event::TerminalReturned { .. }
            | Event::QuestionClosed { .. }
            | Event::Queued { .. }
            | Event::Dropped { .. }
            | Event::Page(_)
            | Event::SideAnswer(_)
            | Event::Compacting
            | Event::Models { .. }
            | Event::Settings { .. }
            | Event::HistoryChunk { .. }
            | Event::RewindAsked { .. }
            | Event::Rewound { .. }
            | Event::Sessions { .. }
            | Event::Catalogue(_)
            | Event::ArgumentValues(_)
            | Event::Cleared => vec![],
        }
    }

    /// It is written when it is known whether more follows.
    fn on_replied(&mut self, message: &ModelMessage) -> Vec<HeadlessEffect> {
        self.phase = TurnPhase::Work;
        self.reply = Some(message.clone());
        vec![]
    }

    /// The invalid reply is dropped.
    fn on_repair(&mut self, text: &LocalizedText) -> Vec<HeadlessEffect> {
        self.reply = None;
        stderr_line(common::REPAIRING.with("fault", text.clone()))
    }

    fn on_turn_started(&mut self, origin: TurnOrigin) -> Vec<HeadlessEffect> {
        // The commands of a goal are turns of their own.
        let is_program = origin == TurnOrigin::Command && self.goal_exit.is_none();
        if is_program || origin == TurnOrigin::Shell {
            self.phase = TurnPhase::Shell;
        }
        vec![]
    }

    fn on_step_finished(&mut self, observation: &Observation) -> Vec<HeadlessEffect> {
        let told = self.on_observation(observation);
        let told = self.after_reply(told);
        self.take_shell_output(observation);
        told
    }

    /// What a shell line of the user prints is the answer; if it fails, so does the turn.
    fn take_shell_output(&mut self, observation: &Observation) {
        if !self.phase.is_shell() {
            return;
        }
        if !observation.succeeded() {
            self.phase = TurnPhase::FailedShell;
        }
        if matches!(observation.outcome, Outcome::Ran | Outcome::Edited | Outcome::TimedOut) {
            let message = format!("{}{}", observation.stdout, observation.stderr);
            self.reply = Some(ModelMessage { message, ..ModelMessage::default() });
        }
    }

    /// The text of a prompt is the answer.
    fn on_rendered(&mut self, text: &str) -> Vec<HeadlessEffect> {
        self.reply = Some(ModelMessage { message: text.to_owned(), ..ModelMessage::default() });
        vec![]
    }

    fn answer_with(&mut self, text: &LocalizedText) {
        let message = text.text(self.options.printer.lang);
        self.reply = Some(ModelMessage { message, ..ModelMessage::default() });
    }

    /// Puts the pending reply of the model before these effects.
    fn after_reply(&mut self, effects: Vec<HeadlessEffect>) -> Vec<HeadlessEffect> {
        let mut all = self.flush_reply();
        all.extend(effects);
        all
    }

    /// The reply was not the answer: more follows.
    fn flush_reply(&mut self) -> Vec<HeadlessEffect> {
        match self.reply.take() {
            Some(reply) if !reply.message.is_empty() => {
                vec![HeadlessEffect::Tell(StderrLine::Text(reply.message))]
            }
            Some(_) | None => vec![],
        }
    }

    /// What did not run of a subagent is printed and counted like a step of the turn itself.
    fn on_agent(&mut self, event: &Event) -> Vec<HeadlessEffect> {
        let mut told = self.agents.report(event).map_or_else(Vec::new, stderr_line);
        if let Event::StepFinished(observation) = event.of_any_agent()
            && matches!(observation.outcome, Outcome::Declined | Outcome::Refused)
            && let Some(line) = self.agents.apply(event)
        {
            let title = agents::TITLE_OF_ONE.with("name", line.info.name.as_str());
            told = self.on_observation(observation);
            for effect in &mut told {
                if let HeadlessEffect::Tell(StderrLine::Notice(notice)) = effect {
                    notice.say = title.clone().with("doing", notice.say.clone());
                }
            }
        }
        told
    }

    fn on_observation(&mut self, observation: &Observation) -> Vec<HeadlessEffect> {
        let Observation { step, risk, outcome, .. } = observation;
        self.blocked = match outcome {
            // The user left this part of the message out, and wants the message without it.
            Outcome::Declined
                if self.options.has_user && matches!(step.work, StepAction::Shell { .. }) =>
            {
                self.blocked
            }
            Outcome::Declined | Outcome::Refused => Some(risk.tier),
            // A later step makes up for one that did not run if its tier is at least as high; a
            // refused step has no equal, so any later step that worked makes up for it.
            Outcome::Ran | Outcome::Edited if observation.succeeded() => {
                self.blocked.filter(|blocked| *blocked < Tier::L2 && risk.tier < *blocked)
            }
            Outcome::Ran
            | Outcome::Edited
            | Outcome::TimedOut
            | Outcome::Cancelled
            | Outcome::Interrupted
            | Outcome::NotStarted => self.blocked,
        };
        let why = risk.main_reason().cloned().unwrap_or_else(|| w::NO_REASON.into());
        let about = |phrase: avocet_core::i18n::Phrase| {
            Notice::warning(phrase.with("step", step.work.command_line()).with("why", why.clone()))
        };
        match outcome {
            Outcome::Ran | Outcome::Edited => exit_lines(observation),
            // The reason why no shell command of a template runs was reported with the question.
            Outcome::Declined
                if !self.phase.is_shell() && matches!(step.work, StepAction::Shell { .. }) =>
            {
                vec![]
            }
            // The plan is the answer, and its question no limit's.
            Outcome::Declined if self.stop == Stop::Planned => vec![],
            // That there is no user to answer the model was reported with the question.
            Outcome::Declined if risk.rule == "ask" => vec![],
            Outcome::Declined => {
                notice(about(w::STEP_DECLINED).with_hint(self.decline_hint(step, risk)))
            }
            Outcome::Refused => notice(about(w::STEP_REFUSED)),
            Outcome::TimedOut => stderr_line(w::STEP_TIMED_OUT.with("ms", observation.duration_ms)),
            Outcome::Cancelled | Outcome::Interrupted => stderr_line(w::STEP_CANCELLED),
            Outcome::NotStarted => {
                let why = observation.note.clone().unwrap_or_else(|| w::NO_REASON.into());
                stderr_line(w::STEP_NOT_STARTED.with("why", why))
            }
        }
    }

    /// The work towards a goal goes on after a turn, so its end is not that of the run.
    fn without_end(&mut self, mut effects: Vec<HeadlessEffect>) -> Vec<HeadlessEffect> {
        if let (Some(exit), Some(HeadlessEffect::End(end))) = (&mut self.goal_exit, effects.last())
        {
            *exit = if *end == Exit::Done { Exit::Limit } else { *end };
            effects.pop();
        }
        effects
    }

    fn on_goal_set(&mut self, goal: Option<&Goal>) -> Vec<HeadlessEffect> {
        let before = self.goal_exit.take();
        let end = match goal {
            Some(goal) if goal.is_active() => {
                self.goal_exit = Some(before.unwrap_or(Exit::Limit));
                return vec![];
            }
            Some(_) => before.unwrap_or(Exit::Limit),
            None if before.is_some() => Exit::Done,
            None => Exit::WrongUse,
        };
        vec![HeadlessEffect::End(end)]
    }

    fn on_turn_ended(&mut self, outcome: &TurnOutcome) -> Vec<HeadlessEffect> {
        let is_done = *outcome == TurnOutcome::Done && matches!(self.stop, Stop::No | Stop::Paused);
        if is_done && !self.background.is_empty() {
            self.phase = TurnPhase::Agents;
            let waits = agents::WAITS.with("n", self.background.running);
            let waits = Some(waits).filter(|_| self.background.running > 0);
            let told = waits.map_or_else(Vec::new, stderr_line);
            return told.into_iter().chain(self.follow_agents()).collect();
        }
        let mut effects = job_lines(&self.jobs);
        let exit = match (self.stop, outcome) {
            (Stop::Interrupted, _) | (_, TurnOutcome::Cancelled) => Exit::INTERRUPTED,
            (Stop::No | Stop::Paused, TurnOutcome::Done) => {
                effects.extend(self.finish_with_answer());
                return effects;
            }
            (Stop::Planned, _) => {
                effects.extend(self.flush_reply());
                effects.push(HeadlessEffect::Out(std::mem::take(&mut self.plan)));
                Exit::Done
            }
            (Stop::Paused, _) => Exit::Limit,
            (Stop::No, TurnOutcome::Limit { why }) => {
                effects.extend(notice(Notice::error(why.clone()).with_hint(pause_hint(why))));
                Exit::Limit
            }
            (Stop::No, TurnOutcome::Unsent { why }) => {
                effects.extend(notice(Notice::error(why.clone())));
                Exit::Failed
            }
            (Stop::No, TurnOutcome::Failed { why }) => {
                effects.extend(self.flush_reply());
                effects.extend(notice(Notice::error(why.clone())));
                Exit::Model
            }
            (Stop::No, TurnOutcome::Error) => {
                let text = self.reply.take().map(|reply| reply.message).unwrap_or_default();
                effects.extend(notice(Notice::error(w::MODEL_ERROR.with("text", text))));
                self.exit_unless_blocked(Exit::Failed)
            }
            (Stop::No, TurnOutcome::Stopped) => Exit::Blocked,
            (Stop::No, TurnOutcome::Interrupted) => {
                effects.extend(notice(Notice::error(session::INTERRUPTED)));
                Exit::Failed
            }
        };
        effects.extend(self.flush_reply());
        effects.push(HeadlessEffect::End(exit));
        effects
    }

    /// At the end of a turn: waits for the subagents in the background, whose results the model gets.
    fn follow_agents(&mut self) -> Vec<HeadlessEffect> {
        match self.background {
            _ if self.phase != TurnPhase::Agents => vec![],
            BackgroundAgents { unread: 1.., .. } if self.stop != Stop::Interrupted => {
                self.phase = TurnPhase::Work;
                vec![HeadlessEffect::Send(Op::Turn(TurnOp::ReadResults))]
            }
            BackgroundAgents { running: 1.., .. } => vec![],
            _ if self.stop == Stop::Interrupted => vec![HeadlessEffect::End(Exit::INTERRUPTED)],
            _ => job_lines(&self.jobs).into_iter().chain(self.finish_with_answer()).collect(),
        }
    }

    fn finish_with_answer(&mut self) -> Vec<HeadlessEffect> {
        let message = self.reply.take().map(|reply| reply.message).unwrap_or_default();
        let Some(schema) = &self.options.schema else {
            return vec![
                HeadlessEffect::Out(message),
                HeadlessEffect::End(self.exit_unless_blocked(Exit::Done)),
            ];
        };
        match schema.check(&message) {
            Ok(json) => {
                let out = HeadlessEffect::Out(json.to_owned());
                vec![out, HeadlessEffect::End(self.exit_unless_blocked(Exit::Done))]
            }
            Err(why) if !std::mem::replace(&mut self.is_asked_again, true) => {
                let told = w::ANSWER_AGAIN.with("why", why.clone());
                let text = w::ANSWER_REPAIR.with("why", why).text(self.options.printer.lang);
                vec![
                    HeadlessEffect::Tell(StderrLine::Text(message)),
                    HeadlessEffect::Tell(StderrLine::Notice(Notice::warning(told))),
                    HeadlessEffect::Send(Op::Turn(TurnOp::Submit { text })),
                ]
            }
            // A reader must not take an answer that does not fit the schema for the answer.
            Err(why) => vec![
                HeadlessEffect::Tell(StderrLine::Text(message)),
                HeadlessEffect::Tell(StderrLine::Notice(Notice::error(why))),
                HeadlessEffect::End(Exit::Failed),
            ],
        }
    }

    fn exit_unless_blocked(&self, exit: Exit) -> Exit {
        match self.blocked {
            Some(_) => Exit::Blocked,
            None if self.phase == TurnPhase::FailedShell && exit == Exit::Done => Exit::Failed,
            None => exit,
        }
    }
}
