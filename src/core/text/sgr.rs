//! The colours that a program gives its output (SGR, `CSI … m`), reduced to a few meanings: a theme
//! decides what each looks like, so that they are readable on every background.
//!
//! Nothing of a sequence is ever passed on.

use std::borrow::Cow;
use std::ops::Range;

/// The colours that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramColor {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    /// White, and what is nearly white.
    Strong,
    /// Black and greys: on a terminal of another background they would be hard to see.
    Faint,
}

/// What a program asked for, in place of its colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramStyle {
    pub color: Option<ProgramColor>,
    pub is_bold: bool,
    pub is_italic: bool,
    pub is_underlined: bool,
}

/// What the sequences so far have set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SgrState {
    ink: Option<ProgramColor>,
    ground: Option<ProgramColor>,
    is_faint: bool,
    style: ProgramStyle,
}

/// Numbers of one sequence that are read.
const NUMBERS: usize = 64;
/// Changes of style in one text that are kept; what follows them is plain.
const CHANGES: usize = 4_096;

/// The eight names of a terminal, which the bright ones share.
const NAMED: [ProgramColor; 8] = [
    ProgramColor::Faint,
    ProgramColor::Red,
    ProgramColor::Green,
    ProgramColor::Yellow,
    ProgramColor::Blue,
    ProgramColor::Magenta,
    ProgramColor::Cyan,
    ProgramColor::Strong,
];

/// Where each hue ends, in degrees.
const HUES: &[(u16, ProgramColor)] = &[
    (20, ProgramColor::Red),
    (70, ProgramColor::Yellow),
    (165, ProgramColor::Green),
    (200, ProgramColor::Cyan),
    (260, ProgramColor::Blue),
    (340, ProgramColor::Magenta),
    (360, ProgramColor::Red),
];

impl ProgramColor {
    fn is_hue(self) -> bool {
        !matches!(self, ProgramColor::Strong | ProgramColor::Faint)
    }

    /// One of the sixteen names.
    fn named(index: u16) -> ProgramColor {
        match index {
            // Bright black is the grey of most programs.
            8 => ProgramColor::Faint,
            _ => NAMED.get(usize::from(index % 8)).copied().unwrap_or(ProgramColor::Strong),
        }
    }

    /// One of the 256.
    fn indexed(index: u16) -> Option<ProgramColor> {
        let level = |step: u16| if step == 0 { 0 } else { 55 + 40 * step };
        match index {
            0..16 => Some(ProgramColor::named(index)),
            16..232 => {
                let cube = index - 16;
                Some(ProgramColor::nearest([
                    level(cube / 36),
                    level(cube / 6 % 6),
                    level(cube % 6),
                ]))
            }
            232..256 => Some(ProgramColor::nearest([8 + 10 * (index - 232); 3])),
            _ => None,
        }
    }

    /// The nearest in hue; greys by their brightness.
    fn nearest(rgb: [u16; 3]) -> ProgramColor {
        let [red, green, blue] = rgb.map(|part| i32::from(part.min(255)));
        let most = red.max(green).max(blue);
        let least = red.min(green).min(blue);

        let chroma = most - least;
        if chroma * 5 <= most {
            return if most >= 170 { ProgramColor::Strong } else { ProgramColor::Faint };
        }
        let sector = |first: i32, second: i32, from: i32| from + 60 * (first - second) / chroma;
        let degrees = match most {
            _ if most == red => sector(green, blue, 360),
            _ if most == green => sector(blue, red, 120),
            _ => sector(red, green, 240),
        };
        let degrees = u16::try_from(degrees.rem_euclid(360)).unwrap_or(0);
        let found = HUES.iter().find(|(end, _)| degrees < *end);
        found.map_or(ProgramColor::Red, |(_, color)| *color)
    }
}

impl SgrState {
    /// Reads the numbers of one sequence.
    fn apply(&mut self, numbers: &str) {
        let mut numbers = numbers.split(';').take(NUMBERS);
        while let Some(number) = numbers.next() {
            let (code, rest) = match number.split_once(':') {
                Some((code, rest)) => (code, Some(rest)),
                None => (number, None),
            };
            // An empty number is 0.
            let Ok(code) = (if code.is_empty() { Ok(0) } else { code.parse::<u16>() }) else {
                continue;
            };
            let mut extended = || match rest {
                Some(rest) => color_with_colons(rest),
                None => color_with_semicolons(&mut numbers),
            };
            match code {
                0 => *self = SgrState::default(),
                1 => self.style.is_bold = true,
                2 => self.is_faint = true,
                3 => self.style.is_italic = true,
                4 => self.style.is_underlined = rest != Some("0"),
                21 => self.style.is_underlined = true,
                22 => (self.style.is_bold, self.is_faint) = (false, false),
                23 => self.style.is_italic = false,
                24 => self.style.is_underlined = false,
                30..=37 => self.ink = Some(ProgramColor::named(code - 30)),
                38 => self.ink = extended(),
                39 => self.ink = None,
                40..=47 => self.ground = Some(ProgramColor::named(code - 40)),
                48 => self.ground = extended(),
                49 => self.ground = None,
                90..=97 => self.ink = Some(ProgramColor::named(code - 82)),
                100..=107 => self.ground = Some(ProgramColor::named(code - 92)),
                _ => {}
            }
        }
    }

