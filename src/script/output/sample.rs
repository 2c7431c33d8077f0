//! A value of the form that `output` describes, for a run without a model.

use serde_json::{Map, Value, json};

use super::schema;

/// Deepest nesting of a sample.
const MAX_DEPTH: usize = 8;

/// A value that follows a schema; a plain map without one.
pub fn sample(schema: Option<&Value>) -> Value {
    schema.map_or_else(|| json!({}), |schema| sample_at(&schema::normalize(schema), 0))
}

fn sample_at(schema: &Value, depth: usize) -> Value {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|it| it.first());
    if let Some(value) = schema.get("default").or(schema.get("const")).or(first("enum")) {
        return value.clone();
    }
    let kind = schema.get("type").and_then(Value::as_str).or_else(|| first("type")?.as_str());
    let properties = schema.get("properties").and_then(Value::as_object);
    match kind {
        Some("array") => match schema.get("items") {
            Some(items) if depth < MAX_DEPTH => json!([sample_at(items, depth + 1)]),
            _ => json!([]),
        },
        Some("number" | "integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(0)),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("string") => json!("text"),
        _ => {
            let fields = properties.into_iter().flatten().filter(|_| depth < MAX_DEPTH);
            let fields = fields.map(|(name, about)| (name.clone(), sample_at(about, depth + 1)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_follows_the_schema() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "number"}, "b": {"type": "array", "items": {"enum": ["x", "y"]}},
        }});
        assert_eq!(sample(Some(&schema)), json!({"a": 0, "b": ["x"]}));
        assert_eq!(sample(Some(&json!({"type": "boolean"}))), json!(true));
        assert_eq!(sample(None), json!({}));
    }
}
