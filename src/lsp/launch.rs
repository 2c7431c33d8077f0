//! What servers need of the program that they work for.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use super::definition::{LanguageDefinition, LanguageDefinitions};
use avocet_core::i18n::LocalizedText;

/// Finds and starts the programs of servers.
pub trait LanguageHost: Send + Sync {
    /// The folders of the session, the workspace first, with links resolved.
    fn folders(&self) -> Vec<PathBuf>;

    /// Reads what the user's settings say of servers. Blocks.
    fn definitions(&self) -> LanguageDefinitions;

    /// Whether a program of this name is there. Blocks.
    fn is_installed(&self, program: &str) -> bool;

    /// Starts a program in a folder. It ends with all it started once its pipes are dropped.
    fn start(
        &self,
        definition: LanguageDefinition,
        root: PathBuf,
    ) -> BoxFuture<'static, Result<LanguageServerPipes, LocalizedText>>;
}

/// A process and its pipes.
pub struct LanguageServerPipes {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What it writes about itself.
    pub errors: Box<dyn AsyncRead + Send + Unpin>,
    pub process: Box<dyn LanguageProcess>,
}

/// A process that ends, with all it started, when this is dropped.
pub trait LanguageProcess: Send {
    /// Adds up the bytes of memory that it and what it started use. Blocks.
    fn memory_probe(&self) -> Box<dyn FnOnce() -> u64 + Send>;
}
