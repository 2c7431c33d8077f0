//! One call of a model: the messages it gets, its settings, and the stream with its continuations.

use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::super::error::ScriptResult;
use super::super::host::{AnswerPart, ModelCall, ScriptEvent};
use super::dialogue::{DialogueMessage, SystemParts, Titles, View, messages};
use super::frame::{Frame, LONGEST_TEXT, ScriptRun};
use super::params::{self, ModelCallSettings};
use super::reasoning::{self, ThinkPlan};
use crate::deadline::Allowance;
use crate::i18n::script_run as words;
use crate::protocol::{Message, Truncation};

/// The model's reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptReply {
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

/// The messages for the model: those above `end`, and the start of one more.
pub fn model_messages(
    frame: &Frame,
    end: usize,
    begun: Option<&DialogueMessage>,
    extra: &SystemParts,
) -> Vec<Message> {
    let titles = system_titles(frame);
    let view = View { own_name: frame.manifest.name(), titles: &titles };
    let mut extra = extra.clone();
    if frame.values.flag("autoBuildOutputPrompt").unwrap_or(true) {
        extra.output.extend(frame.described_output());
    }
    if let Some(plan) = reasoning::think_plan(&frame.values) {
        extra.notes.extend(plan.prompt());
    }
    let lines = frame.dialogue.messages.iter().take(end).chain(begun);
    messages(lines, &view, &extra)
}

/// Calls the model until its answer is complete.
pub async fn complete(
    run: &mut ScriptRun,
    frame: &mut Frame,
    sent: Vec<Message>,
    wish: CallOptions,
) -> ScriptResult<ScriptReply> {
    if frame.values.flag("disableLlmRequest") == Some(true) {
        return Ok(ScriptReply::default());
    }
    let plan = reasoning::think_plan(&frame.values).filter(|_| !wish.quiet);
    let forced = has_required_format(frame) && !wish.quiet;
    let manner = params::model_call_settings(&frame.values, &wish.params, run.streams, forced);
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
        run.emit(frame, "llmBefore", vec![json!({ "content": whole })]).await?;
        let mut this = call.clone();
        if !whole.is_empty() {
            this.messages.push(Message::assistant(whole.clone()));
        }
        let so_far = PartialReply { text: &mut whole, reasoning: &mut thought };
        let cut = read_stream(run, frame, this, &manner, so_far, plan.as_ref(), shows).await?;
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
        run.host.emit(ScriptEvent::Delta(text.clone()));
    }
    let reply = ScriptReply { text, reasoning: thinking, cut };
    run.emit(frame, "llm", vec![json!({ "content": reply.text })]).await?;
    Ok(reply)
}

/// Reads one stream to its end.
async fn read_stream(
    run: &mut ScriptRun,
    frame: &mut Frame,
    call: ModelCall,
    manner: &ModelCallSettings,
    growing: PartialReply<'_>,
    plan: Option<&ThinkPlan>,
    shows: bool,
) -> ScriptResult<Option<Truncation>> {
    run.limits.count_model_call()?;
    let mut allowance = Allowance::new(manner.timeout);
    frame.dialogue.aborted = false;
    let mut stream = run.host.call_model(call);
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
                    run.host.emit(ScriptEvent::Delta(text.clone()));
                }
                if shows && frame.has_handler("llmStream") {
                    let part = json!({ "content": text });
                    let content = Value::String(growing.text.clone());
                    run.emit(frame, "llmStream", vec![part, content]).await?;
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
                    run.host.emit(ScriptEvent::Reasoning(text));
                }
            }
            Some(Ok(AnswerPart::Finished(cut))) => return Ok(cut),
            Some(Err(why)) => return Err(words::MODEL_FAILED.with("why", why).into()),
            None => return Ok(None),
        }
    }
}

/// The answer received so far.
struct PartialReply<'a> {
    text: &'a mut String,
    reasoning: &'a mut String,
}

fn has_required_format(frame: &Frame) -> bool {
    frame.values.answer_format().is_some() && frame.values.is_format_required()
}

/// The format for the server: a schema, or only that it is JSON.
fn request_format(frame: &Frame) -> (Option<Value>, Option<Value>) {
    let is_json = matches!(
        frame.values.answer_format().as_deref(),
        Some("json" | "json_object" | "json_schema")
    );
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
    let kind = match frame.values.answer_format().as_deref() {
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
