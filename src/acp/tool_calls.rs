//! Steps as the calls of tools that an editor shows: their kind, the places they are about, their
//! diffs and what came of them. Pure.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;

use avocet_core::i18n::Lang;
use avocet_core::protocol::{Change, Observation, Outcome, Step, StepAction};
use avocet_core::text::one_line;
use avocet_present::outcome::{step_title, ways_out};
use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// Output that is shown of a step, in bytes: the end of it.
const MAX_OUTPUT: usize = 16 << 10;

/// Text of others, made safe to show.
pub fn safe(text: &str) -> String {
    clean(text, CarriageReturnMode::EndsLine)
}

fn kind_of(action: &StepAction) -> ToolKind {
    match action.tool() {
        "exec" | "shell" => ToolKind::Execute,
        "file.read" | "file.list" => ToolKind::Read,
        "file.search" | "code.symbols" | "code.definition" | "code.references" | "code.hover" => {
            ToolKind::Search
        }
        "web.fetch" | "web.search" => ToolKind::Fetch,
        "file.write" | "file.edit" | "code.rename" | "file.restore" | "config.json_patch"
        | "note" => ToolKind::Edit,
        _ => ToolKind::Other,
    }
}

/// Whether it is shown as a call: the plan and questions have a form of their own.
pub fn is_shown(action: &StepAction) -> bool {
    !matches!(action.tool(), "plan" | "ask")
}

/// A step that is about to run or is asked about.
pub fn tool_call(step: &Step, change: Option<&Change>, cwd: &str, lang: Lang) -> ToolCall {
    let title = one_line(&safe(&step_title(&step.work).text(lang)));
    let locations = match change {
        Some(change) => changed_places(change),
        None => named_place(step, cwd).into_iter().collect(),
    };
    ToolCall::new(step.id.clone(), title)
        .kind(kind_of(&step.work))
        .content(change.map(diffs).unwrap_or_default())
        .locations(locations)
}

/// The place that a file tool names.
fn named_place(step: &Step, cwd: &str) -> Option<ToolCallLocation> {
    let StepAction::Tool { name, input } = &step.work else { return None };
    let path = name.starts_with("file.").then(|| input.get("path")?.as_str()).flatten()?;
    let line = input.get("from").and_then(Value::as_u64).and_then(|from| u32::try_from(from).ok());
    Some(ToolCallLocation::new(Path::new(cwd).join(safe(path))).line(line))
}

fn changed_places(change: &Change) -> Vec<ToolCallLocation> {
    let lines = hunks(change).into_iter();
    let mut places: Vec<ToolCallLocation> = Vec::new();
    for hunk in lines {
        if places.iter().all(|place| place.path != hunk.path) {
            places.push(ToolCallLocation::new(hunk.path).line(hunk.line.max(1)));
        }
    }
    places
}

/// The changed parts of the files, each as a diff of its own.
pub fn diffs(change: &Change) -> Vec<ToolCallContent> {
    let diff = |hunk: FileHunk| {
        let old = (!hunk.is_new_file).then(|| safe(&hunk.old));
        ToolCallContent::from(Diff::new(hunk.path, safe(&hunk.new)).old_text(old))
    };
    hunks(change).into_iter().map(diff).collect()
}

/// A part of a file before and after.
#[derive(Debug, Default, PartialEq, Eq)]
struct FileHunk {
    path: PathBuf,
    is_new_file: bool,
    /// Where it begins afterwards; 0: the file is empty.
    line: u32,
    old: String,
    new: String,
}

/// The hunks of a unified diff. Lines are counted as the hunk announces them, since any line of a
/// file may look like one of the diff.
fn hunks(change: &Change) -> Vec<FileHunk> {
    let mut files = std::iter::once(change).chain(&change.others);
    let mut file: Option<&Change> = None;
    let mut hunks: Vec<FileHunk> = Vec::new();
    let mut old_left = 0;
    let mut new_left = 0;
    for line in change.diff.split_inclusive('\n') {
        match (line.chars().next(), hunks.last_mut()) {
            (Some('\\'), Some(hunk)) => {
                let end =
                    if old_left == 0 && new_left == 0 { &mut hunk.new } else { &mut hunk.old };
                end.truncate(end.trim_end_matches('\n').len());
            }
            (Some(sign @ (' ' | '-' | '+')), Some(hunk)) if old_left > 0 || new_left > 0 => {
                let text = line.get(1..).unwrap_or_default();
                if sign != '+' {
                    hunk.old.push_str(text);
                    old_left -= 1;
                }
                if sign != '-' {
                    hunk.new.push_str(text);
                    new_left -= 1;
                }
            }
            _ if line.starts_with("--- ") => file = files.next(),
            _ => {
                let (Some(file), Some(ranges)) = (file, hunk_ranges(line)) else { continue };
                let (line, counts) = ranges;
                (old_left, new_left) = counts;
                let path = PathBuf::from(safe(&file.path));
                let is_new_file = file.before.is_none();
                hunks.push(FileHunk { path, is_new_file, line, ..FileHunk::default() });
            }
        }
    }
    hunks
}

