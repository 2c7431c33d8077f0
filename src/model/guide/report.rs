//! Words the results of the guide's steps, as short Markdown with suggestions.

use super::progress::StepResult;
use avocet_core::i18n::{self, Lang, Phrase, common, guide as words_of};

/// An answer.
#[derive(Debug, PartialEq)]
pub(super) struct ReportWriter {
    pub text: String,
    pub suggestions: Vec<String>,
}

/// Number of lines shown of a file when no range is given.
pub(super) const HEAD: u32 = 200;

/// Maximum number of lines of a list, and of output, that are shown.
const MAX_LINES: usize = 40;

/// The default suggestions of an answer.
const OFFERS: &[Phrase] = &[
    words_of::TRY_CHANGES,
    words_of::TRY_FIND,
    words_of::TRY_LIST,
    common::RUN_TESTS,
    words_of::TRY_CONNECT,
];

impl ReportWriter {
    pub fn new(text: impl Into<String>, lang: Lang) -> ReportWriter {
        ReportWriter::with_suggestions(text, OFFERS, lang)
    }

    fn with_suggestions(text: impl Into<String>, phrases: &[Phrase], lang: Lang) -> ReportWriter {
        let suggestions = phrases.iter().map(|word| word.text(lang).to_owned()).collect();
        ReportWriter { text: text.into(), suggestions }
    }
}

pub(super) fn not_run(result: &StepResult, lang: Lang) -> ReportWriter {
    let line = result.command_line();
    let say = match result.outcome.as_str() {
        "declined" => match user_reason(&result.note) {
            Some(word) => words_of::DECLINED_WORD.with("line", line).with("word", word),
            None => words_of::DECLINED.with("line", line),
        },
        "refused" if result.reason.is_empty() => words_of::REFUSED_BARE.with("line", line),
        "refused" => words_of::REFUSED.with("line", line).with("reason", result.reason.as_str()),
        "timed_out" => words_of::TIMED_OUT.with("line", line),
        "cancelled" => words_of::CANCELLED.with("line", line),
        _ => words_of::NOT_STARTED.with("line", line).with("note", result.note.as_str()),
    };
    let offers = [words_of::TRY_TIERS, words_of::TRY_CHANGES, words_of::TRY_HELP];
    ReportWriter::with_suggestions(say.text(lang), &offers, lang)
}

/// The user's own words in the note that tells the model of a rejection.
fn user_reason(note: &str) -> Option<&str> {
    let (before, _) = i18n::agent::DECLINED_WORD.en.split_once('{')?;
    note.strip_prefix(before).filter(|word| !word.is_empty())
}

pub(super) fn changes(results: &[StepResult], lang: Lang) -> ReportWriter {
    let Some(status) = results.first() else {
        return ReportWriter::new(words_of::CLEAN.text(lang), lang);
    };
    if !status.has_succeeded() {
        return no_repository(status, lang);
    }
    let mut lines = status.stdout.lines().filter(|line| !line.trim().is_empty()).peekable();
    let branch = lines.next_if(|line| line.starts_with("## "));
    let branch = branch.and_then(|line| line.strip_prefix("## "));
    let branch = branch.map(|line| line.split("...").next().unwrap_or(line));
    let branch = branch.map(|line| line.strip_prefix("No commits yet on ").unwrap_or(line));
    let files: Vec<&str> = lines.collect();
    if files.is_empty() {
        let offers = [words_of::TRY_HISTORY, words_of::TRY_LIST, common::RUN_TESTS];
        return ReportWriter::with_suggestions(words_of::CLEAN.text(lang), &offers, lang);
    }
    let head = match branch {
        Some(branch) => words_of::CHANGED.with("branch", branch),
        None => words_of::CHANGED_HERE.into(),
    };
    let mut text = head.with("count", files.len()).text(lang);
    text.push_str(&fence("", &capped(&files, lang)));
    let stat = results.get(1).filter(|diff| diff.has_succeeded());
    if let Some(total) = stat.and_then(|diff| diff.stdout.trim_end().lines().next_back()) {
        text.push_str(&format!("\n\n{}", total.trim()));
    }
    let mut say =
        ReportWriter::with_suggestions(text, &[common::RUN_TESTS, words_of::TRY_HISTORY], lang);
    // ` M path` and `?? path`: the name begins after two letters and a space. Renamed and quoted
    // names are left to the user.
    let plain = |name: &&str| !name.contains(['"', ' ']) && !name.ends_with('/');
    let name = files.iter().filter_map(|line| line.get(3..)).find(plain);
    say.suggestions.splice(0..0, name.map(|name| show(name, lang)));
    say
}

