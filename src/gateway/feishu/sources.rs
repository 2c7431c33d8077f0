//! Looks up what a delivery does not say: the name of its sender, and the message that it answers.
//! What cannot be looked up in a moment stays unsaid.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::timeout;

use super::api::FeishuApi;
use super::incoming::{FeishuIncoming, read_text};
use crate::platform::{Incoming, QuotedMessage};
use crate::recent::Recent;

/// Names and threads that are remembered, and for how long.
const REMEMBERED: usize = 1_000;
const LIFETIME: Duration = Duration::from_secs(24 * 3_600);

/// What is delivered must be answered within 3 s.
const PATIENCE: Duration = Duration::from_millis(800);

pub struct FeishuSources {
    api: Arc<FeishuApi>,
    recent_names: Recent<String>,
    /// The threads whose first message the model knows.
    recent_threads: Recent<()>,
}

impl FeishuSources {
    pub fn new(api: Arc<FeishuApi>) -> FeishuSources {
        let recent_names = Recent::new(REMEMBERED, LIFETIME);
        FeishuSources { api, recent_names, recent_threads: Recent::new(REMEMBERED, LIFETIME) }
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
        if incoming.is_addressed {
            incoming.sender.name = self.name(&incoming.sender.id.0).await;
        }
        incoming
    }

    /// In a thread, every message answers the first one.
    fn is_news(&self, incoming: &Incoming) -> bool {
        let Some(thread) = &incoming.at.thread else { return true };
        let now = Instant::now();
        let is_known = self.recent_threads.get(&thread.0, now).is_some();
        if !is_known && incoming.is_addressed {
            self.recent_threads.insert(&thread.0, (), now);
        }
        !is_known
    }

    async fn quote(&self, message: &Value) -> Option<QuotedMessage> {
        let content = message["body"]["content"].as_str()?;
        let content = serde_json::from_str(content).ok()?;
        let mentions = message["mentions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = read_text(&content, mentions, "");
        let author = message["sender"]["id"].as_str().unwrap_or_default();
        let name = self.name(author).await;
        let author = if name.is_empty() { author.to_owned() } else { name };
        Some(QuotedMessage { author, text })
    }

    /// Empty if the service does not tell it.
    async fn name(&self, user: &str) -> String {
        if let Some(name) = self.recent_names.get(user, Instant::now()) {
            return name;
        }
        let path = format!("contact/v3/users/{user}?user_id_type=open_id");
        let found = self.read(&path).await.unwrap_or_default();
        let name = found["user"]["name"].as_str().unwrap_or_default().to_owned();
        self.recent_names.insert(user, name.clone(), Instant::now());
        name
    }

    async fn read(&self, path: &str) -> Option<Value> {
        timeout(PATIENCE, self.api.get(path)).await.ok()?.ok()
    }
}
