//! Asks a server what it says of one model: its entry in the list of models, and what the server of
//! that kind tells elsewhere.

use std::sync::Arc;

use reqwest::Url;
use serde_json::{Value, json};

use super::discover::{LIST_WAIT, ListedModel, ask, list, server_to_ask};
use super::http::{Endpoint, Server};
use super::name_check::is_same;
use super::server_facts::{facts_of_props, facts_of_show, loaded_context};
use super::{ModelError, ServerFacts};
use avocet_core::deadline::with_timeout;
use avocet_core::protocol::Provider;

/// What the server of an endpoint says of its model.
pub async fn learn_facts(endpoint: Endpoint) -> Result<ServerFacts, ModelError> {
    let model = endpoint.model.clone();
    ask_facts(&Arc::new(server_to_ask(endpoint)?), &model).await
}

pub(super) async fn ask_facts(
    server: &Arc<Server>,
    model: &str,
) -> Result<ServerFacts, ModelError> {
    match with_timeout(LIST_WAIT, facts(server, model)).await {
        Ok(facts) => facts,
        Err(_) => Err(server.stalled(LIST_WAIT)),
    }
}

async fn facts(server: &Arc<Server>, model: &str) -> Result<ServerFacts, ModelError> {
    if server.api().provider == Provider::Ollama {
        return ollama_facts(server, model).await;
    }
    let mut models = list(server).await?;
    let at = models.iter().position(|listed| is_same(&listed.name, model));
    // A server of one model serves it under any name.
    let at = at.or_else(|| (models.len() == 1 && server.is_near()).then_some(0));
    let Some(at) = at else { return Ok(ServerFacts::default()) };
    let ListedModel { name, facts, owner } = models.swap_remove(at);
    Ok(match owner.as_str() {
        "llamacpp" => llama_cpp_facts(server, &name).await.unwrap_or_default().or(facts),
        "library" => {
            let own = ollama_facts(server, &name).await.unwrap_or_default();
            // Its usual format has no way to ask for a larger context.
            ServerFacts { window: own.loaded, ..own }.or(facts)
        }
        _ => facts,
    })
}

async fn llama_cpp_facts(server: &Arc<Server>, model: &str) -> Result<ServerFacts, ModelError> {
    // A router of several models tells of the one that is named.
    let named = [("model", model), ("autoload", "false")];
    let named = Url::parse_with_params("http://server/", named);
    let query = named.ok().and_then(|url| url.query().map(str::to_owned)).unwrap_or_default();
    let props = ask(server, server.get_at_root(&format!("props?{query}"))?).await?;
    Ok(facts_of_props(&serde_json::from_str(&props).unwrap_or_default()))
}

async fn ollama_facts(server: &Arc<Server>, model: &str) -> Result<ServerFacts, ModelError> {
    let show = server.post_at_root("api/show")?.json(&json!({ "model": model }));
    let show = ask(server, show).await?;
    let facts = facts_of_show(&serde_json::from_str(&show).unwrap_or_default());
    let running = ask(server, server.get_at_root("api/ps")?).await.unwrap_or_default();
    let running: Value = serde_json::from_str(&running).unwrap_or_default();
    Ok(ServerFacts { loaded: loaded_context(&running, model), ..facts })
}
