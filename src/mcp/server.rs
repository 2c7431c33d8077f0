//! The task of one server: starts it, asks what it offers, passes requests to it, and starts it
//! again after it failed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::client::ClientState;
use super::definition::ServerTransport;
use super::launch::ServerLaunch;
use super::message::{McpCallId, McpError, McpEvent, McpRequest};
use super::open::{Opened, open};
use super::running::{End, Running, send};

/// Requests that wait for the task.
const MAX_REQUESTS: usize = 64;
/// The wait before the first restart, doubled for each after it.
const RESTART_DELAY: Duration = Duration::from_secs(1);
const MAX_RESTARTS: u32 = 5;
/// A server that ran for so long is started again as after its first failure.
const STEADY: Duration = Duration::from_secs(60);

/// A server that runs, or is to run. It ends when this is dropped.
#[derive(Debug)]
pub struct McpServer {
    requests: mpsc::Sender<McpRequest>,
    task: JoinHandle<()>,
}

/// Starts a server on a task of its own. Its events are sent with its name.
pub fn start_server(launch: ServerLaunch, sender: mpsc::Sender<(String, McpEvent)>) -> McpServer {
    let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
    let (folders, _) = watch::channel(launch.folders.clone());
    let task = ServerTask {
        launch: Arc::new(launch),
        allowed: None,
        folders,
        requests: inbox,
        events: sender,
    };
    McpServer { requests, task: tokio::spawn(task.run()) }
}

impl McpServer {
    /// Passes a request on. False if too many wait: the caller answers for the server.
    #[must_use]
    pub fn send(&self, request: McpRequest) -> bool {
        self.requests.try_send(request).is_ok()
    }

    /// What passes requests on from another task.
    pub fn sender(&self) -> mpsc::Sender<McpRequest> {
        self.requests.clone()
    }

    /// Ends the server and waits until its process ended.
    pub async fn stop(self) {
        drop(self.requests);
        // A task that failed has ended its process too.
        let _ = self.task.await;
    }
}

struct ServerTask {
    launch: Arc<ServerLaunch>,
    /// What the user was asked about: its definition, with the files that it names.
    allowed: Option<String>,
    folders: watch::Sender<Vec<PathBuf>>,
    requests: mpsc::Receiver<McpRequest>,
    events: mpsc::Sender<(String, McpEvent)>,
}

impl ServerTask {
    async fn run(mut self) {
        let mut failures = 0;
        loop {
            let samples = self.launch.definition.samples;
            let client_state = ClientState { folders: self.folders.subscribe(), samples };
            let opening = open(self.launch.clone(), client_state, self.events.clone());
            let opened = match self.check_unchanged().await {
                Ok(()) => self.meanwhile(opening.boxed()).await,
                Err(error) => Ok(Err(error)),
            };
            let since = Instant::now();
            let (has_run, end) = match opened {
                Ok(Ok(opened)) => (true, self.run_opened(opened).await),
                Ok(Err(error)) => (false, End::Failed(error)),
                Err(end) => (false, end),
            };
            if since.elapsed() > STEADY {
                failures = 0;
            }
            let waited = match end {
                End::Dropped => return,
                End::Restart => Ok(()),
                End::Failed(error) => {
                    let may_retry = has_run || failures > 0 || self.is_remote();
                    let retry = may_retry && failures < MAX_RESTARTS && error.may_pass();
                    failures += 1;
                    self.wait_after(error, retry.then(|| RESTART_DELAY * 2u32.pow(failures - 1)))
                        .await
                }
            };
            match waited {
                Ok(()) => {}
                Err(End::Restart | End::Failed(_)) => failures = 0,
                Err(End::Dropped) => return,
            }
        }
    }

    /// A server of the project that ended may have been changed by what the model did meanwhile.
    async fn check_unchanged(&mut self) -> Result<(), McpError> {
        let launch = Arc::clone(&self.launch);
        let name = launch.definition.name.clone();
        if !launch.definition.origin.is_from_repository {
            return Ok(());
        }
        let hash = tokio::task::spawn_blocking(move || {
            launch.definition.answer_hash(launch.folders.first().map_or(Path::new(""), |it| it))
        });
        let hash = hash.await.ok();
        if self.allowed.is_none() {
            self.allowed.clone_from(&hash);
        }
        if hash.is_some() && hash == self.allowed {
            Ok(())
        } else {
            Err(McpError::Changed { name })
        }
    }

    fn is_remote(&self) -> bool {
        !matches!(self.launch.definition.transport, ServerTransport::Stdio(_))
    }

    async fn run_opened(&mut self, opened: Opened) -> End {
        let definition = &self.launch.definition;
        Running::new(definition, &self.folders, &self.events, opened).run(&mut self.requests).await
    }

    /// Tells of a failure and waits for the time, or the request, to start again.
    async fn wait_after(
        &mut self,
        error: McpError,
        retry_after: Option<Duration>,
    ) -> Result<(), End> {
        let failed = McpEvent::Failed { error, retry_after };
        send(&self.events, &self.launch.definition, failed).await;
        match retry_after {
            Some(delay) => self.meanwhile(tokio::time::sleep(delay).boxed()).await,
            None => self.meanwhile(std::future::pending().boxed()).await,
        }
    }

    /// Waits while the server does not run. A request to it is answered so.
    async fn meanwhile<T>(&mut self, mut work: BoxFuture<'_, T>) -> Result<T, End> {
        loop {
            let request = tokio::select! {
                done = &mut work => return Ok(done),
                request = self.requests.recv() => request,
            };
            let id = match request {
                None => return Err(End::Dropped),
                Some(McpRequest::Restart) => return Err(End::Restart),
                Some(request) => match self.note(request) {
                    Some(id) => id,
                    None => continue,
                },
            };
            let answered = McpEvent::Answered { id, result: Err(McpError::NotRunning) };
            send(&self.events, &self.launch.definition, answered).await;
        }
    }

    /// The id of a request that wants an answer.
    fn note(&mut self, request: McpRequest) -> Option<McpCallId> {
        match request {
            McpRequest::Call { id, .. }
            | McpRequest::Prompt { id, .. }
            | McpRequest::Read { id, .. }
            | McpRequest::Complete { id, .. } => Some(id),
            McpRequest::SetFolders(folders) => {
                self.folders.send_replace(folders);
                None
            }
            McpRequest::Cancel(_)
            | McpRequest::Answer { .. }
            | McpRequest::AnswerSampling { .. }
            | McpRequest::Restart => None,
        }
    }
}
