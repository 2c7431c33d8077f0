//! One connection to a server: what the server may ask for, and requests to it as plain JSON.
#![expect(deprecated, reason = "most servers speak revisions that have roots and logging")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::model::{
    ClientConfig, ClientNotification, ClientRequest, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ErrorCode, ErrorData, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, ServerPeerInfo, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestContext, RequestHandle, RunningService,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, ClientLifecycleMode, Peer, RoleClient, serve_client_with_lifecycle};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::clean;
use super::client_error::{of_service, of_start};
use super::message::{McpCallId, McpError};
use super::sampling::SamplingError;
use super::throttle::Throttled;
use avocet_core::i18n::mcp as phrases;

/// Events of a connection that wait for the task of the server. What only informs is dropped when
/// they are too many.
const MAX_WAITING: usize = 64;
/// How often a server may ask for more input before it answers one request.
const MAX_ROUNDS: usize = 10;
const MAX_LOG_LINE: usize = 2000;
/// A call that goes on telling of its progress may take so many times as long as a silent one.
const MAX_WITH_PROGRESS: u32 = 20;
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// What a server sends by itself.
pub(crate) enum Inbound {
    /// A call was sent; its progress comes with the token.
    Called {
        id: McpCallId,
        token: ProgressToken,
    },
    Progress(ProgressNotificationParam),
    Asked {
        params: Value,
        reply: oneshot::Sender<Value>,
    },
    /// It asks the model.
    Sampled {
        params: Value,
        reply: oneshot::Sender<Result<Value, SamplingError>>,
    },
    ListsChanged,
    Logged(String),
}

/// What decides how long a call may take.
#[derive(Clone, Copy, Default)]
pub(crate) struct CallActivity {
    /// Questions that wait for the user: no call runs out of time meanwhile.
    pub questions: usize,
    pub progress: u64,
}

/// What a server may ask of its client.
#[derive(Clone)]
pub(crate) struct ClientState {
    pub folders: watch::Receiver<Vec<PathBuf>>,
    /// The user allows it to ask the model.
    pub samples: bool,
}

/// Answers what a server asks for.
pub(crate) struct McpHandler {
    client_state: ClientState,
    inbound: mpsc::Sender<Inbound>,
}

impl McpHandler {
    /// Passes a question on and waits for its answer; declines where too many wait.
    async fn ask(sender: &mpsc::Sender<Inbound>, params: Value) -> Value {
        let declined = || json!({"action": "decline"});
        let (reply, answer) = oneshot::channel();
        if sender.try_send(Inbound::Asked { params, reply }).is_err() {
            return declined();
        }
        answer.await.unwrap_or_else(|_| declined())
    }

    /// Passes a request to the model on and waits for the answer.
    async fn sample(
        client_state: &ClientState,
        sender: &mpsc::Sender<Inbound>,
        params: Value,
    ) -> Result<Value, SamplingError> {
        if !client_state.samples {
            return Err(SamplingError::not_allowed());
        }
        let (reply, answer) = oneshot::channel();
        if sender.try_send(Inbound::Sampled { params, reply }).is_err() {
            return Err(SamplingError::busy());
        }
        answer.await.unwrap_or_else(|_| Err(SamplingError::busy()))
    }

    fn pass(&self, inbound: Inbound) {
        // What only informs may be lost.
        let _ = self.inbound.try_send(inbound);
    }
}

impl ClientHandler for McpHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = json!({
            "roots": {"listChanged": true},
            "elicitation": {"form": {}, "url": {}},
        });
        if self.client_state.samples {
            capabilities["sampling"] = json!({});
        }
        let capabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("avocet", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(request).unwrap_or_default();
        serde_json::from_value(McpHandler::ask(&self.inbound, params).await)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let params = serde_json::to_value(request).unwrap_or_default();
        let answer = McpHandler::sample(&self.client_state, &self.inbound, params).await;
        let answer =
            answer.map_err(|why| ErrorData::new(ErrorCode(why.code), why.message, None))?;
        serde_json::from_value(answer)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        serde_json::from_value(roots(&self.client_state.folders.borrow()))
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.pass(Inbound::Progress(progress));
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.pass(Inbound::Logged(clean::line(&message.data.to_string(), MAX_LOG_LINE)));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.pass(Inbound::ListsChanged);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.pass(Inbound::ListsChanged);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.pass(Inbound::ListsChanged);
    }
}

