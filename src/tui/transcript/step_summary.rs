//! What is kept of a finished step, and the rows that tell of it.

use ratatui::style::Style;
use serde_json::Value;

use super::diff_view::{DiffForm, DiffView, diff_width, language_of};
use super::output::{Excerpt, add_more, finding_rows, telling_rows};
use super::paragraph::{LayoutContext, StyledRow, layout_note, layout_sentence};
use super::read_excerpt::ReadExcerpt;
use super::time;
use crate::theme::Theme;
use avocet_core::i18n::agent::{CANCELLED, SKIPPED};
use avocet_core::i18n::{Lang, LocalizedText, Phrase, common, screen, session};
use avocet_core::protocol::{Change, Observation, Outcome, ParsedOutput};
use avocet_present::outcome::{self, FailedTest};
use avocet_safety::sanitize::{CarriageReturnMode, clean, is_binary};

/// Rows of a failed step's output while it is folded.
const FAILURE: usize = 4;
/// The counts that `parsed` may contain, with their singular and plural sentences.
const COUNTS: &[(&str, Phrase, Phrase)] = &[
    ("search_matches", screen::COUNT_MATCH, screen::COUNT_MATCHES),
    ("file_list", screen::COUNT_ENTRY, screen::COUNT_ENTRIES),
    ("git_log", screen::COUNT_COMMIT, screen::COUNT_COMMITS),
    ("diagnostics", screen::COUNT_PROBLEM, screen::COUNT_PROBLEMS),
];

/// The part of an observation that is kept.
#[derive(Debug)]
pub(super) struct StepSummary {
    /// As the commands for it name it: 12 for `cmd_012`.
    number: u64,
    /// Its folder, where that is not the one of the session.
    pub cwd: Option<String>,
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    pub output: StepOutput,
    /// What it found, and how many that are.
    pub count: Option<(usize, LocalizedText)>,
    /// The first findings of a check, one per line.
    diagnostics: Vec<String>,
    failed_tests: Vec<FailedTest>,
    /// The line by which git reports the commit.
    pub commit: Option<String>,
    pub outcome: Outcome,
    pub note: Option<LocalizedText>,
    /// What the user can do where it was refused.
    pub ways_out: Option<LocalizedText>,
    pub change: Option<ChangeExcerpt>,
    /// The code that it read.
    pub read: Option<ReadExcerpt>,
}

/// The kept part of what it printed.
#[derive(Debug)]
pub(super) struct StepOutput {
    pub stdout: Excerpt,
    stderr: Excerpt,
    /// Not all of it was read.
    is_truncated: bool,
}

/// The part of a change that is kept.
#[derive(Debug)]
pub(super) struct ChangeExcerpt {
    pub added: usize,
    pub removed: usize,
    /// The word for the language of the file.
    pub language: String,
    pub diff: String,
    left_out: usize,
    /// Whether the new and the old text have lines.
    pub sides: [bool; 2],
}

/// Lines of a change that are kept, and rows of it that are shown while the step is folded.
const CHANGE_LINES: usize = 400;
pub(super) const CHANGE_ROWS: usize = 12;

impl ChangeExcerpt {
    fn new(change: &Change) -> ChangeExcerpt {
        let text = clean(&change.diff, CarriageReturnMode::OverwritesLine);
        let diff: String = text.split_inclusive('\n').take(CHANGE_LINES).collect();
        ChangeExcerpt {
            added: change.added,
            removed: change.removed,
            language: language_of(&change.path).to_owned(),
            left_out: text.lines().count().saturating_sub(CHANGE_LINES),
            sides: DiffView::new(&diff, "", DiffForm::Change, 80, &Theme::default()).sides(),
            diff,
        }
    }

    fn view(&self, cx: &LayoutContext<'_>) -> DiffView {
        DiffView::new(&self.diff, "", DiffForm::Change, diff_width(cx), cx.theme)
    }

    /// At most `most` rows, and how many more there are.
    pub fn layout(&self, most: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let view = self.view(cx);
        let most = if view.height() <= most.saturating_add(1) { usize::MAX } else { most };
        let mut rows = view.layout(0..most, cx);
        let hidden = view.height().saturating_sub(most) + self.left_out;
        if hidden > 0 {
            let word =
                if most == usize::MAX { screen::OUTPUT_LEFT_OUT } else { screen::MORE_LINES };
            let say = word.with("n", time::group_digits(hidden as u64));
            let say = say.with("steps", cx.steps_key);
            rows.extend(layout_note(&say, cx));
        }
        rows
    }
}

