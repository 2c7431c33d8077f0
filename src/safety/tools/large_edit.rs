//! Judges `file.edit` of a file that is too large to be read whole: the texts are looked for a
//! piece at a time, and what becomes of the file is a list of cuts.

use std::sync::Arc;

use super::change::{self, MAX_BYTES, PATCH, add_write_findings, describe_change};
use super::edit::{TextEdit, has_crlf_only};
use super::file::{FROM, TO};
use super::input::{InputFields, PATH};
use super::masks::Masks;
use super::{Cut, InputError, LargeEdit, ResolvedPath, TaskResult, ToolTask, digest, resolve_path};
use crate::findings::Findings;
use crate::paths::PathClass;
use crate::spec::JudgeContext;
use crate::user_rules::FileAccess;
use crate::{Contents, EditRange, EditSearch, FoundText, LargeFileState, PathKind};
use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{Change, Tier};
use avocet_core::text::encoding::{self, FileEncoding};

/// Bytes at the beginning by which the encoding and the ends of lines are known.
const HEAD: usize = 64 * 1024;
/// Places that are named, and those whose diff is shown.
const NAMED: usize = 8;
const SHOWN: usize = 20;

/// `file.edit`, of a file of any size.
pub fn edit(input: &InputFields<'_>, context: &JudgeContext<'_>, out: &mut Findings) -> TaskResult {
    if let Some(patch) = input.optional_text(PATCH)? {
        return change::patch(patch, input.optional_text(PATH)?, context, out);
    }
    let mut findings = Findings::default();
    let of_edits = change::path_of_edits(input).filter(|_| input.get(PATH).is_none());
    let path = of_edits.as_deref().map_or_else(|| input.text(PATH), Ok)?;
    let place = resolve_path(path, FileAccess::Writes, context, &mut findings)?;
    if !is_large(&place.0, context) {
        return change::edit(path, input, context, out);
    }
    out.merge(&findings);
    let edits = change::parse_edits(input)?;
    let range = EditRange { from: input.number(FROM)?.unwrap_or(1).max(1), to: input.number(TO)? };
    judge(place, &edits, range, context, out)
}

fn is_large(path: &ResolvedPath, context: &JudgeContext<'_>) -> bool {
    let world = context.policy_cx.world;
    world.kind(&path.path) == PathKind::File
        && world.read(&path.path, MAX_BYTES) == Contents::Unreadable
        && world.head(&path.path, MAX_BYTES + 1).is_some_and(|head| head.len() > MAX_BYTES)
}

fn judge(
    (spot, class): (ResolvedPath, PathClass),
    edits: &[TextEdit],
    range: EditRange,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    add_write_findings(&spot, class, context, findings);
    findings.add("file.large", Tier::L1, spot.say(phrases::LARGE_NOT_UNDONE), None, &[]);
    let unreadable = || InputError::from(spot.say(phrases::TOOL_NOT_TEXT));
    let head = context.policy_cx.world.head(&spot.path, HEAD).ok_or_else(unreadable)?;
    let (text, encoding) = encoding::decode_head(&head).ok_or_else(unreadable)?;
    let is_crlf = has_crlf_only(&text);
    let encoding = if head.is_ascii() && !edits.iter().all(TextEdit::is_ascii) {
        sampled_encoding(&spot, context).unwrap_or(encoding)
    } else {
        encoding
    };
    let mut masks = Masks::new(context, "");
    let [old, new] = encoded_texts(edits, &spot, (encoding, is_crlf), &mut masks)?;
    masks.add_findings(&spot, findings);
    let searched =
        context.policy_cx.world.find_texts(&spot.path, &old, EditSearch { encoding, range });
    let searched = searched.ok_or_else(|| spot.say(phrases::LARGE_CHANGES))?;
    let mut found = searched.found;
    found.retain(|place| is_aligned(place, encoding));
    for (at, edit) in edits.iter().enumerate() {
        let texts: Vec<&FoundText> = found.iter().filter(|place| place.text == at).collect();
        check_count(&texts, edit.all, searched.is_more, at + 1)?;
    }
    let length = |text: &FoundText| old.get(text.text).map_or(0, Vec::len) as u64;
    if found.windows(2).any(|two| matches!(two, [a, b] if a.at + length(a) > b.at)) {
        return Err(LocalizedText::from(phrases::EDIT_OVERLAP).into());
    }
    let [old, new] = [old, new].map(|texts| texts.into_iter().map(Arc::from).collect::<Vec<_>>());
    let cut = |text: &FoundText| {
        let (old, new) = (old.get(text.text)?, new.get(text.text)?);
        Some(Cut { at: text.at, old: Arc::clone(old), new: Arc::clone(new) })
    };
    let cuts: Vec<Cut> = found.iter().filter_map(cut).collect();
    let stamp = searched.stamp;
    let change = describe(&spot, (&found, &cuts), (stamp, encoding), context);
    Ok(ToolTask::LargeEdit(Box::new(LargeEdit { spot, stamp, cuts, change })))
}

