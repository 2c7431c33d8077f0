//! Where the key for a server comes from: a variable, a program, what was saved by a login. A
//! variable is there at once; the others are fetched when a model is first called.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::startup::Startup;
use avocet_config::key_store::{KeyPlace, KeyStore, system_keyring};
use avocet_config::{AWS_COMMAND, Connection, Environment, Settings};
use avocet_core::i18n::{Localize, LocalizedText, keys as phrases};
use avocet_core::protocol::{HOSTED, Hosted, Provider};
use avocet_core::secret::secret_parts;
use avocet_model::{
    Endpoint, FetchKey, exposed_host, google_token, is_private, provider_name, server_origin,
};
use avocet_safety::redact::Redactor;
use avocet_tools::exec::key_command::{self, KeyCommand};

/// A key, or how to get it.
#[derive(Clone)]
pub enum KeySource {
    Known(Option<String>),
    Later(FetchKey),
}

impl KeySource {
    fn is_known_none(&self) -> bool {
        matches!(self, KeySource::Known(None))
    }

    /// Waits for the key.
    pub async fn fetch(&self) -> Result<Option<String>, LocalizedText> {
        match self {
            KeySource::Known(key) => Ok(key.clone()),
            KeySource::Later(fetch) => fetch().await,
        }
    }
}

/// A provider that there is a key for.
pub struct ConnectedProvider {
    pub hosted: &'static Hosted<'static>,
    pub key: KeySource,
    /// The user gave the key to this program, and not to others through a variable.
    pub logged_in: bool,
}

impl ConnectedProvider {
    /// As the table of models names it.
    pub fn name(&self) -> String {
        provider_name(self.hosted.base_url)
    }

    pub fn endpoint(&self) -> Endpoint {
        let key_name = self.hosted.key_env.to_owned();
        Endpoint { key_name, ..Endpoint::at(self.hosted.base_url) }
    }
}

/// Finds the keys of servers; owned, because a session keeps it.
#[derive(Clone)]
pub struct KeyFinder {
    store: Arc<KeyStore>,
    environment: Environment,
    plain_http_hosts: Vec<String>,
    /// Masks the keys that are fetched; a variable's is masked from the start.
    redactor: Option<Arc<Redactor>>,
}

impl KeyFinder {
    pub fn new(startup: &Startup) -> KeyFinder {
        KeyFinder {
            store: Arc::new(key_store(startup)),
            environment: startup.environment.clone(),
            plain_http_hosts: startup.loaded.settings.models.plain_http_hosts.clone(),
            redactor: None,
        }
    }

    #[cfg(test)]
    pub fn of_variables(environment: Environment) -> KeyFinder {
        let store = Arc::new(KeyStore::new("/nowhere/keys.toml".into(), None));
        KeyFinder { store, environment, plain_http_hosts: Vec::new(), redactor: None }
    }

    /// The keys that are fetched are masked by `redactor` from then on.
    #[must_use]
    pub fn with_redactor(self, redactor: Arc<Redactor>) -> KeyFinder {
        KeyFinder { redactor: Some(redactor), ..self }
    }

    /// The same key, masked once it was fetched.
    fn masked(&self, fetch: FetchKey) -> FetchKey {
        let Some(redactor) = self.redactor.clone() else { return fetch };
        Arc::new(move || {
            let key = fetch();
            let redactor = Arc::clone(&redactor);

            async move {
                let key = key.await?;
                let parts = key.as_deref().map(secret_parts).unwrap_or_default();
                redactor.learn_values(parts.iter().map(String::as_str));
                Ok(key)
            }
            .boxed()
        })
    }

    /// The key for the server of the settings.
    pub fn of_connection(&self, connection: &Connection) -> KeySource {
        if is_of_account(connection) && !self.saved(&connection.base_url).is_known_none() {
            return self.saved(&connection.base_url);
        }
        let known = connection.api_key.as_ref().map(|key| key.expose().to_owned());
        match (known, connection.key_command.as_slice()) {
            (Some(key), _)
                if connection.provider.kind() == Provider::Vertex && key.starts_with('{') =>
            {
                let fetch: FetchKey = Arc::new(move || {
                    let key = key.clone();
                    async move { google_token(&key).await.map(Some) }.boxed()
                });
                self.checked(&connection.base_url, KeySource::Later(self.masked(fetch)))
            }
            (Some(key), _) => self.checked(&connection.base_url, KeySource::Known(Some(key))),
            (None, [program, args @ ..]) => {
                let fetch = self.command(program, args);
                self.checked(&connection.base_url, KeySource::Later(self.masked(fetch)))
            }
            (None, []) => self.saved(&connection.base_url),
        }
    }

    /// The key for another server: from its variable, or as it was saved.
    pub fn of_server(&self, base_url: &str, variable: &str) -> KeySource {
        match self.environment.get(variable) {
            Some(key) => self.checked(base_url, KeySource::Known(Some(key.to_owned()))),
            None => self.saved(base_url),
        }
    }

    /// The providers that there is a key for.
    pub fn providers(&self) -> Vec<ConnectedProvider> {
        let saved = self.store.servers();
        let connected = HOSTED.iter().filter_map(|hosted| {
            let key = self.of_server(hosted.base_url, hosted.key_env);
            let server = server_origin(hosted.base_url)?;
            let logged_in = saved.contains(&server);
            (!key.is_known_none()).then_some(ConnectedProvider { hosted, key, logged_in })
        });
        let mut connected: Vec<ConnectedProvider> = connected.collect();
        // One provider may have several variables.
        connected.dedup_by_key(|one| one.hosted.base_url);
        connected
    }

