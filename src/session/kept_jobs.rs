//! Jobs that outlive the session: kept by the user's word, and found again in a later session of the
//! folder.

use tokio_util::sync::CancellationToken;

use super::job::{Job, JobMessage, JobUpdate, KeptJobs};
use super::state::Session;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{JobInfo, JobState, Notice};
use avocet_tools::KeepOrder;
use avocet_tools::exec::KeptJob;

impl Session {
    /// Looks for jobs of earlier sessions, while everything else goes on.
    pub(super) fn find_kept_jobs(&self) {
        let Some(KeptJobs { place, .. }) = self.kept_jobs.clone() else { return };
        let folder = self.security.place.workspace.clone();
        let to = self.turn_messages.clone();
        tokio::task::spawn_blocking(move || {
            let jobs = KeptJob::find(&place, &folder);
            if !jobs.is_empty() {
                // A closed session has no use for them.
                let _ = to.send(TurnMessage::Job(JobMessage::Found(jobs)));
            }
        });
    }

    pub(super) async fn add_found_jobs(&mut self, jobs: Vec<KeptJob>) {
        let mut notices = Vec::new();
        for kept in jobs {
            self.jobs.next += 1;
            let id = self.jobs.next;
            let running = kept.is_running();
            self.info.jobs.push(JobInfo {
                id,
                step: kept.step.clone(),
                line: avocet_core::text::cut(&avocet_core::text::one_line(&kept.line), 120),
                state: if running { JobState::Running } else { JobState::Gone },
                began: kept.began,
                ports: if running { kept.ports.clone() } else { Vec::new() },
                kept: true,
            });
            let found = if running { phrases::JOB_FOUND } else { phrases::JOB_FOUND_ENDED };
            notices.push(found.with("id", id).with("line", kept.line.clone()));
            let cancel = CancellationToken::new();
            let task = tokio::spawn(self.follow_found(id, kept.clone(), cancel.clone(), running));
            let file = Some(kept.output());
            let kept = Some(kept);

            let job = Job { cancel, task, file, read: 0, is_stopping: false, keep: None, kept };
            self.jobs.list.push((id, job));
        }
        self.send_info().await;
        for say in notices {
            self.notify(Notice::info(say)).await;
        }
    }

    /// Waits for the end of a job that another session started, and ends it when it is stopped.
    fn follow_found(
        &self,
        id: u64,
        job: KeptJob,
        cancel: CancellationToken,
        running: bool,
    ) -> impl Future<Output = ()> + use<> {
        let to = self.turn_messages.clone();
        async move {
            if !running {
                return;
            }
            tokio::select! {
                () = job.wait_ended() => {}
                () = cancel.cancelled() => job.stop().await,
            }
            let update = JobUpdate::Gone;
            let _ = to.send(TurnMessage::Job(JobMessage::Updated { id, update }));
        }
    }

    /// Hands a running job over to a process of its own.
    pub(super) fn keep_job(&mut self, id: u64) -> Result<(), LocalizedText> {
        self.jobs.of_model.remove(id);
        let Some(KeptJobs { place, program }) = self.kept_jobs.clone() else {
            return Err(phrases::JOBS_NOT_KEPT.into());
        };
        let info = self.info.jobs.iter().find(|job| job.id == id);
        let info = info.ok_or_else(|| phrases::JOB_UNKNOWN.with("id", id))?;
        if !info.is_running() {
            return Err(phrases::JOB_OVER.with("id", id));
        }
        let known = |job: &Job| job.kept.is_none().then(|| job.keep.clone()).flatten();
        let Some(keep) =
            self.jobs.list.iter().find(|(it, _)| *it == id).and_then(|it| known(&it.1))
        else {
            return Err(phrases::JOB_KEPT_ALREADY.with("id", id));
        };
        let (reply, answer) = tokio::sync::oneshot::channel();
        let order = KeepOrder {
            program,
            place,
            folder: self.security.place.workspace.clone(),
            step: info.step.clone(),
            line: self.security.redactor.mask(&info.line).into_owned(),
            began: info.began,
            reply,
        };
        let to = self.turn_messages.clone();
        if keep.send(order).is_err() {
            return Err(phrases::JOB_OVER.with("id", id));
        }
        tokio::spawn(async move {
            // Without an answer the job has just ended, which is shown anyway.
            if let Ok(done) = answer.await {
                let _ = to.send(TurnMessage::Job(JobMessage::Kept { id, done }));
            }
        });
        Ok(())
    }

    pub(super) async fn finish_keeping(&mut self, id: u64, done: Result<KeptJob, String>) {
        let notice = match done {
            Ok(kept) => {
                let Some(job) = self.jobs.find(id) else { return };
                (job.file, job.kept) = (Some(kept.output()), Some(kept));
                let Some(info) = self.info.jobs.iter_mut().find(|job| job.id == id) else { return };
                info.kept = true;
                let say = phrases::JOB_KEPT.with("id", id).with("line", info.line.clone());
                Notice::info(say)
            }
            Err(why) => Notice::error(phrases::JOB_NOT_KEPT.with("id", id).with("why", why)),
        };
        self.send_info().await;
        self.notify(notice).await;
    }

    /// What the keepers know by now.
    pub(super) fn refresh_kept_jobs(&mut self) {
        for (id, job) in &mut self.jobs.list {
            let Some(now) = job.kept.as_ref().and_then(KeptJob::refreshed) else { continue };
            let info = self.info.jobs.iter_mut().find(|info| info.id == *id);
            if let Some(info) = info.filter(|info| info.is_running()) {
                info.ports.clone_from(&now.ports);
            }
            job.kept = Some(now);
        }
    }

    /// Jobs that ended were shown: their records are not needed any more.
    pub(super) fn forget_ended_jobs(&mut self) {
        for (id, job) in self.jobs.list.drain(..) {
            job.task.abort();
            let ended = self.info.jobs.iter().any(|info| info.id == id && !info.is_running());
            if let Some(kept) = job.kept.filter(|_| ended) {
                kept.forget();
            }
        }
    }
}
