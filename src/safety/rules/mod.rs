//! The tables: which programs there are, what is harmless about them, what is not.
//!
//! A new fact is a new row, with lines that keep its tier and lines that are raised;
//! a test runs them all. The names of all rows are the built-in list of programs.

use super::table::Spec;

mod build;
mod files;
mod forbidden;
mod git;
mod info;
mod network;
mod search;
mod text;
mod wrap;
mod write;

/// Every table, in the order they are asked.
const TABLES: &[&[Spec]] = &[
    files::ROWS,
    text::ROWS,
    search::ROWS,
    info::ROWS,
    git::ROWS,
    write::ROWS,
    network::ROWS,
    build::ROWS,
    wrap::ROWS,
    forbidden::ROWS,
];

/// The row a program stands in, and the name it goes by there.
pub fn find(name: &str) -> Option<(&'static Spec, &'static str)> {
    TABLES.iter().copied().flatten().find_map(|spec| spec.called(name).map(|own| (spec, own)))
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    TABLES.iter().copied().flatten()
}
