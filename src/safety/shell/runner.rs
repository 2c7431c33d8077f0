//! Says who does what a command of a line says: the shell itself, or a program.

use super::super::wrappers;
use super::ast::{Set, ShellWord, Simple, Trait};
use super::known::KnownWord;
use super::unknown::UNKNOWN;
use super::variables::is_free_name;
use avocet_core::text::quote_literal;

/// What a shell does itself instead of starting a program of that name.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    ".", "alias", "bg", "bind", "break", "builtin", "caller", "chdir", "command", "compgen", "complete",
    "compopt", "continue", "coproc", "declare", "dirs", "disown", "enable", "eval", "exec", "export",
    "fc", "fg", "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout",
    "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "shift", "shopt", "source",
    "suspend", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
];
/// What it does itself and only shows or compares words, with rows as the programs have.
const SHOWING: &[&str] = &["echo", "printf", "test", "[", "[[", "true", "false", "pwd"];
/// Settings that end a line early, or print its commands.
const SETTINGS: &[&str] = &["pipefail", "errexit", "nounset", "xtrace"];

/// Who does what a command says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// The shell, and there is nothing to judge in it.
    Shell,
    /// The shell, by words that are judged as those of the program of that name.
    Showing,
    Program,
}

/// Who runs a command of this name; `None`: it is none of the harmless ones of the shell.
pub fn who_runs(name: &str, args: &[String]) -> Option<Runner> {
    let settings = || {
        let letters = |arg: &str| {
            arg.strip_prefix(['-', '+'])
                .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| "euxo".contains(c)))
        };
        !args.is_empty() && args.iter().all(|arg| letters(arg) || SETTINGS.contains(&arg.as_str()))
    };
    let exports = || {
        let is_harmless = |arg: &String| {
            let set = arg.split_once('=');
            set.is_some_and(|(name, value)| wrappers::is_harmless_variable(name, value))
        };
        !args.is_empty() && args.iter().all(is_harmless)
    };
    let is_status =
        |arg: &String| arg == "${?}" || arg == UNKNOWN || arg.bytes().all(|b| b.is_ascii_digit());
    match name {
        "cd" => Some(Runner::Shell),
        ":" => args.is_empty().then_some(Runner::Shell),
        // It only joins streams, or leaves them.
        "umask" | "exec" => args.is_empty().then_some(Runner::Shell),
        "ulimit" => args.iter().all(|arg| arg.starts_with('-')).then_some(Runner::Shell),
        "break" | "continue" => args.iter().all(is_status).then_some(Runner::Shell),
        "exit" => (args.len() < 2 && args.iter().all(is_status)).then_some(Runner::Shell),
        "set" => settings().then_some(Runner::Shell),
        "export" => exports().then_some(Runner::Shell),
        // A name with a subscript is evaluated: `test -v 'a[$(x)]'`, `printf -v 'a[$(x)]' y`.
        "test" | "[" if args.iter().any(|arg| arg == "-v" || arg == "-R") => None,
        "printf" if !only_prints(args) => None,
        name if SHOWING.contains(&name) => Some(Runner::Showing),
        _ if shell_lookup_line(name, args).is_some() => Some(Runner::Shell),
        _ if BUILTINS.contains(&name) => None,
        _ => Some(Runner::Program),
    }
}

/// Whether the format of a `printf` only prints: `%n` sets the variable that is named for it, and
/// `-v` another one.
fn only_prints(args: &[String]) -> bool {
    let format = match args {
        [first, format, ..] if first == "--" => format,
        [format, ..] if !format.starts_with('-') => format,
        _ => return args.is_empty(),
    };
    let mut is_literal = false;
    format.split('%').skip(1).all(|rest| {
        // `%%`: what is between the two is empty, and what follows is text.
        let was_literal = is_literal;
        is_literal = rest.is_empty() && !was_literal;
        let kind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.".contains(c));
        was_literal || is_literal || kind.starts_with(['s', 'd', 'i', 'u', 'x', 'X', 'c', 'b', 'f'])
    })
}

/// The variables in front of a command, which only change languages and colours.
pub fn written_sets(simple: &Simple) -> Option<String> {
    let mut written = String::new();
    for set in &simple.sets {
        let is_plain = set.word.text == format!("{}={}", set.name, set.value)
            && set.elements.is_none()
            && set.word.variables.is_empty()
            && !set.word.needs_expansion()
            && !set.word.has(Trait::Coded)
            && wrappers::is_harmless_variable(&set.name, &set.value);
        if !is_plain {
            return None;
        }
        written += &format!("{}={} ", set.name, quote_literal(&set.value));
    }
    Some(written)
}

