//! The files of a message, which are fetched while the chat goes on.

use std::sync::Arc;

use super::super::conversation::FetchState;
use super::super::fetch::FetchedFile;
use super::super::ledger::LedgerRecord;
use super::{Chat, ChatDelivery};
use avocet_core::i18n::chat as w;

impl Chat {
    /// Messages keep their order.
    pub(super) async fn wait_for_fetch(&mut self, delivery: ChatDelivery) {
        let most = self.parts.options.most_queued;
        if self.fetch_queue.waiting.len() < most {
            return self.fetch_queue.waiting.push_back(delivery);
        }
        let id = delivery.incoming.id;
        self.conversation.view.posts.answer(id.clone(), w::QUEUE_FULL.with("most", most));
        self.record(LedgerRecord::Done { delivery: id }).await;
    }

    /// Begins with the next file of the message; without one, the message is submitted.
    pub(super) async fn fetch_next(&mut self) {
        let most = self.parts.most_file.min(self.parts.options.limits.download);
        let Some(fetch) = &mut self.fetch_queue.fetch else { return };
        if let Some(file) = fetch.next(most, &mut self.conversation.view.posts) {
            let platform = Arc::clone(&self.parts.platform);
            self.fetch_queue.download = Some(Box::pin(async move {
                let fetched = platform.download(&file, most).await;
                FetchedFile { name: file.name, fetched: fetched.map_err(|why| why.to_string()) }
            }));
            return;
        }
        let lang = self.conversation.view.posts.lang();
        let Some((speaker, id, text, mentions)) =
            self.fetch_queue.fetch.take().map(|all| all.message(lang))
        else {
            return;
        };
        self.conversation.fetching = FetchState::Idle;
        if text.is_empty() && mentions.is_empty() {
            // None of its files came, and the chat knows why.
            return self.record(LedgerRecord::Done { delivery: id }).await;
        }
        let effects = self.conversation.on_text(&speaker, id, &text, mentions);
        self.apply(effects).await;
    }

    pub(super) async fn on_downloaded(&mut self, file: FetchedFile) {
        if let Some(fetch) = &mut self.fetch_queue.fetch {
            fetch.take(file, &mut self.parts.files, &mut self.conversation.view.posts);
        }
        self.fetch_next().await;
        self.go_on_after_fetch().await;
    }

    pub(super) async fn stop_fetch(&mut self) {
        self.fetch_queue.download = None;
        self.conversation.fetching = FetchState::Idle;
        if let Some(fetch) = self.fetch_queue.fetch.take() {
            self.record(LedgerRecord::Done { delivery: fetch.delivery }).await;
        }
        self.go_on_after_fetch().await;
    }

    /// The messages that came meanwhile, up to the next one with files.
    pub(super) async fn go_on_after_fetch(&mut self) {
        while self.fetch_queue.fetch.is_none()
            && let Some(delivery) = self.fetch_queue.waiting.pop_front()
        {
            self.act_on(delivery).await;
        }
    }
}
