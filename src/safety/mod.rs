//! Decides whether a step may run.
//!
//! Pure: it reads a [`Step`] and a [`PolicyContext`] and answers with a [`Verdict`]. What it
//! must know of the machine it asks through [`Machine`], so that a test can answer.
//! [`Cleared`] cannot be made outside this module, so whatever runs has been judged.

use std::path::{Path, PathBuf};

use crate::i18n::{Phrase, safety as words};
use crate::protocol::{Change, Risk, Step, SubCommand, Tier};

mod args;
pub mod argv;
mod checks;
mod command;
mod coverage;
pub mod editable;
mod findings;
mod fingerprint;
mod grant;
mod launch;
mod malformed;
mod needs;
mod paths;
pub mod policy;
mod prompt_parts;
mod reach;
pub mod redact;
mod refusal;
pub mod repository;
mod rule_ids;
mod rules;
pub mod sanitize;
mod scripted;
mod sensitive;
mod shell;
mod skill;
mod snapshot;
mod spec;
pub mod steering;
mod step;
pub mod tools;
mod warning;
mod wrappers;

#[cfg(test)]
mod tests;

pub use coverage::{describe_coverage, why_never_applies};
pub use findings::SeenPrograms;
pub use fingerprint::{LaunchRequest, Seal};
pub use grant::{Grant, Pinned, Terms, bind_to_content, suggest_grant};
pub use launch::Launch;
pub use malformed::is_hidden;
pub use needs::{
    Needs, UserPath, sandbox_reasons, unsandboxed_risk, variables as place_variables,
    with_sandbox_reasons,
};
pub use paths::{absolute, credential_places, is_credential_entry};
pub use policy::{Limit, Policy, PolicyRule, Unknown};
pub use prompt_parts::{assess_mention, assess_template_command};
pub use rule_ids::{RuleId, is_rule, rules as rule_ids};
pub use scripted::TOOL as SCRIPT_TOOL;
pub use sensitive::{
    case_insensitive_glob, excluded_folders, is_sensitive_name, secret_folders, sensitive_globs,
};
pub use skill::{SkillInfo, TOOL as SKILL_TOOL, ToolRestriction};
pub use step::UNTRUSTED;
pub use tools::ToolTask;
pub use warning::Warning;

/// Where a step would run, and under which policy.
#[derive(Clone, Copy)]
pub struct PolicyContext<'a> {
    pub policy: &'a Policy,
    pub place: &'a Workspace,
    pub world: &'a dyn Machine,
}

/// The folders a judgement speaks of, all absolute with links resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    pub workspace: PathBuf,
    pub home: PathBuf,
    /// The folder a step without a `cwd` of its own runs in.
    pub cwd: PathBuf,
    /// Whether the user trusts the workspace.
    pub trusted: bool,
    /// Folders that may be read as the workspace is, and not changed: the repository
    /// around it.
    pub readable: Vec<PathBuf>,
    /// Folders the user added to the session: read and changed as the workspace is.
    pub added: Vec<PathBuf>,
    /// Our own folders, which stay closed wherever they are.
    pub own: Vec<PathBuf>,
}

impl Workspace {
    /// A trusted workspace without added folders.
    pub fn new(workspace: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Workspace {
        let workspace = workspace.into();
        let cwd = workspace.clone();
        Workspace { workspace, home: home.into(), cwd, trusted: true, ..Workspace::default() }
    }

    /// The workspace or the added folder that contains a path, the innermost of them.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let roots = std::iter::once(&self.workspace).chain(&self.added);
        let holding = roots.filter(|root| path.starts_with(root));
        holding.max_by_key(|root| root.components().count()).map(PathBuf::as_path)
    }

    /// Whether a path is in the workspace or in a folder the user added.
    pub fn contains(&self, path: &Path) -> bool {
        self.root_of(path).is_some()
    }

    /// Why a folder cannot be added to a session; `None`: it can. The path has its links
    /// resolved.
    pub fn reason_not_to_add(&self, folder: &Path) -> Option<Phrase> {
        let own = self.own.iter().any(|own| own.starts_with(folder) || folder.starts_with(own));
        if folder == Path::new("/") || self.home.starts_with(folder) {
            Some(words::ADD_TOO_MUCH)
        } else if own {
            Some(words::ADD_OWN)
        } else {
            paths::is_secret(folder, self).then_some(words::ADD_SECRET)
        }
    }

    /// Whether a path may be read as the workspace is.
    pub fn can_read(&self, path: &Path) -> bool {
        self.contains(path) || self.readable.iter().any(|folder| path.starts_with(folder))
    }
}

