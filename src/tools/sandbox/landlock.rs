//! Puts Landlock and seccomp around the calling thread, and so around what it starts.
//!
//! A step that runs by itself passes two layers of Landlock: one for reading and starting,
//! made once and used for many steps, and one for writing, which names its own folder. An
//! approved one passes one layer, made once too.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::profile::Confinement;
use super::rights::{ReadAccess, Rights, WorkAccess};
use super::seccomp;

/// The device every step may write to.
const NOTHING: &[&str] = &["/dev/null"];

/// The kernel's features, as far as we can use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kernel(ABI);

impl Kernel {
    /// Asks the kernel, from a thread of its own that ends with the answer. `None`: it
    /// has no Landlock, or it is switched off.
    pub fn detect() -> Option<Kernel> {
        let thread = std::thread::Builder::new().name("landlock".into());
        let asked = thread.spawn(|| {
            let ruleset = Ruleset::default().handle_access(AccessFs::Execute).ok()?;
            Some(ruleset.create().ok()?.restrict_self().ok()?.landlock)
        });
        match asked.ok()?.join().ok()?? {
            LandlockStatus::Available { effective_abi, .. } => Some(Kernel(effective_abi)),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        }
    }

    /// The version of Landlock's interface.
    pub fn abi(self) -> i32 {
        self.0 as i32
    }

    /// The restrictions this version supports.
    pub fn rights(self) -> Rights {
        Rights::for_abi(self.abi())
    }

    /// Another version than the one that is there.
    #[cfg(test)]
    pub fn with_abi(abi: i32) -> Kernel {
        const ALL: [ABI; 7] = [ABI::V1, ABI::V2, ABI::V3, ABI::V4, ABI::V5, ABI::V6, ABI::V7];
        Kernel(*ALL.iter().find(|one| **one as i32 == abi).expect("a version"))
    }
}

/// One layer, made and not yet in force.
#[derive(Debug)]
pub(super) struct Layer(RulesetCreated);

/// Makes the layer for reading. Nothing is restricted yet.
pub(super) fn read_layer(reading: &ReadAccess<'_>) -> Result<Layer, String> {
    let contents = AccessFs::ReadFile | AccessFs::ReadDir;
    let starts = contents | AccessFs::Execute;
    let made = || -> Result<RulesetCreated, RulesetError> {
        let ruleset = Ruleset::default().handle_access(starts)?.create()?;
        let below = reading.workspace;
        let ruleset = allow(ruleset, reading.read, contents, below)?;
        let ruleset = allow(ruleset, reading.list, AccessFs::ReadDir.into(), below)?;
        allow(ruleset, reading.run, starts, below)
    };
    made().map(Layer).map_err(|error| error.to_string())
}

/// Makes the one layer of an approved step. One, because files are moved between folders
/// only where no other layer has a word in it.
pub(super) fn work_layer(kernel: Kernel, working: &WorkAccess<'_>) -> Result<Layer, String> {
    // Its network setting decides which sockets it reaches: agents and displays can be
    // anywhere.
    let writes = AccessFs::from_write(kernel.0) & !AccessFs::ResolveUnix;
    // No step makes a device: root could make one that the sandbox keeps closed.
    let granted = writes & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let read = BitFlags::from(AccessFs::ReadFile);
    let made = || -> Result<RulesetCreated, RulesetError> {
        let mut ruleset = Ruleset::default().handle_access(writes | read)?;
        let ports = AccessNet::from_all(kernel.0);
        if !working.network && kernel.rights().ports {
            ruleset = ruleset.handle_access(ports)?;
        }
        if kernel.rights().signals {
            let all = Scope::from_all(kernel.0);
            let scopes = if working.signals { all & !Scope::Signal } else { all };
            ruleset = ruleset.scope(scopes)?;
        }
        let below = working.workspace;
        let ruleset = allow(ruleset.create()?, working.read, read, below)?;
        let ruleset = ruleset.add_rules(exact_rules(working.around, granted))?;
        let ruleset = ruleset.add_rules(exact_rules(working.named, granted | read))?;
        allow(ruleset, working.write, granted | read, below)
    };
    made().map(Layer).map_err(|error| error.to_string())
}

/// Makes the layer that lets a step write to its own folder and nowhere else.
pub(super) fn own_folder_layer(kernel: Kernel, temp: &Path) -> Result<Layer, String> {
    let writes = AccessFs::from_write(kernel.0);
    let ports = AccessNet::from_all(kernel.0);
    let scopes = Scope::from_all(kernel.0);

    let made = || -> Result<RulesetCreated, RulesetError> {
        let mut ruleset = Ruleset::default().handle_access(writes)?;
        if kernel.rights().ports {
            ruleset = ruleset.handle_access(ports)?;
        }
        if kernel.rights().signals {
            ruleset = ruleset.scope(scopes)?;
        }
        let ruleset = allow(ruleset.create()?, &[temp], writes, temp)?;
        allow(ruleset, NOTHING, writes, temp)
    };
    made().map(Layer).map_err(|error| error.to_string())
}

