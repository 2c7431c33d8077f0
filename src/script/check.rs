//! Checks a script before it runs: reports names of directives, functions and scripts that do not
//! exist.

use super::directive;
use super::failure::LocatedError;
use super::fault::quoted;
use super::js::{function_name, function_source};
use super::run::placed_at;
use super::shape::links::bare;
use super::shape::{Item, Manifest};
use super::source::ScriptLibrary;
use super::syntax::{ScriptNode, Tree};
use super::text::args;
use crate::words::script_run as words;

/// Checks every instruction and reports the first fault with its place.
///
/// # Errors
/// A call of a directive, function or script that does not exist.
pub fn check(shape: &Manifest, library: &ScriptLibrary) -> Result<(), LocatedError> {
    let functions: Vec<String> = shape
        .functions
        .iter()
        .filter_map(|function| function_source(&function.source).ok())
        .filter_map(|source| function_name(source).map(bare))
        .collect();
    let checker = Checker { shape, library, functions };
    for role in shape.roles().values().filter_map(serde_json::Value::as_str) {
        checker.script(role)?;
    }
    for item in &shape.body {
        checker.item(item)?;
    }
    Ok(())
}

struct Checker<'a> {
    shape: &'a Manifest,
    library: &'a ScriptLibrary,
    functions: Vec<String>,
}

impl Checker<'_> {
    fn item(&self, item: &Item) -> Result<(), LocatedError> {
        self.node(&item.node).map_err(|failure| placed_at(failure, item))
    }

    fn node(&self, node: &ScriptNode) -> Result<(), LocatedError> {
        match &node.tree {
            Tree::Text(text) if node.tag.is_none() => self.text(text),
            Tree::Map(pairs) => {
                for (key, value) in pairs {
                    if let Some(name) = key.as_text().filter(|name| name.starts_with('$')) {
                        let call = args::call(name)
                            .ok_or_else(|| words::NO_CALL.with("name", quoted(name)))?;
                        self.name(&call.name)?;
                        self.blocks(value)?;
                    } else if matches!(key.as_text(), Some("then" | "else" | "do")) {
                        self.blocks(value)?;
                    }
                }
                Ok(())
            }
            Tree::List(_) => Err(words::LIST_ITEM.into()),
            Tree::Text(_) | Tree::Null | Tree::Bool(_) | Tree::Number(_) => Ok(()),
        }
    }

    fn blocks(&self, node: &ScriptNode) -> Result<(), LocatedError> {
        match &node.tree {
            Tree::List(items) => items.iter().try_for_each(|item| match &item.tree {
                // The items of a list of values cannot be known before the run.
                Tree::Map(_) => self.node(item),
                _ => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    fn text(&self, text: &str) -> Result<(), LocatedError> {
        if let Some(call) = args::call(text).filter(|_| text.starts_with('$')) {
            return self.name(&call.name);
        }
        if !text.starts_with("->") {
            return Ok(());
        }
        let links = args::chain(text).ok_or_else(|| words::NO_CHAIN.with("text", quoted(text)))?;
        links.iter().try_for_each(|link| match link.directive {
            true => self.name(&link.name),
            false => self.script(&link.name),
        })
    }

    fn name(&self, name: &str) -> Result<(), LocatedError> {
        // The names an import brings in are known only during the run.
        let known = !self.shape.imports.is_empty()
            || directive::find(name).is_some()
            || self.functions.iter().any(|known| known == name);
        match known {
            true => Ok(()),
            false => Err(words::NO_DIRECTIVE.with("name", quoted(name)).into()),
        }
    }

    fn script(&self, name: &str) -> Result<(), LocatedError> {
        if !self.shape.imports.is_empty() || name == self.shape.id() {
            return Ok(());
        }
        let source = self.library.find(name, &self.shape.origin.folder)?;
        Manifest::of(source, self.library).map(|_| ())
    }
}
