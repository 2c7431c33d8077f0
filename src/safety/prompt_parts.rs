//! Judges what comes with a template or a message: shell commands, which always need the
//! user's approval, and files it names.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Judgement, Limit, PathKind, Policy, PolicyContext, Unknown, Verdict, paths, step};
use avocet_core::protocol::{ApprovalMode, Requires, Step, StepAction, Tier};

/// Judges a line for the user's shell; a program that is not on the list is an L1, since
/// the list is about what a model may propose.
pub(super) fn judge_user_line(id: &str, line: &str, policy_cx: PolicyContext<'_>) -> Judgement {
    let policy = Policy {
        unknown_program: Unknown::Confirm,
        approval: ApprovalMode::Ask,
        ..policy_cx.policy.clone()
    };
    let policy_cx = PolicyContext { policy: &policy, ..policy_cx };
    let work = StepAction::Shell { line: line.to_owned() };
    let step = Step { id: id.to_owned(), work, requires: Requires::default(), cwd: None };
    step::judge(step, policy_cx).0
}

/// No text for a shell at all.
pub(super) fn has_nul(judged: &Judgement) -> bool {
    judged.risk.reasons.iter().any(|reason| reason.rule == "malformed.nul")
}

/// Judges a shell command of a template, with its arguments filled in. The user is asked
/// whatever its tier; only text that is not for a shell is refused.
pub fn assess_template_command(id: &str, text: &str, policy_cx: PolicyContext<'_>) -> Verdict {
    let judged = judge_user_line(id, text, policy_cx);
    if has_nul(&judged) { Verdict::refuse(judged) } else { Verdict::ask(judged) }
}

/// Judges the reading of a file or folder that the user or a template names, exactly as
/// `file.read` is judged for a model. The user is asked about anything beyond reading in
/// the workspace; a skill that was entered does not restrict what the user names.
pub fn assess_mention(id: &str, path: &str, policy_cx: PolicyContext<'_>) -> Verdict {
    let policy = Policy {
        narrowed: None,
        offered: None,
        approval: ApprovalMode::Ask,
        ..policy_cx.policy.clone()
    };
    let policy_cx = PolicyContext { policy: &policy, ..policy_cx };
    let tool = StepAction::Tool { name: "file.read".into(), input: json!({ "path": path }) };
    let step = Step { id: id.to_owned(), work: tool, requires: Requires::default(), cwd: None };
    let (judged, _) = step::judge(step, policy_cx);
    match judged.risk.tier {
        Tier::L0 => Verdict::run(judged),
        Tier::L1 | Tier::L2 => Verdict::ask(judged),
    }
}

/// Reasons that do not refuse a server: it may be a program of any folder.
const OF_ANY_FOLDER: [&str; 2] = ["program.unknown", "program.outside"];

/// Judges the start of a server's program, which the user's own settings name, or which they were
/// asked about by its whole command line. It asks whatever its tier: the caller knows the answer.
pub fn assess_server(
    program: &str,
    args: &[String],
    reach: &ServerReach,
    policy_cx: PolicyContext<'_>,
) -> Verdict {
    let network = policy_cx.policy.limits.network == Limit::Ask && !reach.is_offline;
    assess_service(program, args, network, reach, policy_cx)
}

/// What the program of a server gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerReach {
    /// It has no network, whatever the settings allow.
    pub is_offline: bool,
    /// Folders that are open to it, as if its arguments named them.
    pub folders: Vec<PathBuf>,
    /// Folders that its arguments name and that stay closed.
    pub closed: Vec<PathBuf>,
}

/// Judges the start of a language server in a folder that the user trusts: the same, with the network
/// closed.
pub fn assess_language_server(
    program: &str,
    args: &[String],
    policy_cx: PolicyContext<'_>,
) -> Verdict {
    assess_service(program, args, false, &ServerReach::default(), policy_cx)
}

