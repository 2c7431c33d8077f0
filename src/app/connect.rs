//! The program's part of `/connect`: lists providers and their models, and remembers the choice as
//! a login does.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::key_source::{self, KeyFinder};
use super::login::{self, GivenKey};
use super::models::{describe_at, offer};
use super::startup::Startup;
use crate::cli::login::{LoginTarget, target};
use avocet_config::key_store::KeyStore;
use avocet_config::{Environment, Secret};
use avocet_core::i18n::{Lang, Localize, LocalizedText, keys as phrases};
use avocet_core::protocol::{HOSTED, ModelOp, ModelOverride, Op};
use avocet_model::{
    Endpoint, LOCAL, ModelError, display_address, find_servers, is_private, server_host,
};
use avocet_tui::{ListError, ListedModels, ProviderOffer, ProviderSetup, SavedProvider};

/// What is needed of the start; owned, because the screen keeps it.
#[derive(Clone)]
pub struct ScreenSetup {
    keys: KeyFinder,
    store: Arc<KeyStore>,
    settings: PathBuf,
    environment: Environment,
    plain_http_hosts: Vec<String>,
    overrides: Arc<[ModelOverride]>,
    /// The profile of the command line.
    profile: Option<String>,
    lang: Lang,
}

impl ScreenSetup {
    pub fn new(startup: &Startup) -> ScreenSetup {
        ScreenSetup {
            keys: KeyFinder::new(startup),
            store: Arc::new(key_source::key_store(startup)),
            settings: startup.paths.settings(),
            environment: startup.environment.clone(),
            plain_http_hosts: startup.loaded.settings.models.plain_http_hosts.clone(),
            overrides: startup.loaded.settings.models.overrides.clone().into(),
            profile: startup.named_profile().map(str::to_owned),
            lang: startup.lang(),
        }
    }

    /// The hosted providers, each address once.
    fn hosted(&self) -> Vec<ProviderOffer> {
        let saved = self.store.servers();
        let mut offers: Vec<ProviderOffer> = Vec::new();
        for row in HOSTED.iter().filter(|row| !row.base_url.is_empty()) {
            let variable = self.environment.get(row.key_env).map(|_| row.key_env);
            let is_saved =
                avocet_model::server_origin(row.base_url).is_some_and(|it| saved.contains(&it));
            let about = match variable {
                Some(name) => phrases::KEY_IN_VARIABLE.with("variable", name),
                None if is_saved => phrases::KEY_SAVED.into(),
                None => phrases::KEY_NEEDED.into(),
            };
            let needs_key = variable.is_none() && !is_saved;
            let url = row.base_url.to_owned();
            let provider_offer = ProviderOffer {
                id: row.id.to_owned(),
                name: row.label(self.lang).to_owned(),
                url,
                keys_at: row.keys_at.to_owned(),
                needs_key,
                about,
            };
            match offers.iter_mut().find(|offer| offer.url == provider_offer.url) {
                Some(known) if known.needs_key => *known = provider_offer,
                Some(_) => {}
                None => offers.push(provider_offer),
            }
        }
        offers.sort_by_key(|offer| offer.needs_key);
        offers
    }
}

/// Why the list is missing. A server of this machine or network that does not answer has to be
/// started first: a key would not help.
fn list_error(error: ModelError, base_url: &str) -> ListError {
    let is_near = server_host(base_url).is_some_and(|host| is_private(&host));
    let is_silent = matches!(error, ModelError::Unreachable { .. } | ModelError::Stalled { .. });
    if !is_near || !is_silent {
        return ListError::WantsKey(error.localized());
    }
    let url = display_address(base_url);
    let local = LOCAL.iter().find(|local| local.base_url == base_url);
    ListError::Other(match local {
        Some(local) => phrases::NO_SERVER_NAMED.with("url", url).with("name", local.name),
        None => phrases::NO_SERVER.with("url", url),
    })
}

