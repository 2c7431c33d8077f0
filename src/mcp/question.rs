//! A question of a server to the user: read from its schema, and its answer written back.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use avocet_core::protocol::{FormField, FormFieldKind};

use super::clean;
use super::message::{McpQuestion, McpQuestionId};

const MAX_FIELDS: usize = 20;
const MAX_CHOICES: usize = 50;
const MAX_MESSAGE: usize = 2000;
const MAX_LINE: usize = 500;

/// Reads the parameters of `elicitation/create`.
pub(crate) fn question(id: McpQuestionId, params: &Value) -> McpQuestion {
    let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
    let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
    let required: Vec<&str> = array(schema.get("required")).filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let url = clean::member(params, "url", MAX_LINE);
    McpQuestion {
        id,
        message: clean::paragraph(message, MAX_MESSAGE),
        fields: properties
            .take(MAX_FIELDS)
            .filter_map(|(name, property)| field(name, property, required.contains(&name.as_str())))
            .collect(),
        url: (!url.is_empty()).then_some(url),
    }
}

/// The result of `elicitation/create`: the texts of the fields as the values that they mean.
pub(crate) fn answer(fields: &[FormField], values: Option<&BTreeMap<String, String>>) -> Value {
    let Some(values) = values else { return json!({"action": "decline"}) };
    let mut content = Map::new();
    for field in fields {
        match values.get(&field.name) {
            Some(text) if !text.is_empty() || field.required => {
                content.insert(field.name.clone(), value(field.kind, text));
            }
            Some(_) | None => {}
        }
    }
    json!({"action": "accept", "content": content})
}

/// A name or a choice is sent back as it is, so one that cannot be shown as it is is left out.
fn field(name: &str, property: &Value, required: bool) -> Option<FormField> {
    let kind = match property.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => FormFieldKind::Number,
        Some("boolean") => FormFieldKind::Confirm,
        Some("array") => FormFieldKind::List,
        _ => FormFieldKind::Text,
    };
    let named = |one: &Value| one.get("const").unwrap_or(one).as_str().map(str::to_owned);
    let choices = array(property.get("enum")).chain(array(property.get("oneOf")));
    let about = match clean::member(property, "description", MAX_LINE) {
        about if about.is_empty() => clean::member(property, "title", MAX_LINE),
        about => about,
    };
    let is_shown = |text: &String| clean::line(text, MAX_LINE) == *text;
    Some(FormField {
        name: Some(name.to_owned()).filter(is_shown)?,
        about,
        kind,
        choices: choices.filter_map(named).filter(is_shown).take(MAX_CHOICES).collect(),
        default: property.get("default").and_then(|default| match default {
            Value::String(text) => Some(clean::line(text, MAX_LINE)),
            Value::Number(_) | Value::Bool(_) => Some(default.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }),
        required,
        fault: None,
    })
}

fn value(kind: FormFieldKind, text: &str) -> Value {
    let parsed = || serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    match kind {
        FormFieldKind::Text => json!(text),
        FormFieldKind::Number | FormFieldKind::Confirm | FormFieldKind::Object => parsed(),
        FormFieldKind::List => text
            .split(',')
            .map(str::trim)
            .filter(|one| !one.is_empty())
            .map(|one| json!(one))
            .collect(),
    }
}

fn array(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_becomes_a_form_and_its_answer_has_the_types_of_the_schema() {
        let params = json!({
            "message": "Who\u{1b}[2J?",
            "requestedSchema": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "description": "Yours"},
                "age": {"type": "integer", "default": 3},
                "sure": {"type": "boolean"},
                "color": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g"}]},
                "tags": {"type": "array"},
                "none": {"type": "string"},
                "\u{202e}": {"type": "string"},
            }},
        });
        let question = question(McpQuestionId(1), &params);
        assert_eq!(question.message, "Who?");
        let kinds: Vec<_> = question.fields.iter().map(|field| field.kind).collect();
        use FormFieldKind::{Confirm, List, Number, Text};
        assert_eq!(kinds, [Text, Number, Confirm, Text, List, Text]);
        assert!(question.fields[0].required && !question.fields[1].required);
        assert_eq!(question.fields[1].default.as_deref(), Some("3"));
        assert_eq!(question.fields[3].choices, ["r", "g"]);
        let given = [("name", "7"), ("age", "7"), ("sure", "true"), ("tags", "a, b"), ("none", "")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let content = json!({"name": "7", "age": 7, "sure": true, "tags": ["a", "b"]});
        assert_eq!(
            answer(&question.fields, Some(&given.into())),
            json!({"action": "accept", "content": content})
        );
        assert_eq!(answer(&question.fields, None), json!({"action": "decline"}));
    }

    #[test]
    fn a_question_without_a_schema_is_a_plain_one() {
        let plain = question(McpQuestionId(1), &json!({"message": 7, "url": "https://x.example"}));
        assert_eq!((plain.fields.len(), plain.url.as_deref()), (0, Some("https://x.example")));
        assert_eq!(question(McpQuestionId(1), &Value::Null).message, "");
    }
}
