//! Changes which model answers: another model, another mode, the result of a search for models.

use super::state::Session;
use super::turn_messages::TurnMessage;
use super::{Connected, FoundModelServer, Wanted, pages};
use avocet_core::i18n::{Lang, LocalizedText, session as phrases};
use avocet_core::protocol::{
    Dialect, Effort, Event, Mode, ModelOffer, Notice, Provider, effort_names,
};

impl Session {
    pub(super) async fn set_model(&mut self, name: String) {
        let found = &self.responder.found_servers;
        let here = &self.responder.connected.base_url;
        let found = found
            .iter()
            .find(|found| found.models.contains(&name))
            .or_else(|| found.iter().find(|found| found.base_url == *here))
            .cloned();
        self.switch_model(name, found).await;
    }

    /// Goes on with the first model of a server that the user connected to.
    pub(super) async fn connect_server(&mut self, server: FoundModelServer) {
        let Some(name) = server.models.first().cloned() else { return };
        // Connecting saved it as a profile: what the user chose counts, and not that once more.
        self.reload_settings().await;
        self.responder.found_servers.retain(|known| known.base_url != server.base_url);
        self.responder.found_servers.push(server.clone());
        let before = self.responder.connected.clone();
        // The profile may have led there already, which was reported.
        let is_there = before.base_url == server.base_url && before.model.name() == name;
        let model = Wanted::Model { name, found: Some(server) };
        if self.connect(model).await && !is_there {
            self.announce_switch(&before).await;
        }
    }

    async fn switch_model(&mut self, name: String, found: Option<FoundModelServer>) {
        let before = self.responder.connected.clone();
        if self.connect(Wanted::Model { name, found }).await {
            self.announce_switch(&before).await;
        }
    }

    /// Says which model answers from now on.
    pub(super) async fn announce_switch(&mut self, connected: &Connected) {
        let now = &self.responder.connected;
        let is_same = connected.base_url == now.base_url
            && connected.provider == now.provider
            && connected.model.dialect() == now.model.dialect();
        let say = match (now.model.dialect(), now.base_url.as_str()) {
            _ if is_same => phrases::MODEL_SET.into(),
            (_, "") => phrases::MODEL_SET.into(),
            (Dialect::Tools, url) => phrases::MODEL_SET_TOOLS.with("url", url),
            (Dialect::Json, url) => phrases::MODEL_SET_JSON.with("url", url),
        };
        let notice = say.with("provider", now.provider.name()).with("model", now.model.name());
        self.announce_model(notice).await;
    }

    pub(super) async fn set_mode(&mut self, mode: Mode) {
        if self.connect(Wanted::Mode(mode)).await {
            self.info.mode = mode;
            let notice = phrases::MODE_SET
                .with("mode", mode.name())
                .with("model", self.responder.connected.model.name());
            self.announce_model(notice).await;
        }
    }

    async fn announce_model(&mut self, notice: LocalizedText) {
        self.send_info().await;
        self.notify(Notice::info(notice)).await;
        if let Some(notice) = self.effort_mismatch() {
            self.notify(notice).await;
        }
    }

    pub(super) async fn set_effort(&mut self, effort: Option<Effort>) {
        self.responder.effort = effort;
        self.send_info().await;
        let notice = self.effort_mismatch().unwrap_or_else(|| {
            Notice::info(match effort {
                Some(level) => phrases::EFFORT_SET.with("level", level.name()),
                None => phrases::EFFORT_AUTO.into(),
            })
        });
        self.notify(notice).await;
    }

    /// What is known of the first model has been read.
    pub(super) async fn set_effort_levels(&mut self, levels: Option<Vec<Effort>>) {
        let shows = levels.as_ref().is_none_or(|levels| !levels.is_empty());
        self.responder.effort_levels = levels;
        if let Some(notice) = self.effort_mismatch() {
            self.notify(notice).await;
        }
        if shows
            && self.info.effort_levels != self.responder.effort_levels.clone().unwrap_or_default()
        {
            self.send_info().await;
        }
    }

    /// What to say if the model does not reason as much as the user wants.
    fn effort_mismatch(&self) -> Option<Notice> {
        let wanted = self.responder.effort?;
        let model = self.responder.connected.model.name();

        let say = match &self.responder.effort_levels {
            None => phrases::EFFORT_UNKNOWN.into(),
            Some(levels) => match self.responder.effort_in_use() {
                Some(used) if used == wanted => return None,
                Some(used) => phrases::EFFORT_NEAREST
                    .with("used", used.name())
                    .with("levels", effort_names(levels)),
                None => phrases::EFFORT_NONE.into(),
            },
        };
        Some(Notice::warning(say.with("model", model).with("level", wanted.name())))
    }

    pub(super) async fn set_lang(&mut self, lang: Lang) {
        self.info.lang = lang;
        if self.responder.connected.provider == Provider::Guide {
            self.connect(Wanted::Guide).await;
        }
        self.send_info().await;
    }

    pub(super) async fn connect(&mut self, wanted: Wanted) -> bool {
        match (self.callbacks.connect)(&wanted, self.info.lang) {
            Ok(connected) => {
                self.responder.effort_levels = connected.model.effort_levels();
                self.responder.connected = connected;
                self.responder.wanted = wanted;
                self.learn_of_model();
                true
            }
            Err(why) => {
                self.notify(Notice::error(why)).await;
                false
            }
        }
    }

    /// Asks the server what it says of the model, while the user types or the model answers.
    pub(super) fn learn_of_model(&self) {
        let learning = self.responder.connected.model.learn();
        let to = self.turn_messages.clone();

        drop(tokio::spawn(async move {
            learning.await;
            // A closed session needs no name.
            let _ = to.send(TurnMessage::ModelLearned);
        }));
    }

    /// A model without a name in the settings has one once its server was asked, and with it a
    /// price.
    pub(super) async fn refresh_model_name(&mut self) {
        let model = &self.responder.connected.model;
        if self.info.model != model.name() || self.info.prices != model.prices() {
            self.send_info().await;
        }
    }

    /// A limit in money counts nothing where the model has no price.
    pub(super) async fn warn_of_unknown_price(&mut self) {
        let model = &self.responder.connected.model;
        let limits = self.info.spend_limits;
        let is_limited =
            [limits.turn, limits.session, limits.run].iter().any(|limit| limit.cost.is_some());
        if is_limited && model.prices().is_none() && !self.is_price_reported {
            self.is_price_reported = true;
            let say = phrases::COST_UNKNOWN.with("model", model.name());
            self.notify(Notice::warning(say).with_hint(phrases::COST_UNKNOWN_HINT)).await;
        }
    }

    pub(super) async fn set_found_servers(&mut self, found: Vec<FoundModelServer>) {
        if found.is_empty() {
            return;
        }
        for one in &found {
            if let Some(notice) = pages::found_server_notice(one) {
                self.notify(notice).await;
            }
        }
        let offers: Vec<ModelOffer> = found
            .iter()
            .flat_map(|one| {
                let provider = &one.name;
                let offer = |name: &String| ModelOffer {
                    provider: provider.clone(),
                    ..name.as_str().into()
                };
                one.models.iter().map(offer)
            })
            .collect();
        let names = offers.iter().map(|offer| offer.name.clone()).collect();
        self.responder.found_servers = found;
        self.outbox.send(Event::Models { names, offers }).await;
    }
}
