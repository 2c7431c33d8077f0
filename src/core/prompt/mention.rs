//! Mentions of files in a text: `@src/lib.rs`, `@"a b.rs"`, `@dir/`, `@file:10-40`.
//!
//! Decides where a mention may begin, where it ends, and what it names. Whether the file exists is
//! checked elsewhere.

use crate::protocol::{LineRange, Mention};

/// A mention and its place: bytes from its `@` to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionSpan {
    pub from: usize,
    pub to: usize,
    pub mention: Mention,
}

/// The mentions of a text, in order. `\@` is not one.
pub fn find(text: &str) -> Vec<MentionSpan> {
    let mut found = Vec::new();
    let mut before = None;
    let mut done = 0;
    for (at, c) in text.char_indices() {
        let previous = before.replace(c);
        if at < done || c != '@' || !can_begin_after(previous) {
            continue;
        }
        let Some(behind) = text.get(at + 1..) else { break };
        if let Some((mention, len)) = parse(behind) {
            done = at + 1 + len;
            found.push(MentionSpan { from: at, to: done, mention });
        }
    }
    found
}

/// Whether a mention may begin after this character. Chinese is written without spaces, so only a
/// Latin letter rules it out: `me@home` is an address.
pub fn can_begin_after(before: Option<char>) -> bool {
    before.is_none_or(|c| c.is_whitespace() || !c.is_ascii() || "([{<'\",:;".contains(c))
}

/// The mention after an `@`, and its length in bytes.
pub fn parse(text: &str) -> Option<(Mention, usize)> {
    let (path, len) = match text.strip_prefix('"') {
        Some(rest) => {
            let (path, _) = rest.split_once('"')?;
            (path.to_owned(), path.len() + 2)
        }
        None => unquoted_path(text),
    };
    if path.is_empty() || path.contains(char::is_control) || path.starts_with(['@', '{']) {
        return None;
    }
    let behind = text.get(len..).unwrap_or_default();
    let (lines, more) = range(behind).map_or((None, 0), |(lines, len)| (Some(lines), len));
    Some((Mention { path, lines }, len + more))
}

/// A whole text as a path, with the range of lines at its end, if it has one.
pub fn path_with_range(text: &str) -> Option<(String, Option<LineRange>)> {
    let inner = |text: &str| {
        let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        quoted.unwrap_or(text).to_owned()
    };
    let at = text.rfind(':').filter(|at| *at > 0);
    let found = at.and_then(|at| {
        let (path, behind) = text.split_at_checked(at)?;
        let (lines, len) = range(behind)?;
        (len == behind.len()).then(|| (inner(path), Some(lines)))
    });
    let whole = found.unwrap_or_else(|| (inner(text), None));
    (!whole.0.is_empty()).then_some(whole)
}

/// A path without quotes: escaped spaces belong to it, punctuation at its end does not.
fn unquoted_path(text: &str) -> (String, usize) {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && chars.peek().is_some_and(|(_, next)| *next == ' ') {
            chars.next();
            end = at + 2;
            continue;
        }
        // Chinese is written without spaces: the next mention may follow at once.
        let next =
            c == '@' && !text.get(..at).is_some_and(|text| text.ends_with(|c: char| c.is_ascii()));
        // `it's.txt`, but not the end of `'@a.rs'`.
        let is_inside =
            c == '\'' && end > 0 && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if (is_path_end(c) && !is_inside)
            || next
            || (c == ':' && range(text.get(at..).unwrap_or_default()).is_some())
        {
            break;
        }
        end = at + c.len_utf8();
    }
    let whole = text.get(..end).unwrap_or_default();
    let mut path = whole;
    while let Some(last) =
        path.chars().next_back().filter(|last| is_sentence_punctuation(*last, path))
    {
        path = path.strip_suffix(last).unwrap_or_default();
    }
    (path.replace("\\ ", " "), path.len())
}

/// A character that ends a path: spaces, quotes, and Chinese punctuation.
fn is_path_end(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || "\"'`<>|,;*?$，。；：！？、（）【】《》「」『』〈〉“”‘’…—".contains(c)
}

