//! The field for an API key. Nothing of it is shown, and it is kept nowhere else: not in the
//! draft, not in the history.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::ModalAction;
use crate::connect::ProviderOffer;
use crate::draw::{self, DrawContext, HorizontalRule};
use crate::keys::{self, KeyAction, KeyContext};
use crate::symbols::CHOSEN;
use crate::{status, text};
use avocet_config::Secret;
use avocet_core::i18n::{Lang, LocalizedText, screen as phrases};

/// Rows of the head, the field and the hint.
const FRAME: u16 = 3;
/// The longest key.
const MAX_LENGTH: usize = 16 * 1024;

pub struct KeyEntry {
    /// Whose key it is.
    pub provider: String,
    url: String,
    /// The page where a key is to be had; empty: unknown.
    keys_at: String,
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
    pub fn new(offer: &ProviderOffer) -> KeyEntry {
        KeyEntry {
            provider: offer.name.clone(),
            url: offer.url.clone(),
            keys_at: offer.keys_at.clone(),
            typed: String::new(),
            note: None,
            is_waiting: false,
        }
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
        if self.typed.len() + text.len() <= MAX_LENGTH {
            self.typed.push_str(text);
        }
    }

    fn confirm(&mut self) -> ModalAction {
        let key = self.typed.trim();
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
            self.note = Some(phrases::KEY_ODD.into());
            return ModalAction::Stay;
        }
        self.is_waiting = true;
        self.note = None;
        ModalAction::KeyEntered(Secret::new(std::mem::take(&mut self.typed).trim()))
    }

    pub fn height(&self, screen: Rect, lang: Lang) -> u16 {
        let says = u16::try_from(self.says(screen.width, lang).len()).unwrap_or(1);
        (FRAME + says).min(screen.height)
    }

    /// The lines below the field: why the last key was not accepted, else where this one goes and
    /// where to get one.
    fn says(&self, width: u16, lang: Lang) -> Vec<String> {
        let about = phrases::KEY_ABOUT.with("url", self.url.as_str());
        let page = phrases::KEY_PAGE.with("page", self.keys_at.as_str());
        let page = Some(page).filter(|_| !self.keys_at.is_empty());
        let says = match &self.note {
            Some(note) => vec![note.clone()],
            None => [about].into_iter().chain(page).collect(),
        };
        let room = usize::from(width.saturating_sub(3));
        says.iter().flat_map(|say| text::wrap(&say.text(lang), room)).collect()
    }

    /// Draws it; returns the position of the cursor.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let height = self.height(screen, cx.lang);
        let area = Rect { y: screen.bottom().saturating_sub(height), height, ..screen };
        draw::clear(area, buf, cx.theme);
        let row =
            |nth: u16| Rect { y: area.y + nth.min(height.saturating_sub(1)), height: 1, ..area };
        let width = usize::from(area.width);
        let bold = cx.theme.accent.add_modifier(Modifier::BOLD);
        let title = phrases::KEY_TITLE.with("name", self.provider.as_str()).text(cx.lang);
        HorizontalRule::edge(cx.theme).left(Span::styled(title, bold)).draw(row(0), buf);
        // How long a key is says little; how much was typed must be visible.
        let dots = "*".repeat(self.typed.chars().count().min(width.saturating_sub(6)));
        let column = 4 + u16::try_from(text::width(&dots)).unwrap_or(0);
        let field = if self.is_waiting {
            Span::styled(phrases::KEY_WAITS.text(cx.lang), cx.theme.dim)
        } else {
            Span::styled(dots, cx.theme.text)
        };
        let line = Line::from(vec![Span::styled(CHOSEN, cx.theme.accent), field]);
        draw::line(row(1), buf, 2, width, &line);
        let style = if self.note.is_some() { cx.theme.warn } else { cx.theme.dim };
        for (nth, say) in (2..height.saturating_sub(1)).zip(self.says(area.width, cx.lang)) {
            draw::line(row(nth), buf, 2, width, &Line::styled(say, style));
        }
        status::draw_hints(row(height.saturating_sub(1)), buf, cx, HINTS);
        draw::panel(area, buf, cx.theme, cx.theme.bar.input);
        (!self.is_waiting).then_some(Position { x: area.x + column, y: row(1).y })
    }
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::typed("Enter", phrases::HINT_TRY_KEY),
    status::KeyHint::typed("Esc", phrases::HINT_BACK),
];
