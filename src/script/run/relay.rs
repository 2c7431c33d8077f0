//! Shares one host among several scripts that run concurrently: each sends its requests through a
//! [`Relay`], and the run that started them answers, one request after the other.

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::super::host::{AnswerPart, ModelCall, PackKey, ScriptEvent, ScriptHost};
use super::ScriptRun;
use crate::protocol::StepAction;
use crate::words::{LocalizedText, script_run as words};

type Parts = BoxStream<'static, Result<AnswerPart, LocalizedText>>;
type Found = Result<Option<Value>, LocalizedText>;

/// A request to the host, and where the answer goes.
pub enum HostRequest {
    Model(Box<ModelCall>, oneshot::Sender<Parts>),
    Told(ScriptEvent),
    Confirm(LocalizedText, oneshot::Sender<bool>),
    Step(StepAction, oneshot::Sender<Result<String, LocalizedText>>),
    Knowledge(PackKey, oneshot::Sender<Found>),
    Keep(PackKey, Option<Value>, oneshot::Sender<Found>),
}

/// A handle to a host that others use as well.
#[derive(Clone)]
pub struct Relay {
    to: mpsc::UnboundedSender<HostRequest>,
}

impl Relay {
    pub fn new() -> (Relay, mpsc::UnboundedReceiver<HostRequest>) {
        let (to, asked) = mpsc::unbounded_channel();
        (Relay { to }, asked)
    }

    /// Sends a request; `None` if the other end is gone.
    fn ask<T: Send + 'static>(
        &self,
        asked: impl FnOnce(oneshot::Sender<T>) -> HostRequest,
    ) -> BoxFuture<'static, Option<T>> {
        let (give, take) = oneshot::channel();
        // If the other end is gone the answer is dropped, which is noticed below.
        let _ = self.to.send(asked(give));
        take.map(Result::ok).boxed()
    }
}

impl ScriptHost for Relay {
    fn model(&mut self, call: ModelCall) -> Parts {
        let answer = self.ask(|give| HostRequest::Model(Box::new(call), give));
        answer
            .map(|parts| parts.unwrap_or_else(|| stream::empty().boxed()))
            .flatten_stream()
            .boxed()
    }

    fn tell(&mut self, told: ScriptEvent) {
        let _ = self.to.send(HostRequest::Told(told));
    }

    fn confirm(&mut self, question: LocalizedText) -> BoxFuture<'_, bool> {
        self.ask(|give| HostRequest::Confirm(question, give)).map(|said| said == Some(true)).boxed()
    }

    fn step(&mut self, work: StepAction) -> BoxFuture<'_, Result<String, LocalizedText>> {
        let answer = self.ask(|give| HostRequest::Step(work, give));
        answer.map(|came| came.unwrap_or_else(|| Err(words::STEP_BROKEN.into()))).boxed()
    }

    fn knowledge(&mut self, key: PackKey) -> BoxFuture<'_, Found> {
        self.ask(|give| HostRequest::Knowledge(key, give))
            .map(|came| came.unwrap_or(Ok(None)))
            .boxed()
    }

    fn keep(&mut self, key: PackKey, value: Option<Value>) -> BoxFuture<'_, Found> {
        let answer = self.ask(|give| HostRequest::Keep(key, value, give));
        answer.map(|came| came.unwrap_or_else(|| Err(words::NO_STORE.into()))).boxed()
    }
}

impl ScriptRun {
    /// Answers one request of a concurrent script. One that is gone needs no answer.
    pub async fn serve(&mut self, asked: HostRequest) {
        match asked {
            HostRequest::Model(call, give) => drop(give.send(self.host.model(*call))),
            HostRequest::Told(told) => self.host.tell(told),
            HostRequest::Confirm(question, give) => {
                drop(give.send(self.host.confirm(question).await))
            }
            HostRequest::Step(work, give) => drop(give.send(self.host.step(work).await)),
            HostRequest::Knowledge(key, give) => drop(give.send(self.host.knowledge(key).await)),
            HostRequest::Keep(key, value, give) => {
                drop(give.send(self.host.keep(key, value).await))
            }
        }
    }

    /// A separate run with the same host, and with the remaining limits.
    pub fn beside(&self, relay: Relay) -> ScriptRun {
        ScriptRun {
            host: Box::new(relay),
            library: self.library.clone(),
            // Two answers streamed at once would be mixed up.
            streams: false,
            depth: self.depth,
            steps: self.steps,
            calls: self.calls,
        }
    }

    /// Adds the counts of a concurrent run since it was made from `start`.
    pub fn count(&mut self, start: (usize, usize), other: (usize, usize)) {
        self.steps = self.steps.saturating_add(other.0.saturating_sub(start.0));
        self.calls = self.calls.saturating_add(other.1.saturating_sub(start.1));
    }

    pub fn counts(&self) -> (usize, usize) {
        (self.steps, self.calls)
    }
}
