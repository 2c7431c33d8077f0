//! Restricts what steps can do, in case a judgement was wrong or the user was shown too
//! little.
//!
//! On Linux Landlock and seccomp are put around a short-lived thread, which then starts
//! the program: both pass on to children and nothing but that thread is touched. macOS
//! has `sandbox-exec` for it. Nothing else needs to be installed.
//!
//! | | *read*: a step that runs by itself (L0) | *work*: an approved one, a piece of a template |
//! |---|---|---|
//! | reads | the workspace and its repository, the system, toolchains, git's settings, names in a folder that `ls` is given | the same, caches where it runs code, and what the user was shown |
//! | credentials | none, in the workspace neither | those its row names, and what the user was asked about by name |
//! | our own folders | no | no |
//! | writes | its own temporary folder, `/dev/null` | a temporary folder, the workspace, folders the user added, the caches and homes of its program |
//! | modes, owners, times | none | free |
//! | sockets | none | where its effects name the network, or it runs the project's code |
//! | starts | its program, what that needs to start, what its row names | all |
//! | other processes | not traced, not signalled | the same; its own are traced |
//! | what steers what runs later | not written | put back after the step, and asked about |
//! | memory, processes | bounded (`exec`) | free |
//!
//! A line the user typed for their own shell is free, and so is a step made to change the
//! system: a wall around the workspace would only break it.
//!
//! Terminals are closed, new ones too, because Landlock cannot tell a new one from those of the
//! user: `script` and tests that open a terminal fail in *work*.
//!
//! Not restricted: names of files below the workspace; code that a program loads into
//! itself, which does not start a program; on Linux before 6.12 signals; sockets within the
//! machine where the network is open, docker's among them, for no interface of Landlock up
//! to 7 knows them by path; moves between folders on interface 1, which fail; in *work*
//! modes and owners of files elsewhere that belong to the user. That it works is tried out,
//! not assumed.
//!
//! Not in here: which step is restricted for what reason (`safety` judged it) and how it is
//! started (`exec`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::temp::RunFolder;
use avocet_core::i18n::{LocalizedText, Phrase, PhraseValue, sandbox as phrases};
use avocet_core::protocol::{PageRow, SandboxMode, SandboxStatus, StepAction, Tier};
use avocet_safety::limits::KERNEL_LIMITS;
use avocet_safety::places::UserPath;
use avocet_safety::{
    self as safety, GuardedFiles, Judgement, NamedWrite, SandboxOpening, ShellScript, WriteOpening,
};

mod built;
pub mod denied;
mod followed;
pub mod guarded;
mod installs;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/unsupported.rs"]
mod landlock;
mod named;
mod probe;
mod profile;
mod programs;
mod readable_paths;
mod rights;
mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;
mod startup;
mod temps;
mod workspace;

pub use readable_paths::SandboxPaths;

use built::LayerCache;
use denied::SandboxBounds;
use followed::HomeLinkedFiles;
use guarded::{FileGuard, GuardedState, PutBack};
use landlock::Kernel;
use named::UserOpenings;
use profile::Profile;
use temps::{MadePlaces, StepTempFolder, StepTempFolders};

/// The sandbox of a session.
#[derive(Debug)]
pub struct Sandbox {
    setting: SandboxMode,
    paths: SandboxPaths,
    found: SandboxTrial,
    layers: LayerCache,
    temps: StepTempFolders,
    guarded: Arc<GuardedState>,
    followed: HomeLinkedFiles,
}

/// Whether the sandbox works here: tried out once, for all sessions that share it.
#[derive(Clone, Debug, Default)]
pub struct SandboxTrial(Arc<OnceLock<SandboxSupport>>);

impl SandboxTrial {
    fn of(support: SandboxSupport) -> SandboxTrial {
        SandboxTrial(Arc::new(OnceLock::from(support)))
    }
}

/// The result of trying it out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SandboxSupport {
    Available(SandboxBackend),
    Unavailable(LocalizedText),
}

