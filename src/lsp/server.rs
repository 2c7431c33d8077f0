//! One server for one root: its state, the files that it has open, and what it was asked.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::answer_context::AnswerContext;
use super::connection::LanguageConnection;
use super::definition::LanguageDefinition;
use super::diagnostic::{CodeDiagnostic, clean_line};
use super::document::{FileOnDisk, OpenDocument, QUIET, ReportState, path_of};
use super::position::ColumnUnit;
use super::question::{CodeQuestion, request_of};
use avocet_core::i18n::{LocalizedText, lsp as phrases};

/// Files that are open at once: of more, the ones that changed first are closed.
const MAX_OPEN: usize = 64;
const MAX_QUESTIONS: usize = 16;
const MAX_TASKS: usize = 64;
/// How often a server that failed is started again.
const MAX_FAILURES: u32 = 3;
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// A server ends that was not needed for so long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

pub(crate) enum ServerState {
    /// Since then.
    Launching(Instant),
    Opening(Instant, LanguageConnection),
    Ready(LanguageConnection),
    /// It was idle, or failed, and starts again when it is needed.
    Ended,
    /// It failed too often.
    Failed,
}

/// What a request was sent for.
enum Pending {
    Initialize,
    Pull(PathBuf, u64),
    Ask(CodeQuestion),
}

/// The work that a server reports, and when that last changed.
struct Workload {
    tasks: BTreeSet<String>,
    changed: Instant,
}

/// What a server can do.
#[derive(Clone, Copy, Default)]
struct ServerAbilities {
    /// It answers what it finds in a file.
    has_pull: bool,
    unit: ColumnUnit,
}

pub(crate) struct LanguageServer {
    pub definition: LanguageDefinition,
    pub root: PathBuf,
    pub folders: Arc<[PathBuf]>,
    /// The number of its start.
    pub run: u64,
    pub state: ServerState,
    pub documents: BTreeMap<PathBuf, OpenDocument>,
    pending: HashMap<u64, Pending>,
    /// Questions before it is ready.
    questions: Vec<CodeQuestion>,
    workload: Workload,
    abilities: ServerAbilities,
    /// It does not keep those waiting who want to know what it finds.
    pub is_in_time: bool,
    pub used: Instant,
    failures: u32,
    pub last_error: Option<LocalizedText>,
}

impl LanguageServer {
    pub fn new(definition: LanguageDefinition, root: PathBuf, folders: Arc<[PathBuf]>) -> Self {
        let now = Instant::now();
        LanguageServer {
            definition,
            root,
            folders,
            run: 0,
            state: ServerState::Ended,
            documents: BTreeMap::new(),
            pending: HashMap::new(),
            questions: Vec::new(),
            workload: Workload { tasks: BTreeSet::new(), changed: now },
            abilities: ServerAbilities::default(),
            is_in_time: true,
            used: now,
            failures: 0,
            last_error: None,
        }
    }

    pub fn is_ready(&self) -> bool {
        matches!(self.state, ServerState::Ready(_))
    }

    fn connection(&mut self) -> Option<&mut LanguageConnection> {
        match &mut self.state {
            ServerState::Ready(connection) => Some(connection),
            _ => None,
        }
    }

    /// When it is to be looked at without a message.
    pub fn next_deadline(&self) -> Option<Instant> {
        let end = match &self.state {
            ServerState::Launching(since) | ServerState::Opening(since, _) => {
                Some(*since + START_TIMEOUT)
            }
            ServerState::Ready(_) => Some(self.used + IDLE_TIMEOUT),
            ServerState::Ended | ServerState::Failed => None,
        };
        self.asked().map(|question| question.deadline).chain(end).min()
    }

    fn asked(&self) -> impl Iterator<Item = &CodeQuestion> {
        let pending = self.pending.values().filter_map(|pending| match pending {
            Pending::Ask(question) => Some(question),
            _ => None,
        });
        pending.chain(&self.questions)
    }

