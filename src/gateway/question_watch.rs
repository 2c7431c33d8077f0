//! The open question of a chat: until when it waits, and where an admin is asked about it.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;

use super::platform::{ChatAddress, MessageId, PlatformError};
use super::wait::finished;
use avocet_core::protocol::AskId;

/// Where an admin sees it.
pub type Referred = Result<(ChatAddress, MessageId), PlatformError>;

#[derive(Default)]
pub struct QuestionWatch {
    pub open: Option<AskId>,
    /// When it is next looked at.
    pub due: Option<Instant>,
    /// How long it stays open after that; `None`: it is over then.
    pub left: Option<Duration>,
    pub asking: Option<BoxFuture<'static, Referred>>,
    pub shown: Option<(ChatAddress, MessageId)>,
    /// What the admin is asked.
    pub text: String,
}

impl QuestionWatch {
    pub async fn asked(&mut self) -> Referred {
        finished(&mut self.asking).await
    }
}
