//! Parses the text of a script to a tree: the settings at its head, and the body as a list of
//! instructions. Every node knows its place.
//!
//! A script is not YAML as a whole: `lines` turns its lines into one YAML sequence, and `tree`
//! parses that. `shape` and `run` define what the nodes mean.

use serde_json::Value;

use super::error::{LocatedError, Location, SourcePosition};
use avocet_core::i18n::{LocalizedText, script_run as phrases};

mod lines;
mod tree;

#[cfg(test)]
mod tests;

pub use lines::parse_separator;
pub use tree::{MAX_DEPTH, ScriptValue, Tree};

/// Largest script, in bytes.
pub const MAX_BYTES: usize = 4 << 20;

/// A script as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The map at the head; empty if there is none.
    pub front_matter: ScriptValue,
    /// The instructions in order, without comments and empty items.
    pub body: Vec<ScriptValue>,
}

/// Parses a script. `file` names it in messages.
pub fn parse(file: &str, text: &str) -> Result<Document, LocatedError> {
    if text.len() > MAX_BYTES {
        let what = phrases::TOO_LONG.with("most", MAX_BYTES >> 20);
        return Err(LocatedError::with_location(
            what,
            Location::new(file, SourcePosition { line: 1, column: 1 }),
        ));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let parts = lines::split(&text);
    let front = match parts.front_matter {
        Some((above, yaml)) => {
            let front =
                tree::read(&yaml, &|place| SourcePosition { line: place.line + above, ..place })
                    .map_err(|(what, place)| {
                        LocatedError::with_location(what, Location::new(file, place))
                    })?;
            match front.tree {
                Tree::Null => ScriptValue { tree: Tree::Map(Vec::new()), ..front },
                Tree::Map(_) => front,
                _ => {
                    let location = Location::new(file, front.position);
                    return Err(LocatedError::with_location(phrases::FRONT_NO_MAP, location));
                }
            }
        }
        None => ScriptValue::new(Tree::Map(Vec::new()), SourcePosition { line: 1, column: 1 }),
    };
    let prepared = lines::prepare(&parts.body, parts.lines_above);
    let read =
        |body: &lines::PreparedBody| tree::read(&body.yaml, &|place| body.source_position(place));
    let quoted = || read(&lines::prepare_with_quotes(&parts.body, parts.lines_above));
    let body = read(&prepared)
        .or_else(|fault| quoted().map_err(|_| fault))
        .map_err(|(what, place)| body_error(what, place, &text, parts.unclosed))
        .map_err(|(what, place)| LocatedError::with_location(what, Location::new(file, place)))?;
    let body = match body.tree {
        Tree::Null => Vec::new(),
        Tree::List(items) => items,
        _ => {
            return Err(LocatedError::with_location(
                phrases::BODY_NO_LIST,
                Location::new(file, body.position),
            ));
        }
    };
    let is_something = |value: &ScriptValue| value.tree != Tree::Null || value.tag.is_some();
    Ok(Document { front_matter: front, body: body.into_iter().filter(is_something).collect() })
}

/// Why a body is not YAML. Settings without an end are no body, and the end of the text is in its
/// last line.
fn body_error(
    localized_text: LocalizedText,
    position: SourcePosition,
    text: &str,
    unclosed: Option<u32>,
) -> (LocalizedText, SourcePosition) {
    if let Some(line) = unclosed {
        return (phrases::HEAD_NOT_CLOSED.into(), SourcePosition { line, column: 1 });
    }
    let last = text.trim_end().lines().count().max(1);
    let last = u32::try_from(last).unwrap_or(u32::MAX);
    if position.line > last {
        (localized_text, SourcePosition { line: last, column: 1 })
    } else {
        (localized_text, position)
    }
}

/// Parses one YAML value without positions, as a model writes it; the error gives the reason.
pub fn parse_yaml(text: &str) -> Result<Value, LocalizedText> {
    tree::read(text, &|place| place).map(|node| node.to_value()).map_err(|(why, _)| why)
}
