//! One turn as the session runs it: it begins, asks, runs steps and ends the same way, whoever
//! decides what happens in it: the model, a script, a shell line, a template or an undo.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::event_sink::Outbox;
use super::masked_turn::MaskedTurn;
use super::shared_queues::{SharedQueues, Spending};
use super::subagent_bounds::SubagentBounds;
use super::turn_clock::TurnClock;
use super::turn_context::TurnContext;
use super::turn_messages::{FinishedTurn, TurnInbox, TurnMessage};
use crate::context::history::TurnRecord;
use crate::context::turn_compaction::{TurnCompaction, TurnIndex};
use avocet_config::project_instructions::ProjectInstructions;
use avocet_core::protocol::{
    ApprovalMode, Ask, AskId, Decision, Event, Question, SandboxStatus, StepQuestion, SubmitId,
    TrustOffer, TurnOrigin, TurnOutcome, Usage,
};
use avocet_model::ModelReply;
use avocet_safety::{self as safety, Machine, Policy, PolicyContext, ToolRestriction, Workspace};

/// A check of the project instructions; `None` in it: they have not changed.
pub type InstructionsCheck = tokio::task::JoinHandle<Option<Arc<ProjectInstructions>>>;

/// A running turn.
pub struct TurnScope {
    pub turn: u64,
    /// What began it, if a frontend follows that.
    pub submit: Option<SubmitId>,
    pub clock: TurnClock,
    /// The number of the next step.
    pub next_step: u64,
    pub shared: SharedQueues,
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
    pub answer: ModelReply,
    pub judge: StepJudge,
    /// The work before the first call has been done.
    pub prepared: bool,
    /// A running check for changed project instructions.
    pub instructions_check: Option<InstructionsCheck>,
    /// The messages of the turn, of the last request.
    pub masked: MaskedTurn,
    /// What is left out of them.
    pub compaction: TurnCompaction,
    /// Number of compactions of the turn before a summary is asked for again.
    pub summary_pause: usize,
    pub account: TurnAccount,
    /// The contents of the folder, for a question that offers trust in it.
    pub trust_offer: TrustOffer,
    /// Its steps are those of the model, and not a line or a script of the user.
    pub has_steps_of_model: bool,
}

/// What a turn spends beside the answers of its model, and what it may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnAccount {
    /// The tokens used by summaries, scripts and subagents since the last answer.
    pub extra: Usage,
    /// All of the turn so far.
    pub spent: Usage,
    pub max_steps: Option<usize>,
    /// What the session had used when it began.
    pub before: Usage,
    /// What it heard last of all requests since then.
    heard: Usage,
}

impl TurnAccount {
    pub fn start(before: Usage) -> TurnAccount {
        TurnAccount { before, ..TurnAccount::default() }
    }

    /// Counts a request for something other than an answer.
    pub fn add_extra(&mut self, usage: Usage, spending: &Spending) {
        spending.add(usage);
        self.extra = self.extra.plus(usage);
    }

    /// What all requests since it began have used, if that is more than its own, and news.
    pub fn unheard(&mut self, total: Usage) -> Usage {
        let spent = total.since(self.before);
        let is_news = spent.since(self.spent) != Usage::default() && spent != self.heard;
        if is_news {
            self.heard = spent;
        }
        if is_news { spent } else { Usage::default() }
    }
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
    pub sandbox_status: Option<SandboxStatus>,
    /// What the definition of a subagent leaves it.
    bounds: SubagentBounds,
}

impl StepJudge {
    pub fn new(
        mut changes: watch::Receiver<Policy>,
        workspace: Workspace,
        world: Arc<dyn Machine>,
    ) -> StepJudge {
        let policy = changes.borrow_and_update().clone();
        StepJudge {
            changes,
            policy,
            place: workspace,
            world,
            restriction: None,
            sandbox_status: None,
            bounds: SubagentBounds::default(),
        }
    }

