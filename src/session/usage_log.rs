//! What the requests of a session used, and what they may still use.

use std::collections::VecDeque;

use avocet_core::i18n::{Localize, session as phrases};
use avocet_core::protocol::budget::{Budget, Spent};
use avocet_core::protocol::{Page, PageRow, SessionInfo, Usage};

/// The number of turns whose token counts are kept for `/usage`.
const COSTS: usize = 20;

/// What the latest turns of a conversation used, and this run over all its conversations.
#[derive(Debug, Default)]
pub struct UsageLog {
    /// By number, oldest first.
    turns: VecDeque<(u64, Usage)>,
    run: Usage,
}

impl UsageLog {
    pub fn add_turn(&mut self, turn: u64, usage: Usage) {
        self.turns.push_back((turn, usage));
        if self.turns.len() > COSTS {
            self.turns.pop_front();
        }
    }

    /// Counts it to the session and to the run.
    pub fn add(&mut self, usage: Usage, info: &mut SessionInfo) {
        info.usage = info.usage.plus(usage);
        self.run = self.run.plus(usage);
    }

    /// Another conversation begins.
    pub fn clear(&mut self) {
        self.turns.clear();
    }

    /// What may be spent from now on. `total` is what this run used with what still runs.
    pub fn budget(&self, total: Usage, info: &SessionInfo) -> Budget {
        let running = total.since(self.run);
        let session = info.usage.plus(running);
        let run = self.run.plus(running);
        let mut limits = info.spend_limits;
        let mut spent = Spent { session, run, ..Spent::default() };
        if let Some(goal) = info.goal.as_deref().filter(|goal| goal.is_active()) {
            limits.goal.cost = goal.max_cost;
            spent.goal.cost = goal.cost(session);
        }
        Budget::new(limits, spent)
    }

    /// What the latest turns used, what the session did, and this run where that is not the same.
    pub fn page(&self, all: Usage) -> Page {
        let row = |(turn, usage): &(u64, Usage)| {
            PageRow::pair(phrases::USAGE_TURN.with("n", *turn), usage.localized())
        };
        let spent = |(_, usage): &&(u64, Usage)| usage.input_tokens + usage.output_tokens > 0;
        let mut rows: Vec<PageRow> = self.turns.iter().filter(spent).map(row).collect();
        rows.push(PageRow::pair(phrases::USAGE_ALL, all.localized()));
        if self.run != all && self.run != Usage::default() {
            rows.push(PageRow::pair(phrases::USAGE_RUN, self.run.localized()));
        }
        Page { title: phrases::USAGE.into(), rows }
    }
}
