//! The rows of the last frame: which row of the conversation is where on the screen.

use std::rc::Rc;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::block::{Block, BlockBody};
use super::overlay::Hyperlink;
use super::paint::{draw_time, paint_row};
use super::paragraph::StyledRow;
use super::pointer::{CellPosition, selected_bytes};
use super::search::TranscriptSearch;
use super::source_lines::join_rows;
use super::viewport::{RowCache, RowPosition, blank_rows_before, gutter};
use crate::picture::WantedPicture;

/// The rows in view.
#[derive(Debug, Default)]
pub(super) struct DrawnFrame {
    pub area: Rect,
    /// The position of each row.
    pub rows: Vec<RowPosition>,
    /// The parts, from their first row in view on.
    parts: Vec<(RowPosition, Rc<Vec<StyledRow>>)>,
    /// The first and the last selected cell.
    pub selection: Option<(CellPosition, CellPosition)>,
}

impl DrawnFrame {
    /// Lays out from `top` on; returns the position after the last row.
    pub fn lay_out(
        &mut self,
        top: RowPosition,
        area: Rect,
        row_cache: &mut RowCache,
        blocks: &mut [Block],
    ) -> RowPosition {
        let room = usize::from(area.height);
        let mut shown = Vec::with_capacity(room);
        let mut parts = Vec::new();
        let mut position = top;
        while shown.len() < room && position.block < blocks.len() {
            let at = (position.block, position.part);
            let height = row_cache.height(blocks, at);
            if position.row < height {
                parts.push((position, row_cache.rows(blocks, at)));
                let end = height.min(position.row + room - shown.len());
                shown.extend((position.row..end).map(|row| RowPosition { row, ..position }));
                position.row = end;
            }
            if position.row >= height {
                let end = RowPosition { row: height, ..position };
                (position, _) = row_cache.down(blocks, end, 0);
            }
        }
        self.area = area;
        self.rows = shown;
        self.parts = parts;
        position
    }

    /// The row at a row of the screen.
    pub fn row_at(&self, y: u16) -> Option<RowPosition> {
        self.rows.get(usize::from(y.checked_sub(self.area.y)?)).copied()
    }

    /// Whether a row is in view.
    pub fn shows(&self, position: RowPosition) -> bool {
        self.rows.first().is_some_and(|first| *first <= position)
            && self.rows.last() >= Some(&position)
    }

    /// The cell of the conversation at a cell of the screen, or the nearest.
    pub fn position_at(&self, x: u16, y: u16) -> Option<CellPosition> {
        let left = usize::from(self.area.x) + gutter(usize::from(self.area.width));
        let row = usize::from(y.saturating_sub(self.area.y));
        let (place, column) = match self.rows.get(row) {
            _ if y < self.area.y => (self.rows.first()?, 0),
            Some(place) => (place, usize::from(x).saturating_sub(left)),
            None => (self.rows.last()?, usize::MAX),
        };
        Some(CellPosition { place: *place, column })
    }

    /// Draws the rows; returns the links in them.
    pub fn draw(
        &self,
        row_cache: &RowCache,
        blocks: &[Block],
        search: Option<&TranscriptSearch>,
        buf: &mut Buffer,
    ) -> Vec<Hyperlink> {
        let mut links = Vec::new();
        let mut y = self.area.y;
        for (position, rows) in &self.parts {
            let below = Rect { y, height: self.area.bottom() - y, ..self.area };
            y = draw_part(*position, rows, (row_cache, blocks), below, buf, &mut links);
            if let Some(search) = search {
                let blank = blank_rows_before(blocks, (position.block, position.part));
                mark_hits(search, *position, (blank, rows), below, row_cache, buf);
            }
        }
        self.mark_selection(blocks, row_cache.setting.theme.selection, buf);
        links
    }

    /// Highlights the selection in the rows that were drawn.
    fn mark_selection(&self, blocks: &[Block], style: Style, buf: &mut Buffer) {
        let Some(extent) = self.selection else { return };
        let left = usize::from(self.area.x) + gutter(usize::from(self.area.width));
        let mut from = 0;
        let parts = self.rows.chunk_by(|a, b| (a.block, a.part) == (b.block, b.part));
        for (part, (first, rows)) in parts.zip(&self.parts) {
            let at = (first.block, first.part);
            let blank = blank_rows_before(blocks, at);
            for line in join_rows(rows) {
                let bytes = selected_bytes(&line, at, blank, extent).unwrap_or_default();
                for cells in line.cells(&bytes) {
                    let row = (blank + cells.row).checked_sub(first.row);
                    let Some(row) = row.filter(|row| *row < part.len()) else { continue };
                    let y = usize::from(self.area.y) + from + row;
                    let x = (left + cells.columns.start) as u16;
                    let marked = Rect::new(x, y as u16, cells.columns.len() as u16, 1);
                    buf.set_style(marked.intersection(self.area), style);
                }
            }
            from += part.len();
        }
    }