    /// Ends what took too long, and an idle server.
    pub fn pass_time(&mut self, now: Instant) -> Option<LocalizedText> {
        let is_late = |question: &CodeQuestion| question.deadline <= now;
        let late: Vec<u64> = self
            .pending
            .iter()
            .filter(|(_, pending)| matches!(pending, Pending::Ask(question) if is_late(question)))
            .map(|(id, _)| *id)
            .collect();
        let name = self.definition.name.clone();
        let say = if self.is_busy() { phrases::LOADING } else { phrases::NO_ANSWER };
        for id in late {
            if let Some(Pending::Ask(question)) = self.pending.remove(&id) {
                question.fail(say.with("name", name.as_str()));
            }
        }
        self.questions.extract_if(.., |question| is_late(question)).for_each(|question| {
            question.fail(phrases::LOADING.with("name", name.as_str()));
        });
        match &self.state {
            ServerState::Launching(since) | ServerState::Opening(since, _)
                if *since + START_TIMEOUT <= now =>
            {
                Some(self.fail(phrases::START_TIMEOUT.with("seconds", START_TIMEOUT.as_secs())))
            }
            ServerState::Ready(_) if self.used + IDLE_TIMEOUT <= now => {
                self.reset(ServerState::Ended);
                None
            }
            _ => None,
        }
    }

    /// The process is gone, or is ended; a sentence about it.
    pub fn fail(&mut self, why: LocalizedText) -> LocalizedText {
        self.failures += 1;
        let line = match &self.state {
            ServerState::Opening(_, connection) | ServerState::Ready(connection) => {
                connection.last_error()
            }
            _ => String::new(),
        };
        let why = if line.is_empty() {
            why
        } else {
            phrases::WHY_LINE.with("why", why).with("line", line)
        };
        self.last_error = Some(why.clone());
        let is_over = self.failures >= MAX_FAILURES;
        self.reset(if is_over { ServerState::Failed } else { ServerState::Ended });
        phrases::FAILED.with("name", self.definition.name.as_str()).with("why", why)
    }

    /// Forgets the open documents and the tasks of a process that ended, and fails the requests that it
    /// left unanswered.
    pub fn reset(&mut self, state: ServerState) {
        self.state = state;
        self.documents.clear();
        let asked = self.pending.drain().filter_map(|(_, pending)| match pending {
            Pending::Ask(question) => Some(question),
            _ => None,
        });
        let name = self.definition.name.as_str();
        asked.chain(self.questions.drain(..)).for_each(|question| {
            question.fail(phrases::NOT_RUNNING.with("name", name));
        });
        self.workload.tasks.clear();
        self.is_in_time = true;
    }

    /// Whether it says that it is at work, or has not begun.
    pub fn is_busy(&self) -> bool {
        !self.is_ready() || !self.workload.tasks.is_empty()
    }

    /// When what was found in a file counts; `None`: not before something else happens.
    pub fn settles_at(&self, path: &Path) -> Option<Instant> {
        let document = self.documents.get(path)?;
        let is_pull = |pending: &Pending| matches!(pending, Pending::Pull(of, _) if of == path);
        let is_done = document.is_answered && !self.is_busy();
        let is_done = is_done && !self.pending.values().any(is_pull);
        is_done.then(|| document.heard_at.max(self.workload.changed) + QUIET)
    }

    /// Speaks to a process that has started.
    pub fn greet(&mut self, mut connection: LanguageConnection) -> Result<(), LocalizedText> {
        let root = Url::from_directory_path(&self.root).map(String::from).unwrap_or_default();
        let name = self.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let params = json!({
            "processId": null,
            "clientInfo": { "name": "avocet" },
            "rootUri": root,
            "rootPath": self.root,
            "workspaceFolders": [{ "uri": root, "name": name }],
            "initializationOptions": self.definition.options,
            "capabilities": capabilities(),
        });
        let id = connection.request("initialize", params).ok_or_else(not_reading)?;
        self.pending.insert(id, Pending::Initialize);
        self.state = ServerState::Opening(Instant::now(), connection);
        Ok(())
    }

