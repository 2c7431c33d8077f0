//! The README and the manual say what is so, in both languages, and their tables are made from the
//! program.
//!
//! `UPDATE=1 cargo test of_the_ -- --test-threads=1` rewrites these.

use std::collections::BTreeSet;
use std::fs;

use avocet::commands::{TOPICS, commands_table, markdown_table};
use avocet::i18n::Lang;
use avocet::safety::limits::{kernel_rows, open_list};
use avocet::script::reference::chapter_rows;
use avocet::tui::key_rows;

use crate::support::readme::{file, holds};

fn pages(lang: Lang) -> impl Iterator<Item = (String, String)> {
    TOPICS.iter().map(move |topic| {
        let path = format!("assets/help/{}/{}.md", lang.code(), topic.name);
        let text = fs::read_to_string(file(&path)).unwrap();
        (path, text)
    })
}

#[test]
fn the_tables_of_the_manual_are_those_of_the_program() {
    for lang in [Lang::En, Lang::Zh] {
        for (page, mark, table) in [
            ("keys", "keys", markdown_table(key_rows(lang))),
            ("commands", "commands", commands_table(lang)),
            ("sandbox", "kernels", markdown_table(kernel_rows(lang))),
            ("sandbox", "open", open_list(lang)),
            ("scripts", "chapters", markdown_table(chapter_rows(lang))),
        ] {
            holds(&format!("assets/help/{}/{page}.md", lang.code()), mark, &table);
        }
    }
}

/// What a line of a page is; cells are counted.
fn kind(line: &str) -> String {
    let marks = ["# ", "## ", "### ", "- ", "```", "<!--", "|-"];
    match marks.into_iter().find(|mark| line.starts_with(mark)) {
        Some(mark) => mark.to_owned(),
        None if line.starts_with("| ") => format!("{} cells", line.matches(" |").count()),
        None if line.is_empty() => "empty".to_owned(),
        None => "text".to_owned(),
    }
}

#[test]
fn both_languages_of_the_manual_say_the_same_on_the_same_line() {
    let mut wrong = Vec::new();
    for ((page, english), (_, chinese)) in pages(Lang::En).zip(pages(Lang::Zh)) {
        let (en, zh) = (english.lines().count(), chinese.lines().count());
        if en != zh {
            wrong.push(format!("{page}: {en} lines and {zh}"));
        }
        let mut is_code = false;
        for (at, (en, zh)) in english.lines().zip(chinese.lines()).enumerate() {
            is_code ^= en.starts_with("```");
            if !is_code && kind(en) != kind(zh) {
                wrong.push(format!("{page}:{}: {en:?} and {zh:?}", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_paragraph_is_longer_than_one_reads_at_once() {
    let readme = ("README.md".to_owned(), fs::read_to_string(file("README.md")).unwrap());
    let english = pages(Lang::En).chain([readme]).map(|page| (page, 400));
    let chinese = pages(Lang::Zh).map(|page| (page, 200));
    let mut long = Vec::new();
    for ((page, text), most) in english.chain(chinese) {
        // Tables, and what the program makes.
        let mut is_made = false;
        for line in text.lines() {
            is_made = if line.starts_with("<!--") { !line.starts_with("<!-- /") } else { is_made };
            let is_read = !is_made && !line.starts_with('|');
            long.extend(
                (is_read && line.chars().count() > most).then(|| format!("{page}: {line}")),
            );
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn every_page_of_the_manual_is_a_topic_and_the_readme_leads_to_it() {
    let readme = fs::read_to_string(file("README.md")).unwrap();
    assert!(readme.len() <= 8_000, "{} bytes", readme.len());
    for lang in [Lang::En, Lang::Zh] {
        let folder = fs::read_dir(file("assets/help").join(lang.code())).unwrap();
        let found: BTreeSet<_> =
            folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let known: BTreeSet<_> = TOPICS.iter().map(|topic| format!("{}.md", topic.name)).collect();
        assert_eq!(found, known);
    }
    for topic in TOPICS {
        assert!(readme.contains(&format!("(assets/help/en/{}.md)", topic.name)), "{}", topic.name);
    }
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    for (link, _) in links.filter(|(link, _)| !link.contains("://")) {
        assert!(file(link).exists(), "{link}");
    }
}

#[test]
fn the_readme_names_the_test_command_it_shows() {
    let readme = fs::read_to_string(file("README.md")).unwrap();
    let named = readme.split("<!-- test: ").nth(1).unwrap().split(" -->").next().unwrap();
    assert!(readme.contains(&format!("```sh\n{named}\n```")), "{named}");
}
