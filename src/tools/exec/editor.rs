//! Opens the user's own editor on a text. The editor has the terminal meanwhile; handing
//! the terminal over and taking it back is up to the caller.
//!
//! The text is in a folder of its own that no other user can look into, and is removed with
//! it afterwards, unless it could not be read back: then it stays and is named.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::{Child, Command};

use super::process_group::Tree;
use crate::temp::{RunFolder, TempFolder};
use avocet_core::i18n::{LocalizedText, exec as phrases};

/// The longest text that is read back, in bytes.
const MAX_LENGTH: u64 = 4 << 20;
/// Ours, and no concern of an editor.
const OWN_KEY: &str = "AVOCET_API_KEY";
/// How long an editor may take to end after a signal.
const END_TIMEOUT: Duration = Duration::from_millis(300);

/// An editor that is open.
#[derive(Debug)]
pub struct Editing {
    editor: String,
    child: Child,
    folder: TempFolder,
    file: PathBuf,
}

impl Editing {
    /// Starts `editor`, a line as `VISUAL` holds it (`code --wait`), on a text.
    ///
    /// # Errors
    /// The sentence that says why it did not start.
    pub fn start(folder: &RunFolder, editor: &str, text: &str) -> Result<Editing, LocalizedText> {
        Editing::start_named(folder, editor, "message.md", text)
    }

    /// The same for a file of this name, so that the editor knows its type.
    ///
    /// # Errors
    /// The sentence that says why it did not start.
    pub fn start_named(
        run_folder: &RunFolder,
        editor: &str,
        name: &str,
        text: &str,
    ) -> Result<Editing, LocalizedText> {
        let failed = |error: io::Error| {
            phrases::EDITOR_NOT_STARTED.with("editor", editor).with("why", error.to_string())
        };
        let folder = run_folder.create_folder("edit").map_err(|error| {
            phrases::EDITOR_NOT_STARTED.with("editor", editor).with("why", error.say())
        })?;
        let file = create_file(&folder, name, text).map_err(failed)?;
        let child = command(editor, &file).spawn().map_err(failed)?;
        Ok(Editing { editor: editor.to_owned(), child, folder, file })
    }

    /// Waits until the editor is closed: the text as it is now.
    ///
    /// # Errors
    /// The sentence that says why there is none.
    pub async fn wait(&mut self) -> Result<(), LocalizedText> {
        let editor = self.editor.as_str();
        let wrong = |phrase: avocet_core::i18n::Phrase, why: String| {
            phrase.with("editor", editor).with("why", why)
        };
        match self.child.wait().await {
            Ok(status) if status.success() => Ok(()),
            Ok(status) if matches!(status.code(), Some(126 | 127)) => {
                Err(wrong(phrases::EDITOR_NOT_STARTED, exit_message(status)))
            }
            Ok(status) => Err(wrong(phrases::EDITOR_FAILED, exit_message(status))),
            Err(error) => Err(wrong(phrases::EDITOR_FAILED, error.to_string())),
        }
    }

    /// The text as the editor has left it, the last line's end taken off.
    ///
    /// # Errors
    /// The sentence that says why the text cannot be read back, and where it is now.
    pub fn text(self) -> Result<String, LocalizedText> {
        match read(&self.file) {
            Ok(text) => Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned()),
            Err(error) => {
                let kept = self.folder.keep();
                let file = kept.join(self.file.file_name().unwrap_or_default());
                Err(phrases::EDITOR_UNREADABLE
                    .with("file", file.display().to_string())
                    .with("why", error.to_string()))
            }
        }
    }

    /// Ends the editor, because the program is left: with a signal that lets it keep its
    /// own copy, and then without asking.
    pub async fn terminate(&mut self) {
        // The shell, and the editor below it, which is in our own group of processes.
        let Some(tree) = self.child.id().map(Tree::rooted_at) else { return };
        tree.signal(Signal::TERM);
        tree.wait_ended(END_TIMEOUT).await;
        tree.signal(Signal::KILL);
        let _ = tokio::time::timeout(END_TIMEOUT, self.child.wait()).await;
    }
}

fn create_file(folder: &TempFolder, name: &str, text: &str) -> io::Result<PathBuf> {
    let file = folder.path().join(name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&file)?.write_all(text.as_bytes())?;
    Ok(file)
}

/// A shell reads the line, as it does for every program that knows `VISUAL`; the file is
/// an argument of its own. Ctrl-C and Ctrl-\\ go to every program in the foreground and are
/// for the editor: the shell outlives them, or the editor would go on without it.
#[expect(clippy::disallowed_methods, reason = "a door to other programs, beside `start`")]
fn command(editor: &str, file: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("trap : INT QUIT; {editor} \"$1\"")).arg("avocet").arg(file);
    command.env_remove(OWN_KEY);
    command
}

fn exit_message(status: ExitStatus) -> String {
    status.to_string()
}

fn read(file: &Path) -> io::Result<String> {
    if fs::metadata(file)?.len() > MAX_LENGTH {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read_to_string(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn edited(editor: &str, text: &str) -> Result<String, String> {
        let said = |say: LocalizedText| say.text(avocet_core::i18n::Lang::En);
        let temp = RunFolder::default();
        let mut editing = Editing::start(&temp, editor, text).map_err(said)?;
        editing.wait().await.map_err(said)?;
        editing.text().map_err(said)
    }

    #[tokio::test]
    async fn the_text_comes_back_as_the_editor_left_it() {
        assert_eq!(edited("true", "one\n二").await.unwrap(), "one\n二");
        let editor = "sh -c 'tr a-z A-Z < \"$0\" > \"$0.new\"; mv \"$0.new\" \"$0\"'";
        assert_eq!(edited(editor, "one 二\n").await.unwrap(), "ONE 二");
    }

    #[tokio::test]
    async fn a_broken_editor_is_reported_in_one_sentence() {
        let missing = edited("/no/such/editor", "x").await.unwrap_err();
        assert!(missing.contains("/no/such/editor"), "{missing}");
        let failing = edited("false", "x").await.unwrap_err();
        assert!(failing.contains("`false`"), "{failing}");
    }

    #[tokio::test]
    async fn a_text_that_cannot_be_read_back_stays_and_is_named() {
        let said = edited("printf '\\377' >", "x").await.unwrap_err();
        let file = said.split('`').nth(1).expect("a file is named").to_owned();
        assert_eq!(fs::read(&file).unwrap(), b"\xff");
        fs::remove_dir_all(Path::new(&file).parent().unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn no_other_user_can_read_it_and_nothing_is_left_over() {
        use std::os::unix::fs::PermissionsExt;
        let temp = RunFolder::default();
        let mut editing = Editing::start(&temp, "true", "secret").unwrap();
        let (file, folder) = (editing.file.clone(), editing.folder.path().to_owned());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
        editing.wait().await.unwrap();
        editing.text().unwrap();
        assert!(!folder.exists());
    }
}
