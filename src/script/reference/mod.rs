//! The help of the language: chapters with examples, whose facts come from the tables of the
//! language itself.

use super::directive;
use super::run;
use super::settings::{INPUT_ATTRIBUTES, PARAMETERS, SETTINGS, SettingSpec, THINK_KEYS, TOOL_KEYS};
use super::syntax;
use super::template;
use super::{built_in, manifest::input::parse_inputs};
use avocet_core::i18n::{Lang, Phrase, script_help as docs};
use avocet_core::protocol::PageRow;
pub use examples::{EXAMPLES, ScriptExample};
pub use tables::{LIMITS, MARKS, PREFIXES, SyntaxForm};

mod examples;
pub mod schema;
mod tables;

/// A part of a chapter, in the order of reading.
#[derive(Clone, Copy, Debug)]
enum Part {
    Text(Phrase),
    Keys(Phrase, &'static [SettingSpec]),
    Forms(Phrase, &'static [SyntaxForm]),
    Directives,
    Filters,
    Tools,
    Scripts,
    Limits,
}

/// One page of help.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    pub name: &'static str,
    pub about: Phrase,
    parts: &'static [Part],
}

/// All chapters, in the order of reading.
#[rustfmt::skip]
pub const CHAPTERS: &[Chapter] = &[
    Chapter { name: "messages", about: docs::ABOUT_MESSAGES, parts: &[
        Part::Text(docs::MESSAGES_1), Part::Text(docs::MESSAGES_2), Part::Text(docs::MESSAGES_3),
        Part::Forms(docs::TITLE_PREFIXES, PREFIXES),
    ] },
    Chapter { name: "settings", about: docs::ABOUT_SETTINGS, parts: &[
        Part::Text(docs::SETTINGS_1), Part::Text(docs::SETTINGS_2),
        Part::Keys(docs::TITLE_SETTINGS, SETTINGS),
        Part::Keys(docs::TITLE_INPUTS, INPUT_ATTRIBUTES),
        Part::Keys(docs::TITLE_PARAMETERS, PARAMETERS),
    ] },
    Chapter { name: "templates", about: docs::ABOUT_TEMPLATES, parts: &[
        Part::Text(docs::TEMPLATES_1), Part::Text(docs::TEMPLATES_2), Part::Filters,
    ] },
    Chapter { name: "marks", about: docs::ABOUT_MARKS, parts: &[
        Part::Text(docs::MARKS_1), Part::Text(docs::MARKS_2),
        Part::Forms(docs::TITLE_MARKS, MARKS),
    ] },
    Chapter { name: "directives", about: docs::ABOUT_DIRECTIVES, parts: &[
        Part::Text(docs::DIRECTIVES_1), Part::Text(docs::DIRECTIVES_2), Part::Directives,
    ] },
    Chapter { name: "chains", about: docs::ABOUT_CHAINS, parts: &[
        Part::Text(docs::CHAINS_1), Part::Text(docs::CHAINS_2), Part::Scripts,
    ] },
    Chapter { name: "inheritance", about: docs::ABOUT_INHERITANCE, parts: &[
        Part::Text(docs::INHERITANCE_1), Part::Text(docs::INHERITANCE_2),
    ] },
    Chapter { name: "groups", about: docs::ABOUT_GROUPS, parts: &[
        Part::Text(docs::GROUPS_1), Part::Text(docs::GROUPS_2),
    ] },
    Chapter { name: "tools", about: docs::ABOUT_TOOLS, parts: &[
        Part::Text(docs::TOOLS_1), Part::Text(docs::TOOLS_2),
        Part::Keys(docs::TITLE_TOOL, TOOL_KEYS), Part::Tools,
    ] },
    Chapter { name: "functions", about: docs::ABOUT_FUNCTIONS, parts: &[
        Part::Text(docs::FUNCTIONS_1), Part::Text(docs::FUNCTIONS_2), Part::Text(docs::FUNCTIONS_3),
    ] },
    Chapter { name: "thinking", about: docs::ABOUT_THINKING, parts: &[
        Part::Text(docs::THINKING_1), Part::Keys(docs::TITLE_THINK, THINK_KEYS),
    ] },
    Chapter { name: "limits", about: docs::ABOUT_LIMITS, parts: &[
        Part::Text(docs::LIMITS_1), Part::Limits,
    ] },
];

pub fn find_chapter(name: &str) -> Option<&'static Chapter> {
    CHAPTERS.iter().find(|chapter| chapter.name == name)
}

