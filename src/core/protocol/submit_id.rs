//! What belongs to what: ids that a frontend gives to what it sends, and that come back in the
//! events which answer it.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Identifies one submission of a session, restarts included: [`Event`](super::Event)s repeat it.
/// A number that JSON carries without loss (below 2^53).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct SubmitId(pub u64);

/// The ids that one sender gives, in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmitIds {
    next: SubmitId,
}

/// Ids of one millisecond: a sender that starts later never gives an id of an earlier one again.
const IDS_PER_MS: u64 = 1 << 10;

impl SubmitIds {
    /// For a sender that starts at that time.
    pub fn starting_at(time: SystemTime) -> SubmitIds {
        let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = u64::try_from(since_1970.as_millis()).unwrap_or_default();
        SubmitIds { next: SubmitId(now_ms.saturating_mul(IDS_PER_MS)) }
    }

    pub fn next_id(&mut self) -> SubmitId {
        let SubmitId(id) = self.next;
        self.next = SubmitId(id + 1);
        SubmitId(id)
    }
}

/// A message that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedMessage {
    pub id: SubmitId,
    pub text: String,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_sender_that_starts_later_gives_other_ids() {
        let at = |ms| UNIX_EPOCH + Duration::from_millis(ms);
        let mut earlier = SubmitIds::starting_at(at(1_800_000_000_000));
        let mut later = SubmitIds::starting_at(at(1_800_000_000_001));
        let given: Vec<SubmitId> = (0..1_000).map(|_| earlier.next_id()).collect();
        assert!(given.iter().all(|id| *id < later.next_id()));
        assert!(
            SubmitIds::starting_at(at(4_102_444_800_000)).next_id().0 < 1 << 53,
            "exact in JSON"
        );
    }
}
