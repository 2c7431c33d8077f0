//! Runs the programs that the user's settings name: to get an API key, such as a password manager, and
//! for the status line.
//! Without a shell; nothing here comes from a model or a project.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, KillOnDrop, ProcessSession, ResetSigmask};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::group_guard::GroupGuard;
use super::process_group;
use avocet_core::deadline::with_timeout;
use avocet_core::i18n::{LocalizedText, keys as phrases};

/// How long a program usually may take; it may ask the user first.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of its output that are read.
const OUTPUT: u64 = 16 * 1024;
/// The same of one that turns a text into another.
const FILTERED: u64 = 16 << 20;

/// A program, its arguments, and all of its environment.
#[derive(Clone)]
pub struct KeyCommand {
    pub program: String,
    pub args: Vec<String>,
    pub variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// The user's `PATH`.
    pub path: Vec<PathBuf>,
    /// How long it may take.
    pub patience: Duration,
}

/// Runs the program and returns the line it prints.
pub async fn run(command: &KeyCommand) -> Result<String, LocalizedText> {
    let text = printed(command, None, OUTPUT).await?;
    let name = command.program.as_str();
    one_line(&text).ok_or_else(|| phrases::COMMAND_OUTPUT.with("program", name))
}

/// All that the program prints of what it is given.
pub async fn filter(command: &KeyCommand, input: &[u8]) -> Result<String, LocalizedText> {
    printed(command, Some(input), FILTERED).await
}

async fn printed(
    command: &KeyCommand,
    input: Option<&[u8]>,
    most: u64,
) -> Result<String, LocalizedText> {
    let name = command.program.as_str();
    let missing = || phrases::COMMAND_MISSING.with("program", name);
    let path = find(command).ok_or_else(missing)?;
    match with_timeout(command.patience, output(&path, command, input, most)).await {
        Err(_) => Err(phrases::COMMAND_SLOW
            .with("program", name)
            .with("seconds", command.patience.as_secs())),
        Ok(Err(error)) => Err(failed(name, error.to_string())),
        Ok(Ok((status, text))) if status.success() => Ok(text),
        Ok(Ok((status, _))) => Err(failed(name, reason(status))),
    }
}

/// The first line that the program prints of what it is given; `None`: it failed, or took too long.
pub async fn first_line(command: &KeyCommand, input: &[u8]) -> Option<String> {
    let path = find(command)?;
    let printed = with_timeout(command.patience, output(&path, command, Some(input), OUTPUT));
    let (status, text) = printed.await.ok()?.ok()?;
    status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

fn failed(program: &str, why: impl Into<avocet_core::i18n::PhraseValue>) -> LocalizedText {
    phrases::COMMAND_FAILED.with("program", program).with("why", why)
}

fn reason(status: ExitStatus) -> LocalizedText {
    match status.code() {
        Some(code) => phrases::WHY_EXIT.with("code", code.to_string()),
        None => phrases::WHY_SIGNAL.into(),
    }
}

/// Relative folders of the `PATH` are left out: they would depend on the project.
pub(super) fn find(command: &KeyCommand) -> Option<PathBuf> {
    let named = Path::new(&command.program);
    if named.is_absolute() {
        return named.is_file().then(|| named.to_owned());
    }
    let plain = !command.program.is_empty() && !command.program.contains('/');
    let folders = command.path.iter().filter(|folder| plain && folder.is_absolute());
    folders.map(|folder| folder.join(named)).find(|path| path.is_file())
}

async fn output(
    path: &Path,
    command: &KeyCommand,
    input: Option<&[u8]>,
    most: u64,
) -> std::io::Result<(ExitStatus, String)> {
    let mut wrapped = CommandWrap::with_new(path, |process| {
        process
            .args(&command.args)
            .env_clear()
            .envs(command.variables.iter().map(|(name, value)| (name, value)))
            .env(process_group::MARK, process_group::NO_STEP)
            .current_dir("/")
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
    });
    wrapped.wrap(ProcessSession).wrap(ResetSigmask).wrap(KillOnDrop);
    let mut child = wrapped.spawn()?;
    let guard = GroupGuard::new(child.id());
    let mut bytes = Vec::new();
    let stdin = child.stdin().take();
    let stdout = child.stdout().take();
    // A program need not read what it is given.
    let write = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            let _ = stdin.write_all(input).await;
        }
    };
    let read = async {
        match stdout {
            Some(stdout) => stdout.take(most).read_to_end(&mut bytes).await,
            None => Ok(0),
        }
    };
    let ((), read) = tokio::join!(write, read);
    read?;
    let status = child.wait().await?;
    guard.release();
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}

