//! Judges a shell line: every simple command by itself, and the worst decides.
//!
//! Quotes, operators, forms, substitutions and here-documents are understood. What is
//! not, makes the line opaque, and it is never harmless then. Nothing in here is ever
//! handed back to a shell: a line runs as it was typed.

use std::path::Path;

use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{Effect, StepAction, SubCommand, Tier};

use super::checks::lines;
use super::findings::{Findings, SENDS, excerpt};
use super::spec::{ArgPosition, JudgeContext, ProgramCall};
use super::warning::Warning;
use super::{NamedWrite, WriteOpening, malformed, named, sensitive, wrappers};

mod assignment;
mod ast;
mod brace_expansion;
mod builtin;
mod characters;
mod compound;
mod condition;
mod cwd;
mod expand;
mod functions;
mod gaps;
mod given;
mod known;
mod listing;
mod loops;
mod parser;
mod plain;
mod redirect;
mod runner;
mod substitution;
mod unknown;
mod variables;
mod word;
mod writer;
mod xargs;

pub use plain::{PlainCommand, PlainLine, PlainSegment};
pub use runner::shell_lookup_line;
pub use unknown::UNKNOWN;
pub use writer::read_plain;

use ast::{RedirectKind, Script, Set, ShellWord, Simple, Trait};
use avocet_core::text::short_name;
use cwd::Folders;
use parser::parse;

#[cfg(test)]
mod tests;

const MAX_DEPTH: usize = 8;

/// One command of a line, for callers that do not judge it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineCommand {
    /// The program and its arguments, without quotes; what expands stays as it is written.
    pub words: Vec<String>,
    /// The variables that are set for it.
    pub sets: Vec<String>,
    /// It reads a file, or what another command writes.
    pub has_input: bool,
    /// It writes to a file, or to another command.
    pub has_output: bool,
}

/// The commands of a line.
pub fn pipeline_commands(line: &str) -> Vec<PipelineCommand> {
    let commands = parse(line).commands;
    let is_piped = |at: usize| commands.get(at).is_some_and(|simple| simple.seat.piped);
    let simple = commands.iter().enumerate().map(|(at, simple)| {
        let redirects =
            |kind: RedirectKind| simple.redirects.iter().any(|redirect| redirect.way == kind);
        PipelineCommand {
            words: simple.words.iter().map(|word| word.text.clone()).collect(),
            sets: simple.sets.iter().map(|set| set.name.clone()).collect(),
            has_input: is_piped(at) || simple.fed.is_some() || redirects(RedirectKind::Read),
            has_output: is_piped(at + 1) || redirects(RedirectKind::Write),
        }
    });
    simple.collect()
}

/// Judges a line: each simple command by itself, and all of them in `findings`.
pub fn judge_line(
    line: &str,
    position: ArgPosition,
    depth: usize,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Vec<SubCommand> {
    if depth > MAX_DEPTH {
        add_opaque(phrases::SHELL_TOO_DEEP, position, findings);
        return Vec::new();
    }
    let script = parse(line);
    judge_whole_line(line, &script, position, findings);
    let folders = Folders::new(context.cwd.clone());
    let mut judge = LineJudge {
        seat: position,
        depth,
        context,
        script: &script,
        folders,
        redefined: Vec::new(),
    };
    let mut pieces = Vec::new();
    let mut named = Vec::new();
    let mut entries = script.functions.is_empty().then(Vec::new);
    for (at, simple) in script.commands.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| script.commands.get(at));
        let mut found = Findings::default();
        judge.judge_simple_command(simple, before, &mut found);
        findings.merge(&found);
        // A path whose letters are written as numbers (`$'\x2f'`) cannot be read in the question, so the answer opens nothing.
        let targets = simple.redirects.iter().map(|redirect| &redirect.target);
        if simple.words.iter().chain(targets).any(|word| word.has(Trait::Coded)) {
            found.launch.named.clear();
        }
        entries = entries.zip(judge.entries(simple, &found)).map(|(all, new)| [all, new].concat());
        named.append(&mut found.launch.named);
        pieces.push(SubCommand { text: simple.text.clone(), risk: found.into_risk(false) });
    }
    if script.commands.iter().all(|simple| simple.words.is_empty()) {
        findings.add("shell.empty", Tier::L1, phrases::SHELL_EMPTY, position.arg(0), &[]);
    }
    // What the line names is known where all of it is understood, and each folder it may be in.
    if !judge.folders.is_lost() && !findings.rule_ids().any(|rule| rule == "shell.opaque") {
        findings.launch.named.append(&mut named);
        findings.entries = entries;
    }
    pieces
}

