//! Decides whether a step may run.
//!
//! Pure: it reads a [`Step`] and a [`Scene`] and answers with a [`Verdict`]. What it
//! must know of the machine it asks through [`World`], so that a test can answer.
//! [`Cleared`] cannot be made outside this module, so whatever runs has been judged.

use std::path::{Path, PathBuf};

use crate::protocol::{Piece, Risk, Step, Work};

pub mod clean;
pub mod policy;
pub mod redact;

pub use policy::{Limit, Policy, Rule, Unknown};

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

/// Judges one step.
pub fn assess(step: Step, scene: Scene<'_>) -> Verdict {
    let judged = judge(step, scene);
    match judged.risk.tier {
        crate::protocol::Tier::L0 => Verdict::Run(Cleared(judged)),
        crate::protocol::Tier::L1 => Verdict::Ask(Held(judged)),
        crate::protocol::Tier::L2 => Verdict::Refuse(Refused(judged)),
    }
}

fn judge(step: Step, scene: Scene<'_>) -> Judged {
    let program = match &step.work {
        Work::Exec { program, .. } => scene.world.program(program),
        _ => None,
    };
    let risk = Risk {
        tier: crate::protocol::Tier::L1,
        rule: "unjudged".into(),
        reasons: vec![],
        effects: vec![],
        lifted: false,
    };
    Judged { cwd: scene.place.cwd.clone(), step, risk, program, pieces: vec![] }
}