/// Whether the last character of a path more likely ends a sentence around it.
fn is_sentence_punctuation(last: char, path: &str) -> bool {
    let count = |c: char| path.chars().filter(|other| *other == c).count();
    match last {
        '!' | ':' => true,
        // `..` and `.` are folders, `a.` ends a sentence.
        '.' => !path.ends_with("/.") && !path.ends_with("..") && path != ".",
        ')' => count('(') < count(')'),
        ']' => count('[') < count(']'),
        '}' => count('{') < count('}'),
        _ => false,
    }
}

/// `:10`, `:10-40`, `:10-`; with its length in bytes.
fn range(text: &str) -> Option<(LineRange, usize)> {
    let rest = text.strip_prefix(':')?;
    let (first, rest) = number(rest)?;
    let (last, rest) = match rest.strip_prefix('-') {
        None => (Some(first), rest),
        Some(rest) => match number(rest) {
            Some((last, rest)) => (Some(last), rest),
            None => (None, rest),
        },
    };
    // `:10x` is part of a name.
    let goes_on =
        rest.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || "/_".contains(c));
    let sound = !goes_on && first > 0 && last.is_none_or(|last| last >= first);
    sound.then(|| (LineRange { first, last }, text.len() - rest.len()))
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        find(text).into_iter().map(|found| found.mention.as_typed()).collect()
    }

    #[test]
    fn a_mention_ends_where_its_path_ends() {
        let cases: &[(&str, &[&str])] = &[
            ("check this @file", &["@file"]),
            ("@src/index.ts", &["@src/index.ts"]),
            ("看看@src/main.rs，谢谢", &["@src/main.rs"]),
            ("（见@文档/说明.md）", &["@文档/说明.md"]),
            ("@a.rs, @b.rs; (@c.rs) and @d.rs.", &["@a.rs", "@b.rs", "@c.rs", "@d.rs"]),
            ("@src/ is a folder", &["@src/"]),
            ("@it's.txt and '@a.rs' or '@b.rs'.", &["@it's.txt", "@a.rs", "@b.rs"]),
            ("@.. and @.", &["@..", "@."]),
            ("is it @a.rs?", &["@a.rs"]),
            ("@a.rs: look!", &["@a.rs"]),
            ("@app/[id]/page.tsx [@x]", &["@app/[id]/page.tsx", "@x"]),
            ("@\"a b.rs\" and @a\\ c.rs", &["@\"a b.rs\"", "@\"a c.rs\""]),
            ("me@home.org", &[]),
            ("\\@plain @", &[]),
            ("@\"open", &[]),
            ("@@x", &[]),
            ("@a.rs的内容和@文档.md", &["@a.rs的内容和", "@文档.md"]),
            ("@node_modules/@types/x", &["@node_modules/@types/x"]),
        ];
        for (text, mentions) in cases {
            assert_eq!(named(text), *mentions, "{text}");
        }
    }

    #[test]
    fn a_range_of_lines_belongs_to_the_mention() {
        let cases = [
            ("@file:10-40", "@file:10-40"),
            ("@file:10", "@file:10"),
            ("@file:10- x", "@file:10-"),
            ("@\"a b.rs\":3-4", "@\"a b.rs\":3-4"),
            ("看@src/a.rs:1-20。", "@src/a.rs:1-20"),
            ("@file:40-10", "@file:40-10"),
            ("@c:2x/y", "@c:2x/y"),
        ];
        for (text, mention) in cases {
            assert_eq!(named(text), [mention], "{text}");
        }
        assert_eq!(find("@file:40-10")[0].mention.lines, None, "no such range");
        let wanted = Some(LineRange { first: 10, last: Some(40) });
        assert_eq!(find("@file:10-40")[0].mention.lines, wanted);
    }

    #[test]
    fn the_position_of_a_mention_is_in_bytes() {
        let text = "看看@src/main.rs，谢谢";
        let found = &find(text)[0];
        assert_eq!(text.get(found.from..found.to), Some("@src/main.rs"));
    }
}
