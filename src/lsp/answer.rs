//! Reads what a server answers to a question, as text for the model.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;

use super::answer_context::AnswerContext;
use super::diagnostic::{clean_line, clean_text};
use super::document::path_of;
use super::edits;
use super::question::CodeAnswer;
use avocet_core::i18n::{LocalizedText, lsp as phrases};
use avocet_safety::tools::CodeLookup;

const MAX_LINES: usize = 200;
const MAX_LINE: usize = 300;
const MAX_HOVER: usize = 8000;
const MAX_DEPTH: usize = 8;

#[rustfmt::skip]
const KINDS: [&str; 26] = [
    "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor",
    "enum", "interface", "function", "variable", "constant", "string", "number", "boolean", "array",
    "object", "key", "null", "variant", "struct", "event", "operator", "type parameter",
];

impl AnswerContext {
    /// Reads an answer. Blocks, since it shows lines of files.
    ///
    /// # Errors
    /// There is nothing to say, or a change cannot be made.
    pub fn read(&self, result: &Value) -> Result<CodeAnswer, LocalizedText> {
        let lines = match self.task.lookup {
            CodeLookup::Rename => return edits::diff_of(result, self).map(CodeAnswer::Edit),
            CodeLookup::Hover => return hover(result).map(CodeAnswer::Text),
            CodeLookup::Symbols => self.symbols(result),
            CodeLookup::Definition | CodeLookup::References => self.locations(result),
        };
        let total = lines.len();
        if total == 0 {
            return Err(phrases::NOTHING_FOUND.into());
        }
        let mut text = lines.into_iter().take(MAX_LINES).collect::<Vec<_>>().join("\n");
        if total > MAX_LINES {
            text.push_str(&format!("\n… {} more", total - MAX_LINES));
        }
        Ok(CodeAnswer::Text(text))
    }

    fn symbols(&self, result: &Value) -> Vec<String> {
        let mut lines = Vec::new();
        for symbol in result.as_array().into_iter().flatten().take(10 * MAX_LINES) {
            match symbol.pointer("/location/uri").and_then(Value::as_str).and_then(path_of) {
                Some(path) => {
                    if let Some(shown) = self.shown(&path) {
                        let place = format!("{}:", shown.display());
                        lines.push(symbol_line(symbol, &place, 0));
                    }
                }
                None => add_symbols(symbol, 0, &mut lines),
            }
        }
        lines
    }

    /// The lines of places, those outside of the workspace only counted.
    fn locations(&self, result: &Value) -> Vec<String> {
        let all: Vec<&Value> = match result {
            Value::Array(all) => all.iter().collect(),
            Value::Null => Vec::new(),
            one => vec![one],
        };
        let mut outside = 0;
        let mut texts: HashMap<PathBuf, Option<(PathBuf, String)>> = HashMap::new();
        let mut lines = Vec::new();
        for place in all {
            let uri = place.get("uri").or_else(|| place.get("targetUri")).and_then(Value::as_str);
            let range = place.get("targetSelectionRange").or_else(|| place.get("range"));
            let number = range.and_then(|range| range.pointer("/start/line")?.as_u64());
            let Some(path) = uri.and_then(path_of) else { continue };
            let found = texts.entry(path).or_insert_with_key(|path| self.read_file(path));
            let Some((shown, text)) =
                found.as_ref().and_then(|(real, text)| Some((self.shown(real)?, text)))
            else {
                outside += 1;
                continue;
            };
            let number = usize::try_from(number.unwrap_or_default()).unwrap_or_default();
            let line = text.lines().nth(number).unwrap_or_default().trim();
            let line = clean_line(line, MAX_LINE);
            lines.push(format!("{}:{}: {line}", shown.display(), number + 1));
        }
        if outside > 0 {
            lines.push(format!("outside of the workspace: {outside}"));
        }
        lines
    }
}

/// A symbol with those inside it.
fn add_symbols(symbol: &Value, depth: usize, lines: &mut Vec<String>) {
    if depth > MAX_DEPTH || lines.len() > 10 * MAX_LINES {
        return;
    }
    lines.push(symbol_line(symbol, "", depth));
    let inside = symbol.get("children").and_then(Value::as_array);
    inside.into_iter().flatten().for_each(|inner| add_symbols(inner, depth + 1, lines));
}

fn symbol_line(symbol: &Value, place: &str, depth: usize) -> String {
    let text = |key: &str| {
        clean_line(symbol.get(key).and_then(Value::as_str).unwrap_or_default(), MAX_LINE)
    };
    let kind = symbol.get("kind").and_then(Value::as_u64).and_then(|kind| kind.checked_sub(1));
    let kind = kind.and_then(|kind| KINDS.get(usize::try_from(kind).ok()?)).unwrap_or(&"symbol");
    let range = symbol.get("range").or_else(|| symbol.pointer("/location/range"));
    let line =
        |end: &str| range.and_then(|range| range.pointer(end)?.as_u64()).map_or(0, |n| n + 1);
    let first = line("/start/line");
    let last = line("/end/line");
    let lines = if last > first { format!("{first}-{last}") } else { first.to_string() };
    let container = text("containerName");
    let container = if container.is_empty() { container } else { format!(" in {container}") };
    format!("{}{place}{lines}: {kind} {}{container}", "  ".repeat(depth), text("name"))
}

fn hover(result: &Value) -> Result<String, LocalizedText> {
    let part = |part: &Value| match part {
        Value::String(text) => text.clone(),
        part => part.get("value").and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
    let text = match result.get("contents") {
        Some(Value::Array(parts)) => parts.iter().map(part).collect::<Vec<_>>().join("\n\n"),
        Some(one) => part(one),
        None => String::new(),
    };
    let text = clean_text(text.trim(), MAX_HOVER);
    if text.is_empty() { Err(phrases::NOTHING_FOUND.into()) } else { Ok(text) }
}
