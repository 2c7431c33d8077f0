//! Drives the programs that run tasks of `avocet batch` on other machines. Each task is a run of its
//! own there, which leaves its result in the folder that the machines share.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::key_source::user_command;
use super::task_runner::{TaskRunner, read_whole};
use crate::cli::Exit;
use crate::cli::batch::{BatchOptions, BatchTask};
use crate::cli::cluster::{
    BatchPlace, KubernetesJob, WorkerCommand, delete_job_args, job_manifest, job_state_args,
    sbatch_args, slurm_job, squeue_args, ssh_args,
};
use crate::cli::task_results::read_results;
use avocet_core::i18n::{LocalizedText, batch as phrases};
use avocet_core::protocol::Notice;
use avocet_tools::exec::{CollectedOutput, run_user_program};

/// How long a program of the cluster may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a task may take to begin and end on a host, beyond its own time.
const MORE_TIME: u64 = 600;
/// Between two looks at a job.
const FIRST_INTERVAL: Duration = Duration::from_secs(1);
const MAX_INTERVAL: Duration = Duration::from_secs(30);
/// Answers in a row that may be missing.
const MAX_UNANSWERED: usize = 5;

/// The tasks without a result, by their lines.
type Pending = BTreeMap<usize, BatchTask>;

/// Runs the tasks there, and takes their results as they come.
pub async fn run(
    runner: &mut TaskRunner<'_>,
    options: &BatchOptions,
    place: &BatchPlace,
    out: &Path,
    tasks: Vec<BatchTask>,
) -> io::Result<()> {
    let folder = std::env::current_dir()?;
    let own = || std::env::current_exe().map(|path| path.display().to_string());
    let program = match (&options.program, place) {
        (Some(program), _) => program.clone(),
        (None, BatchPlace::Kubernetes) => "avocet".to_owned(),
        (None, _) => own()?,
    };
    let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let worker = WorkerCommand::new(folder, program, args);
    let pending = tasks.into_iter().map(|task| (task.line, task)).collect();
    let mut run = ClusterRun { runner, out, worker, pending };
    // Of a run that was ended before it could take them.
    run.take_results()?;
    if !run.pending.is_empty() {
        let done = match place {
            BatchPlace::Slurm => run.slurm(options.jobs).await?,
            BatchPlace::Kubernetes => run.kubernetes(options).await?,
            BatchPlace::Ssh(hosts) => run.ssh(hosts, options.jobs).await?,
        };
        if let Err(why) = done {
            run.tell(Notice::error(why));
        }
    }
    let lost: Vec<&str> = run.pending.values().map(|task| task.id.as_str()).collect();
    if !lost.is_empty() && !run.runner.startup.shared.leaving.is_cancelled() {
        run.tell(Notice::error(phrases::LOST.with("tasks", lost.join(", "))));
    }
    Ok(())
}

struct ClusterRun<'a, 'b> {
    runner: &'a mut TaskRunner<'b>,
    out: &'a Path,
    worker: WorkerCommand,
    pending: Pending,
}

impl ClusterRun<'_, '_> {
    fn tell(&self, notice: Notice) {
        self.runner.startup.fail(&notice, Exit::Failed);
    }

    /// Takes the results that are there.
    fn take_results(&mut self) -> io::Result<()> {
        for line in self.pending.keys().copied().collect::<Vec<_>>() {
            let Some(task) = self.pending.get(&line) else { continue };
            let file = task.single_result(self.out);
            let text = read_whole(&file).unwrap_or_default();
            let Some(result) = read_results(&text).pop().filter(|it| it.task == task.id) else {
                continue;
            };
            self.runner.add(result)?;
            self.pending.remove(&line);
            fs::remove_file(file)?;
        }
        Ok(())
    }

    async fn call(
        &self,
        program: &str,
        args: &[String],
        input: &str,
    ) -> Result<CollectedOutput, LocalizedText> {
        let environment = &self.runner.startup.environment;
        let command = user_command(environment, program, args, ANSWER_TIMEOUT);
        run_user_program(&command, &self.worker.folder, input.as_bytes()).await
    }

    async fn slurm(&mut self, jobs: u8) -> io::Result<Result<(), LocalizedText>> {
        let lines: Vec<usize> = self.pending.keys().copied().collect();
        let args = sbatch_args(&self.worker, &lines, jobs, self.out);
        let submitted =
            self.call("sbatch", &args, "").await.and_then(|done| done.success("sbatch"));
        let job = match submitted.map(|output| slurm_job(&output).ok_or(output)) {
            Ok(Ok(job)) => job,
            Ok(Err(output)) => {
                let why = avocet_core::text::one_line(&output);
                return Ok(Err(phrases::NO_JOB.with("why", why)));
            }
            Err(why) => return Ok(Err(why)),
        };
        self.tell(Notice::info(phrases::SUBMITTED.with("job", &*job)));
        let look = squeue_args(&job);
        // It forgets a job some time after its end.
        let is_over = |done: &CollectedOutput| {
            done.output.trim().is_empty()
                && (done.status.success() || done.messages.contains("Invalid job id"))
        };
        self.follow(("squeue", &look), ("scancel", &[job]), is_over).await
    }

