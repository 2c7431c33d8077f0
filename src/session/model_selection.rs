//! Which model answers, and how it is addressed: another model, another mode, the result of a search
//! for models.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use super::session_effects::{Effects, SessionEffect};
use super::settings::ReloadedModels;
use super::summarizer::Summarizer;
use super::turn_context::bounds_of_model;
use super::turn_messages::TurnMessage;
use super::{Connect, Connected, FoundModelServer, ModelAccess, Persona, Wanted};
use crate::context::window::Bounds;
use avocet_config::extensions::ExtensionLibrary;
use avocet_core::i18n::{Lang, Localize, LocalizedText, session as phrases};
use avocet_core::protocol::{
    Dialect, Effort, Event, Mode, ModelOffer, Notice, Provider, SessionInfo, effort_names,
};

/// The maximum number of model names in a notice.
const NAMED: usize = 6;

/// Which model answers, and how it is addressed.
pub struct ModelSelection {
    pub connected: Connected,
    /// What it was chosen by.
    wanted: Wanted,
    /// The level of reasoning that the user wants.
    pub effort: Option<Effort>,
    /// What its model says of that; see [`avocet_model::Model::effort_levels`].
    pub effort_levels: Option<Vec<Effort>>,
    pub persona: Persona,
    /// The result of a search for models.
    pub found_servers: Vec<FoundModelServer>,
    /// The limits of a request, whatever the model.
    pub usual_bounds: Bounds,
    connect: Connect,
    /// The user was warned that the price of the model is not known.
    is_price_reported: bool,
    messages: UnboundedSender<TurnMessage>,
}

impl ModelSelection {
    pub fn new(
        access: &ModelAccess,
        mode: Mode,
        persona: Persona,
        usual_bounds: Bounds,
        messages: UnboundedSender<TurnMessage>,
    ) -> ModelSelection {
        ModelSelection {
            wanted: match access.first.provider {
                Provider::Guide => Wanted::Guide,
                _ => Wanted::Mode(mode),
            },
            connected: access.first.clone(),
            effort: access.effort,
            effort_levels: Some(Vec::new()),
            persona,
            found_servers: Vec::new(),
            usual_bounds,
            connect: Arc::clone(&access.connect),
            is_price_reported: false,
            messages,
        }
    }

    /// The level that is asked for: the nearest one that the model has.
    pub fn effort_in_use(&self) -> Option<Effort> {
        let wanted = self.effort?;
        match &self.effort_levels {
            None => Some(wanted),
            Some(levels) => wanted.nearest(levels),
        }
    }

    /// The limits of the next request.
    pub fn request_bounds(&self) -> Bounds {
        bounds_of_model(&*self.connected.model, self.usual_bounds)
    }

    pub fn summarizer(&self, lang: Lang) -> Summarizer {
        Summarizer::new(&self.connect, &self.connected, lang)
    }

    pub fn set_model(&mut self, name: String, lang: Lang) -> Effects {
        let found = &self.found_servers;
        let here = &self.connected.base_url;
        let found = found
            .iter()
            .find(|found| found.models.contains(&name))
            .or_else(|| found.iter().find(|found| found.base_url == *here))
            .cloned();
        self.switch(Wanted::Model { name, found }, lang, |_, _| true)
    }

    /// Goes on with the first model of a server that the user connected to.
    pub fn connect_server(&mut self, server: FoundModelServer, lang: Lang) -> Effects {
        let Some(name) = server.models.first().cloned() else { return Vec::new() };
        self.found_servers.retain(|known| known.base_url != server.base_url);
        self.found_servers.push(server.clone());
        let base_url = server.base_url.clone();
        let model = Wanted::Model { name: name.clone(), found: Some(server) };
        // The profile may have led there already, which was reported.
        self.switch(model, lang, |before, _| {
            before.base_url != base_url || before.model.name() != name
        })
    }

    /// Goes on with the model of the settings if they name another one; otherwise with the one that
    /// answers now, reached again.
    pub fn apply_settings(&mut self, models: ReloadedModels, info: &mut SessionInfo) -> Effects {
        self.connect = models.connect;
        info.profile = models.profile;
        info.exposed = models.exposed;
        info.mode = models.mode.unwrap_or(info.mode);
        if let Some(effort) = models.effort {
            self.effort = effort;
        }
        let wanted = match models.wanted {
            Some(Wanted::Mode(_)) => Wanted::Mode(info.mode),
            Some(other) => other,
            None => self.wanted.clone(),
        };
        self.switch(wanted, info.lang, |before, now| {
            before.base_url != now.base_url
                || before.provider != now.provider
                || before.model.name() != now.model.name()
        })
    }

    /// Goes on with another model, and says which one where that is news.
    fn switch(
        &mut self,
        wanted: Wanted,
        lang: Lang,
        is_news: impl FnOnce(&Connected, &Connected) -> bool,
    ) -> Effects {
        let before = self.connected.clone();
        match self.connect(wanted, lang) {
            Err(why) => vec![Notice::error(why).into()],
            Ok(()) if is_news(&before, &self.connected) => self.announce(self.switched(&before)),
            Ok(()) => Vec::new(),
        }
    }

