//! The size of a picture in cells.

use avocet_tools::image::scaled_size;

/// The most rows of a picture.
pub const ROWS: u16 = 12;
/// The most pixels of a picture, so that sending it takes no time that is noticed.
pub const PIXELS: u64 = 500_000;

/// The size of a cell in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSize {
    pub width: u16,
    pub height: u16,
}

/// The size of a picture on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    pub columns: u16,
    pub rows: u16,
    /// Its longer side in pixels.
    pub side: u32,
}

/// The size of an image as a picture: never enlarged, its proportions kept.
pub fn picture_size(
    (width, height): (u32, u32),
    cell: CellSize,
    columns: usize,
) -> Option<PictureSize> {
    let columns = u64::try_from(columns).ok()?;
    let most_width = columns * u64::from(cell.width);
    let most_height = u64::from(ROWS) * u64::from(cell.height);

    let wide = u64::from(width);
    let high = u64::from(height);

    if [wide, high, most_width, most_height].contains(&0) {
        return None;
    }
    let longer = wide.max(high);
    // The longer side when the other one just fits.
    let by_width = most_width.saturating_mul(longer) / wide;
    let by_height = most_height.saturating_mul(longer) / high;
    let by_pixels = PIXELS.saturating_mul(longer).saturating_mul(longer) / (wide * high).max(1);
    let side = longer.min(by_width).min(by_height).min(by_pixels.isqrt()).max(1);
    let side = u32::try_from(side).ok()?;
    let (width, height) = scaled_size((width, height), side);
    let cells = |length: u32, cell: u16| u16::try_from(length.div_ceil(u32::from(cell))).ok();
    Some(PictureSize {
        columns: cells(width, cell.width)?,
        rows: cells(height, cell.height)?,
        side,
    })
}
