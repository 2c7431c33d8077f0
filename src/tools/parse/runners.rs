//! Reads what other test runners report: Go, unittest, RSpec, Mocha, Bun and Deno.

use super::checks::{TestFailure, TestSummary, count};
use super::command::subcommand;
use super::items::{FinishedCommand, Items};
use super::javascript::{MAX_MESSAGE_LINES, own_place, place_in};
use super::search::{number, position};

/// Lines of a message that only explain its signs.
const LEGENDS: &[&str] = &[
    "+ actual - expected",
    "+ expected - actual",
    "- Expected",
    "+ Received",
    "(compared using ==)",
];

/// The failure that is being read.
#[derive(Debug, Default)]
struct FailureReader {
    summary: TestSummary,
    /// What follows is about the last failure.
    is_open: bool,
    /// Its message is over: frames or code follow.
    is_message_read: bool,
}

impl FailureReader {
    fn begin(&mut self, name: &str) {
        self.is_open = self.summary.add_failure(name).is_some();
        self.is_message_read = false;
    }

    fn failure(&mut self) -> Option<&mut TestFailure> {
        self.summary.failures.last_mut().filter(|_| self.is_open)
    }

    /// The first place counts.
    fn set_place(&mut self, file: &str, line: u64) {
        self.is_message_read = true;
        if let Some(failure) = self.failure().filter(|failure| failure.line.is_none()) {
            failure.set_place(file.strip_prefix("./").unwrap_or(file), line);
        }
    }

    fn say(&mut self, text: &str) {
        let is_message = !self.is_message_read && !text.is_empty() && !LEGENDS.contains(&text);
        let Some(failure) = self.failure().filter(|_| is_message) else { return };
        if failure.message.as_deref().unwrap_or_default().lines().count() < MAX_MESSAGE_LINES {
            failure.say(text);
        }
    }

    /// `at f (test/a.js:6:12)`, or a line of the message.
    fn read_frame_or_message(&mut self, text: &str) {
        match text.strip_prefix("at ") {
            Some(frame) => {
                self.is_message_read = true;
                if let Some((file, line)) = own_place(frame) {
                    self.set_place(file, line);
                }
            }
            None => self.say(text),
        }
    }

    fn into_items(self, is_counted: bool) -> Option<Items> {
        let TestSummary { passed, failed, .. } = self.summary;
        (is_counted && passed + failed > 0).then(|| self.summary.into_items())
    }
}

/// `go test`. Tests that passed are listed only with `-v`, so failures alone are an answer.
pub(super) fn go(command: &FinishedCommand<'_>) -> Option<Items> {
    subcommand(command.args).filter(|(name, _)| *name == "test")?;
    let mut reader = FailureReader::default();
    // With `-v` a test's lines come before its result.
    let mut test = "";
    let mut earlier: Vec<(&str, &str)> = Vec::new();
    for line in command.stdout.lines() {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("=== ") {
            test = rest.split_whitespace().nth(1).unwrap_or_default();
            reader.is_open = false;
        } else if let Some(rest) = text.strip_prefix("--- FAIL: ") {
            let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
            remove_parent(&mut reader.summary, name);
            reader.begin(name);
            for (_, line) in earlier.iter().filter(|(test, _)| *test == name) {
                read_go(&mut reader, line);
            }
        } else if text.starts_with("--- ")
            || ["FAIL", "ok", "PASS"].iter().any(|word| line.starts_with(word))
        {
            reader.is_open = false;
        } else if reader.is_open {
            read_go(&mut reader, line);
        } else {
            earlier.push((test, line));
        }
    }
    let summary = &mut reader.summary;
    summary.passed =
        command.stdout.lines().filter(|line| line.trim().starts_with("--- PASS: ")).count();
    summary.failed = summary.failures.len();
    let is_counted = summary.failed > 0;
    reader.into_items(is_counted)
}

/// A test whose subtests fail fails as well, without a message.
fn remove_parent(summary: &mut TestSummary, name: &str) {
    let is_parent = |failure: &TestFailure| {
        failure.message.is_none()
            && name.strip_prefix(&*failure.name).is_some_and(|rest| rest.starts_with('/'))
    };
    summary.failures.retain(|failure| !is_parent(failure));
}

