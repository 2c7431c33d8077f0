//! Judges `config.json_patch` (001 §13): a change of one of a few JSON files, given as a
//! JSON Patch (RFC 6902) or as keys to set and to unset. It is always asked about, and
//! never loosens what restricts an agent.

use serde_json::{Map, Value};

use super::change::{FileAfter, change_task};
use super::input::{InputFields, Names, PATH};
use super::masks::Masks;
use super::schema::{FieldKind, FieldRow, optional, required};
use super::{
    InputError, ResolvedPath, TaskResult, ToolTask, Write, as_text, content, excerpt, json_edit,
    resolve_path,
};
use crate::findings::Findings;
use crate::spec::JudgeContext;
use crate::user_rules::FileAccess;
use avocet_core::i18n::{LocalizedText, safety as phrases};
use avocet_core::protocol::{Effect, Tier};

/// A settings file is not larger, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
const PATCH: Names = &["patch", "ops", "operations"];

pub const FIELDS: &[FieldRow] = &[
    required(PATH, FieldKind::Text),
    optional(&["set"], FieldKind::Object),
    optional(&["unset"], FieldKind::Texts),
    optional(
        PATCH,
        FieldKind::Objects(&[
            required(&["op"], FieldKind::OneOf(&["add", "remove", "replace", "test"])),
            required(&["path"], FieldKind::Text),
            optional(&["value"], FieldKind::Anything),
        ]),
    ),
];

pub fn judge(
    input: &InputFields<'_>,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> TaskResult {
    let (spot, _) =
        resolve_path(input.text(PATH)?, FileAccess::Writes, context, &mut Findings::default())?;
    if !is_listed(&spot, context) {
        let say = spot.say(phrases::CONFIG_NOT_LISTED);
        findings.add("config.path", Tier::L2, say, None, &[Effect::Write, Effect::Outside]);
        return Err(spot.say(phrases::CONFIG_NOT_LISTED).into());
    }
    let bytes = content(&spot, context, MAX_BYTES)?;
    let text = match &bytes {
        None => "{}\n",
        Some(bytes) => as_text(bytes, &spot)?,
    };
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let old = json_edit::parse(body)
        .map_err(|why| InputError::from(spot.say(phrases::CONFIG_NOT_JSON).with("why", why)))?;
    let mut masks = Masks::new(context, text);
    let real = masks.reveal_value(input.raw_value())?;
    let becomes = |input: &InputFields<'_>| {
        let new = apply_patch(input, &old.value)?;
        Ok::<_, InputError>(json_edit::with_key_order(&old.value, new))
    };
    let new = becomes(&InputFields::new("config.json_patch", &real))?;
    check_loosening(&old.value, &new, findings);
    let after = format!("{mark}{}", json_edit::rewrite(body, &old, &new));
    let shown = if masks.has_masks() {
        let shown = format!("{mark}{}", json_edit::rewrite(body, &old, &becomes(input)?));
        Some(masks.masked_display(&shown, &after))
    } else {
        None
    };
    masks.add_findings(&spot, findings);
    let say = spot.say(phrases::TOOL_PATCHES);
    let after = FileAfter { bytes: after.as_bytes(), shown };
    let task = change_task(spot, bytes.clone(), after, None, context)?;
    findings.add("config.patch", Tier::L1, say, None, &[Effect::Write, Effect::Outside]);
    match task {
        ToolTask::Change(write) => Ok(ToolTask::Change(Box::new(Write { backup: true, ..*write }))),
        other => Ok(other),
    }
}

/// Whether it is one of the files that may be patched, links resolved.
pub fn is_listed(path: &ResolvedPath, context: &JudgeContext<'_>) -> bool {
    let policy_cx = context.policy_cx;
    let home = policy_cx.world.resolve(&policy_cx.place.home.join(".slothtool"));
    let of_plugin = path.path.parent() == Some(&home.join("plugin-configs"))
        && path.path.extension().is_some_and(|end| end == "json");
    let listed = |text: &String| path.path == policy_cx.resolve(text, &policy_cx.place.workspace);
    of_plugin
        || path.path == home.join("settings.json")
        || policy_cx.policy.config_files.iter().any(listed)
}

