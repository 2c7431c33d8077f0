//! The keys of a head that have a meaning, below the settings themselves: which are misspelt, and
//! which values cannot be what they are meant for.

use serde_json::{Value, json};

use super::near::with_near;
use crate::error::{SourcePosition, quoted};
use crate::manifest::input;
use crate::output;
use crate::permission::Rules;
use crate::settings::{
    INPUT_ATTRIBUTES, INPUT_TYPES, PARAMETERS, PERMISSION_CALLER_KEYS, PERMISSION_KEYS,
    PERMISSION_RULE_KEYS, REPLY_FORMATS, SAMPLING, SETTINGS, SettingSpec, THINK_KEYS,
    THINK_PROMPTS, TOOL_KEYS, server_parameters,
};
use crate::syntax::{ScriptValue, Tree};
use crate::text::regex;
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, script as reply_words, script_run as phrases};

/// The faults of one head, with their places.
#[derive(Default)]
pub(super) struct KeyFaults(pub Vec<(SourcePosition, LocalizedText)>);

/// How many tools may run at once.
const CONCURRENCY: std::ops::RangeInclusive<i64> = 1..=10;

impl KeyFaults {
    pub(super) fn add(&mut self, position: SourcePosition, what: impl Into<LocalizedText>) {
        self.0.push((position, what.into()));
    }

    /// What is wrong below one setting.
    pub fn check_setting(&mut self, name: &str, value: &ScriptValue) {
        match name {
            "parameters" => self.check_parameters(value),
            "shouldThink" => self.check_thinking(value),
            "permissions" => self.check_permissions(value),
            "input" => self.check_inputs(value),
            "output" => {
                let before = self.0.len();
                self.check_types(value);
                // A misspelt type cannot be a part of a schema.
                if self.0.len() == before {
                    self.check_schema(value);
                }
            }
            "tools" => self.check_tools(value),
            "response_format" => self.check_reply_format(value),
            "prompt" => {
                if let Some(format) = value.get("response_format") {
                    self.check_reply_format(format);
                }
                if let Some(messages) = value.get("messages") {
                    self.check_declared_form(messages);
                }
                for (key, value) in value.pairs() {
                    let name = key.key_text().unwrap_or_default();
                    // Any other name is one for templates, which are given no list of messages.
                    let is_list = matches!(value.tree, Tree::List(_));
                    if let Some(near) =
                        near_name(&name, ["messages"].into_iter()).filter(|_| is_list)
                    {
                        let what = phrases::KEY_MISSPELT.with("of", "prompt");
                        self.add(key.position, what.with("name", quoted(&name)).with("near", near));
                    }
                    self.check_value(&name, value);
                }
            }
            "modelPattern" => each(value).for_each(|pattern| self.check_pattern(pattern)),
            "concurrency_level" => self.check_range(name, value),
            _ => self.check_value(name, value),
        }
    }

    fn check_range(&mut self, name: &str, value: &ScriptValue) {
        let Tree::Number(number) = &value.tree else { return };
        if number.as_i64().is_none_or(|number| !CONCURRENCY.contains(&number)) {
            let what = phrases::VALUE_RANGE.with("name", name).with("low", *CONCURRENCY.start());
            let what = what.with("high", *CONCURRENCY.end()).with("value", number.to_string());
            self.add(value.position, what);
        }
    }

    /// Any other parameter is the server's, so only what is nearly the name of a known one is wrong.
    fn check_parameters(&mut self, value: &ScriptValue) {
        for (key, value) in value.pairs() {
            let Some(name) = key.key_text() else { continue };
            if let Some(near) = misspelt_parameter(&name) {
                let what = phrases::KEY_MISSPELT.with("of", "parameters");
                self.add(key.position, what.with("name", quoted(&name)).with("near", near));
            }
            if let Some(row) = PARAMETERS.iter().find(|row| row.name == name) {
                self.check_kind(row, value);
            }
            if let Some(row) = SAMPLING.iter().find(|row| row.names.contains(&name.as_str())) {
                let what = types_fault(row.name, row.types, value);
                what.into_iter().for_each(|what| self.add(value.position, what));
            }
            if name == "response_format" {
                self.check_reply_format(value);
            }
            self.check_value(&name, value);
        }
    }

