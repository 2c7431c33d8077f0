//! Reads git's settings format, as strictly as git does. Pure: bytes in, entries out.
//!
//! A text that git would refuse is `None` here, so that one both might read differently
//! raises the step instead of passing it.

use std::iter::Peekable;
use std::str::Chars;

/// One line of settings: `section.subsection.name = value`. Section and name are in
/// lower case, as git compares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSetting {
    pub section: String,
    pub subsection: Option<String>,
    pub name: String,
    /// `true` where there is only a name.
    pub value: String,
}

impl GitSetting {
    /// A key as the user writes it, and its value; `None` for what is not a key.
    pub fn from_key_value(key: &str, value: &str) -> Option<GitSetting> {
        let (section, rest) = key.split_once('.')?;
        let (subsection, name) = match rest.rsplit_once('.') {
            Some((subsection, name)) => (Some(subsection.to_owned()), name),
            None => (None, rest),
        };
        let section = section.to_ascii_lowercase();
        let name = name.to_ascii_lowercase();

        Some(GitSetting { section, subsection, name, value: value.to_owned() })
    }

    /// `KEY=VALUE`, as `-c` takes it.
    pub fn parse_pair(pair: &str) -> Option<GitSetting> {
        let (key, value) = pair.split_once('=').unwrap_or((pair, "true"));
        GitSetting::from_key_value(key, value)
    }

    /// The key as the user writes it.
    pub fn key(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.name),
            None => format!("{}.{}", self.section, self.name),
        }
    }
}

/// Every entry, in order; `None` for what git would not read either.
pub fn parse(bytes: &[u8]) -> Option<Vec<GitSetting>> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    if text.contains('\0') {
        return None;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut parser = GitConfigParser { chars: text.chars().peekable() };
    let mut section = None;
    let mut out = Vec::new();
    while let Some(c) = parser.chars.next() {
        match c {
            '#' | ';' => parser.skip_line(),
            '[' => section = Some(parser.section()?),
            c if c.is_ascii_whitespace() => {}
            c if c.is_ascii_alphabetic() => {
                let (section, subsection) = section.clone()?;
                let (name, value) = parser.entry(c)?;
                out.push(GitSetting { section, subsection, name, value });
            }
            _ => return None,
        }
    }
    Some(out)
}

struct GitConfigParser<'a> {
    chars: Peekable<Chars<'a>>,
}

impl GitConfigParser<'_> {
    fn skip_line(&mut self) {
        while self.chars.next().is_some_and(|c| c != '\n') {}
    }

    /// The text after `[`: `name]`, `name.sub]` or `name "sub"]`.
    fn section(&mut self) -> Option<(String, Option<String>)> {
        let mut name = String::new();
        loop {
            match self.chars.next()? {
                ']' => break,
                c if c.is_ascii_alphanumeric() || c == '-' || c == '.' => {
                    name.push(c.to_ascii_lowercase());
                }
                ' ' | '\t' => return Some((name, Some(self.subsection()?))),
                _ => return None,
            }
        }
        Some(match name.split_once('.') {
            Some((section, old)) => (section.to_owned(), Some(old.to_owned())),
            None => (name, None),
        })
    }

    /// A quoted subsection, and the bracket after it.
    fn subsection(&mut self) -> Option<String> {
        self.skip_blanks();
        if self.chars.next()? != '"' {
            return None;
        }
        let mut out = String::new();
        loop {
            match self.chars.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => out.push(self.chars.next().filter(|c| *c != '\n')?),
                c => out.push(c),
            }
        }
        (self.chars.next()? == ']').then_some(out)
    }

    fn skip_blanks(&mut self) {
        while self.chars.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
    }

    fn entry(&mut self, first: char) -> Option<(String, String)> {
        let mut name = first.to_ascii_lowercase().to_string();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
            name.push(c.to_ascii_lowercase());
        }
        self.skip_blanks();
        match self.chars.next() {
            None | Some('\n') => Some((name, "true".to_owned())),
            Some('=') => Some((name, self.value()?)),
            Some(_) => None,
        }
    }

    /// Up to the end of the line: quotes hold blanks and comments, a backslash
    /// continues.
    fn value(&mut self) -> Option<String> {
        let mut out = String::new();
        let mut kept = 0;
        let mut quoted = false;

        loop {
            let c = self.chars.next();
            match c {
                None | Some('\n') if quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some('"') => quoted = !quoted,
                Some('\\') => match self.chars.next()? {
                    '\n' => continue,
                    't' => out.push('\t'),
                    'n' => out.push('\n'),
                    'b' => out.push('\u{8}'),
                    c @ ('\\' | '"') => out.push(c),
                    _ => return None,
                },
                Some(c) if c.is_ascii_whitespace() && !quoted => {
                    if !out.is_empty() {
                        out.push(c);
                    }
                    continue;
                }
                Some(c) => out.push(c),
            }
            kept = out.len();
        }
        out.truncate(kept);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<String>> {
        let entries = parse(text.as_bytes())?;
        Some(entries.iter().map(|e| format!("{}={}", e.key(), e.value)).collect())
    }

    #[test]
    fn entries_are_found_however_they_are_written() {
        let text = "\u{feff}# c\n[Core] FsMonitor = ./x ; why\n\tbare\r\n[diff \"a \\\"b\"]command=\"q # q\" \n\
                    [filter.old]\nclean = a\\\n b\n";
        assert_eq!(
            read(text).unwrap(),
            [
                "core.fsmonitor=./x",
                "core.bare=true",
                "diff.a \"b.command=q # q",
                "filter.old.clean=a b"
            ]
        );
        assert_eq!(read("[a]\nb").unwrap(), ["a.b=true"]);
        assert_eq!(read("").unwrap(), [""; 0]);
    }

    #[test]
    fn settings_git_would_refuse_are_not_guessed_at() {
        for text in [
            "a = b",
            "[a",
            "[a]\nb c",
            "[a \"x]\nb = 1",
            "[a]\nb = \"x",
            "[a]\nb = \\q",
            "[a]\n?",
            "\0",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }
    }
}
