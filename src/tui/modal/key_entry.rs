//! The field for an API key. Nothing of it is shown, and it is kept nowhere else: not in the
//! draft, not in the history.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::ModalAction;
use crate::draw::{self, DrawContext, HorizontalRule};
use crate::keys::{self, KeyAction, KeyContext};
use crate::{status, text};
use avocet_config::Secret;
use avocet_core::i18n::{LocalizedText, screen as words};

/// Rows of the head, the field, the explanation and the hint.
const HEIGHT: u16 = 4;
/// The longest key.
const LONGEST: usize = 16 * 1024;

pub struct KeyEntry {
    /// Whose key it is.
    pub provider: String,
    url: String,
    typed: String,
    /// Why the last one was not taken.
    pub note: Option<LocalizedText>,
    /// The key is being tried.
    pub is_waiting: bool,
}

impl std::fmt::Debug for KeyEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyEntry").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl KeyEntry {
    pub fn new(provider: String, url: String) -> KeyEntry {
        KeyEntry { provider, url, typed: String::new(), note: None, is_waiting: false }
    }

    pub fn key(&mut self, key: &KeyEvent) -> ModalAction {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (key.code, keys::action(KeyContext::Palette, key)) {
            (KeyCode::Esc, _) => return ModalAction::Close,
            _ if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Interrupt) => {
                return ModalAction::Close;
            }
            _ if self.is_waiting => {}
            (_, Some(KeyAction::Accept)) => return self.confirm(),
            (KeyCode::Backspace, _) => drop(self.typed.pop()),
            (KeyCode::Char('u'), _) if held => self.typed.clear(),
            (KeyCode::Char(c), _) if !held => self.paste(c.encode_utf8(&mut [0; 4])),
            _ => {}
        }
        ModalAction::Stay
    }

    pub fn paste(&mut self, text: &str) {
        self.note = None;
        if self.typed.len() + text.len() <= LONGEST {
            self.typed.push_str(text);
        }
    }

    fn confirm(&mut self) -> ModalAction {
        let key = self.typed.trim();
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
            self.note = Some(words::KEY_ODD.into());
            return ModalAction::Stay;
        }
        self.is_waiting = true;
        self.note = None;
        ModalAction::KeyEntered(Secret::new(std::mem::take(&mut self.typed).trim()))
    }

    pub fn height(&self, screen: Rect) -> u16 {
        HEIGHT.min(screen.height)
    }

    /// Draws it; returns the position of the cursor.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) -> Option<Position> {
        let height = self.height(screen);
        let area = Rect { y: screen.bottom().saturating_sub(height), height, ..screen };
        draw::clear(area, buf, pen.theme);
        let row =
            |nth: u16| Rect { y: area.y + nth.min(height.saturating_sub(1)), height: 1, ..area };
        let width = usize::from(area.width);
        let bold = pen.theme.accent.add_modifier(Modifier::BOLD);
        let title = words::KEY_TITLE.with("name", self.provider.as_str()).text(pen.lang);
        HorizontalRule::edge(pen.theme).left(Span::styled(title, bold)).draw(row(0), buf);
        // How long a key is says little; how much was typed must be visible.
        let dots = "*".repeat(self.typed.chars().count().min(width.saturating_sub(6)));
        let column = 4 + u16::try_from(text::width(&dots)).unwrap_or(0);
        let field = if self.is_waiting {
            Span::styled(words::KEY_WAITS.text(pen.lang), pen.theme.dim)
        } else {
            Span::styled(dots, pen.theme.text)
        };
        let line = Line::from(vec![Span::styled("> ", pen.theme.accent), field]);
        draw::line(row(1), buf, 2, width, &line);
        let (say, style) = match &self.note {
            Some(note) => (note.text(pen.lang), pen.theme.warn),
            None => {
                let about = words::KEY_ABOUT.with("url", self.url.as_str());
                (about.text(pen.lang), pen.theme.dim)
            }
        };
        let say = Line::styled(text::elide_end(&say, width.saturating_sub(3)), style);
        draw::line(row(2), buf, 2, width, &say);
        status::draw_hints(row(3), buf, pen, HINTS);
        draw::panel(area, buf, pen.theme, pen.theme.bar.input);
        (!self.is_waiting).then_some(Position { x: area.x + column, y: row(1).y })
    }
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::typed("Enter", words::HINT_TRY_KEY),
    status::KeyHint::typed("Esc", words::HINT_BACK),
];
