//! Writes a step as text that the user can edit, and reads back the edited text. Judging it
//! again is up to the session.

use super::{argv, is_hidden};
use crate::protocol::Work;
use crate::words::{Say, screen as words};

/// How the text is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A program and its arguments, each in quotes where it needs them.
    Exec,
    /// A line for a shell.
    Shell,
    /// The input of a tool, as JSON.
    Tool { name: String },
}

impl Form {
    pub fn of(work: &Work) -> Form {
        match work {
            Work::Exec { .. } => Form::Exec,
            Work::Shell { .. } => Form::Shell,
            Work::Tool { name, .. } => Form::Tool { name: name.clone() },
        }
    }

    /// The meaning of the text.
    ///
    /// # Errors
    /// A sentence for the user: it is empty, a quote is open, it is not JSON.
    pub fn read(&self, text: &str) -> Result<Work, Say> {
        match self {
            Form::Exec => {
                let mut words = argv::split(text)?.into_iter();
                let program = words.next().ok_or(words::EDIT_EMPTY)?;
                Ok(Work::Exec { program, args: words.collect() })
            }
            Form::Shell if text.trim().is_empty() => Err(words::EDIT_EMPTY.into()),
            Form::Shell => Ok(Work::Shell { line: text.to_owned() }),
            Form::Tool { name } => match serde_json::from_str(text) {
                Ok(input) => Ok(Work::Tool { name: name.clone(), input }),
                Err(fault) => Err(words::EDIT_NOT_JSON.with("why", fault.to_string())),
            },
        }
    }
}

/// The step as a text that reads back as exactly this.
pub fn text(work: &Work) -> String {
    match work {
        Work::Tool { input, .. } => serde_json::to_string_pretty(input).unwrap_or_default(),
        Work::Shell { line } => line.clone(),
        Work::Exec { .. } => line(work).unwrap_or_default(),
    }
}

/// The same on one line, of which every character can be seen; `None`: it cannot be
/// written so, because it is a shell's own text.
pub fn line(work: &Work) -> Option<String> {
    match work {
        Work::Exec { program, args } => {
            Some(argv::join(std::iter::once(program).chain(args).map(String::as_str)))
        }
        Work::Shell { line } => {
            let unseen = |c: char| c.is_control() || is_hidden(c);
            (!line.contains(unseen)).then(|| line.clone())
        }
        Work::Tool { input, .. } => Some(seen(&serde_json::to_string(input).ok()?)),
    }
}

/// JSON whose invisible characters, which occur in strings only, are escaped.
fn seen(json: &str) -> String {
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
            Work::exec("git", &["commit", "-m", "it's\nme \u{202e}", "", "中 文"]),
            Work::Shell { line: "ls | wc -l".into() },
            Work::Tool {
                name: "file.read".into(),
                input: json!({ "path": "a\nb\u{202e}\u{e0041}", "from": 2 }),
            },
        ];
        for work in works {
            let form = Form::of(&work);
            assert_eq!(form.read(&text(&work)), Ok(work.clone()));
            let line = line(&work).unwrap();
            assert!(!line.contains(|c: char| c.is_control() || is_hidden(c)), "{line:?}");
            assert_eq!(form.read(&line), Ok(work.clone()));
        }
        for text in ["a\nb", "a\u{202e}b"] {
            assert_eq!(line(&Work::Shell { line: text.into() }), None);
        }
    }
}
