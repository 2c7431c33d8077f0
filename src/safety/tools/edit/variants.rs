//! The texts that an edit may have meant: without line numbers, marks or fences that were copied
//! with them, with escapes and entities read or written.

use std::sync::LazyLock;

use regex::Regex;

use super::indent::with_plain_indent;
use super::slip::Slip;

/// An edit as it may have been meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub old: String,
    pub new: String,
    /// What is taken for a slip; nothing in the edit as it was given.
    pub slips: Vec<Slip>,
}

/// The old text and the new one, read in one way; `None`: that way reads nothing else.
type Reading = fn(&str, &str) -> Option<(String, String)>;

#[rustfmt::skip]
const READINGS: &[(Slip, Reading)] = &[
    (Slip::Blanks,      with_plain_indents),
    (Slip::Fence,       without_fence),
    (Slip::Numbers,     without_numbers),
    (Slip::Marks,       without_marks),
    (Slip::Escapes,     unescaped),
    (Slip::Entities,    without_entities),
    (Slip::Escapes,     with_line_escapes),
    (Slip::Entities,    with_entities),
];

/// Readings that are tried of one edit.
const MAX_READINGS: usize = 24;

/// The edit as it was given, then each reading alone and together with others.
pub fn variants(old: &str, new: &str) -> Vec<Variant> {
    let mut all = vec![Variant { old: old.to_owned(), new: new.to_owned(), slips: Vec::new() }];
    for (slip, reading) in READINGS {
        for at in 0..all.len() {
            let Some(from) = all.get(at).filter(|from| !from.slips.contains(slip)) else {
                continue;
            };
            let Some((old, new)) = reading(&from.old, &from.new) else { continue };
            let slips = from.slips.iter().copied().chain([*slip]).collect();
            if old != from.old && all.len() < MAX_READINGS {
                all.push(Variant { old, new, slips });
            }
        }
    }
    all
}

fn with_plain_indents(old: &str, new: &str) -> Option<(String, String)> {
    let old = with_plain_indent(old)?;
    Some((old, with_plain_indent(new).unwrap_or_else(|| new.to_owned())))
}

fn without_fence(old: &str, new: &str) -> Option<(String, String)> {
    let old = unfence(old)?;
    Some((old.to_owned(), unfence(new).unwrap_or(new).to_owned()))
}

const FENCES: [&str; 2] = ["```", "~~~"];

/// The text inside a fence that is around all of it, with its last line's end.
pub fn unfence(text: &str) -> Option<&str> {
    let text = text.trim_matches('\n');
    let fence = FENCES.iter().find(|fence| text.starts_with(**fence))?;
    let (language, inside) = text.strip_prefix(fence)?.split_once('\n')?;
    let inside = inside.trim_end().strip_suffix(fence)?;
    let is_whole = (inside.is_empty() || inside.ends_with('\n'))
        && !language.contains(['`', '~', ' '])
        && !inside.lines().any(|line| line.starts_with(fence));
    is_whole.then_some(inside)
}

/// The numbers that tools put before lines: `12\t`, `12→`, `12: `, `12 | `, `L12: `.
static NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*L?(\d+)(?:\t|→|: ?|\s?\| ?|:?$)").ok());

fn without_numbers(old: &str, new: &str) -> Option<(String, String)> {
    let old = strip_numbers(old)?;
    Some((old, strip_numbers(new).unwrap_or_else(|| new.to_owned())))
}

/// The text without the numbers before its lines, if they are all there and count.
pub fn strip_numbers(text: &str) -> Option<String> {
    let number = NUMBER.as_ref()?;
    let mut last = None;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        if content.trim().is_empty() {
            out.push_str(line);
            continue;
        }
        let found = number.captures(content)?;
        let count: usize = found.get(1)?.as_str().parse().ok()?;
        if last.is_some_and(|last| count != last + 1) {
            return None;
        }
        last = Some(count);
        out.push_str(content.get(found.get(0)?.end()..)?);
        out.push_str(end);
    }
    last.map(|_| out)
}

