//! Serves the requests of a running turn: the model's answer, the user's decision, a step's run. It
//! belongs to the turn's task, so it may wait.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::context::{InstructionsCheck, Summarizer};
use super::event_sink::Outbox;
use super::extensions::ExtensionScan;
use super::script_tool;
use super::skill_tool;
use crate::agent::{Host, ModelAnswer, ModelRequest};
use crate::config::project_instructions::ProjectInstructions;
use crate::context::window::{self, Bounds, ContextUsage, History};
use crate::extensions::ExtensionSet;
use crate::i18n::session as words;
use crate::model::{Chunk, Model, ModelError, Request};
use crate::protocol::streaming::Partial;
use crate::protocol::{
    ApprovalScope, Ask, AskId, Decision, Event, Message, Observation, Outcome, Params,
    SandboxStatus, Truncation, TrustOffer, Usage, reply,
};
use crate::safety::redact::Redactor;
use crate::safety::{
    Cleared, Grant, Machine, Policy, PolicyContext, ToolRestriction, ToolTask, Workspace,
};
use crate::tools::{PipedOutput, RunControl, ShellInput, Tool, Toolbox};

/// A message from a turn to its session.
#[derive(Debug)]
pub enum TurnMessage {
    /// The turn waits for the user.
    QuestionOpened(Box<Ask>),
    /// The turn does not wait any more.
    QuestionClosed,
    /// The user wants a rule that covers this from now on.
    Remember {
        rule: String,
    },
    RuleGranted {
        grant: Box<Grant>,
        scope: ApprovalScope,
    },
    /// The user trusts the folder, at the question of a step.
    FolderTrusted,
    /// A skill was entered: its name and its text.
    SkillEntered {
        name: String,
        text: String,
    },
    /// The start is over, and the extensions can be read.
    RefreshExtensions,
    /// The extensions were read.
    ExtensionsScanned {
        number: u64,
        looked: ExtensionScan,
    },
    /// An event to keep for an export.
    Record(Box<Event>),
    /// An entered skill limits the turn to its tools, or none does any more.
    ToolsRestricted(Option<ToolRestriction>),
    /// A step ended.
    StepFinished,
    /// The turn read the first of the messages sent to it.
    SteeringRead,
    /// The parts of the request that is being answered.
    RequestSent(Box<ContextUsage>),
    /// The history was compressed.
    HistoryCompacted(Arc<History>),
    /// The current project instructions.
    InstructionsRead(Arc<ProjectInstructions>),
}

/// The data that stays the same throughout a turn.
#[derive(Clone)]
pub struct TurnContext {
    pub model: Arc<dyn Model>,
    pub params: Params,
    /// Masked.
    pub system: Arc<str>,
    pub history: Arc<History>,
    pub instructions: Arc<ProjectInstructions>,
    pub summarizer: Summarizer,
    pub bounds: Bounds,
    pub tools: Toolbox,
    pub extensions: Arc<ExtensionSet>,
    pub redactor: Arc<Redactor>,
    /// Whether shell commands that are not of high risk were approved in advance.
    pub approves_template_commands: bool,
    pub cancel: CancellationToken,
}

/// The host of one turn.
pub struct TurnHost {
    pub turn: u64,
    pub context: TurnContext,
    pub outbox: Outbox,
    /// The events still to be delivered before anything that `outbox` sends from now on.
    pub background: Option<JoinHandle<()>>,
    /// They include the user's message: no request is sent before it is saved.
    pub has_unsaved_message: bool,
    pub turn_messages: mpsc::UnboundedSender<TurnMessage>,
    pub inbox: TurnInbox,
    /// The size of the request that is being answered, in bytes.
    pub request_bytes: usize,
    /// The reply so far; it outlives a call that is dropped.
    pub answer: ModelAnswer,
    pub judge: StepJudge,
    /// The work before the first call has been done.
    pub prepared: bool,
    /// A running check for changed project instructions.
    pub instructions_check: Option<InstructionsCheck>,
    /// The tokens used by summaries and scripts.
    pub extra_usage: Usage,
    /// Scripts that run as steps.
    pub script_runner: script_tool::ScriptRunner,
    /// The contents of the folder, for a question that offers trust in it.
    pub trust_offer: TrustOffer,
}

/// The channels from a session to its turn.
pub struct TurnInbox {
    pub decisions: mpsc::UnboundedReceiver<(AskId, Decision)>,
    /// The messages of the user to the running turn.
    pub steering: mpsc::UnboundedReceiver<String>,
}

/// The parts that judge steps.
pub struct StepJudge {
    /// The current policy: a rule may be added while the turn runs.
    changes: watch::Receiver<Policy>,
    policy: Policy,
    place: Workspace,
    world: Arc<dyn Machine>,
    /// The tools that an entered skill leaves.
    restriction: Option<ToolRestriction>,
    /// The result of testing the sandbox; `None`: not awaited yet.
    sandbox_status: Option<SandboxStatus>,
}

