//! The saved conversation that a command line resumes.

use super::args::{Cli, Sub, UsageError};

/// Which saved conversation to resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeChoice {
    /// The last one of the folder.
    Last,
    Id(String),
    /// The user chooses one.
    Choose,
}

impl Cli {
    /// The saved conversation to resume, if any.
    pub fn resume_choice(&self) -> Result<Option<ResumeChoice>, UsageError> {
        let named = match &self.command {
            Some(Sub::Resume { id: Some(id), .. }) => Some(ResumeChoice::Id(id.clone())),
            Some(Sub::Resume { id: None, .. }) => Some(ResumeChoice::Choose),
            _ => None,
        };
        let last = self.go_on.then_some(ResumeChoice::Last);
        let alone = self.command.is_none() || matches!(self.command, Some(Sub::Chat { .. }));
        match (named, last) {
            (Some(_), Some(_)) => Err(UsageError::TwoSessions),
            (None, Some(_)) if !alone => Err(UsageError::OnlyChat { option: "--continue" }),
            (None, None) => Ok(None),
            _ if self.run.no_save => Err(UsageError::TwoSessions),
            (named, last) => Ok(named.or(last)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::run_mode::{RunMode, Terminals};

    fn parse(line: &[&str]) -> Cli {
        Cli::parse_from_args(std::iter::once("avocet").chain(line.iter().copied())).unwrap()
    }

    #[test]
    fn a_saved_conversation_is_named_once() {
        let take = |line: &[&str]| parse(line).resume_choice();
        let id = |id: &str| Ok(Some(ResumeChoice::Id(id.into())));
        assert_eq!(take(&[]), Ok(None));
        assert_eq!(take(&["-c"]), Ok(Some(ResumeChoice::Last)));
        assert_eq!(take(&["-c", "-p", "go on"]), Ok(Some(ResumeChoice::Last)));
        assert_eq!(take(&["resume"]), Ok(Some(ResumeChoice::Choose)));
        assert_eq!(take(&["resume", "k7"]), id("k7"));
        assert_eq!(take(&["-c", "resume", "k7"]), Err(UsageError::TwoSessions));
        assert_eq!(take(&["-c", "--no-save"]), Err(UsageError::TwoSessions));
        assert_eq!(take(&["-c", "doctor"]), Err(UsageError::OnlyChat { option: "--continue" }));
        let terminal = Terminals { stdin: true, stdout: true };
        let screen = RunMode::Screen { prompt: Some("go on".into()), bot: None };
        assert_eq!(parse(&["resume", "k7", "go on"]).run_mode(terminal), Ok(screen));
        let twice = parse(&["-p", "one", "resume", "k7", "two"]).run_mode(terminal);
        assert_eq!(twice, Err(UsageError::TwoPrompts));
        let print = RunMode::Print { prompt: Some("go on".into()), bot: None, piped: false };
        assert_eq!(parse(&["-p", "go on", "resume", "k7"]).run_mode(terminal), Ok(print));
    }
}
