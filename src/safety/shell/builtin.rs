//! Judges what a shell does by itself: variables, folders, and text that is run as
//! commands.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};

use super::super::findings::{Findings, excerpt};
use super::super::paths;
use super::super::warning::Warning;
use super::super::wrappers;
use super::ast::{ShellWord, Trait};
use super::parser::parse;
use super::word::identifiers;
use super::{LineJudge, add_opaque, judge_line};

/// Whether a shell does this by itself, and no program of that name runs.
pub fn is_builtin(name: &str) -> bool {
    [HARMLESS, RUNS, STATE, SETS, FOLDERS].iter().any(|list| list.contains(&name))
}

const HARMLESS: &[&str] = &[
    ":", "exit", "return", "shift", "break", "continue", "wait", "type", "jobs", "times", "read",
    "let", "getopts", "dirs", "fg", "bg", "disown", "logout", "suspend", "caller", "unalias", "[[",
];
const RUNS: &[&str] =
    &["exec", "command", "builtin", "eval", "trap", "source", ".", "alias", "noglob", "nocorrect"];
#[rustfmt::skip]
const STATE: &[&str] = &[
    "set", "shopt", "unset", "umask", "ulimit", "enable", "hash", "bind", "complete", "compgen",
    "compopt", "mapfile", "readarray", "history", "fc", "setopt", "unsetopt", "autoload", "emulate",
];
const SETS: &[&str] = &["export", "declare", "typeset", "readonly", "local"];
const FOLDERS: &[&str] = &["cd", "pushd", "popd", "chdir"];

impl LineJudge<'_, '_> {
    pub(super) fn judge_builtin(
        &mut self,
        name: &str,
        words: &[ShellWord],
        depth: usize,
        findings: &mut Findings,
    ) {
        match name {
            "[[" => self.judge_test(words, findings),
            "read" | "getopts" | "wait" | "let" => self.check_assigned_names(words, findings),
            _ if HARMLESS.contains(&name) => {}
            "exec" | "command" | "builtin" | "noglob" | "nocorrect" => {
                self.judge_prefix_builtin(name, words, depth, findings);
            }
            "eval" => self.judge_eval(words, findings),
            "trap" => self.judge_trap(words, findings),
            "alias" => self.judge_alias(words, findings),
            "source" | "." => self.judge_source(words, findings),
            _ if SETS.contains(&name) => self.judge_export(name, words, findings),
            _ if FOLDERS.contains(&name) => self.judge_cd(name, words, findings),
            _ => self.judge_state_change(name, words, findings),
        }
    }

    /// Variables that a builtin gives a value by their names: `read PATH`, `printf -v PATH`.
    pub(super) fn check_assigned_names(&self, rest: &[ShellWord], findings: &mut Findings) {
        for word in rest {
            let text = word.text.as_str();
            let attached = text.strip_prefix('-').and_then(|rest| rest.get(1..));
            let names = identifiers(text).chain(attached.into_iter().flat_map(identifiers));
            for name in names.filter(|name| wrappers::starts_programs(name)) {
                self.judge_assignment(name, "", findings);
            }
        }
    }

    /// `[[ … ]]` only looks at files, as `test` does.
    fn judge_test(&self, shell_words: &[ShellWord], findings: &mut Findings) {
        let words = shell_words.iter().filter(|word| !word.is_keyword("=~"));
        let args: Vec<String> = words.map(|word| word.text.clone()).collect();
        let kept = findings.program_count();
        self.judge_program("test", &args, self.depth, findings);
        findings.truncate_programs(kept);
    }

    /// `command -v x` only looks; every other form runs the rest.
    fn judge_prefix_builtin(
        &mut self,
        name: &str,
        rest: &[ShellWord],
        depth: usize,
        findings: &mut Findings,
    ) {
        let mut rest = rest;
        while let Some((first, behind)) = rest.split_first()
            && first.text.starts_with('-')
        {
            if name == "command" && first.text.contains(['v', 'V']) {
                return;
            }
            let named = name == "exec" && first.text.ends_with('a');
            rest = if named { behind.get(1..).unwrap_or_default() } else { behind };
        }
        if let Some((first, behind)) = rest.split_first() {
            if first.needs_expansion() || first.has(Trait::Pattern) {
                add_opaque(phrases::SHELL_NAME_UNKNOWN, self.seat, findings);
                return;
            }
            self.judge_plain_command(&first.text, behind, depth + 1, findings);
        }
    }

    fn judge_eval(&self, words: &[ShellWord], findings: &mut Findings) {
        findings.warn(Warning::Eval);
        let arg = self.seat.arg(0);
        findings.add("shell.eval", Tier::L1, phrases::SHELL_EVALUATES, arg, &[Effect::Exec]);
        add_opaque(phrases::SHELL_EVALUATES, self.seat, findings);
        if words.iter().any(|word| word.has(Trait::Substitution)) {
            findings.warn(Warning::PipeToShell);
        }
        let line: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        judge_line(&line.join(" "), self.seat, self.depth + 1, self.context, findings);
    }

