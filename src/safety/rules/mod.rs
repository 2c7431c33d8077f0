//! The tables of known programs: what is harmless about them and what is not.
//!
//! A new fact is a new row, with lines that keep its tier and lines that are raised;
//! a test runs them all. The names of all rows are the built-in list of programs.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::spec::Spec;

mod build;
mod files;
mod forbidden;
pub mod forms;
mod git;
mod info;
mod network;
pub mod remembered;
mod search;
mod text;
mod tools;
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
    tools::ROWS,
    wrap::ROWS,
    forbidden::ROWS,
];

/// The row of a program, and the name it has there.
pub fn find(name: &str) -> Option<(&'static Spec, &'static str)> {
    let exact = INDEX.names.get(name).copied();
    let within = exact.map_or(usize::MAX, |(at, ..)| at);
    let family =
        INDEX.families.iter().find(|(at, start, _)| *at < within && name.starts_with(start));
    match family {
        Some((_, _, spec)) => spec.matching_name(name).map(|own| (*spec, own)),
        None => exact.map(|(_, spec, own)| (spec, own)),
    }
}

/// The tables by name. A fact of the program, made once: a long line asks often.
static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { names: HashMap::new(), families: Vec::new() };
    for (at, spec) in all().enumerate() {
        for name in spec.names.split_ascii_whitespace() {
            match name.strip_suffix('*') {
                Some(start) => index.families.push((at, start, spec)),
                None => drop(index.names.entry(name).or_insert((at, spec, name))),
            }
        }
    }
    index
});

/// Rows with their place in the tables: the first that knows a name has it.
struct Index {
    names: HashMap<&'static str, (usize, &'static Spec, &'static str)>,
    /// Names that match every name with this prefix: `mkfs.`.
    families: Vec<(usize, &'static str, &'static Spec)>,
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    TABLES.iter().copied().flatten()
}
