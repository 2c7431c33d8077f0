//! Runs tasks with subagents: each is a turn like any other, with its own context, within the bounds
//! of its definition. What happens in it passes through a relay to the frontends and to the session.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{self, Receiver, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::event_sink::{self, Outbox};
use super::hook_runner::HookRunner;
use super::recall_tool::answer;
use super::subagent_bounds::SubagentBounds;
use super::subagent_list::{RunningSubagent, SubagentMessage};
use super::subagent_worktree::SubagentWorktree;
use super::turn_account::TurnAccount;
use super::turn_clock::TurnClock;
use super::turn_context::TurnContext;
use super::turn_events::TurnEvents;
use super::turn_messages::{FinishedTurn, TurnInbox, TurnMessage, turn_channels};
use super::turn_scope::TurnScope;
use crate::agent::turn::{StepCounter, TurnStart};
use avocet_config::extensions::AgentDefinition;
use avocet_config::extensions::agent::GENERAL;
use avocet_core::i18n::{Lang, Localize, LocalizedText, agents as phrases};
use avocet_core::protocol::{
    Ask, Change, Event, Observation, Outcome, Question, StepQuestion, SubagentInfo, TurnOutcome,
    Usage,
};
use avocet_hooks::HookEvent;
use avocet_model::ModelReply;
use avocet_safety::{ClearedStep, Judgement, SubagentTask, ToolRestriction, ToolTask};

/// The most of a subagent's last message that goes back, in bytes.
const MAX_RESULT: usize = 16 * 1024;
/// The most changed files that are named.
const MAX_CHANGES: usize = 40;

/// A subagent that runs; it ends with the observation of its step and what it used.
type SubagentHandle = JoinHandle<(Observation, Usage)>;

/// Runs tasks at the same time, as many as may run at once; the observations are in their order.
pub(super) async fn run_tasks(scope: &mut TurnScope, steps: Vec<ClearedStep>) -> Vec<Observation> {
    let mut begun = Vec::new();
    for step in steps {
        let running = begin(scope, &step).await;
        begun.push((step, running));
    }
    let mut all = Vec::new();
    for (step, running) in begun {
        let mut observation = match running {
            TaskStart::Failed(observation) | TaskStart::InBackground(observation) => *observation,
            TaskStart::Running(running) => {
                let (observation, usage) = running.await.unwrap_or_else(|error| {
                    let why = phrases::BROKE.with("why", error.to_string());
                    (answer(step.judgement(), Err(why)), Usage::default())
                });
                scope.account.extra = scope.account.extra.plus(usage);
                observation
            }
        };
        scope.context.redactor.mask_output(&mut observation);
        all.push(observation);
    }
    all
}

/// Runs one by itself.
pub(super) async fn run_task(scope: &mut TurnScope, step: ClearedStep) -> Observation {
    let broken = answer(step.judgement(), Err(phrases::NOT_HERE.into()));
    run_tasks(scope, vec![step]).await.pop().unwrap_or(broken)
}

/// A task after its begin: with its observation, or with what ends with it.
enum TaskStart {
    Failed(Box<Observation>),
    InBackground(Box<Observation>),
    Running(SubagentHandle),
}

async fn begin(scope: &mut TurnScope, step: &ClearedStep) -> TaskStart {
    let judged = step.judgement();
    let risk = judged.risk.clone();
    scope.events.emit(Event::StepStarted { step: judged.step.clone(), risk }).await;
    let failed = |why| TaskStart::Failed(Box::new(answer(judged, Err(why))));
    start(scope, judged).await.unwrap_or_else(failed)
}

/// Starts a subagent.
async fn start(scope: &mut TurnScope, judged: &Judgement) -> Result<TaskStart, LocalizedText> {
    let Some(ToolTask::Subagent(task)) = &judged.task else {
        return Err(phrases::NOT_HERE.into());
    };
    if task.background && !scope.shared.may_start_in_background() {
        return Err(phrases::TOO_MANY_IN_BACKGROUND.into());
    }
    let definition = definition_of(scope, task)?;
    let worktree = SubagentWorktree::open(scope, task, &definition).await?;
    let cancel =
        if task.background { CancellationToken::new() } else { scope.context.cancel.child_token() };
    let (inbox, handle) = turn_channels();
    let (mut subagent, mut info) =
        Subagent::new(scope, &definition, judged, (inbox, cancel.clone()))?;
    let mut prompt = task.prompt.clone();
    if let Some(worktree) = worktree {
        prompt.push_str(&worktree.enter(&mut subagent.turn, &mut info));
        subagent.worktree = Some(worktree);
    }
    let running = RunningSubagent {
        info: info.clone(),
        decisions: handle.decisions,
        steering: handle.steering,
        cancel,
        ended: subagent.relay.ended.clone(),
        steered: 0,
    };
    scope.events.notify(TurnMessage::Subagent(SubagentMessage::Started(Box::new(running))));
    scope.events.emit(Event::SubagentStarted(Box::new(info))).await;
    if task.background {
        let told = phrases::IN_BACKGROUND.with("name", definition.name.as_str());
        let started = answer(judged, Ok(told.text(Lang::En)));
        tokio::spawn(subagent.run(prompt, judged.clone()));
        return Ok(TaskStart::InBackground(Box::new(started)));
    }
    Ok(TaskStart::Running(tokio::spawn(subagent.run(prompt, judged.clone()))))
}