/// The findings about the line as a whole.
fn judge_whole_line(line: &str, script: &Script, position: ArgPosition, findings: &mut Findings) {
    let arg = position.arg(0);
    for form in &script.forms {
        findings.warn(*form);
    }
    if line.chars().any(|c| malformed::is_hidden(c) || c == '\r') {
        findings.add("malformed.hidden", Tier::L1, phrases::ARG_HIDDEN, arg, &[]);
        findings.warn(Warning::ControlChars);
        add_opaque(phrases::SHELL_HIDES, position, findings);
    }
    if line.contains('\0') {
        findings.add("malformed.nul", Tier::L2, phrases::ARG_NUL, arg, &[]);
    }
    if let Some(why) = script.opaque {
        add_opaque(why, position, findings);
    }
    if script.forms.contains(&Warning::Background) {
        findings.add("shell.background", Tier::L1, phrases::SHELL_BACKGROUND, arg, &[]);
    }
    if script.forms.contains(&Warning::Resource) {
        findings.add("shell.endless", Tier::L1, phrases::SHELL_ENDLESS, arg, &[Effect::Resource]);
    }
    if !script.functions.is_empty() {
        findings.add("shell.function", Tier::L1, phrases::SHELL_DEFINES, arg, &[]);
    }
    for name in script.names.iter().filter(|name| wrappers::starts_programs(name)) {
        findings.warn(Warning::EnvAssign);
        add_variable(name, position, findings);
    }
    if script.commands.iter().any(|simple| simple.seat.recursive) {
        let endless = [Warning::Background, Warning::Subshell];
        let piped = script.commands.iter().any(|simple| simple.seat.piped);
        let bomb = piped || endless.iter().any(|form| script.forms.contains(form));
        let tier = if bomb { Tier::L2 } else { Tier::L1 };
        findings.add("shell.recursion", tier, phrases::SHELL_RECURSES, arg, &[Effect::Resource]);
    }
}

fn add_opaque(why: impl Into<LocalizedText>, position: ArgPosition, findings: &mut Findings) {
    findings.add("shell.opaque", Tier::L1, why, position.arg(0), &[]);
}

fn add_variable(name: &str, position: ArgPosition, findings: &mut Findings) {
    let say = phrases::SETS_VARIABLE.with("name", excerpt(name));
    let effects: &[Effect] = if wrappers::starts_programs(name) { &[Effect::Exec] } else { &[] };
    findings.add("shell.variable", Tier::L1, say, position.arg(0), effects);
}

/// Goes through the commands of one line, keeping what earlier ones changed.
struct LineJudge<'a, 'g> {
    seat: ArgPosition,
    depth: usize,
    context: &'a JudgeContext<'g>,
    script: &'a Script,
    folders: Folders,
    /// Names the line gave another meaning.
    redefined: Vec<String>,
}

impl LineJudge<'_, '_> {
    fn judge_simple_command(
        &mut self,
        simple: &Simple,
        before_simple: Option<&Simple>,
        findings: &mut Findings,
    ) {
        let arg = self.seat.arg(0);
        findings.add("shell", Tier::L0, phrases::SHELL_PIECE, arg, &[Effect::Read]);
        self.folders.start_command(simple.seat.after);
        // One that no program is given changes none.
        let is_given = |set: &&Set| !simple.words.is_empty() || !variables::is_free_name(&set.name);
        for set in simple.sets.iter().filter(is_given) {
            self.judge_assignment(&set.name, &set.value, findings);
        }
        self.judge_redirections(simple, findings);
        if let Some((first, rest)) = simple.words.split_first() {
            self.check_expansions(rest, first, findings);
            self.judge_by_name(first, rest, findings);
            self.judge_input(simple, before_simple, findings);
        }
    }

