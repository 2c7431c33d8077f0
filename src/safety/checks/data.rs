//! Finds database statements that lose data or escape to a shell.

use avocet_core::i18n::safety as words;

use super::super::findings::{DELETES, Findings};
use super::super::spec::{ArgToken, Invocation};

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

/// Looks through the statements a database program is given.
pub fn statements(call: &Invocation<'_>, _: &[ArgToken<'_>], findings: &mut Findings) {
    for (at, arg) in call.args.iter().enumerate() {
        let plain = arg.to_ascii_lowercase();
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let verb = VERBS.contains(&plain.as_str());
        let unbound = |lost: &&&str| **lost != "delete from" || !plain.contains(" where ");
        if verb || LOSES.iter().filter(unbound).any(|lost| plain.contains(*lost)) {
            call.refuse("loses", words::DATABASE_LOSES, at, DELETES, findings);
        }
        for start in LEAVES {
            if let Some((_, line)) = arg.split_once(start) {
                call.judge_line(line, at, findings);
                break;
            }
        }
    }
}
