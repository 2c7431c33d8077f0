//! Judges changes to a file: `file.write` and `file.edit`. The new content is computed here
//! from the current one; line ends, a byte order mark and the last line's end stay as they
//! were.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::diff::unified;
use super::edit::{self, TextEdit};
use super::file::{FROM, TO};
use super::file_patch::{self, PatchedFile};
use super::input::{InputFields, Names, PATH};
use super::masks::Masks;
use super::schema::{FieldKind, FieldRow, optional, required};
use super::{
    InputError, PatchTask, ResolvedPath, TaskResult, ToolTask, Write, as_text, content, decode,
    digest, excerpt, resolve_path,
};
use crate::findings::Findings;
use crate::machine::PathKind;
use crate::paths::PathClass;
use crate::redact::Redactor;
use crate::spec::JudgeContext;
use crate::steering::{LOCAL_NOTES, NOTES};
use crate::user_rules::FileAccess;
use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{Change, Effect, Tier};
use avocet_core::text::encoding::{self, FileEncoding};
use avocet_core::text::{one_line, path_text};

/// A file larger than this is not changed, in bytes.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The mark some editors put before the first character.
const BOM: &str = "\u{feff}";

const CONTENT: Names = &["content", "contents", "text", "data", "file_text", "code"];
const EDITS: Names = &["edits", "changes", "replacements"];
const OLD: Names =
    &["old", "old_string", "old_str", "old_text", "old_content", "search", "find", "before"];
const NEW: Names =
    &["new", "new_string", "new_str", "new_text", "new_content", "replace", "replacement", "after"];
/// A line after which the new text goes.
const INSERT: Names = &["insert_line"];
/// A whole patch or diff.
pub const PATCH: Names = &["patch", "diff", "input", "patch_text"];
const ALL: Names = &["all", "replace_all"];

pub const WRITE_FIELDS: &[FieldRow] =
    &[required(PATH, FieldKind::Text), required(CONTENT, FieldKind::Text)];
pub const EDIT_FIELDS: &[FieldRow] = &[
    required(PATH, FieldKind::Text),
    required(
        EDITS,
        FieldKind::Objects(&[
            required(OLD, FieldKind::Text).says("lines as the file has them, without numbers"),
            required(NEW, FieldKind::Text).says("\"\" deletes"),
            optional(ALL, FieldKind::Flag).says("every place"),
        ]),
    ),
    optional(FROM, FieldKind::Number).says("of files over 4 MiB: the first line looked at"),
    optional(TO, FieldKind::Number),
];

pub fn write(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let (spot, class) = resolve_path(input.text(PATH)?, FileAccess::Writes, context, findings)?;
    add_write_findings(&spot, class, context, findings);
    let text = input.text(CONTENT)?;
    if text.len() > MAX_BYTES {
        return Err(spot.say(phrases::TOOL_TOO_BIG).with("most", MAX_BYTES / 1024).into());
    }
    let before = content(&spot, context, MAX_BYTES)?;
    let old = match &before {
        None => None,
        Some(bytes) => Some(decode(bytes, &spot)?),
    };
    let encoding = old.as_ref().map_or(FileEncoding::Utf8, |(_, encoding)| *encoding);
    let old = old.as_ref().map(|(text, _)| text.as_ref());
    let text = whole_text(text, old, &spot)?;
    let mut masks = Masks::new(context, old.unwrap_or_default());
    let real = masks.reveal(text.0)?;
    let as_file = |text| match old {
        Some(old) if !old.is_empty() => keep_file_style(old, text),
        Some(_) | None => (Cow::Borrowed(text), None),
    };
    let (after, kept) = as_file(&real);
    let note = text.1.or(kept);
    let shown = masks.has_masks().then(|| masks.masked_display(&as_file(text.0).0, &after));
    masks.add_findings(&spot, findings);
    check_last_seen(&spot, before.as_deref(), RequiredRead::Whole, context, findings);
    let bytes = encode(&after, encoding, &spot)?;
    let shown = shown.or_else(|| (encoding != FileEncoding::Utf8).then(|| after.to_string()));
    change_task(spot, before.clone(), FileAfter { bytes: &bytes, shown }, note, context)
}

