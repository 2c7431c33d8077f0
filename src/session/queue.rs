//! Starts turns: with a message, with a prompt that must be expanded first, or with a queued
//! message. The loop is in `run`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::prompt_expansion::{self, AfterExpansion};
use super::skill_tool;
use super::state::{self, Session};
use super::step_judge::StepJudge;
use super::summarizer::Summarizer;
use super::system_prompts::{SystemPrompts, answer_section};
use super::turn_account::TurnAccount;
use super::turn_clock::TurnClock;
use super::turn_context::{TurnContext, TurnResponder, TurnScripts, TurnServers, bounds_of_model};
use super::turn_conversation::{InstructionsCheck, TurnConversation};
use super::turn_events::TurnEvents;
use super::turn_messages::{FinishedTurn, TurnInbox, turn_channels};
use super::turn_scope::TurnScope;
use super::user_input::{QueuedInput, UserInput};
use super::{script_tool, shell_turn};
use crate::agent::Steering;
use crate::agent::turn::TurnStart;
use crate::context::message_size::tools_size;
use crate::context::size::ContextSize;
use crate::context::window::Bounds;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::budget::{Budget, Spent};
use avocet_core::protocol::{Dialect, Event, Notice, Prompt, SubmitId, TurnOrigin};
use avocet_model::ModelReply;

impl Session {
    pub(super) async fn submit(&mut self, input: UserInput) {
        self.conversation.shared.reset_background();
        if self.is_idle() && self.open_question().is_none() {
            self.begin(input, TurnOrigin::Typed).await;
        } else {
            // Messages left from an earlier session come after this one.
            let at = self.queue.len().saturating_sub(self.restored);
            let queued = self.queued(input);
            self.queue.insert(at, queued);
            self.send_queue().await;
        }
    }

    /// Expands a prompt for its text only.
    pub(super) async fn render(&mut self, prompt: Prompt) {
        if !self.is_idle() || self.open_question().is_some() {
            self.notify(Notice::warning(phrases::RENDER_BUSY)).await;
            return;
        }
        self.start_expansion(prompt, TurnOrigin::Typed, AfterExpansion::Render);
    }