fn assess_service(
    program: &str,
    args: &[String],
    network: bool,
    reach: &ServerReach,
    policy_cx: PolicyContext<'_>,
) -> Verdict {
    let policy = Policy {
        unknown_program: Unknown::Confirm,
        lift: OF_ANY_FOLDER.map(str::to_owned).to_vec(),
        narrowed: None,
        offered: None,
        approval: ApprovalMode::Ask,
        ..policy_cx.policy.clone()
    };
    let policy_cx = PolicyContext { policy: &policy, ..policy_cx };
    // Programs that tools install are often in a folder of the user's own.
    let folder = policy_cx.world.untrusted_program_folder(program);
    let program = folder.map_or_else(
        || program.to_owned(),
        |folder| folder.join(program).to_string_lossy().into_owned(),
    );
    let exec = StepAction::Exec { program, args: args.to_vec() };
    let requires = Requires { confirm: true, network, ..Requires::default() };
    let step = Step { id: String::new(), work: exec, requires, cwd: None };
    let (mut judged, _) = step::judge(step, policy_cx);
    open_arguments(&mut judged, reach, policy_cx);
    // That of a runtime, which steps may have, is open only to a server that gets one.
    judged.launch.needs.network &= network;
    if judged.risk.tier == Tier::L2 { Verdict::refuse(judged) } else { Verdict::ask(judged) }
}

/// Judges the command of a hook, which the user's own settings name, or which they were asked about
/// in full. It asks whatever its tier: the caller knows the answer. `reads`: files that it names,
/// which are open to it.
pub fn assess_hook(
    line: &str,
    reads: &[PathBuf],
    timeout_s: u32,
    policy_cx: PolicyContext<'_>,
) -> Verdict {
    let policy = Policy {
        unknown_program: Unknown::Confirm,
        lift: OF_ANY_FOLDER.map(str::to_owned).to_vec(),
        narrowed: None,
        offered: None,
        approval: ApprovalMode::Ask,
        ..policy_cx.policy.clone()
    };
    let policy_cx = PolicyContext { policy: &policy, ..policy_cx };
    let network = policy.limits.network == Limit::Ask;
    let timeout_s = Some(timeout_s);
    let requires = Requires { confirm: true, network, timeout_s, ..Requires::default() };
    let work = StepAction::Shell { line: line.to_owned() };
    let (mut judged, _) =
        step::judge(Step { id: String::new(), work, requires, cwd: None }, policy_cx);
    judged.launch.reads.extend(reads.iter().map(|path| policy_cx.world.resolve(path)));
    if judged.risk.tier == Tier::L2 { Verdict::refuse(judged) } else { Verdict::ask(judged) }
}

/// What the files of a program are found by.
const PACKAGE_FILES: [&str; 3] = ["node_modules", "package.json", "pyproject.toml"];
/// The most folders above a file that are looked at for them.
const MAX_ABOVE: usize = 4;

/// Opens what the command line names outside the workspace, and the user was shown: a folder with
/// all in it, and a file with the package that it belongs to. Private places stay closed.
fn open_arguments(judged: &mut Judgement, reach: &ServerReach, policy_cx: PolicyContext<'_>) {
    let StepAction::Exec { args, .. } = &judged.step.work else { return };
    let named = args.iter().map(Path::new).filter(|path| !reach.closed.iter().any(|it| it == path));
    let named = named.chain(reach.folders.iter().map(PathBuf::as_path));
    let named = named
        .filter(|path| path.is_absolute())
        .chain([judged.cwd.as_path()])
        .map(|path| policy_cx.world.resolve(path));
    for path in named.filter(|path| !policy_cx.place.contains(path)) {
        let is_file = match policy_cx.world.kind(&path) {
            PathKind::File => true,
            PathKind::Folder => false,
            PathKind::Missing | PathKind::Other => continue,
        };
        let folder = if is_file { package_of(&path, policy_cx) } else { path };
        if paths::is_private(&folder, policy_cx.place)
            || paths::holds_private(&folder, policy_cx.place)
        {
            continue;
        }
        if !is_file {
            judged.launch.writes.push(folder.clone());
        }
        judged.launch.readable.push(folder);
    }
}

/// The folder of the package that a file is a part of, or else the folder of the file.
fn package_of(file: &Path, policy_cx: PolicyContext<'_>) -> PathBuf {
    let is_package = |folder: &&Path| {
        let has = |name: &str| policy_cx.world.kind(&folder.join(name)) != PathKind::Missing;
        PACKAGE_FILES.iter().any(|name| has(name))
    };
    // A package that others need is beside them.
    let installed = file.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
    let own = || file.ancestors().skip(1).take(MAX_ABOVE).find(is_package);
    let folder = installed.or_else(own).or(file.parent());
    folder.unwrap_or(file).to_owned()
}
