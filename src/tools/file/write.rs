//! Changes a file: saves the old content, then puts the new one in its place, if the file
//! is still the one that was judged.

use std::io;
use std::sync::Arc;

use super::safe_open::{ExistingFile, FileSlot, MissingFolders};
use super::{FileToolResult, FileToolState, reason, syntax};
use avocet_core::i18n::{LocalizedText, safety as safety_words, tools as phrases};
use avocet_core::protocol::Change;
use avocet_safety::tools::{Obstacle, PatchTask, Write, digest};

/// A file this large was never judged, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Copies beside a settings file.
const BACKUPS: usize = 10;

pub fn run(write: &Write, state: &FileToolState) -> FileToolResult {
    match apply_change(write, state) {
        Ok(old) => {
            let Write { spot, after, change, note, .. } = write;
            state.read_tracker.record(&spot.path, change.after.clone());
            let fault = after.as_deref().and_then(|after| {
                syntax::new_fault(&spot.path, &spot.shown, old.as_deref(), after)
            });
            FileToolResult {
                change: Some(change.clone().into_stored()),
                note: joined(note.iter().cloned().chain(fault)),
                ..FileToolResult::default()
            }
        }
        Err(WriteError::Changed) => {
            let say = phrases::CHANGED_ON_DISK.with("path", write.spot.shown.as_str());
            FileToolResult { exit: 3, ..FileToolResult::failed(say) }
        }
        Err(WriteError::Message(say)) => FileToolResult::failed(*say),
        Err(WriteError::Failed(error)) => {
            FileToolResult::failed(reason(&write.spot.shown, &write.spot.path, &error))
        }
    }
}

/// Changes files together: if one cannot be changed, those before it get their old contents back.
pub fn run_patch(patch: &PatchTask, state: &FileToolState) -> FileToolResult {
    let mut done: Vec<(&Write, Option<Vec<u8>>)> = Vec::new();
    let mut notes = Vec::new();
    for write in &patch.writes {
        let old = unsaved_text(write, state).or_else(|| current(write));
        let result = run(write, state);
        if result.exit != 0 {
            for (write, old) in done.iter().rev() {
                let write = Write {
                    after: old.as_deref().map(Arc::from),
                    change: Change {
                        before: write.change.after.clone(),
                        after: write.change.before.clone(),
                        ..write.change.clone()
                    },
                    note: None,
                    ..(*write).clone()
                };
                // What has changed meanwhile is not ours any more.
                let _ = run(&write, state);
            }
            return result;
        }
        notes.extend(result.note);
        done.push((write, old));
    }
    FileToolResult {
        change: Some(patch.change.clone().into_stored()),
        note: joined(notes),
        ..FileToolResult::default()
    }
}

/// The notes as one.
fn joined(notes: impl IntoIterator<Item = LocalizedText>) -> Option<LocalizedText> {
    let join = |first, next| safety_words::NOTES.with("first", first).with("next", next);
    notes.into_iter().reduce(join)
}

/// The content of the file that is changed.
fn current(write: &Write) -> Option<Vec<u8>> {
    let slot = FileSlot::open(&write.spot.path, MissingFolders::Fail).ok()?;
    slot.file().ok()??.read(MAX_BYTES).ok()
}

enum WriteError {
    /// The file is not the one that was judged.
    Changed,
    Message(Box<LocalizedText>),
    Failed(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::Failed(error)
    }
}

