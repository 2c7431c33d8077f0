//! Every command of the registry as one row, whether it is built in or the user's own: what menus
//! and reports are made of.

use std::collections::BTreeMap;

use super::table::COMMANDS;
use super::{CommandOption, OptionValues, SlashCommand};
use avocet_core::i18n::{Lang, commands as w};
use avocet_core::protocol::{Availability, Category, Extension, ExtensionKind, Extensions};

/// A command with its texts in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRow {
    /// Without the slash.
    pub name: String,
    pub aliases: Vec<String>,
    /// One line; never a path.
    pub about: String,
    /// The arguments in the usage line.
    pub hint: String,
    pub category: Category,
    pub reach: Availability<String>,
    /// The least comes first.
    pub priority: u8,
    pub origin: RowOrigin,
    pub options: Vec<CommandRowArgument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowOrigin {
    BuiltIn,
    Command,
    Skill,
    Script,
}

/// An argument of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRowArgument {
    pub name: String,
    pub about: String,
    pub is_required: bool,
    /// Empty: any text.
    pub choices: Vec<String>,
    /// Whether `complete` knows values for it.
    pub is_completed: bool,
    /// Whether its name is typed before its value.
    pub is_named: bool,
}

impl CommandRow {
    /// Whether it does nothing without an argument. A script asks for those that are missing.
    pub fn needs_argument(&self) -> bool {
        self.origin != RowOrigin::Script
            && self.options.first().is_some_and(|option| option.is_required)
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }
}

/// Finds rows by exactly their names and aliases. A name wins over an alias, and a built-in command,
/// in any case of its letters, over the others.
#[derive(Clone, Debug)]
pub struct CalledRows<'r> {
    built_in: BTreeMap<&'r str, &'r CommandRow>,
    own: BTreeMap<&'r str, &'r CommandRow>,
}

impl<'r> CalledRows<'r> {
    pub fn new(rows: &'r [CommandRow]) -> CalledRows<'r> {
        let of = |is_built_in: bool| {
            let rows = rows.iter();
            let rows = rows.filter(move |row| (row.origin == RowOrigin::BuiltIn) == is_built_in);
            let aliases = rows
                .clone()
                .flat_map(|row| row.aliases.iter().map(move |alias| (alias.as_str(), row)));
            // The last one of a key stays: the first name, or else the first alias.
            let named = rows.map(|row| (row.name.as_str(), row));
            aliases.rev().chain(named.rev()).collect()
        };
        CalledRows { built_in: of(true), own: of(false) }
    }

    pub fn find(&self, name: &str) -> Option<&'r CommandRow> {
        let built_in = self.built_in.get(name.to_lowercase().as_str());
        built_in.or_else(|| self.own.get(name)).copied()
    }
}

/// The whole registry: the table, then the user's commands and skills that can be typed.
pub fn rows(own: &Extensions, lang: Lang) -> Vec<CommandRow> {
    let built_in = COMMANDS.iter().map(|command| built_in_row(command, lang));
    let own = own.entries.iter().filter(|entry| entry.can_be_typed());
    built_in.chain(own.map(|entry| own_row(entry, lang))).collect()
}

fn built_in_row(command: &SlashCommand, lang: Lang) -> CommandRow {
    let option = |option: &CommandOption| CommandRowArgument {
        name: option.name.to_owned(),
        about: option.about.text(lang).to_owned(),
        is_required: option.is_required,
        choices: match option.values {
            OptionValues::OneOf(choices) => choices.iter().map(|one| (*one).to_owned()).collect(),
            OptionValues::Text | OptionValues::Named(_) | OptionValues::From(_) => Vec::new(),
        },
        is_completed: matches!(option.values, OptionValues::From(_)),
        is_named: matches!(option.values, OptionValues::Named(_)),
    };
    CommandRow {
        name: command.name.to_owned(),
        aliases: command.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        about: command.about.text(lang).to_owned(),
        hint: command.hint(),
        category: command.category,
        reach: command.reach.to_owned_setting(),
        priority: command.priority,
        origin: RowOrigin::BuiltIn,
        options: command.options.iter().map(option).collect(),
    }
}

fn own_row(extension: &Extension, lang: Lang) -> CommandRow {
    let (origin, kind) = match extension.kind {
        ExtensionKind::Command => (RowOrigin::Command, w::OWN_COMMANDS),
        ExtensionKind::Skill => (RowOrigin::Skill, w::SKILLS),
        ExtensionKind::Script => (RowOrigin::Script, w::SCRIPTS),
        ExtensionKind::Prompt => (RowOrigin::Command, w::SERVER_PROMPTS),
    };
    let about = match extension.about.as_str() {
        "" => kind.text(lang),
        about => about,
    };
    let traits = &extension.traits;
    CommandRow {
        name: extension.name.clone(),
        aliases: traits.aliases.clone(),
        about: about.to_owned(),
        hint: extension.hint.clone(),
        category: traits.category,
        reach: traits.reach.clone(),
        priority: traits.priority,
        origin,
        options: traits
            .arguments
            .iter()
            .map(|argument| CommandRowArgument {
                name: argument.name.clone(),
                about: argument.about.clone(),
                is_required: argument.is_required,
                choices: argument.choices.clone(),
                is_completed: false,
                is_named: false,
            })
            .collect(),
    }
}