/// `    price_test.go:9: got 1.5`, and lines that go on deeper.
fn read_go(reader: &mut FailureReader, line: &str) {
    let text = line.trim();
    match position(text).filter(|at| at.file.ends_with(".go") && !at.file.contains(' ')) {
        Some(at) => {
            reader.set_place(at.file, at.line);
            reader.is_message_read = false;
            reader.say(at.rest.trim());
        }
        None if line.starts_with("        ") || text.starts_with("panic: ") => reader.say(text),
        None => {}
    }
}

/// `python -m unittest`, also of Django.
pub(super) fn unittest(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut reader = FailureReader::default();
    let mut is_counted = false;
    let mut total = 0;
    let mut before = "";
    for line in command.stdout.lines().chain(command.stderr.lines()) {
        let text = line.trim();
        let title = text.strip_prefix("FAIL: ").or_else(|| text.strip_prefix("ERROR: "));
        if let Some(title) = title.filter(|_| before.starts_with("=====")) {
            reader.begin(&unittest_name(title));
        } else if let Some((tests, _)) = text.strip_prefix("Ran ").and_then(number) {
            total = usize::try_from(tests).unwrap_or(usize::MAX);
            is_counted = true;
            reader.is_open = false;
        } else if let Some(counts) =
            text.strip_prefix("FAILED (").or_else(|| text.strip_prefix("OK ("))
        {
            reader.summary.failed = named_count(counts, "failures") + named_count(counts, "errors");
            reader.summary.skipped = named_count(counts, "skipped");
        } else if let Some((file, line)) = python_frame(text) {
            let message_follows = reader.is_message_read;
            reader.set_place(file, line);
            reader.is_message_read = message_follows;
        } else if ["Stdout:", "Stderr:"].contains(&text) {
            reader.is_message_read = true;
        } else if !line.starts_with(' ')
            && !["Traceback", "---", "==="].iter().any(|word| line.starts_with(word))
        {
            reader.say(text);
        }
        before = line;
    }
    let counted = reader.summary.failed + reader.summary.skipped;
    reader.summary.passed = total.saturating_sub(counted);
    reader.into_items(is_counted)
}

/// `test_pads (test_price.PriceTest.test_pads)`; without the last part before Python 3.11.
fn unittest_name(title: &str) -> String {
    let Some((name, place)) = title.split_once(" (") else { return title.to_owned() };
    let place = place.trim_end_matches(')');
    if place.ends_with(name) { place.to_owned() } else { format!("{place}.{name}") }
}

/// `File "/w/test_price.py", line 7, in test_pads`, of the project.
fn python_frame(text: &str) -> Option<(&str, u64)> {
    let (file, rest) = text.strip_prefix("File \"")?.split_once("\", line ")?;
    (!file.contains("/lib/python")).then_some((file, number(rest)?.0))
}

/// The number after a name: 2 of `failures=2, errors=1`.
fn named_count(counts: &str, name: &str) -> usize {
    let numbers = counts.trim_end_matches(')').split(", ").filter_map(|part| part.split_once('='));
    numbers.filter(|(part, _)| *part == name).find_map(|(_, n)| n.parse().ok()).unwrap_or(0)
}

pub(super) fn rspec(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut reader = FailureReader::default();
    let mut is_counted = false;
    for text in command.stdout.lines().map(str::trim) {
        if is_rspec_count(text) {
            let summary = &mut reader.summary;
            summary.failed = count(text, " failure");
            summary.skipped = count(text, " pending");
            summary.passed =
                count(text, " example").saturating_sub(summary.failed + summary.skipped);
            is_counted = true;
        } else if let Some(name) = numbered(text) {
            reader.begin(name);
        } else if text.starts_with("Finished in ") {
            reader.is_open = false;
        } else if let Some(at) = text.strip_prefix("# ").and_then(position) {
            reader.set_place(at.file, at.line);
        } else if !text.starts_with("Failure/Error: ") {
            reader.say(text);
        }
    }
    // What is pending is listed with numbers, too.
    let failed = reader.summary.failed;
    let from = reader.summary.failures.len().saturating_sub(failed);
    reader.summary.failures.drain(..from);
    reader.into_items(is_counted)
}

