//! The values of one running script, by origin: loop, call, model, prompt, settings. The innermost
//! origin wins.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::js::{EngineScopeUpdate, JsScope};

/// The names whose values are put together when they are read.
const MADE_WHEN_READ: &[&str] = &["LatestResult", "prompt", "parameters"];

/// All values of one script.
#[derive(Clone, Debug, Default)]
pub struct ScopeValues {
    /// Loop variables, the innermost last.
    pub locals: Vec<Map<String, Value>>,
    /// The model's replies, by the names of their marks.
    pub replies: Map<String, Value>,
    /// The arguments of this call.
    pub args: Map<String, Value>,
    /// `prompt:` of the settings and additions by `$prompt`.
    pub prompt: Map<String, Value>,
    pub parameters: Map<String, Value>,
    /// The settings, and the variables `$set` added to them.
    pub config: Map<String, Value>,
    /// `__dirname` and `__filename`.
    pub constants: Map<String, Value>,
    /// The value of the last instruction.
    pub latest: Value,
    /// Fields that can be read from the last result but are not part of it.
    pub hidden: Map<String, Value>,
}

impl ScopeValues {
    /// The value of a plain name.
    pub fn get(&self, name: &str) -> Option<Value> {
        match name {
            "LatestResult" => return Some(self.latest_with_hidden()),
            "prompt" => return Some(Value::Object(self.full_prompt())),
            "parameters" => return Some(Value::Object(self.parameters.clone())),
            _ => {}
        }
        self.layers().find_map(|layer| layer.get(name)).cloned()
    }

