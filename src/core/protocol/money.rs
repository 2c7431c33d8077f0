//! An amount of money, in whole millionths of a dollar, so that sums are exact.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// An amount in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub u64);

const DOLLAR: u64 = 1_000_000;

impl Money {
    /// From an amount in dollars; `None` if it is negative or not a number.
    pub fn from_dollars(dollars: f64) -> Option<Money> {
        let micros = (dollars * DOLLAR as f64).round();
        // Beyond this a float cannot count single millionths.
        (0.0..=9.0e15).contains(&micros).then_some(Money(micros as u64))
    }

    pub fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, money: Money) -> Money {
        Money(self.0.saturating_add(money.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(all: I) -> Money {
        all.fold(Money::default(), Add::add)
    }
}

/// `$12.30`; below a dollar with enough digits to show a small amount.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: usize = match self.0 {
            0 | DOLLAR.. => 2,
            100.. => 4,
            _ => 6,
        };
        let unit = 10_u64.pow(6 - u32::try_from(digits).unwrap_or(6));
        let rounded = self.0.saturating_add(unit / 2) / unit;
        let whole = DOLLAR / unit;
        write!(f, "${}.{:0digits$}", rounded / whole, rounded % whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_and_shown_as_people_write_it() {
        assert_eq!(Money::from_dollars(1.25), Some(Money(1_250_000)));
        assert_eq!(Money::from_dollars(0.0028), Some(Money(2_800)));
        assert_eq!(Money::from_dollars(-1.0), None);
        assert_eq!(Money::from_dollars(f64::NAN), None);
        for (micros, text) in [
            (0, "$0.00"),
            (42, "$0.000042"),
            (1_234, "$0.0012"),
            (999_999, "$1.0000"),
            (12_345_678, "$12.35"),
        ] {
            assert_eq!(Money(micros).to_string(), text);
        }
    }
}
