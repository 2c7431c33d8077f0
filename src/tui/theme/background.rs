//! Detects whether the terminal's background is dark or light: guessed from `COLORFGBG`, then from
//! the terminal's answer to OSC 11.
//!
//! The answer arrives among the keys, sooner or later or never; `input` separates it from them.

/// The background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    #[default]
    Dark,
    Light,
}

/// The start of every answer after its `ESC ]`.
const HEAD: &str = "11;rgb:";

impl Background {
    /// OSC 11. A terminal that does not know it ignores it; the answer arrives among the keys.
    pub const QUERY: &str = "\x1b]11;?\x1b\\";

    /// Parses `COLORFGBG`, such as `15;0`: the last number is the background.
    pub fn from_colorfgbg(value: &str) -> Option<Background> {
        let last = value.rsplit(';').next()?.trim();
        match last.parse::<u8>().ok()? {
            7 | 9..=15 => Some(Background::Light),
            0..=6 | 8 => Some(Background::Dark),
            _ => None,
        }
    }

    /// The theme that `auto` chooses for it.
    pub fn theme_name(self) -> &'static str {
        match self {
            Background::Dark => "dark",
            Background::Light => "light",
        }
    }

    /// `11;rgb:1e1e/1e1e/1e1e`: each part has one to four digits.
    pub fn from_osc_reply(text: &str) -> Option<Background> {
        let mut parts = text.strip_prefix(HEAD)?.split('/').map(part);
        let red = parts.next()??;
        let green = parts.next()??;
        let blue = parts.next()??;

        // The perceived brightness: green counts most, blue least.
        let bright = 0.299 * red + 0.587 * green + 0.114 * blue;
        Some(if bright > 0.5 { Background::Light } else { Background::Dark })
    }
}

/// A colour component, from 0 to 1.
fn part(digits: &str) -> Option<f64> {
    let most =
        16_u32.checked_pow(u32::try_from(digits.len()).ok().filter(|n| (1..=4).contains(n))?)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some(f64::from(value) / f64::from(most - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_gives_the_colour_of_the_background() {
        let cases = [
            ("11;rgb:1e1e/1e1e/1e1e", Some(Background::Dark)),
            ("11;rgb:ffff/ffff/ffff", Some(Background::Light)),
            ("11;rgb:f/f/e", Some(Background::Light)),
            ("11;rgb:zz", None),
            ("11;rgb:1e1e", None),
            ("10;rgb:ffff/ffff/ffff", None),
            ("52;c", None),
        ];
        for (answer, ground) in cases {
            assert_eq!(Background::from_osc_reply(answer), ground, "{answer}");
        }
    }

    #[test]
    fn the_variable_has_the_background_last() {
        let (dark, light) = (Some(Background::Dark), Some(Background::Light));
        let cases =
            [("15;0", dark), ("0;15", light), ("0;default;15", light), ("12;8", dark), ("x", None)];
        for (value, ground) in cases {
            assert_eq!(Background::from_colorfgbg(value), ground, "{value}");
        }
    }
}
