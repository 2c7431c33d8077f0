//! Stands in for the mark in a limit where the system has no such limit.

pub(in super::super) fn fresh() -> u64 {
    fastrand::u64(..)
}

pub(in super::super) fn fasten(_child: u32, _mark: u64) {}
