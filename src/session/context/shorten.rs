//! Shortens old text without a model: keeps the ends of an output, the start of a list.
//!
//! A tool result keeps its identity (program, args, exit code, outcome) and loses its output; other
//! text loses its middle. Each says how much is omitted. A [`Digest`] is the short record of a step
//! after its turn (001 §8.1).

use avocet_core::text::cut_middle;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use avocet_core::i18n::Lang;
use avocet_core::protocol::{Observation, Outcome, ParsedOutput, StepAction};
use avocet_core::text::cut_end;

/// Number of items of a parsed list that an old result keeps.
const ITEMS: usize = 8;

/// Bytes that a digest keeps of the ends of stdout and stderr (more for a line that the user ran),
/// of one item, of a whole input, and of a step on one line.
const STDOUT: usize = 2_000;
const SHELL: usize = 6_000;
const STDERR: usize = 800;
const ITEM: usize = 240;
const INPUT: usize = 300;
const LINE: usize = 160;

/// The short record of a step: what it was, how it ended, the ends of its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Digest {
    /// The id in the transcript: `cmd_012`.
    pub id: String,
    pub turn: u64,
    /// The step as the model sees it in the history: `{"program","args"}`, `{"tool","input"}` or `{"line"}`.
    pub step: Value,
    pub exit_code: Option<i32>,
    pub outcome: Outcome,
    pub stdout_tail: String,
    pub stderr_tail: String,
    pub parsed: Option<ParsedOutput>,
}

impl Digest {
    pub fn from_observation(turn: u64, observation: &Observation) -> Digest {
        let stdout = observation.for_model(&observation.stdout);
        let stderr = observation.for_model(&observation.stderr);

        let stdout = match observation.step.work {
            // A tool's output matters at both ends, a program's at its end.
            StepAction::Tool { .. } => cut_middle(&stdout, STDOUT),
            StepAction::Exec { .. } => tail(&stdout, STDOUT).to_owned(),
            // The user ran it so that the model sees it.
            StepAction::Shell { .. } => tail(&stdout, SHELL).to_owned(),
        };
        let parsed = observation.parsed.as_ref().map(|parsed| ParsedOutput {
            items: parsed.items.iter().take(ITEMS).map(short_item).collect(),
            ..parsed.clone()
        });
        Digest {
            id: observation.step.id.clone(),
            turn,
            step: short_step(&observation.step.work),
            exit_code: observation.exit_code,
            outcome: observation.outcome,
            stdout_tail: stdout,
            stderr_tail: tail(&stderr, STDERR).to_owned(),
            parsed,
        }
    }

    /// One line of JSON for the model; empty fields are omitted.
    pub fn to_line(&self) -> String {
        let mut out = json!({ "id": self.id });
        if let (Some(out), Value::Object(step)) = (out.as_object_mut(), &self.step) {
            out.extend(step.clone());
        }
        match self.outcome {
            Outcome::Ran => out["exitCode"] = json!(self.exit_code),
            other => out["outcome"] = json!(other),
        }
        for (name, text) in [("stdoutTail", &self.stdout_tail), ("stderrTail", &self.stderr_tail)] {
            if !text.is_empty() {
                out[name] = json!(text);
            }
        }
        if let Some(parsed) = &self.parsed {
            out["parsed"] = json!(parsed);
        }
        out.to_string()
    }

    /// Each text that came from outside, for masking.
    pub fn for_each_text(&mut self, mut each: impl FnMut(&mut String)) {
        each(&mut self.stdout_tail);
        each(&mut self.stderr_tail);
        for_each_string(&mut self.step, &mut each);
        if let Some(parsed) = &mut self.parsed {
            parsed.items.iter_mut().for_each(|item| for_each_string(item, &mut each));
        }
    }
}

/// A step that ran, on one line: `rg foo src → exit 0, 12 search_matches`.
pub fn run_summary(observation: &Observation) -> String {
    let line = cut_end(&observation.step.work.command_line(), LINE);
    let how = match (observation.outcome, observation.exit_code) {
        (Outcome::Ran | Outcome::Edited, Some(code)) => format!("exit {code}"),
        (Outcome::Ran | Outcome::Edited, None) => "no exit".to_owned(),
        (outcome, _) => outcome.name().to_owned(),
    };
    // The user's note on a rejection matters more than the rejected step.
    let how = match (&observation.note, observation.outcome) {
        (Some(note), Outcome::Declined | Outcome::Refused | Outcome::Edited) => {
            format!("{how} ({})", cut_end(&note.text(Lang::En), LINE))
        }
        _ => how,
    };
    match &observation.parsed {
        Some(parsed) if parsed.kind != "text" => {
            format!("{line} → {how}, {} {}", parsed.total, parsed.kind)
        }
        Some(_) | None => format!("{line} → {how}"),
    }
}

