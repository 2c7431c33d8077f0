//! What starting a step needs beyond its own words: what the judgement found out on the
//! way, so that the code that starts it need not guess from strings.
//!
//! Sealed with the step. What is added to a step is added only where it runs by itself;
//! what the user approved starts exactly as they saw it.

use std::path::PathBuf;

use super::{Needs, Program};
use avocet_core::protocol::SandboxDenial;

/// In place of what only the shell will know. No line that has it is read.
pub const UNKNOWN: &str = "7777100007";

/// Facts for the start of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Programs the step is known to start besides its own: the one inside a wrapper, and
    /// those its row names.
    pub starts: Vec<Program>,
    /// Folders or files of helpers that the row of a program names: git's own programs,
    /// an interpreter.
    pub helpers: Vec<PathBuf>,
    /// Arguments added at the start, each in front of the argument of the step that has
    /// this index, in this order.
    pub inserted: Vec<(usize, String)>,
    /// Where the arguments of the git that runs begin among the step's.
    pub git: Option<usize>,
    /// Whether it runs in an empty folder of its own.
    pub empty_folder: bool,
    /// It prints differences in the usual form, from which those of credential files are left out.
    pub filters_diffs: bool,
    /// Folders it may read as it may the workspace.
    pub readable: Vec<PathBuf>,
    /// Folders whose names it lists, and no file of them.
    pub lists: Vec<PathBuf>,
    /// Files and folders it reads that would stay closed: the user is asked about them by
    /// name.
    pub reads: Vec<PathBuf>,
    /// Folders it may write to as it may to the workspace.
    pub writes: Vec<PathBuf>,
    /// Places outside that the question names as written: for the user who answered it.
    pub named: Vec<NamedWrite>,
    /// What the sandbox opens to it beyond the workspace.
    pub needs: Needs,
    /// What the user opened to this command for the session, after the sandbox had denied it.
    pub opened: SandboxDenial,
    /// What a shell is given in place of the step's own line.
    pub script: Option<ShellScript>,
}

/// A place that a question names as written, with links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWrite {
    pub path: PathBuf,
    pub opening: WriteOpening,
}

/// How such a place is opened. A missing path cannot be opened by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOpening {
    /// If it is there.
    Existing,
    /// Made as an empty file where it is missing.
    File,
    /// Made as an empty folder where it is missing.
    Folder,
    /// With the folder around it where it is missing: the program makes exactly what its arguments
    /// name, and runs nothing else.
    New,
    /// With the folder around it: such a program moves or removes it.
    Entry,
    /// The same, and it is read there: such a program writes another file and moves it there.
    Replaced,
}

/// A line that runs without a question, as its shell is given it: every word is one that was
/// judged, in quotes, so that nothing is left to the shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellScript(pub Vec<ShellScriptPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellScriptPart {
    /// For the shell as it is.
    Text(String),
    Command(Box<ShellScriptCommand>),
}

/// A program of a line, as it was judged by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellScriptCommand {
    /// Where it is, or its name if it is nowhere.
    pub program: String,
    pub args: Vec<String>,
    /// Those that have [`UNKNOWN`](crate::UNKNOWN) in them, as the shell is given them, in order.
    pub unknown: Vec<String>,
    pub cwd: PathBuf,
    /// What it needs beyond its own words.
    pub launch: Launch,
    /// Variables in front of it, and where its output goes, for the shell.
    pub sets: String,
    pub redirects: String,
    /// Whether it reads what a pattern or a search finds, and not only what it was given by name.
    pub searches: bool,
}

impl ShellScript {
    pub fn commands(&self) -> impl Iterator<Item = &ShellScriptCommand> {
        self.0.iter().filter_map(|part| match part {
            ShellScriptPart::Text(_) => None,
            ShellScriptPart::Command(command) => Some(command.as_ref()),
        })
    }
}

impl Launch {
    /// The arguments of a step with the insertions.
    pub fn arguments(&self, args: &[String]) -> Vec<String> {
        let mut out = Vec::with_capacity(args.len() + self.inserted.len());
        let mut added: Vec<&(usize, String)> = self.inserted.iter().collect();
        added.sort_by_key(|(index, _)| *index);
        let mut added = added.into_iter().peekable();
        for (at, arg) in args.iter().enumerate() {
            while let Some((_, inserted)) = added.next_if(|(index, _)| *index <= at) {
                out.push(inserted.clone());
            }
            out.push(arg.clone());
        }
        // Any index beyond the last argument means after the last argument.
        out.extend(added.map(|(_, arg)| arg.clone()));
        out
    }

    /// The index of the step's argument `at` once everything is inserted.
    pub fn index_after_insertion(&self, at: usize) -> usize {
        at + self.inserted.iter().filter(|(index, _)| *index <= at).count()
    }

    /// Without the arguments only a step that runs by itself gets.
    pub(super) fn for_approved(self) -> Launch {
        Launch { inserted: Vec::new(), empty_folder: false, filters_diffs: false, ..self }
    }

    /// Every fact as phrases, for the seal.
    pub(super) fn fingerprint_words(&self) -> Vec<String> {
        let paths = self.starts.iter().map(|program| &program.path).chain(&self.helpers);
        let paths = paths.chain(&self.readable).chain(&self.lists);
        let paths = paths.chain(&self.reads).chain(&self.writes);
        let mut words: Vec<String> =
            paths.map(|path| path.to_string_lossy().into_owned()).collect();
        words.extend(self.inserted.iter().flat_map(|(at, arg)| [at.to_string(), arg.clone()]));
        words.push(format!(
            "{} {} {} {} {} {} {} {:?} {}",
            self.starts.len(),
            self.helpers.len(),
            self.readable.len(),
            self.lists.len(),
            self.reads.len(),
            self.writes.len(),
            self.inserted.len(),
            self.git,
            self.empty_folder
        ));
        words.push(format!(
            "{:?} {} {:?} {:?}",
            self.opened, self.filters_diffs, self.script, self.named
        ));
        words.extend(self.needs.fingerprint_words());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn arguments_are_inserted_where_the_assessment_puts_them() {
        let inserted = vec![(1, "-x".to_owned()), (0, "-a".to_owned()), (1, "-y".to_owned())];
        let launch = Launch { inserted, ..Launch::default() };
        assert_eq!(launch.arguments(&words(&["p", "q"])), ["-a", "p", "-x", "-y", "q"]);
        assert_eq!((launch.index_after_insertion(0), launch.index_after_insertion(1)), (1, 4));
        let behind = Launch { inserted: vec![(2, "z".to_owned())], ..Launch::default() };
        assert_eq!(behind.arguments(&words(&["p", "q"])), ["p", "q", "z"]);
        assert_eq!(behind.arguments(&[]), ["z"]);
    }
}
