//! Servers that behave and servers that do not, played over pipes in memory.

mod definitions;
mod hostile;
mod remote;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::{mpsc, oneshot};

use avocet_config::key_store::KeyStore;
use avocet_core::i18n::LocalizedText;

use super::*;

/// The server's side of its pipes.
struct FakeServer {
    input: Lines<BufReader<DuplexStream>>,
    output: DuplexStream,
    errors: DuplexStream,
    /// How often it was started before.
    starts: usize,
    tools: Value,
}

type Play = Arc<dyn Fn(FakeServer) -> BoxFuture<'static, ()> + Send + Sync>;

struct FakeStarter {
    play: Play,
    starts: std::sync::atomic::AtomicUsize,
    ended: mpsc::UnboundedSender<usize>,
}

/// Tells that the process was ended.
struct Guard(usize, mpsc::UnboundedSender<usize>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.1.send(self.0);
    }
}

impl ServerStarter for FakeStarter {
    fn start(&self, server: StdioServer) -> BoxFuture<'_, Result<ServerPipes, LocalizedText>> {
        if server.command == "missing" {
            let why = avocet_core::i18n::config::IO_NOT_FOUND.into();
            return std::future::ready(Err(why)).boxed();
        }
        let starts = self.starts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (input, server_input) = tokio::io::duplex(1 << 16);
        let (server_output, output) = tokio::io::duplex(1 << 16);
        let (server_errors, errors) = tokio::io::duplex(1 << 16);
        let server = FakeServer {
            input: BufReader::new(server_input).lines(),
            output: server_output,
            errors: server_errors,
            starts,
            tools: json!([{"name": "echo", "inputSchema": {"type": "object"}}]),
        };
        tokio::spawn((self.play)(server));
        let process = Box::new(Guard(starts, self.ended.clone()));
        let (input, output, errors) = (Box::new(input), Box::new(output), Box::new(errors));
        std::future::ready(Ok(ServerPipes { input, output, errors, process })).boxed()
    }
}

impl FakeServer {
    async fn send(&mut self, message: Value) {
        self.write(&format!("{message}\n")).await;
    }

    /// A client may be gone: the server does not mind.
    async fn write(&mut self, text: &str) {
        let _ = self.output.write_all(text.as_bytes()).await;
    }

    async fn complain(&mut self, text: &str) {
        let _ = self.errors.write_all(text.as_bytes()).await;
    }

    async fn receive(&mut self) -> Option<Value> {
        let line = self.input.next_line().await.ok()??;
        Some(serde_json::from_str(&line).unwrap())
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// Answers all but what it is asked of its tools; the first such request, or `None` at the end.
    async fn until(&mut self, method: &str) -> Option<Value> {
        loop {
            let request = self.receive().await?;
            if request["method"] == method {
                return Some(request);
            }
            let result = match request["method"].as_str().unwrap_or_default() {
                "initialize" => json!({
                    "protocolVersion": request["params"]["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": true}, "prompts": {}, "resources": {}},
                    "serverInfo": {"name": "fake\u{1b}[2J", "version": "1"},
                    "instructions": "Be\u{202e} kind",
                }),
                "tools/list" => json!({"tools": self.tools}),
                "prompts/list" => json!({"prompts": [
                    {"name": "review", "arguments": [{"name": "file", "required": true}]},
                ]}),
                "resources/list" => json!({"resources": [{"uri": "memo://1", "name": "one"}]}),
                _ if request.get("id").is_none() || request.get("method").is_none() => continue,
                _ => {
                    let error = json!({"code": -32601, "message": "Method not found"});
                    self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
                    continue;
                }
            };
            self.answer(&request, result).await;
        }
    }

    async fn call(&mut self) -> Value {
        self.until("tools/call").await.unwrap()
    }
}

/// The client's side: a server that was started, and its events.
struct Client {
    server: McpServer,
    events: mpsc::Receiver<(String, McpEvent)>,
    ended: mpsc::UnboundedReceiver<usize>,
}

