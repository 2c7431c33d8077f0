//! Discord's commands, with typed options, choices and completion, described in both languages.
//! `/avocet` takes every name and alias, also those that the menu has no room for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use serde_json::{Map, Value};

use super::limits::DISCORD;
use super::{LeftOut, MenuOptions, OmissionReason, UMBRELLA, shorten, shown_rows};
use crate::platform::ChosenOption;
use avocet_core::i18n::{Lang, Phrase, gateway as phrases};
use avocet_core::prompt::args;
use avocet_core::protocol::ChatPlatform;
use avocet_present::commands::{CommandRow, CommandRowArgument, RowOrigin};

/// The types of a command that is typed, and of an option that is text.
const CHAT_INPUT: u8 = 1;
const STRING: u8 = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscordMenu {
    pub commands: Vec<DiscordCommand>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiscordCommand {
    #[serde(rename = "type")]
    pub kind: u8,
    pub name: String,
    pub description: String,
    pub description_localizations: Localizations,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<DiscordOption>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiscordOption {
    #[serde(rename = "type")]
    pub kind: u8,
    pub name: String,
    pub description: String,
    pub description_localizations: Localizations,
    pub required: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<DiscordChoice>,
    pub autocomplete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiscordChoice {
    pub name: String,
    pub value: String,
}

/// A text in Chinese.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Localizations {
    #[serde(rename = "zh-CN")]
    pub chinese: String,
}

/// The commands of the rows, which are the same in both languages.
pub fn menu(
    rows: &[CommandRow],
    command_rows: &[CommandRow],
    options: MenuOptions<'_>,
) -> DiscordMenu {
    let mut left_out = Vec::new();
    let named = shown_rows(ChatPlatform::Discord, rows, options, &mut left_out);
    let mut menu = DiscordMenu { commands: vec![umbrella()], left_out };
    for shown in named {
        if menu.commands.len() == DISCORD.commands {
            let reason = OmissionReason::NoPlace(DISCORD.commands);
            menu.left_out.push(LeftOut { name: shown.row.name.clone(), reason });
            continue;
        }
        let same = command_rows.iter().find(|row| row.name == shown.row.name);
        menu.commands.push(command(shown.name, shown.row, same.unwrap_or(shown.row)));
    }
    menu
}

impl DiscordMenu {
    /// The body of the call that replaces all commands.
    pub fn body(&self) -> Value {
        self.commands.iter().map(|command| serde_json::json!(command)).collect()
    }
}

/// Takes any command as text, so that every name can be reached.
fn umbrella() -> DiscordCommand {
    let text = |phrase: Phrase| (phrase.text(Lang::En), phrase.text(Lang::Zh));
    let (about, about_zh) = text(phrases::MENU_UMBRELLA);
    let (line, line_zh) = text(phrases::MENU_LINE);
    let option = DiscordOption { autocomplete: true, ..option("command", line, line_zh) };
    DiscordCommand {
        kind: CHAT_INPUT,
        name: UMBRELLA.to_owned(),
        description: describe(about, UMBRELLA),
        description_localizations: localize(about_zh, UMBRELLA),
        options: vec![option],
    }
}

fn command(name: String, row: &CommandRow, command_row: &CommandRow) -> DiscordCommand {
    let mut command = DiscordCommand {
        kind: CHAT_INPUT,
        description: describe(&row.about, &name),
        description_localizations: localize(&command_row.about, &name),
        options: Vec::new(),
        name,
    };
    command.options = typed_options(row, command_row);
    // All options fit without their choices, which are completed instead where they take too much.
    let mut room =
        DISCORD.command_text.unwrap_or(usize::MAX).saturating_sub(command_size(&command));
    for (option, of_row) in command.options.iter_mut().zip(&row.options) {
        let choices = choices(of_row);
        let size = choices_size(&choices);
        if size <= room {
            room -= size;
            option.autocomplete &= choices.is_empty();
            option.choices = choices;
        }
    }
    command
}

/// The options of a row in its order, without choices; no two have one name.
fn typed_options(row: &CommandRow, command_row: &CommandRow) -> Vec<DiscordOption> {
    let mut options: Vec<DiscordOption> = Vec::new();
    let most = DISCORD.options.unwrap_or(usize::MAX);
    for (at, of_row) in row.options.iter().take(most).enumerate() {
        let stem = match spell(&of_row.name) {
            name if name.is_empty() => format!("option{at}"),
            name => name.chars().take(DISCORD.name).collect(),
        };
        let mut name = stem.clone();
        let mut number = at;

        while options.iter().any(|before| before.name == name) {
            name = numbered(&stem, number);
            number += 1;
        }
        let about = command_row.options.get(at).map_or("", |option| option.about.as_str());
        options.push(DiscordOption {
            required: of_row.is_required && options.iter().all(|before| before.required),
            autocomplete: of_row.is_completed || !of_row.choices.is_empty(),
            ..option(&name, &of_row.about, about)
        });
    }
    options
}

/// The values of an option; none where there are too many or one is too long: a list that is cut
/// would forbid the rest.
fn choices(of_row: &CommandRowArgument) -> Vec<DiscordChoice> {
    let most = DISCORD.choices.unwrap_or(usize::MAX);
    let mut values: Vec<&String> = of_row.choices.iter().filter(|one| !one.is_empty()).collect();
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(*value));
    if values.len() > most || values.iter().any(|value| !is_value(value)) {
        return Vec::new();
    }
    let choice = |value: &String| DiscordChoice { name: value.clone(), value: value.clone() };
    values.into_iter().map(choice).collect()
}

/// Whether Discord takes it as the value of a choice.
fn is_value(value: &str) -> bool {
    !value.is_empty() && length(value) <= DISCORD.description
}

fn option(name: &str, about: &str, chinese: &str) -> DiscordOption {
    DiscordOption {
        kind: STRING,
        name: name.to_owned(),
        description: describe(about, name),
        description_localizations: localize(if chinese.is_empty() { about } else { chinese }, name),
        required: false,
        choices: Vec::new(),
        autocomplete: false,
    }
}

/// A description is never empty.
fn describe(about: &str, name: &str) -> String {
    let about = if about.trim().is_empty() { name } else { about };
    shorten(about, DISCORD.description)
}

fn localize(about: &str, name: &str) -> Localizations {
    Localizations { chinese: describe(about, name) }
}

fn numbered(name: &str, at: usize) -> String {
    let end = at.to_string();
    let stem: String = name.chars().take(DISCORD.name - end.len()).collect();
    format!("{stem}{end}")
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The text that counts against the limit of a command: names, descriptions, values. The longer
/// translation counts.
pub(super) fn command_size(command: &DiscordCommand) -> usize {
    let options: usize = command.options.iter().map(option_size).sum();
    length(&command.name)
        + length(&command.description).max(length(&command.description_localizations.chinese))
        + options
}

fn option_size(option: &DiscordOption) -> usize {
    length(&option.name)
        + length(&option.description).max(length(&option.description_localizations.chinese))
        + choices_size(&option.choices)
}

fn choices_size(choices: &[DiscordChoice]) -> usize {
    choices.iter().map(|one| length(&one.name) + length(&one.value)).sum()
}

/// What would be typed for arguments that were chosen by their names in the menu: in the order of the
/// command, whatever the order in which they were chosen.
pub fn arguments(row: Option<&CommandRow>, chosen: &[ChosenOption]) -> String {
    let Some(row) = row else {
        return chosen.iter().map(|one| one.value.as_str()).collect::<Vec<_>>().join(" ");
    };
    let shown = typed_options(row, row);
    if row.origin == RowOrigin::Script {
        return script_arguments(row, &shown, chosen);
    }
    let value = |name: &str| chosen.iter().find(|one| one.name == name).map(|one| &one.value);
    // A template separates its arguments by spaces and quotes.
    let are_words = row.origin != RowOrigin::BuiltIn && row.options.len() > 1;
    let last = shown.iter().rposition(|option| value(&option.name).is_some());
    let mut words: Vec<String> = Vec::new();
    let mut has_gap = false;
    for (at, (option, of_row)) in shown.iter().zip(&row.options).enumerate() {
        match value(&option.name) {
            Some(value) if of_row.is_named => words.push(format!("{} {value}", of_row.name)),
            Some(value) if are_words => words.push(args::join(std::slice::from_ref(value))),
            // A page of nothing would be read as what it is a page of.
            Some(value) if !has_gap => words.push(value.clone()),
            // What follows keeps its place.
            None if are_words && last.is_some_and(|last| at < last) => {
                words.push(args::join(&[String::new()]));
            }
            Some(_) => {}
            None => has_gap |= !of_row.is_named,
        }
    }
    let is_known = |chosen_option: &&ChosenOption| {
        shown.iter().any(|option| option.name == chosen_option.name)
    };
    let others = chosen.iter().filter(|one| !is_known(one)).map(|one| {
        if are_words { args::join(std::slice::from_ref(&one.value)) } else { one.value.clone() }
    });
    words.extend(others);
    words.join(" ")
}

/// The inputs of a script by their names.
fn script_arguments(row: &CommandRow, shown: &[DiscordOption], chosen: &[ChosenOption]) -> String {
    let pairs = shown.iter().zip(&row.options).filter_map(|(option, of_row)| {
        let one = chosen.iter().find(|one| one.name == option.name)?;
        Some((of_row.name.clone(), Value::from(one.value.as_str())))
    });
    let inputs: Map<String, Value> = pairs.collect();
    if inputs.is_empty() { String::new() } else { Value::Object(inputs).to_string() }
}

/// The values of the user's own option that contain what is typed.
pub fn own_choices(row: &CommandRow, option: &str, typed: &str) -> Vec<String> {
    let at = typed_options(row, row).iter().position(|shown| shown.name == option);
    let of_row = at.and_then(|at| row.options.get(at));
    let lower = typed.to_lowercase();
    let mut found: Vec<String> = of_row
        .iter()
        .flat_map(|option| &option.choices)
        .filter(|choice| choice.to_lowercase().contains(&lower))
        .cloned()
        .collect();
    found.sort_by_key(|choice| !choice.to_lowercase().starts_with(&lower));
    found
}

/// The option that a menu shows in this place of a row.
pub fn is_first_option(row: &CommandRow, option: &str) -> bool {
    typed_options(row, row).first().is_some_and(|first| first.name == option)
}

/// Values to complete an option with.
pub fn suggestions(values: impl IntoIterator<Item = String>) -> Vec<String> {
    values
        .into_iter()
        .filter(|value| is_value(value))
        .take(DISCORD.choices.unwrap_or(usize::MAX))
        .collect()
}

/// A name in the letters that Discord takes, small where there are small ones; empty if nothing is
/// left of it.
pub(super) fn spell(name: &str) -> String {
    static LETTERS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]").ok());
    let plain = name.to_lowercase().replace([':', '.', ' '], "-");
    let letters = LETTERS.iter().flat_map(|letters| letters.find_iter(&plain));
    letters.map(|letter| letter.as_str()).collect()
}
