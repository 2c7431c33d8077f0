//! What can be written at a place.

use serde_json::Value;

use super::spot::{SpotKind, directive_above, keys_above};
use super::{EditedScript, EditorPosition, EditorRange};
use crate::directive;
use crate::manifest::{DeclaredInput, Manifest};
use crate::reference::MARKS;
use crate::run;
use crate::settings::{
    DIRECTIVE_KEYS, INPUT_ATTRIBUTES, PARAMETERS, SETTINGS, SettingSpec, THINK_KEYS, TOOL_KEYS,
};
use crate::source::stem;
use crate::template::FILTERS;
use avocet_core::i18n::{PhraseValue, script_help as docs};

/// One proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    pub label: String,
    /// What replaces the word at the place.
    pub insert: String,
    pub kind: CompletionKind,
    pub about: Option<PhraseValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    Directive,
    Setting,
    Value,
    Script,
    Variable,
    Function,
    Mark,
    Role,
}

impl Completion {
    fn new(
        label: impl Into<String>,
        kind: CompletionKind,
        value: Option<PhraseValue>,
    ) -> Completion {
        let label = label.into();
        Completion { insert: label.clone(), label, kind, about: value }
    }
}

/// The keys that may be written below these, the closest first.
pub(super) fn key_table(above: &[String]) -> &'static [SettingSpec] {
    let above: Vec<&str> = above.iter().map(String::as_str).collect();
    match above.as_slice() {
        [] => SETTINGS,
        ["parameters"] => PARAMETERS,
        ["shouldThink"] => THINK_KEYS,
        [_, "input"] => INPUT_ATTRIBUTES,
        ["tools"] | [_, "tools"] => TOOL_KEYS,
        _ => &[],
    }
}

const ROLES: &[&str] = &["system", "user", "assistant"];

