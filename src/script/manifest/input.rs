//! The inputs a script declares, and the assignment of arguments to them.

use serde_json::{Map, Value};

use super::super::error::{LocatedError, quoted};
use super::super::text::json5;
use crate::i18n::{LocalizedText, cli, script_run as words};

/// One declared input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeclaredInput {
    pub name: String,
    pub required: bool,
    /// The position of the argument it takes.
    pub index: Option<usize>,
    pub default: Option<Value>,
    pub choices: Vec<Value>,
    /// The rest of its declaration: description, type, examples, hidden…
    pub about: Map<String, Value>,
}

/// Reads the `input` list.
pub fn parse_inputs(input: Option<&Value>, file: &str) -> Result<Vec<DeclaredInput>, LocatedError> {
    let items = match input {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items.clone(),
        Some(Value::String(name)) => vec![Value::String(name.clone())],
        Some(_) => {
            return Err(LocatedError::new(words::INPUT_NO_LIST.with("file", file.to_owned())));
        }
    };
    let mut inputs: Vec<DeclaredInput> = Vec::new();
    for item in items {
        for input in parse_item(&item, file)? {
            // A script may redeclare an input of its base.
            match inputs.iter_mut().find(|known| known.name == input.name) {
                Some(known) => *known = input,
                None => inputs.push(input),
            }
        }
    }
    Ok(inputs)
}

fn parse_item(item: &Value, file: &str) -> Result<Vec<DeclaredInput>, LocatedError> {
    match item {
        Value::String(name) => {
            Ok(vec![DeclaredInput { name: name.clone(), ..DeclaredInput::default() }])
        }
        Value::Object(entries) => {
            Ok(entries.iter().map(|(name, about)| parse_input(name, about)).collect())
        }
        _ => Err(LocatedError::new(words::INPUT_NO_LIST.with("file", file.to_owned()))),
    }
}

fn parse_input(name: &str, about: &Value) -> DeclaredInput {
    let Value::Object(about) = about else {
        let about = about.as_str().map(|text| ("description".to_owned(), Value::from(text)));
        return DeclaredInput {
            name: name.to_owned(),
            about: about.into_iter().collect(),
            ..DeclaredInput::default()
        };
    };
    DeclaredInput {
        name: name.to_owned(),
        required: about.get("required").and_then(Value::as_bool).unwrap_or(false),
        index: about.get("index").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok()),
        default: about.get("default").filter(|value| !value.is_null()).cloned(),
        choices: about.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
        about: about.clone(),
    }
}

/// Arguments as they are passed to a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptArgs {
    pub positional: Vec<Value>,
    pub named: Map<String, Value>,
}

impl From<Map<String, Value>> for ScriptArgs {
    fn from(named: Map<String, Value>) -> ScriptArgs {
        ScriptArgs { positional: Vec::new(), named }
    }
}

impl ScriptArgs {
    /// One value: a map holds the arguments by name, anything else is positional.
    pub fn from_value(value: Value) -> ScriptArgs {
        match value {
            Value::Object(named) => ScriptArgs::from(named),
            Value::Array(by_place) => ScriptArgs { positional: by_place, named: Map::new() },
            Value::Null => ScriptArgs::default(),
            value => ScriptArgs { positional: vec![value], named: Map::new() },
        }
    }

    /// Text typed after a script's name: JSON, its relaxed form, or plain text.
    ///
    /// # Errors
    /// It begins like an object or a list but is not one.
    pub fn parse(text: &str) -> Result<ScriptArgs, LocalizedText> {
        let trimmed = text.trim();
        if !trimmed.starts_with(['{', '[']) {
            return Ok(ScriptArgs::from_value(Value::String(text.to_owned())));
        }
        let value = serde_json::from_str(trimmed).ok().or_else(|| json5::read(trimmed));
        value.map(ScriptArgs::from_value).ok_or_else(|| cli::ARGS_UNREADABLE.into())
    }
}

/// Assigns arguments to the names they are meant for. Positional arguments without an input of
/// their index are returned.
pub fn bind(inputs: &[DeclaredInput], args: ScriptArgs) -> (Map<String, Value>, Option<Value>) {
    let ScriptArgs { positional: by_place, mut named } = args;
    let mut left = None;
    let any_index = inputs.iter().any(|input| input.index.is_some());
    for (at, value) in by_place.into_iter().enumerate() {
        let by_index = inputs.iter().find(|input| input.index == Some(at));
        let by_order = inputs.get(at).filter(|_| !any_index);
        match by_index.or(by_order) {
            Some(input) => {
                named.entry(input.name.clone()).or_insert(value);
            }
            None if at == 0 => left = Some(value),
            None => {}
        }
    }
    for input in inputs {
        if let Some(value) = input.index.and_then(|at| named.shift_remove(&at.to_string())) {
            named.entry(input.name.clone()).or_insert(value);
        }
    }
    (named, left)
}

/// Checks required and restricted inputs. `known` returns the value of an input.
pub fn check<'a>(
    inputs: &[DeclaredInput],
    known: impl Fn(&str) -> Option<&'a Value>,
) -> Result<(), LocatedError> {
    for input in inputs {
        match known(&input.name) {
            None | Some(Value::Null) if input.required => {
                return Err(LocatedError::new(
                    words::INPUT_MISSING.with("name", quoted(&input.name)),
                ));
            }
            Some(value) if !value.is_null() && !is_allowed(&input.choices, value) => {
                let list: Vec<String> = input.choices.iter().map(plain_text).collect();
                return Err(LocatedError::new(
                    words::INPUT_NOT_LISTED
                        .with("name", quoted(&input.name))
                        .with("value", quoted(&plain_text(value)))
                        .with("list", quoted(&list.join(", "))),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_allowed(choices: &[Value], value: &Value) -> bool {
    choices.is_empty() || choices.iter().any(|choice| plain_text(choice) == plain_text(value))
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
