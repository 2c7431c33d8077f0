//! A model whose key is fetched when it is first called: from a keyring, or by a program. Until then
//! nothing waits for it. One that is refused after it worked has expired, and is fetched again.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::sync::{Mutex, OnceCell};

use super::{Chunk, Model, ModelError, Request, ServerFacts};
use avocet_core::i18n::LocalizedText;

/// Fetches a key; `None` if there is none.
pub type FetchKey =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Option<String>, LocalizedText>> + Send + Sync>;

/// Makes the model once its key is there.
pub type BuildModel =
    Arc<dyn Fn(Option<String>) -> Result<Arc<dyn Model>, ModelError> + Send + Sync>;

type Chunks = BoxStream<'static, Result<Chunk, ModelError>>;

#[derive(Clone)]
pub struct LateKey {
    /// The same without its key: for what is known before.
    unkeyed: Arc<dyn Model>,
    fetch: FetchKey,
    build: BuildModel,
    model: Arc<OnceCell<Arc<dyn Model>>>,
    /// The same with a newer key.
    renewed: Arc<Mutex<Option<Arc<dyn Model>>>>,
}

impl LateKey {
    /// Makes the model without its key first, which fails where the key would not help.
    pub fn new(fetch: FetchKey, build: BuildModel) -> Result<LateKey, ModelError> {
        Ok(LateKey {
            unkeyed: build(None)?,
            fetch,
            build,
            model: Arc::default(),
            renewed: Arc::default(),
        })
    }

    fn current(&self) -> &Arc<dyn Model> {
        self.model.get().unwrap_or(&self.unkeyed)
    }

    async fn make(&self) -> Result<Arc<dyn Model>, ModelError> {
        let key = (self.fetch)().await.map_err(|why| ModelError::KeyUnavailable { why })?;
        (self.build)(key)
    }

    async fn open(&self, request: Request) -> Result<Chunks, ModelError> {
        let is_first = self.model.get().is_none();
        let first = self.model.get_or_try_init(|| self.make()).await?;
        let model = self.renewed.lock().await.clone().unwrap_or_else(|| Arc::clone(first));
        if is_first {
            return Ok(model.stream(request));
        }
        let mut chunks = model.stream(request.clone()).peekable();
        if !matches!(Pin::new(&mut chunks).peek().await, Some(Err(error)) if error.is_of_key()) {
            return Ok(chunks.boxed());
        }
        let renewed = self.make().await?;
        *self.renewed.lock().await = Some(Arc::clone(&renewed));
        Ok(renewed.stream(request))
    }
}

impl Model for LateKey {
    fn name(&self) -> &str {
        self.current().name()
    }

    fn search_host(&self) -> Option<String> {
        self.current().search_host()
    }

    fn enforced_window(&self) -> Option<u64> {
        self.current().enforced_window()
    }

    fn facts(&self) -> Option<&ServerFacts> {
        self.current().facts()
    }

    fn refused_params(&self) -> Vec<&'static str> {
        self.current().refused_params()
    }

    /// A key is not fetched for this.
    fn learn(&self) -> BoxFuture<'static, ()> {
        self.model.get().map_or_else(|| ready(()).boxed(), |model| model.learn())
    }

    fn stream(&self, request: Request) -> Chunks {
        let late = self.clone();
        let started = async move {
            match late.open(request).await {
                Ok(chunks) => chunks,
                Err(error) => stream::once(ready(Err(error))).boxed(),
            }
        };
        stream::once(started).flatten().boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Scripted;
    use avocet_core::i18n::keys as phrases;

    async fn call(model: &LateKey) -> Vec<Result<Chunk, ModelError>> {
        model.stream(Request::default()).collect().await
    }

    #[tokio::test]
    async fn the_key_is_fetched_once_and_only_when_it_is_needed() {
        let fetched = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&fetched);
        let fetch: FetchKey = Arc::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Ok(Some("sk".to_owned())) }.boxed()
        });
        let build: BuildModel = Arc::new(|key| {
            let replies = if key.as_deref() == Some("sk") { "one\n---\ntwo" } else { "no key" };
            Ok(Arc::new(Scripted::parse("replies.txt", replies)?))
        });
        let model = LateKey::new(fetch, build).unwrap();
        assert_eq!((model.name(), fetched.load(Ordering::SeqCst)), ("scripted", 0));
        assert!(call(&model).await.contains(&Ok(Chunk::Text("one".into()))));
        assert!(call(&model).await.contains(&Ok(Chunk::Text("two".into()))));
        assert_eq!(fetched.load(Ordering::SeqCst), 1);
    }

    #[derive(Debug)]
    struct Strict(&'static str);

    impl Model for Strict {
        fn name(&self) -> &str {
            self.0
        }

        fn stream(&self, _: Request) -> Chunks {
            let refused =
                ModelError::Forbidden { url: "u".into(), model: "m".into(), said: String::new() };
            let said = Chunk::Text(self.0.into());
            stream::once(ready(if self.0 == "old" { Err(refused) } else { Ok(said) })).boxed()
        }
    }

    #[tokio::test]
    async fn a_key_that_expired_is_fetched_again_once() {
        let fetched = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&fetched);
        let fetch: FetchKey = Arc::new(move || {
            let count = counter.fetch_add(1, Ordering::SeqCst);
            async move { Ok(Some(if count == 0 { "old" } else { "new" }.to_owned())) }.boxed()
        });
        let build: BuildModel = Arc::new(|key| {
            Ok(Arc::new(Strict(if key.as_deref() == Some("new") { "new" } else { "old" })))
        });
        let model = LateKey::new(fetch, build).unwrap();
        assert!(matches!(call(&model).await[..], [Err(ModelError::Forbidden { .. })]));
        for _ in 0..2 {
            assert_eq!(call(&model).await, [Ok(Chunk::Text("new".into()))]);
        }
        assert_eq!(fetched.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_key_that_cannot_be_had_is_an_error_of_the_call_and_is_asked_for_again() {
        let fetch: FetchKey = Arc::new(|| async { Err(phrases::FILE_NOT_TOML.into()) }.boxed());
        let build: BuildModel =
            Arc::new(|_| Ok(Arc::new(Scripted::parse("replies.txt", "sent without a key")?)));
        let model = LateKey::new(fetch, build).unwrap();
        for _ in 0..2 {
            let why = phrases::FILE_NOT_TOML.into();
            assert_eq!(call(&model).await, [Err(ModelError::KeyUnavailable { why })]);
        }
    }
}
