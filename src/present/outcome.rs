//! What there is to say of a step: what it is called, and once it ended which tests failed, which
//! commit it made, what can be done where it was refused.

use std::ops::Range;

use serde_json::Value;

use avocet_core::i18n::safety::ELEVATES;
use avocet_core::i18n::{LocalizedText, Phrase, PhraseValue, common as phrases, linear, screen};
use avocet_core::protocol::{Observation, Outcome, ParsedOutput, Risk, StepAction};
use avocet_core::text::visible;

/// Longest line that is repeated to be typed.
const TYPED: usize = 72;

/// The verbs of tools: on the way, done, and not done.
#[rustfmt::skip]
const VERBS: &[(&str, [Phrase; 3])] = &[
    ("file.read",         [screen::VERB_READING,   screen::VERB_READ,     screen::VERB_TO_READ]),
    ("file.list",         [screen::VERB_LISTING,   screen::VERB_LISTED,   screen::VERB_TO_LIST]),
    ("file.search",       [screen::VERB_SEARCHING, screen::VERB_SEARCHED, screen::VERB_TO_SEARCH]),
    ("file.write",        [screen::VERB_WRITING,   screen::VERB_WROTE,    screen::VERB_TO_WRITE]),
    ("file.edit",         [screen::VERB_EDITING,   screen::VERB_EDITED,   screen::PICK_EDIT_SHORT]),
    ("file.restore",      [screen::VERB_RESTORING, screen::VERB_RESTORED, screen::VERB_TO_RESTORE]),
    ("note",              [screen::VERB_WRITING,   screen::VERB_WROTE,    screen::VERB_TO_WRITE]),
    ("config.json_patch", [screen::VERB_EDITING,   screen::VERB_EDITED,   screen::PICK_EDIT_SHORT]),
    ("web.fetch",         [screen::VERB_FETCHING,  screen::VERB_FETCHED,  screen::VERB_TO_FETCH]),
    ("web.search",        [screen::VERB_SEARCHING, screen::VERB_SEARCHED, screen::VERB_TO_SEARCH]),
    ("task",              [screen::VERB_TASK,      screen::VERB_TASK,     screen::VERB_TASK]),
    ("plugin.run",        [screen::VERB_RUNNING,   screen::VERB_RAN,      screen::PICK_RUN_SHORT]),
    ("ask",               [screen::VERB_ASKING,    screen::VERB_ASKED,    screen::VERB_TO_ASK]),
];

/// Which form of its verb a step is named with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbForm {
    Doing,
    Done,
    /// It waits, or did not come to its end.
    NotDone,
}

/// The line of a step as a user would type it: of a shell, the line that it is given.
pub fn typed_line(action: &StepAction) -> String {
    avocet_safety::shell_line(action)
        .map_or_else(|| action.command_line(), |(line, ..)| visible(line))
}

/// The verb of a tool, and what it is about; a program has only its line.
pub fn step_name(action: &StepAction, form: VerbForm) -> (Option<Phrase>, String) {
    let line = typed_line(action);
    let StepAction::Tool { name, .. } = action else { return (None, line) };
    let subject = line.strip_prefix(name.as_str()).unwrap_or(&line).trim_start();
    match VERBS.iter().find(|(tool, _)| tool == name) {
        Some((_, [doing, done, not_done])) => {
            let verb = match form {
                VerbForm::Doing => doing,
                VerbForm::Done => done,
                VerbForm::NotDone => not_done,
            };
            (Some(*verb), subject.to_owned())
        }
        None => (None, line),
    }
}

/// The same for a sentence.
pub fn step_title(action: &StepAction) -> PhraseValue {
    match step_name(action, VerbForm::Doing) {
        (Some(verb), subject) => phrases::STEP_NAMED
            .with("verb", PhraseValue::from(verb))
            .with("subject", subject)
            .into(),
        (None, line) => line.into(),
    }
}

/// What a step does that begins.
pub fn step_started(action: &StepAction, risk: &Risk) -> LocalizedText {
    match step_title(action) {
        title if risk.is_high_risk() => linear::RUNS_HIGH_RISK.with("step", title),
        PhraseValue::Say(title) => *title,
        line @ PhraseValue::Text(_) => linear::RUNS.with("step", line),
    }
}

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

/// Which of the lines of a step that failed say why, and whether one of them names a failure: from
/// the first of the most telling ones on, else the last ones.
pub fn telling_lines(lines: &[&str], most: usize) -> (Range<usize>, bool) {
    let at = |at: &usize| lines.get(*at).map_or(0, |line| weight(line));
    let named = (0..lines.len()).rev().max_by_key(at).filter(|line| at(line) > 0);
    let from = named.unwrap_or(lines.len().saturating_sub(most));
    (from..(from + most).min(lines.len()), named.is_some())
}

/// Whether a line says more than that something failed.
pub fn is_told(line: &str) -> bool {
    !line.trim().is_empty() && !NOISE.iter().any(|part| line.contains(part))
}

/// Parts of lines that name a failure, the most telling first.
const FAILURES: &[&[&str]] = &[
    &["panicked at", "AssertionError", "Error: ", "Exception: ", "fatal: "],
    &["error: ", "error[", "error TS", ": error", "not found", "No such file", "cannot ", "denied"],
    &["FAILED", "FAIL:", "--- FAIL", "failed", "error", "Error"],
];
/// Parts of lines that only say that something failed.
const NOISE: &[&str] = &[
    "test result:",
    "to rerun pass",
    "could not compile",
    "aborting due to",
    "RUST_BACKTRACE",
    "A complete log of this run",
    "Compiling ",
    "warning: build failed",
];

fn weight(line: &str) -> usize {
    let names = |parts: &&[&str]| parts.iter().any(|part| line.contains(part));
    FAILURES.iter().position(names).map_or(0, |at| FAILURES.len() - at)
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
        work => Some(typed_line(work)),
    };
    let by_hand = line.map(|line| {
        let fits = line.len() <= TYPED && !line.contains(char::is_control);
        phrases::REFUSED_RUN.with("line", if fits { line } else { "…".to_owned() })
    });
    // One reason names the setting itself.
    let says_how = risk.main_reason().is_some_and(|say| say.phrase() == ELEVATES);
    let is_known = !avocet_safety::is_firm(&risk.rule) && avocet_safety::is_rule(&risk.rule);
    let lifts = is_known && !says_how;
    let lift = lifts.then(|| phrases::REFUSED_LIFT.with("rule", risk.rule.as_str()));
    match (by_hand, lift) {
        (Some(run), Some(lift)) => Some(phrases::REFUSED_WAYS.with("run", run).with("lift", lift)),
        (one, other) => one.or(other),
    }
}
