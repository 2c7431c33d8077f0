//! An answer of the model: added to the dialogue, and stored in the form the script asks for.

use serde_json::{Map, Value, json};

use super::super::error::ScriptResult;
use super::super::output;
use super::dialogue::DialogueMessage;
use super::frame::{Frame, ScriptRun};
use super::model_call::{CallOptions, ScriptReply, complete, model_messages};
use super::tools::{answer_with_tools, run_after_answer_tools};
use crate::protocol::Truncation;

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
        let came = answer_dialogue(self, frame, call).await;
        frame.values.locals.pop();
        came
    }
}

async fn answer_dialogue(
    run: &mut ScriptRun,
    frame: &mut Frame,
    call: &Map<String, Value>,
) -> ScriptResult<Value> {
    if frame.values.flag("disableLlmRequest") == Some(true) {
        frame.dialogue.model_calls += 1;
        return Ok(Value::Null);
    }
    let continues = frame.values.flag("add_generation_prompt") == Some(false)
        && frame.dialogue.messages.last().is_some_and(|line| line.role == "assistant");
    let reply = match answer_with_tools(run, frame, frame.dialogue.messages.len()).await? {
        Some(reply) => reply,
        None => {
            let wish = CallOptions { params: call.clone(), ..CallOptions::default() };
            let sent = model_messages(frame, frame.dialogue.messages.len(), None, &wish.extra);
            complete(run, frame, sent, wish).await?
        }
    };
    let append = frame.values.flag("shouldAppendResponse");
    let pushes = frame.values.flag("pushMessage").unwrap_or(true);
    let whole = append_answer(frame, &reply.text, pushes, append.unwrap_or(!continues));
    let value = store_reply(frame, None, &whole, &reply)?;
    run_after_answer_tools(run, frame, &reply.text).await?;
    Ok(value)
}

/// Stores an answer where scripts find it: under the name of its mark, as `RESPONSE`, and as
/// the last result. `whole` is the message it belongs to.
pub fn store_reply(
    frame: &mut Frame,
    name: Option<&str>,
    whole: &str,
    reply: &ScriptReply,
) -> ScriptResult<Value> {
    let format = frame.values.response_format().unwrap_or_default();
    let only_reply = format.get("conversionScope").and_then(Value::as_str) == Some("response");
    let text = if only_reply { reply.text.as_str() } else { whole };
    let mut value = match frame.values.answer_format() {
        None => Value::String(reply.text.clone()),
        Some(kind) => match output::convert(&kind, text, frame.manifest.output()) {
            Ok(value) => value,
            Err(_) if !frame.values.is_format_required() => Value::String(reply.text.clone()),
            Err(fault) => return Err(fault.into()),
        },
    };
    let hidden = hidden_fields(frame, text, reply, &value);
    if frame.values.option("llmReturnResult").as_ref().and_then(Value::as_str) == Some(".") {
        let reason = if reply.cut == Some(Truncation::Length) { "length" } else { "stop" };
        value = json!({ "content": value, "finishReason": reason, "stop": reply.cut.is_none() });
        if let (Some(thinking), Value::Object(map)) = (&reply.reasoning, &mut value) {
            map.insert("thinking".to_owned(), Value::from(thinking.as_str()));
        }
    }
    if let Some(name) = name {
        frame.values.replies.insert(name.to_owned(), value.clone());
    }
    frame.values.set_response(value.clone());
    frame.values.hidden = hidden;
    Ok(value)
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

/// `keepOriginal` and `keepThinking`: extra fields next to the result; a field of the result itself
/// is kept.
fn hidden_fields(
    frame: &Frame,
    text: &str,
    reply: &ScriptReply,
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
