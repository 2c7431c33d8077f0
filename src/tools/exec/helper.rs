//! Passes a text to one of the system's own programs, such as the one that keeps the
//! clipboard, or asks one for a short answer. Not for steps: nothing here comes from a
//! model.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::group_guard::GroupGuard;
use super::process_group;
use avocet_core::deadline::with_timeout;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession, ResetSigmask};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The folders of such programs: never looked up in a `PATH`, which may lead into a
/// project.
const FOLDERS: &[&str] = &[
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
    "/mnt/c/Windows/System32",
];
/// How long it may take, and how long one with a large answer.
const TIMEOUT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(10);

/// Bytes of an answer that are read.
const ANSWER: u64 = 4 * 1024;

/// A program of the system and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperProgram {
    pub program: &'static str,
    pub args: &'static [&'static str],
    /// All of its environment.
    pub variables: Vec<(String, String)>,
}

/// Starts the program and writes `input` to it.
///
/// # Errors
/// When there is no such program, it cannot be started, it fails, or it takes more than two
/// seconds.
pub async fn write_to_helper(program: &HelperProgram, input: &[u8]) -> io::Result<()> {
    let path = find_program(program.program).ok_or(io::ErrorKind::NotFound)?;
    with_timeout(TIMEOUT, run(path, program, input))
        .await
        .map_err(|_| io::ErrorKind::TimedOut)??;
    Ok(())
}

/// Starts the program and reads its output, 4 KiB of it at most.
///
/// # Errors
/// As [`write_to_helper`].
pub async fn read_from_helper(program: &HelperProgram) -> io::Result<String> {
    let said = read_output(program, ANSWER, TIMEOUT).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Starts the program and reads its output, which may be long and take a while.
///
/// # Errors
/// As [`write_to_helper`], and if there is more output than `most`.
pub async fn read_bytes_from_helper(program: &HelperProgram, most: u64) -> io::Result<Vec<u8>> {
    let said = read_output(program, most + 1, LONG).await?;
    if said.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(said) }
}

/// Starts the program, writes `input` to it and reads its output meanwhile.
///
/// # Errors
/// As [`read_bytes_from_helper`].
pub async fn ask_helper(program: &HelperProgram, input: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let path = find_program(program.program).ok_or(io::ErrorKind::NotFound)?;
    let exchange = async {
        let (mut child, guard) = start(path, program, Stdio::piped())?;
        let stdin = child.stdin().take();
        let stdout = child.stdout().take();

        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let write = async move {
            stdin.write_all(input).await?;
            stdin.shutdown().await
        };
        let mut said = Vec::new();
        let mut limited = stdout.take(most + 1);
        let (written, read) = tokio::join!(write, limited.read_to_end(&mut said));
        read?;
        if said.len() as u64 > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        written?;
        wait_for_success(child, guard).await.map(|()| said)
    };
    with_timeout(LONG, exchange).await.map_err(|_| io::ErrorKind::TimedOut)?
}

async fn read_output(
    program: &HelperProgram,
    most: u64,
    patience: Duration,
) -> io::Result<Vec<u8>> {
    let path = find_program(program.program).ok_or(io::ErrorKind::NotFound)?;
    with_timeout(patience, collect_output(path, program, most))
        .await
        .map_err(|_| io::ErrorKind::TimedOut)?
}

async fn collect_output(path: PathBuf, program: &HelperProgram, most: u64) -> io::Result<Vec<u8>> {
    let (mut child, guard) = start(path, program, Stdio::piped())?;
    let mut said = Vec::new();
    if let Some(stdout) = child.stdout().take() {
        stdout.take(most).read_to_end(&mut said).await?;
    }
    // What it still writes is not waited for.
    if said.len() as u64 == most && most > ANSWER {
        return Ok(said);
    }
    wait_for_success(child, guard).await.map(|()| said)
}

pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    let paths = FOLDERS.iter().map(|folder| PathBuf::from(folder).join(program));
    paths.into_iter().find(|path| path.is_file())
}

/// The `PATH` with which such a program finds others.
pub(super) fn search_path() -> OsString {
    FOLDERS.join(":").into()
}

