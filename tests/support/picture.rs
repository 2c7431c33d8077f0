//! Draws a frame as an SVG picture, cell by cell.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use ratatui::text::Span;

/// A cell in pixels, and the margin around the frame.
const CELL: (usize, usize) = (9, 20);
const MARGIN: usize = 16;
/// The terminal's own colours.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    pub ground: &'static str,
    pub ink: &'static str,
}

pub const DARK: Terminal = Terminal { ground: "#17191e", ink: "#d8dbe2" };
pub const LIGHT: Terminal = Terminal { ground: "#ffffff", ink: "#24292f" };

/// The sixteen colours with names, as a terminal draws them.
const NAMED: [(Color, &str); 16] = [
    (Color::Black, "#000000"),
    (Color::Red, "#cd3131"),
    (Color::Green, "#0dbc79"),
    (Color::Yellow, "#e5e510"),
    (Color::Blue, "#2472c8"),
    (Color::Magenta, "#bc3fbc"),
    (Color::Cyan, "#11a8cd"),
    (Color::Gray, "#c5c5c5"),
    (Color::DarkGray, "#767676"),
    (Color::LightRed, "#f14c4c"),
    (Color::LightGreen, "#23d18b"),
    (Color::LightYellow, "#f5f543"),
    (Color::LightBlue, "#3b8eea"),
    (Color::LightMagenta, "#d670d6"),
    (Color::LightCyan, "#29b8db"),
    (Color::White, "#ffffff"),
];
const FONT: &str =
    "'JetBrains Mono','DejaVu Sans Mono','Noto Sans Mono CJK SC',Menlo,Consolas,monospace";

pub fn svg(frame: &Buffer, terminal: Terminal) -> String {
    let (columns, rows) = (usize::from(frame.area.width), usize::from(frame.area.height));
    let (width, height) = (columns * CELL.0 + 2 * MARGIN, rows * CELL.1 + 2 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"{}\"/>\n<g font-family=\"{FONT}\" font-size=\"15\">\n",
        terminal.ground
    );
    // Grounds first: the next one would cover the end of a text that a font makes a little wider.
    let mut texts = String::new();
    for y in 0..frame.area.height {
        let mut x = 0;
        while x < frame.area.width {
            let end = run_end(frame, x, y);
            draw_run((&mut out, &mut texts), frame, (x, end), y, terminal);
            x = end;
        }
    }
    out + &texts + "</g>\n</svg>\n"
}

/// Where the cells of one style end. A wide character is a run of its own, and so is each of
/// braille dots.
fn run_end(frame: &Buffer, from: u16, y: u16) -> u16 {
    let first = &frame[(from, y)];
    let alone = |cell: &Cell| cells(cell) != 1 || dots(cell).is_some();
    if alone(first) {
        return (from + cells(first).max(1)).min(frame.area.width);
    }
    let same = |x: &u16| {
        let cell = &frame[(*x, y)];
        !alone(cell) && cell.style() == first.style()
    };
    (from + 1..frame.area.width).take_while(same).last().map_or(from + 1, |last| last + 1)
}

fn draw_run(
    (grounds, texts): (&mut String, &mut String),
    frame: &Buffer,
    (from, end): (u16, u16),
    y: u16,
    terminal: Terminal,
) {
    let cell = &frame[(from, y)];
    let at = |x: u16| MARGIN + usize::from(x) * CELL.0;
    let top = MARGIN + usize::from(y) * CELL.1;
    let width = usize::from(end - from) * CELL.0;
    let (mut ink, mut ground) = (hex(cell.fg, terminal.ink), hex(cell.bg, terminal.ground));
    if cell.modifier.contains(Modifier::REVERSED) {
        (ink, ground) = (ground, ink);
    }
    let left = at(from);
    if ground != terminal.ground {
        let height = CELL.1;
        let _ = writeln!(
            grounds,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{ground}\" \
             shape-rendering=\"crispEdges\"/>"
        );
    }
    if let Some(dots) = dots(cell) {
        for (column, row) in dots {
            let (x, y) = (left as f64 + 2.5 + 4.0 * column, top as f64 + 2.5 + 5.0 * row);
            let _ = writeln!(texts, "<circle cx=\"{x}\" cy=\"{y}\" r=\"1.4\" fill=\"{ink}\"/>");
        }
        return;
    }
    let text: String = (from..end).map(|x| frame[(x, y)].symbol()).collect();
    if text.trim().is_empty() {
        return;
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let weight = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let slant =
        if cell.modifier.contains(Modifier::ITALIC) { " font-style=\"italic\"" } else { "" };
    let base = top + 15;
    let _ = writeln!(
        texts,
        "<text x=\"{left}\" y=\"{base}\" textLength=\"{width}\" xml:space=\"preserve\" \
         fill=\"{ink}\"{weight}{slant}>{text}</text>"
    );
}

fn cells(cell: &Cell) -> u16 {
    Span::raw(cell.symbol()).width() as u16
}

/// The columns and rows of the dots of a braille character.
fn dots(cell: &Cell) -> Option<Vec<(f64, f64)>> {
    const BITS: [(u32, f64, f64); 8] = [
        (0x01, 0.0, 0.0),
        (0x02, 0.0, 1.0),
        (0x04, 0.0, 2.0),
        (0x40, 0.0, 3.0),
        (0x08, 1.0, 0.0),
        (0x10, 1.0, 1.0),
        (0x20, 1.0, 2.0),
        (0x80, 1.0, 3.0),
    ];
    let c = cell.symbol().chars().next()?;
    let bits = u32::from(c).checked_sub(0x2800).filter(|bits| (1..256).contains(bits))?;
    let lit = BITS.iter().filter(|(bit, ..)| bits & bit != 0);
    Some(lit.map(|(_, column, row)| (*column, *row)).collect())
}

fn hex(color: Color, usual: &str) -> String {
    match color {
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        named => {
            let known = NAMED.iter().find(|(known, _)| *known == named);
            known.map_or(usual, |(_, hex)| hex).to_owned()
        }
    }
}
