//! Remembers what servers say of their models, so that the first request of a run already fits
//! them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use avocet_config::atomic_file;
use avocet_model::ServerFacts;

/// The most models that are remembered.
const MAX_MODELS: usize = 200;

/// The file; nothing is remembered without one.
#[derive(Clone, Debug, Default)]
pub struct FactsMemory {
    path: Option<PathBuf>,
    /// As it was when it was first needed.
    read: Arc<OnceLock<KnownFacts>>,
}

/// By address, then by model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct KnownFacts(BTreeMap<String, BTreeMap<String, ServerFacts>>);

impl FactsMemory {
    pub fn new(path: PathBuf) -> FactsMemory {
        FactsMemory { path: Some(path), read: Arc::default() }
    }

    /// The last word of the server at this address about a model.
    pub fn facts(&self, url: &str, model: &str) -> Option<&ServerFacts> {
        self.read.get_or_init(|| self.load()).0.get(url)?.get(model)
    }

    /// Saves them if they are new; a failure only means that they are asked for again.
    pub fn remember(&self, url: &str, model: &str, facts: &ServerFacts) {
        let Some(path) = &self.path else { return };
        let mut known = self.load();
        let models = known.0.entry(url.to_owned()).or_default();
        let earlier = models.get(model).cloned();
        let facts = facts.after(&earlier.clone().unwrap_or_default());
        if earlier.as_ref() == Some(&facts) {
            return;
        }
        models.insert(model.to_owned(), facts);
        if known.0.values().map(BTreeMap::len).sum::<usize>() > MAX_MODELS {
            known.0.retain(|other, _| other == url);
        }
        if let Ok(text) = serde_json::to_string(&known) {
            let _saved = atomic_file::write_unsynced(path, &text);
        }
    }

    fn load(&self) -> KnownFacts {
        let text = self.path.as_deref().and_then(|path| atomic_file::read(path).ok().flatten());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_said_is_known_to_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.json");
        let facts = ServerFacts { window: Some(8_192), ..ServerFacts::default() };
        let here = "http://127.0.0.1:8080/v1";
        FactsMemory::new(path.clone()).remember(here, "m", &facts);
        let next = FactsMemory::new(path.clone());
        assert_eq!(next.facts(here, "m"), Some(&facts));
        assert_eq!((next.facts(here, "n"), next.facts("http://x/v1", "m")), (None, None));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(FactsMemory::new(path).facts(here, "m"), None, "a broken file is not an error");
    }

    #[test]
    fn a_refusal_of_tools_is_known_until_the_server_says_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let (path, here) = (folder.path().join("facts.json"), "http://127.0.0.1:8080/v1");
        let tools = |path: PathBuf| {
            let memory = FactsMemory::new(path);
            memory.facts(here, "m").map(|facts| (facts.window, facts.tried_tools))
        };
        let said = |tools| ServerFacts { window: Some(8_192), tools, ..ServerFacts::default() };
        let refused = ServerFacts { tried_tools: Some(false), ..ServerFacts::default() };
        for (facts, expected) in [
            (&said(None), (Some(8_192), None)),
            (&refused, (Some(8_192), Some(false))),
            (&said(None), (Some(8_192), Some(false))),
            (&said(Some(true)), (Some(8_192), None)),
        ] {
            FactsMemory::new(path.clone()).remember(here, "m", facts);
            assert_eq!(tools(path.clone()), Some(expected));
        }
    }

    #[test]
    fn refused_parameters_are_known_to_the_next_run_with_what_was_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let (path, here) = (folder.path().join("facts.json"), "http://127.0.0.1:8080/v1");
        let said = ServerFacts { window: Some(8_192), ..ServerFacts::default() };
        let refuses = |name: &str| ServerFacts { refused: vec![name.to_owned()], ..said.clone() };
        let silent = ServerFacts { refused: vec!["seed".to_owned()], ..ServerFacts::default() };
        for facts in [&said, &refuses("temperature"), &silent, &said] {
            FactsMemory::new(path.clone()).remember(here, "m", facts);
        }
        let refused = vec!["temperature".to_owned(), "seed".to_owned()];
        let known = ServerFacts { refused, ..said };
        assert_eq!(FactsMemory::new(path).facts(here, "m"), Some(&known));
    }

    #[test]
    fn the_file_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.json");
        let memory = FactsMemory::new(path.clone());
        for number in 0..MAX_MODELS + 2 {
            memory.remember(&format!("http://host{number}/v1"), "m", &ServerFacts::default());
        }
        assert!(memory.load().0.len() <= MAX_MODELS);
        let last = format!("http://host{}/v1", MAX_MODELS + 1);
        assert!(FactsMemory::new(path).facts(&last, "m").is_some());
    }
}
