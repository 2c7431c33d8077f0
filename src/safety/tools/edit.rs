//! Search and replace. The old text is looked for exactly, then as models slip when they copy it,
//! and then only where it can mean one place. Edits are done in turn, all of them or none: outside
//! the matches, no byte changes.

use std::ops::Range;

use super::closest_match;
use super::input::InputError;
use crate::findings::excerpt;
use avocet_core::i18n::{LocalizedText, Phrase, safety as phrases};

pub(super) mod fold;
mod indent;
mod lenient;
pub mod placeholder;
mod slip;
pub(super) mod variants;

pub use fold::fold;
use slip::Slip;
pub use variants::unfence;

/// One text for another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEdit {
    pub old: String,
    pub new: String,
    /// Every occurrence, not only a single one.
    pub all: bool,
    /// Where in the file a patch says it is: it decides between places that are alike.
    pub anchor: Option<Anchor>,
}

/// The place of a change in a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// Lines above it, the outermost first.
    pub lines: Vec<String>,
    /// The number of its first line, or of the line above it where it replaces none.
    pub line: Option<usize>,
    /// It is at the end of the file.
    pub at_end: bool,
    /// Whether the file ends with a new line afterwards, if that changes.
    pub final_newline: Option<bool>,
}

impl TextEdit {
    pub fn is_ascii(&self) -> bool {
        self.old.is_ascii() && self.new.is_ascii()
    }
}

/// A text with its edits done.
#[derive(Clone, Debug, PartialEq)]
pub struct Edited {
    pub text: String,
    pub note: Option<LocalizedText>,
}

/// Lines that are named where a text occurs more than once.
const NAMED: usize = 8;

/// Does one edit after the other, each to the result of the one before.
///
/// # Errors
/// An edit that matches nowhere, or more often than it may; the error shows the nearest text.
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<Edited, InputError> {
    let mut now = text.to_owned();
    let mut localized_text: Option<LocalizedText> = None;
    for (at, edit) in edits.iter().enumerate() {
        let is_repeated = edits.iter().take(at).any(|other| other == edit);
        if is_repeated && !now.contains(&edit.old) {
            continue;
        }
        let done = apply_one(&now, edit, (at + 1, edits.len()))?;
        now = match edit.anchor.as_ref().and_then(|anchor| anchor.final_newline) {
            Some(true) if !done.text.ends_with('\n') => done.text + line_end(text),
            Some(false) => done.text.trim_end_matches(['\r', '\n']).to_owned(),
            Some(true) | None => done.text,
        };
        localized_text = match (localized_text, done.note) {
            (Some(first), Some(next)) if first != next => {
                Some(phrases::NOTES.with("first", first).with("next", next))
            }
            (first, next) => first.or(next),
        };
    }
    Ok(Edited { text: now, note: localized_text })
}

fn apply_one(text: &str, edit: &TextEdit, place: (usize, usize)) -> Result<Edited, InputError> {
    let (number, _) = place;
    let moves_end = edit.anchor.as_ref().is_some_and(|anchor| anchor.final_newline.is_some());
    if edit.old == edit.new && !moves_end {
        return Err(phrases::EDIT_SAME.with("n", number).into());
    }
    if let Some(line) = placeholder::find(&edit.old, &edit.new) {
        let line = excerpt(line);
        return Err(phrases::EDIT_PLACEHOLDER.with("n", number).with("line", line).into());
    }
    if edit.old.is_empty() {
        if let Some(at) = edit.anchor.as_ref().and_then(|anchor| anchor.insertion(text)) {
            return Ok(Edited {
                text: replace(text, std::slice::from_ref(&(at..at)), &edit.new),
                note: None,
            });
        }
        if !text.is_empty() {
            return Err(phrases::EDIT_EMPTY_OLD.with("n", number).into());
        }
        return Ok(Edited { text: edit.new.clone(), note: None });
    }
    let (mut places, new, ends) = find_matches(text, edit);
    if let Some(anchor) = &edit.anchor {
        // A patch changes whole lines.
        let begins_line = |place: &Range<usize>| {
            text.get(..place.start)
                .is_some_and(|before| before.is_empty() || before.ends_with('\n'))
        };
        places.retain(begins_line);
        anchor.narrow(text, &mut places, Range::clone);
    }
    let note = ends.then(|| LocalizedText::from(phrases::KEPT_CRLF));
    match places.as_slice() {
        [] => apply_lenient(text, edit, place),
        [_] => Ok(Edited { text: replace(text, &places, &new), note }),
        [..] if edit.all => Ok(Edited { text: replace(text, &places, &new), note }),
        [..] => Err(ambiguous_error(phrases::EDIT_AMBIGUOUS, text, &places, number)),
    }
}

