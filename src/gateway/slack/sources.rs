//! Looks up what a delivery does not say: the name of its sender, and the message that its thread
//! began with. What cannot be looked up in a moment stays unsaid.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::timeout;

use super::api::SlackApi;
use super::text::{mentions, unescape};
use crate::platform::{ChatAddress, Incoming, IncomingKind, QuotedMessage};
use crate::recent::Recent;

/// Names and threads that are remembered, and for how long.
const REMEMBERED: usize = 1_000;
const LIFETIME: Duration = Duration::from_secs(24 * 3_600);

/// What is delivered must be confirmed within 3 s.
const PATIENCE: Duration = Duration::from_millis(800);

pub struct SlackSources {
    api: Arc<SlackApi>,
    names: Recent<String>,
    /// The threads whose first message the model knows.
    threads: Recent<()>,
}

impl SlackSources {
    pub fn new(api: Arc<SlackApi>) -> SlackSources {
        let names = Recent::new(REMEMBERED, LIFETIME);
        SlackSources { api, names, threads: Recent::new(REMEMBERED, LIFETIME) }
    }

    /// Completes a message for `bot`.
    pub async fn complete(&self, incoming: &mut Incoming, bot: &str) {
        let is_message =
            matches!(incoming.kind, IncomingKind::Text { .. } | IncomingKind::Files { .. });
        // What follows in a thread of the bot's own needs no mention.
        let is_follow_up = incoming.at.thread.as_ref().map(|thread| &thread.0)
            != incoming.message.as_ref().map(|message| &message.0);
        if !is_message || incoming.sender.is_bot || !(incoming.is_addressed || is_follow_up) {
            return;
        }
        if incoming.sender.name.is_empty() {
            incoming.sender.name = self.name(&incoming.sender.id.0).await;
        }
        if incoming.is_addressed {
            incoming.quote = self.thread_start(incoming, bot).await;
        }
    }

    /// Empty if the service does not tell it.
    async fn name(&self, user: &str) -> String {
        if let Some(name) = self.names.get(user, Instant::now()) {
            return name;
        }
        let answer = self.read("users.info", &[("user", user)]).await;
        let user_of = answer.unwrap_or_default()["user"].take();
        let names = [&user_of["profile"]["display_name"], &user_of["real_name"], &user_of["name"]];
        let name = names.into_iter().filter_map(Value::as_str).find(|name| !name.is_empty());
        let name = name.unwrap_or_default().to_owned();
        self.names.insert(user, name.clone(), Instant::now());
        name
    }

    /// The message that a thread began with, if the bot joins it with this one.
    async fn thread_start(&self, incoming: &Incoming, bot: &str) -> Option<QuotedMessage> {
        let ChatAddress { chat, thread } = &incoming.at;
        let thread = thread.as_ref().filter(|_| incoming.is_group)?;
        let key = format!("{chat} {}", thread.0);
        if self.threads.get(&key, Instant::now()).is_some() {
            return None;
        }
        self.threads.insert(key, (), Instant::now());
        if incoming.message.as_ref().is_some_and(|message| message.0 == thread.0) {
            return None;
        }
        let fields = [
            ("channel", chat.0.as_str()),
            ("ts", &thread.0),
            ("latest", &thread.0),
            ("inclusive", "true"),
            ("limit", "1"),
        ];
        let page = self.read("conversations.replies", &fields).await?;
        let messages = page["messages"].as_array()?;
        let first = messages.iter().find(|message| message["ts"] == thread.0)?;
        let author = first["user"].as_str().unwrap_or_default();
        let text = first["text"].as_str().unwrap_or_default();
        // A thread of the bot's own began with what the model knows.
        if author == bot || mentions(text, bot) {
            return None;
        }
        let text = unescape(text, bot);
        let name = self.name(author).await;
        let author = if name.is_empty() { author.to_owned() } else { name };
        Some(QuotedMessage { author, text })
    }

    async fn read(&self, method: &str, fields: &[(&str, &str)]) -> Option<Value> {
        timeout(PATIENCE, self.api.call_form(method, fields)).await.ok()?.ok()
    }
}
