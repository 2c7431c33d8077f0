//! Repeats a failed call.
//!
//! A wrapper around any [`Model`]: the clients stay simple. Each wait is announced by
//! [`Chunk::Retrying`]. An answer that breaks off after its first word is asked for again only if
//! the caller can take back what it showed: then [`Chunk::Restart`] comes before the new one, and
//! not before that has begun. A server that restarts, or loads a model, is asked until it is ready.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{
    Chunk, ConnectError, Model, ModelError, ModelReply, Request, RetryAdvice, ServerFacts,
};
use avocet_core::i18n::Localize;
use avocet_core::protocol::{Message, Role, Truncation, Usage};

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
    /// The pause between two questions to a server that is not ready.
    pub poll: Duration,
    /// How long a server that broke off may refuse connections, because it restarts.
    pub gone: Duration,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            tries: 5,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            cap: Duration::from_secs(60),
            poll: Duration::from_secs(1),
            gone: Duration::from_secs(30),
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
    pub fn new(model: Arc<dyn Model>, policy: RetryPolicy) -> Retry {
        Retry { model, policy }
    }
}

impl Model for Retry {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn facts(&self) -> Option<&ServerFacts> {
        self.model.facts()
    }

    fn search_host(&self) -> Option<String> {
        self.model.search_host()
    }

    fn enforced_window(&self) -> Option<u64> {
        self.model.enforced_window()
    }

    fn refused_params(&self) -> Vec<&'static str> {
        self.model.refused_params()
    }

    fn learn(&self) -> BoxFuture<'static, ()> {
        self.model.learn()
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
            reply: ModelReply::default(),
            is_unended: false,
            pause: ServerPause::default(),
            shown: Shown::Nothing,
            held: None,
            dropped: false,
            until: None,
        };
        stream::unfold(tries, |mut tries| async move { Some((tries.next().await?, tries)) }).boxed()
    }
}

fn pauses(policy: RetryPolicy) -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(policy.first)
        .with_max_delay(policy.longest)
        .with_max_times(policy.tries.saturating_sub(1) as usize)
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
    /// The reply of this try.
    reply: ModelReply,
    /// It ended without an end from the server, as the try before it did.
    is_unended: bool,
    pause: ServerPause,
    shown: Shown,
    /// The first chunk of a new answer, while its restart is passed on.
    held: Option<Chunk>,
    /// An earlier try broke off.
    dropped: bool,
    /// How long a server that is not ready is asked.
    until: Option<Instant>,
}

/// How often a server may pause its answer.
const PAUSES: u32 = 16;

/// A server that paused its answer gets it back, and goes on.
#[derive(Debug, Default)]
struct ServerPause {
    is_asked: bool,
    count: u32,
    /// What the parts before this one cost.
    spent: Usage,
}

/// What of earlier tries the caller has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    /// A part of the answer that is being read.
    Current,
    /// A part of an answer that broke off.
    Old,
}

