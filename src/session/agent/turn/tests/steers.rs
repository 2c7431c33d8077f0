//! The user's messages to a running turn.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn steering_skips_remaining_steps_and_follows_the_results() {
    let mut bench = begun();
    let step = bench.proposes(&["ls", "ls -a"]);
    bench.turn.steer(Steering { submit: None, text: "Look at src only.".into() });
    let call = bench.exits(step, 0);
    let heard = Bench::last_message(&call);
    assert!(heard.ends_with("\n\nLook at src only."), "{heard}");
    assert!(heard.contains("tool_result") && !heard.contains("\"continue\""), "{heard}");
    assert_eq!(bench.outcomes(), ["cmd_001 ran", "cmd_002 cancelled"]);
    assert!(bench.events().any(|event| matches!(event, Event::Steered { .. })));
}

#[test]
fn steering_during_the_answer_is_answered_in_the_same_turn() {
    let mut bench = begun();
    bench.turn.steer(Steering { submit: None, text: "And in French?".into() });
    let call = bench.says(r#"{"type":"chat","message":"Hello.","data":{}}"#);
    assert_eq!(Bench::last_message(&call), "And in French?");
    let end = bench.says(r#"{"type":"chat","message":"Bonjour.","data":{}}"#);
    assert!(matches!(end, TurnAction::End(TurnOutcome::Done)));
    let said: Vec<&str> = bench.replied().iter().map(|reply| reply.message.as_str()).collect();
    assert_eq!(said, ["Hello.", "Bonjour."]);
}
