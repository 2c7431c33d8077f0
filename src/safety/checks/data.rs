//! Finds database statements that lose data or escape to a shell.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::Effect;

use super::super::findings::{DELETES, Findings};
use super::super::spec::{ArgToken, ProgramCall, operands};

/// Statements that throw away more than a row, in lower case with single blanks.
#[rustfmt::skip]
const LOSES: &[&str] = &[
    "drop table", "drop database", "drop schema", "drop user", "drop role", "drop view",
    "drop index", "drop column", "drop keyspace", "drop owned", "truncate ", "flushall", "flushdb",
    "dropdatabase", ".drop(", "deletemany({})", "delete from", "shutdown",
];
/// Words of a command line that do the same, whole.
const VERBS: &[&str] = &["drop", "del", "unlink", "--clean", "--drop", "truncate"];
/// Prefixes of a line for a shell.
const LEAVES: &[&str] = &[".shell ", ".system ", "\\! ", "\\!", "system "];

/// The first words of statements and commands of `sqlite3` that show what is there.
const SHOWS: &[&str] = &[
    "select",
    "explain",
    "values",
    ".tables",
    ".schema",
    ".indexes",
    ".indices",
    ".databases",
    ".dbinfo",
    ".mode",
    ".headers",
    ".fullschema",
];

/// Whether `sqlite3` is given a file, and after it only what shows. The sandbox keeps what a
/// function in it would read or write elsewhere.
pub fn queries(call: &ProgramCall<'_>, tokens: &[ArgToken<'_>], findings: &mut Findings) {
    let mut words = operands(tokens);
    let is_file = words
        .next()
        .is_some_and(|(_, file)| !file.starts_with(['-', ':']) && !file.contains("://"));
    let shows = |text: &str| {
        let mut parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        parts.all(|part| {
            let first = part.split([' ', '\n', '\t', '(', '*']).next().unwrap_or_default();
            let names_file = part.starts_with('.') && part.contains(['|', '/', '\n']);
            SHOWS.contains(&first.to_ascii_lowercase().as_str()) && !names_file
        })
    };
    let statements: Vec<(usize, &str)> = words.collect();
    let odd = statements.iter().find(|(_, text)| !shows(text)).map(|(at, _)| *at);
    if !is_file || statements.is_empty() || odd.is_some() {
        let at = odd.unwrap_or(0);
        let text = call.args.get(at).map_or("", String::as_str);
        call.ask_operand(text, at, &[Effect::Write], findings);
    }
}

/// Looks through the statements a database program is given.
pub fn statements(call: &ProgramCall<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, arg) in call.args.iter().enumerate() {
        let plain = arg.to_ascii_lowercase();
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let verb = VERBS.contains(&plain.as_str());
        let unbound = |lost: &&&str| **lost != "delete from" || !plain.contains(" where ");
        if verb || LOSES.iter().filter(unbound).any(|lost| plain.contains(*lost)) {
            call.refuse("loses", phrases::DATABASE_LOSES, at, DELETES, findings);
        }
        for start in LEAVES {
            if let Some((_, line)) = arg.split_once(start) {
                call.judge_line(line, at, findings);
                break;
            }
        }
    }
}
