//! The result of a step, and the `tool_result` the model reads (001 §10.2).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Change, Image, Risk, SandboxDenial, Step, StepAction};
use crate::i18n::{Lang, LocalizedText};
use crate::text::without_colors;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ran,
    /// The user rejected it.
    Declined,
    /// The policy refused it.
    Refused,
    TimedOut,
    Cancelled,
    /// It ran as edited by the user; the observation shows the edited step.
    Edited,
    /// The program ended while it ran; the outcome is unknown.
    Interrupted,
    /// The program is missing, or the system could not start it.
    NotStarted,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ran => "ran",
            Outcome::Declined => "declined",
            Outcome::Refused => "refused",
            Outcome::TimedOut => "timed_out",
            Outcome::Cancelled => "cancelled",
            Outcome::Edited => "edited",
            Outcome::Interrupted => "interrupted",
            Outcome::NotStarted => "not_started",
        }
    }
}

/// The output as parsed here: its `kind`, and its fields in the form in which they are serialized.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParsedOutput {
    /// `search_matches`, `file_list`, `git_status`, `git_log`, `git_diff_stat`,
    /// `diagnostics`, `test_summary`, `json`, `plugin_output` or `text`.
    pub kind: String,
    /// The number of items before the list was capped.
    pub total: usize,
    pub items: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The step as it ran: the edited one, if the user edited it.
    pub step: Step,
    /// The absolute folder it ran in.
    pub cwd: String,
    /// `None` if it did not run or was killed by a signal.
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    pub stdout: String,
    pub stderr: String,
    /// True if bytes of either stream are omitted here.
    pub truncated: bool,
    /// How the lines of both streams followed each other; empty where that is not known, or where
    /// there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line_order: Vec<LineRound>,
    pub parsed: Option<ParsedOutput>,
    pub risk: Risk,
    pub outcome: Outcome,
    /// A note by the user or the program: the text of a rejection, why it did not start, which
    /// signal ended it, that it was edited.
    pub note: Option<LocalizedText>,
    /// Its change to a file.
    #[serde(default)]
    pub change: Option<Change>,
    /// What the sandbox denied it, if it failed and its output shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<SandboxDenial>,
    /// Files that it changed and that were put back, with the text it had written, to ask whether
    /// that is kept. Not saved.
    #[serde(skip)]
    pub put_back: Vec<(String, String)>,
    /// Images and documents that it read, for the model to see beside its result. Not saved with it.
    #[serde(skip)]
    pub images: Vec<Image>,
    /// It read what is still at work: the same again is waiting, not a repetition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pending: bool,
}

/// Some lines of standard output, then some of standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRound(pub u32, pub u32);

impl Observation {
    /// Its output as a terminal would have shown it; `None` where the order of its lines is not
    /// known.
    pub fn merged_output(&self) -> Option<String> {
        if self.stdout.trim().is_empty() || self.stderr.trim().is_empty() {
            return Some([self.stdout.as_str(), self.stderr.as_str()].concat());
        }
        if self.line_order.is_empty() || self.truncated {
            return None;
        }
        let mut first = self.stdout.split_inclusive('\n');
        let mut second = self.stderr.split_inclusive('\n');

        let mut lines: Vec<&str> = Vec::new();
        for LineRound(out, err) in &self.line_order {
            lines.extend(first.by_ref().take(*out as usize));
            lines.extend(second.by_ref().take(*err as usize));
        }
        let rest = first.chain(second);
        let line = |line: &str| format!("{}\n", line.strip_suffix('\n').unwrap_or(line));
        Some(lines.into_iter().chain(rest).map(line).collect())
    }

    /// An observation of a step that did not run.
    pub fn not_run(
        step: Step,
        cwd: impl Into<String>,
        risk: Risk,
        outcome: Outcome,
    ) -> Observation {
        Observation {
            step,
            cwd: cwd.into(),
            exit_code: None,
            duration_ms: 0,
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
            line_order: Vec::new(),
            parsed: None,
            risk,
            outcome,
            note: None,
            change: None,
            denied: None,
            put_back: Vec::new(),
            images: Vec::new(),
            is_pending: false,
        }
    }

    /// True when it ran and exited with 0.
    pub fn succeeded(&self) -> bool {
        matches!(self.outcome, Outcome::Ran | Outcome::Edited) && self.exit_code == Some(0)
    }

    /// True for a step that runs on in the background.
    pub fn runs_on(&self) -> bool {
        self.outcome == Outcome::Ran && self.exit_code.is_none() && self.step.requires.background
    }

    /// The exit code as it is shown: what runs on has not failed.
    pub fn shown_exit_code(&self) -> Option<i32> {
        if self.runs_on() { Some(0) } else { self.exit_code }
    }

    /// What is known about why it failed besides its output: a wall of the sandbox, a signal.
    pub fn failure_note(&self) -> Option<&LocalizedText> {
        let failed = self.outcome == Outcome::Ran && self.shown_exit_code() != Some(0);
        self.note.as_ref().filter(|_| failed)
    }

