//! One answer of the model: calls the model with its continuations, extracts the answer from the
//! text, and stores it.

use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::super::fault::quoted;
use super::super::host::{AnswerPart, ModelCall, ScriptEvent};
use super::super::output;
use super::dialogue::{DialogueMessage, SystemParts, Titles, View, messages};
use super::frame::{Frame, LONGEST_TEXT, MOST_CALLS, ScriptFlow, ScriptResult, ScriptRun};
use super::params::{self, ModelCallSettings};
use super::reasoning::{self, ThinkPlan};
use crate::deadline::Allowance;
use crate::i18n::script_run as words;
use crate::protocol::{Message, Truncation};

/// The model's reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// The answer, without the reasoning.
    pub text: String,
    pub reasoning: Option<String>,
    pub cut: Option<Truncation>,
}

/// Options of one call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Parameters of this call alone.
    pub params: Map<String, Value>,
    /// Additions to the system message.
    pub extra: SystemParts,
    /// An internal text call of the script: not streamed to the user, and not JSON.
    pub quiet: bool,
}

impl ScriptRun {
    /// `$AI`: the model answers the dialogue so far.
    pub async fn answer(
        &mut self,
        frame: &mut Frame,
        call: &Map<String, Value>,
    ) -> ScriptResult<Value> {
        for line in frame.dialogue.messages.iter_mut().filter(|line| line.is_pending()) {
            line.locals.push(call.clone());
        }
        self.flush(frame).await?;
        // The parameters of the call override those of the script while it lasts.
        frame.values.locals.push(call.clone());
        let came = self.answer_dialogue(frame, call).await;
        frame.values.locals.pop();
        came
    }

    async fn answer_dialogue(
        &mut self,
        frame: &mut Frame,
        call: &Map<String, Value>,
    ) -> ScriptResult<Value> {
        if frame.values.flag("disableLlmRequest") == Some(true) {
            frame.dialogue.model_calls += 1;
            return Ok(Value::Null);
        }
        let continues = frame.values.flag("add_generation_prompt") == Some(false)
            && frame.dialogue.messages.last().is_some_and(|line| line.role == "assistant");
        let reply = match self.answer_with_tools(frame, frame.dialogue.messages.len()).await? {
            Some(reply) => reply,
            None => {
                let wish = CallOptions { params: call.clone(), ..CallOptions::default() };
                let sent =
                    self.model_messages(frame, frame.dialogue.messages.len(), None, &wish.extra);
                self.complete(frame, sent, wish).await?
            }
        };
        let append = frame.values.flag("shouldAppendResponse");
        let pushes = frame.values.flag("pushMessage").unwrap_or(true);
        let whole = append_answer(frame, &reply.text, pushes, append.unwrap_or(!continues));
        let value = self.store_reply(frame, None, &whole, &reply)?;
        self.run_after_answer_tools(frame, &reply.text).await?;
        Ok(value)
    }

    /// The messages for the model: those above `end`, and the start of one more.
    pub fn model_messages(
        &self,
        frame: &Frame,
        end: usize,
        begun: Option<&DialogueMessage>,
        extra: &SystemParts,
    ) -> Vec<Message> {
        let titles = system_titles(frame);
        let view = View { own_name: frame.manifest.name(), titles: &titles };
        let mut extra = extra.clone();
        self.describe_output(frame, &mut extra);
        if let Some(plan) = reasoning::think_plan(&frame.values) {
            extra.notes.extend(plan.prompt());
        }
        let lines = frame.dialogue.messages.iter().take(end).chain(begun);
        messages(lines, &view, &extra)
    }

    fn describe_output(&self, frame: &Frame, extra: &mut SystemParts) {
        let builds = frame.values.flag("autoBuildOutputPrompt").unwrap_or(true);
        if let Some(schema) = frame.manifest.output().filter(|_| builds) {
            let natural = frame.values.flag("naturalOutput").unwrap_or(true);
            let text = match natural {
                true => output::describe(schema),
                false => schema.to_string(),
            };
            extra.output.push(text);
        }
    }

