//! Decides when a turn has to stop and ask: too many steps, the same step again, the same failure
//! again.

use std::borrow::Cow;

use crate::protocol::{Observation, Outcome, Step, StepAction};
use crate::words::{LocalizedText, agent as words};

/// This many identical steps or failures in a row count as a loop.
const LOOP: usize = 3;

#[derive(Debug)]
pub struct TurnLimits {
    max_steps: usize,
    /// Number of steps that ran since the turn began or was last continued.
    ran: usize,
    last: Option<StepAction>,
    same: usize,
    failed: Option<Failure>,
    failures: usize,
}

/// A kind of failure, for counting.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Failure {
    Refused,
    Declined,
    /// It ran and failed, or did not start: the program or the tool.
    Failed(String),
}

impl TurnLimits {
    pub fn new(max_steps: usize) -> TurnLimits {
        TurnLimits { max_steps, ran: 0, last: None, same: 0, failed: None, failures: 0 }
    }

    /// Whether to ask even about a safe step.
    pub fn asks_at_each(&self) -> bool {
        self.max_steps == 0
    }

    /// The reason to pause before this step, or before the next model call.
    pub fn pause(&self, next: Option<&Step>) -> Option<LocalizedText> {
        if let Some(failure) = self.failed.as_ref().filter(|_| self.failures >= LOOP) {
            return Some(match failure {
                Failure::Refused => words::REFUSALS.into(),
                Failure::Declined => words::REJECTIONS.into(),
                Failure::Failed(program) => words::SAME_FAILURE.with("program", program.as_str()),
            });
        }
        let next = next?;
        if self.max_steps > 0 && self.ran >= self.max_steps {
            return Some(words::LIMIT.with("n", self.ran));
        }
        let again = self.last.as_ref() == Some(&next.work) && self.same + 1 >= LOOP;
        again.then(|| words::SAME_STEP.with("step", one_line(&next.work)))
    }

    pub fn proposed(&mut self, work: &StepAction) {
        if self.last.as_ref() == Some(work) {
            self.same += 1;
        } else {
            self.last = Some(work.clone());
            self.same = 1;
        }
    }

    /// The last proposed step is judged once more: that is not a repetition.
    pub fn withdraw(&mut self) {
        self.same = self.same.saturating_sub(1);
    }

    pub fn observed(&mut self, seen: &Observation) {
        self.ran += usize::from(seen.exit_code.is_some() || seen.duration_ms > 0);
        let failure = failure(seen);
        self.failures = match &failure {
            None => 0,
            Some(_) if failure == self.failed => self.failures + 1,
            Some(_) => 1,
        };
        self.failed = failure;
    }

    /// The user chose to continue.
    pub fn start_over(&mut self) {
        *self = TurnLimits::new(self.max_steps);
    }
}

fn failure(seen: &Observation) -> Option<Failure> {
    let name = match &seen.step.work {
        StepAction::Exec { program, .. } => program,
        StepAction::Tool { name, .. } => name,
        StepAction::Shell { line } => line,
    };
    match seen.outcome {
        Outcome::Refused => Some(Failure::Refused),
        Outcome::Declined => Some(Failure::Declined),
        // A search that finds nothing exits with 1 and prints nothing.
        Outcome::Ran | Outcome::Edited if seen.exit_code == Some(1) && seen.stderr.is_empty() => {
            None
        }
        Outcome::Ran | Outcome::Edited if seen.succeeded() => None,
        Outcome::Ran
        | Outcome::Edited
        | Outcome::TimedOut
        | Outcome::Cancelled
        | Outcome::Interrupted
        | Outcome::NotStarted => Some(Failure::Failed(name.clone())),
    }
}

/// A step on one line, for sentences; an argument that contains spaces is quoted.
pub fn one_line(work: &StepAction) -> String {
    let line = match work {
        StepAction::Exec { program, args } => {
            let words = std::iter::once(program).chain(args).map(|word| quoted(word));
            words.collect::<Vec<_>>().join(" ")
        }
        StepAction::Tool { name, input } => StepAction::summary(name, input),
        StepAction::Shell { line } => line.clone(),
    };
    match line.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", line.split_at(end).0),
        None => line,
    }
}

/// Longest step in a sentence, in characters.
const MOST_SHOWN: usize = 120;

fn quoted(word: &str) -> Cow<'_, str> {
    if word.is_empty() || word.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"') {
        Cow::Owned(format!("{word:?}"))
    } else {
        Cow::Borrowed(word)
    }
}
