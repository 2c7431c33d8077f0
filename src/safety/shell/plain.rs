//! Lines of which nothing is left to the shell, as they are given to it.

use std::path::PathBuf;

/// A line in the order in which it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainLine(pub Vec<PlainPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainPart {
    /// Operators, and what the shell does itself: text for the shell.
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
    /// Whether it prints settings of git, whose addresses may hold a key: the mask knows them as
    /// they are, not as another program writes them.
    pub fn prints_settings(&self) -> bool {
        self.0.iter().any(|part| match part {
            PlainPart::Text(_) => false,
            PlainPart::Command(command) => {
                let args = &command.args;
                let shows = |arg: &String| ["config", "remote", "var"].contains(&arg.as_str());
                // Alone it prints the names of other repositories, and no address.
                command.name.ends_with("git") && *args != ["remote"] && args.iter().any(shows)
            }
        })
    }

    /// Gives each of its programs so much time.
    pub fn limit(&mut self, time: &str) {
        for part in &mut self.0 {
            if let PlainPart::Command(command) = part
                && command.shown.is_none()
            {
                let name = std::mem::replace(&mut command.name, "timeout".to_owned());
                command.args.insert(0, name);
                command.args.insert(0, time.to_owned());
            }
        }
    }
}

/// Whether a text of a line ends with the end of a form.
pub fn ends_form(text: &str) -> bool {
    text.ends_with([')', '}']) || text.ends_with("fi") || text.ends_with("done")
}
