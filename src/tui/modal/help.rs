//! Help: every key and every command, drawn from their own tables.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::Answer;
use super::choice;
use crate::commands::{Command, Surface, by_category};
use crate::tui::keys::{self, Action, KEYS, Place, Scrolled};
use crate::tui::paint::Pen;
use crate::tui::paint::{self, Rule};
use crate::tui::{clean, status};
use crate::words::{Word, screen as words};

/// From this width on, keys and commands stand side by side.
const WIDE: u16 = 132;
/// No column of help gets wider than one likes to read.
const READABLE: usize = 96;

#[derive(Debug, Default)]
pub struct Help {
    offset: usize,
    /// Rows there were, and rows that fit, at the last drawing.
    rows: usize,
    room: usize,
}

impl Help {
    pub fn key(&mut self, key: &KeyEvent) -> Answer {
        let action = keys::action(Place::Page, key).or_else(|| keys::action(Place::Anywhere, key));
        match action {
            Some(Action::Close) => return Answer::Close,
            Some(Action::Next) => self.scroll(1),
            Some(Action::Previous) => self.scroll(-1),
            Some(Action::Scroll(by)) => self.scroll_by(by),
            _ => {}
        }
        Answer::Stay
    }

    fn scroll_by(&mut self, by: Scrolled) {
        let page = i32::try_from(self.room.saturating_sub(2).max(1)).unwrap_or(1);
        match by {
            Scrolled::LineUp | Scrolled::TurnUp => self.scroll(-1),
            Scrolled::LineDown | Scrolled::TurnDown => self.scroll(1),
            Scrolled::PageUp => self.scroll(-page),
            Scrolled::PageDown => self.scroll(page),
            Scrolled::Top => self.offset = 0,
            Scrolled::Bottom => self.offset = self.rows,
        }
        self.keep_inside();
    }

    pub fn scroll(&mut self, lines: i32) {
        let by = usize::try_from(lines.unsigned_abs()).unwrap_or(0);
        self.offset =
            if lines < 0 { self.offset.saturating_sub(by) } else { self.offset.saturating_add(by) };
        self.keep_inside();
    }

    fn keep_inside(&mut self) {
        self.offset = self.offset.min(self.rows.saturating_sub(self.room));
    }

    pub fn draw(&mut self, area: Rect, buf: &mut Buffer, pen: &Pen<'_>) {
        paint::blank(area, buf, pen.theme);
        if area.height < 3 || area.width < 12 {
            return;
        }
        let rows = self.rows(area.width, pen);
        self.rows = rows.len();
        self.room = usize::from(area.height.saturating_sub(4));
        self.keep_inside();
        let below = self.rows.saturating_sub(self.offset + self.room);
        let bold = pen.theme.accent.add_modifier(Modifier::BOLD);
        let mut rule =
            Rule::new(pen.theme.border).left(Span::styled(words::HELP_TITLE.text(pen.lang), bold));
        if below > 0 {
            let more = words::HELP_MORE.with("n", below).text(pen.lang);
            rule = rule.right(Span::styled(more, pen.theme.dim));
        }
        rule.draw(area, buf);
        let body = Rect {
            x: area.x + 2,
            y: area.y + 2,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(4),
        };
        let shown: Vec<_> = rows.into_iter().skip(self.offset).take(self.room).collect();
        paint::lines(body, buf, &shown);
        let foot = Rect { y: area.bottom() - 1, height: 1, ..area };
        status::draw_hints(foot, buf, pen, HINTS);
    }

