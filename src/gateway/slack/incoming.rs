//! Reads what Slack delivers: messages, mentions, slash commands and pressed buttons. Pure. Fields
//! that are not needed are ignored, and so is what is not understood.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::text::{mentions, unescape};
use crate::lenient;
use crate::platform::{
    ChatAddress, ChatId, DeliveryId, Incoming, IncomingKind, MessageId, RemoteFile, Sender,
    ThreadId, UserId,
};
use crate::quote::quoted_by;
use crate::typed_command::typed_command;

/// The command that every other one can follow.
const APP_COMMAND: &str = "avocet";

/// Something a user did, and the address that answers it for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct SlackIncoming {
    pub incoming: Incoming,
    pub response_url: Option<String>,
}

/// True for a word that is the name of a command.
pub type IsCommand = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What is needed to read deliveries.
pub struct SlackReader<'a> {
    /// The bot as a user.
    pub bot: &'a str,
    pub is_command: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EventCallback {
    #[serde(deserialize_with = "lenient::field")]
    event: Option<SlackEvent>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackEvent {
    #[serde(rename = "type", deserialize_with = "lenient::field")]
    kind: String,
    #[serde(deserialize_with = "lenient::field")]
    subtype: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    channel: String,
    #[serde(deserialize_with = "lenient::field")]
    channel_type: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    user: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    bot_id: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    text: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    ts: String,
    #[serde(deserialize_with = "lenient::field")]
    thread_ts: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    parent_user_id: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    files: Vec<SlackFile>,
    #[serde(deserialize_with = "lenient::list")]
    attachments: Vec<SlackAttachment>,
    /// As a changed message is now, and as it was.
    #[serde(rename = "message", deserialize_with = "lenient::field")]
    changed_event: Option<Box<SlackEvent>>,
    #[serde(rename = "previous_message", deserialize_with = "lenient::field")]
    previous_event: Option<Box<SlackEvent>>,
}

impl SlackAttachment {
    /// A message that was shared, as words of others.
    fn quote(&self, bot: &str) -> Option<String> {
        let is_shared = self.is_share || self.is_msg_unfurl;
        is_shared.then(|| quoted_by(&self.author_name, &unescape(&self.text, bot)))
    }
}

/// A message that was shared, or the preview of an address.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackAttachment {
    #[serde(deserialize_with = "lenient::field")]
    is_share: bool,
    #[serde(deserialize_with = "lenient::field")]
    is_msg_unfurl: bool,
    #[serde(deserialize_with = "lenient::field")]
    author_name: String,
    #[serde(deserialize_with = "lenient::field")]
    text: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackFile {
    #[serde(deserialize_with = "lenient::field")]
    name: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    mimetype: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    size: Option<u64>,
    #[serde(deserialize_with = "lenient::field")]
    mode: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    url_private: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    url_private_download: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlashCommand {
    #[serde(deserialize_with = "lenient::field")]
    command: String,
    #[serde(deserialize_with = "lenient::field")]
    text: String,
    #[serde(deserialize_with = "lenient::field")]
    channel_id: String,
    #[serde(deserialize_with = "lenient::field")]
    user_id: String,
    #[serde(deserialize_with = "lenient::field")]
    user_name: String,
    #[serde(deserialize_with = "lenient::field")]
    trigger_id: String,
    #[serde(deserialize_with = "lenient::field")]
    response_url: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackInteraction {
    #[serde(rename = "type", deserialize_with = "lenient::field")]
    kind: String,
    #[serde(deserialize_with = "lenient::field")]
    user: SlackEntity,
    #[serde(deserialize_with = "lenient::field")]
    channel: SlackEntity,
    #[serde(deserialize_with = "lenient::field")]
    container: SlackContainer,
    #[serde(deserialize_with = "lenient::field")]
    message: Option<SlackOrigin>,
    #[serde(deserialize_with = "lenient::list")]
    actions: Vec<SlackAction>,
    #[serde(deserialize_with = "lenient::field")]
    trigger_id: String,
    #[serde(deserialize_with = "lenient::field")]
    response_url: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackEntity {
    #[serde(deserialize_with = "lenient::field")]
    id: String,
    #[serde(deserialize_with = "lenient::field")]
    name: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    username: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackContainer {
    #[serde(deserialize_with = "lenient::field")]
    message_ts: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    thread_ts: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackOrigin {
    #[serde(deserialize_with = "lenient::field")]
    thread_ts: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackAction {
    #[serde(rename = "type", deserialize_with = "lenient::field")]
    kind: String,
    #[serde(deserialize_with = "lenient::field")]
    value: Option<String>,
}

/// Messages of these kinds have something to say; joins and the like have not.
const SUBTYPES: [&str; 3] = ["file_share", "thread_broadcast", "me_message"];

impl SlackReader<'_> {
    /// The payload of an envelope of this type.
    pub fn read(&self, envelope: &str, payload: Value) -> Option<SlackIncoming> {
        match envelope {
            "events_api" => {
                let event = serde_json::from_value::<EventCallback>(payload).ok()?.event?;
                let incoming = self.message(event)?;
                Some(SlackIncoming { incoming, response_url: None })
            }
            "slash_commands" => self.command(serde_json::from_value(payload).ok()?),
            "interactive" => button(serde_json::from_value(payload).ok()?),
            _ => None,
        }
    }

    /// A message of a channel's history, which does not say which channel that is.
    pub fn read_history(&self, channel: &str, message: Value) -> Option<Incoming> {
        let mut event: SlackEvent = serde_json::from_value(message).ok()?;
        channel.clone_into(&mut event.channel);
        self.message(event)
    }

    /// A message whose text was changed by its author; previews are added as well.
    fn edited(&self, event: SlackEvent) -> Option<Incoming> {
        let mut now = *event.changed_event?;
        if now.text == event.previous_event?.text {
            return None;
        }
        (now.channel, now.channel_type) = (event.channel, event.channel_type);
        let incoming = self.message(now)?;
        let id = DeliveryId(format!("e:{}:{}", incoming.at.chat, event.ts));
        Some(Incoming { id, kind: IncomingKind::Edited, ..incoming })
    }

    fn message(&self, event: SlackEvent) -> Option<Incoming> {
        if event.subtype.as_deref() == Some("message_changed") {
            return self.edited(event);
        }
        let known = ["message", "app_mention"].contains(&event.kind.as_str())
            && event.subtype.as_deref().is_none_or(|subtype| SUBTYPES.contains(&subtype));
        let user = event.user.filter(|user| *user != self.bot)?;
        if !known || event.channel.is_empty() || event.ts.is_empty() {
            return None;
        }
        let is_private = match &event.channel_type {
            Some(kind) => kind == "im",
            None => event.channel.starts_with('D'),
        };
        let raw = event.text.unwrap_or_default();
        let is_reply_to_bot = event.parent_user_id.as_deref() == Some(self.bot);
        let is_addressed = is_private || is_reply_to_bot || mentions(&raw, self.bot);
        let text = unescape(&raw, self.bot);
        let command = typed_command(&text, '!').filter(|(name, _)| (self.is_command)(name));
        let shared = event.attachments.iter().filter_map(|one| one.quote(self.bot));
        let text = std::iter::once(text).chain(shared).collect::<Vec<_>>().join("\n\n");
        let files: Vec<RemoteFile> = event.files.into_iter().filter_map(remote_file).collect();
        if text.trim().is_empty() && files.is_empty() && !is_addressed {
            return None;
        }
        let is_command = command.is_some();
        let kind = match command {
            _ if !files.is_empty() => IncomingKind::Files { files, text },
            Some((name, args)) => IncomingKind::typed(name, args),
            None => IncomingKind::Text { text },
        };
        // A conversation in a channel is a thread, so that it does not fill the channel.
        let thread = event.thread_ts.or_else(|| (!is_private).then(|| event.ts.clone()));
        Some(Incoming {
            // A mention is delivered as two events.
            id: DeliveryId(format!("m:{}:{}", event.channel, event.ts)),
            at: ChatAddress {
                chat: ChatId(event.channel),
                thread: thread.map(ThreadId),
                user: None,
            },
            message: Some(MessageId(event.ts)),
            sender: sender(user, String::new(), event.bot_id.is_some()),
            is_group: !is_private,
            is_addressed: is_addressed || is_command,
            quote: None,
            album: None,
            kind,
        })
    }

    /// `/avocet name args`, or a command of the manifest by its own name.
    fn command(&self, command: SlashCommand) -> Option<SlackIncoming> {
        let typed = unescape(&command.text, "");
        let name = command.command.trim_start_matches('/').to_owned();
        let kind = match name.as_str() {
            "" => return None,
            APP_COMMAND if typed.is_empty() => IncomingKind::typed("help", ""),
            // Whether the first word is a command is known where the commands are.
            APP_COMMAND => match typed_command(&format!("/{}", typed.trim_start_matches('/')), '/')
            {
                Some(_) => IncomingKind::typed(APP_COMMAND, typed),
                None => IncomingKind::Text { text: typed },
            },
            _ => IncomingKind::typed(name, typed),
        };
        let incoming = Incoming {
            id: DeliveryId(format!("c:{}", command.trigger_id)),
            is_group: !command.channel_id.starts_with('D'),
            at: ChatAddress { chat: ChatId(command.channel_id), thread: None, user: None },
            message: None,
            sender: sender(command.user_id, command.user_name, false),
            is_addressed: true,
            quote: None,
            album: None,
            kind,
        };
        Some(SlackIncoming { incoming, response_url: command.response_url })
    }
}

fn button(interaction: SlackInteraction) -> Option<SlackIncoming> {
    if interaction.kind != "block_actions" {
        return None;
    }
    let action = interaction.actions.into_iter().find(|action| action.kind == "button")?;
    let thread = interaction.container.thread_ts;
    let thread = thread.or_else(|| interaction.message.and_then(|message| message.thread_ts));
    let id = format!("a:{}", interaction.trigger_id);
    let name = interaction.user.username.or(interaction.user.name).unwrap_or_default();
    let incoming = Incoming {
        id: DeliveryId(id.clone()),
        is_group: !interaction.channel.id.starts_with('D'),
        at: ChatAddress {
            chat: ChatId(interaction.channel.id),
            thread: thread.map(ThreadId),
            user: None,
        },
        message: interaction.container.message_ts.map(MessageId),
        sender: sender(interaction.user.id, name, false),
        is_addressed: true,
        quote: None,
        album: None,
        kind: IncomingKind::Button { data: action.value.unwrap_or_default(), press: id },
    };
    Some(SlackIncoming { incoming, response_url: interaction.response_url })
}

fn sender(id: String, name: String, is_bot: bool) -> Sender {
    Sender { id: UserId(id), name, language: None, is_bot }
}

/// `None` for a file that is not at the service: anyone chooses the address of an external one.
fn remote_file(file: SlackFile) -> Option<RemoteFile> {
    let is_external =
        matches!(file.mode.as_deref(), Some("external" | "tombstone" | "hidden_by_limit"));
    let reference = file.url_private_download.or(file.url_private).filter(|_| !is_external)?;
    let media_type = file.mimetype;
    let size = file.size;

    Some(RemoteFile { reference, name: file.name.unwrap_or_default(), media_type, size })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(envelope: &str, payload: Value) -> Option<SlackIncoming> {
        let is_command = |name: &str| ["status", "model", "stop"].contains(&name);
        SlackReader { bot: "UBOT", is_command: &is_command }.read(envelope, payload)
    }

    fn message(event: Value) -> Option<Incoming> {
        let mut whole = json!({ "type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "ts": "1.2" });
        for (key, value) in event.as_object().unwrap() {
            whole[key] = value.clone();
        }
        read("events_api", json!({ "event": whole, "later": [1] })).map(|read| read.incoming)
    }

    #[test]
    fn a_changed_message_is_told_from_one_with_a_new_preview() {
        let changed = |before: &str| {
            let now =
                json!({ "type": "message", "user": "U1", "ts": "1.2", "text": "<@UBOT> now" });
            message(json!({ "subtype": "message_changed", "ts": "2.1", "message": now,
                "previous_message": { "text": before } }))
        };
        assert_eq!(changed("<@UBOT> before").unwrap().kind, IncomingKind::Edited);
        assert_eq!(changed("<@UBOT> now"), None);
    }

    fn text(incoming: &Incoming) -> &str {
        match &incoming.kind {
            IncomingKind::Text { text } => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_mention_in_a_channel_starts_a_thread_and_both_its_events_are_one_delivery() {
        let first = message(json!({ "text": "<@UBOT> fix &lt;it&gt;" })).unwrap();
        assert_eq!(text(&first), "fix <it>");
        assert_eq!(
            first.at,
            ChatAddress { chat: "C1".into(), thread: Some("1.2".into()), user: None }
        );
        assert!(first.is_group && first.is_addressed);
        let second = json!({ "type": "app_mention", "text": "<@UBOT> fix &lt;it&gt;" });
        assert_eq!(message(second).unwrap().id, first.id);
    }

    #[test]
    fn a_direct_message_is_addressed_and_chatter_in_a_channel_is_not() {
        let direct =
            message(json!({ "channel": "D1", "channel_type": "im", "text": "hi" })).unwrap();
        assert!(direct.is_addressed && !direct.is_group && direct.at.thread.is_none());
        assert!(!message(json!({ "text": "hi all" })).unwrap().is_addressed);
        let reply = json!({ "text": "go on", "thread_ts": "1.0", "parent_user_id": "UBOT" });
        let reply = message(reply).unwrap();
        assert!(reply.is_addressed);
        assert_eq!(reply.at.thread, Some("1.0".into()));
    }

    #[test]
    fn a_message_that_is_shared_is_quoted_with_its_author_and_a_preview_is_not() {
        let shared = json!([
            { "is_share": true, "author_name": "Eve", "text": "/stop &amp; go" },
            { "text": "the preview of an address" },
        ]);
        let read = message(json!({ "text": "what is this?", "attachments": shared })).unwrap();
        assert_eq!(text(&read), "what is this?\n\n> Eve: /stop & go");
    }

    #[test]
    fn a_known_word_after_an_exclamation_mark_is_a_command() {
        let at = json!({ "text": "!model qwen &amp; co", "thread_ts": "1.0" });
        let command = IncomingKind::typed("model", "qwen & co");
        assert_eq!(message(at).unwrap().kind, command);
        let unknown = message(json!({ "text": "!ls -l" })).unwrap();
        assert_eq!(text(&unknown), "!ls -l");
        assert!(!unknown.is_addressed);
    }

    #[test]
    fn what_the_bot_wrote_and_what_nobody_wrote_is_no_message() {
        assert_eq!(message(json!({ "user": "UBOT", "text": "x" })), None);
        assert_eq!(message(json!({ "subtype": "message_changed", "text": "x" })), None);
        assert_eq!(message(json!({ "type": "reaction_added" })), None);
        assert_eq!(message(json!({ "user": null, "text": "x" })), None);
        assert_eq!(message(json!({ "channel": 7 })), None, "not as documented");
        assert!(message(json!({ "bot_id": "B2", "text": "x" })).unwrap().sender.is_bot);
        for kind in ["events_api", "slash_commands", "interactive", "other"] {
            for payload in [json!(null), json!([]), json!({}), json!({ "event": 1 })] {
                assert_eq!(read(kind, payload.clone()), None, "{kind} {payload}");
            }
        }
    }

    #[test]
    fn a_field_that_is_not_as_documented_loses_no_message() {
        let file = json!({ "name": 7, "mimetype": [], "size": -3, "url_private": "https://files.slack.com/a" });
        let bad =
            json!({ "text": "look", "files": [file, 7], "parent_user_id": 1, "bot_id": false });
        let IncomingKind::Files { files, text } = message(bad).unwrap().kind else {
            panic!("the file is lost")
        };
        assert_eq!((files.len(), files[0].size, text.as_str()), (1, None, "look"));
    }

    #[test]
    fn files_at_the_service_come_along_and_external_ones_do_not() {
        let files = json!([
            { "name": "a.png", "mimetype": "image/png", "size": 3, "mode": "hosted", "url_private": "https://files.slack.com/a" },
            { "name": "b", "mode": "external", "url_private": "https://evil.example/b" },
        ]);
        let read =
            message(json!({ "subtype": "file_share", "text": "look", "files": files })).unwrap();
        let IncomingKind::Files { files, text } = read.kind else { panic!() };
        assert_eq!((files.len(), files[0].name.as_str(), text.as_str()), (1, "a.png", "look"));
    }

    #[test]
    fn a_slash_command_is_its_own_name_or_a_word_of_the_app() {
        let kind = |command: &str, text: &str| {
            let payload = json!({ "command": command, "text": text, "channel_id": "C1", "user_id": "U1",
                "trigger_id": "t", "response_url": "https://hooks.slack.com/x" });
            let read = read("slash_commands", payload).unwrap();
            assert!(read.response_url.is_some() && read.incoming.is_addressed);
            read.incoming.kind
        };
        let command = |name: &str, args: &str| IncomingKind::typed(name, args);
        assert_eq!(kind("/model", "qwen"), command("model", "qwen"));
        for typed in ["model qwen 3", "/Model qwen 3", "fix the sign"] {
            assert_eq!(kind("/avocet", typed), command("avocet", typed));
        }
        assert_eq!(kind("/avocet", ""), command("help", ""));
        for text in ["/etc/hosts is what?", "* all"] {
            assert_eq!(kind("/avocet", text), IncomingKind::Text { text: text.into() });
        }
    }

    #[test]
    fn a_press_names_the_message_its_thread_and_who_pressed() {
        let payload = json!({
            "type": "block_actions", "user": { "id": "U1", "username": "ann" }, "channel": { "id": "C1" },
            "container": { "message_ts": "5.0", "thread_ts": "1.0" }, "trigger_id": "t7",
            "response_url": "https://hooks.slack.com/x",
            "actions": [{ "type": "button", "action_id": "b0", "value": "nonce:once" }],
        });
        let read = read("interactive", payload).unwrap();
        let pressed = IncomingKind::Button { data: "nonce:once".into(), press: "a:t7".into() };
        assert_eq!(read.incoming.kind, pressed);
        assert_eq!(read.incoming.message, Some("5.0".into()));
        assert_eq!(read.incoming.at.thread, Some("1.0".into()));
        assert_eq!(read.incoming.sender.id, "U1".into());
    }
}
