//! The task that owns the servers of a session: passes files and questions to the one that is for
//! them, and says what they found.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::connection::{EventSender, LanguageConnection, ServerEvent};
use super::definition::{LanguageDefinition, LanguageDefinitions};
use super::diagnostic::{CodeDiagnostic, FaultSeverity};
use super::document::ReportState;
use super::launch::LanguageHost;
use super::page;
use super::question::CodeQuestion;
use super::server::{LanguageServer, ServerState};
use avocet_core::i18n::{LocalizedText, lsp as phrases, safety};
use avocet_core::protocol::PageRow;

/// How long the result of an edit waits for what is found in its files.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_SERVERS: usize = 8;
const MAX_SHOWN: usize = 20;
const EVENT_CAPACITY: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct ServerFlags {
    /// Nothing starts in a folder that is not trusted.
    pub is_trusted: AtomicBool,
    /// A server answers.
    pub has_started: AtomicBool,
}

pub(crate) enum TaskRequest {
    /// A step reads files, or is about to change them.
    Follow(Vec<PathBuf>, oneshot::Sender<()>),
    /// A step changed these; what is found in them, and in earlier ones, is its report.
    Check(Vec<PathBuf>, ReportReply),
    Ask(CodeQuestion),
    Describe(oneshot::Sender<Vec<PageRow>>),
    Stop(oneshot::Sender<()>),
}

type ReportReply = oneshot::Sender<Option<LocalizedText>>;

/// A result that waits for what is found.
struct WaitingCheck {
    deadline: Instant,
    reply: ReportReply,
}

pub(crate) struct LanguageTask {
    host: Arc<dyn LanguageHost>,
    flags: Arc<ServerFlags>,
    folders: Arc<[PathBuf]>,
    definitions: Option<LanguageDefinitions>,
    /// Which programs are there.
    installed: HashMap<String, bool>,
    servers: Vec<LanguageServer>,
    events: EventSender,
    inbox: mpsc::Receiver<(u64, ServerEvent)>,
    starts: u64,
    checks: Vec<WaitingCheck>,
    /// What went wrong since the last report.
    faults: Vec<LocalizedText>,
}

impl LanguageTask {
    pub fn new(host: Arc<dyn LanguageHost>, flags: Arc<ServerFlags>) -> LanguageTask {
        let (events, inbox) = mpsc::channel(EVENT_CAPACITY);
        LanguageTask {
            folders: host.folders().into(),
            host,
            flags,
            definitions: None,
            installed: HashMap::new(),
            servers: Vec::new(),
            events,
            inbox,
            starts: 0,
            checks: Vec::new(),
            faults: Vec::new(),
        }
    }

