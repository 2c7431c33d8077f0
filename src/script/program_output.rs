//! What a step of a script printed, and how it ended.

use serde_json::{Value, json};

use avocet_core::protocol::Usage;
use avocet_core::text::cut_middle;

/// The output of a step that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramOutput {
    /// The exit code of a program; `None`: a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// What kept it from its work, as far as that is known.
    pub note: Option<String>,
    /// The tokens that a turn of the agent used.
    pub usage: Usage,
}

/// The most of each stream that an error shows, in bytes.
const MAX_SHOWN: usize = 4 * 1024;

impl ProgramOutput {
    pub fn of_text(text: impl Into<String>) -> ProgramOutput {
        ProgramOutput { code: Some(0), stdout: text.into(), ..ProgramOutput::default() }
    }

    /// As a script has it.
    pub fn to_value(&self) -> Value {
        json!({ "code": self.code, "stdout": self.stdout, "stderr": self.stderr })
    }

    /// Both ends of both streams, each under its name.
    pub fn shown(&self) -> String {
        let streams = [("stdout", self.stdout.trim_end()), ("stderr", self.stderr.trim_end())];
        let streams = streams.iter().filter(|(_, text)| !text.is_empty());
        let shown =
            streams.map(|(name, text)| format!("\n{name}:\n{}", cut_middle(text, MAX_SHOWN)));
        let note = self.note.iter().map(|note| format!("\n{note}"));
        shown.chain(note).collect()
    }
}
