//! Exact search and replace. Every edit is matched against the original text, and all of
//! them are applied or none: outside the matches, no byte changes.

use std::ops::Range;

use super::{InputError, closest_match};
use avocet_core::i18n::{LocalizedText, safety as words};

/// One text for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub old: String,
    pub new: String,
    /// Every occurrence, not only a single one.
    pub all: bool,
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

/// # Errors
/// An edit that matches nowhere, or more often than it may, or overlaps another one; the
/// error shows the nearest text.
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<Edited, InputError> {
    let mut cuts: Vec<(Range<usize>, String)> = Vec::new();
    let mut note = None;
    for (at, edit) in edits.iter().enumerate() {
        let number = at + 1;
        if edit.old == edit.new {
            return Err(words::EDIT_SAME.with("n", number).into());
        }
        if edit.old.is_empty() {
            if !text.is_empty() {
                return Err(words::EDIT_EMPTY_OLD.with("n", number).into());
            }
            cuts.push((0..0, edit.new.clone()));
            continue;
        }
        let (places, new, ends) = find_matches(text, edit);
        if ends {
            note = Some(LocalizedText::from(words::KEPT_CRLF));
        }
        match places.as_slice() {
            [] => return Err(closest_match::mismatch_error(text, &edit.old, number, edits.len())),
            [_] => {}
            [..] if edit.all => {}
            [..] => return Err(ambiguous_error(text, &places, number)),
        }
        cuts.extend(places.into_iter().map(|place| (place, new.clone())));
    }
    cuts.sort_by_key(|(place, _)| (place.start, place.end));
    if cuts.windows(2).any(|two| matches!(two, [(a, _), (b, _)] if a.end > b.start)) {
        return Err(LocalizedText::from(words::EDIT_OVERLAP).into());
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (place, new) in cuts {
        out.push_str(text.get(done..place.start).unwrap_or_default());
        out.push_str(&new);
        done = place.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok(Edited { text: out, note })
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
    let (old, new) = (edit.old.replace('\n', "\r\n"), edit.new.replace('\n', "\r\n"));
    (occurrences(text, &old), new, true)
}

fn occurrences(text: &str, old: &str) -> Vec<Range<usize>> {
    text.match_indices(old).map(|(at, found)| at..at + found.len()).collect()
}

/// Whether every line ends with `\r\n`, and there is one.
pub fn has_crlf_only(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && text.matches("\r\n").count() == ends && text.matches('\r').count() == ends
}

fn ambiguous_error(text: &str, places: &[Range<usize>], number: usize) -> InputError {
    let line = |place: &Range<usize>| {
        let before = text.get(..place.start).unwrap_or_default();
        (before.matches('\n').count() + 1).to_string()
    };
    let mut lines: Vec<String> = places.iter().take(NAMED).map(line).collect();
    if places.len() > NAMED {
        lines.push("…".to_owned());
    }
    words::EDIT_AMBIGUOUS
        .with("n", number)
        .with("count", places.len())
        .with("lines", lines.join(", "))
        .into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use avocet_core::i18n::Lang;

    fn edit(old: &str, new: &str) -> TextEdit {
        TextEdit { old: old.into(), new: new.into(), all: false }
    }

    fn apply_all(text: &str, edits: &[TextEdit]) -> String {
        apply(text, edits).expect("it fits").text
    }

    fn apply_error(text: &str, edits: &[TextEdit]) -> String {
        let fault = apply(text, edits).expect_err("it does not fit");
        format!("{}\n{}", fault.say.text(Lang::En), fault.detail)
    }

    #[test]
    fn several_edits_apply_at_once_and_do_not_see_each_other() {
        let edits = [edit("a", "b"), edit("b", "c")];
        assert_eq!(apply_all("a b", &edits), "b c");
        assert!(apply_error("a x", &edits).contains("2"), "the second fits nowhere: none is done");
    }

    #[test]
    fn tabs_hard_spaces_marks_and_escapes_stay_as_they_are() {
        let text = "\u{feff}\tlet s = \"\\u00e9\u{a0}é\";\r\n\tend\r\n";
        assert_eq!(
            apply_all(text, &[edit("end", "fin")]),
            "\u{feff}\tlet s = \"\\u00e9\u{a0}é\";\r\n\tfin\r\n"
        );
        assert!(apply_error(text, &[edit("let s = \"\\u00e9 é\";", "x")]).contains("U+00A0"));
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
    fn overlapping_edits_are_refused() {
        assert!(apply_error("abc", &[edit("ab", "1"), edit("bc", "2")]).contains("same place"));
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
            let _ = apply(&text, &[TextEdit { old, new, all }]);
        }
    }
}
