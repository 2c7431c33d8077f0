//! `[[VAR]]`: cuts the message at the mark, lets the model continue from there, and replaces the
//! mark with its reply.

use serde_json::{Map, Value};

use super::super::error::{ScriptResult, quoted};
use super::super::text::{Placeholder, RenderedText};
use super::answer::store_reply;
use super::dialogue::{DialogueMessage, MessageBody, SystemParts};
use super::frame::{Frame, ScriptRun};
use super::model_call::{CallOptions, ScriptReply, complete, model_messages};
use super::multi_role::{RoleTurn, role_reply};
use super::tools::{ToolQuestion, answer_with_tools, run_after_answer_tools};
use crate::i18n::script_run as words;

/// How often the model is asked again when its reply was not one of the choices.
const TRIES: usize = 3;

/// Asks for every missing reply of one message, from left to right.
pub async fn fill_placeholders(run: &mut ScriptRun, frame: &mut Frame, at: usize) -> ScriptResult {
    loop {
        let Some(line) = frame.dialogue.messages.get(at) else { return Ok(()) };
        let MessageBody::Rendered(settled) = &line.body else { return Ok(()) };
        let Some((shard, ask)) = settled.next_placeholder() else { return Ok(()) };
        let (ask, before) = (ask.clone(), settled.text_before(shard));
        let passed = run.evaluate_args(frame, &ask.params).await?;
        let mut params = passed.to_map();
        params.extend(passed.passed_variables);
        frame.values.locals.push(params.clone());
        let came = answer_placeholder(run, frame, at, &ask, before, params).await;
        frame.values.locals.pop();
        let reply = came?;
        let text = reply.text.clone();
        let (whole, is_last) = match frame.dialogue.messages.get_mut(at).map(|line| &mut line.body)
        {
            Some(MessageBody::Rendered(settled)) => {
                settled.fill(shard, reply.text.clone());
                (settled.text(), settled.next_placeholder().is_none())
            }
            _ => return Ok(()),
        };
        let is_choice = !ask.choices.is_empty();
        // An incomplete message is parsed as a whole when it is done.
        let is_part = frame.values.answer_format().is_some() && (!is_last || is_choice);
        if is_part || is_choice {
            let value = Value::String(reply.text);
            frame.values.replies.insert(ask.name.clone(), value.clone());
            if !is_part {
                frame.values.set_response(value);
            }
        } else {
            store_reply(frame, Some(&ask.name), &whole, &reply)?;
        }
        if !(ask.pick.random && is_choice) {
            run_after_answer_tools(run, frame, &text).await?;
        }
    }
}

async fn answer_placeholder(
    run: &mut ScriptRun,
    frame: &mut Frame,
    at: usize,
    ask: &Placeholder,
    before: String,
    params: Map<String, Value>,
) -> ScriptResult<ScriptReply> {
    if ask.pick.random && !ask.choices.is_empty() {
        return Ok(ScriptReply { text: ask.pick_random(), ..ScriptReply::default() });
    }
    let role = frame.dialogue.messages.get(at).map(|line| line.role.clone()).unwrap_or_default();
    let is_other = role != frame.manifest.name();
    let script = frame.role_script(&role).filter(|_| is_other);
    let refused = |reply: &str| {
        words::NO_CHOICE.with("reply", quoted(reply)).with("list", quoted(&ask.choices.join(", ")))
    };
    let mut last: Option<String> = None;
    for _ in 0..TRIES {
        if let Some(reply) = &last {
            run.host.emit_note(refused(reply));
        }
        let reply = match &script {
            Some(script) => {
                let turn = RoleTurn {
                    role: &role,
                    script,
                    end: at,
                    begun: &before,
                    notes: ask.choice_instruction(),
                    options: call_options(ask, &params),
                };
                role_reply(run, frame, turn).await?
            }
            None => script_reply(run, frame, at, ask, &before, &params).await?,
        };
        if ask.choices.is_empty() {
            return Ok(reply);
        }
        if let Some(text) = ask.match_choices(&reply.text) {
            return Ok(ScriptReply { text, ..reply });
        }
        last = Some(reply.text);
    }
    Err(refused(&last.unwrap_or_default()).into())
}

fn call_options(ask: &Placeholder, params: &Map<String, Value>) -> CallOptions {
    let choice = Some(ask).filter(|ask| !ask.choices.is_empty()).cloned();
    CallOptions { params: params.clone(), choice, ..CallOptions::default() }
}

/// The reply of the script's own model, which continues the message.
async fn script_reply(
    run: &mut ScriptRun,
    frame: &mut Frame,
    at: usize,
    ask: &Placeholder,
    before: &str,
    params: &Map<String, Value>,
) -> ScriptResult<ScriptReply> {
    let options = call_options(ask, params);
    if ask.choices.is_empty() {
        let sent = model_messages(frame, at, None, &SystemParts::default())?;
        let question = ToolQuestion::about(frame, at, &sent, before);
        if let Some(reply) = answer_with_tools(run, frame, question, &options).await? {
            return Ok(reply);
        }
    }
    let role = frame.dialogue.messages.get(at).map(|line| line.role.clone()).unwrap_or_default();
    let begun = DialogueMessage {
        body: MessageBody::Rendered(RenderedText::literal(before)),
        ..DialogueMessage::rendered(role, "")
    };
    let extra = SystemParts { notes: ask.choice_instruction(), ..SystemParts::default() };
    let sent = model_messages(frame, at, Some(&begun), &extra)?;
    complete(run, frame, sent, options).await
}
