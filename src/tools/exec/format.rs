//! Decides from a file's first bytes whether this machine can run it, before it is started.
//!
//! The system's own start passes a file it does not recognise to `/bin/sh`, and no step may
//! reach a shell that was not named. So a file that is neither a program for this machine
//! nor a script that names its interpreter is not started at all.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use avocet_core::i18n::{LocalizedText, Phrase, exec as phrases};

/// As much of a file as the kernel looks at.
const HEAD: usize = 256;

/// How many interpreters the kernel goes through.
const MAX_DEPTH: usize = 4;

/// An error says why the file cannot run. What cannot be read here is left to the system.
pub(super) fn check(path: &Path, cwd: &Path) -> Result<(), LocalizedText> {
    check_interpreter_chain(path, cwd, MAX_DEPTH)
}

fn check_interpreter_chain(path: &Path, cwd: &Path, deep: usize) -> Result<(), LocalizedText> {
    let Some(head) = read_head(path) else { return Ok(()) };
    if let Some(line) = head.strip_prefix(b"#!") {
        let Some(interpreter) = interpreter(line) else {
            return Err(message(phrases::NO_INTERPRETER, path));
        };
        if interpreter.as_os_str().as_encoded_bytes().ends_with(b"\r") {
            return Err(message(phrases::INTERPRETER_RETURN, path));
        }
        return match deep {
            0 => Ok(()),
            deep => check_interpreter_chain(&cwd.join(interpreter), cwd, deep - 1),
        };
    }
    if is_native(&head) || formats::is_registered(&head, path) {
        return Ok(());
    }
    let word = if head.is_empty() {
        phrases::EMPTY_FILE
    } else if is_text(&head) {
        phrases::NO_INTERPRETER
    } else {
        phrases::WRONG_FORMAT
    };
    Err(message(word, path))
}

fn message(phrase: Phrase, path: &Path) -> LocalizedText {
    phrase.with("path", path.display().to_string())
}

/// The head of a file; `None`: it cannot be read.
fn read_head(path: &Path) -> Option<Vec<u8>> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    let file = File::options().read(true).custom_flags(nonblocking).open(path).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut head = Vec::with_capacity(HEAD);
    file.take(HEAD as u64).read_to_end(&mut head).ok()?;
    Some(head)
}

/// The interpreter that a first line names.
fn interpreter(line: &[u8]) -> Option<PathBuf> {
    let line = line.split(|byte| *byte == b'\n').next()?;
    let word = line
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .find(|word| !word.is_empty())
        .map(|word| word.split(|byte| *byte == 0).next().unwrap_or_default())?;
    use std::os::unix::ffi::OsStrExt as _;
    (!word.is_empty()).then(|| std::ffi::OsStr::from_bytes(word).into())
}

fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be cut.
        Err(error) => error.error_len().is_none(),
    };
    text && !head.contains(&0)
}

#[cfg(not(target_os = "macos"))]
const ELF: &[u8] = b"\x7fELF";

/// A program for the machine that this one is for itself, or a 32-bit one on a PC.
#[cfg(not(target_os = "macos"))]
fn is_native(head: &[u8]) -> bool {
    const X86: [u8; 2] = [3, 0];
    const X86_64: [u8; 2] = [62, 0];
    let machine = |head: &[u8]| head.get(18..20).map(<[u8]>::to_vec);
    // With nothing to compare with, the system decides.
    let own = read_head(Path::new("/proc/self/exe")).and_then(|own| machine(&own));
    let is_own = own.is_none_or(|own| {
        let other = machine(head).unwrap_or_default();
        own == other || own == X86_64 && other == X86
    });
    head.starts_with(ELF) && is_own
}

/// Programs of macOS, of any processor: the system translates some.
#[cfg(target_os = "macos")]
fn is_native(head: &[u8]) -> bool {
    MACOS.iter().any(|magic| head.starts_with(magic))
}

#[cfg(target_os = "macos")]
const MACOS: &[&[u8]] = &[
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xfe\xed\xfa\xce",
    b"\xca\xfe\xba\xbe",
    b"\xca\xfe\xba\xbf",
];

/// Formats that the user taught the kernel: programs of Windows, of other machines.
mod formats {
    use std::fs;
    use std::path::Path;

    const FOLDER: &str = "/proc/sys/fs/binfmt_misc";

