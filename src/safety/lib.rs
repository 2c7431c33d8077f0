//! Decides whether a step may run.
//!
//! Pure: it reads a [`Step`] and a [`PolicyContext`] and answers with a [`Verdict`]. What it
//! must know of the machine it asks through [`Machine`], so that a test can answer.
//! [`ClearedStep`] cannot be made outside this folder, so whatever runs has been judged.

use avocet_core::i18n::Phrase;
use avocet_core::protocol::{Step, Tier};

mod args;
pub mod argv;
mod call;
mod checks;
mod command;
mod coverage;
pub mod editable;
mod findings;
mod fingerprint;
mod grant;
mod launch;
pub mod limits;
mod machine;
mod malformed;
mod mcp_names;
mod modes;
mod named;
mod needs;
mod openings;
mod paths;
mod pieces;
pub mod places;
pub mod policy;
mod prompt_parts;
mod reach;
pub mod redact;
mod refusal;
pub mod repository;
mod rule_ids;
mod rules;
pub mod sanitize;
mod sensitive;
mod shell;
mod signing;
mod snapshot;
mod spec;
mod steered;
pub mod steering;
mod step;
mod terminal;
pub mod tools;
mod user_rules;
mod verdict;
mod warning;
pub mod web;
mod wrappers;

#[cfg(test)]
mod tests;

pub use coverage::{bind_to_content, describe_coverage, why_never_applies};
pub use findings::SeenPrograms;
pub use fingerprint::{LaunchRequest, Seal};
pub use launch::{
    Launch, NamedWrite, ShellScript, ShellScriptCommand, ShellScriptPart, WriteOpening,
};
pub use machine::{
    Contents, EditRange, EditSearch, FileKind, FoundText, LargeFileState, LinkIdentity, Machine,
    McpToolInfo, OwnProgram, PathKind, Program, SearchedFile, Shelf, SkillInfo, Workspace,
};
pub use malformed::is_hidden;
pub use mcp_names::{CALL as MCP_CALL_TOOL, FIND as MCP_FIND_TOOL, PREFIX as MCP_PREFIX};
pub use needs::{GuardedFiles, Needs, matches_name};
pub use openings::{
    keeping_risk, opening_risk, opens_named_files, sandbox_reasons, unsandboxed_risk,
    with_sandbox_reasons,
};
pub use paths::{absolute, credential_places, is_credential_entry, is_credential_path};
pub use pieces::shell_line;
pub use policy::{
    EffectLimits, Grant, Limit, Pinned, Policy, PolicyContext, PolicyRule, SessionOpening, Terms,
    ToolRestriction, Unknown, is_firm,
};
pub use prompt_parts::{
    ServerReach, assess_hook, assess_language_server, assess_mention, assess_server,
    assess_template_command,
};
pub use repository::HOOKS;
pub use rule_ids::{RuleId, is_rule, rules as rule_ids};
pub use sensitive::{
    case_insensitive_glob, excluded_folders, is_sensitive_name, secret_folders, sensitive_globs,
};
pub use shell::UNKNOWN;
pub use signing::hooks_digest;
pub use step::{UNTRUSTED, suggest_grants};
pub use terminal::{TerminalProgram, edits_in_terminal, terminal_program};
pub use tools::scripted::TOOL as SCRIPT_TOOL;
pub use tools::skill::TOOL as SKILL_TOOL;
pub use tools::{JobTask, RecallTask, SUBAGENT_TOOL, SubagentTask, ToolTask, is_replaced};
pub use verdict::{ClearedStep, DeniedStep, Judgement, NeedsApproval, SandboxOpening, Verdict};
pub use warning::Warning;

/// Judges one step: L0 runs, L1 asks, L2 is refused. What a rule of the user allows
/// runs although it is L1.
///
/// ```
/// use avocet::protocol::{Requires, Step, StepAction};
/// # use avocet::safety::{
/// #     Contents, Machine, PathKind, Policy, PolicyContext, Program, Verdict, Workspace, assess,
/// # };
/// # struct Empty;
/// # impl Machine for Empty {
/// #     fn resolve(&self, path: &std::path::Path) -> std::path::PathBuf { path.into() }
/// #     fn kind(&self, _: &std::path::Path) -> PathKind { PathKind::Folder }
/// #     fn program(&self, _: &str) -> Option<Program> { None }
/// #     fn read(&self, _: &std::path::Path, _: usize) -> Contents { Contents::Missing }
/// # }
/// # let policy = Policy::default();
/// # let place = Workspace::new("/w", "/h");
/// # let scene = PolicyContext { policy: &policy, place: &place, world: &Empty };
/// # let step = |args: &[&str]| Step {
/// #     id: String::new(), work: StepAction::exec("git", args), requires: Requires::default(),
/// cwd: None,
/// # };
/// assert!(matches!(assess(step(&["status"]), scene), Verdict::Run(_)));
/// assert!(matches!(assess(step(&["commit"]), scene), Verdict::Ask(_)));
/// assert!(matches!(assess(step(&["reset", "--hard"]), scene), Verdict::Refuse(_)));
/// ```
pub fn assess(step: Step, policy_cx: PolicyContext<'_>) -> Verdict {
    let (judged, allowed) = step::judge(step, policy_cx);
    match judged.risk.tier {
        Tier::L0 if is_unguarded(&judged) => Verdict::ask(judged),
        Tier::L0 => Verdict::run(judged),
        Tier::L1 if allowed => Verdict::run(judged),
        Tier::L1 => Verdict::ask(judged),
        Tier::L2 => Verdict::refuse(judged),
    }
}

