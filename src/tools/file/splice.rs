//! Changes a file of any size in places: a copy is written beside it and takes its name, and never
//! more than a piece of it is held.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;

use super::safe_open::{FileSlot, MissingFolders};
use super::{FileToolResult, FileToolState, reason};
use crate::large_search::stamp;
use avocet_core::i18n::tools as phrases;
use avocet_safety::LargeFileState;
use avocet_safety::tools::{Cut, LargeEdit};

pub fn run(edit: &LargeEdit, state: &FileToolState) -> FileToolResult {
    match apply(edit, state) {
        Ok(()) => FileToolResult {
            change: Some(edit.change.clone().into_stored()),
            note: Some(phrases::LARGE_EDITED.into()),
            ..FileToolResult::default()
        },
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let say = phrases::CHANGED_ON_DISK.with("path", edit.spot.shown.as_str());
            FileToolResult { exit: 3, ..FileToolResult::failed(say) }
        }
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            let say = phrases::READ_ONLY.with("path", edit.spot.shown.as_str());
            FileToolResult::failed(say)
        }
        Err(error) => FileToolResult::failed(reason(&edit.spot.shown, &edit.spot.path, &error)),
    }
}

/// The file is not the one that was judged.
fn changed() -> io::Error {
    io::ErrorKind::AlreadyExists.into()
}

fn apply(edit: &LargeEdit, state: &FileToolState) -> io::Result<()> {
    let slot = FileSlot::open(&edit.spot.path, MissingFolders::Fail)?;
    let there = slot.file()?.ok_or_else(changed)?;
    if there.is_read_only() {
        return Err(io::ErrorKind::ReadOnlyFilesystem.into());
    }
    let mut source = there.reader()?;
    if stamp(&source)? != edit.stamp {
        return Err(changed());
    }
    if let (Some(journal), Some(folder)) = (&state.journal, edit.spot.path.parent()) {
        journal.record(folder);
    }
    let fill = |file: &mut File| write_spliced(&mut source, file, &edit.cuts);
    slot.write_atomic_with(fill, &there, || is_unchanged(&slot, edit.stamp))
}

/// Whether the name still means the same file in the same state.
fn is_unchanged(slot: &FileSlot, state: LargeFileState) -> io::Result<()> {
    let now = slot.file()?.ok_or_else(changed)?;
    if stamp(&now.reader()?)? == state { Ok(()) } else { Err(changed()) }
}

fn write_spliced(source: &mut File, target: &mut File, cuts: &[Cut]) -> io::Result<()> {
    let mut at = 0;
    for cut in cuts {
        copy(source, target, at, Some(cut.at - at))?;
        let mut old = vec![0; cut.old.len()];
        source.read_exact_at(&mut old, cut.at).map_err(|_| changed())?;
        if old != *cut.old {
            return Err(changed());
        }
        target.write_all(&cut.new)?;
        at = cut.at + cut.old.len() as u64;
    }
    copy(source, target, at, None)
}

/// Copies a part, without bringing it here where the system can.
fn copy(source: &mut File, target: &mut File, from: u64, bytes: Option<u64>) -> io::Result<()> {
    source.seek(SeekFrom::Start(from))?;
    let copied = io::copy(&mut source.take(bytes.unwrap_or(u64::MAX)), target)?;
    // It became shorter meanwhile.
    if bytes.is_some_and(|bytes| copied < bytes) { Err(changed()) } else { Ok(()) }
}
