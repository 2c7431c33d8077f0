//! Finds servers to connect to: keys in the environment, servers on this machine.
//!
//! Only this machine is contacted; the search never sends a key anywhere. The environment is passed
//! in, because reading it is `config`'s job.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{StreamExt, TryStreamExt};
use reqwest::RequestBuilder;
use serde_json::Value;

use super::error_body::{clean, is_html};
use super::http::{self, Endpoint, Server, Timeouts};
use super::server_facts::facts_of_listed;
use super::{ModelError, ServerFacts};
use avocet_core::deadline::with_timeout;
use avocet_core::protocol::{HOSTED, Provider};

/// How long a server on this machine may take to respond.
const LOCAL_WAIT: Duration = Duration::from_secs(1);

/// How long a list of models may take.
pub(super) const LIST_WAIT: Duration = Duration::from_secs(15);

/// A server to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOffer {
    pub name: String,
    pub base_url: String,
    /// The variable that holds the key; `None` for a server on this machine.
    pub key_env: Option<String>,
    /// The models the server lists; empty if it was not asked.
    pub models: Vec<String>,
}

/// A server that may run on this machine.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a> {
    pub name: &'a str,
    pub base_url: &'a str,
}

#[rustfmt::skip]
pub const LOCAL: &[Local<'static>] = &[
    Local { name: "Ollama",    base_url: "http://127.0.0.1:11434" },
    Local { name: "llama.cpp", base_url: "http://127.0.0.1:8080/v1" },
    Local { name: "LM Studio", base_url: "http://127.0.0.1:1234/v1" },
    Local { name: "vLLM",      base_url: "http://127.0.0.1:8000/v1" },
];

/// Looks for servers on this machine, all at once, and for keys. `env` returns the value of a
/// variable. Running servers come first: they need no key.
pub async fn find_servers(
    env: impl Fn(&str) -> Option<String>,
    local: &[Local<'_>],
) -> Vec<ServerOffer> {
    let mut offers: Vec<ServerOffer> =
        join_all(local.iter().map(probe)).await.into_iter().flatten().collect();
    for hosted in HOSTED {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let url = if hosted.url_env.is_empty() {
            Some(hosted.base_url.to_owned())
        } else {
            set(hosted.url_env)
        };
        if let (Some(_), Some(base_url)) = (set(hosted.key_env), url)
            && offers.iter().all(|offer| offer.base_url != base_url)
        {
            let key_env = Some(hosted.key_env.to_owned());
            offers.push(ServerOffer {
                name: hosted.name.to_owned(),
                base_url,
                key_env,
                models: Vec::new(),
            });
        }
    }
    offers
}

async fn probe(local: &Local<'_>) -> Option<ServerOffer> {
    let timeouts = Timeouts::with_idle(LOCAL_WAIT);
    let server = Server::new(Endpoint { timeouts, ..Endpoint::at(local.base_url) }).ok()?;
    let models = with_timeout(LOCAL_WAIT, list(&Arc::new(server))).await.ok()?.ok()?;
    Some(ServerOffer {
        name: local.name.to_owned(),
        base_url: local.base_url.to_owned(),
        key_env: None,
        models: names_of(models),
    })
}

/// A model as its server lists it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedModel {
    pub name: String,
    pub facts: ServerFacts,
    /// Who lists it: `llamacpp`, `vllm`, `library` (Ollama), or its maker.
    pub owner: String,
}

impl From<&str> for ListedModel {
    fn from(name: &str) -> ListedModel {
        ListedModel { name: name.to_owned(), ..ListedModel::default() }
    }
}

/// The models a server offers, in its order; the endpoint's own model and patience are ignored.
pub async fn list_models(endpoint: Endpoint) -> Result<Vec<String>, ModelError> {
    Ok(names_of(describe_models(endpoint).await?))
}

/// The same, with what the server says of each.
pub async fn describe_models(endpoint: Endpoint) -> Result<Vec<ListedModel>, ModelError> {
    list(&Arc::new(server_to_ask(endpoint)?)).await
}

