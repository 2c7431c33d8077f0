//! Runs a script without a screen: parses its arguments and writes its output.
//!
//! As text, prints and the result go to standard output; with `--json`, one object per line:
//!
//! | object | when |
//! |---|---|
//! | `{"type":"print","text":…}` | `$print` |
//! | `{"type":"delta","text":…,"script":…,"call":…,"role":…}` | more of an answer, unless `--no-stream` |
//! | `{"type":"thinking",…}` | the same for reasoning that is to be shown |
//! | `{"type":"note","text":…}` | what did not end the run |
//! | `{"type":"call","script":…}` | another script begins |
//! | `{"type":"message","role":…,"content":…}` | a message of the script itself, with `-v` |
//! | `{"type":"step",…}`, `{"type":"step_end",…}` | a step of a tool |
//! | `{"type":"usage","usage":…}` | the tokens, once, if they are known |
//! | `{"type":"messages","messages":[{role, content}…]}` | once, at the end |
//! | `{"type":"result","value":…}` or `{"type":"error","message":…}` | last |

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Clean;
use avocet_core::i18n::{Lang, Localize, LocalizedText, cli as phrases};
use avocet_core::protocol::{Message, Usage};
use avocet_script::host::AnswerHead;
use avocet_script::{LocatedError, RunResult, ScriptEvent};
use avocet_session::script_turn::display_value;

/// How to write a run.
#[derive(Clone, Copy, Debug)]
pub struct RunFormat {
    pub json: bool,
    /// Show answers as they arrive, for users who watch.
    pub live: bool,
    /// Show the script's own messages too.
    pub verbose: bool,
    pub lang: Lang,
    pub clean: Clean,
}

/// Switches a terminal to dim text and back.
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[22m";

/// Writes the output of a script.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    pub format: RunFormat,
    /// The answer that is being written.
    open: Option<OpenAnswer>,
    /// The text of the paragraph above, as far as it has one.
    above: Option<String>,
    /// The last answer that was shown, also if something was printed below it.
    answer: Option<String>,
    usage: Usage,
}