impl Tries {
    async fn next(&mut self) -> Option<Result<Chunk, ModelError>> {
        if let Some(chunk) = self.held.take() {
            return Some(Ok(self.pass(chunk)));
        }
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
                Stage::Reading(chunks) => match chunks.next().await? {
                    Ok(Chunk::Paused) => self.pause.is_asked = self.pause.count < PAUSES,
                    Ok(Chunk::Finished(_)) if self.pause.is_asked => self.go_on(),
                    Ok(chunk) if self.shown == Shown::Old => {
                        self.held = Some(chunk);
                        self.shown = Shown::Current;
                        return Some(Ok(Chunk::Restart));
                    }
                    Ok(chunk) => return Some(Ok(self.pass(chunk))),
                    Err(error) => {
                        if let Some(item) = self.on_error(error) {
                            return Some(item);
                        }
                    }
                },
            }
        }
    }

    fn pass(&mut self, chunk: Chunk) -> Chunk {
        let chunk = match chunk {
            Chunk::Usage(usage) => Chunk::Usage(usage.plus(self.pause.spent)),
            chunk => chunk,
        };
        self.reply.push(chunk.clone());
        self.shown = Shown::Current;
        chunk
    }

    /// Gives the server its answer back.
    fn go_on(&mut self) {
        let ModelReply { blocks, usage, .. } = std::mem::take(&mut self.reply);
        self.request.messages.push(Message { role: Role::Assistant, blocks });
        self.pause = ServerPause { is_asked: false, count: self.pause.count + 1, spent: usage };
        self.shown = Shown::Nothing;
        self.stage = Stage::Call;
    }

    /// Starts a pause, or ends with the error. Further questions to a server that is not ready are not
    /// announced.
    fn on_error(&mut self, error: ModelError) -> Option<Result<Chunk, ModelError>> {
        let has_output = !self.reply.is_empty();
        // What came before a pause of the server cannot be replaced.
        let restarts = self.request.restarts && self.pause.count == 0;
        let text = self.reply.text();
        if restarts && error.is_drop() && is_whole(&text) {
            self.stage = Stage::Done;
            return Some(Ok(Chunk::Finished(Some(Truncation::Broken))));
        }
        // Some servers never say that a text ends.
        let is_unended = matches!(error, ModelError::Unended { .. })
            && self.reply.calls().next().is_none()
            && !text.trim_start().is_empty()
            && !text.trim_start().starts_with(['{', '`']);
        if is_unended && std::mem::replace(&mut self.is_unended, is_unended) {
            self.stage = Stage::Done;
            return Some(Ok(Chunk::Finished(None)));
        }
        self.is_unended = is_unended;
        let is_gone = matches!(&error, ModelError::Unreachable { why: ConnectError::Refused, .. });
        self.dropped |= error.is_drop();
        let advice = match error.retry_advice() {
            _ if has_output && !restarts => RetryAdvice::Never,
            RetryAdvice::Never if is_gone && self.dropped => RetryAdvice::Until(self.policy.gone),
            advice => advice,
        };
        let was_waiting = self.until.is_some();
        let (pause, of) = self.pause(advice);
        let Some(pause) = pause else {
            self.stage = Stage::Done;
            return Some(Err(error));
        };
        self.stage = Stage::Waiting(pause);
        if restarts && self.shown == Shown::Current {
            self.shown = Shown::Old;
        }
        self.reply = ModelReply::default();
        if was_waiting && self.until.is_some() {
            return None;
        }
        self.attempts += 1;
        let wait_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let (attempt, of) = (self.attempts, of.max(self.attempts));
        Some(Ok(Chunk::Retrying { attempt, of, wait_ms, why: error.localized() }))
    }

    /// The pause before the next try, if there is one, and the number of tries.
    fn pause(&mut self, advice: RetryAdvice) -> (Option<Duration>, u32) {
        if let RetryAdvice::Until(limit) = advice {
            let until = *self.until.get_or_insert_with(|| Instant::now() + limit);
            return ((Instant::now() < until).then_some(self.policy.poll), 0);
        }
        self.until = None;
        match advice {
            // No user waits that long; the error says when to come back.
            RetryAdvice::Soon(Some(asked)) if asked > self.policy.cap => (None, 0),
            RetryAdvice::Soon(asked) => {
                let own = self.pauses.next();
                let pause = own.map(|own| asked.unwrap_or(own));
                (pause, self.policy.tries)
            }
            RetryAdvice::Once if !std::mem::replace(&mut self.stalled, true) => {
                (self.pauses.next(), self.attempts + 1)
            }
            _ => (None, 0),
        }
    }
}

/// A JSON object that is closed needs no end from the server.
fn is_whole(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && serde_json::from_str::<Value>(text).is_ok()
}

impl std::fmt::Debug for Retry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Retry").field("model", &self.name()).field("pace", &self.policy).finish()
    }
}
