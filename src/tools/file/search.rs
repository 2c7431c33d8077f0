//! `file.search`: the lines in files below a folder that contain a text.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Encoding, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch,
};
use ignore::types::{Types, TypesBuilder};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::list::{glob_matches, matcher, walk};
use super::{FileToolResult, cancelled, head, reason};
use avocet_core::i18n::safety::NOTES;
use avocet_core::i18n::{LocalizedText, tools as phrases};
use avocet_core::protocol::ParsedOutput;
use avocet_core::text::{encoding, path_text};
use avocet_safety::is_sensitive_name;
use avocet_safety::tools::{SearchMode, SearchTask};

/// Lines that are given, and matches that are counted.
const LINES: usize = 200;
const COUNTED: usize = 20_000;
const BYTES: usize = 24 * 1024;
/// Bytes of one line.
const LINE: usize = 240;
/// Bytes that tell the encoding of a file.
const HEAD: usize = 4 * 1024;
/// A longer file holds data rather than text.
const FILE: u64 = 8 * 1024 * 1024;
/// Files whose matches are counted one by one.
const FILES: usize = 40;
/// How much memory an expression may take, in bytes.
const EXPRESSION: usize = 8 * 1024 * 1024;

pub fn run(search: &SearchTask, cancel: &CancellationToken) -> FileToolResult {
    let spot = &search.spot;
    let meta = match std::fs::symlink_metadata(&spot.path) {
        Ok(meta) => meta,
        Err(error) => return FileToolResult::failed(reason(&spot.shown, &spot.path, &error)),
    };
    let (expression, note) = match build_matcher(search) {
        Ok(found) => found,
        Err(say) => return FileToolResult::failed(say),
    };
    let glob = match search.glob.as_deref().map(matcher).transpose() {
        Ok(glob) => glob,
        Err(say) => return FileToolResult::failed(say),
    };
    let kind = match search.kind.as_deref().map(file_types).transpose() {
        Ok(kind) => kind,
        Err(say) => return FileToolResult::failed(say),
    };
    let mut results = SearchResults { mode: search.mode, ..SearchResults::default() };
    let mut searcher = searcher(search.around, search.multiline, None);
    if !meta.is_dir() {
        results.search_file(&spot.path, &spot.shown, &expression, &mut searcher);
        return results.into_result(search, note);
    }
    for entry in walk(&spot.path, false, &search.closed).build().filter_map(Result::ok) {
        if cancel.is_cancelled() {
            return cancelled();
        }
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(inner) = entry.path().strip_prefix(&spot.path) else { continue };
        // Files of credentials are read only when named, and then it is asked about.
        let sensitive = entry.file_name().to_str().is_some_and(is_sensitive_name);
        let unwanted = glob.as_ref().is_some_and(|glob| !glob_matches(glob, inner))
            || kind.as_ref().is_some_and(|kind| !kind.matched(inner, false).is_whitelist());
        if sensitive || unwanted || entry.metadata().is_ok_and(|meta| meta.len() > FILE) {
            continue;
        }
        let shown = match spot.shown.as_str() {
            "." => path_text(inner).into_owned(),
            folder => format!("{folder}/{}", path_text(inner)),
        };
        results.search_file(entry.path(), &shown, &expression, &mut searcher);
        if results.total >= COUNTED {
            break;
        }
    }
    results.into_result(search, note)
}

fn file_types(kind: &str) -> Result<Types, LocalizedText> {
    let mut types = TypesBuilder::new();
    types.add_defaults().select(kind);
    types.build().map_err(|_| phrases::TYPE_UNKNOWN.with("kind", kind))
}

fn searcher(
    (before, after): (usize, usize),
    multiline: bool,
    encoding: Option<Encoding>,
) -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .before_context(before)
        .after_context(after)
        .multi_line(multiline)
        .encoding(encoding)
        .build()
}

/// The expression. An invalid one is searched for literally, and the result says so.
fn build_matcher(
    search: &SearchTask,
) -> Result<(RegexMatcher, Option<LocalizedText>), LocalizedText> {
    let build = |text: &str| {
        RegexMatcherBuilder::new()
            .case_insensitive(search.fold)
            .multi_line(search.multiline)
            .dot_matches_new_line(search.multiline)
            .size_limit(EXPRESSION)
            .line_terminator((!search.multiline).then_some(b'\n'))
            .build(text)
    };
    let query = search.query.trim_end_matches(['\n', '\r']);
    let wrong =
        |error: grep_regex::Error| phrases::QUERY_WRONG.with("why", last_line(&error.to_string()));
    if search.regex {
        match build(query) {
            Ok(expression) => return Ok((expression, None)),
            Err(error) => {
                let note = phrases::QUERY_LITERAL.with("why", last_line(&error.to_string()));
                return Ok((build(&regex::escape(query)).map_err(wrong)?, Some(note)));
            }
        }
    }
    Ok((build(&regex::escape(query)).map_err(wrong)?, None))
}

