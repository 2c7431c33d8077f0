//! Keys while a question waits: no key meant for the draft answers it.

use proptest::prelude::*;

use super::*;
use crate::guard::{FocusNotice, QUIET};
use avocet_core::protocol::{Change, SessionInfo, StepQuestion, TrustOffer, UntrustedFile};

/// A turn is running, and a question opens at one second.
pub(super) fn screen_with(question: protocol::Event) -> State {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, question);
    draw(&mut state, SIZE);
    state
}

pub(super) fn touches() -> protocol::Event {
    step_question(StepAction::exec("touch", &["a"]), risk(Tier::L1))
}

fn trusts(trusted: bool) -> State {
    let mut state = screen();
    let facts = SessionInfo { trusted, ..SessionInfo::default() };
    receive(&mut state, protocol::Event::Facts(Box::new(facts)));
    let found = vec![UntrustedFile { name: "AGENTS.md".into(), bytes: 5, steers: true }];
    let (folder, above) = ("/w".to_owned(), Some("/".to_owned()));
    let question = Question::Trust { folder, above, because: WHY.into(), found };
    receive(&mut state, protocol::Event::Asked(Box::new(Ask { id: AskId(7), question })));
    draw(&mut state, SIZE);
    state
}

fn paste(state: &mut State, text: &str, at: Millis) -> Vec<ScreenEffect> {
    visible_effects(update(state, TimedInput { at, input: ScreenInput::Paste(text.into()) }))
}

pub(super) fn listens(state: &State, at: Millis) -> FocusNotice {
    state.guard.focus_notice(at, !state.composer.is_blank())
}

#[test]
fn a_step_waiting_for_trust_is_answered_by_selecting_a_row_and_enter() {
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(StepQuestion { trust, .. }) = &mut ask.question else { panic!("a step") };
    let found = vec![UntrustedFile { name: "AGENTS.md".into(), bytes: 5, steers: true }];
    *trust = Some(Box::new(TrustOffer { folder: "/w".into(), hazard: None, found }));
    let mut state = screen_with(protocol::Event::Asked(ask));
    draw(&mut state, (100, 40));
    assert_eq!(press_at(&mut state, "t", 5_000), []);
    assert_eq!(press_at(&mut state, "\n", 6_000), decides(Decision::Trust));
}

#[test]
fn a_text_keeps_the_letters_that_the_question_ignored_before_it() {
    for text in ["go on", "What is it", "p9h"] {
        let mut state = trusts(false);
        for (at, letter) in text.chars().enumerate() {
            let now = 5_000 + 100 * at as Millis;
            assert_eq!(press_at(&mut state, &letter.to_string(), now), [], "{text}");
        }
        assert_eq!(state.composer.full_text(), text);
    }
    // One alone was meant as an answer.
    let mut state = trusts(false);
    press_at(&mut state, "w", 5_000);
    press_at(&mut state, "h", 5_000 + QUIET);
    assert_eq!(state.composer.full_text(), "h");
}

