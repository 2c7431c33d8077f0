//! One instruction: a directive, an expression, a chain, or a message.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::directive::separate;
use super::super::error::{Location, ScriptResult, quoted};
use super::super::syntax::{ScriptValue, Tree, parse_separator};
use super::super::text::prefix::{self, MessageEdit, PrefixPosition, TextPrefix};
use super::super::text::{args, roles};
use super::arguments::CallSyntax;
use super::chain::run_chain;
use super::dialogue::{Dialogue, DialogueMessage, MessageBody, RenderMode, read_parts};
use super::eval::evaluate_or_text;
use super::frame::{Frame, ScriptRun};
use super::render::render_message;
use avocet_core::i18n::script_run as words;

impl ScriptRun {
    /// Runs one instruction.
    pub fn run_instruction<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        node: &'a ScriptValue,
    ) -> BoxFuture<'a, ScriptResult> {
        // What most instructions do not need is a future of its own, so that this one stays small.
        Box::pin(async move {
            self.limits.count_instruction()?;
            match &node.tree {
                Tree::Text(text) if node.tag.is_none() => run_text(self, frame, text, node).await,
                Tree::Map(pairs) => run_map(self, frame, node, pairs).await,
                Tree::List(_) => Err(words::LIST_ITEM.into()),
                // A number or `true` on a line of its own is not a message.
                Tree::Text(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => Ok(()),
            }
        })
    }

    /// The instructions of a block: a list, or a single one.
    pub async fn run_block(&mut self, frame: &mut Frame, node: &ScriptValue) -> ScriptResult {
        match &node.tree {
            Tree::List(items) => {
                for item in items {
                    frame.position = item.position;
                    let came = self.run_instruction(frame, item).await;
                    came.map_err(|halt| halt.or_location(&frame.file, item.position))?;
                }
                Ok(())
            }
            Tree::Null => Ok(()),
            _ => self.run_instruction(frame, node).await,
        }
    }
}

async fn run_text(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
    node: &ScriptValue,
) -> ScriptResult {
    if text.starts_with('$')
        && let Some(call) = args::parse_call(text)
    {
        let called = CallSyntax::from(&call);
        return run.run_directive(frame, called).await;
    }
    if text.starts_with("->") {
        return Box::pin(run_chain(run, frame, text)).await;
    }
    if let Some(forced) = parse_separator(text) {
        return Box::pin(separate(run, frame, forced)).await;
    }
    if let Some(expression) = text.strip_prefix("?=") {
        run.flush_placeholders(frame).await?;
        frame.values.latest = Box::pin(evaluate_or_text(run, frame, expression, text)).await?;
        return Ok(());
    }
    Box::pin(add_message(run, frame, None, &ScriptValue::text(text, node.position))).await
}

async fn run_map(
    run: &mut ScriptRun,
    frame: &mut Frame,
    node: &ScriptValue,
    pairs: &[(ScriptValue, ScriptValue)],
) -> ScriptResult {
    if let Some(called) = split_directive(pairs) {
        let (key, head, more) = called;
        let call = args::parse_call(key).ok_or_else(|| words::NO_CALL.with("name", quoted(key)))?;
        let called = CallSyntax { head, other_keys: &more, ..CallSyntax::from(&call) };
        return run.run_directive(frame, called).await;
    }
    match pairs {
        [(key, content)] => {
            let role = key.key_text().unwrap_or_default();
            Box::pin(add_message(run, frame, Some(&role), content)).await
        }
        _ => match (node.get("role").and_then(ScriptValue::key_text), node.get("content")) {
            (Some(role), Some(content)) => {
                Box::pin(add_message(run, frame, Some(&role), content)).await
            }
            _ => {
                let keys: Vec<String> =
                    pairs.iter().filter_map(|(key, _)| key.key_text()).collect();
                Err(words::UNKNOWN_OBJECT.with("keys", quoted(&keys.join(", "))).into())
            }
        },
    }
}

