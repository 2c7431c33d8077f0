//! Decides when a turn has to stop and ask: too many steps, the same call with the same result
//! again, or many steps that brought nothing new.
//!
//! What a step returned counts, not whether it worked: a program that fails three times while its
//! faults are mended is debugging.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use avocet_core::i18n::{LocalizedText, agent as phrases};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{Observation, Outcome, SandboxStatus, Step, ToolCall, Usage};

/// The steps of a turn where no setting says how many, in a sandbox that confines all of them.
const CONFINED_STEPS: usize = 200;

/// The same without such a sandbox, or of a small model, which may go round in circles.
const FEW_STEPS: usize = 25;

/// This many same calls with the same result in a row are a loop.
const LOOP: usize = 3;

/// This many steps in a row that brought nothing new are a loop, whatever is between them.
const STALE: usize = 10;

/// The same for a small model.
const STALE_IF_SMALL: usize = 6;

/// The steps of a turn and of the agents that it waits for, since it began or was last continued.
#[derive(Clone, Debug, Default)]
pub struct StepCounter(Arc<AtomicUsize>);

impl StepCounter {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The user lets one of them go on: that counts for all.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl PartialEq for StepCounter {
    fn eq(&self, counter: &StepCounter) -> bool {
        self.count() == counter.count()
    }
}

#[derive(Debug)]
pub struct TurnLimits {
    /// As set by the user: 0 is none.
    max_steps: Option<usize>,
    /// Small models repeat a series of several steps.
    is_small_model: bool,
    /// Its own steps since it began or was last continued, and those of all that count to the turn.
    steps: usize,
    step_counter: StepCounter,
    /// The last call with its result, as a hash, and how many times in a row it came.
    last: u64,
    repeats: usize,
    last_line: String,
    /// Every call with its result so far, and how many came in a row that were known.
    known: HashSet<u64>,
    stale: usize,
    hasher: RandomState,
}

impl TurnLimits {
    pub fn new(
        max_steps: Option<usize>,
        is_small_model: bool,
        step_counter: StepCounter,
    ) -> TurnLimits {
        TurnLimits {
            max_steps,
            is_small_model,
            steps: 0,
            step_counter,
            last: 0,
            repeats: 0,
            last_line: String::new(),
            known: HashSet::new(),
            stale: 0,
            hasher: RandomState::new(),
        }
    }

    /// Other settings count from now on; what was counted stays.
    pub fn update(&mut self, max_steps: Option<usize>, is_small_model: bool) {
        (self.max_steps, self.is_small_model) = (max_steps, is_small_model);
    }

    /// The most steps until the turn pauses; `None`: no limit. A limit of cost ends a run as well.
    fn most_steps(
        &self,
        is_small_model: bool,
        sandbox: SandboxStatus,
        budget: &Budget,
    ) -> Option<usize> {
        match self.max_steps {
            Some(steps) => Some(steps).filter(|steps| *steps > 0),
            None if budget.limits_cost_of_run() => None,
            None if sandbox == SandboxStatus::Held && !is_small_model => Some(CONFINED_STEPS),
            None => Some(FEW_STEPS),
        }
    }

    /// The reason to pause before this step, or before the next model call.
    pub fn pause_reason(
        &self,
        step: Option<&Step>,
        sandbox: SandboxStatus,
        budget: &Budget,
    ) -> Option<LocalizedText> {
        if self.repeats >= LOOP {
            return Some(phrases::SAME_STEP.with("step", self.last_line.as_str()));
        }
        let most_stale = if self.is_small_model { STALE_IF_SMALL } else { STALE };
        if self.stale >= most_stale {
            return Some(phrases::NO_PROGRESS.into());
        }
        step?;
        let all = self.step_counter.count();
        // A small model is watched for its own steps only, not for those of other models.
        [(self.is_small_model, self.steps), (false, all)].into_iter().find_map(
            |(is_small, steps)| {
                let most = self.most_steps(is_small, sandbox, budget)?;
                (steps >= most).then(|| phrases::LIMIT.with("n", steps))
            },
        )
    }

