//! A text that grows: its source once, cut into pieces that are set alone.
//!
//! A piece that is over is frozen: more text never changes it. Only the tail is looked
//! at again, and never before a line of it is whole, since half a line may still turn
//! into something that belongs to the piece before. So that the tail stays short,
//! long blocks are cut as well: code and plain text by lines, lists by items, anything
//! else where it must.

use super::markdown::{Fence, Found, Kind, Targets, split};

/// Lines of code or plain text in one piece.
const LINES: usize = 64;
/// Bytes from which a list is cut between items, and a line of plain text anywhere.
const LONG: usize = 16 * 1024;
/// Bytes from which anything is cut.
const TOO_LONG: usize = 64 * 1024;

/// What the source is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Markdown,
    Plain,
}

#[derive(Debug, Default)]
pub(super) struct Text {
    source: String,
    form: Form,
    pieces: Vec<Piece>,
    /// Where the frozen pieces end.
    frozen: usize,
    /// How far the source was looked at for more pieces.
    seen: usize,
    fences: Vec<Fence>,
    /// What links of it lead to, as far as that is defined apart from them.
    targets: Targets,
    /// The code of the last fence is still coming.
    open: bool,
    /// What comes behind the frozen pieces goes on where they end.
    joins: bool,
    /// No more text follows.
    whole: bool,
    /// Counts replacements, so that nobody shows rows of the old text.
    edition: u32,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u32,
    shape: Shape,
    /// Goes on where the piece before ends, without a blank row.
    joined: bool,
    /// Something in it may be a link whose target is defined elsewhere.
    refers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Prose,
    /// Lines of code under this fence; `head`: the opening line is its first.
    Code {
        fence: u32,
        head: bool,
    },
}

