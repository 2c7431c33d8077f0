//! The steps behind the one a person is asked about, and a yes to all of them.
//!
//! A yes given ahead is to what was shown: each step is judged again when its turn
//! comes, and where that judgement is any worse, the person is asked after all.

use std::collections::VecDeque;

use crate::protocol::{self, Step};
use crate::safety::{self, Judged, Scene};

/// The rest of a reply's list, as it is judged at this moment.
#[derive(Debug, Default)]
pub struct Ahead(Vec<Judged>);

impl Ahead {
    pub fn look(todo: &VecDeque<Step>, scene: Scene<'_>) -> Ahead {
        let judged = |step: &Step| safety::assess(step.clone(), scene).judged().clone();
        Ahead(todo.iter().map(judged).collect())
    }

    /// What a surface shows of it.
    pub fn shown(&self) -> Vec<protocol::Ahead> {
        let shown = |judged: &Judged| protocol::Ahead {
            id: judged.step.id.clone(),
            work: judged.step.work.clone(),
            risk: judged.risk.clone(),
            change: judged.change().cloned(),
        };
        self.0.iter().map(shown).collect()
    }

    /// The yes to those of `steps`. One that is grave cannot be said yes to ahead, and
    /// makes the yes worth nothing for the others: it was not offered.
    pub fn approved(self, steps: &[String]) -> Approved {
        if !self.0.iter().all(|judged| judged.risk.is_mild()) {
            return Approved::default();
        }
        Approved(self.0.into_iter().filter(|judged| steps.contains(&judged.step.id)).collect())
    }
}

/// Steps that were said yes to ahead, as they were shown.
#[derive(Debug, Default)]
pub struct Approved(Vec<Judged>);

impl Approved {
    /// True when the yes holds for the step as it is judged now.
    pub fn covers(&self, now: &Judged) -> bool {
        self.0.iter().any(|shown| shown.step == now.step && !is_worse(now, shown))
    }
}

fn is_worse(now: &Judged, shown: &Judged) -> bool {
    let known_rule = |rule: &String| shown.risk.reasons.iter().any(|reason| reason.rule == *rule);
    !now.risk.is_mild()
        || now.risk.tier > shown.risk.tier
        || !now.risk.effects.iter().all(|effect| shown.risk.effects.contains(effect))
        || !now.risk.reasons.iter().all(|reason| known_rule(&reason.rule))
        // Another file by the same name, or the same name from another place.
        || now.program != shown.program
        || now.cwd != shown.cwd
        // Another file, or the same from another content.
        || now.change() != shown.change()
}
