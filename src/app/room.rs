//! Checks whether the system has enough resources for the program: descriptors, threads, memory.
//! Done before anything starts, because running out later could leave no way to report it.

use std::io;
use std::sync::Mutex;
use std::thread;

use rustix::process::{Resource, getrlimit};

use avocet_core::i18n::{Phrase, exec as phrases};
use avocet_core::private_dir::exhausted_resource;

/// The most descriptors that a session needs without a step.
const DESCRIPTORS: u32 = 31;

/// The same for threads, and bytes besides what they reserve for themselves.
const THREADS: usize = 10;
const MEMORY: usize = 48 * 1024 * 1024;
const MEMORY_OF_THREADS: usize = 192 * 1024 * 1024;

/// Below this number of processes the limit may be near.
const FEW: u64 = 4096;

/// The resource that is lacking, if one is.
pub fn missing_resource() -> Option<Phrase> {
    if rustix::io::fcntl_dupfd_cloexec(io::stdin(), DESCRIPTORS.cast_signed()).is_err()
        && rustix::io::fcntl_dupfd_cloexec(io::stdin(), 0).is_ok()
    {
        return Some(phrases::NO_DESCRIPTORS);
    }
    let limit = |resource| getrlimit(resource).current;
    let near = limit(Resource::As).is_some() || limit(Resource::Nproc).is_some_and(|n| n < FEW);
    if !near {
        return None;
    }
    let lacks = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err();
    // Each thread reserves address space of its own for what it allocates.
    if lacks(MEMORY + MEMORY_OF_THREADS) {
        return Some(phrases::NO_MEMORY);
    }
    try_threads().err().map(|error| exhausted_resource(&error).unwrap_or(phrases::NO_PROCESSES))
}

/// Starts as many threads as needed, all at once, and lets them end.
fn try_threads() -> io::Result<()> {
    let gate = Mutex::new(());
    let closed = gate.lock();
    thread::scope(|scope| {
        let wait = || drop(gate.lock());
        let start = |_| thread::Builder::new().spawn_scoped(scope, wait).map(drop);
        let started: io::Result<()> = (0..THREADS).try_for_each(start);
        drop(closed);
        started
    })
}
