//! Splits a long Markdown text into messages: between paragraphs if possible, never inside a code
//! block without closing it and opening it again in the next message.
//!
//! A message that is full stays as it is when the text grows, so that a growing answer only edits
//! its last message.

use unicode_segmentation::UnicodeSegmentation as _;

use super::platform::{PlatformLimits, TextUnit};

/// Splits `text` into parts that fit, in order; none of them is blank.
pub fn split(text: &str, limits: &PlatformLimits) -> Vec<String> {
    let mut splitter = Splitter::default();
    let mut parts: Vec<String> = std::iter::from_fn(|| splitter.full(text, limits)).collect();
    parts.extend(splitter.last(text));
    parts
}

/// How far a text is split that may still grow: a part that is full is read once.
#[derive(Debug, Default)]
pub struct Splitter {
    /// What comes before the rest of the text in the next part: the line that opens its code block
    /// again.
    opened: String,
    /// Where the rest of the text begins.
    at: usize,
}

impl Splitter {
    /// The next part of `text` that stays as it is when the text grows.
    pub fn full(&mut self, text: &str, limits: &PlatformLimits) -> Option<String> {
        let most = limits.text.max(64);
        let unit = limits.unit;

        loop {
            let rest = text.get(self.at..).unwrap_or_default().trim_end();
            // A little more than fits is enough to see that it does not.
            let near = rest.get(..prefix_len(rest, most + 2, unit)).unwrap_or(rest);
            let head = format!("{}{near}", self.opened);
            if unit.count(&head) <= most {
                return None;
            }
            let (cut, fence) = best_cut(&head, prefix_len(&head, most - CLOSING_ROOM, unit));
            let part = head.get(..cut).unwrap_or(&head).trim_end();
            let part = match &fence {
                Some(fence) => format!("{part}\n{}", fence.marker),
                None => part.to_owned(),
            };
            self.move_on(text, cut, fence);
            if !part.trim().is_empty() {
                return Some(part);
            }
        }
    }

    /// The rest begins after so many bytes of what was in front.
    fn move_on(&mut self, text: &str, cut: usize, fence: Option<Fence>) {
        let Some(of_text) = cut.checked_sub(self.opened.len()) else {
            self.opened.drain(..cut);
            return;
        };
        let after = text.get(self.at + of_text..).unwrap_or_default();
        self.at = text.len() - trim_start_lines(after).len();
        self.opened = fence.map(|fence| format!("{}\n", fence.opening)).unwrap_or_default();
    }

    /// The part after the full ones, unless it is blank.
    pub fn last(&self, text: &str) -> Option<String> {
        let rest = text.get(self.at..).unwrap_or_default().trim_end();
        let part = format!("{}{rest}", self.opened);
        (!part.trim().is_empty()).then_some(part)
    }
}

/// Kept free for the end of a code block.
const CLOSING_ROOM: usize = 12;

/// A longer opening line is not repeated whole, nor one that names more than a language.
const MAX_OPENING: usize = 24;

/// The code block that a cut is in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fence {
    marker: String,
    /// The line that opened it.
    opening: String,
}

/// The number of bytes of the longest prefix of at most `room` units.
fn prefix_len(text: &str, room: usize, unit: TextUnit) -> usize {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += match unit {
            TextUnit::Chars => 1,
            TextUnit::Utf16 => c.len_utf16(),
        };
        used > room
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// How good a place for a cut is; the best one wins, and of several the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CutRank {
    CodeLine,
    Line,
    Paragraph,
}

/// Where to cut within the first `end` bytes, and the code block that the cut is in. A cut in the
/// first third of the room would waste it.
fn best_cut(text: &str, end: usize) -> (usize, Option<Fence>) {
    let window = text.get(..end).unwrap_or(text);
    let least = end / 3;

    let mut fence: Option<Fence> = None;
    let mut best: Option<(CutRank, usize, Option<Fence>)> = None;
    let mut at = 0;
    let mut follows_heading = false;
    for line in window.split_inclusive('\n') {
        // A block that was opened again must get on by a line at least.
        let inside = fence.as_ref().is_none_or(|fence| at > fence.opening.len() + 1);
        if at > 0 && at >= least && inside && !follows_heading {
            let rank = match (&fence, line.trim().is_empty()) {
                (Some(_), _) => CutRank::CodeLine,
                (None, true) => CutRank::Paragraph,
                (None, false) if line.starts_with('#') => CutRank::Paragraph,
                (None, false) => CutRank::Line,
            };
            if best.as_ref().is_none_or(|(known, ..)| rank >= *known) {
                best = Some((rank, at, fence.clone()));
            }
        }
        at += line.len();
        // A heading goes with what it is for.
        if fence.is_none() && !line.trim().is_empty() {
            follows_heading = line.starts_with('#');
        }
        // A line that is cut by the window may be longer than it seems.
        if line.ends_with('\n') {
            fence = fence_after(line, fence);
        }
    }
    if let Some((_, at, fence)) = best {
        return (at, fence);
    }
    let word = window.rfind(char::is_whitespace).filter(|at| *at >= least && *at > 0);
    let letter = || {
        let last = text.grapheme_indices(true).map(|(at, _)| at).take_while(|at| *at <= end).last();
        // One cluster of marks longer than a message.
        last.filter(|at| *at > 0).unwrap_or(end)
    };
    let cut = word.unwrap_or_else(letter);
    // The opening line itself must not be cut from its block.
    (cut, fence.filter(|fence| cut > fence.opening.len() + 1))
}

