//! One instruction: a directive, an expression, a chain, or a message.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::failure::Location;
use super::super::fault::quoted;
use super::super::syntax::{ScriptNode, Tree};
use super::super::text::lead::{self, Lead, MessageEdit, PrefixPosition};
use super::super::text::{args, roles};
use super::calls::Called;
use super::talk::{DialogueMessage, MessageBody, RenderMode};
use super::values::text_of;
use super::{Frame, MOST_LINES, ScriptFlow, ScriptRun, placed_in};
use crate::words::script_run as words;

impl ScriptRun {
    /// Runs one instruction.
    pub fn item<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        node: &'a ScriptNode,
    ) -> BoxFuture<'a, Result<(), ScriptFlow>> {
        Box::pin(async move {
            self.step()?;
            match &node.tree {
                Tree::Text(text) if node.tag.is_none() => self.text_item(frame, text, node).await,
                Tree::Map(pairs) => self.map_item(frame, node, pairs).await,
                Tree::List(_) => Err(words::LIST_ITEM.into()),
                // A number or `true` on a line of its own is not a message.
                Tree::Text(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => Ok(()),
            }
        })
    }

    /// The instructions of a block: a list, or a single one.
    pub async fn block(&mut self, frame: &mut Frame, node: &ScriptNode) -> Result<(), ScriptFlow> {
        match &node.tree {
            Tree::List(items) => {
                for item in items {
                    self.item(frame, item).await.map_err(|halt| placed_in(halt, frame, item))?;
                }
                Ok(())
            }
            Tree::Null => Ok(()),
            _ => self.item(frame, node).await,
        }
    }

    async fn text_item(
        &mut self,
        frame: &mut Frame,
        text: &str,
        node: &ScriptNode,
    ) -> Result<(), ScriptFlow> {
        if text.starts_with('$')
            && let Some(call) = args::call(text)
        {
            let called = Called {
                name: &call.name,
                pipe: call.pipe,
                args: &call.args,
                head: None,
                more: &[],
            };
            return self.directive(frame, called).await;
        }
        if text.starts_with("->") {
            return self.chain(frame, text).await;
        }
        if let Some(expression) = text.strip_prefix("?=") {
            self.flush_asks(frame).await?;
            frame.values.latest = self.expression_or_text(frame, expression, text).await?;
            return Ok(());
        }
        self.message(frame, None, &ScriptNode::text(text, node.place)).await
    }

    async fn map_item(
        &mut self,
        frame: &mut Frame,
        node: &ScriptNode,
        pairs: &[(ScriptNode, ScriptNode)],
    ) -> Result<(), ScriptFlow> {
        if let Some(called) = directive_of(pairs) {
            let (key, head, more) = called;
            let call = args::call(&key).ok_or_else(|| words::NO_CALL.with("name", quoted(&key)))?;
            let called =
                Called { name: &call.name, pipe: call.pipe, args: &call.args, head, more: &more };
            return self.directive(frame, called).await;
        }
        match pairs {
            [(key, content)] => {
                let role = key.key().unwrap_or_default();
                self.message(frame, Some(&role), content).await
            }
            _ => match (node.get("role").and_then(ScriptNode::key), node.get("content")) {
                (Some(role), Some(content)) => self.message(frame, Some(&role), content).await,
                _ => {
                    let keys: Vec<String> = pairs.iter().filter_map(|(key, _)| key.key()).collect();
                    Err(words::UNKNOWN_OBJECT.with("keys", quoted(&keys.join(", "))).into())
                }
            },
        }
    }

    /// One message: from a role, or from the user if no role is named.
    async fn message(
        &mut self,
        frame: &mut Frame,
        key: Option<&str>,
        content: &ScriptNode,
    ) -> Result<(), ScriptFlow> {
        let (role, to) = roles::key(key.unwrap_or("user"));
        if role.is_empty() {
            return Err(words::NO_ROLE.into());
        }
        let Some(text) = scalar(content) else {
            if role != "system" {
                return Err(words::CONTENT_NO_TEXT.with("role", quoted(role)).into());
            }
            let mut line =
                DialogueMessage::new(role, MessageBody::PendingParts(content.to_value()));
            line.spot = Some(Location::new(&frame.file, content.place));
            return self.push(frame, line, None);
        };
        let (lead, rest) = lead::read(&text, PrefixPosition::Message);
        let mut line = DialogueMessage::new(role, body(frame, &lead, rest));
        line.to = to;
        line.locals.clone_from(&frame.values.locals);
        line.spot = Some(Location::new(&frame.file, content.place));
        let (edit, now) = match &lead {
            Lead::Replace(edit) | Lead::Insert(edit) => (Some(edit), edit.now),
            lead => (None, *lead == Lead::Now),
        };
        let immediate = frame.values.option("formatStringStrategy");
        let immediate = immediate.as_ref().and_then(Value::as_str) == Some("Immediate");
        if now || (immediate && matches!(line.body, MessageBody::Pending { .. })) {
            self.flush_asks(frame).await?;
            self.settle(frame, &mut line).await?;
        }
        match (&lead, edit) {
            (Lead::Replace(_), Some(edit)) => self.replace(frame, line, edit, key),
            (_, edit) => self.push(frame, line, edit),
        }
    }

    fn replace(
        &mut self,
        frame: &mut Frame,
        mut line: DialogueMessage,
        edit: &MessageEdit,
        key: Option<&str>,
    ) -> Result<(), ScriptFlow> {
        let Some(at) = frame.talk.place(edit.at.unwrap_or(-1)) else {
            let at = edit.at.unwrap_or(-1).to_string();
            return Err(words::NO_MESSAGE_AT.with("at", at).into());
        };
        let old = &mut frame.talk.lines[at];
        line.role = match (&edit.role, key) {
            (Some(role), _) => role.clone(),
            (None, Some(_)) => line.role,
            (None, None) => old.role.clone(),
        };
        *old = line;
        Ok(())
    }

    fn push(
        &mut self,
        frame: &mut Frame,
        mut line: DialogueMessage,
        edit: Option<&MessageEdit>,
    ) -> Result<(), ScriptFlow> {
        if frame.talk.lines.len() >= MOST_LINES {
            return Err(words::TOO_MANY_MESSAGES.with("most", MOST_LINES).into());
        }
        if let Some(role) = edit.and_then(|edit| edit.role.clone()) {
            line.role = role;
        }
        match edit.and_then(|edit| edit.at) {
            None => frame.talk.push(line),
            Some(at) => {
                let length = i64::try_from(frame.talk.lines.len()).unwrap_or(i64::MAX);
                let at = if at < 0 { (length + at).max(0) } else { at.min(length) };
                frame.talk.lines.insert(usize::try_from(at).unwrap_or(0), line);
            }
        }
        Ok(())
    }
}

