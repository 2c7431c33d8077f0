//! Text in other encodings than UTF-8: recognized, decoded, and encoded again as it was. A text
//! counts only if all of its bytes come back.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

/// How the bytes of a file are text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEncoding {
    Utf8,
    /// UTF-8 with a few bytes that are none. Each of them is a character of its own that no
    /// text has, and is written back as the byte it was.
    DamagedUtf8,
    Utf16Le,
    Utf16Be,
    /// GBK, windows-1252 and others.
    Other(&'static Encoding),
}

impl FileEncoding {
    pub fn name(self) -> &'static str {
        match self {
            FileEncoding::Utf8 | FileEncoding::DamagedUtf8 => "UTF-8",
            FileEncoding::Utf16Le | FileEncoding::Utf16Be => "UTF-16",
            FileEncoding::Other(encoding) => encoding.name(),
        }
    }

    /// Characters begin at multiples of it, in bytes.
    pub fn unit(self) -> usize {
        match self {
            FileEncoding::Utf16Le | FileEncoding::Utf16Be => 2,
            FileEncoding::Utf8 | FileEncoding::DamagedUtf8 | FileEncoding::Other(_) => 1,
        }
    }

    /// The end of each line, its break included, in bytes that begin with a character.
    pub fn line_ends(self, bytes: &[u8]) -> impl DoubleEndedIterator<Item = usize> + '_ {
        memchr::memchr_iter(b'\n', bytes).filter_map(move |at| self.line_end(bytes, at))
    }

    pub fn count_lines(self, bytes: &[u8]) -> usize {
        match self.unit() {
            1 => memchr::memchr_iter(b'\n', bytes).count(),
            _ => self.line_ends(bytes).count(),
        }
    }

    /// In UTF-16 the byte of a line break is also half of other characters.
    fn line_end(self, bytes: &[u8], at: usize) -> Option<usize> {
        match self {
            FileEncoding::Utf16Le => {
                (at.is_multiple_of(2) && bytes.get(at + 1) == Some(&0)).then_some(at + 2)
            }
            FileEncoding::Utf16Be => {
                (!at.is_multiple_of(2) && bytes.get(at - 1) == Some(&0)).then_some(at + 1)
            }
            FileEncoding::Utf8 | FileEncoding::DamagedUtf8 | FileEncoding::Other(_) => Some(at + 1),
        }
    }

    /// The text of a part of a file, with a sign for bytes that are invalid in it.
    pub fn decode_part(self, bytes: &[u8]) -> Cow<'_, str> {
        let encoding = match self {
            FileEncoding::Utf8 => return String::from_utf8_lossy(bytes),
            FileEncoding::DamagedUtf8 => return Cow::Owned(damaged_text(bytes)),
            FileEncoding::Utf16Le => encoding_rs::UTF_16LE,
            FileEncoding::Utf16Be => encoding_rs::UTF_16BE,
            FileEncoding::Other(encoding) => encoding,
        };
        encoding.decode_without_bom_handling(bytes).0
    }

    /// The bytes of a text; `None` where it has characters that the encoding has not.
    pub fn encode(self, text: &str) -> Option<Cow<'_, [u8]>> {
        let units = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
        match self {
            FileEncoding::Utf8 => Some(Cow::Borrowed(text.as_bytes())),
            FileEncoding::DamagedUtf8 => Some(Cow::Owned(damaged_bytes(text))),
            FileEncoding::Utf16Le => Some(Cow::Owned(units(u16::to_le_bytes))),
            FileEncoding::Utf16Be => Some(Cow::Owned(units(u16::to_be_bytes))),
            FileEncoding::Other(encoding) => {
                let (bytes, _, has_unmappable) = encoding.encode(text);
                (!has_unmappable).then_some(bytes)
            }
        }
    }
}

/// The text of a file and its encoding; `None`: it is no text. A byte order mark is its first
/// character.
pub fn decode(bytes: &[u8]) -> Option<(Cow<'_, str>, FileEncoding)> {
    if is_marked_utf32(bytes) {
        return None;
    }
    let wide = utf16(bytes);
    if let (None, Ok(text)) = (wide, std::str::from_utf8(bytes)) {
        // Bytes that are mostly NUL are data, although they are valid.
        let is_text = memchr::memchr_iter(0, bytes).count() * 4 < bytes.len().max(1);
        return is_text.then_some((Cow::Borrowed(text), FileEncoding::Utf8));
    }
    match wide {
        Some(encoding) => decode_as(bytes, encoding),
        None if has_control_bytes(bytes) => None,
        None if is_damaged_utf8(bytes) => decode_as(bytes, FileEncoding::DamagedUtf8),
        None => {
            let encoding = detect(bytes);
            // GB18030 has more characters, and is recognized as the other.
            let wider = (encoding == encoding_rs::GBK).then_some(encoding_rs::GB18030);
            let candidates = [Some(encoding), wider].into_iter().flatten();
            candidates.map(FileEncoding::Other).find_map(|encoding| decode_as(bytes, encoding))
        }
    }
}