    /// The pictures that are in view as a whole.
    pub fn pictures(&self, blocks: &[Block]) -> Vec<WantedPicture> {
        let area = self.area;
        let mut wanted = Vec::new();

        let left = area.x + gutter(usize::from(area.width)) as u16;
        let mut y = area.y;
        for (position, rows) in &self.parts {
            let blank = blank_rows_before(blocks, (position.block, position.part));
            for row in position.row..blank + rows.len() {
                let first = row.checked_sub(blank).and_then(|row| rows.get(row)?.picture);
                if let Some((nth, size)) = first
                    && let Some(BlockBody::Attachments(items)) =
                        blocks.get(position.block).map(|block| &block.body)
                    && let Some(shown) = items.get(nth).and_then(|item| item.image.as_ref())
                {
                    let at = Rect { x: left, y, width: size.columns, height: size.rows };
                    let source = shown.source;
                    let image = Arc::clone(&shown.image);

                    let wants = WantedPicture { source, image, size, area: at };
                    wanted.extend((at.intersection(area) == at).then_some(wants));
                }
                y = y.saturating_add(1);
            }
        }
        wanted
    }
}

/// Draws one part from `position` on; returns the next free row of the screen.
fn draw_part(
    position: RowPosition,
    rows: &[StyledRow],
    (row_cache, blocks): (&RowCache, &[Block]),
    area: Rect,
    buf: &mut Buffer,
    hyperlinks: &mut Vec<Hyperlink>,
) -> u16 {
    let blank = blank_rows_before(blocks, (position.block, position.part));
    let cx = row_cache.layout_context();
    let Some(block) = blocks.get(position.block) else { return area.y };
    let mark_row = blank + block.mark_row(rows.len());
    let bar = block.panel_bar(cx.theme);
    let gutter = gutter(usize::from(area.width)) as u16;
    let mut y = area.y;
    for row in position.row..blank + rows.len() {
        if y >= area.bottom() {
            break;
        }
        let line = row.checked_sub(blank).and_then(|row| rows.get(row));
        if let Some(line) = line {
            buf.set_line(area.x + gutter, y, &line.line, area.width - gutter);
            let from = area.x + gutter;
            hyperlinks
                .extend(line.links.iter().map(|link| Hyperlink::from_link(link, from, y, buf)));
        }
        if row == blank && position.part == 0 {
            draw_time(block, line, (area, y), buf, &row_cache.setting);
        }
        if let Some(line) = line {
            let row = Rect { y, height: 1, ..area };
            paint_row(line, bar, (row, gutter), buf, cx.theme);
        }
        if row == mark_row
            && position.part == 0
            && gutter > 0
            && let Some(mark) = block.mark(&cx)
        {
            buf.set_span(area.x, y, &mark, gutter);
        }
        y += 1;
    }
    y
}

/// Highlights the search hits in a part that was drawn from `position` on.
fn mark_hits(
    search: &TranscriptSearch,
    position: RowPosition,
    (blank, rows): (usize, &[StyledRow]),
    area: Rect,
    row_cache: &RowCache,
    buf: &mut Buffer,
) {
    let gutter = gutter(usize::from(area.width));
    for (cells, now) in search.hit_cells((position.block, position.part), rows) {
        let Some(row) = (blank + cells.row).checked_sub(position.row) else { continue };
        let y = usize::from(area.y) + row;
        let x = usize::from(area.x) + gutter;

        if y < usize::from(area.bottom()) {
            let width = cells.columns.len() as u16;
            let marked = Rect::new((x + cells.columns.start) as u16, y as u16, width, 1);
            let style = if now {
                row_cache
                    .setting
                    .theme
                    .selection
                    .add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
            } else {
                Style::new().add_modifier(Modifier::REVERSED)
            };
            buf.set_style(marked.intersection(area), style);
        }
    }
}
