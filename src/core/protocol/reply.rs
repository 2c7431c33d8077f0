//! The model's reply (001 §4–6): its forms, and how it is found in a text.
//!
//! [`read`] tries one source after the other until it has one JSON object: the whole text, a fenced
//! block, the first `{` to its brace, the same repaired. This file finds the object; `strict`
//! parses text to data, `decode` decodes data to a [`Reply`] or names the invalid field. Nothing in
//! here runs or judges anything.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::strict::ReplyError;
use super::step::Requires;
use super::{StepAction, ToolCall};
use crate::i18n::{LocalizedText, protocol as phrases};

mod decode;
mod fields;
mod patch;
mod repair;
mod schema;
mod strict;
#[cfg(test)]
mod tests;
mod text_calls;
mod time;
mod tolerant;
mod tool_names;
mod translated;

pub use schema::{schema, shared_schema, shared_short_schema, short_schema};
pub use text_calls::{TextCall, TextCalls, breaks_off, text_calls};
pub use time::seconds;
pub use tool_names::{
    call_answer, is_thought, is_translated, tool_name, wire_name, with_wire_names,
};

/// Longest reply that is parsed, in bytes.
pub const MAX_LENGTH: usize = 4 * 1024 * 1024;
/// Maximum number of commands in one reply.
pub const MAX_COMMANDS: usize = 64;

/// A valid reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Reply {
    Chat { message: String, markdown: bool, suggestions: Vec<String> },
    Cmd { message: String, cwd: Option<String>, commands: Vec<Proposal>, expected: String },
    Error { message: String },
}

/// One element of `data.commands`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub work: StepAction,
    pub requires: Requires,
    /// The folder of this step alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// A step as a call of a tool proposes it.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeStep {
    pub work: StepAction,
    /// The folder to run a program in.
    pub cwd: Option<String>,
    /// How long it may take, and whether it is to run on.
    pub requires: Requires,
}

/// Reads a call of a tool. Arguments that are no JSON object are not repaired: a lost part could
/// make another step of it.
///
/// # Errors
/// What is wrong with the arguments, for the model.
pub fn read_call(call: &ToolCall) -> Result<NativeStep, LocalizedText> {
    let given = call.arguments.trim();
    let arguments = if matches!(given, "" | "null") { "{}" } else { given };
    let input = strict::object(arguments).map_err(|fault| {
        let say = match fault {
            ReplyError::NotAnObject => phrases::ARGUMENTS.into(),
            other => phrases::ARGUMENTS_WHY.with("why", other.localized()),
        };
        say.with("tool", wire_name(&call.name))
    })?;
    decode::call(&tool_name(&call.name), &input)
}

/// Some models send a bare value instead of an object of arguments: a whole patch, a command line, a
/// path, or the object encoded as a string, or with marks around it. Returns the object that is meant,
/// with a bare value in `field`. A text without quotes may have been cut off, so only a complete patch
/// counts.
pub fn object_arguments(arguments: &str, field: Option<&str>) -> Option<String> {
    let arguments = arguments.trim();
    let object = match serde_json::from_str::<Value>(arguments) {
        Ok(value) => object_input(&value, field)?,
        Err(_) if patch::is_whole(arguments) => {
            let field = field?;
            json!({ field: arguments })
        }
        Err(_) => Value::Object(sole_object(arguments)?),
    };
    Some(object.to_string())
}

/// The one object of a text that has nothing else but a fence or marks of a chat template around it,
/// or the same object again.
fn sole_object(text: &str) -> Option<Map<String, Value>> {
    let mut objects = brace_blocks(text).map(|(block, _)| strict::object(block).ok());
    let first = objects.next()??;
    let is_sole = objects.all(|other| other.as_ref() == Some(&first));
    let around = brace_blocks(text)
        .fold(text.to_owned(), |around, (block, _)| around.replacen(block, " ", 1));
    let is_mark = |word: &str| {
        matches!(word, "```" | "```json" | ";") || word.starts_with('<') && word.ends_with('>')
    };
    (is_sole && around.split_whitespace().all(is_mark)).then_some(first)
}

/// The object that a bare value means: the one it encodes as a string, or one with the value in
/// `field`. `None`: it is an object already, or means none.
pub fn object_input(value: &Value, field: Option<&str>) -> Option<Value> {
    match value {
        Value::String(text) if text.trim_start().starts_with('{') => {
            strict::object(text).ok().map(Value::Object)
        }
        Value::String(text) if text.starts_with("\"{") => {
            object_input(&serde_json::from_str(text).ok()?, None)
        }
        Value::Object(_) | Value::Null | Value::Bool(_) => None,
        value => field.map(|field| json!({ field: value })),
    }
}