    /// That of a subagent, which may do no more.
    pub fn within(&self, bounds: SubagentBounds) -> StepJudge {
        let mut policy = self.policy.clone();
        bounds.narrow(&mut policy);
        StepJudge {
            changes: self.changes.clone(),
            policy,
            place: self.place.clone(),
            world: Arc::clone(&self.world),
            restriction: self.restriction.clone(),
            sandbox_status: self.sandbox_status,
            bounds,
        }
    }

    pub fn restrict(&mut self, restriction: Option<ToolRestriction>) {
        self.policy.narrowed = restriction.clone();
        self.restriction = restriction;
    }

    pub fn set_approval_mode(&mut self, mode: ApprovalMode) {
        self.policy.approval = mode;
    }

    pub fn set_sandbox_status(&mut self, status: SandboxStatus) {
        self.policy.shelter = status;
        self.sandbox_status = Some(status);
    }

    pub fn set_world(&mut self, world: Arc<dyn Machine>) {
        self.world = world;
    }

    /// From now on, steps are those of another folder, which is trusted as this one is.
    pub fn set_folder(&mut self, place: Workspace, world: Arc<dyn Machine>) {
        let trusted_hooks = self.place.trusted_hooks.take();
        self.place = Workspace { trusted: self.place.trusted, trusted_hooks, ..place };
        self.world = world;
    }

    pub fn is_trusted(&self) -> bool {
        self.place.trusted
    }

    /// From now on, steps are judged as in a trusted folder.
    pub fn set_trusted(&mut self) {
        self.place.trusted = true;
        self.place.trusted_hooks = Some(safety::hooks_digest(self.policy_context()));
    }

    /// The parts that judge the steps of a script.
    pub fn parts(&mut self) -> (Policy, Workspace, Arc<dyn Machine>) {
        let policy = self.policy_context().policy.clone();
        (policy, self.place.clone(), Arc::clone(&self.world))
    }

    pub fn offered(&self) -> Option<&ToolRestriction> {
        self.policy.offered.as_ref()
    }

    pub fn mode(&self) -> ApprovalMode {
        self.policy.approval
    }

    pub fn place(&self) -> &Workspace {
        &self.place
    }

    pub fn folder(&self) -> &std::path::Path {
        &self.place.cwd
    }

    fn read_changes(&mut self) {
        if self.changes.has_changed().unwrap_or(false) {
            self.policy = self.changes.borrow_and_update().clone();
            self.policy.narrowed = self.restriction.clone();
            self.policy.shelter = self.sandbox_status.unwrap_or(self.policy.shelter);
            self.bounds.narrow(&mut self.policy);
        }
    }

    pub fn policy_context(&mut self) -> PolicyContext<'_> {
        self.read_changes();
        PolicyContext { policy: &self.policy, place: &self.place, world: self.world.as_ref() }
    }
}

impl TurnScope {
    /// Shows that the turn begins. Does not wait for it: a request to the model waits until the
    /// message is saved.
    pub fn begin(&mut self, text: String, origin: TurnOrigin) {
        self.has_steps_of_model = !matches!(origin, TurnOrigin::Shell | TurnOrigin::Command);
        let started = Event::TurnStarted { turn: self.turn, text, origin, submit: self.submit };
        self.notify_session(&started);
        self.has_unsaved_message = true;
        self.send_in_background(vec![started]);
    }

    /// Shows that the turn ended.
    pub async fn end(
        mut self,
        outcome: TurnOutcome,
        record: TurnRecord,
        usage: Usage,
    ) -> FinishedTurn {
        let elapsed_ms = self.clock.elapsed_ms(Instant::now());
        let ended =
            Event::TurnEnded { turn: self.turn, ending: outcome.clone(), usage, elapsed_ms };
        self.emit(ended).await;
        FinishedTurn { ending: outcome, record, usage, next_step: self.next_step }
    }

    pub fn next_step_id(&mut self) -> String {
        self.next_step += 1;
        format!("cmd_{:03}", self.next_step - 1)
    }