/// A provider by its name, a server of this machine by its own, any other by its address.
fn resolve(provider: &str) -> Result<LoginTarget, LocalizedText> {
    let local = LOCAL.iter().find(|local| local.name.to_lowercase() == provider);
    let Some(local) = local else { return target(provider) };
    let found = target(local.base_url)?;
    let profile = provider.replace([' ', '.'], "-");
    Ok(LoginTarget { name: local.name.to_owned(), profile, ..found })
}

impl ProviderSetup for ScreenSetup {
    fn providers(&self, named: Option<&str>) -> BoxFuture<'static, Vec<ProviderOffer>> {
        let hosted = self.hosted();
        let named = named.map(str::to_owned);

        async move {
            let local = find_servers(|_| None, LOCAL).await.into_iter().map(|found| {
                let about = phrases::SERVER_HERE.with("n", found.models.len());
                ProviderOffer {
                    id: found.name.to_lowercase(),
                    about: about.with("url", found.base_url.as_str()),
                    name: found.name,
                    url: found.base_url,
                    keys_at: String::new(),
                    needs_key: false,
                }
            });
            let mut offers: Vec<ProviderOffer> = local.chain(hosted).collect();
            // An address that was typed.
            if let Some(id) = named.filter(|name| offers.iter().all(|offer| offer.id != *name))
                && let Ok(target) = target(&id)
            {
                // A server of this network may want none: it is tried without one.
                let needs_key = !server_host(&id).is_some_and(|host| is_private(&host));
                let name = target.name;
                let url = target.base_url;

                offers.push(ProviderOffer {
                    id,
                    name,
                    url,
                    keys_at: String::new(),
                    needs_key,
                    about: phrases::KEY_NEEDED.into(),
                });
            }
            offers
        }
        .boxed()
    }

    fn models(&self, provider: &str, key: Option<Secret>) -> BoxFuture<'static, ListedModels> {
        let this = self.clone();
        let provider = provider.to_owned();

        async move {
            let target = resolve(&provider).map_err(ListError::Other)?;
            let key_name = target.variable.unwrap_or(&provider).to_owned();
            let source = match &key {
                None => this.keys.of_server(&target.base_url, &key_name),
                Some(key) => match key_source::refusal(&target.base_url, &this.plain_http_hosts) {
                    Some(why) => return Err(ListError::Other(why)),
                    None => key_source::KeySource::Known(Some(key.expose().to_owned())),
                },
            };
            let endpoint = Endpoint { key_name, ..Endpoint::at(&target.base_url) };
            match describe_at(endpoint, &source).await {
                Ok(models) => {
                    let row = |model| offer(&target.base_url, "", model, &this.overrides);
                    Ok(models.iter().map(row).collect())
                }
                Err(ModelError::NoEndpoint { .. }) => Ok(Vec::new()),
                Err(error) => Err(list_error(error, &target.base_url)),
            }
        }
        .boxed()
    }

    fn save(
        &self,
        provider: &str,
        key: Option<Secret>,
        model: &str,
    ) -> BoxFuture<'static, Result<SavedProvider, LocalizedText>> {
        let this = self.clone();
        let provider = provider.to_owned();
        let model = model.to_owned();

        let work = move || {
            let target = resolve(&provider)?;
            let variable = target.variable.filter(|name| this.environment.get(name).is_some());
            let given = match (key, variable) {
                (Some(key), _) => GivenKey::Typed(key),
                (None, Some(name)) => GivenKey::OfVariable(name),
                (None, None) => GivenKey::None,
            };
            let profile = this.profile.as_deref();
            let said =
                login::remember(&target, &given, &model, profile, (&this.settings, &this.store))?;
            let key_env = variable.map(str::to_owned);
            let op = Op::Model(ModelOp::Connect {
                server: target.name,
                base_url: target.base_url,
                key_env,
                model,
            });
            Ok(SavedProvider { said, op })
        };
        // A keyring may take a while.
        let work = tokio::task::spawn_blocking(work);
        async move { work.await.unwrap_or_else(|_| Err(phrases::NOT_SAVED.into())) }.boxed()
    }
}
