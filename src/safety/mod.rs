//! Decides whether a step may run.
//!
//! Pure: it reads a [`Step`] and a [`Scene`] and answers with a [`Verdict`]. What it
//! must know of the machine it asks through [`World`], so that a test can answer.
//! [`Cleared`] cannot be made outside this module, so whatever runs has been judged.

use std::path::{Path, PathBuf};

use crate::protocol::{Effect, Piece, Requires, Risk, Step, Tier, Work};
use crate::words::{Word, safety as words};

use self::findings::{Findings, quoted};
use self::judge::{Ground, Seat};

mod args;
mod checks;
pub mod clean;
mod findings;
mod judge;
mod malformed;
mod paths;
pub mod policy;
pub mod redact;
mod rules;
mod shell;
mod table;
mod wrappers;

#[cfg(test)]
mod tests;

pub use malformed::is_hidden;
pub use policy::{Limit, Policy, Rule, Unknown};
pub use shell::programs_of;

/// Where a step would run, and under which policy.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub policy: &'a Policy,
    pub place: &'a Place,
    pub world: &'a dyn World,
}

/// The folders a judgement speaks of, all absolute with links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub workspace: PathBuf,
    pub home: PathBuf,
    /// The folder a step without a `cwd` of its own runs in.
    pub cwd: PathBuf,
    /// Whether the user trusts the workspace.
    pub trusted: bool,
}

/// What a judgement may ask of the machine. Reads only.
pub trait World: Send + Sync {
    /// The path with every link resolved, as far as it exists; the rest is appended
    /// after normalising `.` and `..`.
    fn real(&self, path: &Path) -> PathBuf;
    fn kind(&self, path: &Path) -> Kind;
    /// The program a name stands for, looked up in trusted folders only.
    fn program(&self, name: &str) -> Option<Program>;
    /// The executable file at an absolute path, wherever it lies: what a step runs that
    /// names a file of the workspace.
    fn file(&self, _path: &Path) -> Option<Program> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Missing,
    File,
    Folder,
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
}

/// The judgement, and with it what may happen next.
#[derive(Debug)]
pub enum Verdict {
    Run(Cleared),
    Ask(Held),
    Refuse(Refused),
}

/// A step that may run. Only this module makes one.
#[derive(Debug)]
pub struct Cleared(Judged);

/// A step that waits for a person.
#[derive(Debug)]
pub struct Held(Judged);

/// A step that does not run, with the reasons.
#[derive(Debug)]
pub struct Refused(Judged);

/// What was judged: the exact step, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub step: Step,
    pub risk: Risk,
    /// The program that will run, resolved once; `None` for tools.
    pub program: Option<Program>,
    /// The absolute folder it runs in.
    pub cwd: PathBuf,
    /// The simple commands of a shell line.
    pub pieces: Vec<Piece>,
}

impl Judged {
    /// The rule "don't ask again" would add; `None` where it is not offered: for what is
    /// refused, lifted, not fully understood, or has no way back.
    pub fn rule(&self) -> Option<Rule> {
        let grave = [Effect::Secret, Effect::Elevate, Effect::Irreversible, Effect::Outside];
        let offered = self.risk.tier == Tier::L1
            && !self.risk.lifted
            && !self.risk.reasons.iter().any(|reason| FIRM.contains(&reason.rule.as_str()))
            && !self.risk.effects.iter().any(|effect| grave.contains(effect));
        if offered { Rule::suggest(&self.step.work) } else { None }
    }
}

/// Reasons that a remembered yes would not answer.
const FIRM: &[&str] = &[
    "folder.untrusted",
    "malformed.hidden",
    "shell.string",
    "shell.opaque",
    "cwd.outside",
    "requires.confirm",
    "program.added",
    "program.path",
];

impl Held {
    /// A person said yes to exactly this.
    pub fn approve(self) -> Cleared {
        Cleared(self.0)
    }

    pub fn judged(&self) -> &Judged {
        &self.0
    }
}

impl Cleared {
    pub fn judged(&self) -> &Judged {
        &self.0
    }
}

impl Refused {
    pub fn judged(&self) -> &Judged {
        &self.0
    }
}

impl Verdict {
    pub fn judged(&self) -> &Judged {
        match self {
            Verdict::Run(Cleared(judged))
            | Verdict::Ask(Held(judged))
            | Verdict::Refuse(Refused(judged)) => judged,
        }
    }
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene").field("place", self.place).finish_non_exhaustive()
    }
}