    /// `trap LINE SIGNAL…`: the line runs later.
    fn judge_trap(&self, words: &[ShellWord], findings: &mut Findings) {
        findings.warn(Warning::Eval);
        let arg = self.seat.arg(0);
        findings.add("shell.eval", Tier::L1, phrases::SHELL_EVALUATES, arg, &[Effect::Exec]);
        let line = words.iter().find(|word| !word.text.starts_with('-'));
        if let Some(line) = line.filter(|line| !line.text.trim().is_empty()) {
            judge_line(&line.text, self.seat, self.depth + 1, self.context, findings);
        }
    }

    fn judge_alias(&mut self, words: &[ShellWord], findings: &mut Findings) {
        findings.warn(Warning::Alias);
        for word in words {
            if let Some((name, line)) = word.text.split_once('=') {
                self.redefined.push(name.to_owned());
                judge_line(line, self.seat, self.depth + 1, self.context, findings);
            }
        }
        add_opaque(phrases::SHELL_EVALUATES, self.seat, findings);
    }

    fn judge_source(&self, words: &[ShellWord], findings: &mut Findings) {
        let arg = self.seat.arg(0);
        findings.add("shell.source", Tier::L1, phrases::SHELL_EVALUATES, arg, &[Effect::Exec]);
        add_opaque(phrases::SHELL_EVALUATES, self.seat, findings);
        if words.iter().any(|word| word.has(Trait::Process) || word.has(Trait::Substitution)) {
            findings.warn(Warning::PipeToShell);
        }
        if let Some(file) = words.first() {
            self.check_read(&file.text, findings);
        }
    }

    fn check_read(&self, path: &str, findings: &mut Findings) {
        for cwd in self.folders.iter() {
            self.as_call("sh", &self.context_in(cwd)).check_read(path, 0, findings);
        }
    }

    fn judge_export(&self, name: &str, words: &[ShellWord], findings: &mut Findings) {
        let mut named = false;
        for word in words.iter().filter(|word| !word.text.starts_with('-')) {
            let variable = word.text.split(['=', '+', '[']).next().unwrap_or(&word.text);
            let value = word.text.split_once('=').map_or("", |(_, value)| value);
            self.judge_assignment(variable, value, findings);
            named = true;
        }
        if !named {
            let arg = self.seat.arg(0);
            let say = phrases::PRINTS_ENVIRONMENT;
            findings.add(format!("shell.{name}"), Tier::L1, say, arg, &[Effect::Secret]);
        }
    }

    /// `cd`: a known folder of the workspace is fine, everything after it runs there.
    fn judge_cd(&mut self, name: &str, words: &[ShellWord], findings: &mut Findings) {
        let target = words.iter().find(|word| !word.text.starts_with('-') || word.text == "-");
        let known = target.filter(|word| {
            name == "cd" && !word.needs_expansion() && !word.has(Trait::Pattern) && word.text != "-"
        });
        let home = &self.context.policy_cx.place.home;
        let Some(word) = known else {
            if name == "cd" && target.is_none() {
                self.folders.change_to(|_| home.clone());
            } else {
                self.folders.mark_lost();
            }
            let say = phrases::SHELL_CHANGES.with("program", name.to_owned());
            findings.add("shell.state", Tier::L1, say, self.seat.arg(0), &[]);
            return;
        };
        self.check_read(&word.text, findings);
        self.folders.change_to(|here| paths::normalize(&paths::absolute(&word.text, here, home)));
    }

    fn judge_state_change(&mut self, name: &str, words: &[ShellWord], findings: &mut Findings) {
        let arg = self.seat.arg(0);
        let flags = words.iter().all(|word| {
            word.text.starts_with(['-', '+'])
                || ["pipefail", "errexit", "nounset"].contains(&word.text.as_str())
        });
        if name == "set" && flags && !words.is_empty() {
            return;
        }
        if name == "hash" && words.iter().any(|word| word.text.starts_with("-p")) {
            self.redefined.extend(words.last().map(|word| word.text.clone()));
        }
        let effects: &[Effect] = match name {
            "history" | "fc" | "set" => &[Effect::Secret],
            "enable" | "bind" | "complete" | "mapfile" | "readarray" | "hash" => &[Effect::Exec],
            _ => &[],
        };
        let say = phrases::SHELL_CHANGES.with("program", name.to_owned());
        findings.add("shell.state", Tier::L1, say, arg, effects);
        for word in
            words.iter().filter(|word| effects.contains(&Effect::Exec) && word.text.contains(' '))
        {
            judge_line(&word.text, self.seat, self.depth + 1, self.context, findings);
        }
    }

    /// `a[$(x)]` runs `x` although the word is quoted, wherever a name is expected.
    pub(super) fn judge_subscripts(&self, words: &[ShellWord], findings: &mut Findings) {
        let runs = |word: &&ShellWord| {
            word.has(Trait::Quoted)
                && !word.has(Trait::Substitution)
                && word.text.contains('[')
                && (word.text.contains("$(") || word.text.contains('`'))
        };
        for word in words.iter().filter(runs) {
            let line = format!(": \"{}\"", word.text);
            if !parse(&line).commands.is_empty() {
                let say = phrases::SHELL_EXPANDS.with("word", excerpt(&word.text));
                findings.add("shell.expansion", Tier::L1, say, self.seat.arg(0), &[]);
                judge_line(&line, self.seat, self.depth + 1, self.context, findings);
            }
        }
    }
}
