//! Moves and deletes by grapheme clusters: what the user sees as one character may be several, as
//! an emoji of a family, a flag, a letter with its marks.

use ratatui::layout::{Position, Rect};
use tui_textarea::{CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

use crate::text;

/// The line of the caret, in front of it and after it.
fn around(area: &TextArea<'_>) -> (String, String) {
    let (row, column) = area.cursor();
    let line = area.lines().get(row).map(String::as_str).unwrap_or_default();
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let (before, after) = line.split_at(at);
    (before.to_owned(), after.to_owned())
}

/// Whether the caret is between two clusters.
fn is_between(area: &TextArea<'_>) -> bool {
    let (before, after) = around(area);
    let line = format!("{before}{after}");
    before.len() == line.len() || line.grapheme_indices(true).any(|(at, _)| at == before.len())
}

/// Moves the caret, and goes on until it is between two clusters.
pub(super) fn move_caret(area: &mut TextArea<'_>, by: CursorMove) {
    let on = match by {
        CursorMove::Forward | CursorMove::WordForward => CursorMove::Forward,
        _ => CursorMove::Back,
    };
    area.move_cursor(by);
    while !is_between(area) {
        let at = area.cursor();
        area.move_cursor(on);
        if area.cursor() == at {
            return;
        }
    }
}

pub(super) fn delete_back(area: &mut TextArea<'_>) {
    let (before, _) = around(area);
    let chars = before.graphemes(true).next_back().map_or(0, |cluster| cluster.chars().count());
    if chars < 2 {
        area.delete_char();
        return;
    }
    for _ in 0..chars {
        area.move_cursor(CursorMove::Back);
    }
    area.delete_str(chars);
}

pub(super) fn delete_next(area: &mut TextArea<'_>) {
    let (_, after) = around(area);
    let chars = after.graphemes(true).next().map_or(0, |cluster| cluster.chars().count());
    if chars < 2 {
        area.delete_next_char();
    } else {
        area.delete_str(chars);
    }
}

/// Where the caret is on the screen: `drawn` counts the columns of each code point, of which a
/// cluster takes fewer.
pub(super) fn caret_position(area: &TextArea<'_>, inner: Rect, position: Position) -> Position {
    let (before, _) = around(area);
    let columns = usize::from(position.x.saturating_sub(inner.x));
    let mut taken = 0;
    let mut start = before.len();
    for (at, c) in before.char_indices().rev() {
        // Where a row begins, the columns are used up.
        if c == '\t' || taken == columns && c.width() != Some(0) {
            break;
        }
        taken += c.width().unwrap_or(0);
        start = at;
    }
    let shown = before.get(start..).unwrap_or_default();
    let column = if taken == columns { text::width(shown) } else { columns };
    Position { x: inner.x + u16::try_from(column).unwrap_or(0), ..position }
}

#[cfg(test)]
mod tests {
    use super::super::Composer;
    use super::*;
    use crate::composer::ComposerStyle;
    use crate::keys::EditAction;
    use crate::theme::Theme;
    use avocet_core::i18n::Lang;
    use ratatui::buffer::Buffer;

    /// Each is one cluster.
    const CLUSTERS: &[&str] = &[
        "a",
        "中",
        "e\u{301}",
        "👨\u{200d}👩\u{200d}👧\u{200d}👦",
        "🇩🇪",
        "👍🏽",
        "✈\u{fe0f}",
        "1\u{fe0f}\u{20e3}",
        "\u{1112}\u{1161}\u{11ab}",
        "किं",
    ];

    fn typed(text: &str) -> Composer {
        let mut composer = Composer::new(Vec::new());
        composer.set_text(text, Lang::En);
        composer
    }

    #[test]
    fn backspace_and_delete_take_a_whole_cluster() {
        for cluster in CLUSTERS {
            let mut composer = typed(&format!("x{cluster}"));
            composer.edit(EditAction::DeleteBack);
            assert_eq!(composer.display_text(), "x", "{cluster:?}");
            composer.edit(EditAction::Undo);
            assert_eq!(composer.display_text(), format!("x{cluster}"), "one step to undo");
            let mut composer = typed(&format!("{cluster}y"));
            composer.edit(EditAction::LineStart);
            composer.edit(EditAction::Delete);
            assert_eq!(composer.display_text(), "y", "{cluster:?}");
        }
    }

    #[test]
    fn the_caret_steps_over_a_whole_cluster_and_stands_where_the_next_one_is_drawn() {
        let theme = Theme::default();
        for cluster in CLUSTERS {
            let mut composer = typed(&format!("{cluster}{cluster}z"));
            composer.edit(EditAction::LineStart);
            let area = Rect::new(0, 0, 40, 2);
            let mut columns = Vec::new();
            for _ in 0..4 {
                composer.fit(area.width, &theme);
                let mut buf = Buffer::empty(area);
                let style = ComposerStyle { theme: &theme, hint: "", sigil: theme.text };
                let caret = composer.draw(area, &mut buf, &style).expect("a caret");
                columns.push(usize::from(caret.x) - 2);
                composer.edit(EditAction::Right);
            }
            let wide = text::width(cluster);
            assert_eq!(columns, [0, wide, 2 * wide, 2 * wide + 1], "{cluster:?}");
            composer.edit(EditAction::Left);
            composer.edit(EditAction::Left);
            composer.edit(EditAction::DeleteBack);
            assert_eq!(composer.display_text(), format!("{cluster}z"), "{cluster:?}");
        }
    }
}
