//! `$try`: tries instructions again when they fail, or goes on with others.

use serde_json::{Map, Value, json};

use super::super::error::{CallResult, ErrorCause, LocatedError, ScriptFlow, ScriptResult, quoted};
use super::super::run::arguments::CallSyntax;
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::scope::text_of;
use super::super::syntax::ScriptValue;
use super::control::sibling_node;
use avocet_core::i18n::{Lang, LocalizedText, script as engine, script_run as phrases};

/// The most times that a block is tried again.
const MAX_RETRIES: u64 = 10;

/// `$try: …`, `retry:`, `catch:`. What a failed attempt did to the messages is undone. A limit of
/// the run ends it all the same.
pub async fn run_try(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    let part =
        |name: &str| sibling_node(&call, name).or_else(|| sibling_node(&call, &format!("${name}")));
    let (block, catch) = (call.head.ok_or(phrases::TRY_NEEDS)?, part("catch"));
    let mut left = match part("retry") {
        Some(value) => {
            let times = text_of(&run.evaluate_value(frame, value).await?);
            times.parse::<u64>().map_err(|_| {
                let what = phrases::VALUE_KIND.with("name", "retry").with("kinds", "integer");
                ScriptFlow::from(what.with("value", quoted(&times)))
            })?
        }
        None if catch.is_none() => return Err(phrases::TRY_NEEDS.into()),
        None => 0,
    };
    left = left.min(MAX_RETRIES);
    let messages = frame.dialogue.messages.clone();
    loop {
        let error = match attempt(run, frame, block).await {
            Err(ScriptFlow::Failed(error)) if error.cause != ErrorCause::Limit => error,
            ended => return ended.map(|()| None),
        };
        frame.dialogue.messages.clone_from(&messages);
        // The user is not asked again for what they declined.
        if left > 0 && error.cause != ErrorCause::Declined {
            left -= 1;
            run.host.emit_note(phrases::TRIED_AGAIN.with("why", error.message.clone()));
            continue;
        }
        let Some(catch) = catch else { return Err(ScriptFlow::Failed(error)) };
        frame.values.locals.push(Map::from_iter([("error".to_owned(), error_value(&error))]));
        let ended = attempt(run, frame, catch).await;
        frame.values.locals.pop();
        return ended.map(|()| None);
    }
}

/// The block with the answers that it waits for.
async fn attempt(run: &mut ScriptRun, frame: &mut Frame, block: &ScriptValue) -> ScriptResult {
    run.run_block(frame, block).await?;
    run.flush_placeholders(frame).await
}

/// What the script or its JavaScript threw, without the sentence around it.
fn thrown_words(message: &LocalizedText) -> Option<String> {
    let phrase = message.phrase();
    let gaps = [(phrases::THROWN, "{message}"), (engine::ENGINE_THREW, "{why}")];
    let (_, gap) = gaps.into_iter().find(|(thrown, _)| *thrown == phrase)?;
    let (head, tail) = phrase.en.split_once(gap)?;
    let text = message.text(Lang::En);
    Some(text.strip_prefix(head)?.strip_suffix(tail)?.to_owned())
}

/// What is known of an error: of a program that failed also its `code`, `stdout` and `stderr`.
fn error_value(error: &LocatedError) -> Value {
    let mut value = error.output().map_or_else(|| json!({}), |output| output.to_value());
    value["message"] =
        thrown_words(&error.message).unwrap_or_else(|| error.message.to_string()).into();
    if let Some(at) = &error.location {
        value["file"] = at.file.as_str().into();
        value["line"] = at.position.line.into();
    }
    value
}
