//! The extensions of a session: read after it opened, checked again when a line is sent or a
//! frontend asks, and never in between. Reading runs in the background, so that no question and no
//! stop waits for it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::script_places::{FindScripts, ModelScript, ScriptPlaces, find_model_scripts};
use avocet_config::extensions::{ExtensionLibrary, SearchPath};
use avocet_core::protocol::{Provider, ScriptDetails};
use avocet_store::Store;

/// The folders to read; true: those of the project as well.
pub type FindPlaces = Arc<dyn Fn(bool) -> SearchPath + Send + Sync>;

/// The extensions, and the function that reads them again.
pub struct ExtensionCache {
    pub library: Arc<ExtensionLibrary>,
    places: FindPlaces,
    /// The script folders.
    pub(super) find_scripts: FindScripts,
    /// The script files that were there.
    pub(super) scripts: Arc<Scripts>,
    /// The store for the data that scripts save.
    pub(super) store: Store,
    /// A frontend waits for the answer, even if it is unchanged; at first every frontend does.
    pub(super) is_requested: bool,
    /// Counts the reads: the result of an outdated one is dropped.
    pub(super) scan_number: u64,
    /// The last read; `None`: its result was taken.
    pub(super) pending_scan: Option<JoinHandle<ExtensionScan>>,
    /// What the other sessions of this folder read.
    latest: Arc<LatestScan>,
}

/// How old a scan may be that a new session begins with.
const RECENT: Duration = Duration::from_secs(5);

/// The latest first scan of the sessions of a folder: many that begin at once read everything once.
#[derive(Debug, Default)]
pub struct LatestScan(Mutex<Option<(Instant, bool, ExtensionScan)>>);

impl LatestScan {
    fn recent(&self, trusted: bool) -> Option<ExtensionScan> {
        let latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, of, scan) = latest.as_ref()?;
        (at.elapsed() < RECENT && *of == trusted).then(|| scan.clone())
    }

    fn set(&self, trusted: bool, scan: ExtensionScan) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = Some((Instant::now(), trusted, scan));
    }
}

/// The result of a read; unchanged parts are shared with the one before.
#[derive(Clone, Debug)]
pub struct ExtensionScan {
    pub(super) library: Arc<ExtensionLibrary>,
    pub(super) scripts: Arc<Scripts>,
}

/// The scripts that a session knows.
#[derive(Debug, Default)]
pub struct Scripts {
    pub(super) places: ScriptPlaces,
    pub(super) names: Vec<String>,
    /// Scripts beyond the most that are listed.
    pub(super) more: usize,
    pub(super) details: Vec<ScriptDetails>,
    /// The scripts that the model may run.
    pub(super) model_scripts: Arc<Vec<ModelScript>>,
}

impl Scripts {
    /// Lists the current scripts. Blocks. Without `all`, it opens them only if the list of files
    /// changed.
    fn list(scripts: Arc<Scripts>, places: ScriptPlaces, cwd: &Path, all: bool) -> Arc<Scripts> {
        let (names, more) = places.names(cwd);
        if !all && (&scripts.places, &scripts.names, scripts.more) == (&places, &names, more) {
            return scripts;
        }
        let details = places.details(cwd, &names);
        let offered = Arc::new(find_model_scripts(&places));
        Arc::new(Scripts { places, names, more, details, model_scripts: offered })
    }
}

impl ExtensionCache {
    /// Nothing has been read yet.
    pub fn new(places: FindPlaces) -> ExtensionCache {
        ExtensionCache {
            library: Arc::default(),
            places,
            find_scripts: Arc::new(|_| ScriptPlaces::default()),
            scripts: Arc::default(),
            store: Store::in_memory(),
            is_requested: true,
            scan_number: 0,
            pending_scan: None,
            latest: Arc::default(),
        }
    }

    /// Begins with what another session of the same folder has just read.
    #[must_use]
    pub fn with_latest(self, latest: Arc<LatestScan>) -> ExtensionCache {
        ExtensionCache { latest, ..self }
    }

    /// Sets the script folders; without any, there are only the built-in scripts.
    #[must_use]
    pub fn with_scripts(self, find_scripts: FindScripts) -> ExtensionCache {
        ExtensionCache { find_scripts, ..self }
    }

    /// Sets the store for the data that scripts save.
    #[must_use]
    pub fn with_store(self, store: Store) -> ExtensionCache {
        ExtensionCache { store, ..self }
    }

    /// No extensions at all.
    pub fn empty() -> ExtensionCache {
        ExtensionCache::new(Arc::new(|_| SearchPath::default()))
    }

    /// The scripts that a model may run now; the guide has its own way.
    pub(super) fn scripts_for(&self, provider: Provider) -> Arc<Vec<ModelScript>> {
        match provider {
            Provider::Guide => Arc::default(),
            _ => Arc::clone(&self.scripts.model_scripts),
        }
    }

    /// Starts a read. `notify` gets its number and its result, for a session that does not wait.
    pub(super) fn start_scan(
        &mut self,
        trusted: bool,
        cwd: PathBuf,
        notify: impl FnOnce(u64, ExtensionScan) + Send + 'static,
    ) {
        let before = ExtensionScan {
            library: Arc::clone(&self.library),
            scripts: Arc::clone(&self.scripts),
        };
        let places = Arc::clone(&self.places);
        let find_scripts = Arc::clone(&self.find_scripts);

        let latest = (self.scan_number == 0).then(|| Arc::clone(&self.latest));
        self.scan_number += 1;
        let number = self.scan_number;
        let asked = self.is_requested;

        self.pending_scan = Some(tokio::task::spawn_blocking(move || {
            let shared = latest.as_ref().and_then(|latest| latest.recent(trusted));
            let asked = asked && shared.is_none();
            let before = shared.unwrap_or(before);
            let places = places(trusted);
            let same = *before.library.places() == places && before.library.is_current();
            let library =
                if same { before.library } else { Arc::new(ExtensionLibrary::load(&places)) };
            let all = asked || !same;
            let scripts = Scripts::list(before.scripts, find_scripts(trusted), &cwd, all);
            let scan = ExtensionScan { library, scripts };
            if let Some(latest) = latest {
                latest.set(trusted, scan.clone());
            }
            notify(number, scan.clone());
            scan
        }));
    }

    pub(super) fn is_same(&self, scan: &ExtensionScan) -> bool {
        Arc::ptr_eq(&scan.library, &self.library) && Arc::ptr_eq(&scan.scripts, &self.scripts)
    }
}
