//! The message input: several lines, soft-wrapped, with undo, kill and yank, history and folded
//! pastes. It does not interpret the text.
//!
//! The text widget is wrapped here and nowhere else. Its own key map is not used: the keys are in
//! [`super::keys`].

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget as _;
use tui_textarea::{AtomicRange, CursorMove, TextArea};

use super::files::FileList;
use super::keys::EditAction;
use super::symbols::CHOSEN;
use super::text;
use super::theme::Theme;
use super::vim::Vim;
use avocet_config::draft::SavedDraft;
use avocet_core::i18n::Lang;
use avocet_core::text::estimated_tokens;

mod clusters;
mod history;
mod image;
mod insert;
mod mention;
mod paste;
mod search;
mod units;
mod vi;

pub use history::ComposerHistory;
pub use image::pasted_image_path;
pub use mention::MentionDraft;
use mention::Mentions;
pub use paste::FoldedPastes;
use search::plain_area;
pub use search::{HistorySearch, SearchSource};
pub use units::ComposerUnits;
use units::chars_before;

/// From this size in bytes a text written by hand is folded: every keystroke costs time with every
/// character in the input.
const WRITTEN: usize = 40_000;

#[derive(Debug)]
pub struct Composer {
    text: TextArea<'static>,
    pub units: ComposerUnits,
    /// Small pastes that contain an `@`.
    small_pastes: Vec<String>,
    /// The list that is open while a mention is typed.
    pub files: FileList,
    pub history: ComposerHistory,
    /// The vi keys, while they are on.
    vim: Option<Vim>,
}

/// A text taken out of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposerText {
    /// As shown, with big pastes folded.
    pub display_text: String,
    pub folds: FoldedPastes,
    /// Small pastes in it: an `@` in one of them does not name a file.
    pub small_pastes: Vec<String>,
}

/// The decoration of the text: a hint while it is empty, and the mark in front of it.
#[derive(Clone, Copy, Debug)]
pub struct ComposerStyle<'a> {
    pub theme: &'a Theme,
    pub hint: &'a str,
    pub sigil: Style,
}

