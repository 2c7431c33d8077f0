//! Connects to models: by settings, by a name typed later, by a search.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};

use super::facts_memory::FactsMemory;
use super::key_source::{ConnectedProvider, KeyFinder, KeySource};
use super::startup::Startup;
use avocet_config::edit::{self, EditError};
use avocet_config::{Connection, Environment, FallbackTarget, ProviderSetting};
use avocet_core::deadline::with_timeout;
use avocet_core::i18n::{Lang, Localize, LocalizedText};
use avocet_core::protocol::{HOSTED, Mode, ModelOffer, ModelOverride, Provider};
use avocet_model::{
    Auto, BuildModel, CapabilitiesOf, DescribedModel, Endpoint, Guide, HttpModel, LOCAL, LateKey,
    ListModels, ListedModel, Model, ModelChoices, ModelError, NameCheck, RememberFacts, Retry,
    RetryPolicy, Scripted, ServerOffer, Timeouts, capabilities, default_chat_model,
    describe_models, display_address, find_servers, not_connected, provider_name, server_host,
};
use avocet_safety::redact::Redactor;
use avocet_session::{Connect, Connected, Fallback, FoundModelServer, Wanted};

/// What a connection needs; owned, because the session keeps it.
#[derive(Clone)]
pub struct ModelConnector {
    connection: Option<Connection>,
    keys: KeyFinder,
    timeouts: Timeouts,
    /// What the user says of models.
    overrides: Arc<[ModelOverride]>,
    facts_memory: FactsMemory,
    /// Whether every model is offered a tool for shell lines.
    offers_shell: bool,
    /// Where the first choice is remembered, if no settings name a model.
    first_choice: Option<PathBuf>,
}

impl ModelConnector {
    pub fn new(startup: &Startup) -> ModelConnector {
        ModelConnector {
            connection: startup.loaded.settings.connection.clone(),
            keys: KeyFinder::new(startup),
            timeouts: Timeouts::with_idle(startup.loaded.settings.limits.idle_timeout),
            overrides: startup.loaded.settings.models.overrides.clone().into(),
            facts_memory: FactsMemory::new(startup.paths.server_facts()),
            offers_shell: startup.run_options.in_container,
            first_choice: startup
                .loaded
                .settings
                .connection
                .is_none()
                .then(|| startup.paths.settings()),
        }
    }

    /// Keys that are fetched later are masked from then on.
    #[must_use]
    pub fn with_redactor(self, redactor: Arc<Redactor>) -> ModelConnector {
        ModelConnector { keys: self.keys.with_redactor(redactor), ..self }
    }

    /// The initial model.
    pub fn initial_model(&self, mode: Mode, lang: Lang) -> Result<Connected, LocalizedText> {
        match &self.connection {
            None => Ok(guide(lang)),
            Some(connection) => self.model_from_settings(connection, connection.model(mode), lang),
        }
    }

    /// The initial model of a chat. All chats of a folder share it, with its connections and with
    /// what its server said, unless its key is fetched later: each session masks that one itself.
    pub fn model_of_chats(
        &self,
        shared: &OnceLock<Connected>,
        mode: Mode,
        lang: Lang,
    ) -> Result<Connected, LocalizedText> {
        if let Some(connected) = shared.get() {
            return Ok(connected.clone());
        }
        let connected = self.initial_model(mode, lang)?;
        if self.connection.as_ref().is_some_and(|connection| self.is_shared(connection)) {
            let _earlier = shared.set(connected.clone());
        }
        Ok(connected)
    }

    fn is_shared(&self, connection: &Connection) -> bool {
        matches!(connection.provider, ProviderSetting::Server(_))
            && connection.fallback.is_empty()
            && matches!(self.keys.of_connection(connection), KeySource::Known(_))
    }