fn start(
    path: PathBuf,
    program: &HelperProgram,
    stdout: Stdio,
) -> io::Result<(Box<dyn ChildWrapper>, GroupGuard)> {
    let mut command = CommandWrap::with_new(path, |command| {
        command
            .args(program.args)
            .env_clear()
            .envs(program.variables.iter().map(|(name, value)| (name, value)))
            .env(process_group::MARK, process_group::NO_STEP)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::null());
    });
    command.wrap(ProcessSession).wrap(ResetSigmask).wrap(KillOnDrop);
    // A program that keeps an X selection lives on in the background: only the child is
    // waited for.
    let child = command.spawn()?.into_inner();
    let guard = GroupGuard::new(child.id());
    Ok((child, guard))
}

async fn run(path: PathBuf, program: &HelperProgram, input: &[u8]) -> io::Result<()> {
    let (mut child, guard) = start(path, program, Stdio::null())?;
    if let Some(mut stdin) = child.stdin().take() {
        stdin.write_all(input).await?;
        stdin.shutdown().await?;
    }
    wait_for_success(child, guard).await
}

async fn wait_for_success(mut child: Box<dyn ChildWrapper>, guard: GroupGuard) -> io::Result<()> {
    let status = child.wait().await?;
    guard.release();
    if status.success() { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &'static [&'static str]) -> HelperProgram {
        HelperProgram { program: "sh", args: line, variables: vec![("MINE".into(), "1".into())] }
    }

    #[tokio::test]
    async fn only_the_start_of_an_answer_is_read() {
        assert_eq!(read_from_helper(&shell(&["-c", "echo 中"])).await.unwrap(), "中\n");
        assert!(read_from_helper(&shell(&["-c", "echo no; exit 1"])).await.is_err());
        let most = usize::try_from(ANSWER).unwrap();
        let much = shell(&["-c", "head -c 4096 /dev/zero | tr '\\0' x; exit 0"]);
        assert_eq!(read_from_helper(&much).await.unwrap().len(), most);
    }

    #[tokio::test]
    async fn a_long_answer_is_read_whole_or_not_at_all() {
        let much = shell(&["-c", "head -c 200000 /dev/zero"]);
        assert_eq!(read_bytes_from_helper(&much, 200_000).await.unwrap().len(), 200_000);
        let fault = read_bytes_from_helper(&much, 199_999).await.unwrap_err();
        assert_eq!(fault.kind(), io::ErrorKind::FileTooLarge);
        let endless = shell(&["-c", "exec cat /dev/zero"]);
        assert!(read_bytes_from_helper(&endless, 10_000).await.is_err());
    }

    #[tokio::test]
    async fn a_program_gets_the_text_and_nothing_else() {
        let reads =
            shell(&["-c", "test \"$(cat)\" = 中文 && test -z \"$HOME\" && test \"$MINE\" = 1"]);
        write_to_helper(&reads, "中文".as_bytes()).await.unwrap();
        assert!(write_to_helper(&reads, b"other").await.is_err(), "a failure is told");
    }

    #[tokio::test]
    async fn a_program_that_is_missing_or_reads_nothing_is_an_error() {
        let missing =
            HelperProgram { program: "no-such-program", args: &[], variables: Vec::new() };
        assert_eq!(
            write_to_helper(&missing, b"x").await.unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        let deaf = shell(&["-c", "exec 0<&-; exit 0"]);
        assert!(write_to_helper(&deaf, &vec![b'x'; 4 << 20]).await.is_err());
    }

    #[tokio::test]
    async fn what_a_program_started_that_is_given_up_ends_with_it() {
        let much = shell(&["-c", "sleep 60 & echo $!; exec cat /dev/zero"]);
        let (mut child, guard) = start("/bin/sh".into(), &much, Stdio::piped()).unwrap();
        let mut pid = Vec::new();
        while !pid.ends_with(b"\n") {
            pid.push(child.stdout().as_mut().unwrap().read_u8().await.unwrap());
        }
        let pid: i32 = String::from_utf8(pid).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        assert!(process_group::is_running(pid));
        drop(guard);
        while process_group::is_running(pid) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_process_that_stays_in_the_background_is_not_waited_for() {
        let keeps = shell(&["-c", "cat > /dev/null; sleep 9 & exit 0"]);
        // Waiting for it would take longer than a helper may.
        write_to_helper(&keeps, b"x").await.unwrap();
    }
}
