//! Puts calls of tools together from their pieces, and gives each an id of its own.
//!
//! Servers differ in what they repeat: an index, an id or a name may be in every piece, in the
//! first, or in none; ids may be empty, or the same for every call.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::format::{Answer, arguments_object, text_at};
use avocet_core::protocol::reply::wire_name;
use avocet_core::protocol::{ContentBlock, Message, Opaque, ToolCall};

/// The calls of one answer, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct CallPieces {
    calls: Vec<Piece>,
}

/// What is known of one call.
#[derive(Debug, Default)]
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The arguments are a text and no JSON.
    is_text: bool,
}

impl Piece {
    fn is_complete(&self) -> bool {
        serde_json::from_str::<Value>(&self.arguments).is_ok_and(|value| value.is_object())
    }
}

impl CallPieces {
    /// Adds a piece as chat completions write it: `{index, id, function: {name, arguments}}`.
    pub fn push(&mut self, piece: &Value, answer: &mut Answer) {
        let custom = piece.get("custom");
        let function = piece.get("function").or(custom).unwrap_or(piece);
        let (id, name) = (text_at(piece, "id"), text_at(function, "name"));
        let given = function.get(if custom.is_some() { "input" } else { "arguments" });
        let (more, is_whole) = arguments(given);
        if id.is_empty() && name.is_empty() && more.is_empty() {
            return;
        }
        let index = piece.get("index").and_then(Value::as_u64);
        // Some servers end with the calls once more.
        let is_same =
            |piece: &Piece| piece.id == id && piece.name == name && piece.arguments == more;
        if !id.is_empty() && self.calls.iter().any(|call| is_same(call) && call.is_complete()) {
            return;
        }
        let at = match self.place(index, id, name, &more) {
            Some(at) => at,
            None => {
                self.calls.push(Piece { index, ..Piece::default() });
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(at) else { return };
        call.is_text |= custom.is_some();
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() || name.starts_with(&call.name) {
            name.clone_into(&mut call.name);
        } else if name != call.name {
            call.name.push_str(name);
        }
        if is_whole {
            call.arguments = more;
        } else {
            call.arguments.push_str(&more);
            answer.grow_call(&call.name, call.arguments.len(), more.len());
        }
    }

    /// The call that a piece continues; `None` if it begins one.
    fn place(&self, index: Option<u64>, id: &str, name: &str, more: &str) -> Option<usize> {
        let last = || self.calls.len().checked_sub(1);
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if id.is_empty() => last(),
            None => match self.calls.iter().rposition(|call| call.id == id) {
                Some(at) => Some(at),
                None => last().filter(|at| self.calls.get(*at).is_some_and(|c| c.id.is_empty())),
            },
        }?;
        let call = self.calls.get(at)?;
        // Some servers give every piece an id of its own; only the first has a name.
        let is_piece = name.is_empty() && index.is_some() && !call.is_complete();
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id && !is_piece;
        // A name may come in pieces, before the first of the arguments.
        let continues = call.arguments.is_empty()
            && more.is_empty()
            && if id.is_empty() { index.is_some() } else { call.id == id };
        let other_name =
            !name.is_empty() && !call.name.is_empty() && call.name != name && !continues;
        let again = !name.is_empty() && more.trim_start().starts_with('{') && call.is_complete();
        (!other_id && !other_name && !again).then_some(at)
    }

    /// The complete calls; each has an id that is not in `taken`.
    pub fn take(&mut self, taken: &mut HashSet<String>) -> Vec<ToolCall> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        calls
            .map(|call| {
                let arguments = if call.is_text {
                    Value::String(call.arguments).to_string()
                } else {
                    call.arguments
                };
                new_call(&call.id, call.name, arguments, None, taken)
            })
            .filter(|call| !call.name.is_empty() || !call.arguments.is_empty())
            .collect()
    }
}

/// A call under the server's id, or under one of ours if that is empty or taken.
pub(super) fn new_call(
    id: &str,
    name: String,
    arguments: String,
    opaque: Option<Opaque>,
    taken: &mut HashSet<String>,
) -> ToolCall {
    let mut id = id.to_owned();
    let mut number = taken.len();
    while id.is_empty() || taken.contains(&id) {
        id = format!("call_{number}");
        number += 1;
    }
    taken.insert(id.clone());
    ToolCall { id, name, arguments, opaque: opaque.map(Box::new) }
}