    /// Takes a message. True: it is ready from now on.
    ///
    /// # Errors
    /// It cannot go on.
    pub fn handle(&mut self, message: &Value) -> Result<bool, LocalizedText> {
        let id = message.get("id");
        let method = message.get("method").and_then(Value::as_str);
        let params = message.get("params").unwrap_or(&Value::Null);
        match (id, method) {
            (Some(id), Some(method)) => self.answer(id, method, params)?,
            (None, Some("textDocument/publishDiagnostics")) => self.set_pushed(params),
            (None, Some("$/progress")) => self.set_progress(params)?,
            (Some(id), None) => {
                let pending = id.as_u64().and_then(|id| self.pending.remove(&id));
                return pending.map_or(Ok(false), |pending| self.finish(pending, message));
            }
            _ => {}
        }
        Ok(false)
    }

    /// Answers a request of the server.
    fn answer(&mut self, id: &Value, method: &str, params: &Value) -> Result<(), LocalizedText> {
        let result = match method {
            "workspace/configuration" => {
                let count = params.get("items").and_then(Value::as_array).map_or(0, Vec::len);
                Some(json!(vec![Value::Null; count.min(MAX_TASKS)]))
            }
            "workspace/applyEdit" => Some(json!({ "applied": false })),
            "window/workDoneProgress/create"
            | "workspace/diagnostic/refresh"
            | "client/registerCapability"
            | "client/unregisterCapability"
            | "window/showMessageRequest" => Some(Value::Null),
            _ => None,
        };
        let is_sent = match &self.state {
            ServerState::Ready(connection) | ServerState::Opening(_, connection) => {
                connection.answer(id, result)
            }
            _ => true,
        };
        if !is_sent {
            return Err(not_reading());
        }
        if method == "workspace/diagnostic/refresh" { self.pull_all() } else { Ok(()) }
    }

    fn set_pushed(&mut self, params: &Value) {
        let path = params.get("uri").and_then(Value::as_str).and_then(path_of);
        if let Some(document) = path.and_then(|path| self.documents.get_mut(&path)) {
            let found = CodeDiagnostic::read_all(params.get("diagnostics"));
            document.set_pushed(params.get("version").and_then(Value::as_u64), found);
        }
    }

    /// What it is at. Once it is at nothing any more, it may find what it could not before.
    fn set_progress(&mut self, params: &Value) -> Result<(), LocalizedText> {
        let token = params.get("token").unwrap_or(&Value::Null).to_string();
        match params.pointer("/value/kind").and_then(Value::as_str) {
            Some("begin") if self.workload.tasks.len() < MAX_TASKS => {
                self.workload.tasks.insert(token);
            }
            Some("end") => {
                self.workload.tasks.remove(&token);
            }
            _ => return Ok(()),
        }
        self.workload.changed = Instant::now();
        if self.workload.tasks.is_empty() {
            self.is_in_time = true;
            self.pull_all()?;
        }
        Ok(())
    }

    fn finish(&mut self, pending: Pending, message: &Value) -> Result<bool, LocalizedText> {
        let result = message.get("result").unwrap_or(&Value::Null);
        let error = message.pointer("/error/message").and_then(Value::as_str);
        let error = error.map(|text| clean_line(text, 300));
        match pending {
            Pending::Initialize => {
                if let Some(error) = error {
                    return Err(phrases::REFUSED.with("why", error));
                }
                self.become_ready(result)?;
                return Ok(true);
            }
            Pending::Pull(path, version) => {
                if let (None, Some(document)) = (error, self.documents.get_mut(&path)) {
                    let items = result.get("items");
                    let found = items.map(|_| CodeDiagnostic::read_all(items));
                    document.set_pulled(version, found);
                }
            }
            Pending::Ask(question) => match error {
                Some(_) if self.is_busy() => {
                    question.fail(phrases::LOADING.with("name", self.definition.name.as_str()));
                }
                Some(error) => question.fail(phrases::REFUSED.with("why", error)),
                None => self.read_answer(question, result.clone()),
            },
        }
        Ok(false)
    }

