//! What the user's settings say of the web.

use super::environment::Environment;
use super::layers::Layers;
use avocet_core::secret::Secret;
use avocet_safety::web::{SearchService, SearchSettings, WebSettings};

pub fn settings(layers: &Layers, environment: &Environment) -> WebSettings {
    WebSettings {
        is_off: !layers.flag("web.fetch"),
        private_hosts: layers.list("web.hosts"),
        search: search(layers, environment),
    }
}

fn search(layers: &Layers, environment: &Environment) -> Option<SearchSettings> {
    let service = SearchService::from_name(&layers.text("web.search")?)?;
    let named = layers.text("web.search_key_env").filter(|name| !name.is_empty());
    let key_variable = named.unwrap_or_else(|| service.key_variable().to_owned());
    let key = environment.get(&key_variable).map(str::trim).filter(|key| !key.is_empty());
    let address = layers.text("web.search_url").filter(|address| !address.is_empty());
    Some(SearchSettings { service, address, key: key.map(Secret::new), key_variable })
}
