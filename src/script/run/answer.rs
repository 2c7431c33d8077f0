//! One answer of the model: calls the model with its continuations, extracts the answer from the
//! text, and stores it.

use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::super::fault::quoted;
use super::super::host::{AnswerPart, ModelCall, ScriptEvent};
use super::super::output;
use super::params::{self, ModelCallSettings};
use super::talk::{DialogueMessage, SystemParts, Titles, View, messages};
use super::think::{self, ThinkPlan};
use super::{Frame, LONGEST_TEXT, MOST_CALLS, ScriptFlow, ScriptRun};
use crate::deadline::Allowance;
use crate::protocol::{Message, Truncation};
use crate::words::script_run as words;

/// The model's reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// The answer, without the reasoning.
    pub text: String,
    pub thinking: Option<String>,
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
    ) -> Result<Value, ScriptFlow> {
        for line in frame.talk.lines.iter_mut().filter(|line| line.is_pending()) {
            line.locals.push(call.clone());
        }
        self.flush(frame).await?;
        // The parameters of the call override those of the script while it lasts.
        frame.values.locals.push(call.clone());
        let came = self.answered(frame, call).await;
        frame.values.locals.pop();
        came
    }

    async fn answered(
        &mut self,
        frame: &mut Frame,
        call: &Map<String, Value>,
    ) -> Result<Value, ScriptFlow> {
        if frame.values.flag("disableLlmRequest") == Some(true) {
            frame.talk.calls += 1;
            return Ok(Value::Null);
        }
        let continues = frame.values.flag("add_generation_prompt") == Some(false)
            && frame.talk.lines.last().is_some_and(|line| line.role == "assistant");
        let reply = match self.with_tools(frame, frame.talk.lines.len()).await? {
            Some(reply) => reply,
            None => {
                let wish = CallOptions { params: call.clone(), ..CallOptions::default() };
                let sent = self.sent(frame, frame.talk.lines.len(), None, &wish.extra);
                self.complete(frame, sent, wish).await?
            }
        };
        let append = frame.values.flag("shouldAppendResponse");
        let pushes = frame.values.flag("pushMessage").unwrap_or(true);
        let whole = put(frame, &reply.text, pushes, append.unwrap_or(!continues));
        let value = self.keep(frame, None, &whole, &reply)?;
        self.after_answer(frame, &reply.text).await?;
        Ok(value)
    }

    /// The messages for the model: those above `end`, and the start of one more.
    pub fn sent(
        &self,
        frame: &Frame,
        end: usize,
        begun: Option<&DialogueMessage>,
        extra: &SystemParts,
    ) -> Vec<Message> {
        let titles = titles(frame);
        let view = View { own: frame.shape.name(), titles: &titles };
        let mut extra = extra.clone();
        self.describe_output(frame, &mut extra);
        if let Some(plan) = think::plan(&frame.values) {
            extra.notes.extend(plan.prompt());
        }
        let lines = frame.talk.lines.iter().take(end).chain(begun);
        messages(lines, &view, &extra)
    }

    fn describe_output(&self, frame: &Frame, extra: &mut SystemParts) {
        let builds = frame.values.flag("autoBuildOutputPrompt").unwrap_or(true);
        if let Some(schema) = frame.shape.output().filter(|_| builds) {
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
    ) -> Result<ModelReply, ScriptFlow> {
        if frame.values.flag("disableLlmRequest") == Some(true) {
            return Ok(ModelReply::default());
        }
        let plan = think::plan(&frame.values).filter(|_| !wish.quiet);
        let forced = is_forced(frame) && !wish.quiet;
        let manner = params::manner(&frame.values, &wish.params, self.streams, forced);
        let (schema, format) = if wish.quiet { (None, None) } else { wanted_format(frame) };
        let mut call = ModelCall { messages: sent, params: manner.params.clone(), schema };
        let biases = frame.talk.lines.iter().flat_map(|line| &line.bias);
        if let Some(biases) = params::biases(biases) {
            call.params.more.entry("logit_bias").or_insert(biases);
        }
        if let Some(format) = format {
            call.params.more.insert("response_format".to_owned(), format);
        }
        let shows = manner.streams && !wish.quiet;
        let mut whole = String::new();
        let mut thought = String::new();
        let mut tries = 0;
        frame.talk.calls += 1;
        let cut = loop {
            self.emit(frame, "llmBefore", vec![json!({ "content": whole })]).await?;
            let mut this = call.clone();
            if !whole.is_empty() {
                this.messages.push(Message::assistant(whole.clone()));
            }
            let so_far = Growing { whole: &mut whole, thought: &mut thought };
            let cut = self.hear(frame, this, &manner, so_far, plan.as_ref(), shows).await?;
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
            self.host.tell(ScriptEvent::Delta(text.clone()));
        }
        let reply = ModelReply { text, thinking, cut };
        self.emit(frame, "llm", vec![json!({ "content": reply.text })]).await?;
        Ok(reply)
    }

    /// Reads one stream to its end.
    async fn hear(
        &mut self,
        frame: &mut Frame,
        call: ModelCall,
        manner: &ModelCallSettings,
        growing: Growing<'_>,
        plan: Option<&ThinkPlan>,
        shows: bool,
    ) -> Result<Option<Truncation>, ScriptFlow> {
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return Err(words::TOO_MANY_CALLS.with("most", MOST_CALLS).into());
        }
        let mut allowance = Allowance::new(manner.timeout);
        frame.talk.aborted = false;
        let mut stream = self.host.model(call);
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
                    growing.whole.push_str(&text);
                    if growing.whole.len() > LONGEST_TEXT {
                        return Err(words::TEXT_TOO_LONG.with("most", LONGEST_TEXT >> 20).into());
                    }
                    if shows && plan.is_none() {
                        self.host.tell(ScriptEvent::Delta(text.clone()));
                    }
                    if shows && frame.hears("llmStream") {
                        let part = json!({ "content": text });
                        let content = Value::String(growing.whole.clone());
                        self.emit(frame, "llmStream", vec![part, content]).await?;
                    }
                    if std::mem::take(&mut frame.talk.aborted) {
                        return Ok(None);
                    }
                    if manner.streams && params::repeats(growing.whole, manner.tail) {
                        return Ok(None);
                    }
                }
                Some(Ok(AnswerPart::Thought(text))) => {
                    growing.thought.push_str(&text);
                    if shows && plan.is_some_and(|plan| plan.visible) {
                        self.host.tell(ScriptEvent::Thought(text));
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
    pub fn keep(
        &mut self,
        frame: &mut Frame,
        name: Option<&str>,
        whole: &str,
        reply: &ModelReply,
    ) -> Result<Value, ScriptFlow> {
        let format = frame.values.response_format().unwrap_or_default();
        let only_reply = format.get("conversionScope").and_then(Value::as_str) == Some("response");
        let text = if only_reply { reply.text.as_str() } else { whole };
        let mut value = match kind(frame) {
            None => Value::String(reply.text.clone()),
            Some(kind) => match output::convert(&kind, text, frame.shape.output()) {
                Ok(value) => value,
                Err(_) if !may_fail(frame) => Value::String(reply.text.clone()),
                Err(fault) => return Err(fault.into()),
            },
        };
        let hidden = hidden(frame, text, reply, &value);
        if frame.values.option("llmReturnResult").as_ref().and_then(Value::as_str) == Some(".") {
            let reason = if reply.cut == Some(Truncation::Length) { "length" } else { "stop" };
            value =
                json!({ "content": value, "finishReason": reason, "stop": reply.cut.is_none() });
            if let (Some(thinking), Value::Object(map)) = (&reply.thinking, &mut value) {
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
fn put(frame: &mut Frame, text: &str, pushes: bool, is_new: bool) -> String {
    match frame.talk.lines.pop() {
        Some(last) if pushes && !is_new => {
            let whole = format!("{}{text}", last.text());
            frame.talk.push(DialogueMessage::settled(last.role, whole.clone()));
            whole
        }
        last => {
            frame.talk.lines.extend(last);
            if pushes {
                frame.talk.push(DialogueMessage::settled("assistant", text));
            }
            text.to_owned()
        }
    }
}

/// The answer received so far.
struct Growing<'a> {
    whole: &'a mut String,
    thought: &'a mut String,
}

/// `keepOriginal` and `keepThinking`: extra fields next to the result; a field of the result itself
/// is kept.
fn hidden(frame: &Frame, text: &str, reply: &ModelReply, value: &Value) -> Map<String, Value> {
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
    add(&["keepThinking"], "_thinking", reply.thinking.as_deref());
    out
}

/// The structured format the answer must have; `None` for plain text.
pub fn kind(frame: &Frame) -> Option<String> {
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
fn may_fail(frame: &Frame) -> bool {
    frame.values.flag("forceJson") != Some(false)
}

fn is_forced(frame: &Frame) -> bool {
    kind(frame).is_some() && may_fail(frame)
}

/// The format for the server: a schema, or only that it is JSON.
fn wanted_format(frame: &Frame) -> (Option<Value>, Option<Value>) {
    let is_json = matches!(kind(frame).as_deref(), Some("json" | "json_object" | "json_schema"));
    if !is_json {
        return (None, None);
    }
    match frame.shape.output() {
        Some(schema) => {
            let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
            (is_object.then(|| schema.clone()), None)
        }
        None => (None, Some(json!({ "type": "json_object" }))),
    }
}

/// The titles of a system message's parts, as the script sets them.
fn titles(frame: &Frame) -> Titles {
    let text = |name: &str| match frame.values.option(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
        _ => None,
    };
    let kind = match kind(frame).as_deref() {
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
        output: put_type(&title, &kind),
    }
}

fn put_type(title: &str, kind: &str) -> String {
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
pub fn no_choice(reply: &str, choices: &[String]) -> ScriptFlow {
    words::NO_CHOICE.with("reply", quoted(reply)).with("list", quoted(&choices.join(", "))).into()
}
