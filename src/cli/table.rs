//! Writes rows as aligned lines, or as JSON.

use std::io::{self, Write};

use serde_json::{Value as Json, json};
use unicode_width::UnicodeWidthStr;

use super::messages::{self, Printer};
use avocet_core::i18n::{Lang, PhraseValue};
use avocet_present::commands::PageRow;

/// In columns, a label wider than this does not push the values further right.
const MAX_WIDTH: usize = 32;

/// Writes rows with aligned values.
pub fn write(out: &mut impl Write, rows: &[PageRow], printer: Printer) -> io::Result<()> {
    messages::write_text(out, aligned(rows, printer))
}

/// The rows as lines with aligned values.
pub fn aligned(rows: &[PageRow], printer: Printer) -> String {
    let shown =
        |value: &PhraseValue| (printer.clean)(&text(value, printer.lang)).replace('\n', " ");
    let labels = rows.iter().filter_map(|row| match row {
        PageRow::Pair { label, .. } => Some(shown(label).width()),
        PageRow::Heading(_) | PageRow::Line(_) => None,
    });
    let limit = printer.width.map_or(MAX_WIDTH, |columns| MAX_WIDTH.min(columns * 2 / 5));
    let width = labels.max().unwrap_or(0).min(limit);
    let mut page = String::new();
    for row in rows {
        match row {
            PageRow::Heading(heading) => {
                page += if page.is_empty() { "" } else { "\n" };
                printer.append(&mut page, "", &shown(heading));
            }
            PageRow::Pair { label, value } => {
                let mut label = shown(label);
                if printer.width.is_some() && label.width() > width {
                    printer.append(&mut page, "  ", &label);
                    label.clear();
                }
                let pad = " ".repeat(width.saturating_sub(label.width()));
                printer.append(&mut page, &format!("  {label}{pad}  "), &shown(value));
            }
            PageRow::Line(line) => append_line(&mut page, &shown(line), printer),
        }
    }
    page
}

/// A paragraph, an item of a list, or a line of code, which is never broken so that it can be
/// copied: its comment goes above it.
fn append_line(page: &mut String, line: &str, printer: Printer) {
    let is_code = line.starts_with(' ');
    if !is_code {
        let item = line.strip_prefix("∙ ").map(|text| ("  ∙ ", text));
        let (begin, text) = item.unwrap_or(("  ", line));
        return printer.append(page, begin, text);
    }
    let mut code = line;
    let is_wide = printer.width.is_some_and(|width| line.width() + 2 > width);
    if let (true, Some((command, comment))) = (is_wide, line.split_once("  # ")) {
        let indent = " ".repeat(line.len() - line.trim_start().len());
        printer.append(page, &format!("  {indent}# "), comment);
        code = command;
    }
    *page += format!("  {code}").trim_end();
    page.push('\n');
}

/// The rows as one JSON object: headings name objects, lines go into `lines`. The names are English
/// in both languages, because programs read them.
pub fn json(rows: &[PageRow], lang: Lang) -> Json {
    let mut page = serde_json::Map::new();
    let mut section: Option<String> = None;
    for row in rows {
        let target = match &section {
            Some(name) => page.get_mut(name).and_then(Json::as_object_mut),
            None => Some(&mut page),
        };
        match (row, target) {
            (PageRow::Heading(heading), _) => {
                let name = text(heading, Lang::En);
                page.insert(name.clone(), json!({}));
                section = Some(name);
            }
            (PageRow::Pair { label, value }, Some(target)) if !text(label, Lang::En).is_empty() => {
                target.insert(text(label, Lang::En), Json::from(text(value, lang)));
            }
            // Rows that go on with what is above them have no label.
            (PageRow::Line(line) | PageRow::Pair { value: line, .. }, Some(target)) => {
                let lines = target.entry("lines").or_insert_with(|| json!([]));
                if let Some(lines) = lines.as_array_mut() {
                    lines.push(Json::from(text(line, lang)));
                }
            }
            (PageRow::Pair { .. } | PageRow::Line(_), None) => {}
        }
    }
    Json::Object(page)
}

fn text(value: &PhraseValue, lang: Lang) -> String {
    match value {
        PhraseValue::Text(text) => text.clone(),
        PhraseValue::Say(say) => say.text(lang),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::{commands as w, common};

    fn rows() -> Vec<PageRow> {
        vec![
            PageRow::heading(w::STATUS_TITLE),
            PageRow::pair(common::MODEL, "m"),
            PageRow::pair("模型名", "n\nn"),
            PageRow::line("end"),
        ]
    }

    #[test]
    fn values_are_aligned_also_after_wide_letters() {
        let mut out = Vec::new();
        write(&mut out, &rows(), Printer { lang: Lang::En, clean: str::to_owned, width: None })
            .unwrap();
        let expected = "This session\n  model   m\n  模型名  n n\n  end\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_page_for_a_terminal_is_broken_at_words_below_their_column() {
        let rows = [
            PageRow::pair("key", "one two three four five six"),
            PageRow::pair("模型", "一二三四，五六七八九十"),
            PageRow::pair("a label that is wider than all", "is above its value"),
            PageRow::line("∙ an item of a list that continues"),
            PageRow::line("  avocet run  # a comment on a command"),
            PageRow::line("  a --command that=is too long for it"),
        ];
        let printer = Printer { lang: Lang::En, clean: str::to_owned, width: Some(32) };
        let expected = "  key           one two three
                four five six
  模型          一二三四，五六七
                八九十
  a label that is wider than all
                is above its
                value
  ∙ an item of a list that
    continues
    # a comment on a command
    avocet run
    a --command that=is too long for it
";
        assert_eq!(aligned(&rows, printer), expected);
    }

    #[test]
    fn json_has_the_same_names() {
        let expected =
            json!({ "This session": { "model": "m", "模型名": "n\nn", "lines": ["end"] } });
        assert_eq!(json(&rows(), Lang::En), expected);
    }
}
