//! Reduces colours for terminals with fewer of them.

use ratatui::style::Color;

/// The number of colours of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// `NO_COLOR`: bold and underline only.
    None,
    Sixteen,
    Full256,
    #[default]
    True,
}

/// Red, green, blue.
pub(super) type Rgb = (u8, u8, u8);

/// The sixteen names, with the values that most terminals use.
#[rustfmt::skip]
pub(super) const SIXTEEN: &[(&str, Color, Rgb)] = &[
    ("black",         Color::Black,        (0x00, 0x00, 0x00)),
    ("red",           Color::Red,          (0xcd, 0x00, 0x00)),
    ("green",         Color::Green,        (0x00, 0xcd, 0x00)),
    ("yellow",        Color::Yellow,       (0xcd, 0xcd, 0x00)),
    ("blue",          Color::Blue,         (0x00, 0x00, 0xee)),
    ("magenta",       Color::Magenta,      (0xcd, 0x00, 0xcd)),
    ("cyan",          Color::Cyan,         (0x00, 0xcd, 0xcd)),
    ("gray",          Color::Gray,         (0xe5, 0xe5, 0xe5)),
    ("dark_gray",     Color::DarkGray,     (0x7f, 0x7f, 0x7f)),
    ("light_red",     Color::LightRed,     (0xff, 0x00, 0x00)),
    ("light_green",   Color::LightGreen,   (0x00, 0xff, 0x00)),
    ("light_yellow",  Color::LightYellow,  (0xff, 0xff, 0x00)),
    ("light_blue",    Color::LightBlue,    (0x5c, 0x5c, 0xff)),
    ("light_magenta", Color::LightMagenta, (0xff, 0x00, 0xff)),
    ("light_cyan",    Color::LightCyan,    (0x00, 0xff, 0xff)),
    ("white",         Color::White,        (0xff, 0xff, 0xff)),
];

/// `#rrggbb`.
pub(super) fn parse_hex(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some((red, green, blue))
}

/// The colour as the terminal can show it; `named` is the author's choice for sixteen colours.
pub(super) fn to_terminal_color(rgb: Rgb, color: Option<Color>, depth: Depth) -> Option<Color> {
    match depth {
        Depth::None => None,
        Depth::True => Some(Color::Rgb(rgb.0, rgb.1, rgb.2)),
        Depth::Full256 => Some(Color::Indexed(nearest_256(rgb))),
        Depth::Sixteen => color.or_else(|| nearest_16(rgb)),
    }
}

fn nearest_16(rgb: Rgb) -> Option<Color> {
    SIXTEEN.iter().min_by_key(|(_, _, known)| distance(rgb, *known)).map(|(_, color, _)| *color)
}

/// The nearest entry of the colour cube and the grey ramp.
fn nearest_256(rgb: Rgb) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |value: u8| {
        (0..6u8).min_by_key(|at| STEPS[usize::from(*at)].abs_diff(value)).unwrap_or_default()
    };
    let r = level(rgb.0);
    let g = level(rgb.1);
    let b = level(rgb.2);

    let cube = (STEPS[usize::from(r)], STEPS[usize::from(g)], STEPS[usize::from(b)]);
    let grey_level = |at: u8| 8 + 10 * at;
    let mean = (u16::from(rgb.0) + u16::from(rgb.1) + u16::from(rgb.2)) / 3;
    let at = (0..24u8).min_by_key(|at| u16::from(grey_level(*at)).abs_diff(mean)).unwrap_or(0);
    let grey = (grey_level(at), grey_level(at), grey_level(at));
    if distance(rgb, grey) < distance(rgb, cube) { 232 + at } else { 16 + 36 * r + 6 * g + b }
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let part = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    part(a.0, b.0) + part(a.1, b.1) + part(a.2, b.2)
}
