//! Reads what the test runner of Node reports, as TAP or by its reporter `spec`.

use super::checks::TestSummary;
use super::items::{FinishedCommand, Items};
use super::javascript::{MAX_MESSAGE_LINES, own_place, place_in};

/// Fields of TAP after the message.
const FIELDS: &[&str] = &["code: ", "name: ", "stack: "];

/// A report that is being read, line by line.
#[derive(Debug, Default)]
struct NodeReport<'t> {
    summary: TestSummary,
    counted: bool,
    /// `test at a.test.js:6:1`, before a name.
    place: Option<(&'t str, u64)>,
    /// What follows is about the last failure.
    is_open: bool,
    is_message: bool,
}

pub(super) fn read(command: &FinishedCommand<'_>) -> Option<Items> {
    let mut report = NodeReport::default();
    for line in command.stdout.lines() {
        report.line(line.trim());
    }
    let NodeReport { summary, counted, .. } = report;
    (counted && summary.passed + summary.failed > 0).then(|| summary.into_items())
}

impl<'t> NodeReport<'t> {
    fn line(&mut self, text: &'t str) {
        if let Some((word, number)) = count(text) {
            self.counted = true;
            self.is_open = false;
            match word {
                "pass" => self.summary.passed += number,
                "fail" | "cancelled" => self.summary.failed += number,
                _ => self.summary.skipped += number,
            }
        } else if let Some(place) = text.strip_prefix("test at ").and_then(place_in) {
            self.place = Some(place);
            self.is_open = false;
        } else if let Some(name) =
            text.strip_prefix("not ok ").and_then(|rest| rest.split_once(" - "))
        {
            let is_expected = ["# TODO", "# SKIP"].iter().any(|mark| name.1.contains(mark));
            self.is_open = !is_expected && self.summary.add_failure(name.1).is_some();
            self.is_message = false;
        } else if let Some(name) = text.strip_prefix("✖ ").filter(|_| self.place.is_some()) {
            let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
            let place = self.place.take();
            let failure = self.summary.add_failure(name);
            self.is_open = failure.is_some();
            if let Some((failure, (file, line))) = failure.zip(place) {
                failure.set_place(file, line);
            }
            self.is_message = true;
        } else if self.is_open {
            self.read_detail(text);
        }
    }

    fn read_detail(&mut self, text: &str) {
        let Some(failure) = self.summary.failures.last_mut() else { return };
        let frame = own_place(text.strip_prefix("at ").unwrap_or(text));
        let is_field = FIELDS.iter().any(|field| text.starts_with(field));
        if text == "..." {
            self.is_open = false;
        } else if text == "failureType: 'subtestsFailed'" {
            // Its tests are named themselves.
            self.summary.failures.pop();
            self.is_open = false;
        } else if let Some(place) = text.strip_prefix("location: ") {
            if let Some((file, line)) = place_in(place.trim_matches('\'')) {
                failure.set_place(file, line);
            }
        } else if let Some(message) = text.strip_prefix("error: ") {
            self.is_message = message.starts_with('|');
            if !self.is_message {
                failure.say(message.trim_matches('\''));
            }
        } else if let Some((file, line)) =
            frame.filter(|_| !self.is_message || text.starts_with("at "))
        {
            failure.set_place(file, line);
            self.is_open = false;
        } else if is_field || text.starts_with("at ") {
            self.is_message = false;
        } else if self.is_message && !text.is_empty() {
            let lines = failure.message.as_deref().unwrap_or_default().lines().count();
            if lines < MAX_MESSAGE_LINES {
                failure.say(text);
            }
        }
    }
}

/// `# pass 3`, `ℹ fail 1`.
fn count(text: &str) -> Option<(&str, usize)> {
    let (word, number) =
        text.strip_prefix("# ").or_else(|| text.strip_prefix("ℹ "))?.split_once(' ')?;
    let counts = ["pass", "fail", "cancelled", "skipped", "todo"];
    counts.contains(&word).then_some((word, number.parse().ok()?))
}
