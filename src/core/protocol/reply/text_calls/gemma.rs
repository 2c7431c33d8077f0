//! Parses calls as FunctionGemma writes them: `call:exec{program:<escape>ls<escape>,n:1}`.

use super::parts::{TextCall, named};

/// What begins and ends a text.
const QUOTE: &str = "<escape>";

pub(super) fn call(body: &str) -> Option<Vec<TextCall>> {
    let (name, mut rest) = body.strip_prefix("call:")?.split_at_checked(body.find('{')? - 5)?;
    let mut json = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix(QUOTE) {
            let (text, after) = quoted.split_once(QUOTE)?;
            json.push_str(&serde_json::Value::from(text).to_string());
            rest = after;
        } else if c.is_alphabetic() || c == '_' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let (word, after) = rest.split_at(rest.find(|c| !is_part(c))?);
            let is_key = after.trim_start().starts_with(':');
            json.push_str(&if is_key { format!("\"{word}\"") } else { word.to_owned() });
            rest = after;
        } else {
            json.push(c);
            rest = rest.get(c.len_utf8()..)?;
        }
    }
    named(name, serde_json::from_str(&json).ok()?)
}
