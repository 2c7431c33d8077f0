//! The table of settings, one row per key. Reading, checking, `config get|set|unset`, the
//! environment, the fallback of an invalid key, its help and when a change counts are all derived
//! from it.

use super::object_value::RequestTable::{Fields, Headers};
use super::setting_timing::SettingTiming::{self, AtOnce, NextGateway, NextStart, NextTurn};
use super::toml_schema::ListKind::{Ids, Names, Paths, Programs, RuleIds, Rules, Words};
use super::toml_schema::TomlKind::{
    Choice, Count, Flag, Layout, List, Number, Object, Renamed, Text, Variable,
};
use super::toml_schema::{self, SettingKey};
use avocet_core::i18n::{config as w, settings as about};
use avocet_core::protocol::ApprovalMode;
use avocet_safety::web::SearchService;

/// Who answers; `auto` tells it by the address.
#[rustfmt::skip]
const PROVIDERS: &[&str] = &[
    "auto", "openai", "openai-responses", "anthropic", "gemini", "ollama", "azure", "openrouter",
    "bedrock", "vertex", "guide", "scripted",
];

/// The themes that are always there; `auto`: by the background of the terminal.
pub const THEMES: &[&str] = &["auto", "dark", "light", "high-contrast", "colorblind", "16-colors"];

