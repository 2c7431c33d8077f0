//! Whether the system has room for the program: descriptors, threads, memory. Asked
//! before anything starts, because running out half way leaves no place to say so.

use std::io;
use std::sync::Mutex;
use std::thread;

use rustix::process::{Resource, getrlimit};

use crate::disk::used_up;
use crate::words::{Word, exec as words};

/// How many descriptors a session needs at most without a step.
const DESCRIPTORS: u32 = 31;

/// And threads, and bytes beside their stacks.
const THREADS: usize = 10;
const MEMORY: usize = 48 * 1024 * 1024;

/// Below so many processes the limit may be near.
const FEW: u64 = 4096;

/// What there is too little of, if there is.
pub fn lacking() -> Option<Word> {
    if rustix::io::fcntl_dupfd_cloexec(io::stdin(), DESCRIPTORS.cast_signed()).is_err()
        && rustix::io::fcntl_dupfd_cloexec(io::stdin(), 0).is_ok()
    {
        return Some(words::NO_DESCRIPTORS);
    }
    let limit = |resource| getrlimit(resource).current;
    let near = limit(Resource::As).is_some() || limit(Resource::Nproc).is_some_and(|n| n < FEW);
    if !near {
        return None;
    }
    if Vec::<u8>::new().try_reserve_exact(MEMORY).is_err() {
        return Some(words::NO_MEMORY);
    }
    threads().err().map(|error| used_up(&error).unwrap_or(words::NO_PROCESSES))
}

/// Starts as many threads as are needed, all at once, and lets them end.
fn threads() -> io::Result<()> {
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
