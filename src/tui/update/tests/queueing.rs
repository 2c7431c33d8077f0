//! Queued messages, selected one by one.

use super::*;

#[test]
fn up_on_an_empty_input_selects_a_queued_message() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, protocol::Event::Queued { texts: vec!["one".into(), "two".into()] });
    assert_eq!(hold(&mut state, KeyCode::Up, KeyModifiers::NONE), []);
    let effects = hold(&mut state, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(effects, [ScreenEffect::Send(Op::Unqueue { at: 1, text: "two".into() })]);
    assert_eq!(state.composer.display_text(), "two");
}

#[test]
fn queued_messages_are_taken_out_one_by_one_and_typing_leaves_the_queue() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, protocol::Event::Queued { texts: vec!["one".into(), "two".into()] });
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    let effects = hold(&mut state, KeyCode::Delete, KeyModifiers::NONE);
    assert_eq!(effects, [ScreenEffect::Send(Op::Unqueue { at: 0, text: "one".into() })]);
    press(&mut state, "x");
    assert_eq!(state.composer.display_text(), "x");
    assert!(!state.queue.has_selection());
    let kept = state.draft();
    assert_eq!((kept.shown.as_str(), kept.queue), ("x", vec!["two".to_owned()]));
}

#[test]
fn messages_queued_at_exit_are_queued_again_and_reported() {
    let draft =
        crate::config::draft::SavedDraft { queue: vec!["next".into()], ..Default::default() };
    let mut state = State::new(ScreenConfig { draft, ..ScreenConfig::default() });
    assert_eq!(state.requeue_op(), Some(Op::SetQueue { texts: vec!["next".into()] }));
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    hold(&mut state, KeyCode::Delete, KeyModifiers::NONE);
    assert!(state.draft().is_empty());
}

#[test]
fn enter_in_an_empty_input_sends_restored_messages_only_when_nothing_runs() {
    let draft =
        crate::config::draft::SavedDraft { queue: vec!["next".into()], ..Default::default() };
    let mut state = State::new(ScreenConfig { draft, ..ScreenConfig::default() });
    let enter = |state: &mut State| hold(state, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(enter(&mut state), [ScreenEffect::Send(Op::RunQueue)]);
    receive(&mut state, started());
    assert_eq!(enter(&mut state), []);
}

#[test]
fn queued_messages_run_in_the_order_shown() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, protocol::Event::Queued { texts: vec!["one".into()] });
    let write = |state: &mut State, text: &str| {
        press(state, text);
        hold(state, KeyCode::Enter, KeyModifiers::NONE)
    };
    let sends =
        |effects: &[ScreenEffect]| effects.iter().any(|it| matches!(it, ScreenEffect::Send(_)));
    assert!(!sends(&write(&mut state, "/mode low")));
    assert!(!sends(&write(&mut state, "two")), "it stands behind the command");
    assert!(!sends(&write(&mut state, "/mode high")));
    assert!(!sends(&write(&mut state, "three")));
    assert_eq!(
        state.queue.pending(),
        (
            ["one".to_owned()].as_slice(),
            ["/mode low", "two", "/mode high", "three"].map(str::to_owned).to_vec(),
        )
    );
    // The session's own message comes first.
    assert!(!sends(&receive(&mut state, ended(1))));
    receive(&mut state, protocol::Event::Queued { texts: Vec::new() });
    receive(&mut state, started());
    let mode = |mode| ScreenEffect::Send(Op::SetMode { mode });
    let text = |text: &str| ScreenEffect::Send(Op::Submit { text: text.into() });
    assert_eq!(receive(&mut state, ended(1)), [mode(protocol::Mode::Low), text("two")]);
    receive(&mut state, started());
    assert_eq!(receive(&mut state, ended(1)), [mode(protocol::Mode::High), text("three")]);
    assert!(state.queue.is_empty());
}
