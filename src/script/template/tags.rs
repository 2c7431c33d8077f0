//! The names inside of a Jinja template's tags, by their place: filters, tests, and variables that
//! the template expects to be missing.

use crate::error::ScriptError;

use super::limits::{is_raw, leading_tag, prefix_through, raw_block};

/// The names in a template that something else has to define.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateNames {
    /// Variables it reads, except those it expects to be missing.
    pub variables: Vec<String>,
    /// Filters and tests that are not among the usual ones.
    pub filters: Vec<String>,
    pub tests: Vec<String>,
    /// A field that has no end.
    pub unclosed: Option<String>,
}

/// Why a template cannot be compiled, and its line if that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateFault {
    pub line: Option<usize>,
    pub why: ScriptError,
}

/// Names in the tags of a template.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TagNames<'t> {
    pub filters: Vec<&'t str>,
    pub tests: Vec<&'t str>,
    /// `x | default(1)`, `x or 1`, `x is defined`: the template provides for their absence.
    pub optional: Vec<&'t str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TagToken<'t> {
    Name(&'t str),
    Sign(char),
    /// A quoted text or a number.
    Literal,
}

/// Tests of whether a variable has a value.
const PRESENCE: &[&str] = &["defined", "undefined", "none"];

pub(super) fn read(text: &str) -> TagNames<'_> {
    let mut names = TagNames::default();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let tail = rest.split_at(at).1;
        let tag = if tail.starts_with("{#") {
            prefix_through(tail, "#}")
        } else if tail.starts_with("{{") {
            leading_tag(tail, "}}")
        } else if tail.starts_with("{%") {
            leading_tag(tail, "%}")
        } else {
            tail.split_at(1).0
        };
        let taken = if is_raw(tag) { raw_block(tail, tag) } else { tag };
        if !is_raw(tag) && (tag.starts_with("{{") || tag.starts_with("{%")) {
            names.add(&tokens(tag));
        }
        rest = tail.split_at(taken.len()).1;
    }
    names
}

impl<'t> TagNames<'t> {
    fn add(&mut self, tokens: &[TagToken<'t>]) {
        for (at, token) in tokens.iter().enumerate() {
            let name = |offset: usize| match tokens.get(at + offset) {
                Some(TagToken::Name(name)) => Some(*name),
                _ => None,
            };
            let before = tokens.get(..at).unwrap_or_default();
            match token {
                TagToken::Sign('|') => {
                    self.filters.extend(name(1));
                    if name(1).is_some_and(|filter| matches!(filter, "default" | "d")) {
                        self.optional.extend(root(before));
                    }
                }
                TagToken::Name("filter") if before.iter().all(|it| is_edge(*it)) => {
                    self.filters.extend(name(1));
                }
                TagToken::Name("or") => self.optional.extend(root(before)),
                TagToken::Name("is") => {
                    let test = if name(1) == Some("not") { name(2) } else { name(1) };
                    self.tests.extend(test);
                    if test.is_some_and(|test| PRESENCE.contains(&test)) {
                        self.optional.extend(root(before));
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_edge(token: TagToken<'_>) -> bool {
    matches!(token, TagToken::Sign('{' | '%' | '-' | '+'))
}

/// The variable of the path `a.b.c` that ends here.
fn root<'t>(tokens: &[TagToken<'t>]) -> Option<&'t str> {
    let (last, mut before) = tokens.split_last()?;
    let TagToken::Name(mut name) = *last else { return None };
    while let [more @ .., TagToken::Name(owner), TagToken::Sign('.')] = before {
        name = owner;
        before = more;
    }
    match before {
        // The name of a filter or a test.
        [.., TagToken::Sign('|') | TagToken::Name("is")]
        | [.., TagToken::Name("is"), TagToken::Name("not")] => None,
        _ => Some(name),
    }
}

fn tokens(tag: &str) -> Vec<TagToken<'_>> {
    let mut out = Vec::new();
    let mut rest = tag;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first == '"' || first == '\'' {
            quoted_length(rest, first)
        } else if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if is_part(first) && !first.is_numeric() {
            out.push(TagToken::Name(token));
        } else if is_part(first) || first == '"' || first == '\'' {
            out.push(TagToken::Literal);
        } else if !first.is_whitespace() {
            out.push(TagToken::Sign(first));
        }
        rest = after;
    }
    out
}

/// The length of the quoted text at the beginning.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_tags_are_told_by_their_place() {
        let names = read(
            "x | y {{ a.b | upper | default('| no', c) }}{% if d is not defined or e %}{{ '{{' }}{% endif %}{# | f #}{% raw %}{{ g | h }}{% endraw %}{% filter trim %}",
        );
        assert_eq!(names.filters, ["upper", "default", "trim"]);
        assert_eq!(names.tests, ["defined"]);
        assert_eq!(names.optional, ["d"], "the value of a filter is no variable");
        assert_eq!(read("{{ a.b | default(1) }}{{ c or 2 }}").optional, ["a", "c"]);
    }
}
