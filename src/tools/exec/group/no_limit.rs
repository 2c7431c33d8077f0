//! Stands in for the mark in a limit where the system has no such limit.

pub(super) fn fresh() -> u64 {
    fastrand::u64(..)
}