    pub(super) async fn retry(&mut self) {
        match self.conversation.last_input.take() {
            _ if !self.is_idle() || self.open_question().is_some() => {}
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
        if self.queue.len() > self.restored && self.is_idle() && self.open_question().is_none() {
            self.start_next_queued().await;
        }
    }

    /// The user wants the waiting messages to start.
    pub(super) async fn run_queue(&mut self) {
        match () {
            () if self.queue.is_empty() => self.notify(Notice::info(phrases::QUEUE_EMPTY)).await,
            () if !self.is_idle() => self.notify(Notice::info(phrases::QUEUE_FOLLOWS)).await,
            () if self.open_question().is_some() => {}
            () => self.start_next_queued().await,
        }
    }

    pub(super) async fn start_next_queued(&mut self) {
        if let Some(QueuedInput { id, input }) = self.queue.pop_front() {
            self.restored = self.restored.min(self.queue.len());
            self.send_queue().await;
            self.pending_submit = Some(id);
            self.begin(input, TurnOrigin::Queue).await;
        }
    }

    /// Replaces the queue, and messages that the running turn has not read.
    pub(super) async fn set_queue(&mut self, texts: Vec<String>) {
        let unread =
            self.running.as_mut().map(|running| std::mem::take(&mut running.unread_steering));
        let steered = unread.into_iter().flatten().filter_map(|steering| steering.submit);
        let queued = std::mem::take(&mut self.queue).into_iter().map(|queued| queued.id);
        let ids: Vec<SubmitId> = steered.chain(queued).collect();
        self.queue = texts.into_iter().map(|text| self.queued(UserInput::parse(text))).collect();
        self.restored = if self.is_idle() { self.queue.len() } else { 0 };
        self.send_queue().await;
        for submit in ids {
            self.outbox.send(Event::Dropped { submit }).await;
        }
    }

    /// Removes one message, if it has not started meanwhile.
    pub(super) async fn unqueue(&mut self, id: SubmitId) {
        let found = self.queue.iter().position(|queued| queued.id == id);
        if let Some(at) = found {
            self.queue.remove(at);
            let rests = at >= self.queue.len().saturating_sub(self.restored);
            self.restored = self.restored.saturating_sub(usize::from(rests)).min(self.queue.len());
        }
        self.send_queue().await;
        if found.is_some() {
            self.outbox.send(Event::Dropped { submit: id }).await;
        }
    }

    /// An input for the queue, with the id of the submission that is being handled.
    fn queued(&mut self, input: UserInput) -> QueuedInput {
        let id = self.pending_submit.take().unwrap_or_else(|| self.own_ids.next_id());
        QueuedInput { id, input }
    }

    pub(super) async fn send_queue(&mut self) {
        let messages = self.queue.iter().map(QueuedInput::shown).collect();
        self.outbox.send(Event::Queued { messages }).await;
    }

    /// Messages that the turn does not read before it ends are sent after it.
    pub(super) async fn steer(&mut self, text: String) {
        match &mut self.running {
            Some(running) => {
                let steering = Steering { submit: self.pending_submit.take(), text };
                running.unread_steering.push_back(steering.clone());
                let _ = running.steering.send(steering);
            }
            None => self.submit(UserInput::Text(text)).await,
        }
    }

    /// Messages that the turn did not read are sent next.
    pub(super) async fn requeue_unread(&mut self, unread: VecDeque<Steering>) {
        if unread.is_empty() {
            return;
        }
        for Steering { submit, text } in unread.into_iter().rev() {
            let id = submit.unwrap_or_else(|| self.own_ids.next_id());
            self.queue.push_front(QueuedInput { id, input: UserInput::Text(text) });
        }
        self.send_queue().await;
    }

    /// Both checks and saving the message run at the same time; the turn waits for the instructions
    /// when it needs them, and its request waits until the message is saved.
    pub(super) async fn begin(&mut self, input: UserInput, origin: TurnOrigin) {
        let turn = self.info.turns + 1;
        self.store.prepare(match &input {
            UserInput::Text(text) => {
                let submit = self.pending_submit;
                Some(Event::TurnStarted { turn, text: text.clone(), origin, submit })
            }
            UserInput::Prompt(_) | UserInput::Shell { .. } => None,
        });
        if let Some(unsaved) = &mut self.info.unsaved {
            unsaved.elsewhere = false;
        }
        let notes = match input {
            UserInput::Text(_) => self.check_instructions(),
            UserInput::Prompt(_) | UserInput::Shell { .. } => None,
        };
        self.reload_settings().await;
        self.refresh_and_wait().await;
        self.wait_for_servers(&input).await;
        self.load_hooks().await;
        self.run_start_hooks(false);
        self.start(input, origin, notes);
    }

    fn start(&mut self, input: UserInput, origin: TurnOrigin, notes: Option<InstructionsCheck>) {
        if let UserInput::Shell { .. } = input {
            return self.start_turn(|scope| shell_turn::run(input, scope));
        }
        self.set_default_title(&input.as_typed(), origin);
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
        TurnStart {
            text: self.mode_note().to_owned() + &self.branch_note() + &self.jobs.take_news(),
            images: Vec::new(),
            max_steps: self.info.max_steps,
            check: state::check_action(&self.info),
            budget: self.budget(),
            next_step: self.conversation.next_step,
            dialect: self.responder.connected.model.dialect(),
            is_small_model: self.responder.connected.model.is_small(),
            hooks: self.active_hooks(),
            agent: None,
        }
    }

    /// What may be spent from now on; what still runs has spent some of it.
    pub(super) fn budget(&self) -> Budget {
        let running = self.conversation.shared.spending.total().since(self.run_usage);
        let session = self.info.usage.plus(running);
        let run = self.run_usage.plus(running);
        let mut limits = self.info.spend_limits;
        let mut spent = Spent { session, run, ..Spent::default() };
        if let Some(goal) = self.info.goal.as_deref().filter(|goal| goal.is_active()) {
            limits.goal.cost = goal.max_cost;
            spent.goal.cost = goal.cost(session);
        }
        Budget::new(limits, spent)
    }

    /// Starts a turn on a task of its own.
    pub(super) fn start_turn<F>(&mut self, run: impl FnOnce(TurnScope) -> F)
    where
        F: Future<Output = FinishedTurn> + Send + 'static,
    {
        self.info.turns += 1;
        let cancel = CancellationToken::new();
        let (inbox, handle) = turn_channels();
        let submit = self.pending_submit.take();
        let task = tokio::spawn(run(self.turn_scope(&cancel, inbox, submit)));
        self.set_running(cancel, handle, task);
    }

    /// What stays the same throughout a turn, unless settings change.
    pub(super) fn turn_context(&self, cancel: &CancellationToken) -> TurnContext {
        let extensions = &self.responder.extensions;
        let outputs = self.outputs.clone();
        let persona = &self.responder.persona;
        let connected = &self.responder.connected;
        TurnContext {
            responder: TurnResponder {
                model: Arc::clone(&connected.model),
                fallbacks: connected.fallbacks.iter().cloned().collect(),
                params: persona.params.clone(),
                effort: self.responder.effort,
                answer_schema: persona.answer_schema.clone(),
                prompt_size: connected.model.prompt_size(),
                bounds: self.request_bounds(),
                usual_bounds: self.bounds,
                cache_key: Some(self.info.session.clone()).filter(|id| !id.is_empty()),
            },
            system: self.system_prompts(),
            summarizer: self.summarizer(),
            outputs: outputs.map(|folder| (folder, self.info.session.clone())),
            tools: self.toolbox(),
            extensions: Arc::clone(&extensions.library),
            servers: TurnServers {
                offers: Arc::clone(&self.servers.offers),
                next_call: Arc::clone(&self.servers.next_call),
            },
            redactor: Arc::clone(&self.security.redactor),
            approves_template_commands: self.approves_template_commands,
            // A turn begins by reading the extensions again.
            scripts: TurnScripts {
                places: extensions.scripts.places.clone(),
                store: extensions.store.clone(),
            },
            budget: self.budget(),
            lang: self.info.lang,
            cancel: cancel.clone(),
        }
    }

    fn turn_scope(
        &self,
        cancel: &CancellationToken,
        inbox: TurnInbox,
        submit: Option<SubmitId>,
    ) -> TurnScope {
        let context = self.turn_context(cancel);
        let place = self.security.place.clone();
        let history = Arc::clone(&self.conversation.history);
        let instructions = Arc::clone(&self.instructions);
        let notes = self.user_notes.clone();
        let bounds = context.responder.bounds;

        TurnScope {
            turn: self.info.turns,
            submit,
            clock: TurnClock::start(Instant::now()),
            next_step: self.conversation.next_step,
            shared: self.conversation.shared.clone(),
            context,
            conversation: TurnConversation::new(history, instructions, notes, bounds),
            hooks: self.hook_runner(),
            events: TurnEvents::new(self.outbox.clone(), self.turn_messages.clone()),
            inbox,
            answer: ModelReply::default(),
            judge: StepJudge::new(self.policy.subscribe(), place, self.turn_world()),
            account: TurnAccount::start(self.conversation.shared.spending.total()),
            trust_offer: self.security.trust.offer(),
            has_steps_of_model: true,
        }
    }

    /// The limits of the next request.
    pub(super) fn request_bounds(&self) -> Bounds {
        bounds_of_model(&*self.responder.connected.model, self.bounds)
    }

    pub(super) fn summarizer(&self) -> Summarizer {
        Summarizer::new(&self.callbacks.connect, &self.responder.connected, self.info.lang)
    }

    /// The prompt for the model that answers now.
    pub fn system_prompt(&self) -> String {
        let model = &self.responder.connected.model;
        self.system_prompts().text(model.dialect(), model.prompt_size())
    }

    /// What the tools take that the next request describes beside its messages.
    pub fn tools_size(&self) -> ContextSize {
        let model = &self.responder.connected.model;
        match model.dialect() {
            Dialect::Tools => {
                let size = model.prompt_size();
                let offers_shell = model.offers_shell();

                tools_size(&self.toolbox().schemas(model.name(), size, offers_shell))
            }
            Dialect::Json => ContextSize::default(),
        }
    }

    fn system_prompts(&self) -> SystemPrompts {
        let library = &self.responder.extensions.library;
        let skills = skill_tool::with_skill_section(
            String::new(),
            library,
            &self.conversation.active_skills,
        );
        SystemPrompts {
            cwd: self.info.cwd.clone(),
            surroundings: self.surroundings.clone(),
            lang: self.info.lang,
            bot: self.responder.persona.prompt.clone(),
            tools: self.toolbox(),
            sections: script_tool::with_script_section(skills, &self.model_scripts())
                + &self.plugin_section()
                + &answer_section(self.responder.persona.answer_schema.as_deref()),
        }
    }
}
