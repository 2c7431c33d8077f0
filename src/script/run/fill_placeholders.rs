//! `[[VAR]]`: cuts the message at the mark, lets the model continue from there, and replaces the
//! mark with its reply.

use serde_json::{Map, Value};

use super::super::error::ScriptResult;
use super::super::text::{Placeholder, RenderedText};
use super::answer::store_reply;
use super::dialogue::{DialogueMessage, MessageBody, SystemParts};
use super::frame::{Frame, ScriptRun};
use super::model_call::{
    CallOptions, ScriptReply, TRIES, complete, model_messages, no_choice, no_choice_error,
};
use super::multi_role::{RoleTurn, role_reply};
use super::tools::{ToolLoopInput, answer_with_tools, run_after_answer_tools};

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
                frame.values.set_response(value, Map::new());
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
    placeholder: &Placeholder,
    before: String,
    params: Map<String, Value>,
) -> ScriptResult<ScriptReply> {
    if placeholder.pick.random && !placeholder.choices.is_empty() {
        return Ok(ScriptReply { text: placeholder.pick_random(), ..ScriptReply::default() });
    }
    let role = frame.dialogue.messages.get(at).map(|line| line.role.clone()).unwrap_or_default();
    let is_other = role != frame.manifest.name();
    let script = frame.role_script(&role).filter(|_| is_other);
    let mut last: Option<String> = None;
    for at_try in 0..TRIES {
        if let Some(reply) = &last {
            run.host.emit_note(no_choice(placeholder, reply));
        }
        let options = CallOptions { is_retry: at_try > 0, ..call_options(placeholder, &params) };
        let reply = match &script {
            Some(script) => {
                let turn = RoleTurn {
                    role: &role,
                    script,
                    end: at,
                    begun: &before,
                    notes: placeholder.choice_instruction(),
                    options,
                };
                role_reply(run, frame, turn).await?
            }
            None => script_reply(run, frame, at, placeholder, &before, options).await?,
        };
        if placeholder.choices.is_empty() {
            return Ok(reply);
        }
        if let Some(text) = placeholder.match_choices(&reply.text) {
            return Ok(ScriptReply { text, ..reply });
        }
        last = Some(reply.text);
    }
    Err(no_choice_error(placeholder, &last.unwrap_or_default()))
}

fn call_options(placeholder: &Placeholder, params: &Map<String, Value>) -> CallOptions {
    let choice = (!placeholder.choices.is_empty()).then(|| placeholder.clone());
    // What a mark names is a parameter of the call, as in `parameters`.
    let names = placeholder.params.iter().filter_map(|arg| arg.name.as_ref());
    let unlisted = names.filter_map(|name| Some((name.clone(), params.get(name)?.clone())));
    CallOptions {
        params: params.clone(),
        unlisted: unlisted.collect(),
        choice,
        ..CallOptions::default()
    }
}

/// The reply of the script's own model, which continues the message.
async fn script_reply(
    run: &mut ScriptRun,
    frame: &mut Frame,
    at: usize,
    placeholder: &Placeholder,
    before: &str,
    options: CallOptions,
) -> ScriptResult<ScriptReply> {
    let parts = SystemParts { notes: placeholder.choice_instruction(), ..SystemParts::default() };
    let sent = model_messages(frame, at, None, &parts)?;
    let input = ToolLoopInput::about(frame, at, &sent, before);
    if let Some(reply) = answer_with_tools(run, frame, input, &options).await? {
        return Ok(reply);
    }
    let role = frame.dialogue.messages.get(at).map(|line| line.role.clone()).unwrap_or_default();
    let message = DialogueMessage {
        body: MessageBody::Rendered(RenderedText::literal(before)),
        ..DialogueMessage::rendered(role, "")
    };
    let sent = model_messages(frame, at, Some(&message), &parts)?;
    complete(run, frame, sent, options).await
}
