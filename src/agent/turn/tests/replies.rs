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
        r#"{"type":"cmd","message":"m","data":{"commands":[{"program":"head","args":[1]}]}}"#;
    let action = bench.says(broken);
    assert_eq!(line(&action), "call again");
    let fault = "`data.commands[0].args` must be a list of strings, but `data.commands[0].args[0]` is a number.";
    assert_eq!(sent(&action)[0]["fault"], fault);
    assert!(bench.events().any(
        |event| matches!(event, Event::Repairing { fault: said } if said.text(Lang::En) == fault)
    ));
    assert!(bench.replied().is_empty(), "nothing of it is shown as an answer");
    assert_eq!(line(&bench.says(HI)), "end Done");
    assert_eq!(bench.history(), [Message::user("do it"), Message::assistant(HI)]);
}

#[test]
fn each_reply_has_its_own_second_chance() {
    let mut bench = begun();
    bench.says("prose");
    let action = bench.proposes(&["ls"]);
    bench.exits(action, 0);
    assert_eq!(line(&bench.says("prose")), "call again");
}

#[test]
fn prose_is_taken_as_the_answer_the_second_time() {
    let mut bench = begun();
    let prose = "Write `fn main() {}` and set {\"a\": 1} there.";
    assert_eq!(line(&bench.says(prose)), "call again");
    assert_eq!(line(&bench.says(prose)), "end Done");
    assert_eq!(bench.replied()[0].message, prose);
    assert_eq!(bench.history().len(), 2);
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
        r#"["x"]"#,
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
    for text in [whole.as_str(), whole.split_at(whole.len() - 3).0] {
        let mut bench = begun();
        let action = bench.says_cut(text, Truncation::Length);
        assert!(line(&action).starts_with("failed: The answer reached the server's token limit"));
        let replied = bench.replied();
        assert_eq!(
            (replied[0].message.as_str(), replied[0].cut),
            ("why", Some(Truncation::Length))
        );
        assert!(bench.outcomes().is_empty());
    }
}

#[test]
fn a_truncated_chat_keeps_its_mark_even_if_it_is_valid() {
    for text in [HI, r#"{"type":"chat","message":"hi"#, "hi", "hi {\"type\":\"cm"] {
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
