//! Reads facts out of a command's output: a short list beside a text that may be long and cut.
//! Only what a list says better than the text has a row; a file list of `ls` or the shape of a JSON
//! value would be the same text twice.
//!
//! Pure. `RECOGNISERS` maps each program to the readers of its output; the first reader
//! that answers wins, and one that is not sure answers `None`. Nothing here judges success:
//! the exit code is next to it in the observation.

use avocet_core::protocol::ParsedOutput;

mod checks;
mod command;
mod diagnostics;
mod files;
mod git;
mod items;
mod javascript;
mod node;
mod runners;
mod search;

pub use command::{SimpleCommand, shell_line, split_simple_command};
pub use items::FinishedCommand;

use command::{strip_escapes, unwrap_command};
use items::Items;

/// One kind of output.
struct Recogniser {
    kind: &'static str,
    programs: &'static [&'static str],
    read: fn(&FinishedCommand<'_>) -> Option<Items>,
}

#[rustfmt::skip]
const RECOGNISERS: &[Recogniser] = &[
    Recogniser { kind: "file_list",      programs: SEARCHES,                              read: files::matching_files },
    Recogniser { kind: "file_list",      programs: &["git"],                              read: files::git_files },
    Recogniser { kind: "search_matches", programs: SEARCHES,                              read: search::read },
    Recogniser { kind: "search_matches", programs: &["git"],                              read: search::read },
    Recogniser { kind: "git_status",     programs: &["git"],                              read: git::status },
    Recogniser { kind: "git_diff_stat",  programs: &["git"],                              read: git::diff_stat },
    Recogniser { kind: "git_log",        programs: &["git"],                              read: git::log },
    Recogniser { kind: "test_summary",   programs: &["cargo", "cargo-nextest"],           read: checks::cargo },
    Recogniser { kind: "test_summary",   programs: &["pytest", "py.test"],                read: checks::pytest },
    Recogniser { kind: "test_summary",   programs: SCRIPTS,                               read: javascript::read },
    Recogniser { kind: "test_summary",   programs: SCRIPTS,                               read: node::read },
    Recogniser { kind: "test_summary",   programs: SCRIPTS,                               read: runners::mocha },
    Recogniser { kind: "test_summary",   programs: SCRIPTS,                               read: runners::bun },
    Recogniser { kind: "test_summary",   programs: &["deno"],                             read: runners::deno },
    Recogniser { kind: "test_summary",   programs: &["go"],                               read: runners::go },
    Recogniser { kind: "test_summary",   programs: PYTHON,                                read: runners::unittest },
    Recogniser { kind: "test_summary",   programs: &["rspec", "bundle", "rake", "make"],  read: runners::rspec },
    Recogniser { kind: "diagnostics",    programs: &["cargo", "rustc", "clippy-driver"],  read: diagnostics::rust },
    Recogniser { kind: "diagnostics",    programs: &["tsc", "vue-tsc", "npm", "pnpm", "yarn", "bun"], read: diagnostics::typescript },
    Recogniser { kind: "diagnostics",    programs: &["go"],                               read: diagnostics::go },
    Recogniser { kind: "diagnostics",    programs: COMPILERS,                             read: diagnostics::compiler },
];

/// Programs that search files for a pattern.
const SEARCHES: &[&str] = &["rg", "grep", "egrep", "fgrep", "ag"];

/// Commands that run JavaScript tests, directly or by a script's name.
const SCRIPTS: &[&str] = &["jest", "vitest", "mocha", "node", "npm", "pnpm", "yarn", "bun", "make"];

/// Commands that run Python's own tests.
const PYTHON: &[&str] = &["unittest", "python", "python3", "manage.py", "make"];

/// Programs that write `file:line:column: severity: message`.
const COMPILERS: &[&str] =
    &["gcc", "g++", "cc", "c++", "clang", "clang++", "make", "ninja", "cmake", "mypy", "pyright"];

/// The facts in an output; `None` when it is just text.
pub fn parse(run: &FinishedCommand<'_>) -> Option<ParsedOutput> {
    let (program, args) = unwrap_command(run.program, run.args);
    let stdout = strip_escapes(run.stdout);
    let stderr = strip_escapes(run.stderr);

    let command =
        FinishedCommand { program: &program, args, stdout: &stdout, stderr: &stderr, ..*run };
    RECOGNISERS
        .iter()
        .filter(|row| row.programs.contains(&program.as_str()))
        .find_map(|row| (row.read)(&command).map(|items| items.into_parsed(row.kind)))
}

#[cfg(test)]
mod tests;
