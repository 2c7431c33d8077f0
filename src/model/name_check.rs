//! Compares the name of a model with its server's list before the first request, so that a typing
//! error is reported, and not paid for where a server answers under any name.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::sync::OnceCell;

use super::{Chunk, ListedModel, Model, ModelError, Request, ServerFacts};
use avocet_core::deadline::with_timeout;

/// How long the list is waited for; without it the name counts as right.
const WAIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Asks the server for its models.
pub type ListModels =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<ListedModel>, ModelError>> + Send + Sync>;

#[derive(Clone)]
pub struct NameCheck {
    inner: Arc<dyn Model>,
    url: String,
    list: ListModels,
    /// What the list says of the model; set once its name was found, or could not be looked up.
    passed: Arc<OnceCell<ServerFacts>>,
    patience: Duration,
    /// Whether the list may be asked for before the first request.
    early: bool,
}

impl NameCheck {
    /// `url` is the server's, for the error.
    pub fn new(inner: Arc<dyn Model>, url: String, list: ListModels) -> NameCheck {
        NameCheck { inner, url, list, passed: Arc::default(), patience: WAIT_TIMEOUT, early: false }
    }

    /// The same, asked for the list before the first request: no key has to be fetched for it.
    #[must_use]
    pub fn early(self) -> NameCheck {
        NameCheck { early: true, ..self }
    }

    async fn check(&self) -> Result<ServerFacts, ModelError> {
        let models = with_timeout(self.patience, (self.list)()).await;
        let models = models.ok().and_then(Result::ok).unwrap_or_default();
        let model = self.inner.name();
        let exact = models.iter().find(|listed| listed.name == model);
        let found = exact.or_else(|| models.iter().find(|listed| is_same(&listed.name, model)));
        // A server may know names that it does not list, most often shorter ones.
        let is_longer = |listed: &ListedModel| suffix(&listed.name, model).is_some();
        if models.is_empty() || found.is_some() || models.iter().any(is_longer) {
            return Ok(found.map(|found| found.facts.clone()).unwrap_or_default());
        }
        let near = nearest(model, models.iter().map(|listed| listed.name.as_str()));
        Err(ModelError::UnlistedModel { url: self.url.clone(), model: model.to_owned(), near })
    }
}

/// Lists may name the folder of a model (`models/gemini-3-flash`), and one of both names may have a
/// date or a stage at its end (`-2411`, `-preview-06-05`, `-latest`).
pub(super) fn is_same(listed: &str, model: &str) -> bool {
    suffix(listed, model).is_some_and(|suffix| suffix.is_empty() || is_edition(&suffix))
}

/// What one of both names has more at its end than the other, after a `-`.
fn suffix(listed: &str, model: &str) -> Option<String> {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let listed = last(listed);
    let model = last(model);

    let rest = listed.strip_prefix(&model).or_else(|| model.strip_prefix(&listed))?;
    let suffix = rest.strip_prefix('-').filter(|suffix| !suffix.is_empty());
    suffix.or(rest.is_empty().then_some("")).map(str::to_owned)
}

fn is_edition(text: &str) -> bool {
    text.split('-').all(|part| {
        let is_number = part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number || ["latest", "preview", "exp"].contains(&part)
    })
}

/// The listed names that may have been meant, nearest first.
fn nearest<'n>(model: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut near: Vec<(usize, &str)> =
        names.map(|name| (strsim::osa_distance(model, name), name)).collect();
    near.sort_unstable();
    let far = (model.chars().count() / 3).clamp(1, 5);
    near.into_iter()
        .filter(|(far_off, _)| *far_off <= far)
        .take(3)
        .map(|(_, name)| name.to_owned())
        .collect()
}

impl Model for NameCheck {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn search_host(&self) -> Option<String> {
        self.inner.search_host()
    }

    fn enforced_window(&self) -> Option<u64> {
        self.inner.enforced_window()
    }

    fn facts(&self) -> Option<&ServerFacts> {
        self.inner.facts().or(self.passed.get())
    }

    fn refused_params(&self) -> Vec<&'static str> {
        self.inner.refused_params()
    }

    /// The check, before the first request asks for it.
    fn learn(&self) -> BoxFuture<'static, ()> {
        let this = self.clone();
        async move {
            if this.early {
                // A wrong name is an error of the first request.
                let _checked = this.passed.get_or_try_init(|| this.check()).await;
            }
        }
        .boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        if self.passed.initialized() {
            return self.inner.stream(request);
        }
        let this = self.clone();
        let started = async move {
            match this.passed.get_or_try_init(|| this.check()).await {
                Ok(_) => this.inner.stream(request),
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

    struct Named(&'static str, Scripted);

    impl Model for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
            self.1.stream(request)
        }
    }

    fn checked(
        name: &'static str,
        listed: &'static [&'static str],
    ) -> (NameCheck, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let list: ListModels = Arc::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Ok(listed.iter().map(|name| ListedModel::from(*name)).collect()) }.boxed()
        });
        let model = Named(name, Scripted::parse("replies.txt", "one\n---\ntwo").unwrap());
        (NameCheck::new(Arc::new(model), "https://x/v1".into(), list), asked)
    }

    async fn first(model: &NameCheck) -> Result<Chunk, ModelError> {
        model.stream(Request::default()).next().await.unwrap()
    }

    #[tokio::test]
    async fn a_listed_name_passes_and_the_list_is_read_once() {
        let (model, asked) = checked("gemini-3-flash", &["models/gemini-3-flash", "other"]);
        assert_eq!(first(&model).await, Ok(Chunk::Text("one".into())));
        assert_eq!(first(&model).await, Ok(Chunk::Text("two".into())));
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_name_that_is_not_listed_is_told_with_the_near_ones_before_any_request() {
        let (model, _) = checked("gpt-6-sool", &["gpt-6-sol", "gpt-6-luna", "o3"]);
        let error = first(&model).await.unwrap_err();
        assert!(error.to_string().contains("`gpt-6-sol`"), "{error}");
        let (model, _) = checked("claude-sonnet-4-5", &["claude-sonnet-4-5-20250929"]);
        assert!(first(&model).await.is_ok(), "a name without its date");
    }

    #[test]
    fn a_date_or_a_stage_names_the_same_model_and_a_size_another() {
        for listed in ["x/M-1-20250929", "m-1-preview-06-05", "m-1-latest", "m-1"] {
            assert!(is_same(listed, "m-1") && is_same("m-1", listed), "{listed}");
        }
        for listed in ["m-1-turbo", "m-1-32k", "m-1-5", "m-12", "m-1-"] {
            assert!(!is_same(listed, "m-1") && !is_same("m-1", listed), "{listed}");
        }
    }

    #[tokio::test]
    async fn a_server_without_a_list_is_asked_as_it_is() {
        let (model, _) = checked("any", &[]);
        assert!(first(&model).await.is_ok());
        let silent: ListModels = Arc::new(|| std::future::pending().boxed());
        let (named, _) = checked("any", &[]);
        let model = NameCheck { list: silent, patience: Duration::from_millis(1), ..named };
        assert!(first(&model).await.is_ok(), "no longer than it has patience");
    }
}
