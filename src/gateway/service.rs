//! What a service is run with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::chat::OpenSession;
use super::ledger::Ledger;
use super::platform::{Incoming, Platform, UserId};
use super::receive::ServiceHealth;
use super::shown_menu::ServiceMenu;
use avocet_core::i18n::{Lang, LocalizedText};

/// Whether a delivery is heard.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceAdmission {
    Admit {
        is_admin: bool,
    },
    /// It was not meant for the bot; its sender may talk.
    Overheard {
        is_admin: bool,
    },
    /// It is dropped without a word.
    Silent,
    /// The sender gets this sentence.
    Refuse(LocalizedText),
}

/// Decides who is heard.
pub type Admit = Box<dyn FnMut(&Incoming) -> ServiceAdmission + Send + Sync>;

/// The bounds of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceBounds {
    /// Conversations in memory at once.
    pub sessions: usize,
    /// Calls to the service at once.
    pub connections: usize,
    /// Messages that may wait in one chat.
    pub queued: usize,
    /// Bytes that may wait for a place in all chats.
    pub waiting_bytes: usize,
    /// Largest file that is read, in bytes.
    pub file_bytes: u64,
    /// How long an idle conversation stays in memory.
    pub session_idle: Duration,
    /// How long a question stays open; `None`: until it is answered.
    pub question_time: Option<Duration>,
}

/// What the settings say of commands.
#[derive(Clone, Debug, Default)]
pub struct ServiceCommands {
    /// The settings that open commands to chats.
    pub open: Vec<&'static str>,
    /// The commands that come first in a menu.
    pub first: Vec<String>,
    /// The commands of users who are not admins; empty: all that change no settings.
    pub of_users: Vec<String>,
}

/// What the settings say of conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversationSettings {
    /// Each user of a group has one.
    pub is_per_user: bool,
    /// They are in the language of who begins them: the settings name none.
    pub follows_sender: bool,
}

/// The parts of a service.
pub struct ServiceParts {
    pub platform: Arc<dyn Platform>,
    /// The first admin of the settings.
    pub admin: Option<UserId>,
    pub ledger: Ledger,
    pub admit: Admit,
    pub open_session: OpenSession,
    pub lang: Lang,
    pub settings: ConversationSettings,
    pub commands: ServiceCommands,
    pub menu: ServiceMenu,
    pub bounds: ServiceBounds,
    /// Where files that come are kept while the program runs.
    pub files: PathBuf,
    /// What `gateway status` shows.
    pub health: watch::Sender<ServiceHealth>,
    pub leaving: CancellationToken,
}