    /// Every key must be known: an unknown one does nothing.
    fn check_known(&mut self, of: &str, value: &ScriptValue, known: &[&str]) {
        for (key, _) in value.pairs() {
            let Some(name) = key.key_text() else { continue };
            if !known.contains(&name.as_str()) {
                let what = phrases::KEY_UNKNOWN.with("of", of.to_owned());
                let what = what.with("name", quoted(&name));
                self.add(key.position, with_near(what, &name, known.iter().copied()));
            }
        }
    }

    /// Other keys may be there for other programs.
    fn check_near(&mut self, of: &str, script_value: &ScriptValue, specs: &[SettingSpec]) {
        for (key, value) in script_value.pairs() {
            let Some(name) = key.key_text() else { continue };
            match specs.iter().find(|row| row.name == name) {
                Some(row) => self.check_kind(row, value),
                None => {
                    if let Some(near) = near_name(&name, specs.iter().map(|row| row.name)) {
                        let what = phrases::KEY_MISSPELT.with("of", of.to_owned());
                        self.add(
                            key.position,
                            what.with("name", quoted(&name)).with("near", near.to_owned()),
                        );
                    }
                }
            }
        }
    }

    fn check_kind(&mut self, spec: &SettingSpec, value: &ScriptValue) {
        if let Some(what) = kind_fault(spec, value) {
            self.add(value.position, what);
        }
    }

    fn check_thinking(&mut self, value: &ScriptValue) {
        let known: Vec<&str> = THINK_KEYS.iter().map(|row| row.name).collect();
        self.check_known("shouldThink", value, &known);
        for (key, inside) in value.pairs() {
            let name = key.key_text().unwrap_or_default();
            if let Some(row) = THINK_KEYS.iter().find(|row| row.name == name) {
                self.check_kind(row, inside);
            }
            match name.as_str() {
                "thinkTag" | "answerTag" => {
                    self.check_tag(&name, inside);
                    self.check_pattern(inside);
                }
                "defaultThinkPrompt" => {
                    let prompts = inside.get("prompt").unwrap_or(inside);
                    self.check_known("defaultThinkPrompt", prompts, THINK_PROMPTS);
                }
                _ => {}
            }
        }
    }

    /// A text may be a regular expression, `/source/flags`.
    fn check_pattern(&mut self, value: &ScriptValue) {
        let text = value.as_text().and_then(|text| text.strip_prefix('/'));
        let Some((source, flags)) = text.and_then(|text| text.rsplit_once('/')) else { return };
        if let Some(what) = regex_fault(source, flags) {
            self.add(value.position, what);
        }
    }

    fn check_permissions(&mut self, value: &ScriptValue) {
        let before = self.0.len();
        self.check_known("permissions", value, PERMISSION_KEYS);
        let caller = value.get("ai");
        if let Some(caller) = caller {
            self.check_known("ai", caller, PERMISSION_CALLER_KEYS);
        }
        let rules = caller.and_then(|caller| caller.get("call"));
        for rule in rules.into_iter().flat_map(each) {
            self.check_rule(rule);
        }
        for map in [Some(value), caller].into_iter().flatten() {
            if let Some(action) = map.get("defaultAction") {
                let alone = json!({ "defaultAction": action.to_value() });
                if let Err(why) = Rules::read(&alone) {
                    self.add(action.position, why.0);
                }
            }
        }
        if let (true, Err(why)) = (self.0.len() == before, Rules::read(&value.to_value())) {
            self.add(value.position, why.0);
        }
    }

