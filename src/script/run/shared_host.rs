//! Shares one host among several scripts that run concurrently: each sends its requests through a
//! [`Relay`], and the run that started them answers, one request after the other.

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::super::error::StepError;
use super::super::host::{
    AnswerPart, FormAnswer, FormQuestion, InputAnswer, InputQuestion, ModelCall, PackKey,
    ScriptEvent, ScriptHost,
};
use super::super::program_output::ProgramOutput;
use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::StepAction;

type PartStream = BoxStream<'static, Result<AnswerPart, LocalizedText>>;
type StoreResult = Result<Option<Value>, LocalizedText>;

/// A request to the host, and where the answer goes.
pub enum HostRequest {
    Model(Box<ModelCall>, oneshot::Sender<PartStream>),
    Event(ScriptEvent),
    Seal,
    Confirm(LocalizedText, oneshot::Sender<bool>),
    Input(InputQuestion, oneshot::Sender<Option<InputAnswer>>),
    Form(FormQuestion, oneshot::Sender<FormAnswer>),
    Step(StepAction, Option<LocalizedText>, oneshot::Sender<Result<ProgramOutput, StepError>>),
    LoadValue(PackKey, oneshot::Sender<StoreResult>),
    StoreValue(PackKey, Option<Value>, oneshot::Sender<StoreResult>),
}

/// A handle to a host that others use as well.
#[derive(Clone)]
pub struct Relay {
    requests: mpsc::UnboundedSender<HostRequest>,
    environment: Map<String, Value>,
    model: Option<String>,
    stop: CancellationToken,
}

impl Relay {
    pub fn new(host: &dyn ScriptHost) -> (Relay, mpsc::UnboundedReceiver<HostRequest>) {
        let (to, asked) = mpsc::unbounded_channel();
        let environment = host.environment();
        let model = host.model_name();

        (Relay { requests: to, environment, model, stop: host.stop_token() }, asked)
    }

    /// Sends a request; `None` if the other end is gone.
    fn request<T: Send + 'static>(
        &self,
        asked: impl FnOnce(oneshot::Sender<T>) -> HostRequest,
    ) -> BoxFuture<'static, Option<T>> {
        let (give, take) = oneshot::channel();
        // If the other end is gone the answer is dropped, which is noticed below.
        let _ = self.requests.send(asked(give));
        take.map(Result::ok).boxed()
    }
}

impl ScriptHost for Relay {
    fn call_model(&mut self, call: ModelCall) -> PartStream {
        let answer = self.request(|give| HostRequest::Model(Box::new(call), give));
        answer
            .map(|parts| parts.unwrap_or_else(|| stream::empty().boxed()))
            .flatten_stream()
            .boxed()
    }

    fn model_name(&self) -> Option<String> {
        self.model.clone()
    }

    fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    fn environment(&self) -> Map<String, Value> {
        self.environment.clone()
    }

    fn emit(&mut self, event: ScriptEvent) {
        let _ = self.requests.send(HostRequest::Event(event));
    }

    fn seal(&mut self) {
        let _ = self.requests.send(HostRequest::Seal);
    }

    fn confirm(&mut self, text: LocalizedText) -> BoxFuture<'_, bool> {
        self.request(|give| HostRequest::Confirm(text, give)).map(|said| said == Some(true)).boxed()
    }

    fn ask_input(&mut self, question: InputQuestion) -> BoxFuture<'_, Option<InputAnswer>> {
        self.request(|give| HostRequest::Input(question, give)).map(Option::flatten).boxed()
    }

    fn ask_form(&mut self, form: FormQuestion) -> BoxFuture<'_, FormAnswer> {
        self.request(|give| HostRequest::Form(form, give))
            .map(|said| said.unwrap_or(FormAnswer::Cancelled))
            .boxed()
    }

    fn run_step(
        &mut self,
        action: StepAction,
        text: Option<LocalizedText>,
    ) -> BoxFuture<'_, Result<ProgramOutput, StepError>> {
        let answer = self.request(|give| HostRequest::Step(action, text, give));
        answer.map(|came| came.unwrap_or_else(|| Err(phrases::STEP_BROKEN.into()))).boxed()
    }

    fn load_value(&mut self, key: PackKey) -> BoxFuture<'_, StoreResult> {
        self.request(|give| HostRequest::LoadValue(key, give))
            .map(|came| came.unwrap_or(Ok(None)))
            .boxed()
    }

    fn store_value(&mut self, key: PackKey, value: Option<Value>) -> BoxFuture<'_, StoreResult> {
        let answer = self.request(|give| HostRequest::StoreValue(key, value, give));
        answer.map(|came| came.unwrap_or_else(|| Err(phrases::NO_STORE.into()))).boxed()
    }
}

impl HostRequest {
    /// Answers the request. A script that is gone needs no answer.
    pub async fn serve(self, host: &mut dyn ScriptHost) {
        match self {
            HostRequest::Model(call, give) => drop(give.send(host.call_model(*call))),
            HostRequest::Event(event) => host.emit(event),
            HostRequest::Seal => host.seal(),
            HostRequest::Confirm(question, give) => {
                let _ = give.send(host.confirm(question).await);
            }
            HostRequest::Input(question, give) => {
                drop(give.send(host.ask_input(question).await));
            }
            HostRequest::Form(form, give) => drop(give.send(host.ask_form(form).await)),
            HostRequest::Step(work, permission, give) => {
                drop(give.send(host.run_step(work, permission).await));
            }
            HostRequest::LoadValue(key, give) => drop(give.send(host.load_value(key).await)),
            HostRequest::StoreValue(key, value, give) => {
                drop(give.send(host.store_value(key, value).await))
            }
        }
    }
}