    /// The value of a path: `user1.name`, `list[0]`, `list.0`.
    pub fn get_path(&self, path: &str) -> Option<Value> {
        if let Some(value) = self.get(path) {
            return Some(value);
        }
        let mut parts = path.split(['.', '[']).map(|part| part.trim_end_matches(']'));
        let name = parts.next()?;
        let stored = self.layers().find_map(|layer| layer.get(name));
        let root =
            stored.map_or_else(|| self.get(name).map(Cow::Owned), |it| Some(Cow::Borrowed(it)));
        let root = root?;
        let mut value = root.as_ref();
        for part in parts {
            let part = part.trim_matches(['"', '\'']);
            value = match value {
                Value::Object(map) => map.get(part)?,
                Value::Array(list) => list.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value.clone())
    }

    fn layers(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let outer = [&self.replies, &self.args, &self.prompt, &self.config, &self.constants];
        self.locals.iter().rev().chain(outer)
    }

    fn full_prompt(&self) -> Map<String, Value> {
        let mut prompt = self.prompt.clone();
        prompt.extend(self.replies.clone());
        prompt
    }

    fn latest_with_hidden(&self) -> Value {
        match &self.latest {
            Value::Object(map) if !self.hidden.is_empty() => {
                let mut map = map.clone();
                for (name, value) in &self.hidden {
                    map.entry(name.clone()).or_insert_with(|| value.clone());
                }
                Value::Object(map)
            }
            latest => latest.clone(),
        }
    }

    /// Every value under its name: the scope of expressions and templates.
    pub fn scope(&self) -> Map<String, Value> {
        let mut scope = self.constants.clone();
        scope.extend(self.parameters.clone());
        scope.extend(self.config.clone());
        scope.extend(self.prompt.clone());
        scope.extend(self.args.clone());
        scope.extend(self.replies.clone());
        for local in &self.locals {
            scope.extend(local.clone());
        }
        scope.insert("prompt".to_owned(), Value::Object(self.full_prompt()));
        scope.insert("parameters".to_owned(), Value::Object(self.parameters.clone()));
        scope.insert("LatestResult".to_owned(), self.latest_with_hidden());
        scope
    }

    /// What differs from the values that an engine has, which are brought up to date. Names in
    /// `nulls` without a value are null. With `reads` it is limited to these names.
    pub fn changes_since<'a>(
        &self,
        sent: &mut JsScope,
        mut nulls: impl Iterator<Item = &'a String> + Clone,
        messages: Option<Value>,
        reads: Option<&[String]>,
    ) -> EngineScopeUpdate {
        let mut update = EngineScopeUpdate::default();
        let mut note = |name: &str, value: Option<Cow<'_, Value>>, sent: &mut JsScope| {
            let Some(value) = value else {
                if sent.remove(name).is_some() {
                    update.removed.push(name.to_owned());
                }
                return;
            };
            if sent.get(name) != Some(value.as_ref()) {
                let value = value.into_owned();
                sent.insert(name.to_owned(), value.clone());
                update.set.push((name.to_owned(), value));
            }
        };
        if let Some(names) = reads {
            for name in names {
                let value = self.engine_value(name, messages.as_ref());
                let is_null = || nulls.clone().any(|null| null == name);
                let value = value.or_else(|| is_null().then_some(Cow::Owned(Value::Null)));
                note(name, value, sent);
            }
            return update;
        }
        let mut names = BTreeSet::new();
        let layers = self.layers().chain([&self.parameters]).flat_map(Map::keys);
        for name in MADE_WHEN_READ.iter().copied().chain(layers.map(String::as_str)) {
            if names.insert(name) {
                note(name, self.engine_value(name, messages.as_ref()), sent);
            }
        }
        for name in nulls.by_ref() {
            if names.insert(name) {
                note(name, Some(Cow::Owned(Value::Null)), sent);
            }
        }
        if sent.len() > names.len() {
            let stale = |name: &&String| !names.contains(name.as_str());
            let stale: Vec<String> = sent.keys().filter(stale).cloned().collect();
            stale.iter().for_each(|name| note(name, None, sent));
        }
        update
    }

    /// A value as JavaScript sees it.
    pub fn engine_value(&self, name: &str, messages: Option<&Value>) -> Option<Cow<'_, Value>> {
        Some(match name {
            "LatestResult" if self.hidden.is_empty() => Cow::Borrowed(&self.latest),
            "LatestResult" => Cow::Owned(self.latest_with_hidden()),
            "prompt" => {
                let mut prompt = self.full_prompt();
                prompt.extend(messages.map(|messages| ("messages".to_owned(), messages.clone())));
                Cow::Owned(Value::Object(prompt))
            }
            "parameters" => Cow::Owned(Value::Object(self.parameters.clone())),
            name => {
                let mut layers = self.layers().chain([&self.parameters]);
                Cow::Borrowed(layers.find_map(|layer| layer.get(name))?)
            }
        })
    }

    /// Sets a variable where its name is known, or else next to the settings.
    pub fn set(&mut self, path: &str, value: Value) {
        *self.entry(path) = value;
    }

    /// The place of a variable: where its name is known, or else next to the settings. Anything on
    /// the way that is not a map becomes one.
    pub fn entry(&mut self, path: &str) -> &mut Value {
        let (name, rest) = match path.split_once('.') {
            Some((name, rest)) if self.layers().all(|layer| !layer.contains_key(path)) => {
                (name, Some(rest))
            }
            _ => (path, None),
        };
        if name == "LatestResult" {
            return rest.into_iter().fold(&mut self.latest, entry_below);
        }
        // A value of the prompt is read, and a variable beside it written.
        let is_new = !self.layer_mut(name).contains_key(name);
        let shown = self.layers().find_map(|layer| layer.get(name)).filter(|_| is_new).cloned();
        let place = self.layer_mut(name).entry(name.to_owned());
        rest.into_iter().fold(place.or_insert(shown.unwrap_or_default()), entry_below)
    }

    /// Removes a variable everywhere.
    pub fn unset(&mut self, name: &str) {
        for layer in [&mut self.replies, &mut self.args, &mut self.config] {
            layer.shift_remove(name);
        }
    }

    fn layer_mut(&mut self, name: &str) -> &mut Map<String, Value> {
        if let Some(at) = self.locals.iter().rposition(|local| local.contains_key(name)) {
            return &mut self.locals[at];
        }
        if self.replies.contains_key(name) {
            &mut self.replies
        } else if self.args.contains_key(name) {
            &mut self.args
        } else {
            &mut self.config
        }
    }

    /// A setting that may appear in several places; the closest wins.
    pub fn option(&self, name: &str) -> Option<Value> {
        let of = |map: &Map<String, Value>| map.get(name).filter(|value| !value.is_null()).cloned();
        let format = self.response_format();
        let local = self.locals.iter().rev().find_map(of);
        local
            .or_else(|| of(&self.args))
            .or_else(|| of(&self.prompt))
            .or_else(|| format.as_ref().and_then(of))
            .or_else(|| of(&self.parameters))
            .or_else(|| of(&self.config))
    }

    /// A boolean setting.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.option(name)?.as_bool()
    }

    /// Sets the last result, which has no hidden fields.
    pub fn set_latest(&mut self, value: Value) {
        self.hidden.clear();
        self.latest = value;
    }

    /// Stores the model's reply as the last result, of which the hidden fields are no part.
    pub fn set_response(&mut self, value: Value, hidden: Map<String, Value>) {
        self.latest = value;
        self.hidden = hidden;
        self.replies.insert("RESPONSE".to_owned(), self.latest_with_hidden());
    }

    /// The structured format the answer must have; `None` for plain text.
    pub fn answer_format(&self) -> Option<String> {
        let format = self.response_format();
        match format.as_ref().and_then(|format| format.get("type")).and_then(Value::as_str) {
            Some("text") | None => {
                (self.flag("forceJson") == Some(true)).then(|| "json".to_owned())
            }
            Some(kind) => Some(kind.to_owned()),
        }
    }

    /// Whether an answer in another format is an error.
    pub fn is_format_required(&self) -> bool {
        self.flag("forceJson") != Some(false)
    }

    pub fn response_format(&self) -> Option<Map<String, Value>> {
        let local = self.locals.iter().rev().find_map(|local| local.get("response_format"));
        let found = local.or(self.prompt.get("response_format"));
        let found = found.or(self.parameters.get("response_format"));
        match found.or(self.config.get("response_format"))? {
            Value::Object(format) => Some(format.clone()),
            Value::String(kind) => {
                Some([("type".to_owned(), Value::from(kind.as_str()))].into_iter().collect())
            }
            _ => None,
        }
    }
}

