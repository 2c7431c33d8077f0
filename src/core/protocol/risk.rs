//! The data of a judgement. `safety` makes judgements.

use serde::{Deserialize, Serialize};

use super::{SandboxDenial, StepAction};
use crate::i18n::LocalizedText;

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

/// An effect of a step beyond reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
    Delete,
    Exec,
    /// It uses the network, to fetch or to send.
    Network,
    /// What it sends is on another machine afterwards.
    Send,
    Elevate,
    Secret,
    Outside,
    Resource,
    Terminal,
    Irreversible,
}

/// One finding: the rule, its tier, the reason in plain words, and the argument it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// A stable id such as `git.reset.hard`; used by `lift` and `/allow`.
    pub rule: String,
    pub tier: Tier,
    pub say: LocalizedText,
    /// Index into the args; `None` if it is about the program or the whole step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arg: Option<usize>,
}

/// The judgement of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Risk {
    pub tier: Tier,
    /// The deciding rule: that of the first of the most severe reasons.
    pub rule: String,
    /// All findings, most severe first.
    pub reasons: Vec<Reason>,
    /// Its possible effects, in the order of [`Effect`], each once.
    pub effects: Vec<Effect>,
    /// True when it is an L2 that the user's own settings lifted to a question.
    #[serde(default)]
    pub lifted: bool,
}

/// Effects that require a separate look at the step.
const GRAVE: &[Effect] = &[Effect::Secret, Effect::Elevate, Effect::Irreversible, Effect::Outside];

impl Risk {
    /// Whether it may hand out credentials: to the model, or to a file that is not a place for
    /// them. A file of credentials that a tool writes stays one.
    pub fn can_expose_secrets(&self, action: &StepAction) -> bool {
        let kept = |reason: &Reason| reason.rule == "path.sensitive.write";
        let into_place = matches!(action, StepAction::Tool { .. }) && self.reasons.iter().any(kept);
        self.effects.contains(&Effect::Secret) && !into_place
    }

    /// True if one approval for several steps may include this one: at most L1, not lifted, and
    /// nothing that cannot be undone, leaves the folder or reads secrets.
    pub fn can_batch_approve(&self) -> bool {
        self.tier <= Tier::L1
            && !self.lifted
            && !self.effects.iter().any(|effect| GRAVE.contains(effect))
    }

    /// True if an approval given in advance may include this one: an option of the command line.
    /// What runs without the sandbox or changes the system is approved by itself.
    pub fn can_preapprove(&self) -> bool {
        self.tier <= Tier::L1
            && !self.lifted
            && !self.opens_sandbox()
            && !self.effects.contains(&Effect::Elevate)
    }

    /// True if a tool would change a file outside the folder: nothing but an answer to the question
    /// itself keeps it inside.
    pub fn edits_outside(&self, action: &StepAction) -> bool {
        let leaves = |reason: &Reason| reason.rule == "path.outside.write";
        matches!(action, StepAction::Tool { .. }) && self.reasons.iter().any(leaves)
    }

    /// True if it opens the sandbox: what that denied a step, or a change that it put back.
    pub fn opens_sandbox(&self) -> bool {
        let rules = [SandboxDenial::RULE, SandboxDenial::PUT_BACK, SandboxDenial::WITHOUT];
        rules.contains(&self.rule.as_str())
    }

    /// True if it asks whether a step that the sandbox denied something runs without it.
    pub fn leaves_sandbox(&self) -> bool {
        self.rule == SandboxDenial::WITHOUT
    }

    /// Takes a deliberate approval: an L2, including one that settings lifted, and what runs
    /// without the sandbox.
    pub fn is_high_risk(&self) -> bool {
        self.tier == Tier::L2 && !self.is_refused_by_mode()
            || self.lifted
            || self.runs_without_sandbox()
    }

    /// True if no sandbox confines it, since it changes the system or leaves the one it had.
    pub fn runs_without_sandbox(&self) -> bool {
        let free = self.reasons.iter().any(|reason| reason.rule == "sandbox.free");
        free || self.leaves_sandbox()
    }

