//! The whole conversation as text, for the terminal's own scrollback.

use super::Transcript;
use super::reading::read;
use super::scroll::{LayoutSetting, gap};
use crate::tui::theme::Theme;
use crate::words::screen as words;

/// At most this many bytes are written, counted from the end.
const MOST: usize = 32 << 20;
/// Columns assumed before anything was drawn.
const COLUMNS: u16 = 80;

impl Transcript {
    /// All of it, with steps and reasoning unfolded, one line for each line of the source,
    /// containing only text and line breaks.
    pub fn plain(&mut self) -> String {
        self.story.settle();
        if self.sheets.setting.width == 0 {
            let theme = Theme::default();
            self.sheets.setting =
                LayoutSetting { width: COLUMNS, theme, ..LayoutSetting::default() };
        }
        let mut parts = Vec::new();
        let mut size = 0;
        for block in (0..self.story.blocks.len()).rev() {
            let text = self.plain_block(block);
            size += text.len();
            parts.push(text);
            if size > MOST && block > 0 {
                let cut = words::DUMP_CUT.with("n", block).text(self.sheets.paper().lang);
                parts.push(format!("{cut}\n\n"));
                break;
            }
        }
        parts.reverse();
        parts.concat()
    }

    fn plain_block(&self, at: usize) -> String {
        let mut out = String::new();
        let Some(block) = self.story.blocks.get(at) else { return out };
        let paper = self.sheets.paper();
        let mut mark = block.mark(&paper);
        for part in 0..block.opened_parts() {
            let rows = match block.is_running() {
                true => block.set(part, &paper),
                false => block.set_opened(part, &paper),
            };
            let blank = part > 0 && gap(&self.story.blocks, (at, part)) > 0;
            if blank || (part == 0 && at > 0) {
                out.push('\n');
            }
            for line in read(&rows) {
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
}