impl StepSummary {
    pub fn new(observation: &Observation) -> StepSummary {
        let count = observation.parsed.as_ref().and_then(|parsed| {
            if parsed.kind == "test_summary" {
                return Some((parsed.total, test_summary(parsed)));
            }
            let (_, one, many) = COUNTS.iter().find(|(kind, ..)| *kind == parsed.kind)?;
            let say = match parsed.total {
                1 => LocalizedText::from(*one),
                n => many.with("n", time::group_digits(n as u64)),
            };
            Some((parsed.total, say))
        });
        // The model reads a fault of a tool as error output; the user reads the note.
        let is_note =
            observation.note.as_ref().is_some_and(|note| note.text(Lang::En) == observation.stderr);
        let stderr = if is_note { "" } else { observation.stderr.as_str() };
        // Of two streams one may be text and the other not.
        let is_text = !is_note && !is_binary(&observation.stdout) && !is_binary(stderr);
        let merged = is_text.then(|| observation.merged_output()).flatten();
        let stderr = if merged.is_some() { "" } else { stderr };
        StepSummary {
            number: step_number(&observation.step.id),
            cwd: observation.step.cwd.as_ref().map(|_| observation.cwd.clone()),
            exit_code: observation.shown_exit_code(),
            duration_ms: observation.duration_ms,
            output: StepOutput {
                stdout: Excerpt::from_output(merged.as_deref().unwrap_or(&observation.stdout)),
                stderr: Excerpt::from_output(stderr),
                is_truncated: observation.truncated,
            },
            count,
            diagnostics: observation.parsed.as_ref().map(diagnostics).unwrap_or_default(),
            failed_tests: observation
                .parsed
                .as_ref()
                .map(|parsed| outcome::failed_tests(parsed, &observation.cwd))
                .unwrap_or_default(),
            commit: outcome::commit_line(observation),
            outcome: observation.outcome,
            note: observation.note.clone(),
            ways_out: outcome::ways_out(observation),
            change: observation.change.as_ref().map(ChangeExcerpt::new),
            read: ReadExcerpt::new(observation),
        }
    }

    pub fn ran(&self) -> bool {
        matches!(self.outcome, Outcome::Ran | Outcome::Edited)
    }

    /// It was skipped because of an earlier step.
    pub fn was_skipped(&self) -> bool {
        self.note.as_ref().is_some_and(|note| matches!(note.phrase(), SKIPPED | CANCELLED))
    }

    pub fn succeeded(&self) -> bool {
        self.ran() && self.exit_code == Some(0)
    }

    /// Something failed that its row does not tell.
    pub fn has_failures(&self) -> bool {
        self.ran() && (!self.succeeded() || !self.failed_tests.is_empty())
    }

    /// The number of the job that it became.
    pub fn job(&self) -> Option<LocalizedText> {
        let note = self.note.as_ref().filter(|note| note.phrase() == session::JOB_STARTED)?;
        Some(screen::STEP_IN_BACKGROUND.with("id", note.value("id")?.clone()))
    }
}

impl StepSummary {
    /// What failed: the tests by their names, the findings of a check, or the lines that say why.
    pub fn failure_rows(&self, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        if !self.has_failures() {
            return Vec::new();
        }
        let lines = self.output.stdout.line_count() + self.output.stderr.line_count();
        let others = |rows: usize| lines.saturating_sub(rows);
        match self.failed_tests.as_slice() {
            [] if self.diagnostics.is_empty() => {
                telling_rows([&self.output.stdout, &self.output.stderr], FAILURE, cx)
            }
            [] => finding_rows(&self.diagnostics, cx),
            [test] => {
                let mut rows = finding_rows(std::slice::from_ref(&test.name), cx);
                if test.said.is_empty() {
                    rows.extend(telling_rows(
                        [&self.output.stdout, &self.output.stderr],
                        FAILURE,
                        cx,
                    ));
                    return rows;
                }
                let said: Vec<String> =
                    test.said.iter().take(FAILURE).map(|line| format!("  {line}")).collect();
                rows.extend(finding_rows(&said, cx));
                add_more(&mut rows, others(said.len() + 1), cx);
                rows
            }
            tests => {
                let line = |test: &FailedTest| match test.said.first() {
                    Some(said) => format!("{}  {}", test.name, said.trim()),
                    None => test.name.clone(),
                };
                let found: Vec<String> = tests.iter().take(FAILURE).map(line).collect();
                let mut rows = finding_rows(&found, cx);
                add_more(&mut rows, others(found.len()), cx);
                rows
            }
        }
    }
}

