//! Decides whether a rule of the user answers the question that a step would ask.
//!
//! Two kinds do. A rule that was remembered ("don't ask again") brings the terms of the
//! step it was given for: the folder it ran in, the reasons it was asked about, its
//! effects, and for a program of the folder the content of its file. It answers nothing
//! that was not among them. A rule the user wrote (`/allow`, the settings file) holds in
//! the workspace's own folder; with `*` it answers only what its row always asks about.
//! Some reasons no rule answers.

use std::path::Path;

use avocet_core::protocol::{Effect, StepAction, Tier};

use super::findings::Findings;
use super::paths::{self, PathClass};
use super::policy::{Grant, Pinned, Policy, PolicyRule, Terms};
use super::reach::{self, OperandScope};
use super::rules::remembered::RuleReach;
use super::spec::Operands;
use super::{Contents, Judgement, PathKind, PolicyContext, Program, rules, tools};
use avocet_core::text::short_name;

/// A step that would be asked about.
#[derive(Clone, Copy)]
pub(super) struct GrantQuestion<'a> {
    pub work: &'a StepAction,
    pub cwd: &'a Path,
    pub program: Option<&'a Program>,
    pub findings: &'a Findings,
    pub policy_cx: PolicyContext<'a>,
}

/// The largest program of a folder that is remembered by its content.
const MAX_PROGRAM: usize = 4 * 1024 * 1024;
/// An argument longer than this is not a pattern the user reads.
const MAX_ARG: usize = 200;
/// Reasons about a program in the folder; answered by its content alone.
pub(super) const OF_FOLDER: &[&str] = &["program.path", "program.folder"];

/// Reasons that no rule of the user answers.
#[rustfmt::skip]
const NEVER_REMEMBERED: &[&str] = &[
    "asked", "folder.untrusted", "malformed.hidden", "shell.string", "shell.opaque", "cwd.outside",
    "cwd.missing", "requires.confirm", "requires.elevated", "git-config-exec", "git-config-unread",
    "git-bare", "git-outside", "sandbox.denied", "sandbox.without", "sandbox.put-back", "sandbox.hooks", "skill.narrow", "path.git", "path.steers", "path.names",
    "path.outside", "path.outside.write", "path.secret", "path.secret.write", "file.changed",
    "file.unread", "file.large", "secret.value", "plugin.run", "config.patch",
    "web.user",
];
/// What the model itself declared a step needs, with the effect of it.
const REQUIRED: &[(&str, Effect)] =
    &[("requires.network", Effect::Network), ("requires.write", Effect::Write)];
/// Effects an open rule never covers.
const GRAVE: &[Effect] = &[Effect::Secret, Effect::Elevate, Effect::Irreversible];

/// Whether no rule answers a reason of this id.
pub(super) fn is_never_remembered(reason: &str) -> bool {
    NEVER_REMEMBERED.contains(&reason)
}

/// The rule that lets the step run without a question.
pub(super) fn find_allowing_rule<'p>(
    question: GrantQuestion<'_>,
    policy: &'p Policy,
) -> Option<&'p PolicyRule> {
    if question.reasons().any(|(id, _)| is_never_remembered(id)) {
        return None;
    }
    // Words are compared before files are looked at: there may be hundreds of rules.
    let granted = policy.granted.iter().filter(|grant| has_words_of(&grant.rule, question.work));
    let granted = granted.filter(|grant| grant.covers(question));
    let written = policy.allowed.iter().filter(|rule| has_words_of(rule, question.work));
    let written = written.filter(|rule| is_covered_by_user_rule(rule, question));
    granted.map(|grant| &grant.rule).chain(written).next()
}

/// Whether the words of a rule are those of the step: without them it covers nothing of it. The
/// program may have another name.
fn has_words_of(rule: &PolicyRule, action: &StepAction) -> bool {
    match action {
        StepAction::Exec { args, .. } if rule.open => args.starts_with(&rule.args),
        StepAction::Exec { args, .. } => *args == rule.args,
        StepAction::Tool { name, .. } => rule.program == *name,
        StepAction::Shell { .. } => false,
    }
}

/// Whether the step changes a file of the workspace in the ordinary way: one that rules for the
/// file tools would cover.
pub(super) fn is_routine_edit(question: GrantQuestion<'_>) -> bool {
    let StepAction::Tool { name, .. } = question.work else { return false };
    let rule = PolicyRule { program: name.clone(), args: Vec::new(), open: true };
    tools::REMEMBERED.contains(&name.as_str())
        && !question.reasons().any(|(id, _)| is_never_remembered(id))
        && is_covered_by_user_rule(&rule, question)
}

