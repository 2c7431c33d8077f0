//! The README says what is so: its pictures and tables are made from the program.
//!
//! `UPDATE=1 cargo test --test inproc readme:: -- --test-threads=1` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a marked part of the README, or rewrites it.
#[track_caller]
fn holds(mark: &str, expected: &str) {
    let path = file("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = readme.split_once(&open).expect("the mark opens");
    let (inside, after) = rest.split_once(&close).expect("the mark closes");
    if std::env::vars_os().any(|(name, _)| name == "UPDATE") {
        fs::write(&path, format!("{before}{open}{expected}{close}{after}")).unwrap();
    } else {
        assert_eq!(
            inside, expected,
            "UPDATE=1 cargo test --test inproc readme:: -- --test-threads=1"
        );
    }
}

#[test]
fn the_readme_picture_is_a_real_frame() {
    // `tests/inproc/screens.rs` holds this snapshot to what the screen draws.
    let snapshot = fs::read_to_string(file("tests/inproc/snapshots/approve_en.snap")).unwrap();
    let frame = snapshot.splitn(3, "---\n").last().unwrap();
    holds("screen", &format!("```text\n{}\n```\n", frame.trim_matches('\n')));
}

#[test]
fn the_readme_lists_the_keys_of_the_table() {
    holds("keys", &avocet::tui::keys_table());
}

#[test]
fn the_readme_lists_the_limits_of_each_kernel() {
    holds("kernels", &avocet::safety::limits::kernel_table());
}

#[test]
fn the_readme_lists_what_the_sandbox_leaves_open() {
    holds("open", &avocet::safety::limits::open_list());
}

#[test]
fn the_readme_names_the_test_command_it_shows() {
    let readme = fs::read_to_string(file("README.md")).unwrap();
    let named = readme.split("<!-- test: ").nth(1).unwrap().split(" -->").next().unwrap();
    assert!(readme.contains(&format!("```sh\n{named}\n```")), "{named}");
}