    /// The entries the sandbox opens to a command one by one; `None`: it does more than print or
    /// change what it names.
    fn entries(&self, simple: &Simple, findings: &Findings) -> Option<Vec<NamedWrite>> {
        let (name, rest) = simple.words.split_first()?;
        let args = rest.iter().map(|word| word.text.clone()).collect();
        let exec = StepAction::Exec { program: name.text.clone(), args };
        let program = self.context.policy_cx.world.program(&name.text);
        let context = self.context_in(self.folders.only()?);
        let reasons = findings.iter().map(|finding| &finding.reason);
        named::entries(&exec, program.as_ref(), &context, reasons, &findings.launch.named)
    }

    /// A variable that is set, as an assignment or by a builtin.
    fn judge_assignment(&self, name: &str, value: &str, findings: &mut Findings) {
        findings.warn(Warning::EnvAssign);
        if !wrappers::is_harmless_variable(name, value) {
            add_variable(name, self.seat, findings);
            let call = self.as_call(name, self.context);
            lines::judge_variable(name, value, &call, 0, findings);
        }
    }

    /// The line as a call of what it names.
    fn as_call<'c>(&self, name: &'c str, context: &'c JudgeContext<'_>) -> ProgramCall<'c> {
        let seat = self.seat;
        let depth = self.depth;

        ProgramCall { id: "shell".into(), name, args: &[], seat, depth, context }
    }

    /// The context in a folder that the line may have gone to.
    fn context_in(&self, cwd: &Path) -> JudgeContext<'_> {
        JudgeContext { cwd: cwd.to_owned(), ..self.context.clone() }
    }

    /// The expansions among the words after the name.
    fn check_expansions(
        &self,
        words: &[ShellWord],
        shell_word: &ShellWord,
        findings: &mut Findings,
    ) {
        let arg = self.seat.arg(0);
        let quiet = SHOWS_NAMES.contains(&shell_word.text.as_str());
        let unknown = |word: &&ShellWord| {
            word.needs_expansion()
                || (is_open_pattern(word) && !(quiet && is_flat_pattern(&word.text)))
        };
        if let Some(word) = words.iter().find(unknown) {
            let say = phrases::SHELL_EXPANDS.with("word", excerpt(&word.text));
            findings.add("shell.expansion", Tier::L1, say, arg, &[]);
        }
        if let Some(word) = words.iter().find(|w| w.has(Trait::Pattern) && is_hidden_glob(&w.text))
        {
            self.as_call("sh", self.context).ask_sensitive(&word.text, 0, findings);
        }
    }

    /// The command by its name; where the name is not plain, by its likely name.
    fn judge_by_name(&mut self, word: &ShellWord, words: &[ShellWord], findings: &mut Findings) {
        if !word.text.is_ascii() {
            findings.warn(Warning::ControlChars);
        }
        if builtin::is_builtin(&word.text) || ["printf", "test", "["].contains(&word.text.as_str())
        {
            self.judge_subscripts(words, findings);
        }
        let pattern = word.has(Trait::Pattern) && !["[", "[["].contains(&word.text.as_str());
        if word.needs_expansion() || pattern {
            let arg = self.seat.arg(0);
            findings.add(
                "shell.opaque",
                Tier::L1,
                phrases::SHELL_NAME_UNKNOWN,
                arg,
                &[Effect::Exec],
            );
            return self.judge_likely_command(word, words, findings);
        }
        if word.text.contains(malformed::is_hidden) {
            self.judge_likely_command(word, words, findings);
        }
        if word.has(Trait::Coded) {
            add_opaque(phrases::SHELL_NAME_UNKNOWN, self.seat, findings);
        }
        self.judge_plain_command(&word.text, words, self.depth, findings);
        self.judge_brace_expansion(&word.text, words, findings);
    }

    /// The same command with its braces spread out, as the shell will: `rm {-rf,x}`.
    fn judge_brace_expansion(&self, name: &str, words: &[ShellWord], findings: &mut Findings) {
        if words.iter().any(|word| word.has(Trait::Braces)) && self.context.row(name).is_some() {
            let args: Vec<String> =
                words.iter().flat_map(|word| brace_expansion::expand(&word.text)).collect();
            let kept = findings.program_count();
            self.judge_program(name, &args, self.depth, findings);
            findings.truncate_programs(kept);
        }
    }

    /// A name that expands, without what expands in it: `{rm,-rf,x}`, `rm$IFS-rf`, `r$@m`.
    fn judge_likely_command(
        &self,
        shell_word: &ShellWord,
        rest: &[ShellWord],
        findings: &mut Findings,
    ) {
        let plain =
            shell_word.plain.replace(['{', '}', ','], " ").replace(malformed::is_hidden, "");
        let rest = rest.iter().map(|word| word.plain.as_str());
        let parts: Vec<String> = plain.split(' ').chain(rest).map(str::to_owned).collect();
        let parts: Vec<String> = parts.into_iter().skip_while(String::is_empty).collect();
        if let Some((name, args)) = parts.split_first()
            && self.context.row(name).is_some()
        {
            self.judge_program(name, args, self.depth, findings);
        }
    }

    /// A command by its plain name: of the line itself, of the shell, or a program.
    fn judge_plain_command(
        &mut self,
        name: &str,
        words: &[ShellWord],
        depth: usize,
        findings: &mut Findings,
    ) {
        let short = short_name(name);
        if depth > MAX_DEPTH {
            return add_opaque(phrases::SHELL_TOO_DEEP, self.seat, findings);
        }
        if self.redefined.iter().any(|hidden| hidden == name) {
            findings.record_program(name);
            return add_opaque(
                phrases::SHELL_RENAMED.with("program", excerpt(name)),
                self.seat,
                findings,
            );
        }
        if self.script.functions.iter().any(|function| function == name) {
            findings.record_program(name);
            if self.context.row(short).is_some() || builtin::is_builtin(name) {
                let say = phrases::SHELL_RENAMED.with("program", excerpt(name));
                add_opaque(say, self.seat, findings);
            }
            return;
        }
        if builtin::is_builtin(name) {
            findings.record_program(name);
            return self.judge_builtin(name, words, depth, findings);
        }
        if name == "printf" && words.first().is_some_and(|word| word.text.starts_with("-v")) {
            self.check_assigned_names(words.get(..2).unwrap_or(words), findings);
        }
        let args: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        self.judge_program(name, &args, depth, findings);
    }

    /// A program, in every folder the line may have gone to.
    fn judge_program(&self, name: &str, args: &[String], depth: usize, findings: &mut Findings) {
        for cwd in self.folders.iter() {
            let context = self.context_in(cwd);
            let arg = self.seat.arg(0);
            let kept = findings.program_count();
            (context.judges.judge_command)(name, arg, args, self.seat, depth, &context, findings);
            if self.folders.is_first(cwd) {
                continue;
            }
            findings.truncate_programs(kept);
        }
        if self.folders.is_lost() {
            findings.add("shell.folder", Tier::L1, phrases::SHELL_FOLDER, self.seat.arg(0), &[]);
        }
    }

    fn judge_redirections(&self, simple: &Simple, findings: &mut Findings) {
        for redirect in &simple.redirects {
            let text = redirect.target.text.as_str();
            let arg = self.seat.arg(0);

            if redirect.target.needs_expansion() || is_open_pattern(&redirect.target) {
                let say = phrases::SHELL_EXPANDS.with("word", excerpt(text));
                findings.add("shell.expansion", Tier::L1, say, arg, &[]);
            }
            if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") {
                let say = phrases::USES_NETWORK;
                findings.add("shell.network", Tier::L1, say, arg, SENDS);
                continue;
            }
            for cwd in self.folders.iter() {
                self.judge_redirect(redirect.way, text, &self.context_in(cwd), findings);
            }
        }
    }

    fn judge_redirect(
        &self,
        kind: RedirectKind,
        text: &str,
        context: &JudgeContext<'_>,
        findings: &mut Findings,
    ) {
        let seat = self.seat;
        let call = self.as_call("sh", context);

        if matches!(kind, RedirectKind::Read | RedirectKind::Both) && !text.is_empty() {
            call.check_read(text, 0, findings);
        }
        let free = ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&text);
        if matches!(kind, RedirectKind::Write | RedirectKind::Both) && !free {
            let say = phrases::WRITES_A_FILE.with("arg", excerpt(text));
            findings.add("shell.redirect", Tier::L1, say, seat.arg(0), &[Effect::Write]);
            findings.warn(Warning::RedirectWrite);
            call.check_output(text, 0, WriteOpening::File, findings);
        }
    }

    /// The input of a shell or an interpreter: text of the line is looked into, the rest
    /// cannot be.
    fn judge_input(
        &mut self,
        simple: &Simple,
        before_simple: Option<&Simple>,
        findings: &mut Findings,
    ) {
        let words = &simple.words;
        let interprets = |word: &ShellWord| {
            let name = short_name(&word.text);
            is_shell(name) || INTERPRETERS.iter().any(|own| name.starts_with(own))
        };
        let Some(at) = words.iter().position(interprets) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        let shell = words.get(at).is_some_and(|word| is_shell(short_name(&word.text)));
        let text = simple
            .fed
            .clone()
            .or_else(|| before_simple.filter(|_| simple.seat.piped).and_then(echo_output));
        if let Some(text) = &text {
            self.judge_input_text(text, shell, findings);
        }
        let script = rest.iter().any(|word| !word.text.starts_with('-') || word.is_keyword("-c"));
        let stdin = rest.iter().any(|word| word.is_keyword("-s") || word.is_keyword("-"));
        let made = rest.iter().any(|w| w.has(Trait::Process) || w.has(Trait::Substitution));
        let reads = simple.redirects.iter().any(|redirect| redirect.way != RedirectKind::Write);
        if (simple.seat.piped || reads) && (!script || stdin) || (made && shell) {
            findings.warn(Warning::PipeToShell);
            let arg = self.seat.arg(0);
            findings.add("shell.piped", Tier::L1, phrases::SHELL_PIPED, arg, &[Effect::Exec]);
            add_opaque(phrases::SHELL_PIPED, self.seat, findings);
        }
    }

    /// A text that is run: as a line, or by another language.
    fn judge_input_text(&self, text: &str, shell: bool, findings: &mut Findings) {
        if shell {
            judge_line(text, self.seat, self.depth + 1, self.context, findings);
        } else {
            wrappers::scan_code(text, self.seat.arg(0), "shell", findings);
        }
    }
}

