//! Tests how the shape of JSON output is summed up.

use super::*;

#[test]
fn one_value_shows_its_top_level() {
    let out = r#"{"name":"x","deps":{"a":1,"b":2},"list":[1,2,3],"n":null}"#;
    let items = json!([
        { "key": "name", "value": "x" },
        { "key": "deps", "value": "object of 2" },
        { "key": "list", "value": "list of 3" },
        { "key": "n", "value": null },
    ]);
    assert_eq!(parse_ok("curl x", out), parsed_as("json", items));
    assert_eq!(
        parse_ok("cat x", "[{\"a\":[1]},2]\n"),
        parsed_as("json", json!([{ "a": "list of 1" }, 2]))
    );
}

#[test]
fn several_truncated_or_hostile_json_values_are_plain_text() {
    assert_eq!(parse_ok("cat x", "{}\n{}\n"), None);
    assert_eq!(parse_ok("cat x", "{ not json"), None);
    assert_eq!(parse_ok("cat x", &"[".repeat(100_000)), None);
    let args = ["x".to_owned()];
    let run = FinishedCommand {
        program: "cat",
        args: &args,
        stdout: "{}",
        stderr: "",
        exit: Some(0),
        whole: false,
    };
    assert_eq!(parse(&run), None);
}
