//! Steps that run on in the background of a session: a step is handed over by its turn as it runs,
//! is followed here to its end, and is read and stopped by the user and by the model. They end with
//! the session.

use std::path::PathBuf;
use std::time::Duration;

use super::job::{Job, JobAnswer, JobMessage, JobUpdate, NewJob, output_path};
use super::recall_tool::pages;
use super::running_step::StepProgress;
use super::state::Session;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{Lang, LocalizedText, exec as exec_words, session as phrases};
use avocet_core::protocol::{Event, JobInfo, JobRequest, JobState, Notice, Page, PageRow};
use avocet_core::text;
use avocet_safety::JobTask;
use avocet_tools::output_file;

/// Jobs that run at once.
const MAX_RUNNING: usize = 16;
/// Jobs that are listed, with those that ended.
const LISTED: usize = 32;
/// Lines with a text that are found in an output, and the bytes of one that are shown.
const FOUND: usize = 100;
const LINE: usize = 400;
/// How long jobs that are stopped may take to end before the session closes.
const END_TIMEOUT: Duration = Duration::from_secs(8);

impl Session {
    pub(super) async fn handle_job_message(&mut self, message: JobMessage) {
        match message {
            JobMessage::Started(new) => self.start_job(*new).await,
            JobMessage::Updated { id, update } => self.update_job(id, update).await,
            JobMessage::Found(jobs) => self.add_found_jobs(jobs).await,
            JobMessage::Kept { id, done } => self.finish_keeping(id, done).await,
            JobMessage::Requested { task, reply } => {
                // A turn that was stopped does not wait for it.
                let _ = reply.send(self.answer_job_task(task).await);
            }
        }
    }

    async fn start_job(&mut self, new: NewJob) {
        let NewJob { step, running, ports, file, keep, is_of_model, reply } = new;
        if self.info.jobs.iter().filter(|job| job.is_running()).count() >= MAX_RUNNING {
            let _ = reply.send(Err(running));
            return;
        }
        self.jobs.next += 1;
        let id = self.jobs.next;
        self.jobs.of_model.record(id, is_of_model);
        let cancel = running.cancel.clone();
        let (to, redactor) = (self.turn_messages.clone(), self.security.redactor.clone());
        let task = tokio::spawn(async move {
            let (mut running, mut ports) = (running, ports);
            loop {
                let update = tokio::select! {
                    progress = running.next(&redactor) => match progress {
                        StepProgress::Output(_) => continue,
                        StepProgress::Ended(piped) => JobUpdate::Ended(Box::new(piped.observation)),
                    },
                    Ok(()) = ports.changed() => JobUpdate::Ports(ports.borrow_and_update().clone()),
                };
                let is_last = matches!(update, JobUpdate::Ended(_));
                let _ = to.send(TurnMessage::Job(JobMessage::Updated { id, update }));
                if is_last {
                    return;
                }
            }
        });
        let (keep, kept) = (Some(keep), None);
        let job = Job { cancel, task, file, read: 0, is_stopping: false, keep, kept };
        self.jobs.list.push((id, job));
        self.info.jobs.push(JobInfo {
            id,
            step: step.id,
            line: step.work.short_line(),
            state: JobState::Running,
            began: jiff::Timestamp::now().as_millisecond(),
            ports: Vec::new(),
            kept: false,
        });
        self.forget_old_jobs();
        let _ = reply.send(Ok(id));
        self.send_info().await;
    }

    fn forget_old_jobs(&mut self) {
        while self.info.jobs.len() > LISTED
            && let Some(at) = self.info.jobs.iter().position(|job| !job.is_running())
        {
            let gone = self.info.jobs.remove(at);
            self.jobs.list.retain(|(id, _)| *id != gone.id);
        }
    }

