//! Checks a script before it runs: compiles what can be compiled, looks up every name, and reports
//! all faults with their places, in order.

use std::path::{Path, PathBuf};

use super::error::{LocatedError, quoted};
use super::manifest::{ImportKind, Manifest};
use super::run::dialogue::read_parts;
use super::run::is_builtin_tool;
use super::settings::no_text_error;
use super::source::{ScriptLibrary, ScriptSource};
use super::syntax::{ScriptValue, Tree, parse_separator};
use super::template::{Format, TemplateCompiler};
use super::text::args::{self, CallExpr};
use avocet_core::i18n::{Phrase, script_run as phrases};
use code::UncompiledCode;
use directive_keys::{check_directive_keys, check_loop, check_system_parts, check_target_keys};
use doubled::{check_doubled_functions, check_doubled_keys};
use fault_log::FaultLog;
use found_scripts::FoundScripts;
use names::named_entries;
pub use names::{GIVEN, KnownNames};
use place::SourceText;
use role_names::{check_addressees, check_role};
use settings::setting_faults;
use slips::{check_argument_names, check_bare, check_reached, check_value};
use unread::check_unread_inputs;

mod calls;
mod code;
mod directive_keys;
mod directives;
mod doubled;
mod events;
mod fault_log;
mod found_scripts;
mod keys;
mod marks;
mod names;
pub mod near;
mod place;
mod role_names;
pub mod settings;
mod slips;
mod texts;
mod unread;
mod values;

/// How bad a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptFaultSeverity {
    Error,
    /// The script runs, but perhaps not as it is meant.
    Warning,
}

impl ScriptFaultSeverity {
    pub fn name(self) -> &'static str {
        match self {
            ScriptFaultSeverity::Error => "error",
            ScriptFaultSeverity::Warning => "warning",
        }
    }
}

/// The faults of scripts that may well be right. One with a name that is near is a slip.
const WARNINGS: &[Phrase] = &[
    phrases::VARIABLE_NOT_SET,
    phrases::NAME_NOT_SET,
    phrases::SETTING_TWICE,
    phrases::KEY_UNKNOWN,
    phrases::KEY_TWICE,
    phrases::FUNCTION_TWICE,
    phrases::FUNCTION_SHADOWS,
    phrases::MARK_BROKEN,
    phrases::EVENT_UNKNOWN,
    phrases::PRINTED_AS_IS,
    phrases::OUTPUT_EXAMPLE,
    phrases::FIELD_OPEN,
    phrases::TITLE_NO_TYPE,
    phrases::GLOBAL_LOST,
    phrases::UNREACHED,
    phrases::CALL_INPUT_UNKNOWN,
    phrases::SEALED,
    phrases::INPUT_UNUSED,
    phrases::HIDDEN_REQUIRED,
    phrases::CONDITION_SETS,
];

pub fn severity(error: &LocatedError) -> ScriptFaultSeverity {
    if WARNINGS.contains(&error.message.phrase()) {
        ScriptFaultSeverity::Warning
    } else {
        ScriptFaultSeverity::Error
    }
}

/// What a loop goes through.
fn check_items(checker: &mut Checker, call: &CallExpr, value: &ScriptValue) {
    let items = value.get("items").unwrap_or(value);
    if let Some(text) = items.as_text().filter(|_| call.args.is_empty()) {
        checker.faults.enter(items);
        checker.check_loop_items(text);
    }
    checker.check_call_arguments(call);
}

/// Maximum number of faults that are reported.
const MAX_FAULTS: usize = 200;

/// Maximum number of scripts that are checked with the one that calls them.
const MAX_SCRIPTS: usize = 100;

/// Reads and checks a script with all that it calls and imports: what could be read of it, and the
/// faults in the order of their places. Nothing of it runs.
pub async fn check(source: ScriptSource, library: &ScriptLibrary) -> (Manifest, Vec<LocatedError>) {
    let (manifest, mut faults, mut open) = check_script(source, library, false).await;
    let mut seen = vec![manifest.origin.file.clone()];
    while let Some((name, folder)) = open.pop()
        && seen.len() < MAX_SCRIPTS
    {
        let Ok(source) = library.find(&name, &folder) else { continue };
        if source.origin.is_built_in || seen.contains(&source.origin.file) {
            continue;
        }
        seen.push(source.origin.file.clone());
        let (_, found, more) = check_script(source, library, true).await;
        faults.extend(found);
        open.extend(more);
    }
    (manifest, sorted(faults))
}

