//! Edits a JSON text as a user would: unchanged parts keep their bytes, their place and
//! their indentation. (Editors of JSON with comments accept more than JSON, and set what was on one
//! line on several as soon as something is added.)

use std::ops::Range;

use serde_json::{Map, Value};

/// A value, its position in its text, and its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonNode {
    pub value: Value,
    span: Range<usize>,
    parts: Parts,
}

#[derive(Clone, Debug, PartialEq)]
enum Parts {
    None,
    Items(Vec<JsonNode>),
    Fields(Vec<Field>),
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: String,
    /// Where its quoted name begins.
    start: usize,
    node: JsonNode,
}

/// The maximum nesting depth of values.
const MAX_DEPTH: usize = 64;

/// Reads a text; the fault says what is wrong and where.
pub fn parse(text: &str) -> Result<JsonNode, String> {
    // The shared reader decides what is valid at all.
    serde_json::from_str::<Value>(text).map_err(|error| error.to_string())?;
    let mut parser = JsonParser { text, at: 0 };
    parser.node(0)
}

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
}

impl JsonParser<'_> {
    fn skip_blanks(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn node(&mut self, depth: usize) -> Result<JsonNode, String> {
        if depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels"));
        }
        self.skip_blanks();
        let start = self.at;
        match self.peek() {
            Some(b'{') => self.object(start, depth),
            Some(b'[') => self.array(start, depth),
            _ => {
                let end = self.leaf_end();
                let leaf = self.text.get(start..end).unwrap_or_default();
                let value = serde_json::from_str(leaf).map_err(|error| error.to_string())?;
                self.at = end;
                Ok(JsonNode { value, span: start..end, parts: Parts::None })
            }
        }
    }

    fn leaf_end(&self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = if rest.starts_with('"') {
            let mut escaped = false;
            let close = rest.bytes().skip(1).position(|byte| {
                let closes = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                closes
            });
            close.map_or(rest.len(), |at| at + 2)
        } else {
            rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(rest.len())
        };
        self.at + length
    }

    fn object(&mut self, start: usize, depth: usize) -> Result<JsonNode, String> {
        let mut fields = Vec::new();
        let mut map = Map::new();

        self.at += 1;
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'}') => break,
                Some(b',') => self.at += 1,
                Some(b'"') => {
                    let start = self.at;
                    let end = self.leaf_end();

                    let name: String =
                        serde_json::from_str(self.text.get(start..end).unwrap_or_default())
                            .map_err(|error| error.to_string())?;
                    self.at = end;
                    self.skip_blanks();
                    self.at += 1;
                    let node = self.node(depth + 1)?;
                    if map.insert(name.clone(), node.value.clone()).is_some() {
                        return Err(format!("the key {name:?} stands twice"));
                    }
                    fields.push(Field { name, start, node });
                }
                _ => return Err("an object is not closed".to_owned()),
            }
        }
        self.at += 1;
        let value = Value::Object(map);
        Ok(JsonNode { value, span: start..self.at, parts: Parts::Fields(fields) })
    }

    fn array(&mut self, start: usize, depth: usize) -> Result<JsonNode, String> {
        let mut nodes: Vec<JsonNode> = Vec::new();
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b']') => break,
                Some(b',') => self.at += 1,
                Some(_) => nodes.push(self.node(depth + 1)?),
                None => return Err("a list is not closed".to_owned()),
            }
        }
        self.at += 1;
        let value = nodes.iter().map(|item| item.value.clone()).collect();
        Ok(JsonNode { value, span: start..self.at, parts: Parts::Items(nodes) })
    }
}

/// The text with `new` in place of the old value.
pub fn rewrite(text: &str, node: &JsonNode, new: &Value) -> String {
    let writer =
        JsonWriter { text, unit: indent_unit(text), multiline: text.trim().contains('\n') };
    let before = text.get(..node.span.start).unwrap_or_default();
    let behind = text.get(node.span.end..).unwrap_or_default();
    format!("{before}{}{behind}", writer.node(node, new, ""))
}