/// The inputs it is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SandboxBackend {
    Kernel(Kernel),
    Program,
}

/// The origin of a step, as far as that decides how it is restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOrigin {
    /// It was judged, and runs by itself or was approved.
    Judgement,
    /// A shell piece of a template.
    Template,
}

/// The surroundings of a started step.
#[derive(Debug)]
pub struct Confined {
    temp: StepTempFolder,
    /// The program that holds it, with the arguments that come first.
    pub wrapper: Option<(PathBuf, Vec<String>)>,
    /// The places it could not reach; `None`: it was not restricted.
    walls: Option<SandboxBounds>,
    _made: MadePlaces,
}

impl Confined {
    pub fn temp(&self) -> &Path {
        self.temp.path()
    }

    pub fn bounds(&self) -> Option<&SandboxBounds> {
        self.walls.as_ref()
    }
}

impl Sandbox {
    pub fn new(mode: SandboxMode, paths: SandboxPaths) -> Sandbox {
        let cache = LayerCache::default();
        Sandbox {
            setting: mode,
            paths,
            found: SandboxTrial::default(),
            layers: cache,
            temps: StepTempFolders::default(),
            guarded: Arc::default(),
            followed: HomeLinkedFiles::default(),
        }
    }

    /// The same with the steps' folders in this run's.
    pub fn with_run_folder(self, folder: Arc<RunFolder>) -> Sandbox {
        Sandbox { temps: StepTempFolders::with_run_folder(folder), ..self }
    }

    /// The same that shares what was tried out.
    pub fn with_trial(self, trial: SandboxTrial) -> Sandbox {
        match self.setting {
            // Nothing is tried out, which says nothing for those that share it.
            SandboxMode::Off => self,
            SandboxMode::Work | SandboxMode::Read => Sandbox { found: trial, ..self },
        }
    }

    /// One that holds nothing.
    pub fn off() -> Sandbox {
        Sandbox::new(SandboxMode::Off, SandboxPaths::default())
    }

    /// One as on a system that has none, and why it has none.
    pub fn unavailable(mode: SandboxMode, why: Phrase) -> Sandbox {
        let found = SandboxTrial::of(SandboxSupport::Unavailable(why.into()));
        Sandbox { found, ..Sandbox::new(mode, SandboxPaths::default()) }
    }

    /// One that uses no more than this version of the kernel's interface.
    #[cfg(all(test, target_os = "linux"))]
    pub fn with_abi(self, abi: i32) -> Sandbox {
        let found = probe::probe_kernel(&self, Kernel::with_abi(abi));
        Sandbox { found: SandboxTrial::of(found), ..self }
    }

    pub fn workspace(&self) -> &Path {
        &self.paths.workspace
    }

    /// The temporary folder of the run, with that of a step in it.
    pub fn run_folder_of(&self, confined: &Confined) -> Option<PathBuf> {
        self.temps.run_folder_of(confined.temp())
    }

    /// The temporary folder of a step stays when the run ends.
    pub fn leave_folder(&self, confined: &Confined) {
        self.temps.leave(confined.temp());
    }

    /// Which steps are restricted, tried out at the first call: a few milliseconds,
    /// blocking.
    pub fn status(&self) -> SandboxStatus {
        match (self.setting, self.support()) {
            (SandboxMode::Off, _) => SandboxStatus::Off,
            (_, SandboxSupport::Unavailable(_)) => SandboxStatus::Absent,
            (SandboxMode::Work, SandboxSupport::Available(_)) => SandboxStatus::Held,
            (SandboxMode::Read, SandboxSupport::Available(_)) => SandboxStatus::ReadOnly,
        }
    }

    /// Whether a restricted step's signals reach only processes of its own.
    pub fn restricts_signals(&self) -> bool {
        match self.support() {
            SandboxSupport::Available(SandboxBackend::Kernel(kernel)) => kernel.rights().signals,
            SandboxSupport::Available(SandboxBackend::Program) | SandboxSupport::Unavailable(_) => {
                false
            }
        }
    }

