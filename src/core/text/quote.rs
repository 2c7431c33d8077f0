//! Writes the words of a command so that spaces, line ends and invisible characters show, in the
//! one form that every frontend uses and that [`avocet_safety::argv`] reads back.

use std::ops::Range;

use super::escape::{Escaped, escape};

/// Characters that need no quotes.
const PLAIN: &str = "-_./,:=+@%^";

/// A word as it is shown: in quotes where it must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotedWord {
    pub text: String,
    /// Byte ranges of `text` that represent invisible characters.
    pub marks: Vec<Range<usize>>,
}

/// One argument, quoted so that its spaces, line ends and unseen characters show.
pub fn quote(word: &str) -> QuotedWord {
    let escaped = escape(word);
    if escaped.text != word {
        return ansi_quoted(&escaped);
    }
    // Code with quotes of its own is read more easily between others.
    let text = if word.contains('\'') && !word.contains(SPECIAL) {
        format!("\"{word}\"")
    } else {
        quote_visible(word)
    };
    QuotedWord { text, marks: Vec::new() }
}

/// What a shell reads between double quotes as more than itself.
const SPECIAL: [char; 5] = ['"', '$', '`', '\\', '!'];

/// The same without escapes, as every shell and the rules read it.
pub fn quote_visible(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || PLAIN.contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { quote_literal(word) }
}

/// In quotes whatever it is, so that a shell never takes it for a keyword, an alias or an
/// assignment.
pub fn quote_literal(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A program and its arguments as one line.
pub fn command_line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    words.into_iter().map(|word| quote(word.as_ref()).text).collect::<Vec<_>>().join(" ")
}

/// The form `$'…'`. What is already escaped is kept; quotes and other backslashes are
/// escaped here.
fn ansi_quoted(escaped: &Escaped) -> QuotedWord {
    let mut word = QuotedWord { text: "$'".to_owned(), marks: Vec::new() };
    let mut done = 0;
    let end = escaped.text.len();

    for mark in escaped.marks.iter().cloned().chain(std::iter::once(end..end)) {
        for c in escaped.text.get(done..mark.start).unwrap_or_default().chars() {
            if matches!(c, '\'' | '\\') {
                word.text.push('\\');
            }
            word.text.push(c);
        }
        let start = word.text.len();
        word.text.push_str(escaped.text.get(mark.clone()).unwrap_or_default());
        if !mark.is_empty() {
            word.marks.push(start..word.text.len());
        }
        done = mark.end;
    }
    word.text.push('\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_and_line_ends_show() {
        let cases = [
            ("plain", "plain"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r#""it's""#),
            ("open('/opt/x','w')", r#""open('/opt/x','w')""#),
            ("it's $5", r"'it'\''s $5'"),
            ("a\nb", r"$'a\nb'"),
            ("\u{202e}txt", r"$'\u{202e}txt'"),
            ("--out=中文", "--out=中文"),
            ("*.rs", "'*.rs'"),
        ];
        for (word, shown) in cases {
            assert_eq!(quote(word).text, shown, "{word:?}");
        }
    }

    #[test]
    fn a_command_line_quotes_each_word_that_a_shell_would_split_or_expand() {
        assert_eq!(command_line(["rg", "-n", "a b", "*.rs", ""]), "rg -n 'a b' '*.rs' ''");
        assert_eq!(command_line::<&str>([]), "");
    }

    #[test]
    fn unseen_characters_are_marked() {
        let token = quote("a\u{200b}b");
        let marked: Vec<_> = token.marks.iter().map(|at| token.text.get(at.clone())).collect();
        assert_eq!(marked, [Some(r"\u{200b}")]);
        assert_eq!(super::super::visible("a\u{2800}b.txt"), r"a\u{2800}b.txt");
    }
}