fn short_step(action: &StepAction) -> Value {
    match action {
        StepAction::Exec { program, args } => {
            let args: Vec<String> = args.iter().map(|arg| cut_end(arg, INPUT)).collect();
            json!({ "program": program, "args": args })
        }
        StepAction::Tool { name, input } => json!({ "tool": name, "input": short_item(input) }),
        StepAction::Shell { line } => json!({ "line": cut_end(line, INPUT) }),
    }
}

/// A value if it is small, else its text cut to fit.
fn short_item(item: &Value) -> Value {
    let text = item.to_string();
    if text.len() <= ITEM { item.clone() } else { json!(cut_end(&text, ITEM)) }
}

fn for_each_string(value: &mut Value, each: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_string(item, each)),
        Value::Object(fields) => fields.values_mut().for_each(|item| for_each_string(item, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text in at most `limit` bytes. Lines that are tool results are shortened field by field, so
/// that they stay JSON if the limit allows it.
pub fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let share = limit / lines.len().max(1);
    let shorter: Vec<String> = lines.iter().map(|line| shorten_result(line, share)).collect();
    cut_middle(&shorter.join("\n"), limit)
}

fn shorten_result(line: &str, limit: usize) -> String {
    if line.len() <= limit {
        return line.to_owned();
    }
    match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut fields)) if fields.contains_key("_event") => {
            for name in ["stdoutTail", "stderrTail"] {
                if let Some(Value::String(text)) = fields.get(name) {
                    let short = tail(text, limit / 4);
                    fields.insert(name.to_owned(), json!(short));
                }
            }
            if let Some(Value::Array(items)) =
                fields.get_mut("parsed").and_then(|parsed| parsed.get_mut("items"))
            {
                items.truncate(ITEMS);
            }
            fields.insert("truncated".to_owned(), json!(true));
            Value::Object(fields).to_string()
        }
        _ => line.to_owned(),
    }
}

/// The end of a text, in at most `limit` bytes, starting at the start of a line if there is one.
pub(super) fn tail(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let start = text.ceil_char_boundary(text.len() - limit);
    let end = text.split_at(start).1;
    match end.split_once('\n') {
        Some((_, rest)) if !rest.is_empty() => rest,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_result() -> String {
        json!({
            "_event": "tool_result", "tool": "cmd", "id": "cmd_001", "program": "rg",
            "args": ["x"], "exitCode": 0, "stdoutTail": "line\n".repeat(2_000), "stderrTail": "",
            "truncated": false, "parsed": {"kind": "search_matches", "total": 90,
                "items": (0..50).map(|n| json!({"file": "a", "line": n})).collect::<Vec<_>>()},
        })
        .to_string()
    }

    #[test]
    fn an_old_result_stays_json_and_keeps_its_identity() {
        let short = shorten(&long_result(), 2_000);
        assert!(short.len() <= 2_000);
        let value: Value = serde_json::from_str(&short).expect("still JSON");
        assert_eq!(value["program"], "rg");
        assert_eq!(value["parsed"]["total"], 90);
        assert_eq!(value["parsed"]["items"].as_array().map(Vec::len), Some(ITEMS));
        assert_eq!(value["truncated"], true);
    }

    #[test]
    fn any_text_fits_any_limit() {
        for text in ["", "short", &"长".repeat(500), &long_result()] {
            for limit in [0, 1, 7, 96, 97, 300, 5_000] {
                assert!(shorten(text, limit).len() <= limit);
            }
        }
    }

    #[test]
    fn omitted_bytes_are_counted() {
        let text = "a".repeat(1_000);
        let short = cut_middle(&text, 200);
        let kept = short.matches('a').count();
        // The mark's own words contain no `a`.
        assert!(short.contains(&format!("{} bytes left out", 1_000 - kept)), "{short}");
    }
}