fn definition(transport: ServerTransport) -> ServerDefinition {
    ServerDefinition {
        name: "fake".to_owned(),
        origin: DefinitionOrigin {
            program: DefinitionProgram::Avocet,
            file: PathBuf::new(),
            is_from_repository: false,
        },
        transport,
        start_timeout: Duration::from_secs(30),
        call_timeout: Duration::from_secs(60),
        is_enabled: true,
        samples: false,
        withheld: None,
        tools: ToolFilter::default(),
    }
}

fn start_with(definition: ServerDefinition, keys: KeyStore, play: Play) -> Client {
    start_in("/work space".into(), definition, keys, play)
}

fn start_in(
    workspace: PathBuf,
    definition: ServerDefinition,
    keys: KeyStore,
    play: Play,
) -> Client {
    let (sender, events) = mpsc::channel(256);
    let (ended_sender, ended) = mpsc::unbounded_channel();
    let starter = FakeStarter { play, starts: Default::default(), ended: ended_sender };
    let launch = ServerLaunch {
        definition,
        folders: vec![workspace],
        starter: Arc::new(starter),
        keys: Arc::new(keys),
    };
    Client { server: start_server(launch, sender), events, ended }
}

fn no_keys() -> KeyStore {
    KeyStore::new("/nonexistent/keys.toml".into(), None)
}

