//! Parses JSON text strictly: no duplicate keys, nothing after the object, no nesting beyond the
//! limit. Knows nothing of replies.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::i18n::{LocalizedText, protocol as phrases};

/// Deepest nesting of a reply.
pub(super) const MAX_DEPTH: usize = 64;

/// Why a text is not one JSON object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReplyError {
    /// Not JSON, or an array, a string or the like.
    NotAnObject,
    /// A key is duplicated in the object at `path`.
    DuplicateKey {
        path: String,
        key: String,
    },
    TooDeep,
}

impl ReplyError {
    /// True if the text is JSON as such, so that later attempts cannot do better.
    pub(super) fn is_final(&self) -> bool {
        match self {
            ReplyError::DuplicateKey { .. } | ReplyError::TooDeep => true,
            ReplyError::NotAnObject => false,
        }
    }

    pub(super) fn localized(&self) -> LocalizedText {
        match self {
            ReplyError::NotAnObject => phrases::NO_OBJECT.into(),
            ReplyError::DuplicateKey { path, key } => phrases::TWICE.with("field", join(path, key)),
            ReplyError::TooDeep => phrases::TOO_DEEP.with("most", MAX_DEPTH),
        }
    }
}

/// The text as one JSON object.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, ReplyError> {
    let mut found = None;
    let mut json = serde_json::Deserializer::from_str(text);
    let seed = Seed { path: String::new(), depth: 1, error: &mut found };
    let value = seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    match (value, found) {
        (Ok(Value::Object(object)), _) => Ok(object),
        (Err(_), Some(flaw)) => Err(flaw),
        (Ok(_), _) | (Err(_), None) => Err(ReplyError::NotAnObject),
    }
}

/// `data.commands[2]` and `args` make `data.commands[2].args`.
fn join(path: &str, key: &str) -> String {
    let key: String = key.chars().take(60).collect();
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Parses one value; problems beyond syntax are left in `flaw`.
struct Seed<'a> {
    path: String,
    depth: usize,
    error: &'a mut Option<ReplyError>,
}

impl Seed<'_> {
    fn child(&mut self, path: String) -> Seed<'_> {
        Seed { path, depth: self.depth + 1, error: self.error }
    }

    fn fail<E: serde::de::Error>(&mut self, error: ReplyError) -> E {
        *self.error = Some(error);
        E::custom("flaw")
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        if self.depth > MAX_DEPTH {
            return Err(self.fail(ReplyError::TooDeep));
        }
        let mut out = Vec::new();
        loop {
            let path = format!("{}[{}]", self.path, out.len());
            match items.next_element_seed(self.child(path))? {
                Some(item) => out.push(item),
                None => return Ok(Value::Array(out)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Value, A::Error> {
        if self.depth > MAX_DEPTH {
            return Err(self.fail(ReplyError::TooDeep));
        }
        let mut out = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if out.contains_key(&key) {
                let path = self.path.clone();
                return Err(self.fail(ReplyError::DuplicateKey { path, key }));
            }
            let path = join(&self.path, &key);
            let value = fields.next_value_seed(self.child(path))?;
            out.insert(key, value);
        }
        Ok(Value::Object(out))
    }
}