impl<'a> GrantQuestion<'a> {
    /// The rules that make it a question, with the effects of each reason.
    pub fn reasons(&self) -> impl Iterator<Item = (&'a str, &'a [Effect])> {
        let asking = self.findings.iter().filter(|finding| finding.reason.tier > Tier::L0);
        asking.map(|finding| (finding.reason.rule.as_str(), finding.effects.as_slice()))
    }

    /// The program is in the workspace, however it was named.
    pub fn is_in_workspace(&self) -> bool {
        is_in_workspace(self.program, self.policy_cx)
            || self.reasons().any(|(id, _)| OF_FOLDER.contains(&id))
    }
}

impl Grant {
    fn covers(&self, question: GrantQuestion<'_>) -> bool {
        let Terms { folder, reasons, effects, pinned, script } = &self.terms;
        let same_file = match pinned {
            Some(pinned) => pinned.matches(question.program, question.policy_cx),
            None => !question.is_in_workspace() && is_same_program(&self.rule, question),
        };
        let tool = matches!(question.work, StepAction::Tool { .. });
        let known = |(id, has): (&str, &[Effect])| match declared_effect(id) {
            Some(effect) => effects.contains(&effect),
            None => {
                reasons.iter().any(|reason| reason == id)
                    && has.iter().all(|effect| *effect == Effect::Read || effects.contains(effect))
            }
        };
        same_file
            && (tool || question.cwd == folder)
            && is_same_script(question, script.as_ref())
            && question.reasons().all(known)
            && rule_covers(&self.rule, question, false)
    }
}

impl Pinned {
    /// Whether this is the program, with the content it had.
    fn matches(&self, program: Option<&Program>, policy_cx: PolicyContext<'_>) -> bool {
        program.is_some_and(|program| program.path == self.path)
            && pin(program, policy_cx).as_ref() == Some(self)
    }
}

/// Whether a rule the user wrote answers.
fn is_covered_by_user_rule(rule: &PolicyRule, question: GrantQuestion<'_>) -> bool {
    let tool = matches!(question.work, StepAction::Tool { .. });
    let here = tool || question.cwd == question.policy_cx.place.workspace;
    let own = !question.is_in_workspace() && is_same_program(rule, question);
    // A file passed to an interpreter is covered by its content, which a text cannot hold.
    if !own || !here || !rule_covers(rule, question, true) || !is_same_script(question, None) {
        return false;
    }
    let others: Vec<_> =
        question.reasons().filter(|(id, _)| declared_effect(id).is_none()).collect();
    let needed = |(id, _)| {
        let effect = declared_effect(id);
        effect.is_none_or(|effect| others.iter().any(|(_, has)| has.contains(&effect)))
    };
    question.reasons().all(needed)
        && (!rule.open || others.iter().all(|one| is_routine_reason(*one, question)))
}

/// Reasons from the row that apply to every step of it, and from the user for a program
/// they added.
fn is_routine_reason((id, effects): (&str, &[Effect]), question: GrantQuestion<'_>) -> bool {
    if effects.iter().any(|effect| GRAVE.contains(effect) || *effect == Effect::Outside) {
        return false;
    }
    match question.work {
        StepAction::Exec { program, args } => {
            let row = row_id(program, args);
            id == "program.added" || id == row || row.strip_prefix(id).is_some_and(is_sub_row) || {
                id.strip_prefix(row.as_str()) == Some(".create")
            }
        }
        StepAction::Tool { name, .. } => id == "file.write" || id == name,
        StepAction::Shell { .. } => false,
    }
}

fn is_sub_row(rest: &str) -> bool {
    rest.starts_with('.')
}

pub(super) fn declared_effect(id: &str) -> Option<Effect> {
    REQUIRED.iter().find(|(required, _)| *required == id).map(|(_, effect)| *effect)
}

/// The id of a command's row: `git.stash.drop`.
pub(super) fn row_id(program: &str, args: &[String]) -> String {
    let short = short_name(program);
    let Some((mut spec, own)) = rules::find(short) else { return short.to_owned() };
    let mut id = own.to_owned();
    for arg in args {
        let Some((sub, own)) = spec.sub(arg) else { break };
        id = format!("{id}.{own}");
        spec = sub;
    }
    id
}

/// Whether the rule names the very file that would run, in a folder of trusted programs.
fn is_same_program(rule: &PolicyRule, question: GrantQuestion<'_>) -> bool {
    let StepAction::Exec { program, .. } = question.work else { return true };
    if program == &rule.program && !program.contains('/') {
        return true;
    }
    let known = question.policy_cx.world.program(&rule.program);
    known.is_some() && known.as_ref() == question.program
}

