//! Lays out one piece of Markdown in rows of at most `width` columns.

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::super::paragraph::{Break, LayoutContext, Paragraph, StyledRow, with_prefix};
use super::CodeLines;
use super::link::{self, Targets};
use super::split::OPTIONS;
use super::table::Table;
use crate::symbols::BULLET;
use crate::text;
use avocet_core::i18n::screen;
use avocet_core::text::with_cjk_strong;

/// Nested lists and quotes are indented up to this depth.
const DEPTH: usize = 12;

pub fn layout(
    source: &str,
    targets: &Targets,
    cx: &LayoutContext<'_>,
    width: usize,
) -> Vec<StyledRow> {
    let mut layout = MarkdownLayout {
        cx,
        width,
        rows: Vec::new(),
        para: Paragraph::default(),
        styles: vec![cx.theme.text],
        insets: Vec::new(),
        numbers: Vec::new(),
        targets: Vec::new(),
        content: BlockContent::Text,
        join: Join::None,
        codes: 0,
    };
    // Links whose target is defined in another piece of the text.
    let elsewhere = |link: BrokenLink<'_>| {
        let target = targets.get(&link.reference)?;
        Some((CowStr::from(target.to_owned()), CowStr::Borrowed("")))
    };
    let parser = Parser::new_with_broken_link_callback(source, OPTIONS, Some(elsewhere));
    for event in with_cjk_strong(parser) {
        layout.event(event);
    }
    layout.flush_paragraph();
    layout.rows
}

/// The kind of text being read.
enum BlockContent {
    Text,
    Code { label: String, code: String },
    Table(Table),
}

/// How the next row or word is joined to the last.
#[derive(Clone, Copy, PartialEq)]
enum Join {
    None,
    /// A line break of the source, rendered as a space or nothing.
    Soft,
    /// A blank row before the next block.
    Blank,
}

/// An item or a quote: the prefix of its first row and of all others.
struct Inset {
    first: Option<Vec<Span<'static>>>,
    rest: Vec<Span<'static>>,
}

struct MarkdownLayout<'a> {
    cx: &'a LayoutContext<'a>,
    width: usize,
    rows: Vec<StyledRow>,
    para: Paragraph,
    styles: Vec<Style>,
    insets: Vec<Inset>,
    /// The next number of each open list.
    numbers: Vec<Option<u64>>,
    /// The target of each open link, and the start of its text.
    targets: Vec<(String, usize)>,
    content: BlockContent,
    join: Join,
    /// Code blocks so far.
    codes: usize,
}

