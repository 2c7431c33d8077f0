//! Extracts a server's error message: found in a body, cleaned, shortened, and without the key it
//! may have echoed. Pure; [`super::status`] interprets it.

use serde_json::Value;

use avocet_core::text;
use avocet_safety::is_hidden;
use avocet_safety::redact::Redactor;

/// Longest message that is kept, in characters.
const MOST: usize = 300;

/// Shorter keys are not masked: that would blank out ordinary words.
const SHORTEST_KEY: usize = 6;

/// A server's own words about an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ServerMessage {
    /// For display; empty if there are none.
    pub text: String,
    /// `code` and `type` of the error, joined by a space, in lower case.
    pub code: String,
    /// The status inside the error, if there is one.
    pub status: Option<u16>,
}

impl ServerMessage {
    /// Reads the body of a failed request.
    pub fn from_body(body: &str, key: Option<&str>) -> ServerMessage {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => ServerMessage::from_value(&value, key),
            Err(_) if is_html(body) => ServerMessage::default(),
            Err(_) => ServerMessage { text: clean(body, key), ..ServerMessage::default() },
        }
    }

    /// Reads an object that contains an error, or is one.
    pub fn from_value(value: &Value, key: Option<&str>) -> ServerMessage {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = match error {
            Value::String(text) => text.clone(),
            _ => ["message", "detail", "msg", "error", "title"]
                .iter()
                .find_map(|field| error.get(field).or_else(|| value.get(field)))
                .map(message_text)
                .unwrap_or_default(),
        };
        let mut words = Vec::new();
        for field in ["code", "type", "status"] {
            words.extend(error.get(field).and_then(Value::as_str).map(str::to_lowercase));
        }
        ServerMessage {
            text: clean(&text, key),
            code: words.join(" "),
            status: inner_status(error),
        }
    }

    /// True if the text or the code contains one of these, in lower case.
    pub fn mentions(&self, any: &[&str]) -> bool {
        let text = self.text.to_lowercase();
        any.iter().any(|word| text.contains(word) || self.code.contains(word))
    }
}

/// Removes control characters, line breaks and the key from foreign text, and cuts it.
pub(super) fn clean(text: &str, key: Option<&str>) -> String {
    let text = match key.filter(|key| key.len() >= SHORTEST_KEY) {
        Some(key) => text.replace(key, "[key]"),
        None => text.to_owned(),
    };
    // Mask other keys by their form: servers echo their input.
    let text = Redactor::new([("", ""); 0], [0; 16]).mask(&text).into_owned();
    let text: String = text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    text::cut(&text::one_line(&text), MOST)
}

/// True when text looks like the beginning of a web page.
pub(super) fn is_html(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

fn message_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(inner) => match inner.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}

fn inner_status(error: &Value) -> Option<u16> {
    ["status_code", "code", "status"].iter().find_map(|field| {
        let value = error.get(field)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_in_every_common_format() {
        let cases = [
            (r#"{"error":{"message":"no"}}"#, "no"),
            (r#"{"error":"no"}"#, "no"),
            (r#"[{"error":{"message":"no"}}]"#, "no"),
            (r#"{"message":"no"}"#, "no"),
            (r#"{"detail":"no"}"#, "no"),
            (r#"{"object":"error","message":"no","code":404}"#, "no"),
            (r#"{"error":{"metadata":1}}"#, r#"{"metadata":1}"#),
            ("plain words", "plain words"),
            ("<!doctype html><p>no", ""),
            ("", ""),
        ];
        for (body, expected) in cases {
            assert_eq!(ServerMessage::from_body(body, None).text, expected, "{body}");
        }
    }

    #[test]
    fn the_key_and_control_characters_are_removed() {
        let said = ServerMessage::from_body(
            "bad key sk-abcdef\u{1b}[31m\r\nnext\u{202e}x",
            Some("sk-abcdef"),
        );
        assert_eq!(said.text, "bad key [key] [31m next x");
    }

    #[test]
    fn long_messages_are_truncated() {
        let text = clean(&"字".repeat(5_000), None);
        assert_eq!(text.chars().count(), MOST + 1);
        assert!(text.ends_with('…'));
    }

    #[test]
    fn the_code_and_the_status_inside_are_kept() {
        let said = ServerMessage::from_body(
            r#"{"error":{"message":"x","type":"Server_Error","code":"429"}}"#,
            None,
        );
        assert_eq!((said.code.as_str(), said.status), ("429 server_error", Some(429)));
    }
}