    async fn update_job(&mut self, id: u64, update: JobUpdate) {
        let stopped = self.jobs.find(id).is_some_and(|job| job.is_stopping);
        let Some(info) = self.info.jobs.iter_mut().find(|job| job.id == id) else { return };
        let line = info.line.clone();
        let notice = match &update {
            JobUpdate::Ports(ports) => {
                let new = ports.iter().any(|port| !info.ports.contains(port));
                info.ports.clone_from(ports);
                let list = join_ports(&info.ports);
                new.then(|| {
                    phrases::JOB_LISTENS.with("id", id).with("line", line).with("ports", list)
                })
            }
            JobUpdate::Ended(_) | JobUpdate::Gone => {
                info.ports.clear();
                info.state = match &update {
                    _ if stopped => JobState::Stopped,
                    JobUpdate::Ended(seen) => JobState::Ended { exit: seen.exit_code },
                    _ => JobState::Gone,
                };
                let state = info.state;
                Some(self.report_end(id, &line, state, &update))
            }
        };
        self.send_info().await;
        if let Some(say) = notice {
            self.notify(Notice::info(say)).await;
        }
    }

    /// The model reads with its next message that a job ended, and the user at once.
    fn report_end(
        &mut self,
        id: u64,
        line: &str,
        state: JobState,
        update: &JobUpdate,
    ) -> LocalizedText {
        let say = state_text(state);
        let text = say.text(Lang::En);
        self.jobs.news.push(format!("Job {id} (`{line}`) {text}; job_read shows its output."));
        let ended = phrases::JOB_ENDED.with("id", id).with("line", line).with("state", say);
        match end_note(update) {
            Some(note) => phrases::JOB_ENDED_NOTE.with("ended", ended).with("note", note),
            None => ended,
        }
    }

    pub(super) async fn handle_job(&mut self, job: JobRequest) {
        match job {
            JobRequest::Background => {
                if let Some(running) = &self.running {
                    let _ = running.background.send(());
                }
            }
            JobRequest::List => {
                self.refresh_kept_jobs();
                let rows = self.info.jobs.iter().map(|job| {
                    let label = format!("{} {}", job.id, text::cut(&job.line, 60));
                    PageRow::pair(label, job_text(job))
                });
                let mut rows: Vec<PageRow> = rows.collect();
                if rows.is_empty() {
                    rows.push(PageRow::line(phrases::JOBS_NONE));
                }
                self.send_page(phrases::JOBS.into(), rows).await;
            }
            JobRequest::Show { id, page } => match self.job_output(id).await {
                Ok(output) => {
                    let title = phrases::JOB_OUTPUT.with("id", id);
                    self.send_output_page(title, &output, page, &format!("/jobs {id}")).await;
                }
                Err(why) => self.notify(Notice::error(why)).await,
            },
            JobRequest::Stop { id } => {
                if let Err(why) = self.stop_job(id) {
                    self.notify(Notice::error(why)).await;
                }
            }
            JobRequest::Keep { id } => {
                if let Err(why) = self.keep_job(id) {
                    self.notify(Notice::error(why)).await;
                }
            }
            JobRequest::Output { step, page } => self.show_output(step, page).await,
        }
    }

    async fn show_output(&mut self, step: u64, page: Option<usize>) {
        let id = format!("cmd_{step:03}");
        let path = self.outputs.as_ref().map(|it| output_path(it, &self.info.session, &id));
        let saved = match path {
            Some(path) => read_file(path).await,
            None => None,
        };
        let output = match saved {
            Some(output) => Ok(output),
            None => self.part(&id).await,
        };
        match output {
            Ok(output) => {
                let title = phrases::STEP_OUTPUT.with("step", id);
                self.send_output_page(title, &output, page, &format!("/output {step}")).await;
            }
            Err(_) => {
                let hint = match self.step_numbers().await {
                    Some((from, to)) => phrases::STEP_NUMBERS.with("from", from).with("to", to),
                    None => phrases::NO_STEPS.into(),
                };
                let say = phrases::NO_STEP_OUTPUT.with("n", step);
                self.notify(Notice::error(say).with_hint(hint)).await;
            }
        }
    }

