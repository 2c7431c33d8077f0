//! The tools by which a model looks after the steps that it left running in the background.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::job::{JobAnswer, JobMessage};
use super::recall_tool::answer;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::Observation;
use avocet_safety::{ClearedStep, JobTask, ToolTask};
use avocet_tools::{RunControl, Tool, ToolSpec};

pub(super) struct JobTool {
    spec: &'static ToolSpec,
    session: UnboundedSender<TurnMessage>,
}

#[rustfmt::skip]
const ROWS: &[ToolSpec] = &[
    ToolSpec { name: "job.list", about: phrases::ABOUT_JOB_LIST, prompt: "job.list {}: the steps in the background" },
    ToolSpec { name: "job.read", about: phrases::ABOUT_JOB_READ, prompt: "job.read {id, page?, query?, wait_s?}: output of a job; waits up to wait_s (10) for something new" },
    ToolSpec { name: "job.stop", about: phrases::ABOUT_JOB_STOP, prompt: "job.stop {id}: ends a job" },
];

pub(super) fn all(session: &UnboundedSender<TurnMessage>) -> impl Iterator<Item = JobTool> {
    ROWS.iter().map(|spec| JobTool { spec, session: session.clone() })
}

impl Tool for JobTool {
    fn spec(&self) -> ToolSpec {
        *self.spec
    }

    fn run(&self, step: ClearedStep, control: RunControl) -> BoxFuture<'static, Observation> {
        let session = self.session.clone();
        async move {
            let judged = step.judgement();
            let done = match &judged.task {
                Some(ToolTask::Job(task)) => wait_for_news(&session, task, &control).await,
                Some(ToolTask::Fault(fault)) => Err(fault.say.clone()),
                _ => Err(LocalizedText::from(phrases::JOBS_NONE)),
            };
            let is_pending = done.as_ref().is_ok_and(|done| done.is_running);
            let seen = answer(judged, done.map(|done| done.text));
            Observation { is_pending, ..seen }
        }
        .boxed()
    }
}

/// How long a model waits that does not say how long, and the longest that it may say.
const WAIT: Duration = Duration::from_secs(10);
const MAX_WAIT: Duration = Duration::from_secs(600);

/// The pause before a job is looked at again.
const PAUSE: Duration = Duration::from_millis(200);

/// What there is to say of a job once something new is, or when the time is up: a model that looks
/// again and again pays for each look.
async fn wait_for_news(
    session: &UnboundedSender<TurnMessage>,
    task: &JobTask,
    control: &RunControl,
) -> Result<JobAnswer, LocalizedText> {
    let wait = match task {
        JobTask::Read { wait: Some(seconds), .. } => {
            Duration::from_secs(u64::try_from(*seconds).unwrap_or(u64::MAX)).min(MAX_WAIT)
        }
        _ => WAIT,
    };
    let end = Instant::now() + wait;
    loop {
        let (reply, answer) = oneshot::channel();
        let message = JobMessage::Requested { task: task.clone(), reply };
        // A closed session needs no answer.
        let _ = session.send(TurnMessage::Job(message));
        let answer = answer.await.unwrap_or_else(|_| Err(phrases::JOBS_NONE.into()))?;
        if answer.is_news || !answer.is_running || Instant::now() >= end {
            return Ok(answer);
        }
        tokio::select! {
            () = control.cancel.cancelled() => return Ok(answer),
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}
