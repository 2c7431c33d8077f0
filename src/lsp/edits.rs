//! Turns the change of files that a server proposes into a diff, which is judged and made like any
//! other change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use serde_json::Value;

use super::answer_context::AnswerContext;
use super::document::path_of;
use avocet_core::i18n::{LocalizedText, lsp as phrases};

const MAX_FILES: usize = 200;

type Edits<'a> = BTreeMap<PathBuf, Vec<&'a Value>>;

/// The diff of a change. Blocks, since it reads the files.
///
/// # Errors
/// It changes nothing, or more than texts of files in the workspace.
pub(crate) fn diff_of(result: &Value, context: &AnswerContext) -> Result<String, LocalizedText> {
    let edits = edits_of(result).ok_or_else(|| LocalizedText::from(phrases::EDIT_UNUSABLE))?;
    if edits.is_empty() {
        return Err(phrases::NOTHING_FOUND.into());
    }
    let mut diff = String::new();
    for (path, edits) in edits.iter().take(MAX_FILES + 1) {
        let outside = || phrases::EDIT_OUTSIDE.with("path", path.display().to_string());
        let (real, text) = context.read_file(path).ok_or_else(outside)?;
        let shown = context.shown(&real).ok_or_else(outside)?.display().to_string();
        let mut changes: Vec<(Range<usize>, &str)> =
            edits.iter().filter_map(|edit| change_of(&text, edit, context)).collect();
        changes.sort_by_key(|(range, _)| (range.start, range.end));
        let overlaps = changes.windows(2).any(|pair| pair[0].0.end > pair[1].0.start);
        if overlaps || changes.len() != edits.len() || edits.len() > MAX_FILES * 100 {
            return Err(phrases::EDIT_UNUSABLE.into());
        }
        add_file(&mut diff, &shown, &text, &changes);
    }
    if edits.len() > MAX_FILES { Err(phrases::EDIT_UNUSABLE.into()) } else { Ok(diff) }
}

/// The edits of each file; `None`: files are made, moved or deleted as well.
fn edits_of(result: &Value) -> Option<Edits<'_>> {
    let mut all = Edits::new();
    if let Some(changes) = result.get("documentChanges").and_then(Value::as_array) {
        for change in changes {
            let path = path_of(change.pointer("/textDocument/uri")?.as_str()?)?;
            all.entry(path).or_default().extend(change.get("edits")?.as_array()?);
        }
    } else if let Some(changes) = result.get("changes").and_then(Value::as_object) {
        for (uri, edits) in changes {
            all.entry(path_of(uri)?).or_default().extend(edits.as_array()?);
        }
    }
    Some(all)
}

fn change_of<'a>(
    text: &str,
    edit: &'a Value,
    context: &AnswerContext,
) -> Option<(Range<usize>, &'a str)> {
    let start = context.unit.offset(text, edit.pointer("/range/start")?);
    let end = context.unit.offset(text, edit.pointer("/range/end")?);
    let new = edit.get("newText")?.as_str()?;
    (start <= end).then_some((start..end, new))
}

/// The part of a diff for one file: changes of the same lines together.
fn add_file(diff: &mut String, shown: &str, text: &str, changes: &[(Range<usize>, &str)]) {
    let _ = writeln!(diff, "--- a/{shown}\n+++ b/{shown}");
    let line_start =
        |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line_end = |at: usize| {
        text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |end| at + end)
    };
    let mut rest = changes;
    let mut grown = 0_isize;
    while let Some((first, _)) = rest.first() {
        let start = line_start(first.start);
        let mut end = line_end(first.end);
        let mut count = 1;
        while let Some((next, _)) = rest.get(count).filter(|(next, _)| next.start <= end) {
            end = line_end(next.end);
            count += 1;
        }
        let old = text.get(start..end).unwrap_or_default();
        let mut new = String::new();
        let mut done = start;
        for (range, replacement) in rest.iter().take(count) {
            new.push_str(text.get(done..range.start).unwrap_or_default());
            new.push_str(replacement);
            done = range.end;
        }
        new.push_str(text.get(done..end).unwrap_or_default());
        let line = text.get(..start).map_or(0, |before| before.matches('\n').count()) + 1;
        let sizes = [old.split('\n').count(), new.split('\n').count()];
        let new_line = line.saturating_add_signed(grown);
        let _ = writeln!(diff, "@@ -{line},{} +{new_line},{} @@", sizes[0], sizes[1]);
        for (sign, part) in [('-', old), ('+', new.as_str())] {
            for line in part.split('\n') {
                let _ = writeln!(diff, "{sign}{}", line.trim_end_matches('\r'));
            }
        }
        grown += sizes[1].cast_signed() - sizes[0].cast_signed();
        rest = rest.get(count..).unwrap_or_default();
    }
}
