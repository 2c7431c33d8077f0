//! Markdown in the dialects of the services: Telegram's MarkdownV2, Slack's mrkdwn, Discord's,
//! and that of Lark's cards.
//!
//! What a dialect does not know (tables, headings) becomes what comes nearest. Everything that the
//! text does not mean as markup is escaped, so that a text never mentions, links or formats by
//! accident.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, TextMergeStream};
use unicode_width::UnicodeWidthStr as _;

use super::platform::MarkupDialect;
use avocet_core::text::with_cjk_strong;

/// Renders Markdown in a dialect.
pub fn render(markdown: &str, dialect: MarkupDialect) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer { dialect, ..Renderer::default() };
    for event in TextMergeStream::new(with_cjk_strong(Parser::new_ext(markdown, options))) {
        renderer.event(event);
    }
    renderer.out.trim_end().to_owned()
}

/// Text as a block of code, so that none of it is markup.
pub fn code_block(text: &str, dialect: MarkupDialect) -> String {
    let text = match dialect {
        MarkupDialect::TelegramV2 => escape(text, &['\\', '`']),
        MarkupDialect::Mrkdwn => escape_entities(text).replace("``", "`\u{200a}`"),
        MarkupDialect::Discord => text.replace("``", "`\u{200a}`"),
        MarkupDialect::Lark => without_tags(&text.replace("``", "`\u{200a}`")),
    };
    format!("```\n{}\n```", text.trim_end_matches('\n'))
}

struct Renderer {
    dialect: MarkupDialect,
    out: String,
    /// The number of the next item, of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// The text of the open block of code, and its language.
    code: Option<(String, String)>,
    /// The cells of the open table, row by row.
    table: Option<Vec<Vec<String>>>,
    links: Vec<String>,
    /// Inside bold text, more of it changes nothing.
    bold: usize,
    /// The text of a link in Slack's form, which comes after its address.
    starts_line: bool,
}

impl Default for Renderer {
    fn default() -> Renderer {
        Renderer {
            dialect: MarkupDialect::TelegramV2,
            out: String::new(),
            lists: Vec::new(),
            quotes: 0,
            code: None,
            table: None,
            links: Vec::new(),
            bold: 0,
            starts_line: true,
        }
    }
}