    /// The state `doctor` shows. Blocks as [`Sandbox::status`] does.
    pub fn rows(&self) -> Vec<PageRow> {
        let mut rows = vec![PageRow::heading(phrases::DOCTOR)];
        match (self.setting, self.support()) {
            (SandboxMode::Off, _) => rows.push(PageRow::pair(phrases::DOCTOR_L0, phrases::SET_OFF)),
            (_, SandboxSupport::Unavailable(why)) => {
                rows.push(PageRow::pair(
                    phrases::DOCTOR_L0,
                    phrases::ABSENT.with("why", why.clone()),
                ));
                rows.push(PageRow::line(phrases::ABSENT_ASKS));
            }
            (setting, SandboxSupport::Available(means)) => {
                let approved = match setting {
                    SandboxMode::Work => phrases::HELD_L1,
                    SandboxMode::Read | SandboxMode::Off => phrases::FREE_L1,
                };
                rows.push(PageRow::pair(phrases::DOCTOR_L0, phrases::HELD));
                rows.push(PageRow::pair(phrases::DOCTOR_L1, approved));
                rows.extend(self.backend_rows(*means));
            }
        }
        rows
    }

    fn backend_rows(&self, backend: SandboxBackend) -> Vec<PageRow> {
        let SandboxBackend::Kernel(kernel) = backend else {
            return vec![PageRow::pair(phrases::DOCTOR_KERNEL, phrases::SEATBELT)];
        };
        let hidden = self.layers.hides_all_credentials(&self.paths);
        let secrets = if hidden { phrases::SECRETS_HIDDEN } else { phrases::SECRETS_PARTLY };
        let value: PhraseValue = phrases::KERNEL.with("abi", kernel.abi().to_string()).into();
        let mut rows = vec![
            PageRow::pair(phrases::DOCTOR_KERNEL, value),
            PageRow::pair(phrases::DOCTOR_SECRETS, secrets),
        ];
        let missing = KERNEL_LIMITS.iter().filter(|limit| limit.abi > kernel.abi());
        rows.extend(missing.map(|limit| PageRow::pair(limit.what, limit.without)));
        rows
    }

    fn support(&self) -> &SandboxSupport {
        self.found.0.get_or_init(|| match self.setting {
            // No setting asks it to restrict anything.
            SandboxMode::Off => SandboxSupport::Unavailable(phrases::SET_OFF.into()),
            SandboxMode::Work | SandboxMode::Read => probe::detect(self),
        })
    }

    /// Looks at the guarded files before a step, and puts back what others that run changed. Blocks.
    pub fn guard_files(self: Arc<Self>, judged: &Judgement, by_hand: bool) -> (FileGuard, PutBack) {
        let needs = &judged.launch.needs;
        let guarded = match &needs.guarded {
            _ if by_hand || needs.system => GuardedFiles::Nothing,
            guarded => guarded.clone(),
        };
        let launch = &judged.launch;
        let is_folder = |write: &&NamedWrite| {
            matches!(write.opening, WriteOpening::Existing | WriteOpening::Folder)
        };
        let named = launch.named.iter().filter(is_folder).map(|write| &write.path);
        let written = launch.writes.iter().chain(named).chain([&self.paths.workspace]).cloned();
        // Their settings name programs that run outside.
        let refreshed =
            needs.refreshed.iter().filter_map(|place| self.paths.resolve_user_path(place));
        let roots = written.chain(refreshed).filter(|root| root.is_absolute() && root.is_dir());
        // No link in them is followed when something is put back.
        let roots = roots.filter_map(|root| root.canonicalize().ok()).collect();
        let state = Arc::clone(&self.guarded);
        let is_held = self.setting == SandboxMode::Work;
        let missing = if is_held { self.paths.missing_places(needs) } else { Vec::new() };
        let find = Arc::new(move |root: &Path| {
            let made = missing.iter().filter(|path| path.symlink_metadata().is_ok());
            let mut more = self.followed.inside(root, &self.paths);
            more.extend(made.filter(|path| path.starts_with(root)).cloned());
            self.layers.guarded_names(root).with(&more)
        });
        guarded::begin(find, &state, roots, named_paths(judged), guarded)
    }

