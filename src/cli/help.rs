//! Puts the help of the command line into the language of the interface. The English is in the
//! definitions of the options; the Chinese is looked up by it.

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory};

use super::Cli;
use super::related_options::hide_unrelated;
use avocet_core::i18n::{Lang, help};

/// The page that clap writes for these arguments instead of a run.
pub fn page(args: impl Iterator<Item = OsString>, lang: Lang) -> Option<clap::Error> {
    localize(Cli::command(), lang).try_get_matches_from(args).err()
}

/// `bot help new` asks for what `help bot new` does: the words around `help`.
pub fn topics_of_command(
    page: &clap::Error,
    args: impl Iterator<Item = OsString>,
) -> Option<Vec<String>> {
    let words: Vec<String> = args.skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let topics: Vec<String> = words.iter().filter(|word| *word != "help").cloned().collect();
    let is_asked = page.kind() == clap::error::ErrorKind::InvalidSubcommand
        && words.len() == topics.len() + 1
        && topics.iter().all(|word| !word.starts_with('-'));
    is_asked.then_some(topics)
}

/// The command with all of its help in one language.
fn localize(mut command: Command, lang: Lang) -> Command {
    // So that clap's own options and the global ones are there too.
    command.build();
    let command = hide_unrelated(command);
    match lang {
        Lang::En => command,
        Lang::Zh => translate(command),
    }
}

fn translate(command: Command) -> Command {
    let about = command.get_about().map(|text| chinese(&text.to_string()));
    let after = command.get_after_help().map(|text| chinese(&text.to_string()));
    let mut command = command
        .mut_args(translate_arg)
        .mut_subcommands(translate)
        .subcommand_help_heading(help::COMMANDS)
        .help_template(help::PAGE);
    if let Some(about) = about {
        command = command.about(about);
    }
    match after {
        Some(after) => command.after_help(after),
        None => command,
    }
}

fn translate_arg(mut arg: Arg) -> Arg {
    let usual = if arg.is_positional() { help::ARGUMENTS } else { help::OPTIONS };
    let heading = arg.get_help_heading().map_or_else(|| usual.to_owned(), chinese);
    let mut text = arg.get_help().map(|text| chinese(&text.to_string())).unwrap_or_default();
    let values = arg.get_possible_values();
    if !values.is_empty() && !arg.is_hide_possible_values_set() && arg.get_action().takes_values() {
        let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        text.push_str(&help::VALUES.replace("{values}", &names.join("、")));
        arg = arg.hide_possible_values(true);
    }
    arg.help(text).help_heading(heading)
}

/// Each paragraph of a text; one that is not in the table stays.
fn chinese(text: &str) -> String {
    let paragraph = |english: &str| match help::CHINESE.iter().find(|(en, _)| *en == english) {
        Some((_, zh)) => (*zh).to_owned(),
        // Commands are the same in both languages.
        None => {
            english.replacen("Examples:", help::EXAMPLES, 1).replacen("Example:", help::EXAMPLES, 1)
        }
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The paragraphs of a command and of those below it.
    fn texts(command: &Command, out: &mut BTreeSet<String>) {
        let args = command.get_arguments().flat_map(|arg| {
            let heading = arg.get_help_heading().map(str::to_owned);
            arg.get_help().map(ToString::to_string).into_iter().chain(heading)
        });
        let own = [command.get_about(), command.get_after_help()];
        let own = own.into_iter().flatten().map(ToString::to_string);
        for text in own.chain(args) {
            out.extend(text.split("\n\n").map(str::to_owned));
        }
        command.get_subcommands().for_each(|command| texts(command, out));
    }

    fn pages(command: &Command, out: &mut Vec<String>) {
        out.push(command.clone().render_help().to_string());
        command.get_subcommands().for_each(|command| pages(command, out));
    }

    #[test]
    fn every_text_of_the_help_has_its_chinese() {
        let mut english = BTreeSet::new();
        texts(&localize(Cli::command(), Lang::En), &mut english);
        let has_row = |text: &str| help::CHINESE.iter().any(|(en, _)| *en == text);
        let missing: Vec<_> =
            english.iter().filter(|text| !text.starts_with("Example") && !has_row(text)).collect();
        assert!(missing.is_empty(), "translate these in i18n/help.rs: {missing:#?}");
        let unused: Vec<_> =
            help::CHINESE.iter().filter(|(en, _)| !english.contains(*en)).collect();
        assert!(unused.is_empty(), "no help says these: {unused:#?}");
    }

    #[test]
    fn every_page_of_the_help_is_in_one_language() {
        let [mut english, mut chinese] = [Vec::new(), Vec::new()];
        pages(&localize(Cli::command(), Lang::En), &mut english);
        pages(&localize(Cli::command(), Lang::Zh), &mut chinese);
        assert_eq!(english.len(), chinese.len());
        let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        for page in english {
            assert!(!page.contains(is_chinese), "{page}");
        }
        let own = ["Usage:", "Commands:", "Options:", "Arguments:", "Example", "possible values"];
        for page in chinese {
            let said = own.iter().chain(help::CHINESE.iter().map(|(en, _)| en));
            let left: Vec<_> =
                said.filter(|text| text.contains([' ', ':']) && page.contains(**text)).collect();
            assert!(left.is_empty(), "{left:?} in\n{page}");
            assert!(page.lines().next().unwrap_or_default().contains(is_chinese), "{page}");
        }
    }
}