/// The line that a shell is given for a question about names of programs.
pub fn shell_lookup_line(name: &str, args: &[String]) -> Option<&'static str> {
    let plain = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
    };
    let (first, rest) = args.split_first()?;
    match name {
        "type" if args.iter().all(plain) => Some("type \"$@\""),
        "command" if ["-v", "-V"].contains(&first.as_str()) && !rest.is_empty() => {
            rest.iter().all(plain).then_some("command \"$@\"")
        }
        _ => None,
    }
}

/// The variables of an `export` that mean nothing to a program, and those of a function: they are
/// as if only set.
pub fn exported(simple: &Simple) -> Option<Simple> {
    let is_setting = |word: &ShellWord| word.is_keyword("export") || word.is_keyword("local");
    let (_, words) = simple.words.split_first().filter(|(name, _)| is_setting(name))?;
    let set = |word: &ShellWord| {
        let (name, value) = word.text.split_once('=').filter(|(name, _)| is_free_name(name))?;
        Some(Set {
            name: name.to_owned(),
            value: value.to_owned(),
            word: word.clone(),
            elements: None,
        })
    };
    let sets: Vec<Set> = words.iter().map(set).collect::<Option<_>>()?;
    let is_plain = simple.sets.is_empty() && simple.input.is_none() && !sets.is_empty();
    is_plain.then(|| Simple { sets, ..Simple::default() })
}

/// Whether the shell does this itself.
pub fn is_of_shell(name: &str) -> bool {
    BUILTINS.contains(&name) || SHOWING.contains(&name)
}

/// Whether it only shows or compares words.
pub fn is_showing(name: &str) -> bool {
    SHOWING.contains(&name)
}

/// Whether it only shows words, whatever they are.
pub fn is_printing(name: &str) -> bool {
    ["echo", "printf"].contains(&name)
}

/// Whether what only the shell will know is only shown, or compared as a text or a number: never
/// as a format, an operator, or the name of a file.
pub fn only_shows_unknown(name: &str, words: &[KnownWord]) -> bool {
    let is_known = |word: &&KnownWord| !word.is_unknown();
    match (name, words) {
        _ if words.iter().all(|word| !word.is_unknown()) => true,
        ("echo", _) | ("exit", [_]) => true,
        ("printf", [first, format, ..]) if first.text == "--" => is_known(&format),
        ("printf", [format, ..]) => is_known(&format),
        // Of a word that is split any part may be an operator.
        ("test" | "[", words) if words.iter().any(KnownWord::is_split) => false,
        ("[", [words @ .., end]) if end.text == "]" && is_known(&end) => compares(words),
        ("test", words) => compares(words),
        _ => false,
    }
}

/// Which word of a `test` names a file of which only the shell will know the name, where that is
/// all it asks.
pub fn file_question(name: &str, words: &[KnownWord]) -> Option<usize> {
    let asked = match (name, words) {
        ("test", asked) => asked,
        ("[", [asked @ .., end]) if end.text == "]" => asked,
        _ => return None,
    };
    let is = |word: &KnownWord, signs: &[&str]| !word.is_unknown() && signs.contains(&&*word.text);
    match asked {
        [sign, file] if is(sign, ABOUT_FILES) => (!file.is_split()).then_some(1),
        [denial, sign, file] if is(denial, &["!"]) && is(sign, ABOUT_FILES) => {
            (!file.is_split()).then_some(2)
        }
        _ => None,
    }
}

/// What is asked about one file.
pub const ABOUT_FILES: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"];

fn compares(words: &[KnownWord]) -> bool {
    const OF_ONE: &[&str] = &["-n", "-z"];
    const OF_TWO: &[&str] = &["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    let is_sign = |word: &KnownWord, signs: &[&str]| {
        !word.is_unknown() && signs.contains(&word.text.as_str())
    };
    match words {
        [_] => true,
        [denial, words @ ..] if is_sign(denial, &["!"]) && words.len() > 1 => compares(words),
        [sign, _] => is_sign(sign, OF_ONE),
        [_, sign, _] => is_sign(sign, OF_TWO),
        _ => false,
    }
}

/// Whether it is the condition of a loop over lines.
pub fn is_read(simple: &Simple) -> bool {
    simple.words.first().is_some_and(|name| name.is_keyword("read"))
}
