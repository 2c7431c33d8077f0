//! A step in the transcript: one row with the command and its outcome; unfolded, all that is kept
//! of it.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::diff_view::{DiffForm, DiffView};
use super::highlight::{HighlightCache, Snippet};
use super::output::Tail;
use super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, layout_indented, layout_labelled, layout_note,
};
use super::step_run::StepRun;
use super::step_summary::{CHANGE_ROWS, StepSummary, outcome_texts};
use super::time;
use crate::symbols::{DOING, DONE, FAILED};
use crate::text;
use crate::theme::Theme;
use avocet_core::i18n::agent::{CANCELLED, DECLINED, DECLINED_WORD, EDITED, SKIPPED};
use avocet_core::i18n::{LocalizedText, Phrase, agents, common, exec, screen};
use avocet_core::protocol::{
    ApprovalMode, Outcome, Risk, StepAction, Tier, TurnOrigin, TurnOutcome,
};
use avocet_present::outcome::{VerbForm, step_name};
use avocet_present::subagents::SubagentLine;

/// Rows of the user's answer to a question of the model.
const ANSWER: usize = 2;
/// Columns of the rule that let it run.
const BY_RULE: usize = 48;
/// Rows of output of a command that the user typed.
const TYPED: usize = 40;
/// The facts at the right leave the command at least this many columns.
const COMMAND: usize = 24;

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
    /// The subagent that works on it.
    pub agent: Option<Box<SubagentLine>>,
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

impl StepBlock {
    pub fn is_running(&self) -> bool {
        let has_agent = self.agent.as_ref().is_some_and(|agent| agent.is_running());
        matches!(self.state, StepState::Running(_)) || has_agent
    }

    /// The end of the subagent that worked in the background, or whose turn waits for others.
    fn agent_end(&self) -> Option<&(TurnOutcome, u64)> {
        let waits = matches!(self.state, StepState::Running(_));
        self.agent.as_ref().filter(|agent| waits || agent.info.background)?.end.as_ref()
    }

    pub fn is_open(&self, fold: Fold) -> bool {
        fold == Fold::Open || (fold == Fold::Auto && self.is_typed())
    }

