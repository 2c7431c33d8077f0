//! One instruction: a directive, an expression, a chain, or a message.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::directive::separate;
use super::super::error::{Location, ScriptResult, quoted};
use super::super::settings::no_text_error;
use super::super::syntax::{ScriptValue, Tree, parse_separator};
use super::super::text::prefix::{self, MessageEdit, PrefixPosition, TextPrefix};
use super::super::text::{args, roles};
use super::arguments::CallSyntax;
use super::chain::run_chain;
use super::dialogue::{Dialogue, DialogueMessage, MessageBody, RenderMode, read_parts};
use super::frame::{Frame, ScriptRun};
use super::render::{render_message, writes_sign};
use avocet_core::i18n::script_run as phrases;

impl ScriptRun {
    /// Runs one instruction.
    pub fn run_instruction<'a>(
        &'a mut self,
        frame: &'a mut Frame,
        value: &'a ScriptValue,
    ) -> BoxFuture<'a, ScriptResult> {
        // What most instructions do not need is a future of its own, so that this one stays small.
        Box::pin(async move {
            self.limits.count_instruction()?;
            match &value.tree {
                Tree::Text(text) if value.tag.is_none() => run_text(self, frame, text, value).await,
                Tree::Map(pairs) => run_map(self, frame, value, pairs).await,
                Tree::List(_) => Err(phrases::LIST_ITEM.into()),
                // A number or `true` on a line of its own is not a message.
                Tree::Text(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => Ok(()),
            }
        })
    }

    /// The instructions of a block: a list, or a single one.
    pub async fn run_block(&mut self, frame: &mut Frame, value: &ScriptValue) -> ScriptResult {
        match &value.tree {
            Tree::List(items) => {
                for item in items {
                    frame.position = item.position;
                    let came = self.run_instruction(frame, item).await;
                    came.map_err(|halt| halt.or_location(&frame.file, item.position))?;
                }
                Ok(())
            }
            Tree::Null => Ok(()),
            _ => self.run_instruction(frame, value).await,
        }
    }
}

async fn run_text(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
    value: &ScriptValue,
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
    let position = value.position;
    if let Some(expression) = text.strip_prefix("?=") {
        run.flush_placeholders(frame).await?;
        let value = Box::pin(run.evaluate_or_note(frame, expression)).await?;
        frame.values.latest = match value {
            // A text with `#` or `!` becomes a message, which is rendered at once.
            Some(Value::String(said))
                if ['#', '!']
                    .into_iter()
                    .any(|sign| said.starts_with(sign) && writes_sign(expression, sign)) =>
            {
                let message = ScriptValue::text(&said, position);
                return Box::pin(add_message(run, frame, None, &message)).await;
            }
            Some(value) => value,
            None => Value::String(text.to_owned()),
        };
        return Ok(());
    }
    Box::pin(add_message(run, frame, None, &ScriptValue::text(text, position))).await
}

async fn run_map(
    run: &mut ScriptRun,
    frame: &mut Frame,
    value: &ScriptValue,
    pairs: &[(ScriptValue, ScriptValue)],
) -> ScriptResult {
    if let Some(called) = split_directive(pairs) {
        let (key, head, more) = called;
        let call =
            args::parse_call(key).ok_or_else(|| phrases::NO_CALL.with("name", quoted(key)))?;
        let called = CallSyntax { head, other_keys: &more, ..CallSyntax::from(&call) };
        return run.run_directive(frame, called).await;
    }
    match pairs {
        [(key, content)] => {
            let role = key.key_text().unwrap_or_default();
            Box::pin(add_message(run, frame, Some(&role), content)).await
        }
        _ => match (value.get("role").and_then(ScriptValue::key_text), value.get("content")) {
            (Some(role), Some(content)) => {
                Box::pin(add_message(run, frame, Some(&role), content)).await
            }
            _ => {
                let keys: Vec<String> =
                    pairs.iter().filter_map(|(key, _)| key.key_text()).collect();
                Err(phrases::UNKNOWN_OBJECT.with("keys", quoted(&keys.join(", "))).into())
            }
        },
    }
}

