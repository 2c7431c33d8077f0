//! Directives about messages and the model.

use serde_json::{Map, Value, json};

use super::super::error::{CallResult, ScriptResult};
use super::super::run::arguments::ArgValues;
use super::super::run::dialogue::DialogueMessage;
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::scope::text_of;
use avocet_core::i18n::script_run as phrases;

/// `$AI: {parameters}`: the model answers now.
pub async fn ai(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let mut call = args.to_map();
    for (name, value) in args.passed_variables {
        call.entry(name).or_insert(value);
    }
    run.answer(frame, &call).await?;
    Ok(None)
}

/// `$tool: {name: llm, …}` is `$AI`; any other name is a script.
pub async fn tool(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let mut call = args.to_map();
    let name = call.shift_remove("name").map(|name| text_of(&name));
    match name.or_else(|| args.text("name")).as_deref() {
        Some("llm") | None => run.answer(frame, &call).await.map(|_| None),
        Some(name) => {
            let values = ArgValues { named: call, ..ArgValues::default() };
            run.call_script(frame, name, values.into_script_args()).await.map(Some)
        }
    }
}

/// `$interact: {message}`: one more user message, and its answer.
pub async fn interact(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let message = args.text("message").unwrap_or_default();
    frame.dialogue.push_checked(DialogueMessage::rendered("user", message))?;
    run.answer(frame, &Map::new()).await?;
    Ok(None)
}

/// A separator: returns to the messages above the first one.
pub async fn init_done(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    separate(run, frame, args.get("force") == Some(&Value::Bool(true))).await?;
    Ok(None)
}

/// Begins a new dialogue; a forced separator, and the first one, end the part that stays.
pub async fn separate(run: &mut ScriptRun, frame: &mut Frame, forced: bool) -> ScriptResult {
    match frame.dialogue.prologue_len {
        Some(prologue) if !forced => {
            run.flush_placeholders(frame).await?;
            frame.dialogue.messages.truncate(prologue);
        }
        _ => frame.dialogue.prologue_len = Some(frame.dialogue.messages.len()),
    }
    Ok(())
}

fn given_content(args: &ArgValues) -> Value {
    let content = args.get("content").or(args.get("message"));
    content.or(args.first()).cloned().unwrap_or_default()
}

/// `$pushMessage: {role, content}`.
pub fn push_message(frame: &mut Frame, args: ArgValues) -> CallResult {
    let role = args.get("role").map_or_else(|| "user".to_owned(), text_of);
    let content = given_content(&args);
    frame.dialogue.push_checked(DialogueMessage::from_value(&role, &content))?;
    Ok(None)
}

/// `$replaceMessage: {index, role, content}`.
pub fn replace_message(frame: &mut Frame, args: ArgValues) -> CallResult {
    let index = args.get("index").and_then(Value::as_i64).unwrap_or(-1);
    let Some(at) = frame.dialogue.resolve_index(index) else {
        return Err(phrases::NO_MESSAGE_AT.with("at", index).into());
    };
    let content = given_content(&args);
    let role = args.get("role").map(text_of);
    let role = role.unwrap_or_else(|| frame.dialogue.messages[at].role.clone());
    frame.dialogue.messages[at] = DialogueMessage::from_value(&role, &content);
    Ok(None)
}

/// `$getMessages` returns the dialogue as a list.
pub fn get_messages(frame: &mut Frame, _: ArgValues) -> CallResult {
    let list = frame
        .dialogue
        .messages
        .iter()
        .map(|line| json!({ "role": line.role, "content": line.text() }));
    Ok(Some(list.collect()))
}
