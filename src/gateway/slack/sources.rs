//! Looks up what a delivery does not say: the name of its sender, and the message that its thread
//! began with.

use std::sync::Arc;

use serde_json::Value;

use super::api::SlackApi;
use super::text::{mentions, unescape};
use crate::known_users::{KnownUser, KnownUsers, in_a_moment};
use crate::platform::{ChatAddress, Incoming, IncomingKind, QuotedMessage};

pub struct SlackSources {
    api: Arc<SlackApi>,
    known: KnownUsers,
}

impl SlackSources {
    pub fn new(api: Arc<SlackApi>) -> SlackSources {
        SlackSources { api, known: KnownUsers::default() }
    }

    /// Completes a message for `bot`.
    pub async fn complete(&self, incoming: &mut Incoming, bot: &str) {
        let is_command = matches!(incoming.kind, IncomingKind::Command { .. });
        let is_message =
            matches!(incoming.kind, IncomingKind::Text { .. } | IncomingKind::Files { .. });
        // What follows in a thread of the bot's own needs no mention.
        let is_follow_up = incoming.at.thread.as_ref().map(|thread| &thread.0)
            != incoming.message.as_ref().map(|message| &message.0);
        let is_for_bot = incoming.is_addressed || is_follow_up;
        if !(is_command || is_message) || incoming.sender.is_bot || !is_for_bot {
            return;
        }
        let user = self.user(&incoming.sender.id.0).await;
        incoming.sender.language = user.language;
        if incoming.sender.name.is_empty() {
            incoming.sender.name = user.name;
        }
        if incoming.is_addressed && is_message {
            incoming.quote = self.thread_start(incoming, bot).await;
        }
    }

    async fn user(&self, id: &str) -> KnownUser {
        let fields = [("user", id), ("include_locale", "true")];
        let ask = async {
            let user = self.read("users.info", &fields).await?["user"].take();
            let names = [&user["profile"]["display_name"], &user["real_name"], &user["name"]];
            let name = names.into_iter().filter_map(Value::as_str).find(|name| !name.is_empty());
            let language = user["locale"].as_str().map(str::to_owned);
            Some(KnownUser { name: name.unwrap_or_default().to_owned(), language })
        };
        self.known.find(id, ask).await
    }

    /// The message that a thread began with, if the bot joins it with this one.
    async fn thread_start(&self, incoming: &Incoming, bot: &str) -> Option<QuotedMessage> {
        let ChatAddress { chat, thread, .. } = &incoming.at;
        let thread = thread.as_ref().filter(|_| incoming.is_group)?;
        let key = format!("{chat} {}", thread.0);
        if self.known.knows_thread(&key) {
            return None;
        }
        if incoming.message.as_ref().is_some_and(|message| message.0 == thread.0) {
            self.known.keep_thread(&key);
            return None;
        }
        let fields = [
            ("channel", chat.0.as_str()),
            ("ts", &thread.0),
            ("latest", &thread.0),
            ("inclusive", "true"),
            ("limit", "1"),
        ];
        let read = self.read("conversations.replies", &fields);
        let page = self.known.ask_unless_unanswered(&key, read).await?;
        self.known.keep_thread(&key);
        let messages = page["messages"].as_array()?;
        let first = messages.iter().find(|message| message["ts"] == thread.0)?;
        let author = first["user"].as_str().unwrap_or_default();
        let text = first["text"].as_str().unwrap_or_default();
        // A thread of the bot's own began with what the model knows.
        if author == bot || mentions(text, bot) {
            return None;
        }
        Some(self.user(author).await.quote(author, unescape(text, bot)))
    }

    async fn read(&self, method: &str, fields: &[(&str, &str)]) -> Option<Value> {
        in_a_moment(self.api.call_form(method, fields)).await
    }
}
