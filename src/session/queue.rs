//! Starts turns: with a message, with a prompt that must be expanded first, or with a queued
//! message. The loop is in `run`.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::conversation::Conversation;
use super::mcp_ops::{NAMED_START_WAIT, START_WAIT};
use super::prompt_expansion::{self, AfterExpansion};
use super::session_hooks::SessionHooks;
use super::shell_turn;
use super::state::{self, RunningTurn, Session};
use super::step_judge::StepJudge;
use super::turn_account::TurnAccount;
use super::turn_clock::TurnClock;
use super::turn_conversation::{InstructionsCheck, TurnConversation};
use super::turn_events::TurnEvents;
use super::turn_messages::{FinishedTurn, turn_channels};
use super::turn_scope::TurnScope;
use super::user_input::UserInput;
use crate::agent::Steering;
use crate::agent::turn::TurnStart;
use avocet_core::protocol::{ApprovalMode, Event, Prompt, PromptSize, SessionInfo, TurnOrigin};
use avocet_model::{Model, ModelReply};
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
        let changes = self.settings.reload();
        self.apply_settings(changes).await;
        let effects = self.resources.refresh(&self.security.place).await;
        self.follow(effects).await;
        let is_named = matches!(&input, UserInput::Prompt(prompt) if prompt.is_of_server());
        self.wait_for_servers(if is_named { NAMED_START_WAIT } else { START_WAIT }).await;
        let notice = self.hooks.load(&mut self.security, &mut self.info);
        self.follow(notice).await;
        self.hooks.run_start(false, &self.info, &self.security, &self.outbox);
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
        let model = &*self.resources.model.connected.model;
        let news = self.jobs.take_news();
        let start = self.conversation.turn_start(&self.info, model, &news, &self.hooks);
        self.start_turn(|mut scope| async move {
            scope.conversation.instructions_check = notes;
            scope.begin(text.clone(), origin);
            scope.drive(start, text, Vec::new()).await
        });
    }

    pub(super) fn start_expansion(
        &mut self,
        prompt: Prompt,
        origin: TurnOrigin,
        expansion: AfterExpansion,
    ) {
        let model = &*self.resources.model.connected.model;
        let news = self.jobs.take_news();
        let start = self.conversation.turn_start(&self.info, model, &news, &self.hooks);
        self.start_turn(|scope| prompt_expansion::run(prompt, origin, start, expansion, scope));
    }

    /// Starts a turn on a task of its own.
    pub(super) fn start_turn<F>(&mut self, run: impl FnOnce(TurnScope) -> F)
    where
        F: Future<Output = FinishedTurn> + Send + 'static,
    {
        self.info.turns += 1;
        let cancel = CancellationToken::new();
        let (inbox, handle) = turn_channels();
        let context =
            self.resources.turn_context(&self.info, &self.conversation, &self.security, &cancel);
        let place = self.security.place.clone();
        let history = Arc::clone(&self.conversation.history);
        let instructions = Arc::clone(&self.instructions.current);
        let notes = self.instructions.user_notes.clone();
        let bounds = context.responder.bounds;
        let scope = TurnScope {
            turn: self.info.turns,
            submit: self.queue.submission.take(),
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
        };
        let task = tokio::spawn(run(scope));
        self.running = Some(RunningTurn::new(self.info.turns, cancel, handle, task));
    }
}

impl Conversation {
    /// What a turn of the model starts with, but for its message: the text is what follows it. `news`
    /// is what the model gets to know of jobs.
    fn turn_start(
        &mut self,
        info: &SessionInfo,
        model: &dyn Model,
        news: &str,
        hooks: &SessionHooks,
    ) -> TurnStart {
        let is_planning = info.approval == ApprovalMode::Plan;
        let is_small = model.prompt_size() == PromptSize::Short;
        let branch = info.branch.clone().filter(|_| !is_small);
        TurnStart {
            text: self.mode_note(is_planning).to_owned() + &self.branch_note(branch) + news,
            images: Vec::new(),
            max_steps: info.max_steps,
            step_counter: Default::default(),
            check: state::check_action(info),
            budget: self.budget(info),
            next_step: self.next_step,
            dialect: model.dialect(),
            is_small_model: model.is_small(),
            hooks: Arc::clone(&hooks.active),
            agent: None,
        }
    }
}
