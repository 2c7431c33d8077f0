//! Bots: a system prompt and sampling parameters, nothing else (000 §2).

use std::path::{Path, PathBuf};

use super::{ExtensionFileKind, LookupError, Owner, SearchPath, name, scan};
use crate::atomic_file;
use crate::diagnostic::ConfigDiagnostic;
use crate::toml_schema::TomlKind::{Count, Number, Text};
use crate::toml_schema::{self, SettingKey, TomlEntry, TomlValue};
use avocet_core::i18n::{self, Localize, LocalizedText, Phrase};
use avocet_core::protocol::Params;

#[derive(Clone, Debug, PartialEq)]
pub struct Bot {
    pub name: String,
    pub description: String,
    pub system_prompt: String,
    pub params: Params,
    pub file: PathBuf,
    pub owner: Owner,
}

const fn key(
    path: &'static str,
    kind: toml_schema::TomlKind,
    phrase: Option<Phrase>,
) -> SettingKey {
    SettingKey { elsewhere: phrase, ..SettingKey::of_extension(path, kind) }
}

/// All keys of a bot, and common mistakes that belong elsewhere.
#[rustfmt::skip]
const KEYS: &[SettingKey] = &[
    key("description",        Text, None),
    key("system_prompt",      Text, None),
    key("temperature",        Number { min: 0.0, max: 2.0 }, None),
    key("top_p",              Number { min: 0.0, max: 1.0 }, None),
    key("max_tokens",         Count { min: 1, max: 10_000_000 }, None),
    key("presence_penalty",   Number { min: -2.0, max: 2.0 }, None),
    key("frequency_penalty",  Number { min: -2.0, max: 2.0 }, None),
    key("system_prompt_file", Text, Some(i18n::config::PROMPT_IN_BOT)),
    key("model",              Text, Some(i18n::config::MODEL_OUTSIDE_BOT)),
    key("base_url",           Text, Some(i18n::config::BASE_URL_OUTSIDE_BOT)),
];

/// Parses a bot's file. The error names the first problem.
pub fn read(file: &Path, name: &str, owner: Owner, text: &str) -> Result<Bot, LocalizedText> {
    let reading = toml_schema::read(file, text, KEYS);
    if let Some(problem) = reading.problems.first() {
        return Err(problem.localized());
    }
    let mut bot = Bot {
        name: name.to_owned(),
        description: String::new(),
        system_prompt: String::new(),
        params: Params::default(),
        file: file.to_owned(),
        owner,
    };
    reading.found.into_iter().for_each(|found| bot.set_value(found));
    Ok(bot)
}

impl Bot {
    fn set_value(&mut self, TomlEntry { path, value, .. }: TomlEntry) {
        let params = &mut self.params;
        match (path.as_str(), value) {
            ("description", TomlValue::Text(text)) => self.description = text,
            ("system_prompt", TomlValue::Text(text)) => self.system_prompt = text,
            ("max_tokens", TomlValue::Count(count)) => {
                params.max_tokens = u32::try_from(count).ok()
            }
            ("temperature", TomlValue::Number(number)) => params.temperature = Some(number),
            ("top_p", TomlValue::Number(number)) => params.top_p = Some(number),
            ("presence_penalty", TomlValue::Number(number)) => {
                params.presence_penalty = Some(number)
            }
            ("frequency_penalty", TomlValue::Number(number)) => {
                params.frequency_penalty = Some(number)
            }
            _ => {}
        }
    }
}