/// The content for a whole file, with a fence around all of it removed. An error if a line
/// is a placeholder for omitted content.
fn whole_text<'a>(
    text: &'a str,
    old: Option<&str>,
    path: &ResolvedPath,
) -> Result<(&'a str, Option<LocalizedText>), InputError> {
    let has_fences = ["md", "mdx", "markdown", "rst", "adoc", "txt"];
    let end = path.path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let inside = edit::unfence(text).filter(|_| !has_fences.contains(&end));
    let inside = inside.filter(|_| !old.is_some_and(|old| old.starts_with("```")));
    let note = inside.map(|_| LocalizedText::from(phrases::UNFENCED));
    let text = inside.unwrap_or(text);
    match old.and_then(|old| edit::placeholder::find(old, text)) {
        Some(line) => Err(phrases::WRITE_PLACEHOLDER.with("line", excerpt(line)).into()),
        None => Ok((text, note)),
    }
}

pub fn edit(
    path: &str,
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let (spot, class) = resolve_path(path, FileAccess::Writes, context, findings)?;
    let edits = parse_edits(input)?;
    edit_file((spot, class), edits, context, findings)
}

/// Edits in turn of one file, all of them or none.
fn edit_file(
    (spot, class): (ResolvedPath, PathClass),
    edits: Vec<TextEdit>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    add_write_findings(&spot, class, context, findings);
    let before = content(&spot, context, MAX_BYTES)?;
    let Some(bytes) = before else {
        return match edits.as_slice() {
            [TextEdit { old, new, .. }] if old.is_empty() => {
                let mut masks = Masks::new(context, "");
                let real = masks.reveal(new)?;
                masks.add_findings(&spot, findings);
                let shown = masks.has_masks().then(|| masks.masked_display(new, &real));
                change_task(spot, None, FileAfter { bytes: real.as_bytes(), shown }, None, context)
            }
            _ => Err(spot.missing_error()),
        };
    };
    let (text, encoding) = decode(&bytes, &spot)?;
    let mut masks = Masks::new(context, &text);
    let (done, shown) = apply_edits(&text, edits, &mut masks)?;
    masks.add_findings(&spot, findings);
    check_last_seen(&spot, Some(&bytes), RequiredRead::Part, context, findings);
    let after = encode(&done.text, encoding, &spot)?;
    let shown = shown.or_else(|| (encoding != FileEncoding::Utf8).then(|| done.text.clone()));
    let after = FileAfter { bytes: &after, shown };
    change_task(spot, Some(bytes.clone()), after, done.note, context)
}

/// A patch of one or several files: one change, made of all of it or none.
pub fn patch(
    text: &str,
    path: Option<&str>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let mut writes: Vec<Write> = Vec::new();
    for file in file_patch::parse(text, path)? {
        let (spot, class) = resolve_path(file.path(), FileAccess::Writes, context, findings)?;
        if writes.iter().any(|write| write.spot == spot) {
            return Err(spot.say(phrases::PATCH_TWICE).into());
        }
        match file {
            PatchedFile::Add { content: text, .. } => {
                if content(&spot, context, MAX_BYTES)?.is_some_and(|bytes| !bytes.is_empty()) {
                    return Err(spot.say(phrases::PATCH_EXISTS).into());
                }
                let edit = TextEdit { new: text, ..TextEdit::default() };
                writes.push(written(edit_file((spot, class), vec![edit], context, findings)?)?);
            }
            PatchedFile::Delete { .. } => writes.push(delete(spot, class, context, findings)?),
            PatchedFile::Update { to: None, edits, .. } => {
                writes.push(written(edit_file((spot, class), edits, context, findings)?)?);
            }
            PatchedFile::Update { to: Some(to), edits, .. } => {
                let (target, target_class) =
                    resolve_path(&to, FileAccess::Writes, context, findings)?;
                if content(&target, context, MAX_BYTES)?.is_some() {
                    return Err(target.say(phrases::PATCH_EXISTS).into());
                }
                add_write_findings(&target, target_class, context, findings);
                let gone = delete(spot.clone(), class, context, findings)?;
                let before = content(&spot, context, MAX_BYTES)?.unwrap_or_default();
                let after = if edits.is_empty() {
                    Arc::from(before)
                } else {
                    written(edit_file((spot, class), edits, context, findings)?)?
                        .after
                        .unwrap_or_default()
                };
                let after = FileAfter { bytes: &after, shown: None };
                writes.push(written(change_task(target, None, after, None, context)?)?);
                writes.push(gone);
            }
        }
    }
    if let [_] = writes.as_slice() {
        return Ok(ToolTask::Change(Box::new(writes.remove(0))));
    }
    let changes = writes.iter().map(|write| write.change.clone()).collect();
    let change = Change::of_files(changes).unwrap_or_default();
    Ok(ToolTask::Patch(Box::new(PatchTask { writes, change })))
}

