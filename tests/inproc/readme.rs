//! The README says what is so: its pictures and tables are made from the program.
//!
//! `UPDATE=1 cargo test readme:: -- --test-threads=1` rewrites them.

use std::fs;

use crate::support::readme::{file, holds};

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