impl Composer {
    pub fn new(history: Vec<String>) -> Composer {
        let mut text = plain_area();
        text.set_undo_coalescing(true);
        text.set_max_histories(500);
        let history = ComposerHistory::new(history);
        Composer {
            text,
            units: ComposerUnits::default(),
            small_pastes: Vec::new(),
            files: FileList::default(),
            history,
            vim: None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Empty, or only blanks.
    pub fn is_blank(&self) -> bool {
        self.text.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Whether an arrow key would not move the cursor.
    pub fn is_at_edge(&self, arrow: KeyCode) -> bool {
        let (row, column) = self.text.cursor();
        let lines = self.text.lines();
        let last = row + 1 >= lines.len();
        match arrow {
            KeyCode::Up => row == 0,
            KeyCode::Down => last,
            KeyCode::Left => (row, column) == (0, 0),
            KeyCode::Right => last && lines.get(row).is_none_or(|l| column >= l.chars().count()),
            _ => false,
        }
    }

    /// The text as shown, with big pastes folded.
    pub fn display_text(&self) -> String {
        self.text.lines().join("\n")
    }

    /// The size of the text with all pastes unfolded: bytes, and estimated tokens.
    pub fn size(&self) -> (usize, usize) {
        let shown = self.display_text();
        let (bytes, tokens) = self.units.folds.size_in(&shown);
        (bytes + shown.len(), tokens + estimated_tokens(&shown))
    }

    /// The text with all pastes unfolded.
    pub fn full_text(&self) -> String {
        self.units.folds.expand(&self.display_text())
    }

    /// Types a character. False when the key types nothing.
    pub fn type_key(&mut self, key: &KeyEvent) -> bool {
        let KeyCode::Char(c) = key.code else { return false };
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) || c.is_control() {
            return false;
        }
        self.text.insert_char(c);
        self.update_after_change();
        true
    }

    pub fn edit(&mut self, edit: EditAction) {
        let text = &mut self.text;
        match edit {
            EditAction::InsertNewline => text.insert_newline(),
            EditAction::DeleteBack => clusters::delete_back(text),
            EditAction::Delete => clusters::delete_next(text),
            EditAction::Left => clusters::move_caret(text, CursorMove::Back),
            EditAction::Right => clusters::move_caret(text, CursorMove::Forward),
            EditAction::WordLeft => clusters::move_caret(text, CursorMove::WordBack),
            EditAction::WordRight => clusters::move_caret(text, CursorMove::WordForward),
            EditAction::LineStart => text.move_cursor(CursorMove::Head),
            EditAction::LineEnd => text.move_cursor(CursorMove::End),
            EditAction::DeleteWordBack => _ = text.delete_word(),
            EditAction::DeleteWord => _ = text.delete_next_word(),
            EditAction::KillToStart => _ = text.delete_line_by_head(),
            EditAction::KillToEnd => _ = text.delete_line_by_end(),
            EditAction::Yank => _ = text.paste(),
            EditAction::Undo => _ = text.undo(),
            EditAction::Redo => _ = text.redo(),
        }
        match edit {
            EditAction::Left
            | EditAction::Right
            | EditAction::WordLeft
            | EditAction::WordRight
            | EditAction::LineStart
            | EditAction::LineEnd => {}
            EditAction::InsertNewline
            | EditAction::DeleteBack
            | EditAction::Delete
            | EditAction::DeleteWordBack
            | EditAction::DeleteWord
            | EditAction::KillToStart
            | EditAction::KillToEnd
            | EditAction::Yank
            | EditAction::Undo
            | EditAction::Redo => self.update_after_change(),
        }
    }

    /// Breaks the line instead of sending, when it ends with a backslash.
    pub fn break_at_backslash(&mut self) -> bool {
        let (row, column) = self.text.cursor();
        let line = self.text.lines().get(row).map(String::as_str).unwrap_or_default();
        if !line.ends_with('\\') || line.chars().count() != column {
            return false;
        }
        self.text.delete_char();
        self.text.insert_newline();
        self.update_after_change();
        true
    }

    /// One row up; from the first row, one entry back in the history. False when there is nothing
    /// further.
    pub fn up(&mut self, lang: Lang) -> bool {
        if self.try_move_cursor(CursorMove::Up) {
            return true;
        }
        let entry = self.history.back(&self.units.folds.expand(&self.display_text()));
        self.recall(entry, lang)
    }

    pub fn down(&mut self, lang: Lang) -> bool {
        if self.try_move_cursor(CursorMove::Down) {
            return true;
        }
        let entry = self.history.forward();
        self.recall(entry, lang)
    }

    /// Inserts text from the clipboard: line ends normalised, control characters removed, and
    /// folded when it is big.
    pub fn paste(&mut self, text: &str, lang: Lang) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        match self.units.folds.fold(&text, lang) {
            Some(mark) => _ = self.text.insert_str(mark),
            None => {
                let text = remove_invisible(&text);
                if text.contains('@') {
                    self.small_pastes.push(text.clone());
                }
                self.text.insert_str(text);
            }
        }
        self.update_after_change();
    }

    /// Replaces the text; undo restores the old one.
    pub fn set_text(&mut self, text: &str, lang: Lang) {
        self.text.clear();
        self.paste(text, lang);
        // The text counts as typed.
        self.small_pastes.clear();
    }

    /// Replaces the text by one edited elsewhere. Pastes that are still in it stay folded; the rest
    /// is folded only when it is very big, because it was written by hand.
    pub fn rewrite(&mut self, text: &str, lang: Lang) {
        let text = remove_invisible(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let shown = self.units.folds.contract(&text);
        if shown == self.display_text() {
            return;
        }
        self.text.clear();
        if shown.len() > WRITTEN {
            self.paste(&text, lang)
        } else {
            self.text.insert_str(shown);
            self.update_after_change();
        }
    }

    /// Empties the input; undo restores the text.
    pub fn clear(&mut self) {
        self.text.clear();
        self.update_after_change();
    }

    /// Takes everything out and adds it to the history.
    pub fn take(&mut self) -> ComposerText {
        let shown = self.display_text();
        let folds = std::mem::take(&mut self.units.folds);
        let pasted = std::mem::take(&mut self.small_pastes);
        self.history.push(folds.expand(&shown));
        self.text.set_lines(vec![String::new()], (0, 0));
        self.units.mentions = Mentions::default();
        if let Some(vim) = &mut self.vim {
            vim.reset();
        }
        ComposerText { display_text: shown, folds, small_pastes: pasted }
    }

    /// The current text, for [`Composer::restore`].
    pub fn draft(&self) -> SavedDraft {
        let pastes = self.units.folds.pastes().iter();
        let shown = self.display_text();
        let pastes = pastes.filter(|paste| shown.contains(&paste.mark)).cloned().collect();
        SavedDraft { shown, pastes, ..SavedDraft::default() }
    }

    pub fn restore(&mut self, draft: SavedDraft) {
        self.units.folds = FoldedPastes::new(draft.pastes);
        self.units.mentions.add_from_text(&draft.shown);
        let lines: Vec<String> = draft.shown.split('\n').map(remove_invisible).collect();
        let end = lines.last().map_or(0, |line| line.chars().count());
        let rows = lines.len();
        self.text.set_lines(lines, (rows.saturating_sub(1), end));
        self.update_after_change();
    }

    /// The mention at the cursor, if there is one. A shell line has none.
    pub fn mention(&self) -> Option<MentionDraft> {
        let (row, column) = self.text.cursor();
        let lines = self.text.lines();
        let line = lines.get(row)?;
        if lines.first().is_some_and(|first| first.trim_start().starts_with('!')) {
            return None;
        }
        let mention = mention::mention_at(line, row, column)?;
        let unit = |(from, _): &(usize, usize)| chars_before(line, *from) == mention.at.1;
        (!self.units.ranges(line).iter().any(unit)).then_some(mention)
    }

    /// Replaces the mention at the cursor by a path, as one unit.
    pub fn mention_path(&mut self, path: &str) {
        let Some(mention) = self.mention() else { return };
        let unit = self.units.mentions.add(path);
        let line = self.text.lines().get(mention.at.0).map(String::as_str).unwrap_or_default();
        let behind = line.chars().nth(mention.at.1 + mention.len);
        let gap = if behind.is_some_and(char::is_whitespace) { "" } else { " " };
        self.replace(&mention, &format!("{unit}{gap}"));
    }

    /// Replaces the mention at the cursor by a folder, to continue inside it.
    pub fn mention_folder(&mut self, folder: &str) {
        let Some(mention) = self.mention() else { return };
        let quote = if folder.contains(char::is_whitespace) { "\"" } else { "" };
        self.replace(&mention, &format!("@{quote}{folder}"));
    }

    fn replace(&mut self, mention: &MentionDraft, text: &str) {
        let (row, column) = mention.at;
        let (Ok(row), Ok(column)) = (u16::try_from(row), u16::try_from(column)) else { return };
        self.text.move_cursor(CursorMove::Jump(row, column));
        self.text.delete_str(mention.len);
        self.text.insert_str(text);
        self.update_after_change();
    }

    /// Searches the history; again: the next hit in that direction.
    pub fn search_history(&mut self, source: SearchSource) {
        self.history.search(source, self.text.lines());
    }

    /// Ends the search and puts its hit into the input.
    pub fn accept_search(&mut self, lang: Lang) {
        if let Some(found) = self.history.end_search() {
            self.units.mentions.add_from_text(&found);
            self.set_text(&found, lang);
        }
    }

    /// Lays the text out for `width` columns, the mark included; returns its rows.
    pub fn fit(&mut self, width: u16, theme: &Theme) -> u16 {
        if let Some(search) = &mut self.history.search {
            search.highlight_query(theme);
        } else if !self.is_empty() {
            self.text.set_style(theme.text);
            self.highlight_units(theme.accent);
            self.highlight_selection(theme.selection);
        }
        let text = self.history.search.as_mut().map_or(&mut self.text, HistorySearch::area_mut);
        text.measure(width.saturating_sub(indent()).max(1)).content_rows.max(1)
    }

    /// Draws the text as it was laid out; returns the position of the cursor.
    pub fn draw(
        &self,
        area: Rect,
        buf: &mut Buffer,
        style: &ComposerStyle<'_>,
    ) -> Option<Position> {
        let inner = Rect {
            x: area.x + indent().min(area.width),
            width: area.width.saturating_sub(indent()),
            ..area
        };
        if inner.is_empty() {
            return None;
        }
        buf.set_stringn(area.x, area.y, CHOSEN, area.width.into(), style.sigil);
        if let Some(search) = &self.history.search {
            search.area().render(inner, buf);
            return None;
        }
        if self.is_empty() {
            let hint = text::elide_end(style.hint, inner.width.into());
            buf.set_stringn(inner.x, inner.y, hint, inner.width.into(), style.theme.dim);
            return Some(inner.as_position());
        }
        (&self.text).render(inner, buf);
        let drawn = self.text.rendered_cursor_position()?;
        Some(clusters::caret_position(&self.text, inner, drawn))
    }

    fn highlight_units(&mut self, style: Style) {
        self.text.clear_custom_highlight();
        let style = style.add_modifier(Modifier::BOLD);
        let lines = self.text.lines();
        for range in self.units.map(lines, |row, _, (from, to)| ((row, from), (row, to))) {
            self.text.custom_highlight(range, style, 1);
        }
    }

    fn try_move_cursor(&mut self, by: CursorMove) -> bool {
        let before = self.text.cursor();
        clusters::move_caret(&mut self.text, by);
        self.text.cursor() != before
    }

    fn recall(&mut self, entry: Option<String>, lang: Lang) -> bool {
        let Some(entry) = entry else { return false };
        let history = std::mem::take(&mut self.history);
        self.units.mentions.add_from_text(&entry);
        self.set_text(&entry, lang);
        self.history = history;
        true
    }

    /// After each change: folded pastes stay whole, and Up starts from the newest entry again.
    fn update_after_change(&mut self) {
        self.history.reset_position();
        let ranges = self.units.map(self.text.lines(), |row, line, (from, to)| AtomicRange {
            row,
            start_col: chars_before(line, from),
            end_col: chars_before(line, to),
        });
        if self.text.try_set_atomic_ranges(ranges).is_err() {
            self.text.clear_atomic_ranges();
        }
    }
}

/// The text without characters that move the cursor, reverse the text around them, or are
/// invisible: the user sends what they can read.
fn remove_invisible(text: &str) -> String {
    let unseen = |c: char| {
        matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}')
    };
    let lines = text.replace(['\u{2028}', '\u{2029}'], "\n");
    lines.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || unseen(*c))).collect()
}