/// A file with this many new lines.
pub(super) fn writes(lines: usize, risk: Risk) -> protocol::Event {
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(StepQuestion { change, risk: old, .. }) = &mut ask.question else {
        panic!("a step")
    };
    *old = risk;
    let rows: String = (1..=lines).map(|n| format!("+line {n}\n")).collect();
    let diff = format!("--- a.txt\n+++ a.txt\n@@ -0,0 +1,{lines} @@\n{rows}");
    *change = Some(Change { path: "/w/a.txt".into(), added: lines, diff, ..Change::default() });
    protocol::Event::Asked(ask)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn fast_typing_decides_nothing_and_loses_no_letter(
        keys in prop::collection::vec(("[ -.0-~éß中]", 1u64..QUIET), 1..60),
        opens in 0usize..60,
        trust in any::<bool>(),
    ) {
        let (mut state, mut now, mut typed) = (screen(), 1_000, String::new());
        if !trust {
            receive(&mut state, started());
        }
        for (at, (letter, gap)) in keys.into_iter().enumerate() {
            if at == opens || at == 0 && opens > 40 {
                let question = if trust {
                    Question::Trust {
                        folder: "/w".into(),
                        above: None,
                        because: WHY.into(),
                        found: Vec::new(),
                    }
                } else {
                    Question::Pause { why: WHY.into() }
                };
                let ask = Ask { id: AskId(7), question };
                update(&mut state, TimedInput::session(now, protocol::Event::Asked(Box::new(ask))));
                draw(&mut state, SIZE);
            }
            now += gap;
            // A question mark on an empty input opens help, as it does everywhere.
            let help = typed.is_empty() && !state.modals.is_question_on_top();
            let letter = if help { "x".to_owned() } else { letter };
            typed.push_str(&letter);
            prop_assert_eq!(press_at(&mut state, &letter, now), []);
        }
        // The letter of a choice with nothing after it is held.
        let held = state.guard.take_ignored(now).into_iter().filter_map(|key| key.code.as_char());
        prop_assert_eq!(held.collect::<String>() + &state.composer.full_text(), typed);
    }
}

#[test]
fn a_message_over_an_opening_question_stays_in_the_draft() {
    for gap in [20, 50, 90, 120, 200, 400, 600] {
        let mut state = screen();
        receive(&mut state, started());
        let sentence = "tidy it up, pay the bills, so says a yes; e";
        let mut now = 300;
        for (at, letter) in sentence.chars().enumerate() {
            if at == 7 {
                update(&mut state, TimedInput::session(now, touches()));
                draw(&mut state, SIZE);
            }
            now += gap;
            assert_eq!(press_at(&mut state, &letter.to_string(), now), [], "{gap} ms");
        }
        assert_eq!(state.composer.display_text(), sentence, "{gap} ms");
        // After one deliberate key and a pause the question can be answered; the draft stays.
        assert_eq!(press_at(&mut state, "\t", now + 10), []);
        assert_eq!(answer_at(&mut state, "y", now + 720), decides(Decision::Approve));
        assert_eq!(state.composer.display_text(), sentence);
    }
}

#[test]
fn enter_in_a_draft_over_a_question_steers_and_an_empty_one_sends_nothing() {
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "\n\n", 1_100), []);
    let steer = ScreenEffect::Send(Op::Turn(TurnOp::Steer { text: "then test".into() }));
    assert_eq!(press_at(&mut state, "then test\n", 1_800), [steer]);
    assert_eq!(press_at(&mut state, "\n", 1_900), []);
    assert_eq!(listens(&state, 3_600), FocusNotice::Draft, "more may come");
    assert_eq!(listens(&state, 3_800), FocusNotice::Question);
}

#[test]
fn backspace_deletes_letters_and_ctrl_w_words() {
    let mut state = screen_with(touches());
    press_at(&mut state, "yes sir\x08", 1_100);
    update(
        &mut state,
        TimedInput::key(1_200, KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL)),
    );
    assert_eq!(state.composer.display_text(), "yes ");
}

#[test]
fn an_emptied_draft_lets_keys_answer_after_the_pause() {
    let mut state = screen_with(touches());
    press_at(&mut state, "o", 1_500);
    assert_eq!(listens(&state, 4_000), FocusNotice::Draft);
    press_at(&mut state, "\x08", 4_000);
    assert_eq!(listens(&state, 4_699), FocusNotice::Waiting);
    assert_eq!(answer_at(&mut state, "y", 4_700), decides(Decision::Approve));
}

#[test]
fn the_end_of_the_conversation_does_not_count_as_the_end_of_the_question() {
    let args: Vec<String> = (0..480).map(|n| format!("file {n}")).collect();
    let mut state = screen_with(step_question(
        StepAction::Exec { program: "touch".into(), args },
        risk(Tier::L1),
    ));
    let to_end = KeyEvent::new(KeyCode::End, KeyModifiers::CONTROL);
    update(&mut state, TimedInput::key(1_100, to_end));
    draw(&mut state, SIZE);
    update(&mut state, TimedInput::key(5_000, to_end));
    draw(&mut state, SIZE);
    assert_eq!(press_at(&mut state, "y", 6_000), []);
}

