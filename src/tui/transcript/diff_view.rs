//! Lays out a diff: tinted rows, changed words and syntax colours; two columns where there is room
//! for them. It is measured once for a width, and only the rows in view are laid out, so a long
//! diff costs no more than a short one.

use std::ops::Range;
use std::sync::Arc;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::diff::{DiffLineKind, LineNumbers, changed_words};
use super::highlight::{self, CodePosition, HighlightedCode, Snippet};
use super::paragraph::{Break, LayoutContext, Paragraph, StyledRow, bar_prefixes, with_prefix};
use crate::theme::Theme;
use avocet_core::i18n::Lang;

/// From this width on, the old and the new text of a change are side by side.
const SIDE_BY_SIDE: usize = 150;
/// In a narrower area the lines matter more than their numbers.
const NUMBERED: usize = 24;
/// Lines longer than this many bytes are not compared word by word.
const LINE: usize = 400;
/// More pairs of lines than these are not compared with each other.
const COMPARED: usize = 4096;
/// Between the two columns.
const BETWEEN: usize = 1;
/// Marks lines that are left out between two changes.
const GAP: &str = "⋮";

/// How a diff is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffForm {
    /// Every line of it, so that a copy is still a diff.
    AsWritten,
    /// A change of one file whose name is shown elsewhere: its lines alone.
    Change,
}

/// The old and the new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

/// A diff, measured for a width.
#[derive(Clone, Debug)]
pub struct DiffView {
    shape: Arc<DiffShape>,
    /// The colours of the new text and of the old one.
    highlights: [Option<Arc<HighlightedCode>>; 2],
}

#[derive(Debug)]
struct DiffShape {
    text: String,
    form: DiffForm,
    width: usize,
    digits: usize,
    is_split: bool,
    lines: Vec<LineShape>,
    units: Vec<Unit>,
}

#[derive(Clone, Debug)]
struct LineShape {
    bytes: Range<usize>,
    kind: DiffLineKind,
    /// Its number in the old file and in the new one.
    numbers: (Option<usize>, Option<usize>),
    /// Its index among the lines of its side.
    index: usize,
    /// The line it replaces or is replaced by.
    partner: Option<usize>,
}

/// Lines that are laid out together: one, or two side by side.
#[derive(Clone, Copy, Debug)]
struct Unit {
    old: Option<usize>,
    new: Option<usize>,
    /// The row after it.
    end: usize,
}

impl DiffView {
    /// `before`: lines above it in the same diff, which it continues.
    pub fn new(text: &str, before: &str, form: DiffForm, width: usize, theme: &Theme) -> DiffView {
        let width = width.max(1);
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        let mut lines = parse(&text, before);
        pair_lines(&mut lines, &text);
        let most = lines.iter().flat_map(|line| [line.numbers.0, line.numbers.1]).flatten().max();
        let digits = most.map_or(0, |most| most.to_string().len() + 1);
        let digits = if digits + NUMBERED <= width { digits } else { 0 };
        let is_split = form == DiffForm::Change
            && width >= SIDE_BY_SIDE
            && lines.iter().any(|line| line.kind == DiffLineKind::Removed)
            && lines.iter().any(|line| line.kind == DiffLineKind::Added);
        let units = if is_split { split_units(&lines) } else { single_units(&lines, form) };
        let mut shape = DiffShape { text, form, width, digits, is_split, lines, units };
        let columns = shape.columns(&context(theme, Lang::En, width));
        let mut end = 0;
        for at in 0..shape.units.len() {
            end += shape.height(at, columns);
            if let Some(unit) = shape.units.get_mut(at) {
                unit.end = end;
            }
        }
        DiffView { shape: Arc::new(shape), highlights: [None, None] }
    }

    /// The number of its rows.
    pub fn height(&self) -> usize {
        self.shape.units.last().map_or(0, |unit| unit.end)
    }

