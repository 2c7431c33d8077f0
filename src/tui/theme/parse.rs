//! Parses a theme's TOML into styles. Errors give the line and the key.

use ratatui::style::{Color, Modifier, Style};
use toml_edit::{Document, Item, TableLike};

use super::downsample::{SIXTEEN, parse_hex, to_terminal_color};
use super::{BarColors, Depth, DiffColors, Markup, Syntax, Theme};
use crate::symbols::LineStyle;
use avocet_core::i18n::{LocalizedText, screen};

/// Keys of the file that are not meanings.
const ABOUT: &[&str] = &["name", "background"];
const GROUPS: &[&str] = &["bar", "markup", "syntax", "change"];
const TOP: &[&str] = &[
    "text",
    "dim",
    "accent",
    "user",
    "ok",
    "warn",
    "danger",
    "info",
    "border",
    "selection",
    "surface",
    "raised",
];
const BAR: &[&str] = &["user", "input", "question", "danger"];
const MARKUP: &[&str] =
    &["heading", "strong", "emph", "struck", "code", "block", "link", "quote", "marker"];
const SYNTAX: &[&str] = &["comment", "string", "keyword", "number", "kind", "function"];
const CHANGE: &[&str] =
    &["added", "removed", "hunk", "added_row", "removed_row", "added_word", "removed_word"];

const MODIFIERS: &[(&str, Modifier)] = &[
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("reverse", Modifier::REVERSED),
    ("strike", Modifier::CROSSED_OUT),
];

pub(super) fn parse_theme(source: &str, depth: Depth) -> Result<Theme, LocalizedText> {
    let reader = Reader { source, depth };
    let document = Document::parse(source).map_err(|error| {
        let why = error.message().lines().next().unwrap_or_default();
        let line = reader.line(error.span().map(|span| span.start));
        screen::THEME_TOML.with("why", screen::THEME_LINE.with("line", line).with("what", why))
    })?;
    let table = ThemeTable { reader, name: "", table: Some(document.as_table()) };
    table.check_keys(&[ABOUT, TOP, GROUPS])?;
    Ok(Theme {
        text: table.style("text")?,
        dim: table.style("dim")?,
        accent: table.style("accent")?,
        user: table.style("user")?,
        ok: table.style("ok")?,
        warn: table.style("warn")?,
        danger: table.style("danger")?,
        info: table.style("info")?,
        border: table.style("border")?,
        selection: table.style("selection")?,
        surface: table.optional_style("surface")?,
        raised: table.optional_style("raised")?,
        bar: bar(&table)?,
        markup: markup(&table)?,
        change: change(&table)?,
        lines: LineStyle::default(),
    })
}

fn markup(table: &ThemeTable<'_>) -> Result<Markup, LocalizedText> {
    let markup = table.group("markup", MARKUP)?;
    let syntax = table.group("syntax", SYNTAX)?;
    Ok(Markup {
        heading: markup.style("heading")?,
        strong: markup.style("strong")?,
        emph: markup.style("emph")?,
        struck: markup.style("struck")?,
        code: markup.style("code")?,
        block: markup.style("block")?,
        link: markup.style("link")?,
        quote: markup.style("quote")?,
        marker: markup.style("marker")?,
        syntax: Syntax {
            comment: syntax.style("comment")?,
            string: syntax.style("string")?,
            keyword: syntax.style("keyword")?,
            number: syntax.style("number")?,
            kind: syntax.style("kind")?,
            function: syntax.style("function")?,
        },
    })
}

fn bar(table: &ThemeTable<'_>) -> Result<BarColors, LocalizedText> {
    let bar = table.group("bar", BAR)?;
    Ok(BarColors {
        user: bar.optional_style("user")?,
        input: bar.optional_style("input")?,
        question: bar.optional_style("question")?,
        danger: bar.optional_style("danger")?,
    })
}

fn change(table: &ThemeTable<'_>) -> Result<DiffColors, LocalizedText> {
    let change = table.group("change", CHANGE)?;
    Ok(DiffColors {
        added: change.style("added")?,
        removed: change.style("removed")?,
        hunk: change.style("hunk")?,
        added_row: change.optional_style("added_row")?,
        removed_row: change.optional_style("removed_row")?,
        added_word: change.optional_style("added_word")?,
        removed_word: change.optional_style("removed_word")?,
    })
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    source: &'a str,
    depth: Depth,
}

impl Reader<'_> {
    /// The line of an offset in the file, counted from 1.
    fn line(self, at: Option<usize>) -> usize {
        let before = at.and_then(|at| self.source.get(..at)).unwrap_or_default();
        before.matches('\n').count() + 1
    }
}

/// One table of the file; `None` where it is missing.
#[derive(Clone, Copy)]
struct ThemeTable<'a> {
    reader: Reader<'a>,
    name: &'a str,
    table: Option<&'a dyn TableLike>,
}

impl<'a> ThemeTable<'a> {
    fn group(&self, name: &'a str, names: &[&str]) -> Result<ThemeTable<'a>, LocalizedText> {
        let table = match self.item(name) {
            None => None,
            Some(item) => Some(item.as_table_like().ok_or_else(|| self.wrong_type_error(name))?),
        };
        let table = ThemeTable { reader: self.reader, name, table };
        table.check_keys(&[names])?;
        Ok(table)
    }

    fn item(&self, name: &str) -> Option<&'a Item> {
        self.table.and_then(|table| table.get(name))
    }

