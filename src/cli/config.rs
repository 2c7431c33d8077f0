//! Answers `avocet config …` as text. [`config::edit`](avocet_config::edit) changes the file.

use std::path::Path;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use avocet_config::diagnostic::DiagnosticSource;
use avocet_config::edit::{self, EditError};
use avocet_config::toml_schema::TomlValue;
use avocet_config::{Loaded, SettingsLayer};
use avocet_core::i18n::{Lang, Localize, LocalizedText, cli as w};
use avocet_model::display_address;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ConfigCommand {
    /// Print the path of the settings file.
    #[command(after_help = "Example:\n  avocet config path")]
    Path,
    /// Show a setting, or all of them.
    #[command(aliases = ["list", "show"], after_help = "Example:\n  avocet config get --where safety.allow_network")]
    Get {
        /// Dotted, as in `safety.allow_network`.
        key: Option<String>,
        /// Show which layer the value comes from.
        #[arg(long = "where")]
        place: bool,
    },
    /// Change a setting; comments in the file are kept.
    #[command(after_help = "Examples:
  avocet config set profiles.default.base_url http://127.0.0.1:11434/v1
  avocet config set safety.allowed_programs +just,-curl")]
    Set {
        /// Dotted, as in `safety.allow_network`; `avocet config get` lists all.
        key: String,
        /// The new value; separate list items with commas.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from the file.
    #[command(after_help = "Example:\n  avocet config unset theme")]
    Unset {
        /// Dotted, as in `safety.allow_network`.
        key: String,
    },
}

/// The output: an answer for standard output, a message for standard error.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigAnswer {
    Out(String),
    Message(LocalizedText),
}

/// Runs the subcommand. `file` is the user's settings file.
pub fn run(
    command: &ConfigCommand,
    file: &Path,
    loaded: &Loaded,
    json: bool,
    lang: Lang,
) -> Result<ConfigAnswer, EditError> {
    let place = || file.display().to_string();
    // Without the file these would be the values of no user.
    let unread = loaded.problems.iter().find(|problem| {
        problem.fault.is_whole_file() && problem.origin == DiagnosticSource::File(file.to_owned())
    });
    match command {
        ConfigCommand::Get { .. } if let Some(problem) = unread => {
            Err(EditError::Problem(Box::new(problem.clone())))
        }
        ConfigCommand::Path => Ok(ConfigAnswer::Out(format!("{}\n", place()))),
        ConfigCommand::Get { key: Some(key), place: layer } => get(loaded, key, *layer, json, lang),
        ConfigCommand::Get { key: None, place: layer } => {
            Ok(ConfigAnswer::Out(list(loaded, *layer, json, lang)))
        }
        ConfigCommand::Set { key, value } => {
            let value = edit::set(file, key, value)?;
            let say = w::CONFIG_SET
                .with("key", key.as_str())
                .with("value", without_password(key, value).display_text());
            Ok(ConfigAnswer::Message(say.with("file", place())))
        }
        ConfigCommand::Unset { key } => {
            let word = if edit::unset(file, key)? { w::CONFIG_UNSET } else { w::CONFIG_WAS_UNSET };
            Ok(ConfigAnswer::Message(word.with("key", key.as_str()).with("file", place())))
        }
    }
}

fn get(
    loaded: &Loaded,
    key: &str,
    place: bool,
    json: bool,
    lang: Lang,
) -> Result<ConfigAnswer, EditError> {
    edit::find(key)?;
    let value = loaded.get(key).map(|value| without_password(key, value));
    let layer = loaded.layer_of(key);
    let text = match &value {
        _ if json => format!("{}\n", entry(key, value.as_ref(), &layer, lang)),
        Some(value) if place => {
            format!("{}\t{}\n", value.display_text(), layer.localized().text(lang))
        }
        Some(value) => format!("{}\n", value.display_text()),
        None => return Ok(ConfigAnswer::Message(w::CONFIG_NO_VALUE.with("key", key))),
    };
    Ok(ConfigAnswer::Out(text))
}

/// A value as it may be shown: an address without its password, headers without their texts.
pub fn without_password(key: &str, value: TomlValue) -> TomlValue {
    match value {
        TomlValue::Text(text) if key == ADDRESS || key.ends_with(".base_url") => {
            TomlValue::Text(display_address(&text))
        }
        TomlValue::Text(text) if key.ends_with(".headers") => {
            let mut headers: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
            let literal = headers
                .values_mut()
                .filter(|value| value.as_str().is_some_and(|text| !text.contains("${")));
            literal.for_each(|value| *value = Value::from("…"));
            TomlValue::Text(Value::Object(headers).to_string())
        }
        value => value,
    }
}

const ADDRESS: &str = "base_url";