    /// Shows a question and waits for its decision; `None`: the turn was cancelled, and the
    /// question is withdrawn.
    pub async fn ask(&mut self, mut question: Question) -> Option<Decision> {
        let offers_trust = self.complete_trust_offer(&mut question);
        let _asking = self.shared.wait_to_ask(&self.context.cancel).await?;
        let ask = self.shared.next_ask_id();
        let asked = Box::new(Ask { id: ask, question });
        self.notify(TurnMessage::QuestionOpened(asked.clone()));
        self.flush_background().await;
        self.outbox.send(Event::Asked(asked)).await;
        self.run_hooks_of_question();
        let opened = Instant::now();
        let decision = self.decision(ask).await;
        self.clock.add_wait(opened, Instant::now());
        if offers_trust && decision == Some(Decision::Trust) {
            // The next steps are judged as in a trusted folder; the session saves the answer.
            self.judge.set_trusted();
            self.notify(TurnMessage::FolderTrusted);
        }
        self.emit(Event::QuestionClosed { ask }).await;
        decision
    }

    pub(super) async fn decision(&mut self, ask: AskId) -> Option<Decision> {
        loop {
            tokio::select! {
                biased;
                () = self.context.cancel.cancelled() => return None,
                decided = self.inbox.decisions.recv() => match decided {
                    Some((to, decision)) if to == ask => return Some(decision),
                    // An answer to a question that was withdrawn.
                    Some(_) => {}
                    None => return Some(Decision::Stop),
                },
            }
        }
    }

    /// Shows the contents of the folder if a question offers trust in it; true if it does.
    fn complete_trust_offer(&self, question: &mut Question) -> bool {
        let Question::Step(StepQuestion { trust: Some(trust), .. }) = question else {
            return false;
        };
        let TrustOffer { hazard, found, .. } = self.trust_offer.clone();
        **trust = TrustOffer { folder: std::mem::take(&mut trust.folder), hazard, found };
        true
    }

    pub async fn emit(&mut self, event: Event) {
        self.notify_session(&event);
        self.flush_background().await;
        self.outbox.send(event).await;
    }

    pub fn policy_context(&mut self) -> PolicyContext<'_> {
        self.judge.read_changes();
        self.judge.policy.web.set_provider(self.context.model.search_host());
        self.judge.policy_context()
    }

    /// Notes for the session about an event sent to the frontends.
    pub fn notify_session(&mut self, event: &Event) {
        if event.is_transcript() {
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
    pub async fn await_sandbox_status(&mut self) {
        if self.judge.sandbox_status.is_none()
            && let Some(shelter) = self.context.tools.sandbox_status().await
        {
            self.judge.set_sandbox_status(shelter);
        }
    }

    /// Sends without waiting, while the turn continues. Later ordinary sends wait for it: see
    /// [`TurnScope::flush_background`].
    pub fn send_in_background(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let before = self.background.take();
        let mut outbox = self.outbox.split_off();

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
    pub async fn flush_background(&mut self) {
        if let Some(ahead) = &mut self.background {
            let _ = ahead.await;
            self.background = None;
        }
    }

    /// Limits the following steps to the tools of a skill; the latest counts.
    pub fn restrict_tools(&mut self, restriction: Option<ToolRestriction>) {
        self.notify(TurnMessage::ToolsRestricted(restriction.clone()));
        self.judge.restrict(restriction);
    }

    /// Puts a skill in view.
    pub fn enter_skill(&self, name: &str, text: &str) {
        self.notify(TurnMessage::SkillEntered { name: name.to_owned(), text: text.to_owned() });
    }

    pub fn notify(&self, message: TurnMessage) {
        // A closed session needs no notes.
        let _ = self.turn_messages.send(message);
    }

    pub fn mask_index(&self, mut index: TurnIndex) -> TurnIndex {
        let redactor = &self.context.redactor;
        let lines = index.steps.iter_mut().map(|place| &mut place.line);
        for text in lines.chain(index.words.iter_mut().map(|(_, words)| words)) {
            *text = redactor.mask(text).into_owned();
        }
        index
    }
}
