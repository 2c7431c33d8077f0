//! A server without a model's name: the first one it lists answers. The server is asked
//! once, at the first call.

use std::future::ready;
use std::sync::{Arc, OnceLock};

use futures_util::stream::{self, BoxStream, StreamExt};

use super::{Chunk, Endpoint, Model, ModelError, OpenAi, Request, list_models};

/// How it is called until the server has named its models.
const UNNAMED: &str = "auto";

/// What is sent where a server lists nothing: some serve one model under any name.
const ANY: &str = "default";

#[derive(Clone, Debug)]
pub struct Auto {
    client: OpenAi,
    server: Arc<Asked>,
}

#[derive(Debug)]
struct Asked {
    base_url: String,
    api_key: Option<String>,
    key_name: String,
    chosen: OnceLock<String>,
}

impl Auto {
    /// Connects to nothing yet; the endpoint's own model is not looked at.
    pub fn new(endpoint: Endpoint) -> Result<Auto, ModelError> {
        let server = Asked {
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
        let Asked { base_url, api_key, key_name, .. } = &*self.server;
        let name = match list_models(base_url, api_key.as_deref(), key_name).await {
            Ok(models) => models.into_iter().next().unwrap_or_else(|| ANY.to_owned()),
            Err(ModelError::NoEndpoint { .. } | ModelError::NoModel { .. }) => ANY.to_owned(),
            Err(error) => return Err(error),
        };
        Ok(self.server.chosen.get_or_init(|| name).clone())
    }
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