    fn line(&self, name: &str) -> usize {
        let key = self.table.and_then(|table| table.key(name));
        self.reader.line(key.and_then(|key| key.span()).map(|span| span.start))
    }

    /// The path of a key in the file: `markup.code`.
    fn path(&self, name: &str) -> String {
        if self.name.is_empty() { name.to_owned() } else { format!("{}.{name}", self.name) }
    }

    fn wrong_type_error(&self, name: &str) -> LocalizedText {
        screen::THEME_SHAPE.with("name", self.path(name)).with("line", self.line(name))
    }

    fn unknown_key_error(&self, name: &str, line: usize) -> LocalizedText {
        screen::THEME_UNKNOWN.with("name", self.path(name)).with("line", line)
    }

    fn check_keys(&self, names: &[&[&str]]) -> Result<(), LocalizedText> {
        let Some(table) = self.table else { return Ok(()) };
        let odd = table.iter().find(|(key, _)| !names.iter().any(|list| list.contains(key)));
        odd.map_or(Ok(()), |(key, _)| Err(self.unknown_key_error(key, self.line(key))))
    }

    /// A meaning that themes written for an earlier version do not have.
    fn optional_style(&self, name: &str) -> Result<Style, LocalizedText> {
        self.item(name).map_or(Ok(Style::new()), |_| self.style(name))
    }

    fn style(&self, name: &str) -> Result<Style, LocalizedText> {
        let item =
            self.item(name).ok_or_else(|| screen::THEME_MISSING.with("name", self.path(name)))?;
        let style = match (item.as_str(), item.as_table_like()) {
            (Some(text), _) => Style { fg: self.color(name, text, None)?, ..Style::default() },
            (None, Some(parts)) => self.style_from_table(name, parts)?,
            (None, None) => return Err(self.wrong_type_error(name)),
        };
        // The selection is shown by its background alone, so without colours it needs another
        // attribute.
        let bare = self.reader.depth == Depth::None && name == "selection";
        Ok(if bare { style.add_modifier(Modifier::REVERSED) } else { style })
    }

    fn style_from_table(&self, name: &str, parts: &dyn TableLike) -> Result<Style, LocalizedText> {
        let mut style = Style::new();
        let mut background_256 = None;
        for (key, item) in parts.iter() {
            let wish = |wish| parts.get(wish).and_then(Item::as_str);
            match (key, item.as_str(), item.as_bool()) {
                ("fg", Some(text), _) => style.fg = self.color(name, text, wish("ansi"))?,
                ("bg", Some(text), _) => style.bg = self.color(name, text, wish("ansi_bg"))?,
                ("ansi" | "ansi_bg", Some("default"), _) => {}
                ("ansi" | "ansi_bg", Some(text), _) => {
                    ansi_color(text).ok_or_else(|| self.color_error(name, text))?;
                }
                ("bg_256", _, _) => background_256 = Some(self.indexed_color(name, item)?),
                (key, None, Some(on)) => {
                    let found = MODIFIERS.iter().find(|(known, _)| *known == key);
                    let odd = || self.unknown_key_error(&format!("{name}.{key}"), self.line(name));
                    let (_, modifier) = found.ok_or_else(odd)?;
                    if on {
                        style = style.add_modifier(*modifier);
                    }
                }
                (key, _, _) => {
                    return Err(self.unknown_key_error(&format!("{name}.{key}"), self.line(name)));
                }
            }
        }
        if let Some(color) = background_256.filter(|_| self.reader.depth == Depth::Full256) {
            style.bg = color;
        }
        Ok(style)
    }

    /// A number from the table of 256 colours, or "default".
    fn indexed_color(&self, name: &str, item: &Item) -> Result<Option<Color>, LocalizedText> {
        if item.as_str() == Some("default") {
            return Ok(None);
        }
        let index = item.as_integer().and_then(|number| u8::try_from(number).ok());
        let odd = || self.color_error(name, &item.to_string());
        index.map(|index| Some(Color::Indexed(index))).ok_or_else(odd)
    }

    /// `wish`: the name that the author chose for sixteen colours.
    fn color(
        &self,
        name: &str,
        text: &str,
        wish: Option<&str>,
    ) -> Result<Option<Color>, LocalizedText> {
        let depth = self.reader.depth;
        let is_default = |text: &str| text == "default";
        if is_default(text) || (depth == Depth::Sixteen && wish.is_some_and(is_default)) {
            return Ok(None);
        }
        if let Some(named) = ansi_color(text) {
            return Ok(Some(named).filter(|_| depth != Depth::None));
        }
        let rgb = parse_hex(text).ok_or_else(|| self.color_error(name, text))?;
        let wish = wish
            .filter(|wish| !is_default(wish))
            .map(|wish| ansi_color(wish).ok_or_else(|| self.color_error(name, wish)));
        Ok(to_terminal_color(rgb, wish.transpose()?, depth))
    }

    fn color_error(&self, name: &str, text: &str) -> LocalizedText {
        let say = screen::THEME_COLOR.with("color", text).with("name", self.path(name));
        say.with("line", self.line(name))
    }
}

fn ansi_color(name: &str) -> Option<Color> {
    SIXTEEN.iter().find(|(known, _, _)| *known == name).map(|(_, color, _)| *color)
}
