//! A server that runs: its requests, its questions, and the changes of what it offers.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use avocet_core::protocol::FormField;

use super::client::Inbound;
use super::definition::ServerDefinition;
use super::message::{
    McpCallId, McpError, McpEvent, McpQuestionId, McpReply, McpRequest, McpServerFacts,
};
use super::open::{Opened, explain};
use super::sampling::SamplingError;
use super::{clean, content, facts, question, sampling};

/// How long to wait for more changes before the lists are read again; doubled each time, so that a
/// server that changes without end is asked ever more seldom.
const CHANGE_DELAY: Duration = Duration::from_millis(200);
const MAX_DOUBLINGS: u32 = 9;
const MAX_QUESTIONS: usize = 4;
const MAX_SAMPLINGS: usize = 2;
const MAX_PROGRESS_LINE: usize = 300;
const MAX_VALUES: usize = 50;
const MAX_VALUE: usize = 200;
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Why a server no longer runs.
pub(crate) enum End {
    /// It is not needed any more.
    Dropped,
    Restart,
    Failed(McpError),
}

struct PendingQuestion {
    fields: Vec<FormField>,
    reply: oneshot::Sender<Value>,
}

enum Done {
    Answered(McpCallId, Result<McpReply, McpError>),
    Listed(Result<McpServerFacts, McpError>),
}

pub(crate) struct Running<'a> {
    definition: &'a ServerDefinition,
    folders: &'a watch::Sender<Vec<PathBuf>>,
    events: &'a mpsc::Sender<(String, McpEvent)>,
    opened: Opened,
    calls: HashMap<McpCallId, CancellationToken>,
    tokens: HashMap<ProgressToken, McpCallId>,
    questions: HashMap<McpQuestionId, PendingQuestion>,
    samplings: HashMap<McpQuestionId, oneshot::Sender<Result<Value, SamplingError>>>,
    next_question: u64,
    tasks: JoinSet<Done>,
    /// When the lists are read again.
    stale: Option<Instant>,
    changes: u32,
}

