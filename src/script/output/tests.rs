//! Replies in every format, and schemas in every spelling.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn why(kind: &str, text: &str, output: Option<Value>) -> String {
    convert(kind, text, output.as_ref()).unwrap_err().to_string()
}

/// ISDK-044, 045, 046: text and JSON.
#[test]
fn isdk_045_json_is_read_with_and_without_a_fence() {
    let sum = json!({"sum": 4});
    for text in [
        "{\"sum\": 4}",
        " \n{\"sum\": 4}\n",
        "```json\n{\"sum\": 4}\n```",
        "```\n{\"sum\": 4}```",
        "Here it is:\n```json\n{\"sum\": 4}\n```\nDone.",
        "Sure: {\"sum\": 4}.",
        "~~~\n{\"sum\": 4}\n~~~",
        "``` {\"sum\": 4} ```",
    ] {
        for kind in ["json", "json_object", "JSON"] {
            assert_eq!(convert(kind, text, None).unwrap(), sum, "{text}");
        }
    }
    assert_eq!(convert("text", "{\"sum\": 4}", None).unwrap(), json!("{\"sum\": 4}"));
    assert_eq!(
        convert("json", "{\"code\": \"```x```\"}", None).unwrap(),
        json!({"code": "```x```"})
    );
    assert!(why("json", "not json at all", None).contains("not JSON"));
    assert!(why("csv", "a", None).contains("`csv`"));
}

#[test]
fn isdk_040_a_scalar_is_read_as_the_schema_says() {
    assert_eq!(convert("json", "8", Some(&json!({"type": "number"}))).unwrap(), json!(8));
    assert_eq!(convert("json", "\n 8.5", Some(&json!({"type": "number"}))).unwrap(), json!(8.5));
    assert_eq!(
        convert("json", "plain words", Some(&json!({"type": "string"}))).unwrap(),
        json!("plain words")
    );
    assert_eq!(convert("json", "yes", Some(&json!({"type": "boolean"}))).unwrap(), json!(true));
    assert!(why("json", "eight", Some(json!({"type": "number"}))).contains("not JSON"));
}

#[test]
fn isdk_040_a_mismatch_is_named_with_its_path() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "number"}}}, "required": ["a"]});
    let misfit = why("json", "{\"a\": [1, \"x\"]}", Some(schema.clone()));
    assert!(misfit.contains("/a/1") && misfit.contains("number"), "{misfit}");
    assert!(why("json", "{}", Some(schema)).contains("'a'"));
    assert!(
        why("json", "1", Some(json!({"type": "object", "properties": 5}))).contains("`output`")
    );
    assert!(
        why("json", "1", Some(json!({"$ref": "file:///etc/hostname"})))
            .contains("not part of the schema")
    );
}

