//! Captures a child's output: a bounded part is kept, the rest is counted and dropped, so
//! that a flood neither costs memory nor blocks the child.

use std::borrow::Cow;
use std::collections::VecDeque;

use avocet_core::protocol::LineRound;

/// The part kept of one stream, in bytes: its beginning and its end.
pub(super) const HEAD: usize = 64 * 1024;
pub(super) const TAIL: usize = 256 * 1024;

/// The part of one stream that the model gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputShare {
    pub bytes: usize,
    pub lines: usize,
}

pub(super) const STDOUT: OutputShare = OutputShare { bytes: 16 * 1024, lines: 400 };
pub(super) const STDERR: OutputShare = OutputShare { bytes: 4 * 1024, lines: 100 };

/// Changes between the streams that are kept.
const ROUNDS: usize = 400;

/// How the lines of both streams followed each other, as far as reading shows it.
#[derive(Debug, Default)]
pub(super) struct LineOrder(pub Vec<LineRound>);

impl LineOrder {
    /// Counts the lines that `bytes` complete.
    pub(super) fn push(&mut self, is_stderr: bool, bytes: &[u8]) {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        if lines == 0 || self.0.len() >= ROUNDS {
            return;
        }
        match (self.0.last_mut(), is_stderr) {
            (Some(LineRound(_, err)), true) => *err = err.saturating_add(lines),
            (Some(LineRound(out, 0)), false) => *out = out.saturating_add(lines),
            (_, true) => self.0.push(LineRound(0, lines)),
            (_, false) => self.0.push(LineRound(lines, 0)),
        }
    }
}

/// One stream: its first and its last bytes, and how many there were.
#[derive(Debug)]
pub(super) struct BoundedBuffer {
    /// How much of the beginning is kept.
    head_limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Default for BoundedBuffer {
    fn default() -> BoundedBuffer {
        BoundedBuffer::with_head_limit(HEAD)
    }
}

impl BoundedBuffer {
    /// Keeps so many bytes of the beginning.
    pub(super) fn with_head_limit(most: usize) -> BoundedBuffer {
        BoundedBuffer { head_limit: most, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_limit.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
    }

    /// The same, and what is pushed later goes on.
    pub(super) fn text(&self) -> CapturedText {
        let head = self.head.clone();
        let tail = self.tail.clone();

        BoundedBuffer { head_limit: self.head_limit, head, tail, total: self.total }.into_text()
    }

    /// Decoded, invalid bytes replaced.
    pub(super) fn into_text(mut self) -> CapturedText {
        let dropped = self.total - (self.head.len() + self.tail.len()) as u64;
        let tail = self.tail.make_contiguous();
        if dropped == 0 {
            self.head.extend_from_slice(tail);
            let front = String::from_utf8_lossy(&self.head).into_owned();
            return CapturedText { front, back: String::new(), dropped };
        }
        CapturedText {
            front: String::from_utf8_lossy(&self.head).into_owned(),
            back: String::from_utf8_lossy(tail).into_owned(),
            dropped,
        }
    }
}

/// A decoded stream: all of it in `front`, or the two ends with a gap between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CapturedText {
    pub front: String,
    pub back: String,
    /// Bytes between the two.
    pub dropped: u64,
}

impl CapturedText {
    /// The same with each part changed.
    pub(super) fn map(&self, change: impl Fn(&str) -> String) -> CapturedText {
        CapturedText { front: change(&self.front), back: change(&self.back), dropped: self.dropped }
    }

    /// All that was kept, with a line that says what is missing.
    pub(super) fn whole(&self) -> String {
        if self.is_whole() {
            return self.front.clone();
        }
        format!(
            "{}\n[… {} left out …]\n{}",
            self.front,
            avocet_core::text::size(self.dropped),
            self.back
        )
    }

    pub(super) fn is_whole(&self) -> bool {
        self.dropped == 0
    }

    /// Complete lines only: the partial lines on both sides of a gap are left out.
    pub(super) fn lines(&self) -> Cow<'_, str> {
        if self.is_whole() {
            return Cow::Borrowed(&self.front);
        }
        let front = self.front.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let back = self.back.split_once('\n').map_or("", |(_, lines)| lines);
        Cow::Owned(format!("{front}\n{back}"))
    }

