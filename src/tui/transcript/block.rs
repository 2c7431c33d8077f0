//! One block of the transcript: its content and how it is laid out.

use std::borrow::Cow;
use std::sync::Arc;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::diff::is_diff;
use super::highlight::{self, HighlightCache, Snippet};
use super::markdown::{self, CodeLines};
use super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, layout_labelled, layout_sentence, with_prefix,
};
use super::step::{Fold, StepBlock};
use super::text::{StreamingText, TextPart, TextSyntax};
use super::time::{self, ArrivalTime};
use super::turn_end::{layout_turn_end, truncation_phrase};
use super::{page, plan};
use crate::picture::{PictureSize, picture_size};
use crate::theme::Theme;
use crate::{symbols, text};
use avocet_core::i18n::{LocalizedText, screen};
use avocet_core::protocol::{
    AttachmentInfo, AttachmentSize, Image, Notice, NoticeLevel, PageRow, PlanItem, Truncation,
    TurnOrigin, TurnOutcome, Usage,
};

/// Columns before the text of every block, where its mark is.
pub(super) const GUTTER: usize = 2;
/// What is before the marks in the work of a subagent.
const NESTED: &str = "  ";
/// A message of more lines, or of more bytes, is folded to this many rows.
const LONG_MESSAGE: usize = 24;
const LONG_MESSAGE_BYTES: usize = 8_000;
const FOLDED_MESSAGE: usize = 12;
/// Rows of running reasoning.
const THOUGHT: usize = 3;
/// Bytes at the end of running reasoning that are read for those rows.
const THOUGHT_TAIL: usize = 2048;

#[derive(Debug)]
pub(super) struct Block {
    pub body: BlockBody,
    /// When it arrived.
    pub arrival: ArrivalTime,
    /// Unfolded by the user, or folded against its default.
    pub fold: Fold,
    /// Counts changes other than the growth of a text.
    pub changes: u32,
    /// Rows of each part, as far as they are counted.
    pub heights: Vec<Height>,
    /// What happened in the turn of the subagent that works on the task.
    pub nested: Vec<Block>,
}

/// Rows of one part for one layout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Height {
    pub layout_id: u32,
    pub rows: u32,
    pub version: u64,
}

