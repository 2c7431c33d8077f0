//! The field for the value of a setting.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::ModalAction;
use super::edit::{Field, handle_field_key};
use crate::composer::{Composer, ComposerStyle};
use crate::draw::{self, DrawContext, HorizontalRule};
use crate::{status, text};
use avocet_core::i18n::{Lang, LocalizedText, screen as phrases};
use avocet_core::protocol::SettingRow;

/// Rows of the head and the hint, and the most of the field.
const FRAME: u16 = 2;
const FIELD: u16 = 4;

#[derive(Debug)]
pub struct SettingEntry {
    key: String,
    /// What it does, what it may be, and when it counts.
    about: [LocalizedText; 3],
    field: Composer,
    field_rows: u16,
    /// Why the last value was not taken.
    pub note: Option<LocalizedText>,
}

impl SettingEntry {
    pub fn new(row: &SettingRow, start: &str, expected: LocalizedText, lang: Lang) -> SettingEntry {
        let mut composer = Composer::new(Vec::new());
        composer.set_text(start, lang);
        let expected = phrases::SETTING_EXPECTED.with("expected", expected);
        let about = [row.about.clone(), expected, row.timing.clone()];
        SettingEntry { key: row.key.clone(), about, field: composer, field_rows: 1, note: None }
    }

    pub fn key(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction {
        if key.code == KeyCode::Esc {
            return ModalAction::Close;
        }
        match handle_field_key(&mut self.field, key, lang) {
            Field::Submitted => {
                ModalAction::SettingEntered(avocet_core::text::one_line(&self.field.full_text()))
            }
            Field::Cancelled => ModalAction::Close,
            Field::Changed => {
                self.note = None;
                ModalAction::Stay
            }
            Field::Unhandled => ModalAction::Stay,
        }
    }

    pub fn paste(&mut self, text: &str, lang: Lang) {
        self.note = None;
        self.field.paste(&avocet_core::text::one_line(text), lang);
    }

    /// Lays it out for `screen`; returns its rows.
    pub fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) -> u16 {
        let field = self.field.fit(screen.width.saturating_sub(3), cx.theme);
        self.field_rows = field.clamp(1, FIELD);
        self.height(screen, self.says(screen.width, cx.lang).len())
    }

    fn height(&self, screen: Rect, says: usize) -> u16 {
        let says = u16::try_from(says).unwrap_or(1);
        (FRAME + self.field_rows + says).min(screen.height)
    }

    fn says(&self, width: u16, lang: Lang) -> Vec<String> {
        let room = usize::from(width.saturating_sub(3));
        let says = match &self.note {
            Some(note) => vec![note],
            None => self.about.iter().collect(),
        };
        says.into_iter().flat_map(|say| text::wrap(&say.text(lang), room)).collect()
    }

    /// Draws it; returns the position of the cursor.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let says = self.says(screen.width, cx.lang);
        let height = self.height(screen, says.len());
        let area = Rect { y: screen.bottom().saturating_sub(height), height, ..screen };
        draw::clear(area, buf, cx.theme);
        let row = |y: u16| Rect { y: y.min(area.bottom() - 1), height: 1, ..area };
        let bold = cx.theme.accent.add_modifier(Modifier::BOLD);
        HorizontalRule::edge(cx.theme)
            .left(Span::styled(self.key.clone(), bold))
            .draw(row(area.y), buf);
        let field = Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: self.field_rows,
        };
        let composer_style = ComposerStyle { theme: cx.theme, hint: "", sigil: cx.theme.accent };
        let caret = self.field.draw(field, buf, &composer_style);
        let style = if self.note.is_some() { cx.theme.warn } else { cx.theme.dim };
        for (y, say) in (field.bottom()..area.bottom().saturating_sub(1)).zip(says) {
            draw::line(row(y), buf, 2, area.width.into(), &Line::styled(say, style));
        }
        status::draw_hints(row(area.bottom() - 1), buf, cx, HINTS);
        draw::panel(area, buf, cx.theme, cx.theme.bar.input);
        caret
    }
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::typed("Enter", phrases::HINT_SET),
    status::KeyHint::typed("Esc", phrases::HINT_BACK),
];
