//! A server without a model name: uses the first chat model it lists. The server is asked once, at
//! the first call if not before.

use std::future::ready;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::sync::OnceCell;

use super::{Chunk, Endpoint, HttpModel, Model, ModelError, Request, ServerFacts, list_models};

/// The name sent to a server that lists nothing: some serve one model under any name.
const ANY: &str = "default";

/// Parts of the names of models that are not for chat.
#[rustfmt::skip]
const MUTE: &[&str] = &[
    "embed", "rerank", "moderation", "whisper", "transcribe", "tts", "audio", "realtime",
    "image", "dall-e", "sora", "babbage", "davinci", "instruct-0914", "guard",
];

#[derive(Clone, Debug)]
pub struct Auto {
    server: Arc<DefaultServer>,
}

#[derive(Debug)]
struct DefaultServer {
    endpoint: Endpoint,
    client: HttpModel,
    chosen: OnceCell<HttpModel>,
}

impl Auto {
    /// The model's name until the server has listed its models.
    pub const UNNAMED: &str = "auto";

    /// Does not connect yet; the endpoint's own model is ignored.
    pub fn new(endpoint: Endpoint) -> Result<Auto, ModelError> {
        let client = HttpModel::new(endpoint.clone())?;
        Ok(Auto { server: Arc::new(DefaultServer { endpoint, client, chosen: OnceCell::new() }) })
    }

    async fn choose(&self) -> Result<&HttpModel, ModelError> {
        let DefaultServer { endpoint, client, chosen } = &*self.server;
        let choose = async || {
            let name = match list_models(endpoint.clone()).await {
                Ok(models) => first_chat_model(models).unwrap_or_else(|| ANY.to_owned()),
                Err(ModelError::NoEndpoint { .. } | ModelError::NoModel { .. }) => ANY.to_owned(),
                Err(error) => return Err(error),
            };
            Ok(client.with_model(name))
        };
        chosen.get_or_try_init(choose).await
    }
}

/// The model to offer first of those that a server lists.
pub fn default_chat_model(models: &[String]) -> Option<String> {
    first_chat_model(models.to_vec())
}

/// The first chat model; the first of all if none looks like one.
fn first_chat_model(models: Vec<String>) -> Option<String> {
    let talks = |name: &String| {
        let name = name.to_lowercase();
        !MUTE.iter().any(|part| name.contains(part))
    };
    let at = models.iter().position(talks).unwrap_or(0);
    models.into_iter().nth(at)
}

impl Model for Auto {
    fn name(&self) -> &str {
        self.server.chosen.get().map_or(Auto::UNNAMED, Model::name)
    }

    fn search_host(&self) -> Option<String> {
        self.server.chosen.get()?.search_host()
    }

    fn enforced_window(&self) -> Option<u64> {
        self.server.chosen.get()?.enforced_window()
    }

    fn facts(&self) -> Option<&ServerFacts> {
        self.server.chosen.get()?.facts()
    }

    fn refused_params(&self) -> Vec<&'static str> {
        self.server.chosen.get().map(Model::refused_params).unwrap_or_default()
    }

    fn learn(&self) -> BoxFuture<'static, ()> {
        let auto = self.clone();
        async move {
            if let Ok(chosen) = auto.choose().await {
                chosen.learn().await;
            }
        }
        .boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let auto = self.clone();
        stream::once(async move {
            match auto.choose().await {
                Ok(chosen) => chosen.stream(request),
                Err(error) => stream::once(ready(Err(error))).boxed(),
            }
        })
        .flatten()
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_chat_model_is_chosen() {
        let chosen = |names: &[&str]| {
            first_chat_model(names.iter().map(|name| (*name).to_owned()).collect())
        };
        let listed = ["text-embedding-3-small", "tts-1", "gpt-5-mini", "gpt-5"];
        assert_eq!(chosen(&listed).as_deref(), Some("gpt-5-mini"));
        assert_eq!(chosen(&["nomic-embed-text"]).as_deref(), Some("nomic-embed-text"));
        assert_eq!(chosen(&[]), None);
    }
}
