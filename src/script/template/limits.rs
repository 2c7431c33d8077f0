//! Keeps a Jinja template from growing without bound. The engine counts its instructions but not
//! the size of its values: `{% set a = a ~ a %}` doubles a text with one of them. So every value
//! that gets a name passes a filter that measures it, and the number of joins in one template is
//! limited.

use crate::error::{ScriptError, quoted};
use crate::text::delimiters;
use avocet_core::i18n::script as phrases;

/// Longest rendered text, in bytes.
pub const MAX_OUTPUT: usize = 8 * 1024 * 1024;

/// The name of the measuring filter; no author would write it by chance.
pub(super) const FILTER: &str = "avocet__bounded";
/// Maximum number of `~ + *` between the delimiters of one template.
const MAX_JOINS: usize = 512;

/// The template with every named value measured; `None` if it joins too often.
pub(super) fn rewrite(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    let mut joins = 0;
    while let Some(at) = rest.find('{') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let taken = if tail.starts_with("{#") {
            prefix_through(tail, "#}")
        } else if tail.starts_with("{{") {
            let tag = leading_tag(tail, "}}");
            joins += count_joins(tag);
            tag
        } else if tail.starts_with("{%") {
            let tag = leading_tag(tail, "%}");
            joins += count_joins(tag);
            if is_raw(tag) { raw_block(tail, tag) } else { tag }
        } else {
            tail.split_at(1).0
        };
        if taken.starts_with("{%") && !is_raw(taken) {
            write_measured(taken, &mut out);
        } else {
            out.push_str(taken);
        }
        rest = tail.split_at(taken.len()).1;
    }
    out.push_str(rest);
    (joins <= MAX_JOINS).then_some(out)
}

/// The text up to and including `end`, or all of it.
pub(super) fn prefix_through<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or(text, |at| text.split_at(at + end.len()).0)
}

/// One tag, respecting quoted strings.
pub(super) fn leading_tag<'a>(text: &'a str, end: &str) -> &'a str {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(2) {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if text.split_at(at).1.starts_with(end) => return text.split_at(at + end.len()).0,
            None => {}
        }
    }
    prefix_through(text, end)
}

fn count_joins(tag: &str) -> usize {
    tag.matches(['~', '+', '*']).count()
}

/// The text between the delimiters, without trimming signs.
fn tag_body(tag: &str) -> &str {
    let body = tag.strip_prefix("{%").unwrap_or(tag);
    let body = body.strip_suffix("%}").unwrap_or(body);
    body.trim_start_matches(['-', '+']).trim_end_matches(['-', '+']).trim()
}

pub(super) fn is_raw(tag: &str) -> bool {
    tag.starts_with("{%") && tag_body(tag) == "raw"
}

/// `{% raw %}` up to and including its `{% endraw %}`.
pub(super) fn raw_block<'a>(text: &'a str, open: &str) -> &'a str {
    let mut at = open.len();
    while let Some(found) = text.split_at(at).1.find("{%") {
        let close = prefix_through(text.split_at(at + found).1, "%}");
        at += found + close.len();
        if tag_body(close) == "endraw" {
            return text.split_at(at).0;
        }
    }
    text
}

/// Writes the tag, with the values it names measured.
fn write_measured(tag: &str, out: &mut String) {
    let inside = tag_body(tag);
    let Some((keyword, rest)) = delimiters::leading_word(inside, |_| false) else {
        return out.push_str(tag);
    };
    match keyword {
        "set" => match split_assignment(rest) {
            Some((target, value)) => {
                let (head, tail) = delimiters(tag);
                out.push_str(&format!("{head} set {target} = ({value})|{FILTER} {tail}"));
            }
            None => out.push_str(tag),
        },
        "for" => {
            out.push_str(tag);
            let names = rest.split(" in ").next().unwrap_or("");
            measure_names(names.split(','), tag, out);
        }
        "with" => {
            out.push_str(tag);
            let parts = delimiters::split_outside(rest, ',');
            measure_names(
                parts.into_iter().map(|part| part.split('=').next().unwrap_or("")),
                tag,
                out,
            );
        }
        "macro" => {
            out.push_str(tag);
            let params = rest
                .split_once('(')
                .and_then(|(_, params)| delimiters::bracket_content(params, ')'));
            let parts = params
                .map(|(params, _)| delimiters::split_outside(params, ','))
                .unwrap_or_default();
            measure_names(
                parts.into_iter().map(|part| part.split('=').next().unwrap_or("")),
                tag,
                out,
            );
        }
        _ => out.push_str(tag),
    }
}

