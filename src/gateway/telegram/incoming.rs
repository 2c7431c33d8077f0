//! Reads what Telegram delivers: messages and presses. Pure. Fields that are not needed are ignored,
//! and one that is not as documented is absent.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::lenient;
use crate::platform::{
    ChatAddress, DeliveryId, Incoming, IncomingKind, MessageId, QuotedMessage, RemoteFile, Sender,
    ThreadId,
};
use crate::quote::quoted;

/// What came, as far as it is used.
#[derive(Debug, Deserialize)]
pub struct Update {
    update_id: i64,
    #[serde(default, deserialize_with = "lenient::field")]
    message: Option<Message>,
    #[serde(default, deserialize_with = "lenient::field")]
    edited_message: Option<Message>,
    #[serde(default, deserialize_with = "lenient::field")]
    callback_query: Option<CallbackQuery>,
}

#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default, deserialize_with = "lenient::field")]
    message_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient::field")]
    message_thread_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient::field")]
    is_topic_message: bool,
    #[serde(default, deserialize_with = "lenient::field")]
    from: Option<User>,
    chat: Chat,
    #[serde(default, deserialize_with = "lenient::field")]
    text: Option<String>,
    #[serde(default, deserialize_with = "lenient::field")]
    caption: Option<String>,
    #[serde(default, deserialize_with = "lenient::field")]
    reply_to_message: Option<Box<RepliedMessage>>,
    /// The part of that message which was chosen.
    #[serde(default, deserialize_with = "lenient::field")]
    quote: Option<ChosenPart>,
    #[serde(default, deserialize_with = "lenient::field")]
    media_group_id: Option<String>,
    /// The group that became this larger one.
    #[serde(default, deserialize_with = "lenient::field")]
    migrate_from_chat_id: Option<i64>,
    /// What it has, by its name; before the files, which take their fields away.
    #[serde(flatten)]
    has: HashMap<String, IgnoredAny>,
    #[serde(flatten)]
    files: MessageFiles,
}

/// Every kind of file that a message can be.
#[derive(Debug, Default, Deserialize)]
struct MessageFiles {
    #[serde(default, deserialize_with = "lenient::field")]
    document: Option<RemoteDocument>,
    #[serde(default, deserialize_with = "lenient::field")]
    animation: Option<RemoteDocument>,
    #[serde(default, deserialize_with = "lenient::field")]
    video: Option<RemoteDocument>,
    #[serde(default, deserialize_with = "lenient::field")]
    video_note: Option<RemoteDocument>,
    #[serde(default, deserialize_with = "lenient::field")]
    voice: Option<RemoteDocument>,
    #[serde(default, deserialize_with = "lenient::field")]
    audio: Option<RemoteDocument>,
    #[serde(default, deserialize_with = "lenient::list")]
    photo: Vec<RemoteDocument>,
}

