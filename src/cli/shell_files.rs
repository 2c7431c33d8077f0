//! What a shell and `man` read of the command line: completion scripts and manual pages.

use std::io;
use std::path::Path;

use clap::CommandFactory as _;
use clap_mangen::roff::{Roff, bold, roman};

use super::args::{Cli, CompletionShell};
use super::related_options::{hide_unrelated, without_unrelated};
use avocet_core::i18n::{Lang, PhraseValue};
use avocet_present::commands::{ManualTopic, PageRow, Surface, TOPICS};

/// The completion script for a shell.
pub fn completions(shell: CompletionShell) -> Vec<u8> {
    let shell = match shell {
        CompletionShell::Bash => clap_complete::Shell::Bash,
        CompletionShell::Zsh => clap_complete::Shell::Zsh,
        CompletionShell::Fish => clap_complete::Shell::Fish,
        CompletionShell::PowerShell => clap_complete::Shell::PowerShell,
    };
    let mut script = Vec::new();
    let mut command = without_unrelated(Cli::command());
    clap_complete::generate(shell, &mut command, "avocet", &mut script);
    script
}

/// The manual page of the program, in roff, with the names of the others.
pub fn manual_page() -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    let mut topics = Roff::new();
    topics.control("SH", ["TOPICS"]);
    for topic in TOPICS {
        topics.control("TP", []).text([bold(format!("avocet help {}", topic.name))]);
        topics.text([roman(topic.title().en)]);
    }
    topics.to_writer(&mut page)?;
    Ok(page)
}

/// Writes the pages of the program, of all its commands and of all topics into a folder,
/// `avocet.1` first.
pub fn write_manual(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut command = Cli::command();
    command.build();
    clap_mangen::generate_to(hide_unrelated(command), folder)?;
    std::fs::write(folder.join("avocet.1"), manual_page()?)?;
    for topic in TOPICS {
        let page = topic_page(topic).render();
        std::fs::write(folder.join(format!("avocet-help-{}.1", topic.name)), page)?;
    }
    Ok(())
}

/// A page of the manual in roff, in English as the pages of the commands are.
fn topic_page(topic: &ManualTopic) -> Roff {
    let text = |value: &PhraseValue| roman(value.text(Lang::En));
    let name = format!("avocet-help-{}", topic.name);
    let mut page = Roff::new();
    page.control("TH", [name.as_str(), "1"]).control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {}", topic.title().en))]);
    page.control("SH", ["DESCRIPTION"]);
    for row in topic.rows(Surface::Local) {
        match row {
            PageRow::Heading(heading) => {
                page.control("SH", [heading.text(Lang::En).as_str()]);
            }
            PageRow::Pair { label, value } => {
                page.control("TP", []).text([bold(label.text(Lang::En))]).text([text(&value)]);
            }
            PageRow::Line(line) => {
                let line = text(&line);
                page.control("PP", [])
                    .text((line != roman("")).then_some(line).into_iter().collect::<Vec<_>>());
            }
        }
    }
    page
}