#[derive(Debug)]
pub(super) enum BlockBody {
    /// `turn`: the turn that this message began.
    UserMessage {
        text: StreamingText,
        origin: TurnOrigin,
        turn: Option<u64>,
    },
    /// A command that answers in the transcript, as it was typed.
    TypedCommand(StreamingText),
    /// The attachments of the message above.
    Attachments(Vec<ShownAttachment>),
    Answer(AnswerBlock),
    Reasoning {
        text: StreamingText,
        done: bool,
    },
    /// A message of a script, from this role.
    ScriptMessage {
        role: String,
        text: StreamingText,
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
    Truncated(Truncation),
    TurnEnd {
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
pub(super) struct ShownAttachment {
    pub info: AttachmentInfo,
    pub image: Option<ShownImage>,
}

/// An image that can be a picture.
#[derive(Debug)]
pub(super) struct ShownImage {
    /// Its number in this conversation.
    pub source: u32,
    pub image: Arc<Image>,
}

#[derive(Debug)]
pub(super) struct AnswerBlock {
    pub text: StreamingText,
    pub state: AnswerState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerState {
    Streaming,
    /// The reply ended, or its stream did.
    Complete,
    /// Whole, and the model reports a failure.
    Error,
}

impl Block {
    pub fn new(body: BlockBody, time: ArrivalTime) -> Block {
        let heights = Vec::new();
        let nested = Vec::new();

        Block { body, arrival: time, fold: Fold::Auto, changes: 0, heights, nested }
    }

    /// The number of parts that are laid out separately.
    pub fn parts(&self) -> usize {
        match self.full_text() {
            Some(text) => text.len(),
            None => 1,
        }
    }

    /// True when a blank row precedes the part; never asked of the first part.
    pub fn has_blank_before(&self, part: usize) -> bool {
        part > 0 && self.full_text().is_some_and(|text| text.has_blank_before(part))
    }

    /// Changes whenever the rows of the part may.
    pub fn version(&self, part: usize) -> u64 {
        let text = match (self.full_text(), self.text()) {
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
        let below =
            matches!(&self.body, BlockBody::Step(step) if step.has_outcome_below(self.fold));
        if below { rows.saturating_sub(1) } else { 0 }
    }

    /// The bar of the panel that the block is in.
    pub fn panel_bar(&self, theme: &Theme) -> Option<Style> {
        let is_user = matches!(
            self.body,
            BlockBody::UserMessage { .. } | BlockBody::TypedCommand(_) | BlockBody::Attachments(_)
        );
        (is_user && theme.has_surfaces()).then_some(theme.bar.user)
    }

    /// The mark in the gutter.
    pub fn mark(&self, cx: &LayoutContext<'_>) -> Option<Span<'static>> {
        let theme = cx.theme;
        let (mark, style) = match &self.body {
            BlockBody::UserMessage { origin: TurnOrigin::Shell, .. } => {
                ("!", user_mark(theme, theme.panel.surface))
            }
            // On a bar the sigil is not seen; it is there for a copy of the screen.
            BlockBody::UserMessage { .. } | BlockBody::TypedCommand(_) => {
                (symbols::SIGIL, user_mark(theme, theme.bar.user))
            }
            BlockBody::Answer(AnswerBlock { state: AnswerState::Error, .. }) => {
                (symbols::FAILED, theme.danger)
            }
            BlockBody::Step(step) => step.mark(cx),
            BlockBody::Notice(Notice { level: NoticeLevel::Warning, .. }) => ("!", theme.warn),
            BlockBody::Notice(Notice { level: NoticeLevel::Error, .. }) => {
                (symbols::FAILED, theme.danger)
            }
            BlockBody::TurnEnd {
                ending: TurnOutcome::Failed { .. } | TurnOutcome::Unsent { .. },
                ..
            } => (symbols::FAILED, theme.danger),
            BlockBody::TurnEnd { ending: TurnOutcome::Limit { .. }, .. }
            | BlockBody::Retry { .. }
            | BlockBody::Truncated(_) => ("!", theme.warn),
            BlockBody::Answer(_)
            | BlockBody::Attachments(_)
            | BlockBody::Reasoning { .. }
            | BlockBody::ScriptMessage { .. }
            | BlockBody::Notice(_)
            | BlockBody::Repair { .. }
            | BlockBody::TurnEnd { .. }
            | BlockBody::Page { .. }
            | BlockBody::Plan(_) => return None,
        };
        Some(Span::styled(mark, style))
    }

    /// The rows of one part, each at most `cx.width` columns.
    pub fn layout(&self, part: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let theme = cx.theme;
        match &self.body {
            BlockBody::UserMessage { text, .. } if self.full_text().is_none() => {
                layout_folded_message(text, cx)
            }
            BlockBody::UserMessage { text, .. } | BlockBody::TypedCommand(text) => {
                layout_message(text, part, cx)
            }
            BlockBody::Attachments(items) => {
                let rows = items.iter().enumerate();
                rows.flat_map(|(nth, item)| layout_attachment(nth, item, cx)).collect()
            }
            BlockBody::Answer(answer) => layout_text(&answer.text, part, theme.text, cx),
            BlockBody::Reasoning { text, .. } | BlockBody::ScriptMessage { text, .. }
                if self.full_text().is_some() =>
            {
                layout_text(text, part, theme.dim, cx)
            }
            BlockBody::Reasoning { text, done } => layout_reasoning(text, *done, cx),
            BlockBody::ScriptMessage { role, text } => layout_first_line(role, text, cx),
            BlockBody::Step(step) => self.layout_step(step, self.fold, cx),
            BlockBody::Notice(notice) => layout_notice(notice, cx),
            BlockBody::Retry { attempt, of, wait_ms, why } => {
                let say = screen::RETRYING
                    .with("why", why.clone())
                    .with("wait", time::duration_text(*wait_ms))
                    .with("attempt", *attempt)
                    .with("of", *of);
                let rows = layout_sentence(&say, theme.warn, cx);
                let folds = rows.len() > 1 && cx.prose_width() >= FOLDED_RETRY;
                if folds && self.fold != Fold::Open {
                    return layout_folded_retry(why, rows.len() - 1, cx);
                }
                rows
            }
            BlockBody::Repair { fault } => {
                layout_sentence(&screen::REPAIRING.with("fault", fault.clone()), theme.dim, cx)
            }
            BlockBody::Truncated(cut) => {
                layout_sentence(&truncation_phrase(*cut).into(), theme.warn, cx)
            }
            BlockBody::TurnEnd { ending, usage, elapsed_ms } => {
                layout_turn_end(ending, usage, *elapsed_ms, cx)
            }
            BlockBody::Page { title, rows } => page::layout(title, rows, cx),
            BlockBody::Plan(items) => plan::layout(items, self.fold, cx),
        }
    }

    /// A step; that of a task that is unfolded has below it what its agent did.
    fn layout_step(&self, step: &StepBlock, fold: Fold, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let elapsed_ms = match self.arrival {
            ArrivalTime::SinceStart(at) if step.agent.is_some() => cx.now.saturating_sub(at),
            _ => cx.elapsed_ms,
        };
        let mut rows = step.layout(fold, &LayoutContext { elapsed_ms, ..*cx });
        if step.agent.is_some() && step.is_open(fold) {
            let width = cx.prose_width().saturating_sub(NESTED.len() + 2).max(1);
            let cx = LayoutContext { width, highlights: None, ..*cx };
            rows.extend(self.nested.iter().flat_map(|block| block.layout_nested(&cx)));
        }
        rows
    }

    /// All its parts, with its mark before them.
    fn layout_nested(&self, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let rows = (0..self.parts()).flat_map(|part| self.layout(part, cx));
        let mut mark = self.mark(cx);
        let row = |row| {
            let mark = mark.take().unwrap_or_else(|| Span::raw(" "));
            with_prefix(&[Span::raw(NESTED), mark, Span::raw(" ")], row)
        };
        rows.map(row).collect()
    }

    /// Whether a subagent works on it.
    pub fn is_of_agent(&self, agent: &str) -> bool {
        matches!(&self.body, BlockBody::Step(step) if step.agent.is_some() && step.id == agent)
    }

    /// The code of a part, if it has a language and is not painted yet.
    pub fn unhighlighted(&self, at: (usize, usize), cache: &HighlightCache) -> Option<Snippet> {
        if let BlockBody::Step(step) = &self.body {
            return step.unhighlighted(at, self.fold, cache);
        }
        let text = self.full_text()?;
        let place = |nth| (at.0, at.1, nth);
        let due = |nth, language: &str, code: &str| {
            !language.is_empty() && !is_diff(language) && cache.needs_highlight(place(nth), code)
        };
        match text.part(at.1) {
            TextPart::Plain(_) => None,
            TextPart::Markdown(source) => {
                let (nth, (language, code)) = markdown::nested_code_blocks(source)
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
    pub fn unfolded_part_count(&self) -> usize {
        self.text().map_or(1, StreamingText::len)
    }

    /// The rows of one part as if it were unfolded, without anything that changes with time.
    pub fn layout_unfolded(&self, part: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        match &self.body {
            BlockBody::Step(step) if step.is_running() => Vec::new(),
            BlockBody::Step(step) => self.layout_step(step, Fold::Open, cx),
            BlockBody::Reasoning { text, .. } | BlockBody::ScriptMessage { text, .. } => {
                layout_text(text, part, cx.theme.dim, cx)
            }
            BlockBody::UserMessage { text, .. } => layout_message(text, part, cx),
            _ => self.layout(part, cx),
        }
    }

    /// Folds or unfolds; false for a block that cannot fold.
    pub fn toggle(&mut self) -> bool {
        let Some(open) = self.is_open() else { return false };
        self.set_fold(if open { Fold::Closed } else { Fold::Open });
        true
    }

    /// Whether it is unfolded; `None` for a block that cannot fold.
    pub fn is_open(&self) -> Option<bool> {
        match &self.body {
            BlockBody::Step(step) => Some(step.is_open(self.fold)),
            BlockBody::Reasoning { .. }
            | BlockBody::ScriptMessage { .. }
            | BlockBody::Retry { .. } => Some(self.fold == Fold::Open),
            BlockBody::UserMessage { text, .. } if is_long(text) => Some(self.fold == Fold::Open),
            BlockBody::UserMessage { .. }
            | BlockBody::TypedCommand(_)
            | BlockBody::Attachments(_)
            | BlockBody::Answer(_)
            | BlockBody::Notice(_)
            | BlockBody::Repair { .. }
            | BlockBody::Truncated(_)
            | BlockBody::TurnEnd { .. }
            | BlockBody::Page { .. }
            | BlockBody::Plan(_) => None,
        }
    }

    pub fn set_fold(&mut self, fold: Fold) {
        if self.fold != fold {
            self.fold = fold;
            self.mark_changed();
        }
    }

    pub fn mark_changed(&mut self) {
        self.changes = self.changes.wrapping_add(1);
    }

    /// The text that is shown in full, in parts.
    fn full_text(&self) -> Option<&StreamingText> {
        let folds = match &self.body {
            BlockBody::Reasoning { .. } | BlockBody::ScriptMessage { .. } => true,
            BlockBody::UserMessage { text, .. } => is_long(text),
            _ => false,
        };
        let folded = folds && self.fold != Fold::Open;
        self.text().filter(|_| !folded)
    }

    fn text(&self) -> Option<&StreamingText> {
        match &self.body {
            BlockBody::UserMessage { text, .. }
            | BlockBody::TypedCommand(text)
            | BlockBody::Reasoning { text, .. }
            | BlockBody::ScriptMessage { text, .. } => Some(text),
            BlockBody::Answer(answer) => Some(&answer.text),
            BlockBody::Step(_)
            | BlockBody::Attachments(_)
            | BlockBody::Notice(_)
            | BlockBody::Retry { .. }
            | BlockBody::Repair { .. }
            | BlockBody::Truncated(_)
            | BlockBody::TurnEnd { .. }
            | BlockBody::Page { .. }
            | BlockBody::Plan(_) => None,
        }
    }
}

/// The mark of what the user typed, on a bar in the colour of `on_bar`.
fn user_mark(theme: &Theme, style: Style) -> Style {
    if theme.has_surfaces() { Style { fg: style.bg, ..theme.user } } else { theme.user }
}

/// A message of the user: a panel shows whose it is, elsewhere the colour does.
fn layout_message(text: &StreamingText, part: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let theme = cx.theme;
    let style = if theme.has_surfaces() { theme.panel.surface } else { theme.user };
    layout_text(text, part, Style { bg: None, ..style }, cx)
}

/// A message that is folded until somebody wants to read it again.
fn is_long(text: &StreamingText) -> bool {
    let source = text.source();
    source.len() > LONG_MESSAGE_BYTES
        || source.bytes().filter(|byte| *byte == b'\n').nth(LONG_MESSAGE - 1).is_some()
}

/// The first rows of a long message, and how many lines follow.
fn layout_folded_message(text: &StreamingText, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let source = text.source();
    let whole_lines = source.split_inclusive('\n').take(FOLDED_MESSAGE);
    let start: usize = whole_lines.map(str::len).sum();
    let start = source.floor_char_boundary(start.min(LONG_MESSAGE_BYTES));
    let (shown, rest) = source.split_at(start);
    let shown = StreamingText::from_source(shown.to_owned(), TextSyntax::Plain);
    let mut rows = layout_message(&shown, 0, cx);
    let is_cut = rows.len() > FOLDED_MESSAGE;
    rows.truncate(FOLDED_MESSAGE);
    let hidden = rest.lines().count() + usize::from(is_cut && rest.is_empty());
    let say = screen::MORE_LINES.with("n", time::group_digits(hidden as u64));
    let say = cx.localize(&say.with("steps", cx.steps_key));
    rows.push(Line::styled(say, cx.theme.dim).into());
    rows
}

/// Columns from which a long reason to try again is one row.
const FOLDED_RETRY: usize = 40;

/// Why it is tried again, on one row: the line over the input counts down.
fn layout_folded_retry(
    why: &LocalizedText,
    hidden: usize,
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let more = screen::MORE_LINES.with("n", hidden).with("steps", cx.steps_key);
    let more = format!("  {}", cx.localize(&more));
    let room = cx.prose_width().saturating_sub(text::width(&more));
    let why = text::elide_words(&cx.localize(why), room);
    let why = Span::styled(why, cx.theme.warn);
    vec![Line::from(vec![why, Span::styled(more, cx.theme.dim)]).into()]
}

/// `@src/main.rs  120 lines`, kept together on one row; below it the rows of its picture.
fn layout_attachment(
    nth: usize,
    attachment: &ShownAttachment,
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let size = format!("  {}", cx.localize(&attachment.info.size_text()));
    let room = cx.prose_width().saturating_sub(text::width(&size)).max(8);
    let name = text::elide_middle(&text::single_line(&attachment.info.name), room);
    let name = Span::styled(name, cx.theme.user);
    let mut rows = vec![Line::from(vec![name, Span::styled(size, cx.theme.dim)]).into()];
    if let Some(size) = attachment.picture_size(cx) {
        rows.resize(1 + usize::from(size.rows), StyledRow::decoration(Line::default()));
        if let Some(first) = rows.get_mut(1) {
            first.picture = Some((nth, size));
        }
    }
    rows
}

impl ShownAttachment {
    /// The size of its picture; `None`: it has none.
    fn picture_size(&self, cx: &LayoutContext<'_>) -> Option<PictureSize> {
        let AttachmentSize::Pixels { width, height } = self.info.size else { return None };
        self.image.as_ref()?;
        picture_size((width, height), cx.cell?, cx.prose_width())
    }
}

fn layout_text(
    text: &StreamingText,
    at: usize,
    style: Style,
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    match text.part(at) {
        TextPart::Plain(text) => {
            let text = text.strip_suffix('\n').unwrap_or(text);
            Paragraph::styled(text, style).with_tabs_expanded().rows(cx.prose_width(), Break::Words)
        }
        TextPart::Markdown(source) => markdown::layout(source, text.targets(), cx, cx.width),
        TextPart::Code { code, fence, head } => {
            let label = head.then_some(fence.language.as_str());
            let code = outdent(code, fence.indent);
            let code = CodeLines { code: &code, before: text.code_before(at), label, nth: 0 };
            markdown::set_code(&code, &fence.language, cx, cx.width)
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
fn layout_reasoning(text: &StreamingText, done: bool, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let style = cx.theme.dim;
    if done {
        return layout_first_line(cx.phrase(screen::THOUGHT), text, cx);
    }
    let source = text.source().trim_end();
    let from = source.char_indices().rev().nth(THOUGHT_TAIL).map_or(0, |(at, _)| at);
    let para =
        Paragraph::styled(source.get(from..).unwrap_or_default(), style).with_tabs_expanded();
    let rows = para.rows(cx.prose_width(), Break::Words);
    let skipped = rows.len().saturating_sub(THOUGHT);
    rows.into_iter().skip(skipped).collect()
}

/// A folded text: its first line after a label.
fn layout_first_line(label: &str, text: &StreamingText, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let first = text.source().split(['\n', '。']).find(|line| !line.trim().is_empty());
    let row = format!("{label}{}", first.unwrap_or_default().trim());
    vec![Line::styled(text::elide_end(&row, cx.prose_width()), cx.theme.dim).into()]
}

fn layout_notice(notice: &Notice, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let theme = cx.theme;
    let style = match notice.level {
        NoticeLevel::Info => theme.info,
        NoticeLevel::Warning => theme.warn,
        // The mark is red: words in a colour are hard to read.
        NoticeLevel::Error => theme.text,
    };
    let mut rows = layout_sentence(&notice.say, style, cx);
    if let Some(hint) = &notice.hint {
        let label = cx.phrase(screen::HINT);
        let indent = text::width(label);
        let hint = Paragraph::sentence(hint, theme.dim, cx);
        rows.extend(layout_labelled(label, indent, &hint, cx));
    }
    rows
}
