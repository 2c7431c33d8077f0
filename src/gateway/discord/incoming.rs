//! Reads what Discord delivers: messages, commands, pressed buttons and half-typed options. Pure.
//! Fields that are not needed are ignored, and so is what is not understood.

use serde::Deserialize;
use serde_json::Value;

use super::text::{MentionedName, readable};
use crate::lenient;
use crate::platform::{
    ChatAddress, ChatId, ChosenOption, DeliveryId, Incoming, IncomingKind, MessageId,
    QuotedMessage, RemoteFile, Sender, UserId,
};
use crate::quote::quoted;
use crate::typed_command::typed_command;

/// Something a user did, and how it is answered in time.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscordIncoming {
    pub incoming: Incoming,
    /// The server it happened in; `None` for direct messages.
    pub guild: Option<String>,
    /// It was written in a thread.
    pub in_thread: bool,
    pub interaction: Option<OpenInteraction>,
}

/// What must be answered within 3 s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenInteraction {
    pub id: String,
    /// Answers it, for 15 minutes: as secret as the bot's own.
    pub token: String,
    pub kind: InteractionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InteractionKind {
    Command,
    Press,
    Suggest,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordMessage {
    #[serde(deserialize_with = "lenient::field")]
    id: String,
    #[serde(rename = "type", deserialize_with = "lenient::field")]
    kind: u64,
    #[serde(deserialize_with = "lenient::field")]
    channel_id: String,
    #[serde(deserialize_with = "lenient::field")]
    guild_id: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    author: DiscordUser,
    #[serde(deserialize_with = "lenient::field")]
    webhook_id: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    content: String,
    #[serde(deserialize_with = "lenient::list")]
    mentions: Vec<DiscordUser>,
    #[serde(deserialize_with = "lenient::list")]
    attachments: Vec<DiscordAttachment>,
    #[serde(deserialize_with = "lenient::field")]
    referenced_message: Option<ReferencedMessage>,
    /// Its number in a thread.
    #[serde(deserialize_with = "lenient::field")]
    position: Option<u64>,
    /// What was forwarded.
    #[serde(deserialize_with = "lenient::list")]
    message_snapshots: Vec<ForwardedMessage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ForwardedMessage {
    #[serde(deserialize_with = "lenient::field")]
    message: ForwardedContent,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ForwardedContent {
    #[serde(deserialize_with = "lenient::field")]
    content: String,
    #[serde(deserialize_with = "lenient::list")]
    attachments: Vec<DiscordAttachment>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReferencedMessage {
    #[serde(deserialize_with = "lenient::field")]
    author: DiscordUser,
    #[serde(deserialize_with = "lenient::field")]
    content: String,
}

impl ReferencedMessage {
    /// For the model, which knows only the bot's own messages.
    fn quote(self, bot: &str, names: &[MentionedName]) -> QuotedMessage {
        let text = readable(&self.content, bot, names);
        QuotedMessage { author: self.author.username, text }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordUser {
    #[serde(deserialize_with = "lenient::field")]
    id: String,
    #[serde(deserialize_with = "lenient::field")]
    username: String,
    #[serde(deserialize_with = "lenient::field")]
    bot: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordAttachment {
    #[serde(deserialize_with = "lenient::field")]
    filename: String,
    #[serde(deserialize_with = "lenient::field")]
    content_type: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    size: Option<u64>,
    #[serde(deserialize_with = "lenient::field")]
    url: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordInteraction {
    #[serde(deserialize_with = "lenient::field")]
    id: String,
    #[serde(rename = "type", deserialize_with = "lenient::field")]
    kind: u64,
    #[serde(deserialize_with = "lenient::field")]
    data: InteractionData,
    #[serde(deserialize_with = "lenient::field")]
    channel_id: String,
    #[serde(deserialize_with = "lenient::field")]
    guild_id: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    member: Option<Member>,
    #[serde(deserialize_with = "lenient::field")]
    user: Option<DiscordUser>,
    #[serde(deserialize_with = "lenient::field")]
    token: String,
    #[serde(deserialize_with = "lenient::field")]
    locale: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    message: Option<PressedMessage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InteractionData {
    #[serde(deserialize_with = "lenient::field")]
    name: String,
    #[serde(deserialize_with = "lenient::field")]
    custom_id: String,
    #[serde(deserialize_with = "lenient::list")]
    options: Vec<CommandOption>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CommandOption {
    #[serde(deserialize_with = "lenient::field")]
    name: String,
    #[serde(deserialize_with = "lenient::field")]
    value: Value,
    #[serde(deserialize_with = "lenient::field")]
    focused: bool,
    #[serde(deserialize_with = "lenient::list")]
    options: Vec<CommandOption>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Member {
    #[serde(deserialize_with = "lenient::field")]
    user: DiscordUser,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PressedMessage {
    #[serde(deserialize_with = "lenient::field")]
    id: String,
}

/// Usual messages and answers to messages; the others are notes of the service.
const MESSAGE_TYPES: [u64; 2] = [0, 19];

/// An event of the gateway. `bot` is the bot as a user.
pub fn read_event(name: &str, data: Value, bot: &str) -> Option<DiscordIncoming> {
    match name {
        "MESSAGE_CREATE" => message(serde_json::from_value(data).ok()?, bot),
        "MESSAGE_UPDATE" => edited(data, bot),
        "INTERACTION_CREATE" => interaction(serde_json::from_value(data).ok()?),
        _ => None,
    }
}

/// A message that its author changed: one that got the preview of an address has no such time.
fn edited(data: Value, bot: &str) -> Option<DiscordIncoming> {
    let time = data["edited_timestamp"].as_str()?.to_owned();
    let mut read = message(serde_json::from_value(data).ok()?, bot)?;
    read.incoming.id = DeliveryId(format!("e:{time}:{}", read.incoming.id));
    read.incoming.kind = IncomingKind::Edited;
    Some(read)
}

fn message(mut message: DiscordMessage, bot: &str) -> Option<DiscordIncoming> {
    let is_whole = !message.id.is_empty() && !message.channel_id.is_empty();
    if message.author.id == bot || !is_whole || !MESSAGE_TYPES.contains(&message.kind) {
        return None;
    }
    let is_group = message.guild_id.is_some();
    let is_mentioned = message.mentions.iter().any(|user| user.id == bot);
    let answered = message.referenced_message.take();
    let is_answer = answered.as_ref().is_some_and(|before| before.author.id == bot);
    let names: Vec<MentionedName> =
        message.mentions.drain(..).map(|user| (user.id, user.username)).collect();
    let mut text = readable(&message.content, bot, &names);
    for forwarded in message.message_snapshots {
        let words = readable(&forwarded.message.content, bot, &names);
        text = format!("{text}\n\n{}", quoted(&words));
        message.attachments.extend(forwarded.message.attachments);
    }
    let text = text.trim().to_owned();
    let is_addressed = !is_group || is_mentioned || is_answer;
    if text.is_empty() && message.attachments.is_empty() && !is_addressed {
        return None;
    }
    let quote = answered.filter(|_| !is_answer).map(|before| before.quote(bot, &names));
    let files: Vec<RemoteFile> = message.attachments.into_iter().map(remote_file).collect();
    let kind = match typed_command(&text, '/') {
        _ if !files.is_empty() => IncomingKind::Files { files, text },
        Some((name, args)) if is_addressed => IncomingKind::typed(name, args),
        _ => IncomingKind::Text { text },
    };
    let is_bot = message.author.bot || message.webhook_id.is_some();
    let incoming = Incoming {
        id: DeliveryId(format!("m:{}", message.id)),
        at: place(message.channel_id),
        message: Some(MessageId(message.id)),
        sender: sender(message.author.id, message.author.username, None, is_bot),
        is_group,
        is_addressed,
        quote,
        album: None,
        kind,
    };
    let in_thread = message.position.is_some();
    Some(DiscordIncoming { incoming, guild: message.guild_id, in_thread, interaction: None })
}

fn interaction(interaction: DiscordInteraction) -> Option<DiscordIncoming> {
    let user = interaction.member.map(|member| member.user).or(interaction.user)?;
    if interaction.id.is_empty() || interaction.channel_id.is_empty() {
        return None;
    }
    let data = interaction.data;
    let id = format!("i:{}", interaction.id);
    let (kind, content) = match interaction.kind {
        2 => {
            let args = subcommand(&data.options).join(" ");
            let options = chosen(&data.options);
            (InteractionKind::Command, IncomingKind::Command { name: data.name, args, options })
        }
        3 => {
            let (data, press) = (data.custom_id, id.clone());
            (InteractionKind::Press, IncomingKind::Button { data, press })
        }
        4 => {
            let focused = focused(&data.options)?;
            let (option, typed) = (focused.name.clone(), plain(&focused.value));
            let (command, query) = (data.name, id.clone());
            (InteractionKind::Suggest, IncomingKind::Suggest { command, option, typed, query })
        }
        _ => return None,
    };
    let pressed = interaction.message.map(|message| MessageId(message.id));
    let incoming = Incoming {
        // What answers a command refers to it by this id.
        message: pressed.or_else(|| Some(MessageId(id.clone()))),
        id: DeliveryId(id),
        at: place(interaction.channel_id),
        sender: sender(user.id, user.username, interaction.locale, user.bot),
        is_group: interaction.guild_id.is_some(),
        is_addressed: true,
        quote: None,
        album: None,
        kind: content,
    };
    let open = OpenInteraction { id: interaction.id, token: interaction.token, kind };
    let guild = interaction.guild_id;
    Some(DiscordIncoming { incoming, guild, in_thread: false, interaction: Some(open) })
}

/// The words of a command in a command, as they would be typed.
fn subcommand(options: &[CommandOption]) -> Vec<String> {
    let inner = options.iter().filter(|option| option.value.is_null());
    inner
        .flat_map(|option| [vec![option.name.clone()], subcommand(&option.options)].concat())
        .collect()
}

/// The values that were given, each with its name: their order is that of the user.
fn chosen(options: &[CommandOption]) -> Vec<ChosenOption> {
    let each = options.iter().flat_map(|option| match option.value {
        Value::Null => chosen(&option.options),
        _ => vec![ChosenOption { name: option.name.clone(), value: plain(&option.value) }],
    });
    each.filter(|option| !option.value.is_empty()).collect()
}

fn focused(options: &[CommandOption]) -> Option<&CommandOption> {
    options
        .iter()
        .find_map(|option| if option.focused { Some(option) } else { focused(&option.options) })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A thread is a channel of its own here.
fn place(channel: String) -> ChatAddress {
    ChatAddress { chat: ChatId(channel), thread: None, user: None }
}

fn sender(id: String, name: String, language: Option<String>, is_bot: bool) -> Sender {
    Sender { id: UserId(id), name, language, is_bot }
}

fn remote_file(attachment: DiscordAttachment) -> RemoteFile {
    let reference = attachment.url;
    let name = attachment.filename;

    RemoteFile { reference, name, media_type: attachment.content_type, size: attachment.size }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(change: Value) -> Option<DiscordIncoming> {
        let mut data = json!({
            "id": "5", "type": 0, "channel_id": "7", "content": "hi", "mentions": [],
            "author": { "id": "1", "username": "ann", "global_name": null }, "attachments": [], "new": {},
        });
        for (key, value) in change.as_object().unwrap() {
            data[key] = value.clone();
        }
        read_event("MESSAGE_CREATE", data, "900")
    }

    fn interaction(kind: u64, data: Value) -> DiscordIncoming {
        let event = json!({
            "id": "8", "type": kind, "data": data, "channel_id": "7", "token": "t", "guild_id": "50",
            "member": { "user": { "id": "1", "username": "ann" } }, "message": { "id": "6" },
        });
        read_event("INTERACTION_CREATE", event, "900").unwrap()
    }

    #[test]
    fn a_direct_message_a_mention_and_an_answer_are_addressed() {
        let direct = message(json!({})).unwrap();
        assert!(
            direct.incoming.is_addressed && !direct.incoming.is_group && direct.guild.is_none()
        );
        let mention = json!({ "guild_id": "50", "content": "<@900> run <@2>",
            "mentions": [{ "id": "900" }, { "id": "2", "username": "bob" }] });
        let mention = message(mention).unwrap().incoming;
        assert!(mention.is_addressed && mention.is_group);
        assert_eq!(mention.kind, IncomingKind::Text { text: "run @bob".into() });
        let answer =
            json!({ "guild_id": "50", "referenced_message": { "author": { "id": "900" } } });
        assert!(message(answer).unwrap().incoming.is_addressed);
        assert!(!message(json!({ "guild_id": "50" })).unwrap().incoming.is_addressed);
        let all = json!({ "guild_id": "50", "mention_everyone": true, "content": "" });
        assert_eq!(message(all), None);
    }

    #[test]
    fn a_changed_message_is_told_from_one_with_a_new_preview() {
        let changed = |time: Value| {
            let data = json!({ "id": "5", "channel_id": "7", "content": "hi",
                "author": { "id": "1" }, "edited_timestamp": time });
            read_event("MESSAGE_UPDATE", data, "900")
        };
        let edited = changed(json!("2026-01-01T00:00:00Z")).unwrap().incoming;
        assert_eq!(edited.kind, IncomingKind::Edited);
        assert_eq!(changed(Value::Null), None);
    }

    #[test]
    fn what_the_bot_wrote_and_what_the_service_notes_is_no_message() {
        assert_eq!(message(json!({ "author": { "id": "900" } })), None);
        assert_eq!(message(json!({ "type": 7 })), None);
        let unreadable = message(json!({ "content": 7 })).unwrap().incoming.kind;
        assert_eq!(unreadable, IncomingKind::Text { text: String::new() }, "not as documented");
        assert!(message(json!({ "webhook_id": "3" })).unwrap().incoming.sender.is_bot);
        assert!(
            message(json!({ "author": { "id": "2", "bot": true } }))
                .unwrap()
                .incoming
                .sender
                .is_bot
        );
        for data in [json!(null), json!([]), json!({}), json!({ "type": 2, "data": [] })] {
            assert_eq!(read_event("MESSAGE_CREATE", data.clone(), "900"), None, "{data}");
            assert_eq!(read_event("INTERACTION_CREATE", data, "900"), None);
        }
    }

    #[test]
    fn commands_are_typed_or_chosen_with_their_options_in_order() {
        let typed = message(json!({ "content": "/model qwen" })).unwrap().incoming.kind;
        let command = |args: &str, options: &[(&str, &str)]| {
            let option = |(name, value): &(&str, &str)| ChosenOption {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            };
            let options = options.iter().map(option).collect();
            IncomingKind::Command { name: "model".into(), args: args.into(), options }
        };
        assert_eq!(typed, command("qwen", &[]));
        let options = json!([{ "name": "name", "value": "qwen" }, { "name": "size", "value": 3 },
            { "name": "set", "type": 1, "options": [{ "name": "x", "value": true }] }]);
        let chosen = interaction(2, json!({ "name": "model", "options": options }));
        let options = [("name", "qwen"), ("size", "3"), ("x", "true")];
        assert_eq!(chosen.incoming.kind, command("set", &options));
        assert_eq!(chosen.interaction.unwrap().kind, InteractionKind::Command);
    }

    #[test]
    fn what_was_forwarded_is_part_of_the_message() {
        let file = json!({ "filename": "a.png", "url": "https://cdn.discordapp.com/a" });
        let snapshot = |content: &str, files: Value| json!({ "message": { "content": content, "attachments": files } });
        let forward =
            json!({ "content": "", "message_snapshots": [snapshot("read this", json!([]))] });
        let text = message(forward).unwrap().incoming.kind;
        assert_eq!(text, IncomingKind::Text { text: "> read this".into() });
        let forward =
            json!({ "content": "see", "message_snapshots": [snapshot("x", json!([file])), 7] });
        let IncomingKind::Files { files, text } = message(forward).unwrap().incoming.kind else {
            panic!("the file is lost")
        };
        assert_eq!((files.len(), text.as_str()), (1, "see\n\n> x"));
    }

    #[test]
    fn presses_and_half_typed_options_are_read() {
        let press = interaction(3, json!({ "custom_id": "n1:once", "component_type": 2 })).incoming;
        assert_eq!(
            press.kind,
            IncomingKind::Button { data: "n1:once".into(), press: "i:8".into() }
        );
        assert_eq!((press.message, press.sender.id), (Some("6".into()), "1".into()));
        let options = json!([{ "name": "a", "value": "x" }, { "name": "name", "value": " qw", "focused": true }]);
        let half = interaction(4, json!({ "name": "model", "options": options })).incoming;
        let IncomingKind::Suggest { command, option, typed, query } = half.kind else { panic!() };
        assert_eq!([command, option, typed, query], ["model", "name", "qw", "i:8"]);
    }

    #[test]
    fn a_field_that_is_not_as_documented_loses_no_message() {
        let file = json!({ "filename": 7, "content_type": [], "size": -3, "url": "https://cdn.discordapp.com/a" });
        let bad = json!({ "attachments": [file, 7], "mentions": [7], "referenced_message": 1 });
        let IncomingKind::Files { files, text } = message(bad).unwrap().incoming.kind else {
            panic!("the file is lost")
        };
        assert_eq!((files.len(), files[0].size, text.as_str()), (1, None, "hi"));
    }

    #[test]
    fn files_come_along() {
        let files = json!([{ "id": "1", "filename": "a.png", "content_type": "image/png", "size": 3, "url": "https://cdn.discordapp.com/a" }]);
        let read = message(json!({ "content": "look", "attachments": files })).unwrap().incoming;
        let IncomingKind::Files { files, text } = read.kind else { panic!() };
        assert_eq!(
            (text.as_str(), files[0].name.as_str(), files[0].size),
            ("look", "a.png", Some(3))
        );
    }
}
