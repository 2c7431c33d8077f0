//! Words typed into a question that takes keys: no word is an answer.

use super::asking::{row, screen_with, touches, writes};
use super::question::confined;
use super::*;
use avocet_core::protocol::QuestionOp;

/// Types a text with this gap between its keys, with the ticks between them; returns all effects.
fn types(state: &mut State, text: &str, (from, gap): (Millis, Millis)) -> Vec<ScreenEffect> {
    let mut effects = Vec::new();
    for (number, letter) in text.chars().enumerate() {
        let at = from + gap * number as Millis;
        effects.extend(update(state, TimedInput { at, input: ScreenInput::Tick }));
        effects.extend(press_at(state, &letter.to_string(), at));
    }
    visible_effects(effects)
}

fn decisions(effects: &[ScreenEffect]) -> usize {
    let decides = |effect: &&ScreenEffect| {
        matches!(effect, ScreenEffect::Send(Op::Question(QuestionOp::Decide { .. })))
    };
    effects.iter().filter(decides).count()
}

fn grave() -> protocol::Event {
    step_question(StepAction::exec("touch", &["a"]), Risk { lifted: true, ..risk(Tier::L1) })
}

#[test]
fn a_word_at_a_question_that_marks_no_decides_nothing_and_is_text() {
    let words =
        ["yes please", "Yes please", "sysd", "system", "pytest", "please", "do it", "1. do"];
    for gap in [1, 20, 90, 200, 390] {
        for (asked, words) in [(touches(), &words[..]), (grave(), &["Yes please", "YES"][..])] {
            for word in words {
                let mut state = screen_with(asked.clone());
                let effects = types(&mut state, word, (5_000, gap));
                assert_eq!(decisions(&effects), 0, "{word} {gap}");
                update(&mut state, TimedInput { at: 60_000, input: ScreenInput::Tick });
                assert_eq!(state.composer.full_text(), *word, "{gap}");
                assert!(state.modals.is_question_on_top());
            }
        }
    }
}

#[test]
fn a_lone_letter_that_would_run_what_leaves_the_sandbox_counts_after_a_moment() {
    let tick = |state: &mut State, at| {
        visible_effects(update(state, TimedInput { at, input: ScreenInput::Tick }))
    };
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "y", 5_000), []);
    assert!(row(&mut state, "in a moment").contains("takes it back"));
    assert_eq!(state.next_wakeup(5_000), Some(5_400));
    assert_eq!(tick(&mut state, 5_399), []);
    assert_eq!(tick(&mut state, 5_400), decides(Decision::Approve));
    // Enter makes it count at once; any other key takes it back.
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "y\n", 5_000), decides(Decision::Approve));
    for key in [KeyCode::Down, KeyCode::F(2), KeyCode::Backspace] {
        let mut state = screen_with(touches());
        press_at(&mut state, "y", 5_000);
        update(&mut state, TimedInput::key(5_100, key));
        assert_eq!(tick(&mut state, 9_000), [], "{key:?}");
    }
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "y\x1b", 5_000), decides(Decision::Reject { word: None }));
    // Held down, it waits until it is let go.
    let mut state = screen_with(touches());
    assert_eq!(types(&mut state, &"y".repeat(60), (5_000, 33)), []);
    assert_eq!(tick(&mut state, 9_000), decides(Decision::Approve));
    assert!(state.composer.is_empty());
}

#[test]
fn a_letter_decides_at_once_where_enter_would_do_the_same_or_nothing_runs() {
    assert_eq!(press_at(&mut confined(0), "y", 5_000), decides(Decision::Approve));
    assert_eq!(press_at(&mut confined(0), "1", 5_000), decides(Decision::Approve));
    let none = decides(Decision::Reject { word: None });
    assert_eq!(press_at(&mut screen_with(touches()), "n", 5_000), none);
    let stop = decides(Decision::Stop);
    assert_eq!(press_at(&mut screen_with(touches()), "x", 5_000), stop);
    // All of a list is more than what is marked.
    let mut state = confined(2);
    assert_eq!(press_at(&mut state, "a", 5_000), []);
    assert_eq!(decisions(&answer_at(&mut confined(2), "a", 5_000)), 1);
}

/// A question whose usual answer is yes, at ten seconds, before which no key was pressed.
fn opens_now() -> State {
    let mut state = confined(0);
    state.guard.restart(10_000);
    state
}

