//! What people keep, as a session knows it: read after it opened, looked at again when a
//! line is sent and when somebody asks, and never in between. Reading is done aside, so
//! that no question and no stop waits for it.

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
    pub(super) scripts: FindScripts,
    /// What scripts remember.
    pub(super) store: Store,
    /// Scripts the model may run by itself.
    pub(super) offered: Arc<Vec<Offered>>,
    /// Somebody waits for the answer, also if it is the same; at first everybody does.
    asked: bool,
    /// Counts the looks: one that was overtaken brings nothing.
    number: u64,
    /// The last look; `None`: it was taken in.
    looking: Option<JoinHandle<Arc<Library>>>,
}

impl Kept {
    /// Nothing is read yet.
    pub fn new(places: FindPlaces) -> Kept {
        let scripts: FindScripts = Arc::new(|_| ScriptPlaces::default());
        Kept {
            library: Arc::default(),
            places,
            scripts,
            store: Store::in_memory(),
            offered: Arc::default(),
            asked: true,
            number: 0,
            looking: None,
        }
    }

    /// Scripts are looked for here; else there are only the built-in ones.
    #[must_use]
    pub fn with_scripts(self, scripts: FindScripts) -> Kept {
        Kept { scripts, ..self }
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
    fn look(&mut self, trusted: bool, notes: &UnboundedSender<Note>) {
        let (before, places) = (Arc::clone(&self.library), Arc::clone(&self.places));
        self.number += 1;
        let (notes, number) = (notes.clone(), self.number);
        self.looking = Some(tokio::task::spawn_blocking(move || {
            let places = places(trusted);
            let same = *before.places() == places && before.is_current();
            let library = if same { before } else { Arc::new(Library::load(&places)) };
            // A session that is gone needs no library.
            let _ = notes.send(Note::Library { number, library: Arc::clone(&library) });
            library
        }));
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
        let trusted = self.guard.place.trusted;
        self.voice.kept.look(trusted, &self.notes);
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
        // The first look is taken in whatever it brings: scripts are read with it.
        let kept = &self.voice.kept;
        let is_new = |it: &Arc<Library>| kept.asked || !Arc::ptr_eq(it, &kept.library);
        if let Some(library) = looked.filter(is_new) {
            self.take_library(library).await;
        }
    }

    /// What a look brought. It is told when it is new, or when somebody asked.
    pub(super) async fn library_came(&mut self, number: u64, library: Arc<Library>) {
        if number != self.voice.kept.number {
            return;
        }
        self.voice.kept.looking = None;
        if self.voice.kept.asked || !Arc::ptr_eq(&library, &self.voice.kept.library) {
            self.take_library(library).await;
        }
    }

    async fn take_library(&mut self, library: Arc<Library>) {
        self.voice.kept.asked = false;
        let (places, cwd) = (self.script_places(), self.guard.place.cwd.clone());
        let read = move || {
            let names = places.names(&cwd);
            let inputs = places.inputs(&cwd, &names);
            (names, inputs, offered::all(&places))
        };
        let (scripts, inputs, offered) =
            tokio::task::spawn_blocking(read).await.unwrap_or_default();
        self.voice.kept.offered = Arc::new(offered);
        let catalogue = Box::new(Catalogue { scripts, inputs, ..library.catalogue() });
        self.voice.kept.library = library;
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