    pub async fn run(mut self, mut requests: mpsc::UnboundedReceiver<TaskRequest>) {
        loop {
            let deadline = self.next_deadline();
            tokio::select! {
                request = requests.recv() => match request {
                    Some(TaskRequest::Stop(reply)) => {
                        drop(self);
                        // A session that is gone does not wait.
                        let _ = reply.send(());
                        return;
                    }
                    Some(request) => self.handle_request(request).await,
                    None => return,
                },
                Some((run, event)) = self.inbox.recv() => self.handle_event(run, event),
                () = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    self.pass_time();
                }
            }
            self.finish_checks();
        }
    }

    /// The next moment at which something is to be done without a message.
    fn next_deadline(&self) -> Option<Instant> {
        let checks = self.checks.iter().map(|check| check.deadline);
        let servers = self.servers.iter().filter_map(LanguageServer::next_deadline);
        let settles = self.due().filter_map(|(server, path)| server.settles_at(path));
        checks.chain(servers).chain(settles.filter(|_| !self.checks.is_empty())).min()
    }

    /// The files whose results wait.
    fn due(&self) -> impl Iterator<Item = (&LanguageServer, &PathBuf)> {
        self.servers.iter().flat_map(|server| {
            let due = server.documents.iter().filter(|(_, it)| it.state == ReportState::Due);
            due.map(move |(path, _)| (server, path))
        })
    }

    fn pass_time(&mut self) {
        let now = Instant::now();
        let faults = self.servers.iter_mut().filter_map(|server| server.pass_time(now));
        self.faults.extend(faults);
    }

    async fn handle_request(&mut self, request: TaskRequest) {
        match request {
            TaskRequest::Follow(paths, reply) => {
                self.follow(&paths, false).await;
                // The step may have been stopped.
                let _ = reply.send(());
            }
            TaskRequest::Check(changed, reply) => {
                self.follow(&changed, true).await;
                let deadline = Instant::now() + CHECK_TIMEOUT;
                self.checks.push(WaitingCheck { deadline, reply });
            }
            TaskRequest::Ask(question) => self.ask(question).await,
            TaskRequest::Describe(reply) => {
                self.read_definitions().await;
                let definitions = self.definitions.clone().unwrap_or_default();
                let is_trusted = self.flags.is_trusted.load(Ordering::Relaxed);
                let rows = page::rows(&self.servers, &definitions, is_trusted);
                let host = Arc::clone(&self.host);
                tokio::task::spawn_blocking(move || {
                    // The page may not be wanted any more.
                    let _ = reply.send(rows.finish(|program| host.is_installed(program)));
                });
            }
            TaskRequest::Stop(_) => {}
        }
    }

    /// Reads the settings once.
    async fn read_definitions(&mut self) {
        if self.definitions.is_none() {
            let host = Arc::clone(&self.host);
            let read = tokio::task::spawn_blocking(move || host.definitions());
            self.definitions = Some(read.await.unwrap_or_default());
        }
    }

    async fn follow(&mut self, paths: &[PathBuf], is_edit: bool) {
        for path in paths {
            let Some(at) = self.server_for(path).await else { continue };
            let Some(server) = self.servers.get_mut(at) else { continue };
            let is_sent = match server.refresh().await {
                Ok(()) => server.follow(path, is_edit).await,
                Err(why) => Err(why),
            };
            if let Err(why) = is_sent {
                self.faults.push(server.fail(why));
            }
        }
    }

    async fn ask(&mut self, question: CodeQuestion) {
        let at = match &question.task.path {
            Some(path) => self.server_for(path).await,
            None => self.servers.iter().position(LanguageServer::is_ready),
        };
        let Some(server) = at.and_then(|at| self.servers.get_mut(at)) else {
            return question.fail(phrases::NO_SERVER);
        };
        let followed = match &question.task.path {
            Some(path) => server.follow(path, false).await,
            None => Ok(()),
        };
        let refreshed = server.refresh().await;
        let asked = match followed.and(refreshed) {
            Ok(()) => server.ask(question),
            Err(why) => Err(why),
        };
        if let Err(why) = asked {
            self.faults.push(server.fail(why));
        }
    }

    /// The place of the server for a file, which is started if it does not run; `None`: there is none.
    async fn server_for(&mut self, path: &Path) -> Option<usize> {
        let folder = self.folders.iter().find(|folder| path.starts_with(folder))?.clone();
        self.read_definitions().await;
        let definitions = &self.definitions.as_ref()?.servers;
        let is_for = |definition: &&LanguageDefinition| {
            definition.is_enabled && definition.language_of(path).is_some()
        };
        let candidates: Vec<_> = definitions.iter().filter(is_for).cloned().collect();
        for definition in candidates {
            let program = definition.command.first()?.clone();
            if !self.is_installed(&program).await {
                continue;
            }
            let root = definition.root_of(path, &folder);
            let is_it = |server: &LanguageServer| {
                server.definition.name == definition.name && server.root == root
            };
            let at = match self.servers.iter().position(is_it) {
                Some(at) => at,
                None if self.servers.len() >= MAX_SERVERS => return None,
                None => {
                    let folders = Arc::clone(&self.folders);
                    self.servers.push(LanguageServer::new(definition, root, folders));
                    self.servers.len() - 1
                }
            };
            return self.start(at).then_some(at);
        }
        None
    }

    async fn is_installed(&mut self, program: &str) -> bool {
        if let Some(known) = self.installed.get(program) {
            return *known;
        }
        let host = Arc::clone(&self.host);
        let name = program.to_owned();
        let found = tokio::task::spawn_blocking(move || host.is_installed(&name));
        let found = found.await.unwrap_or_default();
        self.installed.insert(program.to_owned(), found);
        found
    }

    /// Starts a server that does not run. False: it failed too often.
    fn start(&mut self, at: usize) -> bool {
        let Some(server) = self.servers.get_mut(at) else { return false };
        match server.state {
            ServerState::Failed => return false,
            ServerState::Ended => {}
            ServerState::Launching(_) | ServerState::Opening(..) | ServerState::Ready(_) => {
                return true;
            }
        }
        self.starts += 1;
        server.run = self.starts;
        server.state = ServerState::Launching(Instant::now());
        let launch = self.host.start(server.definition.clone(), server.root.clone());
        let events = self.events.clone();
        let run = server.run;
        tokio::spawn(async move {
            // Pipes that are dropped end the process.
            let _ = events.send((run, ServerEvent::Launched(launch.await))).await;
        });
        true
    }

    fn handle_event(&mut self, run: u64, event: ServerEvent) {
        // What comes of an earlier start says nothing.
        let is_it = |server: &&mut LanguageServer| server.run == run;
        let Some(server) = self.servers.iter_mut().find(is_it) else { return };
        let is_over = matches!(server.state, ServerState::Ended | ServerState::Failed);
        if is_over {
            return;
        }
        let done = match event {
            ServerEvent::Launched(Ok(pipes)) => server
                .greet(LanguageConnection::open(pipes, run, self.events.clone()))
                .map(|()| false),
            ServerEvent::Launched(Err(why)) | ServerEvent::Closed(why) => Err(why),
            ServerEvent::Message(message) => server.handle(&message),
        };
        match done {
            Ok(true) => self.flags.has_started.store(true, Ordering::Relaxed),
            Ok(false) => {}
            Err(why) => self.faults.push(server.fail(why)),
        }
    }

    /// Answers the results whose files were checked, or that waited long enough.
    fn finish_checks(&mut self) {
        let now = Instant::now();
        let is_settled = |(server, path): (&LanguageServer, &PathBuf)| {
            server.settles_at(path).is_some_and(|at| at <= now) || !server.is_in_time
        };
        if self.due().all(is_settled) || self.checks.iter().any(|check| check.deadline <= now) {
            for check in std::mem::take(&mut self.checks) {
                // The step may have been stopped.
                let _ = check.reply.send(self.report(now));
            }
        }
    }

    /// What is reported now. What is not known yet is reported later.
    fn report(&mut self, now: Instant) -> Option<LocalizedText> {
        let mut report = CheckReport::default();
        for server in &mut self.servers {
            let settled: Vec<PathBuf> = server
                .documents
                .iter()
                .filter(|(path, _)| server.settles_at(path).is_some_and(|at| at <= now))
                .map(|(path, _)| path.clone())
                .collect();
            let folders = Arc::clone(&server.folders);
            for (path, document) in &mut server.documents {
                let shown = folders.first().and_then(|folder| path.strip_prefix(folder).ok());
                let shown = shown.unwrap_or(path).display().to_string();
                match document.state {
                    ReportState::Unchanged => {}
                    state if settled.contains(path) => {
                        let (new, old) = document.take_unreported();
                        report.add(&shown, &new, old, state);
                    }
                    ReportState::Due => {
                        document.state = ReportState::Late;
                        server.is_in_time = false;
                        report.late.push(shown);
                    }
                    ReportState::Late | ReportState::Reported => {}
                }
            }
            if !settled.is_empty() {
                server.is_in_time = true;
            }
        }
        report.into_text(std::mem::take(&mut self.faults))
    }
}