/// The bot with this name, from the first folder that has it. Nothing else is read.
pub fn find(path: &SearchPath, name: &str) -> Result<Bot, LookupError> {
    if !name::is_usable(ExtensionFileKind::Bot, name) {
        return Err(LookupError::bad_name(ExtensionFileKind::Bot, name));
    }
    for place in path.of_kind(ExtensionFileKind::Bot) {
        let file = place.folder.join(format!("{name}.toml"));
        if !scan::may_be_read(&file, place) {
            continue;
        }
        let broken = |because| LookupError::Broken { because };
        let of_file = |fault| broken(ConfigDiagnostic::of_file(&file, fault).localized());
        if let Some(text) = atomic_file::read(&file).map_err(of_file)? {
            return read(&file, name, place.owner, &text).map_err(broken);
        }
    }
    let known =
        path.of_kind(ExtensionFileKind::Bot).flat_map(|place| scan::scan_folder(place).files);
    let known: Vec<String> = known.map(|found| found.name).collect();
    Err(LookupError::none(ExtensionFileKind::Bot, name, known.iter().map(String::as_str), path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Paths;
    use avocet_core::i18n::Lang;

    struct BotFixture {
        root: tempfile::TempDir,
        places: SearchPath,
    }

    fn bot_fixture() -> BotFixture {
        let root = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(&root.path().join("own"), root.path().join("home"));
        let places = SearchPath::new(&paths, None, &[]);
        BotFixture { root, places }
    }

    impl BotFixture {
        fn write(&self, name: &str, text: &str) {
            let path = self.root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn error_text(&self, name: &str) -> String {
            find(&self.places, name).unwrap_err().localized().text(Lang::En)
        }
    }

    #[test]
    fn a_bot_has_a_prompt_and_sampling_settings() {
        let desk = bot_fixture();
        let text = "description = \"Reviews\"\nsystem_prompt = \"\"\"\nBe strict.\n\"\"\"\ntemperature = 1\nmax_tokens = 900\n";
        desk.write("own/bots/reviewer.toml", text);
        let bot = find(&desk.places, "reviewer").unwrap();
        assert_eq!(bot.system_prompt, "Be strict.\n");
        let params = Params { temperature: Some(1.0), max_tokens: Some(900), ..Params::default() };
        assert_eq!(bot.params, params);
    }

    #[test]
    fn our_own_folder_wins_over_other_folders() {
        let desk = bot_fixture();
        desk.write("home/.r9s/bots/a.toml", "description = \"theirs\"");
        assert_eq!(find(&desk.places, "a").unwrap().description, "theirs");
        desk.write("own/bots/a.toml", "description = \"ours\"");
        assert_eq!(find(&desk.places, "a").unwrap().description, "ours");
    }

    #[test]
    fn errors_name_the_line_and_the_key() {
        let desk = bot_fixture();
        let cases = [
            ("model = \"x\"", "line 1, column 1", "--model"),
            ("base_url = \"x\"", "line 1, column 1", "--base-url"),
            ("\nsystem_prompt_file = \"x\"", "line 2, column 1", "`system_prompt`"),
            ("temperature = 3.5", "line 1, column 15", "a number from 0 to 2, not `3.5`"),
            ("top_p = \"high\"", "line 1, column 9", "a number from 0 to 1"),
            ("max_tokens = 0", "line 1, column 14", "a whole number from 1"),
            ("presence_penalty = -3", "line 1, column 20", "a number from -2 to 2"),
            ("tempratur = 1.0", "line 1, column 1", "`temperature`"),
            ("prompt = \"x\"", "line 1, column 1", "`prompt`"),
            ("description = ", "line 1", "not valid TOML"),
        ];
        for (text, place, what) in cases {
            desk.write("own/bots/a.toml", text);
            let said = desk.error_text("a");
            assert!(said.contains(place) && said.contains(what), "{text}: {said}");
        }
    }

    #[test]
    fn a_name_that_leaves_its_folder_is_refused_and_shown() {
        let desk = bot_fixture();
        for (name, shown) in [
            ("../x", "`../x`"),
            ("", "``"),
            ("a/b", "`a/b`"),
            ("a b", "`a b`"),
            ("a\u{1b}[2J", "`a\\u{1b}[2J`"),
            ("机器人", "`机器人`"),
        ] {
            let said = desk.error_text(name);
            assert!(said.starts_with(shown), "{said}");
        }
    }

    #[test]
    fn a_missing_bot_names_the_closest_match_or_the_folder() {
        let desk = bot_fixture();
        assert!(
            desk.error_text("reviewer").contains("own/bots"),
            "{}",
            desk.error_text("reviewer")
        );
        desk.write("own/bots/reviewer.toml", "");
        assert!(
            desk.error_text("reviwer").contains("`reviewer`"),
            "{}",
            desk.error_text("reviwer")
        );
    }
}
