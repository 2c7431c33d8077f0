//! Splits a template into text and actions, and an action into tokens.

use crate::error::ScriptError;
use crate::template::limits::template_error;
use crate::text::delimiters;

/// A part of the template, with the line it begins on, counted from 1.
#[derive(Debug, PartialEq)]
pub(super) enum GoPart<'a> {
    Text(&'a str),
    Action { inside: &'a str, line: usize },
}

/// One token of an action.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GoToken {
    /// `.a.b`; without names it is the dot itself.
    Field(Vec<String>),
    /// `$x.a.b`; the name without `$`.
    Variable(String, Vec<String>),
    Word(String),
    Text(String),
    Number(serde_json::Value),
    /// `(`, `)`, `|`, `,`, `:=`, `=`.
    Sign(&'static str),
    /// `.a.b` after a closing bracket.
    TrailingField(Vec<String>),
}

/// Splits at `{{` and `}}`, and trims at `{{-` and `-}}`.
pub(super) fn split_parts(text: &str) -> Result<Vec<GoPart<'_>>, ScriptError> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut line = 1;
    let mut trim = false;
    while let Some((before, after)) = rest.split_once("{{") {
        line += before.matches('\n').count();
        let end = action_end(after).ok_or_else(|| template_error(line, "`{{` without `}}`"))?;
        let (inside, tail) = after.split_at(end);
        let (left, inside) = match inside.strip_prefix('-') {
            Some(inner) if inner.starts_with([' ', '\t', '\n', '\r']) => (true, inner),
            _ => (false, inside),
        };
        let (right, inside) = match inside.strip_suffix('-') {
            Some(inner) if inner.ends_with([' ', '\t', '\n', '\r']) => (true, inner),
            _ => (false, inside),
        };
        let before = if trim { before.trim_start() } else { before };
        let before = if left { before.trim_end() } else { before };
        if !before.is_empty() {
            out.push(GoPart::Text(before));
        }
        out.push(GoPart::Action { inside: inside.trim(), line });
        line += inside.matches('\n').count();
        trim = right;
        rest = tail.strip_prefix("}}").unwrap_or(tail);
    }
    let rest = if trim { rest.trim_start() } else { rest };
    if !rest.is_empty() {
        out.push(GoPart::Text(rest));
    }
    Ok(out)
}

/// The end of the action; a `}}` inside a string does not end it.
fn action_end(text: &str) -> Option<usize> {
    if text.trim_start_matches(['-', ' ', '\t', '\n']).starts_with("/*") {
        return text.find("*/").and_then(|at| Some(at + text.split_at(at).1.find("}}")?));
    }
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '`') => quote = Some(c),
            None if text.split_at(at).1.starts_with("}}") => return Some(at),
            None => {}
        }
    }
    None
}

pub(super) fn tokenize(text: &str, line: usize) -> Result<Vec<GoToken>, ScriptError> {
    let mut tokens: Vec<GoToken> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let glued = rest.len() < text.len()
            && !text.split_at(text.len() - rest.len()).0.ends_with(char::is_whitespace);
        let (token, after) = match c {
            '"' | '`' | '\'' => {
                lex_string(rest, c).ok_or_else(|| template_error(line, "a string is not closed"))?
            }
            '.' if !rest
                .strip_prefix('.')
                .is_some_and(|more| more.starts_with(|c: char| c.is_ascii_digit())) =>
            {
                let (names, after) = lex_fields(rest);
                let behind = glued && tokens.last() == Some(&GoToken::Sign(")"));
                (if behind { GoToken::TrailingField(names) } else { GoToken::Field(names) }, after)
            }
            '$' => {
                let named = rest.strip_prefix('$').unwrap_or(rest);
                let (name, after) =
                    delimiters::leading_word(named, |_| false).unwrap_or(("", named));
                let (names, after) =
                    if after.starts_with('.') { lex_fields(after) } else { (Vec::new(), after) };
                (GoToken::Variable(name.to_owned(), names), after)
            }
            c if c.is_ascii_digit() || matches!(c, '.' | '-' | '+') => lex_number(rest, line)?,
            _ => match lex_sign(rest) {
                Some(found) => found,
                None => {
                    let (word, after) =
                        delimiters::leading_word(rest, |_| false).ok_or_else(|| {
                            template_error(line, format!("`{c}` is not expected here"))
                        })?;
                    (GoToken::Word(word.to_owned()), after)
                }
            },
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn lex_string(text: &str, quote: char) -> Option<(GoToken, &str)> {
    let inside = text.strip_prefix(quote)?;
    let mut out = String::new();
    let mut chars = inside.chars();
    loop {
        match chars.next()? {
            '\\' if quote != '`' => delimiters::push_escape(&mut chars, &mut out)?,
            c if c == quote => return Some((GoToken::Text(out), chars.as_str())),
            c => out.push(c),
        }
    }
}

/// `.a.b` as its names, and the rest.
fn lex_fields(text: &str) -> (Vec<String>, &str) {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((name, after)) =
        rest.strip_prefix('.').and_then(|rest| delimiters::leading_word(rest, |_| false))
    {
        names.push(name.to_owned());
        rest = after;
    }
    if names.is_empty() { (names, text.strip_prefix('.').unwrap_or(text)) } else { (names, rest) }
}

fn lex_number(text: &str, line: usize) -> Result<(GoToken, &str), ScriptError> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_')))
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value = crate::text::json5::parse_number(&digits.replace('_', ""));
    let value = value.ok_or_else(|| template_error(line, format!("`{digits}` is no number")))?;
    Ok((GoToken::Number(value), rest))
}

fn lex_sign(text: &str) -> Option<(GoToken, &str)> {
    [":=", "=", "(", ")", "|", ","]
        .into_iter()
        .find_map(|sign| Some((GoToken::Sign(sign), text.strip_prefix(sign)?)))
}
