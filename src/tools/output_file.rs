//! The output of a step in a file of bounded size: its newest part, and the part before that in a
//! second file. What is older is dropped, which the text says.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use avocet_core::private_dir::private_folder;

/// The size of a part, in bytes.
const PART: u64 = 4 << 20;
/// Sessions whose outputs are kept.
const SESSIONS: usize = 64;

const DROPPED: &str = "[… earlier output left out …]\n";

#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: File,
    size: u64,
}

impl OutputFile {
    /// Begins anew, whatever is there.
    ///
    /// # Errors
    /// The error of the system.
    pub fn create(path: &Path) -> io::Result<OutputFile> {
        if let Some(folder) = path.parent() {
            private_folder(folder)?;
        }
        let _ = fs::remove_file(older(path));
        Ok(OutputFile { path: path.to_owned(), file: open_new(path)?, size: 0 })
    }

    /// Goes on where the file ends; begins it where there is none.
    ///
    /// # Errors
    /// The error of the system.
    pub fn append(path: &Path) -> io::Result<OutputFile> {
        let flags = rustix::fs::OFlags::NOFOLLOW.bits();
        let flags = i32::try_from(flags).unwrap_or_default();
        let opened = OpenOptions::new().append(true).custom_flags(flags).open(path);
        let Ok(file) = opened else { return OutputFile::create(path) };
        let size = file.metadata()?.len();
        Ok(OutputFile { path: path.to_owned(), file, size })
    }

    /// # Errors
    /// The error of the system.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        if self.size >= PART {
            let had_older = older(&self.path).exists();
            fs::rename(&self.path, older(&self.path))?;
            self.file = open_new(&self.path)?;
            self.size = 0;
            if had_older {
                mark_dropped(&older(&self.path))?;
            }
        }
        self.size += text.len() as u64;
        self.file.write_all(text.as_bytes())
    }
}

/// The output of a command as far as it was kept, oldest first; `None` if there is none.
pub fn read_output(path: &Path) -> Option<String> {
    let part =
        |path: &Path| fs::read(path).ok().map(|it| String::from_utf8_lossy(&it).into_owned());
    let newest = part(path)?;
    let before = part(&older(path)).unwrap_or_default();
    let dropped = if marker(&older(path)).exists() { DROPPED } else { "" };
    Some(format!("{dropped}{before}{newest}"))
}

/// Moves an output, all parts of it.
pub fn rename(from: &Path, to: &Path) {
    let before = older(from);
    let after = older(to);

    let parts = [(from, to), (&before, &after), (&marker(&before), &marker(&after))];
    for (from, to) in parts {
        // Not every output has all parts.
        let _ = fs::rename(from, to);
    }
}

/// Removes an output, all parts of it.
pub fn remove(path: &Path) {
    let before = older(path);
    for part in [path, &before, &marker(&before)] {
        let _ = fs::remove_file(part);
    }
}

/// Removes the outputs of all but the newest sessions.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    for (_, path) in found.iter().skip(SESSIONS) {
        let _ = fs::remove_dir_all(path);
    }
}

fn older(path: &Path) -> PathBuf {
    path.with_extension("older")
}

fn marker(older: &Path) -> PathBuf {
    older.with_extension("dropped")
}

fn mark_dropped(older: &Path) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(marker(older)).map(drop)
}

/// A link in its place is not followed.
fn open_new(path: &Path) -> io::Result<File> {
    let _ = fs::remove_file(path);
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_keeps_its_end_in_two_files_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s/cmd_001.log");
        assert_eq!(read_output(&path), None);
        let mut file = OutputFile::create(&path).unwrap();
        file.write("first\n").unwrap();
        assert_eq!(read_output(&path).as_deref(), Some("first\n"));
        let line = "0123456789abcde\n".repeat(4096);
        for _ in 0..400 {
            file.write(&line).unwrap();
        }
        file.write("last\n").unwrap();
        let text = read_output(&path).unwrap();
        assert!(text.starts_with(DROPPED) && text.ends_with("\nlast\n"));
        assert!(text.len() as u64 <= 2 * (PART + line.len() as u64) + 100, "{}", text.len());
        let sizes = fs::read_dir(folder.path().join("s")).unwrap();
        let all: u64 = sizes.map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
        assert!(all <= 2 * (PART + line.len() as u64));
    }
}
