//! What can go wrong with a model, each with what to do about it.

use crate::words::{Say, Spoken};

/// Placeholder until the faults are written out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub Say);

impl Spoken for ModelError {
    fn say(&self) -> Say {
        self.0.clone()
    }
}