/// Makes calls in the history such that every server takes them: some read the names and the
/// arguments again, and refuse each later request for one that is odd.
pub(crate) fn mend_calls(messages: &mut [Message]) {
    for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
        match block {
            ContentBlock::ToolCall(call) => {
                call.name = wire_name(&call.name);
                let is_read = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
                if !is_read {
                    call.arguments = arguments_object(&call.arguments).to_string();
                }
            }
            ContentBlock::ToolResult(result) => result.name = wire_name(&result.name),
            ContentBlock::Text(_) | ContentBlock::Image(_) | ContentBlock::Reasoning(_) => {}
        }
    }
}

/// Arguments as text, and whether they are whole: some servers send the object itself.
fn arguments(value: Option<&Value>) -> (String, bool) {
    match value {
        Some(Value::String(text)) => (text.clone(), false),
        None | Some(Value::Null) => (String::new(), false),
        Some(object) => (object.to_string(), true),
    }
}

/// The only length of an id that some servers accept.
pub(super) const SHORT_ID: usize = 9;

/// An id as a server accepts it: of these characters and not longer than this. The same id always
/// becomes the same.
pub(super) fn id_for_wire(id: &str, longest: usize) -> String {
    let is_short = longest == SHORT_ID;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || !is_short && matches!(c, '_' | '-');
    let fits = if is_short { id.len() == longest } else { id.len() <= longest && !id.is_empty() };
    if fits && id.chars().all(is_plain) {
        return id.to_owned();
    }
    // FNV-1a: short, and the same on every machine and in every version.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}").chars().take(longest).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use avocet_core::protocol::{Role, ToolResult};

    fn gather(pieces: &[Value]) -> Vec<(String, String, String)> {
        let mut calls = CallPieces::default();
        pieces.iter().for_each(|piece| calls.push(piece, &mut Answer::default()));
        let calls = calls.take(&mut HashSet::new());
        calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.into(), name.into(), arguments.into())
    }

    #[test]
    fn pieces_are_joined_by_index_by_id_or_by_order() {
        let piece = |value: Value, arguments: &str| {
            let mut piece = value;
            piece["function"]["arguments"] = arguments.into();
            piece
        };
        let expected = [call("a", "x", "{\"n\":1}"), call("b", "y", "{}")];
        let by_index = [
            piece(json!({ "index": 0, "id": "a", "function": { "name": "x" } }), "{\"n\""),
            piece(json!({ "index": 1, "id": "b", "function": { "name": "y" } }), "{"),
            piece(json!({ "index": 0 }), ":1}"),
            piece(json!({ "index": 1 }), "}"),
        ];
        let by_id = [
            piece(json!({ "id": "a", "function": { "name": "x" } }), "{\"n\""),
            piece(json!({ "id": "b", "function": { "name": "y" } }), "{"),
            piece(json!({ "id": "a" }), ":1}"),
            piece(json!({ "id": "b" }), "}"),
        ];
        let in_order = [
            piece(json!({ "id": "a", "function": { "name": "x" } }), "{\"n\""),
            piece(json!({}), ":1}"),
            piece(json!({ "id": "b", "function": { "name": "y" } }), "{"),
            piece(json!({ "id": null, "function": { "name": null } }), "}"),
        ];
        let one_index = [
            piece(json!({ "index": 0, "id": "a", "function": { "name": "x" } }), "{\"n\":1}"),
            piece(json!({ "index": 0, "id": "b", "function": { "name": "y" } }), "{}"),
        ];
        for pieces in [&by_index[..], &by_id, &in_order, &one_index] {
            assert_eq!(gather(pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn pieces_with_ids_of_their_own_and_calls_that_are_sent_again_make_no_new_call() {
        let piece = |id: &str, name: &str, arguments: &str| {
            let function = json!({ "name": name, "arguments": arguments });
            json!({ "index": 0, "id": id, "function": function })
        };
        let pieces = [piece("x1", "exec", "{\"a\""), piece("x2", "", ":1}")];
        assert_eq!(gather(&pieces), [call("x1", "exec", "{\"a\":1}")]);
        let again = [piece("x", "exec", "{}"), piece("x", "exec", "{}")];
        assert_eq!(gather(&again), [call("x", "exec", "{}")]);
    }

    #[test]
    fn a_name_in_every_piece_begins_no_new_call() {
        let piece = |arguments: &str| json!({ "index": 0, "id": "a", "function": { "name": "x", "arguments": arguments } });
        let pieces = [piece("{\""), piece("n\":"), piece("{}"), piece("}"), piece(" "), piece("")];
        assert_eq!(gather(&pieces), [call("a", "x", "{\"n\":{}} ")]);
    }

    #[test]
    fn a_name_may_come_in_pieces() {
        let piece = |id: &str, name: &str, arguments: &str| json!({ "index": 0, "id": id, "function": { "name": name, "arguments": arguments } });
        for pieces in [
            [piece("a", "file_", ""), piece("", "read", ""), piece("", "", "{}")],
            [piece("a", "file_", ""), piece("a", "read", ""), piece("a", "", "{}")],
            [piece("a", "file_", ""), piece("a", "file_read", ""), piece("a", "file_read", "{}")],
            [piece("a", "", ""), piece("", "file_read", ""), piece("", "", "{}")],
        ] {
            assert_eq!(gather(&pieces), [call("a", "file_read", "{}")], "{pieces:?}");
        }
        let other = [piece("a", "plan", ""), piece("b", "exec", ""), piece("b", "", "{}")];
        assert_eq!(gather(&other), [call("a", "plan", ""), call("b", "exec", "{}")]);
    }

    #[test]
    fn every_call_has_an_id_of_its_own() {
        let piece = |id: Value| json!({ "id": id, "function": { "name": "x", "arguments": "{}" } });
        let mut taken = HashSet::from(["0".to_owned()]);
        let mut calls = CallPieces::default();
        for (index, id) in [json!("0"), json!(null), json!(""), json!("k")].into_iter().enumerate()
        {
            let mut piece = piece(id);
            piece["index"] = index.into();
            calls.push(&piece, &mut Answer::default());
        }
        let calls = calls.take(&mut taken);
        let ids: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!((calls.len(), ids.len(), taken.len()), (4, 4, 5));
        assert!(ids.contains("k") && !ids.contains("0"));
    }

    #[test]
    fn arguments_may_be_an_object() {
        let piece = json!({ "function": { "name": "x", "arguments": { "a": 1 } } });
        assert_eq!(gather(&[piece]), [call("call_0", "x", "{\"a\":1}")]);
    }

    #[test]
    fn an_id_that_a_server_would_refuse_is_replaced_by_the_same_one_each_time() {
        assert_eq!(id_for_wire("call_1-a", 64), "call_1-a");
        let strange = id_for_wire("functions.bash:0", 64);
        assert_eq!((strange.len(), &strange), (16, &id_for_wire("functions.bash:0", 64)));
        for id in ["call_long", "call_longer", "call", ""] {
            let short = id_for_wire(id, SHORT_ID);
            assert!(short.len() == 9 && short.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
        }
        assert_eq!(id_for_wire("123456789", SHORT_ID), "123456789");
    }

    #[test]
    fn odd_names_and_broken_arguments_never_go_back_as_they_came() {
        let long = "x".repeat(80);
        for name in
            ["exec", "file.read", "functions.exec", "default_api:exec", "", "9", "读取文件", &long]
        {
            for arguments in ["{\"a\":1}", "", "{\"a\":", "[1]", "\"{}\"", "null"] {
                let call = ToolCall {
                    id: "a".into(),
                    name: name.into(),
                    arguments: arguments.into(),
                    opaque: None,
                };
                let result = ToolResult {
                    call: "a".into(),
                    name: name.into(),
                    content: "x".into(),
                    is_error: false,
                };
                let mut history = [
                    Message { role: Role::Assistant, blocks: vec![ContentBlock::ToolCall(call)] },
                    Message { role: Role::User, blocks: vec![ContentBlock::ToolResult(result)] },
                ];
                mend_calls(&mut history);
                let (ContentBlock::ToolCall(call), ContentBlock::ToolResult(result)) =
                    (&history[0].blocks[0], &history[1].blocks[0])
                else {
                    panic!("a call and its result")
                };
                assert_eq!(call.name, result.name);
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                assert!(call.name.chars().all(is_plain), "{}", call.name);
                assert!((1..=64).contains(&call.name.len()), "{}", call.name);
                let read = serde_json::from_str::<Map<String, Value>>(&call.arguments);
                assert!(read.is_ok(), "{arguments}");
                assert_eq!(call.arguments == arguments, arguments == "{\"a\":1}");
            }
        }
    }
}
