//! Opens the connection to a server, whatever its transport.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::mpsc;

use super::client::{ClientState, ServerConnection};
use super::definition::{RemoteServer, ServerTransport, StdioServer};
use super::http::{client, headers, url};
use super::launch::ServerLaunch;
use super::message::{McpError, McpEvent, McpServerFacts};
use super::pipe::{LimitedReader, MAX_FLOOD, MAX_MESSAGE, Process};
use super::sse::{SseSender, SseTransport};
use super::{facts, login};

/// A server that answers.
pub(crate) struct Opened {
    pub connection: ServerConnection,
    pub process: Option<Process>,
    pub facts: McpServerFacts,
}

/// Starts a server, or connects to it, and asks what it offers.
pub(crate) async fn open(
    launch: Arc<ServerLaunch>,
    client_state: ClientState,
    sender: mpsc::Sender<(String, McpEvent)>,
) -> Result<Opened, McpError> {
    let timeout = launch.definition.start_timeout;
    let opening = async {
        match launch.definition.transport.clone() {
            ServerTransport::Stdio(server) => {
                open_stdio(launch, server, client_state, sender).await
            }
            ServerTransport::Http(server) => open_http_or_sse(launch, server, client_state).await,
            ServerTransport::Sse(server) => open_sse(launch, server, client_state).await,
        }
    };
    let late = |_| McpError::StartTimeout { seconds: timeout.as_secs() };
    tokio::time::timeout(timeout, opening).await.map_err(late)?
}

async fn open_stdio(
    launch: Arc<ServerLaunch>,
    server: StdioServer,
    client_state: ClientState,
    sender: mpsc::Sender<(String, McpEvent)>,
) -> Result<Opened, McpError> {
    let started = launch.starter.start(server).await;
    let pipes = started.map_err(|why| McpError::Unreachable { why })?;
    let name = launch.definition.name.clone();
    let process = Process::new(pipes.process, pipes.errors, name, sender);
    let reader = LimitedReader::new(pipes.output, process.flooded.clone());
    let transport =
        AsyncRwTransport::new_client(reader, pipes.input).with_max_line_length(MAX_MESSAGE + 1);
    let opened = match ServerConnection::open(transport, client_state).await {
        Ok(connection) => with_facts(launch, connection).await,
        Err(error) => Err(error),
    };
    match opened {
        Ok(opened) => Ok(Opened { process: Some(process), ..opened }),
        Err(error) => Err(explain(error, Some(process)).await),
    }
}

/// The error of a process that ended, with its last line. A pipe that takes no more is its end too.
pub(crate) async fn explain(error: McpError, process: Option<Process>) -> McpError {
    let Some(process) = process else { return error };
    let is_flooded = process.flooded.load(Ordering::Relaxed);
    let last_line = process.end().await;
    match error {
        McpError::Ended { .. } | McpError::NotRunning | McpError::Unreachable { .. } => {
            if is_flooded {
                McpError::Flooded { limit: MAX_FLOOD }
            } else {
                McpError::Ended { last_line }
            }
        }
        error => error,
    }
}

async fn with_facts(
    launch: Arc<ServerLaunch>,
    connection: ServerConnection,
) -> Result<Opened, McpError> {
    let info = connection.info().ok_or(McpError::NotRunning)?;
    let caller = connection.caller(launch.definition.start_timeout);
    let facts = facts::read(caller, info, launch.definition.tools.clone()).await?;
    Ok(Opened { connection, process: None, facts })
}

/// A server that does not answer as a new one may be an old one.
async fn open_http_or_sse(
    launch: Arc<ServerLaunch>,
    server: RemoteServer,
    client_state: ClientState,
) -> Result<Opened, McpError> {
    match open_http(launch.clone(), server.clone(), client_state.clone()).await {
        Err(error @ (McpError::NoProtocol { .. } | McpError::Unreachable { .. })) => {
            open_sse(launch, server, client_state).await.map_err(|_| error)
        }
        opened => opened,
    }
}

async fn open_http(
    launch: Arc<ServerLaunch>,
    server: RemoteServer,
    client_state: ClientState,
) -> Result<Opened, McpError> {
    let url = url(&server)?;
    let client = client(&url)?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers(&server)?)
        .max_sse_event_size(MAX_MESSAGE)
        .max_json_response_size(MAX_MESSAGE);
    let connection = match login::saved(url, launch.keys.clone()).await? {
        Some(manager) => {
            let client = AuthClient::new(client, manager);
            let transport = StreamableHttpClientTransport::with_client(client, config);
            ServerConnection::open(transport, client_state).await?
        }
        None => {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            ServerConnection::open(transport, client_state).await?
        }
    };
    with_facts(launch, connection).await
}

async fn open_sse(
    launch: Arc<ServerLaunch>,
    server: RemoteServer,
    client_state: ClientState,
) -> Result<Opened, McpError> {
    let url = url(&server)?;
    let headers = headers(&server)?.into_iter().collect();
    let client = client(&url)?;
    let tokens = login::saved(url.clone(), launch.keys.clone()).await?;
    let sender = SseSender { client, headers, tokens: tokens.map(Arc::new) };
    let transport = SseTransport::connect(sender, url).await?;
    with_facts(launch, ServerConnection::open(transport, client_state).await?).await
}