/// Columns of the mark.
fn indent() -> u16 {
    u16::try_from(text::width(CHOSEN)).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composer(text: &str) -> Composer {
        let mut composer = Composer::new(vec!["one".into(), "two".into()]);
        composer.paste(text, Lang::En);
        composer
    }

    fn caret(composer: &mut Composer, width: u16, height: u16) -> Option<(u16, u16)> {
        let theme = Theme::default();
        let area = Rect::new(0, 0, width, height);
        let dress = ComposerStyle { theme: &theme, hint: "", sigil: Style::default() };
        let mut buf = Buffer::empty(area);
        composer.fit(width, &theme);
        composer.draw(area, &mut buf, &dress).map(|at| (at.x, at.y))
    }

    #[test]
    fn the_cursor_counts_wide_characters_as_two_columns() {
        assert_eq!(caret(&mut composer("中文"), 20, 1), Some((6, 0)));
        assert_eq!(caret(&mut composer("a🦀b"), 20, 1), Some((6, 0)));
        assert_eq!(caret(&mut composer(""), 20, 1), Some((2, 0)));
    }

    #[test]
    fn a_screen_without_room_draws_nothing() {
        assert_eq!(caret(&mut composer("中文"), 2, 1), None);
        assert_eq!(caret(&mut composer("中文"), 0, 0), None);
        assert_eq!(caret(&mut composer("中文"), 7, 2), Some((6, 0)));
        caret(&mut composer("中文"), 3, 1);
    }

    #[test]
    fn a_folded_paste_is_deleted_as_one() {
        let mut composer = composer("see ");
        composer.paste(&"x\r\n".repeat(50), Lang::En);
        assert_eq!(composer.display_text(), "see [pasted 50 lines]");
        composer.edit(EditAction::DeleteBack);
        assert_eq!(composer.display_text(), "see ");
        composer.edit(EditAction::Undo);
        assert_eq!(composer.full_text(), format!("see {}", "x\n".repeat(50)));
    }

    #[test]
    fn up_and_down_step_through_the_history_at_the_edges() {
        let mut composer = composer("a\nb");
        assert!(composer.up(Lang::En));
        assert_eq!(composer.display_text(), "a\nb", "one row up first");
        composer.up(Lang::En);
        assert_eq!(composer.display_text(), "two");
        composer.up(Lang::En);
        assert_eq!(composer.display_text(), "one");
        assert!(!composer.up(Lang::En));
        composer.down(Lang::En);
        composer.down(Lang::En);
        assert_eq!(composer.display_text(), "a\nb");
    }

    #[test]
    fn a_trailing_backslash_breaks_the_line() {
        let mut composer = composer("one\\");
        assert!(composer.break_at_backslash());
        assert_eq!(composer.display_text(), "one\n");
        assert!(!composer.break_at_backslash());
    }

    #[test]
    fn a_cleared_text_is_restored_by_undo() {
        let mut composer = composer("a draft");
        composer.clear();
        assert!(composer.is_empty());
        composer.edit(EditAction::Undo);
        assert_eq!(composer.display_text(), "a draft");
    }

    #[test]
    fn control_characters_are_not_pasted() {
        assert_eq!(composer("a\x1b[31mb\x07").display_text(), "a[31mb");
    }
}
