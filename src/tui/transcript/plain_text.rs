//! The whole conversation as text, for the terminal's own scrollback.

use super::Transcript;
use super::block::Block;
use super::paragraph::LayoutContext;
use super::source_lines::join_rows;
use super::viewport::{LayoutSetting, blank_rows_before};
use crate::theme::Theme;
use avocet_core::i18n::screen as phrases;

/// At most this many bytes are written, counted from the end.
const MAX_BYTES: usize = 32 << 20;
/// Columns assumed before anything was drawn.
const COLUMNS: u16 = 80;

impl Transcript {
    /// All of it, with steps and reasoning unfolded, one line for each line of the source,
    /// containing only text and line breaks.
    pub fn plain_text(&mut self) -> String {
        self.builder.freeze_finished();
        let row_cache = &mut self.view.row_cache;
        if row_cache.setting.width == 0 {
            let theme = Theme::default();
            row_cache.setting = LayoutSetting { width: COLUMNS, theme, ..LayoutSetting::default() };
        }
        let cx = row_cache.layout_context();
        let blocks = &self.builder.blocks;
        let mut parts = Vec::new();
        let mut size = 0;
        for block in (0..blocks.len()).rev() {
            let text = plain_block(blocks, block, &cx);
            size += text.len();
            parts.push(text);
            if size > MAX_BYTES && block > 0 {
                let cut = phrases::DUMP_CUT.with("n", block).text(cx.lang);
                parts.push(format!("{cut}\n\n"));
                break;
            }
        }
        parts.reverse();
        parts.concat()
    }
}

fn plain_block(blocks: &[Block], at: usize, cx: &LayoutContext<'_>) -> String {
    let mut out = String::new();
    let Some(block) = blocks.get(at) else { return out };
    let mut mark = block.mark(cx);
    for part in 0..block.unfolded_part_count() {
        let rows = if block.is_running() {
            block.layout(part, cx)
        } else {
            block.layout_unfolded(part, cx)
        };
        let blank = part > 0 && blank_rows_before(blocks, (at, part)) > 0;
        if blank || (part == 0 && at > 0) {
            out.push('\n');
        }
        for line in join_rows(&rows) {
            let text = line.text.trim_end();
            if let Some(mark) = mark.take().filter(|_| !text.is_empty()) {
                out.push_str(&mark.content);
                out.push(' ');
            }
            out.push_str(text);
            out.push('\n');
        }
    }
    out
}
