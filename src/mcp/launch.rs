//! What a server is started with, and what starts its process.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use avocet_config::key_store::KeyStore;
use avocet_core::i18n::LocalizedText;

use super::definition::{ServerDefinition, StdioServer};

/// Starts the programs of servers. Each start is a new process.
pub trait ServerStarter: Send + Sync {
    fn start(&self, server: StdioServer) -> BoxFuture<'_, Result<ServerPipes, LocalizedText>>;
}

/// The pipes of a process. Its input is closed first; then, once `errors` has ended or did not in
/// time, `process` is dropped, which must end the process and what it started.
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