/// Whether a part of it would need arguments that nothing can add.
fn is_unguarded(judged: &Judgement) -> bool {
    judged.risk.reasons.iter().any(|reason| reason.rule == call::UNGUARDED)
}

/// Judges a line the user typed for their own shell (`!cmd`).
///
/// It is the user's own word, so L0 and L1 run as they are, and an L2 is a question instead
/// of a refusal: its risk is shown as the L2 it is, and it needs their approval. A program
/// that is not on the list is an L1 here; the list is about what a model may propose. Only
/// a line that is not text for a shell at all (a NUL in it) is refused. Nothing a model
/// sends may come here.
pub fn assess_shell(id: &str, line: &str, policy_cx: PolicyContext<'_>) -> Verdict {
    let judged = prompt_parts::judge_user_line(id, line, policy_cx);
    match judged.risk.tier {
        Tier::L0 | Tier::L1 => Verdict::run(judged),
        Tier::L2 if prompt_parts::has_nul(&judged) => Verdict::refuse(judged),
        Tier::L2 => Verdict::ask(judged),
    }
}

/// Judges undoing a change, which the user asked for: it runs as it is, and is asked about
/// where the file is not as the change left it. Nothing a model sends may come here.
pub fn assess_restore(id: &str, restore: &tools::Restore, policy_cx: PolicyContext<'_>) -> Verdict {
    let judged = tools::restored(id, restore, policy_cx);
    let changed = judged.risk.reasons.iter().any(|reason| reason.rule == "file.changed");
    match judged.risk.tier {
        Tier::L0 | Tier::L1 if !changed => Verdict::run(judged),
        Tier::L0 | Tier::L1 => Verdict::ask(judged),
        Tier::L2 => Verdict::refuse(judged),
    }
}

/// The order in which several changes are undone.
pub fn plan_restores(
    restores: Vec<tools::Restore>,
    policy_cx: PolicyContext<'_>,
) -> tools::RestorePlan {
    tools::plan_restores(restores, policy_cx)
}

/// One row of the policy tables, as it is shown to the user.
#[derive(Clone, Copy, Debug)]
pub struct RuleInfo {
    /// Names that share the row, separated by blanks.
    pub names: &'static str,
    /// The tier when nothing else is found.
    pub tier: Tier,
    pub why: Phrase,
}

/// Every program the tables know.
pub fn known_programs() -> impl Iterator<Item = RuleInfo> {
    rules::all().map(|spec| RuleInfo { names: spec.names, tier: spec.tier, why: spec.why })
}

/// The promises of a row that runs by itself: options that are harmless.
#[derive(Clone, Debug)]
pub struct Promised {
    /// The program, and its sub-command if it is one of those.
    pub words: Vec<&'static str>,
    /// Options without a value.
    pub flags: Vec<&'static str>,
    /// Options with a value, as the row has them: `-k=text`, `--color=?text`.
    pub values: Vec<&'static str>,
}

/// The promises of every row, to be compared with the real programs.
pub fn harmless_options() -> impl Iterator<Item = Promised> {
    rules::all().flat_map(|spec| {
        let own = harmless_options_of(Vec::new(), spec);
        let below =
            spec.subs.iter().flat_map(move |sub| harmless_options_of(vec![first_name(spec)], sub));
        own.into_iter().chain(below)
    })
}

fn first_name(spec: &spec::Spec) -> &'static str {
    spec.names.split_ascii_whitespace().next().unwrap_or_default()
}

fn harmless_options_of(above: Vec<&'static str>, spec: &spec::Spec) -> Vec<Promised> {
    if spec.tier > Tier::L0 {
        return Vec::new();
    }
    let words = |name| above.iter().copied().chain([name]).collect();
    let flags: Vec<_> = spec.grammar.flags.split_ascii_whitespace().collect();
    let values: Vec<_> = spec.grammar.values.split_ascii_whitespace().collect();
    let one = |name| Promised { words: words(name), flags: flags.clone(), values: values.clone() };
    spec.names.split_ascii_whitespace().map(one).collect()
}

/// Lines the tables themselves give as examples of what keeps a row's tier, words apart
/// by spaces. Some ask, some run; judging them says which.
pub fn examples() -> impl Iterator<Item = &'static str> {
    let subs = rules::all().flat_map(|spec| spec.subs);
    rules::all().chain(subs).flat_map(|spec| spec.examples.keeps.iter().copied())
}
