//! The bodies of Discord's messages. Pure.

use serde_json::{Value, json};

use super::text::verbatim;
use crate::platform::{Button, ButtonQuestion, ButtonStyle, MessageMarkup, Outgoing};

/// The service's longest message.
pub const MESSAGE: usize = 2000;

/// No previews: what a model writes must not make the service call an address.
pub const SUPPRESS_EMBEDS: u64 = 1 << 2;

/// A message that mentions no one, and its buttons.
pub fn message_body(outgoing: &Outgoing, buttons: &[Button]) -> Value {
    json!({
        "content": content(outgoing), "components": rows(buttons), "flags": SUPPRESS_EMBEDS,
        "allowed_mentions": { "parse": [] },
    })
}

pub fn question_body(question: &ButtonQuestion) -> Value {
    message_body(&question.text, &question.buttons)
}

/// The same body as a message of its own: `nonce` keeps a second try from being a second message.
pub fn posted(mut body: Value, nonce: u64) -> Value {
    body["nonce"] = json!(format!("{nonce:016x}"));
    body["enforce_nonce"] = json!(true);
    body
}

fn content(outgoing: &Outgoing) -> String {
    match outgoing.markup {
        MessageMarkup::Plain => verbatim(&outgoing.text, MESSAGE),
        MessageMarkup::Native => outgoing.text.clone(),
    }
}

fn rows(buttons: &[Button]) -> Value {
    let button = |button: &Button| {
        let style = match button.style {
            ButtonStyle::Usual => 2,
            ButtonStyle::Refuse => 4,
        };
        let label: String = button.label.chars().take(80).collect();
        json!({ "type": 2, "style": style, "label": label, "custom_id": button.data })
    };
    let row = |buttons: &[Button]| json!({ "type": 1, "components": buttons.iter().map(button).collect::<Vec<_>>() });
    buttons.chunks(5).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_break_into_rows_of_five_and_no_one_is_mentioned() {
        let button = |number: usize| Button {
            label: format!("{number}{}", "x".repeat(99)),
            data: format!("n:{number}"),
            style: if number == 6 { ButtonStyle::Refuse } else { ButtonStyle::Usual },
        };
        let question =
            ButtonQuestion { text: Outgoing::plain("*?*"), buttons: (0..7).map(button).collect() };
        let body = question_body(&question);
        assert_eq!(body["components"][0]["components"].as_array().unwrap().len(), 5);
        let last = &body["components"][1]["components"][1];
        assert_eq!((&last["style"], &last["custom_id"]), (&json!(4), &json!("n:6")));
        assert_eq!(last["label"].as_str().unwrap().len(), 80);
        assert_eq!(body["allowed_mentions"], json!({ "parse": [] }));
        assert_eq!(body["content"], "\\*?\\*");
        assert_eq!(message_body(&Outgoing::native("*a*"), &[])["components"], json!([]));
    }
}
