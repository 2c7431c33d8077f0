//! What a call of a model cost, in tokens.

use serde::{Deserialize, Serialize};

use super::Money;
use crate::i18n::{Localize, LocalizedText, common as phrases};

/// Token counts reported by the server, or estimated if it reports none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens of the requests, those read from a cache included.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Of the input: read from the provider's cache, and written to it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Of the output: spent on reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// By the prices of the model; nothing if they are not known.
    #[serde(default, rename = "cost_micros", skip_serializing_if = "Money::is_zero")]
    pub cost: Money,
    pub estimated: bool,
}

/// The counts, what came from the cache, and the cost if it is known.
impl Localize for Usage {
    fn localized(&self) -> LocalizedText {
        let counts = if self.estimated { phrases::TOKEN_ESTIMATE } else { phrases::TOKEN_COUNTS };
        let mut text = counts.with("input", self.input_tokens).with("output", self.output_tokens);
        if self.cached_tokens > 0 {
            text = phrases::TOKENS_CACHED.with("tokens", text).with("cached", self.cached_tokens);
        }
        if !self.cost.is_zero() {
            text = phrases::TOKENS_COST.with("tokens", text).with("cost", self.cost.to_string());
        }
        text
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// Counted by the server.
    pub fn counted(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    pub fn total_tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    #[must_use]
    pub fn plus(self, usage: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_add(usage.input_tokens),
            output_tokens: self.output_tokens.saturating_add(usage.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(usage.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(usage.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(usage.reasoning_tokens),
            cost: self.cost + usage.cost,
            estimated: self.estimated || usage.estimated,
        }
    }

    /// What is more than in an earlier count: all tokens, and the cost.
    #[must_use]
    pub fn since(self, usage: Usage) -> Usage {
        let tokens = self.total_tokens().saturating_sub(usage.total_tokens());
        let cost = Money(self.cost.0.saturating_sub(usage.cost.0));
        Usage { cost, ..Usage::counted(tokens, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Lang;

    #[test]
    fn a_count_shows_the_cache_and_the_cost_only_where_there_are_any() {
        let text = |usage: Usage| usage.localized().text(Lang::En);
        let counted = Usage::counted(1_000, 20);
        assert_eq!(text(counted), "1000 in, 20 out");
        let cached = Usage { cached_tokens: 900, cost: Money(12_300), ..counted };
        assert_eq!(text(cached), "1000 in, 20 out, 900 from the cache, $0.0123");
        assert_eq!(text(Usage { estimated: true, ..counted }), "about 1000 in, 20 out");
    }
}
