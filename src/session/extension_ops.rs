//! Keeps a session's extensions up to date, and carries out the ops about them.

use std::sync::Arc;
use std::time::Duration;

use super::Persona;
use super::extensions::ExtensionScan;
use super::state::Session;
use super::turn_messages::TurnMessage;
use super::user_input::UserInput;
use crate::extensions::expand;
use crate::i18n::{Localize, session as words};
use crate::protocol::{Event, Extensions, Mention, Notice};

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
        let notes = self.turn_messages.clone();
        self.responder.extensions.start_scan(
            place.trusted,
            place.cwd.clone(),
            move |number, looked| {
                // A closed session needs no extensions.
                let _ = notes.send(TurnMessage::ExtensionsScanned { number, looked });
            },
        );
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
        let more = (scripts.more != kept.scripts.more).then_some(scripts.more);
        (kept.library, kept.scripts) = (library, scripts);
        let tools = self.toolbox().tool_infos();
        if tools != self.info.tools {
            self.info.tools = tools;
            self.send_info().await;
        }
        self.outbox.send(Event::Catalogue(catalogue)).await;
        if let Some(more) = more.filter(|more| *more > 0) {
            self.notify(Notice::info(words::MORE_SCRIPTS.with("n", more))).await;
        }
    }

    /// A frontend asks for the extensions.
    pub(super) fn send_extensions(&mut self) {
        self.responder.extensions.is_requested = true;
        self.refresh();
    }

    /// Switches to another bot, from the next turn on.
    pub(super) async fn set_bot(&mut self, name: Option<String>) {
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
    pub(super) async fn invoke(&mut self, name: &str, args: &str, mentions: Vec<Mention>) {
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
