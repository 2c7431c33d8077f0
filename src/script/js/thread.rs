//! The thread that an engine computes on when code may not end as soon as it is interrupted.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::{io, thread};

use super::engine_core::EngineCore;
use super::handoff::{EngineRequest, ShortLook};

/// Stack of the thread; the engine's own limit is far lower.
const THREAD_STACK: usize = 8 * 1024 * 1024;

/// Starts the thread, which ends when the last sender is dropped.
pub(super) fn start(core: &Arc<Mutex<EngineCore>>) -> io::Result<mpsc::Sender<EngineRequest>> {
    let (requests, inbox) = mpsc::channel();
    let core = Arc::clone(core);
    let work = move || {
        let short = ShortLook::default();
        let next = || short.find(|| inbox.try_recv().ok()).or_else(|| inbox.recv().ok());
        while let Some(request) = next() {
            core.lock().unwrap_or_else(PoisonError::into_inner).serve(request);
        }
    };
    thread::Builder::new().name("script".to_owned()).stack_size(THREAD_STACK).spawn(work)?;
    Ok(requests)
}