/// The same for one script alone.
pub async fn check_alone(source: ScriptSource, library: &ScriptLibrary) -> Vec<LocatedError> {
    sorted(check_script(source, library, false).await.1)
}

/// A script, its faults, and the names of those that it calls, with the folder they are found from.
type CheckedScript = (Manifest, Vec<LocatedError>, Vec<(String, PathBuf)>);

async fn check_script(
    source: ScriptSource,
    library: &ScriptLibrary,
    is_called: bool,
) -> CheckedScript {
    let (manifest, mut faults) = Manifest::read_all(source, library);
    let (found, called) = manifest_faults(&manifest, library, is_called).await;
    faults.extend(found);
    let folder = &manifest.origin.folder;
    let called = called.into_iter().map(|name| (name, folder.clone())).collect();
    (manifest, faults, called)
}

fn sorted(mut errors: Vec<LocatedError>) -> Vec<LocatedError> {
    let place = |error: &LocatedError| {
        error.location.as_ref().map(|at| (at.file.clone(), at.position.line, at.position.column))
    };
    errors.sort_by_cached_key(place);
    errors.dedup_by(|a, b| a.location == b.location && a.message == b.message);
    errors.truncate(MAX_FAULTS);
    errors
}

async fn manifest_faults(
    manifest: &Manifest,
    library: &ScriptLibrary,
    is_called: bool,
) -> (Vec<LocatedError>, Vec<String>) {
    let text = library.files().read(Path::new(&manifest.origin.file)).ok().flatten();
    let format = manifest.text_setting("templateFormat").and_then(Format::parse);
    let source = SourceText::new(text.as_deref().unwrap_or_default());
    let mut checker = Checker {
        manifest,
        library,
        names: KnownNames::of(manifest, library).called(is_called && manifest.inputs.is_empty()),
        faults: FaultLog::new(&manifest.origin.file, source, manifest.front_matter.position),
        templates: TemplateCompiler::new(format.unwrap_or_default()),
        scripts: FoundScripts::new(manifest, library),
        code: UncompiledCode::default(),
        loops: 0,
    };
    checker.faults.found = setting_faults(manifest);
    checker.check_links();
    checker.check_initialize_exec();
    check_doubled_keys(manifest, &mut checker.faults);
    check_doubled_functions(manifest, &mut checker.faults);
    checker.check_declared_events();
    checker.check_declared_messages();
    checker.code.add_functions(&manifest.front_matter);
    let own = || manifest.body.iter().filter(|item| *item.file == *manifest.origin.file);
    check_reached(own().map(|item| &item.node), &checker.names, &mut checker.faults);
    for item in own() {
        checker.check_instruction(&item.node);
        checker.code.add_functions(&item.node);
    }
    checker.check_function_calls();
    check_unread_inputs(manifest, &mut checker.faults);
    let Checker {
        faults: FaultLog { found: mut faults, source, .. }, names, code, scripts, ..
    } = checker;
    let called = called_scripts(manifest, scripts);
    // The type in the head itself has its own place.
    if manifest.front_matter.get("output").is_none() {
        faults.extend(manifest.output_fault());
    }
    faults.extend(names.faults.iter().cloned());
    faults.extend(code::compile(manifest, &code, &names, &source).await);
    (faults, called)
}

/// The names of the scripts that a script calls or imports.
fn called_scripts(manifest: &Manifest, scripts: FoundScripts<'_>) -> Vec<String> {
    let imported = manifest.imports.iter().filter_map(|import| match &import.kind {
        ImportKind::Script(name) => Some(name.clone()),
        _ => None,
    });
    scripts.names().chain(imported).collect()
}

struct Checker<'a> {
    manifest: &'a Manifest,
    library: &'a ScriptLibrary,
    names: KnownNames,
    faults: FaultLog<'a>,
    templates: TemplateCompiler,
    scripts: FoundScripts<'a>,
    /// What the engine compiles.
    code: UncompiledCode,
    /// The loops around the instruction that is checked.
    loops: usize,
}

