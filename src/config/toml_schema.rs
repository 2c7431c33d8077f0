//! Reads TOML against a table of keys: every key must be in the table and have its type, and errors
//! are reported with line and column. Valid keys are kept, so one wrong key does not lose the rest.
//!
//! Not here: the keys themselves ([`keys`](super::keys), `bot`).

use std::path::Path;

use toml_edit::{Document, Item, TableLike};

use super::diagnostic::{
    ConfigDiagnostic, ConfigError, DiagnosticSource, TextPosition, describe_item, describe_text,
};
use super::object_value::RequestTable;
use super::rule_samples;
use super::setting_timing::SettingTiming;
use super::suggest;
use avocet_core::i18n::{self, LocalizedText, Phrase};

/// One row of a table of keys.
#[derive(Clone, Copy, Debug)]
pub struct SettingKey {
    /// Dotted; `*` is one name that the user chooses.
    pub path: &'static str,
    pub kind: TomlKind,
    /// The built-in value; empty: none.
    pub built_in: &'static str,
    /// The fallback for an invalid value; `None`: the built-in value.
    pub strictest: Option<&'static str>,
    /// Variables that set it; the first one wins.
    pub variables: &'static [&'static str],
    /// Set for a key that does not belong in a file: where it belongs.
    pub elsewhere: Option<Phrase>,
    /// What it does, in a line; `None` in the file of an extension.
    pub about: Option<Phrase>,
    /// When a change counts.
    pub timing: SettingTiming,
}

impl SettingKey {
    /// A key of the file of an extension.
    pub const fn of_extension(path: &'static str, kind: TomlKind) -> SettingKey {
        SettingKey {
            path,
            kind,
            built_in: "",
            strictest: None,
            variables: &[],
            elsewhere: None,
            about: None,
            timing: SettingTiming::NextTurn,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TomlKind {
    Text,
    /// The name of an environment variable. What is none may be a secret, and is never shown.
    Variable,
    Choice(&'static [&'static str]),
    /// Some of these words in any order, in groups that `|` divides.
    Layout(&'static [&'static str]),
    /// The same, and the words that were used in older versions.
    Renamed(&'static [&'static str], &'static [&'static str]),
    Flag,
    Count {
        min: u64,
        max: u64,
    },
    Number {
        min: f64,
        max: f64,
    },
    List(ListKind),
    /// A table, kept as JSON.
    Object(RequestTable),
}

/// The type of the texts in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// `name`, `+name`, `-name`, or an absolute path in their place.
    Programs,
    RuleIds,
    /// `git push *`.
    Rules,
    /// Paths of files, absolute or below the home folder (`~/…`).
    Paths,
    /// A program, then its arguments.
    Words,
    /// Names of commands, without the slash.
    Names,
    /// Ids of users on a chat platform; a number may be written as one.
    Ids,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TomlValue {
    Text(String),
    Flag(bool),
    Count(u64),
    Number(f64),
    List(Vec<String>),
}

/// A parsed value, and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct TomlEntry {
    pub path: String,
    pub value: TomlValue,
    pub place: Option<TextPosition>,
}

/// The values of a text, and its problems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TomlReport {
    pub found: Vec<TomlEntry>,
    pub problems: Vec<ConfigDiagnostic>,
}

/// The maximum length of a text value, in bytes; a bot's prompt is the longest one.
const MAX_LENGTH: usize = 64 * 1024;
const MAX_ITEMS: usize = 1000;

/// Reads the text of `file`.
pub fn read(file: &Path, text: &str, keys: &[SettingKey]) -> TomlReport {
    let mut reader = TomlReader { file, text, keys, out: TomlReport::default() };
    // Some Windows editors put a byte order mark before the first character.
    match Document::parse(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Ok(document) => reader.table("", document.as_table()),
        Err(error) => {
            let why = error.message().lines().collect::<Vec<_>>().join(", ");
            let place = error.span().map(|span| span.start);
            reader.report(place, None, ConfigError::Syntax { why });
        }
    }
    reader.out
}

/// The row of a key, by its dotted path.
pub fn find<'k>(keys: &'k [SettingKey], path: &str) -> Option<&'k SettingKey> {
    keys.iter().find(|key| covers(key.path, path))
}

/// The path in the table nearest to `path`, for "did you mean".
pub fn nearest(keys: &[SettingKey], path: &str) -> Option<String> {
    let whole = keys.iter().filter(|key| key.elsewhere.is_none()).map(|key| key.path);
    let sections = whole.clone().filter_map(|path| Some(path.split_once('.')?.0));
    let known: Vec<String> =
        whole.chain(sections).map(|known| fill_wildcard(known, path)).collect();
    // The name of a table is none of a setting.
    let known = known.iter().map(String::as_str).filter(|known| *known != path);
    suggest::nearest(path, known).first().map(|near| (*near).to_owned())
}