/// One message: from a role, or from the user if no role is named.
async fn add_message(
    run: &mut ScriptRun,
    frame: &mut Frame,
    key: Option<&str>,
    content: &ScriptValue,
) -> ScriptResult {
    let (role, to) = roles::parse_key(key.unwrap_or("user"));
    if role.is_empty() {
        return Err(words::NO_ROLE.into());
    }
    let parts = match &content.tree {
        Tree::List(_) => content.to_value().as_array().and_then(|parts| read_parts(parts)),
        _ => None,
    };
    let (text, images) =
        parts.map_or((scalar_text(content), Vec::new()), |(text, images)| (Some(text), images));
    let Some(text) = text else {
        if role != "system" {
            return Err(words::CONTENT_NO_TEXT.with("role", quoted(role)).into());
        }
        let mut line = DialogueMessage::new(role, MessageBody::PendingParts(content.to_value()));
        line.location = Some(Location::new(&frame.file, content.position));
        return push_message(&mut frame.dialogue, line, None);
    };
    let (lead, rest) = prefix::read(&text, PrefixPosition::Message);
    let mut line = DialogueMessage::new(role, message_body(frame, &lead, rest));
    line.addressees = to;
    line.images = images;
    line.locals.clone_from(&frame.values.locals);
    line.location = Some(Location::new(&frame.file, content.position));
    let (edit, now) = match &lead {
        TextPrefix::Replace(edit) | TextPrefix::Insert(edit) => (Some(edit), edit.now),
        lead => (None, *lead == TextPrefix::Now),
    };
    let immediate = frame.values.option("formatStringStrategy");
    let immediate = immediate.as_ref().and_then(Value::as_str) == Some("Immediate");
    if now || (immediate && matches!(line.body, MessageBody::Pending { .. })) {
        run.flush_placeholders(frame).await?;
        render_message(run, frame, &mut line).await?;
    }
    match (&lead, edit) {
        (TextPrefix::Replace(_), Some(edit)) => {
            replace_message(&mut frame.dialogue, line, edit, key)
        }
        (_, edit) => push_message(&mut frame.dialogue, line, edit),
    }
}

fn replace_message(
    dialogue: &mut Dialogue,
    mut line: DialogueMessage,
    edit: &MessageEdit,
    key: Option<&str>,
) -> ScriptResult {
    let Some(at) = dialogue.resolve_index(edit.at.unwrap_or(-1)) else {
        let at = edit.at.unwrap_or(-1).to_string();
        return Err(words::NO_MESSAGE_AT.with("at", at).into());
    };
    let old = &mut dialogue.messages[at];
    line.role = match (&edit.role, key) {
        (Some(role), _) => role.clone(),
        (None, Some(_)) => line.role,
        (None, None) => old.role.clone(),
    };
    *old = line;
    Ok(())
}

fn push_message(
    dialogue: &mut Dialogue,
    mut line: DialogueMessage,
    edit: Option<&MessageEdit>,
) -> ScriptResult {
    dialogue.check_room()?;
    if let Some(role) = edit.and_then(|edit| edit.role.clone()) {
        line.role = role;
    }
    match edit.and_then(|edit| edit.at) {
        None => dialogue.push(line),
        Some(at) => {
            let length = i64::try_from(dialogue.messages.len()).unwrap_or(i64::MAX);
            let at = if at < 0 { (length + at).max(0) } else { at.min(length) };
            dialogue.messages.insert(usize::try_from(at).unwrap_or(0), line);
        }
    }
    Ok(())
}

/// The key that is a call, its value, and the other keys.
type DirectiveParts<'a> =
    (&'a str, Option<&'a ScriptValue>, Vec<(&'a ScriptValue, &'a ScriptValue)>);

fn split_directive(pairs: &[(ScriptValue, ScriptValue)]) -> Option<DirectiveParts<'_>> {
    let (at, key) = pairs.iter().enumerate().find_map(|(at, (key, value))| {
        let name = key.as_text()?;
        let is = name.starts_with('$') || value.as_text() == Some("$tool");
        is.then_some((at, name))
    })?;
    let key = if key.starts_with('$') { key } else { "$tool" };
    let head = pairs.get(at).map(|(_, value)| value);
    let more = pairs.iter().enumerate().filter(|(other, _)| *other != at);
    Some((key, head, more.map(|(_, (key, value))| (key, value)).collect()))
}

/// The text of a message; a number or `true` counts as one here.
fn scalar_text(node: &ScriptValue) -> Option<String> {
    match &node.tree {
        Tree::Text(text) => Some(text.clone()),
        Tree::Number(number) => Some(number.to_string()),
        Tree::Bool(is) => Some(is.to_string()),
        Tree::Null => Some(String::new()),
        Tree::List(_) | Tree::Map(_) => None,
    }
}

fn message_body(frame: &Frame, lead: &TextPrefix, text: &str) -> MessageBody {
    let raw = frame.values.option("formatStringStrategy");
    let raw = raw.as_ref().and_then(Value::as_str) == Some("Raw");
    let how = match lead {
        TextPrefix::Raw => return DialogueMessage::rendered("", text).body,
        TextPrefix::Expression => RenderMode::Expression,
        TextPrefix::Replace(edit) | TextPrefix::Insert(edit) if raw && !edit.now => {
            RenderMode::Marks
        }
        TextPrefix::NoPrefix if raw => RenderMode::Marks,
        TextPrefix::NoPrefix | TextPrefix::Now | TextPrefix::Replace(_) | TextPrefix::Insert(_) => {
            RenderMode::Template
        }
    };
    MessageBody::Pending { text: text.to_owned(), how }
}