fn written(task: ToolTask) -> Result<Write, InputError> {
    match task {
        ToolTask::Change(write) => Ok(*write),
        _ => Err(LocalizedText::from(phrases::TOOL_FAULT).into()),
    }
}

fn delete(
    path: ResolvedPath,
    class: PathClass,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Result<Write, InputError> {
    add_write_findings(&path, class, context, findings);
    findings.add("file.delete", Tier::L1, path.say(phrases::TOOL_DELETES), None, &[Effect::Delete]);
    let Some(before) = content(&path, context, MAX_BYTES)? else {
        return Err(path.missing_error());
    };
    check_last_seen(&path, Some(&before), RequiredRead::Part, context, findings);
    let change = build_change(&path, (Some(&before), None), context);
    Ok(Write { spot: path, after: None, change, backup: false, note: None, obstacle: None })
}

/// The text as the file is encoded.
fn encode<'a>(
    text: &'a str,
    encoding: FileEncoding,
    path: &ResolvedPath,
) -> Result<Cow<'a, [u8]>, InputError> {
    let say = || path.say(phrases::TOOL_NOT_ENCODABLE).with("encoding", encoding.name());
    encoding.encode(text).ok_or_else(|| say().into())
}

/// The text with its edits done, and where masks were turned back, also as it is shown.
fn apply_edits(
    text: &str,
    edits: Vec<TextEdit>,
    masks: &mut Masks<'_>,
) -> Result<(edit::Edited, Option<String>), InputError> {
    let mut real = Vec::with_capacity(edits.len());
    let mut visible = Vec::with_capacity(edits.len());
    for edit in &edits {
        let old = masks.reveal(&edit.old)?;
        let new = masks.reveal(&edit.new)?;

        visible.push(TextEdit { old: old.clone(), ..edit.clone() });
        real.push(TextEdit { old, new, ..edit.clone() });
    }
    if !masks.has_masks() {
        return Ok((edit::apply(text, &real)?, None));
    }
    let done = edit::apply(text, &real).map_err(|fault| {
        // The nearest text is shown as the model knows the file.
        let detail = edit::apply(&masks.masked_before(), &edits).err().map(|fault| fault.detail);
        InputError { detail: detail.unwrap_or_default(), ..fault }
    })?;
    // A later edit may rest on a value that an earlier one wrote.
    let shown = edit::apply(text, &visible).map(|shown| shown.text);
    let shown = shown.unwrap_or_else(|_| masks.mask_used(&done.text));
    let shown = masks.masked_display(&shown, &done.text);
    Ok((done, Some(shown)))
}

/// One edit for each element of `edits`, or the single one next to the path.
pub fn parse_edits(input: &InputFields<'_>) -> Result<Vec<TextEdit>, InputError> {
    let list = input.list(EDITS)?;
    let Some(list) = list.filter(|list| !list.is_empty() || input.get(OLD).is_none()) else {
        return Ok(vec![parse_edit(input)?]);
    };
    if list.is_empty() {
        return Err(input.missing_field_error(EDITS));
    }
    let all = list.iter().enumerate().map(|(at, value)| {
        let name = format!("file.edit: edits[{at}]");
        parse_edit(&InputFields::new(&name, value))
    });
    all.collect()
}

/// The file that is named by each of the edits, and by all the same.
pub fn path_of_edits(input: &InputFields<'_>) -> Option<String> {
    let list = input.list(EDITS).ok()??;
    let path = |edit| InputFields::new("", edit).text(PATH).ok().map(str::to_owned);
    let mut paths = list.iter().map(path);
    let first = paths.next()??;
    paths.all(|path| path.as_ref() == Some(&first)).then_some(first)
}

fn parse_edit(input: &InputFields<'_>) -> Result<TextEdit, InputError> {
    if let Some(line) = input.number(INSERT)? {
        let new = input.optional_text(&["insert_text"])?.map_or_else(|| input.text(NEW), Ok)?;
        let new = if new.ends_with('\n') { new.to_owned() } else { format!("{new}\n") };
        let anchor = Some(edit::Anchor { line: Some(line), ..edit::Anchor::default() });
        return Ok(TextEdit { new, anchor, ..TextEdit::default() });
    }
    let old = input.text(OLD)?.to_owned();
    let new = input.text(NEW)?.to_owned();

    Ok(TextEdit { old, new, all: input.flag(ALL)?, anchor: None })
}

