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

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::protocol::{Goal, Money};

    fn used(tokens: u64) -> Usage {
        Usage::counted(tokens, 0)
    }

    #[test]
    fn what_still_runs_counts_to_the_session_and_to_the_run() {
        let mut log = UsageLog::default();
        let mut info = SessionInfo::default();
        info.spend_limits.session.tokens = Some(100);
        log.add(used(40), &mut info);
        assert_eq!(info.usage, used(40));
        assert_eq!(log.budget(used(90), &info).stop_reason(Usage::default()), None);
        assert!(log.budget(used(100), &info).stop_reason(Usage::default()).is_some());
        info.usage = Usage::default();
        let budget = log.budget(used(100), &info);
        assert_eq!(budget.stop_reason(Usage::default()), None, "60 of another conversation");
    }

    #[test]
    fn a_goal_limits_the_cost_only_while_it_is_worked_on() {
        let log = UsageLog::default();
        let mut info = SessionInfo::default();
        let goal = Goal { max_cost: Some(Money(5)), ..Goal::default() };
        let spent = Usage { cost: Money(5), ..Usage::default() };
        info.goal = Some(Box::new(goal.clone()));
        assert!(log.budget(spent, &info).stop_reason(Usage::default()).is_some());
        info.goal = Some(Box::new(Goal { is_paused: true, ..goal }));
        assert_eq!(log.budget(spent, &info).stop_reason(Usage::default()), None);
    }

    #[test]
    fn the_page_lists_the_turns_of_this_conversation_and_the_run_if_it_used_more() {
        let mut log = UsageLog::default();
        let mut info = SessionInfo::default();
        log.add_turn(1, used(40));
        log.add_turn(2, Usage::default());
        log.add(used(40), &mut info);
        assert_eq!(log.page(info.usage).rows.len(), 2, "a turn and the session");
        log.clear();
        assert_eq!(log.page(Usage::default()).rows.len(), 2, "the session and the run");
        for turn in 0..30 {
            log.add_turn(turn, used(1));
        }
        assert_eq!(log.page(Usage::default()).rows.len(), COSTS + 2);
    }
}
