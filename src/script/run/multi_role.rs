//! Several roles in one dialogue: each has its own script and sees only public messages and those
//! addressed to it.

use serde_json::{Map, Value};

use super::super::error::{ScriptResult, quoted};
use super::super::manifest::input::ScriptArgs;
use super::super::permission::CallNames;
use super::answer::reply_value;
use super::dialogue::{DialogueMessage, SystemParts, messages_for_role};
use super::frame::{Frame, ScriptRun};
use super::model_call::{CallOptions, ScriptReply, complete, model_messages};
use super::tools::{ToolLoopInput, answer_with_tools};
use avocet_core::i18n::script_run as phrases;
use avocet_core::protocol::Message;

/// Lets every addressed role answer a message, one after the other.
pub async fn answer_as_roles(run: &mut ScriptRun, frame: &mut Frame, at: usize) -> ScriptResult {
    let to =
        frame.dialogue.messages.get(at).map(|line| line.addressees.clone()).unwrap_or_default();
    for to in to {
        let Some(script) = frame.role_script(&to.role) else {
            return Err(phrases::NO_ROLE_SCRIPT.with("role", quoted(&to.role)).into());
        };
        let turn = RoleTurn {
            role: &to.role,
            script: &script,
            end: at + 1,
            begun: "",
            notes: Vec::new(),
            options: CallOptions::default(),
        };
        let reply = role_reply(run, frame, turn).await?;
        let text = || Value::String(reply.text.clone());
        frame.values.set_response(reply.value.clone().unwrap_or_else(text), Map::new());
        if let Some(line) = frame.dialogue.messages.get_mut(at) {
            line.replies.push((to.role, reply.text));
        }
    }
    Ok(())
}

/// The turn of a role to speak.
pub struct RoleTurn<'a> {
    pub role: &'a str,
    pub script: &'a str,
    /// The number of messages it answers.
    pub end: usize,
    /// The start of its reply.
    pub begun: &'a str,
    /// Additions to its system message.
    pub notes: Vec<String>,
    pub options: CallOptions,
}

/// The reply of a role: it gets its own script first, then the dialogue up to `end` as it sees
/// it, then the start of its reply.
pub async fn role_reply(
    run: &mut ScriptRun,
    frame: &mut Frame,
    turn: RoleTurn<'_>,
) -> ScriptResult<ScriptReply> {
    let role = turn.role.to_owned();
    let mut actor = role_frame(run, frame, &role, turn.script).await?;
    let came = ask_actor(run, frame, &mut actor, turn).await;
    frame.bindings.roles.insert(role, actor);
    frame.dialogue.model_calls += 1;
    came
}

async fn ask_actor(
    run: &mut ScriptRun,
    frame: &Frame,
    actor: &mut Frame,
    turn: RoleTurn<'_>,
) -> ScriptResult<ScriptReply> {
    let RoleTurn { role, end, begun, notes, options, .. } = turn;
    let parts = SystemParts { notes, ..SystemParts::default() };
    let mut sent = model_messages(actor, actor.dialogue.messages.len(), None, &parts)?;
    let from = frame.dialogue.prologue_len.unwrap_or(0).min(end);
    let lines = frame.dialogue.messages.iter().take(end).skip(from);
    sent.extend(messages_for_role(role, lines, frame.manifest.name()));
    let options = CallOptions { role: Some(role.to_owned()), ..options };
    let said = frame.dialogue.messages.iter().take(end).next_back().map(DialogueMessage::text);
    let input = ToolLoopInput { said, asked: None, sent: sent.clone(), begun: begun.to_owned() };
    let reply = match answer_with_tools(run, actor, input, &options).await? {
        Some(reply) => reply,
        None => {
            if !begun.is_empty() {
                sent.push(Message::assistant(begun));
            }
            complete(run, actor, sent, options).await?
        }
    };
    let text = strip_role_name(&reply.text, &[role, actor.manifest.name()]);
    let reply = ScriptReply { text, ..reply };
    let value = match actor.values.answer_format() {
        Some(_) => Some(reply_value(actor, &reply.text, &reply)?.0),
        None => None,
    };
    Ok(ScriptReply { value, ..reply })
}

async fn role_frame(
    run: &mut ScriptRun,
    frame: &mut Frame,
    role: &str,
    script: &str,
) -> ScriptResult<Frame> {
    if let Some(actor) = frame.bindings.roles.remove(role) {
        return Ok(actor);
    }
    frame.require_trust(format_args!("@{role}"))?;
    let found = frame.find_script(&run.library, script);
    let names = match &found {
        Ok(shape) => shape.call_names(script, []),
        Err(_) => CallNames::new(script, []),
    };
    frame.check_permission(run.host.as_mut(), &names, &Map::new()).await?;
    let shape = found?;
    if !shape.has_type("char") {
        return Err(phrases::ROLE_NO_CHAR
            .with("role", quoted(role))
            .with("file", shape.origin.file.clone())
            .into());
    }
    run.start_agent(frame, shape, ScriptArgs::default()).await
}

/// A model that plays a role often begins with the role's name.
fn strip_role_name(text: &str, names: &[&str]) -> String {
    for name in names {
        let rest = text.trim_start().strip_prefix(name);
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix([':', '：'])) {
            return rest.trim_start().to_owned();
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_loses_the_name_its_role_begins_with() {
        let names = ["dobby", "Dobby the elf"];
        assert_eq!(strip_role_name("dobby: hello", &names), "hello");
        assert_eq!(strip_role_name(" Dobby the elf：你好", &names), "你好");
        assert_eq!(strip_role_name("dobby hello", &names), "dobby hello");
        assert_eq!(strip_role_name("harry: dobby: hi", &names), "harry: dobby: hi");
    }
}
