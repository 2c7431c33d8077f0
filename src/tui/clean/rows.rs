//! Finds line breaks: byte ranges, so that styles can follow.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::cells;

/// Never at the start of a row: closing marks, small kana, characters that follow a number.
const NO_START: &str = "，。、；：？！）》」』】〕〉〗’”…—～ー々％℃‰·!),.:;?]}%\
    ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヶ";
/// Never at the end of a row.
const NO_END: &str = "（《「『【〔〈〖‘“([{￥＄";

/// How a cluster behaves at the edge of a row.
#[derive(Clone, Copy, PartialEq)]
enum Edge {
    Space,
    Opens,
    Closes,
    /// Allowed on either side of a break.
    Wide,
    Letter,
}

/// The rows of one line (no line breaks in it), without the spaces at their ends.
pub fn rows(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Rows { width: width.max(1), ..Rows::default() };
    for (at, cluster) in line.grapheme_indices(true) {
        rows.take(line, at, cluster);
    }
    rows.end(line, line.len());
    rows.out
}

/// The rows of one line cut at the last column, as code is shown: spaces stay.
pub fn cut(line: &str, width: usize) -> Vec<Range<usize>> {
    let (mut out, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, cluster) in line.grapheme_indices(true) {
        let wide = cells(cluster);
        if used + wide > width && at > start {
            out.push(start..at);
            (start, used) = (at, 0);
        }
        used += wide;
    }
    out.push(start..line.len());
    out
}

#[derive(Default)]
struct Rows {
    width: usize,
    out: Vec<Range<usize>>,
    /// Columns are counted from the start of the line.
    column: usize,
    /// The start of the row, in bytes and in columns.
    start: usize,
    base: usize,
    /// The last possible break in this row, in bytes and in columns.
    good: Option<(usize, usize)>,
    /// The previous cluster: its start, in bytes and in columns, and its edge.
    before: Option<(usize, usize, Edge)>,
}

impl Rows {
    fn take(&mut self, line: &str, at: usize, cluster: &str) {
        let wide = cells(cluster);
        let edge = Edge::of(cluster, wide);
        if let Some((_, _, before)) = self.before
            && may_break(before, edge)
        {
            self.good = Some((at, self.column));
        }
        while edge != Edge::Space && self.column + wide > self.base + self.width && at > self.start
        {
            let (cut, column) = self.good.take().unwrap_or_else(|| self.forced(at, edge));
            self.end(line, cut);
            (self.start, self.base) = (cut, column);
        }
        self.before = Some((at, self.column, edge));
        self.column += wide;
    }

    /// Without a possible break: here, or one cluster earlier to keep a closing mark with its
    /// letter.
    fn forced(&self, at: usize, edge: Edge) -> (usize, usize) {
        match self.before {
            Some((earlier, column, kind))
                if edge == Edge::Closes && earlier > self.start && kind != Edge::Closes =>
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
    fn of(cluster: &str, wide: usize) -> Edge {
        if cluster == " " {
            return Edge::Space;
        }
        match cluster.chars().next() {
            Some(c) if NO_START.contains(c) => Edge::Closes,
            Some(c) if NO_END.contains(c) => Edge::Opens,
            _ if wide > 1 => Edge::Wide,
            _ => Edge::Letter,
        }
    }
}

fn may_break(before: Edge, after: Edge) -> bool {
    match (before, after) {
        (_, Edge::Space | Edge::Closes) | (Edge::Opens, _) => false,
        (Edge::Space | Edge::Wide, _) | (_, Edge::Wide) => true,
        // A full stop of Chinese text is wide, but so is none of ASCII: `a.b` holds.
        (Edge::Closes, Edge::Opens) => true,
        (Edge::Closes, Edge::Letter) | (Edge::Letter, Edge::Opens | Edge::Letter) => false,
    }
}