impl StepJudge {
    pub fn new(
        mut changes: watch::Receiver<Policy>,
        place: Workspace,
        world: Arc<dyn Machine>,
    ) -> StepJudge {
        let policy = changes.borrow_and_update().clone();
        StepJudge { changes, policy, place, world, restriction: None, sandbox_status: None }
    }

    fn restrict(&mut self, narrowed: Option<ToolRestriction>) {
        self.policy.narrowed = narrowed.clone();
        self.restriction = narrowed;
    }

    fn set_sandbox_status(&mut self, shelter: SandboxStatus) {
        self.policy.shelter = shelter;
        self.sandbox_status = Some(shelter);
    }

    pub fn is_trusted(&self) -> bool {
        self.place.trusted
    }

    /// From now on, steps are judged as in a trusted folder.
    pub fn set_trusted(&mut self) {
        self.place.trusted = true;
    }

    /// The parts that judge the steps of a script.
    pub fn parts(&mut self) -> (Policy, Workspace, Arc<dyn Machine>) {
        let policy = self.policy_context().policy.clone();
        (policy, self.place.clone(), Arc::clone(&self.world))
    }

    pub fn folder(&self) -> &std::path::Path {
        &self.place.cwd
    }

    fn policy_context(&mut self) -> PolicyContext<'_> {
        if self.changes.has_changed().unwrap_or(false) {
            self.policy = self.changes.borrow_and_update().clone();
            self.policy.narrowed = self.restriction.clone();
            self.policy.shelter = self.sandbox_status.unwrap_or(self.policy.shelter);
        }
        PolicyContext { policy: &self.policy, place: &self.place, world: self.world.as_ref() }
    }
}

impl Host for TurnHost {
    fn policy_context(&mut self) -> PolicyContext<'_> {
        self.judge.policy_context()
    }

    async fn call_model(&mut self, call: ModelRequest) -> Result<ModelAnswer, ModelError> {
        if !std::mem::replace(&mut self.prepared, true) {
            self.prepare().await;
        }
        // Masking first keeps a secret from being cut into an unknown part.
        let turn: Vec<Message> =
            call.messages.into_iter().map(|message| self.mask_message(message)).collect();
        let parts = window::RequestParts {
            system: &self.context.system,
            notes: &self.context.instructions.notes.text,
            history: &self.context.history,
            turn: &turn,
        };
        let (messages, ledger) = window::request(parts, self.context.bounds);
        self.notify(TurnMessage::RequestSent(Box::new(ledger)));
        self.request_bytes = messages.iter().map(|message| message.content.len()).sum();
        let request = Request {
            messages,
            params: self.context.params.clone(),
            schema: Some(reply::schema()),
        };
        self.answer = ModelAnswer::default();
        if std::mem::take(&mut self.has_unsaved_message) {
            self.flush_background().await;
        }
        self.send_in_background(vec![Event::ReplyStarted]);
        let stream = self.context.model.stream(request);
        let answer = self.read_stream(stream).await?;
        // The steps it proposes are judged next.
        self.await_sandbox_status().await;
        let usage = answer.usage.plus(std::mem::take(&mut self.extra_usage));
        Ok(ModelAnswer { usage, ..answer })
    }

    fn partial_answer(&mut self) -> Option<ModelAnswer> {
        Some(std::mem::take(&mut self.answer)).filter(|answer| !answer.text.is_empty())
    }

    fn take_steering(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.inbox.steering.try_recv().ok()).collect()
    }

    async fn ask(&mut self, mut ask: Ask) -> Decision {
        let id = ask.id;
        let offers = self.complete_trust_offer(&mut ask);
        self.notify(TurnMessage::QuestionOpened(Box::new(ask.clone())));
        self.flush_background().await;
        self.outbox.send(Event::Asked(Box::new(ask))).await;
        let decision = loop {
            match self.inbox.decisions.recv().await {
                Some((to, decision)) if to == id => break decision,
                // An answer to a question that was withdrawn.
                Some(_) => {}
                None => break Decision::Stop,
            }
        };
        if offers && decision == Decision::Trust {
            self.set_trusted();
        }
        self.emit(Event::QuestionClosed { ask: id }).await;
        decision
    }

    async fn run(&mut self, step: Cleared) -> Observation {
        self.flush_background().await;
        let wants =
            matches!(&step.assessment().task, Some(ToolTask::Plugin(plugin)) if plugin.interactive);
        let observation = match wants {
            true => self.run_in_terminal(step).await,
            false if script_tool::script_call(&step.assessment().step.work).is_some() => {
                self.run_script(step).await
            }
            false => run_step(&self.context, &mut self.outbox, step).await,
        };
        self.notify(TurnMessage::StepFinished);
        if let Some((name, _)) = skill_tool::skill_call(&observation.step.work)
            && observation.succeeded()
        {
            self.enter_skill(name, &observation.stdout);
            self.restrict_tools(skill_tool::skill_restriction(&self.context.extensions, name));
        }
        observation
    }

    async fn emit(&mut self, event: Event) {
        self.notify_session(&event);
        self.flush_background().await;
        self.outbox.send(event).await;
    }

    async fn emit_before_call(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.notify_session(event));
        let asks =
            |event: &Event| matches!(event, Event::TurnStarted { .. } | Event::Steered { .. });
        self.has_unsaved_message |= events.iter().any(asks);
        self.send_in_background(events);
    }

    fn remember(&mut self, rule: String, _: ApprovalScope) {
        self.notify(TurnMessage::Remember { rule });
    }

    fn grant(&mut self, grant: Grant, scope: ApprovalScope) {
        self.notify(TurnMessage::RuleGranted { grant: Box::new(grant), scope });
    }
}