/// `x = value`: both sides; `None` for a block assignment.
fn split_assignment(rest: &str) -> Option<(&str, &str)> {
    let (target, value) = rest.split_once('=')?;
    let plain = target
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | ' ' | '(' | ')'));
    (plain && !value.starts_with('=')).then_some((target.trim(), value.trim()))
}

/// The delimiters of a tag with their trimming signs.
fn delimiters(tag: &str) -> (&str, &str) {
    let head = if tag.starts_with("{%-") {
        "{%-"
    } else if tag.starts_with("{%+") {
        "{%+"
    } else {
        "{%"
    };
    let tail = if tag.ends_with("-%}") {
        "-%}"
    } else if tag.ends_with("+%}") {
        "+%}"
    } else {
        "%}"
    };
    (head, tail)
}

/// After a tag, sets each name to its measured value; the last tag trims as the original did.
fn measure_names<'a>(names: impl Iterator<Item = &'a str>, tag: &str, out: &mut String) {
    let (_, tail) = delimiters(tag);
    for name in names {
        let name = name.trim().trim_matches(['(', ')']).trim();
        if delimiters::leading_word(name, |_| false).is_some_and(|(_, rest)| rest.is_empty()) {
            // A trimming sign must not reach past this tag; a plain one trims nothing.
            out.push_str(&format!("{{% set {name} = {name}|{FILTER} {tail}"));
        }
    }
}

/// The error for a template that cannot be parsed or does not match its data.
pub(super) fn template_error(line: usize, why: impl Into<String>) -> ScriptError {
    phrases::TEMPLATE_BROKEN.with("line", line).with("why", quoted(&why.into())).into()
}

/// The error for a rendering that got too long.
pub(super) fn output_limit_error() -> ScriptError {
    ScriptError::limit(phrases::TEMPLATE_OUTPUT.with("limit", MAX_OUTPUT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_that_gets_a_name_is_measured() {
        let measured = |text: &str| rewrite(text).unwrap().replace(FILTER, "B");
        assert_eq!(measured("a{%- set x = a ~ '%}' -%}b"), "a{%- set x = (a ~ '%}')|B -%}b");
        assert_eq!(measured("{% set x %}y{% endset %}"), "{% set x %}y{% endset %}");
        assert_eq!(
            measured("{% for k, v in m.items() -%} z"),
            "{% for k, v in m.items() -%}{% set k = k|B -%}{% set v = v|B -%} z"
        );
        assert_eq!(
            measured("{% macro f(a, b=1) %}"),
            "{% macro f(a, b=1) %}{% set a = a|B %}{% set b = b|B %}"
        );
        for text in [
            "{{ x == y }}",
            "{# {% set x = 1 %} #}",
            "{% raw %}{% set x = 1 %}{% endraw %}",
            "{ {% if a == b %}",
            "{%",
            "{{",
        ] {
            assert_eq!(measured(text), text);
        }
    }

    #[test]
    fn the_joins_of_a_template_are_limited() {
        assert!(rewrite(&format!("{{{{ {} }}}}", "a ~ ".repeat(MAX_JOINS + 1))).is_none());
        assert!(rewrite(&"a ~ ".repeat(10_000)).is_some());
    }
}
