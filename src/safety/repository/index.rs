//! Reads git's index of tracked files, as far as a judgement needs it.

use super::super::{paths, sensitive};
use super::Tracked;

/// The most of it that is read, in bytes.
pub(super) const MOST: usize = 64 * 1024 * 1024;

const HEADER: usize = 12;
/// Times, numbers, rights and sizes of an entry, in front of the name of its content.
const FACTS: usize = 40;
const SUBMODULE: u32 = 0o160_000;
const KIND: u32 = 0o170_000;
/// The list goes on in another file.
const SPLIT: &[u8] = b"link";

/// The tracked files. A list in another form than git's second to fourth is unknown.
pub(super) fn classify_index(bytes: &[u8]) -> Option<Tracked> {
    // The index does not say which of the two hash lengths it uses.
    [20, 32].into_iter().find_map(|name| classify_entries(bytes, name))
}

fn classify_entries(bytes: &[u8], name: usize) -> Option<Tracked> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = read_u32(bytes, 4)?;
    let count = read_u32(bytes, 8)?;
    let (mut at, mut path) = (HEADER, Vec::new());
    let mut tracked = Tracked::default();
    for _ in 0..count {
        let kind = read_u32(bytes, at + 24)? & KIND;
        let flags = read_u16(bytes, at + FACTS + name)?;
        let more = version > 2 && flags & 0x4000 != 0;
        let start = at + FACTS + name + 2 + if more { 2 } else { 0 };
        let end = if version == 4 {
            let (cut, from) = read_varint(bytes, start)?;
            path.truncate(path.len().checked_sub(cut)?);
            let end = from + bytes.get(from..)?.iter().position(|byte| *byte == 0)?;
            path.extend_from_slice(bytes.get(from..end)?);
            end + 1
        } else {
            let end = start + bytes.get(start..)?.iter().position(|byte| *byte == 0)?;
            path = bytes.get(start..end)?.to_vec();
            // Padded with one to eight zeros.
            at + (end - at) / 8 * 8 + 8
        };
        tracked.submodules |= kind == SUBMODULE;
        let path = String::from_utf8_lossy(&path);
        let credential = paths::is_credential_path(path.as_ref().as_ref());
        tracked.credentials |= credential;
        tracked.credential_folders |=
            credential && !path.split('/').any(sensitive::is_sensitive_name);
        at = end;
    }
    // The rest begins with four letters, or is the checksum.
    if bytes.get(at..at + 4) == Some(SPLIT) || bytes.len() < at + name {
        return None;
    }
    Some(tracked)
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
