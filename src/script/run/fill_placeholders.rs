//! `[[VAR]]`: cuts the message at the mark, lets the model continue from there, and replaces the
//! mark with its reply.

use serde_json::{Map, Value};

use super::super::text::{Placeholder, RenderedText};
use super::answer::{CallOptions, ModelReply, answer_format, no_choice_error};
use super::dialogue::{DialogueMessage, MessageBody, SystemParts};
use super::frame::{Frame, ScriptResult, ScriptRun};

/// How often the model is asked again when its reply was not one of the choices.
const TRIES: usize = 3;

impl ScriptRun {
    /// Asks for every missing reply of one message, from left to right.
    pub async fn fill_placeholders(&mut self, frame: &mut Frame, at: usize) -> ScriptResult {
        loop {
            let Some(line) = frame.dialogue.messages.get(at) else { return Ok(()) };
            let MessageBody::Rendered(settled) = &line.body else { return Ok(()) };
            let Some((shard, ask)) = settled.next_placeholder() else { return Ok(()) };
            let (ask, before) = (ask.clone(), settled.text_before(shard));
            let params = self.evaluate_args(frame, &ask.params).await?.to_map();
            frame.values.locals.push(params.clone());
            let came = self.answer_placeholder(frame, at, &ask, before, params).await;
            frame.values.locals.pop();
            let reply = came?;
            let text = reply.text.clone();
            let (whole, is_last) =
                match frame.dialogue.messages.get_mut(at).map(|line| &mut line.body) {
                    Some(MessageBody::Rendered(settled)) => {
                        settled.fill(shard, reply.text.clone());
                        (settled.text(), settled.next_placeholder().is_none())
                    }
                    _ => return Ok(()),
                };
            let by_chance = ask.pick.random && !ask.choices.is_empty();
            match answer_format(frame) {
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
                    self.store_reply(frame, Some(&ask.name), &whole, &reply)?;
                }
            }
            if !by_chance {
                self.run_after_answer_tools(frame, &text).await?;
            }
        }
    }

    async fn answer_placeholder(
        &mut self,
        frame: &mut Frame,
        at: usize,
        ask: &Placeholder,
        before: String,
        params: Map<String, Value>,
    ) -> ScriptResult<ModelReply> {
        if ask.pick.random && !ask.choices.is_empty() {
            return Ok(ModelReply { text: pick_random(ask), ..ModelReply::default() });
        }
        let role =
            frame.dialogue.messages.get(at).map(|line| line.role.clone()).unwrap_or_default();
        let is_other = role != frame.manifest.name();
        if let Some(script) = frame.role_script(&role).filter(|_| is_other) {
            return self.role_reply(frame, &role, &script, at, before).await;
        }
        if before.trim().is_empty()
            && ask.choices.is_empty()
            && let Some(reply) = self.answer_with_tools(frame, at).await?
        {
            return Ok(reply);
        }
        let begun = DialogueMessage {
            body: MessageBody::Rendered(RenderedText::literal(before)),
            ..DialogueMessage::rendered(role, "")
        };
        self.ask_until_valid(frame, at, &begun, ask, params).await
    }

    /// Asks until the reply is one of the choices, if there are any.
    async fn ask_until_valid(
        &mut self,
        frame: &mut Frame,
        at: usize,
        begun: &DialogueMessage,
        ask: &Placeholder,
        params: Map<String, Value>,
    ) -> ScriptResult<ModelReply> {
        let mut last = String::new();
        for _ in 0..TRIES {
            let extra = SystemParts { notes: choice_instruction(ask), ..SystemParts::default() };
            let sent = self.model_messages(frame, at, Some(begun), &extra);
            let wish = CallOptions { params: params.clone(), ..CallOptions::default() };
            let reply = self.complete(frame, sent, wish).await?;
            if ask.choices.is_empty() {
                return Ok(reply);
            }
            if let Some(text) = match_choices(ask, &reply.text) {
                return Ok(ModelReply { text, ..reply });
            }
            last = reply.text;
        }
        Err(no_choice_error(&last, &ask.choices))
    }
}

/// The instruction that lists the choices for the model.
fn choice_instruction(ask: &Placeholder) -> Vec<String> {
    if ask.choices.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> = ask.choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    let how_many = match ask.pick.max {
        1 => "exactly one of these, and nothing else".to_owned(),
        most => format!(
            "at most {most} of these, separated by \"{}\", and nothing else",
            ask.pick.separator
        ),
    };
    vec![format!("Answer with {how_many}: {}", list.join(", "))]
}

fn pick_random(ask: &Placeholder) -> String {
    let mut choices: Vec<&str> = ask.choices.iter().map(String::as_str).collect();
    fastrand::shuffle(&mut choices);
    choices.truncate(ask.pick.max);
    choices.join(&ask.pick.separator)
}

/// The choices a reply names, spelled as listed.
fn match_choices(ask: &Placeholder, reply: &str) -> Option<String> {
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
    if found.is_empty() || (ask.pick.max == 1 && found.len() > 1) {
        return None;
    }
    let names: Vec<&str> =
        found.into_iter().take(ask.pick.max).map(|(_, it)| it.as_str()).collect();
    Some(names.join(&ask.pick.separator))
}
