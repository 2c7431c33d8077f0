//! Looks up what a delivery does not say: the name of its sender, and the message that it answers.

use std::sync::Arc;
use std::time::Instant;

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
            && let Some(found) = self.read(&format!("im/v1/messages/{parent}")).await
        {
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
        let Some(thread) = &incoming.at.thread else { return true };
        let now = Instant::now();
        let is_known = self.known.threads.get(&thread.0, now).is_some();
        if !is_known && incoming.is_addressed {
            self.known.threads.insert(&thread.0, (), now);
        }
        !is_known
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
