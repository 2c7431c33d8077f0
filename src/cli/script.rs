//! Runs a script without a screen: parses its arguments and writes its output.
//!
//! As text, prints and the result go to standard output; with `--json`, one object per line:
//!
//! | object | when |
//! |---|---|
//! | `{"type":"print","text":…}` | `$print` |
//! | `{"type":"delta","text":…}` | more of an answer, unless `--no-stream` |
//! | `{"type":"messages","messages":[{role, content}…]}` | once, at the end |
//! | `{"type":"result","value":…}` or `{"type":"error","message":…}` | last |

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Clean;
use crate::i18n::{Lang, Localize, LocalizedText, cli as words};
use crate::protocol::Message;
use crate::script::manifest::input::ScriptArgs;
use crate::script::{LocatedError, RunResult, ScriptEvent};
use crate::session::script_turn::display_value;

/// The arguments after the script, if there are any.
pub fn args(text: Option<&str>) -> Result<ScriptArgs, LocalizedText> {
    text.map_or(Ok(ScriptArgs::default()), ScriptArgs::parse)
}

/// How to write a run.
#[derive(Clone, Copy, Debug)]
pub struct RunFormat {
    pub json: bool,
    /// Show answers as they arrive, for users who watch.
    pub live: bool,
    pub lang: Lang,
    pub clean: Clean,
}

/// Writes the output of a script.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    pub format: RunFormat,
    /// The part of an answer on the line that is not finished.
    streamed: String,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W, look: RunFormat) -> Writer<W> {
        Writer { out, format: look, streamed: String::new() }
    }

    pub fn write_event(&mut self, events: &ScriptEvent) -> io::Result<()> {
        match events {
            ScriptEvent::Print(value) if self.format.json => {
                self.line(&json!({ "type": "print", "text": compact(value) }))
            }
            ScriptEvent::Print(value) => {
                self.close()?;
                self.text(&display_value(value))
            }
            ScriptEvent::Delta(text) if self.format.json => {
                self.line(&json!({ "type": "delta", "text": text }))
            }
            ScriptEvent::Delta(text) if self.format.live => {
                self.streamed.push_str(text);
                write!(self.out, "{}", (self.format.clean)(text))?;
                self.out.flush()
            }
            ScriptEvent::Delta(_)
            | ScriptEvent::Reasoning(_)
            | ScriptEvent::ModelCallStarted
            | ScriptEvent::TokensUsed(_)
            | ScriptEvent::StepStarted(_)
            | ScriptEvent::Output(..)
            | ScriptEvent::StepFinished(_)
            | ScriptEvent::ScriptCalled(_)
            | ScriptEvent::Note(_) => Ok(()),
        }
    }

    /// The end of a run.
    pub fn write_end(&mut self, came: &Result<RunResult, LocatedError>) -> io::Result<()> {
        match came {
            Ok(done) if self.format.json => {
                let messages = done.visible.iter();
                let messages: Vec<Value> = messages
                    .map(|(role, content)| json!({ "role": role, "content": content }))
                    .collect();
                self.line(&json!({ "type": "messages", "messages": messages }))?;
                self.line(&json!({ "type": "result", "value": done.value }))
            }
            Ok(done) => {
                let text = display_value(&done.value);
                let stands = !self.streamed.is_empty() && self.streamed.trim() == text.trim();
                self.close()?;
                match stands || text.is_empty() {
                    true => Ok(()),
                    false => self.text(&text),
                }
            }
            Err(failure) if self.format.json => {
                let message = failure.localized().text(self.format.lang);
                self.line(&json!({ "type": "error", "message": message }))
            }
            Err(_) => self.close(),
        }
    }

    /// The messages of one call of a dry run, with its number if there are several.
    pub fn write_messages(&mut self, messages: &[Message], call: Option<usize>) -> io::Result<()> {
        let pairs = messages.iter().map(|message| (json!(message.role), message.text()));
        if self.format.json {
            let messages = pairs.map(|(role, content)| json!({ "role": role, "content": content }));
            let messages: Value = messages.collect();
            return self.line(&json!({ "type": "messages", "messages": messages }));
        }
        if let Some(call) = call {
            self.text(&words::DRY_CALL.with("n", call).text(self.format.lang))?;
        }
        for (role, text) in pairs {
            self.text(&format!("{}: {text}", role.as_str().unwrap_or_default()))?;
        }
        Ok(())
    }

    fn line(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")?;
        self.out.flush()
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", (self.format.clean)(text))?;
        self.out.flush()
    }

    /// Ends a line that an answer left unfinished.
    fn close(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.streamed).is_empty() {
            true => Ok(()),
            false => writeln!(self.out),
        }
    }
}

fn compact(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(json: bool, live: bool) -> RunFormat {
        RunFormat { json, live, lang: Lang::En, clean: |text| text.replace('\x1b', "␛") }
    }

    fn written(look: RunFormat, events: &[ScriptEvent], value: Value) -> String {
        let mut writer = Writer::new(Vec::new(), look);
        events.iter().for_each(|events| writer.write_event(events).unwrap());
        let visible = vec![("user".to_owned(), "q".to_owned())];
        writer.write_end(&Ok(RunResult { value, visible })).unwrap();
        String::from_utf8(writer.out).unwrap()
    }

    /// ISDK-172: JSON, the relaxed form, or plain text.
    #[test]
    fn isdk_172_arguments_are_json_or_its_relaxed_form_or_text() {
        let named = |text| Value::Object(args(Some(text)).unwrap().named);
        assert_eq!(named(r#"{"a": 1}"#), json!({"a": 1}));
        assert_eq!(
            named("{content: \"x\", target: 'English'}"),
            json!({"content": "x", "target": "English"})
        );
        assert_eq!(args(Some("hello {x}")).unwrap().positional, [json!("hello {x}")]);
        assert_eq!(
            args(Some("[1, two]")).unwrap_err(),
            LocalizedText::from(words::ARGS_UNREADABLE)
        );
        assert_eq!(args(None).unwrap(), ScriptArgs::default());
    }

    #[test]
    fn each_event_has_its_json_form() {
        let events = [
            ScriptEvent::Delta("a".into()),
            ScriptEvent::Print(json!({"k": 1})),
            ScriptEvent::Print(json!("t")),
        ];
        let lines = [
            r#"{"type":"delta","text":"a"}"#,
            r#"{"type":"print","text":"{\"k\":1}"}"#,
            r#"{"type":"print","text":"t"}"#,
            r#"{"type":"messages","messages":[{"role":"user","content":"q"}]}"#,
            r#"{"type":"result","value":{"v":2}}"#,
        ];
        assert_eq!(written(look(true, false), &events, json!({"v": 2})), lines.join("\n") + "\n");
        let mut writer = Writer::new(Vec::new(), look(true, false));
        writer.write_end(&Err(LocatedError::new(words::ARGS_UNREADABLE))).unwrap();
        let text = String::from_utf8(writer.out).unwrap();
        assert!(text.starts_with(r#"{"type":"error","message":"#), "{text}");
    }

    #[test]
    fn a_streamed_answer_is_not_written_again() {
        let events = [ScriptEvent::Delta("hel".into()), ScriptEvent::Delta("lo".into())];
        assert_eq!(written(look(false, true), &events, json!("hello")), "hello\n");
        assert_eq!(written(look(false, true), &events, json!("other")), "hello\nother\n");
        assert_eq!(written(look(false, false), &events, json!("hello")), "hello\n");
        assert_eq!(written(look(false, false), &[], json!("")), "");
        assert_eq!(written(look(false, false), &[], json!("\x1b[2J")), "␛[2J\n");
    }
}