fn rule_covers(rule: &PolicyRule, question: GrantQuestion<'_>, by_hand: bool) -> bool {
    match question.work {
        StepAction::Exec { program, args } => {
            let folder = CommandFolder { cwd: question.cwd, policy_cx: question.policy_cx };
            rule_covers_args(rule, program, args, by_hand, &folder)
        }
        StepAction::Tool { .. } if let Some(host) = tools::web::host_of(question.work) => {
            tools::web::is_host_rule(rule) && rule.args.contains(&host)
        }
        StepAction::Tool { name, .. } => {
            rule.open
                && rule.args.is_empty()
                && rule.program == *name
                && tools::remembered_tool(question.work).is_some()
        }
        StepAction::Shell { .. } => false,
    }
}

fn rule_covers_args(
    rule: &PolicyRule,
    program: &str,
    args: &[String],
    by_hand: bool,
    folder: &CommandFolder<'_>,
) -> bool {
    if !rule.open {
        let governed = reach::match_form(program, args);
        return args == rule.args && reach::is_program_present(&governed, args, folder);
    }
    args.starts_with(&rule.args)
        && !is_wrapper(program)
        && reach::star_covers(program, args, rule.args.len(), by_hand, folder)
}

fn is_wrapper(program: &str) -> bool {
    let row = rules::find(short_name(program));
    row.is_some_and(|(spec, _)| matches!(spec.grammar.operands, Operands::Command(_)))
}

/// The folder a command runs in.
pub(super) struct CommandFolder<'a> {
    pub cwd: &'a Path,
    pub policy_cx: PolicyContext<'a>,
}

impl OperandScope for CommandFolder<'_> {
    fn is_inside(&self, text: &str) -> bool {
        let path = self.policy_cx.resolve(text, self.cwd);
        self.policy_cx.place.root_of(&path).is_some()
            && paths::classify(text, self.cwd, self.policy_cx) == PathClass::Inside
    }

    fn is_steering_file(&self, text: &str) -> bool {
        self.policy_cx.is_steering_file(text, self.cwd)
    }

    fn is_steering_folder(&self, text: &str) -> bool {
        self.policy_cx.steers_as(&self.policy_cx.resolve(text, self.cwd), PathKind::Folder)
    }

    fn has_local_program(&self, name: &str) -> bool {
        let folders = self.cwd.ancestors();
        let mut inside = folders.take_while(|dir| dir.starts_with(&self.policy_cx.place.workspace));
        inside.any(|dir| {
            self.policy_cx.world.kind(&dir.join("node_modules/.bin").join(name)) == PathKind::File
        })
    }
}

fn is_in_workspace(program: Option<&Program>, policy_cx: PolicyContext<'_>) -> bool {
    program.is_some_and(|program| program.path.starts_with(&policy_cx.place.workspace))
}

/// The content of a program that is to be remembered by it.
pub(super) fn pin(program: Option<&Program>, policy_cx: PolicyContext<'_>) -> Option<Pinned> {
    let program = program?;
    let path = program.path.clone();
    let digest = match policy_cx.world.read(&path, MAX_PROGRAM) {
        Contents::Bytes(bytes) => tools::digest(&bytes),
        // Too large to be read at each step: the very file, unchanged since.
        Contents::Missing | Contents::Unreadable => {
            format!("{}:{}:{}", program.device, program.inode, program.modified)
        }
    };
    Some(Pinned { path, digest })
}

/// Whether the interpreter is given the script that a rule is bound to, with the content it
/// had; true where it is given none.
fn is_same_script(question: GrantQuestion<'_>, known: Option<&Pinned>) -> bool {
    match ScriptArg::from_work(question.work, question.cwd, question.policy_cx) {
        ScriptArg::No => true,
        ScriptArg::File(script) => known == Some(&script),
        ScriptArg::Unread => false,
    }
}

/// The file passed to an interpreter.
enum ScriptArg {
    /// It is not an interpreter, or is not given a file.
    No,
    File(Pinned),
    /// A name that is not a file, or a file that cannot be read.
    Unread,
}

impl ScriptArg {
    fn from_work(action: &StepAction, cwd: &Path, policy_cx: PolicyContext<'_>) -> ScriptArg {
        let StepAction::Exec { program, args } = action else { return ScriptArg::No };
        let takes_file = matches!(reach::match_form(program, args).reach, RuleReach::Script);
        let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
        if !takes_file || names.is_empty() {
            return ScriptArg::No;
        }
        // `deno run x.ts`: the first word that is a file.
        let file = |name: &&String| {
            let path = policy_cx.resolve(name, cwd);
            match policy_cx.world.read(&path, MAX_PROGRAM) {
                Contents::Bytes(bytes) => Some(Pinned { path, digest: tools::digest(&bytes) }),
                Contents::Missing | Contents::Unreadable => None,
            }
        };
        names.iter().find_map(file).map_or(ScriptArg::Unread, ScriptArg::File)
    }
}

