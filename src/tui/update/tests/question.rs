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
    assert_eq!(press_at(&mut state, "d", 5_900), []);
    assert_eq!(answer_at(&mut state, "y", 6_700), decides(Decision::Approve));
    let shown = text(&mut asks(Risk { lifted: true, ..risk(Tier::L1) }), SIZE);
    assert!(hidden.iter().all(|fact| shown.contains(fact)), "{shown}");
}

#[test]
fn a_lasting_choice_names_its_rule_and_another_folder_is_always_named() {
    let mut state = screen_with(touches());
    assert!(row(&mut state, "in this session").contains("`touch *`"));
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    asked.cwd = "/elsewhere".into();
    let mut state = screen_with(protocol::Event::Asked(ask));
    assert!(row(&mut state, "/elsewhere").contains("folder"));
}

#[test]
fn a_choice_that_a_question_does_not_offer_is_said_to_be_none() {
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    asked.rule = None;
    let mut state = screen_with(protocol::Event::Asked(ask));
    assert_eq!(press_at(&mut state, "s", 5_000), []);
    let not_offered = phrases::QUESTION_NOT_OFFERED.text(Lang::En);
    assert!(row(&mut state, not_offered).contains(not_offered));
    assert_eq!(answer_at(&mut state, "y", 6_000), decides(Decision::Approve));
}

/// A command that the sandbox confines.
pub(super) fn confined(rest: usize) -> State {
    let protocol::Event::Asked(mut ask) = touches() else { panic!("asks") };
    let Question::Step(asked) = &mut ask.question else { panic!("a step") };
    let mut held = risk(Tier::L1).reasons;
    held.iter_mut().for_each(|reason| reason.rule = "sandbox.work".into());
    asked.risk.reasons.extend(held);
    asked.rule_covers = vec![WHY.into()];
    asked.of = asked.number + rest;
    asked.rest.extend((0..rest).map(|n| protocol::RemainingStep {
        id: format!("cmd_{n}"),
        work: StepAction::exec("touch", &["b"]),
        risk: risk(Tier::L1),
        change: None,
    }));
    screen_with(protocol::Event::Asked(ask))
}

#[test]
fn yes_is_marked_for_what_stays_inside_the_sandbox_and_no_for_everything_else() {
    let mut state = confined(0);
    assert!(row(&mut state, "› 1").contains("Run once"), "{}", text(&mut state, SIZE));
    assert_eq!(answer_at(&mut state, "\n", 5_000), decides(Decision::Approve));
    let mut state = screen_with(touches());
    assert!(row(&mut state, "› 5").contains("No"), "{}", text(&mut state, SIZE));
    let no = decides(Decision::Reject { word: None });
    assert_eq!(press_at(&mut state, "\n", 5_000), no);
    // One row says no and takes words; Esc only says no.
    let mut state = confined(0);
    assert_eq!(press_at(&mut state, "\x1b", 5_000), no);
    for key in ["n", "4", "w"] {
        let mut state = confined(0);
        assert_eq!(press_at(&mut state, key, 5_000), [], "{key}");
        let word = Some("use pnpm".to_owned());
        let told = decides(Decision::Reject { word });
        assert_eq!(press_at(&mut state, "use pnpm\n", 6_000), told, "{key}");
    }
}

#[test]
fn a_command_of_one_line_takes_twelve_rows_and_names_every_choice() {
    let mut state = confined(0);
    let shown = text(&mut state, SIZE);
    let rows: Vec<&str> = shown.lines().collect();
    let title = rows.iter().position(|row| row.contains("Run this?")).expect("a title");
    assert!(rows.len() - title < 12, "{shown}");
    for label in ["Run once", "don't ask again for `touch *`", "in this project", "tell the model"]
    {
        assert!(shown.contains(label), "{label}\n{shown}");
    }
    assert!(!shown.contains("test.rule"), "{shown}");
    // What a rule covers is said where it is about to be chosen.
    press_at(&mut state, "s", 5_000);
    let marked = text(&mut state, SIZE);
    assert_eq!(marked.matches("writes").count(), shown.matches("writes").count() + 1, "{marked}");
    let session = decides(Decision::Remember(ApprovalScope::Session));
    assert_eq!(press_at(&mut state, "\n", 5_100), session);
}

#[test]
fn a_list_of_steps_marks_the_one_that_is_asked_about() {
    let mut state = confined(2);
    let shown = text(&mut state, SIZE);
    assert!(row(&mut state, "$ touch a").contains("› $"), "{shown}");
    assert_eq!(shown.matches("  $ touch b").count(), 2, "{shown}");
    assert!(row(&mut state, "Run all 3").trim_end().ends_with('a'), "{shown}");
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
        assert_eq!(answer_at(&mut state, "y", 6_000), decides(Decision::Approve), "{size:?}");
    }
}

#[test]
fn the_wheel_scrolls_the_question_under_the_pointer() {
    let args: Vec<String> = (0..720).map(|n| format!("file-{n}")).collect();
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
    assert_eq!(answer_at(&mut state, "y", 5_000), decides(Decision::Approve));
    let mut state = denied();
    draw(&mut state, (100, 40));
    assert_eq!(press_at(&mut state, "s", 5_000), []);
    let session = decides(Decision::Remember(ApprovalScope::Session));
    assert_eq!(press_at(&mut state, "\n", 6_000), session);
    let mut state = denied();
    draw(&mut state, (100, 40));
    assert_eq!(answer_at(&mut state, "u", 5_000), decides(Decision::WithoutSandbox));
    // The next question takes the capital letter.
    let mut state = screen_with(asked(protocol::SandboxDenial::WITHOUT));
    draw(&mut state, (100, 40));
    assert_eq!(press_at(&mut state, "y", 5_000), []);
    assert_eq!(answer_at(&mut state, "Y", 6_000), decides(Decision::Approve));
}

/// Of a step that no sandbox confines.
fn free() -> Risk {
    let free = Risk { rule: "sandbox.free".into(), ..risk(Tier::L1) };
    let reasons = vec![Reason { rule: "sandbox.free".into(), ..free.reasons[0].clone() }];
    Risk { reasons, ..free }
}

#[test]
fn what_runs_without_the_sandbox_has_the_colour_of_high_risk() {
    let has_grave_colour = |risk: Risk| {
        let mut state = screen_with(step_question(StepAction::exec("npm", &["test"]), risk));
        let grave = state.appearance.theme.tier(Tier::L2).fg;
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a test terminal");
        let frame = terminal.draw(|frame| drop(draw_frame(&mut state, frame, 50_000)));
        let cells = &frame.expect("drawn").buffer.content;
        cells.iter().any(|cell| Some(cell.fg) == grave && cell.symbol() != " ")
    };
    assert!(has_grave_colour(free()));
    assert!(!has_grave_colour(risk(Tier::L1)));
}

#[test]
fn a_question_says_that_a_step_would_run_in_the_background() {
    for (risk, title) in [
        (risk(Tier::L1), "Run this in the background?"),
        (free(), "Run this in the background without the sandbox?"),
    ] {
        let mut event = step_question(StepAction::exec("npm", &["run", "dev"]), risk);
        let protocol::Event::Asked(ask) = &mut event else { panic!("asks") };
        let Question::Step(asked) = &mut ask.question else { panic!("a step") };
        asked.step.requires.background = true;
        let mut state = screen_with(event);
        for size in [(80, 24), (200, 50)] {
            let shown = text(&mut state, size);
            assert!(shown.contains(title), "{size:?} {shown}");
        }
    }
}
