//! A turn that failed says so calmly, and offers what to do.

use super::asking::text;
use super::*;
use avocet_core::i18n::{common, session};

fn failed() -> State {
    let mut state = screen();
    receive(&mut state, started());
    let ending = TurnOutcome::Failed { why: session::INTERRUPTED.into() };
    let usage = Usage::default();
    receive(&mut state, protocol::Event::TurnEnded { turn: 1, ending, usage, elapsed_ms: 900 });
    draw(&mut state, SIZE);
    state
}

#[test]
fn a_failed_turn_is_tried_again_by_key_and_by_click() {
    let again = [ScreenEffect::Send(Op::Turn(TurnOp::Retry))];
    let mut state = failed();
    let shown = text(&mut state, SIZE);
    assert!(shown.contains("Try again") && shown.contains("Other model"), "{shown}");
    assert_eq!(press_at(&mut state, "\t", 5_000), again);
    assert!(state.composer.is_empty());

    let mut state = failed();
    let row = shown.lines().position(|line| line.contains("Try again")).expect("the chips");
    let line = shown.lines().nth(row).expect("the row");
    let column = line.chars().take_while(|c| *c != 'T').count() + 1;
    let kind = MouseEventKind::Down(MouseButton::Left);
    let (column, row) = (column as u16, row as u16);
    let click = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    let effects = update(&mut state, TimedInput { at: 5_000, input: ScreenInput::Mouse(click) });
    assert_eq!(visible_effects(effects), again);
}

#[test]
fn another_model_is_a_key_away_after_a_failure() {
    let mut state = failed();
    hold(&mut state, KeyCode::Char('2'), KeyModifiers::ALT);
    assert!(state.modals.is_picker_on_top(), "{}", text(&mut state, SIZE));
    // A draft is not replaced.
    let mut state = failed();
    press_at(&mut state, "half", 5_000);
    hold(&mut state, KeyCode::Char('1'), KeyModifiers::ALT);
    assert_eq!(state.composer.display_text(), "half");
}

#[test]
fn only_the_mark_of_an_error_is_red() {
    let mut state = failed();
    let danger = state.appearance.theme.danger.fg;
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
    let frame = terminal.draw(|frame| drop(draw_frame(&mut state, frame, 50_000))).expect("drawn");
    let red: Vec<&str> = frame
        .buffer
        .content
        .iter()
        .filter(|cell| danger.is_some_and(|red| cell.fg == red) && cell.symbol() != " ")
        .map(|cell| cell.symbol())
        .collect();
    assert_eq!(red, ["✗"]);
}

#[test]
fn a_notice_leaves_how_to_stop_where_both_fit() {
    for width in [40, 80, 120] {
        let size = (width, 24);
        let mut state = screen();
        receive(&mut state, started());
        assert!(text(&mut state, size).contains("Esc stops"), "{width}");
        let say = state.keymap.with_keys(phrases::QUESTION_ENTER_AGAIN);
        state.presence.show_message(say, 49_000);
        let shown = text(&mut state, size);
        let line = shown.lines().find(|line| line.contains("Typed at")).expect("the notice");
        let notice = "Enter again sends it to the model.   Esc stops";
        assert_eq!(line.trim_end().ends_with(notice), width >= 80, "{shown}");
        // A long one ends with a clause.
        state.presence.show_message(common::MODE_AUTO_ABOUT, 49_000);
        let row = text(&mut state, size);
        let row = row.lines().find(|row| row.contains("What stays inside")).expect("the notice");
        let clause = "runs without asking, with the network closed";
        assert!(width < 80 || row.trim_end().contains(clause), "{row}");
        assert!(row.contains('…') || row.contains("closed"), "{row}");
        // A short one leaves room at any width.
        state.presence.show_message(common::STOPPED, 49_000);
        assert!(text(&mut state, size).contains("Stopped.   Esc stops"), "{width}");
        // Nothing runs: nothing stops.
        receive(&mut state, ended(900));
        let shown = text(&mut state, size);
        assert!(shown.contains("Stopped.") && !shown.contains("Esc stops"), "{shown}");
    }
}