/// The text, if all of its bytes come back.
fn decode_as(bytes: &[u8], encoding: FileEncoding) -> Option<(Cow<'_, str>, FileEncoding)> {
    let text = match encoding {
        FileEncoding::Utf16Le => decode_utf16(bytes, u16::from_le_bytes)?,
        FileEncoding::Utf16Be => decode_utf16(bytes, u16::from_be_bytes)?,
        FileEncoding::Other(encoding) => {
            encoding.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned()
        }
        FileEncoding::DamagedUtf8 => damaged_text(bytes),
        FileEncoding::Utf8 => return None,
    };
    let same = encoding.encode(&text).is_some_and(|again| *again == *bytes);
    same.then_some((Cow::Owned(text), encoding))
}

/// The same of the beginning of a file, up to the end of its last line: it may be cut within a
/// character.
pub fn decode_head(head: &[u8]) -> Option<(Cow<'_, str>, FileEncoding)> {
    let encoding = utf16(head).unwrap_or(FileEncoding::Utf8);
    let whole = head.len() - head.len() % encoding.unit();
    decode(head.get(..encoding.line_ends(head).next_back().unwrap_or(whole))?)
}

/// Whether the bytes are UTF-16: by their mark, or without one by the zeros in one half of their
/// characters, as letters, blanks and line breaks have them.
pub fn utf16(bytes: &[u8]) -> Option<FileEncoding> {
    match bytes {
        _ if is_marked_utf32(bytes) => None,
        [0xff, 0xfe, ..] => Some(FileEncoding::Utf16Le),
        [0xfe, 0xff, ..] => Some(FileEncoding::Utf16Be),
        _ => unmarked_utf16(bytes),
    }
}

fn unmarked_utf16(bytes: &[u8]) -> Option<FileEncoding> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let mut first = 0;
    let mut second = 0;

    for at in memchr::memchr_iter(0, bytes) {
        match at % 2 {
            0 => first += 1,
            _ => second += 1,
        }
    }
    let (encoding, unit, zeros): (_, fn([u8; 2]) -> u16, usize) = match (first, second) {
        (0, 1..) => (FileEncoding::Utf16Le, u16::from_le_bytes, second),
        (1.., 0) => (FileEncoding::Utf16Be, u16::from_be_bytes, first),
        _ => return None,
    };
    let is_control = |unit: u16| matches!(unit, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let is_text = zeros * 4 >= pairs.len() && !pairs.iter().any(|pair| is_control(unit(*pair)));
    is_text.then_some(encoding)
}

/// UTF-32 is not read: its mark begins as that of UTF-16.
fn is_marked_utf32(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff])
}

/// The encoding of a text by its beginning, where it is neither UTF-8 nor has a mark.
pub fn detect_head(head: &[u8]) -> Option<&'static str> {
    // A character may be cut at the end.
    let is_other = std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
    let is_other = is_other && utf16(head).is_none() && !has_control_bytes(head);
    (is_other && !is_damaged_utf8(head)).then(|| detect(head).name())
}

/// The first of the characters that are invalid bytes: private ones, at the end of all.
const FIRST_STRAY: u32 = 0x10_ff00;

/// Whether invalid bytes are few among characters of UTF-8: in no other encoding text looks
/// like that.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let mut wide = 0;
    let mut invalid = 0;

    for chunk in bytes.utf8_chunks() {
        wide += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += chunk.invalid().len();
    }
    wide > 0 && (invalid == 1 || wide >= 2 * invalid)
}

fn damaged_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let stray = chunk.invalid().iter();
        text.extend(stray.filter_map(|byte| char::from_u32(FIRST_STRAY + u32::from(*byte))));
    }
    text
}

fn damaged_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c).checked_sub(FIRST_STRAY).and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) if !byte.is_ascii() => bytes.push(byte),
            _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Bytes that no text in an encoding of single or double bytes has.