#[derive(Debug, Default)]
struct OpenAnswer {
    head: AnswerHead,
    text: String,
    /// Reasoning is being written, not the answer.
    in_thought: bool,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W, format: RunFormat) -> Writer<W> {
        Writer { out, format, open: None, above: None, answer: None, usage: Usage::default() }
    }

    pub fn write_event(&mut self, event: &ScriptEvent) -> io::Result<()> {
        if let ScriptEvent::TokensUsed(usage) = event {
            self.usage = self.usage.plus(*usage);
        }
        if let ScriptEvent::AnswerStarted(head) = event {
            self.close()?;
            self.open = Some(OpenAnswer { head: head.clone(), ..OpenAnswer::default() });
        }
        if self.format.json { self.write_json(event) } else { self.write_text(event) }
    }

    fn write_text(&mut self, event: &ScriptEvent) -> io::Result<()> {
        let live = self.format.live;
        match event {
            ScriptEvent::Print(value) => {
                self.close()?;
                let text = display_value(value);
                // Text that was just shown is not repeated on a terminal.
                if live && self.above.as_deref() == Some(text.trim()) {
                    Ok(())
                } else {
                    self.paragraph(&text)
                }
            }
            ScriptEvent::Message(role, text) if live && self.format.verbose => {
                self.close()?;
                self.begin_paragraph()?;
                let text = (self.format.clean)(&format!("{role}: {text}"));
                writeln!(self.out, "{DIM}{text}{PLAIN}")?;
                self.above = Some(String::new());
                self.out.flush()
            }
            ScriptEvent::Delta(text) if live => self.write_delta(text),
            ScriptEvent::Reasoning(text) if live => self.write_thought(text),
            ScriptEvent::AnswerEnded => self.close(),
            _ => Ok(()),
        }
    }

    fn write_json(&mut self, event: &ScriptEvent) -> io::Result<()> {
        let head = self.open.as_ref().map(|answer| answer.head.clone()).unwrap_or_default();
        let value = match event {
            ScriptEvent::Print(value) => json!({ "type": "print", "text": compact(value) }),
            ScriptEvent::Delta(text) => answer_json("delta", text, head),
            ScriptEvent::Reasoning(text) => answer_json("thinking", text, head),
            ScriptEvent::Note(say) => {
                json!({ "type": "note", "text": say.text(self.format.lang) })
            }
            ScriptEvent::Message(role, text) if self.format.verbose => {
                json!({ "type": "message", "role": role, "content": text })
            }
            ScriptEvent::ScriptCalled(id) => json!({ "type": "call", "script": id }),
            ScriptEvent::StepStarted(began) => {
                let (step, risk) = began.as_ref();
                let id = &step.id;
                let work = &step.work;

                json!({ "type": "step", "id": id, "work": work, "tier": risk.tier })
            }
            ScriptEvent::StepFinished(seen) => {
                let id = &seen.step.id;
                let exit_code = seen.exit_code;

                let outcome = &seen.outcome;
                json!({ "type": "step_end", "id": id, "outcome": outcome, "exit_code": exit_code })
            }
            ScriptEvent::AnswerEnded => {
                self.open = None;
                return Ok(());
            }
            ScriptEvent::AnswerStarted(_)
            | ScriptEvent::Message(..)
            | ScriptEvent::ModelCallStarted
            | ScriptEvent::TokensUsed(_)
            | ScriptEvent::Output(..) => return Ok(()),
        };
        self.line(&value)
    }

    /// The end of a run.
    pub fn write_end(&mut self, came: &Result<RunResult, LocatedError>) -> io::Result<()> {
        if self.format.json && self.usage != Usage::default() {
            let usage = json!({ "type": "usage", "usage": self.usage });
            self.line(&usage)?;
        }
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
                self.close()?;
                let stands = |shown: &Option<String>| shown.as_deref() == Some(text.trim());
                let stands = stands(&self.above) || stands(&self.answer);
                if self.format.live && stands || text.is_empty() {
                    Ok(())
                } else {
                    self.text(&text)
                }
            }
            Err(failure) if self.format.json => {
                let message = failure.localized().text(self.format.lang);
                self.line(&json!({ "type": "error", "message": message }))
            }
            Err(_) => self.close(),
        }
    }

    /// More of an answer: data is written when it is complete.
    fn write_delta(&mut self, text: &str) -> io::Result<()> {
        let starts = self.open.as_ref().is_none_or(|answer| answer.text.is_empty());
        let in_thought = self.open.as_ref().is_some_and(|answer| answer.in_thought);
        let answer = self.open.get_or_insert_default();
        answer.text.push_str(text);
        if answer.head.is_data {
            return Ok(());
        }
        if starts {
            let name = answer.head.role.clone().map(|role| format!("{role}: "));
            if in_thought {
                answer.in_thought = false;
                writeln!(self.out)?;
            }
            self.begin_paragraph()?;
            write!(self.out, "{}", (self.format.clean)(&name.unwrap_or_default()))?;
        }
        write!(self.out, "{}", (self.format.clean)(text))?;
        self.out.flush()
    }

    /// Reasoning precedes its answer, each line after a bar.
    fn write_thought(&mut self, text: &str) -> io::Result<()> {
        let answer = self.open.get_or_insert_default();
        let lines = (self.format.clean)(text).replace('\n', "\n│ ");
        if !std::mem::replace(&mut answer.in_thought, true) {
            self.begin_paragraph()?;
            write!(self.out, "│ ")?;
        }
        write!(self.out, "{lines}")?;
        self.out.flush()
    }

    /// On a terminal, paragraphs are separated by an empty line.
    fn begin_paragraph(&mut self) -> io::Result<()> {
        if self.format.live && self.above.take().is_some() { writeln!(self.out) } else { Ok(()) }
    }

    fn paragraph(&mut self, text: &str) -> io::Result<()> {
        self.begin_paragraph()?;
        self.text(text)?;
        self.above = Some(text.trim().to_owned());
        Ok(())
    }

    /// Ends a paragraph that an answer left open; data is written now.
    fn close(&mut self) -> io::Result<()> {
        let Some(answer) = self.open.take() else { return Ok(()) };
        if answer.head.is_data && self.format.live && !answer.text.is_empty() {
            if answer.in_thought {
                writeln!(self.out)?;
            }
            let value: Option<Value> = serde_json::from_str(answer.text.trim()).ok();
            let text = value.map_or(answer.text, |value| display_value(&value));
            self.answer = Some(text.trim().to_owned());
            return self.paragraph(&text);
        }
        if !answer.text.is_empty() || answer.in_thought {
            if self.format.live {
                writeln!(self.out)?;
            }
            self.above = Some(answer.text.trim().to_owned());
        }
        if !answer.text.is_empty() {
            self.answer = Some(answer.text.trim().to_owned());
        }
        Ok(())
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
            self.text(&phrases::DRY_CALL.with("n", call).text(self.format.lang))?;
        }
        for (role, text) in pairs {
            self.text(&format!("{}: {text}", role.as_str().unwrap_or_default()))?;
        }
        Ok(())
    }

    /// The end of a dry run, which has no result: its answers do not exist.
    pub fn write_dry_end(&mut self, rest: Option<&LocalizedText>) -> io::Result<()> {
        if !self.format.json {
            return Ok(());
        }
        if let Some(rest) = rest {
            self.line(&json!({ "type": "note", "text": rest.text(self.format.lang) }))?;
        }
        self.line(&json!({ "type": "result", "value": null }))
    }

    /// Something else is written to the terminal: an answer that is being written is ended.
    pub fn end_line(&mut self) -> io::Result<()> {
        if self.format.live { self.close() } else { Ok(()) }
    }

    fn line(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")?;
        self.out.flush()
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", (self.format.clean)(text))?;
        self.out.flush()
    }
}