/// The result of `roots/list`.
fn roots(folders: &[PathBuf]) -> Value {
    let root = |folder: &PathBuf| reqwest::Url::from_directory_path(folder).ok();
    let uris = folders.iter().filter_map(root);
    json!({"roots": uris.map(|uri| json!({"uri": uri.as_str().trim_end_matches('/')})).collect::<Value>()})
}

/// A connection whose handshake is done.
pub(crate) struct ServerConnection {
    peer: Peer<RoleClient>,
    pub inbound: mpsc::Receiver<Inbound>,
    sender: mpsc::Sender<Inbound>,
    /// Cancelled when the connection ended.
    pub ended: CancellationToken,
    pub activity: watch::Sender<CallActivity>,
    client_state: ClientState,
    /// Closes it when dropped.
    close: DropGuard,
}

impl ServerConnection {
    /// Shakes hands in the newest revision that the server speaks.
    pub fn open(
        transport: impl Transport<RoleClient> + 'static,
        client_state: ClientState,
    ) -> BoxFuture<'static, Result<ServerConnection, McpError>> {
        let (sender, inbound) = mpsc::channel(MAX_WAITING);
        let handler = McpHandler { client_state: client_state.clone(), inbound: sender.clone() };
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let opening = serve_client_with_lifecycle(handler, Throttled::new(transport), lifecycle);
        let connection = move |client: RunningService<RoleClient, McpHandler>| {
            let peer = client.peer().clone();
            let close = CancellationToken::new();
            let ended = CancellationToken::new();
            let guard = ended.clone().drop_guard();
            tokio::spawn(until_closed(client, close.clone()).map(|()| drop(guard)));
            let (activity, _) = watch::channel(CallActivity::default());
            let close = close.drop_guard();
            ServerConnection { peer, inbound, sender, ended, activity, client_state, close }
        };
        opening.map(|client| client.map(connection).map_err(|error| of_start(&error))).boxed()
    }

    /// What sends a request.
    pub fn caller(&self, timeout: Duration) -> Caller {
        Caller {
            peer: self.peer.clone(),
            inbound: self.sender.clone(),
            client_state: self.client_state.clone(),
            activity: self.activity.subscribe(),
            timeout,
            id: None,
            cancelled: CancellationToken::new(),
        }
    }

    /// Closes the connection; a process reads the end of its input.
    pub async fn shut(self, patience: Duration) {
        drop(self.close);
        // What does not close in time ends with its process.
        let _ = tokio::time::timeout(patience, self.ended.cancelled()).await;
    }

    pub fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    /// In the newer revision a client must listen to learn of changes.
    pub fn listen(&self) -> BoxFuture<'static, ()> {
        let is_older = self.info().is_none_or(|info| info.protocol_version.has_initialize());
        if is_older {
            return std::future::pending().boxed();
        }
        let peer = self.peer.clone();
        let sender = self.sender.clone();

        let filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed();
        async move {
            if let Ok(mut changes) = peer.listen(filter.build()).await {
                while let Ok(Some(_)) = changes.next().await {
                    let _ = sender.try_send(Inbound::ListsChanged);
                }
            }
            std::future::pending().await
        }
        .boxed()
    }

    /// Tells the server that the folders of the session changed.
    pub fn folders_changed(&self) {
        let changed = json!({"method": "notifications/roots/list_changed"});
        let Ok(changed) = serde_json::from_value::<ClientNotification>(changed) else { return };
        let peer = self.peer.clone();
        tokio::spawn(async move {
            tokio::time::timeout(CANCEL_TIMEOUT, peer.send_notification(changed)).await
        });
    }
}

/// Runs the connection until it ends, or is to be closed.
async fn until_closed(client: RunningService<RoleClient, McpHandler>, close: CancellationToken) {
    let cancel = client.cancellation_token();
    let mut done = client.waiting().boxed();
    tokio::select! {
        _ = &mut done => return,
        () = close.cancelled() => cancel.cancel(),
    }
    // A task that failed has closed the connection too.
    let _ = done.await;
}

