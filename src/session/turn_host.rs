//! Serves the requests of a turn that the model decides: its answer, the user's decision, a step's
//! run. It belongs to the turn's task, so it may wait.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use tokio::time::{Instant, sleep_until};

use super::Fallback;
use super::language_steps::{add_late_diagnostics, replaced_step};
use super::offered_tools::offered_tools;
use super::turn_context::bounds_of_model;
use super::turn_conversation::Preamble;
use super::turn_hooks::step_advice;
use super::turn_messages::{FinishedTurn, PermissionMessage, TurnMessage};
use super::turn_scope::TurnScope;
use super::{provider_search, script_tool, send_tool, skill_tool, subagent};
use crate::agent::Steering;
use crate::agent::drive::drive;
use crate::agent::turn::{Turn, TurnResult, TurnStart};
use crate::agent::{Host, ModelRequest, RequestNews, StepAdvice};
use crate::context::history::TurnRecord;
use crate::context::message_size::tools_size;
use avocet_core::i18n::{Localize, LocalizedText, session as phrases};
use avocet_core::protocol::growing_reply::GrowingReply;
use avocet_core::protocol::{
    ApprovalMode, ApprovalScope, ContentBlock, Decision, Dialect, Event, Image, Message, Notice,
    Observation, PromptSize, Question, Step, ToolSchema, Truncation, TurnOutcome, Usage, reply,
};
use avocet_core::text::ends_in_repetition;
use avocet_hooks::{HookCall, HookEvent};
use avocet_model::{Chunk, ModelError, ModelReply, Request};
use avocet_safety::{ClearedStep, Grant, PolicyContext, SessionOpening, ToolTask};

impl Host for TurnScope {
    fn policy_context(&mut self) -> PolicyContext<'_> {
        self.policy_context()
    }

    async fn news(&mut self) -> RequestNews {
        self.request_news().await
    }

    async fn call_model(&mut self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        let answered = match self.request_reply(request.clone()).await {
            Err(ModelError::TooLong { .. }) if self.adopt_smaller_window().await => {
                self.request_reply(request).await
            }
            answered => answered,
        };
        let reply = answered?;
        self.shared.spending.add(reply.usage);
        let usage = reply.usage.plus(std::mem::take(&mut self.account.extra));
        self.account.spent = self.account.spent.plus(usage);
        self.events.notify(TurnMessage::Spent(self.account.spent));
        Ok(ModelReply { usage, ..reply })
    }

    fn partial_answer(&mut self) -> Option<ModelReply> {
        self.shared.spending.add(self.answer.usage);
        Some(std::mem::take(&mut self.answer)).filter(|reply| !reply.is_empty())
    }

    async fn fall_back(&mut self, why: LocalizedText) -> Option<Dialect> {
        while let Some(Fallback { name, model }) = self.context.responder.fallbacks.pop_front() {
            let say = match &model {
                Ok(model) => phrases::FELL_BACK
                    .with("model", self.context.responder.model.name())
                    .with("other", label(model.name(), &name))
                    .with("why", why.clone()),
                Err(fault) => {
                    phrases::FALLBACK_UNUSABLE.with("other", name).with("why", fault.clone())
                }
            };
            self.events.emit(Event::Notice(Notice::warning(say))).await;
            if let Ok(model) = model {
                self.context.responder.model = model;
                self.context.responder.fit_to_model();
                return Some(self.context.responder.model.dialect());
            }
        }
        None
    }

    fn take_steering(&mut self) -> Vec<Steering> {
        std::iter::from_fn(|| self.inbox.steering.try_recv().ok()).collect()
    }

    async fn admit(&mut self, steering: Steering) -> Option<Steering> {
        self.parts().admit_steering(steering).await
    }

    async fn consult(&mut self, event: HookEvent, proposed: Step) -> StepAdvice {
        let step = replaced_step(self, event, proposed.clone()).await;
        let call = HookCall::of_step(event, &step, self.judge.folder());
        let reply = self.parts().run_hooks(&call).await;
        let (advice, notices) = step_advice(&call, &step, reply);
        for notice in notices {
            self.events.emit(Event::Notice(notice)).await;
        }
        let replaced = (step.work != proposed.work).then_some(step);
        StepAdvice { changed: advice.changed.or(replaced), ..advice }
    }

    async fn reason_to_go_on(&mut self) -> Option<String> {
        self.parts().put_off_end().await
    }

    async fn ask(&mut self, events: Vec<Event>, question: Question) -> Option<Decision> {
        events.iter().for_each(|event| self.keep_plan(event));
        self.ask_after(events, question).await
    }

    async fn run(&mut self, step: ClearedStep) -> Observation {
        let judged = step.judgement();
        let is_script = script_tool::script_call(&judged.step.work).is_some();
        let mut observation = match &judged.task {
            Some(ToolTask::Plugin(plugin)) if plugin.interactive => {
                self.run_in_terminal(step).await
            }
            Some(ToolTask::WebSearch(task)) if task.settings.is_by_provider() => {
                provider_search::run(self, step).await
            }
            Some(ToolTask::Subagent(_)) => subagent::run_task(self, step).await,
            _ if is_script => script_tool::run(self, step).await,
            _ if send_tool::is_send(&judged.step.work) => send_tool::run(self, step).await,
            _ => self.run_step(step).await,
        };
        self.events.notify(TurnMessage::StepFinished);
        add_late_diagnostics(self, &mut observation).await;
        self.parts().run_hooks_after(&mut observation).await;
        if let Some((name, _)) = skill_tool::skill_call(&observation.step.work)
            && observation.succeeded()
        {
            self.enter_skill(name, &observation.stdout);
            self.restrict_tools(skill_tool::skill_restriction(&self.context.extensions, name));
        }
        observation
    }

    async fn run_together(&mut self, steps: Vec<ClearedStep>) -> Vec<Observation> {
        let mut all = subagent::run_tasks(self, steps).await;
        for observation in &mut all {
            self.events.notify(TurnMessage::StepFinished);
            self.parts().run_hooks_after(observation).await;
        }
        all
    }

    async fn emit(&mut self, event: Event) {
        self.keep_plan(&event);
        self.events.emit(event).await;
    }

    async fn emit_before_call(&mut self, events: Vec<Event>) {
        events.iter().for_each(|event| self.keep_plan(event));
        self.events.emit_in_background(events);
    }

    fn remember(&mut self, rule: String, _: ApprovalScope) {
        self.events.notify(TurnMessage::Permitted(PermissionMessage::Rule(rule)));
    }

    fn set_approval_mode(&mut self, mode: ApprovalMode) {
        self.judge.set_approval_mode(mode);
        self.events.notify(TurnMessage::PlanAccepted(mode));
    }

    fn open_for_session(&mut self, opening: SessionOpening) {
        let opening = PermissionMessage::Opening(Box::new(opening));
        self.events.notify(TurnMessage::Permitted(opening));
    }

    fn grant(&mut self, grant: Grant, scope: ApprovalScope) {
        let step = PermissionMessage::Step { grant: Box::new(grant), scope };
        self.events.notify(TurnMessage::Permitted(step));
    }
}

