//! Runs git for Avocet itself, in a repository that may be hostile: no hook, filter or other program
//! that its settings name is started, nothing is fetched, and the user's own settings are not read.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, KillOnDrop, ProcessSession, ResetSigmask};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::environment::Variables;
use super::group_guard::GroupGuard;
use super::{git, helper, process_group};
use avocet_core::deadline::with_timeout;
use avocet_core::text::{cut, one_line};

/// How long one command may take: it may write all files of a large repository.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Bytes of its output and of its messages that are read.
const OUTPUT: u64 = 4 * 1024 * 1024;
const MESSAGES: u64 = 4 * 1024;
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
    // The files may belong to another user in a container; that is harmless here.
    let args: Vec<String> =
        ["-c", "safe.directory=*"].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    match with_timeout(TIMEOUT, run(folder, &args)).await {
        Ok(Ok((true, output, _))) => Ok(output),
        Ok(Ok((false, _, messages))) => {
            let message = messages.trim().rsplit("fatal: ").next().unwrap_or_default();
            Err(cut(&one_line(message), SHOWN))
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).to_string()),
    }
}

async fn run(folder: &Path, args: &[String]) -> io::Result<(bool, String, String)> {
    let program = helper::find_program("git").ok_or(io::ErrorKind::NotFound)?;
    let mut variables: Variables =
        VARIABLES.iter().map(|(name, value)| (name.into(), value.into())).collect();
    variables.insert("PATH".into(), helper::search_path());
    git::harden(&mut variables, folder, args);
    let mut command = CommandWrap::with_new(program, |command| {
        command
            .args(git::args(args))
            .env_clear()
            .envs(variables)
            .env(process_group::MARK, process_group::NO_STEP)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    command.wrap(ProcessSession).wrap(ResetSigmask).wrap(KillOnDrop);
    let mut child = command.spawn()?.into_inner();
    let guard = GroupGuard::new(child.id());
    let stdout = child.stdout().take();
    let stderr = child.stderr().take();
    let (output, messages) = tokio::join!(read(stdout, OUTPUT), read(stderr, MESSAGES));
    let status = child.wait().await?;
    guard.release();
    Ok((status.success(), output?, messages?))
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(most).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