/// Sends requests to a server, each of which may take several rounds.
pub(crate) struct Caller {
    peer: Peer<RoleClient>,
    inbound: mpsc::Sender<Inbound>,
    client_state: ClientState,
    activity: watch::Receiver<CallActivity>,
    timeout: Duration,
    /// Set for what has progress.
    pub id: Option<McpCallId>,
    pub cancelled: CancellationToken,
}

impl Caller {
    /// Sends a request and gives its result as the server sent it.
    pub async fn ask(
        &mut self,
        method: &'static str,
        mut params: Map<String, Value>,
    ) -> Result<Value, McpError> {
        for _ in 0..MAX_ROUNDS {
            let result = self.ask_once(method, &params).await?;
            if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(result);
            }
            params.insert("inputResponses".to_owned(), self.inputs(&result).await?);
            if let Some(state) = result.get("requestState") {
                params.insert("requestState".to_owned(), state.clone());
            }
        }
        Err(McpError::NoProtocol { why: phrases::ASKS_AGAIN.with("method", method) })
    }

    /// What the server asks for before it answers.
    async fn inputs(&self, result: &Value) -> Result<Value, McpError> {
        let mut responses = Map::new();
        let requests = result.get("inputRequests").and_then(Value::as_object);
        for (key, request) in requests.into_iter().flatten().take(MAX_ROUNDS) {
            let params = request.get("params").cloned().unwrap_or_default();
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let response = match method {
                "elicitation/create" => tokio::select! {
                    answer = McpHandler::ask(&self.inbound, params) => answer,
                    () = self.cancelled.cancelled() => return Err(McpError::Cancelled),
                },
                "sampling/createMessage" => tokio::select! {
                    answer = McpHandler::sample(&self.client_state, &self.inbound, params) => {
                        answer.map_err(|_| wrong_request(method))?
                    }
                    () = self.cancelled.cancelled() => return Err(McpError::Cancelled),
                },
                "roots/list" => roots(&self.client_state.folders.borrow()),
                _ => return Err(wrong_request(method)),
            };
            responses.insert(key.clone(), response);
        }
        Ok(Value::Object(responses))
    }

    async fn ask_once(
        &mut self,
        method: &'static str,
        params: &Map<String, Value>,
    ) -> Result<Value, McpError> {
        let request = json!({"method": method, "params": params});
        let request: ClientRequest = serde_json::from_value(request)
            .map_err(|_| McpError::NoProtocol { why: phrases::WRONG_ANSWER.into() })?;
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(request, options).await;
        let handle = sent.map_err(|error| of_service(&error))?;
        if let Some(id) = self.id {
            let token = handle.progress_token.clone();
            let _ = self.inbound.send(Inbound::Called { id, token }).await;
        }
        self.wait(handle).await
    }

    async fn wait(&mut self, mut handle: RequestHandle<RoleClient>) -> Result<Value, McpError> {
        let longest = self.timeout * MAX_WITH_PROGRESS;
        let mut total = Box::pin(tokio::time::sleep(longest));
        loop {
            let is_asking = self.activity.borrow_and_update().questions > 0;
            if is_asking {
                total.as_mut().reset(tokio::time::Instant::now() + longest);
            }
            let error = tokio::select! {
                response = &mut handle.rx => return match response {
                    Ok(Ok(result)) => Ok(serde_json::to_value(result).unwrap_or_default()),
                    Ok(Err(error)) => Err(of_service(&error)),
                    Err(_) => Err(McpError::NotRunning),
                },
                changed = self.activity.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return Err(McpError::NotRunning),
                },
                () = self.cancelled.cancelled() => McpError::Cancelled,
                () = tokio::time::sleep(self.timeout), if !is_asking => self.timed_out(),
                () = &mut total, if !is_asking => self.timed_out(),
            };
            // A server that reads nothing must not hold up who waits.
            tokio::spawn(async move {
                tokio::time::timeout(CANCEL_TIMEOUT, handle.cancel(Some(cancel_reason()))).await
            });
            return Err(error);
        }
    }

    fn timed_out(&self) -> McpError {
        McpError::CallTimeout { seconds: self.timeout.as_secs() }
    }
}

fn wrong_request(method: &str) -> McpError {
    let method = clean::line(method, 100);
    McpError::NoProtocol { why: phrases::WRONG_REQUEST.with("method", method) }
}

/// Sent to a server when its answer is not awaited any more.
fn cancel_reason() -> String {
    "no longer needed".to_owned()
}
