//! Checks whether the log next to the file still contains everything written to it, and the file
//! all of its pages. SQLite reads a log up to the first error and takes that for its end, so that a
//! log that was cut or damaged would lose the rest silently.
//!
//! The file of shared memory next to it, which remains when a program is killed, says how much must
//! be in the log. If it is missing, a log that does not end with a complete change counts as
//! damaged. Both formats are SQLite's: <https://sqlite.org/walformat.html>. Not here: what to do
//! about it (`database`).

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::with_suffix;

/// The size in bytes of the header before the first frame, and of the header before each page.
const HEAD: usize = 32;
const FRAME: usize = 24;
/// The first bytes of a database.
const NAME: &[u8] = b"SQLite format 3\0";
/// The first number of a log; the lowest bit says how its checksums are computed.
const MAGIC: u32 = 0x377f_0682;
/// Bytes of one of the two copies of what the shared memory says of the log, of what its own
/// sum is made over, and where, after both, it says how much of the log is in the file.
const INDEX: usize = 48;
const SUMMED: usize = 40;
const IN_FILE: usize = 2 * INDEX;
/// No page is longer.
const MAX_PAGE: usize = 65_536;

/// The state of the log according to the shared memory.
#[derive(Debug, PartialEq, Eq)]
struct WalIndex {
    salt: [u8; 8],
    /// Frames that were committed.
    frames: u32,
    /// Frames that are in the file as well.
    in_file: u32,
}

/// The contents of the log itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct WalContents {
    salt: [u8; 8],
    /// Frames up to the last complete change.
    committed: u32,
    /// The data after those is not from an older log.
    is_torn: bool,
}

/// Whether everything committed to this file and its log can still be read. Only valid while no
/// window has the file open.
pub fn is_intact(file: &Path) -> bool {
    let index = fs::read(with_suffix(file, "-shm")).ok().and_then(|bytes| WalIndex::read(&bytes));
    let log = with_suffix(file, "-wal");
    let length = fs::metadata(&log).map_or(0, |log| log.len());
    if length == 0 {
        return index.is_none_or(|index| index.frames <= index.in_file)
            && has_declared_length(file);
    }
    match (read(&log), index) {
        // A file that cannot be read now cannot be checked; opening it reports why.
        (Err(error), _) => error.kind() != io::ErrorKind::InvalidData,
        (Ok(_), Some(index)) if index.frames == 0 => true,
        (Ok(found), Some(index)) if found.salt == index.salt => found.committed >= index.frames,
        (Ok(found), _) => !found.is_torn,
    }
}

/// Whether a file without a log was cut. SQLite itself ignores half a page at the end.
fn has_declared_length(file: &Path) -> bool {
    let mut header = [0; 100];
    let Ok(mut from) = File::open(file) else { return true };
    let length = from.metadata().map_or(0, |file| file.len());
    if fill(&mut from, &mut header).is_ok_and(|read| read < header.len())
        || !header.starts_with(NAME)
    {
        // Empty, or not a database, which opening it reports.
        return true;
    }
    let page = u64::from(header[16]) << 8 | u64::from(header[17]);
    // The length is valid if it is as old as the last change.
    let says = read_u32_be(&header, 28)
        .filter(|_| read_u32_be(&header, 24) == read_u32_be(&header, 92))
        .unwrap_or(0);
    page < 512 || (length % page == 0 && length >= page * u64::from(says))
}

impl WalIndex {
    /// `None` if it contains nothing reliable.
    fn read(bytes: &[u8]) -> Option<WalIndex> {
        let copies = [bytes.get(..INDEX)?, bytes.get(INDEX..IN_FILE)?];
        // If two copies differ, one was being written: only what both say is certain.
        let mut indexes: Vec<WalIndex> =
            copies.iter().filter_map(|copy| WalIndex::read_copy(copy)).collect();
        indexes.sort_by_key(|index| index.frames);
        let mut index = indexes.into_iter().next()?;
        index.in_file = read_u32_native(bytes, IN_FILE)?;
        Some(index)
    }

    fn read_copy(bytes: &[u8]) -> Option<WalIndex> {
        let is_filled = *bytes.get(12)? != 0;
        let sum = (read_u32_native(bytes, SUMMED)?, read_u32_native(bytes, SUMMED + 4)?);
        let mine = sums((0, 0), bytes.get(..SUMMED)?, cfg!(target_endian = "big"));
        if !is_filled || sum != mine {
            return None;
        }
        let salt = bytes.get(32..40)?.try_into().ok()?;
        Some(WalIndex { salt, frames: read_u32_native(bytes, 16)?, in_file: 0 })
    }
}