/// Of `@@ -a,b +c,d @@`: the line after, and how many lines each side has.
fn hunk_ranges(line: &str) -> Option<(u32, (i64, i64))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let new = rest.split(' ').next()?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let first = new.split(',').next()?.parse().ok()?;
    Some((first, (count(old)?, count(new)?)))
}

/// What came of a step.
pub fn finished(observation: &Observation, lang: Lang) -> ToolCallUpdate {
    let status = if observation.succeeded() || observation.runs_on() {
        ToolCallStatus::Completed
    } else {
        ToolCallStatus::Failed
    };
    let mut content = observation.change.as_ref().map(diffs).unwrap_or_default();
    content.extend(output_of(observation).map(ToolCallContent::from));
    content.extend(notes_of(observation, lang).map(ToolCallContent::from));
    let fields = ToolCallUpdateFields::new().status(status).content(content);
    ToolCallUpdate::new(observation.step.id.clone(), fields)
}

/// The end of the output, in a fence that nothing in it can close.
fn output_of(observation: &Observation) -> Option<String> {
    let whole = observation
        .merged_output()
        .unwrap_or_else(|| format!("{}{}", observation.stdout, observation.stderr));
    let text = clean(whole.trim_end(), CarriageReturnMode::OverwritesLine);
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_OUTPUT));
    let text = text.get(from..).filter(|text| !text.is_empty())?;
    let ticks = text.split(|c| c != '`').map(str::len).max().unwrap_or(0).max(2) + 1;
    let fence = "`".repeat(ticks);
    Some(format!("{fence}\n{text}\n{fence}"))
}

/// Why it did not work, and what can be done.
fn notes_of(observation: &Observation, lang: Lang) -> Option<String> {
    let reason = observation.risk.main_reason().cloned();
    let why = match observation.outcome {
        Outcome::Declined | Outcome::Refused => reason,
        _ => observation.note.clone(),
    };
    let says: Vec<String> =
        why.into_iter().chain(ways_out(observation)).map(|say| safe(&say.text(lang))).collect();
    (!says.is_empty()).then(|| says.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: Option<&str>, diff: &str) -> Change {
        let before = before.map(str::to_owned);
        Change { path: path.into(), before, diff: diff.into(), ..Change::default() }
    }

    #[test]
    fn each_hunk_of_a_diff_becomes_the_text_before_and_after() {
        let diff = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n--- y\n+++ z\n@@ -9 +9,2 @@\n-9\n+9\n+ten\n";
        let found = hunks(&change("/w/a", Some("1"), diff));
        let texts: Vec<_> = found.iter().map(|hunk| (&*hunk.old, &*hunk.new, hunk.line)).collect();
        assert_eq!(texts, [("x\n-- y\n", "x\n++ z\n", 1), ("9\n", "9\nten\n", 9)]);
        assert!(found.iter().all(|hunk| hunk.path == Path::new("/w/a") && !hunk.is_new_file));
    }

    #[test]
    fn several_files_and_a_line_without_an_end_are_told_apart() {
        let diff = "--- a\n+++ a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n--- b\n+++ b\n@@ -1 +0,0 @@\n-y\n";
        let mut all = change("/w/a", None, diff);
        all.others = vec![change("/w/b", Some("1"), "")];
        let found = hunks(&all);
        assert_eq!((found[0].new.as_str(), found[0].is_new_file), ("x", true));
        assert_eq!((found[1].old.as_str(), found[1].path.as_path()), ("y\n", Path::new("/w/b")));
    }

    #[test]
    fn a_diff_that_announces_more_than_it_has_breaks_nothing() {
        for diff in
            ["--- a\n@@ -1,9 +1,9 @@\n x\n", "@@ -1 +1 @@\n x\n", "--- a\n@@ x @@\n-y\n", "+"]
        {
            let _ = hunks(&change("/w/a", None, diff));
        }
    }
}
