//! Parses plain data as users and models write it: JSON, with unquoted keys and words, single
//! quotes, comments and extra commas. Nothing is evaluated, so it is the right parser for input
//! from outside the script.

use serde_json::{Map, Number, Value};

use super::delimiters::{leading_word, push_escape};

/// Deepest nesting that is parsed.
const DEPTH: usize = 64;

/// Parses one value that fills the whole text; `None` if it is not plain data.
pub fn read(text: &str) -> Option<Value> {
    read_with(text, false)
}

/// The same; a value may be words without quotes, `{lang: zh}`, as a shell passes it on.
pub fn read_typed(text: &str) -> Option<Value> {
    read_with(text, true)
}

fn read_with(text: &str, accepts_words: bool) -> Option<Value> {
    let mut parser = Json5Parser { rest: text, accepts_words };
    let value = parser.parse_value(0)?;
    parser.skip_space();
    parser.rest.is_empty().then_some(value)
}

struct Json5Parser<'a> {
    rest: &'a str,
    accepts_words: bool,
}

impl<'a> Json5Parser<'a> {
    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if let Some(comment) = self.rest.strip_prefix("//") {
                self.rest = comment.split_once('\n').map_or("", |(_, after)| after);
            } else if let Some((_, after)) =
                self.rest.strip_prefix("/*").and_then(|c| c.split_once("*/"))
            {
                self.rest = after;
            } else {
                return;
            }
        }
    }

    fn eat(&mut self, mark: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn parse_value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH {
            return None;
        }
        self.skip_space();
        match self.rest.chars().next()? {
            '{' => self.parse_map(depth),
            '[' => self.parse_list(depth),
            '"' | '\'' | '`' => self.parse_string().map(Value::String),
            c if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.parse_number(),
            _ => self.parse_word(),
        }
    }

    fn parse_map(&mut self, depth: usize) -> Option<Value> {
        self.eat('{');
        let mut out = Map::new();
        loop {
            if self.eat('}') {
                return Some(Value::Object(out));
            }
            let key = self.parse_key()?;
            if !self.eat(':') {
                return None;
            }
            out.insert(key, self.parse_value(depth + 1)?);
            if !self.eat(',') {
                return self.eat('}').then_some(Value::Object(out));
            }
        }
    }

    fn parse_list(&mut self, depth: usize) -> Option<Value> {
        self.eat('[');
        let mut out = Vec::new();
        loop {
            if self.eat(']') {
                return Some(Value::Array(out));
            }
            out.push(self.parse_value(depth + 1)?);
            if !self.eat(',') {
                return self.eat(']').then_some(Value::Array(out));
            }
        }
    }

    fn parse_key(&mut self) -> Option<String> {
        self.skip_space();
        if self.rest.starts_with(['"', '\'', '`']) {
            return self.parse_string();
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.')))?;
        let (key, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!key.is_empty()).then(|| key.to_owned())
    }

    fn parse_string(&mut self) -> Option<String> {
        let mut chars = self.rest.chars();
        let quote = chars.next()?;
        let mut out = String::new();
        loop {
            match chars.next()? {
                '\\' => push_escape(&mut chars, &mut out)?,
                c if c == quote => {
                    self.rest = chars.as_str();
                    return Some(out);
                }
                c => out.push(c),
            }
        }
    }

    fn parse_number(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.')))
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        parse_number(digits)
    }

    fn parse_word(&mut self) -> Option<Value> {
        if self.accepts_words {
            let end = self.rest.find([',', '}', ']', '{', '[', ':', '"', '\'', '\n'])?;
            let (words, rest) = self.rest.split_at(end);
            let words = words.trim_end();
            if !words.is_empty() && !matches!(words, "true" | "false" | "null" | "undefined") {
                self.rest = rest;
                return Some(Value::from(words));
            }
        }
        let (name, rest) = leading_word(self.rest, |_| false)?;
        self.rest = rest;
        match name {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" | "undefined" => Some(Value::Null),
            _ => None,
        }
    }
}

/// A number as JavaScript writes it; whole numbers stay whole.
pub fn parse_number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return i64::from_str_radix(hex, 16).ok().map(Value::from);
    }
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(Value::from(whole));
    }
    // `inf` and `nan` are words, not numbers.
    let plain =
        digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
    Number::from_f64(digits.parse().ok().filter(|_| plain)?).map(Value::Number)
}

/// A value that needs no engine: a quoted string, a number, `true`, `null`, or a list
/// or map of such.
pub fn parse_literal(text: &str) -> Option<Value> {
    // A template literal may hold `${…}`, which is not plain.
    if text.contains('`') { None } else { read(text.trim()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// ISDK-172: the argument of `run` is JSON or the text of a JavaScript object.
    #[test]
    fn isdk_172_the_relaxed_form_reads_the_examples_of_the_specification() {
        let text = r#"{content: "10加18等于28。", lang: "中文", target: "English"}"#;
        assert_eq!(
            read(text).unwrap(),
            json!({"content": "10加18等于28。", "lang": "中文", "target": "English"})
        );
        assert_eq!(
            read("{a: 1, 'b c': [1, -2.5, 0x10, 1e3,], d: {e: null}, }").unwrap(),
            json!({"a": 1, "b c": [1, -2.5, 16, 1000.0], "d": {"e": null}})
        );
        assert_eq!(read("/* c */ [true, false] // end").unwrap(), json!([true, false]));
    }

    #[test]
    fn text_that_is_not_plain_data_is_rejected() {
        for text in [
            "", "hello", "{a}", "{a: b}", "[1, 2", "1 + 2", "{a: 1} x", "'open", "infinity",
            "-nan", "1e999",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(parse_literal("`a`"), None);
        assert_eq!(read(&"[".repeat(100_000)), None);
    }
}
