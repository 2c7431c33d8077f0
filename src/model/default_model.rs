//! A server without a model name: uses the first chat model it lists. The server is asked once, at
//! the first call.

use std::future::ready;
use std::sync::{Arc, OnceLock};

use futures_util::stream::{self, BoxStream, StreamExt};

use super::{Chunk, Endpoint, Model, ModelError, OpenAi, Request, list_models};

/// The model's name until the server has listed its models.
const UNNAMED: &str = "auto";

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
    client: OpenAi,
    server: Arc<DefaultServer>,
}

#[derive(Debug)]
struct DefaultServer {
    base_url: String,
    api_key: Option<String>,
    key_name: String,
    chosen: OnceLock<String>,
}

impl Auto {
    /// Does not connect yet; the endpoint's own model is ignored.
    pub fn new(endpoint: Endpoint) -> Result<Auto, ModelError> {
        let server = DefaultServer {
            base_url: endpoint.base_url.clone(),
            api_key: endpoint.api_key.clone(),
            key_name: endpoint.key_name.clone(),
            chosen: OnceLock::new(),
        };
        Ok(Auto { client: OpenAi::new(endpoint)?, server: Arc::new(server) })
    }

    async fn choose(&self) -> Result<String, ModelError> {
        if let Some(chosen) = self.server.chosen.get() {
            return Ok(chosen.clone());
        }
        let DefaultServer { base_url, api_key, key_name, .. } = &*self.server;
        let name = match list_models(base_url, api_key.as_deref(), key_name).await {
            Ok(models) => first_chat_model(models).unwrap_or_else(|| ANY.to_owned()),
            Err(ModelError::NoEndpoint { .. } | ModelError::NoModel { .. }) => ANY.to_owned(),
            Err(error) => return Err(error),
        };
        Ok(self.server.chosen.get_or_init(|| name).clone())
    }
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
        self.server.chosen.get().map_or(UNNAMED, String::as_str)
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let auto = self.clone();
        stream::once(async move {
            match auto.choose().await {
                Ok(name) => auto.client.with_model(name).stream(request),
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
