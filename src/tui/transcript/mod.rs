//! What was said and done. (Stand-in until the real one is merged.)

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Paragraph, Widget as _};

use super::clean;
use super::theme::Theme;
use crate::commands::Row;
use crate::protocol::{Event, Notice};
use crate::words::{Lang, Say};

#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    pub theme: &'a Theme,
    pub lang: Lang,
    pub spinner: usize,
    pub elapsed_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scroll {
    Lines(i32),
    Pages(i32),
    Top,
    Bottom,
    Turn(i32),
}

#[derive(Debug, Default)]
pub struct Transcript {
    lines: Vec<String>,
    suggestions: Vec<String>,
    answer: Option<String>,
}

impl Transcript {
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { text, .. } => self.lines.push(format!("❯ {text}")),
            Event::Delta { text } => self.lines.push(text.clone()),
            Event::Replied(replied) => {
                self.lines.push(replied.message.clone());
                self.suggestions.clone_from(&replied.suggestions);
                self.answer = Some(replied.message.clone());
            }
            Event::Cleared => *self = Transcript::default(),
            _ => {}
        }
    }
    pub fn notice(&mut self, notice: Notice) {
        self.lines.push(notice.say.to_string());
    }
    pub fn page(&mut self, title: Say, _rows: Vec<Row>) {
        self.lines.push(title.to_string());
    }
    pub fn scroll(&mut self, _by: Scroll) {}
    pub fn toggle_steps(&mut self) {}
    pub fn click(&mut self, _row: u16) {}
    pub fn suggestions(&self) -> &[String] {
        &self.suggestions
    }
    pub fn answer(&self, _back: usize) -> Option<&str> {
        self.answer.as_deref()
    }
    pub fn following(&self) -> bool {
        true
    }
    pub fn unseen(&self) -> usize {
        0
    }
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
    pub fn view(&mut self, area: Rect, buf: &mut Buffer, look: &Look<'_>) {
        let text = clean::text(&self.lines.join("\n"));
        Paragraph::new(text).style(look.theme.text).render(area, buf);
    }
}