fn no_repository(result: &StepResult, lang: Lang) -> ReportWriter {
    if result.stderr.contains("not a git repository") {
        let offers = [words_of::TRY_LIST, words_of::TRY_FIND, words_of::TRY_CONNECT];
        return ReportWriter::with_suggestions(words_of::NO_REPOSITORY.text(lang), &offers, lang);
    }
    output(result, lang)
}

pub(super) fn history(result: &StepResult, lang: Lang) -> ReportWriter {
    if !result.has_succeeded() {
        if result.stderr.contains("does not have any commits") {
            return ReportWriter::new(words_of::NO_COMMITS.text(lang), lang);
        }
        return no_repository(result, lang);
    }
    let lines: Vec<&str> = result.stdout.lines().filter(|line| !line.is_empty()).collect();
    let head = i18n::plural(lines.len(), words_of::LAST_COMMIT, words_of::COMMITS);
    let mut text = head.text(lang);
    text.push_str(&fence("", &capped(&lines, lang)));
    ReportWriter::with_suggestions(text, &[words_of::TRY_CHANGES, common::RUN_TESTS], lang)
}

pub(super) fn search_results(text: &str, result: &StepResult, lang: Lang) -> ReportWriter {
    let matches = matches(result);
    if matches.is_empty() {
        // 1 means: ran well, no match.
        return match result.exit {
            Some(0 | 1) => {
                ReportWriter::new(words_of::NOT_FOUND.with("text", text).text(lang), lang)
            }
            _ => output(result, lang),
        };
    }
    let mut files: Vec<&str> = matches.iter().map(|(file, _, _)| file.as_str()).collect();
    files.dedup();
    let count = result.total.max(matches.len());
    // When matches are only counted, their files are unknown.
    let head = if count > matches.len() { words_of::FOUND_MANY } else { words_of::FOUND };
    let head = head
        .with("text", text)
        .with("lines", line_count(count))
        .with("files", file_count(files.len()));
    let rows: Vec<String> = matches
        .iter()
        .map(|(file, line, text)| format!("{file}:{line}: {}", text.trim()))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let body = format!("{}{}", head.text(lang), fence("", &capped(&rows, lang)));
    let mut say = ReportWriter::with_suggestions(body, &[words_of::TRY_CHANGES], lang);
    let first = matches.first().map(|(file, line, _)| {
        let line: u32 = line.parse().unwrap_or(1);
        show(&format!("{file}:{}-{}", line.saturating_sub(10).max(1), line + 10), lang)
    });
    say.suggestions.splice(0..0, first);
    say
}

/// File, line number and text: as parsed, else from the output.
fn matches(result: &StepResult) -> Vec<(String, String, String)> {
    let tidy = |file: &str| file.strip_prefix("./").unwrap_or(file).to_owned();
    let parsed = result.items.iter().filter_map(|item| {
        let line = item.get("line")?.as_u64()?.to_string();
        Some((tidy(item.get("file")?.as_str()?), line, item.get("text")?.as_str()?.to_owned()))
    });
    let parsed: Vec<_> = parsed.collect();
    if result.kind == "search_matches" && !parsed.is_empty() {
        return parsed;
    }
    let split = |row: &str| {
        let mut parts = row.splitn(3, ':');
        let file = parts.next()?;
        let line = parts.next()?;
        let text = parts.next()?;

        line.parse::<u64>().ok()?;
        Some((tidy(file), line.to_owned(), text.to_owned()))
    };
    result.stdout.lines().filter_map(split).collect()
}

