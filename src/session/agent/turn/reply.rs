//! Handles the model's reply: shows a message, starts a list of steps, or asks once more for a
//! reply that cannot be read.

use std::collections::VecDeque;

use super::transcript::{CallOutcome, OpenCall};
use super::{Batch, PausedBefore, Turn, TurnAction, transcript};
use avocet_core::i18n::{Lang, LocalizedText, Phrase, agent as phrases, protocol};
use avocet_core::protocol::reply::{
    MAX_COMMANDS, NativeStep, ParsedReply, Proposal, Reply, ReplyRepair, TextCall, TextCalls,
    call_answer, is_thought, is_translated, object_arguments, object_input, read, read_call,
    text_calls, tool_name, wire_name,
};
use avocet_core::protocol::{
    ContentBlock, Dialect, Event, ModelMessage, Notice, Outcome, Requires, Step, StepAction,
    TEXT_CALL, ToolCall, Truncation, TurnOutcome,
};
use avocet_model::ModelReply;
use avocet_safety::{self as safety, Judgement, PolicyContext, Verdict};

/// How a chat of the JSON protocol begins.
const CHAT: &str = r#"{"type":"chat","message":"#;

impl Turn {
    pub(super) fn handle_reply(
        &mut self,
        reply: ModelReply,
        context: PolicyContext<'_>,
    ) -> TurnAction {
        self.usage.own = self.usage.own.plus(reply.usage);
        let reply = with_answer_as_text(reply);
        let has_calls = reply.calls().next().is_some();
        match (reply.cut, self.transcript.dialect()) {
            (None, _) if has_calls => self.handle_calls(reply, context),
            (_, Dialect::Tools) => self.handle_prose(reply, context),
            (_, Dialect::Json) => self.handle_json(&reply, context),
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
                self.limits.record_fault(call);
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
                    let id = self.take_step_id();
                    todo.push_back(Step { id: id.clone(), work, requires, cwd });
                    CallOutcome::Step(id)
                }
                Err(fault) => {
                    let is_again = self.limits.record_fault(call);
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
            return self.handle_faulty_calls(fault, context);
        }
        let batch = Batch { why: message, todo, ..Batch::default() };
        self.begin_batch(batch, context)
    }

    /// None of the calls can be read: the model gets their errors.
    fn handle_faulty_calls(
        &mut self,
        text: LocalizedText,
        context: PolicyContext<'_>,
    ) -> TurnAction {
        self.emit(Event::Repairing { fault: text });
        self.transcript.close_calls();
        match self.pause_reason(None, context) {
            Some(why) => self.ask_to_continue(why, PausedBefore::Call),
            None => self.call_model(),
        }
    }

    /// A call whose form is wrong: the model reads what is wrong, the form, and an example. The
    /// other steps of the reply do not depend on it.
    pub(super) fn record_fault(
        &mut self,
        judged: &Judgement,
        text: LocalizedText,
        context: PolicyContext<'_>,
    ) -> TurnAction {
        let mut seen = transcript::not_run_observation(judged, Outcome::NotStarted, Some(text));
        seen.stdout = safety::tools::describe_form(judged.step.work.tool());
        self.count(&mut seen);
        self.record(seen);
        self.advance(context)
    }

    /// A reply without calls of a model that is offered tools: its answer, unless it holds calls in
    /// a text form, or is a reply of the JSON protocol.
    fn handle_prose(&mut self, reply: ModelReply, context: PolicyContext<'_>) -> TurnAction {
        let text = reply.text();
        if reply.cut.is_none()
            && let Some(calls) = self.calls_in_text(&text)
        {
            let reply = with_answer_as_text(ModelReply { blocks: calls, ..reply });
            return if reply.calls().next().is_some() {
                self.handle_calls(reply, context)
            } else {
                self.handle_prose(reply, context)
            };
        }
        if reply.cut.is_none() && text.trim_start().starts_with(['{', '`', '<']) {
            // Steps with words after them are an example.
            let is_whole = text.trim_end().ends_with(['}', '`', '>']);
            match read(&text) {
                ParsedReply::Valid { reply: parsed @ Reply::Cmd { .. }, found }
                    if is_whole && !self.transcript.has_given(&text) =>
                {
                    return self.handle_valid(parsed, found, context);
                }
                // Strictly: any other object may be what the user asked for.
                ParsedReply::Valid { reply: parsed @ Reply::Chat { .. }, found }
                    if found == ReplyRepair::Whole || text.trim_start().starts_with(CHAT) =>
                {
                    return self.handle_valid(parsed, found, context);
                }
                _ => {}
            }
        }
        if let Some(cut) = reply.cut {
            // Calls that may be incomplete are not part of what the model sees again.
            return self.finish_truncated(text, cut, reply.broken_by);
        }
        if text.trim().is_empty() {
            return self.handle_empty(&reply);
        }
        self.transcript.add_native(reply.blocks, &text, Vec::new());
        self.finish_chat(ModelMessage { message: text, markdown: true, ..ModelMessage::default() })
    }

