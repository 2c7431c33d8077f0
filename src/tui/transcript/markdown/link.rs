//! Links: addresses in a text, targets defined elsewhere in it, and which of them may be sent to a
//! terminal.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::text;

/// The longest address sent to a terminal, in bytes.
const MAX_LENGTH: usize = 2_000;
/// The number of targets kept for one text.
const DEFINED: usize = 256;

/// The targets that a text defines, `[name]: https://…`, by their folded names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets(HashMap<String, String>);

impl Targets {
    /// The first definition of a name wins.
    pub fn add(&mut self, name: &str, target: &str) {
        if self.0.len() < DEFINED && target.len() <= MAX_LENGTH {
            self.0.entry(normalized_name(name)).or_insert_with(|| target.to_owned());
        }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&normalized_name(name)).map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Names match regardless of case and spacing.
fn normalized_name(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Addresses in plain text, without closing punctuation or a bracket around them.
pub(super) fn urls(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("http")) {
        let from = at + start;
        let url = text.get(from..).unwrap_or_default();
        if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            at = from + "http".len();
            continue;
        }
        let is_over =
            |c: char| c.is_whitespace() || "<>\"`|，。、；：！？（）《》「」『』【】".contains(c);
        let url = url.split(is_over).next().unwrap_or_default();
        let mut url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_']);
        if !url.contains('(') {
            url = url.split(')').next().unwrap_or_default();
        }
        at = from + url.len().max(1);
        if url.len() > "https://".len() {
            out.push(from..from + url.len());
        }
    }
    out
}

/// The address in a form that may be sent to a terminal, or `None`: only web pages and local files,
/// without invisible characters and without a user name before the host.
pub(super) fn address(target: &str) -> Option<Rc<str>> {
    let (scheme, rest) = target.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let leads = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => !host.is_empty() && !host.contains('@'),
        "file" => matches!(host, "" | "localhost") && rest.len() > host.len(),
        _ => false,
    };
    let seen = text::single_line(target) == target && !target.contains(char::is_whitespace);
    (leads && seen && target.len() <= MAX_LENGTH).then(|| encoded(target).into())
}

/// A terminal's escape sequence may contain printable ASCII only.
fn encoded(target: &str) -> String {
    let mut out = String::new();
    for byte in target.bytes() {
        match byte {
            0x21..=0x7e => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether a link's text shows its target.
pub(super) fn shows_target(label: &str, target: &str) -> bool {
    let bare = |url: &str| {
        let url = url.strip_prefix("mailto:").unwrap_or(url);
        url.trim_end_matches('/').to_owned()
    };
    bare(label) == bare(target)
}

/// Whether a link's text itself looks like an address.
pub(super) fn looks_like_address(label: &str) -> bool {
    let label = label.trim();
    let host = label.split(['/', ':', '?', '#']).next().unwrap_or_default();
    let last = host.rsplit_once('.').map_or("", |(_, last)| last);
    let is_host = last.len() >= 2 && last.chars().all(char::is_alphabetic);
    !label.contains(char::is_whitespace) && (label.contains("://") || is_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_excludes_the_punctuation_of_its_sentence() {
        let cases: [(&str, &[&str]); 7] = [
            ("see https://a.b/c?d=1#e.", &["https://a.b/c?d=1#e"]),
            ("(http://a.b/x) and https://c.d,", &["http://a.b/x", "https://c.d"]),
            ("看https://a.b/路径。再见", &["https://a.b/路径"]),
            (
                "https://en.wikipedia.org/wiki/Rust_(language)",
                &["https://en.wikipedia.org/wiki/Rust_(language)"],
            ),
            ("no ftp://x, no https:// alone, no http", &[]),
            ("https://\u{20}https://", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<&str> = urls(text).into_iter().filter_map(|url| text.get(url)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn only_addresses_of_pages_and_local_files_reach_the_terminal() {
        let cases = [
            ("https://a.b/c", Some("https://a.b/c")),
            ("HTTP://a.b", Some("HTTP://a.b")),
            ("https://a.b/路", Some("https://a.b/%E8%B7%AF")),
            ("file:///etc/hosts", Some("file:///etc/hosts")),
            ("file://localhost/x", Some("file://localhost/x")),
            ("file://elsewhere/share", None),
            ("https://", None),
            ("https://github.com@evil.example/", None),
            ("javascript:alert(1)", None),
            ("vscode://file/x", None),
            ("mailto:a@b.c", None),
            ("https://a.b/\u{1b}]0;x\u{7}", None),
            ("https://a.b/\u{202e}gpj.exe", None),
            ("https://a.b/x y", None),
            ("src/main.rs", None),
        ];
        for (target, told) in cases {
            assert_eq!(address(target).as_deref(), told, "{target}");
        }
        assert_eq!(address(&format!("https://a.b/{}", "x".repeat(MAX_LENGTH))), None);
    }

    #[test]
    fn a_text_that_looks_like_an_address_is_recognised() {
        let claim = ["https://github.com/a", "github.com", "github.com/a", "www.a.org:80/x"];
        for label in claim {
            assert!(looks_like_address(label), "{label}");
        }
        for label in ["the docs", "see github.com", "v1.2", "", "文档"] {
            assert!(!looks_like_address(label), "{label}");
        }
        assert!(
            shows_target("a@b.c", "mailto:a@b.c") && shows_target("https://a.b", "https://a.b/")
        );
        assert!(!shows_target("https://github.com/a", "https://evil.example/a"));
    }

    #[test]
    fn names_of_targets_ignore_case() {
        let mut targets = Targets::default();
        targets.add("The  Docs", "https://a.b");
        targets.add("the docs", "https://evil.example");
        assert_eq!(targets.get("THE docs"), Some("https://a.b"));
        assert_eq!(targets.get("other"), None);
    }
}
