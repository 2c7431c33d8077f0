//! Settings of other clients that have a meaning here, as ours.

use serde_json::Value;

use super::client::ImportClient;
use avocet_config::edit;
use avocet_config::keys::EFFORTS;
use avocet_config::toml_schema::TomlValue;
use avocet_core::protocol::{HOSTED, Hosted};
use avocet_core::text::{cut, one_line};
use avocet_hooks::command_rule;

/// The most names of settings that are listed, and the longest one.
const MAX_NAMES: usize = 40;
const MAX_NAME: usize = 60;

/// What the files of a client say.
#[derive(Clone, Debug, Default)]
pub struct ImportedSettings {
    /// Ours, by their keys; `*` in one is the profile.
    pub found: Vec<(String, TomlValue)>,
    /// The server and the model, which only a profile without others can have.
    pub model: Option<(&'static Hosted<'static>, String)>,
    /// Theirs that are used where they are, such as servers.
    pub in_place: Vec<String>,
    /// Theirs that mean nothing here.
    pub unused: Vec<String>,
}

/// What one of their settings is here.
enum SettingMeaning {
    /// One of ours, for some of its values.
    Values(&'static str, &'static [(&'static str, &'static str)]),
    Effort,
    Model,
    /// Tools that are refused, or commands for some of which an object says so.
    Refused,
    InPlace,
    /// It says nothing that a user set.
    Nothing,
}

use SettingMeaning::{Effort, InPlace, Model, Nothing, Refused, Values};

const VIM: SettingMeaning = Values("vim", &[("true", "true"), ("false", "false")]);
/// A mode in which more runs unasked is not taken over.
const MODES: SettingMeaning = Values("safety.mode", &[("default", "ask"), ("plan", "plan")]);

#[rustfmt::skip]
const CLAUDE: &[(&str, SettingMeaning)] = &[
    ("$schema", Nothing),
    ("model", Model),
    ("effortLevel", Effort),
    ("theme", Values("theme", &[("auto", "auto"), ("dark", "dark"), ("light", "light"), ("dark-daltonized", "colorblind"), ("light-daltonized", "colorblind"), ("dark-ansi", "16-colors"), ("light-ansi", "16-colors")])),
    ("editorMode", Values("vim", &[("vim", "true"), ("normal", "false")])),
    ("language", Values("lang", &[("english", "en"), ("en", "en"), ("chinese", "zh"), ("zh", "zh"), ("中文", "zh"), ("简体中文", "zh")])),
    ("preferredNotifChannel", Values("notify", &[("auto", "auto"), ("terminal_bell", "bell"), ("notifications_disabled", "off")])),
    ("permissions.defaultMode", MODES),
    ("permissions.deny", InPlace),
    ("permissions.ask", InPlace),
    ("hooks", InPlace),
];

#[rustfmt::skip]
const CODEX: &[(&str, SettingMeaning)] = &[
    ("model", Model),
    ("model_provider", Nothing),
    ("model_reasoning_effort", Effort),
    // They ask before what they do not confine, as we do.
    ("approval_policy", Values("safety.mode", &[("untrusted", "ask"), ("on-request", "ask"), ("on-failure", "ask")])),
    ("sandbox_mode", Values("safety.sandbox", &[("read-only", "work"), ("workspace-write", "work")])),
    ("hide_agent_reasoning", Values("show_thinking", &[("true", "off"), ("false", "folded")])),
    ("tui.notifications", Values("notify", &[("true", "auto"), ("false", "off")])),
    ("tui.animations", Values("motion", &[("true", "true"), ("false", "false")])),
    ("mcp_servers", InPlace),
    ("hooks", InPlace),
];

const GEMINI_THEMES: SettingMeaning = Values(
    "theme",
    &[
        ("Default", "dark"),
        ("Default Light", "light"),
        ("ANSI", "16-colors"),
        ("ANSI Light", "16-colors"),
    ],
);

#[rustfmt::skip]
const GEMINI: &[(&str, SettingMeaning)] = &[
    ("$schema", Nothing),
    ("model", Model),
    ("model.name", Model),
    ("theme", GEMINI_THEMES),
    ("ui.theme", GEMINI_THEMES),
    ("vimMode", VIM),
    ("general.vimMode", VIM),
    ("general.defaultApprovalMode", MODES),
    ("excludeTools", Refused),
    ("tools.exclude", Refused),
    ("mcpServers", InPlace),
];

#[rustfmt::skip]
const OPENCODE: &[(&str, SettingMeaning)] = &[
    ("$schema", Nothing),
    ("model", Model),
    ("theme", Values("theme", &[("system", "auto")])),
    ("permission.bash", Refused),
    ("permission.edit", Refused),
    ("permission.webfetch", Refused),
    ("mcp", InPlace),
];