#[test]
fn tab_and_arrows_move_the_focus_to_the_question_and_tab_and_esc_back() {
    for to in [KeyCode::Tab, KeyCode::Down, KeyCode::Up, KeyCode::Right] {
        for back in [KeyCode::Tab, KeyCode::Esc] {
            let mut state = screen_with(touches());
            press_at(&mut state, "so", 1_100);
            assert_eq!(listens(&state, 9_000), FocusNotice::Draft);
            assert_eq!(visible_effects(update(&mut state, TimedInput::key(9_000, to))), []);
            assert_eq!(listens(&state, 9_000), FocusNotice::QuestionWithDraft);
            assert_eq!(visible_effects(update(&mut state, TimedInput::key(9_100, back))), []);
            assert_eq!(press_at(&mut state, "y", 19_000), []);
            assert_eq!(state.composer.display_text(), "soy");
        }
    }
}

#[test]
fn a_letter_without_a_choice_begins_a_draft() {
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "over to you", 5_000), []);
    assert_eq!(state.composer.display_text(), "over to you");
}

#[test]
fn lasting_choices_require_enter_on_a_selected_row() {
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "psp", 5_000), [], "letters only mark it");
    assert_eq!(
        press_at(&mut state, "\n", 5_100),
        decides(Decision::Remember(ApprovalScope::Project))
    );
    let mut state = trusts(false);
    assert_eq!(press_at(&mut state, "tat", 5_000), []);
    assert_eq!(answer_at(&mut state, "\n", 5_100), decides(Decision::Approve));
    let mut state = trusts(false);
    let above = Decision::TrustParent;
    assert_eq!(press_at(&mut state, "a\n", 5_000), decides(above));
}

#[test]
fn a_script_call_is_allowed_or_refused_by_its_row() {
    for (key, decision) in [("1", Decision::Approve), ("2", Decision::Reject { word: None })] {
        let mut state = screen();
        let question = Question::ScriptCall { text: "May it call `x`?".into() };
        receive(&mut state, protocol::Event::Asked(Box::new(Ask { id: AskId(7), question })));
        draw(&mut state, SIZE);
        assert_eq!(press_at(&mut state, key, 5_000), decides(decision));
    }
}

#[test]
fn the_question_of_trust_selects_the_current_state_and_esc_changes_nothing() {
    for (trusted, marked) in [(true, Decision::Approve), (false, Decision::Reject { word: None })] {
        let mut state = trusts(trusted);
        assert_eq!(press_at(&mut state, "\x1b", 5_000), decides(Decision::Dismiss));
        let mut state = trusts(trusted);
        assert_eq!(press_at(&mut state, "\n", 5_000), decides(marked));
    }
}

#[test]
fn a_command_over_a_question_runs_nothing_and_decides_nothing() {
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "/stop\n", 5_000), [STOP]);
    let mut state = screen_with(touches());
    assert_eq!(press_at(&mut state, "/status\n", 5_000), []);
    assert!(!state.transcript.is_empty());
    assert_eq!(listens(&state, 5_700), FocusNotice::Question, "the question has the focus again");
    let steer = Op::Turn(TurnOp::Steer { text: "use tabs".into() });
    assert_eq!(press_at(&mut state, "/steer use tabs\n", 6_000), [ScreenEffect::Send(steer)]);
    let deny = press_at(&mut state, "/deny touch *\n", 7_000);
    assert!(matches!(&deny[..], [ScreenEffect::Send(Op::Rules(RuleOp::Deny { .. }))]), "{deny:?}");
    assert_eq!(press_at(&mut state, "/queue next\n", 8_000), sends("next"));
    assert_eq!(answer_at(&mut state, "y", 9_000), decides(Decision::Approve));
}

