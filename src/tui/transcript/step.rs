//! A step in the transcript: one row with the command and its outcome; unfolded, all that is kept
//! of it.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::diff_view::{DiffForm, DiffView, diff_width, language_of};
use super::highlight::{HighlightCache, Snippet};
use super::output::{Excerpt, Tail, telling_rows};
use super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, layout_labelled, layout_sentence, with_prefix,
};
use super::step_run::{self, StepRun};
use super::time;
use crate::symbols::{DOING, DONE, FAILED};
use crate::text;
use crate::theme::Theme;
use avocet_core::i18n::agent::{CANCELLED, DECLINED, DECLINED_WORD, EDITED, SKIPPED};
use avocet_core::i18n::{Lang, LocalizedText, Phrase, common, exec, screen};
use avocet_core::protocol::{
    Change, Observation, Outcome, ParsedOutput, Risk, StepAction, Tier, TurnOrigin,
};
use avocet_safety::sanitize::{TextSource, clean, is_binary};

/// Rows of a failed step's output while it is folded.
const FAILURE: usize = 4;
/// Rows of the user's answer to a question of the model.
const ANSWER: usize = 2;
/// Columns of the rule that let it run.
const BY_RULE: usize = 48;
/// Rows of output of a command that the user typed.
const TYPED: usize = 40;
/// The facts at the right leave the command at least this many columns.
const COMMAND: usize = 24;
/// The counts that `parsed` may contain, with their singular and plural sentences.
const COUNTS: &[(&str, Phrase, Phrase)] = &[
    ("search_matches", screen::COUNT_MATCH, screen::COUNT_MATCHES),
    ("file_list", screen::COUNT_ENTRY, screen::COUNT_ENTRIES),
    ("git_log", screen::COUNT_COMMIT, screen::COUNT_COMMITS),
    ("diagnostics", screen::COUNT_PROBLEM, screen::COUNT_PROBLEMS),
];

/// Whether a block is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fold {
    /// The default of the kind of block.
    #[default]
    Auto,
    Open,
    Closed,
}

#[derive(Debug)]
pub(super) struct StepBlock {
    pub id: String,
    pub work: StepAction,
    pub risk: Risk,
    /// Typed by the user, or proposed by the model.
    pub origin: TurnOrigin,
    /// The user was asked about it.
    pub asked: bool,
    pub run: StepRun,
    pub state: StepState,
}

#[derive(Debug)]
pub(super) enum StepState {
    /// Waits for the user's answer.
    AwaitingUser,
    Running(Box<Tail>),
    Done(Box<StepSummary>),
    /// The turn ended without a result for it.
    Abandoned,
}

/// The part of an observation that is kept.
#[derive(Debug)]
pub(super) struct StepSummary {
    /// As the commands for it name it: 12 for `cmd_012`.
    number: u64,
    cwd: String,
    exit_code: Option<i32>,
    duration_ms: u64,
    stdout: Excerpt,
    stderr: Excerpt,
    truncated: bool,
    /// What it found, and how many that are.
    count: Option<(usize, LocalizedText)>,
    /// The first findings of a check, one per line.
    diagnostics: Vec<String>,
    outcome: Outcome,
    note: Option<LocalizedText>,
    change: Option<ChangeExcerpt>,
}

/// The part of a change that is kept.
#[derive(Debug)]
struct ChangeExcerpt {
    added: usize,
    removed: usize,
    /// The word for the language of the file.
    language: String,
    diff: String,
    left_out: usize,
    /// Whether the new and the old text have lines.
    sides: [bool; 2],
}

/// Lines of a change that are kept, and rows of it that are shown while the step is folded.
const CHANGE_LINES: usize = 400;
const CHANGE_ROWS: usize = 12;

