//! How a question is answered, and what does not answer it.

use super::*;

#[test]
fn a_question_is_answered_by_letter_digit_or_arrows() {
    let cases = [
        ("n", Decision::Reject { word: None }),
        ("\n", Decision::Reject { word: None }),
        ("\x1b", Decision::Reject { word: None }),
        ("y", Decision::Approve),
        ("ｙ", Decision::Approve),
        ("s\n", Decision::Remember(ApprovalScope::Session)),
        ("p\n", Decision::Remember(ApprovalScope::Project)),
        ("2\n", Decision::Remember(ApprovalScope::Session)),
        ("x", Decision::Stop),
        ("1", Decision::Approve),
        ("１", Decision::Approve),
        ("5", Decision::Reject { word: None }),
        ("\t\n", Decision::Approve),
        ("wtoo risky\n", Decision::Reject { word: Some("too risky".into()) }),
        ("w\x1bn", Decision::Reject { word: None }),
    ];
    for (keys, decision) in cases {
        let mut state = screen_with_question(risk(Tier::L1));
        assert_eq!(answer_at(&mut state, keys, 10_000), decides(decision), "{keys:?}");
    }
}

#[test]
fn keys_typed_before_a_question_opened_do_not_answer_it() {
    let mut state = screen_with_question(risk(Tier::L1));
    assert_eq!(press_at(&mut state, "y\x08", 1_699), []);
    assert_eq!(press_at(&mut state, "\n", 2_398), []);
    assert_eq!(answer_at(&mut state, "y", 4_000), decides(Decision::Approve));
}

#[test]
fn help_over_a_question_restarts_its_guard() {
    let mut state = screen_with_question(risk(Tier::L1));
    hold(&mut state, KeyCode::F(1), KeyModifiers::NONE);
    assert_eq!(press_at(&mut state, "q", 20_000), []);
    assert_eq!(press_at(&mut state, "\n", 20_699), []);
    assert_eq!(answer_at(&mut state, "y", 21_399), decides(Decision::Approve));
}

#[test]
fn unseen_rows_cannot_be_approved() {
    let mut state = screen();
    let args: Vec<String> = (0..480).map(|n| format!("file {n}")).collect();
    receive(
        &mut state,
        step_question(StepAction::Exec { program: "touch".into(), args }, risk(Tier::L1)),
    );
    draw(&mut state, SIZE);
    assert_eq!(press(&mut state, "y"), []);
    for _ in 0..10 {
        press(&mut state, " ");
        draw(&mut state, SIZE);
    }
    assert_eq!(answer_at(&mut state, "y", 20_000), decides(Decision::Approve));
}

#[test]
fn a_screen_too_small_to_review_on_can_only_reject() {
    let mut state = screen_with_question(risk(Tier::L1));
    draw(&mut state, (22, 4));
    assert_eq!(press(&mut state, "y"), []);
    assert_eq!(press(&mut state, "n"), decides(Decision::Reject { word: None }));
}

#[test]
fn a_high_risk_step_requires_its_capital_letter() {
    let mut state = screen_with_question(Risk { lifted: true, ..risk(Tier::L1) });
    assert_eq!(press(&mut state, "y"), []);
    assert_eq!(press(&mut state, "1"), []);
    assert_eq!(press(&mut state, "\t\n"), []);
    assert_eq!(press(&mut state, "sp"), [], "it cannot be remembered");
    assert_eq!(answer_at(&mut state, "Ｙ", 11_000), decides(Decision::Approve));
}

#[test]
fn ctrl_c_stops_the_turn_even_while_the_guard_is_active() {
    let mut state = screen_with_question(risk(Tier::L1));
    assert_eq!(ctrl_c(&mut state, 1_001), decides(Decision::Stop));
}

#[test]
fn one_question_gets_one_answer() {
    let mut state = screen_with_question(risk(Tier::L1));
    assert_eq!(answer_at(&mut state, "y", 10_000), decides(Decision::Approve));
    assert_eq!(answer_at(&mut state, "y", 12_000), []);
    receive(&mut state, protocol::Event::QuestionClosed { ask: AskId(7) });
    assert!(state.modals.is_empty());
}

#[test]
fn a_question_closes_with_its_turn() {
    let mut state = screen_with_question(risk(Tier::L1));
    receive(&mut state, ended(10));
    assert!(state.modals.is_empty());
}

#[test]
fn an_edit_runs_only_after_exactly_that_text_was_assessed() {
    let mut state = screen_with_question(risk(Tier::L1));
    assert_eq!(press(&mut state, "e"), []);
    let work = StepAction::exec("touch", &["ab"]);
    let judge = ScreenEffect::Send(Op::Question(QuestionOp::PreviewRisk {
        ask: AskId(7),
        work: work.clone(),
    }));
    assert_eq!(press(&mut state, "b"), [judge]);
    assert_eq!(press(&mut state, "\n"), [], "not judged yet");
    let judged = |work: &StepAction, tier| protocol::Event::Judged {
        ask: AskId(7),
        work: work.clone(),
        risk: risk(tier),
        change: None,
    };
    receive(&mut state, judged(&StepAction::exec("touch", &["a"]), Tier::L1));
    draw(&mut state, SIZE);
    assert_eq!(press(&mut state, "\n"), [], "that was another text");
    receive(&mut state, judged(&work, Tier::L2));
    draw(&mut state, SIZE);
    assert_eq!(press(&mut state, "\n"), [], "refused");
    receive(&mut state, judged(&work, Tier::L1));
    draw(&mut state, SIZE);
    assert_eq!(press(&mut state, "\n"), decides(Decision::Edit(work)));
}

#[test]
fn an_edit_that_cannot_be_parsed_is_not_assessed() {
    let mut state = screen_with_question(risk(Tier::L1));
    press(&mut state, "e");
    assert_eq!(press(&mut state, "|"), []);
    draw(&mut state, SIZE);
    assert_eq!(press(&mut state, "\n"), []);
}

#[test]
fn the_transcript_scrolls_while_a_question_is_open() {
    let mut state = screen();
    for n in 0..40 {
        state.transcript.add_notice(Notice::info(phrases::SECONDS.with("s", n)));
    }
    receive(&mut state, step_question(StepAction::exec("touch", &["a"]), risk(Tier::L1)));
    draw(&mut state, SIZE);
    hold(&mut state, KeyCode::PageUp, KeyModifiers::NONE);
    draw(&mut state, SIZE);
    assert!(!state.transcript.is_following());
}
