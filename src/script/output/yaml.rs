//! YAML of a reply as plain data. Tags and places are of no use here; scripts, which
//! have both, are read by `syntax`.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use crate::script::text::relaxed;

/// Deepest nesting, and most values of one document.
const DEEPEST: usize = 64;
const MOST: usize = 200_000;

/// The first document of a text, or why it is none. Aliases are refused: a few lines of
/// them can stand for more than fits into memory.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut count = 0;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        count += 1;
        if count > MOST || open.len() > DEEPEST {
            return Err("it is too large or nested too deep".to_owned());
        }
        let done = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style == ScalarStyle::Plain),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Map(map, _)) => Value::Object(map),
                None => continue,
            },
            Event::Alias(_) => return Err("aliases are not read".to_owned()),
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(done),
            Some(Open::List(items)) => items.push(done),
            Some(Open::Map(map, key)) => match key.take() {
                Some(key) => {
                    map.insert(key, done);
                }
                None => *key = Some(crate::script::template::print::text(&done)),
            },
        }
    }
    Ok(Value::Null)
}

enum Open {
    List(Vec<Value>),
    /// The key waits for its value.
    Map(Map<String, Value>, Option<String>),
}

fn scalar(text: &str, plain: bool) -> Value {
    match text {
        _ if !plain => Value::from(text),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => {
            relaxed::number(text).unwrap_or_else(|| Value::from(text))
        }
        _ => Value::from(text),
    }
}
