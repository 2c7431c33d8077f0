//! Tasks with a check (`avocet eval`): what one says, and the table of two runs. Pure; the tasks are
//! run by `app`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Deserialize;

use super::task_results::{ResultOutcome, TaskLimits, TaskResult};
use avocet_core::i18n::{LocalizedText, eval as phrases};

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct EvalOptions {
    /// A folder of tasks: each is a folder with a `task.toml`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Only these tasks, by the names of their folders.
    #[arg(value_name = "TASK")]
    pub only: Vec<String>,
    /// How many tasks run at once.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub jobs: u8,
    /// Append each result to this file as a line of JSON; tasks that are in it are not run again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Compare with the results in this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub compare: Option<PathBuf>,
    /// Answer each task with the replies of its own file `replies`, and not with a model.
    #[arg(long)]
    pub recorded: bool,
}

/// `task.toml`. Beside it, `files/` is what the task begins with, and `check/` is copied over it
/// before the check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalTask {
    /// The message for the model.
    pub prompt: String,
    /// A repository, in a worktree of which the task works instead of in a folder of its own.
    pub repo: Option<PathBuf>,
    /// Shell lines that prepare the folder.
    #[serde(default)]
    pub setup: Vec<String>,
    /// The shell line that succeeds once the task is solved.
    pub check: Option<String>,
    /// Words that the answer has to contain, in any case.
    #[serde(default)]
    pub answer: Vec<String>,
    #[serde(default)]
    pub limits: TaskLimits,
}

impl EvalTask {
    /// # Errors
    /// It is not written as it must be, or nothing says when it is solved.
    pub fn parse(text: &str) -> Result<EvalTask, LocalizedText> {
        let task: EvalTask = toml::from_str(text)
            .map_err(|error| phrases::BAD_TASK.with("why", error.message().to_owned()))?;
        if task.check.is_none() && task.answer.is_empty() {
            return Err(phrases::NO_CHECK.into());
        }
        task.limits.check()?;
        Ok(task)
    }

    /// Whether an answer has all its words.
    pub fn accepts(&self, answer: &str) -> bool {
        let answer = answer.to_lowercase();
        self.answer.iter().all(|word| answer.contains(&word.to_lowercase()))
    }
}

/// The name of the folder of a task.
pub fn task_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

type Measure = fn(&TaskResult) -> f64;

/// Two runs side by side, over the tasks that both have, with intervals of 95 %.
pub fn comparison(earlier_results: &[TaskResult], results: &[TaskResult]) -> String {
    let by_task: HashMap<&str, &TaskResult> =
        earlier_results.iter().map(|result| (result.task.as_str(), result)).collect();
    let pairs: Vec<(&TaskResult, &TaskResult)> = results
        .iter()
        .filter_map(|result| Some((*by_task.get(result.task.as_str())?, result)))
        .collect();
    let measures: [(&str, Measure); 5] = [
        ("solved", |result| f64::from(result.outcome == ResultOutcome::Solved)),
        ("steps", |result| result.steps as f64),
        ("questions", |result| result.questions as f64),
        ("tokens", |result| result.usage.total_tokens() as f64),
        ("seconds", |result| result.seconds),
    ];
    let mut text = format!("{:10} {:>10} {:>10}   {}\n", "mean", "before", "now", "difference");
    for (name, measure) in measures {
        let olds: Vec<f64> = pairs.iter().map(|(old, _)| measure(old)).collect();
        let news: Vec<f64> = pairs.iter().map(|(_, new)| measure(new)).collect();
        let differences: Vec<f64> = olds.iter().zip(&news).map(|(old, new)| new - old).collect();
        let (difference, margin) = mean_and_margin(&differences);
        text += &format!(
            "{name:10} {:>10.2} {:>10.2}   {difference:+.2} ± {margin:.2}\n",
            mean_and_margin(&olds).0,
            mean_and_margin(&news).0,
        );
    }
    text + &format!("{} tasks in both\n", pairs.len())
}

/// The mean, and half of the interval that has the mean of many runs 19 times of 20.
fn mean_and_margin(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    (mean, 1.96 * deviation / count.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::task_results::tests::result;

    #[test]
    fn a_task_needs_a_prompt_and_something_that_says_when_it_is_solved() {
        let task = EvalTask::parse("prompt = \"Mend it.\"\ncheck = \"cargo test\"").unwrap();
        assert_eq!(task.limits, TaskLimits { steps: 100, seconds: 900, cost: None });
        let limited = "prompt = \"x\"\nanswer = [\"Zwei\"]\n[limits]\nsteps = 5\ncost = 0.5";
        let limited = EvalTask::parse(limited).unwrap();
        assert!(limited.accepts("There are zwei.") && !limited.accepts("three"));
        assert!(limited.limits.settings().contains(&("limits.cost.run", "0.5".to_owned())));
        assert_eq!(EvalTask::parse("prompt = \"x\""), Err(phrases::NO_CHECK.into()));
        for cost in ["nan", "inf", "-1"] {
            let text = format!("prompt = \"x\"\ncheck = \"x\"\n[limits]\ncost = {cost}");
            assert_eq!(EvalTask::parse(&text), Err(phrases::BAD_COST.into()), "{cost}");
        }
        for wrong in ["check = \"x\"", "prompt = 4\ncheck = \"x\"", "prompt = \"x\"\nchekc = \"y\""]
        {
            let why = EvalTask::parse(wrong).unwrap_err();
            assert_eq!(why.phrase(), phrases::BAD_TASK, "{wrong}");
        }
    }

    #[test]
    fn each_task_that_is_shipped_can_be_read() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/eval");
        let entries = std::fs::read_dir(shipped).unwrap().map(|it| it.unwrap());
        let folders: Vec<_> = entries.filter(|entry| entry.path().is_dir()).collect();
        assert_eq!(folders.len(), 10);
        for folder in folders {
            let text = std::fs::read_to_string(folder.path().join("task.toml")).unwrap();
            EvalTask::parse(&text).unwrap();
        }
    }

    #[test]
    fn two_runs_are_compared_over_the_tasks_of_both() {
        let before =
            [result("a", ResultOutcome::Unsolved, 4), result("c", ResultOutcome::Solved, 9)];
        let now = [
            result("a", ResultOutcome::Solved, 2),
            result("b", ResultOutcome::Solved, 3),
            result("c", ResultOutcome::Solved, 9),
        ];
        let text = comparison(&before, &now);
        assert!(text.contains("solved           0.50       1.00   +0.50 ± 0.98\n"), "{text}");
        assert!(text.contains("steps            6.50       5.50   -1.00 ± 1.96\n"), "{text}");
        assert!(text.ends_with("2 tasks in both\n"), "{text}");
    }
}
