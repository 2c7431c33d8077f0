//! The extensions of a session: read after it opened, checked again when a line is sent or a
//! frontend asks, and never in between. Reading runs in the background, so that no question and no
//! stop waits for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::Persona;
use super::queue::UserInput;
use super::script_tool::{self, ModelScript};
use super::script_turn::{FindScripts, ScriptPlaces};
use super::state::Session;
use super::turn_host::TurnMessage;
use crate::extensions::{ExtensionSet, SearchPath, expand};
use crate::i18n::{Localize, session as words};
use crate::protocol::{Event, Extensions, Mention, Notice, Op};
use crate::store::Store;

/// The folders to read; true: those of the project as well.
pub type FindPlaces = Arc<dyn Fn(bool) -> SearchPath + Send + Sync>;

/// The extensions, and the function that reads them again.
pub struct ExtensionCache {
    pub library: Arc<ExtensionSet>,
    places: FindPlaces,
    /// The script folders.
    pub(super) find_scripts: FindScripts,
    /// The script files that were there.
    pub(super) scripts: Arc<Scripts>,
    /// The store for the data that scripts save.
    pub(super) store: Store,
    /// A frontend waits for the answer, even if it is unchanged; at first every frontend does.
    is_requested: bool,
    /// Counts the reads: the result of an outdated one is dropped.
    scan_number: u64,
    /// The last read; `None`: its result was taken.
    pending_scan: Option<JoinHandle<ExtensionScan>>,
}

/// The result of a read; unchanged parts are shared with the one before.
#[derive(Clone, Debug)]
pub struct ExtensionScan {
    library: Arc<ExtensionSet>,
    scripts: Arc<Scripts>,
}

/// The scripts that a session knows.
#[derive(Debug, Default)]
pub struct Scripts {
    pub(super) places: ScriptPlaces,
    names: Vec<String>,
    /// The inputs of each script that takes any.
    inputs: Vec<(String, Vec<String>)>,
    /// The scripts that the model may run.
    pub(super) model_scripts: Arc<Vec<ModelScript>>,
}

impl Scripts {
    /// Lists the current scripts. Blocks. Without `all`, it opens them only if the list of files
    /// changed.
    fn list(before: Arc<Scripts>, places: ScriptPlaces, cwd: &Path, all: bool) -> Arc<Scripts> {
        let names = places.names(cwd);
        if !all && before.places == places && before.names == names {
            return before;
        }
        let inputs = places.inputs(cwd, &names);
        let offered = Arc::new(script_tool::find_model_scripts(&places));
        Arc::new(Scripts { places, names, inputs, model_scripts: offered })
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
        }
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

    /// Starts a read. Its result is also sent as a note, for a session that does not wait.
    fn start_scan(&mut self, trusted: bool, cwd: PathBuf, notes: &UnboundedSender<TurnMessage>) {
        let before = ExtensionScan {
            library: Arc::clone(&self.library),
            scripts: Arc::clone(&self.scripts),
        };
        let (places, find_scripts) = (Arc::clone(&self.places), Arc::clone(&self.find_scripts));
        self.scan_number += 1;
        let (notes, number, asked) = (notes.clone(), self.scan_number, self.is_requested);
        self.pending_scan = Some(tokio::task::spawn_blocking(move || {
            let places = places(trusted);
            let same = *before.library.places() == places && before.library.is_current();
            let library = match same {
                true => before.library,
                false => Arc::new(ExtensionSet::load(&places)),
            };
            let all = asked || !same;
            let scripts = Scripts::list(before.scripts, find_scripts(trusted), &cwd, all);
            let looked = ExtensionScan { library, scripts };
            // A closed session needs no extensions.
            let _ = notes.send(TurnMessage::ExtensionsScanned { number, looked: looked.clone() });
            looked
        }));
    }

    fn is_same(&self, looked: &ExtensionScan) -> bool {
        Arc::ptr_eq(&looked.library, &self.library) && Arc::ptr_eq(&looked.scripts, &self.scripts)
    }
}

/// How long a session leaves the machine to the first frame and the first keys before it reads the
/// extensions, unless they are needed sooner.
const AFTER: Duration = Duration::from_millis(60);