/// What is reported of changed files.
#[derive(Default)]
struct CheckReport {
    lines: Vec<(FaultSeverity, String)>,
    old: usize,
    /// Some of them may have been there before.
    is_unsure: bool,
    late: Vec<String>,
    /// Files of earlier results in which nothing new was found.
    clean: Vec<String>,
}

impl CheckReport {
    fn add(
        &mut self,
        shown: &str,
        diagnostics: &[CodeDiagnostic],
        old: Option<usize>,
        state: ReportState,
    ) {
        if diagnostics.is_empty() {
            self.clean.extend((state == ReportState::Late).then(|| shown.to_owned()));
        } else {
            self.old += old.unwrap_or_default();
            self.is_unsure |= old.is_none();
        }
        self.lines.extend(diagnostics.iter().map(|found| (found.severity, found.describe(shown))));
    }

    /// `None`: there is nothing to report.
    fn into_text(mut self, texts: Vec<LocalizedText>) -> Option<LocalizedText> {
        self.lines.sort_by_key(|(severity, _)| *severity);
        let total = self.lines.len();
        let lines: Vec<String> =
            self.lines.into_iter().take(MAX_SHOWN).map(|(_, line)| line).collect();
        let new = (total > 0).then(|| phrases::FOUND.with("lines", lines.join("\n")));
        let more = (total > MAX_SHOWN).then(|| phrases::MORE.with("n", total - MAX_SHOWN));
        let old = (self.old > 0).then(|| phrases::OLD.with("n", self.old));
        let unsure = self.is_unsure.then(|| LocalizedText::from(phrases::UNSURE));
        let names = |names: Vec<String>| (!names.is_empty()).then(|| names.join(", "));
        let clean = names(self.clean).map(|names| phrases::CLEAN.with("files", names));
        let late = names(self.late).map(|names| phrases::LATE.with("files", names));
        let parts = texts
            .into_iter()
            .chain(clean)
            .chain(late)
            .chain(new)
            .chain(more)
            .chain(old)
            .chain(unsure);
        parts.reduce(|first, next| safety::NOTES.with("first", first).with("next", next))
    }
}