/// How many tests ran, and how many of them failed.
fn test_summary(parsed: &ParsedOutput) -> LocalizedText {
    let n = time::group_digits(parsed.total as u64);
    match parsed.items.first().and_then(|counts| counts["failed"].as_u64()) {
        Some(failed @ 1..) => {
            screen::COUNT_FAILED.with("failed", time::group_digits(failed)).with("n", n)
        }
        _ => screen::COUNT_TESTS.with("n", n),
    }
}

/// The first findings of a check, errors first: `src/a.rs:3:5 error: …`.
fn diagnostics(parsed: &ParsedOutput) -> Vec<String> {
    if parsed.kind != "diagnostics" {
        return Vec::new();
    }
    let is_error = |item: &&Value| item["severity"].as_str() == Some("error");
    let line = |item: &Value| {
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        let number = |name: &str| item[name].as_u64().map(|n| format!(":{n}")).unwrap_or_default();
        let at = match text("file") {
            "" => String::new(),
            file => format!("{file}{}{} ", number("line"), number("col")),
        };
        let message = text("message").lines().next().unwrap_or_default();
        format!("{at}{}: {message}", text("severity"))
    };
    let (errors, others): (Vec<&Value>, Vec<&Value>) = parsed.items.iter().partition(is_error);
    errors.into_iter().chain(others).take(FAILURE).map(line).collect()
}

impl StepSummary {
    /// Its output, with the names of the streams where there are two.
    pub fn output(&self, most: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut rows = match &self.read {
            Some(read) => read.layout(cx),
            None => self.output.stdout.layout(most, cx),
        };
        if !self.output.stderr.is_empty() {
            rows.extend(layout_sentence(&screen::STEP_STDERR.into(), cx.theme.dim, cx));
            rows.extend(self.output.stderr.layout(most, cx));
        }
        let is_cut = self.read.as_ref().map_or(self.output.stdout.is_cut(), ReadExcerpt::is_cut);
        if self.output.is_truncated || is_cut || self.output.stderr.is_cut() {
            let more = screen::STEP_TRUNCATED.with("n", self.number);
            rows.extend(layout_sentence(&more, cx.theme.dim, cx));
        }
        rows
    }
}

fn step_number(id: &str) -> u64 {
    id.rsplit('_').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What to say about its outcome; nothing for a plain success.
pub(super) fn outcome_texts(summary: &StepSummary, cx: &LayoutContext<'_>) -> Vec<(String, Style)> {
    let theme = cx.theme;
    let mut facts = Vec::new();
    let word = match summary.outcome {
        Outcome::Ran => None,
        Outcome::Declined => Some((screen::STEP_DECLINED, theme.text)),
        Outcome::Refused => Some((screen::STEP_REFUSED, theme.danger)),
        Outcome::TimedOut => Some((screen::STEP_TIMED_OUT, theme.danger)),
        Outcome::Cancelled if summary.was_skipped() => Some((screen::STEP_NOT_RUN, theme.text)),
        Outcome::Cancelled => Some((screen::STEP_CANCELLED, theme.text)),
        Outcome::Edited => Some((screen::STEP_EDITED, theme.text)),
        Outcome::Interrupted => Some((common::INTERRUPTED, theme.danger)),
        Outcome::NotStarted => Some((screen::STEP_NOT_STARTED, theme.danger)),
    };
    facts.extend(word.map(|(word, style)| (cx.phrase(word).to_owned(), style)));
    match summary.exit_code {
        Some(0) => {}
        Some(code) => {
            let say = screen::STEP_EXIT.with("code", code);
            facts.push((say.text(cx.lang), theme.danger));
        }
        None if summary.ran() => facts.push((cx.phrase(screen::STEP_KILLED).into(), theme.danger)),
        None => {}
    }
    if let Some(change) = &summary.change {
        facts.push((format!("+{} -{}", change.added, change.removed), theme.dim));
    }
    if let Some((_, count)) = &summary.count {
        facts.push((count.text(cx.lang), theme.dim));
    }
    facts
}
