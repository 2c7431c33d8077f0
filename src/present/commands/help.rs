//! Generates the help from the table.

use super::table::COMMANDS;
use super::{Category, CommandOutcome, PageRow, SlashCommand, Surface, custom, dispatch, refusal};
use avocet_core::i18n::{Lang, Phrase, PhraseValue, commands as w, gateway, sandbox, script_help};
use avocet_core::protocol::{Availability, Extensions};
use avocet_safety::limits;
use avocet_script::reference;

/// A page of help about more than one command.
pub struct HelpTopic {
    pub name: &'static str,
    aliases: &'static [&'static str],
    about: Phrase,
    page: fn(Surface<'_>) -> Vec<PageRow>,
}

pub const TOPICS: &[HelpTopic] = &[
    HelpTopic {
        name: "gateways",
        aliases: &["gateway", "telegram", "slack", "discord"],
        about: gateway::HELP_GATEWAYS,
        page: gateways_page,
    },
    HelpTopic {
        name: "scripts",
        aliases: &["script", "isdk"],
        about: script_help::GUIDE,
        page: |_| reference::contents_page(),
    },
    HelpTopic {
        name: "sandbox",
        aliases: &["landlock"],
        about: sandbox::HELP_ABOUT,
        page: |_| limits::help_page(),
    },
];

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
    let built_in = dispatch::find_in(COMMANDS, topic);
    let built_in = built_in.map(|command| {
        if command.reach.covers(surface) {
            command_page(command)
        } else {
            dispatch::out_of_reach(command.name, &command.reach)
        }
    });
    let found = built_in.or_else(|| custom::help(own, surface, topic));
    found.or_else(|| topic_page(topic, surface)).unwrap_or_else(|| {
        let reachable = COMMANDS.iter().filter(|command| command.reach.covers(surface));
        let mut known: Vec<&str> = reachable.flat_map(SlashCommand::names).collect();
        known.extend(custom::typeable(own, surface).map(|entry| entry.name.as_str()));
        known.extend(TOPICS.iter().map(|topic| topic.name));
        refusal("", w::NO_TOPIC, topic, known, w::UNKNOWN_HINT)
    })
}

fn overview_page(surface: Surface<'_>, own: &Extensions) -> CommandOutcome {
    let mut rows = Vec::new();
    for (category, commands) in by_category(surface) {
        rows.push(PageRow::heading(category.name()));
        rows.extend(commands.iter().map(|command| {
            let about = with_aliases(command.about.into(), command.aliases);
            PageRow::pair(command.usage(), about)
        }));
    }
    rows.push(PageRow::heading(w::HELP_TOPICS));
    let topics = TOPICS.iter();
    rows.extend(topics.map(|topic| PageRow::pair(format!("/help {}", topic.name), topic.about)));
    for (heading, entries) in custom::sections(own, surface) {
        rows.push(PageRow::Heading(heading));
        rows.extend(entries.into_iter().map(|(usage, about)| PageRow::pair(usage, about)));
    }
    CommandOutcome::Page { title: w::HELP_TITLE.into(), rows }
}

/// A description with the other names of its command.
pub fn with_aliases(about: PhraseValue, aliases: &[impl AsRef<str>]) -> PhraseValue {
    match aliases {
        [] => about,
        aliases => {
            let names: Vec<String> =
                aliases.iter().map(|name| format!("/{}", name.as_ref())).collect();
            w::ABOUT_ALSO.with("about", about).with("names", names.join(", ")).into()
        }
    }
}

fn topic_page(named: &str, surface: Surface<'_>) -> Option<CommandOutcome> {
    let named = named.to_lowercase();
    let alias = TOPICS.iter().find(|topic| topic.aliases.contains(&named.as_str()));
    let (title, rows) = topic_rows(alias.map_or(&named, |topic| topic.name), surface)?;
    Some(CommandOutcome::Page { title: title.into(), rows })
}

/// The title and the rows of a topic, or of a chapter of one: `scripts marks`.
pub fn topic_rows(named: &str, surface: Surface<'_>) -> Option<(Phrase, Vec<PageRow>)> {
    let chapter = named.strip_prefix("scripts ").map(str::trim);
    if let Some(chapter) = chapter.and_then(reference::find_chapter) {
        return Some((chapter.about, chapter.page()));
    }
    let topic = TOPICS.iter().find(|topic| topic.name == named)?;
    Some((topic.about, (topic.page)(surface)))
}

/// At the terminal how to open a gateway, and everywhere what is different in a chat.
fn gateways_page(surface: Surface<'_>) -> Vec<PageRow> {
    let mut rows = Vec::new();
    if surface.is_local() {
        rows.push(PageRow::heading(gateway::HELP_SETUP));
        rows.extend(GATEWAY_STEPS.iter().map(|(step, about)| PageRow::pair(*step, *about)));
    }
    rows.push(PageRow::heading(gateway::HELP_IN_A_CHAT));
    rows.push(PageRow::line(gateway::HELP_WHO));
    rows.push(PageRow::line(gateway::HELP_QUESTIONS));
    rows.push(PageRow::line(gateway::HELP_BUSY));
    let of_chats = COMMANDS.iter().filter(|one| matches!(one.reach, Availability::GatewayOnly));
    rows.extend(of_chats.map(|command| PageRow::pair(command.usage(), command.about)));
    rows
}

const GATEWAY_STEPS: &[(&str, Phrase)] = &[
    ("gateway.telegram.enabled = true", gateway::HELP_ENABLE),
    ("avocet gateway token telegram", gateway::HELP_TOKEN),
    ("avocet gateway menu telegram", gateway::HELP_MENU),
    ("avocet gateway pair", gateway::HELP_PAIR),
    ("avocet gateway run", gateway::HELP_RUN),
    ("avocet gateway status", gateway::HELP_STATUS),
];

fn command_page(command: &SlashCommand) -> CommandOutcome {
    let mut rows =
        vec![PageRow::line(command.about), PageRow::pair(w::HELP_USAGE, command.usage())];
    if !command.aliases.is_empty() {
        rows.push(PageRow::pair(w::HELP_ALIASES, slashed(command.aliases)));
    }
    let options = command.options.iter();
    rows.extend(options.map(|option| PageRow::pair(option.name, option.about)));
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
            assert!(rows("scripts").contains(&PageRow::pair(chapter.name, chapter.about)));
            assert_eq!(rows(&format!("Scripts {}", chapter.name)), chapter.page());
        }
        assert_eq!(rows("scripts nosuch"), []);
    }
}
