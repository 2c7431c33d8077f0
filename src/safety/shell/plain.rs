//! Lines of which nothing is left to the shell, as they are given to it.

use std::path::PathBuf;

/// A line in the order in which it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainLine(pub Vec<PlainSegment>);

/// A simple command, or the text between two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainSegment {
    /// Operators, and what the shell does itself.
    Text(String),
    Command(PlainCommand),
}

/// A command whose words are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCommand {
    /// As it is in the line.
    pub text: String,
    pub name: String,
    pub args: Vec<String>,
    /// Those of them of which only the shell will know a part, as it is given them, in order.
    pub unknown: Vec<String>,
    /// For the shell, where the shell itself does it; `None`: a program is started.
    pub shown: Option<String>,
    /// Variables in front of it, for the shell.
    pub sets: String,
    /// Where its output goes, for the shell.
    pub redirects: String,
    /// The folders it may run in.
    pub folders: Vec<PathBuf>,
    /// Whether a pattern found some of its words.
    pub has_found_names: bool,
}

impl PlainLine {
    /// Whether it prints settings of git, whose addresses may hold a key.
    pub fn prints_settings(&self) -> bool {
        self.commands().any(PlainCommand::prints_settings)
    }

    /// Whether another of its commands may write them otherwise: the mask knows a key as it is.
    pub fn rewrites_settings(&self) -> bool {
        let is_harmless =
            |command: &PlainCommand| command.prints_settings() || command.keeps_lines_whole();
        self.prints_settings() && !self.commands().all(is_harmless)
    }

    fn commands(&self) -> impl Iterator<Item = &PlainCommand> {
        self.0.iter().filter_map(|part| match part {
            PlainSegment::Text(_) => None,
            PlainSegment::Command(command) => Some(command),
        })
    }

    /// Gives each of its programs so much time.
    pub fn limit(&mut self, time: &str) {
        for part in &mut self.0 {
            if let PlainSegment::Command(command) = part
                && command.shown.is_none()
            {
                let name = std::mem::replace(&mut command.name, "timeout".to_owned());
                command.args.insert(0, name);
                command.args.insert(0, time.to_owned());
            }
        }
    }
}

/// Programs that write lines as they read them, and the letters of those options with which they
/// still do.
const LINE_FILTERS: &[(&str, &str)] = &[
    ("cat", ""),
    ("head", "n0123456789"),
    ("tail", "n0123456789"),
    ("grep", "cEFiLlnvwx"),
    ("sort", "fnru"),
    ("uniq", ""),
    ("wc", "clmw"),
];

impl PlainCommand {
    fn prints_settings(&self) -> bool {
        let shows = |arg: &String| ["config", "remote", "var"].contains(&arg.as_str());
        // Alone it prints the names of other repositories, and no address.
        self.name.ends_with("git") && *self.args != ["remote"] && self.args.iter().any(shows)
    }

    fn keeps_lines_whole(&self) -> bool {
        let filter = LINE_FILTERS.iter().find(|(name, _)| *name == self.name);
        filter.is_some_and(|(_, letters)| {
            self.args.iter().all(|arg| {
                let option = arg.strip_prefix('-');
                option.is_none_or(|option| option.chars().all(|letter| letters.contains(letter)))
            })
        })
    }
}

/// Whether a text of a line ends with the end of a form.
pub fn ends_form(text: &str) -> bool {
    text.ends_with([')', '}']) || text.ends_with("fi") || text.ends_with("done")
}
