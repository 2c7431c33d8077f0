//! A growing text: its source, kept once, split into pieces that are laid out separately.
//!
//! A finished piece is frozen: more text never changes it. Only the tail is parsed again, and only
//! when a line of it is complete, since half a line may still turn into something that belongs to
//! the piece before. To keep the tail short, long blocks are split too: code and plain text by
//! lines, lists by items, anything else where it must be.

use super::markdown::{Fence, MarkdownBlock, MarkdownBlockKind, Targets, split};

/// Lines of code or plain text per piece.
const LINES: usize = 64;
/// From this size in bytes a list is split between items, and a line of plain text anywhere.
const LONG: usize = 16 * 1024;
/// From this size in bytes anything is split.
const TOO_LONG: usize = 64 * 1024;

/// The format of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextSyntax {
    #[default]
    Markdown,
    Plain,
}

/// A text that grows: its frozen pieces, and the tail that is still parsed again.
#[derive(Debug, Default)]
pub(super) struct StreamingText {
    source: String,
    form: TextSyntax,
    pieces: Vec<Piece>,
    /// The end of the frozen pieces.
    frozen: usize,
    /// How far the source was searched for more pieces.
    scanned_end: usize,
    fences: Vec<Fence>,
    /// The targets of links that are defined separately from them.
    targets: Targets,
    /// The code of the last fence is still arriving.
    is_fence_open: bool,
    /// The text after the frozen pieces continues the last of them.
    continues_last_piece: bool,
    /// No more text follows.
    is_complete: bool,
    /// Counts replacements, so that rows of the old text are never shown.
    edition: u32,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u32,
    shape: PieceKind,
    /// Continues the piece before without a blank row.
    continues_previous: bool,
    /// May contain a link whose target is defined elsewhere.
    has_reference: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PieceKind {
    Prose,
    /// Lines of code of this fence; `head`: they include the opening line.
    Code {
        fence: u32,
        head: bool,
    },
}

/// One piece, ready to be laid out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextPart<'a> {
    Plain(&'a str),
    Markdown(&'a str),
    /// Lines of code; the first piece shows the language of the fence.
    Code {
        code: &'a str,
        fence: &'a Fence,
        head: bool,
    },
}

impl StreamingText {
    pub fn new(syntax: TextSyntax) -> StreamingText {
        StreamingText { form: syntax, ..StreamingText::default() }
    }

    /// A text that is complete.
    pub fn from_source(source: String, syntax: TextSyntax) -> StreamingText {
        let mut text = StreamingText { source, form: syntax, ..StreamingText::default() };
        text.finish();
        text
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The end of the source, for appending; never truncate it before the last line.
    pub fn source_mut(&mut self) -> &mut String {
        &mut self.source
    }

    /// The text is complete: the tail becomes a piece like all others.
    pub fn finish(&mut self) {
        self.is_complete = true;
        self.freeze_finished();
        self.source.shrink_to_fit();
        self.pieces.shrink_to_fit();
    }

    /// Replaces the whole text by `source`; does nothing if they are equal.
    pub fn replace(&mut self, source: String, syntax: TextSyntax) {
        if self.source != source || self.form != syntax {
            let edition = self.edition.wrapping_add(1);
            *self = StreamingText { source, form: syntax, edition, ..StreamingText::default() };
        }
        self.finish();
    }

    /// Freezes finished pieces. Cheap when no line has ended since the last call.
    pub fn freeze_finished(&mut self) {
        let end = match self.source.rfind('\n') {
            _ if self.is_complete => self.source.len(),
            Some(at) => at + 1,
            None => 0,
        };
        // A line without an end is split too, before parsing it becomes expensive.
        let endless = self.source.len() - self.frozen.max(end) > TOO_LONG;
        let end = if endless { floor(&self.source, self.source.len() - LONG) } else { end };
        if end <= self.scanned_end && !(self.is_complete && self.frozen < end) {
            return;
        }
        self.scanned_end = end;
        match self.form {
            TextSyntax::Plain => self.freeze_plain(end),
            TextSyntax::Markdown => self.freeze_markdown(end, endless),
        }
    }

    /// Frozen pieces, and the tail if there is one.
    pub fn len(&self) -> usize {
        self.pieces.len() + usize::from(self.has_tail())
    }

    pub fn part(&self, at: usize) -> TextPart<'_> {
        let end = self.pieces.get(at).map_or(self.source.len(), Piece::end);
        let source = self.source.get(self.start(at)..end).unwrap_or_default();
        match (self.form, self.shape(at)) {
            (TextSyntax::Plain, _) => TextPart::Plain(source),
            (TextSyntax::Markdown, PieceKind::Prose) => TextPart::Markdown(source),
            (TextSyntax::Markdown, PieceKind::Code { fence, head }) => {
                match self.fences.get(fence as usize) {
                    Some(fence) => {
                        TextPart::Code { code: code_lines(source, fence, head), fence, head }
                    }
                    None => TextPart::Markdown(source),
                }
            }
        }
    }

    /// The code of the same fence before a piece of code.
    pub fn code_before(&self, at: usize) -> &str {
        let mut head = at;
        while head > 0 && matches!(self.shape(head), PieceKind::Code { head: false, .. }) {
            head -= 1;
        }
        let source = self.source.get(self.start(head)..self.start(at)).unwrap_or_default();
        source.split_once('\n').map_or("", |(_, code)| code)
    }

    /// True when a blank row precedes the piece.
    pub fn has_blank_before(&self, at: usize) -> bool {
        let joined =
            self.pieces.get(at).map_or(self.continues_last_piece, |piece| piece.continues_previous);
        at > 0 && !joined && self.form == TextSyntax::Markdown
    }

    /// Changes whenever the rows of the piece may.
    pub fn version(&self, at: usize) -> u64 {
        let piece = self.pieces.get(at);
        let tail = if piece.is_some() { 0 } else { self.source.len() as u64 + 1 };
        let refers = piece.is_none_or(|piece| piece.has_reference);
        let defined = if refers { self.targets.len() as u64 } else { 0 };
        u64::from(self.edition) << 42 | defined << 33 | tail
    }

    /// The ends of the frozen pieces.
    #[cfg(test)]
    fn ends(&self) -> Vec<usize> {
        self.pieces.iter().map(Piece::end).collect()
    }

    fn has_tail(&self) -> bool {
        let tail = self.source.get(self.frozen..).unwrap_or_default();
        match self.form {
            TextSyntax::Markdown => !tail.trim().is_empty(),
            TextSyntax::Plain => !tail.is_empty(),
        }
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|at| self.pieces.get(at)).map_or(0, Piece::end)
    }

    fn shape(&self, at: usize) -> PieceKind {
        self.pieces.get(at).map_or(self.tail_shape(), |piece| piece.shape)
    }

    fn tail_shape(&self) -> PieceKind {
        match self.fences.len().checked_sub(1) {
            Some(last) if self.is_fence_open => {
                let fence = last as u32;
                PieceKind::Code { fence, head: !self.has_code(fence) }
            }
            _ => PieceKind::Prose,
        }
    }

    /// True when lines of this fence are already frozen.
    fn has_code(&self, fence: u32) -> bool {
        matches!(self.pieces.last(), Some(Piece { shape: PieceKind::Code { fence: last, .. }, .. }) if *last == fence)
    }

    fn freeze(&mut self, end: usize, shape: PieceKind) {
        if end > self.frozen {
            let joined = std::mem::take(&mut self.continues_last_piece);
            let refers = shape == PieceKind::Prose
                && self.form == TextSyntax::Markdown
                && self.source.get(self.frozen..end).is_some_and(|source| source.contains('['));
            let end32 = u32::try_from(end).unwrap_or(u32::MAX);
            self.pieces.push(Piece {
                end: end32,
                shape,
                continues_previous: joined,
                has_reference: refers,
            });
            self.frozen = end;
        }
    }

    fn freeze_plain(&mut self, end: usize) {
        while let Some(rest) = self.source.get(self.frozen..end) {
            let lines = nth_line_end(rest, LINES).unwrap_or(rest.len());
            let cut = if lines > LONG { floor(rest, LONG) } else { lines };
            if cut == 0 || (cut == rest.len() && !self.is_complete) {
                break;
            }
            self.freeze(self.frozen + cut, PieceKind::Prose);
        }
    }

    /// Freezes finished pieces, up to `end`; `endless`: the last line has no end yet.
    fn freeze_markdown(&mut self, end: usize, endless: bool) {
        if self.is_fence_open && !self.freeze_open_code(end) {
            return;
        }
        let base = self.frozen;
        let source = self.source.get(base..end).unwrap_or_default();
        let found = split(source, &mut self.targets);
        let starts: Vec<usize> = found.iter().map(|block| base + block.start).collect();
        for (at, MarkdownBlock { kind, start, end: own }) in found.into_iter().enumerate() {
            if matches!(kind, MarkdownBlockKind::Code(_)) {
                // Invisible text before or after code, such as the target of a link, is not code.
                self.freeze(base + start, PieceKind::Prose);
            }
            match (starts.get(at + 1), kind) {
                (Some(_), MarkdownBlockKind::Code(fence)) => self.freeze_fence(base + own, fence),
                (None, MarkdownBlockKind::Code(fence)) if self.is_complete => {
                    self.freeze_fence(base + own, fence)
                }
                (Some(next), kind) => self.freeze_block(base, *next, kind),
                (None, kind) if self.is_complete => self.freeze_block(base, end, kind),
                (None, kind) => self.freeze_last_block(base, end, kind, endless),
            }
        }
    }

    /// Freezes a finished block.
    fn freeze_block(&mut self, base: usize, end: usize, kind: MarkdownBlockKind) {
        let long = end - self.frozen;
        match kind {
            MarkdownBlockKind::List(items) if long > LONG => self.split_list(base, &items, true),
            _ if long > TOO_LONG => self.split_anywhere(end),
            MarkdownBlockKind::Other | MarkdownBlockKind::List(_) | MarkdownBlockKind::Code(_) => {}
        }
        self.freeze(end, PieceKind::Prose);
        self.continues_last_piece = false;
    }

    /// Freezes finished code.
    fn freeze_fence(&mut self, end: usize, fence: Fence) {
        self.fences.push(fence);
        self.freeze_code(end);
        self.continues_last_piece = false;
    }

    /// Handles the last block, which may still grow.
    fn freeze_last_block(
        &mut self,
        base: usize,
        end: usize,
        kind: MarkdownBlockKind,
        endless: bool,
    ) {
        let long = end - self.frozen;
        match kind {
            MarkdownBlockKind::Code(fence) => {
                self.fences.push(fence);
                self.is_fence_open = true;
                self.freeze_open_code(end);
            }
            MarkdownBlockKind::List(items) if long > LONG => self.split_list(base, &items, false),
            MarkdownBlockKind::Other | MarkdownBlockKind::List(_) if long > TOO_LONG || endless => {
                self.split_anywhere(end)
            }
            MarkdownBlockKind::Other | MarkdownBlockKind::List(_) => {}
        }
    }

    /// Splits the tail between items, a few per piece; the last item stays with what follows unless
    /// `all` are finished.
    fn split_list(&mut self, base: usize, items: &[usize], all: bool) {
        for (at, item) in items.iter().map(|item| base + item).enumerate() {
            let last = at + 1 == items.len() && !all;
            if item > self.frozen && (last || item - self.frozen > LONG / 8) {
                self.freeze(item, PieceKind::Prose);
                let before = self.source.get(..self.frozen).unwrap_or_default();
                self.continues_last_piece = !before.ends_with("\n\n");
            }
        }
    }

    fn split_anywhere(&mut self, end: usize) {
        while end - self.frozen > LONG {
            let rest = self.source.get(self.frozen..end).unwrap_or_default();
            let most = floor(rest, LONG);
            let head = rest.get(..most).unwrap_or_default();
            let cut = head.rfind('\n').or_else(|| head.rfind(' ')).map_or(most, |at| at + 1);
            self.freeze(self.frozen + cut, PieceKind::Prose);
            self.continues_last_piece = true;
        }
    }

    /// Freezes code of the last fence, up to `end`.
    fn freeze_code(&mut self, end: usize) {
        let fence = self.fences.len().saturating_sub(1) as u32;
        while let Some(rest) = self.source.get(self.frozen..end).filter(|rest| !rest.is_empty()) {
            let head = !self.has_code(fence);
            let cut = self.frozen + nth_line_end(rest, LINES).unwrap_or(rest.len());
            self.freeze(cut, PieceKind::Code { fence, head });
            self.continues_last_piece = true;
        }
    }

    /// Freezes whole lines of the open fence; true when the fence is closed.
    fn freeze_open_code(&mut self, end: usize) -> bool {
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
        let over = closing.is_some() || self.is_complete;
        let until = match closing {
            Some(at) => Some(at),
            None if self.is_complete => Some(rest.len()),
            None => {
                rest.match_indices('\n').map(|(at, _)| at + 1).skip(LINES - 1).step_by(LINES).last()
            }
        };
        if let Some(until) = until {
            self.freeze_code(self.frozen + until);
        }
        if over {
            (self.is_fence_open, self.continues_last_piece) = (false, false);
        }
        over
    }
}

impl Piece {
    fn end(&self) -> usize {
        self.end as usize
    }
}

/// The code of a piece, without its fence lines. The indentation of the fence is removed at layout.
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

/// The end of the `n`-th line, after its line break.
fn nth_line_end(text: &str, n: usize) -> Option<usize> {
    text.match_indices('\n').nth(n - 1).map(|(at, _)| at + 1)
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