    fn check_rule(&mut self, value: &ScriptValue) {
        match value.pairs() {
            [(_, details)] if value.get("name").is_none() => {
                self.check_known("call", details, PERMISSION_RULE_KEYS);
            }
            [] => {}
            _ => self.check_known("call", value, PERMISSION_RULE_KEYS),
        }
        let alone = json!({ "ai": { "call": [value.to_value()] } });
        if let Err(why) = Rules::read(&alone) {
            self.add(value.position, why.0);
        }
    }

    fn check_inputs(&mut self, value: &ScriptValue) {
        let is_object = value.get("type").is_some_and(|kind| kind.as_text() == Some("object"));
        if is_object && value.get("properties").is_some_and(|it| !it.pairs().is_empty()) {
            return self.add(value.position, phrases::INPUT_SCHEMA);
        }
        let pairs: Vec<(&ScriptValue, Option<&ScriptValue>)> = each(value)
            .flat_map(|item| match &item.tree {
                Tree::Map(pairs) => pairs.iter().map(|(key, about)| (key, Some(about))).collect(),
                _ => vec![(item, None)],
            })
            .collect();
        let mut names: Vec<String> = Vec::new();
        let mut places: Vec<(usize, String)> = Vec::new();
        for (key, about) in pairs {
            let Some(name) = key.key_text() else { continue };
            if names.contains(&name) {
                self.add(key.position, phrases::INPUT_TWICE.with("name", quoted(&name)));
            }
            about.into_iter().for_each(|about| self.check_input_word(about));
            let about = about.filter(|about| matches!(about.tree, Tree::Map(_)));
            if let Some(about) = about {
                self.check_near(&name, about, INPUT_ATTRIBUTES);
                self.check_input(&name, about, &mut places);
            }
            names.push(name);
        }
    }

    fn check_input(&mut self, name: &str, value: &ScriptValue, places: &mut Vec<(usize, String)>) {
        for kind in value.get("type").into_iter().flat_map(each) {
            let text = kind.as_text().unwrap_or_default();
            if let Some(near) = near_name(text, INPUT_TYPES.iter().copied()) {
                let what = phrases::VALUE_MISSPELT.with("name", quoted(text));
                self.add(kind.position, what.with("near", near.to_owned()));
            }
        }
        let declared = input::parse_inputs(Some(&json!([{ name: value.to_value() }])));
        let Some(declared) = declared.into_iter().next() else { return };
        self.check_attributes(name, value);
        if let Some(default) = value.get("default") {
            self.check_input_value(&declared, default);
        }
        let Some(index) = declared.index else { return };
        let place = value.get("index").map_or(value.position, |node| node.position);
        match places.iter().find(|(known, _)| *known == index) {
            Some((_, other)) => {
                let what = phrases::INDEX_TWICE.with("one", quoted(other));
                self.add(place, what.with("other", quoted(name)).with("index", index));
            }
            None => places.push((index, name.to_owned())),
        }
    }

