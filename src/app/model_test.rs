//! `avocet model show` and `avocet model test`: describes a model, and tries it with a request as
//! small as can be.

use std::time::Instant;

use futures_util::StreamExt;
use serde_json::json;

use super::key_source::KeyFinder;
use super::models::{ModelConnector, endpoint};
use super::runtime::runtime;
use super::startup::Startup;
use super::subcommands::print_rows;
use crate::cli::{Exit, model};
use avocet_core::i18n::{Localize, LocalizedText, PhraseValue, cli as phrases};
use avocet_core::protocol::{Message, Notice, PageRow, Params};
use avocet_model::{
    Chunk, Endpoint, Model, ModelError, Request, ServerFacts, ToolSchema, learn_facts,
};

/// Enough for a call of a tool, and for a model that thinks first.
const MAX_TOKENS: u32 = 1_000;

/// `model show`.
pub fn show(startup: &Startup, name: Option<&str>, json: bool) -> Exit {
    let Some(name) = name.map(str::to_owned).or_else(|| model_in_use(startup)) else {
        return startup.fail(&Notice::error(phrases::MODEL_NOT_NAMED), Exit::WrongUse);
    };
    let facts = match runtime() {
        Ok(runtime) => runtime.block_on(facts(startup, &name)),
        Err(error) => return startup.fail_io(&error),
    };
    let can = model::capabilities_of(&startup.loaded.settings, &name, facts.as_ref());
    print_rows(startup, &model::details(&name, &can), json)
}

/// What the server says of the model; nothing if it cannot be reached.
async fn facts(startup: &Startup, name: &str) -> Option<ServerFacts> {
    let connection = startup.loaded.settings.connection.as_ref()?;
    if !connection.provider.kind().is_server() {
        return None;
    }
    let api_key = KeyFinder::new(startup).of_connection(connection).fetch().await.ok()?;
    let model = name.to_owned();
    learn_facts(Endpoint { api_key, model, ..endpoint(connection) }).await.ok()
}

fn model_in_use(startup: &Startup) -> Option<String> {
    let settings = &startup.loaded.settings;
    let name = settings.connection.as_ref()?.model(settings.models.mode);
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// `model test`.
pub fn test(startup: &Startup, name: Option<&str>, json: bool) -> Exit {
    let connector = ModelConnector::new(startup);
    let connected = match name {
        Some(name) => connector.model_by_name(name, None, startup.lang()),
        None => connector.initial_model(startup.loaded.settings.models.mode, startup.lang()),
    };
    let model = match connected {
        Ok(connected) => connected.model,
        Err(why) => return startup.fail(&Notice::error(why), Exit::WrongUse),
    };
    let tried = match runtime() {
        Ok(runtime) => runtime.block_on(try_model(&*model)),
        Err(error) => return startup.fail_io(&error),
    };
    match tried {
        Ok(report) => {
            model.note_tools(report.tools);
            print_rows(startup, &report.rows(model.name()), json)
        }
        Err(error) => startup.fail(&Notice::error(error.localized()), Exit::Model),
    }
}

/// What a test found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TestReport {
    first_ms: u128,
    whole_ms: u128,
    tools: bool,
    /// `None`: not tried, because tools work.
    json: Option<bool>,
}

impl TestReport {
    fn rows(&self, model: &str) -> Vec<PageRow> {
        let ms = |ms: u128| phrases::TEST_MS.with("ms", ms.to_string());
        let works = |works: bool| if works { phrases::TEST_WORKS } else { phrases::TEST_NOT };
        let json = self.json.map_or(phrases::TEST_NOT_NEEDED, works);
        let pair = |label, value: PhraseValue| PageRow::pair(label, value);
        vec![
            PageRow::heading(model),
            pair(phrases::TEST_FIRST, ms(self.first_ms).into()),
            pair(phrases::TEST_WHOLE, ms(self.whole_ms).into()),
            pair(phrases::TEST_TOOLS, works(self.tools).into()),
            pair(phrases::TEST_JSON, LocalizedText::from(json).into()),
        ]
    }
}