/// The value with the patch, or the keys, put into it. All of it or nothing.
fn apply_patch(input: &InputFields<'_>, old: &Value) -> Result<Value, InputError> {
    let list = input.list(PATCH)?;
    let set = input.get(&["set"]);
    let unset = input.texts(&["unset", "remove"])?;
    let mut new = old.clone();
    match (list, set) {
        (None, None) if unset.is_empty() => return Err(input.missing_field_error(PATCH)),
        (Some(list), _) => {
            let patch: json_patch::Patch = serde_json::from_value(Value::Array(list))
                .map_err(|error| patch_error(&error.to_string()))?;
            json_patch::patch(&mut new, &patch).map_err(|error| patch_error(&error.to_string()))?;
        }
        (None, _) => {}
    }
    if let Some(set) = set {
        let Value::Object(fields) = set else { return Err(patch_error("`set` is no object")) };
        for (name, value) in fields {
            set_at(&mut new, &path_segments(name), value.clone())
                .map_err(|()| patch_error(name))?;
        }
    }
    for name in &unset {
        remove_at(&mut new, &path_segments(name)).map_err(|()| patch_error(name))?;
    }
    Ok(new)
}

fn patch_error(why: &str) -> InputError {
    phrases::CONFIG_PATCH_WRONG.with("why", excerpt(why)).into()
}

/// `a.b` or `/a/b`.
fn path_segments(name: &str) -> Vec<String> {
    match name.strip_prefix('/') {
        Some(pointer) => {
            pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
        }
        None => name.split('.').map(str::to_owned).collect(),
    }
}

fn set_at(into: &mut Value, steps: &[String], value: Value) -> Result<(), ()> {
    let [first, rest @ ..] = steps else {
        *into = value;
        return Ok(());
    };
    match into {
        Value::Object(fields) => set_at(
            fields.entry(first.clone()).or_insert_with(|| Value::Object(Map::new())),
            rest,
            value,
        ),
        Value::Array(list) => {
            set_at(list.get_mut(first.parse::<usize>().map_err(drop)?).ok_or(())?, rest, value)
        }
        _ => Err(()),
    }
}

fn remove_at(from: &mut Value, steps: &[String]) -> Result<(), ()> {
    match (steps, from) {
        ([last], Value::Object(fields)) => fields.shift_remove(last).map(drop).ok_or(()),
        ([first, rest @ ..], Value::Object(fields)) => {
            remove_at(fields.get_mut(first).ok_or(())?, rest)
        }
        _ => Err(()),
    }
}

/// Settings keys that restrict an agent, and which of their changes loosen that.
const HOLDING: &[(&[&str], LooseningRule)] = &[
    (&["allow_network", "allowNetwork"], LooseningRule::WhenTrue),
    (&["allow_write", "allowWrite"], LooseningRule::WhenTrue),
    (&["allow_sudo", "allowSudo"], LooseningRule::WhenTrue),
    (&["allowed_programs", "allowedPrograms"], LooseningRule::WhenLonger),
    (
        &["lift", "approvals", "trust", "mode", "defaultMode", "unknown_program"],
        LooseningRule::Always,
    ),
    (&["provider", "base_url", "baseUrl", "baseURL", "mcp", "mcpServers"], LooseningRule::Always),
];

#[derive(Clone, Copy)]
enum LooseningRule {
    WhenTrue,
    WhenLonger,
    Always,
}

/// Says which of those keys change: refused where one loosens.
fn check_loosening(old: &Value, new: &Value, findings: &mut Findings) {
    let empty = Map::new();
    let old = old.as_object().unwrap_or(&empty);
    let new = new.as_object().unwrap_or(&empty);

    for (names, way) in HOLDING {
        for name in *names {
            let before = old.get(*name);
            let after = new.get(*name);

            if before == after {
                continue;
            }
            let loosens = match way {
                LooseningRule::WhenTrue => after != Some(&Value::Bool(false)),
                LooseningRule::WhenLonger => !is_subset(after, before),
                LooseningRule::Always => after.is_some(),
            };
            let (rule, tier, word): (_, _, avocet_core::i18n::Phrase) = if loosens {
                ("config.loosens", Tier::L2, phrases::CONFIG_LOOSENS)
            } else {
                ("config.tightens", Tier::L1, phrases::CONFIG_TIGHTENS)
            };
            let text: LocalizedText = word.with("key", *name);
            findings.add_repeated(rule, tier, text, &[Effect::Write, Effect::Outside]);
        }
    }
    // They may be nested deeper, under `safety` or in a profile.
    for (name, value) in new {
        if let (Some(before @ Value::Object(_)), Value::Object(_)) = (old.get(name), value) {
            check_loosening(before, value, findings);
        } else if value.is_object() && old.get(name) != Some(value) {
            check_loosening(&Value::Null, value, findings);
        }
    }
}

/// Whether every element of one list is in the other.
fn is_subset(one: Option<&Value>, other: Option<&Value>) -> bool {
    let (Some(Value::Array(one)), Some(Value::Array(other))) = (one, other) else { return false };
    one.iter().all(|item| other.contains(item))
}