    /// How this step is to be restricted; `None`: it is not.
    fn profile(
        &self,
        judged: &Judgement,
        origin: StepOrigin,
        opening: Option<&SandboxOpening>,
    ) -> Option<Profile> {
        let by_hand =
            matches!(judged.step.work, StepAction::Shell { .. }) && origin != StepOrigin::Template;
        match (self.setting, judged.risk.tier) {
            (SandboxMode::Off, _) => None,
            _ if by_hand || opening == Some(&SandboxOpening::Everything) => None,
            (_, Tier::L0) if origin == StepOrigin::Judgement => Some(read_profile(judged)),
            // A piece of a template that only reads starts a shell, and what that needs.
            (_, Tier::L0) => self.work_profile(judged, opening),
            (SandboxMode::Read, _) => None,
            (SandboxMode::Work, _) => self.work_profile(judged, opening),
        }
    }

    /// The places an approved step may reach.
    fn work_profile(
        &self,
        judged: &Judgement,
        opening: Option<&SandboxOpening>,
    ) -> Option<Profile> {
        let (places, launch) = (&self.paths, &judged.launch);
        let needs = &launch.needs;
        if needs.system {
            return None;
        }
        let here = |paths: &[UserPath]| -> Vec<PathBuf> {
            let here = paths.iter().filter_map(|spot| places.resolve_user_path(spot));
            // The user may have put links there.
            here.map(|path| path.canonicalize().unwrap_or(path)).collect()
        };
        let mut private = here(&needs.credentials);
        private.extend(here(&needs.homes));
        let closed = places.private_places();
        let is_private = |path: &PathBuf| closed.iter().any(|place| path.starts_with(place));
        let (named, mut opened): (Vec<PathBuf>, Vec<PathBuf>) =
            launch.reads.iter().cloned().partition(is_private);
        private.extend(named);
        opened.extend(launch.readable.iter().cloned());
        let programs = || judged.program.iter().chain(&launch.starts).map(|program| &program.path);
        opened.extend(programs().flat_map(|path| places.installations_of(path)));
        // A link of the project may lead to a key instead of a program.
        let real = programs().map(|path| (path, path.canonicalize().unwrap_or(path.clone())));
        let is_kept = |(path, real): &(&PathBuf, PathBuf)| {
            !path.starts_with(&places.workspace) || !is_private(real)
        };
        opened.extend(real.filter(is_kept).map(|(_, real)| real));
        let mut writes = if judged.risk.tier == Tier::L0 {
            // A piece that only reads.
            Vec::new()
        } else {
            let mut writes = vec![places.workspace.clone()];
            let own = [&needs.caches, &needs.homes, &needs.refreshed];
            writes.extend(own.into_iter().flat_map(|spots| here(spots)));
            writes.extend(launch.writes.iter().cloned());
            writes
        };
        let mut openings = UserOpenings::new(launch, opening, places);
        opened.append(&mut openings.reads);
        let UserOpenings { mut named, mut around, network, .. } = openings;
        readable_paths::create_own_folders(places, &writes);
        for list in [&mut opened, &mut private, &mut writes, &mut named, &mut around] {
            list.retain(|path| !places.own.iter().any(|own| path.starts_with(own)));
            list.sort_unstable();
            // One inside another may be open around what the other leaves closed.
            list.dedup();
        }
        let network = (needs.network || network) && !places.offline;
        let (devices, made) = (needs.devices.clone(), here(&needs.made));
        let signals = needs.signals;
        Some(Profile::Work {
            opened,
            private,
            writes,
            named,
            around,
            placeholders: openings.made,
            made,
            devices,
            network,
            signals,
        })
    }

