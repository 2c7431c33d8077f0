//! Several roles in one dialogue: each has its own script and sees only public messages and those
//! addressed to it.

use super::super::fault::quoted;
use super::super::shape::input::ScriptArgs;
use super::answer::{CallOptions, ModelReply};
use super::talk::{SystemParts, seen_by};
use super::{Frame, ScriptFlow, ScriptRun};
use crate::protocol::Message;
use crate::words::script_run as words;
use serde_json::{Map, Value};

impl ScriptRun {
    /// Lets every addressed role answer a message, one after the other.
    pub async fn group_answers(&mut self, frame: &mut Frame, at: usize) -> Result<(), ScriptFlow> {
        let to = frame.talk.lines.get(at).map(|line| line.to.clone()).unwrap_or_default();
        for to in to {
            let Some(script) = frame.role_script(&to.role) else {
                return Err(words::NO_ROLE_SCRIPT.with("role", quoted(&to.role)).into());
            };
            let reply = self.role_reply(frame, &to.role, &script, at + 1, String::new()).await?;
            let text = Value::String(reply.text.clone());
            frame.values.replies.insert("RESPONSE".to_owned(), text.clone());
            frame.values.latest = text;
            if let Some(line) = frame.talk.lines.get_mut(at) {
                line.replies.push((to.role, reply.text));
            }
        }
        Ok(())
    }

    /// The reply of a role: it gets its own script first, then the dialogue up to `end` as it sees
    /// it, then the start of its reply.
    pub async fn role_reply(
        &mut self,
        frame: &mut Frame,
        role: &str,
        script: &str,
        end: usize,
        begun: String,
    ) -> Result<ModelReply, ScriptFlow> {
        let mut actor = self.actor(frame, role, script).await?;
        let mut sent = self.sent(&actor, actor.talk.lines.len(), None, &SystemParts::default());
        let from = frame.talk.prologue.unwrap_or(0).min(end);
        let lines = frame.talk.lines.iter().take(end).skip(from);
        sent.extend(seen_by(role, lines, frame.shape.name()));
        if !begun.is_empty() {
            sent.push(Message::assistant(begun));
        }
        let came = self.complete(&mut actor, sent, CallOptions::default()).await;
        let own = actor.shape.name().to_owned();
        frame.reach.put_role(role.to_owned(), actor);
        frame.talk.calls += 1;
        let reply = came?;
        let text = without_name(&reply.text, &[role, &own]);
        Ok(ModelReply { text, ..reply })
    }

    async fn actor(
        &mut self,
        frame: &mut Frame,
        role: &str,
        script: &str,
    ) -> Result<Frame, ScriptFlow> {
        if let Some(actor) = frame.reach.take_role(role) {
            return Ok(actor);
        }
        self.needs_trust(frame, &format!("@{role}"))?;
        self.permit(frame, script, &Map::new()).await?;
        let shape = self.find(frame, script)?;
        if !shape.is_of("char") {
            return Err(words::ROLE_NO_CHAR
                .with("role", quoted(role))
                .with("file", shape.origin.file.clone())
                .into());
        }
        let mut actor = Frame::new(shape, ScriptArgs::default(), &frame.guards)?;
        self.begin(&mut actor).await?;
        Ok(actor)
    }
}

/// A model that plays a role often begins with the role's name.
fn without_name(text: &str, names: &[&str]) -> String {
    for name in names {
        let rest = text.trim_start().strip_prefix(name);
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix([':', '：'])) {
            return rest.trim_start().to_owned();
        }
    }
    text.to_owned()
}
