//! The session of a chat as it begins, or the reason why there is none.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::task::JoinError;
use tokio::time::timeout;

use super::super::ledger::LedgerRecord;
use super::super::platform::{NewMessage, Outgoing, PostContent};
use super::{ChatDelivery, ChatNote, ChatParts};
use avocet_core::i18n::{LocalizedText, chat as w, session as s};
use avocet_session::SessionConfig;
use avocet_session::send_tool::SendTool;

/// How long a conversation that is being opened keeps others waiting: its folder may be on a disk
/// that does not answer.
const TURN: Duration = Duration::from_secs(1);

impl ChatParts {
    /// Opens the session of a chat, as its request says.
    pub(super) async fn open_conversation(&self) -> Result<SessionConfig, LocalizedText> {
        let open = Arc::clone(&self.open_session);
        let request = self.request.clone();

        let turn = Arc::clone(&self.openings).acquire_owned().await;
        let mut opening = tokio::task::spawn_blocking(move || open(request));
        let built = timeout(TURN, &mut opening).await;
        drop(turn);
        let built = match built {
            Ok(built) => built,
            Err(_) => opening.await,
        };
        let crashed = |error: JoinError| Err(s::TURN_CRASHED.with("why", error.to_string()));
        let mut config = built.unwrap_or_else(crashed)?;
        if self.options.limits.upload > 0 {
            config.tools = config.tools.with_tool(Arc::new(SendTool));
        }
        Ok(config)
    }

    /// The session could not be built: each message is answered with the reason.
    pub(super) async fn refuse(&self, why: LocalizedText, deliveries: &mut Receiver<ChatDelivery>) {
        let lang = self.options.lang;
        let text = w::NOT_OPENED.with("why", why).text(lang);
        while let Ok(Some(delivery)) = timeout(Duration::from_secs(1), deliveries.recv()).await {
            let at = &self.options.address;
            let id = &delivery.incoming.id;

            let message = Outgoing::plain(text.as_str());
            let new = NewMessage::answering(Some(id));

            let _ = self.platform.send(at, PostContent::Text(&message), &new).await;
            let done = LedgerRecord::Done { delivery: delivery.incoming.id };
            let _ = self.notes.send(ChatNote::Record(done)).await;
        }
        let _ = self.notes.send(ChatNote::Ended(self.options.address.clone())).await;
    }
}