/// A row for each chapter, for the manual.
pub fn chapter_rows(lang: Lang) -> impl Iterator<Item = (String, String)> {
    let about = move |chapter: &Chapter| chapter.about.text(lang).to_owned();
    CHAPTERS.iter().map(move |chapter| (format!("`{}`", chapter.name), about(chapter)))
}

impl Chapter {
    pub fn page(&self) -> Vec<PageRow> {
        let mut rows = Vec::new();
        let mut tables = Vec::new();
        for part in self.parts {
            match part {
                Part::Text(text) => rows.push(PageRow::line(*text)),
                table => tables.extend(table.rows()),
            }
        }
        let own = EXAMPLES.iter().filter(|example| example.chapter == self.name);
        rows.extend(own.flat_map(example_rows));
        rows.extend(tables);
        rows
    }
}

impl Part {
    /// Its heading and its rows.
    fn rows(self) -> Vec<PageRow> {
        let (title, rows): (Phrase, Vec<PageRow>) = match self {
            Part::Text(text) => return vec![PageRow::line(text)],
            Part::Keys(title, keys) => (title, keys.iter().map(key_row).collect()),
            Part::Forms(title, forms) => {
                let row = |form: &SyntaxForm| PageRow::pair(form.form, form.about);
                (title, forms.iter().map(row).collect())
            }
            Part::Directives => {
                let row =
                    |spec: &directive::DirectiveSpec| PageRow::pair(spec.signature(), spec.about);
                (docs::TITLE_DIRECTIVES, directive::TABLE.iter().map(row).collect())
            }
            Part::Filters => {
                let names = template::FILTERS.join(" ");
                (docs::TITLE_FILTERS, vec![PageRow::line(names)])
            }
            Part::Tools => {
                let row = |(id, inputs): (&str, Vec<&str>)| call_row(id, &inputs);
                (docs::TITLE_TOOLS, run::builtin_tools().map(row).collect())
            }
            Part::Scripts => {
                let row = |(id, text): &(&str, &str)| {
                    let names = input_names(text);
                    call_row(id, &names.iter().map(String::as_str).collect::<Vec<_>>())
                };
                (docs::TITLE_SCRIPTS, built_in::SCRIPTS.iter().map(row).collect())
            }
            Part::Limits => {
                let row = |(about, most): &(Phrase, usize)| PageRow::pair(most.to_string(), *about);
                (docs::TITLE_LIMITS, LIMITS.iter().map(row).collect())
            }
        };
        [PageRow::heading(title)].into_iter().chain(rows).collect()
    }
}

fn key_row(spec: &SettingSpec) -> PageRow {
    match spec.name {
        "trigger" => {
            PageRow::pair(spec.name, spec.about.with("list", run::tools::TRIGGERS.join(" ")))
        }
        name => PageRow::pair(name, spec.about),
    }
}

fn call_row(id: &str, inputs: &[&str]) -> PageRow {
    PageRow::line(format!("{id}({})", inputs.join(", ")))
}

fn input_names(text: &str) -> Vec<String> {
    let Ok(document) = syntax::parse("", text) else { return Vec::new() };
    let input = document.front_matter.get("input").map(syntax::ScriptValue::to_value);
    let inputs = parse_inputs(input.as_ref());
    inputs.into_iter().map(|input| input.name).collect()
}

/// The files of an example, the command that runs it, and what that prints.
fn example_rows(example: &ScriptExample) -> Vec<PageRow> {
    let mut rows = vec![PageRow::heading(docs::EXAMPLE)];
    let code = |line: &str| PageRow::line(format!("    {line}").trim_end().to_owned());
    for (at, (file, text)) in example.files.iter().enumerate() {
        if at > 0 {
            rows.push(PageRow::line(""));
        }
        rows.push(code(&format!("# {file}")));
        rows.extend(text.lines().map(code));
    }
    rows.push(PageRow::line(""));
    let args = example
        .args
        .iter()
        .map(|arg| if arg.contains(' ') { format!(" \"{arg}\"") } else { format!(" {arg}") });
    rows.push(code(&format!("$ avocet run {}{}", example.chapter, args.collect::<String>())));
    rows.extend(example.output.lines().map(code));
    rows
}