/// Returns the old content.
fn apply_change(write: &Write, state: &FileToolState) -> Result<Option<Vec<u8>>, WriteError> {
    let missing = if write.after.is_some() { MissingFolders::Create } else { MissingFolders::Fail };
    let slot = FileSlot::open(&write.spot.path, missing)?;
    if let (Some(obstacle), Some(after)) = (write.obstacle, &write.after) {
        return replace_obstacle(write, obstacle, after, &slot, state).map(|()| None);
    }
    let mut there = slot.file()?;
    let old = there.as_mut().map(|there| there.read(MAX_BYTES)).transpose()?;
    let old = old.map(|old| match std::str::from_utf8(&old) {
        Ok(_) => unsaved_text(write, state).unwrap_or(old),
        Err(_) => old,
    });
    if old.as_deref().map(digest) != write.change.before {
        return Err(WriteError::Changed);
    }
    if there.as_ref().is_some_and(ExistingFile::is_read_only) {
        let say = phrases::READ_ONLY.with("path", write.spot.shown.as_str());
        return Err(WriteError::Message(Box::new(say)));
    }
    if let (Some(old), Some(kept)) = (&old, &state.backups) {
        kept.save(old).map_err(|error| {
            let say = phrases::NOT_KEPT.with("path", write.spot.shown.as_str());
            WriteError::Message(Box::new(say.with("why", error.to_string())))
        })?;
    }
    if let (Some(journal), Some(folder)) = (&state.journal, write.spot.path.parent()) {
        journal.record(folder);
    }
    if let (true, Some(old)) = (write.backup, &old) {
        back_up(write, old)?;
    }
    if let Some(after) = &write.after
        && write_by_host(write, after, state)?
    {
        if write.change.executable && there.is_none() {
            slot.make_executable()?;
        }
        return Ok(old);
    }
    match &write.after {
        Some(after) => match slot.write_atomic(after, there.as_ref()) {
            // It came while nothing was there.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(WriteError::Changed);
            }
            Ok(()) if write.change.executable && there.is_none() => slot.make_executable()?,
            other => other?,
        },
        None => slot.remove()?,
    }
    Ok(old)
}

/// The text of the file in an editor.
fn unsaved_text(write: &Write, state: &FileToolState) -> Option<Vec<u8>> {
    let host = state.read_tracker.writing_host().filter(|_| write.spot.inside)?;
    host.read(&write.spot.path).map(String::into_bytes)
}

/// Whether an editor wrote the file.
fn write_by_host(write: &Write, after: &[u8], state: &FileToolState) -> Result<bool, WriteError> {
    let host = state.read_tracker.writing_host().filter(|_| write.spot.inside);
    let (Some(host), Ok(text)) = (host, std::str::from_utf8(after)) else { return Ok(false) };
    match host.write(&write.spot.path, text) {
        Ok(()) => Ok(true),
        Err(why) => {
            let say = phrases::EDITOR_NOT_WRITTEN.with("path", write.spot.shown.as_str());
            Err(WriteError::Message(Box::new(say.with("why", why))))
        }
    }
}

/// Replaces an entry other than a file with the file.
fn replace_obstacle(
    write: &Write,
    obstacle: Obstacle,
    after: &[u8],
    slot: &FileSlot,
    state: &FileToolState,
) -> Result<(), WriteError> {
    if let (Some(journal), Some(folder)) = (&state.journal, write.spot.path.parent()) {
        journal.record(folder);
    }
    match slot.write_over(after, obstacle) {
        // Something else has come there.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::AlreadyExists
                    | io::ErrorKind::NotFound
                    | io::ErrorKind::DirectoryNotEmpty
                    | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(WriteError::Changed)
        }
        Ok(()) if write.change.executable => Ok(slot.make_executable()?),
        other => Ok(other?),
    }
}

/// A copy beside the file, keeping only the last few of them.
fn back_up(write: &Write, old: &[u8]) -> io::Result<()> {
    let path = &write.spot.path;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S%.3f").to_string();
    let stem = format!("{name}.bak-");
    let copy = path.with_file_name(format!("{stem}{now}"));
    let slot = FileSlot::open(&copy, MissingFolders::Fail)?;
    match slot.write_atomic(old, None) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let Some(folder) = path.parent() else { return Ok(()) };
    let mut copies: Vec<std::path::PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&stem))
        })
        .collect();
    copies.sort_unstable();
    let most = copies.len().saturating_sub(BACKUPS);
    for copy in copies.into_iter().take(most) {
        // One that stays does no harm.
        let _ = std::fs::remove_file(copy);
    }
    Ok(())
}
