//! From a theme's TOML to styles.

use ratatui::style::{Modifier, Style};
use toml::{Table, Value};

use super::paint::{SIXTEEN, hex, shown};
use super::{Change, Depth, Markup, Syntax, Theme};
use crate::words::{Say, screen};

/// Keys of the file that are no meanings.
const ABOUT: &[&str] = &["name", "background"];
const TOP: &[&str] =
    &["text", "dim", "accent", "user", "ok", "warn", "danger", "info", "border", "selection"];
const MARKUP: &[&str] =
    &["heading", "strong", "emph", "struck", "code", "block", "link", "quote", "marker"];
const SYNTAX: &[&str] = &["comment", "string", "keyword", "number", "kind", "function"];
const CHANGE: &[&str] = &["added", "removed", "hunk"];

const MODIFIERS: &[(&str, Modifier)] = &[
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("reverse", Modifier::REVERSED),
    ("strike", Modifier::CROSSED_OUT),
];

pub(super) fn theme(source: &str, depth: Depth) -> Result<Theme, Say> {
    let table: Table = source
        .parse()
        .map_err(|error: toml::de::Error| screen::THEME_TOML.with("why", error.message()))?;
    let empty = Table::new();
    let group = |name| table.get(name).and_then(Value::as_table).unwrap_or(&empty);
    let (markup, code, change) = (group("markup"), group("syntax"), group("change"));
    known(&table, &[ABOUT, TOP, &["markup", "syntax", "change"]])?;
    known(markup, &[MARKUP])?;
    known(code, &[SYNTAX])?;
    known(change, &[CHANGE])?;
    let top = |name| style(&table, name, depth);
    let mark = |name| style(markup, name, depth);
    let ink = |name| style(code, name, depth);
    let line = |name| style(change, name, depth);
    Ok(Theme {
        text: top("text")?,
        dim: top("dim")?,
        accent: top("accent")?,
        user: top("user")?,
        ok: top("ok")?,
        warn: top("warn")?,
        danger: top("danger")?,
        info: top("info")?,
        border: top("border")?,
        selection: top("selection")?,
        markup: Markup {
            heading: mark("heading")?,
            strong: mark("strong")?,
            emph: mark("emph")?,
            struck: mark("struck")?,
            code: mark("code")?,
            block: mark("block")?,
            link: mark("link")?,
            quote: mark("quote")?,
            marker: mark("marker")?,
            syntax: Syntax {
                comment: ink("comment")?,
                string: ink("string")?,
                keyword: ink("keyword")?,
                number: ink("number")?,
                kind: ink("kind")?,
                function: ink("function")?,
            },
        },
        change: Change { added: line("added")?, removed: line("removed")?, hunk: line("hunk")? },
    })
}

fn known(table: &Table, names: &[&[&str]]) -> Result<(), Say> {
    match table.keys().find(|key| !names.iter().any(|list| list.contains(&key.as_str()))) {
        Some(key) => Err(screen::THEME_UNKNOWN.with("name", key.as_str())),
        None => Ok(()),
    }
}

fn style(table: &Table, name: &str, depth: Depth) -> Result<Style, Say> {
    let style = match table.get(name) {
        None => return Err(screen::THEME_MISSING.with("name", name)),
        Some(Value::String(color)) => {
            let mut one = Table::new();
            one.insert("fg".into(), Value::String(color.clone()));
            painted(&one, name, depth)?
        }
        Some(Value::Table(parts)) => painted(parts, name, depth)?,
        Some(_) => return Err(screen::THEME_SHAPE.with("name", name)),
    };
    // What is told by its background alone needs another sign without colours.
    let bare = depth == Depth::None && name == "selection";
    Ok(if bare { style.add_modifier(Modifier::REVERSED) } else { style })
}

fn painted(parts: &Table, name: &str, depth: Depth) -> Result<Style, Say> {
    let mut style = Style::new();
    for (key, value) in parts {
        match (key.as_str(), value) {
            ("fg", Value::String(text)) => style.fg = color(parts, text, "ansi", depth)?,
            ("bg", Value::String(text)) => style.bg = color(parts, text, "ansi_bg", depth)?,
            ("ansi" | "ansi_bg", Value::String(text)) => {
                sixteen(text)?;
            }
            (key, Value::Boolean(on)) => {
                let found = MODIFIERS.iter().find(|(known, _)| *known == key);
                let (_, modifier) = found.ok_or_else(|| odd(name, key))?;
                if *on {
                    style = style.add_modifier(*modifier);
                }
            }
            (key, _) => return Err(odd(name, key)),
        }
    }
    Ok(style)
}

fn odd(name: &str, key: &str) -> Say {
    screen::THEME_UNKNOWN.with("name", format!("{name}.{key}"))
}

type Shown = Option<ratatui::style::Color>;

fn color(parts: &Table, text: &str, named: &str, depth: Depth) -> Result<Shown, Say> {
    if text == "default" {
        return Ok(None);
    }
    let rgb = hex(text).ok_or_else(|| screen::THEME_COLOR.with("color", text))?;
    let named = parts.get(named).and_then(Value::as_str).map(sixteen).transpose()?;
    Ok(shown(rgb, named, depth))
}

fn sixteen(name: &str) -> Result<ratatui::style::Color, Say> {
    let found = SIXTEEN.iter().find(|(known, _, _)| *known == name);
    found.map(|(_, color, _)| *color).ok_or_else(|| screen::THEME_COLOR.with("color", name))
}
