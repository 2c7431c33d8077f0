//! Finds what the name of a command refers to: a program of the system, one of the project,
//! or an unknown one.

use avocet_core::i18n::safety as phrases;
use avocet_core::protocol::{Effect, Tier};

use super::super::findings::{Findings, excerpt};
use super::super::policy::Unknown;
use super::super::spec::JudgeContext;
use super::super::{OwnProgram, Shelf, paths, tools};

/// The name to look a row up by; `None` when the program is not trusted and every finding
/// about it was added.
pub fn identify<'n>(
    name: &'n str,
    named: Option<usize>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Option<(&'n str, ProgramOwner)> {
    if BUILT_IN.contains(&name) {
        let say = phrases::PROGRAM_BUILT_IN.with("program", name.to_owned());
        findings.add("program.builtin", Tier::L2, say, named, &[Effect::Exec]);
        return None;
    }
    let policy_cx = context.policy_cx;
    if let Some(own) = own_program(name, context) {
        let why = match own.kind {
            Shelf::Manager => phrases::PROGRAM_OF_MANAGER,
            Shelf::Toolchain => phrases::PROGRAM_OF_TOOLCHAIN,
            Shelf::Venv => phrases::PROGRAM_OF_VENV,
            Shelf::NodeModules | Shelf::Vendor | Shelf::Listed => phrases::PROGRAM_OF_FOLDER,
        };
        let folder = excerpt(&own.folder.to_string_lossy());
        let say = why.with("program", excerpt(name)).with("folder", folder);
        findings.add("program.folder", Tier::L1, say, named, &[Effect::Exec]);
        return name.rsplit('/').next().map(|short| (short, ProgramOwner::Project));
    }
    if !name.contains('/') {
        return Some((name, ProgramOwner::System));
    }
    // A program that starts another takes its path by the letters.
    let path = match named {
        Some(_) => context.cwd.join(name),
        None => paths::absolute(name, &context.cwd, &policy_cx.place.home),
    };
    if policy_cx.world.program(&path.to_string_lossy()).is_some() {
        return name.rsplit('/').next().map(|short| (short, ProgramOwner::System));
    }
    let real = policy_cx.world.resolve(&path);
    let listed = [&path, &real].iter().any(|path| {
        policy_cx
            .policy
            .allowed_programs
            .iter()
            .any(|e| e.trim_start_matches('+') == path.as_os_str())
    });
    let (rule, tier, why) = if listed {
        ("program.path", Tier::L1, phrases::PROGRAM_ADDED)
    } else if policy_cx.place.contains(&real) {
        ("program.path", Tier::L1, phrases::PROGRAM_OF_WORKSPACE)
    } else {
        ("program.outside", unknown_tier(context), phrases::PROGRAM_OUTSIDE)
    };
    let say = why.with("program", excerpt(name)).with("path", excerpt(&real.to_string_lossy()));
    findings.add(rule, tier, say, named, &[Effect::Exec]);
    None
}

/// The owner of the program that a name refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ProgramOwner {
    /// One of the system's: the list of programs speaks of it.
    System,
    /// Of a folder the project or a toolchain manager brought: asked about as what it is.
    Project,
}

/// The program of the project's own, or of a toolchain manager, that a name refers to.
pub fn own_program(name: &str, context: &JudgeContext<'_>) -> Option<OwnProgram> {
    let policy_cx = context.policy_cx;
    if !name.contains('/') {
        return policy_cx.world.own_program(name);
    }
    let path = paths::absolute(name, &context.cwd, &policy_cx.place.home);
    let path = path.to_string_lossy();
    // A program in a trusted folder is a trusted one, whatever else the folder is.
    policy_cx.world.program(&path).map_or_else(|| policy_cx.world.own_program(&path), |_| None)
}

pub fn check_allow_list(
    short: &str,
    name: &str,
    named: Option<usize>,
    has_row: bool,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) {
    if !context.policy_cx.policy.allows(short, has_row) && tools::is_tool(name) {
        let say = phrases::PROGRAM_IS_TOOL.with("tool", name.to_owned());
        findings.add("program.tool", Tier::L2, say, named, &[Effect::Exec]);
    } else if !context.policy_cx.policy.allows(short, has_row) {
        let say =
            phrases::PROGRAM_UNKNOWN.with("program", excerpt(name)).with("name", excerpt(short));
        findings.add("program.unknown", unknown_tier(context), say, named, &[Effect::Exec]);
    } else if !has_row {
        let say = phrases::PROGRAM_ADDED.with("program", excerpt(name));
        findings.add("program.added", Tier::L1, say, named, &[Effect::Exec]);
    }
}

fn unknown_tier(context: &JudgeContext<'_>) -> Tier {
    match context.policy_cx.policy.unknown_program {
        Unknown::Refuse => Tier::L2,
        Unknown::Confirm => Tier::L1,
    }
}

#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    "cd", "export", "source", ".", "eval", "alias", "unalias", "exec", "builtin", "set", "unset",
    "trap", "ulimit", "umask", "read", "wait", "jobs", "fg", "bg", "history", "type", "hash",
    "declare", "local", "readonly", "typeset", "let", "shopt", "pushd", "popd", "dirs", "disown",
    "suspend", "logout", "bind", "complete", "compgen", "enable", "mapfile", "fc", "setopt", "if",
    "for", "while", "until", "case", "function", "then", "do", "done", "fi", "esac", "select",
    "coproc", ":", "return", "exit", "shift",
];
