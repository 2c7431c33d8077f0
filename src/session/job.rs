//! A step in the background, as its turn hands it over and as the session keeps it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::running_step::RunningStep;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{JobInfo, Observation, Step, StepAction};
use avocet_safety::JobTask;
use avocet_tools::KeepOrder;
use avocet_tools::exec::KeptJob;

/// A step on its way into the background.
pub struct NewJob {
    pub step: Step,
    pub running: RunningStep,
    pub ports: watch::Receiver<Vec<u16>>,
    pub file: Option<PathBuf>,
    pub keep: UnboundedSender<KeepOrder>,
    /// A step of the model, and not one that the user typed.
    pub is_of_model: bool,
    /// The job's number; the step comes back where there are too many.
    pub reply: oneshot::Sender<Result<u64, RunningStep>>,
}

impl std::fmt::Debug for NewJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewJob").field("step", &self.step).finish_non_exhaustive()
    }
}

/// A message about jobs to the session.
#[derive(Debug)]
pub enum JobMessage {
    /// A running step goes on in the background.
    Started(Box<NewJob>),
    Updated {
        id: u64,
        update: JobUpdate,
    },
    /// Jobs of earlier sessions that were to stay.
    Found(Vec<KeptJob>),
    /// A running job was handed over, or not: why.
    Kept {
        id: u64,
        done: Result<KeptJob, String>,
    },
    /// The model asks.
    Requested {
        task: JobTask,
        reply: oneshot::Sender<Result<JobAnswer, LocalizedText>>,
    },
}

/// What the model reads of jobs.
#[derive(Clone, Debug, Default)]
pub struct JobAnswer {
    pub text: String,
    /// A job that it speaks of is still at work.
    pub is_running: bool,
    /// It says something that the model has not read.
    pub is_news: bool,
}

/// What happened to a job.
#[derive(Debug)]
pub enum JobUpdate {
    Ports(Vec<u16>),
    Ended(Box<Observation>),
    /// One of an earlier session ended.
    Gone,
}

#[derive(Debug)]
pub struct Job {
    /// The job as frontends list it.
    pub info: JobInfo,
    pub cancel: CancellationToken,
    pub task: JoinHandle<()>,
    pub file: Option<PathBuf>,
    /// How much of the output the model has read, in bytes.
    pub read: usize,
    pub is_stopping: bool,
    /// The way to hand it over; `None`: it was found.
    pub keep: Option<UnboundedSender<KeepOrder>>,
    /// It outlives the session.
    pub kept: Option<KeptJob>,
}

impl Job {
    /// One of which nothing has been read, and that ends with the session.
    pub fn new(
        info: JobInfo,
        cancel: CancellationToken,
        task: JoinHandle<()>,
        file: Option<PathBuf>,
    ) -> Job {
        Job { info, cancel, task, file, read: 0, is_stopping: false, keep: None, kept: None }
    }
}

/// What keeping jobs beyond a session needs.
#[derive(Clone, Debug)]
pub struct KeptJobs {
    /// The folder for their records and outputs.
    pub place: PathBuf,
    /// Avocet itself, which keeps them.
    pub program: PathBuf,
}

/// The jobs that the model started in this session, which it may stop by itself.
#[derive(Clone, Debug, Default)]
pub struct ModelJobs(Arc<Mutex<BTreeSet<u64>>>);

impl ModelJobs {
    pub fn contains(&self, id: u64) -> bool {
        self.ids().contains(&id)
    }

    pub fn record(&self, id: u64, is_of_model: bool) {
        if is_of_model {
            self.ids().insert(id);
        }
    }

    /// The user keeps it: from now on it is the user's.
    pub fn remove(&self, id: u64) {
        self.ids().remove(&id);
    }

    fn ids(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file for the output of a step.
pub fn output_path(folder: &Path, session: &str, step: &str) -> PathBuf {
    let own = avocet_core::private_dir::owner::this_process();
    let session = if session.is_empty() { own.as_str() } else { session };
    folder.join(session).join(format!("{step}.log"))
}

/// Whether a step can go on in the background: it is a program of its own.
pub fn can_run_on(action: &StepAction) -> bool {
    !matches!(action, StepAction::Tool { .. })
}
