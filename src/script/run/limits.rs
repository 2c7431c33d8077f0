//! What a run has used of its limits, with everything it calls.

use super::super::error::{ScriptError, ScriptFlow, ScriptResult, quoted};
use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::Usage;
use avocet_core::protocol::budget::Budget;

/// Maximum number of instructions in one run, counting repetitions in loops.
pub const MAX_STEPS: usize = 200_000;
/// Maximum number of model calls in one run.
pub const MAX_CALLS: usize = 1000;
/// Deepest nesting of scripts that call each other.
pub const MAX_DEPTH: usize = 16;
/// Deepest nesting of everything that may call itself: scripts, functions and event handlers.
pub const MAX_CALLS_DEPTH: usize = 32;

/// Maximum number of rounds of tool calls for one answer.
pub const MAX_ROUNDS: usize = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunLimits {
    steps: usize,
    calls: usize,
    /// The scripts that are open, and all calls that are open, these included.
    scripts: usize,
    depth: usize,
    used: Usage,
    budget: Budget,
}

impl RunLimits {
    pub fn new(budget: Budget) -> RunLimits {
        RunLimits { budget, ..RunLimits::default() }
    }

    pub fn count_instruction(&mut self) -> ScriptResult {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            Err(limit_error(phrases::TOO_MANY_STEPS.with("most", MAX_STEPS)))
        } else {
            Ok(())
        }
    }

    pub fn count_model_call(&mut self) -> ScriptResult {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            Err(limit_error(phrases::TOO_MANY_CALLS.with("most", MAX_CALLS)))
        } else {
            self.budget.stop_reason(self.used).map_or(Ok(()), |why| Err(limit_error(why)))
        }
    }

    /// Adds the tokens of a model call.
    pub fn add_usage(&mut self, usage: Usage) {
        self.used = self.used.plus(usage);
    }

    /// The number of model calls so far.
    pub fn model_calls(&self) -> usize {
        self.calls
    }

    /// Whether the running script is the one that was started.
    pub fn is_first_script(&self) -> bool {
        self.scripts == 1
    }

    /// Counts a script that is called by another, until it is left.
    pub fn enter(&mut self, script: &str) -> ScriptResult {
        if self.scripts >= MAX_DEPTH {
            let name = quoted(script);
            let why = phrases::TOO_MANY_SCRIPTS.with("most", MAX_DEPTH).with("name", name);
            return Err(limit_error(why));
        }
        self.enter_call(script)?;
        self.scripts += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.scripts -= 1;
        self.leave_call();
    }

    /// Counts a call that may lead to itself, as that of an event or from JavaScript, until it is
    /// left: each takes room on the stack.
    pub fn enter_call(&mut self, name: &str) -> ScriptResult {
        if self.depth >= MAX_CALLS_DEPTH {
            let why =
                phrases::TOO_MANY_NESTED.with("most", MAX_CALLS_DEPTH).with("name", quoted(name));
            return Err(limit_error(why));
        }
        self.depth += 1;
        Ok(())
    }

    pub fn leave_call(&mut self) {
        self.depth -= 1;
    }

    /// Adds what a concurrent run has used since both were at `start`.
    pub fn add_since(&mut self, limits: RunLimits, run_limits: RunLimits) {
        self.steps += run_limits.steps.saturating_sub(limits.steps);
        self.calls += run_limits.calls.saturating_sub(limits.calls);
        self.used = self.used.plus(run_limits.used.since(limits.used));
    }
}

/// The error for a limit that a run has reached.
pub fn limit_error(why: LocalizedText) -> ScriptFlow {
    ScriptError::limit(why).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCause;
    use avocet_core::protocol::Money;
    use avocet_core::protocol::budget::{SpendLimit, SpendLimits, Spent};

    #[test]
    fn each_limit_ends_a_run_with_its_own_sentence() {
        let mut limits = RunLimits::default();
        let last = |result: ScriptResult| match result {
            Err(ScriptFlow::Failed(failure)) => {
                assert_eq!(failure.cause, ErrorCause::Limit);
                failure.to_string()
            }
            other => panic!("{other:?}"),
        };
        (0..MAX_STEPS).for_each(|_| limits.count_instruction().unwrap());
        assert!(last(limits.count_instruction()).starts_with("More than 200000 instructions"));
        (0..MAX_CALLS).for_each(|_| limits.count_model_call().unwrap());
        assert!(last(limits.count_model_call()).starts_with("More than 1000 model calls"));
        (0..MAX_DEPTH).for_each(|_| limits.enter("a").unwrap());
        assert!(last(limits.enter("b")).starts_with("`b` would nest more than 16 scripts"));
        limits.leave();
        limits.enter("b").unwrap();
        (MAX_DEPTH..MAX_CALLS_DEPTH).for_each(|_| limits.enter_call("f").unwrap());
        assert!(last(limits.enter_call("f")).starts_with("`f` would nest more than 32 calls"));
        limits.leave_call();
        limits.enter_call("f").unwrap();
    }

    #[test]
    fn what_concurrent_runs_use_adds_up() {
        let used = |tokens, micros| Usage { cost: Money(micros), ..Usage::counted(tokens, 0) };
        let limits = |steps, calls, used| RunLimits { steps, calls, used, ..RunLimits::default() };
        let start = limits(10, 2, used(100, 7));
        let mut all = start;
        for other in [limits(15, 3, used(130, 9)), start, limits(10, 3, used(105, 7))] {
            all.add_since(start, other);
        }
        assert_eq!(all, limits(15, 4, used(135, 9)));
    }

    #[test]
    fn a_run_that_has_spent_its_budget_makes_no_further_model_call() {
        let run = SpendLimit { cost: Some(Money(500)), tokens: Some(100) };
        let most = SpendLimits { run, ..SpendLimits::default() };
        for (usage, key) in [
            (Usage::counted(60, 40), "limits.tokens.run"),
            (Usage { cost: Money(500), ..Usage::counted(1, 1) }, "limits.cost.run"),
        ] {
            let mut limits = RunLimits::new(Budget::new(most, Spent::default()));
            limits.count_model_call().unwrap();
            limits.add_usage(usage);
            let Err(ScriptFlow::Failed(failure)) = limits.count_model_call() else {
                panic!("{limits:?}");
            };
            assert_eq!(failure.cause, ErrorCause::Limit);
            assert!(failure.to_string().contains(key), "{failure}");
        }
    }
}