    fn rows(&self, width: u16, pen: &Pen<'_>) -> Vec<Line<'static>> {
        let room = usize::from(width.saturating_sub(4));
        if width < WIDE {
            let column = room.min(READABLE);
            return [commands(column, pen), keys(column, pen)].concat();
        }
        let column = ((room - 4) / 2).min(READABLE);
        let (left, right) = (commands(column, pen), keys(column, pen));
        (0..left.len().max(right.len()))
            .map(|row| {
                let mut line = left.get(row).cloned().unwrap_or_default();
                let gap = (column + 4).saturating_sub(line.width());
                line.spans.push(Span::raw(" ".repeat(gap)));
                line.spans.extend(right.get(row).cloned().unwrap_or_default().spans);
                line
            })
            .collect()
    }
}

/// Commands by category, in the order of their table.
fn commands(width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
    let mut list = List::default();
    for (category, commands) in by_category(Surface::Local) {
        list.head(category.name().text(pen.lang));
        for command in commands {
            list.row(command.usage(), with_aliases(command, pen));
        }
    }
    list.rows(width, pen)
}

/// Keys by the place they count in.
fn keys(width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
    let mut list = List::default();
    for (place, title) in PLACES {
        list.head(title.text(pen.lang));
        for key in KEYS.iter().filter(|key| key.place == *place) {
            if let Some(about) = key.about {
                let names: Vec<_> = key.chords.iter().map(keys::Chord::name).collect();
                list.row(names.join(", "), about.text(pen.lang).to_owned());
            }
        }
        if *place == Place::Question {
            list.row("1 - 7".to_owned(), words::PICK_NTH.text(pen.lang).to_owned());
            for (letter, label) in choice::letters() {
                list.row(letter.to_string(), label.text(pen.lang).to_owned());
            }
        }
    }
    list.rows(width, pen)
}

const HINTS: &[status::Hint] = &[
    status::Hint { key: "Up/Down", does: words::HINT_SCROLL },
    status::Hint { key: "Esc", does: words::HINT_CLOSE },
];

const PLACES: &[(Place, Word)] = &[
    (Place::Input, words::PLACE_INPUT),
    (Place::EmptyInput, words::PLACE_EMPTY_INPUT),
    (Place::Anywhere, words::PLACE_ANYWHERE),
    (Place::Question, words::PLACE_QUESTION),
    (Place::Palette, words::PLACE_PALETTE),
    (Place::Recall, crate::words::input::PLACE_SEARCH),
    (Place::Search, words::PLACE_SEARCH),
    (Place::Found, words::PLACE_FOUND),
];

fn with_aliases(command: &Command, pen: &Pen<'_>) -> String {
    let about = command.about.text(pen.lang);
    match command.aliases {
        [] => about.to_owned(),
        aliases => {
            let names: Vec<_> = aliases.iter().map(|name| format!("/{name}")).collect();
            format!("{about}  ({})", names.join(" "))
        }
    }
}

/// Headed rows of two columns.
#[derive(Default)]
struct List(Vec<Entry>);

enum Entry {
    Head(String),
    Row(String, String),
}

impl List {
    fn head(&mut self, text: &str) {
        self.0.push(Entry::Head(text.to_owned()));
    }

    fn row(&mut self, left: String, right: String) {
        self.0.push(Entry::Row(left, right));
    }

    fn rows(self, width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
        let widest = self.0.iter().map(|entry| match entry {
            Entry::Row(left, _) => clean::width(left),
            Entry::Head(_) => 0,
        });
        let column = (widest.max().unwrap_or(0) + 3).min((width / 3).max(20));
        let mut rows: Vec<Line<'static>> = Vec::new();
        for entry in self.0 {
            match entry {
                Entry::Head(text) => {
                    if !rows.is_empty() {
                        rows.push(Line::default());
                    }
                    rows.push(Line::styled(text, pen.theme.accent.add_modifier(Modifier::BOLD)));
                }
                Entry::Row(left, right) => {
                    let right = clean::wrap(&right, width.saturating_sub(column + 2));
                    let right =
                        right.into_iter().map(|row| Line::styled(row, pen.theme.text)).collect();
                    let label = format!("  {left}");
                    let (label, own) = match clean::width(&left) + 2 > column {
                        true => (String::new(), Some(label)),
                        false => (label, None),
                    };
                    rows.extend(own.map(|own| Line::styled(own, pen.theme.text)));
                    rows.extend(paint::labelled(&label, pen.theme.text, column + 2, right));
                }
            }
        }
        rows.push(Line::default());
        rows
    }
}
