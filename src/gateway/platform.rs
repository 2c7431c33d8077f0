//! What a chat service does for the gateway: messages in; messages, edits, questions, menus and
//! files out. Plain data, and one trait.
//!
//! A service knows nothing of sessions, commands or who may talk. It does not retry a refused
//! call, and it does not split: the caller keeps to [`PlatformLimits`]. Reconnecting and what the
//! protocol asks for in time (acknowledgements, heartbeats) is the service's own.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::setup_report::SetupReport;
use avocet_core::i18n::Phrase;
use avocet_core::protocol::ChatPlatform;

macro_rules! ids {
    ($($(#[$about:meta])* $name:ident)*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl From<&str> for $name {
            fn from(id: &str) -> $name {
                $name(id.to_owned())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// A chat, channel or direct conversation, in the service's own form.
    ChatId
    /// A thread or topic of a chat.
    ThreadId
    /// A message of a chat.
    MessageId
    /// A user of the service: never the name, which anyone can change.
    UserId
    /// A delivery: the same for a message that the service delivers again.
    DeliveryId
}

/// Where a conversation is: a chat, or one thread of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChatAddress {
    pub chat: ChatId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// Whose conversation it is, where each user of a group has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
}

/// Something that a user did in a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incoming {
    pub id: DeliveryId,
    pub at: ChatAddress,
    /// The message it came in, or the one whose button was pressed.
    pub message: Option<MessageId>,
    pub sender: Sender,
    /// Not a private chat: others read along.
    pub is_group: bool,
    /// The bot was mentioned, or its own message was answered. Private chats and commands count.
    pub is_addressed: bool,
    /// The message that this one answers, or that its thread began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<QuotedMessage>,
    /// The album that it is one file of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    pub kind: IncomingKind,
}

/// A message of someone else that a message points to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotedMessage {
    /// Chosen by the author.
    pub author: String,
    pub text: String,
}

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub id: UserId,
    /// Chosen by the sender, so never a proof of anything.
    pub name: String,
    /// The language of the sender's client, as the service names it (`zh-hans`).
    pub language: Option<String>,
    /// Another program: it is never answered.
    pub is_bot: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IncomingKind {
    /// A message, without the mention of the bot, and unescaped.
    Text { text: String },
    /// A command of the menu or typed with its slash: `/name@bot args` is `name` and `args`.
    Command {
        name: String,
        args: String,
        /// Arguments by the names that the menu gave them, in the order in which they were chosen.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<ChosenOption>,
    },
    /// A button was pressed. `press` is for [`Platform::acknowledge`]; `data` was possibly forged.
    Button { data: String, press: String },
    /// Files, with the text sent along.
    Files { files: Vec<RemoteFile>, text: String },
    /// The group has this place now, and had the other one before.
    Moved { old_id: ChatId },
    /// A message was changed. It may have been answered already, so it is not read again.
    Edited,
    /// The service asks what could follow in an option of a command; `query` is for
    /// [`Platform::suggest`].
    Suggest { command: String, option: String, typed: String, query: String },
}

impl IncomingKind {
    /// A command as it was typed.
    pub fn typed(name: impl Into<String>, args: impl Into<String>) -> IncomingKind {
        IncomingKind::Command { name: name.into(), args: args.into(), options: Vec::new() }
    }

    /// What one that waits takes, in bytes.
    pub fn size(&self) -> usize {
        let text = match self {
            IncomingKind::Text { text } | IncomingKind::Files { text, .. } => text.trim().len(),
            _ => 0,
        };
        text + 512
    }
}

/// An argument that was chosen by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenOption {
    pub name: String,
    pub value: String,
}

/// A file that is at the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteFile {
    /// What [`Platform::download`] needs: an id or an address.
    pub reference: String,
    /// Chosen by the sender: not a path.
    pub name: String,
    pub media_type: Option<String>,
    /// In bytes, if the service says so.
    pub size: Option<u64>,
}

/// What came, and the position in the service's stream after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub messages: Vec<Incoming>,
    /// `None` if the service has no position to come back to.
    pub cursor: Option<Cursor>,
}

/// A position in the stream of a service, as the service's file writes it. It is stored, and given
/// to the service's constructor after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

/// A text to send: already in the markup of the service, within [`PlatformLimits::text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub text: String,
    pub markup: MessageMarkup,
}

impl ChatAddress {
    /// A chat without a thread.
    pub fn of(chat: impl Into<String>) -> ChatAddress {
        ChatAddress { chat: ChatId(chat.into()), thread: None, user: None }
    }
}