    pub fn into_connect(self) -> Connect {
        Arc::new(move |wanted, lang| match wanted {
            Wanted::Model { name, found } => {
                let connected = self.model_by_name(name, found.as_ref(), lang)?;
                self.remember_first(name, found.as_ref());
                Ok(connected)
            }
            Wanted::Mode(mode) => match &self.connection {
                Some(connection) => {
                    self.model_from_settings(connection, connection.model(*mode), lang)
                }
                None => Err(not_connected()),
            },
            Wanted::Guide => Ok(guide(lang)),
        })
    }

    /// Without settings, the server that was found and chosen is the one that starts from now on.
    fn remember_first(&self, model: &str, found: Option<&FoundModelServer>) {
        let (Some(settings), Some(found)) = (self.first_choice.clone(), found.cloned()) else {
            return;
        };
        let is_default = model.eq_ignore_ascii_case(&found.name);
        let model = if is_default { String::new() } else { model.to_owned() };
        // The choice counts for this run in any case.
        let save = move || drop(save_choice(&settings, &found, &model));
        let _ = std::thread::Builder::new().name("choice".into()).spawn(save);
    }

    pub fn model_by_name(
        &self,
        name: &str,
        found: Option<&FoundModelServer>,
        lang: Lang,
    ) -> Result<Connected, LocalizedText> {
        if name == "guide" {
            return Ok(guide(lang));
        }
        if let Some(file) = name.strip_prefix("scripted:") {
            return scripted(file.as_ref());
        }
        if let Some((provider, model)) = self.provider_of(name) {
            let endpoint = self.endpoint_of(provider.endpoint(), model);
            return self.model_of_server(endpoint, provider.key);
        }
        match (found, &self.connection) {
            (Some(found), _) => {
                let key_name = found.key_env.clone().unwrap_or_default();
                let key = self.keys.of_server(&found.base_url, &key_name);
                // The server's own name selects its default model.
                let model = if name.eq_ignore_ascii_case(&found.name) { "" } else { name };
                let endpoint = Endpoint { key_name, ..Endpoint::at(&found.base_url) };
                self.model_of_server(self.endpoint_of(endpoint, model), key)
            }
            (None, Some(connection)) => self.model_from_settings(connection, name, lang),
            (None, None) => Err(not_connected()),
        }
    }

    fn model_from_settings(
        &self,
        connection: &Connection,
        model: &str,
        lang: Lang,
    ) -> Result<Connected, LocalizedText> {
        match &connection.provider {
            ProviderSetting::Guide => Ok(guide(lang)),
            ProviderSetting::Scripted(file) => scripted(file),
            ProviderSetting::Server(_) => {
                let connected = self.server_model(connection, model)?;
                Ok(Connected { fallbacks: self.fallbacks(connection, model, lang), ..connected })
            }
        }
    }

    fn server_model(
        &self,
        connection: &Connection,
        model: &str,
    ) -> Result<Connected, LocalizedText> {
        let key = self.keys.of_connection(connection);
        self.model_of_server(self.endpoint_of(endpoint(connection), model), key)
    }

    /// The models that answer when this one cannot. A profile answers with its model for the mode
    /// that this one is of.
    fn fallbacks(&self, connection: &Connection, model: &str, lang: Lang) -> Vec<Fallback> {
        let is_low = model == connection.low && model != connection.high;
        let mode = if is_low { Mode::Low } else { Mode::High };
        let others = connection.fallback.iter().filter(|other| other.name != model);
        let build = |target: &FallbackTarget| match &target.connection {
            Some(own) => {
                let own = Connection::clone(own);
                let connector = ModelConnector { connection: Some(own.clone()), ..self.clone() };
                connector.model_from_settings(&own, own.model(mode), lang)
            }
            None => match self.provider_of(&target.name) {
                Some(_) => self.model_by_name(&target.name, None, lang),
                None => self.server_model(connection, &target.name),
            },
        };
        let fallback = |target: &FallbackTarget| Fallback {
            name: target.name.clone(),
            model: build(target).map(|connected| connected.model),
        };
        others.map(fallback).collect()
    }