/// Judges one step: L0 runs, L1 asks, L2 is refused. What a rule of the user allows
/// runs although it is L1.
///
/// ```
/// use avocet::protocol::{Requires, Step, Work};
/// # use avocet::safety::{Kind, Place, Policy, Program, Scene, Verdict, World, assess};
/// # struct Empty;
/// # impl World for Empty {
/// #     fn real(&self, path: &std::path::Path) -> std::path::PathBuf { path.into() }
/// #     fn kind(&self, _: &std::path::Path) -> Kind { Kind::Folder }
/// #     fn program(&self, _: &str) -> Option<Program> { None }
/// # }
/// # let policy = Policy::default();
/// # let place = Place { workspace: "/w".into(), home: "/h".into(), cwd: "/w".into(), trusted: true };
/// # let scene = Scene { policy: &policy, place: &place, world: &Empty };
/// # let step = |args: &[&str]| Step {
/// #     id: String::new(), work: Work::exec("git", args), requires: Requires::default(), cwd: None,
/// # };
/// assert!(matches!(assess(step(&["status"]), scene), Verdict::Run(_)));
/// assert!(matches!(assess(step(&["commit"]), scene), Verdict::Ask(_)));
/// assert!(matches!(assess(step(&["reset", "--hard"]), scene), Verdict::Refuse(_)));
/// ```
pub fn assess(step: Step, scene: Scene<'_>) -> Verdict {
    let (judged, allowed) = judge_step(step, scene);
    match judged.risk.tier {
        Tier::L0 => Verdict::Run(Cleared(judged)),
        Tier::L1 if allowed => Verdict::Run(Cleared(judged)),
        Tier::L1 => Verdict::Ask(Held(judged)),
        Tier::L2 => Verdict::Refuse(Refused(judged)),
    }
}

/// Judges a line the user typed for their own shell (`!cmd`).
///
/// It is the user's own word, so L0 and L1 run as they are, and an L2 is a question
/// instead of a refusal: its risk is shown as the L2 it is, and it needs their yes. Only
/// a line that is no text for a shell at all (a NUL in it) is refused. Nothing a model
/// sends may come here.
pub fn assess_shell(line: &str, scene: Scene<'_>) -> Verdict {
    let work = Work::Shell { line: line.to_owned() };
    let step = Step { id: String::new(), work, requires: Requires::default(), cwd: None };
    let (judged, _) = judge_step(step, scene);
    match judged.risk.tier {
        Tier::L0 | Tier::L1 => Verdict::Run(Cleared(judged)),
        Tier::L2 if judged.risk.reasons.iter().any(|r| r.rule == "malformed.nul") => {
            Verdict::Refuse(Refused(judged))
        }
        Tier::L2 => Verdict::Ask(Held(judged)),
    }
}

/// One row of the policy tables, as people are shown it.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Names that share the row, separated by blanks.
    pub names: &'static str,
    /// The tier when nothing else is found.
    pub tier: Tier,
    pub why: Word,
}

/// Every program the tables know.
pub fn known() -> impl Iterator<Item = Known> {
    rules::all().map(|spec| Known { names: spec.names, tier: spec.tier, why: spec.why })
}

/// Tools beside `exec` that may be proposed, and the tier they start from.
const TOOLS: &[(&str, Tier)] = &[("exec", Tier::L1)];

/// The judgement, and whether a rule of the user lets it run unasked.
fn judge_step(step: Step, scene: Scene<'_>) -> (Judged, bool) {
    let cwd = folder(step.cwd.as_deref(), scene);
    let ground = Ground { scene, cwd };
    let mut findings = Findings::default();
    let mut pieces = Vec::new();
    match &step.work {
        Work::Exec { program, args } => {
            malformed::args(args, &mut findings);
            judge::command(program, None, args, Seat::From(0), 0, &ground, &mut findings);
        }
        Work::Shell { line } => pieces = shell::judge_line(line, &ground, &mut findings),
        Work::Tool { name, .. } => tool(name, &mut findings),
    }
    if !matches!(step.work, Work::Tool { .. }) {
        surroundings(&ground, &mut findings);
    }
    required(step.requires, &mut findings);
    let lifted = limits(scene.policy, &mut findings);
    let allowed = allowed(&step.work, scene, lifted, &mut findings);
    let program = program(&step.work, &ground);
    let risk = findings.risk(lifted);
    (Judged { step, risk, program, cwd: ground.cwd, pieces }, allowed)
}

/// The folder a step runs in, with links resolved.
fn folder(asked: Option<&str>, scene: Scene<'_>) -> PathBuf {
    let place = scene.place;
    match asked {
        Some(text) => scene.world.real(&paths::absolute(text, &place.cwd, &place.home)),
        None => scene.world.real(&place.cwd),
    }
}

