//! Other machines that run tasks of `avocet batch`: the command lines and the manifest for the user's
//! own programs. Pure; `app` runs them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use avocet_core::i18n::{Lang, batch as phrases};
use avocet_core::text::{quote_literal, visible};

/// Where the tasks run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchPlace {
    Slurm,
    Kubernetes,
    Ssh(Vec<String>),
}

impl BatchPlace {
    /// # Errors
    /// It is another word, or a host cannot be one.
    pub fn parse(text: &str) -> Result<BatchPlace, String> {
        // It would be an option of `ssh`.
        let is_host = |host: &&str| !host.is_empty() && !host.starts_with('-');
        match text.split_once(':') {
            None if text == "slurm" => Ok(BatchPlace::Slurm),
            None if text == "kubernetes" => Ok(BatchPlace::Kubernetes),
            Some(("ssh", hosts)) if hosts.split(',').all(|host| is_host(&host)) => {
                Ok(BatchPlace::Ssh(hosts.split(',').map(str::to_owned).collect()))
            }
            _ => Err(phrases::BAD_PLACE.with("place", visible(text)).text(Lang::En)),
        }
    }
}

/// Options that only the machine with the whole batch has, each with a value.
const OF_THE_WHOLE: [&str; 5] = ["--on", "--jobs", "--program", "--image", "--volume"];

/// What runs one task on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    pub folder: PathBuf,
    pub program: String,
    pub args: Vec<String>,
}

impl WorkerCommand {
    /// The arguments of this run, but for those of the whole batch.
    pub fn new(folder: PathBuf, program: String, args: impl Iterator<Item = String>) -> Self {
        let mut kept = Vec::new();
        let mut is_value = false;
        for arg in args {
            let name = arg.split('=').next().unwrap_or_default();
            let is_left_out = is_value || OF_THE_WHOLE.contains(&name);
            is_value = !is_value && OF_THE_WHOLE.contains(&arg.as_str());
            kept.extend((!is_left_out).then_some(arg));
        }
        WorkerCommand { folder, program, args: kept }
    }

    /// The shell line for the task in a line of the file, which is a word of the shell.
    fn shell_line(&self, line: &str) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        let words: Vec<String> = words.map(|word| quote_literal(word)).collect();
        format!("exec {} --line {line}", words.join(" "))
    }
}

fn joined(lines: &[usize], gap: &str) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(gap)
}

/// The arguments of `sbatch` for these lines of the file. It prints the job.
pub fn sbatch_args(worker: &WorkerCommand, lines: &[usize], jobs: u8, out: &Path) -> Vec<String> {
    vec![
        "--parsable".into(),
        "--job-name=avocet-batch".into(),
        format!("--array={}%{jobs}", joined(lines, ",")),
        format!("--chdir={}", worker.folder.display()),
        format!("--output={}", out.join("slurm-%A_%a.log").display()),
        format!("--wrap={}", worker.shell_line("\"$SLURM_ARRAY_TASK_ID\"")),
    ]
}

/// The job that `sbatch` prints, without its cluster.
pub fn slurm_job(output: &str) -> Option<String> {
    let job = output.trim().split(';').next().unwrap_or_default();
    (!job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit())).then(|| job.to_owned())
}

/// The arguments of `squeue`, which prints nothing of a job that is over.
pub fn squeue_args(job: &str) -> Vec<String> {
    vec!["--noheader".into(), "--format=%i".into(), format!("--jobs={job}")]
}

/// The job that Kubernetes gets for a whole batch, with a container for each task.
#[derive(Clone, Copy, Debug)]
pub struct KubernetesJob<'a> {
    pub name: &'a str,
    pub image: &'a str,
    /// The claim of the volume with the folder of the worker.
    pub volume: &'a str,
    pub jobs: u8,
}

/// The manifest of a job with a container for each of these lines.
pub fn job_manifest(job: KubernetesJob<'_>, worker: &WorkerCommand, lines: &[usize]) -> Value {
    let choose = format!("set -- {}; shift \"$JOB_COMPLETION_INDEX\"", joined(lines, " "));
    let line = format!("{choose}; {}", worker.shell_line("\"$1\""));
    let container = json!({
        "name": "task",
        "image": job.image,
        "command": ["sh", "-c", line],
        "workingDir": worker.folder,
        // Keys of models.
        "envFrom": [{ "secretRef": { "name": "avocet", "optional": true } }],
        "volumeMounts": [{ "name": "files", "mountPath": worker.folder }],
    });
    let claim = json!({ "claimName": job.volume });
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": job.name },
        "spec": {
            "completionMode": "Indexed",
            "completions": lines.len(),
            "parallelism": job.jobs,
            "backoffLimit": lines.len(),
            "template": { "spec": {
                "restartPolicy": "Never",
                "containers": [container],
                "volumes": [{ "name": "files", "persistentVolumeClaim": claim }],
            } },
        },
    })
}

