//! Many tasks without a screen (`avocet batch`): the options, and the lines of the file of tasks.
//! Pure; the tasks are run by `app`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Deserialize;

use super::cluster::BatchPlace;
use super::task_results::TaskLimits;
use avocet_core::i18n::{LocalizedText, batch as phrases};
use avocet_core::protocol::ApprovalMode;
use avocet_core::text::visible;
use avocet_tools::git_worktree::is_usable_name;

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct BatchOptions {
    /// A file with a task a line, as JSON.
    #[arg(value_name = "TASKS", value_hint = ValueHint::FilePath)]
    pub tasks: PathBuf,
    /// The folder for results: a patch and a log of each task, and `results.jsonl`. Tasks with a
    /// result are not run again.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// How many tasks run at once.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub jobs: u8,
    /// Run the tasks on other machines: slurm, kubernetes, or ssh:HOST,HOST. They have the files of the
    /// tasks and of the results under the same names.
    #[arg(long, value_name = "PLACE", value_parser = BatchPlace::parse)]
    pub on: Option<BatchPlace>,
    /// The program's name on those machines; usually that of this one.
    #[arg(long, value_name = "PATH")]
    pub program: Option<String>,
    /// The image of the containers of kubernetes.
    #[arg(long, value_name = "NAME")]
    pub image: Option<String>,
    /// The claim of the volume that is mounted into them as the folder of the results and tasks.
    #[arg(long, value_name = "NAME")]
    pub volume: Option<String>,
    /// Only the task in this line; its result goes into a file of its own.
    #[arg(long, value_name = "N", hide = true)]
    pub line: Option<usize>,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchTask {
    pub id: String,
    pub prompt: String,
    /// A folder, in a copy of which the task works.
    pub dir: Option<PathBuf>,
    /// A repository, in a worktree of which it works.
    pub repo: Option<PathBuf>,
    #[serde(default)]
    pub limits: TaskLimits,
    pub model: Option<String>,
    pub mode: Option<String>,
    /// Of the file, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// The tasks of a file; empty lines are left out.
///
/// # Errors
/// The first line that is wrong, and why.
pub fn parse_tasks(text: &str) -> Result<Vec<BatchTask>, LocalizedText> {
    let mut tasks: Vec<BatchTask> = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let in_line = |why| phrases::IN_LINE.with("line", at + 1).with("why", why);
        let task = parse_task(line).map_err(in_line)?;
        if let Some(line) = lines.insert(task.id.clone(), at + 1) {
            return Err(in_line(phrases::TWICE.with("id", task.id).with("line", line)));
        }
        tasks.push(BatchTask { line: at + 1, ..task });
    }
    if tasks.is_empty() { Err(phrases::NO_TASKS.into()) } else { Ok(tasks) }
}

fn parse_task(line: &str) -> Result<BatchTask, LocalizedText> {
    let task: BatchTask = serde_json::from_str(line).map_err(|error| {
        let why = error.to_string();
        phrases::BAD_LINE.with("why", why.split(" at line ").next().unwrap_or_default())
    })?;
    if !is_usable_name(&task.id) {
        return Err(phrases::BAD_ID.with("id", visible(&task.id)));
    }
    if task.dir.is_some() == task.repo.is_some() {
        return Err(phrases::NO_PLACE.into());
    }
    task.limits.check()?;
    match &task.mode {
        Some(mode)
            if ApprovalMode::parse(mode).is_none() && !["low", "high"].contains(&&**mode) =>
        {
            Err(phrases::BAD_MODE.with("mode", visible(mode)))
        }
        _ => Ok(task),
    }
}

impl BatchTask {
    /// Its folder or repository, seen from that of the file of tasks.
    pub fn place(&self, base: &Path) -> PathBuf {
        base.join(self.repo.as_ref().or(self.dir.as_ref()).map_or(Path::new(""), PathBuf::as_path))
    }

    /// The file of its result where it runs alone.
    pub fn single_result(&self, out: &Path) -> PathBuf {
        out.join(format!("{}.json", self.id))
    }

    /// Which steps ask, if the task says so.
    pub fn approval_mode(&self) -> Option<ApprovalMode> {
        self.mode.as_deref().and_then(ApprovalMode::parse)
    }

    /// The settings that it changes.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let mode = self.mode.clone().filter(|_| self.approval_mode().is_none());
        let model = self.model.clone();
        let own = [("model", model), ("mode", mode)];
        let own = own.into_iter().filter_map(|(key, value)| Some((key, value?)));
        self.limits.settings().into_iter().chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_task_with_its_limits_and_choices() {
        let line = r#"{"id":"a-1","prompt":"x","repo":"../r","limits":{"steps":5,"cost":0.5},"model":"m","mode":"auto"}"#;
        let tasks = parse_tasks(&format!(
            "\n{line}\n\n{{\"id\":\"b\",\"prompt\":\"y\",\"dir\":\".\",\"mode\":\"low\"}}\n"
        ));
        let tasks = tasks.unwrap();
        assert_eq!((tasks[0].line, tasks[1].line), (2, 4));
        assert_eq!(tasks[0].place(Path::new("/t")), Path::new("/t/../r"));
        assert_eq!(tasks[0].approval_mode(), Some(ApprovalMode::Auto));
        let settings = tasks[0].settings();
        assert!(settings.contains(&("model", "m".to_owned())), "{settings:?}");
        assert!(!settings.iter().any(|(key, _)| *key == "mode"));
        assert!(tasks[1].settings().contains(&("mode", "low".to_owned())));
    }

    #[test]
    fn a_wrong_line_is_named_with_what_is_wrong() {
        let good = r#"{"id":"a","prompt":"x","dir":"."}"#;
        for (line, expected) in [
            ("{\"id\":", phrases::BAD_LINE),
            (r#"{"id":"b","prompt":"x","dir":".","promt":1}"#, phrases::BAD_LINE),
            (r#"{"id":"b","dir":"."}"#, phrases::BAD_LINE),
            (r#"{"id":"../b","prompt":"x","dir":"."}"#, phrases::BAD_ID),
            (r#"{"id":"b","prompt":"x"}"#, phrases::NO_PLACE),
            (r#"{"id":"b","prompt":"x","dir":".","repo":"."}"#, phrases::NO_PLACE),
            (r#"{"id":"b","prompt":"x","dir":".","mode":"yolo"}"#, phrases::BAD_MODE),
            (good, phrases::TWICE),
        ] {
            let why = parse_tasks(&format!("{good}\n{line}\n")).unwrap_err();
            let text = why.text(avocet_core::i18n::Lang::En);
            assert!(text.starts_with("Line 2: "), "{text}");
            let end = expected.en.split('{').next().unwrap();
            assert!(text.contains(end) && !text.contains(" at line 1"), "{text}");
        }
        assert_eq!(parse_tasks("\n"), Err(phrases::NO_TASKS.into()));
    }
}
