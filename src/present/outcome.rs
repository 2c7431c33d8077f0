//! What there is to say of a step once it ended: which tests failed, which commit it made, what can
//! be done where it was refused.

use serde_json::Value;

use avocet_core::i18n::{LocalizedText, common as words};
use avocet_core::protocol::{Observation, Outcome, ParsedOutput, StepAction};

/// Longest line that is repeated to be typed.
const TYPED: usize = 72;

/// A test that failed: its name with its place, and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedTest {
    pub name: String,
    pub said: Vec<String>,
}

/// The tests that failed, as far as their names are known.
pub fn failed_tests(parsed: &ParsedOutput, cwd: &str) -> Vec<FailedTest> {
    if parsed.kind != "test_summary" {
        return Vec::new();
    }
    parsed.items.iter().filter_map(|item| failed_test(item, cwd)).collect()
}

fn failed_test(item: &Value, cwd: &str) -> Option<FailedTest> {
    let name = item["failed"].as_str()?;
    let file = item["file"].as_str().map(|file| {
        let inside = file.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/'));
        inside.unwrap_or(file)
    });
    // Some runners begin the name with the file.
    let own = file.and_then(|file| name.strip_prefix(file));
    let own = own.map_or(name, |rest| rest.trim_start_matches([' ', '>', ':']));
    let place = file.map(|file| match item["line"].as_u64() {
        Some(line) => format!("  {file}:{line}"),
        None => format!("  {file}"),
    });
    let own = if own.is_empty() { name } else { own };
    let said = item["message"].as_str().unwrap_or_default();
    Some(FailedTest {
        name: format!("{own}{}", place.unwrap_or_default()),
        said: said.lines().map(|line| line.trim_end().to_owned()).collect(),
    })
}

/// The line by which git reports a commit, and what it changed: `[main 4b40020] Round prices, 3
/// files changed`.
pub fn commit_line(observation: &Observation) -> Option<String> {
    let line = match &observation.step.work {
        StepAction::Tool { .. } => return None,
        work => work.command_line(),
    };
    if !observation.succeeded() || !line.contains("git") {
        return None;
    }
    let mut lines = observation.stdout.lines();
    let commit = lines.by_ref().find(|line| is_commit(line))?;
    let changed = lines.take(3).map(str::trim).find(|line| {
        line.split_once(' ').is_some_and(|(n, rest)| {
            n.parse::<u32>().is_ok() && rest.starts_with("file") && rest.contains("changed")
        })
    });
    Some(changed.map_or(commit.to_owned(), |changed| format!("{commit}, {changed}")))
}

/// `[main 4b40020] Round prices`, `[detached HEAD 4b40020] …`, `[main (root-commit) 4b40020] …`.
fn is_commit(line: &str) -> bool {
    let head = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let hash = head.and_then(|(head, _)| head.rsplit_once(' ')).map(|(_, hash)| hash);
    hash.is_some_and(|hash| {
        (7..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// What the user can do about a step that was refused.
pub fn ways_out(observation: &Observation) -> Option<LocalizedText> {
    let risk = &observation.risk;
    if observation.outcome != Outcome::Refused || risk.is_refused_by_mode() {
        return None;
    }
    let line = match &observation.step.work {
        StepAction::Tool { .. } => None,
        work => Some(work.command_line()),
    };
    let by_hand = line.map(|line| {
        let fits = line.len() <= TYPED && !line.contains(char::is_control);
        words::REFUSED_RUN.with("line", if fits { line } else { "…".to_owned() })
    });
    let lifts = !avocet_safety::is_firm(&risk.rule) && avocet_safety::is_rule(&risk.rule);
    let lift = lifts.then(|| words::REFUSED_LIFT.with("rule", risk.rule.as_str()));
    match (by_hand, lift) {
        (Some(run), Some(lift)) => Some(words::REFUSED_WAYS.with("run", run).with("lift", lift)),
        (one, other) => one.or(other),
    }
}