fn definition_of(scope: &TurnScope, task: &SubagentTask) -> Result<AgentDefinition, LocalizedText> {
    let named = task.agent.as_deref().unwrap_or(GENERAL);
    let found = scope.context.extensions.agent(named);
    let mut definition = found.cloned().map_err(|error| error.localized())?;
    if !task.tools.is_empty() {
        let restriction = |tools| ToolRestriction { skill: String::new(), tools };
        let known: Vec<&str> = scope.context.tools.iter().map(|tool| tool.spec().name).collect();
        if let Some(name) = restriction(task.tools.clone()).unknown_tool(&known) {
            let unknown = phrases::UNKNOWN_TOOL.with("name", name);
            return Err(unknown.with("known", known.join(", ")));
        }
        let own = definition.tools.take().map(restriction);
        definition.tools = Some(task.tools.clone());
        definition.tools = SubagentBounds::new(&definition, own.as_ref()).tools.map(|it| it.tools);
    }
    definition.mode = match (definition.mode, task.mode) {
        (Some(own), Some(asked)) => Some(own.narrower(asked)),
        (own, asked) => own.or(asked),
    };
    Ok(definition)
}

/// Runs the task of a script, which counts the tokens of the answers itself.
pub(super) async fn run_for_script(
    scope: &mut TurnScope,
    step: ClearedStep,
) -> (Observation, Usage) {
    let before = std::mem::take(&mut scope.account.extra);
    let observation = run_task(scope, step).await;
    (observation, std::mem::replace(&mut scope.account.extra, before))
}

/// A subagent before it runs: its turn, and what passes on what happens in it.
struct Subagent {
    turn: TurnScope,
    start: TurnStart,
    relay: Relay,
    events: Receiver<Event>,
    messages: UnboundedReceiver<TurnMessage>,
    worktree: Option<SubagentWorktree>,
}

impl Subagent {
    fn new(
        scope: &TurnScope,
        definition: &AgentDefinition,
        judged: &Judgement,
        (inbox, cancel): (TurnInbox, CancellationToken),
    ) -> Result<(Subagent, SubagentInfo), LocalizedText> {
        let agent = judged.step.id.clone();
        let (send_event, events) = mpsc::channel(event_sink::CAPACITY);
        let (send_message, messages) = mpsc::unbounded_channel();
        let bounds = SubagentBounds::new(definition, scope.judge.offered());
        let context = context_of(scope, definition, &bounds, cancel, &agent)?;
        let events_of_turn = TurnEvents::new(Outbox::new(send_event, None), send_message);
        let turn = TurnScope {
            inbox,
            judge: scope.judge.within(bounds),
            ..scope_of(scope, context, events_of_turn)
        };
        let info = info_of(&turn, definition, judged);
        let start = TurnStart {
            text: String::new(),
            images: Vec::new(),
            max_steps: scope.account.max_steps,
            step_counter: step_counter_of(scope, &info),
            check: None,
            budget: turn.context.budget,
            next_step: 1,
            dialect: turn.context.responder.model.dialect(),
            is_small_model: turn.context.responder.model.is_small(),
            hooks: Arc::clone(&turn.hooks.active),
            agent: Some(agent.clone()),
        };
        let relay = Relay {
            agent,
            name: definition.name.clone(),
            outbox: scope.events.outbox.clone(),
            session: scope.events.session.clone(),
            waiting_turn: (!info.background).then(|| scope.context.cancel.clone()),
            tokens: 0,
            steered: 0,
            changes: Vec::new(),
            ended: CancellationToken::new(),
        };
        Ok((Subagent { turn, start, relay, events, messages, worktree: None }, info))
    }

