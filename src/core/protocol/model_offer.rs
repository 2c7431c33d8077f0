//! A model as it is offered for a choice.

use serde::{Deserialize, Serialize};

use super::Money;
use crate::i18n::{LocalizedText, cli, common, model as phrases};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelOffer {
    /// As `/model` takes it.
    pub name: String,
    /// Who offers it; empty if that is clear.
    pub provider: String,
    /// Its context in tokens, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// What a million tokens cost: read, and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<(Money, Money)>,
}

impl From<&str> for ModelOffer {
    fn from(name: &str) -> ModelOffer {
        ModelOffer { name: name.to_owned(), ..ModelOffer::default() }
    }
}

impl ModelOffer {
    /// What is known of it, in one line.
    pub fn about(&self, is_in_use: bool) -> Option<LocalizedText> {
        let in_use = is_in_use.then(|| common::IN_USE.into());
        let provider = Some(self.provider.as_str()).filter(|name| !name.is_empty());
        let provider = provider.map(|name| phrases::OFFER_PROVIDER.with("name", name));
        let window = self.window.map(|tokens| phrases::OFFER_WINDOW.with("n", rounded(tokens)));
        let price = self.price.map(|(input, output)| {
            let price = common::TOKEN_COUNTS.with("input", input.to_string());
            price.with("output", output.to_string())
        });
        let parts = [in_use, provider, window, price].into_iter().flatten();
        parts.reduce(|a, b| cli::MODEL_AND.with("a", a).with("b", b))
    }
}

/// `8k`, `200k`, `1M`, as windows are usually named.
fn rounded(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 if tokens.is_multiple_of(1_024) => format!("{}k", tokens / 1_024),
        1_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ if tokens % 1_000_000 < 100_000 => format!("{}M", tokens / 1_000_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Lang;

    #[test]
    fn an_offer_shows_what_is_known_of_it() {
        let offer = ModelOffer {
            name: "m".into(),
            provider: "openai".into(),
            window: Some(200_000),
            price: Some((Money(3_000_000), Money(15_000_000))),
        };
        let text = |offer: &ModelOffer, used| {
            offer.about(used).map(|about| about.text(Lang::En)).unwrap_or_default()
        };
        assert_eq!(text(&offer, false), "openai, 200k, $3.00 in, $15.00 out");
        assert_eq!(text(&ModelOffer::from("m"), true), "in use");
        assert_eq!(text(&ModelOffer::from("m"), false), "");
    }

    #[test]
    fn windows_are_named_as_usual() {
        for (tokens, name) in [
            (512, "512"),
            (8_192, "8k"),
            (131_072, "128k"),
            (200_000, "200k"),
            (1_000_000, "1M"),
            (1_048_576, "1M"),
            (1_500_000, "1.5M"),
        ] {
            assert_eq!(rounded(tokens), name);
        }
    }
}
