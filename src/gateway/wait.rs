//! Waiting for what may not be under way.

use std::time::Instant;

use futures_util::future::BoxFuture;
use tokio::time::sleep_until;

/// The end of what is under way; never, if nothing is.
pub async fn finished<T>(running: &mut Option<BoxFuture<'static, T>>) -> T {
    match running {
        Some(future) => {
            let done = future.await;
            *running = None;
            done
        }
        None => std::future::pending().await,
    }
}

/// This time; never, if there is none.
pub async fn until(wake: Option<Instant>) {
    match wake {
        Some(wake) => sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}