fn has_control_bytes(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f))
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_recognized_and_written_as_it_was() {
        let gbk = encoding_rs::GBK;
        let chinese = "编码：这是一个用国标编码保存的文件，里面有不少常用的汉字。\r\n";
        let french = "Le café est à côté de l'hôtel, près de la forêt.\n";
        let samples = [
            (gbk.encode(chinese).0.into_owned(), chinese, "GBK"),
            (encoding_rs::WINDOWS_1252.encode(french).0.into_owned(), french, "windows-1252"),
            (
                FileEncoding::Utf16Le.encode("\u{feff}好\n").unwrap().into_owned(),
                "\u{feff}好\n",
                "UTF-16",
            ),
            (
                FileEncoding::Utf16Be.encode("\u{feff}好\n").unwrap().into_owned(),
                "\u{feff}好\n",
                "UTF-16",
            ),
            (french.as_bytes().to_vec(), french, "UTF-8"),
        ];
        for (bytes, text, name) in samples {
            let (decoded, encoding) = decode(&bytes).unwrap();
            assert_eq!((decoded.as_ref(), encoding.name()), (text, name));
            assert_eq!(*encoding.encode(&decoded).unwrap(), *bytes);
        }
        assert_eq!(FileEncoding::Other(encoding_rs::WINDOWS_1252).encode("汉"), None);
    }

    #[test]
    fn a_few_bytes_that_are_no_character_leave_a_text_in_utf8_and_come_back_as_they_were() {
        let stray = [&b"caf\xc3\xa9 "[..], b"\xe9 \xff", " 好 größer naïve\n".as_bytes()].concat();
        let (text, encoding) = decode(&stray).unwrap();
        assert_eq!((encoding, encoding.name()), (FileEncoding::DamagedUtf8, "UTF-8"));
        assert_eq!(*encoding.encode(&text).unwrap(), *stray);
        let edited = text.replace('好', "很好 é");
        let written = encoding.encode(&edited).unwrap().into_owned();
        let wanted =
            [&b"caf\xc3\xa9 "[..], b"\xe9 \xff", " 很好 é größer naïve\n".as_bytes()].concat();
        assert_eq!(written, wanted);
        assert_eq!(detect_head(&stray), None);
        // A character cut in two is two bytes, and a text in another encoding is one.
        let cut = [&b"\xe5\xa5"[..], "x 好好好好\n".as_bytes()].concat();
        assert_eq!(decode(&cut).unwrap().1, FileEncoding::DamagedUtf8);
        assert_ne!(decode(b"caf\xe9 au lait\n").unwrap().1, FileEncoding::DamagedUtf8);
    }

    #[test]
    fn lines_of_wide_characters_end_at_their_breaks_only() {
        // Half of the first two characters is the byte of a line break.
        let text = "上\u{a00}\n下\n";
        for encoding in [FileEncoding::Utf16Le, FileEncoding::Utf16Be] {
            let bytes = encoding.encode(text).unwrap();
            assert_eq!(encoding.line_ends(&bytes).collect::<Vec<_>>(), [6, 10]);
            assert_eq!(encoding.line_ends(&bytes).next_back(), Some(10));
            assert_eq!(encoding.decode_part(&bytes), text);
        }
        assert_eq!(FileEncoding::Utf8.line_ends(b"a\n\nb").collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn a_head_that_is_cut_within_a_character_is_text() {
        let (text, encoding) =
            decode_head("\u{feff}好\n文".as_bytes().split_last().unwrap().1).unwrap();
        assert_eq!((text.as_ref(), encoding), ("\u{feff}好\n", FileEncoding::Utf8));
        let mut wide = FileEncoding::Utf16Le.encode("\u{feff}好\n\u{1f600}").unwrap().into_owned();
        wide.truncate(wide.len() - 2);
        let (text, encoding) = decode_head(&wide).unwrap();
        assert_eq!((text.as_ref(), encoding), ("\u{feff}好\n", FileEncoding::Utf16Le));
    }

    #[test]
    fn utf16_without_a_mark_and_the_larger_gb_encoding_are_written_as_they_were() {
        let text = "first line\r\nsecond é 好\r\n";
        for encoding in [FileEncoding::Utf16Le, FileEncoding::Utf16Be] {
            let bytes = encoding.encode(text).unwrap();
            assert_eq!(decode(&bytes), Some((Cow::Borrowed(text), encoding)));
            let (head, known) = decode_head(bytes.get(..41).unwrap()).unwrap();
            assert_eq!((head.as_ref(), known), ("first line\r\n", encoding));
        }
        let chinese = "这是一个用国标编码保存的文件，价格 5 €，罕见字 𠀀，里面有常用的汉字。\n";
        let bytes = encoding_rs::GB18030.encode(chinese).0;
        let (decoded, encoding) = decode(&bytes).unwrap();
        assert_eq!((decoded.as_ref(), encoding.name()), (chinese, "gb18030"));
        assert_eq!(*encoding.encode(&decoded).unwrap(), *bytes);
        // A NUL between words of UTF-8 makes no other encoding of it.
        let text = "one two\0three four\0";
        assert_eq!(decode(text.as_bytes()), Some((Cow::Borrowed(text), FileEncoding::Utf8)));
    }

    #[test]
    fn data_is_no_text() {
        for bytes in [
            &b"\xff\xfe\x00\x00a\x00\x00\x00"[..],
            b"\x00\x00\xfe\xff\x00\x00\x00a",
            b"a\x00\x00\x00b\x00\x00\x00",
            b"\x7fELF\x02\x01\xff",
            b"\xff\xfeabc",
            b"\x00\x01\xff",
            b"\xff\xd8\xff\xe0\x00\x10JFIF",
        ] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
