//! Names that are there twice: keys of one map, of which only one counts, and functions.

use super::fault_log::FaultLog;
use crate::directive;
use crate::error::quoted;
use crate::js::{function_name, function_source};
use crate::manifest::Manifest;
use crate::manifest::imports::strip_dollar;
use crate::syntax::{ScriptValue, Tree};
use avocet_core::i18n::script_run as phrases;

/// Keys of the head, below its settings, and of the instructions.
pub(super) fn check_doubled_keys(manifest: &Manifest, faults: &mut FaultLog<'_>) {
    for (_, value) in manifest.front_matter.pairs() {
        find_doubled_keys(value, faults);
    }
    for item in manifest.body.iter().filter(|item| *item.file == *manifest.origin.file) {
        find_doubled_keys(&item.node, faults);
    }
}

fn find_doubled_keys(script_value: &ScriptValue, faults: &mut FaultLog<'_>) {
    match &script_value.tree {
        Tree::List(items) => items.iter().for_each(|item| find_doubled_keys(item, faults)),
        Tree::Map(pairs) => {
            for (at, (key, value)) in pairs.iter().enumerate() {
                let name = key.key_text();
                let above = pairs.iter().take(at).any(|(other, _)| other.key_text() == name);
                if let Some(name) = name.filter(|_| above) {
                    faults.add_at(key.position, phrases::KEY_TWICE.with("name", quoted(&name)));
                }
                find_doubled_keys(value, faults);
            }
        }
        _ => {}
    }
}

/// Functions of one name, and those that take the place of a directive.
pub(super) fn check_doubled_functions(manifest: &Manifest, faults: &mut FaultLog<'_>) {
    let mut seen: Vec<String> = Vec::new();
    for function in &manifest.functions {
        let name = function_source(&function.source).ok().and_then(function_name);
        let Some(name) = name.map(strip_dollar) else { continue };
        let is_own = function.location.file == manifest.origin.file;
        let place = function.location.position;
        if is_own && seen.contains(&name) {
            faults.add_at(place, phrases::FUNCTION_TWICE.with("name", quoted(&name)));
        }
        if is_own && !function.template && directive::find(&name).is_some() {
            faults.add_at(place, phrases::FUNCTION_SHADOWS.with("name", quoted(&name)));
        }
        seen.push(name);
    }
}
