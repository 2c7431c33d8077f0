//! The keys that directives and system messages have, and those that they need.

use super::fault_log::FaultLog;
use super::names::KnownNames;
use super::near::with_near;
use crate::error::quoted;
use crate::settings::{directive_keys, takes_data};
use crate::syntax::{ScriptValue, Tree};
use crate::text::args::CallExpr;
use avocet_core::i18n::script_run as phrases;

/// The parts of a structured system message.
const SYSTEM_PARTS: &[&str] = &["background", "content", "output", "notes"];

/// A loop without instructions does nothing.
pub(super) fn check_loop(
    call: &CallExpr,
    value: &ScriptValue,
    pairs: &[(ScriptValue, ScriptValue)],
    faults: &mut FaultLog<'_>,
) {
    let mut all = value.pairs().iter().chain(pairs);
    let has_block = all.any(|(key, _)| key.as_text() == Some("do"));
    if matches!(call.name.as_str(), "for" | "while") && !has_block {
        faults.add(phrases::LOOP_NEEDS.with("name", format!("${}", call.name)));
    }
}

/// The keys of `$exec`, `$tool` and `$pipe` that name what is called: any other may be an
/// argument of it.
pub(super) fn check_target_keys(call: &CallExpr, value: &ScriptValue, faults: &mut FaultLog<'_>) {
    let known: &[&str] = match call.name.as_str() {
        "exec" => &["id", "filename", "script", "program"],
        "tool" | "pipe" => &["name"],
        _ => return,
    };
    let pairs = value.pairs();
    let is_named = pairs
        .iter()
        .filter_map(|(key, _)| key.as_text())
        .any(|key| known.contains(&key) || key.starts_with('$'));
    if pairs.is_empty() || is_named || !call.args.is_empty() {
        return;
    }
    // `$tool` without a name is a call of the model, with any parameters.
    if call.name == "exec" {
        return faults.add(phrases::EXEC_NEEDS);
    }
    for (key, _) in pairs {
        let name = key.key_text().unwrap_or_default();
        let what = phrases::KEY_UNKNOWN.with("of", format!("${}", call.name));
        let what = what.with("name", quoted(&name));
        let near = with_near(what.clone(), &name, known.iter().copied());
        if near != what {
            faults.add_at(key.position, near);
        }
    }
}

/// The parts of a system message.
pub(super) fn check_system_parts(value: &ScriptValue, faults: &mut FaultLog<'_>) {
    for (key, _) in value.pairs() {
        let name = key.key_text().unwrap_or_default();
        if !SYSTEM_PARTS.contains(&name.as_str()) && !name.starts_with('$') {
            let what = phrases::SYSTEM_PART.with("key", quoted(&name));
            faults.add_at(key.position, with_near(what, &name, SYSTEM_PARTS.iter().copied()));
        }
    }
}

/// The conditions of `$match` begin with a colon.
pub(super) fn check_case_keys(
    call: &CallExpr,
    value: &ScriptValue,
    pairs: &[(ScriptValue, ScriptValue)],
    faults: &mut FaultLog<'_>,
) {
    let below = value.pairs().iter().filter(|_| !call.args.is_empty());
    let values: Vec<&ScriptValue> = pairs.iter().chain(below).map(|(key, _)| key).collect();
    let mut has_case = false;
    for key in values {
        let name = key.key_text().unwrap_or_default();
        has_case |= name == "_" || name.starts_with(':');
        let is_known = name.starts_with(['$', ':']) || name == "_" || name == "allMatches";
        if !is_known {
            has_case = true;
            faults.add_at(key.position, phrases::MATCH_NO_COLON.with("key", quoted(&name)));
        }
    }
    if !has_case {
        faults.add(phrases::MATCH_NEEDS);
    }
}

/// A key beside a directive that means nothing there.
pub(super) fn check_directive_keys(
    call: &CallExpr,
    value: &ScriptValue,
    pairs: &[(ScriptValue, ScriptValue)],
    names: &KnownNames,
    faults: &mut FaultLog<'_>,
) {
    let name = call.name.as_str();
    let Some(known) = directive_keys(name).filter(|_| !names.is_own(name)) else { return };
    if takes_data(name) && value.tree == Tree::Null {
        return;
    }
    let is_map = !value.pairs().is_empty() && !takes_data(name) && call.args.is_empty();
    let inside = value.pairs().iter().filter(|_| is_map);
    for (key, _) in inside.chain(pairs) {
        let Some(key_name) = key.key_text().filter(|key| !key.starts_with('$')) else {
            continue;
        };
        if !known.contains(&key_name.as_str()) {
            let what = phrases::KEY_UNKNOWN.with("of", format!("${name}"));
            let what = what.with("name", quoted(&key_name));
            faults.add_at(key.position, with_near(what, &key_name, known.iter().copied()));
        }
    }
}
