//! Connects to a service and receives from it: after an error again, with growing pauses.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::sync::{oneshot, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::platform::{Batch, Platform, PlatformError};
use super::setup_report::SetupReport;
use avocet_core::i18n::LocalizedText;

/// How a service fares.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ServiceHealth {
    pub connected: bool,
    /// The bot's own name.
    pub bot: String,
    /// Why it is not connected.
    pub problem: Option<String>,
    /// What the service reported about the bot when it was connected.
    #[serde(skip)]
    pub texts: Vec<LocalizedText>,
    /// Conversations in memory.
    pub chats: usize,
}

impl ServiceHealth {
    pub fn connect(&mut self, bot: String, texts: Vec<LocalizedText>) {
        *self =
            ServiceHealth { connected: true, bot, texts, problem: None, ..std::mem::take(self) };
    }
}

/// What came, and the way to say that it is written down.
pub type StoredBatch = (Batch, oneshot::Sender<()>);

/// Pauses between tries after an error: they double from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// The longest pause that a service may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

/// Checks the token, again and again while the service cannot be reached; `None`: the program
/// leaves.
pub async fn connect(
    platform: &dyn Platform,
    sender: &watch::Sender<ServiceHealth>,
    leaving: &CancellationToken,
) -> Result<Option<SetupReport>, PlatformError> {
    let mut pause = FIRST_PAUSE;
    loop {
        let connected = leaving.run_until_cancelled(platform.connect()).await;
        let error = match connected {
            None => return Ok(None),
            Some(Ok(report)) => return Ok(Some(report)),
            Some(Err(PlatformError::Unauthorized)) => return Err(PlatformError::Unauthorized),
            Some(Err(error)) => error,
        };
        note_problem(sender, &error);
        pause = wait(&error, pause, leaving).await;
    }
}

fn note_problem(health: &watch::Sender<ServiceHealth>, error: &PlatformError) {
    tracing::warn!(%error, "the chat service");
    health.send_modify(|health| {
        (health.connected, health.problem) = (false, Some(error.to_string()));
    });
}

/// Waits after an error; returns the next pause.
async fn wait(error: &PlatformError, pause: Duration, leaving: &CancellationToken) -> Duration {
    let asked = match error {
        PlatformError::RateLimited { after } => (*after).min(MAX_PAUSE),
        _ => pause,
    };
    leaving.run_until_cancelled(sleep(asked)).await;
    (pause * 2).min(LAST_PAUSE)
}

/// Receives batch after batch; each is confirmed once it is written down.
pub async fn receive(
    platform: Arc<dyn Platform>,
    sender: Sender<StoredBatch>,
    health: watch::Sender<ServiceHealth>,
    leaving: CancellationToken,
) -> Result<(), PlatformError> {
    let mut pause = FIRST_PAUSE;
    while let Some(received) = leaving.run_until_cancelled(platform.receive()).await {
        match received {
            Ok(batch) => {
                pause = FIRST_PAUSE;
                if !health.borrow().connected {
                    health.send_modify(|health| (health.connected, health.problem) = (true, None));
                }
                let cursor = batch.cursor.clone();
                let (stored, is_stored) = oneshot::channel();
                if sender.send((batch, stored)).await.is_err() || is_stored.await.is_err() {
                    break;
                }
                if let Some(cursor) = cursor
                    && let Err(error) = platform.confirm(&cursor).await
                {
                    tracing::warn!(%error, "a delivery was not confirmed");
                }
            }
            Err(PlatformError::Unauthorized) => {
                note_problem(&health, &PlatformError::Unauthorized);
                return Err(PlatformError::Unauthorized);
            }
            Err(error) => {
                note_problem(&health, &error);
                pause = wait(&error, pause, &leaving).await;
            }
        }
    }
    platform.close().await;
    Ok(())
}