    /// Of a label such as black on green only the green is kept.
    fn style(self) -> ProgramStyle {
        let is_hue = |color: &ProgramColor| color.is_hue();
        let hue = self.ink.filter(is_hue).or(self.ground.filter(is_hue));
        let faint = self.is_faint.then_some(ProgramColor::Faint);
        ProgramStyle { color: hue.or(self.ink).or(faint), ..self.style }
    }
}

/// What follows 38 or 48: `5;n`, or `2;red;green;blue`.
fn color_with_semicolons<'a>(numbers: &mut impl Iterator<Item = &'a str>) -> Option<ProgramColor> {
    let mut next = || numbers.next()?.parse::<u16>().ok();
    match next()? {
        5 => ProgramColor::indexed(next()?),
        2 => Some(ProgramColor::nearest([next()?, next()?, next()?])),
        _ => None,
    }
}

/// The same in one number: `5:n`, `2:red:green:blue`, `2:space:red:green:blue`.
fn color_with_colons(text: &str) -> Option<ProgramColor> {
    let parts: Vec<&str> = text.split(':').take(8).collect();
    let number = |at: usize| parts.get(at).and_then(|part| part.parse::<u16>().ok());
    match number(0)? {
        5 => ProgramColor::indexed(number(1)?),
        2 => {
            let from = if parts.len() > 4 { 2 } else { 1 };
            Some(ProgramColor::nearest([number(from)?, number(from + 1)?, number(from + 2)?]))
        }
        _ => None,
    }
}

/// The numbers of `ESC [ numbers m`; `None` for every other sequence.
fn numbers(sequence: &str) -> Option<&str> {
    let inner = sequence.strip_prefix("\x1b[")?.strip_suffix('m')?;
    inner.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':')).then_some(inner)
}

/// The styles of a text, by where each begins.
#[derive(Clone, Debug, Default)]
pub struct StyleRuns {
    starts: Vec<(usize, ProgramStyle)>,
    state: SgrState,
}

impl StyleRuns {
    /// A whole sequence of a terminal came at this byte of the text.
    pub fn apply(&mut self, sequence: &str, at: usize) {
        if let Some(numbers) = numbers(sequence) {
            self.state.apply(numbers);
            self.set(at, self.state.style());
        }
    }

    /// The text from this byte on has this style.
    pub fn set(&mut self, at: usize, style: ProgramStyle) {
        while self.starts.last().is_some_and(|(start, _)| *start >= at) {
            self.starts.pop();
        }
        let last = self.starts.last().map(|(_, style)| *style).unwrap_or_default();
        if last != style && self.starts.len() < CHANGES {
            let is_last = self.starts.len() + 1 == CHANGES;
            self.starts.push((at, if is_last { ProgramStyle::default() } else { style }));
        }
    }

    /// The text was cut off here; what is written next has the style that holds now.
    pub fn truncate(&mut self, at: usize) {
        self.set(at, self.state.style());
    }

    /// So many bytes at the start of the text are gone.
    pub fn drop_front(&mut self, bytes: usize) {
        let gone = self.starts.partition_point(|(start, _)| *start <= bytes);
        let style = self.starts.drain(..gone).next_back().map(|(_, style)| style);
        for (start, _) in &mut self.starts {
            *start -= bytes;
        }
        if let Some(style) = style.filter(|style| *style != ProgramStyle::default()) {
            self.starts.insert(0, (0, style));
        }
    }

    /// The pieces of a range of the text, each in one style.
    pub fn pieces(&self, range: Range<usize>) -> Vec<(Range<usize>, ProgramStyle)> {
        let next = self.starts.partition_point(|(start, _)| *start <= range.start);
        let mut style = next.checked_sub(1).and_then(|at| self.starts.get(at)).map(|run| run.1);
        let mut from = range.start;
        let mut pieces = Vec::new();
        for (start, other) in self.starts.iter().skip(next) {
            if *start >= range.end {
                break;
            }
            pieces.push((from..*start, style.unwrap_or_default()));
            (from, style) = (*start, Some(*other));
        }
        if from < range.end {
            pieces.push((from..range.end, style.unwrap_or_default()));
        }
        pieces
    }
}