pub(super) fn file(
    name: &str,
    lines: Option<(u32, u32)>,
    result: &StepResult,
    lang: Lang,
) -> ReportWriter {
    let offers = [words_of::TRY_CHANGES, words_of::TRY_LIST];
    if result.stdout.trim().is_empty() {
        return ReportWriter::with_suggestions(
            words_of::EMPTY_FILE.with("file", name).text(lang),
            &offers,
            lang,
        );
    }
    let shown: Vec<&str> = result.stdout.lines().collect();
    let cut = lines.is_none() && (result.truncated || shown.len() >= HEAD as usize);
    let head = match (lines, cut) {
        (Some((from, to)), _) => words_of::FILE.with("file", format!("{name}:{from}-{to}")),
        (None, true) => words_of::FILE_HEAD.with("file", name).with("count", shown.len()),
        (None, false) => words_of::FILE.with("file", name),
    };
    let ext = name.rsplit_once('.').map_or("", |(_, ext)| ext);
    let ext = if ext.chars().all(|c| c.is_ascii_alphanumeric()) { ext } else { "" };
    ReportWriter::with_suggestions(
        format!("{}{}", head.text(lang), fence(ext, result.stdout.trim_end())),
        &offers,
        lang,
    )
}

pub(super) fn files_of_name(name: &str, result: &StepResult, lang: Lang) -> ReportWriter {
    let files = result.files();
    let files: Vec<&str> =
        files.iter().map(|file| file.strip_prefix("./").unwrap_or(file)).collect();
    if files.is_empty() {
        return ReportWriter::new(words_of::NO_FILE.with("file", name).text(lang), lang);
    }
    let head = words_of::FILES_OF_NAME.with("file", name).text(lang);
    ReportWriter {
        text: format!("{head}{}", fence("", &capped(&files, lang))),
        suggestions: files.iter().take(3).map(|file| show(file, lang)).collect(),
    }
}

pub(super) fn listing(result: &StepResult, lang: Lang) -> ReportWriter {
    if !result.has_succeeded() {
        return output(result, lang);
    }
    let files = result.files();
    if files.is_empty() {
        return ReportWriter::new(words_of::NOTHING_LISTED.text(lang), lang);
    }
    let count = result.total.max(files.len());
    let head = i18n::plural(count, words_of::LISTED_ONE, words_of::LISTED).text(lang);
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let offers = [words_of::TRY_COUNT, words_of::TRY_CHANGES, common::RUN_TESTS];
    let mut say = ReportWriter::with_suggestions(
        format!("{head}{}", fence("", &capped(&names, lang))),
        &offers,
        lang,
    );
    let readme = files.iter().find(|file| file.eq_ignore_ascii_case("README.md"));
    say.suggestions.splice(0..0, readme.map(|file| show(file, lang)));
    say
}

