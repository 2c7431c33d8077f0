//! Reads the result of a test run: counts, and the names of what failed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::command::subcommand;
use super::search::position;
use super::{FinishedCommand, Items, clip, has_flag, object};

/// The result of a test run.
#[derive(Debug, Default)]
struct TestSummary {
    passed: usize,
    failed: usize,
    skipped: usize,
    failures: Vec<TestFailure>,
}

#[derive(Debug, Default)]
struct TestFailure {
    name: String,
    file: Option<String>,
    line: Option<u64>,
    message: Option<String>,
}

impl TestSummary {
    /// The counts are the first item; `total` is the number of tests.
    fn into_items(self) -> Items {
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
    fn add_failure(&mut self, name: &str) -> Option<&mut TestFailure> {
        if self.failures.iter().any(|failure| failure.name == name) {
            return None;
        }
        self.failures.push(TestFailure { name: name.to_owned(), ..TestFailure::default() });
        self.failures.last_mut()
    }
}

/// `cargo test` and nextest.
pub(super) fn cargo(run: &FinishedCommand<'_>) -> Option<Items> {
    let runs = ["test", "t", "nextest", "run"];
    subcommand(run.args).filter(|(name, _)| runs.contains(name))?;
    let mut summary = TestSummary::default();
    let mut counted = false;
    for line in run.stdout.lines() {
        if let Some(counts) = line.strip_prefix("test result: ") {
            counted = true;
            summary.passed += count(counts, " passed");
            summary.failed += count(counts, " failed");
            summary.skipped += count(counts, " ignored");
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"))
        {
            summary.add_failure(name);
        } else if let Some((name, file, number)) = panic_location(line)
            && let Some(failure) = summary.failures.iter_mut().find(|failure| failure.name == name)
        {
            (failure.file, failure.line) = (Some(file), Some(number));
        }
    }
    if counted { Some(summary.into_items()) } else { nextest(run) }
}

/// `thread 'a::b' panicked at src/a.rs:7:9:`, with a number after the name in recent
/// versions.
fn panic_location(line: &str) -> Option<(&str, String, u64)> {
    let (name, rest) = line.strip_prefix("thread '")?.split_once('\'')?;
    let (_, place) = rest.split_once("panicked at ")?;
    let at = position(place)?;
    Some((name, at.file.to_owned(), at.line))
}

fn nextest(run: &FinishedCommand<'_>) -> Option<Items> {
    let mut summary = TestSummary::default();
    let mut counted = false;
    for line in run.stderr.lines().map(str::trim_start) {
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
pub(super) fn pytest(run: &FinishedCommand<'_>) -> Option<Items> {
    let lines = || run.stdout.lines();
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

/// `go test`, plain, `-v` or `-json`.
pub(super) fn go(run: &FinishedCommand<'_>) -> Option<Items> {
    let (_, args) = subcommand(run.args).filter(|(name, _)| *name == "test")?;
    if has_flag(args, "", &["json"]) || args.iter().any(|arg| arg == "-json") {
        return go_json(run.stdout);
    }
    let mut summary = TestSummary::default();
    let mut packages = 0;
    for line in run.stdout.lines() {
        let text = line.trim_start();
        if let Some(name) = text.strip_prefix("--- FAIL: ") {
            summary.failed += 1;
            summary.add_failure(name.split(' ').next().unwrap_or(name));
        } else if text.starts_with("--- PASS: ") {
            summary.passed += 1;
        } else if text.starts_with("--- SKIP: ") {
            summary.skipped += 1;
        } else if let Some(package) = line.strip_prefix("FAIL\t") {
            packages += 1;
            if package.contains("[build failed]") {
                return None;
            }
        } else if line.starts_with("ok  \t") {
            packages += 1;
        } else if let Some(at) = position(text).filter(|at| at.file.ends_with("_test.go"))
            && let Some(failure) = summary.failures.last_mut().filter(|last| last.line.is_none())
        {
            failure.file = Some(at.file.to_owned());
            failure.line = Some(at.line);
            failure.message = Some(at.rest.trim().to_owned());
        }
    }
    (packages > 0).then(|| summary.into_items())
}

fn go_json(text: &str) -> Option<Items> {
    let mut ends: BTreeMap<String, String> = BTreeMap::new();
    for event in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let (Some(action), Some(test)) = (event["Action"].as_str(), event["Test"].as_str()) else {
            continue;
        };
        if ["pass", "fail", "skip"].contains(&action) {
            ends.insert(test.to_owned(), action.to_owned());
        }
    }
    let mut summary = TestSummary::default();
    for (test, action) in &ends {
        match action.as_str() {
            "pass" => summary.passed += 1,
            "skip" => summary.skipped += 1,
            _ => {
                summary.failed += 1;
                summary.add_failure(test);
            }
        }
    }
    (!ends.is_empty()).then(|| summary.into_items())
}

/// Jest, Vitest, node's own runner and Mocha, also when run by a script's name.
pub(super) fn javascript(run: &FinishedCommand<'_>) -> Option<Items> {
    // Jest reports on stderr, the others on stdout.
    let lines: Vec<&str> = run.stdout.lines().chain(run.stderr.lines()).collect();
    let mut summary = TestSummary::default();
    let mut counted = false;
    for line in &lines {
        let text = line.trim();
        if let Some(counts) = text.strip_prefix("Tests:").or_else(|| text.strip_prefix("Tests  ")) {
            counted = true;
            summary.passed = count(counts, " passed");
            summary.failed = count(counts, " failed");
            summary.skipped = count(counts, " skipped") + count(counts, " todo");
        } else if let Some((word, number)) = tap_count(text) {
            counted = true;
            match word {
                "pass" => summary.passed = number,
                "fail" | "cancelled" => summary.failed += number,
                _ => summary.skipped += number,
            }
        } else if let Some((number, word)) = mocha_count(text) {
            counted = true;
            match word {
                "passing" => summary.passed = number,
                "failing" => summary.failed = number,
                _ => summary.skipped = number,
            }
        } else if let Some(name) = script_failure(text) {
            summary.add_failure(name);
        }
    }
    let sure = counted && summary.passed + summary.failed + summary.skipped > 0;
    sure.then(|| summary.into_items())
}

/// `# pass 3`, `ℹ fail 1`.
fn tap_count(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix("# ").or_else(|| text.strip_prefix("ℹ "))?;
    let (word, number) = rest.split_once(' ')?;
    let known = ["pass", "fail", "cancelled", "skipped", "todo"].contains(&word);
    Some((word, number.parse().ok()?)).filter(|_| known)
}

/// `3 passing (12ms)`.
fn mocha_count(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.split_once(' ')?;
    let word = rest.split(' ').next()?;
    let known = ["passing", "failing", "pending"].contains(&word);
    Some((number.parse().ok()?, word)).filter(|_| known)
}

/// `● suite › name`, `FAIL  file > suite > name`, `not ok 1 - name`, `✖ name (2ms)`.
fn script_failure(text: &str) -> Option<&str> {
    if let Some(name) = text.strip_prefix("● ") {
        return Some(name).filter(|name| name.contains(" › "));
    }
    if let Some(rest) = text.strip_prefix("not ok ") {
        return rest.split_once(" - ").map(|(_, name)| name);
    }
    if let Some(name) = text.strip_prefix("FAIL ") {
        return Some(name.trim()).filter(|name| name.contains(" > "));
    }
    let name = text.strip_prefix("✖ ")?;
    let timed = name.rsplit_once(" (").filter(|(_, time)| time.ends_with("ms)"));
    timed.map(|(name, _)| name)
}

/// The number in front of a word: `count("3 failed, 2 passed", " passed")` is 2.
fn count(text: &str, word: &str) -> usize {
    let Some((before, _)) = text.split_once(word) else { return 0 };
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}