#[derive(Debug, Default, Deserialize)]
struct RepliedMessage {
    #[serde(default, deserialize_with = "lenient::field")]
    from: Option<User>,
    #[serde(default, deserialize_with = "lenient::field")]
    text: Option<String>,
    #[serde(default, deserialize_with = "lenient::field")]
    caption: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct ChosenPart {
    #[serde(default, deserialize_with = "lenient::field")]
    text: String,
}

#[derive(Debug, Deserialize)]
struct CallbackQuery {
    id: String,
    from: User,
    #[serde(default, deserialize_with = "lenient::field")]
    message: Option<Message>,
    #[serde(default, deserialize_with = "lenient::field")]
    data: Option<String>,
}

#[derive(Debug, Deserialize)]
struct User {
    id: i64,
    #[serde(default, deserialize_with = "lenient::field")]
    is_bot: bool,
    #[serde(default, deserialize_with = "lenient::field")]
    first_name: String,
    #[serde(default, deserialize_with = "lenient::field")]
    language_code: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Chat {
    id: i64,
    #[serde(default, rename = "type", deserialize_with = "lenient::field")]
    kind: String,
}

#[derive(Debug, Deserialize)]
struct RemoteDocument {
    file_id: String,
    #[serde(default, deserialize_with = "lenient::field")]
    file_name: Option<String>,
    #[serde(default, deserialize_with = "lenient::field")]
    mime_type: Option<String>,
    #[serde(default, deserialize_with = "lenient::field")]
    file_size: Option<u64>,
}

/// What a user sends that has neither text nor a file to fetch. Notes of the service, as of a new
/// member, have other names.
const UNREADABLE: &[&str] = &[
    "sticker",
    "location",
    "venue",
    "contact",
    "poll",
    "dice",
    "game",
    "story",
    "paid_media",
    "invoice",
    "giveaway",
    "checklist",
    "document",
    "animation",
    "video",
    "video_note",
    "voice",
    "audio",
    "photo",
];

impl Update {
    pub fn into_incoming(self, username: &str, bot: i64) -> Option<Incoming> {
        let id = self.update_id.to_string().as_str().into();
        if let Some(CallbackQuery { id: press, from, message, data }) = self.callback_query {
            let message = message?;
            let button = IncomingKind::Button { data: data.unwrap_or_default(), press };
            return Some(message.into_incoming(id, Some(from), true, button));
        }
        let is_edit = self.message.is_none();
        let mut message = self.message.or(self.edited_message)?;
        if let Some(from) = message.migrate_from_chat_id {
            let old_id = from.to_string().as_str().into();
            return Some(message.into_incoming(id, None, false, IncomingKind::Moved { old_id }));
        }
        let text = message.text.take().or(message.caption.take()).unwrap_or_default();
        let (mut text, is_mentioned) = without_mention(&text, username);
        if message.has.contains_key("forward_origin") {
            text = quoted(&text);
        }
        let replied = message.reply_to_message.as_ref().and_then(|to| to.from.as_ref());
        let is_addressed = message.chat.kind == "private"
            || is_mentioned
            || replied.is_some_and(|user| user.id == bot);
        let is_sent = is_mentioned || message.is_unreadable();
        let files = message.files();
        let kind = match (command(&text, username), files.is_empty()) {
            (TypedCommand::ForAnother, _) => return None,
            (TypedCommand::Named { name, args }, true) => IncomingKind::typed(name, args),
            // Without a text it is answered with what can be read, if it is for the bot.
            _ if is_edit => IncomingKind::Edited,
            (_, true) if text.trim().is_empty() && !(is_addressed && is_sent) => return None,
            (_, true) => IncomingKind::Text { text },
            (_, false) => IncomingKind::Files { files, text },
        };
        let is_addressed = is_addressed || matches!(kind, IncomingKind::Command { .. });
        let quote = message.quote(bot);
        let album = message.media_group_id.take();
        let incoming = message.into_incoming(id, None, is_addressed, kind);
        Some(Incoming { quote, album, ..incoming })
    }
}

impl Message {
    fn into_incoming(
        self,
        id: DeliveryId,
        by: Option<User>,
        is_addressed: bool,
        kind: IncomingKind,
    ) -> Incoming {
        // A channel has no sender: no one can be allowed by it.
        let sender = by.or(self.from).map(|user| Sender {
            id: user.id.to_string().as_str().into(),
            name: user.first_name,
            language: user.language_code,
            is_bot: user.is_bot,
        });
        let no_user =
            || Sender { id: "".into(), name: String::new(), language: None, is_bot: true };
        let thread = self.message_thread_id.filter(|_| self.is_topic_message);
        Incoming {
            id,
            at: ChatAddress {
                chat: self.chat.id.to_string().as_str().into(),
                thread: thread.map(|thread| ThreadId(thread.to_string())),
                user: None,
            },
            message: self.message_id.map(|id| MessageId(id.to_string())),
            sender: sender.unwrap_or_else(no_user),
            is_group: self.chat.kind != "private",
            is_addressed,
            quote: None,
            album: None,
            kind,
        }
    }

    /// What the message answers. The model knows the bot's own messages.
    fn quote(&mut self, bot: i64) -> Option<QuotedMessage> {
        let RepliedMessage { from, text, caption } = *self.reply_to_message.take()?;
        let chosen = self.quote.take().map(|part| part.text);
        let is_own = from.as_ref().is_some_and(|user| user.id == bot);
        let text = chosen.or_else(|| text.or(caption).filter(|_| !is_own))?;
        Some(QuotedMessage { author: from.map(|user| user.first_name).unwrap_or_default(), text })
    }

    /// A user sent something, and not as a text.
    fn is_unreadable(&self) -> bool {
        UNREADABLE.iter().any(|kind| self.has.contains_key(*kind))
    }

