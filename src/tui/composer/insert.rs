//! Puts images, mentions of files and messages that waited into the input.

use tui_textarea::CursorMove;

use super::Composer;
use crate::keys::EditAction;
use avocet_core::i18n::Lang;
use avocet_core::prompt::mention::can_begin_after;
use avocet_tools::image::PreparedImage;

impl Composer {
    /// Inserts lines before the text.
    pub fn insert_before(&mut self, text: &str, lang: Lang) {
        self.units.mentions.add_from_text(text);
        let is_empty = self.is_empty();
        self.text.move_cursor(CursorMove::Jump(0, 0));
        self.paste(text, lang);
        if !is_empty {
            self.edit(EditAction::InsertNewline);
        }
        self.text.move_cursor(CursorMove::Bottom);
        self.text.move_cursor(CursorMove::End);
        // The text counts as typed.
        self.small_pastes.clear();
    }

    pub fn paste_image(&mut self, image: PreparedImage, lang: Lang) {
        let name = self.units.images.add(image, lang);
        self.text.insert_str(format!("{name} "));
        self.update_after_change();
    }

    /// Mentions a file at the cursor.
    pub fn insert_mention(&mut self, path: &str) {
        let unit = self.units.mentions.add(path);
        let (row, column) = self.text.cursor();
        let line = self.text.lines().get(row).map(String::as_str).unwrap_or_default();
        let before = column.checked_sub(1).and_then(|at| line.chars().nth(at));
        let gap = if can_begin_after(before) { "" } else { " " };
        self.text.insert_str(format!("{gap}{unit} "));
        self.update_after_change();
    }
}
