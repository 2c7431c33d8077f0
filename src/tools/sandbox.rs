//! Holds steps back that were judged harmless, in case the judgement was wrong.
//!
//! On Linux Landlock and seccomp are put around a short-lived thread, which then starts
//! the program: both pass on to children and nothing but that thread is touched. macOS
//! has `sandbox-exec` for it. Nothing else needs to be installed.
//!
//! | | a step that runs by itself (L0) | an approved one, where the settings say so |
//! |---|---|---|
//! | writes | its own temporary folder, `/dev/null` | that, the workspace, terminals |
//! | modes, owners, times | none | free |
//! | sockets | none | where the step's effects name the network |
//! | reads | all but known places of credentials | all |
//! | starts | programs of the system and the trusted folders | all |
//! | other processes | not traced, not signalled | not traced |
//!
//! Not held: names of files, which may be listed everywhere; credentials inside the
//! workspace, which the policy knows by their names; use of processor, memory and
//! disk; on Linux before 6.12 signals; in approved steps modes and owners of files
//! elsewhere that belong to the user. That it holds is tried out, not assumed.
//!
//! Not in here: which step is held for what reason (`safety` judged it) and how it is
//! started (`exec`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::temp::{RunFolder, TempFolder};
use crate::protocol::{Effect, Risk, Row, Sandboxing, Shelter, Tier};
use crate::words::{Say, Value, Word, sandbox as words};

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/no_kernel.rs"]
mod kernel;
mod places;
mod probe;
mod profile;

pub use places::Places;

use kernel::{Kernel, Reading, Writing};

/// The sandbox of a session.
#[derive(Debug)]
pub struct Sandbox {
    setting: Sandboxing,
    places: Places,
    found: OnceLock<Found>,
    /// Where steps get folders of their own.
    temp: Arc<RunFolder>,
    /// The layer for reading, made anew when a folder it was made from changed.
    reading: Mutex<Option<Arc<Reading>>>,
}

/// How much a step is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strict {
    /// It reads, and that is all.
    Alone,
    Approved {
        network: bool,
    },
}

/// What trying it out came to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Works(Means),
    Absent(Say),
}

/// What it is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Kernel(Kernel),
    Program,
}

/// What a started step lives in.
#[derive(Debug)]
pub struct Inside {
    /// Its own folder, gone with this value.
    temp: TempFolder,
    /// The program that holds it, with the arguments that come first.
    pub wrapper: Option<(PathBuf, Vec<String>)>,
}

impl Inside {
    pub fn temp(&self) -> &Path {
        self.temp.path()
    }
}

impl Sandbox {
    pub fn new(setting: Sandboxing, places: Places) -> Sandbox {
        let (found, reading) = (OnceLock::new(), Mutex::new(None));
        Sandbox { setting, places, found, temp: Arc::default(), reading }
    }

    /// The same with the steps' folders in this run's.
    pub fn within(self, temp: Arc<RunFolder>) -> Sandbox {
        Sandbox { temp, ..self }
    }

    /// One that holds nothing.
    pub fn off() -> Sandbox {
        Sandbox::new(Sandboxing::Off, Places::default())
    }

    /// One as on a system that has none, and why it has none.
    pub fn lacking(setting: Sandboxing, why: Word) -> Sandbox {
        let found = OnceLock::from(Found::Absent(why.into()));
        Sandbox { found, ..Sandbox::new(setting, Places::default()) }
    }

    /// Whether steps are held, tried out at the first call: a few milliseconds, blocking.
    pub fn shelter(&self) -> Shelter {
        match (self.setting, self.found()) {
            (Sandboxing::Off, _) => Shelter::Off,
            (_, Found::Works(_)) => Shelter::Held,
            (Sandboxing::All, Found::Absent(_)) => Shelter::Missing,
            (_, Found::Absent(_)) => Shelter::Absent,
        }
    }

    /// Whether a held step's signals reach only processes of its own.
    pub fn holds_signals(&self) -> bool {
        match self.found() {
            Found::Works(Means::Kernel(kernel)) => kernel.holds_signals(),
            Found::Works(Means::Program) | Found::Absent(_) => false,
        }
    }

