//! The imports and exports of a script.

use serde_json::Value;

use super::super::error::{LocatedError, Location, quoted};
use super::super::syntax::{ScriptValue, Tree};
use avocet_core::i18n::script_run as phrases;

/// One entry of `import`.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    pub kind: ImportKind,
    pub picks: Picks,
    /// `$initializeExec: {disable: true}` on the entry.
    pub skips_init: bool,
    pub location: Location,
}

/// The kind of file an import names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportKind {
    /// `js:path`: a built-in module.
    Module(String),
    /// A JavaScript file.
    File(String),
    /// A wasm module.
    Wasm(String),
    /// Another script, a package, or a file in one.
    Script(String),
}

/// The functions to import, and their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picks {
    All,
    Selected(Vec<ImportPick>),
    /// `"*"`: all, on one object named like the module.
    Namespace,
    /// A name: for modules, all on one object of this name; for a script, its new name.
    Alias(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportPick {
    pub name: String,
    pub alias: Option<String>,
    /// `type: template`.
    pub template: bool,
}

/// One entry of `export`.
#[derive(Clone, Debug, PartialEq)]
pub enum Export {
    /// `"."`: the script itself.
    Itself,
    /// `"$name"`, optionally under another name.
    Function { name: String, alias: Option<String> },
    /// Functions of a module, or another script.
    Import(Import),
}

/// Reads `import`; entries that are wrong are added to the faults.
pub fn parse_imports(
    script_value: Option<&ScriptValue>,
    file: &str,
    errors: &mut Vec<LocatedError>,
) -> Vec<Import> {
    let entries = script_value.map(entries).unwrap_or_default();
    let read = entries.into_iter().map(|entry| match entry {
        LinkEntry::Name(item, name) => parse_import(name, None, file, item),
        LinkEntry::Pair(key, value) => parse_import_pair(key, value, file),
        LinkEntry::Wrong(item) => Err(invalid_entry_error(item, file)),
    });
    keep_faults(read, errors)
}

/// Reads `export`; entries that are wrong are added to the faults.
pub fn parse_exports(
    script_value: &ScriptValue,
    file: &str,
    errors: &mut Vec<LocatedError>,
) -> Vec<Export> {
    let read = entries(script_value).into_iter().map(|entry| match entry {
        LinkEntry::Name(item, name) => parse_export(name, None, file, item),
        LinkEntry::Pair(key, value) => {
            let name = key.key_text().ok_or_else(|| invalid_entry_error(key, file))?;
            parse_export(&name, Some(value), file, key)
        }
        LinkEntry::Wrong(item) => Err(invalid_entry_error(item, file)),
    });
    keep_faults(read, errors)
}

/// One entry of `import` or `export`.
enum LinkEntry<'n> {
    Name(&'n ScriptValue, &'n str),
    Pair(&'n ScriptValue, &'n ScriptValue),
    Wrong(&'n ScriptValue),
}

fn entries(script_value: &ScriptValue) -> Vec<LinkEntry<'_>> {
    match &script_value.tree {
        Tree::Null => Vec::new(),
        Tree::Text(name) => vec![LinkEntry::Name(script_value, name)],
        Tree::Map(pairs) => pairs.iter().map(|(key, value)| LinkEntry::Pair(key, value)).collect(),
        Tree::List(items) => {
            let of = |value: &ScriptValue| !matches!(value.tree, Tree::Null | Tree::List(_));
            let entry = |item| if of(item) { entries(item) } else { vec![LinkEntry::Wrong(item)] };
            items.iter().flat_map(entry).collect()
        }
        Tree::Bool(_) | Tree::Number(_) => vec![LinkEntry::Wrong(script_value)],
    }
}

fn keep_faults<T>(
    read: impl Iterator<Item = Result<T, LocatedError>>,
    errors: &mut Vec<LocatedError>,
) -> Vec<T> {
    read.filter_map(|entry| entry.map_err(|fault| errors.push(fault)).ok()).collect()
}