#[test]
fn a_selection_does_not_outlast_text_typed_after_it() {
    for marks in ["so", "po", "s\x1b"] {
        let mut state = screen_with(touches());
        if marks.ends_with('\x1b') {
            press_at(&mut state, "half", 1_100);
            press_at(&mut state, "\t", 5_000);
        }
        press_at(&mut state, marks, 6_000);
        update(
            &mut state,
            TimedInput::key(7_000, KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)),
        );
        assert!(state.composer.is_empty());
        let none = decides(Decision::Reject { word: None });
        assert_eq!(press_at(&mut state, "\n", 19_000), none, "{marks:?}");
    }
}

#[test]
fn selections_and_searches_end_when_a_question_opens() {
    let mut state = screen();
    receive(&mut state, started());
    receive(&mut state, waits(&["one"]));
    hold(&mut state, KeyCode::Up, KeyModifiers::NONE);
    assert!(state.queue.has_selection());
    update(&mut state, TimedInput::session(10_000, touches()));
    assert_eq!(press_at(&mut state, "x\x08\x08", 10_100), []);
    assert_eq!(state.queue.pending().0, ["one"]);
    let shown = text(&mut state, SIZE);
    assert!(shown.contains("queued"), "it is seen below the question\n{shown}");
}

#[test]
fn other_commands_say_that_they_must_wait() {
    for line in ["/new", "/allow touch *", "/undo", "/retry", "/sessions", "/nope-nope", "/diff x"]
    {
        let mut state = screen_with(touches());
        assert_eq!(press_at(&mut state, &format!("{line}\n"), 5_000), [], "{line}");
        assert!(!state.transcript.is_empty(), "{line} says so");
        assert!(state.modals.is_question_on_top(), "{line}");
    }
}

#[test]
fn esc_leads_from_the_command_line_back_to_the_question() {
    for line in ["/", "/sta", "/nothing like it", "/steer "] {
        let mut state = screen_with(touches());
        press_at(&mut state, "half\t", 2_000);
        assert_eq!(press_at(&mut state, line, 5_000), [], "{line}");
        assert_eq!(press_at(&mut state, "\x1b", 5_100), [], "{line}");
        assert_eq!(state.composer.display_text(), "half", "{line}");
        assert_eq!(listens(&state, 5_800), FocusNotice::QuestionWithDraft, "{line}");
    }
}

#[test]
fn esc_in_a_draft_stops_the_turn_but_must_be_pressed_twice_while_typing() {
    let mut state = screen_with(touches());
    press_at(&mut state, "so", 1_100);
    assert_eq!(press_at(&mut state, "\x1b", 1_200), []);
    assert_eq!(press_at(&mut state, "\x1b", 1_300), [STOP]);
    let mut state = screen_with(touches());
    press_at(&mut state, "so", 1_100);
    assert_eq!(press_at(&mut state, "\x1b", 9_000), [STOP]);
}

#[test]
fn keys_after_a_paste_do_not_answer() {
    for after in ["y", "\n", "p\n", "\t", "Y", "x"] {
        let mut state = screen_with(touches());
        assert_eq!(paste(&mut state, "text ", 5_000), []);
        assert_eq!(press_at(&mut state, after, 5_000), [], "{after:?}");
        assert!(state.modals.is_question_on_top());
        let mut state = screen_with(touches());
        assert_eq!(paste(&mut state, "", 5_000), []);
        assert_eq!(press_at(&mut state, after, 5_010), [], "{after:?}");
    }
    // Nor does it send the draft, or the text in the question's field.
    let mut state = screen_with(touches());
    paste(&mut state, "rm", 5_000);
    assert_eq!(press_at(&mut state, "\n", 5_000), []);
    assert_eq!(state.composer.display_text(), "rm\n");
    let mut state = screen_with(touches());
    press_at(&mut state, "w", 5_000);
    assert_eq!(paste(&mut state, "because", 6_000), []);
    assert_eq!(press_at(&mut state, "\n", 6_001), []);
    let word = Some("because".to_owned());
    assert_eq!(press_at(&mut state, "\n", 7_000), decides(Decision::Reject { word }));
}