impl EditedScript<'_> {
    /// The proposals at a place, and the part of the text that one replaces.
    pub fn completions(&self, position: EditorPosition) -> (EditorRange, Vec<Completion>) {
        let spot = self.spot(position);
        let manifest = self.manifest(position.line);
        let manifest = manifest.as_ref();
        let mut start = spot.start;
        let found = match &spot.kind {
            SpotKind::Key(above) => keys(above),
            SpotKind::Value(above) => self.values(above),
            SpotKind::Call => self.calls(manifest),
            SpotKind::Script => self.scripts_and_calls(&mut start, position),
            SpotKind::Variable => self.variables(manifest, position),
            SpotKind::Filter => {
                let own = FILTERS
                    .iter()
                    .map(|name| Completion::new(*name, CompletionKind::Function, None));
                own.chain(self.functions(manifest, "")).collect()
            }
            SpotKind::LineStart => self.line_starts(manifest, position.line),
            SpotKind::Parameter => parameters(),
            SpotKind::Input(script) => self.inputs(manifest, script),
            SpotKind::InputValue(script, input) => self.input_values(manifest, script, input),
            SpotKind::Role => addressees(manifest),
            SpotKind::Text => Vec::new(),
        };
        let end = self.lines.byte_at(position).max(start);
        (self.lines.range(position.line, start, end), found)
    }

    fn values(&self, above: &[String]) -> Vec<Completion> {
        let Some((key, above)) = above.split_first() else { return Vec::new() };
        let Some(row) = key_table(above).iter().find(|row| row.name == *key) else {
            return Vec::new();
        };
        let flags = if row.types.contains(&"boolean") { &["true", "false"][..] } else { &[] };
        let values = row.choices.iter().chain(flags);
        values.map(|value| Completion::new(*value, CompletionKind::Value, None)).collect()
    }

    fn scripts(&self) -> Vec<Completion> {
        let file_name = |path: &std::path::Path| {
            path.file_name().map(|name| stem(&name.to_string_lossy()).to_owned())
        };
        let paths = self.library.paths(self.folder());
        let names = paths.iter().filter_map(|path| file_name(path));
        let built_in = self.library.built_in().map(str::to_owned);
        let mut completions: Vec<Completion> = Vec::new();
        for name in names.chain(built_in) {
            if completions.iter().all(|known| known.label != name) {
                completions.push(Completion::new(name, CompletionKind::Script, None));
            }
        }
        completions
    }

    /// After `->` and `[[@` a directive can follow as well; a tool may be a built-in one.
    fn scripts_and_calls(&self, start: &mut usize, position: EditorPosition) -> Vec<Completion> {
        // A path is replaced from its last part on.
        let typed = self
            .lines
            .get(position.line)
            .get(*start..self.lines.byte_at(position))
            .unwrap_or_default();
        *start += typed.rfind('/').map_or(0, |slash| slash + 1);
        let mut out = self.scripts();
        let in_head = self.head.as_ref().is_some_and(|head| head.contains(&position.line));
        if in_head && keys_above(&self.lines, position).iter().any(|key| key == "tools") {
            let tools = run::builtin_tools().map(|(id, _)| id);
            out.extend(tools.map(|id| Completion::new(id, CompletionKind::Function, None)));
        }
        out
    }

    /// The inputs of the script that is called here.
    fn inputs(&self, manifest: Option<&Manifest>, script: &str) -> Vec<Completion> {
        let called = self.called(script, manifest);
        let inputs = called.iter().flat_map(|called| &called.inputs).filter(|it| !it.is_hidden());
        let row = |input: &DeclaredInput| {
            let about = input.about.get("description").and_then(Value::as_str);
            let about = about.map(PhraseValue::from);
            let row = Completion::new(input.name.as_str(), CompletionKind::Setting, about);
            Completion { insert: format!("{}=", input.name), ..row }
        };
        inputs.map(row).collect()
    }

    /// The values that one of them is limited to, and the variables that may hold another.
    fn input_values(
        &self,
        manifest: Option<&Manifest>,
        script: &str,
        input: &str,
    ) -> Vec<Completion> {
        let called = self.called(script, manifest);
        let mut inputs = called.iter().flat_map(|called| &called.inputs);
        let choices = inputs.find(|it| it.name == input).map(|it| it.choices.as_slice());
        let choices = choices.unwrap_or_default().iter();
        let choices =
            choices.map(|it| Completion::new(it.to_string(), CompletionKind::Value, None));
        let names = self.names(manifest).variables.into_iter();
        let names = names.map(|name| Completion::new(name, CompletionKind::Variable, None));
        choices.chain(names).collect()
    }

    fn functions(&self, manifest: Option<&Manifest>, sign: &str) -> Vec<Completion> {
        let names = self.names(manifest);
        let about = || Some(PhraseValue::from(docs::OWN_FUNCTION));
        let own = names.functions.iter().map(|name| {
            let name = name.strip_prefix("template$").unwrap_or(name);
            Completion::new(format!("{sign}{name}"), CompletionKind::Function, about())
        });
        own.collect()
    }

    fn calls(&self, manifest: Option<&Manifest>) -> Vec<Completion> {
        let rows = directive::TABLE.iter().map(|row| {
            let about = Some(PhraseValue::from(row.about));
            Completion::new(format!("${}", row.name), CompletionKind::Directive, about)
        });
        rows.chain(self.functions(manifest, "$")).collect()
    }

    fn variables(&self, manifest: Option<&Manifest>, position: EditorPosition) -> Vec<Completion> {
        let names = self.names(manifest).variables;
        let mut completions: Vec<Completion> = names
            .into_iter()
            .map(|name| Completion::new(name, CompletionKind::Variable, None))
            .collect();
        let spot = self.spot(position);
        let before = self.lines.get(position.line).get(..spot.start).unwrap_or_default();
        if before.ends_with("[[") {
            for mark in MARKS.iter().filter(|mark| mark.form.starts_with("[[")) {
                let inside = mark.form.trim_start_matches("[[").trim_end_matches("]]");
                let completion =
                    Completion::new(mark.form, CompletionKind::Mark, Some(mark.about.into()));
                completions.push(Completion { insert: inside.to_owned(), ..completion });
            }
        } else if before.contains("?=") || before.contains("$") {
            completions.extend(self.functions(manifest, "$"));
        }
        completions
    }

    fn line_starts(&self, manifest: Option<&Manifest>, line: u32) -> Vec<Completion> {
        let directive = directive_above(&self.lines, line);
        let name = directive.as_deref().map(|name| name.trim_start_matches('$'));
        if let Some((own, keys)) = DIRECTIVE_KEYS.iter().find(|(known, _)| Some(*known) == name) {
            let keys = keys.iter().filter(|key| *key != own);
            let key = |key: &&str| Completion {
                insert: format!("{key}: "),
                ..Completion::new(*key, CompletionKind::Setting, None)
            };
            return keys.map(key).collect();
        }
        let own = manifest.map(Manifest::roles).unwrap_or_default();
        let roles = ROLES.iter().map(|role| (*role).to_owned()).chain(own.keys().cloned());
        let roles = roles.map(|role| Completion {
            insert: format!("{role}: "),
            ..Completion::new(role, CompletionKind::Role, None)
        });
        let others =
            ["---", "->", "!fn |-"].map(|text| Completion::new(text, CompletionKind::Mark, None));
        roles.chain(others).chain(self.calls(manifest)).collect()
    }
}

fn keys(above: &[String]) -> Vec<Completion> {
    let row = |spec: &SettingSpec| Completion {
        insert: format!("{}: ", spec.name),
        ..Completion::new(spec.name, CompletionKind::Setting, Some(spec.about.into()))
    };
    key_table(above).iter().map(row).collect()
}

/// Those that a message can be addressed to.
fn addressees(manifest: Option<&Manifest>) -> Vec<Completion> {
    let roles = manifest.map(Manifest::roles).unwrap_or_default();
    let names = roles.keys().map(String::as_str).chain(["all"]);
    names.map(|name| Completion::new(name, CompletionKind::Role, None)).collect()
}

fn parameters() -> Vec<Completion> {
    let row = |spec: &SettingSpec| Completion {
        insert: format!("{}=", spec.name),
        ..Completion::new(spec.name, CompletionKind::Setting, Some(spec.about.into()))
    };
    PARAMETERS.iter().map(row).collect()
}
