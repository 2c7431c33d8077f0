//! `[[ … ]]`: questions about a file, a text or two of them. What would be evaluated is only known
//! to the shell.

use super::ast::{ShellWord, Trait};
use super::expand::{Expander, KnownWord};
use avocet_core::text::quote_literal;

const ABOUT_ONE: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-n", "-z"];
const TEXTS: &[&str] = &["=", "==", "!="];
const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// The words of a `test` that asks the same, and the condition as the shell is given it.
pub fn read_condition(
    words: &[ShellWord],
    expander: Expander<'_>,
) -> Option<(Vec<String>, String)> {
    let mut asked = Vec::new();
    let mut shown = "[[".to_owned();
    for part in words.split_inclusive(is_joint) {
        let (joint, question) = match part.split_last() {
            Some((last, question)) if is_joint(last) => (format!(" {}", last.text), question),
            Some(_) | None => (String::new(), part),
        };
        let (args, text) = read_question(question, expander)?;
        asked.extend(args);
        shown += &format!(" {text}{joint}");
    }
    Some((asked, shown + " ]]"))
}

fn is_joint(word: &ShellWord) -> bool {
    word.is_keyword("&&") || word.is_keyword("||")
}

fn read_question(words: &[ShellWord], expander: Expander<'_>) -> Option<(Vec<String>, String)> {
    let (denial, words) = match words.split_first() {
        Some((first, rest)) if first.is_keyword("!") => ("! ", rest),
        Some(_) | None => ("", words),
    };
    let is_sign = |word: &ShellWord, signs: &[&str]| {
        !word.has(Trait::Quoted) && signs.contains(&word.text.as_str())
    };
    match words {
        [sign, word] if is_sign(sign, ABOUT_ONE) => {
            let known = expander.fill_unsplit(word)?;
            // A file of a name that is not known.
            if known.is_unknown() && !["-n", "-z"].contains(&sign.text.as_str()) {
                return None;
            }
            let shown = format!("{denial}{} {}", sign.text, known.quoted());
            Some((vec![sign.text.clone(), known.text], shown))
        }
        [left, sign, right] => {
            let one = expander.fill_unsplit(left)?;
            let other = if right.has(Trait::Pattern) && is_sign(sign, TEXTS) {
                KnownWord { text: right.text.clone(), shown: Some(written_pattern(right)?) }
            } else {
                expander.fill_unsplit(right)?
            };
            let is_text = is_sign(sign, TEXTS);
            let is_number = is_sign(sign, NUMBERS) && [&one, &other].into_iter().all(is_decimal);
            if !is_text && !is_number {
                return None;
            }
            let shown = format!("{denial}{} {} {}", one.quoted(), sign.text, other.quoted());
            let asked = if is_text { "=" } else { &sign.text };
            Some((vec![one.text, asked.to_owned(), other.text], shown))
        }
        _ => None,
    }
}

/// Anything else would be evaluated.
fn is_decimal(word: &KnownWord) -> bool {
    !word.is_unknown() && !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit())
}

/// A pattern as the shell is given it: only its signs are without quotes.
pub fn written_pattern(word: &ShellWord) -> Option<String> {
    let is_known = word.variables.is_empty()
        && !word.has(Trait::QuotedSign)
        && !word.has(Trait::Process)
        && !word.has(Trait::Variable)
        && !word.has(Trait::Coded)
        && !word.text.starts_with('~')
        && !word.text.is_empty();
    if !is_known {
        return None;
    }
    let mut written = String::new();
    let mut rest = word.text.as_str();
    while let Some(sign) = rest.find(['*', '?', '[']) {
        let (before, from) = rest.split_at_checked(sign)?;
        let length = if from.starts_with('[') { from.find(']')? + 1 } else { 1 };
        let (signs, behind) = from.split_at_checked(length)?;
        let is_set = |c: char| c.is_ascii_alphanumeric() || "*?[]!^-_.".contains(c);
        if !before.is_empty() {
            written += &quote_literal(before);
        }
        written += signs.chars().all(is_set).then_some(signs)?;
        rest = behind;
    }
    if !rest.is_empty() {
        written += &quote_literal(rest);
    }
    Some(written)
}