#[test]
fn a_click_restarts_the_quiet_time() {
    let mut state = screen_with(touches());
    let kind = MouseEventKind::Down(MouseButton::Left);
    let click = MouseEvent { kind, column: 3, row: 20, modifiers: KeyModifiers::NONE };
    update(&mut state, TimedInput { at: 1_600, input: ScreenInput::Mouse(click) });
    assert_eq!(listens(&state, 2_299), FocusNotice::Waiting);
    assert_eq!(listens(&state, 2_300), FocusNotice::Question);
}

#[test]
fn the_next_question_of_a_batch_needs_a_pause_too() {
    let mut state = screen_with(touches());
    assert_eq!(answer_at(&mut state, "y", 5_000), decides(Decision::Approve));
    update(
        &mut state,
        TimedInput::session(5_050, protocol::Event::QuestionClosed { ask: AskId(7) }),
    );
    update(&mut state, TimedInput::session(5_060, touches()));
    draw(&mut state, SIZE);
    assert_eq!(press_at(&mut state, "\n", 5_400), []);
    assert_eq!(answer_at(&mut state, "y", 6_100), decides(Decision::Approve));
}

#[test]
fn end_shows_the_rest_of_a_long_command_and_the_line_says_so() {
    for key in [KeyCode::End, KeyCode::Char('G')] {
        let args: Vec<String> = (0..480).map(|n| format!("file {n}")).collect();
        let work = StepAction::Exec { program: "touch".into(), args };
        let mut state = screen_with(step_question(work, risk(Tier::L1)));
        assert_eq!(press_at(&mut state, "y", 5_000), []);
        assert!(row(&mut state, "more lines below").contains("End"), "the row says why");
        update(&mut state, TimedInput::key(5_100, key));
        let seen = row(&mut state, "Rows ");
        assert!(!seen.contains("more lines below"), "{seen}");
        assert_eq!(answer_at(&mut state, "y", 5_200), decides(Decision::Approve));
    }
}

#[test]
fn blanks_in_an_empty_draft_scroll_the_question() {
    let args: Vec<String> = (0..480).map(|n| format!("file {n}")).collect();
    let mut state = screen_with(step_question(
        StepAction::Exec { program: "touch".into(), args },
        risk(Tier::L1),
    ));
    for at in 0..6 {
        assert_eq!(press_at(&mut state, " ", 1_100 + at * 200), []);
        draw(&mut state, SIZE);
    }
    assert_eq!(state.composer.full_text(), " ".repeat(6), "none is lost");
    assert_eq!(answer_at(&mut state, "y", 2_800), decides(Decision::Approve));
}

#[test]
fn pages_of_a_question_go_down_and_up() {
    let args: Vec<String> = (0..480).map(|n| format!("file {n}")).collect();
    let mut state = screen_with(step_question(
        StepAction::Exec { program: "touch".into(), args },
        risk(Tier::L1),
    ));
    let first = row(&mut state, "Rows ");
    let mut lines = Vec::new();
    for (key, at) in [(KeyCode::PageDown, 5_000), (KeyCode::PageUp, 5_100), (KeyCode::End, 5_200)] {
        update(&mut state, TimedInput::key(at, key));
        lines.push(row(&mut state, "Rows "));
    }
    update(&mut state, TimedInput::key(5_300, KeyCode::Char('g')));
    assert_ne!(lines[0], first);
    assert!(lines[1].contains("Rows 1–") && !lines[2].contains("Rows 1–"), "{lines:?}");
    assert!(row(&mut state, "Rows ").contains("Rows 1–"));
}

