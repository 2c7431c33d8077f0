//! Judges what a shell does by itself: variables, folders, and text that is run as
//! commands.

use crate::protocol::{Effect, Tier};
use crate::words::safety as words;

use super::super::findings::{Findings, quoted};
use super::super::judge::{Invocation, JudgeContext};
use super::super::paths;
use super::super::warning::Warning;
use super::super::wrappers;
use super::read::read;
use super::script::{ShellWord, Trait};
use super::word::identifiers;
use super::{Walk, judge_line, opaque};

/// Whether a shell does this by itself, and no program of that name runs.
pub fn is_one(name: &str) -> bool {
    [HARMLESS, RUNS, STATE, SETS, FOLDERS].iter().any(|list| list.contains(&name))
}

const HARMLESS: &[&str] = &[
    ":", "exit", "return", "shift", "break", "continue", "wait", "type", "jobs", "times", "read",
    "let", "getopts", "dirs", "fg", "bg", "disown", "logout", "suspend", "caller", "unalias", "[[",
];
const RUNS: &[&str] =
    &["exec", "command", "builtin", "eval", "trap", "source", ".", "alias", "noglob", "nocorrect"];
const STATE: &[&str] = &[
    "set",
    "shopt",
    "unset",
    "umask",
    "ulimit",
    "enable",
    "hash",
    "bind",
    "complete",
    "compgen",
    "compopt",
    "mapfile",
    "readarray",
    "history",
    "fc",
    "setopt",
    "unsetopt",
    "autoload",
    "emulate",
];
const SETS: &[&str] = &["export", "declare", "typeset", "readonly", "local"];
const FOLDERS: &[&str] = &["cd", "pushd", "popd", "chdir"];

impl Walk<'_, '_> {
    pub(super) fn builtin(
        &mut self,
        name: &str,
        rest: &[ShellWord],
        depth: usize,
        findings: &mut Findings,
    ) {
        match name {
            "[[" => self.tested(rest, findings),
            "read" | "getopts" | "wait" | "let" => self.given(rest, findings),
            _ if HARMLESS.contains(&name) => {}
            "exec" | "command" | "builtin" | "noglob" | "nocorrect" => {
                self.passed(name, rest, depth, findings);
            }
            "eval" => self.evaluated(rest, findings),
            "trap" => self.trapped(rest, findings),
            "alias" => self.aliased(rest, findings),
            "source" | "." => self.sourced(rest, findings),
            _ if SETS.contains(&name) => self.exported(name, rest, findings),
            _ if FOLDERS.contains(&name) => self.moved(name, rest, findings),
            _ => self.changed(name, rest, findings),
        }
    }

    /// Variables that a builtin gives a value by their names: `read PATH`, `printf -v PATH`.
    pub(super) fn given(&self, rest: &[ShellWord], findings: &mut Findings) {
        for word in rest {
            let text = word.text.as_str();
            let attached = text.strip_prefix('-').and_then(|rest| rest.get(1..));
            let names = identifiers(text).chain(attached.into_iter().flat_map(identifiers));
            for name in names.filter(|name| wrappers::starts_programs(name)) {
                self.sets(name, "", findings);
            }
        }
    }

    /// `[[ … ]]` only looks at files, as `test` does.
    fn tested(&self, rest: &[ShellWord], findings: &mut Findings) {
        let args: Vec<String> = rest.iter().map(|word| word.text.clone()).collect();
        let kept = findings.programs();
        self.program("test", &args, self.depth, findings);
        findings.forget_programs(kept);
    }