    /// It only looked at something, and there is nothing to say about it.
    pub fn is_quiet(&self) -> bool {
        let StepState::Done(done) = &self.state else { return false };
        let is_plain = done.outcome == Outcome::Ran && done.succeeded();
        let has_news = done.change.is_some() || done.note.is_some() || self.work.tool() == "ask";
        self.risk.tier == Tier::L0
            && !self.asked
            && !self.is_typed()
            && is_plain
            && !has_news
            && self.agent.is_none()
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
        let is_told = done.change.is_some() || done.has_failures() || done.commit.is_some();
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

    pub fn mark(&self, cx: &LayoutContext<'_>) -> (&'static str, Style) {
        let theme = cx.theme;
        match &self.state {
            StepState::AwaitingUser => ("?", theme.warn),
            StepState::Running(_) if self.agent_end().is_none() => (DOING, theme.accent),
            StepState::Abandoned => ("-", theme.dim),
            StepState::Done(done) if done.job().is_some() => (DOING, theme.accent),
            StepState::Done(_) if self.is_running() => (DOING, theme.accent),
            StepState::Running(_) | StepState::Done(_)
                if let Some((ending, _)) = self.agent_end() =>
            {
                match ending {
                    TurnOutcome::Done => (DONE, theme.ok),
                    TurnOutcome::Cancelled | TurnOutcome::Stopped => ("-", theme.dim),
                    _ => (FAILED, theme.danger),
                }
            }
            StepState::Running(_) => (DOING, theme.accent),
            StepState::Done(done) if done.succeeded() && !done.has_failures() => (DONE, theme.ok),
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

    pub fn layout(&self, fold: Fold, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        match &self.run {
            StepRun::First(summary) if fold == Fold::Auto => return vec![summary.layout(cx)],
            StepRun::Later if fold == Fold::Auto => return Vec::new(),
            _ => {}
        }
        let open = self.is_open(fold);
        let typed = self.has_outcome_below(fold);
        let mut rows = Vec::new();
        if !typed {
            rows = self.head(open, cx);
        }
        if let Some(agent) = self.agent.as_ref().filter(|_| open) {
            rows.extend(layout_note(&agent.given(), cx));
        }
        match &self.state {
            StepState::AwaitingUser | StepState::Abandoned => {}
            StepState::Running(tail) => rows.extend(tail.layout(cx)),
            StepState::Done(done) if typed && fold == Fold::Auto => {
                rows.extend(done.output(TYPED, cx));
                let note = done.note.as_ref().filter(|_| !done.was_skipped()).and_then(user_note);
                if let Some(say) = note {
                    rows.extend(layout_note(&say, cx));
                }
            }
            StepState::Done(_) if fold == Fold::Closed => {}
            StepState::Done(done) if open => rows.extend(self.unfolded_rows(done, cx)),
            StepState::Done(done) => rows.extend(self.folded_rows(done, cx)),
        }
        if typed {
            rows.extend(self.status_rows(cx));
        }
        let failed = self.agent_end().and(self.agent.as_ref()).and_then(|it| it.failure());
        rows.extend(failed.iter().flat_map(|why| layout_note(why, cx)));
        rows
    }

    /// The bytes at the beginning of a command that are bold: the verb, the agent or the program.
    fn bold_length(&self, command: &str, verb: &str) -> usize {
        let agent = self.agent.as_ref().map(|agent| agent.info.name.as_str());
        match agent.filter(|agent| command.starts_with(agent)) {
            _ if !verb.is_empty() && command.starts_with(verb) => verb.len(),
            Some(agent) => agent.len(),
            None => command.find(' ').unwrap_or(command.len()),
        }
    }

    /// The command, with its outcome at the right.
    fn head(&self, open: bool, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let facts = self.status_spans(cx);
        let taken: usize = facts.iter().map(Span::width).sum();
        let width = cx.prose_width();
        let form = match &self.state {
            StepState::Done(done) if done.ran() && done.exit_code.is_none_or(|code| code == 0) => {
                VerbForm::Done
            }
            StepState::Running(_) => VerbForm::Doing,
            _ => VerbForm::NotDone,
        };
        let (verb, subject) = match &self.agent {
            Some(agent) => (None, text::single_line(&agent.title().text(cx.lang))),
            None => step_name(&self.work, form),
        };
        let verb = verb.map(|verb| format!("{} ", cx.phrase(verb))).unwrap_or_default();
        let command = format!("{verb}{subject}");
        let bold = cx.theme.text.add_modifier(Modifier::BOLD);
        let room = width.saturating_sub(taken + 2);
        let beside = text::width(&command).min(COMMAND) <= room;
        let shown = if open && text::width(&command) > room {
            Paragraph::styled(&command, cx.theme.text).rows(width, Break::Words)
        } else {
            let room = if beside { room } else { width };
            let shown = text::elide_middle(&command, room);
            let (name, rest) = shown.split_at(self.bold_length(&shown, &verb));
            let rest = Span::styled(rest.to_owned(), cx.theme.text);
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
            _ => rows.extend(self.status_rows(cx)),
        }
        rows
    }

    fn status_rows(&self, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut para = Paragraph::default();
        for fact in self.status_spans(cx) {
            para.push(&fact.content, fact.style);
        }
        para.rows(cx.prose_width(), Break::Words)
    }

    /// Its outcome, tier and duration: in words, then in colour.
    fn status_spans(&self, cx: &LayoutContext<'_>) -> Vec<Span<'static>> {
        let theme = cx.theme;
        let mut facts: Vec<(String, Style)> = Vec::new();
        let mut time = None;
        match &self.state {
            StepState::AwaitingUser => {
                facts.push((cx.phrase(screen::STEP_WAITS).into(), theme.warn))
            }
            StepState::Abandoned => {
                facts.push((cx.phrase(screen::STEP_CANCELLED).into(), theme.dim))
            }
            StepState::Running(_) => {
                time = Some(self.agent_end().map_or(cx.elapsed_ms, |(_, took)| *took));
            }
            StepState::Done(done) => {
                facts.extend(outcome_texts(done, cx));
                facts.extend(done.job().map(|job| (cx.localize(&job), theme.dim)));
                time = (done.duration_ms > 0 || done.ran()).then_some(done.duration_ms);
            }
        }
        if let Some(agent) = &self.agent {
            if agent.info.background {
                facts.push((cx.phrase(agents::IN_BACKGROUND_SHORT).into(), theme.dim));
                time = Some(agent.end.as_ref().map_or(cx.elapsed_ms, |(_, took)| *took));
            }
            facts.push((cx.localize(&agent.counts()), theme.dim));
        }
        facts.extend(self.consent(cx));
        if let Some(ms) = time {
            facts.push((time::duration_text(ms).text(cx.lang), theme.dim));
        }
        let comma = cx.phrase(screen::COMMA);
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
    fn consent(&self, cx: &LayoutContext<'_>) -> Option<(String, Style)> {
        let theme = cx.theme;
        if self.risk.is_refused_by_mode() {
            return Some((cx.phrase(screen::STEP_IN_PLAN_MODE).into(), theme.dim));
        }
        if self.risk.is_high_risk() {
            return Some((cx.phrase(screen::ASK_TIER_L2).into(), theme.danger));
        }
        let StepState::Done(done) = &self.state else { return None };
        let is_due = self.risk.tier == Tier::L1 && !self.is_typed() && done.outcome == Outcome::Ran;
        let by_rule = self.risk.reasons.iter().find(|reason| reason.rule == "allowed");
        let rule = by_rule.and_then(|reason| reason.say.value("rule")).filter(|_| !self.asked);
        is_due.then(|| match rule {
            Some(rule) => {
                let say = screen::STEP_BY_RULE.with("rule", rule.clone());
                (text::elide_end(&say.text(cx.lang), BY_RULE), theme.dim)
            }
            None if self.asked => (cx.phrase(screen::STEP_APPROVED).into(), theme.dim),
            None => {
                let say = self.mode().map_or(screen::STEP_ALLOWED.into(), |mode| {
                    screen::STEP_BY_MODE.with("mode", LocalizedText::from(mode.label()))
                });
                (cx.localize(&say), theme.dim)
            }
        })
    }

    /// The mode that answered its question.
    fn mode(&self) -> Option<ApprovalMode> {
        let names = self.risk.reasons.iter().filter_map(|reason| reason.rule.strip_prefix("mode."));
        names.filter_map(ApprovalMode::parse).next()
    }

    /// Code of its change that is in view and has no colours yet.
    pub fn unhighlighted(
        &self,
        at: (usize, usize),
        fold: Fold,
        highlights: &HighlightCache,
    ) -> Option<Snippet> {
        let StepState::Done(done) = &self.state else { return None };
        if let Some(read) = done.read.as_ref().filter(|_| self.is_open(fold)) {
            return read.unhighlighted(at, highlights);
        }
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
    fn folded_rows(&self, summary: &StepSummary, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut rows = Vec::new();
        if summary.outcome == Outcome::Refused
            && let Some(why) = self.risk.main_reason()
        {
            rows.extend(layout_note(why, cx));
        }
        rows.extend(summary.ways_out.iter().flat_map(|way| layout_note(way, cx)));
        if let Some(commit) = &summary.commit {
            let room = cx.prose_width().saturating_sub(2).max(1);
            let commit = Paragraph::styled(&text::elide_end(commit, room), cx.theme.dim);
            rows.extend(layout_indented(commit, cx));
        }
        // A row says it all of a job, and git tidies up after a commit.
        let is_quiet = summary.job().is_some() || (summary.commit.is_some() && summary.succeeded());
        if let Some(say) = summary.note.as_ref().filter(|_| !is_quiet).and_then(user_note) {
            rows.extend(layout_note(&say, cx));
        }
        if let Some(change) = &summary.change {
            rows.extend(change.layout(CHANGE_ROWS, cx));
        }
        if self.work.tool() == "ask" && summary.succeeded() {
            rows.extend(summary.output.stdout.last(ANSWER, cx));
        }
        rows.extend(summary.failure_rows(cx));
        rows
    }

    /// Unfolded: another folder, the reasons, its output, its outcome.
    fn unfolded_rows(&self, summary: &StepSummary, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let mut rows = Vec::new();
        let mut pair = |phrase: Phrase, paragraph: Paragraph| {
            rows.extend(layout_labelled(cx.phrase(phrase), 12, &paragraph, cx));
        };
        if let Some(folder) = &summary.cwd {
            pair(common::FOLDER, Paragraph::styled(&text::single_line(folder), cx.theme.text));
        }
        // What only reads, as most steps do, needs no reason, and success no code.
        for reason in self.risk.distinct_reasons().filter(|reason| reason.tier > Tier::L0) {
            let rule = screen::STEP_RULE
                .with("why", reason.say.clone())
                .with("rule", reason.rule.as_str());
            pair(screen::STEP_REASON, Paragraph::sentence(&rule, cx.theme.text, cx));
        }
        if let Some(code) = summary.exit_code.filter(|code| *code != 0) {
            pair(screen::STEP_EXIT_LABEL, Paragraph::styled(&code.to_string(), cx.theme.text));
        }
        let notes = [summary.ways_out.clone(), summary.note.as_ref().and_then(user_note)];
        for say in notes.into_iter().flatten() {
            pair(screen::STEP_NOTE, Paragraph::sentence(&say, cx.theme.text, cx));
        }
        if let Some(change) = &summary.change {
            rows.extend(change.layout(usize::MAX, cx));
        }
        // What an agent did ends with its result.
        if self.agent.is_none() {
            rows.extend(summary.output(usize::MAX, cx));
        }
        rows
    }
}

/// Notes are written for the model: the user does not need to read their own answer, or what the
/// row already says.
fn user_note(text: &LocalizedText) -> Option<LocalizedText> {
    let said = |phrase: Phrase, name| Some(phrase.with(name, text.value(name)?.clone()));
    match text.phrase() {
        DECLINED | SKIPPED | CANCELLED | exec::CANCELLED => None,
        DECLINED_WORD => said(screen::STEP_WORD, "word"),
        EDITED => said(screen::STEP_INSTEAD, "step"),
        _ => Some(text.clone()),
    }
}
