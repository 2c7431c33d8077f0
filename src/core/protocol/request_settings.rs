//! What a profile adds to each request to its server.

use serde_json::{Map, Value};

use super::Params;
use crate::secret::Secret;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestSettings {
    /// Headers by name; `${key}` in a value is the key of the server.
    pub headers: Vec<(String, Secret)>,
    /// Fields of the body, by their names on the wire.
    pub extra_body: Map<String, Value>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// The longest answer, in tokens.
    pub max_output: Option<u32>,
    pub service_tier: Option<String>,
}

/// The place of the key in the value of a header.
pub const KEY_PLACE: &str = "${key}";

impl RequestSettings {
    /// Sets the parameters that nothing else has set, and keeps an answer below the longest.
    pub fn complete(&self, params: &mut Params) {
        params.temperature = params.temperature.or(self.temperature);
        params.top_p = params.top_p.or(self.top_p);
        if let Some(most) = self.max_output.filter(|_| !params.is_unlimited) {
            params.max_tokens = Some(params.max_tokens.map_or(most, |wanted| wanted.min(most)));
        }
        if let Some(tier) = &self.service_tier {
            let tier = || Value::from(tier.as_str());
            params.more.entry("service_tier").or_insert_with(tier);
        }
    }

    /// Adds the fields to a body; objects in both are joined.
    pub fn extend(&self, body: &mut Value) {
        if let Value::Object(fields) = body {
            join(fields, &self.extra_body);
        }
    }

    /// The words of its headers, any of which may be a secret.
    pub fn header_words(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().flat_map(|(name, value)| {
            value.expose().split_whitespace().map(move |word| (name.as_str(), word))
        })
    }
}

fn join(fields: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        match (fields.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => join(inner, value),
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_profile_completes_what_a_request_leaves_open() {
        let settings = RequestSettings {
            temperature: Some(0.2),
            max_output: Some(100),
            service_tier: Some("flex".into()),
            ..RequestSettings::default()
        };
        let mut params = Params { temperature: Some(1.0), ..Params::default() };
        settings.complete(&mut params);
        assert_eq!((params.temperature, params.max_tokens), (Some(1.0), Some(100)));
        assert_eq!(params.more["service_tier"], "flex");
        let mut unlimited = Params { is_unlimited: true, ..Params::default() };
        settings.complete(&mut unlimited);
        assert_eq!(unlimited.max_tokens, None);
    }

    #[test]
    fn fields_are_added_to_a_body_and_joined_with_what_is_there() {
        let extra_body = json!({ "a": { "c": 2 }, "top_k": 20 }).as_object().cloned().unwrap();
        let settings = RequestSettings { extra_body, ..RequestSettings::default() };
        let mut body = json!({ "a": { "b": 1 }, "model": "m" });
        settings.extend(&mut body);
        assert_eq!(body, json!({ "a": { "b": 1, "c": 2 }, "model": "m", "top_k": 20 }));
    }
}
