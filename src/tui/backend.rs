//! A ratatui backend that redraws whole rows where terminals disagree on widths.
//!
//! Some draw `👍🏽` two cells wide and some four, `→` and `“` one cell or two. A terminal with a
//! different width leaves a remnant in a cell that is blank in both frames, so it would never be
//! redrawn. A row that contains or contained such a character is therefore drawn from end to end
//! whenever something in it changes; the terminal cuts what does not fit, since line wrapping is
//! off while the screen is active.
//!
//! Links (OSC 8) are sent here too, because they belong to cells and ratatui's frame does not know
//! them: a row whose links changed is also redrawn whole.
//!
//! So are pictures. The cells of one are blank in the frame; while it stays where it is, nothing is
//! drawn over it, and rows that it leaves are redrawn whole.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write};
use std::rc::Rc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use unicode_width::UnicodeWidthStr;

use super::picture::{CellSize, PlacedPicture};
use super::symbols::LineStyle;
use super::transcript::{Hyperlink, Overlays};

#[derive(Debug)]
pub struct WideCharBackend<W: Write> {
    inner: CrosstermBackend<W>,
    /// The content of the terminal.
    contents: Buffer,
    /// Rows that contained such a character at any time since they were last drawn whole.
    uncertain_rows: Vec<bool>,
    /// The links and pictures of the coming frame, and those on the terminal.
    overlays: SharedOverlays,
    drawn_links: Vec<Hyperlink>,
    drawn_pictures: Vec<PlacedPicture>,
    /// The pictures that the terminal keeps, by their numbers, the last one last.
    kept_pictures: Vec<u32>,
    /// Whether the terminal is known to draw lines one column wide.
    has_narrow_lines: bool,
}

/// The most pictures that the terminal keeps, beside those that are drawn.
const KEPT: usize = 8;

/// The links and pictures of a frame, from the drawing code.
pub type SharedOverlays = Rc<RefCell<Overlays>>;

impl<W: Write> WideCharBackend<W> {
    pub fn new(out: W, overlays: SharedOverlays) -> WideCharBackend<W> {
        WideCharBackend {
            inner: CrosstermBackend::new(out),
            contents: Buffer::default(),
            uncertain_rows: Vec::new(),
            overlays,
            drawn_links: Vec::new(),
            drawn_pictures: Vec::new(),
            kept_pictures: Vec::new(),
            has_narrow_lines: false,
        }
    }

    pub fn set_lines(&mut self, lines: LineStyle) {
        self.has_narrow_lines = lines == LineStyle::Solid;
    }

    /// Takes in the changes; returns the rows they touch.
    fn apply_changes(&mut self, changes: &[(u16, u16, Cell)]) -> Vec<u16> {
        let mut rows = Vec::new();
        // At once, not cell by cell: a first frame touches all cells.
        if let Some(x) = changes.iter().map(|(x, _, _)| *x).max()
            && let Some(y) = changes.iter().map(|(_, y, _)| *y).max()
        {
            self.grow(x, y);
        }
        for (x, y, cell) in changes {
            self.contents[(*x, *y)] = cell.clone();
            // The cells that a wide character covers are not part of the changes, but their content
            // is gone.
            let covered = (x + 1..self.contents.area.width).zip(1..cell.symbol().width());
            for (covered, _) in covered {
                self.contents[(covered, *y)].reset();
            }
            if rows.last() != Some(y) {
                rows.push(*y);
            }
        }
        rows
    }

    fn grow(&mut self, x: u16, y: u16) {
        let area = self.contents.area;
        if x >= area.width || y >= area.height {
            let room = Rect::new(0, 0, area.width.max(x + 1), area.height.max(y + 1));
            let mut larger = Buffer::empty(room);
            larger.merge(&self.contents);
            self.contents = larger;
            self.uncertain_rows.resize(usize::from(room.height), false);
        }
    }

    fn row(&self, y: u16) -> Vec<(u16, u16, &Cell)> {
        let mut cells = Vec::new();
        let mut x = 0;
        while x < self.contents.area.width {
            let cell = &self.contents[(x, y)];
            cells.push((x, y, cell));
            x += u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
        }
        cells
    }