    fn saved(&self, base_url: &str) -> KeySource {
        let Some(server) = server_origin(base_url) else { return KeySource::Known(None) };
        if self.store.place(&server).is_none() {
            return KeySource::Known(None);
        }
        let store = Arc::clone(&self.store);
        let fetch: FetchKey = Arc::new(move || {
            let store = Arc::clone(&store);
            let server = server.clone();

            let read = tokio::task::spawn_blocking(move || store.read(&server));
            async move {
                let key = read.await.map_err(|_| LocalizedText::from(phrases::NOT_SAVED))?;
                let key = key.map_err(|error| error.localized())?;
                Ok(key.map(|key| key.expose().to_owned()))
            }
            .boxed()
        });
        self.checked(base_url, KeySource::Later(self.masked(fetch)))
    }

    fn command(&self, program: &str, args: &[String]) -> FetchKey {
        let patience = key_command::WAIT_TIMEOUT;
        let command = Arc::new(user_command(&self.environment, program, args, patience));
        Arc::new(move || {
            let command = Arc::clone(&command);
            async move { key_command::run(&command).await.map(Some) }.boxed()
        })
    }

    /// Holds a key back that would cross a network readable by anyone.
    fn checked(&self, base_url: &str, key: KeySource) -> KeySource {
        match refusal(base_url, &self.plain_http_hosts) {
            None => key,
            Some(why) => KeySource::Later(Arc::new(move || {
                let why = why.clone();
                async move { Err(why) }.boxed()
            })),
        }
    }
}

/// Why a key may not be sent to this address, unless the user allowed its host.
pub fn refusal(base_url: &str, allowed: &[String]) -> Option<LocalizedText> {
    let host = exposed_host(base_url, true)?;
    let allowed = allowed.iter().any(|name| name.eq_ignore_ascii_case(&host));
    let may = is_private(&host) || allowed;
    (!may).then(|| phrases::PLAIN_HTTP.with("host", host))
}

pub fn key_store(startup: &Startup) -> KeyStore {
    store_of(&startup.loaded.settings, startup.paths.saved_keys())
}

fn store_of(settings: &Settings, file: std::path::PathBuf) -> KeyStore {
    KeyStore::new(file, settings.models.uses_keyring.then(system_keyring).flatten())
}

/// Where the key of the connection is, if it is not in a variable; nothing is read from a keyring.
pub fn key_place(startup: &Startup) -> Option<LocalizedText> {
    let connection = startup.loaded.settings.connection.as_ref()?;
    let program = connection.key_command.first();
    let by_command = program.map(|program| phrases::BY_COMMAND.with("program", program.as_str()));
    if by_command.is_some() && !is_of_account(connection) {
        return by_command;
    }
    let store = key_store(startup);
    let place = server_origin(&connection.base_url).and_then(|server| store.place(&server));
    let saved = place.map(|place| match place {
        KeyPlace::Keyring => phrases::IN_KEYRING.into(),
        KeyPlace::File => phrases::IN_FILE.with("file", store.file().display().to_string()),
    });
    saved.or(by_command)
}

/// Whether the key is only what AWS's own files or variables have for all programs: one that was
/// saved for this one comes before it.
fn is_of_account(connection: &Connection) -> bool {
    let is_signed = connection.api_key.as_ref().is_some_and(|key| key.expose().starts_with('{'));
    connection.provider.kind() == Provider::Bedrock
        && (is_signed || connection.key_variable == AWS_COMMAND)
}

/// A program that the user's settings name, with the user's own environment.
pub fn user_command(
    environment: &Environment,
    program: &str,
    args: &[String],
    patience: Duration,
) -> KeyCommand {
    let path = environment.path("PATH").unwrap_or_default();
    let variables = environment.iter();
    KeyCommand {
        program: program.to_owned(),
        args: args.to_vec(),
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        path: std::env::split_paths(&path).collect(),
        patience,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_crosses_a_network_in_the_open_only_where_the_user_allowed_it() {
        let refused = |url: &str| refusal(url, &["box.example.com".to_owned()]).is_some();
        assert!(refused("http://api.example.com/v1") && refused("http://192.0.2.7/v1"));
        for open in [
            "https://api.example.com/v1",
            "http://BOX.example.com/v1",
            "http://127.0.0.1:1/v1",
            "http://192.168.1.4/v1",
            "http://box:8080/v1",
        ] {
            assert!(!refused(open), "{open}");
        }
    }

    #[tokio::test]
    async fn the_key_of_a_variable_is_held_back_too() {
        let environment = Environment::from_pairs([("A_KEY", "sk-a")]);
        let finder = KeyFinder::of_variables(environment);
        let key = finder.of_server("https://api.example.com", "A_KEY").fetch().await;
        assert_eq!(key, Ok(Some("sk-a".into())));
        assert!(finder.of_server("http://api.example.com", "A_KEY").fetch().await.is_err());
        assert!(finder.of_server("https://api.example.com", "B_KEY").is_known_none());
    }
}
