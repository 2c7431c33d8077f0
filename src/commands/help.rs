//! Generates the help from the table.

use super::table::COMMANDS;
use super::{Category, CommandOutcome, PageRow, SlashCommand, Surface, custom, dispatch, refusal};
use crate::i18n::{Lang, commands as w};
use crate::protocol::Extensions;

/// The commands available on a surface, by category; empty categories are omitted.
pub fn by_category(surface: Surface<'_>) -> Vec<(Category, Vec<&'static SlashCommand>)> {
    let of = |category| {
        let reachable = COMMANDS.iter().filter(move |command| command.reach.covers(surface));
        reachable.filter(move |command| command.category == category).collect::<Vec<_>>()
    };
    let all = Category::ALL.into_iter().map(|category| (category, of(category)));
    all.filter(|(_, commands)| !commands.is_empty()).collect()
}

/// Help about one command, or about all; an unknown topic is refused with similar names.
pub fn page(topic: Option<&str>, surface: Surface<'_>, own: &Extensions) -> CommandOutcome {
    let Some(topic) = topic else { return overview_page(surface, own) };
    let built_in = dispatch::find_in(COMMANDS, topic).map(command_page);
    built_in.or_else(|| custom::help(own, topic)).unwrap_or_else(|| {
        let mut known: Vec<&str> = COMMANDS.iter().flat_map(SlashCommand::names).collect();
        known.extend(custom::typeable(own).map(|entry| entry.name.as_str()));
        refusal("", w::NO_TOPIC, topic, known, w::UNKNOWN_HINT)
    })
}

fn overview_page(surface: Surface<'_>, own: &Extensions) -> CommandOutcome {
    let mut rows = Vec::new();
    for (category, commands) in by_category(surface) {
        rows.push(PageRow::heading(category.name()));
        rows.extend(commands.iter().map(|command| PageRow::pair(command.usage(), command.about)));
    }
    for (heading, entries) in custom::sections(own) {
        rows.push(PageRow::Heading(heading));
        rows.extend(entries.into_iter().map(|(usage, about)| PageRow::pair(usage, about)));
    }
    CommandOutcome::Page { title: w::HELP_TITLE.into(), rows }
}

fn command_page(command: &SlashCommand) -> CommandOutcome {
    let mut rows =
        vec![PageRow::line(command.about), PageRow::pair(w::HELP_USAGE, command.usage())];
    if !command.aliases.is_empty() {
        rows.push(PageRow::pair(w::HELP_ALIASES, slashed(command.aliases)));
    }
    rows.push(PageRow::pair(w::HELP_CATEGORY, command.category.name()));
    CommandOutcome::Page { title: w::HELP_ABOUT.with("name", command.name), rows }
}

/// The README's table of commands, in Markdown.
pub fn readme_table() -> String {
    let mut out = String::from("| Command | Also | What it does |\n|---|---|---|\n");
    for (category, commands) in by_category(Surface::Local) {
        out += &format!("| **{}** | | |\n", category.name().text(Lang::En));
        for command in commands {
            let usage = command.usage().replace('|', "\\|");
            let about = command.about.text(Lang::En);
            let also = command.aliases.iter().map(|alias| format!("`/{alias}`"));
            let also = also.collect::<Vec<_>>().join(", ");
            out += &format!("| `{usage}` | {also} | {about} |\n");
        }
    }
    out
}

fn slashed(names: &[&str]) -> String {
    names.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ")
}
