//! Replies of any kind, truncated anywhere: parsing never panics, and the streamed text agrees with
//! the final message.

use avocet::protocol::reply::{ParsedReply, Reply, ReplyRepair, read};
use avocet::protocol::streaming::Partial;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Pieces that replies, broken or not, are made of.
const SCRAPS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "\\",
    "\\u",
    "\\ud83d",
    "\\n",
    "'",
    "`",
    "```json\n",
    "\n```\n",
    "<think>",
    "</think>",
    "type",
    "message",
    "\"type\":\"chat\"",
    "\"message\":\"",
    "data",
    "commands",
    "\"program\":",
    "1e999",
    "-",
    "null",
    "true",
    "//",
    "#",
    "/*",
    "*/",
    "(",
    ")",
    ";",
    "é",
    "你",
    "😀",
    "\u{0}",
    "...",
    "/",
    "+",
    "\r\n",
    "\u{feff}",
    "NaN",
    "undefined",
    "0x",
    ".5",
    "u{",
    " ",
];

fn scraps() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![prop::sample::select(SCRAPS).prop_map(str::to_owned), ".{0,6}"],
        0..40,
    )
    .prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![Just("message".to_owned()), Just("data".to_owned()), "[a-z\"\\\\]{0,5}"]
}

/// A valid reply as text, with its message: fields in any order, more fields than asked
/// for, some escaped, in prose or a fence.
fn reply() -> impl Strategy<Value = (String, String)> {
    let extra = prop::collection::vec(("x[a-z]{0,20}", value()), 0..3);
    (".{0,40}", extra, any::<bool>(), any::<bool>(), 0..4_usize, any::<prop::sample::Index>())
        .prop_map(|(message, extra, escaped, pretty, dress, at)| {
            let mut fields: Vec<(String, Value)> = extra;
            fields.push(("type".to_owned(), json!("chat")));
            fields.push((
                "data".to_owned(),
                json!({"message": "no", "suggestions": ["{\"message\":\"no\"}"]}),
            ));
            let message_at = at.index(fields.len() + 1);
            fields.insert(message_at, ("message".to_owned(), json!(message)));
            let object = Value::Object(fields.into_iter().collect());
            let mut text = object.to_string();
            if pretty {
                text = serde_json::to_string_pretty(&object).unwrap();
            }
            if escaped {
                text = ascii(&text);
            }
            let text = match dress {
                0 => text,
                1 => format!("Here is it {{as asked}}:\n```json\n{text}\n```\nBye {{}}"),
                2 => format!("<think>{{\"message\":\"hm\"}}</think>{text}"),
                _ => format!(" \n{text} and so on"),
            };
            (text, message)
        })
}

/// The same JSON with everything beyond ASCII written as `\uXXXX`.
fn ascii(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// `text` in pieces, cut at the given places.
fn pieces(text: &str, cuts: &[prop::sample::Index]) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
    at.extend([0, chars.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| chars[pair[0]..pair[1]].iter().collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn any_text_is_parsed_without_a_panic(text in prop_oneof![scraps(), ".{0,200}"]) {
        let reading = read(&text);
        if let ParsedReply::Fallback { text: kept } = reading {
            prop_assert!(text.contains(&kept) || text.contains("_fallback"));
        }
    }

    #[test]
    fn streaming_shows_the_same_text_however_it_is_split(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in scraps(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        for text in [String::from_utf8_lossy(&bytes).into_owned(), text] {
            let whole = Partial::new().push(&text);
            let mut reader = Partial::new();
            let shown: String = pieces(&text, &cuts).iter().map(|piece| reader.push(piece)).collect();
            prop_assert_eq!(whole, shown);
        }
    }

    #[test]
    fn the_streamed_text_is_the_final_message(
        (text, message) in reply(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut reader = Partial::new();
        let shown: String = pieces(&text, &cuts).iter().map(|piece| reader.push(piece)).collect();
        prop_assert_eq!(&shown, &message);
        match read(&text) {
            ParsedReply::Valid { reply: Reply::Chat { message: whole, .. }, found } => {
                prop_assert_eq!(&whole, &message);
                prop_assert_ne!(found, ReplyRepair::Repaired);
            }
            other => prop_assert!(false, "{} is {:?}", text, other),
        }
    }

    #[test]
    fn a_truncated_reply_is_never_accepted_as_complete(
        (text, _) in reply(),
        cut in any::<prop::sample::Index>(),
    ) {
        // That ending stands behind the reply, which may then be whole.
        if text.ends_with("{}") {
            return Ok(());
        }
        let whole = text.trim_start();
        let end = whole.rsplit_once('}').map_or(0, |(before, _)| before.chars().count());
        let part: String = whole.chars().take(cut.index(end + 1)).collect();
        if let ParsedReply::Valid { found, .. } = read(&part) {
            prop_assert_eq!(found, ReplyRepair::Repaired);
        }
    }
}
