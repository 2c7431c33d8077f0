//! MCP servers of a session: servers are played over pipes in memory, so that no program starts.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use avocet::config::key_store::KeyStore;
use avocet::i18n::LocalizedText;
use avocet::mcp::{
    DefinitionOrigin, DefinitionProgram, ServerDefinition, ServerDefinitions, ServerPipes,
    ServerStarter, ServerTransport, StdioServer, ToolFilter,
};
use avocet::model::{Model, Scripted};
use avocet::protocol::{
    Decision, Event, ExtensionOp, McpAction, Observation, Op, Outcome, Question, QuestionOp,
    TypedArgument,
};
use avocet::safety::{PolicyRule, ServerReach};
use avocet::session::SessionConfig;
use avocet::session::mcp_servers::McpAccess;
use avocet::tools::image;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};

use crate::support::talk::{self, DONE, SessionClient, tool};

/// Starts servers that answer `say` with the text that they are given.
#[derive(Clone, Default)]
struct Played {
    started: Arc<Mutex<Vec<String>>>,
    /// What they may reach.
    reach: Arc<Mutex<Vec<ServerReach>>>,
    answers: Arc<Mutex<Vec<(String, bool)>>>,
    definitions: Vec<ServerDefinition>,
    has_user: bool,
    /// They ask the user for a word before they answer.
    asks: bool,
    /// They ask the model for one.
    samples: bool,
}

impl ServerStarter for Played {
    fn start(&self, server: StdioServer) -> BoxFuture<'_, Result<ServerPipes, LocalizedText>> {
        self.started.lock().unwrap().push(server.command);
        self.reach.lock().unwrap().push(server.reach);
        let (input, theirs) = duplex(1 << 16);
        let (mut out, output) = duplex(1 << 16);
        let (_, errors) = duplex(64);
        let (asks, samples) = (self.asks, self.samples);
        tokio::spawn(async move {
            let mut lines = BufReader::new(theirs).lines();
            let mut call = Value::Null;
            while let Ok(Some(line)) = lines.next_line().await {
                let request: Value = serde_json::from_str(&line).unwrap();
                let answer = match request["method"].as_str() {
                    Some("tools/call") if asks => {
                        call = request;
                        question()
                    }
                    Some("tools/call") if samples => {
                        call = request;
                        sampling()
                    }
                    Some(_) => answer(&request),
                    None if samples => result(&call["id"], &request["result"]["content"]["text"]),
                    // The user's word.
                    None => result(&call["id"], &request["result"]["content"]["word"]),
                };
                if !answer.is_null() {
                    out.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
                }
            }
        });
        let (input, output, errors) = (Box::new(input), Box::new(output), Box::new(errors));
        std::future::ready(Ok(ServerPipes { input, output, errors, process: Box::new(()) })).boxed()
    }
}

fn question() -> Value {
    let schema = json!({
        "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"],
    });
    let params = json!({ "message": "Which word?", "requestedSchema": schema });
    json!({ "jsonrpc": "2.0", "id": 900, "method": "elicitation/create", "params": params })
}

fn sampling() -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Which word?" } });
    let params = json!({ "messages": [message], "maxTokens": 10 });
    json!({ "jsonrpc": "2.0", "id": 901, "method": "sampling/createMessage", "params": params })
}

fn result(id: &Value, text: &Value) -> Value {
    let text = match text {
        Value::Object(_) => text.clone(),
        _ => json!({ "type": "text", "text": text }),
    };
    let content = json!([text]);
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content } })
}

fn answer(request: &Value) -> Value {
    let id = &request["id"];
    let body = match request["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {}, "prompts": {}, "completions": {} },
            "serverInfo": { "name": "played", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "say", "inputSchema": { "type": "object" } }] })
        }
        "prompts/list" => {
            json!({ "prompts": [{ "name": "review", "arguments": [{ "name": "focus" }] }] })
        }
        "completion/complete" => {
            let typed = request["params"]["argument"]["value"].as_str().unwrap();
            json!({ "completion": { "values": [format!("{typed}eed"), "\u{1b}[31mred"] } })
        }
        "tools/call" => return result(id, &request["params"]["arguments"]["what"]),
        _ if id.is_null() => return Value::Null,
        _ => {
            let error = json!({ "code": -32601, "message": "unknown" });
            return json!({ "jsonrpc": "2.0", "id": id, "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": body })
}

impl McpAccess for Played {
    fn reader(&self, trusted: bool) -> Box<dyn FnOnce() -> ServerDefinitions + Send> {
        let servers = self.definitions.clone();
        let is_read = move |server: &ServerDefinition| trusted || !server.origin.is_from_repository;
        let servers = servers.into_iter().filter(is_read).collect();
        Box::new(move || ServerDefinitions { servers, ..ServerDefinitions::default() })
    }

