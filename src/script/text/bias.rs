//! `((text:bias))` and `((!text:bias))`: words the model should use more or less often.

use super::delimiters;

/// Longest mark that is parsed, in bytes.
const MAX_LENGTH: usize = 1024;

/// The request of one mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Bias {
    /// The text whose likelihood is changed.
    pub text: String,
    pub by: BiasAmount,
}

/// How much more or less likely the text becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BiasAmount {
    /// Added to the logits of the text's tokens.
    Add(f64),
    /// `20%` is 0.2: 1.2 times as likely.
    Share(f64),
    /// The text must not appear at all.
    Never,
}

impl BiasAmount {
    /// The number for `logit_bias`, within its limits of ±100.
    pub fn logit(self) -> f64 {
        let bias = match self {
            BiasAmount::Add(bias) => bias,
            BiasAmount::Share(share) => (1.0 + share).max(f64::MIN_POSITIVE).ln(),
            BiasAmount::Never => -100.0,
        };
        bias.clamp(-100.0, 100.0)
    }
}

/// Parses the mark after its `((`: the bias, whether the text is removed from the prompt, and the
/// text after `))`.
pub(super) fn read(text: &str) -> Option<(Bias, bool, &str)> {
    let end = text.find("))").filter(|end| *end <= MAX_LENGTH)?;
    let (inside, rest) = text.split_at(end);
    let (inside, removed) = match inside.strip_prefix('!') {
        Some(inside) => (inside, true),
        None => (inside, false),
    };
    let (word, amount) = inside.rsplit_once(':')?;
    let by = parse_amount(amount.trim())?;
    if word.is_empty() || word.contains(['\n', '(']) {
        return None;
    }
    let text = delimiters::unquote(word).unwrap_or_else(|| word.to_owned());
    Some((Bias { text, by }, removed, rest.strip_prefix("))")?))
}

fn parse_amount(text: &str) -> Option<BiasAmount> {
    let number = |text: &str| -> Option<f64> {
        let plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
        text.parse().ok().filter(|_| plain)
    };
    match text {
        "false" | "never" => Some(BiasAmount::Never),
        _ => match text.strip_suffix('%') {
            Some(share) => number(share).map(|share| BiasAmount::Share(share / 100.0)),
            None => number(text).map(BiasAmount::Add),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ISDK-110, 111: the forms of a bias.
    #[test]
    fn isdk_110_a_bias_is_a_number_a_share_or_never() {
        let bias = |text: &str, by| Bias { text: text.to_owned(), by };
        assert_eq!(
            read("happy:20%)) x").unwrap(),
            (bias("happy", BiasAmount::Share(0.2)), false, " x")
        );
        assert_eq!(read("!敏感词:false))").unwrap(), (bias("敏感词", BiasAmount::Never), true, ""));
        assert_eq!(read("a:b:-1.5))").unwrap(), (bias("a:b", BiasAmount::Add(-1.5)), false, ""));
        for other in ["x))", "x:y))", "x:1", "(f:1))", ":1))"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(BiasAmount::Add(1e9).logit(), 100.0);
        assert!(BiasAmount::Share(-1.0).logit() <= -100.0 + f64::EPSILON);
    }
}