    /// Starts a step: calls `start` where what it starts is held, and answers with what
    /// that gave and what the step lives in. An error says why nothing was started.
    pub async fn start<T: Send + 'static>(
        self: Arc<Self>,
        judged: &Judgement,
        origin: StepOrigin,
        opening: Option<&SandboxOpening>,
        start: impl FnOnce(Option<&Confined>) -> T + Send + 'static,
    ) -> Result<(T, Option<Confined>), LocalizedText> {
        let Some(profile) = self.profile(judged, origin, opening) else {
            let inside = self.unconfined(judged)?;
            return Ok((start(inside.as_ref()), inside));
        };
        let by_itself = judged.risk.tier == Tier::L0;
        let runtime = tokio::runtime::Handle::current();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let thread = std::thread::Builder::new().name("sandbox".into());
        let spawned = thread.spawn(move || {
            let _runtime = runtime.enter();
            let inside = self.confine_thread(&profile, by_itself);
            // The caller may be gone; then the step is dropped here, and ends.
            let _ = sender.send(inside.map(|inside| (start(inside.as_ref()), inside)));
        });
        spawned.map_err(|error| match avocet_core::private_dir::exhausted_resource(&error) {
            Some(what) => phrases::NOT_APPLIED.with("why", what),
            None => not_applied(error.to_string()),
        })?;
        receiver.await.unwrap_or_else(|_| Err(not_applied("it broke off".to_owned())))
    }

    /// Holds the calling thread; nothing holds it where this system cannot.
    fn confine_thread(
        &self,
        profile: &Profile,
        by_itself: bool,
    ) -> Result<Option<Confined>, LocalizedText> {
        match self.support() {
            SandboxSupport::Available(means) => {
                let temp = self.temp(profile)?;
                self.confine(*means, profile, temp).map(Some).map_err(not_applied)
            }
            SandboxSupport::Unavailable(_) if by_itself => self.with_own_folder().map(Some),
            SandboxSupport::Unavailable(_) => Ok(None),
        }
    }

    fn temp(&self, profile: &Profile) -> Result<StepTempFolder, LocalizedText> {
        match profile {
            Profile::Read { .. } => self.temps.own_folder(),
            Profile::Work { .. } => self.temps.shared(),
        }
    }

    fn confine(
        &self,
        backend: SandboxBackend,
        profile: &Profile,
        temp: StepTempFolder,
    ) -> Result<Confined, String> {
        let made = match profile {
            Profile::Work { made, placeholders, .. } => {
                MadePlaces::create(made, &self.paths.home).with_placeholders(placeholders)
            }
            Profile::Read { .. } => MadePlaces::default(),
        };
        let (wrapper, walls) = match backend {
            SandboxBackend::Program => {
                let run = built::startable(&self.paths, profile);
                let text = seatbelt::profile_text(&self.paths, profile, temp.path(), &run);
                let first = vec!["-p".to_owned(), text];
                (
                    Some((seatbelt::PROGRAM.into(), first)),
                    SandboxBounds::new(&self.paths, profile, &temp),
                )
            }
            SandboxBackend::Kernel(kernel) => {
                let layer = self.layers.layer(kernel, &self.paths, profile, &temp)?;
                let bounds = SandboxBounds::new(&self.paths, profile, &temp);
                match profile {
                    Profile::Read { .. } => {
                        let own = landlock::own_folder_layer(kernel, temp.path())?;
                        landlock::restrict(kernel, &[&layer, &own], profile.confinement())?;
                    }
                    Profile::Work { .. } => {
                        landlock::restrict(kernel, &[&layer], profile.confinement())?;
                    }
                }
                (None, bounds)
            }
        };
        Ok(Confined { temp, wrapper, walls: Some(walls), _made: made })
    }

    /// The surroundings of a step that runs by itself without a sandbox: a folder of its
    /// own.
    fn unconfined(&self, judged: &Judgement) -> Result<Option<Confined>, LocalizedText> {
        match judged.risk.tier {
            Tier::L0 => self.with_own_folder().map(Some),
            Tier::L1 | Tier::L2 => Ok(None),
        }
    }

    fn with_own_folder(&self) -> Result<Confined, LocalizedText> {
        let temp = self.temps.own_folder()?;
        let _made = MadePlaces::default();

        Ok(Confined { temp, wrapper: None, walls: None, _made })
    }
}

