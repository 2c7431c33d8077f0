//! Writes a program and its arguments as one line that a user can read and edit, and reads
//! it back.
//!
//! Not a shell: nothing is expanded, and anything only a shell would understand (a pipe, a
//! redirection) is refused, so that the line is not mistaken for a shell's. [`split`] reads
//! back exactly what [`join`] writes, whatever the arguments contain.

use std::ops::Range;

use crate::i18n::{LocalizedText, screen as words};
use crate::safety::sanitize::{Escaped, escape};

/// Characters that need no quotes.
const PLAIN: &str = "-_./,:=+@%^";
/// Characters that mean something only to a shell, when unquoted.
const OPERATORS: &str = "|&;<>()`";

/// One argument as it is shown: quoted where it must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownArg {
    pub text: String,
    /// Byte ranges of `text` that represent invisible characters.
    pub marks: Vec<Range<usize>>,
}

/// One argument, quoted so that its spaces, line ends and unseen characters show.
pub fn quote(word: &str) -> ShownArg {
    let escaped = escape(word);
    if escaped.text != word {
        return ansi_quoted(&escaped);
    }
    let plain = |c: char| c.is_alphanumeric() || PLAIN.contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return ShownArg { text: word.to_owned(), marks: Vec::new() };
    }
    ShownArg { text: format!("'{}'", word.replace('\'', r"'\''")), marks: Vec::new() }
}

/// A whole command as one line.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| quote(word).text).collect::<Vec<_>>().join(" ")
}

/// The form `$'…'`. What is already escaped is kept; quotes and other backslashes are
/// escaped here.
fn ansi_quoted(escaped: &Escaped) -> ShownArg {
    let mut token = ShownArg { text: "$'".to_owned(), marks: Vec::new() };
    let (mut done, end) = (0, escaped.text.len());
    for mark in escaped.marks.iter().cloned().chain(std::iter::once(end..end)) {
        for c in escaped.text.get(done..mark.start).unwrap_or_default().chars() {
            if matches!(c, '\'' | '\\') {
                token.text.push('\\');
            }
            token.text.push(c);
        }
        let start = token.text.len();
        token.text.push_str(escaped.text.get(mark.clone()).unwrap_or_default());
        if !mark.is_empty() {
            token.marks.push(start..token.text.len());
        }
        done = mark.end;
    }
    token.text.push('\'');
    token
}

/// Reads a line back into words.
///
/// # Errors
/// A sentence for the user, when a quote stays open or the line needs a shell.
pub fn split(line: &str) -> Result<Vec<String>, LocalizedText> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => read_single_quoted(&mut rest, word.get_or_insert_default())?,
            '"' => read_double_quoted(&mut rest, word.get_or_insert_default())?,
            '$' if rest.next_if_eq(&'\'').is_some() => {
                read_ansi_quoted(&mut rest, word.get_or_insert_default())?;
            }
            '\\' => {
                let next = rest.next().ok_or(words::ARGV_OPEN_ESCAPE)?;
                word.get_or_insert_default().push(next);
            }
            c if OPERATORS.contains(c) => {
                return Err(words::ARGV_NO_SHELL.with("sign", c.to_string()));
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn read_single_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<(), LocalizedText> {
    for c in rest.by_ref() {
        match c {
            '\'' => return Ok(()),
            c => word.push(c),
        }
    }
    Err(words::ARGV_OPEN_QUOTE.with("quote", "'"))
}

fn read_double_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<(), LocalizedText> {
    while let Some(c) = rest.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match rest.next_if(|next| "\"\\$`".contains(*next)) {
                Some(next) => word.push(next),
                None => word.push('\\'),
            },
            c => word.push(c),
        }
    }
    Err(words::ARGV_OPEN_QUOTE.with("quote", "\""))
}

fn read_ansi_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<(), LocalizedText> {
    while let Some(c) = rest.next() {
        match c {
            '\'' => return Ok(()),
            '\\' => word.push(escaped_char(rest)?),
            c => word.push(c),
        }
    }
    Err(words::ARGV_OPEN_QUOTE.with("quote", "$'"))
}

fn escaped_char(rest: &mut Rest<'_>) -> Result<char, LocalizedText> {
    let c = rest.next().ok_or(words::ARGV_OPEN_ESCAPE)?;
    let hex: String = match c {
        'n' => return Ok('\n'),
        't' => return Ok('\t'),
        'r' => return Ok('\r'),
        '\'' | '\\' | '"' => return Ok(c),
        'x' => rest.by_ref().take(2).collect(),
        'u' if rest.next_if_eq(&'{').is_some() => {
            rest.by_ref().take_while(|c| *c != '}').take(8).collect()
        }
        _ => String::new(),
    };
    u32::from_str_radix(&hex, 16)
        .ok()
        .and_then(char::from_u32)
        .ok_or_else(|| words::ARGV_BAD_ESCAPE.with("escape", format!("\\{c}{hex}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spaces_and_line_ends_show() {
        let cases = [
            ("plain", "plain"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
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
    fn unseen_characters_are_marked() {
        let token = quote("a\u{200b}b");
        let marked: Vec<_> = token.marks.iter().map(|at| token.text.get(at.clone())).collect();
        assert_eq!(marked, [Some(r"\u{200b}")]);
    }

    #[test]
    fn quotes_and_backslashes_group_words_as_in_a_shell() {
        let cases: [(&str, &[&str]); 6] = [
            ("git commit -m 'a message'", &["git", "commit", "-m", "a message"]),
            (r#"a "b \"c\" \d" e"#, &["a", r#"b "c" \d"#, "e"]),
            (r"a\ b c", &["a b", "c"]),
            ("''", &[""]),
            ("   ", &[]),
            ("a'b'\"c\"", &["abc"]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line).expect("a good line"), words, "{line}");
        }
    }

    #[test]
    fn syntax_only_a_shell_understands_is_refused() {
        for line in ["ls | wc", "a > b", "a && b", "a; b", "echo `id`", "'open", "a\\", r"$'\q'"] {
            assert!(split(line).is_err(), "{line}");
        }
        assert_eq!(split("grep 'a|b' '>'").expect("quoted"), ["grep", "a|b", ">"]);
    }

    proptest! {
        #[test]
        fn any_words_read_back_from_their_line(words in prop::collection::vec(any::<String>(), 0..6)) {
            let line = join(words.iter().map(String::as_str));
            prop_assert_eq!(split(&line).expect("our own line"), words);
        }

        #[test]
        fn any_line_is_split_without_a_panic(line in any::<String>()) {
            let _ = split(&line);
        }
    }
}
