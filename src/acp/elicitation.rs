//! A question that needs words as the form that an editor shows its user. Pure.

use agent_client_protocol_schema::v1::SessionId;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::tool_calls::safe;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Decision, FormField, FormFieldKind, Question};

/// The field of an answer in the user's own words.
const ANSWER: &str = "answer";
/// The longest text that is taken of the client, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

pub fn needs_words(question: &Question) -> bool {
    matches!(question, Question::Form { .. } | Question::Choice { free: true, .. })
}

/// The parameters of `elicitation/create`; `None`: the question needs no words.
pub fn form(question: &Question, session: &SessionId, lang: Lang) -> Option<Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let message = match question {
        Question::Form { script, fields } => {
            for field in fields {
                properties.insert(field.name.clone(), property(field, lang));
                required.extend(field.required.then(|| field.name.clone()));
            }
            safe(script)
        }
        Question::Choice { text, choices, free: true, .. } => {
            let choices: Vec<String> = choices.iter().map(|choice| safe(choice)).collect();
            let about = choices.join("; ");
            properties.insert(ANSWER.to_owned(), json!({"type": "string", "description": about}));
            required.push(ANSWER.to_owned());
            safe(text)
        }
        _ => return None,
    };
    Some(json!({
        "mode": "form",
        "sessionId": session,
        "message": message,
        "requestedSchema": {"type": "object", "properties": properties, "required": required},
    }))
}

fn property(field: &FormField, lang: Lang) -> Value {
    let (kind, default) = match field.kind {
        FormFieldKind::Confirm => {
            ("boolean", field.default.as_ref().map(|text| json!(text == "true")))
        }
        _ => ("string", field.default.as_ref().map(|text| json!(safe(text)))),
    };
    let fault = field.fault.as_ref().map(|fault| fault.text(lang)).unwrap_or_default();
    let about = format!("{} {fault}", field.about);
    let mut property = json!({"type": kind, "description": safe(about.trim())});
    if !field.choices.is_empty() {
        property["enum"] = json!(field.choices);
    }
    if let Some(default) = default {
        property["default"] = default;
    }
    property
}

/// What the user wrote means; `None`: nothing was written.
pub fn decision(question: &Question, answer: Option<&RawValue>) -> Option<Decision> {
    let answer: Value = serde_json::from_str(answer?.get()).ok()?;
    let content = answer.get("content").filter(|_| answer["action"] == "accept")?;
    let text = |name: &str| {
        let text = match content.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        avocet_core::text::cut(&text, MAX_ANSWER)
    };
    match question {
        Question::Form { fields, .. } => {
            let values = fields.iter().map(|field| text(&field.name)).collect();
            Some(Decision::Fill { values })
        }
        Question::Choice { choices, free: true, .. } => {
            let text = text(ANSWER);
            let chosen = choices.iter().position(|choice| choice.eq_ignore_ascii_case(text.trim()));
            Some(match chosen {
                Some(index) => Decision::Choose { index },
                None => Decision::Answer { text },
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_client_protocol_schema::v1::CreateElicitationRequest;
    use serde_json::value::to_raw_value;

    fn form_question() -> Question {
        let field = |name: &str, kind| FormField {
            name: name.to_owned(),
            about: "which \u{1b}[31mone".to_owned(),
            kind,
            choices: Vec::new(),
            default: None,
            required: true,
            fault: None,
        };
        let fields =
            vec![field("city", FormFieldKind::Text), field("sure", FormFieldKind::Confirm)];
        Question::Form { script: "weather".to_owned(), fields }
    }

    fn decide(question: &Question, answer: Value) -> Option<Decision> {
        decision(question, Some(&to_raw_value(&answer).unwrap()))
    }

    #[test]
    fn a_form_is_one_of_the_protocol_and_its_answer_fills_the_fields_in_order() {
        let question = form_question();
        let form = form(&question, &SessionId::new("s"), Lang::En).unwrap();
        assert!(!form.to_string().contains("u001b"), "{form}");
        assert_eq!(form["requestedSchema"]["properties"]["sure"]["type"], "boolean");
        serde_json::from_value::<CreateElicitationRequest>(form).unwrap();
        let answer = json!({"action": "accept", "content": {"sure": true, "city": "Paris"}});
        let values = vec!["Paris".to_owned(), "true".to_owned()];
        assert_eq!(decide(&question, answer), Some(Decision::Fill { values }));
        for answer in [json!({"action": "decline"}), json!({"action": "cancel"}), json!(3)] {
            assert_eq!(decide(&question, answer), None);
        }
    }

    #[test]
    fn a_question_with_choices_takes_one_of_them_or_other_words() {
        let question = Question::Choice {
            step: String::new(),
            script: None,
            text: "Which one?".to_owned(),
            choices: vec!["Red".to_owned(), "Blue".to_owned()],
            free: true,
            fallback: None,
        };
        let answer = |text: &str| json!({"action": "accept", "content": {"answer": text}});
        assert_eq!(decide(&question, answer("blue")), Some(Decision::Choose { index: 1 }));
        let text = "neither".to_owned();
        assert_eq!(decide(&question, answer("neither")), Some(Decision::Answer { text }));
    }
}
