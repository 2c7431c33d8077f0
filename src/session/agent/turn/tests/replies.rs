//! Replies that are broken, or cut off.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn a_repaired_reply_is_asked_about_even_where_it_is_safe() {
    let mut bench = begun();
    let action = bench.says("{'type':'cmd','message':'m','data':{'commands':[{'program':'ls'}]}}");
    assert_eq!(line(&action), "ask 1/1 L1 ls");
}

#[test]
fn a_broken_reply_is_requested_once_more_and_then_forgotten() {
    let mut bench = begun();
    let broken =
        r#"{"type":"cmd","message":"m","data":{"commands":[{"program":"head","args":[true]}]}}"#;
    let action = bench.says(broken);
    assert_eq!(line(&action), "call again");
    let fault = "`data.commands[0].args` must be a list of strings, but `data.commands[0].args[0]` is a boolean.";
    assert!(Bench::last_message(&action).contains(fault));
    assert!(bench.events().any(
        |event| matches!(event, Event::Repairing { fault: said } if said.text(Lang::En) == fault)
    ));
    assert!(bench.replied().is_empty(), "nothing of it is shown as an answer");
    assert_eq!(line(&bench.says(HI)), "end Done");
    assert_eq!(bench.history(), [Message::user("do it"), Message::assistant(HI)]);
}

