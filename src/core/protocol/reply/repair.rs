//! Repairs text that is nearly JSON: single quotes, bare keys, comments, extra and missing commas,
//! raw line breaks, Python's literals, a missing end.
//!
//! Linear in the text, at most [`MAX_DEPTH`] deep, and it fails only because of
//! depth. The result may not be what was meant, so callers mark it.

use serde_json::{Number, Value};

use super::super::json_string::Unescape;
use super::strict::MAX_DEPTH;

/// The object at the start of `text`, as valid JSON; `None` if it is nested too deep. Text after
/// the object is ignored.
pub(super) fn repair(text: &str) -> Option<String> {
    let mut repair = Repair { rest: text, out: String::with_capacity(text.len()) };
    repair.value(1)?;
    Some(repair.out)
}

struct Repair<'a> {
    rest: &'a str,
    out: String,
}

/// What must follow a quote for it to close its string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

impl Repair<'_> {
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_space();
        match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some(c) if closing_quote(c).is_some() => self.string(Role::Value),
            Some(',' | ':' | '}' | ']') | None => self.out.push_str("null"),
            Some(_) => self.bare(),
        }
        Some(())
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.open('{');
        let mut first = true;
        loop {
            self.skip_space();
            match self.peek() {
                Some(',') => self.advance(),
                Some('}') => {
                    self.advance();
                    break;
                }
                // A bracket that closes an enclosing value of this object.
                Some(']') | None => break,
                Some(c) => {
                    self.comma(&mut first);
                    if closing_quote(c).is_some() {
                        self.string(Role::Key)
                    } else {
                        self.bare_key()
                    }
                    self.skip_space();
                    if self.peek() == Some(':') {
                        self.advance();
                    }
                    self.out.push(':');
                    self.value(depth + 1)?;
                }
            }
        }
        self.out.push('}');
        Some(())
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.open('[');
        let mut first = true;
        loop {
            self.skip_space();
            match self.peek() {
                Some(',' | ':') => self.advance(),
                Some(']') => {
                    self.advance();
                    break;
                }
                Some('}') | None => break,
                Some(_) => {
                    self.comma(&mut first);
                    self.value(depth + 1)?;
                }
            }
        }
        self.out.push(']');
        Some(())
    }

    /// A quoted string. A quote inside that is not followed by JSON syntax is part of the text.
    fn string(&mut self, role: Role) {
        let Some(close) = self.peek().and_then(closing_quote) else { return };
        self.advance();
        let mut text = String::new();
        let mut unescape = Unescape::default();
        while let Some(c) = self.peek() {
            self.advance();
            if unescape.is_plain() && c == close && self.is_closing_quote(role) {
                break;
            }
            if unescape.push(c, &mut text) {
                text.push(c);
            }
        }
        self.put(&text);
    }

    /// Whether the text after a quote allows it to be the end of the string.
    fn is_closing_quote(&self, role: Role) -> bool {
        let after = self.rest.trim_start();
        let newline = self.rest.len() > after.len()
            && self.rest.split_at(self.rest.len() - after.len()).0.contains('\n');
        match (after.chars().next(), role) {
            (None, _) | (Some(':'), Role::Key) => true,
            (Some(',' | '}' | ']'), Role::Value) => true,
            // A comment, or a new line that begins a field: the comma is missing.
            (Some(c), Role::Value) => newline && (closing_quote(c).is_some() || "/#".contains(c)),
            (Some(_), Role::Key) => false,
        }
    }

    fn bare_key(&mut self) {
        let end = self.rest.find([':', ',', '}', '\n']).unwrap_or(self.rest.len());
        let key = self.take(end);
        self.put(key.trim());
    }

    fn bare(&mut self) {
        let end = self.rest.find([',', '}', ']', '\n']).unwrap_or(self.rest.len());
        let token = self.take(end);
        let token = [" //", " #"]
            .iter()
            .fold(token, |token, mark| token.split_once(mark).map_or(token, |(before, _)| before));
        match token.trim() {
            "true" | "True" => self.out.push_str("true"),
            "false" | "False" => self.out.push_str("false"),
            "null" | "None" | "undefined" | "NaN" | "" => self.out.push_str("null"),
            token if token.parse::<Number>().is_ok() => self.out.push_str(token),
            token => self.put(token),
        }
    }

    /// White space and comments.
    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let comment = if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.rest.find('\n')
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2)
            } else {
                return;
            };
            self.take(comment.unwrap_or(self.rest.len()));
        }
    }

    fn open(&mut self, bracket: char) {
        self.advance();
        self.out.push(bracket);
    }

    fn comma(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.out.push(',');
        }
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(&Value::from(text).to_string());
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn advance(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }
}

impl<'a> Repair<'a> {
    fn take(&mut self, end: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }
}

/// The quote that closes a string opened with `open`; `None` if it is not a quote.
fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_nearly_json_becomes_json() {
        let cases = [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#"{'a': 'b', "c": [1, 2,],}"#, r#"{"a":"b","c":[1,2]}"#),
            (
                "{a: True, b: None, c: undefined, d: -1.5e3}",
                r#"{"a":true,"b":null,"c":null,"d":-1.5e3}"#,
            ),
            ("{// one\n\"a\": 1, # two\n/* three */ \"b\": x y // z\n}", r#"{"a":1,"b":"x y"}"#),
            (
                "{\"a\": \"one\ntwo\"\n\"b\": 2 \"c\": 3}",
                "{\"a\":\"one\\ntwo\",\"b\":\"2 \\\"c\\\": 3\"}",
            ),
            (r#"{"a":"say "hi" there","b":1}"#, r#"{"a":"say \"hi\" there","b":1}"#),
            (r#"{"a":"C:\dir\new","b":"it\'s"}"#, "{\"a\":\"C:\\\\dir\\new\",\"b\":\"it's\"}"),
            (r#"{"a":"\ud83d\ude00 \ud83d"}"#, "{\"a\":\"😀 \"}"),
            (r#"{"a":[{"b":"c"#, r#"{"a":[{"b":"c"}]}"#),
            (r#"{"a":[1,{"b":2],"c":3}"#, r#"{"a":[1,{"b":2}],"c":3}"#),
            (r#"{"a":,"b""#, r#"{"a":null,"b":null}"#),
            ("{“a”: ‘it's’}", r#"{"a":"it's"}"#),
            (r#"{"a":1} and more"#, r#"{"a":1}"#),
        ];
        for (broken, fixed) in cases {
            assert_eq!(repair(broken).as_deref(), Some(fixed), "{broken}");
        }
    }

    #[test]
    fn it_gives_up_when_nesting_is_too_deep() {
        assert_eq!(repair(&"{a:".repeat(MAX_DEPTH + 1)), None);
        assert_eq!(repair(&"[".repeat(1_000_000)), None);
    }
}
