//! Replaces the mark in a limit on systems without such a limit.

pub(super) fn fresh() -> u64 {
    fastrand::u64(..)
}