/// The output of `echo` or `printf`, when it is known.
fn echo_output(simple: &Simple) -> Option<String> {
    let (first, rest) = simple.words.split_first()?;
    let known = ["echo", "printf"].contains(&first.text.as_str())
        && !rest.iter().any(|word| word.has(Trait::Substitution));
    let texts = rest.iter().map(|word| word.text.as_str());
    let texts: Vec<&str> = texts.skip_while(|text| text.starts_with('-')).collect();
    known.then(|| texts.join(" ").replace("\\n", "\n"))
}

/// A pattern for names that are not known yet. One that begins as an option does finds only
/// options that are judged as what they begin with.
fn is_open_pattern(word: &ShellWord) -> bool {
    let option = word.text.starts_with('-')
        && word.text.find('=') < word.text.find(['*', '?', '['])
        && word.text.contains('=');
    word.has(Trait::Pattern) && !option
}

/// A pattern of names in one folder.
fn is_flat_pattern(text: &str) -> bool {
    let from = text.find(['*', '?', '[']).and_then(|at| text.get(at..));
    from.is_some_and(|from| !from.contains('/')) && !text.starts_with(['/', '~'])
}

/// A pattern that a shell would also find hidden files or keys with.
fn is_hidden_glob(text: &str) -> bool {
    let name = short_name(text);
    let ending = name.rsplit('.').next().unwrap_or(name);
    name.contains(['*', '?', '['])
        && (name.starts_with('.') || sensitive::is_sensitive_name(&format!("x.{ending}")))
}

fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "csh", "tcsh", "rbash", "pwsh", "nu",
];
const INTERPRETERS: &[&str] = &[
    "python",
    "perl",
    "ruby",
    "node",
    "deno",
    "bun",
    "php",
    "lua",
    "osascript",
    "pypy",
    "Rscript",
];
/// Programs that show names, not the contents of files.
const SHOWS_NAMES: &[&str] = &["ls", "echo", "printf", "test", "[", "basename", "dirname"];