    /// Lays out `take` rows from row `from` on, for a dialog outside the transcript.
    pub fn window(
        &self,
        from: usize,
        take: usize,
        theme: &Theme,
        lang: Lang,
    ) -> Vec<Line<'static>> {
        let cx = context(theme, lang, self.shape.width);
        let colors = self.highlights.each_ref().map(|known| known.as_deref());
        let rows = self.shape.rows(from..from.saturating_add(take), colors, &cx);
        rows.into_iter().map(StyledRow::into_padded_line).collect()
    }

    /// All its rows, for the transcript; the colours are those of the part being laid out.
    pub(super) fn layout(&self, rows: Range<usize>, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        self.shape.rows(rows, [cx.highlight(0), cx.highlight(1)], cx)
    }

    /// The code of a side that has no colours yet.
    pub(super) fn unhighlighted(
        &self,
        place: (usize, usize),
        language: &str,
        is_known: impl Fn(CodePosition) -> bool,
    ) -> Option<Snippet> {
        let sides = [Side::New, Side::Old].into_iter().zip(self.sides()).enumerate();
        sides.into_iter().find_map(|(nth, (side, has_lines))| {
            let at = (place.0, place.1, nth);
            let due = has_lines && !is_known(at);
            due.then(|| highlight::snippet(at, language, "", &self.shape.code(side)))
        })
    }

    /// Whether the new text has lines, and whether the old one has lines of its own.
    pub(super) fn sides(&self) -> [bool; 2] {
        let has_lines = |side: Side| self.shape.lines.iter().any(|line| line.is_on(side, true));
        [has_lines(Side::New), has_lines(Side::Old)]
    }

    /// The same for a dialog, which keeps the colours here.
    pub fn next_unhighlighted(&self, serial: usize, language: &str) -> Option<Snippet> {
        let is_known =
            |at: CodePosition| self.highlights.get(at.2).is_some_and(|known| known.is_some());
        self.unhighlighted((usize::MAX, serial), language, is_known)
    }

    pub fn add_highlight(&mut self, code: HighlightedCode) {
        if let Some(known) = self.highlights.get_mut(code.at.2) {
            *known = Some(Arc::new(code));
        }
    }
}

/// Lays out lines of a diff that continue `before`.
pub(super) fn layout(
    diff: &str,
    before: &str,
    cx: &LayoutContext<'_>,
    width: usize,
) -> Vec<StyledRow> {
    let view = DiffView::new(diff, before, DiffForm::AsWritten, width, cx.theme);
    view.layout(0..usize::MAX, &LayoutContext { highlights: None, ..*cx })
}

fn context(theme: &Theme, lang: Lang, width: usize) -> LayoutContext<'_> {
    LayoutContext {
        theme,
        lang,
        steps_key: "",
        width,
        elapsed_ms: 0,
        now: 0,
        cell: None,
        highlights: None,
    }
}

fn parse(text: &str, before: &str) -> Vec<LineShape> {
    let mut numbers = LineNumbers::after_lines(before);
    let (mut start, mut next) = (0, (0, 0));
    text.split('\n')
        .map(|line| {
            let (kind, numbers) = numbers.advance(line);
            let bytes = start..start + line.len();
            start = bytes.end + 1;
            let index = if kind == DiffLineKind::Removed { next.0 } else { next.1 };
            next.0 += usize::from(matches!(kind, DiffLineKind::Removed | DiffLineKind::Context));
            next.1 += usize::from(matches!(kind, DiffLineKind::Added | DiffLineKind::Context));
            LineShape { bytes, kind, numbers, index, partner: None }
        })
        .collect()
}

/// Finds the added line that replaces each removed one.
fn pair_lines(lines: &mut [LineShape], text: &str) {
    let mut at = 0;
    while at < lines.len() {
        let count = |from: usize, kind: DiffLineKind| {
            lines.iter().skip(from).take_while(|line| line.kind == kind).count()
        };
        let removed = count(at, DiffLineKind::Removed);
        let added = if removed > 0 { count(at + removed, DiffLineKind::Added) } else { 0 };
        let line = |at: usize| {
            let bytes = lines.get(at).map_or(0..0, |line| line.bytes.clone());
            text.get(bytes.start + 1..bytes.end).unwrap_or_default()
        };
        let pairs: Vec<(usize, usize)> = if removed != added && removed * added <= COMPARED {
            similar_lines(at..at + removed, at + removed..at + removed + added, line)
        } else {
            (0..removed.min(added)).map(|nth| (at + nth, at + removed + nth)).collect()
        };
        for (old, new) in pairs {
            if let Some(line) = lines.get_mut(old) {
                line.partner = Some(new);
            }
            if let Some(line) = lines.get_mut(new) {
                line.partner = Some(old);
            }
        }
        at += (removed + added).max(1);
    }
}

/// Pairs each removed line with the added one that is most like it, in the order of both.
fn similar_lines<'a>(
    removed: Range<usize>,
    added: Range<usize>,
    line: impl Fn(usize) -> &'a str,
) -> Vec<(usize, usize)> {
    let (mut pairs, mut next) = (Vec::new(), added.start);
    for old in removed {
        let likeness = |new: usize| (shared_bytes(line(old), line(new)), new);
        let enough = line(old).trim().len().div_ceil(3).max(1);
        let best = (next..added.end).map(likeness).max_by_key(|(shared, new)| (*shared, !new));
        if let Some((_, new)) = best.filter(|(shared, _)| *shared >= enough) {
            pairs.push((old, new));
            next = new + 1;
        }
    }
    pairs
}

