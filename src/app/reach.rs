//! How models are reached: by the settings, by a name typed later, by a search.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::ground::Ground;
use crate::config::{Connection, Environment, Provider};
use crate::model::{
    Auto, Endpoint, Guide, LOCAL, Model, ModelError, OpenAi, Pace, Retry, Scripted, Timeouts,
    discover, list_models,
};
use crate::protocol::Mode;
use crate::session::{Connect, Connected, Found, Wanted};
use crate::words::{Lang, Say, Spoken, cli as words};

/// What connecting needs to know; owned, because the session keeps it.
#[derive(Clone, Debug)]
pub struct Knowledge {
    connection: Option<Connection>,
    environment: Environment,
    timeouts: Timeouts,
}

impl Knowledge {
    pub fn new(ground: &Ground) -> Knowledge {
        Knowledge {
            connection: ground.loaded.settings.connection.clone(),
            environment: ground.environment.clone(),
            timeouts: Timeouts::idle(ground.loaded.settings.limits.idle_timeout),
        }
    }

    /// The model that answers first.
    pub fn first(&self, mode: Mode, lang: Lang) -> Result<Connected, Say> {
        match &self.connection {
            None => Ok(guide(lang)),
            Some(connection) => self.by_settings(connection, connection.model(mode), lang),
        }
    }

    pub fn connect(self) -> Connect {
        Arc::new(move |wanted| match wanted {
            Wanted::Model { name, found } => self.named(name, found.as_ref()),
            Wanted::Mode(mode) => match &self.connection {
                Some(connection) => self.by_settings(connection, connection.model(*mode), Lang::En),
                None => Err(words::NO_CONNECTION.into()),
            },
            Wanted::Guide(lang) => Ok(guide(*lang)),
        })
    }

    fn named(&self, name: &str, found: Option<&Found>) -> Result<Connected, Say> {
        if name == "guide" {
            return Ok(guide(Lang::En));
        }
        if let Some(file) = name.strip_prefix("scripted:") {
            return scripted(file.as_ref());
        }
        match (found, &self.connection) {
            (Some(found), _) => {
                let key_name = found.key_env.clone().unwrap_or_default();
                let key = self.environment.get(&key_name).map(str::to_owned);
                self.server(&found.base_url, key, &key_name, name)
            }
            (None, Some(connection)) => self.by_settings(connection, name, Lang::En),
            (None, None) => Err(words::NO_CONNECTION.into()),
        }
    }

    fn by_settings(
        &self,
        connection: &Connection,
        model: &str,
        lang: Lang,
    ) -> Result<Connected, Say> {
        match &connection.provider {
            Provider::Guide => Ok(guide(lang)),
            Provider::Scripted(file) => scripted(file),
            Provider::OpenAi => {
                let key = connection.api_key.as_ref().map(|key| key.expose().to_owned());
                self.server(&connection.base_url, key, &connection.key_variable, model)
            }
        }
    }

    fn server(
        &self,
        base_url: &str,
        key: Option<String>,
        key_name: &str,
        model: &str,
    ) -> Result<Connected, Say> {
        let endpoint = Endpoint {
            base_url: base_url.to_owned(),
            api_key: key.clone(),
            key_name: key_name.to_owned(),
            model: model.to_owned(),
            timeouts: self.timeouts,
        };
        let client: Arc<dyn Model> = if model.is_empty() {
            Arc::new(Auto::new(endpoint).map_err(|error| error.say())?)
        } else {
            Arc::new(OpenAi::new(endpoint).map_err(|error| error.say())?)
        };
        let (url, key_name) = (base_url.to_owned(), key_name.to_owned());
        Ok(Connected {
            model: Arc::new(Retry::new(client, Pace::default())),
            provider: "openai".to_owned(),
            base_url: base_url.to_owned(),
            list: Arc::new(move || {
                let (url, key, key_name) = (url.clone(), key.clone(), key_name.clone());
                async move { list_models(&url, key.as_deref(), &key_name).await }.boxed()
            }),
        })
    }
}

/// What is nearby, for somebody who has no settings yet.
pub fn search(environment: Environment) -> BoxFuture<'static, Vec<Found>> {
    async move {
        let look_up = |name: &str| environment.get(name).map(str::to_owned);
        let offers = discover(look_up, LOCAL).await;
        let found = |offer: crate::model::Offer| Found {
            name: offer.name,
            base_url: offer.base_url,
            key_env: offer.key_env,
            models: offer.models,
        };
        offers.into_iter().map(found).collect()
    }
    .boxed()
}

fn guide(lang: Lang) -> Connected {
    built_in(Arc::new(Guide::new(lang)), "guide")
}

fn scripted(file: &std::path::Path) -> Result<Connected, Say> {
    let model = Scripted::open(file).map_err(|error| error.say())?;
    Ok(built_in(Arc::new(model), "scripted"))
}

fn built_in(model: Arc<dyn Model>, provider: &str) -> Connected {
    let name = model.name().to_owned();
    Connected {
        model,
        provider: provider.to_owned(),
        base_url: String::new(),
        list: Arc::new(move || {
            let name = name.clone();
            async move { Ok::<_, ModelError>(vec![name]) }.boxed()
        }),
    }
}