/// The server of an endpoint, waited for as briefly as for a list.
pub(super) fn server_to_ask(endpoint: Endpoint) -> Result<Server, ModelError> {
    Server::new(Endpoint { timeouts: Timeouts::with_idle(LIST_WAIT), ..endpoint })
}

fn names_of(models: Vec<ListedModel>) -> Vec<String> {
    models.into_iter().map(|model| model.name).collect()
}

pub(super) async fn list(server: &Arc<Server>) -> Result<Vec<ListedModel>, ModelError> {
    let mut models = list_at(server, server.api().models).await?;
    if server.provider() == Provider::Bedrock {
        models.extend(list_at(server, "foundation-models?byInferenceType=ON_DEMAND").await?);
    }
    Ok(models)
}

async fn list_at(server: &Arc<Server>, path: &str) -> Result<Vec<ListedModel>, ModelError> {
    let text = ask(server, server.get(path)?).await?;
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(server.reported(&value, ""));
    }
    let foreign = || ModelError::Foreign { url: server.url(), said: clean(&text, server.key()) };
    listed(&value).ok_or_else(foreign)
}

/// The text of an answer that is not about a model.
pub(super) async fn ask(
    server: &Arc<Server>,
    request: RequestBuilder,
) -> Result<String, ModelError> {
    let response = server.send(request).await?;
    if !response.status().is_success() {
        return Err(server.refusal(response, "").await.0);
    }
    let body = http::body(Arc::clone(server), response).boxed();
    let body = body.try_fold(Vec::new(), |mut all, bytes| async move {
        all.extend_from_slice(&bytes);
        Ok(all)
    });
    let text = String::from_utf8_lossy(&body.await?).into_owned();
    if is_html(&text) { Err(ModelError::WebPage { url: server.url() }) } else { Ok(text) }
}

/// `{"data":[{"id":…}]}`, or a bare list, or `models` with `name`s as in Ollama.
fn listed(value: &Value) -> Option<Vec<ListedModel>> {
    let fields =
        ["data", "models", "inferenceProfileSummaries", "modelSummaries", "publisherModels"];
    let list = fields.map(|field| value.get(field)).into_iter().chain([Some(value)]);
    let list = list.flatten().find_map(Value::as_array)?;
    let name = |item: &Value| {
        let fields = ["inferenceProfileId", "modelId", "id", "name", "model"];
        let name = fields.iter().find_map(|field| item.get(field)?.as_str()).or(item.as_str())?;
        let name = name.strip_prefix("publishers/google/").unwrap_or(name);
        Some(clean(name.strip_prefix("models/").unwrap_or(name), None))
            .filter(|name| !name.is_empty())
    };
    let owner = |item: &Value| Some(item.get("owned_by")?.as_str()?.to_owned());
    let model = |item| {
        let owner = owner(item).unwrap_or_default();
        Some(ListedModel { name: name(item)?, facts: facts_of_listed(item), owner })
    };
    Some(list.iter().filter_map(model).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_list_of_models_is_read_in_every_usual_shape() {
        let expected = Some(vec!["a".to_owned(), "b".to_owned()]);
        let shapes = [
            json!({ "object": "list", "data": [{ "id": "a" }, { "id": "b" }, {}] }),
            json!({ "models": [{ "name": "a" }, { "model": "b" }] }),
            json!({ "models": [{ "name": "models/a" }, { "name": "models/b" }] }),
            json!(["a", "b"]),
            json!({ "inferenceProfileSummaries": [
                { "inferenceProfileId": "a", "inferenceProfileName": "A" },
                { "inferenceProfileId": "b" },
            ] }),
        ];
        for shape in shapes {
            assert_eq!(listed(&shape).map(names_of), expected, "{shape}");
        }
        assert_eq!(listed(&json!({ "status": "ok" })), None);
    }
}
