//! Replaces the mark in a limit on systems without such a limit.

pub(super) fn new_mark() -> u64 {
    fastrand::u64(..)
}