/// Lines of a diff: ` ` and `-` in the old text, ` ` and `+` in the new one.
fn without_marks(old: &str, new: &str) -> Option<(String, String)> {
    let strip = |text: &str, mark: char| {
        let mut marked = 0;
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let rest = match line.strip_prefix(mark) {
                Some(rest) => {
                    marked += 1;
                    rest
                }
                None if line.trim().is_empty() => line,
                None => line.strip_prefix(' ')?,
            };
            out.push_str(rest);
        }
        Some((out, marked))
    };
    let ((old, removed), (new, added)) = (strip(old, '-')?, strip(new, '+')?);
    (removed + added > 0).then_some((old, new))
}

/// Escapes of a string read once more than they should have been written.
fn unescaped(old: &str, new: &str) -> Option<(String, String)> {
    old.contains('\\').then(|| (unescape(old), unescape(new)))
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let plain = match chars.next() {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some(c @ ('"' | '\'' | '\\' | '`' | '/' | '$')) => Some(c),
            Some('u') => {
                let code = after.get(1..5).and_then(|code| u32::from_str_radix(code, 16).ok());
                let c = code.and_then(char::from_u32);
                if c.is_some() {
                    chars = after.get(5..).unwrap_or_default().chars();
                }
                c
            }
            _ => None,
        };
        match plain {
            Some(c) => {
                out.push(c);
                rest = chars.as_str();
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A line end that should have been written `\n`.
fn with_line_escapes(old: &str, new: &str) -> Option<(String, String)> {
    let escape = |text: &str| {
        let inner = text.trim_end_matches('\n');
        let end = text.get(inner.len()..).unwrap_or_default();
        format!("{}{end}", inner.replace('\n', "\\n"))
    };
    old.trim_matches('\n').contains('\n').then(|| (escape(old), escape(new)))
}

const ENTITIES: &[(&str, &str)] = &[
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", "\u{a0}"),
    // Last, so that it makes no entity of what follows.
    ("&amp;", "&"),
];

fn without_entities(old: &str, new: &str) -> Option<(String, String)> {
    let read = |text: &str| {
        ENTITIES.iter().fold(text.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
    };
    Some((read(old), read(new)))
}

fn with_entities(old: &str, new: &str) -> Option<(String, String)> {
    let write = |text: &str| {
        let text = text.replace('&', "&amp;");
        text.replace('<', "&lt;").replace('>', "&gt;")
    };
    Some((write(old), write(new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_tool_are_taken_off_if_they_count() {
        for text in [
            "35\tx\n36\t  y\n",
            "    35→x\n    36→  y\n",
            "35: x\n36:   y\n",
            "35 | x\n36 |   y\n",
            "00035| x\n00036|   y\n",
            "L35: x\nL36:   y\n",
        ] {
            assert_eq!(strip_numbers(text).as_deref(), Some("x\n  y\n"), "{text:?}");
        }
        assert_eq!(strip_numbers("35\tx\n40\ty\n"), None, "data and no numbers of lines");
        assert_eq!(strip_numbers("x\n36\ty\n"), None);
    }

    #[test]
    fn escapes_are_read_once() {
        assert_eq!(unescape(r#"a\nb \"c\" \\n \u00e9 \q \"#), "a\nb \"c\" \\n é \\q \\");
    }

    #[test]
    fn a_fence_is_one_only_around_all_of_a_text() {
        assert_eq!(unfence("```rust\nlet a;\n```\n"), Some("let a;\n"));
        assert_eq!(unfence("~~~\nlet a;\n```\n~~~"), Some("let a;\n```\n"));
        assert_eq!(unfence("```\na\n~~~"), None);
        assert_eq!(unfence("```\na\n```\nb\n```\nc\n```"), None);
        assert_eq!(unfence("let a;"), None);
    }
}
