//! The task of one server: starts it, asks what it offers, passes requests to it, and starts it
//! again after it failed.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use avocet_config::key_store::KeyStore;
use avocet_core::i18n::LocalizedText;

use super::definition::{ServerDefinition, StdioServer};
use super::message::{McpEvent, McpRequest};

/// Starts the programs of servers. Each start is a new process in the sandbox.
pub trait ServerStarter: Send + Sync {
    fn start(&self, server: StdioServer) -> BoxFuture<'_, Result<ServerPipes, LocalizedText>>;
}

/// The pipes of a process. After `input` is closed and `output` has ended, or did not end in time,
/// `process` is dropped, which must end the process and what it started.
pub struct ServerPipes {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What it writes about itself: lines for the log.
    pub errors: Box<dyn AsyncRead + Send + Unpin>,
    pub process: Box<dyn Send>,
}

/// What a server is started with.
pub struct ServerLaunch {
    /// With its variables filled in.
    pub definition: ServerDefinition,
    /// The folders of the session, the workspace first.
    pub folders: Vec<PathBuf>,
    pub starter: Arc<dyn ServerStarter>,
    /// Where the tokens of remote servers are.
    pub keys: Arc<KeyStore>,
}

/// A server that runs, or is to run. It ends when this is dropped.
#[derive(Debug)]
pub struct McpServer {
    requests: mpsc::Sender<McpRequest>,
}

/// Starts a server on a task of its own. Its events are sent with its name.
pub fn start_server(launch: ServerLaunch, events: mpsc::Sender<(String, McpEvent)>) -> McpServer {
}

impl McpServer {
    /// Passes a request on. False if too many wait: the caller answers for the server.
    pub fn send(&self, request: McpRequest) -> bool {
    }

    /// Ends the server and waits until its process ended.
    pub async fn stop(self) {
    }
}
