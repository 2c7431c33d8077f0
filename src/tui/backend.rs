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

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write};
use std::rc::Rc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use unicode_width::UnicodeWidthStr;

use super::transcript::Hyperlink;

#[derive(Debug)]
pub struct WideCharBackend<W: Write> {
    inner: CrosstermBackend<W>,
    /// The content of the terminal.
    contents: Buffer,
    /// Rows that contained such a character at any time since they were last drawn whole.
    uncertain_rows: Vec<bool>,
    /// The links of the coming frame, and those on the terminal.
    links: SharedLinks,
    drawn_links: Vec<Hyperlink>,
}

/// The links of a frame, from the drawing code.
pub type SharedLinks = Rc<RefCell<Vec<Hyperlink>>>;

impl<W: Write> WideCharBackend<W> {
    pub fn new(out: W, links: SharedLinks) -> WideCharBackend<W> {
        WideCharBackend {
            inner: CrosstermBackend::new(out),
            contents: Buffer::default(),
            uncertain_rows: Vec::new(),
            links,
            drawn_links: Vec::new(),
        }
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

    fn invalidate(&mut self) {
        self.contents = Buffer::default();
        self.uncertain_rows.clear();
        self.drawn_links.clear();
    }

    /// Rows whose links differ from those on the terminal.
    fn rows_with_changed_links(&mut self) -> Vec<u16> {
        let now = self.links.borrow();
        let others = |one: &[Hyperlink], other: &[Hyperlink]| -> Vec<u16> {
            one.iter().filter(|link| !other.contains(link)).map(|link| link.y).collect()
        };
        let mut rows = [others(&now, &self.drawn_links), others(&self.drawn_links, &now)].concat();
        rows.sort_unstable();
        rows.dedup();
        rows.retain(|y| *y < self.contents.area.height);
        rows
    }

    /// Draws one row from end to end, with its links.
    fn draw_row(&mut self, y: u16) -> io::Result<()> {
        let links: Vec<Hyperlink> =
            self.links.borrow().iter().filter(|link| link.y == y).cloned().collect();
        let row: Vec<(u16, u16, Cell)> =
            self.row(y).into_iter().map(|(x, y, cell)| (x, y, cell.clone())).collect();
        let link_at = |x: u16| links.iter().find(|link| link.columns.contains(&x));
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

/// Whether terminals may disagree on the width of a character: it consists of several, or Unicode
/// calls its width ambiguous.
fn has_uncertain_width(symbol: &str) -> bool {
    !symbol.is_ascii() && (symbol.chars().nth(1).is_some() || symbol.width() != symbol.width_cjk())
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
        let mut whole = self.rows_with_changed_links();
        for y in rows {
            let now = self.row(y).iter().any(|(_, _, cell)| has_uncertain_width(cell.symbol()));
            let was = self.uncertain_rows.get(usize::from(y)).copied().unwrap_or_default();
            let linked = self.links.borrow().iter().any(|link| link.y == y);
            if (now || was || linked) && !whole.contains(&y) {
                whole.push(y);
            }
            if let Some(doubtful) = self.uncertain_rows.get_mut(usize::from(y)) {
                *doubtful = now;
            }
        }
        let plain = changes.iter().filter(|(_, y, _)| !whole.contains(y));
        self.inner.draw(plain.map(|(x, y, cell)| (*x, *y, cell)))?;
        for y in whole {
            self.draw_row(y)?;
        }
        self.drawn_links.clone_from(&self.links.borrow());
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

    fn draw_cells(careful: &mut WideCharBackend<&mut Counter>, cells: &[(u16, u16, &str)]) {
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
            let mut careful = WideCharBackend::new(&mut counter, SharedLinks::default());
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
    fn a_row_with_a_character_of_ambiguous_width_is_redrawn_whole() {
        let sent = |mark| bytes(&[&[(0, 0, mark), (40, 0, "z")], &[(3, 0, "x")]])[1];
        assert!(sent("→") > 40 && sent("“") > 40);
        assert!(sent("╌") < 40 && sent("ñ") < 40);
    }

    #[test]
    fn a_link_is_sent_once_and_removed_when_it_goes() {
        let links = SharedLinks::default();
        let mut out = Vec::new();
        let mut careful = WideCharBackend::new(&mut out, Rc::clone(&links));
        let cells: Vec<(u16, u16, Cell)> = (0..9).map(|x| (x, 0, Cell::new("x"))).collect();
        let draw = |careful: &mut WideCharBackend<&mut Vec<u8>>, cells: &[(u16, u16, Cell)]| {
            careful.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
        };
        links.replace(vec![Hyperlink::new("https://a.b", 0, 2..5)]);
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
    fn text_covered_by_a_wide_character_does_not_reappear() {
        let mut out = Vec::new();
        let mut careful = WideCharBackend::new(&mut out, SharedLinks::default());
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