    /// What `doctor` shows. Blocks as [`Sandbox::shelter`] does.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = vec![Row::heading(words::DOCTOR)];
        match (self.setting, self.found()) {
            (Sandboxing::Off, _) => rows.push(Row::pair(words::DOCTOR_L0, words::SET_OFF)),
            (_, Found::Absent(why)) => {
                rows.push(Row::pair(words::DOCTOR_L0, words::ABSENT.with("why", why.clone())));
            }
            (setting, Found::Works(means)) => {
                let approved = match setting {
                    Sandboxing::All => words::HELD_L1,
                    Sandboxing::Auto | Sandboxing::Off => words::FREE_L1,
                };
                rows.push(Row::pair(words::DOCTOR_L0, words::HELD));
                rows.push(Row::pair(words::DOCTOR_L1, approved));
                rows.extend(self.means(*means));
            }
        }
        rows
    }

    fn means(&self, means: Means) -> Vec<Row> {
        let Means::Kernel(kernel) = means else {
            return vec![Row::pair(words::DOCTOR_KERNEL, words::SEATBELT)];
        };
        let hidden = self.reading().is_ok_and(|reading| reading.trees.all_hidden);
        let secrets = if hidden { words::SECRETS_HIDDEN } else { words::SECRETS_PARTLY };
        let signals =
            if kernel.holds_signals() { words::SIGNALS_HELD } else { words::SIGNALS_FREE };
        let version: Value = words::KERNEL.with("abi", kernel.abi().to_string()).into();
        vec![
            Row::pair(words::DOCTOR_KERNEL, version),
            Row::pair(words::DOCTOR_SECRETS, secrets),
            Row::pair(words::DOCTOR_SIGNALS, signals),
        ]
    }

    fn found(&self) -> &Found {
        self.found.get_or_init(|| match self.setting {
            // Nobody asks it to hold anything.
            Sandboxing::Off => Found::Absent(words::SET_OFF.into()),
            Sandboxing::Auto | Sandboxing::All => probe::tried(self),
        })
    }

    /// How this step is to be held; `None`: it is not.
    fn strict(&self, risk: &Risk) -> Option<Strict> {
        match (self.setting, risk.tier) {
            (Sandboxing::Off, _) | (Sandboxing::Auto, Tier::L1 | Tier::L2) => None,
            (Sandboxing::Auto | Sandboxing::All, Tier::L0) => Some(Strict::Alone),
            (Sandboxing::All, Tier::L1 | Tier::L2) => {
                Some(Strict::Approved { network: risk.effects.contains(&Effect::Network) })
            }
        }
    }

    /// Starts a step: calls `start` where what it starts is held, and answers with what
    /// that gave and what the step lives in. An error says why nothing was started.
    pub async fn start<T: Send + 'static>(
        self: Arc<Self>,
        risk: &Risk,
        start: impl FnOnce(Option<&Inside>) -> T + Send + 'static,
    ) -> Result<(T, Option<Inside>), Say> {
        let Some(strict) = self.strict(risk) else {
            let inside = self.bare(risk)?;
            return Ok((start(inside.as_ref()), inside));
        };
        // A person saw that nothing would hold it.
        let unheld = risk.reasons.iter().any(|reason| reason.rule == UNHELD);
        let runtime = tokio::runtime::Handle::current();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let thread = std::thread::Builder::new().name("sandbox".into());
        let spawned = thread.spawn(move || {
            let _runtime = runtime.enter();
            let inside = self.enter(strict, unheld);
            // Whoever waited may be gone; then the step is dropped here, and ends.
            let _ = sender.send(inside.map(|inside| (start(inside.as_ref()), inside)));
        });
        spawned.map_err(|error| not_applied(error.to_string()))?;
        receiver.await.unwrap_or_else(|_| Err(not_applied("it broke off".to_owned())))
    }

    /// Holds the calling thread; `None`: this system cannot, and need not.
    fn enter(&self, strict: Strict, unheld: bool) -> Result<Option<Inside>, Say> {
        match self.found() {
            Found::Works(means) => {
                let temp = self.folder()?;
                self.hold(*means, strict, temp).map(Some).map_err(not_applied)
            }
            Found::Absent(_) if self.setting == Sandboxing::Auto => self.own_folder().map(Some),
            Found::Absent(_) if unheld => Ok(None),
            Found::Absent(why) => Err(words::REQUIRED.with("why", why.clone())),
        }
    }

    /// What a step that runs by itself has where nothing holds it: a folder of its own.
    fn bare(&self, risk: &Risk) -> Result<Option<Inside>, Say> {
        match risk.tier {
            Tier::L0 => self.own_folder().map(Some),
            Tier::L1 | Tier::L2 => Ok(None),
        }
    }

    fn own_folder(&self) -> Result<Inside, Say> {
        Ok(Inside { temp: self.folder()?, wrapper: None })
    }

    fn folder(&self) -> Result<TempFolder, Say> {
        self.temp.folder(STEP).map_err(|error| error.say())
    }

    fn hold(&self, means: Means, strict: Strict, temp: TempFolder) -> Result<Inside, String> {
        let wrapper = match means {
            Means::Program => Some(self.wrapper(temp.path(), strict)),
            Means::Kernel(kernel) => {
                let workspace = self.places.workspace.as_path();
                let (reading, trees) = match strict {
                    Strict::Alone => (Some(self.reading()?), vec![temp.path()]),
                    Strict::Approved { .. } => (None, vec![temp.path(), workspace]),
                };
                kernel::restrict(kernel, reading.as_deref(), &Writing { trees: &trees, strict })?;
                None
            }
        };
        Ok(Inside { temp, wrapper })
    }

    fn wrapper(&self, temp: &Path, strict: Strict) -> (PathBuf, Vec<String>) {
        let (writes, network) = match strict {
            Strict::Alone => (Vec::new(), false),
            Strict::Approved { network } => (vec![self.places.workspace.clone()], network),
        };
        let temp = temp.canonicalize().unwrap_or_else(|_| temp.to_owned());
        let reads_all = strict != Strict::Alone;
        let bounds = profile::Bounds { temp: &temp, writes: &writes, network, reads_all };
        let text = profile::profile(&self.places, &bounds);
        (profile::PROGRAM.into(), vec!["-p".to_owned(), text])
    }

    fn reading(&self) -> Result<Arc<Reading>, String> {
        // A thread that broke off while it held this left either value whole.
        let mut kept = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = kept.as_ref().filter(|reading| reading.trees.is_fresh()) {
            return Ok(Arc::clone(reading));
        }
        let made = Arc::new(kernel::reading(places::Trees::of(&self.places))?);
        *kept = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// The rule that says so: see `safety`.
const UNHELD: &str = "sandbox.absent";

/// The folders of steps begin with it.
const STEP: &str = "step";

fn not_applied(why: String) -> Say {
    words::NOT_APPLIED.with("why", why)
}
