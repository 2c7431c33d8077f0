//! Keys that come as a question opens, and those that answer it at once.

use super::asking::{listens, row, screen_with, text, touches, writes};
use super::*;
use crate::guard::FocusNotice;

/// A question at ten seconds; the last key before it was at this time.
fn asked_after_key(key: Option<Millis>, question: protocol::Event) -> State {
    let mut state = screen();
    receive(&mut state, started());
    if let Some(at) = key {
        update(&mut state, TimedInput::key(at, KeyCode::PageDown));
    }
    update(&mut state, TimedInput::session(10_000, question));
    draw(&mut state, SIZE);
    state
}

#[test]
fn a_question_takes_a_key_at_once_where_nobody_typed() {
    for key in [None, Some(8_999)] {
        let mut state = asked_after_key(key, touches());
        assert_eq!(listens(&state, 10_000), FocusNotice::Question);
        assert_eq!(answer_at(&mut state, "y", 10_001), decides(Decision::Approve));
    }
    let state = asked_after_key(Some(9_000), touches());
    assert_eq!(listens(&state, 10_699), FocusNotice::Waiting);
    assert_eq!(listens(&state, 10_700), FocusNotice::Question);
}

#[test]
fn the_letter_of_a_choice_that_comes_too_early_is_held_and_never_sent() {
    for letter in ["y", "n", "s", "1", "Y"] {
        let mut state = asked_after_key(Some(9_900), touches());
        assert_eq!(press_at(&mut state, &format!("{letter}\n"), 10_250), []);
        assert_eq!(press_at(&mut state, "\n", 10_300), [], "nothing is sent");
        assert!(state.composer.is_empty(), "{letter} is no text");
        assert!(state.modals.is_question_on_top());
    }
    let mut state = asked_after_key(Some(9_900), touches());
    assert_eq!(press_at(&mut state, "y", 10_250), []);
    assert!(row(&mut state, "press again").contains("too early"));
    // Held down, it stays too early.
    for at in 0..40 {
        assert_eq!(press_at(&mut state, "y", 10_750 + 33 * at), []);
    }
    assert_eq!(answer_at(&mut state, "y", 13_000), decides(Decision::Approve));
    // More text follows: it was its beginning.
    for (text, at) in [("yes", 90), ("no", 200), ("y/n", 90)] {
        let mut state = asked_after_key(Some(9_900), touches());
        for (number, letter) in text.chars().enumerate() {
            let now = 10_100 + at * number as Millis;
            assert_eq!(press_at(&mut state, &letter.to_string(), now), []);
        }
        assert_eq!(state.composer.full_text(), text);
        assert_eq!(press_at(&mut state, "\n", 10_900), [], "Enter alone does not send {text}");
    }
}

#[test]
fn a_held_letter_that_a_blank_makes_a_text_takes_the_keys_from_the_question() {
    let mut state = asked_after_key(Some(9_900), touches());
    assert_eq!(press_at(&mut state, "\ts ", 10_000), []);
    assert_eq!(state.composer.full_text(), "s ");
    assert_eq!(press_at(&mut state, "n", 10_700), [], "it goes on in the draft");
    assert_eq!(state.composer.full_text(), "s n");
}

#[test]
fn a_text_typed_as_a_question_opens_is_sent_by_a_second_enter() {
    let mut state = asked_after_key(Some(9_900), touches());
    press_at(&mut state, "ok", 10_300);
    assert_eq!(press_at(&mut state, "\n", 12_000), []);
    assert!(row(&mut state, "Enter again").contains("sends it"));
    let steer = ScreenEffect::Send(Op::Turn(TurnOp::Steer { text: "ok".into() }));
    assert_eq!(press_at(&mut state, "\n", 13_000), [steer]);
}

#[test]
fn a_press_after_a_release_is_a_second_one_at_once() {
    let mut state = screen_with(writes(300, risk(Tier::L1)));
    assert_eq!(press_at(&mut state, "y", 5_000), []);
    let mut release = KeyEvent::from(KeyCode::Char('y'));
    release.kind = KeyEventKind::Release;
    update(&mut state, TimedInput::key(5_060, release));
    assert_eq!(answer_at(&mut state, "y", 5_200), decides(Decision::Approve));
}

/// A diff of this many rows takes its head and its rows; all else may be hidden.
#[test]
fn a_diff_that_is_all_on_the_screen_is_approved_by_one_key() {
    for lines in [1, 5, 13, 15, 16] {
        let mut state = screen_with(writes(lines, risk(Tier::L1)));
        assert!(text(&mut state, SIZE).contains(&format!("line {lines}")));
        assert_eq!(answer_at(&mut state, "y", 5_000), decides(Decision::Approve), "{lines}");
    }
}

#[test]
fn a_change_offers_to_accept_edits_from_now_on() {
    let mut state = screen_with(writes(3, risk(Tier::L1)));
    assert!(row(&mut state, "accept edits from now on").trim_end().ends_with('s'));
    assert_eq!(press_at(&mut state, "s", 5_000), [], "it lasts, so it is only marked");
    assert!(text(&mut state, SIZE).contains("Shift-Tab"));
    let mode = protocol::ApprovalMode::Edits;
    let accepts = decides(Decision::AcceptPlan { mode, items: None });
    assert_eq!(press_at(&mut state, "\n", 5_100), accepts);
}