    /// Calls the model until its answer is complete.
    pub async fn complete(
        &mut self,
        frame: &mut Frame,
        sent: Vec<Message>,
        wish: CallOptions,
    ) -> ScriptResult<ModelReply> {
        if frame.values.flag("disableLlmRequest") == Some(true) {
            return Ok(ModelReply::default());
        }
        let plan = reasoning::think_plan(&frame.values).filter(|_| !wish.quiet);
        let forced = has_required_format(frame) && !wish.quiet;
        let manner = params::model_call_settings(&frame.values, &wish.params, self.streams, forced);
        let (schema, format) = if wish.quiet { (None, None) } else { request_format(frame) };
        let mut call = ModelCall { messages: sent, params: manner.params.clone(), schema };
        let biases = frame.dialogue.messages.iter().flat_map(|line| &line.bias);
        if let Some(biases) = params::logit_bias(biases) {
            call.params.more.entry("logit_bias").or_insert(biases);
        }
        if let Some(format) = format {
            call.params.more.insert("response_format".to_owned(), format);
        }
        let shows = manner.streams && !wish.quiet;
        let mut whole = String::new();
        let mut thought = String::new();
        let mut tries = 0;
        frame.dialogue.model_calls += 1;
        let cut = loop {
            self.emit(frame, "llmBefore", vec![json!({ "content": whole })]).await?;
            let mut this = call.clone();
            if !whole.is_empty() {
                this.messages.push(Message::assistant(whole.clone()));
            }
            let so_far = PartialReply { text: &mut whole, reasoning: &mut thought };
            let cut = self.read_stream(frame, this, &manner, so_far, plan.as_ref(), shows).await?;
            if cut != Some(Truncation::Length) || tries >= manner.retries {
                break cut;
            }
            tries += 1;
        };
        let (text, thinking) = match &plan {
            Some(plan) => plan.split(&whole),
            None => (whole, None),
        };
        let thinking = thinking.or(Some(thought)).filter(|thought| !thought.is_empty());
        if shows && plan.is_some() {
            self.host.emit(ScriptEvent::Delta(text.clone()));
        }
        let reply = ModelReply { text, reasoning: thinking, cut };
        self.emit(frame, "llm", vec![json!({ "content": reply.text })]).await?;
        Ok(reply)
    }

    /// Reads one stream to its end.
    async fn read_stream(
        &mut self,
        frame: &mut Frame,
        call: ModelCall,
        manner: &ModelCallSettings,
        growing: PartialReply<'_>,
        plan: Option<&ThinkPlan>,
        shows: bool,
    ) -> ScriptResult<Option<Truncation>> {
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return Err(words::TOO_MANY_CALLS.with("most", MOST_CALLS).into());
        }
        let mut allowance = Allowance::new(manner.timeout);
        frame.dialogue.aborted = false;
        let mut stream = self.host.call_model(call);
        loop {
            let part = match allowance.wait(stream.next()).await {
                Ok(part) => part,
                Err(_) => {
                    let seconds = manner.timeout.as_secs();
                    return Err(words::TIMED_OUT.with("seconds", seconds).into());
                }
            };
            match part {
                Some(Ok(AnswerPart::Text(text))) => {
                    growing.text.push_str(&text);
                    if growing.text.len() > LONGEST_TEXT {
                        return Err(words::TEXT_TOO_LONG.with("most", LONGEST_TEXT >> 20).into());
                    }
                    if shows && plan.is_none() {
                        self.host.emit(ScriptEvent::Delta(text.clone()));
                    }
                    if shows && frame.has_handler("llmStream") {
                        let part = json!({ "content": text });
                        let content = Value::String(growing.text.clone());
                        self.emit(frame, "llmStream", vec![part, content]).await?;
                    }
                    if std::mem::take(&mut frame.dialogue.aborted) {
                        return Ok(None);
                    }
                    if manner.streams
                        && params::has_repeating_tail(growing.text, manner.max_tail_repeats)
                    {
                        return Ok(None);
                    }
                }
                Some(Ok(AnswerPart::Reasoning(text))) => {
                    growing.reasoning.push_str(&text);
                    if shows && plan.is_some_and(|plan| plan.visible) {
                        self.host.emit(ScriptEvent::Reasoning(text));
                    }
                }
                Some(Ok(AnswerPart::Finished(cut))) => return Ok(cut),
                Some(Err(why)) => return Err(words::MODEL_FAILED.with("why", why).into()),
                None => return Ok(None),
            }
        }
    }

    /// Stores an answer where scripts find it: under the name of its mark, as `RESPONSE`, and as
    /// the last result. `whole` is the message it belongs to.
    pub fn store_reply(
        &mut self,
        frame: &mut Frame,
        name: Option<&str>,
        whole: &str,
        reply: &ModelReply,
    ) -> ScriptResult<Value> {
        let format = frame.values.response_format().unwrap_or_default();
        let only_reply = format.get("conversionScope").and_then(Value::as_str) == Some("response");
        let text = if only_reply { reply.text.as_str() } else { whole };
        let mut value = match answer_format(frame) {
            None => Value::String(reply.text.clone()),
            Some(kind) => match output::convert(&kind, text, frame.manifest.output()) {
                Ok(value) => value,
                Err(_) if !is_format_required(frame) => Value::String(reply.text.clone()),
                Err(fault) => return Err(fault.into()),
            },
        };
        let hidden = hidden_fields(frame, text, reply, &value);
        if frame.values.option("llmReturnResult").as_ref().and_then(Value::as_str) == Some(".") {
            let reason = if reply.cut == Some(Truncation::Length) { "length" } else { "stop" };
            value =
                json!({ "content": value, "finishReason": reason, "stop": reply.cut.is_none() });
            if let (Some(thinking), Value::Object(map)) = (&reply.reasoning, &mut value) {
                map.insert("thinking".to_owned(), Value::from(thinking.as_str()));
            }
        }
        if let Some(name) = name {
            frame.values.replies.insert(name.to_owned(), value.clone());
        }
        frame.values.replies.insert("RESPONSE".to_owned(), value.clone());
        frame.values.latest = value.clone();
        frame.values.hidden = hidden;
        Ok(value)
    }
}

