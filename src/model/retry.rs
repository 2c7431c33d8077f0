//! Repeats a failed call, as long as none of its output was shown.
//!
//! A wrapper around any [`Model`]: the clients stay simple, and a scripted model can demonstrate a
//! retry as well. Each wait is announced by [`Chunk::Retrying`]. Output that was shown cannot be
//! withdrawn, so after the first visible chunk an error is passed on.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::time::sleep;

use super::{Chunk, Model, ModelError, Request, RetryAdvice};
use crate::i18n::Localize;
use crate::protocol::Dialect;

/// How often to retry, and how long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Total number of calls, including the first one.
    pub tries: u32,
    /// The first pause; each further one doubles, and a random part of up to its length is added,
    /// so that many clients do not return at the same time.
    pub first: Duration,
    /// The longest pause without a request by the server.
    pub longest: Duration,
    /// The longest pause a server can ask for.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            tries: 5,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            cap: Duration::from_secs(60),
        }
    }
}

/// A model whose temporary errors are retried.
#[derive(Clone)]
pub struct Retry {
    model: Arc<dyn Model>,
    policy: RetryPolicy,
}

impl Retry {
    pub fn new(model: Arc<dyn Model>, pace: RetryPolicy) -> Retry {
        Retry { model, policy: pace }
    }
}

impl Model for Retry {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn dialect(&self) -> Dialect {
        self.model.dialect()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let tries = Tries {
            stage: Stage::Call,
            model: Arc::clone(&self.model),
            request,
            policy: self.policy,
            pauses: pauses(self.policy),
            attempts: 1,
            stalled: false,
            has_output: false,
        };
        stream::unfold(tries, |mut tries| async move { Some((tries.next().await?, tries)) }).boxed()
    }
}

fn pauses(pace: RetryPolicy) -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(pace.first)
        .with_max_delay(pace.longest)
        .with_max_times(pace.tries.saturating_sub(1) as usize)
        .with_jitter()
        .build()
}

enum Stage {
    Call,
    Reading(BoxStream<'static, Result<Chunk, ModelError>>),
    Waiting(Duration),
    Done,
}

/// One call with all its tries.
struct Tries {
    stage: Stage,
    model: Arc<dyn Model>,
    request: Request,
    policy: RetryPolicy,
    pauses: ExponentialBackoff,
    attempts: u32,
    stalled: bool,
    /// Output was shown.
    has_output: bool,
}

impl Tries {
    async fn next(&mut self) -> Option<Result<Chunk, ModelError>> {
        loop {
            match &mut self.stage {
                Stage::Done => return None,
                Stage::Call => {
                    self.stage = Stage::Reading(self.model.stream(self.request.clone()));
                }
                Stage::Waiting(pause) => {
                    sleep(*pause).await;
                    self.stage = Stage::Call;
                }
                Stage::Reading(chunks) => {
                    return match chunks.next().await? {
                        Ok(chunk) => {
                            self.has_output |= matches!(chunk, Chunk::Text(_) | Chunk::Thought(_));
                            Some(Ok(chunk))
                        }
                        Err(error) => Some(self.on_error(error)),
                    };
                }
            }
        }
    }

    /// Starts a pause, or ends with the error.
    fn on_error(&mut self, error: ModelError) -> Result<Chunk, ModelError> {
        let (pause, of) = match error.retry_advice() {
            RetryAdvice::Soon(asked) if !self.has_output => {
                let own = self.pauses.next();
                (
                    own.map(|own| asked.map_or(own, |asked| asked.min(self.policy.cap))),
                    self.policy.tries,
                )
            }
            RetryAdvice::Once if !self.has_output && !self.stalled => {
                self.stalled = true;
                (self.pauses.next(), self.attempts + 1)
            }
            RetryAdvice::Soon(_) | RetryAdvice::Once | RetryAdvice::Never => (None, 0),
        };
        let Some(pause) = pause else {
            self.stage = Stage::Done;
            return Err(error);
        };
        self.attempts += 1;
        self.stage = Stage::Waiting(pause);
        let wait_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        Ok(Chunk::Retrying { attempt: self.attempts, of, wait_ms, why: error.localized() })
    }
}

impl std::fmt::Debug for Retry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Retry").field("model", &self.name()).field("pace", &self.policy).finish()
    }
}