fn list(loaded: &Loaded, place: bool, json: bool, lang: Lang) -> String {
    let mut out = String::new();
    for (key, value, layer) in loaded.all() {
        let value = without_password(&key, value);
        out += &match (json, place) {
            (true, _) => format!("{}\n", entry(&key, Some(&value), &layer, lang)),
            (false, true) => {
                format!("{key} = {}\t{}\n", value.toml(), layer.localized().text(lang))
            }
            (false, false) => format!("{key} = {}\n", value.toml()),
        };
    }
    out
}

fn entry(
    key: &str,
    value: Option<&TomlValue>,
    layer: &SettingsLayer,
    lang: Lang,
) -> serde_json::Value {
    let value = value.map(|value| match value {
        TomlValue::Text(text) => json!(text),
        TomlValue::Flag(flag) => json!(flag),
        TomlValue::Count(count) => json!(count),
        TomlValue::Number(number) => json!(number),
        TomlValue::List(items) => json!(items),
    });
    json!({ "key": key, "value": value, "from": layer.localized().text(lang) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_config::{Environment, Paths, Sources, load};

    /// The output of a command for this file, and the file afterwards.
    fn asked(text: &str, command: &ConfigCommand, json: bool) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(folder.path(), folder.path().to_owned());
        std::fs::write(paths.settings(), text).unwrap();
        let environment = Environment::from_pairs([("AVOCET_MODEL", "m")]);
        let sources =
            Sources { paths: &paths, environment: &environment, options: &[], project: &[] };
        let answer = run(command, &paths.settings(), &load(sources), json, Lang::En);
        let shown = match answer {
            Ok(ConfigAnswer::Out(text)) => text,
            Ok(ConfigAnswer::Message(say)) => say.text(Lang::En),
            Err(error) => format!("error: {}", error.localized().text(Lang::En)),
        };
        let place = paths.settings().display().to_string();
        (shown.replace(&place, "FILE"), std::fs::read_to_string(paths.settings()).unwrap())
    }

    fn get(key: &str, place: bool) -> ConfigCommand {
        ConfigCommand::Get { key: Some(key.into()), place }
    }

    #[test]
    fn the_password_in_an_address_is_never_shown() {
        let file = "[profiles.far]\nbase_url = \"https://you:sw0rdf1sh@far/v1\"\nhigh = \"m\"\n";
        let set = |key: &str| ConfigCommand::Set {
            key: key.into(),
            value: "http://us:sw0rdf1sh@other/v1".into(),
        };
        let all = |place| ConfigCommand::Get { key: None, place };
        for command in [
            get("profiles.far.base_url", true),
            get("profiles.far.base_url", false),
            all(false),
            all(true),
            set("profiles.far.base_url"),
            set("profiles.default.base_url"),
        ] {
            for json in [false, true] {
                let (shown, _) = asked(file, &command, json);
                let hidden = !shown.contains("sw0rdf1sh") && !shown.contains("t0ken");
                assert!(hidden && !shown.contains("me:"), "{command:?}: {shown}");
            }
        }
    }

    #[test]
    fn get_prints_a_value_alone_with_its_layer_or_as_json() {
        let file = "mode = \"low\"";
        let cases = [
            (get("mode", false), false, "low\n"),
            (get("mode", true), false, "low\tyour settings, FILE\n"),
            (get("model", true), false, "m\tthe variable AVOCET_MODEL\n"),
            (get("limits.step_timeout_s", true), false, "120\tbuilt in\n"),
            (
                get("safety.lift", false),
                true,
                "{\"key\":\"safety.lift\",\"value\":[],\"from\":\"built in\"}\n",
            ),
            (get("base_url", false), false, "`base_url` has no value."),
            (get("mdoe", false), false, "error: There is no setting `mdoe`. Did you mean `mode`?"),
            (ConfigCommand::Path, false, "FILE\n"),
        ];
        for (command, json, expected) in cases {
            assert_eq!(asked(file, &command, json).0, expected, "{command:?}");
        }
    }

    #[test]
    fn get_without_a_key_lists_all_values_as_toml() {
        let all = ConfigCommand::Get { key: None, place: false };
        let (shown, _) = asked("[profiles.a]\nhigh = \"x\"", &all, false);
        for line in ["mode = \"high\"", "profiles.a.high = \"x\"", "safety.allow_write = true"] {
            assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
        }
    }

    #[test]
    fn a_change_reports_the_new_value_and_the_file() {
        let set = ConfigCommand::Set { key: "mode".into(), value: "low".into() };
        let (said, file) = asked("# mine\n", &set, false);
        assert_eq!(
            (said.as_str(), file.as_str()),
            ("Set `mode` to low in FILE.", "mode = \"low\"\n# mine\n")
        );
        let unset = ConfigCommand::Unset { key: "mode".into() };
        assert_eq!(asked(&file, &unset, false).0, "Removed `mode` from FILE.");
        assert!(asked("", &unset, false).0.contains("nothing was changed"));
    }
}
