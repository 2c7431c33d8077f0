//! One block of the transcript: its content and how it is laid out.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::diff::is_diff;
use super::highlight::{self, Paints, Snippet};
use super::markdown::{self, Code};
use super::paper::{Break, LayoutContext, Paragraph, StyledRow, prefixed};
use super::step::StepBlock;
use super::text::{BlockText, TextPart};
use super::time::{self, When};
use super::{page, plan};
use crate::protocol::{
    AttachmentInfo, Notice, NoticeLevel, PageRow, PlanItem, Truncation, TurnOrigin, TurnOutcome,
    Usage,
};
use crate::tui::{clean, glyph};
use crate::words::{LocalizedText, screen, session};

/// Columns before the text of every block, where its mark is.
pub(super) const GUTTER: usize = 2;
/// Rows of running reasoning.
const THOUGHT: usize = 3;
/// A turn shorter than this that used no tokens does not show its duration.
const CHEAP_MS: u64 = 1_000;
/// Bytes at the end of running reasoning that are read for those rows.
const THOUGHT_TAIL: usize = 2048;

#[derive(Debug)]
pub(super) struct Block {
    pub body: BlockBody,
    /// When it arrived.
    pub at: When,
    /// Unfolded by the user, or folded against its default.
    pub fold: Fold,
    /// Counts changes other than the growth of a text.
    pub changes: u32,
    /// Rows of each part, as far as they are counted.
    pub heights: Vec<Height>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fold {
    /// The default of the kind of block.
    #[default]
    Natural,
    Open,
    Closed,
}

/// Rows of one part for one layout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Height {
    pub stamp: u32,
    pub rows: u32,
    pub version: u64,
}

#[derive(Debug)]
pub(super) enum BlockBody {
    /// `turn`: the turn that this message began.
    Said {
        text: BlockText,
        origin: TurnOrigin,
        turn: Option<u64>,
    },
    /// The attachments of the message above.
    Attached(Vec<AttachmentInfo>),
    Answer(AnswerBlock),
    Thought {
        text: BlockText,
        done: bool,
    },
    Step(Box<StepBlock>),
    Notice(Notice),
    Retry {
        attempt: u32,
        of: u32,
        wait_ms: u64,
        why: LocalizedText,
    },
    Repair {
        fault: LocalizedText,
    },
    Cut(Truncation),
    End {
        ending: TurnOutcome,
        usage: Usage,
        elapsed_ms: u64,
    },
    Page {
        title: LocalizedText,
        rows: Vec<PageRow>,
    },
    Plan(Vec<PlanItem>),
}

#[derive(Debug)]
pub(super) struct AnswerBlock {
    pub text: BlockText,
    pub state: AnswerState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerState {
    Growing,
    /// The reply ended, or its stream did.
    Whole,
    /// Whole, and the model reports a failure.
    Error,
}

impl Block {
    pub fn new(body: BlockBody, at: When) -> Block {
        Block { body, at, fold: Fold::Natural, changes: 0, heights: Vec::new() }
    }

    /// The number of parts that are laid out separately.
    pub fn parts(&self) -> usize {
        match self.long() {
            Some(text) => text.len(),
            None => 1,
        }
    }

    /// True when a blank row precedes the part; never asked of the first part.
    pub fn gap(&self, part: usize) -> bool {
        part > 0 && self.long().is_some_and(|text| text.gap(part))
    }

    /// Changes whenever the rows of the part may.
    pub fn version(&self, part: usize) -> u64 {
        let text = match (self.long(), self.text()) {
            (Some(text), _) => text.version(part),
            (None, Some(text)) => text.source().len() as u64,
            (None, None) => 0,
        };
        text ^ u64::from(self.changes) << 52
    }

    /// Its rows change with time alone, so they are never cached.
    pub fn is_running(&self) -> bool {
        matches!(&self.body, BlockBody::Step(step) if step.is_running())
    }

    /// The row of its mark, of `rows`: a step that the user typed shows its outcome in the last
    /// row, every other block has its mark in the first.
    pub fn mark_row(&self, rows: usize) -> usize {
        let below = matches!(&self.body, BlockBody::Step(step) if step.is_below(self.fold));
        if below { rows.saturating_sub(1) } else { 0 }
    }