    /// The model of an endpoint, whose own key is ignored.
    fn model_of_server(
        &self,
        endpoint: Endpoint,
        key: KeySource,
    ) -> Result<Connected, LocalizedText> {
        let asked = Endpoint { api_key: None, ..endpoint };
        let provider = asked.provider.unwrap_or_else(|| Provider::at(&asked.base_url));
        let base_url = asked.base_url.clone();
        let endpoint = asked.clone();
        let build: BuildModel = Arc::new(move |api_key| {
            let endpoint = Endpoint { api_key, ..endpoint.clone() };
            Ok(if endpoint.model.is_empty() {
                Arc::new(Auto::new(endpoint)?)
            } else {
                Arc::new(HttpModel::new(endpoint)?)
            })
        });
        let client: Arc<dyn Model> = match &key {
            KeySource::Known(key) => build(key.clone()).map_err(|error| error.localized())?,
            KeySource::Later(fetch) => {
                let late = LateKey::new(Arc::clone(fetch), build);
                Arc::new(late.map_err(|error| error.localized())?)
            }
        };
        let checked = check_name(client, &asked, &key);
        let retried = Arc::new(Retry::new(checked, RetryPolicy::default()));
        let (keys, overrides) = (self.keys.clone(), Arc::clone(&self.overrides));
        Ok(Connected {
            model: Arc::new(self.describe(retried, &base_url)),
            provider,
            base_url: display_address(&base_url),
            fallbacks: Vec::new(),
            list: Arc::new(move || {
                let (asked, key, keys) = (asked.clone(), key.clone(), keys.clone());
                let overrides = Arc::clone(&overrides);
                async move {
                    let here = asked.base_url.clone();
                    let name = shown_provider(&here);
                    let (own, others) = tokio::join!(
                        describe_at(asked, &key),
                        models_elsewhere(&keys, &here, &overrides)
                    );
                    let own = own?;
                    let own = own.iter().map(|model| offer(&here, &name, model, &overrides));
                    Ok(own.chain(others).collect())
                }
                .boxed()
            }),
        })
    }

    fn endpoint_of(&self, endpoint: Endpoint, model: &str) -> Endpoint {
        let timeouts = self.timeouts.at(&endpoint.base_url);
        Endpoint { model: model.to_owned(), timeouts, ..endpoint }
    }

    /// A connected provider and its model, named as [`models_elsewhere`] lists them.
    fn provider_of<'n>(&self, name: &'n str) -> Option<(ConnectedProvider, &'n str)> {
        let (provider, model) = name.split_once(':')?;
        let named = |connected_provider: &ConnectedProvider| connected_provider.name() == provider;
        Some((self.keys.providers().into_iter().find(named)?, model))
    }

    /// The model with what is known of it: what its server says now, or the last time.
    fn describe(&self, model: Arc<dyn Model>, base_url: &str) -> DescribedModel {
        let provider = provider_name(base_url);
        let overrides = Arc::clone(&self.overrides);

        let memory = self.facts_memory.clone();
        let url = display_address(base_url);

        let written = memory.clone();
        let at = url.clone();

        let choices = ModelChoices {
            dialect: self.connection.as_ref().and_then(|connection| connection.dialect),
            prompt: self.connection.as_ref().and_then(|connection| connection.prompt),
            offers_shell: self.offers_shell
                || self.connection.as_ref().is_some_and(|connection| connection.shell_tool),
            is_near: provider == "local",
        };
        let known: CapabilitiesOf = Arc::new(move |model, facts| {
            let facts = match (facts, memory.facts(&url, model)) {
                (Some(now), Some(earlier)) => Some(now.after(earlier)),
                (now, earlier) => now.or(earlier).cloned(),
            };
            capabilities::capabilities(&provider, model, facts.as_ref(), &overrides)
        });
        let remember: RememberFacts =
            Arc::new(move |model, facts| written.remember(&at, model, facts));
        DescribedModel::new(model, known, choices).with_memory(remember)
    }
}

/// The server of a connection; its model is not chosen yet, and its key not fetched.
pub fn endpoint(connection: &Connection) -> Endpoint {
    let provider = connection.provider.kind();
    Endpoint {
        provider: provider.is_server().then_some(provider),
        key_name: connection.key_variable.clone(),
        request: connection.request.clone(),
        ..Endpoint::at(&connection.base_url)
    }
}

