//! Tests the client against servers that are played in this process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{mpsc, watch};

use super::connection::LanguageConnection;
use super::document::FileOnDisk;
use super::server::LanguageServer;
use super::wire::{MessageReader, framed};
use super::*;
use avocet_core::i18n::{Lang, LocalizedText};
use avocet_core::protocol::PageRow;
use avocet_safety::tools::{CodeLookup, CodeTask};
use avocet_tools::code_checker::CodeChecker as _;

mod broken;
mod lookups;
mod settings;

/// Long enough for any machine.
const PATIENCE: Duration = Duration::from_secs(60);

type Play = Arc<dyn Fn(FakeServer) -> BoxFuture<'static, ()> + Send + Sync>;

/// The other end of a server's pipes.
struct FakeServer {
    input: MessageReader<BufReader<DuplexStream>>,
    output: DuplexStream,
    errors: DuplexStream,
}

/// Ended with the process.
struct FakeProcess(watch::Sender<usize>);

impl LanguageProcess for FakeProcess {
    fn memory_probe(&self) -> Box<dyn FnOnce() -> u64 + Send> {
        Box::new(|| 7 << 20)
    }
}

impl Drop for FakeProcess {
    fn drop(&mut self) {
        self.0.send_modify(|ended| *ended += 1);
    }
}

struct FakeHost {
    folder: PathBuf,
    definitions: LanguageDefinitions,
    play: Play,
    starts: Arc<Mutex<Vec<PathBuf>>>,
    ended: watch::Sender<usize>,
}

impl LanguageHost for FakeHost {
    fn folders(&self) -> Vec<PathBuf> {
        vec![self.folder.clone()]
    }

    fn definitions(&self) -> LanguageDefinitions {
        self.definitions.clone()
    }

    fn is_installed(&self, program: &str) -> bool {
        program == "rust-analyzer"
    }

    fn start(
        &self,
        _: LanguageDefinition,
        root: PathBuf,
    ) -> BoxFuture<'static, Result<LanguageServerPipes, LocalizedText>> {
        self.starts.lock().unwrap().push(root);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (output, their_output) = tokio::io::duplex(1 << 16);
        let (errors, their_errors) = tokio::io::duplex(1 << 16);
        let input = MessageReader::new(BufReader::new(theirs));
        let server = FakeServer { input, output: their_output, errors: their_errors };
        tokio::spawn((self.play)(server));
        let process = Box::new(FakeProcess(self.ended.clone()));
        let pipes = LanguageServerPipes {
            input: Box::new(ours),
            output: Box::new(output),
            errors: Box::new(errors),
            process,
        };
        std::future::ready(Ok(pipes)).boxed()
    }
}

