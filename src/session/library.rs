//! What people keep, as a session knows it: read after it opened, looked at again when a
//! line is sent and when somebody asks, and never in between. Reading is done aside, so
//! that no question and no stop waits for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::Persona;
use super::host::Note;
use super::offered::{self, Offered};
use super::run::Session;
use super::script::{FindScripts, ScriptPlaces};
use super::turns::Words;
use crate::library::{Library, Places, fill};
use crate::protocol::{Catalogue, Event, Mention, Notice, Op};
use crate::store::Store;
use crate::words::{Spoken, session as words};

/// The folders to look into; true: those of the project as well.
pub type FindPlaces = Arc<dyn Fn(bool) -> Places + Send + Sync>;

/// The library and the way to read it again.
pub struct Kept {
    pub library: Arc<Library>,
    places: FindPlaces,
    /// Where scripts lie.
    pub(super) find_scripts: FindScripts,
    /// Those that lay there.
    pub(super) scripts: Arc<Scripts>,
    /// What scripts remember.
    pub(super) store: Store,
    /// Somebody waits for the answer, also if it is the same; at first everybody does.
    asked: bool,
    /// Counts the looks: one that was overtaken brings nothing.
    number: u64,
    /// The last look; `None`: it was taken in.
    looking: Option<JoinHandle<Looked>>,
}

/// What a look found; what did not change is the same as before.
#[derive(Clone, Debug)]
pub struct Looked {
    library: Arc<Library>,
    scripts: Arc<Scripts>,
}

/// The scripts a session knows of.
#[derive(Debug, Default)]
pub struct Scripts {
    pub(super) places: ScriptPlaces,
    names: Vec<String>,
    /// What can be given to each that takes something.
    inputs: Vec<(String, Vec<String>)>,
    /// Those the model may run by itself.
    pub(super) offered: Arc<Vec<Offered>>,
}

impl Scripts {
    /// Those that lie there now. Blocks. Without `all`, they are opened only when others lie
    /// there than before.
    fn read(before: Arc<Scripts>, places: ScriptPlaces, cwd: &Path, all: bool) -> Arc<Scripts> {
        let names = places.names(cwd);
        if !all && before.places == places && before.names == names {
            return before;
        }
        let inputs = places.inputs(cwd, &names);
        let offered = Arc::new(offered::all(&places));
        Arc::new(Scripts { places, names, inputs, offered })
    }
}

impl Kept {
    /// Nothing is read yet.
    pub fn new(places: FindPlaces) -> Kept {
        Kept {
            library: Arc::default(),
            places,
            find_scripts: Arc::new(|_| ScriptPlaces::default()),
            scripts: Arc::default(),
            store: Store::in_memory(),
            asked: true,
            number: 0,
            looking: None,
        }
    }

    /// Scripts are looked for here; else there are only the built-in ones.
    #[must_use]
    pub fn with_scripts(self, find_scripts: FindScripts) -> Kept {
        Kept { find_scripts, ..self }
    }

    /// What scripts remember lies here.
    #[must_use]
    pub fn remembering(self, store: Store) -> Kept {
        Kept { store, ..self }
    }

    /// Nothing is kept anywhere.
    pub fn nothing() -> Kept {
        Kept::new(Arc::new(|_| Places::default()))
    }

    /// Begins a look. What comes of it is also noted, for a session that does not wait.
    fn look(&mut self, trusted: bool, cwd: PathBuf, notes: &UnboundedSender<Note>) {
        let before =
            Looked { library: Arc::clone(&self.library), scripts: Arc::clone(&self.scripts) };
        let (places, find_scripts) = (Arc::clone(&self.places), Arc::clone(&self.find_scripts));
        self.number += 1;
        let (notes, number, asked) = (notes.clone(), self.number, self.asked);
        self.looking = Some(tokio::task::spawn_blocking(move || {
            let places = places(trusted);
            let same = *before.library.places() == places && before.library.is_current();
            let library = match same {
                true => before.library,
                false => Arc::new(Library::load(&places)),
            };
            let all = asked || !same;
            let scripts = Scripts::read(before.scripts, find_scripts(trusted), &cwd, all);
            let looked = Looked { library, scripts };
            // A session that is gone needs no library.
            let _ = notes.send(Note::Looked { number, looked: looked.clone() });
            looked
        }));
    }

