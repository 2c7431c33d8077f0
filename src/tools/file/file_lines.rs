//! Some lines of a file of any size. The others are counted and not held.

use std::io::{self, Read};

use avocet_core::text::encoding::{self, FileEncoding};

/// What is kept of one line, what is read at once, and by which the encoding is known, in bytes.
const MAX_LENGTH: usize = 1 << 16;
const PIECE: u64 = 1 << 20;
const HEAD: usize = 1 << 16;

/// Lines of a file.
#[derive(Debug)]
pub struct FileLines {
    pub text: String,
    /// The number of the first line in it.
    pub first: usize,
    /// The lines of the whole file.
    pub total: usize,
}

/// Lines that are wanted, as far as they were met.
struct LineCollector {
    first: usize,
    most: usize,
    encoding: FileEncoding,
    bytes: Vec<u8>,
    total: usize,
    /// The size of the line so far.
    size: usize,
}

/// Whether a file that begins like this is text.
pub fn is_text(start: &[u8]) -> bool {
    encoding::decode_head(head(start)).is_some()
}

/// # Errors
/// The error of the reader.
pub fn read_lines(file: &mut impl Read, first: usize, most: usize) -> io::Result<FileLines> {
    let encoding = FileEncoding::Utf8;
    let mut lines = LineCollector { first, most, encoding, bytes: Vec::new(), total: 0, size: 0 };
    let mut piece = Vec::new();
    let mut is_first = true;

    loop {
        piece.clear();
        if file.by_ref().take(PIECE).read_to_end(&mut piece)? == 0 {
            break;
        }
        if std::mem::take(&mut is_first) {
            lines.encoding = encoding_of(&piece);
        }
        lines.add_piece(&piece);
    }
    Ok(lines.finish())
}

fn head(start: &[u8]) -> &[u8] {
    start.get(..HEAD).unwrap_or(start)
}

fn encoding_of(start: &[u8]) -> FileEncoding {
    let known = encoding::decode_head(head(start)).map(|(_, encoding)| encoding);
    known.or_else(|| encoding::utf16(start)).unwrap_or(FileEncoding::Utf8)
}

impl LineCollector {
    fn add_piece(&mut self, piece: &[u8]) {
        let mut start = 0;
        for end in self.encoding.line_ends(piece) {
            self.add(piece.get(start..end).unwrap_or_default());
            if self.size > MAX_LENGTH && self.is_wanted() {
                self.bytes.extend_from_slice(&self.encoding.encode("\n").unwrap_or_default());
            }
            (start, self.size) = (end, 0);
            self.total += 1;
        }
        self.add(piece.get(start..).unwrap_or_default());
    }

    fn add(&mut self, part: &[u8]) {
        if self.is_wanted() {
            let room = MAX_LENGTH.saturating_sub(self.size);
            self.bytes.extend_from_slice(part.get(..room).unwrap_or(part));
        }
        self.size += part.len();
    }

    fn is_wanted(&self) -> bool {
        (self.total + 1).checked_sub(self.first).is_some_and(|at| at < self.most)
    }

    fn finish(self) -> FileLines {
        let text = match self.encoding {
            // Its beginning may be plain, and tell nothing about the rest.
            FileEncoding::Utf8 => match encoding::decode(&self.bytes) {
                Some((text, _)) => text,
                None => String::from_utf8_lossy(&self.bytes),
            },
            known => known.decode_part(&self.bytes),
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        let total = self.total + usize::from(self.size > 0);
        FileLines { text, first: self.first, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_encoding_are_read_across_pieces() {
        let count = 200_000;
        let text: String = (1..=count).map(|at| format!("第 {at} 行，上面\r\n")).collect();
        let other = FileEncoding::Other(encoding_rs::GBK);
        for encoding in [FileEncoding::Utf8, FileEncoding::Utf16Le, FileEncoding::Utf16Be, other] {
            let mark = if encoding == other { "" } else { "\u{feff}" };
            let text = format!("{mark}{text}end");
            let bytes = encoding.encode(&text).unwrap();
            let lines = read_lines(&mut &*bytes, 150_000, 2).unwrap();
            assert_eq!(lines.text, "第 150000 行，上面\r\n第 150001 行，上面\r\n", "{encoding:?}");
            assert_eq!((lines.first, lines.total), (150_000, count + 1));
            let lines = read_lines(&mut &*bytes, 1, 1).unwrap();
            assert_eq!(lines.text, "第 1 行，上面\r\n", "without the mark");
        }
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_its_own() {
        let text = format!("{}\nnext\n", "x".repeat(3 << 20));
        let lines = read_lines(&mut text.as_bytes(), 1, 2).unwrap();
        assert_eq!(lines.text, format!("{}\nnext\n", "x".repeat(MAX_LENGTH)));
        assert_eq!(lines.total, 2);
    }
}
