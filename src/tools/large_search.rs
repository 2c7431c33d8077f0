//! Looks for texts in a file of any size, a piece at a time.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use memchr::memmem::Finder;

use avocet_core::text::encoding::FileEncoding;
use avocet_safety::{EditSearch, FoundText, LargeFileState, SearchedFile};

/// Bytes that are read at once, of the head, and around a text that was found.
const PIECE: usize = 1 << 20;
const AROUND: usize = 2 * 1024;
/// Lines around it.
const LINES: usize = 3;
/// Places that are listed; there may be more.
const MAX_HITS: usize = 1_000;

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

/// A part of a regular file, from the line with the first byte that is not ASCII; `None`: it has no
/// such byte.
pub fn sample(path: &Path, most: usize) -> Option<Vec<u8>> {
    let mut file = open(path)?;
    let mut at = 0;
    let mut piece = Vec::new();

    loop {
        piece.clear();
        if (&mut file).take(PIECE as u64).read_to_end(&mut piece).ok()? == 0 {
            return None;
        }
        if !piece.is_ascii() {
            let other = piece.iter().position(|byte| !byte.is_ascii())?;
            let line = memchr::memrchr(b'\n', piece.get(..other)?).map_or(0, |end| end + 1);
            return read_at(&file, at + line as u64, most).ok();
        }
        at += piece.len() as u64;
    }
}

/// Where the texts are; `None`: the file cannot be read, or changed meanwhile.
pub fn find(path: &Path, texts: &[Vec<u8>], edit_search: EditSearch) -> Option<SearchedFile> {
    let mut file = open(path)?;
    let before = stamp(&file).ok()?;
    let mut search = Search::new(texts, edit_search);
    search.run(&mut file).ok()?;
    let mut searched_file =
        SearchedFile { stamp: before, found: search.found, is_more: search.is_more };
    for place in &mut searched_file.found {
        let length = texts.get(place.text).map_or(0, Vec::len) as u64;
        let around = surroundings(&file, edit_search.encoding, place.at, place.at + length);
        (place.before, place.after) = around.ok()?;
    }
    (stamp(&file).ok()? == before).then_some(searched_file)
}

