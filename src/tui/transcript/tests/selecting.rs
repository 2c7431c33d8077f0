//! Selecting with the mouse.

use ratatui::style::Color;

use super::*;

/// Presses, moves and releases; returns the copied text.
fn drag(screen: &mut Screen, from: (u16, u16), to: (u16, u16)) -> Option<String> {
    screen.buffer();
    screen.transcript.press(from.0, from.1, 10_000);
    screen.transcript.drag(to.0, to.1);
    release_at(screen, to)
}

fn release_at(screen: &mut Screen, (x, y): (u16, u16)) -> Option<String> {
    match screen.transcript.release(x, y) {
        ReleaseOutcome::Selected(text) => Some(text),
        ReleaseOutcome::Clicked => None,
    }
}

fn clicks(screen: &mut Screen, (x, y): (u16, u16), times: u64) -> Option<String> {
    screen.buffer();
    let mut text = None;
    for time in 0..times {
        screen.transcript.press(x, y, 10_000 * times + 100 * time);
        text = release_at(screen, (x, y));
    }
    text
}

/// The text of the marked cells, one line per row.
fn marked_rows(screen: &mut Screen) -> Vec<String> {
    let selection = screen.theme.selection.bg.unwrap_or(Color::Reset);
    let buf = screen.buffer();
    (0..screen.height)
        .map(|y| {
            let cells = (0..screen.width).map(|x| &buf[(x, y)]);
            cells.filter(|cell| cell.bg == selection).map(|cell| cell.symbol()).collect::<String>()
        })
        .filter(|row| !row.is_empty())
        .collect()
}

#[test]
fn cells_are_selected_from_the_press_to_the_release() {
    let mut screen = Screen::with_events([turn_started("one two three")]);
    assert_eq!(drag(&mut screen, (6, 0), (8, 0)).as_deref(), Some("two"));
    assert_eq!(marked_rows(&mut screen), ["two"]);
    assert_eq!(drag(&mut screen, (8, 0), (6, 0)).as_deref(), Some("two"), "backwards as well");
    assert_eq!(drag(&mut screen, (6, 0), (6, 0)), None, "a click selects nothing");
    assert!(marked_rows(&mut screen).is_empty());
    assert_eq!(drag(&mut screen, (0, 0), (79, 39)).as_deref(), Some("one two three"));
}

#[test]
fn a_tab_in_a_table_is_shown_and_copied_as_blanks() {
    let table = "| a | b |\n|--|--|\n`c`\t- x\n";
    for width in [4, 20, 80] {
        let mut screen = Screen::new(width, 12);
        screen.apply_all([turn_started("t"), delta(table)]);
        let copied = drag(&mut screen, (0, 0), (width - 1, 11)).unwrap();
        assert!(!copied.contains('\t') && copied.contains("- x"), "{width}: {copied:?}");
    }
}

#[test]
fn a_wide_character_is_selected_whole() {
    let mut screen = Screen::with_events([turn_started("中文字符")]);
    for (from, to) in [(4, 7), (5, 6)] {
        assert_eq!(drag(&mut screen, (from, 0), (to, 0)).as_deref(), Some("文字"));
        assert_eq!(marked_rows(&mut screen).concat().replace(' ', ""), "文字");
    }
}

#[test]
fn broken_lines_are_joined_and_code_is_copied_without_its_bar() {
    let mut screen = Screen::new(24, 30);
    let answer = "A sentence that does not fit into a row.\n\n```rust\nfn long_name_of_a_function() {\n\n    \
                  body();\n}\n```\n\n> quoted words that go on and on\n\n- an item that is broken too";
    screen.apply_all([reply_finished(answer)]);
    let text = drag(&mut screen, (0, 0), (23, 29)).unwrap();
    let expected = "A sentence that does not fit into a row.\n\nfn long_name_of_a_function() {\n\n    \
                    body();\n}\n\nquoted words that go on and on\n\n- an item that is broken too";
    assert_eq!(text, expected);
    for row in marked_rows(&mut screen) {
        assert!(!row.contains(['╎', '⋮', '╷']), "{row}");
    }
}

