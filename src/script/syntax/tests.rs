//! A table of known parses, and the places of errors.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use avocet_core::i18n::{Lang, Localize};

fn items(text: &str) -> Value {
    let document = parse("t.ai.yaml", text).unwrap_or_else(|failure| panic!("{failure}"));
    document.body.iter().map(ScriptValue::to_value).collect()
}

fn error_text(text: &str) -> String {
    parse("t.ai.yaml", text).unwrap_err().localized().text(Lang::En)
}

#[test]
fn lines_become_items_as_the_language_defines() {
    let cases = [
        ("system: S\n\"Q\"", json!([{"system": "S"}, "Q"])),
        ("-> a(x=1) -> $print", json!(["-> a(x=1) -> $print"])),
        ("- user: x\n- -> a\n-> b", json!([{"user": "x"}, "-> a", "-> b"])),
        ("$fn(1): {k: 2}", json!([{"$fn(1)": {"k": 2}}])),
        ("$if: \"a\"\n|- then: x\n|- else: y", json!([{"$if": "a", "then": "x", "else": "y"}])),
        ("- $if: \"a\"\n  then:\n    - user: x", json!([{"$if": "a", "then": [{"user": "x"}]}])),
        ("user[@d(PM), @e]: yo", json!([{"user[@d(PM), @e]": "yo"}])),
        ("\"#:[0]x\"\n#:[0]y\n+plus", json!(["#:[0]x", "+plus"])),
        ("user: a\n    more", json!([{"user": "a more"}])),
        ("user: a # c\n\"a # c\"", json!([{"user": "a"}, "a # c"])),
        ("user: yes\nuser: 12\n12\ntrue", json!([{"user": "yes"}, {"user": 12}, 12, true])),
        ("{role: user, content: x}", json!([{"role": "user", "content": "x"}])),
        ("$echo: ?=23+5", json!([{"$echo": "?=23+5"}])),
        (
            "user: |-\n  a\n   b\nsystem: >-\n  c\n  d",
            json!([{"user": "a\n b"}, {"system": "c d"}]),
        ),
        ("user: a\n# note\nuser: b\n  # inner\n", json!([{"user": "a"}, {"user": "b"}])),
        (
            "- user: a\n# note\n- $if: x\n  then: y",
            json!([{"user": "a"}, {"$if": "x", "then": "y"}]),
        ),
        ("user: 1\r\nuser: 2\r\n", json!([{"user": 1}, {"user": 2}])),
    ];
    for (text, expected) in cases {
        assert_eq!(items(text), expected, "{text}");
    }
}

#[test]
fn separators_come_in_many_forms_and_the_first_is_forced() {
    let text = "a\n--- # note\nb\n***\n\"-----\"\n- '***'\n---!\n\"-- x\"\n";
    let first = "$initDone(force=true)";
    let more = "$initDone";
    let expected = json!(["a", first, "b", more, more, more, first, "-- x"]);
    assert_eq!(items(&format!("---\nk: 1\n---\n{}", text)), expected);
}

/// ISDK-031: the head is closed by the next line that begins with `---`.
#[test]
fn isdk_031_the_head_is_a_map_between_two_lines() {
    let document = parse("t", "\n# top\n---\na: 1\nb: {c: d}\n--- # end\n\nuser: x").unwrap();
    assert_eq!(document.front_matter.to_value(), json!({"a": 1, "b": {"c": "d"}}));
    assert_eq!(document.body.len(), 1);
    assert_eq!(document.body[0].position, SourcePosition { line: 8, column: 1 });
    assert_eq!(parse("t", "---\n---\nuser: x").unwrap().front_matter.to_value(), json!({}));
    let open = parse("t", "user: x\n---\nuser: y").unwrap();
    assert_eq!(open.body.len(), 3);
    assert_eq!(
        error_text("---\n- a\n---\n"),
        "t.ai.yaml:2:1: The settings between the `---` lines must be a map, `key: value`."
    );
}

#[test]
fn functions_keep_their_tag_and_keys_their_order() {
    let document = parse("t", "!fn |-\n  add(a, b) {\n    return a + b\n  }\n!fn# |-\n  up(x) { }\n$on:\n  callback: !fn |-\n    (e) { }\n").unwrap();
    let tags: Vec<_> = document.body.iter().map(|node| node.tag.as_deref()).collect();
    assert_eq!(tags, [Some("fn"), Some("fn#"), None]);
    assert_eq!(document.body[0].as_text().unwrap(), "add(a, b) {\n  return a + b\n}");
    let on = document.body[2].get("$on").unwrap();
    assert_eq!(on.get("callback").unwrap().tag.as_deref(), Some("fn"));
}

#[test]
fn an_error_names_its_position_in_the_file() {
    let said = error_text("---\na: 1\n---\nuser: ok\n  more\nuser: A: b\n");
    assert!(said.starts_with("t.ai.yaml:6:8: "), "{said}");
    assert!(said.contains("quote"), "{said}");
    let said = error_text("user: ok\nuser: @d hi\n");
    assert!(said.starts_with("t.ai.yaml:2:7: "), "{said}");
    let said = error_text("user: {{content}}\n");
    assert!(said.contains("cannot be a key"), "{said}");
    let said = error_text("---\na: 1\nb: 2\n--\nuser: [x\n");
    assert!(said.starts_with("t.ai.yaml:1:1: ") && said.contains("no closing `---`"), "{said}");
    let said = error_text("user: ok\nuser: [x\n\n\n");
    assert!(said.starts_with("t.ai.yaml:2:"), "{said}");
    let deep = format!("user: {}", "[".repeat(100));
    assert!(error_text(&deep).contains("64 levels"));
}

#[test]
fn aliases_cannot_exceed_the_node_limit() {
    let mut text = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n".to_owned();
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        text.push_str(&format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 10].join(", ")));
    }
    assert!(error_text(&format!("---\n{text}---\n")).contains("More than 200000 values"));
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_with_a_place(text in "[-a-z:*#>|!$@\\[\\]{}'\" \n&~]{0,200}") {
        if let Err(failure) = parse("t", &text) {
            let spot = failure.location.expect("a place");
            prop_assert!(spot.position.line >= 1 && spot.position.column >= 1);
            prop_assert!(usize::try_from(spot.position.line).unwrap() <= text.split('\n').count() + 1);
        }
    }
}