    /// Calls of tools that the model wrote into its text, as blocks: the history keeps the form of
    /// its dialect.
    fn calls_in_text(&self, text: &str) -> Option<Vec<ContentBlock>> {
        let TextCalls { words, calls, written } = text_calls(text)?;
        let is_tool = |call: &TextCall| {
            let name = tool_name(&call.name);
            safety::tools::is_known(&name) || is_translated(&name)
        };
        if !calls.iter().all(is_tool) || self.transcript.has_given(&written) {
            return None;
        }
        let words = Some(words).filter(|words| !words.is_empty()).map(ContentBlock::text);
        let calls = calls.into_iter().enumerate().map(|(index, call)| {
            ContentBlock::ToolCall(ToolCall {
                id: format!("{TEXT_CALL}{}_{index}", self.next_step),
                name: wire_name(&call.name),
                arguments: call.arguments.to_string(),
                opaque: None,
            })
        });
        Some(words.into_iter().chain(calls).collect())
    }

    /// Nothing came, or only a thought: asked for once more.
    fn handle_empty(&mut self, reply: &ModelReply) -> TurnAction {
        let thought = !reply.reasoning().trim().is_empty();
        self.ask_again(if thought { phrases::ONLY_THOUGHT } else { phrases::EMPTY_REPLY })
    }

    fn ask_again(&mut self, phrase: Phrase) -> TurnAction {
        if self.transcript.is_repairing() {
            return self.end(TurnOutcome::Failed { why: phrase.into() });
        }
        self.transcript.add_repair("", &phrase.into());
        self.emit(Event::Repairing { fault: phrase.into() });
        self.call_model()
    }

