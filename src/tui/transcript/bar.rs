//! The search input, shown in place of the message input.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::Transcript;
use super::search::{SearchStatus, Stage, TranscriptSearch};
use super::time::grouped;
use crate::tui::clean;
use crate::tui::keys::{self, KeyAction, KeyContext};
use crate::tui::paint::{self, DrawContext};
use crate::words::{LocalizedText, screen};

impl Transcript {
    /// Opens the search, or its words for editing.
    pub fn search(&mut self) {
        match &mut self.search {
            Some(search) => search.stage = Stage::Typing,
            None => self.open_search("", Stage::Typing),
        }
    }

    /// Searches for the given words.
    pub fn search_for(&mut self, words: &str) {
        self.open_search(words, Stage::Walking);
    }

    fn open_search(&mut self, words: &str, stage: Stage) {
        let top = self.shown.1.first().copied().unwrap_or_default();
        self.search = Some(TranscriptSearch::new(words, stage, (top.block, top.part)));
    }

    /// The results, while a search is open.
    pub fn found(&self) -> Option<SearchStatus<'_>> {
        self.search.as_ref().map(TranscriptSearch::found)
    }

    /// True while part of the conversation is still unsearched: another frame is due.
    pub fn is_reading(&self) -> bool {
        self.search.as_ref().is_some_and(TranscriptSearch::is_reading)
    }

    /// Handles a key while a search is open; false for an unknown key.
    pub fn search_key(&mut self, key: &KeyEvent) -> bool {
        let Some(search) = &mut self.search else { return false };
        let place = match search.stage {
            Stage::Typing => KeyContext::Search,
            Stage::Walking => KeyContext::Found,
        };
        let words = match keys::action(place, key).or_else(|| keys::action(KeyContext::Search, key))
        {
            Some(KeyAction::Next) => return self.walk(true),
            Some(KeyAction::Previous) => return self.walk(false),
            Some(KeyAction::Close) => {
                self.search = None;
                return true;
            }
            Some(KeyAction::Search) => {
                search.stage = Stage::Typing;
                return true;
            }
            _ => match typed(search.words(), search.stage, key) {
                Some(words) => words,
                None => return matches!(key.code, KeyCode::Char(_)) && is_plain(key),
            },
        };
        search.change(&words);
        true
    }

    /// Handles a paste while a search is open; false when none is.
    pub fn search_paste(&mut self, text: &str) -> bool {
        let Some(search) = &mut self.search else { return false };
        let words = format!("{}{}", search.words(), text.lines().next().unwrap_or_default());
        search.change(&words);
        true
    }

    fn walk(&mut self, forward: bool) -> bool {
        if let Some(hit) = self.search.as_mut().and_then(|search| search.step(forward)) {
            self.show(hit);
        }
        true
    }

    /// Draws the line; returns the position of the cursor.
    pub fn draw_search(
        &self,
        area: Rect,
        buf: &mut Buffer,
        pen: &DrawContext<'_>,
    ) -> Option<Position> {
        let found = self.found()?;
        let label = screen::SEARCH_LABEL.text(pen.lang);
        let count = count(&found).text(pen.lang);
        let style = match found.of == 0 && !found.more && !found.words.is_empty() {
            true => pen.theme.warn,
            false => pen.theme.dim,
        };
        let width = usize::from(area.width);
        let from = width.saturating_sub(clean::width(&count) + 2);
        let start = clean::width(label) + 2;
        let words = tail(found.words, from.saturating_sub(start + 2));
        let caret = start + clean::width(words);
        let line = Line::from(vec![
            Span::styled(label, pen.theme.accent),
            Span::styled(words.to_owned(), pen.theme.text),
        ]);
        paint::line(area, buf, 2, from.saturating_sub(1), &line);
        paint::line(area, buf, from, width, &Line::styled(count, style));
        let typing = found.stage == Stage::Typing;
        typing.then(|| Position { x: area.x + caret as u16, y: area.y })
    }
}

fn is_plain(key: &KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// The words after a key; `None` for a key that types nothing.
fn typed(words: &str, stage: Stage, key: &KeyEvent) -> Option<String> {
    let plain = is_plain(key);
    match key.code {
        KeyCode::Char(c) if plain && stage == Stage::Typing => Some(format!("{words}{c}")),
        KeyCode::Backspace if plain => Some(shorter(words)),
        KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => Some(String::new()),
        KeyCode::Char('w') if key.modifiers == KeyModifiers::CONTROL => {
            let kept = words.trim_end().rfind(' ').map_or(0, |at| at + 1);
            words.get(..kept).map(str::to_owned)
        }
        _ => None,
    }
}

/// The words without their last character.
fn shorter(words: &str) -> String {
    let mut words = words.to_owned();
    words.pop();
    words
}

/// The end of the words, as much as fits.
fn tail(words: &str, room: usize) -> &str {
    let fits = |at: &usize| words.get(*at..).is_some_and(|rest| clean::width(rest) <= room);
    let at = words.char_indices().map(|(at, _)| at).find(fits).unwrap_or(words.len());
    words.get(at..).unwrap_or_default()
}

fn count(found: &SearchStatus<'_>) -> LocalizedText {
    let of = grouped(found.of as u64);
    let of = if found.more { format!("{of}+") } else { of };
    match (found.words.is_empty(), found.of) {
        (true, _) => LocalizedText::from(screen::SEARCH_ASK),
        (false, 0) if found.more => LocalizedText::from(screen::SEARCH_READING),
        (false, 0) => LocalizedText::from(screen::SEARCH_NONE),
        (false, _) => screen::SEARCH_COUNT.with("n", grouped(found.at as u64)).with("of", of),
    }
}
