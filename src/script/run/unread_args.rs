//! Arguments that a script does nothing with: most are misspelt.

use serde_json::Value;

use super::super::check::near::with_near;
use super::super::error::quoted;
use super::super::host::ScriptHost;
use super::super::manifest::Manifest;
use super::super::manifest::input::ScriptArgs;
use super::super::settings::find_setting;
use super::super::text::mentions;
use super::params;
use avocet_core::i18n::script_run as phrases;

/// Reports named arguments of the started script that nothing in it mentions.
pub fn report_unread_args(host: &mut dyn ScriptHost, manifest: &Manifest, args: &ScriptArgs) {
    for name in unread_names(manifest, args.named.keys()) {
        let said = phrases::ARG_UNREAD.with("name", quoted(name));
        let inputs = manifest.inputs.iter().map(|input| input.name.as_str());
        host.emit_note(with_near(said, name, inputs));
    }
}

/// The names that a script neither declares nor mentions.
pub fn unread_names<'a>(
    manifest: &Manifest,
    names: impl Iterator<Item = &'a String>,
) -> impl Iterator<Item = &'a String> {
    let is_plain = |name: &&String| {
        name.parse::<usize>().is_err()
            && find_setting(name).is_none()
            && !params::parameter_names().any(|known| known == *name)
            && !manifest.has_input(name)
    };
    let mut names: Vec<&String> = names.filter(is_plain).collect();
    // What a script imports may read any of them.
    if !manifest.imports.is_empty() {
        names.clear();
    }
    if !names.is_empty() {
        let config = Value::Object(manifest.config.clone()).to_string();
        let body: Vec<String> =
            manifest.body.iter().map(|item| item.node.to_value().to_string()).collect();
        let functions = manifest.functions.iter().map(|function| function.source.as_str());
        let texts: Vec<&str> =
            functions.chain(body.iter().map(String::as_str)).chain([config.as_str()]).collect();
        names.retain(|name| !texts.iter().any(|text| mentions::has_name(text, name)));
    }
    names.into_iter()
}