impl TurnScope {
    fn keep_plan(&mut self, event: &Event) {
        if let Event::Plan { items } = event {
            self.conversation.set_plan(self.turn, items, &self.context.redactor);
        }
    }

    fn usable_tools(
        &mut self,
        tools: &Arc<[ToolSchema]>,
        messages: &[Message],
    ) -> Arc<[ToolSchema]> {
        let web_is_off = self.judge.policy_context().policy.web.is_off;
        offered_tools(tools, messages, &self.context.extensions, web_is_off)
    }

    /// After a request that the server found too long: lowers the limits to the context window that
    /// it named. True if that is less than before.
    async fn adopt_smaller_window(&mut self) -> bool {
        let bounds =
            bounds_of_model(&*self.context.responder.model, self.context.responder.usual_bounds);
        let is_less = bounds.room.bytes < self.context.responder.bounds.room.bytes;
        if is_less {
            self.context.responder.bounds = bounds;
            let tokens = self.context.responder.model.window().unwrap_or_default();
            let say = phrases::WINDOW_LEARNED.with("tokens", tokens);
            self.events.emit(Event::Notice(Notice::warning(say))).await;
        }
        is_less
    }

    fn tool_schemas(&self, size: PromptSize) -> Arc<[ToolSchema]> {
        let model = &self.context.responder.model;
        self.context.tools.schemas(model.name(), size, model.offers_shell())
    }