/// How the object was found in the model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyRepair {
    Whole,
    Fenced,
    /// Between the first `{` and its matching `}`.
    Braces,
    /// After repairing broken JSON: its commands must be asked about.
    Repaired,
}

/// A parsed reply, or its error.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedReply {
    Valid {
        reply: Reply,
        found: ReplyRepair,
    },
    /// An object, but not a reply: `fault` names the field and the problem.
    Invalid {
        fault: LocalizedText,
        text: String,
    },
    /// No object at all: the fallback of 001 §2, with the text as received.
    Fallback {
        text: String,
    },
}

impl ParsedReply {
    /// The error of an invalid reply; `None` for a valid one.
    pub fn error(&self) -> Option<LocalizedText> {
        match self {
            ParsedReply::Valid { .. } => None,
            ParsedReply::Invalid { fault, .. } => Some(fault.clone()),
            ParsedReply::Fallback { .. } => Some(phrases::NO_OBJECT.into()),
        }
    }
}

/// Reads a whole answer of the model.
///
/// ```
/// use avocet::protocol::reply::{ParsedReply, Reply, ReplyRepair, read};
///
/// let text = "Sure!\n```json\n{\"type\":\"chat\",\"message\":\"hi\"}\n```";
/// let ParsedReply::Valid { reply: Reply::Chat { message, .. }, found } = read(text) else {
///     panic!("not read");
/// };
/// assert_eq!((message.as_str(), found), ("hi", ReplyRepair::Fenced));
/// ```
pub fn read(text: &str) -> ParsedReply {
    if text.len() > MAX_LENGTH {
        let fault = phrases::TOO_LONG.with("bytes", text.len()).with("most", MAX_LENGTH);
        let kept = text.split_at(text.floor_char_boundary(MAX_LENGTH)).0;
        return ParsedReply::Invalid { fault, text: kept.to_owned() };
    }
    match find(after_reasoning(text)) {
        Search::Object(object, found) => decode_object(&object, found, text),
        Search::Invalid(fault) => ParsedReply::Invalid { fault, text: text.to_owned() },
        Search::NotFound => {
            let answer = Some(after_reasoning(text)).filter(|rest| !rest.is_empty());
            ParsedReply::Fallback { text: answer.unwrap_or(text).to_owned() }
        }
    }
}

/// The first JSON object in a text that is not a reply: the whole of it, a fenced block, or the
/// text between braces. Nothing is repaired.
pub fn first_object(text: &str) -> Option<Map<String, Value>> {
    let text = after_reasoning(text.get(..MAX_LENGTH).unwrap_or(text));
    let whole = strict::object(text).ok();
    whole
        .or_else(|| fenced_objects(text).find_map(|(_, block, _)| strict::object(block).ok()))
        .or_else(|| brace_blocks(text).find_map(|(block, _)| strict::object(block).ok()))
}

/// The object that represents a text which is not JSON (001 §2).
pub fn fallback_json(text: &str) -> Value {
    json!({
        "result": text,
        "_fallback": true,
        "_reason": "model_output_was_not_valid_json",
    })
}

/// The text after a leading `<think>` block, which some models put before the answer.
fn after_reasoning(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}').trim();
    match text.strip_prefix("<think>") {
        Some(thought) => thought.split_once("</think>").map_or("", |(_, rest)| rest.trim()),
        None => text,
    }
}

/// The result of the search for an object.
enum Search {
    Object(Map<String, Value>, ReplyRepair),
    Invalid(LocalizedText),
    NotFound,
}

fn find(text: &str) -> Search {
    match strict::object(text) {
        Ok(object) if !tolerant::is_like_reply(&object) => return Search::NotFound,
        Ok(object) => return Search::Object(object, ReplyRepair::Whole),
        Err(flaw) if flaw.is_final() => return Search::Invalid(flaw.localized()),
        Err(_) => {}
    }
    for (before, block, after) in fenced_objects(text) {
        match strict::object(block) {
            Ok(object) if !is_reply_here(&object, before, after) => {}
            Ok(_) if contains_reply(before) => return Search::Invalid(phrases::TWO_OBJECTS.into()),
            Ok(object) if contains_reply(after) => return two_objects(object, after),
            Ok(object) => return Search::Object(object, ReplyRepair::Fenced),
            Err(flaw) if flaw.is_final() => return Search::Invalid(flaw.localized()),
            Err(_) => {}
        }
    }
    for (block, after) in brace_blocks(text) {
        let before = text.split_at(text.len() - after.len() - block.len()).0;
        match strict::object(block) {
            Ok(object) if !is_reply_here(&object, before, after) => {}
            Ok(object) if contains_reply(after) => return two_objects(object, after),
            Ok(object) => return Search::Object(object, ReplyRepair::Braces),
            Err(flaw) if flaw.is_final() => return Search::Invalid(flaw.localized()),
            Err(_) => {}
        }
    }
    find_repaired(text)
}

