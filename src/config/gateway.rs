//! The typed settings of the gateways to chat platforms.
//!
//! Only the user's own file sets them; a project's settings cannot open a gateway or admit anyone.

use std::time::Duration;

use super::key_store::{KeyStore, KeyStoreError};
use super::keys::KEYS;
use super::layers::Layers;
use super::toml_schema::TomlKind;
use super::{Environment, Secret};
use avocet_core::protocol::ChatPlatform;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySettings {
    pub telegram: PlatformSettings,
    pub slack: PlatformSettings,
    pub discord: PlatformSettings,
    pub feishu: PlatformSettings,
    /// The commands of users who are not admins; empty: all that change no settings.
    pub user_commands: Vec<String>,
    /// The commands that come first in a menu.
    pub menu_first: Vec<String>,
    /// The working folder of new chats; `None`: the one the gateway was started in.
    pub folder: Option<String>,
    /// Slack gets the one command that takes all others.
    pub slack_umbrella: bool,
    pub bounds: GatewayBounds,
    /// No language is set, so conversations are in the one of who begins them.
    pub follows_sender: bool,
    /// The settings that open commands of the terminal to chats, as far as they are true.
    pub open: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformSettings {
    pub enabled: bool,
    pub token: ChatToken,
    /// The second token, for the websocket; only Slack has one.
    pub app_token: Option<ChatToken>,
    /// The app that the token is the secret of; only Feishu has one.
    pub app_id: Option<String>,
    /// Where the platform answers, without a slash at the end.
    pub api_url: String,
    /// The ids of users who may talk; empty: only admins and paired users.
    pub allow: Vec<String>,
    /// The ids of users who may also change settings and approve what is of high risk.
    pub admins: Vec<String>,
    /// Whether a message in a group must mention the bot.
    pub mention_required: bool,
    /// Whether each user of a group has a conversation of their own.
    pub session_per_user: bool,
}

/// Where a token is: in its variable, or saved with the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatToken {
    pub variable: String,
    pub value: Option<Secret>,
    /// The name under which it is saved among the keys.
    pub entry: String,
}

impl ChatToken {
    /// From the variable, or as it was saved. May wait for the keyring.
    pub fn read(&self, store: &KeyStore) -> Result<Option<Secret>, KeyStoreError> {
        match &self.value {
            Some(value) => Ok(Some(value.clone())),
            None => store.read(&self.entry),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayBounds {
    /// Conversations in memory at once.
    pub sessions: usize,
    /// Connections to a platform at once.
    pub connections: usize,
    /// Messages that may wait for their turn in one chat.
    pub queued: usize,
    /// Bytes that may wait for their turn in all chats.
    pub waiting_bytes: usize,
    /// Bytes of a file received from a chat.
    pub file_bytes: usize,
    /// How long an idle conversation stays in memory.
    pub session_idle: Duration,
    /// How long a question stays open; `None`: until it is answered.
    pub question_time: Option<Duration>,
}

impl GatewaySettings {
    pub fn platform(&self, platform: ChatPlatform) -> &PlatformSettings {
        match platform {
            ChatPlatform::Telegram => &self.telegram,
            ChatPlatform::Slack => &self.slack,
            ChatPlatform::Discord => &self.discord,
            ChatPlatform::Feishu => &self.feishu,
        }
    }

    /// Every token of every platform.
    pub fn tokens(&self) -> impl Iterator<Item = &ChatToken> {
        ChatPlatform::ALL.into_iter().flat_map(|platform| {
            let settings = self.platform(platform);
            std::iter::once(&settings.token).chain(&settings.app_token)
        })
    }

    pub(super) fn from_layers(layers: &Layers, environment: &Environment) -> GatewaySettings {
        let of = |platform| PlatformSettings::from_layers(platform, layers, environment);
        GatewaySettings {
            telegram: of(ChatPlatform::Telegram),
            slack: of(ChatPlatform::Slack),
            discord: of(ChatPlatform::Discord),
            feishu: of(ChatPlatform::Feishu),
            user_commands: names(layers, "gateway.user_commands"),
            menu_first: names(layers, "gateway.menu_first"),
            folder: layers.text("gateway.folder"),
            slack_umbrella: layers.text("gateway.slack.commands").as_deref() == Some("avocet"),
            bounds: GatewayBounds::from_layers(layers),
            follows_sender: layers.text("lang").is_none_or(|lang| lang == "auto"),
            open: KEYS
                .iter()
                .filter(|key| key.kind == TomlKind::Flag && layers.flag(key.path))
                .map(|key| key.path)
                .collect(),
        }
    }
}

impl PlatformSettings {
    fn from_layers(
        platform: ChatPlatform,
        layers: &Layers,
        environment: &Environment,
    ) -> PlatformSettings {
        let path = |key: &str| format!("gateway.{}.{key}", platform.name());
        let token = |key: &str| ChatToken {
            variable: layers.text(&path(&format!("{key}_env"))).unwrap_or_default(),
            value: layers
                .text(&path(&format!("{key}_env")))
                .and_then(|variable| environment.get(&variable).map(Secret::new)),
            entry: format!("gateway/{}/{key}", platform.name()),
        };
        let is_feishu = platform == ChatPlatform::Feishu;
        let api_url = layers.text(&path("api_url")).filter(|url| !url.is_empty());
        let domain = layers.text(&path("domain")).unwrap_or_default();
        let api_url = api_url.unwrap_or_else(|| feishu_address(&domain).to_owned());
        PlatformSettings {
            enabled: layers.flag(&path("enabled")),
            token: token(if is_feishu { "app_secret" } else { "token" }),
            app_id: is_feishu.then(|| layers.text(&path("app_id")).unwrap_or_default()),
            app_token: (platform == ChatPlatform::Slack).then(|| token("app_token")),
            api_url: api_url.trim_end_matches('/').to_owned(),
            allow: layers.list(&path("allow")),
            admins: layers.list(&path("admins")),
            mention_required: layers.text(&path("mention")).as_deref() != Some("optional"),
            session_per_user: layers.text(&path("session")).as_deref() == Some("user"),
        }
    }
}

/// The service has two names, and a server for each.
pub fn feishu_address(domain: &str) -> &'static str {
    match domain {
        "lark" => "https://open.larksuite.com",
        _ => "https://open.feishu.cn",
    }
}

impl GatewayBounds {
    fn from_layers(layers: &Layers) -> GatewayBounds {
        let count = |key: &str| {
            usize::try_from(layers.count(&format!("gateway.{key}"))).unwrap_or(usize::MAX)
        };
        let megabytes = |key: &str| count(key).saturating_mul(1024 * 1024);
        GatewayBounds {
            sessions: count("max_sessions"),
            connections: count("max_connections"),
            queued: count("max_queued"),
            waiting_bytes: megabytes("max_waiting_mb"),
            file_bytes: megabytes("max_file_mb"),
            session_idle: Duration::from_secs(layers.count("gateway.session_idle_s")),
            question_time: Some(Duration::from_secs(layers.count("gateway.question_s")))
                .filter(|time| !time.is_zero()),
        }
    }
}

/// Names of commands; a slash in front is allowed.
fn names(layers: &Layers, path: &str) -> Vec<String> {
    let names = layers.list(path);
    names.iter().map(|name| name.trim_start_matches('/').to_owned()).collect()
}