#[test]
fn a_second_separate_press_approves_unseen_rows_of_a_low_risk_change() {
    let mut state = screen_with(writes(300, risk(Tier::L1)));
    assert_eq!(press_at(&mut state, "y", 5_000), []);
    assert!(row(&mut state, "y again").contains("more lines below"));
    assert_eq!(press_at(&mut state, "y", 5_500), [], "it is held down");
    assert_eq!(answer_at(&mut state, "y", 6_200), decides(Decision::Approve));
    let grave = Risk { effects: vec![protocol::Effect::Outside], ..risk(Tier::L1) };
    for risk in [grave, Risk { lifted: true, ..risk(Tier::L1) }] {
        let mut state = screen_with(writes(300, risk));
        for at in [5_000, 6_000, 7_000] {
            assert_eq!(press_at(&mut state, "Y", at), []);
            draw(&mut state, SIZE);
        }
    }
}

#[test]
fn a_high_risk_change_is_read_page_by_page() {
    let args: Vec<String> = (0..480).map(|n| format!("file {n}")).collect();
    let grave = Risk { lifted: true, ..risk(Tier::L1) };
    let mut state =
        screen_with(step_question(StepAction::Exec { program: "touch".into(), args }, grave));
    update(&mut state, TimedInput::key(5_000, KeyCode::End));
    draw(&mut state, SIZE);
    assert_eq!(press_at(&mut state, "Y", 5_100), []);
    assert!(row(&mut state, "more lines below").contains("Space"));
    update(&mut state, TimedInput::key(5_150, KeyCode::Home));
    for at in 0..10 {
        draw(&mut state, SIZE);
        update(&mut state, TimedInput::key(5_200 + at, KeyCode::PageDown));
    }
    draw(&mut state, SIZE);
    assert_eq!(answer_at(&mut state, "Y", 5_400), decides(Decision::Approve));
}

#[test]
fn a_larger_window_withdraws_the_note_about_unseen_rows() {
    let args: Vec<String> = (0..240).map(|n| format!("file {n}")).collect();
    let mut state = screen_with(step_question(
        StepAction::Exec { program: "touch".into(), args },
        risk(Tier::L1),
    ));
    press_at(&mut state, "y", 5_000);
    assert!(text(&mut state, SIZE).contains("more lines below"));
    assert!(!text(&mut state, (80, 60)).contains("more lines below"));
    assert_eq!(answer_at(&mut state, "y", 5_100), decides(Decision::Approve));
}

#[test]
fn all_of_a_batch_must_be_seen_to_be_approved() {
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(StepQuestion { rest, .. }) = &mut ask.question else { panic!("a step") };
    rest.extend((0..30).map(|n| protocol::RemainingStep {
        id: format!("cmd_{n}"),
        work: StepAction::exec("touch", &["b"]),
        risk: risk(Tier::L1),
        change: None,
    }));
    let mut state = screen_with(protocol::Event::Asked(ask));
    assert_eq!(press_at(&mut state, "a", 5_000), []);
    assert!(row(&mut state, "more lines below").contains("End shows them"));
    update(&mut state, TimedInput::key(5_100, KeyCode::End));
    draw(&mut state, SIZE);
    let all = answer_at(&mut state, "a", 5_200);
    let [ScreenEffect::Send(Op::Question(QuestionOp::Decide { decision, .. }))] = &all[..] else {
        panic!("{all:?}")
    };
    assert!(matches!(decision, Decision::ApproveAll { .. }), "{decision:?}");
}

#[test]
fn long_arguments_are_shown_with_their_middle() {
    let hidden = "getattr(__import__('o'+'s'),'sys'+'tem')('id')";
    let code = format!("{}{hidden}{}", "print(1);".repeat(60), ";print(2)".repeat(60));
    let behind = StepAction::exec("python3", &["-c", &code]);
    let protocol::Event::Asked(mut ask) = step_question(behind.clone(), risk(Tier::L1)) else {
        panic!("asks")
    };
    let Question::Step(StepQuestion { rest, .. }) = &mut ask.question else { panic!("a step") };
    rest.push(protocol::RemainingStep {
        id: "cmd_2".into(),
        work: behind,
        risk: risk(Tier::L1),
        change: None,
    });
    let mut state = screen_with(protocol::Event::Asked(ask));
    let shown: String =
        text(&mut state, (80, 100)).lines().map(|row| row.trim().to_owned()).collect();
    assert_eq!(shown.matches(hidden).count(), 2, "the step and the one behind it\n{shown}");
}

