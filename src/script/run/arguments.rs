//! A call as written, and its arguments as values.

use serde_json::{Map, Value};

use super::super::manifest::input::ScriptArgs;
use super::super::syntax::ScriptNode;
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
    pub head: Option<&'a ScriptNode>,
    /// The other keys.
    pub other_keys: &'a [(&'a ScriptNode, &'a ScriptNode)],
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

    /// In the form a script takes.
    pub fn into_script_args(self) -> ScriptArgs {
        let mut named = self.to_map();
        for (name, value) in self.passed_variables {
            named.entry(name).or_insert(value);
        }
        let by_place = match self.positional.as_slice() {
            [Value::Object(_)] => Vec::new(),
            _ => self.positional,
        };
        ScriptArgs { positional: by_place, named }
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
