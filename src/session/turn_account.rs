//! What a running turn spends.

use super::shared_queues::Spending;
use crate::agent::turn::StepCounter;
use avocet_core::protocol::Usage;

/// What a turn spends beside the answers of its model, and what it may do.
#[derive(Debug, Default)]
pub struct TurnAccount {
    /// The tokens used by summaries, scripts and subagents since the last answer.
    pub extra: Usage,
    /// All of the turn so far.
    pub spent: Usage,
    pub max_steps: Option<usize>,
    /// The steps that count to that, also those of its subagents.
    pub step_counter: StepCounter,
    /// What the session had used when it began.
    pub before: Usage,
    /// What it heard last of all requests since then.
    heard: Usage,
}

impl TurnAccount {
    pub fn start(before: Usage) -> TurnAccount {
        TurnAccount { before, ..TurnAccount::default() }
    }

    /// Counts a request for something other than an answer.
    pub fn add_extra(&mut self, usage: Usage, spending: &Spending) {
        spending.add(usage);
        self.extra = self.extra.plus(usage);
    }

    /// What all requests since it began have used, if that is more than its own, and news.
    pub fn unheard(&mut self, total: Usage) -> Usage {
        let spent = total.since(self.before);
        let is_news = spent.since(self.spent) != Usage::default() && spent != self.heard;
        if is_news {
            self.heard = spent;
        }
        if is_news { spent } else { Usage::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_spend_meanwhile_is_told_once_and_the_turn_s_own_never() {
        let spending = Spending::default();
        spending.add(Usage::counted(100, 0));
        let mut account = TurnAccount::start(spending.total());
        assert_eq!(account.unheard(spending.total()), Usage::default(), "before the turn");

        // A request of its own, which its end counts.
        spending.add(Usage::counted(10, 0));
        account.spent = account.spent.plus(Usage::counted(10, 0));
        assert_eq!(account.unheard(spending.total()), Usage::default());

        // An agent that still runs.
        spending.add(Usage::counted(7, 0));
        assert_eq!(account.unheard(spending.total()), Usage::counted(17, 0));
        assert_eq!(account.unheard(spending.total()), Usage::default(), "no news");
        account.add_extra(Usage::counted(3, 0), &spending);
        assert_eq!(account.unheard(spending.total()), Usage::counted(20, 0));
        assert_eq!(account.extra, Usage::counted(3, 0));
    }
}
