//! Formats values as text by JavaScript's rules, which scripts expect: a list is its items with
//! commas between them, a map is compact JSON, null is empty.

use serde_json::Value;

/// Deepest nesting of lists that is printed item by item.
const DEPTH: usize = 64;

/// The text of a value inside a template or a message.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, 0, &mut out);
    out
}

fn write_value(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Null => {}
        Value::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&self::number(number)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) if depth < DEPTH => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, depth + 1, out);
            }
        }
        Value::Array(_) | Value::Object(_) => out.push_str(&value.to_string()),
    }
}

/// A number as JavaScript prints it: `1.0` is `1`.
pub fn number(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => {
            let whole = float.trunc() == float && float.abs() < 1e21;
            if whole { format!("{float:.0}") } else { number.to_string() }
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_print_as_they_do_in_javascript() {
        assert_eq!(text(&json!([1, "a", null, [2, 3]])), "1,a,,2,3");
        assert_eq!(text(&json!({"a": [1, 2]})), r#"{"a":[1,2]}"#);
        assert_eq!(text(&json!(1.0)), "1");
        assert_eq!(text(&json!(-0.25)), "-0.25");
        assert_eq!(text(&json!(true)), "true");
        assert_eq!(text(&json!(null)), "");
    }
}