struct TomlReader<'a> {
    file: &'a Path,
    text: &'a str,
    keys: &'a [SettingKey],
    out: TomlReport,
}

impl TomlReader<'_> {
    fn table(&mut self, prefix: &str, table: &dyn TableLike) {
        for (name, item) in table.iter() {
            let at = table.key(name).and_then(|key| key.span()).map(|span| span.start);
            let quoted = PATTERNS.contains(&prefix) && !is_name(name);
            let part = if quoted { format!("\"{name}\"") } else { name.to_owned() };
            let path = if prefix.is_empty() { part } else { format!("{prefix}.{part}") };
            if is_name(name) || quoted && is_pattern(name) {
                self.item(at, path, item);
            } else {
                self.report(at, Some(path), ConfigError::BadName);
            }
        }
    }

    fn item(&mut self, at: Option<usize>, path: String, item: &Item) {
        let value_at = item.span().map(|span| span.start).or(at);
        match (find(self.keys, &path), item.as_table_like()) {
            (Some(SettingKey { elsewhere: Some(word), .. }), _) => {
                self.report(at, Some(path), ConfigError::Elsewhere((*word).into()));
            }
            (Some(key), _) => self.value(key, at, value_at, path, item),
            (None, Some(table)) if is_section(self.keys, &path) => self.table(&path, table),
            (None, None) if is_section(self.keys, &path) => {
                let expected = i18n::config::A_TABLE.with("key", path.as_str());
                let fault = ConfigError::mismatch(expected, describe_item(item));
                self.report(value_at, Some(path), fault);
            }
            (None, _) => {
                let near = nearest(self.keys, &path);
                self.report(at, Some(path), ConfigError::Unknown { near });
            }
        }
    }

    fn value(
        &mut self,
        key: &SettingKey,
        at: Option<usize>,
        value_at: Option<usize>,
        path: String,
        item: &Item,
    ) {
        let checked = match (key.kind, item.as_array()) {
            (TomlKind::List(ListKind::Rules), Some(items)) if items.len() <= MAX_ITEMS => {
                let (rules, faults) = rule_samples::read(&path, items);
                for (span, fault) in faults {
                    self.report(span.or(value_at), Some(path.clone()), fault);
                }
                Ok(TomlValue::List(rules))
            }
            _ => key.kind.check(item),
        };
        match checked {
            Ok(value) => {
                let place = at.map(|at| position_at(self.text, at));
                self.out.found.push(TomlEntry { path, value, place });
            }
            Err(found) => {
                let fault = ConfigError::mismatch(key.kind.expected(), found);
                self.report(value_at, Some(path), fault);
            }
        }
    }

    fn report(&mut self, at: Option<usize>, key: Option<String>, error: ConfigError) {
        let place = at.map(|at| position_at(self.text, at));
        let written = DiagnosticSource::File(self.file.to_owned());
        self.out.problems.push(ConfigDiagnostic { origin: written, place, key, fault: error });
    }
}

