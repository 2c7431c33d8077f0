//! Checks calls: whether what they name exists, and whether a script takes what it is passed.

use std::sync::Arc;

use serde_json::Value;

use super::Checker;
use super::fault_log::FaultLog;
use super::keys::near_name;
use super::names::{KnownNames, called_in_source};
use super::slips::{check_argument_names, check_arguments, check_colons, sets_global};
use crate::directive;
use crate::error::{SourcePosition, quoted};
use crate::manifest::input::{self, ScriptArgs};
use crate::manifest::{Export, ImportKind, Manifest};
use crate::syntax::{ScriptValue, Tree};
use crate::text::args::{Arg, CallExpr};
use crate::text::delimiters;
use avocet_core::i18n::script_run as phrases;

/// The names of the arguments of a script's call.
#[derive(Default)]
struct PassedArgs {
    named: Vec<(String, SourcePosition)>,
    positional: usize,
    /// More may be passed than is written.
    is_open: bool,
}

impl Checker<'_> {
    pub(super) fn check_call(&mut self, call: &CallExpr) {
        self.check_exit(call);
        // `$|name` also passes the last result to a script.
        let folder = &self.manifest.origin.folder;
        if !(call.pipe && self.library.find(&call.name, folder).is_ok()) {
            self.check_function(&call.name);
        }
    }

    pub(super) fn check_function(&mut self, name: &str) {
        if directive::find(name).is_some() || self.names.has_function(name) {
            return;
        }
        let own = self.names.functions.iter().map(String::as_str);
        let what = if self.names.faults.is_empty() {
            directive::unknown_name_text(name, own)
        } else {
            // It may be of the import that cannot be read: any advice would be wrong.
            phrases::NO_DIRECTIVE.with("name", quoted(name))
        };
        self.faults.add(what);
    }

    /// The arguments in the brackets of `$if(…)`, `$for(…)`, `$on(…)`, `$exec(…)`.
    pub(super) fn check_call_arguments(&mut self, call: &CallExpr) {
        let value = ScriptValue::new(Tree::Null, self.faults.place);
        let first = call.args.first().map(|arg| arg.expr.clone());
        match (call.name.as_str(), first) {
            ("if" | "while", Some(condition)) => self.check_expression(&condition),
            ("for", Some(items)) => self.check_loop_items(&items),
            ("on" | "once", Some(_)) => self.check_handler(call, &value, &[]),
            _ => self.check_target(call, &value, &[]),
        }
    }

    /// A link of a chain: the last result is passed as well.
    pub(super) fn check_link(&mut self, call: &CallExpr) {
        self.check_script_call(call, true);
    }

    pub(super) fn check_script_call(&mut self, call: &CallExpr, is_chained: bool) {
        check_bare_arguments(call, &self.names, &mut self.faults);
        check_colons(call, &mut self.faults);
        check_arguments(call, &mut self.faults);
        let Some(shape) = self.check_script(&call.name) else { return };
        let is_literal =
            |arg: &Arg| arg.expr.starts_with(|c: char| c == '"' || c == '\'' || c.is_ascii_digit());
        let by_place = || call.args.iter().filter(|arg| arg.name.is_none());
        let passed = PassedArgs {
            named: call
                .args
                .iter()
                .filter_map(|arg| Some((arg.name.clone()?, self.faults.place)))
                .collect(),
            positional: by_place().count(),
            is_open: is_chained || !by_place().all(is_literal),
        };
        check_passed(&shape, passed, &mut self.faults);
    }

    /// `$exec`, `$tool` and `$pipe` name what they call as a value.
    pub(super) fn check_target(
        &mut self,
        call: &CallExpr,
        value: &ScriptValue,
        pairs: &[(ScriptValue, ScriptValue)],
    ) {
        let keys: &[&str] = match call.name.as_str() {
            "exec" => &["id", "filename", "script"],
            "tool" | "pipe" => &["name"],
            _ => return,
        };
        let beside =
            pairs.iter().filter(|(key, _)| !key.as_text().is_some_and(|it| it.starts_with('$')));
        let entries: Vec<&(ScriptValue, ScriptValue)> =
            value.pairs().iter().chain(beside).collect();
        let part = |name: &str| {
            let mut found = entries.iter().filter(|(key, _)| key.as_text() == Some(name));
            found.next().map(|(_, node)| node)
        };
        let arg = |name: &str| call.args.iter().find(|arg| arg.name.as_deref() == Some(name));
        if part("program").is_some() || arg("program").is_some() {
            return;
        }
        let written = keys.iter().find_map(|key| part(key)).unwrap_or(value);
        let in_brackets = keys.iter().find_map(|key| arg(key));
        let in_brackets = in_brackets.or(call.args.first().filter(|arg| arg.name.is_none()));
        let name = match (written.as_text(), in_brackets) {
            (Some(text), _) => text.to_owned(),
            (None, Some(arg)) => match delimiters::unquote(&arg.expr) {
                Some(text) => text,
                None if self.names.has_variable(&arg.expr) => return,
                None => arg.expr.clone(),
            },
            (None, None) => return,
        };
        if written.as_text().is_some() {
            self.faults.enter(written);
        }
        self.check_target_name(call, &name, &entries);
    }

    fn check_target_name(
        &mut self,
        call: &CallExpr,
        name: &str,
        entries: &[&(ScriptValue, ScriptValue)],
    ) {
        let is_dynamic =
            name.starts_with("?=") || ["{{", "[[", "$("].iter().any(|it| name.contains(it));
        if is_dynamic || name.is_empty() || (call.name == "tool" && name == "llm") {
            return;
        }
        if let Some(function) = name.strip_prefix('$') {
            if call.name == "pipe" {
                self.check_function(function);
            }
            return;
        }
        let Some(shape) = self.check_script(name) else { return };
        let args = entries.iter().find(|(key, _)| key.as_text() == Some("args"));
        if let Some((_, args)) =
            args.filter(|(_, args)| call.name == "exec" && !args.pairs().is_empty())
        {
            let named = args.pairs().iter();
            let named = named.filter_map(|(key, _)| Some((key.key_text()?, key.position)));
            let passed = PassedArgs { named: named.collect(), ..PassedArgs::default() };
            check_passed(&shape, passed, &mut self.faults);
        } else if args.is_none() {
            // Without `args`, all other keys are arguments.
            let own = |key: &ScriptValue| {
                let key = key.as_text().unwrap_or_default();
                key.starts_with('$') || ["id", "filename", "script", "name"].contains(&key)
            };
            let named = entries.iter().filter(|(key, _)| !own(key));
            let named = named.filter_map(|(key, _)| Some((key.key_text()?, key.position)));
            let named: Vec<_> = named.collect();
            check_passed(
                &shape,
                PassedArgs { named, positional: 0, is_open: true },
                &mut self.faults,
            );
        }
    }

    /// What `export` names has to exist.
    pub(super) fn check_exports(&mut self) {
        let Some(node) = self.manifest.front_matter.get("export") else { return };
        let manifest = self.manifest;
        for export in manifest.exports.iter().flatten() {
            match export {
                Export::Itself => {}
                Export::Function { name, .. } => {
                    let place = node.find_name(&format!("${name}"));
                    self.faults.place = place.unwrap_or(node.position);
                    self.check_function(name);
                }
                Export::Import(import) => {
                    self.faults.place = import.location.position;
                    match &import.kind {
                        ImportKind::Script(name) => drop(self.check_script(name)),
                        ImportKind::File(name) | ImportKind::Wasm(name) => {
                            let path = self.library.resolve_import(name, &manifest.origin.folder);
                            if matches!(self.library.files().read_bytes(&path), Ok(None)) {
                                self.faults.add(phrases::NO_FILE.with("name", quoted(name)));
                            }
                        }
                        ImportKind::Module(_) => {}
                    }
                }
            }
        }
    }

    /// The calls `$name(…)` in the functions of the script.
    pub(super) fn check_function_calls(&mut self) {
        let own = self.manifest.functions.iter();
        let own = own.filter(|function| function.location.file == self.manifest.origin.file);
        let functions: Vec<(String, SourcePosition)> = own
            .map(|function| (function.source.clone(), function.location.position))
            .chain(self.code.functions.iter().map(|it| (it.source.clone(), it.position)))
            .collect();
        for (source, position) in functions {
            if sets_global(&source) {
                let text = format!("{source}\n");
                let place = self.faults.source.place_of("globalThis", position, &text);
                self.faults.add_at(place, phrases::GLOBAL_LOST);
            }
            for name in called_in_source(&source) {
                let is_known = directive::find(&name).is_some()
                    || self.names.has_function(&name)
                    || self.library.find(&name, &self.manifest.origin.folder).is_ok();
                if !is_known {
                    let text = format!("{source}\n");
                    let place = self.faults.source.place_of(&format!("${name}"), position, &text);
                    let own = self.names.functions.iter().map(String::as_str);
                    let what = directive::unknown_name_text(&name, own);
                    self.faults.add_at(place, what);
                }
            }
        }
    }

    /// The script of a name; a missing one is a fault.
    pub(super) fn check_script(&mut self, name: &str) -> Option<Arc<Manifest>> {
        let is_role = self.manifest.roles().contains_key(name);
        if name == self.manifest.id() || self.names.has_function(name) || is_role {
            return None;
        }
        self.scripts.find(name, &mut self.faults)
    }
}

