//! Reads what was written while there was no connection, place after place, beside the connection.
//! What is wrong for a moment only is waited for: until all places are read, the position of a
//! service stays before what was missed.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::connection::ReconnectPauses;
use super::platform::PlatformError;

/// The longest wait that a service may ask for.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// A reading that goes on. Dropped, it ends.
#[derive(Debug)]
pub struct CatchUp<P> {
    found: mpsc::Receiver<(P, Vec<Value>)>,
    _task: AbortOnDropHandle<()>,
}

/// Makes a call again until the service answers it, or refuses it for good.
pub async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, PlatformError>
where
    F: Future<Output = Result<T, PlatformError>>,
{
    let mut pauses = ReconnectPauses::default();
    loop {
        match call().await {
            Err(PlatformError::RateLimited { after }) => sleep(after.min(MAX_WAIT)).await,
            Err(PlatformError::Network(_) | PlatformError::Unauthorized) => {
                sleep(pauses.next()).await;
            }
            result => return result,
        }
    }
}

/// The messages of the next place of what is read; never, if nothing is.
pub async fn next_missed<P: Clone + Send + 'static>(
    reading: Option<&mut CatchUp<P>>,
) -> Option<(P, Vec<Value>)> {
    match reading {
        Some(reading) => reading.next().await,
        None => std::future::pending().await,
    }
}

impl<P: Clone + Send + 'static> CatchUp<P> {
    /// Starts to read the messages of these places. `read` waits for what is wrong for a moment
    /// only, at each of its calls: see [`patiently`].
    pub fn start<F>(places: Vec<P>, read: impl Fn(P) -> F + Send + 'static) -> CatchUp<P>
    where
        F: Future<Output = Result<Vec<Value>, PlatformError>> + Send,
    {
        let (sender, found) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            for place in places {
                let messages = read(place.clone()).await.unwrap_or_else(|error| {
                    // The bot is not there any more, or may not read there.
                    tracing::warn!(%error, "what was written meanwhile is not read");
                    Vec::new()
                });
                if sender.send((place, messages)).await.is_err() {
                    return;
                }
            }
        });
        CatchUp { found, _task: AbortOnDropHandle::new(task) }
    }

    /// The messages of the next place; `None` after the last one.
    pub async fn next(&mut self) -> Option<(P, Vec<Value>)> {
        self.found.recv().await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_place_is_read_again_until_the_service_gives_it_and_one_that_is_closed_is_left() {
        let limited = |_| Err(PlatformError::RateLimited { after: Duration::ZERO });
        let down = PlatformError::Network("down".to_owned());
        let mut answers: Vec<Result<Vec<Value>, PlatformError>> = Vec::new();
        answers.extend((0..30).map(limited));
        answers.extend([
            Err(down),
            Ok(vec![json!("a")]),
            Err(PlatformError::Gone),
            Ok(vec![json!("c")]),
        ]);
        let answers = Mutex::new(answers.into_iter());
        let answers = Arc::new(answers);
        let read = move |_| {
            let answers = Arc::clone(&answers);
            async move {
                patiently(|| std::future::ready(answers.lock().unwrap().next().unwrap())).await
            }
        };
        let mut reading = CatchUp::start(vec![1, 2, 3], read);
        let mut found = Vec::new();
        while let Some(one) = reading.next().await {
            found.push(one);
        }
        assert_eq!(found, [(1, vec![json!("a")]), (2, vec![]), (3, vec![json!("c")])]);
    }
}