impl<'a> Running<'a> {
    pub fn new(
        definition: &'a ServerDefinition,
        sender: &'a watch::Sender<Vec<PathBuf>>,
        events: &'a mpsc::Sender<(String, McpEvent)>,
        opened: Opened,
    ) -> Running<'a> {
        Running {
            definition,
            folders: sender,
            events,
            opened,
            calls: HashMap::new(),
            tokens: HashMap::new(),
            questions: HashMap::new(),
            samplings: HashMap::new(),
            next_question: 0,
            tasks: JoinSet::new(),
            stale: None,
            changes: 0,
        }
    }

    /// Runs the server until it ends, then answers all that still waits.
    pub async fn run(mut self, requests: &mut mpsc::Receiver<McpRequest>) -> End {
        self.emit(McpEvent::Started(self.opened.facts.clone())).await;
        let end = self.serve(requests).await;
        let Opened { connection, process, .. } = self.opened;
        connection.shut(CLOSE_TIMEOUT).await;
        let (end, error) = match end {
            End::Failed(error) => {
                let error = explain(error, process).await;
                (End::Failed(error.clone()), error)
            }
            end => {
                explain(McpError::NotRunning, process).await;
                (end, McpError::NotRunning)
            }
        };
        for question in self.questions.into_keys() {
            send(self.events, self.definition, McpEvent::Withdrawn(question)).await;
        }
        for id in self.calls.into_keys() {
            let result = Err(error.clone());
            send(self.events, self.definition, McpEvent::Answered { id, result }).await;
        }
        end
    }

    async fn serve(&mut self, requests: &mut mpsc::Receiver<McpRequest>) -> End {
        let mut changes = self.opened.connection.listen();
        loop {
            let stale = self.stale.unwrap_or_else(Instant::now);
            tokio::select! {
                request = requests.recv() => match request {
                    None => return End::Dropped,
                    Some(McpRequest::Restart) => return End::Restart,
                    Some(request) => self.request(request).await,
                },
                Some(inbound) = self.opened.connection.inbound.recv() => self.inbound(inbound).await,
                Some(done) = self.tasks.join_next() => match done {
                    Ok(done) => self.done(done).await,
                    Err(_) => return End::Failed(McpError::Ended { last_line: String::new() }),
                },
                () = tokio::time::sleep_until(stale), if self.stale.is_some() => self.list_again(),
                () = &mut changes => {}
                () = self.opened.connection.ended.cancelled() => {
                    return End::Failed(McpError::Ended { last_line: String::new() });
                }
            }
        }
    }

    async fn emit(&mut self, event: McpEvent) {
        send(self.events, self.definition, event).await;
    }

    async fn request(&mut self, request: McpRequest) {
        match request {
            McpRequest::Call { id, tool, input } => {
                let params = object(json!({"name": tool, "arguments": input}));
                self.ask(id, "tools/call", params, |result| content_of(content::of_call(&result)));
            }
            McpRequest::Prompt { id, name, arguments } => {
                let params = object(json!({"name": name, "arguments": arguments}));
                self.ask(id, "prompts/get", params, |result| {
                    content_of(content::of_prompt(&result))
                });
            }
            McpRequest::Read { id, uri } => {
                let params = object(json!({"uri": uri}));
                self.ask(id, "resources/read", params, |result| {
                    content_of(content::of_resource(&result))
                });
            }
            McpRequest::Complete { id, prompt, argument, typed } => {
                let params = object(json!({
                    "ref": {"type": "ref/prompt", "name": prompt},
                    "argument": {"name": argument, "value": typed},
                }));
                self.ask(id, "completion/complete", params, |result| values(&result));
            }
            McpRequest::Cancel(id) => {
                if let Some(cancelled) = self.calls.get(&id) {
                    cancelled.cancel();
                }
            }
            McpRequest::Answer { question, values } => {
                if let Some(pending) = self.questions.remove(&question) {
                    // A server that no longer waits needs no answer.
                    let _ = pending.reply.send(question::answer(&pending.fields, values.as_ref()));
                }
                self.count_questions();
            }
            McpRequest::AnswerSampling { question, answer } => {
                if let Some(reply) = self.samplings.remove(&question) {
                    // A server that no longer waits needs no answer.
                    let _ = reply.send(sampling::answer(answer));
                }
                self.count_questions();
            }
            McpRequest::SetFolders(folders) => {
                self.folders.send_replace(folders);
                self.opened.connection.folders_changed();
            }
            McpRequest::Restart => {}
        }
    }

    fn ask(
        &mut self,
        id: McpCallId,
        method: &'static str,
        params: Map<String, Value>,
        read: fn(Value) -> McpReply,
    ) {
        let mut caller = self.opened.connection.caller(self.definition.call_timeout);
        caller.id = Some(id);
        self.calls.insert(id, caller.cancelled.clone());
        self.tasks
            .spawn(async move { Done::Answered(id, caller.ask(method, params).await.map(read)) });
    }

    async fn inbound(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Called { id, token } if self.calls.contains_key(&id) => {
                self.tokens.insert(token, id);
            }
            Inbound::Called { .. } => {}
            Inbound::Progress(progress) => self.progress(progress),
            Inbound::Asked { params, reply } => self.question(&params, reply).await,
            Inbound::Sampled { params, reply } => self.sample(&params, reply).await,
            Inbound::ListsChanged => {
                let delay = CHANGE_DELAY * 2u32.pow(self.changes.min(MAX_DOUBLINGS));
                self.stale.get_or_insert_with(|| Instant::now() + delay);
            }
            // A log that is not read is not waited for.
            Inbound::Logged(line) => self.inform(McpEvent::Logged(line)),
        }
    }

    /// Sends what may be lost.
    fn inform(&self, event: McpEvent) {
        let _ = self.events.try_send((self.definition.name.clone(), event));
    }

    fn progress(&mut self, progress: ProgressNotificationParam) {
        let Some(id) = self.tokens.get(&progress.progress_token).copied() else { return };
        self.opened.connection.activity.send_modify(|activity| activity.progress += 1);
        let finite = |number: f64| number.is_finite().then_some(number);
        self.inform(McpEvent::Progress {
            id,
            done: finite(progress.progress).unwrap_or_default(),
            total: progress.total.and_then(finite),
            text: clean::line(progress.message.as_deref().unwrap_or_default(), MAX_PROGRESS_LINE),
        });
    }

    async fn question(&mut self, params: &Value, sender: oneshot::Sender<Value>) {
        let mut withdrawn = Vec::new();
        for (id, pending) in &self.questions {
            if pending.reply.is_closed() {
                withdrawn.push(*id);
            }
        }
        for id in withdrawn {
            self.questions.remove(&id);
            self.emit(McpEvent::Withdrawn(id)).await;
        }
        // Dropped, the question is declined.
        if self.questions.len() < MAX_QUESTIONS {
            let id = McpQuestionId(self.next_question);
            self.next_question += 1;
            let asked = question::question(id, params);
            self.questions
                .insert(id, PendingQuestion { fields: asked.fields.clone(), reply: sender });
            self.emit(McpEvent::Asked(asked)).await;
        }
        self.count_questions();
    }

    async fn sample(
        &mut self,
        params: &Value,
        sender: oneshot::Sender<Result<Value, SamplingError>>,
    ) {
        self.samplings.retain(|_, reply| !reply.is_closed());
        let id = McpQuestionId(self.next_question);
        let asked = match sampling::request(id, params) {
            _ if self.samplings.len() >= MAX_SAMPLINGS => Err(SamplingError::busy()),
            asked => asked,
        };
        match asked {
            Ok(asked) => {
                self.next_question += 1;
                self.samplings.insert(id, sender);
                self.emit(McpEvent::Sampled(asked)).await;
            }
            // A server that no longer waits needs no answer.
            Err(why) => drop(sender.send(Err(why))),
        }
        self.count_questions();
    }

    fn count_questions(&self) {
        let questions = self.questions.len() + self.samplings.len();
        self.opened.connection.activity.send_modify(|activity| activity.questions = questions);
    }

    fn list_again(&mut self) {
        self.stale = None;
        self.changes += 1;
        let Some(info) = self.opened.connection.info() else { return };
        let caller = self.opened.connection.caller(self.definition.call_timeout);
        let listing = facts::read(caller, info, self.definition.tools.clone());
        self.tasks.spawn(listing.map(Done::Listed));
    }

    async fn done(&mut self, done: Done) {
        match done {
            // The connection has ended: the call is answered with the reason for that.
            Done::Answered(_, Err(McpError::NotRunning | McpError::Ended { .. })) => {}
            Done::Answered(id, result) => {
                self.calls.remove(&id);
                self.tokens.retain(|_, of| *of != id);
                self.emit(McpEvent::Answered { id, result }).await;
            }
            Done::Listed(Ok(facts)) if facts != self.opened.facts => {
                self.opened.facts = facts.clone();
                self.emit(McpEvent::Changed(facts)).await;
            }
            Done::Listed(Ok(_)) => {}
            Done::Listed(Err(error)) => self.inform(McpEvent::Logged(error.to_string())),
        }
    }
}

/// Sends an event that must not be lost. Who no longer listens needs none.
pub(crate) async fn send(
    sender: &mpsc::Sender<(String, McpEvent)>,
    definition: &ServerDefinition,
    event: McpEvent,
) {
    let _ = sender.send((definition.name.clone(), event)).await;
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn content_of(content: super::message::McpContent) -> McpReply {
    McpReply::Content(content)
}

fn values(result: &Value) -> McpReply {
    let values = result.pointer("/completion/values").and_then(Value::as_array);
    let values = values.into_iter().flatten().filter_map(Value::as_str);
    McpReply::Values(values.take(MAX_VALUES).map(|value| clean::line(value, MAX_VALUE)).collect())
}
