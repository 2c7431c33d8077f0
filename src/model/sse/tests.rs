//! The adaptor with every recorded stream, split in every way.

use std::path::{Path, PathBuf};

use futures_util::FutureExt;

use super::*;

/// The distance of the splits. Starting them at each of this many offsets splits at every byte.
const STRIDE: usize = 61;

fn read(pieces: &[&[u8]], cap: usize) -> Vec<Result<SseEvent, SseError<()>>> {
    let bytes = stream::iter(pieces.iter().map(|piece| Ok::<_, ()>(piece.to_vec())));
    events(bytes, cap).collect::<Vec<_>>().now_or_never().unwrap_or_default()
}

fn whole(bytes: &[u8]) -> Vec<Result<SseEvent, SseError<()>>> {
    read(&[bytes], EVENT_CAP)
}

fn event(name: &str, data: &str) -> Result<SseEvent, SseError<()>> {
    Ok(SseEvent { name: name.into(), data: data.into() })
}

fn message(data: &str) -> Result<SseEvent, SseError<()>> {
    event("message", data)
}

fn recordings() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sse");
    let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir());
    folders
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "sse"))
        .collect()
}

#[test]
fn every_recording_parses_the_same_however_it_is_split() {
    let recordings = recordings();
    assert!(recordings.len() > 15, "only {} recordings", recordings.len());
    for path in recordings {
        let bytes = std::fs::read(&path).unwrap();
        let expected = whole(&bytes);
        assert!(expected.len() > 1 && expected.iter().all(Result::is_ok), "{}", path.display());
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single, EVENT_CAP), expected, "{} byte by byte", path.display());
        for first in 1..=STRIDE {
            let (head, tail) = bytes.split_at(first.min(bytes.len()));
            let pieces: Vec<&[u8]> = std::iter::once(head).chain(tail.chunks(STRIDE)).collect();
            assert_eq!(read(&pieces, EVENT_CAP), expected, "{} from {first}", path.display());
        }
    }
}

#[test]
fn a_byte_order_mark_is_dropped_wherever_it_is_split() {
    let bytes = b"\xef\xbb\xbfdata: a\n\n";
    assert_eq!(whole(bytes), [message("a")]);
    for at in 1..bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(read(&[head, tail], EVENT_CAP), [message("a")], "{at}");
    }
    assert_eq!(whole(b"data: a\n\n\xef\xbb\xbfdata: b\n\n"), [message("a")]);
}

#[test]
fn every_kind_of_line_ending_counts_once() {
    for bytes in ["data: a\ndata: b\n\n", "data: a\r\ndata: b\r\n\r\n", "data: a\rdata: b\r\r"] {
        assert_eq!(whole(bytes.as_bytes()), [message("a\nb")], "{bytes:?}");
    }
}

#[test]
fn invalid_bytes_are_replaced_and_the_stream_continues() {
    assert_eq!(
        whole(b"data: a\xff\xc3b\n\ndata: c\n\n"),
        [message("a\u{fffd}\u{fffd}b"), message("c")]
    );
}

#[test]
fn an_event_without_its_end_is_passed_on() {
    assert_eq!(whole(b"event: x\ndata: a"), [event("x", "a")]);
}

#[test]
fn comments_and_empty_lines_are_not_events() {
    assert_eq!(whole(b": hello\n\n\n: again\n\nid: 3\n\ndata: a\n\n"), [message("a")]);
    assert_eq!(whole(b""), []);
}

#[test]
fn an_endless_line_is_stopped_at_the_cap() {
    let piece = [b'x'; 64];
    assert_eq!(read(&vec![piece.as_slice(); 100], 1_000), [Err(SseError::TooLarge)]);
}

#[test]
fn an_event_of_many_lines_is_stopped_at_the_cap() {
    let line = b"data: 0123456789\n".repeat(100);
    assert_eq!(read(&[&line], 1_000), [Err(SseError::TooLarge)]);
    let mut events = b"data: 0123456789\n\n".repeat(100);
    assert_eq!(read(&[&events], 1_000).len(), 100);
    events.extend_from_slice(&line);
    assert_eq!(read(&[&events], 1_000).len(), 101);
}

#[test]
fn an_error_of_the_source_is_passed_on_and_ends_the_stream() {
    let pieces = vec![Ok("data: a\n\nda"), Err("gone"), Ok("ta: b\n\n")];
    let read = events(stream::iter(pieces), 100).collect::<Vec<_>>().now_or_never();
    let expected = vec![
        Ok(SseEvent { name: "message".into(), data: "a".into() }),
        Err(SseError::Source("gone")),
    ];
    assert_eq!(read, Some(expected));
}