/// One request with a tool; only if no call comes of it, another one for JSON in text.
async fn try_model(model: &dyn Model) -> Result<TestReport, ModelError> {
    let called = match answer(model, tool_request()).await {
        // A server without tools refuses the request.
        Err(ModelError::Rejected { .. } | ModelError::NoTools { .. }) => None,
        answered => Some(answered?),
    };
    if let Some(answer) = called.as_ref().filter(|answer| answer.called) {
        return Ok(answer.report(true, None));
    }
    let text = answer(model, json_request()).await?;
    let object: Option<serde_json::Value> = serde_json::from_str(unfenced(&text.text)).ok();
    let works = object.is_some_and(|object| object["word"].as_str() == Some("pong"));
    Ok(called.as_ref().unwrap_or(&text).report(false, Some(works)))
}

/// The text without a fence around it, which many models write.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(text).trim()
}

struct Answer {
    text: String,
    called: bool,
    first_ms: u128,
    whole_ms: u128,
}

impl Answer {
    fn report(&self, tools: bool, json: Option<bool>) -> TestReport {
        TestReport { first_ms: self.first_ms, whole_ms: self.whole_ms, tools, json }
    }
}

async fn answer(model: &dyn Model, request: Request) -> Result<Answer, ModelError> {
    let started = Instant::now();
    let mut stream = model.stream(request);
    let mut text = String::new();
    let mut called = false;
    let mut first_ms = None;

    while let Some(chunk) = stream.next().await {
        let chunk = chunk?;
        if matches!(chunk, Chunk::Text(_) | Chunk::Thought(_) | Chunk::Call(_)) {
            first_ms.get_or_insert_with(|| started.elapsed().as_millis());
        }
        match chunk {
            Chunk::Text(more) => text.push_str(&more),
            Chunk::Call(call) => called |= call.name == TOOL,
            _ => {}
        }
    }
    let whole_ms = started.elapsed().as_millis();
    Ok(Answer { text, called, first_ms: first_ms.unwrap_or(whole_ms), whole_ms })
}

const TOOL: &str = "ping";

fn word_schema() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": { "word": { "type": "string", "maxLength": 20 } },
        "required": ["word"],
        "additionalProperties": false,
    })
}

fn request(text: &str) -> Request {
    Request {
        messages: vec![Message::user(text)],
        params: Params { max_tokens: Some(MAX_TOKENS), ..Params::default() },
        ..Request::default()
    }
}

fn tool_request() -> Request {
    let tool = ToolSchema {
        name: TOOL.to_owned(),
        description: "Sends a word.".to_owned(),
        parameters: word_schema(),
    };
    let text = "Call the tool `ping` with the word \"pong\". Do nothing else.";
    Request { tools: vec![tool].into(), ..request(text) }
}

fn json_request() -> Request {
    let text = "Answer with exactly this JSON object and nothing else: {\"word\": \"pong\"}";
    Request { schema: Some(word_schema().into()), ..request(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_model::Scripted;

    async fn tried(replies: &str) -> Result<TestReport, ModelError> {
        try_model(&Scripted::parse("replies.txt", replies).unwrap()).await
    }

    #[tokio::test]
    async fn without_a_call_the_json_dialect_is_tried() {
        let report = tried("I cannot.\n---\n```json\n{\"word\": \"pong\"}\n```").await.unwrap();
        assert_eq!((report.tools, report.json), (false, Some(true)));
        let report = tried("#! {\"status\":400}\n---\npong").await.unwrap();
        assert_eq!((report.tools, report.json), (false, Some(false)));
    }

    #[tokio::test]
    async fn a_server_that_fails_is_an_error_and_no_report() {
        assert!(tried("#! {\"status\":401}\n").await.is_err());
    }
}
