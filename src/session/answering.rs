//! Changes which model answers: another model, another mode, the result of a search for models.

use super::run::Session;
use super::{FoundServer, Wanted, report};
use crate::protocol::{Event, Mode, Notice, Provider};
use crate::words::{Lang, session as words};

impl Session {
    pub(super) async fn set_model(&mut self, name: String) {
        let found = &self.voice.found;
        let here = &self.voice.connected.base_url;
        let found = found
            .iter()
            .find(|found| found.models.contains(&name))
            .or_else(|| found.iter().find(|found| found.base_url == *here))
            .cloned();
        if self.connect(Wanted::Model { name, found }).await {
            let notice = words::MODEL_SET.with("model", self.voice.connected.model.name());
            self.tell_facts().await;
            self.say(Notice::info(notice)).await;
        }
    }

    pub(super) async fn set_mode(&mut self, mode: Mode) {
        if self.connect(Wanted::Mode(mode)).await {
            self.facts.mode = mode;
            let notice = words::MODE_SET
                .with("mode", mode.name())
                .with("model", self.voice.connected.model.name());
            self.tell_facts().await;
            self.say(Notice::info(notice)).await;
        }
    }

    pub(super) async fn set_lang(&mut self, lang: Lang) {
        self.facts.lang = lang;
        if self.voice.connected.provider == Provider::Guide {
            self.connect(Wanted::Guide).await;
        }
        self.tell_facts().await;
    }

    async fn connect(&mut self, wanted: Wanted) -> bool {
        match (self.reach.connect)(&wanted, self.facts.lang) {
            Ok(connected) => {
                self.voice.connected = connected;
                true
            }
            Err(why) => {
                self.say(Notice::error(why)).await;
                false
            }
        }
    }

    pub(super) async fn found(&mut self, found: Vec<FoundServer>) {
        if found.is_empty() {
            return;
        }
        for one in &found {
            if let Some(notice) = report::offer(one) {
                self.say(notice).await;
            }
        }
        let names = found.iter().flat_map(|one| one.models.iter().cloned()).collect();
        self.voice.found = found;
        self.outbox.send(Event::Models { names }).await;
    }
}
