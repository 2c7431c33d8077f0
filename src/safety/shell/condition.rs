//! `[[ … ]]`: questions about a file, a text or two of them. What would be evaluated is only known
//! to the shell.

use super::ast::{ShellWord, Trait};
use super::expand::Expander;
use super::known::KnownWord;
use super::runner::ABOUT_FILES;
use super::unknown::Demand;
use avocet_core::text::quote_literal;

const ABOUT_TEXT: &[&str] = &["-n", "-z"];
const TEXTS: &[&str] = &["=", "==", "!="];
const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// A condition that is known.
#[derive(Default)]
pub struct Condition {
    /// The words of a `test` that asks the same.
    pub asked: Vec<String>,
    /// As the shell is given it.
    pub shown: String,
    /// What the shell makes sure of before.
    pub tests: Vec<String>,
}

pub fn read_condition(words: &[ShellWord], expander: Expander<'_>) -> Option<Condition> {
    let mut condition = Condition { shown: "[[".to_owned(), ..Condition::default() };
    for part in words.split_inclusive(is_joint) {
        let (joint, question) = match part.split_last() {
            Some((last, question)) if is_joint(last) => (format!(" {}", last.text), question),
            Some(_) | None => (String::new(), part),
        };
        let Condition { asked, shown, tests } = read_question(question, expander)?;
        condition.asked.extend(asked);
        condition.tests.extend(tests);
        condition.shown += &format!(" {shown}{joint}");
    }
    condition.shown += " ]]";
    Some(condition)
}

fn is_joint(word: &ShellWord) -> bool {
    word.is_keyword("&&") || word.is_keyword("||")
}

fn read_question(words: &[ShellWord], expander: Expander<'_>) -> Option<Condition> {
    let (denial, words) = match words.split_first() {
        Some((first, rest)) if first.is_keyword("!") => ("! ", rest),
        Some(_) | None => ("", words),
    };
    let is_sign = |word: &ShellWord, signs: &[&str]| {
        !word.has(Trait::Quoted) && signs.contains(&word.text.as_str())
    };
    match words {
        [word] => {
            let known = expander.fill_unsplit(word)?;
            let shown = format!("{denial}-n {}", known.quoted());
            Some(Condition { asked: vec!["-n".to_owned(), known.text], shown, tests: Vec::new() })
        }
        [sign, word] if is_sign(sign, ABOUT_FILES) || is_sign(sign, ABOUT_TEXT) => {
            let known = expander.fill_unsplit(word)?;
            let is_file = known.is_unknown() && is_sign(sign, ABOUT_FILES);
            let tests = is_file.then(|| Demand::Name.test(&known.quoted())).into_iter().collect();
            let shown = format!("{denial}{} {}", sign.text, known.quoted());
            Some(Condition { asked: vec![sign.text.clone(), known.text], shown, tests })
        }
        [left, sign, expression] if is_sign(sign, &["=~"]) => {
            let one = expander.fill_unsplit(left)?;
            let shown = format!("{denial}{} =~ {}", one.quoted(), written_expression(expression)?);
            let asked = vec![one.text, "=".to_owned(), expression.text.clone()];
            Some(Condition { asked, shown, tests: Vec::new() })
        }
        [left, sign, right] if is_sign(sign, TEXTS) || is_sign(sign, NUMBERS) => {
            let mut one = expander.fill_unsplit(left)?;
            let is_text = is_sign(sign, TEXTS);
            let other = read_compared(right, is_text, &mut one, expander)?;
            let shown = format!("{denial}{} {} {}", one.quoted(), sign.text, other.quoted());
            let sign = if is_text { "=" } else { &sign.text };
            let asked = vec![one.text, sign.to_owned(), other.text];
            Some(Condition { asked, shown, tests: Vec::new() })
        }
        _ => None,
    }
}

/// What a word is compared with: a text, a pattern, or a number if both are.
fn read_compared(
    word: &ShellWord,
    is_text: bool,
    known_word: &mut KnownWord,
    expander: Expander<'_>,
) -> Option<KnownWord> {
    if is_text && word.has(Trait::Pattern) {
        return Some(KnownWord { text: word.text.clone(), shown: Some(written_pattern(word)?) });
    }
    let mut other = expander.fill_unsplit(word)?;
    (is_text || known_word.keep_number() && other.keep_number()).then_some(other)
}

/// A regular expression of which the shell expands nothing, as it is given it.
fn written_expression(word: &ShellWord) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "^$.*+?()[]|{}-_/,:=@%\\".contains(c);
    let is_written = word.text.chars().all(is_plain)
        && word.variables.is_empty()
        // A `$` is an end.
        && word.text.split('$').skip(1).all(|rest| rest.is_empty() || rest.starts_with([')', '|']));
    (is_written && !word.text.is_empty()).then_some(&word.text)
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
