//! Directives for data that outlives a run: named values, and dialogues. Both are in the store of
//! `pack://`; a tool can be notified of a change (ISDK-097).

use serde_json::{Value, json};

use super::super::error::{CallResult, ScriptResult, quoted};
use super::super::host::PackKey;
use super::super::run::arguments::ArgValues;
use super::super::run::dialogue::DialogueMessage;
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::scope::text_of;
use super::super::run::tools::MemoryEvent;
use super::super::run::tools::run_memory_tools;
use avocet_core::i18n::script_run as phrases;

/// The collection of dialogues among the script's own values.
const CHATS: &str = "chats";

/// `pack://id?tbl=collection&db=name`; omitted parts default to the script's own.
pub fn pack_key(frame: &Frame, path: &str) -> Option<PackKey> {
    let rest = path.strip_prefix("pack://")?;
    let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
    let part = |name: &str| {
        let found =
            query.split('&').filter_map(|pair| pair.split_once('=')).find(|it| it.0 == name);
        found.map(|(_, value)| value.to_owned())
    };
    Some(key_with_parts(frame, id.to_owned(), part))
}

fn key_with_parts(frame: &Frame, id: String, part: impl Fn(&str) -> Option<String>) -> PackKey {
    PackKey {
        id,
        table: part("tbl").unwrap_or_else(|| {
            let origin = &frame.manifest.origin;
            origin.acts_for.as_ref().unwrap_or(&origin.id).clone()
        }),
        database: part("db").unwrap_or_else(|| default_database(frame)),
    }
}

fn default_database(frame: &Frame) -> String {
    frame.manifest.origin.folder.display().to_string()
}

/// The key a directive names: a `pack://` address, or an ID with `tbl` and `db` next to it.
fn key_from_args(frame: &Frame, values: &ArgValues) -> ScriptResult<PackKey> {
    let id = values.get_or_first("id").filter(|id| !id.is_object()).map(text_of);
    let id = id.filter(|id| !id.is_empty()).ok_or(phrases::KEEP_NEEDS)?;
    if let Some(key) = pack_key(frame, &id) {
        return Ok(key);
    }
    Ok(key_with_parts(frame, id, |name| values.get(name).map(text_of)))
}

/// `$remember: {id, value}` stores a value beyond the run.
pub async fn remember(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let key = key_from_args(frame, &args)?;
    let by_place = args.positional.get(1);
    let value = args.get("value").or(by_place).cloned().ok_or(phrases::KEEP_NEEDS)?;
    let before = run.host.store_value(key.clone(), Some(value.clone())).await?;
    let (what, before) = match before {
        None => (MemoryEvent::Added, Value::Null),
        Some(before) => (MemoryEvent::Updated, before),
    };
    if what == MemoryEvent::Added || before != value {
        let memory = json!({ "id": key.id, "value": value, "before": before });
        run_memory_tools(run, frame, what, memory).await?;
    }
    Ok(None)
}

/// `$forget: id` removes a value.
pub async fn forget(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let key = key_from_args(frame, &args)?;
    if let Some(before) = run.host.store_value(key.clone(), None).await? {
        let memory = json!({ "id": key.id, "value": before });
        run_memory_tools(run, frame, MemoryEvent::Removed, memory).await?;
    }
    Ok(None)
}

fn chats_key(frame: &Frame, values: &ArgValues) -> PackKey {
    let name = values.text("id").unwrap_or_default();
    key_with_parts(frame, format!("{CHATS}/{name}"), |_| None)
}

/// `$saveChats: name` saves the visible dialogue.
pub async fn save_chats(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    if run.host.is_sealed() {
        return Err(phrases::SEALED.with("name", quoted(frame.manifest.id())).into());
    }
    let key = chats_key(frame, &args);
    let of = |role: &str, text: String| json!({ "role": role, "content": text });
    let mut list = Vec::new();
    for line in frame.dialogue.visible() {
        list.push(of(&line.role, line.text()));
        list.extend(line.replies.iter().map(|(role, text)| of(role, text.clone())));
    }
    run.host.store_value(key, Some(Value::Array(list))).await?;
    Ok(None)
}

/// `$loadChats: name` inserts a saved dialogue; its value is the number of messages inserted.
pub async fn load_chats(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let key = chats_key(frame, &args);
    let name = key.id.clone();
    let list = match run.host.load_value(key).await? {
        None => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(phrases::CHATS_BROKEN.with("name", quoted(&name)).into()),
    };
    for message in &list {
        let part = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
        // Saved messages are not parsed again, whatever they contain.
        let line = DialogueMessage::rendered(part("role"), part("content"));
        frame.dialogue.push_checked(line)?;
    }
    Ok(Some(Value::from(list.len())))
}

/// `$abort` ends the running model call; the text received so far is the answer.
pub fn abort(frame: &mut Frame, _: ArgValues) -> CallResult {
    frame.dialogue.aborted = true;
    Ok(None)
}

/// `$tokenize: text` splits a text roughly as models do. Each model has its own tokens, and servers
/// do not report them: good for measuring, not for biases.
pub fn tokenize(_: &mut Frame, args: ArgValues) -> CallResult {
    let text = args.text("content").unwrap_or_default();
    Ok(Some(split_tokens(&text).into_iter().map(Value::from).collect()))
}

/// `$countTokens: text`, by the same measure.
pub fn count_tokens(_: &mut Frame, args: ArgValues) -> CallResult {
    let text = args.text("content").unwrap_or_default();
    Ok(Some(Value::from(split_tokens(&text).len())))
}

/// Longest piece of a word, and of a number, in characters.
const WORD: usize = 7;
const DIGITS: usize = 3;

/// Words with the space before them, numbers in groups of three digits, every other character by
/// itself.
fn split_tokens(text: &str) -> Vec<String> {
    #[derive(PartialEq, Clone, Copy)]
    enum CharKind {
        Letter,
        Digit,
        Blank,
        Sign,
    }
    let is = |c: char| match c {
        c if c.is_ascii_digit() => CharKind::Digit,
        c if c.is_alphabetic() && u32::from(c) < 0x2E80 => CharKind::Letter,
        c if c.is_whitespace() => CharKind::Blank,
        _ => CharKind::Sign,
    };
    let mut out: Vec<String> = Vec::new();
    let mut last = CharKind::Sign;
    let mut length = 0;
    for c in text.chars() {
        let now = is(c);
        let grows = match (last, now) {
            (CharKind::Letter, CharKind::Letter) => length < WORD,
            (CharKind::Digit, CharKind::Digit) => length < DIGITS,
            (CharKind::Blank, CharKind::Letter) => out.last().is_some_and(|piece| piece == " "),
            (CharKind::Blank, CharKind::Blank) => true,
            _ => false,
        };
        length = if grows { length + 1 } else { 1 };
        match out.last_mut().filter(|_| grows) {
            Some(piece) => piece.push(c),
            None => out.push(c.to_string()),
        }
        last = now;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_roughly_as_models_do() {
        assert_eq!(split_tokens("Hello big world!"), ["Hello", " big", " world", "!"]);
        assert_eq!(split_tokens("12345 你好"), ["123", "45", " ", "你", "好"]);
        assert_eq!(split_tokens("internationally"), ["interna", "tionall", "y"]);
        assert_eq!(split_tokens(""), [] as [&str; 0]);
    }
}
