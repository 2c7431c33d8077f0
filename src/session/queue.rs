//! Starts turns: with a message, with a prompt that must be expanded first, or with a queued
//! message. The loop is in `run`.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::mcp_ops::{NAMED_START_WAIT, START_WAIT};
use super::prompt_expansion::{self, AfterExpansion};
use super::shell_turn;
use super::state::{self, RunningTurn, Session};
use super::step_judge::StepJudge;
use super::turn_account::TurnAccount;
use super::turn_clock::TurnClock;
use super::turn_conversation::{InstructionsCheck, TurnConversation};
use super::turn_events::TurnEvents;
use super::turn_messages::{FinishedTurn, TurnInbox, turn_channels};
use super::turn_scope::TurnScope;
use super::user_input::UserInput;
use crate::agent::Steering;
use crate::agent::turn::TurnStart;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{
    ApprovalMode, Event, Notice, Prompt, PromptSize, SubmitId, TurnOrigin,
};
use avocet_model::ModelReply;
use avocet_store::title_of;

impl Session {
    pub(super) async fn submit(&mut self, input: UserInput) {
        self.conversation.shared.reset_background();
        if self.is_busy() {
            let shown = self.queue.push(input);
            self.outbox.send(shown).await;
        } else {
            self.begin(input, TurnOrigin::Typed).await;
        }
    }

    /// Expands a prompt for its text only.
    pub(super) async fn render(&mut self, prompt: Prompt) {
        if self.is_busy() {
            return self.notify(Notice::warning(phrases::RENDER_BUSY)).await;
        }
        self.start_expansion(prompt, TurnOrigin::Typed, AfterExpansion::Render);
    }

    pub(super) async fn retry(&mut self) {
        match self.conversation.last_input.take() {
            _ if self.is_busy() => {}
            None => self.notify(Notice::info(phrases::NOTHING_TO_RETRY)).await,
            Some((words, mark)) => {
                Arc::make_mut(&mut self.conversation.history).truncate_to(mark);
                self.store.record_retry(self.info.turns).await;
                self.begin(words, TurnOrigin::Typed).await;
            }
        }
    }

    /// Continues after a question that delayed typed messages: those left from an earlier session
    /// keep waiting.
    pub(super) async fn start_next_typed(&mut self) {
        if self.queue.has_typed() && !self.is_busy() {
            self.start_next_queued().await;
        }
    }

    /// The user wants the waiting messages to start.
    pub(super) async fn run_queue(&mut self) {
        match () {
            () if self.queue.inputs().is_empty() => {
                self.notify(Notice::info(phrases::QUEUE_EMPTY)).await;
            }
            () if !self.is_idle() => self.notify(Notice::info(phrases::QUEUE_FOLLOWS)).await,
            () if self.is_busy() => {}
            () => self.start_next_queued().await,
        }
    }

    pub(super) async fn start_next_queued(&mut self) {
        if let Some(input) = self.queue.pop() {
            self.outbox.send(self.queue.shown()).await;
            self.begin(input, TurnOrigin::Queue).await;
        }
    }

    /// Messages that the turn does not read before it ends are sent after it.
    pub(super) async fn steer(&mut self, text: String) {
        match &mut self.running {
            Some(running) => {
                let steering = Steering { submit: self.queue.submission.take(), text };
                running.unread_steering.push_back(steering.clone());
                let _ = running.steering.send(steering);
            }
            None => self.submit(UserInput::Text(text)).await,
        }
    }

    /// Both checks and saving the message run at the same time; the turn waits for the instructions
    /// when it needs them, and its request waits until the message is saved.
    pub(super) async fn begin(&mut self, input: UserInput, origin: TurnOrigin) {
        let turn = self.info.turns + 1;
        self.store.prepare(match &input {
            UserInput::Text(text) => {
                let submit = self.queue.submission;
                Some(Event::TurnStarted { turn, text: text.clone(), origin, submit })
            }
            UserInput::Prompt(_) | UserInput::Shell { .. } => None,
        });
        if let Some(unsaved) = &mut self.info.unsaved {
            unsaved.elsewhere = false;
        }
        let notes = match input {
            UserInput::Text(_) => self.instructions.check(&self.security),
            UserInput::Prompt(_) | UserInput::Shell { .. } => None,
        };
        self.reload_settings().await;
        self.refresh_and_wait().await;
        let is_named = matches!(&input, UserInput::Prompt(prompt) if prompt.is_of_server());
        self.wait_for_servers(if is_named { NAMED_START_WAIT } else { START_WAIT }).await;
        self.load_hooks().await;
        self.run_start_hooks(false);
        self.start(input, origin, notes);
    }

