//! The search input, shown in place of the message input.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::search::{SearchHit, SearchStatus, Stage, TranscriptSearch};
use super::step::Fold;
use super::time::group_digits;
use super::viewport::blank_rows_before;
use super::{RowPosition, Transcript, apply_fold, step_groups};
use crate::draw::{self, DrawContext};
use crate::keys::{self, KeyAction, KeyContext};
use crate::text;
use avocet_core::i18n::{LocalizedText, common, screen};

impl Transcript {
    /// Searches for the given words; for none, opens the search, or its words for editing.
    pub fn search(&mut self, words: &str) {
        let stage = if words.is_empty() { Stage::Typing } else { Stage::Navigating };
        match &mut self.search {
            Some(search) if words.is_empty() => search.stage = stage,
            _ => {
                let top = self.frame.rows.first().copied().unwrap_or_default();
                let origin = (top.block, top.part);
                self.search = Some(TranscriptSearch::new(words, stage, origin));
            }
        }
    }

    /// The results, while a search is open.
    pub fn search_status(&self) -> Option<SearchStatus<'_>> {
        self.search.as_ref().map(TranscriptSearch::status)
    }

    /// True while part of the conversation is still unsearched: another frame is due.
    pub fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(TranscriptSearch::is_searching)
    }

    /// Handles a key while a search is open; false for an unknown key.
    pub fn search_key(&mut self, key: &KeyEvent) -> bool {
        let Some(search) = &mut self.search else { return false };
        let place = match search.stage {
            Stage::Typing => KeyContext::Search,
            Stage::Navigating => KeyContext::SearchResults,
        };
        let words = match keys::action(place, key).or_else(|| keys::action(KeyContext::Search, key))
        {
            Some(action @ (KeyAction::Next | KeyAction::Previous)) => {
                if let Some(hit) = search.step(action == KeyAction::Next) {
                    self.show_hit(hit);
                }
                return true;
            }
            Some(KeyAction::Close) => {
                self.search = None;
                return true;
            }
            Some(KeyAction::Search) => {
                search.stage = Stage::Typing;
                return true;
            }
            _ => match edited_query(search.query(), search.stage, key) {
                Some(words) => words,
                None => return matches!(key.code, KeyCode::Char(_)) && is_plain(key),
            },
        };
        search.set_query(&words);
        true
    }

    /// Handles a paste while a search is open.
    pub fn search_paste(&mut self, text: &str) {
        let Some(search) = &mut self.search else { return };
        let words = format!("{}{}", search.query(), text.lines().next().unwrap_or_default());
        search.set_query(&words);
    }

    /// Searches the next slice, and goes to the first hit once it is found.
    pub(super) fn search_next_slice(&mut self, narrower: bool) {
        let Some(search) = &mut self.search else { return };
        if narrower {
            search.restart();
        }
        let cx = self.view.row_cache.layout_context();
        if let Some(hit) = search.search_slice(&self.builder.blocks, &cx) {
            self.show_hit(hit);
        }
    }

    /// Unfolds the block of a hit and brings its row into view, a third from the top. The block of
    /// the hit before it is folded again; that of the last one stays open to be read.
    fn show_hit(&mut self, hit: SearchHit) {
        let Some(search) = &mut self.search else { return };
        let blocks = &mut self.builder.blocks;
        let has_refolded = search.refold_left_behind(hit.part.0, blocks);
        let Some(block) = blocks.get(hit.part.0) else { return };
        let is_open = block.fold == Fold::Open || block.is_open().is_none();
        let same = is_open && !has_refolded;
        if !is_open {
            search.note_unfolded(hit.part.0, block.fold);
        }
        step_groups::unfold(blocks, hit.part.0);
        let Some(block) = blocks.get_mut(hit.part.0) else { return };
        apply_fold(block, Fold::Open);
        let row_cache = &mut self.view.row_cache;
        let row = search.row(hit, &row_cache.rows(blocks, hit.part));
        let row = blank_rows_before(blocks, hit.part) + row.unwrap_or_default();
        let position = RowPosition { block: hit.part.0, part: hit.part.1, row };
        if !(same && self.frame.shows(position)) {
            let above = usize::from(row_cache.setting.height) / 3;
            let (top, _) = row_cache.up(blocks, position, above);
            self.view.scroll_to(blocks, top);
        }
    }
}

impl SearchStatus<'_> {
    /// Draws the line; returns the position of the cursor.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let label = screen::SEARCH_LABEL.text(cx.lang);
        let count = count(self).text(cx.lang);
        let style = if self.total == 0 && !self.has_more && !self.query.is_empty() {
            cx.theme.warn
        } else {
            cx.theme.dim
        };
        let width = usize::from(area.width);
        let from = width.saturating_sub(text::width(&count) + 2);
        let start = text::width(label) + 2;
        let words = tail(self.query, from.saturating_sub(start + 2));
        let caret = start + text::width(words);
        let line = Line::from(vec![
            Span::styled(label, cx.theme.accent),
            Span::styled(words.to_owned(), cx.theme.text),
        ]);
        draw::line(area, buf, 2, from.saturating_sub(1), &line);
        draw::line(area, buf, from, width, &Line::styled(count, style));
        let typing = self.stage == Stage::Typing;
        typing.then(|| Position { x: area.x + caret as u16, y: area.y })
    }
}

fn is_plain(key: &KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// The words after a key; `None` for a key that types nothing.
fn edited_query(words: &str, stage: Stage, key: &KeyEvent) -> Option<String> {
    let plain = is_plain(key);
    match key.code {
        KeyCode::Char(c) if plain && stage == Stage::Typing => Some(format!("{words}{c}")),
        KeyCode::Backspace if plain => Some(without_last_char(words)),
        KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => Some(String::new()),
        KeyCode::Char('w') if key.modifiers == KeyModifiers::CONTROL => {
            let kept = words.trim_end().rfind(' ').map_or(0, |at| at + 1);
            words.get(..kept).map(str::to_owned)
        }
        _ => None,
    }
}

/// The words without their last character.
fn without_last_char(words: &str) -> String {
    let mut words = words.to_owned();
    words.pop();
    words
}

/// The end of the words, as much as fits.
fn tail(words: &str, room: usize) -> &str {
    let fits = |at: &usize| words.get(*at..).is_some_and(|rest| text::width(rest) <= room);
    let at = words.char_indices().map(|(at, _)| at).find(fits).unwrap_or(words.len());
    words.get(at..).unwrap_or_default()
}

fn count(status: &SearchStatus<'_>) -> LocalizedText {
    let of = group_digits(status.total as u64);
    let of = if status.has_more { format!("{of}+") } else { of };
    match (status.query.is_empty(), status.total) {
        (true, _) => LocalizedText::from(screen::SEARCH_ASK),
        (false, 0) if status.has_more => LocalizedText::from(common::SEARCHING),
        (false, 0) => LocalizedText::from(screen::SEARCH_NONE),
        (false, _) => {
            screen::SEARCH_COUNT.with("n", group_digits(status.current as u64)).with("of", of)
        }
    }
}