/// Bytes that two lines begin and end with, without their indentation.
fn shared_bytes(one: &str, other: &str) -> usize {
    let (one, other) = (one.trim().as_bytes(), other.trim().as_bytes());
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = one.len().min(other.len()) - start;
    let ends = one.iter().rev().zip(other.iter().rev()).take(rest);
    start + ends.take_while(|(a, b)| a == b).count()
}

/// Whether a line of a change is shown: not the header, nor the place of the first lines, which
/// their numbers tell.
fn is_shown(lines: &[LineShape], at: usize, form: DiffForm) -> bool {
    form == DiffForm::AsWritten || lines.iter().take(at + 1).any(|line| line.kind.is_content())
}

fn single_units(lines: &[LineShape], form: DiffForm) -> Vec<Unit> {
    let first = lines.iter().position(|line| line.kind.is_content()).unwrap_or(lines.len());
    let from = if form == DiffForm::AsWritten { 0 } else { first };
    let unit = |at: usize| match lines.get(at).map(|line| line.kind) {
        Some(DiffLineKind::Removed) => Unit { old: Some(at), new: None, end: 0 },
        _ => Unit { old: None, new: Some(at), end: 0 },
    };
    (from..lines.len()).map(unit).collect()
}

fn split_units(lines: &[LineShape]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if !matches!(line.kind, DiffLineKind::Removed | DiffLineKind::Added) {
            if is_shown(lines, at, DiffForm::Change) {
                units.push(Unit { old: Some(at), new: Some(at), end: 0 });
            }
            at += 1;
            continue;
        }
        let of = |from: usize, kind| {
            from + lines.iter().skip(from).take_while(|line| line.kind == kind).count()
        };
        let removed = of(at, DiffLineKind::Removed);
        let end = of(removed, DiffLineKind::Added);
        let mut new = removed;
        for old in at..removed {
            let partner = lines.get(old).and_then(|line| line.partner);
            // What is added before its partner comes before it.
            for alone in new..partner.unwrap_or(new) {
                units.push(Unit { old: None, new: Some(alone), end: 0 });
            }
            new = partner.map_or(new, |partner| partner + 1);
            units.push(Unit { old: Some(old), new: partner, end: 0 });
        }
        units.extend((new..end).map(|alone| Unit { old: None, new: Some(alone), end: 0 }));
        at = end;
    }
    units
}

impl LineShape {
    /// Whether it is in the old or in the new text; `alone`: and not in the other one.
    fn is_on(&self, side: Side, alone: bool) -> bool {
        match (self.kind, side) {
            (DiffLineKind::Removed, Side::Old) | (DiffLineKind::Added, Side::New) => true,
            (DiffLineKind::Context, side) => !alone || side == Side::New,
            _ => false,
        }
    }
}

impl DiffShape {
    fn line_text(&self, line: &LineShape) -> &str {
        self.text.get(line.bytes.clone()).unwrap_or_default()
    }

    /// The lines of one side without their signs.
    fn code(&self, side: Side) -> String {
        let lines = self.lines.iter().filter(|line| line.is_on(side, false));
        let mut code = String::new();
        for line in lines {
            code.push_str(self.line_text(line).get(1..).unwrap_or_default());
            code.push('\n');
        }
        code
    }

    /// The widths of the two columns.
    fn columns(&self, cx: &LayoutContext<'_>) -> (usize, usize) {
        let prefix: usize = bar_prefixes(cx, self.width).0.iter().map(Span::width).sum();
        let room = self.width.saturating_sub(prefix).max(1);
        if !self.is_split {
            return (0, room);
        }
        let left = room.saturating_sub(BETWEEN) / 2;
        (left, room - BETWEEN - left)
    }

    /// Rows of a unit. Plain lines that fit are not laid out to be measured.
    fn height(&self, at: usize, (left, right): (usize, usize)) -> usize {
        let Some(unit) = self.units.get(at) else { return 0 };
        let rows = |line: Option<usize>, columns: usize| {
            let Some(line) = line.and_then(|at| self.lines.get(at)) else { return 0 };
            let (text, room) = (self.line_text(line), columns.saturating_sub(self.digits).max(1));
            let is_gap = self.form == DiffForm::Change && line.kind == DiffLineKind::Hunk;
            if is_gap || most_columns(text).is_some_and(|most| most <= room) {
                1
            } else {
                Paragraph::styled(text, Style::new()).with_tabs_expanded().count_rows(room)
            }
        };
        if self.is_split {
            rows(unit.old, left).max(rows(unit.new, right))
        } else {
            rows(unit.old.or(unit.new), right)
        }
    }