fn one_line(text: &str) -> Option<String> {
    let line = text.trim_end_matches(['\r', '\n']);
    // Credentials with their parts, as AWS's own program prints them.
    if line.starts_with('{') && line.ends_with('}') {
        return Some(line.replace(['\r', '\n'], " "));
    }
    let whole = !line.trim().is_empty() && !line.contains(['\r', '\n']);
    whole.then(|| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    #[test]
    fn credentials_may_be_an_object_of_several_lines() {
        assert_eq!(one_line("{\n  \"A\": 1\n}\n").as_deref(), Some("{   \"A\": 1 }"));
        assert_eq!(one_line("two\nlines\n"), None);
    }

    fn command(program: &str, args: &[&str]) -> KeyCommand {
        KeyCommand {
            program: program.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            variables: vec![("MINE".into(), "sk-mine".into())],
            path: vec!["relative".into(), "/usr/bin".into(), "/bin".into()],
            patience: WAIT_TIMEOUT,
        }
    }

    async fn error(command: KeyCommand) -> String {
        run(&command).await.unwrap_err().text(Lang::En)
    }

    #[tokio::test]
    async fn the_one_line_that_the_program_prints_is_the_key() {
        assert_eq!(run(&command("printenv", &["MINE"])).await, Ok("sk-mine".into()));
        assert_eq!(run(&command("echo", &["sk $(id)"])).await, Ok("sk $(id)".into()), "no shell");
        assert_eq!(run(&command("/bin/echo", &[" sk "])).await, Ok("sk".into()));
    }

    #[tokio::test]
    async fn no_line_and_two_lines_are_errors_that_do_not_repeat_them() {
        for lines in ["", "sk-secret\nmore\n"] {
            let said = error(command("printf", &[lines])).await;
            assert!(said.contains("one line") && !said.contains("sk-secret"), "{said}");
        }
    }

    #[tokio::test]
    async fn a_missing_or_failing_program_is_named() {
        assert!(error(command("no-such-program", &[])).await.contains("`no-such-program`"));
        assert!(error(command("./echo", &[])).await.contains("`./echo`"));
        assert!(error(command("false", &[])).await.contains("exit code 1"));
    }

    #[tokio::test]
    async fn a_program_that_does_not_end_is_stopped() {
        let patience = Duration::from_millis(10);
        let said = error(KeyCommand { patience, ..command("sleep", &["600"]) }).await;
        assert!(said.contains("`sleep`") && said.contains("0 s"), "{said}");
    }

    #[tokio::test]
    async fn what_a_program_started_ends_with_it_when_it_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let line = "exec 3>\"$0\"; sleep 600 & echo >&3; wait";
        let command = command("sh", &["-c", line, &pipe.to_string_lossy()]);
        let first_byte = async {
            let mut reader = tokio::fs::File::open(&pipe).await.unwrap();
            assert_eq!(reader.read_u8().await.unwrap(), b'\n');
            reader
        };
        let mut reader = tokio::select! {
            reader = first_byte => reader,
            said = run(&command) => panic!("{said:?}"),
        };
        let mut rest = Vec::new();
        let ended = reader.read_to_end(&mut rest);
        with_timeout(Duration::from_secs(60), ended).await.unwrap().unwrap();
    }
}