/// The place of a path below a value.
fn entry_below<'a>(into: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(into, |into, part| {
        let in_list = match &*into {
            Value::Array(list) => part.parse::<usize>().ok().filter(|at| *at < list.len()),
            _ => None,
        };
        if in_list.is_none() && !into.is_object() {
            *into = Value::Object(Map::new());
        }
        match (into, in_list) {
            (Value::Array(list), Some(at)) => &mut list[at],
            (into, _) => &mut into[part],
        }
    })
}

/// A value as text: a list as JavaScript joins one, a map as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The items of a list as texts; a single value is a list of one, and null is none.
pub fn texts_of(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().map(text_of).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(one) => vec![text_of(one)],
    }
}

/// Merges one map into another, recursively.
pub fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(own)), Value::Object(value)) => merge(own, value),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// The truth of a value, as in JavaScript.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    /// ISDK-061: call arguments before the prompt, the prompt before the settings.
    #[test]
    fn isdk_061_the_closer_value_wins() {
        let mut values = ScopeValues {
            args: map(json!({"a": 1})),
            prompt: map(json!({"a": 2, "b": 2})),
            config: map(json!({"a": 3, "b": 3, "c": 3})),
            ..ScopeValues::default()
        };
        let seen = |values: &ScopeValues| ["a", "b", "c"].map(|name| values.get(name).unwrap());
        assert_eq!(seen(&values), [json!(1), json!(2), json!(3)]);
        let scope = values.scope();
        assert_eq!(["a", "b", "c"].map(|name| scope[name].clone()), seen(&values));
        values.locals.push(map(json!({"c": 0})));
        values.set("c", json!(9));
        assert_eq!(values.locals[0]["c"], json!(9));
    }

    #[test]
    fn paths_are_read_and_created() {
        let mut values = ScopeValues::default();
        values.set("user.name.first", json!("Ann"));
        values.set("list", json!([1, {"k": 2}]));
        assert_eq!(values.get_path("user.name.first").unwrap(), json!("Ann"));
        assert_eq!(values.get_path("list[1].k").unwrap(), json!(2));
        assert_eq!(values.get_path("list.0").unwrap(), json!(1));
        assert_eq!(values.get_path("list.7"), None);
        values.set("list.1.k", json!(3));
        assert_eq!(values.get_path("list.1.k").unwrap(), json!(3));
    }
}