impl TomlKind {
    /// Parses a value as the user types it: in a variable, after `config set`, as an option. A list
    /// is typed with commas, or as TOML. The error says what was found.
    pub fn parse(&self, text: &str) -> Result<TomlValue, LocalizedText> {
        let text = text.trim();
        let item = match self {
            TomlKind::Text
            | TomlKind::Variable
            | TomlKind::Choice(_)
            | TomlKind::Layout(_)
            | TomlKind::Renamed(..) => Item::from(toml_edit::Value::from(text)),
            TomlKind::List(_) if !text.starts_with('[') => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Item::from(toml_edit::Value::from(items.collect::<toml_edit::Array>()))
            }
            TomlKind::Flag if matches!(text, "on" | "off") => {
                Item::from(toml_edit::Value::from(text == "on"))
            }
            TomlKind::Object(_) => match text.parse::<toml_edit::Value>() {
                Ok(value) => Item::from(value),
                Err(_) => Item::from(toml_edit::Value::from(text)),
            },
            TomlKind::Flag
            | TomlKind::Count { .. }
            | TomlKind::Number { .. }
            | TomlKind::List(_) => match text.parse::<toml_edit::Value>() {
                Ok(value) => Item::from(value),
                Err(_) => return Err(describe_text(text)),
            },
        };
        self.check(&item)
    }

    /// What a value must be.
    pub fn expected(&self) -> LocalizedText {
        use i18n::config as w;
        match self {
            TomlKind::Text => w::A_TEXT.into(),
            TomlKind::Variable => w::A_VARIABLE.into(),
            TomlKind::Choice(choices) | TomlKind::Renamed(choices, _) => {
                w::A_CHOICE.with("choices", choices.join(", "))
            }
            TomlKind::Layout(words) => w::SOME_WORDS.with("words", words.join(", ")),
            TomlKind::Flag => w::A_FLAG.into(),
            TomlKind::Count { min, max } => w::A_COUNT.with("min", *min).with("max", *max),
            TomlKind::Number { min, max } => {
                w::A_NUMBER.with("min", min.to_string()).with("max", max.to_string())
            }
            TomlKind::Object(of) => of.expected(),
            TomlKind::List(ListKind::Programs) => w::A_LIST_OF_PROGRAMS.into(),
            TomlKind::List(ListKind::RuleIds) => w::A_LIST_OF_RULE_IDS.into(),
            TomlKind::List(ListKind::Rules) => w::A_LIST_OF_RULES.into(),
            TomlKind::List(ListKind::Paths) => w::A_LIST_OF_PATHS.into(),
            TomlKind::List(ListKind::Words) => w::A_LIST_OF_WORDS.into(),
            TomlKind::List(ListKind::Names) => w::A_LIST_OF_NAMES.into(),
            TomlKind::List(ListKind::Ids) => w::A_LIST_OF_IDS.into(),
        }
    }

    /// The value of an item; the error says what is there instead.
    fn check(&self, item: &Item) -> Result<TomlValue, LocalizedText> {
        let value = match self {
            TomlKind::Text => item.as_str().and_then(text_value),
            TomlKind::Variable => match item.as_str() {
                Some(text) if is_variable_name(text) => text_value(text),
                Some(_) => return Err(i18n::config::FOUND_NO_VARIABLE.into()),
                None => None,
            },
            TomlKind::Choice(choices) => {
                item.as_str().filter(|text| choices.contains(text)).and_then(text_value)
            }
            TomlKind::Layout(words) => {
                let is_known = |word: &str| word == "|" || words.contains(&word);
                let all_known = |text: &&str| text.split_whitespace().all(is_known);
                item.as_str().filter(all_known).and_then(text_value)
            }
            TomlKind::Renamed(choices, old) => item
                .as_str()
                .filter(|text| choices.contains(text) || old.contains(text))
                .and_then(text_value),
            TomlKind::Flag => item.as_bool().map(TomlValue::Flag),
            TomlKind::Count { min, max } => item
                .as_integer()
                .and_then(|count| u64::try_from(count).ok())
                .filter(|count| (min..=max).contains(&count))
                .map(TomlValue::Count),
            TomlKind::Number { min, max } => {
                let whole = item.as_integer().map(|number| number as f64);
                let number = item.as_float().or(whole);
                number.filter(|number| (min..=max).contains(&number)).map(TomlValue::Number)
            }
            TomlKind::List(of) => return list_value(*of, item),
            TomlKind::Object(of) => return of.check(item).map(TomlValue::Text),
        };
        value.ok_or_else(|| describe_item(item))
    }
}

impl TomlValue {
    /// As written in a file.
    pub fn toml(&self) -> toml_edit::Value {
        match self {
            TomlValue::Text(text) => text.as_str().into(),
            TomlValue::Flag(flag) => (*flag).into(),
            TomlValue::Count(count) => i64::try_from(*count).unwrap_or(i64::MAX).into(),
            TomlValue::Number(number) => (*number).into(),
            TomlValue::List(items) => items.iter().collect::<toml_edit::Array>().into(),
        }
    }

    /// As shown to the user: text without quotes, the rest as in a file.
    pub fn display_text(&self) -> String {
        match self {
            TomlValue::Text(text) => text.clone(),
            TomlValue::Flag(_)
            | TomlValue::Count(_)
            | TomlValue::Number(_)
            | TomlValue::List(_) => self.toml().to_string().trim().to_owned(),
        }
    }
}

/// Empty, or a name that every shell takes; keys and tokens have a hyphen, a colon or a dot.
fn is_variable_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(is_letter) && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn text_value(text: &str) -> Option<TomlValue> {
    (text.len() <= MAX_LENGTH).then(|| TomlValue::Text(text.to_owned()))
}

