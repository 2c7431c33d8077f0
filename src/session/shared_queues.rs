//! What the turns of a session share: the ids of its questions, whose turn it is to ask, and the
//! places for subagents, and what they spend.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::worktree_access::WorktreeAccess;
use avocet_core::protocol::{AskId, Money, Usage};

/// The subagents that run at once where no setting says how many.
const SUBAGENTS: usize = 4;
/// The most that start in the background between two messages of the user.
const BACKGROUND: usize = 20;

/// What all requests of a session have used since the program started, also those of turns and
/// subagents that still run.
#[derive(Clone, Debug, Default)]
pub struct Spending {
    total: UsageCounter,
    lifted: UsageCounter,
}

#[derive(Clone, Debug, Default)]
struct UsageCounter {
    tokens: Arc<AtomicU64>,
    micros: Arc<AtomicU64>,
}

impl Spending {
    pub fn add(&self, usage: Usage) {
        self.total.tokens.fetch_add(usage.total_tokens(), Ordering::Relaxed);
        self.total.micros.fetch_add(usage.cost.0, Ordering::Relaxed);
    }

    pub fn total(&self) -> Usage {
        self.total.usage()
    }

    /// The user lets a turn go on beyond what it may spend: that counts for all that it began.
    pub fn lift(&self) {
        let usage = self.total();
        self.lifted.tokens.store(usage.total_tokens(), Ordering::Relaxed);
        self.lifted.micros.store(usage.cost.0, Ordering::Relaxed);
    }

    /// What was used by the time of the last such answer.
    pub fn lifted(&self) -> Usage {
        self.lifted.usage()
    }
}

impl UsageCounter {
    fn usage(&self) -> Usage {
        let cost = Money(self.micros.load(Ordering::Relaxed));
        Usage { cost, ..Usage::counted(self.tokens.load(Ordering::Relaxed), 0) }
    }
}

#[derive(Clone, Debug)]
pub struct SharedQueues {
    next_ask: Arc<AtomicU64>,
    asking: Arc<Semaphore>,
    subagents: Arc<Semaphore>,
    /// The places in it.
    max_subagents: Arc<AtomicUsize>,
    /// The subagents that were started in the background since the user's last message.
    background: Arc<AtomicUsize>,
    pub spending: Spending,
    /// How subagents get worktrees.
    pub worktrees: Option<WorktreeAccess>,
}

impl SharedQueues {
    /// 0: the usual number of subagents.
    pub fn new(subagents: usize) -> SharedQueues {
        let subagents = if subagents == 0 { SUBAGENTS } else { subagents };
        SharedQueues {
            next_ask: Arc::new(AtomicU64::new(1)),
            asking: Arc::new(Semaphore::new(1)),
            subagents: Arc::new(Semaphore::new(subagents)),
            max_subagents: Arc::new(AtomicUsize::new(subagents)),
            background: Arc::default(),
            spending: Spending::default(),
            worktrees: None,
        }
    }

    /// Counts one more subagent in the background. False: there were too many without a word of the
    /// user, whose results would begin turns without end.
    pub fn may_start_in_background(&self) -> bool {
        self.background.fetch_add(1, Ordering::Relaxed) < BACKGROUND
    }

    /// The user sent a message.
    pub fn reset_background(&self) {
        self.background.store(0, Ordering::Relaxed);
    }

    #[must_use]
    pub fn with_worktrees(self, worktrees: Option<WorktreeAccess>) -> SharedQueues {
        SharedQueues { worktrees, ..self }
    }

    /// Those that run already go on.
    pub fn set_subagents(&self, new: usize) {
        let before = self.max_subagents.load(Ordering::Relaxed);
        if new >= before {
            self.subagents.add_permits(new - before);
            self.max_subagents.store(new, Ordering::Relaxed);
        } else {
            let removed = self.subagents.forget_permits(before - new);
            self.max_subagents.store(before - removed, Ordering::Relaxed);
        }
    }

    pub fn next_ask_id(&self) -> AskId {
        AskId(self.next_ask.fetch_add(1, Ordering::Relaxed))
    }

    /// The ids below this one are taken.
    pub fn skip_ask_ids(&self, next: u64) {
        self.next_ask.fetch_max(next, Ordering::Relaxed);
    }

    /// Waits until no other question is open; `None`: the turn was cancelled. The next one waits
    /// until what is returned is dropped.
    pub async fn wait_to_ask(&self, cancel: &CancellationToken) -> Option<OwnedSemaphorePermit> {
        cancel.run_until_cancelled(Arc::clone(&self.asking).acquire_owned()).await?.ok()
    }

    /// The same without waiting; `None`: a question is open.
    pub fn try_to_ask(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.asking).try_acquire_owned().ok()
    }

    /// Waits until one more subagent may run; `None`: it was cancelled.
    pub async fn wait_to_run(&self, cancel: &CancellationToken) -> Option<OwnedSemaphorePermit> {
        cancel.run_until_cancelled(Arc::clone(&self.subagents).acquire_owned()).await?.ok()
    }
}
