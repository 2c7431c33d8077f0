//! What a value is like: a placeholder, a word about secrets, random characters.

use super::names::NameClass;

/// A secret in a text: byte offsets. `from` is where its name or scheme begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub kind: String,
    pub from: usize,
    pub start: usize,
    pub end: usize,
    /// Its name says that it is one: where it is random, it is one elsewhere too.
    pub learned: bool,
}

impl SecretSpan {
    pub fn new(kind: String, start: usize, end: usize) -> SecretSpan {
        SecretSpan { kind, from: start, start, end, learned: false }
    }

    pub fn named(class: NameClass, start: usize, end: usize) -> SecretSpan {
        SecretSpan { learned: true, ..SecretSpan::new(class.kind().into(), start, end) }
    }
}

/// Placeholders for secrets in documentation.
#[rustfmt::skip]
const PLACEHOLDERS: &[&str] = &[
    "your", "example", "xxxx", "****", "....", "placeholder", "changeme", "dummy", "redacted",
    "insert", "replace", "todo",
];

/// Keys that a page shows to everybody.
const PUBLIC: &[&str] = &["pk_live_", "pk_test_", "pk.eyj", "phc_", "sb_publishable_"];

/// Names of secrets: a value that is made of them names a secret and is not one itself.
const NAMES: &[&str] = &["password", "passwd", "secret", "token", "apikey", "api_key", "key"];

pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower.starts_with(['$', '<', '{', '%', '‹', '&', '*', '@'])
        || lower.contains("${")
        || lower.contains("{{")
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || NAMES.contains(&lower.as_str())
        || PUBLIC.iter().any(|start| lower.starts_with(start))
        || matches!(lower.as_str(), "pass" | "pwd" | "user")
}

/// `access_token`, `password-reset`, `newPassword`: speaks of a secret.
pub(super) fn contains_secret_word(value: &str) -> bool {
    let plain = value.chars().all(|c| c.is_ascii_alphabetic() || "_-./: ".contains(c));
    let mut spaced = String::with_capacity(value.len() * 2);
    for c in value.chars() {
        if c.is_ascii_uppercase() {
            spaced.push(' ');
        }
        spaced.push(c.to_ascii_lowercase());
    }
    let mut words = spaced.split(|c: char| !c.is_ascii_alphabetic());
    plain && words.any(|word| NAMES.contains(&word))
}

/// Begins with the name of a secret and goes on with no more than a number: `token2`.
pub(super) fn starts_with_secret_name(lower: &str) -> bool {
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    NAMES.contains(&stem) || ["pass", "pwd", "auth", "jwt"].contains(&stem)
}

/// Letters and digits both.
pub(super) fn has_letter_and_digit(value: &str) -> bool {
    value.contains(|c: char| c.is_ascii_alphabetic())
        && value.contains(|c: char| c.is_ascii_digit())
}

/// Long, and changing often between lower case, upper case and digits: variables are not
/// named like that.
pub(super) fn is_varied(value: &str) -> bool {
    let class = |c: char| match c {
        'a'..='z' => 1,
        'A'..='Z' => 2,
        '0'..='9' => 3,
        _ => 4,
    };
    let classes: Vec<u8> = value.chars().map(class).filter(|class| *class < 4).collect();
    let changes = classes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    value.len() >= 12 && has_letter_and_digit(value) && changes >= 4
}

/// `camelCaseLike`: small letters and great ones change often.
pub(super) fn changes_case(value: &str) -> bool {
    let letters: Vec<bool> =
        value.bytes().filter(u8::is_ascii_alphabetic).map(|b| b.is_ascii_uppercase()).collect();
    letters.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 5
}

pub(super) fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '?' || c == '!')
}

/// A path or an address says where something is.
pub(super) fn is_path_or_url(text: &str) -> bool {
    let path = ["/", "./", "../", "~/", "\\\\"].iter().any(|start| text.starts_with(start))
        || text.get(1..3).is_some_and(|drive| matches!(drive, ":\\" | ":/"));
    text.contains("://") || path && !text.split(['/', '\\']).any(is_varied)
}

/// A type that the language or a library gives: `SecretString`, `str?`.
pub(super) fn is_type(text: &str) -> bool {
    let plain = text.trim_end_matches(['?', '!']);
    plain.len() < text.len() && is_identifier(plain)
        || plain.starts_with(|c: char| c.is_ascii_uppercase())
            && plain.chars().all(|c| c.is_ascii_alphanumeric())
            && plain.contains(|c: char| c.is_ascii_lowercase())
            && !plain.contains(|c: char| c.is_ascii_digit())
}

/// Words with marks between them: `end-of-statement`.
pub(super) fn is_separated_words(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphabetic() || "_-./:".contains(c))
        && (text.contains(['_', '-', '.', '/', ':']) || !changes_case(text))
}

/// `v1.2.3`, `2024-01-01`
pub(super) fn is_version(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_alphabetic).count() <= 1
}

/// Whether the line that begins here is one of settings below a `[heading]`, where a bare word is a
/// value.
pub(super) fn is_in_section(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|head| head.strip_suffix('\n')).unwrap_or_default();
    let lines = before.rsplit('\n').take(SECTION).map(str::trim);
    let above =
        |line: &&str| !line.is_empty() && !line.starts_with(['#', ';']) && !line.contains('=');
    lines.into_iter().find(above).is_some_and(|line| line.starts_with('[') && line.ends_with(']'))
}

/// The most lines of settings that are looked at.
const SECTION: usize = 40;
