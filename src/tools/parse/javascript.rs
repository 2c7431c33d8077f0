//! Reads what the test runners of JavaScript report: Jest, Vitest, Node's own, Mocha, Bun and Deno,
//! also when a script's name runs them.

use super::checks::{TestSummary, count};
use super::items::{FinishedCommand, Items};
use super::search::number;

/// Lines of what a failed test says.
const SAID: usize = 4;
/// Lines that only explain signs.
const LEGENDS: &[&str] =
    &["- Expected", "+ Received", "+ expected - actual", "+ actual - expected"];

/// A report that is being read, line by line.
#[derive(Debug, Default)]
struct TestReport<'t> {
    summary: TestSummary,
    counted: bool,
    /// The name of the failure whose lines follow, and what is read of it.
    open: Option<String>,
    part: Part,
    /// The file that a runner names before its tests.
    file: Option<&'t str>,
    /// `test at a.test.js:6:1`, before its name.
    place: Option<(&'t str, u64)>,
    /// Names of Mocha's groups around a failure, of which each has a line.
    groups: Option<String>,
    /// The list of failures in full follows: what was named before is in it.
    begins_list: bool,
    /// Names of Deno's list have their places.
    has_places: bool,
}

/// What the lines after the name of a failed test are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Part {
    #[default]
    Message,
    /// What Node writes between `---` and `...`.
    Fields,
    /// The lines of its field `error`.
    FieldText,
    /// Code, frames, or what another program says.
    Rest,
}

pub(super) fn read(run: &FinishedCommand<'_>) -> Option<Items> {
    let mut report = TestReport::default();
    // Jest reports on stderr, the others on stdout.
    for line in run.stdout.lines().chain(run.stderr.lines()) {
        report.line(line);
    }
    let TestReport { summary, counted, .. } = report;
    let sure = counted && summary.passed + summary.failed + summary.skipped > 0;
    sure.then(|| summary.into_items())
}

impl<'t> TestReport<'t> {
    fn line(&mut self, line: &'t str) {
        let text = line.trim();
        if self.read_counts(text) {
            (self.open, self.groups) = (None, None);
        } else if let Some(place) = text.strip_prefix("test at ").and_then(place_in) {
            self.place = Some(place);
        } else if matches!(text, "✖ failing tests:" | "ERRORS" | "FAILURES") {
            // Deno repeats the names below what they say.
            self.begins_list = text != "FAILURES";
            self.has_places = text == "ERRORS";
            self.open = None;
        } else if let Some(name) = self.failure_name(text) {
            self.open_failure(&name);
        } else if let Some(file) = text.strip_suffix(':').filter(|file| is_script(file)) {
            self.file = Some(file);
        } else {
            self.read_detail(text);
        }
    }

    /// The numbers at the end of a report.
    fn read_counts(&mut self, text: &str) -> bool {
        let summary = &mut self.summary;
        let counts = text.strip_prefix("Tests:").or_else(|| text.strip_prefix("Tests  "));
        let deno = || text.strip_prefix("FAILED | ").or_else(|| text.strip_prefix("ok | "));
        if let Some(counts) = counts.or_else(deno) {
            summary.passed = count(counts, " passed");
            summary.failed = count(counts, " failed");
            summary.skipped =
                count(counts, " skipped") + count(counts, " todo") + count(counts, " ignored");
        } else if let Some((word, number)) = tap_count(text) {
            match word {
                "pass" => summary.passed = number,
                "fail" | "cancelled" => summary.failed += number,
                _ => summary.skipped += number,
            }
        } else if let Some((number, word)) = numbered_word(text) {
            match word {
                "passing" | "pass" => summary.passed = number,
                "failing" | "fail" => summary.failed = number,
                _ => summary.skipped = number,
            }
            self.begins_list |= word == "failing";
        } else {
            return false;
        }
        self.counted = true;
        true
    }

    /// `● suite › name`, `FAIL  file > suite > name`, `not ok 1 - name`, `✖ name (2ms)`,
    /// `(fail) suite > name [1ms]`, `name => ./a.ts:1:2`, `1) name:`.
    fn failure_name(&mut self, text: &'t str) -> Option<String> {
        if let Some(groups) = self.groups.take() {
            let name = format!("{groups} > {}", text.trim_end_matches(':'));
            if text.ends_with(':') {
                return Some(name);
            }
            self.groups = Some(name).filter(|_| !text.is_empty());
            return None;
        }
        if let Some(name) = text.strip_prefix("● ") {
            return (!matches!(name, "Console" | "Cannot log after tests are done."))
                .then(|| name.to_owned());
        }
        if let Some(rest) = text.strip_prefix("not ok ") {
            let (_, name) = rest.split_once(" - ")?;
            let is_expected = name.contains("# TODO") || name.contains("# SKIP");
            return (!is_expected).then(|| name.to_owned());
        }
        if let Some(name) = text.strip_prefix("FAIL ").map(str::trim) {
            self.file = name.split([' ', '(']).next();
            return name.contains(" > ").then(|| name.to_owned());
        }
        if let Some(name) = text.strip_prefix("(fail) ") {
            return Some(name.rsplit_once(" [").map_or(name, |(name, _)| name).to_owned());
        }
        if let Some((name, place)) = text.split_once(" => ").filter(|_| self.has_places) {
            self.place = place_in(place);
            return self.place.map(|_| name.to_owned());
        }
        if let Some((_, rest)) =
            number(text).and_then(|(n, rest)| Some((n, rest.strip_prefix(") ")?)))
            && (self.begins_list || self.summary.failed > 0)
        {
            if rest.ends_with(':') {
                return Some(rest.trim_end_matches(':').to_owned());
            }
            self.groups = Some(rest.to_owned());
            return None;
        }
        let name = text.strip_prefix("✖ ")?;
        let timed = name.rsplit_once(" (").filter(|(_, time)| time.ends_with("ms)"));
        timed.map(|(name, _)| name.to_owned())
    }

