//! What the terminal gets beside the cells of a frame: links and pictures.

use std::ops::Range;
use std::rc::Rc;

use ratatui::buffer::Buffer;

use super::paragraph::LinkColumns;
use crate::picture::PlacedPicture;

/// What a frame shows beside its cells.
#[derive(Debug, Default)]
pub struct Overlays {
    pub links: Vec<Hyperlink>,
    pub pictures: Vec<PlacedPicture>,
}

impl Overlays {
    /// Drops what something else covers.
    pub fn retain_visible(&mut self, buf: &Buffer) {
        self.links.retain(|link| link.is_visible(buf));
        self.pictures.retain(|picture| picture.is_visible(buf));
    }
}

/// Cells of the screen that link to an address.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperlink {
    pub y: u16,
    pub columns: Range<u16>,
    pub address: Rc<str>,
    /// The text of the cells when they were drawn.
    text: String,
}

impl Hyperlink {
    #[cfg(test)]
    pub fn new(address: &str, y: u16, columns: Range<u16>) -> Hyperlink {
        Hyperlink { y, columns, address: address.into(), text: String::new() }
    }

    /// Whether nothing else covers its cells.
    pub fn is_visible(&self, buf: &Buffer) -> bool {
        self.text == read_cells(buf, &self.columns, self.y)
    }

    pub(super) fn from_link(link: &LinkColumns, from: u16, y: u16, buf: &Buffer) -> Hyperlink {
        let Range { start, end } = link.columns;
        let columns = from.saturating_add(start)..from.saturating_add(end).min(buf.area.right());
        let text = read_cells(buf, &columns, y);
        Hyperlink { y, columns, address: Rc::clone(&link.address), text }
    }
}

fn read_cells(buf: &Buffer, columns: &Range<u16>, y: u16) -> String {
    columns.clone().filter_map(|x| Some(buf.cell((x, y))?.symbol())).collect()
}