/// The arguments of `kubectl` that print how a job ended.
pub fn job_state_args(name: &str) -> Vec<String> {
    ["get", "job", name, "--output=jsonpath={.status.conditions[*].type}"].map(str::to_owned).into()
}

pub fn delete_job_args(name: &str) -> Vec<String> {
    ["delete", "job", name, "--ignore-not-found", "--wait=false"].map(str::to_owned).into()
}

/// The arguments of `ssh` for one line. With a terminal, so that the task ends with the connection.
pub fn ssh_args(host: &str, worker: &WorkerCommand, line: usize) -> Vec<String> {
    let folder = quote_literal(&worker.folder.to_string_lossy());
    let command = format!("cd {folder} && {}", worker.shell_line(&line.to_string()));
    ["-tt", "-o", "BatchMode=yes", host, &command].map(str::to_owned).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker() -> WorkerCommand {
        let args =
            "batch t's.jsonl --out o --on slurm --jobs=4 --approve-steps --image x --mode auto";
        WorkerCommand::new("/w f".into(), "/bin/avocet".into(), args.split(' ').map(str::to_owned))
    }

    #[test]
    fn a_place_is_a_cluster_or_hosts() {
        assert_eq!(BatchPlace::parse("slurm"), Ok(BatchPlace::Slurm));
        let hosts = BatchPlace::Ssh(vec!["a".into(), "me@b".into()]);
        assert_eq!(BatchPlace::parse("ssh:a,me@b"), Ok(hosts));
        for wrong in ["", "ssh", "ssh:", "ssh:a,", "ssh:-oProxyCommand=x", "slurm:x", "k8s"] {
            assert!(BatchPlace::parse(wrong).unwrap_err().contains("not a place"), "{wrong}");
        }
    }

    #[test]
    fn a_worker_has_the_arguments_of_the_run_but_those_of_the_whole_batch() {
        let args = ["batch", "t's.jsonl", "--out", "o", "--approve-steps", "--mode", "auto"];
        assert_eq!(worker().args, args);
    }

    #[test]
    fn slurm_gets_an_array_of_the_lines_that_are_left() {
        let args = sbatch_args(&worker(), &[2, 5], 3, Path::new("/o"));
        assert!(args.contains(&"--array=2,5%3".to_owned()), "{args:?}");
        assert!(args.contains(&"--chdir=/w f".to_owned()), "{args:?}");
        let wrap = args.last().unwrap();
        assert!(wrap.ends_with("'--mode' 'auto' --line \"$SLURM_ARRAY_TASK_ID\""), "{wrap}");
        assert!(wrap.contains("'t'\\''s.jsonl'"), "{wrap}");
        assert_eq!(slurm_job("42;west\n").as_deref(), Some("42"));
        assert_eq!(slurm_job("error"), None);
        assert_eq!(squeue_args("42")[2], "--jobs=42");
    }

    #[test]
    fn kubernetes_gets_a_job_with_an_index_for_each_line() {
        let job = KubernetesJob { name: "n", image: "i", volume: "v", jobs: 2 };
        let manifest = job_manifest(job, &worker(), &[2, 5]);
        let spec = &manifest["spec"];
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&json!(2), &json!(2)));
        let container = &spec["template"]["spec"]["containers"][0];
        let line = container["command"][2].as_str().unwrap();
        assert!(
            line.starts_with("set -- 2 5; shift \"$JOB_COMPLETION_INDEX\"; exec '/bin/avocet' "),
            "{line}"
        );
        assert!(line.ends_with(" --line \"$1\""), "{line}");
        assert_eq!(container["workingDir"], "/w f");
    }

    #[test]
    fn ssh_gets_one_line_for_the_shell_of_the_host() {
        let args = ssh_args("me@b", &worker(), 5);
        assert_eq!(args[..4], ["-tt", "-o", "BatchMode=yes", "me@b"]);
        assert!(args[4].starts_with("cd '/w f' && exec '/bin/avocet' 'batch' "), "{args:?}");
        assert!(args[4].ends_with(" --line 5"), "{args:?}");
    }
}
