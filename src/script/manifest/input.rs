//! The inputs a script declares, and the assignment of arguments to them.

use serde_json::{Map, Value};

use super::super::error::{LocatedError, SourcePosition, quoted};
use super::super::syntax::{ScriptNode, Tree};
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

impl DeclaredInput {
    /// Whether it is left out where inputs are listed; a required one never is.
    pub fn is_hidden(&self) -> bool {
        !self.required && self.about.get("hidden") == Some(&Value::Bool(true))
    }
}

/// Reads the `input` list; entries that declare nothing are left out.
pub fn parse_inputs(input: Option<&Value>) -> Vec<DeclaredInput> {
    let items = match input {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let mut inputs: Vec<DeclaredInput> = Vec::new();
    for input in items.iter().flat_map(parse_item) {
        // A script may redeclare an input of its base.
        match inputs.iter_mut().find(|known| known.name == input.name) {
            Some(known) => *known = input,
            None => inputs.push(input),
        }
    }
    inputs
}

/// The places of what `input` holds that declares nothing.
pub fn wrong_entries(input: &ScriptNode) -> Vec<SourcePosition> {
    let is_wrong =
        |node: &&ScriptNode| !matches!(node.tree, Tree::Text(_) | Tree::Number(_) | Tree::Map(_));
    match &input.tree {
        Tree::List(items) => items.iter().filter(is_wrong).map(|item| item.position).collect(),
        Tree::Bool(_) | Tree::Number(_) => vec![input.position],
        Tree::Null | Tree::Text(_) | Tree::Map(_) => Vec::new(),
    }
}

fn parse_item(item: &Value) -> Vec<DeclaredInput> {
    match item {
        Value::String(name) => {
            vec![DeclaredInput { name: name.clone(), ..DeclaredInput::default() }]
        }
        // `0`: the argument at this place, read as `this[0]`.
        Value::Number(at) => {
            let index = at.as_u64().and_then(|at| usize::try_from(at).ok());
            vec![DeclaredInput { name: at.to_string(), index, ..DeclaredInput::default() }]
        }
        Value::Object(entries) => {
            entries.iter().map(|(name, about)| parse_input(name, about)).collect()
        }
        _ => Vec::new(),
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
    /// The names of the variables among `positional`, which are in `named` as well.
    pub variables: Vec<String>,
}

impl From<Map<String, Value>> for ScriptArgs {
    fn from(named: Map<String, Value>) -> ScriptArgs {
        ScriptArgs { named, ..ScriptArgs::default() }
    }
}

impl ScriptArgs {
    /// One value: a map holds the arguments by name, anything else is positional.
    pub fn from_value(value: Value) -> ScriptArgs {
        match value {
            Value::Object(named) => ScriptArgs::from(named),
            Value::Array(by_place) => ScriptArgs { positional: by_place, ..ScriptArgs::default() },
            Value::Null => ScriptArgs::default(),
            value => ScriptArgs { positional: vec![value], ..ScriptArgs::default() },
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
        let relaxed = || match trimmed.starts_with('{') {
            true => json5::read_typed(trimmed),
            false => json5::read(trimmed),
        };
        let value = serde_json::from_str(trimmed).ok().or_else(relaxed);
        value.map(ScriptArgs::from_value).ok_or_else(|| cli::ARGS_UNREADABLE.into())
    }
}

/// The arguments that a piped text is: one text without its final newline, or the object that the
/// script wants instead, if it is one.
pub fn piped_args(inputs: &[DeclaredInput], text: &str) -> ScriptArgs {
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    let is_structure = |input: &&DeclaredInput| {
        matches!(input.about.get("type").and_then(Value::as_str), Some("object" | "array"))
    };
    let first = inputs.iter().find(|input| input.index == Some(0));
    let takes_text = first.or(inputs.iter().find(|input| input.name == "content"));
    let is_named =
        |named: &Map<String, Value>| inputs.iter().any(|it| named.contains_key(&it.name));
    let value = match (takes_text, serde_json::from_str(text).ok()) {
        (None, Some(Value::Object(named))) if is_named(&named) => return ScriptArgs::from(named),
        (Some(input), Some(value)) if is_structure(&input) => value,
        _ => Value::from(text),
    };
    match takes_text.filter(|input| input.index != Some(0)) {
        Some(input) => ScriptArgs::from(Map::from_iter([(input.name.clone(), value)])),
        None => ScriptArgs { positional: vec![value], ..ScriptArgs::default() },
    }
}

/// Assigns arguments to the names they are meant for. Positional arguments without an input of
/// their index are returned.
pub fn bind(inputs: &[DeclaredInput], args: ScriptArgs) -> (Map<String, Value>, Option<Value>) {
    let ScriptArgs { positional: by_place, mut named, variables } = args;
    let mut left = None;
    let is_place = |input: &&DeclaredInput| input.name.parse::<usize>().is_ok();
    let any_index = inputs.iter().any(|input| input.index.is_some() && !is_place(&input));
    for (at, value) in by_place.into_iter().enumerate() {
        for input in inputs.iter().filter(|input| input.index == Some(at) && is_place(input)) {
            named.entry(input.name.clone()).or_insert_with(|| value.clone());
        }
        let named_inputs = || inputs.iter().filter(|input| !is_place(input));
        let by_index = named_inputs().find(|input| input.index == Some(at));
        let by_order = named_inputs().nth(at).filter(|_| !any_index);
        // A variable that has the name of an input is meant for that one.
        let has_name = |input: &DeclaredInput| {
            variables.contains(&input.name) && named.get(&input.name) == Some(&value)
        };
        if by_index.is_none() && named_inputs().any(has_name) {
            continue;
        }
        match by_index.or(by_order) {
            Some(input) => {
                named.entry(input.name.clone()).or_insert(value);
            }
            None if at == 0 && !named.contains_key("0") => left = Some(value),
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

/// Whether a value is one of the choices, if there are any.
pub fn is_allowed(choices: &[Value], value: &Value) -> bool {
    choices.is_empty() || choices.iter().any(|choice| plain_text(choice) == plain_text(value))
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn piped_text_is_text_unless_the_script_wants_an_object() {
        let bound = |declared: &Value, text: &str| {
            let inputs = parse_inputs(Some(declared));
            bind(&inputs, piped_args(&inputs, text))
        };
        let content = json!([{"content": {"index": 0, "required": true}}, "lang"]);
        let data = "{\"name\": \"left-pad\"}";
        for text in ["one", data, "[ ] todo one\n[x] done"] {
            for declared in [&content, &json!(["lang", "content"])] {
                let (args, left) = bound(declared, &format!("{text}\n"));
                assert_eq!((args.get("content"), left), (Some(&json!(text)), None));
            }
            let (args, left) = bound(&json!([]), &format!("{text}\r\n"));
            assert_eq!((args, left), (Map::new(), Some(json!(text))));
        }
        assert_eq!(bound(&json!(["name"]), data).0.get("name"), Some(&json!("left-pad")));
        assert_eq!(bound(&json!(["other"]), data).0.get("other"), Some(&json!(data)));
        let whole = json!([{"data": {"index": 0, "type": "object"}}]);
        assert_eq!(bound(&whole, data).0.get("data"), Some(&json!({"name": "left-pad"})));
        assert_eq!(bound(&whole, "no object").0.get("data"), Some(&json!("no object")));
        assert_eq!(bound(&content, "").0.get("content"), Some(&json!("")));
    }
}
