//! Judges the tools that only read: `file.read`, `file.list`, `file.search`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::code::{self, CodeLookup};
use super::input::{InputFields, Names, PATH, parse_number};
use super::schema::{FieldKind, FieldRow, optional, required};
use super::{
    InputError, ListTask, Read, SearchMode, SearchTask, TaskResult, ToolTask, excerpt, resolve_read,
};
use crate::PathKind;
use crate::findings::Findings;
use crate::spec::JudgeContext;
use crate::user_rules;
use avocet_core::i18n::{lsp, safety as phrases};
use avocet_core::protocol::{Effect, Tier};

#[rustfmt::skip]
pub const FROM: Names = &["from", "start", "start_line", "line_start", "start_line_one_indexed", "offset", "line"];
#[rustfmt::skip]
pub const TO: Names = &["to", "end", "end_line", "line_end", "end_line_one_indexed_inclusive"];
const LIMIT: Names = &["limit", "lines", "count"];
const RANGE: Names = &["range", "line_range", "view_range"];
const GLOB: Names = &["glob", "pattern", "include", "glob_pattern", "file_pattern"];
const QUERY: Names = &["query", "text", "pattern", "regex", "search", "q"];
const SEARCHED: Names = &["glob", "include", "files", "include_pattern", "file_pattern"];
const MODE: Names = &["mode", "output_mode"];
const MAX_CONTEXT: usize = 20;

/// The tool that sends a file to the chat.
pub const SEND: &str = "file.send";

pub const READ_FIELDS: &[FieldRow] = &[
    required(PATH, FieldKind::Text),
    optional(FROM, FieldKind::Number).says("first line, from 1"),
    optional(TO, FieldKind::Number).says("last line"),
];
pub const SEND_FIELDS: &[FieldRow] =
    &[required(PATH, FieldKind::Text).says("a file of the folder")];
pub const LIST_FIELDS: &[FieldRow] = &[
    optional(PATH, FieldKind::Text).says("folder"),
    optional(GLOB, FieldKind::Text).says("as *.rs"),
    optional(&["depth"], FieldKind::Number).says("levels of folders"),
    optional(&["all"], FieldKind::Flag).says("hidden and ignored too"),
];
pub const SEARCH_FIELDS: &[FieldRow] = &[
    required(QUERY, FieldKind::Text),
    optional(PATH, FieldKind::Text).says("folder or file"),
    optional(SEARCHED, FieldKind::Text).says("as *.rs"),
    optional(&["type"], FieldKind::Text).says("as py, rust"),
    optional(MODE, FieldKind::OneOf(&["lines", "files", "count"])),
    optional(&["ignore_case"], FieldKind::Flag),
    optional(&["literal"], FieldKind::Flag).says("no regular expression"),
    optional(&["multiline"], FieldKind::Flag).says("matches go over lines"),
    optional(&["before"], FieldKind::Number).says("lines before a match"),
    optional(&["after"], FieldKind::Number),
];

pub fn read(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let spot = resolve_read(input.text(PATH)?, context, findings)?;
    // One number is how many.
    let lines = input.get(&["lines"]).filter(|lines| parse_number(lines).is_none());
    let (from, to) = match input.get(RANGE).or(lines) {
        Some(range) => parse_range(range).ok_or_else(|| {
            InputError::from(phrases::RANGE_WRONG.with("found", range.to_string()))
        })?,
        None => (input.number(FROM)?, input.number(TO)?),
    };
    let from = from.unwrap_or(1).max(1);
    let limit = if lines.is_none() { input.number(LIMIT)? } else { None };
    let to = match (to, limit) {
        (Some(to), _) => Some(to),
        (None, Some(limit)) => Some(from.saturating_add(limit.max(1)) - 1),
        (None, None) => None,
    };
    if to.is_some_and(|to| to < from) {
        let found = format!("{from}-{}", to.unwrap_or_default());
        return Err(phrases::RANGE_WRONG.with("found", found).into());
    }
    if context.policy_cx.world.kind(&spot.path) == PathKind::Folder {
        let closed = own_folders_below(&spot.path, context);
        let list = ListTask { spot, glob: None, depth: Some(1), all: false, closed };
        return Ok(ToolTask::List(list));
    }
    Ok(ToolTask::Read(Read { spot, from, to }))
}

/// A file for the chat, as it is.
pub fn send(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let spot = resolve_read(input.text(PATH)?, context, findings)?;
    findings.add(SEND, Tier::L1, spot.say(phrases::TOOL_SENDS), None, &[Effect::Send]);
    Ok(ToolTask::Read(Read { spot, from: 1, to: None }))
}

