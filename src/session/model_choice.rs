//! Changes which model answers: another model, another mode, the result of a search for models.

use super::state::Session;
use super::{FoundServer, Wanted, pages};
use crate::i18n::{Lang, session as words};
use crate::protocol::{Event, Mode, Notice, Provider};

impl Session {
    pub(super) async fn set_model(&mut self, name: String) {
        let found = &self.responder.found_servers;
        let here = &self.responder.connected.base_url;
        let found = found
            .iter()
            .find(|found| found.models.contains(&name))
            .or_else(|| found.iter().find(|found| found.base_url == *here))
            .cloned();
        if self.connect(Wanted::Model { name, found }).await {
            let notice = words::MODEL_SET.with("model", self.responder.connected.model.name());
            self.send_info().await;
            self.notify(Notice::info(notice)).await;
        }
    }

    pub(super) async fn set_mode(&mut self, mode: Mode) {
        if self.connect(Wanted::Mode(mode)).await {
            self.info.mode = mode;
            let notice = words::MODE_SET
                .with("mode", mode.name())
                .with("model", self.responder.connected.model.name());
            self.send_info().await;
            self.notify(Notice::info(notice)).await;
        }
    }

    pub(super) async fn set_lang(&mut self, lang: Lang) {
        self.info.lang = lang;
        if self.responder.connected.provider == Provider::Guide {
            self.connect(Wanted::Guide).await;
        }
        self.send_info().await;
    }

    async fn connect(&mut self, wanted: Wanted) -> bool {
        match (self.callbacks.connect)(&wanted, self.info.lang) {
            Ok(connected) => {
                self.responder.connected = connected;
                true
            }
            Err(why) => {
                self.notify(Notice::error(why)).await;
                false
            }
        }
    }

    pub(super) async fn set_found_servers(&mut self, found: Vec<FoundServer>) {
        if found.is_empty() {
            return;
        }
        for one in &found {
            if let Some(notice) = pages::found_server_notice(one) {
                self.notify(notice).await;
            }
        }
        let names = found.iter().flat_map(|one| one.models.iter().cloned()).collect();
        self.responder.found_servers = found;
        self.outbox.send(Event::Models { names }).await;
    }
}
