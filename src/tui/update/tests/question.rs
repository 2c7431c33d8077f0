//! What a question shows, and what it keeps for those who ask.

use super::asking::{row, screen_with, text, touches};
use super::*;

#[test]
fn details_of_a_question_wait_behind_a_key_except_with_high_risk() {
    let asks = |risk: Risk| {
        let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
        let Question::Step(asked) = &mut ask.question else { panic!("a step") };
        (asked.resolved, asked.risk) = (Some("/usr/bin/touch".into()), risk);
        asked.expected = "a is there".into();
        screen_with(protocol::Event::Asked(ask))
    };
    let hidden = ["/usr/bin/touch", "test.rule", "a is there"];
    let mut state = asks(risk(Tier::L1));
    let shown = text(&mut state, SIZE);
    assert!(hidden.iter().all(|fact| !shown.contains(fact)), "{shown}");
    assert_eq!(press_at(&mut state, "d", 5_000), []);
    let shown = text(&mut state, SIZE);
    assert!(hidden.iter().all(|fact| shown.contains(fact)), "{shown}");
    assert_eq!(press_at(&mut state, "dy", 5_100), decides(Decision::Approve));
    let shown = text(&mut asks(Risk { lifted: true, ..risk(Tier::L1) }), SIZE);
    assert!(hidden.iter().all(|fact| shown.contains(fact)), "{shown}");
}

#[test]
fn a_lasting_choice_names_its_rule_and_another_folder_is_always_named() {
    let mut state = screen_with(touches());
    assert!(row(&mut state, "for this session").contains("`touch *`"));
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    asked.cwd = "/elsewhere".into();
    let mut state = screen_with(protocol::Event::Asked(ask));
    assert!(row(&mut state, "/elsewhere").contains("folder"));
}

/// The choices would fill it: then they take one row.
#[test]
fn in_a_small_window_a_question_shows_what_it_asks_and_can_be_answered() {
    let touch = || step_question(StepAction::exec("touch", &["made.txt"]), risk(Tier::L1));
    for size in [(30, 8), (24, 5), (30, 10), (34, 9)] {
        let mut state = screen_with(touch());
        let shown = text(&mut state, size);
        assert!(shown.contains("touch made.txt"), "{size:?}\n{shown}");
        assert!(shown.contains('›'), "{size:?}\n{shown}");
        for at in 0..40 {
            update(&mut state, TimedInput::key(5_000 + at, KeyCode::PageDown));
            draw(&mut state, size);
        }
        assert_eq!(press_at(&mut state, "y", 6_000), decides(Decision::Approve), "{size:?}");
    }
}

#[test]
fn the_wheel_scrolls_the_question_under_the_pointer() {
    let args: Vec<String> = (0..90).map(|n| format!("file-{n}")).collect();
    let work = StepAction::Exec { program: "touch".into(), args };
    let mut state = screen_with(step_question(work, risk(Tier::L1)));
    let before = text(&mut state, SIZE);
    let wheel = |row| {
        let (kind, modifiers) = (MouseEventKind::ScrollDown, KeyModifiers::NONE);
        ScreenInput::Mouse(MouseEvent { kind, column: 4, row, modifiers })
    };
    update(&mut state, TimedInput { at: 6_000, input: wheel(SIZE.1 - 5) });
    let after = text(&mut state, SIZE);
    assert!(before.contains("file-0 ") && !after.contains("touch file-0"), "{after}");
    // What was rolled past without being drawn does not count as seen.
    assert_eq!(press_at(&mut state, "y", 6_100), []);
}

#[test]
fn a_denied_step_is_opened_once_or_for_the_session_and_runs_free_only_after_another_question() {
    let asked = |rule: &str| {
        let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
        let Question::Step(question) = &mut ask.question else { panic!("a step") };
        (question.risk.rule, question.rule) = (rule.to_owned(), Some("touch a".to_owned()));
        protocol::Event::Asked(ask)
    };
    let denied = || screen_with(asked(protocol::SandboxDenial::RULE));
    let shown = text(&mut denied(), (100, 40));
    for label in ["Run again, with that allowed once", "for this session", "without the sandbox"] {
        assert!(shown.contains(label), "{label}: {shown}");
    }
    let mut state = denied();
    draw(&mut state, (100, 40));
    assert_eq!(press_at(&mut state, "y", 5_000), decides(Decision::Approve));
    let mut state = denied();
    draw(&mut state, (100, 40));
    assert_eq!(press_at(&mut state, "s", 5_000), []);
    let session = decides(Decision::Remember(ApprovalScope::Session));
    assert_eq!(press_at(&mut state, "\n", 6_000), session);
    let mut state = denied();
    draw(&mut state, (100, 40));
    assert_eq!(press_at(&mut state, "u", 5_000), decides(Decision::WithoutSandbox));
    // The next question takes the capital letter.
    let mut state = screen_with(asked(protocol::SandboxDenial::WITHOUT));
    draw(&mut state, (100, 40));
    assert_eq!(press_at(&mut state, "y", 5_000), []);
    assert_eq!(press_at(&mut state, "Y", 6_000), decides(Decision::Approve));
}