impl Checker<'_> {
    /// Roles, tools and bases: the scripts that the settings name.
    fn check_links(&mut self) {
        let front = &self.manifest.front_matter;
        let inside = front.get("character").and_then(|node| node.get("roles"));
        for (role, script) in front.get("roles").or(inside).map_or(&[][..], ScriptValue::pairs) {
            self.faults.place = script.position;
            let shape = script.as_text().and_then(|name| self.check_script(name));
            if let (Some(shape), Some(role)) = (shape, role.key_text())
                && !(shape.has_type("char") || shape.origin.is_built_in)
            {
                let what = phrases::ROLE_NO_CHAR.with("role", quoted(&role));
                self.faults.add(what.with("file", shape.origin.file.clone()));
            }
        }
        let tools = front.get("tools").cloned();
        for (name, place) in tools.iter().flat_map(named_entries) {
            self.faults.place = place;
            match name.strip_prefix('$') {
                Some(route) => self.check_function(route),
                None if is_builtin_tool(&name) => {}
                None => {
                    let about = tools.iter().flat_map(keys::each).find_map(|entry| {
                        let is_it =
                            entry.get("id").and_then(ScriptValue::as_text) == Some(name.as_str());
                        if is_it { Some(entry) } else { entry.get(&name) }
                    });
                    self.check_tool(&name, about.and_then(|about| about.get("defaults")));
                }
            }
        }
        self.check_exports();
    }

    fn check_tool(&mut self, name: &str, default_values: Option<&ScriptValue>) {
        let Some(shape) = self.check_script(name) else { return };
        let set = default_values.map_or(&[][..], ScriptValue::pairs).iter();
        let set = set.filter_map(|(key, _)| Some((key.key_text()?, key.position)));
        check_argument_names(&shape, &set.collect::<Vec<_>>(), &mut self.faults);
        let has_title = shape.text_setting("title").or(shape.text_setting("description")).is_some();
        if !has_title && shape.exports.is_none() {
            self.faults.add(phrases::TOOL_NO_TITLE.with("name", quoted(name)));
        }
    }

    fn check_instruction(&mut self, value: &ScriptValue) {
        self.faults.enter(value);
        match &value.tree {
            Tree::Text(text) if value.tag.is_none() => self.check_line(text),
            Tree::Map(pairs) => self.check_map(pairs),
            Tree::List(_) => self.faults.add(phrases::LIST_ITEM),
            Tree::Text(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }

    /// The instructions of a block: a list, or one of them.
    fn check_block(&mut self, value: &ScriptValue) {
        match &value.tree {
            Tree::List(items) => {
                check_reached(items.iter(), &self.names, &mut self.faults);
                items.iter().for_each(|item| self.check_instruction(item));
            }
            _ => self.check_instruction(value),
        }
    }

    fn check_line(&mut self, text: &str) {
        if let Some(call) = args::parse_call(text).filter(|_| text.starts_with('$')) {
            self.check_call(&call);
            check_bare(&call, &mut self.faults);
            self.check_call_arguments(&call);
        } else if text.starts_with("->") {
            match args::parse_chain(text) {
                Some(links) => links.iter().for_each(|link| {
                    if link.directive { self.check_call(link) } else { self.check_link(link) }
                }),
                None => self.faults.add(phrases::NO_CHAIN.with("text", quoted(text))),
            }
        } else if parse_separator(text).is_none() {
            if self.names.is_broken_call(text) {
                self.faults.add(phrases::CALL_NOT_CLOSED.with("text", quoted(text)));
            }
            self.check_message(text);
        }
    }

    fn check_map(&mut self, pairs: &[(ScriptValue, ScriptValue)]) {
        let call =
            pairs.iter().find(|(key, _)| key.as_text().is_some_and(|it| it.starts_with('$')));
        if let Some((key, value)) = call {
            let name = key.as_text().unwrap_or_default();
            match args::parse_call(name) {
                Some(call) => {
                    self.check_call(&call);
                    self.check_arguments(&call, value, pairs);
                }
                None => self.faults.add(phrases::NO_CALL.with("name", quoted(name))),
            }
            return;
        }
        if pairs.iter().any(|(_, value)| value.as_text() == Some("$tool")) {
            return;
        }
        let of = |name: &str| pairs.iter().find(|(key, _)| key.as_text() == Some(name));
        match (pairs, of("role"), of("content")) {
            ([(role, content)], ..) => {
                let role = role.key_text().unwrap_or_default();
                check_addressees(self.manifest, &role, &mut self.faults);
                check_role(self.manifest, &role, &mut self.faults);
                self.check_content(&role, content);
            }
            (_, Some((_, role)), Some((_, content))) => {
                let role = role.key_text().unwrap_or_default();
                check_role(self.manifest, &role, &mut self.faults);
                self.check_content(&role, content);
            }
            _ => {
                let keys: Vec<String> =
                    pairs.iter().filter_map(|(key, _)| key.key_text()).collect();
                self.faults.add(phrases::UNKNOWN_OBJECT.with("keys", quoted(&keys.join(", "))));
            }
        }
    }

    fn check_content(&mut self, role: &str, value: &ScriptValue) {
        self.faults.enter(value);
        match &value.tree {
            Tree::Text(text) => self.check_message(text),
            Tree::Map(_) if role == "system" => {
                check_system_parts(value, &mut self.faults);
                self.check_values(value);
            }
            Tree::List(_) if let Some(text) = parts_text(value) => self.check_message(&text),
            Tree::List(_) | Tree::Map(_) => {
                self.faults.add(no_text_error(role));
            }
            _ => {}
        }
    }

    /// The value of a directive's key, and the keys beside it.
    fn check_arguments(
        &mut self,
        call: &CallExpr,
        value: &ScriptValue,
        pairs: &[(ScriptValue, ScriptValue)],
    ) {
        let all = value.pairs().iter().chain(pairs);
        let part = |name: &str| {
            let mut found = all.clone().filter(|(key, _)| key.as_text() == Some(name));
            found.next().map(|(_, node)| node)
        };
        check_directive_keys(call, value, pairs, &self.names, &mut self.faults);
        check_loop(call, value, pairs, &mut self.faults);
        check_target_keys(call, value, &mut self.faults);
        check_value(call, value, pairs, &mut self.faults);
        match call.name.as_str() {
            "if" | "while" => self.check_condition(call, value, pairs),
            "on" | "once" => return self.check_handler(call, value, pairs),
            "off" | "emit" => return,
            "match" => return self.check_match(call, value, pairs),
            "get" => self.check_read_names(value),
            "try" => self.check_try(value, pairs),
            "for" => check_items(self, call, value),
            _ => {
                self.check_target(call, value, pairs);
                self.check_values(value);
                for (_, value) in pairs.iter().filter(|(_, other)| !std::ptr::eq(other, value)) {
                    self.check_values(value);
                }
            }
        }
        for name in ["then", "else", "do", "catch", "$catch"] {
            if let Some(block) = part(name) {
                let is_loop = usize::from(name == "do");
                self.loops += is_loop;
                self.check_block(block);
                self.loops -= is_loop;
            }
        }
    }

    /// Arguments: every text in them is evaluated.
    fn check_values(&mut self, script_value: &ScriptValue) {
        match &script_value.tree {
            Tree::Text(text) if script_value.tag.is_none() => {
                self.faults.enter(script_value);
                self.check_value_text(text);
            }
            Tree::List(items) => items.iter().for_each(|item| self.check_values(item)),
            Tree::Map(pairs) => {
                let is_call = |key: &ScriptValue| {
                    key.as_text()
                        .is_some_and(|key| key.starts_with('$') && args::parse_call(key).is_some())
                };
                if pairs.iter().any(|(key, _)| is_call(key)) {
                    self.check_instruction(script_value)
                } else {
                    pairs.iter().for_each(|(_, value)| self.check_values(value))
                }
            }
            _ => {}
        }
    }
}

/// The text of a message of parts.
fn parts_text(value: &ScriptValue) -> Option<String> {
    read_parts(value.to_value().as_array()?).map(|(text, _)| text)
}
