//! Prepares an image for a model: recognised by its first bytes, checked before it is decoded, scaled
//! down and encoded again where it is larger than models look at. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use png::{ColorType, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use avocet_core::i18n::{LocalizedText, prompt as phrases};
use avocet_core::protocol::{AttachmentSize, Image};
use avocet_core::text::size;

/// The largest file.
pub const MAX_LENGTH: u64 = 20 * 1024 * 1024;
/// How a PDF document begins, and the size of the largest that is sent.
pub const PDF: &[u8] = b"%PDF-";
pub const MAX_DOCUMENT: u64 = 10 * 1024 * 1024;
/// The most pixels that are decoded: a small file may hold far more.
const PIXELS: u64 = 40_000_000;
/// The longer side of what is sent: providers scale anything larger down themselves.
const SIDE: u32 = 1_568;
/// An image that is sent as it is has at most so many bytes.
const SENT: usize = 1_500_000;
/// The same for the formats that are never encoded again.
const SENT_WHOLE: usize = 3_500_000;
const SIDE_WHOLE: u32 = 8_000;
const QUALITY: u8 = 85;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImageKind {
    Png,
    Jpeg,
    Gif,
    Webp,
}

/// An image that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedImage {
    pub image: Image,
    pub size: AttachmentSize,
}

/// Eight bits each of red, green, blue and opacity.
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub data: Vec<u8>,
}

/// Why an image cannot be sent: a problem of its contents, in words, or its size.
#[derive(Debug, PartialEq, Eq)]
enum ImageError {
    Broken,
    TooLarge(String),
}

/// Whether these are the first bytes of an image of a kind that models take.
pub fn is_image(bytes: &[u8]) -> bool {
    ImageKind::detect(bytes).is_some()
}

/// The kind of an image or a PDF document, by its first bytes.
pub fn mime(bytes: &[u8]) -> Option<&'static str> {
    let kind = ImageKind::detect(bytes).map(ImageKind::mime);
    kind.or_else(|| bytes.starts_with(PDF).then_some(Image::PDF))
}

/// A PDF document as it is sent.
pub fn document(bytes: &[u8]) -> Image {
    Image { mime: Image::PDF.to_owned(), data: STANDARD.encode(bytes) }
}

/// Makes an image of `bytes` ready to be sent. `name` is for the sentence of a failure.
///
/// # Errors
/// One sentence: it cannot be read, or is too large.
pub fn prepare(bytes: Vec<u8>, name: &str) -> Result<PreparedImage, LocalizedText> {
    let prepared = match ImageKind::detect(&bytes) {
        Some(kind) => prepare_kind(kind, bytes),
        None => Err(ImageError::Broken),
    };
    prepared.map_err(|error| match error {
        ImageError::Broken => phrases::IMAGE_BROKEN.with("name", name),
        ImageError::TooLarge(size) => {
            phrases::IMAGE_TOO_LARGE.with("name", name).with("size", size)
        }
    })
}

/// Whether images of this type are decoded here; the others are only sent.
pub fn is_decodable(mime: &str) -> bool {
    [ImageKind::Png, ImageKind::Jpeg].iter().any(|kind| kind.mime() == mime)
}

/// The pixels of an image that was prepared, scaled down so that no side is longer. It is checked
/// once more before it is decoded.
pub fn decode(image: &Image, side: u32) -> Option<Pixels> {
    let bytes = STANDARD.decode(&image.data).ok()?;
    let kind = ImageKind::detect(&bytes).filter(|kind| is_decodable(kind.mime()))?;
    let size = dimensions(kind, &bytes).filter(|size| may_decode(*size))?;
    Some(decode_kind(kind, &bytes, size).ok()?.scaled_to(side.max(1)))
}

/// The size of an image that is scaled down so that no side is longer.
pub fn scaled_size((width, height): (u32, u32), side: u32) -> (u32, u32) {
    let longer = width.max(height).max(1);
    let part = |length: u32| {
        let part = u64::from(length) * u64::from(side) / u64::from(longer);
        u32::try_from(part).unwrap_or(side).max(1)
    };
    if longer <= side { (width, height) } else { (part(width), part(height)) }
}

fn may_decode((width, height): (u32, u32)) -> bool {
    (1..=PIXELS).contains(&(u64::from(width) * u64::from(height)))
}

fn decode_kind(kind: ImageKind, bytes: &[u8], size: (u32, u32)) -> Result<Pixels, ImageError> {
    let pixels = match kind {
        ImageKind::Png => decode_png(bytes),
        _ => decode_jpeg(bytes),
    };
    // What the header promised is what was checked.
    pixels.filter(|pixels| (pixels.width, pixels.height) == size).ok_or(ImageError::Broken)
}

