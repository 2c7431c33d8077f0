//! The bodies of Slack's messages. Pure.

use serde_json::{Value, json};

use super::text::escape;
use crate::platform::{ButtonQuestion, ButtonStyle, ChatAddress, MessageMarkup, Outgoing};

/// The event type of the metadata by which a message is found again.
const EVENT_TYPE: &str = "avocet_message";

/// A message that can be found again by `nonce`. Links are not fetched: what a model writes must
/// not make the service call an address.
pub fn post_body(address: &ChatAddress, outgoing: &Outgoing, nonce: &str) -> Value {
    let mut body = json!({
        "channel": address.chat, "text": notification(outgoing), "unfurl_links": false,
        "unfurl_media": false,
        "metadata": { "event_type": EVENT_TYPE, "event_payload": { "nonce": nonce } },
    });
    if let Some(thread) = &address.thread {
        body["thread_ts"] = json!(thread);
    }
    if outgoing.markup == MessageMarkup::Plain {
        body["blocks"] = json!([verbatim(&outgoing.text)]);
    }
    body
}

pub fn question_body(address: &ChatAddress, question: &ButtonQuestion, nonce: &str) -> Value {
    let mut body = post_body(address, &question.text, nonce);
    let text = match question.text.markup {
        MessageMarkup::Plain => verbatim(&question.text.text),
        MessageMarkup::Native => json!({
            "type": "section", "text": { "type": "mrkdwn", "text": question.text.text },
        }),
    };
    let buttons = question.buttons.iter().enumerate().map(|(number, button)| {
        let label: String = button.label.chars().take(75).collect();
        let mut element = json!({
            "type": "button", "action_id": format!("b{number}"), "value": button.data,
            "text": { "type": "plain_text", "text": label, "emoji": false },
        });
        if button.style == ButtonStyle::Refuse {
            element["style"] = json!("danger");
        }
        element
    });
    body["blocks"] = json!([text, { "type": "actions", "elements": buttons.collect::<Vec<_>>() }]);
    body
}

/// The new text of a message, without buttons.
pub fn update_body(address: &ChatAddress, ts: &str, outgoing: &Outgoing) -> Value {
    let blocks = match outgoing.markup {
        MessageMarkup::Plain => json!([verbatim(&outgoing.text)]),
        MessageMarkup::Native => json!([]),
    };
    json!({ "channel": address.chat, "ts": ts, "text": notification(outgoing), "blocks": blocks })
}

/// The message of a channel's history that was posted with this nonce.
pub fn posted_with(nonce: &str, messages: &[Value]) -> Option<String> {
    let is_ours = |message: &&Value| message["metadata"]["event_payload"]["nonce"] == nonce;
    messages.iter().find(is_ours)?["ts"].as_str().map(str::to_owned)
}

/// Shown exactly as it is: no markup, no mentions, no entities.
fn verbatim(text: &str) -> Value {
    let text = json!({ "type": "text", "text": text });
    let section = json!({ "type": "rich_text_section", "elements": [text] });
    json!({ "type": "rich_text", "elements": [section] })
}

/// The text of a message, or of its notification if it has blocks.
fn notification(outgoing: &Outgoing) -> String {
    match outgoing.markup {
        MessageMarkup::Plain => escape(&outgoing.text),
        MessageMarkup::Native => outgoing.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Button;

    fn place() -> ChatAddress {
        ChatAddress { chat: "C1".into(), thread: Some("1.0".into()), user: None }
    }

    #[test]
    fn plain_text_is_shown_as_it_is_and_mentions_no_one() {
        let message = Outgoing::plain("<!channel> *a* && b");
        for body in [post_body(&place(), &message, "n"), update_body(&place(), "2.0", &message)] {
            assert_eq!(body["text"], "&lt;!channel&gt; *a* &amp;&amp; b");
            let element = &body["blocks"][0]["elements"][0]["elements"][0];
            assert_eq!(element["text"], "<!channel> *a* && b");
        }
    }

    #[test]
    fn native_text_needs_no_block_and_an_edit_removes_the_buttons() {
        let message = Outgoing::native("*a*");
        let post = post_body(&place(), &message, "n");
        assert_eq!((&post["text"], &post["thread_ts"]), (&json!("*a*"), &json!("1.0")));
        assert!(post.get("blocks").is_none());
        assert_eq!(update_body(&place(), "2.0", &message)["blocks"], json!([]));
    }

    #[test]
    fn a_question_has_one_button_for_each_answer_and_the_refusal_is_marked() {
        let button =
            |label: &str, style| Button { label: label.into(), data: format!("n:{label}"), style };
        let buttons =
            vec![button("Once", ButtonStyle::Usual), button(&"x".repeat(99), ButtonStyle::Refuse)];
        let question = ButtonQuestion { text: Outgoing::native("Run `ls`?"), buttons };
        let body = question_body(&place(), &question, "n");
        assert_eq!(body["blocks"][0]["text"]["text"], "Run `ls`?");
        let elements = &body["blocks"][1]["elements"];
        assert_eq!(
            (&elements[0]["value"], &elements[1]["style"]),
            (&json!("n:Once"), &json!("danger"))
        );
        assert_eq!(elements[1]["text"]["text"], "x".repeat(75));
    }

    #[test]
    fn a_message_is_found_again_by_its_nonce() {
        let posted = post_body(&place(), &Outgoing::plain("x"), "n1");
        let messages = [json!({ "ts": "1" }), json!({ "ts": "2", "metadata": posted["metadata"] })];
        assert_eq!(posted_with("n1", &messages), Some("2".into()));
        assert_eq!(posted_with("n2", &messages), None);
    }
}
