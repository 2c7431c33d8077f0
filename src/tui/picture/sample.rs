//! Images for tests.

use super::graphics::{Graphics, GraphicsProtocol};
use super::size::CellSize;
use avocet_core::protocol::Image;
use avocet_tools::image::prepare;

/// An image of one colour.
pub fn image(width: u32, height: u32) -> Image {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let data = vec![90; (width * height) as usize];
    encoder.write_header().unwrap().write_image_data(&data).unwrap();
    prepare(bytes, "a.png").unwrap().image
}

pub fn kitty(cell: CellSize) -> Graphics {
    Graphics { protocol: GraphicsProtocol::Kitty { compression: false }, cell }
}
