//! Reads git's index of tracked files, as far as a judgement needs it.

use std::path::PathBuf;

use super::super::{paths, sensitive};
use super::Tracked;

/// The most of it that is read, in bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024 * 1024;

const HEADER: usize = 12;
/// Times, numbers, rights and sizes of an entry, in front of the name of its content.
const FACTS: usize = 40;
const SUBMODULE: u32 = 0o160_000;
const FILE: u32 = 0o100_000;
const KIND: u32 = 0o170_000;
/// The list goes on in another file.
const SPLIT: &[u8] = b"link";

/// Lengths of a content's name. The index does not say which of the two it uses.
const NAMES: [usize; 2] = [20, 32];

/// The tracked files. A list in another form than git's second to fourth is unknown.
pub(super) fn classify_index(bytes: &[u8]) -> Option<Tracked> {
    NAMES.into_iter().find_map(|name| {
        let mut tracked = Tracked::default();
        read_entries(bytes, name, |entry| {
            tracked.submodules |= entry.kind == SUBMODULE;
            let path = String::from_utf8_lossy(entry.path);
            let credential = paths::is_credential_path(path.as_ref().as_ref());
            tracked.credentials |= credential;
            tracked.credential_folders |=
                credential && !path.split('/').any(sensitive::is_sensitive_name);
        })?;
        Some(tracked)
    })
}

/// The repositories within the repository, by their paths; `None` as for [`classify_index`].
pub(super) fn submodules(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    NAMES.into_iter().find_map(|name| {
        let mut found = Vec::new();
        read_entries(bytes, name, |entry| {
            if entry.kind == SUBMODULE {
                found.push(PathBuf::from(String::from_utf8_lossy(entry.path).as_ref()));
            }
        })?;
        Some(found)
    })
}

/// A tracked file as git last saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedFile {
    /// When its content changed, in seconds and nanoseconds.
    pub modified: (u32, u32),
    /// When anything about it changed, the same.
    pub changed: (u32, u32),
    pub size: u32,
    /// The name of its content among git's objects.
    pub object: Box<[u8]>,
}

/// The tracked files by their paths in the working tree, without links and repositories; `None`:
/// the index is in another form than git's second to fourth, or goes on elsewhere.
pub fn tracked_files(bytes: &[u8]) -> Option<Vec<(PathBuf, TrackedFile)>> {
    NAMES.into_iter().find_map(|name| {
        let mut files = Vec::new();
        read_entries(bytes, name, |entry| {
            if let (FILE, Ok(path)) = (entry.kind, std::str::from_utf8(entry.path)) {
                let IndexEntry { modified, changed, size, .. } = entry;
                let file = TrackedFile { modified, changed, size, object: entry.object.into() };
                files.push((PathBuf::from(path), file));
            }
        })?;
        Some(files)
    })
}

struct IndexEntry<'a> {
    path: &'a [u8],
    modified: (u32, u32),
    changed: (u32, u32),
    size: u32,
    object: &'a [u8],
    kind: u32,
}

/// `None`: it was not read to its end.
fn read_entries(bytes: &[u8], name: usize, mut visit: impl FnMut(IndexEntry<'_>)) -> Option<()> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = read_u32(bytes, 4)?;
    let count = read_u32(bytes, 8)?;
    let mut at = HEADER;
    let mut path = Vec::new();

    for _ in 0..count {
        let flags = read_u16(bytes, at + FACTS + name)?;
        let more = version > 2 && flags & 0x4000 != 0;
        let start = at + FACTS + name + 2 + if more { 2 } else { 0 };
        let next = if version == 4 {
            let (cut, from) = read_varint(bytes, start)?;
            path.truncate(path.len().checked_sub(cut)?);
            let end = from + bytes.get(from..)?.iter().position(|byte| *byte == 0)?;
            path.extend_from_slice(bytes.get(from..end)?);
            end + 1
        } else {
            let end = start + bytes.get(start..)?.iter().position(|byte| *byte == 0)?;
            path.clear();
            path.extend_from_slice(bytes.get(start..end)?);
            // Padded with one to eight zeros.
            at + (end - at) / 8 * 8 + 8
        };
        visit(IndexEntry {
            path: &path,
            modified: (read_u32(bytes, at + 8)?, read_u32(bytes, at + 12)?),
            changed: (read_u32(bytes, at)?, read_u32(bytes, at + 4)?),
            size: read_u32(bytes, at + 36)?,
            object: bytes.get(at + FACTS..at + FACTS + name)?,
            kind: read_u32(bytes, at + 24)? & KIND,
        });
        at = next;
    }
    // The rest begins with four letters, or is the checksum.
    (bytes.get(at..at + 4) != Some(SPLIT) && bytes.len() >= at + name).then_some(())
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// A number of git's own kind, seven bits to a byte, and where it ends.
fn read_varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut out = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        out = out.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((out, at + 1))
}