    /// Whether terminals may disagree on the width of a character: it consists of several, or
    /// Unicode calls its width ambiguous. Lines are certain once this terminal has reported them.
    fn has_uncertain_width(&self, symbol: &str) -> bool {
        let is_line = |symbol: &str| symbol.chars().all(|c| ('\u{2500}'..='\u{257f}').contains(&c));
        !symbol.is_ascii()
            && (symbol.chars().nth(1).is_some()
                || (symbol.width() != symbol.width_cjk()
                    && !(self.has_narrow_lines && is_line(symbol))))
    }

    fn invalidate(&mut self) {
        self.contents = Buffer::default();
        self.uncertain_rows.clear();
        self.drawn_links.clear();
        self.drawn_pictures.clear();
    }

    /// Has the terminal drop the pictures it keeps.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn drop_pictures(&mut self) -> io::Result<()> {
        self.drawn_pictures.clear();
        let ids = std::mem::take(&mut self.kept_pictures);
        if ids.is_empty() {
            return Ok(());
        }
        ids.into_iter().try_for_each(|id| self.drop_picture(id))?;
        Write::flush(&mut self.inner)
    }

    fn drop_picture(&mut self, id: u32) -> io::Result<()> {
        write!(self.inner, "\x1b_Ga=d,d=I,i={id},q=2\x1b\\")
    }

    /// Draws a picture that is not on the terminal, or elsewhere.
    fn draw_picture(&mut self, placed: &PlacedPicture) -> io::Result<()> {
        let PlacedPicture { picture, area } = placed;
        if !picture.transmission.is_empty() && !self.kept_pictures.contains(&picture.id) {
            self.inner.write_all(picture.transmission.as_bytes())?;
            self.kept_pictures.push(picture.id);
        }
        for (x, y, cell) in &picture.cells {
            let x = area.x + x;
            let y = area.y + y;

            let mut cell = cell.clone();
            cell.bg = self.contents.cell((x, y)).map_or(cell.bg, |below| below.bg);
            self.inner.draw(std::iter::once((x, y, &cell)))?;
        }
        Ok(())
    }

    /// Has the terminal drop the oldest pictures it keeps, but none that is drawn.
    fn drop_old_pictures(&mut self) -> io::Result<()> {
        let drawn = |id: &u32| self.drawn_pictures.iter().any(|placed| placed.picture.id == *id);
        let unused: Vec<u32> = self.kept_pictures.iter().filter(|id| !drawn(id)).copied().collect();
        let old = unused.len().saturating_sub(KEPT);
        for id in unused.into_iter().take(old) {
            self.kept_pictures.retain(|kept| *kept != id);
            self.drop_picture(id)?;
        }
        Ok(())
    }

    /// Rows whose links differ from those on the terminal.
    fn rows_with_changed_links(&mut self) -> Vec<u16> {
        let now = &self.overlays.borrow().links;
        let others = |hyperlinks: &[Hyperlink], other: &[Hyperlink]| -> Vec<u16> {
            hyperlinks.iter().filter(|link| !other.contains(link)).map(|link| link.y).collect()
        };
        let mut rows = [others(now, &self.drawn_links), others(&self.drawn_links, now)].concat();
        rows.sort_unstable();
        rows.dedup();
        rows.retain(|y| *y < self.contents.area.height);
        rows
    }

    /// Draws one row from end to end, with its links, but for the cells of `pictures`.
    fn draw_row(&mut self, y: u16, pictures: &[PlacedPicture]) -> io::Result<()> {
        let hyperlinks: Vec<Hyperlink> =
            self.overlays.borrow().links.iter().filter(|link| link.y == y).cloned().collect();
        let row: Vec<(u16, u16, Cell)> = self
            .row(y)
            .into_iter()
            .filter(|(x, y, _)| !pictures.iter().any(|placed| placed.covers(*x, *y)))
            .map(|(x, y, cell)| (x, y, cell.clone()))
            .collect();
        // A terminal that draws one of them narrow would keep what was in its second column.
        for (x, y, cell) in &row {
            if cell.symbol().width() > 1 && self.has_uncertain_width(cell.symbol()) {
                let mut blank = cell.clone();
                blank.set_symbol(" ");
                self.inner.draw(std::iter::once((x + 1, *y, &blank)))?;
            }
        }
        let link_at = |x: u16| hyperlinks.iter().find(|link| link.columns.contains(&x));
        for run in row.chunk_by(|one, other| link_at(one.0) == link_at(other.0)) {
            let link = run.first().and_then(|(x, ..)| link_at(*x));
            if let Some(link) = link {
                let id = id(&link.address);
                write!(self.inner, "\x1b]8;id={id:x};{}\x1b\\", link.address)?;
            }
            self.inner.draw(run.iter().map(|(x, y, cell)| (*x, *y, cell)))?;
            if link.is_some() {
                write!(self.inner, "\x1b]8;;\x1b\\")?;
            }
        }
        Ok(())
    }
}

