//! Folds big pastes into one unit: the input shows `[pasted 132 lines]`, and the text itself is
//! kept here until it is sent.

use avocet_config::draft::Paste;
use avocet_core::i18n::{Lang, screen as phrases};
use avocet_core::text::estimated_tokens;

/// From this size on a paste is folded: every keystroke costs time with every character in the
/// input.
const LINES: usize = 10;
const CHARS: usize = 2_000;

/// The pastes, by the mark that represents them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedPastes {
    pastes: Vec<Paste>,
    /// The estimated tokens of each.
    tokens: Vec<usize>,
}

impl FoldedPastes {
    pub fn new(pastes: Vec<Paste>) -> FoldedPastes {
        let tokens = pastes.iter().map(|paste| estimated_tokens(&paste.text)).collect();
        FoldedPastes { pastes, tokens }
    }

    pub fn pastes(&self) -> &[Paste] {
        &self.pastes
    }

    /// The bytes and the estimated tokens of the pastes whose mark is in this text.
    pub fn size_in(&self, shown: &str) -> (usize, usize) {
        let all = self.pastes.iter().zip(&self.tokens);
        let here = all.filter(|(paste, _)| shown.contains(&paste.mark));
        here.fold((0, 0), |(bytes, tokens), (paste, more)| {
            (bytes + paste.text.len(), tokens + more)
        })
    }

    /// The mark for a text that is too big for the input, else `None`.
    pub fn fold(&mut self, text: &str, lang: Lang) -> Option<String> {
        let lines = text.lines().count();
        let chars = text.chars().count();
        if lines <= LINES && chars <= CHARS {
            return None;
        }
        let size = match lines {
            0..=LINES => phrases::PASTED_CHARS.with("n", chars),
            _ => phrases::PASTED_LINES.with("n", lines),
        };
        let mark = self.unused(&size.text(lang));
        self.tokens.push(estimated_tokens(text));
        self.pastes.push(Paste { mark: mark.clone(), text: text.to_owned() });
        Some(mark)
    }

    /// `[pasted 132 lines]`, and `[pasted 132 lines 2]` when there is one already.
    fn unused(&self, size: &str) -> String {
        let taken = |mark: &String| self.pastes.iter().any(|fold| fold.mark == *mark);
        let first = format!("[{size}]");
        let numbered = (2..).map(|n| format!("[{size} {n}]"));
        std::iter::once(first).chain(numbered).find(|mark| !taken(mark)).unwrap_or_default()
    }

    /// The marks in one line, as byte ranges.
    pub fn mark_ranges(&self, line: &str) -> Vec<(usize, usize)> {
        let mut places: Vec<_> = self
            .pastes
            .iter()
            .flat_map(|fold| line.match_indices(&fold.mark).map(|(at, mark)| (at, at + mark.len())))
            .collect();
        places.sort_unstable();
        places
    }

    /// The reverse of [`FoldedPastes::expand`], for pastes that are still in the text unchanged.
    pub fn contract(&self, text: &str) -> String {
        let mut rest = text;
        let mut out = String::new();
        for paste in &self.pastes {
            if let Some((before, behind)) = rest.split_once(&paste.text) {
                out.push_str(before);
                out.push_str(&paste.mark);
                rest = behind;
            }
        }
        out.push_str(rest);
        out
    }

    /// Replaces every mark by its text. Inserted text is not expanded again.
    pub fn expand(&self, shown: &str) -> String {
        let mut out = String::new();
        let mut done = 0;
        for (start, end) in self.mark_ranges(shown) {
            let Some(fold) =
                self.pastes.iter().find(|fold| shown.get(start..end) == Some(&fold.mark))
            else {
                continue;
            };
            out.push_str(shown.get(done..start).unwrap_or_default());
            out.push_str(&fold.text);
            done = end;
        }
        out.push_str(shown.get(done..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_big_paste_becomes_one_unit_and_is_restored_whole() {
        let mut folds = FoldedPastes::default();
        let text = "line\n".repeat(132);
        let mark = folds.fold(&text, Lang::En).expect("big");
        assert_eq!(mark, "[pasted 132 lines]");
        assert_eq!(folds.expand(&format!("look: {mark} ok?")), format!("look: {text} ok?"));
    }

    #[test]
    fn two_pastes_of_one_size_stay_distinct() {
        let mut folds = FoldedPastes::default();
        let one = folds.fold(&"a\n".repeat(20), Lang::En).expect("big");
        let two = folds.fold(&"b\n".repeat(20), Lang::En).expect("big");
        assert_eq!(two, "[pasted 20 lines 2]");
        assert_eq!(
            folds.expand(&format!("{two}{one}")),
            format!("{}{}", "b\n".repeat(20), "a\n".repeat(20))
        );
    }

    #[test]
    fn a_mark_inside_a_paste_is_plain_text() {
        let mut folds = FoldedPastes::default();
        let one = folds.fold(&"a\n".repeat(20), Lang::En).expect("big");
        let two = folds.fold(&format!("{one}\n").repeat(30), Lang::En).expect("big");
        assert_eq!(folds.expand(&two), format!("{one}\n").repeat(30));
    }

    #[test]
    fn a_small_paste_stays_as_it_is() {
        assert_eq!(FoldedPastes::default().fold("ten\nlines", Lang::En), None);
        assert!(FoldedPastes::default().fold(&"x".repeat(2_001), Lang::En).is_some());
    }
}