/// The open code block after this line.
fn fence_after(line: &str, open: Option<Fence>) -> Option<Fence> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
    let run = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
    let marker: String = mark.into_iter().cycle().take(run).collect();
    match open {
        Some(open) => (!(line == marker && marker.starts_with(&open.marker))).then_some(open),
        None if run >= 3 && !line.chars().skip(run).any(|c| c == '`') => {
            let plain = line.bytes().skip(run).all(|byte| byte.is_ascii_alphanumeric());
            let is_repeated = plain && line.len() <= MAX_OPENING;
            let opening = if is_repeated { line.to_owned() } else { marker.clone() };
            Some(Fence { marker: marker.chars().take(8).collect(), opening })
        }
        None => None,
    }
}

/// Without the empty lines at the start; the indent of the first line stays.
fn trim_start_lines(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.trim().is_empty() {
            break;
        }
        rest = after;
    }
    if rest.trim().is_empty() { "" } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(text: usize, unit: TextUnit) -> PlatformLimits {
        PlatformLimits { unit, ..PlatformLimits::for_tests(text) }
    }

    fn chars(text: &str, most: usize) -> Vec<String> {
        split(text, &limits(most, TextUnit::Chars))
    }

    #[test]
    fn a_heading_ends_no_message() {
        let text = format!("{}\n\n# Next\n\n{}", "one ".repeat(11), "two ".repeat(9));
        let parts = chars(&text, 64);
        assert!(parts.iter().any(|part| part.starts_with("# Next\n\ntwo")), "{parts:?}");
    }

    #[test]
    fn a_text_that_fits_stays_one_message() {
        assert_eq!(chars("hello\n\nworld\n", 64), ["hello\n\nworld"]);
        assert!(chars(" \n\n ", 64).is_empty());
    }

    #[test]
    fn a_long_text_is_cut_between_paragraphs() {
        let paragraph = "word ".repeat(8);
        let paragraph = paragraph.trim();
        let text = [paragraph; 3].join("\n\n");
        assert_eq!(chars(&text, 96), [[paragraph; 2].join("\n\n"), paragraph.to_owned()]);
    }

    #[test]
    fn a_code_block_is_closed_and_opened_again_in_the_next_message() {
        let text = format!("Look:\n\n```rust\n{}```\nDone.", "let x = 1;\n".repeat(20));
        let parts = chars(&text, 100);
        assert!(parts.len() > 2);
        for part in &parts {
            assert_eq!(part.matches("```").count() % 2, 0, "{part}");
            assert!(part.chars().count() <= 100, "{part}");
        }
        assert!(parts.iter().skip(1).all(|part| part.starts_with("```rust\nlet x")), "{parts:?}");
        assert!(parts.last().unwrap().ends_with("Done."));
    }

    #[test]
    fn a_family_of_emoji_is_not_torn_apart() {
        let family = "👨‍👩‍👧‍👦";
        for part in split(&family.repeat(40), &limits(64, TextUnit::Utf16)) {
            assert_eq!(part.replace(family, ""), "");
            assert!(part.encode_utf16().count() <= 64);
        }
    }

    proptest! {
        #[test]
        fn every_part_fits_and_nothing_is_lost(
            text in "([a-z ]{0,30}|```[a-z]{0,4}|~~~|\n|字|👍🏽|# t|- x){0,120}",
            most in 64_usize..300,
        ) {
            let parts = chars(&text, most);
            let letters = |text: &str| {
                text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).collect::<String>()
            };
            for part in &parts {
                prop_assert!(part.chars().count() <= most, "{part:?}");
                prop_assert!(!part.trim().is_empty());
            }
            prop_assert_eq!(letters(&parts.concat()), letters(&text));
        }

        #[test]
        fn a_text_that_comes_in_pieces_is_split_like_the_whole(
            pieces in proptest::collection::vec("([a-z ]{0,30}|```[a-z]{0,4}\n|\n|\n\n|字|👍🏽){0,6}", 0..30),
            most in 64_usize..200,
        ) {
            let (limits, mut text) = (limits(most, TextUnit::Utf16), String::new());
            let (mut splitter, mut parts) = (Splitter::default(), Vec::new());
            for piece in &pieces {
                text.push_str(piece);
                parts.extend(std::iter::from_fn(|| splitter.full(&text, &limits)));
            }
            parts.extend(splitter.last(&text));
            prop_assert_eq!(parts, split(&text, &limits));
        }

        #[test]
        fn full_messages_stay_as_they_are_when_the_text_grows(
            text in "([a-z ]{0,30}|```\n|\n|\n\n|字){0,120}",
            end in 0_usize..2000,
        ) {
            let whole = chars(&text, 80);
            let short: String = text.chars().take(end).collect();
            let begun = chars(&short, 80);
            for (one, two) in begun.iter().rev().skip(1).rev().zip(&whole) {
                prop_assert_eq!(one, two);
            }
        }
    }
}