/// How much a model reasons; `auto`: as it does by itself.
pub const EFFORTS: &[&str] = &["auto", "none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The parts of the status line.
const STATUS_PARTS: &[&str] = &[
    "model", "effort", "mode", "goal", "bot", "folder", "sandbox", "branch", "changes", "context",
    "tokens", "cost", "command",
];

/// Every setting. A `*` is a name that the user chooses.
///
/// What the command line and the environment say stays as it is while the program runs, and so does
/// the mode that a session was given. Who may talk in a chat is looked up for each message.
#[rustfmt::skip]
pub const KEYS: &[SettingKey] = &[
    SettingKey { path: "profile",                kind: Text,                                      built_in: "default", strictest: None,           variables: &["AVOCET_PROFILE"], elsewhere: None, about: Some(about::PROFILE), timing: NextTurn },
    SettingKey { path: "mode",                   kind: Choice(&["low", "high"]),                  built_in: "high",    strictest: None,           variables: &["AVOCET_MODE"],    elsewhere: None, about: Some(about::MODE), timing: NextTurn },
    SettingKey { path: "lang",                   kind: Choice(&["auto", "en", "zh"]),             built_in: "auto",    strictest: None,           variables: &["AVOCET_LANG"],    elsewhere: None, about: Some(about::LANG), timing: AtOnce },
    SettingKey { path: "theme",                  kind: Text,                                      built_in: "auto",    strictest: None,           variables: &["AVOCET_THEME"],   elsewhere: None, about: Some(about::THEME), timing: AtOnce },
    SettingKey { path: "vim",                    kind: Flag,                                      built_in: "false",   strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::VIM), timing: AtOnce },
    SettingKey { path: "motion",                 kind: Flag,                                      built_in: "true",    strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::MOTION), timing: AtOnce },
    SettingKey { path: "timestamps",             kind: Flag,                                      built_in: "false",   strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::TIMESTAMPS), timing: AtOnce },
    SettingKey { path: "show_thinking",          kind: Choice(&["folded", "full", "off"]),         built_in: "folded",  strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::SHOW_THINKING), timing: AtOnce },
    SettingKey { path: "show_pictures",          kind: Flag,                                      built_in: "false",   strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::SHOW_PICTURES), timing: AtOnce },
    SettingKey { path: "enter_while_busy",       kind: Choice(&["steer", "queue"]),               built_in: "steer",   strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::ENTER_WHILE_BUSY), timing: AtOnce },
    SettingKey { path: "color",                  kind: Choice(&["auto", "never"]),                built_in: "auto",    strictest: None,           variables: &["NO_COLOR"],       elsewhere: None, about: Some(about::COLOR), timing: AtOnce },
    SettingKey { path: "notify",                 kind: Choice(&["auto", "bell", "off"]),          built_in: "auto",    strictest: None,           variables: &["AVOCET_NOTIFY"],  elsewhere: None, about: Some(about::NOTIFY), timing: AtOnce },
    SettingKey { path: "screen.status",          kind: Layout(STATUS_PARTS),                      built_in: "",        strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::STATUS), timing: AtOnce },
    SettingKey { path: "screen.status_command",  kind: List(Words),                               built_in: "",        strictest: None,           variables: &[],                 elsewhere: None, about: Some(about::STATUS_COMMAND), timing: NextStart },
    SettingKey { path: "log",                    kind: Choice(&["off", "error", "warn", "info", "debug", "trace"]), built_in: "off", strictest: None, variables: &["AVOCET_LOG"],   elsewhere: None, about: Some(about::LOG), timing: AtOnce },

    // What the user says of models, by a pattern of their names.
    SettingKey { path: "models.*.window",        kind: Count { min: 512, max: 100_000_000 },      built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_WINDOW), timing: NextTurn },
    SettingKey { path: "models.*.output",        kind: Count { min: 1, max: 100_000_000 },        built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_OUTPUT), timing: NextTurn },
    SettingKey { path: "models.*.tools",         kind: Flag,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_TOOLS), timing: NextTurn },
    SettingKey { path: "models.*.images",        kind: Flag,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_IMAGES), timing: NextTurn },
    SettingKey { path: "models.*.price_input",   kind: Number { min: 0.0, max: 1e6 },             built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_PRICE_INPUT), timing: NextTurn },
    SettingKey { path: "models.*.price_output",  kind: Number { min: 0.0, max: 1e6 },             built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_PRICE_OUTPUT), timing: NextTurn },
    SettingKey { path: "models.*.price_cached",  kind: Number { min: 0.0, max: 1e6 },             built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_PRICE_CACHED), timing: NextTurn },
    SettingKey { path: "models.*.price_written", kind: Number { min: 0.0, max: 1e6 },             built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::MODEL_PRICE_WRITTEN), timing: NextTurn },

    // The connection of this run. In the file it is described by a profile.
    SettingKey { path: "model",                  kind: Text, built_in: "", strictest: None, variables: &["AVOCET_MODEL", "R9S_MODEL"],                              elsewhere: Some(w::MODEL_IN_PROFILE), about: None, timing: NextStart },
    SettingKey { path: "base_url",               kind: Text, built_in: "", strictest: None, variables: &["AVOCET_BASE_URL", "R9S_BASE_URL", "OPENAI_BASE_URL"],     elsewhere: Some(w::BASE_URL_IN_PROFILE), about: None, timing: NextStart },
    SettingKey { path: "effort",                 kind: Choice(EFFORTS), built_in: "", strictest: None, variables: &["AVOCET_EFFORT"],                               elsewhere: Some(w::EFFORT_IN_PROFILE), about: None, timing: NextStart },
    SettingKey { path: "api_key",                kind: Text, built_in: "", strictest: None, variables: &["AVOCET_API_KEY", "R9S_API_KEY", "OPENAI_API_KEY"],        elsewhere: Some(w::KEY_IN_ENVIRONMENT), about: None, timing: NextStart },

    SettingKey { path: "profiles.*.provider",    kind: Choice(PROVIDERS),                          built_in: "auto",    strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_PROVIDER), timing: NextTurn },
    SettingKey { path: "profiles.*.dialect",     kind: Choice(&["auto", "tools", "json"]),         built_in: "auto",    strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_DIALECT), timing: NextTurn },
    SettingKey { path: "profiles.*.effort",      kind: Choice(EFFORTS),                            built_in: "auto",    strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_EFFORT), timing: NextTurn },
    SettingKey { path: "profiles.*.prompt",      kind: Choice(&["auto", "full", "short"]),         built_in: "auto",    strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_PROMPT), timing: NextTurn },
    SettingKey { path: "profiles.*.shell_tool",  kind: Flag,                                      built_in: "false",   strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_SHELL_TOOL), timing: NextTurn },
    SettingKey { path: "profiles.*.base_url",    kind: Text,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_BASE_URL), timing: NextTurn },
    SettingKey { path: "profiles.*.api_key_env", kind: Variable,                                  built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_API_KEY_ENV), timing: NextTurn },
    SettingKey { path: "profiles.*.api_key_command", kind: List(Words),                           built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_API_KEY_COMMAND), timing: NextTurn },
    SettingKey { path: "profiles.*.low",         kind: Text,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_LOW), timing: NextTurn },
    SettingKey { path: "profiles.*.high",        kind: Text,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_HIGH), timing: NextTurn },
    SettingKey { path: "profiles.*.fallback",    kind: List(Words),                               built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_FALLBACK), timing: NextTurn },
    SettingKey { path: "profiles.*.headers",     kind: Object(Headers),                          built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_HEADERS), timing: NextTurn },
    SettingKey { path: "profiles.*.extra_body",  kind: Object(Fields),                           built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_EXTRA_BODY), timing: NextTurn },
    SettingKey { path: "profiles.*.temperature", kind: Number { min: 0.0, max: 2.0 },            built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_TEMPERATURE), timing: NextTurn },
    SettingKey { path: "profiles.*.top_p",       kind: Number { min: 0.0, max: 1.0 },            built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_TOP_P), timing: NextTurn },
    SettingKey { path: "profiles.*.max_output",  kind: Count { min: 1, max: 100_000_000 },       built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_MAX_OUTPUT), timing: NextTurn },
    SettingKey { path: "profiles.*.service_tier",kind: Text,                                     built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_SERVICE_TIER), timing: NextTurn },
    SettingKey { path: "profiles.*.api_key",     kind: Text,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: Some(w::KEY_IN_ENVIRONMENT), about: None, timing: NextTurn },
    SettingKey { path: "profiles.*.model",       kind: Text,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: Some(w::MODEL_IN_PROFILE), about: None, timing: NextTurn },

    SettingKey { path: "profiles.*.mode",        kind: Choice(ApprovalMode::NAMES),               built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROFILE_MODE), timing: NextStart },
    SettingKey { path: "folders.*.mode",         kind: Choice(ApprovalMode::NAMES),               built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::FOLDER_MODE), timing: NextStart },

    SettingKey { path: "key_store",              kind: Choice(&["auto", "file"]),                 built_in: "auto",    strictest: None,           variables: &["AVOCET_KEY_STORE"], elsewhere: None, about: Some(about::KEY_STORE), timing: NextTurn },
    SettingKey { path: "plain_http_hosts",       kind: List(Words),                               built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PLAIN_HTTP_HOSTS), timing: NextTurn },

    SettingKey { path: "safety.allowed_programs", kind: List(Programs),                           built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::ALLOWED_PROGRAMS), timing: AtOnce },
    SettingKey { path: "safety.unknown_program", kind: Choice(&["refuse", "confirm"]),            built_in: "refuse",  strictest: Some("refuse"), variables: &[], elsewhere: None, about: Some(about::UNKNOWN_PROGRAM), timing: AtOnce },
    SettingKey { path: "safety.allow_network",   kind: Flag,                                      built_in: "true",    strictest: Some("false"),  variables: &[], elsewhere: None, about: Some(about::ALLOW_NETWORK), timing: AtOnce },
    SettingKey { path: "safety.allow_write",     kind: Flag,                                      built_in: "true",    strictest: Some("false"),  variables: &[], elsewhere: None, about: Some(about::ALLOW_WRITE), timing: AtOnce },
    SettingKey { path: "safety.allow_sudo",      kind: Flag,                                      built_in: "false",   strictest: Some("false"),  variables: &[], elsewhere: None, about: Some(about::ALLOW_SUDO), timing: AtOnce },
    SettingKey { path: "safety.lift",            kind: List(RuleIds),                             built_in: "",        strictest: Some(""),       variables: &[], elsewhere: None, about: Some(about::LIFT), timing: AtOnce },
    SettingKey { path: "safety.allow",           kind: List(Rules),                               built_in: "",        strictest: Some(""),       variables: &[], elsewhere: None, about: Some(about::ALLOW), timing: AtOnce },
    SettingKey { path: "safety.deny",            kind: List(Rules),                               built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::DENY), timing: AtOnce },
    SettingKey { path: "safety.sandbox",         kind: Renamed(&["work", "read", "off"], &["all", "auto"]), built_in: "work", strictest: Some("work"), variables: &[], elsewhere: None, about: Some(about::SANDBOX), timing: AtOnce },
    SettingKey { path: "safety.mode",            kind: Choice(ApprovalMode::NAMES),               built_in: "ask",     strictest: Some("ask"),    variables: &[], elsewhere: None, about: Some(about::SAFETY_MODE), timing: NextStart },
    SettingKey { path: "safety.max_auto_steps_per_turn", kind: Count { min: 0, max: 10_000 },     built_in: "",        strictest: Some("1"),      variables: &[], elsewhere: None, about: Some(about::MAX_STEPS), timing: AtOnce },

    SettingKey { path: "safety.program_folders", kind: List(Paths),                               built_in: "",        strictest: Some(""),       variables: &[], elsewhere: None, about: Some(about::PROGRAM_FOLDERS), timing: AtOnce },
    SettingKey { path: "safety.config_files",    kind: List(Paths),                               built_in: "",        strictest: Some(""),       variables: &[], elsewhere: None, about: Some(about::CONFIG_FILES), timing: AtOnce },

    SettingKey { path: "web.fetch",              kind: Flag,                                      built_in: "true",    strictest: Some("false"),  variables: &[], elsewhere: None, about: Some(about::WEB_FETCH), timing: AtOnce },
    SettingKey { path: "web.hosts",              kind: List(Words),                               built_in: "",        strictest: Some(""),       variables: &[], elsewhere: None, about: Some(about::WEB_HOSTS), timing: AtOnce },
    SettingKey { path: "web.search",             kind: Choice(SearchService::NAMES),              built_in: "off",     strictest: Some("off"),    variables: &[], elsewhere: None, about: Some(about::WEB_SEARCH), timing: AtOnce },
    SettingKey { path: "web.search_url",         kind: Text,                                      built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::WEB_SEARCH_URL), timing: AtOnce },
    SettingKey { path: "web.search_key_env",     kind: Variable,                                  built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::WEB_SEARCH_KEY_ENV), timing: AtOnce },

    SettingKey { path: "scripts.environment",    kind: List(Words),                               built_in: "HOME, LANG, USER", strictest: None,  variables: &[], elsewhere: None, about: Some(about::SCRIPT_ENVIRONMENT), timing: AtOnce },

    SettingKey { path: "project.check",          kind: List(Words),                               built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::PROJECT_CHECK), timing: AtOnce },
    SettingKey { path: "project.worktree_files", kind: List(Words),                               built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::WORKTREE_FILES), timing: NextStart },

    SettingKey { path: "limits.idle_timeout_s",  kind: Count { min: 1, max: 3600 },               built_in: "90",      strictest: None,           variables: &["AVOCET_IDLE_TIMEOUT_S"], elsewhere: None, about: Some(about::IDLE_TIMEOUT), timing: AtOnce },
    SettingKey { path: "limits.piece_timeout_s", kind: Count { min: 1, max: 3600 },               built_in: "10",      strictest: None,           variables: &["AVOCET_PIECE_TIMEOUT_S"], elsewhere: None, about: Some(about::PIECE_TIMEOUT), timing: AtOnce },
    SettingKey { path: "limits.cost.turn",       kind: Number { min: 0.0, max: 1e6 },             built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::COST_TURN), timing: AtOnce },
    SettingKey { path: "limits.cost.session",    kind: Number { min: 0.0, max: 1e6 },             built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::COST_SESSION), timing: AtOnce },
    SettingKey { path: "limits.cost.run",        kind: Number { min: 0.0, max: 1e6 },             built_in: "",        strictest: None,           variables: &["AVOCET_MAX_COST"], elsewhere: None, about: Some(about::COST_RUN), timing: AtOnce },
    SettingKey { path: "limits.tokens.turn",     kind: Count { min: 1, max: 1_000_000_000_000 },  built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::TOKENS_TURN), timing: AtOnce },
    SettingKey { path: "limits.tokens.session",  kind: Count { min: 1, max: 1_000_000_000_000 },  built_in: "",        strictest: None,           variables: &[], elsewhere: None, about: Some(about::TOKENS_SESSION), timing: AtOnce },
    SettingKey { path: "limits.tokens.run",      kind: Count { min: 1, max: 1_000_000_000_000 },  built_in: "",        strictest: None,           variables: &["AVOCET_MAX_TOKENS"], elsewhere: None, about: Some(about::TOKENS_RUN), timing: AtOnce },
    SettingKey { path: "limits.script_timeout_s", kind: Count { min: 1, max: 604_800 },           built_in: "",        strictest: None,           variables: &["AVOCET_SCRIPT_TIMEOUT_S"], elsewhere: None, about: Some(about::SCRIPT_TIMEOUT), timing: AtOnce },
    SettingKey { path: "limits.subagents",       kind: Count { min: 1, max: 16 },                 built_in: "4",       strictest: Some("1"),      variables: &[], elsewhere: None, about: Some(about::SUBAGENTS), timing: AtOnce },
    SettingKey { path: "limits.step_timeout_s",  kind: Count { min: 1, max: 86_400 },             built_in: "120",     strictest: None,           variables: &["AVOCET_STEP_TIMEOUT_S"], elsewhere: None, about: Some(about::STEP_TIMEOUT), timing: AtOnce },

    // Chat platforms. A file of a project cannot set these: it would open a way in.
    SettingKey { path: "gateway.telegram.enabled",    kind: Flag,                                   built_in: "false", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ENABLED), timing: NextGateway },
    SettingKey { path: "gateway.telegram.token_env",  kind: Variable,                               built_in: "TELEGRAM_BOT_TOKEN", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_TOKEN_ENV), timing: NextGateway },
    SettingKey { path: "gateway.telegram.token",      kind: Text,                                   built_in: "", strictest: None, variables: &[], elsewhere: Some(w::TOKEN_IN_ENVIRONMENT), about: None, timing: NextGateway },
    SettingKey { path: "gateway.telegram.allow",      kind: List(Ids),                              built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ALLOW), timing: AtOnce },
    SettingKey { path: "gateway.telegram.admins",     kind: List(Ids),                              built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ADMINS), timing: AtOnce },
    SettingKey { path: "gateway.telegram.mention",    kind: Choice(&["required", "optional"]),      built_in: "required", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MENTION), timing: AtOnce },
    SettingKey { path: "gateway.telegram.session",    kind: Choice(&["chat", "user"]),      built_in: "chat", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_SESSION), timing: NextGateway },
    SettingKey { path: "gateway.telegram.api_url",    kind: Text,                                   built_in: "https://api.telegram.org", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_API_URL), timing: NextGateway },
    SettingKey { path: "gateway.slack.enabled",       kind: Flag,                                   built_in: "false", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ENABLED), timing: NextGateway },
    SettingKey { path: "gateway.slack.token_env",     kind: Variable,                               built_in: "SLACK_BOT_TOKEN", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_TOKEN_ENV), timing: NextGateway },
    SettingKey { path: "gateway.slack.token",         kind: Text,                                   built_in: "", strictest: None, variables: &[], elsewhere: Some(w::TOKEN_IN_ENVIRONMENT), about: None, timing: NextGateway },
    SettingKey { path: "gateway.slack.app_token_env", kind: Variable,                               built_in: "SLACK_APP_TOKEN", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_APP_TOKEN_ENV), timing: NextGateway },
    SettingKey { path: "gateway.slack.app_token",     kind: Text,                                   built_in: "", strictest: None, variables: &[], elsewhere: Some(w::TOKEN_IN_ENVIRONMENT), about: None, timing: NextGateway },
    SettingKey { path: "gateway.slack.allow",         kind: List(Ids),                              built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ALLOW), timing: AtOnce },
    SettingKey { path: "gateway.slack.admins",        kind: List(Ids),                              built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ADMINS), timing: AtOnce },
    SettingKey { path: "gateway.slack.mention",       kind: Choice(&["required", "optional"]),      built_in: "required", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MENTION), timing: AtOnce },
    SettingKey { path: "gateway.slack.session",       kind: Choice(&["chat", "user"]),      built_in: "chat", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_SESSION), timing: NextGateway },
    SettingKey { path: "gateway.slack.commands",       kind: Choice(&["all", "avocet"]),      built_in: "all", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_SLACK_MENU), timing: NextGateway },
    SettingKey { path: "gateway.slack.api_url",       kind: Text,                                   built_in: "https://slack.com/api", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_API_URL), timing: NextGateway },
    SettingKey { path: "gateway.discord.enabled",     kind: Flag,                                   built_in: "false", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ENABLED), timing: NextGateway },
    SettingKey { path: "gateway.discord.token_env",   kind: Variable,                               built_in: "DISCORD_BOT_TOKEN", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_TOKEN_ENV), timing: NextGateway },
    SettingKey { path: "gateway.discord.token",       kind: Text,                                   built_in: "", strictest: None, variables: &[], elsewhere: Some(w::TOKEN_IN_ENVIRONMENT), about: None, timing: NextGateway },
    SettingKey { path: "gateway.discord.allow",       kind: List(Ids),                              built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ALLOW), timing: AtOnce },
    SettingKey { path: "gateway.discord.admins",      kind: List(Ids),                              built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ADMINS), timing: AtOnce },
    SettingKey { path: "gateway.discord.mention",     kind: Choice(&["required", "optional"]),      built_in: "required", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MENTION), timing: AtOnce },
    SettingKey { path: "gateway.discord.session",     kind: Choice(&["chat", "user"]),      built_in: "chat", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_SESSION), timing: NextGateway },
    SettingKey { path: "gateway.discord.api_url",     kind: Text,                                   built_in: "https://discord.com/api/v10", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_API_URL), timing: NextGateway },
    SettingKey { path: "gateway.feishu.enabled",         kind: Flag,                                    built_in: "false", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ENABLED), timing: NextGateway },
    SettingKey { path: "gateway.feishu.app_id",          kind: Text,                                    built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_APP_ID), timing: NextGateway },
    SettingKey { path: "gateway.feishu.app_secret_env",  kind: Variable,                                built_in: "FEISHU_APP_SECRET", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_APP_SECRET_ENV), timing: NextGateway },
    SettingKey { path: "gateway.feishu.app_secret",      kind: Text,                                    built_in: "", strictest: None, variables: &[], elsewhere: Some(w::TOKEN_IN_ENVIRONMENT), about: None, timing: NextGateway },
    SettingKey { path: "gateway.feishu.domain",          kind: Choice(&["feishu", "lark"]),             built_in: "feishu", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_DOMAIN), timing: NextGateway },
    SettingKey { path: "gateway.feishu.allow",           kind: List(Ids),                               built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ALLOW), timing: AtOnce },
    SettingKey { path: "gateway.feishu.admins",          kind: List(Ids),                               built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_ADMINS), timing: AtOnce },
    SettingKey { path: "gateway.feishu.mention",         kind: Choice(&["required", "optional"]),       built_in: "required", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MENTION), timing: AtOnce },
    SettingKey { path: "gateway.feishu.session",         kind: Choice(&["chat", "user"]),       built_in: "chat", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_SESSION), timing: NextGateway },
    SettingKey { path: "gateway.feishu.api_url",         kind: Text,                                    built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_API_URL), timing: NextGateway },
    SettingKey { path: "gateway.user_commands",       kind: List(Names),                            built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_USER_COMMANDS), timing: NextGateway },
    SettingKey { path: "gateway.menu_first",          kind: List(Names),                            built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MENU_FIRST), timing: NextGateway },
    SettingKey { path: "gateway.folder",              kind: Text,                                   built_in: "", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_FOLDER), timing: NextGateway },
    SettingKey { path: "gateway.max_sessions",        kind: Count { min: 1, max: 10_000 },          built_in: "256", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MAX_SESSIONS), timing: NextGateway },
    SettingKey { path: "gateway.max_connections",     kind: Count { min: 1, max: 1000 },            built_in: "32", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MAX_CONNECTIONS), timing: NextGateway },
    SettingKey { path: "gateway.max_queued",          kind: Count { min: 1, max: 1000 },            built_in: "20", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MAX_QUEUED), timing: NextGateway },
    SettingKey { path: "gateway.max_waiting_mb",      kind: Count { min: 1, max: 1000 },            built_in: "16", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MAX_WAITING), timing: NextGateway },
    SettingKey { path: "gateway.max_file_mb",         kind: Count { min: 1, max: 1000 },            built_in: "20", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_MAX_FILE), timing: NextGateway },
    SettingKey { path: "gateway.session_idle_s",      kind: Count { min: 1, max: 86_400 },          built_in: "900", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_SESSION_IDLE), timing: NextGateway },
    SettingKey { path: "gateway.question_s",          kind: Count { min: 0, max: 604_800 },         built_in: "86400", strictest: None, variables: &[], elsewhere: None, about: Some(about::GATEWAY_QUESTION), timing: NextGateway },
    SettingKey { path: "display.tool_progress_command",kind: Flag,                                  built_in: "false", strictest: None, variables: &[], elsewhere: None, about: Some(about::TOOL_PROGRESS), timing: NextGateway },
];

