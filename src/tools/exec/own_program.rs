//! Runs programs for Avocet itself and returns what they print: git, and those of the user that a
//! command of Avocet needs, such as `gh` and `sbatch`. Nothing of them comes from a model.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use process_wrap::tokio::{CommandWrap, KillOnDrop, ProcessSession, ResetSigmask};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use super::group_guard::GroupGuard;
use super::key_command::{KeyCommand, find};
use super::process_group;
use avocet_core::deadline::with_timeout;
use avocet_core::i18n::{LocalizedText, exec as phrases};
use avocet_core::text::{cut, one_line};

/// Bytes of its output and of its messages that are read.
const OUTPUT: u64 = 4 * 1024 * 1024;
const MESSAGES: u64 = 4 * 1024;
/// Characters of a message that are shown.
const SHOWN: usize = 300;

pub(super) struct CollectedRun<'a> {
    pub path: &'a Path,
    pub args: &'a [OsString],
    pub folder: &'a Path,
    pub input: &'a [u8],
    /// Where its output goes instead of into the result.
    pub target: Option<&'a File>,
}

/// How it ended, and the beginnings of what it wrote.
#[derive(Debug)]
pub struct CollectedOutput {
    pub status: ExitStatus,
    pub output: String,
    pub messages: String,
}

impl CollectedRun<'_> {
    pub(super) async fn output(
        &self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<CollectedOutput> {
        let target = self.target.map(File::try_clone).transpose()?;
        let mut command = CommandWrap::with_new(self.path, |command| {
            command
                .args(self.args)
                .env_clear()
                .envs(variables)
                .env(process_group::MARK, process_group::NO_STEP)
                .current_dir(self.folder)
                .stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() })
                .stdout(target.map_or_else(Stdio::piped, Stdio::from))
                .stderr(Stdio::piped());
        });
        command.wrap(ProcessSession).wrap(ResetSigmask).wrap(KillOnDrop);
        let mut child = command.spawn()?.into_inner();
        let guard = GroupGuard::new(child.id());
        let stdin = child.stdin().take();
        let stdout = child.stdout().take();
        let stderr = child.stderr().take();
        // A program need not read what it is given.
        let write = async {
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(self.input).await;
            }
        };
        let ((), output, messages) =
            tokio::join!(write, read(stdout, OUTPUT), read(stderr, MESSAGES));
        let status = child.wait().await?;
        guard.release();
        Ok(CollectedOutput { status, output: output?, messages: messages? })
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(most).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs a program of the user in a folder.
///
/// # Errors
/// It is not there, or takes too long.
pub async fn run_user_program(
    command: &KeyCommand,
    folder: &Path,
    input: &[u8],
) -> Result<CollectedOutput, LocalizedText> {
    let named = |phrase: avocet_core::i18n::Phrase| phrase.with("program", &*command.program);
    let path = find(command).ok_or_else(|| named(phrases::USER_PROGRAM_MISSING))?;
    let args: Vec<OsString> = command.args.iter().map(OsString::from).collect();
    let run = CollectedRun { path: &path, args: &args, folder, input, target: None };
    match with_timeout(command.patience, run.output(command.variables.iter().cloned())).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(named(phrases::USER_PROGRAM_FAILED).with("why", error.to_string())),
        Err(_) => {
            Err(named(phrases::USER_PROGRAM_SLOW).with("seconds", command.patience.as_secs()))
        }
    }
}

impl CollectedOutput {
    /// What it printed, if it succeeded.
    ///
    /// # Errors
    /// The last line that it wrote about its failure.
    pub fn success(self, program: &str) -> Result<String, LocalizedText> {
        if self.status.success() {
            return Ok(self.output);
        }
        let last = self.messages.trim().lines().next_back();
        let why = last.map_or_else(|| self.status.to_string(), |line| cut(&one_line(line), SHOWN));
        Err(phrases::USER_PROGRAM_FAILED.with("program", program).with("why", why))
    }
}
