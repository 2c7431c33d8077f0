//! The tools by which a model looks after the steps that it left running in the background.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::job::JobMessage;
use super::recall_tool::answer;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{LocalizedText, Phrase, session as words};
use avocet_core::protocol::Observation;
use avocet_safety::{Cleared, ToolTask};
use avocet_tools::{RunControl, Tool};

pub(super) struct JobTool {
    spec: &'static JobToolRow,
    session: UnboundedSender<TurnMessage>,
}

#[derive(Debug)]
struct JobToolRow {
    name: &'static str,
    about: Phrase,
    prompt: &'static str,
}

#[rustfmt::skip]
const ROWS: &[JobToolRow] = &[
    JobToolRow { name: "job.list", about: words::ABOUT_JOB_LIST, prompt: "job.list {}: the steps in the background" },
    JobToolRow { name: "job.read", about: words::ABOUT_JOB_READ, prompt: "job.read {id, page?, query?}: the new output of a job, a page of it, or lines with a text" },
    JobToolRow { name: "job.stop", about: words::ABOUT_JOB_STOP, prompt: "job.stop {id}: ends a job" },
];

pub(super) fn all(session: &UnboundedSender<TurnMessage>) -> impl Iterator<Item = JobTool> {
    ROWS.iter().map(|spec| JobTool { spec, session: session.clone() })
}

impl Tool for JobTool {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn about(&self) -> Phrase {
        self.spec.about
    }

    fn prompt(&self) -> &'static str {
        self.spec.prompt
    }

    fn run(&self, step: Cleared, _: RunControl) -> BoxFuture<'static, Observation> {
        let session = self.session.clone();
        async move {
            let judged = step.assessment();
            let done = match &judged.task {
                Some(ToolTask::Job(task)) => {
                    let (reply, answer) = oneshot::channel();
                    let message = JobMessage::Requested { task: task.clone(), reply };
                    // A closed session needs no answer.
                    let _ = session.send(TurnMessage::Job(message));
                    answer.await.unwrap_or_else(|_| Err(words::JOBS_NONE.into()))
                }
                Some(ToolTask::Fault(fault)) => Err(fault.say.clone()),
                _ => Err(LocalizedText::from(words::JOBS_NONE)),
            };
            answer(judged, done)
        }
        .boxed()
    }
}
