//! A line as it is compared where bytes need not agree: signs that look alike are one, runs of
//! blanks are one blank, and letters with marks have one form.

use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_segmentation::UnicodeSegmentation as _;

/// Characters of a line as they are compared, each with its offset in the line.
pub type FoldedChars = Vec<(char, usize)>;

/// The line as it is compared.
pub fn fold(line: &str) -> String {
    fold_chars(line).into_iter().map(|(c, _)| c).collect()
}

/// The same with the offsets.
pub fn fold_chars(line: &str) -> FoldedChars {
    let mut out = FoldedChars::with_capacity(line.len());
    if line.is_ascii() {
        line.char_indices().for_each(|(at, c)| push_folded(c, at, &mut out));
        return out;
    }
    for (at, part) in line.grapheme_indices(true) {
        match part.chars().next() {
            Some(c) if c.len_utf8() == part.len() => push_folded(c, at, &mut out),
            _ => compose(part).chars().for_each(|c| push_folded(c, at, &mut out)),
        }
    }
    out
}

/// The offset in the line at which this character begins.
pub fn offset(chars: &FoldedChars, at: usize, line: &str) -> usize {
    chars.get(at).map_or(line.len(), |(_, offset)| *offset)
}

/// Letters with marks as one character each.
pub fn compose(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

fn push_folded(c: char, at: usize, out: &mut FoldedChars) {
    match plain(c) {
        Plain::Nothing => {}
        Plain::Blank if matches!(out.last(), Some((' ', _))) => {}
        Plain::Blank => out.push((' ', at)),
        Plain::Dots => out.extend([('.', at); 3]),
        Plain::One(c) => match compose(c.encode_utf8(&mut [0; 4])).as_str() {
            composed if composed.chars().count() == 1 => {
                out.extend(composed.chars().map(|c| (c, at)))
            }
            _ => out.push((c, at)),
        },
    }
}

enum Plain {
    One(char),
    Blank,
    Dots,
    Nothing,
}

/// The sign of a keyboard for a sign of a typesetter.
fn plain(c: char) -> Plain {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => Plain::One('\''),
        '\u{201c}'..='\u{201f}' | '\u{2033}' => Plain::One('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Plain::One('-'),
        '\u{2026}' => Plain::Dots,
        '\u{200b}' | '\u{2060}' | '\u{feff}' => Plain::Nothing,
        c if c.is_whitespace() => Plain::Blank,
        c => Plain::One(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_alike_are_compared_alike() {
        assert_eq!(fold("It’s a “tool” — small…"), "It's a \"tool\" - small...");
        assert_eq!(fold("caf\u{e9}"), fold("cafe\u{301}"));
        assert_eq!(fold("a\t  b\u{a0}c"), "a b c");
        assert_ne!(fold("x²"), fold("x2"), "a different letter is not the same in another form");
        assert_ne!(fold("a b"), fold("ab"));
    }

    #[test]
    fn offsets_are_those_of_the_line() {
        let line = "a  “é”";
        let chars = fold_chars(line);
        let offsets: Vec<usize> = (0..=chars.len()).map(|at| offset(&chars, at, line)).collect();
        assert_eq!(offsets, [0, 1, 3, 6, 8, 11]);
    }
}
