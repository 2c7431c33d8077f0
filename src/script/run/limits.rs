//! What a run has used of its limits, with everything it calls.

use super::super::error::{ScriptResult, quoted};
use crate::i18n::script_run as words;

/// Maximum number of instructions in one run, counting repetitions in loops.
const MOST_STEPS: usize = 200_000;
/// Maximum number of model calls in one run.
const MOST_CALLS: usize = 1000;
/// Deepest nesting of scripts that call each other.
const DEEPEST: usize = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunLimits {
    steps: usize,
    calls: usize,
    depth: usize,
}

impl RunLimits {
    pub fn count_instruction(&mut self) -> ScriptResult {
        self.steps += 1;
        match self.steps > MOST_STEPS {
            true => Err(words::TOO_MANY_STEPS.with("most", MOST_STEPS).into()),
            false => Ok(()),
        }
    }

    pub fn count_model_call(&mut self) -> ScriptResult {
        self.calls += 1;
        match self.calls > MOST_CALLS {
            true => Err(words::TOO_MANY_CALLS.with("most", MOST_CALLS).into()),
            false => Ok(()),
        }
    }

    /// Counts a script that is called by another, until it is left.
    pub fn enter(&mut self, script: &str) -> ScriptResult {
        if self.depth >= DEEPEST {
            let name = quoted(script);
            return Err(words::TOO_MANY_SCRIPTS.with("most", DEEPEST).with("name", name).into());
        }
        self.depth += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Adds what a concurrent run has used since both were at `start`.
    pub fn add_since(&mut self, start: RunLimits, other: RunLimits) {
        self.steps += other.steps.saturating_sub(start.steps);
        self.calls += other.calls.saturating_sub(start.calls);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::error::ScriptFlow;
    use super::*;

    #[test]
    fn each_limit_ends_a_run_with_its_own_sentence() {
        let mut limits = RunLimits::default();
        let last = |result: ScriptResult| match result {
            Err(ScriptFlow::Failed(failure)) => failure.to_string(),
            other => panic!("{other:?}"),
        };
        (0..MOST_STEPS).for_each(|_| limits.count_instruction().unwrap());
        assert!(last(limits.count_instruction()).starts_with("More than 200000 instructions"));
        (0..MOST_CALLS).for_each(|_| limits.count_model_call().unwrap());
        assert!(last(limits.count_model_call()).starts_with("More than 1000 model calls"));
        (0..DEEPEST).for_each(|_| limits.enter("a").unwrap());
        assert!(last(limits.enter("b")).starts_with("`b` would nest more than 16 scripts"));
        limits.leave();
        limits.enter("b").unwrap();
    }

    #[test]
    fn what_concurrent_runs_use_adds_up() {
        let mut limits = RunLimits { steps: 10, calls: 2, depth: 1 };
        let start = limits;
        for other in [RunLimits { steps: 15, calls: 3, depth: 1 }, start] {
            limits.add_since(start, other);
        }
        assert_eq!(limits, RunLimits { steps: 15, calls: 3, depth: 1 });
    }
}
