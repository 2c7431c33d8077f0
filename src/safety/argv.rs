//! Reads a program and its arguments from the line of [`StepAction::command_line`], as the user may
//! have edited it.
//!
//! Not a shell: nothing is expanded, and anything only a shell would understand (a pipe, a
//! redirection) is refused, so that the line is not mistaken for a shell's.
//!
//! [`StepAction::command_line`]: avocet_core::protocol::StepAction::command_line

use avocet_core::i18n::{LocalizedText, screen as phrases};

/// Characters that mean something only to a shell, when unquoted.
const OPERATORS: &str = "|&;<>()`";

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
                let next = rest.next().ok_or(phrases::ARGV_OPEN_ESCAPE)?;
                word.get_or_insert_default().push(next);
            }
            c if OPERATORS.contains(c) => {
                return Err(phrases::ARGV_NO_SHELL.with("sign", c.to_string()));
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
    Err(phrases::ARGV_OPEN_QUOTE.with("quote", "'"))
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
    Err(phrases::ARGV_OPEN_QUOTE.with("quote", "\""))
}

fn read_ansi_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<(), LocalizedText> {
    while let Some(c) = rest.next() {
        match c {
            '\'' => return Ok(()),
            '\\' => word.push(escaped_char(rest)?),
            c => word.push(c),
        }
    }
    Err(phrases::ARGV_OPEN_QUOTE.with("quote", "$'"))
}

fn escaped_char(rest: &mut Rest<'_>) -> Result<char, LocalizedText> {
    let c = rest.next().ok_or(phrases::ARGV_OPEN_ESCAPE)?;
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
        .ok_or_else(|| phrases::ARGV_BAD_ESCAPE.with("escape", format!("\\{c}{hex}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::is_hidden;
    use avocet_core::protocol::StepAction;

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
        fn any_command_reads_back_from_its_line(words in prop::collection::vec(any::<String>(), 1..6)) {
            let (program, args) = words.split_first().expect("at least one");
            let work = StepAction::Exec { program: program.clone(), args: args.to_vec() };
            let line = work.command_line();
            prop_assert!(!line.contains(|c: char| c.is_control() || is_hidden(c)));
            prop_assert_eq!(split(&line).expect("our own line"), words);
        }

        #[test]
        fn any_line_is_split_without_a_panic(line in any::<String>()) {
            let _ = split(&line);
        }
    }
}