fn decode_object(object: &Map<String, Value>, repair: ReplyRepair, text: &str) -> ParsedReply {
    if object.get("_fallback") == Some(&Value::Bool(true)) {
        let inner = object.get("result").and_then(Value::as_str).unwrap_or(text);
        return ParsedReply::Fallback { text: inner.to_owned() };
    }
    match decode::reply(object) {
        Ok(reply) => ParsedReply::Valid { reply, found: repair },
        Err(fault) => match tolerant::reply(object) {
            Some(reply) => ParsedReply::Valid { reply, found: ReplyRepair::Repaired },
            None => ParsedReply::Invalid { fault, text: text.to_owned() },
        },
    }
}

/// Of several replies that only say something the first counts.
fn two_objects(first: Map<String, Value>, after: &str) -> Search {
    let is_chat = |object: &_| matches!(decode::reply(object), Ok(Reply::Chat { .. }));
    let mut others = brace_blocks(after).filter_map(|(block, _)| strict::object(block).ok());
    if is_chat(&first) && others.all(|other| is_chat(&other)) {
        Search::Object(first, ReplyRepair::Repaired)
    } else {
        Search::Invalid(phrases::TWO_OBJECTS.into())
    }
}

/// Whether an object between these texts is the reply: with words around it, JSON is an example
/// unless it says itself that it is a reply.
fn is_reply_here(object: &Map<String, Value>, before: &str, after: &str) -> bool {
    let is_alone = [before, after].into_iter().all(|text| {
        let text = text.trim().trim_matches('`').trim();
        text.is_empty() || text == "json" || (text.starts_with('<') && text.ends_with('>'))
    });
    if is_alone { tolerant::is_like_reply(object) } else { tolerant::is_marked_reply(object) }
}

/// The last attempt. The result may have lost something, so it is marked; prose with a stray brace
/// becomes a meaningless object and counts as nothing.
fn find_repaired(text: &str) -> Search {
    let Some(broken) = broken_object(text) else { return Search::NotFound };
    let before = text.split_once('{').map_or("", |(before, _)| before);
    let Some(fixed) = repair::repair(broken) else {
        return Search::Invalid(ReplyError::TooDeep.localized());
    };
    match strict::object(&fixed) {
        Ok(object) if is_reply_here(&object, before, "") => {
            Search::Object(object, ReplyRepair::Repaired)
        }
        Err(flaw) if flaw.is_final() => Search::Invalid(flaw.localized()),
        Ok(_) | Err(_) => Search::NotFound,
    }
}

/// The part of the text to repair: from its first `{` to the matching brace, or to the end (or the
/// end of the surrounding fence) if there is none.
fn broken_object(text: &str) -> Option<&str> {
    let open = text.find('{')?;
    let (_, tail) = text.split_at_checked(open)?;
    match closing_brace(tail) {
        Some(end) => tail.get(..end),
        None => Some(tail.split_once("\n```").map_or(tail, |(inside, _)| inside)),
    }
}

fn contains_reply(text: &str) -> bool {
    brace_blocks(text).any(|(block, _)| {
        strict::object(block)
            .map_or_else(|flaw| flaw.is_final(), |object| tolerant::is_marked_reply(&object))
    })
}

/// Fenced blocks that begin with `{`, each with the text before and after it. A fence closes at the
/// start of a line, where a JSON string cannot continue.
fn fenced_objects(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(from..)?;
            let open = from + rest.find("```")?;
            let line = text.get(open..)?.find('\n').map(|at| open + at + 1)?;
            let body = text.get(line..)?;
            let close = if body.starts_with("```") { 0 } else { body.find("\n```")? + 1 };
            from = line + close + 3;
            let block = body.get(..close)?.trim();
            if block.starts_with('{') {
                return Some((text.get(..open)?, block, text.get(from..)?));
            }
        }
    })
}

/// The parts from a `{` to its matching brace, one after the other and never nested, each with the
/// text after it. Ends at a brace without a match.
fn brace_blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, tail) = rest.split_at_checked(rest.find('{')?)?;
        let (block, after) = tail.split_at_checked(closing_brace(tail)?)?;
        rest = after;
        Some((block, after))
    })
}

/// The end of the brace at the start of `text`, exclusive; strings are skipped.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;

    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