/// A provider's list is compared with the model's name before the first request. A server of this
/// machine or network is not paid for, and may answer under any name.
fn check_name(client: Arc<dyn Model>, asked: &Endpoint, key: &KeySource) -> Arc<dyn Model> {
    let provider = provider_name(&asked.base_url);
    // An address of AWS (`arn:…`) is in no list.
    let is_named = !asked.model.is_empty() && !asked.model.starts_with("arn:");
    if !is_named || provider.is_empty() || provider == "local" {
        return client;
    }
    let endpoint = asked.clone();
    let key = key.clone();

    let is_known = matches!(key, KeySource::Known(_));
    let list: ListModels = Arc::new(move || {
        let endpoint = endpoint.clone();
        let key = key.clone();

        async move { describe_at(endpoint, &key).await }.boxed()
    });
    let check = NameCheck::new(client, display_address(&asked.base_url), list);
    Arc::new(if is_known { check.early() } else { check })
}

/// The models of a server, once its key is there, with what it says of each.
pub async fn describe_at(
    endpoint: Endpoint,
    key: &KeySource,
) -> Result<Vec<ListedModel>, ModelError> {
    let api_key = key.fetch().await.map_err(|why| ModelError::KeyUnavailable { why })?;
    describe_models(Endpoint { api_key, ..endpoint }).await
}

/// The models of the other providers that the user logged in to, as `PROVIDER:MODEL`. One whose
/// key is in a variable is listed without its models (`PROVIDER:`), because it is not asked before
/// the user chooses it.
async fn models_elsewhere(
    keys: &KeyFinder,
    here: &str,
    overrides: &[ModelOverride],
) -> Vec<ModelOffer> {
    let here = provider_name(here);
    let others = keys.providers().into_iter().filter(|one| one.name() != here);
    let listed = others.map(|one| async move {
        let name = one.name();
        if !one.logged_in {
            return vec![ModelOffer {
                provider: one.hosted.name.to_owned(),
                ..format!("{name}:").as_str().into()
            }];
        }
        let asked = with_timeout(ELSEWHERE, describe_at(one.endpoint(), &one.key)).await;
        let models = asked.ok().and_then(Result::ok).unwrap_or_default();
        let row = |model: &ListedModel| {
            let offer = offer(one.hosted.base_url, one.hosted.name, model, overrides);
            ModelOffer { name: format!("{name}:{}", model.name), ..offer }
        };
        models.iter().map(row).collect()
    });
    join_all(listed).await.concat()
}

/// A model of a server, with what is known of it: by the table, by the server, by the user.
pub fn offer(
    base_url: &str,
    provider: &str,
    model: &ListedModel,
    overrides: &[ModelOverride],
) -> ModelOffer {
    let name = provider_name(base_url);
    let can = capabilities::capabilities(&name, &model.name, Some(&model.facts), overrides);
    ModelOffer {
        name: model.name.clone(),
        provider: provider.to_owned(),
        window: can.known.then_some(can.window),
        price: can.prices.map(|prices| (prices.usual.input, prices.usual.output)),
    }
}

/// A provider as a row of models names it.
fn shown_provider(base_url: &str) -> String {
    let hosted = HOSTED.iter().find(|row| row.base_url == base_url);
    let local = || LOCAL.iter().find(|local| local.base_url == base_url).map(|local| local.name);
    let name = hosted.map(|row| row.name).or_else(local);
    name.map_or_else(|| server_host(base_url).unwrap_or_default(), str::to_owned)
}

/// How long the list of another provider is waited for.
const ELSEWHERE: Duration = Duration::from_secs(5);

/// Servers nearby, for a user without settings.
pub fn discover_servers(environment: Environment) -> BoxFuture<'static, Vec<FoundModelServer>> {
    async move {
        let look_up = |name: &str| environment.get(name).map(str::to_owned);
        let offers = find_servers(look_up, LOCAL).await;
        offers.into_iter().map(found_server).collect()
    }
    .boxed()
}