    /// Runs to its end, once there is a place.
    async fn run(self, prompt: String, judged: Judgement) -> (Observation, Usage) {
        let Subagent { turn, start, mut relay, mut events, mut messages, worktree } = self;
        let cancel = turn.context.cancel.clone();
        let place = turn.shared.wait_to_run(&cancel).await;
        let started = Instant::now();
        let mut turn = drive(turn, start.with_message(prompt, Vec::new())).fuse();
        let mut finished = None;
        loop {
            tokio::select! {
                biased;
                Some(message) = messages.recv() => relay.pass_message(message),
                Some(event) = events.recv() => relay.pass_event(event).await,
                ended = &mut turn, if finished.is_none() => finished = Some(ended),
                else => break,
            }
        }
        drop(place);
        relay.stop_waiting_turn(finished.as_ref());
        let usage = finished.as_ref().map_or_else(Usage::default, |ended| ended.usage);
        let mut observation = relay.observe(&judged, finished.as_ref());
        if let Some(worktree) = worktree {
            let written: Vec<&str> = relay.changes.iter().map(|file| &*file.path).collect();
            worktree.end(&mut observation, &written).await;
        }
        observation.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        relay.end(&observation, usage);
        (observation, usage)
    }
}

/// A function of its own, since a turn may contain the turns of subagents.
fn drive(turn: TurnScope, start: TurnStart) -> BoxFuture<'static, FinishedTurn> {
    turn.drive_heard(start).boxed()
}

/// A turn within another one, with its own conversation.
fn scope_of(scope: &TurnScope, context: TurnContext, events: TurnEvents) -> TurnScope {
    let (inbox, _) = turn_channels();
    let hooks =
        HookRunner { start: None, put_off: 0, end: HookEvent::SubagentStop, ..scope.hooks.clone() };
    TurnScope {
        turn: scope.turn,
        submit: None,
        clock: TurnClock::start(Instant::now()),
        next_step: 1,
        shared: scope.shared.clone(),
        conversation: scope.conversation.of_subagent(context.responder.bounds),
        context,
        hooks,
        events,
        inbox,
        answer: ModelReply::default(),
        judge: scope.judge.within(SubagentBounds::default()),
        account: TurnAccount::start(scope.shared.spending.total()),
        trust_offer: scope.trust_offer.clone(),
        has_steps_of_model: true,
    }
}

/// An agent that the turn waits for counts to its limit, one in the background by itself.
fn step_counter_of(scope: &TurnScope, info: &SubagentInfo) -> StepCounter {
    let counter = &scope.account.step_counter;
    if info.background { StepCounter::default() } else { counter.clone() }
}

/// What the subagent really got.
fn info_of(turn: &TurnScope, definition: &AgentDefinition, judged: &Judgement) -> SubagentInfo {
    let (about, background) = match &judged.task {
        Some(ToolTask::Subagent(task)) => (task.description.clone(), task.background),
        _ => (String::new(), false),
    };
    SubagentInfo {
        agent: judged.step.id.clone(),
        name: definition.name.clone(),
        about,
        model: turn.context.responder.model.name().to_owned(),
        effort: turn.context.responder.effort,
        mode: turn.judge.mode(),
        tools: definition.tools.as_ref().and(turn.judge.offered()).map(|it| it.tools.clone()),
        folder: turn.judge.folder().display().to_string(),
        background,
    }
}

/// What stays the same throughout the turn of a subagent.
fn context_of(
    scope: &TurnScope,
    definition: &AgentDefinition,
    bounds: &SubagentBounds,
    cancel: CancellationToken,
    agent: &str,
) -> Result<TurnContext, LocalizedText> {
    let mut context = scope.context.clone();
    if let Some(name) = &definition.model {
        context.responder.model = context.summarizer.model_named(name)?;
        context.responder.fallbacks.clear();
    }
    context.responder.effort = definition.effort.or(context.responder.effort);
    // Its end is one message, and no other subagent begins in it.
    context.tools = context.tools.without(&["task", "plan", "recall", avocet_safety::tools::SEND]);
    if let Some(tools) = &bounds.tools {
        context.tools = context.tools.offering(tools.clone());
        context.system.sections.clear();
    }
    context.responder.answer_schema = None;
    context.system.bot = Some(definition.prompt.clone());
    context.system.tools = context.tools.clone();
    context.responder.cache_key = context.responder.cache_key.map(|key| format!("{key}-{agent}"));
    let spent = scope.shared.spending.total().since(scope.account.before);
    context.budget = scope.budget().after(spent);
    context.cancel = cancel;
    context.responder.fit_to_model();
    Ok(context)
}

/// Passes on what happens in the turn of a subagent.
struct Relay {
    agent: String,
    name: String,
    outbox: Outbox,
    session: UnboundedSender<TurnMessage>,
    /// The user who stops the subagent at a question stops the turn that waits for it.
    waiting_turn: Option<CancellationToken>,
    tokens: u64,
    /// Messages of the user that it read.
    steered: usize,
    changes: Vec<Change>,
    /// Cancelled at its end.
    ended: CancellationToken,
}

impl Relay {
    fn wrap(&self, event: Event) -> Event {
        let agent = self.agent.clone();
        Event::Subagent { agent, tokens: self.tokens, happened: Box::new(event) }
    }