/// The rule that "don't ask again" would remember for a step; `None` where it is not
/// offered: for a step that is refused, lifted, not fully understood, or has no way back.
pub fn suggest_grant(judged: &Judgement, policy_cx: PolicyContext<'_>) -> Option<Grant> {
    let risk = &judged.risk;
    let asking = || risk.reasons.iter().filter(|reason| reason.tier > Tier::L0);
    let firm = |id: &str| is_never_remembered(id) || id == "program.added";
    let plain = risk.tier == Tier::L1
        && !risk.lifted
        && !asking().any(|reason| firm(&reason.rule))
        && !risk.effects.iter().any(|effect| GRAVE.contains(effect) || *effect == Effect::Outside);
    if !plain {
        return None;
    }
    let of_folder = is_in_workspace(judged.program.as_ref(), policy_cx)
        || asking().any(|reason| OF_FOLDER.contains(&reason.rule.as_str()));
    let pinned = if of_folder { Some(pin(judged.program.as_ref(), policy_cx)?) } else { None };
    let rule = match &judged.step.work {
        StepAction::Tool { name, .. }
            if let Some(host) = tools::web::host_of(&judged.step.work) =>
        {
            PolicyRule { program: name.clone(), args: vec![host], open: false }
        }
        StepAction::Tool { .. } => {
            let name = tools::remembered_tool(&judged.step.work)?;
            PolicyRule { program: name.to_owned(), args: Vec::new(), open: true }
        }
        StepAction::Exec { program, args } => {
            let folder = CommandFolder { cwd: &judged.cwd, policy_cx };
            suggest_rule(program, args, pinned.is_some(), &folder)?
        }
        StepAction::Shell { .. } => return None,
    };
    let script = match ScriptArg::from_work(&judged.step.work, &judged.cwd, policy_cx) {
        ScriptArg::No => None,
        ScriptArg::File(script) => Some(script),
        ScriptArg::Unread => return None,
    };
    let reasons = asking().map(|reason| reason.rule.clone()).collect();
    let (folder, effects) = (judged.cwd.clone(), risk.effects.clone());
    Some(Grant { rule, terms: Terms { folder, reasons, effects, pinned, script } })
}

/// The rule for a command: the words of its form and `*`, or exactly these arguments.
fn suggest_rule(
    program: &str,
    args: &[String],
    of_folder: bool,
    folder: &CommandFolder<'_>,
) -> Option<PolicyRule> {
    let row = rules::find(short_name(program));
    let known = row.is_some_and(|(spec, _)| spec.tier == Tier::L1);
    let odd = |arg: &String| arg.len() > MAX_ARG || arg.contains(char::is_control);
    let option_first = row.is_some_and(|(spec, _)| !spec.subs.is_empty())
        && args.first().is_some_and(|first| first.starts_with(['-', '+']));
    if !(known || of_folder) || option_first || args.iter().any(odd) || is_wrapper(program) {
        return None;
    }
    let governed = reach::match_form(program, args);
    let exact = || PolicyRule { program: program.to_owned(), args: args.to_vec(), open: false };
    if !reach::is_program_present(&governed, args, folder) {
        return None;
    }
    match governed.reach {
        RuleReach::Nothing | RuleReach::ByHand(_) => None,
        RuleReach::Script => starts_with_script_file(args).then(exact),
        RuleReach::Exact | RuleReach::ExactOr(_) | RuleReach::Local => Some(exact()),
        RuleReach::Open(_) if reach::star_covers(program, args, governed.words, false, folder) => {
            let args = args.iter().take(governed.words).cloned().collect();
            Some(PolicyRule { program: program.to_owned(), args, open: true })
        }
        RuleReach::Open(_) => Some(exact()),
    }
}

/// Whether an interpreter is given a file first, and no code.
pub(super) fn starts_with_script_file(args: &[String]) -> bool {
    const PLAIN: &[&str] = &["-u", "-B", "-O", "-OO", "-q", "-s", "-I"];
    let version = ["--version", "-V", "-v", "--help"];
    if matches!(args, [only] if version.contains(&only.as_str())) {
        return true;
    }
    let first = args.iter().find(|arg| !PLAIN.contains(&arg.as_str()));
    first.is_some_and(|first| !first.starts_with('-'))
}