    /// One request, and its answer.
    async fn request_reply(
        &mut self,
        model_request: ModelRequest,
    ) -> Result<ModelReply, ModelError> {
        let (conversation, mut parts) = self.split();
        let has_asked = conversation.prepare(model_request.messages, &mut parts).await;
        let size = self.context.responder.prompt_size;
        let system = self.context.system.text(model_request.dialect, size);
        let system = self.context.redactor.mask(&system);
        let bounds = self.context.responder.bounds_for(model_request.dialect);
        let (schema, tools) = match (model_request.dialect, size) {
            (Dialect::Json, PromptSize::Full) => (Some(reply::shared_schema()), Arc::default()),
            (Dialect::Json, PromptSize::Short) => {
                (Some(reply::shared_short_schema()), Arc::default())
            }
            (Dialect::Tools, _) => {
                (self.context.responder.answer_schema.clone(), self.tool_schemas(size))
            }
        };
        let preamble = Preamble { system: &system, tools: tools_size(&tools) };
        let index = (!model_request.repair).then_some(model_request.index);
        let (conversation, mut parts) = self.split();
        let (mut messages, usage) =
            conversation.request(preamble, index, bounds, has_asked, &mut parts).await;
        if size == PromptSize::Short {
            messages.iter_mut().for_each(Message::restore_text_calls);
        }
        self.events.notify(TurnMessage::RequestSent(Box::new(usage)));
        let sent_bytes = messages.iter().map(Message::len).sum::<usize>() + preamble.tools.bytes;
        let request = Request {
            tools: self.usable_tools(&tools, &messages),
            messages,
            params: self.context.responder.params.clone(),
            schema,
            effort: self.context.responder.effort,
            cache_key: self.context.responder.cache_key.clone(),
            restarts: true,
            ..Request::default()
        };
        self.answer = ModelReply::default();
        self.events.save_message().await;
        self.events.emit_in_background(vec![Event::ReplyStarted]);
        let stream = self.context.responder.model.stream(request);
        let reply = self.read_stream(stream, sent_bytes).await?;
        // The steps it proposes are judged next.
        self.await_sandbox_status().await;
        Ok(reply)
    }

    /// Lets the model decide until the turn ends.
    pub(super) async fn drive(
        mut self,
        start: TurnStart,
        message: String,
        images: Vec<Image>,
    ) -> FinishedTurn {
        let start = match self.parts().hear_hooks(&message).await {
            Ok(added) => start.with_message(message + &added, images),
            Err(why) => {
                let ending = TurnOutcome::Unsent { why };
                return self.end(ending, TurnRecord::default(), Usage::default()).await;
            }
        };
        self.drive_heard(start).await
    }

    /// The same, without asking hooks about the message.
    pub(super) async fn drive_heard(mut self, start: TurnStart) -> FinishedTurn {
        let cancel = self.context.cancel.clone();
        self.account.max_steps = start.max_steps;
        self.account.step_counter = start.step_counter.clone();
        let model = std::sync::Arc::clone(&self.context.responder.model);
        // A turn that is stopped meanwhile does not wait.
        let _stopped = cancel.run_until_cancelled(model.wait_for_facts()).await;
        self.context.responder.fit_to_model();
        let start = TurnStart {
            next_step: self.next_step,
            dialect: model.dialect(),
            is_small_model: model.is_small(),
            ..start
        };
        let TurnResult { ending, mut record, usage, next_step } =
            drive(Turn::new(start), &mut self, cancel).await;
        // That of agents whose results no answer followed.
        let usage = usage.plus(std::mem::take(&mut self.account.extra));
        self.conversation.keep_as_sent(&mut record, &self.context.redactor);
        self.next_step = next_step;
        self.end(ending, record, usage).await
    }

    /// Reads the stream to its end, and shows the growing reply.
    async fn read_stream(
        &mut self,
        mut stream: futures_util::stream::BoxStream<'static, Result<Chunk, ModelError>>,
        sent_bytes: usize,
    ) -> Result<ModelReply, ModelError> {
        // What is not inside JSON is shown as it is. A model that is offered tools may answer in
        // JSON as well.
        let mut growing = GrowingReply::default();
        let is_small = self.context.responder.model.is_small();
        let mut limit = ReplyLimit { is_small, ..ReplyLimit::default() };
        loop {
            if let Some(cut) = limit.reached(&self.answer, &growing) {
                // Dropping the stream frees the server.
                self.answer.cut = cut;
                break;
            }
            let chunk = if let Some(chunk) = stream.next().now_or_never() {
                chunk
            } else {
                // All chunks that have arrived are taken.
                let due = self.events.outbox.due();
                let now = Instant::now();
                if due.is_some_and(|due| due <= now) {
                    self.events.outbox.release();
                    continue;
                }
                let last = limit.deadline;
                tokio::select! {
                    chunk = stream.next() => chunk,
                    () = sleep_until(last.unwrap_or(now)), if last.is_some() => continue,
                    () = sleep_until(due.unwrap_or(now)), if due.is_some() => continue,
                    () = self.events.outbox.flush(), if self.events.outbox.has_unsent() => continue,
                }
            };
            self.events.flush().await;
            match chunk {
                // The message is whole: what the connection lost after it is not worth a request.
                Some(Ok(Chunk::Retrying { .. })) if limit.deadline.is_some() => break,
                Some(Ok(chunk)) => self.handle_chunk(chunk, &mut growing).await,
                Some(Err(error)) if self.answer.is_empty() || self.will_fall_back(&error) => {
                    self.account.add_extra(self.answer.usage, &self.shared.spending);
                    return Err(error);
                }
                Some(Err(error)) => {
                    self.answer.cut = Some(Truncation::Broken);
                    self.answer.broken_by = Some(error.localized());
                    break;
                }
                None => break,
            }
        }
        self.events.outbox.flush().await;
        let mut answer = std::mem::take(&mut self.answer);
        if answer.usage == Usage::default() {
            answer.usage = estimate_usage(&answer, sent_bytes);
        }
        Ok(answer)
    }

