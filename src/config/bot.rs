//! Loads a bot: a system prompt and how the model is sampled, nothing else (000 §2).
//!
//! Not in here: listing, making and changing bots.

use std::fs;
use std::path::PathBuf;

use super::Paths;
use super::near;
use super::problem::Problem;
use super::saved;
use super::strict::Kind::{Count, Number, Text};
use super::strict::{self, Found, Key, Value};
use crate::protocol::Params;
use crate::words::{self, Say, Spoken, Word};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bot {
    pub name: String,
    pub description: String,
    pub system_prompt: String,
    pub params: Params,
}

/// Why a bot was not loaded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.say())]
pub enum BotError {
    BadName { name: String },
    None { name: String, near: Vec<String>, folder: PathBuf },
    Problem(Box<Problem>),
}

impl Spoken for BotError {
    fn say(&self) -> Say {
        use words::config as w;
        match self {
            BotError::BadName { name } => w::BAD_BOT_NAME.with("name", name.as_str()),
            BotError::None { name, near, folder } if near.is_empty() => {
                w::NO_BOT.with("name", name.as_str()).with("folder", folder.display().to_string())
            }
            BotError::None { name, near, .. } => {
                w::NO_BOT_NEAR.with("name", name.as_str()).with("near", near.join(", "))
            }
            BotError::Problem(problem) => problem.say(),
        }
    }
}

const fn key(path: &'static str, kind: strict::Kind, elsewhere: Option<Word>) -> Key {
    Key { path, kind, built_in: "", strictest: None, variables: &[], elsewhere }
}

/// Everything a bot may say, and what people write that belongs elsewhere.
#[rustfmt::skip]
const KEYS: &[Key] = &[
    key("description",        Text, None),
    key("system_prompt",      Text, None),
    key("temperature",        Number { min: 0.0, max: 2.0 }, None),
    key("top_p",              Number { min: 0.0, max: 1.0 }, None),
    key("max_tokens",         Count { min: 1, max: 10_000_000 }, None),
    key("presence_penalty",   Number { min: -2.0, max: 2.0 }, None),
    key("frequency_penalty",  Number { min: -2.0, max: 2.0 }, None),
    key("system_prompt_file", Text, Some(words::config::PROMPT_IN_BOT)),
    key("model",              Text, Some(words::config::MODEL_OUTSIDE_BOT)),
    key("base_url",           Text, Some(words::config::BASE_URL_OUTSIDE_BOT)),
];

/// Loads the bot of this name from the first folder that has it.
pub fn load(paths: &Paths, name: &str) -> Result<Bot, BotError> {
    if !is_name(name) {
        return Err(BotError::BadName { name: name.to_owned() });
    }
    for folder in paths.bots() {
        let file = folder.join(format!("{name}.toml"));
        let read = saved::read(&file);
        let problem = |fault| BotError::Problem(Box::new(Problem::of_file(&file, fault)));
        if let Some(text) = read.map_err(problem)? {
            let reading = strict::read(&file, &text, KEYS);
            return match reading.problems.into_iter().next() {
                Some(problem) => Err(BotError::Problem(Box::new(problem))),
                None => Ok(bot(name, reading.found)),
            };
        }
    }
    let names = names(paths);
    let near = near::nearest(name, names.iter().map(String::as_str));
    let near = near.into_iter().map(str::to_owned).collect();
    Err(BotError::None { name: name.to_owned(), near, folder: paths.config.join("bots") })
}

/// The names of all bots, sorted.
pub fn names(paths: &Paths) -> Vec<String> {
    let mut names: Vec<String> = paths
        .bots()
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten().take(MOST))
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| is_name(name))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// More bots than this are not listed.
const MOST: usize = 1000;

/// `[a-zA-Z0-9][a-zA-Z0-9._-]*`: a name can never leave its folder.
pub fn is_name(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(of_name)
}

fn bot(name: &str, found: Vec<Found>) -> Bot {
    let mut bot = Bot { name: name.to_owned(), ..Bot::default() };
    for Found { path, value, .. } in found {
        match (path.as_str(), value) {
            ("description", Value::Text(text)) => bot.description = text,
            ("system_prompt", Value::Text(text)) => bot.system_prompt = text,
            ("max_tokens", Value::Count(count)) => {
                bot.params.max_tokens = u32::try_from(count).ok()
            }
            ("temperature", Value::Number(number)) => bot.params.temperature = Some(number),
            ("top_p", Value::Number(number)) => bot.params.top_p = Some(number),
            ("presence_penalty", Value::Number(n)) => bot.params.presence_penalty = Some(n),
            ("frequency_penalty", Value::Number(n)) => bot.params.frequency_penalty = Some(n),
            _ => {}
        }
    }
    bot
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::words::Lang;

    fn paths(root: &Path) -> Paths {
        Paths::under(&root.join("avocet"), root.join("home"))
    }

    fn write(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }

    #[test]
    fn a_bot_is_its_prompt_and_its_sampling() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        let text = "description = \"Reviews\"\nsystem_prompt = \"\"\"\nBe strict.\n\"\"\"\ntemperature = 1\nmax_tokens = 900\n";
        write(&paths.bots()[0], "reviewer.toml", text);
        let bot = load(&paths, "reviewer").unwrap();
        assert_eq!(bot.system_prompt, "Be strict.\n");
        let params = Params { temperature: Some(1.0), max_tokens: Some(900), ..Params::default() };
        assert_eq!(bot.params, params);
    }

    #[test]
    fn our_own_folder_wins_over_the_other_one() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        write(&paths.bots()[1], "a.toml", "description = \"theirs\"");
        assert_eq!(load(&paths, "a").unwrap().description, "theirs");
        write(&paths.bots()[0], "a.toml", "description = \"ours\"");
        assert_eq!(load(&paths, "a").unwrap().description, "ours");
        assert_eq!(names(&paths), ["a"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_line_and_key() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        let cases = [
            ("model = \"x\"", "line 1, column 1", "--model"),
            ("\nsystem_prompt_file = \"x\"", "line 2, column 1", "`system_prompt`"),
            ("temperature = 3.5", "line 1, column 15", "a number from 0 to 2, not `3.5`"),
            ("top_p = \"high\"", "line 1, column 9", "a number from 0 to 1"),
            ("max_tokens = 0", "line 1, column 14", "a whole number from 1"),
            ("tempratur = 1.0", "line 1, column 1", "`temperature`"),
            ("description = ", "line 1", "not valid TOML"),
        ];
        for (text, place, what) in cases {
            write(&paths.bots()[0], "a.toml", text);
            let said = load(&paths, "a").unwrap_err().say().text(Lang::En);
            assert!(said.contains(place) && said.contains(what), "{text}: {said}");
        }
    }

    #[test]
    fn a_name_never_leaves_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        for name in ["../x", "", ".x", "a/b", "a\\b", "a b", "机器人"] {
            let error = load(&paths, name).unwrap_err();
            assert_eq!(error, BotError::BadName { name: name.to_owned() });
        }
    }

    #[test]
    fn a_bot_that_is_not_there_names_the_nearest() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        write(&paths.bots()[0], "reviewer.toml", "");
        let said = load(&paths, "reviwer").unwrap_err().say().text(Lang::En);
        assert!(said.contains("reviewer"), "{said}");
    }
}
