//! What a session of an editor makes of the client's messages and of the events of its session. Pure.

use agent_client_protocol_schema::v1::{
    Error, PromptResponse, RequestId, RequestPermissionRequest, SessionId, SessionMode,
    SessionModeState, SessionUpdate, SetSessionModeResponse, StopReason, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::elicitation;
use super::message_fold::{MessageFold, is_offered, offered_help};
use super::permission::EditorQuestion;
use super::prompt_blocks::PromptInput;
use super::wire::{AgentAnswer, answer_of};
use avocet_core::i18n::{Lang, LocalizedText, acp as phrases, linear, session as session_words};
use avocet_core::protocol::{
    ApprovalMode, Ask, Decision, Event, ExtensionOp, Extensions, Mention, Notice, NoticeLevel, Op,
    QuestionOp, Report, RuleOp, SessionInfo, SessionOp, SettingOp, Surface, Topic, Truncation,
    TurnOp, TurnOutcome,
};
use avocet_present::commands::{self, CommandContext, CommandOutcome, UiAction};

/// An action for the driver.
#[derive(Debug)]
pub enum AcpEffect {
    Send(Op),
    Update(Box<SessionUpdate>),
    /// Asks the client for a permission, under this number.
    Ask(u64, Box<RequestPermissionRequest>),
    /// Shows the client's user a form, under such a number.
    ShowForm(u64, Value),
    Answer(RequestId, AgentAnswer),
    /// Belongs to no prompt: for the user outside the conversation.
    Report(Notice),
}

/// The conversation of one session.
pub struct EditorConversation {
    id: SessionId,
    lang: Lang,
    info: SessionInfo,
    extensions: Extensions,
    models: Vec<String>,
    fold: MessageFold,
    prompt: Option<RunningPrompt>,
    /// A turn runs, whatever began it.
    has_turn: bool,
    question: Option<EditorQuestion>,
    /// The client shows forms for questions that need words.
    has_forms: bool,
    /// The number of the last permission that was asked for.
    calls: u64,
    mode_change: Option<(RequestId, ApprovalMode)>,
}

/// The prompt that the client waits for.
struct RunningPrompt {
    id: RequestId,
    phase: PromptPhase,
    /// How the last reply was cut.
    truncation: Option<Truncation>,
}

/// What ends a prompt.
#[derive(Debug, PartialEq)]
enum PromptPhase {
    /// The extensions are read again before this command is looked up.
    Reading(String, Vec<Mention>),
    /// The turn of a message, which begins unless the session cannot take one.
    Starting,
    /// The turn of a command: any sentence of the session says that there is nothing to do.
    StartingCommand,
    Turn,
    /// The page that was asked for.
    Report,
    /// Everything that was sent is done once the extensions come.
    Done,
}

/// The modes that a client offers.
pub fn modes(approval_mode: ApprovalMode, lang: Lang) -> SessionModeState {
    let mode = |mode: ApprovalMode| {
        let about = mode.about().text(lang).to_owned();
        SessionMode::new(mode.name(), mode.label().text(lang)).description(about)
    };
    SessionModeState::new(approval_mode.name(), ApprovalMode::ALL.map(mode).into())
}

impl EditorConversation {
    pub fn new(
        id: SessionId,
        lang: Lang,
        info: SessionInfo,
        has_forms: bool,
    ) -> EditorConversation {
        EditorConversation {
            id,
            lang,
            fold: MessageFold::new(lang, &info),
            info,
            extensions: Extensions::default(),
            models: Vec::new(),
            prompt: None,
            has_turn: false,
            question: None,
            has_forms,
            calls: 0,
            mode_change: None,
        }
    }

    /// What a saved event shows.
    pub fn replay(&mut self, event: &Event) -> Vec<SessionUpdate> {
        self.fold.replay(event)
    }

    pub fn on_prompt(
        &mut self,
        id: RequestId,
        read: Result<PromptInput, LocalizedText>,
    ) -> Vec<AcpEffect> {
        if self.prompt.is_some() || self.has_turn {
            let error = Error::invalid_request().data(phrases::ONE_PROMPT.text(self.lang));
            return vec![AcpEffect::Answer(id, Err(error))];
        }
        let input = match read {
            Ok(input) => input,
            Err(why) => {
                let error = Error::invalid_params().data(why.text(self.lang));
                return vec![AcpEffect::Answer(id, Err(error))];
            }
        };
        self.prompt = Some(RunningPrompt { id, phase: PromptPhase::Starting, truncation: None });
        match input {
            PromptInput::Send(op) => self.send_all(vec![op]),
            PromptInput::Command { line, mentions } => self.command(line, mentions),
        }
    }

    /// The file of a command that is not built in may have changed since it was read.
    fn command(&mut self, line: String, mentions: Vec<Mention>) -> Vec<AcpEffect> {
        let name = line.split_whitespace().next().unwrap_or_default();
        if !is_offered(name) {
            let say = phrases::NOT_HERE.with("name", name.trim_start_matches('/'));
            let update = self.fold.notice(&Notice::warning(say));
            return self.finish_with(vec![shown(update)]);
        }
        if commands::find(name).is_some() {
            return self.dispatch(&line, &mentions);
        }
        self.set_phase(PromptPhase::Reading(line, mentions));
        vec![AcpEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions))]
    }

    fn dispatch(&mut self, line: &str, named_mentions: &[Mention]) -> Vec<AcpEffect> {
        let cx = CommandContext {
            facts: &self.info,
            models: &self.models,
            themes: &[],
            extensions: &self.extensions,
            folders: &[],
            argument_values: None,
            surface: Surface::Plain,
            busy: false,
        };
        let outcome = commands::dispatch(&cx, line);
        let mut ops = Vec::new();
        let mut effects = Vec::new();
        self.apply_outcome(outcome, &mut ops, &mut effects);
        for op in &mut ops {
            if let Op::Turn(TurnOp::Invoke { mentions, .. }) = op {
                mentions.extend_from_slice(named_mentions);
            }
        }
        effects.extend(self.send_all(ops));
        effects
    }

    fn apply_outcome(
        &mut self,
        outcome: CommandOutcome,
        ops: &mut Vec<Op>,
        effects: &mut Vec<AcpEffect>,
    ) {
        match outcome {
            CommandOutcome::Send(op) => ops.push(op),
            CommandOutcome::Say(notice) => effects.push(shown(self.fold.notice(&notice))),
            CommandOutcome::Page { title, rows } => {
                effects.push(shown(self.fold.page(&title, &rows)));
            }
            CommandOutcome::Many(all) => {
                all.into_iter().for_each(|one| self.apply_outcome(one, ops, effects));
            }
            CommandOutcome::Do(action) => match action {
                UiAction::Help(topic) => {
                    let mut page =
                        commands::help_page(topic.as_deref(), Surface::Plain, &self.extensions);
                    if let (None, CommandOutcome::Page { rows, .. }) = (&topic, &mut page) {
                        *rows = offered_help(std::mem::take(rows));
                    }
                    self.apply_outcome(page, ops, effects);
                }
                UiAction::Lang(lang) => {
                    self.lang = lang;
                    self.fold.set_lang(lang);
                    ops.push(Op::Setting(SettingOp::SetLang { lang }));
                }
                UiAction::Models => {
                    ops.push(Op::Session(SessionOp::Report { report: Report::Models }))
                }
                UiAction::Efforts => {
                    self.apply_outcome(commands::efforts_page(&self.info), ops, effects);
                }
                UiAction::Bots => {
                    let bot = self.info.bot.as_deref();
                    let page = commands::bots_page(&self.extensions, bot, Surface::Plain);
                    self.apply_outcome(page, ops, effects);
                }
                _ => effects.push(shown(self.fold.sentence(&linear::NEEDS_SCREEN.into()))),
            },
        }
    }

    /// Sends what a prompt became; what ends it follows from that.
    fn send_all(&mut self, mut ops: Vec<Op>) -> Vec<AcpEffect> {
        let is_message = |op: &Op| {
            matches!(
                op,
                Op::Turn(
                    TurnOp::Submit { .. }
                        | TurnOp::SubmitPrompt { .. }
                        | TurnOp::Invoke { .. }
                        | TurnOp::Shell { .. }
                )
            )
        };
        if ops.is_empty() {
            return self.finish_with(Vec::new());
        }
        if ops.iter().any(is_message) {
            self.set_phase(PromptPhase::Starting);
        } else if ops.iter().any(Op::begins_turn_without_message) {
            self.set_phase(PromptPhase::StartingCommand);
        } else if ops.iter().any(|op| matches!(op, Op::Session(SessionOp::Report { .. }))) {
            self.set_phase(PromptPhase::Report);
        } else {
            self.set_phase(PromptPhase::Done);
            ops.push(Op::Extension(ExtensionOp::RefreshExtensions));
        }
        ops.into_iter().map(AcpEffect::Send).collect()
    }

    fn set_phase(&mut self, phase: PromptPhase) {
        if let Some(prompt) = &mut self.prompt {
            prompt.phase = phase;
        }
    }

    fn is_in(&self, phase: &PromptPhase) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| prompt.phase == *phase)
    }

    /// It waits for the end of a turn.
    fn awaits_turn(&self) -> bool {
        use PromptPhase::{Starting, StartingCommand, Turn};
        let phase = self.prompt.as_ref().map(|prompt| &prompt.phase);
        matches!(phase, Some(Starting | StartingCommand | Turn))
    }

    /// Answers the prompt, after these.
    fn finish_with(&mut self, mut effects: Vec<AcpEffect>) -> Vec<AcpEffect> {
        effects.extend(self.answer(answer_of(&PromptResponse::new(StopReason::EndTurn))));
        effects
    }

    fn answer(&mut self, answer: AgentAnswer) -> Option<AcpEffect> {
        let prompt = self.prompt.take()?;
        Some(AcpEffect::Answer(prompt.id, answer))
    }

    /// The client withdraws its prompt: the turn ends, and with it the prompt.
    pub fn on_cancel(&mut self) -> Vec<AcpEffect> {
        if self.prompt.is_none() && !self.has_turn {
            return Vec::new();
        }
        let mut effects = vec![AcpEffect::Send(Op::Turn(TurnOp::Stop))];
        if !self.awaits_turn() {
            effects.extend(self.answer(answer_of(&PromptResponse::new(StopReason::Cancelled))));
        }
        effects
    }

    pub fn on_set_mode(&mut self, id: RequestId, mode: ApprovalMode) -> Vec<AcpEffect> {
        if self.mode_change.is_some() {
            let error = Error::invalid_request().data(phrases::TOO_FAST.text(self.lang));
            return vec![AcpEffect::Answer(id, Err(error))];
        }
        self.mode_change = Some((id, mode));
        vec![AcpEffect::Send(Op::Rules(RuleOp::SetApprovalMode { mode }))]
    }

    /// The answer of the client to a permission.
    pub fn on_permission(&mut self, call: u64, answer: Option<&RawValue>) -> Vec<AcpEffect> {
        // One that comes late answers no other question.
        let Some(question) = self.question.as_mut().filter(|_| call == self.calls) else {
            return Vec::new();
        };
        let words = elicitation::decision(question.question(), answer);
        let decision = words.unwrap_or_else(|| question.decide(answer));
        vec![AcpEffect::Send(Op::Question(QuestionOp::Decide { ask: question.id(), decision }))]
    }

    /// The session ended, or the client closes it.
    pub fn close(&mut self) -> Vec<AcpEffect> {
        self.answer(answer_of(&PromptResponse::new(StopReason::Cancelled))).into_iter().collect()
    }

    pub fn on_event(&mut self, event: Event) -> Vec<AcpEffect> {
        let mut effects: Vec<AcpEffect> = self.fold.fold(&event).into_iter().map(shown).collect();
        match event {
            Event::TurnStarted { .. } => {
                self.has_turn = true;
                if self.awaits_turn() {
                    self.set_phase(PromptPhase::Turn);
                }
            }
            Event::Replied(message) => {
                self.prompt.iter_mut().for_each(|prompt| prompt.truncation = message.cut);
            }
            Event::TurnEnded { ending, .. } => effects.extend(self.on_turn_ended(&ending)),
            Event::Asked(ask) => effects.extend(self.on_question(*ask)),
            Event::QuestionClosed { .. } => effects.extend(self.on_question_closed()),
            Event::TerminalRequested { ask } => {
                let decision = Decision::Reject { word: None };
                effects.push(AcpEffect::Send(Op::Question(QuestionOp::Decide { ask, decision })));
            }
            Event::Facts(info) => {
                self.info = *info;
                effects.extend(self.answer_mode_change(None));
            }
            Event::Notice(notice) => effects.extend(self.on_notice(notice)),
            Event::Catalogue(extensions) => {
                self.extensions = *extensions;
                effects.extend(self.on_extensions());
            }
            Event::Models { names, offers } => {
                self.models = names;
                if self.is_in(&PromptPhase::Report) {
                    let rows = commands::model_rows(&offers, &self.info.model);
                    let title = session_words::MODELS_HERE.into();
                    let page = shown(self.fold.page(&title, &rows));
                    effects.extend(self.finish_with(vec![page]));
                }
            }
            Event::Page(_) | Event::Changes { .. } if self.is_in(&PromptPhase::Report) => {
                effects = self.finish_with(effects);
            }
            _ => {}
        }
        effects
    }

    fn on_notice(&mut self, notice: Notice) -> Vec<AcpEffect> {
        if notice.level != NoticeLevel::Info
            && let Some(answer) = self.answer_mode_change(Some(&notice))
        {
            return vec![answer];
        }
        let Some(prompt) = &self.prompt else { return vec![AcpEffect::Report(notice)] };
        let ends = match prompt.phase {
            // What would have begun a turn did not.
            PromptPhase::Starting => {
                notice.level == NoticeLevel::Error || notice.topic == Topic::ReadOnly
            }
            PromptPhase::StartingCommand | PromptPhase::Report => true,
            PromptPhase::Reading(..) | PromptPhase::Turn | PromptPhase::Done => false,
        };
        let update = shown(self.fold.notice(&notice));
        if ends { self.finish_with(vec![update]) } else { vec![update] }
    }

    /// Answers a change of the mode once the session has made or refused it.
    fn answer_mode_change(&mut self, refused: Option<&Notice>) -> Option<AcpEffect> {
        let (id, mode) = self.mode_change.take()?;
        if self.info.approval == mode {
            return Some(AcpEffect::Answer(id, answer_of(&SetSessionModeResponse::new())));
        }
        let Some(notice) = refused else {
            self.mode_change = Some((id, mode));
            return None;
        };
        let error = Error::invalid_request().data(notice.say.text(self.lang));
        Some(AcpEffect::Answer(id, Err(error)))
    }

    fn on_extensions(&mut self) -> Vec<AcpEffect> {
        let Some(prompt) = &mut self.prompt else { return Vec::new() };
        match std::mem::replace(&mut prompt.phase, PromptPhase::Done) {
            PromptPhase::Reading(line, mentions) => self.dispatch(&line, &mentions),
            // The answer to a question comes before the end of what asked it.
            PromptPhase::Done if self.question.is_none() => self.finish_with(Vec::new()),
            phase => {
                self.set_phase(phase);
                Vec::new()
            }
        }
    }

    fn on_question(&mut self, ask: Ask) -> Vec<AcpEffect> {
        let question = EditorQuestion::new(ask);
        let form = elicitation::form(question.question(), &self.id, self.lang);
        if let Some(form) = form.filter(|_| self.has_forms) {
            self.calls += 1;
            self.question = Some(question);
            return vec![AcpEffect::ShowForm(self.calls, form)];
        }
        if let Some(decision) = question.unanswerable() {
            return vec![AcpEffect::Send(Op::Question(QuestionOp::Decide {
                ask: question.id(),
                decision,
            }))];
        }
        self.calls += 1;
        let mut effects = Vec::new();
        if let Some((step, change)) = question.step() {
            effects.extend(self.fold.announce(step, change).into_iter().map(shown));
        } else {
            let call = question.tool_call(&self.info.cwd, self.lang);
            effects.push(shown(SessionUpdate::ToolCall(call)));
        }
        let request = question.request(&self.id, &self.info.cwd, self.lang);
        effects.push(AcpEffect::Ask(self.calls, Box::new(request)));
        self.question = Some(question);
        effects
    }

    /// A question about no step has a call of its own, which ends with it.
    fn on_question_closed(&mut self) -> Vec<AcpEffect> {
        let Some(question) = self.question.take() else { return Vec::new() };
        let mut effects = Vec::new();
        let is_form = self.has_forms && elicitation::needs_words(question.question());
        if question.step().is_none() && !is_form {
            let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
            let ended = ToolCallUpdate::new(question.call_id(), fields);
            effects.push(shown(SessionUpdate::ToolCallUpdate(ended)));
        }
        if self.is_in(&PromptPhase::Done) {
            effects.push(AcpEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions)));
        }
        effects
    }

    fn on_turn_ended(&mut self, outcome: &TurnOutcome) -> Vec<AcpEffect> {
        self.has_turn = false;
        let mut effects = self.on_question_closed();
        if !self.awaits_turn() {
            return effects;
        }
        let truncation = self.prompt.as_ref().and_then(|prompt| prompt.truncation);
        let reason = match outcome {
            TurnOutcome::Failed { why } | TurnOutcome::Unsent { why } => {
                let error = Error::internal_error().data(why.text(self.lang));
                effects.extend(self.answer(Err(error)));
                return effects;
            }
            TurnOutcome::Limit { why } => {
                effects.push(shown(self.fold.sentence(why)));
                StopReason::MaxTurnRequests
            }
            TurnOutcome::Cancelled | TurnOutcome::Stopped | TurnOutcome::Interrupted => {
                StopReason::Cancelled
            }
            TurnOutcome::Done | TurnOutcome::Error => match truncation {
                Some(Truncation::Length) => StopReason::MaxTokens,
                Some(Truncation::Filtered) => StopReason::Refusal,
                _ => StopReason::EndTurn,
            },
        };
        effects.extend(self.answer(answer_of(&PromptResponse::new(reason))));
        effects
    }
}

fn shown(update: SessionUpdate) -> AcpEffect {
    AcpEffect::Update(Box::new(update))
}