    async fn send_output_page(
        &mut self,
        text: LocalizedText,
        output: &str,
        page: Option<usize>,
        command: &str,
    ) {
        let pages = pages(output);
        let number = page.unwrap_or(pages.len()).clamp(1, pages.len());
        let shown = pages.get(number - 1).copied().unwrap_or_default();
        let mut rows: Vec<PageRow> = shown.lines().map(PageRow::line).collect();
        if rows.is_empty() {
            rows.push(PageRow::line(phrases::OUTPUT_EMPTY));
        }
        if let Some(missing) = page.filter(|page| *page > pages.len()) {
            let say = phrases::OUTPUT_NO_PAGE.with("n", missing).with("of", pages.len());
            rows.push(PageRow::line(say));
        }
        if pages.len() > 1 {
            let say = phrases::OUTPUT_PAGE.with("n", number).with("of", pages.len());
            rows.push(PageRow::line(say.with("command", command)));
        }
        self.send_page(text, rows).await;
    }

    async fn send_page(&mut self, text: LocalizedText, rows: Vec<PageRow>) {
        self.outbox.send(Event::Page(Box::new(Page { title: text, rows }))).await;
    }

    async fn job_output(&mut self, id: u64) -> Result<String, LocalizedText> {
        let known = phrases::JOB_UNKNOWN.with("id", id);
        let file = self.jobs.find(id).ok_or(known)?.file.clone();
        let read = match file {
            Some(file) => read_file(file).await,
            None => None,
        };
        Ok(read.unwrap_or_default())
    }

    fn stop_job(&mut self, id: u64) -> Result<(), LocalizedText> {
        let running = self.info.jobs.iter().any(|job| job.id == id && job.is_running());
        match self.jobs.find(id) {
            Some(job) if running => {
                job.is_stopping = true;
                job.cancel.cancel();
                Ok(())
            }
            Some(_) => Err(phrases::JOB_OVER.with("id", id)),
            None => Err(phrases::JOB_UNKNOWN.with("id", id)),
        }
    }

    /// Answers the model's tools.
    async fn answer_job_task(&mut self, task: JobTask) -> Result<JobAnswer, LocalizedText> {
        let answer = |text, is_running| JobAnswer { text, is_running, is_news: true };
        match task {
            JobTask::List => {
                if self.info.jobs.is_empty() {
                    return Ok(answer("There are no jobs.".to_owned(), false));
                }
                let line = |job: &JobInfo| {
                    format!("{} {}: {}", job.id, job_text(job).text(Lang::En), job.line)
                };
                let text = self.info.jobs.iter().map(line).collect::<Vec<_>>().join("\n");
                Ok(answer(text, self.info.jobs.iter().any(JobInfo::is_running)))
            }
            JobTask::Stop { id } => {
                self.stop_job(id).map(|()| answer(format!("Job {id} is ending."), false))
            }
            JobTask::Read { id, page, query, wait: _ } => {
                let output = self.job_output(id).await?;
                let info = self.info.jobs.iter().find(|job| job.id == id);
                let is_running = info.is_some_and(JobInfo::is_running);
                let state = info.map_or(String::new(), |job| job_text(job).text(Lang::En));
                let Some(job) = self.jobs.find(id) else { return Ok(answer(state, is_running)) };
                let is_news = query.is_some() || page.is_some() || output.len() != job.read;
                let body = match (query, page) {
                    (Some(query), _) => matching_lines(&output, &query),
                    (None, Some(page)) => numbered_page(&output, page),
                    (None, None) => new_output(&output, &mut job.read),
                };
                let text = format!("[job {id} {state}]\n{body}");
                Ok(JobAnswer { text, is_running, is_news })
            }
        }
    }

