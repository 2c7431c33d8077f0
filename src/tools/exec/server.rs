//! Starts a program that is spoken to over its input and output for as long as a session needs it:
//! in the sandbox of an approved step, and ended with all it started.

use std::collections::BTreeMap;

use process_wrap::tokio::ChildWrapper;
use tokio::io::{AsyncRead, AsyncWrite};

use super::process_group::Group;
use super::spawn::{self, ChildStreams, StepStartError};
use super::{Exec, bounds, guard_files};
use crate::sandbox::Confined;
use avocet_core::i18n::{LocalizedText, exec as phrases};
use avocet_safety::ClearedStep;

/// A program that is spoken to.
pub struct ServerProcess {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    pub errors: Box<dyn AsyncRead + Send + Unpin>,
    pub guard: ServerGuard,
}

/// Ends the program, and all it started, when it is dropped. Of its parts the group goes first.
pub struct ServerGuard {
    group: Group,
    child: Box<dyn ChildWrapper>,
    _confined: Option<Confined>,
}

impl ServerGuard {
    /// Limits the memory of the program, and of each that it starts from now on, to so many bytes.
    pub fn limit_memory(&self, bytes: u64) {
        bounds::limit_memory(self.child.id(), bytes);
    }

    /// Adds up the bytes that they have in memory. What it returns blocks.
    pub fn memory_probe(&self) -> impl FnOnce() -> u64 + Send + 'static {
        let members = self.group.members();
        move || members().into_iter().map(bounds::resident_memory).sum()
    }
}

impl Exec {
    /// Starts a program with these variables beside the usual ones.
    ///
    /// # Errors
    /// A sentence that says why it did not start.
    pub async fn start_server(
        &self,
        step: &ClearedStep,
        variables: BTreeMap<String, String>,
    ) -> Result<ServerProcess, LocalizedText> {
        let looked = guard_files(self, step.judgement(), false).await;
        let started =
            spawn::start(self, step, ChildStreams::Server(variables), &self.steps.exiting);
        let ((mut child, group), confined) = started.await.map_err(|error| match error {
            StepStartError::Unable(say) | StepStartError::Changed(say) => say,
            StepStartError::Cancelled => phrases::CANCELLED.into(),
        })?;
        // As long as it runs, each step puts back what it changed in the settings and hooks of
        // repositories, as for a daemon.
        if let (Some((guard, _)), pid) = (looked, group.identity().0) {
            let _ = tokio::task::spawn_blocking(move || guard.end(&[pid])).await;
        }
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(phrases::NOT_AS_JUDGED.into());
        };
        Ok(ServerProcess {
            input: Box::new(input),
            output: Box::new(output),
            errors: Box::new(errors),
            guard: ServerGuard { group, child, _confined: confined },
        })
    }
}
