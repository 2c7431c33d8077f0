//! What a file says of a hook.

use std::path::PathBuf;
use std::time::Duration;

use avocet_core::text::{cut_end, one_line, visible};
use regex::{Regex, RegexBuilder};

use super::event::HookEvent;

/// The most bytes of a compiled matcher.
const MAX_PATTERN: usize = 64 * 1024;

/// The program whose format a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookProgram {
    Avocet,
    Claude,
    Codex,
    Crush,
    /// Few of its events have the same names.
    Gemini,
}

/// The file that defines a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOrigin {
    pub program: HookProgram,
    pub file: PathBuf,
    /// True if the file belongs to the workspace: its hooks are asked about before they run.
    pub is_from_repository: bool,
}

/// A command, and when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    pub event: HookEvent,
    /// A name, several with `|` between them, or a pattern; empty or `*`: all.
    pub matcher: String,
    /// A line for a shell.
    pub command: String,
    pub timeout: Duration,
    /// Nothing waits for it, and what it answers counts for nothing.
    pub is_async: bool,
    pub origin: HookOrigin,
}

/// The hooks of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFile {
    pub origin: HookOrigin,
    pub hooks: Vec<Hook>,
    /// Identifies what would run: all its hooks, and the files of the workspace that they name.
    /// With another hash the user is asked again.
    pub hash: String,
}

/// The most of a command that is shown in a line, in bytes.
const MAX_LABEL: usize = 400;

impl Hook {
    /// Its command as a line that is shown.
    pub fn label(&self) -> String {
        cut_end(&one_line(&visible(&self.command)), MAX_LABEL)
    }

    /// Whether it follows an event about one of these names.
    pub fn matches(&self, subjects: &[String]) -> bool {
        let matcher = self.matcher.trim();
        if matcher.is_empty() || matcher == "*" || !self.event.has_matcher() {
            return true;
        }
        if let Some(names) = plain_names(matcher) {
            return names.into_iter().any(|name| subjects.iter().any(|subject| subject == name));
        }
        // It was compiled before, when the file was read.
        pattern(matcher)
            .is_some_and(|pattern| subjects.iter().any(|subject| pattern.is_match(subject)))
    }
}

/// A matcher as a pattern. A large one is none: one of a repository may be made to take long.
pub(crate) fn pattern(matcher: &str) -> Option<Regex> {
    RegexBuilder::new(matcher).size_limit(MAX_PATTERN).build().ok()
}

/// The names that a matcher lists; `None`: it is a pattern.
pub(crate) fn plain_names(matcher: &str) -> Option<Vec<&str>> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '|' | ',' | ' ');
    let names = matcher.split(['|', ',']).map(str::trim).collect();
    matcher.chars().all(is_plain).then_some(names)
}
