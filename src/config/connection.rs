//! The connection to a model, from a profile, the options of a run and the environment.

use std::path::PathBuf;

use super::Environment;
use super::aws::AwsAccount;
use super::diagnostic::{ConfigDiagnostic, ConfigError, DiagnosticSource};
use super::google::GoogleProject;
use super::layers::{Layers, SettingsLayer};
use super::object_value;
use super::toml_schema::TomlValue;
use avocet_core::i18n::config as phrases;
use avocet_core::protocol::{self, Dialect, Mode, PromptSize, Provider, RequestSettings};
use avocet_core::secret::Secret;

/// The connection to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    pub provider: ProviderSetting,
    /// The address up to and with `/v1`; empty for a built-in model.
    pub base_url: String,
    pub api_key: Option<Secret>,
    /// The variable that the key came from, or should come from: for "set X".
    pub key_variable: String,
    /// A program with its arguments that prints the key; empty: none.
    pub key_command: Vec<String>,
    /// How its models propose steps; `None`: as each can.
    pub dialect: Option<Dialect>,
    /// The system prompt its models get; `None`: as suits each.
    pub prompt: Option<PromptSize>,
    /// Whether they are offered a tool for shell lines.
    pub shell_tool: bool,
    /// The models of the two modes; empty if the server must be asked.
    pub low: String,
    pub high: String,
    /// Which models answer instead, in this order.
    pub fallback: Vec<FallbackTarget>,
    /// What goes with each request.
    pub request: RequestSettings,
}

/// A model that answers when the one before it cannot.
#[derive(Clone, Debug, PartialEq)]
pub struct FallbackTarget {
    /// As the settings name it: a profile, or else a model.
    pub name: String,
    /// The connection of the profile; a model is at the same server, or at one whose name is before
    /// a colon.
    pub connection: Option<Box<Connection>>,
}

impl Connection {
    fn built_in(provider: ProviderSetting) -> Connection {
        let name = provider.kind().name().to_owned();
        Connection {
            provider,
            base_url: String::new(),
            api_key: None,
            key_variable: String::new(),
            key_command: Vec::new(),
            dialect: None,
            prompt: None,
            shell_tool: false,
            low: name.clone(),
            high: name,
            fallback: Vec::new(),
            request: RequestSettings::default(),
        }
    }