    fn has(&self, looked: &Looked) -> bool {
        Arc::ptr_eq(&looked.library, &self.library) && Arc::ptr_eq(&looked.scripts, &self.scripts)
    }
}

/// How long a session leaves the machine to the first frame and the first keys before it
/// reads what people keep, unless that is wanted sooner.
const AFTER: Duration = Duration::from_millis(60);

impl Session {
    /// Has the first look begin when the start is over.
    pub(super) fn look_soon(&self) {
        let notes = self.notes.clone();
        tokio::spawn(async move {
            tokio::time::sleep(AFTER).await;
            // A session that is gone needs no library.
            let _ = notes.send(Note::LookNow);
        });
    }

    /// The start is over: looks, unless somebody wanted that before.
    pub(super) fn look_now(&mut self) {
        if self.voice.kept.number == 0 {
            self.look();
        }
    }

    /// Looks whether anything changed; the answer comes as a note.
    pub(super) fn look(&mut self) {
        let place = &self.guard.place;
        self.voice.kept.look(place.trusted, place.cwd.clone(), &self.notes);
    }

    /// Looks and waits: what is sent now is sent with what is kept now.
    pub(super) async fn look_first(&mut self) {
        // One that is on its way, as when the session has just opened, is fresh enough.
        if self.voice.kept.looking.is_none() {
            self.look();
        }
        let looked = match self.voice.kept.looking.take() {
            Some(looking) => looking.await.ok(),
            None => None,
        };
        if let Some(looked) = looked {
            self.take(looked).await;
        }
    }

    /// What a look brought.
    pub(super) async fn looked(&mut self, number: u64, looked: Looked) {
        if number == self.voice.kept.number && self.voice.kept.looking.take().is_some() {
            self.take(looked).await;
        }
    }

    /// It is told when it is new, or when somebody asked.
    async fn take(&mut self, looked: Looked) {
        let kept = &mut self.voice.kept;
        if !std::mem::take(&mut kept.asked) && kept.has(&looked) {
            return;
        }
        let Looked { library, scripts } = looked;
        let (names, inputs) = (scripts.names.clone(), scripts.inputs.clone());
        let catalogue = Box::new(Catalogue { scripts: names, inputs, ..library.catalogue() });
        (kept.library, kept.scripts) = (library, scripts);
        let tools = self.toolbox().facts();
        if tools != self.facts.tools {
            self.facts.tools = tools;
            self.tell_facts().await;
        }
        self.outbox.send(Event::Catalogue(catalogue)).await;
    }

    /// The ops that are about what people keep.
    pub(super) async fn of_library(&mut self, op: Op) {
        match op {
            Op::SetBot { name } => self.set_bot(name).await,
            Op::Invoke { name, args, mentions } => self.invoke(&name, &args, mentions).await,
            _ => {
                self.voice.kept.asked = true;
                self.look();
            }
        }
    }

    /// Another bot, from the next turn on.
    async fn set_bot(&mut self, name: Option<String>) {
        self.look_first().await;
        let Some(name) = name else {
            self.voice.persona = Persona::default();
            self.facts.bot = None;
            self.tell_facts().await;
            return self.say(Notice::info(words::BOT_LEFT)).await;
        };
        let library = Arc::clone(&self.voice.kept.library);
        match library.bot(&name) {
            Err(absent) => self.say(Notice::error(absent.say())).await,
            Ok(bot) => {
                let prompt = Some(bot.system_prompt.clone());
                self.voice.persona = Persona { prompt, params: bot.params.clone() };
                self.facts.bot = Some(name.clone());
                self.tell_facts().await;
                self.say(Notice::info(words::BOT_SET.with("name", name))).await;
            }
        }
    }

    /// A command or a skill, filled with the file as it is now.
    async fn invoke(&mut self, name: &str, args: &str, mentions: Vec<Mention>) {
        self.look_first().await;
        match fill::by_name(&self.voice.kept.library, name, args) {
            Ok(mut prompt) => {
                prompt.attach(mentions);
                self.submit(Words::Prompt(Box::new(prompt))).await;
            }
            Err(why) => self.say(Notice::error(why)).await,
        }
    }
}