/// One step of the text's indentation.
fn indent_unit(text: &str) -> String {
    let indents = text
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.get(..line.len() - line.trim_start().len()).unwrap_or_default());
    indents
        .filter(|indent| !indent.is_empty())
        .min_by_key(|indent| indent.len())
        .unwrap_or("  ")
        .to_owned()
}

struct JsonWriter<'a> {
    text: &'a str,
    unit: String,
    /// The text has more than one line.
    multiline: bool,
}

impl JsonWriter<'_> {
    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    fn node(&self, node: &JsonNode, new: &Value, indent: &str) -> String {
        if node.value == *new {
            return self.slice(node.span.clone()).to_owned();
        }
        match (&node.parts, new) {
            (Parts::Fields(fields), Value::Object(map))
                if !fields.is_empty() && !map.is_empty() =>
            {
                self.object(node, fields, map, indent)
            }
            (Parts::Items(items), Value::Array(list)) if !items.is_empty() && !list.is_empty() => {
                self.array(node, items, list, indent)
            }
            _ => self.write_new(new, indent),
        }
    }

    fn object(
        &self,
        node: &JsonNode,
        fields: &[Field],
        map: &Map<String, Value>,
        indent: &str,
    ) -> String {
        let inner = self.inner_indent(node, fields.first().map(|field| field.start), indent);
        let known = |name: &str| fields.iter().find(|field| field.name == name);
        let parts = map.iter().map(|(name, value)| match known(name) {
            Some(field) => {
                let lead = self.slice(field.start..field.node.span.start);
                format!("{lead}{}", self.node(&field.node, value, &inner))
            }
            None => format!("{}: {}", Value::from(name.as_str()), self.write_new(value, &inner)),
        });
        let parts: Vec<String> = parts.collect();
        let same = map.keys().eq(fields.iter().map(|field| &field.name));
        let spans = fields.iter().map(|field| field.start..field.node.span.end);
        self.join_parts(node, parts, same.then(|| spans.collect()), &inner, indent)
    }

    fn array(&self, old: &JsonNode, nodes: &[JsonNode], list: &[Value], indent: &str) -> String {
        let inner = self.inner_indent(old, nodes.first().map(|item| item.span.start), indent);
        let same = |pair: &(&JsonNode, &Value)| pair.0.value == *pair.1;
        let head = nodes.iter().zip(list).take_while(same).count();
        let rest = nodes.len().min(list.len()) - head;
        let tail = nodes.iter().rev().zip(list.iter().rev()).take(rest).take_while(same).count();
        let parts = list.iter().enumerate().map(|(at, value)| {
            let behind = list.len() - at;
            let old = match () {
                () if at < head || nodes.len() == list.len() => nodes.get(at),
                () if behind <= tail => nodes.get(nodes.len() - behind),
                () => None,
            };
            old.map_or_else(|| self.write_new(value, &inner), |old| self.node(old, value, &inner))
        });
        let parts: Vec<String> = parts.collect();
        let spans = nodes.iter().map(|item| item.span.clone());
        let spans = (nodes.len() == list.len()).then(|| spans.collect());
        self.join_parts(old, parts, spans, &inner, indent)
    }

    /// The indentation of the contents, taken from the first of them.
    fn inner_indent(&self, node: &JsonNode, first: Option<usize>, indent: &str) -> String {
        let before = first.map(|first| self.slice(node.span.start + 1..first));
        match before.and_then(|before| before.rsplit_once('\n')) {
            Some((_, own)) if own.trim().is_empty() => own.to_owned(),
            _ => format!("{indent}{}", self.unit),
        }
    }

    /// The parts put together: in the old one's gaps where there are as many, else as the
    /// old one was set, in one line or in several.
    fn join_parts(
        &self,
        node: &JsonNode,
        parts: Vec<String>,
        spans: Option<Vec<Range<usize>>>,
        inner: &str,
        indent: &str,
    ) -> String {
        if let Some(spans) = spans {
            let mut out = String::new();
            let mut done = node.span.start;

            for (part, span) in parts.iter().zip(spans) {
                out.push_str(self.slice(done..span.start));
                out.push_str(part);
                done = span.end;
            }
            out.push_str(self.slice(done..node.span.end));
            return out;
        }
        let whole = self.slice(node.span.clone());
        let open = whole.get(..1).unwrap_or_default();
        let close = whole.get(whole.len().saturating_sub(1)..).unwrap_or_default();
        let inside = whole.get(1..).unwrap_or_default();
        let blanks = inside.get(..inside.len() - inside.trim_start().len()).unwrap_or_default();
        if !blanks.contains('\n') {
            return format!("{open}{blanks}{}{blanks}{close}", parts.join(", "));
        }
        let end = if blanks.contains("\r\n") { "\r\n" } else { "\n" };
        let body = parts.join(&format!(",{end}{inner}"));
        format!("{open}{end}{inner}{body}{end}{indent}{close}")
    }

    /// A value that was not there before.
    fn write_new(&self, value: &Value, indent: &str) -> String {
        if !self.multiline {
            return value.to_string();
        }
        match value {
            Value::Object(map) if !map.is_empty() => {
                let inner = format!("{indent}{}", self.unit);
                let fields = map.iter().map(|(name, value)| {
                    format!(
                        "{inner}{}: {}",
                        Value::from(name.as_str()),
                        self.write_new(value, &inner)
                    )
                });
                format!("{{\n{}\n{indent}}}", fields.collect::<Vec<_>>().join(",\n"))
            }
            Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
                let inner = format!("{indent}{}", self.unit);
                let items =
                    list.iter().map(|item| format!("{inner}{}", self.write_new(item, &inner)));
                format!("[\n{}\n{indent}]", items.collect::<Vec<_>>().join(",\n"))
            }
            other => other.to_string(),
        }
    }
}

