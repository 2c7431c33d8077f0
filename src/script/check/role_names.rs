//! Roles that are nearly written like one that the script has. Any other name may be
//! somewhere in a story.

use super::fault_log::FaultLog;
use super::near::with_near;
use crate::error::quoted;
use crate::manifest::Manifest;
use crate::text::roles;
use avocet_config::suggest;
use avocet_core::i18n::script_run as phrases;

/// The roles of every dialogue.
const ROLES: [&str; 3] = ["system", "user", "assistant"];
/// The shortest name that is likened to others.
const MIN_LENGTH: usize = 3;

/// The key of a message.
pub(super) fn check_role(manifest: &Manifest, key: &str, faults: &mut FaultLog<'_>) {
    let (name, _) = roles::parse_key(key);
    if name.is_empty() {
        faults.add(phrases::NO_ROLE);
    }
    let own = manifest.roles();
    let own = own.keys().map(String::as_str);
    let known: Vec<&str> = ROLES.into_iter().chain(own).chain([manifest.name()]).collect();
    check_role_name(name, &known, faults);
}

/// `@name` at the start of a message: a role, or a text like any other.
pub(super) fn check_leading_role(manifest: &Manifest, text: &str, faults: &mut FaultLog<'_>) {
    let own = manifest.roles();
    if own.is_empty() {
        return;
    }
    let is_role = |name: &str| name == "all" || own.contains_key(name);
    let (_, rest) = roles::parse_leading(text, is_role);
    let Some(rest) = rest.trim_start().strip_prefix('@') else { return };
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name: String = rest.chars().take_while(|c| is_name(*c)).collect();
    let known: Vec<&str> = own.keys().map(String::as_str).collect();
    check_role_name(&name, &known, faults);
}

fn check_role_name(name: &str, known: &[&str], faults: &mut FaultLog<'_>) {
    let is_name = |c: char| c.is_alphabetic() || matches!(c, '_' | '-');
    let is_plain = name.chars().count() >= MIN_LENGTH && name.chars().all(is_name);
    if !is_plain || known.iter().any(|role| role.eq_ignore_ascii_case(name)) {
        return;
    }
    let near = suggest::nearest(name, known.iter().copied()).first().copied();
    if let Some(near) = near.filter(|near| near.len().abs_diff(name.len()) <= 2) {
        let what = phrases::ROLE_MISSPELT.with("name", quoted(name));
        faults.add_of(name, what.with("near", near.to_owned()));
    }
}

/// The roles that a message is for.
pub(super) fn check_addressees(manifest: &Manifest, role: &str, faults: &mut FaultLog<'_>) {
    let known = manifest.roles();
    for to in roles::parse_key(role).1.into_iter().filter(|to| to.role != "all") {
        if !known.contains_key(&to.role) {
            let what = phrases::NO_ROLE_SCRIPT.with("role", quoted(&to.role));
            let near = with_near(what, &to.role, known.keys().map(String::as_str));
            faults.add(near);
        }
    }
}