impl Renderer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => self.inline_code(&text),
            Event::SoftBreak | Event::HardBreak => self.line(),
            Event::Rule => {
                self.block();
                self.raw(match self.dialect {
                    MarkupDialect::TelegramV2 | MarkupDialect::Mrkdwn => "———",
                    MarkupDialect::Discord => "\\---",
                    MarkupDialect::Lark => "---",
                });
            }
            Event::TaskListMarker(done) => self.raw(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.paragraph(),
            Tag::Heading { level, .. } => {
                self.block();
                match (self.dialect, level as usize) {
                    (MarkupDialect::Discord | MarkupDialect::Lark, level @ 1..=3) => {
                        self.raw(&format!("{} ", "#".repeat(level)));
                    }
                    _ => self.toggle_bold(true),
                }
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.quotes += 1;
                self.starts_line = true;
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split_whitespace().next().unwrap_or_default().to_owned()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((String::new(), language));
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.block();
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.raw(match self.dialect {
                MarkupDialect::Discord | MarkupDialect::Lark => "*",
                // Two of them would underline.
                MarkupDialect::TelegramV2 if self.out.ends_with('_') => "\u{200b}_",
                MarkupDialect::TelegramV2 | MarkupDialect::Mrkdwn => "_",
            }),
            Tag::Strong => self.toggle_bold(true),
            Tag::Strikethrough => self.strike(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.open_link(&dest_url),
            Tag::Table(_) => {
                self.block();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                self.table.iter_mut().for_each(|rows| rows.push(Vec::new()));
            }
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => match (self.dialect, level as usize) {
                (MarkupDialect::Discord | MarkupDialect::Lark, 1..=3) => {}
                _ => self.toggle_bold(false),
            },
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::CodeBlock => {
                let (text, language) = self.code.take().unwrap_or_default();
                self.code_block(&text, &language);
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::Emphasis => self.raw(match self.dialect {
                MarkupDialect::Discord | MarkupDialect::Lark => "*",
                MarkupDialect::TelegramV2 | MarkupDialect::Mrkdwn => "_",
            }),
            TagEnd::Strong => self.toggle_bold(false),
            TagEnd::Strikethrough => self.strike(),
            TagEnd::Link | TagEnd::Image => self.close_link(),
            TagEnd::Table => {
                let rows = self.table.take().unwrap_or_default();
                self.code_block(&table_text(&rows), "");
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((code, _)) = &mut self.code {
            code.push_str(text);
        } else if let Some(cell) = self.cell() {
            cell.push_str(text);
        } else {
            for (at, line) in text.split('\n').enumerate() {
                if at > 0 {
                    self.line();
                }
                let escaped = self.escaped(line);
                self.raw(&escaped);
            }
        }
    }

    fn cell(&mut self) -> Option<&mut String> {
        self.table.as_mut()?.last_mut()?.last_mut()
    }

    fn escaped(&self, text: &str) -> String {
        const TELEGRAM: &[char] = &[
            '\\', '_', '*', '[', ']', '(', ')', '~', '`', '>', '#', '+', '-', '=', '|', '{', '}',
            '.', '!',
        ];
        const DISCORD: &[char] = &['\\', '*', '_', '~', '`', '|', '<', '>', '[', ']', '@'];
        match self.dialect {
            MarkupDialect::TelegramV2 => escape(text, TELEGRAM),
            MarkupDialect::Mrkdwn => without_marks(&escape_entities(text)),
            MarkupDialect::Discord | MarkupDialect::Lark => {
                let escaped = self.escaped_outside_addresses(text, DISCORD);
                let escaped = match self.dialect {
                    MarkupDialect::Lark => escaped.replace("\\<", "&lt;"),
                    _ => escaped,
                };
                // These are markup at the beginning of a line only.
                if self.starts_line && text.starts_with(['#', '-', '+']) {
                    format!("\\{escaped}")
                } else {
                    escaped
                }
            }
        }
    }

    /// An address leads to where it says: the service takes no marks out of it.
    fn escaped_outside_addresses(&self, text: &str, special: &[char]) -> String {
        const STARTS: [&str; 2] = ["http://", "https://"];
        let word = self.out.rsplit(char::is_whitespace).next().unwrap_or_default();
        let mut in_address = STARTS.iter().any(|start| word.contains(start));
        let mut out = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            let rest = text.get(at..).unwrap_or_default();
            in_address = !c.is_whitespace()
                && (in_address || STARTS.iter().any(|start| rest.starts_with(start)));
            if special.contains(&c) && !(in_address && c == '_') {
                out.push('\\');
            }
            out.push(c);
        }
        out
    }

    fn inline_code(&mut self, text: &str) {
        if let Some(cell) = self.cell() {
            cell.push_str(text);
            return;
        }
        let inside = match self.dialect {
            MarkupDialect::TelegramV2 => escape(text, &['\\', '`']),
            MarkupDialect::Mrkdwn => escape_entities(&text.replace('`', "'")),
            MarkupDialect::Lark if !text.contains('`') => without_tags(text),
            MarkupDialect::Discord if !text.contains('`') => text.to_owned(),
            MarkupDialect::Lark => return self.raw(&format!("`` {} ``", without_tags(text))),
            MarkupDialect::Discord => return self.raw(&format!("`` {text} ``")),
        };
        self.raw(&format!("`{inside}`"));
    }

    fn code_block(&mut self, text: &str, language: &str) {
        // An empty one is refused, or not seen.
        let text = if text.trim().is_empty() { "…" } else { text };
        let block = code_block(text, self.dialect);
        let plain = language.chars().all(|c| c.is_ascii_alphanumeric() || "+-#".contains(c));
        let named = !language.is_empty() && plain && self.dialect != MarkupDialect::Mrkdwn;
        let language = if named { language } else { "" };
        let block = block.strip_prefix("```").unwrap_or(&block).to_owned();
        for (at, line) in format!("```{language}{block}").split('\n').enumerate() {
            if at > 0 {
                self.line();
            }
            self.raw(line);
        }
    }

    fn toggle_bold(&mut self, opens: bool) {
        if !opens {
            self.bold = self.bold.saturating_sub(1);
        }
        if self.bold == 0 && self.cell().is_none() {
            let follows_word = self.out.ends_with(char::is_alphanumeric);
            self.raw(match self.dialect {
                // Next to a letter of Chinese, the marks need a space that is hardly seen.
                MarkupDialect::Lark if opens && follows_word => "\u{200a}**",
                MarkupDialect::Lark if !opens && !follows_word => "**\u{200a}",
                MarkupDialect::Discord | MarkupDialect::Lark => "**",
                MarkupDialect::TelegramV2 | MarkupDialect::Mrkdwn => "*",
            });
        }
        if opens {
            self.bold += 1;
        }
    }

    fn strike(&mut self) {
        self.raw(match self.dialect {
            MarkupDialect::Discord | MarkupDialect::Lark => "~~",
            MarkupDialect::TelegramV2 | MarkupDialect::Mrkdwn => "~",
        });
    }

    fn open_link(&mut self, to: &str) {
        // An address outside the web shows as its text.
        let is_web = ["http://", "https://", "mailto:"].iter().any(|start| to.starts_with(start));
        self.links.push(if is_web { to.to_owned() } else { String::new() });
        if is_web && self.cell().is_none() {
            match self.dialect {
                MarkupDialect::Mrkdwn => {
                    let to = to.replace('|', "%7C").replace('>', "%3E").replace('<', "%3C");
                    self.raw(&format!("<{}|", to.replace('&', "&amp;")));
                }
                _ => self.raw("["),
            }
        }
    }

    fn close_link(&mut self) {
        let to = self.links.pop().unwrap_or_default();
        if to.is_empty() || self.cell().is_some() {
            return;
        }
        match self.dialect {
            MarkupDialect::Mrkdwn => self.raw(">"),
            MarkupDialect::TelegramV2 => {
                self.raw(&format!("]({})", escape(&to, &['\\', ')'])));
            }
            MarkupDialect::Discord | MarkupDialect::Lark => {
                self.raw(&format!("]({})", to.replace('(', "%28").replace(')', "%29")));
            }
        }
    }

    fn item(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.line();
        }
        let depth = self.lists.len().saturating_sub(1);
        let mark = match (self.lists.last_mut(), self.dialect) {
            (Some(Some(number)), dialect) => {
                *number += 1;
                let dot = if dialect == MarkupDialect::TelegramV2 { "\\." } else { "." };
                format!("{}{dot} ", *number - 1)
            }
            (_, MarkupDialect::Discord | MarkupDialect::Lark) => "- ".to_owned(),
            _ => "• ".to_owned(),
        };
        let indent = if self.dialect == MarkupDialect::Lark { "    " } else { "  " };
        self.raw(&format!("{}{mark}", indent.repeat(depth)));
    }

    /// A paragraph of an item begins on the item's own line.
    fn paragraph(&mut self) {
        let follows_mark = self.lists.is_empty() || self.out.ends_with('\n');
        if follows_mark {
            self.block();
        } else if !self.out.ends_with(' ') {
            self.line();
        }
    }

    /// An empty line before a block.
    fn block(&mut self) {
        if self.out.is_empty() {
            return;
        }
        let item = !self.lists.is_empty();
        while !self.out.ends_with(if item { "\n" } else { "\n\n" }) {
            self.line();
            if self.quotes > 0 && !item {
                break;
            }
        }
    }

    fn line(&mut self) {
        if let Some((code, _)) = &mut self.code {
            code.push('\n');
        } else if let Some(cell) = self.cell() {
            cell.push(' ');
        } else {
            self.out.push('\n');
            self.starts_line = true;
        }
    }

    fn raw(&mut self, text: &str) {
        if let Some(cell) = self.cell() {
            cell.push_str(text);
            return;
        }
        if text.is_empty() {
            return;
        }
        if self.starts_line && self.quotes > 0 {
            self.out.push_str(match self.dialect {
                MarkupDialect::TelegramV2 => ">",
                _ => "> ",
            });
        }
        self.starts_line = false;
        self.out.push_str(text);
    }
}

fn escape(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if special.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Slack's own three: with them no text is a mention or a link.
fn escape_entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Slack knows no escape: a mark formats nothing where an unseen space follows it.
fn without_marks(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric());
    let is_space = |at: usize| chars.get(at).is_none_or(|c| c.is_whitespace());
    let opens = |at: usize| {
        let ends =
            |end: usize| chars.get(end) == chars.get(at) && !is_space(end - 1) && !is_word(end + 1);
        !is_word(at.wrapping_sub(1)) && is_word(at + 1) && (at + 2..chars.len()).any(ends)
    };
    let mut out = String::with_capacity(text.len());
    let mut is_address = false;
    for (at, c) in chars.iter().enumerate() {
        out.push(*c);
        is_address = !c.is_whitespace() && (is_address || out.ends_with("://"));
        out.extend(("*_~`".contains(*c) && !is_address && opens(at)).then_some('\u{200b}'));
    }
    out
}

/// Lark may read a tag in code too, and one of its tags mentions everyone.
fn without_tags(code: &str) -> String {
    code.replace('<', "<\u{200b}")
}

/// A table in columns.
fn table_text(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |at| rows.iter().filter_map(|row| row.get(at)).map(|cell: &String| cell.width()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0).min(40)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
        });
        cells.collect::<Vec<_>>().join(" | ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("-|-");
    lines.insert(1.min(lines.len()), rule);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [MarkupDialect; 4] = [
        MarkupDialect::TelegramV2,
        MarkupDialect::Mrkdwn,
        MarkupDialect::Discord,
        MarkupDialect::Lark,
    ];

    fn each(markdown: &str) -> [String; 3] {
        let [telegram, slack, discord, _] = ALL.map(|dialect| render(markdown, dialect));
        [telegram, slack, discord]
    }

    #[test]
    fn emphasis_is_written_as_each_service_writes_it() {
        assert_eq!(
            each("**bold** *it* ~~no~~ `a*b`"),
            ["*bold* _it_ ~no~ `a*b`", "*bold* _it_ ~no~ `a*b`", "**bold** *it* ~~no~~ `a*b`"]
        );
    }

    #[test]
    fn what_telegram_refuses_is_written_otherwise() {
        let telegram = |text: &str| render(text, MarkupDialect::TelegramV2);
        assert_eq!(telegram("*a**b*").matches("__").count(), 0);
        assert_eq!(telegram("***b*** and *x*"), "_*b*_ and _x_");
        assert!(telegram("```\n```").contains('…'));
        assert!(!telegram("***b****c*").contains("__"));
    }

    #[test]
    fn what_is_not_markup_is_escaped() {
        assert_eq!(
            each("1.5 < 2 & snake_case_name! <@U1> @everyone"),
            [
                "1\\.5 < 2 & snake\\_case\\_name\\! <@U1\\> @everyone",
                "1.5 &lt; 2 &amp; snake_case_name! &lt;@U1&gt; @everyone",
                "1.5 \\< 2 & snake\\_case\\_name! \\<\\@U1\\> \\@everyone",
            ]
        );
    }

    #[test]
    fn a_mark_that_was_escaped_formats_nothing_in_slack() {
        let slack = |text: &str| render(text, MarkupDialect::Mrkdwn);
        assert_eq!(slack(r"a \*not bold\*"), "a *\u{200b}not bold*");
        assert_eq!(slack(r"\_no\_ \~no\~ \`no\`"), "_\u{200b}no_ ~\u{200b}no~ `\u{200b}no`");
        let unescaped = "_x, a * b, snake_case, ~/.config, *.rs https://a.example/_b_/c";
        assert_eq!(slack(unescaped), unescaped, "what may be copied");
    }

    #[test]
    fn headings_lists_and_quotes_come_nearest() {
        let text = "# Top\n\ntext\n\n- one\n- two\n  1. deep\n\n> quoted\n> more";
        assert_eq!(
            each(text),
            [
                "*Top*\n\ntext\n\n• one\n• two\n  1\\. deep\n\n>quoted\n>more",
                "*Top*\n\ntext\n\n• one\n• two\n  1. deep\n\n> quoted\n> more",
                "# Top\n\ntext\n\n- one\n- two\n  1. deep\n\n> quoted\n> more",
            ]
        );
    }

    #[test]
    fn code_keeps_every_letter() {
        let text = "```rust\nlet a = `b`; // <\\>\n```";
        assert_eq!(
            each(text),
            [
                "```rust\nlet a = \\`b\\`; // <\\\\>\n```",
                "```\nlet a = `b`; // &lt;\\&gt;\n```",
                "```rust\nlet a = `b`; // <\\>\n```",
            ]
        );
    }

    #[test]
    fn links_are_links_only_to_the_web() {
        assert_eq!(
            each("[a](https://x.example/p_q?a=1&b=2) [b](javascript:alert(1))"),
            [
                "[a](https://x.example/p_q?a=1&b=2) b",
                "<https://x.example/p_q?a=1&amp;b=2|a> b",
                "[a](https://x.example/p_q?a=1&b=2) b",
            ]
        );
    }

    #[test]
    fn an_address_keeps_its_letters_where_it_is_followed_as_it_is() {
        let text = "see https://bare.example/x_y_z and snake_case";
        let shown = "see https://bare.example/x_y_z and snake\\_case";
        assert_eq!(render(text, MarkupDialect::Discord), shown);
    }

    #[test]
    fn cards_mention_no_one_and_show_bold_beside_chinese() {
        let lark = |text: &str| render(text, MarkupDialect::Lark);
        assert_eq!(
            lark("<at id=all></at> `<at id=all>`"),
            "&lt;at id=all\\>&lt;/at\\> `<\u{200b}at id=all>`"
        );
        assert_eq!(lark("**注意：**请看**粗体**字"), "**注意：**\u{200a}请看\u{200a}**粗体**字");
        assert_eq!(lark("- a\n  - b\n\n## c"), "- a\n    - b\n\n## c");
    }

    #[test]
    fn a_table_stays_in_columns() {
        let text = "| a | long |\n|---|---|\n| x | y |";
        assert_eq!(render(text, MarkupDialect::Discord), "```\na | long\n--|-----\nx | y\n```");
    }

    proptest! {
        /// Every special letter of MarkdownV2 outside of code is escaped or markup in pairs; here
        /// the text has no markup at all.
        #[test]
        fn plain_text_is_never_markup_in_telegram(text in "[a-z .!(){}=|+#-]{0,60}") {
            let shown = render(&format!("x{text}"), MarkupDialect::TelegramV2);
            let mut chars = shown.chars();
            while let Some(c) = chars.next() {
                match c {
                    '\\' => drop(chars.next()),
                    c => prop_assert!(!".!(){}=|+#-".contains(c) || shown.starts_with('*'), "{shown}"),
                }
            }
        }

        #[test]
        fn any_text_can_be_rendered(text in any::<String>()) {
            for dialect in ALL {
                let _ = render(&text, dialect);
            }
        }
    }
}