/// `[10, 20]`, `"10-20"`, `"10:20"`.
fn parse_range(value: &Value) -> Option<(Option<usize>, Option<usize>)> {
    match value {
        Value::Array(two) => {
            let [from, to] = two.as_slice() else { return None };
            let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
            // To the last line.
            let to = if to.as_i64() == Some(-1) { None } else { Some(number(to)?) };
            Some((Some(number(from)?), to))
        }
        Value::String(text) => {
            let text = text.trim_matches(['[', ']']);
            let (from, to) = text.split_once(['-', ':', ',']).unwrap_or((text, text));
            let number = |text: &str| match text.trim() {
                "" => Some(None),
                text => text.parse().ok().map(Some),
            };
            Some((number(from)?, number(to)?))
        }
        _ => None,
    }
}

pub fn list(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let spot = resolve_read(input.optional_text(PATH)?.unwrap_or("."), context, findings)?;
    let glob = input.optional_text(GLOB)?.map(str::to_owned);
    let depth = input.number(&["depth", "max_depth"])?;
    let all = input.flag(&["all", "hidden"])?;
    let closed = own_folders_below(&spot.path, context);
    Ok(ToolTask::List(ListTask { spot, glob, depth, all, closed }))
}

fn own_folders_below(folder: &Path, context: &JudgeContext<'_>) -> Vec<PathBuf> {
    let own = context.policy_cx.place.own.iter();
    own.filter(|own| own.starts_with(folder)).cloned().collect()
}

/// What a search leaves out. Where a rule of the user names files by a pattern, it asks.
fn closed_below(
    folder: &Path,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Vec<PathBuf> {
    let mut closed = own_folders_below(folder, context);
    for (pattern, _) in user_rules::patterns_below(folder, context) {
        let start = user_rules::fixed_start(&pattern);
        let is_whole =
            pattern.strip_prefix(&start).is_ok_and(|rest| rest.iter().all(|it| it == "**"));
        if is_whole && !folder.starts_with(&start) {
            closed.push(start);
        } else {
            user_rules::check_folder(folder, None, context, findings);
        }
    }
    closed
}

pub fn search(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let spot = resolve_read(input.optional_text(PATH)?.unwrap_or("."), context, findings)?;
    let query = input.text(QUERY)?.to_owned();
    if query.is_empty() {
        return Err(input.missing_field_error(QUERY));
    }
    // A query in a field named `regex` is one, whatever else is given.
    let literal = input.flag(&["literal", "fixed_strings"])?
        || input.get(&["regex"]) == Some(&Value::Bool(false));
    let mode = match input.optional_text(MODE)? {
        None | Some("lines" | "content" | "") => SearchMode::Lines,
        Some("files" | "files_with_matches") => SearchMode::Files,
        Some("count" | "counts") => SearchMode::Counts,
        Some(other) => return Err(phrases::MODE_WRONG.with("found", excerpt(other)).into()),
    };
    let lines = input.number(&["context", "around", "-C"])?.unwrap_or(0);
    let around =
        |names| Ok::<_, InputError>(input.number(names)?.unwrap_or(lines).min(MAX_CONTEXT));
    Ok(ToolTask::Search(SearchTask {
        closed: closed_below(&spot.path, context, findings),
        spot,
        query,
        regex: !literal,
        fold: input.flag(&["ignore_case", "fold", "insensitive", "case_insensitive", "-i"])?
            || input.get(&["case_sensitive"]) == Some(&Value::Bool(false)),
        multiline: input.flag(&["multiline"])?,
        mode,
        glob: input.optional_text(SEARCHED)?.filter(|glob| !glob.is_empty()).map(str::to_owned),
        kind: input.optional_text(&["type"])?.filter(|kind| !kind.is_empty()).map(str::to_owned),
        around: (around(&["before", "-B"])?, around(&["after", "-A"])?),
    }))
}

/// A question about code of the workspace.
pub fn judge_lookup(
    lookup: CodeLookup,
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let spot = match code::path_of(lookup, input)? {
        Some(path) => Some(resolve_read(path, context, findings)?),
        None => None,
    };
    if let Some(spot) = spot.as_ref().filter(|spot| !spot.inside) {
        return Err(spot.say(lsp::OUTSIDE).into());
    }
    let task = code::judge(lookup, input, spot.map(|spot| spot.path), findings)?;
    Ok(ToolTask::Code(Box::new(task)))
}
