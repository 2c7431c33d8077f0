//! The marked parts of the README and of the manual, which are made from the program.

use std::fs;
use std::path::{Path, PathBuf};

const HOW_TO_UPDATE: &str = "UPDATE=1 cargo test of_the_ -- --test-threads=1";

pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a marked part of a page, or rewrites it.
#[track_caller]
pub fn holds(page: &str, mark: &str, expected: &str) {
    holds_like(page, mark, expected, str::to_owned);
}

/// Compares what `of` leaves of a marked part, or rewrites the part.
#[track_caller]
pub fn holds_like(page: &str, mark: &str, expected: &str, of: fn(&str) -> String) {
    let path = file(page);
    let text = fs::read_to_string(&path).unwrap();
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = text.split_once(&open).expect("the mark opens");
    let (inside, after) = rest.split_once(&close).expect("the mark closes");
    if std::env::vars_os().any(|(name, _)| name == "UPDATE") {
        fs::write(&path, format!("{before}{open}{expected}{close}{after}")).unwrap();
    } else {
        assert_eq!(of(inside), of(expected), "{page}: {HOW_TO_UPDATE}");
    }
}
