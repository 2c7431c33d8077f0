//! Turns that are stopped or cancelled.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn stop_at_a_question_ends_the_turn_and_records_every_step() {
    let mut bench = begun();
    bench.proposes(&["git add .", "ls"]);
    assert_eq!(line(&bench.decides(Decision::Stop)), "end Stopped");
    assert_eq!(bench.outcomes(), ["cmd_001 declined", "cmd_002 cancelled"]);
}

#[test]
fn a_cancel_at_any_moment_leaves_a_valid_history() {
    type Moment = fn(&mut Bench) -> TurnAction;
    let moments: [(&str, Moment); 5] = [
        ("while the model is called", |bench| bench.next(TurnInput::Cancelled)),
        ("while a broken reply is asked for again", |bench| {
            bench.says("prose");
            bench.next(TurnInput::Cancelled)
        }),
        ("at a question", |bench| {
            bench.proposes(&["git add .", "ls"]);
            bench.next(TurnInput::Cancelled)
        }),
        ("while a step runs", |bench| {
            let action = bench.proposes(&["ls", "pwd"]);
            bench.next(TurnInput::Stopped(ran(action, None, Outcome::Cancelled)))
        }),
        ("in the middle of a reply", |bench| {
            bench.says_cut(r#"{"type":"cmd","message":"I lo"#, Truncation::Cancelled)
        }),
    ];
    for (when, cancel) in moments {
        let mut bench = begun();
        assert_eq!(line(&cancel(&mut bench)), "end Cancelled", "{when}");
        let history = bench.history();
        assert!(history[0].text().starts_with("do it"), "{when}");
        assert!(history.windows(2).all(|pair| pair[0].role != pair[1].role), "{when}: {history:?}");
        let last = &history[history.len() - 1];
        assert_eq!(last.role, Role::User, "{when}");
        assert!(last.text().ends_with("{\"_event\":\"cancelled_by_user\"}"), "{when}: {last:?}");
        let proposed = history.iter().filter(|m| m.text().contains("\"program\":\"ls\"")).count();
        assert!(
            proposed == 0 || last.text().contains("cmd_002"),
            "{when}: every step has a result"
        );
    }
}

#[test]
fn text_streamed_before_a_cancel_is_kept_with_its_mark() {
    let mut bench = begun();
    bench.says_cut(r#"{"type":"chat","message":"half an ans"#, Truncation::Cancelled);
    let replied = bench.replied();
    assert_eq!(
        (replied[0].message.as_str(), replied[0].cut),
        ("half an ans", Some(Truncation::Cancelled))
    );
}
