//! Tasks with a check (`avocet eval`): what one says, what came of it, and the tables of a run and of
//! two. Pure; the tasks are run by `app`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::{Deserialize, Serialize};

use avocet_core::i18n::{LocalizedText, eval as phrases};
use avocet_core::protocol::{Money, Usage};

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
    /// Shell lines that prepare the folder.
    #[serde(default)]
    pub setup: Vec<String>,
    /// The shell line that succeeds once the task is solved.
    pub check: Option<String>,
    /// Words that the answer has to contain, in any case.
    #[serde(default)]
    pub answer: Vec<String>,
    #[serde(default)]
    pub limits: EvalLimits,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvalLimits {
    pub steps: u16,
    /// For the turn, and once more for the check.
    pub seconds: u64,
    /// In dollars.
    pub cost: Option<f64>,
}

impl Default for EvalLimits {
    fn default() -> EvalLimits {
        EvalLimits { steps: 100, seconds: 900, cost: None }
    }
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
        // No setting holds another one, so that the task would have no limit.
        if task.limits.cost.is_some_and(|cost| !(0.0..=1e6).contains(&cost)) {
            return Err(phrases::BAD_COST.into());
        }
        Ok(task)
    }

    /// Whether an answer has all its words.
    pub fn accepts(&self, answer: &str) -> bool {
        let answer = answer.to_lowercase();
        self.answer.iter().all(|word| answer.contains(&word.to_lowercase()))
    }

    /// The settings that hold its limits.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let cost = self.limits.cost.map(|cost| ("limits.cost.run", cost.to_string()));
        let line_time = self.limits.seconds.clamp(1, MAX_LINE_TIME);
        [
            ("safety.max_auto_steps_per_turn", self.limits.steps.to_string()),
            ("limits.piece_timeout_s", line_time.to_string()),
        ]
        .into_iter()
        .chain(cost)
        .collect()
    }
}

/// How long a line of the setup or the check may take, in seconds: the most of the setting.
const MAX_LINE_TIME: u64 = 3600;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvalOutcome {
    Solved,
    /// The check failed, or the answer has not all words.
    Unsolved,
    /// A limit was reached.
    Limit,
    /// The model failed, or the task could not be prepared.
    Failed,
}

/// What came of a task: a line of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalResult {
    pub task: String,
    pub outcome: EvalOutcome,
    pub steps: u64,
    /// Questions that a user would have been asked.
    pub questions: u64,
    pub usage: Usage,
    pub seconds: f64,
    /// Why it is not solved.
    #[serde(default)]
    pub why: String,
}

/// The results in a file; lines of another form are left out.
pub fn read_results(text: &str) -> Vec<EvalResult> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The name of the folder of a task.
pub fn task_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A table of all results with their sum.
pub fn table(results: &[EvalResult]) -> String {
    let mut text = format!(
        "{:24} {:9} {:>5} {:>9} {:>8} {:>7} {:>8} {:>8}\n",
        "task", "outcome", "steps", "questions", "tokens", "cached", "cost", "seconds"
    );
    let mut sum = Usage::default();
    for result in results {
        sum = sum.plus(result.usage);
        text += &row(&result.task, outcome_word(result.outcome), result);
    }
    let total = EvalResult {
        task: String::new(),
        outcome: EvalOutcome::Solved,
        steps: results.iter().map(|result| result.steps).sum(),
        questions: results.iter().map(|result| result.questions).sum(),
        usage: sum,
        seconds: results.iter().map(|result| result.seconds).sum(),
        why: String::new(),
    };
    let solved = format!("{} of {}", solved_count(results), results.len());
    text + &row("solved", &solved, &total)
}