fn replace(text: &str, places: &[Range<usize>], new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for place in places {
        out.push_str(text.get(done..place.start).unwrap_or_default());
        out.push_str(new);
        done = place.end;
    }
    out + text.get(done..).unwrap_or_default()
}

/// Does an edit whose old text is not there exactly: at the only place that is like it.
fn apply_lenient(
    text: &str,
    edit: &TextEdit,
    (number, of): (usize, usize),
) -> Result<Edited, InputError> {
    let mut places = lenient::find(text, &edit.old, &edit.new);
    if let Some(anchor) = &edit.anchor {
        anchor.narrow(text, &mut places, |place| place.range.clone());
    }
    let [place] = places.as_slice() else {
        if places.is_empty() {
            return Err(unfound_error(text, edit, (number, of)));
        }
        let ranges: Vec<Range<usize>> = places.iter().map(|place| place.range.clone()).collect();
        return Err(ambiguous_error(phrases::EDIT_AMBIGUOUS_NEAR, text, &ranges, number));
    };
    let Some(becomes) = &place.becomes else {
        return Err(unfound_error(text, edit, (number, of)));
    };
    let mut slips = place.slips.iter().rev();
    let last = slips.next().copied().unwrap_or(Slip::LineEnds).phrase();
    let slips = slips.fold(LocalizedText::from(last), |rest, slip| {
        phrases::SLIPS.with("first", slip.phrase()).with("next", rest)
    });
    let note = phrases::EDIT_LENIENT
        .with("n", number)
        .with("line", line_of(text, place.range.start))
        .with("slips", slips);
    let text = replace(text, std::slice::from_ref(&place.range), becomes);
    Ok(Edited { text, note: Some(note) })
}

impl Anchor {
    /// Of several places leaves the one that the anchor tells, if it tells one.
    fn narrow<P: Clone>(
        &self,
        text: &str,
        places: &mut Vec<P>,
        range: impl Fn(&P) -> Range<usize>,
    ) {
        if places.len() < 2 {
            return;
        }
        let block = self.block(text);
        let is_told = |place: &&P| {
            let at = range(place).start;
            self.line.is_some_and(|line| line == line_of(text, at))
                || block.as_ref().is_some_and(|block| block.contains(&at))
                || self.at_end
                    && text.get(range(place).end..).is_some_and(|rest| rest.trim().is_empty())
        };
        let told: Vec<P> = places.iter().filter(is_told).cloned().collect();
        if told.len() == 1 {
            *places = told;
        }
    }

    /// What follows the lines of the anchor: up to a line that is indented no more than the
    /// last of them.
    fn block(&self, text: &str) -> Option<Range<usize>> {
        let mut from = 0;
        let mut indent = 0;
        if self.lines.is_empty() {
            return None;
        }
        for wanted in &self.lines {
            let rest = text.get(from..)?;
            let (at, line) =
                lines_at(rest).find(|(_, line)| fold(line.trim()) == fold(wanted.trim()))?;
            indent = line.len() - line.trim_start().len();
            from += at + line.len();
        }
        let rest = text.get(from..)?;
        let closes = |(_, line): &(usize, &str)| {
            !line.trim().is_empty() && line.len() - line.trim_start().len() <= indent
        };
        let end = lines_at(rest).skip(1).find(closes).map_or(text.len(), |(at, _)| from + at);
        Some(from..end)
    }

