//! A step that waits for trust in its folder: its question offers that trust.

use crate::protocol::TrustOffer;
use crate::safety::{Judged, Scene, UNTRUSTED};

/// What the question offers, where trust would change the judgement. What lies in the
/// folder is added by whoever puts the question.
pub fn offer(judged: &Judged, scene: Scene<'_>) -> Option<Box<TrustOffer>> {
    let folder = scene.place.cwd.display().to_string();
    (!scene.place.trusted && waits(judged))
        .then(|| Box::new(TrustOffer { folder, ..TrustOffer::default() }))
}

/// Whether the trust it waited for is there now.
pub fn gained(judged: &Judged, scene: Scene<'_>) -> bool {
    scene.place.trusted && waits(judged)
}

fn waits(judged: &Judged) -> bool {
    judged.risk.reasons.iter().any(|reason| reason.rule == UNTRUSTED)
}