/// `3 examples, 1 failure, 1 pending`.
fn is_rspec_count(text: &str) -> bool {
    let Some((examples, counts)) = text.split_once(", ") else { return false };
    number(examples).is_some_and(|(_, word)| [" example", " examples"].contains(&word))
        && number(counts).is_some_and(|(_, word)| word.starts_with(" failure"))
}

/// The name in `1) Price pads`.
fn numbered(text: &str) -> Option<&str> {
    number(text)?.1.strip_prefix(") ")
}

pub(super) fn mocha(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut reader = FailureReader::default();
    let mut is_counted = false;
    // The titles so far; a colon ends the last one.
    let mut titles: Option<String> = None;
    for text in command.stdout.lines().map(str::trim) {
        let counted = number(text).map_or("", |(_, rest)| rest.trim_start());
        if counted.starts_with("passing") {
            reader.summary.passed = count(text, " passing");
            is_counted = true;
        } else if counted == "pending" {
            reader.summary.skipped = count(text, " pending");
        } else if counted == "failing" {
            reader.summary.failed = count(text, " failing");
        } else if let Some(title) = numbered(text).filter(|_| reader.summary.failed > 0) {
            reader.is_open = false;
            titles = Some(String::new());
            read_title(title, &mut titles, &mut reader);
        } else if titles.is_some() {
            read_title(text, &mut titles, &mut reader);
        } else {
            reader.read_frame_or_message(text);
        }
    }
    reader.into_items(is_counted)
}

fn read_title(text: &str, titles: &mut Option<String>, reader: &mut FailureReader) {
    let Some(mut name) = titles.take() else { return };
    if !name.is_empty() {
        name.push(' ');
    }
    name.push_str(text.trim_end_matches(':'));
    if text.ends_with(':') || text.is_empty() {
        reader.begin(name.trim());
    } else {
        *titles = Some(name);
    }
}

/// `bun test`: what a test says comes before its name.
pub(super) fn bun(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut reader = FailureReader::default();
    let mut is_counted = false;
    let mut earlier: Vec<&str> = Vec::new();
    for text in command.stdout.lines().chain(command.stderr.lines()).map(str::trim) {
        let failed = text.strip_prefix("(fail) ").or_else(|| text.strip_prefix("✗ "));
        let summary = &mut reader.summary;
        match number(text).map_or("", |(_, rest)| rest.trim_start()) {
            "pass" => summary.passed = count(text, " pass"),
            "fail" => summary.failed = count(text, " fail"),
            "skip" => summary.skipped += count(text, " skip"),
            "todo" => summary.skipped += count(text, " todo"),
            _ if text.starts_with("Ran ") && text.contains(" across ") => is_counted = true,
            _ if ["(pass) ", "✓ ", "(skip) ", "(todo) "]
                .iter()
                .any(|mark| text.starts_with(mark)) =>
            {
                earlier.clear()
            }
            _ => match failed {
                Some(name) => {
                    reader.begin(name.rsplit_once(" [").map_or(name, |(name, _)| name));
                    let from = earlier.iter().rposition(|text| text.starts_with("error: "));
                    for text in earlier.drain(..).skip(from.unwrap_or(0)) {
                        reader.read_frame_or_message(text);
                    }
                    reader.is_open = false;
                }
                None => earlier.push(text),
            },
        }
    }
    reader.into_items(is_counted)
}

pub(super) fn deno(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut reader = FailureReader::default();
    let mut is_counted = false;
    for text in command.stdout.lines().map(str::trim) {
        let title =
            text.split_once(" => ").and_then(|(name, place)| Some((name, place_in(place)?)));
        if let Some((name, (file, line))) = title {
            reader.begin(name);
            if let Some(failure) = reader.failure() {
                failure.file = Some(file.strip_prefix("./").unwrap_or(file).to_owned());
                failure.line = Some(line);
            }
        } else if text == "FAILURES" {
            reader.is_open = false;
        } else if text.starts_with("FAILED | ") || text.starts_with("ok | ") {
            reader.summary.passed = count(text, " passed");
            reader.summary.failed = count(text, " failed");
            reader.summary.skipped = count(text, " ignored");
            is_counted = true;
        } else if text.starts_with("throw ") {
            reader.is_message_read = true;
        } else {
            reader.read_frame_or_message(text.strip_prefix("error: ").unwrap_or(text));
        }
    }
    reader.into_items(is_counted)
}