/// A hosted server is listed by its name: it is not asked for its models before the user selects
/// it.
fn found_server(offer: ServerOffer) -> FoundModelServer {
    let by_name = || vec![offer.name.to_lowercase()];
    let mut models = if offer.key_env.is_some() { by_name() } else { offer.models };
    if let Some(first) = default_chat_model(&models) {
        models.sort_by_key(|name| *name != first);
    }
    FoundModelServer { name: offer.name, base_url: offer.base_url, key_env: offer.key_env, models }
}

/// As a profile of its own, which starts from now on.
fn save_choice(settings: &Path, found: &FoundModelServer, model: &str) -> Result<(), EditError> {
    let letter = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let profile: String = found.name.chars().map(letter).collect();
    let set = |key: &str, value: &str| {
        edit::set(settings, &format!("profiles.{profile}.{key}"), value).map(drop)
    };
    set("base_url", &found.base_url)?;
    if let Some(variable) = &found.key_env {
        set("api_key_env", variable)?;
    }
    if !model.is_empty() {
        set("high", model)?;
    }
    edit::set(settings, "profile", &profile).map(drop)
}

fn guide(lang: Lang) -> Connected {
    built_in(Arc::new(Guide::new(lang)), Provider::Guide)
}

fn scripted(file: &std::path::Path) -> Result<Connected, LocalizedText> {
    let model = Scripted::open(file).map_err(|error| error.localized())?;
    Ok(built_in(Arc::new(model), Provider::Scripted))
}

fn built_in(model: Arc<dyn Model>, provider: Provider) -> Connected {
    let name = model.name().to_owned();
    Connected {
        model,
        provider,
        base_url: String::new(),
        fallbacks: Vec::new(),
        list: Arc::new(move || {
            let name = name.clone();
            async move { Ok::<_, ModelError>(vec![name.as_str().into()]) }.boxed()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_chosen_without_settings_is_the_one_that_starts_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("config.toml");
        let found = FoundModelServer {
            name: "LM Studio".into(),
            base_url: "http://127.0.0.1:1234/v1".into(),
            key_env: None,
            models: vec!["qwen".into()],
        };
        save_choice(&settings, &found, "qwen").unwrap();
        let paths = avocet_config::Paths::with_root(folder.path(), folder.path().to_owned());
        let text = std::fs::read_to_string(&settings).unwrap();
        std::fs::create_dir_all(paths.settings().parent().unwrap()).unwrap();
        std::fs::write(paths.settings(), text).unwrap();
        let environment = Environment::default();
        let (options, project) = (&[][..], &[][..]);
        let sources =
            avocet_config::Sources { paths: &paths, environment: &environment, options, project };
        let loaded = avocet_config::load(sources);
        assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
        let connection = loaded.settings.connection.unwrap();
        assert_eq!(connection.base_url, found.base_url);
        assert_eq!(connection.model(Mode::High), "qwen");
    }

    #[test]
    fn a_set_key_offers_its_server_by_name() {
        let offer = ServerOffer {
            name: "Groq".into(),
            base_url: "https://api.groq.com/openai/v1".into(),
            key_env: Some("GROQ_API_KEY".into()),
            models: Vec::new(),
        };
        let found = found_server(offer);
        assert_eq!(found.models, ["groq"]);
        let knowledge = ModelConnector {
            connection: None,
            keys: KeyFinder::of_variables(Environment::default()),
            timeouts: Timeouts::default(),
            overrides: Arc::default(),
            offers_shell: false,
            facts_memory: FactsMemory::default(),
            first_choice: None,
        };
        let named = |name| {
            knowledge
                .model_by_name(name, Some(&found), Lang::En)
                .map(|it| it.model.name().to_owned())
        };
        assert_eq!(named("groq"), Ok("auto".to_owned()), "it is asked which model it has");
        assert_eq!(named("llama-4"), Ok("llama-4".to_owned()));
    }
}