    /// Which model answers from now on.
    fn switched(&self, before: &Connected) -> LocalizedText {
        let now = &self.connected;
        let is_same = before.base_url == now.base_url
            && before.provider == now.provider
            && before.model.dialect() == now.model.dialect();
        let say = match (now.model.dialect(), now.base_url.as_str()) {
            _ if is_same => phrases::MODEL_SET.into(),
            (_, "") => phrases::MODEL_SET.into(),
            (Dialect::Tools, url) => phrases::MODEL_SET_TOOLS.with("url", url),
            (Dialect::Json, url) => phrases::MODEL_SET_JSON.with("url", url),
        };
        say.with("provider", now.provider.name()).with("model", now.model.name())
    }

    fn announce(&self, say: LocalizedText) -> Effects {
        let notices = std::iter::once(Notice::info(say)).chain(self.effort_mismatch());
        std::iter::once(SessionEffect::InfoChanged).chain(notices.map(Into::into)).collect()
    }

    pub fn set_mode(&mut self, mode: Mode, info: &mut SessionInfo) -> Effects {
        if let Err(why) = self.connect(Wanted::Mode(mode), info.lang) {
            return vec![Notice::error(why).into()];
        }
        info.mode = mode;
        let say = phrases::MODE_SET.with("mode", mode.name());
        self.announce(say.with("model", self.connected.model.name()))
    }

    pub fn set_lang(&mut self, lang: Lang, info: &mut SessionInfo) -> Effects {
        info.lang = lang;
        let mut effects = Vec::new();
        if self.connected.provider == Provider::Guide {
            effects.extend(self.switch(Wanted::Guide, lang, |_, _| false));
        }
        effects.push(SessionEffect::InfoChanged);
        effects
    }

    pub fn set_effort(&mut self, effort: Option<Effort>) -> Effects {
        self.effort = effort;
        let notice = self.effort_mismatch().unwrap_or_else(|| {
            Notice::info(match effort {
                Some(level) => phrases::EFFORT_SET.with("level", level.name()),
                None => phrases::EFFORT_AUTO.into(),
            })
        });
        vec![SessionEffect::InfoChanged, notice.into()]
    }

    /// What is known of the first model has been read.
    pub fn set_effort_levels(
        &mut self,
        levels: Option<Vec<Effort>>,
        info: &SessionInfo,
    ) -> Effects {
        let shows = levels.as_ref().is_none_or(|levels| !levels.is_empty());
        self.effort_levels = levels;
        let mut effects: Effects = self.effort_mismatch().map(Into::into).into_iter().collect();
        if shows && info.effort_levels != self.effort_levels.clone().unwrap_or_default() {
            effects.push(SessionEffect::InfoChanged);
        }
        effects
    }

    /// What to say if the model does not reason as much as the user wants.
    fn effort_mismatch(&self) -> Option<Notice> {
        let wanted = self.effort?;
        let model = self.connected.model.name();

        let say = match &self.effort_levels {
            None => phrases::EFFORT_UNKNOWN.into(),
            Some(levels) => match self.effort_in_use() {
                Some(used) if used == wanted => return None,
                Some(used) => phrases::EFFORT_NEAREST
                    .with("used", used.name())
                    .with("levels", effort_names(levels)),
                None => phrases::EFFORT_NONE.into(),
            },
        };
        Some(Notice::warning(say.with("model", model).with("level", wanted.name())))
    }

    fn connect(&mut self, wanted: Wanted, lang: Lang) -> Result<(), LocalizedText> {
        self.connected = (self.connect)(&wanted, lang)?;
        self.effort_levels = self.connected.model.effort_levels();
        self.wanted = wanted;
        self.learn();
        Ok(())
    }

    /// Asks the server what it says of the model, while the user types or the model answers.
    pub fn learn(&self) {
        let learning = self.connected.model.learn();
        let to = self.messages.clone();

        drop(tokio::spawn(async move {
            learning.await;
            // A closed session needs no name.
            let _ = to.send(TurnMessage::ModelLearned);
        }));
    }

    /// A model without a name in the settings has one once its server was asked, and with it a
    /// price. A limit in money counts nothing where the model has no price.
    pub fn follow_facts(&mut self, info: &SessionInfo) -> Effects {
        let model = &self.connected.model;
        let mut effects = Vec::new();
        if info.model != model.name() || info.prices != model.prices() {
            effects.push(SessionEffect::InfoChanged);
        }
        let limits = info.spend_limits;
        let is_limited =
            [limits.turn, limits.session, limits.run].iter().any(|limit| limit.cost.is_some());
        if is_limited && model.prices().is_none() && !self.is_price_reported {
            self.is_price_reported = true;
            let notice = Notice::warning(phrases::COST_UNKNOWN.with("model", model.name()));
            effects.push(notice.with_hint(phrases::COST_UNKNOWN_HINT).into());
        }
        effects
    }

