//! What came of the tasks of `eval` and `batch`: their limits, the lines of their results, and the table.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use avocet_core::i18n::{LocalizedText, eval as phrases};
use avocet_core::protocol::{Money, Usage};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskLimits {
    pub steps: u16,
    /// For the turn, and once more for the check.
    pub seconds: u64,
    /// In dollars.
    pub cost: Option<f64>,
}

impl Default for TaskLimits {
    fn default() -> TaskLimits {
        TaskLimits { steps: 100, seconds: 900, cost: None }
    }
}

impl TaskLimits {
    /// The settings that hold them.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let cost = self.cost.map(|cost| ("limits.cost.run", cost.to_string()));
        let line_time = self.seconds.clamp(1, MAX_LINE_TIME);
        [
            ("safety.max_auto_steps_per_turn", self.steps.to_string()),
            ("limits.piece_timeout_s", line_time.to_string()),
        ]
        .into_iter()
        .chain(cost)
        .collect()
    }

    /// # Errors
    /// A cost that no setting holds: the task would have no limit.
    pub fn check(&self) -> Result<(), LocalizedText> {
        let is_wrong = self.cost.is_some_and(|cost| !(0.0..=1e6).contains(&cost));
        if is_wrong { Err(phrases::BAD_COST.into()) } else { Ok(()) }
    }
}

/// How long a line of the setup or the check may take, in seconds: the most of the setting.
const MAX_LINE_TIME: u64 = 3600;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultOutcome {
    Solved,
    /// The turn ended by itself; the task has no check.
    Done,
    /// The check failed, or the answer has not all words.
    Unsolved,
    /// A step that the task needed did not run.
    Blocked,
    /// A limit was reached.
    Limit,
    /// The model failed, or the task could not be prepared.
    Failed,
}

/// What came of a task: a line of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    pub task: String,
    pub outcome: ResultOutcome,
    pub steps: u64,
    /// Questions that a user would have been asked.
    pub questions: u64,
    pub usage: Usage,
    pub seconds: f64,
    /// Why it is not solved.
    #[serde(default)]
    pub why: String,
}

impl ResultOutcome {
    pub fn word(self) -> &'static str {
        match self {
            ResultOutcome::Solved => "solved",
            ResultOutcome::Done => "done",
            ResultOutcome::Unsolved => "unsolved",
            ResultOutcome::Blocked => "blocked",
            ResultOutcome::Limit => "limit",
            ResultOutcome::Failed => "failed",
        }
    }

    pub fn is_success(self) -> bool {
        matches!(self, ResultOutcome::Solved | ResultOutcome::Done)
    }
}

impl TaskResult {
    /// Of a task that begins.
    pub fn begun(task: &str) -> TaskResult {
        TaskResult {
            task: task.to_owned(),
            outcome: ResultOutcome::Solved,
            steps: 0,
            questions: 0,
            usage: Usage::default(),
            seconds: 0.0,
            why: String::new(),
        }
    }
}

/// The most that is read of a file of tasks or results, in bytes.
pub const MAX_RESULTS: u64 = 256 << 20;

/// The results in a file, the last of each task; lines of another form are left out.
pub fn read_results(text: &str) -> Vec<TaskResult> {
    let mut seen = HashSet::new();
    let lines = text.lines().rev();
    let mut results: Vec<TaskResult> = lines
        .filter_map(|line| serde_json::from_str::<TaskResult>(line).ok())
        .filter(|result| seen.insert(result.task.clone()))
        .collect();
    results.reverse();
    results
}

/// The names of the tasks that have a result.
pub fn done_tasks(results: &[TaskResult]) -> HashSet<String> {
    results.iter().map(|result| result.task.clone()).collect()
}

/// A table of all results with their sum.
pub fn table(results: &[TaskResult]) -> String {
    let mut text = format!(
        "{:24} {:9} {:>5} {:>9} {:>8} {:>7} {:>8} {:>8}\n",
        "task", "outcome", "steps", "questions", "tokens", "cached", "cost", "seconds"
    );
    let mut sum = Usage::default();
    for result in results {
        sum = sum.plus(result.usage);
        text += &row(&result.task, result.outcome.word(), result);
    }
    let total = TaskResult {
        steps: results.iter().map(|result| result.steps).sum(),
        questions: results.iter().map(|result| result.questions).sum(),
        usage: sum,
        seconds: results.iter().map(|result| result.seconds).sum(),
        ..TaskResult::begun("")
    };
    let solved = format!("{} of {}", solved_count(results), results.len());
    text + &row("sum", &solved, &total)
}

fn row(name: &str, outcome: &str, result: &TaskResult) -> String {
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

fn solved_count(results: &[TaskResult]) -> usize {
    results.iter().filter(|result| result.outcome.is_success()).count()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn result(task: &str, outcome: ResultOutcome, steps: u64) -> TaskResult {
        let usage = Usage { cached_tokens: 50, ..Usage::counted(100, 20) };
        let why = String::new();
        TaskResult { task: task.into(), outcome, steps, questions: 1, usage, seconds: 2.0, why }
    }

    #[test]
    fn results_are_read_back_and_summed() {
        let results = [result("a", ResultOutcome::Solved, 3), result("b", ResultOutcome::Limit, 5)];
        let lines = results.iter().map(|it| serde_json::to_string(it).unwrap() + "\n");
        let text = lines.collect::<String>() + "half a li";
        assert_eq!(read_results(&text), results);
        let table = table(&results);
        assert!(table.ends_with(
            "sum                      1 of 2        8         2      240    50 %        -      4.0\n"
        ), "{table}");
    }
}
