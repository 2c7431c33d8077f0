//! Draws what is behind a row and beside it: backgrounds, the bar of a panel, and the time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::block::Block;
use super::paragraph::StyledRow;
use super::time;
use super::viewport::{LayoutSetting, STAMP, gutter};
use crate::draw::{self, MEASURE};
use crate::theme::Theme;

/// Paints the background of a row: the panel of its block, or the row's own.
pub(super) fn paint_row(
    row: &StyledRow,
    bar: Option<Style>,
    (area, gutter): (Rect, u16),
    buf: &mut Buffer,
    theme: &Theme,
) {
    if let Some(bar) = bar {
        draw::panel(area, buf, theme, if gutter > 0 { bar } else { theme.panel.surface });
    }
    if let Some(fill) = &row.fill {
        let x = area.x + gutter + fill.columns.start;
        let behind = Rect { x, width: fill.columns.len() as u16, ..area };
        draw::paint_behind(behind.intersection(area), buf, theme, fill.style);
    }
}

/// Draws the time of a block after its first row, or close to the row where that is short.
pub(super) fn draw_time(
    block: &Block,
    line: Option<&StyledRow>,
    (area, y): (Rect, u16),
    buf: &mut Buffer,
    setting: &LayoutSetting,
) {
    let (Some(clock), Some(line)) = (setting.visible_clock(), line) else { return };
    let Some(wall) = block.arrival.wall_clock(clock) else { return };
    let taken = gutter(area.width.into()) + line.width() + 1;
    let put = |time: String, buf: &mut Buffer| {
        let text = usize::from(area.width).saturating_sub(time.len() + 1);
        let near = gutter(area.width.into()) + MEASURE + STAMP - time.len();
        let x = if taken < near { near.min(text) } else { text };
        let fits = taken <= x;
        if fits || time.len() < STAMP {
            buf.set_string(area.x + x as u16, y, time, setting.theme.dim);
        }
        fits
    };
    // The day is added where it differs and there is room.
    if !time::same_day(wall, clock) && put(time::date_and_time(wall), buf) {
        return;
    }
    put(time::time_of_day(wall), buf);
}