impl MarkdownLayout<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.code(&code),
            Event::Html(html) => self.html_line(&html),
            Event::InlineHtml(html) => self.html(&html),
            Event::SoftBreak => self.join = Join::Soft,
            Event::HardBreak => self.para.push("\n", self.style()),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => self.task(done),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let markup = &self.cx.theme.markup;
        match tag {
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.styles.push(match level {
                    HeadingLevel::H1 => markup.heading.add_modifier(Modifier::UNDERLINED),
                    HeadingLevel::H2 => markup.heading,
                    _ => markup.heading.patch(markup.emph),
                });
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                let bar = format!("{} ", self.cx.theme.lines.bar());
                self.inset(None, vec![Span::styled(bar, self.cx.theme.border)]);
                self.styles.push(markup.quote);
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next(),
                    CodeBlockKind::Indented => None,
                };
                let label = info.unwrap_or_default().to_owned();
                self.content = BlockContent::Code { label, code: String::new() };
            }
            Tag::List(first) => {
                self.flush_paragraph();
                if self.insets.is_empty() {
                    self.begin_block();
                }
                self.numbers.push(first);
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.begin_block();
                self.content = BlockContent::Table(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let BlockContent::Table(table) = &mut self.content {
                    table.rows.push(Vec::new());
                }
                if matches!(tag, Tag::TableHead) {
                    self.push_style(markup.strong);
                }
            }
            Tag::Emphasis => self.push_style(markup.emph),
            Tag::Strong => self.push_style(markup.strong),
            Tag::Strikethrough => self.push_style(markup.struck),
            Tag::Link { dest_url, .. } => {
                self.resolve_soft_break("");
                self.targets.push((text::single_line(&dest_url), self.para.text().len()));
                self.push_style(markup.link);
            }
            Tag::Image { dest_url, .. } => self.image(&dest_url),
            Tag::TableCell => {}
            _ => self.begin_block(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.finish();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush_paragraph();
                self.insets.pop();
                self.styles.pop();
                self.join = Join::Blank;
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                self.flush_paragraph();
                self.numbers.pop();
                if self.insets.is_empty() {
                    self.join = Join::Blank;
                }
            }
            TagEnd::Item => {
                self.flush_paragraph();
                self.bare_marker();
                self.insets.pop();
            }
            TagEnd::Table => self.table(),
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableRow => {}
            TagEnd::TableCell => self.cell(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                self.finish_link();
            }
            _ => self.finish(),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    /// Adds a style on top of the surrounding one.
    fn push_style(&mut self, style: Style) {
        self.styles.push(self.style().patch(style));
    }

    fn text(&mut self, text: &str) {
        if let BlockContent::Code { code, .. } = &mut self.content {
            return code.push_str(text);
        }
        self.resolve_soft_break(text);
        let style = self.style();
        let linked = style.patch(self.cx.theme.markup.link).add_modifier(Modifier::UNDERLINED);
        let mut at = 0;
        // The text of a link always gets the target of the link, even if it contains another
        // address.
        let urls = if self.targets.is_empty() { link::urls(text) } else { Vec::new() };
        for url in urls {
            self.para.push(text.get(at..url.start).unwrap_or_default(), style);
            at = url.end;
            let url = text.get(url).unwrap_or_default();
            let from = self.para.text().len();

            self.para.push(url, linked);
            self.para.link(from, link::address(url));
        }
        self.para.push(text.get(at..).unwrap_or_default(), style);
    }

    /// A line break of the source is a space, except between two wide characters.
    fn resolve_soft_break(&mut self, next: &str) {
        if self.join != Join::Soft {
            return;
        }
        self.join = Join::None;
        let wide = |c: Option<char>| c.is_some_and(|c| text::width(c.encode_utf8(&mut [0; 4])) > 1);
        let both = wide(self.para.text().chars().last()) && wide(next.chars().next());
        if !both && !self.para.is_empty() {
            self.para.push(" ", self.style());
        }
    }

    fn code(&mut self, code: &str) {
        self.resolve_soft_break(code);
        let theme = self.cx.theme;
        let style = Style { bg: theme.panel.surface.bg, ..self.style().patch(theme.markup.code) };
        // Without colours the backticks have to stay.
        let plain = theme.markup.code == Style::new();
        let text = if plain { format!("`{code}`") } else { code.to_owned() };
        self.para.push(&text, style);
    }

    fn html(&mut self, html: &str) {
        if matches!(html.trim(), "<br>" | "<br/>" | "<br />") {
            return self.para.push("\n", self.style());
        }
        self.resolve_soft_break(html);
        self.para.push(html, self.cx.theme.dim);
    }

    /// A line of an HTML block, shown as written so that nothing of it is hidden.
    fn html_line(&mut self, html: &str) {
        if !self.para.is_empty() {
            self.para.push("\n", self.style());
        }
        self.para.push(html.trim_end_matches('\n'), self.cx.theme.dim);
    }

    fn rule(&mut self) {
        self.begin_block();
        let (prefix, width) = self.prefix();
        let rule = Line::styled(
            self.cx.theme.lines.rule().repeat(width.min(self.cx.prose_width())),
            self.cx.theme.border,
        );
        self.rows.push(with_prefix(&prefix, rule.into()));
        self.join = Join::Blank;
    }

    fn item(&mut self) {
        self.begin_block();
        let marker = match self.numbers.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number += 1;
                marker
            }
            _ => BULLET.to_owned(),
        };
        let rest = vec![Span::raw(" ".repeat(text::width(&marker)))];
        self.inset(Some(vec![Span::styled(marker, self.cx.theme.markup.marker)]), rest);
    }

    fn task(&mut self, done: bool) {
        let theme = self.cx.theme;
        let (mark, style) = if done { ("[x] ", theme.ok) } else { ("[ ] ", theme.markup.marker) };
        if let Some(Inset { first: first @ Some(_), rest }) = self.insets.last_mut() {
            *first = Some(vec![Span::styled(mark, style)]);
            *rest = vec![Span::raw(" ".repeat(mark.len()))];
        }
    }

    /// An item without any text still shows its marker.
    fn bare_marker(&mut self) {
        if self.insets.last().is_some_and(|inset| inset.first.is_some()) {
            let (prefix, _) = self.prefix();
            self.rows.push(with_prefix(&prefix, StyledRow::default()));
        }
    }

    fn inset(&mut self, first: Option<Vec<Span<'static>>>, rest: Vec<Span<'static>>) {
        let taken: usize = self.insets.iter().map(Inset::columns).sum();
        let more: usize = rest.iter().map(Span::width).sum();
        let fits = self.insets.len() < DEPTH && taken + more <= self.width / 2;
        self.insets.push(if fits {
            Inset { first, rest }
        } else {
            Inset { first: None, rest: Vec::new() }
        });
    }

    fn image(&mut self, dest: &str) {
        let theme = self.cx.theme;
        self.resolve_soft_break("");
        self.para.push(self.cx.phrase(screen::IMAGE), theme.dim);
        // The text of an image is never its target: both are shown.
        self.targets.push((text::single_line(dest), usize::MAX));
        self.push_style(theme.markup.link);
    }

    /// Shows the target of a link, unless its text shows it already. A text that looks like another
    /// address is not linked: only the true target is.
    fn finish_link(&mut self) {
        let Some((target, start)) = self.targets.pop() else { return };
        let label = self.para.text().get(start..).unwrap_or_default();
        let says = link::shows_target(label, &target);
        let claims = link::looks_like_address(label);

        let address = link::address(&target);
        if says || !claims {
            self.para.link(start, address.clone());
        }
        if target.is_empty() || says {
            return;
        }
        let dim = self.cx.theme.dim;
        self.para.push(" (", dim);
        let from = self.para.text().len();
        self.para.push(&target, dim);
        self.para.link(from, address);
        self.para.push(")", dim);
    }

    fn cell(&mut self) {
        self.join = Join::None;
        let cell = std::mem::take(&mut self.para).with_tabs_expanded();
        if let BlockContent::Table(Table { rows, .. }) = &mut self.content
            && let Some(row) = rows.last_mut()
        {
            row.push(cell);
        }
    }

    fn table(&mut self) {
        if let BlockContent::Table(table) = std::mem::replace(&mut self.content, BlockContent::Text)
        {
            self.push_block(|cx, width| table.layout(cx, width));
        }
    }

    fn code_block(&mut self) {
        if let BlockContent::Code { label, code } =
            std::mem::replace(&mut self.content, BlockContent::Text)
        {
            let code = text::sanitize(&code);
            let code = CodeLines { code: &code, before: "", label: Some(&label), nth: self.codes };
            self.codes += 1;
            self.push_block(|cx, width| super::set_code(&code, &label, cx, width));
        }
    }

    /// The rows of a block that lays itself out.
    fn push_block(&mut self, set: impl FnOnce(&LayoutContext<'_>, usize) -> Vec<StyledRow>) {
        let (prefix, width) = self.prefix();
        let rest = self.continuation_prefix();
        for (at, row) in set(self.cx, width).into_iter().enumerate() {
            self.rows.push(with_prefix(if at == 0 { &prefix } else { &rest }, row));
        }
        self.join = Join::Blank;
    }

    /// Before a block: finishes the open one, and adds a blank row if one is due.
    fn begin_block(&mut self) {
        self.flush_paragraph();
        let join = std::mem::replace(&mut self.join, Join::None);
        if join == Join::Blank && !self.rows.is_empty() {
            let mut line = Line::default();
            for inset in self.insets.iter().filter(|inset| inset.first.is_none()) {
                line.spans.extend(inset.rest.iter().cloned());
            }
            self.rows.push(StyledRow::decoration(line));
        }
    }

    /// After a block of text.
    fn finish(&mut self) {
        self.flush_paragraph();
        self.join = Join::Blank;
    }

    fn flush_paragraph(&mut self) {
        if self.join == Join::Soft {
            self.join = Join::None;
        }
        if self.para.is_empty() {
            return;
        }
        let para = std::mem::take(&mut self.para).with_tabs_expanded();
        let bars = self.insets.iter().take_while(|inset| inset.is_quote()).map(Inset::columns);
        let bars: usize = bars.sum();
        let (prefix, width) = self.prefix();
        let rest = self.continuation_prefix();
        let width = width.min(self.cx.prose_width());
        for (at, row) in para.rows(width, Break::Words).into_iter().enumerate() {
            let mut row = with_prefix(if at == 0 { &prefix } else { &rest }, row);
            if row.continuation_spaces.is_none() {
                // The marks and the indentation of a list are also in its source.
                row.prefix_columns = bars as u16;
            }
            self.rows.push(row);
        }
    }

    /// The start of the next row, and the columns remaining after it.
    fn prefix(&mut self) -> (Vec<Span<'static>>, usize) {
        let taken: usize = self.insets.iter().map(Inset::columns).sum();
        let next = |inset: &mut Inset| inset.first.take().unwrap_or_else(|| inset.rest.clone());
        let prefix = self.insets.iter_mut().flat_map(next).collect();
        (prefix, self.width.saturating_sub(taken).max(1))
    }

    fn continuation_prefix(&self) -> Vec<Span<'static>> {
        self.insets.iter().flat_map(|inset| inset.rest.iter().cloned()).collect()
    }
}

impl Inset {
    fn is_quote(&self) -> bool {
        self.rest.first().is_some_and(|span| !span.content.trim().is_empty())
    }

    fn columns(&self) -> usize {
        self.rest.iter().map(Span::width).sum()
    }
}
