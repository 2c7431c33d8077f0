//! Learns the secrets of the files that a step names before it prints them: in base64, in
//! hexadecimal or back to front they would not show what they are.

use std::collections::BTreeSet;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::file::safe_open::{FileSlot, MissingFolders};
use avocet_core::protocol::StepAction;
use avocet_safety::Judgement;
use avocet_safety::redact::Redactor;

/// The most of one step's files that is looked through, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// The most words of a step that are looked at, and the folders they are looked for in.
const WORDS: usize = 256;
const FOLDERS: usize = 4;

/// Begins at once, beside the start of the step. What cannot be learned is masked where it shows
/// itself.
pub(super) async fn learn_secrets(judged: &Judgement, redactor: Option<&Arc<Redactor>>) {
    let Some(redactor) = redactor.cloned() else { return };
    let work = judged.step.work.clone();
    let cwd = judged.cwd.clone();

    let learned = tokio::task::spawn_blocking(move || {
        let mut left = MAX_BYTES;
        for path in named_files(&work, &cwd) {
            let Some(bytes) = read_text(&path, left) else { continue };
            left -= bytes.len() as u64;
            redactor.learn_text(&String::from_utf8_lossy(&bytes));
        }
    });
    let _ = learned.await;
}

/// The files among the words of a step, also in a line, after a sign and in a folder it names.
fn named_files(action: &StepAction, cwd: &Path) -> BTreeSet<PathBuf> {
    let words = match action {
        StepAction::Exec { args, .. } => args.as_slice(),
        StepAction::Shell { line } => std::slice::from_ref(line),
        StepAction::Tool { .. } => &[],
    };
    let is_sign = |c: char| c.is_whitespace() || "<>|;&()=@:,\"'`".contains(c);
    let parts = |word| iter::once::<&str>(word).chain(word.split(is_sign));
    let parts = words.iter().flat_map(|word| parts(word)).filter(|part| !part.is_empty());
    let paths: BTreeSet<&str> = parts.take(WORDS).collect();
    let named = paths.iter().map(|path| cwd.join(path)).filter(|path| path.is_dir());
    let folders: Vec<PathBuf> = iter::once(cwd.to_owned()).chain(named).take(FOLDERS).collect();
    let inside = |folder: &PathBuf| paths.iter().map(|path| folder.join(path)).collect::<Vec<_>>();
    folders.iter().flat_map(inside).filter_map(|path| path.canonicalize().ok()).collect()
}

/// The contents of a file that is text and not longer than this.
fn read_text(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut file = FileSlot::open(path, MissingFolders::Fail).ok()?.file().ok()??;
    let bytes = (file.bytes() <= most).then(|| file.read(most).ok()).flatten()?;
    (bytes.len() as u64 <= most && !bytes.contains(&0)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_names_files_by_its_words_in_its_lines_and_in_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::create_dir(cwd.join("conf")).unwrap();
        for name in ["a b.txt", "b.env", "conf/c.ini"] {
            std::fs::write(cwd.join(name), "x").unwrap();
        }
        let exec = |args: &[&str]| StepAction::Exec {
            program: "x".into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        };
        let line = |line: &str| StepAction::Shell { line: line.into() };
        let cases = [
            (exec(&["-w1", "a b.txt"]), "a b.txt"),
            (exec(&["if=b.env"]), "b.env"),
            (exec(&["-c", "base64 <b.env | fold"]), "b.env"),
            (line("xxd 'a b.txt'; rev ./b.env|cat"), "b.env"),
            (line("cd conf && rev c.ini"), "conf/c.ini"),
            (exec(&["-C", "conf", "show", "HEAD:c.ini"]), "conf/c.ini"),
        ];
        for (work, name) in cases {
            let found = named_files(&work, &cwd);
            assert!(found.contains(&cwd.join(name)), "{name}: {found:?}");
        }
        assert_eq!(read_text(&cwd.join("b.env"), 1), Some(b"x".to_vec()));
        assert_eq!(read_text(&cwd.join("conf"), 9), None);
        assert_eq!(read_text(&cwd.join("b.env"), 0), None);
    }
}
