//! A text without what splits a secret: the sequences of colours, the ends of wrapped lines, the
//! blanks between letters. What is found in it is found in the text.

use std::ops::Range;

use avocet_core::text::chars::is_hidden;

use super::values::SecretSpan;
use crate::sanitize;

/// A line that may be wrapped is at least so long.
const MIN_WIDTH: usize = 20;

/// Widths at which programs wrap lines: a value that could end with the line goes on.
const USUAL_WIDTHS: &[usize] = &[60, 64, 70, 72, 76, 78, 79, 80, 100, 120, 132];

/// A text without hidden characters, or with wrapped lines joined, and where its parts are in the
/// original.
pub(super) struct NormalizedText {
    pub text: String,
    /// Where each part begins in it, and in the text it was made of.
    parts: Vec<(usize, usize)>,
}

impl NormalizedText {
    /// Without terminal sequences and characters that cannot be seen; `None`: there are none.
    pub fn visible(text: &str) -> Option<NormalizedText> {
        let control = |byte: u8| byte < b' ' && !matches!(byte, b'\n' | b'\t' | b'\r');
        let odd = text.bytes().any(control) || !text.is_ascii() && text.contains(is_hidden);
        odd.then(|| NormalizedText::without(text, &sanitize::unseen_ranges(text))).flatten()
    }

    /// With wrapped lines joined: lines as long as the longest, where a word goes on in the next.
    pub fn unwrapped(text: &str) -> Option<NormalizedText> {
        let key = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-+/=.".contains(byte))
        };
        let longest = text.lines().map(str::len).max().filter(|len| *len >= MIN_WIDTH)?;
        let mut ends = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let body = line.trim_end_matches(['\n', '\r']);
            at += line.len();
            let goes_on = key(body.as_bytes().last()) && key(text.as_bytes().get(at));
            if body.len() == longest && goes_on {
                ends.push(at - (line.len() - body.len())..at);
            }
        }
        NormalizedText::without(text, &ends)
    }

    /// Without blanks and ends of lines.
    pub fn compact(text: &str) -> Option<NormalizedText> {
        let mut gaps: Vec<Range<usize>> = Vec::new();
        let blanks = text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_whitespace());
        for (at, _) in blanks {
            match gaps.last_mut() {
                Some(last) if last.end == at => last.end = at + 1,
                _ => gaps.push(at..at + 1),
            }
        }
        NormalizedText::without(text, &gaps)
    }

    fn without(text: &str, gaps: &[Range<usize>]) -> Option<NormalizedText> {
        if gaps.is_empty() {
            return None;
        }
        let mut seen_text =
            NormalizedText { text: String::with_capacity(text.len()), parts: Vec::new() };
        let mut at = 0;
        let ends = text.len()..text.len();
        for gap in gaps.iter().chain(std::iter::once(&ends)) {
            if let Some(part) = text.get(at..gap.start).filter(|part| !part.is_empty()) {
                seen_text.parts.push((seen_text.text.len(), at));
                seen_text.text.push_str(part);
            }
            at = gap.end;
        }
        Some(seen_text)
    }

    /// The same spans in the text that the view was made of.
    pub fn originals(&self, mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
        for span in &mut spans {
            span.from = self.original(span.from);
            span.start = self.original(span.start);
            span.end = span.end.checked_sub(1).map_or(0, |last| self.original(last) + 1);
        }
        spans
    }

    /// The spans that something was left out of.
    pub fn only_split(&self, spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
        let split = |span: &SecretSpan| {
            let next = self.parts.partition_point(|(begun, _)| *begun <= span.start);
            self.parts.get(next).is_some_and(|(begun, _)| *begun < span.end)
        };
        spans.into_iter().filter(split).collect()
    }

    fn original(&self, at: usize) -> usize {
        let part = self.parts.partition_point(|(begun, _)| *begun <= at).checked_sub(1);
        part.and_then(|part| self.parts.get(part)).map_or(at, |(begun, from)| from + (at - begun))
    }
}

/// Whether a span of a wrapped text is more than a value that ends with its line, as it is, and
/// the first word of the next.
pub(super) fn is_wrapped(text: &str, span: &SecretSpan, spans: &[SecretSpan]) -> bool {
    let end = text.get(span.start..).and_then(|rest| rest.find(['\r', '\n']));
    let Some(end) = end.map(|len| span.start + len) else { return false };
    let begin = text.get(..end).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    USUAL_WIDTHS.contains(&(end - begin))
        || !spans.iter().any(|hit| hit.start == span.start && hit.end == end)
}
