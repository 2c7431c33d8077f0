//! The lines that the user typed, saved between starts in an append-only file with one JSON string
//! per line, so that several windows can write at once and a damaged line loses only itself.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::atomic_file;

/// The number of entries kept in memory and after a clean-up.
const MAX_ENTRIES: usize = 1000;
/// An entry longer than this is not saved, in bytes.
const MAX_LENGTH: usize = 32 * 1024;
/// A file larger than this is cut to its newest entries, in bytes.
const FULL: u64 = 2 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct InputHistory {
    file: PathBuf,
    entries: Vec<String>,
}

impl InputHistory {
    /// Reads the history; a file that cannot be read counts as empty.
    pub fn open(file: PathBuf) -> InputHistory {
        let (entries, _) = read(&file).unwrap_or_default();
        InputHistory { file, entries }
    }

    /// Oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Adds a line, unless it is blank, too long, or the same as the one before it.
    pub fn add(&mut self, entry: &str) -> io::Result<()> {
        let again = self.entries.last().is_some_and(|last| last == entry);
        if entry.trim().is_empty() || entry.len() > MAX_LENGTH || again {
            return Ok(());
        }
        self.entries.push(entry.to_owned());
        if self.entries.len() > MAX_ENTRIES {
            self.entries.remove(0);
        }
        self.append(&encode_line(entry))?;
        // A failed clean-up is not worth reporting.
        let _ = self.trim_file();
        Ok(())
    }

    /// One write per line, so that two windows do not mix theirs.
    fn append(&self, line: &str) -> io::Result<()> {
        let _lock = atomic_file::lock(&self.file)?;
        atomic_file::append(&self.file)?.write_all(line.as_bytes())
    }

    /// Cuts a full file to its newest entries, while no other window adds to it.
    fn trim_file(&self) -> io::Result<()> {
        if fs::metadata(&self.file)?.len() <= FULL {
            return Ok(());
        }
        let _lock = atomic_file::lock(&self.file)?;
        // Read again: others have written, or have cleaned up just now.
        let (entries, full) = read(&self.file)?;
        let size = |entry: &String| entry.len() + 8;
        let mut room = usize::try_from(FULL / 2).unwrap_or(usize::MAX);
        let kept = entries.iter().rev().take_while(|entry| {
            let fits = size(entry) <= room;
            room = room.saturating_sub(size(entry));
            fits
        });
        let mut kept: Vec<String> = kept.map(|entry| encode_line(entry)).collect();
        kept.reverse();
        if full { atomic_file::write(&self.file, &kept.concat()) } else { Ok(()) }
    }
}

fn encode_line(entry: &str) -> String {
    format!("{}\n", serde_json::Value::from(entry))
}

/// The newest entries, and whether the file is due for a clean-up.
fn read(path: &Path) -> io::Result<(Vec<String>, bool)> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(FULL)))?;
    let mut bytes = Vec::new();
    file.take(FULL).read_to_end(&mut bytes)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut entries: Vec<String> =
        lines.filter_map(|line| serde_json::from_slice::<String>(line).ok()).collect();
    entries.retain(|entry| entry.len() <= MAX_LENGTH);
    entries.drain(..entries.len().saturating_sub(MAX_ENTRIES));
    Ok((entries, length > FULL))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp_history() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/history");
        (folder, file)
    }

    #[test]
    fn entries_are_restored_exactly_even_with_newlines() {
        let (_folder, file) = temp_history();
        let mut history = InputHistory::open(file.clone());
        for entry in ["one", "two\nlines", "三", "三", "  "] {
            history.add(entry).unwrap();
        }
        assert_eq!(InputHistory::open(file).entries(), ["one", "two\nlines", "三"]);
    }

    #[test]
    fn only_the_damaged_line_is_lost() {
        let (_folder, file) = temp_history();
        let mut history = InputHistory::open(file.clone());
        history.add("one").unwrap();
        atomic_file::append(&file).unwrap().write_all(b"\"half\n\xff\xfe\n{}\n").unwrap();
        history.add("two").unwrap();
        assert_eq!(InputHistory::open(file).entries(), ["one", "two"]);
    }

    #[test]
    fn a_full_file_is_trimmed_to_its_newest_entries() {
        let (_folder, file) = temp_history();
        let mut history = InputHistory::open(file.clone());
        for number in 0..200 {
            history.add(&format!("{number} {}", "x".repeat(MAX_LENGTH - 8))).unwrap();
        }
        assert!(fs::metadata(&file).unwrap().len() <= FULL);
        let newest = history.entries().last().cloned();
        let reopened = InputHistory::open(file);
        assert_eq!(reopened.entries().last().cloned(), newest);
        assert!(reopened.entries().len() > 20, "not all of it is thrown away");
    }

    #[test]
    fn concurrent_windows_lose_no_entries() {
        let (_folder, file) = temp_history();
        let windows: Vec<_> = (0..4)
            .map(|window| {
                let file = file.clone();
                std::thread::spawn(move || {
                    let mut history = InputHistory::open(file);
                    for number in 0..50 {
                        history.add(&format!("{window} {number} 窗口")).unwrap();
                    }
                })
            })
            .collect();
        windows.into_iter().for_each(|window| window.join().unwrap());
        let all = InputHistory::open(file);
        assert_eq!(all.entries().len(), 200);
        let own: Vec<_> = all.entries().iter().filter(|entry| entry.starts_with("2 ")).collect();
        assert_eq!(own.first().unwrap().as_str(), "2 0 窗口");
        assert_eq!(own.last().unwrap().as_str(), "2 49 窗口");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, file) = temp_history();
        InputHistory::open(file.clone()).add("x").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
