//! The marked parts of the README, which are made from the program.

use std::fs;
use std::path::{Path, PathBuf};

const HOW_TO_UPDATE: &str = "UPDATE=1 cargo test readme:: -- --test-threads=1";

pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a marked part of the README, or rewrites it.
#[track_caller]
pub fn holds(mark: &str, expected: &str) {
    holds_like(mark, expected, str::to_owned);
}

/// Compares what `of` leaves of a marked part, or rewrites the part.
#[track_caller]
pub fn holds_like(mark: &str, expected: &str, of: fn(&str) -> String) {
    let path = file("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = readme.split_once(&open).expect("the mark opens");
    let (inside, after) = rest.split_once(&close).expect("the mark closes");
    if std::env::vars_os().any(|(name, _)| name == "UPDATE") {
        fs::write(&path, format!("{before}{open}{expected}{close}{after}")).unwrap();
    } else {
        assert_eq!(of(inside), of(expected), "{HOW_TO_UPDATE}");
    }
}