fn prepare_kind(kind: ImageKind, bytes: Vec<u8>) -> Result<PreparedImage, ImageError> {
    let (width, height) = dimensions(kind, &bytes).ok_or(ImageError::Broken)?;
    let side = width.max(height);
    let too_large = || ImageError::TooLarge(format!("{width}x{height}, {}", size(bytes.len())));
    if !may_decode((width, height)) {
        return Err(too_large());
    }
    let is_fixed = matches!(kind, ImageKind::Gif | ImageKind::Webp);
    if is_fixed && (bytes.len() > SENT_WHOLE || side > SIDE_WHOLE) {
        return Err(too_large());
    }
    let turn = if kind == ImageKind::Jpeg { quarter_turns(&bytes) } else { 0 };
    if is_fixed || (side <= SIDE && bytes.len() <= SENT && turn == 0) {
        return Ok(PreparedImage::new(kind, &bytes, (width, height)));
    }
    let pixels = decode_kind(kind, &bytes, (width, height))?.scaled_to(SIDE).turned(turn);
    let size = (pixels.width, pixels.height);
    let png = (kind == ImageKind::Png).then(|| encode_png(&pixels)).flatten();
    match png.filter(|png| png.len() <= SENT) {
        Some(png) => Ok(PreparedImage::new(ImageKind::Png, &png, size)),
        None => {
            let jpeg = encode_jpeg(&pixels).ok_or(ImageError::Broken)?;
            Ok(PreparedImage::new(ImageKind::Jpeg, &jpeg, size))
        }
    }
}

impl PreparedImage {
    fn new(kind: ImageKind, bytes: &[u8], (width, height): (u32, u32)) -> PreparedImage {
        let image = Image { mime: kind.mime().to_owned(), data: STANDARD.encode(bytes) };
        PreparedImage { image, size: AttachmentSize::Pixels { width, height } }
    }
}

impl ImageKind {
    fn detect(bytes: &[u8]) -> Option<ImageKind> {
        let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
        match bytes {
            _ if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => Some(ImageKind::Png),
            _ if bytes.starts_with(b"\xff\xd8\xff") => Some(ImageKind::Jpeg),
            _ if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => {
                Some(ImageKind::Gif)
            }
            _ => webp.then_some(ImageKind::Webp),
        }
    }

    fn mime(self) -> &'static str {
        match self {
            ImageKind::Png => "image/png",
            ImageKind::Jpeg => "image/jpeg",
            ImageKind::Gif => "image/gif",
            ImageKind::Webp => "image/webp",
        }
    }
}

/// Width and height as the header says.
fn dimensions(kind: ImageKind, bytes: &[u8]) -> Option<(u32, u32)> {
    let little = |at: usize, count: usize| {
        let bytes = bytes.get(at..at + count)?;
        Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    };
    match kind {
        ImageKind::Png => {
            let big = |at| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
            Some((big(16)?, big(20)?))
        }
        ImageKind::Gif => Some((little(6, 2)?, little(8, 2)?)),
        ImageKind::Webp => match bytes.get(12..16)? {
            b"VP8 " => Some((little(26, 2)? & 0x3fff, little(28, 2)? & 0x3fff)),
            b"VP8L" => {
                let bits = little(21, 4)?;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            _ => Some((little(24, 3)? + 1, little(27, 3)? + 1)),
        },
        ImageKind::Jpeg => {
            let mut decoder = JpegDecoder::new(ZCursor::new(bytes));
            decoder.decode_headers().ok()?;
            let info = decoder.info()?;
            Some((info.width.into(), info.height.into()))
        }
    }
}

fn decode_png(bytes: &[u8]) -> Option<Pixels> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().ok()?;
    let mut raw = vec![0; reader.output_buffer_size()?];
    let frame = reader.next_frame(&mut raw).ok()?;
    raw.truncate(frame.buffer_size());
    let data = match frame.color_type {
        ColorType::Rgba => raw,
        ColorType::Rgb => raw.chunks_exact(3).flat_map(|it| [it[0], it[1], it[2], 255]).collect(),
        ColorType::GrayscaleAlpha => {
            raw.chunks_exact(2).flat_map(|it| [it[0], it[0], it[0], it[1]]).collect()
        }
        ColorType::Grayscale => raw.iter().flat_map(|it| [*it, *it, *it, 255]).collect(),
        ColorType::Indexed => return None,
    };
    Some(Pixels { width: frame.width, height: frame.height, data })
}

fn decode_jpeg(bytes: &[u8]) -> Option<Pixels> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGBA);
    let options = options.set_max_width(1 << 16).set_max_height(1 << 16);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let data = decoder.decode().ok()?;
    let info = decoder.info()?;
    Some(Pixels { width: info.width.into(), height: info.height.into(), data })
}

/// How often a camera says that its picture is to be turned by 90 degrees, clockwise.
fn quarter_turns(jpeg: &[u8]) -> u8 {
    let mut decoder = JpegDecoder::new(ZCursor::new(jpeg));
    let exif = decoder.decode_headers().ok().and_then(|()| decoder.exif().cloned());
    match exif.as_deref().and_then(orientation) {
        Some(3) => 2,
        Some(6) => 1,
        Some(8) => 3,
        _ => 0,
    }
}