    fn open_failure(&mut self, name: &str) {
        if std::mem::take(&mut self.begins_list) {
            self.summary.failures.clear();
        }
        if let Some(failure) = self.summary.add_failure(name) {
            failure.file = self.file.map(str::to_owned);
        }
        if let Some((file, line)) = self.place.take() {
            self.set_place(name, file, line);
        }
        (self.open, self.part) = (Some(name.to_owned()), Part::default());
    }

    fn set_place(&mut self, name: &str, file: &str, line: u64) {
        let failure = self.summary.failures.iter_mut().find(|failure| failure.name == name);
        if let Some(failure) = failure.filter(|failure| failure.line.is_none()) {
            (failure.file, failure.line) = (Some(file.to_owned()), Some(line));
        }
    }

    fn read_detail(&mut self, text: &str) {
        let Some(name) = self.open.clone() else { return };
        match (self.part, text) {
            (_, "---") => self.part = Part::Fields,
            (Part::Fields | Part::FieldText, "...") => self.open = None,
            (Part::Fields | Part::FieldText, _) => self.read_field(&name, text),
            _ if frame(text).is_some() => {
                let (file, line) = frame(text).unwrap_or_default();
                self.set_place(&name, file, line);
                self.part = Part::Rest;
            }
            (Part::Rest, _) => {}
            _ if is_code(text) => self.part = Part::Rest,
            _ => self.say(&name, text),
        }
    }

    /// A line of what Node writes about a failure.
    fn read_field(&mut self, name: &str, text: &str) {
        let field = text.split_once(": ").filter(|(key, _)| {
            ["duration_ms", "type", "location", "failureType", "error", "code", "name", "stack"]
                .contains(key)
        });
        let value = field.map(|(_, value)| value.trim_matches(['\'', '"']));
        match (field.map(|(key, _)| key), value) {
            (Some("location"), Some(value)) => {
                if let Some((file, line)) = place_in(value) {
                    self.set_place(name, file, line);
                }
            }
            // It failed only because a part of it did, which has a name of its own.
            (Some("failureType"), Some("subtestsFailed")) => {
                self.summary.failures.retain(|failure| failure.name != name);
            }
            (Some("error"), Some(value)) if value.starts_with('|') => self.part = Part::FieldText,
            (Some("error"), Some(value)) => self.say(name, value),
            (Some(_), _) => self.part = Part::Fields,
            (None, _) if self.part == Part::FieldText => self.say(name, text),
            (None, _) => {}
        }
    }

    /// What a failed test says: its first lines.
    fn say(&mut self, name: &str, text: &str) {
        let failures = &mut self.summary.failures;
        if text.ends_with("subtest failed'") || text.ends_with("subtests failed'") {
            failures.retain(|failure| failure.name != name);
        }
        let Some(failure) = failures.iter_mut().find(|failure| failure.name == name) else {
            return;
        };
        let said = failure.message.as_deref().unwrap_or_default().lines().count();
        if !text.is_empty() && said < SAID && !LEGENDS.contains(&text) {
            failure.say(text);
        }
    }
}

/// `# pass 3`, `ℹ fail 1`.
fn tap_count(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix("# ").or_else(|| text.strip_prefix("ℹ "))?;
    let (word, number) = rest.split_once(' ')?;
    let known = ["pass", "fail", "cancelled", "skipped", "todo"].contains(&word);
    Some((word, number.parse().ok()?)).filter(|_| known)
}

/// `3 passing (12ms)` of Mocha, ` 2 pass` of Bun.
fn numbered_word(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.split_once(' ')?;
    let word = rest.split(' ').next()?;
    let is_bun = ["pass", "fail", "skip", "todo"].contains(&rest);
    let known = is_bun || ["passing", "failing", "pending"].contains(&word);
    Some((number.parse().ok()?, word)).filter(|_| known)
}

/// The place in a frame of a stack that is of the project: `at f (src/a.test.js:6:15)`,
/// `❯ src/a.test.ts:6:15`.
fn frame(text: &str) -> Option<(&str, u64)> {
    let rest = text.strip_prefix("at ").or_else(|| text.strip_prefix("❯ "))?;
    let rest = rest.rsplit_once('(').map_or(rest, |(_, place)| place.trim_end_matches(')'));
    let rest = rest.rsplit(' ').next().unwrap_or(rest);
    let foreign = ["node_modules", "node:", "internal/", "ext:"];
    place_in(rest).filter(|(file, _)| !foreign.iter().any(|part| file.contains(part)))
}

/// `a.test.js:6:10`, also of a URL.
fn place_in(text: &str) -> Option<(&str, u64)> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    column.parse::<u64>().ok()?;
    (!file.is_empty()).then_some((file, line.parse().ok()?))
}

/// `a.test.ts`, which Bun writes before the tests of a file.
fn is_script(file: &str) -> bool {
    let ends = [".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"];
    !file.contains(' ') && ends.iter().any(|end| file.ends_with(end))
}

/// A line of code with its number: `> 6 | expect(…)`, `6|`.
fn is_code(text: &str) -> bool {
    let text = text.trim_start_matches(['>', ' ']);
    number(text).is_some_and(|(_, rest)| rest.trim_start().starts_with('|'))
}
