//! A call as written, and its arguments as values.

use serde_json::{Map, Value};

use super::super::manifest::input::ScriptArgs;
use super::super::syntax::ScriptValue;
use super::super::text::args::{Arg, CallExpr};
use super::scope::{merge, text_of};

/// A call as written in the script.
#[derive(Clone, Copy, Debug)]
pub struct CallSyntax<'a> {
    pub name: &'a str,
    /// `$|name`: the last result is passed in.
    pub pipe: bool,
    /// The arguments in brackets.
    pub args: &'a [Arg],
    /// The value of the key.
    pub head: Option<&'a ScriptValue>,
    /// The other keys.
    pub other_keys: &'a [(&'a ScriptValue, &'a ScriptValue)],
}

impl<'a> CallSyntax<'a> {
    pub fn new(name: &'a str, args: &'a [Arg]) -> CallSyntax<'a> {
        CallSyntax { name, pipe: false, args, head: None, other_keys: &[] }
    }
}

impl<'a> From<&'a CallExpr> for CallSyntax<'a> {
    fn from(call: &'a CallExpr) -> CallSyntax<'a> {
        CallSyntax { pipe: call.pipe, ..CallSyntax::new(&call.name, &call.args) }
    }
}

/// The evaluated arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArgValues {
    pub positional: Vec<Value>,
    pub named: Map<String, Value>,
    /// Plain variables that were passed by position, under their names.
    pub passed_variables: Map<String, Value>,
}

impl From<Vec<Value>> for ArgValues {
    fn from(positional: Vec<Value>) -> ArgValues {
        ArgValues { positional, ..ArgValues::default() }
    }
}

impl ArgValues {
    pub fn first(&self) -> Option<&Value> {
        self.positional.first()
    }

    /// An argument by name, including one inside a single map.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let inside = match self.positional.as_slice() {
            [Value::Object(map)] => map.get(name),
            _ => None,
        };
        self.named.get(name).or(inside)
    }

    /// An argument by name, or the first one.
    pub fn get_or_first(&self, name: &str) -> Option<&Value> {
        self.get(name).or_else(|| self.first())
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.get_or_first(name).filter(|value| !value.is_null()).map(text_of)
    }

    /// All named arguments, including those of a single map.
    pub fn to_map(&self) -> Map<String, Value> {
        let mut map = match self.positional.as_slice() {
            [Value::Object(map)] => map.clone(),
            _ => Map::new(),
        };
        map.extend(self.named.clone());
        map
    }

    /// The same, without the other arguments.
    pub fn into_map(self) -> Map<String, Value> {
        let mut map = match <[Value; 1]>::try_from(self.positional) {
            Ok([Value::Object(map)]) => map,
            _ => Map::new(),
        };
        map.extend(self.named);
        map
    }

    /// In the form a script takes.
    pub fn into_script_args(self) -> ScriptArgs {
        let mut named = self.to_map();
        let variables = self.passed_variables.keys().cloned().collect();
        for (name, value) in self.passed_variables {
            named.entry(name).or_insert(value);
        }
        let by_place = match self.positional.as_slice() {
            [Value::Object(_)] => Vec::new(),
            _ => self.positional,
        };
        ScriptArgs { positional: by_place, named, variables, message: None }
    }

    /// In the form a function takes: by position, or as one object.
    pub fn into_function_args(self) -> Vec<Value> {
        if self.named.is_empty() {
            return self.positional;
        }
        let mut map = Map::new();
        for (at, value) in self.positional.iter().enumerate() {
            match value {
                Value::Object(inside) if self.positional.len() == 1 => map.extend(inside.clone()),
                value => {
                    map.insert(at.to_string(), value.clone());
                }
            }
        }
        map.extend(self.named);
        vec![Value::Object(map)]
    }

    /// Adds the last result to the arguments; explicit arguments win.
    pub fn add_latest(&mut self, latest: &Value) {
        match latest {
            Value::Null => {}
            Value::Object(map) => {
                let mut piped = map.clone();
                merge(&mut piped, std::mem::take(&mut self.named));
                self.named = piped;
            }
            latest => {
                let given = self.get("content").is_some();
                if !given {
                    self.named.insert("content".to_owned(), latest.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn args(positional: Value, named: Value) -> ArgValues {
        let (Value::Array(positional), Value::Object(named)) = (positional, named) else {
            panic!("a list and a map");
        };
        ArgValues { positional, named, ..ArgValues::default() }
    }

    #[test]
    fn a_single_map_gives_named_arguments_and_explicit_ones_win() {
        let passed = args(json!([{"a": 1, "b": 2}]), json!({"b": 3}));
        assert_eq!((passed.get("a"), passed.get("b")), (Some(&json!(1)), Some(&json!(3))));
        assert_eq!(Value::Object(passed.to_map()), json!({"a": 1, "b": 3}));
        let several = args(json!([{"a": 1}, {"b": 2}]), json!({}));
        assert_eq!(several.get("a"), None);
    }

    #[test]
    fn a_function_takes_its_arguments_by_position_or_as_one_object() {
        let of = |positional, named| args(positional, named).into_function_args();
        assert_eq!(of(json!([1, "b"]), json!({})), [json!(1), json!("b")]);
        assert_eq!(of(json!([]), json!({"x": 1})), [json!({"x": 1})]);
        assert_eq!(of(json!([{"a": 1}]), json!({"x": 2})), [json!({"a": 1, "x": 2})]);
        assert_eq!(of(json!(["p", "q"]), json!({"x": 1})), [json!({"0": "p", "1": "q", "x": 1})]);
    }

    #[test]
    fn a_script_takes_plain_variables_under_their_names() {
        let mut passed = args(json!([5]), json!({"a": 1}));
        passed.passed_variables.insert("n".to_owned(), json!(5));
        passed.passed_variables.insert("a".to_owned(), json!(9));
        let passed = passed.into_script_args();
        assert_eq!(passed.positional, [json!(5)]);
        assert_eq!(Value::Object(passed.named), json!({"a": 1, "n": 5}));
    }

    #[test]
    fn isdk_082_the_last_result_is_added_unless_it_is_given() {
        let with = |named: Value, latest: Value| {
            let mut passed = args(json!([]), named);
            passed.add_latest(&latest);
            Value::Object(passed.named)
        };
        assert_eq!(with(json!({"a": 1}), json!({"a": 2, "b": 3})), json!({"a": 1, "b": 3}));
        assert_eq!(with(json!({"a": 1}), json!("text")), json!({"a": 1, "content": "text"}));
        assert_eq!(with(json!({"content": "own"}), json!("text")), json!({"content": "own"}));
        assert_eq!(with(json!({}), Value::Null), json!({}));
    }
}