/// Reads a log to its end.
fn read(log: &Path) -> io::Result<WalContents> {
    let mut from = BufReader::with_capacity(1 << 17, File::open(log)?);
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let mut header = [0; HEAD];
    if fill(&mut from, &mut header)? < HEAD {
        return Ok(WalContents { is_torn: true, ..WalContents::default() });
    }
    let magic = read_u32_be(&header, 0).ok_or_else(damaged)?;
    let is_big = magic & 1 == 1;
    let page =
        read_u32_be(&header, 8).and_then(|page| usize::try_from(page).ok()).ok_or_else(damaged)?;
    let mut sum = sums((0, 0), &header[..24], is_big);
    let sound = magic & !1 == MAGIC
        && (512..=MAX_PAGE).contains(&page)
        && (read_u32_be(&header, 24), read_u32_be(&header, 28)) == (Some(sum.0), Some(sum.1));
    if !sound {
        return Err(damaged());
    }
    let salt = [
        header[16], header[17], header[18], header[19], header[20], header[21], header[22],
        header[23],
    ];
    let mut contents = WalContents { salt, ..WalContents::default() };
    let mut frame = vec![0; FRAME + page];
    for number in 1_u32.. {
        let read = fill(&mut from, &mut frame)?;
        if read == 0 {
            contents.is_torn = number != contents.committed + 1;
            return Ok(contents);
        }
        if read < frame.len() {
            contents.is_torn = true;
            return Ok(contents);
        }
        if frame.get(8..16) != Some(&salt[..]) {
            // An older log may follow this one, but nothing more of this one.
            contents.is_torn =
                number != contents.committed + 1 || has_more_frames(&mut from, &mut frame, &salt)?;
            return Ok(contents);
        }
        sum = sums(sum, &frame[..8], is_big);
        sum = sums(sum, &frame[FRAME..], is_big);
        if (read_u32_be(&frame, 16), read_u32_be(&frame, 20)) != (Some(sum.0), Some(sum.1)) {
            contents.is_torn = true;
            return Ok(contents);
        }
        if read_u32_be(&frame, 4) != Some(0) {
            contents.committed = number;
        }
    }
    Ok(contents)
}

/// Whether another frame of this log follows.
fn has_more_frames(from: &mut impl Read, frame: &mut [u8], salt: &[u8]) -> io::Result<bool> {
    while fill(from, frame)? == frame.len() {
        if frame.get(8..16) == Some(salt) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Fills a buffer as far as there is data; returns the length.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while let Some(rest) = buffer.get_mut(at..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(read) => at += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}

fn four_bytes(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at + 4)?.try_into().ok()
}

fn read_u32_be(bytes: &[u8], at: usize) -> Option<u32> {
    four_bytes(bytes, at).map(u32::from_be_bytes)
}

fn read_u32_native(bytes: &[u8], at: usize) -> Option<u32> {
    four_bytes(bytes, at).map(u32::from_ne_bytes)
}

/// Continues the checksums with more bytes.
fn sums(before: (u32, u32), bytes: &[u8], is_big: bool) -> (u32, u32) {
    let (mut first, mut second) = before;
    for pair in bytes.chunks_exact(8) {
        let word = |at: usize| {
            let four = four_bytes(pair, at).unwrap_or_default();
            if is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
        };
        first = first.wrapping_add(word(0)).wrapping_add(second);
        second = second.wrapping_add(word(4)).wrapping_add(first);
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// A file in the state a killed program leaves: copied while it is open.
    fn copy_as_if_killed(folder: &Path) -> std::path::PathBuf {
        let (live, file) = (folder.join("live.db"), folder.join("left.db"));
        let db = Connection::open(&live).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(a);").unwrap();
        for number in 0..40 {
            db.execute("INSERT INTO t VALUES (?1)", [format!("{number}{}", "x".repeat(500))])
                .unwrap();
        }
        for ending in ["", "-wal", "-shm"] {
            fs::copy(with_suffix(&live, ending), with_suffix(&file, ending)).unwrap();
        }
        file
    }

    #[test]
    fn the_log_of_a_killed_program_is_intact() {
        let folder = tempfile::tempdir().unwrap();
        let file = copy_as_if_killed(folder.path());
        assert!(is_intact(&file));
        // Also if nothing says how long it should be.
        fs::remove_file(with_suffix(&file, "-shm")).unwrap();
        assert!(is_intact(&file));
        assert!(is_intact(&folder.path().join("none.db")));
    }

    #[test]
    fn a_truncated_damaged_or_removed_log_is_not_intact() {
        let folder = tempfile::tempdir().unwrap();
        let file = copy_as_if_killed(folder.path());
        let (log, index) = (with_suffix(&file, "-wal"), with_suffix(&file, "-shm"));
        let whole = fs::read(&log).unwrap();
        for cut in (1..whole.len()).step_by(997) {
            fs::write(&log, &whole[..cut]).unwrap();
            assert!(!is_intact(&file), "cut at {cut}");
        }
        for at in (0..whole.len()).step_by(1_501) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            fs::write(&log, &bytes).unwrap();
            assert!(!is_intact(&file), "damaged at {at}");
        }
        fs::remove_file(&log).unwrap();
        assert!(!is_intact(&file));
        // Without the index, a log that is cut between two changes looks like a shorter one; a cut
        // anywhere else is noticed.
        fs::write(&log, &whole[..whole.len() - 100]).unwrap();
        fs::remove_file(&index).unwrap();
        assert!(!is_intact(&file));
    }

    #[test]
    fn a_lost_uncommitted_change_is_not_damage() {
        let folder = tempfile::tempdir().unwrap();
        let file = copy_as_if_killed(folder.path());
        let log = with_suffix(&file, "-wal");
        let mut bytes = fs::read(&log).unwrap();
        // The first bytes of a change that a killed program did not finish.
        let part = bytes[HEAD..HEAD + 3_000].to_vec();
        bytes.extend(part);
        fs::write(&log, &bytes).unwrap();
        assert!(is_intact(&file));
    }
}
