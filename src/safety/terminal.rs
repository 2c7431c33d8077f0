//! The programs that take over the terminal or talk to the user there: editors, pagers, monitors,
//! shells, debuggers, and what opens an editor.
//!
//! It decides nothing about safety: only whether a line gets the user's terminal, or a sentence
//! instead of a program that waits for keys that cannot come.

use super::shell::{self, PipelineCommand};
use avocet_core::protocol::StepAction;
use avocet_core::text::short_name;

mod rows;

use rows::{Keys, ROWS, TerminalRow};

/// A program that wants the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalProgram {
    /// With its sub-command: `git commit`.
    pub name: String,
    /// Without a terminal it does something useful all the same: a pager prints.
    pub works_without: bool,
    /// Every form of it needs a terminal: only then is it not even started.
    pub is_certain: bool,
    /// It is the user's editor that wants the terminal, if that is one that does.
    pub is_editor: bool,
}

/// The first program of a step that wants the terminal.
pub fn terminal_program(action: &StepAction) -> Option<TerminalProgram> {
    match action {
        StepAction::Exec { program, args } => {
            let words: Vec<&str> =
                std::iter::once(program).chain(args).map(String::as_str).collect();
            wanted_by(&words, Streams::default())
        }
        StepAction::Shell { line } => shell::pipeline_commands(line).iter().find_map(of_command),
        StepAction::Tool { .. } => None,
    }
}

/// Whether an editor, as `EDITOR` holds it, wants the terminal.
pub fn edits_in_terminal(editor: &str) -> bool {
    shell::pipeline_commands(editor).iter().any(|command| of_command(command).is_some())
}

/// What of a command's streams goes somewhere else than to the terminal.
#[derive(Clone, Copy, Debug, Default)]
struct Streams {
    has_input: bool,
    has_output: bool,
}

fn of_command(command: &PipelineCommand) -> Option<TerminalProgram> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let edits_elsewhere = |set: &String| EDITOR_VARIABLES.contains(&set.as_str());
    let streams = Streams { has_input: command.has_input, has_output: command.has_output };
    wanted_by(&words, streams)
        .filter(|found| !(found.is_editor && command.sets.iter().any(edits_elsewhere)))
}

/// Variables that name another editor for one command.
const EDITOR_VARIABLES: &[&str] = &["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL"];

/// Programs that run the command after their own options, and the options that take a value.
const WRAPPERS: &[(&str, &str)] = &[
    ("sudo", "-u -g -h -p -C -T -R -D -U --user --group --prompt --chdir"),
    ("doas", "-u -C"),
    ("env", "-u -C --unset --chdir"),
    ("nice", "-n --adjustment"),
    ("ionice", "-c -n --class --classdata"),
    ("time", "-f -o --format --output"),
    ("command", ""),
    ("exec", "-a"),
    ("builtin", ""),
    ("stdbuf", "-i -o -e --input --output --error"),
    ("busybox", ""),
    ("xargs", "-I -n -L -P -d -a -E -s --max-args --arg-file --delimiter"),
];

fn wanted_by(words: &[&str], streams: Streams) -> Option<TerminalProgram> {
    let (first, args) = words.split_first()?;
    let name = short_name(first);
    if let Some(row) = ROWS.iter().find(|row| row.wants(name, args, streams)) {
        let subcommand = if row.subcommands.is_empty() { None } else { subcommand(row, args) };
        let name = subcommand.map_or_else(|| name.to_owned(), |sub| format!("{name} {sub}"));
        let works_without = row.works_without;
        let is_editor = row.is_editor;

        let is_certain = row.is_certain();
        return Some(TerminalProgram { name, works_without, is_certain, is_editor });
    }
    let (_, values) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name)?;
    let rest = after_options(args, values);
    let sets_editor = |word: &&str| {
        let variable = word.split_once('=').map(|(variable, _)| variable);
        variable.is_some_and(|variable| EDITOR_VARIABLES.contains(&variable))
    };
    let variables = rest.iter().take_while(|word| word.contains('=')).count();
    let (before, command) = rest.split_at(variables);
    wanted_by(command, streams).filter(|found| !(found.is_editor && before.iter().any(sets_editor)))
}