#[test]
fn two_clicks_select_a_word_and_three_a_line() {
    let mut screen = Screen::new(24, 10);
    screen.apply_all([turn_started("see src/tui/run.rs: it waits for the next event")]);
    assert_eq!(clicks(&mut screen, (9, 0), 1), None);
    assert_eq!(clicks(&mut screen, (9, 0), 2).as_deref(), Some("src/tui/run.rs"));
    let line = "see src/tui/run.rs: it waits for the next event";
    assert_eq!(clicks(&mut screen, (9, 0), 3).as_deref(), Some(line));
    assert_eq!(clicks(&mut screen, (9, 0), 4), None);
    screen.transcript.press(2, 0, 90_000);
    release_at(&mut screen, (2, 0));
    screen.transcript.press(2, 0, 90_100);
    screen.transcript.drag(10, 0);
    assert_eq!(release_at(&mut screen, (10, 0)).as_deref(), Some("see src/tui/run.rs"));
}

#[test]
fn scrolling_while_the_button_is_held_extends_the_selection() {
    let mut screen = Screen::new(40, 6);
    for turn in 0..9 {
        screen.apply_all([turn_started(&format!("question {turn}"))]);
    }
    screen.buffer();
    screen.transcript.press(2, 5, 1);
    for _ in 0..4 {
        screen.transcript.scroll(Scroll::Lines(-2));
        screen.buffer();
    }
    screen.transcript.drag(0, 0);
    screen.buffer();
    let text = release_at(&mut screen, (0, 0)).unwrap();
    assert!(text.starts_with("question 1\n\nquestion 2"), "{text}");
    assert!(text.ends_with("question 7\n\nq"), "{text}");
}

#[test]
fn new_text_does_not_move_the_selection() {
    let mut screen = Screen::with_events([turn_started("one two three")]);
    drag(&mut screen, (6, 0), (8, 0));
    screen.apply_all([delta("an answer\n\nthat grows")]);
    assert_eq!(screen.transcript.selected_text().as_deref(), Some("two"));
    assert_eq!(marked_rows(&mut screen), ["two"]);
    assert!(screen.transcript.deselect() && !screen.transcript.deselect());
    drag(&mut screen, (6, 0), (8, 0));
    screen.apply_all([Event::Cleared]);
    assert_eq!(screen.transcript.selected_text(), None);
}

#[test]
fn a_click_still_unfolds_a_step() {
    let list = step("cmd_001", "ls", &[]);
    let mut screen = Screen::with_events([
        turn_started("List."),
        step_started(list.clone(), Tier::L0),
        step_ran(list, 0, "Cargo.toml\n", ""),
    ]);
    assert_eq!(clicks(&mut screen, (5, 2), 1), None);
    assert!(screen.text().contains("Cargo.toml"));
}

#[test]
fn the_whole_conversation_is_available_as_plain_text() {
    let list = step("cmd_001", "ls", &[]);
    let mut screen = Screen::new(30, 6);
    screen.apply_all([
        turn_started("List \u{1b}[2Jit."),
        step_started(list.clone(), Tier::L0),
        step_ran(list, 0, "a\nb\n", ""),
        reply_finished(
            "A long line that was broken on the screen.\n\n```rust\nfn main() {\n\n}\n```",
        ),
    ]);
    screen.buffer();
    let before = screen.text();
    let text = screen.transcript.plain_text();
    assert_eq!(text.lines().next(), Some("› List it."));
    assert!(
        text.contains("\nA long line that was broken on the screen.\n\nfn main() {\n\n}\n"),
        "{text}"
    );
    assert!(text.contains("✓ ls") && text.contains("\na\nb\n"), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    assert_eq!(screen.text(), before, "nothing on the screen changes");
}

mod anything {
    use proptest::prelude::*;

    use super::super::places::any_event;
    use super::*;

    proptest! {
        #[test]
        fn dragging_copies_only_shown_text(
            events in prop::collection::vec(any_event(), 1..15),
            moves in prop::collection::vec((0u16..44, 0u16..14, any::<bool>()), 1..8),
            width in 1u16..42,
        ) {
            let mut screen = Screen::new(width, 12);
            screen.apply_all(events);
            screen.buffer();
            for (at, (x, y, down)) in moves.into_iter().enumerate() {
                if down {
                    screen.transcript.press(x, y, at as u64 * 50);
                }
                screen.transcript.drag(y, x);
                screen.buffer();
                if let Some(text) = release_at(&mut screen, (y, x)) {
                    prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
                }
            }
        }
    }
}