    /// The mark in the gutter.
    pub fn mark(&self, paper: &LayoutContext<'_>) -> Option<Span<'static>> {
        let theme = paper.theme;
        let (mark, style) = match &self.body {
            BlockBody::Said { origin: TurnOrigin::Shell, .. } => ("!", theme.user),
            BlockBody::Said { .. } => (glyph::SIGIL, theme.user),
            BlockBody::Answer(AnswerBlock { state: AnswerState::Error, .. }) => {
                (glyph::FAILED, theme.danger)
            }
            BlockBody::Step(step) => step.mark(paper),
            BlockBody::Notice(Notice { level: NoticeLevel::Warning, .. }) => ("!", theme.warn),
            BlockBody::Notice(Notice { level: NoticeLevel::Error, .. }) => {
                (glyph::FAILED, theme.danger)
            }
            BlockBody::End {
                ending: TurnOutcome::Failed { .. } | TurnOutcome::Unsent { .. },
                ..
            } => (glyph::FAILED, theme.danger),
            BlockBody::End { ending: TurnOutcome::Limit { .. }, .. }
            | BlockBody::Retry { .. }
            | BlockBody::Cut(_) => ("!", theme.warn),
            BlockBody::Answer(_)
            | BlockBody::Attached(_)
            | BlockBody::Thought { .. }
            | BlockBody::Notice(_)
            | BlockBody::Repair { .. }
            | BlockBody::End { .. }
            | BlockBody::Page { .. }
            | BlockBody::Plan(_) => return None,
        };
        Some(Span::styled(mark, style))
    }

    /// The rows of one part, each at most `paper.width` columns.
    pub fn set(&self, part: usize, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let theme = paper.theme;
        match &self.body {
            BlockBody::Said { text, .. } => set_text(text, part, theme.user, paper),
            BlockBody::Attached(items) => items.iter().map(|item| attached(item, paper)).collect(),
            BlockBody::Answer(answer) => {
                let failed = answer.state == AnswerState::Error;
                let style = if failed { theme.danger } else { theme.text };
                set_text(&answer.text, part, style, paper)
            }
            BlockBody::Thought { text, .. } if self.long().is_some() => {
                set_text(text, part, theme.dim, paper)
            }
            BlockBody::Thought { text, done } => set_thought(text, *done, paper),
            BlockBody::Step(step) => step.set(self.fold, paper),
            BlockBody::Notice(notice) => set_notice(notice, paper),
            BlockBody::Retry { attempt, of, wait_ms, why } => {
                let say = screen::RETRYING
                    .with("why", why.clone())
                    .with("wait", time::say(*wait_ms))
                    .with("attempt", *attempt)
                    .with("of", *of);
                sentence(&say, theme.warn, paper)
            }
            BlockBody::Repair { fault } => {
                sentence(&screen::REPAIRING.with("fault", fault.clone()), theme.dim, paper)
            }
            BlockBody::Cut(cut) => sentence(&cut_word(*cut).into(), theme.warn, paper),
            BlockBody::End { ending, usage, elapsed_ms } => {
                set_end(ending, usage, *elapsed_ms, paper)
            }
            BlockBody::Page { title, rows } => page::set(title, rows, paper),
            BlockBody::Plan(items) => plan::set(items, paper),
        }
    }

    /// The code of a part, if it has a language and is not painted yet.
    pub fn uncoloured(&self, at: (usize, usize), paints: &Paints) -> Option<Snippet> {
        let text = self.long()?;
        let place = |nth| (at.0, at.1, nth);
        let due = |nth, language: &str, code: &str| {
            !language.is_empty() && !is_diff(language) && paints.is_due(place(nth), code)
        };
        match text.part(at.1) {
            TextPart::Plain(_) => None,
            TextPart::Markdown(source) => {
                let (nth, (language, code)) = markdown::nested(source)
                    .into_iter()
                    .enumerate()
                    .find(|(nth, (language, code))| due(*nth, language, code))?;
                Some(highlight::snippet(place(nth), &language, "", &code))
            }
            TextPart::Code { code, fence, .. } => {
                let code = outdent(code, fence.indent);
                let before = outdent(text.code_before(at.1), fence.indent);
                due(0, &fence.language, &code)
                    .then(|| highlight::snippet(place(0), &fence.language, &before, &code))
            }
        }
    }

    /// The number of parts when it is unfolded.
    pub fn opened_parts(&self) -> usize {
        self.text().map_or(1, BlockText::len)
    }

    /// The rows of one part as if it were unfolded, without anything that changes with time.
    pub fn set_opened(&self, part: usize, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        match &self.body {
            BlockBody::Step(step) if step.is_running() => Vec::new(),
            BlockBody::Step(step) => step.set(Fold::Open, paper),
            BlockBody::Thought { text, .. } => set_text(text, part, paper.theme.dim, paper),
            _ => self.set(part, paper),
        }
    }

    /// Folds or unfolds; false for a block that cannot fold.
    pub fn toggle(&mut self) -> bool {
        let Some(open) = self.is_open() else { return false };
        self.refold(if open { Fold::Closed } else { Fold::Open });
        true
    }

    /// Whether it is unfolded; `None` for a block that cannot fold.
    pub fn is_open(&self) -> Option<bool> {
        match &self.body {
            BlockBody::Step(step) => Some(step.is_open(self.fold)),
            BlockBody::Thought { .. } => Some(self.fold == Fold::Open),
            BlockBody::Said { .. }
            | BlockBody::Attached(_)
            | BlockBody::Answer(_)
            | BlockBody::Notice(_)
            | BlockBody::Retry { .. }
            | BlockBody::Repair { .. }
            | BlockBody::Cut(_)
            | BlockBody::End { .. }
            | BlockBody::Page { .. }
            | BlockBody::Plan(_) => None,
        }
    }

    pub fn refold(&mut self, fold: Fold) {
        if self.fold != fold {
            self.fold = fold;
            self.changed();
        }
    }

    pub fn changed(&mut self) {
        self.changes = self.changes.wrapping_add(1);
    }

    /// The text that is shown in full, in parts.
    fn long(&self) -> Option<&BlockText> {
        let folded = matches!(self.body, BlockBody::Thought { .. }) && self.fold != Fold::Open;
        self.text().filter(|_| !folded)
    }

    fn text(&self) -> Option<&BlockText> {
        match &self.body {
            BlockBody::Said { text, .. } | BlockBody::Thought { text, .. } => Some(text),
            BlockBody::Answer(answer) => Some(&answer.text),
            BlockBody::Step(_)
            | BlockBody::Attached(_)
            | BlockBody::Notice(_)
            | BlockBody::Retry { .. }
            | BlockBody::Repair { .. }
            | BlockBody::Cut(_)
            | BlockBody::End { .. }
            | BlockBody::Page { .. }
            | BlockBody::Plan(_) => None,
        }
    }
}

/// `@src/main.rs  120 lines`, kept together on one row.
fn attached(item: &AttachmentInfo, paper: &LayoutContext<'_>) -> StyledRow {
    let size = format!("  {}", paper.say(&item.size_text()));
    let room = paper.measure().saturating_sub(clean::width(&size)).max(8);
    let name = clean::elide_middle(&clean::flat(&item.name), room);
    let name = Span::styled(name, paper.theme.user);
    Line::from(vec![name, Span::styled(size, paper.theme.dim)]).into()
}

fn set_text(
    text: &BlockText,
    at: usize,
    style: Style,
    paper: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    match text.part(at) {
        TextPart::Plain(text) => {
            let text = text.strip_suffix('\n').unwrap_or(text);
            Paragraph::styled(text, style).expanded().rows(paper.measure(), Break::Words)
        }
        TextPart::Markdown(source) => markdown::set(source, text.targets(), paper, paper.width),
        TextPart::Code { code, fence, head } => {
            let label = head.then_some(fence.language.as_str());
            let code = outdent(code, fence.indent);
            let code = Code { code: &code, before: text.code_before(at), label, nth: 0 };
            markdown::set_code(&code, &fence.language, paper, paper.width)
        }
    }
}

/// Removes up to `indent` spaces from each line.
fn outdent(code: &str, indent: usize) -> Cow<'_, str> {
    if indent == 0 {
        return Cow::Borrowed(code);
    }
    let line = |line: &str| {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        line.get(spaces.min(indent)..).unwrap_or_default().to_owned()
    };
    Cow::Owned(code.split_inclusive('\n').map(line).collect())
}

/// Running: its last rows. Done: one row with its first sentence.
fn set_thought(text: &BlockText, done: bool, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
    let (label, style) = (paper.word(screen::THOUGHT), paper.theme.dim);
    if done {
        let first = text.source().split(['\n', '。']).find(|line| !line.trim().is_empty());
        let row = format!("{label}{}", first.unwrap_or_default().trim());
        return vec![Line::styled(clean::elide_end(&row, paper.measure()), style).into()];
    }
    let source = text.source().trim_end();
    let from = source.char_indices().rev().nth(THOUGHT_TAIL).map_or(0, |(at, _)| at);
    let para = Paragraph::styled(source.get(from..).unwrap_or_default(), style).expanded();
    let rows = para.rows(paper.measure(), Break::Words);
    let skipped = rows.len().saturating_sub(THOUGHT);
    rows.into_iter().skip(skipped).collect()
}

fn set_notice(notice: &Notice, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
    let theme = paper.theme;
    let style = match notice.level {
        NoticeLevel::Info => theme.info,
        NoticeLevel::Warning => theme.warn,
        NoticeLevel::Error => theme.danger,
    };
    let mut rows = sentence(&notice.say, style, paper);
    if let Some(hint) = &notice.hint {
        let label = paper.word(screen::HINT);
        let indent = clean::width(label);
        rows.extend(hanging(label, indent, &paper.say(hint), theme.dim, paper));
    }
    rows
}

/// Short turns end without a line; all others show their outcome, duration and cost.
fn set_end(
    ending: &TurnOutcome,
    usage: &Usage,
    elapsed_ms: u64,
    paper: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let theme = paper.theme;
    let (say, style): (Option<LocalizedText>, Style) = match ending {
        TurnOutcome::Done | TurnOutcome::Error => (None, theme.dim),
        TurnOutcome::Cancelled | TurnOutcome::Stopped => {
            (Some(screen::ENDED_STOPPED.into()), theme.dim)
        }
        TurnOutcome::Limit { why } => {
            (Some(screen::ENDED_LIMIT.with("why", why.clone())), theme.warn)
        }
        TurnOutcome::Unsent { why } => (Some(why.clone()), theme.danger),
        TurnOutcome::Interrupted => {
            let why = session::INTERRUPTED;
            (Some(screen::ENDED_FAILED.with("why", why)), theme.danger)
        }
        TurnOutcome::Failed { why } => {
            (Some(screen::ENDED_FAILED.with("why", why.clone())), theme.danger)
        }
    };
    let mut rows = say.map_or_else(Vec::new, |say| sentence(&say, style, paper));
    let mut cost = screen::ENDED_AFTER.with("time", time::say(elapsed_ms));
    if usage.input_tokens + usage.output_tokens > 0 {
        let word = if usage.estimated { screen::ENDED_ABOUT } else { screen::ENDED_COST };
        cost = word
            .with("time", time::say(elapsed_ms))
            .with("input", time::grouped(usage.input_tokens))
            .with("output", time::grouped(usage.output_tokens));
    }
    // A turn without cost shows none.
    if elapsed_ms >= CHEAP_MS || usage.input_tokens + usage.output_tokens > 0 {
        rows.extend(sentence(&cost, theme.dim, paper));
    }
    rows
}

fn cut_word(cut: Truncation) -> crate::words::Phrase {
    match cut {
        Truncation::Cancelled => screen::CUT_CANCELLED,
        Truncation::Broken => screen::CUT_BROKEN,
        Truncation::Length => screen::CUT_LENGTH,
        Truncation::Filtered => screen::CUT_FILTERED,
    }
}

pub(super) fn sentence(
    say: &LocalizedText,
    style: Style,
    paper: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    Paragraph::styled(&paper.say(say), style).expanded().rows(paper.measure(), Break::Words)
}

/// A label with text hanging to its right.
pub(super) fn hanging(
    label: &str,
    indent: usize,
    text: &str,
    style: Style,
    paper: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let indent = if indent + 8 > paper.measure() { 0 } else { indent };
    let room = (paper.measure() - indent).max(1);
    let pad = indent.saturating_sub(clean::width(label));
    let first = vec![Span::styled(format!("{label}{}", " ".repeat(pad)), paper.theme.dim)];
    let rest = vec![Span::raw(" ".repeat(indent))];
    let mut para = Paragraph::default();
    if indent == 0 {
        para.push(label, paper.theme.dim);
    }
    para.push(text, style);
    let rows = para.expanded().rows(room, Break::Words).into_iter().enumerate();
    rows.map(|(at, row)| match (indent, at) {
        (0, _) => row,
        (_, 0) => prefixed(&first, row),
        _ => prefixed(&rest, row),
    })
    .collect()
}