/// The questions a judgement may ask of the machine. Reads only.
pub trait Machine: Send + Sync {
    /// The path with every link resolved, as far as it exists; the rest is appended
    /// after normalising `.` and `..`.
    fn resolve(&self, path: &Path) -> PathBuf;
    fn kind(&self, path: &Path) -> PathKind;
    /// The program a name refers to, looked up in trusted folders only.
    fn program(&self, name: &str) -> Option<Program>;
    /// A folder of the user's own `PATH` that holds such a program, where no trusted one
    /// does: it is named in a hint, nothing of it runs.
    fn untrusted_program_folder(&self, _name: &str) -> Option<PathBuf> {
        None
    }
    /// The program that a name or an absolute path refers to in a folder of the project's
    /// own programs, or of a toolchain manager. A bare name means one only where that
    /// folder comes first in the user's own `PATH`.
    fn own_program(&self, _name: &str) -> Option<OwnProgram> {
        None
    }
    /// The executable file at an absolute path, in any folder: the program of a step that
    /// names a file of the workspace.
    fn executable_at(&self, _path: &Path) -> Option<Program> {
        None
    }
    /// The root of the repository that a folder is a part of, where the folder is not the
    /// root itself and the repository is plainly the user's own.
    fn enclosing_repository(&self, _folder: &Path, _home: &Path) -> Option<PathBuf> {
        None
    }
    /// Whether there is a script of this name that a model may run.
    fn has_script(&self, _script: &str) -> bool {
        false
    }
    /// The declarations of the skill of this name; `None`: there is none.
    fn skill(&self, _name: &str) -> Option<SkillInfo> {
        None
    }
    /// The entries of a folder, at most so many, links not followed. A folder that cannot
    /// be read counts as empty: what runs as the user cannot read it either.
    fn entries(&self, _folder: &Path, _most: usize) -> Vec<(PathBuf, FileKind)> {
        Vec::new()
    }
    /// The contents of a regular file, links followed. More than `most` bytes are an error.
    fn read(&self, path: &Path, most: usize) -> Contents;
    /// The digest of a file's content as the model saw it last, or as it was left by us;
    /// `None`: the model has not seen it. The path has its links resolved.
    fn last_known_digest(&self, _path: &Path) -> Option<String> {
        None
    }
    /// The values of the masks of this session; `None`: nothing is masked.
    fn redactor(&self) -> Option<&redact::Redactor> {
        None
    }
}

/// The result of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    Missing,
    Bytes(Vec<u8>),
    /// It exists and is not a file, is too long, or cannot be opened.
    Unreadable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    Missing,
    File,
    Folder,
    Other,
}

/// The kind of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Folder,
    Link,
    Other,
}

/// A program that was found, with what identifies the file at the moment of judging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    pub device: u64,
    pub inode: u64,
    /// Nanoseconds since the epoch.
    pub modified: i128,
    /// Where the path is a link that is started as itself, as `.venv/bin/python` is:
    /// what identifies the link. The fields above are those of the file it leads to.
    pub link: Option<LinkIdentity>,
}

/// The identity of a link at the moment of judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkIdentity {
    pub device: u64,
    pub inode: u64,
    /// Nanoseconds since the epoch.
    pub modified: i128,
}

/// A program of a folder that belongs to the project or to a toolchain manager. Its
/// path is the one that was named, whatever it links to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProgram {
    pub program: Program,
    pub folder: PathBuf,
    pub kind: Shelf,
}

/// The kind of such a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// A Python environment.
    Venv,
    /// `node_modules/.bin`.
    NodeModules,
    /// `vendor/bin`.
    Vendor,
    /// The folder of nvm, pyenv, rbenv, asdf, mise, volta, fnm and their like.
    Manager,
    /// A folder of the workspace that the user listed.
    Listed,
}

/// The judgement, and with it the next possible action.
#[derive(Debug)]
pub enum Verdict {
    Run(Cleared),
    Ask(NeedsApproval),
    Refuse(DeniedStep),
}

impl Verdict {
    /// The step as a question, whether or not it would run by itself; `None`: it is refused.
    pub fn into_needs_approval(self) -> Option<NeedsApproval> {
        match self {
            Verdict::Run(cleared) => Some(cleared.into_needs_approval()),
            Verdict::Ask(held) => Some(held),
            Verdict::Refuse(_) => None,
        }
    }
}

/// A step that may run, sealed as it was judged. Only this module makes one.
#[derive(Debug)]
pub struct Cleared {
    judged: Assessment,
    seal: Seal,
    /// The user saw what the sandbox denied, and wants it to run without.
    unsandboxed: bool,
}

/// A step that waits for the user.
#[derive(Debug)]
pub struct NeedsApproval {
    judged: Assessment,
    seal: Seal,
}

/// A step that does not run, with the reasons.
#[derive(Debug)]
pub struct DeniedStep(Assessment);

/// The judged step: the exact step, and the findings about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub step: Step,
    pub risk: Risk,
    /// The program that will run, resolved once; `None` for tools.
    pub program: Option<Program>,
    /// The absolute folder it runs in.
    pub cwd: PathBuf,
    /// The simple commands of a shell line.
    pub pieces: Vec<SubCommand>,
    /// The programs and forms that were met on the way.
    pub seen: SeenPrograms,
    /// The task of a tool; `None` for programs and lines.
    pub task: Option<ToolTask>,
    /// The inputs a program is started with beyond its own words.
    pub launch: Launch,
}

