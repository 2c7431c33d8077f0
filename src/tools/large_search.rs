//! Looks for texts in a file of any size, a piece at a time.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use memchr::memmem::Finder;

use crate::safety::{EditRange, FoundText, LargeFileState, SearchedFile};

/// Bytes that are read at once, of the head, and around a text that was found.
const PIECE: usize = 1 << 20;
const AROUND: usize = 2 * 1024;
/// Lines around it.
const LINES: usize = 3;
/// Places that are listed; there may be more.
const MOST: usize = 1_000;

/// The state of an open regular file.
pub fn stamp(file: &File) -> io::Result<LargeFileState> {
    let meta = file.metadata()?;
    let nanoseconds =
        |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Ok(LargeFileState {
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.len(),
        modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
        changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
    })
}

/// The beginning of a regular file.
pub fn head(path: &Path, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Where the texts are; `None`: the file cannot be read, or changed meanwhile.
pub fn find(path: &Path, texts: &[Vec<u8>], range: EditRange) -> Option<SearchedFile> {
    let mut file = open(path)?;
    let before = stamp(&file).ok()?;
    let mut search = Search::new(texts, range);
    search.run(&mut file).ok()?;
    let mut found = SearchedFile { stamp: before, found: search.found, is_more: search.is_more };
    for place in &mut found.found {
        let length = texts.get(place.text).map_or(0, Vec::len) as u64;
        (place.before, place.after) = surroundings(&file, place.at, place.at + length).ok()?;
    }
    (stamp(&file).ok()? == before).then_some(found)
}

fn open(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

struct Search<'a> {
    texts: Vec<Finder<'a>>,
    longest: usize,
    range: EditRange,
    /// What was read and not searched yet, where it is in the file, and in which line.
    pending: Vec<u8>,
    at: u64,
    line: usize,
    /// Where the next occurrence of each text may begin.
    free: Vec<u64>,
    found: Vec<FoundText>,
    is_more: bool,
}

impl<'a> Search<'a> {
    fn new(texts: &'a [Vec<u8>], range: EditRange) -> Search<'a> {
        Search {
            texts: texts.iter().map(Finder::new).collect(),
            longest: texts.iter().map(Vec::len).max().unwrap_or(0).max(1),
            range,
            pending: Vec::new(),
            at: 0,
            line: 1,
            free: vec![0; texts.len()],
            found: Vec::new(),
            is_more: false,
        }
    }

    fn run(&mut self, file: &mut File) -> io::Result<()> {
        loop {
            let read = file.take(PIECE as u64).read_to_end(&mut self.pending)?;
            self.search_pending(read == 0);
            let is_past = self.range.to.is_some_and(|to| self.line > to);
            if read == 0 || is_past || self.is_more {
                return Ok(());
            }
        }
    }

    /// A text may begin in what was read and end in what comes.
    fn search_pending(&mut self, is_last: bool) {
        let keep = if is_last { 0 } else { (self.longest - 1).min(self.pending.len()) };
        let limit = self.pending.len() - keep;
        let mut places = Vec::new();
        for ((number, text), free) in self.texts.iter().enumerate().zip(&mut self.free) {
            for start in text.find_iter(&self.pending).take_while(|start| *start < limit) {
                let at = self.at + start as u64;
                if at >= *free {
                    *free = at + text.needle().len() as u64;
                    places.push((start, number));
                }
            }
        }
        places.sort_unstable();
        let mut counted = 0;
        for (start, text) in places {
            self.line += count_lines(self.pending.get(counted..start));
            counted = start;
            let needle = self.texts.get(text).map(Finder::needle).unwrap_or_default();
            let last = self.line + count_lines(needle.get(..needle.len().saturating_sub(1)));
            if self.line < self.range.from || self.range.to.is_some_and(|to| last > to) {
                continue;
            }
            if self.found.len() == MOST {
                self.is_more = true;
                return;
            }
            let (at, line) = (self.at + start as u64, self.line);
            self.found.push(FoundText { text, at, line, before: Vec::new(), after: Vec::new() });
        }
        self.line += count_lines(self.pending.get(counted..limit));
        self.pending.drain(..limit);
        self.at += limit as u64;
    }
}

fn count_lines(bytes: Option<&[u8]>) -> usize {
    memchr::memchr_iter(b'\n', bytes.unwrap_or_default()).count()
}

/// The lines around a place, from the beginning of the first to the end of the last, as far as
/// they are short.
fn surroundings(file: &File, start: u64, end: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let from = start.saturating_sub(AROUND as u64);
    let mut before = read_at(file, from, usize::try_from(start - from).unwrap_or(0))?;
    let mut ends = memchr::memrchr_iter(b'\n', &before);
    let cut = match ends.nth(LINES) {
        Some(end) => end + 1,
        // The first line is whole only where the file begins.
        None if from == 0 => 0,
        None => memchr::memchr(b'\n', &before).map_or(0, |end| end + 1),
    };
    before.drain(..cut);
    let mut after = read_at(file, end, AROUND)?;
    let last = memchr::memchr_iter(b'\n', &after).take(LINES + 1).last();
    after.truncate(last.map_or(after.len(), |end| end + 1));
    Ok((before, after))
}

fn read_at(file: &File, at: u64, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; most];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_across_pieces_with_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let line = "0123456789abcde\n";
        let mut bytes = line.repeat(PIECE / line.len()).into_bytes();
        let cut = bytes.len() - 3;
        // One across the border of two pieces, and one at the end of the file.
        bytes.splice(cut.., *b"abNEEDLEcd\n");
        bytes.extend_from_slice(line.repeat(70_000).as_bytes());
        bytes.extend_from_slice(b"NEEDLE");
        std::fs::write(&path, &bytes).unwrap();
        let needles = [b"NEEDLE".to_vec(), b"nowhere".to_vec()];
        let all = find(&path, &needles, EditRange::default()).unwrap();
        let places: Vec<_> = all.found.iter().map(|it| (it.text, it.at, it.line)).collect();
        let lines = PIECE / line.len();
        let end = bytes.len() as u64 - 6;
        assert_eq!(places, [(0, cut as u64 + 2, lines), (0, end, lines + 70_001)]);
        let first = &all.found[0];
        assert!(first.before.ends_with(b"0123456789abcab"), "{first:?}");
        assert!(first.after.starts_with(b"cd\n0123"), "{first:?}");
        assert_eq!(first.after.iter().filter(|byte| **byte == b'\n').count(), LINES + 1);
        let range = EditRange { from: lines + 1, to: None };
        assert_eq!(find(&path, &needles, range).unwrap().found.len(), 1);
        let range = EditRange { from: 1, to: Some(5) };
        assert!(find(&path, &needles, range).unwrap().found.is_empty());
    }
}
