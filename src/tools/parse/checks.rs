//! Reads the result of a test run: counts, and the names of what failed.

use serde_json::json;

use super::command::subcommand;
use super::items::{FinishedCommand, Items, clip, object};
use super::search::position;

/// The result of a test run.
#[derive(Debug, Default)]
pub(super) struct TestSummary {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub failures: Vec<TestFailure>,
}

#[derive(Debug, Default)]
pub(super) struct TestFailure {
    pub name: String,
    pub file: Option<String>,
    pub line: Option<u64>,
    /// What it says, in a few lines.
    pub message: Option<String>,
}

impl TestFailure {
    pub fn set_place(&mut self, file: &str, line: u64) {
        (self.file, self.line) = (Some(file.to_owned()), Some(line));
    }

    /// Adds a line to what it says.
    pub fn say(&mut self, line: &str) {
        let message = self.message.get_or_insert_default();
        if !message.is_empty() {
            message.push('\n');
        }
        message.push_str(line.trim_end());
    }
}

impl TestSummary {
    /// The counts are the first item; `total` is the number of tests.
    pub fn into_items(self) -> Items {
        let mut items = Items::default();
        items.push(json!({
            "passed": self.passed, "failed": self.failed, "skipped": self.skipped,
        }));
        for failure in self.failures {
            items.push(object([
                ("failed", Some(json!(clip(&failure.name)))),
                ("file", failure.file.map(|file| json!(file))),
                ("line", failure.line.map(|line| json!(line))),
                ("message", failure.message.map(|message| json!(clip(&message)))),
            ]));
        }
        items.total = self.passed + self.failed + self.skipped;
        items
    }

    /// Names it once.
    pub fn add_failure(&mut self, name: &str) -> Option<&mut TestFailure> {
        if self.failures.iter().any(|failure| failure.name == name) {
            return None;
        }
        self.failures.push(TestFailure { name: name.to_owned(), ..TestFailure::default() });
        self.failures.last_mut()
    }
}

/// `cargo test` and nextest.
pub(super) fn cargo(command: &FinishedCommand<'_>) -> Option<Items> {
    let runs = ["test", "t", "nextest", "run"];
    subcommand(command.args).filter(|(name, _)| runs.contains(name))?;
    let mut summary = TestSummary::default();
    let mut counted = false;
    // The failure whose message is being read.
    let mut open: Option<String> = None;
    for line in command.stdout.lines() {
        if let Some(counts) = line.strip_prefix("test result: ") {
            counted = true;
            summary.passed += count(counts, " passed");
            summary.failed += count(counts, " failed");
            summary.skipped += count(counts, " ignored");
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"))
        {
            summary.add_failure(name.strip_suffix(" - should panic").unwrap_or(name));
        } else if let Some((name, file, number)) = panic_location(line)
            && let Some(failure) = summary.failures.iter_mut().find(|failure| failure.name == name)
            && failure.line.is_none()
        {
            failure.set_place(file, number);
            open = Some(name.to_owned());
        } else if line.trim().is_empty() || line.starts_with("note: ") {
            open = None;
        } else if let Some(failure) = open
            .as_ref()
            .and_then(|open| summary.failures.iter_mut().find(|failure| failure.name == *open))
        {
            failure.say(line);
        }
    }
    if counted { Some(summary.into_items()) } else { nextest(command) }
}

/// `thread 'a::b' panicked at src/a.rs:7:9:`, with a number after the name in recent
/// versions.
fn panic_location(line: &str) -> Option<(&str, &str, u64)> {
    let (name, rest) = line.strip_prefix("thread '")?.split_once('\'')?;
    let (_, place) = rest.split_once("panicked at ")?;
    let at = position(place)?;
    Some((name, at.file, at.line))
}

fn nextest(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut summary = TestSummary::default();
    let mut counted = false;
    for line in command.stderr.lines().map(str::trim_start) {
        if line.starts_with("Summary [") {
            counted = true;
            let counts = line.split_once("run:").map_or(line, |(_, counts)| counts);
            summary.passed = count(counts, " passed");
            summary.failed = count(counts, " failed") + count(counts, " timed out");
            summary.skipped = count(counts, " skipped");
        } else if let Some(rest) =
            line.strip_prefix("FAIL [").or_else(|| line.strip_prefix("TIMEOUT ["))
            && let Some((_, name)) = rest.split_once(']')
        {
            let name = name.trim();
            let name = name
                .strip_prefix('(')
                .and_then(|rest| rest.split_once(')'))
                .map_or(name, |(_, name)| name.trim());
            summary.add_failure(name);
        }
    }
    counted.then(|| summary.into_items())
}

/// pytest: the last line counts, the short summary names.
pub(super) fn pytest(command: &FinishedCommand<'_>) -> Option<Items> {
    let lines = || command.stdout.lines();
    let counts = lines().rev().find(|line| {
        let line = line.trim_matches('=').trim();
        line.contains(" in ")
            && [" passed", " failed", " error", " skipped"].iter().any(|word| line.contains(word))
    })?;
    let mut summary = TestSummary {
        passed: count(counts, " passed") + count(counts, " xpassed"),
        failed: count(counts, " failed") + count(counts, " error"),
        skipped: count(counts, " skipped")
            + count(counts, " xfailed")
            + count(counts, " deselected"),
        failures: Vec::new(),
    };
    for line in lines() {
        let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
        let Some(rest) = rest.filter(|rest| rest.contains(".py")) else { continue };
        let (name, message) = match rest.split_once(" - ") {
            Some((name, message)) => (name, Some(message.to_owned())),
            None => (rest, None),
        };
        if let Some(failure) = summary.add_failure(name) {
            failure.message = message;
            failure.file = name.split("::").next().map(str::to_owned);
        }
    }
    for at in lines().filter_map(position).filter(|at| !at.file.contains(' ')) {
        let open = |failure: &&mut TestFailure| {
            failure.line.is_none() && failure.file.as_deref() == Some(at.file)
        };
        if let Some(failure) = summary.failures.iter_mut().find(open) {
            failure.line = Some(at.line);
        }
    }
    Some(summary.into_items())
}

/// The number in front of a word: `count("3 failed, 2 passed", " passed")` is 2.
pub(super) fn count(text: &str, word: &str) -> usize {
    let Some((before, _)) = text.split_once(word) else { return 0 };
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}