/// The text with the properties the file keeps: its mark, its line ends, the end of its
/// last line.
fn keep_file_style<'a>(old: &str, text: &'a str) -> (Cow<'a, str>, Option<LocalizedText>) {
    let mut out = Cow::Borrowed(text);
    let mut localized_text: Option<LocalizedText> = None;
    if edit::has_crlf_only(old) && !text.contains('\r') && text.contains('\n') {
        out = Cow::Owned(text.replace('\n', "\r\n"));
        localized_text = Some(phrases::KEPT_CRLF.into());
    }
    let end = if edit::has_crlf_only(old) { "\r\n" } else { "\n" };
    if old.ends_with('\n') && !out.is_empty() && !out.ends_with('\n') {
        out.to_mut().push_str(end);
        localized_text = localized_text.or(Some(phrases::KEPT_END.into()));
    }
    if old.starts_with(BOM) && !out.starts_with(BOM) {
        out.to_mut().insert_str(0, BOM);
        localized_text = localized_text.or(Some(phrases::KEPT_BOM.into()));
    }
    (out, localized_text)
}

/// How much of a file a change rests on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequiredRead {
    Whole,
    Part,
}

/// The file as the model last saw it, against the file now.
fn check_last_seen(
    resolved_path: &ResolvedPath,
    before: Option<&[u8]>,
    read: RequiredRead,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    let Some(before) = before else { return };
    let path = excerpt(&resolved_path.shown);
    match context.policy_cx.world.last_known_digest(&resolved_path.path) {
        Some(seen) if seen != digest(before) => {
            findings.add(
                "file.changed",
                Tier::L1,
                phrases::FILE_CHANGED.with("path", path),
                None,
                &[],
            );
        }
        None if read == RequiredRead::Whole && !before.is_empty() => {
            findings.add(
                "file.unread",
                Tier::L1,
                phrases::FILE_UNREAD.with("path", path),
                None,
                &[],
            );
        }
        Some(_) | None => {}
    }
}

/// The kind of place, for writing.
pub fn add_write_findings(
    path: &ResolvedPath,
    class: PathClass,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    let say = path.say(phrases::TOOL_WRITES);
    findings.add("file.write", Tier::L1, say, None, &[Effect::Write]);
    // Its other names may be anywhere, also where more than this would be asked.
    if context.policy_cx.world.has_other_names(&path.path) {
        let say = path.say(phrases::WRITES_OTHER_NAMES);
        findings.add("path.names", Tier::L1, say, None, &[Effect::Outside]);
    }
    let git = path.path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    let Some((rule, tier, why)) = class.write_risk(git, || is_steering_file(path, context)) else {
        return;
    };
    let effects: &[Effect] = match class {
        PathClass::Inside => &[Effect::Exec],
        PathClass::Sensitive => &[Effect::Secret],
        PathClass::Outside | PathClass::Public => &[Effect::Outside],
        PathClass::Secret => &[Effect::Secret, Effect::Outside],
    };
    findings.add(rule, tier, path.say(why), None, effects);
}

/// Files that tell agents and programs what to do and what to run.
fn is_steering_file(path: &ResolvedPath, context: &JudgeContext<'_>) -> bool {
    path.inside && context.policy_cx.steers(&path.path)
}

/// The new content of a file.
pub struct FileAfter<'a> {
    pub bytes: &'a [u8],
    /// How it is shown; `None`: as it is.
    pub shown: Option<String>,
}

/// The task of a file that becomes `after`.
pub fn change_task(
    path: ResolvedPath,
    before: Option<Vec<u8>>,
    after: FileAfter<'_>,
    text: Option<LocalizedText>,
    context: &JudgeContext<'_>,
) -> Result<ToolTask, InputError> {
    if before.as_deref() == Some(after.bytes) {
        return Err(path.say(phrases::NOTHING_CHANGES).into());
    }
    let seen = after.shown.as_deref().map_or(after.bytes, str::as_bytes);
    let mut change = build_change(&path, (before.as_deref(), Some(seen)), context);
    change.after = Some(digest(after.bytes));
    let after = Some(Arc::from(after.bytes));
    Ok(ToolTask::Change(Box::new(Write {
        spot: path,
        after,
        change,
        backup: false,
        note: text,
        obstacle: None,
    })))
}

