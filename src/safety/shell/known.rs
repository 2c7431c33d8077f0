//! A word of a command that is known, or of which it is known what the shell puts into it.

use super::unknown::UNKNOWN;
use avocet_core::text::quote_literal;

/// A word of a command that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownWord {
    /// As the command gets it; a variable of which nothing but its name is known stays.
    pub text: String,
    /// As the shell is given it, where that is not the text in quotes.
    pub shown: Option<String>,
}

impl KnownWord {
    pub fn literal(text: impl Into<String>) -> KnownWord {
        KnownWord { text: text.into(), shown: None }
    }

    /// A word that only the shell will know, as it is given it.
    pub fn shown(shown: String) -> KnownWord {
        KnownWord { text: UNKNOWN.to_owned(), shown: Some(shown) }
    }

    /// Whether the shell itself puts a part of it in, that it makes before.
    pub fn is_unknown(&self) -> bool {
        self.text.contains(UNKNOWN)
    }

    /// The same, and it is split there into as many words as it has.
    pub fn is_split(&self) -> bool {
        let count = |text| self.shown.as_ref().map_or(0, |shown| shown.matches(text).count());
        count("${avocet_") > count("\"${avocet_")
    }

    /// The variable that it is, where it is nothing else and is split.
    pub fn split_variable(&self) -> Option<&str> {
        let shown = self.shown.as_deref().filter(|_| self.is_split())?;
        let name = shown.strip_prefix("${avocet_")?.strip_suffix('}')?;
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(shown)
    }

    /// Keeps it one word, whatever the shell puts in.
    pub fn keep_whole(&mut self) {
        let Some(shown) = &mut self.shown else { return };
        let bare = shown.replace("\"${avocet_", "${avocet_");
        let mut parts = bare.split("${avocet_");
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for (name, rest) in parts.filter_map(|part| part.split_once('}')) {
            let rest = rest.strip_prefix('"').unwrap_or(rest);
            whole += &format!("\"${{avocet_{name}}}\"{rest}");
        }
        *shown = whole;
    }

    /// The variables in it, each in quotes, if none of them touches a letter: what it names is
    /// what they name. It was kept whole.
    pub fn bare_variables(&self) -> Option<Vec<String>> {
        const SIGNS: [&str; 5] = [":", "/", "^", "~", ".."];
        let mut parts = self.text.split(UNKNOWN).enumerate().peekable();
        while let Some((at, before)) = parts.next() {
            let Some((_, behind)) = parts.peek() else { break };
            // Two that touch are one name.
            let ends =
                at == 0 && before.is_empty() || SIGNS.iter().any(|sign| before.ends_with(sign));
            let begins = behind.is_empty() || SIGNS.iter().any(|sign| behind.starts_with(sign));
            if !ends || !begins {
                return None;
            }
        }
        Some(self.variables())
    }

    /// The variables in it, each in quotes. It was kept whole.
    pub fn variables(&self) -> Vec<String> {
        let shown = self.shown.iter().flat_map(|shown| shown.split("\"${avocet_").skip(1));
        let names = shown.filter_map(|part| part.split_once('}'));
        names.map(|(name, _)| format!("\"${{avocet_{name}}}\"")).collect()
    }

    /// Keeps it a number, which is all that an arithmetic comparison may be given: anything else
    /// would be evaluated. Whether it can be one.
    pub fn keep_number(&mut self) -> bool {
        if let Some(shown) = self.shown.as_mut().filter(|_| self.text == UNKNOWN) {
            *shown = format!("\"$(avocet_digits {shown} -)\"");
        }
        !self.text.is_empty() && self.text.bytes().all(|b| b.is_ascii_digit())
    }

    /// The names of the variables of the line in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let shown = self.shown.iter().flat_map(|shown| shown.split("${avocet_").skip(1));
        shown.filter_map(|part| part.split(['}', '%', '#', ':']).next())
    }

    /// For the shell, which has nothing to expand in it.
    pub fn quoted(&self) -> String {
        self.shown.clone().unwrap_or_else(|| quote_literal(&self.text))
    }
}