#[test]
fn a_storm_that_begins_as_the_question_appears_decides_nothing() {
    let storms = [
        "yes please",
        "y",
        "yy",
        "y\n",
        "y\n\ny\ny",
        "ys\n",
        "y1\n",
        "yn",
        "\n",
        "\n\n\n",
        "\ny\n",
        "1\n\n",
        "no\ny\n",
        "sys\ny",
        "s\n",
        "xy",
        "ay\n",
        "ewy\n",
        "w\n",
        "e\n",
        "e\n\n",
        "dy\n",
    ];
    for storm in storms {
        for from in [10_000, 10_040, 10_150, 10_299] {
            for gap in [1, 20, 90, 200, 390] {
                let mut state = opens_now();
                let effects = types(&mut state, storm, (from, gap));
                assert_eq!(decisions(&effects), 0, "{storm:?} {from} {gap}");
                let text = state.composer.full_text();
                let tick = TimedInput { at: 60_000, input: ScreenInput::Tick };
                let later = visible_effects(update(&mut state, tick));
                let is_lone = storm == "y";
                assert_eq!(decisions(&later), usize::from(is_lone), "{storm:?} {from} {gap}");
                assert!(!text.contains('\n'), "{storm:?}");
            }
        }
    }
    // What comes once it can have been read decides at once.
    assert_eq!(press_at(&mut opens_now(), "y", 10_300), decides(Decision::Approve));
    assert_eq!(press_at(&mut opens_now(), "\n", 10_300), decides(Decision::Approve));
    // A letter that comes earlier counts if nothing follows, and a second press is a new one.
    let mut state = opens_now();
    assert_eq!(press_at(&mut state, "y", 10_100), []);
    assert_eq!(state.next_wakeup(10_100), Some(10_500));
    let tick = TimedInput { at: 10_500, input: ScreenInput::Tick };
    assert_eq!(visible_effects(update(&mut state, tick)), decides(Decision::Approve));
    let mut state = opens_now();
    assert_eq!(press_at(&mut state, "\n", 10_100), []);
    assert!(row(&mut state, "press again").contains("too early"));
    assert_eq!(press_at(&mut state, "\n", 10_800), decides(Decision::Approve));
}

#[test]
fn what_follows_a_decision_in_one_word_is_not_sent_by_its_enter() {
    for gap in [20, 90, 200, 600] {
        let mut state = confined(0);
        let effects = types(&mut state, "yes please\n", (5_000, gap));
        assert_eq!(effects, decides(Decision::Approve), "{gap}");
        assert_eq!(state.composer.full_text(), "es please");
        // The question closes meanwhile.
        let mut state = confined(0);
        types(&mut state, "ye", (5_000, gap));
        receive(&mut state, protocol::Event::QuestionClosed { ask: AskId(7) });
        let from = 5_000 + 2 * gap;
        assert_eq!(types(&mut state, "s please\n", (from, gap)), [], "{gap}");
        assert_eq!(state.composer.full_text(), "es please");
        let effects = press_at(&mut state, "\n", from + 20 * gap);
        assert!(!effects.is_empty(), "a second Enter sends it");
    }
}

#[test]
fn a_key_held_down_leaves_nothing_behind_its_decision() {
    let mut state = confined(0);
    assert_eq!(types(&mut state, &"y".repeat(30), (5_000, 33)), decides(Decision::Approve));
    receive(&mut state, protocol::Event::QuestionClosed { ask: AskId(7) });
    assert_eq!(types(&mut state, &"y".repeat(30), (6_000, 33)), []);
    assert!(state.composer.is_empty());
    // After a pause, or a release, it is a letter again.
    press_at(&mut state, "y", 8_000);
    assert_eq!(state.composer.full_text(), "y");
    let mut state = confined(0);
    press_at(&mut state, "y", 5_000);
    let mut release = KeyEvent::from(KeyCode::Char('y'));
    release.kind = KeyEventKind::Release;
    update(&mut state, TimedInput::key(5_060, release));
    receive(&mut state, protocol::Event::QuestionClosed { ask: AskId(7) });
    press_at(&mut state, "y", 5_200);
    assert_eq!(state.composer.full_text(), "y");
}

