//! What a session holds of its language servers. Nothing runs before the first file of a language
//! that a server is installed for.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::launch::LanguageHost;
use super::question::{CodeAnswer, CodeQuestion};
use super::task::{LanguageTask, ServerFlags, TaskRequest};
use avocet_core::i18n::{LocalizedText, lsp as phrases};
use avocet_core::protocol::{Page, PageRow};
use avocet_safety::tools::CodeTask;
use avocet_tools::code_checker::CodeChecker;

/// How long a question waits for its answer, the start of a server included.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(15);

/// The language servers of a session. Clones share them; they end when the last one is dropped.
#[derive(Clone)]
pub struct LanguageServers {
    host: Arc<dyn LanguageHost>,
    flags: Arc<ServerFlags>,
    requests: Arc<OnceLock<mpsc::UnboundedSender<TaskRequest>>>,
}

impl fmt::Debug for LanguageServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageServers").field("flags", &self.flags).finish_non_exhaustive()
    }
}

impl LanguageServers {
    pub fn new(host: Arc<dyn LanguageHost>, is_trusted: bool) -> LanguageServers {
        let flags = ServerFlags { is_trusted: is_trusted.into(), ..ServerFlags::default() };
        LanguageServers { host, flags: Arc::new(flags), requests: Arc::default() }
    }

    /// The user decided whether to trust the folder.
    pub fn set_trusted(&self, is_trusted: bool) {
        self.flags.is_trusted.store(is_trusted, Ordering::Relaxed);
    }

    pub(crate) fn has_started(&self) -> bool {
        self.flags.has_started.load(Ordering::Relaxed)
    }

    /// To the task of the servers, which starts with the first request.
    fn send(&self, request: TaskRequest) {
        let start = || {
            let (requests, inbox) = mpsc::unbounded_channel();
            let task = LanguageTask::new(Arc::clone(&self.host), Arc::clone(&self.flags));
            tokio::spawn(task.run(inbox));
            requests
        };
        // A task that has ended drops what it is sent, so no caller waits for it.
        let _ = self.requests.get_or_init(start).send(request);
    }

    /// What a server answers.
    ///
    /// # Errors
    /// Why it was not answered.
    pub(crate) async fn ask(&self, task: CodeTask) -> Result<CodeAnswer, LocalizedText> {
        let (reply, answer) = oneshot::channel();
        let deadline = Instant::now() + QUESTION_TIMEOUT;
        self.send(TaskRequest::Ask(CodeQuestion { task, reply, deadline }));
        answer.await.unwrap_or_else(|_| Err(phrases::NO_SERVER.into()))
    }

    /// `/lsp`.
    pub async fn page(&self) -> Page {
        let (reply, rows) = oneshot::channel();
        self.send(TaskRequest::Describe(reply));
        let none = |_| vec![PageRow::line(phrases::NONE)];
        Page { title: phrases::TITLE.into(), rows: rows.await.unwrap_or_else(none) }
    }

    /// Ends them all, children included.
    pub async fn stop(&self) {
        if self.requests.get().is_some() {
            let (reply, done) = oneshot::channel();
            self.send(TaskRequest::Stop(reply));
            // A task that has ended has ended its servers too.
            let _ = done.await;
        }
    }
}

impl CodeChecker for LanguageServers {
    fn follow(&self, paths: Vec<PathBuf>) -> BoxFuture<'static, ()> {
        if paths.is_empty() || !self.flags.is_trusted.load(Ordering::Relaxed) {
            return std::future::ready(()).boxed();
        }
        let (reply, done) = oneshot::channel();
        self.send(TaskRequest::Follow(paths, reply));
        // A task that has ended follows nothing.
        done.map(|_| ()).boxed()
    }

    fn check(&self, changed: Vec<PathBuf>) -> BoxFuture<'static, Option<LocalizedText>> {
        if !self.flags.is_trusted.load(Ordering::Relaxed) || self.requests.get().is_none() {
            return std::future::ready(None).boxed();
        }
        let (reply, report) = oneshot::channel();
        self.send(TaskRequest::Check(changed, reply));
        async move { report.await.ok().flatten() }.boxed()
    }
}
