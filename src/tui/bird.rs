//! The avocet of the start page, drawn with braille dots: a braille character takes one column in
//! every terminal.

/// The columns and rows of [`BIRD`].
pub const SIZE: (u16, u16) = (28, 12);

#[rustfmt::skip]
pub const BIRD: [&str; 12] = [
    "⢀",
    "⠈⠳⣄⡀    ⢀⣀⣾⣻⣿⡄",
    "   ⠉⠛⠛⠛⠛⠉⠁⢹⣿⣿",
    "           ⣿⣿⣤⣤⣤⣤⣤⣤⣄⣀⡀",
    "          ⢀⣾⣿⣿⣿⣭⣍⣉⣙⡛⠻⠿⣷⣦⣀",
    "          ⢸⣿⣿⣿⣿⣿⡛⠛⠿⠿⠿⣶⣤⣍⣙⣷⣦⡀",
    "           ⠻⣿⣿⣿⣿⣿⣿⣿⣷⣶⣾⣿⠿⠛⠛⠛⠉",
    "             ⠉⠉⠉⢻⠛⠛⣟⠉⠁",
    "                ⢸  ⢹",
    "                ⣿  ⢸⠆",
    "                ⢹  ⢸",
    "              ⠠⠤⠼⠠⠤⠞",
];

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    #[test]
    fn the_bird_fits_its_size_in_every_terminal() {
        let widest = BIRD.iter().map(|row| row.width_cjk()).max();
        assert_eq!((widest, BIRD.len()), (Some(usize::from(SIZE.0)), usize::from(SIZE.1)));
        for row in BIRD {
            assert_eq!(row.width(), row.width_cjk(), "{row}");
        }
    }
}
