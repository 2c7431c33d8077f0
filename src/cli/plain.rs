//! A conversation as plain lines, one after the other, for screen readers, simple terminals and
//! users who want no screen. Nothing is drawn over, the cursor never moves, and the user answers a
//! question by typing the number of a choice.
//!
//! A state machine without I/O: takes the events of the session and the lines of the user, and
//! returns what to write or send. [`run`] writes and waits.

use super::{Clean, Exit};
use avocet_core::i18n::{Lang, LocalizedText, common, context, keys, linear as w, session};
use avocet_core::prompt::input::{self, Intent};
use avocet_core::protocol::{
    Ask, AskId, Change, Decision, Event, ExtensionOp, Extensions, Mention, ModelMessage, Notice,
    Op, Page, QuestionOp, Report, Risk, SavedOp, SessionInfo, SessionOp, StepAction, TurnOp,
    TurnOutcome,
};
use avocet_present::changes::changes_page;
use avocet_present::commands::{self, CommandContext, CommandOutcome, Surface, UiAction};
use avocet_present::outcome::step_started;
use avocet_present::subagents::SubagentProgress;

mod effect;
mod files;
mod leave_question;
mod leaving;
mod lines;
mod models;
mod question;
pub mod run;
mod steps;
#[cfg(test)]
mod tests;
mod turns;

pub use effect::PlainEffect;
use leave_question::LeaveQuestion;
use lines::PlainLines;
use question::PlainQuestion;
use turns::TurnList;

#[derive(Debug)]
pub struct PlainSession {
    lines: PlainLines,
    facts: SessionInfo,
    models: Vec<String>,
    /// They are printed when they come.
    asked_models: bool,
    extensions: Extensions,
    state: PlainState,
    turns: TurnList,
    agents: SubagentProgress,
    /// The answer so far: what is written, and what waits for the end of its line.
    written_bytes: usize,
    partial_line: String,
    /// Commands that wait for the end of the turn.
    deferred: Vec<String>,
    /// A command that is not built in, while the extensions are read again.
    waiting_command: Option<(String, Vec<Mention>)>,
    /// Whether the user can be asked before leaving.
    can_ask: bool,
    /// The user wants to leave, and something is not saved.
    leaving: Option<LeaveQuestion>,
    /// The user knows that something was not saved, and where it is instead.
    knows_unsaved: bool,
}

#[derive(Debug)]
enum PlainState {
    /// Nothing is known about the session yet.
    Starting,
    Idle,
    Working,
    Asking(Box<PlainQuestion>),
}

impl PlainSession {
    pub fn new(info: SessionInfo, lang: Lang, clean: Clean) -> PlainSession {
        PlainSession {
            lines: PlainLines { lang, clean },
            facts: info,
            models: Vec::new(),
            asked_models: false,
            extensions: Extensions::default(),
            state: PlainState::Starting,
            turns: TurnList::default(),
            agents: SubagentProgress::default(),
            written_bytes: 0,
            partial_line: String::new(),
            deferred: Vec::new(),
            waiting_command: None,
            can_ask: false,
            leaving: None,
            knows_unsaved: false,
        }
    }

    /// The same, with a user at a terminal who answers questions before leaving.
    pub fn with_user(mut self, can_ask: bool) -> PlainSession {
        self.can_ask = can_ask;
        self
    }

    pub fn knows_unsaved(&self) -> bool {
        self.knows_unsaved
    }

    /// The first output.
    fn welcome(&self) -> Vec<PlainEffect> {
        let hello = w::HELLO.with("model", self.facts.model.as_str());
        let hello = hello.with("folder", self.facts.cwd.as_str());
        vec![self.lines.say(hello), self.lines.say(w::HELLO_HOW), PlainEffect::Prompt]
    }

    /// Ctrl-C: stops the turn; if none is running, leaves.
    pub fn interrupt(&mut self) -> Vec<PlainEffect> {
        match self.state {
            _ if self.leaving.is_some() => vec![PlainEffect::End(Exit::Done)],
            PlainState::Idle => self.leave(),
            PlainState::Starting | PlainState::Working | PlainState::Asking(_) => {
                vec![self.lines.say(w::STOPPING), PlainEffect::Send(Op::Turn(TurnOp::Stop))]
            }
        }
    }

