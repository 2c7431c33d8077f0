//! Reads unified diffs as git prints them and as models write them: the kinds of their lines, their
//! numbers where they are known, and the words that changed.
//!
//! A line is shown as written, with its sign, so colour is never the only cue and a copied diff is
//! still a diff.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use unicode_segmentation::UnicodeSegmentation as _;

/// Two lines are compared word by word only if they share at least this part of their words.
const ALIKE: f64 = 0.5;

/// The kind of a line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiffLineKind {
    Added,
    Removed,
    Context,
    /// The position in the file of the lines below it.
    Hunk,
    /// The file, and any other header line.
    Header,
}

/// The next line's number in the old file and in the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineNumbers {
    old: usize,
    new: usize,
    /// Lines still expected before the next header.
    left: (usize, usize),
}

/// True if the language of a code fence is a diff.
pub(super) fn is_diff(language: &str) -> bool {
    ["diff", "patch", "udiff"].iter().any(|name| name.eq_ignore_ascii_case(language))
}

/// True for output that is a diff, such as that of `git show`.
pub(super) fn looks_like_diff(output: &str) -> bool {
    output.lines().any(|line| LineNumbers::parse_hunk_header(line).is_some())
}

impl LineNumbers {
    /// `@@ -12,3 +14 @@`, where either count may be missing.
    fn parse_hunk_header(line: &str) -> Option<LineNumbers> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let part = |part: &str| -> Option<(usize, usize)> {
            let (start, count) = part.split_once(',').unwrap_or((part, "1"));
            Some((start.parse().ok()?, count.parse().ok()?))
        };
        let ((old, old_left), (new, new_left)) = (part(old)?, part(new)?);
        Some(LineNumbers { old, new, left: (old_left, new_left) })
    }

    /// The numbers after the lines of `before`.
    pub(super) fn after_lines(before: &str) -> LineNumbers {
        let mut numbers = LineNumbers::default();
        let from = before.rfind("\n@@ -").map_or(0, |at| at + 1);
        for line in before.get(from..).unwrap_or_default().lines() {
            numbers.advance(line);
        }
        numbers
    }

    /// The kind of the next line, and its number in the old file and in the new one.
    pub(super) fn advance(&mut self, line: &str) -> (DiffLineKind, (Option<usize>, Option<usize>)) {
        if let Some(numbers) = LineNumbers::parse_hunk_header(line) {
            *self = numbers;
            return (DiffLineKind::Hunk, (None, None));
        }
        let inside = self.left != (0, 0);
        match line.chars().next() {
            // A removed line `-- x` reads `--- x`: inside a hunk it is not a header.
            Some('-') if inside || !line.starts_with("--- ") => {
                (DiffLineKind::Removed, (self.next_old(inside), None))
            }
            Some('+') if inside || !line.starts_with("+++ ") => {
                (DiffLineKind::Added, (None, self.next_new(inside)))
            }
            Some(' ') | None if inside => {
                (DiffLineKind::Context, (self.next_old(inside), self.next_new(inside)))
            }
            Some(' ') | None => (DiffLineKind::Context, (None, None)),
            Some('@') if line.starts_with("@@") => (DiffLineKind::Hunk, (None, None)),
            Some(_) => (DiffLineKind::Header, (None, None)),
        }
    }

    fn next_old(&mut self, inside: bool) -> Option<usize> {
        let number = self.old;
        self.old += 1;
        self.left.0 = self.left.0.saturating_sub(1);
        inside.then_some(number)
    }

    fn next_new(&mut self, inside: bool) -> Option<usize> {
        let number = self.new;
        self.new += 1;
        self.left.1 = self.left.1.saturating_sub(1);
        inside.then_some(number)
    }
}

