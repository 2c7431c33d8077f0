//! The inputs a script declares, and the assignment of arguments to them.

use serde_json::{Map, Value};

use super::super::error::{LocatedError, SourcePosition, quoted};
use super::super::syntax::{ScriptValue, Tree};
use super::super::text::{delimiters, json5};
use avocet_core::i18n::{LocalizedText, cli, script_run as phrases};

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
pub fn wrong_entries(value: &ScriptValue) -> Vec<SourcePosition> {
    let is_wrong = |script_value: &&ScriptValue| {
        !matches!(script_value.tree, Tree::Text(_) | Tree::Number(_) | Tree::Map(_))
    };
    match &value.tree {
        Tree::List(items) => items.iter().filter(is_wrong).map(|item| item.position).collect(),
        Tree::Bool(_) | Tree::Number(_) => vec![value.position],
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
    /// A text for the next position, or else one more message of the user.
    pub message: Option<String>,
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
    /// It looks like an object or a list but is not one.
    pub fn parse(text: &str) -> Result<ScriptArgs, LocalizedText> {
        let trimmed = text.trim();
        let relaxed = || {
            if trimmed.starts_with('{') { json5::read_typed(trimmed) } else { json5::read(trimmed) }
        };
        let is_data = trimmed.starts_with(['{', '[']);
        let read = || serde_json::from_str(trimmed).ok().or_else(relaxed);
        match is_data.then(read).flatten() {
            Some(value) => Ok(ScriptArgs::from_value(value)),
            None if looks_like_data(trimmed) => Err(cli::ARGS_UNREADABLE.into()),
            None => Ok(ScriptArgs::from_value(Value::String(text.to_owned()))),
        }
    }

    /// The words typed after a script's name: one for each position that an input has, and the rest
    /// for the last; or one text. Further arguments follow a piped text.
    ///
    /// # Errors
    /// They look like an object or a list but are not one.
    pub fn from_words(
        inputs: &[DeclaredInput],
        words: &[&str],
        is_piped: bool,
    ) -> Result<ScriptArgs, LocalizedText> {
        let count = inputs.iter().filter_map(|input| input.index).max().map_or(1, |last| last + 1);
        let count = count.saturating_sub(usize::from(is_piped)).max(1).min(words.len());
        let is_data = words.first().is_some_and(|word| word.trim_start().starts_with(['{', '[']));
        if count < 2 || is_data {
            return match words {
                [] => Ok(ScriptArgs::default()),
                words => ScriptArgs::parse(&words.join(" ")),
            };
        }
        let (single, rest) = words.split_at(count - 1);
        let mut positional: Vec<Value> = single.iter().map(|word| Value::from(*word)).collect();
        positional.push(Value::String(rest.join(" ")));
        Ok(ScriptArgs { positional, ..ScriptArgs::default() })
    }

    /// Adds arguments that were typed to those that were piped; what is typed wins.
    pub fn extend(&mut self, inputs: &[DeclaredInput], args: ScriptArgs) {
        let place = self.positional.len();
        let is_surplus = place > 0 && input_at(inputs, place).is_none();
        match args.positional.as_slice() {
            [Value::String(text)] if is_surplus => self.message = Some(text.clone()),
            _ => self.positional.extend(args.positional),
        }
        self.named.extend(args.named);
    }
}

/// Whether a text is meant as an object or a list: `{name: …`, `["a", …]`. Prose may begin with a
/// bracket as well: `[ ] buy milk`, `{{name}} is missing`.
fn looks_like_data(text: &str) -> bool {
    if let Some(inside) = text.strip_prefix('{') {
        let inside = inside.trim_start();
        let name = inside.trim_start_matches(['"', '\'']);
        let (_, after) = match delimiters::leading_word(name, |c| c == '-') {
            Some(split) => split,
            None => return inside.starts_with(['"', '\'']),
        };
        return after.trim_start_matches(['"', '\'']).trim_start().starts_with(':');
    }
    let rest = text.strip_prefix('[').and_then(|open| delimiters::bracket_content(open, ']'));
    rest.is_some_and(|(inside, rest)| rest.is_empty() && inside.contains([',', '"']))
}

/// The input that takes the argument at a position: that of the index, or where no input has one,
/// that of the order.
fn input_at(inputs: &[DeclaredInput], place: usize) -> Option<&DeclaredInput> {
    let named_inputs = || inputs.iter().filter(|input| !is_place(input));
    let any_index = named_inputs().any(|input| input.index.is_some());
    let by_index = named_inputs().find(|input| input.index == Some(place));
    by_index.or_else(|| named_inputs().nth(place).filter(|_| !any_index))
}

/// An input that is a position alone, read as `this[0]`.
fn is_place(input: &DeclaredInput) -> bool {
    input.name.parse::<usize>().is_ok()
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
    let ScriptArgs { positional: mut by_place, mut named, variables, message } = args;
    let mut left = None;
    // Several values for a single place are the list that its input takes.
    let is_list = |input: &DeclaredInput| input.about.get("type") == Some(&Value::from("array"));
    if by_place.len() > 1
        && input_at(inputs, 0).is_some_and(is_list)
        && input_at(inputs, 1).is_none()
    {
        by_place = vec![Value::Array(by_place)];
    }
    for (at, value) in by_place.into_iter().enumerate() {
        for input in inputs.iter().filter(|input| input.index == Some(at) && is_place(input)) {
            named.entry(input.name.clone()).or_insert_with(|| value.clone());
        }
        let named_inputs = || inputs.iter().filter(|input| !is_place(input));
        let taker = input_at(inputs, at);
        let by_index = taker.filter(|input| input.index == Some(at));
        // A variable that has the name of an input is meant for that one.
        let has_name = |input: &DeclaredInput| {
            variables.contains(&input.name) && named.get(&input.name) == Some(&value)
        };
        if by_index.is_none() && named_inputs().any(has_name) {
            continue;
        }
        match taker {
            Some(input) => {
                named.entry(input.name.clone()).or_insert(value);
            }
            None if at == 0 && !named.contains_key("0") => left = Some(value),
            None => {}
        }
    }
    left = match (message, left) {
        (None, left) => left,
        (Some(text), None) => Some(Value::String(text)),
        (Some(text), Some(left)) => Some(Value::from(format!("{text}\n\n{}", plain_text(&left)))),
    };
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
                    phrases::INPUT_MISSING.with("name", quoted(&input.name)),
                ));
            }
            Some(value) if !value.is_null() && !is_allowed(&input.choices, value) => {
                let list: Vec<String> = input.choices.iter().map(plain_text).collect();
                return Err(LocatedError::new(
                    phrases::INPUT_NOT_LISTED
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
    fn each_position_gets_a_word_and_the_last_one_the_rest() {
        let two = json!([{"a": {"index": 0}}, {"b": {"index": 1}}]);
        for (declared, words, expected) in [
            (&two, vec!["one", "two"], json!({"a": "one", "b": "two"})),
            (&two, vec!["one", "two", "three"], json!({"a": "one", "b": "two three"})),
            (&two, vec!["one two"], json!({"a": "one two"})),
            (&two, vec!["{a: 1,", "b: 2}"], json!({"a": 1, "b": 2})),
            (&json!([{"a": {"index": 0}}, "b"]), vec!["one", "two"], json!({"a": "one two"})),
            (
                &json!([{"a": {"type": "array", "index": 0}}]),
                vec!["[1,", "2]"],
                json!({"a": [1, 2]}),
            ),
            (&json!(["a", "b"]), vec!["one", "two"], json!({"a": "one two"})),
        ] {
            let inputs = parse_inputs(Some(declared));
            let args = ScriptArgs::from_words(&inputs, &words, false).unwrap();
            assert_eq!(Value::Object(bind(&inputs, args).0), expected, "{words:?}");
        }
    }

    #[test]
    fn a_text_beside_a_piped_one_goes_to_the_next_input_or_into_a_message() {
        let bound = |declared: Value| {
            let inputs = parse_inputs(Some(&declared));
            let mut args = piped_args(&inputs, "piped\n");
            args.extend(&inputs, ScriptArgs::from_words(&inputs, &["typed"], true).unwrap());
            let (named, left) = bind(&inputs, args);
            (Value::Object(named), left)
        };
        let content = json!([{"content": {"index": 0}}]);
        assert_eq!(bound(content), (json!({"content": "piped"}), Some(json!("typed"))));
        assert_eq!(bound(json!([])), (json!({}), Some(json!("typed\n\npiped"))));
        let both = json!([{"a": {"index": 0}}, {"b": {"index": 1}}]);
        assert_eq!(bound(both), (json!({"a": "piped", "b": "typed"}), None));
    }

    #[test]
    fn prose_that_begins_with_a_bracket_is_text_and_a_broken_object_is_an_error() {
        for text in ["[ ] todo", "[x] done [ ] open", "{{name}} is missing", "{todo} fix", "[a"] {
            let args = ScriptArgs::parse(text).unwrap();
            assert_eq!(args.positional, [json!(text)]);
        }
        for text in ["{a: ", "{\"a\": 1", "{ a : [}", "[\"a\", }]"] {
            assert!(ScriptArgs::parse(text).is_err(), "{text}");
        }
    }

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