    pub fn set_found_servers(&mut self, found: Vec<FoundModelServer>) -> Effects {
        if found.is_empty() {
            return Vec::new();
        }
        let notices = found.iter().filter_map(found_server_notice);
        let mut effects: Effects = notices.map(Into::into).collect();
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
        self.found_servers = found;
        effects.push(Event::Models { names, offers }.into());
        effects
    }

    /// Switches to another bot, from the next turn on.
    pub fn set_bot(
        &mut self,
        name: Option<String>,
        library: &ExtensionLibrary,
        info: &mut SessionInfo,
    ) -> Effects {
        let bot = name.as_deref().map(|name| library.bot(name)).transpose();
        let bot = match bot {
            Err(absent) => return vec![Notice::error(absent.localized()).into()],
            Ok(bot) => bot,
        };
        self.persona.prompt = bot.map(|bot| bot.system_prompt.clone());
        self.persona.params = bot.map(|bot| bot.params.clone()).unwrap_or_default();
        let say = match &name {
            Some(name) => phrases::BOT_SET.with("name", name.as_str()),
            None => phrases::BOT_LEFT.into(),
        };
        info.bot = name;
        vec![SessionEffect::InfoChanged, Notice::info(say).into()]
    }
}

/// A notice about a model server that was found, with what to type to use it; `None` if it offers no
/// model.
fn found_server_notice(found: &FoundModelServer) -> Option<Notice> {
    let model = found.models.first()?;
    let notice = match &found.key_env {
        Some(key) => phrases::FOUND_KEY.with("key", key.as_str()).with("name", found.name.as_str()),
        None => {
            phrases::FOUND.with("name", found.name.as_str()).with("url", found.base_url.as_str())
        }
    };
    let notice = Notice::info(notice.with("model", model.as_str()));
    if found.models.len() == 1 {
        return Some(notice);
    }
    let names: Vec<&str> = found.models.iter().take(NAMED).map(String::as_str).collect();
    Some(notice.with_hint(
        phrases::FOUND_MORE.with("n", found.models.len()).with("names", names.join(", ")),
    ))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::{Callbacks, StatusLine};
    use avocet_core::protocol::Page;
    use avocet_model::Guide;

    fn at(base_url: &str) -> Connected {
        Connected {
            model: Arc::new(Guide::new(Lang::En)),
            provider: Provider::Scripted,
            base_url: base_url.to_owned(),
            fallbacks: vec![],
            list: Arc::new(|| async { Ok(Vec::new()) }.boxed()),
        }
    }

    /// Reaches a model of a found server there, and no other.
    fn connect(wanted: &Wanted, _: Lang) -> Result<Connected, LocalizedText> {
        match wanted {
            Wanted::Model { found: Some(found), .. } => Ok(at(&found.base_url)),
            _ => Err(phrases::NO_MODELS.into()),
        }
    }

    fn selection() -> ModelSelection {
        let page = || Page { title: phrases::DOCTOR.into(), rows: vec![] };
        let access = ModelAccess {
            first: at("http://first"),
            effort: None,
            discover: None,
            connect: Arc::new(connect),
            callbacks: Callbacks {
                doctor: Arc::new(move |_| async move { page() }.boxed()),
                platforms: Arc::new(page),
                languages: None,
                worktrees: None,
                status: StatusLine::default(),
            },
        };
        let (messages, _) = unbounded_channel();
        ModelSelection::new(&access, Mode::High, Persona::default(), Bounds::default(), messages)
    }

    fn notices(effects: &[SessionEffect]) -> usize {
        let is_notice = |effect: &&SessionEffect| matches!(effect, SessionEffect::Event(event) if matches!(**event, Event::Notice(_)));
        effects.iter().filter(is_notice).count()
    }

    #[tokio::test]
    async fn a_model_is_reached_where_it_was_found_and_one_that_cannot_be_changes_nothing() {
        let mut model = selection();
        let effects = model.set_model("qwen".into(), Lang::En);
        assert_eq!((effects.len(), notices(&effects)), (1, 1), "{effects:?}");
        assert_eq!(model.connected.base_url, "http://first");

        let name = "Ollama".to_owned();
        let (base_url, models) = ("http://found".to_owned(), vec!["qwen".to_owned()]);
        let found = FoundModelServer { name, base_url, key_env: None, models };
        let effects = model.set_found_servers(vec![found]);
        assert_eq!((effects.len(), notices(&effects)), (2, 1), "{effects:?}");
        let effects = model.set_model("qwen".into(), Lang::En);
        assert!(matches!(effects[0], SessionEffect::InfoChanged), "{effects:?}");
        assert_eq!(model.connected.base_url, "http://found");
    }

    #[tokio::test]
    async fn a_limit_in_money_without_a_price_is_told_once() {
        let mut model = selection();
        let mut info =
            SessionInfo { model: model.connected.model.name().into(), ..SessionInfo::default() };
        assert!(model.follow_facts(&info).is_empty());
        info.spend_limits.turn.cost = Some(avocet_core::protocol::Money(1));
        assert_eq!(notices(&model.follow_facts(&info)), 1);
        assert!(model.follow_facts(&info).is_empty());
    }
}