#[test]
fn a_lasting_choice_is_confirmed_by_its_letter_again_but_not_while_it_is_held_down() {
    let session = || decides(Decision::Remember(ApprovalScope::Session));
    let mut state = confined(0);
    assert_eq!(press_at(&mut state, "s", 5_000), []);
    assert_eq!(press_at(&mut state, "s", 5_700), session());
    let mut state = confined(0);
    assert_eq!(types(&mut state, &"s".repeat(90), (5_000, 33)), [], "held down");
    let mut state = confined(0);
    press_at(&mut state, "s", 5_000);
    let mut release = KeyEvent::from(KeyCode::Char('s'));
    release.kind = KeyEventKind::Release;
    update(&mut state, TimedInput::key(5_060, release));
    assert_eq!(press_at(&mut state, "s", 5_200), session());
    // A key that runs the step does not confirm it.
    let mut state = confined(0);
    assert_eq!(types(&mut state, "sy", (5_000, 90)), []);
    assert_eq!(state.composer.full_text(), "sy");
}

#[test]
fn an_edit_opened_by_the_first_letter_of_a_word_is_not_run_by_its_enter() {
    for asked in [touches(), writes(3, risk(Tier::L1))] {
        let mut state = screen_with(asked);
        let effects = types(&mut state, "explain it\n", (5_000, 90));
        assert_eq!(decisions(&effects), 0);
    }
}

#[test]
fn a_question_mark_shows_the_keys_and_is_text_within_a_text() {
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "?", 5_000), []);
    assert!(!state.modals.is_question_on_top() && state.modals.has_question());
    press_at(&mut state, "\x1b", 6_000);
    assert!(state.modals.is_question_on_top());
    assert!(state.composer.is_empty());
    let mut state = screen_with(touches());
    press_at(&mut state, "over?", 5_000);
    assert_eq!(state.composer.full_text(), "over?");
}

fn closes_at(state: &mut State, at: Millis) {
    update(state, TimedInput::session(at, protocol::Event::QuestionClosed { ask: AskId(7) }));
}

#[test]
fn a_message_typed_after_the_answer_is_sent_by_one_enter() {
    // The time of the first letter after the key that decided and the question that closed, and
    // whether one Enter sends the message: sooner it may be the rest of a word.
    for (from, sends) in [(5_090, false), (5_200, false), (5_309, false), (5_310, true)] {
        for gap in [20, 90, 200] {
            let mut state = confined(0);
            assert_eq!(press_at(&mut state, "y", 5_000), decides(Decision::Approve));
            closes_at(&mut state, 5_010);
            let effects = types(&mut state, "and now\n", (from, gap));
            assert_eq!(!effects.is_empty(), sends, "{from} {gap}");
            let later = press_at(&mut state, "\n", from + 10 * gap);
            assert_eq!(!later.is_empty(), !sends, "the second one does: {from} {gap}");
        }
    }
}

#[test]
fn what_is_no_rest_of_a_word_is_sent_by_one_enter() {
    let typed_on: [(&str, &[KeyCode]); 3] = [
        ("es, and then run all of the tests again", &[]),
        ("and now", &[KeyCode::Backspace]),
        ("and now", &[KeyCode::Char('e'), KeyCode::Backspace]),
    ];
    for (text, before) in typed_on {
        let mut state = confined(0);
        press_at(&mut state, "y", 5_000);
        for key in before {
            update(&mut state, TimedInput::key(5_020, *key));
        }
        assert!(!types(&mut state, &format!("{text}\n"), (5_040, 20)).is_empty(), "{text}");
    }
    // Nor what a command has come between, or a draft had begun before.
    let mut state = confined(0);
    press_at(&mut state, "y", 5_000);
    closes_at(&mut state, 5_010);
    types(&mut state, "/version\nok", (5_090, 20));
    assert!(!press_at(&mut state, "\n", 5_400).is_empty());
    let mut state = confined(0);
    press_at(&mut state, "later", 3_000);
    assert_eq!(press_at(&mut state, "\ty", 5_000), decides(Decision::Approve));
    assert!(!types(&mut state, " on\n", (5_100, 90)).is_empty());
}

#[test]
fn a_word_that_comes_in_one_read_answers_nothing() {
    let burst = |state: &mut State, text: &str| {
        let mut effects = Vec::new();
        for (at, letter) in text.char_indices() {
            state.guard.set_in_burst(at + 1 < text.len());
            effects.extend(press_at(state, &letter.to_string(), 5_000));
        }
        effects
    };
    for word in ["yes please", "1. do", "no, wait", "y please"] {
        let mut state = confined(0);
        assert_eq!(burst(&mut state, word), []);
        assert_eq!(state.composer.full_text(), word);
        assert!(state.modals.is_question_on_top());
    }
    let mut state = confined(0);
    assert_eq!(burst(&mut state, "yyy"), decides(Decision::Approve), "one key held down");
    assert_eq!(burst(&mut confined(0), "y"), decides(Decision::Approve));
}