    /// Only plan mode refuses it.
    pub fn is_refused_by_mode(&self) -> bool {
        let mut grave = self.reasons.iter().filter(|reason| reason.tier == Tier::L2).peekable();
        grave.peek().is_some() && grave.all(|reason| reason.rule == "mode.plan")
    }

    /// The reasons without those that repeat the sentence before them under another rule.
    pub fn distinct_reasons(&self) -> impl Iterator<Item = &Reason> {
        let mut before = None;
        self.reasons.iter().filter(move |reason| {
            let sentence = Some((&reason.say, reason.arg));
            std::mem::replace(&mut before, sentence) != sentence
        })
    }

    /// The sentence of the deciding reason.
    pub fn main_reason(&self) -> Option<&LocalizedText> {
        self.deciding_reason().map(|reason| &reason.say)
    }

    /// Of the gravest reasons the one that says most: a place is more than that a program writes,
    /// and where the program comes from is less than what it does.
    pub fn deciding_reason(&self) -> Option<&Reason> {
        let first = self.reasons.first()?;
        let weight = |reason: &&Reason| match reason.rule.split('.').next() {
            _ if self.opens_sandbox() && reason.rule == self.rule => 0,
            Some("path") => 1,
            Some("program") => 3,
            Some("sandbox") => 4,
            _ => 2,
        };
        self.reasons.iter().filter(|reason| reason.tier == first.tier).min_by_key(weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_that_says_most_comes_first() {
        let first = |rules: &[(&str, Tier)], rule: &str| {
            let reason = |(rule, tier): &(&str, Tier)| Reason {
                rule: (*rule).to_owned(),
                tier: *tier,
                say: crate::i18n::safety::PLAN_MODE.into(),
                arg: None,
            };
            let reasons: Vec<Reason> = rules.iter().map(reason).collect();
            let tier = reasons[0].tier;
            let risk =
                Risk { tier, rule: rule.into(), reasons, effects: Vec::new(), lifted: false };
            risk.deciding_reason().map(|reason| reason.rule.clone()).unwrap_or_default()
        };
        let l1 = |rules: &[&'static str]| -> Vec<(&'static str, Tier)> {
            rules.iter().map(|rule| (*rule, Tier::L1)).collect()
        };
        assert_eq!(first(&l1(&["touch", "path.outside.write"]), "touch"), "path.outside.write");
        assert_eq!(first(&l1(&["program.folder", "python3", "sandbox.work"]), ""), "python3");
        assert_eq!(
            first(&l1(&["sandbox.denied", "path.outside"]), "sandbox.denied"),
            "sandbox.denied"
        );
        let graver = [("git.reset.hard", Tier::L2), ("path.outside", Tier::L1)];
        assert_eq!(first(&graver, "git.reset.hard"), "git.reset.hard");
    }

    #[test]
    fn what_only_plan_mode_refuses_is_of_no_high_risk() {
        let reason = |rule: &str, tier| Reason {
            rule: rule.to_owned(),
            tier,
            say: crate::i18n::safety::PLAN_MODE.into(),
            arg: None,
        };
        let risk = |rules: &[(&str, Tier)]| Risk {
            tier: Tier::L2,
            rule: "mode.plan".to_owned(),
            reasons: rules.iter().map(|(rule, tier)| reason(rule, *tier)).collect(),
            effects: Vec::new(),
            lifted: false,
        };
        let planned = risk(&[("mode.plan", Tier::L2), ("mkdir", Tier::L1)]);
        assert!(planned.is_refused_by_mode() && !planned.is_high_risk());
        let grave = risk(&[("rm.root", Tier::L2), ("mode.plan", Tier::L2)]);
        assert!(!grave.is_refused_by_mode() && grave.is_high_risk());
        assert!(risk(&[]).is_high_risk());
    }
}
