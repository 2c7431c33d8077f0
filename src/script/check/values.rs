//! Values of settings that no run could use: numbers out of their range, lists that are none, names
//! of triggers, defaults that their input refuses.

use serde_json::Map;

use super::keys::{KeyFaults, each, is_dynamic, near_name, not_listed};
use super::near::with_near;
use crate::error::quoted;
use crate::manifest::{DeclaredInput, fit_args, input};
use crate::output;
use crate::run::tools::TRIGGERS;
use crate::syntax::{ScriptValue, Tree};
use avocet_config::suggest;
use avocet_core::i18n::script_run as phrases;

/// The least values of parameters; 0 and -1 tokens are no limit.
const LEAST: &[(&str, f64)] = &[
    ("temperature", 0.0),
    ("max_tokens", -1.0),
    ("timeout", 1.0),
    ("maxRetry", 0.0),
    ("minTailRepeatCount", 0.0),
];
/// Parameters that are a share of the whole.
const SHARES: &[&str] = &["top_p", "min_p"];
const FORMAT_KEYS: &[&str] =
    &["type", "conversionScope", "schema", "json_schema", "strict", "name", "description"];

/// What a schema is known by.
const SCHEMA_KEYS: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "$ref",
    "anyOf",
    "oneOf",
    "allOf",
    "additionalProperties",
    "description",
];

impl KeyFaults {
    /// The value of a parameter, or of a setting that may be one.
    pub(super) fn check_value(&mut self, name: &str, value: &ScriptValue) {
        match name {
            "stop_words" | "stop" => self.check_texts(name, value),
            "keepThinking" | "keepOriginal" | "keepOrginal" => {
                let fits = matches!(value.tree, Tree::Bool(_) | Tree::Text(_) | Tree::Null);
                self.check_kinds(name, value, "boolean, string", fits);
            }
            "trigger" => self.check_triggers(value),
            _ => self.check_number(name, value),
        }
    }

    fn check_number(&mut self, name: &str, value: &ScriptValue) {
        let Tree::Number(number) = &value.tree else { return };
        let Some(given) = number.as_f64() else { return };
        let least = LEAST.iter().find(|(known, least)| *known == name && given < *least);
        if let Some((_, least)) = least {
            let what = phrases::VALUE_LEAST.with("name", name).with("low", least.to_string());
            self.add(value.position, what.with("value", number.to_string()));
        }
        if SHARES.contains(&name) && !(0.0..=1.0).contains(&given) {
            let what = phrases::VALUE_RANGE.with("name", name).with("low", 0).with("high", 1);
            self.add(value.position, what.with("value", number.to_string()));
        }
    }

    fn check_kinds(&mut self, name: &str, value: &ScriptValue, kinds: &'static str, fits: bool) {
        if !fits {
            let what = phrases::VALUE_KIND.with("name", name).with("kinds", kinds);
            self.add(value.position, what.with("value", quoted(&value.to_value().to_string())));
        }
    }

    /// A text, or a list of them.
    fn check_texts(&mut self, name: &str, value: &ScriptValue) {
        let is_text = |value: &ScriptValue| matches!(value.tree, Tree::Text(_));
        let fits = value.tree == Tree::Null || each(value).all(is_text);
        self.check_kinds(name, value, "string, array", fits);
    }

    /// A tag: a text, or two of them.
    pub(super) fn check_tag(&mut self, name: &str, value: &ScriptValue) {
        let fits = match &value.tree {
            Tree::Text(_) | Tree::Null => true,
            Tree::List(both) => both.len() == 2 && both.iter().all(|it| it.as_text().is_some()),
            _ => false,
        };
        self.check_kinds(name, value, "string, [string, string]", fits);
    }

    pub(super) fn check_triggers(&mut self, value: &ScriptValue) {
        for trigger in each(value) {
            let Some(text) = trigger.as_text().filter(|text| !is_dynamic(text)) else { continue };
            let is_known = |known: &&str| known.eq_ignore_ascii_case(text);
            if !TRIGGERS.iter().any(is_known) && !text.eq_ignore_ascii_case("Auto") {
                let what = phrases::SETTING_VALUE.with("name", "trigger");
                let what = what.with("value", quoted(text)).with("list", TRIGGERS.join(", "));
                self.add(trigger.position, with_near(what, text, TRIGGERS.iter().copied()));
            }
        }
    }

    /// The keys of `response_format`. Others may be meant for a server.
    pub(super) fn check_format_keys(&mut self, value: &ScriptValue) {
        for (key, inside) in value.pairs() {
            let Some(name) = key.key_text() else { continue };
            if !FORMAT_KEYS.contains(&name.as_str()) && name.chars().count() >= 3 {
                let near = suggest::nearest(&name, FORMAT_KEYS.iter().copied());
                if let Some(near) = near.first() {
                    let what = phrases::KEY_MISSPELT.with("of", "response_format");
                    self.add(key.position, what.with("name", quoted(&name)).with("near", *near));
                }
            }
            let scopes = ["message", "response"];
            if let Some(text) = inside.as_text().filter(|_| name == "conversionScope")
                && !scopes.contains(&text)
            {
                let what = phrases::SETTING_VALUE.with("name", "conversionScope");
                let what = what.with("value", quoted(text)).with("list", scopes.join(", "));
                self.add(inside.position, with_near(what, text, scopes));
            }
        }
    }