    /// True for a failure of which only its output is known.
    pub fn failed_without_note(&self) -> bool {
        self.outcome == Outcome::Ran && self.shown_exit_code() != Some(0) && self.note.is_none()
    }

    /// Output as the model reads it: the colours of a program would only cost it tokens. What a tool
    /// read in a file stays as it is.
    pub fn for_model<'a>(&self, output: &'a str) -> Cow<'a, str> {
        match self.step.work {
            StepAction::Tool { .. } => Cow::Borrowed(output),
            StepAction::Exec { .. } | StepAction::Shell { .. } => without_colors(output),
        }
    }

    /// The object the model reads: the fields of 001 §10.2 in order, then `risk`, `outcome` and, if
    /// there is one, `note`.
    pub fn tool_result(&self) -> Value {
        let mut out = json!({
            "_event": "tool_result",
            "tool": match &self.step.work {
                StepAction::Exec { .. } => "cmd",
                other => other.tool(),
            },
            "id": self.step.id,
            "cwd": self.cwd,
        });
        match &self.step.work {
            StepAction::Exec { program, args } => {
                out["program"] = json!(program);
                out["args"] = json!(args);
            }
            StepAction::Tool { input, .. } => out["input"] = shorten_input(input),
            StepAction::Shell { line } => out["line"] = json!(line),
        }
        out["exitCode"] = json!(self.exit_code);
        out["durationMs"] = json!(self.duration_ms);
        out["stdoutTail"] = json!(self.for_model(&self.stdout));
        out["stderrTail"] = json!(self.for_model(&self.stderr));
        out["truncated"] = json!(self.truncated);
        out["parsed"] = json!(self.parsed);
        out["risk"] = json!({
            "tier": self.risk.tier,
            "rule": self.risk.rule,
            "reason": self.risk.main_reason().map(|say| say.text(Lang::En)),
        });
        if let Some(change) = &self.change {
            out["changed"] = json!({
                "path": change.path, "added": change.added, "removed": change.removed,
            });
        }
        out["outcome"] = json!(self.outcome);
        if let Some(note) = &self.note {
            out["note"] = json!(note.text(Lang::En));
        }
        out
    }
}

impl Observation {
    /// The result as the text that answers a call of a tool: only what the call does not say.
    pub fn result_text(&self) -> String {
        let mut parts = Vec::new();
        match (self.outcome, self.exit_code) {
            (Outcome::Ran, Some(0)) => {}
            (Outcome::Ran, None) if self.runs_on() => {}
            (Outcome::Ran, Some(code)) => parts.push(format!("exit {code}")),
            (Outcome::Ran, None) => parts.push("ended by a signal".to_owned()),
            (Outcome::Edited, code) => {
                let code = code.map_or("by a signal".to_owned(), |code| code.to_string());
                let line = self.step.work.command_line();
                parts.push(format!("The user ran this instead: {line}\nexit {code}"));
            }
            (Outcome::Refused, _) => {
                let why = self.risk.main_reason().map(|why| why.text(Lang::En));
                parts.push(format!("refused: {}", why.unwrap_or_default()));
            }
            (other, _) => parts.push(other.name().replace('_', " ")),
        }
        parts.extend(self.note.as_ref().map(|note| note.text(Lang::En)));
        if let Some(change) = &self.change
            && self.outcome == Outcome::Ran
        {
            parts.push(format!("{}: +{} -{}", change.path, change.added, change.removed));
        }
        let (out, err) = (self.for_model(&self.stdout), self.for_model(&self.stderr));
        let (out, err) = (out.trim_end(), err.trim_end());
        parts.extend((!out.is_empty()).then(|| out.to_owned()));
        match (out.is_empty(), err.is_empty()) {
            (_, true) => {}
            (true, false) => parts.push(err.to_owned()),
            (false, false) => parts.push(format!("[standard error]\n{err}")),
        }
        if self.truncated
            && let Some(parsed) = &self.parsed
        {
            parts.push(format!(
                "[the whole output, read: {} in all]\n{}",
                parsed.total,
                json!(parsed.items)
            ));
        }
        if parts.is_empty() {
            parts.push("(no output)".to_owned());
        }
        parts.join("\n")
    }
}

/// Longest text of a tool's input that a result repeats, in bytes: the model wrote it itself.
const REPEATED: usize = 160;

fn shorten_input(input: &Value) -> Value {
    match input {
        Value::String(text) if text.len() > REPEATED => {
            let kept = text.get(..text.floor_char_boundary(REPEATED)).unwrap_or_default();
            json!(format!("{kept}[… {} bytes]", text.len()))
        }
        Value::Array(items) => items.iter().map(shorten_input).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), shorten_input(value))).collect(),
        ),
        other => other.clone(),
    }
}
