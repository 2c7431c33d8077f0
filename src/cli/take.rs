//! The saved conversation that a command line resumes.

use super::args::{Cli, Sub, WrongUse};

/// Which saved conversation to resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    /// The last one of the folder.
    Last,
    Id(String),
    /// The user chooses one.
    Choose,
}

impl Cli {
    /// The saved conversation to resume, if any.
    pub fn take(&self) -> Result<Option<Take>, WrongUse> {
        let named = match &self.command {
            Some(Sub::Resume { id: Some(id) }) => Some(Take::Id(id.clone())),
            Some(Sub::Resume { id: None }) => Some(Take::Choose),
            _ => None,
        };
        let last = self.go_on.then_some(Take::Last);
        let alone = self.command.is_none() || matches!(self.command, Some(Sub::Chat { .. }));
        match (named, last) {
            (Some(_), Some(_)) => Err(WrongUse::TwoSessions),
            (None, Some(_)) if !alone => Err(WrongUse::OnlyChat { option: "--continue" }),
            (None, None) => Ok(None),
            _ if self.run.no_save => Err(WrongUse::TwoSessions),
            (named, last) => Ok(named.or(last)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Ends, Way};

    fn parse(line: &[&str]) -> Cli {
        Cli::parse_from_args(std::iter::once("avocet").chain(line.iter().copied())).unwrap()
    }

    #[test]
    fn a_saved_conversation_is_named_once() {
        let take = |line: &[&str]| parse(line).take();
        let id = |id: &str| Ok(Some(Take::Id(id.into())));
        assert_eq!(take(&[]), Ok(None));
        assert_eq!(take(&["-c"]), Ok(Some(Take::Last)));
        assert_eq!(take(&["-c", "-p", "go on"]), Ok(Some(Take::Last)));
        assert_eq!(take(&["resume"]), Ok(Some(Take::Choose)));
        assert_eq!(take(&["resume", "k7"]), id("k7"));
        assert_eq!(take(&["-c", "resume", "k7"]), Err(WrongUse::TwoSessions));
        assert_eq!(take(&["-c", "--no-save"]), Err(WrongUse::TwoSessions));
        assert_eq!(take(&["-c", "doctor"]), Err(WrongUse::OnlyChat { option: "--continue" }));
        let terminal = Ends { stdin: true, stdout: true };
        let print = Way::Print { prompt: Some("go on".into()), bot: None, piped: false };
        assert_eq!(parse(&["-p", "go on", "resume", "k7"]).way(terminal), Ok(print));
    }
}
