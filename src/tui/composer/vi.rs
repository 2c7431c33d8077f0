//! Applies vi commands to the input. [`crate::vim`] decides which command a key gives.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Style;
use tui_textarea::{CursorMove, TextArea};

use super::Composer;
use super::units::UnitSide;
use crate::vim::{GridPosition, Vim, VimEdit, VimMode, clamp_to_char};

impl Composer {
    /// Turns the vi keys on or off; `None` toggles them. Returns whether they are on.
    pub fn set_vim(&mut self, on: Option<bool>) -> bool {
        let on = on.unwrap_or(self.vim.is_none());
        self.vim = on.then(Vim::default);
        on
    }

    /// The mode of the vi keys, while they are on.
    pub fn vim_mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(|vim| vim.mode)
    }

    /// Handles a key that vi uses at the moment. False when the key has its usual meaning.
    pub fn vim_key(&mut self, key: &KeyEvent) -> bool {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let begins_command = !held && matches!(key.code, KeyCode::Char('/' | ':'));
        let begins_command = begins_command && self.is_empty();
        let Some(vim) = &mut self.vim else { return false };
        if begins_command && vim.mode == VimMode::Normal {
            vim.mode = VimMode::Insert;
            return self.type_key(&KeyEvent::from(KeyCode::Char('/')));
        }
        let before = (vim.mode != VimMode::Insert).then(|| self.text.lines().to_vec());
        let todo = match (key.code, vim.mode) {
            (KeyCode::Esc, _) => match vim.escape(self.text.lines(), self.text.cursor()) {
                Some(todo) => todo,
                None => return false,
            },
            (_, VimMode::Insert) => return false,
            (KeyCode::Char('r'), _) if key.modifiers == KeyModifiers::CONTROL => {
                vec![VimEdit::Redo]
            }
            (KeyCode::Backspace, _) if !held => vec![VimEdit::Left],
            (KeyCode::Char(c), _) if !held => {
                let (row, column) = self.text.cursor();
                vim.handle_char(c, self.text.lines(), (row, column))
            }
            _ => return false,
        };
        let is_undo = todo.iter().any(|it| matches!(it, VimEdit::Undo | VimEdit::Redo));
        todo.into_iter().for_each(|todo| self.apply_vim_edit(todo));
        if let (Some(before), Some(vim), false) = (before, &mut self.vim, is_undo)
            && (vim.mode == VimMode::Insert || before != self.text.lines())
        {
            vim.points.record(before);
        }
        self.update_after_change();
        let (row, column) = self.text.cursor();
        if let Some(vim) = self.vim.as_mut().filter(|vim| vim.mode == VimMode::Insert) {
            vim.begin_insert((row, column));
        } else {
            let line = self.text.lines().get(row).map(String::as_str).unwrap_or_default();
            let column = clamp_to_char(line, column);
            move_cursor_to(&mut self.text, (row, column));
        }
        true
    }

    fn apply_vim_edit(&mut self, edit: VimEdit) {
        match edit {
            VimEdit::MoveTo(place) => move_cursor_to(&mut self.text, place),
            VimEdit::Left => {
                if self.text.cursor().1 > 0 {
                    self.text.move_cursor(CursorMove::Back);
                }
            }
            VimEdit::Insert(text) => _ = self.text.insert_str(text),
            VimEdit::Undo => {
                if let Some(vim) = &mut self.vim {
                    undo_change(vim, &mut self.text);
                }
            }
            VimEdit::Redo => {
                if let Some(vim) = &mut self.vim {
                    redo_change(vim, &mut self.text);
                }
            }
            VimEdit::Delete(from, to) => {
                let lines = self.text.lines();
                let from = self.units.snap(lines, from, UnitSide::Start);
                let to = self.units.snap(lines, to, UnitSide::End);
                move_cursor_to(&mut self.text, from);
                self.text.start_selection();
                move_cursor_to(&mut self.text, to);
                self.text.cut();
                self.text.cancel_selection();
            }
        }
    }

    /// Highlights the selection of visual mode.
    pub(super) fn highlight_selection(&mut self, style: Style) {
        let (row, column) = self.text.cursor();
        let (from, to) = match self.vim_mode() {
            Some(VimMode::Visual(anchor)) => (anchor.min((row, column)), anchor.max((row, column))),
            Some(VimMode::VisualLines(anchor)) => {
                ((anchor.0.min(row), 0), (anchor.0.max(row), usize::MAX - 1))
            }
            _ => return,
        };
        let byte = |(row, column): GridPosition| {
            let line = self.text.lines().get(row).map(String::as_str).unwrap_or_default();
            (row, line.char_indices().nth(column).map_or(line.len(), |(at, _)| at))
        };
        let range = (byte(from), byte((to.0, to.1 + 1)));
        self.text.custom_highlight(range, style, 2);
    }
}

/// Undoes edits until the text is what it was before the last change.
fn undo_change(vim: &mut Vim, text: &mut TextArea<'static>) {
    let point = vim.points.undo(text.lines());
    while point.as_deref() != Some(text.lines()) && text.undo() {}
}

fn redo_change(vim: &mut Vim, text: &mut TextArea<'static>) {
    let Some(point) = vim.points.redo(text.lines()) else { return };
    while text.lines() != point && text.redo() {}
}

fn move_cursor_to(text: &mut TextArea<'static>, (row, column): GridPosition) {
    let most = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    text.move_cursor(CursorMove::Jump(most(row), most(column)));
}
