//! Extracts the growing `message` from a reply whose JSON is incomplete.
//!
//! A state machine over characters: it knows just enough JSON to tell the top-level string field
//! `message` from everything else, and lets nothing else through. Prose, a fence and a `<think>`
//! block before the object are skipped. It does not decide whether the whole is a reply:
//! `reply::read` does.

use std::mem;

use super::json_string::Unescape;

/// The longest key that is compared; a longer one cannot be `message`.
const MAX_KEY: usize = 16;
const OPEN_THOUGHT: &str = "<think>";
const CLOSE_THOUGHT: &str = "</think>";

/// Reads a reply chunk by chunk.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    state: StreamState,
    escape: Unescape,
    /// Open brackets inside the skipped value.
    depth: usize,
    /// The key being read, or the tag that may open or close a reasoning block.
    word: String,
    out: String,
}

/// The position of the next character in the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StreamState {
    /// At the very start, where a `<think>` may come.
    #[default]
    Start,
    Reasoning,
    /// Before the object.
    BeforeObject,
    /// Inside the object, before a key.
    BeforeKey,
    Key,
    /// After a key, before its value.
    AfterKey(Field),
    Message,
    /// In a value that is not shown.
    Value,
    /// In a string of such a value.
    SkippedString,
    /// The message is complete, or broken.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Message,
    Other,
}

impl Partial {
    pub fn new() -> Partial {
        Partial::default()
    }

    /// Whether the message has come to its closing quote.
    pub fn is_message_complete(&self) -> bool {
        self.state == StreamState::Done
    }

    /// Processes the next chunk and returns the newly visible part of the message.
    pub fn push(&mut self, chunk: &str) -> String {
        for c in chunk.chars() {
            self.step(c);
        }
        mem::take(&mut self.out)
    }

    fn step(&mut self, c: char) {
        match self.state {
            StreamState::Start => self.at_start(c),
            StreamState::Reasoning => self.in_reasoning(c),
            StreamState::BeforeObject => {
                if c == '{' {
                    self.state = StreamState::BeforeKey;
                }
            }
            StreamState::BeforeKey => self.before_key(c),
            StreamState::Key => self.in_key(c),
            StreamState::AfterKey(field) => self.after_key(c, field),
            StreamState::Message => {
                if self.push_string_char(c) {
                    self.state = StreamState::Done;
                }
            }
            StreamState::Value => self.in_value(c),
            StreamState::SkippedString => {
                if self.push_string_char(c) {
                    self.state = StreamState::Value;
                }
                self.out.clear();
            }
            StreamState::Done => {}
        }
    }

    fn at_start(&mut self, c: char) {
        if self.word.is_empty() && (c.is_whitespace() || c == '\u{feff}') {
            return;
        }
        self.word.push(c);
        if self.word == OPEN_THOUGHT {
            self.word.clear();
            self.state = StreamState::Reasoning;
        } else if !OPEN_THOUGHT.starts_with(&self.word) {
            self.state = StreamState::BeforeObject;
            // A `{` cannot precede the last character: it would not have matched.
            self.word.clear();
            self.step(c);
        }
    }

    fn in_reasoning(&mut self, c: char) {
        self.word.push(c);
        if self.word == CLOSE_THOUGHT {
            self.word.clear();
            self.state = StreamState::BeforeObject;
        } else if !CLOSE_THOUGHT.starts_with(&self.word) {
            self.word.clear();
            if c == '<' {
                self.word.push(c);
            }
        }
    }

    fn before_key(&mut self, c: char) {
        match c {
            '"' => {
                self.word.clear();
                self.state = StreamState::Key;
            }
            '}' => self.state = StreamState::BeforeObject,
            ',' => {}
            c if c.is_whitespace() => {}
            // A brace in prose: ends at its match, or at a comma if it is broken JSON.
            c => self.skip(c),
        }
    }

    fn in_key(&mut self, c: char) {
        let ended = self.push_string_char(c);
        let read = mem::take(&mut self.out);
        if self.word.len() < MAX_KEY {
            self.word.push_str(&read);
        }
        if ended {
            let field = if self.word == "message" { Field::Message } else { Field::Other };
            self.state = StreamState::AfterKey(field);
        }
    }

    fn after_key(&mut self, c: char, field: Field) {
        match (c, field) {
            (':', _) => {}
            ('"', Field::Message) => self.state = StreamState::Message,
            (c, _) if c.is_whitespace() => {}
            (c, _) => self.skip(c),
        }
    }