    /// Files are read for it, so it is done where waiting is allowed.
    fn read_answer(&self, question: CodeQuestion, result: Value) {
        let CodeQuestion { task, reply, .. } = question;
        let context =
            AnswerContext { task, folders: self.folders.to_vec(), unit: self.abilities.unit };
        let is_busy = self.is_busy();
        let name = self.definition.name.clone();
        tokio::task::spawn_blocking(move || {
            let say = |why| if is_busy { phrases::LOADING.with("name", name) } else { why };
            let answer = context.read(&result).map_err(say);
            // The step may have been stopped.
            let _ = reply.send(answer);
        });
    }

    fn become_ready(&mut self, result: &Value) -> Result<(), LocalizedText> {
        let ServerState::Opening(_, connection) =
            std::mem::replace(&mut self.state, ServerState::Ended)
        else {
            return Ok(());
        };
        self.abilities.has_pull = result.pointer("/capabilities/diagnosticProvider").is_some();
        let unit = result.pointer("/capabilities/positionEncoding").and_then(Value::as_str);
        self.abilities.unit =
            if unit == Some("utf-8") { ColumnUnit::Utf8 } else { ColumnUnit::Utf16 };
        let is_sent = connection.notify("initialized", json!({}));
        self.state = ServerState::Ready(connection);
        if !is_sent {
            return Err(not_reading());
        }
        let paths: Vec<PathBuf> = self.documents.keys().cloned().collect();
        paths.iter().try_for_each(|path| self.send_open(path))?;
        let questions = std::mem::take(&mut self.questions);
        questions.into_iter().try_for_each(|question| self.ask(question))
    }

    /// Puts a question, or keeps it until it is ready.
    pub fn ask(&mut self, question: CodeQuestion) -> Result<(), LocalizedText> {
        if self.pending.len() + self.questions.len() > MAX_QUESTIONS * 4 {
            question.fail(phrases::NO_ANSWER.with("name", self.definition.name.as_str()));
            return Ok(());
        }
        if !self.is_ready() {
            self.questions.push(question);
            return Ok(());
        }
        let path = question.task.path.as_ref();
        let document = path.and_then(|path| self.documents.get(path));
        let (method, params) = match request_of(&question.task, document, self.abilities.unit) {
            Ok(request) => request,
            Err(why) => {
                question.fail(why);
                return Ok(());
            }
        };
        let id = self.connection().and_then(|connection| connection.request(method, params));
        match id {
            Some(id) => drop(self.pending.insert(id, Pending::Ask(question))),
            None => {
                question.fail(not_reading());
                return Err(not_reading());
            }
        }
        Ok(())
    }

    /// Opens a file, or takes its text over. `is_edit`: a step changed it.
    pub async fn follow(&mut self, path: &Path, is_edit: bool) -> Result<(), LocalizedText> {
        self.used = Instant::now();
        let Some(language) = self.definition.language_of(path).map(str::to_owned) else {
            return Ok(());
        };
        let Some(file) = FileOnDisk::read(path).await else { return self.close(path) };
        let is_open = self.documents.contains_key(path);
        if !is_open {
            self.close_oldest()?;
            let document = OpenDocument::new(path, &language, file, is_edit);
            self.documents.extend(document.map(|document| (path.to_owned(), document)));
            self.send_open(path)?;
        } else if let Some(document) = self.documents.get_mut(path)
            && document.update(file)
        {
            self.send_change(path)?;
        }
        if let Some(document) = self.documents.get_mut(path).filter(|_| is_edit) {
            document.state = ReportState::Due;
            let identifier = json!({ "uri": document.uri });
            self.notify("textDocument/didSave", json!({ "textDocument": identifier }))?;
        }
        Ok(())
    }