    /// To the session, but for what is about the conversation, which is not its own.
    fn pass_message(&mut self, message: TurnMessage) {
        let message = match message {
            TurnMessage::Spent(usage) => {
                self.tokens = usage.total_tokens();
                return;
            }
            TurnMessage::Record(event) => {
                self.add_changes(&event);
                TurnMessage::Record(Box::new(self.wrap(*event)))
            }
            TurnMessage::QuestionOpened(_)
            | TurnMessage::QuestionClosed
            | TurnMessage::Permitted(_)
            | TurnMessage::FolderTrusted
            | TurnMessage::StepFinished
            | TurnMessage::ServerCalled(_)
            | TurnMessage::ServerCallCancelled(_)
            | TurnMessage::Job(_)
            | TurnMessage::Hook(_) => message,
            _ => return,
        };
        // A closed session needs no messages.
        let _ = self.session.send(message);
    }

    fn add_changes(&mut self, event: &Event) {
        let files = match event {
            Event::StepFinished(seen) if seen.succeeded() => {
                seen.change.as_ref().map(Change::files).unwrap_or_default().to_vec()
            }
            Event::FilesChanged { files, .. } => files.clone(),
            _ => return,
        };
        for file in files {
            match self.changes.iter_mut().find(|known| known.path == file.path) {
                Some(known) => {
                    known.added += file.added;
                    known.removed += file.removed;
                }
                None => self.changes.push(file),
            }
        }
    }

    /// To the frontends, but for the text while it grows.
    async fn pass_event(&mut self, event: Event) {
        self.steered += usize::from(matches!(event, Event::Steered { .. }));
        let event = match event {
            Event::Asked(ask) => Event::Asked(Box::new(self.with_name(*ask))),
            Event::QuestionClosed { .. }
            | Event::TerminalRequested { .. }
            | Event::TerminalReturned { .. } => event,
            Event::StepStarted { .. }
            | Event::StepFinished(_)
            | Event::Steered { .. }
            | Event::FilesChanged { .. }
            | Event::Replied(_)
            | Event::Repairing { .. }
            | Event::Compacted(_)
            | Event::Notice(_)
            | Event::TurnEnded { .. } => self.wrap(event),
            _ => return,
        };
        self.outbox.send(event).await;
    }

    /// The question with the name of who asks.
    fn with_name(&self, mut ask: Ask) -> Ask {
        match &mut ask.question {
            Question::Step(StepQuestion { agent, .. }) => *agent = Some(self.name.clone()),
            Question::Choice { text, .. } => *text = format!("{}: {text}", self.name),
            Question::Pause { why } => {
                *why = phrases::OF_AGENT.with("name", self.name.as_str()).with("text", why.clone());
            }
            _ => {}
        }
        ask
    }

    /// The result of the step: the last message, and what was changed.
    fn observe(&self, judged: &Judgement, finished: Option<&FinishedTurn>) -> Observation {
        let last = finished.and_then(|ended| ended.record.last_reply()).unwrap_or_default();
        let mut text = avocet_core::text::cut_middle(last, MAX_RESULT);
        if !self.changes.is_empty() {
            text.push_str("\n\nChanged files:");
        }
        for change in self.changes.iter().take(MAX_CHANGES) {
            text.push_str(&format!("\n- {} +{} -{}", change.path, change.added, change.removed));
        }
        if self.changes.len() > MAX_CHANGES {
            text.push_str(&format!("\n… {} more", self.changes.len() - MAX_CHANGES));
        }
        let mut observation = answer(judged, Ok(text));
        observation.truncated = last.len() > MAX_RESULT;
        let ending = finished.map_or(&TurnOutcome::Interrupted, |ended| &ended.ending);
        let Some(why) = ending.agent_failure(&self.name) else { return observation };
        if let TurnOutcome::Cancelled | TurnOutcome::Stopped | TurnOutcome::Interrupted = ending {
            observation.outcome = Outcome::Cancelled;
            observation.exit_code = None;
        }
        observation.exit_code = observation.exit_code.map(|_| 1);
        observation.stderr = why.text(Lang::En);
        observation.note = Some(why);
        observation
    }

    fn stop_waiting_turn(&self, finished: Option<&FinishedTurn>) {
        let is_stopped = finished.is_some_and(|ended| ended.ending == TurnOutcome::Stopped);
        if let Some(turn) = self.waiting_turn.as_ref().filter(|_| is_stopped) {
            turn.cancel();
        }
    }

    fn end(&self, observation: &Observation, usage: Usage) {
        let message = SubagentMessage::Ended {
            agent: self.agent.clone(),
            outcome: observation.outcome,
            result: format!("{}\n{}", observation.stderr, observation.stdout).trim().to_owned(),
            usage,
            steered: self.steered,
        };
        let _ = self.session.send(TurnMessage::Subagent(message));
        self.ended.cancel();
    }
}
