//! Approval of several steps at once: the step the user is asked about, and those after it.
//!
//! An approval in advance is for the steps as shown: each step is judged again when its turn comes,
//! and if that judgement is any worse, the user is asked after all.

use std::collections::VecDeque;

use avocet_core::protocol::{self, Reason, Step, Tier};
use avocet_safety::{self as safety, Judgement, PolicyContext, Verdict};

/// The rest of a reply's list, as judged now.
#[derive(Debug, Default)]
pub struct RemainingSteps {
    steps: Vec<Judgement>,
    /// Those that will ask.
    asking: Vec<String>,
}

impl RemainingSteps {
    pub fn assess(steps: &VecDeque<Step>, cx: PolicyContext<'_>) -> RemainingSteps {
        let mut remaining_steps = RemainingSteps::default();
        for step in steps {
            let verdict = safety::assess(step.clone(), cx);
            if matches!(verdict, Verdict::Ask(_)) {
                remaining_steps.asking.push(step.id.clone());
            }
            remaining_steps.steps.push(verdict.judgement().clone());
        }
        remaining_steps
    }

    /// The number of questions that are still to come.
    pub fn questions(&self, approved: &Preapproved) -> usize {
        let asks =
            |judged: &&Judgement| self.asking.contains(&judged.step.id) && !approved.covers(judged);
        self.steps.iter().filter(asks).count()
    }

    /// The form that surfaces show.
    pub fn upcoming_steps(&self) -> Vec<protocol::RemainingStep> {
        let shown = |judged: &Judgement| protocol::RemainingStep {
            id: judged.step.id.clone(),
            work: judged.step.work.clone(),
            risk: judged.risk.clone(),
            change: judged.change().cloned(),
        };
        self.steps.iter().map(shown).collect()
    }

    /// The advance approval of those of `steps`. A high-risk step cannot be approved in advance; if
    /// one is among them the whole approval is void, because it was not offered.
    pub fn preapprove(self, steps: &[String]) -> Preapproved {
        if !self.steps.iter().all(|judged| judged.risk.can_batch_approve()) {
            return Preapproved::default();
        }
        Preapproved(
            self.steps.into_iter().filter(|judged| steps.contains(&judged.step.id)).collect(),
        )
    }
}

/// Steps approved in advance, as they were shown.
#[derive(Debug, Default)]
pub struct Preapproved(Vec<Judgement>);

impl Preapproved {
    /// True if the approval covers the step as judged now.
    pub fn covers(&self, judgement: &Judgement) -> bool {
        self.0.iter().any(|shown| shown.step == judgement.step && !is_worse(judgement, shown))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the step runs only because of the approval.
    pub fn needs(&self, step: &Step) -> bool {
        self.0.iter().any(|shown| shown.step == *step && shown.risk.tier > Tier::L0)
    }
}

fn is_worse(now: &Judgement, judgement: &Judgement) -> bool {
    // The same rule may raise another argument now, such as one that became a link.
    let is_shown = |reason: &Reason| {
        judgement
            .risk
            .reasons
            .iter()
            .any(|known| (&known.rule, known.arg) == (&reason.rule, reason.arg))
    };
    !now.risk.can_batch_approve()
        || now.risk.tier > judgement.risk.tier
        || !now.risk.effects.iter().all(|effect| judgement.risk.effects.contains(effect))
        || !now.risk.reasons.iter().all(is_shown)
        // Another file with the same name, or the same name from another place.
        || now.program != judgement.program
        || now.cwd != judgement.cwd
        // Another file, or the same file with other content.
        || now.change() != judgement.change()
}
