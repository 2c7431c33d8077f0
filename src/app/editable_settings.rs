//! The settings that can be edited, each with its value, its origin and what it does. Keys and tokens
//! are none of them: they do not belong in the file.

use crate::cli::config::without_password;
use avocet_config::toml_schema::{SettingKey, TomlKind, TomlValue};
use avocet_config::{Loaded, SettingsLayer, keys};
use avocet_core::i18n::Phrase;
use avocet_core::protocol::{SettingInput, SettingRow};

/// A row for each setting, those of each profile and of each model that the user names included.
pub fn rows(loaded: &Loaded) -> Vec<SettingRow> {
    let known = loaded.all();
    let section = |key: &str| key.rsplit_once('.').map(|(section, _)| section.to_owned());
    let mut sections: Vec<String> = known.iter().filter_map(|(key, ..)| section(key)).collect();
    sections.push(format!("profiles.{}", loaded.settings.models.profile));
    sections.sort();
    sections.dedup();
    let own = keys::KEYS.iter().filter(|key| key.elsewhere.is_none());
    let rows = own.flat_map(|key| {
        let paths = if key.about.is_some() { paths(key, &sections) } else { Vec::new() };
        paths.into_iter().filter_map(move |path| Some(row(key, path, key.about?, loaded)))
    });
    rows.collect()
}

/// The paths of a key: one for each name in place of its `*`.
fn paths(key: &SettingKey, sections: &[String]) -> Vec<String> {
    let Some((table, name)) = key.path.split_once(".*.") else { return vec![key.path.to_owned()] };
    let of_table = |section: &&String| {
        section.strip_prefix(table).is_some_and(|rest| rest.starts_with('.') && rest.len() > 1)
    };
    sections.iter().filter(of_table).map(|section| format!("{section}.{name}")).collect()
}

fn row(key: &SettingKey, path: String, phrase: Phrase, loaded: &Loaded) -> SettingRow {
    let value = loaded.get(&path);
    let shown = value.clone().map(|value| without_password(&path, value));
    let is_whole = value == shown;
    let text = |value: &TomlValue| match value {
        TomlValue::List(items) if items.is_empty() => String::new(),
        value => value.display_text(),
    };
    let shown = shown.as_ref().map(text).unwrap_or_default();
    let profiles = || {
        let named = loaded.all().into_iter().filter_map(|(key, ..)| {
            Some(key.strip_prefix("profiles.")?.split_once('.')?.0.to_owned())
        });
        let mut names: Vec<String> = named.chain(["default".to_owned()]).collect();
        names.sort();
        names.dedup();
        names
    };
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let input = match key.kind {
        TomlKind::Flag => SettingInput::Flag,
        TomlKind::Choice(words) | TomlKind::Renamed(words, _) => SettingInput::Choice(owned(words)),
        _ if path == "profile" => SettingInput::Choice(profiles()),
        kind => SettingInput::Text {
            start: if is_whole { shown.clone() } else { String::new() },
            expected: kind.expected(),
        },
    };
    let layer = loaded.layer_of(&path);
    SettingRow {
        value: shown,
        input,
        about: phrase.into(),
        is_own: matches!(layer, SettingsLayer::User(_)),
        origin: layer.label().into(),
        timing: keys::timing(&path).label().into(),
        key: path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_config::{Environment, Paths, Sources, load};
    use avocet_core::i18n::Lang;

    fn listed(text: &str) -> Vec<SettingRow> {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = Paths::with_root(folder.path(), folder.path().to_owned());
        std::fs::write(paths.settings(), text).expect("the file");
        let environment =
            Environment::from_pairs([("AVOCET_API_KEY", "sk-s3cret"), ("AVOCET_LANG", "zh")]);
        let sources =
            Sources { paths: &paths, environment: &environment, options: &[], project: &[] };
        rows(&load(sources))
    }

    fn row<'a>(rows: &'a [SettingRow], key: &str) -> &'a SettingRow {
        rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("{key}"))
    }

    #[test]
    fn every_setting_of_the_file_is_listed_also_one_without_a_value() {
        let rows = listed(
            "vim = true\n[profiles.work]\nhigh = \"m\"\n[models.\"qwen3*\"]\nwindow = 8192\n",
        );
        let vim = row(&rows, "vim");
        assert_eq!(
            (vim.value.as_str(), &vim.input, vim.is_own),
            ("true", &SettingInput::Flag, true)
        );
        assert_eq!(row(&rows, "lang").origin.text(Lang::En), "a variable");
        assert_eq!(row(&rows, "limits.cost.turn").value, "");
        assert_eq!(row(&rows, "profiles.work.high").value, "m");
        assert_eq!(row(&rows, "profiles.work.low").value, "");
        assert_eq!(row(&rows, "models.\"qwen3*\".window").value, "8192");
        let profiles = SettingInput::Choice(vec!["default".into(), "work".into()]);
        assert_eq!(row(&rows, "profile").input, profiles);
        assert!(rows.iter().all(|row| !row.about.text(Lang::Zh).is_empty()));
    }

    #[test]
    fn no_secret_is_listed_and_none_begins_a_field() {
        let rows =
            listed("[profiles.work]\nbase_url = \"https://you:sw0rdf1sh@far/v1\"\nhigh = \"m\"\n");
        let shown = format!("{rows:?}");
        for secret in ["sw0rdf1sh", "s3cret"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        let secret_keys = ["api_key", "token", "app_token"];
        let is_secret = |row: &&SettingRow| {
            row.key.rsplit('.').next().is_some_and(|name| secret_keys.contains(&name))
        };
        assert_eq!(rows.iter().find(is_secret), None);
    }
}