    /// The input ended: a running turn is followed to its end.
    pub fn on_end_of_input(&mut self) -> Vec<PlainEffect> {
        match self.state {
            _ if self.leaving.is_some() => vec![PlainEffect::End(Exit::Done)],
            PlainState::Idle if self.waiting_command.is_some() => Vec::new(),
            PlainState::Idle => self.leave(),
            PlainState::Starting | PlainState::Working => Vec::new(),
            // There is no user left to answer.
            PlainState::Asking(_) => {
                vec![self.lines.say(w::INPUT_ENDED), PlainEffect::Send(Op::Turn(TurnOp::Stop))]
            }
        }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.state, PlainState::Idle)
            && self.waiting_command.is_none()
            && self.leaving.is_none()
    }

    fn is_asking(&self) -> bool {
        matches!(self.state, PlainState::Asking(_))
    }

    /// Handles a line that the user typed.
    pub fn on_line(&mut self, text: &str) -> Vec<PlainEffect> {
        if let Some(leaving) = &mut self.leaving {
            let answer = leaving.answer(text);
            return self.answer_leaving(answer);
        }
        if let PlainState::Asking(asked) = &mut self.state {
            return match asked.answer(text) {
                question::ParsedLine::Decided(decision) => {
                    vec![PlainEffect::Send(Op::Question(QuestionOp::Decide {
                        ask: asked.id(),
                        decision,
                    }))]
                }
                question::ParsedLine::AskAgain(say) => {
                    vec![self.lines.say(say), PlainEffect::Prompt]
                }
                question::ParsedLine::Lines(says) => self.lines_and_prompt(says),
                question::ParsedLine::PreviewRisk(work) => {
                    vec![PlainEffect::Send(Op::Question(QuestionOp::PreviewRisk {
                        ask: asked.id(),
                        work,
                    }))]
                }
                question::ParsedLine::Command => self.enter_line(text),
            };
        }
        self.enter_line(text)
    }

    /// Handles a line that was typed before the question could be read: it does not answer the
    /// question, and is treated as any other line.
    pub fn on_early_line(&mut self, text: &str) -> Vec<PlainEffect> {
        if text.trim().is_empty() || text.trim_start().starts_with('/') {
            return self.enter_line(text);
        }
        let mut effects = vec![self.lines.say(w::TOO_SOON)];
        effects.extend(self.enter_line(text));
        effects.push(PlainEffect::Prompt);
        effects
    }

    fn lines_and_prompt(&self, texts: Vec<LocalizedText>) -> Vec<PlainEffect> {
        texts.into_iter().map(|say| self.lines.say(say)).chain([PlainEffect::Prompt]).collect()
    }

    /// The verdict on a step that the user changed.
    fn on_verdict(
        &mut self,
        ask: AskId,
        action: &StepAction,
        risk: &Risk,
        change: Option<&Change>,
    ) -> Vec<PlainEffect> {
        let PlainState::Asking(asked) = &mut self.state else { return Vec::new() };
        if asked.id() != ask {
            return Vec::new();
        }
        let says = asked.on_verdict(action, risk, change);
        if says.is_empty() { Vec::new() } else { self.lines_and_prompt(says) }
    }

    fn enter_line(&mut self, text: &str) -> Vec<PlainEffect> {
        match input::parse(if text.trim() == "?" { "/?" } else { text }) {
            Intent::Empty => self.prompt(),
            Intent::Message { parts } => {
                vec![PlainEffect::Send(input::submit_op(parts, str::to_owned))]
            }
            Intent::Shell { line, keep } => {
                vec![PlainEffect::Send(Op::Turn(TurnOp::Shell { line, keep }))]
            }
            Intent::Command { name, args, mentions } => {
                self.command(&format!("/{name} {args}"), mentions)
            }
        }
    }

    fn prompt(&self) -> Vec<PlainEffect> {
        match self.state {
            // The question before leaving has its own prompt.
            _ if self.leaving.is_some() => Vec::new(),
            PlainState::Idle | PlainState::Asking(_) => vec![PlainEffect::Prompt],
            PlainState::Starting | PlainState::Working => Vec::new(),
        }
    }

    /// A file may have been added since the extensions were read, so a name that is not built in
    /// waits until they are read again.
    fn command(&mut self, line: &str, mentions: Vec<Mention>) -> Vec<PlainEffect> {
        let name = line.split_whitespace().next().unwrap_or_default();
        if self.is_asking() {
            return self.dispatch(line, mentions);
        }
        if commands::find(name).is_none() && name.len() > 1 {
            self.waiting_command = Some((line.to_owned(), mentions));
            return vec![PlainEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions))];
        }
        self.dispatch(line, mentions)
    }

    fn on_extensions(&mut self, extensions: Extensions) -> Vec<PlainEffect> {
        self.extensions = extensions;
        match self.waiting_command.take() {
            Some((line, mentions)) => self.dispatch(&line, mentions),
            None => Vec::new(),
        }
    }

    fn dispatch(&mut self, line: &str, named_mentions: Vec<Mention>) -> Vec<PlainEffect> {
        let cx = CommandContext {
            facts: &self.facts,
            models: &self.models,
            themes: &[],
            extensions: &self.extensions,
            folders: &[],
            argument_values: None,
            surface: Surface::Plain,
            busy: !self.is_idle(),
        };
        let outcome = if self.is_asking() {
            commands::dispatch_over_question(&cx, line)
        } else {
            commands::dispatch(&cx, line)
        };
        let mut effects = self.apply_outcome(outcome);
        for effect in &mut effects {
            if let PlainEffect::Send(Op::Turn(TurnOp::Invoke { mentions, .. })) = effect {
                mentions.clone_from(&named_mentions);
            }
        }
        let sends = effects.iter().any(|effect| matches!(effect, PlainEffect::Send(_)));
        if !sends {
            effects.extend(self.prompt());
        }
        effects
    }

    fn apply_outcome(&mut self, outcome: CommandOutcome) -> Vec<PlainEffect> {
        match outcome {
            CommandOutcome::Send(op) => vec![PlainEffect::Send(op)],
            CommandOutcome::Say(notice) => vec![PlainEffect::Notice(notice)],
            CommandOutcome::Page { title, rows } => vec![PlainEffect::Page(Page { title, rows })],
            CommandOutcome::Many(all) => {
                all.into_iter().flat_map(|one| self.apply_outcome(one)).collect()
            }
            CommandOutcome::Do(act) => self.perform(act),
        }
    }

    fn perform(&mut self, action: UiAction) -> Vec<PlainEffect> {
        match action {
            UiAction::Quit => self.leave(),
            UiAction::Help(topic) => {
                let page = commands::help_page(topic.as_deref(), Surface::Plain, &self.extensions);
                self.apply_outcome(page)
            }
            UiAction::Lang(lang) => {
                self.lines.lang = lang;
                Vec::new()
            }
            UiAction::Models => {
                self.asked_models = true;
                vec![PlainEffect::Send(Op::Session(SessionOp::Report { report: Report::Models }))]
            }
            UiAction::Connect(name) => {
                let name = name.unwrap_or_else(|| "PROVIDER".to_owned());
                vec![PlainEffect::Notice(Notice::info(keys::CONNECT_HOW.with("name", name)))]
            }
            UiAction::Efforts => {
                let page = commands::efforts_page(&self.facts);
                self.apply_outcome(page)
            }
            UiAction::Sessions => {
                vec![PlainEffect::Send(Op::Saved(SavedOp::SearchSessions { words: String::new() }))]
            }
            UiAction::Rewind => vec![match self.turns.page(self.facts.counted_turns()) {
                Some(page) => PlainEffect::Page(page),
                None => PlainEffect::Notice(Notice::info(w::NO_TURNS)),
            }],
            UiAction::Bots => {
                let page = commands::bots_page(
                    &self.extensions,
                    self.facts.bot.as_deref(),
                    Surface::Plain,
                );
                self.apply_outcome(page)
            }
            UiAction::Later(line) => {
                self.deferred.push(line);
                Vec::new()
            }
            UiAction::Theme(_)
            | UiAction::Settings(_)
            | UiAction::Keys
            | UiAction::Vim(_)
            | UiAction::Timestamps(_)
            | UiAction::Copy(_)
            | UiAction::Dump
            | UiAction::Search(_)
            | UiAction::Chat(_) => {
                vec![PlainEffect::Notice(Notice::warning(w::NEEDS_SCREEN))]
            }
        }
    }

    /// Handles an event of the session.
    #[allow(clippy::too_many_lines, reason = "a row for each event")]
    pub fn on_event(&mut self, event: Event) -> Vec<PlainEffect> {
        match event {
            Event::TurnStarted { turn, text, .. } => {
                self.turns.add(turn, &text);
                self.state = PlainState::Working;
                Vec::new()
            }
            Event::QuestionClosed { .. } => self.on_question_closed(),
            Event::ReplyStarted => self.on_reply_started(),
            Event::Delta { text } => self.on_delta(&text),
            Event::Repairing { fault } => {
                vec![self.lines.say(common::REPAIRING.with("fault", fault))]
            }
            Event::Retrying { attempt, of, why, .. } => {
                vec![
                    self.lines
                        .say(w::RETRYING.with("attempt", attempt).with("of", of).with("why", why)),
                ]
            }
            Event::Replied(replied) => self.on_reply(&replied),
            Event::StepStarted { step, risk } => {
                vec![self.lines.say(step_started(&step.work, &risk))]
            }
            Event::StepFinished(observation) => self.lines.on_observation(&observation),
            Event::Asked(ask) => self.on_question(*ask),
            Event::Queued { messages } if messages.is_empty() => Vec::new(),
            Event::Queued { messages } => vec![self.lines.say(w::QUEUED.with("n", messages.len()))],
            Event::TurnEnded { ending, .. } => self.on_turn_ended(&ending),
            Event::HistoryChunk { events, .. } => {
                self.turns.add_all(&events);
                self.show_last_exchange(&events)
            }
            Event::Rewound { turn, text, .. } => {
                self.turns.truncate(turn);
                let said = self.lines.say(w::REWOUND.with("text", text));
                self.with_prompt(said)
            }
            Event::RewindAsked { turn, files } => self.explain_rewind(turn, files),
            Event::Facts(facts) => self.on_session_info(*facts),
            Event::Notice(notice) => self.on_notice(notice),
            Event::Page(page) | Event::SideAnswer(page) => {
                self.with_prompt(PlainEffect::Page(*page))
            }
            Event::Changes { session, uncommitted } => {
                self.changes(&session, uncommitted.as_deref())
            }
            Event::FilesChanged { files, .. } => self.lines.files_changed(&files),
            Event::Compacting => vec![self.lines.say(context::COMPACTING)],
            Event::Compacted(receipt) => vec![PlainEffect::Page(receipt.page())],
            Event::Models { names, offers } => {
                self.models = names;
                self.models_page(&offers)
            }
            Event::Catalogue(kept) => self.on_extensions(*kept),
            Event::Cleared => {
                self.turns = TurnList::default();
                vec![self.lines.say(w::CLEARED), PlainEffect::Prompt]
            }
            Event::Closed => vec![PlainEffect::End(Exit::Done)],
            Event::Attached { items, .. } => self.lines.attachment_lines(&items),
            Event::Rendered { text, .. } => {
                text.lines().map(|line| self.lines.line(line)).collect()
            }
            Event::Steered { text, .. } => vec![self.lines.say(w::STEERED.with("text", text))],
            Event::Plan { items } => self.lines.plan(&items),
            // The thread that reads lines cannot release the terminal.
            Event::TerminalRequested { ask } => {
                let decision = Decision::Reject { word: None };
                vec![PlainEffect::Send(Op::Question(QuestionOp::Decide { ask, decision }))]
            }
            Event::SubagentStarted(_) | Event::Subagent { .. } => {
                self.agents.report(&event).map(|say| self.lines.say(say)).into_iter().collect()
            }
            Event::Judged { ask, work, risk, change } => {
                self.on_verdict(ask, &work, &risk, change.as_deref())
            }
            _ => Vec::new(),
        }
    }

    fn on_reply_started(&mut self) -> Vec<PlainEffect> {
        (self.written_bytes, self.partial_line) = (0, String::new());
        Vec::new()
    }

    /// Trust is asked about while no turn runs, and a subagent in the background may ask then.
    fn on_question_closed(&mut self) -> Vec<PlainEffect> {
        self.state = match &self.state {
            PlainState::Asking(asked) if asked.is_trust() => PlainState::Idle,
            PlainState::Asking(asked) if asked.is_outside_turn => {
                self.state = PlainState::Idle;
                return self.prompt();
            }
            PlainState::Starting
            | PlainState::Idle
            | PlainState::Working
            | PlainState::Asking(_) => PlainState::Working,
        };
        Vec::new()
    }

    /// The first session info opens the conversation.
    fn on_session_info(&mut self, info: SessionInfo) -> Vec<PlainEffect> {
        self.facts = info;
        let is_lost = self.facts.unsaved.as_ref().is_some_and(|unsaved| !unsaved.elsewhere);
        if self.leaving.is_some() && !is_lost {
            self.knows_unsaved = true;
            return vec![PlainEffect::End(Exit::Done)];
        }
        if !matches!(self.state, PlainState::Starting) {
            return Vec::new();
        }
        self.state = PlainState::Idle;
        self.welcome()
    }

    fn explain_rewind(&self, turn: u64, files: usize) -> Vec<PlainEffect> {
        let back = self.facts.counted_turns().take_while(|counted| *counted >= turn).count();
        let say = w::REWIND_WHAT.with("files", files).with("n", back);
        self.with_prompt(PlainEffect::Notice(Notice::warning(say)))
    }

    fn changes(&mut self, changes: &[Change], uncommitted: Option<&[Change]>) -> Vec<PlainEffect> {
        let page = changes_page(&self.facts.cwd, changes, uncommitted);
        self.with_prompt(PlainEffect::Page(page))
    }

    fn with_prompt(&self, effect: PlainEffect) -> Vec<PlainEffect> {
        let mut effects = vec![effect];
        effects.extend(self.prompt());
        effects
    }

    /// The last exchange of a resumed session; a screen reader would read all of it aloud.
    fn show_last_exchange(&mut self, events: &[Event]) -> Vec<PlainEffect> {
        let started = events.iter().rposition(|event| matches!(event, Event::TurnStarted { .. }));
        let mut effects = Vec::new();
        for event in events.iter().skip(started.unwrap_or(0)) {
            match event {
                Event::TurnStarted { text, .. } => {
                    effects.extend(text.lines().map(|line| self.lines.line(&format!("> {line}"))))
                }
                Event::Replied(replied) => effects.extend(self.on_reply(replied)),
                Event::StepFinished(observation) => {
                    effects.extend(self.lines.on_observation(observation))
                }
                _ => {}
            }
        }
        effects
    }

    /// Lines are written only when complete: half a line read aloud is noise.
    fn on_delta(&mut self, text: &str) -> Vec<PlainEffect> {
        self.partial_line.push_str(text);
        let Some((whole, rest)) = self.partial_line.rsplit_once('\n') else { return Vec::new() };
        let whole = whole.to_owned();
        let rest = rest.to_owned();

        self.partial_line = rest;
        self.written_bytes += whole.len() + 1;
        whole.lines().map(|line| self.lines.line(line)).collect()
    }

    /// The part that has not been written yet. If the whole text differs from what was streamed,
    /// all of it.
    fn on_reply(&mut self, message: &ModelMessage) -> Vec<PlainEffect> {
        let left = message.message.get(self.written_bytes..).unwrap_or(&message.message);
        let mut effects: Vec<PlainEffect> =
            left.lines().map(|line| self.lines.line(line)).collect();
        if message.cut.is_some() {
            effects.push(self.lines.say(w::CUT));
        }
        for (at, suggestion) in message.suggestions.iter().enumerate() {
            let say = w::SUGGESTION.with("n", at + 1).with("text", suggestion.as_str());
            effects.push(self.lines.say(say));
        }
        (self.written_bytes, self.partial_line) = (0, String::new());
        effects
    }

    fn on_question(&mut self, ask: Ask) -> Vec<PlainEffect> {
        self.leaving = None;
        let mut question = PlainQuestion::new(ask, self.lines.lang);
        question.is_outside_turn = matches!(self.state, PlainState::Idle);
        let effects = self.lines_and_prompt(question.lines());
        self.state = PlainState::Asking(Box::new(question));
        effects
    }

    fn on_turn_ended(&mut self, outcome: &TurnOutcome) -> Vec<PlainEffect> {
        self.state = PlainState::Idle;
        let error = |why: LocalizedText| vec![PlainEffect::Notice(Notice::error(why))];
        let mut effects = match outcome {
            TurnOutcome::Done | TurnOutcome::Error => Vec::new(),
            TurnOutcome::Cancelled | TurnOutcome::Stopped => vec![self.lines.say(common::STOPPED)],
            TurnOutcome::Limit { why } => vec![PlainEffect::Notice(Notice::warning(why.clone()))],
            TurnOutcome::Interrupted => error(session::INTERRUPTED.into()),
            TurnOutcome::Failed { why } | TurnOutcome::Unsent { why } => error(why.clone()),
        };
        for line in std::mem::take(&mut self.deferred) {
            effects.extend(self.command(&line, Vec::new()));
        }
        effects.extend(self.prompt());
        effects
    }
}