/// The entry 0x0112 of the first directory.
fn orientation(exif: &[u8]) -> Option<u32> {
    let exif = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    let is_big = exif.starts_with(b"MM");
    let number = |at: usize, count: usize| {
        let bytes = exif.get(at..at.checked_add(count)?)?.iter();
        let add = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
        Some(if is_big { bytes.fold(0, add) } else { bytes.rev().fold(0, add) })
    };
    let start = usize::try_from(number(4, 4)?).ok()?;
    let entries = usize::try_from(number(start, 2)?).ok()?;
    let mut places = (0..entries).map(|entry| start + 2 + entry * 12);
    let place = places.find(|at| number(*at, 2) == Some(0x0112))?;
    number(place + 8, 2)
}

impl Pixels {
    /// Scaled down so that no side is longer: each new pixel is the mean of those it covers.
    fn scaled_to(self, side: u32) -> Pixels {
        if self.width.max(self.height) <= side {
            return self;
        }
        let size = scaled_size((self.width, self.height), side);
        let width = u64::from(size.0);
        let height = u64::from(size.1);

        let from_width = u64::from(self.width);
        let from_height = u64::from(self.height);

        let range = |at: u64, of: u64, from: u64| (at * from / of, ((at + 1) * from).div_ceil(of));
        let mut data = Vec::new();
        for y in 0..height {
            let rows = range(y, height, from_height);
            for x in 0..width {
                let columns = range(x, width, from_width);
                data.extend(self.mean(columns, rows));
            }
        }
        Pixels { width: size.0, height: size.1, data }
    }

    fn mean(&self, columns: (u64, u64), rows: (u64, u64)) -> [u8; 4] {
        let mut sums = [0_u64; 3];
        let mut opacity = 0_u64;
        let mut count = 0_u64;

        for y in rows.0..rows.1 {
            let at = |x: u64| usize::try_from((y * u64::from(self.width) + x) * 4).unwrap_or(0);
            let row = self.data.get(at(columns.0)..at(columns.1)).unwrap_or_default();
            for pixel in row.chunks_exact(4) {
                let alpha = u64::from(pixel[3]);
                // What is not seen has no colour.
                for (sum, colour) in sums.iter_mut().zip(pixel) {
                    *sum += u64::from(*colour) * alpha;
                }
                opacity += alpha;
                count += 1;
            }
        }
        let byte = |sum: u64, of: u64| u8::try_from(sum / of.max(1)).unwrap_or(255);
        let [red, green, blue] = sums.map(|sum| byte(sum, opacity));
        [red, green, blue, byte(opacity, count)]
    }

    /// Turned clockwise.
    fn turned(self, quarters: u8) -> Pixels {
        (0..quarters).fold(self, |pixels, _| {
            let width = pixels.width as usize;
            let height = pixels.height as usize;

            let columns = (0..width).flat_map(|x| (0..height).rev().map(move |y| (x, y)));
            let pixel = |(x, y)| pixels.data.get((y * width + x) * 4..(y * width + x) * 4 + 4);
            let data = columns.filter_map(pixel).flatten().copied().collect();
            Pixels { width: pixels.height, height: pixels.width, data }
        })
    }
}

fn encode_png(pixels: &Pixels) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, pixels.width, pixels.height);
    let is_opaque = pixels.data.iter().skip(3).step_by(4).all(|alpha| *alpha == 255);
    encoder.set_color(if is_opaque { ColorType::Rgb } else { ColorType::Rgba });
    let mut writer = encoder.write_header().ok()?;
    if is_opaque {
        writer.write_image_data(&without_opacity(pixels)).ok()?
    } else {
        writer.write_image_data(&pixels.data).ok()?
    }
    writer.finish().ok()?;
    Some(out)
}

fn encode_jpeg(pixels: &Pixels) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let width = u16::try_from(pixels.width).ok()?;
    let height = u16::try_from(pixels.height).ok()?;

    let encoder = jpeg_encoder::Encoder::new(&mut out, QUALITY);
    let rgb = without_opacity(pixels);
    encoder.encode(&rgb, width, height, jpeg_encoder::ColorType::Rgb).ok()?;
    Some(out)
}

/// On white.
fn without_opacity(pixels: &Pixels) -> Vec<u8> {
    let on_white = |colour: u8, alpha: u8| {
        let colour = u32::from(colour);
        let alpha = u32::from(alpha);

        u8::try_from((colour * alpha + 255 * (255 - alpha)) / 255).unwrap_or(255)
    };
    let pixel = |it: &[u8]| [0, 1, 2].map(|at| on_white(it[at], it[3]));
    pixels.data.chunks_exact(4).flat_map(pixel).collect()
}

#[cfg(test)]
mod tests;
