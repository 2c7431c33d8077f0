//! Measures text: its bytes, and an estimate of its tokens. It is additive, so parts can be
//! measured alone.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use avocet_core::text::estimated_tokens;

/// An amount of room, used or free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextSize {
    pub bytes: usize,
    /// Estimated.
    pub tokens: usize,
}

impl ContextSize {
    pub fn measure(text: &str) -> ContextSize {
        ContextSize { bytes: text.len(), tokens: estimated_tokens(text) }
    }

    pub fn fits(self, size: ContextSize) -> bool {
        self.bytes <= size.bytes && self.tokens <= size.tokens
    }

    /// What remains of this room without `taken`; `None` if it does not fit.
    pub fn checked_sub(self, size: ContextSize) -> Option<ContextSize> {
        let bytes = self.bytes.checked_sub(size.bytes)?;
        let tokens = self.tokens.checked_sub(size.tokens)?;
        Some(ContextSize { bytes, tokens })
    }

    /// The same, but at least zero.
    #[must_use]
    pub fn saturating_sub(self, size: ContextSize) -> ContextSize {
        ContextSize {
            bytes: self.bytes.saturating_sub(size.bytes),
            tokens: self.tokens.saturating_sub(size.tokens),
        }
    }

    /// One of `of` equal parts.
    #[must_use]
    pub fn fraction(self, of: usize) -> ContextSize {
        ContextSize { bytes: self.bytes / of.max(1), tokens: self.tokens / of.max(1) }
    }

    /// Its share of a room in per cent, by the measure of which there is less.
    pub fn percent_of(self, size: ContextSize) -> usize {
        let share = |part: usize, whole: usize| part.saturating_mul(100) / whole.max(1);
        share(self.bytes, size.bytes).max(share(self.tokens, size.tokens))
    }

    /// The smaller of each.
    #[must_use]
    pub fn component_min(self, size: ContextSize) -> ContextSize {
        ContextSize { bytes: self.bytes.min(size.bytes), tokens: self.tokens.min(size.tokens) }
    }
}

impl Add for ContextSize {
    type Output = ContextSize;

    fn add(self, size: ContextSize) -> ContextSize {
        ContextSize { bytes: self.bytes + size.bytes, tokens: self.tokens + size.tokens }
    }
}

impl AddAssign for ContextSize {
    fn add_assign(&mut self, size: ContextSize) {
        *self = *self + size;
    }
}

/// The text cut to fit by `cut`, which takes it and a number of bytes.
pub fn cut_to_fit(text: &str, size: ContextSize, cut: impl Fn(&str, usize) -> String) -> String {
    let mut bytes = size.bytes.min(text.len());
    loop {
        let short = cut(text, bytes);
        let tokens = ContextSize::measure(&short).tokens;
        if tokens <= size.tokens || bytes == 0 {
            return short;
        }
        let wanted = bytes.saturating_mul(size.tokens) / tokens.max(1);
        bytes = wanted.min(bytes - bytes / 16 - 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use avocet_core::text::cut_middle;

    #[test]
    fn a_chinese_character_counts_as_a_token_and_four_letters_do() {
        assert_eq!(ContextSize::measure("上下文管理").tokens, 5);
        assert_eq!(ContextSize::measure("word word word w").tokens, 4);
        assert_eq!(ContextSize::measure("").tokens, 0);
        assert!(ContextSize::measure("{}();").tokens >= 2, "code costs more than prose");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]
        #[test]
        fn any_text_can_be_made_to_fit(text in "[a-z 你好é😀\n]{0,400}", bytes in 0usize..600, tokens in 0usize..200) {
            let room = ContextSize { bytes, tokens };
            let short = cut_to_fit(&text, room, cut_middle);
            prop_assert!(ContextSize::measure(&short).fits(room), "{short:?}");
        }

        #[test]
        fn the_parts_of_a_text_are_no_smaller_than_the_whole(a in "\\PC{0,40}", b in "\\PC{0,40}") {
            let whole = ContextSize::measure(&format!("{a}{b}"));
            let parts = ContextSize::measure(&a) + ContextSize::measure(&b);
            prop_assert!(whole.tokens <= parts.tokens && whole.bytes == parts.bytes);
        }
    }
}
