//! Discord's commands, with typed options, choices and completion, described in both languages.
//! `/avocet` takes every name and alias, also those that the menu has no room for.

use serde::Serialize;
use serde_json::Value;

use super::limits::DISCORD;
use super::{
    LeftOut, LeftOutReason, MenuOptions, UMBRELLA, name_rows, reachable, shorten, umbrella_name,
};
use crate::commands::{CommandRow, RowOption, RowOrigin};
use crate::gateway::platform::ChosenOption;
use crate::i18n::{Lang, Phrase, gateway as words};
use crate::protocol::ChatPlatform;

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
    english: &[CommandRow],
    chinese: &[CommandRow],
    options: MenuOptions<'_>,
) -> DiscordMenu {
    let mut left_out = Vec::new();
    let reachable = reachable(english, options, &mut left_out);
    let mut taken = umbrella_name(ChatPlatform::Discord);
    let named = name_rows(&reachable, &DISCORD, spell, &mut taken, &mut left_out);
    let mut menu = DiscordMenu { commands: vec![umbrella()], left_out };
    for shown in named {
        if menu.commands.len() == DISCORD.commands {
            let reason = LeftOutReason::NoPlace(DISCORD.commands);
            menu.left_out.push(LeftOut { name: shown.row.name.clone(), reason });
            continue;
        }
        let same = chinese.iter().find(|row| row.name == shown.row.name);
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
    let (about, about_zh) = text(words::MENU_UMBRELLA);
    let (line, line_zh) = text(words::MENU_LINE);
    let line = DiscordOption { autocomplete: true, ..option("command", line, line_zh) };
    DiscordCommand {
        kind: CHAT_INPUT,
        name: UMBRELLA.to_owned(),
        description: describe(about, UMBRELLA),
        description_localizations: localize(about_zh, UMBRELLA),
        options: vec![line],
    }
}

fn command(name: String, row: &CommandRow, chinese: &CommandRow) -> DiscordCommand {
    let mut command = DiscordCommand {
        kind: CHAT_INPUT,
        description: describe(&row.about, &name),
        description_localizations: localize(&chinese.about, &name),
        options: Vec::new(),
        name,
    };
    let mut room =
        DISCORD.command_text.unwrap_or(usize::MAX).saturating_sub(command_size(&command));
    let most = DISCORD.options.unwrap_or(usize::MAX);
    for (at, of_row) in row.options.iter().take(most).enumerate() {
        let about = chinese.options.get(at).map_or("", |option| option.about.as_str());
        let mut shown = typed_option(at, of_row, about);
        let (name, mut number) = (shown.name.clone(), at);
        while command.options.iter().any(|before| before.name == shown.name) {
            shown.name = numbered(&name, number);
            number += 1;
        }
        shown.required &= command.options.iter().all(|before| before.required);
        // Choices that take too much room are completed instead, or typed.
        if option_size(&shown) > room {
            shown.choices.clear();
        }
        let size = option_size(&shown);
        if size > room {
            break;
        }
        room -= size;
        command.options.push(shown);
    }
    command
}

fn typed_option(at: usize, of_row: &RowOption, chinese: &str) -> DiscordOption {
    let name = match spell(&of_row.name) {
        name if name.is_empty() => format!("option{at}"),
        name => name.chars().take(DISCORD.name).collect(),
    };
    let most = DISCORD.choices.unwrap_or(usize::MAX);
    let fits = |choice: &&String| {
        !choice.is_empty() && choice.encode_utf16().count() <= DISCORD.description
    };
    let choices: Vec<DiscordChoice> = of_row
        .choices
        .iter()
        .filter(fits)
        .map(|choice| DiscordChoice { name: choice.clone(), value: choice.clone() })
        .collect();
    // A list that is cut would forbid the rest.
    let choices = if choices.len() > most { Vec::new() } else { choices };
    DiscordOption {
        required: of_row.is_required,
        autocomplete: choices.is_empty() && (of_row.is_completed || !of_row.choices.is_empty()),
        choices,
        ..option(&name, &of_row.about, chinese)
    }
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
    let choices = option.choices.iter().map(|one| length(&one.name) + length(&one.value));
    length(&option.name)
        + length(&option.description).max(length(&option.description_localizations.chinese))
        + choices.sum::<usize>()
}

/// What would be typed for arguments that were chosen by their names in the menu: in the order of the
/// command, whatever the order in which they were chosen.
pub fn arguments(row: Option<&CommandRow>, chosen: &[ChosenOption]) -> String {
    let shown = row.map(|row| command(row.name.clone(), row, row).options).unwrap_or_default();
    let place = |option: &&ChosenOption| shown.iter().position(|one| one.name == option.name);
    let mut ordered: Vec<&ChosenOption> = chosen.iter().collect();
    ordered.sort_by_key(|option| place(option).unwrap_or(usize::MAX));
    let words = ordered.iter().map(|option| {
        let of_row = row.zip(place(option)).and_then(|(row, at)| Some((row, row.options.get(at)?)));
        let Some((row, of_row)) = of_row else { return option.value.clone() };
        // A template tells its arguments apart by spaces.
        let is_one = row.origin != RowOrigin::BuiltIn && row.options.len() > 1;
        let value = match option.value.contains(char::is_whitespace) && is_one {
            true => shlex::try_quote(&option.value).unwrap_or_else(|_| (&option.value).into()),
            false => (&option.value).into(),
        };
        match of_row.is_named {
            true => format!("{} {value}", of_row.name),
            false => value.into_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Values to complete an option with.
pub fn suggestions(values: impl IntoIterator<Item = String>) -> Vec<String> {
    let fits =
        |value: &String| !value.is_empty() && value.encode_utf16().count() <= DISCORD.description;
    values.into_iter().filter(fits).take(DISCORD.choices.unwrap_or(usize::MAX)).collect()
}

/// A name in small letters of the common scripts, digits, `-`, `_` and `'`; empty if nothing is left
/// of it. Other scripts write with marks that Discord does not take.
pub(super) fn spell(name: &str) -> String {
    let lower = name.to_lowercase();
    let spelt = lower.chars().filter_map(|c| match c {
        'a'..='z' | '0'..='9' | '-' | '_' | '\'' => Some(c),
        ':' | '.' | ' ' => Some('-'),
        'ß'..='ö' | 'ø'..='ÿ' | 'ά'..='ώ' | 'а'..='џ' => Some(c),
        'ぁ'..='ゖ' | 'ァ'..='ヺ' | '㐀'..='䶿' | '一'..='鿿' | '가'..='힣' => Some(c),
        _ => None,
    });
    spelt.collect()
}
