//! `avocet config …`: what each answers, as text. Changing the file is
//! [`config::edit`](crate::config::edit)'s.

use std::path::Path;

use serde_json::json;

use super::args::Config;
use crate::config::edit::{self, EditError};
use crate::config::strict::Value;
use crate::config::{Layer, Loaded};
use crate::words::{Lang, Say, Spoken, cli as w};

/// What is written: an answer for standard output, a word for standard error.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Out(String),
    Told(Say),
}

/// Does what was asked. `file` is the user's settings file.
pub fn run(
    command: &Config,
    file: &Path,
    loaded: &Loaded,
    json: bool,
    lang: Lang,
) -> Result<Answer, EditError> {
    let shown = || file.display().to_string();
    match command {
        Config::Path => Ok(Answer::Out(format!("{}\n", shown()))),
        Config::Get { key: Some(key), place } => get(loaded, key, *place, json, lang),
        Config::Get { key: None, place } => Ok(Answer::Out(list(loaded, *place, json, lang))),
        Config::Set { key, value } => {
            let value = edit::set(file, key, value)?;
            let say = w::CONFIG_SET.with("key", key.as_str()).with("value", value.shown());
            Ok(Answer::Told(say.with("file", shown())))
        }
        Config::Unset { key } => {
            let word = match edit::unset(file, key)? {
                true => w::CONFIG_UNSET,
                false => w::CONFIG_WAS_UNSET,
            };
            Ok(Answer::Told(word.with("key", key.as_str()).with("file", shown())))
        }
    }
}

fn get(
    loaded: &Loaded,
    key: &str,
    place: bool,
    json: bool,
    lang: Lang,
) -> Result<Answer, EditError> {
    edit::find(key)?;
    let value = loaded.get(key);
    let layer = loaded.where_from(key);
    let text = match &value {
        _ if json => format!("{}\n", entry(key, value.as_ref(), &layer, lang)),
        Some(value) if place => format!("{}\t{}\n", value.shown(), layer.say().text(lang)),
        Some(value) => format!("{}\n", value.shown()),
        None => return Ok(Answer::Told(w::CONFIG_NO_VALUE.with("key", key))),
    };
    Ok(Answer::Out(text))
}

fn list(loaded: &Loaded, place: bool, json: bool, lang: Lang) -> String {
    let mut out = String::new();
    for (key, value, layer) in loaded.all() {
        out += &match (json, place) {
            (true, _) => format!("{}\n", entry(&key, Some(&value), &layer, lang)),
            (false, true) => {
                format!("{key} = {}\t{}\n", value.toml(), layer.say().text(lang))
            }
            (false, false) => format!("{key} = {}\n", value.toml()),
        };
    }
    out
}

fn entry(key: &str, value: Option<&Value>, layer: &Layer, lang: Lang) -> serde_json::Value {
    let value = value.map(|value| match value {
        Value::Text(text) => json!(text),
        Value::Flag(flag) => json!(flag),
        Value::Count(count) => json!(count),
        Value::Number(number) => json!(number),
        Value::List(items) => json!(items),
    });
    json!({ "key": key, "value": value, "from": layer.say().text(lang) })
}
