//! Makes of an image what a terminal draws. Slow: it runs on a thread of its own.

use std::sync::Arc;

use image::{DynamicImage, RgbaImage};
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::layout::{Rect, Size};
use ratatui::widgets::Widget as _;
use ratatui_image::Image as ImageWidget;
use ratatui_image::protocol::Protocol;
use ratatui_image::protocol::iterm2::Iterm2;
use ratatui_image::protocol::kitty::Kitty;
use ratatui_image::protocol::sixel::Sixel;

use super::graphics::GraphicsProtocol;
use super::size::PictureSize;
use avocet_core::protocol::Image;
use avocet_tools::image::decode;

/// The longest picture that is sent, in bytes.
const MAX_LENGTH: usize = 4 << 20;
/// Kitty replaces this character by a part of a picture.
const PLACEHOLDER: char = '\u{10eeee}';

/// An image to encode.
#[derive(Clone, Debug)]
pub struct PictureRequest {
    pub source: u32,
    pub image: Arc<Image>,
    pub size: PictureSize,
    pub protocol: GraphicsProtocol,
    pub id: u32,
}

/// What became of a request; without a picture the image has none.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodeResult {
    pub source: u32,
    pub protocol: GraphicsProtocol,
    pub picture: Option<Arc<EncodedPicture>>,
}

/// What a terminal needs to draw a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedPicture {
    /// The terminal keeps what was transmitted under this number.
    pub id: u32,
    pub size: PictureSize,
    /// Sent once, before the picture is first drawn; empty where the cells hold all.
    pub transmission: String,
    /// Each with its place in the picture.
    pub cells: Vec<(u16, u16, Cell)>,
}

impl EncodedPicture {
    /// `None`: the image cannot be decoded, or its picture is too long.
    pub fn new(
        image: &Image,
        size: PictureSize,
        protocol: GraphicsProtocol,
        id: u32,
    ) -> Option<EncodedPicture> {
        let pixels = decode(image, size.side)?;
        let picture = RgbaImage::from_raw(pixels.width, pixels.height, pixels.data)?;
        let picture = DynamicImage::ImageRgba8(picture);
        let cells = Size { width: size.columns, height: size.rows };
        let drawing = match protocol {
            GraphicsProtocol::Kitty { compression } => {
                Protocol::Kitty(Kitty::new(picture, cells, id, false, compression).ok()?)
            }
            GraphicsProtocol::Iterm2 => Protocol::ITerm2(Iterm2::new(picture, cells, false).ok()?),
            GraphicsProtocol::Sixel => Protocol::Sixel(Sixel::new(picture, cells, false).ok()?),
        };
        let area = Rect::new(0, 0, size.columns, size.rows);
        let mut buf = Buffer::empty(area);
        ImageWidget::new(&drawing).render(area, &mut buf);
        let encoded = EncodedPicture::from_buffer(&buf, size, id);
        (encoded.byte_count() <= MAX_LENGTH).then_some(encoded)
    }

    /// What is sent once precedes the first placeholder, in the first cell.
    fn from_buffer(buf: &Buffer, size: PictureSize, id: u32) -> EncodedPicture {
        let mut transmission = String::new();
        let mut cells = Vec::new();
        for at in buf.area.positions() {
            let Some(cell) = buf.cell(at).filter(|it| it.diff_option != CellDiffOption::Skip)
            else {
                continue;
            };
            let mut cell = cell.clone();
            if let Some((before, behind)) = cell.symbol().split_once(PLACEHOLDER) {
                transmission.push_str(before);
                cell.set_symbol(&format!("{PLACEHOLDER}{behind}"));
            }
            cells.push((at.x, at.y, cell));
        }
        EncodedPicture { id, size, transmission, cells }
    }

    /// Its bytes, about.
    pub fn byte_count(&self) -> usize {
        let cells: usize = self.cells.iter().map(|(_, _, cell)| cell.symbol().len()).sum();
        self.transmission.len() + cells
    }
}