/// The old texts and the new ones, as the file is written.
fn encoded_texts(
    edits: &[TextEdit],
    path: &ResolvedPath,
    (encoding, is_crlf): (FileEncoding, bool),
    masks: &mut Masks<'_>,
) -> Result<[Vec<Vec<u8>>; 2], InputError> {
    let mut old = Vec::new();
    let mut new = Vec::new();

    for (at, edit) in edits.iter().enumerate() {
        if edit.old == edit.new {
            return Err(phrases::EDIT_SAME.with("n", at + 1).into());
        }
        if edit.old.is_empty() {
            return Err(phrases::EDIT_EMPTY_OLD.with("n", at + 1).into());
        }
        for (text, list) in [(&edit.old, &mut old), (&edit.new, &mut new)] {
            let text = masks.reveal(text)?;
            let text = if is_crlf && !text.contains('\r') {
                text.replace('\n', "\r\n")
            } else {
                text.clone()
            };
            let say = || path.say(phrases::TOOL_NOT_ENCODABLE).with("encoding", encoding.name());
            list.push(encoding.encode(&text).ok_or_else(say)?.into_owned());
        }
    }
    Ok([old, new])
}

/// The encoding of a file whose beginning does not tell it: a log may be plain for long.
fn sampled_encoding(path: &ResolvedPath, context: &JudgeContext<'_>) -> Option<FileEncoding> {
    let sample = context.policy_cx.world.sample(&path.path, HEAD)?;
    Some(encoding::decode_head(&sample)?.1)
}

/// Whether a text was found where a character begins, and not within one.
fn is_aligned(text: &FoundText, encoding: FileEncoding) -> bool {
    match encoding {
        FileEncoding::Utf8
        | FileEncoding::DamagedUtf8
        | FileEncoding::Utf16Le
        | FileEncoding::Utf16Be => true,
        FileEncoding::Other(encoding) => {
            let start = text.before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let line = text.before.get(start..).unwrap_or_default();
            encoding.decode_without_bom_handling_and_without_replacement(line).is_some()
        }
    }
}

fn check_count(
    texts: &[&FoundText],
    all: bool,
    is_more: bool,
    number: usize,
) -> Result<(), InputError> {
    match texts {
        [] => Err(phrases::LARGE_NOT_FOUND.with("n", number).into()),
        [..] if is_more => Err(phrases::LARGE_TOO_OFTEN.with("n", number).into()),
        [_] => Ok(()),
        [..] if all => Ok(()),
        [..] => {
            let lines = texts.iter().take(NAMED).map(|place| place.line.to_string());
            let mut lines: Vec<String> = lines.collect();
            if texts.len() > NAMED {
                lines.push("…".to_owned());
            }
            let say = phrases::EDIT_AMBIGUOUS.with("n", number).with("count", texts.len());
            Err(say.with("lines", lines.join(", ")).into())
        }
    }
}

/// The change as it is shown: each place with the lines around it.
fn describe(
    path: &ResolvedPath,
    (found, cuts): (&[FoundText], &[Cut]),
    (stamp, encoding): (LargeFileState, FileEncoding),
    context: &JudgeContext<'_>,
) -> Change {
    let mut diff = String::new();
    let (mut added, mut removed) = (0, 0);
    // Lines that earlier places added or took away.
    let mut shift = 0_i64;
    for (place, cut) in found.iter().zip(cuts) {
        let with = |text: &[u8]| as_utf8([&place.before, text, &place.after].concat(), encoding);
        let (old, new) = (with(&cut.old), with(&cut.new));
        let redactor = context.policy_cx.world.redactor();
        let part = describe_change(&path.path, &path.shown, (Some(&old), Some(&new)), redactor);
        let above = encoding.count_lines(&place.before);
        let first = i64::try_from(place.line - above.min(place.line - 1)).unwrap_or(i64::MAX) - 1;
        if diff.is_empty() {
            diff = part.diff.lines().take(2).map(|line| format!("{line}\n")).collect();
        }
        added += part.added;
        removed += part.removed;
        if found.len() <= SHOWN || diff.len() < 64 * 1024 {
            for line in part.diff.lines().skip(2) {
                diff += &moved_header(line, first, first + shift);
                diff.push('\n');
            }
        }
        let [new, old] =
            [&cut.new, &cut.old].map(|text| i64::try_from(encoding.count_lines(text)).unwrap_or(0));
        shift += new - old;
    }
    let [before, after] = state_names(stamp, cuts);
    Change {
        path: path.path.to_string_lossy().into_owned(),
        before,
        after,
        added,
        removed,
        diff,
        ..Change::default()
    }
}

/// Neither content is ever held whole: the states have names that no content has.
fn state_names(state: LargeFileState, cuts: &[Cut]) -> [Option<String>; 2] {
    let cuts: String =
        cuts.iter().map(|cut| format!("{} {}\n", cut.at, digest(&cut.new))).collect();
    ["", &cuts].map(|after| Some(digest(format!("{state:?}{after}").as_bytes())))
}

/// So small a part of a file does not tell its encoding.
fn as_utf8(part: Vec<u8>, encoding: FileEncoding) -> Vec<u8> {
    match encoding {
        FileEncoding::Utf8 | FileEncoding::DamagedUtf8 => part,
        other => other.decode_part(&part).into_owned().into_bytes(),
    }
}

/// A line of a diff; the numbers of a hunk's header count from the beginning of the file.
fn moved_header(line: &str, old: i64, new: i64) -> String {
    let parts = line.strip_prefix("@@ -").and_then(|rest| rest.strip_suffix(" @@"));
    let moved = |range: &str, by: i64| {
        let (start, rest) =
            range.split_once(',').map_or((range, ""), |(start, rest)| (start, rest));
        let start = start.parse::<i64>().ok()? + by;
        Some(if rest.is_empty() { start.to_string() } else { format!("{start},{rest}") })
    };
    parts
        .and_then(|parts| parts.split_once(" +"))
        .and_then(|(from, to)| Some(format!("@@ -{} +{} @@", moved(from, old)?, moved(to, new)?)))
        .unwrap_or_else(|| line.to_owned())
}