    fn handle_json(&mut self, reply: &ModelReply, context: PolicyContext<'_>) -> TurnAction {
        let mut text = reply.text();
        let mut is_thought = false;
        if text.trim().is_empty() && reply.cut.is_none() {
            // Some servers take a whole answer for reasoning.
            text = reply.reasoning();
            is_thought = true;
            if !matches!(read(&text), ParsedReply::Valid { .. }) {
                return self.handle_empty(reply);
            }
        }
        let reading = read(&text);
        let is_whole = matches!(reading, ParsedReply::Valid { found: ReplyRepair::Whole, .. });
        let cut = reply.cut.filter(|cut| match cut {
            // The closing brace is the proof, whatever the server says after it.
            Truncation::Broken | Truncation::Length | Truncation::Repeated => !is_whole,
            Truncation::Cancelled | Truncation::Filtered => true,
        });
        if let Some(cut) = cut {
            let message = transcript::readable_part(&reading, &text).unwrap_or_default();
            return self.finish_truncated(message, cut, reply.broken_by.clone());
        }
        match reading {
            ParsedReply::Valid {
                reply: Reply::Chat { message, .. },
                found: ReplyRepair::Repaired,
            } if !message.trim().is_empty() && transcript::ends_in_its_message(&text) => {
                // The server says that it is whole, and its words have no end.
                self.finish_truncated(message, Truncation::Broken, None)
            }
            ParsedReply::Valid { reply: parsed, found } => {
                // A lost event may have changed what is left.
                let is_sure = reply.gaps == 0 && !is_thought && reply.cut.is_none();
                let found = if is_sure { found } else { ReplyRepair::Repaired };
                self.handle_valid(parsed, found, context)
            }
            ParsedReply::Fallback { .. }
                if let Some(message) = transcript::prose_answer(&reading) =>
            {
                self.transcript.add_chat(&message);
                let message = ModelMessage { message, markdown: true, ..ModelMessage::default() };
                self.finish_chat(message)
            }
            ParsedReply::Invalid { .. } | ParsedReply::Fallback { .. } => {
                self.handle_invalid(&reading, &text)
            }
        }
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
                self.emit_message(ModelMessage {
                    message,
                    error: true,
                    markdown: true,
                    ..ModelMessage::default()
                });
                self.end(TurnOutcome::Error)
            }
            Reply::Cmd { message, cwd, commands, expected } => {
                let batch = Batch { why: message, expected, ..Batch::default() };
                self.start_batch(batch, cwd, commands, repair, context)
            }
        }
    }

    fn finish_chat(&mut self, message: ModelMessage) -> TurnAction {
        self.emit_message(message);
        if self.steering.is_empty() { self.end(TurnOutcome::Done) } else { self.deliver_steering() }
    }

    pub(super) fn take_step_id(&mut self) -> String {
        let before = self.start.agent.as_deref().unwrap_or("cmd");
        self.next_step += 1;
        format!("{before}_{:03}", self.next_step - 1)
    }

    fn emit_message(&mut self, message: ModelMessage) {
        self.emit(Event::Replied(message));
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
        self.emit_message(ModelMessage {
            message,
            markdown: true,
            cut: Some(truncation),
            ..ModelMessage::default()
        });
        if goes_on {
            self.emit(Event::Repairing { fault: phrases::CUT_GO_ON.into() });
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
    fn handle_invalid(&mut self, reply: &ParsedReply, text: &str) -> TurnAction {
        let fault = reply.error().unwrap_or_else(|| phrases::CUT_BROKEN.into());
        let message = transcript::readable_part(reply, text);
        if !self.transcript.is_repairing() {
            self.first_message = message;
            self.transcript.add_repair(text, &fault);
            self.emit(Event::Repairing { fault });
            return self.call_model();
        }
        // A second answer as bad as the first does not replace it.
        if let Some(message) = self.first_message.take().or(message) {
            self.transcript.add_chat(&message);
            self.emit_message(ModelMessage { message, markdown: true, ..ModelMessage::default() });
        }
        self.end(TurnOutcome::Failed { why: phrases::UNREADABLE.with("fault", fault) })
    }

    fn start_batch(
        &mut self,
        mut batch: Batch,
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
            let id = self.take_step_id();
            let Proposal { work, requires, cwd: own } = proposal;
            let cwd = own.or_else(|| cwd.clone());
            batch.todo.push_back(Step { id, work, requires, cwd });
        }
        self.begin_batch(batch, context)
    }

    fn begin_batch(&mut self, mut batch: Batch, context: PolicyContext<'_>) -> TurnAction {
        let message = batch.why.clone();
        self.emit_message(ModelMessage { message, markdown: true, ..ModelMessage::default() });
        batch.total = batch.todo.len();
        self.batch = batch;
        self.announce_refusal(context);
        self.advance(context)
    }

    /// Announces, before the first step runs, that a later one will be refused: it may matter to
    /// the user's decision about the first.
    fn announce_refusal(&mut self, context: PolicyContext<'_>) {
        let refused =
            |step: &Step| matches!(safety::assess(step.clone(), context), Verdict::Refuse(_));
        let ahead = self.batch.todo.iter().enumerate().skip(1).find(|(_, step)| refused(step));
        let Some((index, step)) = ahead else { return };
        let say = phrases::REFUSED_AHEAD
            .with("number", index + 1)
            .with("of", self.batch.total)
            .with("step", step.work.short_line());
        // If the first step itself is refused, the later ones do not matter.
        if !self.batch.todo.front().is_some_and(refused) {
            self.emit(Event::Notice(Notice::warning(say)));
        }
    }
}

/// A reply whose one call is its answer, as some agents end their work.
fn with_answer_as_text(reply: ModelReply) -> ModelReply {
    let sole_answer =
        |mut calls: Vec<&ToolCall>| calls.pop().filter(|_| calls.is_empty()).and_then(call_answer);
    let Some(answer) = sole_answer(reply.calls().collect()) else { return reply };
    let text = reply.text();
    let parts = [text.trim(), answer.trim()].into_iter().filter(|part| !part.is_empty());
    let mut parts: Vec<&str> = parts.collect();
    parts.dedup();
    ModelReply { blocks: vec![ContentBlock::text(parts.join("\n\n"))], ..reply }
}

/// Wraps a bare value in the object of arguments that the tool expects.
fn mend_arguments(block: &mut ContentBlock) {
    let ContentBlock::ToolCall(call) = block else { return };
    let field = safety::tools::sole_field(&tool_name(&call.name));
    if let Some(meant) = field.and_then(|field| object_arguments(&call.arguments, field)) {
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
