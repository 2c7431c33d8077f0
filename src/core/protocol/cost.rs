//! What a request costs by the prices of its model.

use serde::{Deserialize, Serialize};

use super::{Money, Usage};

/// The price of a million tokens of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenPrices {
    pub input: Money,
    pub output: Money,
    /// Input read from the provider's cache, and written to it.
    pub cached: Money,
    pub written: Money,
}

/// The prices of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    pub usual: TokenPrices,
    /// For a request with more tokens of input than this.
    pub long: Option<(u64, TokenPrices)>,
}

impl From<TokenPrices> for Prices {
    fn from(prices: TokenPrices) -> Prices {
        Prices { usual: prices, long: None }
    }
}

/// The cost of one request, rounded once to a millionth of a dollar.
pub fn cost(usage: Usage, prices: &Prices) -> Money {
    let of = match prices.long {
        Some((above, long)) if usage.input_tokens > above => long,
        _ => prices.usual,
    };
    let from_cache = usage.cached_tokens.saturating_add(usage.cache_write_tokens);
    let parts = [
        (usage.input_tokens.saturating_sub(from_cache), of.input),
        (usage.cached_tokens, of.cached),
        (usage.cache_write_tokens, of.written),
        (usage.output_tokens, of.output),
    ];
    let million = 1_000_000_u128;
    let sum: u128 = parts.iter().map(|(count, per)| u128::from(*count) * u128::from(per.0)).sum();
    Money(u64::try_from((sum + million / 2) / million).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        let of = |input, output, cached, written| TokenPrices {
            input: Money(input),
            output: Money(output),
            cached: Money(cached),
            written: Money(written),
        };
        Prices {
            usual: of(3_000_000, 15_000_000, 300_000, 3_750_000),
            long: Some((200_000, of(6_000_000, 22_500_000, 600_000, 7_500_000))),
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price_and_cached_ones_are_not_paid_twice() {
        let usage = Usage {
            cached_tokens: 80_000,
            cache_write_tokens: 10_000,
            ..Usage::counted(100_000, 2_000)
        };
        // 10,000 × 3 + 80,000 × 0.3 + 10,000 × 3.75 + 2,000 × 15, per million
        assert_eq!(cost(usage, &prices()), Money(30_000 + 24_000 + 37_500 + 30_000));
        assert_eq!(cost(Usage::default(), &prices()), Money(0));
    }

    #[test]
    fn a_long_request_has_its_own_price() {
        assert_eq!(cost(Usage::counted(200_000, 0), &prices()), Money(600_000));
        assert_eq!(cost(Usage::counted(200_001, 0), &prices()), Money(1_200_006));
    }

    #[test]
    fn a_request_is_rounded_once_and_never_overflows() {
        let cheap = Prices::from(TokenPrices { input: Money(100_000), ..TokenPrices::default() });
        assert_eq!(cost(Usage::counted(4, 0), &cheap), Money(0));
        assert_eq!(cost(Usage::counted(5, 0), &cheap), Money(1));
        assert_eq!(cost(Usage::counted(u64::MAX, u64::MAX), &prices()), Money(u64::MAX));
        let silly = Usage { cached_tokens: 9, ..Usage::counted(4, 0) };
        assert_eq!(cost(silly, &prices()), Money(3));
    }
}
