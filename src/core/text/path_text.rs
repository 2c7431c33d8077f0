//! Writes the names of files that are not readable text so that they can be read back.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What precedes the two digits of a byte.
const ESCAPE: &str = "\\x";

/// A path as a text that only this path has: bytes that are not UTF-8 and control characters are
/// written as `\xff`, and so is a backslash that would begin such an escape.
pub fn path_text(path: &Path) -> Cow<'_, str> {
    let text = path.to_str();
    let is_plain =
        |text: &str| !text.contains(ESCAPE) && !text.contains(|c: char| c.is_ascii_control());
    if let Some(text) = text.filter(|text| is_plain(text)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for (at, c) in chunk.valid().char_indices() {
            let rest = chunk.valid().get(at..).unwrap_or_default();
            if c.is_ascii_control() || escaped_byte(rest.as_bytes()).is_some() {
                let _ = write!(out, "{ESCAPE}{:02x}", u32::from(c));
            } else {
                out.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "{ESCAPE}{byte:02x}");
        }
    }
    Cow::Owned(out)
}

/// The path of a text of [`path_text`].
pub fn path_of_text(text: &str) -> PathBuf {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = escaped_byte(rest);
        out.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() {
            rest.get(ESCAPE.len() + 2..).unwrap_or_default()
        } else {
            after
        };
    }
    PathBuf::from(std::ffi::OsString::from_vec(out))
}

/// The byte that an escape at the start of a text means.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(ESCAPE.as_bytes())?.get(..2)?;
    let digits = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    let byte = u8::from_str_radix(digits, 16).ok()?;
    (!byte.is_ascii() || byte.is_ascii_control() || byte == b'\\').then_some(byte)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use proptest::prelude::*;

    use super::*;

    fn path(bytes: &[u8]) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(bytes))
    }

    #[test]
    fn only_what_cannot_be_read_is_escaped() {
        for (bytes, text) in [
            (&b"src/a b.rs"[..], "src/a b.rs"),
            ("说明.md".as_bytes(), "说明.md"),
            (b"bad\xff\xfename.txt", r"bad\xff\xfename.txt"),
            (br"dev-by\x2duuid.mount", r"dev-by\x2duuid.mount"),
            (br"bad\xff.txt", r"bad\x5cxff.txt"),
            (b"two\nlines\x1b[1m", r"two\x0alines\x1b[1m"),
            (b"\\\xff", r"\\xff"),
        ] {
            assert_eq!(path_text(&path(bytes)), text);
        }
    }

    proptest! {
        #[test]
        fn every_path_is_read_back_from_its_text(
            bytes in proptest::collection::vec(prop_oneof![
                any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'f'), Just(b'5'), Just(b'c'), Just(0xff_u8),
            ], 0..24)
        ) {
            let path = path(&bytes);
            prop_assert_eq!(path_of_text(&path_text(&path)), path);
        }
    }
}