fn open(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

struct Search<'a> {
    texts: Vec<Finder<'a>>,
    longest: usize,
    by: EditSearch,
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
    fn new(texts: &'a [Vec<u8>], search: EditSearch) -> Search<'a> {
        Search {
            texts: texts.iter().map(Finder::new).collect(),
            longest: texts.iter().map(Vec::len).max().unwrap_or(0).max(1),
            by: search,
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
            let is_past = self.by.range.to.is_some_and(|to| self.line > to);
            if read == 0 || is_past || self.is_more {
                return Ok(());
            }
        }
    }

    /// A text may begin in what was read and end in what comes.
    fn search_pending(&mut self, is_last: bool) {
        let unit = self.by.encoding.unit();
        let keep = if is_last { 0 } else { self.longest.next_multiple_of(unit) };
        let limit = self.pending.len().saturating_sub(keep);
        let limit = if is_last { limit } else { limit - limit % unit };
        let mut places = Vec::new();
        for ((number, text), free) in self.texts.iter().enumerate().zip(&mut self.free) {
            let mut from = usize::try_from(free.saturating_sub(self.at)).unwrap_or(usize::MAX);
            while let Some(rest) = self.pending.get(from..)
                && let Some(start) = text.find(rest).map(|start| from + start)
                && start < limit
            {
                // Within a character it is not the text.
                from = start + 1;
                if start.is_multiple_of(unit) {
                    from = start + text.needle().len().max(1);
                    *free = self.at + from as u64;
                    places.push((start, number));
                }
            }
        }
        places.sort_unstable();
        let mut counted = 0;
        for (start, text) in places {
            self.line += self.count_lines(self.pending.get(counted..start));
            counted = start;
            let needle = self.texts.get(text).map(Finder::needle).unwrap_or_default();
            let last = self.line + self.count_lines(needle.get(..needle.len().saturating_sub(1)));
            let range = self.by.range;
            if self.line < range.from || range.to.is_some_and(|to| last > to) {
                continue;
            }
            if self.found.len() == MAX_HITS {
                self.is_more = true;
                return;
            }
            let (at, line) = (self.at + start as u64, self.line);
            self.found.push(FoundText { text, at, line, before: Vec::new(), after: Vec::new() });
        }
        self.line += self.count_lines(self.pending.get(counted..limit));
        self.pending.drain(..limit);
        self.at += limit as u64;
    }

    fn count_lines(&self, bytes: Option<&[u8]>) -> usize {
        self.by.encoding.count_lines(bytes.unwrap_or_default())
    }
}

/// The lines around a place, from the beginning of the first to the end of the last, as far as
/// they are short.
fn surroundings(
    file: &File,
    encoding: FileEncoding,
    start: u64,
    end: u64,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let from = start.saturating_sub(AROUND as u64);
    let mut before = read_at(file, from, usize::try_from(start - from).unwrap_or(0))?;
    let cut = match encoding.line_ends(&before).rev().nth(LINES) {
        Some(end) => end,
        // The first line is whole only where the file begins.
        None if from == 0 => 0,
        None => encoding.line_ends(&before).next().unwrap_or(0),
    };
    before.drain(..cut);
    let mut after = read_at(file, end, AROUND)?;
    let last = encoding.line_ends(&after).take(LINES + 1).last();
    after.truncate(last.unwrap_or(after.len()));
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
    use avocet_safety::EditRange;

    fn search(encoding: FileEncoding, range: EditRange) -> EditSearch {
        EditSearch { encoding, range }
    }

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
        let by = |range| search(FileEncoding::Utf8, range);
        let all = find(&path, &needles, by(EditRange::default())).unwrap();
        let places: Vec<_> = all.found.iter().map(|it| (it.text, it.at, it.line)).collect();
        let lines = PIECE / line.len();
        let end = bytes.len() as u64 - 6;
        assert_eq!(places, [(0, cut as u64 + 2, lines), (0, end, lines + 70_001)]);
        let first = &all.found[0];
        assert!(first.before.ends_with(b"0123456789abcab"), "{first:?}");
        assert!(first.after.starts_with(b"cd\n0123"), "{first:?}");
        assert_eq!(first.after.iter().filter(|byte| **byte == b'\n').count(), LINES + 1);
        let range = EditRange { from: lines + 1, to: None };
        assert_eq!(find(&path, &needles, by(range)).unwrap().found.len(), 1);
        let range = EditRange { from: 1, to: Some(5) };
        assert!(find(&path, &needles, by(range)).unwrap().found.is_empty());
    }

    #[test]
    fn a_wide_text_is_found_where_its_characters_begin_and_lines_are_those_of_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for encoding in [FileEncoding::Utf16Le, FileEncoding::Utf16Be] {
            // `乎` is twice the same byte, which ends `一` or begins `丁`; half of `上` is the byte of
            // a line break.
            let text = format!("\u{feff}上上\n一乎 乎丁\n{}end乎", "上下\n".repeat(PIECE / 3));
            std::fs::write(&path, encoding.encode(&text).unwrap()).unwrap();
            let needle = encoding.encode("乎").unwrap().into_owned();
            let all = search(encoding, EditRange::default());
            let found = find(&path, &[needle], all).unwrap().found;
            let chars: Vec<u64> =
                text.chars().zip(0..).filter(|(c, _)| *c == '乎').map(|(_, at)| 2 * at).collect();
            assert_eq!(found.iter().map(|it| it.at).collect::<Vec<_>>(), chars);
            let lines: Vec<usize> = found.iter().map(|it| it.line).collect();
            assert_eq!(lines, [2, 2, PIECE / 3 + 3]);
            assert_eq!(encoding.decode_part(&found[1].before), "\u{feff}上上\n一乎 ");
            assert!(encoding.decode_part(&found[1].after).starts_with("丁\n上下\n上下\n上下\n"));
        }
    }

    #[test]
    fn a_sample_begins_at_the_line_with_the_first_other_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let ascii = "0123456789abcde\n".repeat(PIECE / 8);
        std::fs::write(&path, &ascii).unwrap();
        assert_eq!(sample(&path, 100), None);
        std::fs::write(&path, format!("{ascii}in é\nrest")).unwrap();
        assert_eq!(sample(&path, 9).as_deref(), Some("in é\nres".as_bytes()));
    }
}
