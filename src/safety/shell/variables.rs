//! The variables that a line itself gives a value, as far as the value is known.

use super::super::wrappers;
use super::ast::{ShellWord, VariableUse};

/// Those of a line. What is known of them is filled in before the shell sees the line, and never
/// set there.
#[derive(Clone, Debug, Default)]
pub struct ShellVariables {
    known: Vec<(String, Option<String>)>,
    /// Those that the shell is given to set, under another name: what a command prints, or a line
    /// that is read.
    made: Vec<String>,
    /// Those among them that are one word.
    single: Vec<String>,
    /// Those that hold names of files, revisions or numbers that a command listed.
    listed: Vec<String>,
}

impl ShellVariables {
    /// `None`: from here on the value is not known.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        self.known.retain(|(other, _)| other != name);
        self.known.push((name.to_owned(), value));
    }

    /// The name under which the shell sets this one; `None`: it was known before.
    pub fn make(&mut self, name: &str) -> Option<String> {
        let is_new = is_free_name(name) && !self.known.iter().any(|(other, _)| other == name);
        if is_new && !self.is_made(name) {
            self.made.push(name.to_owned());
        }
        is_new.then(|| made_name(name))
    }

    /// The same for one that is set to one word after the other.
    pub fn make_single(&mut self, name: &str) -> Option<String> {
        self.single.push(name.to_owned());
        self.make(name)
    }

    /// What it is set to: in all places a list, or it is none.
    pub fn mark_listed(&mut self, name: &str, is_listing: bool) {
        let is_first = !self.is_made(name);
        self.listed.retain(|other| other != name || is_listing);
        if is_listing && is_first {
            self.listed.push(name.to_owned());
        }
    }

    pub fn is_listed(&self, name: &str) -> bool {
        self.listed.iter().any(|other| other == name)
    }

    pub fn is_single(&self, name: &str) -> bool {
        self.single.iter().any(|other| other == name)
    }

    pub fn is_made(&self, name: &str) -> bool {
        self.made.iter().any(|other| other == name)
    }

    /// Whether a word is made of a variable of the line.
    pub fn are_in(&self, word: &ShellWord) -> bool {
        let name =
            |written: &str| written.trim_start_matches('$').trim_matches(['{', '}']).to_owned();
        word.variables.iter().any(|variable| self.has(&name(&variable.written)))
    }

    /// Whether the line sets this one at all.
    pub fn has(&self, name: &str) -> bool {
        self.is_made(name) || self.known.iter().any(|(other, _)| other == name)
    }

    /// The value that a use becomes; `None`: it is not known, or the shell makes more of it.
    pub fn value_of(&self, name: &str, variable: &VariableUse) -> Option<String> {
        let (_, value) = self.known.iter().find(|(other, _)| other == name)?;
        let value = value.as_ref()?;
        let stays_whole = variable.is_quoted || is_one_word(value);
        stays_whole.then(|| value.clone())
    }
}

/// The name of a variable that the shell sets: no program knows it, and it never leaves the shell.
pub fn made_name(name: &str) -> String {
    format!("avocet_{name}")
}

/// Whether nothing splits or expands a value without quotes.
pub fn is_one_word(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@,:=%".contains(c);
    !value.is_empty() && value.chars().all(plain)
}

/// Whether a variable means nothing to the shell or to the programs that it starts.
pub fn is_free_name(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(letters)
        && !wrappers::starts_programs(name)
        && !wrappers::is_harmless_variable(name, "")
        && !TAKEN.iter().any(|start| name.starts_with(start))
}

/// Beginnings of the names that shells and programs have a use for.
#[rustfmt::skip]
const TAKEN: &[&str] = &[
    "BASH", "COMP", "COPROC", "DIRSTACK", "EPOCH", "EUID", "EXECIGNORE", "FIGNORE", "FUNC", "GLOB", "GREP", "GROUPS",
    "HIST", "HOST", "LINENO", "LOGNAME", "LS_", "MACHTYPE", "MAIL", "MAPFILE", "OLDPWD", "OPT", "OSTYPE", "PIPESTATUS",
    "POSIX", "PPID", "PROMPT", "PS", "PWD", "RANDOM", "READLINE", "REPLY", "SECONDS", "SRANDOM", "TIMEFORMAT", "TMOUT",
    "TMP", "TEMP", "TZ", "UID", "USER", "XDG_", "auto_resume", "histchars", "http", "https", "HTTP", "ALL_PROXY",
    "all_proxy", "no_proxy", "NO_PROXY",
];