    async fn kubernetes(
        &mut self,
        options: &BatchOptions,
    ) -> io::Result<Result<(), LocalizedText>> {
        let name = format!("avocet-batch-{:08x}", fastrand::u32(..));
        let lines: Vec<usize> = self.pending.keys().copied().collect();
        let job = KubernetesJob {
            name: &name,
            image: options.image.as_deref().unwrap_or_default(),
            volume: options.volume.as_deref().unwrap_or_default(),
            jobs: options.jobs,
        };
        let manifest = job_manifest(job, &self.worker, &lines).to_string();
        let create = ["create".to_owned(), "--filename=-".to_owned()];
        let created = self.call("kubectl", &create, &manifest).await;
        if let Err(why) = created.and_then(|done| done.success("kubectl")) {
            return Ok(Err(why));
        }
        self.tell(Notice::info(phrases::SUBMITTED.with("job", &*name)));
        let look = job_state_args(&name);
        let delete = delete_job_args(&name);
        let is_over = |done: &CollectedOutput| {
            ["Complete", "Failed"].iter().any(|state| done.output.contains(state))
        };
        self.follow(("kubectl", &look), ("kubectl", &delete), is_over).await
    }

    /// Takes results until the job is over; ends it when the program leaves.
    async fn follow(
        &mut self,
        (look, look_args): (&str, &[String]),
        (end, end_args): (&str, &[String]),
        is_over: impl Fn(&CollectedOutput) -> bool,
    ) -> io::Result<Result<(), LocalizedText>> {
        let leaving = self.runner.startup.shared.leaving.clone();
        let mut interval = FIRST_INTERVAL;
        let mut unanswered = 0;
        loop {
            let looked = self.call(look, look_args, "").await;
            // What was written before the job was over is there now.
            let taken = self.take_results();
            let over = looked.as_ref().is_ok_and(&is_over);
            if taken.is_err() || leaving.is_cancelled() {
                let ended = self.call(end, end_args, "").await;
                return taken.map(|()| ended.and_then(|done| done.success(end)).map(drop));
            }
            if over || self.pending.is_empty() {
                return Ok(Ok(()));
            }
            match looked.and_then(|done| done.success(look)) {
                Ok(_) => unanswered = 0,
                Err(why) if unanswered == MAX_UNANSWERED => return Ok(Err(why)),
                Err(_) => unanswered += 1,
            }
            tokio::select! {
                () = sleep(interval) => {}
                () = leaving.cancelled() => {}
            }
            interval = (interval * 2).min(MAX_INTERVAL);
        }
    }

    /// Each host has so many tasks at once. One that cannot be reached is left out, and its task goes
    /// to another.
    async fn ssh(&mut self, hosts: &[String], jobs: u8) -> io::Result<Result<(), LocalizedText>> {
        let leaving = self.runner.startup.shared.leaving.clone();
        let mut waiting: Vec<usize> = self.pending.keys().rev().copied().collect();
        let mut free: Vec<String> = (0..jobs).flat_map(|_| hosts.iter().rev().cloned()).collect();
        let mut lost: Vec<String> = Vec::new();
        let mut running = JoinSet::new();
        loop {
            while !waiting.is_empty()
                && let Some(host) = free.pop()
                && let Some(line) = waiting.pop()
            {
                running.spawn(self.on_host(host, line));
            }
            let ended = tokio::select! {
                ended = running.join_next() => ended,
                // The tasks end with their connections.
                () = leaving.cancelled() => return Ok(Ok(())),
            };
            let Some(ended) = ended else { return Ok(Ok(())) };
            let (host, line, done) = ended.map_err(io::Error::other)?;
            self.take_results()?;
            // Ssh's own failure; anything else is the task's.
            let why = match done {
                Ok(done) if done.status.code() == Some(255) => done.success("ssh").err(),
                Ok(_) => None,
                Err(why) => Some(why),
            };
            match why {
                None if lost.contains(&host) => {}
                None => free.push(host),
                Some(why) => {
                    if self.pending.contains_key(&line) {
                        waiting.push(line);
                    }
                    if !lost.contains(&host) {
                        free.retain(|other| *other != host);
                        let say = phrases::HOST_LOST.with("host", host.as_str());
                        self.tell(Notice::warning(say.with("why", why)));
                        lost.push(host);
                    }
                }
            }
        }
    }

    /// A task on a host.
    fn on_host(
        &self,
        host: String,
        line: usize,
    ) -> impl Future<Output = (String, usize, Result<CollectedOutput, LocalizedText>)> + Send + use<>
    {
        let args = ssh_args(&host, &self.worker, line);
        let seconds = self.pending.get(&line).map_or(0, |task| task.limits.seconds);
        let patience = Duration::from_secs(seconds.saturating_add(MORE_TIME));
        let command = user_command(&self.runner.startup.environment, "ssh", &args, patience);
        let folder = self.worker.folder.clone();
        async move { (host, line, run_user_program(&command, &folder, b"").await) }
    }
}