    /// Ends all that do not outlive the session and waits, but not for long.
    pub(super) async fn stop_jobs(&mut self) {
        let all = std::mem::take(&mut self.jobs.list);
        let (kept, jobs): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, job)| job.kept.is_some());
        self.jobs.list = kept;
        self.jobs.news.clear();
        self.info.jobs.retain(|job| job.kept);
        jobs.iter().for_each(|(_, job)| job.cancel.cancel());
        let ended = async {
            for (_, job) in jobs {
                let _ = job.task.await;
            }
        };
        let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
    }
}

async fn read_file(path: PathBuf) -> Option<String> {
    tokio::task::spawn_blocking(move || output_file::read(&path)).await.ok().flatten()
}

fn state_text(state: JobState) -> LocalizedText {
    match state {
        JobState::Running => phrases::JOB_RUNS.into(),
        JobState::Ended { exit: Some(code) } => phrases::JOB_EXITED.with("code", i64::from(code)),
        JobState::Ended { exit: None } => phrases::JOB_KILLED.into(),
        JobState::Stopped => phrases::JOB_STOPPED.into(),
        JobState::Gone => phrases::JOB_GONE.into(),
    }
}

/// What a job left running, or how else its end was unusual.
fn end_note(update: &JobUpdate) -> Option<LocalizedText> {
    match update {
        JobUpdate::Ended(seen) if seen.exit_code.is_some() => {
            seen.note.clone().filter(|note| note.phrase() != exec_words::KEPT)
        }
        JobUpdate::Ended(_) | JobUpdate::Gone | JobUpdate::Ports(_) => None,
    }
}

/// The state, how long it runs, its ports, and whether it stays.
fn job_text(job: &JobInfo) -> LocalizedText {
    let text = running_text(job);
    if job.kept { phrases::JOB_KEPT_ROW.with("state", text) } else { text }
}

fn running_text(job: &JobInfo) -> LocalizedText {
    if !job.is_running() {
        return state_text(job.state);
    }
    let seconds = (jiff::Timestamp::now().as_millisecond() - job.began).max(0) / 1000;
    let since = format!("{}:{:02}", seconds / 60, seconds % 60);
    if job.ports.is_empty() {
        phrases::JOB_RUNS_SINCE.with("time", since)
    } else {
        phrases::JOB_RUNS_AT.with("time", since).with("ports", join_ports(&job.ports))
    }
}

fn join_ports(ports: &[u16]) -> String {
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

fn matching_lines(output: &str, query: &str) -> String {
    let wanted = query.to_lowercase();
    let hits = output.lines().enumerate().filter(|(_, line)| line.to_lowercase().contains(&wanted));
    let hits: Vec<String> =
        hits.map(|(at, line)| format!("{}: {}", at + 1, text::cut(line, LINE))).collect();
    let from = hits.len().saturating_sub(FOUND);
    let shown = hits.get(from..).unwrap_or_default().join("\n");
    format!("[{} lines contain it, the last {} follow]\n{shown}", hits.len(), hits.len() - from)
}

fn numbered_page(output: &str, page: usize) -> String {
    let pages = pages(output);
    let number = page.clamp(1, pages.len());
    let shown = pages.get(number - 1).copied().unwrap_or_default();
    format!("[page {number} of {}]\n{shown}", pages.len())
}

/// What came since the last time, as far as a page has room for it.
fn new_output(output: &str, read: &mut usize) -> String {
    let from = if *read <= output.len() { *read } else { 0 };
    let new = output.get(output.floor_char_boundary(from)..).unwrap_or_default();
    *read = output.len();
    let pages = pages(new);
    let shown = pages.last().copied().unwrap_or_default();
    match pages.len() {
        1 if shown.is_empty() => "[nothing new]".to_owned(),
        1 => shown.to_owned(),
        _ => {
            let gone = text::size(new.len() - shown.len());
            format!("[… {gone} of new output left out; `page` or `query` finds it …]\n{shown}")
        }
    }
}
