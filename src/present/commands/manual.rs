//! The manual: pages in `assets/help`, the same text for the screen, a shell, `man`, chats and
//! readers of the sources.
//!
//! A page is plain Markdown with one line for each paragraph, list item, row and line of code. The
//! English and the Chinese page say the same on the same line, so a row of the help is a line of
//! both. Tables between `<!-- NAME -->` and `<!-- /NAME -->` are made from the program by a test.

use super::{PageRow, Surface};
use avocet_core::i18n::{LocalizedText, Phrase, PhraseValue, commands as w};

/// A page about more than one command.
pub struct ManualTopic {
    pub name: &'static str,
    /// What it can be asked for by as well.
    pub aliases: &'static [&'static str],
    en: &'static str,
    zh: &'static str,
}

macro_rules! topic {
    ($name:literal, $aliases:expr) => {
        ManualTopic {
            name: $name,
            aliases: &$aliases,
            en: include_str!(concat!("../../../assets/help/en/", $name, ".md")),
            zh: include_str!(concat!("../../../assets/help/zh/", $name, ".md")),
        }
    };
}

/// In the order of reading.
pub const TOPICS: &[ManualTopic] = &[
    topic!("start", ["install"]),
    topic!("models", ["providers", "images", "prices"]),
    topic!("safety", ["tiers", "risk", "approvals", "rules"]),
    topic!("modes", []),
    topic!("sandbox", ["landlock"]),
    topic!("jobs", []),
    topic!("keys", []),
    topic!("commands", []),
    topic!("extensions", ["bots"]),
    topic!("agents", ["agent", "subagents"]),
    topic!("mcp", []),
    topic!("hooks", ["hook"]),
    topic!("lsp", ["languages", "diagnostics"]),
    topic!("web", ["fetch"]),
    topic!("sessions", []),
    topic!("scripts", ["script", "isdk"]),
    topic!("gateways", ["gateway", "telegram", "slack", "discord", "feishu", "lark"]),
    topic!("acp", ["editors", "zed", "neovim", "jetbrains"]),
    topic!("headless", ["json"]),
    topic!("serve", ["sdk", "api"]),
    topic!("eval", ["tasks", "benchmark"]),
    topic!("batch", ["slurm", "kubernetes", "cluster"]),
    topic!("review", ["ci", "sarif"]),
    topic!("files", ["folders"]),
    topic!("development", []),
];

/// Finds a page by one of its names.
pub fn find_topic(named: &str) -> Option<&'static ManualTopic> {
    let named = named.to_lowercase();
    let by_name = TOPICS.iter().find(|topic| topic.name == named);
    by_name.or_else(|| TOPICS.iter().find(|topic| topic.aliases.contains(&named.as_str())))
}

/// Marks a section that only a user at the terminal needs.
const TERMINAL_ONLY: &str = "<!-- terminal -->";

impl ManualTopic {
    /// The lines of both languages.
    fn lines(&self) -> impl Iterator<Item = PageLine> {
        self.en.lines().zip(self.zh.lines()).map(|(en, zh)| PageLine { en, zh })
    }

    /// The heading of the page.
    pub fn title(&self) -> Phrase {
        let mut lines = self.lines();
        let title = lines.next().and_then(|line| line.without("# "));
        title.map_or(w::HELP_TOPICS, |PageLine { en, zh }| Phrase { key: "manual.TITLE", en, zh })
    }

    /// The items of the numbered list after the line that begins so.
    pub fn list_below(&self, begin: &str) -> Vec<ManualItem> {
        let lines = self.lines().skip_while(|line| !line.en.starts_with(begin)).skip(2);
        let items = lines.take_while(|line| !line.en.is_empty());
        items.map(|line| ManualItem { text: line.en, localized_text: line.text() }).collect()
    }

    /// The rows of the page, without its heading. In a chat the sections for a terminal are left out.
    pub fn rows(&self, surface: Surface<'_>) -> Vec<PageRow> {
        let mut out = Vec::new();
        let mut is_code = false;
        let mut is_left_out = false;
        let mut head = None;
        let mut lines = self.lines().skip(1).peekable();
        while let Some(line) = lines.next() {
            if line.en.starts_with("## ") {
                let marked = lines.next_if(|next| next.en == TERMINAL_ONLY);
                is_left_out = marked.is_some() && !surface.is_local();
            }
            if line.en.starts_with("```") {
                is_code = !is_code;
            } else if is_left_out || ["<!--", "|-"].iter().any(|mark| line.en.starts_with(mark)) {
                continue;
            } else if is_code {
                out.push(line.code());
            } else if line.en.is_empty() {
                let begins = matches!(out.last(), None | Some(PageRow::Heading(_)));
                let ends = lines.peek().is_none_or(|next| next.en.starts_with('#'));
                out.extend((!begins && !ends).then(|| PageRow::line("")));
            } else if lines.peek().is_some_and(|next| next.en.starts_with("|-")) {
                head = Some(line);
                out.extend(line.head_row());
            } else {
                out.push(line.row(head));
            }
        }
        out
    }
}

