//! The chat platforms that a session can be reached from.

use serde::{Deserialize, Serialize};

/// A chat platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatPlatform {
    Telegram,
    Slack,
    Discord,
    Feishu,
}

impl ChatPlatform {
    pub const ALL: [ChatPlatform; 4] =
        [ChatPlatform::Telegram, ChatPlatform::Slack, ChatPlatform::Discord, ChatPlatform::Feishu];

    /// The name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ChatPlatform::Telegram => "telegram",
            ChatPlatform::Slack => "slack",
            ChatPlatform::Discord => "discord",
            ChatPlatform::Feishu => "feishu",
        }
    }

    pub fn parse(name: &str) -> Option<ChatPlatform> {
        ChatPlatform::ALL.into_iter().find(|platform| platform.name() == name)
    }

    /// The name as the platform writes it.
    pub fn title(self) -> &'static str {
        match self {
            ChatPlatform::Telegram => "Telegram",
            ChatPlatform::Slack => "Slack",
            ChatPlatform::Discord => "Discord",
            ChatPlatform::Feishu => "Feishu",
        }
    }
}
