//! Splits the arguments after a name into words: `-m "fix bug"` is two. Quotes keep spaces
//! together, a backslash keeps the next character; a quote that is never closed is a plain
//! character.

/// Splits a text into words.
pub fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' if chars.get(at).is_some_and(|next| is_escapable(*next)) => {
                word.get_or_insert_default().extend(chars.get(at));
                at += 1;
            }
            '"' | '\'' => match quoted_content(&chars, at, c) {
                Some((inner, behind)) => {
                    word.get_or_insert_default().push_str(&inner);
                    at = behind;
                }
                None => word.get_or_insert_default().push(c),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Joins words so that they are split into the same again: one with a space is quoted.
pub fn join(words: &[String]) -> String {
    let quoted = |word: &String| {
        let is_marked = |c: char| c.is_whitespace() || "\"'\\".contains(c);
        if !word.is_empty() && !word.contains(is_marked) {
            word.clone()
        } else {
            format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\""))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The characters a backslash escapes; before anything else it is a backslash.
fn is_escapable(c: char) -> bool {
    c.is_whitespace() || "\\\"'".contains(c)
}

/// The content of the quotes, and the position after them.
fn quoted_content(chars: &[char], from: usize, quote: char) -> Option<(String, usize)> {
    let mut inner = String::new();
    let mut at = from;
    loop {
        match *chars.get(at)? {
            c if c == quote => return Some((inner, at + 1)),
            '\\' if quote == '"' && chars.get(at + 1).is_some_and(|c| "\\\"".contains(*c)) => {
                inner.extend(chars.get(at + 1));
                at += 2;
            }
            c => {
                inner.push(c);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_words_are_split_into_the_same() {
        let words = ["my title", "12", "", "it's", "a\\ b", "say \"x\"", "'", "\""];
        let words = words.map(str::to_owned);
        assert_eq!(split(&join(&words)), words);
        assert_eq!(join(&words[..2]), "\"my title\" 12");
    }

    #[test]
    fn quotes_and_backslashes_keep_a_word_together() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  ", &[]),
            ("a b", &["a", "b"]),
            ("-m \"fix bug\" 123", &["-m", "fix bug", "123"]),
            ("-m 'wip'", &["-m", "wip"]),
            ("a\\ b c", &["a b", "c"]),
            (r#""a \"b\" \n""#, &[r#"a "b" \n"#]),
            ("''", &[""]),
            ("it's late", &["it's", "late"]),
            ("x'a b'y", &["xa by"]),
            ("中文 “引号”", &["中文", "“引号”"]),
            ("tail\\", &["tail\\"]),
        ];
        for (text, words) in cases {
            assert_eq!(split(text), *words, "{text}");
        }
    }
}