/// Restricts the calling thread for good. An error: do not go on, it may be restricted in
/// part.
pub(super) fn restrict(
    kernel: Kernel,
    layers: &[&Layer],
    confinement: Confinement,
) -> Result<(), String> {
    let filter =
        seccomp::filter(confinement, kernel.rights()).map_err(|error| error.to_string())?;
    let filter = filter.ok_or("there is no filter for this processor")?;
    let missing = seccomp::missing_calls().map_err(|error| error.to_string())?;
    for layer in layers {
        enforce(layer.0.try_clone().map_err(|error| error.to_string())?)?;
    }
    drop_capabilities(confinement).map_err(|error| error.to_string())?;
    let filters = missing.iter().chain([&filter]);
    filters
        .into_iter()
        .try_for_each(|filter| seccompiler::apply_filter(filter))
        .map_err(|error| error.to_string())
}

/// What root keeps in an approved step: the rights that files and package managers need.
const APPROVED_CAPABILITIES: CapabilitySet = CapabilitySet::DAC_READ_SEARCH
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Takes from root what root may do beyond the rights of files; some of it goes around
/// Landlock, such as reading the environment of other processes. Reading stays, because
/// root's workspace may hold files of others. No program gets them back: new privileges
/// are off already.
fn drop_capabilities(confinement: Confinement) -> rustix::io::Result<()> {
    let now = capabilities(None)?;
    let kept = now.permitted
        & match confinement {
            Confinement::ReadOnly { .. } => CapabilitySet::DAC_READ_SEARCH,
            Confinement::Approved { .. } => APPROVED_CAPABILITIES,
        };
    let effective = now.effective & kept;
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective, permitted: kept, inheritable })
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

/// Adds trees. What is not there, or cannot be opened, is not allowed, nor what a link in the
/// workspace leads to.
fn allow(
    ruleset: RulesetCreated,
    trees: &[impl AsRef<Path>],
    access: BitFlags<AccessFs>,
    workspace: &Path,
) -> Result<RulesetCreated, RulesetError> {
    let found = trees.iter().filter_map(|tree| {
        let tree: &Path = tree.as_ref();
        // Links at the root of the system are its own.
        let is_inside = tree.starts_with(workspace) && workspace.parent().is_some();
        let links = if is_inside { ResolveFlags::NO_SYMLINKS } else { ResolveFlags::empty() };
        Some(Ok::<_, RulesetError>(rule(tree, access, links)?))
    });
    ruleset.add_rules(found)
}

/// Rules for exactly these paths: what became a link meanwhile is not allowed.
fn exact_rules(
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> impl Iterator<Item = Result<PathBeneath<OwnedFd>, RulesetError>> {
    paths.iter().filter_map(move |path| Some(Ok(rule(path, access, ResolveFlags::NO_SYMLINKS)?)))
}

fn rule(
    path: &Path,
    access: BitFlags<AccessFs>,
    links: ResolveFlags,
) -> Option<PathBeneath<OwnedFd>> {
    let file = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), links).ok()?;
    let is_folder = FileType::from_raw_mode(fstat(&file).ok()?.st_mode).is_dir();
    let access = if is_folder { access } else { access & AccessFs::from_file(ABI::V9) };
    // For a file no right is left where only names are listed.
    (!access.is_empty()).then(|| PathBeneath::new(file, access))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_can_be_made_for_every_version_of_the_interface() {
        let paths: Vec<PathBuf> = vec!["/usr".into(), "/etc/passwd".into(), "/missing".into()];
        let abis = [ABI::V1, ABI::V2, ABI::V3, ABI::V4, ABI::V5, ABI::V6, ABI::V7];
        for kernel in abis.map(Kernel) {
            for network in [true, false] {
                let held = WorkAccess {
                    read: &paths,
                    write: &paths,
                    named: &paths,
                    around: &paths,
                    workspace: Path::new("/usr"),
                    network,
                    signals: !network,
                };
                work_layer(kernel, &held).unwrap();
            }
            own_folder_layer(kernel, Path::new("/tmp")).unwrap();
        }
        let workspace = Path::new("/usr");
        read_layer(&ReadAccess { read: &paths, list: &paths, run: &paths, workspace }).unwrap();
    }

    #[test]
    fn a_link_that_a_step_puts_in_the_place_of_a_folder_opens_nothing() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["away", "shop/data/deep"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["away/key", "shop/key", "shop/data/key"] {
            std::fs::write(root.join(file), "x").unwrap();
        }
        // What was listed as a folder, and became a link before it was opened.
        std::os::unix::fs::symlink(root.join("away"), root.join("shop/link")).unwrap();
        let workspace = &root.join("shop");
        let listed = ["shop/data", "shop/link", "shop/link/key"].map(|name| root.join(name));
        let read = ReadAccess { read: &listed, list: &[], run: &[], workspace };
        let work = WorkAccess {
            read: &listed,
            write: &listed,
            named: &[],
            around: &[],
            workspace,
            network: true,
            signals: true,
        };
        // Where there is none, nothing is opened.
        let layers = Kernel::detect().map(|kernel| [read_layer(&read), work_layer(kernel, &work)]);
        for layer in layers.into_iter().flatten() {
            let key = |name: &str| root.join(name);
            let layer = layer.unwrap();
            let opened = std::thread::scope(|scope| {
                let look = || {
                    enforce(layer.0.try_clone().unwrap()).unwrap();
                    ["away/key", "shop/link/key", "shop/data/key"]
                        .map(|name| std::fs::read(key(name)).is_ok())
                };
                scope.spawn(look).join().unwrap()
            });
            assert_eq!(opened, [false, false, true]);
        }
    }
}
