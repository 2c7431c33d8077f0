//! Chooses the guide's next move: steps to propose, or the answer.
//!
//! Decides from the request and the results of earlier steps of the turn. Every request takes three
//! steps at most, so a turn always ends.

use super::intent::GuideIntent;
use super::progress::StepResult;
use super::report::{self, HEAD, ReportWriter};
use avocet_core::i18n::{self, Lang, Phrase, guide as words_of};
use avocet_core::text;

#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Do(GuideSteps),
    Say(ReportWriter),
}

#[derive(Debug, PartialEq)]
pub(super) struct GuideSteps {
    pub why: String,
    pub expected: String,
    /// Each is a program and its arguments.
    pub commands: Vec<Vec<String>>,
}

/// Maximum number of files whose lines are counted, and of bytes of their names.
const MAX_FILES: usize = 400;
const MAX_NAMES: usize = 30_000;

pub(super) fn next(intent: &GuideIntent, results: &[StepResult], lang: Lang) -> Next {
    if let Some(last) = results.last()
        && !last.has_run()
        && !(last.is_unavailable() && may_replace(intent, results))
    {
        // A skipped step has no reason of its own; the step before it has.
        let why = results.iter().rfind(|finding| finding.outcome != "cancelled");
        let why = why.filter(|finding| !finding.has_run()).unwrap_or(last);
        return Next::Say(report::not_run(why, lang));
    }
    match intent {
        GuideIntent::Hello => answer_with(words_of::HELLO, lang),
        GuideIntent::Help => answer_with(words_of::HELP, lang),
        GuideIntent::Tiers => answer_with(words_of::TIERS, lang),
        GuideIntent::Connect => answer_with(words_of::CONNECT, lang),
        GuideIntent::Other => answer_with(words_of::OTHER, lang),
        GuideIntent::Changes => changes(results, lang),
        GuideIntent::History => history(results, lang),
        GuideIntent::Find { text, place } => find(text, place.as_deref(), results, lang),
        GuideIntent::Show { file, lines } => show(file, *lines, results, lang),
        GuideIntent::List { place } => list(place.as_deref(), results, lang),
        GuideIntent::Count { file, kind } => count(file.as_deref(), *kind, results, lang),
        GuideIntent::Tests => tests(results, lang),
        GuideIntent::Run(line) => run(line, results, lang),
    }
}

/// A first step that has an alternative: `grep` for `rg`, `find` for `git`.
fn may_replace(intent: &GuideIntent, results: &[StepResult]) -> bool {
    results.len() == 1
        && matches!(intent, GuideIntent::Find { .. } | GuideIntent::Count { file: None, .. })
}

fn answer_with(phrase: Phrase, lang: Lang) -> Next {
    Next::Say(ReportWriter::new(phrase.text(lang), lang))
}

fn propose(
    why: impl Into<i18n::LocalizedText>,
    expected: Phrase,
    commands: Vec<Vec<String>>,
    lang: Lang,
) -> Next {
    let expected = expected.text(lang).to_owned();
    Next::Do(GuideSteps { why: why.into().text(lang), expected, commands })
}

