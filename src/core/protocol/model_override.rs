//! What the user says of a model, over what is known and what its server says.

use super::Prices;

/// `[models."PATTERN"]` in the settings, or a row of `prices.toml`; what is not set stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelOverride {
    /// The name of a model, with `*` for any text.
    pub pattern: String,
    pub window: Option<u64>,
    pub output: Option<u64>,
    pub tools: Option<bool>,
    pub images: Option<bool>,
    pub prices: Option<Prices>,
}