fn tool(name: &str, findings: &mut Findings) {
    let known = TOOLS.iter().find(|(known, _)| *known == name);
    match known {
        Some((known, tier)) => {
            findings.add(
                *known,
                *tier,
                words::RUNS_PROGRAM_GIVEN.with("program", *known),
                None,
                &[Effect::Exec],
            );
        }
        None => {
            let say = words::TOOL_UNKNOWN.with("tool", quoted(name));
            findings.add("tool.unknown", Tier::L2, say, None, &[]);
        }
    }
}

/// The folder it runs in, and whether the workspace is trusted.
fn surroundings(ground: &Ground<'_>, findings: &mut Findings) {
    let shown = quoted(&ground.cwd.to_string_lossy());
    if ground.scene.world.kind(&ground.cwd) != Kind::Folder {
        let say = words::CWD_MISSING.with("path", shown);
        findings.add("cwd.missing", Tier::L1, say, None, &[]);
    } else if !ground.cwd.starts_with(&ground.scene.place.workspace) {
        let say = words::CWD_OUTSIDE.with("path", shown);
        findings.add("cwd.outside", Tier::L1, say, None, &[Effect::Outside]);
    }
    if !ground.scene.place.trusted {
        findings.add("folder.untrusted", Tier::L1, words::FOLDER_UNTRUSTED, None, &[]);
    }
}

/// What the model itself says a step needs. It can only add.
fn required(requires: Requires, findings: &mut Findings) {
    let said = [
        (requires.confirm, "requires.confirm", Tier::L1, words::REQUIRES_CONFIRM, None),
        (
            requires.elevated,
            "requires.elevated",
            Tier::L2,
            words::REQUIRES_ELEVATED,
            Some(Effect::Elevate),
        ),
        (
            requires.network,
            "requires.network",
            Tier::L1,
            words::REQUIRES_NETWORK,
            Some(Effect::Network),
        ),
        (requires.write, "requires.write", Tier::L1, words::REQUIRES_WRITE, Some(Effect::Write)),
    ];
    for (_, rule, tier, why, effect) in said.into_iter().filter(|(asked, ..)| *asked) {
        findings.add(rule, tier, why, None, effect.as_slice());
    }
}

/// What the user's settings refuse, then what they lift. True: an L2 became a question.
fn limits(policy: &Policy, findings: &mut Findings) -> bool {
    if policy.network == Limit::Refuse && findings.has(Effect::Network) {
        findings.add("limit.network", Tier::L2, words::LIMIT_NETWORK, None, &[]);
    }
    if policy.write == Limit::Refuse
        && (findings.has(Effect::Write) || findings.has(Effect::Delete))
    {
        findings.add("limit.write", Tier::L2, words::LIMIT_WRITE, None, &[]);
    }
    let mut lifted = false;
    for finding in findings.iter_mut().filter(|finding| finding.reason.tier == Tier::L2) {
        // What elevates and nothing worse is what `allow_sudo` speaks of.
        let elevates = policy.elevate == Limit::Ask
            && finding.effects.contains(&Effect::Elevate)
            && !finding.effects.contains(&Effect::Irreversible);
        if elevates || policy.lifts(&finding.reason.rule) {
            finding.reason.tier = Tier::L1;
            lifted = true;
        }
    }
    lifted && findings.tier() < Tier::L2
}

/// Whether a rule of the user lets an L1 run unasked; says so. In a folder that is not
/// trusted no rule does, and an open rule never covers secrets or what has no way back.
fn allowed(work: &Work, scene: Scene<'_>, lifted: bool, findings: &mut Findings) -> bool {
    let grave = [Effect::Secret, Effect::Elevate, Effect::Irreversible];
    let grave = grave.into_iter().any(|effect| findings.has(effect));
    if lifted || !scene.place.trusted || findings.tier() != Tier::L1 {
        return false;
    }
    let rule = scene.policy.allowed.iter().find(|rule| rule.covers(work) && !(rule.open && grave));
    if let Some(rule) = rule {
        let say = words::ALLOWED.with("rule", rule.to_string());
        findings.add("allowed", Tier::L0, say, None, &[]);
    }
    rule.is_some()
}

/// What would be started: the program, or for a line the shell.
fn program(work: &Work, ground: &Ground<'_>) -> Option<Program> {
    let world = ground.scene.world;
    match work {
        Work::Exec { program, .. } if program.contains('/') => {
            let path = paths::absolute(program, &ground.cwd, &ground.scene.place.home);
            world.program(&path.to_string_lossy()).or_else(|| world.file(&path))
        }
        Work::Exec { program, .. } => world.program(program),
        Work::Shell { .. } => world.program("bash").or_else(|| world.program("sh")),
        Work::Tool { .. } => None,
    }
}