/// The request for the terminal has a number that no question has.
const TERMINAL: AskId = AskId(u64::MAX);

impl TurnHost {
    /// Notes for the session about an event sent to the frontends.
    fn notify_session(&mut self, event: &Event) {
        if matches!(
            event,
            Event::TurnStarted { .. }
                | Event::Steered { .. }
                | Event::Replied(_)
                | Event::StepFinished(_)
                | Event::Plan { .. }
                | Event::Undone { .. }
                | Event::FilesKept { .. }
                | Event::TurnEnded { .. }
        ) {
            self.notify(TurnMessage::Record(Box::new(event.clone())));
        }
        if let Event::Plan { items } = event {
            self.set_plan(items);
        }
        if matches!(event, Event::Steered { .. }) {
            self.notify(TurnMessage::SteeringRead);
        }
        if matches!(event, Event::QuestionClosed { .. }) {
            self.notify(TurnMessage::QuestionClosed);
        }
    }

    /// Waits until it is known whether the sandbox works: a step judged earlier would run without a
    /// question on a system without one.
    pub(super) async fn await_sandbox_status(&mut self) {
        if self.judge.sandbox_status.is_none()
            && let Some(shelter) = self.context.tools.sandbox_status().await
        {
            self.judge.set_sandbox_status(shelter);
        }
    }

    /// Sends without waiting, while the turn continues. Later ordinary sends wait for it: see
    /// [`TurnHost::flush_background`].
    fn send_in_background(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let (before, mut outbox) = (self.background.take(), self.outbox.split_off());
        self.background = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            for event in events {
                outbox.send(event).await;
            }
        }));
    }

    /// Waits for the events that were sent in advance.
    async fn flush_background(&mut self) {
        if let Some(ahead) = &mut self.background {
            let _ = ahead.await;
            self.background = None;
        }
    }

    /// Borrows the terminal for a step; if there is none, the step reports it itself.
    async fn run_in_terminal(&mut self, step: Cleared) -> Observation {
        self.outbox.send(Event::TerminalRequested { ask: TERMINAL }).await;
        let cancel = self.context.cancel.clone();
        let lent = loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break false,
                decided = self.inbox.decisions.recv() => match decided {
                    Some((TERMINAL, decision)) => break decision == Decision::Approve,
                    Some(_) => {}
                    None => break false,
                },
            }
        };
        let run = |tool: &dyn Tool, step, watch| {
            let running = match lent {
                true => tool.run_in_terminal(step, watch),
                false => tool.run(step, watch),
            };
            running.map(|seen| PipedOutput { observation: seen, output: None }).boxed()
        };
        let seen = run_watched(&self.context, &mut self.outbox, step, run).await.observation;
        self.outbox.send(Event::TerminalReturned).await;
        seen
    }

    /// Limits the following steps to the tools of a skill; the latest counts.
    pub(super) fn restrict_tools(&mut self, narrowed: Option<ToolRestriction>) {
        self.notify(TurnMessage::ToolsRestricted(narrowed.clone()));
        self.judge.restrict(narrowed);
    }

    /// Puts a skill in view.
    pub(super) fn enter_skill(&self, name: &str, text: &str) {
        self.notify(TurnMessage::SkillEntered { name: name.to_owned(), text: text.to_owned() });
    }

    pub(super) fn notify(&self, note: TurnMessage) {
        // A closed session needs no notes.
        let _ = self.turn_messages.send(note);
    }

    pub(super) fn mask_message(&self, message: Message) -> Message {
        Message { content: self.context.redactor.mask(&message.content).into_owned(), ..message }
    }

    /// Reads the stream to its end, and shows the growing reply.
    async fn read_stream(
        &mut self,
        mut stream: futures_util::stream::BoxStream<'static, Result<Chunk, ModelError>>,
    ) -> Result<ModelAnswer, ModelError> {
        let mut growing = Partial::new();
        loop {
            let chunk = if let Some(chunk) = stream.next().now_or_never() {
                chunk
            } else {
                // All chunks that have arrived are taken.
                let due = self.outbox.due();
                let now = Instant::now();
                if due.is_some_and(|due| due <= now) {
                    self.outbox.release();
                    continue;
                }
                tokio::select! {
                    chunk = stream.next() => chunk,
                    () = sleep_until(due.unwrap_or(now)), if due.is_some() => continue,
                    () = self.outbox.flush(), if self.outbox.has_unsent() => continue,
                }
            };
            self.flush_background().await;
            match chunk {
                Some(Ok(chunk)) => self.handle_chunk(chunk, &mut growing).await,
                Some(Err(error)) if self.answer.text.is_empty() => return Err(error),
                Some(Err(error)) => {
                    self.answer.cut = Some(Truncation::Broken);
                    let notice =
                        crate::protocol::Notice::error(crate::i18n::Localize::localized(&error));
                    self.outbox.send(Event::Notice(notice)).await;
                    break;
                }
                None => break,
            }
        }
        self.outbox.flush().await;
        let mut answer = std::mem::take(&mut self.answer);
        if answer.usage == Usage::default() {
            answer.usage = estimate_usage(&answer.text, self.request_bytes);
        }
        Ok(answer)
    }

    async fn handle_chunk(&mut self, chunk: Chunk, growing: &mut Partial) {
        match chunk {
            Chunk::Text(text) => {
                let shown = growing.push(&text);
                self.answer.text.push_str(&text);
                if !shown.is_empty() {
                    self.outbox.gather(Event::Delta { text: shown });
                }
            }
            Chunk::Thought(text) => self.outbox.gather(Event::ReasoningDelta { text }),
            Chunk::Retrying { attempt, of, wait_ms, why } => {
                self.outbox.send(Event::Retrying { attempt, of, wait_ms, why }).await;
            }
            Chunk::Usage(usage) => self.answer.usage = usage,
            Chunk::Finished(cut) => self.answer.cut = cut,
        }
    }
}