    /// The `type`s of a JSON Schema, at any depth.
    fn check_types(&mut self, script_value: &ScriptValue) {
        match &script_value.tree {
            Tree::List(items) => items.iter().for_each(|item| self.check_types(item)),
            Tree::Map(pairs) => {
                for (key, value) in pairs {
                    match key.key_text().as_deref() {
                        Some("type") => {
                            each(value).for_each(|kind| self.check_type(kind));
                            self.check_types(value);
                        }
                        Some("enum" | "const" | "default" | "example" | "examples") => {}
                        _ => self.check_types(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn check_type(&mut self, value: &ScriptValue) {
        let what = value.as_text().and_then(output::misspelt_type_name);
        if let Some(what) = what {
            self.add(value.position, what);
        }
    }

    fn check_tools(&mut self, value: &ScriptValue) {
        let entries = match &value.tree {
            Tree::Map(pairs) => pairs.iter().map(|(_, about)| about).collect(),
            _ => each(value)
                .flat_map(|item| match item.get("id") {
                    Some(_) => vec![item],
                    None => item.pairs().iter().map(|(_, about)| about).collect(),
                })
                .collect::<Vec<_>>(),
        };
        for about in entries {
            self.check_near("tools", about, TOOL_KEYS);
            about.get("trigger").into_iter().for_each(|trigger| self.check_triggers(trigger));
        }
    }

    fn check_reply_format(&mut self, value: &ScriptValue) {
        self.check_format_keys(value);
        let kind = value.get("type").unwrap_or(value);
        let Some(text) = kind.as_text().filter(|text| !is_dynamic(text)) else { return };
        let name = text.trim().to_ascii_lowercase();
        if !REPLY_FORMATS.contains(&name.as_str()) {
            let what = reply_words::OUTPUT_KIND.with("kind", quoted(text));
            self.add(kind.position, with_near(what, &name, REPLY_FORMATS.iter().copied()));
        }
    }
}

/// The items of a list, or the one value.
pub(super) fn each(value: &ScriptValue) -> std::slice::Iter<'_, ScriptValue> {
    match &value.tree {
        Tree::List(items) => items.iter(),
        Tree::Null => [].iter(),
        _ => std::slice::from_ref(value).iter(),
    }
}

pub(super) fn not_listed(name: &str, value: &Value, choices: &[Value]) -> LocalizedText {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let list: Vec<String> = choices.iter().map(text).collect();
    let what = phrases::INPUT_NOT_LISTED.with("name", quoted(name));
    what.with("value", quoted(&text(value))).with("list", quoted(&list.join(", ")))
}

/// Whether a text is evaluated before it is used.
pub(super) fn is_dynamic(text: &str) -> bool {
    text.starts_with("?=") || text.starts_with('$') || text.contains("{{")
}

/// The known name that another is nearly written like; short names are too alike to tell.
pub(super) fn near_name<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    if name.chars().count() < 4 || known.clone().any(|row| row == name) {
        return None;
    }
    let near = suggest::nearest(name, known).first().copied()?;
    (near.len().abs_diff(name.len()) <= 2).then_some(near)
}

/// The parameter of a model call that a name is nearly written like.
pub fn misspelt_parameter(name: &str) -> Option<&'static str> {
    let own = PARAMETERS.iter().chain(SETTINGS).map(|row| row.name);
    near_name(name, own.chain(server_parameters()))
}

/// Why a value cannot be what its setting is for: a flag, a number. Texts that are evaluated first
/// may become anything.
pub(super) fn kind_fault(spec: &SettingSpec, value: &ScriptValue) -> Option<LocalizedText> {
    types_fault(spec.name, spec.types, value)
}

fn types_fault(name: &str, types: &[&str], value: &ScriptValue) -> Option<LocalizedText> {
    let has = |kind: &str| types.contains(&kind);
    let simple = ["boolean", "number", "integer", "null"];
    if types.is_empty() || !types.iter().all(|kind| simple.contains(kind)) {
        return None;
    }
    let shown = match &value.tree {
        Tree::Null => return None,
        Tree::Bool(_) if has("boolean") => return None,
        Tree::Number(_) if has("number") => return None,
        Tree::Number(number) if has("integer") && number.as_f64()?.fract() == 0.0 => return None,
        Tree::Text(text) if is_dynamic(text) => return None,
        Tree::Text(text) if !has("boolean") && text.trim().parse::<f64>().is_ok() => return None,
        Tree::Text(text) => quoted(text),
        _ => quoted(&value.to_value().to_string()),
    };
    let what = phrases::VALUE_KIND.with("name", name).with("kinds", types.join(", "));
    Some(what.with("value", shown))
}

/// What is wrong with a regular expression.
pub(super) fn regex_fault(source: &str, flags: &str) -> Option<LocalizedText> {
    let mut unknown = flags.chars().filter(|flag| !"dgimsuvy".contains(*flag));
    if let Some(flag) = unknown.next() {
        return Some(phrases::REGEX_FLAG.with("flag", flag.to_string()));
    }
    regex::captures(source, flags, "").err().map(|why| why.0)
}
