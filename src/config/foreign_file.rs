//! Reads the files of other programs, which are not ours to write.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::diagnostic::io_reason;
use avocet_core::i18n::{LocalizedText, config, mcp as phrases};

/// The text of a regular file; `None` if there is none.
///
/// # Errors
/// Why it cannot be read, or that it is larger than the limit.
pub fn read_text(file: &Path, limit: u64) -> Result<Option<String>, LocalizedText> {
    let meta = match std::fs::metadata(file) {
        // A folder above it may be a file.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(io_reason(&error)),
        Ok(meta) => meta,
    };
    if !meta.is_file() {
        return Err(config::IO_NOT_A_FILE.into());
    }
    if meta.len() > limit {
        return Err(phrases::TOO_LARGE.with("limit", avocet_core::text::size(limit)));
    }
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| io_reason(&error))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// JSON without the comments and the commas at the end of a list that some programs allow.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (token, tail) = match c {
            '"' => rest.split_at(string_length(rest)),
            '/' if rest.starts_with("//") => {
                ("", rest.split_at(rest.find('\n').unwrap_or(rest.len())).1)
            }
            '/' if rest.starts_with("/*") => {
                ("", rest.split_once("*/").map_or("", |(_, tail)| tail))
            }
            _ => rest.split_at(c.len_utf8()),
        };
        if matches!(token, "]" | "}") {
            let end = out.trim_end().strip_suffix(',').map_or(out.len(), str::len);
            out.truncate(end);
        }
        out.push_str(token);
        rest = tail;
    }
    out
}

/// The length of the quoted string that a text begins with.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}