/// One id for all pieces of a link, so that the terminal highlights them together across rows.
fn id(address: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    address.hash(&mut hasher);
    hasher.finish() >> 32
}

impl<W: Write> Backend for WideCharBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let changes: Vec<(u16, u16, Cell)> =
            content.map(|(x, y, cell)| (x, y, cell.clone())).collect();
        let rows = self.apply_changes(&changes);
        let wanted = self.overlays.borrow().pictures.clone();
        let drawn = std::mem::take(&mut self.drawn_pictures);
        let (still, gone): (Vec<_>, Vec<_>) =
            drawn.into_iter().partition(|placed| wanted.contains(placed));
        let mut whole = self.rows_with_changed_links();
        let left = gone.iter().flat_map(|placed| placed.area.top()..placed.area.bottom());
        whole.extend(left.filter(|y| *y < self.contents.area.height));
        whole.sort_unstable();
        whole.dedup();
        for y in rows {
            let now =
                self.row(y).iter().any(|(_, _, cell)| self.has_uncertain_width(cell.symbol()));
            let was = self.uncertain_rows.get(usize::from(y)).copied().unwrap_or_default();
            let linked = self.overlays.borrow().links.iter().any(|link| link.y == y);
            if (now || was || linked) && !whole.contains(&y) {
                whole.push(y);
            }
            if let Some(doubtful) = self.uncertain_rows.get_mut(usize::from(y)) {
                *doubtful = now;
            }
        }
        let is_free = |x: u16, y: u16| !still.iter().any(|placed| placed.covers(x, y));
        let plain = changes.iter().filter(|(x, y, _)| !whole.contains(y) && is_free(*x, *y));
        self.inner.draw(plain.map(|(x, y, cell)| (*x, *y, cell)))?;
        for y in whole {
            self.draw_row(y, &still)?;
        }
        for placed in wanted.iter().filter(|placed| !still.contains(placed)) {
            self.draw_picture(placed)?;
        }
        self.drawn_pictures = wanted;
        self.drop_old_pictures()?;
        self.drawn_links.clone_from(&self.overlays.borrow().links);
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.invalidate();
        self.inner.clear()
    }

    fn clear_region(&mut self, kind: ClearType) -> io::Result<()> {
        self.invalidate();
        self.inner.clear_region(kind)
    }

    /// Called before each frame; crossterm would reopen the terminal each time.
    fn size(&self) -> io::Result<Size> {
        size().map_or_else(|| self.inner.size(), |(width, height)| Ok(Size { width, height }))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}

impl<W: Write> Write for WideCharBackend<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.inner)
    }
}

/// Columns and rows; `None` where there is no terminal.
#[cfg(unix)]
pub fn size() -> Option<(u16, u16)> {
    // Crossterm would start `tput` twice without a terminal.
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Columns and rows; `None` where there is no terminal.
#[cfg(not(unix))]
pub fn size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

/// The size of a cell in pixels, as far as the system knows it.
#[cfg(unix)]
pub fn cell_size() -> Option<CellSize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    let width = size.ws_xpixel.checked_div(size.ws_col)?;
    let height = size.ws_ypixel.checked_div(size.ws_row)?;
    (width > 0 && height > 0).then_some(CellSize { width, height })
}