    /// Counts a step by its result; true if the same came just before. Reading what is still at
    /// work is waiting, and counts as nothing.
    pub fn record_outcome(&mut self, observation: &Observation) -> bool {
        if observation.is_pending {
            return false;
        }
        self.count_step();
        let Observation { step, stdout, stderr, exit_code, outcome, risk, .. } = observation;
        let time = step.requires.timeout_s;
        let work = serde_json::to_string(&(&step.work, &step.cwd, time)).unwrap_or_default();
        let output = (without_durations(stdout), without_durations(stderr));
        let result = (exit_code, outcome.name(), &risk.rule, output);
        let hash = self.hasher.hash_one((work, result));
        // A tool that does not exist, or a faulty call of one, cannot have brought anything.
        let is_fault = *outcome == Outcome::NotStarted && risk.rule.starts_with("tool.");
        let stale = self.stale + 1;
        let is_again = self.record(hash, || step.work.short_line());
        self.stale = if is_fault { stale } else { self.stale };
        is_again
    }

    /// Counts a call that could not be read; true if the same came just before.
    pub fn record_fault(&mut self, call: &ToolCall) -> bool {
        self.count_step();
        // It cannot have brought anything.
        let stale = self.stale + 1;
        let hash = self.hasher.hash_one((&call.name, &call.arguments));
        let is_again = self.record(hash, || call.name.clone());
        self.stale = stale;
        is_again
    }

    fn count_step(&mut self) {
        self.steps += 1;
        self.step_counter.add_one();
    }

    fn record(&mut self, hash: u64, line: impl FnOnce() -> String) -> bool {
        let is_again = self.repeats > 0 && self.last == hash;
        self.repeats = if is_again { self.repeats + 1 } else { 1 };
        self.last = hash;
        self.last_line = line();
        self.stale = if self.known.insert(hash) { 0 } else { self.stale + 1 };
        is_again
    }

    /// The user chose to continue.
    pub fn reset(&mut self) {
        self.step_counter.reset();
        *self = TurnLimits::new(self.max_steps, self.is_small_model, self.step_counter.clone());
    }
}

/// What a turn has used.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnUsage {
    pub own: Usage,
    /// With the requests of others since it began, as far as they are known.
    all: Usage,
}

impl TurnUsage {
    pub fn count_all(&mut self, usage: Usage) {
        self.all = self.all.plus(usage.since(self.all));
    }

    /// What counts to its limits.
    pub fn counted(self) -> Usage {
        self.own.plus(self.all.since(self.own))
    }
}

/// An output without the times in it that programs print of themselves: `0.53s`, `12 ms`.
fn without_durations(output: &str) -> String {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let unit = |word: &str| matches!(word, "s" | "ms" | "µs" | "sec" | "seconds");
    let mut kept: Vec<&str> = Vec::new();
    for word in output.split_inclusive(char::is_whitespace) {
        let bare = word.trim_matches(|c: char| c.is_whitespace() || "()[],;=".contains(c));
        let number = bare.trim_end_matches(|c: char| c.is_alphabetic());
        let suffix = bare.get(number.len()..).unwrap_or_default();
        if is_number(number) && unit(suffix) {
            continue;
        }
        let before = kept.last().map_or("", |word| word.trim());
        if unit(bare.trim_end_matches('.')) && is_number(before) {
            kept.pop();
        }
        kept.push(word);
    }
    kept.concat()
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn the_times_a_program_took_make_no_other_result_of_its_output() {
        for (one, other) in [
            ("test result: FAILED. finished in 0.53s\n", "test result: FAILED. finished in 1.2s\n"),
            ("FAILED (took 12 ms)\n", "FAILED (took 7 ms)\n"),
            ("Ran 3 tests in 0.001 seconds.", "Ran 3 tests in 0.120 seconds."),
        ] {
            assert_eq!(without_durations(one), without_durations(other));
        }
        assert_ne!(without_durations("3 failed in 1s"), without_durations("2 failed in 1s"));
        assert_eq!(without_durations("a  b\n1 s3"), "a  b\n1 s3");
    }
}