/// An item of a list.
pub struct ManualItem {
    /// In English, as the page has it.
    pub text: &'static str,
    pub localized_text: LocalizedText,
}

/// One line of a page in both languages.
#[derive(Clone, Copy)]
struct PageLine {
    en: &'static str,
    zh: &'static str,
}

impl PageLine {
    fn without(self, mark: &str) -> Option<PageLine> {
        let en = self.en.strip_prefix(mark)?;
        let zh = self.zh.strip_prefix(mark)?;

        Some(PageLine { en, zh })
    }

    fn value(self) -> PhraseValue {
        if self.en == self.zh {
            return plain(self.en).into();
        }
        self.text().into()
    }

    fn text(self) -> LocalizedText {
        LINE.with("en", plain(self.en)).with("zh", plain(self.zh))
    }

    fn code(self) -> PageRow {
        if self.en.is_empty() {
            return PageRow::line("");
        }
        let [en, zh] = [self.en, self.zh].map(|line| format!("  {line}"));
        PageRow::line(LINE.with("en", en).with("zh", zh))
    }

    /// A row of the help, of a table with the names of its columns.
    fn row(self, head: Option<PageLine>) -> PageRow {
        if let (true, Some(head)) = (self.en.starts_with("| "), head) {
            return self.table_row(head);
        }
        if let Some(heading) = self.without("## ").or_else(|| self.without("### ")) {
            return PageRow::heading(heading.value());
        }
        match self.without("- ") {
            Some(item) => PageRow::line(w::MANUAL_ITEM.with("text", item.value())),
            None => PageRow::line(self.value()),
        }
    }

    fn cells(self) -> impl Iterator<Item = PageLine> {
        cells(self.en).zip(cells(self.zh)).map(|(en, zh)| PageLine { en, zh })
    }

    /// The names of two columns, if they have some; those of more are in each row.
    fn head_row(self) -> Option<PageRow> {
        let lines: Vec<PageLine> = self.cells().collect();
        let [label, value] = lines[..] else { return None };
        (!label.en.is_empty()).then(|| PageRow::pair(label.value(), value.value()))
    }

    /// The first cell names the row. Of several others each is named by the head of its column.
    fn table_row(self, line: PageLine) -> PageRow {
        let mut cells = self.cells();
        let label = cells.next().map_or_else(|| "".into(), PageLine::value);
        let named: Vec<(PageLine, PageLine)> = line.cells().skip(1).zip(cells).collect();
        let is_only = named.len() == 1;
        let filled = named.into_iter().filter(|(_, cell)| !cell.en.is_empty());
        let values = filled.map(|(name, cell)| {
            if is_only {
                return cell.value();
            }
            w::MANUAL_CELL.with("name", name.value()).with("value", cell.value()).into()
        });
        let joined = values
            .reduce(|first, next| w::MANUAL_CELLS.with("first", first).with("next", next).into());
        PageRow::pair(label, joined.unwrap_or_else(|| "".into()))
    }
}

/// A line that is different in each language.
const LINE: Phrase = Phrase { key: "manual.LINE", en: "{en}", zh: "{zh}" };

/// A line without marks of emphasis, and of a link its text; code stays as it is.
fn plain(line: &str) -> String {
    let mut out = String::new();
    for (at, part) in line.split('`').enumerate() {
        let is_code = at % 2 == 1;
        out += if at > 0 { "`" } else { "" };
        if is_code {
            out += &part.replace("\\|", "|");
            continue;
        }
        for (at, text) in part.split("](").enumerate() {
            let behind = text.split_once(')').map_or(text, |(_, behind)| behind);
            let text = if at == 0 { text } else { behind };
            out.extend(text.chars().filter(|c| !"*[".contains(*c)));
        }
    }
    out
}

/// The cells of a row; a bar after a backslash is a part of its cell.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    let inner = row.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')).unwrap_or(row);
    let mut before = ' ';
    let ends = move |c: char| std::mem::replace(&mut before, c) != '\\' && c == '|';
    inner.split(ends).map(str::trim)
}

/// Rows of two columns as Markdown, for the marked parts of pages.
pub fn markdown_table(rows: impl IntoIterator<Item = (String, String)>) -> String {
    let mut table = String::from("| | |\n|---|---|\n");
    for (label, value) in rows {
        let [label, value] = [label, value].map(|cell| cell.replace('|', "\\|"));
        table += &format!("| {label} | {value} |\n");
    }
    table
}