/// A bare word among the arguments of a script is a variable, or else a text: only what is
/// nearly the name of a variable is certainly misspelt.
fn check_bare_arguments(call: &CallExpr, names: &KnownNames, faults: &mut FaultLog<'_>) {
    for arg in &call.args {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if !arg.expr.chars().all(is_name) || names.has_variable(&arg.expr) {
            continue;
        }
        let known = names.variables.iter().map(String::as_str);
        if let Some(near) = near_name(&arg.expr, known).map(str::to_owned)
            && !near.eq_ignore_ascii_case(&arg.expr)
        {
            let what = phrases::VARIABLE_NOT_SET.with("name", quoted(&arg.expr));
            faults.add_of(
                &arg.expr,
                phrases::DID_YOU_MEAN.with("what", what).with("near", quoted(&near)),
            );
        }
    }
}

fn check_passed(manifest: &Manifest, passed: PassedArgs, faults: &mut FaultLog<'_>) {
    let is_passed = |name: &str| passed.named.iter().any(|(known, _)| known == name);
    check_argument_names(manifest, &passed.named, faults);
    // A message goes on with a conversation.
    if passed.is_open || is_passed("message") {
        return;
    }
    let named = passed.named.iter().map(|(name, _)| (name.clone(), Value::Bool(true)));
    let positional = vec![Value::Bool(true); passed.positional];
    let args = ScriptArgs { positional, named: named.collect(), ..ScriptArgs::default() };
    let (bound, _) = input::bind(&manifest.inputs, args);
    let is_missing = |input: &&input::DeclaredInput| {
        let has_value = bound.contains_key(&input.name) || manifest.own_value(input).is_some();
        input.required && !has_value
    };
    let missing: Vec<String> =
        manifest.inputs.iter().filter(is_missing).map(|input| input.name.clone()).collect();
    for name in missing {
        let what = phrases::CALL_INPUT_MISSING.with("script", quoted(manifest.id()));
        faults.add(what.with("name", quoted(&name)));
    }
}