/// The words that differ, without the signs; none when too little is the same.
pub(super) fn changed_words(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let before = split_words(old);
    let after = split_words(new);

    let mut input = InternedInput::default();
    input.update_before(before.iter().map(|(_, word)| *word));
    input.update_after(after.iter().map(|(_, word)| *word));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let range = |part: Range<u32>| part.start as usize..part.end as usize;
    let gone: Vec<Range<usize>> = diff.hunks().map(|hunk| range(hunk.before)).collect();
    let come: Vec<Range<usize>> = diff.hunks().map(|hunk| range(hunk.after)).collect();
    let length =
        |words: &[(usize, &str)]| -> usize { words.iter().map(|(_, word)| word.len()).sum() };
    let others: usize =
        gone.iter().map(|part| length(before.get(part.clone()).unwrap_or_default())).sum();
    let same = length(&before) - others;
    let most = old.len().max(new.len()).saturating_sub(1).max(1);
    if (same as f64) < ALIKE * most as f64 {
        return (Vec::new(), Vec::new());
    }
    let marked = |parts: Vec<Range<usize>>, words: &[(usize, &str)]| {
        parts.into_iter().filter_map(|part| covering_range(words.get(part)?)).collect()
    };
    (marked(gone, &before), marked(come, &after))
}

/// The words after the sign, and where each starts.
fn split_words(line: &str) -> Vec<(usize, &str)> {
    let text = line.get(1..).unwrap_or_default();
    text.split_word_bound_indices().map(|(at, word)| (at + 1, word)).collect()
}

fn covering_range(words: &[(usize, &str)]) -> Option<Range<usize>> {
    let (start, _) = words.first()?;
    let (last, word) = words.last()?;
    Some(*start..last + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -9,3 +9,4 @@ fn main() {\n same\n\
                        -let count = one;\n+let count = two;\n+-- new\n end\n\\ No newline";

    fn numbers(diff: &str, before: &str) -> Vec<(DiffLineKind, Option<usize>)> {
        let mut numbers = LineNumbers::after_lines(before);
        let lines = diff.split('\n').map(|line| numbers.advance(line));
        lines.map(|(kind, (old, new))| (kind, new.or(old))).collect()
    }

    #[test]
    fn lines_get_the_numbers_of_their_file() {
        use DiffLineKind::{Added, Context, Header, Hunk, Removed};
        let expected = [
            (Header, None),
            (Header, None),
            (Header, None),
            (Hunk, None),
            (Context, Some(9)),
            (Removed, Some(10)),
            (Added, Some(10)),
            (Added, Some(11)),
            (Context, Some(12)),
            (Header, None),
        ];
        assert_eq!(numbers(DIFF, ""), expected);
        let (before, rest) = DIFF.split_once("+let").unwrap();
        assert_eq!(numbers(&format!("+let{rest}"), before), expected.get(6..).unwrap());
        assert_eq!(numbers("+a\n-b\n c", ""), [(Added, None), (Removed, None), (Context, None)]);
        assert_eq!(numbers("@@ -1 +1 @@\n--- x", ""), [(Hunk, None), (Removed, Some(1))]);
        assert_eq!(numbers("@@ -x +1 @@\n@@@ -1", ""), [(Hunk, None), (Hunk, None)]);
    }

    #[test]
    fn only_changed_words_are_marked() {
        let marked = |old: &str, new: &str| -> (String, String) {
            let (before, after) = changed_words(old, new);
            let of = |text: &str, words: Vec<Range<usize>>| {
                words.into_iter().filter_map(|word| text.get(word)).collect::<Vec<_>>().join("|")
            };
            (of(old, before), of(new, after))
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(marked("-let count = one;", "+let count = two;"), pair("one", "two"));
        assert_eq!(marked("-a b c d", "+a b c d e"), pair("", " e"));
        assert_eq!(marked("-解析器很慢", "+解析器很快"), pair("慢", "快"));
        assert_eq!(marked("-nothing in common", "+other words here"), pair("", ""));
        assert_eq!(marked("-", "+"), pair("", ""));
    }

    #[test]
    fn a_diff_is_recognised_by_its_hunks() {
        assert!(looks_like_diff(DIFF) && !looks_like_diff("@@ nothing\n--- x"));
    }
}
