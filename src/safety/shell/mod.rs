//! Splits a line for a shell into the simple commands it would run.
//!
//! Careful, not complete: quotes, operators, redirections, substitutions (also inside
//! double quotes), subshells and the common keywords are understood. What is not, makes
//! the line opaque, and it is never harmless then. Nothing in here is ever handed back
//! to a shell: a line runs as it was typed.

use crate::protocol::{Effect, Piece, Tier};
use crate::words::safety as words;

use super::findings::{Findings, quoted};
use super::judge::{self, Call, Ground, Seat};
use super::{paths, wrappers};

mod read;

pub use read::{Simple, Word, read};

#[cfg(test)]
mod tests;

/// The names of the programs a line would start, in the order they stand.
pub fn programs_of(line: &str) -> Vec<String> {
    let names =
        read(line).commands.into_iter().filter_map(|simple| simple.words.into_iter().next());
    names.filter(|word| !word.expands).map(|word| word.text).collect()
}

/// Judges a line: each simple command by itself, and all of them in `findings`.
pub fn judge_line(line: &str, ground: &Ground<'_>, findings: &mut Findings) -> Vec<Piece> {
    let script = read(line);
    if line.chars().any(|c| super::malformed::is_hidden(c) || c == '\r') {
        findings.add("malformed.hidden", Tier::L1, words::ARG_HIDDEN, None, &[]);
    }
    if line.contains('\0') {
        findings.add("malformed.nul", Tier::L2, words::ARG_NUL, None, &[]);
    }
    if let Some(why) = script.opaque {
        findings.add("shell.opaque", Tier::L1, why, None, &[Effect::Exec]);
    }
    let mut pieces = Vec::new();
    for simple in &script.commands {
        let mut found = Findings::default();
        judge_simple(simple, Seat::Line, 0, ground, &mut found);
        judge_simple(simple, Seat::Line, 0, ground, findings);
        pieces.push(Piece { text: simple.text.clone(), risk: found.risk(false) });
    }
    if script.commands.is_empty() {
        findings.add("shell.empty", Tier::L1, words::SHELL_EMPTY, None, &[]);
    }
    pieces
}

/// Judges one simple command by the tables.
pub fn judge_simple(
    simple: &Simple,
    seat: Seat,
    depth: usize,
    ground: &Ground<'_>,
    findings: &mut Findings,
) {
    let arg = seat.arg(0);
    findings.add("shell", Tier::L0, words::SHELL_PIECE, arg, &[Effect::Read]);
    for name in simple.sets.iter().filter(|name| !wrappers::is_harmless_variable(name)) {
        let say = words::SETS_VARIABLE.with("name", quoted(name));
        findings.add("shell.variable", Tier::L1, say, arg, &[]);
    }
    let call = Call { id: "shell".into(), name: "sh", args: &[], seat, depth, ground };
    redirections(simple, &call, findings);
    let Some((first, rest)) = simple.words.split_first() else { return };
    if let Some(word) = rest.iter().find(|word| word.expands) {
        let say = words::SHELL_EXPANDS.with("word", quoted(&word.text));
        findings.add("shell.expansion", Tier::L1, say, arg, &[]);
    }
    if let Some(word) = rest.iter().find(|w| !w.quoted && is_hidden_glob(&w.text)) {
        let say = words::PATH_SENSITIVE.with("path", quoted(&word.text));
        findings.add("path.sensitive", Tier::L1, say, arg, &[Effect::Secret]);
    }
    if first.expands {
        findings.add("shell.opaque", Tier::L1, words::SHELL_NAME_UNKNOWN, arg, &[Effect::Exec]);
    } else {
        run(&first.text, rest, seat, depth, ground, findings);
    }
}

fn redirections(simple: &Simple, call: &Call<'_>, findings: &mut Findings) {
    let arg = call.seat.arg(0);
    for word in simple.reads.iter().filter(|word| !word.text.is_empty()) {
        call.reads(&word.text, 0, findings);
    }
    for word in &simple.writes {
        if word.text.starts_with("/dev/tcp/") || word.text.starts_with("/dev/udp/") {
            findings.add("shell.network", Tier::L1, words::USES_NETWORK, arg, &[Effect::Network]);
        } else if !["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&word.text.as_str()) {
            let say = words::WRITES_A_FILE.with("arg", quoted(&word.text));
            findings.add("shell.redirect", Tier::L1, say, arg, &[Effect::Write]);
            call.writes(&word.text, 0, findings);
        }
    }
}

/// The command itself; what a shell does on its own is told apart from programs.
fn run(
    name: &str,
    rest: &[Word],
    seat: Seat,
    depth: usize,
    ground: &Ground<'_>,
    findings: &mut Findings,
) {
    let arg = seat.arg(0);
    let args: Vec<String> = rest.iter().map(|word| word.text.clone()).collect();
    match name {
        _ if HARMLESS.contains(&name) => {}
        "exec" | "command" | "builtin" | "coproc" => {
            let skip = args.iter().take_while(|arg| arg.starts_with('-')).count();
            if let Some((name, rest)) = rest.get(skip..).and_then(<[Word]>::split_first)
                && depth < MOST_DEPTH
            {
                run(&name.text, rest, seat, depth + 1, ground, findings);
            }
        }
        "eval" | "trap" | "source" | "." | "alias" => {
            findings.add("shell.opaque", Tier::L1, words::SHELL_EVALUATES, arg, &[Effect::Exec]);
            if depth < MOST_DEPTH {
                for simple in &read(&args.join(" ")).commands {
                    judge_evaluated(name, simple, seat, depth + 1, ground, findings);
                }
            }
        }
        "cd" | "pushd" | "popd" | "export" | "set" | "declare" | "typeset" | "readonly"
        | "unset" | "umask" | "ulimit" | "shopt" | "enable" => {
            let say = words::SHELL_CHANGES.with("program", name);
            findings.add("shell.state", Tier::L1, say, arg, &[]);
        }
        _ => judge::command(name, arg, &args, seat, depth, ground, findings),
    }
}

/// A file that is sourced is no command; the rest of what is evaluated is one.
fn judge_evaluated(
    name: &str,
    simple: &Simple,
    seat: Seat,
    depth: usize,
    ground: &Ground<'_>,
    findings: &mut Findings,
) {
    let mut found = Findings::default();
    judge_simple(simple, seat, depth, ground, &mut found);
    if name == "eval" || found.tier() == Tier::L2 && name == "trap" {
        judge_simple(simple, seat, depth, ground, findings);
    }
}

/// A pattern that a shell would also find hidden files or keys with.
fn is_hidden_glob(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let ending = name.rsplit('.').next().unwrap_or(name);
    name.contains(['*', '?', '['])
        && (name.starts_with('.') || paths::is_sensitive_name(&format!("x.{ending}")))
}

const MOST_DEPTH: usize = 8;
const HARMLESS: &[&str] = &[
    ":", "exit", "return", "shift", "break", "continue", "wait", "type", "hash", "jobs", "times",
    "read", "local", "let", "getopts", "dirs", "fg", "bg",
];
