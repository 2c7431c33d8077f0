//! Finds the command that was run, after wrappers and flags, and strips colours from its
//! output.

use std::borrow::Cow;

/// Wrappers: the program, how many of its own words follow, given the args; `None`
/// when it wraps nothing here.
type Wrapped = fn(&[String]) -> Option<usize>;

#[rustfmt::skip]
const WRAPPERS: &[(&str, Wrapped)] = &[
    ("env",     |args| args.iter().position(|arg| !arg.starts_with('-') && !arg.contains('='))),
    ("timeout", |args| args.iter().position(|arg| arg.starts_with(|c: char| c.is_ascii_digit())).map(|at| at + 1)),
    ("nice",    |_| Some(0)),
    ("time",    |_| Some(0)),
    ("npx",     |args| args.iter().position(|arg| !arg.starts_with('-'))),
    ("bunx",    |_| Some(0)),
    ("pnpm",    |args| skip_runner_subcommand(args, &["exec", "dlx"])),
    ("yarn",    |args| skip_runner_subcommand(args, &["exec", "dlx", "run"])),
    ("npm",     |args| skip_runner_subcommand(args, &["exec"])),
    ("uv",      |args| skip_runner_subcommand(args, &["run"])),
    ("poetry",  |args| skip_runner_subcommand(args, &["run"])),
    ("python",  |args| skip_runner_subcommand(args, &["-m"])),
];

/// The most wrappers that are taken off.
const DEEP: usize = 4;

/// The program's plain name and its args, wrappers taken off.
pub(super) fn unwrap_command<'a>(program: &str, args: &'a [String]) -> (String, &'a [String]) {
    let mut program = program_name(program);
    let mut args = args;

    for _ in 0..DEEP {
        let Some((_, wrapped)) = WRAPPERS.iter().find(|(name, _)| *name == program) else { break };
        let Some(at) = wrapped(args) else { break };
        let Some((inner, rest)) = args.get(at..).and_then(<[String]>::split_first) else { break };
        (program, args) = (program_name(inner), rest);
    }
    (program, args)
}

/// A simple command of a shell line.
#[derive(Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    pub program: String,
    pub args: Vec<String>,
    /// Only the start or the end of its output is shown, and its exit code is not.
    pub is_cut: bool,
}

/// The only command of a shell line, apart from where it runs and how much of its output is kept:
/// `cd a && npm test 2>&1 | tail -5`. `None` for anything a shell would have to think about.
pub fn split_simple_command(line: &str) -> Option<SimpleCommand> {
    let line = match line.split_once("&&") {
        Some((enter, rest)) if enter.trim_start().starts_with("cd ") && is_simple(enter) => rest,
        _ => line,
    };
    let cut = line.rsplit_once('|').filter(|(_, filter)| {
        let filter = filter.trim();
        is_simple(filter) && (filter.starts_with("tail") || filter.starts_with("head"))
    });
    let line = cut.map_or(line, |(line, _)| line).trim();
    let line = line.strip_suffix("2>&1").unwrap_or(line);
    if !is_simple(line) {
        return None;
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let program = words.next().filter(|word| !word.contains('='))?;
    Some(SimpleCommand { program, args: words.collect(), is_cut: cut.is_some() })
}

fn is_simple(line: &str) -> bool {
    line.chars().all(|c| !"|&;<>()$`\\\"'*?[]{}~#\n".contains(c))
}

/// The line that a program gives to a shell: `bash -lc 'npm test'`.
pub fn shell_line<'a>(program: &str, args: &'a [String]) -> Option<&'a str> {
    let [options, line] = args else { return None };
    let is_shell = ["sh", "bash", "zsh", "dash"].contains(&program_name(program).as_str());
    let is_command =
        options.starts_with('-') && !options.starts_with("--") && options.ends_with('c');
    (is_shell && is_command).then_some(line.as_str())
}

/// True when one of the flags appears before `--`: `n` for `-n` and `-rn`, `name` for
/// `--name` and `--name=…`.
pub(super) fn has_flag(args: &[String], short: &str, long: &[&str]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| match arg.strip_prefix("--") {
        Some(name) => long.contains(&name.split('=').next().unwrap_or(name)),
        None => arg
            .strip_prefix('-')
            .is_some_and(|flags| flags.chars().any(|flag| short.contains(flag))),
    })
}

/// The first word that is not a flag, and what follows it.
pub(super) fn subcommand(args: &[String]) -> Option<(&str, &[String])> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        match arg.as_str() {
            "-C" | "-c" => at += 2,
            flag if flag.starts_with(['-', '+']) => at += 1,
            name => return Some((name, args.get(at + 1..).unwrap_or_default())),
        }
    }
    None
}

/// Text without escape sequences, and of each line the last frame a carriage return
/// left.
pub(super) fn strip_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let frame = body.rsplit('\r').next().unwrap_or(body);
        push_without_escapes(frame, &mut out);
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    Cow::Owned(out)
}

fn push_without_escapes(text: &str, out: &mut String) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            Some(']') => while chars.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {},
            _ => {}
        }
    }
}

/// `python` of `/usr/bin/python3.11`.
fn program_name(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match plain {
        "python" | "pypy" | "node" => plain.replace("pypy", "python"),
        _ => name.to_owned(),
    }
}

fn skip_runner_subcommand(args: &[String], names: &[&str]) -> Option<usize> {
    let first = args.first()?;
    names.contains(&first.as_str()).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_removed_and_simple_shell_lines_are_split() {
        let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let inner = |program: &str, line: &str| {
            let args = args(line);
            let (program, rest) = unwrap_command(program, &args);
            format!("{program} {}", rest.join(" "))
        };
        assert_eq!(inner("/usr/bin/env", "A=1 timeout 10 rg -n x"), "rg -n x");
        assert_eq!(inner("/usr/bin/python3.11", "-m pytest -q"), "pytest -q");
        assert_eq!(inner("npm", "test"), "npm test");
        let simple = |program: &str, rest: &str, is_cut| {
            Some(SimpleCommand { program: program.into(), args: args(rest), is_cut })
        };
        assert_eq!(split_simple_command("git status -s"), simple("git", "status -s", false));
        let line = "cd web && npm run test 2>&1 | tail -n 15";
        assert_eq!(split_simple_command(line), simple("npm", "run test", true));
        for line in
            ["ls | wc", "A=1 ls", "ls *.rs", "echo $HOME", "", "a; b", "x && ls", "a | b | tail"]
        {
            assert_eq!(split_simple_command(line), None, "{line}");
        }
        let words = ["-lc".to_owned(), "npm test".to_owned()];
        assert_eq!(shell_line("/bin/bash", &words), Some("npm test"));
        assert_eq!((shell_line("node", &words), shell_line("bash", &args("x.sh a"))), (None, None));
    }
}