    fn start(&mut self, input: UserInput, origin: TurnOrigin, notes: Option<InstructionsCheck>) {
        if let UserInput::Shell { .. } = input {
            return self.start_turn(|scope| shell_turn::run(input, scope));
        }
        if self.info.title.is_empty() {
            // Named after its first message.
            let title = title_of(&input.as_typed(), origin);
            self.info.title = self.security.redactor.mask(&title).into_owned();
        }
        self.conversation.last_input = Some((input.clone(), self.conversation.history.position()));
        let text = match input {
            UserInput::Prompt(prompt) => {
                return self.start_expansion(*prompt, origin, AfterExpansion::Send);
            }
            UserInput::Text(text) | UserInput::Shell { line: text, .. } => text,
        };
        let start = self.turn_limits();
        self.start_turn(|mut scope| async move {
            scope.conversation.instructions_check = notes;
            scope.begin(text.clone(), origin);
            scope.drive(start, text, Vec::new()).await
        });
    }

    fn start_expansion(&mut self, prompt: Prompt, origin: TurnOrigin, expansion: AfterExpansion) {
        let start = self.turn_limits();
        self.start_turn(|scope| prompt_expansion::run(prompt, origin, start, expansion, scope));
    }

    /// What a turn of the model starts with, but for its message: the text is what follows it.
    fn turn_limits(&mut self) -> TurnStart {
        let is_planning = self.info.approval == ApprovalMode::Plan;
        let is_small = self.resources.model.connected.model.prompt_size() == PromptSize::Short;
        let branch = self.info.branch.clone().filter(|_| !is_small);
        TurnStart {
            text: self.conversation.mode_note(is_planning).to_owned()
                + &self.conversation.branch_note(branch)
                + &self.jobs.take_news(),
            images: Vec::new(),
            max_steps: self.info.max_steps,
            check: state::check_action(&self.info),
            budget: self.conversation.budget(&self.info),
            next_step: self.conversation.next_step,
            dialect: self.resources.model.connected.model.dialect(),
            is_small_model: self.resources.model.connected.model.is_small(),
            hooks: Arc::clone(&self.hooks.active),
            agent: None,
        }
    }

    /// Starts a turn on a task of its own.
    pub(super) fn start_turn<F>(&mut self, run: impl FnOnce(TurnScope) -> F)
    where
        F: Future<Output = FinishedTurn> + Send + 'static,
    {
        self.info.turns += 1;
        let cancel = CancellationToken::new();
        let (inbox, handle) = turn_channels();
        let submit = self.queue.submission.take();
        let task = tokio::spawn(run(self.turn_scope(&cancel, inbox, submit)));
        self.running = Some(RunningTurn::new(self.info.turns, cancel, handle, task));
    }

    fn turn_scope(
        &self,
        cancel: &CancellationToken,
        inbox: TurnInbox,
        submit: Option<SubmitId>,
    ) -> TurnScope {
        let context =
            self.resources.turn_context(&self.info, &self.conversation, &self.security, cancel);
        let place = self.security.place.clone();
        let history = Arc::clone(&self.conversation.history);
        let instructions = Arc::clone(&self.instructions.current);
        let notes = self.instructions.user_notes.clone();
        let bounds = context.responder.bounds;

        TurnScope {
            turn: self.info.turns,
            submit,
            clock: TurnClock::start(Instant::now()),
            next_step: self.conversation.next_step,
            shared: self.conversation.shared.clone(),
            context,
            conversation: TurnConversation::new(history, instructions, notes, bounds),
            hooks: self.hooks.runner(self.info.session.clone()),
            events: TurnEvents::new(self.outbox.clone(), self.resources.messages.clone()),
            inbox,
            answer: ModelReply::default(),
            judge: StepJudge::new(
                self.security.updates(),
                place,
                self.resources.machine(&self.security, &self.jobs),
            ),
            account: TurnAccount::start(self.conversation.shared.spending.total()),
            trust_offer: self.security.trust.offer(),
            has_steps_of_model: true,
        }
    }
}