    /// `command -v x` only looks; every other form runs the rest.
    fn passed(&mut self, name: &str, rest: &[ShellWord], depth: usize, findings: &mut Findings) {
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
            if first.expands() || first.has(Trait::Pattern) {
                opaque(words::SHELL_NAME_UNKNOWN, self.seat, findings);
                return;
            }
            self.run(&first.text, behind, depth + 1, findings);
        }
    }

    fn evaluated(&self, rest: &[ShellWord], findings: &mut Findings) {
        findings.warn(Warning::Eval);
        let arg = self.seat.arg(0);
        findings.add("shell.eval", Tier::L1, words::SHELL_EVALUATES, arg, &[Effect::Exec]);
        opaque(words::SHELL_EVALUATES, self.seat, findings);
        if rest.iter().any(|word| word.has(Trait::Substitution)) {
            findings.warn(Warning::PipeToShell);
        }
        let line: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
        judge_line(&line.join(" "), self.seat, self.depth + 1, self.ground, findings);
    }

    /// `trap LINE SIGNAL…`: the line runs later.
    fn trapped(&self, rest: &[ShellWord], findings: &mut Findings) {
        findings.warn(Warning::Eval);
        let arg = self.seat.arg(0);
        findings.add("shell.eval", Tier::L1, words::SHELL_EVALUATES, arg, &[Effect::Exec]);
        let line = rest.iter().find(|word| !word.text.starts_with('-'));
        if let Some(line) = line.filter(|line| !line.text.trim().is_empty()) {
            judge_line(&line.text, self.seat, self.depth + 1, self.ground, findings);
        }
    }

    fn aliased(&mut self, rest: &[ShellWord], findings: &mut Findings) {
        findings.warn(Warning::Alias);
        for word in rest {
            if let Some((name, line)) = word.text.split_once('=') {
                self.hidden.push(name.to_owned());
                judge_line(line, self.seat, self.depth + 1, self.ground, findings);
            }
        }
        opaque(words::SHELL_EVALUATES, self.seat, findings);
    }

    fn sourced(&self, rest: &[ShellWord], findings: &mut Findings) {
        let arg = self.seat.arg(0);
        findings.add("shell.source", Tier::L1, words::SHELL_EVALUATES, arg, &[Effect::Exec]);
        opaque(words::SHELL_EVALUATES, self.seat, findings);
        if rest.iter().any(|word| word.has(Trait::Process) || word.has(Trait::Substitution)) {
            findings.warn(Warning::PipeToShell);
        }
        if let Some(file) = rest.first() {
            self.read(&file.text, findings);
        }
    }

    fn read(&self, path: &str, findings: &mut Findings) {
        for cwd in self.folders.iter() {
            let ground = JudgeContext { cwd: cwd.clone(), ..self.ground.clone() };
            let (seat, depth) = (self.seat, self.depth);
            let call = Invocation {
                id: "shell".into(),
                name: "sh",
                args: &[],
                seat,
                depth,
                ground: &ground,
            };
            call.reads(path, 0, findings);
        }
    }

    fn exported(&self, name: &str, rest: &[ShellWord], findings: &mut Findings) {
        let mut named = false;
        for word in rest.iter().filter(|word| !word.text.starts_with('-')) {
            let variable = word.text.split(['=', '+', '[']).next().unwrap_or(&word.text);
            let value = word.text.split_once('=').map_or("", |(_, value)| value);
            self.sets(variable, value, findings);
            named = true;
        }
        if !named {
            let arg = self.seat.arg(0);
            let say = words::PRINTS_ENVIRONMENT;
            findings.add(format!("shell.{name}"), Tier::L1, say, arg, &[Effect::Secret]);
        }
    }

    /// `cd`: a known folder of the workspace is fine, everything after it runs there.
    fn moved(&mut self, name: &str, rest: &[ShellWord], findings: &mut Findings) {
        let target = rest.iter().find(|word| !word.text.starts_with('-') || word.text == "-");
        let known = target.filter(|word| {
            name == "cd" && !word.expands() && !word.has(Trait::Pattern) && word.text != "-"
        });
        let home = &self.ground.scene.place.home;
        let Some(word) = known else {
            if name == "cd" && target.is_none() {
                self.folders.go(|_| home.clone());
            } else {
                self.folders.lose();
            }
            let say = words::SHELL_CHANGES.with("program", name.to_owned());
            findings.add("shell.state", Tier::L1, say, self.seat.arg(0), &[]);
            return;
        };
        self.read(&word.text, findings);
        self.folders.go(|here| paths::normal(&paths::absolute(&word.text, here, home)));
    }

    fn changed(&mut self, name: &str, rest: &[ShellWord], findings: &mut Findings) {
        let arg = self.seat.arg(0);
        let flags = rest.iter().all(|word| {
            word.text.starts_with(['-', '+'])
                || ["pipefail", "errexit", "nounset"].contains(&word.text.as_str())
        });
        if name == "set" && flags && !rest.is_empty() {
            return;
        }
        if name == "hash" && rest.iter().any(|word| word.text.starts_with("-p")) {
            self.hidden.extend(rest.last().map(|word| word.text.clone()));
        }
        let effects: &[Effect] = match name {
            "history" | "fc" | "set" => &[Effect::Secret],
            "enable" | "bind" | "complete" | "mapfile" | "readarray" | "hash" => &[Effect::Exec],
            _ => &[],
        };
        let say = words::SHELL_CHANGES.with("program", name.to_owned());
        findings.add("shell.state", Tier::L1, say, arg, effects);
        for word in
            rest.iter().filter(|word| effects.contains(&Effect::Exec) && word.text.contains(' '))
        {
            judge_line(&word.text, self.seat, self.depth + 1, self.ground, findings);
        }
    }

    /// `a[$(x)]` runs `x` although the word is quoted, wherever a name is expected.
    pub(super) fn subscripts(&self, rest: &[ShellWord], findings: &mut Findings) {
        let runs = |word: &&ShellWord| {
            word.has(Trait::Quoted)
                && !word.has(Trait::Substitution)
                && word.text.contains('[')
                && (word.text.contains("$(") || word.text.contains('`'))
        };
        for word in rest.iter().filter(runs) {
            let line = format!(": \"{}\"", word.text);
            if !read(&line).commands.is_empty() {
                let say = words::SHELL_EXPANDS.with("word", quoted(&word.text));
                findings.add("shell.expansion", Tier::L1, say, self.seat.arg(0), &[]);
                judge_line(&line, self.seat, self.depth + 1, self.ground, findings);
            }
        }
    }
}
