//! Reads what Feishu delivers: messages and pressed buttons. Pure. Fields that are not needed are
//! ignored, and so is what is not understood.

use serde_json::Value;

use super::message::USER;
use crate::platform::{
    ChatAddress, DeliveryId, Incoming, IncomingKind, MessageId, RemoteFile, Sender, ThreadId,
    UserId,
};
use crate::typed_command::typed_command;

/// Something a user did, and the message that it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct FeishuIncoming {
    pub incoming: Incoming,
    pub parent: Option<String>,
}

/// What an event says to a bot with this id.
pub fn read_event(payload: &[u8], bot: &str) -> Option<FeishuIncoming> {
    let whole: Value = serde_json::from_slice(payload).ok()?;
    let header = &whole["header"];
    match header["event_type"].as_str()? {
        "im.message.receive_v1" => read_message(&whole["event"], bot),
        "card.action.trigger" => read_press(header["event_id"].as_str()?, &whole["event"]),
        _ => None,
    }
}

fn read_message(event: &Value, bot: &str) -> Option<FeishuIncoming> {
    let message = &event["message"];
    let field = |key: &str| message[key].as_str().filter(|text| !text.is_empty());
    let user = event["sender"]["sender_id"]["open_id"].as_str()?;
    let id = field("message_id")?;
    let chat = field("chat_id")?;
    let is_group = field("chat_type") != Some("p2p");
    let mentions = message["mentions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_addressed = !is_group || mentions.iter().any(|mention| is_of(mention, bot));
    let content = serde_json::from_str(field("content")?).unwrap_or_default();
    let text = read_text(&content, mentions, bot);
    let files = files(id, field("message_type").unwrap_or_default(), &content);
    if text.is_empty() && files.is_empty() && !is_addressed {
        return None;
    }
    let kind = match typed_command(&text, '/') {
        _ if !files.is_empty() => IncomingKind::Files { files, text },
        Some((name, args)) => IncomingKind::typed(name, args),
        None => IncomingKind::Text { text },
    };
    let is_thread = is_group && field("thread_id").is_some();
    let thread = is_thread.then(|| ThreadId::from(field("root_id").unwrap_or(id)));
    let is_bot = event["sender"]["sender_type"] != "user";
    let incoming = Incoming {
        // The same message may come in two events.
        id: DeliveryId(format!("m:{id}")),
        at: ChatAddress { chat: chat.into(), thread, user: None },
        message: Some(id.into()),
        sender: Sender { id: user.into(), name: String::new(), language: None, is_bot },
        is_group,
        is_addressed,
        quote: None,
        album: None,
        kind,
    };
    Some(FeishuIncoming { incoming, parent: field("parent_id").map(str::to_owned) })
}

/// A mention has an object with several ids, or the id itself.
fn is_of(mention: &Value, user: &str) -> bool {
    !user.is_empty() && (mention["id"]["open_id"] == user || mention["id"] == user)
}

fn read_press(id: &str, event: &Value) -> Option<FeishuIncoming> {
    let user = UserId(event["operator"]["open_id"].as_str()?.to_owned());
    let value = &event["action"]["value"];
    let chat = event["context"]["open_chat_id"].as_str().unwrap_or_default();
    let address: Option<ChatAddress> = serde_json::from_value(value["at"].clone()).ok();
    // Where it was asked counts only if it was pressed there.
    let is_there =
        |address: &ChatAddress| address.chat.0 == chat || address.chat == private_chat(&user).chat;
    let at = address.filter(is_there).unwrap_or_else(|| ChatAddress::of(chat));
    let data = value["data"].as_str().unwrap_or_default().to_owned();
    let incoming = Incoming {
        id: DeliveryId(format!("a:{id}")),
        at,
        message: event["context"]["open_message_id"].as_str().map(MessageId::from),
        sender: Sender { id: user, name: String::new(), language: None, is_bot: false },
        is_group: value["is_group"] != false,
        is_addressed: true,
        quote: None,
        album: None,
        kind: IncomingKind::Button { data, press: id.to_owned() },
    };
    Some(FeishuIncoming { incoming, parent: None })
}

/// The chat with a user, which the service names once a message was sent.
pub fn private_chat(user: &UserId) -> ChatAddress {
    ChatAddress::of(format!("{USER}{user}"))
}

/// The words of a message: those of a text, or of all parts of a post.
pub fn read_text(content: &Value, mentions: &[Value], bot: &str) -> String {
    let mut text = content["text"].as_str().unwrap_or_default().to_owned();
    if let Some(lines) = content["content"].as_array() {
        let title = content["title"].as_str().unwrap_or_default();
        let lines = lines
            .iter()
            .map(|line| line.as_array().into_iter().flatten().map(post_part).collect::<String>());
        text = std::iter::once(title.to_owned()).chain(lines).collect::<Vec<_>>().join("\n");
    }
    // The key of the tenth begins with that of the first.
    for mention in mentions.iter().rev() {
        let Some(key) = mention["key"].as_str().filter(|key| !key.is_empty()) else { continue };
        let name = format!("@{}", mention["name"].as_str().unwrap_or_default());
        text = text.replace(key, if is_of(mention, bot) { "" } else { &name });
    }
    text.trim().to_owned()
}

fn post_part(part: &Value) -> String {
    let text = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
    match part["tag"].as_str() {
        Some("at") => text("user_id"),
        Some("a") if text("href") != text("text") => format!("{} ({})", text("text"), text("href")),
        Some("code_block") => format!("```{}\n{}\n```", text("language"), text("text")),
        _ => text("text"),
    }
}

/// The files of a message, also the pictures of a post.
fn files(message: &str, kind: &str, content: &Value) -> Vec<RemoteFile> {
    let lines = content["content"].as_array().into_iter().flatten();
    let parts = lines.filter_map(Value::as_array).flatten();
    let pictures = parts.filter_map(|part| part["image_key"].as_str());
    let (key, resource, usual_name) = match kind {
        "image" => ("image_key", "image", "picture.png"),
        "file" => ("file_key", "file", "file"),
        "audio" => ("file_key", "file", "voice.opus"),
        "media" => ("file_key", "file", "video.mp4"),
        _ => ("", "image", "picture.png"),
    };
    let keys = content[key].as_str().into_iter().chain(pictures);
    let is_id = |id: &&str| id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    keys.filter(is_id)
        .map(|key| RemoteFile {
            reference: format!("im/v1/messages/{message}/resources/{key}?type={resource}"),
            name: content["file_name"].as_str().unwrap_or(usual_name).to_owned(),
            media_type: None,
            size: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(message: Value) -> Option<FeishuIncoming> {
        let mut whole = json!({ "message_id": "om_1", "chat_id": "oc_1", "chat_type": "group", "message_type": "text" });
        for (key, value) in message.as_object().unwrap() {
            whole[key] = value.clone();
        }
        if !whole["content"].is_string() {
            whole["content"] = json!(whole["content"].to_string());
        }
        let sender = json!({ "sender_id": { "open_id": "ou_7" }, "sender_type": "user" });
        read(
            json!({ "header": { "event_type": "im.message.receive_v1", "event_id": "e" }, "event": { "sender": sender, "message": whole } }),
        )
    }

    fn read(event: Value) -> Option<FeishuIncoming> {
        read_event(event.to_string().as_bytes(), "ou_bot")
    }

    fn mention(key: &str, id: &str) -> Value {
        json!({ "key": key, "id": { "open_id": id }, "name": id })
    }

    #[test]
    fn a_mention_of_the_bot_is_for_it_and_that_of_others_is_a_name() {
        let mentions: Vec<Value> = (1..=10)
            .map(|n| mention(&format!("@_user_{n}"), if n == 1 { "ou_bot" } else { "Ann" }))
            .collect();
        let content = json!({ "text": "@_user_1 ask @_user_10 now" });
        let read = message(json!({ "content": content, "mentions": mentions })).unwrap().incoming;
        assert!(read.is_addressed && read.is_group);
        assert_eq!(read.kind, IncomingKind::Text { text: "ask @Ann now".into() });
        let chatter = message(json!({ "content": { "text": "hi all" } })).unwrap().incoming;
        assert!(!chatter.is_addressed);
        let command = json!({ "content": { "text": "@_user_1 /model q" }, "mentions": [mention("@_user_1", "ou_bot")] });
        assert_eq!(message(command).unwrap().incoming.kind, IncomingKind::typed("model", "q"));
    }

    #[test]
    fn a_topic_is_a_conversation_of_its_own_and_a_private_chat_is_not() {
        let topic = json!({ "thread_id": "omt_1", "root_id": "om_0", "content": { "text": "a" } });
        assert_eq!(message(topic).unwrap().incoming.at.thread, Some("om_0".into()));
        let first = json!({ "thread_id": "omt_1", "content": { "text": "a" } });
        assert_eq!(message(first).unwrap().incoming.at.thread, Some("om_1".into()));
        let private = json!({ "chat_type": "p2p", "content": { "text": "/help" } });
        let private = message(private).unwrap().incoming;
        assert!(private.is_addressed && !private.is_group && private.at.thread.is_none());
    }

    #[test]
    fn posts_and_files_are_read_and_no_key_leads_elsewhere() {
        let lines = json!([
            [{ "tag": "text", "text": "see " }, { "tag": "a", "text": "it", "href": "https://x.example" }],
            [{ "tag": "img", "image_key": "img_1" }, { "tag": "img", "image_key": "../x" }],
        ]);
        let post = json!({ "message_type": "post", "content": { "title": "T", "content": lines } });
        let IncomingKind::Files { files, text } = message(post).unwrap().incoming.kind else {
            panic!()
        };
        assert_eq!((files.len(), text.as_str()), (1, "T\nsee it (https://x.example)"));
        assert_eq!(files[0].reference, "im/v1/messages/om_1/resources/img_1?type=image");
        let file = json!({ "message_type": "file", "content": { "file_key": "f_1", "file_name": "a.zip" } });
        let IncomingKind::Files { files, .. } = message(file).unwrap().incoming.kind else {
            panic!()
        };
        assert_eq!(files[0].name, "a.zip");
    }

    #[test]
    fn a_press_counts_where_it_was_asked_and_in_the_private_chat_of_who_pressed() {
        let press = |at: &str, chat: &str| {
            let action =
                json!({ "value": { "data": "q.1.once", "at": { "chat": at, "thread": "om_1" } } });
            let context = json!({ "open_chat_id": chat, "open_message_id": "om_2" });
            let event =
                json!({ "operator": { "open_id": "ou_7" }, "action": action, "context": context });
            read(
                json!({ "header": { "event_type": "card.action.trigger", "event_id": "e1" }, "event": event }),
            )
        };
        let at = |asked, chat| press(asked, chat).unwrap().incoming.at;
        assert_eq!(at("oc_1", "oc_1").thread, Some("om_1".into()));
        assert_eq!(at("oc_1", "oc_2"), ChatAddress::of("oc_2"), "it was forwarded");
        assert_eq!(at("user:ou_7", "oc_9").chat, "user:ou_7".into());
        assert_eq!(at("user:ou_8", "oc_9").chat, "oc_9".into());
    }

    #[test]
    fn what_is_not_understood_is_ignored() {
        for text in ["", "{", "[]", "null", r#"{"header":7}"#, r#"{"event":{"message":[]}}"#] {
            assert_eq!(read_event(text.as_bytes(), "ou_bot"), None, "{text}");
        }
        assert_eq!(message(json!({ "message_id": 7 })), None);
        assert_eq!(message(json!({ "message_type": "sticker", "content": {} })), None);
    }
}