    /// Where lines go that replace none.
    fn insertion(&self, text: &str) -> Option<usize> {
        if let Some(line) = self.line {
            let mut ends = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
            return ends.nth(line);
        }
        if self.lines.is_empty() {
            return (text.is_empty() || text.ends_with('\n')).then_some(text.len());
        }
        let block = self.block(text)?;
        let end = text.get(block.start..)?.find('\n')?;
        Some(block.start + end + 1)
    }
}

/// Each line with its offset, without its end.
fn lines_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let from = at;
        at += line.len() + 1;
        (from, line)
    })
}

/// The fault of an edit without a place: made before, or of another text.
fn unfound_error(text: &str, edit: &TextEdit, (number, of): (usize, usize)) -> InputError {
    match place_of_new(text, edit.new.trim_matches('\n')) {
        Some(at) => phrases::EDIT_ALREADY.with("n", number).with("line", line_of(text, at)).into(),
        None => closest_match::mismatch_error(text, &edit.old, number, of),
    }
}

/// Where the text of an edit is already: in one place, and not as a part of longer words. Anywhere
/// else it says nothing of whether the edit was made.
fn place_of_new(text: &str, new: &str) -> Option<usize> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let is_whole = |at: &usize| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + new.len()..).and_then(|after| after.chars().next());
        let cuts_before = is_word(before) && is_word(new.chars().next());
        !(cuts_before || is_word(after) && is_word(new.chars().next_back()))
    };
    if !new.contains(char::is_alphanumeric) {
        return None;
    }
    let mut places = text.match_indices(new).map(|(at, _)| at).filter(is_whole);
    let only = places.next()?;
    places.next().is_none().then_some(only)
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// The position of the old text, and its replacement. Models write line ends as `\n`: in a
/// file that ends all its lines with `\r\n` they mean those.
fn find_matches(text: &str, edit: &TextEdit) -> (Vec<Range<usize>>, String, bool) {
    let exact = occurrences(text, &edit.old);
    let plain = |text: &str| text.contains('\n') && !text.contains('\r');
    let means_crlf = has_crlf_only(text)
        && !edit.new.contains('\r')
        && (plain(&edit.old) || plain(&edit.new))
        && !edit.old.contains('\r');
    if !means_crlf {
        return (exact, edit.new.clone(), false);
    }
    let old = edit.old.replace('\n', "\r\n");
    let new = edit.new.replace('\n', "\r\n");

    (occurrences(text, &old), new, true)
}

fn occurrences(text: &str, old: &str) -> Vec<Range<usize>> {
    text.match_indices(old).map(|(at, found)| at..at + found.len()).collect()
}

fn line_end(text: &str) -> &'static str {
    if has_crlf_only(text) { "\r\n" } else { "\n" }
}

/// Whether every line ends with `\r\n`, and there is one.
pub fn has_crlf_only(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && text.matches("\r\n").count() == ends && text.matches('\r').count() == ends
}