    fn rows(
        &self,
        wanted: Range<usize>,
        codes: [Option<&HighlightedCode>; 2],
        cx: &LayoutContext<'_>,
    ) -> Vec<StyledRow> {
        let first = self.units.partition_point(|unit| unit.end <= wanted.start);
        let start = first.checked_sub(1).and_then(|at| self.units.get(at)).map_or(0, |u| u.end);
        let count = wanted.len();
        let mut out = Vec::new();
        for unit in self.units.iter().skip(first) {
            if out.len() >= count + wanted.start.saturating_sub(start) {
                break;
            }
            out.extend(self.unit_rows(unit, codes, cx));
        }
        out.into_iter().skip(wanted.start.saturating_sub(start)).take(count).collect()
    }

    fn unit_rows(
        &self,
        unit: &Unit,
        codes: [Option<&HighlightedCode>; 2],
        cx: &LayoutContext<'_>,
    ) -> Vec<StyledRow> {
        let columns = self.columns(cx);
        let (bar, more) = bar_prefixes(cx, self.width);
        let more = if cx.theme.has_surfaces() { bar.clone() } else { more };
        let line = unit.new.or(unit.old).and_then(|at| self.lines.get(at));
        let is_gap = self.form == DiffForm::Change
            && line.is_some_and(|line| line.kind == DiffLineKind::Hunk);
        if is_gap {
            let dots = format!("{GAP:>width$} ", width = self.digits.saturating_sub(1).max(1));
            let gap = Line::styled(dots, cx.theme.dim);
            return vec![StyledRow::decoration(with_prefix(&bar, gap.into()).line)];
        }
        let rows = if self.is_split {
            self.beside(unit, columns, codes, cx)
        } else {
            let side = if unit.old.is_some() { Side::Old } else { Side::New };
            self.side_rows(unit.old.or(unit.new), side, columns.1, codes, cx)
        };
        let rows = rows.into_iter().enumerate();
        rows.map(|(at, row)| with_prefix(if at == 0 { &bar } else { &more }, row)).collect()
    }

    /// The old text at the left, the new text at the right. A copy is of the new text.
    fn beside(
        &self,
        unit: &Unit,
        (left, right): (usize, usize),
        codes: [Option<&HighlightedCode>; 2],
        cx: &LayoutContext<'_>,
    ) -> Vec<StyledRow> {
        let mut old = self.side_rows(unit.old, Side::Old, left, codes, cx);
        let mut new = self.side_rows(unit.new, Side::New, right, codes, cx);
        let height = old.len().max(new.len());
        old.resize_with(height, || StyledRow::decoration(Line::default()));
        new.resize_with(height, || StyledRow::decoration(Line::default()));
        let beside = |(old, new): (StyledRow, StyledRow)| {
            let mut prefix = old.padded_to(left).spans;
            prefix.push(Span::raw(" ".repeat(BETWEEN)));
            with_prefix(&prefix, new)
        };
        old.into_iter().zip(new).map(beside).collect()
    }

    /// The rows of one line, with its number.
    fn side_rows(
        &self,
        at: Option<usize>,
        side: Side,
        width: usize,
        colors: [Option<&HighlightedCode>; 2],
        cx: &LayoutContext<'_>,
    ) -> Vec<StyledRow> {
        let Some(line) = at.and_then(|at| self.lines.get(at)) else { return Vec::new() };
        let colors = match side {
            Side::New => colors[0],
            Side::Old if line.kind == DiffLineKind::Removed => colors[1],
            // A line of context is the same in the new text.
            Side::Old => colors[0],
        };
        let para = self.paragraph(line, colors, cx).with_tabs_expanded();
        let rows = para.rows(width.saturating_sub(self.digits).max(1), Break::Columns);
        let number = match side {
            Side::Old => line.numbers.0,
            Side::New => line.numbers.1,
        };
        let tint = line.kind.row_style(cx.theme);
        let columns = self.digits.saturating_sub(1);
        let number = number.map_or(String::new(), |number| number.to_string());
        let number = |first: bool| {
            let number = if first { number.as_str() } else { "" };
            vec![Span::styled(format!("{number:>columns$} "), cx.theme.dim)]
        };
        let rows = rows.into_iter().enumerate();
        rows.map(|(at, row)| match self.digits {
            0 => row.filled(width, tint),
            _ => with_prefix(&number(at == 0), row).filled(width, tint),
        })
        .collect()
    }