fn list_value(kind: ListKind, item: &Item) -> Result<TomlValue, LocalizedText> {
    let items = item.as_array().ok_or_else(|| describe_item(item))?;
    if items.len() > MAX_ITEMS {
        return Err(i18n::config::FOUND_MANY.with("count", items.len()));
    }
    if kind == ListKind::Rules {
        let (rules, faults) = rule_samples::read("", items);
        return match faults.into_iter().next() {
            None => Ok(TomlValue::List(rules)),
            Some((_, ConfigError::Rule(say))) => Err(say),
            Some((_, ConfigError::Mismatch(mismatch))) => Err(mismatch.found),
            Some(_) => Err(describe_item(item)),
        };
    }
    let number = |value: &toml_edit::Value| match kind {
        ListKind::Ids => value.as_integer().map(|id| id.to_string()),
        _ => None,
    };
    let texts =
        items.iter().map(|value| match value.as_str().map(str::to_owned).or(number(value)) {
            Some(text) if kind.accepts(&text) => Ok(text),
            Some(text) => Err(describe_text(&text)),
            None => Err(describe_item(&Item::from(value.clone()))),
        });
    texts.collect::<Result<Vec<_>, LocalizedText>>().map(TomlValue::List)
}

impl ListKind {
    pub(super) fn accepts(self, text: &str) -> bool {
        let plain = text.len() <= 1000 && !text.chars().any(char::is_control);
        plain
            && match self {
                ListKind::Programs => {
                    let name = text.strip_prefix(['+', '-']).unwrap_or(text);
                    let path = !name.contains('/') || name.starts_with('/');
                    path && !name.is_empty() && !name.contains([' ', '*', '?'])
                }
                ListKind::RuleIds => {
                    let of_id = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                    // `*`: every refusal but those that no setting lifts.
                    text == "*" || !text.is_empty() && text.chars().all(of_id)
                }
                ListKind::Rules => rule_samples::is_rule(text),
                ListKind::Paths => text.starts_with('/') || text.starts_with("~/"),
                ListKind::Words => true,
                ListKind::Names => is_name(text.strip_prefix('/').unwrap_or(text)),
                // Not the name that a user shows: anyone can take that.
                ListKind::Ids => {
                    let of_id = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
                    let of_feishu = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric());
                    !text.is_empty() && text.chars().all(of_id)
                        || text.strip_prefix("ou_").is_some_and(of_feishu)
                }
            }
    }
}

/// The tables whose names are patterns or paths, and may hold dots.
const PATTERNS: [&str; 2] = ["models", "folders"];

/// The parts of a dotted path; one that contains dots is quoted.
pub fn raw_parts(path: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    path.split(move |c| {
        quoted ^= c == '"';
        c == '.' && !quoted
    })
}

/// The first part of a dotted path without quotes, and the rest; `None` if it is the only one.
pub fn split_first(path: &str) -> Option<(&str, &str)> {
    let first = raw_parts(path).next()?;
    let rest = path.get(first.len() + 1..)?;
    Some((first.trim_matches('"'), rest))
}

/// The same, without the quotes.
pub fn path_parts(path: &str) -> impl Iterator<Item = String> {
    raw_parts(path).map(|part| part.trim_matches('"').to_owned())
}

/// `profiles.*.high` covers `profiles.work.high`.
fn covers(pattern: &str, path: &str) -> bool {
    let mut parts = raw_parts(path);
    let all = pattern.split('.').all(|wanted| {
        parts.next().is_some_and(|part| wanted == part || (wanted == "*" && !part.is_empty()))
    });
    all && parts.next().is_none()
}

/// True if there are keys below this path.
fn is_section(keys: &[SettingKey], path: &str) -> bool {
    let depth = raw_parts(path).count();
    keys.iter().any(|key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        parts.len() > depth
            && covers(&parts.iter().take(depth).copied().collect::<Vec<_>>().join("."), path)
    })
}

/// A pattern with its `*` replaced by the name at that position of `path`.
fn fill_wildcard(pattern: &str, path: &str) -> String {
    let mut parts = raw_parts(path);
    let filled = pattern.split('.').map(|wanted| {
        let part = parts.next().unwrap_or(wanted);
        if wanted == "*" { part } else { wanted }
    });
    filled.collect::<Vec<_>>().join(".")
}

/// A name may contain letters, digits, `_` and `-`; a dot would make a path ambiguous.
fn is_name(name: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(of_name)
}

/// A pattern of the names of models, or a folder; a quote would make a path ambiguous.
fn is_pattern(name: &str) -> bool {
    !name.is_empty() && name.len() <= 200 && !name.chars().any(|c| c == '"' || c.is_control())
}

/// Counts lines and characters up to a byte.
fn position_at(text: &str, at: usize) -> TextPosition {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    TextPosition { line, column }
}