impl Outgoing {
    pub fn plain(text: impl Into<String>) -> Outgoing {
        Outgoing { text: text.into(), markup: MessageMarkup::Plain }
    }

    pub fn native(text: impl Into<String>) -> Outgoing {
        Outgoing { text: text.into(), markup: MessageMarkup::Native }
    }
}

/// What a service needs to know of a new message besides what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The same at every try to send this message, and at no other: a service that knows it has the
    /// message already.
    pub nonce: u64,
    /// Earlier tries whose outcome is unknown.
    pub tries: u32,
    /// What it answers: a service may show where an answer to a command will come, or show it to
    /// its sender only.
    pub answers: Option<DeliveryId>,
}

impl NewMessage {
    /// One that is tried once.
    pub fn answering(delivery: Option<&DeliveryId>) -> NewMessage {
        NewMessage { nonce: fastrand::u64(..), tries: 0, answers: delivery.cloned() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageMarkup {
    /// Shown exactly as it is: a service whose messages are always markup escapes it.
    Plain,
    /// In the [`PlatformLimits::dialect`].
    Native,
}

/// A message with buttons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ButtonQuestion {
    pub text: Outgoing,
    /// From left to right; a service may break the row.
    pub buttons: Vec<Button>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub label: String,
    /// Comes back in [`IncomingKind::Button`]: begins with the question's nonce, and is at most 64
    /// bytes of ASCII.
    pub data: String,
    pub style: ButtonStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonStyle {
    Usual,
    /// The careful answer.
    Refuse,
}

/// A file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingFile {
    pub name: String,
    pub media_type: String,
    pub bytes: Bytes,
    /// Plain text above it; may be empty.
    pub caption: String,
    /// It is to be looked at, not to be saved as it is.
    pub is_picture: bool,
}

/// What a service takes. Texts over it are refused or cut by the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlatformLimits {
    /// Longest message, as `unit` counts it.
    pub text: usize,
    pub unit: TextUnit,
    /// Longest message as it is sent, with its marks, where the service counts these.
    pub rendered: Option<usize>,
    /// Least time between two edits of the messages of a private chat.
    pub edit_pace: Duration,
    /// The same in a group.
    pub group_pace: Duration,
    /// Edits are limited apart from new messages: one that is refused holds none of these up.
    pub limits_edits_apart: bool,
    /// Its clients send a text that is about this long, or longer, in pieces.
    pub piece: Option<usize>,
    /// A typing signal is shown for this long.
    pub typing: Duration,
    /// Longest label of a button, in characters.
    pub label: usize,
    /// Largest file, in bytes, that can be sent.
    pub upload: u64,
    /// Largest file, in bytes, that can be fetched.
    pub download: u64,
    pub dialect: MarkupDialect,
    /// Messages whose id begins with this can be changed a few times only: once, at their end.
    pub rationed: Option<&'static str>,
    pub customs: PlatformCustoms,
}

/// What else is usual where a service's conversations are led.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlatformCustoms {
    /// A conversation in a group may be a thread of its own: what follows in it is meant without a
    /// mention.
    pub has_own_threads: bool,
    /// The service takes no command with a slash in a thread: it begins with `!` there.
    pub marks_commands: bool,
    /// What follows the command that takes all others, and is none of them, is a message.
    pub umbrella_takes_messages: bool,
    /// What a client sends when a user opens the chat for the first time.
    pub greeting: Option<&'static str>,
    /// How typed words reach a bot that does not hear all of a group.
    pub hearing_note: Option<Phrase>,
}

#[cfg(test)]
impl PlatformLimits {
    /// Of a service that waits for nothing and takes messages of this length.
    pub fn for_tests(text: usize) -> PlatformLimits {
        PlatformLimits {
            text,
            unit: TextUnit::Utf16,
            rendered: None,
            edit_pace: Duration::ZERO,
            group_pace: Duration::ZERO,
            limits_edits_apart: false,
            piece: None,
            typing: Duration::ZERO,
            label: 40,
            upload: 1 << 20,
            download: 1 << 20,
            dialect: MarkupDialect::TelegramV2,
            rationed: None,
            customs: PlatformCustoms { greeting: Some("start"), ..PlatformCustoms::default() },
        }
    }
}

/// How a service counts the length of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextUnit {
    Chars,
    /// As JavaScript counts: an emoji is two.
    Utf16,
}

impl TextUnit {
    pub fn count(self, text: &str) -> usize {
        match self {
            TextUnit::Chars => text.chars().count(),
            TextUnit::Utf16 => text.encode_utf16().count(),
        }
    }
}