impl Session {
    /// Schedules the first read for after the start.
    pub(super) fn schedule_refresh(&self) {
        let notes = self.turn_messages.clone();
        tokio::spawn(async move {
            tokio::time::sleep(AFTER).await;
            // A closed session needs no extensions.
            let _ = notes.send(TurnMessage::RefreshExtensions);
        });
    }

    /// The start is over: reads, unless that was requested earlier.
    pub(super) fn refresh_now(&mut self) {
        if self.responder.extensions.scan_number == 0 {
            self.refresh();
        }
    }

    /// Checks for changes; the result comes as a note.
    pub(super) fn refresh(&mut self) {
        let place = &self.security.place;
        self.responder.extensions.start_scan(place.trusted, place.cwd.clone(), &self.turn_messages);
    }

    /// Reads and waits, so that a message is sent with the current extensions.
    pub(super) async fn refresh_and_wait(&mut self) {
        // A read that is already running, as right after the start, is recent enough.
        if self.responder.extensions.pending_scan.is_none() {
            self.refresh();
        }
        let looked = match self.responder.extensions.pending_scan.take() {
            Some(looking) => looking.await.ok(),
            None => None,
        };
        if let Some(looked) = looked {
            self.apply_scan(looked).await;
        }
    }

    /// Takes the result of a read.
    pub(super) async fn finish_refresh(&mut self, number: u64, looked: ExtensionScan) {
        if number == self.responder.extensions.scan_number
            && self.responder.extensions.pending_scan.take().is_some()
        {
            self.apply_scan(looked).await;
        }
    }

    /// Reports it if it is new or was requested.
    async fn apply_scan(&mut self, looked: ExtensionScan) {
        let kept = &mut self.responder.extensions;
        if !std::mem::take(&mut kept.is_requested) && kept.is_same(&looked) {
            return;
        }
        let ExtensionScan { library, scripts } = looked;
        let (names, inputs) = (scripts.names.clone(), scripts.inputs.clone());
        let catalogue = Box::new(Extensions { scripts: names, inputs, ..library.extensions() });
        (kept.library, kept.scripts) = (library, scripts);
        let tools = self.toolbox().tool_infos();
        if tools != self.info.tools {
            self.info.tools = tools;
            self.send_info().await;
        }
        self.outbox.send(Event::Catalogue(catalogue)).await;
    }

    /// The ops about extensions.
    pub(super) async fn handle_extension_op(&mut self, op: Op) {
        match op {
            Op::SetBot { name } => self.set_bot(name).await,
            Op::Invoke { name, args, mentions } => self.invoke(&name, &args, mentions).await,
            _ => {
                self.responder.extensions.is_requested = true;
                self.refresh();
            }
        }
    }

    /// Switches to another bot, from the next turn on.
    async fn set_bot(&mut self, name: Option<String>) {
        self.refresh_and_wait().await;
        let Some(name) = name else {
            self.responder.persona = Persona::default();
            self.info.bot = None;
            self.send_info().await;
            return self.notify(Notice::info(words::BOT_LEFT)).await;
        };
        let library = Arc::clone(&self.responder.extensions.library);
        match library.bot(&name) {
            Err(absent) => self.notify(Notice::error(absent.localized())).await,
            Ok(bot) => {
                let prompt = Some(bot.system_prompt.clone());
                self.responder.persona = Persona { prompt, params: bot.params.clone() };
                self.info.bot = Some(name.clone());
                self.send_info().await;
                self.notify(Notice::info(words::BOT_SET.with("name", name))).await;
            }
        }
    }

    /// Expands a command or a skill from the current file.
    async fn invoke(&mut self, name: &str, args: &str, mentions: Vec<Mention>) {
        self.refresh_and_wait().await;
        match expand::by_name(&self.responder.extensions.library, name, args) {
            Ok(mut prompt) => {
                prompt.attach(mentions);
                self.submit(UserInput::Prompt(Box::new(prompt))).await;
            }
            Err(why) => self.notify(Notice::error(why)).await,
        }
    }
}
