//! Formats the difference of two texts as a unified diff, line by line, as git prints it.
//! It does not decide what may be written, and it draws nothing. The library compares; the
//! hunks are formatted here, because its own printer shows more lines than it announces.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

/// Lines around a change.
const AROUND: u32 = 3;
/// Git's line below a last line that does not end.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// A unified diff, and how many lines come and go; an empty one when nothing differs.
pub fn unified(name: &str, old: &str, new: &str) -> (String, usize, usize) {
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let mut writer = DiffWriter { text: String::new(), input };
    if !hunks.is_empty() {
        writer.text = format!("--- {name}\n+++ {name}\n");
    }
    // Changes whose surroundings meet are shown as one.
    for group in hunks.chunk_by(|a, b| b.before.start - a.before.end <= 2 * AROUND) {
        writer.write_hunk(group);
    }
    (writer.text, diff.count_additions() as usize, diff.count_removals() as usize)
}

/// How many lines come and go; of what is long or no text, how many there were.
pub fn count_changes(old: &[u8], new: &[u8]) -> (usize, usize) {
    const COMPARED: usize = 1024 * 1024;
    let text = |bytes| std::str::from_utf8(bytes).ok();
    match (text(old), text(new)) {
        (Some(old), Some(new)) if old.len().max(new.len()) <= COMPARED => {
            let (_, added, removed) = unified("", old, new);
            (added, removed)
        }
        _ => {
            let lines = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').count();
            (lines(new), lines(old))
        }
    }
}

struct DiffWriter<'a> {
    text: String,
    input: InternedInput<&'a str>,
}

impl DiffWriter<'_> {
    fn write_hunk(&mut self, hunks: &[Hunk]) {
        let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else { return };
        let lead = AROUND.min(first.before.start);
        let lines = u32::try_from(self.input.before.len()).unwrap_or(u32::MAX);
        let trail = AROUND.min(lines - last.before.end);
        let old = first.before.start - lead..last.before.end + trail;
        let new = first.after.start - lead..last.after.end + trail;
        let from = hunk_range(&old);
        let to = hunk_range(&new);

        // Writing into a string cannot fail.
        let _ = writeln!(self.text, "@@ -{from} +{to} @@");
        let mut at = old.start;
        for hunk in hunks {
            self.write_lines(' ', at..hunk.before.start, Side::Old);
            self.write_lines('-', hunk.before.clone(), Side::Old);
            self.write_lines('+', hunk.after.clone(), Side::New);
            at = hunk.before.end;
        }
        self.write_lines(' ', at..old.end, Side::Old);
    }

    fn write_lines(&mut self, sign: char, range: Range<u32>, side: Side) {
        let tokens: &[Token] = match side {
            Side::Old => &self.input.before,
            Side::New => &self.input.after,
        };
        for token in tokens.get(range.start as usize..range.end as usize).unwrap_or_default() {
            let line = self.input.interner[*token];
            self.text.push(sign);
            self.text.push_str(line);
            if !line.ends_with('\n') {
                let _ = write!(self.text, "\n{NO_NEWLINE}\n");
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
}

/// `12,3`; a single line is `12`, and a side without any is named by the line before it.
fn hunk_range(range: &Range<u32>) -> String {
    match range.end - range.start {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        lines => format!("{},{lines}", range.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        unified("a", old, new).0
    }

    #[test]
    fn a_diff_has_the_lines_around_and_the_numbers_of_git() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let said = "--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified("a", old, new), (said.to_owned(), 1, 1));
        assert_eq!(unified("a", old, old), (String::new(), 0, 0));
    }

    #[test]
    fn a_new_or_an_emptied_file_starts_at_line_zero() {
        assert_eq!(diff("", "x\ny\n"), "--- a\n+++ a\n@@ -0,0 +1,2 @@\n+x\n+y\n");
        assert_eq!(diff("x\n", ""), "--- a\n+++ a\n@@ -1 +0,0 @@\n-x\n");
    }

    #[test]
    fn a_last_line_that_does_not_end_is_distinguished_from_one_that_does() {
        let said = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n+y\n\\ No newline at end of file\n";
        assert_eq!(diff("x\ny\n", "x\ny"), said);
    }

    #[test]
    fn a_long_file_is_compared_like_a_short_one() {
        let old: String = (0..20_000).map(|n| format!("a{n}\n")).collect();
        let new = old.replace("a4500\n", "b\n").replace("a19000\n", "");
        let (text, added, removed) = unified("x", &old, &new);
        assert_eq!((added, removed), (1, 2));
        assert!(text.starts_with("--- x\n+++ x\n@@ -4498,7 +4498,7 @@\n a4497\n"), "{text}");
        assert!(text.contains("\n-a4500\n+b\n a4501\n"), "{text}");
        assert!(text.contains("\n-a19000\n a19001\n"), "{text}");
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let old: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n3\n", "\nthree\n").replace("\n38\n", "\n");
        let heads: Vec<String> = diff(&old, &new)
            .lines()
            .filter(|line| line.starts_with("@@"))
            .map(str::to_owned)
            .collect();
        assert_eq!(heads, ["@@ -1,6 +1,6 @@", "@@ -35,6 +35,5 @@"]);
    }
}
