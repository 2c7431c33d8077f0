//! What a judgement consists of. Judging itself is `safety`'s.

use serde::{Deserialize, Serialize};

use super::Work;
use crate::words::Say;

/// L0 runs, L1 asks, L2 is refused (001 §11). The highest that applies wins.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Tier {
    L0,
    #[default]
    L1,
    L2,
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Tier::L0 => "L0",
            Tier::L1 => "L1",
            Tier::L2 => "L2",
        }
    }
}

/// What a step may do to the world beyond reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
    Delete,
    Exec,
    Network,
    Elevate,
    Secret,
    Outside,
    Resource,
    Terminal,
    Irreversible,
}

/// One finding: which rule, how grave, why in plain words, and about which argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// A stable id such as `git.reset.hard`; it is what `lift` and `/allow` speak of.
    pub rule: String,
    pub tier: Tier,
    pub say: Say,
    /// Index into the args; `None` when it is about the program or the whole step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arg: Option<usize>,
}

/// The judgement of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Risk {
    pub tier: Tier,
    /// The rule that decided: the first of the gravest reasons.
    pub rule: String,
    /// All that was found, gravest first.
    pub reasons: Vec<Reason>,
    /// What it may do, in the order of [`Effect`], each once.
    pub effects: Vec<Effect>,
    /// True when it is an L2 that the user's own settings lifted to a question.
    #[serde(default)]
    pub lifted: bool,
}

/// Effects that need a look at the step itself.
const GRAVE: &[Effect] = &[Effect::Secret, Effect::Elevate, Effect::Irreversible, Effect::Outside];

impl Risk {
    /// Whether it may give credentials away: to the model, or to a file that is no place
    /// for them. A file of credentials that a tool writes stays one.
    pub fn hands_out_secrets(&self, work: &Work) -> bool {
        let kept = |reason: &Reason| reason.rule == "path.sensitive.write";
        let into_place = matches!(work, Work::Tool { .. }) && self.reasons.iter().any(kept);
        self.effects.contains(&Effect::Secret) && !into_place
    }

    /// True when a yes to several steps at once may hold this one: at most L1, not
    /// lifted, and nothing that cannot be undone, leaves the folder or reads secrets.
    pub fn is_mild(&self) -> bool {
        self.tier <= Tier::L1
            && !self.lifted
            && !self.effects.iter().any(|effect| GRAVE.contains(effect))
    }

    /// The sentence of the deciding reason.
    pub fn why(&self) -> Option<&Say> {
        self.reasons.first().map(|reason| &reason.say)
    }
}
