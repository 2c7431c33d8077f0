//! Copying, and the messages about it.

use super::*;
use crate::CopyResult;

#[test]
fn copying_goes_through_the_terminal_and_says_so() {
    let mut state = screen();
    assert_eq!(press(&mut state, "/copy\n"), []);
    receive(&mut state, started());
    let replied = ModelMessage { message: "the answer".into(), ..ModelMessage::default() };
    receive(&mut state, protocol::Event::Replied(replied));
    receive(&mut state, ended(10));
    assert_eq!(press(&mut state, "/copy\n"), [ScreenEffect::Copy("the answer".into())]);
}

#[test]
fn the_result_of_copying_is_shown_for_a_moment() {
    let mut state = screen();
    let copied = CopyResult { chars: 3, program: Some("wl-copy"), is_tmux_only: false };
    update(&mut state, TimedInput { at: 10, input: ScreenInput::Copied(copied) });
    assert_eq!(
        state.presence.temporary_message.as_ref().map(|(say, _)| say.clone()),
        Some(copied.message())
    );
    assert_eq!(state.next_wakeup(20), Some(4_010));
    update(&mut state, TimedInput { at: 4_010, input: ScreenInput::Tick });
    assert_eq!(state.presence.temporary_message, None);
    assert_eq!(state.next_wakeup(4_010), None);
}

#[test]
fn ctrl_shift_c_is_not_ctrl_c() {
    let mut state = screen();
    let both = KeyModifiers::CONTROL | KeyModifiers::SHIFT;
    assert_eq!(hold(&mut state, KeyCode::Char('c'), both), []);
    assert_eq!(state.presence.confirm_quit_until, None);
    assert_eq!(hold(&mut state, KeyCode::Char('c'), KeyModifiers::CONTROL), []);
    assert!(state.presence.confirm_quit_until.is_some());
}