    /// The text of a line in its colours: those of its code, or that of its sign.
    fn paragraph(
        &self,
        line: &LineShape,
        colors: Option<&HighlightedCode>,
        cx: &LayoutContext<'_>,
    ) -> Paragraph {
        let text = self.line_text(line);
        let theme = cx.theme;
        let is_tinted = line.kind.row_style(theme).bg.is_some();
        let sign = line.kind.style(theme);
        let plain = if is_tinted { theme.markup.block } else { sign };
        let code = text.get(1..).unwrap_or_default();
        let runs = colors
            .filter(|_| is_tinted || line.kind == DiffLineKind::Context)
            .and_then(|colors| colors.runs(line.index, code));
        let words = self.changed_words(line);
        let marked = line.kind.word_style(theme);
        let mut cuts: Vec<usize> = words.iter().flat_map(|word| [word.start, word.end]).collect();
        cuts.extend(runs.iter().flat_map(|runs| runs.iter().map(|(end, _)| end + 1)));
        cuts.extend([1, text.len()]);
        cuts.retain(|cut| *cut <= text.len() && text.is_char_boundary(*cut));
        cuts.sort_unstable();
        cuts.dedup();
        let (mut para, mut start) = (Paragraph::default(), 0);
        for end in cuts {
            let style = match (start, runs) {
                (0, _) if line.kind.is_content() => sign,
                (_, Some(runs)) => {
                    let run = runs.iter().find(|(run, _)| start <= *run);
                    let kind = run.map(|(_, kind)| *kind).unwrap_or_default();
                    kind.style(plain, &theme.markup.syntax)
                }
                (_, None) => plain,
            };
            let is_changed = words.iter().any(|word| word.contains(&start));
            let style = if is_changed { style.patch(marked) } else { style };
            para.push(text.get(start..end).unwrap_or_default(), style);
            start = end;
        }
        para
    }

    /// The words that differ from the line it replaces or is replaced by.
    fn changed_words(&self, line: &LineShape) -> Vec<Range<usize>> {
        let Some(other) = line.partner.and_then(|at| self.lines.get(at)) else { return Vec::new() };
        let (own, others) = (self.line_text(line), self.line_text(other));
        if own.len().max(others.len()) > LINE {
            return Vec::new();
        }
        match line.kind {
            DiffLineKind::Removed => changed_words(own, others).0,
            _ => changed_words(others, own).1,
        }
    }
}

/// Columns that a text takes at most, if no two of its characters combine and each is shown as
/// it is: ASCII, Latin, Chinese, Japanese and Korean.
fn most_columns(text: &str) -> Option<usize> {
    text.chars().try_fold(0, |most, c| match c {
        ' '..='~' => Some(most + 1),
        '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{17f}' | '\u{3001}'..='\u{301f}' => Some(most + 2),
        '\u{3041}'..='\u{3096}' | '\u{309b}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' => {
            Some(most + 2)
        }
        '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff60}' => Some(most + 2),
        _ => None,
    })
}

impl DiffLineKind {
    fn is_content(self) -> bool {
        matches!(self, DiffLineKind::Added | DiffLineKind::Removed | DiffLineKind::Context)
    }

    fn style(self, theme: &Theme) -> Style {
        let plain = theme.markup.block;
        match self {
            DiffLineKind::Added => plain.patch(theme.change.added),
            DiffLineKind::Removed => plain.patch(theme.change.removed),
            DiffLineKind::Hunk => plain.patch(theme.change.hunk),
            DiffLineKind::Context => plain,
            DiffLineKind::Header => plain.patch(theme.markup.strong),
        }
    }

    fn row_style(self, theme: &Theme) -> Style {
        match self {
            DiffLineKind::Added => theme.change.added_row,
            DiffLineKind::Removed => theme.change.removed_row,
            DiffLineKind::Hunk | DiffLineKind::Context | DiffLineKind::Header => Style::new(),
        }
    }

    /// Changed words are never shown by a colour alone.
    fn word_style(self, theme: &Theme) -> Style {
        let style = match self {
            DiffLineKind::Removed => theme.change.removed_word,
            _ => theme.change.added_word,
        };
        match style.bg {
            Some(_) => style.add_modifier(Modifier::BOLD),
            None => style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
        }
    }
}

/// The width of a change in the transcript: that of prose, or all of it for two columns.
pub(super) fn diff_width(cx: &LayoutContext<'_>) -> usize {
    if cx.width >= SIDE_BY_SIDE { cx.width } else { cx.prose_width() }
}

/// The word for a file's language that a grammar is found by.
pub fn language_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(_, extension)| extension)
}

#[cfg(test)]
mod tests;
