//! Slips that a run would pass over in silence: what is printed as it is, arguments and keys that do
//! nothing, and instructions that are never reached.

use super::fault_log::FaultLog;
use super::keys::{is_dynamic, misspelt_parameter};
use super::names::{GIVEN, KnownNames};
use super::near::with_near;
use crate::error::{SourcePosition, quoted};
use crate::manifest::Manifest;
use crate::run::single_interpolation;
use crate::settings::{PARAMETERS, SETTINGS, directive_keys, server_parameters};
use crate::syntax::{ScriptValue, Tree};
use crate::text::args::{self, Arg, CallExpr};
use crate::text::prefix::{self, PrefixPosition, TextPrefix};
use crate::text::{delimiters, mentions};
use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::ApprovalMode;

/// The directives after which nothing of a block is run.
const LAST: [&str; 5] = ["ret", "exit", "throw", "break", "continue"];
/// The names of what a loop gives.
const LOOP_NAMES: &[&str] = &["value", "index", "items"];
/// The keys of a program that is run.
const PROGRAM_KEYS: &[&str] = &["program", "args", "check"];

/// `name: value` among the arguments of a script is one text.
pub(super) fn check_colons(call: &CallExpr, faults: &mut FaultLog<'_>) {
    for arg in call.args.iter().filter(|arg| arg.name.is_none()) {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if let Some((name, rest)) = arg.expr.split_once(':')
            && !name.is_empty()
            && name.chars().all(is_name)
            && !rest.starts_with("//")
        {
            let what = phrases::ARG_COLON.with("text", quoted(&arg.expr));
            faults.add_of(&arg.expr, what.with("name", quoted(name)));
        }
    }
}

/// Arguments without a value, and a text whose quote takes in the rest.
pub(super) fn check_arguments(call: &CallExpr, faults: &mut FaultLog<'_>) {
    for Arg { name, expr } in &call.args {
        match name {
            Some(name) if expr.is_empty() => {
                faults.add_of(name, phrases::ARG_EMPTY.with("name", quoted(name)));
            }
            _ if expr.starts_with(['"', '\'']) && delimiters::is_unclosed(expr) => {
                faults.add_of(expr, phrases::ARG_QUOTE.with("text", quoted(expr)));
            }
            _ => {}
        }
    }
}

/// The names of arguments, which the script has to know.
pub(super) fn check_argument_names(
    manifest: &Manifest,
    named: &[(String, SourcePosition)],
    faults: &mut FaultLog<'_>,
) {
    for (name, place) in named {
        if !takes(manifest, name) {
            let what = phrases::CALL_INPUT_UNKNOWN.with("script", quoted(manifest.id()));
            let inputs = manifest.inputs.iter().map(|input| input.name.as_str());
            faults.add_at(*place, with_near(what.with("name", quoted(name)), name, inputs));
        }
    }
}

/// Whether a script does something with an argument. One that declares no inputs may read any.
fn takes(manifest: &Manifest, name: &str) -> bool {
    let settings = SETTINGS.iter().chain(PARAMETERS).any(|row| row.name == name);
    manifest.inputs.is_empty()
        || manifest.exports.is_some()
        || manifest.inputs.iter().any(|input| input.name == name)
        || manifest.config.contains_key(name)
        || settings
        || GIVEN.contains(&name)
        || server_parameters().any(|known| known == name)
        // `!as` and the like are options of the call.
        || name.starts_with('!')
        || name.parse::<usize>().is_ok()
        || manifest.body.iter().any(|item| mentions::reads_name(&item.node, name))
        || manifest.functions.iter().any(|function| mentions::has_name(&function.source, name))
}

/// What an `!fn` sets on `globalThis`, which each function has for itself.
pub(super) fn sets_global(source: &str) -> bool {
    source.match_indices("globalThis.").any(|(at, found)| {
        let after = source.split_at(at + found.len()).1;
        let after = after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        let value = after.trim_start().strip_prefix('=');
        value.is_some_and(|value| !value.starts_with('='))
    })
}

/// A directive as a line of its own that does nothing without more.
pub(super) fn check_bare(call: &CallExpr, faults: &mut FaultLog<'_>) {
    match call.name.as_str() {
        "if" if call.args.is_empty() => faults.add(phrases::IF_NEEDS),
        "for" | "while" => faults.add(phrases::LOOP_NEEDS.with("name", format!("${}", call.name))),
        _ => {}
    }
}

fn check_items(items: &ScriptValue, faults: &mut FaultLog<'_>) {
    if let Some(text) = items.as_text().filter(|text| text.contains("...")) {
        faults.add(phrases::NOT_ITEMS.with("what", quoted(text)));
    }
}

fn check_parameters(call: &CallExpr, value: &ScriptValue, faults: &mut FaultLog<'_>) {
    for (key, _) in value.pairs() {
        let name = key.key_text().unwrap_or_default();
        if let Some(near) = misspelt_parameter(&name) {
            let what = phrases::KEY_MISSPELT.with("of", format!("${}", call.name));
            let what = what.with("name", quoted(&name)).with("near", near);
            faults.add_at(key.position, what);
        }
    }
}

