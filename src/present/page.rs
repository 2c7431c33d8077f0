//! A page of labels and values as Markdown. Pure.

use super::commands::PageRow;
use avocet_core::i18n::{Lang, LocalizedText, PhraseValue};
use avocet_core::text::one_line;

/// The page as lines: the title and headings bold, a pair on one line.
pub fn markdown(localized_text: &LocalizedText, rows: &[PageRow], lang: Lang) -> String {
    let text = |value: &PhraseValue| one_line(&value.text(lang));
    let mut out = format!("**{}**", escape(&one_line(&localized_text.text(lang))));
    for row in rows {
        out += "\n";
        match row {
            PageRow::Heading(heading) => out += &format!("\n**{}**", escape(&text(heading))),
            PageRow::Pair { label, value } => {
                let label = escape(&text(label));
                let value = escape(&text(value));

                out += &if label.is_empty() { value } else { format!("{label}: {value}") };
            }
            PageRow::Line(line) => out += &escape(&text(line)),
        }
    }
    out
}

/// The page as the lines of a file.
pub fn plain(text: &LocalizedText, rows: &[PageRow], lang: Lang) -> String {
    let mut out = text.text(lang);
    for row in rows {
        out += "\n";
        out += &match row {
            PageRow::Heading(heading) => format!("\n{}", heading.text(lang)),
            PageRow::Pair { label, value } => {
                let label = label.text(lang);
                let value = value.text(lang);

                if label.is_empty() { value } else { format!("{label}: {value}") }
            }
            PageRow::Line(line) => line.text(lang),
        };
    }
    out
}

/// Values are no markup; code in backticks stays code.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        match at % 2 {
            0 => part.chars().for_each(|c| {
                if "*_[]<>\\~|#".contains(c) {
                    out.push('\\');
                }
                out.push(c);
            }),
            _ => out += &format!("`{part}`"),
        }
    }
    out
}
