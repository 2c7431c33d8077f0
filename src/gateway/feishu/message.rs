//! The bodies of Feishu's messages. All are cards: only a card can be changed as often as an answer
//! grows. Pure.

use serde_json::{Value, json};

use crate::platform::{ButtonQuestion, ButtonStyle, ChatAddress, MessageMarkup, Outgoing};

/// Longest label of a button, in characters.
pub const LABEL: usize = 100;

/// Begins the chat of one user that the service has given no name yet.
pub const USER: &str = "user:";

/// The content of a message with this text.
pub fn card(outgoing: &Outgoing) -> Value {
    card_of(vec![text_element(outgoing)])
}

/// The content of a question. A press tells where it was asked, which the service does not.
pub fn question_card(question: &ButtonQuestion, address: &ChatAddress, is_group: bool) -> Value {
    let buttons = question.buttons.iter().map(|button| {
        let label: String = button.label.chars().take(LABEL).collect();
        let style = match button.style {
            ButtonStyle::Usual => "default",
            ButtonStyle::Refuse => "danger",
        };
        let value = json!({ "data": button.data, "at": address, "is_group": is_group });
        let button = json!({
            "tag": "button", "type": style, "text": { "tag": "plain_text", "content": label },
            "behaviors": [{ "type": "callback", "value": value }],
        });
        json!({ "tag": "column", "width": "auto", "elements": [button] })
    });
    let row = json!({
        "tag": "column_set", "flex_mode": "flow", "columns": buttons.collect::<Vec<_>>(),
    });
    card_of(vec![text_element(&question.text), row])
}

/// No one else could press the buttons of a card that was forwarded.
fn card_of(elements: Vec<Value>) -> Value {
    let config = json!({ "update_multi": true, "enable_forward": false });
    json!({ "schema": "2.0", "config": config, "body": { "elements": elements } })
}

fn text_element(outgoing: &Outgoing) -> Value {
    match outgoing.markup {
        MessageMarkup::Native => json!({ "tag": "markdown", "content": outgoing.text }),
        MessageMarkup::Plain => {
            json!({ "tag": "div", "text": { "tag": "plain_text", "content": outgoing.text } })
        }
    }
}

/// The path and the body of the call that sends a message to a chat, or into a thread.
pub fn send_call(
    address: &ChatAddress,
    kind: &str,
    content: &Value,
    nonce: u64,
) -> (String, Value) {
    let uuid = format!("{nonce:016x}");
    let content = content.to_string();
    let mut body = json!({ "msg_type": kind, "content": content, "uuid": uuid });
    if let Some(thread) = &address.thread {
        body["reply_in_thread"] = json!(true);
        return (format!("im/v1/messages/{thread}/reply"), body);
    }
    let (id_kind, id) = match address.chat.0.strip_prefix(USER) {
        Some(user) => ("open_id", user),
        None => ("chat_id", address.chat.0.as_str()),
    };
    body["receive_id"] = json!(id);
    (format!("im/v1/messages?receive_id_type={id_kind}"), body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Button;

    #[test]
    fn a_question_says_where_it_is_and_its_refusal_is_marked() {
        let button =
            |label: &str, style| Button { label: label.into(), data: "q.1.no".into(), style };
        let buttons = vec![button("Once", ButtonStyle::Usual), button("No", ButtonStyle::Refuse)];
        let at = ChatAddress { chat: "oc_1".into(), thread: Some("om_1".into()), user: None };
        let question = ButtonQuestion { text: Outgoing::plain("<at id=all></at>?"), buttons };
        let card = question_card(&question, &at, true);
        let [text, row] = card["body"]["elements"].as_array().unwrap().as_slice() else { panic!() };
        assert_eq!(text["text"]["content"], "<at id=all></at>?", "shown as it is");
        let no = &row["columns"][1]["elements"][0];
        assert_eq!(no["type"], "danger");
        let value = &no["behaviors"][0]["value"];
        assert_eq!((&value["data"], &value["at"]["thread"]), (&json!("q.1.no"), &json!("om_1")));
    }

    #[test]
    fn a_message_goes_to_a_chat_a_thread_or_a_user() {
        let call = |at: &ChatAddress| send_call(at, "interactive", &json!({}), 7);
        let (path, body) = call(&ChatAddress::of("oc_1"));
        assert!(path.ends_with("=chat_id") && body["receive_id"] == "oc_1");
        assert_eq!(body["uuid"], "0000000000000007");
        let (path, body) = call(&ChatAddress::of("user:ou_1"));
        assert!(path.ends_with("=open_id") && body["receive_id"] == "ou_1");
        let thread = ChatAddress { chat: "oc_1".into(), thread: Some("om_1".into()), user: None };
        assert_eq!(call(&thread).0, "im/v1/messages/om_1/reply");
    }
}