    fn answer(&self, definition: &ServerDefinition) -> Option<bool> {
        let answers = self.answers.lock().unwrap();
        answers.iter().find(|(hash, _)| *hash == definition.hash()).map(|(_, answer)| *answer)
    }

    fn save_answer(
        &mut self,
        definition: &ServerDefinition,
        is_allowed: bool,
    ) -> Result<(), LocalizedText> {
        self.answers.lock().unwrap().push((definition.hash(), is_allowed));
        Ok(())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn starter(&self) -> Arc<dyn ServerStarter> {
        Arc::new(self.clone())
    }

    fn keys(&self) -> Arc<KeyStore> {
        Arc::new(KeyStore::new(PathBuf::from("/nowhere/keys.toml"), None))
    }

    fn has_user(&self) -> bool {
        self.has_user
    }
}

fn definition(name: &str, is_from_repository: bool) -> ServerDefinition {
    let server = StdioServer { command: format!("run-{name}"), ..StdioServer::default() };
    ServerDefinition {
        name: name.to_owned(),
        origin: DefinitionOrigin {
            program: DefinitionProgram::Claude,
            file: PathBuf::from("/work/.mcp.json"),
            is_from_repository,
        },
        transport: ServerTransport::Stdio(server),
        start_timeout: Duration::from_secs(60),
        call_timeout: Duration::from_secs(60),
        is_enabled: true,
        samples: false,
        withheld: None,
        tools: ToolFilter::default(),
    }
}

fn parts(folder: &Path, replies: &[&str], servers: &Played) -> SessionConfig {
    let model: Arc<dyn Model> =
        Arc::new(Scripted::parse("test", &replies.join("\n---\n")).unwrap());
    let mut parts = talk::parts(folder, model);
    parts.access.servers = Some(Box::new(servers.clone()));
    parts
}

fn say(text: &str) -> String {
    tool("mcp.theirs.say", json!({ "what": text }))
}

fn observed(events: &[Event]) -> &Observation {
    let finished = events.iter().find_map(|event| match event {
        Event::StepFinished(observation) => Some(observation.as_ref()),
        _ => None,
    });
    finished.unwrap_or_else(|| panic!("{events:?}"))
}

#[tokio::test]
async fn a_tool_of_a_server_runs_as_a_step_that_a_rule_allows() {
    let folder = crate::support::temp_dir();
    let servers = Played { definitions: vec![definition("theirs", false)], ..Played::default() };
    let mut parts = parts(folder.path(), &[&say("hello"), DONE], &servers);
    parts.security.policy.allowed = vec![PolicyRule::parse("mcp.theirs.say").unwrap()];
    let mut client = SessionClient::start(parts);
    let events = client.turn("say hello").await;
    let observation = observed(&events);
    assert_eq!((observation.outcome, observation.stdout.as_str()), (Outcome::Ran, "hello"));
    assert_eq!(observation.risk.reasons[0].rule, "mcp.theirs.say");
    client.close().await;
}

#[tokio::test]
async fn a_secret_in_a_result_is_masked() {
    let folder = crate::support::temp_dir();
    let servers = Played { definitions: vec![definition("theirs", false)], ..Played::default() };
    let mut parts = parts(folder.path(), &[&say(talk::SECRET), DONE], &servers);
    parts.security.policy.allowed = vec![PolicyRule::parse("mcp.theirs.say").unwrap()];
    let mut client = SessionClient::start(parts);
    let events = client.turn("say it").await;
    assert!(!observed(&events).stdout.contains(talk::SECRET));
    client.close().await;
}

#[tokio::test]
async fn an_image_of_a_result_is_what_its_bytes_say_and_what_is_none_is_named() {
    let folder = crate::support::temp_dir();
    let servers = Played { definitions: vec![definition("theirs", false)], ..Played::default() };
    let png: &[u8] = include_bytes!("../fixtures/pixel.png");
    let show = |mime: &str, bytes: &[u8]| {
        let data = image::document(bytes).data;
        let block = json!({ "type": "image", "mimeType": mime, "data": data });
        tool("mcp.theirs.say", json!({ "what": block }))
    };
    for (mime, bytes, sent) in [
        ("image/webp", png, Some("image/png")),
        ("application/pdf", png, Some("image/png")),
        ("image/png", b"no image", None),
        ("application/pdf", b"no document", None),
    ] {
        let mut parts = parts(folder.path(), &[&show(mime, bytes), DONE], &servers);
        parts.security.policy.allowed = vec![PolicyRule::parse("mcp.theirs.say").unwrap()];
        let mut client = SessionClient::start(parts);
        let events = client.turn("show it").await;
        let observation = observed(&events);
        let mimes: Vec<&str> = observation.images.iter().map(|it| it.mime.as_str()).collect();
        assert_eq!(mimes.first().copied(), sent, "{mime} {observation:?}");
        assert_eq!(observation.stdout.contains("[image 1] is"), sent.is_none(), "{mime}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_rule_about_a_server_that_is_off_does_not_count_for_one_of_a_like_name() {
    let folder = crate::support::temp_dir();
    let off = ServerDefinition { is_enabled: false, ..definition("th.eirs", false) };
    let servers =
        Played { definitions: vec![off, definition("th_eirs", false)], ..Played::default() };
    let step = tool("mcp.th_eirs.say", json!({ "what": "hello" }));
    let mut parts = parts(folder.path(), &[&step, DONE], &servers);
    parts.security.policy.allowed = vec![PolicyRule::parse("mcp.th_eirs.say").unwrap()];
    let mut client = SessionClient::start(parts);
    let events = client.turn("say hello").await;
    assert_eq!(observed(&events).risk.rule, "tool.unknown");
    client.close().await;
    assert_eq!(*servers.started.lock().unwrap(), ["run-th_eirs"]);
}

#[tokio::test]
async fn a_server_of_the_project_is_asked_about_once_and_a_message_waits_for_that() {
    let folder = crate::support::temp_dir();
    let definitions = vec![definition("theirs", true)];
    let servers = Played { definitions, has_user: true, ..Played::default() };
    let mut client = SessionClient::start(parts(folder.path(), &[DONE], &servers));
    let (ask, question) = client.next_question().await;
    let Question::Choice { text, .. } = question else { panic!("{question:?}") };
    assert!(text.contains("run-theirs") && text.contains(".mcp.json"), "{text}");
    client.submit("hello").await;
    client.next(|event| matches!(event, Event::Queued { .. }).then_some(())).await;
    assert!(servers.started.lock().unwrap().is_empty());
    let decision = Decision::Choose { index: 0 };
    client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    client.ending().await;
    client.close().await;
    assert_eq!(*servers.started.lock().unwrap(), ["run-theirs"]);
    // The answer is saved: the next session starts it at once, and does not ask.
    let mut client = SessionClient::start(parts(folder.path(), &[DONE], &servers));
    client.facts(|info| info.tools.iter().any(|tool| tool.name == "mcp.call")).await;
    client.close().await;
}

#[tokio::test]
async fn one_need_of_a_server_of_the_project_can_be_withheld_and_that_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let mut theirs = definition("theirs", true);
    if let ServerTransport::Stdio(server) = &mut theirs.transport {
        server.env.insert("TOKEN".into(), "x".into());
    }
    let servers = Played { definitions: vec![theirs], has_user: true, ..Played::default() };
    let mut client = SessionClient::start(parts(folder.path(), &[], &servers));
    let (ask, question) = client.next_question().await;
    let Question::Choice { choices, fallback, .. } = question else { panic!("{question:?}") };
    let [yes, network, variable, no] = &choices[..] else { panic!("{choices:?}") };
    assert_eq!(yes, "Start it");
    assert_eq!(network, "Start it without the network");
    assert_eq!(variable, "Start it without the variable `TOKEN`");
    assert_eq!((no.as_str(), fallback), ("Don't start it", Some(3)));
    let decision = Decision::Choose { index: 1 };
    client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    client.facts(|info| info.tools.iter().any(|tool| tool.name == "mcp.call")).await;
    client.close().await;
    // The next session does not ask, and the page says what it has not.
    let mut client = SessionClient::start(parts(folder.path(), &[], &servers));
    client.facts(|info| info.tools.iter().any(|tool| tool.name == "mcp.call")).await;
    client.send(Op::Extension(ExtensionOp::Mcp { action: McpAction::Show })).await;
    let page = client.page().await.join("\n");
    assert!(page.contains("without the network"), "{page}");
    client.close().await;
    let reach = servers.reach.lock().unwrap();
    assert_eq!(reach.iter().map(|reach| reach.is_offline).collect::<Vec<_>>(), [true, true]);
}

#[tokio::test]
async fn a_server_that_the_user_declined_does_not_start() {
    let folder = crate::support::temp_dir();
    let definitions = vec![definition("theirs", true)];
    let servers = Played { definitions, has_user: true, ..Played::default() };
    let mut client = SessionClient::start(parts(folder.path(), &[], &servers));
    let (ask, _) = client.next_question().await;
    let decision = Decision::Choose { index: 2 };
    client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    client.send(Op::Extension(ExtensionOp::Mcp { action: McpAction::Show })).await;
    let page = client.page().await.join("\n");
    assert!(page.contains("declined"), "{page}");
    client.close().await;
    assert!(servers.started.lock().unwrap().is_empty());
    assert_eq!(servers.answers.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn no_server_starts_in_a_folder_that_is_not_trusted() {
    let folder = crate::support::temp_dir();
    let definitions = vec![definition("theirs", true), definition("mine", false)];
    let servers = Played { definitions, ..Played::default() };
    let mut parts = parts(folder.path(), &[DONE], &servers);
    parts.security.place.trusted = false;
    let mut client = SessionClient::start(parts);
    client.turn("hello").await;
    client.close().await;
    assert!(servers.started.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_server_is_switched_off_and_on() {
    let folder = crate::support::temp_dir();
    let definitions = vec![definition("theirs", false)];
    let servers = Played { definitions, has_user: true, ..Played::default() };
    let mut client = SessionClient::start(parts(folder.path(), &[], &servers));
    client.facts(|info| info.tools.iter().any(|tool| tool.name == "mcp.call")).await;
    let off = McpAction::Off { server: "theirs".into() };
    client.send(Op::Extension(ExtensionOp::Mcp { action: off })).await;
    let page = client.page().await.join("\n");
    assert!(page.contains("switched off"), "{page}");
    let on = McpAction::On { server: "theirs".into() };
    client.send(Op::Extension(ExtensionOp::Mcp { action: on })).await;
    client.facts(|info| info.tools.iter().any(|tool| tool.name == "mcp.call")).await;
    client.close().await;
    assert_eq!(servers.started.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn the_server_of_a_prompt_names_the_values_of_an_argument_while_it_is_typed() {
    let folder = crate::support::temp_dir();
    let definitions = vec![definition("theirs", false)];
    let servers = Played { definitions, has_user: true, ..Played::default() };
    let mut client = SessionClient::start(parts(folder.path(), &[], &servers));
    let is_known = |event: Event| match event {
        Event::Catalogue(known) => known.entries.iter().any(|entry| entry.name == "theirs:review"),
        _ => false,
    };
    client.next(|event| is_known(event).then_some(())).await;
    let typed = |prompt: &str| TypedArgument {
        prompt: prompt.into(),
        argument: "focus".into(),
        typed: "sp".into(),
    };
    for prompt in ["gone:review", "theirs:review"] {
        let op = ExtensionOp::CompleteArgument(typed(prompt));
        client.send(Op::Extension(op)).await;
    }
    let values = client.next(|event| match event {
        Event::ArgumentValues(values) => Some(values),
        _ => None,
    });
    let values = values.await;
    assert_eq!(values.of, typed("theirs:review"));
    assert_eq!(values.values, ["speed", "red"]);
    client.close().await;
}

#[tokio::test]
async fn what_a_server_asks_in_a_call_is_a_question_of_the_session() {
    let folder = crate::support::temp_dir();
    let definitions = vec![definition("theirs", false)];
    let servers = Played { definitions, asks: true, ..Played::default() };
    let mut parts = parts(folder.path(), &[&say("x"), DONE], &servers);
    parts.security.policy.allowed = vec![PolicyRule::parse("mcp.theirs.say").unwrap()];
    let mut client = SessionClient::start(parts);
    client.submit("say it").await;
    let (ask, question) = client.next_question().await;
    let Question::Form { fields, .. } = question else { panic!("{question:?}") };
    assert_eq!(fields[0].name, "word");
    let decision = Decision::Fill { values: vec!["tern".into()] };
    client.send(Op::Question(QuestionOp::Decide { ask, decision })).await;
    let events = client.until_it_ends().await;
    assert_eq!(observed(&events).stdout, "tern");
    client.close().await;
}

#[tokio::test]
async fn a_server_that_the_user_allows_asks_the_model_and_a_line_says_so() {
    let folder = crate::support::temp_dir();
    let definitions = vec![ServerDefinition { samples: true, ..definition("theirs", false) }];
    let servers = Played { definitions, samples: true, ..Played::default() };
    let word = "#! {\"usage\":[1000000,7]}\ntern";
    let mut parts = parts(folder.path(), &[&say("x"), word, DONE], &servers);
    parts.security.policy.allowed = vec![PolicyRule::parse("mcp.theirs.say").unwrap()];
    let mut client = SessionClient::start(parts);
    let events = client.turn("say it").await;
    assert_eq!(observed(&events).stdout, "tern");
    let counts = events.iter().rev().find_map(|event| match event {
        Event::Facts(info) => Some(info.usage.input_tokens),
        _ => None,
    });
    assert!(counts.is_some_and(|tokens| tokens >= 1_000_000), "{counts:?}");
    let notices = events.iter().filter_map(|event| match event {
        Event::Notice(notice) => Some(notice.say.to_string()),
        _ => None,
    });
    let notices: Vec<String> = notices.collect();
    assert!(notices.iter().any(|say| say.contains("`theirs` asked the model")), "{notices:?}");
    client.close().await;
}