/// A part of an answer, with where it comes from.
fn answer_json(kind: &str, text: &str, head: AnswerHead) -> Value {
    let mut line = json!({ "type": kind, "text": text });
    if head != AnswerHead::default() {
        line["script"] = head.script.into();
        line["call"] = head.call.into();
    }
    if let Some(role) = head.role {
        line["role"] = role.into();
    }
    line
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
    use avocet_core::i18n::LocalizedText;
    use avocet_script::manifest::input::ScriptArgs;

    fn look(json: bool, live: bool) -> RunFormat {
        RunFormat {
            json,
            live,
            verbose: false,
            lang: Lang::En,
            clean: |text| text.replace('\x1b', "␛"),
        }
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
        let named = |text| Value::Object(ScriptArgs::parse(text).unwrap().named);
        assert_eq!(named(r#"{"a": 1}"#), json!({"a": 1}));
        assert_eq!(
            named("{content: \"x\", target: 'English'}"),
            json!({"content": "x", "target": "English"})
        );
        assert_eq!(ScriptArgs::parse("hello {x}").unwrap().positional, [json!("hello {x}")]);
        assert_eq!(
            ScriptArgs::parse("[1, two]").unwrap_err(),
            LocalizedText::from(phrases::ARGS_UNREADABLE)
        );
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
        writer.write_end(&Err(LocatedError::new(phrases::ARGS_UNREADABLE))).unwrap();
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

    fn answer(role: Option<&str>, text: &str, is_data: bool) -> [ScriptEvent; 3] {
        let role = role.map(str::to_owned);
        let head = AnswerHead { role, script: "s".into(), call: 1, is_data };
        let delta = ScriptEvent::Delta(text.into());
        [ScriptEvent::AnswerStarted(head), delta, ScriptEvent::AnswerEnded]
    }

    #[test]
    fn each_answer_is_a_paragraph_with_the_name_of_its_role() {
        let events = [answer(Some("ann"), "I am A", false), answer(Some("bob"), "I am B", false)];
        assert_eq!(
            written(look(false, true), &events.concat(), json!("I am B")),
            "ann: I am A\n\nbob: I am B\n"
        );
        let thought = ScriptEvent::Reasoning("hm\nso".into());
        let [start, delta, end] = answer(None, "yes", false);
        let events = [start, thought, delta, end, ScriptEvent::Print(json!("yes"))];
        assert_eq!(written(look(false, true), &events, json!("yes")), "│ hm\n│ so\nyes\n");
    }

    #[test]
    fn the_scripts_own_messages_are_shown_dim_if_they_are_asked_for() {
        let [start, delta, end] = answer(None, "hi", false);
        let message = ScriptEvent::Message("user".into(), "q\x1b[2J".into());
        let events = [message, start, delta, end];
        assert_eq!(written(look(false, true), &events, json!("hi")), "hi\n");
        let verbose = |json| RunFormat { verbose: true, ..look(json, !json) };
        let text = written(verbose(false), &events, json!("hi"));
        assert_eq!(text, "\x1b[2muser: q␛[2J\x1b[22m\n\nhi\n");
        let text = written(verbose(true), &events[..1], json!(1));
        assert!(text.starts_with(r#"{"type":"message","role":"user","content":"q"#), "{text}");
    }

    #[test]
    fn an_answer_is_not_written_again_below_what_was_printed_after_it() {
        let print = ScriptEvent::Print(json!("note"));
        let [start, delta, end] = answer(None, "yes", false);
        let events = [start, delta, end, print.clone()];
        assert_eq!(written(look(false, true), &events, json!("yes")), "yes\n\nnote\n");
        assert_eq!(written(look(false, true), &events, json!("no")), "yes\n\nnote\nno\n");
        assert_eq!(written(look(false, false), &events, json!("yes")), "note\nyes\n");
        let [start, delta, end] = answer(None, "{\"a\":1}", true);
        let shown = written(look(false, true), &[start, delta, end, print], json!({"a": 1}));
        assert_eq!(shown, "{\n  \"a\": 1\n}\n\nnote\n");
    }

    #[test]
    fn a_dry_run_ends_with_a_result_in_json() {
        let mut writer = Writer::new(Vec::new(), look(true, false));
        writer.write_dry_end(Some(&phrases::DRY_STANDS.into())).unwrap();
        let text = String::from_utf8(writer.out).unwrap();
        assert!(text.ends_with("{\"type\":\"result\",\"value\":null}\n"), "{text}");
        assert!(text.starts_with("{\"type\":\"note\""), "{text}");
        let mut writer = Writer::new(Vec::new(), look(false, true));
        writer.write_dry_end(None).unwrap();
        assert_eq!(writer.out, b"");
    }

    #[test]
    fn data_is_written_once_and_pretty() {
        let events = answer(None, "{\"a\":1}", true);
        let pretty = "{\n  \"a\": 1\n}\n";
        assert_eq!(written(look(false, true), &events, json!({"a": 1})), pretty);
        assert_eq!(written(look(false, false), &events, json!({"a": 1})), pretty);
    }

    #[test]
    fn json_output_says_which_role_and_script_speaks_and_keeps_notes() {
        let note = ScriptEvent::Note(phrases::ARGS_UNREADABLE.into());
        let [start, delta, end] = answer(Some("ann"), "hi", false);
        let text = written(look(true, false), &[start, delta, end, note], json!(1));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r#"{"type":"delta","text":"hi","script":"s","call":1,"role":"ann"}"#);
        assert!(lines[1].starts_with(r#"{"type":"note","text":"#), "{text}");
    }
}
