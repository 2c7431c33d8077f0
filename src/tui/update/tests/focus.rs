//! One part of the screen has the focus: keys, pastes, the wheel, the cursor and the status line
//! agree on it.

use ratatui::layout::Position;

use super::*;
use crate::files::{FileMatch, FileMatches};
use crate::focus::{Focus, focus};

/// The time of all that happens here; a question is ready then.
const NOW: Millis = 10_000;

fn input(state: &mut State, input: ScreenInput) -> Vec<ScreenEffect> {
    visible_effects(update(state, TimedInput { at: NOW, input }))
}

/// A screen with this part on top, over a conversation that can be scrolled.
fn screen_with(part: Focus) -> State {
    let mut state = screen();
    for n in 0..40 {
        state.transcript.add_notice(Notice::info(phrases::SECONDS.with("s", n)));
    }
    match part {
        Focus::Question | Focus::Draft => {
            if part == Focus::Draft {
                press_at(&mut state, "draft", 0);
            }
            receive(&mut state, started());
            let work = StepAction::exec("touch", &["a"]);
            receive(&mut state, step_question(work, risk(Tier::L1)));
        }
        Focus::Page => drop(hold(&mut state, KeyCode::F(1), KeyModifiers::NONE)),
        Focus::Picker => drop(press(&mut state, "/theme\n")),
        Focus::Queue => {
            receive(&mut state, waits(&["next"]));
            hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
        }
        Focus::Agents => {
            let info = protocol::SubagentInfo::default();
            receive(&mut state, SessionEvent::SubagentStarted(Box::new(info)));
            hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
        }
        Focus::HistorySearch => {
            drop(hold(&mut state, KeyCode::Char('r'), KeyModifiers::CONTROL));
        }
        Focus::TranscriptSearch => {
            drop(hold(&mut state, KeyCode::Char('f'), KeyModifiers::CONTROL));
        }
        Focus::Palette => drop(press(&mut state, "/")),
        Focus::Files => {
            press(&mut state, "@");
            let hit = |path: &str| FileMatch { path: path.into(), positions: vec![] };
            let hits = vec![hit("elm"), hit("melt")];
            let found = FileMatches { hits, match_count: 2, ..FileMatches::default() };
            input(&mut state, ScreenInput::FileMatches(found));
        }
        Focus::Composer => {}
    }
    draw(&mut state, SIZE);
    state
}

/// The frame, and the text in front of the cursor.
fn picture(state: &mut State) -> (String, String) {
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
    let drawn = terminal.draw(|frame| drop(draw_frame(state, frame, NOW))).expect("a frame");
    let buf = drawn.buffer.clone();
    let row = |y: u16, end: u16| (0..end).map(|x| buf[(x, y)].symbol()).collect::<String>();
    let Position { x, y } = terminal.get_cursor_position().expect("a cursor");
    ((0..SIZE.1).map(|y| row(y, SIZE.0)).collect::<Vec<_>>().join("\n"), row(y, x))
}

/// Every part, with a hint of its keys, and whether the text of keys and of pastes goes there.
const PARTS: [(Focus, Option<Phrase>, bool, bool); 11] = [
    (Focus::Question, None, false, true),
    (Focus::Draft, None, true, true),
    (Focus::Page, None, false, false),
    (Focus::Picker, Some(phrases::HINT_PICK), true, false),
    (Focus::Queue, Some(avocet_core::i18n::input::HINT_QUEUE_REMOVE), false, true),
    (Focus::Agents, Some(avocet_core::i18n::agents::HINT_WORK), true, true),
    (Focus::HistorySearch, Some(avocet_core::i18n::input::HINT_OLDER), true, true),
    (Focus::TranscriptSearch, Some(phrases::HINT_NEXT), true, true),
    (Focus::Palette, Some(phrases::HINT_RUN), true, true),
    (Focus::Files, Some(avocet_core::i18n::input::HINT_TAKE_FILE), true, true),
    (Focus::Composer, None, true, true),
];

#[test]
fn the_part_with_the_focus_is_the_one_whose_keys_are_named() {
    for (part, hint, ..) in PARTS {
        let mut state = screen_with(part);
        assert_eq!(focus(&state, NOW), part);
        let (frame, _) = picture(&mut state);
        if let Some(hint) = hint {
            assert!(frame.contains(hint.text(Lang::En)), "{part:?}\n{frame}");
        }
        for (other, hint, ..) in PARTS.iter().filter(|(other, ..)| *other != part) {
            let status = frame.lines().last().unwrap_or_default();
            let named =
                hint.is_some_and(|hint| status.contains(&format!(" {}", hint.text(Lang::En))));
            assert!(!named, "{part:?} names the keys of {other:?}\n{frame}");
        }
    }
}

#[test]
fn what_is_typed_and_pasted_appears_at_the_cursor_and_nowhere_else() {
    for (part, _, takes_keys, takes_pastes) in PARTS {
        let mut state = screen_with(part);
        let before = state.composer.display_text();
        press(&mut state, if takes_keys { "el" } else { "n" });
        let (frame, typed) = picture(&mut state);
        assert_eq!(typed.ends_with("el"), takes_keys, "{part:?}: {typed}\n{frame}");
        let mut state = screen_with(part);
        input(&mut state, ScreenInput::Paste("elm".into()));
        let (frame, pasted) = picture(&mut state);
        assert_eq!(pasted.ends_with("elm"), takes_pastes, "{part:?}: {pasted}\n{frame}");
        let writes = matches!(
            part,
            Focus::Question
                | Focus::Draft
                | Focus::Queue
                | Focus::Agents
                | Focus::Palette
                | Focus::Files
                | Focus::Composer
        );
        assert_eq!(state.composer.display_text() != before, writes, "{part:?}");
    }
}

#[test]
fn the_wheel_scrolls_the_page_or_else_the_conversation() {
    for (part, ..) in PARTS {
        let mut state = screen_with(part);
        let kind = MouseEventKind::ScrollUp;
        let mouse = MouseEvent { kind, column: 1, row: 1, modifiers: KeyModifiers::NONE };
        input(&mut state, ScreenInput::Mouse(mouse));
        assert_eq!(state.transcript.is_following(), part == Focus::Page, "{part:?}");
    }
}
