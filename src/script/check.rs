//! Checks a script before it runs: reports names of directives, functions and scripts that do not
//! exist.

use super::directive;
use super::error::{LocatedError, quoted};
use super::js::{function_name, function_source};
use super::manifest::imports::strip_dollar;
use super::manifest::{Instruction, Manifest};
use super::source::ScriptLibrary;
use super::syntax::{ScriptNode, Tree};
use super::text::args;
use crate::i18n::script_run as words;

/// Checks every instruction and reports the first fault with its place.
///
/// # Errors
/// A call of a directive, function or script that does not exist.
pub fn check(shape: &Manifest, library: &ScriptLibrary) -> Result<(), LocatedError> {
    let functions: Vec<String> = shape
        .functions
        .iter()
        .filter_map(|function| function_source(&function.source).ok())
        .filter_map(|source| function_name(source).map(strip_dollar))
        .collect();
    let checker = Checker { manifest: shape, library, functions };
    for role in shape.roles().values().filter_map(serde_json::Value::as_str) {
        checker.check_script(role)?;
    }
    for item in &shape.body {
        checker.check_instruction(item)?;
    }
    Ok(())
}

struct Checker<'a> {
    manifest: &'a Manifest,
    library: &'a ScriptLibrary,
    functions: Vec<String>,
}

impl Checker<'_> {
    fn check_instruction(&self, item: &Instruction) -> Result<(), LocatedError> {
        let came = self.check_node(&item.node);
        came.map_err(|failure| failure.or_location(&item.file, item.node.position))
    }

    fn check_node(&self, node: &ScriptNode) -> Result<(), LocatedError> {
        match &node.tree {
            Tree::Text(text) if node.tag.is_none() => self.check_text(text),
            Tree::Map(pairs) => {
                for (key, value) in pairs {
                    if let Some(name) = key.as_text().filter(|name| name.starts_with('$')) {
                        let call = args::parse_call(name)
                            .ok_or_else(|| words::NO_CALL.with("name", quoted(name)))?;
                        self.check_name(&call.name)?;
                        self.check_blocks(value)?;
                    } else if matches!(key.as_text(), Some("then" | "else" | "do")) {
                        self.check_blocks(value)?;
                    }
                }
                Ok(())
            }
            Tree::List(_) => Err(words::LIST_ITEM.into()),
            Tree::Text(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => Ok(()),
        }
    }

    fn check_blocks(&self, node: &ScriptNode) -> Result<(), LocatedError> {
        match &node.tree {
            Tree::List(items) => items.iter().try_for_each(|item| match &item.tree {
                // The items of a list of values cannot be known before the run.
                Tree::Map(_) => self.check_node(item),
                _ => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), LocatedError> {
        if let Some(call) = args::parse_call(text).filter(|_| text.starts_with('$')) {
            return self.check_name(&call.name);
        }
        if !text.starts_with("->") {
            return Ok(());
        }
        let links =
            args::parse_chain(text).ok_or_else(|| words::NO_CHAIN.with("text", quoted(text)))?;
        links.iter().try_for_each(|link| match link.directive {
            true => self.check_name(&link.name),
            false => self.check_script(&link.name),
        })
    }

    fn check_name(&self, name: &str) -> Result<(), LocatedError> {
        // The names an import brings in are known only during the run.
        let known = !self.manifest.imports.is_empty()
            || directive::find(name).is_some()
            || self.functions.iter().any(|known| known == name);
        match known {
            true => Ok(()),
            false => Err(words::NO_DIRECTIVE.with("name", quoted(name)).into()),
        }
    }

    fn check_script(&self, name: &str) -> Result<(), LocatedError> {
        if !self.manifest.imports.is_empty() || name == self.manifest.id() {
            return Ok(());
        }
        let source = self.library.find(name, &self.manifest.origin.folder)?;
        Manifest::load(source, self.library).map(|_| ())
    }
}
