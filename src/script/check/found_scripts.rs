//! The scripts that a script names, each looked up once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fault_log::FaultLog;
use super::near::with_near;
use crate::error::LocatedError;
use crate::manifest::Manifest;
use crate::run::{builtin_tools, is_builtin_tool};
use crate::source::{self, ScriptLibrary};
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// A script that was looked up by its name.
enum FoundScript {
    Read(Arc<Manifest>),
    Missing(LocalizedText),
    /// It has faults of its own, which are reported once, or is a tool of the program.
    Broken,
}

pub(super) struct FoundScripts<'a> {
    manifest: &'a Manifest,
    library: &'a ScriptLibrary,
    by_name: BTreeMap<String, FoundScript>,
}

impl<'a> FoundScripts<'a> {
    pub fn new(manifest: &'a Manifest, library: &'a ScriptLibrary) -> FoundScripts<'a> {
        FoundScripts { manifest, library, by_name: BTreeMap::new() }
    }

    /// The names of those that could be read.
    pub fn names(self) -> impl Iterator<Item = String> {
        let read = self.by_name.into_iter().filter(|(_, it)| matches!(it, FoundScript::Read(_)));
        read.map(|(name, _)| name)
    }

    /// The script of a name; a missing one is a fault.
    pub fn find(&mut self, name: &str, faults: &mut FaultLog<'_>) -> Option<Arc<Manifest>> {
        if !self.by_name.contains_key(name) {
            let found = self.look_up(name, faults);
            self.by_name.insert(name.to_owned(), found);
        }
        match self.by_name.get(name)? {
            FoundScript::Read(shape) => Some(shape.clone()),
            FoundScript::Missing(what) => {
                faults.add_of(name, what.clone());
                None
            }
            FoundScript::Broken => None,
        }
    }

    fn look_up(&self, name: &str, faults: &mut FaultLog<'_>) -> FoundScript {
        let found = self.library.find(name, &self.manifest.origin.folder);
        match found.and_then(|source| Manifest::load(source, self.library)) {
            Ok(shape) => FoundScript::Read(Arc::new(shape)),
            Err(_) if is_builtin_tool(name) => FoundScript::Broken,
            // It runs, but nothing is known of it.
            Err(failure) if failure.message.phrase() == phrases::SEALED => FoundScript::Broken,
            Err(failure) if failure.location.is_some() => {
                faults.found.push(failure);
                FoundScript::Broken
            }
            Err(failure) => FoundScript::Missing(self.missing_script(name, failure)),
        }
    }

    fn missing_script(&self, name: &str, error: LocatedError) -> LocalizedText {
        let ids = self.script_ids();
        let tools = builtin_tools().map(|(id, _)| id);
        with_near(error.message, name, ids.iter().map(String::as_str).chain(tools))
    }

    /// The IDs of the scripts beside this one, and of the built-in ones.
    fn script_ids(&self) -> Vec<String> {
        let beside = self.library.files().list(&self.manifest.origin.folder);
        let beside = beside.iter().filter(|entry| source::is_script(&entry.name));
        let built_in = self.library.built_in().map(str::to_owned);
        beside.map(|entry| source::stem(&entry.name).to_owned()).chain(built_in).collect()
    }
}
