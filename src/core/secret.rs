//! A secret in memory.

use std::fmt;

/// An API key. It is never shown, and can be read only through [`Secret::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(secret: impl Into<String>) -> Secret {
        Secret(secret.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The parts of a key that are secrets by themselves: those of credentials in JSON, or the whole.
pub fn secret_parts(key: &str) -> Vec<String> {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(key) {
        Ok(fields) => {
            let texts = fields.values().filter_map(|value| value.as_str());
            texts.filter(|text| text.len() >= MIN_PART).map(str::to_owned).collect()
        }
        Err(_) => vec![key.to_owned()],
    }
}

/// Shorter parts are names or versions.
const MIN_PART: usize = 16;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
