//! Parses one mark: `[[NAME]]`, `[[@id(args)]]`, `[[/re/flags:VAR]]`, and finds its end.

use super::args::{self, Arg};
use super::ask::Placeholder;
use super::delimiters;

/// Longest mark that is parsed, in bytes; anything longer is plain text.
const MAX_LENGTH: usize = 8 * 1024;
/// Maximum number of ends tried for one regular expression.
const MAX_ENDS: usize = 32;

/// The content between `[[` and `]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceholderMark {
    Placeholder(Placeholder),
    Call(CallMark),
    Regex(RegexPlaceholder),
}

/// `[[@id(args)]]`, `[[@$fn(args)]]`: replaced by the result of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallMark {
    /// The ID of a script, or the name of a directive without `$`.
    pub name: String,
    pub directive: bool,
    pub args: Vec<Arg>,
}

/// `[[/re/flags:VAR:group]]`: replaced by what the expression matches in the variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexPlaceholder {
    pub source: String,
    /// JavaScript flags: `i`, `m`, `s`, `g`, …
    pub flags: String,
    /// The variable that is searched; may be a path (`a.b`).
    pub variable: String,
    /// A number (from 1; 0 is the whole match) or the name of a group.
    pub group: Option<String>,
}

/// Parses the mark after its `[[`; returns it and the text after its `]]`.
pub(super) fn read(text: &str) -> Option<(PlaceholderMark, &str)> {
    let text = bounded_head(text);
    if let Some(rest) = text.0.strip_prefix('@') {
        parse_call(rest, text.1)
    } else if let Some(rest) = text.0.strip_prefix('/') {
        parse_regex(rest, text.1)
    } else {
        parse_placeholder(text.0, text.1)
    }
}

/// The longest part a mark may fill, and the whole text.
fn bounded_head(text: &str) -> (&str, &str) {
    let end =
        (0..=MAX_LENGTH.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    (text.split_at(end).0, text)
}

/// The rest of `whole` after the consumed part of its head.
fn rest_after<'a>(whole: &'a str, rest_of_head: &str, head_len: usize) -> &'a str {
    whole.split_at(head_len - rest_of_head.len()).1
}

fn parse_call<'a>(text: &str, whole: &'a str) -> Option<(PlaceholderMark, &'a str)> {
    let head_len = text.len() + 1;
    let (call, rest) = args::parse_leading_call(text)?;
    let rest = rest.strip_prefix("]]")?;
    let mark = CallMark { name: call.name, directive: call.directive, args: call.args };
    (!call.pipe).then(|| (PlaceholderMark::Call(mark), rest_after(whole, rest, head_len)))
}

fn parse_placeholder<'a>(text: &str, whole: &'a str) -> Option<(PlaceholderMark, &'a str)> {
    let (name, rest) =
        delimiters::leading_word(text, |_| false).filter(|(name, _)| !name.contains('$'))?;
    if let Some(rest) = rest.strip_prefix("]]") {
        return Some((
            PlaceholderMark::Placeholder(Placeholder::new(name)),
            rest_after(whole, rest, text.len()),
        ));
    }
    let options = rest.strip_prefix(':')?;
    let end = delimiters::find_outside(options, |tail| tail.starts_with("]]"))
        .or_else(|| options.find("]]"))?;
    let (options, rest) = options.split_at(end);
    if options.contains('\n') {
        return None;
    }
    let rest = rest.strip_prefix("]]")?;
    Some((
        PlaceholderMark::Placeholder(Placeholder::with_options(name, options)),
        rest_after(whole, rest, text.len()),
    ))
}

fn parse_regex<'a>(text: &str, whole: &'a str) -> Option<(PlaceholderMark, &'a str)> {
    let line = text.split('\n').next().unwrap_or(text);
    for (end, _) in line.match_indices("]]").take(MAX_ENDS) {
        let (inside, rest) = text.split_at(end);
        if let Some(mark) = parse_regex_body(inside) {
            let rest = rest.strip_prefix("]]")?;
            return Some((PlaceholderMark::Regex(mark), rest_after(whole, rest, text.len() + 1)));
        }
    }
    None
}

/// `re/flags:VAR:group`; the pattern extends to the last `/` that is followed by such a tail,
/// because a pattern may contain an unescaped `/`.
fn parse_regex_body(inside: &str) -> Option<RegexPlaceholder> {
    for (at, _) in inside.rmatch_indices('/').take(MAX_ENDS) {
        let (source, tail) = inside.split_at(at);
        let Some((flags, target)) = tail.strip_prefix('/').and_then(|tail| tail.split_once(':'))
        else {
            continue;
        };
        let (variable, group) = match target.split_once(':') {
            Some((variable, group)) => (variable, Some(group)),
            None => (target, None),
        };
        let good = !source.is_empty()
            && flags.chars().all(|c| c.is_ascii_lowercase())
            && is_name(variable)
            && group.is_none_or(|group| is_name(group) || is_number(group));
        if good {
            return Some(RegexPlaceholder {
                source: source.to_owned(),
                flags: flags.to_owned(),
                variable: variable.to_owned(),
                group: group.map(str::to_owned),
            });
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    delimiters::leading_word(text, |c| c == '.').is_some_and(|(_, rest)| rest.is_empty())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
