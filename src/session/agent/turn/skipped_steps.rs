//! Records the steps of a list that do not run any more.

use std::collections::VecDeque;

use super::{Turn, transcript};
use avocet_core::i18n::{LocalizedText, Phrase, agent as phrases};
use avocet_core::protocol::{Outcome, Step};
use avocet_safety::{self as safety, PolicyContext};

impl Turn {
    /// Skips the rest of the list, and tells the model so. About a change that was put back the user
    /// is asked all the same.
    pub(super) fn skip_rest(&mut self, why: Phrase, cx: PolicyContext<'_>) {
        let keeping = &self.batch.keeping;
        let (kept, rest) = std::mem::take(&mut self.batch.todo)
            .into_iter()
            .partition(|step| keeping.contains(&step.id));
        self.batch.todo = kept;
        self.skip(rest, &why.into(), cx);
    }

    /// Skips the steps that run only because of a batch approval.
    pub(super) fn skip_approved(&mut self, why: &LocalizedText, cx: PolicyContext<'_>) {
        let todo = std::mem::take(&mut self.batch.todo);
        let (skipped, rest) = todo.into_iter().partition(|step| self.batch.preapproved.needs(step));
        self.batch.todo = rest;
        self.skip(skipped, why, cx);
    }

    fn skip(&mut self, steps: VecDeque<Step>, why: &LocalizedText, cx: PolicyContext<'_>) {
        for step in steps {
            let verdict = safety::assess(step, cx);
            self.record(transcript::not_run_observation(
                verdict.judgement(),
                Outcome::Cancelled,
                Some(why.clone()),
            ));
        }
    }

    pub(super) fn stop_batch(&mut self, cx: PolicyContext<'_>) {
        let rest = std::mem::take(&mut self.batch.todo);
        self.skip(rest, &phrases::CANCELLED.into(), cx);
        let seen = std::mem::take(&mut self.batch.observations);
        self.transcript.add_results(&seen);
    }
}
