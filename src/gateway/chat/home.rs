//! The working folder of a chat.

use std::sync::Arc;

use super::super::platform::DeliveryId;
use super::{Chat, ChatNote, ChatPhase, SessionRequest};
use avocet_core::i18n::chat as w;

impl Chat {
    /// Moves the chat to a folder that a session can be opened in.
    pub(super) async fn set_home(&mut self, folder: String, command: DeliveryId) {
        let open = Arc::clone(&self.parts.open_session);
        let request = SessionRequest { folder: Some(folder), ..SessionRequest::default() };
        let folder = request.folder.clone().unwrap_or_default();
        match tokio::task::spawn_blocking(move || open(request)).await {
            Ok(Ok(config)) => {
                let say = w::HOME_SET.with("folder", config.info.cwd.clone());
                self.conversation.view.posts.answer(command, say);
                let at = self.parts.options.address.clone();
                let folder = config.info.cwd;

                let _ = self.parts.notes.send(ChatNote::Moved(at, folder)).await;
                // What came with it is for the conversation in the other folder.
                self.phase = ChatPhase::Leaving;
            }
            Ok(Err(why)) => self.conversation.view.posts.answer(command, why),
            Err(_) => {
                self.conversation.view.posts.answer(command, w::NO_HOME.with("folder", folder))
            }
        }
    }
}