    /// Whether another model answers from the beginning.
    fn will_fall_back(&self, error: &ModelError) -> bool {
        error.is_mended_elsewhere() && !self.context.responder.fallbacks.is_empty()
    }

    async fn handle_chunk(&mut self, chunk: Chunk, growing: &mut GrowingReply) {
        match &chunk {
            Chunk::Text(text) => {
                let shown = growing.push(text);
                if !shown.is_empty() {
                    self.events.outbox.gather(Event::Delta { text: shown });
                }
                if let Some((name, bytes)) = growing.take_growth() {
                    self.events.outbox.send(Event::CallProgress { name, bytes }).await;
                }
            }
            Chunk::Thought(text) => {
                self.events.outbox.gather(Event::ReasoningDelta { text: text.clone() });
            }
            Chunk::Retrying { attempt, of, wait_ms, why } => {
                let (attempt, of, wait_ms, why) = (*attempt, *of, *wait_ms, why.clone());
                self.events.outbox.send(Event::Retrying { attempt, of, wait_ms, why }).await;
            }
            Chunk::Notice(say) => {
                self.events.outbox.send(Event::Notice(Notice::warning(say.clone()))).await;
            }
            Chunk::CallProgress { name, bytes } => {
                let (name, bytes) = (name.clone(), *bytes);
                self.events.outbox.send(Event::CallProgress { name, bytes }).await;
            }
            Chunk::Restart => {
                *growing = GrowingReply::default();
                self.events.outbox.flush().await;
                self.events.outbox.send(Event::ReplyStarted).await;
            }
            Chunk::Gap
            | Chunk::Paused
            | Chunk::Source(_)
            | Chunk::SealedText(_)
            | Chunk::SealedThought(_)
            | Chunk::Call(_)
            | Chunk::Usage(_)
            | Chunk::Finished(_) => {}
        }
        self.answer.push(chunk);
    }
}

/// A model and the name that the settings have for it.
fn label(model: &str, name: &str) -> String {
    if name == model { model.to_owned() } else { format!("{model} ({name})") }
}

/// Ends a reply of which nothing of worth can follow.
#[derive(Debug, Default)]
struct ReplyLimit {
    /// When a chat whose message is complete is complete, and at what size.
    deadline: Option<Instant>,
    most: usize,
    /// Only of a small model repetition is a fault: others repeat what they were asked to.
    is_small: bool,
    /// The size at which it was last searched for repetition.
    searched: usize,
}

impl ReplyLimit {
    /// How the reply is cut, if it ends here.
    fn reached(
        &mut self,
        reply: &ModelReply,
        growing: &GrowingReply,
    ) -> Option<Option<Truncation>> {
        let size: usize = reply.blocks.iter().map(ContentBlock::len).sum();
        if self.deadline.is_none() && growing.is_chat_complete() {
            self.deadline = Some(Instant::now() + AFTER_MESSAGE);
            self.most = size + BYTES_AFTER_MESSAGE;
        }
        if self.deadline.is_some_and(|end| end <= Instant::now() || size > self.most) {
            return Some(None);
        }
        if self.is_small && size > self.searched + SEARCH_EVERY {
            self.searched = size;
            let repeats = reply.blocks.last().is_some_and(|block| match block {
                ContentBlock::Text(text) | ContentBlock::Reasoning(text) => {
                    ends_in_repetition(&text.text)
                }
                _ => false,
            });
            return repeats.then_some(Some(Truncation::Repeated));
        }
        None
    }
}

/// How long, and for how many bytes, suggestions are read after the message of a chat.
const AFTER_MESSAGE: Duration = Duration::from_secs(2);
const BYTES_AFTER_MESSAGE: usize = 1024;
/// Bytes between two searches for repetition.
const SEARCH_EVERY: usize = 2048;

/// The estimated tokens of an answer whose server counts none: about four bytes each.
fn estimate_usage(reply: &ModelReply, sent: usize) -> Usage {
    let tokens = |bytes: usize| u64::try_from(bytes / 4).unwrap_or(u64::MAX);
    Usage {
        estimated: true,
        ..Usage::counted(tokens(sent), tokens(reply.blocks.iter().map(ContentBlock::len).sum()))
    }
}