impl FakeServer {
    async fn send(&mut self, message: Value) {
        // The client may have closed it.
        let _ = self.output.write_all(&framed(&message)).await;
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// The next message of this method; what comes before it is answered like a usual server would.
    async fn until(&mut self, method: &str) -> Option<Value> {
        loop {
            let message = self.input.next().await.ok()?;
            if message["method"] == method {
                return Some(message);
            }
            if message["method"] == "initialize" {
                self.answer(&message, json!({ "capabilities": {} })).await;
            }
        }
    }

    /// A file with its version, each time that it is opened or changed.
    async fn text(&mut self) -> Option<(String, u64, String)> {
        loop {
            let message = self.input.next().await.ok()?;
            let document = &message["params"]["textDocument"];
            let text = match message["method"].as_str() {
                Some("textDocument/didOpen") => &document["text"],
                Some("textDocument/didChange") => &message["params"]["contentChanges"][0]["text"],
                Some("initialize") => {
                    self.answer(&message, json!({ "capabilities": {} })).await;
                    continue;
                }
                _ => continue,
            };
            let uri = document["uri"].as_str().unwrap().to_owned();
            return Some((uri, document["version"].as_u64().unwrap(), text.as_str()?.to_owned()));
        }
    }

    /// Says that each line with `bad` is.
    async fn publish(&mut self, uri: &str, version: u64, text: &str) {
        let bad = text.lines().enumerate().filter(|(_, line)| line.contains("bad"));
        let found: Vec<Value> = bad.map(|(number, line)| fault(number, line)).collect();
        let params = json!({ "uri": uri, "version": version, "diagnostics": found });
        self.send(notification("textDocument/publishDiagnostics", &params)).await;
    }
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn fault(line: usize, message: &str) -> Value {
    let place = json!({ "line": line, "character": 0 });
    let range = json!({ "start": place, "end": place });
    json!({ "range": range, "severity": 1, "code": "E1", "source": "fake", "message": message })
}

/// A server that checks each version.
async fn check_all(mut server: FakeServer) {
    while let Some((uri, version, text)) = server.text().await {
        server.publish(&uri, version, &text).await;
    }
}

/// A project with servers that are played.
struct Project {
    folder: TempDir,
    servers: LanguageServers,
    starts: Arc<Mutex<Vec<PathBuf>>>,
    ended: watch::Receiver<usize>,
}

impl Project {
    fn new<F>(play: impl Fn(FakeServer) -> F + Send + Sync + 'static) -> Project
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let folder = TempDir::new().unwrap();
        let starts = Arc::new(Mutex::new(Vec::new()));
        let (ended, watched) = watch::channel(0);
        let host = FakeHost {
            folder: folder.path().canonicalize().unwrap(),
            definitions: read_languages(Path::new("/nonexistent/config.toml")),
            play: Arc::new(move |server| play(server).boxed()),
            starts: Arc::clone(&starts),
            ended,
        };
        let servers = LanguageServers::new(Arc::new(host), true);
        Project { folder, servers, starts, ended: watched }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// What is said after a step read a file.
    async fn read(&self, name: &str) -> String {
        self.servers.follow(vec![self.path(name)]).await;
        self.late().await
    }

    /// What is said after a step changed a file.
    async fn change(&self, name: &str, text: &str) -> String {
        self.servers.follow(vec![self.path(name)]).await;
        let path = self.write(name, text);
        said(tokio::time::timeout(PATIENCE, self.servers.check(vec![path])).await.unwrap())
    }

    /// What is said with a result that changed nothing.
    async fn late(&self) -> String {
        said(self.servers.check(Vec::new()).await)
    }

    /// Waits until something is said.
    async fn until_late(&self) -> String {
        let wait = async {
            loop {
                let found = self.late().await;
                if !found.is_empty() {
                    return found;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap()
    }

    async fn page(&self) -> Vec<String> {
        let text = |value: avocet_core::i18n::PhraseValue| value.text(Lang::En);
        let rows = self.servers.page().await.rows.into_iter().map(|row| match row {
            PageRow::Heading(say) | PageRow::Line(say) => text(say),
            PageRow::Pair { label, value } => format!("{}: {}", text(label), text(value)),
        });
        rows.collect()
    }
}

fn said(found: Option<LocalizedText>) -> String {
    found.map(|found| found.text(Lang::En)).unwrap_or_default()
}

#[tokio::test]
async fn an_edit_gets_what_it_made_wrong_and_not_what_was_wrong_before() {
    let project = Project::new(check_all);
    project.write("a.rs", "bad old\nfine\n");
    assert_eq!(project.read("a.rs").await, "");
    // The first check of the file is over once an edit that changes nothing was answered.
    project.change("a.rs", "bad old\nfine\n").await;
    let found = project.change("a.rs", "// x\nbad old\nbad new\n").await;
    assert!(found.contains("a.rs:3: error[E1]: bad new (fake)"), "{found}");
    assert!(!found.contains("error[E1]: bad old") && found.contains("left out: 1"), "{found}");
    assert_eq!(project.change("a.rs", "bad old\nbad new\nfine\n").await, "");
}

#[tokio::test]
async fn at_most_twenty_faults_are_listed_errors_first() {
    let project = Project::new(check_all);
    project.write("a.rs", "");
    let text: String = (0..30).map(|n| format!("bad {n}\n")).collect();
    let found = project.change("a.rs", &text).await;
    assert_eq!(found.matches("a.rs:").count(), 20, "{found}");
    assert!(found.contains("not shown: 10"), "{found}");
}

#[tokio::test]
async fn errors_are_listed_before_what_is_less_wrong() {
    let project = Project::new(|mut server| async move {
        while let Some((uri, version, _)) = server.text().await {
            let mut hint = fault(0, "a hint");
            hint["severity"] = json!(2);
            let params = json!({ "uri": uri, "version": version, "diagnostics": [hint, fault(1, "an error")] });
            server.send(notification("textDocument/publishDiagnostics", &params)).await;
        }
    });
    let found = project.change("a.rs", "one\ntwo\n").await;
    let place = |text: &str| found.find(text).unwrap_or_else(|| panic!("{found}"));
    assert!(place("an error") < place("a hint"), "{found}");
}

#[tokio::test]
async fn what_is_found_late_comes_with_a_later_result() {
    let (go, mut may_go) = mpsc::unbounded_channel::<()>();
    let may_go = Arc::new(Mutex::new(Some(async move { may_go.recv().await })));
    let project = Project::new(move |mut server| {
        let wait = may_go.lock().unwrap().take();
        async move {
            let Some((uri, ..)) = server.text().await else { return };
            let Some(wait) = wait else { return };
            wait.await;
            server.publish(&uri, 1, "bad thing").await;
            server.until("never").await;
        }
    });
    let found = project.change("a.rs", "bad thing").await;
    assert_eq!(found, "`a.rs` is still being checked; what is found comes with a later result.");
    assert_eq!(project.late().await, "");
    go.send(()).unwrap();
    let found = project.until_late().await;
    assert!(found.contains("a.rs:1: error[E1]: bad thing"), "{found}");
    assert_eq!(project.late().await, "");
}

#[tokio::test]
async fn a_server_that_is_at_work_is_waited_for_and_asked_again() {
    let project = Project::new(|mut server| async move {
        let request = server.until("initialize").await.unwrap();
        let capabilities = json!({ "diagnosticProvider": {} });
        server.answer(&request, json!({ "capabilities": capabilities })).await;
        let progress = |kind: &str| {
            notification("$/progress", &json!({ "token": 1, "value": { "kind": kind } }))
        };
        server.send(progress("begin")).await;
        let first = server.until("textDocument/diagnostic").await.unwrap();
        server.answer(&first, json!({ "kind": "full", "items": [] })).await;
        server.send(progress("end")).await;
        let again = server.until("textDocument/diagnostic").await.unwrap();
        server.answer(&again, json!({ "kind": "full", "items": [fault(0, "bad")] })).await;
        server.until("never").await;
    });
    let found = project.change("a.rs", "bad").await;
    assert!(found.contains("a.rs:1: error[E1]: bad"), "{found}");
}

#[tokio::test]
async fn parts_of_a_project_share_a_server_and_it_ends_with_the_session() {
    let mut project = Project::new(check_all);
    project.write("Cargo.toml", "");
    project.write("part/Cargo.toml", "");
    project.change("part/src/a.rs", "bad").await;
    project.change("src/b.rs", "bad").await;
    assert_eq!(*project.starts.lock().unwrap(), [project.path("")]);
    assert_eq!(*project.ended.borrow(), 0);
    project.servers.stop().await;
    project.ended.wait_for(|ended| *ended == 1).await.unwrap();
    assert_eq!(project.change("src/b.rs", "bad").await, "");
}

#[tokio::test]
async fn nothing_starts_in_a_folder_that_is_not_trusted_or_without_a_server() {
    let project = Project::new(check_all);
    project.servers.set_trusted(false);
    assert_eq!(project.change("a.rs", "bad").await, "");
    project.servers.set_trusted(true);
    assert_eq!(project.change("a.py", "bad").await, "");
    assert!(project.starts.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_server_that_was_not_needed_for_ten_minutes_ends() {
    let pipe = || tokio::io::duplex(1 << 16);
    let [input, output, errors] = [pipe(), pipe(), pipe()];
    let (ended, watched) = watch::channel(0);
    let pipes = LanguageServerPipes {
        input: Box::new(input.0),
        output: Box::new(output.0),
        errors: Box::new(errors.0),
        process: Box::new(FakeProcess(ended)),
    };
    let (events, _inbox) = mpsc::channel(8);
    let definition = read_languages(Path::new("/nonexistent/config.toml")).servers.remove(0);
    let mut server = LanguageServer::new(definition, "/w".into(), Arc::from([]));
    server.greet(LanguageConnection::open(pipes, 1, events)).unwrap();
    assert!(server.handle(&json!({ "id": 1, "result": { "capabilities": {} } })).unwrap());
    let began = tokio::time::Instant::now();
    assert_eq!(server.pass_time(began + Duration::from_secs(590)), None);
    assert!(server.is_ready() && *watched.borrow() == 0);
    // Until then nothing wakes up for it.
    assert!(server.next_deadline().is_some_and(|at| at >= began + Duration::from_secs(590)));
    assert_eq!(server.pass_time(began + Duration::from_secs(601)), None);
    assert!(!server.is_ready() && *watched.borrow() == 1);
    assert_eq!(server.next_deadline(), None);
}

#[tokio::test]
async fn the_page_shows_state_memory_and_what_is_installed() {
    let project = Project::new(check_all);
    let page = project.page().await;
    assert!(page[0].starts_with("rust-analyzer: installed"), "{page:?}");
    project.change("a.rs", "bad").await;
    let page = project.page().await;
    assert!(page[0].contains("runs, open files: 1"), "{page:?}");
    assert!(page[2].contains("memory: 7 MiB"), "{page:?}");
}