/// The value of a directive.
pub(super) fn check_value(
    call: &CallExpr,
    value: &ScriptValue,
    pairs: &[(ScriptValue, ScriptValue)],
    faults: &mut FaultLog<'_>,
) {
    let part = |name: &str| {
        let mut all = value.pairs().iter().chain(pairs);
        all.find(|(key, _)| key.as_text() == Some(name)).map(|(_, node)| node)
    };
    match call.name.as_str() {
        "print" | "echo" | "ret" if call.args.is_empty() => check_printed(value, faults),
        "exec" if part("program").is_some() => check_keys(call, value, PROGRAM_KEYS, faults),
        "agent" if call.args.is_empty() => {
            check_keys(call, value, directive_keys("agent").unwrap_or_default(), faults);
            let mode = part("mode");
            if let Some(what) = mode.and_then(ScriptValue::as_text).and_then(agent_mode_fault) {
                faults.add_at(mode.map_or(value.position, |mode| mode.position), what);
            }
        }
        "if" | "while" => {
            let condition = value.get(&call.name).unwrap_or(value);
            if let Some(name) = condition.as_text().and_then(assigned_name) {
                faults.enter(condition);
                faults.add(phrases::CONDITION_SETS.with("name", quoted(name)));
            }
        }
        "try" => check_retries(part("retry").or(part("$retry")), faults),
        "for" => {
            if let Some(names) = part("as") {
                check_keys(call, names, LOOP_NAMES, faults);
            }
            check_items(part("items").unwrap_or(value), faults);
        }
        "remember" if part("id").is_none() && call.args.is_empty() => {
            faults.add(phrases::KEEP_NEEDS);
        }
        "AI" | "parameters" => check_parameters(call, value, faults),
        _ => {}
    }
}

/// Why a text cannot be the mode of an agent.
fn agent_mode_fault(text: &str) -> Option<LocalizedText> {
    let known = ApprovalMode::NAMES;
    let what = phrases::SETTING_VALUE.with("name", "mode").with("value", quoted(text));
    let what = with_near(what.with("list", known.join(", ")), text, known.iter().copied());
    (!is_dynamic(text) && !known.contains(&text)).then_some(what)
}

/// The name that a condition sets where it is probably meant to compare.
fn assigned_name(condition: &str) -> Option<&str> {
    let (name, rest) = condition.trim_start_matches("?=").split_once('=')?;
    let name = name.trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    (!name.is_empty() && name.chars().all(is_name) && !rest.starts_with(['=', '>'])).then_some(name)
}

/// How often a block is tried again is a number.
fn check_retries(value: Option<&ScriptValue>, faults: &mut FaultLog<'_>) {
    let Some((value, text)) = value.and_then(|value| Some((value, value.as_text()?))) else {
        return;
    };
    if !is_dynamic(text) && text.trim().parse::<u64>().is_err() {
        let what = phrases::VALUE_KIND.with("name", "retry").with("kinds", "integer");
        faults.add_at(value.position, what.with("value", quoted(text)));
    }
}

/// A template where none is filled in.
fn check_printed(value: &ScriptValue, faults: &mut FaultLog<'_>) {
    let Some(text) = value.as_text() else { return };
    let is_plain = prefix::parse_prefix(text, PrefixPosition::Value).0 == TextPrefix::NoPrefix;
    let is_text = is_plain && single_interpolation(text).is_none() && !text.contains("[[");
    if is_text && text.contains("{{") {
        faults.enter(value);
        faults.add(phrases::PRINTED_AS_IS);
    }
}

fn check_keys(call: &CallExpr, value: &ScriptValue, known: &[&str], faults: &mut FaultLog<'_>) {
    for (key, _) in value.pairs() {
        let name = key.key_text().unwrap_or_default();
        if !known.contains(&name.as_str()) && !name.starts_with('$') {
            let what = phrases::KEY_UNKNOWN.with("of", format!("${}", call.name));
            let what = what.with("name", quoted(&name));
            faults.add_at(key.position, with_near(what, &name, known.iter().copied()));
        }
    }
}

/// The first instruction below one that ends the block.
pub(super) fn check_reached<'v>(
    items: impl Iterator<Item = &'v ScriptValue>,
    names: &KnownNames,
    faults: &mut FaultLog<'_>,
) {
    let mut last: Option<String> = None;
    for item in items.filter(|item| item.tag.is_none() && item.tree != Tree::Null) {
        if let Some(name) = last {
            return faults.add_at(item.position, phrases::UNREACHED.with("name", name));
        }
        let key = item.pairs().first().map_or(item, |(key, _)| key).as_text();
        let call = key.filter(|key| key.starts_with('$')).and_then(args::parse_call);
        let name = call.map(|call| call.name).filter(|name| LAST.contains(&name.as_str()));
        last = name.filter(|name| !names.is_own(name));
    }
}
