//! Finds where something ends in text with quotes and brackets. Not a parser: it knows where
//! something stops, not what it means.

/// Byte position of the first place outside quotes and brackets where `stop` holds for the rest of
/// the text; `None` if there is none, or if a quote or bracket is never closed.
pub fn find_outside(text: &str, stop: impl Fn(&str) -> bool) -> Option<usize> {
    let mut open: Vec<char> = Vec::new();
    let mut quote: Option<char> = None;
    let mut escaped = false;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if let Some(mark) = quote {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == mark {
                quote = None;
            }
        } else {
            if open.is_empty() && stop(text.split_at(at).1) {
                return Some(at);
            }
            match c {
                '"' | '`' => quote = Some(c),
                // `don't` opens nothing.
                '\'' if !before.is_alphanumeric() => quote = Some(c),
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                _ if open.last() == Some(&c) => {
                    open.pop();
                }
                _ => {}
            }
        }
        before = c;
    }
    None
}

/// Whether a quote or bracket of the text is never closed.
pub fn is_unclosed(text: &str) -> bool {
    // Where all are closed, its end is outside of them.
    let text = format!("{text}\0");
    find_outside(&text, |tail| tail == "\0").is_none()
}

/// The parts between `separator`s that are outside quotes and brackets. If a quote or bracket is
/// never closed, the last part contains the rest.
pub fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = find_outside(rest, |tail| tail.starts_with(separator)) {
        let (part, tail) = rest.split_at(at);
        parts.push(part);
        rest = tail.strip_prefix(separator).unwrap_or(tail);
    }
    parts.push(rest);
    parts
}

/// The content of a bracket whose opening was already consumed, and the text after the closing one.
/// Quotes that are never closed do not hide the end.
pub fn bracket_content(text: &str, close: char) -> Option<(&str, &str)> {
    let at = find_outside(text, |tail| tail.starts_with(close))
        .or_else(|| text.find(close).filter(|_| !text.contains(['(', '[', '{'])))?;
    let (within, tail) = text.split_at(at);
    Some((within, tail.strip_prefix(close)?))
}

/// The identifier at the start of the text and the rest: a letter, `_` or `$`, then letters,
/// digits, `_`, `$` and any that `more` allows.
pub fn leading_word(text: &str, more: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    if !(first.is_alphabetic() || first == '_' || first == '$') {
        return None;
    }
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || more(c)))
        .unwrap_or(text.len());
    Some(text.split_at(end))
}

/// The text without the pair of quotes around it, its escapes resolved; `None` if it is not one
/// quoted string from end to end.
pub fn unquote(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let mut out = String::new();
    let mut rest = text.strip_prefix(quote)?.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => push_escape(&mut rest, &mut out)?,
            c if c == quote => return rest.as_str().is_empty().then_some(out),
            c => out.push(c),
        }
    }
    None
}

/// Resolves the escape after a backslash in a JavaScript string.
pub fn push_escape(rest: &mut std::str::Chars<'_>, out: &mut String) -> Option<()> {
    match rest.next()? {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'v' => out.push('\u{b}'),
        '0' => out.push('\0'),
        '\n' => {}
        'x' => out.push(char::from_u32(parse_hex(rest, 2)?)?),
        'u' => out.push(parse_unicode(rest)?),
        c => out.push(c),
    }
    Some(())
}

/// After `\u`: four digits, a surrogate pair, or `{1F600}`.
fn parse_unicode(rest: &mut std::str::Chars<'_>) -> Option<char> {
    if let Some(braced) = rest.as_str().strip_prefix('{') {
        let (digits, after) = braced.split_once('}')?;
        *rest = after.chars();
        return char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    }
    let high = parse_hex(rest, 4)?;
    if !(0xD800..0xDC00).contains(&high) {
        return char::from_u32(high);
    }
    *rest = rest.as_str().strip_prefix("\\u")?.chars();
    let low = parse_hex(rest, 4)?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
    char::from_u32(0x10000 + ((high - 0xD800) << 10) + low)
}

fn parse_hex(rest: &mut std::str::Chars<'_>, digits: usize) -> Option<u32> {
    (0..digits).try_fold(0, |value, _| Some(value * 16 + rest.next()?.to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_in_quotes_or_brackets_are_ignored() {
        assert_eq!(
            split_outside("a, f(b, c), 'd,e', [1,2]", ','),
            ["a", " f(b, c)", " 'd,e'", " [1,2]"]
        );
        assert_eq!(split_outside("", ','), [""]);
        assert_eq!(split_outside("don't, won't", ','), ["don't", " won't"]);
        assert_eq!(split_outside("\"a,b", ','), ["\"a,b"]);
    }

    #[test]
    fn bracket_content_ends_at_the_matching_bracket() {
        assert_eq!(bracket_content("a, (b) ')') rest", ')'), Some(("a, (b) ')'", " rest")));
        assert_eq!(bracket_content("it's \"x) rest", ')'), Some(("it's \"x", " rest")));
        assert_eq!(bracket_content("(a", ')'), None);
    }

    #[test]
    fn a_quoted_string_is_read_with_its_escapes() {
        assert_eq!(
            unquote(r#""a\n\"b\" \u00e9 \ud83d\ude00 \u{1F600}""#).unwrap(),
            "a\n\"b\" é 😀 😀"
        );
        assert_eq!(unquote("'a' + 'b'"), None);
        assert_eq!(unquote("plain"), None);
        assert_eq!(unquote("'open"), None);
    }
}