fn command(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A path in a form that no program takes for an option.
fn operand(path: &str) -> String {
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}

fn changes(results: &[StepResult], lang: Lang) -> Next {
    if results.is_empty() {
        let status = command(&["git", "status", "--short", "--branch"]);
        let diff = command(&["git", "diff", "--stat"]);
        return propose(words_of::WHY_CHANGES, words_of::WANT_CHANGES, vec![status, diff], lang);
    }
    Next::Say(report::changes(results, lang))
}

fn history(results: &[StepResult], lang: Lang) -> Next {
    match results.last() {
        None => {
            let log = command(&["git", "log", "--oneline", "-n", "15"]);
            propose(words_of::WHY_HISTORY, words_of::WANT_HISTORY, vec![log], lang)
        }
        Some(log) => Next::Say(report::history(log, lang)),
    }
}

fn find(text: &str, place: Option<&str>, results: &[StepResult], lang: Lang) -> Next {
    let place = operand(place.unwrap_or("."));
    // Searched literally, not as a pattern; `--` ends the options.
    let plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'));
    let line = |start: &[&str]| {
        let mut line = command(start);
        line.extend((!plain).then(|| "-F".to_owned()));
        line.extend(text.starts_with('-').then(|| "--".to_owned()));
        line.extend([text.to_owned(), place.clone()]);
        line
    };
    match results {
        [] => {
            let why = words_of::WHY_FIND.with("text", text);
            propose(why, words_of::WANT_FIND, vec![line(&["rg", "-n"])], lang)
        }
        [first] if first.is_unavailable() => {
            let grep = vec![line(&["grep", "-rn"])];
            propose(words_of::WHY_FIND_GREP, words_of::WANT_FIND, grep, lang)
        }
        [.., last] => Next::Say(report::search_results(text, last, lang)),
    }
}

fn show(file: &str, lines: Option<(u32, u32)>, results: &[StepResult], lang: Lang) -> Next {
    match results {
        [] => {
            let range = lines.map(|(from, to)| format!("{from},{to}p"));
            let path = operand(file);
            let line = match &range {
                Some(range) => command(&["sed", "-n", range, &path]),
                None => command(&["head", "-n", &HEAD.to_string(), &path]),
            };
            let why = words_of::WHY_SHOW.with("file", file);
            propose(why, words_of::WANT_SHOW, vec![line], lang)
        }
        [read] if read.has_succeeded() => Next::Say(report::file(file, lines, read, lang)),
        [_] => {
            let name = file.rsplit('/').next().unwrap_or(file);
            let line = command(&["find", ".", "-name", name]);
            let why = words_of::WHY_WHERE.with("file", file);
            propose(why, words_of::WANT_WHERE, vec![line], lang)
        }
        [.., search] => Next::Say(report::files_of_name(file, search, lang)),
    }
}

fn list(place: Option<&str>, results: &[StepResult], lang: Lang) -> Next {
    match results.last() {
        None => {
            let mut line = command(&["ls"]);
            line.extend(place.map(operand));
            propose(words_of::WHY_LIST, words_of::WANT_LIST, vec![line], lang)
        }
        Some(listing) => Next::Say(report::listing(listing, lang)),
    }
}

fn count(file: Option<&str>, kind: Option<&str>, results: &[StepResult], lang: Lang) -> Next {
    let count = |lines: Vec<String>| {
        let mut line = command(&["wc", "-l"]);
        line.extend(lines);
        propose(words_of::WHY_COUNT, words_of::WANT_COUNT, vec![line], lang)
    };
    match (file, results) {
        (Some(file), []) => count(vec![operand(file)]),
        (None, []) => {
            let files = vec![command(&["git", "ls-files"])];
            propose(words_of::WHY_COUNT_FILES, words_of::WANT_LIST, files, lang)
        }
        (None, [tracked]) if tracked.program == "git" && !tracked.has_succeeded() => {
            let all = command(&["find", ".", "-type", "f", "-not", "-path", "*/.*"]);
            propose(words_of::WHY_COUNT_FILES, words_of::WANT_LIST, vec![all], lang)
        }
        (_, [.., last]) if last.program == "wc" => {
            Next::Say(report::line_counts(last, all_files(results, kind), lang))
        }
        (_, [.., files]) => match some_files(files, kind) {
            files if files.is_empty() => answer_with(words_of::NO_FILES, lang),
            files => count(files),
        },
    }
}

/// How many files there were before the list was capped.
fn all_files(results: &[StepResult], kind: Option<&str>) -> usize {
    let listing = results.iter().rev().nth(1);
    listing.map_or(1, |files| match kind {
        None => {
            let named = files.files().len();
            files.total.max(named) - (named - of_kind(files, None).count())
        }
        Some(_) => of_kind(files, kind).count(),
    })
}

/// Files of one kind; hidden ones are not code, and some of them contain secrets.
fn of_kind(result: &StepResult, kind: Option<&str>) -> impl Iterator<Item = String> {
    let hidden = |name: &str| name.split('/').any(|part| part.len() > 1 && part.starts_with('.'));
    let wanted = move |name: &String| !hidden(name) && kind.is_none_or(|end| name.ends_with(end));
    result.files().into_iter().filter(wanted)
}

fn some_files(result: &StepResult, kind: Option<&str>) -> Vec<String> {
    let mut bytes = 0;
    of_kind(result, kind)
        .take(MAX_FILES)
        .take_while(|name| {
            bytes += name.len();
            bytes <= MAX_NAMES
        })
        .map(|name| operand(&name))
        .collect()
}

/// Files that show how a project is tested, and the command.
#[rustfmt::skip]
const TESTS: &[(&str, &[&str])] = &[
    ("Cargo.toml",     &["cargo", "test"]),
    ("package.json",   &["npm", "test"]),
    ("go.mod",         &["go", "test", "./..."]),
    ("pyproject.toml", &["python3", "-m", "pytest"]),
    ("pytest.ini",     &["python3", "-m", "pytest"]),
    ("setup.py",       &["python3", "-m", "pytest"]),
    ("Makefile",       &["make", "test"]),
];

fn tests(results: &[StepResult], lang: Lang) -> Next {
    match results {
        [] => propose(words_of::WHY_LIST_TESTS, words_of::WANT_LIST, vec![command(&["ls"])], lang),
        [listing] if listing.program == "ls" => {
            let files = listing.files();
            let has = |name: &str| files.iter().any(|file| file.trim_start_matches("./") == name);
            match TESTS.iter().find(|(name, _)| has(name)) {
                None => answer_with(words_of::NO_TESTS, lang),
                Some((_, line)) => {
                    let why = words_of::WHY_TESTS.with("line", text::command_line(*line));
                    propose(why, words_of::WANT_TESTS, vec![command(line)], lang)
                }
            }
        }
        [.., last] => Next::Say(report::tests(last, lang)),
    }
}

fn run(line: &[String], results: &[StepResult], lang: Lang) -> Next {
    match results.last() {
        None => {
            let why = words_of::WHY_RUN.with("line", text::command_line(line));
            propose(why, words_of::WANT_RUN, vec![line.to_vec()], lang)
        }
        Some(last) => Next::Say(report::output(last, lang)),
    }
}