fn ambiguous_error(
    phrase: Phrase,
    text: &str,
    places: &[Range<usize>],
    number: usize,
) -> InputError {
    let line = |place: &Range<usize>| line_of(text, place.start).to_string();
    let mut lines: Vec<String> = places.iter().take(NAMED).map(line).collect();
    if places.len() > NAMED {
        lines.push("…".to_owned());
    }
    phrase.with("n", number).with("count", places.len()).with("lines", lines.join(", ")).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use avocet_core::i18n::Lang;

    fn edit(old: &str, new: &str) -> TextEdit {
        TextEdit { old: old.into(), new: new.into(), all: false, anchor: None }
    }

    fn apply_all(text: &str, edits: &[TextEdit]) -> String {
        apply(text, edits).expect("it fits").text
    }

    fn apply_error(text: &str, edits: &[TextEdit]) -> String {
        let fault = apply(text, edits).expect_err("it does not fit");
        format!("{}\n{}", fault.say.text(Lang::En), fault.detail)
    }

    #[test]
    fn several_edits_are_done_in_turn_all_of_them_or_none() {
        let edits = [edit("a", "b"), edit("b", "c")];
        assert_eq!(apply_all("a x", &edits), "c x");
        assert!(
            apply_error("a b", &edits).contains("2 times"),
            "after the first it is there twice"
        );
        assert!(apply_error("a", &[edit("a", "x"), edit("q", "r")]).contains("Edit 2 of 2"));
        assert_eq!(apply_all("a\n", &[edit("a\n", "x\n"), edit("a\n", "x\n")]), "x\n");
    }

    #[test]
    fn tabs_hard_spaces_marks_and_escapes_stay_as_they_are() {
        let text = "\u{feff}\tlet s = \"\\u00e9\u{a0}é\";\r\n\tend\r\n";
        assert_eq!(
            apply_all(text, &[edit("end", "fin")]),
            "\u{feff}\tlet s = \"\\u00e9\u{a0}é\";\r\n\tfin\r\n"
        );
        assert_eq!(
            apply_all(text, &[edit("let s = \"\\u00e9 é\";", "let s = \"\\u00e9 e\";")]),
            "\u{feff}\tlet s = \"\\u00e9\u{a0}e\";\r\n\tend\r\n"
        );
    }

    #[test]
    fn line_ends_of_a_file_stay_whatever_the_model_writes() {
        let text = "one\r\ntwo\r\nthree\r\n";
        assert_eq!(apply_all(text, &[edit("one\ntwo", "1\n2\n2b")]), "1\r\n2\r\n2b\r\nthree\r\n");
        assert_eq!(apply_all(text, &[edit("two", "2\n2b")]), "one\r\n2\r\n2b\r\nthree\r\n");
        assert_eq!(apply_all(text, &[edit("two\r\n", "2\r\n")]), "one\r\n2\r\nthree\r\n");
        let mixed = "one\r\ntwo\nthree\n";
        assert_eq!(apply_all(mixed, &[edit("two\nthree", "2\n3")]), "one\r\n2\n3\n");
    }

    #[test]
    fn a_text_that_occurs_twice_is_counted_and_not_guessed() {
        let said = apply_error("x\ny\nx\n", &[edit("x", "z")]);
        assert!(said.contains("2 times") && said.contains("1, 3"), "{said}");
        let all = TextEdit { all: true, ..edit("x", "z") };
        assert_eq!(apply_all("x\ny\nx\n", &[all]), "z\ny\nz\n");
    }

    #[test]
    fn an_edit_without_an_old_text_is_of_an_empty_file() {
        assert!(apply("abc", &[edit("", "x")]).is_err());
        assert_eq!(apply_all("", &[edit("", "x\n")]), "x\n");
        assert!(apply("abc", &[edit("a", "a")]).is_err());
    }

    proptest! {
        /// Whatever the file, an edit changes exactly the bytes it matched.
        #[test]
        fn an_edit_changes_exactly_the_matched_bytes(
            before in "[ -~\t\r\n\u{a0}\u{feff}中é\\\\u]{0,80}",
            old in "[a-z<>]{1,12}",
            after in "[ -~\t\r\n\u{a0}\u{feff}中é\\\\u]{0,80}",
            new in "[ -~\t\u{a0}中é\\\\u]{0,30}",
        ) {
            let old = format!("«{old}»");
            let text = format!("{before}{old}{after}");
            prop_assume!(old != new);
            let edited = apply_all(&text, &[edit(&old, &new)]);
            prop_assert_eq!(edited, format!("{before}{new}{after}"));
        }

        #[test]
        fn no_edit_is_too_strange(
            text in any::<String>(), old in any::<String>(), new in any::<String>(), all in any::<bool>()
        ) {
            let _ = apply(&text, &[TextEdit { old, new, all, anchor: None }]);
        }
    }
}