/// Adds an answer to the dialogue: as a new message, or appended to the last one. Returns the
/// message that contains it.
fn append_answer(frame: &mut Frame, text: &str, pushes: bool, is_new: bool) -> String {
    match frame.dialogue.messages.pop() {
        Some(last) if pushes && !is_new => {
            let whole = format!("{}{text}", last.text());
            frame.dialogue.push(DialogueMessage::rendered(last.role, whole.clone()));
            whole
        }
        last => {
            frame.dialogue.messages.extend(last);
            if pushes {
                frame.dialogue.push(DialogueMessage::rendered("assistant", text));
            }
            text.to_owned()
        }
    }
}

/// The answer received so far.
struct PartialReply<'a> {
    text: &'a mut String,
    reasoning: &'a mut String,
}

/// `keepOriginal` and `keepThinking`: extra fields next to the result; a field of the result itself
/// is kept.
fn hidden_fields(
    frame: &Frame,
    text: &str,
    reply: &ModelReply,
    value: &Value,
) -> Map<String, Value> {
    let mut out = Map::new();
    let Value::Object(own) = value else { return out };
    let mut add = |options: &[&str], default: &str, kept: Option<&str>| {
        let Some(kept) = kept else { return };
        for option in options {
            let field = match frame.values.option(option) {
                Some(Value::Bool(true)) => default.to_owned(),
                Some(Value::String(field)) if !field.is_empty() => field,
                _ => continue,
            };
            if !own.contains_key(&field) {
                out.insert(field, Value::from(kept));
            }
        }
    };
    add(&["keepOriginal", "keepOrginal"], "_original", Some(text));
    add(&["keepThinking"], "_thinking", reply.reasoning.as_deref());
    out
}

/// The structured format the answer must have; `None` for plain text.
pub fn answer_format(frame: &Frame) -> Option<String> {
    let format = frame.values.response_format();
    let kind = format.as_ref().and_then(|format| format.get("type")).and_then(Value::as_str);
    match kind {
        Some("text") | None => {
            let forced = frame.values.flag("forceJson") == Some(true);
            forced.then(|| "json".to_owned())
        }
        Some(kind) => Some(kind.to_owned()),
    }
}

/// Whether an answer in another format is an error.
fn is_format_required(frame: &Frame) -> bool {
    frame.values.flag("forceJson") != Some(false)
}

fn has_required_format(frame: &Frame) -> bool {
    answer_format(frame).is_some() && is_format_required(frame)
}

/// The format for the server: a schema, or only that it is JSON.
fn request_format(frame: &Frame) -> (Option<Value>, Option<Value>) {
    let is_json =
        matches!(answer_format(frame).as_deref(), Some("json" | "json_object" | "json_schema"));
    if !is_json {
        return (None, None);
    }
    match frame.manifest.output() {
        Some(schema) => {
            let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
            (is_object.then(|| schema.clone()), None)
        }
        None => (None, Some(json!({ "type": "json_object" }))),
    }
}

/// The titles of a system message's parts, as the script sets them.
fn system_titles(frame: &Frame) -> Titles {
    let text = |name: &str| match frame.values.option(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
        _ => None,
    };
    let kind = match answer_format(frame).as_deref() {
        Some("json" | "json_object" | "json_schema") => "JSON".to_owned(),
        Some(other) => other.to_uppercase(),
        None => "text".to_owned(),
    };
    // Without its placeholder the title could not name the format.
    let title = text("SystemOutputTitle").filter(|title| {
        title.split("{{").skip(1).any(|gap| gap.split("}}").next().map(str::trim) == Some("type"))
    });
    let title = title.unwrap_or_else(|| "Output ({{type}}):".to_owned());
    Titles {
        notes: text("SystemNotesTitle").unwrap_or_else(|| "Notes".to_owned()),
        output: fill_type(&title, &kind),
    }
}

fn fill_type(title: &str, kind: &str) -> String {
    let mut out = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        match after.split_once("}}") {
            Some((name, tail)) if name.trim() == "type" => {
                out.push_str(kind);
                rest = tail;
            }
            _ => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The error for a reply that is none of the listed choices.
pub fn no_choice_error(reply: &str, choices: &[String]) -> ScriptFlow {
    words::NO_CHOICE.with("reply", quoted(reply)).with("list", quoted(&choices.join(", "))).into()
}
