//! Steps that run on in the background of a session: a step is handed over by its turn as it runs,
//! is followed here to its end, and is read and stopped by the user and by the model. They end with
//! the session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::job::{Job, JobAnswer, JobMessage, JobUpdate, KeptJobs, ModelJobs, NewJob};
use super::recall_tool::pages;
use super::running_step::{RunningStep, StepProgress};
use super::session_effects::{Effects, SessionEffect};
use super::subagent_list::Subagents;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{Lang, LocalizedText, exec as exec_words, session as phrases};
use avocet_core::protocol::{JobInfo, JobState, Notice, PageRow};
use avocet_core::text;
use avocet_safety::JobTask;
use avocet_safety::redact::Redactor;
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

/// The jobs of a session.
#[derive(Debug)]
pub struct JobBoard {
    pub(super) jobs: Vec<Job>,
    last_id: u64,
    /// What the model has not been told yet.
    news: Vec<String>,
    pub of_model: ModelJobs,
    pub subagents: Subagents,
    pub(super) keeper: Option<KeptJobs>,
    /// The folder of the session.
    pub(super) folder: PathBuf,
    pub(super) messages: UnboundedSender<TurnMessage>,
}

impl JobBoard {
    pub fn new(
        jobs: Option<KeptJobs>,
        folder: PathBuf,
        messages: UnboundedSender<TurnMessage>,
    ) -> JobBoard {
        JobBoard {
            jobs: Vec::new(),
            last_id: 0,
            news: Vec::new(),
            of_model: ModelJobs::default(),
            subagents: Subagents::default(),
            keeper: jobs,
            folder,
            messages,
        }
    }

    /// The jobs as frontends list them.
    pub fn infos(&self) -> Vec<JobInfo> {
        self.jobs.iter().map(|job| job.info.clone()).collect()
    }

    /// What the model is told with the next message.
    pub fn take_news(&mut self) -> String {
        let news: String = self.news.drain(..).map(|line| format!("\n\n[{line}]")).collect();
        news + &self.subagents.take_results()
    }