/// The text without the sequences that colour it, and `ESC [ K`, which comes with them; everything
/// else stays as it is.
pub fn without_colors(text: &str) -> Cow<'_, str> {
    if !text.contains("\x1b[") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let (before, sequence) = rest.split_at(at);
        out.push_str(before);
        let inner = sequence.get(2..).unwrap_or_default();
        let length = inner.bytes().take_while(|byte| matches!(byte, b'0'..=b';')).count();
        rest = match inner.get(length..).and_then(|rest| rest.strip_prefix(['m', 'K'])) {
            Some(rest) => rest,
            None => {
                out.push_str("\x1b[");
                inner
            }
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(sequences: &[&str]) -> ProgramStyle {
        let mut runs = StyleRuns::default();
        for sequence in sequences {
            runs.apply(sequence, 0);
        }
        runs.state.style()
    }

    fn color(sequence: &str) -> Option<ProgramColor> {
        after(&[sequence]).color
    }

    #[test]
    fn each_form_of_a_colour_is_reduced_to_the_nearest_meaning() {
        use ProgramColor::{Blue, Cyan, Faint, Green, Magenta, Red, Strong, Yellow};
        let cases = [
            ("\x1b[31m", Some(Red)),
            ("\x1b[92m", Some(Green)),
            ("\x1b[90m", Some(Faint)),
            ("\x1b[30m", Some(Faint)),
            ("\x1b[97m", Some(Strong)),
            ("\x1b[38;5;9m", Some(Red)),
            ("\x1b[38;5;208m", Some(Yellow)),
            ("\x1b[38;5;21m", Some(Blue)),
            ("\x1b[38;5;244m", Some(Faint)),
            ("\x1b[38;5;255m", Some(Strong)),
            ("\x1b[38;2;255;0;128m", Some(Magenta)),
            ("\x1b[38:2::0:200:190m", Some(Cyan)),
            ("\x1b[38:2:0:0:200m", Some(Blue)),
            ("\x1b[38:5:40m", Some(Green)),
            ("\x1b[38;2;0;0;0m", Some(Faint)),
            ("\x1b[2m", Some(Faint)),
            // A label.
            ("\x1b[30;42m", Some(Green)),
            ("\x1b[7;31m", Some(Red)),
            ("\x1b[100m", None),
            // Nothing that it could mean.
            ("\x1b[38;5m", None),
            ("\x1b[38;5;999m", None),
            ("\x1b[38;9m", None),
            ("\x1b[>4;2m", None),
            ("\x1b[31H", None),
            ("\x1b]31m", None),
            ("\x1b[99999999999m", None),
        ];
        for (sequence, meant) in cases {
            assert_eq!(color(sequence), meant, "{sequence:?}");
        }
    }

    #[test]
    fn what_is_set_stays_until_it_is_taken_back() {
        let style = after(&["\x1b[1;3m", "\x1b[4:3m", "\x1b[33m"]);
        assert!(style.is_bold && style.is_italic && style.is_underlined);
        assert_eq!(style.color, Some(ProgramColor::Yellow));
        let less = after(&["\x1b[1;3;4;33m", "\x1b[22;23;24;39m"]);
        assert_eq!(less, ProgramStyle::default());
        assert_eq!(after(&["\x1b[1;31m", "\x1b[m"]), ProgramStyle::default());
        assert!(!after(&["\x1b[4m", "\x1b[4:0m"]).is_underlined);
    }

    #[test]
    fn the_pieces_of_a_text_follow_it_when_it_is_cut_at_either_end() {
        let mut runs = StyleRuns::default();
        let red = ProgramStyle { color: Some(ProgramColor::Red), ..ProgramStyle::default() };
        let plain = ProgramStyle::default();
        runs.apply("\x1b[31m", 4);
        runs.apply("\x1b[0m", 8);
        assert_eq!(runs.pieces(0..10), [(0..4, plain), (4..8, red), (8..10, plain)]);
        assert_eq!(runs.pieces(5..7), [(5..7, red)]);
        assert_eq!(runs.pieces(3..3), []);
        runs.drop_front(6);
        assert_eq!(runs.pieces(0..4), [(0..2, red), (2..4, plain)]);
        runs.apply("\x1b[31m", 4);
        runs.truncate(1);
        assert_eq!(runs.pieces(0..4), [(0..4, red)]);
    }

    #[test]
    fn the_changes_of_a_text_are_bounded_and_the_rest_is_plain() {
        let mut runs = StyleRuns::default();
        for at in 0..3 * CHANGES {
            runs.apply(if at % 2 == 0 { "\x1b[31m" } else { "\x1b[32m" }, at);
        }
        assert_eq!(runs.starts.len(), CHANGES);
        let end = runs.pieces(3 * CHANGES - 1..3 * CHANGES);
        assert_eq!(end.first().map(|piece| piece.1), Some(ProgramStyle::default()));
        // As are the numbers of one sequence.
        let long = format!("\x1b[{}31m", "1;".repeat(10_000));
        assert_eq!(color(&long), None);
    }

    #[test]
    fn only_colours_are_taken_out_of_a_text() {
        let cases = [
            ("plain", "plain"),
            ("a\x1b[31mb\x1b[0mc\x1b[m", "abc"),
            ("a\x1b[38:2::1:2:3mb", "ab"),
            ("\x1b[01;31m\x1b[Kkey\x1b[m\x1b[K=1", "key=1"),
            ("a\x1b[2Jb\x1b[1", "a\x1b[2Jb\x1b[1"),
            ("\x1b[\x1b[1mé", "\x1b[é"),
        ];
        for (text, left) in cases {
            assert_eq!(without_colors(text), left, "{text:?}");
        }
    }
}