/// One piece, ready to be set.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part<'a> {
    Plain(&'a str),
    Markdown(&'a str),
    /// Lines of code; the fence's language heads the first of them.
    Code {
        code: &'a str,
        fence: &'a Fence,
        head: bool,
    },
}

impl Text {
    pub fn new(form: Form) -> Text {
        Text { form, ..Text::default() }
    }

    /// A text that does not grow.
    pub fn whole(source: String, form: Form) -> Text {
        let mut text = Text { source, form, ..Text::default() };
        text.finish();
        text
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The end of the source, to be written to and never cut before the last line.
    pub fn grow(&mut self) -> &mut String {
        &mut self.source
    }

    /// No more follows: the tail is a piece like all others.
    pub fn finish(&mut self) {
        self.whole = true;
        self.settle();
        self.source.shrink_to_fit();
        self.pieces.shrink_to_fit();
    }

    /// Takes `source` in place of all that came; nothing happens if it is the same.
    pub fn replace(&mut self, source: String, form: Form) {
        if self.source != source || self.form != form {
            let edition = self.edition.wrapping_add(1);
            *self = Text { source, form, edition, ..Text::default() };
        }
        self.finish();
    }

    /// Freezes what is over. Cheap when no line has ended since the last call.
    pub fn settle(&mut self) {
        let end = match self.source.rfind('\n') {
            _ if self.whole => self.source.len(),
            Some(at) => at + 1,
            None => 0,
        };
        // A line without an end is cut as well, before it costs anything.
        let endless = self.source.len() - self.frozen.max(end) > TOO_LONG;
        let end = if endless { floor(&self.source, self.source.len() - LONG) } else { end };
        if end <= self.seen && !(self.whole && self.frozen < end) {
            return;
        }
        self.seen = end;
        match self.form {
            Form::Plain => self.settle_plain(end),
            Form::Markdown => self.settle_markdown(end, endless),
        }
    }

    /// Frozen pieces, and the tail if there is one.
    pub fn len(&self) -> usize {
        self.pieces.len() + usize::from(self.has_tail())
    }

    pub fn part(&self, at: usize) -> Part<'_> {
        let end = self.pieces.get(at).map_or(self.source.len(), Piece::end);
        let source = self.source.get(self.start(at)..end).unwrap_or_default();
        match (self.form, self.shape(at)) {
            (Form::Plain, _) => Part::Plain(source),
            (Form::Markdown, Shape::Prose) => Part::Markdown(source),
            (Form::Markdown, Shape::Code { fence, head }) => {
                match self.fences.get(fence as usize) {
                    Some(fence) => {
                        Part::Code { code: code_lines(source, fence, head), fence, head }
                    }
                    None => Part::Markdown(source),
                }
            }
        }
    }

    /// The code of the same fence above a piece of code.
    pub fn code_before(&self, at: usize) -> &str {
        let mut head = at;
        while head > 0 && matches!(self.shape(head), Shape::Code { head: false, .. }) {
            head -= 1;
        }
        let source = self.source.get(self.start(head)..self.start(at)).unwrap_or_default();
        source.split_once('\n').map_or("", |(_, code)| code)
    }

    /// True when a blank row stands before the piece.
    pub fn gap(&self, at: usize) -> bool {
        let joined = self.pieces.get(at).map_or(self.joins, |piece| piece.joined);
        at > 0 && !joined && self.form == Form::Markdown
    }

    /// Changes whenever the rows of the piece may.
    pub fn version(&self, at: usize) -> u64 {
        let piece = self.pieces.get(at);
        let tail = if piece.is_some() { 0 } else { self.source.len() as u64 + 1 };
        let refers = piece.is_none_or(|piece| piece.refers);
        let defined = if refers { self.targets.len() as u64 } else { 0 };
        u64::from(self.edition) << 42 | defined << 33 | tail
    }

    /// Where the frozen pieces end.
    #[cfg(test)]
    fn ends(&self) -> Vec<usize> {
        self.pieces.iter().map(Piece::end).collect()
    }

    fn has_tail(&self) -> bool {
        let tail = self.source.get(self.frozen..).unwrap_or_default();
        match self.form {
            Form::Markdown => !tail.trim().is_empty(),
            Form::Plain => !tail.is_empty(),
        }
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|at| self.pieces.get(at)).map_or(0, Piece::end)
    }

    fn shape(&self, at: usize) -> Shape {
        self.pieces.get(at).map_or(self.tail_shape(), |piece| piece.shape)
    }

    fn tail_shape(&self) -> Shape {
        match self.fences.len().checked_sub(1) {
            Some(last) if self.open => {
                let fence = last as u32;
                Shape::Code { fence, head: !self.has_code(fence) }
            }
            _ => Shape::Prose,
        }
    }

    /// True when lines under this fence are frozen already.
    fn has_code(&self, fence: u32) -> bool {
        matches!(self.pieces.last(), Some(Piece { shape: Shape::Code { fence: last, .. }, .. }) if *last == fence)
    }

    fn freeze(&mut self, end: usize, shape: Shape) {
        if end > self.frozen {
            let joined = std::mem::take(&mut self.joins);
            let refers = shape == Shape::Prose
                && self.form == Form::Markdown
                && self.source.get(self.frozen..end).is_some_and(|source| source.contains('['));
            let end32 = u32::try_from(end).unwrap_or(u32::MAX);
            self.pieces.push(Piece { end: end32, shape, joined, refers });
            self.frozen = end;
        }
    }

    fn settle_plain(&mut self, end: usize) {
        while let Some(rest) = self.source.get(self.frozen..end) {
            let lines = nth_line_end(rest, LINES).unwrap_or(rest.len());
            let cut = if lines > LONG { floor(rest, LONG) } else { lines };
            if cut == 0 || (cut == rest.len() && !self.whole) {
                break;
            }
            self.freeze(self.frozen + cut, Shape::Prose);
        }
    }

    /// Freezes what is over, up to `end`; `endless`: the last line has no end yet.
    fn settle_markdown(&mut self, end: usize, endless: bool) {
        if self.open && !self.settle_code(end) {
            return;
        }
        let base = self.frozen;
        let source = self.source.get(base..end).unwrap_or_default();
        let found = split(source, &mut self.targets);
        let starts: Vec<usize> = found.iter().map(|block| base + block.start).collect();
        for (at, Found { kind, start, end: own }) in found.into_iter().enumerate() {
            if matches!(kind, Kind::Code(_)) {
                // What stands unseen before code or behind it, such as the target of a
                // link, is no code.
                self.freeze(base + start, Shape::Prose);
            }
            match (starts.get(at + 1), kind) {
                (Some(_), Kind::Code(fence)) => self.freeze_fence(base + own, fence),
                (None, Kind::Code(fence)) if self.whole => self.freeze_fence(base + own, fence),
                (Some(next), kind) => self.freeze_block(base, *next, kind),
                (None, kind) if self.whole => self.freeze_block(base, end, kind),
                (None, kind) => self.settle_last(base, end, kind, endless),
            }
        }
    }

    /// A block that is over.
    fn freeze_block(&mut self, base: usize, end: usize, kind: Kind) {
        let long = end - self.frozen;
        match kind {
            Kind::List(items) if long > LONG => self.cut_list(base, &items, true),
            _ if long > TOO_LONG => self.cut_anywhere(end),
            Kind::Other | Kind::List(_) | Kind::Code(_) => {}
        }
        self.freeze(end, Shape::Prose);
        self.joins = false;
    }

    /// Code that is over.
    fn freeze_fence(&mut self, end: usize, fence: Fence) {
        self.fences.push(fence);
        self.freeze_code(end);
        self.joins = false;
    }

    /// The block that more text may still belong to.
    fn settle_last(&mut self, base: usize, end: usize, kind: Kind, endless: bool) {
        let long = end - self.frozen;
        match kind {
            Kind::Code(fence) => {
                self.fences.push(fence);
                self.open = true;
                self.settle_code(end);
            }
            Kind::List(items) if long > LONG => self.cut_list(base, &items, false),
            Kind::Other | Kind::List(_) if long > TOO_LONG || endless => self.cut_anywhere(end),
            Kind::Other | Kind::List(_) => {}
        }
    }

    /// Cuts the tail before items, a few of them in a piece; the last item stays
    /// with what follows unless `all` are over.
    fn cut_list(&mut self, base: usize, items: &[usize], all: bool) {
        for (at, item) in items.iter().map(|item| base + item).enumerate() {
            let last = at + 1 == items.len() && !all;
            if item > self.frozen && (last || item - self.frozen > LONG / 8) {
                self.freeze(item, Shape::Prose);
                let before = self.source.get(..self.frozen).unwrap_or_default();
                self.joins = !before.ends_with("\n\n");
            }
        }
    }

    fn cut_anywhere(&mut self, end: usize) {
        while end - self.frozen > LONG {
            let rest = self.source.get(self.frozen..end).unwrap_or_default();
            let most = floor(rest, LONG);
            let head = rest.get(..most).unwrap_or_default();
            let cut = head.rfind('\n').or_else(|| head.rfind(' ')).map_or(most, |at| at + 1);
            self.freeze(self.frozen + cut, Shape::Prose);
            self.joins = true;
        }
    }

    /// Code under the last fence, up to `end`.
    fn freeze_code(&mut self, end: usize) {
        let fence = self.fences.len().saturating_sub(1) as u32;
        while let Some(rest) = self.source.get(self.frozen..end).filter(|rest| !rest.is_empty()) {
            let head = !self.has_code(fence);
            let cut = self.frozen + nth_line_end(rest, LINES).unwrap_or(rest.len());
            self.freeze(cut, Shape::Code { fence, head });
            self.joins = true;
        }
    }

    /// Freezes whole lines of the open fence; true when it is over.
    fn settle_code(&mut self, end: usize) -> bool {
        let (Some(fence), Some(rest)) = (self.fences.last(), self.source.get(self.frozen..end))
        else {
            return true;
        };
        let opening = usize::from(!self.has_code(self.fences.len().saturating_sub(1) as u32));
        let mut at = 0;
        let closing = rest.split_inclusive('\n').enumerate().find_map(|(line, text)| {
            at += text.len();
            (line >= opening && fence.is_closed_by(text.trim_end_matches('\n'))).then_some(at)
        });
        let over = closing.is_some() || self.whole;
        let until = match closing {
            Some(at) => Some(at),
            None if self.whole => Some(rest.len()),
            None => {
                rest.match_indices('\n').map(|(at, _)| at + 1).skip(LINES - 1).step_by(LINES).last()
            }
        };
        if let Some(until) = until {
            self.freeze_code(self.frozen + until);
        }
        if over {
            (self.open, self.joins) = (false, false);
        }
        over
    }
}

impl Piece {
    fn end(&self) -> usize {
        self.end as usize
    }
}

/// The code of a piece, without its fence lines. Spaces that the fence stands behind
/// are taken off when it is set.
fn code_lines<'a>(source: &'a str, fence: &Fence, head: bool) -> &'a str {
    let body = match source.split_once('\n') {
        Some((_, body)) if head => body,
        None if head => "",
        Some(_) | None => source,
    };
    let last = body.trim_end().rfind('\n').map_or(0, |at| at + 1);
    match body.get(last..) {
        Some(line) if fence.is_closed_by(line) => body.get(..last).unwrap_or_default(),
        _ => body,
    }
}

/// Where the `n`-th line ends, behind its line break.
fn nth_line_end(text: &str, n: usize) -> Option<usize> {
    text.match_indices('\n').nth(n - 1).map(|(at, _)| at + 1)
}

/// The nearest place at or before `at` where a character starts.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