fn last_line(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    last.trim().to_owned()
}

struct SearchResults {
    mode: SearchMode,
    out: String,
    lines: usize,
    total: usize,
    searched: usize,
    files: Vec<(String, usize)>,
    more_files: usize,
    cut: bool,
}

impl Default for SearchResults {
    fn default() -> SearchResults {
        SearchResults {
            mode: SearchMode::Lines,
            out: String::new(),
            lines: 0,
            total: 0,
            searched: 0,
            files: Vec::new(),
            more_files: 0,
            cut: false,
        }
    }
}

impl SearchResults {
    fn search_file(
        &mut self,
        path: &Path,
        shown: &str,
        expression: &RegexMatcher,
        searcher: &mut Searcher,
    ) {
        let before = self.total;
        // A file that cannot be read is passed over, as one that is gone is.
        let Ok(mut file) = File::open(path) else { return };
        self.searched += 1;
        let encoding = sniff(&mut file);
        let mut lines = LineSink { results: self, shown };
        let _ = match encoding {
            Some(label) => search_encoded(label, searcher, expression, file, &mut lines),
            None => searcher.search_file(expression, &file, &mut lines),
        };
        let count = self.total - before;
        if count == 0 {
            return;
        }
        match self.mode {
            SearchMode::Lines => {}
            SearchMode::Files => self.push(&format!("{shown}\n")),
            SearchMode::Counts => self.push(&format!("{shown}: {count}\n")),
        }
        if self.files.len() < FILES {
            self.files.push((shown.to_owned(), count))
        } else {
            self.more_files += 1
        }
    }

    fn push_line(&mut self, shown: &str, number: Option<u64>, sign: char, text: &[u8]) {
        if self.mode != SearchMode::Lines {
            return;
        }
        let text = String::from_utf8_lossy(text);
        // A match over several lines is one text.
        for (number, text) in (number.unwrap_or(0)..).zip(text.lines()) {
            let kept = head(text, LINE);
            let cut = if kept.len() < text.len() { "…" } else { "" };
            self.push(&format!("{shown}:{number}{sign} {kept}{cut}\n"));
        }
    }

    fn push(&mut self, line: &str) {
        if self.lines >= LINES || self.out.len() + line.len() > BYTES {
            self.cut = true;
            return;
        }
        self.lines += 1;
        self.out.push_str(line);
    }

    fn into_result(self, search: &SearchTask, note: Option<LocalizedText>) -> FileToolResult {
        let none = (self.total == 0).then(|| {
            let is_literal = note.is_some() || !search.regex;
            let say = if is_literal { phrases::SEARCH_NONE_LITERAL } else { phrases::SEARCH_NONE };
            say.with("query", head(&search.query, LINE)).with("files", self.searched)
        });
        let note = match (note, none) {
            (Some(first), Some(next)) => Some(NOTES.with("first", first).with("next", next)),
            (first, next) => first.or(next),
        };
        let items = self.files.iter().map(|(file, n)| json!({ "file": file, "matches": n }));
        let parsed = ParsedOutput {
            kind: "search_matches".to_owned(),
            total: self.total,
            items: items.collect(),
        };
        let cut = self.cut.then(|| {
            let files = self.files.len() + self.more_files;
            phrases::SEARCH_CUT.with("total", self.total).with("files", files)
        });
        FileToolResult {
            stdout: self.out,
            truncated: self.cut,
            parsed: Some(parsed),
            note: note.or(cut),
            ..FileToolResult::default()
        }
    }
}

/// The encoding of a file that is text but not in UTF-8, by its beginning. A mark at the beginning
/// is left to the searcher.
fn sniff(file: &mut File) -> Option<&'static str> {
    let mut head = [0; HEAD];
    let read = file.read(&mut head).ok()?;
    file.rewind().ok()?;
    encoding::detect_head(head.get(..read).unwrap_or_default())
}

fn search_encoded(
    label: &str,
    searcher: &Searcher,
    expression: &RegexMatcher,
    file: File,
    lines: &mut LineSink<'_>,
) -> std::io::Result<()> {
    let encoding = Encoding::new(label).map_err(std::io::Error::other)?;
    let around = (searcher.before_context(), searcher.after_context());
    let mut searcher = self::searcher(around, searcher.multi_line(), Some(encoding));
    searcher.search_file(expression, &file, lines)
}

/// The matches of one file.
struct LineSink<'a> {
    results: &'a mut SearchResults,
    shown: &'a str,
}

impl Sink for LineSink<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.results.total += 1;
        self.results.push_line(self.shown, found.line_number(), ':', found.bytes());
        Ok(self.results.total < COUNTED)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.results.push_line(self.shown, around.line_number(), '-', around.bytes());
        Ok(true)
    }
}