/// The estimated tokens of an answer whose server counts none: about four bytes each.
fn estimate_usage(text: &str, sent: usize) -> Usage {
    let tokens = |bytes: usize| u64::try_from(bytes / 4).unwrap_or(u64::MAX);
    Usage { input_tokens: tokens(sent), output_tokens: tokens(text.len()), estimated: true }
}

/// Runs one cleared step, and forwards its output as it arrives.
pub async fn run_step(desk: &TurnContext, outbox: &mut Outbox, cleared: Cleared) -> Observation {
    let run = |tool: &dyn Tool, step, watch| {
        tool.run(step, watch).map(|seen| PipedOutput { observation: seen, output: None }).boxed()
    };
    run_watched(desk, outbox, cleared, run).await.observation
}

/// Runs a shell command of a template the same way, and collects its whole output.
pub async fn pipe_step(
    desk: &TurnContext,
    outbox: &mut Outbox,
    cleared: Cleared,
    input: ShellInput,
) -> PipedOutput {
    run_watched(desk, outbox, cleared, |tool, step, watch| tool.run_piped(step, input, watch)).await
}

async fn run_watched(
    desk: &TurnContext,
    outbox: &mut Outbox,
    cleared: Cleared,
    run: impl FnOnce(&dyn Tool, Cleared, RunControl) -> BoxFuture<'static, PipedOutput>,
) -> PipedOutput {
    let judged = cleared.assessment();
    let (step, risk) = (judged.step.clone(), judged.risk.clone());
    let Some(tool) = desk.tools.find(&step.work).cloned() else {
        let mut seen = Observation::not_run(
            step.clone(),
            judged.cwd.display().to_string(),
            risk,
            Outcome::Refused,
        );
        seen.note = Some(words::NO_TOOL.with("tool", step.work.tool()));
        return PipedOutput { observation: seen, output: None };
    };
    outbox.send(Event::StepStarted { step: step.clone(), risk }).await;
    let (sender, mut output) = mpsc::unbounded_channel();
    let watch = RunControl { cancel: desk.cancel.clone(), output: sender };
    let mut running = run(tool.as_ref(), cleared, watch);
    let started = Instant::now();
    let mut piped = loop {
        tokio::select! {
            piped = &mut running => break piped,
            Some(text) = output.recv() => {
                outbox.send(Event::StepOutput { id: step.id.clone(), text }).await;
            }
        }
    };
    let seen = &mut piped.observation;
    if seen.duration_ms == 0 {
        seen.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    }
    desk.redactor.mask_output(seen);
    piped
}