#[cfg(not(unix))]
pub fn cell_size() -> Option<CellSize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the bytes that reach the terminal.
    #[derive(Debug, Default)]
    struct Counter(usize);

    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn draw_cells<W: Write>(careful: &mut WideCharBackend<W>, cells: &[(u16, u16, &str)]) {
        let cells: Vec<(u16, u16, Cell)> = cells
            .iter()
            .map(|(x, y, symbol)| {
                let mut cell = Cell::default();
                cell.set_symbol(symbol);
                (*x, *y, cell)
            })
            .collect();
        careful.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
    }

    /// The number of bytes that each of these draws takes, in order.
    fn bytes(draws: &[&[(u16, u16, &str)]]) -> Vec<usize> {
        let measure = |count: usize| {
            let mut counter = Counter::default();
            let mut careful = WideCharBackend::new(&mut counter, SharedOverlays::default());
            draws.iter().take(count).for_each(|cells| draw_cells(&mut careful, cells));
            drop(careful);
            counter.0
        };
        (0..draws.len()).map(|at| measure(at + 1) - measure(at)).collect()
    }

    #[test]
    fn a_row_with_a_character_of_uncertain_width_is_redrawn_whole_once() {
        let sent = bytes(&[
            &[(0, 0, "👍🏽"), (2, 0, "a"), (30, 0, "z")],
            &[(0, 0, "b"), (1, 0, " ")],
            &[(0, 0, "c")],
        ]);
        assert!(sent[1] > 30, "{sent:?}: the blanks between are drawn as well");
        assert!(sent[2] < sent[1], "{sent:?}: after that only what changes");
    }

    #[test]
    fn a_terminal_that_draws_a_heart_narrow_keeps_no_letter_of_before() {
        let mut out = Vec::new();
        let mut careful = WideCharBackend::new(&mut out, SharedOverlays::default());
        draw_cells(&mut careful, &[(0, 0, "x"), (1, 0, "k"), (2, 0, "y")]);
        draw_cells(&mut careful, &[(0, 0, "❤️")]);
        drop(careful);
        // As it draws it: one column for the heart and its variant.
        let text = String::from_utf8(out).unwrap().replace("❤️", "o");
        let mut terminal = vt100::Parser::default();
        terminal.process(text.as_bytes());
        assert_eq!(terminal.screen().contents().trim_end(), "o y");
    }

    #[test]
    fn a_row_with_a_character_of_ambiguous_width_is_redrawn_whole() {
        let sent = |mark| bytes(&[&[(0, 0, mark), (40, 0, "z")], &[(3, 0, "x")]])[1];
        assert!(sent("→") > 40 && sent("“") > 40);
        assert!(sent("╌") < 40 && sent("ñ") < 40);
    }

    #[test]
    fn lines_are_ordinary_on_a_terminal_that_draws_them_narrow() {
        for (lines, is_whole) in [(LineStyle::Dashed, true), (LineStyle::Solid, false)] {
            let mut counter = Counter::default();
            let mut careful = WideCharBackend::new(&mut counter, SharedOverlays::default());
            careful.set_lines(lines);
            draw_cells(&mut careful, &[(0, 0, "─"), (40, 0, "z")]);
            assert_eq!(careful.uncertain_rows, [is_whole]);
        }
    }

    #[test]
    fn a_link_is_sent_once_and_removed_when_it_goes() {
        let links = SharedOverlays::default();
        let mut out = Vec::new();
        let mut careful = WideCharBackend::new(&mut out, Rc::clone(&links));
        let cells: Vec<(u16, u16, Cell)> = (0..9).map(|x| (x, 0, Cell::new("x"))).collect();
        let draw = |careful: &mut WideCharBackend<&mut Vec<u8>>, cells: &[(u16, u16, Cell)]| {
            careful.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
        };
        let link = Hyperlink::new("https://a.b", 0, 2..5);
        links.replace(Overlays { links: vec![link], ..Overlays::default() });
        draw(&mut careful, &cells);
        draw(&mut careful, &[]);
        links.take();
        draw(&mut careful, &[]);
        drop(careful);
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out.matches(";https://a.b\x1b\\").count(), 1, "{out:?}");
        assert_eq!(out.matches("\x1b]8;;\x1b\\").count(), 1, "{out:?}");
        let linked =
            out.split(";https://a.b\x1b\\").nth(1).and_then(|rest| rest.split("\x1b]8;;").next());
        assert_eq!(linked.map(|text| text.matches('x').count()), Some(3), "{out:?}");
        assert_eq!(out.matches('x').count(), 18, "and once more without it");
    }

    #[test]
    fn a_picture_is_sent_once_and_goes_when_it_is_scrolled_or_covered() {
        use crate::picture::{EncodedPicture, PictureSize};
        let letters = (0..2).flat_map(|y| (0..3).map(move |x| (x, y, Cell::new("P")))).collect();
        let picture = std::sync::Arc::new(EncodedPicture {
            id: 7,
            size: PictureSize { columns: 3, rows: 2, side: 40 },
            transmission: "\x1b_Gq=2,i=7,m=0;AAAA\x1b\\".into(),
            cells: letters,
        });
        let at = |y| vec![PlacedPicture { picture: picture.clone(), area: Rect::new(2, y, 3, 2) }];
        let overlays = SharedOverlays::default();
        let out = Rc::new(RefCell::new(Vec::new()));
        let mut careful = WideCharBackend::new(Shared(Rc::clone(&out)), Rc::clone(&overlays));
        let screen = |cells: &[(u16, u16, &str)], careful: &mut WideCharBackend<Shared>| {
            let cells: Vec<(u16, u16, Cell)> = cells
                .iter()
                .map(|(x, y, text)| {
                    let mut cell = Cell::default();
                    cell.set_symbol(text);
                    (*x, *y, cell)
                })
                .collect();
            careful.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
            let size = |count| std::num::NonZeroU16::new(count).unwrap();
            let mut terminal = vt100::Parser::new(size(6), size(20), 0);
            terminal.process(&out.borrow());
            let contents = terminal.screen().contents();
            let rows: Vec<&str> = contents.trim_end().lines().map(str::trim_end).collect();
            rows.join("\n")
        };
        let pictures = |pictures| {
            overlays.replace(Overlays { pictures, ..Overlays::default() });
        };
        pictures(at(2));
        let seen = screen(&[(0, 2, "a"), (9, 2, "z"), (9, 4, "y")], &mut careful);
        assert_eq!(seen, "\n\na PPP    z\n  PPP\n         y");
        // A row that is redrawn whole leaves it alone, as does a change of the cells below it.
        let length = out.borrow().len();
        let seen = screen(&[(0, 2, "→"), (3, 3, " ")], &mut careful);
        assert_eq!(seen, "\n\n→ PPP    z\n  PPP\n         y");
        assert!(!String::from_utf8_lossy(&out.borrow()[length..]).contains('P'));
        pictures(at(1));
        assert_eq!(screen(&[], &mut careful), "\n  PPP\n→ PPP    z\n\n         y");
        pictures(Vec::new());
        assert_eq!(screen(&[], &mut careful), "\n\n→        z\n\n         y");
        pictures(at(1));
        assert_eq!(screen(&[], &mut careful), "\n  PPP\n→ PPP    z\n\n         y");
        let sent = String::from_utf8_lossy(&out.borrow()).matches("AAAA").count();
        assert_eq!(sent, 1, "the terminal kept it");
        careful.drop_pictures().unwrap();
        assert!(out.borrow().ends_with(b"\x1b_Ga=d,d=I,i=7,q=2\x1b\\"));
    }

    /// Bytes that can be read while the backend has them.
    #[derive(Clone, Debug)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn text_covered_by_a_wide_character_does_not_reappear() {
        let mut out = Vec::new();
        let mut careful = WideCharBackend::new(&mut out, SharedOverlays::default());
        let draw = |careful: &mut WideCharBackend<&mut Vec<u8>>, cells: &[(u16, &str)]| {
            let cells: Vec<(u16, u16, Cell)> = cells
                .iter()
                .map(|(x, symbol)| {
                    let mut cell = Cell::default();
                    cell.set_symbol(symbol);
                    (*x, 0, cell)
                })
                .collect();
            careful.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
        };
        draw(&mut careful, &[(0, "a"), (1, "b"), (2, "c"), (3, "d"), (9, "“")]);
        draw(&mut careful, &[(0, "中"), (2, "文")]);
        // Only the visible cells are sent as blanks.
        draw(&mut careful, &[(0, " "), (2, " ")]);
        drop(careful);
        let out = String::from_utf8(out).unwrap();
        assert_eq!((out.matches('b').count(), out.matches('d').count()), (1, 1), "{out:?}");
    }

    #[test]
    fn an_ordinary_row_is_drawn_only_where_it_changes() {
        let sent = bytes(&[&[(0, 0, "中"), (30, 0, "z")], &[(5, 0, "x")]]);
        assert!(sent[1] < 30, "{sent:?}");
    }
}
