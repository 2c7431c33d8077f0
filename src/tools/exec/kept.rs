//! Jobs that outlive the session: what is known of each is in a file, so that a later session
//! of the folder finds, reads and stops it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::process_group;
use super::process_id::ProcessId;
use crate::output_file;
use avocet_core::private_dir::beside;

/// How long a job that has ended is remembered where no session has shown that.
const REMEMBERED: Duration = Duration::from_hours(7 * 24);
/// The most records that are read, and the largest, in bytes.
const MAX_RECORDS: usize = 256;
const MAX_SIZE: u64 = 64 * 1024;
/// How long the keeper may take to end a job.
const END_TIMEOUT: Duration = Duration::from_secs(10);
const RECORD: &str = "json";

/// `None`: no job was kept there.
fn pause_lock(place: &Path) -> Option<fs::File> {
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(place.join("paused")).ok()
}

/// A job in the care of a keeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptJob {
    /// The workspace of the session that kept it.
    pub folder: PathBuf,
    pub step: String,
    /// Masked.
    pub line: String,
    /// Milliseconds since 1970.
    pub began: i64,
    #[serde(default)]
    pub ports: Vec<u16>,
    #[serde(default)]
    pub ended: bool,
    pub(super) leader: ProcessId,
    pub(super) keeper: ProcessId,
    pub(super) mark: String,
    /// The folder of the record and of the output.
    #[serde(skip)]
    pub(super) place: PathBuf,
}

impl KeptJob {
    /// The jobs kept for a workspace, oldest first. Those that a session left paused go on.
    pub fn find(place: &Path, folder: &Path) -> Vec<KeptJob> {
        let mut jobs = KeptJob::read_all(place);
        // The session that pauses now holds the lock.
        if let Some(_alone) = pause_lock(place).filter(|lock| lock.try_lock().is_ok()) {
            jobs.iter().for_each(|job| process_group::continue_marked(&job.mark));
        }
        for job in &jobs {
            if !job.is_running() && job.is_old() {
                job.forget();
            }
        }
        jobs.retain(|job| job.folder == folder && job.record().exists());
        jobs.sort_by_key(|job| (job.began, job.leader.number()));
        jobs
    }

    /// The marks of those that run and may write in a folder, to pause them, and the lock that is held
    /// meanwhile: the kernel takes it back however the program ends.
    pub(super) fn marks_around(place: &Path, folder: &Path) -> (Vec<String>, Option<fs::File>) {
        let lock = pause_lock(place);
        lock.iter().for_each(|lock| drop(lock.lock_shared()));
        let jobs = KeptJob::read_all(place).into_iter().filter(|job| {
            let is_near = job.folder.starts_with(folder) || folder.starts_with(&job.folder);
            is_near && job.is_running()
        });
        (jobs.map(|job| job.mark).collect(), lock)
    }

    fn read_all(place: &Path) -> Vec<KeptJob> {
        let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
        let records = entries.flatten().map(|entry| entry.path());
        let records = records.filter(|path| path.extension().is_some_and(|end| end == RECORD));
        records.take(MAX_RECORDS).filter_map(|path| KeptJob::read(&path)).collect()
    }

    fn read(path: &Path) -> Option<KeptJob> {
        let meta = fs::symlink_metadata(path).ok()?;
        if !meta.is_file() || meta.len() > MAX_SIZE {
            return None;
        }
        let job: KeptJob = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let job = KeptJob { place: path.parent()?.to_owned(), ..job };
        // A record under another name is none of ours.
        (job.record() == path).then_some(job)
    }

    fn is_old(&self) -> bool {
        let modified = fs::metadata(self.record()).and_then(|meta| meta.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        age.is_some_and(|age| age > REMEMBERED)
    }

    /// As its record says now.
    pub fn refreshed(&self) -> Option<KeptJob> {
        KeptJob::read(&self.record())
    }

    fn record(&self) -> PathBuf {
        self.place.join(format!("{}.{RECORD}", self.name()))
    }

    /// The file with its output.
    pub fn output(&self) -> PathBuf {
        self.place.join(format!("{}.log", self.name()))
    }

    fn name(&self) -> String {
        format!("{}-{}", self.leader.number(), self.mark)
    }

    pub(super) fn save(&self) -> std::io::Result<()> {
        let text = serde_json::to_vec(self)?;
        let mut file = beside::create(&self.place)?;
        file.write_all(&text)?;
        file.persist(self.record())?;
        Ok(())
    }

    /// The keeper saves what changed, unless a session has forgotten the job.
    pub(super) fn update(&self) {
        if self.record().exists() {
            let _ = self.save();
        }
    }

    pub fn is_running(&self) -> bool {
        self.leader.is_running() || self.keeper.is_running()
    }

    /// Waits until it has ended.
    pub async fn wait_ended(&self) {
        self.leader.wait_ended().await;
        self.keeper.wait_ended().await;
    }

    /// Ends it, and nothing else that has its numbers by now.
    pub async fn stop(&self) {
        if self.keeper.signal(Signal::TERM) && timeout(END_TIMEOUT, self.wait_ended()).await.is_ok()
        {
            return;
        }
        // The keeper is gone or does not answer.
        let leader = Some(self.leader).filter(|leader| leader.is_running());
        let leader = leader.map(ProcessId::number);
        let mark = self.mark.clone();

        let end = move || process_group::end_abandoned(leader, &mark);
        let _ = tokio::task::spawn_blocking(end).await;
    }

    /// Removes its record and its output.
    pub fn forget(&self) {
        let _ = fs::remove_file(self.record());
        output_file::remove(&self.output());
    }
}