    pub(super) fn find(&mut self, id: u64) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| job.info.id == id)
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Nothing where nothing changed.
    pub async fn handle_message(
        &mut self,
        message: JobMessage,
        redactor: &Arc<Redactor>,
    ) -> Effects {
        let notices = match message {
            JobMessage::Started(job) => self.start(*job, Arc::clone(redactor)).then(Vec::new),
            JobMessage::Updated { id, update } => {
                self.update(id, update).map(|notice| notice.into_iter().collect())
            }
            JobMessage::Found(jobs) => Some(self.add_found(jobs)),
            JobMessage::Kept { id, done } => {
                self.finish_keeping(id, done).map(|notice| vec![notice])
            }
            JobMessage::Requested { task, reply } => {
                // A turn that was stopped does not wait for it.
                let _ = reply.send(self.answer(task).await);
                None
            }
        };
        let Some(notices) = notices else { return Vec::new() };
        let notices = notices.into_iter().map(Into::into);
        std::iter::once(SessionEffect::InfoChanged).chain(notices).collect()
    }

    /// False where too many run: the step goes back.
    fn start(&mut self, job: NewJob, redactor: Arc<Redactor>) -> bool {
        let NewJob { step, running, ports, file, keep, is_of_model, reply } = job;
        if self.jobs.iter().filter(|job| job.info.is_running()).count() >= MAX_RUNNING {
            let _ = reply.send(Err(running));
            return false;
        }
        let id = self.next_id();
        self.of_model.record(id, is_of_model);
        let cancel = running.cancel.clone();
        let task = tokio::spawn(follow(id, running, ports, redactor, self.messages.clone()));
        let info = JobInfo {
            id,
            step: step.id,
            line: step.work.short_line(),
            state: JobState::Running,
            began: jiff::Timestamp::now().as_millisecond(),
            ports: Vec::new(),
            kept: false,
        };
        let keep = Some(keep);
        self.jobs.push(Job { keep, ..Job::new(info, cancel, task, file) });
        self.forget_old();
        let _ = reply.send(Ok(id));
        true
    }

    fn forget_old(&mut self) {
        while self.jobs.len() > LISTED
            && let Some(at) = self.jobs.iter().position(|job| !job.info.is_running())
        {
            self.jobs.remove(at);
        }
    }

    /// The notice of a change, if it has one; `None` for a job that is not listed any more.
    fn update(&mut self, id: u64, update: JobUpdate) -> Option<Option<Notice>> {
        let job = self.find(id)?;
        let is_stopping = job.is_stopping;
        let info = &mut job.info;
        let say = match &update {
            JobUpdate::Ports(ports) => {
                let is_new = ports.iter().any(|port| !info.ports.contains(port));
                info.ports.clone_from(ports);
                let say = phrases::JOB_LISTENS.with("id", id).with("line", info.line.clone());
                is_new.then(|| say.with("ports", join_ports(&info.ports)))
            }
            JobUpdate::Ended(_) | JobUpdate::Gone => {
                info.ports.clear();
                info.state = match &update {
                    _ if is_stopping => JobState::Stopped,
                    JobUpdate::Ended(seen) => JobState::Ended { exit: seen.exit_code },
                    _ => JobState::Gone,
                };
                let state = state_text(info.state);
                let line = info.line.clone();
                // The model reads with its next message that a job ended, and the user at once.
                let text = state.text(Lang::En);
                self.news.push(format!("Job {id} (`{line}`) {text}; job_read shows its output."));
                let ended = phrases::JOB_ENDED.with("id", id).with("line", line);
                let ended = ended.with("state", state);
                Some(match end_note(&update) {
                    Some(note) => phrases::JOB_ENDED_NOTE.with("ended", ended).with("note", note),
                    None => ended,
                })
            }
        };
        Some(say.map(Notice::info))
    }

    pub fn rows(&mut self) -> Vec<PageRow> {
        self.refresh_kept();
        if self.jobs.is_empty() {
            return vec![PageRow::line(phrases::JOBS_NONE)];
        }
        let row = |job: &Job| {
            let label = format!("{} {}", job.info.id, text::cut(&job.info.line, 60));
            PageRow::pair(label, job_text(&job.info))
        };
        self.jobs.iter().map(row).collect()
    }

    pub async fn output(&mut self, id: u64) -> Result<String, LocalizedText> {
        let unknown = phrases::JOB_UNKNOWN.with("id", id);
        let file = self.find(id).ok_or(unknown)?.file.clone();
        let read = match file {
            Some(file) => read_file(file).await,
            None => None,
        };
        Ok(read.unwrap_or_default())
    }

    pub fn stop(&mut self, id: u64) -> Result<(), LocalizedText> {
        match self.find(id) {
            Some(job) if job.info.is_running() => {
                job.is_stopping = true;
                job.cancel.cancel();
                Ok(())
            }
            Some(_) => Err(phrases::JOB_OVER.with("id", id)),
            None => Err(phrases::JOB_UNKNOWN.with("id", id)),
        }
    }

    /// Answers the model's tools.
    async fn answer(&mut self, task: JobTask) -> Result<JobAnswer, LocalizedText> {
        let answer = |text, is_running| JobAnswer { text, is_running, is_news: true };
        match task {
            JobTask::List if self.jobs.is_empty() => {
                Ok(answer("There are no jobs.".to_owned(), false))
            }
            JobTask::List => {
                let line = |job: &Job| {
                    let state = job_text(&job.info).text(Lang::En);
                    format!("{} {state}: {}", job.info.id, job.info.line)
                };
                let text = self.jobs.iter().map(line).collect::<Vec<_>>().join("\n");
                Ok(answer(text, self.jobs.iter().any(|job| job.info.is_running())))
            }
            JobTask::Stop { id } => {
                self.stop(id).map(|()| answer(format!("Job {id} is ending."), false))
            }
            JobTask::Read { id, page, query, wait: _ } => {
                let output = self.output(id).await?;
                let job = self.find(id).ok_or_else(|| phrases::JOB_UNKNOWN.with("id", id))?;
                let is_news = query.is_some() || page.is_some() || output.len() != job.read;
                let body = match (query, page) {
                    (Some(query), _) => matching_lines(&output, &query),
                    (None, Some(page)) => numbered_page(&output, page),
                    (None, None) => new_output(&output, &mut job.read),
                };
                let state = job_text(&job.info).text(Lang::En);
                let text = format!("[job {id} {state}]\n{body}");
                Ok(JobAnswer { text, is_running: job.info.is_running(), is_news })
            }
        }
    }

    /// Ends all that do not outlive the session and waits, but not for long.
    pub async fn stop_all(&mut self) {
        let all = std::mem::take(&mut self.jobs);
        let (kept, jobs): (Vec<_>, Vec<_>) = all.into_iter().partition(|job| job.kept.is_some());
        self.jobs = kept;
        self.news.clear();
        jobs.iter().for_each(|job| job.cancel.cancel());
        let ended = async {
            for job in jobs {
                let _ = job.task.await;
            }
        };
        let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
        self.subagents.stop_all().await;
    }
}

/// Tells the session what happens to a job, to its end.
async fn follow(
    id: u64,
    mut running: RunningStep,
    mut ports: watch::Receiver<Vec<u16>>,
    redactor: Arc<Redactor>,
    messages: UnboundedSender<TurnMessage>,
) {
    loop {
        let update = tokio::select! {
            progress = running.next(&redactor) => match progress {
                StepProgress::Output(_) => continue,
                StepProgress::Ended(piped) => JobUpdate::Ended(Box::new(piped.observation)),
            },
            Ok(()) = ports.changed() => JobUpdate::Ports(ports.borrow_and_update().clone()),
        };
        let is_last = matches!(update, JobUpdate::Ended(_));
        let _ = messages.send(TurnMessage::Job(JobMessage::Updated { id, update }));
        if is_last {
            return;
        }
    }
}

pub(super) async fn read_file(path: PathBuf) -> Option<String> {
    tokio::task::spawn_blocking(move || output_file::read_output(&path)).await.ok().flatten()
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