    /// Takes over what other programs changed.
    pub async fn refresh(&mut self) -> Result<(), LocalizedText> {
        let mut outdated = Vec::new();
        for (path, document) in &self.documents {
            if document.is_outdated(path).await {
                outdated.push(path.clone());
            }
        }
        for path in outdated {
            self.follow(&path, false).await?;
        }
        Ok(())
    }

    fn close_oldest(&mut self) -> Result<(), LocalizedText> {
        let oldest = self.documents.iter().min_by_key(|(_, document)| document.changed_at);
        match oldest.map(|(path, _)| path.clone()).filter(|_| self.documents.len() >= MAX_OPEN) {
            Some(path) => self.close(&path),
            None => Ok(()),
        }
    }

    fn close(&mut self, path: &Path) -> Result<(), LocalizedText> {
        let Some(document) = self.documents.remove(path) else { return Ok(()) };
        let params = json!({ "textDocument": { "uri": document.uri } });
        self.notify("textDocument/didClose", params)
    }

    fn send_open(&mut self, path: &Path) -> Result<(), LocalizedText> {
        let Some(document) = self.documents.get(path) else { return Ok(()) };
        let OpenDocument { uri, language, version, text, .. } = document;
        let item = json!({ "uri": uri, "languageId": language, "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }))?;
        self.pull(path)
    }

    fn send_change(&mut self, path: &Path) -> Result<(), LocalizedText> {
        let Some(document) = self.documents.get(path) else { return Ok(()) };
        let OpenDocument { uri, version, text, .. } = document;
        let params = json!({
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "text": text }],
        });
        self.notify("textDocument/didChange", params)?;
        self.pull(path)
    }

    /// Before it is ready nothing is sent: all files are opened then.
    fn notify(&mut self, method: &str, params: Value) -> Result<(), LocalizedText> {
        let connection = self.connection();
        let is_sent = connection.is_none_or(|connection| connection.notify(method, params));
        if is_sent { Ok(()) } else { Err(not_reading()) }
    }

    /// Asks what it finds in a file, if it answers that.
    fn pull(&mut self, path: &Path) -> Result<(), LocalizedText> {
        let Some(document) = self.documents.get(path).filter(|_| self.abilities.has_pull) else {
            return Ok(());
        };
        let version = document.version;
        let params = json!({ "textDocument": { "uri": document.uri } });
        let Some(connection) = self.connection() else { return Ok(()) };
        let id = connection.request("textDocument/diagnostic", params).ok_or_else(not_reading)?;
        self.pending.insert(id, Pending::Pull(path.to_owned(), version));
        Ok(())
    }

    fn pull_all(&mut self) -> Result<(), LocalizedText> {
        if !self.abilities.has_pull || !self.is_ready() {
            return Ok(());
        }
        self.pending.retain(|_, pending| !matches!(pending, Pending::Pull(..)));
        for document in self.documents.values_mut() {
            document.is_answered = false;
        }
        let paths: Vec<PathBuf> = self.documents.keys().cloned().collect();
        paths.iter().try_for_each(|path| self.pull(path))
    }
}

fn not_reading() -> LocalizedText {
    phrases::NOT_READING.into()
}

fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "window": { "workDoneProgress": true },
        "workspace": {
            "configuration": true,
            "workspaceFolders": true,
            "workspaceEdit": { "documentChanges": true },
            "diagnostics": { "refreshSupport": true },
            "symbol": {},
        },
        "textDocument": {
            "synchronization": { "didSave": true },
            "publishDiagnostics": { "versionSupport": true },
            "diagnostic": {},
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "definition": { "linkSupport": true },
            "references": {},
            "hover": { "contentFormat": ["markdown", "plaintext"] },
            "rename": {},
        },
    })
}