fn start<F>(play: impl Fn(FakeServer) -> F + Send + Sync + 'static) -> Client
where
    F: Future<Output = ()> + Send + 'static,
{
    start_within(definition(ServerTransport::Stdio(fake())), play)
}

fn start_within<F>(
    definition: ServerDefinition,
    play: impl Fn(FakeServer) -> F + Send + Sync + 'static,
) -> Client
where
    F: Future<Output = ()> + Send + 'static,
{
    start_with(definition, no_keys(), Arc::new(move |server| play(server).boxed()))
}

fn fake() -> StdioServer {
    StdioServer { command: "fake".to_owned(), ..StdioServer::default() }
}

/// A definition whose calls may take so long.
fn with_call_timeout(call_timeout: Duration) -> ServerDefinition {
    ServerDefinition { call_timeout, ..definition(ServerTransport::Stdio(fake())) }
}

impl Client {
    async fn event(&mut self) -> McpEvent {
        self.events.recv().await.unwrap().1
    }

    /// The next event that is not for the log.
    async fn next(&mut self) -> McpEvent {
        loop {
            match self.event().await {
                McpEvent::Logged(_) => {}
                event => return event,
            }
        }
    }

    async fn started(&mut self) -> McpServerFacts {
        match self.next().await {
            McpEvent::Started(facts) => facts,
            event => panic!("{event:?}"),
        }
    }

    fn call(&self, id: u64) {
        let (id, tool, input) = (McpCallId(id), "echo".to_owned(), Map::new());
        assert!(self.server.send(McpRequest::Call { id, tool, input }));
    }

    async fn answered(&mut self) -> (u64, Result<String, McpError>) {
        match self.next().await {
            McpEvent::Answered { id, result } => {
                let text = result.map(|reply| match reply {
                    McpReply::Content(content) => content.text,
                    McpReply::Values(values) => values.join(","),
                });
                (id.0, text)
            }
            event => panic!("{event:?}"),
        }
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

#[tokio::test]
async fn an_older_server_tells_what_it_offers() {
    let mut client = start(|mut server| async move {
        let discover = server.until("server/discover").await.unwrap();
        let error = json!({"code": -32601, "message": "Method not found"});
        server.send(json!({"jsonrpc": "2.0", "id": discover["id"], "error": error})).await;
        server.until("never").await;
    });
    let facts = client.started().await;
    assert_eq!((facts.title.as_str(), facts.revision.as_str()), ("fake 1", "2025-11-25"));
    assert_eq!(facts.instructions, "Be\\u{202e} kind");
    assert_eq!((facts.tools[0].name.as_str(), facts.tools.len()), ("echo", 1));
    assert!(facts.prompts[0].arguments[0].is_required);
    assert_eq!(facts.resources[0].uri, "memo://1");
}

#[tokio::test]
async fn a_newer_server_needs_no_handshake_and_is_told_the_revision_with_each_request() {
    let (sender, mut revisions) = mpsc::unbounded_channel();
    let mut client = start(move |mut server| {
        let sender = sender.clone();
        async move {
            let discover = server.until("server/discover").await.unwrap();
            let result = json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "supportedVersions": ["2026-07-28", "2025-06-18"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "new", "version": "2"},
            });
            server.answer(&discover, result).await;
            loop {
                let Some(request) = server.receive().await else { return };
                let meta = &request["params"]["_meta"];
                let revision = meta["io.modelcontextprotocol/protocolVersion"].clone();
                sender.send((request["method"].clone(), revision)).unwrap();
                let complete = |key: &str, value: Value| json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", key: value});
                match request["method"].as_str().unwrap() {
                    "tools/list" => {
                        let tools = server.tools.clone();
                        server.answer(&request, complete("tools", tools)).await;
                    }
                    "tools/call" => {
                        let content = json!([{"type": "text", "text": "new"}]);
                        server.answer(&request, complete("content", content)).await;
                    }
                    _ => {}
                }
            }
        }
    });
    assert_eq!(client.started().await.revision, "2026-07-28");
    client.call(7);
    assert_eq!(client.answered().await, (7, Ok("new".to_owned())));
    let (method, revision) = revisions.recv().await.unwrap();
    assert_eq!((method, revision), (json!("tools/list"), json!("2026-07-28")));
}

#[tokio::test]
async fn a_call_sends_its_input_and_tells_its_progress() {
    let mut client = start(|mut server| async move {
        let call = server.call().await;
        let token = call["params"]["_meta"]["progressToken"].clone();
        let params = |token: Value| json!({"progressToken": token, "progress": 1, "total": 4, "message": "a\u{7}\nb"});
        for params in [params(json!("another")), params(token)] {
            let method = "notifications/progress";
            server.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
        }
        // What is asked for when the progress came.
        server.until("resources/read").await;
        server.answer(&call, text(&call["params"]["arguments"].to_string())).await;
        server.until("never").await;
    });
    client.started().await;
    let input = json!({"a": [1]}).as_object().unwrap().clone();
    let call = McpRequest::Call { id: McpCallId(1), tool: "echo".to_owned(), input };
    assert!(client.server.send(call));
    let McpEvent::Progress { id, done, total, text } = client.next().await else { panic!() };
    assert_eq!((id, done, total), (McpCallId(1), 1.0, Some(4.0)));
    assert!(!text.contains(char::is_control), "{text:?}");
    assert!(client.server.send(McpRequest::Read { id: McpCallId(2), uri: "memo://1".to_owned() }));
    assert_eq!(client.answered().await, (1, Ok(r#"{"a":[1]}"#.to_owned())));
}

#[tokio::test]
async fn a_cancelled_call_is_told_to_the_server() {
    let (sender, told) = oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let mut client = start(move |mut server| {
        let sender = sender.lock().unwrap().take();
        async move {
            let call = server.call().await;
            let cancelled = server.until("notifications/cancelled").await.unwrap();
            sender.unwrap().send(cancelled["params"]["requestId"] == call["id"]).unwrap();
        }
    });
    client.started().await;
    client.call(1);
    assert!(client.server.send(McpRequest::Cancel(McpCallId(1))));
    assert_eq!(client.answered().await, (1, Err(McpError::Cancelled)));
    assert!(told.await.unwrap());
}

#[tokio::test]
async fn prompts_resources_and_completions_are_asked_for() {
    let mut client = start(|mut server| async move {
        let prompt = server.until("prompts/get").await.unwrap();
        let content = json!({"type": "text", "text": prompt["params"]["arguments"]["file"]});
        server.answer(&prompt, json!({"messages": [{"role": "user", "content": content}]})).await;
        let read = server.until("resources/read").await.unwrap();
        let uri = read["params"]["uri"].clone();
        server.answer(&read, json!({"contents": [{"uri": uri, "text": uri}]})).await;
        let complete = server.until("completion/complete").await.unwrap();
        let value = complete["params"]["argument"]["value"].as_str().unwrap().to_owned() + "!";
        server.answer(&complete, json!({"completion": {"values": [value]}})).await;
        server.until("never").await;
    });
    client.started().await;
    let (name, file) = ("review".to_owned(), ("file".to_owned(), "x.rs".to_owned()));
    let arguments = [file].into();
    assert!(client.server.send(McpRequest::Prompt { id: McpCallId(1), name, arguments }));
    assert_eq!(client.answered().await, (1, Ok("x.rs".to_owned())));
    assert!(client.server.send(McpRequest::Read { id: McpCallId(2), uri: "memo://1".to_owned() }));
    assert_eq!(client.answered().await, (2, Ok("memo://1".to_owned())));
    let (prompt, argument) = ("review".to_owned(), "file".to_owned());
    let typed = "x".to_owned();
    let complete = McpRequest::Complete { id: McpCallId(3), prompt, argument, typed };
    assert!(client.server.send(complete));
    assert_eq!(client.answered().await, (3, Ok("x!".to_owned())));
}

#[tokio::test]
async fn a_question_is_passed_on_and_a_call_does_not_run_out_of_time_meanwhile() {
    let timeout = Duration::from_secs(2);
    let mut client = start_within(with_call_timeout(timeout), |mut server| async move {
        let call = server.call().await;
        let params = json!({"mode": "form", "message": "Who?", "requestedSchema":
            {"type": "object", "properties": {"age": {"type": "integer"}}}});
        server
            .send(json!({"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": params}))
            .await;
        let answer = server.receive().await.unwrap();
        server.answer(&call, text(&answer["result"].to_string())).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    let McpEvent::Asked(question) = client.next().await else { panic!() };
    assert_eq!((question.message.as_str(), question.fields.len()), ("Who?", 1));
    tokio::time::sleep(timeout * 3 / 2).await;
    let values = Some([("age".to_owned(), "7".to_owned())].into());
    assert!(client.server.send(McpRequest::Answer { question: question.id, values }));
    let answer = r#"{"action":"accept","content":{"age":7}}"#;
    assert_eq!(client.answered().await, (1, Ok(answer.to_owned())));
}

#[tokio::test]
async fn the_folders_of_the_session_are_told_when_asked_for_and_when_they_change() {
    let mut client = start(|mut server| async move {
        let call = server.call().await;
        let ask = json!({"jsonrpc": "2.0", "id": 0, "method": "roots/list"});
        server.send(ask.clone()).await;
        let first = server.receive().await.unwrap()["result"]["roots"][0]["uri"].clone();
        server.complain("asked\n").await;
        server.until("notifications/roots/list_changed").await;
        server.send(ask).await;
        let second = server.receive().await.unwrap()["result"]["roots"][0]["uri"].clone();
        server.answer(&call, text(&format!("{first} {second}"))).await;
        server.until("never").await;
    });
    client.started().await;
    client.call(1);
    let McpEvent::Logged(_) = client.event().await else { panic!() };
    assert!(client.server.send(McpRequest::SetFolders(vec!["/b".into()])));
    let told = r#""file:///work%20space" "file:///b""#;
    assert_eq!(client.answered().await, (1, Ok(told.to_owned())));
}

#[tokio::test]
async fn a_server_that_is_dropped_or_stopped_ends_with_its_process() {
    let mut client = start(|mut server| async move {
        server.until("never").await;
    });
    client.started().await;
    client.server.stop().await;
    assert_eq!(client.ended.try_recv(), Ok(0), "when it has stopped its process has ended");
    // One that goes on after its input has ended is ended.
    let mut client = start(|mut server| async move {
        server.until("never").await;
        std::future::pending::<()>().await;
    });
    client.started().await;
    drop(client.server);
    assert_eq!(client.ended.recv().await, Some(0));
}
