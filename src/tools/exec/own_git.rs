//! Runs git for Avocet itself, in a repository that may be hostile: no hook, filter or other program
//! that its settings name is started, nothing is fetched, and the user's own settings are not read.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::environment::Variables;
use super::own_program::{CollectedOutput, CollectedRun};
use super::{git, helper};
use avocet_core::deadline::with_timeout;
use avocet_core::text::{cut, one_line};

/// How long one command may take: it may write all files of a large repository.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Characters of a message that are shown.
const SHOWN: usize = 300;

#[rustfmt::skip]
const VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "C"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"), ("GIT_ASKPASS", ""), ("SSH_ASKPASS", ""),
];

/// Runs git in a folder and returns what it prints.
///
/// # Errors
/// What git says, in one line.
pub async fn run_git(folder: &Path, args: &[&str]) -> Result<String, String> {
    run_git_into(folder, args, None).await
}

/// The same, with its output in a file if there is one: git says if that is full, which it does not of
/// a file that it opens itself.
///
/// # Errors
/// What git says, in one line.
pub async fn run_git_into(
    folder: &Path,
    args: &[&str],
    target: Option<&File>,
) -> Result<String, String> {
    // The files may belong to another user in a container; that is harmless here.
    let args: Vec<String> =
        ["-c", "safe.directory=*"].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    match with_timeout(TIMEOUT, run(folder, &args, target)).await {
        Ok(Ok(done)) if done.status.success() => Ok(done.output),
        Ok(Ok(done)) => {
            let message = done.messages.trim().rsplit("fatal: ").next().unwrap_or_default();
            Err(cut(&one_line(message), SHOWN))
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).to_string()),
    }
}

async fn run(folder: &Path, args: &[String], target: Option<&File>) -> io::Result<CollectedOutput> {
    let program = helper::find_program("git").ok_or(io::ErrorKind::NotFound)?;
    let mut variables: Variables =
        VARIABLES.iter().map(|(name, value)| (name.into(), value.into())).collect();
    variables.insert("PATH".into(), helper::search_path());
    git::harden(&mut variables, folder, args);
    let run = CollectedRun { path: &program, args: &git::args(args), folder, input: b"", target };
    run.output(variables).await
}