    fn files(&mut self) -> Vec<RemoteFile> {
        let MessageFiles { document, animation, video, video_note, voice, audio, mut photo } =
            std::mem::take(&mut self.files);
        // An animation is delivered as a document as well; the last of the sizes of a photo is the
        // largest.
        let kinds = [
            (document.or(animation), "file"),
            (photo.pop(), "photo.jpg"),
            (video, "video.mp4"),
            (video_note, "video.mp4"),
            (voice, "voice.ogg"),
            (audio, "audio.mp3"),
        ];
        let remote = |(file, name): (Option<RemoteDocument>, &str)| {
            let RemoteDocument { file_id, file_name, mime_type, file_size } = file?;
            Some(RemoteFile {
                reference: file_id,
                name: file_name.unwrap_or_else(|| name.to_owned()),
                media_type: mime_type,
                size: file_size,
            })
        };
        kinds.into_iter().filter_map(remote).collect()
    }
}

#[derive(Debug, PartialEq)]
enum TypedCommand {
    None,
    Named {
        name: String,
        args: String,
    },
    /// `/name@other`: another bot of the group is meant.
    ForAnother,
}

fn command(text: &str, username: &str) -> TypedCommand {
    let Some(rest) = text.trim().strip_prefix('/') else { return TypedCommand::None };
    let (word, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, bot) = word.split_once('@').unwrap_or((word, username));
    let is_name = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        TypedCommand::None
    } else if !bot.eq_ignore_ascii_case(username) {
        TypedCommand::ForAnother
    } else {
        TypedCommand::Named { name: name.to_owned(), args: args.trim().to_owned() }
    }
}

/// The text without `@bot` at its start, and whether it was there. A name ends where its letters do:
/// Chinese has no spaces between words.
fn without_mention(text: &str, username: &str) -> (String, bool) {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_mention = |(at, _): &(usize, &str)| {
        let after = text.get(at + 1..).unwrap_or_default();
        let name: &str = after.split(|c| !of_name(c)).next().unwrap_or_default();
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        !username.is_empty()
            && name.eq_ignore_ascii_case(username)
            && !before.is_some_and(|c| of_name(c) || c == '@')
    };
    let Some((at, _)) = text.match_indices('@').find(is_mention) else {
        return (text.to_owned(), false);
    };
    if !text.get(..at).unwrap_or_default().trim().is_empty() {
        return (text.to_owned(), true);
    }
    let rest = text.get(at + 1 + username.len()..).unwrap_or_default();
    let is_between = |c: char| c.is_whitespace() || ",:，：、".contains(c);
    (rest.trim_start_matches(is_between).to_owned(), true)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(update: Value) -> Option<Incoming> {
        serde_json::from_value::<Update>(update).unwrap().into_incoming("avo_bot", 99)
    }

    fn message(chat: &str, text: &str) -> Value {
        json!({ "update_id": 5, "message": { "message_id": 3, "from": { "id": 7, "first_name": "Ann" },
            "chat": { "id": -10, "type": chat }, "text": text, "unknown": { "x": [1] } } })
    }

    #[test]
    fn a_changed_message_is_told_from_a_new_one() {
        let mut whole = message("private", "better");
        whole["edited_message"] = whole["message"].take();
        assert_eq!(read(whole).unwrap().kind, IncomingKind::Edited);
    }

    #[test]
    fn a_group_is_heard_only_when_the_bot_is_meant() {
        let heard = |text: &str| read(message("supergroup", text)).map(|one| one.is_addressed);
        assert_eq!(heard("hello"), Some(false));
        assert_eq!(heard("@Avo_Bot, hello"), Some(true));
        assert_eq!(heard("/stop@avo_bot"), Some(true));
        assert_eq!(heard("/stop@other_bot"), None);
        assert_eq!(read(message("private", "hello")).map(|one| one.is_addressed), Some(true));
    }

    #[test]
    fn a_command_is_read_without_the_name_of_the_bot() {
        for (text, name, args) in
            [("/steer@avo_bot go  left", "steer", "go  left"), ("/reload_mcp", "reload_mcp", "")]
        {
            let kind = read(message("private", text)).unwrap().kind;
            assert_eq!(kind, IncomingKind::typed(name, args));
        }
        let kind = read(message("private", "/usr/bin/env is missing")).unwrap().kind;
        assert!(matches!(kind, IncomingKind::Text { .. }));
    }

    #[test]
    fn a_sticker_is_answered_and_a_note_of_the_service_is_not() {
        let sent = |chat: &str, field: &str, value: Value| {
            let mut update = message(chat, "");
            update["message"].as_object_mut().unwrap().remove("text");
            update["message"][field] = value;
            read(update)
        };
        for kind in ["sticker", "location", "venue", "contact", "poll", "dice", "story"] {
            let read = sent("private", kind, json!({ "file_id": "f" })).unwrap();
            assert_eq!(read.kind, IncomingKind::Text { text: String::new() }, "{kind}");
            assert!(read.is_addressed);
            assert_eq!(sent("supergroup", kind, json!({})), None, "{kind}: it is not for the bot");
        }
        for note in ["new_chat_members", "pinned_message", "chat_shared", "group_chat_created"] {
            assert_eq!(sent("private", note, json!({})), None, "{note}");
        }
        assert!(
            sent("private", "video", json!({ "no": "file" })).is_some(),
            "it cannot be fetched"
        );
    }

    #[test]
    fn what_was_forwarded_is_marked_and_is_no_command() {
        let mut update = message("private", "/mode auto\n@Cargo.toml");
        update["message"]["forward_origin"] = json!({ "type": "user", "date": 1 });
        let text = "> /mode auto\n> @Cargo.toml".to_owned();
        assert_eq!(read(update).unwrap().kind, IncomingKind::Text { text });
    }

    #[test]
    fn everything_that_has_a_file_is_a_file_with_its_caption() {
        let file = json!({ "file_id": "f1", "duration": 3, "mime_type": "x/y", "file_size": 9 });
        for (field, name) in [
            ("voice", "voice.ogg"),
            ("video", "video.mp4"),
            ("video_note", "video.mp4"),
            ("audio", "audio.mp3"),
            ("animation", "file"),
        ] {
            let mut update = message("private", "");
            update["message"].as_object_mut().unwrap().remove("text");
            update["message"]["caption"] = json!("what is this?");
            update["message"][field] = file.clone();
            if field == "animation" {
                update["message"]["document"] = file.clone();
            }
            let IncomingKind::Files { files, text } = read(update).unwrap().kind else {
                panic!("{field}")
            };
            assert_eq!((files.len(), files[0].name.as_str(), files[0].size), (1, name, Some(9)));
            assert_eq!((files[0].reference.as_str(), text.as_str()), ("f1", "what is this?"));
        }
    }

    /// Each field in turn gets values of every other type.
    #[test]
    fn a_field_that_is_not_as_documented_loses_no_message() {
        let mut whole = message("private", "hello");
        whole["message"]["document"] =
            json!({ "file_id": "f", "file_name": "a", "mime_type": "b", "file_size": 1 });
        whole["message"]["photo"] = json!([{ "file_id": "p", "file_size": 1 }]);
        whole["message"]["reply_to_message"] = json!({ "from": { "id": 1 } });
        whole["message"]["message_thread_id"] = json!(4);
        whole["message"]["is_topic_message"] = json!(true);
        whole["message"]["from"]["language_code"] = json!("en");
        let mut paths = Vec::new();
        collect_paths(&whole, "", &mut paths);
        let needed = ["/update_id", "/message", "/message/chat", "/message/chat/id"];
        // Without a sender it is never answered, and without a type the chat is not private.
        for path in paths.iter().filter(|path| !needed.contains(&path.as_str())) {
            for bad in
                [json!(null), json!(-7), json!(1e300), json!("x"), json!([[]]), json!({ "a": 1 })]
            {
                let mut update = whole.clone();
                *update.pointer_mut(path).unwrap() = bad.clone();
                assert!(read(update).is_some(), "{path} = {bad}");
            }
        }
    }

    fn collect_paths(value: &Value, path: &str, paths: &mut Vec<String>) {
        if !path.is_empty() {
            paths.push(path.to_owned());
        }
        match value {
            Value::Object(map) => {
                map.iter()
                    .for_each(|(key, value)| collect_paths(value, &format!("{path}/{key}"), paths));
            }
            Value::Array(list) => {
                list.iter()
                    .enumerate()
                    .for_each(|(at, value)| collect_paths(value, &format!("{path}/{at}"), paths));
            }
            _ => {}
        }
    }

    #[test]
    fn updates_of_unknown_kinds_are_passed_over() {
        assert_eq!(read(json!({ "update_id": 1, "poll_answer": {} })), None);
        let channel = json!({ "update_id": 1, "message": { "message_id": 1, "chat": { "id": 2 }, "text": "x" } });
        assert!(
            read(channel).unwrap().sender.is_bot,
            "a message without a sender is never answered"
        );
    }

    #[test]
    fn a_mention_ends_where_the_letters_of_a_name_do() {
        for (text, rest) in [
            ("@avo_bot look", "look"),
            ("@avo_bot，看看", "看看"),
            ("你好，@avo_bot看看", "你好，@avo_bot看看"),
            ("hey,@AVO_bot what?", "hey,@AVO_bot what?"),
            ("(@avo_bot x)", "(@avo_bot x)"),
            ("\"@avo_bot\"", "\"@avo_bot\""),
            ("@avo_bot", ""),
        ] {
            assert_eq!(without_mention(text, "avo_bot"), (rest.to_owned(), true), "{text}");
        }
        for text in ["@avo_bots x", "me@avo_bot.org", "@@avo_bot", "@avo_bot_two", "avo_bot"] {
            assert_eq!(without_mention(text, "avo_bot"), (text.to_owned(), false), "{text}");
        }
        assert!(!without_mention("@ x", "").1);
    }
}