/// `of`: the total number of files.
pub(super) fn line_counts(result: &StepResult, of: usize, lang: Lang) -> ReportWriter {
    let row = |line: &str| {
        let (number, name) = line.trim_start().split_once(' ')?;
        Some((number.parse::<u64>().ok()?, name.trim().to_owned()))
    };
    let mut rows: Vec<(u64, String)> = result.stdout.lines().filter_map(row).collect();
    let total = rows.iter().rposition(|(_, name)| name == "total").map(|at| rows.remove(at).0);
    if rows.is_empty() {
        return output(result, lang);
    }
    let files = result.args.len().saturating_sub(1).max(1);
    let sum = total.unwrap_or_else(|| rows.iter().map(|(count, _)| count).sum());
    let sum = usize::try_from(sum).unwrap_or(usize::MAX);
    let head = words_of::COUNTED.with("lines", line_count(sum)).with("files", file_count(files));
    let mut text = head.text(lang);
    rows.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    if rows.len() > 1 {
        let rows: Vec<String> =
            rows.iter().take(10).map(|(count, name)| format!("{count:>7}  {name}")).collect();
        text.push_str(&format!("\n\n{}", words_of::COUNTED_LARGEST.text(lang)));
        text.push_str(&fence("", &rows.join("\n")));
    }
    if of > files {
        text.push_str("\n\n");
        text.push_str(&words_of::COUNTED_PART.with("files", files).text(lang));
    }
    ReportWriter::with_suggestions(text, &[words_of::TRY_LIST, words_of::TRY_CHANGES], lang)
}

pub(super) fn tests(result: &StepResult, lang: Lang) -> ReportWriter {
    let line = result.command_line();
    let head = if result.has_succeeded() {
        words_of::TESTS_PASSED.with("line", line)
    } else {
        words_of::TESTS_FAILED.with("line", line).with("code", code(result))
    };
    let offers = [words_of::TRY_CHANGES, words_of::TRY_HISTORY];
    ReportWriter::with_suggestions(with_output(head.text(lang), result, lang), &offers, lang)
}

pub(super) fn output(result: &StepResult, lang: Lang) -> ReportWriter {
    let line = result.command_line();
    let quiet = result.stdout.trim().is_empty() && result.stderr.trim().is_empty();
    let head = match (result.has_succeeded(), quiet) {
        (true, true) => words_of::RAN_QUIETLY.with("line", line),
        (true, false) => words_of::RAN.with("line", line),
        (false, _) => words_of::FAILED.with("line", line).with("code", code(result)),
    };
    ReportWriter::new(with_output(head.text(lang), result, lang), lang)
}

fn code(result: &StepResult) -> String {
    result.exit.map_or_else(|| "?".to_owned(), |code| code.to_string())
}

/// The end of the output: that is where programs put their summary.
fn with_output(head: String, result: &StepResult, lang: Lang) -> String {
    let streams = [result.stdout.trim_end(), result.stderr.trim_end()];
    let lines: Vec<&str> = match (streams, result.has_succeeded()) {
        ([out, _], true) if !out.is_empty() => out.lines().collect(),
        ([out, err], _) => out.lines().chain(err.lines()).collect(),
    };
    if lines.is_empty() {
        return head;
    }
    let skipped = lines.len().saturating_sub(MAX_LINES);
    let tail: Vec<&str> = lines.into_iter().skip(skipped).collect();
    let mut text = format!("{head}{}", fence("", &tail.join("\n")));
    if skipped > 0 || result.truncated {
        text.push_str(&format!("\n\n{}", words_of::CUT.text(lang)));
    }
    text
}

fn line_count(count: usize) -> i18n::LocalizedText {
    i18n::plural(count, common::ONE_LINE, common::LINES)
}

fn file_count(files: usize) -> i18n::LocalizedText {
    i18n::plural(files, common::ONE_FILE, common::FILES)
}

fn show(file: &str, lang: Lang) -> String {
    words_of::TRY_SHOW_FILE.with("file", file).text(lang)
}

/// Lines as one text; lines over the limit are only counted.
fn capped(lines: &[&str], lang: Lang) -> String {
    let mut text = lines.iter().take(MAX_LINES).copied().collect::<Vec<_>>().join("\n");
    if lines.len() > MAX_LINES {
        let localized_text: i18n::LocalizedText =
            words_of::MORE.with("count", lines.len() - MAX_LINES);
        text.push_str(&format!("\n{}", localized_text.text(lang)));
    }
    text
}

/// A block of code whose fence is longer than any in it.
fn fence(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("\n\n{ticks}{language}\n{text}\n{ticks}")
}
