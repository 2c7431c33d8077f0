//! What may be shown of a reply while it arrives: prose as it comes, and of the JSON protocol the
//! message alone.
//!
//! Text is held back only as long as it may be the beginning of a reply's object: from a brace, or
//! a fence, to the object's first key.

use super::streaming::Partial;

const OPEN_THOUGHT: &str = "<think>";
const CLOSE_THOUGHT: &str = "</think>";
const FENCE: &str = "```";
/// A longer first line of a fence, or first key, is none of ours.
const MAX_LENGTH: usize = 48;
/// The first key of an object that is a reply, or means one.
const KEYS: &[&str] = &[
    "type",
    "message",
    "data",
    "commands",
    "program",
    "tool",
    "tool_calls",
    "name",
    "_event",
    "_fallback",
];

/// Reads a reply chunk by chunk.
#[derive(Clone, Debug, Default)]
pub struct GrowingReply {
    stage: Stage,
    /// Text that is not decided yet.
    held: String,
    object: Partial,
    /// The beginning of the object, which says its type.
    head: String,
    /// What follows the message: its beginning, its bytes, and the kibibytes already reported.
    steps: String,
    steps_bytes: usize,
    told: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// At the very start, where a `<think>` may come.
    #[default]
    Start,
    Reasoning,
    Prose,
    Object,
}

/// So much of an object is kept, in bytes: its type comes before its message.
const HEAD: usize = 64;
/// The same of the steps: the first names its tool there.
const STEPS: usize = 256;
/// Bytes of steps between two reports.
const GROWTH: usize = 1024;

/// What the held text is.
enum Beginning {
    Undecided,
    Reply,
    Prose,
}

impl GrowingReply {
    /// Processes the next chunk and returns what becomes visible.
    pub fn push(&mut self, chunk: &str) -> String {
        let mut out = String::new();
        for c in chunk.chars() {
            self.step(c, &mut out);
        }
        out
    }

