//! Handles the model's reply: shows a message, starts a list of steps, or asks once more for a
//! reply that cannot be read.

use std::collections::VecDeque;

use super::reply_meaning::{ReplyMeaning, meaning_of};
use super::transcript::{CallOutcome, OpenCall};
use super::{PausedBefore, StepBatch, Turn, TurnAction};
use avocet_core::i18n::{Lang, LocalizedText, Phrase, agent as phrases, protocol};
use avocet_core::protocol::reply::{
    MAX_COMMANDS, NativeStep, Proposal, Reply, ReplyRepair, is_thought, object_arguments,
    object_input, read_call, tool_name, wire_name,
};
use avocet_core::protocol::{
    ContentBlock, Dialect, Event, ModelMessage, Requires, Step, StepAction, Truncation, TurnOutcome,
};
use avocet_model::ModelReply;
use avocet_safety::{self as safety, PolicyContext};

impl Turn {
    pub(super) fn handle_reply(
        &mut self,
        reply: ModelReply,
        context: PolicyContext<'_>,
    ) -> TurnAction {
        self.usage.own = self.usage.own.plus(reply.usage);
        self.log.untold_usage = self.log.untold_usage.plus(reply.usage);
        match meaning_of(reply, &self.transcript, self.ids.next) {
            ReplyMeaning::Calls(reply) => self.handle_calls(reply, context),
            ReplyMeaning::Parsed(reply, repair) => self.handle_valid(reply, repair, context),
            ReplyMeaning::Words { message, blocks } => {
                match blocks {
                    Some(blocks) => self.transcript.add_native(blocks, &message, Vec::new()),
                    None => self.transcript.add_chat(&message),
                }
                let markdown = true;
                self.finish_chat(ModelMessage { message, markdown, ..ModelMessage::default() })
            }
            ReplyMeaning::Truncated { message, cut, by } => self.finish_truncated(message, cut, by),
            ReplyMeaning::Nothing(phrase) => self.ask_again(phrase),
            ReplyMeaning::Unreadable { fault, message, text } => {
                self.handle_unreadable(fault, message, &text)
            }
        }
    }

    /// A reply that calls tools. In the JSON dialect nothing offered them: every step asks.
    fn handle_calls(&mut self, mut reply: ModelReply, context: PolicyContext<'_>) -> TurnAction {
        let has_lost = reply.gaps > 0;
        let is_own_dialect = self.transcript.dialect() == Dialect::Tools;
        let message = reply.text();
        reply.blocks.iter_mut().for_each(mend_arguments);
        let (mut calls, mut todo, mut first_fault) = (Vec::new(), VecDeque::new(), None);
        for (index, call) in reply.calls().enumerate() {
            if is_thought(&call.name) {
                self.log.limits.record_fault(call);
                let (id, name) = (call.id.clone(), wire_name(&call.name));
                calls.push(OpenCall { id, name, outcome: CallOutcome::Thought });
                continue;
            }
            let read = if index < MAX_COMMANDS {
                read_call(call)
            } else {
                Err(protocol::TOO_MANY.with("count", index + 1).with("most", MAX_COMMANDS))
            };
            let outcome = match read {
                Ok(NativeStep { work, cwd, requires }) => {
                    let confirm = has_lost || !is_own_dialect;
                    let requires = Requires { confirm, ..requires };
                    let id = self.ids.take();
                    todo.push_back(Step { id: id.clone(), work, requires, cwd });
                    CallOutcome::Step(id)
                }
                Err(fault) => {
                    let is_again = self.log.limits.record_fault(call);
                    let said = describe_fault(&tool_name(&call.name), &fault, is_again);
                    first_fault.get_or_insert(fault);
                    CallOutcome::Fault(said)
                }
            };
            calls.push(OpenCall { id: call.id.clone(), name: wire_name(&call.name), outcome });
        }
        for block in &mut reply.blocks {
            block.mend_name();
        }
        self.transcript.add_native(reply.blocks, &message, calls);
        if let Some(fault) = first_fault.filter(|_| todo.is_empty()) {
            // The model gets their errors.
            self.log.emit(Event::Repairing { fault });
            self.transcript.close_calls();
            return match self.log.limits.pause_reason(
                None,
                context.policy.shelter,
                &self.start.budget,
            ) {
                Some(why) => self.ask_to_continue(why, PausedBefore::Call),
                None => self.call_model(),
            };
        }
        let batch = StepBatch { why: message, todo, ..StepBatch::default() };
        self.begin_batch(batch, context)
    }

    fn ask_again(&mut self, phrase: Phrase) -> TurnAction {
        if self.transcript.is_repairing() {
            return self.end(TurnOutcome::Failed { why: phrase.into() });
        }
        self.transcript.add_repair("", &phrase.into());
        self.log.emit(Event::Repairing { fault: phrase.into() });
        self.call_model()
    }

