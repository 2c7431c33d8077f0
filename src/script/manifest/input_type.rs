//! The types that inputs declare. A value is made to fit the type of its input: typed arguments and
//! those that a model writes are often text.

use serde_json::{Map, Value};

use super::input::DeclaredInput;
use crate::error::{LocatedError, quoted};
use crate::template::print;
use crate::text::json5;
use avocet_core::i18n::script_run as phrases;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputType {
    Text,
    Number,
    Whole,
    Flag,
    /// As text: JSON, or items with commas between them.
    List,
    Object,
}

/// The types, with the names that scripts use for them. Other names limit nothing.
const TYPES: &[(InputType, &[&str])] = &[
    (InputType::Text, &["string", "text", "str"]),
    (InputType::Number, &["number", "numeral", "float"]),
    (InputType::Whole, &["integer", "int"]),
    (InputType::Flag, &["boolean", "bool"]),
    (InputType::List, &["array", "list"]),
    (InputType::Object, &["object", "json"]),
];

/// Gives the arguments of a call the types of their inputs.
///
/// # Errors
/// A value that cannot be of the type.
pub fn fit_args(
    inputs: &[DeclaredInput],
    args: &mut Map<String, Value>,
) -> Result<(), LocatedError> {
    for input in inputs {
        let Some(value) = args.get_mut(&input.name).filter(|value| !value.is_null()) else {
            continue;
        };
        let Some(types) = declared_types(input) else { continue };
        match fitted(&types, value) {
            Some(fitting) => *value = fitting,
            None => {
                let kind = input.about.get("type").map(print::text).unwrap_or_default();
                let said = phrases::INPUT_TYPE.with("name", quoted(&input.name));
                let said = said.with("type", quoted(&kind));
                return Err(LocatedError::new(said.with("value", quoted(&print::text(value)))));
            }
        }
    }
    Ok(())
}

/// The types of an input; `None` if it declares none, or one that is not known.
fn declared_types(input: &DeclaredInput) -> Option<Vec<InputType>> {
    let names = match input.about.get("type")? {
        Value::Array(names) => names.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?,
        name => vec![name.as_str()?],
    };
    let type_of = |name: &str| {
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        TYPES.iter().find(|(_, names)| names.iter().any(is)).map(|(kind, _)| *kind)
    };
    // Any input may be null.
    let names = names.into_iter().filter(|name| *name != "null");
    names.map(type_of).collect::<Option<Vec<_>>>().filter(|types| !types.is_empty())
}

/// The value as one of these types.
fn fitted(types: &[InputType], value: &Value) -> Option<Value> {
    if types.iter().any(|kind| kind.has(value)) {
        return Some(value.clone());
    }
    let is_empty = value.as_str().is_some_and(|text| text.trim().is_empty());
    if is_empty { Some(Value::Null) } else { types.iter().find_map(|kind| kind.convert(value)) }
}

impl InputType {
    fn has(self, value: &Value) -> bool {
        match self {
            InputType::Text => value.is_string(),
            InputType::Number => value.is_number(),
            InputType::Whole => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            InputType::Flag => value.is_boolean(),
            InputType::List => value.is_array(),
            InputType::Object => value.is_object(),
        }
    }

    fn convert(self, value: &Value) -> Option<Value> {
        let text = value.as_str().map(str::trim);
        let read = || {
            let text = text?;
            serde_json::from_str(text).ok().or_else(|| json5::read_typed(text))
        };
        match self {
            InputType::Text => Some(match value {
                Value::Number(_) | Value::Bool(_) => Value::String(value.to_string()),
                other => other.clone(),
            }),
            InputType::Number | InputType::Whole => {
                json5::parse_number(text?).filter(|number| self.has(number))
            }
            InputType::Flag => read_flag(text?).map(Value::Bool),
            InputType::List => Some(match text {
                Some(text) => read().filter(Value::is_array).unwrap_or_else(|| {
                    text.split([',', '，']).map(|item| Value::from(item.trim())).collect()
                }),
                None => Value::Array(vec![value.clone()]),
            }),
            InputType::Object => read().filter(Value::is_object),
        }
    }
}

fn read_flag(text: &str) -> Option<bool> {
    let is = |words: [&str; 3]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match (is(["true", "yes", "是"]), is(["false", "no", "否"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::input::parse_inputs;
    use super::*;

    fn fit(kind: Value, value: Value) -> Result<Value, String> {
        let inputs = parse_inputs(Some(&json!([{"n": {"type": kind}}])));
        let mut args = Map::from_iter([("n".to_owned(), value)]);
        fit_args(&inputs, &mut args).map_err(|failure| failure.to_string())?;
        Ok(args["n"].clone())
    }

    #[test]
    fn a_value_gets_the_type_of_its_input() {
        for (kind, given, fitting) in [
            (json!("boolean"), json!("false"), json!(false)),
            (json!("boolean"), json!("YES"), json!(true)),
            (json!("number"), json!(" 42 "), json!(42)),
            (json!("number"), json!("-1.5"), json!(-1.5)),
            (json!("integer"), json!("7"), json!(7)),
            (json!("string"), json!(42), json!("42")),
            (json!("string"), json!({"a": 1}), json!({"a": 1})),
            (json!("array"), json!("a, b"), json!(["a", "b"])),
            (json!("array"), json!("[1, 2]"), json!([1, 2])),
            (json!("array"), json!(1), json!([1])),
            (json!("object"), json!("{a: 1}"), json!({"a": 1})),
            (json!(["string", "number"]), json!(5), json!(5)),
            (json!(["number", "null"]), json!("5"), json!(5)),
            (json!("number"), json!(""), json!(null)),
            (json!("date"), json!("today"), json!("today")),
        ] {
            assert_eq!(fit(kind.clone(), given.clone()), Ok(fitting), "{kind} {given}");
        }
    }

    #[test]
    fn a_value_that_cannot_be_of_the_type_is_an_error() {
        for (kind, given) in [
            ("number", json!("abc")),
            ("number", json!(true)),
            ("integer", json!("1.5")),
            ("boolean", json!("maybe")),
            ("boolean", json!(1)),
            ("object", json!("text")),
        ] {
            let fault = fit(json!(kind), given.clone()).unwrap_err();
            assert!(fault.contains("`n`") && fault.contains(kind), "{fault}");
        }
    }
}
