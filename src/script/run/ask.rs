//! `[[VAR]]`: cuts the message at the mark, lets the model continue from there, and replaces the
//! mark with its reply.

use serde_json::{Map, Value};

use super::super::text::{Placeholder, Settled};
use super::answer::{CallOptions, ModelReply, kind, no_choice};
use super::talk::{DialogueMessage, MessageBody, SystemParts};
use super::{Frame, ScriptFlow, ScriptRun};

/// How often the model is asked again when its reply was not one of the choices.
const TRIES: usize = 3;

impl ScriptRun {
    /// Asks for every missing reply of one message, from left to right.
    pub async fn fill_asks(&mut self, frame: &mut Frame, at: usize) -> Result<(), ScriptFlow> {
        loop {
            let Some(line) = frame.talk.lines.get(at) else { return Ok(()) };
            let MessageBody::Settled(settled) = &line.body else { return Ok(()) };
            let Some((shard, ask)) = settled.next_ask() else { return Ok(()) };
            let (ask, before) = (ask.clone(), settled.before(shard));
            let params = self.passed(frame, &ask.params).await?.map();
            frame.values.locals.push(params.clone());
            let came = self.one(frame, at, &ask, before, params).await;
            frame.values.locals.pop();
            let reply = came?;
            let text = reply.text.clone();
            let (whole, is_last) = match frame.talk.lines.get_mut(at).map(|line| &mut line.body) {
                Some(MessageBody::Settled(settled)) => {
                    settled.fill(shard, reply.text.clone());
                    (settled.text(), settled.next_ask().is_none())
                }
                _ => return Ok(()),
            };
            let by_chance = ask.pick.random && !ask.choices.is_empty();
            match kind(frame) {
                // The message is still incomplete; it is parsed as a whole when it is done.
                Some(_) if !is_last || !ask.choices.is_empty() => {
                    let value = Value::String(reply.text.clone());
                    frame.values.replies.insert(ask.name.clone(), value);
                }
                _ if by_chance || !ask.choices.is_empty() => {
                    let value = Value::String(reply.text.clone());
                    frame.values.replies.insert(ask.name.clone(), value.clone());
                    frame.values.replies.insert("RESPONSE".to_owned(), value.clone());
                    frame.values.latest = value;
                }
                _ => {
                    self.keep(frame, Some(&ask.name), &whole, &reply)?;
                }
            }
            if !by_chance {
                self.after_answer(frame, &text).await?;
            }
        }
    }

    async fn one(
        &mut self,
        frame: &mut Frame,
        at: usize,
        ask: &Placeholder,
        before: String,
        params: Map<String, Value>,
    ) -> Result<ModelReply, ScriptFlow> {
        if ask.pick.random && !ask.choices.is_empty() {
            return Ok(ModelReply { text: by_chance(ask), ..ModelReply::default() });
        }
        let role = frame.talk.lines.get(at).map(|line| line.role.clone()).unwrap_or_default();
        let is_other = role != frame.shape.name();
        if let Some(script) = frame.role_script(&role).filter(|_| is_other) {
            return self.role_reply(frame, &role, &script, at, before).await;
        }
        if before.trim().is_empty()
            && ask.choices.is_empty()
            && let Some(reply) = self.with_tools(frame, at).await?
        {
            return Ok(reply);
        }
        let begun = DialogueMessage {
            body: MessageBody::Settled(Settled::given(before)),
            ..DialogueMessage::settled(role, "")
        };
        self.restricted(frame, at, &begun, ask, params).await
    }

    /// Asks until the reply is one of the choices, if there are any.
    async fn restricted(
        &mut self,
        frame: &mut Frame,
        at: usize,
        begun: &DialogueMessage,
        ask: &Placeholder,
        params: Map<String, Value>,
    ) -> Result<ModelReply, ScriptFlow> {
        let mut last = String::new();
        for _ in 0..TRIES {
            let extra = SystemParts { notes: instruction(ask), ..SystemParts::default() };
            let sent = self.sent(frame, at, Some(begun), &extra);
            let wish = CallOptions { params: params.clone(), ..CallOptions::default() };
            let reply = self.complete(frame, sent, wish).await?;
            if ask.choices.is_empty() {
                return Ok(reply);
            }
            if let Some(text) = chosen(ask, &reply.text) {
                return Ok(ModelReply { text, ..reply });
            }
            last = reply.text;
        }
        Err(no_choice(&last, &ask.choices))
    }
}

/// The instruction that lists the choices for the model.
fn instruction(ask: &Placeholder) -> Vec<String> {
    if ask.choices.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> = ask.choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    let how_many = match ask.pick.most {
        1 => "exactly one of these, and nothing else".to_owned(),
        most => format!(
            "at most {most} of these, separated by \"{}\", and nothing else",
            ask.pick.separator
        ),
    };
    vec![format!("Answer with {how_many}: {}", list.join(", "))]
}

fn by_chance(ask: &Placeholder) -> String {
    let mut choices: Vec<&str> = ask.choices.iter().map(String::as_str).collect();
    fastrand::shuffle(&mut choices);
    choices.truncate(ask.pick.most);
    choices.join(&ask.pick.separator)
}

/// The choices a reply names, spelled as listed.
fn chosen(ask: &Placeholder, reply: &str) -> Option<String> {
    let bare = |text: &str| {
        let trimmed = text.trim().trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '.' | '。' | '*' | '“' | '”')
        });
        trimmed.to_lowercase()
    };
    let said = bare(reply);
    if let Some(choice) = ask.choices.iter().find(|choice| bare(choice) == said) {
        return Some(choice.clone());
    }
    // The longest first, so that `red wine` is not taken for `red`.
    let mut by_length: Vec<&String> = ask.choices.iter().collect();
    by_length.sort_by_key(|choice| std::cmp::Reverse(choice.len()));
    let mut rest = said;
    let mut found: Vec<(usize, &String)> = Vec::new();
    for choice in by_length {
        let word = bare(choice);
        if word.is_empty() {
            continue;
        }
        if let Some(at) = rest.find(&word) {
            found.push((at, choice));
            rest = rest.replace(&word, &"\u{0}".repeat(word.len()));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    if found.is_empty() || (ask.pick.most == 1 && found.len() > 1) {
        return None;
    }
    let names: Vec<&str> =
        found.into_iter().take(ask.pick.most).map(|(_, it)| it.as_str()).collect();
    Some(names.join(&ask.pick.separator))
}
