//! Messages on standard input, one JSON object a line (`--input-format stream-json`): the form that
//! other agents take, `{"type":"user","message":{"role":"user","content":"…"}}`, or `{"text":"…"}`.

use std::io::{self, BufRead, BufReader, Read};
use std::thread;

use serde::Deserialize;
use tokio::sync::mpsc::{self, Receiver};

use avocet_core::i18n::{LocalizedText, cli as phrases};

/// The longest line, in bytes.
const MAX_LENGTH: u64 = 8 << 20;

/// A line. Fields that are not known are ignored.
#[derive(Deserialize)]
#[serde(untagged)]
enum MessageLine {
    Text {
        text: String,
    },
    Message {
        #[serde(rename = "type", default)]
        _kind: UserOnly,
        message: UserMessage,
    },
}

/// The only `type` and `role` that are read: the output of another agent has messages of its model
/// too.
#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UserOnly {
    #[default]
    User,
}

#[derive(Deserialize)]
struct UserMessage {
    #[serde(rename = "role", default)]
    _role: UserOnly,
    content: MessageContent,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MessageContent {
    Text(String),
    Blocks(Vec<TextBlock>),
}

#[derive(Deserialize)]
struct TextBlock {
    #[serde(rename = "type", default)]
    _kind: TextWord,
    text: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TextWord {
    #[default]
    Text,
}

/// The text of the message in a line.
///
/// # Errors
/// The line has another form.
fn parse(line: &[u8], number: usize) -> Result<String, LocalizedText> {
    let message: MessageLine = serde_json::from_slice(line).map_err(|_| bad_line(number))?;
    Ok(match message {
        MessageLine::Text { text } => text,
        MessageLine::Message { message: UserMessage { content, .. }, .. } => match content {
            MessageContent::Text(text) => text,
            MessageContent::Blocks(blocks) => {
                blocks.into_iter().map(|block| block.text).collect::<Vec<_>>().join("\n\n")
            }
        },
    })
}

fn bad_line(number: usize) -> LocalizedText {
    phrases::STREAM_LINE.with("line", number).with("form", r#"{"text":"…"}"#)
}

/// Reads the messages on a thread of its own, which ends with the input or after a wrong line.
///
/// # Errors
/// The system starts no thread.
pub fn read(
    input: impl Read + Send + 'static,
) -> io::Result<Receiver<Result<String, LocalizedText>>> {
    let (sender, messages) = mpsc::channel(1);
    thread::Builder::new().name("messages".into()).spawn(move || {
        let mut input = BufReader::new(input);
        for number in 1.. {
            let mut line = Vec::new();
            match input.by_ref().take(MAX_LENGTH).read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => {
                    let why = phrases::STREAM_UNREAD.with("why", error.to_string());
                    return drop(sender.blocking_send(Err(why)));
                }
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let message = parse(&line, number);
            let is_last = message.is_err();
            if sender.blocking_send(message).is_err() || is_last {
                return;
            }
        }
    })?;
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_in_each_of_its_forms() {
        let blocks = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"session_id":"x"}"#;
        let cases = [
            (r#"{"text":"hi"}"#, "hi"),
            (r#"{"type":"user","message":{"role":"user","content":"hi"}}"#, "hi"),
            (blocks, "a\n\nb"),
        ];
        for (line, text) in cases {
            assert_eq!(parse(line.as_bytes(), 1), Ok(text.to_owned()));
        }
        let others = [
            r#"{"type":"assistant","message":{"role":"assistant","content":"hi"}}"#,
            r#"{"message":{"role":"system","content":"hi"}}"#,
            r#"{"message":{"content":[{"type":"tool_result","text":"hi"}]}}"#,
        ];
        let broken =
            ["hi", "{}", r#"{"text":4}"#, r#"{"message":{"content":[{"image":1}]}}"#, "\"x\""];
        for line in others.into_iter().chain(broken) {
            assert_eq!(parse(line.as_bytes(), 3), Err(bad_line(3)));
        }
    }
}