/// The display of a change. The secrets of the current file are masked, also where they
/// stay; new text is shown.
pub fn build_change(
    path: &ResolvedPath,
    contents: (Option<&[u8]>, Option<&[u8]>),
    context: &JudgeContext<'_>,
) -> Change {
    describe_change(&path.path, &path.shown, contents, context.policy_cx.world.redactor())
}

/// The same for a file of any path and name.
pub fn describe_change(
    path: &Path,
    shown: &str,
    (before, after): (Option<&[u8]>, Option<&[u8]>),
    secrets: Option<&Redactor>,
) -> Change {
    let text = |bytes: Option<&[u8]>| {
        let bytes = bytes.unwrap_or_default();
        match encoding::decode(bytes) {
            Some((text, _)) => text.into_owned(),
            None => String::from_utf8_lossy(bytes).into_owned(),
        }
    };
    let (old, new) = (text(before), text(after));
    let (old, new) = match secrets {
        Some(secrets) => {
            let (old, new) = secrets.mask_both(&old, &new);
            (old.into_owned(), new.into_owned())
        }
        None => (old, new),
    };
    // Where all lines end the same way, their ends are not worth mentioning.
    let same = |text: &str| text.is_empty() || edit::has_crlf_only(text);
    let (old, new) = if same(&old) && same(&new) {
        (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    } else {
        (old, new)
    };
    let (diff, added, removed) = unified(shown, &old, &new);
    Change {
        path: path_text(path).into_owned(),
        before: before.map(digest),
        after: after.map(digest),
        added,
        removed,
        diff,
        ..Change::default()
    }
}

/// The tool by which a model proposes a line for the instructions of the folder. It asks in every
/// mode.
pub const NOTE: &str = "note";
/// Where a note goes if the folder has no file for it yet.
const NEW_NOTES: &str = "AGENTS.md";

const NOTE_TEXT: Names = &["text", "note", "fact", "memory", "content"];
const NOTE_PLACE: Names = &["place", "scope"];
pub const NOTE_FIELDS: &[FieldRow] = &[
    required(NOTE_TEXT, FieldKind::Text),
    optional(NOTE_PLACE, FieldKind::OneOf(&["project", "local"])).says("local: not shared"),
];

pub fn note(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let text = one_line(input.text(NOTE_TEXT)?.trim());
    if text.is_empty() {
        return Err(input.missing_field_error(NOTE_TEXT));
    }
    let place = context.policy_cx.place;
    let is_file =
        |name: &&&str| context.policy_cx.world.kind(&place.cwd.join(name)) == PathKind::File;
    let name = match input.optional_text(NOTE_PLACE)? {
        Some("local") => LOCAL_NOTES,
        _ => NOTES.iter().find(is_file).copied().unwrap_or(NEW_NOTES),
    };
    let path = place.cwd.join(name);
    let (spot, class) =
        resolve_path(&path.to_string_lossy(), FileAccess::Writes, context, findings)?;
    add_write_findings(&spot, class, context, findings);
    findings.add(NOTE, Tier::L1, spot.say(phrases::ADDS_NOTE), None, &[Effect::Write]);
    let before = content(&spot, context, MAX_BYTES)?;
    let old = match &before {
        None => "",
        Some(bytes) => as_text(bytes, &spot)?,
    };
    let newline = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    let after = format!("{old}{newline}- {text}\n");
    let file = FileAfter { bytes: after.as_bytes(), shown: None };
    change_task(spot, before.clone(), file, None, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_the_mark_of_a_file_are_put_back_into_a_models_text() {
        let kept = |old: &str, text: &str| keep_file_style(old, text).0.into_owned();
        assert_eq!(kept("a\r\nb\r\n", "x\ny\n"), "x\r\ny\r\n");
        assert_eq!(kept("a\r\nb\r\n", "x\ny"), "x\r\ny\r\n");
        assert_eq!(kept("\u{feff}a\n", "x"), "\u{feff}x\n");
        assert_eq!(kept("a", "x\n"), "x\n");
        assert_eq!(kept("a\n", ""), "");
        assert_eq!(kept("a\r\nb\n", "x\ny\n"), "x\ny\n", "mixed ends are nobody's rule");
    }
}
