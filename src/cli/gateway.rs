//! The subcommands about chat platforms, as they are typed.

use clap::{Subcommand, ValueEnum};

use avocet_core::protocol::ChatPlatform;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum GatewayCommand {
    /// Run the chat platforms of the settings until a signal ends it.
    #[command(after_help = "Examples:
  avocet gateway run
  avocet --cwd ~/project gateway run --only telegram")]
    Run {
        /// Run this platform only, whether the settings enable it or not.
        #[arg(long)]
        only: Option<PlatformName>,
    },
    /// Lead through the steps of a platform, and check each with its service.
    #[command(after_help = "Example:\n  avocet gateway setup telegram")]
    Setup {
        /// The chat platform.
        platform: PlatformName,
    },
    /// Show which platforms run, and whether they are connected.
    #[command(after_help = "Example:\n  avocet gateway status --json")]
    Status,
    /// Show which commands a platform's menu has, and what was left out and why.
    #[command(after_help = "Examples:
  avocet gateway menu telegram
  avocet gateway menu slack --json | jq .menu")]
    Menu {
        /// The chat platform.
        platform: PlatformName,
    },
    /// Print a one-time code that lets its sender talk to the bot.
    #[command(after_help = "Example:\n  avocet gateway pair --platform telegram")]
    Pair {
        /// Take the code on this platform only.
        #[arg(long)]
        platform: Option<PlatformName>,
        /// Pair an admin, who also changes settings and approves what is of high risk.
        #[arg(long)]
        admin: bool,
    },
    /// List who may talk, or remove a paired user.
    #[command(after_help = "Example:\n  avocet gateway users --remove telegram 123456789")]
    Users {
        /// The platform and the id of the user to remove.
        #[arg(long, num_args = 2, value_names = ["PLATFORM", "ID"])]
        remove: Option<Vec<String>>,
    },
    /// Save the token of a bot, typed or from standard input.
    #[command(after_help = "Example:\n  avocet gateway token telegram")]
    Token {
        /// The chat platform.
        platform: PlatformName,
        /// The token for Slack's websocket, which begins with `xapp-`.
        #[arg(long)]
        app: bool,
        /// Remove the saved token.
        #[arg(long)]
        remove: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlatformName {
    Telegram,
    Slack,
    Discord,
    Feishu,
}

impl From<PlatformName> for ChatPlatform {
    fn from(name: PlatformName) -> ChatPlatform {
        match name {
            PlatformName::Telegram => ChatPlatform::Telegram,
            PlatformName::Slack => ChatPlatform::Slack,
            PlatformName::Discord => ChatPlatform::Discord,
            PlatformName::Feishu => ChatPlatform::Feishu,
        }
    }
}
