//! A goal that a session works towards over several turns.

use serde::{Deserialize, Serialize};

use super::{Money, Usage};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    pub text: String,
    /// The shell line that succeeds once the goal is met; `None`: the model judges it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Money>,
    /// The turns that worked towards it.
    #[serde(default)]
    pub turns: u64,
    /// What the session had cost before it.
    #[serde(default)]
    pub cost_before: Money,
    #[serde(default)]
    pub is_paused: bool,
}

impl Goal {
    /// What it has cost so far, given what the session used.
    pub fn cost(&self, usage: Usage) -> Money {
        Money(usage.cost.0.saturating_sub(self.cost_before.0))
    }

    pub fn is_spent(&self, usage: Usage) -> bool {
        self.max_cost.is_some_and(|most| self.cost(usage) >= most)
    }

    pub fn is_active(&self) -> bool {
        !self.is_paused
    }
}

/// What the user wants of the goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalRequest {
    Show,
    Set {
        text: String,
        until: Option<String>,
        max_cost: Option<Money>,
    },
    /// Goes on with a goal that is paused.
    Resume,
    Clear,
}