    fn handle_valid(
        &mut self,
        reply: Reply,
        repair: ReplyRepair,
        context: PolicyContext<'_>,
    ) -> TurnAction {
        match reply {
            // An answer without words would leave the user waiting for one.
            Reply::Chat { message, suggestions, .. }
                if message.trim().is_empty() && suggestions.is_empty() =>
            {
                self.ask_again(phrases::EMPTY_REPLY)
            }
            Reply::Error { message } if message.trim().is_empty() => {
                self.ask_again(phrases::EMPTY_REPLY)
            }
            Reply::Chat { message, markdown, suggestions } => {
                self.transcript.add_chat(&message);
                self.finish_chat(ModelMessage {
                    message,
                    markdown,
                    suggestions,
                    ..ModelMessage::default()
                })
            }
            Reply::Error { message } => {
                self.transcript.add_error(&message);
                self.log.emit_message(ModelMessage {
                    message,
                    error: true,
                    markdown: true,
                    ..ModelMessage::default()
                });
                self.end(TurnOutcome::Error)
            }
            Reply::Cmd { message, cwd, commands, expected } => {
                let batch = StepBatch { why: message, expected, ..StepBatch::default() };
                self.start_batch(batch, cwd, commands, repair, context)
            }
        }
    }

    fn finish_chat(&mut self, message: ModelMessage) -> TurnAction {
        self.log.emit_message(message);
        if self.steering.is_empty() { self.end(TurnOutcome::Done) } else { self.deliver_steering() }
    }

    /// An incomplete reply is shown, and none of it is run. One that became too long goes on, once.
    fn finish_truncated(
        &mut self,
        message: String,
        truncation: Truncation,
        text: Option<LocalizedText>,
    ) -> TurnAction {
        let goes_on = truncation == Truncation::Length && !self.transcript.is_repairing();
        self.transcript.forget_repair();
        if goes_on {
            self.transcript.add_repair(&message, &phrases::CUT_GO_ON.into());
        } else if !message.is_empty() {
            self.transcript.add_chat(&message);
        }
        self.log.emit_message(ModelMessage {
            message,
            markdown: true,
            cut: Some(truncation),
            ..ModelMessage::default()
        });
        if goes_on {
            self.log.emit(Event::Repairing { fault: phrases::CUT_GO_ON.into() });
            return self.call_model();
        }
        let why = match truncation {
            Truncation::Cancelled => {
                self.transcript.add_cancelled();
                return self.end(TurnOutcome::Cancelled);
            }
            Truncation::Broken => phrases::CUT_BROKEN,
            Truncation::Length => phrases::CUT_LENGTH,
            Truncation::Filtered => phrases::CUT_FILTERED,
            Truncation::Repeated => phrases::CUT_REPEATED,
        };
        let why = match text {
            Some(error) => phrases::CUT_BY.with("why", error),
            None => why.into(),
        };
        self.end(TurnOutcome::Failed { why })
    }

    /// Asks once more. If that is broken too, the message of the first is shown, but the turn has
    /// failed.
    fn handle_unreadable(
        &mut self,
        fault: LocalizedText,
        message: Option<String>,
        text: &str,
    ) -> TurnAction {
        if !self.transcript.is_repairing() {
            self.first_message = message;
            self.transcript.add_repair(text, &fault);
            self.log.emit(Event::Repairing { fault });
            return self.call_model();
        }
        // A second answer as bad as the first does not replace it.
        if let Some(message) = self.first_message.take().or(message) {
            self.transcript.add_chat(&message);
            let markdown = true;
            let message = ModelMessage { message, markdown, ..ModelMessage::default() };
            self.log.emit_message(message);
        }
        self.end(TurnOutcome::Failed { why: phrases::UNREADABLE.with("fault", fault) })
    }

    fn start_batch(
        &mut self,
        mut batch: StepBatch,
        cwd: Option<String>,
        mut proposals: Vec<Proposal>,
        repair: ReplyRepair,
        context: PolicyContext<'_>,
    ) -> TurnAction {
        proposals.iter_mut().for_each(|proposal| mend_input(&mut proposal.work));
        self.transcript.add_cmd(&batch.why, cwd.as_deref(), &proposals);
        for mut proposal in proposals {
            // A repaired reply is never acted on without a question.
            proposal.requires.confirm |= repair == ReplyRepair::Repaired;
            let id = self.ids.take();
            let Proposal { work, requires, cwd: own } = proposal;
            let cwd = own.or_else(|| cwd.clone());
            batch.todo.push_back(Step { id, work, requires, cwd });
        }
        self.begin_batch(batch, context)
    }

    fn begin_batch(&mut self, mut batch: StepBatch, context: PolicyContext<'_>) -> TurnAction {
        let message = batch.why.clone();
        self.log.emit_message(ModelMessage { message, markdown: true, ..ModelMessage::default() });
        batch.total = batch.todo.len();
        self.batch = batch;
        self.batch.announce_refusal(context, &mut self.log);
        self.advance(context)
    }
}

/// Wraps a bare value in the object of arguments that the tool expects.
fn mend_arguments(block: &mut ContentBlock) {
    let ContentBlock::ToolCall(call) = block else { return };
    let field = safety::tools::sole_field(&tool_name(&call.name));
    if let Some(meant) = object_arguments(&call.arguments, field) {
        call.arguments = meant;
    }
}

/// The same in the JSON dialect. What has no field of its own is a fault of form.
fn mend_input(action: &mut StepAction) {
    if let StepAction::Tool { name, input } = action
        && let Some(object) =
            object_input(input, Some(safety::tools::sole_field(name).unwrap_or("input")))
    {
        *input = object;
    }
}

/// What a model reads of a call that cannot be read.
fn describe_fault(tool: &str, text: &LocalizedText, is_again: bool) -> String {
    let form = safety::tools::describe_form(tool);
    let again = if is_again { phrases::REPEATED.en } else { "" };
    let said = [text.text(Lang::En).as_str(), &form, again].map(str::to_owned);
    said.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}
