//! Parses front matter: the lines between two `---` at the start of a Markdown file.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::yaml::{self, YamlError, YamlNode};
use crate::ConfigError;
use crate::diagnostic::TextPosition;

/// How much of a file is searched for front matter, in bytes.
const HEAD: u64 = 64 * 1024;

/// A text split in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontMatter<'t> {
    /// `None` if the text does not begin with front matter.
    pub front: Option<&'t str>,
    pub body: &'t str,
}

/// Splits off the front matter. Front matter without an end does not count.
pub fn split(text: &str) -> FrontMatter<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let matter = FrontMatter { front: None, body: text };
    let Some((first, rest)) = text.split_once('\n') else { return matter };
    if first.trim_end() != "---" {
        return matter;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let (front, _) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let body = rest.get(at + line.len()..).unwrap_or_default();
            return FrontMatter { front: Some(front), body };
        }
        at += line.len();
    }
    matter
}

/// Parses front matter. If it is not valid YAML, it is parsed once more with the faulty values
/// quoted: users write `argument-hint: [file] [mode]` and `description: Use: …`. The second value
/// is true if that was needed.
pub fn read(front: &str) -> Result<(Vec<(String, YamlNode)>, bool), YamlError> {
    match yaml::read(front) {
        Ok(pairs) => Ok((pairs, false)),
        Err(wrong) => match yaml::read(&quote_values(front)) {
            Ok(pairs) => Ok((pairs, true)),
            // The first line of the file is the `---`.
            Err(_) => {
                let TextPosition { line, column } = wrong.place;
                Err(YamlError { place: TextPosition { line: line + 1, column }, why: wrong.why })
            }
        },
    }
}

/// Each `name: value` that cannot be parsed alone, with its value as one quoted text.
fn quote_values(front: &str) -> String {
    let mut items: Vec<Vec<&str>> = Vec::new();
    for line in front.lines() {
        match items.last_mut() {
            Some(item) if !is_key_line(line) => item.push(line),
            _ => items.push(vec![line]),
        }
    }
    let mut out = String::new();
    for item in items {
        let whole = item.join("\n");
        let (name, value) = whole.split_once(':').unwrap_or((&whole, ""));
        if yaml::read(&whole).is_ok() || !is_key_line(&whole) {
            out += &whole;
        } else {
            let words = avocet_core::text::one_line(value);
            out += &format!("{name}: {}", serde_json::Value::from(words));
        }
        out.push('\n');
    }
    out
}

/// True for a line that begins with a name and a colon.
fn is_key_line(line: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    line.split_once(':').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(of_name))
        && !line.starts_with('-')
}

/// The first 64 KiB of a file as text, and true if the file has no more. A character cut by the
/// limit is dropped.
pub fn read_prefix(path: &Path) -> Result<(String, bool), ConfigError> {
    let unreadable = |error: std::io::Error| ConfigError::unreadable(&error);
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(ConfigError::NotAFile);
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(HEAD).read_to_end(&mut bytes).map_err(unreadable)?;
    let whole = (bytes.len() as u64) < HEAD;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if !whole && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(end);
            String::from_utf8(bytes).map_err(|_| ConfigError::NotText)?
        }
        Err(_) => return Err(ConfigError::NotText),
    };
    Ok((text, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_front_matter_and_body() {
        let cases = [
            ("---\na: 1\n---\nbody\n", Some("a: 1\n"), "body\n"),
            ("\u{feff}---\r\na: 1\r\n---\r\nbody", Some("a: 1\r\n"), "body"),
            ("---\n---\n", Some(""), ""),
            ("---\na: 1\n---", Some("a: 1\n"), ""),
            ("no front", None, "no front"),
            ("---\nno end", None, "---\nno end"),
            ("", None, ""),
        ];
        for (text, front, body) in cases {
            assert_eq!(split(text), FrontMatter { front, body }, "{text:?}");
        }
    }

    #[test]
    fn values_without_the_required_quotes_are_parsed() {
        let front = "name: x\ndescription: Use when: the user says \"go\"\n  and more: so\n\
                     argument-hint: [file] [mode]\nexamples:\n- one\n- two\n";
        let (pairs, mended) = read(front).unwrap();
        assert!(mended);
        let text = |name: &str| pairs.iter().find(|(known, _)| known == name).unwrap().1.clone();
        let described = "Use when: the user says \"go\" and more: so";
        assert_eq!(text("description"), YamlNode::Text(described.into()));
        assert_eq!(text("argument-hint"), YamlNode::Text("[file] [mode]".into()));
        let examples = vec![YamlNode::Text("one".into()), YamlNode::Text("two".into())];
        assert_eq!(text("examples"), YamlNode::List(examples));
        assert_eq!(read("name: x"), Ok((vec![("name".into(), YamlNode::Text("x".into()))], false)));
    }

    #[test]
    fn an_error_that_quoting_cannot_fix_names_its_line_in_the_file() {
        assert_eq!(read("*b: [\na: 1\n").unwrap_err().place.line, 2);
    }

    #[test]
    fn the_head_of_a_long_file_ends_at_a_character() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("SKILL.md");
        fs::write(&path, format!("x{}", "中".repeat(40_000))).unwrap();
        let (text, whole) = read_prefix(&path).unwrap();
        assert!(!whole && text.ends_with('中'));
        fs::write(&path, b"a\xffb").unwrap();
        assert_eq!(read_prefix(&path), Err(ConfigError::NotText));
        assert_eq!(read_prefix(folder.path()), Err(ConfigError::NotAFile));
    }
}