/// When a change of a setting counts.
pub fn timing(path: &str) -> SettingTiming {
    toml_schema::find(KEYS, path).map_or(NextStart, |key| key.timing)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_of_the_file_says_what_it_does() {
        for key in KEYS.iter().filter(|key| key.elsewhere.is_none()) {
            assert!(key.about.is_some(), "{}", key.path);
        }
        assert_eq!(timing("profiles.work.high"), NextTurn);
        assert_eq!(timing("gateway.slack.allow"), AtOnce);
        assert_eq!(timing("gateway.slack.enabled"), NextGateway);
    }

    #[test]
    fn every_key_is_listed_once_and_its_built_in_value_has_its_type() {
        let mut seen = BTreeSet::new();
        for key in KEYS {
            assert!(seen.insert(key.path), "{} stands twice", key.path);
            if !key.built_in.is_empty() {
                assert!(key.kind.parse(key.built_in).is_ok(), "{}", key.path);
            }
        }
    }

    #[test]
    fn the_fallback_of_a_safety_key_has_its_type_and_is_never_from_the_environment() {
        for key in KEYS.iter().filter(|key| key.path.starts_with("safety.")) {
            assert!(key.variables.is_empty(), "{}: a variable may not change it", key.path);
            if let Some(strictest) = key.strictest {
                assert!(key.kind.parse(strictest).is_ok(), "{}", key.path);
            }
        }
    }
}
