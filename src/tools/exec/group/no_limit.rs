//! Stands in for the mark in a limit where the system has no such limit.

use std::sync::Mutex;

pub(in super::super) fn fresh() -> u64 {
    fastrand::u64(..)
}

pub(in super::super) fn with<T>(_turn: &Mutex<()>, _mark: u64, start: impl FnOnce() -> T) -> T {
    start()
}

pub(in super::super) fn fasten(_child: u32, _mark: u64) {}

pub(in super::super) fn clear(_child: u32) {}
