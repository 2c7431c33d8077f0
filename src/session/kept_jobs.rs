//! Jobs that outlive the session: kept by the user's word, and found again in a later session of the
//! folder.

use tokio_util::sync::CancellationToken;

use super::job::{Job, JobMessage, JobUpdate, KeptJobs};
use super::job_board::JobBoard;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{JobInfo, JobState, Notice};
use avocet_safety::redact::Redactor;
use avocet_tools::KeepOrder;
use avocet_tools::exec::KeptJob;

impl JobBoard {
    /// Looks for jobs of earlier sessions, while everything else goes on.
    pub fn find_kept(&self) {
        let Some(KeptJobs { place, .. }) = self.keeper.clone() else { return };
        let folder = self.folder.clone();
        let messages = self.messages.clone();
        tokio::task::spawn_blocking(move || {
            let jobs = KeptJob::find(&place, &folder);
            if !jobs.is_empty() {
                // A closed session has no use for them.
                let _ = messages.send(TurnMessage::Job(JobMessage::Found(jobs)));
            }
        });
    }

    pub(super) fn add_found(&mut self, jobs: Vec<KeptJob>) -> Vec<Notice> {
        let mut notices = Vec::new();
        for kept in jobs {
            let id = self.next_id();
            let running = kept.is_running();
            let info = JobInfo {
                id,
                step: kept.step.clone(),
                line: avocet_core::text::cut(&avocet_core::text::one_line(&kept.line), 120),
                state: if running { JobState::Running } else { JobState::Gone },
                began: kept.began,
                ports: if running { kept.ports.clone() } else { Vec::new() },
                kept: true,
            };
            let found = if running { phrases::JOB_FOUND } else { phrases::JOB_FOUND_ENDED };
            notices.push(Notice::info(found.with("id", id).with("line", kept.line.clone())));
            let cancel = CancellationToken::new();
            let task = tokio::spawn(self.follow_found(id, kept.clone(), cancel.clone(), running));
            let file = Some(kept.output());
            let kept = Some(kept);
            self.jobs.push(Job { kept, ..Job::new(info, cancel, task, file) });
        }
        notices
    }

    /// Waits for the end of a job that another session started, and ends it when it is stopped.
    fn follow_found(
        &self,
        id: u64,
        job: KeptJob,
        cancel: CancellationToken,
        running: bool,
    ) -> impl Future<Output = ()> + use<> {
        let messages = self.messages.clone();
        async move {
            if !running {
                return;
            }
            tokio::select! {
                () = job.wait_ended() => {}
                () = cancel.cancelled() => job.stop().await,
            }
            let update = JobUpdate::Gone;
            let _ = messages.send(TurnMessage::Job(JobMessage::Updated { id, update }));
        }
    }

    /// Hands a running job over to a process of its own.
    pub fn keep(&mut self, id: u64, redactor: &Redactor) -> Result<(), LocalizedText> {
        self.of_model.remove(id);
        let Some(KeptJobs { place, program }) = self.keeper.clone() else {
            return Err(phrases::JOBS_NOT_KEPT.into());
        };
        let job = self.jobs.iter().find(|job| job.info.id == id);
        let job = job.ok_or_else(|| phrases::JOB_UNKNOWN.with("id", id))?;
        if !job.info.is_running() {
            return Err(phrases::JOB_OVER.with("id", id));
        }
        let Some(keep) = job.keep.as_ref().filter(|_| job.kept.is_none()) else {
            return Err(phrases::JOB_KEPT_ALREADY.with("id", id));
        };
        let (reply, answer) = tokio::sync::oneshot::channel();
        let order = KeepOrder {
            program,
            place,
            folder: self.folder.clone(),
            step: job.info.step.clone(),
            line: redactor.mask(&job.info.line).into_owned(),
            began: job.info.began,
            reply,
        };
        if keep.send(order).is_err() {
            return Err(phrases::JOB_OVER.with("id", id));
        }
        let messages = self.messages.clone();
        tokio::spawn(async move {
            // Without an answer the job has just ended, which is shown anyway.
            if let Ok(done) = answer.await {
                let _ = messages.send(TurnMessage::Job(JobMessage::Kept { id, done }));
            }
        });
        Ok(())
    }

    pub(super) fn finish_keeping(
        &mut self,
        id: u64,
        done: Result<KeptJob, String>,
    ) -> Option<Notice> {
        let kept = match done {
            Ok(kept) => kept,
            Err(why) => {
                let say = phrases::JOB_NOT_KEPT.with("id", id).with("why", why);
                return Some(Notice::error(say));
            }
        };
        let job = self.find(id)?;
        job.file = Some(kept.output());
        job.kept = Some(kept);
        job.info.kept = true;
        let say = phrases::JOB_KEPT.with("id", id).with("line", job.info.line.clone());
        Some(Notice::info(say))
    }

    /// What the keepers know by now.
    pub(super) fn refresh_kept(&mut self) {
        for job in &mut self.jobs {
            let Some(now) = job.kept.as_ref().and_then(KeptJob::refreshed) else { continue };
            if job.info.is_running() {
                job.info.ports.clone_from(&now.ports);
            }
            job.kept = Some(now);
        }
    }

    /// Jobs that ended were shown: their records are not needed any more.
    pub fn forget_ended(&mut self) {
        for job in self.jobs.drain(..) {
            job.task.abort();
            if let Some(kept) = job.kept.filter(|_| !job.info.is_running()) {
                kept.forget();
            }
        }
    }
}