#[test]
fn a_program_in_an_argument_is_shown_line_by_line() {
    let code = "import os\nfor name in os.listdir():\n\tprint(name)\nprint('done')\n";
    let work = StepAction::exec("python3", &["-c", code]);
    let mut state = screen_with(step_question(work, risk(Tier::L1)));
    let shown = text(&mut state, SIZE);
    let rows: Vec<&str> = shown.lines().map(str::trim).collect();
    for row in [r"$'import os\n", r"for name in os.listdir():\n", r"\tprint(name)\n"] {
        assert!(rows.contains(&row), "{row}\n{shown}");
    }
    // A single line, as in the question about a line typed by hand.
    let line = format!("cat <<'E'\n{}E", "a line of it\n".repeat(5));
    let mut state = screen_with(step_question(StepAction::Shell { line }, risk(Tier::L1)));
    let shown = text(&mut state, SIZE);
    assert_eq!(shown.lines().filter(|row| row.trim() == r"a line of it\n").count(), 5, "{shown}");
}

#[test]
fn paths_and_names_are_shown_whole() {
    let protocol::Event::Asked(mut ask) = writes(3, risk(Tier::L1)) else { panic!("asks") };
    let Question::Step(StepQuestion { change: Some(change), .. }) = &mut ask.question else {
        panic!("a step")
    };
    let path = format!("{}/middle/{}.rs", "a".repeat(90), "b".repeat(90));
    change.diff = change.diff.replace("a.txt", &path);
    let mut state = screen_with(protocol::Event::Asked(ask));
    let shown: String = text(&mut state, SIZE).lines().map(|row| row.trim().to_owned()).collect();
    assert!(shown.contains(&path), "{shown}");
    let key = format!("{}-middle-{}", "k".repeat(60), "z".repeat(60));
    let input = serde_json::json!({ key.clone(): "value" });
    let work = StepAction::Tool { name: "plugin.run".into(), input };
    let mut state = screen_with(step_question(work, risk(Tier::L1)));
    let shown: String = text(&mut state, SIZE).lines().map(|row| row.trim().to_owned()).collect();
    assert!(shown.contains(&key), "{shown}");
}

/// The text on the screen.
pub(super) fn text(state: &mut State, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
    let frame = terminal.draw(|frame| drop(draw_frame(state, frame, 50_000))).expect("a frame");
    let buf = frame.buffer;
    let row = |y: u16| (0..width).map(|x| buf[(x, y)].symbol()).collect::<String>();
    (0..height).map(row).collect::<Vec<_>>().join("\n")
}

/// The row that contains these words.
pub(super) fn row(state: &mut State, words: &str) -> String {
    let text = text(state, SIZE);
    let found = text.lines().find(|line| line.contains(words)).map(str::to_owned);
    found.unwrap_or_else(|| panic!("no {words:?} on\n{text}"))
}

#[test]
fn a_diff_of_megabytes_is_shown_to_its_last_line() {
    let mut state = screen_with(writes(100_000, risk(Tier::L1)));
    let first = text(&mut state, SIZE);
    assert!(first.contains("line 1 "), "{first}");
    let key = |state: &mut State, code| {
        visible_effects(update(
            state,
            TimedInput::key(10_000, KeyEvent::new(code, KeyModifiers::NONE)),
        ))
    };
    assert_eq!(key(&mut state, KeyCode::End), []);
    let mut shown = String::new();
    for _ in 0..3 {
        shown.push_str(&text(&mut state, SIZE));
        assert_eq!(key(&mut state, KeyCode::PageUp), []);
    }
    assert!(shown.contains("line 100000"), "{shown}");
}
