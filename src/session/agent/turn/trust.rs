//! Offers trust in the folder when a step needs it.

use avocet_core::protocol::TrustOffer;
use avocet_safety::{Judgement, PolicyContext, UNTRUSTED};

/// The offer in the question, if trust would change the judgement. The caller adds the contents of
/// the folder.
pub fn offer(judged: &Judgement, cx: PolicyContext<'_>) -> Option<Box<TrustOffer>> {
    let folder = cx.place.cwd.display().to_string();
    (!cx.place.trusted && needs_trust(judged))
        .then(|| Box::new(TrustOffer { folder, ..TrustOffer::default() }))
}

/// Whether the required trust has been given.
pub fn is_given(judged: &Judgement, cx: PolicyContext<'_>) -> bool {
    cx.place.trusted && needs_trust(judged)
}

fn needs_trust(judged: &Judgement) -> bool {
    judged.risk.reasons.iter().any(|reason| reason.rule == UNTRUSTED)
}
