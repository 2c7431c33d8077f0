//! Formats durations, times and counts for display.

use crate::Millis;
use avocet_core::i18n::{LocalizedText, screen};

/// `0.4 s`, `12 s`, `3 m 5 s`, `2 h 1 m`.
pub(super) fn duration_text(ms: u64) -> LocalizedText {
    let seconds = ms / 1000;
    match seconds {
        _ if ms < 50 => screen::TIME_NONE.into(),
        0..10 => {
            let tenths = (ms + 50) / 100;
            match tenths % 10 {
                0 => screen::SECONDS.with("s", tenths / 10),
                tenth => screen::SECONDS.with("s", format!("{}.{tenth}", tenths / 10)),
            }
        }
        10..60 => screen::SECONDS.with("s", seconds),
        60..3600 => screen::TIME_MINUTES.with("m", seconds / 60).with("s", seconds % 60),
        _ => screen::TIME_HOURS.with("h", seconds / 3600).with("m", seconds / 60 % 60),
    }
}

/// When something arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrivalTime {
    /// Since the screen began.
    SinceStart(Millis),
    /// Earlier, as a wall-clock time in milliseconds since 1970.
    WallClock(u64),
    Unknown,
}

impl Default for ArrivalTime {
    fn default() -> ArrivalTime {
        ArrivalTime::SinceStart(0)
    }
}

impl ArrivalTime {
    /// The wall-clock time; `began` is that of the screen's begin.
    pub fn wall_clock(self, began: Millis) -> Option<u64> {
        match self {
            ArrivalTime::SinceStart(at) => Some(began + at),
            ArrivalTime::WallClock(at) => Some(at),
            ArrivalTime::Unknown => None,
        }
    }
}

const DAY: u64 = 24 * 3_600_000;

pub(super) fn same_day(one: u64, other: u64) -> bool {
    one / DAY == other / DAY
}

/// `11-22 14:03`, from milliseconds since 1970.
pub(super) fn date_and_time(ms: u64) -> String {
    let (month, day) = month_and_day(ms / DAY);
    format!("{month:02}-{day:02} {}", time_of_day(ms))
}

/// The month and the day, from days since 1970.
fn month_and_day(mut days: u64) -> (usize, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (month, length) in lengths.into_iter().enumerate() {
        if days < length {
            return (month + 1, days + 1);
        }
        days -= length;
    }
    (12, 31)
}

/// `14:03`, from milliseconds since a midnight.
pub(super) fn time_of_day(ms: u64) -> String {
    let minutes = ms / 60_000;
    format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60)
}

/// `1,234,567`.
pub(super) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    #[test]
    fn a_duration_reads_naturally() {
        let cases = [
            (0, "<0.1 s"),
            (50, "0.1 s"),
            (349, "0.3 s"),
            (9_960, "10 s"),
            (59_999, "59 s"),
            (72_000, "1 m 12 s"),
            (7_260_000, "2 h 1 m"),
        ];
        for (ms, expected) in cases {
            assert_eq!(duration_text(ms).text(Lang::En), expected);
        }
        assert_eq!(duration_text(72_000).text(Lang::Zh), "1 分 12 秒");
    }

    #[test]
    fn the_time_of_day_wraps_at_midnight() {
        let day = 24 * 3_600_000;
        let cases = [(0, "00:00"), (50_639_999, "14:03"), (day - 1, "23:59"), (day, "00:00")];
        for (ms, expected) in cases {
            assert_eq!(time_of_day(ms), expected);
        }
    }

    #[test]
    fn a_day_is_shown_as_month_and_day() {
        let cases = [
            (0, "01-01 00:00"),
            (951_782_400_000, "02-29 00:00"),
            (951_868_800_000, "03-01 00:00"),
            (1_795_314_180_000, "11-22 02:23"),
            (1_798_761_599_000, "12-31 23:59"),
        ];
        for (ms, expected) in cases {
            assert_eq!(date_and_time(ms), expected);
        }
    }

    #[test]
    fn a_large_number_is_grouped() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(group_digits(number), expected);
        }
    }
}
