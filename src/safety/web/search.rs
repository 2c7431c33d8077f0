//! The search service of the user's settings.

use url::Url;

use super::address::{host_label, is_this_machine, parse_address, without_user};
use avocet_core::i18n::{LocalizedText, web as phrases};
use avocet_core::secret::Secret;

/// The tool, and the reason that asks about a query.
pub const SEARCH: &str = "web.search";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchService {
    SearXng,
    Brave,
    Tavily,
    Exa,
    Bocha,
    /// The server of the model searches, if it can.
    Provider,
}

struct ServiceRow {
    service: SearchService,
    name: &'static str,
    /// Empty: everyone has a server of their own.
    address: &'static str,
    /// Below the address.
    path: &'static str,
    /// Empty: it needs no key.
    key_variable: &'static str,
}

#[rustfmt::skip]
const SERVICES: [ServiceRow; 6] = [
    ServiceRow { service: SearchService::SearXng, name: "searxng", address: "",                             path: "search",            key_variable: "" },
    ServiceRow { service: SearchService::Brave,   name: "brave",   address: "https://api.search.brave.com", path: "res/v1/web/search", key_variable: "BRAVE_API_KEY" },
    ServiceRow { service: SearchService::Tavily,  name: "tavily",  address: "https://api.tavily.com",       path: "search",            key_variable: "TAVILY_API_KEY" },
    ServiceRow { service: SearchService::Exa,     name: "exa",     address: "https://api.exa.ai",           path: "search",            key_variable: "EXA_API_KEY" },
    ServiceRow { service: SearchService::Bocha,   name: "bocha",   address: "https://api.bochaai.com",      path: "v1/web-search",     key_variable: "BOCHA_API_KEY" },
    ServiceRow { service: SearchService::Provider, name: "provider", address: "",                       path: "",                  key_variable: "" },
];

impl SearchService {
    /// As settings name them.
    pub const NAMES: &[&str] = &["off", "searxng", "brave", "tavily", "exa", "bocha", "provider"];

    pub fn from_name(name: &str) -> Option<SearchService> {
        SERVICES.iter().find(|row| row.name == name).map(|row| row.service)
    }

    fn row(self) -> &'static ServiceRow {
        let [first, ..] = &SERVICES;
        SERVICES.iter().find(|row| row.service == self).unwrap_or(first)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The usual variable with its key.
    pub fn key_variable(self) -> &'static str {
        self.row().key_variable
    }
}

/// What the user's settings say of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchSettings {
    pub service: SearchService,
    /// Instead of the usual one.
    pub address: Option<String>,
    pub key: Option<Secret>,
    /// Empty: no key is sent.
    pub key_variable: String,
}

impl SearchSettings {
    pub fn is_by_provider(&self) -> bool {
        self.service == SearchService::Provider
    }

    /// Where queries are sent to.
    ///
    /// # Errors
    /// A sentence: what the settings lack.
    pub fn endpoint(&self) -> Result<Url, LocalizedText> {
        let row = self.service.row();
        let base = self.address.as_deref().unwrap_or(row.address);
        if base.is_empty() && self.is_by_provider() {
            return Err(phrases::SEARCH_NO_PROVIDER.into());
        }
        if base.is_empty() {
            return Err(phrases::SEARCH_NO_ADDRESS.with("service", row.name));
        }
        if self.key.is_none() && !self.key_variable.is_empty() {
            let say = phrases::SEARCH_NO_KEY.with("service", row.name);
            return Err(say.with("variable", self.key_variable.as_str()));
        }
        let url = parse_address(&format!("{}/{}", base.trim_end_matches('/'), row.path))?;
        if url.scheme() == "http" && self.key.is_some() && !is_this_machine(&url) {
            return Err(phrases::SEARCH_PLAIN.with("host", host_label(&url)));
        }
        Ok(without_user(url))
    }
}