/// How a step that runs by itself is restricted.
fn read_profile(judged: &Judgement) -> Profile {
    let launch = &judged.launch;
    let programs = judged.program.iter().chain(&launch.starts);
    let (compares, git) = match (&judged.step.work, launch.git, &launch.script) {
        (_, _, Some(script)) => git_access_of_line(script),
        (StepAction::Exec { args, .. }, Some(first), None) => git_access(args, first),
        _ => (false, false),
    };
    Profile::Read {
        programs: programs.map(|program| program.path.clone()).collect(),
        helpers: launch.helpers.clone(),
        readable: launch.readable.clone(),
        lists: launch.lists.clone(),
        compares_tracked_files: compares,
        reads_git_settings: git,
        netlink: launch.needs.netlink,
    }
}

/// Whether a git compares the workspace's files with recorded ones, and reads the settings of
/// its repository. A search of contents must not meet credentials; a comparison would call a
/// closed file changed. History needs none of them.
fn git_access(args: &[String], first: usize) -> (bool, bool) {
    let args = args.get(first..).unwrap_or_default();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let compares = git_subcommand(args).is_some_and(|sub| COMPARES.contains(&sub));
    (compares && !searches_contents(args), !has("--no-index"))
}

fn searches_contents(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "grep" || arg == "--no-index")
}

/// Sub-commands of git that read files of the working tree that are tracked.
const COMPARES: &[&str] = &[
    "status",
    "diff",
    "diff-files",
    "diff-index",
    "describe",
    "ls-files",
    "stash",
    "blame",
    "annotate",
    "submodule",
    "commit",
    "add",
    "rm",
    "apply",
];

fn git_subcommand(args: &[String]) -> Option<&str> {
    const TAKE_VALUE: &[&str] =
        &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"];
    let mut args = args.iter();
    loop {
        match args.next()?.as_str() {
            option if TAKE_VALUE.contains(&option) => drop(args.next()?),
            option if option.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

/// The same of a line: what is open to one of its commands is open to all. So nothing is where
/// another opens files; a file that is closed then may be called changed.
fn git_access_of_line(script: &ShellScript) -> (bool, bool) {
    let gits: Vec<(bool, bool)> = script
        .commands()
        .filter_map(|command| command.launch.git.map(|first| git_access(&command.args, first)))
        .collect();
    let mut others = script.commands().filter(|command| command.launch.git.is_none());
    let opens = !others.any(|command| command.searches || safety::opens_named_files(command));
    let all_settings = gits.iter().all(|(_, settings)| *settings);
    let searches = script
        .commands()
        .any(|command| command.launch.git.is_some() && searches_contents(&command.args));
    let compares = gits.iter().any(|(compares, _)| *compares);
    (opens && compares && !searches, opens && !gits.is_empty() && all_settings)
}

/// Absolute paths among the arguments.
fn named_paths(judged: &Judgement) -> Vec<PathBuf> {
    let StepAction::Exec { args, .. } = &judged.step.work else { return Vec::new() };
    let words = args.iter().filter(|arg| !arg.starts_with('-') && !arg.is_empty());
    words.map(|arg| safety::absolute(arg, &judged.cwd, &judged.cwd)).collect()
}

fn not_applied(why: String) -> LocalizedText {
    phrases::NOT_APPLIED.with("why", why)
}
