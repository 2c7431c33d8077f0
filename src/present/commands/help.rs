//! Generates the help from the table.

use super::manual::{self, TOPICS};
use super::table::COMMANDS;
use super::{Category, CommandOutcome, PageRow, SlashCommand, Surface, custom, dispatch, refusal};
use avocet_core::i18n::{Lang, Phrase, PhraseValue, commands as w};
use avocet_core::protocol::Extensions;
use avocet_script::reference;

/// The commands available on a surface, by category; empty categories are omitted.
pub fn by_category(surface: Surface<'_>) -> Vec<(Category, Vec<&'static SlashCommand>)> {
    let of = |category| {
        let reachable = COMMANDS.iter().filter(move |command| command.reach.covers(surface));
        reachable.filter(move |command| command.category == category).collect::<Vec<_>>()
    };
    let all = Category::ALL.into_iter().map(|category| (category, of(category)));
    all.filter(|(_, commands)| !commands.is_empty()).collect()
}

/// Help about one command, with the page of the manual of that name, or about all; an unknown topic
/// is refused with similar names.
pub fn page(topic: Option<&str>, surface: Surface<'_>, extensions: &Extensions) -> CommandOutcome {
    let Some(topic) = topic else { return overview_page(surface, extensions) };
    let built_in = dispatch::find_in(COMMANDS, topic);
    let built_in = built_in.map(|command| {
        if command.reach.covers(surface) {
            command_page(command, topic_rows(command.name, surface))
        } else {
            dispatch::out_of_reach(command.name, &command.reach)
        }
    });
    let found = built_in.or_else(|| custom::help(extensions, surface, topic));
    found.or_else(|| topic_page(topic, surface)).unwrap_or_else(|| {
        let reachable = COMMANDS.iter().filter(|command| command.reach.covers(surface));
        let mut known: Vec<&str> = reachable.flat_map(SlashCommand::names).collect();
        known.extend(custom::typeable(extensions, surface).map(|entry| entry.name.as_str()));
        known.extend(TOPICS.iter().map(|topic| topic.name));
        refusal("", w::NO_TOPIC, topic, known, w::UNKNOWN_HINT)
    })
}

fn overview_page(surface: Surface<'_>, extensions: &Extensions) -> CommandOutcome {
    let mut rows = Vec::new();
    for (category, commands) in by_category(surface) {
        rows.push(PageRow::heading(category.name()));
        rows.extend(commands.iter().map(|command| {
            let about = with_aliases(command.about.into(), command.aliases);
            PageRow::pair(command.usage(), about)
        }));
        let own = custom::listed(extensions, surface, |entry| custom::is_in(entry, category));
        rows.extend(own.into_iter().map(|(usage, about)| PageRow::pair(usage, about)));
    }
    rows.push(PageRow::heading(w::HELP_TOPICS));
    let topics = TOPICS.iter();
    rows.extend(topics.map(|topic| PageRow::pair(format!("/help {}", topic.name), topic.title())));
    for (heading, entries) in custom::sections(extensions, surface) {
        rows.push(PageRow::Heading(heading));
        rows.extend(entries.into_iter().map(|(usage, about)| PageRow::pair(usage, about)));
    }
    CommandOutcome::Page { title: w::HELP_TITLE.into(), rows }
}

/// A description with the other names of its command.
pub fn with_aliases(value: PhraseValue, aliases: &[impl AsRef<str>]) -> PhraseValue {
    match aliases {
        [] => value,
        aliases => {
            let names: Vec<String> =
                aliases.iter().map(|name| format!("/{}", name.as_ref())).collect();
            w::ABOUT_ALSO.with("about", value).with("names", names.join(", ")).into()
        }
    }
}

fn topic_page(named: &str, surface: Surface<'_>) -> Option<CommandOutcome> {
    let (title, rows) = topic_rows(named, surface)?;
    Some(CommandOutcome::Page { title: title.into(), rows })
}

/// The title and the rows of a page of the manual, or of a chapter about scripts: `scripts marks`.
pub fn topic_rows(named: &str, surface: Surface<'_>) -> Option<(Phrase, Vec<PageRow>)> {
    let named = named.to_lowercase();
    let chapter = named.strip_prefix("scripts ").map(str::trim);
    if let Some(chapter) = chapter.and_then(reference::find_chapter) {
        return Some((chapter.about, chapter.page()));
    }
    let topic = manual::find_topic(&named)?;
    Some((topic.title(), topic.rows(surface)))
}

fn command_page(command: &SlashCommand, page: Option<(Phrase, Vec<PageRow>)>) -> CommandOutcome {
    let mut rows =
        vec![PageRow::line(command.about), PageRow::pair(w::HELP_USAGE, command.usage())];
    if !command.aliases.is_empty() {
        rows.push(PageRow::pair(w::HELP_ALIASES, slashed(command.aliases)));
    }
    let options = command.options.iter();
    rows.extend(options.map(|option| PageRow::pair(option.name, option.about)));
    rows.push(PageRow::pair(w::HELP_CATEGORY, command.category.name()));
    if let Some((title, page)) = page {
        rows.push(PageRow::heading(title));
        rows.extend(page);
    }
    CommandOutcome::Page { title: w::HELP_ABOUT.with("name", command.name), rows }
}

/// The table of the commands, in Markdown, for the manual.
pub fn commands_table(lang: Lang) -> String {
    let rows = by_category(Surface::Local).into_iter().flat_map(|(category, commands)| {
        let heading = (format!("**{}**", category.name().text(lang)), String::new());
        let about = |command: &SlashCommand| with_aliases(command.about.into(), command.aliases);
        let row = move |command: &SlashCommand| {
            (format!("`{}`", command.usage()), about(command).text(lang))
        };
        std::iter::once(heading).chain(commands.into_iter().map(row)).collect::<Vec<_>>()
    });
    manual::markdown_table(rows)
}

fn slashed(names: &[&str]) -> String {
    names.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_has_a_page_for_each_chapter_about_scripts() {
        let rows = |named: &str| match page(Some(named), Surface::Local, &Extensions::default()) {
            CommandOutcome::Page { rows, .. } => rows,
            _ => Vec::new(),
        };
        for chapter in reference::CHAPTERS {
            let named = PhraseValue::from(format!("`{}`", chapter.name));
            let is_listed =
                |row: &PageRow| matches!(row, PageRow::Pair { label, .. } if *label == named);
            assert!(rows("scripts").iter().any(is_listed), "{}", chapter.name);
            assert_eq!(rows(&format!("Scripts {}", chapter.name)), chapter.page());
        }
        assert_eq!(rows("scripts nosuch"), []);
    }
}
