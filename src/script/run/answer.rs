//! An answer of the model: added to the dialogue, and stored in the form the script asks for.

use serde_json::{Map, Value};

use super::super::error::{ScriptResult, quoted};
use super::super::output;
use super::dialogue::{DialogueMessage, SystemParts};
use super::frame::{Frame, ScriptRun};
use super::model_call::{CallOptions, ScriptReply, complete, model_messages};
use super::tools::{ToolLoopInput, answer_with_tools, run_after_answer_tools};
use avocet_core::i18n::script_run as phrases;
use avocet_core::protocol::Truncation;

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
    let continues = frame.values.flag("add_generation_prompt") == Some(false)
        && frame.dialogue.messages.last().is_some_and(|line| line.role == "assistant");
    let options = CallOptions { params: call.clone(), ..CallOptions::default() };
    let end = frame.dialogue.messages.len();
    let sent = model_messages(frame, end, None, &SystemParts::default())?;
    let input = ToolLoopInput::about(frame, end, &sent, "");
    let mut reply = match answer_with_tools(run, frame, input, &options).await? {
        Some(reply) => reply,
        None => complete(run, frame, sent, options).await?,
    };
    let append = frame.values.flag("shouldAppendResponse");
    let pushes = frame.values.flag("pushMessage").unwrap_or(true);
    let whole = append_answer(frame, &reply.text, pushes, append.unwrap_or(!continues));
    let text = reply.text.clone();
    // A message that was gone on with is the result as a whole.
    if continues {
        reply.text.clone_from(&whole);
    }
    let value = store_reply(frame, None, &whole, &reply)?;
    run_after_answer_tools(run, frame, &text).await?;
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
    let (value, hidden) = reply_value(frame, whole, reply)?;
    frame.values.set_response(value.clone(), hidden);
    if let (Some(name), Some(reply)) = (name, frame.values.get("RESPONSE")) {
        frame.values.replies.insert(name.to_owned(), reply);
    }
    Ok(value)
}

/// The value of a reply in the form its script asks for, and the fields that can be read from it
/// but are not part of it.
pub fn reply_value(
    frame: &Frame,
    whole: &str,
    reply: &ScriptReply,
) -> ScriptResult<(Value, Map<String, Value>)> {
    if let Some(value) = &reply.value {
        return Ok((value.clone(), Map::new()));
    }
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
    let mut hidden = Map::new();
    for option in ["keepOriginal", "keepOrginal"] {
        hidden.extend(kept_field(frame, option, "_original", &value, Some(text)));
    }
    if let Some(Value::String(part)) = frame.values.option("llmReturnResult") {
        value = returned_part(&part, value, reply)?;
    }
    let kept = kept_field(frame, "keepThinking", "_thinking", &value, reply.reasoning.as_deref());
    if let Value::Object(map) = &mut value {
        map.extend(kept);
    }
    Ok((value, hidden))
}

/// `llmReturnResult`: `.` is everything that a model call returns, a name that part of it.
fn returned_part(part: &str, content: Value, reply: &ScriptReply) -> ScriptResult<Value> {
    let reason = if reply.cut == Some(Truncation::Length) { "length" } else { "stop" };
    let mut all = Map::new();
    all.insert("content".to_owned(), content);
    all.insert("finishReason".to_owned(), Value::from(reason));
    all.insert("stop".to_owned(), Value::Bool(reply.cut.is_none()));
    let thinking = reply.reasoning.as_deref().map(Value::from);
    match part {
        "." => {
            all.extend(thinking.map(|thinking| ("thinking".to_owned(), thinking)));
            Ok(Value::Object(all))
        }
        // A model does not always think.
        "thinking" => Ok(thinking.unwrap_or_default()),
        name => all.shift_remove(name).ok_or_else(|| {
            let known = ["content", "finishReason", "stop", "thinking"].join(", ");
            phrases::RETURN_NAME.with("name", quoted(name)).with("list", known).into()
        }),
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

/// A text that the script wants to keep next to an object; a field of the object stays.
fn kept_field(
    frame: &Frame,
    option: &str,
    default: &str,
    value: &Value,
    text: Option<&str>,
) -> Option<(String, Value)> {
    let field = match frame.values.option(option)? {
        Value::Bool(true) => default.to_owned(),
        Value::String(field) if !field.is_empty() => field,
        _ => return None,
    };
    let is_free = value.as_object().is_some_and(|own| !own.contains_key(&field));
    is_free.then_some(())?;
    Some((field, Value::from(text?)))
}
