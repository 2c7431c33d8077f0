//! Landlock and seccomp put around the calling thread, and so around what it starts.
//!
//! Two layers of Landlock: one for reading, made once and used for many steps, and one
//! for writing, which names the step's own folder. Each holds by itself, and a step must
//! pass both.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::places::Trees;
use super::{Strict, calls};

/// The device every step may write to, and those of an approved one.
const NOTHING: &[&str] = &["/dev/null"];
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

/// What the kernel offers, as far as we can use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kernel(ABI);

impl Kernel {
    /// Asks the kernel, from a thread of its own that ends with the answer. `None`: it
    /// has no Landlock, or it is switched off.
    pub fn ask() -> Option<Kernel> {
        let asked = std::thread::spawn(|| {
            let ruleset = Ruleset::default().handle_access(AccessFs::Execute).ok()?;
            Some(ruleset.create().ok()?.restrict_self().ok()?.landlock)
        });
        match asked.join().ok()?? {
            LandlockStatus::Available { effective_abi, .. } => Some(Kernel(effective_abi)),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        }
    }

    /// The version of Landlock's interface.
    pub fn abi(self) -> i32 {
        self.0 as i32
    }

    /// Whether signals to processes outside are held.
    pub fn holds_signals(self) -> bool {
        !Scope::from_all(self.0).is_empty()
    }
}

/// The layer for reading.
#[derive(Debug)]
pub(super) struct Reading {
    ruleset: RulesetCreated,
    pub trees: Trees,
}

/// What one step may write to.
#[derive(Debug)]
pub(super) struct Writing<'a> {
    pub trees: &'a [&'a Path],
    pub strict: Strict,
}

/// Makes the layer for reading. Nothing is held yet.
pub(super) fn reading(trees: Trees) -> Result<Reading, String> {
    // Names may be listed everywhere; contents are what is kept.
    let handled = AccessFs::Execute | AccessFs::ReadFile;
    let made = || -> Result<RulesetCreated, RulesetError> {
        let ruleset = Ruleset::default().handle_access(handled)?.create()?;
        let ruleset = allow(ruleset, &trees.read, AccessFs::ReadFile.into())?;
        allow(ruleset, &trees.run, AccessFs::Execute.into())
    };
    let ruleset = made().map_err(|error| error.to_string())?;
    Ok(Reading { ruleset, trees })
}

/// Holds the calling thread for good. An error: do not go on, it may be held in part.
pub(super) fn restrict(
    kernel: Kernel,
    reading: Option<&Reading>,
    writing: &Writing<'_>,
) -> Result<(), String> {
    let filter = calls::filter(writing.strict).map_err(|error| error.to_string())?;
    let filter = filter.ok_or("there is no filter for this processor")?;
    if let Some(reading) = reading {
        enforce(reading.ruleset.try_clone().map_err(|error| error.to_string())?)?;
    }
    enforce(layer(kernel.0, writing).map_err(|error| error.to_string())?)?;
    if writing.strict == Strict::Alone {
        drop_rights().map_err(|error| error.to_string())?;
    }
    seccompiler::apply_filter(&filter).map_err(|error| error.to_string())
}

/// Takes from root what root may do beyond the rights of files; some of it goes around
/// Landlock, such as reading the environment of other processes. Reading stays, because
/// root's workspace may hold files of others. No program gets them back: new privileges
/// are off already.
fn drop_rights() -> rustix::io::Result<()> {
    let now = capabilities(None)?;
    let kept = now.permitted & CapabilitySet::DAC_READ_SEARCH;
    let effective = now.effective & kept;
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective, permitted: kept, inheritable })
}

/// The layer with everything this kernel knows of writing, the network and signals.
fn layer(abi: ABI, writing: &Writing<'_>) -> Result<RulesetCreated, RulesetError> {
    let writes = AccessFs::from_write(abi);
    let mut ruleset = Ruleset::default().handle_access(writes)?;
    let (ports, scopes) = (AccessNet::from_all(abi), Scope::from_all(abi));
    if writing.strict != (Strict::Approved { network: true }) && !ports.is_empty() {
        ruleset = ruleset.handle_access(ports)?;
    }
    if writing.strict == Strict::Alone && !scopes.is_empty() {
        ruleset = ruleset.scope(scopes)?;
    }
    let ruleset = allow(ruleset.create()?, writing.trees, writes)?;
    let devices = match writing.strict {
        Strict::Alone => NOTHING,
        Strict::Approved { .. } => DEVICES,
    };
    allow(ruleset, devices, writes)
}

/// Anything less than all that was asked for is an error.
fn enforce(ruleset: RulesetCreated) -> Result<(), String> {
    let status = ruleset.restrict_self().map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced if status.no_new_privs => Ok(()),
        RulesetStatus::FullyEnforced => Err("new privileges stay possible".into()),
        RulesetStatus::PartiallyEnforced => Err("the kernel enforces only a part".into()),
        RulesetStatus::NotEnforced => Err("the kernel enforces nothing".into()),
    }
}

/// Adds trees. What is not there, or cannot be opened, is not allowed.
fn allow(
    ruleset: RulesetCreated,
    trees: &[impl AsRef<Path>],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let found = trees.iter().filter_map(|tree| {
        let tree: &Path = tree.as_ref();
        let access = if tree.is_dir() { access } else { access & AccessFs::from_file(ABI::V9) };
        Some(Ok::<_, RulesetError>(PathBeneath::new(PathFd::new(tree).ok()?, access)))
    });
    ruleset.add_rules(found)
}
