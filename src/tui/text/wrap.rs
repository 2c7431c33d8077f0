//! Finds line breaks: byte ranges, so that styles can follow.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Never at the start of a row: closing marks, small kana, characters that follow a number.
const NO_START: &str = "，。、；：？！）》」』】〕〉〗’”…—～ー々％℃‰·!),.:;?]}%\
    ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヶ";
/// Never at the end of a row.
const NO_END: &str = "（《「『【〔〈〖‘“([{￥＄";

/// How a cluster behaves at the edge of a row.
#[derive(Clone, Copy, PartialEq)]
enum Edge {
    Space,
    Opening,
    Closing,
    /// A mark of Chinese text, which a word may follow without a space.
    WideClosing,
    /// Allowed on either side of a break.
    Wide,
    Letter,
}

/// The number of columns of one grapheme cluster.
pub fn cells(cluster: &str) -> usize {
    cluster.width()
}

/// The rows of one line (no line breaks in it), without the spaces at their ends.
pub fn wrap_ranges(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = RowBreaker { width: width.max(1), ..RowBreaker::default() };
    for (at, cluster) in line.grapheme_indices(true) {
        rows.push(line, at, cluster);
    }
    rows.end(line, line.len());
    rows.out
}

/// The rows of one line of code: cut after a blank in their second half, or at the last column.
/// Nothing is left out.
pub fn cut_ranges(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut used = 0;

    // The end of the last blank after a word of the row, in bytes and in columns.
    let mut blank: Option<(usize, usize)> = None;
    let mut has_word = false;
    for (at, cluster) in line.grapheme_indices(true) {
        let wide = cells(cluster);
        if used + wide > width && at > start {
            let at_blank = blank.take().filter(|(_, column)| column * 2 > width);
            let (end, column) = at_blank.unwrap_or((at, used));
            out.push(start..end);
            (start, used, has_word) = (end, used - column, at_blank.is_some());
        }
        used += wide;
        if cluster != " " {
            has_word = true;
        } else if has_word {
            blank = Some((at + cluster.len(), used));
        }
    }
    out.push(start..line.len());
    out
}

#[derive(Default)]
struct RowBreaker {
    width: usize,
    out: Vec<Range<usize>>,
    /// Columns are counted from the start of the line.
    column: usize,
    /// The start of the row, in bytes and in columns.
    start: usize,
    base: usize,
    /// The last possible break in this row, in bytes and in columns.
    last_break: Option<(usize, usize)>,
    /// The previous cluster: its start, in bytes and in columns, and its edge.
    previous: Option<(usize, usize, Edge)>,
}

impl RowBreaker {
    fn push(&mut self, line: &str, at: usize, cluster: &str) {
        let wide = cells(cluster);
        let edge = Edge::from_cluster(cluster, wide);
        if let Some((_, _, before)) = self.previous
            && may_break(before, edge)
        {
            self.last_break = Some((at, self.column));
        }
        while edge != Edge::Space && self.column + wide > self.base + self.width && at > self.start
        {
            let (cut, column) =
                self.last_break.take().unwrap_or_else(|| self.forced_break(at, edge));
            self.end(line, cut);
            (self.start, self.base) = (cut, column);
        }
        self.previous = Some((at, self.column, edge));
        self.column += wide;
    }

    /// Without a possible break: here, or one cluster earlier to keep a closing mark with its
    /// letter.
    fn forced_break(&self, at: usize, edge: Edge) -> (usize, usize) {
        match self.previous {
            Some((earlier, column, kind))
                if edge.is_closing() && earlier > self.start && !kind.is_closing() =>
            {
                (earlier, column)
            }
            _ => (at, self.column),
        }
    }

    fn end(&mut self, line: &str, at: usize) {
        let row = line.get(self.start..at).unwrap_or_default();
        self.out.push(self.start..self.start + row.trim_end_matches(' ').len());
    }
}

impl Edge {
    fn from_cluster(cluster: &str, wide: usize) -> Edge {
        if cluster == " " {
            return Edge::Space;
        }
        match cluster.chars().next() {
            Some(c) if NO_START.contains(c) && wide > 1 => Edge::WideClosing,
            Some(c) if NO_START.contains(c) => Edge::Closing,
            Some(c) if NO_END.contains(c) => Edge::Opening,
            _ if wide > 1 => Edge::Wide,
            _ => Edge::Letter,
        }
    }

    fn is_closing(self) -> bool {
        matches!(self, Edge::Closing | Edge::WideClosing)
    }
}

fn may_break(edge: Edge, after_edge: Edge) -> bool {
    match (edge, after_edge) {
        (_, Edge::Space | Edge::Closing | Edge::WideClosing) | (Edge::Opening, _) => false,
        (Edge::Space | Edge::Wide | Edge::WideClosing, _) | (_, Edge::Wide) => true,
        (Edge::Closing, Edge::Opening) => true,
        // `a.b` holds.
        (Edge::Closing, Edge::Letter) | (Edge::Letter, Edge::Opening | Edge::Letter) => false,
    }
}
