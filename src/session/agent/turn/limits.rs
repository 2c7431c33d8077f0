//! Decides when a turn has to stop and ask: too many steps, the same step again, the same failure
//! again.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};

use avocet_core::i18n::{LocalizedText, agent as words};
use avocet_core::protocol::{Observation, Outcome, Step, StepAction, Tier};

/// This many identical steps or failures in a row count as a loop.
const LOOP: usize = 3;

/// A step that gave the same result this many times, with others in between, is a loop too.
const CIRCLE: usize = 4;

/// How many steps are searched for that.
const RECENT: usize = 32;

#[derive(Debug)]
pub struct TurnLimits {
    max_steps: usize,
    /// Small models repeat a series of several steps.
    is_small_model: bool,
    /// Number of steps that ran since the turn began or was last continued.
    steps_run: usize,
    last_action: Option<StepAction>,
    repeats: usize,
    last_failure: Option<Failure>,
    failures: usize,
    /// Steps since the last one that may have changed something, each with a hash of its
    /// result.
    recent: VecDeque<(StepAction, u64)>,
    hasher: RandomState,
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
    pub fn new(max_steps: usize, is_small_model: bool) -> TurnLimits {
        TurnLimits {
            max_steps,
            is_small_model,
            steps_run: 0,
            last_action: None,
            repeats: 0,
            last_failure: None,
            failures: 0,
            recent: VecDeque::new(),
            hasher: RandomState::new(),
        }
    }

    /// Other settings count from now on; what was counted stays.
    pub fn update(&mut self, max_steps: usize, is_small_model: bool) {
        (self.max_steps, self.is_small_model) = (max_steps, is_small_model);
    }

    /// Whether to ask even about a safe step.
    pub fn should_ask_at_each_step(&self) -> bool {
        self.max_steps == 0
    }

    /// The reason to pause before this step, or before the next model call.
    pub fn pause_reason(&self, next: Option<&Step>) -> Option<LocalizedText> {
        if let Some(failure) = self.last_failure.as_ref().filter(|_| self.failures >= LOOP) {
            return Some(match failure {
                Failure::Refused => words::REFUSALS.into(),
                Failure::Declined => words::REJECTIONS.into(),
                Failure::Failed(program) => words::SAME_FAILURE.with("program", program.as_str()),
            });
        }
        let next = next?;
        if self.max_steps > 0 && self.steps_run >= self.max_steps {
            return Some(words::LIMIT.with("n", self.steps_run));
        }
        let again = self.last_action.as_ref() == Some(&next.work) && self.repeats + 1 >= LOOP;
        if self.is_small_model && !again && self.has_same_results(&next.work) {
            return Some(words::SAME_RESULT.with("step", next.work.short_line()));
        }
        again.then(|| words::SAME_STEP.with("step", next.work.short_line()))
    }

    fn has_same_results(&self, work: &StepAction) -> bool {
        let mut before = self.recent.iter().rev().filter(|(known, _)| known == work);
        let Some((_, last)) = before.next() else { return false };
        before.filter(|(_, result)| result == last).count() + 1 >= CIRCLE
    }

    pub fn record_proposal(&mut self, work: &StepAction) {
        if self.last_action.as_ref() == Some(work) {
            self.repeats += 1;
        } else {
            self.last_action = Some(work.clone());
            self.repeats = 1;
        }
    }

    /// The last proposed step is judged once more: that is not a repetition.
    pub fn withdraw_proposal(&mut self) {
        self.repeats = self.repeats.saturating_sub(1);
    }

    pub fn record_outcome(&mut self, seen: &Observation) {
        let has_run = seen.exit_code.is_some() || seen.duration_ms > 0;
        self.steps_run += usize::from(has_run);
        if seen.risk.tier == Tier::L0 || !has_run {
            let result = self.hasher.hash_one((seen.exit_code, &seen.stdout, &seen.stderr));
            self.recent.push_back((seen.step.work.clone(), result));
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        } else {
            self.recent.clear();
        }
        let failure = failure(seen);
        self.failures = match &failure {
            None => 0,
            Some(_) if failure == self.last_failure => self.failures + 1,
            Some(_) => 1,
        };
        self.last_failure = failure;
    }

    /// The user chose to continue.
    pub fn reset(&mut self) {
        *self = TurnLimits::new(self.max_steps, self.is_small_model);
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
