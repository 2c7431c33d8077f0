//! Finds the files that a step that runs by itself may start: its program, what the system
//! needs to start that, and what its row names. `/bin/sh` is not among them for `sed`.
//!
//! Where one file is many programs (busybox) it may start as any of them: the kernel gets
//! files, not names.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Scripts name an interpreter that may be a script; the system follows so many.
const MAX_DEPTH: usize = 4;

/// Bytes at the start of a file that say how it is started.
const HEAD: u64 = 4096;

/// Where programs and what they start are on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramDirs<'a> {
    /// Folders a bare name is looked up in.
    pub folders: &'a [PathBuf],
    /// The folder of the toolchains that rustup's `cargo` and `rustc` refer to.
    pub toolchains: &'a Path,
    /// Trees of programs, for a script of a version manager.
    pub trees: &'a [PathBuf],
}

/// The files and folders a step may start from.
pub(super) fn startable(
    starts: &[PathBuf],
    helpers: &[PathBuf],
    dirs: ProgramDirs<'_>,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    starts.iter().for_each(|path| add(path, dirs, 0, &mut found));
    for helper in helpers {
        if helper.is_dir() {
            found.push(helper.clone());
        } else {
            add(helper, dirs, 0, &mut found);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The interpreters of a script, followed recursively: `.venv/bin/pytest` names `.venv/bin/python`.
pub(super) fn interpreters_of(program: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = vec![program.to_owned()];
    for depth in 0..MAX_DEPTH {
        let Some(script) = found.get(depth) else { break };
        let head = head(script);
        let named = head.strip_prefix(b"#!").map(|line| interpreters(line, folders));
        found.extend(named.unwrap_or_default());
    }
    found.split_off(1)
}

fn add(path: &Path, dirs: ProgramDirs<'_>, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(real) = path.canonicalize() else { return };
    let is_proxy = real.file_name().is_some_and(|name| name == "rustup");
    if is_proxy && dirs.toolchains.is_dir() {
        found.push(dirs.toolchains.to_owned());
        // A proxy may need no loader where the program it runs does.
        found.extend(system_loader());
    }
    if let Some(manager) = version_manager_root(&real) {
        found.push(manager.to_owned());
        found.extend(dirs.trees.iter().cloned());
    }
    if found.contains(&real) {
        return;
    }
    let head = head(&real);
    found.push(real);
    if depth >= MAX_DEPTH {
        return;
    }
    if let Some(line) = head.strip_prefix(b"#!") {
        for interpreter in interpreters(line, dirs.folders) {
            add(&interpreter, dirs, depth + 1, found);
        }
    } else if let Some(loader) = loader(&head) {
        add(&loader, dirs, depth + 1, found);
    }
}

/// The folder of the version manager that this shim belongs to: `~/.pyenv/shims/python`.
fn version_manager_root(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    folder.ends_with("shims").then(|| folder.parent()).flatten()
}

/// The dynamic loader most programs of this system name.
fn system_loader() -> Option<PathBuf> {
    loader(&head(&Path::new("/bin/sh").canonicalize().ok()?))?.canonicalize().ok()
}

fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Reading anything but a plain file may wait for ever.
    if fs::metadata(path).is_ok_and(|meta| meta.is_file())
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(HEAD).read_to_end(&mut bytes);
    }
    bytes
}

/// The program that the first line of a script names, and after `env` the one that is
/// looked up.
fn interpreters(line: &[u8], folders: &[PathBuf]) -> Vec<PathBuf> {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_ascii_whitespace();
    let Some(first) = words.next().map(PathBuf::from) else { return Vec::new() };
    let is_env = first.file_name().is_some_and(|name| name == "env");
    let named = words.find(|word| !word.starts_with('-') && !word.contains('='));
    let looked_up = named.filter(|_| is_env).and_then(|name| {
        folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    });
    std::iter::once(first).chain(looked_up).collect()
}

/// The loader an ELF file names: the text of its segment of kind 3.
fn loader(head: &[u8]) -> Option<PathBuf> {
    const INTERPRETER: u64 = 3;
    let little = match head.get(..6)? {
        [0x7f, b'E', b'L', b'F', _, order] => *order == 1,
        _ => return None,
    };
    let wide = *head.get(4)? == 2;
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let part = head.get(at..at.checked_add(bytes)?)?;
        let add = |sum: u64, byte: &u8| (sum << 8) | u64::from(*byte);
        Some(if little { part.iter().rev().fold(0, add) } else { part.iter().fold(0, add) })
    };
    // Where the table of segments begins, and the positions of offset and length in each
    // segment.
    let (table, size, count) = if wide { (0x20, 0x36, 0x38) } else { (0x1c, 0x2a, 0x2c) };
    let (offset, length, word) = if wide { (8, 32, 8) } else { (4, 16, 4) };
    let at = |value: u64| usize::try_from(value).ok();
    let first = at(number(table, word)?)?;
    let step = at(number(size, 2)?)?;

    (0..at(number(count, 2)?)?.min(64)).find_map(|index| {
        let entry = first.checked_add(index.checked_mul(step)?)?;
        if number(entry, 4)? != INTERPRETER {
            return None;
        }
        let from = at(number(entry + offset, word)?)?;
        let to = from.checked_add(at(number(entry + length, word)?)?)?;
        let text = head.get(from..to)?.split(|byte| *byte == 0).next()?;
        Some(PathBuf::from(String::from_utf8_lossy(text).into_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn startable_of(program: &str) -> Vec<PathBuf> {
        let folders = ["/usr/bin".into(), "/bin".into()];
        let shelves =
            ProgramDirs { folders: &folders, toolchains: Path::new("/nowhere"), trees: &[] };
        startable(&[program.into()], &[], shelves)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_may_start_its_loader_and_no_shell() {
        let found = startable_of("/usr/bin/env");
        let real = Path::new("/usr/bin/env").canonicalize().unwrap();
        assert!(found.contains(&real), "{found:?}");
        assert!(found.len() <= 2, "{found:?}");
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        assert!(!found.contains(&shell), "{found:?}");
    }

    #[test]
    fn a_script_may_start_its_interpreter_also_after_env() {
        let folder = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        for first in ["#!/bin/sh -e", "#! /usr/bin/env sh", "#!/usr/bin/env -S A=b sh -e"] {
            let script = folder.path().join("script");
            fs::write(&script, format!("{first}\necho\n")).unwrap();
            let found = startable_of(&script.to_string_lossy());
            assert!(found.contains(&shell), "{first}: {found:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_a_program_is_read_without_harm() {
        let folder = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let odd = folder.path().join("odd");
        let long = [&b"\x7fELF\x02\x01"[..], &[0xff; 4000]].concat();
        for bytes in [&b""[..], b"#!", b"#!\n", b"\x7fELF", b"\x7fELF\x02\x01\x01", &long] {
            fs::write(&odd, bytes).unwrap();
            assert!(startable_of(&odd.to_string_lossy()).len() <= 2, "{bytes:?}");
        }
    }
}
