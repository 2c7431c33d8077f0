//! Decides from a file's first bytes whether this machine can run it, before it is started.
//!
//! The system's own start passes a file it does not recognise to `/bin/sh`, and no step may
//! reach a shell that was not named. So a file that is neither a program for this machine
//! nor a script that names its interpreter is not started at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use avocet_core::i18n::{LocalizedText, Phrase, exec as words};

/// As much of a file as the kernel looks at.
const HEAD: usize = 256;

/// How many interpreters the kernel goes through.
const DEEPEST: usize = 4;

/// An error says why the file cannot run. What cannot be read here is left to the system.
pub(super) fn check(path: &Path, cwd: &Path) -> Result<(), LocalizedText> {
    check_nested(path, cwd, DEEPEST)
}

fn check_nested(path: &Path, cwd: &Path, deep: usize) -> Result<(), LocalizedText> {
    let Some((head, length, mut file)) = open_head(path) else { return Ok(()) };
    if let Some(line) = head.strip_prefix(b"#!") {
        let Some(interpreter) = interpreter(line) else {
            return Err(message(words::NO_INTERPRETER, path));
        };
        let interpreter = cwd.join(interpreter);
        check_interpreter(&interpreter, path)?;
        return if deep == 0 { Ok(()) } else { check_nested(&interpreter, cwd, deep - 1) };
    }
    if is_native(&head, length, &mut file) || formats::is_registered(&head, path) {
        return Ok(());
    }
    Err(match machine(&head) {
        Some(machine) => message(words::OTHER_MACHINE, path).with("machine", machine),
        None if head.is_empty() => message(words::EMPTY_FILE, path),
        None if is_text(&head) => message(words::NO_INTERPRETER, path),
        None => message(words::WRONG_FORMAT, path),
    })
}

fn message(word: Phrase, path: &Path) -> LocalizedText {
    word.with("path", path.display().to_string())
}

/// The head of a file, its length, and the file; `None`: it cannot be read.
fn open_head(path: &Path) -> Option<(Vec<u8>, u64, File)> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    let mut file = File::options().read(true).custom_flags(nonblocking).open(path).ok()?;
    let meta = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut head = Vec::with_capacity(HEAD);
    (&mut file).take(HEAD as u64).read_to_end(&mut head).ok()?;
    Some((head, meta.len(), file))
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

fn check_interpreter(interpreter: &Path, script: &Path) -> Result<(), LocalizedText> {
    let wrong = |word: Phrase| {
        let say = message(word, script);
        say.with("interpreter", interpreter.display().to_string())
    };
    match fs::metadata(interpreter) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let ends = interpreter.as_os_str().as_encoded_bytes().ends_with(b"\r");
            Err(wrong(if ends { words::INTERPRETER_RETURN } else { words::INTERPRETER_GONE }))
        }
        Ok(meta) if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 => {
            Err(wrong(words::INTERPRETER_CLOSED))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be cut.
        Err(error) => error.error_len().is_none(),
    };
    text && !head.contains(&0)
}

fn number(bytes: &[u8], at: usize, wide: usize) -> Option<u64> {
    let part = bytes.get(at..at + wide)?;
    // The sixth byte gives the byte order.
    let fold = |all: u64, byte: &u8| (all << 8) | u64::from(*byte);
    Some(match bytes.get(5) {
        Some(2) => part.iter().fold(0, fold),
        _ => part.iter().rev().fold(0, fold),
    })
}

const ELF: &[u8] = b"\x7fELF";

/// A whole program of the kind that this one is itself.
#[cfg(not(target_os = "macos"))]
fn is_native(head: &[u8], length: u64, file: &mut File) -> bool {
    if !head.starts_with(ELF) {
        return false;
    }
    let own = open_head(Path::new("/proc/self/exe")).map(|(own, ..)| own);
    // Class, byte order and machine.
    let kind = |head: &[u8]| Some((*head.get(4)?, *head.get(5)?, number(head, 18, 2)?));
    let same = match own {
        Some(own) => kind(head) == kind(&own) || is_supported_32_bit(kind(&own), kind(head)),
        // Nothing to compare with: the system decides.
        None => true,
    };
    same && is_complete(head, length, file).unwrap_or(false)
}

/// Further programs the kernel runs: 32-bit ones, where it was built for them.
#[cfg(not(target_os = "macos"))]
fn is_supported_32_bit(own: Option<(u8, u8, u64)>, other: Option<(u8, u8, u64)>) -> bool {
    const X86: u64 = 3;
    const X86_64: u64 = 62;
    matches!((own, other), (Some((2, _, X86_64)), Some((1, 1, X86))))
        && Path::new("/proc/sys/abi/vsyscall32").exists()
}