/// The markup that a service understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkupDialect {
    /// Telegram's MarkdownV2.
    TelegramV2,
    /// Slack's mrkdwn.
    Mrkdwn,
    /// Discord's Markdown.
    Discord,
    /// Markdown of Lark's cards.
    Lark,
}

/// Why a service did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlatformError {
    /// Too many calls; the same call may be repeated after this time.
    #[error("the service asks to wait {} s", .after.as_secs_f64())]
    RateLimited { after: Duration },
    /// The token is wrong or was revoked: no call will succeed.
    #[error("the service does not accept the token")]
    Unauthorized,
    /// The chat or the message does not exist any more, or the bot was removed from it.
    #[error("the chat or the message is gone")]
    Gone,
    /// No answer came: whether it was done is not known.
    #[error("the service cannot be reached: {0}")]
    Network(String),
    /// The markup is invalid: the same text in [`MessageMarkup::Plain`] will succeed.
    #[error("the service does not accept the markup: {0}")]
    Markup(String),
    /// Any other refusal, in the service's words, without the token.
    #[error("the service refuses: {0}")]
    Refused(String),
    /// It cannot be written down here, so nothing is done about it.
    #[error("what came cannot be written to the disk: {0}")]
    Disk(String),
}

impl PlatformError {
    /// A token is refused that was accepted before: the service may have trouble of its own.
    pub fn refused_for_now() -> PlatformError {
        PlatformError::Refused("the token, for now".to_owned())
    }
}

/// What a new message contains.
#[derive(Clone, Copy, Debug)]
pub enum PostContent<'a> {
    Text(&'a Outgoing),
    Question(&'a ButtonQuestion),
    File(&'a OutgoingFile),
}

pub type PlatformResult<'a, T> = BoxFuture<'a, Result<T, PlatformError>>;

/// A connection to a service. One task receives; any number of others call the rest meanwhile.
pub trait Platform: Send + Sync {
    fn kind(&self) -> ChatPlatform;

    fn limits(&self) -> PlatformLimits;

    /// What the service knows of the bot, once it is connected: checks the token.
    fn connect(&self) -> PlatformResult<'_, SetupReport>;

    /// Waits for what users did. May be dropped and called again without loss. A service reconnects
    /// by itself within a call; an error here is retried by the caller with growing pauses, except
    /// for [`PlatformError::Unauthorized`], which ends the service.
    fn receive(&self) -> PlatformResult<'_, Batch>;

    /// Everything up to the cursor is stored here: the service need not deliver it again.
    fn confirm(&self, cursor: &Cursor) -> PlatformResult<'_, ()>;

    /// Sends a new message.
    fn send<'a>(
        &'a self,
        address: &'a ChatAddress,
        content: PostContent<'a>,
        new: &'a NewMessage,
    ) -> PlatformResult<'a, MessageId>;

    /// Replaces the text of a message, and removes its buttons. Succeeds if the text is the same
    /// already.
    fn edit<'a>(
        &'a self,
        address: &'a ChatAddress,
        message: &'a MessageId,
        outgoing: &'a Outgoing,
    ) -> PlatformResult<'a, ()>;

    /// Tells the service that a press has arrived, so that it stops waiting; `text` is shown only to
    /// the user who pressed, if the service can do that.
    fn acknowledge(&self, press: &str, text: Option<&str>) -> PlatformResult<'_, ()>;

    /// No answer will come to this command, or none but those that came. Where a service shows that
    /// an answer will come, it does not any more.
    fn dismiss<'a>(&'a self, _command: &'a DeliveryId) -> PlatformResult<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Who did this may talk: a later run must not miss what is written there.
    fn admitted(&self, _incoming: &Incoming) {}

    /// The private chat with a user.
    fn private_chat<'a>(&'a self, user: &'a UserId) -> PlatformResult<'a, ChatAddress>;

    /// Answers [`IncomingKind::Suggest`].
    fn suggest(&self, _query: &str, _choices: &[String]) -> PlatformResult<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Shows that an answer is being written, for [`PlatformLimits::typing`].
    fn typing<'a>(&'a self, _address: &'a ChatAddress) -> PlatformResult<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Registers the menu: each value is the body of one call of the service.
    fn set_menu<'a>(&'a self, _calls: &'a [Value]) -> PlatformResult<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Fetches a file of at most so many bytes.
    fn download<'a>(&'a self, file: &'a RemoteFile, most: u64) -> PlatformResult<'a, Bytes>;

    /// Leaves: closes connections. `receive` then ends.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