/// One message: from a role, or from the user if no role is named.
async fn add_message(
    run: &mut ScriptRun,
    frame: &mut Frame,
    key: Option<&str>,
    value: &ScriptValue,
) -> ScriptResult {
    let (role, to) = roles::parse_key(key.unwrap_or("user"));
    if role.is_empty() {
        return Err(phrases::NO_ROLE.into());
    }
    let parts = match &value.tree {
        Tree::List(_) => value.to_value().as_array().and_then(|parts| read_parts(parts)),
        _ => None,
    };
    let (text, images) =
        parts.map_or((scalar_text(value), Vec::new()), |(text, images)| (Some(text), images));
    let Some(text) = text else {
        if role != "system" {
            return Err(no_text_error(role).into());
        }
        let mut message = DialogueMessage::new(role, MessageBody::PendingParts(value.to_value()));
        message.location = Some(Location::new(&frame.file, value.position));
        return push_message(&mut frame.dialogue, message, None);
    };
    let (lead, rest) = prefix::parse_prefix(&text, PrefixPosition::Message);
    let mut message = DialogueMessage::new(role, message_body(frame, role, &lead, rest));
    message.addressees = to;
    message.images = images;
    message.locals.clone_from(&frame.values.locals);
    message.location = Some(Location::new(&frame.file, value.position));
    let (edit, now) = match &lead {
        TextPrefix::Replace(edit) | TextPrefix::Insert(edit) => (Some(edit), edit.now),
        lead => (None, *lead == TextPrefix::Now),
    };
    let immediate = frame.values.option("formatStringStrategy");
    let immediate = immediate.as_ref().and_then(Value::as_str) == Some("Immediate");
    if now || (immediate && matches!(message.body, MessageBody::Pending { .. })) {
        run.flush_placeholders(frame).await?;
        render_message(run, frame, &mut message).await?;
    }
    match (&lead, edit) {
        (TextPrefix::Replace(_), Some(edit)) => {
            replace_message(&mut frame.dialogue, message, edit, key)
        }
        (_, edit) => push_message(&mut frame.dialogue, message, edit),
    }
}

fn replace_message(
    dialogue: &mut Dialogue,
    mut message: DialogueMessage,
    edit: &MessageEdit,
    key: Option<&str>,
) -> ScriptResult {
    let Some(at) = dialogue.resolve_index(edit.at.unwrap_or(-1)) else {
        let at = edit.at.unwrap_or(-1).to_string();
        return Err(phrases::NO_MESSAGE_AT.with("at", at).into());
    };
    let old = &mut dialogue.messages[at];
    message.role = match (&edit.role, key) {
        (Some(role), _) => role.clone(),
        (None, Some(_)) => message.role,
        (None, None) => old.role.clone(),
    };
    *old = message;
    Ok(())
}

fn push_message(
    dialogue: &mut Dialogue,
    mut message: DialogueMessage,
    edit: Option<&MessageEdit>,
) -> ScriptResult {
    dialogue.check_room()?;
    if let Some(role) = edit.and_then(|edit| edit.role.clone()) {
        message.role = role;
    }
    match edit.and_then(|edit| edit.at) {
        None => dialogue.push(message),
        Some(at) => {
            let length = i64::try_from(dialogue.messages.len()).unwrap_or(i64::MAX);
            let at = if at < 0 { (length + at).max(0) } else { at.min(length) };
            dialogue.messages.insert(usize::try_from(at).unwrap_or(0), message);
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

/// The text of a message; a number and a boolean count as text, null as an empty one.
fn scalar_text(value: &ScriptValue) -> Option<String> {
    match &value.tree {
        Tree::Text(text) => Some(text.clone()),
        Tree::Number(number) => Some(number.to_string()),
        Tree::Bool(is) => Some(is.to_string()),
        Tree::Null => Some(String::new()),
        Tree::List(_) | Tree::Map(_) => None,
    }
}

fn message_body(frame: &Frame, role: &str, prefix: &TextPrefix, text: &str) -> MessageBody {
    let raw = frame.values.option("formatStringStrategy");
    let raw = raw.as_ref().and_then(Value::as_str) == Some("Raw");
    // An answer is still asked for where its mark is.
    let unrendered = if role == "assistant" { RenderMode::Marks } else { RenderMode::Verbatim };
    let how = match prefix {
        TextPrefix::Raw => return DialogueMessage::rendered("", text).body,
        TextPrefix::Replace(edit) | TextPrefix::Insert(edit) if raw && !edit.now => unrendered,
        TextPrefix::NoPrefix if raw => unrendered,
        TextPrefix::Expression => RenderMode::Expression,
        TextPrefix::NoPrefix | TextPrefix::Now | TextPrefix::Replace(_) | TextPrefix::Insert(_) => {
            RenderMode::Template
        }
    };
    MessageBody::Pending { text: text.to_owned(), how }
}