    /// `prompt.messages`.
    pub(super) fn check_declared_form(&mut self, value: &ScriptValue) {
        for item in each(value) {
            let fits = match &item.tree {
                Tree::Text(_) | Tree::Null => true,
                Tree::Map(pairs) => {
                    pairs.len() == 1 || item.get("role").is_some() && item.get("content").is_some()
                }
                _ => false,
            };
            if !fits {
                self.add(item.position, phrases::MESSAGE_FORM);
            }
        }
    }

    /// The attributes of an input whose values limit it.
    pub(super) fn check_attributes(&mut self, name: &str, value: &ScriptValue) {
        let is_set = |name: &str| value.get(name).is_some_and(|it| it.tree == Tree::Bool(true));
        if let Some(hidden) = value.get("hidden").filter(|_| is_set("hidden") && is_set("required"))
        {
            self.add(hidden.position, phrases::HIDDEN_REQUIRED.with("name", quoted(name)));
        }
        if let Some(list) = value.get("enum")
            && !matches!(list.tree, Tree::List(_) | Tree::Null)
        {
            self.add(list.position, phrases::ENUM_NO_LIST);
        }
        if let Some(index) = value.get("index")
            && let Tree::Number(number) = &index.tree
            && number.as_f64().is_some_and(|number| number < 0.0)
        {
            self.add(index.position, phrases::INDEX_NEGATIVE.with("value", number.to_string()));
        }
    }

    /// `input: [{a: required}]`, where a map is meant.
    pub(super) fn check_input_word(&mut self, value: &ScriptValue) {
        let word = value.as_text().filter(|text| matches!(*text, "required" | "hidden"));
        if let Some(word) = word {
            self.add(value.position, phrases::INPUT_WORD.with("name", word.to_owned()));
        }
    }

    /// A value that is set for an input in the head.
    pub(super) fn check_input_value(
        &mut self,
        declared: &DeclaredInput,
        script_value: &ScriptValue,
    ) {
        let is_plain = !matches!(&script_value.tree, Tree::Text(text) if is_dynamic(text));
        let value = script_value.to_value();
        if value.is_null() || script_value.tag.is_some() || !is_plain {
            return;
        }
        if !input::is_allowed(&declared.choices, &value) {
            self.add(script_value.position, not_listed(&declared.name, &value, &declared.choices));
            return;
        }
        let mut args = Map::new();
        args.insert(declared.name.clone(), value);
        if let Err(why) = fit_args(std::slice::from_ref(declared), &mut args) {
            self.add(script_value.position, why.message);
        }
    }

    /// Whether `output` can be followed at all: its references, its patterns, its required names.
    pub(super) fn check_schema(&mut self, value: &ScriptValue) {
        self.check_required_names(value);
        self.check_schema_keys(value);
        if let Some(why) = output::schema_fault(&value.to_value()) {
            self.add(value.position, why.0);
        }
    }

    /// An example in the place of a schema, and keys that are nearly those of one.
    fn check_schema_keys(&mut self, value: &ScriptValue) {
        let pairs = value.pairs();
        let has_key = |key: &ScriptValue| SCHEMA_KEYS.iter().any(|it| key.as_text() == Some(it));
        let is_value =
            |node: &ScriptValue| !matches!(node.tree, Tree::Map(_) | Tree::List(_) | Tree::Null);
        if pairs.iter().all(|(key, node)| !has_key(key) && is_value(node)) {
            if !pairs.is_empty() {
                self.add(value.position, phrases::OUTPUT_EXAMPLE);
            }
            return;
        }
        self.check_schema_names(value);
    }

    /// The keys of a schema that says its type, and of those in it.
    fn check_schema_names(&mut self, value: &ScriptValue) {
        let keys = value.pairs().iter().map(|(key, _)| key).filter(|_| value.get("type").is_some());
        for key in keys {
            let name = key.key_text().unwrap_or_default();
            if let Some(near) = near_name(&name, SCHEMA_KEYS.iter().copied()) {
                let what = phrases::KEY_MISSPELT.with("of", "output").with("name", quoted(&name));
                self.add(key.position, what.with("near", near.to_owned()));
            }
        }
        let inside = value.get("properties").map_or(&[][..], ScriptValue::pairs);
        let inside = inside.iter().map(|(_, property)| property).chain(value.get("items"));
        inside.for_each(|schema| self.check_schema_names(schema));
    }

    fn check_required_names(&mut self, value: &ScriptValue) {
        let combines = ["allOf", "anyOf", "oneOf", "$ref", "patternProperties"];
        let is_whole = combines.iter().all(|key| value.get(key).is_none());
        let properties = value.get("properties").filter(|it| !it.pairs().is_empty() && is_whole);
        if let (Some(properties), Some(Tree::List(names))) =
            (properties, value.get("required").map(|node| &node.tree))
        {
            for node in names {
                let Some(name) = node.as_text().filter(|name| properties.get(name).is_none())
                else {
                    continue;
                };
                let what = phrases::REQUIRED_UNKNOWN.with("name", quoted(name));
                let known: Vec<String> =
                    properties.pairs().iter().filter_map(|(key, _)| key.key_text()).collect();
                let known = known.iter().map(String::as_str);
                self.add(node.position, with_near(what, name, known));
            }
        }
        match &value.tree {
            Tree::List(items) => items.iter().for_each(|item| self.check_required_names(item)),
            Tree::Map(pairs) => pairs.iter().for_each(|(_, it)| self.check_required_names(it)),
            _ => {}
        }
    }
}
