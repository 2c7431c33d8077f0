//! Connects to models: by settings, by a name typed later, by a search.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};

use super::key_source::{ConnectedProvider, KeyFinder, KeySource};
use super::startup::Startup;
use crate::config::{Connection, Environment, ProviderSetting};
use crate::deadline::with_timeout;
use crate::i18n::{Lang, Localize, LocalizedText, cli as words};
use crate::model::{
    Auto, BuildModel, CapabilitiesOf, DescribedModel, Endpoint, Guide, HttpModel, LOCAL, LateKey,
    ListNames, ListedModel, Model, ModelError, NameCheck, Retry, RetryPolicy, Scripted,
    ServerOffer, Timeouts, capabilities, describe_models, display_address, find_servers,
    provider_name,
};
use crate::protocol::{Dialect, Mode, ModelOverride, Provider};
use crate::safety::redact::Redactor;
use crate::session::{Connect, Connected, FoundServer, Wanted};

/// What a connection needs; owned, because the session keeps it.
#[derive(Clone)]
pub struct ModelConnector {
    connection: Option<Connection>,
    keys: KeyFinder,
    timeouts: Timeouts,
    /// What the user says of models.
    overrides: Arc<[ModelOverride]>,
}

impl ModelConnector {
    pub fn new(startup: &Startup) -> ModelConnector {
        ModelConnector {
            connection: startup.loaded.settings.connection.clone(),
            keys: KeyFinder::new(startup),
            timeouts: Timeouts::with_idle(startup.loaded.settings.limits.idle_timeout),
            overrides: startup.loaded.settings.models.clone().into(),
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

    pub fn into_connect(self) -> Connect {
        Arc::new(move |wanted, lang| match wanted {
            Wanted::Model { name, found } => self.model_by_name(name, found.as_ref(), lang),
            Wanted::Mode(mode) => match &self.connection {
                Some(connection) => {
                    self.model_from_settings(connection, connection.model(*mode), lang)
                }
                None => Err(words::NO_CONNECTION.into()),
            },
            Wanted::Guide => Ok(guide(lang)),
        })
    }

    pub fn model_by_name(
        &self,
        name: &str,
        found: Option<&FoundServer>,
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
            (None, None) => Err(words::NO_CONNECTION.into()),
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
                let key = self.keys.of_connection(connection);
                self.model_of_server(self.endpoint_of(endpoint(connection), model), key)
            }
        }
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
            Ok(match endpoint.model.is_empty() {
                true => Arc::new(Auto::new(endpoint)?),
                false => Arc::new(HttpModel::new(endpoint)?),
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
        let keys = self.keys.clone();
        Ok(Connected {
            model: Arc::new(DescribedModel::new(
                retried,
                self.capabilities_at(&base_url),
                self.dialect(),
            )),
            provider,
            base_url: display_address(&base_url),
            list: Arc::new(move || {
                let (asked, key, keys) = (asked.clone(), key.clone(), keys.clone());
                async move {
                    let here = asked.base_url.clone();
                    let (own, others) =
                        tokio::join!(models_at(asked, &key), models_elsewhere(&keys, &here));
                    own.map(|own| own.into_iter().chain(others).collect())
                }
                .boxed()
            }),
        })
    }

    fn endpoint_of(&self, server: Endpoint, model: &str) -> Endpoint {
        let timeouts = self.timeouts.at(&server.base_url);
        Endpoint { model: model.to_owned(), timeouts, ..server }
    }

    /// A connected provider and its model, named as [`models_elsewhere`] lists them.
    fn provider_of<'n>(&self, name: &'n str) -> Option<(ConnectedProvider, &'n str)> {
        let (provider, model) = name.split_once(':')?;
        let named = |one: &ConnectedProvider| one.name() == provider;
        Some((self.keys.providers().into_iter().find(named)?, model))
    }

    fn capabilities_at(&self, base_url: &str) -> CapabilitiesOf {
        let (provider, overrides) = (provider_name(base_url), Arc::clone(&self.overrides));
        Arc::new(move |model| capabilities::capabilities(&provider, model, None, &overrides))
    }

    /// How models propose steps, if the user chose it.
    fn dialect(&self) -> Option<Dialect> {
        self.connection.as_ref().and_then(|connection| connection.dialect)
    }
}

/// The server of a connection; its model is not chosen yet, and its key not fetched.
pub fn endpoint(connection: &Connection) -> Endpoint {
    let provider = connection.provider.kind();
    Endpoint {
        provider: provider.is_server().then_some(provider),
        key_name: connection.key_variable.clone(),
        ..Endpoint::at(&connection.base_url)
    }
}

/// A provider's list is compared with the model's name before the first request. A server of this
/// machine or network is not paid for, and may answer under any name.
fn check_name(client: Arc<dyn Model>, asked: &Endpoint, key: &KeySource) -> Arc<dyn Model> {
    let provider = provider_name(&asked.base_url);
    if asked.model.is_empty() || provider.is_empty() || provider == "local" {
        return client;
    }
    let (endpoint, key) = (asked.clone(), key.clone());
    let list: ListNames = Arc::new(move || {
        let (endpoint, key) = (endpoint.clone(), key.clone());
        async move { models_at(endpoint, &key).await }.boxed()
    });
    Arc::new(NameCheck::new(client, display_address(&asked.base_url), list))
}

/// The models of a server, once its key is there.
async fn models_at(endpoint: Endpoint, key: &KeySource) -> Result<Vec<String>, ModelError> {
    let models = describe_at(endpoint, key).await?;
    Ok(models.into_iter().map(|model| model.name).collect())
}

/// The same, with what the server says of each.
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
async fn models_elsewhere(keys: &KeyFinder, here: &str) -> Vec<String> {
    let here = provider_name(here);
    let others = keys.providers().into_iter().filter(|one| one.name() != here);
    let listed = others.map(|one| async move {
        let name = one.name();
        if !one.logged_in {
            return vec![format!("{name}:")];
        }
        let asked = with_timeout(ELSEWHERE, models_at(one.endpoint(), &one.key)).await;
        let models = asked.ok().and_then(Result::ok).unwrap_or_default();
        models.into_iter().map(|model| format!("{name}:{model}")).collect()
    });
    join_all(listed).await.concat()
}

/// How long the list of another provider is waited for.
const ELSEWHERE: Duration = Duration::from_secs(5);

/// Servers nearby, for a user without settings.
pub fn discover_servers(environment: Environment) -> BoxFuture<'static, Vec<FoundServer>> {
    async move {
        let look_up = |name: &str| environment.get(name).map(str::to_owned);
        let offers = find_servers(look_up, LOCAL).await;
        offers.into_iter().map(found_server).collect()
    }
    .boxed()
}

/// A hosted server is listed by its name: it is not asked for its models before the user selects
/// it.
fn found_server(offer: ServerOffer) -> FoundServer {
    let by_name = || vec![offer.name.to_lowercase()];
    let models = if offer.key_env.is_some() { by_name() } else { offer.models };
    FoundServer { name: offer.name, base_url: offer.base_url, key_env: offer.key_env, models }
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
        list: Arc::new(move || {
            let name = name.clone();
            async move { Ok::<_, ModelError>(vec![name]) }.boxed()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
