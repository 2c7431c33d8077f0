//! Inputs of a script that nothing reads.

use super::fault_log::FaultLog;
use crate::error::quoted;
use crate::manifest::Manifest;
use crate::settings::{PARAMETERS, find_setting, server_parameters};
use crate::syntax::{ScriptValue, Tree};
use crate::text::mentions;
use avocet_core::i18n::script_run as phrases;

/// A script that others inherit or import may declare inputs for them; one without a
/// message for the model may be a placeholder for a tool.
pub(super) fn check_unread_inputs(manifest: &Manifest, faults: &mut FaultLog<'_>) {
    let is_message = |value: &ScriptValue| match &value.tree {
        Tree::Text(text) => value.tag.is_none() && !text.starts_with(['$', '-', '?']),
        Tree::Map(pairs) => {
            pairs.iter().all(|(key, _)| key.as_text().is_some_and(|key| !key.starts_with('$')))
        }
        _ => false,
    };
    let has_messages = manifest.body.iter().any(|item| is_message(&item.node));
    let is_for_others = ["type", "char", "lib"].iter().any(|kind| manifest.has_type(kind))
        || manifest.exports.is_some()
        || !manifest.imports.is_empty()
        || manifest.text_setting("templateFormat").is_some();
    let Some(declared) = manifest.front_matter.get("input") else { return };
    if is_for_others || !has_messages {
        return;
    }
    let front = || manifest.front_matter.pairs().iter();
    let is_read = |name: &str| {
        manifest.body.iter().any(|item| mentions::reads_name(&item.node, name))
            || manifest.functions.iter().any(|function| mentions::has_name(&function.source, name))
            || front().any(|(_, value)| mentions::reads_name(value, name))
    };
    // These hold all of them.
    if ["args", "this", "debug"].into_iter().any(is_read) {
        return;
    }
    for input in &manifest.inputs {
        let name = input.name.as_str();
        let is_parameter = PARAMETERS.iter().any(|row| row.name == name)
            || server_parameters().any(|known| known == name)
            || find_setting(name).is_some();
        let place = declared.find_name(name);
        if let (Some(place), false) = (place, is_parameter || is_read(name)) {
            faults.add_at(place, phrases::INPUT_UNUSED.with("name", quoted(name)));
        }
    }
}
