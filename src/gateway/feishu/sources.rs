//! Looks up what a delivery does not say: the name of its sender, and the message that it answers.

use std::sync::Arc;

use serde_json::Value;

use super::api::FeishuApi;
use super::incoming::{FeishuIncoming, read_text};
use crate::known_users::{KnownUser, KnownUsers, in_a_moment};
use crate::platform::{Incoming, QuotedMessage};

pub struct FeishuSources {
    api: Arc<FeishuApi>,
    known: KnownUsers,
}

impl FeishuSources {
    pub fn new(api: Arc<FeishuApi>) -> FeishuSources {
        FeishuSources { api, known: KnownUsers::default() }
    }

    pub async fn complete(
        &self,
        FeishuIncoming { mut incoming, parent }: FeishuIncoming,
    ) -> Incoming {
        if incoming.sender.is_bot {
            return incoming;
        }
        if let Some(parent) = parent
            && self.is_news(&incoming)
            && let Some(found) = self.parent(&parent).await
        {
            self.keep_thread(&incoming);
            let answered = &found["items"][0];
            // The model knows the bot's own messages.
            if answered["sender"]["sender_type"] == "app" {
                incoming.is_addressed = true;
            } else {
                incoming.quote = self.quote(answered).await;
            }
        }
        // What follows in a thread of the bot's own needs no mention.
        if incoming.is_addressed || incoming.at.thread.is_some() {
            incoming.sender.name = self.user(&incoming.sender.id.0).await.name;
        }
        incoming
    }

    /// In a thread, every message answers the first one.
    fn is_news(&self, incoming: &Incoming) -> bool {
        incoming.at.thread.as_ref().is_none_or(|thread| !self.known.knows_thread(&thread.0))
    }

    fn keep_thread(&self, incoming: &Incoming) {
        let thread = incoming.at.thread.as_ref().filter(|_| incoming.is_addressed);
        thread.into_iter().for_each(|thread| self.known.keep_thread(&thread.0));
    }

    async fn parent(&self, id: &str) -> Option<Value> {
        let path = format!("im/v1/messages/{id}");
        self.known.ask_unless_unanswered(id, self.read(&path)).await
    }

    async fn quote(&self, message: &Value) -> Option<QuotedMessage> {
        let content = message["body"]["content"].as_str()?;
        let content = serde_json::from_str(content).ok()?;
        let mentions = message["mentions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = read_text(&content, mentions, "");
        let author = message["sender"]["id"].as_str().unwrap_or_default();
        Some(self.user(author).await.quote(author, text))
    }

    async fn user(&self, id: &str) -> KnownUser {
        let path = format!("contact/v3/users/{id}?user_id_type=open_id");
        let ask = async {
            let found = self.read(&path).await?;
            let name = found["user"]["name"].as_str().unwrap_or_default().to_owned();
            Some(KnownUser { name, language: None })
        };
        self.known.find(id, ask).await
    }

    async fn read(&self, path: &str) -> Option<Value> {
        in_a_moment(self.api.get(path)).await
    }
}