fn parse_export(
    name: &str,
    value: Option<&ScriptValue>,
    file: &str,
    script_value: &ScriptValue,
) -> Result<Export, LocatedError> {
    if name == "." {
        return Ok(Export::Itself);
    }
    match name.strip_prefix('$') {
        Some(own) => {
            let alias = value.and_then(ScriptValue::as_text).map(strip_dollar);
            Ok(Export::Function { name: own.to_owned(), alias })
        }
        None => parse_import(name, value, file, script_value).map(Export::Import),
    }
}

fn parse_import_pair(
    script_value: &ScriptValue,
    value: &ScriptValue,
    file: &str,
) -> Result<Import, LocatedError> {
    let name = script_value.key_text().ok_or_else(|| invalid_entry_error(script_value, file))?;
    parse_import(&name, Some(value), file, script_value)
}

fn parse_import(
    name: &str,
    value: Option<&ScriptValue>,
    file: &str,
    script_value: &ScriptValue,
) -> Result<Import, LocatedError> {
    let location = Location::new(file, script_value.position);
    let kind =
        import_kind(name).map_err(|what| LocatedError::with_location(what, location.clone()))?;
    let mut quiet = false;
    let picks = match value {
        None => Picks::All,
        Some(value) => match &value.tree {
            Tree::Null => Picks::All,
            Tree::Text(star) if star == "*" => Picks::Namespace,
            Tree::Text(name) => Picks::Alias(strip_dollar(name)),
            Tree::List(items) => Picks::Selected(parse_picks(items, file, &mut quiet)?),
            Tree::Map(_) => {
                Picks::Selected(parse_picks(std::slice::from_ref(value), file, &mut quiet)?)
            }
            _ => return Err(invalid_entry_error(value, file)),
        },
    };
    // Only the initialiser was mentioned: everything else is imported.
    let picks = match picks {
        Picks::Selected(names) if names.is_empty() => Picks::All,
        other => other,
    };
    Ok(Import { kind, picks, skips_init: quiet, location })
}

fn parse_picks(
    values: &[ScriptValue],
    file: &str,
    quiet: &mut bool,
) -> Result<Vec<ImportPick>, LocatedError> {
    let mut out = Vec::new();
    for item in values {
        match &item.tree {
            Tree::Text(name) => {
                out.push(ImportPick { name: strip_dollar(name), alias: None, template: false });
            }
            Tree::Map(pairs) => {
                for (key, value) in pairs {
                    let name = strip_dollar(
                        &key.key_text().ok_or_else(|| invalid_entry_error(item, file))?,
                    );
                    let value = value.to_value();
                    if name == "initializeExec" {
                        *quiet |= value == Value::Bool(false)
                            || value.get("disable") == Some(&Value::Bool(true));
                        continue;
                    }
                    let alias = value.as_str().or(value.get("name").and_then(Value::as_str));
                    let template = value.get("type").and_then(Value::as_str) == Some("template");
                    out.push(ImportPick { name, alias: alias.map(strip_dollar), template });
                }
            }
            _ => return Err(invalid_entry_error(item, file)),
        }
    }
    Ok(out)
}

fn import_kind(name: &str) -> Result<ImportKind, avocet_core::i18n::LocalizedText> {
    if let Some(module) = name.strip_prefix("js:") {
        return Ok(ImportKind::Module(module.to_owned()));
    }
    let path = name.rsplit_once('#').map_or(name, |(_, path)| path);
    let (_, ending) = path.rsplit_once('.').unwrap_or(("", ""));
    let foreign = ["rb:", "py:", "python:", "ruby:"];
    if matches!(ending, "rb" | "py") || foreign.iter().any(|prefix| name.starts_with(prefix)) {
        return Err(phrases::FOREIGN_LANGUAGE.with("name", quoted(name)));
    }
    Ok(match ending {
        "js" | "mjs" | "cjs" => ImportKind::File(name.to_owned()),
        "wasm" => ImportKind::Wasm(name.to_owned()),
        _ => ImportKind::Script(name.to_owned()),
    })
}

/// A name without the `$` that calls are written with.
pub fn strip_dollar(name: &str) -> String {
    name.strip_prefix('$').unwrap_or(name).to_owned()
}

fn invalid_entry_error(value: &ScriptValue, file: &str) -> LocatedError {
    LocatedError::with_location(phrases::LINK_UNCLEAR, Location::new(file, value.position))
}