fn row(name: &str, outcome: &str, result: &EvalResult) -> String {
    let usage = result.usage;
    let cached = (usage.cached_tokens * 100).checked_div(usage.input_tokens);
    let cached = cached.map_or("-".to_owned(), |share| format!("{share} %"));
    let cost = if usage.cost == Money(0) { "-".to_owned() } else { usage.cost.to_string() };
    format!(
        "{name:24} {outcome:9} {:>5} {:>9} {:>8} {cached:>7} {cost:>8} {:>8.1}\n",
        result.steps,
        result.questions,
        usage.total_tokens(),
        result.seconds,
    )
}

pub fn outcome_word(outcome: EvalOutcome) -> &'static str {
    match outcome {
        EvalOutcome::Solved => "solved",
        EvalOutcome::Unsolved => "unsolved",
        EvalOutcome::Limit => "limit",
        EvalOutcome::Failed => "failed",
    }
}

fn solved_count(results: &[EvalResult]) -> usize {
    results.iter().filter(|result| result.outcome == EvalOutcome::Solved).count()
}

type Measure = fn(&EvalResult) -> f64;

/// Two runs side by side, over the tasks that both have, with intervals of 95 %.
pub fn comparison(earlier_results: &[EvalResult], results: &[EvalResult]) -> String {
    let pairs: Vec<(&EvalResult, &EvalResult)> = results
        .iter()
        .filter_map(|result| {
            Some((earlier_results.iter().find(|it| it.task == result.task)?, result))
        })
        .collect();
    let measures: [(&str, Measure); 5] = [
        ("solved", |result| f64::from(result.outcome == EvalOutcome::Solved)),
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

    fn result(task: &str, outcome: EvalOutcome, steps: u64) -> EvalResult {
        let usage = Usage { cached_tokens: 50, ..Usage::counted(100, 20) };
        let why = String::new();
        EvalResult { task: task.into(), outcome, steps, questions: 1, usage, seconds: 2.0, why }
    }

    #[test]
    fn a_task_needs_a_prompt_and_something_that_says_when_it_is_solved() {
        let task = EvalTask::parse("prompt = \"Mend it.\"\ncheck = \"cargo test\"").unwrap();
        assert_eq!(task.limits, EvalLimits { steps: 100, seconds: 900, cost: None });
        let limited = "prompt = \"x\"\nanswer = [\"Zwei\"]\n[limits]\nsteps = 5\ncost = 0.5";
        let limited = EvalTask::parse(limited).unwrap();
        assert!(limited.accepts("There are zwei.") && !limited.accepts("three"));
        assert!(limited.settings().contains(&("limits.cost.run", "0.5".to_owned())));
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
        let folders: Vec<_> = std::fs::read_dir(shipped).unwrap().map(|it| it.unwrap()).collect();
        assert_eq!(folders.len(), 10);
        for folder in folders {
            let text = std::fs::read_to_string(folder.path().join("task.toml")).unwrap();
            EvalTask::parse(&text).unwrap();
        }
    }

    #[test]
    fn results_are_read_back_and_summed() {
        let results = [result("a", EvalOutcome::Solved, 3), result("b", EvalOutcome::Limit, 5)];
        let lines = results.iter().map(|it| serde_json::to_string(it).unwrap() + "\n");
        let text = lines.collect::<String>() + "half a li";
        assert_eq!(read_results(&text), results);
        let table = table(&results);
        assert!(table.ends_with(
            "solved                   1 of 2        8         2      240    50 %        -      4.0\n"
        ), "{table}");
    }

    #[test]
    fn two_runs_are_compared_over_the_tasks_of_both() {
        let before = [result("a", EvalOutcome::Unsolved, 4), result("c", EvalOutcome::Solved, 9)];
        let now = [
            result("a", EvalOutcome::Solved, 2),
            result("b", EvalOutcome::Solved, 3),
            result("c", EvalOutcome::Solved, 9),
        ];
        let text = comparison(&before, &now);
        assert!(text.contains("solved           0.50       1.00   +0.50 ± 0.98\n"), "{text}");
        assert!(text.contains("steps            6.50       5.50   -1.00 ± 1.96\n"), "{text}");
        assert!(text.ends_with("2 tasks in both\n"), "{text}");
    }
}