/// The arguments from the first operand on.
fn after_options<'a, 'w>(mut args: &'a [&'w str], values: &str) -> &'a [&'w str] {
    while let Some((arg, rest)) = args.split_first() {
        if *arg == "--" {
            return rest;
        }
        if !arg.starts_with('-') || *arg == "-" {
            return args;
        }
        let takes = values.split(' ').any(|option| option == *arg);
        args = if takes { rest.get(1..).unwrap_or_default() } else { rest };
    }
    args
}

/// The sub-command of a call: its first operand.
fn subcommand<'w>(row: &TerminalRow, args: &[&'w str]) -> Option<&'w str> {
    after_options(args, row.values).first().copied()
}

impl TerminalRow {
    fn wants(&self, name: &str, args: &[&str], streams: Streams) -> bool {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_named = |names: &str, wanted: &str| names.split(' ').any(|own| own == wanted);
        if !is_named(self.names, name) && !is_named(self.names, plain) {
            return false;
        }
        if streams.has_output && self.works_without
            || streams.has_input && self.keys == Keys::FromInput
        {
            return false;
        }
        let mut args = args;
        if !self.subcommands.is_empty() {
            let rest = after_options(args, self.values);
            let Some((first, rest)) = rest.split_first() else { return false };
            if !is_named(self.subcommands, first) || (self.is_editor && sets_git_editor(args)) {
                return false;
            }
            args = rest;
            let next = after_options(args, self.values).first();
            if next.is_some_and(|next| is_named(self.unless, next)) {
                return false;
            }
        }
        let mut options = args;
        if self.options_first {
            let operands = after_options(args, self.values).len();
            options = args.split_at(args.len().saturating_sub(operands)).0;
        }
        let asks_only = options.iter().any(|arg| matches!(*arg, "--help" | "--version"));
        let has = |wanted: &str| has_option(options, wanted);
        let operands = count_operands(args, self.values);
        !asks_only
            && (self.with.is_empty() || has(self.with))
            && !has(self.without)
            && self.operands.is_none_or(|most| operands <= most)
    }
}

/// `git -c core.editor=true commit`: another editor for this call.
fn sets_git_editor(args: &[&str]) -> bool {
    args.windows(2).any(|pair| {
        pair.first() == Some(&"-c")
            && pair.get(1).is_some_and(|set| {
                set.starts_with("core.editor=") || set.starts_with("sequence.editor=")
            })
    })
}

fn count_operands(mut args: &[&str], values: &str) -> usize {
    let mut count = 0;
    loop {
        args = after_options(args, values);
        let Some((_, rest)) = args.split_first() else { return count };
        (args, count) = (rest, count + 1);
    }
}

/// Letters after one dash that may be options each; more are a value after one: `-lroot`.
const MAX_LETTERS: usize = 4;

/// Whether one of these options is given: alone, with its value after `=`, or among letters.
fn has_option(args: &[&str], options: &str) -> bool {
    let options: Vec<&str> = options.split(' ').filter(|option| !option.is_empty()).collect();
    let given = args.iter().take_while(|arg| **arg != "--");
    given.into_iter().any(|arg| {
        options.iter().any(|option| {
            let letter = option.strip_prefix('-').filter(|rest| rest.chars().count() == 1);
            let cluster = arg.strip_prefix('-').filter(|rest| {
                rest.len() <= MAX_LETTERS
                    && rest.starts_with(|c: char| c.is_ascii_alphabetic())
                    && rest.chars().all(|c| c.is_ascii_alphanumeric())
            });
            match (letter, cluster) {
                (Some(letter), Some(cluster)) => cluster.contains(letter),
                _ => arg.split_once('=').map_or(*arg, |(name, _)| name) == *option,
            }
        })
    })
}

#[cfg(test)]
mod tests;