/// The key that is a call, its value, and the other keys.
type Directive<'a> = (String, Option<&'a ScriptNode>, Vec<(&'a ScriptNode, &'a ScriptNode)>);

fn directive_of(pairs: &[(ScriptNode, ScriptNode)]) -> Option<Directive<'_>> {
    let (at, key) = pairs.iter().enumerate().find_map(|(at, (key, value))| {
        let name = key.as_text()?;
        let is = name.starts_with('$') || value.as_text() == Some("$tool");
        is.then(|| (at, name.to_owned()))
    })?;
    let key = if key.starts_with('$') { key } else { "$tool".to_owned() };
    let head = pairs.get(at).map(|(_, value)| value);
    let more = pairs.iter().enumerate().filter(|(other, _)| *other != at);
    Some((key, head, more.map(|(_, (key, value))| (key, value)).collect()))
}

/// The text of a message; a number or `true` counts as one here.
fn scalar(node: &ScriptNode) -> Option<String> {
    match &node.tree {
        Tree::Text(text) => Some(text.clone()),
        Tree::Number(number) => Some(number.to_string()),
        Tree::Bool(is) => Some(is.to_string()),
        Tree::Null => Some(String::new()),
        Tree::List(_) | Tree::Map(_) => None,
    }
}

fn body(frame: &Frame, lead: &Lead, text: &str) -> MessageBody {
    let raw = frame.values.option("formatStringStrategy");
    let raw = raw.as_ref().and_then(Value::as_str) == Some("Raw");
    let how = match lead {
        Lead::Raw => return DialogueMessage::settled("", text).body,
        Lead::Expression => RenderMode::Expression,
        Lead::Plain if raw => RenderMode::Marks,
        Lead::Plain | Lead::Now | Lead::Replace(_) | Lead::Insert(_) => RenderMode::Template,
    };
    MessageBody::Pending { text: text.to_owned(), how }
}

/// A message of plain values, in the form of `prompt.messages`.
pub fn line(role: &str, content: &Value) -> DialogueMessage {
    let body = match content {
        Value::Object(_) if role == "system" => MessageBody::PendingParts(content.clone()),
        content => MessageBody::Pending { text: text_of(content), how: RenderMode::Template },
    };
    DialogueMessage::new(role, body)
}