#[test]
fn one_value_in_place_of_an_input_is_understood_for_every_tool() {
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let plan = json!([{ "text": "a", "state": "pending" }]);
    for (name, value, expected) in [
        ("file.read", json!("src/a.rs"), "path"),
        ("Read", json!("src/a.rs"), "path"),
        ("file.list", json!("src"), "path"),
        ("file.search", json!("x|y"), "query"),
        ("file.edit", json!(patch), "patch"),
        ("apply_patch", json!(patch), "patch"),
        ("plan", plan, "items"),
        ("ask", json!("Which one?"), "question"),
        ("job.read", json!(3), "id"),
        ("job.stop", json!(3), "id"),
        ("recall", json!("cmd_001"), "id"),
        ("skill", json!("tidy"), "name"),
        ("script.run", json!("tidy"), "script"),
        ("plugin.run", json!("x"), "alias"),
        ("config.json_patch", json!("x.json"), "path"),
        // No field of these is the one that is meant: the model gets the form.
        ("file.write", json!("a.txt"), "input"),
        ("job.list", json!("all"), "input"),
        ("teleport", json!("moon"), "input"),
    ] {
        let mut bench = begun();
        let command = json!({ "tool": name, "input": value });
        let reply = json!({ "type": "cmd", "message": "m", "data": { "commands": [command] } });
        let action = bench.says(&reply.to_string());
        assert_ne!(line(&action), "call again", "{name}");
        let kept: Value = serde_json::from_str(&bench.history()[1].text()).unwrap();
        let input = &kept["data"]["commands"][0]["input"];
        assert_eq!(*input, json!({ expected: value }), "{name}");
    }
    for (name, value, expected) in [
        ("exec", json!("ls -l"), "bash -lc 'ls -l'"),
        ("bash", json!("ls -l"), "bash -lc 'ls -l'"),
        ("exec", json!(["ls", "-l"]), "run ls -l"),
        ("exec", json!(r#"{"program":"ls"}"#), "run ls"),
        ("file.read", json!(r#"{"path":"a"}"#), "run file.read a"),
        ("file.read", json!(r#"{"path":"a"#), "call"),
        ("file.read", json!(true), "call again"),
    ] {
        let mut bench = begun();
        let command = json!({ "tool": name, "input": value });
        let reply = json!({ "type": "cmd", "message": "m", "data": { "commands": [command] } });
        let becomes = line(&bench.says(&reply.to_string()));
        assert!(becomes.ends_with(expected), "{name} {value}: {becomes}");
    }
}

#[test]
fn each_reply_has_its_own_second_chance() {
    let mut bench = begun();
    bench.says("{\"type\":");
    let action = bench.proposes(&["ls"]);
    bench.exits(action, 0);
    assert_eq!(line(&bench.says("{\"type\":")), "call again");
}

#[test]
fn prose_is_an_answer_and_json_that_was_asked_for_stands_in_a_fence() {
    for (said, shown) in [
        (
            "Write `fn main() {}` and set {\"a\": 1} there.",
            "Write `fn main() {}` and set {\"a\": 1} there.",
        ),
        (
            "[Rust](https://rust-lang.org) is a language.",
            "[Rust](https://rust-lang.org) is a language.",
        ),
        ("<details>more</details>", "<details>more</details>"),
        ("{\"name\":\"demo\"}", "```json\n{\"name\":\"demo\"}\n```"),
        ("[1, 2, 3]", "```json\n[1, 2, 3]\n```"),
        ("| a | b |\n|---|---|", "| a | b |\n|---|---|"),
    ] {
        let mut bench = begun();
        assert_eq!(line(&bench.says(said)), "end Done", "{said}");
        assert_eq!(bench.replied()[0].message, shown);
        assert_eq!(bench.history().len(), 2);
    }
}

#[test]
fn a_second_answer_that_is_no_better_does_not_replace_the_first() {
    let mut bench = begun();
    bench.says(r#"{"type":"cmd","message":"I look.","data":{"commands":[]}}"#);
    let end = bench.says(r#"{"type":"cmd","message":"Worse.","data":{"commands":[]}}"#);
    assert!(line(&end).starts_with("failed: "));
    assert_eq!(bench.replied()[0].message, "I look.");
}

#[test]
fn a_repeated_event_is_no_answer() {
    let mut bench = begun();
    let echo = r#"{"_event":"tool_result","id":"cmd_001","exitCode":0}"#;
    assert_eq!(line(&bench.says(echo)), "call again");
}

#[test]
fn a_whole_object_is_a_whole_reply_whatever_the_server_says_after_it() {
    for cut in [Truncation::Length, Truncation::Broken] {
        let mut bench = begun();
        assert_eq!(line(&bench.says_cut(HI, cut)), "end Done", "{cut:?}");
        let mut bench = begun();
        let action = bench.says_cut(&cmd(&["ls"]), cut);
        assert_eq!(line(&action), "ask 1/1 L1 ls", "{cut:?}");
    }
}

#[test]
fn a_reply_that_stands_in_the_reasoning_is_read_and_asks() {
    let mut bench = begun();
    let thought = |text: &str| {
        let text = avocet_core::protocol::TextBlock { text: text.into(), opaque: None };
        let blocks = vec![avocet_core::protocol::ContentBlock::Reasoning(text)];
        TurnInput::Replied(Ok(ModelReply { blocks, ..ModelReply::default() }))
    };
    let action = bench.next(thought(&cmd(&["ls"])));
    assert!(line(&action).starts_with("ask 1/1"), "{}", line(&action));
    let mut bench = begun();
    assert_eq!(line(&bench.next(thought("I think."))), "call again");
    let end = line(&bench.next(thought("I think.")));
    assert!(end.contains("only reasoned"), "{end}");
}

#[test]
fn only_the_message_of_a_reply_that_stays_broken_is_shown() {
    let broken = r#"{"type":"cmd","message":"I look.","data":{"commands":[]}}"#;
    let mut bench = begun();
    bench.says(broken);
    let end = "failed: The model gave an invalid reply twice in a row, so none of it was run. \
        `data.commands` is empty; a `cmd` reply must propose at least one step.";
    assert_eq!(line(&bench.says(broken)), end);
    assert_eq!(bench.replied()[0].message, "I look.");
    assert!(bench.outcomes().is_empty());
}

#[test]
fn raw_json_is_never_shown() {
    for text in [
        r#"{"type":"cmd","data":{"commands":[]}}"#,
        r#"{"typ"#,
        "```json\n{\"type\":\"cm",
        "<think>{\"a\"",
    ] {
        let mut bench = begun();
        bench.says(text);
        assert!(line(&bench.says(text)).starts_with("failed: "), "{text}");
        assert!(bench.replied().is_empty(), "{text}");
        assert_eq!(bench.history(), [Message::user("do it")], "{text}");
    }
}

#[test]
fn a_truncated_reply_is_shown_with_its_mark_and_does_not_run() {
    let whole = cmd(&["ls"]);
    for (text, cut) in [
        (whole.as_str(), Truncation::Filtered),
        (whole.split_at(whole.len() - 3).0, Truncation::Filtered),
        (whole.split_at(whole.len() - 3).0, Truncation::Length),
    ] {
        let mut bench = begun();
        if cut == Truncation::Length {
            assert_eq!(line(&bench.says_cut(text, cut)), "call again");
        }
        let action = bench.says_cut(text, cut);
        assert!(line(&action).starts_with("failed: "), "{text}, {cut:?}");
        let replied = bench.replied();
        assert_eq!((replied[0].message.as_str(), replied[0].cut), ("why", Some(cut)));
        assert!(bench.outcomes().is_empty());
    }
}

#[test]
fn an_answer_that_an_error_broke_off_fails_with_that_error_alone() {
    let mut bench = begun();
    let error = avocet_core::i18n::agent::EMPTY_REPLY;
    let reply = ModelReply {
        cut: Some(Truncation::Broken),
        broken_by: Some(error.into()),
        ..ModelReply::from_text("half an")
    };
    let action = bench.next(TurnInput::Replied(Ok(reply)));
    let cause = error.text(Lang::En);
    assert_eq!(line(&action), format!("failed: {cause} Nothing from it was run."));
}

#[test]
fn a_truncated_chat_keeps_its_mark() {
    for text in [r#"{"type":"chat","message":"hi"#, "hi", "hi {\"type\":\"cm"] {
        let mut bench = begun();
        let action = bench.says_cut(text, Truncation::Broken);
        assert!(line(&action).starts_with("failed: The connection dropped mid-answer"), "{text}");
        let replied = bench.replied();
        assert_eq!(
            (replied[0].message.as_str(), replied[0].cut),
            ("hi", Some(Truncation::Broken)),
            "{text}"
        );
    }
}

#[test]
fn an_answer_without_words_is_asked_for_again_and_then_said_to_be_empty() {
    for text in [
        r#"{"type":"chat","message":"","data":{"format":"plain"}}"#,
        r#"{"type":"chat","message":"  \n "}"#,
        r#"{"type":"error","message":""}"#,
        r#"{"type":"chat","message":""#,
    ] {
        let mut bench = begun();
        assert_eq!(line(&bench.says(text)), "call again", "{text}");
        let end = line(&bench.says(text));
        assert!(end.starts_with("failed: "), "{text}: {end}");
        assert!(bench.replied().is_empty(), "{text}: nothing is shown as an answer");
        let mut bench = begun();
        bench.says(text);
        assert_eq!(line(&bench.says(HI)), "end Done", "{text}");
    }
}

#[test]
fn an_answer_whose_words_have_no_end_is_marked_as_cut_although_the_server_says_it_is_whole() {
    let mut bench = begun();
    let action = bench.says(r#"{"type":"chat","message":"hi \"you"#);
    assert!(line(&action).starts_with("failed: "), "{}", line(&action));
    let replied = bench.replied();
    assert_eq!(
        (replied[0].message.as_str(), replied[0].cut),
        ("hi \"you", Some(Truncation::Broken))
    );
    let mut bench = begun();
    assert_eq!(
        line(&bench.says(r#"{"type":"chat","message":"hi""#)),
        "end Done",
        "only its brace is missing"
    );
    let mut bench = begun();
    let lost = r#"{"type":"chat","message":"hi","data":{"suggestions":["a"#;
    assert_eq!(line(&bench.says(lost)), "end Done", "its message is whole");
}
