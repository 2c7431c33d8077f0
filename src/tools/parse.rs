//! Reads facts out of a command's output, so that the model gets a short list instead of a
//! long text.
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
mod json_shape;
mod search;

pub use command::{SimpleCommand, shell_line, split_simple_command};
pub use items::FinishedCommand;

use command::{strip_escapes, unwrap_command};
use items::Items;

/// One kind of output. No programs: any.
struct Recogniser {
    kind: &'static str,
    programs: &'static [&'static str],
    read: fn(&FinishedCommand<'_>) -> Option<Items>,
}

#[rustfmt::skip]
const RECOGNISERS: &[Recogniser] = &[
    Recogniser { kind: "file_list",      programs: &["ls", "dir", "vdir", "eza", "exa"],  read: files::ls },
    Recogniser { kind: "file_list",      programs: &["find", "fd", "fdfind"],             read: files::find },
    Recogniser { kind: "file_list",      programs: &["tree"],                             read: files::tree },
    Recogniser { kind: "file_list",      programs: &["rg", "grep", "egrep", "fgrep", "ag"], read: files::matching_files },
    Recogniser { kind: "file_list",      programs: &["git"],                              read: files::git_files },
    Recogniser { kind: "search_matches", programs: &["rg", "grep", "egrep", "fgrep", "ag", "git"], read: search::read },
    Recogniser { kind: "git_status",     programs: &["git"],                              read: git::status },
    Recogniser { kind: "git_diff_stat",  programs: &["git"],                              read: git::diff_stat },
    Recogniser { kind: "git_log",        programs: &["git"],                              read: git::log },
    Recogniser { kind: "test_summary",   programs: &["cargo", "cargo-nextest"],           read: checks::cargo },
    Recogniser { kind: "test_summary",   programs: &["pytest", "py.test"],                read: checks::pytest },
    Recogniser { kind: "test_summary",   programs: &["go", "gotestsum"],                  read: checks::go },
    Recogniser { kind: "test_summary",   programs: &["unittest", "python"],               read: checks::unittest },
    Recogniser { kind: "test_summary",   programs: &["rspec"],                            read: checks::rspec },
    Recogniser { kind: "test_summary",   programs: SCRIPTS,                               read: javascript::read },
    Recogniser { kind: "diagnostics",    programs: &["cargo", "rustc", "clippy-driver"],  read: diagnostics::rust },
    Recogniser { kind: "diagnostics",    programs: &["tsc", "vue-tsc", "npm", "pnpm", "yarn", "bun"], read: diagnostics::typescript },
    Recogniser { kind: "diagnostics",    programs: &["eslint", "npm", "pnpm", "yarn", "bun"], read: diagnostics::eslint },
    Recogniser { kind: "diagnostics",    programs: &["ruff"],                             read: diagnostics::ruff },
    Recogniser { kind: "diagnostics",    programs: &["pytest", "py.test", "python"],      read: diagnostics::python },
    Recogniser { kind: "diagnostics",    programs: &["go", "gofmt", "staticcheck", "golangci-lint"], read: diagnostics::go },
    Recogniser { kind: "diagnostics",    programs: COMPILERS,                             read: diagnostics::compiler },
    Recogniser { kind: "json",           programs: &[],                                   read: json_shape::read },
];

/// Commands that run JavaScript tests, directly or by a script's name.
const SCRIPTS: &[&str] =
    &["jest", "vitest", "node", "mocha", "npm", "pnpm", "yarn", "bun", "deno", "make"];

/// Programs that write `file:line:column: severity: message`.
const COMPILERS: &[&str] =
    &["gcc", "g++", "cc", "c++", "clang", "clang++", "make", "ninja", "cmake", "mypy", "pyright"];

/// The facts in an output; `None` when it is just text.
pub fn parse(run: &FinishedCommand<'_>) -> Option<ParsedOutput> {
    let (program, args) = unwrap_command(run.program, run.args);
    let (stdout, stderr) = (strip_escapes(run.stdout), strip_escapes(run.stderr));
    let run = FinishedCommand { program: &program, args, stdout: &stdout, stderr: &stderr, ..*run };
    RECOGNISERS
        .iter()
        .filter(|row| row.programs.is_empty() || row.programs.contains(&program.as_str()))
        .find_map(|row| (row.read)(&run).map(|items| items.into_parsed(row.kind)))
}

#[cfg(test)]
mod tests;