    fn skip(&mut self, c: char) {
        self.depth = 0;
        self.state = StreamState::Value;
        self.in_value(c);
    }

    fn in_value(&mut self, c: char) {
        match c {
            '"' => self.state = StreamState::SkippedString,
            '{' | '[' => self.depth += 1,
            '}' if self.depth == 0 => self.state = StreamState::BeforeObject,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            ',' if self.depth == 0 => self.state = StreamState::BeforeKey,
            _ => {}
        }
    }

    /// One character of a string, decoded into `out`; true when it was the closing quote.
    fn push_string_char(&mut self, c: char) -> bool {
        self.escape.push(c, &mut self.out)
    }
}

/// The message of a reply that may be broken or truncated; `None` if there is none.
pub fn message(text: &str) -> Option<String> {
    let mut partial = Partial::new();
    let message = partial.push(text);
    let began = matches!(partial.state, StreamState::Message) || !message.is_empty();
    began.then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The final visible text, which is the same for the whole and for every split.
    fn visible_text(text: &str) -> String {
        let whole = Partial::new().push(text);
        let mut reader = Partial::new();
        let pieces: String =
            text.chars().map(|c| reader.push(c.encode_utf8(&mut [0; 4]))).collect();
        assert_eq!(whole, pieces, "{text}");
        whole
    }

    #[test]
    fn the_message_grows_as_it_arrives() {
        let mut reader = Partial::new();
        let chunks = [
            r#"{"type":"chat","mes"#,
            r#"sage":"Hel"#,
            r#"lo \"#,
            r#"u4f60\n"#,
            r#"!","data":{}}"#,
        ];
        let seen: Vec<String> = chunks.iter().map(|chunk| reader.push(chunk)).collect();
        assert_eq!(seen, ["", "Hel", "lo ", "你\n", "!"]);
    }

    #[test]
    fn only_the_message_of_the_reply_itself_is_shown() {
        assert_eq!(
            visible_text(r#"{"data":{"message":"no","a":[{"message":"no"}]},"message":"yes"}"#),
            "yes"
        );
        assert_eq!(visible_text(r#"{"text":"\"message\":\"no\"","message":"yes"}"#), "yes");
        assert_eq!(visible_text(r#"{"message":["no"],"n":1,"type":"message"}"#), "");
        assert_eq!(visible_text(r#"{"message":"one"} {"message":"two"}"#), "one");
    }

    #[test]
    fn an_escaped_key_is_the_same_key() {
        assert_eq!(visible_text(r#"{"m\u0065ssage":"yes"}"#), "yes");
        assert_eq!(visible_text(r#"{"message_of_the_day_and_more":"no","message":"yes"}"#), "yes");
    }

    #[test]
    fn prose_fences_and_reasoning_before_the_object_are_skipped() {
        let object = r#"{"type":"chat","message":"hi"}"#;
        assert_eq!(visible_text(&format!("Sure, here it is:\n```json\n{object}\n```")), "hi");
        assert_eq!(visible_text(&format!("With {{x}} or {{}}: {object}")), "hi");
        assert_eq!(
            visible_text(&format!("\n<think>not {{\"message\":\"no\"}} << </thi</think>{object}")),
            "hi"
        );
        assert_eq!(visible_text(&format!("<thin {object}")), "hi");
    }

    #[test]
    fn text_that_is_not_json_shows_nothing() {
        for text in
            ["just prose", "fn main() { println!(\"message\"); }", "{message: 'x'}", "[1,", "\"x\""]
        {
            assert_eq!(visible_text(text), "", "{text}");
        }
    }

    #[test]
    fn surrogate_pairs_are_one_character_and_lone_halves_are_replaced() {
        assert_eq!(visible_text(r#"{"message":"\ud83d\ude00!"}"#), "😀!");
        assert_eq!(
            visible_text(r#"{"message":"\ud83dx\ude00\ud83d\n\ud83d"}"#),
            "\u{fffd}x\u{fffd}\u{fffd}\n\u{fffd}"
        );
    }

    #[test]
    fn a_truncated_message_is_still_found() {
        assert_eq!(message(r#"{"type":"chat","message":"half of"#).as_deref(), Some("half of"));
        assert_eq!(message(r#"{"type":"chat","mess"#), None);
        assert_eq!(message("prose"), None);
    }
}
