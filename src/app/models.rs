//! Connects to models: by settings, by a name typed later, by a search.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::startup::Startup;
use crate::config::{Connection, Environment, ProviderSetting};
use crate::i18n::{Lang, Localize, LocalizedText, cli as words};
use crate::model::{
    Auto, Endpoint, Guide, HttpModel, LOCAL, Model, ModelError, PriceOf, Priced, Retry,
    RetryPolicy, Scripted, ServerOffer, Timeouts, capabilities, display_address, find_servers,
    list_models, provider_name,
};
use crate::protocol::{Mode, ModelOverride, Provider};
use crate::session::{Connect, Connected, FoundServer, Wanted};

/// What a connection needs; owned, because the session keeps it.
#[derive(Clone, Debug)]
pub struct ModelConnector {
    connection: Option<Connection>,
    environment: Environment,
    timeouts: Timeouts,
    /// What the user says of models.
    overrides: Arc<[ModelOverride]>,
}

impl ModelConnector {
    pub fn new(startup: &Startup) -> ModelConnector {
        ModelConnector {
            connection: startup.loaded.settings.connection.clone(),
            environment: startup.environment.clone(),
            timeouts: Timeouts::with_idle(startup.loaded.settings.limits.idle_timeout),
            overrides: startup.loaded.settings.models.clone().into(),
        }
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

    fn model_by_name(
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
        match (found, &self.connection) {
            (Some(found), _) => {
                let key_name = found.key_env.clone().unwrap_or_default();
                let key = self.environment.get(&key_name).map(str::to_owned);
                // The server's own name selects its default model.
                let model = if name.eq_ignore_ascii_case(&found.name) { "" } else { name };
                self.model_of_server(Endpoint {
                    api_key: key,
                    key_name,
                    model: model.to_owned(),
                    ..Endpoint::at(&found.base_url)
                })
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
                self.model_of_server(Endpoint { model: model.to_owned(), ..endpoint(connection) })
            }
        }
    }

    fn model_of_server(&self, endpoint: Endpoint) -> Result<Connected, LocalizedText> {
        let timeouts = self.timeouts.at(&endpoint.base_url);
        let endpoint = Endpoint { timeouts, ..endpoint };
        let asked = endpoint.clone();
        let provider = endpoint.provider.unwrap_or_else(|| Provider::at(&endpoint.base_url));
        let base_url = display_address(&endpoint.base_url);
        let prices = self.prices_at(&endpoint.base_url);
        let client: Arc<dyn Model> = if endpoint.model.is_empty() {
            Arc::new(Auto::new(endpoint).map_err(|error| error.localized())?)
        } else {
            Arc::new(HttpModel::new(endpoint).map_err(|error| error.localized())?)
        };
        let retried = Arc::new(Retry::new(client, RetryPolicy::default()));
        Ok(Connected {
            model: Arc::new(Priced::new(retried, prices)),
            provider,
            base_url,
            list: Arc::new(move || list_models(asked.clone()).boxed()),
        })
    }

    fn prices_at(&self, base_url: &str) -> PriceOf {
        let (provider, overrides) = (provider_name(base_url), Arc::clone(&self.overrides));
        Arc::new(move |model| capabilities::capabilities(&provider, model, None, &overrides).prices)
    }
}

/// The server of a connection; its model is not chosen yet.
pub fn endpoint(connection: &Connection) -> Endpoint {
    let provider = connection.provider.kind();
    Endpoint {
        provider: provider.is_server().then_some(provider),
        api_key: connection.api_key.as_ref().map(|key| key.expose().to_owned()),
        key_name: connection.key_variable.clone(),
        ..Endpoint::at(&connection.base_url)
    }
}

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
            environment: Environment::default(),
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
