//! The variables that a line itself gives a value, as far as the value is known.

use super::super::wrappers;
use super::ast::{Script, ShellWord, VariableUse};
use super::known::KnownWord;
use super::word::identifiers;

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
    /// Those that are set more than once, and left to the shell.
    counted: Vec<String>,
    /// Its arrays, with all of their words.
    pub arrays: Vec<(String, Vec<KnownWord>)>,
    /// The words that a function was called with.
    pub arguments: Option<Vec<KnownWord>>,
}

impl ShellVariables {
    /// Those of a line that leaves to the shell what it sets more than once.
    pub fn counting(script: &Script) -> ShellVariables {
        let sets = script.commands.iter().filter(|simple| simple.words.is_empty());
        let set = sets.flat_map(|simple| simple.sets.iter().map(|set| set.name.as_str()));
        let summed = script.sums.iter().flat_map(|sum| identifiers(&sum.text));
        let all: Vec<&str> = set.chain(summed).collect();
        let is_counted = |name: &&&str| all.iter().filter(|other| *other == *name).count() > 1;
        let counted = all.iter().filter(is_counted).map(|name| (*name).to_owned()).collect();
        ShellVariables { counted, ..ShellVariables::default() }
    }

    /// Whether the shell keeps this one.
    pub fn is_kept(&self, name: &str) -> bool {
        self.is_made(name) || self.counted.iter().any(|other| other == name)
    }

    /// What was set since then is not known any more.
    pub fn forget_changes(&mut self, variables: &ShellVariables) {
        let is_changed = |one: &&mut (String, Option<String>)| !variables.known.contains(one);
        self.known.iter_mut().filter(is_changed).for_each(|(_, value)| *value = None);
    }

    /// `None`: from here on the value is not known.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        self.known.retain(|(other, _)| other != name);
        self.known.push((name.to_owned(), value));
    }

    /// The name under which the shell sets this one; `None`: it was known before.
    pub fn make(&mut self, name: &str) -> Option<String> {
        let is_known = self.known.iter().any(|(other, _)| other == name) || self.is_array(name);
        let is_new = is_free_name(name) && !is_known;
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

    /// What it is set to: in all places a list, or it is none. `None`: it was one for a command
    /// that comes after this in the next round of a loop.
    pub fn mark_listed(&mut self, name: &str, is_listing: bool, is_repeated: bool) -> Option<()> {
        if is_repeated && !is_listing && self.is_listed(name) {
            return None;
        }
        let is_first = !self.is_made(name);
        self.listed.retain(|other| other != name || is_listing);
        if is_listing && is_first {
            self.listed.push(name.to_owned());
        }
        Some(())
    }

    /// Whether a word may have the content of a file in it: one of a variable, or of one of the
    /// substitutions in `told`.
    pub fn are_told_in(&self, word: &KnownWord, told: &[String]) -> bool {
        word.names().any(|name| {
            told.iter().any(|own| own == name) || self.is_made(name) && !self.is_listed(name)
        })
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
        self.is_made(name)
            || self.is_array(name)
            || self.known.iter().any(|(other, _)| other == name)
    }

    pub fn is_array(&self, name: &str) -> bool {
        self.arrays.iter().any(|(other, _)| other == name)
    }

    /// The words of `$@` or of an array.
    pub fn all_of(&self, written: &str) -> Option<&Vec<KnownWord>> {
        if written == "$@" {
            return self.arguments.as_ref();
        }
        let name = written.strip_prefix("${")?.strip_suffix("[@]}")?;
        self.arrays.iter().find(|(other, _)| other == name).map(|(_, words)| words)
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
