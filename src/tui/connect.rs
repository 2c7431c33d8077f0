//! `/connect`: a provider is chosen, a key typed if it needs one, its models asked for, one of them
//! chosen and all of it remembered. The program does the work, in the background; the key passes
//! from the field to it and is in no state, no event and no operation.

use std::fmt;
use std::future::pending;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

use avocet_config::Secret;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{ModelOffer, Op};

/// What the program does for it.
pub trait ProviderSetup: Send + Sync {
    /// The providers, those that need no key first, and the server at the address that was named.
    fn providers(&self, named: Option<&str>) -> BoxFuture<'static, Vec<ProviderOffer>>;

    /// The models of a provider, or of the server at this address; with this key, or the one that
    /// is known.
    fn models(&self, provider: &str, secret: Option<Secret>) -> BoxFuture<'static, ListedModels>;

    /// Remembers the provider, its key and its model as those that start.
    fn save(
        &self,
        provider: &str,
        secret: Option<Secret>,
        model: &str,
    ) -> BoxFuture<'static, Result<SavedProvider, LocalizedText>>;
}

pub type ListedModels = Result<Vec<ModelOffer>, ListError>;

/// Why models could not be listed.
#[derive(Clone, Debug, PartialEq)]
pub enum ListError {
    /// Another key may help.
    WantsKey(LocalizedText),
    Other(LocalizedText),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderOffer {
    /// As it is typed.
    pub id: String,
    pub name: String,
    pub url: String,
    /// The page where a key is to be had; empty: unknown.
    pub keys_at: String,
    /// No key is known, and it needs one.
    pub needs_key: bool,
    pub about: LocalizedText,
}

/// What was remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedProvider {
    pub said: Vec<LocalizedText>,
    /// Tells the session.
    pub op: Op,
}

/// The program's part, where there is one.
#[derive(Clone, Default)]
pub struct SetupHandle(pub Option<Arc<dyn ProviderSetup>>);

impl fmt::Debug for SetupHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetupHandle")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectRequest {
    /// The providers; the one that was named is chosen at once.
    Providers(Option<String>),
    Models {
        provider: String,
        key: Option<Secret>,
    },
    /// With the key that its models were listed with.
    Save {
        provider: String,
        model: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum ConnectResult {
    Providers(Option<String>, Vec<ProviderOffer>),
    Models(ListedModels),
    Saved(Result<SavedProvider, LocalizedText>),
}

/// Carries out requests, the latest one only.
#[derive(Debug)]
pub struct ConnectWorker {
    setup: SetupHandle,
    work: Option<JoinHandle<ConnectResult>>,
    /// The key that the models were listed with.
    key: Option<Secret>,
}

impl ConnectWorker {
    pub fn new(setup: SetupHandle) -> ConnectWorker {
        ConnectWorker { setup, work: None, key: None }
    }

    pub fn start(&mut self, request: ConnectRequest) {
        let Some(setup) = self.setup.0.clone() else { return };
        let work: BoxFuture<'static, ConnectResult> = match request {
            ConnectRequest::Providers(named) => {
                let asked = setup.providers(named.as_deref());
                Box::pin(async move { ConnectResult::Providers(named, asked.await) })
            }
            ConnectRequest::Models { provider, key } => {
                self.key.clone_from(&key);
                let asked = setup.models(&provider, key);
                Box::pin(async move { ConnectResult::Models(asked.await) })
            }
            ConnectRequest::Save { provider, model } => {
                let saved = setup.save(&provider, self.key.take(), &model);
                Box::pin(async move { ConnectResult::Saved(saved.await) })
            }
        };
        if let Some(before) = self.work.replace(tokio::spawn(work)) {
            before.abort();
        }
    }

    /// Waits for the result; for ever while nothing is asked.
    pub async fn next_result(&mut self) -> ConnectResult {
        loop {
            let Some(work) = &mut self.work else { return pending().await };
            let done = work.await;
            self.work = None;
            if let Ok(result) = done {
                return result;
            }
        }
    }
}

/// The state of the screen's part.
#[derive(Clone, Debug, Default)]
pub struct Connecting {
    pub providers: Vec<ProviderOffer>,
    /// The one that was chosen.
    pub chosen: Option<ProviderOffer>,
}
