//! `file.read`: lines of a text file, each after its number; images, documents and notebooks as a
//! model sees them.

use std::fmt::Write as _;

use super::super::image::{self, PreparedImage};
use super::super::read_tracker::ReadTracker;
use super::safe_open::{FileSlot, MissingFolders};
use super::{FileToolResult, file_lines, head, notebook, reason};
use avocet_core::i18n::tools as phrases;
use avocet_core::protocol::{AttachmentSize, ParsedOutput};
use avocet_core::text::encoding::decode;
use avocet_safety::tools::{Read, ResolvedPath, digest};

/// The largest file that is looked at, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Lines that are kept of a larger one, from the first that is wanted.
const LINES_OF_LARGE: usize = MAX_LINES;
/// The number of lines at most; the bytes in all, and of one line.
const MAX_LINES: usize = 2_000;
const BYTES: usize = 64 * 1024;
const LINE: usize = 1_000;
/// Bytes that are looked at to recognise a file's type.
const START: usize = 8 * 1024;

pub fn run(read: &Read, tracker: &ReadTracker) -> FileToolResult {
    let spot = &read.spot;
    let failed =
        |error: &std::io::Error| FileToolResult::failed(reason(&spot.shown, &spot.path, error));
    let slot = match FileSlot::open(&spot.path, MissingFolders::Fail) {
        Ok(slot) => slot,
        Err(error) => return failed(&error),
    };
    let mut file = match slot.file() {
        Ok(Some(file)) => file,
        Ok(None) => return failed(&std::io::ErrorKind::NotFound.into()),
        Err(error) => return failed(&error),
    };
    let size = file.bytes();
    let bytes = match file.read(MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => return failed(&error),
    };
    let is_whole = bytes.len() as u64 <= MAX_BYTES;
    let is_text = spot.inside && is_whole && std::str::from_utf8(&bytes).is_ok();
    let unsaved = tracker.host.as_ref().filter(|_| is_text).and_then(|host| host.read(&spot.path));
    let bytes = unsaved.map_or(bytes, String::into_bytes);
    if is_whole && let Some(result) = visible(&bytes, spot) {
        tracker.record(&spot.path, Some(digest(&bytes)));
        return result;
    }
    let decoded = (is_whole && known_kind(&bytes).is_none()).then(|| decode(&bytes)).flatten();
    let is_large_text = !is_whole && known_kind(&bytes).is_none() && file_lines::is_text(&bytes);
    if let (None, false, Some(kind)) = (&decoded, is_large_text, binary_kind(&bytes)) {
        let say = phrases::BINARY.with("path", spot.shown.as_str()).with("kind", kind);
        return FileToolResult::failed(say.with("bytes", size));
    }
    if !is_whole {
        return match file.lines(read.from, LINES_OF_LARGE) {
            Ok(lines) => numbered_lines(read, &lines.text, (lines.first, lines.total)),
            Err(error) => failed(&error),
        };
    }
    tracker.record(&spot.path, Some(digest(&bytes)));
    let text = decoded.map_or_else(|| String::from_utf8_lossy(&bytes), |(text, _)| text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_notebook = spot.path.extension().is_some_and(|extension| extension == "ipynb");
    if is_notebook
        && read.from == 1
        && read.to.is_none()
        && let Some((cells, count)) = notebook::cells(text)
    {
        let kept = head(&cells, BYTES);
        return FileToolResult {
            stdout: kept.to_owned(),
            truncated: kept.len() < cells.len(),
            note: Some(phrases::NOTEBOOK.with("n", count)),
            ..FileToolResult::default()
        };
    }
    numbered_lines(read, text, (1, text.lines().count()))
}

/// An image or a PDF document, which the model sees beside the results. `None` for other files, and
/// for an image that cannot be sent.
fn visible(bytes: &[u8], resolved_path: &ResolvedPath) -> Option<FileToolResult> {
    let path = resolved_path.shown.as_str();
    let (image, note) = if image::is_image(bytes) {
        let PreparedImage { image, size } = match image::prepare(bytes.to_vec(), path) {
            Ok(prepared) => prepared,
            Err(why) => return Some(FileToolResult::failed(why)),
        };
        let AttachmentSize::Pixels { width, height } = size else { return None };
        let say = phrases::IMAGE_READ.with("path", path).with("width", width);
        (image, say.with("height", height))
    } else if bytes.starts_with(image::PDF) && bytes.len() as u64 <= image::MAX_DOCUMENT {
        (
            image::document(bytes),
            phrases::DOCUMENT_READ.with("path", path).with("bytes", bytes.len()),
        )
    } else {
        return None;
    };
    Some(FileToolResult { images: vec![image], note: Some(note), ..FileToolResult::default() })
}

/// `first`: the number of the first line in `text`.
fn numbered_lines(read: &Read, text: &str, (first, total): (usize, usize)) -> FileToolResult {
    if total == 0 {
        return FileToolResult {
            note: Some(phrases::EMPTY_FILE.into()),
            ..FileToolResult::default()
        };
    }
    if read.from > total {
        let say = phrases::PAST_THE_END.with("total", total).with("from", read.from);
        return FileToolResult::failed(say);
    }
    let most = read.to.map_or(MAX_LINES, |to| (to - read.from + 1).min(MAX_LINES));
    let mut out = String::new();
    let mut last = read.from;
    for (at, line) in text.lines().enumerate().skip(read.from - first).take(most) {
        let kept = head(line, LINE);
        let cut = if kept.len() < line.len() { "…" } else { "" };
        if !out.is_empty() && out.len() + kept.len() > BYTES {
            break;
        }
        last = at + first;
        let _ = writeln!(out, "{last}\t{kept}{cut}");
    }
    let wanted = read.to.unwrap_or(total).min(total);
    let cut = last < wanted;
    let note = (cut || read.from > 1 || last < total)
        .then(|| phrases::LINES_OF.with("from", read.from).with("to", last).with("total", total));
    let parsed = ParsedOutput { kind: "text".to_owned(), total, items: Vec::new() };
    FileToolResult {
        stdout: out,
        truncated: cut,
        parsed: Some(parsed),
        note,
        ..FileToolResult::default()
    }
}

/// The kind of a file that is not text; `None` for text.
fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    let start = bytes.get(..bytes.len().min(START)).unwrap_or_default();
    let known = known_kind(bytes);
    if start.contains(&0) {
        return Some(known.unwrap_or("binary data"));
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => None,
        // The end may be cut within a character.
        Err(error) if error.error_len().is_none() && bytes.len() as u64 > MAX_BYTES => None,
        Err(_) => Some(known.unwrap_or("text in another encoding than UTF-8")),
    }
}

/// The kind of a file that begins like one of these.
fn known_kind(bytes: &[u8]) -> Option<&'static str> {
    KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind)
}

const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document, or a JAR)"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\xfd7zXZ", "xz data"),
    (b"\x7fELF", "an ELF program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"MZ", "a Windows program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
];