    /// Whether a format that is switched on takes this file.
    pub(super) fn is_registered(head: &[u8], path: &Path) -> bool {
        let Ok(entries) = fs::read_dir(FOLDER) else { return false };
        entries
            .flatten()
            .filter_map(|entry| fs::read_to_string(entry.path()).ok())
            .any(|text| format_matches(&text, head, path))
    }

    pub(super) fn format_matches(text: &str, head: &[u8], path: &Path) -> bool {
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if text.lines().next() != Some("enabled") || field("interpreter ").is_none() {
            return false;
        }
        if let Some(ending) = field("extension .") {
            return path.extension().is_some_and(|own| own == ending);
        }
        let offset = field("offset ").and_then(|offset| offset.parse().ok()).unwrap_or(0);
        let Some(magic) = field("magic ").and_then(parse_hex) else { return false };
        let mask = field("mask ").and_then(parse_hex).unwrap_or_else(|| vec![0xff; magic.len()]);
        let part = head.get(offset..offset + magic.len());
        part.is_some_and(|part| {
            let pairs = part.iter().zip(&magic).zip(&mask);
            pairs.into_iter().all(|((own, magic), mask)| own & mask == magic & mask)
        })
    }

    fn parse_hex(hex: &str) -> Option<Vec<u8>> {
        let digit = |digit: &u8| char::from(*digit).to_digit(16);
        let pair =
            |pair: &[u8]| u8::try_from(digit(pair.first()?)? * 16 + digit(pair.get(1)?)?).ok();
        hex.as_bytes().chunks(2).map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use avocet_core::i18n::Lang;

    fn check_bytes(name: &str, bytes: &[u8]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        check(&path, folder.path()).map_err(|say| say.text(Lang::En))
    }

    #[test]
    fn programs_and_scripts_of_this_machine_may_start() {
        let own = std::env::current_exe().unwrap();
        assert!(check(&own, Path::new("/")).is_ok());
        assert!(check(Path::new("/bin/sh"), Path::new("/")).is_ok());
        assert_eq!(check_bytes("run", b"#!/bin/sh\nexit\n"), Ok(()));
        assert_eq!(check_bytes("run", b"#! /bin/sh -e"), Ok(()));
    }

    #[test]
    fn a_file_that_the_system_would_pass_to_a_shell_does_not_start() {
        let cases: &[(&[u8], &str)] = &[
            (b"echo hello\n", "interpreter"),
            (b"#!\nexit\n", "interpreter"),
            (b"#!   \nexit\n", "interpreter"),
            (b"", "empty"),
            (b"\x00\x01\x02\x03", "not a program"),
            (b"MZ\x90\x00", "not a program"),
            (b"#!/bin/sh\r\nexit\n", "line ending"),
            (b"#!/etc/passwd\n", "`/etc/passwd` is text"),
        ];
        for (bytes, expected) in cases {
            let why = check_bytes("run", bytes).unwrap_err();
            assert!(why.contains(expected), "{bytes:?}: {why}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_of_another_machine_is_no_program_of_this_one() {
        let machine = if cfg!(target_arch = "x86_64") { 183 } else { 62 };
        let mut head = vec![0; 64];
        head[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        (head[16], head[18]) = (2, machine);
        assert!(check_bytes("run", &head).unwrap_err().contains("not a program"));
        // A script whose interpreter is of another machine.
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::write(&inner, head).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
        let script = format!("#!{}\n", inner.display());
        assert!(check_bytes("run", script.as_bytes()).unwrap_err().contains("not a program"));
    }

    #[test]
    fn formats_the_kernel_was_taught_may_start() {
        let wine = "enabled\ninterpreter /usr/bin/wine\nflags: \nextension .exe\n";
        assert!(formats::format_matches(wine, b"MZ", Path::new("/x/a.exe")));
        assert!(!formats::format_matches(wine, b"MZ", Path::new("/x/a")));
        assert!(!formats::format_matches(
            &wine.replace("enabled", "disabled"),
            b"",
            Path::new("a.exe")
        ));
        let magic = "enabled\ninterpreter /q\nflags: F\noffset 0\nmagic 7f454c46\nmask ffffff00\n";
        assert!(formats::format_matches(magic, b"\x7fELX\x02", Path::new("a")));
        assert!(!formats::format_matches(magic, b"\x7fEXX\x02", Path::new("a")));
    }
}