impl ChangeExcerpt {
    fn new(change: &Change) -> ChangeExcerpt {
        let text = clean(&change.diff, TextSource::Command);
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

    fn view(&self, paper: &LayoutContext<'_>) -> DiffView {
        DiffView::new(&self.diff, "", DiffForm::Change, diff_width(paper), paper.theme)
    }

    /// At most `most` rows, and how many more there are.
    fn layout(&self, most: usize, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let view = self.view(paper);
        let most = if view.height() <= most.saturating_add(1) { usize::MAX } else { most };
        let mut rows = view.layout(0..most, paper);
        let hidden = view.height().saturating_sub(most) + self.left_out;
        if hidden > 0 {
            let word =
                if most == usize::MAX { screen::OUTPUT_LEFT_OUT } else { screen::MORE_LINES };
            let say = word.with("n", time::group_digits(hidden as u64));
            let say = say.with("steps", paper.steps_key);
            rows.extend(layout_note(&paper.localize(&say), paper));
        }
        rows
    }
}

impl StepSummary {
    pub fn new(seen: &Observation) -> StepSummary {
        let count = seen.parsed.as_ref().and_then(|parsed| {
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
        let is_note = seen.note.as_ref().is_some_and(|note| note.text(Lang::En) == seen.stderr);
        let stderr = if is_note { "" } else { seen.stderr.as_str() };
        // Of two streams one may be text and the other not.
        let is_text = !is_note && !is_binary(&seen.stdout) && !is_binary(stderr);
        let merged = is_text.then(|| seen.merged_output()).flatten();
        let stderr = if merged.is_some() { "" } else { stderr };
        StepSummary {
            number: step_number(&seen.step.id),
            cwd: seen.cwd.clone(),
            exit_code: seen.shown_exit_code(),
            duration_ms: seen.duration_ms,
            stdout: Excerpt::from_output(merged.as_deref().unwrap_or(&seen.stdout)),
            stderr: Excerpt::from_output(stderr),
            truncated: seen.truncated,
            count,
            diagnostics: seen.parsed.as_ref().map(diagnostics).unwrap_or_default(),
            outcome: seen.outcome,
            note: seen.note.clone(),
            change: seen.change.as_ref().map(ChangeExcerpt::new),
        }
    }

    fn ran(&self) -> bool {
        matches!(self.outcome, Outcome::Ran | Outcome::Edited)
    }

    /// It was skipped because of an earlier step.
    fn was_skipped(&self) -> bool {
        self.note.as_ref().is_some_and(|note| matches!(note.phrase(), SKIPPED | CANCELLED))
    }

    fn succeeded(&self) -> bool {
        self.ran() && self.exit_code == Some(0)
    }
}

impl StepBlock {
    pub fn is_running(&self) -> bool {
        matches!(self.state, StepState::Running(_))
    }

    pub fn is_open(&self, fold: Fold) -> bool {
        fold == Fold::Open || (fold == Fold::Auto && self.is_typed())
    }

    /// It only looked at something, and there is nothing to say about it.
    pub fn is_quiet(&self) -> bool {
        let StepState::Done(done) = &self.state else { return false };
        let is_plain = done.outcome == Outcome::Ran && done.succeeded();
        let has_news = done.change.is_some() || done.note.is_some() || self.work.tool() == "ask";
        self.risk.tier == Tier::L0 && !self.asked && !self.is_typed() && is_plain && !has_news
    }

    /// How many things it found.
    pub fn total(&self) -> Option<usize> {
        match &self.state {
            StepState::Done(done) => done.count.as_ref().map(|(total, _)| *total),
            _ => None,
        }
    }

    pub fn duration_ms(&self) -> u64 {
        match &self.state {
            StepState::Done(done) => done.duration_ms,
            _ => 0,
        }
    }

    /// What it did, or why it failed, is below its row.
    pub fn has_rows_below(&self, fold: Fold) -> bool {
        let StepState::Done(done) = &self.state else { return self.is_open(fold) };
        let is_told = done.change.is_some() || (done.ran() && !done.succeeded());
        self.is_open(fold) || (fold != Fold::Closed && is_told)
    }

    pub fn is_typed(&self) -> bool {
        self.origin == TurnOrigin::Shell
    }

    /// A command that the user typed is directly above: it is not repeated, and its outcome follows
    /// its output.
    pub fn has_outcome_below(&self, fold: Fold) -> bool {
        self.is_typed() && fold != Fold::Closed
    }

    pub fn mark(&self, paper: &LayoutContext<'_>) -> (&'static str, Style) {
        let theme = paper.theme;
        match &self.state {
            StepState::AwaitingUser => ("?", theme.warn),
            StepState::Running(_) => (DOING, theme.accent),
            StepState::Abandoned => ("-", theme.dim),
            StepState::Done(done) if done.succeeded() => (DONE, theme.ok),
            StepState::Done(done) => match done.outcome {
                Outcome::Ran
                | Outcome::Edited
                | Outcome::TimedOut
                | Outcome::Interrupted
                | Outcome::NotStarted => (FAILED, theme.danger),
                Outcome::Refused => ("!", theme.danger),
                Outcome::Declined | Outcome::Cancelled => ("-", theme.dim),
            },
        }
    }

    pub fn layout(&self, fold: Fold, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        match &self.run {
            StepRun::First(summary) if fold == Fold::Auto => return vec![summary.layout(paper)],
            StepRun::Later if fold == Fold::Auto => return Vec::new(),
            _ => {}
        }
        let open = self.is_open(fold);
        let typed = self.has_outcome_below(fold);
        let mut rows = Vec::new();
        if !typed {
            rows = self.head(open, paper);
        }
        match &self.state {
            StepState::AwaitingUser | StepState::Abandoned => {}
            StepState::Running(tail) => rows.extend(tail.layout(paper)),
            StepState::Done(done) if typed && fold == Fold::Auto => {
                rows.extend(done.output(TYPED, paper));
                let note = done.note.as_ref().filter(|_| !done.was_skipped()).and_then(user_note);
                if let Some(say) = note {
                    rows.extend(layout_note(&paper.localize(&say), paper));
                }
            }
            StepState::Done(_) if fold == Fold::Closed => {}
            StepState::Done(done) if open => rows.extend(self.unfolded_rows(done, paper)),
            StepState::Done(done) => rows.extend(self.folded_rows(done, paper)),
        }
        if typed {
            rows.extend(self.status_rows(paper));
        }
        rows
    }

    /// The command, with its outcome at the right.
    fn head(&self, open: bool, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let facts = self.status_spans(paper);
        let taken: usize = facts.iter().map(Span::width).sum();
        let width = paper.prose_width();
        let done = matches!(&self.state, StepState::Done(done) if done.ran());
        let (verb, subject) = step_run::name(&self.work, done);
        let verb = verb.map(|verb| format!("{} ", paper.phrase(verb))).unwrap_or_default();
        let command = format!("{verb}{subject}");
        let bold = paper.theme.text.add_modifier(Modifier::BOLD);
        let room = width.saturating_sub(taken + 2);
        let beside = text::width(&command).min(COMMAND) <= room;
        let shown = if open && text::width(&command) > room {
            Paragraph::styled(&command, paper.theme.text).rows(width, Break::Words)
        } else {
            let room = if beside { room } else { width };
            let shown = text::elide_middle(&command, room);
            let name = match shown.strip_prefix(&verb).filter(|_| !verb.is_empty()) {
                Some(_) => verb.len(),
                None => shown.find(' ').unwrap_or(shown.len()),
            };
            let (name, rest) = shown.split_at(name);
            let rest = Span::styled(rest.to_owned(), paper.theme.text);
            vec![Line::from(vec![Span::styled(name.to_owned(), bold), rest]).into()]
        };
        let fits = shown.len() == 1 && shown.iter().all(|row| row.width() <= room);
        let mut rows = shown;
        match rows.last_mut() {
            Some(row) if fits => {
                let pad = width - taken - row.width();
                row.line.spans.push(Span::raw(" ".repeat(pad)));
                row.line.spans.extend(facts);
            }
            _ => rows.extend(self.status_rows(paper)),
        }
        rows
    }

    fn status_rows(&self, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut para = Paragraph::default();
        for fact in self.status_spans(paper) {
            para.push(&fact.content, fact.style);
        }
        para.rows(paper.prose_width(), Break::Words)
    }

    /// Its outcome, tier and duration: in words, then in colour.
    fn status_spans(&self, paper: &LayoutContext<'_>) -> Vec<Span<'static>> {
        let theme = paper.theme;
        let mut facts: Vec<(String, Style)> = Vec::new();
        let mut time = None;
        match &self.state {
            StepState::AwaitingUser => {
                facts.push((paper.phrase(screen::STEP_WAITS).into(), theme.warn))
            }
            StepState::Abandoned => {
                facts.push((paper.phrase(screen::STEP_CANCELLED).into(), theme.dim))
            }
            StepState::Running(_) => time = Some(paper.elapsed_ms),
            StepState::Done(done) => {
                facts.extend(outcome_texts(done, paper));
                time = (done.duration_ms > 0 || done.ran()).then_some(done.duration_ms);
            }
        }
        facts.extend(self.consent(paper));
        if let Some(ms) = time {
            facts.push((time::duration_text(ms).text(paper.lang), theme.dim));
        }
        let comma = paper.phrase(screen::COMMA);
        let mut out = Vec::new();
        for (at, (text, style)) in facts.into_iter().enumerate() {
            if at > 0 {
                out.push(Span::styled(comma, theme.dim));
            }
            out.push(Span::styled(text, style));
        }
        out
    }

    /// Why it could run, unless that goes without saying.
    fn consent(&self, paper: &LayoutContext<'_>) -> Option<(String, Style)> {
        let theme = paper.theme;
        if self.risk.is_refused_by_mode() {
            return Some((paper.phrase(screen::STEP_IN_PLAN_MODE).into(), theme.dim));
        }
        if self.risk.is_high_risk() {
            return Some((paper.phrase(screen::ASK_TIER_L2).into(), theme.danger));
        }
        let StepState::Done(done) = &self.state else { return None };
        let is_due = self.risk.tier == Tier::L1 && !self.is_typed() && done.outcome == Outcome::Ran;
        let by_rule = self.risk.reasons.iter().find(|reason| reason.rule == "allowed");
        let rule = by_rule.and_then(|reason| reason.say.value("rule")).filter(|_| !self.asked);
        is_due.then(|| match rule {
            Some(rule) => {
                let say = screen::STEP_BY_RULE.with("rule", rule.clone());
                (text::elide_end(&say.text(paper.lang), BY_RULE), theme.dim)
            }
            None if self.asked => (paper.phrase(screen::STEP_APPROVED).into(), theme.dim),
            None => (paper.phrase(screen::STEP_ALLOWED).into(), theme.dim),
        })
    }

    /// Code of its change that is in view and has no colours yet.
    pub fn unhighlighted(
        &self,
        at: (usize, usize),
        fold: Fold,
        highlights: &HighlightCache,
    ) -> Option<Snippet> {
        let StepState::Done(done) = &self.state else { return None };
        let change = done.change.as_ref().filter(|_| fold != Fold::Closed)?;
        let known = [0, 1].map(|nth| highlights.get((at.0, at.1, nth)).is_some());
        if change.sides.iter().zip(known).all(|(has_lines, known)| known || !has_lines) {
            return None;
        }
        // Colours do not depend on the width.
        let view = DiffView::new(&change.diff, "", DiffForm::Change, 80, &Theme::default());
        view.unhighlighted(at, &change.language, |at| highlights.get(at).is_some())
    }

    /// Folded: why it did not run, what it changed, or the end of the error output.
    fn folded_rows(&self, done: &StepSummary, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut rows = Vec::new();
        if done.outcome == Outcome::Refused
            && let Some(why) = self.risk.main_reason()
        {
            rows.extend(layout_note(&paper.localize(why), paper));
        }
        if let Some(say) = done.note.as_ref().and_then(user_note) {
            rows.extend(layout_note(&paper.localize(&say), paper));
        }
        if let Some(change) = &done.change {
            rows.extend(change.layout(CHANGE_ROWS, paper));
        }
        if self.work.tool() == "ask" && done.succeeded() {
            rows.extend(done.stdout.last(ANSWER, paper));
        }
        if done.ran() && !done.succeeded() && !done.diagnostics.is_empty() {
            let found = Excerpt::from_output(&done.diagnostics.join("\n"));
            rows.extend(found.last(FAILURE, paper));
        } else if done.ran() && !done.succeeded() {
            rows.extend(telling_rows([&done.stdout, &done.stderr], FAILURE, paper));
        }
        rows
    }

    /// Unfolded: its folder, the reasons, its output, its outcome.
    fn unfolded_rows(&self, done: &StepSummary, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut rows = Vec::new();
        let mut pair = |word: Phrase, text: String| {
            let label = paper.phrase(word);
            rows.extend(layout_labelled(label, 12, &text, paper.theme.text, paper));
        };
        if !done.cwd.is_empty() {
            pair(common::FOLDER, text::single_line(&done.cwd));
        }
        // What only reads, as most steps do, needs no reason, and success no code.
        for reason in self.risk.reasons.iter().filter(|reason| reason.tier > Tier::L0) {
            let rule = screen::STEP_RULE
                .with("why", reason.say.clone())
                .with("rule", reason.rule.as_str());
            pair(screen::STEP_REASON, paper.localize(&rule));
        }
        if let Some(code) = done.exit_code.filter(|code| *code != 0) {
            pair(screen::STEP_EXIT_LABEL, code.to_string());
        }
        if let Some(say) = done.note.as_ref().and_then(user_note) {
            pair(screen::STEP_NOTE, paper.localize(&say));
        }
        if let Some(change) = &done.change {
            rows.extend(change.layout(usize::MAX, paper));
        }
        rows.extend(done.output(usize::MAX, paper));
        rows
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
    fn output(&self, most: usize, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut rows = self.stdout.layout(most, paper);
        if !self.stderr.is_empty() {
            rows.extend(layout_sentence(&screen::STEP_STDERR.into(), paper.theme.dim, paper));
            rows.extend(self.stderr.layout(most, paper));
        }
        if self.truncated || self.stdout.is_cut() || self.stderr.is_cut() {
            let more = screen::STEP_TRUNCATED.with("n", self.number);
            rows.extend(layout_sentence(&more, paper.theme.dim, paper));
        }
        rows
    }
}

fn step_number(id: &str) -> u64 {
    id.rsplit('_').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What to say about its outcome; nothing for a plain success.
fn outcome_texts(done: &StepSummary, paper: &LayoutContext<'_>) -> Vec<(String, Style)> {
    let theme = paper.theme;
    let mut facts = Vec::new();
    let word = match done.outcome {
        Outcome::Ran => None,
        Outcome::Declined => Some((screen::STEP_DECLINED, theme.text)),
        Outcome::Refused => Some((screen::STEP_REFUSED, theme.danger)),
        Outcome::TimedOut => Some((screen::STEP_TIMED_OUT, theme.danger)),
        Outcome::Cancelled if done.was_skipped() => Some((screen::STEP_NOT_RUN, theme.text)),
        Outcome::Cancelled => Some((screen::STEP_CANCELLED, theme.text)),
        Outcome::Edited => Some((screen::STEP_EDITED, theme.text)),
        Outcome::Interrupted => Some((common::INTERRUPTED, theme.danger)),
        Outcome::NotStarted => Some((screen::STEP_NOT_STARTED, theme.danger)),
    };
    facts.extend(word.map(|(word, style)| (paper.phrase(word).to_owned(), style)));
    match done.exit_code {
        Some(0) => {}
        Some(code) => {
            let say = screen::STEP_EXIT.with("code", code);
            facts.push((say.text(paper.lang), theme.danger));
        }
        None if done.ran() => facts.push((paper.phrase(screen::STEP_KILLED).into(), theme.danger)),
        None => {}
    }
    if let Some(change) = &done.change {
        facts.push((format!("+{} -{}", change.added, change.removed), theme.dim));
    }
    if let Some((_, count)) = &done.count {
        facts.push((count.text(paper.lang), theme.dim));
    }
    facts
}

/// Notes are written for the model: the user does not need to read their own answer, or what the
/// row already says.
fn user_note(note: &LocalizedText) -> Option<LocalizedText> {
    let said = |word: Phrase, name| Some(word.with(name, note.value(name)?.clone()));
    match note.phrase() {
        DECLINED | SKIPPED | CANCELLED | exec::CANCELLED => None,
        DECLINED_WORD => said(screen::STEP_WORD, "word"),
        EDITED => said(screen::STEP_INSTEAD, "step"),
        _ => Some(note.clone()),
    }
}

fn layout_note(text: &str, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
    let para = Paragraph::styled(text, paper.theme.dim).with_tabs_expanded();
    let indent = [Span::raw("  ")];
    let rows = para.rows(paper.prose_width().saturating_sub(2).max(1), Break::Words);
    rows.into_iter().map(|row| with_prefix(&indent, row)).collect()
}