impl ImportClient {
    fn meanings(self) -> &'static [(&'static str, SettingMeaning)] {
        match self {
            ImportClient::Claude => CLAUDE,
            ImportClient::Codex => CODEX,
            ImportClient::Gemini => GEMINI,
            ImportClient::Opencode => OPENCODE,
        }
    }

    /// What one of its files says. `is_state`: it holds the state of the client too.
    pub fn read_settings(self, document: &Value, is_state: bool, imported: &mut ImportedSettings) {
        let meanings = self.meanings();
        for (name, value) in leaves(document, meanings) {
            let meaning = meanings.iter().find(|(known, _)| *known == name);
            let is_used = match meaning {
                Some((_, meaning)) => self.take(&name, value, document, meaning, imported),
                None => is_state,
            };
            if !is_used && imported.unused.len() < MAX_NAMES {
                imported.unused.push(cut(&one_line(&name), MAX_NAME));
            }
        }
    }

    /// Whether it means something here.
    fn take(
        self,
        name: &str,
        value: &Value,
        document: &Value,
        meaning: &SettingMeaning,
        imported: &mut ImportedSettings,
    ) -> bool {
        let word = match value {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        let found = |ours: &str, word: &str| {
            let row = edit::find(ours).ok()?;
            let usual = row.built_in == word;
            Some(row.kind.parse(word).ok().filter(|_| !usual).map(|value| (ours.to_owned(), value)))
        };
        let taken = match meaning {
            Values(ours, words) => {
                let known = words.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(&word));
                known.and_then(|(_, word)| found(ours, word))
            }
            Effort if EFFORTS.contains(&word.as_str()) => found("profiles.*.effort", &word),
            Effort => None,
            Model => {
                let model = self.model(&word, document);
                let is_known = model.is_some();
                imported.model = model.or(imported.model.take());
                return is_known;
            }
            Refused => {
                let rules = refused(name, value);
                // Without a rule, we ask too.
                let is_asked = rules.is_empty() && word == "ask";
                let is_whole = !rules.is_empty() && rules.iter().all(Option::is_some);
                let rule = |rule| ("safety.deny".to_owned(), TomlValue::List(vec![rule]));
                imported.found.extend(rules.into_iter().flatten().map(rule));
                return is_whole || is_asked;
            }
            InPlace => {
                imported.in_place.push(name.to_owned());
                return true;
            }
            Nothing => return true,
        };
        let is_known = taken.is_some();
        imported.found.extend(taken.flatten());
        is_known
    }

    /// The service and the name of a model; none for a name that only the client knows.
    fn model(self, name: &str, document: &Value) -> Option<(&'static Hosted<'static>, String)> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
        let (service, model) = match self {
            ImportClient::Claude => ("anthropic", name.starts_with("claude-").then_some(name)?),
            ImportClient::Gemini => ("gemini", name.starts_with("gemini-").then_some(name)?),
            ImportClient::Codex => {
                let provider = document.get("model_provider").and_then(Value::as_str);
                (provider.unwrap_or("openai"), name)
            }
            ImportClient::Opencode => name.split_once('/')?,
        };
        let service = if service == "google" { "gemini" } else { service };
        let is_model = !model.is_empty() && model.len() <= 200 && model.chars().all(is_plain);
        let hosted = HOSTED.iter().find(|one| one.id == service && !one.base_url.is_empty())?;
        is_model.then(|| (hosted, model.to_owned()))
    }
}

/// The settings of a document by their names; those of a table whose own settings have meanings one
/// by one.
fn leaves<'d>(
    document: &'d Value,
    meanings: &[(&str, SettingMeaning)],
) -> Vec<(String, &'d Value)> {
    let mut leaves = Vec::new();
    for (name, value) in document.as_object().into_iter().flatten() {
        let below = format!("{name}.");
        let is_opened = meanings.iter().any(|(known, _)| known.starts_with(&below));
        match value.as_object().filter(|_| is_opened) {
            Some(table) => {
                leaves.extend(table.iter().map(|(inner, value)| (below.clone() + inner, value)));
            }
            None => leaves.push((name.clone(), value)),
        }
    }
    leaves
}

/// The rules of what is refused; `None` for what ours cannot say.
fn refused(name: &str, value: &Value) -> Vec<Option<String>> {
    let own = |rule: &str| Some(rule.to_owned());
    match (name, value) {
        ("permission.edit", Value::String(answer)) if answer == "deny" => {
            vec![own("file.edit *"), own("file.write *")]
        }
        ("permission.webfetch", Value::String(answer)) if answer == "deny" => {
            vec![own("web.fetch *")]
        }
        ("permission.bash", Value::Object(patterns)) => {
            let denied = patterns.iter().filter(|(_, answer)| answer.as_str() == Some("deny"));
            denied.map(|(pattern, _)| command_rule(pattern)).collect()
        }
        (_, Value::Array(tools)) => {
            let of_tool = |tool: &str| match tool {
                "write_file" => own("file.write *"),
                "replace" => own("file.edit *"),
                "read_file" => own("file.read *"),
                "web_fetch" => own("web.fetch *"),
                "google_web_search" => own("web.search *"),
                // It refuses each command that begins so.
                _ => {
                    let start = tool.strip_prefix("run_shell_command(")?.strip_suffix(')')?;
                    command_rule(&format!("{start}:*"))
                }
            };
            tools.iter().filter_map(Value::as_str).map(of_tool).collect()
        }
        _ => Vec::new(),
    }
}