    /// The part for the model, and whether something is missing in it. A quarter is
    /// the beginning, the rest is the end, and a line between says how much is gone.
    pub(super) fn excerpt(&self, share: OutputShare) -> (String, bool) {
        let lines = self.front.lines().count();
        if self.is_whole() && self.front.len() <= share.bytes && lines <= share.lines {
            return (self.front.clone(), false);
        }
        let first = first_lines(&self.front, share.bytes / 4, share.lines / 4);
        let rest = if self.is_whole() {
            self.front.strip_prefix(first).unwrap_or_default()
        } else {
            &self.back
        };
        let last = last_lines(rest, share.bytes - share.bytes / 4, share.lines - share.lines / 4);
        let all = (self.front.len() + self.back.len()) as u64 + self.dropped;
        let gone = all.saturating_sub((first.len() + last.len()) as u64);
        let newline = if first.is_empty() || first.ends_with('\n') { "" } else { "\n" };
        (format!("{first}{newline}[… {} left out …]\n{last}", avocet_core::text::size(gone)), true)
    }
}

/// The first lines within both limits; part of a line where one alone is too long.
fn first_lines(text: &str, bytes: usize, lines: usize) -> &str {
    let most = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
    let cut = match most.match_indices('\n').take(lines).last() {
        Some((at, _)) => at + 1,
        None => most.len(),
    };
    most.get(..cut).unwrap_or_default()
}

/// The last lines within both limits.
fn last_lines(text: &str, bytes: usize, lines: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    let most = text.get(start..).unwrap_or_default();
    // A cut inside a line drops the line, unless there is no other.
    let whole = match most.split_once('\n') {
        Some((_, after)) if start > 0 && !after.is_empty() => after,
        _ => most,
    };
    let body = whole.strip_suffix('\n').unwrap_or(whole);
    match body.rmatch_indices('\n').nth(lines.saturating_sub(1)) {
        Some((at, _)) => whole.get(at + 1..).unwrap_or_default(),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bytes: &[u8]) -> CapturedText {
        let mut kept = BoundedBuffer::default();
        bytes.chunks(1000).for_each(|piece| kept.push(piece));
        kept.into_text()
    }

    #[test]
    fn the_order_of_lines_is_counted_by_the_stream_that_ends_each() {
        let mut order = LineOrder::default();
        for (is_stderr, bytes) in
            [(false, "one\ntw"), (true, "error\n"), (false, "o\n"), (false, "three\n")]
        {
            order.push(is_stderr, bytes.as_bytes());
        }
        assert_eq!(order.0, [LineRound(1, 1), LineRound(2, 0)]);
    }

    #[test]
    fn a_small_output_is_kept_as_it_is() {
        let text = captured(b"one\ntwo");
        assert_eq!(text.excerpt(STDOUT), ("one\ntwo".to_owned(), false));
        assert_eq!(text.lines(), "one\ntwo");
    }

    #[test]
    fn a_flood_keeps_its_two_ends_and_the_count() {
        let line = b"0123456789abcde\n";
        let text = captured(&line.repeat(100_000));
        assert_eq!(text.front.len(), HEAD);
        assert_eq!(text.back.len(), TAIL);
        assert_eq!(text.dropped, 1_600_000 - (HEAD + TAIL) as u64);
        let (share, cut) = text.excerpt(STDOUT);
        assert!(cut && share.len() < STDOUT.bytes + 100);
        assert!(share.contains("\n[… 1.5 MiB left out …]\n0123"));
        assert!(share.lines().count() <= STDOUT.lines + 1);
        assert!(text.lines().lines().all(|line| line == "0123456789abcde"));
    }

    #[test]
    fn the_limit_of_lines_counts_as_well_as_that_of_bytes() {
        let (share, cut) = captured(&b"\n".repeat(2000)).excerpt(STDOUT);
        assert!(cut);
        assert_eq!(share.lines().count(), STDOUT.lines + 1);
        let numbered: String = (0..1000).map(|n| format!("{n}\n")).collect();
        let (share, _) = captured(numbered.as_bytes()).excerpt(STDOUT);
        assert!(share.starts_with("0\n1\n") && share.ends_with("\n999\n"));
        assert!(share.contains("99\n[… 2.3 KiB left out …]\n700\n"), "{share}");
    }

    #[test]
    fn one_endless_line_is_cut_between_characters() {
        let (share, cut) = captured("好".repeat(100_000).as_bytes()).excerpt(STDOUT);
        assert!(cut && share.contains("left out"));
        assert!(share.starts_with('好') && share.ends_with('好'));
        assert!(share.len() < STDOUT.bytes + 100);
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        assert_eq!(captured(b"a\xff\xfeb").front, "a\u{fffd}\u{fffd}b");
    }
}
