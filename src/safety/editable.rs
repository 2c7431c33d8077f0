//! Writes a step as text that the user can edit, and reads back the edited text. Judging it
//! again is up to the session.

use super::{argv, is_hidden};
use avocet_core::i18n::{LocalizedText, screen as phrases};
use avocet_core::protocol::StepAction;

/// How the text is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditableForm {
    /// A program and its arguments, each in quotes where it needs them.
    Exec,
    /// A line for a shell.
    Shell,
    /// The input of a tool, as JSON.
    Tool { name: String },
}

impl EditableForm {
    pub fn from_action(action: &StepAction) -> EditableForm {
        match action {
            StepAction::Exec { .. } => EditableForm::Exec,
            StepAction::Shell { .. } => EditableForm::Shell,
            StepAction::Tool { name, .. } => EditableForm::Tool { name: name.clone() },
        }
    }

    /// The meaning of the text.
    ///
    /// # Errors
    /// A sentence for the user: it is empty, a quote is open, it is not JSON.
    pub fn parse(&self, text: &str) -> Result<StepAction, LocalizedText> {
        match self {
            EditableForm::Exec => {
                let mut words = argv::split(text)?.into_iter();
                let program = words.next().ok_or(phrases::EDIT_EMPTY)?;
                Ok(StepAction::Exec { program, args: words.collect() })
            }
            EditableForm::Shell if text.trim().is_empty() => Err(phrases::EDIT_EMPTY.into()),
            EditableForm::Shell => Ok(StepAction::Shell { line: text.to_owned() }),
            EditableForm::Tool { name } => match serde_json::from_str(text) {
                Ok(input) => Ok(StepAction::Tool { name: name.clone(), input }),
                Err(fault) => Err(phrases::EDIT_NOT_JSON.with("why", fault.to_string())),
            },
        }
    }
}

/// The step as a text that reads back as exactly this.
pub fn to_text(action: &StepAction) -> String {
    match action {
        StepAction::Tool { input, .. } => serde_json::to_string_pretty(input).unwrap_or_default(),
        StepAction::Shell { line } => line.clone(),
        StepAction::Exec { .. } => action.command_line(),
    }
}

/// The same on one line, of which every character can be seen; `None`: it cannot be
/// written so, because it is a shell's own text.
pub fn to_line(action: &StepAction) -> Option<String> {
    match action {
        StepAction::Exec { .. } => Some(action.command_line()),
        StepAction::Shell { line } => Some(action.command_line()).filter(|shown| shown == line),
        StepAction::Tool { input, .. } => Some(escape_hidden(&serde_json::to_string(input).ok()?)),
    }
}

/// JSON whose invisible characters, which occur in strings only, are escaped.
fn escape_hidden(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_written_step_reads_back_as_exactly_this() {
        let works = [
            StepAction::exec("git", &["commit", "-m", "it's\nme \u{202e}", "", "中 文"]),
            StepAction::Shell { line: "ls | wc -l".into() },
            StepAction::Tool {
                name: "file.read".into(),
                input: json!({ "path": "a\nb\u{202e}\u{e0041}", "from": 2 }),
            },
        ];
        for work in works {
            let form = EditableForm::from_action(&work);
            assert_eq!(form.parse(&to_text(&work)), Ok(work.clone()));
            let line = to_line(&work).unwrap();
            assert!(!line.contains(|c: char| c.is_control() || is_hidden(c)), "{line:?}");
            assert_eq!(form.parse(&line), Ok(work.clone()));
        }
        for text in ["a\nb", "a\u{202e}b"] {
            assert_eq!(to_line(&StepAction::Shell { line: text.into() }), None);
        }
    }
}
