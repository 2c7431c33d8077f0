//! The settings of a script: their names, the values some of them are limited to, and the faults
//! that a head can have.

use std::collections::BTreeSet;

use serde_json::Value;

use super::keys::{self, KeyFaults};
use super::near::with_near;
use crate::error::{LocatedError, Location, SourcePosition, quoted};
use crate::manifest::{Manifest, key_location};
use crate::permission;
use crate::settings::{SETTINGS, find_setting};
use crate::syntax::{ScriptValue, Tree};
use crate::template::Format;
use crate::text::mentions;
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// What is wrong with the head of a script.
pub fn setting_faults(manifest: &Manifest) -> Vec<LocatedError> {
    let front = &manifest.front_matter;
    let mut out = Vec::new();
    let mut add = |position: SourcePosition, text: LocalizedText| {
        let location = Location::new(&manifest.origin.file, position);
        out.push(LocatedError::with_location(text, location));
    };
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (key, value) in front.pairs() {
        let Some(name) = key.key_text() else { continue };
        if seen.contains(&name) {
            add(key.position, phrases::SETTING_TWICE.with("name", quoted(&name)));
        }
        if let Some(near) = misspelt(manifest, &name) {
            add(
                key.position,
                phrases::SETTING_UNKNOWN.with("name", quoted(&name)).with("near", near),
            );
        }
        let is_input = manifest.inputs.iter().any(|input| input.name == name);
        let kind = find_setting(&name).filter(|_| !is_input);
        let kind = kind.and_then(|row| keys::kind_fault(row, value));
        if let Some(what) = value_fault(&name, value).or(kind) {
            add(value.position, what);
        }
        let mut faults = KeyFaults::default();
        faults.check_setting(&name, value);
        if let Some(input) = manifest.inputs.iter().find(|input| input.name == name) {
            faults.check_input_value(input, value);
        }
        faults.0.into_iter().for_each(|(place, what)| add(place, what));
        seen.insert(name);
    }
    if let Some(place) = unclosed_head(manifest) {
        add(place, phrases::HEAD_NOT_CLOSED.into());
    }
    // Those of the head itself were checked above.
    let inherited =
        manifest.config.get("permissions").filter(|_| front.get("permissions").is_none());
    if let Some(Err(why)) = inherited.map(permission::Rules::read) {
        add(key_location(manifest, "permissions").position, why.0);
    }
    out
}

/// The setting that a key is nearly named like. A variable that the script reads or declares may
/// have any name.
fn misspelt(manifest: &Manifest, name: &str) -> Option<&'static str> {
    let is_input = manifest.has_input(name);
    if find_setting(name).is_some() || is_input || name.chars().count() < 4 {
        return None;
    }
    let near = suggest::nearest(name, SETTINGS.iter().map(|row| row.name)).first().copied()?;
    // `keepOrginal` is a spelling of the language itself.
    let is_used = manifest.body.iter().any(|item| mentions::reads_name(&item.node, name))
        || manifest.functions.iter().any(|function| mentions::has_name(&function.source, name))
        || manifest.front_matter.pairs().iter().any(|(_, it)| mentions::reads_name(it, name));
    (!is_used && name != "keepOrginal" && name.len().abs_diff(near.len()) <= 2).then_some(near)
}

fn value_fault(name: &str, value: &ScriptValue) -> Option<LocalizedText> {
    let inside = value.get("mode").filter(|_| name == "shouldThink");
    let text = inside.unwrap_or(value).as_text()?;
    if name == "templateFormat" {
        let what = || phrases::NO_FORMAT.with("name", quoted(text));
        return Format::parse(text).is_none().then(what);
    }
    if name == "SystemOutputTitle" {
        return (!text.contains("type")).then(|| phrases::TITLE_NO_TYPE.into());
    }
    let choices = find_setting(name)?.choices;
    let what = phrases::SETTING_VALUE.with("name", name).with("value", quoted(text));
    let what = what.with("list", choices.join(", "));
    (!choices.is_empty() && !choices.contains(&text))
        .then(|| with_near(what, text, choices.iter().copied()))
}

/// The place of the `---` that opens a head without an end: what follows are settings.
fn unclosed_head(manifest: &Manifest) -> Option<SourcePosition> {
    let mut own = manifest.body.iter().filter(|item| *item.file == *manifest.origin.file);
    let first = own.next().filter(|item| is_separator(&item.node))?;
    let Tree::Map(pairs) = &own.next()?.node.tree else { return None };
    let [(key, _)] = pairs.as_slice() else { return None };
    let is_setting = key.as_text().and_then(find_setting).is_some();
    let has_head = manifest.front_matter.to_value() != Value::Object(Default::default());
    (is_setting && !has_head).then_some(SourcePosition { column: 1, ..first.node.position })
}

fn is_separator(value: &ScriptValue) -> bool {
    value.as_text().is_some_and(|text| text.starts_with("$initDone"))
}