impl Assessment {
    /// Its effect on a file, where that is known before it runs.
    pub fn change(&self) -> Option<&Change> {
        self.task.as_ref().and_then(ToolTask::change)
    }
}

impl NeedsApproval {
    /// The user approved exactly this.
    pub fn approve(self) -> Cleared {
        Cleared { judged: self.judged, seal: self.seal, unsandboxed: false }
    }

    /// The user approved exactly this without the sandbox, which had denied it something.
    pub fn approve_unsandboxed(self) -> Cleared {
        Cleared { unsandboxed: true, ..self.approve() }
    }

    fn new(judged: Assessment) -> NeedsApproval {
        NeedsApproval { seal: Seal::from_assessment(&judged), judged }
    }

    pub fn assessment(&self) -> &Assessment {
        &self.judged
    }
}

impl Cleared {
    fn new(judged: Assessment) -> Cleared {
        Cleared { seal: Seal::from_assessment(&judged), judged, unsandboxed: false }
    }

    pub fn assessment(&self) -> &Assessment {
        &self.judged
    }

    /// Whether the user wants it to run without the sandbox.
    pub fn is_unsandboxed(&self) -> bool {
        self.unsandboxed
    }

    /// Back to a question: the user is asked whether it shall run without the sandbox.
    pub fn into_needs_approval(self) -> NeedsApproval {
        NeedsApproval { judged: self.judged, seal: self.seal }
    }

    /// The fingerprint of the judged step, to compare with what is about to start.
    pub fn seal(&self) -> Seal {
        self.seal
    }

    /// Whether the judgement is still the one that was sealed.
    pub fn is_intact(&self) -> bool {
        Seal::from_assessment(&self.judged) == self.seal
    }

    /// A judgement made by hand, as nothing but a test can.
    #[cfg(test)]
    pub fn new_for_test(judged: Assessment) -> Cleared {
        Cleared::new(judged)
    }

    /// Changed in spite of the seal, as only a test can.
    #[cfg(test)]
    pub fn tampered(mut self, change: impl FnOnce(&mut Assessment)) -> Cleared {
        change(&mut self.judged);
        self
    }
}

impl DeniedStep {
    pub fn assessment(&self) -> &Assessment {
        &self.0
    }
}

impl Verdict {
    pub fn assessment(&self) -> &Assessment {
        match self {
            Verdict::Run(Cleared { judged, .. })
            | Verdict::Ask(NeedsApproval { judged, .. })
            | Verdict::Refuse(DeniedStep(judged)) => judged,
        }
    }
}

impl std::fmt::Debug for PolicyContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene").field("place", self.place).finish_non_exhaustive()
    }
}

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
pub fn assess(step: Step, scene: PolicyContext<'_>) -> Verdict {
    let (judged, allowed) = step::judge(step, scene);
    match judged.risk.tier {
        Tier::L0 if is_unguarded(&judged) => Verdict::Ask(NeedsApproval::new(judged)),
        Tier::L0 => Verdict::Run(Cleared::new(judged)),
        Tier::L1 if allowed => Verdict::Run(Cleared::new(judged)),
        Tier::L1 => Verdict::Ask(NeedsApproval::new(judged)),
        Tier::L2 => Verdict::Refuse(DeniedStep(judged)),
    }
}

/// Whether a part of it would need arguments that nothing can add.
fn is_unguarded(judged: &Assessment) -> bool {
    judged.risk.reasons.iter().any(|reason| reason.rule == command::UNGUARDED)
}

/// Judges a line the user typed for their own shell (`!cmd`).
///
/// It is the user's own word, so L0 and L1 run as they are, and an L2 is a question instead
/// of a refusal: its risk is shown as the L2 it is, and it needs their approval. A program
/// that is not on the list is an L1 here; the list is about what a model may propose. Only
/// a line that is not text for a shell at all (a NUL in it) is refused. Nothing a model
/// sends may come here.
pub fn assess_shell(id: &str, line: &str, scene: PolicyContext<'_>) -> Verdict {
    let judged = prompt_parts::judge_user_line(id, line, scene);
    match judged.risk.tier {
        Tier::L0 | Tier::L1 => Verdict::Run(Cleared::new(judged)),
        Tier::L2 if prompt_parts::has_nul(&judged) => Verdict::Refuse(DeniedStep(judged)),
        Tier::L2 => Verdict::Ask(NeedsApproval::new(judged)),
    }
}

/// Judges undoing a change, which the user asked for: it runs as it is, and is asked about
/// where the file is not as the change left it. Nothing a model sends may come here.
pub fn assess_restore(id: &str, restore: &tools::Restore, scene: PolicyContext<'_>) -> Verdict {
    let judged = tools::restored(id, restore, scene);
    let changed = judged.risk.reasons.iter().any(|reason| reason.rule == "file.changed");
    match judged.risk.tier {
        Tier::L0 | Tier::L1 if !changed => Verdict::Run(Cleared::new(judged)),
        Tier::L0 | Tier::L1 => Verdict::Ask(NeedsApproval::new(judged)),
        Tier::L2 => Verdict::Refuse(DeniedStep(judged)),
    }
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