/// What the kernel checks in a program before it looks further: its type, and a table of
/// parts that is inside the file.
#[cfg(not(target_os = "macos"))]
fn is_complete(head: &[u8], length: u64, file: &mut File) -> Option<bool> {
    const LOADED: u64 = 1;
    let long = head.get(4) == Some(&2);
    let (table, size, count) = if long {
        (number(head, 32, 8)?, number(head, 54, 2)?, number(head, 56, 2)?)
    } else {
        (number(head, 28, 4)?, number(head, 42, 2)?, number(head, 44, 2)?)
    };
    let program = matches!(number(head, 16, 2)?, 2 | 3);
    let right = size == if long { 56 } else { 32 };
    let end = size.checked_mul(count).and_then(|all| all.checked_add(table));
    if !program || !right || count == 0 || end.is_none_or(|end| end > length) {
        return Some(false);
    }
    let mut parts = Vec::new();
    file.seek(SeekFrom::Start(table)).ok()?;
    file.take(size * count).read_to_end(&mut parts).ok()?;
    let size = usize::try_from(size).ok()?;
    // The order of bytes is the head's.
    let kind = |part: &[u8]| number(&[&head[..8.min(head.len())], part].concat(), 8, 4);
    Some(parts.chunks(size).any(|part| kind(part) == Some(LOADED)))
}

/// Programs of macOS, of any processor: the system translates some.
#[cfg(target_os = "macos")]
fn is_native(head: &[u8], _length: u64, _file: &mut File) -> bool {
    MACOS.iter().any(|magic| head.starts_with(magic))
}

const MACOS: &[&[u8]] = &[
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xfe\xed\xfa\xce",
    b"\xca\xfe\xba\xbe",
    b"\xca\xfe\xba\xbf",
];

/// Names of machines, by their number in a program's head.
const MACHINES: &[(u64, &str)] = &[
    (2, "SPARC"),
    (3, "x86, 32 bits"),
    (8, "MIPS"),
    (20, "PowerPC"),
    (21, "PowerPC, 64 bits"),
    (22, "IBM Z"),
    (40, "ARM, 32 bits"),
    (62, "x86-64"),
    (183, "ARM, 64 bits"),
    (243, "RISC-V"),
    (258, "LoongArch"),
];

/// The machine a program was built for, as far as its header says; `None`: it is not a
/// program, or is a broken one for this machine.
fn machine(head: &[u8]) -> Option<String> {
    if head.starts_with(b"MZ") {
        return Some("Windows".to_owned());
    }
    if MACOS.iter().any(|magic| head.starts_with(magic)) {
        return Some("macOS".to_owned());
    }
    if !head.starts_with(ELF) {
        return None;
    }
    let number = number(head, 18, 2)?;
    let known = MACHINES.iter().find(|(known, _)| *known == number);
    let own =
        open_head(Path::new("/proc/self/exe")).and_then(|(own, ..)| self::number(&own, 18, 2));
    let name = known.map_or_else(|| format!("ELF {number}"), |(_, name)| (*name).to_owned());
    (own != Some(number)).then_some(name)
}

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
    use super::*;
    use avocet_core::i18n::Lang;

    fn check_bytes(name: &str, bytes: &[u8]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        check(&path, folder.path()).map_err(|say| say.text(Lang::En))
    }

    fn elf(machine: u8, kind: u8) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        (head[16], head[18]) = (kind, machine);
        head
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
            (b"MZ\x90\x00", "Windows"),
            (b"#!/no/such/interpreter\n", "`/no/such/interpreter`"),
            (b"#!/bin/sh\r\nexit\n", "line ending"),
            (b"#!/etc/passwd\n", "`/etc/passwd`"),
        ];
        for (bytes, expected) in cases {
            let why = check_bytes("run", bytes).unwrap_err();
            assert!(why.contains(expected), "{bytes:?}: {why}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_of_another_machine_or_a_broken_one_is_recognised() {
        let other = if cfg!(target_arch = "x86_64") { (183, "ARM") } else { (62, "x86-64") };
        let why = check_bytes("run", &elf(other.0, 2)).unwrap_err();
        assert!(why.contains(other.1), "{why}");
        let own = fs::read("/proc/self/exe").unwrap()[18];
        for broken in [elf(own, 1), elf(own, 2)] {
            assert!(check_bytes("run", &broken).unwrap_err().contains("not a program"));
        }
        // A script whose interpreter is of another machine.
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::write(&inner, elf(other.0, 2)).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
        let script = format!("#!{}\n", inner.display());
        assert!(check_bytes("run", script.as_bytes()).unwrap_err().contains(other.1));
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
