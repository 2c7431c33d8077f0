//! What the user says to a turn that runs.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn words_said_while_a_step_runs_end_the_list_and_go_behind_the_results() {
    let mut bench = begun();
    let step = bench.proposes(&["ls", "ls -a"]);
    bench.turn.steer("Look at src only.".into());
    let call = bench.exits(step, 0);
    let heard = Bench::heard(&call);
    assert!(heard.ends_with("\n\nLook at src only."), "{heard}");
    assert!(heard.contains("tool_result") && !heard.contains("\"continue\""), "{heard}");
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 cancelled"]);
    assert!(bench.events().any(|event| matches!(event, Event::Steered { .. })));
}

#[test]
fn words_said_while_the_answer_is_written_are_answered_in_the_same_turn() {
    let mut bench = begun();
    bench.turn.steer("And in French?".into());
    let call = bench.says(r#"{"type":"chat","message":"Hello.","data":{}}"#);
    assert_eq!(Bench::heard(&call), "And in French?");
    let end = bench.says(r#"{"type":"chat","message":"Bonjour.","data":{}}"#);
    assert!(matches!(end, Action::End(Ending::Done)));
    let said: Vec<&str> = bench.replied().iter().map(|reply| reply.message.as_str()).collect();
    assert_eq!(said, ["Hello.", "Bonjour."]);
}
