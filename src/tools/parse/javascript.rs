//! Reads what Jest and Vitest report, also when a script's name runs them.

use super::checks::{TestSummary, count};
use super::items::{FinishedCommand, Items};
use super::search::number;

/// Lines of what a failed test says.
pub(super) const MAX_MESSAGE_LINES: usize = 4;
/// Lines that only explain signs.
const LEGENDS: &[&str] = &["- Expected", "+ Received"];

/// A report that is being read, line by line.
#[derive(Debug, Default)]
struct TestReport<'t> {
    summary: TestSummary,
    counted: bool,
    /// The name of the failure whose lines follow.
    open: Option<String>,
    /// Its message is over: code, frames, or what another program says follows.
    is_message_read: bool,
    /// The file that a runner names before its tests.
    file: Option<&'t str>,
}

pub(super) fn read(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut report = TestReport::default();
    // Jest reports on stderr, the others on stdout.
    for line in command.stdout.lines().chain(command.stderr.lines()) {
        report.line(line);
    }
    let TestReport { summary, counted, .. } = report;
    let sure = counted && summary.passed + summary.failed + summary.skipped > 0;
    sure.then(|| summary.into_items())
}

impl<'t> TestReport<'t> {
    fn line(&mut self, line: &'t str) {
        let text = line.trim();
        if let Some(counts) = text.strip_prefix("Tests:").or_else(|| text.strip_prefix("Tests  ")) {
            self.summary.passed = count(counts, " passed");
            self.summary.failed = count(counts, " failed");
            self.summary.skipped = count(counts, " skipped") + count(counts, " todo");
            self.counted = true;
            self.open = None;
        } else if let Some(name) = self.failure_name(text) {
            if let Some(failure) = self.summary.add_failure(name) {
                failure.file = self.file.map(str::to_owned);
            }
            self.open = Some(name.to_owned());
            self.is_message_read = false;
        } else {
            self.read_detail(text);
        }
    }

    /// `● suite › name`, `FAIL  file > suite > name`.
    fn failure_name(&mut self, text: &'t str) -> Option<&'t str> {
        if let Some(name) = text.strip_prefix("● ") {
            let is_note = matches!(name, "Console" | "Cannot log after tests are done.");
            return (!is_note).then_some(name);
        }
        let name = text.strip_prefix("FAIL ").map(str::trim)?;
        self.file = name.split([' ', '(']).next();
        name.contains(" > ").then_some(name)
    }

    fn read_detail(&mut self, text: &str) {
        let Some(name) = &self.open else { return };
        let mut failures = self.summary.failures.iter_mut();
        let Some(failure) = failures.find(|failure| failure.name == *name) else { return };
        if let Some((file, line)) = frame(text) {
            if failure.line.is_none() {
                failure.set_place(file, line);
            }
            self.is_message_read = true;
        } else if is_code(text) {
            self.is_message_read = true;
        }
        let lines = failure.message.as_deref().unwrap_or_default().lines().count();
        let is_message = !self.is_message_read && !text.is_empty() && !LEGENDS.contains(&text);
        if is_message && lines < MAX_MESSAGE_LINES {
            failure.say(text);
        }
    }
}

/// The place in a frame of a stack that is of the project: `at f (src/a.test.js:6:15)`,
/// `❯ src/a.test.ts:6:15`.
fn frame(text: &str) -> Option<(&str, u64)> {
    own_place(text.strip_prefix("at ").or_else(|| text.strip_prefix("❯ "))?)
}

/// The same without the sign before it.
pub(super) fn own_place(rest: &str) -> Option<(&str, u64)> {
    let rest = rest.rsplit_once('(').map_or(rest, |(_, place)| place.trim_end_matches(')'));
    let rest = rest.rsplit(' ').next().unwrap_or(rest);
    let foreign = ["node_modules", "node:", "internal/", "ext:"];
    place_in(rest).filter(|(file, _)| !foreign.iter().any(|part| file.contains(part)))
}

/// `a.test.js:6:10`, also of a URL.
pub(super) fn place_in(text: &str) -> Option<(&str, u64)> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    column.parse::<u64>().ok()?;
    (!file.is_empty()).then_some((file, line.parse().ok()?))
}

/// A line of code with its number: `> 6 | expect(…)`, `6|`.
fn is_code(text: &str) -> bool {
    let text = text.trim_start_matches(['>', ' ']);
    number(text).is_some_and(|(_, rest)| rest.trim_start().starts_with('|'))
}