    /// Whether the reply is a chat whose message is complete: all that is missing is what a user
    /// can do without.
    pub fn is_chat_complete(&self) -> bool {
        let compact = || self.head.split_whitespace().collect::<String>();
        self.object.is_message_complete() && compact().contains(r#""type":"chat","#)
    }

    /// The first tool of the steps that are being written, and how long they are: once for each
    /// kibibyte.
    pub fn take_growth(&mut self) -> Option<(String, usize)> {
        let grown = self.steps_bytes / GROWTH;
        if grown == std::mem::replace(&mut self.told, grown) {
            return None;
        }
        let named = self.steps.split_once("\"tool\"").and_then(|(_, rest)| rest.split('"').nth(1));
        Some((named.unwrap_or("exec").to_owned(), self.steps_bytes))
    }

    fn step(&mut self, c: char, out: &mut String) {
        match self.stage {
            Stage::Object => {
                if self.head.len() < HEAD {
                    self.head.push(c);
                }
                if self.object.is_message_complete() {
                    self.steps_bytes += c.len_utf8();
                    if self.steps.len() < STEPS {
                        self.steps.push(c);
                    }
                }
                out.push_str(&self.object.push(c.encode_utf8(&mut [0; 4])));
            }
            Stage::Reasoning => {
                self.held.push(c);
                if self.held.ends_with(CLOSE_THOUGHT) {
                    self.held.clear();
                    self.stage = Stage::Prose;
                } else if self.held.len() > CLOSE_THOUGHT.len() * 8 {
                    let kept = self.held.ceil_char_boundary(self.held.len() - CLOSE_THOUGHT.len());
                    self.held.drain(..kept);
                }
            }
            Stage::Start => self.at_start(c, out),
            Stage::Prose => self.in_prose(c, out),
        }
    }

    fn at_start(&mut self, c: char, out: &mut String) {
        if self.held.is_empty() && (c.is_whitespace() || c == '\u{feff}') {
            return;
        }
        self.held.push(c);
        if self.held == OPEN_THOUGHT {
            self.held.clear();
            self.stage = Stage::Reasoning;
        } else if !OPEN_THOUGHT.starts_with(&self.held) {
            self.stage = Stage::Prose;
            for c in std::mem::take(&mut self.held).chars() {
                self.in_prose(c, out);
            }
        }
    }

    fn in_prose(&mut self, c: char, out: &mut String) {
        if self.stage == Stage::Object {
            return self.step(c, out);
        }
        if self.held.is_empty() && !matches!(c, '{' | '`') {
            out.push(c);
            return;
        }
        self.held.push(c);
        match beginning(&self.held) {
            Beginning::Undecided => {}
            Beginning::Reply => {
                self.stage = Stage::Object;
                self.head.clone_from(&self.held);
                out.push_str(&self.object.push(&std::mem::take(&mut self.held)));
            }
            Beginning::Prose => {
                // What follows the first sign may begin a reply in its turn.
                let held = std::mem::take(&mut self.held);
                let mut rest = held.chars();
                out.extend(rest.next());
                for c in rest {
                    self.in_prose(c, out);
                }
            }
        }
    }
}

fn beginning(held: &str) -> Beginning {
    let object = match held.strip_prefix('`') {
        None => held,
        Some(_) if FENCE.starts_with(held) => return Beginning::Undecided,
        Some(_) => match held.strip_prefix(FENCE).map(|rest| rest.split_once('\n')) {
            None => return Beginning::Prose,
            Some(None) => return undecided(held),
            Some(Some((_, inside))) => inside.trim_start(),
        },
    };
    let Some(inside) = object.strip_prefix('{') else {
        return if object.is_empty() { undecided(held) } else { Beginning::Prose };
    };
    let inside = inside.trim_start();
    match inside.strip_prefix(['"', '\'']) {
        None if inside.is_empty() => undecided(held),
        None => Beginning::Prose,
        Some(key) => match key.split_once(['"', '\'']) {
            None => undecided(held),
            Some((key, _)) if KEYS.contains(&key) => Beginning::Reply,
            Some(_) => Beginning::Prose,
        },
    }
}

fn undecided(held: &str) -> Beginning {
    if held.len() > MAX_LENGTH { Beginning::Prose } else { Beginning::Undecided }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The visible text, which is the same for the whole and for every split.
    fn visible(text: &str) -> String {
        let whole = GrowingReply::default().push(text);
        let mut reader = GrowingReply::default();
        let pieces: String =
            text.chars().map(|c| reader.push(c.encode_utf8(&mut [0; 4]))).collect();
        assert_eq!(whole, pieces, "{text}");
        whole
    }

    #[test]
    fn prose_is_shown_as_it_comes() {
        for text in [
            "Paris.",
            "[Rust](https://example.com) is a language.",
            "<details>more</details>",
            "Write `let x = 1;` and {x} or {} or { a: 1 } and {\"a\": 1}.",
            "```rust\nfn main() { println!(\"message\"); }\n```\ndone",
            "`a` ``b`` [1, 2]",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn of_a_reply_only_the_message_is_shown() {
        let object = r#"{"type":"chat","message":"hi","data":{"suggestions":["x"]}}"#;
        for text in [
            object.to_owned(),
            format!(" \n{object}"),
            format!("```json\n{object}\n```"),
            format!("<think>I say {{\"message\":\"no\"}}</think>{object}"),
            format!("\u{feff}{object}"),
        ] {
            assert_eq!(visible(&text), "hi", "{text}");
        }
        assert_eq!(visible(&format!("Sure:\n```json\n{object}\n```")), "Sure:\nhi");
        assert_eq!(visible(r#"{"commands":[{"program":"ls"}]}"#), "");
    }

    #[test]
    fn a_chat_is_complete_once_its_message_is() {
        let complete = |text: &str| {
            let mut reader = GrowingReply::default();
            reader.push(text);
            reader.is_chat_complete()
        };
        assert!(complete(r#"{"type":"chat","message":"hi""#));
        assert!(complete("{ \"type\" : \"chat\", \"message\" : \"hi\", \"data\""));
        assert!(!complete(r#"{"type":"chat","message":"hi"#));
        assert!(!complete(r#"{"type":"cmd","message":"hi","data":{"#));
        assert!(!complete("prose"));
    }

    #[test]
    fn steps_that_grow_are_told_with_their_tool() {
        let long = "x".repeat(3_000);
        let told = |steps: &str| {
            let mut reader = GrowingReply::default();
            let text = format!(r#"{{"type":"cmd","message":"m","data":{{"commands":[{steps}"#);
            let pieces = text.as_bytes().chunks(100);
            let pieces = pieces.map(|piece| String::from_utf8_lossy(piece).into_owned());
            let grown = pieces.filter_map(|piece| {
                reader.push(&piece);
                reader.take_growth()
            });
            grown.collect::<Vec<_>>()
        };
        let of_tool = told(&format!(r#"{{"tool": "file.write","input":{{"content":"{long}"#));
        let lengths: Vec<usize> = of_tool.iter().map(|(_, bytes)| bytes / 1_024).collect();
        assert_eq!(lengths, [1, 2]);
        assert!(of_tool.iter().all(|(tool, _)| tool == "file.write"));
        assert_eq!(told(&format!(r#"{{"program":"x","args":["{long}"#))[0].0, "exec");
        assert!(told(r#"{"program":"x"}"#).is_empty());
    }

    #[test]
    fn the_first_visible_character_of_prose_is_shown_at_once() {
        let mut reader = GrowingReply::default();
        assert_eq!(reader.push("P"), "P");
        let mut reader = GrowingReply::default();
        assert_eq!(reader.push("<thin"), "");
        assert_eq!(reader.push("gs"), "<things");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_added_outside_of_objects(text in r#"[a-z `\n{}"<\[]{0,80}"#) {
            let shown = visible(&text);
            let all = text.trim_start();
            prop_assert!(all.starts_with(&shown) || shown.is_empty(), "{shown:?}");
            prop_assert!(all.len() - shown.len() <= MAX_LENGTH + 8 || !shown.contains(all));
        }
    }
}