    pub fn model(&self, mode: Mode) -> &str {
        match mode {
            Mode::Low => &self.low,
            Mode::High => &self.high,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderSetting {
    Server(Provider),
    Guide,
    Scripted(PathBuf),
}

impl ProviderSetting {
    pub fn kind(&self) -> Provider {
        match self {
            ProviderSetting::Server(provider) => *provider,
            ProviderSetting::Guide => Provider::Guide,
            ProviderSetting::Scripted(_) => Provider::Scripted,
        }
    }

    /// The built-in models that `--model` can name.
    fn from_model_name(model: &str) -> Option<ProviderSetting> {
        match model.split_once(':') {
            Some(("scripted", file)) if !file.is_empty() => {
                Some(ProviderSetting::Scripted(PathBuf::from(file)))
            }
            _ if model == "guide" => Some(ProviderSetting::Guide),
            _ => None,
        }
    }
}

/// The server that keys named `OPENAI_API_KEY` are for if no other is named.
const OPENAI: &str = "https://api.openai.com/v1";
/// The variable that only this program reads.
const OWN_KEY: &str = "AVOCET_API_KEY";

pub(super) fn connection(
    profile: &str,
    layers: &Layers,
    environment: &Environment,
) -> Option<Connection> {
    let run = RunOptions { model: layers.text("model"), base_url: layers.text("base_url") };
    // Another server knows nothing of the models of this one.
    let has_fallback = run.base_url.is_none();
    let connection = profile_connection(profile, layers, environment, Some(run))?;
    let names = layers.list(&format!("profiles.{profile}.fallback"));
    let names = names.into_iter().filter(|name| has_fallback && name != profile);
    let fallback = names.map(|name| {
        let is_profile = layers.profiles().contains(&name);
        let own = || profile_connection(&name, layers, environment, None);
        let connection = is_profile.then(own).flatten().map(Box::new);
        FallbackTarget { name, connection }
    });
    Some(Connection { fallback: fallback.collect(), ..connection })
}

/// What options and variables say of the connection of this run.
struct RunOptions {
    model: Option<String>,
    base_url: Option<String>,
}

/// The connection of a profile; that of a fall-back has no options, and no key but its own.
fn profile_connection(
    profile: &str,
    layers: &Layers,
    environment: &Environment,
    run: Option<RunOptions>,
) -> Option<Connection> {
    let of_profile = |key: &str| layers.text(&format!("profiles.{profile}.{key}"));
    let is_run = run.is_some();
    let RunOptions { model, base_url: named } =
        run.unwrap_or(RunOptions { model: None, base_url: None });
    let low = model.clone().or_else(|| of_profile("low")).or_else(|| of_profile("high"));
    let high = model.clone().or_else(|| of_profile("high")).or_else(|| of_profile("low"));
    let high_name = high.clone().unwrap_or_default();

    let built_in = built_in_model(model.as_deref(), of_profile, named.is_some(), &high_name);
    if let Some(provider) = built_in {
        return Some(Connection::built_in(provider));
    }
    let has_key = of_profile("api_key_env").is_some()
        || matches!(layers.layer("api_key"), SettingsLayer::Variable(_));
    let may_guess = is_run && !has_key;
    let server = ServerChoice::new(of_profile, named, may_guess, environment);
    let FoundKey { api_key, key_variable, key_command } =
        server.key(profile, layers, environment, is_run);
    let named_by_profile = of_profile("api_key_env").is_some_and(|name| name == key_variable);
    let of_openai = api_key.is_some() && (named_by_profile || key_variable == "OPENAI_API_KEY");
    let base_url = server.address.or_else(|| of_openai.then(|| OPENAI.to_owned()))?;
    let base_url = base_url.trim_end_matches('/').to_owned();
    let provider = server.provider.unwrap_or_else(|| Provider::at(&base_url));
    let of_client = || server.client.and_then(|client| environment.get(client.model));
    let model_of = |named: Option<String>| {
        named.or_else(|| of_client().map(str::to_owned)).unwrap_or_default()
    };
    let mut request = request_settings(profile, layers, environment);
    request.headers.splice(..0, client_headers(provider, &base_url, environment));
    Some(Connection {
        provider: ProviderSetting::Server(provider),
        base_url,
        api_key,
        key_variable,
        key_command,
        dialect: of_profile("dialect").and_then(|name| Dialect::from_name(&name)),
        shell_tool: layers.flag(&format!("profiles.{profile}.shell_tool")),
        prompt: of_profile("prompt").and_then(|name| PromptSize::from_name(&name)),
        low: model_of(low),
        high: model_of(high),
        fallback: Vec::new(),
        request,
    })
}

/// Which server a profile and a run mean.
struct ServerChoice {
    provider: Option<Provider>,
    client: Option<&'static ClientVariables>,
    address: Option<String>,
    /// The settings file names it.
    by_profile: bool,
    cloud: Option<CloudAccount>,
}

/// An account whose address and key are found in a way of its own.
struct CloudAccount {
    base_url: Option<String>,
    key: FoundKey,
}

impl CloudAccount {
    fn find(provider: Provider, environment: &Environment) -> Option<CloudAccount> {
        match provider {
            Provider::Bedrock => {
                let AwsAccount { base_url, key, key_name, command } = AwsAccount::find(environment);
                let key = FoundKey { api_key: key, key_variable: key_name, key_command: command };
                Some(CloudAccount { base_url: Some(base_url), key })
            }
            Provider::Vertex => {
                let GoogleProject { base_url, key, key_name, command } =
                    GoogleProject::find(environment);
                let key = FoundKey { api_key: key, key_variable: key_name, key_command: command };
                Some(CloudAccount { base_url, key })
            }
            _ => None,
        }
    }
}

/// The key of a server, or the program that prints it.
#[derive(Clone)]
struct FoundKey {
    api_key: Option<Secret>,
    key_variable: String,
    key_command: Vec<String>,
}

impl ServerChoice {
    fn new(
        of_profile: impl Fn(&str) -> Option<String>,
        named: Option<String>,
        may_guess: bool,
        environment: &Environment,
    ) -> ServerChoice {
        let of_server = of_profile("base_url");
        let is_own = named.is_none() || of_server.is_none();
        let provider = of_profile("provider").filter(|_| is_own);
        let provider = provider.and_then(|name| Provider::from_name(&name));
        let to_profile = named.is_none().then_some(of_server).flatten();
        let is_open = named.is_none() && to_profile.is_none();
        let client = CLIENTS.iter().find(|client| match provider {
            Some(provider) => is_open && provider == client.provider,
            None => is_open && may_guess && client.is_set(environment),
        });
        let provider = provider.or(client.map(|client| client.provider));
        let home = client.and_then(|client| environment.get(client.base_url));
        // That of AWS depends on the region.
        let usual = || provider.filter(|it| *it != Provider::Bedrock).and_then(Provider::home);
        let home = home.or_else(usual).map(str::to_owned);
        let by_profile = named.is_none() && (to_profile.is_some() || home.is_some());
        let address = named.or(to_profile).or(home);
        let known = provider.or_else(|| address.as_deref().map(Provider::at));
        let cloud = known.and_then(|known| CloudAccount::find(known, environment));
        let by_profile = by_profile || address.is_none() && cloud.is_some();
        let address = address.or_else(|| cloud.as_ref()?.base_url.clone());
        ServerChoice { provider, client, address, by_profile, cloud }
    }

    fn key(
        &self,
        profile: &str,
        layers: &Layers,
        environment: &Environment,
        is_run: bool,
    ) -> FoundKey {
        let of_profile = layers.text(&format!("profiles.{profile}.api_key_env"));
        let usual = self.usual_keys();
        let (api_key, key_variable) = if is_run {
            find_key(layers, environment, self.by_profile, of_profile, &usual)
        } else {
            own_key(environment, of_profile, &usual)
        };
        let key_command = layers.list(&format!("profiles.{profile}.api_key_command"));
        match &self.cloud {
            Some(cloud) if api_key.is_none() && key_command.is_empty() => cloud.key.clone(),
            _ => FoundKey { api_key, key_variable, key_command },
        }
    }

    /// The variables that usually hold its key.
    fn usual_keys(&self) -> Vec<&'static str> {
        match self.client {
            Some(client) => client.keys.to_vec(),
            None => self.address.as_deref().map(protocol::key_variables).unwrap_or_default(),
        }
    }
}

/// A built-in model: named by `--model`, or by the profile if no server overrides it.
fn built_in_model(
    model: Option<&str>,
    of_profile: impl Fn(&str) -> Option<String>,
    server_named: bool,
    high: &str,
) -> Option<ProviderSetting> {
    match (model, of_profile("provider").as_deref()) {
        (Some(model), _) if ProviderSetting::from_model_name(model).is_some() => {
            ProviderSetting::from_model_name(model)
        }
        (None, Some("guide")) if !server_named => Some(ProviderSetting::Guide),
        (None, Some("scripted")) if !server_named => Some(ProviderSetting::Scripted(high.into())),
        _ => None,
    }
}

/// The key for the active server. A key that is in the environment for other programs (`R9S_…`,
/// `OPENAI_…`) is never sent to a server that the settings file names: that one gets
/// `AVOCET_API_KEY` or the variable its profile names. A known host gets its own variable
/// (`usual`), wherever it is named.
fn find_key(
    layers: &Layers,
    environment: &Environment,
    to_profile: bool,
    of_profile: Option<String>,
    usual: &[&str],
) -> (Option<Secret>, String) {
    let secret = |name: String| (environment.get(&name).map(Secret::new), name);
    let server_named = layers.text("base_url").is_some();

    let own = || usual.iter().find(|name| environment.get(name).is_some());
    match (layers.layer("api_key"), of_profile) {
        (SettingsLayer::Variable(name), _) if name == OWN_KEY => secret(name),
        (_, Some(name)) if !server_named => secret(name),
        _ if own().is_some() => secret(own().copied().unwrap_or_default().to_owned()),
        (SettingsLayer::Variable(name), None) if !to_profile => secret(name),
        (SettingsLayer::Variable(name), Some(_)) => secret(name),
        _ => (None, usual.first().copied().unwrap_or(OWN_KEY).to_owned()),
    }
}

/// The key of a server that is not the run's: the one its profile names, or its usual one.
fn own_key(
    environment: &Environment,
    of_profile: Option<String>,
    usual: &[&str],
) -> (Option<Secret>, String) {
    let known = || usual.iter().find(|name| environment.get(name).is_some()).or(usual.first());
    let name = of_profile.or_else(|| known().map(|name| (*name).to_owned())).unwrap_or_default();
    (environment.get(&name).map(Secret::new), name)
}

/// The variables from which the maker's own clients take another address of its format.
struct ClientVariables {
    provider: Provider,
    base_url: &'static str,
    /// Of the keys, the first one counts that is set.
    keys: &'static [&'static str],
    model: &'static str,
}

const CLIENTS: &[ClientVariables] = &[
    ClientVariables {
        provider: Provider::Anthropic,
        base_url: "ANTHROPIC_BASE_URL",
        keys: &["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
        model: "ANTHROPIC_MODEL",
    },
    ClientVariables {
        provider: Provider::Gemini,
        base_url: "GOOGLE_GEMINI_BASE_URL",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        model: "GEMINI_MODEL",
    },
];

impl ClientVariables {
    fn is_set(&self, environment: &Environment) -> bool {
        let is_set = |name: &&str| environment.get(name).is_some();
        is_set(&self.base_url) && self.keys.iter().any(is_set)
    }
}

/// What a profile adds to each request. A header whose variable is not set is left out.
fn request_settings(profile: &str, layers: &Layers, environment: &Environment) -> RequestSettings {
    let path = |key: &str| format!("profiles.{profile}.{key}");
    let number = |key: &str| match layers.get(&path(key)) {
        Some(TomlValue::Number(number)) => Some(number),
        _ => None,
    };
    let headers = object_value::object(layers.text(&path("headers"))).into_iter();
    let headers = headers.filter_map(|(name, value)| {
        Some((name, Secret::new(object_value::expand(value.as_str()?, environment).ok()?)))
    });
    RequestSettings {
        headers: headers.collect(),
        extra_body: object_value::object(layers.text(&path("extra_body"))),
        temperature: number("temperature"),
        top_p: number("top_p"),
        max_output: u32::try_from(layers.count(&path("max_output"))).ok().filter(|most| *most > 0),
        service_tier: layers.text(&path("service_tier")),
    }
}

/// The headers that the maker's own clients take from the environment.
fn client_headers(
    provider: Provider,
    base_url: &str,
    environment: &Environment,
) -> Vec<(String, Secret)> {
    let get = |name: &str| environment.get(name).map(str::to_owned);
    let named: Vec<(String, String)> = if provider == Provider::Anthropic {
        let lines = get("ANTHROPIC_CUSTOM_HEADERS").unwrap_or_default();
        let lines = lines.lines().filter_map(|line| line.split_once(':'));
        lines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
    } else if base_url.starts_with(OPENAI) {
        let headers =
            [("openai-organization", "OPENAI_ORG_ID"), ("openai-project", "OPENAI_PROJECT_ID")];
        headers.into_iter().filter_map(|(name, of)| Some((name.to_owned(), get(of)?))).collect()
    } else {
        Vec::new()
    };
    let can_send =
        |(name, value): &(String, String)| object_value::check_header(name, Some(value)).is_ok();
    let named = named.into_iter().filter(can_send);
    named.map(|(name, value)| (name, Secret::new(value))).collect()
}

/// Reports the headers of the active profile that name variables which are not set.
pub(super) fn unset_variables(
    profile: &str,
    layers: &Layers,
    environment: &Environment,
) -> Option<ConfigDiagnostic> {
    let key = format!("profiles.{profile}.headers");
    let SettingsLayer::User(file) = layers.layer(&key) else { return None };
    let unset = object_value::object(layers.text(&key))
        .into_iter()
        .find_map(|(_, value)| object_value::expand(value.as_str()?, environment).err())?;
    let fault = ConfigError::mismatch(
        phrases::SET_VARIABLES.into(),
        phrases::FOUND_UNSET.with("name", unset),
    );
    Some(ConfigDiagnostic {
        origin: DiagnosticSource::File(file),
        place: None,
        key: Some(key),
        fault,
    })
}