/// The keys of `new` in the order of `old`, then those that came.
pub fn with_key_order(old: &Value, new: Value) -> Value {
    match (old, new) {
        (Value::Object(old), Value::Object(mut new)) => {
            let mut out = Map::new();
            for (name, before) in old {
                if let Some(value) = new.get_mut(name).map(Value::take) {
                    out.insert(name.clone(), with_key_order(before, value));
                }
            }
            for (name, value) in new {
                if !out.contains_key(&name) {
                    out.insert(name, value);
                }
            }
            Value::Object(out)
        }
        (_, new) => new,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rewritten(text: &str, new: &Value) -> String {
        let old = parse(text).expect("valid");
        let new = with_key_order(&old.value, new.clone());
        rewrite(text, &old, &new)
    }

    const TEXT: &str = "{\n    \"z\": 1.50,\n    \"list\": [1, 2],\n    \"a\": {\"x\":\"\\u00e9\",  \"y\": 1e5}\n}\n";

    #[test]
    fn unchanged_parts_keep_their_bytes() {
        let new = json!({"a": {"x": "é", "y": 3}, "list": [1, 2], "z": 1.5});
        assert_eq!(rewritten(TEXT, &new), TEXT.replace("1e5", "3"));
        let new = json!({"a": {"x": "é", "y": 100000.0}, "list": [1, 2, 3], "z": 1.5});
        assert_eq!(rewritten(TEXT, &new), TEXT.replace("[1, 2]", "[1, 2, 3]"));
    }

    #[test]
    fn a_new_value_is_indented_like_the_rest() {
        let new =
            json!({"z": 1.5, "list": [1, 2], "a": {"x": "é", "y": 100000.0}, "n": {"k": [true]}});
        let expected =
            TEXT.replace("1e5}\n", "1e5},\n    \"n\": {\n        \"k\": [true]\n    }\n");
        assert_eq!(rewritten(TEXT, &new), expected);
        let new = json!({"list": [1, 2], "a": {"x": "é", "y": 100000.0}});
        assert_eq!(rewritten(TEXT, &new), TEXT.replace("    \"z\": 1.50,\n", ""));
        assert_eq!(
            rewritten("{\"a\":1}", &json!({"a": 1, "b": {"c": 2}})),
            "{\"a\":1, \"b\": {\"c\":2}}"
        );
    }

    #[test]
    fn anything_but_plain_json_is_refused() {
        for text in ["{\"a\":1,\"a\":2}", "{\"a\":1,}", "// c\n{}", "{", "", &"[".repeat(500)] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