#[test]
fn isdk_040_every_spelling_of_a_schema_means_the_same() {
    let want = json!({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"], "type": "object"});
    for spelling in [
        json!({"type": "object", "properties": {"a": {"type": "int", "required": true}, "b": {}}}),
        json!({"a": {"type": "integer", "required": true}, "b": {}}),
        json!([{"a": {"type": "integer", "required": true}}, "b"]),
        json!({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}),
    ] {
        assert_eq!(normalize(&spelling), want, "{spelling}");
    }
    assert_eq!(
        normalize(&json!({"name": "string", "age": "how old"})),
        json!({"properties": {"name": {"type": "string"}, "age": {"description": "how old"}}, "type": "object"})
    );
    assert_eq!(
        normalize(&json!({"type": "list", "items": "int"})),
        json!({"type": "array", "items": {"type": "integer"}})
    );
    assert_eq!(normalize(&json!("number")), json!({"type": "number"}));
}

/// ISDK-047: YAML.
#[test]
fn isdk_047_yaml_is_read_as_plain_data() {
    let text = "```yaml\na: 1\nb: [yes, \"2\", ~]\nc:\n  - d: x\n```";
    assert_eq!(
        convert("yaml", text, None).unwrap(),
        json!({"a": 1, "b": ["yes", "2", null], "c": [{"d": "x"}]})
    );
    assert!(why("yaml", "a: [1", None).contains("not YAML"));
    assert!(why("yaml", "just words", Some(json!({"type": "object"}))).contains("object"));
    assert_eq!(
        convert(
            "yaml",
            "a: &x 1
b: *x",
            None
        )
        .unwrap(),
        json!({"a": 1, "b": 1})
    );
    assert!(why("yaml", &"[".repeat(100_000), None).contains("not YAML"));
}

/// ISDK-048, 054: natural objects.
#[test]
fn isdk_048_a_natural_object_is_read_by_its_fields() {
    let schema = json!({"type": "object", "properties": {
        "full_name": {"type": "string"}, "age": {"type": "integer"}, "married": {"type": "boolean"},
        "likes": {"type": "array", "items": {"type": "string"}},
        "home": {"type": "object", "properties": {"city": {"type": "string"}}}, "note": {"type": "string"}},
        "required": ["full_name", "age"]});
    let want = json!({"full_name": "Ann Lee", "age": 42, "married": true, "likes": ["tea", "cats"], "home": {"city": "Rome"}, "note": "one\ntwo"});
    for text in [
        "Likes: tea, cats\nFull Name: Ann Lee\nage: 42 years\nMarried: yes\nhome:\n  city: Rome\nNote: one\ntwo",
        "# Person\n- **Full name**: Ann Lee\n- **Age:** 42\n- **Married**: true\n- **Likes**:\n  - tea\n  - cats\n- **Home**:\n  - City: Rome\n- **Note**: one\n  two",
        "```\nfull_name： Ann Lee\nage： 42\nmarried： 是\nlikes： tea、cats\nhome:\n  city: Rome\nnote: one\n  two\n```",
    ] {
        assert_eq!(convert("nobj", text, Some(&schema)).unwrap(), want, "{text}");
    }
    let keys: Vec<_> = convert("nobj", "age: 1\nfull name: x", Some(&schema))
        .unwrap()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(keys, ["full_name", "age"]);
    assert_eq!(
        convert("nobj", "```json\n{\"full_name\": \"x\", \"age\": 1}\n```", Some(&schema)).unwrap(),
        json!({"full_name": "x", "age": 1})
    );
    assert!(why("nobj", "nothing of it", Some(schema.clone())).contains("none of the fields"));
    assert!(why("nobj", "full name: x", Some(schema)).contains("'age'"));
    assert_eq!(convert("nobj", "a: 1\nb: x y", None).unwrap(), json!({"a": "1", "b": "x y"}));
    assert_eq!(
        convert("nobj", "- 1\n- 2", Some(&json!({"type": "array", "items": {"type": "number"}})))
            .unwrap(),
        json!([1, 2])
    );
}

/// ISDK-051: the natural form of a schema.
#[test]
fn isdk_051_a_schema_is_described_in_words() {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "full name"},
        "size": {"enum": ["S", "L"]},
        "tags": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}},
        "required": ["name"]});
    assert_eq!(
        describe(&schema),
        "* \"name\" is a required text string representing full name\n* \"size\" is an optional text string, the value must be one of S, L\n* \"tags\" is an optional list of object\n  * \"n\" is an optional integer"
    );
    let texts = json!({"type": "array", "items": {"type": "string", "description": "one word"}});
    assert_eq!(
        describe(&texts),
        "This is a list of string\n- The item is a text string representing one word"
    );
    let entries = json!({"properties": {"entries": texts}});
    assert_eq!(
        describe(&entries),
        "* \"entries\" is an optional list of string\n  - The entry is a text string representing one word"
    );
    let people = json!({"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}});
    assert_eq!(
        describe(&people),
        "This is a list of object\n* \"name\" is an optional text string"
    );
    assert_eq!(
        describe(&json!({"type": "number", "description": "the sum"})),
        "number representing the sum"
    );
}

proptest! {
    #[test]
    fn any_reply_is_parsed_or_refused(text in "[a-c:{}\\[\\]\",\n`*#0-9 -]{0,80}", other in "\\PC{0,60}") {
        let schema = json!({"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "object", "properties": {"c": {"type": "number"}}}}});
        for text in [text, other] {
            for kind in ["json", "yaml", "nobj"] {
                let _ = convert(kind, &text, Some(&schema));
                let _ = convert(kind, &text, None);
            }
            let _ = describe(&json!({ text: {"type": "string"} }));
        }
    }
}
